"""Kernels for groups with many members: bit sets that mark, for each member, which others are lower."""

from __future__ import annotations

import numpy as np

from xsumstat.kernels.correlation import ACCURACY, rank_value
from xsumstat.kernels.jit import intrinsic, kernel
from xsumstat.kernels.outputs import place


@intrinsic
def popcount():
    """Number of bits of a word that are 1."""
    from numba import extending, types

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    def typed(typing_context, word):
        return types.uint64(types.uint64), generate

    return extending.intrinsic(typed)


@kernel
def members_before(order, values, size, step, before, bits):
    """Mark in `bits` (members, words) who comes before each member; return the number of bits set."""
    # `order` lists the members by value, missing ones last; `size` have a value. `step` 1 marks lower members, −1
    # higher ones; equal members are not marked. `before` (words,) is scratch.
    words = bits.shape[1]
    before[:] = 0
    start, at = 0, 0 if step > 0 else size - 1
    number = 0
    while start < size:
        value, first = values[order[at]], at
        stop = start
        while stop < size and values[order[at]] == value:
            a = order[at]
            for w in range(words):
                bits[a, w] = before[w]
            at += step
            stop += 1
        number += (stop - start) * start
        for k in range(stop - start):
            a = order[first + step * k]
            before[a >> 6] |= np.uint64(1) << np.uint64(a & 63)
        start = stop
    return number


@kernel
def alike(x, z):
    number = np.int64(0)
    for w in range(x.shape[0]):
        number += np.int64(popcount(x[w] & z[w]))
    return number


@kernel
def alike_among(x, z, among, numbers):
    """Number of bits set in both x and z for the members in `among` (words,)."""
    both, one, other = np.int64(0), np.int64(0), np.int64(0)
    for a in range(x.shape[0]):
        if not (among[a >> 6] >> np.uint64(a & 63)) & np.uint64(1):
            continue
        for w in range(among.shape[0]):
            of_x, of_z = x[a, w] & among[w], z[a, w] & among[w]
            both += np.int64(popcount(of_x & of_z))
            one += np.int64(popcount(of_x))
            other += np.int64(popcount(of_z))
    numbers[0], numbers[1], numbers[2] = both, one, other


@kernel
def correlate(kind, pairs, values, order, there, best, every, bits, rows, sizes, untied, among, r, n):
    """Fill `r` and `n` (pairs,) with a Kendall-type coefficient and the number of members, for one group."""
    # `pairs` (pairs, 2) are rows of `values` and `order` (metrics, members; missing members last) and of the bit sets
    # `there` and `best` (metrics, words). `every`: count all members, whatever `best` says. `rows` is `bits` as one
    # block.
    lower, higher = bits[0], bits[1]
    metrics, members, words = lower.shape
    numbers = np.empty(3, np.int64)
    for m in range(metrics):
        sizes[m] = 0
        for w in range(words):
            sizes[m] += np.int64(popcount(there[m, w]))
        untied[m] = members_before(order[m], values[m], sizes[m], 1, among, lower[m])
        if untied[m] < sizes[m] * (sizes[m] - 1) // 2:
            members_before(order[m], values[m], sizes[m], -1, among, higher[m])
        for k in range(sizes[m], members):
            for w in range(words):
                lower[m, order[m, k], w] = 0
                higher[m, order[m, k], w] = 0
    for p in range(pairs.shape[0]):
        x, z = pairs[p, 0], pairs[p, 1]
        fine_x = untied[x] == sizes[x] * (sizes[x] - 1) // 2
        fine_z = untied[z] == sizes[z] * (sizes[z] - 1) // 2
        same = every and sizes[x] == sizes[z]
        for w in range(words):
            same &= there[x, w] == there[z, w]
        if same:
            size = sizes[x]
            one, other = untied[x], untied[z]
            both = one if x == z else alike(rows[0, x], rows[0, z])
        else:
            size = 0
            for w in range(words):
                among[w] = there[x, w] & there[z, w] & (best[x, w] | best[z, w])
                size += np.int64(popcount(among[w]))
            alike_among(lower[x], lower[z], among, numbers)
            both, one, other = numbers[0], numbers[1], numbers[2]
        if kind == ACCURACY:
            numerator = both
        elif fine_z:
            numerator = 2 * both - one
        elif fine_x:
            numerator = 2 * both - other
        elif same:
            numerator = both - alike(rows[0, x], rows[1, z])
        else:
            alike_among(lower[x], higher[z], among, numbers)
            numerator = both - numbers[0]
        r[p] = rank_value(kind, float(numerator), float(one), float(other), float(size), 0.0)
        n[p] = size


@kernel
def bits_below(row, sums, place):
    """Number of bits set before a place; `sums` holds the number before each word."""
    rest = row[place >> 6] & ((np.uint64(1) << np.uint64(place & 63)) - np.uint64(1))
    return sums[place >> 6] + np.int64(popcount(rest))


@kernel
def count_opposite(x, z, order_x, order_z, height, bins, bits, row, sums, first, opposite, pairs):
    """`outputs.count_opposite` for outputs sorted by height; the arrays from `bits` to `first` are scratch."""
    size, words = bits.shape[1:]
    lower_x, higher_x, lower_z, higher_z = bits[0], bits[1], bits[2], bits[3]
    members_before(order_x, x, size, 1, row, lower_x)
    members_before(order_x, x, size, -1, row, higher_x)
    members_before(order_z, z, size, 1, row, lower_z)
    members_before(order_z, z, size, -1, row, higher_z)
    first[0], sums[0], row[words] = 0, 0, 0
    for k in range(1, bins + 1):
        first[k] = size
    for a in range(size):
        for k in range(bins):
            # The first output that makes a pair of bin k or a higher one: the higher a lies the lower that is.
            while first[k] > 0 and place((height[a] + height[first[k] - 1]) / 2.0, bins) >= k:
                first[k] -= 1
        for w in range((a >> 6) + 1):
            row[w] = (lower_x[a, w] & higher_z[a, w]) | (higher_x[a, w] & lower_z[a, w])
            sums[w + 1] = sums[w] + np.int64(popcount(row[w]))
        last, number = a, bits_below(row, sums, a)
        for k in range(bins - 1, -1, -1):
            if first[k] < last:
                below = bits_below(row, sums, first[k])
                pairs[k] += last - first[k]
                opposite[k] += number - below
                last, number = first[k], below
