"""Kernels for system means: many resamples side by side, ties within rounding."""

# Arrays are (members, lanes); a lane is one resample. `w` holds the weights of the members in each lane; weight 0 means
# absent. Two means are tied if they differ by at most `near`.

from __future__ import annotations

import numpy as np

from xsumstat.kernels.correlation import ACCURACY, KENDALL_C, rank_value, ratio
from xsumstat.kernels.jit import kernel

# Rounding makes equal means differ by some 1e-16 of their size; real differences are far larger.
TIE = 1e-12
# How many resamples are computed side by side.
LANES = 64


@kernel
def limits(x, scale, out):
    """Largest difference of two tied means, relative to what was summed."""
    for a in range(x.shape[0]):
        for lane in range(x.shape[1]):
            out[a, lane] = TIE * max(scale[a], abs(x[a, lane]))


@kernel
def varies(x, scale, w, lane):
    """Whether two means of a lane differ by more than rounding."""
    low, high, size = np.inf, -np.inf, 0.0
    for a in range(x.shape[0]):
        if w[a, lane] > 0.0:
            low, high = min(low, x[a, lane]), max(high, x[a, lane])
            size = max(size, max(scale[a], abs(x[a, lane])))
    return high - low > TIE * size


@kernel
def pearson_lanes(x, z, scale_x, scale_z, w, sums, out):
    """Pearson's r of each lane; NaN where all means are tied."""
    members, lanes = x.shape
    size_x, size_z = 0.0, 0.0
    sums[:] = 0.0
    for a in range(members):
        size_x, size_z = max(size_x, scale_x[a]), max(size_z, scale_z[a])
        for lane in range(lanes):
            sums[0, lane] += w[a, lane]
            sums[1, lane] += w[a, lane] * x[a, lane]
            sums[2, lane] += w[a, lane] * z[a, lane]
    for lane in range(lanes):
        sums[1, lane] /= sums[0, lane]
        sums[2, lane] /= sums[0, lane]
    for a in range(members):
        for lane in range(lanes):
            dx, dz = x[a, lane] - sums[1, lane], z[a, lane] - sums[2, lane]
            sums[3, lane] += w[a, lane] * dx * dz
            sums[4, lane] += w[a, lane] * dx * dx
            sums[5, lane] += w[a, lane] * dz * dz
    for lane in range(lanes):
        out[lane] = ratio(sums[3, lane], sums[4, lane] * sums[5, lane])
        # A spread of a millionth of the size is no rounding; only a smaller one needs a look at each mean.
        small_x = sums[4, lane] < 1e-12 * sums[0, lane] * (abs(sums[1, lane]) + size_x) ** 2
        small_z = sums[5, lane] < 1e-12 * sums[0, lane] * (abs(sums[2, lane]) + size_z) ** 2
        if small_x and not varies(x, scale_x, w, lane) or small_z and not varies(z, scale_z, w, lane):
            out[lane] = np.nan


@kernel
def spearman_lanes(x, z, near_x, near_z, w, rank_x, rank_z, sums, out):
    """Spearman's rho of each lane, from Σ_b w[b]·sign(x[a] - x[b]), the centred ranks doubled."""
    members, lanes = x.shape
    rank_x[:] = 0.0
    rank_z[:] = 0.0
    for a in range(members):
        for b in range(members):
            for lane in range(lanes):
                gap, near = x[a, lane] - x[b, lane], max(near_x[a, lane], near_x[b, lane])
                rank_x[a, lane] += w[b, lane] * ((1.0 if gap > near else 0.0) - (1.0 if gap < -near else 0.0))
            for lane in range(lanes):
                gap, near = z[a, lane] - z[b, lane], max(near_z[a, lane], near_z[b, lane])
                rank_z[a, lane] += w[b, lane] * ((1.0 if gap > near else 0.0) - (1.0 if gap < -near else 0.0))
    sums[:] = 0.0
    for a in range(members):
        for lane in range(lanes):
            sums[0, lane] += w[a, lane] * rank_x[a, lane] * rank_z[a, lane]
            sums[1, lane] += w[a, lane] * rank_x[a, lane] * rank_x[a, lane]
            sums[2, lane] += w[a, lane] * rank_z[a, lane] * rank_z[a, lane]
    for lane in range(lanes):
        out[lane] = ratio(sums[0, lane], sums[1, lane] * sums[2, lane])


@kernel
def kendall_lanes(kind, x, z, near_x, near_z, w, new, sums, out):
    """A Kendall-type coefficient of each lane; pair (a, b) has weight w[a]·w[b]."""
    members, lanes = x.shape
    sums[:] = 0.0
    for a in range(members):
        for lane in range(lanes):
            sums[4, lane] += w[a, lane]
        for b in range(a):
            for lane in range(lanes):
                gap, near = x[a, lane] - x[b, lane], max(near_x[a, lane], near_x[b, lane])
                sign_x = (1.0 if gap > near else 0.0) - (1.0 if gap < -near else 0.0)
                gap, near = z[a, lane] - z[b, lane], max(near_z[a, lane], near_z[b, lane])
                sign_z = (1.0 if gap > near else 0.0) - (1.0 if gap < -near else 0.0)
                weight = w[a, lane] * w[b, lane]
                sums[0, lane] += weight * sign_x * sign_z
                sums[1, lane] += weight * sign_x * sign_x * sign_z * sign_z
                sums[2, lane] += weight * sign_x * sign_x
                sums[3, lane] += weight * sign_z * sign_z
    if kind == KENDALL_C:
        distinct_lanes(x, near_x, w, new, sums[5])
        distinct_lanes(z, near_z, w, new, sums[6])
    for lane in range(lanes):
        numerator = sums[0, lane] if kind != ACCURACY else (sums[0, lane] + sums[1, lane]) / 2
        distinct = min(sums[5, lane], sums[6, lane])
        out[lane] = rank_value(kind, numerator, sums[2, lane], sums[3, lane], sums[4, lane], distinct)


@kernel
def distinct_lanes(x, near_x, w, new, count):
    members, lanes = x.shape
    for a in range(members):
        for lane in range(lanes):
            new[a, lane] = 1.0 if w[a, lane] > 0.0 else 0.0
        for b in range(a):
            for lane in range(lanes):
                tied = abs(x[a, lane] - x[b, lane]) <= max(near_x[a, lane], near_x[b, lane])
                if tied and w[b, lane] > 0.0:
                    new[a, lane] = 0.0
        for lane in range(lanes):
            count[lane] += new[a, lane]


@kernel
def part(array, block):
    """One block of lanes, or the only one where all blocks are alike."""
    return array[block] if array.shape[0] > 1 else array[0]


@kernel
def pearson_blocks(x, z, scale_x, scale_z, w, out):
    """Pearson's r of each resample; `x`, `z` and `w` are (blocks, members, lanes), `out` (blocks, lanes)."""
    sums = np.empty((6, out.shape[1]))
    for b in range(out.shape[0]):
        pearson_lanes(part(x, b), part(z, b), scale_x, scale_z, part(w, b), sums, out[b])


@kernel
def spearman_blocks(x, z, scale_x, scale_z, w, out):
    """Spearman's rho of each resample; arrays as in `pearson_blocks`."""
    near, ranks, sums = np.empty((2, *x.shape[1:])), np.empty((2, *x.shape[1:])), np.empty((3, out.shape[1]))
    for b in range(out.shape[0]):
        limits(part(x, b), scale_x, near[0])
        limits(part(z, b), scale_z, near[1])
        spearman_lanes(part(x, b), part(z, b), near[0], near[1], part(w, b), ranks[0], ranks[1], sums, out[b])


@kernel
def kendall_blocks(kind, x, z, scale_x, scale_z, w, out):
    """A Kendall-type coefficient of each resample; arrays as in `pearson_blocks`."""
    near, new, sums = np.empty((2, *x.shape[1:])), np.empty(x.shape[1:]), np.empty((7, out.shape[1]))
    for b in range(out.shape[0]):
        limits(part(x, b), scale_x, near[0])
        limits(part(z, b), scale_z, near[1])
        kendall_lanes(kind, part(x, b), part(z, b), near[0], near[1], part(w, b), new, sums, out[b])


@kernel
def means_lanes(x, mask, v, out, cells):
    """Means of the systems, (systems, lanes), 0 without scores; weights `v` (inputs, lanes), totals `cells`."""
    out[:] = 0.0
    cells[:] = 0.0
    for j in range(x.shape[1]):
        if mask is None:
            for i in range(x.shape[0]):
                for lane in range(v.shape[1]):
                    out[i, lane] += v[j, lane] * x[i, j]
            for lane in range(v.shape[1]):
                cells[0, lane] += v[j, lane]
        else:
            for i in range(x.shape[0]):
                for lane in range(v.shape[1]):
                    out[i, lane] += v[j, lane] * mask[i, j] * x[i, j]
                for lane in range(v.shape[1]):
                    cells[i, lane] += v[j, lane] * mask[i, j]
    for i in range(x.shape[0]):
        for lane in range(v.shape[1]):
            if mask is None:
                cells[i, lane] = cells[0, lane]
            out[i, lane] = out[i, lane] / cells[i, lane] if cells[i, lane] > 0.0 else 0.0
