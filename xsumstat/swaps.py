"""Pairs of metrics made ready for permutation: what their difference becomes when scores trade places.

A test holds one or more pairs and gives r(X', Z) − r(Y', Z) of each for any swaps. X and Y are
standardised over the cells that both (and the gold) have, and only those cells count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from xsumstat import _kernels as kernels
from xsumstat import _kernels_swap_means as loops_means
from xsumstat import _kernels_swaps as loops
from xsumstat import decision_swaps, dispatch, levels
from xsumstat.coefficients import Coefficient, FloatArray
from xsumstat.soft_accuracy import SoftSwaps
from xsumstat.swap_ranks import Bits, BoolArray, Pair, Pooled, padded, rank_test


class PairTest(Protocol):
    """The differences of one or more pairs of metrics in resamples."""

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of metrics, by their places."""
        ...

    def differences(self, draws: Any) -> FloatArray:
        """Difference of each pair in each resample, (pairs, resamples), for what the plan's `block` gives."""
        ...

    @property
    def cost(self) -> float:
        """Nanoseconds that a resample takes, about."""
        ...


def packed(swaps: npt.ArrayLike) -> Bits:
    """Swaps (resamples, systems, inputs), 1 where scores trade places, as coins, 8 inputs to the byte, lowest first."""
    return np.packbits(np.asarray(swaps, dtype=np.uint8), axis=-1, bitorder="little")


def swap_tests(
    scores: FloatArray,
    z: FloatArray,
    pairs: tuple[Pair, ...],
    *,
    level: str,
    coefficient: Coefficient,
    missing: str,
    undefined: str,
) -> list[PairTest]:
    """Make the given pairs of `scores` (metrics, systems, inputs) ready to be tested against gold `z`."""
    levels.check_finite(scores, z)
    zero = levels.counts_as_zero(undefined, level)
    if coefficient.kind == kernels.ACC_EQ and coefficient.thresholds and any(coefficient.thresholds):
        raise ValueError(
            "swap='scores' would give a score to another metric's threshold; use swap='decisions', threshold=0, or no "
            "threshold, so that it is calibrated anew"
        )
    if level == "system" and coefficient.kind not in (None, kernels.SOFT):
        return _system_tests(scores, z, pairs, coefficient, missing)
    tests: list[PairTest] = []
    for pair in pairs:
        cells = levels.common_cells(scores, z, pair, missing if level == "system" else "pairwise")
        x, y = (standardised(scores[metric], cells) for metric in pair)
        gold = np.where(cells, z, np.nan)
        if coefficient.kind is None:
            gold = z if level == "system" and missing == "available" else gold
            tests.append(_ByFunction((pair,), x, y, gold, level, coefficient, missing, zero))
        elif coefficient.kind == kernels.SOFT:
            tests.append(SoftSwaps.of(pair, x, y, z if missing == "available" else gold, cells))
        elif coefficient.kind in levels.DECISIONS:
            tests.append(decision_swaps.score_test(pair, x, y, gold, level, coefficient, zero))
        elif coefficient.kind == kernels.PEARSON:
            tests.append(_moments_test(pair, x, y, levels.scaled(gold), level, zero))
        else:
            tests.append(rank_test(pair, x, y, gold, level, coefficient.kind, zero))
    return tests


def standardised(values: FloatArray, cells: BoolArray) -> FloatArray:
    """Values with mean 0 and sd 1 over the given cells, NaN elsewhere; 0 where they are constant."""
    out = np.full(values.shape, np.nan)
    here = levels.scaled(values[cells])
    if here.size:
        centred = here - here.mean()
        centred -= centred.mean()  # the first mean is rounded to the size of the scores, not of their spread
        spread = np.sqrt(np.mean(centred**2))
        out[cells] = centred / spread if np.ptp(here) > 0 else 0.0
    return out


# --- System level ---


@dataclass(frozen=True)
class _System:
    """Pairs that share their cells, at system level."""

    pairs: tuple[Pair, ...]
    kind: int
    threshold: float
    by_products: bool  # Pearson, and the gold varies
    scores: FloatArray  # what each cell adds to its system's mean, beyond what the first metric's does
    systems: levels.IntArray
    of_metrics: tuple[FloatArray, FloatArray]  # means, (metrics, systems), and what rounding is relative to
    of_gold: tuple[FloatArray, FloatArray]
    places: levels.IntArray

    @property
    def cost(self) -> float:
        return float(self.scores.size + len(self.pairs) * 10 * self.scores.shape[1] ** 2)

    def differences(self, bits: Bits) -> FloatArray:
        traded = loops_means.traded_means(self.scores, self.systems, bits)
        if not self.by_products:
            return self._one_by_one(self.places, traded)
        out = np.empty((len(self.pairs), len(bits)))
        both = self.of_metrics[0], self.of_gold[0]
        means, gold = (np.ascontiguousarray(each - each.mean(axis=-1, keepdims=True)) for each in both)
        loops_means.swap_pearson_means(traded, self.places, means, gold, out)
        cancelled = np.isnan(out)
        again = np.flatnonzero(cancelled.any(axis=1))
        if again.size:
            out[again] = np.where(cancelled[again], self._one_by_one(self.places[again], traded), out[again])
        return out

    def _one_by_one(self, places: levels.IntArray, traded: FloatArray) -> FloatArray:
        """Each pair from the means of its X' and Y'."""
        (base, size), (gold, scale_z) = self.of_metrics, self.of_gold
        resamples = traded.shape[2]
        swapped, weights, z = (levels.lanes(count, len(gold)) for count in (resamples, 1, 1))
        weights[:], z[:] = 1.0, gold[:, None]
        out = np.empty((len(places), resamples))
        for row, pair in zip(out, places, strict=True):
            scale = size[pair].max(axis=0)
            r = []
            for k, m in (pair, pair[::-1]):
                loops_means.swapped_means(base, traded, k, m, swapped)
                r.append(levels.correlate_means(self.kind, swapped, z, scale, scale_z, weights, self.threshold))
            row[:] = (r[0] - r[1])[:resamples]
        return out


def _system_tests(
    scores: FloatArray, z: FloatArray, pairs: tuple[Pair, ...], coefficient: Coefficient, missing: str
) -> list[PairTest]:
    """One test for all pairs where all have the same cells, else one for each."""
    commons = [levels.common_cells(scores, z, pair, missing) for pair in pairs]
    together = all(np.array_equal(cells, commons[0]) for cells in commons)
    families = [pairs] if together else [(pair,) for pair in pairs]
    return [
        _system_test(scores, z, family, cells, coefficient, missing)
        for family, cells in zip(families, commons, strict=False)
    ]


def _system_test(
    scores: FloatArray, z: FloatArray, pairs: tuple[Pair, ...], cells: BoolArray, coefficient: Coefficient, missing: str
) -> PairTest:
    kind = coefficient.kind
    assert kind is not None
    used = sorted({metric for pair in pairs for metric in pair})
    gold = levels.scaled(np.where(~np.isnan(z) if missing == "available" else cells, z, np.nan))
    means, gold_cells = levels.system_means(gold, ~np.isnan(gold))
    there = np.flatnonzero((gold_cells > 0) & cells.any(axis=1))
    x = np.nan_to_num(np.array([standardised(scores[metric], cells) for metric in used]))[:, there]
    count = cells[there].sum(axis=1).astype(float)
    means, scale_z = means[there], levels.rounding_scale(gold)[there]
    return _System(
        pairs,
        kind,
        dispatch.rescaled(coefficient, z).threshold if kind == kernels.KENDALL_LIKE else coefficient.threshold,
        kind == kernels.PEARSON and len(there) > 0 and bool(np.ptp(levels.snapped(means, scale_z)) > 0),
        padded((x - x[:1]) / count[:, None]),
        there,
        (x.sum(axis=2) / count, np.abs(x).sum(axis=2) / count),
        (means, scale_z),
        np.array([[used.index(a), used.index(b)] for a, b in pairs], dtype=np.int64),
    )


# --- Pearson by groups, and of all cells ---


@dataclass(frozen=True)
class _Moments:
    """One pair under Pearson's r, by groups or of all cells."""

    pairs: tuple[Pair, ...]
    data: tuple[Any, ...]
    zero: bool

    @property
    def cost(self) -> float:
        return 3.0 * float(self.data[0].size)

    def differences(self, bits: Bits) -> FloatArray:
        out = np.empty(len(bits))
        loops.swap_pearson(*self.data, bits, self.zero, out)
        return out[None]


def _moments_test(pair: Pair, x: FloatArray, y: FloatArray, z: FloatArray, level: str, zero: bool) -> PairTest:
    across = level == "within_system"
    if level == "global":
        pooled = Pooled.of(x.reshape(-1, 1), y.reshape(-1, 1))
        x, y = pooled.x.reshape(z.shape), pooled.y.reshape(z.shape)
    else:
        if across:
            x, y, z = x.T, y.T, z.T
        pooled = Pooled.of(x, y)
        x, y = pooled.x, pooled.y
    present = ~np.isnan(z)
    axis = None if level == "global" else 0
    n = np.atleast_1d(present.sum(axis=axis)).astype(float)
    centre = np.where(present, x + y, 0.0).sum(axis=axis) / np.maximum(2 * n, 1)
    centre_z = np.where(present, z, 0.0).sum(axis=axis) / np.maximum(n, 1)
    x, y, z = (
        np.ascontiguousarray(np.where(present, values - about, 0.0))
        for values, about in ((x, centre), (y, centre), (z, centre_z))
    )
    half_sum, half_gap = (x + y) / 2, (x - y) / 2
    parts = np.array([half_gap, 2 * half_sum * half_gap, half_gap * z])
    evens = (half_sum, half_sum**2 + half_gap**2, half_sum * z, z)
    sums = np.array([n, *(np.atleast_1d(each.sum(axis=axis)) for each in evens)])
    spread = np.atleast_1d(np.where(present, z, -np.inf).max(axis=axis) - np.where(present, z, np.inf).min(axis=axis))
    variance = np.where(spread > 0, n * np.atleast_1d((z**2).sum(axis=axis)) - sums[4] ** 2, 0.0)
    layout = loops.BY_SYSTEM if across else loops.BY_INPUT
    at = np.arange(x.shape[1])
    return _Moments((pair,), (x, y, z, present, parts, sums, variance, layout, at), zero)


@dataclass(frozen=True)
class _ByFunction:
    """One pair under any function of two vectors; the slow path."""

    pairs: tuple[Pair, ...]
    x: FloatArray
    y: FloatArray
    z: FloatArray
    level: str
    coefficient: Coefficient
    missing: str
    zero: bool

    @property
    def cost(self) -> float:
        return 2e5 * (1 if self.level in ("system", "global") else max(self.x.shape))

    def differences(self, bits: Bits) -> FloatArray:
        swaps = np.unpackbits(bits, axis=-1, count=self.z.shape[1], bitorder="little").astype(bool)
        out = [self._value(self.x, self.y, swap) - self._value(self.y, self.x, swap) for swap in swaps]
        return np.array(out)[None]

    def _value(self, kept: FloatArray, traded: FloatArray, swap: BoolArray) -> float:
        undefined = "zero" if self.zero else "drop"
        settings: Any = {"level": self.level, "coefficient": self.coefficient, "missing": self.missing}
        return dispatch.compare(np.where(swap, traded, kept), self.z, undefined=undefined, **settings).value()
