"""Any function of two vectors as a coefficient: slow, one call for each group and resample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xsumstat.coefficients import arrays
from xsumstat.coefficients.record import Coefficient, Differences, Estimator, Measure
from xsumstat.core import validate
from xsumstat.core.types import Bits, BoolArray, CorrelationFunction, FloatArray, IntArray, Pair
from xsumstat.kernels import correlation as kernels


def coefficient(function: CorrelationFunction) -> Coefficient:
    name = getattr(function, "__name__", type(function).__name__)
    return Coefficient(name, name, (-math.inf, math.inf), estimator=estimator, swapped=swapped, function=function)


def estimator(x: FloatArray, z: FloatArray, measure: Measure) -> Estimator:
    return _ByFunction(x, z, measure)


def swapped(scores: FloatArray, z: FloatArray, pairs: tuple[Pair, ...], measure: Measure) -> Sequence[Differences]:
    tests, unseen, warned = [], {metric for pair in pairs for metric in pair}, False
    for pair, x, y, gold, cells in arrays.pairs_and_gold(scores, z, pairs, measure.level, measure.missing):
        for metric, standardised in zip(pair, (x, y), strict=True):
            if metric not in unseen or warned:
                continue
            unseen.remove(metric)
            warned = _warn_of_scale(np.where(cells, scores[metric], np.nan), standardised, gold, measure)
        if measure.level != "system":
            # Standardised scores that rounding alone tells apart are tied, or a swap would tell x from a copy of it.
            both = np.stack([x, y])
            there = ~np.isnan(both)
            both[there] = arrays.snapped(both[there], np.ones(int(there.sum())))
            x, y = both
        tests.append(_Swapped((pair,), x, y, gold, measure))
    return tests


def _warn_of_scale(x: FloatArray, standardised: FloatArray, z: FloatArray, measure: Measure) -> bool:
    """Warn once per call if a function depends on scale or origin, which swapped scores must share."""
    plain, other = (measure.estimator(each, z).value() for each in (x, standardised))
    if not abs(plain - other) > 1e-3 * max(1.0, abs(plain), abs(other)):
        return False
    validate.warn_once(
        f"coefficient {measure.coefficient.name!r} depends on the scale of scores"
        f": it is {plain:.4g} for the scores of one metric and {other:.4g} for the same scores standardised. The test "
        "swaps standardised scores; use boot_test or ci(other=...) to leave scores as they are",
        "depends_on_scale",
    )
    return True


@dataclass(frozen=True)
class _ByFunction:
    x: FloatArray
    z: FloatArray
    measure: Measure

    @property
    def cost(self) -> float:
        return 1e5 * (1 if self.measure.level in ("system", "global") else max(self.x.shape))

    def groups(self) -> tuple[FloatArray, FloatArray]:
        return self._groups(self.x, self.z)

    def value(self) -> float:
        return arrays.average(*self.groups(), self.measure.undefined_as_zero)

    def _groups(self, x: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        pairs = list(arrays.vectors(x, z, self.measure.level, self.measure.missing))
        r = [_value(self.measure.coefficient, *pair) if len(pair[0]) > 1 else math.nan for pair in pairs]
        return np.array(r, dtype=float), np.array([len(pair[0]) for pair in pairs], dtype=float)

    def bootstrap(self, systems: IntArray, inputs: IntArray) -> FloatArray:
        out = np.empty(max(len(systems), len(inputs)))
        for s in range(len(out)):
            rows = np.repeat(np.arange(systems.shape[1]), systems[min(s, len(systems) - 1)])
            columns = np.repeat(np.arange(inputs.shape[1]), inputs[min(s, len(inputs) - 1)])
            drawn = np.ix_(rows, columns)
            r, n = self._groups(self.x[drawn], self.z[drawn])
            out[s] = kernels.average(r, n, np.ones(len(r)), self.measure.undefined_as_zero)
        return out


def _value(record: Coefficient, x: FloatArray, z: FloatArray) -> float:
    assert record.function is not None
    value = record.function(x, z)
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        meant = _SCIPY.get(record.name)
        hint = f"; did you mean coefficient={meant!r}?" if meant else ""
        raise TypeError(
            f"coefficient {record.name!r} must return a number, it returned {type(value).__name__}{hint}"
        ) from error


# SciPy's functions of ours, which return a result object.
_SCIPY = {"pearsonr": "pearson", "spearmanr": "spearman", "kendalltau": "kendall"}


@dataclass(frozen=True)
class _Swapped:
    pairs: tuple[Pair, ...]
    x: FloatArray
    y: FloatArray
    z: FloatArray
    measure: Measure

    @property
    def cost(self) -> float:
        return 2e5 * (1 if self.measure.level in ("system", "global") else max(self.x.shape))

    def differences(self, bits: Bits) -> FloatArray:
        swaps = np.unpackbits(bits, axis=-1, count=self.z.shape[1], bitorder="little").astype(bool)
        out = [self._value(self.x, self.y, swap) - self._value(self.y, self.x, swap) for swap in swaps]
        return np.array(out)[None]

    def _value(self, kept: FloatArray, given: FloatArray, swap: BoolArray) -> float:
        return self.measure.estimator(np.where(swap, given, kept), self.z).value()
