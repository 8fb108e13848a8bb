"""The same question for each group of systems or inputs: the keyword `by`."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat import catalogue
from xsumstat.catalogue import ALL
from xsumstat.core import validate
from xsumstat.core.caveats import Caveat
from xsumstat.core.types import IntArray
from xsumstat.dataset import checks, facts, metric_choice, value_checks, wording
from xsumstat.resampling import draws, threads

_P = ParamSpec("_P")
# Attrs of how a result was made, which a group with few systems may have of its own.
_HOW = ("scope", "resample", "method", "interval", "n_resamples", "seed")


def described_by(ds: xr.Dataset | xr.DataArray, argument: str, name: Any, dims: tuple[str, ...]) -> xr.DataArray:
    """The coordinate that describes each label of one of the dims."""
    fitting = [str(each) for each, coord in ds.coords.variables.items() if coord.ndim == 1 and coord.dims[0] in dims]
    fitting = [each for each in fitting if each not in dims]
    if not isinstance(name, str) or name not in fitting:
        of = " or ".join(dims)
        given = validate.listing(fitting) or f"none; ds.assign_coords(type=({dims[0]!r}, [...])) gives one"
        raise ValueError(
            f"{argument} must be a coordinate that describes each {of}, got {name!r}"
            f"{validate.suggestion(name, fitting)} available: {given}"
        )
    return ds.coords[name]


def groups_of(
    ds: xr.Dataset | xr.DataArray, argument: str, name: Any, dims: tuple[str, ...]
) -> tuple[str, list[str | None], list[str]]:
    """The dim that a coordinate describes, the group of each of its labels (None without one), and all groups."""
    coord = described_by(ds, argument, name, dims).compute()
    dim = str(coord.dims[0])
    without = pd.isna(coord.values)
    if without.any():
        where = "each a cluster of its own" if argument == "cluster" else "not in any group"
        validate.warn(f"{validate.counted(without.sum(), dim)} without {name}: {where}", "group_without_label")
    values = (
        coord.values[~without].tolist() if coord.dtype.kind not in "mM" else coord.values[~without].astype(str).tolist()
    )
    try:
        ordered = sorted(set(values))
    except TypeError:  # words and numbers
        ordered = sorted(set(values), key=str)
    named = iter(values)
    return dim, [None if missing else str(next(named)) for missing in without], list(dict.fromkeys(map(str, ordered)))


def of_every_label(ds: xr.Dataset, argument: str, name: str, dim: str) -> tuple[IntArray, list[str]]:
    """The group of each label of a dim, by place, and all groups; every label needs one."""
    with validate.kept_warnings():
        _, groups, labels = groups_of(ds, argument, name, (dim,))
    if None in groups:
        raise ValueError(
            f"{argument}={name!r}: {validate.counted(groups.count(None), dim)} without {name}; each {dim} needs one"
        )
    place = {label: at for at, label in enumerate(labels)}
    return np.array([place[str(each)] for each in groups], dtype=np.int64), labels


def members(groups: Sequence[str | None], labels: Sequence[str]) -> dict[str, list[int]]:
    """The places of each group's labels."""
    found: dict[str, list[int]] = {label: [] for label in labels}
    for at, group in enumerate(groups):
        if group in found:
            found[group].append(at)
    return found


def members_in(score: xr.DataArray, by: str, labels: Sequence[str]) -> dict[str, list[int]]:
    """The places in the scores that are used of each group's systems, or inputs."""
    with value_checks.held():  # labels without a group were named already
        return members(groups_of(score, "by", by, facts.CELLS)[1], labels)


def with_groups(
    function: Callable[_P, xr.Dataset], *, settled: tuple[str, ...] = ("threshold", "positive")
) -> Callable[_P, xr.Dataset]:
    """Give a function the keyword `by`: the results for all labels and for each group.

    Only what keeps all scores from a result raises an error; a group gets NaN and a warning.
    """
    signature = inspect.signature(function)
    people = list(signature.parameters)[1]

    @functools.wraps(function)
    def grouped(*args: _P.args, **kwargs: _P.kwargs) -> xr.Dataset:
        given = signature.bind(*args, **kwargs).arguments
        by = given.pop("by", None)
        if by is None:
            return function(*args, **kwargs)
        ds, gold = given.pop("ds"), given.pop(people, None)
        if "rng" in signature.parameters:
            given["rng"] = draws.seed_of(given.get("rng"))
        progress = given.get("progress") if "progress" in signature.parameters else False

        def asked(part: xr.Dataset, human: Any, **of_all: Any) -> xr.Dataset:
            return function(part, human, **{**given, **of_all})  # type: ignore[arg-type]

        names = [name for name in settled if name in signature.parameters]
        return _for_each_group(asked, ds, gold, by, progress, names)

    return grouped


def _for_each_group(
    each: Callable[..., xr.Dataset], ds: xr.Dataset, gold: Any, by: Any, progress: bool | None, settled: Sequence[str]
) -> xr.Dataset:
    dim, groups, labels = groups_of(ds, "by", by, ("system", "input"))
    if by in catalogue.RESERVED:
        raise ValueError(f"by={by!r} is a name that results need; rename the coordinate")
    if ALL in labels:
        raise ValueError(f"by={by!r} has a group {ALL!r}, which is what all {dim}s together are called; rename it")
    by_group, reasons = [], dict[str, list[str]]()
    with threads.one_bar(1 + len(labels), progress) as part:
        with part():
            whole, told = _of_all(each, ds, gold)
        if dim in whole.dims:
            raise ValueError(f"by={by!r} groups the labels of {dim!r}, which the result keeps: group it with xarray")
        # A threshold that goes by the scale of the gold is that of all scores; in words attrs say how it was found.
        known = {name: whole.attrs[name] for name in settled if name in whole.attrs}
        if not isinstance(known.get("threshold", 0.0), float):
            del known["threshold"]
        each = functools.partial(each, **known)
        for label, places in members(groups, labels).items():
            with part():
                found, reason = _of_group(
                    each, ds, gold, dim, metric_choice.in_a_row(places), f"{by}={label!r}", whole, told
                )
            by_group.append(_in_order(found, whole))
            if reason:
                reasons.setdefault(reason, []).append(label)
    for reason, without in reasons.items():
        validate.warn(_no_result(f"{by}={validate.listing(without, 8)}", reason, len(without)))
    result = joined([*by_group, whole], pd.Index([*labels, ALL], name=by, dtype=object))
    first = next(iter(whole.data_vars))
    tail = [name for name in whole[first].dims if name != "metric"]
    dims = [name for name in ("metric",) if name in whole.dims]
    own = {label: _own(each, whole) for label, each in zip(labels, by_group, strict=True)}
    own = {label: attrs for label, attrs in own.items() if {"scope", "resample"} & set(attrs)}
    attrs = {**whole.attrs, "by": by, **({wording.OF_GROUPS: json.dumps(own)} if own else {})}
    return result.transpose(*dims, by, *tail, ...).assign_attrs(attrs)


def _own(found: xr.Dataset, whole: xr.Dataset) -> dict[str, Any]:
    """What attrs say of how a group's result was made, where that of all was made otherwise."""
    names = [name for name in _HOW if name in found.attrs]
    return {name: found.attrs[name] for name in names if found.attrs[name] != whole.attrs.get(name)}


def _in_order(found: xr.Dataset, whole: xr.Dataset) -> xr.Dataset:
    """The result of a group, its metrics in the order that those of all have, as a ranking has one of its own."""
    if "metric" not in found.indexes or found.indexes["metric"].equals(whole.indexes["metric"]):
        return found
    return found.sel(metric=checks.as_labels(whole.indexes["metric"]))


def joined(results: Sequence[xr.Dataset], index: pd.Index[Any]) -> xr.Dataset:
    """Results side by side, along a new dim; coordinates and attrs are those of the first."""
    first = results[0]
    if all(_alike(first, each) for each in results):  # what xarray gives, in a tenth of the time
        stacked = {name: _stacked([each.variables[name] for each in results], index) for name in first.data_vars}
        return xr.Dataset(stacked, {**first.coords.variables, index.name: index}, first.attrs)
    return xr.concat(results, dim=index, join="outer", combine_attrs="override", coords="minimal", compat="override")


def _alike(one: xr.Dataset, other: xr.Dataset) -> bool:
    """Whether both are in memory, with variables of the same names, dims and dtypes, for the same labels."""
    if list(one.data_vars) != list(other.data_vars) or list(one.coords.variables) != list(other.coords.variables):
        return False
    pairs = [(one.variables[name], other.variables[name]) for name in one.data_vars]
    if not all(isinstance(each.data, np.ndarray) for pair in pairs for each in pair):
        return False
    same = all(mine.dims == theirs.dims and mine.dtype == theirs.dtype for mine, theirs in pairs)
    return same and all(index.equals(other.indexes[dim]) for dim, index in one.indexes.items())


def _stacked(values: Sequence[xr.Variable], index: pd.Index[Any]) -> xr.Variable:
    first = values[0]
    return xr.Variable((index.name, *first.dims), np.stack([each.values for each in values]), first.attrs)


def _of_group(
    each: Callable[[xr.Dataset, Any], xr.Dataset],
    ds: xr.Dataset,
    gold: Any,
    dim: str,
    at: Sequence[int] | slice,
    name: str,
    whole: xr.Dataset,
    told: value_checks.Held,
) -> tuple[xr.Dataset, str]:
    """The answer for some labels of a dim, with warnings that all did not give and that name the group; NaN and why."""
    part = ds.isel({dim: at})
    if isinstance(gold, xr.DataArray) and dim in gold.dims:
        labels = ds.indexes[dim][at] if dim in ds.indexes else None
        by_label = labels is not None and dim in gold.indexes
        gold = gold.isel({dim: gold.indexes[dim].isin(labels)}) if by_label else gold.isel({dim: at})
    with value_checks.held() as said:
        try:
            found, reason = each(part, gold), ""
        except ValueError as error:
            blanks = {name: catalogue.variable(name).blank for name in whole.data_vars}
            found = whole.assign({name: xr.full_like(whole[name], blank) for name, blank in blanks.items()})
            reason = str(error)
    for caveat in said.caveats:
        if caveat not in told.caveats:
            validate.warn(caveat.of(name))
    if not reason and (scope := found.attrs.get("scope")) != whole.attrs.get("scope"):
        validate.warn(f"{name} has few systems; its result is for {scope} only", "few_systems")
    later = value_checks.Checks()
    later.take(functools.partial(_of_named, name), said.checks, told.checks)
    return later.attached(found), reason


def _of_all(each: Callable[..., xr.Dataset], ds: xr.Dataset, gold: Any) -> tuple[xr.Dataset, value_checks.Held]:
    with value_checks.held() as said:
        try:
            whole, error = each(ds, gold), None
        except (ValueError, TypeError) as raised:
            whole, error = xr.Dataset(), raised
    for caveat in said.caveats:
        validate.warn(caveat)
    if error is not None:
        raise error
    later = value_checks.Checks()
    later.take(list, said.checks)
    return later.attached(whole), said


def _of_named(name: str, found: list[value_checks.Said], told: list[value_checks.Said]) -> list[value_checks.Said]:
    caveats, reason = value_checks.until_error(found)
    known, _ = value_checks.until_error(told)
    named = [each.of(name) for each in caveats if each not in known]
    return [value_checks.Said(named if reason is None else [*named, _no_result(name, reason)])]


def _no_result(name: str, reason: str, count: int = 1) -> Caveat:
    return Caveat(f"{name} {'has' if count == 1 else 'have'} no result: {reason}", "no_result")
