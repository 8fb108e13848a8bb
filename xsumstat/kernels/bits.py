"""Kernels for groups of many members: for each member one bit for each other, whether that one is lower.

`order` lists the members of a group by their dense ranks `codes`; missing members come last and are not listed.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import intrinsic

from xsumstat.kernels.jit import kernel


@intrinsic
def popcount(typing_context, word):
    """How many bits of a word are 1."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@kernel
def lower_members(order, codes, size, bits):
    """Set in row a of `bits` (members, words) those of members with a smaller code; `size` of `order` are there."""
    words = bits.shape[1]
    below = np.zeros(words, np.uint64)
    start = 0
    while start < size:
        stop = start
        while stop < size and codes[order[stop]] == codes[order[start]]:
            a = order[stop]
            for w in range(words):
                bits[a, w] = below[w]
            stop += 1
        for k in range(start, stop):
            a = order[k]
            below[a >> 6] |= np.uint64(1) << np.uint64(a & 63)
        start = stop


@kernel
def count_alike(lower_x, lower_z, there, out):
    """Pairs of members that are there: ordered alike by both, untied in x, untied in z."""
    alike, untied_x, untied_z = np.int64(0), np.int64(0), np.int64(0)
    words = there.shape[0]
    for a in range(lower_x.shape[0]):
        if not (there[a >> 6] >> np.uint64(a & 63)) & np.uint64(1):
            continue
        for w in range(words):
            x, z = lower_x[a, w] & there[w], lower_z[a, w] & there[w]
            alike += np.int64(popcount(x & z))
            untied_x += np.int64(popcount(x))
            untied_z += np.int64(popcount(z))
    out[0], out[1], out[2] = alike, untied_x, untied_z
