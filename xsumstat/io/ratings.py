"""Ratings by several raters among the scores of a frame."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.core import arguments, validate
from xsumstat.dataset import align, directions
from xsumstat.io import far_ratings
from xsumstat.io.cells import values_along
from xsumstat.io.labels import Place
from xsumstat.io.roles import MEAN

VARIABLE = "rating"
RATER = "rater"
# Columns of the rows of ratings, which no user's column is called.
VALUES = "_rating"
METRIC = "_metric"


@dataclass(frozen=True)
class Split:
    """Rows of a frame that are ratings, rows that are scores, and the names of rows."""

    ratings: pd.DataFrame
    place_of_rating: Place
    scores: pd.DataFrame
    place_of_score: Place


def check(ratings: Any, rater: Any, labels: list[str]) -> list[str]:
    """The metrics that are ratings, as a list; `labels` are the columns of system, input and further dims."""
    if RATER in labels and rater != RATER:
        raise ValueError(
            "the column 'rater' names a system, input or additional dim: with ratings= the dim 'rater' is theirs"
        )
    names = validate.several("ratings", ratings, "a metric or column, or several")
    if not names or not all(isinstance(name, Hashable) for name in names):
        raise ValueError(f"{arguments.name('ratings')} must name at least one metric or column, got {ratings!r}")
    if rater is not None and len(names) > 1:
        raise ValueError(
            f"{arguments.name('ratings')} must name one metric or column where rater={rater!r} says who rated, "
            f"got {names!r}"
        )
    validate.unique("ratings", names)
    return names


def split_wide(frame: pd.DataFrame, names: list[str], rater: str | None, labels: list[str], place: Place) -> Split:
    """Split a frame with one column per metric; `labels` are the columns of system, input and further dims."""
    if rater is None:
        long = frame[[*labels, *names]].melt(labels, var_name=RATER, value_name=VALUES)
        rows = np.tile(np.arange(len(frame)), len(names))
        scores = frame.drop(columns=names)
        return Split(long.assign(**{METRIC: MEAN}), at_rows(rows, place), scores, place)
    there = np.flatnonzero(frame[rater].notna().to_numpy())
    long = _renamed(frame.iloc[there][[*labels, rater, *names]], rater, names[0])
    scores = frame.drop(columns=[rater, *names])
    numbers = [name for name in scores.columns if pd.api.types.is_numeric_dtype(scores[name].dtype)]
    # Each rater's row repeats the scores of the output.
    kept = np.flatnonzero(~scores.duplicated(list(dict.fromkeys([*labels, *numbers]))).to_numpy())
    return Split(long, at_rows(there, place), scores.iloc[kept], at_rows(kept, place))


def split_tidy(
    frame: pd.DataFrame, names: list[str], rater: str | None, labels: list[str], metric: str, value: str, place: Place
) -> Split:
    known = list(frame[metric].unique())
    for name in names:
        validate.known("metric in ratings", name, known, "metrics")
    mask = frame[metric].isin(names).to_numpy()
    people, others = np.flatnonzero(mask), np.flatnonzero(~mask)
    who = metric if rater is None else rater
    long = _renamed(frame.iloc[people][[*labels, who, value]], who, value)
    scores = frame.iloc[others]
    return Split(
        long, at_rows(people, place), scores if rater is None else scores.drop(columns=rater), at_rows(others, place)
    )


def _renamed(frame: pd.DataFrame, rater: str, value: str) -> pd.DataFrame:
    return frame.rename(columns={rater: RATER, value: VALUES}).assign(**{METRIC: MEAN})


def at_rows(rows: np.ndarray[Any, Any], place: Place) -> Place:
    """What rows are called that are some of those that a place knows."""
    return lambda row: place(int(rows[row]))


def joined(scores: xr.Dataset | None, ratings: xr.DataArray, mean: xr.DataArray) -> xr.Dataset:
    """Scores with the ratings, and with the raters' mean as a metric, on the union of labels."""
    far_ratings.report(ratings)
    if scores is None:
        ds = mean.to_dataset(name="score")
    else:
        if MEAN in scores.indexes["metric"]:
            raise ValueError(
                f"there is a metric {MEAN!r} beside the ratings, whose mean takes this name: name it in ratings, "
                "or rename it"
            )
        dims = [dim for dim in mean.dims if dim != "metric"]
        labels = {dim: _union(scores.indexes[dim], mean.indexes[dim]) for dim in dims}
        ds = scores.reindex(labels)
        runs = {dim: scores.indexes[dim] for dim in scores["score"].dims if dim not in mean.dims}
        whole = xr.concat(
            [align.without_coords(ds["score"]), mean.reindex(labels).expand_dims(runs)],
            "metric",
            coords="minimal",
            compat="override",
            join="outer",
        )
        metrics = whole.indexes["metric"]
        ds = ds.drop_vars("score").reindex(metric=metrics).assign(score=whole.transpose(*scores["score"].dims))
    ds = ds.assign({VARIABLE: ratings.reindex({dim: ds.indexes[dim] for dim in ratings.dims if dim in ds.indexes})})
    kinds = pd.Series(np.where(ds.indexes["metric"] == MEAN, "human", "automatic"), dtype=object)
    given = None if scores is None else values_along(scores, directions.NAME, "metric")
    if scores is not None and given is not None:  # which `reindex` would turn into numbers
        stated = dict(zip(scores.indexes["metric"], given, strict=True))
        better = [stated.get(label, True) for label in ds.indexes["metric"]]
        ds = ds.assign_coords({directions.NAME: ("metric", better)})
    known = values_along(ds, "kind", "metric")
    if known is not None:
        kinds = kinds.where(kinds == "human", pd.Series(known, dtype=object))
    return ds.assign_coords(kind=("metric", kinds.to_numpy()))


def _union(ours: pd.Index, theirs: Iterable[Any]) -> pd.Index:
    return ours.append(pd.Index([label for label in theirs if label not in ours], dtype=ours.dtype))
