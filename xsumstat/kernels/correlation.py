"""Numba kernels for correlations: plain loops over checked arrays."""

# `x` and `z` hold two scores as (members, groups): one correlation for each column. `w` counts how often each member
# was drawn, `v` how often each group. `mask` is 1.0 where a cell is present, or None. Ranks are integers, so ties are
# exact.

from __future__ import annotations

import numpy as np

from xsumstat.kernels.jit import kernel

PEARSON, SPEARMAN, KENDALL, KENDALL_A, KENDALL_C, ACCURACY, ACC_EQ, KENDALL_LIKE = range(8)
# Of a variance that follows from sums, only rounding may be left where it is so small a share of its terms: it is then
# summed anew from the scores. After swaps more is asked than without one label, as many small differences are compared.
CANCELLED_BY_SWAPS, CANCELLED_WITHOUT_ONE = 1e-3, 1e-4


@kernel
def count_labels(words, size, out):
    """out[s, label] is how often `label` was drawn in `size` draws; each 64-bit word holds two draws."""
    low = np.uint64(0xFFFFFFFF)
    shift = np.uint64(32)
    labels = np.uint64(size)
    for s in range(out.shape[0]):
        for k in range(size):
            word = words[s, k // 2]
            half = word >> shift if k % 2 else word & low
            out[s, np.int64((half * labels) >> shift)] += 1


@kernel
def average(r, n, v, undefined_as_zero):
    """Mean correlation over the drawn groups; NaN where no group is defined. Groups without cells never count."""
    total = 0.0
    weight = 0.0
    for j in range(r.shape[0]):
        if r[j] == r[j]:
            total += v[j] * r[j]
            weight += v[j]
        elif undefined_as_zero and n[j] > 0:
            weight += v[j]
    return total / weight if weight > 0 else np.nan


@kernel
def ratio(covariance, variances):
    """Covariance / sqrt(variances), kept within [-1, 1]; NaN where a variance is 0."""
    if not variances > 0:
        return np.nan
    return min(1.0, max(-1.0, covariance / np.sqrt(variances)))


@kernel
def pearson_of_sums(n, sx, sz, sxx, szz, sxz):
    """Pearson's r from the sums of `moments` over n members; NaN where one score is constant."""
    vx = n * sxx - sx * sx
    vz = n * szz - sz * sz
    return ratio(n * sxz - sx * sz, vx * vz if vx > 0 else 0.0)


@kernel
def rank_value(kind, numerator, untied_x, untied_z, n, distinct):
    """A Kendall-type coefficient from its counts of pairs (`numerator` is C - D, or C)."""
    pairs = 0.5 * n * (n - 1.0)
    if kind == ACCURACY:
        return numerator / pairs if pairs > 0 else np.nan
    if not (untied_x > 0 and untied_z > 0):
        return np.nan
    if kind == KENDALL_A:
        return numerator / pairs
    if kind == KENDALL_C:
        return 2.0 * distinct * numerator / (n * n * (distinct - 1.0))
    return numerator / np.sqrt(float(untied_x) * float(untied_z))


# --- Pearson, by moments about a drawn value: exactly 0 for a constant, and safe from cancellation ---


@kernel
def moments(x, z, mask, w, sums):
    """Weighted sums of each group about one drawn member; rows n, dx, dz, dx², dz², dx·dz."""
    members, groups = x.shape
    sums[:] = 0.0
    n, sx, sz, sxx, szz, sxz = sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]
    if mask is None:
        first = 0
        while first < members - 1 and w[first] == 0:
            first += 1
        total = 0.0
        for a in range(members):
            weight = float(w[a])
            total += weight
            if weight == 0.0 or a == first:
                continue
            for j in range(groups):
                dx = x[a, j] - x[first, j]
                dz = z[a, j] - z[first, j]
                sx[j] += weight * dx
                sz[j] += weight * dz
                sxx[j] += weight * dx * dx
                szz[j] += weight * dz * dz
                sxz[j] += weight * dx * dz
        n[:] = total
    else:
        about_x = np.zeros(groups)
        about_z = np.zeros(groups)
        for a in range(members - 1, -1, -1):
            if w[a] > 0:
                for j in range(groups):
                    if mask[a, j] > 0:
                        about_x[j] = x[a, j]
                        about_z[j] = z[a, j]
        for a in range(members):
            if w[a] == 0:
                continue
            for j in range(groups):
                weight = w[a] * mask[a, j]
                dx = x[a, j] - about_x[j]
                dz = z[a, j] - about_z[j]
                n[j] += weight
                sx[j] += weight * dx
                sz[j] += weight * dz
                sxx[j] += weight * dx * dx
                szz[j] += weight * dz * dz
                sxz[j] += weight * dx * dz


@kernel
def pearson_groups(x, z, mask, w, sums, r, n):
    moments(x, z, mask, w, sums)
    for j in range(r.shape[0]):
        n[j] = sums[0, j]
        r[j] = pearson_of_sums(sums[0, j], sums[1, j], sums[2, j], sums[3, j], sums[4, j], sums[5, j])


@kernel
def pearson_total(x, z, mask, w, v):
    members, groups = x.shape
    first_a, first_j, found = 0, 0, False
    for a in range(members):
        for j in range(groups):
            if not found and w[a] > 0 and v[j] > 0 and (mask is None or mask[a, j] > 0):
                first_a, first_j, found = a, j, True
        if found:
            break
    about_x, about_z = x[first_a, first_j], z[first_a, first_j]
    n, sx, sz, sxx, szz, sxz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for a in range(members):
        if w[a] == 0:
            continue
        for j in range(groups):
            weight = float(w[a] * v[j])
            if mask is not None:
                weight *= mask[a, j]
            dx = x[a, j] - about_x
            dz = z[a, j] - about_z
            n += weight
            sx += weight * dx
            sz += weight * dz
            sxx += weight * dx * dx
            szz += weight * dz * dz
            sxz += weight * dx * dz
    return pearson_of_sums(n, sx, sz, sxx, szz, sxz)


# --- Ranks of short groups: pairs of members, with the groups innermost so that the loop vectorises ---


@kernel
def list_drawn(w, drawn):
    """Write the drawn members into `drawn` (members + 1,) and return their number."""
    count = 0
    for a in range(w.shape[0]):
        drawn[count] = a
        count += w[a] > 0
    return count


@kernel
def pair_groups(kind, rows, tied_x, tied_z, mask, w, drawn, sums, untied_x, untied_z, r, n):
    """A Kendall-type coefficient for each group; pair (a, b) has weight w[a]·w[b]."""
    # `rows` has a row for each pair a < b: the numerator over the groups, then whether the pair is untied in x for the
    # groups in `tied_x`, and in z for those in `tied_z`. Elsewhere only copies of one member are tied.
    members = w.shape[0]
    groups = r.shape[0]
    sums[:] = 0
    untied = 0
    count = list_drawn(w, drawn)
    for p in range(count):
        a = drawn[p]
        start = a * (2 * members - a - 1) // 2 - a - 1
        for q in range(p + 1, count):
            b = drawn[q]
            weight = w[a] * w[b]
            untied += weight
            for c in range(rows.shape[1]):
                sums[c] += weight * rows[start + b, c]
    count_members(mask, w, n)
    untied_x[:] = untied
    untied_z[:] = untied
    for c in range(tied_x.shape[0]):
        untied_x[tied_x[c]] = sums[groups + c]
    for c in range(tied_z.shape[0]):
        untied_z[tied_z[c]] = sums[groups + tied_x.shape[0] + c]
    if kind == KENDALL:
        for j in range(groups):
            both = untied_x[j] * untied_z[j]
            r[j] = sums[j] / np.sqrt(both) if both > 0.0 else np.nan
    else:
        for j in range(groups):
            r[j] = rank_value(kind, sums[j], untied_x[j], untied_z[j], n[j], 0.0)


@kernel
def count_members(mask, w, n):
    if mask is None:
        total = 0.0
        for a in range(w.shape[0]):
            total += w[a]
        n[:] = total
    else:
        n[:] = 0.0
        for a in range(w.shape[0]):
            for j in range(n.shape[0]):
                n[j] += w[a] * mask[a, j]


@kernel
def spearman_groups(signs, mask, w, drawn, part, ranks, r, n):
    """Spearman's rho of each group; the last axis of `signs` holds the signs of x[a] - x[b], then of z[a] - z[b]."""
    # The midrank of a is half of Σ_b w[b]·sign(x[a] - x[b]), plus a constant: those sums have mean 0.
    groups = r.shape[0]
    count = list_drawn(w, drawn)
    for p in range(count):
        a = drawn[p]
        part[:] = 0
        for q in range(count):
            b = drawn[q]
            for c in range(2 * groups):
                part[c] += w[b] * signs[a, b, c]
        for c in range(2 * groups):
            ranks[a, c] = part[c]
    count_members(mask, w, n)
    cross, square_x, square_z = np.zeros(groups), np.zeros(groups), np.zeros(groups)
    for p in range(count):
        a = drawn[p]
        weight = float(w[a])
        for j in range(groups):
            x, z = ranks[a, j], ranks[a, groups + j]
            cross[j] += weight * x * z
            square_x[j] += weight * x * x
            square_z[j] += weight * z * z
    for j in range(groups):
        r[j] = ratio(cross[j], square_x[j] * square_z[j])


# --- Ranks of long groups: walk the members in the order of x, n log n ---


@kernel
def tree_sum(tree, code):
    """Weight of all codes below `code` in a Fenwick tree."""
    total = 0
    while code > 0:
        total += tree[code]
        code &= code - 1
    return total


@kernel
def tree_add(tree, code, weight):
    """Add a weight to `code` in a Fenwick tree (codes + 1,)."""
    place = code + 1
    while place < tree.shape[0]:
        tree[place] += weight
        place += place & -place


@kernel
def weights_by_code(codes, w, totals):
    """Fill how often each code was drawn; return the number of draws, of codes drawn, and the sum of squares."""
    totals[:] = 0
    n, distinct, squares = 0, 0, 0.0
    for a in range(w.shape[0]):
        totals[codes[a]] += w[a]
        n += w[a]
    for code in range(totals.shape[0]):
        distinct += totals[code] > 0
        squares += float(totals[code]) * float(totals[code])
    return n, distinct, squares


@kernel
def tied_run(order, x, w, start):
    """End of the run of members tied with the one at `start`, and their number of draws."""
    stop, here = start, 0
    while stop < order.shape[0] and x[order[stop]] == x[order[start]]:
        here += w[order[stop]]
        stop += 1
    return stop, here


@kernel
def sorted_spearman(order, x, z, w, totals):
    """Spearman's rho of one group, for `sorted_correlation`; `totals` is scratch."""
    n = weights_by_code(z, w, totals)[0]
    below = 0
    for code in range(totals.shape[0]):  # totals become Σ_b w[b]·sign(z[a] - z[b])
        here = totals[code]
        totals[code] = 2 * below + here - n
        below += here
    cross, square_x, square_z = 0.0, 0.0, 0.0
    start, seen = 0, 0
    while start < order.shape[0]:
        stop, here = tied_run(order, x, w, start)
        rank = float(2 * seen + here - n)
        for k in range(start, stop):
            a = order[k]
            if w[a] > 0:
                other = float(totals[z[a]])
                cross += w[a] * rank * other
                square_x += w[a] * rank * rank
                square_z += w[a] * other * other
        start, seen = stop, seen + here
    return ratio(cross, square_x * square_z)


@kernel
def sorted_kendall(kind, order, x, z, w, tree, totals):
    """A Kendall-type coefficient of one group, for `sorted_correlation`; `tree` and `totals` are scratch."""
    n, distinct_z, squares_z = weights_by_code(z, w, totals)
    tree[:] = 0
    concordant, discordant, distinct_x, squares_x = 0, 0, 0, 0.0
    start, seen = 0, 0
    while start < order.shape[0]:
        stop, here = tied_run(order, x, w, start)
        distinct_x += here > 0
        squares_x += float(here) * float(here)
        for k in range(start, stop):
            a = order[k]
            if w[a] > 0:
                concordant += w[a] * tree_sum(tree, z[a])
                discordant += w[a] * (seen - tree_sum(tree, z[a] + 1))
        for k in range(start, stop):
            a = order[k]
            if w[a] > 0:
                tree_add(tree, z[a], w[a])
        start, seen = stop, seen + here
    square = float(n) * float(n)
    numerator = concordant if kind == ACCURACY else concordant - discordant
    untied_x, untied_z = (square - squares_x) / 2, (square - squares_z) / 2
    return rank_value(kind, float(numerator), untied_x, untied_z, float(n), float(min(distinct_x, distinct_z)))


@kernel
def sorted_correlation(kind, order, x, z, w, tree, totals):
    """A rank coefficient of one group; `order` lists the members by x, `x` and `z` are dense ranks."""
    if kind == SPEARMAN:
        return sorted_spearman(order, x, z, w, totals)
    return sorted_kendall(kind, order, x, z, w, tree, totals)


@kernel
def sorted_groups(kind, order, x, z, mask, w, r, n):
    """A rank coefficient of each group; `order`, `x` and `z` are (groups, members)."""
    groups, members = order.shape
    here = np.empty(members, np.int64)
    tree = np.empty(members + 1, np.int64)
    totals = np.empty(members, np.int64)
    for j in range(groups):
        n[j] = 0.0
        for a in range(members):
            here[a] = w[a] if mask is None or mask[a, j] > 0 else 0
            n[j] += here[a]
        r[j] = sorted_correlation(kind, order[j], x[j], z[j], here, tree, totals)
