"""Swaps of two metrics under partial correlations; gold and covariates stay. Every swap is computed anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xsumstat.coefficients import arrays, correlation_swaps, correlations, partial
from xsumstat.coefficients.rank_swaps import Pooled, pooled_values
from xsumstat.coefficients.record import Differences, Measure
from xsumstat.core.types import Bits, BoolArray, FloatArray, IntArray, Pair
from xsumstat.kernels import partial as partial_kernels
from xsumstat.kernels import swap_means as swap_mean_kernels


def swapped(
    scores: FloatArray, z: FloatArray, pairs: tuple[Pair, ...], measure: Measure, *, kind: int
) -> Sequence[Differences]:
    gold = arrays.human(z, measure.own_cells)
    ready = arrays.pairs_and_gold(scores, gold, pairs, measure.level, measure.missing)
    make = _means_test if measure.level == "system" else _groups_test
    return [make(pair, x, y, z, cells, measure, kind) for pair, x, y, _, cells in ready]


# --- By groups, and of all cells ---


@dataclass(frozen=True)
class _Groups:
    """One pair; the members are those of X, then those of Y."""

    pairs: tuple[Pair, ...]
    members: partial.Members
    coins: IntArray
    undefined_as_zero: bool

    @property
    def cost(self) -> float:
        return 2.0 * self.members.cost

    def differences(self, bits: Bits) -> FloatArray:
        out = np.empty(len(bits))
        rows = np.ascontiguousarray(bits.reshape(len(bits), -1))
        partial_kernels.swap_partial(*self.members.data, self.coins, rows, self.undefined_as_zero, out)
        return out[None]


def _groups_test(
    pair: Pair, x: FloatArray, y: FloatArray, z: FloatArray, cells: BoolArray, measure: Measure, kind: int
) -> Differences:
    fixed = [arrays.scaled(np.where(cells & ~np.isnan(x), each, np.nan)) for each in z]
    systems, inputs = x.shape
    width = 8 * -(-inputs // 8)
    coins = np.arange(systems)[:, None] * width + np.arange(inputs)
    if measure.level == "global":
        pooled = Pooled.of(x.reshape(-1, 1), y.reshape(-1, 1))
        x, y = pooled.x, pooled.y
        fixed, coins = [each.reshape(-1, 1) for each in fixed], coins.reshape(-1, 1)
    else:
        if measure.level == "within_system":
            x, y, coins, fixed = x.T, y.T, coins.T, [each.T for each in fixed]
        x, y = pooled_values(x, y)
    both = [np.concatenate([x, y]), *(np.concatenate([each, each]) for each in fixed)]
    members = partial.Members.of(np.stack([each.T for each in both]), kind)
    twice = np.ascontiguousarray(np.concatenate([coins, coins]).T.astype(np.int64))
    return _Groups((pair,), members, twice, measure.undefined_as_zero)


# --- Systems' means ---


@dataclass(frozen=True)
class _Means:
    """One pair at system level."""

    pairs: tuple[Pair, ...]
    kind: int
    added: FloatArray  # (2, systems, inputs), what each cell adds by the second metric beyond the first
    systems: IntArray
    of_metrics: tuple[FloatArray, FloatArray]  # (2, systems), means and the sizes that rounding is relative to
    of_fixed: tuple[FloatArray, FloatArray]  # (1 + covariates, systems), likewise

    @property
    def cost(self) -> float:
        variables = len(self.of_fixed[0]) + 1
        return float(self.added.size + 10 * len(partial.places(variables)) * len(self.systems) ** 2)

    def differences(self, bits: Bits) -> FloatArray:
        (base, size), (fixed, scales) = self.of_metrics, self.of_fixed
        variables = 1 + len(fixed)
        if len(self.systems) < partial.least_members(variables):
            return np.full((1, len(bits)), np.nan)
        sums = swap_mean_kernels.swapped_sums(self.added, self.systems, bits)
        weights, mean = arrays.lanes(1, len(self.systems)), arrays.lanes(len(bits), len(self.systems))
        weights[:] = 1.0
        still = []
        for each in fixed:
            still.append(arrays.lanes(1, len(self.systems)))
            still[-1][:] = each[:, None]
        scales = np.concatenate([size.max(axis=0)[None], scales])
        found = []
        for k, m in ((0, 1), (1, 0)):
            swap_mean_kernels.swapped_means(base, sums, k, m, mean)
            means = [mean, *still]
            r = [
                correlations.correlate_means(self.kind, means[a], means[b], scales[a], scales[b], weights)
                for a, b in partial.places(variables)
            ]
            found.append(
                partial.combined(np.array(np.broadcast_arrays(*(_row(each, len(r[0])) for each in r))), variables)
            )
        return (found[0] - found[1])[None, : len(bits)]


def _row(values: FloatArray, size: int) -> FloatArray:
    """Correlations of all swaps; one value suffices for two fixed variables."""
    return values if len(values) == size else values[:1]


def _means_test(
    pair: Pair, x: FloatArray, y: FloatArray, z: FloatArray, cells: BoolArray, measure: Measure, kind: int
) -> Differences:
    there = ~np.isnan(z)
    fixed = [arrays.scaled(np.where(own if measure.own_cells else cells, each, np.nan))
             for each, own in zip(z, there, strict=True)]  # fmt: skip
    found = [arrays.system_means(each, ~np.isnan(each)) for each in fixed]
    takes_part = cells.any(axis=1) & np.all([count > 0 for _, count in found], axis=0)
    systems = np.flatnonzero(takes_part)
    count = cells[systems].sum(axis=1).astype(float)
    added, of_metrics = correlation_swaps.beyond_first(np.stack([x, y]), [0, 1], cells, systems, count)
    means = np.array([mean[systems] for mean, _ in found])
    scales = np.array([arrays.rounding_scale(each)[systems] for each in fixed])
    return _Means((pair,), kind, added, systems, of_metrics, (means, scales))
