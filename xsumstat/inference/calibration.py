"""A judge's scores on the human scale: maps fitted to some outputs and applied to others (Barlow et al. 1972)."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from xsumstat.coefficients import arrays
from xsumstat.coefficients.clusters import Clusters
from xsumstat.coefficients.leave_one_out import OfRefits
from xsumstat.coefficients.record import Measure
from xsumstat.core.types import BoolArray, FloatArray, IntArray

METHODS = ("isotonic", "linear", "quantile")
# Scores so near to the middle of two grades, as a share of the gap between these, lie on it.
_NEAR = 1e-9
# Scores that should be reproduced differ by no more than this share of the largest.
_REPRODUCED = 1e-9
# Fewer outputs whose calibrated score is not the usual one of their fold have no interval.
LEAST_APART = 10
# So many halves of labels are left out; halves of fewer labels say little.
_HALVES, _LEAST_HALF = 200, 10


@dataclass(frozen=True)
class Calibration:
    """A method of calibration, and the grades that scores are rounded to (none: no rounding; halves round up)."""

    method: str
    grades: tuple[float, ...] = ()

    def cross_fitted(self, x: FloatArray, z: FloatArray, folds: IntArray) -> FloatArray:
        """Scores (systems, inputs) on the scale of z or of ratings (raters, ...); each fold maps by the others."""
        return _Outputs.of(x, z, folds, self).mapped()

    def on_grades(self, values: FloatArray) -> FloatArray:
        if not self.grades:
            return values
        grades = np.array(sorted(self.grades))
        middles = (grades[1:] + grades[:-1]) / 2 - _NEAR * np.diff(grades)
        found = grades[np.searchsorted(middles, values, side="right")]
        return np.where(np.isnan(values), np.nan, found)


def of_folds(size: int, folds: int, generator: np.random.Generator) -> IntArray:
    found: IntArray = np.empty(size, dtype=np.int64)
    found[generator.permutation(size)] = np.arange(size) % folds
    return found


# --- Maps ---


@dataclass(frozen=True)
class _Counted:
    """Outputs with both scores, counted by score in each fold."""

    counts: FloatArray
    sums: FloatArray
    of_z: IntArray

    def __sub__(self, other: _Counted) -> _Counted:
        return _Counted(self.counts - other.counts, self.sums - other.sums, self.of_z - other.of_z)

    def without(self, fold: int) -> tuple[FloatArray, FloatArray, IntArray]:
        kept = np.arange(len(self.counts)) != fold
        return self.counts[kept].sum(axis=0), self.sums[kept].sum(axis=0), self.of_z[kept].sum(axis=0)


@dataclass(frozen=True)
class _Fitted:
    """Data of a map: the different x, the outputs with each, the sum of their z, and all z, ascending."""

    x: FloatArray
    counts: FloatArray
    sums: FloatArray
    z: FloatArray


def _isotonic(known: _Fitted, x: FloatArray) -> FloatArray:
    """Least-squares means that rise with x; lines between them, constant beyond."""
    from scipy.optimize import isotonic_regression

    means = isotonic_regression(known.sums / known.counts, weights=known.counts.astype(float)).x
    return np.asarray(np.interp(x, known.x, means))


def _linear(known: _Fitted, x: FloatArray) -> FloatArray:
    n = known.counts.sum()
    mean = known.counts @ known.x / n
    off = known.x - mean
    spread = known.counts @ off**2
    slope = max(0.0, float(off @ (known.sums - known.counts * (known.sums.sum() / n)) / spread)) if spread > 0 else 0.0
    return np.asarray(known.sums.sum() / n + slope * (x - mean))


def _quantile(known: _Fitted, x: FloatArray) -> FloatArray:
    """Quantiles of z at the mean rank of each x ((k − 1/2)/n for the k-th of n); lines between."""
    ranks = np.cumsum(known.counts) - known.counts / 2 - 0.5
    return np.asarray(np.interp(x, known.x, np.interp(ranks, np.arange(len(known.z)), known.z)))


_MAPS: dict[str, Callable[[_Fitted, FloatArray], FloatArray]] = {
    "isotonic": _isotonic,
    "linear": _linear,
    "quantile": _quantile,
}


@dataclass(frozen=True)
class _Outputs:
    """Outputs of a judge with human scores, coded for refitting maps without some of them."""

    how: Calibration
    values_x: FloatArray
    values_z: FloatArray
    codes: IntArray  # (systems, inputs), places in the ascending `values_x`, −1 missing
    folds: IntArray
    fitted: tuple[IntArray, IntArray, IntArray, FloatArray]  # of each rating: its fold, the places of x and z, and z
    numbers: IntArray  # (raters, systems, inputs), places of these ratings
    power: tuple[int, int]  # scaling by 2
    n_folds: int

    @classmethod
    def of(cls, x: FloatArray, z: FloatArray, folds: IntArray, how: Calibration) -> _Outputs:
        """From scores (systems, inputs), human ones perhaps by several raters, and the fold of each input."""
        z = z if z.ndim == 3 else z[None]
        power = arrays.exponent(x), arrays.exponent(z)
        x, z = (np.ldexp(each, -by) if by else each for each, by in zip((x, z), power, strict=True))
        there, both = ~np.isnan(x), ~np.isnan(x) & ~np.isnan(z)
        values_x, codes_of_x = np.unique(x[there], return_inverse=True)
        values_z, codes_of_z = np.unique(z[both], return_inverse=True)
        codes = np.full(x.shape, -1)
        codes[there] = codes_of_x.reshape(-1)
        fold, of_x = (np.broadcast_to(each, z.shape)[both] for each in (folds, codes))
        numbers = np.where(both, np.cumsum(both).reshape(both.shape) - 1, -1)
        n_folds = int(folds.max(initial=0)) + 1
        fitted = fold, of_x, codes_of_z.reshape(-1), z[both]
        return cls(how, values_x, values_z, codes, folds, fitted, numbers, power, n_folds)

    def counted(self, which: IntArray | slice) -> _Counted:
        """Some of the outputs with both scores, by number."""
        (fold, of_x, of_z), z = (each[which] for each in self.fitted[:3]), self.fitted[3][which]

        def by_fold(codes: IntArray, size: int, weights: FloatArray | None = None) -> FloatArray:
            found = np.bincount(fold * size + codes, weights, minlength=self.n_folds * size)
            return np.asarray(found, dtype=float).reshape(self.n_folds, size)

        size = len(self.values_x)
        of_people = by_fold(of_z, len(self.values_z)) if self.how.method == "quantile" else np.empty((self.n_folds, 0))
        return _Counted(by_fold(of_x, size), by_fold(of_x, size, z), of_people.astype(np.int64))

    @functools.cached_property
    def all(self) -> _Counted:
        return self.counted(slice(None))

    def fold_maps(self, counted: _Counted) -> FloatArray:
        """Map of each fold, (folds, values of x), from the outputs of the other folds."""
        maps = np.full((self.n_folds, len(self.values_x)), np.nan)
        for fold in range(self.n_folds):
            counts, sums, of_z = counted.without(fold)
            here = counts > 0
            if not here.any():
                continue
            z = np.repeat(self.values_z, of_z) if of_z.size else self.values_z
            known = _Fitted(self.values_x[here], counts[here], sums[here], z)
            maps[fold] = _MAPS[self.how.method](known, self.values_x)
        return self.how.on_grades(np.ldexp(maps, self.power[1]) if self.power[1] else maps)

    def mapped(self, gone: BoolArray | None = None) -> FloatArray:
        """Calibrated scores (systems, inputs), with maps fitted without the outputs in `gone`."""
        counted = self.all
        if gone is not None:
            which = self.numbers[:, gone]
            counted = counted - self.counted(which[which >= 0])
        if not len(self.values_x):
            return np.full(self.codes.shape, np.nan)
        maps = self.fold_maps(counted)
        return np.where(self.codes < 0, np.nan, maps[self.folds[None, :], self.codes])


# --- Refitted where labels are left out ---


@dataclass(frozen=True)
class Refit:
    """The origin of a calibrated metric: the judge's scores x (systems, inputs), human z (raters, ...), and folds."""

    how: Calibration
    x: FloatArray
    z: FloatArray
    folds: IntArray
    name: str

    @property
    def used(self) -> BoolArray:
        return np.asarray(~np.isnan(self.x) & ~np.isnan(self.z).all(axis=0))

    def outputs(self, calibrated: FloatArray) -> _Outputs:
        """The outputs; raises unless they reproduce the calibrated scores."""
        outputs = _Outputs.of(self.x, self.z, self.folds, self.how)
        there = ~np.isnan(calibrated)
        off = np.abs(outputs.mapped()[there] - calibrated[there])
        if not (off <= _REPRODUCED * max(float(np.abs(calibrated[there]).max(initial=0.0)), 1e-300)).all():
            raise ValueError(
                f"{self.name!r} does not come out again from the scores and ratings here, so it has no interval, which "
                "refits the calibration: select systems and inputs first, and then ds.meta.calibrate(...)"
            )
        return outputs


def nearly_constant(calibrated: FloatArray, folds: IntArray) -> bool:
    """Whether fewer than `LEAST_APART` outputs differ from the most common score of their fold."""
    apart = 0
    for fold in np.unique(folds):
        values = calibrated[:, folds == fold]
        counts = np.unique(values[~np.isnan(values)], return_counts=True)[1]
        apart += int(counts.sum() - counts.max(initial=0))
    return apart < LEAST_APART


def refitted(
    x: FloatArray,
    z: FloatArray,
    refit: Refit | None,
    measure: Measure,
    dims: tuple[str, ...],
    clusters: Clusters | None,
) -> OfRefits:
    """The estimate without some labels; a calibrated metric (`refit`) is recalibrated each time with its folds."""
    # Rounding jumps where single inputs are left out, which makes that variance up to three times too large (Shao & Wu
    # 1989): from 20 inputs on, halves of them are left out instead, and for two random dims halves of the cells.
    outputs = None if refit is None else refit.outputs(x)
    value, level = _value(x, z, measure), measure.level
    if refit is not None and nearly_constant(x, refit.folds):
        return OfRefits(value, np.empty(0), np.empty(0), level)
    used = _used(x, z, refit, measure)
    codes = clusters or (np.arange(x.shape[0]), np.arange(x.shape[1]))

    def without(gone: BoolArray) -> float:
        if not (used & gone).any():
            return value
        again = x if outputs is None else np.where(np.isnan(x), np.nan, outputs.mapped(gone))
        systems, inputs = (used & ~gone).any(axis=1), (used & ~gone).any(axis=0)
        one, two = (np.where(gone, np.nan, each)[..., systems, :][..., inputs] for each in (again, z))
        return _value(one, two, measure)

    def left_out(names: IntArray, is_asked: bool, halved: bool) -> FloatArray:
        return _spread(names, without, value, halved) if is_asked else np.empty(0)

    halved = len(np.unique(codes[1])) >= 2 * _LEAST_HALF
    of_systems, of_inputs = np.broadcast_to(codes[0][:, None], x.shape), np.broadcast_to(codes[1], x.shape)
    of_cells = of_systems * (codes[1].max(initial=0) + 1) + of_inputs
    systems = left_out(of_systems, "system" in dims, False)
    inputs = left_out(of_inputs, "input" in dims, halved)
    cells = left_out(of_cells, len(dims) > 1, halved)
    sizes = len(np.unique(of_systems[used])), len(np.unique(of_inputs[used]))
    return OfRefits(value, systems, inputs, level, None, clusters is not None, cells if cells.size else None, sizes)


def _spread(names: IntArray, without: Callable[[BoolArray], float], value: float, halved: bool) -> FloatArray:
    """Values without each label, spread about the estimate."""
    labels = np.unique(names)
    if not halved:
        return np.array([without(names == label) for label in labels])
    halves = _halves(len(labels))
    places = np.searchsorted(labels, names)
    found = np.array([without(half[places]) for half in halves])
    gone = halves.sum(axis=1)
    off = found - np.nanmean(found) if not np.isnan(found).all() else found
    return np.asarray(value + off * np.sqrt((len(labels) - gone) / gone / (len(halves) - 1)))


def _halves(size: int) -> BoolArray:
    """Balanced halves of the labels, each with its complement; always the same."""
    at = np.arange(size, dtype=np.uint64) + np.arange(_HALVES // 2, dtype=np.uint64)[:, None] * np.uint64(size)
    mixed = (at + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)  # the mixer of SplitMix64
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    order = np.argsort(mixed ^ (mixed >> np.uint64(31)), axis=1, kind="stable")
    halves = np.argsort(order, axis=1, kind="stable") < size // 2
    return np.concatenate([halves, ~halves])


def _value(x: FloatArray, z: FloatArray, measure: Measure) -> float:
    there = ~np.isnan(x), ~np.isnan(arrays.human(z, measure.own_cells))
    if not (there[0].any() and there[1].any()) or not measure.own_cells and not (there[0] & there[1]).any():
        return math.nan
    return measure.estimator(np.ascontiguousarray(x), np.ascontiguousarray(z)).value()


def _used(x: FloatArray, z: FloatArray, refit: Refit | None, measure: Measure) -> BoolArray:
    human = arrays.human(z, measure.own_cells)
    used = ~np.isnan(x) | ~np.isnan(human) if measure.own_cells else arrays.present(x, human)
    return used if refit is None else used | refit.used
