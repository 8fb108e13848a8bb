"""Results as pandas frames: a row for each value of the variable that answers the question, nothing twice."""

from __future__ import annotations

from typing import Any

import pandas as pd
import xarray as xr

from xsumstat import _validate, catalogue
from xsumstat.dataset import results


@_validate.public
def to_frame(result: xr.Dataset, *, brief: bool = False) -> pd.DataFrame:
    """A tidy frame of a result or of scores: a row for each interval, test or score.

    Parameters
    ----------
    {result}
        Scores can be asked too.
    brief : bool, default False
        Leave out what describes labels, as ``kind`` of metrics, and what says how a number was had: standard errors,
        test statistics, counts, ``n_undefined``, ``fell_back``.

    Returns
    -------
    DataFrame
        Columns for the labels, for what describes them, and for the values, first those that answer the question. The
        rows are those of the variable that answers it: p-values of tests, the average score of `rank_tasks`. Nothing is
        repeated from row to row: what has other dims is left out, and ``result[["by_rater"]].meta.to_frame()`` has it;
        what is one number for all rows is in ``frame.attrs``, with the attrs of the result. A metric that meets itself
        in a test has no row, and samples are left out. Scores give their variable `score` alone. The columns of an
        analysis are the same whatever the values are.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> ds.meta.ci("human", metric=["judge", "rouge"]).meta.to_frame(brief=True).round(2)
      metric  correlation  ci_low  ci_high
    0  judge         0.93    0.55     0.99
    1  rouge         0.80    0.56     0.92
    >>> list(ds.meta.corr("human").meta.to_frame().columns)
    ['metric', 'kind', 'higher_is_better', 'correlation', 'n_undefined']
    """
    _validate.flag("brief", brief)
    if "analysis" not in result.attrs and "score" in result:
        result = result[["score"]]
    kept = result.drop_vars([name for name in result.data_vars if "resample" in result[name].dims])
    if not kept.data_vars:
        return pd.DataFrame()
    main = kept[results.main_variable(kept)]
    dims = [str(dim) for dim in kept.dims if dim in main.dims]
    names = [name for name, each in kept.data_vars.items() if set(each.dims) == set(main.dims)]
    single = {str(name): each.item() for name, each in kept.data_vars.items() if not each.dims and main.dims}
    names = sorted(names, key=lambda name: (name != main.name, name in catalogue.DETAILS))
    if brief:
        names = [name for name in names if name not in catalogue.DETAILS]
    frame = _rows(kept[names], dims, main, brief)
    frame.attrs = {str(name): _plain(value) for name, value in result.attrs.items()} | single  # type: ignore[assignment]
    return frame


def _rows(kept: xr.Dataset, dims: list[str], main: xr.DataArray, brief: bool) -> pd.DataFrame:
    if brief:
        kept = kept.drop_vars([name for name in kept.coords if name not in dims and kept[name].dims])
    descriptions = [str(name) for name in kept.coords if name not in dims]
    columns = [*dims, *descriptions, *map(str, kept.data_vars)]
    if not dims:
        return pd.DataFrame({name: [kept[name].item()] for name in columns})
    frame = kept.drop_attrs().to_dataframe(dim_order=dims).reset_index()
    sides = results.pair_dims(main)
    if sides is not None:  # a metric or system that meets itself, where that is nothing
        itself = frame[sides[0]] == frame[sides[1]]
        frame = frame[~(itself & (frame[main.name].isna() | ("pvalue" in kept)))]
    return frame[columns].reset_index(drop=True)


def _plain(value: Any) -> Any:
    """A value of attrs as Python's own, which files of frames can hold."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value
