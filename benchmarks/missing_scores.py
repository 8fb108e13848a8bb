"""``python benchmarks/missing_scores.py``: prints size and power of `missingness` for docs/calibration.md.

Scores are missing at random, more often on some inputs, for one system, for bad outputs, or on bad inputs.
"""

from __future__ import annotations

import warnings

import numpy as np
import xarray as xr
from bands import wilson

import xsumstat  # noqa: F401

SEED, SETS, DRAWS = 4, 400, 199
DESIGNS = ((3, 60), (4, 120), (8, 40))
TESTS = ("system", "score within inputs", "score between inputs")
# The logit of the chance that a score is missing: a constant, and what it grows with.
BASE = -2.5
CASES = {
    "at random": lambda system, own, shared, noise: 0 * own,
    "more on some inputs": lambda system, own, shared, noise: 1.5 * noise,
    "more of one system": lambda system, own, shared, noise: 1.5 * (system == 0) + 0 * own,
    "more of bad outputs": lambda system, own, shared, noise: -1.0 * own,
    "more on bad inputs": lambda system, own, shared, noise: -1.0 * shared,
}


def drawn(case: str, systems: int, inputs: int, rng: np.random.Generator) -> np.ndarray:
    """A judge's scores with gaps, and human scores, (2, systems, inputs); all systems are equally good."""
    own, shared = rng.normal(size=(systems, inputs)), rng.normal(size=(1, inputs)) + np.zeros((systems, 1))
    noise, system = rng.normal(size=(1, inputs)) + np.zeros((systems, 1)), np.arange(systems)[:, None]
    human = own + shared + 0.5 * rng.normal(size=(systems, inputs))
    judge = own + shared + 0.5 * rng.normal(size=(systems, inputs))
    chance = 1 / (1 + np.exp(-(BASE + CASES[case](system, own, shared, noise))))
    return np.array([np.where(rng.random((systems, inputs)) < chance, np.nan, judge), human])


def shares(case: str, design: tuple[int, int]) -> list[str]:
    """How often each test is significant without a correction, and how often bounds hold the whole scores' accuracy."""
    rng = np.random.default_rng([SEED, *design])
    score = np.array([drawn(case, *design, rng) for _ in range(SETS)])
    ds = xr.Dataset({"score": (("set", "metric", "system", "input"), score)}, {"metric": ["judge", "human"]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = ds.meta.missingness("human", adjust=None, n_resamples=DRAWS, rng=SEED).isel(metric=0)
    said = []
    for test in TESTS:
        p = found.pvalue.sel(test=test).dropna("set")
        k = int((p <= 0.05).sum())
        low, high = wilson(k, p.size)
        said.append(f"{100 * k / p.size:.1f} ({100 * low:.1f}–{100 * high:.1f})")
    return [*said, f"{100 * float(found.n_missing.sum('system').mean()) / (design[0] * design[1]):.1f}"]


def main() -> None:
    """Print the table."""
    titles = [f'"{test}"' for test in TESTS] + ["missing, %"]
    print("| scores are missing | systems × inputs |", " | ".join(titles), "|")
    print("| --- " * (2 + len(titles)) + "|")
    for case in CASES:
        for design in DESIGNS:
            print(f"| {case} | {' × '.join(map(str, design))} |", " | ".join(shares(case, design)), "|", flush=True)


if __name__ == "__main__":
    main()
