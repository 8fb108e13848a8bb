"""Metrics whose system means correlate negatively with the human scores."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt
import xarray as xr

from xsumstat.coefficients import arrays
from xsumstat.core import levels
from xsumstat.dataset import facts

# A metric that is not declared lower-is-better is remarked on where the correlation of its system means with the gold's
# is at most this, and so low that chance would bring one of all metrics there once in a hundred Datasets.
_STRONG = -0.3
_CHANCE = 0.01


def discordant(
    score: xr.DataArray, gold: xr.DataArray, known: Sequence[Hashable], *, level: str, n_metrics: int
) -> dict[Hashable, float]:
    """Metrics not `known` to be better when lower that seem so: how their system means correlate with the gold's."""
    from scipy.special import ndtri

    n_systems = score.sizes["system"]
    if n_systems < 4 or "metric" not in score.indexes:
        return {}
    with np.errstate(all="ignore"):
        found = _pearson(_means(score), _means(gold), ["system"])
        far = np.arctanh(found) * np.sqrt(n_systems - 3) < ndtri(_CHANCE / n_metrics)
        places = [at for at in np.flatnonzero(far & (found <= _STRONG)) if score["metric"].values[at] not in known]
        if level != "system":
            ours, over = score.variable, levels.CORRELATED[level]
            places = [at for at in places if _pearson(ours.isel(metric=[at]), gold.variable, over)[0] < 0]
    return dict(zip(score["metric"].values[places].tolist(), found[places].tolist(), strict=True))


def _means(values: xr.DataArray) -> xr.Variable:
    """System means over existing inputs; without gaps, the common case, without a copy."""
    axis = values.dims.index("input")
    means = values.values.mean(axis=axis)
    if np.isnan(means).any():
        known = ~np.isnan(values.values)
        means = np.where(known, values.values, 0.0).sum(axis=axis) / known.sum(axis=axis)
    return xr.Variable([dim for dim in values.dims if dim != "input"], means)


def _pearson(x: xr.Variable, z: xr.Variable, over: Sequence[str]) -> npt.NDArray[np.float64]:
    """Pearson's r of each metric, averaged; `xarray.corr` warns of empty groups."""
    dims, laid_out = facts.broadcast(x, z)
    one, two = np.broadcast_arrays(*laid_out)
    axes = tuple(dims.index(dim) for dim in over)
    there = ~np.isnan(one * two)
    a, b = (np.where(there, each - arrays.mean_of_existing(each, there, axes), 0.0) for each in (one, two))
    r = (a * b).sum(axis=axes) / np.sqrt((a**2).sum(axis=axes) * (b**2).sum(axis=axes))
    metric = [dim for dim in dims if dim not in over].index("metric")
    by_metric = np.moveaxis(r, metric, 0).reshape(r.shape[metric], -1)
    known = ~np.isnan(by_metric)
    return np.asarray(np.where(known, by_metric, 0.0).sum(axis=1) / known.sum(axis=1))
