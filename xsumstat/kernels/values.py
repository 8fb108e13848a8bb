"""Sums over the members of groups of several numbers of each cell: drawn anew, or swapped between two metrics."""

# `cells` (numbers, members, groups) are 0 where a cell is missing. `w` counts members and `v` groups; `bits`, `layout`
# and `at` are those of `swaps`.

from __future__ import annotations

import numpy as np

from xsumstat.kernels.bootstrap import row
from xsumstat.kernels.correlation import average
from xsumstat.kernels.jit import kernel
from xsumstat.kernels.swaps import read_signs


@kernel
def drawn_sums(cells, w, out):
    """Sums of each group, (resamples, numbers, groups), for each row of counts of members."""
    numbers, members, groups = cells.shape
    out[:] = 0.0
    for s in range(out.shape[0]):
        for f in range(numbers):
            for a in range(members):
                times = w[s, a]
                if times:
                    for g in range(groups):
                        out[s, f, g] += times * cells[f, a, g]


@kernel
def drawn_totals(cells, w, v, out):
    """Sums of all cells, (resamples, numbers), for each row of counts of members and groups."""
    numbers, members, groups = cells.shape
    for s in range(out.shape[0]):
        of_members, of_groups = row(w, s), row(v, s)
        for f in range(numbers):
            total = 0.0
            for a in range(members):
                if of_members[a]:
                    part = 0.0
                    for g in range(groups):
                        part += of_groups[g] * cells[f, a, g]
                    total += of_members[a] * part
            out[s, f] = total


@kernel
def swapped_sums(x, y, bits, layout, at, out):
    """Sums of each group, (resamples, numbers, groups), of X' and then of Y', (2, ...), for each row of sign bits."""
    numbers, members, groups = x.shape
    cells, signs = np.empty((bits.shape[1], 8 * bits.shape[2])), np.empty((members, groups))
    out[:] = 0.0
    for s in range(out.shape[1]):
        read_signs(bits[s], layout, at, cells, signs)
        for f in range(numbers):
            for a in range(members):
                for g in range(groups):
                    here, there = x[f, a, g], y[f, a, g]
                    if signs[a, g] < 0.0:
                        here, there = there, here
                    out[0, s, f, g] += here
                    out[1, s, f, g] += there


@kernel
def averages(r, n, v, undefined_as_zero, out):
    """Average of the groups' values for each row of counts of groups; `r` and `n` may have one row."""
    for s in range(out.shape[0]):
        out[s] = average(row(r, s), row(n, s), row(v, s), undefined_as_zero)
