"""Correlations of metrics and of raters with the mean of the other raters, averaged over raters."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from xsumstat.coefficients import arrays, curvature
from xsumstat.coefficients import clusters as by_cluster
from xsumstat.coefficients.clusters import Clusters
from xsumstat.coefficients.leave_one_out import OfCells, OfGroups, OfMeans, Parts
from xsumstat.coefficients.record import Measure
from xsumstat.core.types import FloatArray, IntArray
from xsumstat.inference import jackknife
from xsumstat.inference.intervals import bootstrap_interval
from xsumstat.resampling.bootstrap import BootstrapInterval, Estimates, OfInterval
from xsumstat.resampling.jobs import Job

NAMES = (
    *("correlation", "ci_low", "ci_high", "standard_error", "n_undefined"),
    *("difference", "difference_low", "difference_high"),
)


@dataclass(frozen=True)
class _Ceiling(Job[Any]):
    """Correlations by rater, and their means, of metrics (metrics, raters, systems, inputs); the raters come last."""

    targets: range
    measure: Measure
    n_raters: int

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        return (*NAMES, *(f"by_rater_{at}" for at in range(self.n_raters)))

    def bytes_each(self, x: Any, z: Any, *beside: Any) -> int:
        return len(z) * arrays.footprint((z.shape[-2], z.shape[-1]), self.measure.level) + 8 * self.n_resamples


@dataclass(frozen=True)
class BootstrapCeiling(OfInterval[Any], _Ceiling):
    interval: BootstrapInterval

    def ready(self, at: slice, x: FloatArray, z: FloatArray, *beside: Any) -> list[Estimates]:
        """Estimators of metrics and raters, with the mean of the other raters as gold, for each rater."""
        targets = [(place,) for place in (*self.targets[at], self.targets[-1])]
        by_rater = zip(x.swapaxes(0, 1), z, strict=True)
        return [Estimates.of(each, gold, targets, self.measure, self.interval.dims) for each, gold in by_rater]

    def rows(self, ready: list[Estimates]) -> int:
        return len(ready[0].places)

    def block(self, ready: list[Estimates], block: int, out: FloatArray, stop: threading.Event | None) -> None:
        drawn = np.empty((len(ready), *out.shape))
        for rows, made in zip(drawn, ready, strict=True):
            own = np.empty((len(made.estimators), out.shape[1]))
            made.drawn(self.interval.plans(made.shape)[0].block(block), own, stop)
            rows[:] = made.of_targets(own)
        out[:] = arrays.defined_means(drawn)

    def finish(self, ready: list[Estimates], counts: IntArray | None, samples: FloatArray) -> FloatArray:
        by_rater = np.array([made.values for made in ready]).T
        *metrics, (values, drawn) = zip(by_rater, samples, strict=True)
        numbers = []
        for own, rows in metrics:
            gap = float(arrays.defined_means(own) - arrays.defined_means(values))
            limits = self._limits(gap, rows - drawn)[:2]
            numbers.append((*self._numbers(own, rows), gap, *limits, *own))
        return np.array(numbers, dtype=float).T

    def _numbers(self, by_rater: FloatArray, samples: FloatArray) -> tuple[float, ...]:
        """Mean over raters, its interval and standard error, and the number of undefined resamples."""
        estimate = float(arrays.defined_means(by_rater))
        return estimate, *self._limits(estimate, samples), float(np.isnan(samples).sum())

    def _limits(self, estimate: float, samples: FloatArray) -> tuple[float, float, float]:
        return bootstrap_interval(estimate, samples, self.interval.name, self.interval.confidence_level)


@dataclass(frozen=True)
class JackknifeCeiling(_Ceiling):
    dims: tuple[str, ...]
    confidence_level: float
    clusters: Clusters | None = field(default=None, compare=False)
    n_resamples = 0

    def ready(self, at: slice, x: FloatArray, z: FloatArray, *beside: Any) -> list[list[Parts]]:
        """Correlations of metrics, and last the raters', without each label, for each rater."""
        places = (*self.targets[at], self.targets[-1])
        return [
            [by_cluster.of(x[place, rater], gold, self.measure, self.clusters) for rater, gold in enumerate(z)]
            for place in places
        ]

    def finish(self, ready: list[list[Parts]], counts: IntArray | None, samples: FloatArray) -> FloatArray:
        means = [averaged(each) for each in ready]
        ones = [jackknife.of_one(each, self.measure, self.dims) for each in means]
        numbers = []
        for own, parts, one in zip(ready[:-1], means, ones, strict=False):
            undefined = sum(jackknife.n_undefined(each, self.dims) for each in own)
            gap = jackknife.of_two([parts, means[-1]], [one, ones[-1]], self.dims, self.measure.coefficient.stretch)
            limits, apart = (each.interval(self.confidence_level) for each in (one, gap))
            by_rater = (each.value for each in own)
            numbers.append((one.estimate, *limits, one.standard_error, undefined, gap.estimate, *apart, *by_rater))
        return np.array(numbers, dtype=float).T


def averaged(parts: Sequence[Parts]) -> Parts:
    """Parts of the mean of several estimates on the same systems and inputs; undefined ones are left out."""
    some = [each for each in parts if not np.isnan(each.value)] or list(parts[:1])
    first: Any = some[0]
    if isinstance(first, OfGroups):
        return _averaged_groups([each for each in some if isinstance(each, OfGroups)])
    names = ("without", "pearson", "influence") if isinstance(first, OfMeans) else ("systems", "inputs")
    means: dict[str, Any] = {
        name: arrays.defined_means(np.array([getattr(each, name) for each in some])) for name in names
    }
    if isinstance(first, OfMeans):
        means["bends"] = curvature.averaged([each.bends for each in some if isinstance(each, OfMeans)])
        means["pearson_value"] = float(np.mean([each.pearson_value for each in some if isinstance(each, OfMeans)]))
    if isinstance(first, OfCells):  # `influence` is divided by the number of cells
        cells = [each for each in some if isinstance(each, OfCells)]
        means["influence"] = np.mean([first.n_cells / each.n_cells * each.influence for each in cells], axis=0)
    found: Parts = replace(first, value=float(np.mean([each.value for each in some])), **means)
    return found


def _averaged_groups(parts: Sequence[OfGroups]) -> OfGroups:
    """Averages of averages: a group without a correlation takes its average, and adds no spread."""
    r, without = [], []
    for each in parts:
        filled = np.where(np.isnan(each.r), each.value, each.r)
        r.append(filled)
        without.append(np.where(each.there & ~np.isnan(each.r), each.without, filled))
    there = np.any([each.there for each in parts], axis=0)
    none = np.all([np.isnan(each.r) for each in parts], axis=0)
    return replace(
        parts[0],
        value=float(np.mean([each.value for each in parts])),
        r=np.where(none, np.nan, np.mean(r, axis=0)),
        without=np.where(there & ~none, np.mean(without, axis=0), np.nan),
        averages=arrays.defined_means(np.array([each.averages for each in parts])),
        there=there,
    )
