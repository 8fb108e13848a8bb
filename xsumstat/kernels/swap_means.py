"""Permutation kernels for system means: r(X', Z) − r(Y', Z) of all pairs of metrics for each row of sign bits."""

from __future__ import annotations

import numpy as np

from xsumstat.kernels.correlation import CANCELLED_BY_SWAPS, ratio
from xsumstat.kernels.jit import kernel
from xsumstat.kernels.means import LANES
from xsumstat.kernels.swaps import SEGMENT, sum_by_bytes


@kernel
def swapped_sums(x, systems, bits):
    """What the swapped cells add to each system's mean, less the first metric's, (metrics, systems, resamples)."""
    # `x` (metrics, systems, 8 · bytes) holds the scores less those of the first metric, divided by the system's number
    # of cells, padded with 0. Only differences between metrics matter.
    metrics, members = x.shape[0], x.shape[1]
    out = np.zeros((metrics, members, bits.shape[0]))
    table = np.empty((SEGMENT, 256))
    for i in range(members):
        sign_bits = bits[:, systems[i]].copy()
        for k in range(1, metrics):
            sum_by_bytes(x[k, i], sign_bits, table, out[k, i])
    return out


@kernel
def swapped_means(base, swapped, k, m, out):
    """Means of the systems by X' of metrics k and m, (blocks, systems, lanes); Y' is X' of m and k."""
    # `swapped` comes from `swapped_sums`. The last resample fills up the block.
    lanes, last = out.shape[2], swapped.shape[2] - 1
    for b in range(out.shape[0]):
        for i in range(out.shape[1]):
            for lane in range(lanes):
                s = min(b * lanes + lane, last)
                out[b, i, lane] = base[k, i] + (swapped[m, i, s] - swapped[k, i, s])


@kernel
def swap_pearson_means(swapped, pairs, centred, gold, out):
    """Difference of Pearson's r of means for each pair, from the products of the metrics' means; the gold varies."""
    # With b the means and t what the swapped cells add, both centred over systems as `gold` is, X' of the pair (k, m)
    # is b_k − t_k + t_m: its variance and covariance with z are sums of products of b, t and z. NaN where the variance
    # cancels; then the caller computes it from the means.
    metrics, members = centred.shape
    lanes = min(LANES, swapped.shape[2])
    variance_z, base_z, base_base = 0.0, np.zeros(metrics), np.zeros(metrics)
    for i in range(members):
        variance_z += gold[i] * gold[i]
        for k in range(metrics):
            base_z[k] += centred[k, i] * gold[i]
            base_base[k] += centred[k, i] * centred[k, i]
    t, mean, t_z = np.empty((metrics, members, lanes)), np.empty(lanes), np.empty((metrics, lanes))
    t_t, base_t = np.empty((metrics, metrics, lanes)), np.empty((metrics, metrics, lanes))
    for start in range(0, swapped.shape[2], lanes):
        start = min(start, swapped.shape[2] - lanes)  # the last lanes may repeat some of those before
        t_z[:] = 0.0
        t_t[:] = 0.0
        base_t[:] = 0.0
        for k in range(1, metrics):  # nothing is added to the first
            mean[:] = 0.0
            for i in range(members):
                for lane in range(lanes):
                    mean[lane] += swapped[k, i, start + lane] / members
            for i in range(members):
                for lane in range(lanes):
                    t[k, i, lane] = swapped[k, i, start + lane] - mean[lane]
                for lane in range(lanes):
                    t_z[k, lane] += t[k, i, lane] * gold[i]
        for k in range(metrics):
            for m in range(1, metrics):
                for i in range(members):
                    for lane in range(lanes):
                        base_t[k, m, lane] += centred[k, i] * t[m, i, lane]
                    if m >= k > 0:
                        for lane in range(lanes):
                            t_t[k, m, lane] += t[k, i, lane] * t[m, i, lane]
        for p in range(pairs.shape[0]):
            k, m = pairs[p, 0], pairs[p, 1]
            low, high = min(k, m), max(k, m)
            for lane in range(lanes):
                moved = t_t[k, k, lane] + t_t[m, m, lane] - 2.0 * t_t[low, high, lane]
                vx = base_base[k] + moved + 2.0 * (base_t[k, m, lane] - base_t[k, k, lane])
                vy = base_base[m] + moved + 2.0 * (base_t[m, k, lane] - base_t[m, m, lane])
                step = t_z[m, lane] - t_z[k, lane]
                limit = CANCELLED_BY_SWAPS * (base_base[k] + base_base[m] + t_t[k, k, lane] + t_t[m, m, lane])
                r_x, r_y = ratio(base_z[k] + step, vx * variance_z), ratio(base_z[m] - step, vy * variance_z)
                out[p, start + lane] = np.nan if min(vx, vy) <= limit else r_x - r_y
