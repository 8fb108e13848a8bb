"""Kendall's tau with ties, ``2·acc_eq − 1`` (Deutsch, Foster & Freitag 2023, "Ties Matter")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from xsumstat.coefficients import arrays, tie_swaps, ties
from xsumstat.coefficients.rank_swaps import Ranks
from xsumstat.coefficients.record import Differences, Estimator, Measure
from xsumstat.core.types import Bits, FloatArray, IntArray, Pair


@dataclass(frozen=True)
class TauWithTies:
    """Accuracy with ties on the scale of a correlation."""

    accuracy: Estimator
    defined: Estimator | None

    @property
    def cost(self) -> float:
        return self.accuracy.cost + (0.0 if self.defined is None else self.defined.cost)

    def groups(self) -> tuple[FloatArray, FloatArray]:
        accuracy, n = self.accuracy.groups()
        return 2.0 * accuracy - 1.0, n

    def value(self) -> float:
        return arrays.average(*self.groups(), self.defined is not None)

    def bootstrap(self, systems: IntArray, inputs: IntArray) -> FloatArray:
        accuracy = self.accuracy.bootstrap(systems, inputs)
        return 2.0 * accuracy - (1.0 if self.defined is None else self.defined.bootstrap(systems, inputs))


def estimator(x: FloatArray, z: FloatArray, measure: Measure) -> Estimator:
    defined = None
    if measure.undefined_as_zero:
        equal = np.where(arrays.present(x, z), 0.0, np.nan)  # all pairs are tied, and so right
        defined = ties.accuracy_with_ties(equal, equal, measure.at(0.0))
    return TauWithTies(ties.accuracy_with_ties(x, z, measure), defined)


def calibrate(ready: Estimator, x: FloatArray, z: FloatArray, measure: Measure) -> float:
    return ties.calibrate(ready.accuracy if isinstance(ready, TauWithTies) else ready, x, z, measure)


# --- Two metrics whose scores, or decisions, trade places ---


@dataclass(frozen=True)
class _Doubled:
    accuracy: Differences

    @property
    def pairs(self) -> tuple[Pair, ...]:
        return self.accuracy.pairs

    @property
    def cost(self) -> float:
        return self.accuracy.cost

    def differences(self, bits: Bits) -> FloatArray:
        return 2.0 * self.accuracy.differences(bits)


def swapped(scores: FloatArray, z: FloatArray, pairs: tuple[Pair, ...], measure: Measure) -> Sequence[Differences]:
    tests = tie_swaps.accuracy_with_ties(scores, z, pairs, measure)
    return [_twice(test) if isinstance(test, Ranks) else _Doubled(test) for test in tests]


def _twice(test: Ranks) -> Ranks:
    assert test.coefficients is not None and test.rest is None
    return replace(test, coefficients=2.0 * test.coefficients, step=2.0 * test.step)


def decisions(
    scores: FloatArray, z: FloatArray, pairs: tuple[Pair, ...], measure: Measure, *, by_group: bool
) -> list[tie_swaps.DecisionSwaps]:
    tests = tie_swaps.decisions(scores, z, pairs, measure, by_group=by_group)
    return [replace(test, scale=2.0 * test.scale, step=2.0 * test.step) for test in tests]
