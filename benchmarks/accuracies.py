"""``python benchmarks/accuracies.py``: how often intervals of accuracies hold what they say, with draws and without.

A system that is drawn twice agrees with itself, and is tied with itself in gold and metric, which lifts the accuracy
with ties and soft pairwise accuracy of every resample. The truth is that of many systems and inputs; `accuracies.json`
has the shares of 95 % intervals that hold it, lie above it, and do not hold their own estimate, and their mean widths.
"""

import itertools
import math
import warnings
from argparse import Namespace
from collections.abc import Iterator

import command
import numpy as np
import xarray as xr

import xsumstat  # noqa: F401  (ds.meta)

SIZES = ((8, 50), (13, 100), (30, 100))
# What is rounded to grades from 1 to 5, and Pearson's correlation of metric and gold before that.
SCORES = {
    "graded gold": ("gold", 0.6),
    "grades": ("both", 0.6),
    "grades, no agreement": ("both", 0.0),
    "normal": ("", 0.3),
}
QUESTIONS = {
    "acc_eq": {"level": "input", "coefficient": "acc_eq"},
    "kendall_like": {"level": "input", "coefficient": "kendall_like", "threshold": 1.0},
    "spa": {"level": "system", "coefficient": "spa"},
}
METHODS = {"bootstrap": {"n_resamples": 199}, "jackknife": {}}


def drawn(rng, n_systems, n_inputs, kind):
    """Gold and one metric: sums of effects of systems, inputs and cells."""
    graded, r = SCORES[kind]
    shapes = ((n_systems, 1), (1, n_inputs), (n_systems, n_inputs))
    z = x = 0.0
    for sd, shape in zip((0.6, 0.4, 1.0), shapes, strict=True):
        gold, noise = rng.normal(0, sd, (2, *shape))
        z, x = z + gold, x + r * gold + math.sqrt(1 - r**2) * noise
    z = np.clip(np.round(3 + z), 1, 5) if graded else z
    x = np.clip(np.round(3 + x), 1, 5) if graded == "both" else x
    return xr.Dataset({"score": (("metric", "system", "input"), np.stack([z, x]))}, {"metric": ["human", "m"]})


def truth(name, kind, n_inputs):
    """The value of many systems, on as many inputs where means over them are compared."""
    rng = np.random.default_rng(99)
    shape, repeats = ((60, n_inputs), 30) if name == "spa" else ((200, 60), 6)
    each = [drawn(rng, *shape, kind).meta.corr("human", **QUESTIONS[name]).correlation.item() for _ in range(repeats)]
    return float(np.mean(each))


def measured(name, size, kind, trials):
    """A row for each method."""
    warnings.simplefilter("ignore")
    value, rng = truth(name, kind, size[1]), np.random.default_rng(1)
    numbers = {method: np.zeros((trials, 4)) for method in METHODS}
    for trial in range(trials):
        ds = drawn(rng, *size, kind)
        for method, how in METHODS.items():
            found = ds.meta.ci("human", method=method, rng=trial, **how, **QUESTIONS[name])
            low, high, own = (found[each].item() for each in ("ci_low", "ci_high", "correlation"))
            numbers[method][trial] = low <= value <= high, low > value, not low <= own <= high, high - low
    about = {"coefficient": name, "systems": size[0], "inputs": size[1], "scores": kind, "truth": round(value, 4)}
    columns = ("coverage", "lies above", "without its estimate", "width")
    means = {method: each.mean(axis=0).round(4).tolist() for method, each in numbers.items()}
    return [
        {**about, "method": m, "trials": trials, **dict(zip(columns, each, strict=True))} for m, each in means.items()
    ]


def rows(asked: Namespace) -> Iterator[dict]:
    """Every question of each size and kind of scores that it can be asked of."""
    for name, size, kind in itertools.product(QUESTIONS, SIZES, SCORES):
        if name != "kendall_like" or SCORES[kind][0]:
            yield from measured(name, size, kind, asked.trials)


if __name__ == "__main__":
    command.run(__file__, __doc__, rows, trials={"type": int, "default": 100})
