"""What results say of metrics and human scores that are better when lower."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import xarray as xr

from xsumstat.dataset import directions, wording

# Analyses whose numbers are those of the scores as they came.
_OF_RATINGS = "system_means"
_AS_THEY_CAME = (_OF_RATINGS, "missingness", "variance_components")


def is_lower(result: xr.Dataset) -> bool:
    """Whether the one score that a result is about is better when lower: its metric, or the human scores."""
    if "gold" in result.attrs:
        return directions.OF_GOLD in result.attrs
    better = result.coords.get(directions.NAME)
    return better is not None and better.size == 1 and not bool(better.values.all())


def sentence(result: xr.Dataset) -> str:
    """Which scores were negated, as lower is better; empty if none."""
    labels: list[Hashable] = []
    analysis = str(result.attrs.get("analysis", ""))
    better = result.coords.get(directions.NAME)
    if better is not None and set(better.dims) <= {"metric"} and "metric" in result.coords and analysis != _OF_RATINGS:
        named = np.atleast_1d(result["metric"].values)
        labels = named[~np.atleast_1d(better.values).astype(bool)].tolist()
    if directions.OF_GOLD in result.attrs and "gold" in result.attrs:
        labels = [*dict.fromkeys([*labels, result.attrs["gold"]])]
    if not labels:
        return ""
    said = f"For {wording.listed(map(wording.name, labels), 3)} lower is better"
    if analysis in _AS_THEY_CAME:
        return f"{said}."
    if analysis == "compare_systems":
        return f"{said}; a difference is positive if the first system is better."
    return f"{said}; {'its' if len(labels) == 1 else 'their'} scores were negated."
