"""Lazy arrays: which are, and how they are cut in chunks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import xarray as xr


def is_lazy(values: xr.DataArray) -> bool:
    return values.variable.__dask_graph__() is not None  # a tenth of the time that `chunks` takes


def whole(values: xr.DataArray, dims: Iterable[str]) -> xr.DataArray:
    """Values with one chunk along each of these dims, if lazy."""
    return _chunked(values, dict.fromkeys(dims, -1))


def chunked_by_metric(values: xr.DataArray) -> xr.DataArray:
    return _chunked(values, {"metric": 1, "system": -1, "input": -1})


def _chunked(values: xr.DataArray, sizes: Mapping[str, int]) -> xr.DataArray:
    if not is_lazy(values):
        return values
    chunks = {values.get_axis_num(dim): size for dim, size in sizes.items() if dim in values.dims}
    return values.copy(data=values.data.rechunk(chunks))  # `values.chunk` would compute coordinates of objects
