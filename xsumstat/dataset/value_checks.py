"""Checks of values: at once in memory, else when the lazy result is computed."""

from __future__ import annotations

import functools
import itertools
import sys
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, TypeVar

import xarray as xr

from xsumstat.core import extras, validate
from xsumstat.core.caveats import Caveat, MetaEvaluationWarning
from xsumstat.dataset import chunking
from xsumstat.dataset.facts import Fact
from xsumstat.resampling import tasks

_Values = TypeVar("_Values", xr.DataArray, xr.Dataset)


@dataclass(frozen=True)
class Said:
    caveats: Sequence[Caveat]
    error: Caveat | None = None


# What is said once a call, whatever it is said of.
ONCE = ("rests_on_one_system", "near_copies", "rare_class", "skewed")


# What an analysis that asks others makes of what those had to say.
Change = Callable[..., list[Said]]


class Checks:
    """Checks of the values of one result: functions of small arrays that warn or raise ValueError."""

    def __init__(self) -> None:
        self.kept: list[Any] = []  # lazy lists of Said

    def make(self, check: Callable[..., None], *values: Any) -> None:
        """Make a check now, or, with lazy values, when the result is computed."""
        if not any(map(_is_lazy, values)):
            check(*values)
            return
        self.kept.append(_delayed(_said)(check, *map(_for_task, values)))

    def take(self, change: Change, *others: Checks) -> None:
        """Keep other checks; `change` edits what they report."""
        if any(other.kept for other in others):
            self.kept.append(_delayed(_changed)(change, *(other.kept for other in others)))

    def attached(self, values: _Values) -> _Values:
        """Lazy values that cannot be computed without the checks; within `held` these are handed over."""
        if not self.kept:
            return values
        holder = _HOLDER.get()
        if holder is not None:
            holder.checks.kept.extend(self.kept)
            return values
        told = _delayed(_tell)(self.kept, validate.place())
        if isinstance(values, xr.DataArray):
            return _after(values, told)
        lazy = {name: each for name, each in values.data_vars.items() if each.chunks is not None}
        if not lazy:  # all was computed on the way
            told.compute(scheduler="synchronous")
        return values.assign({name: _after(each, told) for name, each in lazy.items()})

    def tell(self) -> None:
        """Make the waiting checks now."""
        if self.kept:
            _delayed(_tell)(self.kept, validate.place()).compute()


@dataclass
class Held:
    caveats: list[Caveat] = field(default_factory=list)
    checks: Checks = field(default_factory=Checks)


_HOLDER: ContextVar[Held | None] = ContextVar("holder", default=None)


@contextmanager
def held() -> Iterator[Held]:
    """Collect the UserWarnings and the checks of lazy results made within."""
    found = Held()
    with validate.kept_warnings() as caveats:
        token = _HOLDER.set(found)
        try:
            yield found
        finally:
            _HOLDER.reset(token)
    found.caveats.extend(caveats)


def each_once(*found: list[Said]) -> list[Said]:
    caveats, error = until_error(*found)
    return [Said(list(dict.fromkeys(caveats)), error)]


def first_of_its_cause(caveats: Sequence[Caveat], once: Sequence[str] = ONCE) -> list[Caveat]:
    """The warnings; of those given once per call only the first of each cause."""
    first = {code: next((at for at, each in enumerate(caveats) if each.code == code), -1) for code in once}
    return [each for at, each in enumerate(caveats) if first.get(each.code, at) == at]


def until_error(*found: list[Said]) -> tuple[list[Caveat], Caveat | None]:
    """All warnings up to the first error, and that error."""
    caveats: list[Caveat] = []
    for said in itertools.chain(*found):
        caveats.extend(said.caveats)
        if said.error is not None:
            return caveats, said.error
    return caveats, None


def of_values(function: Callable[..., Any], *values: Any) -> Any:
    """Result of a function; lazy if some of its values are."""
    if not any(map(_is_lazy, values)):
        return function(*values)
    return _delayed(function)(*map(_for_task, values))


def by_metric(function: Callable[..., Any], scores: Sequence[xr.DataArray], *beside: Any) -> Any:
    """Facts along `metric` from a function of a list of scores and other arrays."""
    if not any(map(_is_lazy, (*scores, *beside))):
        return function(scores, *beside)
    values, apart = [_for_task(each) for each in beside], max(each.nbytes for each in scores) > tasks.SHARED
    of_metric = ([each.isel(metric=[at]) for each in scores] for at in range(scores[0].sizes["metric"]))
    parts = [_delayed(function)([_for_task(each, apart) for each in those], *values) for those in of_metric]
    return _delayed(_joined)(parts)


def _joined(parts: list[Any]) -> Any:
    first: Any = parts[0]
    if isinstance(first, Fact):
        return Fact.joined(parts)
    if isinstance(first, list):
        return [_joined(list(each)) for each in zip(*parts, strict=True)]
    if is_dataclass(first):
        names = [each.name for each in fields(first)]
        return replace(first, **{name: _joined([getattr(part, name) for part in parts]) for name in names})  # type: ignore[type-var]
    return first


def _is_lazy(value: Any) -> bool:
    if isinstance(value, xr.Dataset):
        return any(map(_is_lazy, value.data_vars.values()))
    if isinstance(value, list | tuple):
        return any(map(_is_lazy, value))
    if isinstance(value, xr.DataArray):
        return chunking.is_lazy(value)
    return hasattr(value, "__dask_graph__")


def _for_task(value: Any, apart: bool = False) -> Any:
    """What a task gets for a value: lazy arrays as graphs, so they are not computed for each task."""
    if isinstance(value, xr.Dataset):
        return _delayed(_dataset)({str(name): _for_task(each) for name, each in value.data_vars.items()})
    if isinstance(value, list | tuple):
        return [_for_task(each) for each in value]
    if not isinstance(value, xr.DataArray):
        return value
    coords = {name: coord for name, coord in value.coords.variables.items() if coord.chunks is None}
    if value.chunks is None:
        return _Array(value.dims, coords, value.variable.values)
    whole = value.data.rechunk(-1)
    made = tasks.instructions(whole) if apart else None
    return _delayed(_Array)(value.dims, coords, made or tasks.as_task(whole))


class _Array:
    def __init__(self, dims: tuple[Hashable, ...], coords: Mapping[Hashable, xr.Variable], values: Any) -> None:
        self._dims, self._coords, self._values = dims, coords, values

    def array(self) -> xr.DataArray:
        values = self._values.array() if isinstance(self._values, tasks.Made) else self._values
        return xr.DataArray(values, self._coords, self._dims)


def _in_memory(value: Any) -> Any:
    if isinstance(value, list):
        return [_in_memory(each) for each in value]
    return value.array() if isinstance(value, _Array) else value


def _dataset(arrays: Mapping[str, _Array]) -> xr.Dataset:
    return xr.Dataset({name: each.array() for name, each in arrays.items()})


def _run(function: Callable[..., Any], *values: Any) -> Any:
    return function(*map(_in_memory, values))


def _delayed(function: Callable[..., Any]) -> Any:
    delayed = extras.optional("dask", "dask").delayed
    return functools.partial(delayed(_run, pure=False), _Function(function))


class _Function:
    """A function that Dask does not inspect."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *values: Any) -> Any:
        return self._function(*values)


def _said(check: Callable[..., None], *values: Any) -> list[Said]:
    with validate.gathered() as caveats:
        try:
            check(*values)
        except ValueError as error:
            return [Said(caveats, Caveat(str(error), type(error).__name__))]
    return [Said(caveats)]


def _changed(change: Change, *found: list[list[Said]]) -> list[Said]:
    return change(*(list(itertools.chain(*those)) for those in found))


def _tell(found: list[list[Said]], place: tuple[str, int]) -> None:
    caveats, error = until_error(*found)
    for caveat in first_of_its_cause(caveats):
        _warn(caveat.warning(), place)
    if error is not None:
        raise ValueError(str(error))


def _warn(warning: MetaEvaluationWarning, place: tuple[str, int]) -> None:
    """Warn at the line that asked for the result; from a worker to the client."""
    worker = sys.modules.get("distributed.worker")
    try:
        if worker is not None and worker.get_worker():
            worker.warn(str(warning), type(warning))
            return
    except ValueError:  # this is no worker
        pass
    warnings.warn_explicit(warning, type(warning), *place)


def _after(values: xr.DataArray, told: Any) -> xr.DataArray:
    da = extras.optional("dask.array", "dask")
    return values.copy(data=da.map_blocks(_block, values.data, told, dtype=values.dtype, meta=values.data._meta))


def _block(block: Any, told: None) -> Any:
    return block
