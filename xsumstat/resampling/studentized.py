"""Bootstrap-t intervals: systems are drawn, and each estimate is divided by its own jackknife standard error."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xsumstat.coefficients import arrays
from xsumstat.coefficients.record import Measure
from xsumstat.core.types import FloatArray, IntArray
from xsumstat.inference.intervals import studentized_interval
from xsumstat.resampling import jackknife, threads
from xsumstat.resampling.bootstrap import BootstrapInterval, Estimates, OfInterval
from xsumstat.resampling.jobs import OfMetrics, Target, in_turn
from xsumstat.resampling.plans import DrawPlan

_NAMES = ("estimate", "ci_low", "ci_high", "standard_error", "n_undefined", "bias", "fell_back")
# A standard error that is no larger is none.
_NOTHING = 1e-12
# Counts of systems that are held at a time: of each draw without each of its systems.
_COUNTS = 2**20


@dataclass(frozen=True)
class Ready:
    """Targets ready to be drawn, with the numbers of `jackknife.NAMES` (names, targets)."""

    estimates: Estimates
    jackknifed: FloatArray


@dataclass(frozen=True)
class Studentized(OfInterval[Ready], OfMetrics[Ready]):
    """The bootstrap-t interval of each target at input level; its dims are those of the jackknife's variance."""

    targets: tuple[Target, ...]
    measure: Measure
    interval: BootstrapInterval

    names = _NAMES

    def bytes_each(self, x: Any, z: Any, *beside: Any) -> int:
        """About how many bytes a target takes, with its samples and their standard errors."""
        return 2 * arrays.footprint((z.shape[-2], z.shape[-1]), self.measure.level) + 16 * self.n_resamples

    def ready(self, at: slice, x: FloatArray, z: FloatArray, *beside: Any) -> Ready:
        targets, dims = self.targets[at], self.interval.dims
        estimates = Estimates.of(x, z, targets, self.measure, ("system",))
        level = self.interval.confidence_level
        return Ready(estimates, jackknife.intervals(x, z, targets, self.measure, dims, level))

    def rows(self, ready: Ready) -> int:
        return len(ready.estimates.estimators) + len(ready.estimates.places)

    def block(self, ready: Ready, block: int, out: FloatArray, stop: threading.Event | None) -> None:
        """Fill the statistics of a block's draws, and their standard errors."""
        estimates, interval = ready.estimates, self.interval
        draw = DrawPlan(estimates.shape, ("system",), interval.n_resamples, interval.seed).block(block)
        estimates.drawn(draw, out[: len(estimates.estimators)], stop)
        standard_errors(estimates, draw.systems, out[len(estimates.estimators) :], stop)

    def finish(self, ready: Ready, counts: IntArray | None, samples: FloatArray) -> FloatArray:
        errors = samples[len(ready.estimates.estimators) :]
        places = zip(ready.jackknifed.T, self.kept(ready, samples), errors, strict=True)
        return np.array(
            [self._numbers(dict(zip(jackknife.NAMES, each, strict=True)), *rows) for each, *rows in places]
        ).T

    def kept(self, ready: Ready, samples: FloatArray) -> FloatArray:
        return ready.estimates.of_targets(samples[: len(ready.estimates.estimators)])

    def _numbers(self, known: dict[str, float], samples: FloatArray, errors: FloatArray) -> tuple[float, ...]:
        """Numbers of one target; where nothing varies, the jackknife's interval."""
        estimate, error, limits = known["estimate"], known["standard_error"], (known["ci_low"], known["ci_high"])
        defined = ~np.isnan(samples) & (errors > _NOTHING)
        few = defined.sum() < 2 or bool(known["fell_back"]) or np.isnan(error)
        if not few:
            t = (samples[defined] - estimate) / errors[defined]
            low, high = studentized_interval(estimate, t, error, self.interval.confidence_level)
            least, most = self._bounds
            limits = max(least, low), min(most, high)
        there = ~np.isnan(samples)
        bias = float(samples[there].mean()) - estimate if there.any() else np.nan
        fell_back = few and not np.isnan(limits[0])
        return estimate, *limits, error, int((~defined).sum()), bias, fell_back

    @property
    def _bounds(self) -> tuple[float, float]:
        least, most = self.measure.coefficient.bounds
        return (least, most) if len(self.targets[0]) == 1 else (least - most, most - least)


def standard_errors(
    estimates: Estimates, systems: IntArray, out: FloatArray, stop: threading.Event | None = None
) -> None:
    """Fill in ``√((n−1)/n · Σ w·(θ(−i) − mean)²)`` over n drawn systems with counts w, (targets, resamples)."""
    n, inputs = estimates.shape[0], arrays.ones(estimates.shape[1])
    cost = sum(each.cost for each in estimates.estimators)
    step = max(1, _COUNTS // n**2)
    for start in range(0, len(systems), step):
        drawn = systems[start : start + step]
        resample, system = np.nonzero(drawn)
        values = np.full((len(estimates.estimators), len(system)), np.nan)
        for piece in threads.pieces(len(system), max(cost, 300 * n), stop):
            without = drawn[resample[piece]]
            without[np.arange(len(without)), system[piece]] -= 1
            values[:, piece] = [each.bootstrap(without, inputs) for each in estimates.estimators]
        without_one = np.full((len(estimates.places), *drawn.shape), np.nan)
        without_one[:, resample, system] = estimates.of_targets(values)
        out[:, start : start + step] = _spread(without_one, drawn, n)
        if stop is not None and stop.is_set():
            return


def _spread(values: FloatArray, counts: IntArray, n: int) -> FloatArray:
    """Root of ``(n−1)/n`` times the squares about the mean, along the last axis; NaN where all are."""
    weights = np.where(np.isnan(values), 0, counts)
    values, total = np.nan_to_num(values), weights.sum(axis=-1)
    mean = (weights * values).sum(axis=-1) / np.maximum(total, 1)
    squares = (weights * (values - mean[..., None]) ** 2).sum(axis=-1)
    return np.where(total > 0, np.sqrt((n - 1) / n * squares), np.nan)


def intervals(
    scores: FloatArray, z: FloatArray, targets: Sequence[Target], measure: Measure, interval: BootstrapInterval
) -> FloatArray:
    """The numbers of `Studentized.names`, (names, targets), without threads."""
    job = Studentized(tuple(targets), measure, interval)
    return in_turn(job, job.ready(slice(None), scores, z))
