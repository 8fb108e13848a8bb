"""How time grows with resamples, cells and metrics, and what a second thread gives."""

import os
import time

import numpy as np
from data import dataset, matrices

import xsumstat  # noqa: F401 - registers ds.meta

RESAMPLES = [1_000, 4_000, 16_000, 64_000, 256_000]
INPUTS = [100, 200, 400, 800, 1_600, 3_200]
METRICS = [2, 4, 8, 16, 32]

CALLS = {
    "ci, input Kendall": ("ci", {"level": "input", "coefficient": "kendall", "method": "bootstrap"}),
    "ci, system Pearson": ("ci", {"level": "system", "coefficient": "pearson", "method": "bootstrap"}),
    "perm_test, input Kendall": ("perm_test", {"level": "input", "coefficient": "kendall"}),
    "perm_test, system Pearson": ("perm_test", {"level": "system", "coefficient": "pearson"}),
}


def seconds(name: str, ds, n_resamples: int) -> float:
    """The best of three calls, after one that compiles."""
    method, settings = CALLS[name]
    call = getattr(ds.meta, method)
    call("gold", n_resamples=16, rng=0, **settings)
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        call("gold", n_resamples=n_resamples, rng=0, **settings)
        best = min(best, time.perf_counter() - start)
    return float(best)


def exponent(sizes: list[int], times: list[float]) -> float:
    """Slope of log time on log size over the upper half, where set-up no longer counts."""
    upper = len(sizes) // 2
    return float(np.polyfit(np.log(sizes[upper:]), np.log(times[upper:]), 1)[0])


def curves(tied: bool = False) -> list[dict]:
    """Seconds along each of the three sizes for each call, and the exponent fitted to them."""
    rows = []
    for name in CALLS:
        along = {
            "resamples": (RESAMPLES, lambda k: (dataset(matrices(2, 16, 100, tied)), k)),
            "cells": (INPUTS, lambda m: (dataset(matrices(2, 16, m, tied)), 4_096)),
            "metrics": (METRICS, lambda m: (dataset(matrices(m, 16, 100, tied)), 10_000)),
        }
        for size, (values, make) in along.items():
            times = [seconds(name, *make(value)) for value in values]
            sizes = [16 * value for value in values] if size == "cells" else values
            rows.append(
                {"call": name, "along": size, "sizes": sizes, "seconds": times, "exponent": exponent(sizes, times)}
            )
            ms = ", ".join(f"{1e3 * each:.1f}" for each in times)
            print(f"{name:28s} {size:10s} exponent {rows[-1]['exponent']:.2f}   {ms} ms", flush=True)
    return rows


def threads() -> list[dict]:
    """Seconds on one thread and on two."""
    rows, before = [], os.environ.get("XSUMSTAT_NUM_THREADS")
    ds = dataset(matrices(8, 20, 1_500, tied=True))
    try:
        for name in CALLS:
            times = []
            for count in ("1", "2"):
                os.environ["XSUMSTAT_NUM_THREADS"] = count
                times.append(seconds(name, ds, 8_192))
            rows.append({"call": name, "one": times[0], "two": times[1], "ratio": times[0] / times[1]})
            print(f"{name:28s} 1 thread {times[0]:.3f} s, 2 threads {times[1]:.3f} s: x{times[0] / times[1]:.2f}")
    finally:
        os.environ.pop("XSUMSTAT_NUM_THREADS")
        if before is not None:
            os.environ["XSUMSTAT_NUM_THREADS"] = before
    return rows
