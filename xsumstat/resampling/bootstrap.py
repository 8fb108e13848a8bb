"""Bootstrap of correlations of metrics with gold, or of differences of two."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from xsumstat.coefficients import arrays, pairs
from xsumstat.coefficients.clusters import Clusters
from xsumstat.coefficients.layers import Aggregated
from xsumstat.coefficients.leave_one_out import each_left_out
from xsumstat.coefficients.pairs import Draw
from xsumstat.coefficients.record import Estimator, Measure
from xsumstat.core.types import FloatArray, IntArray
from xsumstat.inference import intervals
from xsumstat.resampling import threads
from xsumstat.resampling.jobs import Job, OfMetrics, R, Target
from xsumstat.resampling.plans import DrawPlan

_NAMES = ("estimate", "ci_low", "ci_high", "standard_error", "n_undefined", "bias")


@dataclass(frozen=True)
class Estimates:
    """Targets, ready to be estimated from any counts of systems and inputs."""

    estimators: tuple[Estimator, ...]  # correlations of all targets, each once
    places: IntArray  # (targets, 1 or 2), a target's estimators
    shape: tuple[int, int]  # systems and inputs
    layers: tuple[int, ...] = ()  # references and raters

    @classmethod
    def of(
        cls,
        scores: FloatArray,
        z: FloatArray,
        targets: Sequence[Target],
        measure: Measure,
        dims: tuple[str, ...],
        aggregate: str = "mean",
    ) -> Estimates:
        """From `scores` (metrics, systems, inputs) and gold `z`; two metrics on common cells unless "available"."""
        # For "cell" each cell becomes a system with one input. For "reference" scores are (metrics, references,
        # systems, inputs), aggregated by `aggregate`; for "rater" gold is (raters, systems, inputs).
        if set(dims) - {"system", "input"}:
            scores = np.asarray(scores)
        if "cell" in dims:
            there = ~np.isnan(z.reshape(-1, *z.shape[-2:])).all(axis=0)
            there &= ~np.isnan(scores.reshape(-1, *z.shape[-2:])).all(axis=0)
            scores, z = scores[..., there][..., None], z[..., there][..., None]
        if "reference" in dims or "rater" in dims:
            return cls._of_layers(scores, z, targets, measure, aggregate)
        made, places = pairs.estimators(scores, z, targets, measure)
        return cls(made, places, (z.shape[-2], z.shape[-1]))

    @classmethod
    def _of_layers(
        cls, scores: FloatArray, z: FloatArray, targets: Sequence[Target], measure: Measure, aggregate: str
    ) -> Estimates:
        scores = scores if scores.ndim == 4 else scores[:, None]
        z = z if z.ndim == 3 else z[None]
        there = np.array(~np.isnan(scores).all(axis=1))
        everywhere = np.full(z.shape[1:], True)
        cells = [everywhere if measure.own_cells else np.all(there[list(each)], axis=0) for each in targets]
        made, places = pairs.each_once(scores, targets, cells, lambda x, _: Aggregated(x, z, aggregate, measure))
        return cls(made, places, (z.shape[1], z.shape[2]), (scores.shape[1], len(z)))

    def of_targets(self, values: FloatArray) -> FloatArray:
        """Values of the targets from those of the estimators, both along the first axis."""
        first = values[self.places[:, 0]]
        return first if self.places.shape[1] == 1 else first - values[self.places[:, 1]]

    @cached_property
    def values(self) -> FloatArray:
        return self.of_targets(np.array([each.value() for each in self.estimators]))

    def leave_one_out(self, dims: tuple[str, ...]) -> list[FloatArray]:
        """Estimates without each label, (targets, labels) for each of the dims."""
        by_estimator = [each_left_out(each, self.shape, dims) for each in self.estimators]
        return [self.of_targets(np.array(of_dim)) for of_dim in zip(*by_estimator, strict=True)]

    def drawn(self, draw: Draw, out: FloatArray, stop: threading.Event | None = None) -> None:
        """Fill the statistic of each estimator in some resamples, (estimators, resamples); NaN where undefined."""
        for row, estimator in zip(out, self.estimators, strict=True):
            for piece in threads.pieces(len(draw), estimator.cost, stop):
                here = draw[piece]
                row[piece] = estimator.bootstrap(here.systems, here.inputs, *here.layers)


@dataclass(frozen=True)
class BootstrapInterval:
    """The kind of interval and its resamples; "studentized" is made by `resampling.studentized`."""

    name: str
    dims: tuple[str, ...]
    n_resamples: int
    seed: int
    confidence_level: float
    clusters: Clusters | None = field(default=None, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        return (*_NAMES, "fell_back") if self.name in ("bca", "corrected") else _NAMES

    def plans(self, shape: tuple[int, int], layers: tuple[int, ...] = ()) -> tuple[DrawPlan, ...]:
        """Plans of draws, which share their draws of each dim; the first gives the samples."""
        several = [self.dims, *((dim,) for dim in self.dims if self.name == "corrected")]
        return tuple(DrawPlan(shape, dims, self.n_resamples, self.seed, layers, self.clusters) for dims in several)

    def summarised(self, made: Estimates, samples: Sequence[FloatArray]) -> FloatArray:
        """The numbers of `names`, (names, targets), from the estimators' samples (estimators, n) of each plan."""
        by_plan = [made.of_targets(each) for each in samples]
        left_out = made.leave_one_out(self.dims) if self.name == "bca" else []
        numbers = []
        for at, estimate in enumerate(made.values):
            rows = [each[at] for each in by_plan]
            interval = self._interval(float(estimate), rows, [each[at] for each in left_out])
            undefined = np.isnan(rows[0])
            bias = rows[0][~undefined].mean() - estimate if not undefined.all() else np.nan
            numbers.append((estimate, *interval[:3], undefined.sum(), bias, *interval[3:]))
        return np.array(numbers, dtype=float).T

    def _interval(self, estimate: float, rows: list[FloatArray], left_out: list[FloatArray]) -> tuple[float, ...]:
        if self.name == "bca":
            return intervals.bca_interval(estimate, rows[0], left_out, self.confidence_level)
        if self.name == "corrected":
            return intervals.corrected_interval(estimate, *rows, confidence_level=self.confidence_level)
        assert self.name != "studentized"  # a job of its own
        return intervals.bootstrap_interval(estimate, rows[0], self.name, self.confidence_level)


class OfInterval(Job[R]):
    """A job whose resamples are those of an interval."""

    interval: BootstrapInterval

    @property
    def n_resamples(self) -> int:  # type: ignore[override]
        return self.interval.n_resamples


@dataclass(frozen=True)
class Bootstrap(OfInterval[Estimates], OfMetrics[Estimates]):
    targets: tuple[Target, ...]
    measure: Measure
    interval: BootstrapInterval
    aggregate: str = "mean"

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.interval.names

    def bytes_each(self, x: Any, z: Any, *beside: Any) -> int:
        shape = z.shape[-2], z.shape[-1]
        n_plans = len(self.interval.plans(shape))
        return arrays.footprint(shape, self.measure.level) + 8 * self.n_resamples * n_plans

    def ready(self, at: slice, x: FloatArray, z: FloatArray, *beside: Any) -> Estimates:
        return Estimates.of(x, z, self.targets[at], self.measure, self.interval.dims, self.aggregate)

    def rows(self, ready: Estimates) -> int:
        return len(ready.estimators) * len(self.interval.plans(ready.shape))

    def block(self, ready: Estimates, block: int, out: FloatArray, stop: threading.Event | None) -> None:
        plans = self.interval.plans(ready.shape, ready.layers)
        for plan, rows in zip(plans, np.split(out, len(plans)), strict=True):
            for at, draw in plan.pieces(block):
                ready.drawn(draw, rows[:, at], stop)

    def finish(self, ready: Estimates, counts: IntArray | None, samples: FloatArray) -> FloatArray:
        return self.interval.summarised(ready, self._by_plan(ready, samples))

    def kept(self, ready: Estimates, samples: FloatArray) -> FloatArray:
        return ready.of_targets(self._by_plan(ready, samples)[0])

    def _by_plan(self, ready: Estimates, samples: FloatArray) -> list[FloatArray]:
        return np.split(samples, len(self.interval.plans(ready.shape)))


def fisher(
    x: FloatArray, z: FloatArray, measure: Measure, confidence_level: float
) -> tuple[float, float, float, float]:
    estimate = measure.estimator(x, z).value()
    gold = arrays.human(z, measure.own_cells)
    size = arrays.fisher_size(x, gold, measure.level, measure.missing) - len(measure.given)
    return estimate, *intervals.fisher_interval(estimate, size, measure.coefficient, confidence_level)
