"""Results as pandas frames: one row for each value of the variable that answers the question."""

from __future__ import annotations

from typing import Any

import pandas as pd
import xarray as xr

from xsumstat import catalogue
from xsumstat.core import validate
from xsumstat.dataset import pair_results, results


@validate.public
def to_frame(result: xr.Dataset, *, brief: bool = False) -> pd.DataFrame:
    """Turn a result or scores into a tidy frame: one row per interval, test or score.

    Parameters
    ----------
    {result}
        Scores work too.
    brief : bool, default False
        Leave out descriptions of labels, such as ``kind``, and standard errors, test statistics, counts,
        ``n_undefined`` and ``fell_back``.

    Returns
    -------
    DataFrame
        Columns of labels, their descriptions, and values, the answer first (p-values of tests, the average score of
        `rank_tasks`). Variables with other dims are left out: ``result[["by_rater"]].meta.to_frame()``. Single numbers
        are in ``frame.attrs``, with the attrs. The diagonal of tests, and samples, have no rows. Scores give `score`
        only. The columns of an analysis do not depend on the values.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> ds.meta.ci("human", metric=["judge", "rouge"]).meta.to_frame(brief=True).round(2)
      metric  correlation  ci_low  ci_high
    0  judge         0.93    0.55     0.99
    1  rouge         0.80    0.56     0.92
    """
    validate.flag("brief", brief)
    if "analysis" not in result.attrs and "score" in result:
        result = result[["score"]]
    kept = results.without_draws(result)
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
    sides = pair_results.pair_dims(main)
    if sides is not None:  # a metric or system that meets itself, where that is nothing
        itself = frame[sides[0]] == frame[sides[1]]
        frame = frame[~(itself & (frame[main.name].isna() | ("pvalue" in kept)))]
    return frame[columns].reset_index(drop=True)


def _plain(value: Any) -> Any:
    """A value of attrs as a Python object that files of frames can hold."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value
