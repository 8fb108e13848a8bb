"""Scores of two language pairs, and tasks of them."""

import hashlib

import numpy as np
import xarray as xr


def scores(seed, noise):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(8, 15)) + rng.normal(size=(8, 1))
    x = z + rng.normal(size=(len(noise), 8, 15)) * np.array(list(noise.values()))[:, None, None]
    return xr.Dataset(
        {"score": (("metric", "system", "input"), np.concatenate([x, z[None]]))}, {"metric": [*noise, "human"]}
    )


FIRST = scores(1, {"a": 0.5, "b": 1.0, "c": 3.0})
SECOND = scores(2, {"c": 3.0, "b": 0.9, "a": 0.6, "d": 1.0})
TASKS = {
    "one, systems": {"ds": FIRST, "gold": "human"},
    "one, outputs": {
        "ds": FIRST, "gold": "human", "level": "input", "coefficient": "acc_eq", "resample": "input"
    },
    "two, systems": {"ds": SECOND, "gold": "human", "coefficient": "spa", "metric": ["a", "b", "c"]},
}  # fmt: skip


def own_stream(task):
    """A task's draws follow from its language pair and sizes: the first 64 bits of their SHA-256."""
    sizes = [task["ds"].sizes[dim] for dim in ("system", "input")]
    return int(hashlib.sha256(repr([task.get("language_pair"), *sizes]).encode()).hexdigest()[:16], 16)
