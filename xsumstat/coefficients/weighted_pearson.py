"""Pearson's r whose inputs have weights, over all cells and within systems; scores are (systems, inputs)."""

from __future__ import annotations

import numpy as np

from xsumstat.coefficients import arrays
from xsumstat.coefficients.leave_one_out import OfCells, OfGroups, averages
from xsumstat.coefficients.record import Measure
from xsumstat.coefficients.weights import InputWeights
from xsumstat.core.types import FloatArray


def parts(x: FloatArray, z: FloatArray, measure: Measure, weights: InputWeights) -> OfCells | OfGroups:
    """The correlation, and without each system and input."""
    sums, there = _sums(x, z, weights, (0, 1) if measure.level == "global" else (1,)), arrays.present(x, z)
    if measure.level == "global":
        whole = sums.sum(axis=(1, 2))
        systems, inputs = (_r(whole[:, None] - sums.sum(axis=axis)) for axis in (2, 1))
        influence = _influence(sums, whole[:, None, None]) * (there.sum() / whole[0])
        return OfCells(float(_r(whole)), systems, inputs, influence, int(there.sum()), weights=weights)
    whole = sums.sum(axis=2)
    r, without = _r(whole), _r(whole[:, :, None] - sums).T
    if measure.undefined_as_zero:
        r, without = np.nan_to_num(r), np.where(there.T, np.nan_to_num(without), np.nan)
    mean = averages(np.where(there.T, without, r))
    return OfGroups(float(averages(r[None])[0]), r, without, mean, there.T, "input", weights=weights)


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
