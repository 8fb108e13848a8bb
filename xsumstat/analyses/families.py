"""Systems, or inputs, that belong together: the keyword `cluster`."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _validate
from xsumstat.analyses import groups
from xsumstat.coefficients.clusters import Clusters
from xsumstat.coefficients.record import Measure
from xsumstat.dataset import facts
from xsumstat.dataset import scores as schema
from xsumstat.types import IntArray


def checked(ds: xr.Dataset, cluster: Any, measure: Measure, given: Any, refused: str = "") -> dict[str, dict[Any, str]]:
    """The name of the cluster of each label, for each dim that has some; `refused` is what does not go with them."""
    if cluster is None:
        return {}
    if refused:
        raise ValueError(f"cluster={cluster!r} does not go with {refused}; leave one of them out")
    if given is not None or measure.missing == "available":
        other = "given" if given is not None else "missing='available'"
        raise ValueError(f"cluster does not go with {other}; leave one of them out")
    if facts.is_lazy(schema.checked_scores(ds)):
        raise ValueError(f"cluster={cluster!r} needs scores in memory: ds.load()")
    found: dict[str, dict[Any, str]] = {}
    for name in [cluster] if isinstance(cluster, str) else _validate.several("cluster", cluster, "a coordinate or two"):
        dim, labels, _ = groups.groups_of(ds, "cluster", name, facts.CELLS)
        if dim in found:
            raise ValueError(f"cluster={cluster!r} names two coordinates of {dim}s; name one")
        own = ds[dim].values.tolist() if dim in ds.coords else list(range(ds.sizes[dim]))
        found[dim] = {label: f"of {name}: {group}" if group is not None else f"alone: {label!r}"
                      for label, group in zip(own, labels, strict=True)}  # fmt: skip
    return found


def of_scores(scores: schema.Scores, named: dict[str, dict[Any, str]], dims: tuple[str, ...]) -> Clusters | None:
    """The cluster of each system and each input that is used, by number; None without any."""
    if not named:
        return None
    found = tuple(_numbers(scores.score, dim, named.get(dim)) for dim in facts.CELLS)
    for dim in (dim for dim in named if dim in dims):
        _warn_unequal(found[facts.CELLS.index(dim)], dim)
    return found[0], found[1]


def _numbers(score: xr.DataArray, dim: str, named: dict[Any, str] | None) -> IntArray:
    if named is None:
        return np.arange(score.sizes[dim])
    labels = score[dim].values.tolist() if dim in score.coords else list(range(score.sizes[dim]))
    return np.unique([named[label] for label in labels], return_inverse=True)[1].astype(np.int64)


def _warn_unequal(codes: IntArray, dim: str) -> None:
    """Warn where few clusters hold most labels, so that an interval holds less than it says."""
    sizes = np.bincount(codes)
    if len(codes) ** 2 / float((sizes**2).sum()) < len(sizes) / 2:
        _validate.warn(
            f"clusters of {dim}s are of unequal sizes ({sizes.min()} to {sizes.max()}): intervals of 95 % hold some 90",
            "unequal_clusters",
        )


def attr(cluster: Any) -> str | None:
    """The keyword as attrs have it."""
    return cluster if cluster is None or isinstance(cluster, str) else " ".join(cluster)
