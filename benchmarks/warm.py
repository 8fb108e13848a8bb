"""Warm calls on the demo, beside what people type today; and many small calls."""

import statistics
import time
import warnings

import numpy as np
import pandas as pd
import scipy.stats
import xarray as xr
from nlpstats.correlations.correlations import correlate

import xsumstat

# What a call of the demo should take, in milliseconds of CPU (None: its own work and five).
CALLS = {
    "corr": (3, lambda ds: ds.meta.corr("human")),
    "corr, input Kendall": (3, lambda ds: ds.meta.corr("human", level="input", coefficient="kendall")),
    "ci": (5, lambda ds: ds.meta.ci("human")),
    "ci, input Kendall": (5, lambda ds: ds.meta.ci("human", level="input", coefficient="kendall")),
    "perm_test, 99 swaps": (5, lambda ds: ds.meta.perm_test("human", n_resamples=99)),
    "compare_systems": (5, lambda ds: ds.meta.compare_systems(metric="human")),
    "compare_metrics": (None, lambda ds: ds.meta.compare_metrics("human")),
    "rank": (None, lambda ds: ds.meta.rank("human")),
}


def _topics() -> xr.Dataset:
    """Seven metrics of 12 systems on 500 inputs of 50 topics."""
    score = np.random.default_rng(0).normal(size=(7, 12, 500))
    labels = {"metric": ["human", *"abcdef"], "system": [f"s{at}" for at in range(12)], "input": np.arange(500)}
    ds = xr.Dataset({"score": (("metric", "system", "input"), score)}, labels)
    return ds.assign_coords(topic=("input", np.repeat(np.arange(50), 10)))


def _by_hand(ds: xr.Dataset) -> None:
    for topic in range(50):
        ds.sel(input=ds.topic == topic).meta.corr("human")


MANY = {
    'corr(by="topic"), 50 topics': (100, lambda ds: ds.meta.corr("human", by="topic")),
    "a loop of 50 sel(...).meta.corr": (200, _by_hand),
}


def _peers(ds: xr.Dataset) -> dict:
    """What gives the six correlations of system means: of ready arrays, and of ready frames."""
    scores = ds.score.transpose("metric", "system", "input")
    gold, others = scores.sel(metric="human").values, scores.sel(metric=scores.metric != "human").values
    frame = ds.score.mean("input").to_pandas().T
    frame.columns = pd.Index(frame.columns)
    return {
        "nlpstats.correlate of 6 metrics": lambda: [correlate(each, gold, "system", "pearson") for each in others],
        "SciPy's pearsonr of 6 metrics' means": lambda: [
            scipy.stats.pearsonr(each.mean(axis=1), gold.mean(axis=1)) for each in others
        ],
        "pandas' corrwith of ready means": lambda: frame.drop(columns="human").corrwith(frame["human"]),
        "nlpstats.correlate, input Kendall": lambda: [correlate(each, gold, "input", "kendall") for each in others],
    }


def cpu(call, runs: int) -> list[float]:
    """Sorted CPU seconds of calls after two that make things ready."""
    call(), call()
    times = []
    for _ in range(runs):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return sorted(times)


def all_of_it(runs: int) -> list[dict]:
    """A row for every call, and for every peer."""
    warnings.simplefilter("ignore")
    demo, topics = xsumstat.load_dataset("demo"), _topics()
    asked = [(name, wanted, lambda call=call: call(demo), 20 * runs) for name, (wanted, call) in CALLS.items()]
    asked += [(name, wanted, lambda call=call: call(topics), 2 * runs) for name, (wanted, call) in MANY.items()]
    asked += [(name, None, call, 20 * runs) for name, call in _peers(demo).items()]
    rows = []
    for name, wanted, call, count in asked:
        times = cpu(call, count)
        rows.append({"call": name, "seconds": statistics.median(times), "low": times[0], "high": times[-1]})
        rows[-1] |= {"wanted": None if wanted is None else wanted / 1e3}
        print(f"{name:40s} {1e3 * rows[-1]['seconds']:8.2f} ms ({1e3 * times[0]:.2f} to {1e3 * times[-1]:.2f})")
    return rows
