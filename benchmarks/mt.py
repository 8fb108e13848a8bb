"""What today's metrics task costs: accuracy with ties and soft pairwise accuracy of a WMT-sized set, beside loops."""

import itertools
import os

import numpy as np
import xarray as xr
from proof import median_seconds

SYSTEMS, INPUTS, METRICS, SWAPS = 20, 1500, 50, 1000
TIES = {"level": "input", "coefficient": "acc_eq"}


def test_set(systems: int = SYSTEMS, inputs: int = INPUTS, metrics: int = METRICS, seed: int = 0) -> xr.Dataset:
    """Metrics with fine scores, and a gold like MQM: sums of errors, most of them none or one."""
    rng = np.random.default_rng(seed)
    quality, difficulty = 0.5 * rng.normal(size=(systems, 1)), rng.normal(size=(1, inputs))
    cell = rng.normal(size=(systems, inputs))
    gold = np.minimum(0.0, np.round(2 * (quality + 0.7 * difficulty + cell) - 1))
    noise = np.linspace(0.6, 2.0, metrics)[:, None, None] * rng.normal(size=(metrics, systems, inputs))
    scores = quality + difficulty + 0.8 * cell + noise
    labels = [*(f"m{at:02}" for at in range(metrics)), "mqm"]
    return xr.Dataset({"score": (("metric", "system", "input"), [*scores, gold])}, {"metric": labels})


def calibrated(x: np.ndarray, z: np.ndarray) -> float:
    """The best threshold as the field's tool finds it: all pairs in one sorted list, each made a tie in turn."""
    pairs = []
    for j in range(x.shape[1]):
        for a, b in itertools.combinations(range(len(x)), 2):
            gap, other = x[a, j] - x[b, j], z[a, j] - z[b, j]
            pairs.append((abs(gap), int(gap * other > 0), int(other == 0)))
    pairs.sort(key=lambda pair: pair[0])
    right = sum(agrees for _, agrees, _ in pairs)
    best, threshold = right, 0.0
    for gap, agrees, tied in pairs:
        right += tied - agrees
        if right > best:
            best, threshold = right, gap
    return threshold


def sides(x: np.ndarray, threshold: float) -> list[np.ndarray]:
    """Which of two systems is better, for each input."""
    found = []
    for j in range(x.shape[1]):
        gap = x[:, None, j] - x[None, :, j]
        gap[np.abs(gap) <= threshold] = 0.0
        found.append(np.sign(gap))
    return found


def swaps_of_decisions(x: list[np.ndarray], y: list[np.ndarray], z: list[np.ndarray], n_resamples: int) -> None:
    """The field's tool's test of one pair of metrics: a loop over resamples and inputs, matrices within."""
    rng = np.random.default_rng(0)
    upper = np.triu_indices(len(z[0]), 1)
    for _ in range(n_resamples):
        first, second = [], []
        for one, two, gold in zip(x, y, z, strict=True):
            coin = np.triu(rng.binomial(1, 0.5, gold.shape))
            coin = coin + coin.T
            first.append(((coin * one + (1 - coin) * two) == gold)[upper].mean())
            second.append((((1 - coin) * one + coin * two) == gold)[upper].mean())
        np.mean(first), np.mean(second)


def pvalues(scores: np.ndarray, n_permutations: int) -> np.ndarray:
    """One-sided p-values of all pairs of systems, by a product of matrices."""
    signs = np.random.default_rng(4).integers(0, 2, (n_permutations, scores.shape[1])) * 2.0 - 1.0
    null, seen = signs @ scores.T, scores.sum(axis=1)
    pairs = itertools.combinations(range(len(scores)), 2)
    return np.array([np.mean(null[:, a] - null[:, b] >= seen[a] - seen[b]) for a, b in pairs])


def soft(x: np.ndarray, z: np.ndarray) -> float:
    """Soft pairwise accuracy from a thousand permutations."""
    return 1 - float(np.abs(pvalues(x, 1000) - pvalues(z, 1000)).mean())


def ties(ds: xr.Dataset) -> list[dict]:
    """Seconds of whole calls on two threads, and of the loop for as much, from one metric or pair and few swaps."""
    scores = ds["score"].values
    x, y, z = scores[0], scores[1], scores[-1]
    one = median_seconds(lambda: calibrated(x, z), runs=3)
    decided = [sides(each, 0.1) for each in (x, y, z)]
    draw = median_seconds(lambda: swaps_of_decisions(*decided, 3), runs=3) / 3
    pairs = METRICS * (METRICS - 1) // 2
    few = ds.isel(metric=[0, 1, -1])
    resamples = {"n_resamples": SWAPS, "rng": 0}
    calls = {
        "corr": (lambda: ds.meta.corr("mqm", **TIES), METRICS * one),
        "perm_test": (
            lambda: ds.meta.perm_test("mqm", resample="input", **TIES, **resamples),
            pairs * (2 * one + SWAPS * draw),
        ),
        'perm_test, method="analytic"': (
            lambda: ds.meta.perm_test("mqm", resample="input", method="analytic", **TIES),
            pairs * (2 * one + SWAPS * draw),
        ),
        'perm_test, swap="scores", one pair': (
            lambda: few.meta.perm_test("mqm", swap="scores", **TIES, **resamples),
            SWAPS * 2 * one,
        ),
        "ci, one metric": (lambda: ds.meta.ci("mqm", metric="m00", **TIES, **resamples), SWAPS * one),
    }
    return [
        {"call": name, "ours": median_seconds(call, runs=3), "theirs": theirs} for name, (call, theirs) in calls.items()
    ]


def soft_accuracy(ds: xr.Dataset) -> list[dict]:
    """The same of soft pairwise accuracy."""
    scores = ds["score"].values
    one = median_seconds(lambda: soft(scores[0], scores[-1]), runs=3)
    few, ten = ds.isel(metric=[0, 1, -1]), ds.isel(metric=[*range(10), -1])
    resamples = {"n_resamples": SWAPS, "rng": 0, "coefficient": "spa"}
    calls = {
        "corr": (lambda: ds.meta.corr("mqm", coefficient="spa"), METRICS * one),
        "perm_test, one pair": (lambda: few.meta.perm_test("mqm", **resamples), SWAPS * 2 * one),
        "perm_test, ten metrics": (lambda: ten.meta.perm_test("mqm", **resamples), 45 * SWAPS * 2 * one),
        "ci, one metric": (lambda: ds.meta.ci("mqm", metric="m00", **resamples), SWAPS * one),
    }
    return [
        {"call": name, "ours": median_seconds(call, runs=3), "theirs": theirs} for name, (call, theirs) in calls.items()
    ]


def cells() -> list[dict]:
    """Seconds of accuracy with ties of all cells as one group, 81 million pairs; nothing else does it."""
    ds = test_set().isel(system=slice(9), input=slice(1418))
    how = {"level": "global", "coefficient": "acc_eq"}
    calls = {
        "corr, two metrics, threshold=0.1": lambda: ds.meta.corr("mqm", metric=["m00", "m01"], threshold=0.1, **how),
        "corr, two metrics": lambda: ds.meta.corr("mqm", metric=["m00", "m01"], **how),
        "ci, two metrics, threshold=0.1, 1,000 draws": lambda: ds.meta.ci(
            "mqm", metric=["m00", "m01"], threshold=0.1, method="bootstrap", n_resamples=SWAPS, rng=0, **how
        ),
        "perm_test, one pair, threshold=0": lambda: ds.meta.perm_test(
            "mqm", metric="m00", other="m01", threshold=0, n_resamples=SWAPS, rng=0, **how
        ),
    }
    return [{"call": name, "seconds": median_seconds(call, runs=3)} for name, call in calls.items()]


def all_of_it() -> dict:
    """Every figure of this part."""
    before = os.environ.get("XSUMSTAT_NUM_THREADS")
    os.environ["XSUMSTAT_NUM_THREADS"] = "2"
    ds = test_set()
    found = {"ties": ties(ds), "soft": soft_accuracy(ds), "cells": cells()}
    if before is not None:
        os.environ["XSUMSTAT_NUM_THREADS"] = before
    return found
