"""Single files of mt-metrics-eval's layout: lists of documents, and scores."""

from __future__ import annotations

import codecs
import csv
import io
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.io.cells import text

SUFFIX = ".score"
GRANULARITIES = ("seg", "doc", "domain", "sys")
WHOLE = "all"  # what the one input of system-level scores is called
_PRINTED = bytes(range(ord("!"), ord("~") + 1))
# What makes read_csv read the float that Python reads; what newer versions do in any case, and warn of when asked for.
_OLD_PANDAS = tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1)
_EXACTLY = {"float_precision": "round_trip"} if _OLD_PANDAS else {}
# Words that are no numbers, and that read_csv takes for 1 and 0 where a column holds nothing else.
_TRUE_OR_FALSE = ("True", "TRUE", "true", "False", "FALSE", "false")

# One file's scores: those of each system, in the order of the inputs.
Scores = dict[str, FloatArray]
# The systems and the scores of a file's lines.
_Columns = tuple[np.ndarray[Any, np.dtype[np.object_]], FloatArray]


@dataclass(frozen=True)
class Units:
    """The rated units of one granularity, in order; unknown without a list of documents."""

    labels: list[Any] | None
    document: list[str] | None = None
    domain: list[str] | None = None


def named(file: Path) -> tuple[str, str]:
    """What a file's name says: the scores' name, and their granularity, "" where it is not said."""
    name = file.name.removesuffix(SUFFIX)
    base, _, granularity = name.rpartition(".")
    return (base, granularity) if base and granularity in GRANULARITIES else (name, "")


def read_units(file: Path, granularity: str) -> Units:
    if granularity == "sys":
        return Units([WHOLE])
    if not file.is_file():
        validate.warn(
            f"no {file.name}: inputs are numbered, and their documents and domains are not known", "documents_unknown"
        )
        return Units(None)
    segments, most = [], 2
    for where, words in _lines(file):
        if len(words) < 2:
            raise ValueError(f"{where}: expected 'DOMAIN DOCUMENT', got {' '.join(words)!r}")
        segments.append((words[0], words[1]))
        most = max(most, len(words))
    if most > 2:
        validate.warn(
            f"{file.name} has {most} columns; only the first two, domain and document, are read", "columns_left_out"
        )
    domains = [domain for domain, _ in segments]
    documents = [document for _, document in segments]
    if granularity == "seg":
        return Units(list(range(1, len(segments) + 1)), documents, domains)
    if granularity == "domain":
        names = sorted(set(domains))
        return Units(names, None, names)
    blocks, twice = documents_of(segments)
    if twice:
        raise ValueError(f"{file.name}: the segments of {validate.listing(twice)} do not follow each other")
    names = [document for _, document in blocks]
    return Units(names, names, [domain for domain, _ in blocks])


def documents_of(segments: list[tuple[str, str]]) -> tuple[list[tuple[str, str]], list[str]]:
    """Domain and document of each run of segments, and documents with several runs."""
    blocks = [each for at, each in enumerate(segments) if at == 0 or each != segments[at - 1]]
    counts = Counter(document for _, document in blocks)
    return blocks, sorted(name for name, count in counts.items() if count > 1)


def read_scores(file: Path, units: Units, granularity: str) -> Scores:
    if granularity == "domain":
        return _read_domains(file, units)
    few = granularity == "sys"  # too few lines to set up pandas' parser for
    systems_of_lines, scores = (None if few else _regular(file)) or _line_by_line(file)
    codes, systems = pd.factorize(systems_of_lines)
    if not len(codes):
        raise ValueError(f"{file.name} holds no scores")
    counts = np.bincount(codes)
    expected = len(units.labels) if units.labels is not None else int(counts[0])
    for system, count in zip(systems, counts.tolist(), strict=True):
        if count != expected:
            raise ValueError(f"{file.name} has {count} scores of system {system!r}, expected {expected}")
    by_system = scores[np.argsort(codes, kind="stable")].reshape(len(systems), expected)
    return dict(zip(systems, by_system, strict=True))


def _regular(file: Path) -> _Columns | None:
    """Columns of an ASCII file whose lines are all word, blank, number or None; else nothing."""
    content = b"\n" + file.read_bytes().removeprefix(codecs.BOM_UTF8)
    content += b"" if content.endswith(b"\n") else b"\n"
    blanks = content.translate(None, delete=_PRINTED)[1:]
    lines = blanks.count(b"\n")
    separator = "\t" if blanks.startswith(b"\t") else " "
    if blanks != f"{separator}\n".encode() * lines or f"\n{separator}".encode() in content:
        return None
    options: dict[str, Any] = {"sep": separator, "header": None, "names": ["system", "score"], "index_col": False}
    options |= {"dtype": {"system": object, "score": float}, "quoting": csv.QUOTE_NONE, "low_memory": False}
    options |= {"keep_default_na": False, "na_values": {"score": ["None", *_TRUE_OR_FALSE]}, **_EXACTLY}
    try:
        frame = pd.read_csv(io.BytesIO(content), **options)
    except ValueError:
        return None
    scores = frame["score"].to_numpy()
    absent = np.count_nonzero(np.isnan(scores))
    if len(scores) != lines or np.isinf(scores).any():
        return None
    if absent and absent != content.count(f"{separator}None\n".encode()):
        return None
    return frame["system"].to_numpy(), scores


def _line_by_line(file: Path) -> _Columns:
    """Columns of any file, and what is wrong with its first malformed line."""
    lines = list(_scores_of_lines(file, "SYSTEM SCORE"))
    return text(system for _, (system,), _ in lines), np.array([score for *_, score in lines])


def _scores_of_lines(file: Path, layout: str) -> Iterator[tuple[str, list[str], float]]:
    """Place, labels and score of each line; warns of the word nan."""
    gone = 0
    for where, (*labels, word) in _lines(file):
        if len(labels) + 1 != len(layout.split()):
            raise ValueError(f"{where}: expected {layout!r}, got {' '.join([*labels, word])!r}")
        score = _number(word, where)
        gone += score != score and word != "None"
        yield where, labels, score
    if gone:
        validate.warn(
            f"{file.name} has the word 'nan' for {validate.counted(gone, 'score')}; read as missing, like None",
            "no_score",
        )


def _read_domains(file: Path, units: Units) -> Scores:
    cells: dict[tuple[str, str], float] = {}
    for where, (domain, system), score in _scores_of_lines(file, "DOMAIN SYSTEM SCORE"):
        if units.labels is not None and domain not in units.labels:
            raise ValueError(f"{where}: unknown domain {domain!r}; domains: {validate.listing(units.labels)}")
        if (system, domain) in cells:
            raise ValueError(f"{where}: domain {domain!r} of system {system!r} is given twice")
        cells[system, domain] = score
    if not cells:
        raise ValueError(f"{file.name} holds no scores")
    domains = units.labels or sorted({domain for _, domain in cells})
    systems = dict.fromkeys(system for system, _ in cells)
    return {system: np.array([cells.get((system, domain), np.nan) for domain in domains]) for system in systems}


def _number(word: str, where: str) -> float:
    if word == "None":
        return np.nan
    try:
        value = float(word)
    except ValueError:
        raise ValueError(f"{where}: a score must be a number or None, got {word!r}") from None
    if math.isinf(value):
        raise ValueError(f"{where}: a score must be finite, as means and correlations need it, got {word!r}")
    return value


def text_of(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{file.name} is not UTF-8 text: {error}") from error


def _lines(file: Path) -> Iterator[tuple[str, list[str]]]:
    for number, line in enumerate(text_of(file).splitlines(), 1):
        words = line.split()
        if words:
            yield f"{file.name}, line {number}", words
