"""Facts for checks of scores, found by NumPy: presence, spread, and gaps."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

# The dims of single outputs, and of all scores.
CELLS = ("system", "input")
CORE = ("metric", *CELLS)
# So many systems let ``resample="auto"`` speak of others like them; of fewer it speaks of these alone.
ENOUGH_SYSTEMS = 5


@dataclass(frozen=True)
class Fact:
    """A fact about scores; labels are attached on demand, because labelled arrays are slow."""

    dims: tuple[Hashable, ...]
    values: npt.NDArray[Any]
    labels: Mapping[Hashable, pd.Index[Any]]

    @classmethod
    def of(cls, dims: Sequence[Hashable], values: npt.NDArray[Any], like: xr.DataArray) -> Fact:
        return cls(tuple(dims), values, {dim: index for dim, index in like.indexes.items() if dim in dims})

    @property
    def array(self) -> xr.DataArray:
        return xr.DataArray(self.values, dict(self.labels), self.dims)

    @staticmethod
    def joined(parts: Sequence[Fact]) -> Fact:
        first = parts[0]
        if "metric" not in first.dims:
            return first
        values = np.concatenate([each.values for each in parts], axis=first.dims.index("metric"))
        labels = dict(first.labels)
        if "metric" in labels:
            labels["metric"] = labels["metric"].append([each.labels["metric"] for each in parts[1:]])
        return Fact(first.dims, values, labels)


def there(values: xr.DataArray) -> xr.Variable:
    """Where values exist; unlabelled, because xarray's matching of labels dominates a short call."""
    return xr.Variable(values.dims, ~np.isnan(values.data))


def is_lazy(values: xr.DataArray) -> bool:
    return values.variable.__dask_graph__() is not None  # a tenth of the time that `chunks` takes


def broadcast(*variables: xr.Variable) -> tuple[tuple[Hashable, ...], list[npt.NDArray[Any]]]:
    """Dims of several arrays, metric, system and input last, and the arrays with all of them."""
    every = dict.fromkeys(dim for each in variables for dim in each.dims)
    dims = (*(dim for dim in every if dim not in CORE), *(dim for dim in CORE if dim in every))
    laid_out = []
    for each in variables:
        own = [dim for dim in dims if dim in each.dims]
        values = np.asarray(each.values).transpose([each.dims.index(dim) for dim in own])
        laid_out.append(values[tuple(slice(None) if dim in own else None for dim in dims)])
    return dims, laid_out


def usable(score: xr.DataArray, gold: xr.DataArray, missing: str) -> tuple[xr.Variable, xr.Variable]:
    """Systems and inputs that some comparison can use; lazy where the scores are."""
    human, automatic = there(gold), there(score)
    if missing != "available":
        both = human & automatic
        systems, inputs = (_any_along(both, dim) for dim in CELLS)
    else:
        by_people, by_metrics = ([_any_along(each, dim) for dim in CELLS] for each in (human, automatic))
        systems, inputs = by_people[0] & by_metrics[0], by_people[1] | by_metrics[1]
    return systems, inputs


def _any_along(condition: xr.Variable, dim: str) -> xr.Variable:
    axes = tuple(at for at, other in enumerate(condition.dims) if other != dim)
    return xr.Variable(dim, condition.data.any(axis=axes))


def spread(values: xr.DataArray) -> Fact:
    """Highest less lowest score of all cells; NaN for none, infinite only with infinite scores."""
    cells = tuple(values.dims.index(dim) for dim in CELLS)
    high, low = np.fmax.reduce(values.values, axis=cells), np.fmin.reduce(values.values, axis=cells)
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.minimum(high - low, np.finfo(float).max)
    found = np.where(np.isinf(high) | np.isinf(low), np.inf, found)
    return Fact.of([dim for dim in values.dims if dim not in CELLS], found, values)


@dataclass(frozen=True)
class Gaps:
    """Gaps of metrics among the used systems, inputs and cells."""

    systems: Fact  # (metric,), without cells; so `inputs`
    inputs: Fact
    cells: Fact | None  # (metric,), others with only one of metric and gold
    sizes: tuple[int, int, int]  # totals


def gaps(score: xr.DataArray, gold: xr.DataArray, missing: str) -> Gaps:
    # A rater need not have rated all, nor a reference be there for all, that others did or are.
    dims, (automatic, human) = broadcast(*(_by_somebody(there(each)) for each in (score, gold)))
    cells = automatic if missing == "available" else automatic & human
    alone = automatic ^ human
    beside = tuple(at for at, dim in enumerate(dims) if dim != "metric")
    lacking = []
    for dim in CELLS:
        some = cells.any(axis=tuple(at for at in beside if dims[at] != dim), keepdims=True)
        alone = alone & some
        lacking.append(Fact.of(["metric"], (~some).sum(axis=beside), score))
    counts = None if missing == "available" else Fact.of(["metric"], alone.sum(axis=beside), score)
    size = alone.size // max(1, score.sizes["metric"])
    return Gaps(lacking[0], lacking[1], counts, (score.sizes["system"], score.sizes["input"], size))


def _by_somebody(present: xr.Variable) -> xr.Variable:
    own = [dim for dim in ("reference", "rater") if dim in present.dims]
    return present.any(own) if own else present


@dataclass(frozen=True)
class Presence:
    """Where metrics (and gold) have scores: a bit for each cell, and the number of cells."""

    bits: Fact
    n_cells: int


def presence(scores: Sequence[xr.DataArray], gold: xr.DataArray | None = None) -> Presence:
    (score,) = scores
    dims, arrays = broadcast(there(score), *([] if gold is None else [there(gold)]))
    both = np.moveaxis(np.logical_and.reduce(np.broadcast_arrays(*arrays)), dims.index("metric"), 0)
    flat = both.reshape(len(both), -1)
    return Presence(Fact.of(["metric", "_byte"], np.packbits(flat, axis=1), score), flat.shape[1])
