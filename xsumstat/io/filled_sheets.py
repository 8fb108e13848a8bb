"""The file that raters filled: each row is one output, and no output is there twice."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from xsumstat.core import extras, validate
from xsumstat.dataset import drawn, facts, text_attrs
from xsumstat.io import columns as usual
from xsumstat.io import frames, recognised, rows, stores, texts
from xsumstat.io.rating_sheets import SUFFIXES

READ = (*SUFFIXES, ".parquet")


@dataclass(frozen=True)
class Sheet:
    """A filled file: columns of system, input and perhaps rater, and of ratings (empty if names do not show them)."""

    frame: pd.DataFrame
    labels: dict[str, str]
    columns: list[str]


def read(path: Path, ds: xr.Dataset, name: str, scale: Sequence[str], lowest: int) -> Sheet:
    """A filled file, each row an output of the scores."""
    if not path.exists():
        raise stores.no_such(path)
    if path.suffix.lower() not in READ:
        raise ValueError(f"human must be a table ({', '.join(READ)}), got {path.name}")
    frame = _table(path)
    names = [str(each) for each in frame.columns]
    found = usual.of_labels(names, path.name)
    labels = list(found.values())
    _check_rows(ds, frame, found, path.name)
    columns = _filled(ds, names, name, labels)
    if columns:
        frame = frame[[*labels, *columns]]
        frame = texts.coded(frame, scale, labels, columns, lowest=lowest) if scale else frame
        frame = frame.assign(**{each: _numbers(frame[each], path.name, bool(scale)) for each in columns})
        if not frame[columns].notna().any(axis=None):
            raise ValueError(f"{path.name} has no rating: {validate.listing(columns)} is empty in all rows")
    return Sheet(frame, found, columns)


def _table(path: Path) -> pd.DataFrame:
    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        return _of_workbook(path)
    if suffix == ".jsonl":
        return rows.prepared(recognised.File(path).records, None)
    with stores.reading(path):
        names = usual.header(path)
        labels = [usual.recognised(names, field) for field in (*facts.CELLS, "rater")]
        frame, _ = frames.table(path, [each for each in labels if each is not None])
    return frame


def _of_workbook(path: Path) -> pd.DataFrame:
    openpyxl = extras.optional("openpyxl", "data")
    try:
        page = openpyxl.load_workbook(io.BytesIO(path.read_bytes()), read_only=True, data_only=True).worksheets[0]
        found = [row for row in page.iter_rows(values_only=True) if any(cell is not None for cell in row)]
    except Exception as error:  # openpyxl lets through what zipfile and its parser of XML raise
        raise ValueError(f"cannot read {path.name} as .xlsx: {error or type(error).__name__}") from error
    if len(found) < 2:
        raise ValueError(f"{path.name} has no rows below a header on its first page")
    width = max(at + 1 for at, cell in enumerate(found[0]) if cell is not None)
    header = [str(cell).strip() if cell is not None else "" for cell in found[0][:width]]
    validate.unique(f"the header of {path.name}", header)
    return pd.DataFrame([row[:width] for row in found[1:]], columns=header).infer_objects()


def _check_rows(ds: xr.Dataset, frame: pd.DataFrame, found: dict[str, str], file: str) -> None:
    """Every row belongs to a system and input of the scores, and is there once."""
    for dim in facts.CELLS:
        if dim not in ds.indexes:
            raise ValueError(f"the scores have no labels along {dim!r}, by which ratings could find their outputs")
        known = {str(label) for label in ds.indexes[dim]}
        texts_of = frame[found[dim]].map(str)
        unknown = texts_of[~texts_of.isin(known)]
        if len(unknown):
            first, row = unknown.iloc[0], int(unknown.index[0]) + 1
            raise ValueError(
                f"{file}: {validate.counted(unknown.nunique(), f'{dim} label')} without scores, e.g. {first!r} "
                f"(row {row}){validate.suggestion(first, sorted(known))} "
                f"{dim}s: {validate.listing(ds.indexes[dim], 3)}"
            )
    outputs: Any = frame[list(found.values())].map(str)
    twice = outputs.duplicated()
    if twice.any():
        at = int(outputs.index[twice][0])
        raise ValueError(
            f"{file}: {validate.counted(int(twice.sum()), 'repeated output')}, e.g. "
            f"{'/'.join(outputs.loc[at])} (row {at + 1}); keep one row of each output, or add a column that names the "
            "rater"
        )


def _filled(ds: xr.Dataset, names: list[str], name: str, labels: list[str]) -> list[str]:
    """The columns that raters fill, as `sample_inputs` wrote them, or the one called as the new metric."""
    wanted = list(text_attrs.listed(ds, drawn.COLUMNS))
    if wanted and all(each in names for each in wanted):
        return wanted
    return [name] if name in names and name not in labels else []


def _numbers(values: pd.Series[Any], file: str, coded: bool) -> pd.Series[Any]:
    """Ratings as numbers; an empty cell is no rating."""
    there = values.notna() & (values.map(lambda each: str(each).strip()) != "")
    found = pd.to_numeric(values.where(there), errors="coerce")
    wrong = there & found.isna()
    if wrong.any():
        at = int(wrong.index[wrong][0])
        way = "" if coded else '; of texts such as "fail" and "pass" give labels=["fail", "pass"]'
        raise ValueError(
            f"{file}: column {values.name!r} has {values.loc[at]!r} in row {at + 1}, which is not a number; decimals "
            f"need a point, and an output without a rating an empty cell{way}"
        )
    return found.astype(float)
