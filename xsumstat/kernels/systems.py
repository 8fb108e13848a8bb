"""Kernels for two systems' scores on the same inputs, many pairs of systems, and resamples (lanes), side by side."""

from __future__ import annotations

import numpy as np

from xsumstat.kernels.jit import kernel


@kernel
def signed_ranks(differences, near, ranks, tied):
    """Fill signed midranks of |difference| (pairs, inputs), 0 for 0, and Σ(t³ − t) over tied magnitudes (pairs,)."""
    n = differences.shape[1]
    for p in range(differences.shape[0]):
        size = np.abs(differences[p])
        order = np.argsort(size)
        ranks[p] = 0.0
        tied[p] = 0.0
        start = 0
        while start < n and size[order[start]] <= near[p]:
            start += 1
        zeros = start
        while start < n:
            stop = start + 1
            while stop < n and size[order[stop]] - size[order[stop - 1]] <= near[p]:
                stop += 1
            t = float(stop - start)
            tied[p] += t * t * t - t
            rank = start - zeros + (t + 1.0) / 2.0
            for at in range(start, stop):
                ranks[p, order[at]] = rank if differences[p, order[at]] > 0.0 else -rank
            start = stop


@kernel
def net_counts(counts, words, total, net):
    """How often each input was drawn, and its draws in place less its draws swapped, (inputs, lanes)."""
    # A word holds a coin for each of up to 32 copies of an input.
    for lane in range(counts.shape[0]):
        for i in range(counts.shape[1]):
            copies, word = counts[lane, i], words[lane, i]
            swapped = 0
            for copy in range(copies):
                swapped += (word >> np.uint32(copy & 31)) & np.uint32(1)
            total[i, lane] = copies
            net[i, lane] = copies - 2 * swapped


@kernel
def weighted_sums(values, weights, out):
    """out[p, lane] = Σ_i values[p, i]·weights[i, lane], always summed in the same order."""
    for p in range(values.shape[0]):
        out[p] = 0.0
        for i in range(values.shape[1]):
            value = values[p, i]
            if value != 0.0:
                for lane in range(weights.shape[1]):
                    out[p, lane] += value * weights[i, lane]


@kernel
def rank_sums(ranks, total, net, out):
    """Sum of the signed ranks (pairs, lanes) in samples of the inputs; copies of an input are tied."""
    n, lanes = total.shape
    below, here, balance = np.empty(lanes), np.empty(lanes), np.empty(lanes)
    for p in range(ranks.shape[0]):
        size = np.abs(ranks[p])
        order = np.argsort(size)
        out[p] = 0.0
        below[:] = 0.0
        at = 0
        while at < n and size[order[at]] == 0.0:
            at += 1
        while at < n:
            rank = size[order[at]]
            here[:] = 0.0
            balance[:] = 0.0
            while at < n and size[order[at]] == rank:
                i = order[at]
                sign = 1.0 if ranks[p, i] > 0.0 else -1.0
                for lane in range(lanes):
                    here[lane] += total[i, lane]
                    balance[lane] += sign * net[i, lane]
                at += 1
            for lane in range(lanes):
                out[p, lane] += balance[lane] * (below[lane] + (here[lane] + 1.0) / 2.0)
                below[lane] += here[lane]


@kernel
def count_wins(means, pairs, near, out):
    """Add to out[p] how often the first of a pair of systems has the higher mean, and how often the second."""
    for p in range(pairs.shape[0]):
        a, b = pairs[p, 0], pairs[p, 1]
        first, second = 0, 0
        for lane in range(means.shape[1]):
            first += means[a, lane] > means[b, lane] + near[p]
            second += means[b, lane] > means[a, lane] + near[p]
        out[p, 0] += first
        out[p, 1] += second
