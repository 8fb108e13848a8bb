"""Attrs, layout and dims of results, from the tables of variables and analyses."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

import xarray as xr

from xsumstat import catalogue
from xsumstat.dataset import result_attrs
from xsumstat.dataset.facts import CORE


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


def without_draws(ds: xr.Dataset) -> xr.Dataset:
    """A result without what it kept of each resample."""
    return ds.drop_vars([name for name in ds.data_vars if "resample" in ds[name].dims])


def with_variables(ds: xr.Dataset, further: Mapping[Any, xr.Variable]) -> xr.Dataset:
    """A result with further variables on its own labels."""
    return _finished({**ds.variables, **further}, set(ds.coords), ds.attrs)


def _finished(
    parts: Mapping[Hashable, xr.Variable], coords: Collection[Hashable], attrs: Mapping[Any, Any]
) -> xr.Dataset:
    analysis = attrs["analysis"]
    every = {name: values if name in coords else _described(name, values, analysis) for name, values in parts.items()}
    for dim in (dim for dim in catalogue.ANALYSES[analysis].dims if dim in coords and dim in catalogue.COORDINATES):
        about = catalogue.COORDINATES[dim]
        every[dim] = every.pop(dim).copy(deep=False)  # last: the order of variables is that of a result's dims
        every[dim].attrs |= {"long_name": about.long_name, "units": about.units}
    return assembled(every, coords, attrs)


def assembled(
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


def _detached(name: Hashable, values: xr.Variable, is_coord: bool) -> xr.Variable:
    """A variable of numbers; a coordinate shares nothing with the scores, not even its encoding."""
    if is_coord:
        return (values if values.dims == (name,) else values.copy()).drop_encoding()
    return values if values.__dask_graph__() is None else _regular(values)


def together(numbers: Mapping[str, xr.DataArray]) -> xr.Dataset:
    every, coords, _ = _parts(numbers)
    return assembled(every, coords, {})


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


def result(
    numbers: Mapping[str, xr.DataArray] | xr.Dataset,
    scores: result_attrs.Aligned | xr.DataArray | tuple[Hashable, ...] | None,
    *,
    analysis: str,
    **settings: Any,
) -> xr.Dataset:
    """A Dataset of `numbers` whose attrs record how it was made, in values for netCDF and Zarr."""
    # `scores` were asked (or give the dims), and their checks run before a lazy result is computed. `settings` are
    # further attrs; n_systems and n_inputs are counted unless given.
    if isinstance(scores, tuple):
        further: Iterable[Hashable] = scores
    elif isinstance(scores, xr.DataArray):
        further = scores.dims
    else:
        further = () if scores is None else scores.further
    every, coords, own = _parts(numbers)
    _check_dims(every, analysis, [*further, settings.get("along"), *group_dims({"analysis": analysis, **settings})])
    parts = {name: _detached(name, values, name in coords) for name, values in every.items()}
    ds = _finished(parts, coords, {"analysis": analysis})
    ds.attrs = {**own, **result_attrs.of(scores, analysis, **settings)}
    return ds if scores is None or isinstance(scores, xr.DataArray | tuple) else scores.later.attached(ds)


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


def group_dims(attrs: Mapping[Any, Any]) -> tuple[str, ...]:
    """The two dims of groups of systems or inputs in a result, if any."""
    about = catalogue.ANALYSES.get(str(attrs.get("analysis")))
    by = attrs.get("by")
    return (f"{by}", f"other_{by}") if about is not None and about.between_groups and by is not None else ()
