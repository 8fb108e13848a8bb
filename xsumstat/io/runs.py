"""Several runs of a judge in a frame: the column that says which run a row belongs to becomes the dim `run`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from xsumstat.core import validate
from xsumstat.core.method_synonyms import COLUMNS
from xsumstat.core.synonyms import spelt
from xsumstat.core.types import BoolArray, IntArray
from xsumstat.io import roles, rows
from xsumstat.io.labels import Place
from xsumstat.io.ratings import VALUES

RUN = "run"


def named(frame: pd.DataFrame, run: str | None, dims: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """The frame, whose column of runs is called "run", and the further dims with it; both as they are without runs."""
    if run is None:
        return frame, dims
    rows.known_columns(frame, {RUN: run})
    if run in dims:
        raise ValueError(f"run={run!r} is in dims too; name the column in run= alone")
    if run != RUN:
        if RUN in frame.columns:
            raise ValueError(f"run={run!r} becomes the dim 'run', but the frame has a column 'run' too; rename it")
        frame = frame.rename(columns={run: RUN})
    if _blank(frame[RUN]).all():
        raise ValueError(f"no row has a run (column {run!r})")
    return frame.assign(**{RUN: _whole(frame[RUN])}), [*dims, RUN]


def recognised(frame: pd.DataFrame) -> str | None:
    """A column with a usual name of runs, where rows of one output differ by it."""
    for name in frame.columns:
        if isinstance(name, str) and spelt(name) in COLUMNS[RUN] and not _blank(frame[name]).all():
            found = roles.of(first(frame, name))
            keys = [found.system, found.input, *([found.metric] if found.tidy else []), found.rater]
            named = [key for key in keys if key is not None]
            if named and frame.duplicated(named).any():
                return name
    return None


def first(frame: pd.DataFrame, run: str) -> pd.DataFrame:
    """The rows of one run and those without a run, without the column of runs: by them other columns are recognised."""
    rows.known_columns(frame, {RUN: run})
    blank = _blank(frame[run])
    there = frame[run].loc[~blank]
    kept = blank | (frame[run] == there.iloc[0]).to_numpy() if len(there) else blank
    return frame.loc[kept].drop(columns=run)


def in_every_run(frame: pd.DataFrame, place: Place) -> tuple[pd.DataFrame, Place]:
    """A tidy frame whose rows without a run, as of a metric without runs, are repeated in every run."""
    if RUN not in frame.columns:
        return frame, place
    blank = _blank(frame[RUN])
    labels = frame[RUN].loc[~blank].unique()
    if not blank.any() or not len(labels):
        return frame, place
    at = np.arange(len(frame))
    kept, repeated = at[~blank], np.repeat(at[blank], len(labels))
    order = np.concatenate([kept, repeated])
    own = [*frame[RUN].iloc[kept], *np.tile(labels, int(blank.sum()))]
    whole = frame.iloc[order].assign(**{RUN: pd.Series(own, dtype=frame[RUN].dtype).to_numpy()})
    return whole.reset_index(drop=True), lambda row: place(int(order[row]))


def of_outputs(ratings: pd.DataFrame) -> IntArray | None:
    """The rows that have each rating once, where ratings are the same in every run; None where they are not."""
    keys = [name for name in ratings.columns if name not in (RUN, VALUES)]
    if ratings.duplicated([*keys, RUN]).any():
        return None
    there = ratings[VALUES].notna().to_numpy()
    differ = ratings[there].groupby(keys, sort=False, dropna=False)[VALUES].nunique() > 1
    if n := int(differ.sum()):
        validate.warn(
            f"{validate.counted(n, 'rating')} {'differs' if n == 1 else 'differ'} between runs of a judge, as after a "
            "wrong merge; the mean over runs is used",
            "averaged",
        )
        return None
    order = np.argsort(~there, kind="stable")  # rows with a rating come first
    return np.sort(order[~ratings.iloc[order].duplicated(keys).to_numpy()])


def _blank(column: pd.Series[Any]) -> BoolArray:
    empty = column.map(lambda label: isinstance(label, str) and not label.strip()).to_numpy(dtype=bool)
    return np.asarray(column.isna().to_numpy() | empty)


def _whole(column: pd.Series[Any]) -> pd.Series[Any]:
    """Numbers of runs as whole numbers, which a column with blanks cannot hold."""
    if column.dtype.kind != "f" or not column.isna().any():
        return column
    there = column.dropna()
    if not (there == there.round()).all():
        return column
    labels = [label if np.isnan(label) else int(label) for label in column]
    return pd.Series(labels, index=column.index, dtype=object)
