"""Correlations without one system or one input, from the whole, by update formulas; scores are (systems, inputs)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from xsumstat.coefficients import arrays, few_cells, weighted_pearson
from xsumstat.coefficients.curvature import Bend, Curvature
from xsumstat.coefficients.leave_one_out import OfCells, OfGroups, OfMeans, Parts
from xsumstat.coefficients.record import Measure
from xsumstat.core import levels
from xsumstat.core.types import BoolArray, FloatArray, IntArray
from xsumstat.kernels import correlation as kernels
from xsumstat.kernels import jackknife as jackknife_kernels
from xsumstat.kernels.jit import is_ready

# Cells from which a kernel is worth loading.
_FEW = 5_000


def by_kind(x: FloatArray, z: FloatArray, measure: Measure, *, kind: int) -> Parts:
    x, z = arrays.scaled(x), arrays.scaled(z)
    if measure.weights is not None:
        return weighted_pearson.parts(x, z, measure, measure.weights)
    if measure.level in levels.GROUPS:
        return _of_groups(x, z, measure, kind)
    value = measure.estimator(x, z).value()
    if measure.level == "system":
        return _of_means(x, z, value, measure.own_cells, kind)
    return _of_cells(x, z, value, kind)


# --- Systems' means ---


def _of_means(x: FloatArray, z: FloatArray, value: float, own_cells: bool, kind: int) -> OfMeans:
    cells_x, cells_z = arrays.counted(x, z, own_cells)
    (mean_x, *_), (mean_z, *_) = arrays.equal_means(x, cells_x), arrays.equal_means(z, cells_z)
    pearson = _one_group(mean_x, mean_z, kernels.PEARSON)
    without = pearson if kind == kernels.PEARSON else _one_group(mean_x, mean_z, kind)
    rest = arrays.residuals(x, mean_x, cells_x), arrays.residuals(z, mean_z, cells_z)
    known = Curvature((mean_x, mean_z), rest, (cells_x.sum(axis=1), cells_z.sum(axis=1)))
    return OfMeans(value, without, pearson, _noise(known), kind != kernels.PEARSON, bends=(Bend(known),))


def pearson_of_means(x: FloatArray, z: FloatArray) -> float:
    a, b = (_standard(arrays.equal_means(each, ~np.isnan(each))[0])[0] for each in (x, z))
    return float(a @ b) / len(a)


def _one_group(x: FloatArray, z: FloatArray, kind: int) -> FloatArray:
    return without_members(x[:, None], z[:, None], np.ones((len(x), 1), bool), kind)[1][:, 0]


def _noise(known: Curvature) -> FloatArray:
    """Influence of each cell on Pearson's r of the means, without the main effects of systems and inputs."""
    # ψ_ij = [(b_i − r·a_i)/(N·s_x)·e^x_ij + (a_i − r·b_i)/(N·s_z)·e^z_ij]/m_i with a, b the standardised means (ddof
    # 0), s their SDs, m_i the cells of system i, and e the residual after the system's mean and then the input's mean.
    (a, s_x), (b, s_z) = (_standard(each) for each in known.means)
    r, n = float(a @ b) / len(a), len(a)
    of_x = (b - r * a) / (n * s_x) / known.cells[0]
    of_z = (a - r * b) / (n * s_z) / known.cells[1]
    rest_x, rest_z = known.rest
    return np.asarray(of_x[:, None] * rest_x + of_z[:, None] * rest_z)


def _standard(values: FloatArray) -> tuple[FloatArray, float]:
    centred = values - values.mean()
    centred -= centred.mean()
    spread = float(np.sqrt(np.mean(centred**2))) if np.ptp(values) > 0 else math.nan
    return centred / spread, spread


# --- Groups ---


def _of_groups(x: FloatArray, z: FloatArray, measure: Measure, kind: int) -> OfGroups:
    if measure.level == "within_system":
        x, z = np.ascontiguousarray(x.T), np.ascontiguousarray(z.T)
    there = arrays.present(x, z)
    return of_groups(*without_members(x, z, there, kind), there, measure)


def of_groups(r: FloatArray, without: FloatArray, there: BoolArray, measure: Measure) -> OfGroups:
    """Parts of groups' coefficients, given those without each member (members, groups)."""
    size = there.sum(axis=0)
    value = arrays.average(r, size.astype(float), measure.undefined_as_zero)
    if measure.undefined_as_zero:
        r = np.where(np.isnan(r) & (size > 0), 0.0, r)
        without = np.where(np.isnan(without) & there & (size > 1), 0.0, without)
    mean = arrays.defined_means(np.where(there, without, r), 1)
    return OfGroups(value, r, without, mean, there, levels.members(measure.level))


def without_members(x: FloatArray, z: FloatArray, there: BoolArray, kind: int) -> tuple[FloatArray, FloatArray]:
    """Each group's coefficient, and without each member (members, groups)."""
    if kind == kernels.PEARSON and 0 < x.size <= _FEW and not is_ready(jackknife_kernels.pearson_without_one):
        return few_cells.pearson_without_members(x, z, there)
    r, mask = np.empty(x.shape[1]), arrays.or_none(there)
    if kind == kernels.PEARSON:
        without = np.empty(x.shape)
        jackknife_kernels.pearson_without_one(arrays.filled(x, there), arrays.filled(z, there), mask, r, without)
        return r, without
    order, codes_x, codes_z = _codes(x, z, there)
    without = np.empty(order.shape)
    jackknife_kernels.ranks_without_one(kind, order, codes_x, codes_z, mask, r, without)
    del order, codes_x, codes_z  # before the copy is made
    return r, np.ascontiguousarray(without.T)


def _codes(x: FloatArray, z: FloatArray, there: BoolArray) -> tuple[IntArray, IntArray, IntArray]:
    order, codes_x = arrays.codes_of_groups(x, there)
    return order, codes_x, arrays.codes_of_groups(z, there)[1]


# --- All cells ---


def _of_cells(x: FloatArray, z: FloatArray, value: float, kind: int) -> OfCells:
    there = arrays.present(x, z)
    if kind == kernels.PEARSON:
        systems, inputs = (_pearson_without(x, z, there, axis) for axis in (0, 1))
        influence = _pearson_influence(x[there], z[there])
    else:
        cells = _Cells.of(x, z, there)
        systems, inputs = (cells.without(axis, kind) for axis in (0, 1))
        influence = cells.spearman_influence() if kind == kernels.SPEARMAN else cells.kendall_influence(kind)
    return OfCells(value, systems, inputs, _placed(influence, there), int(there.sum()))


def _placed(values: FloatArray, there: BoolArray) -> FloatArray:
    found: FloatArray = np.zeros(there.shape)
    found[there] = values
    return found


def _pearson_influence(x: FloatArray, z: FloatArray) -> FloatArray:
    """``ab − r(a² + b²)/2`` of the standardised scores."""
    a, b = _standard(x)[0], _standard(z)[0]
    r = float(np.mean(a * b))
    return np.asarray(a * b - r * (a**2 + b**2) / 2)


def _pearson_without(x: FloatArray, z: FloatArray, there: BoolArray, axis: int) -> FloatArray:
    """Pearson's r of all cells without those of each system (axis 0) or input, from sums about the means."""
    a, b = (np.where(there, each - each[there].mean(), 0.0) for each in (x, z))
    sums = np.array([each.sum(axis=1 - axis) for each in (there, a, b, a * a, b * b, a * b)], dtype=float)
    whole = sums.sum(axis=1, keepdims=True)
    n, of_a, of_b, aa, bb, ab = whole - sums
    with np.errstate(divide="ignore", invalid="ignore"):
        aa, bb, ab = aa - of_a**2 / n, bb - of_b**2 / n, ab - of_a * of_b / n
        found = np.clip(ab / np.sqrt(aa * bb), -1, 1)
    # Where little is left of a variance it is rounding: those few are summed anew.
    few = ~((aa > kernels.CANCELLED_WITHOUT_ONE * whole[3]) & (bb > kernels.CANCELLED_WITHOUT_ONE * whole[4]))
    for label in np.flatnonzero(few):
        rest = np.delete(there, label, axis)
        pair = [arrays.read_only(np.delete(each, label, axis)[rest][:, None]) for each in (x, z)]
        r = np.full(1, np.nan)
        if len(pair[0]):
            jackknife_kernels.pearson_without_one(pair[0], pair[1], None, r, np.empty(pair[0].shape))
        found[label] = r[0]
    return np.asarray(found)


@dataclass(frozen=True)
class _Cells:
    """All present cells, ranked by both scores."""

    there: BoolArray
    x: FloatArray
    z: FloatArray
    codes_x: IntArray  # (cells,), dense ranks
    codes_z: IntArray
    below_x: IntArray  # (cells + 1,), the number of cells with a smaller code
    below_z: IntArray
    alike: IntArray  # (cells,), how many others both scores order alike with each
    opposite: IntArray  # likewise oppositely

    @classmethod
    def of(cls, x: FloatArray, z: FloatArray, there: BoolArray) -> _Cells:
        order, codes_x = arrays.dense_codes(x[there])
        codes_z = arrays.dense_codes(z[there])[1]
        size = len(order)
        below_x, below_z, tree = (np.empty(size + 1, np.int64) for _ in range(3))
        alike, opposite = np.zeros(size, np.int64), np.zeros(size, np.int64)
        here = np.ones(size, np.int64)
        jackknife_kernels.decide(order, codes_x, codes_z, here, tree, below_x, below_z, alike, opposite)
        return cls(there, x, z, codes_x, codes_z, below_x, below_z, alike, opposite)

    @property
    def untied(self) -> tuple[IntArray, IntArray]:
        size = len(self.codes_x)
        of_x = size - self.below_x[self.codes_x + 1] + self.below_x[self.codes_x]
        return of_x, size - self.below_z[self.codes_z + 1] + self.below_z[self.codes_z]

    @property
    def ranks(self) -> tuple[FloatArray, FloatArray]:
        size = len(self.codes_x)
        return tuple(  # type: ignore[return-value]
            (below[codes] + below[codes + 1] - size).astype(float)
            for below, codes in ((self.below_x, self.codes_x), (self.below_z, self.codes_z))
        )

    def labels(self, axis: int) -> IntArray:
        return np.nonzero(self.there)[axis].astype(np.int64)

    def without(self, axis: int, kind: int) -> FloatArray:
        return self.spearman_without(axis) if kind == kernels.SPEARMAN else self.kendall_without(axis, kind)

    def spearman_without(self, axis: int) -> FloatArray:
        found, order = np.empty(self.there.shape[axis]), np.argsort(self.codes_x, kind="stable")
        each = (*self.ranks, self.codes_x, self.codes_z, self.labels(axis))
        jackknife_kernels.spearman_without_groups(*(values[order].astype(np.int32) for values in each), found)
        return found

    def spearman_influence(self) -> FloatArray:
        """``ab − ρ(a² + b²)/2`` of standardised midranks a, b, and the effect of each cell on others' ranks."""
        # That effect is the mean over other cells c of (b_c − ρ·a_c)[x_c > x_a], ties counting half, times n over the
        # SD of the midranks of x (√12 without ties), less its mean; likewise for z.
        ranks_x, ranks_z = self.ranks
        (a, spread_x), (b, spread_z) = _standard(ranks_x), _standard(ranks_z)
        rho, size = float(np.mean(a * b)), len(a)
        # The ranks are doubled, and so are their sds.
        moved = 2 * size / spread_x * _mean_above(b - rho * a, self.codes_x)
        moved += 2 * size / spread_z * _mean_above(a - rho * b, self.codes_z)
        return np.asarray(a * b - rho * (a**2 + b**2) / 2 + moved - moved.mean())

    def kendall_without(self, axis: int, kind: int) -> FloatArray:
        """A Kendall-type coefficient without each system (axis 0) or input."""
        label, groups = self.labels(axis), self.there.shape[axis]
        each = (self.alike, self.opposite, *self.untied)
        lost = np.array([np.bincount(label, of_cell, groups) for of_cell in each])
        rest = np.array([[of_cell.sum() / 2] for of_cell in each]) - (lost - self._within(axis))
        n = len(label) - np.bincount(label, minlength=groups)
        distinct = self._distinct_without(label, groups) if kind == kernels.KENDALL_C else np.zeros(groups)
        numerator = rest[0] if kind == kernels.ACCURACY else rest[0] - rest[1]
        places = zip(numerator, rest[2], rest[3], n, distinct, strict=True)
        return np.array([_rank_value(kind, *map(float, place)) for place in places])

    def _within(self, axis: int) -> IntArray:
        """Pairs of two cells of the same system (axis 0) or input, as `decide_groups` counts them."""
        x, z, there = (self.x.T, self.z.T, self.there.T) if axis == 0 else (self.x, self.z, self.there)
        sums = np.empty((4, there.shape[1]), np.int64)
        jackknife_kernels.decide_groups(*_codes(x, z, there), arrays.or_none(there), sums)
        return sums

    def _distinct_without(self, label: IntArray, groups: int) -> FloatArray:
        """Number of different values, the smaller of the two scores', without each label."""
        found = []
        for codes, below in ((self.codes_x, self.below_x), (self.codes_z, self.below_z)):
            often = np.diff(below)
            kinds, counts = np.unique(label * (len(codes) + 1) + codes, return_counts=True)
            gone = counts == often[kinds % (len(codes) + 1)]
            found.append((often > 0).sum() - np.bincount(kinds // (len(codes) + 1), gone, groups))
        return np.asarray(np.minimum(*found), dtype=float)

    def kendall_influence(self, kind: int) -> FloatArray:
        """Twice the mean of each cell's pairs less the average; tau-b also has terms for the ties."""
        others = max(len(self.codes_x) - 1, 1)
        alike, opposite, of_x, of_z = (each / others for each in (self.alike, self.opposite, *self.untied))
        if kind == kernels.ACCURACY:
            return np.asarray(2 * (alike - alike.mean()))
        s = alike - opposite
        if kind == kernels.KENDALL:
            a, b = of_x.mean(), of_z.mean()
            if not (a > 0 and b > 0):
                return np.full(len(s), math.nan)
            root = math.sqrt(a * b)
            return np.asarray(2 * (s / root - s.mean() / root / 2 * (of_x / a + of_z / b)))
        factor = 1.0
        if kind == kernels.KENDALL_C:
            distinct = min((np.diff(below) > 0).sum() for below in (self.below_x, self.below_z))
            factor = distinct * others / ((others + 1) * (distinct - 1)) if distinct > 1 else math.nan
        return np.asarray(2 * factor * (s - s.mean()))


def _mean_above(values: FloatArray, codes: IntArray) -> FloatArray:
    """For each member the sum of the values with a larger code, and half of those with its own, over n."""
    by_code = np.bincount(codes, values, len(codes) + 1)
    above = by_code.sum() - np.cumsum(by_code) + by_code / 2
    return np.asarray(above[codes] / len(codes))


def _rank_value(kind: int, numerator: float, untied_x: float, untied_z: float, n: float, distinct: float) -> float:
    return float(kernels.rank_value(kind, numerator, untied_x, untied_z, n, distinct))
