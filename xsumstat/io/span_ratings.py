"""Errors that raters marked in segments, in `.rating` files of mt-metrics-eval, as the rows that `read_mqm` weighs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from xsumstat.core import validate
from xsumstat.io import score_files

SUFFIX = ".rating"
_RATER = "rater"  # of lines that do not name one
_NO_ERROR = "No-error"


def rows(file: Path) -> dict[str, list[str]]:
    """A row for each error and each segment without errors; lines are SYSTEM, a rating in JSON, and a rater."""
    found: dict[str, list[str]] = {}
    documents = _documents(file)
    lines: Counter[str] = Counter()
    for number, line in enumerate(score_files.text_of(file).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{file.name}, line {number}"
        system, rating, rater = _parted(line, where)
        lines[system] += 1
        segment = str(lines[system])
        if rating is None:
            continue
        for error in rating or [{"severity": _NO_ERROR, "category": _NO_ERROR}]:
            row = {"system": system, "doc": documents.get(segment, ""), "doc_id": segment, "seg_id": segment}
            row |= {"rater": rater, "source": "", "target": "", "where": where}
            row |= {name: str(error.get(name) or "") for name in ("category", "severity")}
            for name, value in row.items():
                found.setdefault(name, []).append(value)
    if not found:
        raise ValueError(f"{file.name} holds no rating")
    if len(set(lines.values())) > 1:
        listed = ", ".join(f"{system} {count}" for system, count in lines.items())
        raise ValueError(f"{file.name}: each system must have one line per segment, got {listed}")
    return found


def _parted(line: str, where: str) -> tuple[str, list[dict[str, Any]] | None, str]:
    """The system, its errors (None: not rated), and the rater."""
    parts = line.strip().split("\t")
    if not 2 <= len(parts) <= 3:
        got = validate.counted(len(parts), "field")
        raise ValueError(f"{where}: expected 'SYSTEM RATING [RATER]', separated by tabs, got {got}")
    if parts[1] == "None":
        return parts[0], None, ""
    try:
        errors = json.loads(parts[1])["errors"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{where}: a rating must be None or JSON with a list 'errors', got {parts[1]:.60}") from error
    if not isinstance(errors, list) or not all(isinstance(each, dict) for each in errors):
        raise ValueError(f"{where}: 'errors' must be a list of mappings, got {errors!r:.60}")
    return parts[0], errors, parts[2] if len(parts) == 3 else _RATER


def _documents(file: Path) -> dict[str, str]:
    """The document of each segment, where the file lies in a test set's folder."""
    listed = file.parent.parent / "documents" / f"{file.name.partition('.')[0]}.docs"
    if file.parent.name != "human-scores" or not listed.is_file():
        return {}
    names = score_files.read_units(listed, "seg").document or []
    return {str(at): name for at, name in enumerate(names, 1)}
