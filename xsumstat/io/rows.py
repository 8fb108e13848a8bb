"""Rows of a pandas frame as a Dataset: labels, numbers, and one score for each cell."""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.coefficients import arrays
from xsumstat.core import arguments, validate
from xsumstat.core.synonyms import identified
from xsumstat.core.types import FloatArray, IntArray
from xsumstat.io import columns as usual
from xsumstat.io import labels, roles, tabular, words
from xsumstat.io.labels import Codes, Labels, Place
from xsumstat.io.texts import lowest_first

# The name of the system of a frame that names none, and of the column of systems.
SYSTEM, INPUT = "system", "input"
# The attributes that name the columns of texts that are left out, and those of verdicts that could not be read.
LEFT_OUT, UNREAD = "left_out", "unread"
_OF_OUTPUTS = " (a number of each output, such as a length, needs rows of its own, like a metric)"
_LOOKED_AT = 100  # values by which a column of percentages is known
_MEANS = {
    np.mean: "mean",
    np.nanmean: "mean",
    np.median: "median",
    np.nanmedian: "median",
    np.sum: "sum",
    np.nansum: "sum",
}


def prepared(frame: pd.DataFrame, aggregate: str | Callable[..., Any] | None) -> pd.DataFrame:
    _check_aggregate(aggregate)
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    elif pd.api.types.infer_dtype(frame.index) in ("string", "mixed", "mixed-integer"):
        validate.warn(
            f"the frame's index holds text, as {frame.index[0]!r}, has no name, and is left out; pandas makes an index "
            "of the first column of a file whose rows have more fields than the header",
            "columns_left_out",
        )
    validate.unique("the frame's header", frame.columns)
    return _native(frame)


def of_frame(
    frame: pd.DataFrame,
    *,
    metric: str | list[str] | None,
    system: str,
    input: str,
    value: str,
    wide: bool,
    dims: list[str],
    aggregate: str | Callable[..., Any] | None,
    place: Place = "row {}".format,
) -> xr.Dataset:
    for each in dims:
        known_columns(frame, {"dims": each})
    names = {"system": system, "input": input, **{dim: dim for dim in dims}}
    if wide:
        known_columns(frame, names)
        metrics = _metric_columns(frame, list(names.values()), metric, place)
    else:
        if metric is not None and not isinstance(metric, str):
            raise TypeError(f"metric must name one column of a tidy frame, got {metric!r}; or pass wide=True")
        names = {"metric": "metric" if metric is None else metric, **names}
        known_columns(frame, {**names, "value": value})
        metrics = [value]
    validate.unique("the columns named", [*names.values(), *metrics])
    tabular.check_flat(frame, [*names.values(), *metrics])
    rows = {dim: labels.of_rows(frame[column], dim, column, place) for dim, column in names.items()}
    chosen = wide and metric is not None  # numbers that were not chosen as metrics are not lost unawares
    described, texts, unread = _descriptions(rows, frame, [*names.values(), *metrics], chosen, wide)
    scores = [numbers(frame[column], column, place) for column in metrics]
    if wide and not chosen:
        _report_constant(metrics, scores, rows["system"].codes)
    if wide:
        repeated = {dim: Labels(each.each, np.tile(each.codes, len(metrics))) for dim, each in rows.items()}
        named = labels.of_columns(metrics).iloc[: len(metrics) * len(frame)]  # without rows there is no metric either
        of_metrics = Labels(named, np.repeat(np.arange(len(metrics)), len(frame)))
        rows = {"metric": of_metrics, **repeated}
    dims_of_scores = {key: rows[key] for key in ("metric", "system", "input", *dims)}
    ds = _filled(dims_of_scores, np.concatenate(scores), aggregate, described)
    omitted = {LEFT_OUT: texts, UNREAD: unread}
    return ds.assign_attrs({name: ", ".join(columns) for name, columns in omitted.items() if columns})


def _native(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame in native byte order, which pandas needs to group."""
    foreign = {name: dtype for name, dtype in frame.dtypes.items() if getattr(dtype, "isnative", True) is False}
    return frame.assign(
        **{str(name): frame[name].to_numpy().astype(foreign[name].newbyteorder("=")) for name in foreign}
    )


def _check_aggregate(aggregate: str | Callable[..., Any] | None) -> None:
    if aggregate is None or (callable(aggregate) and not isinstance(aggregate, type)):
        return
    if not isinstance(aggregate, str):
        raise TypeError(
            f"{arguments.name('aggregate')} must be a rule of pandas', as 'mean' or 'median', or a function, "
            f"got {validate.given(aggregate)}"
        )
    try:
        pd.Series([0.0]).groupby([0]).agg(aggregate)
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(
            f"{arguments.name('aggregate')} must be a rule of pandas', as 'mean' or 'median', got {aggregate!r}"
        ) from error


def labelled(frame: pd.DataFrame, chosen: Mapping[str, str]) -> IntArray:
    """The places of the rows with these labels, by column; columns that lack theirs are not asked."""
    kept = np.full(len(frame), True)
    for name, label in chosen.items():
        if name in frame.columns and not tabular.is_nested(frame[name]):
            same = (frame[name].map(lambda each: words.written(each).strip()) == label).to_numpy()
            kept &= same | ~same.any()
    return np.flatnonzero(kept)


def with_system(frame: pd.DataFrame, system: Any) -> pd.DataFrame:
    """The frame, with a column of one system if it lacks one with a usual name."""
    columns = [str(name) for name in frame.columns]
    if system != SYSTEM or system in frame.columns or usual.recognised(columns, SYSTEM) is not None:
        return frame
    return frame.assign(**{SYSTEM: pd.Series(SYSTEM, index=frame.index, dtype=object)})


def with_input(frame: pd.DataFrame, input: str | list[str]) -> tuple[pd.DataFrame, str, pd.DataFrame | None]:
    """The frame with one column of inputs for several that name them together; its name, and these by its labels."""
    if not isinstance(input, list | tuple):  # a set has no order
        return frame, input, None
    names = validate.several("input", input, "a column or several")
    known_columns(frame, {f"input[{at}]": name for at, name in enumerate(names)})
    if len(names) < 2:
        return frame, *names, None
    parts = [frame[name].astype(str).where(frame[name].notna()) for name in names]
    rest = frame.drop(columns=names)
    name = INPUT if INPUT not in rest.columns else ":".join(map(str, names))
    joined = parts[0].str.cat(parts[1:], sep=":")
    return rest.assign(**{name: joined}), name, frame[names].set_index(joined)[~joined.duplicated().to_numpy()]


def with_parts(ds: xr.Dataset, parts: pd.DataFrame) -> xr.Dataset:
    """The columns that name inputs together, as coordinates."""
    of_input = parts.reindex(ds.indexes["input"])
    return ds.assign_coords({str(name): ("input", of_input[name].to_numpy()) for name in parts.columns})


def check_layout(frame: pd.DataFrame, metric: Any, wide: bool) -> None:
    """Raise where a frame seems to have a column for each metric, and is to be read with one row per score."""
    if wide or metric is not None or "metric" in frame.columns:
        return
    raise ValueError(
        "the frame has no column 'metric'; if each metric has its own column, pass wide=True, else metric=COLUMN "
        f"with the column that names the metric (df.meta prints the whole call); columns: "
        f"{validate.listing(map(str, frame.columns), 20)}"
    )


def known_columns(frame: pd.DataFrame, names: dict[str, str]) -> None:
    for argument, column in names.items():
        validate.column(argument, column)
        if column not in frame.columns:
            columns = [str(name) for name in frame.columns]
            hint = validate.suggestion(column, columns)
            if column == argument and argument in (SYSTEM, INPUT):  # the default
                raise ValueError(
                    f"no column is called {column!r}; say which one names the {argument}s: "
                    f"{arguments.naming(argument)}{hint} columns: {validate.listing(columns, 20)}"
                )
            raise ValueError(
                f"{arguments.column(argument, column)} is not a column{hint} columns: {validate.listing(columns, 20)}"
                f"{_of_rows(frame, column) if argument == 'ratings' else ''}"
            )


def _of_rows(frame: pd.DataFrame, rater: str) -> str:
    """Advice on a rater who is no column, but named in one, as in a frame with one row per score."""
    for name in frame.columns:
        if isinstance(name, str) and not tabular.is_nested(frame[name]) and (frame[name] == rater).any():
            way = arguments.column("metric", name)
            return f". {rater!r} is a value of {name!r}: if each row is one score, pass {way}"
    return ""


def _metric_columns(
    frame: pd.DataFrame,
    named: list[str],
    metric: str | list[str] | None,
    place: Place,
) -> list[str]:
    """Metric columns of a wide frame: those named, or all numeric ones."""
    if metric is not None:
        metrics = validate.several("metric", metric, "a column or several")
        for column in metrics:
            known_columns(frame, {"metric": column})
        if not metrics:
            raise ValueError(f"metric must name at least one column of a wide frame, got {metric!r}")
        return metrics
    metrics, indexes = [], []
    for column in _perhaps_scores(frame, named):
        if usual.is_saved_index(column):
            indexes.append(column)
        elif pd.api.types.is_numeric_dtype(frame[column].dtype):
            metrics.append(column)
        elif _mostly_numbers(frame[column]):
            numbers(frame[column], column, place)
            metrics.append(column)
    empty = [column for column in metrics if len(frame) and frame[column].isna().all()]
    if empty and len(empty) < len(metrics):
        validate.warn(f"left out {validate.named('column', empty)}, without any value", "columns_left_out")
        metrics = [column for column in metrics if column not in empty]
    if indexes:
        validate.warn(f"left out {validate.named('column', indexes)}: apparently a saved index", "columns_left_out")
    if not metrics:
        others = [column for column in frame.columns if column not in named]
        raise ValueError(
            "a wide frame needs at least one numeric column of scores beside its labels"
            f"{_of_percentages(frame, others)}"
        )
    return metrics


def has_metrics(frame: pd.DataFrame, named: list[str]) -> bool:
    others = _perhaps_scores(frame, named)
    return any(_mostly_numbers(frame[column]) for column in others if not usual.is_saved_index(column))


def _perhaps_scores(frame: pd.DataFrame, named: list[str]) -> list[Any]:
    """The columns, besides those named and identifiers, whose cells are single values and no flags."""
    others = [column for column in frame.columns if column not in named]
    others = [column for column in others if not isinstance(column, str) or identified(column) is None]
    return [
        column
        for column in others
        if not pd.api.types.is_bool_dtype(frame[column].dtype) and not tabular.is_nested(frame[column])
    ]


def _report_constant(metrics: list[str], scores: list[FloatArray], systems: Codes) -> None:
    """Warn of metrics that are constant within each system, where some system has several scores."""
    order = np.argsort(systems, kind="stable")
    starts = np.flatnonzero(np.diff(systems[order].astype(np.intp), prepend=-1))
    constant = []
    for metric, each in zip(metrics, scores, strict=True):
        values = each[order]
        differ = np.fmax.reduceat(values, starts) > np.fmin.reduceat(values, starts)
        if not differ.any() and (np.add.reduceat(~np.isnan(values), starts, dtype=int) > 1).any():
            constant.append(metric)
    if constant:
        validate.warn(
            f"{validate.named('column', constant)} read as {'a metric' if len(constant) == 1 else 'metrics'}, with one "
            "value for each system; "
            f"name the metrics with {arguments.given('metric', several=True)} if this is wrong",
            "perhaps_no_metric",
        )


def _mostly_numbers(column: pd.Series[Any]) -> bool:
    there = column.dropna()
    return len(there) > 0 and words.parsed(there).notna().mean() >= 0.5


def _holds_verdicts(column: pd.Series[Any]) -> bool:
    """Whether the values of a column, beside missing ones, are truths."""
    return pd.api.types.infer_dtype(column, skipna=True) == "boolean"


def _as_verdicts() -> str:
    return f"holds True and False; if these are verdicts, {arguments.given('labels', ['False', 'True'])} reads them"


def _way_to_numbers(column: pd.Series[Any], name: str, wrong: IntArray) -> str:
    """What to do with texts: decimal commas, missing scores among numbers, or, if they are few, grades."""
    if _holds_verdicts(column):
        return f"; it {_as_verdicts()}"
    number = words.comma(column)
    if number is not None:
        return f"; it {_with_commas(column, number)}"
    grades = list(dict.fromkeys(each.strip() for each in column.iloc[wrong].unique() if isinstance(each, str)))
    if words.among_numbers(column) is not None or not 2 <= len(grades) <= words.FEW_GRADES:
        way = f"frame[{name!r}] = pandas.to_numeric(frame[{name!r}], errors='coerce')"
        way = way if arguments.in_python() else "empty these fields of the file"
        return f"; to treat text as missing scores: {way}"
    ordered = lowest_first(grades)
    return (
        f"; if these are grades, name them from the lowest to the highest, as {arguments.given('labels', ordered)} if "
        f"{ordered[0]!r} is the lowest and {ordered[-1]!r} the highest"
    )


def _with_commas(column: pd.Series[Any], number: str) -> str:
    python = arguments.in_python()
    read = "read the file with pandas.read_csv(..., {}=',')".format
    decimal = read("decimal") if python else "write decimals with a point"
    if not words.are_thousands(column):
        return f"holds text, numbers with decimal commas ({number!r}): {decimal}"
    thousands = f"{read('thousands') if python else 'leave the commas out'} if this is {number.replace(',', '')}"
    other = f"; {decimal} if it is {number.replace(',', '.')}" * (number.count(",") == 1)
    return f"holds text, numbers with commas ({number!r}): {thousands}{other}"


def numbers(column: pd.Series[Any], name: str, place: Place) -> np.ndarray[Any, np.dtype[np.float64]]:
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if pd.api.types.is_numeric_dtype(column.dtype):
        values = column.to_numpy(dtype=float, na_value=np.nan)
    elif column.dtype == object and kind in ("integer", "floating", "mixed-integer-float"):
        values = words.parsed(column).to_numpy(dtype=float)
    elif kind == "string" and words.are_numbers(column):  # what is left of a column with words
        values = words.parsed(column).to_numpy(dtype=float)
    else:
        wrong = np.flatnonzero((words.parsed(column).isna() & column.notna()).to_numpy())
        first = f", the first is {_at(column, wrong, place)}" if len(wrong) else ""
        percent = _holds_percentages(column)
        way = f"; {_without_percent_signs(name)}" if percent else _way_to_numbers(column, name, wrong)
        raise TypeError(f"column {name!r} must hold numbers, got dtype {column.dtype}{first}{way}")
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        raise ValueError(f"column {name!r} must hold finite numbers, the first other is {_at(column, infinite, place)}")
    return values


def _holds_percentages(column: pd.Series[Any]) -> bool:
    """Whether a column's first values have percent signs, as "85 %"."""
    values = column.dropna().iloc[:_LOOKED_AT].tolist()
    texts = [value.rstrip() for value in values if isinstance(value, str)]
    if len(texts) < len(values) or not any(text.endswith("%") for text in texts):
        return False
    return bool(words.parsed(pd.Series([text.rstrip(" %") for text in texts])).notna().all())


def _of_percentages(frame: pd.DataFrame, columns: list[str]) -> str:
    """Advice on the first column of percentages, for the end of a message."""
    first = next((column for column in columns if _holds_percentages(frame[column])), None)
    return "" if first is None else f"; {first!r} holds percentages as text: {_without_percent_signs(first)}"


def _without_percent_signs(name: str) -> str:
    way = arguments.only_in_python(f", as by frame[{name!r}].str.rstrip(' %').astype(float)")
    return f"take the percent signs off{way}"


def _at(column: pd.Series[Any], rows: np.ndarray[Any, Any], place: Place) -> str:
    return f"{reprlib.repr(column.iloc[rows[0] : rows[0] + 1].tolist()[0])} in {place(int(rows[0]))}"


def _descriptions(
    rows: dict[str, Labels], frame: pd.DataFrame, used: list[str], quiet_numbers: bool, wide: bool
) -> tuple[dict[str, tuple[str, np.ndarray[Any, Any]]], list[str], list[str]]:
    """The dim that each further column describes with its values, and texts that describe none.

    Others are reported; last come the names of those that could be scores.
    """
    described: dict[str, tuple[str, np.ndarray[Any, Any]]] = {}
    loose: list[str] = []
    texts: list[str] = []
    taken = {"metric", "score", *rows}
    for column in frame.columns:
        if column in used or usual.is_saved_index(column):
            continue
        no_label = column in taken or tabular.is_nested(frame[column])
        found = None if no_label else labels.described(frame[column], rows)
        if found is not None:
            described[str(column)] = found
        elif roles.is_text(frame[column], column):
            texts.append(str(column))
        elif not (quiet_numbers and pd.api.types.is_numeric_dtype(frame[column].to_numpy().dtype)):
            loose.append(column)
    return described, texts, _report_loose(frame, loose, wide)


def _report_loose(frame: pd.DataFrame, columns: list[Any], wide: bool) -> list[str]:
    """Warn of columns that are left out, with what they hold and how to keep them; those that could be scores."""
    if not columns:
        return []
    told = {column: _held(frame[column]) if wide else "" for column in columns}
    held = [f"{column!r} {text}" for column, text in told.items() if text]
    others = [column for column, text in told.items() if not text]
    if others:
        named = f": {validate.listing(others)}" if held else ""
        numbers = not wide and any(pd.api.types.is_numeric_dtype(frame[column].dtype) for column in others)
        hint = _OF_OUTPUTS if numbers else ""
        held.append(f"no values of a metric, system or input{named}{hint}{_of_percentages(frame, others)}")
    validate.warn(f"left out {validate.named('column', columns)}: {'; '.join(held)}", "columns_left_out")
    return [str(column) for column in columns if told[column]]


def _held(column: pd.Series[Any]) -> str:
    """What a column of texts holds that could be scores."""
    if tabular.is_nested(column) or _holds_percentages(column):  # whose way is reported elsewhere
        return ""
    if _holds_verdicts(column):
        return _as_verdicts()
    number = words.comma(column)
    if number is not None:
        return _with_commas(column, number)
    grades = words.grades(column)
    if not grades:
        texts = column[pd.to_numeric(column, errors="coerce").isna()].dropna()
        first = next((each for each in texts if isinstance(each, str) and re.search(r"\d", each)), None)
        return "" if first is None else f"holds text such as {validate.given(first)}, not numbers"
    shown = validate.listing(grades, words.FEW_GRADES)
    return f"holds text ({shown}); if these are grades, {arguments.adding('labels', several=True)}, the lowest first"


def _filled(
    rows: dict[str, Labels],
    scores: FloatArray,
    aggregate: str | Callable[..., Any] | None,
    described: dict[str, tuple[str, np.ndarray[Any, Any]]],
) -> xr.Dataset:
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
    unnamed = list(rows[SYSTEM].each) == [SYSTEM]
    of_systems = f"; no column has a usual name for the system: {arguments.naming(SYSTEM)}" if unnamed else ""
    of_raters = arguments.only_in_python(", or ratings=... and rater=... with the metric and the column of raters")
    raise ValueError(
        f"repeated {validate.counted(len(cells[0]), 'output')}, the first {len(first[0])} ({'/'.join(rows)}): "
        f"{listed}{of_systems}; {'or ' if unnamed else ''}{arguments.adding('aggregate', 'mean')}, or "
        f"{arguments.given('dims')} with the column that distinguishes them, or {arguments.given('run')} "
        f"with the column of a judge's runs{of_raters}"
    )


def _one_each(
    scores: FloatArray, cells: IntArray, metrics: IntArray, aggregate: str | Callable[..., Any] | None
) -> FloatArray:
    """One score for each cell; `cells` numbers cells by appearance, `metrics` gives each cell's metric."""
    rule: Any = _MEANS.get(aggregate, aggregate) if callable(aggregate) else aggregate
    if rule in ("mean", "median", "sum"):
        return _averaged(scores, cells, metrics, rule)
    groups = pd.DataFrame({"cell": cells, "score": scores}).groupby("cell", sort=False, as_index=False)
    return groups.agg({"score": rule})["score"].to_numpy(dtype=float)


def _averaged(scores: FloatArray, cells: IntArray, metrics: IntArray, rule: str) -> FloatArray:
    """One score for each cell, independent of the order of rows, equal where only rounding separates them."""
    order = np.argsort(scores, kind="stable")
    found = pd.Series(scores[order]).groupby(cells[order]).agg(rule).to_numpy(dtype=float, copy=True)
    sizes = pd.Series(np.abs(scores)).groupby(cells).agg("sum" if rule == "sum" else "max").fillna(0).to_numpy()
    magnitudes = np.where(np.bincount(cells) > 1, sizes, 0.0)
    for places in pd.Series(metrics).groupby(metrics, sort=False).indices.values():
        found[places] = arrays.made_equal(found[places], magnitudes[places])
    return found
