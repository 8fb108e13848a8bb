"""Correlations and accuracies of two score matrices (systems, inputs) at each level, as given or resampled."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from xsumstat.coefficients import arrays
from xsumstat.coefficients.record import Estimator, Measure, OfManyGroups, OfOneGroup
from xsumstat.coefficients.sorted_ranks import Sorted
from xsumstat.core import levels
from xsumstat.core.types import BoolArray, FloatArray, IntArray
from xsumstat.kernels import bootstrap as bootstrap_kernels
from xsumstat.kernels import correlation as kernels
from xsumstat.kernels import means as mean_kernels
from xsumstat.kernels import ties as tie_kernels

# Rows of counts are padded with zeros to whole vector registers, so that loops over them have no rest.
_LANE_COLUMNS = 64


def estimator(x: FloatArray, z: FloatArray, measure: Measure, *, kind: int) -> Estimator:
    if measure.level == "system":
        return of_means(x, z, measure, kind=kind)
    x, z = arrays.scaled(x), arrays.scaled(z)
    if measure.level == "global":
        return _Global.of(x, z, kind)
    grouped = (x.T, z.T) if measure.level == "within_system" else (x, z)
    return _Grouped.of(*grouped, kind, measure.undefined_as_zero, measure.level)


def of_means(x: FloatArray, z: FloatArray, measure: Measure, *, kind: int) -> Estimator:
    threshold = measure.coefficient.rescaled(x, z).threshold
    return _System(kind, threshold, Means.of(arrays.scaled(x), arrays.scaled(z), measure.own_cells))


def close_pairs(
    means: Means, low: FloatArray, high: FloatArray, systems: IntArray, inputs: IntArray, *, kind: int
) -> tuple[FloatArray, FloatArray]:
    """The coefficient of close pairs of systems and their number, in each resample, (gaps, resamples)."""
    x, z, weights = means.drawn(systems, inputs)
    out, pairs = (np.empty((len(low), len(weights), weights.shape[2])) for _ in range(2))
    tie_kernels.close_blocks(kind, low, high, x, z, means.scale_x, means.scale_z, weights, out, pairs)
    resamples = max(len(systems), len(inputs))
    return out.reshape(len(low), -1)[:, :resamples], pairs.reshape(len(low), -1)[:, :resamples]


def correlate_means(
    kind: int,
    x: FloatArray,
    z: FloatArray,
    scale_x: FloatArray,
    scale_z: FloatArray,
    weights: FloatArray,
    threshold: float = math.nan,
) -> FloatArray:
    """Correlation of means in each resample, (resamples, rounded up to whole blocks); arrays as from `lanes`."""
    out = np.empty((max(len(x), len(z), len(weights)), x.shape[2]))
    if kind == kernels.PEARSON:
        mean_kernels.pearson_blocks(x, z, scale_x, scale_z, weights, out)
    elif kind == kernels.SPEARMAN:
        mean_kernels.spearman_blocks(x, z, scale_x, scale_z, weights, out)
    elif kind in (kernels.ACC_EQ, kernels.KENDALL_LIKE):
        tie_kernels.decision_blocks(kind, threshold, x, z, scale_x, scale_z, weights, out)
    else:
        mean_kernels.kendall_blocks(kind, x, z, scale_x, scale_z, weights, out)
    return out.ravel()


@dataclass(frozen=True)
class Means:
    x: FloatArray
    z: FloatArray
    mask_x: FloatArray | None
    mask_z: FloatArray | None
    scale_x: FloatArray
    scale_z: FloatArray

    @classmethod
    def of(cls, x: FloatArray, z: FloatArray, own_cells: bool) -> Means:
        there_x, there_z = arrays.counted(x, z, own_cells)
        return cls(
            arrays.filled(x, there_x),
            arrays.filled(z, there_z),
            arrays.or_none(there_x),
            arrays.or_none(there_z),
            arrays.rounding_scale(np.where(there_x, x, np.nan)),
            arrays.rounding_scale(np.where(there_z, z, np.nan)),
        )

    @property
    def there(self) -> BoolArray:
        cells = [np.ones(len(self.x)) if mask is None else mask.sum(axis=1) for mask in (self.mask_x, self.mask_z)]
        return np.asarray((cells[0] > 0) & (cells[1] > 0))

    def pearson(self) -> float:
        """Pearson's r of the means, identical to the kernels' result, without compiling any."""
        there = self.there
        if not there.any():
            return math.nan
        x, z = (arrays.means_in_turn(*each)[0][there] for each in ((self.x, self.mask_x), (self.z, self.mask_z)))
        n, about_x, about_z = float(len(x)), _in_turn(x) / len(x), _in_turn(z) / len(z)
        dx, dz = x - about_x, z - about_z
        xx, zz = _in_turn(dx * dx), _in_turn(dz * dz)
        for values, square, about, scale in ((x, xx, about_x, self.scale_x), (z, zz, about_z, self.scale_z)):
            small = square < 1e-12 * n * (abs(about) + scale.max()) ** 2
            size = np.maximum(scale[there], np.abs(values)).max()
            if small and not values.max() - values.min() > mean_kernels.TIE * size:
                return math.nan
        variances = xx * zz
        return min(1.0, max(-1.0, _in_turn(dx * dz) / math.sqrt(variances))) if variances > 0 else math.nan

    def drawn(self, systems: IntArray, inputs: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Means of both for each row of counts, and draws of each system; arrays as from `lanes`."""
        resamples = max(len(systems), len(inputs))
        weights = arrays.lanes(resamples, len(self.x))
        mean_x, mean_z = (arrays.lanes(resamples if len(inputs) > 1 else 1, len(self.x)) for _ in range(2))
        where = (systems, inputs, mean_x, mean_z, weights)
        bootstrap_kernels.bootstrap_means(self.x, self.z, self.mask_x, self.mask_z, *where)
        return mean_x, mean_z, weights


def _in_turn(values: FloatArray) -> float:
    """Sum in sequence, as in the kernels."""
    return float(np.add.accumulate(values)[-1]) + 0.0


@dataclass(frozen=True)
class _System(OfOneGroup):
    kind: int
    threshold: float
    means: Means

    @property
    def cost(self) -> float:
        return 0.5 * self.means.x.size + 4.0 * len(self.means.x) ** 2

    def groups(self) -> tuple[FloatArray, FloatArray]:
        n = np.array([self.means.there.sum()], float)
        if self.kind == kernels.PEARSON:
            return np.array([self.means.pearson()]), n
        systems, inputs = self.means.x.shape
        return self.bootstrap(arrays.ones(systems), arrays.ones(inputs)), n

    def bootstrap(self, systems: IntArray, inputs: IntArray) -> FloatArray:
        x, z, weights = self.means.drawn(systems, inputs)
        found = correlate_means(self.kind, x, z, self.means.scale_x, self.means.scale_z, weights, self.threshold)
        return found[: max(len(systems), len(inputs))]


@dataclass(frozen=True)
class _Global(OfOneGroup):
    kind: int
    x: FloatArray
    z: FloatArray
    mask: FloatArray | None
    ranks: Sorted | None

    @classmethod
    def of(cls, x: FloatArray, z: FloatArray, kind: int) -> _Global:
        both = arrays.present(x, z)
        ranks = None
        if kind != kernels.PEARSON:
            ranks = Sorted.of_values(x.reshape(-1, 1), z.reshape(-1, 1), both.reshape(-1, 1))
        return cls(kind, arrays.filled(x, both), arrays.filled(z, both), arrays.or_none(both), ranks)

    @property
    def cost(self) -> float:
        return 3.0 * self.x.size

    def groups(self) -> tuple[FloatArray, FloatArray]:
        systems, inputs = self.x.shape
        cells = float(self.x.size if self.mask is None else self.mask.sum())
        return self.bootstrap(arrays.ones(systems), arrays.ones(inputs)), np.array([cells])

    def bootstrap(self, systems: IntArray, inputs: IntArray) -> FloatArray:
        if self.ranks is not None:
            return self.ranks.drawn_cells(self.kind, systems, inputs)
        out = np.empty(max(len(systems), len(inputs)))
        bootstrap_kernels.bootstrap_pearson_global(self.x, self.z, self.mask, systems, inputs, out)
        return out


@dataclass(frozen=True)
class _Grouped(OfManyGroups):
    kind: int
    form: str  # "moments", "pairs", "signs" or "sorted": which kernel, and what `data` holds
    data: tuple[Any, ...]
    mask: FloatArray | None
    undefined_as_zero: bool
    level: str
    shape: tuple[int, int]  # members, groups

    @classmethod
    def of(cls, x: FloatArray, z: FloatArray, kind: int, undefined_as_zero: bool, level: str) -> _Grouped:
        both = arrays.present(x, z)
        form, data = cls._prepared(x, z, both, kind)
        return cls(kind, form, data, arrays.or_none(both), undefined_as_zero, level, (x.shape[0], x.shape[1]))

    @staticmethod
    def _prepared(x: FloatArray, z: FloatArray, both: BoolArray, kind: int) -> tuple[str, tuple[Any, ...]]:
        if kind == kernels.PEARSON:
            return "moments", (arrays.filled(x, both), arrays.filled(z, both))
        if kind == kernels.KENDALL_C or not arrays.by_pairs(*x.shape):
            return "sorted", (Sorted.of_values(x, z, both),)
        # Sums run up to the number of pairs (Kendall) or to the number of members (Spearman).
        members = len(x)
        dtype = np.int16 if members <= 256 else np.int32
        if kind == kernels.SPEARMAN:
            there = both[:, None] & both
            signs = [np.sign(np.nan_to_num(values[:, None] - values)) * there for values in (x, z)]
            return "signs", (np.concatenate(signs, axis=2).astype(dtype, order="C"),)
        signs_x, signs_z = arrays.pair_signs(x, both, dtype), arrays.pair_signs(z, both, dtype)
        product = signs_x * signs_z
        numerator = (product > 0).astype(dtype) if kind == kernels.ACCURACY else product
        tied_x, tied_z = (np.flatnonzero((signs == 0).any(axis=0)) for signs in (signs_x, signs_z))
        rows = np.concatenate([numerator, np.abs(signs_x[:, tied_x]), np.abs(signs_z[:, tied_z])], axis=1)
        padded = np.pad(rows, ((0, 0), (0, -rows.shape[1] % _LANE_COLUMNS)))
        return "pairs", (np.ascontiguousarray(padded), tied_x, tied_z)

    @property
    def cost(self) -> float:
        members, groups = self.shape
        each = {"moments": 2.0, "sorted": 3.0}.get(self.form, 0.2 * members)
        return each * members * groups

    def groups(self) -> tuple[FloatArray, FloatArray]:
        return self._of_groups

    @cached_property
    def _of_groups(self) -> tuple[FloatArray, FloatArray]:
        if isinstance(self.data[0], Sorted):
            return self.data[0].groups(self.kind)
        members, groups = self.shape
        once = np.ones(members, dtype=np.int64 if self.form == "moments" else self.data[0].dtype)
        r, n = np.empty(groups), np.empty(groups)
        if self.form == "moments":
            kernels.pearson_groups(*self.data, self.mask, once, np.empty((6, groups)), r, n)
        elif self.form == "pairs":
            drawn, sums = np.empty(members + 1, np.int64), np.empty(self.data[0].shape[1], once.dtype)
            untied = np.empty(groups), np.empty(groups)
            kernels.pair_groups(self.kind, *self.data, self.mask, once, drawn, sums, *untied, r, n)
        else:
            drawn, sums = np.empty(members + 1, np.int64), np.empty(2 * groups, once.dtype)
            kernels.spearman_groups(*self.data, self.mask, once, drawn, sums, np.empty((members, 2 * groups)), r, n)
        return r + 0.0, n  # no negative zero, as sums over groups have none

    def bootstrap(self, systems: IntArray, inputs: IntArray) -> FloatArray:
        w, v = levels.members_first(self.level, systems, inputs)
        if isinstance(self.data[0], Sorted):
            return self.data[0].drawn(self.kind, w, v, self.undefined_as_zero)
        out = np.empty(max(len(w), len(v)))
        if self.form == "moments":
            bootstrap_kernels.bootstrap_pearson(*self.data, self.mask, w, v, self.undefined_as_zero, out)
        elif self.form == "pairs":
            weights = w.astype(self.data[0].dtype)
            bootstrap_kernels.bootstrap_pairs(self.kind, *self.data, self.mask, weights, v, self.undefined_as_zero, out)
        else:
            weights = w.astype(self.data[0].dtype)
            bootstrap_kernels.bootstrap_spearman(*self.data, self.mask, weights, v, self.undefined_as_zero, out)
        return out
