"""What ranges of scores cost: 160,000 outputs of 92 inputs by five metrics, as many as Peyrard (2019) has."""

import itertools
import os

import numpy as np
import scipy.stats
import xarray as xr
from proof import median_seconds


def outputs() -> xr.Dataset:
    """About 1,760 outputs of each input, padded."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(1600, 1920, 92)
    x = np.full((5, sizes.max(), 92), np.nan)
    for at, n in enumerate(sizes):
        x[:, :n, at] = 0.8 * rng.normal(size=n) + 0.6 * rng.normal(size=(5, n))
    return xr.Dataset({"score": (("metric", "system", "input"), x)}, {"metric": list("abcde")})


def scipy_kendall(x: np.ndarray) -> None:
    """SciPy's tau of every pair of metrics on every input."""
    for one, two in itertools.combinations(range(5), 2):
        for at in range(x.shape[2]):
            there = ~np.isnan(x[one, :, at])
            scipy.stats.kendalltau(x[one, there, at], x[two, there, at])


def all_of_it() -> dict:
    """Seconds of each question on two threads, and of SciPy's Kendall alone."""
    ds = outputs()
    before = os.environ["XSUMSTAT_NUM_THREADS"]
    alone = median_seconds(lambda: ds.meta.metric_corr(level="input", coefficient="kendall"), runs=3)
    os.environ["XSUMSTAT_NUM_THREADS"] = "2"
    try:
        calls = {
            "metric_corr, Kendall": lambda: ds.meta.metric_corr(level="input", coefficient="kendall"),
            "disagreement": lambda: ds.meta.disagreement(rng=0),
            "improvement_consistency": lambda: ds.meta.improvement_consistency(rng=0),
            "scoring_range": lambda: ds.meta.scoring_range(above=0.97, unit="quantile"),
            "range_drop, 19 simulations": lambda: ds.meta.range_drop(
                above=0.97, unit="quantile", rng=0, n_simulations=19
            ),
        }
        rows = [{"call": name, "seconds": median_seconds(call, runs=3)} for name, call in calls.items()]
    finally:
        os.environ["XSUMSTAT_NUM_THREADS"] = before
    return {
        "outputs": int(ds.score[0].notnull().sum()),
        "calls": rows,
        "one_thread": alone,
        "scipy": median_seconds(lambda: scipy_kendall(ds.score.values), runs=3),
    }
