"""The names that mt-metrics-eval's layout can hold: in lines, in files' names, as references in metrics' names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

WITHOUT, EVERY = "src", "all"  # in the place of references: none of them, each of them
_IN_FILES = ("system", "metric")
_LONGEST = 255  # bytes
_PATTERN = ".*?["  # what separates the parts of a file's name, and what the toolkit takes for a pattern


def checked(what: str, name: Any) -> str:
    """A name that can be part of a line and of a file's name."""
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
    """The name of a folder or the beginning of files' names, which mt-metrics-eval looks for by a pattern."""
    checked(argument, name)
    held = [sign for sign in signs if sign in name]
    if held:
        raise ValueError(f"{argument} must hold no {held[0]!r}, got {name!r}")


def check_folder(argument: str, name: Any) -> None:
    """The same of a folder, whose name may hold dots."""
    check_part(argument, name, _PATTERN.replace(".", ""))


def file(path: str) -> Path:
    """A file's path, if a file system can hold it."""
    name = Path(path).name
    if len(name.encode()) > _LONGEST:
        raise ValueError(f"{name!r} has {len(name.encode())} bytes, and a file's name at most {_LONGEST}")
    return Path(path)


def reference(what: str, name: Any) -> str:
    """The name of a reference, which is part of a metric's."""
    word = str(name)
    if not word or "-" in word or "." in word or word in (WITHOUT, EVERY):
        raise ValueError(
            f"{what} cannot be written: {word!r} is to name a reference, and the name of one is not empty, not "
            f"{WITHOUT!r} or {EVERY!r}, and holds no '-' and no '.'; rename it"
        )
    return checked("reference", word)


def references_of(metric: str) -> list[str]:
    """The references that the name of an automatic metric has; those of NAME-all are not known."""
    rest = metric.rpartition("-")[2]
    if rest in (WITHOUT, EVERY):
        return []
    return [reference(f"metric {metric!r}", each) for each in rest.split(".")]


def check_distinct(metrics: Iterable[str]) -> None:
    """No two metrics differ by the order of their references only: mt-metrics-eval sorts them."""
    seen: dict[tuple[str, tuple[str, ...]], str] = {}
    for metric in metrics:
        base, _, rest = metric.rpartition("-")
        other = seen.setdefault((base, tuple(sorted(set(rest.split("."))))), metric)
        if other != metric:
            raise ValueError(f"metrics {other!r} and {metric!r} are one for mt-metrics-eval, which sorts references")
