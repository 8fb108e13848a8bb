"""Permutation kernels: the difference r(X', Z) − r(Y', Z) for each row of sign bits. Other names: `correlation`."""

# `bits` (resamples, systems, bytes) holds a bit for each cell, 8 inputs to the byte, lowest first; 1 swaps X and Y.
# With signs e = ±1, x' = (x + y)/2 + e·(x − y)/2, and Y' is X' at −e: even terms are common to both, odd terms change
# sign. `layout` says what the members of a group are, `at` which groups are meant.

from __future__ import annotations

import numpy as np

from xsumstat.kernels.correlation import (
    ACCURACY,
    CANCELLED_BY_SWAPS,
    SPEARMAN,
    average,
    pearson_of_sums,
    rank_value,
    ratio,
    tree_add,
    tree_sum,
)
from xsumstat.kernels.jit import kernel

# Bytes of bits whose tables of sums are used together: 64 tables of 256 numbers fill an eighth of a usual L2 cache.
SEGMENT = 64
# What the members of a group are: systems, inputs (the groups are systems), or all cells.
BY_INPUT, BY_SYSTEM, WHOLE = range(3)


@kernel
def read_signs(bits, layout, at, cells, signs):
    """Signs (members, groups) of one resample: 1 where scores stay, −1 where they are swapped; `cells` is scratch."""
    for i in range(bits.shape[0]):
        for byte in range(bits.shape[1]):
            sign_bits = np.int64(bits[i, byte])
            for t in range(8):
                cells[i, 8 * byte + t] = 1 - 2 * ((sign_bits >> t) & 1)
    members, groups = signs.shape[0], at.shape[0]
    if layout == BY_SYSTEM:
        for a in range(members):
            for g in range(groups):
                signs[a, g] = cells[at[g], a]
    elif layout == WHOLE:
        inputs = members // bits.shape[0]
        for a in range(members):
            signs[a, 0] = cells[a // inputs, a % inputs]
    elif at[groups - 1] == groups - 1:
        for a in range(members):
            for g in range(groups):
                signs[a, g] = cells[a, g]
    else:
        for a in range(members):
            for g in range(groups):
                signs[a, g] = cells[a, at[g]]
    if signs.shape[1] > groups:  # the same for a second count beside the first
        for a in range(members):
            for g in range(groups):
                signs[a, groups + g] = signs[a, g]


@kernel
def mask_swapped(signs, masks):
    """All bits set where scores are swapped, none where they stay."""
    for a in range(signs.shape[0]):
        for g in range(signs.shape[1]):
            masks[a, g] = (signs[a, g] - 1) >> 1


# --- Statistics that are linear in the signs ---


@kernel
def linear_form(order, codes, z, present, out):
    """What the sign of each member adds to 4·(C − D), to 4·Σ d_x·d_z and to 4·(pairs tied in neither), (3, members)."""
    # `order` lists the pooled entries (x of all members, then y of all) by score; equal ones have equal `codes`. d are
    # centred ranks doubled: d_z = Σ_b sign(z − z_b). With G(v) = Σ_b h_b·(sign(v − x_b) + sign(v − y_b)), h_b the sign
    # of z − z_b, or d_z − d_z_b, the coefficient is G(x) − G(y); of pairs tied in neither: the entries that equal y
    # with another z, less those that equal x. The second holds where no two members share a score.
    members = order.shape[0] // 2
    size = members + 1
    below = np.zeros(size, np.int64)
    for a in range(members):
        if present[a]:
            below[z[a] + 1] += 1
    for code in range(1, size):
        below[code] += below[code - 1]
    n = below[size - 1]
    tree = np.zeros(size, np.int64)
    out[:] = 0.0
    seen, rank_seen, start = 0, 0.0, 0
    while start < order.shape[0]:
        stop = start + 1
        while stop < order.shape[0] and codes[order[stop]] == codes[order[start]]:
            stop += 1
        # Entries of one score stand between those before and those after them: once each, as sign(0) = 0 has it.
        for after in range(2):
            for place in range(start, stop):
                a = order[place] % members
                if not present[a]:
                    continue
                less, more = below[z[a]], n - below[z[a] + 1]
                seen_less = tree_sum(tree, z[a])
                seen_more = seen - tree_sum(tree, z[a] + 1)
                rank = float(less - more)
                turn = 1.0 if order[place] < members else -1.0
                out[0, a] += turn * (seen_less - seen_more + more - less)
                out[1, a] += turn * (rank * (seen - n) - rank_seen)
                out[2, a] -= turn * (2 * after - 1) * (seen_less + seen_more)
            if after == 1:
                break
            # Members of the same z, the member itself among them, add nothing: their h is 0.
            for place in range(start, stop):
                a = order[place] % members
                if not present[a]:
                    continue
                seen += 1
                rank_seen += float(below[z[a]] - (n - below[z[a] + 1]))
                tree_add(tree, z[a], 1)
        start = stop


@kernel
def linear_forms(kind, order, codes, z, present, scale, out):
    """Coefficients (groups, members) of the signs; `order` and `codes` are (groups, 2·members)."""
    members = z.shape[1]
    parts = np.empty((3, members))
    for g in range(z.shape[0]):
        if scale[g] == 0.0:
            out[g] = 0.0
            continue
        linear_form(order[g], codes[g], z[g], present[g], parts)
        for a in range(members):
            value = parts[1 if kind == SPEARMAN else 0, a]
            if kind == ACCURACY:
                value += parts[2, a]
            out[g, a] = scale[g] * value


@kernel
def sums_of_bytes(values, table):
    """table[byte, b] is the sum of the 8 values of that byte whose bit is set in b."""
    for byte in range(table.shape[0]):
        table[byte, 0] = 0.0
        for t in range(8):
            for b in range(1 << t):
                table[byte, (1 << t) + b] = table[byte, b] + values[8 * byte + t]


@kernel
def sum_by_bytes(values, bits, table, out):
    """Add to out[s] the values whose bit in row s is 1; `bits` is (resamples, bytes)."""
    # Tables of the sums for all 256 values of a byte are made for a segment of bytes at a time, to stay in the cache.
    width = bits.shape[1]
    for start in range(0, width, SEGMENT):
        here = min(SEGMENT, width - start)
        sums_of_bytes(values[8 * start :], table[:here])
        fours = here // 4 * 4
        for s in range(out.shape[0]):
            one, two, three, four = 0.0, 0.0, 0.0, 0.0
            for c in range(0, fours, 4):
                one += table[c, bits[s, start + c]]
                two += table[c + 1, bits[s, start + c + 1]]
                three += table[c + 2, bits[s, start + c + 2]]
                four += table[c + 3, bits[s, start + c + 3]]
            for c in range(fours, here):
                one += table[c, bits[s, start + c]]
            out[s] += (one + two) + (three + four)


@kernel
def swap_linear(coefficients, bits, out):
    """Σ e·coefficient over the cells; both arrays are padded to whole bytes of sign bits with coefficients of 0."""
    total = 0.0
    for c in range(coefficients.shape[0]):
        total += coefficients[c]
    out[:] = 0.0
    sum_by_bytes(coefficients, bits, np.empty((SEGMENT, 256)), out)
    for s in range(out.shape[0]):
        out[s] = total - 2.0 * out[s]


# --- Groups whose scores are tied: even and odd parts of integer counts ---


@kernel
def swap_pairs(kind, even_pairs, even_sums, odd, constant, untied_z, n, layout, at, bits, undefined_as_zero, out):
    """Difference of the average Kendall-type coefficient over groups."""
    # 4·(numerator | untied in x) of X' is constant + Σ_{a<b} e_a·e_b·even_pairs + Σ_a e_a·odd; for Y' the last sum
    # changes sign. The last axis holds the two counts. The sum over b is that over all pairs of a, `even_sums`, less
    # twice that over the swapped b.
    members, groups = odd.shape[0], n.shape[0]
    cells = np.empty((bits.shape[1], 8 * bits.shape[2]), odd.dtype)
    signs, masks = np.empty((members, 2 * groups), odd.dtype), np.empty((members, 2 * groups), even_pairs.dtype)
    even, turned, part = np.empty_like(constant), np.empty_like(constant), np.empty(2 * groups, even_pairs.dtype)
    r_x, r_y, v = np.empty(groups), np.empty(groups), np.ones(groups)
    for s in range(out.shape[0]):
        read_signs(bits[s], layout, at, cells, signs)
        mask_swapped(signs, masks)
        for c in range(2 * groups):
            even[c], turned[c] = constant[c], 0
        pair = 0
        for a in range(members):
            part[:] = 0
            for b in range(a + 1, members):
                for c in range(2 * groups):
                    part[c] += masks[b, c] & even_pairs[pair, c]
                pair += 1
            for c in range(2 * groups):
                even[c] += signs[a, c] * (even_sums[a, c] - 2 * part[c])
                turned[c] += signs[a, c] * odd[a, c]
        for c in range(groups):
            top, odd_top = 0.25 * even[c], 0.25 * turned[c]
            low, odd_low = 0.25 * even[groups + c], 0.25 * turned[groups + c]
            r_x[c] = rank_value(kind, top + odd_top, low + odd_low, untied_z[c], n[c], 0.0)
            r_y[c] = rank_value(kind, top - odd_top, low - odd_low, untied_z[c], n[c], 0.0)
        out[s] = average(r_x, n, v, undefined_as_zero) - average(r_y, n, v, undefined_as_zero)


@kernel
def swap_spearman(pairs, pair_sums, own, constant, rank_z, square_z, n, layout, at, bits, undefined_as_zero, out):
    """Difference of the average Spearman rho over groups."""
    # 4·Σ_b sign(x'_a − x'_b), the doubled rank of a in X', is constant + e_a·own + Σ_b e_b·p + e_a·Σ_b e_b·q, and in Y'
    # the same at −e. `pairs` (members, members, 2·groups) holds p and q side by side, `pair_sums` their sums over b.
    members, groups = rank_z.shape
    cells = np.empty((bits.shape[1], 8 * bits.shape[2]), own.dtype)
    signs, masks = np.empty((members, 2 * groups), own.dtype), np.empty((members, 2 * groups), pairs.dtype)
    part, total = np.empty(2 * groups, pairs.dtype), np.empty(2 * groups, own.dtype)
    # Sums over members of even·rank_z, odd·rank_z, even² + odd² and even·odd, exact in integers.
    sums = np.empty((4, groups), rank_z.dtype)
    with_even, with_odd, squares, product = sums[0], sums[1], sums[2], sums[3]
    r_x, r_y, v = np.empty(groups), np.empty(groups), np.ones(groups)
    for s in range(out.shape[0]):
        read_signs(bits[s], layout, at, cells, signs)
        mask_swapped(signs, masks)
        sums[:] = 0
        for a in range(members):
            part[:] = 0
            for b in range(members):
                for c in range(2 * groups):
                    part[c] += masks[b, c] & pairs[a, b, c]
            for c in range(2 * groups):
                total[c] = pair_sums[a, c] - 2 * part[c]
            for c in range(groups):
                even = constant[a, c] + signs[a, c] * total[groups + c]
                odd = total[c] + signs[a, c] * own[a, c]
                with_even[c] += even * rank_z[a, c]
                with_odd[c] += odd * rank_z[a, c]
                squares[c] += even * even + odd * odd
                product[c] += even * odd
        for c in range(groups):
            even, odd = float(with_even[c]), float(with_odd[c])
            r_x[c] = ratio(even + odd, float(squares[c] + 2 * product[c]) * square_z[c])
            r_y[c] = ratio(even - odd, float(squares[c] - 2 * product[c]) * square_z[c])
        out[s] = average(r_x, n, v, undefined_as_zero) - average(r_y, n, v, undefined_as_zero)


# --- Pearson: three sums that are linear in the signs ---


@kernel
def sums_of_swapped(x, y, z, present, signs, turn, group):
    """Sums n, dx, dz, dx², dz², dx·dz of X' and z in one group (all cells if `group` < 0); `turn` = −1 gives Y'."""
    first, last = (group, group + 1) if group >= 0 else (0, x.shape[1])
    none = True
    n, about, about_z, sx, sz, sxx, szz, sxz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for a in range(x.shape[0]):
        for g in range(first, last):
            if not present[a, g]:
                continue
            value = x[a, g] if turn * signs[a, g] > 0 else y[a, g]
            if none:
                none, about, about_z = False, value, z[a, g]
            dx, dz = value - about, z[a, g] - about_z
            n += 1.0
            sx += dx
            sz += dz
            sxx += dx * dx
            szz += dz * dz
            sxz += dx * dz
    return n, sx, sz, sxx, szz, sxz


@kernel
def exact_pearson(x, y, z, present, signs, turn, group):
    """Pearson's r of X' (or Y') and z from the scores, by `sums_of_swapped`."""
    n, sx, sz, sxx, szz, sxz = sums_of_swapped(x, y, z, present, signs, turn, group)
    return pearson_of_sums(n, sx, sz, sxx, szz, sxz)


@kernel
def swap_pearson(x, y, z, present, parts, sums, variance_z, layout, at, bits, undefined_as_zero, out):
    """Difference of the average Pearson r over groups, or of r over all cells where `sums` has one column."""
    # `parts` (3, members, groups) are what the sign of a cell adds to Σx, Σx² and Σxz; `sums` (5, groups or 1) are n,
    # the even parts of those three, and Σz. Where a variance cancels, r is computed from the scores.
    members, groups = x.shape
    units = sums.shape[1]
    cells, signs = np.empty((bits.shape[1], 8 * bits.shape[2])), np.empty((members, groups))
    odd_x, odd_xx, odd_xz = np.empty(groups), np.empty(groups), np.empty(groups)
    r_x, r_y, v = np.empty(units), np.empty(units), np.ones(units)
    for s in range(out.shape[0]):
        read_signs(bits[s], layout, at, cells, signs)
        odd_x[:] = 0.0
        odd_xx[:] = 0.0
        odd_xz[:] = 0.0
        for a in range(members):
            for g in range(groups):
                odd_x[g] += signs[a, g] * parts[0, a, g]
                odd_xx[g] += signs[a, g] * parts[1, a, g]
                odd_xz[g] += signs[a, g] * parts[2, a, g]
        for g in range(1, groups if units < groups else 1):
            odd_x[0] += odd_x[g]
            odd_xx[0] += odd_xx[g]
            odd_xz[0] += odd_xz[g]
        cancelled = False
        for g in range(units):
            n, sx, sxx, sxz, sz, vz = sums[0, g], sums[1, g], sums[2, g], sums[3, g], sums[4, g], variance_z[g]
            plus, minus = sx + odd_x[g], sx - odd_x[g]
            vx, vy = n * (sxx + odd_xx[g]) - plus * plus, n * (sxx - odd_xx[g]) - minus * minus
            r_x[g] = ratio(n * (sxz + odd_xz[g]) - plus * sz, vx * vz)
            r_y[g] = ratio(n * (sxz - odd_xz[g]) - minus * sz, vy * vz)
            cancelled |= vz > 0.0 and min(vx, vy) <= CANCELLED_BY_SWAPS * n * sxx
        if cancelled:
            for g in range(units):
                n, sx, sxx, vz = sums[0, g], sums[1, g], sums[2, g], variance_z[g]
                plus, minus = sx + odd_x[g], sx - odd_x[g]
                vx, vy = n * (sxx + odd_xx[g]) - plus * plus, n * (sxx - odd_xx[g]) - minus * minus
                if vz > 0.0 and min(vx, vy) <= CANCELLED_BY_SWAPS * n * sxx:
                    group = g if units == groups else -1
                    r_x[g] = exact_pearson(x, y, z, present, signs, 1.0, group)
                    r_y[g] = exact_pearson(x, y, z, present, signs, -1.0, group)
        out[s] = average(r_x, sums[0], v, undefined_as_zero) - average(r_y, sums[0], v, undefined_as_zero)


@kernel
def compare(differences, observed, tolerance, counts):
    """Count for each pair the swaps ≥ the observed difference, ≤ it, as far from 0, and undefined."""
    for p in range(differences.shape[0]):
        above, below, beyond, undefined = 0, 0, 0, 0
        for s in range(differences.shape[1]):
            d = differences[p, s]
            above += d >= observed[p] - tolerance
            below += d <= observed[p] + tolerance
            beyond += abs(d) >= abs(observed[p]) - tolerance
            undefined += d != d
        counts[0, p], counts[1, p], counts[2, p], counts[3, p] = above, below, beyond, undefined
