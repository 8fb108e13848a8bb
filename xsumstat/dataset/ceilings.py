"""Human scores at the end of their scale, among which a metric still distinguishes."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.core import validate

# Attr of results: the share of such human scores for each metric concerned, as JSON.
NAME = "ceiling"
# From this share of the human scores on a scale ends too early: of simulated judges without a bias 12 to 50 % seemed
# biased. A metric distinguishes among them if fewer than half as many of its own scores are at its end.
# Of two classes one is always that frequent: there it must be more.
_MANY, _MANY_OF_TWO, _HALF = 0.35, 0.7, 0.5
# Slopes from this size on, in SDs, are no consequence of the end of a scale.
LARGE = 0.5


def of(score: xr.DataArray, human: xr.DataArray) -> str | None:
    """The attr for oriented scores in memory; None if no metric is concerned. Warns."""
    metrics = score["metric"].values.tolist()
    found: dict[str, float] = {}
    many = _MANY_OF_TWO if len(np.unique(human.values[~np.isnan(human.values)])) == 2 else _MANY
    ends = [(turn, theirs) for turn in (1.0, -1.0) if (theirs := _at_end(human.values, turn)) >= many]
    for label, values in zip(metrics, np.moveaxis(score.values, score.get_axis_num("metric"), 0), strict=True):
        shares = [theirs for turn, theirs in ends if _at_end(values, turn) < _HALF * theirs]
        if shares:
            found[str(label)] = max(shares)
    if not found:
        return None
    validate.warn(
        f"{100 * max(found.values()):.0f} % of the human scores are at the end of their scale, where a metric may see "
        f"quality that they cannot show, and seem biased: {validate.listing(found)}",
        "ceiling",
    )
    return json.dumps(found)


def share(attrs: Mapping[Any, Any], label: Hashable) -> float | None:
    """The share of human scores at an end that a metric distinguishes; None if it is not concerned."""
    found: float | None = json.loads(str(attrs.get(NAME, "{}"))).get(str(label))
    return found


def _at_end(values: Any, turn: float) -> float:
    """The share of the highest value of all, or of the lowest."""
    there = turn * values[~np.isnan(values)]
    return float(np.mean(there == there.max())) if there.size else 0.0
