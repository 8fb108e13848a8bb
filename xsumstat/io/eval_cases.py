"""Shared by readers of evaluation tools' results: files, JSON, and cases of several runs."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.dataset import text_attrs
from xsumstat.io import means, stores
from xsumstat.io.cells import Cell, Names, as_cube, check_density, natural, number, text
from xsumstat.io.texts import PASSES

Paths = str | Path | Iterable[str | Path]
# A case by its task and its own label, and with the system before these.
_Case = tuple[str, str]
_Key = tuple[str, _Case]
# The metric that says which cases passed.
_PASS = PASSES[1]


def files(path: Paths, patterns: tuple[str, ...], what: str) -> list[Path]:
    """The named files; for a folder all that match a pattern, including subfolders."""
    found: list[Path] = []
    for each in validate.paths("path", path):
        if not each.exists():
            raise stores.no_such(each)
        inside = sorted({file for pattern in patterns for file in each.rglob(pattern)}) if each.is_dir() else [each]
        if not inside:
            raise FileNotFoundError(f"no {what} in {each}: looked for {' or '.join(patterns)}")
        found += inside
    if not found:
        raise ValueError("path must name at least one file or folder, got none")
    return found


def parsed(content: bytes | str, where: str, line: int | None = None) -> Any:
    check_density(content, where if line is None else f"{where}, line {line}")
    try:
        return json.loads(content if isinstance(content, str) else content.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{where}, line {line or error.lineno}: not JSON: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{where}: not UTF-8 text: {error.reason} at byte {error.start}") from error
    except RecursionError as error:
        raise ValueError(f"{where}: values within values are too deep") from error
    except ValueError as error:  # Python reads no number of so many digits
        raise ValueError(f"{where}: it holds too long a number") from error


def json_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The mapping of each line, and its place; empty lines are skipped."""
    for at, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if line.strip():
            yield f"{path.name}, line {at}", mapping(parsed(line, path.name, at), f"{path.name}, line {at}")


def whole(file: Path) -> Any:
    """The content of a file of one JSON text."""
    return parsed(file.read_bytes(), file.name)


def mappings(items: list[Any], what: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each mapping of a list, and its place: `what` and a number."""
    for at, item in enumerate(items):
        yield f"{what} {at}", mapping(item, f"{what} {at}")


def mapping(value: Any, where: str, name: str = "") -> dict[str, Any]:
    """A mapping; otherwise an error names its place."""
    if not isinstance(value, dict):
        raise ValueError(f"{where}: {f'{name!r}' if name else 'it'} must be a mapping, got {reprlib.repr(value)}")
    return value


def listing(value: Any, where: str, name: str) -> list[Any]:
    """A list, empty for null; otherwise an error names its place."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(f"{where}: {name!r} must be a list, got {reprlib.repr(value)}")
    return value


class Cases:
    def __init__(self) -> None:
        self._values: dict[tuple[str, str, _Case], list[float]] = {}
        self._origin: dict[_Key, str] = {}
        self._content: dict[_Case, tuple[Any, str]] = {}
        self._skipped: dict[str, str] = {}
        self._lower: dict[str, bool] = {}
        self._verdicts: dict[_Key, tuple[bool, str]] = {}
        self._names = Names()

    def label(self, what: str, name: Any, where: str) -> str:
        return self._names.stripped(what, name, where)

    def begin(self, system: str, task: str, case: str, source: str, where: str) -> _Key:
        """A case of a system; raises if another file has it, which means two runs of one system."""
        key = system, (task, case)
        if self._origin.setdefault(key, source) != source:
            raise ValueError(
                f"{where}: system {system!r} has the case {case!r} in {self._origin[key]} already: "
                "these are two runs of one system; read one of them"
            )
        return key

    def same_content(self, key: _Key, content: Any, where: str) -> None:
        """Raise if a case differs from the same case of earlier systems."""
        if content is None:
            return
        first, origin = self._content.setdefault(key[1], (content, where))
        if first != content:
            raise ValueError(
                f"{where}: the case {key[1][1]!r} is another than in {origin} ({reprlib.repr(content)} and "
                f"{reprlib.repr(first)}): systems are compared on the same cases"
            )

    def add(self, key: _Key, metric: str, value: Any, where: str, *, averaged: bool = False) -> None:
        """Add a score of a case; `averaged` metrics may have several. Non-numbers are left out and reported."""
        if isinstance(value, bool):
            value = float(value)
        if not (value is None or isinstance(value, int | float)):
            self._skipped.setdefault(metric, f"{reprlib.repr(value)} in {where}")
            return
        found = number(value, metric, where)
        values = self._values.setdefault((metric, *key), [])
        if values and not averaged:
            raise ValueError(f"{where}: {metric!r} of the case {key[1][1]!r} of system {key[0]!r} is given twice")
        values.append(found)

    def verdict(self, key: _Key, passed: bool, where: str) -> None:
        """Add whether a case passed as the metric "pass", unless the tool has a metric of this name."""
        self._verdicts[key] = passed, where

    def direction(self, metric: str, higher: bool, where: str) -> None:
        if self._lower.setdefault(metric, not higher) != (not higher):
            raise ValueError(f"{where}: {metric!r} is better when {'higher' if higher else 'lower'}, and before not so")

    def dataset(self, source: str) -> xr.Dataset:
        self._names.report()
        coded = self._verdicts and not any(metric == _PASS for metric, _, _ in self._values)
        if coded:
            for key, (passed, where) in self._verdicts.items():
                self.add(key, _PASS, passed, where)
        metrics = list(dict.fromkeys(metric for metric, _, _ in self._values))
        systems = list(dict.fromkeys(system for _, system, _ in self._values))
        if self._skipped:
            said = "; ".join(f"{metric!r} ({value})" for metric, value in list(self._skipped.items())[:8])
            validate.warn(f"left out scores that are not numbers: {said}", "scores_left_out")
        if not metrics:
            raise ValueError(f"there are no scores of {source} in what was read")
        tasks = dict.fromkeys(key[2][0] for key in self._values)
        cases = sorted({key[2] for key in self._values}, key=lambda case: (natural(case[0]), natural(case[1])))
        labels = {case: f"{case[0]}/{case[1]}" if len(tasks) > 1 else case[1] for case in cases}
        cells: dict[Cell, float] = {
            (metric, system, labels[case]): means.mean(values) if len(values) > 1 else values[0]
            for (metric, system, case), values in self._values.items()
        }
        cube = as_cube(cells, metrics, systems, list(labels.values()))
        coords: dict[str, Any] = {"metric": text(metrics), "system": text(systems), "input": text(labels.values())}
        if any(tasks):
            coords["task"] = ("input", text(case[0] for case in cases))
        if self._lower:
            coords["higher_is_better"] = "metric", np.array([not self._lower.get(metric, False) for metric in metrics])
        attrs: dict[str, Any] = {"source": source, **({"labels": text_attrs.joined(PASSES)} if coded else {})}
        return xr.Dataset({"score": (("metric", "system", "input"), cube)}, coords, attrs)
