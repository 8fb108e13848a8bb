"""Which comparison serves which coefficient: a metric's scores and the gold's, made ready for a level."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from xsumstat import _kernels as kernels
from xsumstat import decisions, levels, soft_accuracy
from xsumstat.coefficients import Coefficient, FloatArray
from xsumstat.levels import Comparison, IntArray


def compare(
    x: FloatArray, z: FloatArray, *, level: str, coefficient: Coefficient, missing: str, undefined: str
) -> Comparison:
    """Make `x` and `z`, (systems, inputs), ready for a level (statistics of Deutsch et al. 2021, §2)."""
    levels.check_finite(x, z)
    zero = levels.counts_as_zero(undefined, level)
    kind = coefficient.kind
    if kind is None:
        return _ByFunction(x, z, level, coefficient, missing, zero)
    if kind == kernels.SOFT:
        return soft_accuracy.SoftAccuracy.of(x, z, missing)
    if kind in levels.DECISIONS:
        coefficient = rescaled(coefficient, x if kind == kernels.ACC_EQ else z)
    x, z = levels.scaled(x), levels.scaled(z)
    if kind in levels.DECISIONS and level != "system":
        return decisions.compared(x, z, level, coefficient, missing, zero)
    return levels.correlated(x, z, kind, level, missing, zero, coefficient.threshold)


def threshold_of(made: Comparison, x: FloatArray, z: FloatArray, **settings: Any) -> float:
    """The threshold of accuracy with ties, in units of the scores, of what `compare` made of them."""
    if isinstance(made, decisions.WithTies):
        return levels.shifted(made.threshold, levels.exponent(x))
    return decisions.calibrated(x, z, **settings)


def rescaled(coefficient: Coefficient, values: FloatArray) -> Coefficient:
    """With its threshold as `levels.scaled` makes it, for the values that it is of."""
    return coefficient.at(levels.shifted(coefficient.threshold, -levels.exponent(values)))


@dataclass(frozen=True)
class _ByFunction:
    """Any function of two vectors; the slow path, one call per group and resample."""

    x: FloatArray
    z: FloatArray
    level: str
    coefficient: Coefficient
    missing: str
    zero: bool

    @property
    def cost(self) -> float:
        return 1e5 * (1 if self.level in ("system", "global") else max(self.x.shape))

    def groups(self) -> tuple[FloatArray, FloatArray]:
        return self._groups(self.x, self.z)

    def value(self) -> float:
        return levels.average(*self.groups(), self.zero)

    def _groups(self, x: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        pairs = list(levels.vectors(x, z, self.level, self.missing))
        r = [self.coefficient(*pair) if len(pair[0]) > 1 else math.nan for pair in pairs]
        return np.array(r, dtype=float), np.array([len(pair[0]) for pair in pairs], dtype=float)

    def bootstrap(self, systems: IntArray, inputs: IntArray) -> FloatArray:
        out = np.empty(max(len(systems), len(inputs)))
        for s in range(len(out)):
            rows = np.repeat(np.arange(systems.shape[1]), systems[min(s, len(systems) - 1)])
            columns = np.repeat(np.arange(inputs.shape[1]), inputs[min(s, len(inputs) - 1)])
            drawn = np.ix_(rows, columns)
            r, n = self._groups(self.x[drawn], self.z[drawn])
            out[s] = kernels.average(r, n, np.ones(len(r)), self.zero)
        return out
