"""Pearson's r of the differences of all pairs of members within groups: as given, resampled, and swapped."""

# In a group of n members Σ_{a<b}(x_a − x_b)(z_a − z_b) = n·Σxz − Σx·Σz, about any value. Over both orders of a pair the
# differences have mean 0, so r is the ratio of these sums over all groups. Names: `correlation` and `swaps`.

from __future__ import annotations

import numpy as np

from xsumstat.kernels.bootstrap import row
from xsumstat.kernels.correlation import CANCELLED_BY_SWAPS, moments, ratio
from xsumstat.kernels.jit import kernel
from xsumstat.kernels.swaps import BY_INPUT, read_signs, sums_of_swapped


@kernel
def sums_of_pairs(x, z, mask, w, sums, pairs):
    """Sums over the pairs of each group, (3, groups): of squares in x, of squares in z, and of products."""
    moments(x, z, mask, w, sums)
    for j in range(x.shape[1]):
        n, sx, sz = sums[0, j], sums[1, j], sums[2, j]
        pairs[0, j] = max(0.0, n * sums[3, j] - sx * sx)
        pairs[1, j] = max(0.0, n * sums[4, j] - sz * sz)
        pairs[2, j] = n * sums[5, j] - sx * sz


@kernel
def pearson_of_pairs(pairs, v):
    """Pearson's r of the pairs of all groups; each group counts `v` times."""
    xx, zz, xz = 0.0, 0.0, 0.0
    for j in range(pairs.shape[1]):
        xx += v[j] * pairs[0, j]
        zz += v[j] * pairs[1, j]
        xz += v[j] * pairs[2, j]
    return ratio(xz, xx * zz)


@kernel
def bootstrap_pairs_pearson(x, z, mask, w, v, out):
    """Pearson's r of the differences for each row of counts; two copies of a member differ by 0."""
    sums, pairs = np.empty((6, x.shape[1])), np.empty((3, x.shape[1]))
    for s in range(out.shape[0]):
        if s == 0 or w.shape[0] > 1:
            sums_of_pairs(x, z, mask, row(w, s), sums, pairs)
        out[s] = pearson_of_pairs(pairs, row(v, s))


@kernel
def exact_sums(x, y, z, present, signs, turn):
    """Sums over the pairs of X' of squares and of products with z, from the scores; `turn` = −1 gives Y'."""
    xx, xz = 0.0, 0.0
    for g in range(x.shape[1]):
        n, sx, sz, sxx, _, sxz = sums_of_swapped(x, y, z, present, signs, turn, g)
        xx += max(0.0, n * sxx - sx * sx)
        xz += n * sxz - sx * sz
    return xx, xz


@kernel
def swap_pairs_pearson(x, y, z, present, parts, sums, variance_z, bits, out):
    """Difference of the two metrics' Pearson's r of the differences, by rows of sign bits; see `swaps.swap_pearson`."""
    members, groups = x.shape
    cells, signs = np.empty((bits.shape[1], 8 * bits.shape[2])), np.empty((members, groups))
    odd, at = np.empty((3, groups)), np.arange(groups)
    zz, size = 0.0, 0.0
    for g in range(groups):
        zz += variance_z[g]
        size += sums[0, g] * sums[2, g]
    for s in range(out.shape[0]):
        read_signs(bits[s], BY_INPUT, at, cells, signs)
        odd[:] = 0.0
        for a in range(members):
            for g in range(groups):
                odd[0, g] += signs[a, g] * parts[0, a, g]
                odd[1, g] += signs[a, g] * parts[1, a, g]
                odd[2, g] += signs[a, g] * parts[2, a, g]
        xx, yy, xz, yz = 0.0, 0.0, 0.0, 0.0
        for g in range(groups):
            n, sx, sxx, sxz, sz = sums[0, g], sums[1, g], sums[2, g], sums[3, g], sums[4, g]
            plus, minus = sx + odd[0, g], sx - odd[0, g]
            xx += n * (sxx + odd[1, g]) - plus * plus
            yy += n * (sxx - odd[1, g]) - minus * minus
            xz += n * (sxz + odd[2, g]) - plus * sz
            yz += n * (sxz - odd[2, g]) - minus * sz
        if zz > 0.0 and min(xx, yy) <= CANCELLED_BY_SWAPS * size:
            xx, xz = exact_sums(x, y, z, present, signs, 1.0)
            yy, yz = exact_sums(x, y, z, present, signs, -1.0)
        out[s] = ratio(xz, xx * zz) - ratio(yz, yy * zz)
