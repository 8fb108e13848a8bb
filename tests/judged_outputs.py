"""Tables of graded outputs and judges, and what is recomputed from them in plain pandas and SciPy."""

import numpy as np
import pandas as pd
import scipy.stats

import xsumstat  # noqa: F401

PEOPLE = ["ann", "bob", "eve"]


def table(seed=2, prompts=60, judges=("near", "wild")):
    """Grades 1 to 5 of three noisy raters with gaps and of judges on their scale; "wild" refuses some outputs."""
    rng = np.random.default_rng(seed)
    rows = pd.MultiIndex.from_product([["a", "b", "c"], range(prompts)], names=["system", "input"])
    quality = rng.normal(size=len(rows))

    def graded(sd, up=0.0):
        return np.clip(np.round(3 + up + quality + sd * rng.normal(size=quality.size)), 1, 5)

    people = {name: np.where(rng.random(quality.size) < 0.2, np.nan, graded(1.0)) for name in PEOPLE}
    noise = {"near": (0.6, 0.0), "wild": (1.8, 0.8)}
    scored = {name: graded(*noise.get(name, (1.0, 0.1))) for name in judges}
    frame = pd.DataFrame({**people, **scored}, index=rows)
    frame["length"] = np.round(50 + 10 * rng.normal(size=quality.size))
    if "wild" in frame:
        frame.loc[frame.index[rng.random(quality.size) < 0.05], "wild"] = np.nan
        frame["wild"] = np.clip(frame["wild"] + (frame["length"] > 55), 1, 5)
    return frame


def scores(frame, **how):
    how = {"ratings": PEOPLE, "kind": {"covariate": ["length"]}, **how}
    return frame.reset_index().meta.to_scores(wide=True, **how)


def tau(frame, x, z):
    """Kendall's tau of two columns, averaged over prompts."""
    both = pd.DataFrame({"x": x, "z": z}).dropna()
    each = [
        scipy.stats.kendalltau(part["x"], part["z"]).statistic for _, part in both.groupby("input") if len(part) > 1
    ]
    return np.nanmean(each)


def shown(value):
    return f"{value:.2f}".replace("0.", ".", 1)
