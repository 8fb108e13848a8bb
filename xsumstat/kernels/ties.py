"""Kernels for pairs of outputs: which of two a metric and the gold prefer, with ties up to a threshold."""

# A pair has two members, `first` and `second`, and a `group`. `w` counts how often each member was drawn, `v` how often
# each group. Copies of one member are tied in both scores.

from __future__ import annotations

import numpy as np

from xsumstat.kernels.bootstrap import row
from xsumstat.kernels.correlation import ACC_EQ, ACCURACY, KENDALL_A
from xsumstat.kernels.jit import kernel
from xsumstat.kernels.means import limits, part

# A gain this small beside the number of pairs is rounding, and no reason for a larger threshold.
NO_GAIN = 1e-12


@kernel
def best_gain(gains, ends):
    """First place in the sorted pairs where a threshold gains most, and the gain; `ends` marks last equal ones."""
    total, best, at = 0.0, 0.0, 0
    for k in range(gains.shape[0]):
        total += gains[k]
        if ends[k] and total > best + NO_GAIN:
            best, at = total, k + 1
    return at, best


@kernel
def tied_pairs(codes, w, totals):
    """Number of drawn pairs of a group tied in the gold, and of drawn members; `codes` −1 is missing."""
    totals[:] = 0
    for a in range(w.shape[0]):
        if codes[a] >= 0:
            totals[codes[a]] += w[a]
    tied, n = 0.0, 0
    for code in range(totals.shape[0]):
        tied += 0.5 * totals[code] * (totals[code] - 1.0)
        n += totals[code]
    return tied, n


@kernel
def accuracy_with_ties(first, second, group, gain, ends, codes, stop, w, v, undefined_as_zero, out):
    """Accuracy with ties, averaged over groups, for each row of counts; at its best threshold if `stop` < 0."""
    # The pairs are those that a threshold changes, smallest difference first. `gain` is what a tie makes of each: 1
    # where the gold is tied, −1 where both scores agree. `ends` as in `best_gain`; `codes` (groups, members) are dense
    # ranks of the gold, −1 missing; `stop` is how many pairs the given threshold ties.
    groups, members = codes.shape
    pairs = group.shape[0]
    totals = np.empty(members, np.int64)
    tied, n, factor = np.empty(groups), np.empty(groups), np.empty(groups)
    for s in range(out.shape[0]):
        ws, vs = row(w, s), row(v, s)
        if s == 0 or w.shape[0] > 1:
            for j in range(groups):
                tied[j], n[j] = tied_pairs(codes[j], ws, totals)
        # Numbers of pairs are whole, and so are their sums, as long as all groups have as many.
        weight, common = 0.0, 0.0
        alike = True
        for j in range(groups):
            size = 0.5 * n[j] * (n[j] - 1.0)
            factor[j] = 0.0
            if vs[j] > 0 and size > 0.0:
                alike &= common == 0.0 or common == size
                common = size
                factor[j] = vs[j]
                weight += vs[j]
            elif undefined_as_zero and vs[j] > 0 and n[j] > 0:
                weight += vs[j]
        if common == 0.0:
            out[s] = 0.0 if weight > 0.0 else np.nan
            continue
        base = 0.0
        for j in range(groups):
            if not alike and factor[j] > 0.0:
                factor[j] *= common / (0.5 * n[j] * (n[j] - 1.0))
            base += factor[j] * tied[j]
        total, best, given = 0.0, 0.0, 0.0
        limit = NO_GAIN * common * weight
        for k in range(pairs):
            total += gain[k] * factor[group[k]] * ws[first[k]] * ws[second[k]]
            if ends[k] and total > best + limit:
                best = total
            if k == stop - 1:
                given = total
        out[s] = (base - total + (best if stop < 0 else given)) / (common * weight)


@kernel
def accuracy_of_cells(first, second, gain, ends, codes, stop, present, w, v, out):
    """The same for all cells as one group with weights w·v; `first` and `second` are cells, row by row."""
    inputs = v.shape[1]
    counts, ones = np.empty((1, codes.shape[1]), np.int64), np.ones((1, 1), np.int64)
    group = np.zeros(first.shape[0], np.int32)
    for s in range(out.shape[0]):
        ws, vs = row(w, s), row(v, s)
        for c in range(codes.shape[1]):
            counts[0, c] = ws[c // inputs] * vs[c % inputs] if present[c] else 0
        accuracy_with_ties(first, second, group, gain, ends, codes, stop, counts, ones, False, out[s : s + 1])


@kernel
def pooled_pairs(first, second, group, sign, w, v, out):
    """(C − D)/(C + D) over the pairs of all groups, for each row of counts; `sign` is 1 or −1."""
    for s in range(out.shape[0]):
        ws, vs = row(w, s), row(v, s)
        net, total = 0, 0
        for k in range(first.shape[0]):
            weight = ws[first[k]] * ws[second[k]] * vs[group[k]]
            net += sign[k] * weight
            total += weight
        out[s] = net / total if total > 0 else np.nan


@kernel
def pooled_cells(first, second, sign, inputs, w, v, out):
    for s in range(out.shape[0]):
        ws, vs = row(w, s), row(v, s)
        net, total = 0, 0
        for k in range(first.shape[0]):
            a, b = first[k], second[k]
            weight = ws[a // inputs] * vs[a % inputs] * ws[b // inputs] * vs[b % inputs]
            net += sign[k] * weight
            total += weight
        out[s] = net / total if total > 0 else np.nan


# --- System level: means, whose differences change from resample to resample ---


@kernel
def decide_means(kind, threshold, x, z, near_x, near_z, w, lane, gaps, gains, ends):
    """One lane of `decision_blocks`, from the means of all systems; `gaps`, `gains` and `ends` are scratch."""
    members = x.shape[0]
    right, net, total, pairs = 0.0, 0.0, 0.0, 0
    n, copies = 0.0, 0.0
    for a in range(members):
        n += w[a, lane]
        copies += 0.5 * w[a, lane] * (w[a, lane] - 1.0)
        for b in range(a):
            weight = w[a, lane] * w[b, lane]
            if weight == 0.0:
                continue
            gap_x, gap_z = x[a, lane] - x[b, lane], z[a, lane] - z[b, lane]
            near, tied = max(near_x[a, lane], near_x[b, lane]), max(near_z[a, lane], near_z[b, lane])
            tied_z = abs(gap_z) <= tied
            agrees = (gap_x > near and gap_z > tied) or (gap_x < -near and gap_z < -tied)
            if kind != ACC_EQ:
                if not tied_z and abs(gap_z) >= threshold - tied:
                    net += weight if agrees else -weight
                    total += weight
                continue
            tied_x = abs(gap_x) <= near
            if tied_x or (threshold == threshold and abs(gap_x) <= threshold + near):
                right += weight * tied_z
            else:
                right += weight * agrees
                if tied_z or agrees:
                    gaps[pairs] = abs(gap_x)
                    gains[pairs] = weight if tied_z else -weight
                    pairs += 1
    if kind != ACC_EQ:
        return net / total if total > 0.0 else np.nan
    if not n > 1.0:
        return np.nan
    if threshold != threshold and pairs > 0:
        near = 0.0
        for a in range(members):
            near = max(near, near_x[a, lane])
        order = np.argsort(gaps[:pairs])
        by_size = gains[:pairs][order]
        for k in range(pairs):
            ends[k] = k == pairs - 1 or gaps[order[k + 1]] - gaps[order[k]] > near
        right += best_gain(by_size, ends)[1]
    return (right + copies) / (0.5 * n * (n - 1.0))


@kernel
def decision_blocks(kind, threshold, x, z, scale_x, scale_z, w, out):
    """Accuracy with ties, or WMT's Kendall-like tau, of means in each resample; arrays as in `means`."""
    # The threshold applies to the metric's differences (NaN: the best one of each resample), or to the gold's.
    near, members = np.empty((2, *x.shape[1:])), x.shape[1]
    size = members * (members - 1) // 2
    gaps, gains, ends = np.empty(size), np.empty(size), np.empty(size, np.bool_)
    for b in range(out.shape[0]):
        x_b, z_b, w_b = part(x, b), part(z, b), part(w, b)
        limits(x_b, scale_x, near[0])
        limits(z_b, scale_z, near[1])
        for lane in range(out.shape[1]):
            out[b, lane] = decide_means(kind, threshold, x_b, z_b, near[0], near[1], w_b, lane, gaps, gains, ends)


@kernel
def close_means(kind, low, high, x, z, near_x, near_z, w, lane):
    """A coefficient of the pairs of means whose metric difference is within limits, and the number of pairs."""
    members = x.shape[0]
    concordant, discordant, untied_x, untied_z, pairs = 0.0, 0.0, 0.0, 0.0, 0.0
    for a in range(members):
        for b in range(a):
            weight = w[a, lane] * w[b, lane]
            gap_x, gap_z = x[a, lane] - x[b, lane], z[a, lane] - z[b, lane]
            near, tied = max(near_x[a, lane], near_x[b, lane]), max(near_z[a, lane], near_z[b, lane])
            if weight == 0.0 or abs(gap_x) < low - near or abs(gap_x) > high + near:
                continue
            pairs += weight
            if abs(gap_x) > near:
                untied_x += weight
            if abs(gap_z) > tied:
                untied_z += weight
            if abs(gap_x) > near and abs(gap_z) > tied:
                if (gap_x > 0.0) == (gap_z > 0.0):
                    concordant += weight
                else:
                    discordant += weight
    if not pairs > 0.0:
        return np.nan, pairs
    if kind == ACCURACY:
        return concordant / pairs, pairs
    if not (untied_x > 0.0 and untied_z > 0.0):
        return np.nan, pairs
    if kind == KENDALL_A:
        return (concordant - discordant) / pairs, pairs
    return (concordant - discordant) / np.sqrt(untied_x * untied_z), pairs


@kernel
def close_blocks(kind, low, high, x, z, scale_x, scale_z, w, out, pairs):
    """The same for each resample and each pair of limits; `out` and `pairs` are (limits, blocks, lanes)."""
    near = np.empty((2, *x.shape[1:]))
    for b in range(out.shape[1]):
        x_b, z_b, w_b = part(x, b), part(z, b), part(w, b)
        limits(x_b, scale_x, near[0])
        limits(z_b, scale_z, near[1])
        for k in range(out.shape[0]):
            for lane in range(out.shape[2]):
                out[k, b, lane], pairs[k, b, lane] = close_means(
                    kind, low[k], high[k], x_b, z_b, near[0], near[1], w_b, lane
                )


# --- Swaps of scores ---


@kernel
def sign_of(a, b):
    return 1 * (a > b) - 1 * (a < b)


@kernel
def odd_part(x, y, z, threshold, strict, out):
    """What the sign of each member adds to (right decisions by X') − (by Y') in a group; return the number of pairs."""
    # `strict` (WMT's tau): a pair counts where the gold differs by the threshold, and a tie in the metric is wrong.
    # Else (accuracy with ties) every pair counts, and is right where it is tied in both or in neither.
    out[:] = 0.0
    pairs = 0.0
    for a in range(z.shape[0]):
        if np.isnan(z[a]):
            continue
        for b in range(a):
            if np.isnan(z[b]):
                continue
            sign = sign_of(z[a], z[b])
            if strict and (sign == 0 or abs(z[a] - z[b]) < threshold - 1e-15 * max(abs(z[a]), abs(z[b]))):
                continue
            pairs += 1.0
            stay, b_swapped = 1 * (sign_of(x[a], x[b]) == sign), 1 * (sign_of(x[a], y[b]) == sign)
            a_swapped, both = 1 * (sign_of(y[a], x[b]) == sign), 1 * (sign_of(y[a], y[b]) == sign)
            # Of 4·f = constant + e_a·p + e_b·q + e_a·e_b·r only the odd terms are not common to X' and Y'.
            out[a] += 0.5 * (stay + b_swapped - a_swapped - both)
            out[b] += 0.5 * (stay - b_swapped + a_swapped - both)
    return pairs


@kernel
def odd_parts(x, y, z, threshold, strict, out, pairs):
    """The same for each group; `x`, `y`, `z` and `out` are (groups, members)."""
    for g in range(z.shape[0]):
        pairs[g] = odd_part(x[g], y[g], z[g], threshold, strict, out[g])


@kernel
def swap_calibrated(first, second, group, corner, gain, ends, factor, swaps):
    """Best accuracy with ties of X' less that of Y'; `swaps` (members, groups) is 1 where scores are swapped."""
    # The entries are pairs by difference, each up to four times: for x or y of either member. `corner` is 2 where the
    # first member's score is its y, plus 1 where the second's is; `factor` (groups,) is the weight of a pair of a
    # group.
    best_x, best_y = 0.0, 0.0
    total_x, total_y = 0.0, 0.0
    for k in range(first.shape[0]):
        g = group[k]
        state = 2 * swaps[first[k], g] + swaps[second[k], g]
        if state == corner[k]:
            total_x += gain[k] * factor[g]
        elif 3 - state == corner[k]:
            total_y += gain[k] * factor[g]
        if ends[k]:
            if total_x > best_x + NO_GAIN:
                best_x = total_x
            if total_y > best_y + NO_GAIN:
                best_y = total_y
    return (best_x - total_x) - (best_y - total_y)
