"""Correlations of metrics with gold, or differences of two, with intervals by the two-way jackknife; no draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xsumstat.coefficients import arrays, leave_one_out, pairs
from xsumstat.coefficients import clusters as by_cluster
from xsumstat.coefficients.clusters import Clusters
from xsumstat.coefficients.leave_one_out import Parts
from xsumstat.coefficients.record import Measure
from xsumstat.inference import jackknife
from xsumstat.inference.jackknife import Estimated
from xsumstat.resampling.jobs import AtOnce, OfMetrics
from xsumstat.types import FloatArray

# One metric, or two of which the second's correlation is taken from the first's.
Target = tuple[int, ...]

NAMES = ("estimate", "ci_low", "ci_high", "standard_error", "n_undefined", "bias", "df", "fell_back", "rests_on")


def estimated(
    scores: FloatArray,
    z: FloatArray,
    targets: Sequence[Target],
    measure: Measure,
    dims: tuple[str, ...],
    clusters: Clusters | None = None,
) -> list[tuple[Estimated, int, int]]:
    """Each target's estimate, how many of its values without one label are undefined, and on which system it rests.

    Scores are (metrics, systems, inputs). Two metrics are compared on the cells that both have; under
    ``missing="available"``, which is of system means, each keeps all of its own. The system is a place among all, -1
    for none; a difference rests on what one of its metrics does. Where there are clusters of systems or inputs, these
    are left out whole.
    """

    def make(x: FloatArray, metric: int) -> tuple[Parts, int]:
        of_metric = measure.of_metric(metric)
        if clusters is not None:
            return by_cluster.of(x, z, of_metric, clusters), -1
        parts = leave_one_out.of(x, z, of_metric)
        at = jackknife.rests_on(parts, dims)
        return parts, at if at < 0 else int(np.flatnonzero(leave_one_out.taking_part(x, z, of_metric)[0])[at])

    both, places = pairs.of_targets(scores, z, targets, measure, make)
    made, resting = [parts for parts, _ in both], [at for _, at in both]
    ones = [jackknife.of_one(parts, measure, dims) for parts in made]
    undefined = [jackknife.n_undefined(parts, dims) for parts in made]
    if places.shape[1] == 1:
        return [(ones[at], undefined[at], resting[at]) for (at,) in places]
    return [
        (
            jackknife.of_two([made[one], made[two]], [ones[one], ones[two]], dims),
            max(undefined[one], undefined[two]),
            resting[one] if resting[one] >= 0 else resting[two],
        )
        for one, two in places
    ]


def intervals(
    scores: FloatArray,
    z: FloatArray,
    targets: Sequence[Target],
    measure: Measure,
    dims: tuple[str, ...],
    confidence_level: float,
    clusters: Clusters | None = None,
) -> FloatArray:
    """The numbers of `NAMES`, (names, targets)."""
    numbers = []
    for one, undefined, resting in estimated(scores, z, targets, measure, dims, clusters):
        limits = one.interval(confidence_level)
        known = one.standard_error, undefined, one.bias, one.df, one.fell_back
        numbers.append((one.estimate, *limits, *known, resting))
    return np.array(numbers, dtype=float).T


@dataclass(frozen=True)
class Jackknife(AtOnce, OfMetrics[FloatArray]):
    """The jackknife interval of each target.

    Attributes
    ----------
    targets : tuple of tuples of int
        One metric, or two, of each.
    measure : Measure
    dims : tuple of str
        The dims whose labels are random.
    confidence_level : float
    clusters : tuple of arrays of int, optional
        The cluster of each system and of each input.
    """

    targets: tuple[Target, ...]
    measure: Measure
    dims: tuple[str, ...]
    confidence_level: float
    clusters: Clusters | None = field(default=None, kw_only=True)

    names = NAMES

    def bytes_each(self, x: Any, z: Any, *beside: Any) -> int:
        """About how many bytes a target takes."""
        return 2 * arrays.footprint((z.shape[-2], z.shape[-1]), "system")

    def ready(self, at: slice, x: FloatArray, z: FloatArray, *beside: Any) -> FloatArray:
        """The numbers of the targets, as there is nothing to draw."""
        return intervals(x, z, self.targets[at], self.measure, self.dims, self.confidence_level, self.clusters)
