"""Scores, human scores and covariates in one direction, on shared labels, with dims in order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.catalogue import RESERVED
from xsumstat.core import arguments, validate
from xsumstat.dataset import chunking, directions
from xsumstat.dataset.facts import CELLS


def oriented(scores: xr.DataArray, along: Iterable[Hashable]) -> xr.DataArray:
    """Scores negated where the coordinate `higher_is_better` is False."""
    if "higher_is_better" not in scores.coords:
        return scores
    better = scores.coords["higher_is_better"]
    if not set(better.dims) <= set(along) - {"system", "input"}:
        raise ValueError(
            f"higher_is_better must be a coordinate of metric, got the dims {validate.listing(better.dims)}"
        )
    higher = directions.as_bool(better)
    if not chunking.is_lazy(higher) and higher.values.all():
        return scores
    if chunking.is_lazy(scores) or chunking.is_lazy(higher):
        turned: xr.Variable = scores.variable.where(higher.variable, -scores.variable)  # type: ignore[no-untyped-call]
        return scores.copy(deep=False, data=turned.data)
    kept = higher.variable.set_dims(scores.sizes).values  # type: ignore[no-untyped-call]
    return scores.copy(deep=False, data=np.where(kept, scores.values, -scores.values))


def is_turned(gold: xr.DataArray) -> bool:
    """Whether human scores are negated, as lower is better; a lazy coordinate is not asked."""
    better = gold.coords.get(directions.NAME)
    return better is not None and not chunking.is_lazy(better) and not bool(directions.as_bool(better).all())


def in_order(values: xr.DataArray, last: tuple[str, ...]) -> xr.DataArray:
    return values if values.dims[-len(last) :] == last else values.transpose(..., *last)


def as_gold(gold: xr.DataArray, score: xr.DataArray, level: str) -> xr.DataArray:
    """Gold with dims system and input last; without `input` it counts for every input, at system level."""
    if "metric" in gold.dims:
        raise ValueError("gold has the dim 'metric'; rename it, as in gold.rename(metric='quality')")
    if "system" not in gold.dims:
        raise ValueError(
            f"{arguments.name('gold')} must have the dims 'system' and 'input', it has {validate.listing(gold.dims)}"
        )
    if "input" not in gold.dims:
        if level != "system":
            raise ValueError(f"gold has no dim 'input', so only level='system' can be had, not {level!r}")
        gold = gold.expand_dims(input=score.sizes["input"])
        if "input" in score.indexes:
            gold = gold.assign_coords(input=score.indexes["input"])
    unneeded = [name for name, coord in gold.coords.variables.items() if coord.ndim == 0 or name in RESERVED]
    return in_order(gold.drop_vars(unneeded), CELLS)


def have_labels(score: xr.DataArray, gold: xr.DataArray, dim: str) -> bool:
    """Whether both have labels along a dim; otherwise they match by place and must have one length."""
    if dim in score.indexes and dim in gold.indexes:
        return True
    if score.sizes[dim] != gold.sizes[dim]:
        raise ValueError(
            f"gold has {gold.sizes[dim]} and score {score.sizes[dim]} along {dim!r}, "
            "and without labels on both they cannot be matched"
        )
    return False


def check_shared(score: xr.DataArray, gold: xr.DataArray, dim: str) -> None:
    """Raise unless both share a label along a dim."""
    ours, theirs = score.indexes[dim], gold.indexes[dim]
    if not ours.isin(theirs).any():
        raise ValueError(
            f"gold and score share no label along {dim!r}: gold has {validate.listing(theirs, 3)}, "
            f"score {validate.listing(ours, 3)}"
        )


def aligned(score: xr.DataArray, gold: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray, dict[str, list[Hashable]]]:
    """Both on their common labels, in the order of `score`; and the labels left out, by dim."""
    dropped: dict[str, list[Hashable]] = {}
    ours, theirs = score.indexes, gold.indexes
    for dim in (str(dim) for dim in score.dims if dim in gold.dims):
        if dim in ours and dim in theirs:
            if ours[dim].equals(theirs[dim]):
                continue
        elif not have_labels(score, gold, dim):
            continue
        check_shared(score, gold, dim)
        score, gold, lost = on_shared(score, gold, dim, "gold")
        if lost:
            dropped[dim] = lost
    return score, gold, dropped


def on_shared(
    score: xr.DataArray, other: xr.DataArray, dim: str, called: str
) -> tuple[xr.DataArray, xr.DataArray, list[Hashable]]:
    """Both on their common labels of a dim, in the order of `score`; a warning names the others."""
    ours, theirs = score.indexes[dim], other.indexes[dim]
    shared = ours[ours.isin(theirs)]
    lost = [*ours[~ours.isin(theirs)], *theirs[~theirs.isin(ours)]]
    if lost:
        validate.warn(
            f"{called} and score differ along {dim!r}: left out {validate.counted(len(lost), 'label')} that only one "
            f"of them has: {validate.listing(lost)}",
            "labels_left_out",
        )
    return score.sel({dim: shared}), other.sel({dim: shared}), lost


def beside(score: xr.DataArray, gold: xr.DataArray, dims: Iterable[str] = CELLS) -> xr.DataArray:
    """Gold on all labels of the scores, NaN where it has no value; a warning names its other labels."""
    places: dict[str, pd.Index[Any]] = {}
    for dim in dims:
        if dim not in gold.dims or not have_labels(score, gold, dim):
            continue
        ours, theirs = score.indexes[dim], gold.indexes[dim]
        if ours.equals(theirs):
            continue
        check_shared(score, gold, dim)
        places[dim] = ours
        lost = theirs[~theirs.isin(ours)]
        if len(lost):
            validate.warn(
                f"left out {validate.counted(len(lost), dim)} of the gold without metric scores: "
                f"{validate.listing(lost)}",
                "labels_left_out",
            )
    return gold.reindex(places) if places else gold


def without_coords(values: xr.DataArray) -> xr.DataArray:
    """Values without descriptive coordinates, which could clash."""
    return values.drop_vars([name for name in values.coords if name not in values.dims])


def laid_out(values: xr.DataArray, score: xr.DataArray, name: str) -> xr.DataArray:
    """Values on the systems and inputs of scores, (..., system, input), NaN where missing."""
    for dim in [str(dim) for dim in values.dims if dim in score.dims]:
        if dim in values.indexes and dim in score.indexes:
            if not values.indexes[dim].equals(score.indexes[dim]):
                values = values.reindex({dim: score.indexes[dim]})
        elif values.sizes[dim] != score.sizes[dim]:
            raise ValueError(
                f"given {name!r} has {values.sizes[dim]} and score {score.sizes[dim]} along {dim!r}, and without "
                "labels on both they cannot be matched"
            )
    for dim in CELLS:
        if dim not in values.dims:
            values = values.expand_dims({dim: score.sizes[dim]})
        if dim in score.indexes:
            values = values.assign_coords({dim: score.indexes[dim]})
    return values.transpose(..., *CELLS)


def check_not_empty(score: xr.DataArray) -> None:
    for dim in CELLS:
        if score.sizes[dim] == 0:
            raise ValueError(f"score has no {dim}: dim {dim!r} has length 0")
