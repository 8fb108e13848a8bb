"""The only list of analyses, which results, words, pictures and documentation follow."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from xsumstat.catalogue import agreement, among_metrics, better, parts, preferences, raters, simulations, systems
from xsumstat.catalogue.record import Analysis, Question, Variable
from xsumstat.catalogue.variables import COORDINATES, DETAILS, VARIABLES

__all__ = [
    "ALL",
    "ANALYSES",
    "COORDINATES",
    "DETAILS",
    "QUESTIONS",
    "RESERVED",
    "VARIABLES",
    "Analysis",
    "Variable",
    "variable",
]

FAMILIES = (agreement, better, among_metrics, parts, systems, raters, preferences, simulations)
QUESTIONS: tuple[Question, ...] = (
    *(each for family in FAMILIES for each in family.ANALYSES),
    Question("report", "all at once"),
    Question("to_frame", "as a table or files"),
    Question("to_mtme", "as a table or files"),
)
ANALYSES: dict[str, Analysis] = {each.name: each for each in QUESTIONS if isinstance(each, Analysis)}
# What `by=` calls all labels together, beside the groups.
ALL = "all"
# Names that results give to variables and dims: further dims may not have them, and coordinates lose them.
RESERVED = frozenset(name for each in ANALYSES.values() if each.further for name in each.names)


def variable(name: Hashable, analysis: Any = None) -> Variable:
    about = ANALYSES.get(str(analysis))
    if about is not None and name in about.own:
        return about.own[str(name)]
    if name not in VARIABLES or about is not None and name not in about.variables:
        where = "" if about is None else f" of {analysis!r}"
        raise LookupError(f"a result{where} has the variable {name!r}, which the catalogue does not declare")
    return VARIABLES[str(name)]
