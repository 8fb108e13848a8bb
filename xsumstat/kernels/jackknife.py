"""Leave-one-out kernels: update formulas give the coefficient without one member or one group."""

# `order` (groups, members) lists the members of each group by x; `x` and `z` are dense ranks. `mask` (members, groups)
# marks who is present, as in `correlation`.

from __future__ import annotations

import numpy as np

from xsumstat.kernels.correlation import (
    ACCURACY,
    CANCELLED_WITHOUT_ONE,
    KENDALL_C,
    SPEARMAN,
    pearson_of_sums,
    rank_value,
    ratio,
    tree_add,
    tree_sum,
)
from xsumstat.kernels.jit import kernel


@kernel
def pearson_rest(x, z, mask, group, out):
    """Pearson's r of a group without the member `out`, from its cells, by the formula of `moments`."""
    first, n = -1, 0.0
    sx, sz, sxx, szz, sxz = 0.0, 0.0, 0.0, 0.0, 0.0
    for a in range(x.shape[0]):
        if a == out or (mask is not None and not mask[a, group] > 0):
            continue
        if first < 0:
            first = a
        dx, dz = x[a, group] - x[first, group], z[a, group] - z[first, group]
        n += 1.0
        sx += dx
        sz += dz
        sxx += dx * dx
        szz += dz * dz
        sxz += dx * dz
    return pearson_of_sums(n, sx, sz, sxx, szz, sxz)


@kernel
def pearson_without_one(x, z, mask, r, without):
    """Pearson's r of each group, and without each member (members, groups); NaN where the member is absent."""
    members, groups = x.shape
    for j in range(groups):
        n, mean_x, mean_z = 0.0, 0.0, 0.0
        for a in range(members):
            if mask is None or mask[a, j] > 0:
                n += 1.0
                mean_x += x[a, j]
                mean_z += z[a, j]
        mean_x /= max(n, 1.0)
        mean_z /= max(n, 1.0)
        sxx, szz, sxz = 0.0, 0.0, 0.0
        for a in range(members):
            if mask is None or mask[a, j] > 0:
                dx, dz = x[a, j] - mean_x, z[a, j] - mean_z
                sxx += dx * dx
                szz += dz * dz
                sxz += dx * dz
        r[j] = pearson_rest(x, z, mask, j, -1)
        for a in range(members):
            if mask is not None and not mask[a, j] > 0:
                without[a, j] = np.nan
                continue
            dx, dz = x[a, j] - mean_x, z[a, j] - mean_z
            share = n / max(n - 1.0, 1.0)
            vx, vz = sxx - share * dx * dx, szz - share * dz * dz
            kept = vx > CANCELLED_WITHOUT_ONE * sxx and vz > CANCELLED_WITHOUT_ONE * szz
            if kept and r[j] == r[j]:
                without[a, j] = ratio(sxz - share * dx * dz, vx * vz)
            else:
                without[a, j] = pearson_rest(x, z, mask, j, a)


@kernel
def count_below(codes, here, below):
    """Number of present members with a smaller code than each; `below` is (members + 1,)."""
    below[:] = 0
    for a in range(codes.shape[0]):
        below[codes[a] + 1] += here[a]
    for code in range(codes.shape[0]):
        below[code + 1] += below[code]


@kernel
def decide(order, x, z, here, tree, below_x, below_z, concordant, discordant):
    """Count for each present member the others that both scores order alike, and oppositely."""
    # Members come in the order of x: a tree counts those before each one. `below_x`, `below_z`: as by `count_below`.
    size = order.shape[0]
    count_below(x, here, below_x)
    count_below(z, here, below_z)
    n = below_z[size]
    tree[:] = 0
    seen, start = 0, 0
    while start < size:
        stop, added = start, 0
        while stop < size and x[order[stop]] == x[order[start]]:
            a = order[stop]
            if here[a]:
                concordant[a] = tree_sum(tree, z[a])
                discordant[a] = seen - tree_sum(tree, z[a] + 1)
                added += 1
            stop += 1
        for k in range(start, stop):
            a = order[k]
            if here[a]:
                tree_add(tree, z[a], 1)
        seen += added
        for k in range(start, stop):
            a = order[k]
            if here[a]:
                concordant[a] += n - below_z[z[a] + 1] - (seen - tree_sum(tree, z[a] + 1))
                discordant[a] += below_z[z[a]] - tree_sum(tree, z[a])
        start = stop


@kernel
def distinct_codes(below):
    count = 0
    for code in range(below.shape[0] - 1):
        count += below[code + 1] > below[code]
    return count


@kernel
def kendall_without(kind, x, z, here, below_x, below_z, concordant, discordant, without):
    """Return a Kendall-type coefficient of one group; fill `without` with its values without each present member."""
    size = x.shape[0]
    n = below_x[size]
    distinct_x, distinct_z = 0, 0
    if kind == KENDALL_C:
        distinct_x, distinct_z = distinct_codes(below_x), distinct_codes(below_z)
    numerator, untied_x, untied_z = 0, 0, 0
    for a in range(size):
        if here[a]:
            numerator += concordant[a] if kind == ACCURACY else concordant[a] - discordant[a]
            untied_x += n - below_x[x[a] + 1] + below_x[x[a]]
            untied_z += n - below_z[z[a] + 1] + below_z[z[a]]
    numerator, untied_x, untied_z = numerator // 2, untied_x // 2, untied_z // 2
    for a in range(size):
        if here[a]:
            same_x, same_z = below_x[x[a] + 1] - below_x[x[a]], below_z[z[a] + 1] - below_z[z[a]]
            own = concordant[a] if kind == ACCURACY else concordant[a] - discordant[a]
            distinct = float(min(distinct_x - (same_x == 1), distinct_z - (same_z == 1)))
            rest_x, rest_z = untied_x - (n - same_x), untied_z - (n - same_z)
            without[a] = rank_value(kind, float(numerator - own), float(rest_x), float(rest_z), n - 1.0, distinct)
    distinct = float(min(distinct_x, distinct_z))
    return rank_value(kind, float(numerator), float(untied_x), float(untied_z), float(n), distinct)


@kernel
def rank_sums(codes, other, here, below, below_other, total, moved):
    """For each present member Σ_b R[b]·sign(codes[b] - codes[a]); R are the doubled, centred midranks by `other`."""
    size = codes.shape[0]
    n = below[size]
    total[:] = 0
    for b in range(size):
        if here[b]:
            total[codes[b] + 1] += below_other[other[b]] + below_other[other[b] + 1] - n
    for code in range(size):
        total[code + 1] += total[code]
    for a in range(size):
        if here[a]:  # all ranks together are 0
            moved[a] = -total[codes[a] + 1] - total[codes[a]]


@kernel
def spearman_without(x, z, here, below_x, below_z, concordant, discordant, total, moved, without):
    """Return Spearman's rho of one group; fill `without` with its values without each present member."""
    # All sums are whole numbers. R[b] loses sign(x[b] - x[a]) when member a leaves. `moved` (4, members) is scratch.
    size = x.shape[0]
    n = below_x[size]
    rank_sums(x, x, here, below_x, below_x, total, moved[0])
    rank_sums(z, z, here, below_z, below_z, total, moved[1])
    rank_sums(z, x, here, below_z, below_x, total, moved[2])
    rank_sums(x, z, here, below_x, below_z, total, moved[3])
    cross, square_x, square_z = 0.0, 0.0, 0.0
    for a in range(size):
        if here[a]:
            rank_x = float(below_x[x[a]] + below_x[x[a] + 1] - n)
            rank_z = float(below_z[z[a]] + below_z[z[a] + 1] - n)
            cross += rank_x * rank_z
            square_x += rank_x * rank_x
            square_z += rank_z * rank_z
    for a in range(size):
        if here[a]:
            rank_x = float(below_x[x[a]] + below_x[x[a] + 1] - n)
            rank_z = float(below_z[z[a]] + below_z[z[a] + 1] - n)
            untied_x = n - below_x[x[a] + 1] + below_x[x[a]]
            untied_z = n - below_z[z[a] + 1] + below_z[z[a]]
            rest = cross - rank_x * rank_z - moved[2, a] - moved[3, a] + (concordant[a] - discordant[a])
            rest_x = square_x - rank_x * rank_x - 2.0 * moved[0, a] + untied_x
            rest_z = square_z - rank_z * rank_z - 2.0 * moved[1, a] + untied_z
            without[a] = ratio(rest, rest_x * rest_z)
    return ratio(cross, square_x * square_z)


@kernel
def ranks_without_one(kind, order, x, z, mask, r, without):
    """A rank coefficient of each group, and without each member (groups, members); NaN where the member is absent."""
    groups, members = order.shape
    here = np.empty(members, np.int64)
    tree, total = np.empty(members + 1, np.int64), np.empty(members + 1, np.int64)
    below_x, below_z = np.empty(members + 1, np.int64), np.empty(members + 1, np.int64)
    concordant, discordant = np.zeros(members, np.int64), np.zeros(members, np.int64)
    moved = np.zeros((4, members), np.int64)
    for j in range(groups):
        for a in range(members):
            here[a] = mask is None or mask[a, j] > 0
            without[j, a] = np.nan
        decide(order[j], x[j], z[j], here, tree, below_x, below_z, concordant, discordant)
        if kind == SPEARMAN:
            r[j] = spearman_without(
                x[j], z[j], here, below_x, below_z, concordant, discordant, total, moved, without[j]
            )
        else:
            r[j] = kendall_without(kind, x[j], z[j], here, below_x, below_z, concordant, discordant, without[j])


@kernel
def decide_groups(order, x, z, mask, sums):
    """Pairs of each group ordered alike, oppositely, untied in x, and untied in z: `sums` (4, groups)."""
    groups, members = order.shape
    here, tree = np.empty(members, np.int64), np.empty(members + 1, np.int64)
    below_x, below_z = np.empty(members + 1, np.int64), np.empty(members + 1, np.int64)
    concordant, discordant = np.zeros(members, np.int64), np.zeros(members, np.int64)
    sums[:] = 0
    for j in range(groups):
        for a in range(members):
            here[a] = mask is None or mask[a, j] > 0
        decide(order[j], x[j], z[j], here, tree, below_x, below_z, concordant, discordant)
        n = below_x[members]
        for a in range(members):
            if here[a]:
                sums[0, j] += concordant[a]
                sums[1, j] += discordant[a]
                sums[2, j] += n - below_x[x[j, a] + 1] + below_x[x[j, a]]
                sums[3, j] += n - below_z[z[j, a] + 1] + below_z[z[j, a]]
        for row in range(4):
            sums[row, j] //= 2


@kernel
def spearman_without_groups(rank_x, rank_z, x, z, group, out):
    """Spearman's rho of all members without those of each group; `group` names the group of each member."""
    # The doubled, centred midranks lose those of the members that leave. Members come in the order of x, for the cache.
    size = x.shape[0]
    loss_x, loss_z = np.empty(size + 1, np.int32), np.empty(size + 1, np.int32)
    for g in range(out.shape[0]):
        loss_x[:] = 0
        loss_z[:] = 0
        for a in range(size):
            if group[a] == g:
                loss_x[x[a] + 1] += 1
                loss_z[z[a] + 1] += 1
        for code in range(size):
            loss_x[code + 1] += loss_x[code]
            loss_z[code + 1] += loss_z[code]
        gone = loss_x[size]
        cross, square_x, square_z = np.int64(0), np.int64(0), np.int64(0)
        for a in range(size):
            stays = np.int64(group[a] != g)
            left_x = stays * (rank_x[a] - (loss_x[x[a]] + loss_x[x[a] + 1] - gone))
            left_z = stays * (rank_z[a] - (loss_z[z[a]] + loss_z[z[a] + 1] - gone))
            cross += left_x * left_z
            square_x += left_x * left_x
            square_z += left_z * left_z
        out[g] = ratio(float(cross), float(square_x) * float(square_z))
