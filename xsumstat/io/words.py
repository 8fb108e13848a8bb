"""Columns of texts where scores could be: grades in words, and numbers with decimal commas."""

from __future__ import annotations

import math
import re
import sys
from typing import Any

import pandas as pd

LOOKED_AT = 1000  # values by which a column is known
FEW_GRADES = 7  # a column with more words than these is no column of grades
_LARGEST_FLOAT = sys.float_info.max
_COMMA = re.compile(r"[+-]?\d*,\d+")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")


def grades(column: pd.Series[Any]) -> list[str]:
    """The words of a column that may be grades, as there are few; none for other columns."""
    found = _texts(column)
    return found if 2 <= len(found) <= FEW_GRADES and all(re.search(r"[^\W\d]", each) for each in found) else []


def comma(column: pd.Series[Any]) -> str | None:
    """The first number with a comma, where a column holds such numbers and other numbers alone."""
    found = _texts(column)
    first = next((each for each in found if _has_comma(each)), None)
    return first if all(_has_comma(each) or re.fullmatch(r"[+-]?\d+", each) for each in found) else None


def _has_comma(text: str) -> bool:
    return bool(_COMMA.fullmatch(text) or _THOUSANDS.fullmatch(text))


def are_thousands(column: pd.Series[Any]) -> bool:
    """Whether all commas of a column of numbers with commas can separate thousands, as in "1,024"."""
    return all(_THOUSANDS.fullmatch(each) for each in _texts(column) if "," in each)


def parsed(column: pd.Series[Any]) -> pd.Series[Any]:
    """A column as floats: NaN for non-numbers, infinity on overflow."""
    try:
        return pd.to_numeric(column, errors="coerce")
    except OverflowError:
        return pd.to_numeric(column.map(_within_floats), errors="coerce")


def are_numbers(column: pd.Series[Any]) -> bool:
    """Whether every value of a column is a number written as text."""
    there = column.dropna()
    texts = len(there) > 0 and all(isinstance(each, str) for each in there)
    return texts and bool(parsed(there).notna().all())


def written(label: Any) -> str:
    """A label as it is written in a file or a command: 2 for 2.0."""
    return f"{label:g}" if isinstance(label, float) else str(label)


def _within_floats(value: Any) -> Any:
    if isinstance(value, int) and abs(value) > _LARGEST_FLOAT:
        return math.inf if value > 0 else -math.inf
    return value


def among_numbers(column: pd.Series[Any]) -> str | None:
    """The first text of a column that mostly holds numbers, as "I cannot grade this"; None for other columns."""
    if not pd.api.types.is_object_dtype(column.dtype) and not pd.api.types.is_string_dtype(column.dtype):
        return None
    there = column.dropna().head(LOOKED_AT)
    numbers = parsed(there).notna()
    if not len(there) or numbers.all() or numbers.mean() < 0.5 or comma(column) is not None:
        return None
    return str(there[~numbers].iloc[0])


def _texts(column: pd.Series[Any]) -> list[str]:
    there = column.dropna().head(LOOKED_AT).unique().tolist()
    return [each.strip() for each in there] if all(isinstance(each, str) for each in there) else []
