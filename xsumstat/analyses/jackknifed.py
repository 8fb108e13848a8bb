"""Where the jackknife is used, what it needs, and warnings about its intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.coefficients.clusters import Clusters
from xsumstat.coefficients.record import Measure
from xsumstat.core import arguments, validate
from xsumstat.dataset import checks, facts, few_systems
from xsumstat.dataset import scores as schema
from xsumstat.inference.jackknife import LEAST_CLUSTERS


def interval_method(measure: Measure, dims: tuple[str, ...], interval: Any, keep_samples: Any) -> str:
    """The method of `ci` that "auto" stands for."""
    draws_asked = interval is not None or bool(keep_samples) or not set(dims) <= {"system", "input"}
    return "jackknife" if not draws_asked and holds(measure, dims) else "bootstrap"


def holds(measure: Measure, dims: tuple[str, ...]) -> bool:
    """Whether the jackknife has its nominal coverage, and better than draws."""
    if measure.coefficient.copies_agree:
        return measure.level != "global"
    return measure.coefficient.leave_one_out is not None and not of_ranked_means(measure, dims)


def of_ranked_means(measure: Measure, dims: tuple[str, ...]) -> bool:
    """Whether ranked system means are compared over inputs alone, where the jackknife is too narrow."""
    record = measure.coefficient.leave_one_out
    return record is not None and record.of_ranks and measure.level == "system" and dims == ("input",)


def needs(
    measure: Measure,
    dims: tuple[str, ...],
    shape: tuple[int, int],
    also: str = "",
    *,
    clusters: Clusters | None = None,
) -> str:
    """What there must be for the jackknife to have an interval (and `also` this), and what to do, in words."""
    for dim, codes in zip(facts.CELLS, clusters or (), strict=False):
        n = len(np.unique(codes))
        if dim in dims and n < min(LEAST_CLUSTERS, len(codes)):
            return f"more than {validate.counted(n, 'cluster')} of {dim}s{also}"
    systems, inputs = shape
    ranked = measure.coefficient.leave_one_out is not None and measure.coefficient.leave_one_out.of_ranks
    if measure.level == "within_system":
        return f"4 inputs or more ({inputs} here){also}"
    if dims == ("input",) and measure.level == "global":
        here = f"({systems} and {inputs} here)"
        return f"at least 4 systems or 4 inputs {here}, and scores that vary on 2 of the inputs{also}"
    if dims == ("input",) and measure.level == "input":
        return f"scores that vary on at least 2 of the {inputs} inputs{also}"
    level = arguments.given("level", "input")
    if dims == ("input",) and not ranked:
        way = f"; try {level}" if systems < few_systems.NEEDED - 1 else ""
        return f"at least 3 systems ({systems} here), and scores that vary on 2 of the inputs{also}{way}"
    ways = ([level] if measure.level == "system" else []) + [arguments.given("resample", "input")]
    way = f"; try {' with '.join(ways)}" if systems < few_systems.NEEDED else ""
    return f"4 systems or more ({systems} here){also}{way}"


def warn_of_ranked_means(measure: Measure, dims: tuple[str, ...], compared: str, advice: str) -> None:
    """Warn where the jackknife compares ranked system means over inputs alone."""
    if of_ranked_means(measure, dims):
        validate.warn(
            f"the jackknife of ranked system means over inputs alone is liberal: in simulations up to {compared} "
            f"differed at .05, and 95 % intervals covered the true difference in about 80 %; {advice}",
            "too_short",
        )


def warn_resting(places: xr.DataArray, names: Sequence[str], scores: schema.Scores, measure: Measure) -> None:
    """Warn of intervals that depend on one system, by its place among the systems of scores."""
    systems = checks.labels_of(scores.score, "system")
    scores.later.make(checks.warn_resting, places, list(names), systems, measure.coefficient.name)


def names_of(targets: Sequence[tuple[int, ...]], scores: schema.Scores) -> list[str]:
    """Metrics, or pairs of them, in words."""
    labels = scores.score["metric"].values.tolist()
    return [" and ".join(str(labels[at]) for at in target) for target in targets]
