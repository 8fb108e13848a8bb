"""Soft pairwise accuracy: agreement of p-values of differences between systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xsumstat.coefficients import arrays
from xsumstat.coefficients.rank_swaps import Pooled
from xsumstat.coefficients.record import Differences, Estimator, Measure
from xsumstat.core.types import Bits, BoolArray, FloatArray, IntArray, Pair
from xsumstat.kernels import soft_accuracy as kernels

# Resamples summed side by side, and most sums of all pairs, above which fewer are.
_LANES, _SUMS = 128, 2**19


def estimator(x: FloatArray, z: FloatArray, measure: Measure) -> Estimator:
    return SoftAccuracy.of(x, z, measure.own_cells)


def swapped(scores: FloatArray, z: FloatArray, pairs: tuple[Pair, ...], measure: Measure) -> Sequence[Differences]:
    return [SoftSwaps.of(*each) for each in arrays.pairs_and_gold(scores, z, pairs, measure.level, measure.missing)]


@dataclass(frozen=True)
class Scores:
    """Scores (systems, inputs) for the kernels: inputs padded to whole bytes; mask None where all are present."""

    values: FloatArray
    mask: FloatArray | None
    step: float

    @classmethod
    def of(cls, values: FloatArray, there: BoolArray, step: float = 0.0) -> Scores:
        mask = arrays.or_none(there)
        whole = arrays.read_only(arrays.padded(arrays.filled(values, there)))
        return cls(whole, None if mask is None else arrays.padded(mask), step)

    @classmethod
    def graded(cls, values: FloatArray, there: BoolArray, kept: IntArray | slice = slice(None)) -> Scores:
        """The same for the kept systems; grades are counted in steps, so sums are exact."""
        steps, step = arrays.in_steps(arrays.scaled(values))
        return cls.of(steps[kept], there[kept], step)

    def seen(self, inputs: IntArray) -> BoolArray:
        """Which systems have a score on a drawn input, (resamples, systems)."""
        if self.mask is None:
            return np.repeat(inputs.sum(axis=1)[:, None] > 0, len(self.values), axis=1)
        return np.asarray((arrays.packed(inputs > 0)[:, None] & arrays.packed(self.mask)).any(axis=2))

    def drawn(self, inputs: IntArray, systems: IntArray | None = None) -> FloatArray:
        """The p and q of each pair of systems, (2, resamples, pairs), for counts of inputs (and of systems)."""
        counts = np.ascontiguousarray(arrays.padded(inputs.astype(float)).T)
        sums = np.empty((3, _pairs(len(self.values)), len(inputs)))
        kernels.sum_drawn(self.values, self.mask, counts, np.empty((2, kernels.BYTE)), sums)
        none = np.zeros((len(self.values), len(counts) // kernels.BYTE, 1), dtype=np.uint8)
        copies = arrays.ones(len(self.values)) if systems is None else systems
        return self.chances(sums, self.values, none, (copies, inputs))

    def chances(
        self, sums: FloatArray, other: FloatArray, coins: Bits, counts: tuple[IntArray, IntArray]
    ) -> FloatArray:
        """The same from sums and counts; scores come from `other` where a coin (systems, bytes, resamples) is 1."""
        _, pairs, resamples = sums.shape
        found, others = np.empty((2, resamples, pairs)), np.empty(resamples, dtype=np.int64)
        kernels.plain_chances(sums, self.step, *found, others)
        if others.any():
            n_systems, n_inputs = (each.shape[1] for each in counts)
            scratch = np.empty((n_systems, n_inputs)), np.empty(n_inputs), np.empty(kernels.UNITS)
            kernels.other_chances(
                self.values, other, self.mask, coins, *counts, self.step, sums, others, *scratch, *found
            )
        return found


def _pairs(systems: int) -> int:
    return systems * (systems - 1) // 2


def _side_by_side(systems: int, resamples: int) -> list[slice]:
    """Number of resamples summed together: fewer where systems are many."""
    step = max(1, min(_LANES, _SUMS // max(1, _pairs(systems))))
    return [slice(start, start + step) for start in range(0, resamples, step)]


@dataclass(frozen=True)
class SoftAccuracy:
    x: Scores
    z: Scores
    there: BoolArray
    n_inputs: int

    @classmethod
    def of(cls, x: FloatArray, z: FloatArray, own_cells: bool) -> SoftAccuracy:
        there_x, there_z = arrays.counted(x, z, own_cells)
        there = np.asarray(there_x.any(axis=1) & there_z.any(axis=1))
        first, second = (Scores.graded(each, cells & there[:, None]) for each, cells in ((x, there_x), (z, there_z)))
        return cls(first, second, there, x.shape[1])

    @property
    def cost(self) -> float:
        return 0.3 * float(self.x.values.size * len(self.there))

    def groups(self) -> tuple[FloatArray, FloatArray]:
        found = self.bootstrap(arrays.ones(len(self.there)), arrays.ones(self.n_inputs))
        return found, np.array([float(self.there.sum())])

    def value(self) -> float:
        found, _ = self.groups()
        return float(found[0])

    def bootstrap(self, systems: IntArray, inputs: IntArray) -> FloatArray:
        """The statistic for each row of counts; an input drawn twice has two coins."""
        out = np.empty(max(len(systems), len(inputs)))
        for at in _side_by_side(len(self.there), len(inputs)):
            here = inputs[at]
            to = at if len(inputs) > 1 else slice(None)
            there = (self.x.seen(here) & self.z.seen(here)).astype(float)
            weights = systems[to] if len(systems) > 1 else systems
            of = None if len(weights) > len(here) else weights
            kernels.soft_accuracy(*self.x.drawn(here, of), *self.z.drawn(here, of), there, weights, out[to])
        return out


@dataclass(frozen=True)
class SoftSwaps:
    pairs: tuple[Pair, ...]
    x: Scores
    y: Scores
    gold: FloatArray
    systems: IntArray
    n_inputs: int

    @classmethod
    def of(cls, pair: Pair, x: FloatArray, y: FloatArray, z: FloatArray, cells: BoolArray) -> SoftSwaps:
        kept = np.flatnonzero(cells.any(axis=1) & ~np.isnan(z).all(axis=1))
        pooled = Pooled.of(x.reshape(-1, 1), y.reshape(-1, 1))  # equal ones exactly so
        first, second = (Scores.of(each.reshape(x.shape)[kept], cells[kept]) for each in (pooled.x, pooled.y))
        human = Scores.graded(z, ~np.isnan(z), kept)
        return cls((pair,), first, second, human.drawn(arrays.ones(x.shape[1])), kept, x.shape[1])

    @property
    def cost(self) -> float:
        return 0.4 * float(self.x.values.size * len(self.systems))

    def differences(self, bits: Bits) -> FloatArray:
        out = np.empty((2, len(bits)))
        each, _ = counts = arrays.ones(len(self.systems)), arrays.ones(self.n_inputs)
        there = np.ones((1, len(self.systems)))
        for at in _side_by_side(len(self.systems), len(bits)):
            coins = np.ascontiguousarray(np.moveaxis(bits[at][:, self.systems], 0, 2))
            sums = self._sums(coins)
            for side, (stays, comes) in enumerate(((self.x, self.y), (self.y, self.x))):
                found = stays.chances(sums[side], comes.values, coins, counts)
                kernels.soft_accuracy(*found, *self.gold, there, each, out[side, at])
        return out[:1] - out[1:]

    def _sums(self, coins: Bits) -> FloatArray:
        """Sums of X' and of Y', (2, 3, pairs, resamples), from coins (systems, bytes, resamples)."""
        systems, _, resamples = coins.shape
        sums = np.empty((2, 3, _pairs(systems), resamples))
        traded, shared = np.empty((2, systems, kernels.BYTE, resamples)), np.empty(kernels.BYTE)
        kernels.sum_swapped(self.x.values, self.y.values, self.x.mask, coins, traded, shared, sums)
        return sums
