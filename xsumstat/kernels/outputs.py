"""Kernels for pairs of outputs of one input: do two metrics order them alike, and is one better by all metrics."""

from __future__ import annotations

from xsumstat.kernels.jit import kernel


@kernel
def place(value, bins):
    """Bin of a value in [0, 1]; 1 falls in the last bin, a value below an edge by rounding in the bin above."""
    at = int(value * bins + 1e-9)
    return min(max(at, 0), bins - 1)


@kernel
def count_opposite(x, z, height, bins, opposite, pairs):
    """Add all pairs of outputs, and those ordered oppositely, by the bin of their mean `height` in [0, 1]."""
    for a in range(x.shape[0]):
        for b in range(a):
            at = place((height[a] + height[b]) / 2.0, bins)
            pairs[at] += 1
            opposite[at] += ((x[a] > x[b]) & (z[a] < z[b])) | ((x[a] < x[b]) & (z[a] > z[b]))


@kernel
def count_opposite_drawn(x, z, height, drawn, bins, opposite, pairs):
    """The same for drawn pairs of outputs, (pairs, 2)."""
    for p in range(drawn.shape[0]):
        a, b = drawn[p, 0], drawn[p, 1]
        at = place((height[a] + height[b]) / 2.0, bins)
        pairs[at] += 1
        opposite[at] += ((x[a] > x[b]) & (z[a] < z[b])) | ((x[a] < x[b]) & (z[a] > z[b]))


@kernel
def improvements(x, chosen, any_better, all_better):
    """For each chosen output, how many others are better by some metric, and by all; x is (outputs, metrics)."""
    outputs, metrics = x.shape
    for c in range(chosen.shape[0]):
        s = chosen[c]
        some, every = 0, 0
        for a in range(outputs):
            better = 0
            for m in range(metrics):
                better += x[a, m] > x[s, m]
            some += better > 0
            every += better == metrics
        any_better[c] = some
        all_better[c] = every
