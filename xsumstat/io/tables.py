"""Tables in text files; rows with another number of fields than the header are named by line."""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pandas as pd

from xsumstat.core import validate

EMPTY = "it is empty: its first line must name the columns"
_LINES = 1000  # by which decimal commas are known
_LONGEST_FIELD = 2**31 - 1  # a column may hold whole documents


def separator_of(path: Path) -> str:
    return "\t" if path.suffix.lower() == ".tsv" else ","


def read(path: Path, labels: Collection[str]) -> tuple[pd.DataFrame, list[int]]:
    """A table, with the columns in `labels` as text (a system may be called NA), and the line of each row."""
    lines = _checked_lines(path)
    frame = parsed(path)
    texts = parsed(path, dtype=str, keep_default_na=False, usecols=lambda name: str(name).strip() in labels)
    if len(frame) != len(lines):
        raise ValueError(f"it has {len(lines)} rows by its quotes and line ends, and pandas finds {len(frame)}")
    for name in texts.columns:
        frame[name] = texts[name].astype(object)
    bare = [name.strip() for name in frame.columns]
    changed = [name for name, other in zip(frame.columns, bare, strict=True) if name != other]
    if changed:
        validate.warn(
            f"{path.name}: blanks around columns' names are left out: {validate.listing(changed)}", "labels_trimmed"
        )
    return frame.set_axis(bare, axis=1), lines


def parsed(path: Path, **options: Any) -> pd.DataFrame:
    options |= {"sep": separator_of(path), "encoding": "utf-8-sig", "index_col": False, "low_memory": False}
    frame: pd.DataFrame = pd.read_csv(path, **options)
    return frame


def _checked_lines(path: Path) -> list[int]:
    """Line where each row starts, after a check of the number of fields."""
    starts, separator = [], separator_of(path)
    header: list[str] | None = None
    limit = csv.field_size_limit(_LONGEST_FIELD)
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.reader(stream, delimiter=separator)
            start = 1
            for row in rows:
                if not _is_blank(row):
                    check_text(start, row)
                    if header is None:
                        header = row
                        _check_header(start, header, path)
                    else:
                        _check_row(start, row, header, separator)
                        starts.append(start)
                start = rows.line_num + 1
    except csv.Error as error:
        raise ValueError(f"line {start}: {error}") from error
    finally:
        csv.field_size_limit(limit)
    if not starts:
        raise ValueError("it has a header and no rows" if header else EMPTY)
    return starts


def _is_blank(row: list[str]) -> bool:
    return not row or (len(row) == 1 and not row[0].strip())


def check_separator(header: list[str], path: Path) -> None:
    if len(header) == 1 and ";" in header[0]:
        decimal = ", decimal=','" if _has_decimal_commas(path) else ""
        new = path.with_name(f"{path.stem}-commas.csv").name
        raise ValueError(
            f"it has one column, {validate.given(header[0])}: its columns are separated with semicolons"
            f"{' and its decimals with commas' * bool(decimal)}. Write it anew in Python: pandas.read_csv("
            f"{path.name!r}, sep=';'{decimal}).to_csv({new!r}, index=False)"
        )


def _has_decimal_commas(path: Path) -> bool:
    """Whether a field of the first lines, which semicolons separate, is a number with a decimal comma."""
    with path.open(encoding="utf-8-sig", errors="replace") as stream:
        fields = itertools.chain.from_iterable(line.split(";") for line in itertools.islice(stream, _LINES))
        return any(re.fullmatch(r'"?[+-]?\d+,\d+"?', field.strip()) for field in fields)


def check_text(line: int, row: list[str]) -> None:
    if any("\0" in cell for cell in row):
        raise ValueError(
            f"line {line}: it holds a NUL character, which no text has: save the file as UTF-8, without such characters"
        )


def _check_header(line: int, header: list[str], path: Path) -> None:
    check_separator(header, path)
    twice = [name for name, count in Counter(each.strip() for each in header).items() if name and count > 1]
    if twice:
        raise ValueError(f"line {line}: the header has {validate.listing(twice)} more than once")


def _check_row(line: int, row: list[str], header: list[str], separator: str) -> None:
    fields, columns = len(row), len(header)
    if fields == columns:
        return
    if fields == columns + 1 and not row[-1].strip():
        why = "; is there a separator at its end?"
    elif fields > columns and separator == ",":
        why = "; quote fields that hold a comma, and write decimals with a point"
    else:
        why = ""
    raise ValueError(f"line {line}: {validate.counted(fields, 'field')}, but the header has {columns}{why}")
