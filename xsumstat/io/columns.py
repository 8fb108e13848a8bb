"""Recognise columns of a table by their usual names."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from xsumstat.core import arguments, extras, validate
from xsumstat.core.method_synonyms import COLUMNS
from xsumstat.core.synonyms import spelt
from xsumstat.io import tables

TABLES = (".csv", ".tsv", ".parquet")
# What columns are usually called, as `spelt` has it, beside our own names.
_NAMES: dict[str, tuple[str, ...]] = {
    **{field: COLUMNS[field] for field in ("metric", "system", "input", "rater")},
    "score": COLUMNS["value"],
}


def header(path: Path) -> list[str]:
    if path.suffix.lower() == ".parquet":
        schema = extras.optional("pyarrow.parquet", "data").read_schema(path)
        return [str(name) for name in schema.names]
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = csv.reader(stream, delimiter=tables.separator_of(path))
        try:
            first = next((row for row in rows if any(cell.strip() for cell in row)), [])
        except csv.Error as error:
            raise ValueError(f"line {rows.line_num}: {error}") from error
    if not first:
        raise ValueError(tables.EMPTY)
    tables.check_separator(first, path)
    tables.check_text(rows.line_num, first)
    return [name.strip() for name in first]


def recognised(columns: Sequence[str], field: str) -> str | None:
    """The column with the field's own name, or else the only one with another usual name; None for none."""
    if field in columns:
        return field
    found = [column for column in columns if spelt(column) in _NAMES[field]]
    if len(found) > 1:
        raise ValueError(
            f"{len(found)} columns could name the {field}: {validate.listing(found)}; say which one: "
            f"{arguments.naming(field)}"
        )
    return found[0] if found else None


def of_labels(names: list[str], file: str, given: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """Columns of system, input and, if there is one, rater: those given if they exist, else those with usual names."""
    found: dict[str, str] = {}
    for field in ("system", "input", "rater"):
        own = (given or {}).get(field)
        name = own if own in names else recognised(names, field)
        if name is not None:
            found[field] = name
        elif field != "rater":
            raise ValueError(f"{file} has no column that names the {field}; columns: {validate.listing(names, 20)}")
    return found


def is_saved_index(name: object) -> bool:
    """Whether a column is called as pandas calls one without a name, such as the index of a saved frame."""
    return re.fullmatch(r"Unnamed: \d+", str(name)) is not None


def numbered(columns: Sequence[str]) -> bool:
    """Whether columns share a name and differ by a number or letter, as annotator_1, annotator_2."""
    stems = {re.sub(r"[\s_.-]*(\d+|(?<=[\s_.-])[A-Za-z])$", "", column) for column in columns}
    return len(columns) > 1 and len(stems) == 1 and stems != set(columns) and "" not in stems
