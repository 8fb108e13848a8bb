"""Pearson's r without each member by NumPy: for few cells numba takes longer to load than this takes to compute."""

from __future__ import annotations

import numpy as np

from xsumstat.coefficients.arrays import filled
from xsumstat.core.types import BoolArray, FloatArray
from xsumstat.kernels.correlation import CANCELLED_WITHOUT_ONE

# Each sum is taken in sequence, and each formula in the kernel's order, so that results are the kernel's to the bit.


def pearson_without_members(x: FloatArray, z: FloatArray, there: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Each group's coefficient, and without each member; as the kernel `pearson_without_one`."""
    with np.errstate(all="ignore"):
        x, z, n = filled(x, there), filled(z, there), there.sum(axis=0, dtype=np.float64)
        least = np.maximum(n, 1.0)
        dx, dz = (np.where(there, each - _in_turn(each) / least, 0.0) for each in (x, z))
        sxx, szz, sxz = _in_turn(dx * dx), _in_turn(dz * dz), _in_turn(dx * dz)
        r, share = _pearson(x, z, there), n / np.maximum(n - 1.0, 1.0)
        vx, vz = sxx - share * dx * dx, szz - share * dz * dz
        without = np.where(there, _ratio(sxz - share * dx * dz, vx * vz), np.nan)
        kept = (vx > CANCELLED_WITHOUT_ONE * sxx) & (vz > CANCELLED_WITHOUT_ONE * szz) & ~np.isnan(r)
        again = there & ~kept
        if again.any():
            members, groups = np.nonzero(again)
            rest = there[:, groups]
            rest[members, np.arange(len(members))] = False
            without[members, groups] = _pearson(x[:, groups], z[:, groups], rest)
    return r, without


def _pearson(x: FloatArray, z: FloatArray, there: BoolArray) -> FloatArray:
    """Pearson's r of each group from its cells, by sums about its first member."""
    first = there.argmax(axis=0), np.arange(there.shape[1])
    dx, dz = (np.where(there, each - each[first], 0.0) for each in (x, z))
    n = there.sum(axis=0, dtype=np.float64)
    sx, sz, sxx, szz, sxz = (_in_turn(each) for each in (dx, dz, dx * dx, dz * dz, dx * dz))
    vx, vz = n * sxx - sx * sx, n * szz - sz * sz
    return _ratio(n * sxz - sx * sz, np.where(vx > 0, vx * vz, 0.0))


def _ratio(covariance: FloatArray, variances: FloatArray) -> FloatArray:
    bounded = np.minimum(1.0, np.maximum(-1.0, covariance / np.sqrt(variances)))
    return np.where(variances > 0, bounded, np.nan)


def _in_turn(values: FloatArray) -> FloatArray:
    return np.asarray(np.add.accumulate(values, axis=0)[-1]) + 0.0
