"""Kernels for partial correlations of groups: members drawn anew, or pairs of metrics with swapped scores."""

# The first two variables are correlated, the others held constant. `values`, `order` and `codes` (dense ranks) are
# (variables, groups, members); Pearson's r needs the first, ranks the other two. `here` counts each member.

from __future__ import annotations

import numpy as np

from xsumstat.kernels.bootstrap import row
from xsumstat.kernels.correlation import PEARSON, average, ratio, sorted_correlation
from xsumstat.kernels.jit import kernel

# So small a share of a variance is none: the others tell the variable.
NOTHING = 1e-10


@kernel
def eliminate(r):
    """Partial correlation of the first two variables, from all correlations (overwritten); NaN where undefined."""
    for last in range(r.shape[0] - 1, 1, -1):
        if not r[last, last] > NOTHING:
            return np.nan
        for a in range(last):
            share = r[a, last] / r[last, last]
            for b in range(last):
                r[a, b] -= share * r[last, b]
    if not (r[0, 0] > NOTHING and r[1, 1] > NOTHING):
        return np.nan
    return ratio(r[0, 1], r[0, 0] * r[1, 1])


@kernel
def pearson_matrix(values, group, here, sums, r):
    """Pearson's r of all pairs of variables in a group, by moments about the first member that counts."""
    variables, _, members = values.shape
    first, n = -1, 0.0
    sums[:] = 0.0
    r[:] = 0.0
    for m in range(members):
        if here[m] == 0:
            continue
        if first < 0:
            first = m
        n += here[m]
        for a in range(variables):
            gap = values[a, group, m] - values[a, group, first]
            sums[a] += here[m] * gap
            for b in range(a + 1):
                r[a, b] += here[m] * gap * (values[b, group, m] - values[b, group, first])
    for a in range(variables):
        for b in range(a + 1):
            r[a, b] = n * r[a, b] - sums[a] * sums[b]
    for a in range(variables):
        for b in range(a):
            vx = r[a, a]
            r[a, b] = ratio(r[a, b], r[a, a] * r[b, b] if vx > 0 else 0.0)
            r[b, a] = r[a, b]
    for a in range(variables):
        r[a, a] = 1.0


@kernel
def of_group(kind, values, order, codes, group, here, tree, totals, sums, r):
    """Partial correlation of one group; NaN with fewer than 3 members more than covariates."""
    variables = r.shape[0]
    members = 0
    for m in range(here.shape[0]):
        members += here[m] > 0
    if members < variables + 1:
        return np.nan
    if kind == PEARSON:
        pearson_matrix(values, group, here, sums, r)
    else:
        for a in range(variables):
            r[a, a] = 1.0
            for b in range(a):
                r[a, b] = sorted_correlation(
                    kind, order[a, group], codes[a, group], codes[b, group], here, tree, totals
                )
                r[b, a] = r[a, b]
    return eliminate(r)


@kernel
def bootstrap_partial(kind, values, order, codes, mask, w, v, undefined_as_zero, out):
    variables = max(values.shape[0], codes.shape[0])
    groups, members = mask.shape
    here, totals, tree = np.empty(members, np.int64), np.empty(members, np.int64), np.empty(members + 1, np.int64)
    r, n, sums, matrix = np.empty(groups), np.empty(groups), np.empty(variables), np.empty((variables, variables))
    for s in range(out.shape[0]):
        if s == 0 or w.shape[0] > 1:
            counts = row(w, s)
            for j in range(groups):
                n[j] = 0.0
                for m in range(members):
                    here[m] = counts[m] * mask[j, m]
                    n[j] += here[m]
                r[j] = of_group(kind, values, order, codes, j, here, tree, totals, sums, matrix)
        out[s] = average(r, n, row(v, s), undefined_as_zero)


@kernel
def groups_partial(kind, values, order, codes, mask, r, n):
    variables = max(values.shape[0], codes.shape[0])
    groups, members = mask.shape
    totals, tree = np.empty(members, np.int64), np.empty(members + 1, np.int64)
    sums, matrix = np.empty(variables), np.empty((variables, variables))
    for j in range(groups):
        n[j] = 0.0
        for m in range(members):
            n[j] += mask[j, m]
        r[j] = of_group(kind, values, order, codes, j, mask[j], tree, totals, sums, matrix)


@kernel
def bootstrap_partial_cells(kind, values, order, codes, mask, w, v, out):
    """Partial correlation of all cells as one group; the members are the cells, system by system."""
    variables = max(values.shape[0], codes.shape[0])
    members, inputs = mask.shape[1], v.shape[1]
    here, totals, tree = np.empty(members, np.int64), np.empty(members, np.int64), np.empty(members + 1, np.int64)
    sums, matrix = np.empty(variables), np.empty((variables, variables))
    for s in range(out.shape[0]):
        systems, columns = row(w, s), row(v, s)
        for m in range(members):
            here[m] = systems[m // inputs] * columns[m % inputs] * mask[0, m]
        out[s] = of_group(kind, values, order, codes, 0, here, tree, totals, sums, matrix)


@kernel
def swap_partial(kind, values, order, codes, mask, coins, bits, undefined_as_zero, out):
    """Difference of the average partial correlations of X' and Y' for each row of sign bits."""
    # The first half of the members hold the scores of X, the second those of Y; all else is equal. `coins` (groups,
    # members) are places in a row of sign bits. Of two members that share a coin X' has one, Y' the other.
    variables = max(values.shape[0], codes.shape[0])
    groups, members = mask.shape
    here, totals, tree = np.empty(members, np.int64), np.empty(members, np.int64), np.empty(members + 1, np.int64)
    r, n, sums, matrix = np.empty(groups), np.empty(groups), np.empty(variables), np.empty((variables, variables))
    once = np.ones(groups, np.int64)
    for s in range(out.shape[0]):
        for side in range(2):
            for j in range(groups):
                n[j] = 0.0
                for m in range(members):
                    coin = (bits[s, coins[j, m] >> 3] >> (coins[j, m] & 7)) & 1
                    own = m < members // 2
                    stays = (coin == 0) == own
                    here[m] = mask[j, m] * (stays == (side == 0))
                    n[j] += here[m]
                r[j] = of_group(kind, values, order, codes, j, here, tree, totals, sums, matrix)
            found = average(r, n, once, undefined_as_zero)
            out[s] = found if side == 0 else out[s] - found
