"""How messages write arguments: as keywords of Python, or as a face such as the command line takes them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Face:
    """What arguments are called where a user writes options, what stands for a value, and options that name columns."""

    names: Mapping[str, str]
    places: Mapping[str, str]
    columns: Mapping[str, str]


# Of the process and not of a thread, because checks of lazy scores run in other threads.
_face: Face | None = None


@contextmanager
def written_for(face: Face) -> Iterator[None]:
    """Within, messages write arguments as this face takes them."""
    global _face
    before, _face = _face, face
    try:
        yield
    finally:
        _face = before


def in_python() -> bool:
    return _face is None


def only_in_python(text: str) -> str:
    """Advice that needs Python; nothing elsewhere."""
    return text if _face is None else ""


def name(argument: str) -> str:
    """An argument: `level`, or `--level`."""
    return argument if _face is None else _face.names.get(argument, argument)


def given(argument: str, value: Any = ..., *, several: bool = False) -> str:
    """An argument with its value: `aggregate='mean'`, `metric=[...]`; or `--aggregate mean`, `--metric NAME ...`."""
    if _face is None or argument not in _face.names:
        return f"{argument}={('[...]' if several else '...') if value is ... else repr(value)}"
    words = [_face.places.get(argument, "VALUE")] if value is ... else _words(value)
    return " ".join([_face.names[argument], *words])


def adding(argument: str, value: Any = ..., *, several: bool = False) -> str:
    """Advice to give an argument."""
    return f"{'pass' if _face is None else 'add'} {given(argument, value, several=several)}"


def column(argument: str, value: str) -> str:
    """An argument that names a column, with the name: `system='model'`, or `--system-column: 'model'`."""
    if _face is None or argument not in _face.columns:
        return f"{argument}={value!r}"
    return f"{_face.columns[argument]}: {value!r}"


def naming(argument: str) -> str:
    """An argument that is to name a column: `system=...`, or `--system-column COLUMN`."""
    return f"{argument}=..." if _face is None else f"{_face.columns.get(argument, argument)} COLUMN"


def _words(value: Any) -> list[str]:
    """A value as words of a command; a switch that is on needs none."""
    if value is True:
        return []
    if isinstance(value, Mapping):
        return [shlex.quote(f"{key}={each}") for key, each in value.items()]
    return [shlex.quote(str(each)) for each in (value if isinstance(value, list | tuple) else [value])]
