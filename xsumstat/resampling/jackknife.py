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
from xsumstat.resampling import jobs
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

    def make(x: FloatArray, metric: int) -> _OfMetric:
        of_metric = measure.of_metric(metric)
        parts = by_cluster.of(x, z, of_metric, clusters)
        at = jackknife.rests_on(parts, dims) if clusters is None else -1
        at = at if at < 0 else int(np.flatnonzero(leave_one_out.taking_part(x, z, of_metric)[0])[at])
        return _OfMetric(parts, jackknife.of_one(parts, measure, dims), jackknife.n_undefined(parts, dims), at)

    found = []
    most = _most((z.shape[-2], z.shape[-1])) if len(targets[0]) > 1 else 1
    for one, *others in pairs.in_turn(scores, z, targets, measure, make, most):
        if not others:
            found.append((one.estimate, one.undefined, one.resting))
            continue
        two = others[0]
        both = jackknife.of_two([one.parts, two.parts], [one.estimate, two.estimate], dims)
        resting = one.resting if one.resting >= 0 else two.resting
        found.append((both, max(one.undefined, two.undefined), resting))
    return found


@dataclass(frozen=True)
class _OfMetric:
    """What is known of one metric: its parts, its estimate, how much is undefined, and on which system it rests."""

    parts: Parts
    estimate: Estimated
    undefined: int
    resting: int


def tiled(targets: Sequence[Target], shape: tuple[int, int]) -> tuple[Target, ...]:
    """Pairs of metrics in such an order that neighbours share metrics, as many as `estimated` keeps the parts of."""
    most = _most(shape)
    if len({metric for pair in targets for metric in pair}) <= most:
        return tuple(targets)
    return tuple(sorted(targets, key=lambda pair: (*sorted(metric // (most // 2) for metric in pair), *pair)))


def _most(shape: tuple[int, int]) -> int:
    """Of how many metrics the parts are kept in memory together."""
    return max(2, 2 * jobs.BYTES_AT_ONCE // max(1, arrays.footprint(shape, "system")))


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

    def at_once(self, x: Any = None, z: Any = None, *beside: Any) -> int:
        """As many pairs as there are: it is the metrics whose parts take memory."""
        return len(self.targets) if len(self.targets[0]) > 1 else super().at_once(x, z, *beside)

    def metrics_at_once(self, shape: tuple[int, int]) -> int:
        """Half of those whose parts may be kept, as several tasks run beside each other."""
        return _most(shape) // 2

    def batches(self, x: Any = None, z: Any = None, *beside: Any) -> list[slice]:
        """The places of pairs that share the parts of a few metrics."""
        if len(self.targets[0]) == 1:
            return super().batches(x, z, *beside)
        most = _most((z.shape[-2], z.shape[-1]))
        return [at for at, _ in jobs.sharing(self, len(self.targets), most)]

    def ready(self, at: slice, x: FloatArray, z: FloatArray, *beside: Any) -> FloatArray:
        """The numbers of the targets, as there is nothing to draw."""
        return intervals(x, z, self.targets[at], self.measure, self.dims, self.confidence_level, self.clusters)
