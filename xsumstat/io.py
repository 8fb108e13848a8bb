"""Scores and results in and out of pandas and of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat import _validate, readers

FORMATS = (".csv", ".tsv", ".parquet", ".nc", ".zarr", ".jsonl")


def to_scores(
    frame: pd.DataFrame,
    *,
    metric: str | list[str] | None = None,
    system: str = "system",
    input: str = "input",
    value: str = "score",
    wide: bool = False,
    dims: Iterable[str] = (),
    aggregate: str | Callable[..., Any] | None = None,
) -> xr.Dataset:
    """Turn a frame of scores into a Dataset.

    Parameters
    ----------
    frame : DataFrame
        Tidy, a row a score; or, with ``wide=True``, a row an output and a column a metric. Levels of the index
        count as columns. It is not changed.
    metric : str or list of str, optional
        Tidy: the column that names the metric, default "metric". Wide: the metrics' columns, default every
        numeric column that is not named otherwise.
    system, input : str, default "system", "input"
        Columns that name the system and the input.
    value : str, default "score"
        Tidy: the column of the scores.
    wide : bool, default False
        Whether each metric has a column of its own.
    dims : iterable of str, optional
        Columns that become further dims, such as "language" or "rater".
    aggregate : str or callable, optional
        How scores of the same cell become one, as in pandas: "mean", "median", "first" ... Default: the same
        cell twice is an error.

    Returns
    -------
    Dataset
        ``score(metric, system, input, ...)``, float64, labels in the order in which they appear, NaN where
        the frame has no row. A further column that has one value for each label of a dim, as a system's type,
        becomes a coordinate of that dim.

    Raises
    ------
    ValueError, TypeError
        For a column that does not exist, a label that is missing, a score that is no number, and a cell that
        appears twice.

    Warns
    -----
    UserWarning
        Names the columns that are neither scores nor labels nor descriptions, and are left out.

    Examples
    --------
    >>> import pandas as pd, xsumstat
    >>> frame = pd.DataFrame({"model": ["a", "a", "b", "b"], "doc": [1, 2, 1, 2], "rouge": [0.1, 0.2, 0.3, 0.4]})
    >>> dict(frame.meta.to_scores(system="model", input="doc", wide=True).score.sizes)
    {'metric': 1, 'system': 2, 'input': 2}
    """
    _validate.flag("wide", wide)
    frame = frame.reset_index() if any(name is not None for name in frame.index.names) else frame
    dims = [dims] if isinstance(dims, str) else list(dims)
    names = {"system": system, "input": input, **{dim: dim for dim in dims}}
    if wide:
        frame, others = _melted(frame, names, metric)
    else:
        if metric is not None and not isinstance(metric, str):
            raise TypeError(f"metric must name one column of a tidy frame, got {metric!r}; or pass wide=True")
        names = {"metric": metric or "metric", **names}
        _known_columns(frame, {**names, "value": value})
        _validate.unique("the columns named", [*names.values(), value])
        others = [column for column in frame.columns if column not in (*names.values(), value)]
        frame = frame.rename(columns={**{column: dim for dim, column in names.items()}, value: "score"})
    keys = list(names) if not wide else ["metric", *names]
    keys = ["metric", "system", "input", *[key for key in keys if key not in ("metric", "system", "input")]]
    _checked_cells(frame, keys)
    described, loose = _descriptions(frame, keys, others)
    if wide and metric is not None:  # metrics that were not chosen are not lost unawares
        loose = [column for column in loose if not pd.api.types.is_numeric_dtype(frame[column].dtype)]
    if loose:
        _validate.warn(f"column(s) left out, as they differ within every dim: {_validate.listing(loose)}")
    cells = _one_each(frame, keys, aggregate)
    return _filled(cells, keys, described)


def _known_columns(frame: pd.DataFrame, names: dict[str, str]) -> None:
    for argument, column in names.items():
        if column not in frame.columns:
            columns = [str(name) for name in frame.columns]
            hint = _validate.suggestion(column, columns)
            raise ValueError(
                f"{argument}={column!r} is not a column{hint or ';'} columns: {_validate.listing(columns, 20)}"
            )


def _melted(
    frame: pd.DataFrame, names: dict[str, str], metric: str | list[str] | None
) -> tuple[pd.DataFrame, list[str]]:
    """A wide frame as a tidy one, and its columns that are neither labels nor metrics."""
    _known_columns(frame, names)
    labels = list(names.values())
    if metric is None:
        numeric = frame.select_dtypes("number").columns
        metrics = [column for column in numeric if column not in labels]
    else:
        metrics = [metric] if isinstance(metric, str) else list(metric)
        for column in metrics:
            _known_columns(frame, {"metric": column})
    if not metrics:
        raise ValueError("a wide frame needs at least one numeric column of scores beside its labels")
    others = [column for column in frame.columns if column not in (*labels, *metrics)]
    frame = frame.rename(columns={column: dim for dim, column in names.items()})
    return frame.melt([*names, *others], metrics, var_name="metric", value_name="score"), others


def _checked_cells(frame: pd.DataFrame, keys: list[str]) -> None:
    """Every label there, every score a number or NaN."""
    for key in keys:
        lacking = np.flatnonzero(frame[key].isna())
        if len(lacking):
            raise ValueError(f"{len(lacking)} row(s) have no {key}, the first is row {lacking[0]}")
    if not pd.api.types.is_numeric_dtype(frame["score"].dtype):
        numbers = pd.to_numeric(frame["score"], errors="coerce")
        wrong = frame["score"][numbers.isna() & frame["score"].notna()]
        first = f", the first is {wrong.tolist()[0]!r}" if len(wrong) else ""
        raise TypeError(f"scores must be numbers, got dtype {frame['score'].dtype}{first}; convert with pd.to_numeric")


def _descriptions(frame: pd.DataFrame, keys: list[str], others: list[str]) -> tuple[dict[str, str], list[str]]:
    """Which further column describes which dim, and those that describe none."""
    described: dict[str, str] = {}
    loose = []
    for column in others:
        for key in keys:
            if bool((frame.groupby(key, sort=False)[column].nunique(dropna=False) <= 1).all()):
                described[column] = key
                break
        else:
            loose.append(column)
    return described, loose


def _one_each(frame: pd.DataFrame, keys: list[str], aggregate: str | Callable[..., Any] | None) -> pd.DataFrame:
    """The frame with one row a cell."""
    repeated = frame.duplicated(keys, keep=False)
    if not repeated.any():
        return frame
    if aggregate is None:
        first = frame.loc[repeated, keys].drop_duplicates()
        cells = "; ".join("/".join(map(str, row)) for row in first.head(3).itertuples(index=False))
        raise ValueError(
            f"{len(first)} cell(s) appear more than once, the first {min(3, len(first))} ({'/'.join(keys)}): {cells}; "
            "pass aggregate='mean', or name the column that tells them apart in dims"
        )
    described = {column: "first" for column in frame.columns if column not in (*keys, "score")}
    rules: dict[Any, Any] = {"score": aggregate, **described}
    return frame.groupby(keys, sort=False, as_index=False).agg(rules)


def _filled(cells: pd.DataFrame, keys: list[str], described: dict[str, str]) -> xr.Dataset:
    codes, labels = zip(*(pd.factorize(cells[key]) for key in keys), strict=True)
    score = np.full([len(each) for each in labels], np.nan)
    score[codes] = cells["score"].to_numpy(dtype=float, na_value=np.nan)
    coords: dict[str, Any] = {key: np.asarray(each) for key, each in zip(keys, labels, strict=True)}
    for column, key in described.items():
        by_label = cells.drop_duplicates(key).set_index(key)[column]
        coords[column] = (key, by_label.loc[list(coords[key])].to_numpy())
    return xr.Dataset({"score": (keys, score)}, coords=coords)


def to_frame(result: xr.Dataset) -> pd.DataFrame:
    """A tidy frame of a result or of scores: a row for each interval, test or score.

    Parameters
    ----------
    result : Dataset
        What a method of ``ds.meta`` gave, or scores.

    Returns
    -------
    DataFrame
        Columns for the labels, for what describes them, and for the values. A test of a metric against itself
        has no row, and samples are left out. Scores give their variable `score` alone.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> list(ds.meta.corr("human").meta.to_frame().columns)
    ['metric', 'kind', 'higher_is_better', 'correlation', 'n_undefined']
    """
    if "analysis" not in result.attrs and "score" in result:
        result = result[["score"]]
    kept = result.drop_vars([name for name in result.data_vars if "resample" in result[name].dims])
    dims = [str(dim) for dim in kept.dims]
    if not dims:
        return pd.DataFrame({str(name): [values.item()] for name, values in kept.reset_coords().data_vars.items()})
    frame = kept.to_dataframe(dim_order=dims).reset_index()
    if {"metric", "other_metric"} <= set(dims) and "pvalue" in kept:
        frame = frame[frame["metric"] != frame["other_metric"]]
    descriptions = [str(name) for name in kept.coords if name not in dims]
    return frame[[*dims, *descriptions, *map(str, kept.data_vars)]].reset_index(drop=True)


def read_scores(
    path: str | Path,
    *,
    metric: str = "metric",
    system: str = "system",
    input: str = "input",
    value: str = "score",
    dims: Iterable[str] = (),
) -> xr.Dataset:
    """Scores from a file or folder, by its ending.

    Parameters
    ----------
    path : str or Path
        ``.csv``, ``.tsv`` or ``.parquet``: a frame, tidy if it has the metric column, else wide. ``.nc`` or ``.zarr``:
        a saved Dataset. ``.jsonl``, or a folder of such: SacreROUGE.
    metric, system, input, value, dims
        Columns of a frame, as for `to_scores`.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError, ValueError
        If there is no such file, or its ending is not one of these.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"no such file or folder: {path}")
    suffix = path.suffix.lower()
    if suffix == ".zarr":
        return xr.load_dataset(path, engine="zarr")
    if suffix == ".jsonl" or path.is_dir():
        return readers.read_sacrerouge(path)
    if suffix == ".nc":
        return xr.load_dataset(path)
    if suffix not in FORMATS:
        raise ValueError(f"cannot tell what {path.name} holds by its ending; known: {_validate.listing(FORMATS)}")
    if suffix == ".parquet":
        _validate.optional("pyarrow", "data")
        frame = pd.read_parquet(path)
    else:
        frame = pd.read_csv(path, sep="\t" if suffix == ".tsv" else ",")
    wide = metric not in frame.columns
    named = None if wide else metric
    return to_scores(frame, metric=named, system=system, input=input, value=value, wide=wide, dims=dims)
