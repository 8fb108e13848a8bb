"""Pairs of metrics, standardised over the cells that both and the gold have: their difference with swapped scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xsumstat.coefficients import arrays, correlations
from xsumstat.coefficients.rank_swaps import Pooled, pooled_values
from xsumstat.coefficients.record import Differences, MakeSwapped, Measure
from xsumstat.core.types import Bits, BoolArray, FloatArray, IntArray, Pair
from xsumstat.kernels import correlation as kernels
from xsumstat.kernels import swap_means as swap_mean_kernels
from xsumstat.kernels import swaps as swap_kernels


def swapped(
    scores: FloatArray, z: FloatArray, pairs: tuple[Pair, ...], measure: Measure, *, kind: int, off_system: MakeSwapped
) -> Sequence[Differences]:
    """Prepare pairs of metrics for swaps: by system means, or else by `off_system`."""
    if measure.level != "system":
        return off_system(scores, z, pairs, measure)
    shared = arrays.common_cells(scores, z, (0, 0), measure.missing)
    cells = [arrays.common_cells(scores, z, pair, measure.missing) for pair in pairs]
    alike = [np.array_equal(each, shared) for each in cells]
    tests = [
        _system_test(scores, z, (pair,), sorted(pair), own, measure, kind)
        for pair, own, same in zip(pairs, cells, alike, strict=True)
        if not same
    ]
    together = tuple(pair for pair, same in zip(pairs, alike, strict=True) if same)
    if together:
        used = sorted({0, *(metric for pair in together for metric in pair)})
        tests.append(_system_test(scores, z, together, used, shared, measure, kind))
    return tests


def moments(scores: FloatArray, z: FloatArray, pairs: tuple[Pair, ...], measure: Measure) -> Sequence[Differences]:
    tests: list[Differences] = []
    for pair, x, y, gold, _ in arrays.pairs_and_gold(scores, z, pairs, measure.level, measure.missing):
        data = moments_of(x, y, arrays.scaled(gold), measure.level)
        layout = swap_kernels.BY_SYSTEM if measure.level == "within_system" else swap_kernels.BY_INPUT
        at = np.arange(data[0].shape[1])
        tests.append(_Moments((pair,), (*data, layout, at), measure.undefined_as_zero))
    return tests


# --- System level ---


@dataclass(frozen=True)
class _System:
    pairs: tuple[Pair, ...]
    kind: int
    threshold: float
    by_products: bool  # Pearson, and the gold varies
    scores: FloatArray  # what each cell adds to its system's mean, beyond what the first metric's does
    systems: IntArray
    of_metrics: tuple[FloatArray, FloatArray]  # means, (metrics, systems), and what rounding is relative to
    of_gold: tuple[FloatArray, FloatArray]
    places: IntArray

    @property
    def cost(self) -> float:
        return float(self.scores.size + len(self.pairs) * 10 * self.scores.shape[1] ** 2)

    def differences(self, bits: Bits) -> FloatArray:
        swapped_means = swap_mean_kernels.swapped_sums(self.scores, self.systems, bits)
        if not self.by_products:
            return self._one_by_one(self.places, swapped_means)
        out = np.empty((len(self.pairs), len(bits)))
        both = self.of_metrics[0], self.of_gold[0]
        means, gold = (np.ascontiguousarray(each - each.mean(axis=-1, keepdims=True)) for each in both)
        swap_mean_kernels.swap_pearson_means(swapped_means, self.places, means, gold, out)
        cancelled = np.isnan(out)
        again = np.flatnonzero(cancelled.any(axis=1))
        if again.size:
            out[again] = np.where(cancelled[again], self._one_by_one(self.places[again], swapped_means), out[again])
        return out

    def _one_by_one(self, places: IntArray, swapped_means: FloatArray) -> FloatArray:
        (base, size), (gold, scale_z) = self.of_metrics, self.of_gold
        resamples = swapped_means.shape[2]
        swapped, weights, z = (arrays.lanes(count, len(gold)) for count in (resamples, 1, 1))
        weights[:], z[:] = 1.0, gold[:, None]
        out = np.empty((len(places), resamples))
        for row, pair in zip(out, places, strict=True):
            scale = size[pair].max(axis=0)
            r = []
            for k, m in (pair, pair[::-1]):
                swap_mean_kernels.swapped_means(base, swapped_means, k, m, swapped)
                r.append(correlations.correlate_means(self.kind, swapped, z, scale, scale_z, weights, self.threshold))
            row[:] = (r[0] - r[1])[:resamples]
        return out


def _system_test(
    scores: FloatArray,
    z: FloatArray,
    pairs: tuple[Pair, ...],
    used: list[int],
    cells: BoolArray,
    measure: Measure,
    kind: int,
) -> Differences:
    gold = arrays.scaled(np.where(~np.isnan(z) if measure.own_cells else cells, z, np.nan))
    means, gold_cells = arrays.system_means(gold, ~np.isnan(gold))
    there = np.flatnonzero((gold_cells > 0) & cells.any(axis=1))
    means, scale_z = means[there], arrays.rounding_scale(gold)[there]
    count = cells[there].sum(axis=1).astype(float)
    added, of_metrics = beyond_first(scores, used, cells, there, count)
    return _System(
        pairs,
        kind,
        measure.coefficient.rescaled(z, z).threshold if kind == kernels.KENDALL_LIKE else measure.coefficient.threshold,
        kind == kernels.PEARSON and len(there) > 0 and bool(np.ptp(arrays.snapped(means, scale_z)) > 0),
        added,
        there,
        of_metrics,
        (means, scale_z),
        np.array([[used.index(a), used.index(b)] for a, b in pairs], dtype=np.int64),
    )


def beyond_first(
    scores: FloatArray, used: list[int], cells: BoolArray, there: IntArray, count: FloatArray
) -> tuple[FloatArray, tuple[FloatArray, FloatArray]]:
    """What each cell adds to its system's mean beyond the first metric, padded, (metrics, systems, inputs)."""
    inputs = cells.shape[1]
    added = np.zeros((len(used), len(there), inputs + -inputs % 8))
    means, sizes = np.empty((2, len(used), len(there)))
    first: FloatArray | None = None
    for at, metric in enumerate(used):
        x = np.nan_to_num(arrays.standardised(scores[metric], cells), copy=False)[there]
        first = x if first is None else first
        means[at], sizes[at] = x.sum(axis=1) / count, np.abs(x).sum(axis=1) / count
        np.divide(x - first, count[:, None], out=added[at, :, :inputs])
    return added, (means, sizes)


# --- Pearson by groups, and of all cells ---


@dataclass(frozen=True)
class _Moments:
    pairs: tuple[Pair, ...]
    data: tuple[Any, ...]
    undefined_as_zero: bool

    @property
    def cost(self) -> float:
        return 3.0 * float(self.data[0].size)

    def differences(self, bits: Bits) -> FloatArray:
        out = np.empty(len(bits))
        swap_kernels.swap_pearson(*self.data, bits, self.undefined_as_zero, out)
        return out[None]


def moments_of(x: FloatArray, y: FloatArray, z: FloatArray, level: str) -> tuple[Any, ...]:
    """Standardised x, y and gold by groups, centred, and the arrays of `kernels.swaps.swap_pearson`."""
    by_system = level == "within_system"
    if level == "global":
        pooled = Pooled.of(x.reshape(-1, 1), y.reshape(-1, 1))
        x, y = pooled.x.reshape(z.shape), pooled.y.reshape(z.shape)
    else:
        if by_system:
            x, y, z = x.T, y.T, z.T
        x, y = pooled_values(x, y)
    present = ~np.isnan(z)
    axis = None if level == "global" else 0
    n = np.atleast_1d(present.sum(axis=axis)).astype(float)
    centre = np.where(present, x + y, 0.0).sum(axis=axis) / np.maximum(2 * n, 1)
    centre_z = np.where(present, z, 0.0).sum(axis=axis) / np.maximum(n, 1)
    spread = np.atleast_1d(np.where(present, z, -np.inf).max(axis=axis) - np.where(present, z, np.inf).min(axis=axis))
    x, y, z = (
        np.ascontiguousarray(np.where(present, values - about, 0.0))
        for values, about in ((x, centre), (y, centre), (z, centre_z))
    )
    parts, sums = np.empty((3, *x.shape)), np.empty((5, len(n)))
    half_sum = (x + y) / 2
    np.divide(x - y, 2, out=parts[0])
    np.multiply(half_sum, 2, out=parts[1])
    parts[1] *= parts[0]
    np.multiply(parts[0], z, out=parts[2])
    sums[0], sums[4] = n, z.sum(axis=axis)
    sums[1], sums[3] = half_sum.sum(axis=axis), (half_sum * z).sum(axis=axis)
    half_sum *= half_sum
    half_sum += parts[0] ** 2
    sums[2] = half_sum.sum(axis=axis)
    del half_sum
    variance = np.where(spread > 0, n * np.atleast_1d((z**2).sum(axis=axis)) - sums[4] ** 2, 0.0)
    return x, y, z, np.ascontiguousarray(present), parts, sums, variance
