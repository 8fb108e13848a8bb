"""Which systems and inputs can be used, and scores on these alone."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.core.labels import labels_where

# What a covariate costs: outputs lost, all outputs, its spread.
Loss = tuple[xr.DataArray, xr.DataArray, xr.DataArray]
# Which systems and inputs are used, with their labels.
Used = tuple[xr.DataArray, xr.DataArray]


@dataclass(frozen=True)
class Masked:
    """Scores on the systems and inputs that can be used; lazy scores whole, beside what will be used of them."""

    score: xr.DataArray
    gold: xr.DataArray
    covariates: list[xr.DataArray]
    used: Used | None  # of lazy scores
    kept: Used | None  # of scores in memory, where something was left out
    present: tuple[Any, Any]  # where gold and scores were before that
    losses: list[Loss]  # by each covariate
    dropped: dict[str, list[Hashable]]  # labels left out of scores in memory


def masked(
    score: xr.DataArray, gold: xr.DataArray, covariates: list[xr.DataArray], *, missing: str, is_lazy: bool
) -> Masked:
    losses: list[Loss] = []
    if covariates:
        gold, losses = where_given(gold, covariates, missing)
    human, automatic = there(gold), there(score)
    either = usable(human, automatic, missing)
    present = human.data, automatic.data
    if is_lazy:
        return Masked(score, gold, covariates, labelled(either, score), None, present, losses, {})
    if all(bool(each.values.all()) for each in either):
        return Masked(score, gold, covariates, None, None, present, losses, {})
    kept = labelled(either, score)
    dropped = {str(each.dims[0]): lost for each in kept if (lost := labels_where(~each))} if some(kept) else {}
    score, gold, *covariates = (where_used(each, kept) for each in (score, gold, *covariates))
    return Masked(score, gold, covariates, None, kept, present, losses, dropped)


def there(values: xr.DataArray) -> xr.Variable:
    """Where values exist; unlabelled, because xarray's matching of labels dominates a short call."""
    return xr.Variable(values.dims, ~np.isnan(values.data))


def usable(human: xr.Variable, automatic: xr.Variable, missing: str) -> tuple[xr.Variable, xr.Variable]:
    """Systems and inputs that some comparison can use, from where scores exist; lazy where that is."""
    if missing != "available":
        both = human & automatic
        return _any_along(both, "system"), _any_along(both, "input")
    by_people, by_metrics = ([_any_along(each, dim) for dim in ("system", "input")] for each in (human, automatic))
    return by_people[0] & by_metrics[0], by_people[1] | by_metrics[1]


def _any_along(condition: xr.Variable, dim: str) -> xr.Variable:
    axes = tuple(at for at, other in enumerate(condition.dims) if other != dim)
    return xr.Variable(dim, condition.data.any(axis=axes))


def labelled(usable: tuple[xr.Variable, xr.Variable], like: xr.DataArray) -> Used:
    systems, inputs = (
        xr.DataArray(each, {dim: like.coords[dim].variable for dim in each.dims if dim in like.indexes})
        for each in usable
    )
    return systems, inputs


def some(used: Sequence[xr.DataArray]) -> bool:
    return all(bool(each.values.any()) for each in used)


def where_used(values: xr.DataArray, used: Sequence[xr.DataArray] | None) -> xr.DataArray:
    """Values of the usable systems and inputs, or all where none is."""
    if used is None or not some(used):
        return values
    return values.isel(system=used[0].values, input=used[1].values)


def where_given(
    gold: xr.DataArray, covariates: Sequence[xr.DataArray], missing: str
) -> tuple[xr.DataArray, list[Loss]]:
    """The gold where the covariates exist too; of each these: cells lost, all cells, and its spread."""
    losses = []
    for values in covariates:
        known = values.notnull()
        if missing == "available":
            known = known.any("input")
        lost = (gold.notnull() & ~known).sum()
        losses.append((lost, gold.notnull().sum(), values.max() - values.min()))
        gold = gold.where(known)
    return gold.transpose(..., "system", "input"), losses
