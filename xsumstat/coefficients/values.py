"""Agreement on one scale: the same class, or the same number; sums of classes and grades are exact whole numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from xsumstat.coefficients import arrays, correlation_parts, correlations, leave_one_out
from xsumstat.coefficients.leave_one_out import OfAny, OfCells, OfGroups, Share
from xsumstat.coefficients.record import (
    Coefficient,
    Differences,
    Estimator,
    LeaveOneOut,
    Measure,
    OfManyGroups,
    OfOneGroup,
)
from xsumstat.core import levels
from xsumstat.core.types import Bits, FloatArray, IntArray, Pair
from xsumstat.kernels import swaps as swap_kernels
from xsumstat.kernels import values as kernels

# From sums (numbers, ...) to the coefficient; the first number is that of cells.
Formula = Callable[[FloatArray], FloatArray]
# Numbers that resamples take at a time.
_AT_ONCE = 1 << 20
# What is left of a sum of squares by no more than rounding.
_ROUNDING = 1e-12


# --- Formulas of sums ---


def _over(above: FloatArray, below: FloatArray) -> FloatArray:
    there = below > 0
    return np.asarray(np.where(there, above / np.where(there, below, 1.0), np.nan))


def _classes(sums: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Number of cells, of cells with one class, and of each class by the metric and by the gold."""
    own, others = np.split(sums[2:], 2)
    return sums[0], sums[1], own, others


def accuracy(sums: FloatArray) -> FloatArray:
    return _over(sums[1], sums[0])


def kappa(sums: FloatArray) -> FloatArray:
    """``(p_o − p_e)/(1 − p_e)``: p_o the share of cells with one class, p_e that of shuffled scores."""
    n, same, own, others = _classes(sums)
    by_chance = (own * others).sum(axis=0)
    return np.where(n > 1, _over(n * same - by_chance, n * n - by_chance), np.nan)


def mcc(sums: FloatArray) -> FloatArray:
    """Pearson's r of two classes, Gorodkin's R_K of more."""
    n, same, own, others = _classes(sums)
    spreads = (n * n - (own * own).sum(axis=0)) * (n * n - (others * others).sum(axis=0))
    return np.clip(_over(n * same - (own * others).sum(axis=0), np.sqrt(np.maximum(spreads, 0.0))), -1.0, 1.0)


def f1(sums: FloatArray) -> FloatArray:
    """``2·TP/(2·TP + FP + FN)``."""
    return _over(2 * sums[1], sums[2] + sums[3])


def sensitivity(sums: FloatArray) -> FloatArray:
    """Share of the gold's positive cells that the metric calls positive."""
    return _over(sums[1], sums[3])


def specificity(sums: FloatArray) -> FloatArray:
    """Share of the gold's negative cells that the metric calls negative."""
    n, both, own, others = sums
    return _over(n - own - others + both, n - others)


def _moments(sums: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """n, the sum of both variances, the covariance, and the squared difference of means; the last three times n²."""
    n, x, z, xx, zz, xz = sums
    of_x, of_z, gap = n * xx - x * x, n * zz - z * z, (x - z) ** 2
    of_x, of_z = (np.where(value > _ROUNDING * n * square, value, 0.0) for value, square in ((of_x, xx), (of_z, zz)))
    gap = np.where(gap > _ROUNDING**2 * n * (xx + zz), gap, 0.0)
    return n, of_x + of_z, np.where((of_x > 0) & (of_z > 0), n * xz - x * z, 0.0), gap


def weighted_kappa(sums: FloatArray) -> FloatArray:
    """``2·cov/(var_x + var_z + (x̄ − z̄)²)`` with ddof 0: kappa with quadratic weights, and Lin's concordance."""
    n, spread, shared, gap = _moments(sums)
    return np.where(n > 1, np.minimum(_over(2 * shared, spread + gap), 1.0), np.nan)


def icc(sums: FloatArray) -> FloatArray:
    """ICC(A,1) of McGraw & Wong: ``2·cov/(var_x + var_z + (x̄ − z̄)² − var(x − z)/n)`` with ddof 1."""
    n, spread, shared, gap = _moments(sums)
    several = np.maximum(n, 1.0)
    below = spread + (n - 1) / several * gap - (spread - 2 * shared) / several
    below = np.where(below > _ROUNDING * (spread + gap), below, 0.0)
    return np.where(n > 1, np.minimum(_over(2 * shared, below), 1.0), np.nan)


# --- Numbers of each cell ---


@dataclass(frozen=True)
class Kind:
    """What a coefficient is made of: its formula, and the numbers of each cell."""

    formula: Formula
    numbers: str
    share_of: str | None = None

    def cells(self, x: FloatArray, z: FloatArray, record: Coefficient) -> FloatArray:
        """Numbers of each cell, (numbers, systems, inputs), 0 where a score is missing."""
        (found,) = self.of_several(x[None], z, record)
        return found

    def of_several(self, scores: FloatArray, z: FloatArray, record: Coefficient) -> list[FloatArray]:
        """The same for several metrics (metrics, systems, inputs), in the same units."""
        if self.numbers == "values":
            scores, z = _units(scores, z)
            return [_of_values(x, z) for x in scores]
        if record.positive or self.numbers == "two":
            assert record.positive, "the positive class is settled before"
            scores, z = (_is_among(each, record.positive) for each in (scores, z))
        if self.numbers == "two":
            return [_of_two(x, z) for x in scores]
        classes = np.unique(np.concatenate([scores.ravel(), z.ravel()]))
        classes = classes[~np.isnan(classes)]
        return [_of_classes(x, z, classes) for x in scores]


def _is_among(values: FloatArray, some: Sequence[float]) -> FloatArray:
    """1 for one of these values, 0 for others, NaN where missing."""
    return np.where(np.isnan(values), np.nan, np.isin(values, some).astype(float))


def _of_two(x: FloatArray, z: FloatArray) -> FloatArray:
    there = arrays.present(x, z)
    return np.where(there, np.stack([np.ones(x.shape), x * z, x, z]), 0.0)


def _of_classes(x: FloatArray, z: FloatArray, classes: FloatArray) -> FloatArray:
    there = arrays.present(x, z)
    own, others = (each == classes[:, None, None] for each in (x, z))
    return np.concatenate([[there, (x == z) & there], own & there, others & there]).astype(float)


def _of_values(x: FloatArray, z: FloatArray) -> FloatArray:
    there = arrays.present(x, z)
    return np.where(there, np.stack([np.ones(x.shape), x, z, x * x, z * z, x * z]), 0.0)


def _units(scores: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Metrics and gold about one origin in one unit, which keeps the coefficients; grades become whole."""
    whole = arrays.scaled(np.concatenate([scores, z[None]]))
    if np.isnan(whole).all():
        return whole[:-1], whole[-1]
    grades, step = arrays.in_steps(whole)
    whole = grades if step == 1.0 else whole - np.nanmean(whole)
    return whole[:-1], whole[-1]


# --- As they are, and drawn anew ---


@dataclass(frozen=True)
class OfSums(OfManyGroups):
    """Two score matrices by groups, or all cells as one group; `cells` is (numbers, members, groups)."""

    cells: FloatArray
    formula: Formula
    level: str
    undefined_as_zero: bool

    @property
    def cost(self) -> float:
        return 1.5 * float(self.cells.size)

    @cached_property
    def sums(self) -> FloatArray:
        return np.asarray(self.cells.sum(axis=(1, 2))[:, None] if self.level == "global" else self.cells.sum(axis=1))

    def groups(self) -> tuple[FloatArray, FloatArray]:
        if self.level == "global":
            once = arrays.ones(self.cells.shape[1]), arrays.ones(self.cells.shape[2])
            return self.bootstrap(*once), self.sums[0]
        r, n = self._drawn(arrays.ones(self.cells.shape[1]))
        return r[0], n[0]

    def bootstrap(self, systems: IntArray, inputs: IntArray) -> FloatArray:
        w, v = levels.members_first(self.level, systems, inputs)
        out = np.empty(max(len(w), len(v)))
        if self.level == "global":
            totals = np.empty((len(out), len(self.cells)))
            kernels.drawn_totals(self.cells, w, v, totals)
            out[:] = self.formula(np.ascontiguousarray(totals.T))
            return out
        step = max(1, _AT_ONCE // max(1, len(self.cells) * self.cells.shape[2]))
        for start in range(0, len(out), step):
            at = slice(start, start + step)
            r, n = self._drawn(w[at] if len(w) > 1 else w)
            kernels.averages(r, n, v[at] if len(v) > 1 else v, self.undefined_as_zero, out[at])
        return out

    def _drawn(self, w: IntArray) -> tuple[FloatArray, FloatArray]:
        """Each group's coefficient and number of cells, (resamples, groups), for counts of members."""
        sums = np.empty((len(w), len(self.cells), self.cells.shape[2]))
        kernels.drawn_sums(self.cells, w, sums)
        return self.formula(sums.swapaxes(0, 1)), np.ascontiguousarray(sums[:, 0])


@dataclass(frozen=True)
class OfMeans(OfOneGroup):
    means: correlations.Means
    formula: Formula

    @property
    def cost(self) -> float:
        return 2.0 * self.means.x.size + 50.0 * len(self.means.x)

    def groups(self) -> tuple[FloatArray, FloatArray]:
        systems, inputs = self.means.x.shape
        n = np.array([self.means.there.sum()], float)
        return self.bootstrap(arrays.ones(systems), arrays.ones(inputs)), n

    def bootstrap(self, systems: IntArray, inputs: IntArray) -> FloatArray:
        x, z, weights = self.means.drawn(systems, inputs)
        found = self.formula(_sums_of_means(x, z, weights, axis=1))
        return np.asarray(found.ravel()[: max(len(systems), len(inputs))])


def _sums_of_means(x: FloatArray, z: FloatArray, weights: FloatArray, axis: int) -> FloatArray:
    """Sums over systems of means, squares and products, (numbers, ...); weight 0 leaves a system out."""
    x, z, weights = np.broadcast_arrays(x, z, weights)
    x, z = (np.where(weights > 0, each, 0.0) for each in (x, z))
    terms = np.ones(x.shape), x, z, x * x, z * z, x * z
    return np.array([_in_turn(weights * each, axis) for each in terms])


def _in_turn(values: FloatArray, axis: int) -> FloatArray:
    """Sum along an axis in sequence, whatever the memory layout."""
    return np.asarray(np.take(np.cumsum(values, axis=axis), -1, axis=axis))


def estimator(x: FloatArray, z: FloatArray, measure: Measure, *, kind: Kind) -> Estimator:
    if measure.level == "system":
        (x,), z = _units(x[None], z)
        return OfMeans(correlations.Means.of(x, z, measure.own_cells), kind.formula)
    cells = _by_group(kind.cells(x, z, measure.coefficient), measure.level)
    return OfSums(cells, kind.formula, measure.level, measure.undefined_as_zero)


def _by_group(cells: FloatArray, level: str) -> FloatArray:
    return arrays.read_only(np.ascontiguousarray(cells.swapaxes(1, 2) if level == "within_system" else cells))


# --- Two metrics whose scores trade places ---


@dataclass(frozen=True)
class _Swapped:
    pairs: tuple[Pair, ...]
    x: FloatArray
    y: FloatArray
    formula: Formula
    level: str
    undefined_as_zero: bool

    @property
    def cost(self) -> float:
        return 4.0 * float(self.x.size)

    def differences(self, bits: Bits) -> FloatArray:
        groups = self.x.shape[2]
        layout = swap_kernels.BY_SYSTEM if self.level == "within_system" else swap_kernels.BY_INPUT
        out = np.empty(len(bits))
        step = max(1, _AT_ONCE // max(1, 2 * len(self.x) * groups))
        for start in range(0, len(bits), step):
            at = slice(start, start + step)
            sums = np.empty((2, len(bits[at]), len(self.x), groups))
            kernels.swapped_sums(self.x, self.y, bits[at], layout, np.arange(groups), sums)
            one, two = (self._values(each) for each in sums)
            out[at] = one - two
        return out[None]

    def _values(self, sums: FloatArray) -> FloatArray:
        found = np.empty(len(sums))
        if self.level == "global":
            found[:] = self.formula(np.ascontiguousarray(_in_turn(sums, 2).T))
            return found
        r = self.formula(sums.swapaxes(0, 1))
        kernels.averages(r, sums[:, 0].copy(), np.ones((1, r.shape[1])), self.undefined_as_zero, found)
        return found


@dataclass(frozen=True)
class _SwappedMeans:
    pairs: tuple[Pair, ...]
    x: FloatArray  # (1, inputs, systems), 0 where a cell is missing
    y: FloatArray
    counts: FloatArray
    means: FloatArray
    formula: Formula

    @property
    def cost(self) -> float:
        return 8.0 * float(self.x.size)

    def differences(self, bits: Bits) -> FloatArray:
        systems = self.x.shape[2]
        sums = np.empty((2, len(bits), 1, systems))
        kernels.swapped_sums(self.x, self.y, bits, swap_kernels.BY_SYSTEM, np.arange(systems), sums)
        there = ((self.counts > 0) & ~np.isnan(self.means)).astype(float)
        means, gold = sums[:, :, 0] / np.maximum(self.counts, 1.0), np.nan_to_num(self.means)
        one, two = (self.formula(_sums_of_means(each, gold, there, axis=1)) for each in means)
        return np.asarray(one - two)[None]


def swapped(
    scores: FloatArray, z: FloatArray, pairs: tuple[Pair, ...], measure: Measure, *, kind: Kind
) -> Sequence[Differences]:
    own_cells = measure.own_cells
    tests: list[Differences] = []
    for pair in pairs:
        cells = arrays.common_cells(scores, z, pair, measure.missing)
        both = np.where(cells, np.stack([scores[metric] for metric in pair]), np.nan)
        gold = z if own_cells else np.where(cells, z, np.nan)
        if measure.level == "system":
            both, gold = _units(both, gold)
            means, n = arrays.system_means(gold, ~np.isnan(gold))
            x, y = (arrays.filled(each, cells).T[None].copy() for each in both)
            known = cells.sum(axis=1).astype(float), np.where(n > 0, means, np.nan)
            tests.append(_SwappedMeans((pair,), x, y, *known, kind.formula))
            continue
        x, y = (_by_group(each, measure.level) for each in kind.of_several(both, gold, measure.coefficient))
        tests.append(_Swapped((pair,), x, y, kind.formula, measure.level, measure.undefined_as_zero))
    return tests


# --- Without one label ---


def parts(x: FloatArray, z: FloatArray, measure: Measure, *, kind: Kind) -> OfAny | OfGroups | OfCells:
    """The estimate without each system and each input, and the influence of each cell."""
    made = estimator(x, z, measure, kind=kind)
    if not isinstance(made, OfSums):
        shape = x.shape[0], x.shape[1]
        systems, inputs = leave_one_out.each_left_out(made, shape, ("system", "input"))
        return OfAny(made.value(), systems, inputs, measure.level)
    cells, there = made.cells, made.cells[0] > 0
    if measure.level == "global":
        whole = cells.sum(axis=(1, 2))
        systems, inputs = (kind.formula(whole[:, None] - cells.sum(axis=axis)) for axis in (2, 1))
        without = np.where(there, kind.formula(whole[:, None, None] - cells), np.nan)
        n = int(there.sum())
        influence = np.where(there, (n - 1) * (_mean(without) - without), 0.0)
        return OfCells(made.value(), systems, inputs, np.nan_to_num(influence), n, share=_share(kind, cells, whole))
    r, _ = made.groups()
    with np.errstate(invalid="ignore"):
        without = np.where(there, kind.formula(made.sums[:, None] - cells), np.nan)
    return correlation_parts.of_groups(r, without, there, measure)


def _mean(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan


def _share(kind: Kind, cells: FloatArray, whole: FloatArray) -> Share | None:
    """Number of cells of the share, of their inputs, and of cells of the rarer class."""
    if kind.share_of is None:
        return None
    classes = np.split(whole[2:], 2)[1] if kind.numbers == "classes" else np.array([whole[3], whole[0] - whole[3]])
    rarer = int(classes[classes > 0].min(initial=np.inf)) if (classes > 0).sum() > 1 else 0
    counted = {"all": cells[0], "positive": cells[-1], "negative": cells[0] - cells[-1]}[kind.share_of]
    return Share(float(counted.sum()), int((counted.sum(axis=0) > 0).sum()), rarer)


def row(formula: Formula, numbers: str, step: Any, share_of: str | None = None) -> dict[str, Any]:
    kind = Kind(formula, numbers, share_of)
    return {
        "estimator": partial(estimator, kind=kind),
        "swapped": partial(swapped, kind=kind),
        "leave_one_out": LeaveOneOut(partial(parts, kind=kind), step, of_ranks=False),
        "scale": numbers,
    }
