"""Kernels for accuracy with ties over all outputs as one group: pairs are counted, not listed."""

# `x` holds a metric's scores in ascending order, `z` dense ranks of the gold scores, `w` how often each was drawn.

from __future__ import annotations

from xsumstat.kernels.correlation import tree_add, tree_sum
from xsumstat.kernels.jit import kernel


@kernel
def first_tied(x, threshold, rounding, first):
    """For each score the first score tied with it: equal, or within the threshold up to rounding."""
    start = 0
    for b in range(x.shape[0]):
        while x[start] != x[b]:
            near = rounding * max(abs(x[start]), abs(x[b]))
            if threshold > 0.0 and x[b] - x[start] - near <= threshold:
                break
            start += 1
        first[b] = start


@kernel
def drawn_kinds(kinds, systems, inputs, w):
    """How often each kind of cell was drawn; `kinds` (systems · inputs,) gives the kind, −1 where missing."""
    w[:] = 0
    for c in range(kinds.shape[0]):
        if kinds[c] >= 0:
            w[kinds[c]] += systems[c // inputs.shape[0]] * inputs[c % inputs.shape[0]]


@kernel
def right_decisions(z, first, w, tree, beside):
    """Number of pairs decided as the gold decides, of copies of one cell among them, and of drawn pairs."""
    tree[:] = 0
    beside[:] = 0
    right, n, added = 0, 0, 0
    for b in range(z.shape[0]):
        while added < first[b]:
            beside[z[added]] -= w[added]
            tree_add(tree, z[added], w[added])
            added += 1
        right += w[b] * (tree_sum(tree, z[b]) + beside[z[b]]) + w[b] * (w[b] - 1) // 2
        beside[z[b]] += w[b]
        n += w[b]
    return right, n


@kernel
def first_within(x, edges, places):
    """For each score and edge the first score at most `edge` below; `places` is (scores, edges)."""
    for k in range(edges.shape[0]):
        start = 0
        for b in range(x.shape[0]):
            while x[b] - x[start] > edges[k]:
                start += 1
            places[b, k] = start


@kernel
def gains_by_size(z, order, w, equal, places, same, below, gains):
    """Fill `gains` (2, edges): drawn pairs tied in the gold, and pairs ordered alike, by difference up to each edge."""
    # `order` lists scores by `z`; `equal` comes from `first_tied` without a threshold, `places` from `first_within`.
    size = z.shape[0]
    gains[:] = 0
    same[0], below[0] = 0, 0
    rank = -1
    for at in range(size):
        b = order[at]
        if w[b] == 0:
            continue
        if z[b] != rank:
            rank = z[b]
            for a in range(size):
                same[a + 1] = same[a] + w[a] * (z[a] == rank)
                below[a + 1] = below[a] + w[a] * (z[a] < rank)
        stop, k = equal[b], 0
        while stop > 0:
            start = places[b, k]
            gains[0, k] += w[b] * (same[stop] - same[start])
            gains[1, k] += w[b] * (below[stop] - below[start])
            stop, k = start, k + 1


@kernel
def pairs_of_sizes(x, z, w, low, high, gaps, largest, gains):
    """List the pairs of differences in (low, high]: difference, larger |score|, gain of a tie; return their number."""
    count, start, stop = 0, 0, 0
    for b in range(x.shape[0]):
        while x[b] - x[start] > high:
            start += 1
        while stop < b and x[b] - x[stop] > low:
            stop += 1
        for a in range(start, stop):
            if z[a] > z[b] or x[a] == x[b]:
                continue
            gaps[count] = x[b] - x[a]
            largest[count] = max(abs(x[a]), abs(x[b]))
            gains[count] = w[a] * w[b] * (1 if z[a] == z[b] else -1)
            count += 1
    return count
