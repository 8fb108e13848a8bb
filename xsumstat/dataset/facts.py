"""Facts for checks of scores, found by NumPy: presence, spread, and gaps."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from xsumstat.core import levels
from xsumstat.core.types import BoolArray, FloatArray
from xsumstat.dataset import chunking, masks

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
        known = like.xindexes
        return cls(tuple(dims), values, {dim: known[dim].to_pandas_index() for dim in dims if dim in known})

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


def spread(values: xr.DataArray) -> Fact:
    """Highest less lowest score of all cells; NaN for none, infinite only with infinite scores."""
    cells = tuple(values.dims.index(dim) for dim in CELLS)
    high, low = np.fmax.reduce(values.values, axis=cells), np.fmin.reduce(values.values, axis=cells)
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.minimum(high - low, np.finfo(float).max)
    found = np.where(np.isinf(high) | np.isinf(low), np.inf, found)
    return Fact.of([dim for dim in values.dims if dim not in CELLS], found, values)


def ties(score: xr.DataArray, gold: xr.DataArray) -> list[Fact]:
    """Inputs on which ties leave nothing to correlate, each beside the inputs that could tell, (metric,).

    First those on which a metric or, of two systems, the gold ties all systems, of those with scores of two systems or
    more; of more than two systems, of those whose gold varies. Then those on which the gold ties all.
    """
    dims, (x, z) = broadcast(score.variable, gold.variable)
    axis, two = dims.index("system"), score.sizes["system"] == 2
    both = ~np.isnan(x) & ~np.isnan(z)
    of_metric, of_gold = (_varies(each, both, axis) for each in (x, z))
    scored = both.sum(axis=axis) > 1
    could_tell = scored & (two | of_gold)
    tied, by_gold = could_tell & ~(of_metric & of_gold), scored & ~of_gold
    left = [dim for dim in dims if dim != "system"]
    beside = tuple(at for at, dim in enumerate(left) if dim != "metric")
    return [Fact.of(["metric"], each.sum(axis=beside), score) for each in (tied, could_tell, by_gold, scored)]


def single(score: xr.DataArray, gold: xr.DataArray, level: str) -> list[Fact] | None:
    """Groups of an average with one common cell, which cannot be correlated, beside all with any, (metric,)."""
    if level not in ("input", "within_system"):
        return None
    dims, (x, z) = broadcast(score.variable, gold.variable)
    members = levels.members(level)
    count = (~np.isnan(x) & ~np.isnan(z)).sum(axis=dims.index(members))
    left = [dim for dim in dims if dim != members]
    beside = tuple(at for at, dim in enumerate(left) if dim != "metric")
    return [Fact.of(["metric"], each.sum(axis=beside), score) for each in (count == 1, count > 0)]


def share_inputs(score: xr.DataArray, human: xr.DataArray) -> bool:
    """Whether some input has scores of two systems, by a metric and by people; taken for granted of lazy scores."""
    if chunking.is_lazy(score) or chunking.is_lazy(human) or score.sizes["system"] < 2 or "input" not in human.dims:
        return True
    there, rated = (each.notnull().any([dim for dim in each.dims if dim not in CELLS]) for each in (score, human))
    there = there & rated.reset_coords(drop=True)
    return bool((there.sum("system") > 1).any())


def _varies(values: FloatArray, there: BoolArray, axis: int) -> BoolArray:
    own = values if there.all() else np.where(there, values, np.nan)
    return np.asarray(np.fmax.reduce(own, axis=axis) > np.fmin.reduce(own, axis=axis))


@dataclass(frozen=True)
class Gaps:
    """Gaps of metrics among the used systems, inputs and cells."""

    systems: Fact  # (metric,), without cells; so `inputs`
    inputs: Fact
    cells: Fact | None  # (metric,), others with only one of metric and gold
    unpaired: Fact | None  # (metric,), all cells with only one of them
    sizes: tuple[int, int, int]  # totals


def gaps(score: xr.DataArray, gold: xr.DataArray, missing: str) -> Gaps:
    # A rater need not have rated all, nor a reference be there for all, that others did or are.
    dims, (automatic, human) = broadcast(*(_by_somebody(masks.there(each)) for each in (score, gold)))
    cells = automatic if missing == "available" else automatic & human
    alone = automatic ^ human
    beside = tuple(at for at, dim in enumerate(dims) if dim != "metric")
    unpaired, lacking = alone, []
    for dim in CELLS:
        some = cells.any(axis=tuple(at for at in beside if dims[at] != dim), keepdims=True)
        alone = alone & some
        lacking.append(Fact.of(["metric"], (~some).sum(axis=beside), score))
    own, every = (
        None if missing == "available" else Fact.of(["metric"], each.sum(axis=beside), score)
        for each in (alone, unpaired)
    )
    size = alone.size // max(1, score.sizes["metric"])
    return Gaps(lacking[0], lacking[1], own, every, (score.sizes["system"], score.sizes["input"], size))


def _by_somebody(present: xr.Variable) -> xr.Variable:
    own = [dim for dim in ("reference", "rater") if dim in present.dims]
    return present.any(own) if own else present


@dataclass(frozen=True)
class Presence:
    """Where metrics (and gold) have scores: a bit for each cell, and the number of cells."""

    bits: Fact
    n_cells: int


def presence(
    scores: Sequence[xr.DataArray], gold: xr.DataArray | None = None, used: Sequence[xr.DataArray] | None = None
) -> Presence:
    every = [scores[0], *([] if gold is None else [gold])]
    dims, arrays = broadcast(*(masks.there(masks.where_used(each, used)) for each in every))
    both = np.moveaxis(np.logical_and.reduce(np.broadcast_arrays(*arrays)), dims.index("metric"), 0)
    flat = both.reshape(len(both), -1)
    return Presence(Fact.of(["metric", "_byte"], np.packbits(flat, axis=1), scores[0]), flat.shape[1])


# Values that differ by at most this share of the larger one are equal up to rounding.
_NEAR = 1e-12
# Number of cells that distinguish most arrays of scores.
_FIRST = 64


def equal_to(score: xr.DataArray, human: xr.DataArray, along: str = "rater") -> Fact:
    """Which metrics equal the gold, or the raters' mean and each rater, for some further label: (metric, person)."""
    whole = human.variable
    persons = [whole.isel({along: at}) for at in range(whole.sizes[along])] if along in whole.dims else [whole]
    if len(persons) > 1:
        persons = [whole.mean(along), *persons]
    found = []
    for person in persons:
        dims, (ours, theirs) = broadcast(score.variable, person)
        equal = np.moveaxis(_equal(ours, theirs), dims.index("metric"), 0)
        found.append(equal.reshape(len(equal), -1).any(axis=1))
    return Fact(("metric", "_person"), np.array(found).T, {})


def _equal(x: FloatArray, z: FloatArray) -> BoolArray:
    """Whether scores (..., systems, inputs) that vary are equal up to rounding on all common cells."""
    x, z = np.broadcast_arrays(x, z)
    first = max(1, _FIRST // max(1, x.shape[-2]))
    out = np.array(_near(x[..., :first], z[..., :first]).all(axis=(-2, -1)))
    for at in np.argwhere(out):
        one, two = x[tuple(at)], z[tuple(at)]
        shared = two[~(np.isnan(one) | np.isnan(two))]
        out[tuple(at)] = len(shared) and shared.max() > shared.min() and _near(one, two).all()
    return out


def _near(x: FloatArray, z: FloatArray) -> BoolArray:
    """Where two scores are equal up to rounding, or one is missing."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(~(np.abs(x - z) > _NEAR * np.maximum(np.abs(x), np.abs(z))))


@dataclass(frozen=True)
class Facts:
    """What checks need to know of metrics and their gold."""

    spread: Fact
    of_gold: Fact  # its spread
    gaps: Gaps
    equal: list[Fact]  # to the gold, and to the ratings of each variable
    ties: list[Fact] | None  # of all systems on an input, by a metric and by the gold
    single: list[Fact] | None  # groups of an average with one cell


def of_metrics(
    scores: Sequence[xr.DataArray],
    gold: xr.DataArray,
    used: Sequence[xr.DataArray] | None,
    missing: str,
    ratings: Sequence[xr.DataArray],
    over: str | None,
    ties_left_out: bool = False,
    averaged: str | None = None,
) -> Facts:
    """Facts of oriented scores and, where there are `ratings`, of the same as they came; `averaged`: their level."""
    equal = [equal_to(scores[0], gold), *(equal_to(scores[1], each) for each in ratings)]
    score, human = (masks.where_used(each, used) for each in (scores[0], gold))
    pooled = human if over is None else human.mean(over)
    tied = ties(score, pooled) if ties_left_out else None
    alone = None if averaged is None else single(score, pooled, averaged)
    return Facts(spread(score), spread(pooled), gaps(score, human, missing), equal, tied, alone)


def unscored_beside(scores: Sequence[xr.DataArray]) -> Fact:
    """Outputs without a score on inputs where another system has one, (metric,), by each metric of the only list."""
    values = scores[0].transpose("metric", ..., *CELLS)
    lacking = np.isnan(values.values)
    lacking &= ~lacking.all(axis=-2, keepdims=True)
    return Fact.of(["metric"], lacking.sum(axis=tuple(range(1, lacking.ndim))), values)


def spread_of_one(scores: Sequence[xr.DataArray]) -> Fact:
    """Spread of the only scores of a list, for `value_checks.by_metric`."""
    return spread(scores[0])
