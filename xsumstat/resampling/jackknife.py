"""Two-way jackknife of correlations of metrics with gold, or of differences of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from xsumstat.coefficients import arrays, leave_one_out, pairs
from xsumstat.coefficients import clusters as by_cluster
from xsumstat.coefficients.clusters import Clusters
from xsumstat.coefficients.leave_one_out import OfRefits, Parts
from xsumstat.coefficients.record import Measure
from xsumstat.core.types import FloatArray
from xsumstat.inference import calibration, jackknife
from xsumstat.inference.jackknife import Estimated
from xsumstat.resampling import jobs
from xsumstat.resampling.jobs import AtOnce, Job, OfMetrics, Target

NAMES = ("estimate", "ci_low", "ci_high", "standard_error", "n_undefined", "bias", "df", "fell_back", "rests_on")


def estimated(
    scores: FloatArray,
    z: FloatArray,
    targets: Sequence[Target],
    measure: Measure,
    dims: tuple[str, ...],
    clusters: Clusters | None = None,
    refits: Sequence[RefitOf] = (),
) -> list[tuple[Estimated, int, int]]:
    """Each target's estimate, the number of undefined ones without a label, and the place of its system (−1: none)."""
    # Two metrics are compared on common cells; with missing="available" each keeps all its cells. Clusters are left out
    # whole. A calibrated metric is recalibrated each time.
    by_metric = {each.metric: each for each in refits}
    anew = [any(metric in by_metric for metric in target) for target in targets]
    if any(anew) and not all(anew):
        order = sorted(range(len(targets)), key=anew.__getitem__)
        each = [
            estimated(scores, z, [targets[at] for at in order if anew[at] == kind], measure, dims, clusters, refits)
            for kind in (False, True)
        ]
        by_place = dict(zip(order, [*each[0], *each[1]], strict=True))
        return [by_place[at] for at in range(len(targets))]

    def parts_of(x: FloatArray, metric: int) -> Parts:
        of_metric = measure.of_metric(metric)
        if not any(anew):
            return by_cluster.of(x, z, of_metric, clusters)
        known = by_metric[metric].refit(scores) if metric in by_metric else None
        return calibration.refitted(x, z, known, of_metric, dims, clusters)

    def make(x: FloatArray, metric: int) -> _OfMetric:
        of_metric = measure.of_metric(metric)
        parts = parts_of(x, metric)
        at = jackknife.rests_on(parts, dims) if clusters is None else -1
        if at >= 0 and not isinstance(parts, OfRefits):
            at = int(np.flatnonzero(leave_one_out.taking_part(x, z, of_metric)[0])[at])
        return _OfMetric(parts, jackknife.of_one(parts, measure, dims), jackknife.n_undefined(parts, dims), at)

    found = []
    most = _most((z.shape[-2], z.shape[-1])) if len(targets[0]) > 1 else 1
    for one, *others in pairs.in_turn(scores, z, targets, measure, make, most):
        if not others:
            found.append((one.estimate, one.undefined, one.resting))
            continue
        two = others[0]
        both = jackknife.of_two([one.parts, two.parts], [one.estimate, two.estimate], dims, measure.coefficient.stretch)
        resting = one.resting if one.resting >= 0 else two.resting
        found.append((both, max(one.undefined, two.undefined), resting))
    return found


@dataclass(frozen=True)
class RefitOf:
    """A metric, by place, that is recalibrated, with the places of its judge, folds and human scores."""

    metric: int
    judge: int
    folds: int
    human: tuple[int, ...]
    how: calibration.Calibration
    name: str

    @property
    def places(self) -> tuple[int, ...]:
        return self.judge, self.folds, *self.human

    def refit(self, scores: FloatArray) -> calibration.Refit:
        folds = scores[self.folds][0].astype(np.int64)
        people = np.array([scores[at] for at in self.human])
        return calibration.Refit(self.how, scores[self.judge], people, folds, self.name)

    def among(self, places: Sequence[int]) -> RefitOf:
        metric, judge, folds, *human = map(places.index, (self.metric, *self.places))
        return replace(self, metric=metric, judge=judge, folds=folds, human=tuple(human))


@dataclass(frozen=True)
class _OfMetric:
    """Parts and estimate of one metric, its undefined values, and the system it depends on."""

    parts: Parts
    estimate: Estimated
    undefined: int
    resting: int


def tiled(targets: Sequence[Target], shape: tuple[int, int]) -> tuple[Target, ...]:
    """Pairs in an order in which neighbours share as many metrics as `estimated` keeps."""
    most = _most(shape)
    if len({metric for pair in targets for metric in pair}) <= most:
        return tuple(targets)
    return tuple(sorted(targets, key=lambda pair: (*sorted(metric // (most // 2) for metric in pair), *pair)))


def _most(shape: tuple[int, int]) -> int:
    """Number of metrics whose parts are kept in memory together."""
    return max(2, 2 * jobs.BYTES_AT_ONCE // max(1, arrays.footprint(shape, "system")))


def intervals(
    scores: FloatArray,
    z: FloatArray,
    targets: Sequence[Target],
    measure: Measure,
    dims: tuple[str, ...],
    confidence_level: float,
    clusters: Clusters | None = None,
    refits: Sequence[RefitOf] = (),
) -> FloatArray:
    numbers = []
    for one, undefined, resting in estimated(scores, z, targets, measure, dims, clusters, refits):
        limits = one.interval(confidence_level)
        known = one.standard_error, undefined, one.bias, one.df, one.fell_back
        numbers.append((one.estimate, *limits, *known, resting))
    return np.array(numbers, dtype=float).T


@dataclass(frozen=True)
class Jackknife(AtOnce, OfMetrics[FloatArray]):
    """The jackknife interval of each target (one metric, or two); `refits` are recalibrated metrics."""

    targets: tuple[Target, ...]
    measure: Measure
    dims: tuple[str, ...]
    confidence_level: float
    clusters: Clusters | None = field(default=None, kw_only=True)
    refits: tuple[RefitOf, ...] = field(default=(), kw_only=True)

    names = NAMES

    def metrics_of(self, target: Target) -> tuple[int, ...]:
        """The metrics of a target, and what recalibrated ones are made of."""
        return (*target, *(place for each in self.refits if each.metric in target for place in each.places))

    def narrowed(self, at: slice, places: Sequence[int] | None) -> Job[FloatArray]:
        """A job of some targets that sees some metrics, and what recalibrated ones are made of."""
        assert places is not None
        targets = tuple(tuple(places.index(metric) for metric in target) for target in self.targets[at])
        refits = tuple(each.among(places) for each in self.refits if {each.metric, *each.places} <= set(places))
        beside = {place for each in self.refits for place in each.places}
        measure = self.measure.of_metrics([place for place in places if place not in beside])
        return replace(self, targets=targets, measure=measure, refits=refits)

    def bytes_each(self, x: Any, z: Any, *beside: Any) -> int:
        return 2 * arrays.footprint((z.shape[-2], z.shape[-1]), "system")

    def at_once(self, x: Any = None, z: Any = None, *beside: Any) -> int:
        """All pairs: only the metrics' parts take memory."""
        return len(self.targets) if len(self.targets[0]) > 1 else super().at_once(x, z, *beside)

    def metrics_at_once(self, shape: tuple[int, int]) -> int:
        """Half of those whose parts may be kept, because several tasks run in parallel."""
        return _most(shape) // 2

    def batches(self, x: Any = None, z: Any = None, *beside: Any) -> list[slice]:
        """Places of pairs that share the parts of a few metrics."""
        if len(self.targets[0]) == 1:
            return super().batches(x, z, *beside)
        most = _most((z.shape[-2], z.shape[-1]))
        return [at for at, _ in jobs.sharing(self, len(self.targets), most)]

    def ready(self, at: slice, x: FloatArray, z: FloatArray, *beside: Any) -> FloatArray:
        how = self.measure, self.dims, self.confidence_level, self.clusters, self.refits
        return intervals(x, z, self.targets[at], *how)
