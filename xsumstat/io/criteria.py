"""Columns of several criteria, as a rater's helpfulness and correctness, which are no scores of one thing."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence

from xsumstat.core import arguments, validate
from xsumstat.core.synonyms import words_of
from xsumstat.io import roles

# Names of criteria; others are known by their endings, as helpfulness.
_CRITERIA = words_of("overall quality style tone grammar depth length format factual ethics humor trust logic detail")


def by_criterion(names: Iterable[str]) -> dict[str, list[str]]:
    """Columns by the last (or first) word of their names where several raters or judges have the same ones."""
    split = [(name, roles.words_of(name)) for name in names]
    for at in (-1, 0):
        parts = [(name, each[at], tuple(each[:-1] if at else each[1:])) for name, each in split if len(each) > 1]
        parts = [each for each in parts if _may_be_criterion(each[1])]
        criteria: dict[tuple[str, ...], set[str]] = {}
        for _, criterion, who in parts:
            criteria.setdefault(who, set()).add(criterion)
        several = [own for own in criteria.values() if len(own) > 1]
        shared = set.intersection(*several) if len(several) > 1 else set()
        if len(shared) > 1:
            found: dict[str, list[str]] = {}
            for name, criterion, _ in parts:
                if criterion in shared:
                    found.setdefault(criterion, []).append(name)
            return found
    return {}


def _may_be_criterion(word: str) -> bool:
    return word in _CRITERIA or re.search(r"\w(ness|ity|ence|ency|ance|acy)$", word) is not None


def warn_of_raters(raters: Sequence[Hashable], others: Iterable[Hashable]) -> None:
    """Warn where columns of raters, beside those of metrics, are those of several criteria."""
    names = [name for name in raters if isinstance(name, str)]
    found = by_criterion([*names, *(name for name in others if isinstance(name, str) and name not in names)])
    apart = {criterion: [name for name in each if name in names] for criterion, each in found.items()}
    apart = {criterion: each for criterion, each in apart.items() if each}
    if len(apart) > 1:
        validate.warn(
            f"{arguments.name('ratings')} has columns of several criteria, {validate.listing(apart)}, whose mean is no "
            f"human score of one of them: analyse one criterion at a time, {arguments.name('ratings')} "
            f"{validate.listing(next(iter(apart.values())))}",
            "several_criteria",
        )
