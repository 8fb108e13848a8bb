"""Pairwise difference Pearson (DiIanni & Deutsch 2025): Pearson's r of all pairs' differences within each input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from xsumstat.coefficients import arrays, correlation_swaps
from xsumstat.coefficients.leave_one_out import OfCells
from xsumstat.coefficients.record import Differences, Estimator, Measure, OfOneGroup
from xsumstat.core.types import Bits, FloatArray, IntArray, Pair
from xsumstat.kernels import correlation as correlation_kernels
from xsumstat.kernels import pair_differences as kernels


@dataclass(frozen=True)
class PairDifferences(OfOneGroup):
    """Two score matrices (systems, inputs), 0 where a cell is missing."""

    x: FloatArray
    z: FloatArray
    mask: FloatArray | None

    @classmethod
    def of(cls, x: FloatArray, z: FloatArray) -> PairDifferences:
        both = arrays.present(x, z)
        first, second = (arrays.filled(arrays.scaled(each), both) for each in (x, z))
        return cls(first, second, arrays.or_none(both))

    @property
    def cost(self) -> float:
        return 2.0 * self.x.size

    @cached_property
    def sums(self) -> FloatArray:
        """Sums over the pairs of each input, (3, inputs): squares in x, squares in z, products."""
        inputs = self.x.shape[1]
        out = np.empty((3, inputs))
        kernels.sums_of_pairs(self.x, self.z, self.mask, arrays.ones(len(self.x))[0], np.empty((6, inputs)), out)
        return out

    def groups(self) -> tuple[FloatArray, FloatArray]:
        cells = float(self.x.size if self.mask is None else self.mask.sum())
        return np.array([kernels.pearson_of_pairs(self.sums, arrays.ones(self.x.shape[1])[0])]), np.array([cells])

    def bootstrap(self, systems: IntArray, inputs: IntArray) -> FloatArray:
        out = np.empty(max(len(systems), len(inputs)))
        kernels.bootstrap_pairs_pearson(self.x, self.z, self.mask, systems, inputs, out)
        return out


def estimator(x: FloatArray, z: FloatArray, measure: Measure) -> Estimator:
    return PairDifferences.of(x, z)


# --- Two metrics whose scores trade places ---


@dataclass(frozen=True)
class _Swapped:
    pairs: tuple[Pair, ...]
    data: tuple[Any, ...]

    @property
    def cost(self) -> float:
        return 3.0 * float(self.data[0].size)

    def differences(self, bits: Bits) -> FloatArray:
        out = np.empty(len(bits))
        kernels.swap_pairs_pearson(*self.data, bits, out)
        return out[None]


def swapped(scores: FloatArray, z: FloatArray, pairs: tuple[Pair, ...], measure: Measure) -> Sequence[Differences]:
    return [
        _Swapped((pair,), correlation_swaps.moments_of(x, y, arrays.scaled(gold), "input"))
        for pair, x, y, gold, _ in arrays.pairs_and_gold(scores, z, pairs, measure.level, measure.missing)
    ]


# --- Without one label ---


def parts(x: FloatArray, z: FloatArray, measure: Measure) -> OfCells:
    """The estimate without each system and without each input, and the influence of each cell."""
    # With Q the sum of products of a group's centred scores, P = n·Q drops by Q + n·d_x·d_z without a member with
    # centred scores d. The influence of a cell is its part of its input's, n·(d_x·d_z/√(BC) − r(d_x²/B + d_z²/C)/2)
    # with B and C the sums of squares over all pairs; it takes the n_j as fixed, so missing cells add no noise of
    # cells.
    ready = PairDifferences.of(x, z)
    there = arrays.present(x, z)
    n, cells = there.sum(axis=0), int(there.sum())
    a, b = (_centred(np.where(there, each, 0.0), there, n) for each in (ready.x, ready.z))
    products = np.stack([a * a, b * b, a * b])
    lost = np.where(there, ready.sums[:, None] / np.maximum(n, 1) + n * products, 0.0)
    whole = ready.sums.sum(axis=1)
    value = ready.value()
    with np.errstate(divide="ignore", invalid="ignore"):
        xx, zz, xz = n * products / np.array([whole[0], whole[1], np.sqrt(whole[0]) * np.sqrt(whole[1])])[:, None, None]
        influence = np.where(there, cells * (xz - value * (xx + zz) / 2), 0.0)
    return OfCells(value, _without_systems(ready, lost, whole), _without_inputs(ready.sums), influence, cells)


def _centred(values: FloatArray, there: Any, n: IntArray) -> FloatArray:
    for _ in range(2):  # the first mean is rounded to the size of the scores, not of their spread
        values = np.where(there, values - values.sum(axis=0) / np.maximum(n, 1), 0.0)
    return values


def _without_systems(ready: PairDifferences, lost: FloatArray, whole: FloatArray) -> FloatArray:
    rest = whole[:, None] - lost.sum(axis=2)
    found = _ratio(rest)
    # Where little is left of a variance it is rounding: those few are summed anew.
    few = np.flatnonzero(~(rest[:2] > correlation_kernels.CANCELLED_WITHOUT_ONE * whole[:2, None]).all(axis=0))
    for system in few:
        counts = (np.arange(len(found)) != system).astype(np.int64)[None]
        found[system] = ready.bootstrap(counts, arrays.ones(ready.x.shape[1]))[0]
    return found


def _without_inputs(sums: FloatArray) -> FloatArray:
    """Sums without each input, from those before and after it, so nothing cancels."""
    before, after = np.zeros_like(sums), np.zeros_like(sums)
    before[:, 1:] = np.cumsum(sums, axis=1)[:, :-1]
    after[:, :-1] = np.cumsum(sums[:, ::-1], axis=1)[:, -2::-1]
    return _ratio(before + after)


def _ratio(sums: FloatArray) -> FloatArray:
    defined = (sums[0] > 0) & (sums[1] > 0)
    size = np.sqrt(np.where(defined, sums[0], 1.0)) * np.sqrt(np.where(defined, sums[1], 1.0))
    return np.where(defined, np.clip(sums[2] / size, -1.0, 1.0), np.nan)
