"""Pearson's r without each member by NumPy: for few cells numba takes longer to load than this takes to compute."""

from __future__ import annotations

import numpy as np

from xsumstat.coefficients.arrays import filled
from xsumstat.core.types import BoolArray, FloatArray
from xsumstat.kernels.correlation import CANCELLED_WITHOUT_ONE

_FIRST, _SECOND = [0, 1, 0], [0, 1, 1]
# Each sum is taken in sequence, and each formula in the kernel's order, so that results are the kernel's to the bit.


def pearson_without_members(x: FloatArray, z: FloatArray, there: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Each group's coefficient, and without each member; as the kernel `pearson_without_one`."""
    with np.errstate(all="ignore"):
        pair, n = np.array([filled(x, there), filled(z, there)]), there.sum(axis=0, dtype=np.float64)
        centred = np.where(there, pair - _in_turn(pair)[:, None] / np.maximum(n, 1.0), 0.0)
        products = _products(centred)
        sums, share = _in_turn(products), n / np.maximum(n - 1.0, 1.0)
        left = sums[:, None] - share * centred[_FIRST] * centred[_SECOND]
        r = _pearson(pair, there)
        without = np.where(there, _ratio(left[2], left[0] * left[1]), np.nan)
        kept = (left[:2] > CANCELLED_WITHOUT_ONE * sums[:2, None]).all(axis=0) & ~np.isnan(r)
        if (again := there & ~kept).any():
            members, groups = np.nonzero(again)
            rest = there[:, groups]
            rest[members, np.arange(len(members))] = False
            without[members, groups] = _pearson(pair[:, :, groups], rest)
    return r, without


def _pearson(pair: FloatArray, there: BoolArray) -> FloatArray:
    """Pearson's r of each group from its cells, by sums about its first member."""
    first = pair[:, there.argmax(axis=0), np.arange(there.shape[1])]
    apart = np.where(there, pair - first[:, None], 0.0)
    n, sums, squares = there.sum(axis=0, dtype=np.float64), _in_turn(apart), _in_turn(_products(apart))
    xx, zz, xz = n * squares - _products(sums)
    return _ratio(xz, np.where(xx > 0, xx * zz, 0.0))


def _products(pair: FloatArray) -> FloatArray:
    """Squares of x, squares of z, and x times z."""
    return np.asarray(pair[_FIRST] * pair[_SECOND])


def _ratio(covariance: FloatArray, variances: FloatArray) -> FloatArray:
    bounded = np.minimum(1.0, np.maximum(-1.0, covariance / np.sqrt(variances)))
    return np.where(variances > 0, bounded, np.nan)


def _in_turn(values: FloatArray) -> FloatArray:
    """Sums over members, (..., groups)."""
    return np.asarray(np.add.accumulate(values, axis=1)[:, -1]) + 0.0
