"""Permutation kernels: the difference r(X', Z) − r(Y', Z) for every row of swaps.

`swaps` is 1 where the scores of X and Y trade places. For groups it is (resamples, members, groups), for
means (resamples, inputs, systems). Codes are dense ranks of x and y pooled. The other names are those
of `_kernels`.
"""

from __future__ import annotations

import numpy as np

from xsumstat._jit import kernel
from xsumstat._kernels import (
    ACCURACY,
    average,
    pearson_groups,
    pearson_total,
    rank_value,
    ratio,
    sorted_correlation,
    vector_correlation,
)


@kernel
def trade(x, y, swap, new_x, new_y):
    """X' and Y': the scores of x and y, traded where `swap` is 1."""
    for a in range(x.shape[0]):
        for j in range(x.shape[1]):
            new_x[a, j] = y[a, j] if swap[a, j] else x[a, j]
            new_y[a, j] = x[a, j] if swap[a, j] else y[a, j]


@kernel
def swap_pearson(x, y, z, mask, swaps, zero, out):
    """Difference of the average Pearson r over groups."""
    members, groups = x.shape
    new_x, new_y = np.empty_like(x), np.empty_like(y)
    sums = np.empty((6, groups))
    r, n = np.empty(groups), np.empty(groups)
    w, v = np.ones(members, np.int64), np.ones(groups)
    for s in range(out.shape[0]):
        trade(x, y, swaps[s], new_x, new_y)
        pearson_groups(new_x, z, mask, w, sums, r, n)
        first = average(r, n, v, zero)
        pearson_groups(new_y, z, mask, w, sums, r, n)
        out[s] = first - average(r, n, v, zero)


@kernel
def swap_pearson_global(x, y, z, mask, swaps, out):
    """Difference of Pearson's r of all cells."""
    new_x, new_y = np.empty_like(x), np.empty_like(y)
    w, v = np.ones(x.shape[0], np.int64), np.ones(x.shape[1], np.int64)
    for s in range(out.shape[0]):
        trade(x, y, swaps[s], new_x, new_y)
        out[s] = pearson_total(new_x, z, mask, w, v) - pearson_total(new_y, z, mask, w, v)


@kernel
def code_pairs(kind, codes, signs_z, there, untied_z, n, sums, r):
    """A coefficient of the Kendall family per group, from codes against the fixed signs of z.

    `there` (pairs, groups) is 1 where both members have a score, or None where all have.
    """
    members, groups = codes.shape
    numerator, untied = sums[0], sums[1]
    sums[:] = 0
    pair = 0
    for a in range(members):
        for b in range(a + 1, members):
            for j in range(groups):
                s = np.int16(codes[a, j] > codes[b, j]) - np.int16(codes[a, j] < codes[b, j])
                if there is not None:
                    s *= there[pair, j]
                product = s * signs_z[pair, j]
                numerator[j] += product if kind != ACCURACY or product > 0 else 0
                untied[j] += s * s
            pair += 1
    for j in range(groups):
        r[j] = rank_value(kind, numerator[j], untied[j], untied_z[j], n[j], 0.0)


@kernel
def swap_pairs(kind, x, y, signs_z, there, untied_z, n, swaps, zero, out):
    """Difference of the average Kendall-type coefficient over groups, by pairs of members."""
    groups = x.shape[1]
    new_x, new_y = np.empty_like(x), np.empty_like(y)
    sums = np.empty((2, groups), x.dtype)
    r, v = np.empty(groups), np.ones(groups)
    for s in range(out.shape[0]):
        trade(x, y, swaps[s], new_x, new_y)
        code_pairs(kind, new_x, signs_z, there, untied_z, n, sums, r)
        first = average(r, n, v, zero)
        code_pairs(kind, new_y, signs_z, there, untied_z, n, sums, r)
        out[s] = first - average(r, n, v, zero)


@kernel
def code_spearman(codes, rank_z, there, square_z, sums, r):
    """Spearman's rho per group, from codes against the fixed centred ranks of z."""
    members, groups = codes.shape
    sums[:] = 0
    pair = 0
    for a in range(members):
        for b in range(a + 1, members):
            for j in range(groups):
                s = np.int16(codes[a, j] > codes[b, j]) - np.int16(codes[a, j] < codes[b, j])
                if there is not None:
                    s *= there[pair, j]
                sums[a, j] += s
                sums[b, j] -= s
            pair += 1
    cross, square = np.zeros(groups), np.zeros(groups)
    for a in range(members):
        for j in range(groups):
            rank = float(sums[a, j])
            cross[j] += rank * rank_z[a, j]
            square[j] += rank * rank
    for j in range(groups):
        r[j] = ratio(cross[j], square[j] * square_z[j])


@kernel
def swap_spearman(x, y, rank_z, there, square_z, n, swaps, zero, out):
    """Difference of the average Spearman rho over groups, by pairs of members."""
    members, groups = x.shape
    new_x, new_y = np.empty_like(x), np.empty_like(y)
    sums = np.empty((members, groups), x.dtype)
    r, v = np.empty(groups), np.ones(groups)
    for s in range(out.shape[0]):
        trade(x, y, swaps[s], new_x, new_y)
        code_spearman(new_x, rank_z, there, square_z, sums, r)
        first = average(r, n, v, zero)
        code_spearman(new_y, rank_z, there, square_z, sums, r)
        out[s] = first - average(r, n, v, zero)


@kernel
def swap_sorted(kind, order, codes, z, mask, swaps, zero, out):
    """Difference of the average rank coefficient over groups, by sorted members.

    A group's x and y stand as one vector of 2·members: X' is that vector with weight 1 on one of each
    two, Y' with weight 1 on the other. `order`, `codes` and `z` are (groups, 2·members).
    """
    groups, pooled = order.shape
    members = pooled // 2
    in_x, in_y = np.empty(pooled, np.int64), np.empty(pooled, np.int64)
    tree, totals = np.empty(pooled + 1, np.int64), np.empty(pooled, np.int64)
    r_x, r_y = np.empty(groups), np.empty(groups)
    n, v = np.empty(groups), np.ones(groups)
    for s in range(out.shape[0]):
        for j in range(groups):
            n[j] = 0.0
            for a in range(members):
                there = 1 if mask is None or mask[a, j] > 0 else 0
                swapped = there * np.int64(swaps[s, a, j])
                in_x[a], in_x[members + a] = there - swapped, swapped
                in_y[a], in_y[members + a] = swapped, there - swapped
                n[j] += there
            r_x[j] = sorted_correlation(kind, order[j], codes[j], z[j], in_x, tree, totals)
            r_y[j] = sorted_correlation(kind, order[j], codes[j], z[j], in_y, tree, totals)
        out[s] = average(r_x, n, v, zero) - average(r_y, n, v, zero)


@kernel
def swap_system(kind, x, mask, z, scale_x, scale_z, w, pairs, swaps, out):
    """Difference of the correlation of means for each pair of metrics; `x` is (metrics, inputs, systems).

    The means of all X' and Y' follow from two sums per metric: over the kept and over the traded cells.
    """
    metrics, inputs, systems = x.shape
    kept, traded = np.empty((metrics, systems)), np.empty((metrics, systems))
    cells = np.zeros(systems)
    for j in range(inputs):
        for i in range(systems):
            cells[i] += mask[j, i] if mask is not None else 1.0
    cells = np.maximum(cells, 1.0)
    new_x, new_y, scale = np.empty(systems), np.empty(systems), np.empty(systems)
    for s in range(out.shape[1]):
        kept[:] = 0.0
        traded[:] = 0.0
        for k in range(metrics):
            for j in range(inputs):
                for i in range(systems):
                    swapped = float(swaps[s, j, i])
                    traded[k, i] += swapped * x[k, j, i]
                    kept[k, i] += (1.0 - swapped) * x[k, j, i]
        for p in range(pairs.shape[0]):
            k, m = pairs[p, 0], pairs[p, 1]
            for i in range(systems):
                new_x[i] = (kept[k, i] + traded[m, i]) / cells[i]
                new_y[i] = (kept[m, i] + traded[k, i]) / cells[i]
                scale[i] = max(scale_x[k, i], scale_x[m, i])
            first = vector_correlation(kind, new_x, z, scale, scale_z, w)
            out[p, s] = first - vector_correlation(kind, new_y, z, scale, scale_z, w)
