"""Kernels for soft pairwise accuracy, which compares p-values of differences between systems."""

# `x` is (systems, inputs), `mask` 1.0 where a score is present, or None; `v` counts the draws of each input. Pairs a <
# b of systems come in the order of a, then b. p is the chance that the difference d is as large when the two scores of
# each input are swapped at random, q the same for −d. Sums of powers of d are (3, pairs, lanes), padded to whole bytes
# of coins.

from __future__ import annotations

import math

import numpy as np

from xsumstat.kernels.jit import kernel

# Most differences for which all swaps are listed.
LISTED = 12
# Beyond this share of the fourth moment a few differences decide, and the largest are listed.
PEAKED, LARGEST = 0.1, 6
# (Σd²)² is at most Σd⁴ times the number of differences: where Σd⁴ has a smaller share there are more than LISTED.
MANY = 1.0 / (LISTED + 0.5)
# Number of differences whose signed sums are computed first; each is then added to the sums of the other differences.
HALF = 8
# Places of scratch for the differences that are listed and for their sums.
UNITS = LISTED + 2**HALF + 2 ** (LISTED - HALF)
# Inputs that are added together.
BYTE = 8


# --- Sums of many resamples side by side ---


@kernel
def sum_drawn(x, mask, counts, powers, sums):
    """Fill Σd, Σd² and Σd⁴ from how often each input was drawn, (inputs, lanes); `powers` (2, 8) is scratch."""
    sums[:] = 0.0
    for start in range(0, x.shape[1], BYTE):
        at = 0
        for a in range(x.shape[0]):
            for b in range(a + 1, x.shape[0]):
                for t in range(BYTE):
                    d = x[a, start + t] - x[b, start + t]
                    if mask is not None:
                        d *= mask[a, start + t] * mask[b, start + t]
                    powers[0, t], powers[1, t] = d, d * d
                for lane in range(sums.shape[2]):
                    one, two, four = sums[0, at, lane], sums[1, at, lane], sums[2, at, lane]
                    for t in range(BYTE):
                        square = counts[start + t, lane] * powers[1, t]
                        one += counts[start + t, lane] * powers[0, t]
                        two += square
                        four += square * powers[1, t]
                    sums[0, at, lane], sums[1, at, lane], sums[2, at, lane] = one, two, four
                at += 1


@kernel
def sum_swapped(x, y, mask, coins, traded, shared, sums):
    """The same for X' and Y', (2, 3, pairs, lanes); `coins` are (systems, bytes, lanes)."""
    sums[:] = 0.0
    for byte in range(coins.shape[1]):
        for i in range(x.shape[0]):
            for t in range(BYTE):
                stays, comes = x[i, BYTE * byte + t], y[i, BYTE * byte + t]
                for lane in range(coins.shape[2]):
                    swapped = (coins[i, byte, lane] >> t) & 1
                    traded[0, i, t, lane] = comes if swapped else stays
                    traded[1, i, t, lane] = stays if swapped else comes
        for side in range(2):
            at = 0
            for a in range(x.shape[0]):
                for b in range(a + 1, x.shape[0]):
                    if mask is not None:
                        for t in range(BYTE):
                            shared[t] = mask[a, BYTE * byte + t] * mask[b, BYTE * byte + t]
                    for lane in range(coins.shape[2]):
                        one, two, four = sums[side, 0, at, lane], sums[side, 1, at, lane], sums[side, 2, at, lane]
                        for t in range(BYTE):
                            d = traded[side, a, t, lane] - traded[side, b, t, lane]
                            if mask is not None:
                                d *= shared[t]
                            square = d * d
                            one += d
                            two += square
                            four += square * square
                        sums[side, 0, at, lane], sums[side, 1, at, lane], sums[side, 2, at, lane] = one, two, four
                    at += 1


# --- Chances of one pair ---


@kernel
def tail(threshold, s2, s4, step):
    """P(S > threshold) of a sum of signs by Edgeworth's series, from the sums of squares and of fourth powers."""
    # On a lattice of two steps the threshold is half-way between two points; the cumulants are Sheppard's (Kolassa &
    # McCullagh 1990).
    variance = s2 - step * step / 3.0
    fourth = -2.0 * s4 + 2.0 * step**4 / 15.0
    x, kurtosis = threshold / math.sqrt(variance), fourth / (variance * variance)
    normal = math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
    value = 0.5 * math.erfc(x / math.sqrt(2.0)) + normal * kurtosis / 24.0 * (x * x * x - 3.0 * x)
    return min(1.0, max(0.0, value))


@kernel
def both_tails(s1, s2, s4, step):
    p = tail(s1 - step, s2, s4, step)
    return p, 1.0 - (tail(s1 + step, s2, s4, step) if step > 0.0 else p)


@kernel
def units_of(d, v, units, largest):
    """Write the nonzero differences with copies, or only the `largest` ones, into `units`; return their number."""
    count, least = 0, 0
    for j in range(v.shape[0]):
        if d[j] == 0.0:
            continue
        for _ in range(v[j]):
            if largest == 0 or count < largest:
                units[count] = d[j]
                count += 1
            elif abs(d[j]) > abs(units[least]):
                units[least] = d[j]
            else:
                break
            if count == largest:
                least = 0
                for k in range(1, count):
                    if abs(units[k]) < abs(units[least]):
                        least = k
    return count


@kernel
def sum_subsets(units, sums):
    """Fill the sum of every subset of some differences; return the number of subsets."""
    sums[0], count = 0.0, 1
    for unit in units:
        for t in range(count):
            sums[count + t] = sums[t] + unit
        count *= 2
    return count


@kernel
def listed(units, count):
    """P(Σ e·d ≥ Σ d) and P(Σ e·d ≤ Σ d) of the first `count` differences; `units` from LISTED on is scratch."""
    # Turning some signs subtracts twice the sum of their differences: count the subsets with sum ≤ 0, and with sum ≥ 0.
    size = 0.0
    for k in range(count):
        size += abs(units[k])
    near = 1e-12 * size
    half = min(count, HALF)
    first, second = units[LISTED : LISTED + 2**HALF], units[LISTED + 2**HALF :]
    n, m = sum_subsets(units[:half], first), sum_subsets(units[half:count], second)
    above, below = 0, 0
    for i in range(m):
        most, least = near - second[i], -near - second[i]
        for j in range(n):
            above += first[j] <= most
            below += first[j] >= least
    return above / (1 << count), below / (1 << count)


@kernel
def peaked(units, count, threshold, s2, s4, step):
    """The same with only the signs of some large differences listed."""
    for k in range(count):
        square = units[k] * units[k]
        s2 -= square
        s4 -= square * square
    s2, s4 = max(s2, 1e-300), max(s4, 0.0)
    total = 0.0
    for state in range(1 << count):
        part = 0.0
        for k in range(count):
            part += -units[k] if (state >> k) & 1 else units[k]
        total += tail(threshold - part, s2, s4, step)
    return total / (1 << count)


@kernel
def chances(d, v, some, s1, s2, s4, step, units):
    if some <= LISTED:
        return listed(units, units_of(d, v, units, 0))
    if s4 <= PEAKED * s2 * s2:
        return both_tails(s1, s2, s4, step)
    count = units_of(d, v, units, LARGEST)
    p = peaked(units, count, s1 - step, s2, s4, step)
    return p, 1.0 - (peaked(units, count, s1 + step, s2, s4, step) if step > 0.0 else p)


# --- Chances of all pairs, and soft pairwise accuracy ---


@kernel
def plain_chances(sums, step, p, q, others):
    """The p and q of pairs with many differences, none dominant; `others` counts the other pairs of a lane."""
    for lane in range(sums.shape[2]):
        others[lane] = 0
        for at in range(sums.shape[1]):
            s1, s2, s4 = sums[0, at, lane], sums[1, at, lane], sums[2, at, lane]
            if s4 < MANY * s2 * s2:
                p[lane, at], q[lane, at] = both_tails(s1, s2, s4, step)
            else:
                others[lane] += 1


@kernel
def other_chances(x, y, mask, coins, w, v, step, sums, others, scores, d, units, p, q):
    """The p and q of the other pairs; NaN where the systems share no drawn input or were not both drawn."""
    # Scores come from y where a coin (systems, bytes, lanes) is 1, else from x; `w` counts the draws of each system.
    # `coins` with one lane, and `w` or `v` with one row, serve all lanes. `scores`, `d` and `units` are scratch.
    for lane in range(sums.shape[2]):
        if others[lane] == 0:
            continue
        own, copies, counts = lane % coins.shape[2], w[lane % w.shape[0]], v[lane % v.shape[0]]
        for i in range(x.shape[0]):
            for j in range(v.shape[1]):
                scores[i, j] = y[i, j] if (coins[i, j // BYTE, own] >> (j % BYTE)) & 1 else x[i, j]
        at = 0
        for a in range(x.shape[0]):
            for b in range(a + 1, x.shape[0]):
                s1, s2, s4 = sums[0, at, lane], sums[1, at, lane], sums[2, at, lane]
                if not s4 < MANY * s2 * s2:
                    n, some = 0, 0
                    for j in range(v.shape[1] if copies[a] * copies[b] > 0 else 0):
                        both = mask is None or mask[a, j] * mask[b, j] > 0.0
                        d[j] = scores[a, j] - scores[b, j] if both else 0.0
                        n += counts[j] if both else 0
                        some += counts[j] if d[j] != 0.0 else 0
                    p[lane, at], q[lane, at] = np.nan, np.nan
                    if n > 0:
                        p[lane, at], q[lane, at] = chances(d, counts, some, s1, s2, s4, step, units)
                at += 1


@kernel
def soft_accuracy(p_x, q_x, p_z, q_z, there, w, out):
    """1 − the mean of |p_X − p_Z| over ordered pairs of systems, for each resample; copies of one system agree."""
    # `there` is 1 for a system with scores. Arguments shared by all resamples have one row.
    systems = w.shape[1]
    for s in range(out.shape[0]):
        here, own, counts = s % p_x.shape[0], s % there.shape[0], s % w.shape[0]
        gold = s % p_z.shape[0]
        lost, pairs = 0.0, 0.0
        at = 0
        for a in range(systems):
            pairs += there[own, a] * 0.5 * w[counts, a] * (w[counts, a] - 1.0)
            for b in range(a + 1, systems):
                apart = 0.5 * (abs(p_x[here, at] - p_z[gold, at]) + abs(q_x[here, at] - q_z[gold, at]))
                if apart == apart:
                    weight = float(w[counts, a] * w[counts, b])
                    lost += weight * apart
                    pairs += weight
                at += 1
        out[s] = 1.0 - lost / pairs if pairs > 0.0 else np.nan
