"""Scores of outputs by two versions of a judge, and by people."""

import numpy as np
import xarray as xr


def versions(systems=4, prompts=40, seed=0, noise=0.3, shift=(), gaps=True):
    """Human grades, and those of a judge's two versions, the new one higher by `shift` for some systems."""
    rng = np.random.default_rng(seed)
    shape = (systems, prompts)
    human = rng.normal(size=(1, prompts)) + rng.normal(size=shape)
    old = np.round(2 * (human + rng.normal(size=shape)))
    new = np.round(old + noise * rng.normal(size=shape))
    for at, by in enumerate(shift):
        new[at] += by
    names = {"system": [f"s{at}" for at in range(systems)], "input": [f"i{at}" for at in range(prompts)]}
    found = []
    for judge in (new, old):
        score = np.stack([judge, human])
        ds = xr.Dataset({"score": (("metric", "system", "input"), score)}, {"metric": ["judge", "human"], **names})
        found.append(ds.assign_attrs(gold="human"))
    if gaps:
        found[0].score[0, 1, 3] = found[1].score[0, 2, 5] = np.nan
    return found


def plain(ds):
    """The judge's scores alone."""
    return ds.score.sel(metric="judge").values
