"""Shared by readers of score files: names, labels in natural order, and cubes of cells."""

from __future__ import annotations

import math
import re
import reprlib
import unicodedata
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.core import validate

LONGEST_NAME = 1_000

Cell = tuple[str, str, str]
# A JSON text longer than this, with fewer than so many characters to each list or mapping, is refused: an empty one
# takes 60 to 200 bytes, and three characters. Logs of evaluation tools have some hundred characters to each.
_LONG_JSON, _LEAST_EACH = 2**22, 16


def check_density(content: str | bytes, where: str) -> None:
    """Refuse long JSON text of many empty lists or mappings, which takes far more memory than its length."""
    if len(content) <= _LONG_JSON:
        return
    if isinstance(content, str):
        several = content.count("{") + content.count("[")
    else:
        several = content.count(b"{") + content.count(b"[")
    if several * _LEAST_EACH > len(content):
        raise ValueError(
            f"{where}: {several:,} lists and mappings in {len(content):,} characters would take far more memory "
            "than the file: it may be damaged, or made to exhaust memory; if it is right, split it or leave out "
            "what is no score"
        )


def text(labels: Iterable[str]) -> np.ndarray[Any, np.dtype[np.object_]]:
    """Labels as plain str, not NumPy strings."""
    return np.array(list(labels), dtype=object)


def is_named(metric: str, name: str) -> bool:
    return metric == name or metric.startswith(f"{name}_")


class Names:
    """Labels without surrounding blanks, and which of them had some."""

    def __init__(self) -> None:
        self._with_blanks: dict[str, dict[str, None]] = {}
        self._seen: dict[tuple[str, str], str] = {}

    def stripped(self, what: str, name: Any, where: str) -> str:
        """The label without blanks; `what` and `where` are for the error message."""
        if type(name) is str:
            bare = self._seen.get((what, name))
            if bare is None:
                bare = self._seen[what, name] = self._checked(what, name, where)
            return bare
        return self._checked(what, name, where)

    def _checked(self, what: str, name: Any, where: str) -> str:
        if isinstance(name, bool) or not isinstance(name, str | int):
            raise ValueError(f"{where}: {what!r} must be a string or a whole number, got {reprlib.repr(name)}")
        try:
            label = str(name)
            label.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"{where}: {what} {reprlib.repr(name)} is not text: {error.reason}") from error
        except ValueError as error:  # Python writes no number of so many digits
            raise ValueError(f"{where}: {what!r} is too long a number") from error
        if len(label) > LONGEST_NAME:
            raise ValueError(
                f"{where}: {what!r} has {len(label):,} characters, and {LONGEST_NAME:,} are the most: "
                f"{reprlib.repr(label)}"
            )
        bare = label.strip()
        if not bare:
            raise ValueError(f"{where}: {what!r} is empty, got {label!r}")
        if bare != label:
            self._with_blanks.setdefault(what, {})[label] = None
        return bare

    def report(self) -> None:
        """Warn of labels with blanks and of labels that look alike."""
        for what, labels in self._with_blanks.items():
            validate.warn(f"{what}: blanks around labels are left out: {validate.listing(labels)}", "labels_trimmed")
        each: dict[Hashable, dict[str, None]] = {}
        for (what, _), bare in self._seen.items():
            each.setdefault(what, {})[bare] = None
        report_alike(each)


def report_alike(labels: Mapping[Hashable, Iterable[Hashable]]) -> None:
    """Warn of labels that look the same and differ, as "é" can be one character or two."""
    for what, each in labels.items():
        texts = [label for label in each if isinstance(label, str)]
        if all(label.isascii() for label in texts):
            continue
        first: dict[str, str] = {}
        pairs = [
            (first[composed], label)
            for label in texts
            for composed in [unicodedata.normalize("NFC", label)]
            if first.setdefault(composed, label) != label
        ]
        if pairs:
            listed = "; ".join(f"{ascii(str(a))} and {ascii(str(b))}" for a, b in pairs[:3])
            validate.warn(
                f"{what}: some labels look the same but have different characters: {listed}; "
                "spell them alike, as unicodedata.normalize('NFC', label) does",
                "look_alike_labels",
            )
    for what in sorted({"system", "rater"} & set(labels), key=str):
        _report_other_case(what, labels[what])


def _report_other_case(what: Hashable, labels: Iterable[Hashable]) -> None:
    """Warn of labels that differ in upper and lower case alone; of inputs such labels may be different ones."""
    first: dict[str, str] = {}
    texts = [label for label in labels if isinstance(label, str)]
    pairs = [(first[label.casefold()], label) for label in texts if first.setdefault(label.casefold(), label) != label]
    if pairs:
        listed = "; ".join(f"{one!r} and {other!r}" for one, other in pairs[:3])
        validate.warn(
            f"{what}: some labels differ in upper and lower case alone, and count as different: {listed}",
            "look_alike_labels",
        )


def natural(label: str) -> list[tuple[int, int | str]]:
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"(\d+)", label) if part]


def values_along(ds: xr.Dataset, name: str, dim: str) -> list[Any] | None:
    """Values of a coordinate that describes each label of a dim; None if there is none."""
    coord = ds.coords.get(name)
    return coord.values.tolist() if coord is not None and coord.dims == (dim,) else None


def output_name(values: xr.DataArray, dims: Sequence[Hashable], place: Iterable[Any]) -> str:
    """The labels at a place, as "system/input"."""
    return "/".join(str(values.indexes[dim][at]) for dim, at in zip(dims, place, strict=True))


def as_written(labels: list[str]) -> list[int] | list[str]:
    """Whole numbers where all labels are written as such."""
    numbers = all(re.fullmatch("0|[1-9][0-9]{0,17}", label) for label in labels)
    return [int(label) for label in labels] if numbers else labels


def array(labels: Sequence[Hashable]) -> np.ndarray[Any, Any]:
    """An array of labels: of objects where some are text, else of their own type."""
    return text(map(str, labels)) if any(isinstance(label, str) for label in labels) else np.array(labels)


def as_cube(values: Mapping[Any, float], *labels: list[str]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Values by cell as an array over the labels of each dim, NaN where missing."""
    cube = np.full([len(each) for each in labels], np.nan)
    places = [{label: at for at, label in enumerate(each)} for each in labels]
    cells = tuple([place[cell[dim]] for cell in values] for dim, place in enumerate(places))
    cube[cells] = list(values.values())
    return cube


def number(value: Any, name: str, where: str) -> float:
    if type(value) is float and math.isfinite(value):
        return value
    if value is None:
        return np.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        shown = reprlib.repr(value)
        raise ValueError(f"{where}: {name!r} must be a number, a list of numbers or null, got {shown}")
    try:
        found = float(value)
    except OverflowError as error:
        raise ValueError(f"{where}: {name!r} is too large a number") from error
    if math.isinf(found):
        raise ValueError(f"{where}: {name!r} must be finite, got {found}")
    return found
