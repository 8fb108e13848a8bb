"""The levels at which scores are compared: what a group holds, and where the groups lie."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")

LEVELS = ("system", "input", "global", "within_system")
# The dims whose labels the groups of a level compare.
CORRELATED = {
    "system": ("system",),
    "input": ("system",),
    "within_system": ("input",),
    "global": ("system", "input"),
}
# The dim along which the groups of a level lie; other levels have one group.
GROUPS = {"input": "input", "within_system": "system"}


def members(level: str) -> str:
    """The dim of the labels that a group compares: inputs within a system, else systems."""
    return "input" if level == "within_system" else "system"


def members_first(level: str, of_systems: T, of_inputs: T) -> tuple[T, T]:
    """What belongs to the members of groups, then what belongs to the groups."""
    return (of_inputs, of_systems) if level == "within_system" else (of_systems, of_inputs)


def sizes(level: str, shape: tuple[int, int]) -> tuple[int, int]:
    """How many members a group has, and how many groups there are, of (systems, inputs)."""
    systems, inputs = shape
    of_one_group = {"system": (systems, 1), "global": (systems * inputs, 1)}
    return of_one_group.get(level) or members_first(level, systems, inputs)
