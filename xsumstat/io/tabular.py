"""Frames of other libraries as pandas frames, and cells with more than one value."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.core import extras

_NESTED = (dict, list, np.ndarray)


def is_frame(value: Any) -> bool:
    if isinstance(value, pd.DataFrame):
        return True
    ours = isinstance(value, pd.Series | xr.DataArray | xr.Dataset)  # which have to_pandas() too
    return not ours and (hasattr(value, "__arrow_c_stream__") or hasattr(value, "to_pandas"))


def as_pandas(frame: Any) -> pd.DataFrame:
    """A pandas frame from pandas, polars, pyarrow, or any library that exports to Arrow or pandas."""
    if isinstance(frame, pd.DataFrame):
        return frame
    if hasattr(frame, "__arrow_c_stream__"):
        converted: pd.DataFrame = extras.optional("pyarrow", "data").table(frame).to_pandas()
        return converted
    if hasattr(frame, "collect") and hasattr(frame, "lazy"):
        raise TypeError("frame is lazy, and its rows are not known yet: pass frame.collect()")
    given = frame.to_pandas() if hasattr(frame, "to_pandas") else None
    if isinstance(given, pd.DataFrame):
        return given
    if isinstance(frame, dict | list):
        raise TypeError(f"frame must be a table, got {type(frame).__name__}: pass pandas.DataFrame(frame)")
    raise TypeError(
        "frame must be a table of pandas, polars, pyarrow or another library that has to_pandas(), "
        f"got {type(frame).__name__}"
    )


def is_nested(column: pd.Series[Any]) -> bool:
    return _first_nested(column) is not None


def check_flat(frame: pd.DataFrame, columns: list[str]) -> None:
    for name in columns:
        found = _first_nested(frame[name])
        if found is None:
            continue
        shown = reprlib.repr(found.tolist() if isinstance(found, np.ndarray) else found)
        what = "mappings" if isinstance(found, dict) else "lists"
        if isinstance(found, dict):
            way = "pandas.json_normalize(frame.to_dict('records')) makes a column of each of their fields"
        else:
            way = (
                f"frame.explode({name!r}) makes a row of each item, "
                f"frame.assign(**{{{name!r}: frame[{name!r}].map(numpy.mean)}}) takes their mean"
            )
        raise TypeError(f"column {name!r} holds {what}, as {shown}, and a cell must hold one value: {way}")


def _first_nested(column: pd.Series[Any]) -> Any:
    if column.dtype != object or pd.api.types.infer_dtype(column, skipna=True) != "mixed":
        return None
    return next((value for value in column if isinstance(value, _NESTED)), None)
