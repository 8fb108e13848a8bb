"""Bootstrap kernels: one statistic for every row of counts, nothing gathered.

`w` (resamples, members) and `v` (resamples, groups) count the draws; a dim that is not resampled has
one row of ones. `zero` makes an undefined group count as 0. The other names are those of `_kernels`.
"""

from __future__ import annotations

import numpy as np

from xsumstat._jit import kernel
from xsumstat._kernels import (
    average,
    means,
    pair_groups,
    pearson_groups,
    pearson_total,
    sorted_correlation,
    sorted_groups,
    spearman_groups,
    vector_correlation,
)


@kernel
def row(counts, s):
    """Counts of resample `s`; the only row where the dim is not resampled."""
    return counts[s] if counts.shape[0] > 1 else counts[0]


@kernel
def bootstrap_pearson(x, z, mask, w, v, zero, out):
    """Average of the groups' Pearson r."""
    groups = x.shape[1]
    sums = np.empty((6, groups))
    r, n = np.empty(groups), np.empty(groups)
    for s in range(out.shape[0]):
        if s == 0 or w.shape[0] > 1:
            pearson_groups(x, z, mask, row(w, s), sums, r, n)
        out[s] = average(r, n, row(v, s), zero)


@kernel
def bootstrap_pairs(kind, rows, mask, w, v, zero, out):
    """Average of the groups' Kendall-type coefficient, by pairs of members."""
    groups = v.shape[1]
    sums = np.empty(3 * groups, rows.dtype)
    r, n = np.empty(groups), np.empty(groups)
    for s in range(out.shape[0]):
        if s == 0 or w.shape[0] > 1:
            pair_groups(kind, rows, mask, row(w, s), sums, r, n)
        out[s] = average(r, n, row(v, s), zero)


@kernel
def bootstrap_spearman(signs_x, signs_z, mask, w, v, zero, out):
    """Average of the groups' Spearman rho, by pairs of members."""
    groups = v.shape[1]
    sums = np.empty((2 * w.shape[1], groups), signs_x.dtype)
    r, n = np.empty(groups), np.empty(groups)
    for s in range(out.shape[0]):
        if s == 0 or w.shape[0] > 1:
            spearman_groups(signs_x, signs_z, mask, row(w, s), sums, r, n)
        out[s] = average(r, n, row(v, s), zero)


@kernel
def bootstrap_sorted(kind, order, x, z, mask, w, v, zero, out):
    """Average of the groups' rank coefficient, by sorted members."""
    groups = v.shape[1]
    r, n = np.empty(groups), np.empty(groups)
    for s in range(out.shape[0]):
        if s == 0 or w.shape[0] > 1:
            sorted_groups(kind, order, x, z, mask, row(w, s), r, n)
        out[s] = average(r, n, row(v, s), zero)


@kernel
def bootstrap_pearson_global(x, z, mask, w, v, out):
    """Pearson's r of all cells."""
    for s in range(out.shape[0]):
        out[s] = pearson_total(x, z, mask, row(w, s), row(v, s))


@kernel
def bootstrap_sorted_global(kind, order, x, z, present, w, v, out):
    """A rank coefficient of all cells; `order`, `x`, `z` and `present` are over the cells, row by row."""
    cells = order.shape[0]
    groups = v.shape[1]
    here = np.empty(cells, np.int64)
    tree, totals = np.empty(cells + 1, np.int64), np.empty(cells, np.int64)
    for s in range(out.shape[0]):
        ws, vs = row(w, s), row(v, s)
        for c in range(cells):
            here[c] = ws[c // groups] * vs[c % groups] if present[c] else 0
        out[s] = sorted_correlation(kind, order, x, z, here, tree, totals)


@kernel
def bootstrap_system(kind, x, z, mask_x, mask_z, scale_x, scale_z, w, v, out):
    """Correlation of the systems' means; `x`, `z` and the masks are (inputs, systems)."""
    systems = x.shape[1]
    mean_x, cells_x = np.empty(systems), np.empty(systems)
    mean_z, cells_z = np.empty(systems), np.empty(systems)
    here = np.empty(systems, np.int64)
    for s in range(out.shape[0]):
        if s == 0 or v.shape[0] > 1:
            means(x, mask_x, row(v, s), mean_x, cells_x)
            means(z, mask_z, row(v, s), mean_z, cells_z)
        for i in range(systems):
            here[i] = row(w, s)[i] if cells_x[i] > 0 and cells_z[i] > 0 else 0
        out[s] = vector_correlation(kind, mean_x, mean_z, scale_x, scale_z, here)
