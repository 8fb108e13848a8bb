"""Pairs of metrics with swapped scores, or swapped decisions between two outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xsumstat.coefficients import arrays, correlation_swaps, ties
from xsumstat.coefficients.rank_swaps import Pooled, Ranks, common_step
from xsumstat.coefficients.record import Differences, Measure
from xsumstat.coefficients.ties import Members
from xsumstat.core.types import Bits, FloatArray, Pair
from xsumstat.kernels import correlation as kernels
from xsumstat.kernels import means as mean_kernels
from xsumstat.kernels import swaps as swap_kernels
from xsumstat.kernels import ties as tie_kernels

# --- Scores trade places ---


@dataclass(frozen=True)
class CalibratedSwaps:
    """One pair under accuracy with ties; the threshold is calibrated anew for X' and Y'."""

    pairs: tuple[Pair, ...]
    entries: tuple[npt.NDArray[Any], ...]
    factor: FloatArray
    shape: tuple[int, int]
    level: str

    @classmethod
    def of(
        cls, pair: Pair, pooled: Pooled, members: Members, shape: tuple[int, int], level: str, undefined_as_zero: bool
    ) -> CalibratedSwaps:
        x, y = pooled.x, pooled.y
        found = []
        for corner, (u, v) in enumerate(((x, x), (x, y), (y, x), (y, y))):
            for part in members.parts():
                *pairs, gap, near = ties.changed(u, v, members.z, mean_kernels.TIE, *part)
                found.append((*pairs, np.full(len(gap), corner, np.int8), gap, near))
        first, second, group, gain, corners, gaps, near = (np.concatenate(each) for each in zip(*found, strict=True))
        order, ends = arrays.sorted_gaps(gaps, near)
        entries = (np.ascontiguousarray(each[order]) for each in (first, second, group, corners, gain))
        none = not (members.pairs > 0).any()  # nothing to average, unless such groups count as 0
        factor = (
            np.full(members.x.shape[1], np.nan)
            if none and not undefined_as_zero
            else 1.0 / ties.divisors(members, undefined_as_zero)
        )
        return cls((pair,), (*entries, ends), factor, shape, level)

    @property
    def cost(self) -> float:
        return 6.0 * len(self.entries[0])

    def differences(self, bits: Bits) -> FloatArray:
        out = np.empty(len(bits))
        for s, row in enumerate(bits):
            swaps = np.unpackbits(row, axis=-1, count=self.shape[1], bitorder="little")
            swaps = swaps.reshape(-1, 1) if self.level == "global" else swaps
            by_member = np.ascontiguousarray(swaps.T if self.level == "within_system" else swaps)
            out[s] = tie_kernels.swap_calibrated(*self.entries, self.factor, by_member)
        return np.asarray(out[None] + 0.0 * self.factor[0])


def accuracy_with_ties(
    scores: FloatArray, z: FloatArray, pairs: tuple[Pair, ...], measure: Measure
) -> Sequence[Differences]:
    if any(measure.coefficient.thresholds):
        raise ValueError(
            "swap='scores' would give a score to another metric's threshold; use threshold=0, or no threshold, which "
            "calibrates it anew, or swap='decisions' (all of a group, with resample='input' at level='input')"
        )
    return correlation_swaps.swapped(scores, z, pairs, measure, kind=kernels.ACC_EQ, off_system=_accuracy_tests)


def _accuracy_tests(
    scores: FloatArray, z: FloatArray, pairs: tuple[Pair, ...], measure: Measure
) -> Sequence[Differences]:
    return _score_tests(scores, z, pairs, measure, like_wmt=False)


def like_wmt(scores: FloatArray, z: FloatArray, pairs: tuple[Pair, ...], measure: Measure) -> Sequence[Differences]:
    return _score_tests(scores, z, pairs, measure, like_wmt=True)


def _score_tests(
    scores: FloatArray, z: FloatArray, pairs: tuple[Pair, ...], measure: Measure, *, like_wmt: bool
) -> Sequence[Differences]:
    most = ties.MOST_PAIRS if measure.coefficient.calibrated else ties.MOST_COUNTED
    ties.check_number((z.shape[0], z.shape[1]), measure.level, measure.coefficient, most)
    return [
        _score_test(pair, x, y, gold, measure, like_wmt=like_wmt)
        for pair, x, y, gold, _ in arrays.pairs_and_gold(scores, z, pairs, measure.level, measure.missing)
    ]


def _score_test(
    pair: Pair, x: FloatArray, y: FloatArray, z: FloatArray, measure: Measure, *, like_wmt: bool
) -> Ranks | CalibratedSwaps:
    level, undefined_as_zero = measure.level, measure.undefined_as_zero
    shape = (z.shape[0], z.shape[1])
    members, others = (Members.of(each, z, level) for each in (x, y))
    pooled = Pooled.of(members.x, others.x)
    if measure.coefficient.calibrated:
        return CalibratedSwaps.of(pair, pooled, members, shape, level, undefined_as_zero)
    odd, pairs = np.empty(members.z.T.shape), np.empty(members.z.shape[1])
    by_group = (np.ascontiguousarray(each.T) for each in (pooled.x, pooled.y, members.z))
    tie_kernels.odd_parts(*by_group, measure.coefficient.threshold, like_wmt, odd, pairs)
    if like_wmt:
        divisors = np.full(len(pairs), pairs.sum() / 2)
    else:
        divisors = ties.divisors(members, undefined_as_zero)
    some = pairs > 0
    defined = some.any() or (undefined_as_zero and not like_wmt)  # all groups count as 0
    odd = np.where(some[:, None], odd / np.where(some, divisors, 1.0)[:, None], 0.0 if defined else np.nan)
    cells = odd if level == "within_system" else odd.T
    coefficients = arrays.padded(np.ascontiguousarray(cells).reshape(shape)).ravel()
    return Ranks((pair,), coefficients, None, 0.0, common_step(divisors[some]) if some.any() else 0.0)


# --- Decisions trade places ---


@dataclass(frozen=True)
class DecisionSwaps:
    """Pairs of metrics on the same cells, whose decisions between two outputs are swapped."""

    # A decision is right where it equals the gold's; a swap makes X' right where Y was, so a difference is always a sum
    # of signs, and each metric's decisions are summed once.

    pairs: tuple[Pair, ...]
    used: tuple[int, ...]  # the metrics of the pairs
    right: tuple[npt.NDArray[Any], ...]  # (groups, decisions), 1 where right, or how many of those swapped together
    weights: FloatArray  # (groups,), multiplied with `scale`
    scale: float
    step: float  # all terms are multiples of it (0: of none)

    @property
    def cost(self) -> float:
        return 100.0 + 0.15 * len(self.right) * self.right[0].size

    def units(self, pair: Pair) -> FloatArray:
        """What the sign of each decision adds to the difference of one pair."""
        first, second = (self._weighted(self.right[self.used.index(metric)]) for metric in pair)
        return np.asarray((first - second) * self.scale)

    def _weighted(self, right: npt.NDArray[Any]) -> FloatArray:
        return np.asarray((right * self.weights[:, None]).ravel())

    def differences(self, bits: Bits) -> FloatArray:
        sums = np.empty((len(self.right), len(bits)))
        for row, right in zip(sums, self.right, strict=True):
            swap_kernels.swap_linear(arrays.padded(self._weighted(right)), bits, row)
        first, second = ([self.used.index(pair[side]) for pair in self.pairs] for side in (0, 1))
        return np.asarray((sums[first] - sums[second]) * self.scale)


def decisions(
    scores: FloatArray, z: FloatArray, pairs: tuple[Pair, ...], measure: Measure, *, by_group: bool
) -> list[DecisionSwaps]:
    arrays.check_finite(scores, z)
    undefined_as_zero = measure.undefined_as_zero
    commons = [arrays.common_cells(scores, z, pair, measure.missing) for pair in pairs]
    together = all(np.array_equal(cells, commons[0]) for cells in commons)
    alone = [((pair,), cells) for pair, cells in zip(pairs, commons, strict=True)]
    families = [(pairs, commons[0])] if together else alone
    known: dict[tuple[int, bytes], npt.NDArray[np.int8]] = {}
    tests = []
    for family, cells in families:
        gold = z if measure.own_cells else np.where(cells, z, np.nan)
        used = tuple(sorted({metric for pair in family for metric in pair}))
        for metric in used:
            x, here = np.where(cells, scores[metric], np.nan), measure.of_metric(metric)
            members = Members.of(x, gold, measure.level, measure.own_cells)
            if (metric, cells.tobytes()) not in known:
                threshold = ties.decided(x, gold, here).threshold
                known[metric, cells.tobytes()] = ties.right(members, threshold)
        right = tuple(known[metric, cells.tobytes()].reshape(members.x.shape[1], -1) for metric in used)
        tests.append(_decision_test(family, used, right, members, undefined_as_zero, by_group))
    return tests


def _decision_test(
    pairs: tuple[Pair, ...],
    used: tuple[int, ...],
    right: tuple[npt.NDArray[Any], ...],
    members: Members,
    undefined_as_zero: bool,
    by_group: bool,
) -> DecisionSwaps:
    divisors, some = ties.divisors(members, undefined_as_zero), members.pairs > 0
    alike = bool((divisors[some] == divisors[some][:1]).all())
    if some.any():
        scale = 1.0 / float(divisors[some][0]) if alike else 1.0
    else:
        scale = 0.0 if undefined_as_zero else np.nan  # all groups count as 0, or none is defined
    weights = np.ones(len(divisors)) if alike else 1.0 / divisors
    if by_group:
        right = tuple(each.sum(axis=1, keepdims=True) for each in right)
    step = 2.0 * common_step(divisors[some]) if some.any() else 0.0
    return DecisionSwaps(pairs, used, right, weights, scale, step)
