"""Scores in from pandas and from files."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat import _validate, extras
from xsumstat.io import cells, declarations, recognised, rows, stores, tables, tabular, texts
from xsumstat.io import columns as usual
from xsumstat.io import ratings as by_raters
from xsumstat.io.labels import Place, without_blanks

FORMATS = (".csv", ".tsv", ".parquet", ".nc", ".zarr", *recognised.SUFFIXES)


@_validate.public
def to_scores(
    frame: pd.DataFrame | object,
    *,
    metric: str | list[str] | None = None,
    system: str = "system",
    input: str = "input",
    value: str = "score",
    wide: bool = False,
    dims: Iterable[str] = (),
    ratings: str | list[str] | None = None,
    rater: str | None = None,
    aggregate: str | Callable[..., float] | None = None,
    gold: str | None = None,
    lower_is_better: str | Iterable[str] = (),
    kind: Mapping[str, str | Iterable[str]] | None = None,
    labels: Sequence[str] | None = None,
) -> xr.Dataset:
    """Turn a frame of scores into a Dataset.

    Parameters
    ----------
    frame : DataFrame
        Of pandas, polars or pyarrow, or of a library whose frames have ``to_pandas()``, as a Hugging Face Dataset; as
        a method, ``df.meta.to_scores(...)``, of pandas. Tidy, a row a score; or, with ``wide=True``, a row an output
        and a column a metric. Levels of the index count as columns. It is not changed.
    metric : str or list of str, optional
        Tidy: the column that names the metric, default "metric". Wide: the metrics' columns, default every
        numeric column that is not named otherwise.
    system, input : str, default "system", "input"
        Columns that name the system and the input. A frame without a column of systems, nor one that is usually called
        so, as "model", is of one system, "system".
    value : str, default "score"
        Tidy: the column of the scores.
    wide : bool, default False
        Whether each metric has a column of its own.
    dims : iterable of str, optional
        Columns that become further dims, such as "language".
    ratings : str or list of str, optional
        The metrics (wide: columns) that are several people's ratings. They become the variable
        ``rating(system, input, rater)``, and their mean, over those who rated, the metric "human". Default: none.
    rater : str, optional
        The column that says who rated, where each rating has a row of its own. What else a wide frame says of an
        output, it says in each of its rows. Default: each of `ratings` is one rater.
    aggregate : str or callable, optional
        How scores of the same cell become one, as in pandas: "mean", "median", "first" ... Default: the same
        cell twice is an error. A "mean", "median" or "sum" does not depend on the order of the rows; those of one
        metric that differ by no more than rounding can make them (relative 1e-12) are equal.
    gold : str, optional
        The metric, or with `ratings` the variable "rating", that others are compared with where no question names
        another: ``ds.attrs["gold"]``. Default: with `ratings` "human", else none.
    lower_is_better : str or list of str, optional
        Metrics that are better when lower, as an error rate: the coordinate ``higher_is_better(metric)`` is False
        for them, and True for all others. They are negated before anything is computed. Questions remark on a
        metric that is not declared, where its system means correlate negatively with the gold's: at most -.3, by
        Pearson, and so low that chance would bring one of all metrics there once in a hundred Datasets (Fisher's z of
        so many systems, divided among the metrics), if the correlation asked for is negative too.
    kind : mapping, optional
        The metrics of each kind, as ``{"human": ["expert", "crowd"], "judge": ["gpt"]}``: the coordinate
        ``kind(metric)``, "automatic" for those not named, "human" for the gold. Metrics of kind "human" and
        "covariate", such as a length, are judged only where `metric=` of a question names them.
    labels : list of str, optional
        The texts that scores are, the lowest first, as ``["fail", "pass"]``: they become 0, 1, ..., and
        ``ds.attrs["labels"]`` keeps them. Columns of other texts stay as they are.

    Returns
    -------
    Dataset
        ``score(metric, system, input, ...)``, float64, labels in the order in which they appear, NaN where
        the frame has no row. A further column that has one value for each label of a dim, as a system's type,
        becomes a coordinate of that dim. ``ds.attrs["left_out"]`` names columns of texts that are left out.

    Raises
    ------
    ValueError, TypeError
        For a column that does not exist or stands twice, a label that is missing, labels of one dim that are text in
        part, as 1 and "1", a score that is no finite number, a list or a mapping in a cell, a cell that appears twice,
        and a metric in `gold`, `lower_is_better` or `kind` that there is not.

    Warns
    -----
    UserWarning
        Names the columns that are neither scores, labels, descriptions nor texts, and are left out, the labels with
        blanks around them, which are left out too, and labels of a dim that look the same and are not, as "é" can be
        one sign or two. An index of text without a name is left out: pandas makes one where the rows of a file have a
        field more than its header.

    Examples
    --------
    >>> import pandas as pd, xsumstat
    >>> frame = pd.DataFrame({"model": ["a", "a", "b", "b"], "doc": [1, 2, 1, 2], "rouge": [0.1, 0.2, 0.3, 0.4]})
    >>> ds = frame.meta.to_scores(system="model", input="doc", wide=True)
    >>> ds.score.sel(metric="rouge").to_pandas()
    input     1    2
    system
    a       0.1  0.2
    b       0.3  0.4

    Two people's ratings in columns of their own, beside an error rate:

    >>> frame = frame.assign(ann=[1, 2, 3, 4], bob=[1, 3, 3, 5], ter=[0.9, 0.7, 0.6, 0.4])
    >>> ds = frame.meta.to_scores(
    ...     system="model", input="doc", wide=True, ratings=["ann", "bob"], lower_is_better=["ter"]
    ... )
    >>> list(ds.metric.values), dict(ds.rating.sizes), ds.attrs["gold"]
    (['rouge', 'ter', 'human'], {'system': 2, 'input': 2, 'rater': 2}, 'human')
    """
    _validate.flag("wide", wide)
    dims = _validate.several("dims", dims, "a column or several")
    table = rows.prepared(tabular.as_pandas(frame), aggregate)
    table = rows.with_system(table, system)
    scale = texts.checked(labels)
    table = texts.coded(table, scale, [system, input, *dims, rater], _of_scores(metric, value, ratings, wide))
    settings: dict[str, Any] = {"system": system, "input": input, "value": value, "aggregate": aggregate}
    if ratings is None:
        if rater is not None:
            raise ValueError(f"rater={rater!r} says who rated: name the metrics that are ratings in ratings=")
        ds = rows.of_frame(table, metric=metric, wide=wide, dims=dims, **settings)
    else:
        ds = _with_ratings(table, ratings, rater, metric=metric, wide=wide, dims=dims, **settings)
        gold = by_raters.MEAN if gold is None else gold
    cells.report_alike(ds.indexes)
    ds = declarations.declared(ds, gold=gold, lower_is_better=lower_is_better, kind=kind, columns=list(table.columns))
    return ds.assign_attrs(labels=list(scale)) if scale else ds


def _of_scores(metric: Any, value: str, ratings: Any, wide: bool) -> list[Any]:
    """The columns that are named as scores."""
    if not wide:
        return [value]
    columns = [] if metric is None else _validate.several("metric", metric, "a column or several")
    return columns + (
        [] if ratings is None else _validate.several("ratings", ratings, "a metric or column, or several")
    )


def _with_ratings(
    frame: pd.DataFrame,
    ratings: str | list[str],
    rater: str | None,
    *,
    metric: Any,
    system: str,
    input: str,
    value: str,
    wide: bool,
    dims: list[str],
    aggregate: Any,
    place: Place = "row {}".format,
) -> xr.Dataset:
    """Scores, the ratings beside them, and the raters' mean among them."""
    labelled = [system, input, *dims]
    names = by_raters.check(ratings, rater, labelled)
    used = {"system": system, "input": input, **{dim: dim for dim in dims}, **({"rater": rater} if rater else {})}
    rows.known_columns(frame, used)
    tabular.check_flat(frame, list(used.values()))
    frame = without_blanks(frame, list(used.values()))
    if wide:
        for name in names:
            rows.known_columns(frame, {"ratings": name})
            tabular.check_flat(frame, [name])
            rows.numbers(frame[name], name, place)
        split = by_raters.split_wide(frame, names, rater, labelled, place)
        if metric is not None:
            metric = [name for name in ([metric] if isinstance(metric, str) else metric) if name not in names]
        others = split.scores if len(split.scores.columns) > len(labelled) else None
        if others is not None and not metric and not rows.has_metrics(others, labelled):
            others, metric = others.assign(**{by_raters.VALUES: np.nan}), [by_raters.VALUES]
    else:
        rows.known_columns(frame, {"metric": "metric" if metric is None else metric, "value": value})
        split = by_raters.split_tidy(
            frame, names, rater, labelled, "metric" if metric is None else metric, value, place
        )
        others = split.scores if len(split.scores) else None
    of_people: dict[str, Any] = {"metric": by_raters.METRIC, "value": by_raters.VALUES, "wide": False}
    of_people |= {"system": system, "input": input}
    each = rows.of_frame(
        split.ratings, dims=[*dims, by_raters.RATER], aggregate=aggregate, place=split.place_of_rating, **of_people
    )
    mean = rows.of_frame(
        split.ratings.drop(columns=by_raters.RATER),
        dims=dims,
        aggregate="mean",
        place=split.place_of_rating,
        **of_people,
    )
    scores = None
    if others is not None:
        scores = rows.of_frame(
            others, metric=metric, system=system, input=input, value=value, wide=wide, dims=dims,
            aggregate=aggregate, place=split.place_of_score,
        )  # fmt: skip
        scores = scores.sel(metric=scores.indexes["metric"] != by_raters.VALUES)
    return by_raters.joined(scores, each["score"].isel(metric=0, drop=True), mean["score"])


def read_scores(
    path: str | Path,
    *,
    metric: str = "metric",
    system: str = "system",
    input: str = "input",
    value: str = "score",
    dims: Iterable[str] = (),
    aggregate: str | None = None,
    ratings: list[str] | str | None = None,
    rater: str | None = None,
    gold: str | None = None,
    kind: Mapping[str, list[str]] | None = None,
    columns: list[str] | None = None,
    chunks: int | Literal["auto"] | Mapping[Any, Any] | None = None,
    labels: Sequence[str] | None = None,
) -> xr.Dataset:
    """Scores from a file or folder, by its ending.

    Parameters
    ----------
    path : str or Path
        ``.csv``, ``.tsv`` or ``.parquet``: a frame, tidy if it has the metric column, else wide. ``.nc`` or ``.zarr``:
        a saved Dataset. ``.jsonl``, ``.json``, ``.eval``, or a folder of such: SacreROUGE, or what
        lm-evaluation-harness, Inspect AI, promptfoo and DeepEval write, told by what is in it; other ``.jsonl`` and
        ``.json`` with a record a row are frames, too.
    metric, system, input, value, dims, aggregate
        Columns of a frame, and what to do with repeated cells, as for `to_scores`.
    ratings : list of str, optional
        Of a frame: the columns, or where it is tidy the metrics, that are several people's ratings. Their mean becomes
        the metric "human", the gold.
    rater, gold, kind
        As for `to_scores`.
    columns : list of str, optional
        Of a frame that is not tidy: the metrics. Default: every column of numbers.
    chunks : int, mapping or "auto", optional
        Of ``.nc`` and ``.zarr``: leave the values in the file, as a Dask array in chunks of these sizes, as
        `xarray.open_dataset` does; what describes labels is read. ``{"metric": 1}``, a metric at a time, suits scores
        that memory does not hold. Default: all is read.
    labels : list of str, optional
        Of a frame: the texts that scores are, as for `to_scores`.

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
        raise stores.no_such(path)
    suffix = path.suffix.lower()
    if chunks is not None and suffix not in stores.STORES:
        known = _validate.listing(stores.STORES)
        raise ValueError(f"chunks={chunks!r} needs a file that can be read in parts ({known}), got {path.name}")
    is_records = recognised.is_records(path)
    if ratings is not None and suffix not in usual.TABLES and not is_records:
        raise ValueError(f"ratings={ratings!r} names columns, and {path.name} is no table")
    if (suffix in recognised.SUFFIXES and not is_records) or (path.is_dir() and suffix != ".zarr"):
        return recognised.reader_of(path)(path)
    if suffix not in FORMATS:
        raise ValueError(f"cannot tell what {path.name} holds by its ending; known: {_validate.listing(FORMATS)}")
    with stores.reading(path):
        if suffix in stores.STORES:
            ds = stores.read(path, chunks)
            cells.report_alike(ds.indexes)
            return ds
        dims = _validate.several("dims", dims, "a column or several")
        frame, place = table(path, [metric, system, input, *dims])
    wide = metric not in frame.columns
    frame = rows.with_system(rows.prepared(frame, aggregate), system)
    scale = texts.checked(labels)
    frame = texts.coded(frame, scale, [system, input, *dims, rater], _of_scores(columns, value, ratings, wide))
    how: dict[str, Any] = {"metric": columns if wide else metric, "system": system, "input": input, "value": value}
    how |= {"wide": wide, "dims": dims, "aggregate": aggregate, "place": place}
    ds = rows.of_frame(frame, **how) if ratings is None else _with_ratings(frame, ratings, rater, **how)
    cells.report_alike(ds.indexes)
    gold = by_raters.MEAN if ratings is not None else gold
    ds = declarations.declared(ds, gold=gold, lower_is_better=(), kind=kind or None)
    return ds.assign_attrs(labels=list(scale)) if scale else ds


def sample(path: Path, rows_read: int = 10_000) -> pd.DataFrame:
    """The first rows of a table, by which it is told what its columns hold; its header alone where they are broken."""
    if recognised.is_records(path):
        return recognised.records(path).head(rows_read)
    names = usual.header(path)
    try:
        if path.suffix.lower() == ".parquet":
            frame = pd.read_parquet(path)
        else:
            separator = "\t" if path.suffix.lower() == ".tsv" else ","
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                frame = pd.read_csv(path, sep=separator, encoding="utf-8-sig", index_col=False, nrows=rows_read)
    except (ValueError, OSError, pd.errors.ParserWarning):  # of which the reader says more
        return pd.DataFrame(columns=names)
    return frame.set_axis([str(name).strip() for name in frame.columns], axis=1)


def table(path: Path, labels: list[str]) -> tuple[pd.DataFrame, Place]:
    """A table, in which the columns of labels are text, and what its rows are called."""
    suffix = path.suffix.lower()
    if suffix in recognised.SUFFIXES:
        return recognised.records(path), lambda row: f"{path.name}, row {row}"
    if suffix == ".parquet":
        extras.optional("pyarrow", "data")
        stores.check_parquet(path)
        return pd.read_parquet(path), lambda row: f"{path.name}, row {row}"
    frame, lines = tables.read(path, "\t" if suffix == ".tsv" else ",", labels)
    return frame, lambda row: f"{path.name}, line {lines[row]}"
