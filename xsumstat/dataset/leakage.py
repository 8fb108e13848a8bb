"""Metrics that are human scores under another name: the gold, a rater, or the raters' mean."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import xarray as xr

from xsumstat.core import validate
from xsumstat.core.labels import labels_along
from xsumstat.dataset import facts, metric_choice
from xsumstat.dataset.facts import Fact
from xsumstat.dataset.value_checks import Checks


def warn_of_people(
    later: Checks,
    equal: Any,
    score: xr.DataArray,
    gold: xr.DataArray,
    name: str,
    ratings: Mapping[str, xr.DataArray],
    known: Sequence[Hashable],
) -> None:
    """Warn of metrics not `known` to be human that equal the gold, a rater, or the raters' mean."""
    people = [_people(name, gold), *(_people(each, values) for each, values in ratings.items())]
    later.make(_warn, score["metric"].values.tolist(), known, people, equal)


def warn_of_raters(score: xr.DataArray, ratings: xr.DataArray, name: str, along: str) -> None:
    equal = [facts.equal_to(score, ratings, along)]
    _warn(score["metric"].values.tolist(), metric_choice.of_people(score), [_people(name, ratings, along)], equal)


def _people(name: str, human: xr.DataArray, along: str = "rater") -> list[str]:
    if along not in human.dims:
        return [f"the gold {name!r}"]
    raters = [f"rater {rater!r} of {name!r}" for rater in labels_along(human, along)]
    return raters if len(raters) < 2 else [f"the mean of the raters of {name!r}", *raters]


def _warn(
    labels: Sequence[Hashable],
    known: Sequence[Hashable],
    people: Sequence[Sequence[str]],
    equal: Sequence[Fact],
) -> None:
    found: dict[Hashable, str] = {}
    for names, each in zip(people, equal, strict=True):
        own: dict[Hashable, str] = {}
        for at, name in enumerate(names):
            for label in (label for label, same in zip(labels, each.values[:, at], strict=True) if same):
                own.setdefault(label, name)
        found = own | found
    texts = [f"{label!r} equals {text}" for label, text in found.items() if label not in known]
    if not texts:
        return
    more = f"; … ({len(texts)} in all)" if len(texts) > 8 else ""
    validate.warn(
        f"metrics that equal human scores: {'; '.join(texts[:8])}{more}. Their agreement says nothing about a "
        "metric: leave them out, or mark them as human in the coordinate kind(metric)",
        "leakage",
    )
