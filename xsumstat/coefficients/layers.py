"""Scores by several references, or gold by several raters, aggregated after each draw (slow)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xsumstat.coefficients.arrays import exponent, made_equal
from xsumstat.coefficients.record import Estimator, Measure
from xsumstat.core.types import FloatArray, IntArray

AGGREGATES = ("mean", "max")


@dataclass(frozen=True)
class Aggregated:
    """A metric (references, systems, inputs) with gold (raters, systems, inputs); one or both have several layers."""

    x: FloatArray
    z: FloatArray
    aggregate: str
    measure: Measure

    @property
    def cost(self) -> float:
        return 1e6

    def groups(self) -> tuple[FloatArray, FloatArray]:
        return self._estimator(np.ones(len(self.x)), np.ones(len(self.z))).groups()

    def value(self) -> float:
        return self._estimator(np.ones(len(self.x)), np.ones(len(self.z))).value()

    def bootstrap(
        self, systems: IntArray, inputs: IntArray, references: IntArray | None = None, raters: IntArray | None = None
    ) -> FloatArray:
        """The statistic for each row of counts; a dim that is not drawn has one row of ones."""
        layers = [
            np.ones((1, len(values)), dtype=np.int64) if counts is None else counts
            for values, counts in ((self.x, references), (self.z, raters))
        ]
        if self.aggregate == "max":
            layers[0] = np.minimum(layers[0], 1)
        rows = max(len(each) for each in (systems, inputs, *layers))
        drawn = np.hstack([np.broadcast_to(each, (rows, each.shape[1])) for each in layers])
        kinds, kind = np.unique(drawn, axis=0, return_inverse=True)
        out = np.empty(rows)
        for number, counts in enumerate(kinds):
            at = np.flatnonzero(kind.ravel() == number)
            estimator = self._estimator(counts[: len(self.x)], counts[len(self.x) :])
            here = (each[at] if len(each) > 1 else each for each in (systems, inputs))
            out[at] = estimator.bootstrap(*here)
        return out

    def _estimator(self, references: FloatArray | IntArray, raters: FloatArray | IntArray) -> Estimator:
        x, z = pooled(self.x, references, self.aggregate), pooled(self.z, raters, "mean")
        return self.measure.estimator(x, z)


def pooled(values: FloatArray, counts: FloatArray | IntArray, aggregate: str) -> FloatArray:
    """One score per cell from layers (layers, systems, inputs) drawn `counts` times; NaN without layers."""
    drawn, times = values[counts > 0], np.asarray(counts[counts > 0], dtype=float)[:, None, None]
    there = ~np.isnan(drawn)
    some = there.any(axis=0)
    if aggregate == "max":
        return np.where(some, np.where(there, drawn, -np.inf).max(axis=0), np.nan)
    power = exponent(drawn)
    scores = np.where(there, np.ldexp(drawn, -power), 0.0)
    weight = np.where(some, (times * there).sum(axis=0), 1.0)
    mean = np.where(some, (times * scores).sum(axis=0) / weight, np.nan)
    if len(drawn) > 1:
        sizes = (times * np.abs(scores)).sum(axis=0) / weight
        mean = made_equal(mean.ravel(), sizes.ravel()).reshape(mean.shape)
    return np.ldexp(mean, power)
