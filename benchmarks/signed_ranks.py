"""``python benchmarks/signed_ranks.py``: prints the size of `corr_test(method="wilcoxon")` for docs/calibration.md."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from bands import wilson

import xsumstat  # noqa: F401

SEED = 5
# Systems, inputs and sets of scores.
DESIGNS = ((8, 12, 1000), (10, 100, 1000), (16, 100, 1000), (25, 300, 400))


def drawn(systems: int, inputs: int, sets: int, own: float) -> xr.Dataset:
    """Two metrics with noise of their own, and with effects of systems and of inputs of this size, beside the gold."""
    rng = np.random.default_rng(SEED)
    gold = rng.normal(size=(1, systems, 1, sets)) + rng.normal(size=(1, systems, inputs, sets))
    metrics = gold + rng.normal(size=(2, systems, inputs, sets))
    if own:
        metrics += own * (rng.normal(size=(2, systems, 1, sets)) + rng.normal(size=(2, 1, inputs, sets)))
    dims, labels = ("metric", "system", "input", "set"), {"metric": ["first", "second", "human"]}
    return xr.Dataset({"score": (dims, np.concatenate([metrics, gold]))}, labels)


def alone(systems: int, inputs: int, sets: int, kind: str) -> xr.Dataset:
    """One metric beside the gold: noise, noise with an effect of each system of its own, or of correlation .5."""
    rng = np.random.default_rng(SEED)
    gold = rng.normal(size=(1, systems, inputs, sets))
    metric = rng.normal(size=(1, systems, inputs, sets))
    if kind == "correlation .5":
        metric = 0.5 * gold + np.sqrt(0.75) * metric
    else:
        gold += rng.normal(size=(1, systems, 1, sets))
        metric += rng.normal(size=(1, systems, 1, sets)) * (kind == "own effects")
    labels = {"metric": ["first", "human"]}
    return xr.Dataset({"score": (("metric", "system", "input", "set"), np.concatenate([metric, gold]))}, labels)


def share(ds: xr.Dataset, level: str, **other: Any) -> str:
    """In how many sets p is at most .05, in percent, with its limits."""
    test = ds.meta.corr_test("human", metric="first", method="wilcoxon", level=level, **other)
    found = (test.pvalue <= 0.05).values
    low, high = wilson(int(found.sum()), found.size)
    return f"{100 * found.mean():.1f} ({100 * low:.1f}–{100 * high:.1f})"


def main() -> None:
    """Print the table."""
    print("| null hypothesis | level |", " | ".join(f"{systems}×{inputs}" for systems, inputs, _ in DESIGNS), "|")
    print("| --- " * (2 + len(DESIGNS)) + "|")
    for name, own in (("noise", 0.0), ("own effects", 0.5)):
        sets = [drawn(*design, own) for design in DESIGNS]
        for level in ("input", "within_system"):
            print(f"| {name} | {level} |", " | ".join(share(each, level, other="second") for each in sets), "|")
    for kind, value in (("noise", 0.0), ("own effects", 0.0), ("correlation .5", 0.5)):
        sets = [alone(*design, kind) for design in DESIGNS]
        for level in ("input", "within_system"):
            shares = " | ".join(share(each, level, against=value) for each in sets)
            print(f"| one metric, {kind}, against {value:g} | {level} |", shares, "|")


if __name__ == "__main__":
    main()
