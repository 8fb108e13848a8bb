"""Scores and results in and out of pandas and of files."""

from __future__ import annotations

import math
import re
import reprlib
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat import _validate
from xsumstat.coefficients import arrays
from xsumstat.dataset import results
from xsumstat.io import labels, sacrerouge, stores, tables
from xsumstat.io.labels import Labels, Place
from xsumstat.types import FloatArray, IntArray

_LARGEST_FLOAT = sys.float_info.max
_MEANS = {
    np.mean: "mean",
    np.nanmean: "mean",
    np.median: "median",
    np.nanmedian: "median",
    np.sum: "sum",
    np.nansum: "sum",
}

FORMATS = (".csv", ".tsv", ".parquet", ".nc", ".zarr", ".jsonl")


@_validate.public
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
        cell twice is an error. A "mean", "median" or "sum" does not depend on the order of the rows; those of one
        metric that differ by no more than rounding can make them (relative 1e-12) are equal.

    Returns
    -------
    Dataset
        ``score(metric, system, input, ...)``, float64, labels in the order in which they appear, NaN where
        the frame has no row. A further column that has one value for each label of a dim, as a system's type,
        becomes a coordinate of that dim.

    Raises
    ------
    ValueError, TypeError
        For a column that does not exist or stands twice, a label that is missing, labels of one dim that are text in
        part, as 1 and "1", a score that is no finite number, and a cell that appears twice.

    Warns
    -----
    UserWarning
        Names the columns that are neither scores nor labels nor descriptions, and are left out, and the labels with
        blanks around them, which are left out too. An index of text without a name is left out: pandas makes one where
        the rows of a file have a field more than its header.

    Examples
    --------
    >>> import pandas as pd, xsumstat
    >>> frame = pd.DataFrame({"model": ["a", "a", "b", "b"], "doc": [1, 2, 1, 2], "rouge": [0.1, 0.2, 0.3, 0.4]})
    >>> dict(frame.meta.to_scores(system="model", input="doc", wide=True).score.sizes)
    {'metric': 1, 'system': 2, 'input': 2}
    """
    return _scores(
        frame, metric=metric, system=system, input=input, value=value, wide=wide, dims=dims, aggregate=aggregate
    )


def _scores(
    frame: pd.DataFrame,
    *,
    metric: str | list[str] | None,
    system: str,
    input: str,
    value: str,
    wide: bool,
    dims: Iterable[str],
    aggregate: str | Callable[..., Any] | None,
    place: Place = "row {}".format,
) -> xr.Dataset:
    """What `to_scores` gives; `place` says where a row is."""
    _validate.flag("wide", wide)
    _check_aggregate(aggregate)
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    elif pd.api.types.infer_dtype(frame.index) in ("string", "mixed", "mixed-integer"):
        _validate.warn(
            f"the frame's index holds text, as {frame.index[0]!r}, has no name, and is left out; pandas makes an index "
            "of the first column of a file whose rows have more fields than the header"
        )
    dims = [dims] if isinstance(dims, str) else list(dims)
    names = {"system": system, "input": input, **{dim: dim for dim in dims}}
    _validate.unique("the frame's header", frame.columns)
    frame = _native(frame)
    if wide:
        _known_columns(frame, names)
        metrics = _metric_columns(frame, list(names.values()), metric, system, place)
    else:
        if metric is not None and not isinstance(metric, str):
            raise TypeError(f"metric must name one column of a tidy frame, got {metric!r}; or pass wide=True")
        names = {"metric": metric or "metric", **names}
        _known_columns(frame, {**names, "value": value})
        metrics = [value]
    _validate.unique("the columns named", [*names.values(), *metrics])
    rows = {dim: labels.of_rows(frame[column], dim, column, place) for dim, column in names.items()}
    chosen = wide and metric is not None  # numbers that were not chosen as metrics are not lost unawares
    described = _descriptions(rows, frame, [*names.values(), *metrics], quiet_numbers=chosen)
    scores = [_numbers(frame[column], column, place) for column in metrics]
    if wide:
        repeated = {dim: Labels(each.each, np.tile(each.codes, len(metrics))) for dim, each in rows.items()}
        named = labels.of_columns(metrics).iloc[: len(metrics) * len(frame)]  # without rows there is no metric either
        of_metrics = Labels(named, np.repeat(np.arange(len(metrics)), len(frame)))
        rows = {"metric": of_metrics, **repeated}
    dims_of_scores = {key: rows[key] for key in ("metric", "system", "input", *dims)}
    return _filled(dims_of_scores, np.concatenate(scores), aggregate, described)


def _native(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame in the machine's byte order, without which pandas does not group."""
    foreign = {name: dtype for name, dtype in frame.dtypes.items() if getattr(dtype, "isnative", True) is False}
    return frame.assign(
        **{str(name): frame[name].to_numpy().astype(foreign[name].newbyteorder("=")) for name in foreign}
    )


def _check_aggregate(aggregate: str | Callable[..., Any] | None) -> None:
    if aggregate is None or callable(aggregate):
        return
    try:
        pd.Series([0.0]).groupby([0]).agg(aggregate)
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"aggregate must be a rule of pandas', as 'mean' or 'median', got {aggregate!r}") from error


def _known_columns(frame: pd.DataFrame, names: dict[str, str]) -> None:
    for argument, column in names.items():
        if column not in frame.columns:
            columns = [str(name) for name in frame.columns]
            hint = _validate.suggestion(column, columns)
            raise ValueError(f"{argument}={column!r} is not a column{hint} columns: {_validate.listing(columns, 20)}")


def _metric_columns(
    frame: pd.DataFrame,
    named: list[str],
    metric: str | list[str] | None,
    system: str,
    place: Place,
) -> list[str]:
    """The metrics' columns of a wide frame: those named, or else all that hold numbers."""
    if metric is not None:
        metrics = [metric] if isinstance(metric, str) else list(metric)
        for column in metrics:
            _known_columns(frame, {"metric": column})
        if not metrics:
            raise ValueError(f"metric must name at least one column of a wide frame, got {metric!r}")
        return metrics
    metrics, indexes = [], []
    for column in frame.columns:
        if column in named or pd.api.types.is_bool_dtype(frame[column].dtype):
            continue
        if re.fullmatch(r"Unnamed: \d+", str(column)):
            indexes.append(column)
        elif pd.api.types.is_numeric_dtype(frame[column].dtype):
            metrics.append(column)
        elif _mostly_numbers(frame[column]):
            _numbers(frame[column], column, place)
            metrics.append(column)
    if indexes:
        _validate.warn(f"column(s) left out, as they look like a saved index: {_validate.listing(indexes)}")
    if not metrics:
        raise ValueError("a wide frame needs at least one numeric column of scores beside its labels")
    fixed = [column for column in metrics if _one_value_each(frame.groupby(system)[column])]
    if fixed:
        _validate.warn(
            f"numeric column(s) taken for metrics, though each system has one value: {_validate.listing(fixed)}; "
            "name the metrics with metric=[...] if they are not"
        )
    return metrics


def _one_value_each(groups: Any) -> bool:
    """Whether no system's values differ, though some have several."""
    return bool((groups.nunique() <= 1).all() and (groups.count() > 1).any())


def _mostly_numbers(column: pd.Series[Any]) -> bool:
    there = column.dropna()
    return len(there) > 0 and _parsed(there).notna().mean() >= 0.5


def _parsed(column: pd.Series[Any]) -> pd.Series[Any]:
    """A column's values as floats, NaN for what is no number, infinity for what is too large for a float."""
    try:
        return pd.to_numeric(column, errors="coerce")
    except OverflowError:
        return pd.to_numeric(column.map(_within_floats), errors="coerce")


def _within_floats(value: Any) -> Any:
    if isinstance(value, int) and abs(value) > _LARGEST_FLOAT:
        return math.inf if value > 0 else -math.inf
    return value


def _numbers(column: pd.Series[Any], name: str, place: Place) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A column's values as floats, NaN where it has none."""
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if pd.api.types.is_numeric_dtype(column.dtype):
        numbers = column.to_numpy(dtype=float, na_value=np.nan)
    elif column.dtype == object and kind in ("integer", "floating", "mixed-integer-float"):
        numbers = _parsed(column).to_numpy(dtype=float)
    else:
        wrong = np.flatnonzero((_parsed(column).isna() & column.notna()).to_numpy())
        first = f", the first is {_at(column, wrong, place)}" if len(wrong) else ""
        raise TypeError(
            f"column {name!r} must hold numbers, got dtype {column.dtype}{first}; convert with pd.to_numeric"
        )
    infinite = np.flatnonzero(np.isinf(numbers))
    if len(infinite):
        raise ValueError(f"column {name!r} must hold finite numbers, the first other is {_at(column, infinite, place)}")
    return numbers


def _at(column: pd.Series[Any], rows: np.ndarray[Any, Any], place: Place) -> str:
    """The first of some rows' values, and where it is."""
    return f"{reprlib.repr(column.iloc[rows[0] : rows[0] + 1].tolist()[0])} in {place(int(rows[0]))}"


def _descriptions(
    rows: dict[str, Labels], frame: pd.DataFrame, used: list[str], quiet_numbers: bool
) -> dict[str, tuple[str, np.ndarray[Any, Any]]]:
    """The dim that each further column describes, and its value for each label; what describes none is reported."""
    described: dict[str, tuple[str, np.ndarray[Any, Any]]] = {}
    loose = []
    taken = {"metric", "score", *rows}
    for column in frame.columns:
        if column in used or re.fullmatch(r"Unnamed: \d+", str(column)):
            continue
        found = None if column in taken else labels.described(frame[column], rows)
        if found is not None:
            described[str(column)] = found
        elif not (quiet_numbers and pd.api.types.is_numeric_dtype(frame[column].to_numpy().dtype)):
            loose.append(column)
    if loose:
        _validate.warn(f"column(s) left out, as they describe no metric, system or input: {_validate.listing(loose)}")
    return described


def _filled(
    rows: dict[str, Labels],
    scores: FloatArray,
    aggregate: str | Callable[..., Any] | None,
    described: dict[str, tuple[str, np.ndarray[Any, Any]]],
) -> xr.Dataset:
    """The scores as a Dataset, one for each cell."""
    shape = tuple(len(each.each) for each in rows.values())
    places = np.ravel_multi_index(tuple(each.codes for each in rows.values()), shape)
    taken = np.zeros(math.prod(shape), dtype=bool)
    taken[places] = True
    if np.count_nonzero(taken) < len(places):
        cells, places = pd.factorize(places)
        if aggregate is None:
            _refuse_repeated(rows, np.unravel_index(places[np.bincount(cells) > 1], shape))
        scores = _one_each(scores, cells, places // math.prod(shape[1:]), aggregate)
    cube = np.full(shape, np.nan)
    cube.ravel()[places] = scores
    coords: dict[str, Any] = {key: each.array() for key, each in rows.items()}
    return xr.Dataset({"score": (list(rows), cube)}, coords=coords | described)


def _refuse_repeated(rows: dict[str, Labels], cells: tuple[IntArray, ...]) -> None:
    first = [each.each.iloc[codes[:3]] for each, codes in zip(rows.values(), cells, strict=True)]
    listed = "; ".join("/".join(map(repr, cell)) for cell in zip(*first, strict=True))
    raise ValueError(
        f"{len(cells[0])} cell(s) appear more than once, the first {len(first[0])} ({'/'.join(rows)}): {listed}; "
        "pass aggregate='mean', or name the column that tells them apart in dims"
    )


def _one_each(
    scores: FloatArray, cells: IntArray, metrics: IntArray, aggregate: str | Callable[..., Any] | None
) -> FloatArray:
    """One score for each cell; `cells` numbers that of each score as they appear, `metrics` says whose each cell is."""
    rule: Any = _MEANS.get(aggregate, aggregate) if callable(aggregate) else aggregate
    if rule in ("mean", "median", "sum"):
        return _averaged(scores, cells, metrics, rule)
    groups = pd.DataFrame({"cell": cells, "score": scores}).groupby("cell", sort=False, as_index=False)
    return groups.agg({"score": rule})["score"].to_numpy(dtype=float)


def _averaged(scores: FloatArray, cells: IntArray, metrics: IntArray, rule: str) -> FloatArray:
    """One score for each cell, whatever the order of the rows, and equal where only rounding parts them."""
    order = np.argsort(scores, kind="stable")
    found = pd.Series(scores[order]).groupby(cells[order]).agg(rule).to_numpy(dtype=float, copy=True)
    sizes = pd.Series(np.abs(scores)).groupby(cells).agg("sum" if rule == "sum" else "max").fillna(0).to_numpy()
    magnitudes = np.where(np.bincount(cells) > 1, sizes, 0.0)
    for places in pd.Series(metrics).groupby(metrics, sort=False).indices.values():
        found[places] = arrays.made_equal(found[places], magnitudes[places])
    return found


@_validate.public
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
        has no row, and samples are left out. Scores give their variable `score` alone. Where no variable has all
        dims of the result, as where tests come with tables of counts, those on other dims than the variable that
        answers the question (p-values of tests, the average score of `rank_tasks`) are left out:
        ``result[["confusion"]].meta.to_frame()`` has them.

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
    if kept.data_vars and all(set(each.dims) < set(kept.dims) for each in kept.data_vars.values()):
        main = kept[results.main_variable(kept)]
        kept = kept[[name for name, each in kept.data_vars.items() if set(each.dims) <= set(main.dims)]]
    dims = [str(dim) for dim in kept.dims]
    if not dims:
        return pd.DataFrame({str(name): [values.item()] for name, values in kept.reset_coords().data_vars.items()})
    frame = kept.to_dataframe(dim_order=dims).reset_index()
    sides = results.pair_dims(kept["pvalue"]) if "pvalue" in kept else None
    if sides is not None:
        frame = frame[frame[sides[0]] != frame[sides[1]]]
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
    aggregate: str | None = None,
    chunks: int | Literal["auto"] | Mapping[Any, Any] | None = None,
) -> xr.Dataset:
    """Scores from a file or folder, by its ending.

    Parameters
    ----------
    path : str or Path
        ``.csv``, ``.tsv`` or ``.parquet``: a frame, tidy if it has the metric column, else wide. ``.nc`` or ``.zarr``:
        a saved Dataset. ``.jsonl``, or a folder of such: SacreROUGE.
    metric, system, input, value, dims, aggregate
        Columns of a frame, and what to do with repeated cells, as for `to_scores`.
    chunks : int, mapping or "auto", optional
        Of ``.nc`` and ``.zarr``: leave the values in the file, as a Dask array in chunks of these sizes, as
        `xarray.open_dataset` does; what describes labels is read. ``{"metric": 1}``, a metric at a time, suits scores
        that memory does not hold. Default: all is read.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError, ValueError
        If there is no such file, its ending is not one of these, it cannot be read, or not in chunks.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"no such file or folder: {path}")
    suffix = path.suffix.lower()
    if chunks is not None and suffix not in stores.STORES:
        known = _validate.listing(stores.STORES)
        raise ValueError(f"chunks={chunks!r} needs a file of which parts can be read ({known}), got {path.name}")
    if suffix == ".jsonl" or (path.is_dir() and suffix != ".zarr"):
        return sacrerouge.read_sacrerouge(path)
    if suffix not in FORMATS:
        raise ValueError(f"cannot tell what {path.name} holds by its ending; known: {_validate.listing(FORMATS)}")
    with stores.reading(path):
        if suffix in stores.STORES:
            return stores.read(path, chunks)
        frame, place = _frame(path, suffix, [metric, system, input, *dims])
    wide = metric not in frame.columns
    named = None if wide else metric
    return _scores(
        frame,
        metric=named,
        system=system,
        input=input,
        value=value,
        wide=wide,
        dims=dims,
        aggregate=aggregate,
        place=place,
    )


def _frame(path: Path, suffix: str, labels: list[str]) -> tuple[pd.DataFrame, Place]:
    """A table, and what its rows are called."""
    if suffix == ".parquet":
        _validate.optional("pyarrow", "data")
        return pd.read_parquet(path), lambda row: f"{path.name}, row {row}"
    frame, lines = tables.read(path, "\t" if suffix == ".tsv" else ",", labels)
    return frame, lambda row: f"{path.name}, line {lines[row]}"
