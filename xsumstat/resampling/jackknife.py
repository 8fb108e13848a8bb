"""Correlations of metrics with gold, or differences of two, with intervals by the two-way jackknife; no draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xsumstat.coefficients import arrays, leave_one_out, pairs
from xsumstat.coefficients.record import Measure
from xsumstat.inference import jackknife
from xsumstat.inference.jackknife import Estimated
from xsumstat.resampling.jobs import AtOnce, OfMetrics
from xsumstat.types import FloatArray

# One metric, or two of which the second's correlation is taken from the first's.
Target = tuple[int, ...]

NAMES = ("estimate", "ci_low", "ci_high", "standard_error", "n_undefined", "bias", "df", "fell_back")


def estimated(
    scores: FloatArray, z: FloatArray, targets: Sequence[Target], measure: Measure, dims: tuple[str, ...]
) -> list[tuple[Estimated, int]]:
    """Each target's estimate with what is known of it, and how many of its values without one label are undefined.

    Scores are (metrics, systems, inputs). Two metrics are compared on the cells that both have; under
    ``missing="available"``, which is of system means, each keeps all of its own.
    """
    made, places = pairs.of_targets(
        scores, z, targets, measure, lambda x, metric: leave_one_out.of(x, z, measure.of_metric(metric))
    )
    ones = [jackknife.of_one(parts, measure, dims) for parts in made]
    undefined = [jackknife.n_undefined(parts, dims) for parts in made]
    if places.shape[1] == 1:
        return [(ones[at], undefined[at]) for (at,) in places]
    return [
        (jackknife.of_two([made[one], made[two]], [ones[one], ones[two]], dims), max(undefined[one], undefined[two]))
        for one, two in places
    ]


def intervals(
    scores: FloatArray,
    z: FloatArray,
    targets: Sequence[Target],
    measure: Measure,
    dims: tuple[str, ...],
    confidence_level: float,
) -> FloatArray:
    """The numbers of `NAMES`, (names, targets)."""
    numbers = []
    for one, undefined in estimated(scores, z, targets, measure, dims):
        limits = one.interval(confidence_level)
        numbers.append((one.estimate, *limits, one.standard_error, undefined, one.bias, one.df, one.fell_back))
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
    """

    targets: tuple[Target, ...]
    measure: Measure
    dims: tuple[str, ...]
    confidence_level: float

    names = NAMES

    def bytes_each(self, x: Any, z: Any, *beside: Any) -> int:
        """About how many bytes a target takes."""
        return 2 * arrays.footprint((z.shape[-2], z.shape[-1]), "system")

    def ready(self, at: slice, x: FloatArray, z: FloatArray, *beside: Any) -> FloatArray:
        """The numbers of the targets, as there is nothing to draw."""
        return intervals(x, z, self.targets[at], self.measure, self.dims, self.confidence_level)
