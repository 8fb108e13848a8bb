"""Rank coefficients of sorted members, many resamples side by side (last axis `lanes`)."""

# Members are sorted by x, and from the largest z to the smallest where x is equal: members with one x and one z form a
# run. `x` and `z` are dense ranks; all sums are whole numbers. Weights: w[i]·v[j] where labels are drawn; where scores
# are swapped, w[i] holds the coins of 8 cells, and j is the coin's bit, plus 8 where a member is present at coin 0.

from __future__ import annotations

import numpy as np

from xsumstat.kernels.correlation import ACCURACY, SPEARMAN, average, rank_value, ratio
from xsumstat.kernels.jit import kernel

# Rows of `sums`: members; Σ weight² of the values of z, of those of x and of runs; how many values z and x have;
# Σ weight·(weight before it of lower z), which are the concordant pairs. For Spearman, of doubled centred ranks: those
# by z of the members of one x, and of all members the products of both, and the squares of either.
N, SQUARE_Z, SQUARE_X, SQUARE_RUN, DISTINCT_Z, DISTINCT_X, CONCORDANT, OF_X, CROSS, RANKS_X, RANKS_Z, SUMS = range(12)
# Rows of `scratch`: the weight of a run, that of lower z before it, that of one x, that before this x.
WEIGHT, LESS, VALUE, SEEN, SCRATCH = range(5)


@kernel
def clear(rows):
    for at in range(rows.shape[0]):
        for lane in range(rows.shape[1]):
            rows[at, lane] = 0


@kernel
def run_weight(coins, first, second, x, z, g, start, size, w, v, scratch):
    """Write the weight of the run that begins at `start`; return where it ends."""
    stop = start + 1
    while stop < size and x[g, stop] == x[g, start] and z[g, stop] == z[g, start]:
        stop += 1
    for lane in range(scratch.shape[1]):
        scratch[WEIGHT, lane] = 0
    if coins:
        for k in range(start, stop):
            i, bit, turned = first[g, k], np.int32(1 << (second[g, k] & 7)), np.int32(-(second[g, k] >> 3))
            for lane in range(scratch.shape[1]):
                scratch[WEIGHT, lane] += ((w[i, lane] ^ turned) & bit) != 0
    else:
        for k in range(start, stop):
            i, j = first[g, k], second[g, k]
            for lane in range(scratch.shape[1]):
                scratch[WEIGHT, lane] += w[i, lane] * v[j, lane]
    return stop


@kernel
def kendall_sums(coins, first, second, x, z, sizes, w, v, tree, scratch, sums):
    """Add the sums of the Kendall family to `sums` (groups, rows, lanes)."""
    # The i and j of members, `x` and `z` are (groups, members); `sizes` are present. `tree` (codes of z + 1, lanes)
    # holds Fenwick trees of the weights by z.
    lanes, codes = tree.shape[1], tree.shape[0] - 1
    for g in range(sizes.shape[0]):
        clear(tree)
        clear(scratch)
        start = np.int64(0)
        while start < sizes[g]:
            stop = run_weight(coins, first, second, x, z, g, start, sizes[g], w, v, scratch)
            for lane in range(lanes):
                scratch[LESS, lane] = 0
            at = z[g, start]
            while at > 0:
                for lane in range(lanes):
                    scratch[LESS, lane] += tree[at, lane]
                at &= at - 1
            at = z[g, start] + 1
            while at <= codes:
                for lane in range(lanes):
                    tree[at, lane] += scratch[WEIGHT, lane]
                at += at & -at
            for lane in range(lanes):
                weight = float(scratch[WEIGHT, lane])
                sums[g, CONCORDANT, lane] += weight * float(scratch[LESS, lane])
                sums[g, SQUARE_RUN, lane] += weight * weight
                scratch[VALUE, lane] += scratch[WEIGHT, lane]
            if stop == sizes[g] or x[g, stop] != x[g, start]:
                for lane in range(lanes):
                    weight = float(scratch[VALUE, lane])
                    sums[g, SQUARE_X, lane] += weight * weight
                    sums[g, DISTINCT_X, lane] += weight > 0.0
                    scratch[VALUE, lane] = 0
            start = stop
        for at in range(codes, 0, -1):  # from the weights of stretches of codes back to those of single codes
            if at + (at & -at) <= codes:
                for lane in range(lanes):
                    tree[at + (at & -at), lane] -= tree[at, lane]
        for at in range(1, codes + 1):
            for lane in range(lanes):
                weight = float(tree[at, lane])
                sums[g, N, lane] += weight
                sums[g, SQUARE_Z, lane] += weight * weight
                sums[g, DISTINCT_Z, lane] += weight > 0.0


@kernel
def spearman_sums(coins, first, second, x, z, sizes, w, v, tree, scratch, sums):
    """The same for Spearman's rho; `tree` holds the weight of each z, then its doubled centred rank."""
    lanes = tree.shape[1]
    for g in range(sizes.shape[0]):
        clear(tree)
        clear(scratch)
        start = np.int64(0)
        while start < sizes[g]:
            code = z[g, start]
            start = run_weight(coins, first, second, x, z, g, start, sizes[g], w, v, scratch)
            for lane in range(lanes):
                tree[code, lane] += scratch[WEIGHT, lane]
                sums[g, N, lane] += float(scratch[WEIGHT, lane])
        for code in range(tree.shape[0]):
            for lane in range(lanes):
                weight = tree[code, lane]
                rank = 2.0 * float(scratch[SEEN, lane]) + float(weight) - sums[g, N, lane]
                sums[g, RANKS_Z, lane] += float(weight) * rank * rank
                scratch[SEEN, lane] += weight
                tree[code, lane] = np.int32(rank)
        clear(scratch)
        start = np.int64(0)
        while start < sizes[g]:
            stop = run_weight(coins, first, second, x, z, g, start, sizes[g], w, v, scratch)
            code = z[g, start]
            for lane in range(lanes):
                sums[g, OF_X, lane] += float(scratch[WEIGHT, lane]) * float(tree[code, lane])
                scratch[VALUE, lane] += scratch[WEIGHT, lane]
            if stop == sizes[g] or x[g, stop] != x[g, start]:
                for lane in range(lanes):
                    weight = float(scratch[VALUE, lane])
                    rank = 2.0 * float(scratch[SEEN, lane]) + weight - sums[g, N, lane]
                    sums[g, CROSS, lane] += rank * sums[g, OF_X, lane]
                    sums[g, RANKS_X, lane] += weight * rank * rank
                    sums[g, OF_X, lane] = 0.0
                    scratch[SEEN, lane] += scratch[VALUE, lane]
                    scratch[VALUE, lane] = 0
            start = stop


@kernel
def sorted_averages(kind, difference, sums, first, last, v, start, undefined_as_zero, r, n, out):
    """Average of the groups' coefficients from the sums of the lanes in [first, last), written to out[start:]."""
    # Accuracy needs C instead of C − D, except in a `difference` of two, where the rest cancels.
    groups = sums.shape[0]
    for s in range(start, min(start + last - first, out.shape[0])):
        lane = first + s - start
        for g in range(groups):
            n[g] = sums[g, N, lane]
            square, square_z = n[g] * n[g], sums[g, SQUARE_Z, lane]
            untied_x, untied_z = (square - sums[g, SQUARE_X, lane]) / 2, (square - square_z) / 2
            numerator = sums[g, CONCORDANT, lane]
            if kind != ACCURACY or difference:  # C + D are the pairs that are tied in neither
                numerator += numerator - (untied_x - (square_z - sums[g, SQUARE_RUN, lane]) / 2)
            distinct = min(sums[g, DISTINCT_X, lane], sums[g, DISTINCT_Z, lane])
            if kind == SPEARMAN:
                r[g] = ratio(sums[g, CROSS, lane], sums[g, RANKS_X, lane] * sums[g, RANKS_Z, lane])
            else:
                r[g] = rank_value(kind, numerator, untied_x, untied_z, n[g], distinct)
        out[s] = average(r, n, v[s if v.shape[0] > 1 else 0], undefined_as_zero)
