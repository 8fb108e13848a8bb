"""Pearson's r whose inputs have weights, over all cells and within systems; scores are (systems, inputs)."""

from __future__ import annotations

import numpy as np

from xsumstat.coefficients import arrays
from xsumstat.coefficients.leave_one_out import OfCells, OfGroups
from xsumstat.coefficients.record import Measure
from xsumstat.coefficients.weights import InputWeights
from xsumstat.core.types import FloatArray
from xsumstat.kernels.correlation import CANCELLED_WITHOUT_ONE


def parts(x: FloatArray, z: FloatArray, measure: Measure, weights: InputWeights) -> OfCells | OfGroups:
    """The correlation, and without each system and input."""
    axes = (0, 1) if measure.level == "global" else (1,)
    sums, there = _sums(x, z, weights, axes), arrays.present(x, z)

    def without(axis: int, whole: FloatArray, rest: FloatArray) -> FloatArray:
        """Values from the sums that are left; where little is left of a variance it is rounding: sums are made anew."""
        left_of_each = _variation(rest) > CANCELLED_WITHOUT_ONE * _variation(whole)
        found, few = _r(rest), ~(left_of_each[0] & left_of_each[1])
        for label in np.flatnonzero(few.any(axis=0) if few.ndim > 1 else few):
            kept = np.delete(x, label, axis), np.delete(z, label, axis)
            left = weights if axis == 0 else weights.among(np.arange(x.shape[1]) != label)
            again = _r(_sums(*kept, left, axes).sum(axis=tuple(at + 1 for at in axes)))
            found[..., label] = np.where(few[..., label], again, found[..., label])
        return found

    if measure.level == "global":
        whole = sums.sum(axis=(1, 2))
        systems, inputs = (without(axis, whole[:, None], whole[:, None] - sums.sum(axis=2 - axis)) for axis in (0, 1))
        influence = _influence(sums, whole[:, None, None]) * (there.sum() / whole[0])
        return OfCells(float(_r(whole)), systems, inputs, influence, int(there.sum()), weights=weights)
    whole = sums.sum(axis=2)
    r, by_input = _r(whole), without(1, whole[:, :, None], whole[:, :, None] - sums).T
    if measure.undefined_as_zero:
        r, by_input = np.nan_to_num(r), np.where(there.T, np.nan_to_num(by_input), np.nan)
    mean = arrays.defined_means(np.where(there.T, by_input, r), 1)
    return OfGroups(float(arrays.defined_means(r)), r, by_input, mean, there.T, "input", weights=weights)


def groups(x: FloatArray, z: FloatArray, measure: Measure) -> FloatArray:
    """The correlation, or that of each system."""
    assert measure.weights is not None
    axes = (0, 1) if measure.level == "global" else (1,)
    summed = _sums(x, z, measure.weights, axes).sum(axis=tuple(axis + 1 for axis in axes))
    return np.atleast_1d(_r(summed))


def _sums(x: FloatArray, z: FloatArray, weights: InputWeights, axes: tuple[int, ...]) -> FloatArray:
    """Weights of cells, and weighted scores and products (6, systems, inputs), about their weighted means."""
    there = arrays.present(x, z)
    w = np.where(there, weights.each, 0.0)
    total = np.maximum(w.sum(axis=axes, keepdims=True), np.finfo(float).tiny)
    a, b = (np.where(there, each, 0.0) for each in (x, z))
    a, b = (np.where(there, each - (w * each).sum(axis=axes, keepdims=True) / total, 0.0) for each in (a, b))
    return np.array([w, w * a, w * b, w * a * a, w * b * b, w * a * b])


def _variation(sums: FloatArray) -> FloatArray:
    """Weighted sums of squares about the means, of both scores, (2, ...)."""
    w, a, b, aa, bb, _ = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.array([aa - a**2 / w, bb - b**2 / w])


def _r(sums: FloatArray) -> FloatArray:
    """Pearson's r from weighted sums (6, ...); NaN where one score is constant up to rounding."""
    w, a, b, aa, bb, ab = sums
    w = np.where(w > 0, w, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        of_a, of_b = aa / w - (a / w) ** 2, bb / w - (b / w) ** 2
        varies = (of_a > 1e-14 * aa / w) & (of_b > 1e-14 * bb / w)
        return np.asarray(np.clip(np.where(varies, (ab / w - a * b / w**2) / np.sqrt(of_a * of_b), np.nan), -1, 1))


def _influence(sums: FloatArray, whole: FloatArray) -> FloatArray:
    """``w·(ab − r(a² + b²)/2)`` of the standardised scores; the scores have weighted means of 0."""
    of_a, of_b = whole[3] / whole[0], whole[4] / whole[0]
    return np.asarray(sums[5] / np.sqrt(of_a * of_b) - _r(whole) * (sums[3] / of_a + sums[4] / of_b) / 2)
