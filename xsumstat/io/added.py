"""Join further metrics to scores by system and input: `add_metric`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.core import validate
from xsumstat.core.method_synonyms import COLUMNS
from xsumstat.core.synonyms import spelt
from xsumstat.core.types import FloatArray, IntArray
from xsumstat.dataset import align, chunking, directions, facts, locate
from xsumstat.io import (
    added_files,
    cells,
    columns,
    frames,
    labels,
    mtme_names,
    recognised,
    roles,
    rows,
    score_files,
    stores,
    tabular,
)

ADDED = "added"  # the attribute that says how many rows found their output
_SUFFIXES = (*columns.TABLES, ".jsonl", score_files.SUFFIX)


@validate.public
def add_metric(
    ds: xr.Dataset,
    scores: pd.DataFrame | str | Path | object,
    *,
    on: str | Iterable[str] | Mapping[str, str] | None = None,
    metric: str | Iterable[str] | None = None,
    name: str | Iterable[str] | None = None,
    lower_is_better: str | Iterable[str] = (),
    kind: str | None = None,
) -> xr.Dataset:
    """Join a metric's scores to a Dataset by identifiers, and report how many rows matched.

    Parameters
    ----------
    ds : Dataset
        Scores; it is not changed.
    scores : DataFrame, str or Path
        One row for each output: a frame of pandas or another library, or a ``.csv``, ``.tsv``, ``.parquet``,
        ``.jsonl`` or ``.score`` file (mt-metrics-eval: lines ``SYSTEM SCORE``, inputs in the order of `ds`).
    on : str, list of str or mapping, optional
        Columns that identify an output, such as ``["model", "prompt_id"]``, or the dim or coordinate of each column:
        ``{"system": "model", "doc_id": "document"}``. Default: columns with usual names.
    metric : str or list of str, optional
        Columns of scores. Default: every other numeric column.
    name : str or list of str, optional
        Names of the metrics in the result. Default: the names of their columns, or of the ``.score`` file.
    lower_is_better : str or list of str, optional
        New metrics, by their names in the result, that are better when lower.
    kind : str, optional
        Value of the coordinate ``kind`` for the new metrics, such as "judge". Default "automatic", where it exists.

    Returns
    -------
    Dataset
        ``score(metric, system, input, ...)`` with the new metrics, NaN where no row matched; everything else is kept.
        ``attrs["added"]`` reports how many rows matched. Lazy scores (Dask) stay lazy.

    Raises
    ------
    ValueError, TypeError
        If no row matches, identifiers have another type (0 and "0"), an output has two rows, or a metric has this name
        already.

    Warns
    -----
    LeftOutWarning
        Counts the rows without an output, and the outputs without a row.

    Examples
    --------
    >>> import pandas as pd, xsumstat
    >>> frame = pd.DataFrame({"model": list("aabb"), "doc": [1, 2, 1, 2], "rouge": [0.1, 0.2, 0.3, 0.4]})
    >>> ds = frame.meta.to_scores(system="model", input="doc", wide=True)
    >>> mine = pd.DataFrame({"model": list("aabb"), "doc": [2, 1, 1, 2], "score": [5, 3, 4, 1]})
    >>> ds = xsumstat.add_metric(ds, mine, on=["model", "doc"], name="mine")
    >>> ds.score.sel(metric="mine", system="a").values.tolist(), ds.attrs["added"]
    ([3.0, 5.0], 'mine: 4 of 4 rows matched')
    """
    score = locate.checked_scores(ds)
    frame, path = _read(ds, scores)
    if path is not None and added_files.is_scores(path):
        added_files.check_keywords(path, on, metric)
        on, path = ["system", "input"], None
    keys = _keys(ds, score, frame, on)
    if path is not None:  # whose labels are text, as 007
        frame = frames.table(path, list(keys.values()))[0]
    names = _names(_columns(frame, keys, metric), name, list(score.indexes["metric"]))
    match = _matched(ds, score, frame, keys, as_text=path is not None)
    values = [rows.numbers(frame[column], column, "row {}".format) for column in names.values()]
    new = _laid_out(score, match, list(names), np.array(values))
    kind_of_new = {"kind": "automatic" if kind is None else validate.text("kind", kind)}
    told = {label: {**each, **kind_of_new} for label, each in added_files.described(ds, names).items()}
    found = with_metrics(ds, score, new, told, kinds=kind is not None)
    lower = validate.several("lower_is_better", lower_is_better, "a metric or several")
    for label in lower:
        validate.known("metric in lower_is_better", label, list(names), "new metrics")
    found = directions.declare(found, lower, "lower_is_better") if lower else found
    said = _said(score, match, list(names), _own_references(told))
    return found.assign_attrs({ADDED: "; ".join(filter(None, [str(ds.attrs.get(ADDED, "")), said]))})


def with_metrics(
    ds: xr.Dataset, score: xr.DataArray, new: xr.DataArray, about: Mapping[Hashable, Mapping[str, Any]], kinds: bool
) -> xr.Dataset:
    """A Dataset with further metrics `new` and their descriptions."""
    bare = align.without_coords(score)
    whole = xr.concat(
        [bare, new.broadcast_like(bare.isel(metric=0, drop=True)).transpose(*bare.dims)],
        "metric",
        join="outer",
        compat="override",
        coords="minimal",
    )
    beside = ds.drop_vars(["score", *(each for each in ds.coords if each not in ds.dims)])
    found = beside.reindex(metric=whole.indexes["metric"]).assign(score=whole)
    return found.assign_coords(_descriptions(ds, list(score.indexes["metric"]), about, kinds))


def _descriptions(
    ds: xr.Dataset, metrics: list[Hashable], about: Mapping[Hashable, Mapping[str, Any]], kinds: bool
) -> dict[str, Any]:
    coords: dict[str, Any] = {}
    for each, coord in ds.coords.items():
        if coord.dims == ("metric",) and each != "metric":
            new = [{directions.NAME: True, **told}.get(str(each)) for told in about.values()]
            dtype: Any = bool if coord.dtype == bool else float if coord.dtype.kind in "fiu" else object
            coords[str(each)] = "metric", np.array([*_values(coord).tolist(), *new], dtype=dtype)
        elif each not in ds.dims and "metric" not in coord.dims:
            coords[str(each)] = coord.variable
    if "kind" not in ds.coords and kinds:
        told = [each.get("kind") for each in about.values()]
        coords["kind"] = "metric", np.array([*["automatic"] * len(metrics), *told], dtype=object)
    return coords


def _own_references(told: Mapping[Hashable, Mapping[str, Any]]) -> set[str]:
    """The references that all new metrics have, and so need not score as systems."""
    return set.intersection(*(set(mtme_names.parted(each["reference"])) for each in told.values()))


def _read(ds: xr.Dataset, scores: Any) -> tuple[pd.DataFrame, Path | None]:
    """The frame, and the path of a file of text, whose labels have no types."""
    if not isinstance(scores, str | Path):
        if isinstance(scores, pd.Series):
            scores = scores.to_frame("score" if scores.name is None else scores.name)
        if not tabular.is_frame(scores):
            raise TypeError(f"scores must be a frame or the path of a table, got {type(scores).__name__}")
        return rows.prepared(tabular.as_pandas(scores), None), None
    path = Path(scores)
    suffix = path.suffix.lower()
    if not path.exists():
        raise stores.no_such(path)
    if suffix not in _SUFFIXES:
        raise ValueError(f"scores must be a table ({', '.join(_SUFFIXES)}), got {path.name}")
    if added_files.is_scores(path):
        return added_files.rows_of(ds, path), path
    if suffix == ".jsonl":
        return rows.prepared(recognised.File(path).records, None), None
    with stores.reading(path):
        return frames.table(path, [])[0], None if suffix == ".parquet" else path


def _keys(ds: xr.Dataset, score: xr.DataArray, frame: pd.DataFrame, on: Any) -> dict[str, str]:
    dims = [str(dim) for dim in score.dims if dim != "metric"]
    if isinstance(on, Mapping):
        keys = {str(dim): column for dim, column in on.items()}
    elif on is None:
        found = roles.of(frame)
        usual = {"system": found.system, "input": found.input}
        keys = {dim: dim if dim in frame.columns else usual.get(dim) or "" for dim in dims}
        keys = {dim: column for dim, column in keys.items() if column}
    else:
        columns = [validate.text("on", column) for column in validate.several("on", on, "a column or several")]
        keys = {_dim_of(ds, dims, column): column for column in columns}
    rows.known_columns(
        frame, {f"on[{dim!r}]" if isinstance(on, Mapping) else "on": column for dim, column in keys.items()}
    )
    covered = [_along(ds, dims, key) for key in keys]
    validate.unique("on", covered)
    for dim in facts.CELLS:
        if dim not in covered and score.sizes[dim] > 1:
            named = validate.listing(frame.columns, 20)
            raise ValueError(
                f"scores has no column of {dim}s, and ds has {score.sizes[dim]:,}: pass "
                f"on={{'system': ..., 'input': ...}}; columns: {named}"
            )
    return keys


def _dim_of(ds: xr.Dataset, dims: list[str], column: str) -> str:
    described = [str(name) for name, coord in ds.coords.items() if coord.ndim == 1 and coord.dims[0] in dims]
    if column in dims or column in described:
        return column
    usual = [dim for dim in facts.CELLS if spelt(str(column)) in COLUMNS[dim]]
    if len(usual) != 1:
        raise ValueError(
            f"on={column!r} names neither a dim nor a coordinate of ds: say what it holds, as in "
            f"on={{'input': {column!r}}}; dims and coordinates: {validate.listing([*dims, *described], 20)}"
        )
    return usual[0]


def _along(ds: xr.Dataset, dims: list[str], key: str) -> str:
    """The dim of a key: a dim itself, or a coordinate that identifies its labels."""
    if key in dims:
        return key
    coord = ds.coords.get(key)
    if coord is None or coord.ndim != 1 or coord.dims[0] not in dims:
        raise ValueError(
            f"on names {key!r}, which is neither a dim nor a coordinate of ds; dims: {validate.listing(dims)}"
        )
    labels = pd.Index(_values(coord))
    if not labels.is_unique:
        twice = labels[labels.duplicated()][0]
        raise ValueError(
            f"the coordinate {key!r} does not identify {coord.dims[0]}s: several are {twice!r}; use another in on="
        )
    return str(coord.dims[0])


def _values(coord: xr.DataArray) -> Any:
    return coord.compute(scheduler="synchronous").values if chunking.is_lazy(coord) else coord.values


def _columns(frame: pd.DataFrame, keys: Mapping[str, str], metric: Any) -> list[str]:
    if metric is not None:
        columns_of = validate.several("metric", metric, "a column or several")
        for column in columns_of:
            rows.known_columns(frame, {"metric": column})
        return [str(column) for column in columns_of]
    found = roles.of(frame)
    if found.tidy and {found.metric, found.value} <= set(frame.columns):
        index = list(keys.values())
        raise ValueError(
            f"scores has one row for each score of a metric ({found.metric!r}); pass one row for each output: "
            f"frame.pivot(index={index!r}, columns={found.metric!r}, values={found.value!r}).reset_index()"
        )
    flags = [name for name in frame.columns if pd.api.types.is_bool_dtype(frame[name].dtype)]
    names = [name for name in frame.columns if name in {*found.metrics, *found.raters, *flags, found.rated}]
    names = [str(name) for name in names if name not in keys.values()]
    if not names:
        raise ValueError(f"scores has no column of numbers beside {validate.listing(keys.values())}")
    return names


def _names(taken: list[str], name: Any, known: list[Hashable]) -> dict[Hashable, str]:
    names = taken if name is None else validate.several("name", name, "a metric's name or several")
    if len(names) != len(taken):
        raise ValueError(
            f"name has {validate.counted(len(names), 'name')} for {validate.counted(len(taken), 'column')} of "
            f"scores: {validate.listing(taken)}; "
            "metric=[...] chooses columns"
        )
    for label in names:
        validate.label("name", label)
        if label in known:
            raise ValueError(
                f"there is a metric {label!r} in the scores already: pass name= to call the new one otherwise, or "
                "metric=[...] to leave its column out"
            )
    validate.unique("name", names)
    return dict(zip(names, taken, strict=True))


@dataclass(frozen=True)
class _Match:
    """Where the rows of a frame belong: `places` by dim, -1 for none; matching `rows`; examples of unknown ones."""

    places: dict[str, IntArray]
    rows: IntArray
    n_rows: int
    unknown: list[str]

    def cells(self) -> tuple[IntArray, ...]:
        return tuple(each[self.rows] for each in self.places.values())


def _matched(
    ds: xr.Dataset, score: xr.DataArray, frame: pd.DataFrame, keys: Mapping[str, str], as_text: bool
) -> _Match:
    """The output of each row; raises if two rows have the same one."""
    dims = [str(dim) for dim in score.dims if dim != "metric"]
    places = {}
    for key, column in keys.items():
        lacking = np.flatnonzero(frame[column].isna().to_numpy())
        if len(lacking):
            labels.refuse_rows(lacking, key, column, "row {}".format)
        places[_along(ds, dims, key)] = _of_labels(pd.Index(_values(ds[key])), frame[column], key, as_text)
    for dim in facts.CELLS:
        places.setdefault(dim, np.zeros(len(frame), dtype=np.int64))
    places = {dim: places[dim] for dim in dims if dim in places}
    known = np.logical_and.reduce([each >= 0 for each in places.values()])
    texts = frame[list(keys.values())].astype(str).agg("/".join, axis=1) if len(frame) else pd.Series(dtype=str)
    if not known.any():
        both = "; ".join(f"{key}: {validate.listing(_values(ds[key]).tolist(), 2)}" for key in keys)
        raise ValueError(
            f"no row matches an output: the rows have {validate.listing(texts, 2)}, the scores {both}"
            f"{_meant_coordinates(ds, frame, keys)}"
        )
    match = _Match(places, np.flatnonzero(known), len(frame), texts[~known].tolist()[:3])
    twice = pd.DataFrame(dict(enumerate(match.cells()))).duplicated().to_numpy()
    if twice.any():
        columns_of = list(keys.values())
        raise ValueError(
            f"{validate.counted(int(twice.sum()), 'row')} with an output of an earlier row, the first "
            f"{texts.iloc[match.rows[twice][0]]!r}: keep one, as by frame.drop_duplicates({columns_of!r}), "
            f"or average them by frame.groupby({columns_of!r}, as_index=False).mean(numeric_only=True)"
        )
    return match


def _meant_coordinates(ds: xr.Dataset, frame: pd.DataFrame, keys: Mapping[str, str]) -> str:
    """What to pass instead where a column has the labels of another coordinate of the same dim; else empty."""
    meant = dict(keys)
    for key, column in keys.items():
        theirs = set(frame[column].tolist())
        if ds[key].dims != (key,) or theirs & set(_values(ds[key]).tolist()):
            continue
        others = (str(name) for name, values in ds.coords.items() if name != key and values.dims == (key,))
        other = next((name for name in others if theirs & set(_values(ds[name]).tolist())), None)
        if other is not None:
            meant = {other if name == key else name: each for name, each in meant.items()}
    return "" if list(meant) == list(keys) else f"; pass on={meant!r}, whose coordinates have these labels"


def _of_labels(ours: pd.Index, column: pd.Series[Any], key: str, as_text: bool) -> IntArray:
    """Place of each row's label in `ours`, -1 for none; raises for labels of another type."""
    theirs = pd.Index(column)
    texts = [pd.Index([str(label) for label in each]) for each in (ours, theirs)]
    cells.report_alike({key: [*texts[0], *texts[1].unique().difference(texts[0])]})
    of_text: IntArray = np.asarray(texts[0].get_indexer(texts[1]) if texts[0].is_unique else np.full(len(theirs), -1))
    if as_text:
        return of_text
    found: IntArray = np.asarray(ours.get_indexer(theirs))
    if (found < 0).all() and (of_text >= 0).any():
        is_text = isinstance(ours[0], str)
        raise ValueError(
            f"no row matches, as the {key}s of the scores are {'text' if is_text else 'numbers'} "
            f"({validate.listing(ours, 2)}) and column {column.name!r} holds {'numbers' if is_text else 'text'} "
            f"({validate.listing(theirs.unique(), 2)}): make them one type, as by "
            f"frame.astype({{{column.name!r}: {'str' if is_text else repr(ours.dtype.name)}}})"
        )
    return found


def _laid_out(score: xr.DataArray, match: _Match, names: list[Hashable], values: FloatArray) -> xr.DataArray:
    dims = list(match.places)
    cube = np.full((len(names), *(score.sizes[dim] for dim in dims)), np.nan)
    for row, each in zip(cube, values[:, match.rows], strict=True):
        row[match.cells()] = each
    return xr.DataArray(cube, {"metric": names, **{dim: score.indexes[dim] for dim in dims}}, ("metric", *dims))


def _said(score: xr.DataArray, match: _Match, names: list[Hashable], references: set[str]) -> str:
    """The number of matching rows in words; warns of unmatched rows or outputs, except own references."""
    said = f"{', '.join(map(str, names))}: {len(match.rows):,} of {match.n_rows:,} rows matched"
    texts = []
    if len(match.rows) < match.n_rows:
        texts.append(
            f"{validate.counted(match.n_rows - len(match.rows), 'row')} without an output in the scores, e.g. "
            f"{', '.join(match.unknown)}"
        )
    if not chunking.is_lazy(score):
        dims = list(match.places)
        there = score.notnull().any([dim for dim in score.dims if dim not in dims]).transpose(*dims).values
        lacking = there.copy()
        lacking[match.cells()] = False
        if references and "system" in dims:
            own = [at for at, system in enumerate(score["system"].values) if system in references]
            lacking[(slice(None),) * dims.index("system") + (own,)] = False
        if lacking.any():
            first = [cells.output_name(score, dims, place) for place in np.argwhere(lacking)[:3]]
            texts.append(f"{int(lacking.sum()):,} of {int(there.sum()):,} outputs have no row, e.g. {', '.join(first)}")
    if texts:
        validate.warn("; ".join([said, *texts]), "scores_left_out")
    return said
