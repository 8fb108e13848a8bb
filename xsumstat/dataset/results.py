"""Attrs, layout and dims of results, from the tables of variables and analyses."""

from __future__ import annotations

import functools
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import xarray as xr

from xsumstat import catalogue
from xsumstat.core import extras
from xsumstat.dataset import facts
from xsumstat.dataset import scope as scopes
from xsumstat.dataset.facts import CORE
from xsumstat.dataset.value_checks import Checks


def types(names: Iterable[str]) -> dict[str, type]:
    return {name: catalogue.VARIABLES[name].dtype if name in catalogue.VARIABLES else float for name in names}


def main_variable(ds: xr.Dataset) -> str:
    """The variable that answers the question; by default the first."""
    about = catalogue.ANALYSES.get(str(ds.attrs.get("analysis")))
    answers = () if about is None else about.main
    return next((name for name in answers if name in ds), str(next(iter(ds.data_vars))))


def described(ds: xr.Dataset) -> xr.Dataset:
    """A result with the tables' dtypes, long names and units, and its own coordinates."""
    return _finished(ds.variables, set(ds.coords), ds.attrs)


def _finished(
    parts: Mapping[Hashable, xr.Variable], coords: Collection[Hashable], attrs: Mapping[Any, Any]
) -> xr.Dataset:
    analysis = attrs["analysis"]
    every = {name: values if name in coords else _described(name, values, analysis) for name, values in parts.items()}
    for dim in (dim for dim in catalogue.ANALYSES[analysis].dims if dim in coords and dim in catalogue.COORDINATES):
        about = catalogue.COORDINATES[dim]
        every[dim] = every.pop(dim).copy(deep=False)  # last: the order of variables is that of a result's dims
        every[dim].attrs |= {"long_name": about.long_name, "units": about.units}
    return _assembled(every, coords, attrs)


def _assembled(
    every: Mapping[Hashable, xr.Variable], coords: Collection[Hashable], attrs: Mapping[Any, Any]
) -> xr.Dataset:
    """A Dataset from variables on the same labels, in order; assigning them one by one is slow."""
    beside = {name for name in coords if every[name].dims != (name,)}
    return xr.Dataset(
        {name: values for name, values in every.items() if name not in beside},
        {name: values for name, values in every.items() if name in beside},
        attrs,
    )


def describe(name: Hashable, values: xr.DataArray, analysis: Any = None) -> xr.DataArray:
    own = _described(name, values.variable, analysis)
    return values.copy(data=own.data).assign_attrs(own.attrs)


def _described(name: Hashable, values: xr.Variable, analysis: Any) -> xr.Variable:
    about = catalogue.variable(name, analysis)
    attrs = {**values.attrs, "long_name": about.long_name, "units": about.units}
    return xr.Variable(values.dims, values.data.astype(about.dtype, copy=False), attrs)


def of_its_own(ds: xr.Dataset) -> xr.Dataset:
    """A copy that shares no memory with its sources; lazy values stay lazy."""
    return ds.copy(deep=True)


def _of_its_own(name: Hashable, values: xr.Variable, is_coord: bool) -> xr.Variable:
    """A variable of numbers; a coordinate shares nothing with the scores, not even its encoding."""
    if is_coord:
        return (values if values.dims == (name,) else values.copy()).drop_encoding()
    return values if values.chunks is None else _regular(values)


def together(numbers: Mapping[str, xr.DataArray]) -> xr.Dataset:
    every, coords, _ = _parts(numbers)
    return _assembled(every, coords, {})


def _parts(
    numbers: Mapping[str, xr.DataArray] | xr.Dataset,
) -> tuple[Mapping[Hashable, xr.Variable], Collection[Hashable], Mapping[Any, Any]]:
    if not isinstance(numbers, xr.Dataset):
        arrays = list(numbers.values())
        first = arrays[0].coords.variables if arrays else {}
        if all(_have_coords(each, first) for each in arrays[1:]):
            return {**first, **{name: each.variable for name, each in numbers.items()}}, set(first), {}
        numbers = xr.Dataset(numbers)
    return numbers.variables, set(numbers.coords), numbers.attrs


def _have_coords(values: xr.DataArray, coords: Mapping[Hashable, xr.Variable]) -> bool:
    own = values.coords.variables
    return own.keys() == coords.keys() and all(own[name] is coord for name, coord in coords.items())


def labelled(matrices: xr.Dataset, rows: xr.DataArray, columns: xr.DataArray, dim: str = "metric") -> xr.Dataset:
    """Results over (metric, other_metric), or systems, with labels and descriptions of the rows."""
    other = f"other_{dim}"
    every = rows.coords.variables.items()
    coords = {name: coord for name, coord in every if coord.dims == (dim,) and name not in matrices.data_vars}
    coords[other] = xr.Variable(other, columns.indexes[dim])
    ordered = {
        name: values.transpose(dim, other, ..., missing_dims="ignore") for name, values in matrices.variables.items()
    }
    first = {name: values for name, values in ordered.items() if name not in coords}
    return _assembled({**first, **coords}, {*matrices.coords, *coords}, matrices.attrs)


def where(condition: xr.Variable, one: xr.Variable, other: Any) -> xr.Variable:
    """One value where a condition on the labels of a cell holds, another elsewhere; lazy where they are."""
    holds = condition.values.reshape([condition.sizes.get(dim, 1) for dim in one.dims])
    return xr.Variable(one.dims, np.where(holds, one.data, other.data if isinstance(other, xr.Variable) else other))


def of_pairs(
    picked: Mapping[str, xr.Variable], turned: xr.Variable, tested: xr.Variable, analysis: Any = None
) -> dict[str, xr.Variable]:
    """Variables of pairs in a square; signs change with the places; blank where there is no pair."""
    cells = {}
    for name, values in picked.items():
        about = catalogue.variable(name, analysis)
        if about.turned != "same":
            values = where(turned, -picked[name if about.turned == "negated" else about.turned], values)
        cells[name] = where(tested, values, about.blank)
    return cells


def coords_beside(arrays: Mapping[Any, xr.DataArray], dim: str) -> dict[Any, xr.Variable]:
    every = (coords for each in arrays.values() for coords in each.coords.variables.items())
    return {name: coord for name, coord in every if dim not in coord.dims}


def symmetric(values: Any, pairs: Any, size: int) -> Any:
    """Unordered pairs (pairs, ...) as a symmetric table (size, size, ...); NaN or 0 on the diagonal."""
    blank = np.nan if values.dtype.kind == "f" else 0
    out = np.full((size, size, *values.shape[1:]), blank, dtype=values.dtype)
    out[pairs[:, 0], pairs[:, 1]] = out[pairs[:, 1], pairs[:, 0]] = values
    return out


@functools.cache
class Aligned(Protocol):
    """Scores aligned with a gold, as far as results need them."""

    @property
    def score(self) -> xr.DataArray: ...

    @property
    def gold_name(self) -> str: ...

    @property
    def dropped(self) -> Mapping[str, list[Hashable]]: ...

    @property
    def further(self) -> Mapping[str, int]: ...

    @property
    def later(self) -> Checks: ...


def result(
    numbers: Mapping[str, xr.DataArray] | xr.Dataset,
    scores: Aligned | xr.DataArray | tuple[Hashable, ...] | None,
    *,
    analysis: str,
    **settings: Any,
) -> xr.Dataset:
    """A Dataset of `numbers` whose attrs record how it was made, in values for netCDF and Zarr."""
    # `scores` were asked (or give the dims), and their checks run before a lazy result is computed. `settings` are
    # further attrs; n_systems and n_inputs are counted unless given.
    attrs: dict[str, Any] = {}
    further: Iterable[Hashable] = ()
    settings = {**sizes(scores if isinstance(scores, xr.DataArray) else getattr(scores, "score", None)), **settings}
    if isinstance(scores, xr.DataArray | tuple):
        further = scores if isinstance(scores, tuple) else scores.dims
    elif scores is not None:
        further = scores.further
        settings["gold"] = scores.gold_name
        settings |= dropped(scores.dropped)
    for name, value in {"analysis": analysis, **settings}.items():
        if isinstance(value, tuple):
            value = "both" if set(value) == {"system", "input"} else " ".join(value)
        elif isinstance(value, bool):
            value = int(value)
        if value is not None:
            attrs[name] = value
    if (scope := scopes.of(attrs)) is not None:
        attrs["scope"] = scope.name
    attrs["xsumstat_version"] = extras.package_version()
    every, coords, own = _parts(numbers)
    _check_dims(every, analysis, [*further, settings.get("along"), *group_dims({"analysis": analysis, **settings})])
    ds = _finished(
        {name: _of_its_own(name, values, name in coords) for name, values in every.items()}, coords, {**own, **attrs}
    )
    return ds if scores is None or isinstance(scores, xr.DataArray | tuple) else scores.later.attached(ds)


def sizes(score: xr.DataArray | None) -> dict[str, int]:
    """Attrs with the numbers of systems and inputs with a score; lazy scores are counted by label."""
    if score is None:
        return {}
    dims = [dim for dim in facts.CELLS if dim in score.dims]
    if facts.is_lazy(score):
        return {f"n_{dim}s": score.sizes[dim] for dim in dims}
    there = facts.there(score)
    beside = {dim: tuple(at for at, other in enumerate(there.dims) if other != dim) for dim in dims}
    return {f"n_{dim}s": int(there.values.any(axis=axes).sum()) for dim, axes in beside.items()}


def dropped(labels: Mapping[str, Sequence[Hashable]]) -> dict[str, str]:
    """Attrs that name the labels left out of each dim."""
    return {f"dropped_{dim}": ", ".join(map(str, lost)) for dim, lost in labels.items()}


def of_labels(score: xr.DataArray, lost: Mapping[str, Sequence[Hashable]]) -> dict[str, Any]:
    """Attrs with the numbers of systems and inputs, scored or not, and the labels left out."""
    return {**{f"n_{dim}s": score.sizes[dim] for dim in facts.CELLS}, **dropped(lost)}


def _check_dims(every: Mapping[Hashable, xr.Variable], analysis: str, further: Sequence[Hashable | None]) -> None:
    if analysis not in catalogue.ANALYSES:
        raise LookupError(f"there is no analysis {analysis!r} in the catalogue")
    known = {*CORE, *catalogue.ANALYSES[analysis].dims, *further}
    unknown = [dim for values in every.values() for dim in values.dims if dim not in known]
    if unknown:
        raise LookupError(
            f"a result of {analysis!r} has the dim {unknown[0]!r}, which the catalogue does not declare and the "
            "scores have not"
        )


def _regular(values: xr.Variable) -> xr.Variable:
    """Lazy values in chunks for Zarr: one for each metric and further label."""
    sizes: dict[Hashable, Any] = {"resample": "auto", "other_metric": -1, "other_system": -1, "system": -1, "input": -1}
    chunks = {axis: sizes.get(dim, 1) for axis, dim in enumerate(values.dims)}
    return values.copy(data=values.data.rechunk(chunks))


def transposed(values: xr.DataArray, dims: tuple[str, str]) -> xr.DataArray:
    turned = values.rename(dict(zip(dims, dims[::-1], strict=True)))
    return turned.reindex({dim: values.indexes[dim] for dim in dims}).transpose(*values.dims)


def group_dims(attrs: Mapping[Any, Any]) -> tuple[str, ...]:
    """The two dims of groups of systems or inputs in a result, if any."""
    about = catalogue.ANALYSES.get(str(attrs.get("analysis")))
    by = attrs.get("by")
    return (f"{by}", f"other_{by}") if about is not None and about.between_groups and by is not None else ()


def pairs_of_groups(result: xr.Dataset) -> xr.Dataset:
    """Differences with each pair of groups once, "news − chat" along one dim; other results unchanged."""
    dims = group_dims(result.attrs)
    if not dims or not set(dims) <= set(result.dims):
        return result
    rows, columns = (result[dim].values.tolist() for dim in dims)
    pairs: dict[frozenset[Any], tuple[int, int]] = {}
    for at, to in np.ndindex(len(rows), len(columns)):
        if rows[at] != columns[to]:
            pairs.setdefault(frozenset((rows[at], columns[to])), (at, to))
    at_each = np.array([*pairs.values()], dtype=int).reshape(-1, 2).T
    places = {dim: xr.DataArray(each, dims="_pair") for dim, each in zip(dims, at_each, strict=True)}
    names = [f"{rows[at]} − {columns[to]}" for at, to in pairs.values()]
    kept = result.drop_vars([name for name, each in result.data_vars.items() if not set(dims) <= set(each.dims)])
    picked = kept.isel(places).drop_vars(dims)
    return picked.rename(_pair=dims[0]).assign_coords({dims[0]: np.array(names, dtype=object)})


def pair_dims(values: xr.DataArray) -> tuple[str, str] | None:
    """The two dims of labels of one kind: systems, metrics or groups of ``by=``."""
    for dim in ("system", "metric", *map(str, values.dims)):
        if {dim, f"other_{dim}"} <= set(values.dims):
            return dim, f"other_{dim}"
    return None


def mirrored(result: xr.Dataset, pvalue: xr.DataArray) -> xr.DataArray | None:
    """Cells of a table without direction whose mirror image holds the same test; None for none."""
    about = catalogue.ANALYSES.get(str(result.attrs.get("analysis")))
    undirected = result.attrs.get("alternative") == "two-sided" or about is not None and about.undirected
    dims = pair_dims(pvalue)
    if not undirected or dims is None:
        return None
    rows, columns = (list(pvalue.indexes[dim]) for dim in dims)
    order = {label: at for at, label in enumerate([*rows, *columns])}
    both = [[a in columns and b in rows and order[a] > order[b] for b in columns] for a in rows]
    return xr.DataArray(np.array(both), dims=dims)
