"""Read scores from pandas frames and from files."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.core import arguments, extras, validate
from xsumstat.dataset import text_attrs
from xsumstat.io import (
    cells,
    criteria,
    declarations,
    mtme,
    recognised,
    roles,
    rows,
    runs,
    score_files,
    stores,
    tables,
    tabular,
    texts,
)
from xsumstat.io import columns as usual
from xsumstat.io import ratings as by_raters
from xsumstat.io.labels import Place, without_blanks

FORMATS = (*usual.TABLES, *stores.STORES, score_files.SUFFIX, *recognised.SUFFIXES)


@validate.public
def to_scores(
    frame: pd.DataFrame | object,
    *,
    metric: str | list[str] | None = None,
    system: str = "system",
    input: str | list[str] = "input",
    value: str = "score",
    wide: bool = False,
    dims: Iterable[str] = (),
    ratings: str | list[str] | None = None,
    rater: str | None = None,
    run: str | None = None,
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
        Pandas, polars, pyarrow, or any frame with ``to_pandas()``; the method ``df.meta.to_scores(...)`` needs pandas.
        Tidy, one row per score, or with ``wide=True`` one row per output and one column per metric. It is not changed.
    metric : str or list of str, optional
        Tidy: column that names the metric, default "metric". Wide: metrics' columns. Default: all other numeric ones,
        except identifiers such as "patient_id" and columns without any value.
    system, input : str, default "system", "input"
        Columns of system and input. Without a column of systems all rows belong to one, "system". A list of columns,
        as ``["doc", "segment"]``, names the input together ("doc-1:3"), and each becomes a coordinate.
    value : str, default "score"
        Tidy: the column of scores.
    wide : bool, default False
        Whether each metric has its own column.
    dims : iterable of str, optional
        Columns that become additional dims, such as "language".
    ratings : str or list of str, optional
        Metrics (wide: columns) that are ratings by several raters. They become ``rating(system, input, rater)``, and
        their mean the metric "human".
    rater : str, optional
        Column that names the rater, with one row per rating. Default: each of `ratings` is one rater.
    run : str, optional
        Column that names the run of a judge, which becomes the dim ``run``. A row without a run counts for every run.
    aggregate : str or callable, optional
        How several scores of one cell are combined, as in pandas: "mean", "median", "first" ... Default: an error.
    gold : str, optional
        Metric, or "rating", to compare with by default, ``ds.attrs["gold"]``. Default with `ratings`: "human".
    lower_is_better : str or list of str, optional
        Metrics that are better when lower, such as an error rate: ``higher_is_better(metric)`` is False for them, and
        they are negated before any analysis. A message suggests undeclared ones by their negative correlation.
    kind : mapping, optional
        Coordinate ``kind(metric)``, as ``{"human": ["expert", "crowd"], "judge": ["gpt"]}``; default "automatic". Kinds
        "human" and "covariate" are analysed only if `metric=` names them.
    labels : list of str, optional
        Texts that scores are, lowest first, as ``["fail", "pass"]``: they become 0, 1, ...; ``ds.attrs["labels"]`` has
        a line each. Beside metrics with as many grades from 1 they become these grades.

    Returns
    -------
    Dataset
        ``score(metric, system, input, ...)``, float64, labels in order of appearance, NaN without a row. Another
        column with one value for each label of a dim becomes a coordinate of that dim. ``ds.attrs["left_out"]`` names
        omitted columns of text, ``ds.attrs["unread"]`` those that may hold scores but were not read as numbers.

    Raises
    ------
    ValueError, TypeError
        For unknown columns or metrics, missing or mixed labels, scores that are not finite numbers, or repeated cells.

    Warns
    -----
    MetaEvaluationWarning
        Names columns left out, labels with blanks around them (removed), and labels that look alike.

    Examples
    --------
    >>> import pandas as pd, xsumstat
    >>> frame = pd.DataFrame({"model": ["a", "a", "b", "b"], "doc": [1, 2, 1, 2], "rouge": [0.1, 0.2, 0.3, 0.4]})
    >>> frame = frame.assign(ann=[1, 2, 3, 4], bob=[1, 3, 3, 5], ter=[0.9, 0.7, 0.6, 0.4])
    >>> ds = frame.meta.to_scores(
    ...     system="model", input="doc", wide=True, ratings=["ann", "bob"], lower_is_better=["ter"]
    ... )
    >>> list(ds.metric.values), dict(ds.rating.sizes), ds.attrs["gold"]
    (['rouge', 'ter', 'human'], {'system': 2, 'input': 2, 'rater': 2}, 'human')
    """
    validate.flag("wide", wide)
    dims = validate.several("dims", dims, "a column or several")
    table = rows.prepared(tabular.as_pandas(frame), aggregate)
    rows.check_layout(table, metric, wide)
    table = rows.with_system(table, system)
    table, input, parts = rows.with_input(table, input)
    scale = texts.checked(labels)
    texts.report_reversed(scale)
    who = None if wide else "metric" if metric is None else metric
    labelled = [system, input, *dims, rater]
    lowest = texts.lowest_code(table, scale, labelled, who)
    table = texts.coded(table, scale, labelled, _of_scores(metric, value, ratings, wide), who, lowest)
    table, dims = runs.named(table, run, dims)
    how: dict[str, Any] = {"metric": metric, "system": system, "input": input, "value": value, "wide": wide}
    how |= {"dims": dims, "aggregate": aggregate, "repeated": run is not None}
    if ratings is None:
        if rater is not None:
            raise ValueError(f"rater={rater!r} says who rated: name the metrics that are ratings in ratings=")
        ds = _of_scores_alone(table, **how)
    else:
        if wide and metric is None:
            _report_other_raters(table, ratings, rater, [system, input, *dims])
        ds = _with_ratings(table, ratings, rater, **how)
        gold = roles.MEAN if gold is None else gold
    cells.report_alike(ds.indexes)
    if wide and run is None:
        _report_rows_without_scores(table, ds, [system, input, *dims])
    ds = declarations.declared(ds, gold=gold, lower_is_better=lower_is_better, kind=kind, columns=list(table.columns))
    ds = ds if parts is None else rows.with_parts(ds, parts)
    return ds.assign_attrs(labels=text_attrs.joined(scale)) if scale and not lowest else ds


def _of_scores_alone(
    frame: pd.DataFrame, *, wide: bool, repeated: bool, place: Place = "row {}".format, **how: Any
) -> xr.Dataset:
    """Scores of a frame without ratings; of a tidy one with `repeated` runs, rows without a run count for all runs."""
    if repeated and not wide:
        frame, place = runs.in_every_run(frame, place)
    return rows.of_frame(frame, wide=wide, place=place, **how)


def _report_rows_without_scores(frame: pd.DataFrame, ds: xr.Dataset, labelled: list[str]) -> None:
    """Warn of outputs without any number: no array of scores can distinguish them from outputs that do not exist."""
    if ds.sizes["metric"] < 2:  # ratings alone, of which some are not yet there
        return
    listed = len(frame.drop_duplicates(labelled))
    lacking = listed - int(ds["score"].notnull().any("metric").sum())
    if 0 < lacking < listed:
        validate.warn(
            f"{lacking:,} of {validate.counted(listed, 'output')} {'has' if lacking == 1 else 'have'} no score and no "
            "rating, and count as no outputs: if a judge refused them, missingness and reports count too few refusals. "
            "A column with a number for each output, such as its length, keeps them",
            "no_score",
        )


def _report_other_raters(frame: pd.DataFrame, ratings: Any, rater: str | None, labelled: list[str]) -> None:
    """Warn of columns that become metrics and are called like raters."""
    names = [name for name in frame.columns if isinstance(name, str) and name not in labelled and name != rater]
    among = validate.several("ratings", ratings, "a metric or column, or several")
    others = [name for name in roles.raters_in(frame, names) if name not in among]
    if others:
        validate.warn(
            f"{validate.named('column', others)} read as {'metrics' if len(others) > 1 else 'a metric'}, with the name "
            f"of a rater; if people rated, pass ratings={[*among, *others]!r}",
            "perhaps_no_metric",
        )


def _of_scores(metric: Any, value: str, ratings: Any, wide: bool) -> list[Any]:
    if not wide:
        return [value]
    columns = [] if metric is None else validate.several("metric", metric, "a column or several")
    return columns + ([] if ratings is None else validate.several("ratings", ratings, "a metric or column, or several"))


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
    repeated: bool,
    aggregate: Any,
    place: Place = "row {}".format,
) -> xr.Dataset:
    """Scores, with the ratings beside them and the raters' mean among them."""
    labelled = [system, input, *dims]
    names = by_raters.check(ratings, rater, labelled)
    if rater is None and len(names) > 1:
        others = list(frame.columns) if wide else frame[metric or "metric"].unique().tolist()
        criteria.warn_of_raters(names, others)
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
        metric = "metric" if metric is None else metric
        rows.known_columns(frame, {"metric": metric, "value": value})
        split = by_raters.split_tidy(frame, names, rater, labelled, metric, value, place)
        others = split.scores if len(split.scores) else None
    own, rated, place_of_rating = dims, split.ratings, split.place_of_rating
    if repeated and (kept := runs.of_outputs(rated)) is not None:
        own, place_of_rating = [dim for dim in dims if dim != runs.RUN], by_raters.at_rows(kept, place_of_rating)
        rated = rated.iloc[kept].drop(columns=runs.RUN)
    of_people: dict[str, Any] = {"metric": by_raters.METRIC, "value": by_raters.VALUES, "wide": False}
    of_people |= {"system": system, "input": input}
    each = rows.of_frame(rated, dims=[*own, by_raters.RATER], aggregate=aggregate, place=place_of_rating, **of_people)
    mean = rows.of_frame(
        rated.drop(columns=by_raters.RATER), dims=own, aggregate="mean", place=place_of_rating, **of_people
    )
    scores = None
    if others is not None:
        scores = _of_scores_alone(
            others, metric=metric, system=system, input=input, value=value, wide=wide, dims=dims, repeated=repeated,
            aggregate=aggregate, place=split.place_of_score,
        )  # fmt: skip
        scores = scores.sel(metric=scores.indexes["metric"] != by_raters.VALUES)
    single = each["score"].isel(metric=0, drop=True)
    if rater is not None and names[0] not in (roles.MEAN, by_raters.VARIABLE):
        single = single.assign_attrs(long_name=names[0])
    return by_raters.joined(scores, single, mean["score"])


def read_scores(
    path: str | Path | recognised.File,
    *,
    metric: str = "metric",
    system: str = "system",
    input: str = "input",
    value: str = "score",
    dims: Iterable[str] = (),
    aggregate: str | None = None,
    ratings: list[str] | str | None = None,
    rater: str | None = None,
    run: str | None = None,
    gold: str | None = None,
    kind: Mapping[str, list[str]] | None = None,
    columns: list[str] | None = None,
    chunks: int | Literal["auto"] | Mapping[Any, Any] | None = None,
    labels: Sequence[str] | None = None,
    only: Mapping[str, str] | None = None,
) -> xr.Dataset:
    """Read scores from a file or folder, by its ending; arguments not described here are those of `to_scores`.

    ``.csv``, ``.tsv``, ``.parquet``: a frame, tidy if it has the metric column, else wide with the metrics `columns`.
    ``.nc``, ``.zarr``: a saved Dataset; with `chunks` its values stay in the file as a Dask array. ``.score``, or a
    folder of them: mt-metrics-eval. ``.jsonl``, ``.json``, ``.eval``, or a folder: SacreROUGE, lm-evaluation-harness,
    Inspect AI, promptfoo or DeepEval, recognised by content; other JSON with one record per row is a frame. `ratings`
    are columns (tidy: metrics) by several raters; their mean becomes the metric "human", the gold. Of a table `only`
    rows with these labels, by column, are read.
    """
    file = path if isinstance(path, recognised.File) else recognised.File(path)
    path = file.path
    if not path.exists():
        raise stores.no_such(path)
    suffix = path.suffix.lower()
    if chunks is not None and suffix not in stores.STORES:
        known = validate.listing(stores.STORES)
        raise ValueError(f"chunks={chunks!r} needs a file that can be read in parts ({known}), got {path.name}")
    for name, given in (("ratings", ratings), ("run", run)):
        if given is not None and suffix not in usual.TABLES and not file.is_records:
            raise ValueError(f"{arguments.given(name, given)} names columns, and {path.name} is not a table")
    if (suffix in recognised.SUFFIXES and not file.is_records) or (path.is_dir() and suffix != ".zarr"):
        return recognised.reader_of(file)(path)
    if suffix == score_files.SUFFIX:
        return mtme.read_files(path)
    if suffix not in FORMATS:
        raise ValueError(f"{path.name} has an unknown file type; known: {validate.listing(FORMATS, len(FORMATS))}")
    with stores.reading(path):
        if suffix in stores.STORES:
            ds = stores.read(path, chunks)
            cells.report_alike(ds.indexes)
            return ds
        dims = validate.several("dims", dims, "a column or several")
        frame, place = table(file, [metric, system, input, *dims, *([] if run is None else [run])])
    if only:
        kept, of_file = rows.labelled(frame, only), place
        frame, place = frame.iloc[kept].reset_index(drop=True), lambda row: of_file(int(kept[row]))
    wide = metric not in frame.columns
    frame = rows.with_system(rows.prepared(frame, aggregate), system)
    scale = texts.checked(labels)
    texts.report_reversed(scale)
    who = None if wide else metric
    labelled = [system, input, *dims, rater]
    lowest = texts.lowest_code(frame, scale, labelled, who)
    frame = texts.coded(frame, scale, labelled, _of_scores(columns, value, ratings, wide), who, lowest)
    frame, dims = runs.named(frame, run, dims)
    how: dict[str, Any] = {"metric": columns if wide else metric, "system": system, "input": input, "value": value}
    how |= {"wide": wide, "dims": dims, "aggregate": aggregate, "place": place, "repeated": run is not None}
    ds = _of_scores_alone(frame, **how) if ratings is None else _with_ratings(frame, ratings, rater, **how)
    cells.report_alike(ds.indexes)
    if wide and run is None:
        _report_rows_without_scores(frame, ds, [system, input, *dims])
    gold = roles.MEAN if ratings is not None else gold
    ds = declarations.declared(ds, gold=gold, lower_is_better=(), kind=kind or None)
    return ds.assign_attrs(labels=text_attrs.joined(scale)) if scale and not lowest else ds


def sample(file: recognised.File, rows_read: int = 10_000) -> pd.DataFrame:
    """First rows of a table, from which its columns are recognised; only its header where rows are broken."""
    if file.is_records:
        return file.records.head(rows_read)
    path = file.path
    names = usual.header(path)
    try:
        if path.suffix.lower() == ".parquet":
            frame = pd.read_parquet(path)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                frame = tables.parsed(path, nrows=rows_read)
    except (ValueError, OSError, pd.errors.ParserWarning):  # the reader's own error says more
        return pd.DataFrame(columns=names)
    return frame.set_axis([str(name).strip() for name in frame.columns], axis=1)


def table(file: Path | recognised.File, labels: list[str]) -> tuple[pd.DataFrame, Place]:
    """A table with the columns of labels as text, and the names of its rows."""
    file = file if isinstance(file, recognised.File) else recognised.File(file)
    path, suffix = file.path, file.path.suffix.lower()
    if suffix in recognised.SUFFIXES:
        return file.records, lambda row: f"{path.name}, row {row}"
    if suffix == ".parquet":
        extras.optional("pyarrow", "data")
        stores.check_parquet(path)
        return pd.read_parquet(path), lambda row: f"{path.name}, row {row}"
    frame, lines = tables.read(path, labels)
    return frame, lambda row: f"{path.name}, line {lines[row]}"
