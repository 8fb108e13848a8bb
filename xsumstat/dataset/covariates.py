"""Covariates, found by name and laid out like scores."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.core import levels, validate
from xsumstat.dataset import facts, locate


@dataclass(frozen=True)
class Covariate:
    """A covariate (system, input, or both), NaN where missing."""

    name: str
    values: xr.DataArray
    source: Hashable  # a metric's label, or the name of a variable or array
    is_group: bool = False  # 0/1 membership


def find(ds: xr.Dataset, score: xr.DataArray, given: Any) -> list[list[Covariate]]:
    """Each covariate asked for; one for each word of a coordinate of words. Raises for unusable values."""
    listed = list(given) if isinstance(given, list | tuple | set) else [given]
    if not listed:
        raise ValueError("given names nothing; leave it out, or name a covariate")
    found = [_columns(*_named(ds, score, each)) for each in listed]
    validate.unique("given", [several[0].source for several in found])
    return found


def _named(ds: xr.Dataset, score: xr.DataArray, given: Any) -> tuple[xr.DataArray, Hashable]:
    if isinstance(given, xr.DataArray):
        own = given.coords["metric"].item() if "metric" in given.coords and "metric" not in given.dims else given.name
        return given, "given" if own is None else own
    if isinstance(given, xr.Dataset | pd.Series | pd.DataFrame | np.ndarray | dict):
        raise TypeError(
            "given must be a name, a DataArray with the dims 'system' and 'input' (or one of them), or a list of "
            f"these, got {type(given).__name__}"
        )
    labels = list(score.indexes["metric"])
    variables = [str(name) for name, each in ds.variables.items() if _describes(name, each)]
    if given in labels:
        if given in variables:
            raise ValueError(f"given={given!r} names both a metric and a variable; pass ds[{given!r}], or rename one")
        return score.sel(metric=given), given
    if isinstance(given, str) and given in variables:
        return ds[given], given
    if given == "system" and "system" in ds.indexes:
        systems = ds.indexes["system"]
        return xr.DataArray(systems.astype(str).to_numpy(object), {"system": systems}, ["system"]), given
    hint = validate.suggestion(given, [*labels, *variables, "system"])
    raise ValueError(
        f"unknown given={given!r}{hint} metrics: {validate.listing(labels, 30)}; coordinates and variables of systems "
        f"and inputs: {validate.listing(variables) or 'none'}"
    )


def _describes(name: Hashable, values: xr.Variable) -> bool:
    return (
        name not in (*values.dims, "score")
        and "rater" not in values.dims
        and bool(set(values.dims) & set(facts.CELLS))
        and "metric" not in values.dims
    )


def _columns(values: xr.DataArray, source: Hashable) -> list[Covariate]:
    if "metric" in values.dims:
        raise ValueError(f"given {source!r} has the dim 'metric'; select one metric, as in given='length'")
    if not set(values.dims) & set(facts.CELLS):
        raise ValueError(f"given {source!r} must have the dim 'system' or 'input', it has {tuple(values.dims)}")
    unneeded = [name for name in values.coords if name not in values.dims]
    values = locate.plain_labels(values.drop_vars(unneeded), f"given {source!r}")
    if values.dtype.kind in "fiub":
        numbers = values.astype(np.float64)
        locate.check_numbers(numbers, f"given {source!r}")
        return [Covariate(str(source), numbers, source, values.dtype.kind == "b")]
    if values.dtype.kind not in "OUSTmM":
        raise TypeError(f"given {source!r} must hold numbers or words, got dtype {values.dtype}")
    # How many words there are must be known at once, also where the scores beside them are lazy.
    values = values.compute(scheduler="synchronous")
    there = values.values[~pd.isna(values.values)].tolist()
    if values.dtype.kind == "O" and there and all(isinstance(each, int | float) for each in there):
        is_group = all(isinstance(each, bool) for each in there)
        numbers = values.copy(data=pd.to_numeric(values.values.ravel()).reshape(values.shape).astype(float))
        locate.check_numbers(numbers, f"given {source!r}")
        return [Covariate(str(source), numbers, source, is_group)]
    return _words(values, source)


def _words(values: xr.DataArray, source: Hashable) -> list[Covariate]:
    missing = values.copy(data=pd.isna(values.values))
    texts = np.where(missing.values, "", values.values.astype(str))
    groups = sorted(set(texts[~missing.values].tolist()))
    if len(groups) < 2:
        raise ValueError(f"given {source!r} is constant: {validate.listing(groups) or 'it has no value'}")
    return [
        Covariate(f"{source}={group}", values.copy(data=(texts == group).astype(float)).where(~missing), source, True)
        for group in groups
    ]


def columns(found: Sequence[Sequence[Covariate]], *, each_word: bool) -> list[Covariate]:
    """All columns; of words without the first, which the others determine, unless `each_word` of three or more."""
    return [each for several in found for each in several[len(several) == 2 or len(several) > 2 and not each_word :]]


def varies(covariate: Covariate, level: str) -> bool:
    return bool(set(levels.CORRELATED[level]) & set(covariate.values.dims))


def asked(
    ds: xr.Dataset, score: xr.DataArray, given: Any, own: Sequence[Hashable], *, level: str, each_word: bool
) -> list[Covariate]:
    """The covariates asked for; they vary among what is correlated and are not the gold."""
    if given is None:
        return []
    beside = columns(find(ds, score, given), each_word=each_word)
    for each in beside:
        if not varies(each, level):
            raise ValueError(
                f"given={each.source!r} has only the dims {validate.listing(each.values.dims)}, and does not vary "
                f"among the {levels.members(level)}s that are correlated at level={level!r}"
            )
    check_apart(beside, own)
    return beside


def check_apart(found: Sequence[Covariate], own: Sequence[Hashable]) -> None:
    for each in found:
        if each.source in own:
            raise ValueError(f"given={each.source!r} is the gold itself")
