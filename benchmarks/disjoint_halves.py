"""``python benchmarks/disjoint_halves.py``: how well one half of published scores foretells the other half.

Inputs, and for systems like these the systems too, are split in two at random. The other half's number is as uncertain
as this half's: an interval of this half, √2 times as far as it reaches, should hold it in 95 % of splits. Of
correlations that is the coverage of `ci`; of differences of two metrics, the same in both halves, what it misses is the
size of `compare_metrics`. Writes ``disjoint_halves.json`` and a table to ``docs/calibration/published.md``.
"""

import itertools
import math
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import command
import numpy as np
import xarray as xr

import xsumstat

HERE = Path(__file__).parent
SUMMEVAL = ("rouge-1_f1", "rouge-2_f1", "bertscore_f1", "MoverScore", "qa-eval_f1", "s3_resp")
REALSUMM = ("rouge_1_recall", "rouge_2_recall", "rouge_l_recall", "bert_recall_score", "mover_score", "js-2")
SETS = {"summeval": ("expert_relevance", SUMMEVAL), "realsumm": ("litepyramid_recall", REALSUMM)}
LEVELS, COEFFICIENTS, RESAMPLES = ("system", "input", "global"), ("pearson", "spearman", "kendall"), 399
SCOPES = {"input": "these systems", "both": "systems like these"}


def scores(name: str) -> xr.Dataset:
    """A published set, without its human scores but the gold, and without systems that are there twice."""
    gold, metrics = SETS[name]
    ds = xsumstat.load_dataset(name)
    if "duplicate_of" in ds.coords:
        ds = ds.sel(system=ds.duplicate_of == "")
    return ds[["score"]].sel(metric=[gold, *metrics]).load()


def halves(ds: xr.Dataset, scope: str, rng: np.random.Generator) -> list[xr.Dataset]:
    """Two halves without an input in common, and without a system where others like them are spoken of."""
    inputs = np.array_split(rng.permutation(ds.sizes["input"]), 2)
    systems = np.array_split(rng.permutation(ds.sizes["system"]), 2)
    return [ds.isel(input=each, **({"system": those} if scope == "both" else {}))
            for each, those in zip(inputs, systems, strict=True)]  # fmt: skip


def within_reach(here: xr.Dataset, there: xr.Dataset, name: str) -> np.ndarray:
    """Whether the other half's number lies within √2 times the reach of this one's interval; NaN without one.

    Both are taken without the bias that the jackknife found; correlations are compared on the scale of arctanh.
    """
    draws = here.attrs["method"] == "bootstrap"
    bent = np.arctanh if name == "correlation" else lambda values: values
    kept = 1 - 1e-9 if name == "correlation" else np.inf
    centre, other = (each[name] - (0 if draws else each["bias"].fillna(0)) for each in (here, there))
    low, high, centre, other = (
        bent(np.clip(each.values, -kept, kept)) for each in (here["ci_low"], here["ci_high"], centre, other)
    )
    inside = (centre + math.sqrt(2) * (low - centre) <= other) & (other <= centre + math.sqrt(2) * (high - centre))
    return np.where(np.isnan(low + high + other), np.nan, inside)


def measured(name: str, level: str, coefficient: str, scope: str, trials: int) -> dict:
    """Coverage of `ci` and size of `compare_metrics`, over metrics, their pairs and splits."""
    ds, gold = scores(name), SETS[name][0]
    how = {"level": level, "coefficient": coefficient, "resample": scope}
    found: dict[str, list[float]] = {"coverage": [], "size": []}
    for trial in range(trials):
        here, there = halves(ds, scope, np.random.default_rng([18, trial]))
        one, other = (half.meta.ci(gold, n_resamples=RESAMPLES, rng=trial, **how) for half in (here, there))
        found["coverage"].append(float(np.nanmean(within_reach(one, other, "correlation"))))
        one, other = (half.meta.compare_metrics(gold, **how) for half in (here, there))
        found["size"].append(1 - float(np.nanmean(within_reach(one, other, "difference"))))
    row = {"data": name, "level": level, "coefficient": coefficient, "of": SCOPES[scope], "splits": trials}
    for what, shares in found.items():
        row[what] = round(float(np.mean(shares)), 4)
        row[f"{what} mc_error"] = round(float(np.std(shares, ddof=1) / math.sqrt(trials)), 4)
    return row


def page(rows: list[dict]) -> str:
    """The table, and what is off in it."""
    said = []
    for whom in SCOPES.values():
        own = [row for row in rows if row["of"] == whom]
        mean = {what: np.mean([row[what] for row in own]) for what in ("coverage", "size")}
        off = [
            f"{row['data']} {row['level']} {row['coefficient']} {row[what]:.2f}"
            for row in own
            for what in ("coverage", "size")
            if (row[what] < 0.88 if what == "coverage" else row[what] > 0.10)
        ]
        apart = f" Below .88 or above .10: {', '.join(off)}." if off else ""
        on_average = f"coverage is {mean['coverage']:.3f} and size {mean['size']:.3f} on average"
        said += [f"*{whom.capitalize()}*: {on_average}.{apart}", ""]
    lines = [
        *said,
        "| data | level | coefficient | scope | coverage of `ci` | size of `compare_metrics` |",
        "| " + "--- | " * 6,
    ]
    for row in rows:
        texts = [f"{row[what]:.3f} ± {row[f'{what} mc_error']:.3f}" for what in ("coverage", "size")]
        about = [row[each] for each in ("data", "level", "coefficient", "of")]
        lines.append("| " + " | ".join([*about, *texts]) + " |")
    return "\n".join(each.rstrip() for each in lines)


def rows(asked: Namespace) -> Iterator[dict]:
    """Both sets at three levels, for these systems and for systems like these."""
    for name, level, coefficient, scope in itertools.product(SETS, LEVELS, COEFFICIENTS, SCOPES):
        yield measured(name, level, coefficient, scope, asked.splits)


if __name__ == "__main__":
    command.run(__file__, __doc__, rows, page, splits={"type": int, "default": 100})
