"""Partial correlations of a metric with the gold given covariates, where all exist (Kendall 1942, Kim 2015)."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from xsumstat.coefficients import arrays, correlation_parts, correlations
from xsumstat.coefficients.leave_one_out import OfCells, OfGroups, OfMeans, Parts
from xsumstat.coefficients.record import Estimator, Measure, OfManyGroups, OfOneGroup
from xsumstat.core import levels
from xsumstat.core.types import BoolArray, FloatArray, IntArray
from xsumstat.kernels import bootstrap as bootstrap_kernels
from xsumstat.kernels import correlation as kernels
from xsumstat.kernels import partial as partial_kernels


def places(variables: int) -> list[tuple[int, int]]:
    return list(itertools.combinations(range(variables), 2))


def least_members(variables: int) -> int:
    """Least number of members of a defined partial correlation: 3 more than covariates."""
    return variables + 1


def combined(r: FloatArray, variables: int) -> FloatArray:
    """Partial correlation of the first two variables from all correlations, (pairs, ...) as in `places`."""
    s = _matrices(r, variables)
    defined = np.ones(r.shape[1:], dtype=bool)
    with np.errstate(divide="ignore", invalid="ignore"):
        for last in range(variables - 1, 1, -1):
            defined &= s[last, last] > partial_kernels.NOTHING
            s[:last, :last] -= s[:last, None, last] * s[None, last, :last] / s[last, last]
        defined &= (s[0, 0] > partial_kernels.NOTHING) & (s[1, 1] > partial_kernels.NOTHING)
        found = np.clip(s[0, 1] / np.sqrt(s[0, 0] * s[1, 1]), -1.0, 1.0)
    return np.where(defined, found, np.nan)


def _matrices(r: FloatArray, variables: int) -> FloatArray:
    matrix = np.ones((variables, variables, *r.shape[1:]))
    for (a, b), values in zip(places(variables), r, strict=True):
        matrix[a, b] = matrix[b, a] = values
    return matrix


def gradient(r: FloatArray, variables: int) -> FloatArray:
    """Derivative of the partial correlation by the correlation of each pair, (pairs,); NaN at ±1 or if undefined."""
    # With P the inverse of the matrix R of all correlations it is −P_01/√(P_00·P_11), and dP = −P·dR·P.
    value = float(combined(r, variables))
    if math.isnan(value) or 1 - abs(value) < partial_kernels.NOTHING:
        return np.full(len(r), math.nan)
    p = np.linalg.inv(_matrices(r, variables))
    size = math.sqrt(p[0, 0] * p[1, 1])
    moved = []
    for a, b in places(variables):
        d = -(np.outer(p[:, a], p[b]) + np.outer(p[:, b], p[a]))
        moved.append(-d[0, 1] / size + p[0, 1] / (2 * size) * (d[0, 0] / p[0, 0] + d[1, 1] / p[1, 1]))
    return np.array(moved)


def pvalue(value: float, n: float, covariates: int, kind: int) -> float:
    """Two-sided p-value of no partial association, as in R's ppcor; NaN where undefined."""
    # Pearson and Spearman: r·√((n − 2 − k)/(1 − r²)), t with n − 2 − k degrees of freedom. Kendall: τ/√(2(2m + 5)/(9m(m
    # − 1))), m = n − k, normal.
    from scipy.special import ndtr, stdtr

    left = n - covariates
    if math.isnan(value) or left <= 2:
        return math.nan
    if kind == kernels.KENDALL:
        return float(2 * ndtr(-abs(value) / math.sqrt(2 * (2 * left + 5) / (9 * left * (left - 1)))))
    if 1 - abs(value) <= partial_kernels.NOTHING:
        return 0.0
    return float(2 * stdtr(left - 2, -abs(value) * math.sqrt((left - 2) / (1 - value**2))))


def variables_of(x: FloatArray, z: FloatArray, own_cells: bool) -> FloatArray:
    """All variables (variables, systems, inputs), scaled, on common cells."""
    whole = np.concatenate([x[None], z])
    there = ~np.isnan(whole)
    kept = there.any(axis=2).all(axis=0)[:, None] if own_cells else there.all(axis=0)
    return np.stack([arrays.scaled(np.where(kept, each, np.nan)) for each in whole])


# --- As they are, and drawn anew ---


def estimator(x: FloatArray, z: FloatArray, measure: Measure, *, kind: int) -> Estimator:
    whole = variables_of(x, z, measure.own_cells)
    if measure.level == "system":
        return _OfMeans.of(whole, kind)
    if measure.level == "global":
        return _OfCells(Members.of(whole.reshape(len(whole), 1, -1), kind), (x.shape[0], x.shape[1]))
    members = Members.of(whole if measure.level == "within_system" else whole.transpose(0, 2, 1), kind)
    return _OfGroups(members, measure.undefined_as_zero, measure.level)


@dataclass(frozen=True)
class Members:
    """Variables of the members of groups for the kernels, (variables, groups, members)."""

    kind: int
    values: FloatArray  # empty for ranks
    order: IntArray  # empty for Pearson's r
    codes: IntArray  # dense ranks; empty for Pearson's r
    mask: IntArray  # (groups, members), 1 where present

    @classmethod
    def of(cls, whole: FloatArray, kind: int) -> Members:
        there: BoolArray = np.asarray(~np.isnan(whole).any(axis=0))
        mask: IntArray = np.ascontiguousarray(there, dtype=np.int64)
        nothing = np.empty((0, *there.shape))
        if kind == kernels.PEARSON:
            values = np.ascontiguousarray(np.where(there, whole, 0.0))
            return cls(kind, values, nothing.astype(np.int64), nothing.astype(np.int64), mask)
        order, codes = arrays.dense_codes(np.where(there, whole, np.nan))
        return cls(kind, nothing, order, np.where(there, codes, 0), mask)

    @property
    def data(self) -> tuple[int, FloatArray, IntArray, IntArray, IntArray]:
        return self.kind, self.values, self.order, self.codes, self.mask

    @property
    def variables(self) -> int:
        return max(len(self.values), len(self.codes))

    @property
    def cost(self) -> float:
        pairs = self.variables * (self.variables - 1) / 2
        each = 3.0 if self.kind == kernels.PEARSON else 10.0 + 10.0 * math.log2(max(2, self.mask.shape[1]))
        return each * pairs * self.mask.size

    def groups(self) -> tuple[FloatArray, FloatArray]:
        r, n = np.empty((2, len(self.mask)))
        partial_kernels.groups_partial(*self.data, r, n)
        return r + 0.0, n


@dataclass(frozen=True)
class _OfGroups(OfManyGroups):
    members: Members
    undefined_as_zero: bool
    level: str

    @property
    def cost(self) -> float:
        return self.members.cost

    @cached_property
    def _groups(self) -> tuple[FloatArray, FloatArray]:
        return self.members.groups()

    def groups(self) -> tuple[FloatArray, FloatArray]:
        return self._groups

    def bootstrap(self, systems: IntArray, inputs: IntArray) -> FloatArray:
        w, v = levels.members_first(self.level, systems, inputs)
        out = np.empty(max(len(w), len(v)))
        partial_kernels.bootstrap_partial(*self.members.data, w, v, self.undefined_as_zero, out)
        return out


@dataclass(frozen=True)
class _OfCells(OfOneGroup):
    members: Members
    shape: tuple[int, int]

    @property
    def cost(self) -> float:
        return self.members.cost

    def groups(self) -> tuple[FloatArray, FloatArray]:
        return self.members.groups()

    def bootstrap(self, systems: IntArray, inputs: IntArray) -> FloatArray:
        out = np.empty(max(len(systems), len(inputs)))
        partial_kernels.bootstrap_partial_cells(*self.members.data, systems, inputs, out)
        return out


@dataclass(frozen=True)
class _OfMeans(OfOneGroup):
    kind: int
    values: FloatArray  # 0 where missing
    masks: tuple[FloatArray | None, ...]
    scales: FloatArray

    @classmethod
    def of(cls, whole: FloatArray, kind: int) -> _OfMeans:
        there = ~np.isnan(whole)
        values = arrays.read_only(np.where(there, whole, 0.0))
        scales = np.stack([arrays.rounding_scale(each) for each in whole])
        return cls(kind, values, tuple(arrays.or_none(mask) for mask in there), scales)

    @property
    def cost(self) -> float:
        variables, systems, _ = self.values.shape
        return float(0.5 * self.values.size + 4.0 * systems**2 * len(places(variables)))

    def groups(self) -> tuple[FloatArray, FloatArray]:
        systems, inputs = self.values.shape[1:]
        each = (np.full(systems, inputs) if mask is None else mask.sum(axis=1) for mask in self.masks)
        n = np.all([cells > 0 for cells in each], axis=0).sum()
        return self.bootstrap(arrays.ones(systems), arrays.ones(inputs)), np.array([n], float)

    def bootstrap(self, systems: IntArray, inputs: IntArray) -> FloatArray:
        resamples, size = max(len(systems), len(inputs)), len(self.values)
        means, weights = [], None
        for values, mask in zip(self.values, self.masks, strict=True):
            mean, again = (arrays.lanes(resamples if len(inputs) > 1 else 1, len(values)) for _ in range(2))
            own = arrays.lanes(resamples, len(values))
            bootstrap_kernels.bootstrap_means(values, values, mask, mask, systems, inputs, mean, again, own)
            means.append(mean)
            weights = own if weights is None else np.minimum(weights, own)
        assert weights is not None
        r = [
            correlations.correlate_means(self.kind, means[a], means[b], self.scales[a], self.scales[b], weights)
            for a, b in places(size)
        ]
        enough = (weights > 0).sum(axis=1).ravel() >= least_members(size)
        return np.where(enough, combined(np.array(r), size), np.nan)[:resamples]


# --- Without one label ---


def parts(x: FloatArray, z: FloatArray, measure: Measure, *, kind: int) -> Parts:
    """Leave-one-out parts of the estimate, from those of the correlations of all pairs of variables."""
    whole = variables_of(x, z, measure.own_cells)
    if measure.level in levels.GROUPS:
        return _parts_of_groups(whole, measure, kind)
    size = len(whole)
    plain = replace(measure, given=())
    by_pair = [correlation_parts.by_kind(whole[a], whole[b], plain, kind=kind) for a, b in places(size)]
    value = estimator(x, z, measure, kind=kind).value()
    if measure.level == "system":
        return _parts_of_means(by_pair, value, size, whole, kind)
    return _parts_of_cells(by_pair, value, size)


def _parts_of_means(by_pair: list[Parts], value: float, size: int, whole: FloatArray, kind: int) -> OfMeans:
    """The influence of cells is that on the partial Pearson's r, by the chain rule."""
    each = [pair for pair in by_pair if isinstance(pair, OfMeans)]
    without, pearson = (
        _with_enough(combined(np.array(values), size), size)
        for values in ([pair.without for pair in each], [pair.pearson for pair in each])
    )
    r = np.array([correlation_parts.pearson_of_means(whole[a], whole[b]) for a, b in places(size)])
    influence = np.tensordot(gradient(r, size), np.array([pair.influence for pair in each]), 1)
    return OfMeans(value, without, pearson, influence, kind != kernels.PEARSON, covariates=size - 2)


def _with_enough(without: FloatArray, size: int) -> FloatArray:
    """Values without each of some members, NaN where too few remain."""
    return without if len(without) - 1 >= least_members(size) else np.full(len(without), np.nan)


def _parts_of_groups(whole: FloatArray, measure: Measure, kind: int) -> OfGroups:
    if measure.level == "within_system":
        whole = np.ascontiguousarray(whole.transpose(0, 2, 1))
    there: BoolArray = np.asarray(~np.isnan(whole).any(axis=0))
    size, members = len(whole), there.sum(axis=0)
    each = [correlation_parts.without_members(whole[a], whole[b], there, kind) for a, b in places(size)]
    r, without = (combined(np.array(values), size) for values in zip(*each, strict=True))
    r = np.where(members >= least_members(size), r, np.nan)
    without = np.where(there & (members > least_members(size)), without, np.nan)
    return correlation_parts.of_groups(r, without, there, measure)


def _parts_of_cells(by_pair: list[Parts], value: float, size: int) -> OfCells:
    each = [pair for pair in by_pair if isinstance(pair, OfCells)]
    systems, inputs = (
        combined(np.array(values), size) for values in ([pair.systems for pair in each], [pair.inputs for pair in each])
    )
    slope = gradient(np.array([pair.value for pair in each]), size)
    influence = np.tensordot(slope, np.array([pair.influence for pair in each]), 1)
    return OfCells(value, systems, inputs, influence, each[0].n_cells)
