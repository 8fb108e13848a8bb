"""Names that mt-metrics-eval's layout allows: in lines, in file names, and as references in metric names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

WITHOUT, EVERY = "src", "all"  # in the place of references: none of them, each of them
_IN_FILES = ("system", "metric")
_LONGEST = 255  # bytes
_PATTERN = ".*?["  # what separates the parts of a file's name, and what the toolkit takes for a pattern


def checked(what: str, name: Any) -> str:
    """A name that can be part of a line and of a file name."""
    word = str(name)
    if not word or word.split() != [word] or "/" in word or "\\" in word or "\0" in word or word in (".", ".."):
        raise ValueError(f"{what} {word!r} cannot be written: names hold no blanks and no slashes")
    if what in _IN_FILES and word.startswith("."):
        raise ValueError(f"{what} {word!r} cannot be written: mt-metrics-eval does not see files that begin with '.'")
    try:
        word.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{what} {word!r} cannot be written: {error.reason}") from error
    return word


def check_part(argument: str, name: Any, signs: str = _PATTERN) -> None:
    """Check the name of a folder or the start of file names, which mt-metrics-eval finds by a pattern."""
    checked(argument, name)
    held = [sign for sign in signs if sign in name]
    if held:
        raise ValueError(f"{argument} must hold no {held[0]!r}, got {name!r}")


def check_folder(argument: str, name: Any) -> None:
    check_part(argument, name, _PATTERN.replace(".", ""))


def file(path: str) -> Path:
    """A file's path, if the file system allows it."""
    name = Path(path).name
    if len(name.encode()) > _LONGEST:
        raise ValueError(f"{name!r} has {len(name.encode())} bytes, and a file's name at most {_LONGEST}")
    return Path(path)


def reference(what: str, name: Any) -> str:
    """Name of a reference, which is part of a metric's name."""
    word = str(name)
    if not word or "-" in word or "." in word or word in (WITHOUT, EVERY):
        raise ValueError(
            f"{what} cannot be written: {word!r} is to name a reference, and the name of one is not empty, not "
            f"{WITHOUT!r} or {EVERY!r}, and holds no '-' and no '.'; rename it"
        )
    return checked("reference", word)


def references_of(metric: str) -> list[str]:
    """References in the name of an automatic metric; those of NAME-all are unknown."""
    rest = metric.rpartition("-")[2]
    if rest in (WITHOUT, EVERY):
        return []
    return [reference(f"metric {metric!r}", each) for each in rest.split(".")]


def parted(reference: str) -> list[str]:
    """The references, one or several, in the last part of a metric's name: refA, refA.refB."""
    return re.split("[.,]", reference)


def check_distinct(metrics: Iterable[str]) -> None:
    """Raise if metrics differ only by the order of their references: mt-metrics-eval sorts them."""
    seen: dict[tuple[str, tuple[str, ...]], str] = {}
    for metric in metrics:
        base, _, rest = metric.rpartition("-")
        other = seen.setdefault((base, tuple(sorted(set(rest.split("."))))), metric)
        if other != metric:
            raise ValueError(f"metrics {other!r} and {metric!r} are one for mt-metrics-eval, which sorts references")
