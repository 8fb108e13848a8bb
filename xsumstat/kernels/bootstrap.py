"""Bootstrap kernels: one statistic for each row of counts; no scores are copied. Other names: see `correlation`."""

# `w` (resamples, members) and `v` (resamples, groups) count the draws. A dim that is not resampled has one row of ones.

from __future__ import annotations

import numpy as np

from xsumstat.kernels.correlation import (
    average,
    pair_groups,
    pearson_groups,
    pearson_total,
    spearman_groups,
)
from xsumstat.kernels.jit import kernel
from xsumstat.kernels.means import means_lanes


@kernel
def row(counts, s):
    """Counts of resample `s`, or the only row where the dim is not resampled."""
    return counts[s] if counts.shape[0] > 1 else counts[0]


@kernel
def bootstrap_pearson(x, z, mask, w, v, undefined_as_zero, out):
    groups = x.shape[1]
    sums = np.empty((6, groups))
    r, n = np.empty(groups), np.empty(groups)
    for s in range(out.shape[0]):
        if s == 0 or w.shape[0] > 1:
            pearson_groups(x, z, mask, row(w, s), sums, r, n)
        out[s] = average(r, n, row(v, s), undefined_as_zero)


@kernel
def bootstrap_pairs(kind, rows, tied_x, tied_z, mask, w, v, undefined_as_zero, out):
    groups = v.shape[1]
    drawn = np.empty(w.shape[1] + 1, np.int64)
    sums, untied_x, untied_z = np.empty(rows.shape[1], rows.dtype), np.empty(groups), np.empty(groups)
    r, n = np.empty(groups), np.empty(groups)
    for s in range(out.shape[0]):
        if s == 0 or w.shape[0] > 1:
            pair_groups(kind, rows, tied_x, tied_z, mask, row(w, s), drawn, sums, untied_x, untied_z, r, n)
        out[s] = average(r, n, row(v, s), undefined_as_zero)


@kernel
def bootstrap_spearman(signs, mask, w, v, undefined_as_zero, out):
    members, groups = w.shape[1], v.shape[1]
    drawn = np.empty(members + 1, np.int64)
    part, ranks = np.empty(2 * groups, signs.dtype), np.empty((members, 2 * groups))
    r, n = np.empty(groups), np.empty(groups)
    for s in range(out.shape[0]):
        if s == 0 or w.shape[0] > 1:
            spearman_groups(signs, mask, row(w, s), drawn, part, ranks, r, n)
        out[s] = average(r, n, row(v, s), undefined_as_zero)


@kernel
def bootstrap_pearson_global(x, z, mask, w, v, out):
    for s in range(out.shape[0]):
        out[s] = pearson_total(x, z, mask, row(w, s), row(v, s))


@kernel
def take(counts, start, out):
    """Counts of the resamples from `start` on, as columns; the last row repeats to fill the block."""
    for s in range(out.shape[1]):
        here = row(counts, min(start + s, counts.shape[0] - 1))
        for a in range(out.shape[0]):
            out[a, s] = here[a]


@kernel
def bootstrap_means(x, z, mask_x, mask_z, w, v, mean_x, mean_z, weights):
    """Means of the systems in each resample, (blocks, systems, lanes), and how often each system was drawn."""
    # There is one block where inputs are not drawn. A system without scores counts as not drawn.
    systems, lanes = x.shape[0], weights.shape[2]
    draws = np.empty((x.shape[1], lanes))
    cells_x, cells_z = np.empty((systems, lanes)), np.empty((systems, lanes))
    for b in range(weights.shape[0]):
        take(w, b * lanes, weights[b])
        if b < mean_x.shape[0]:
            take(v, b * lanes, draws)
            means_lanes(x, mask_x, draws, mean_x[b], cells_x)
            means_lanes(z, mask_z, draws, mean_z[b], cells_z)
        for i in range(systems):
            for lane in range(lanes):
                if not (cells_x[i, lane] > 0.0 and cells_z[i, lane] > 0.0):
                    weights[b, i, lane] = 0.0
