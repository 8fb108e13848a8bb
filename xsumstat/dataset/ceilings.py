"""Human scores, or scores of a metric, at the end of their scale, among which the other still distinguishes."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.core.types import FloatArray

# Attrs of results: the share of such human scores for each metric concerned, and of such scores of metrics, as JSON.
NAME, OWN = "ceiling", "own_ceiling"
# From this share of the human scores on a scale ends too early: of simulated judges without a bias 12 to 50 % seemed
# biased. A metric distinguishes among them if fewer than half as many of its own scores are at its end. Of two classes
# one is always that frequent: there it must be more. If it is a metric whose scale ends, 8 to 22 % seemed biased.
_MANY, _MANY_OWN, _MANY_OF_TWO, _HALF = 0.35, 0.5, 0.7, 0.5
# Slopes from this size on, in SDs, are no consequence of the end of a scale.
LARGE = 0.5


def of(score: xr.DataArray, human: xr.DataArray) -> dict[str, str]:
    """The attrs for oriented scores in memory, if a metric is concerned. Warns."""
    by_metric = np.moveaxis(score.values, score.get_axis_num("metric"), 0)
    found: dict[str, dict[str, float]] = {NAME: {}, OWN: {}}
    for label, values in zip(score["metric"].values.tolist(), by_metric, strict=True):
        for name, ended, other, most in ((NAME, human.values, values, _MANY), (OWN, values, human.values, _MANY_OWN)):
            if many := _at_end_of_one(ended, other, most):
                found[name][str(label)] = many
    for name, whose, others in (
        (NAME, "the human scores are", "a metric may see quality that they cannot show, and seem biased"),
        (OWN, "a metric's scores are", "people see quality that they cannot show, and it may seem biased"),
    ):
        if found[name]:
            validate.warn(
                f"{100 * max(found[name].values()):.0f} % of {whose} at the end of their scale, where {others}: "
                f"{validate.listing(found[name])}",
                "ceiling",
            )
    return {name: json.dumps(shares) for name, shares in found.items() if shares}


def share(attrs: Mapping[Any, Any], label: Hashable, name: str = NAME) -> float | None:
    """The share of human (or `OWN`) scores at an end that the other distinguishes; None if that is no concern."""
    found: float | None = json.loads(str(attrs.get(name, "{}"))).get(str(label))
    return found


def concerns(attrs: Mapping[Any, Any], label: Hashable) -> bool:
    return any(share(attrs, label, name) is not None for name in (NAME, OWN))


def _at_end_of_one(ended: FloatArray, other: FloatArray, most: float) -> float:
    """The share of scores at an end that holds many of them, but not of the other scores; 0 if there is no such end."""
    many = _MANY_OF_TWO if len(np.unique(ended[~np.isnan(ended)])) == 2 else most
    shares = [(_at_end(ended, turn), _at_end(other, turn)) for turn in (1.0, -1.0)]
    return max((own for own, theirs in shares if many <= own < 1 and theirs < _HALF * own), default=0.0)


def _at_end(values: Any, turn: float) -> float:
    """The share of the highest value of all, or of the lowest."""
    there = turn * values[~np.isnan(values)]
    return float(np.mean(there == there.max())) if there.size else 0.0
