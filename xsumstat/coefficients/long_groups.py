"""Kendall's coefficients of many pairs of metrics by groups of many members, which share what is made of each metric.

Of each metric and group every member has a bit for each other one, 1 where that is lower; how many pairs two metrics
order alike is then counted 64 at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from xsumstat.coefficients import arrays
from xsumstat.coefficients.record import Measure
from xsumstat.kernels import bits as bit_kernels
from xsumstat.kernels import correlation as kernels
from xsumstat.types import BoolArray, FloatArray, Pair

Words = npt.NDArray[np.uint64]
# Beyond so many members counting while sorting is faster.
_MOST_MEMBERS = 10_000


def suits(shape: tuple[int, int], measure: Measure) -> bool:
    """Whether scores (systems, inputs) fall into groups of so many members."""
    if measure.level not in ("input", "within_system"):
        return False
    members, groups = shape if measure.level == "input" else shape[::-1]
    return members <= _MOST_MEMBERS and not arrays.by_pairs(members, groups)


def of_pairs(
    x: Sequence[FloatArray], pairs: Sequence[Pair], measure: Measure, best: Mapping[int, BoolArray], *, kind: int
) -> tuple[FloatArray, FloatArray]:
    """The coefficient of each pair of metrics in each group, and how many members it has there, (pairs, groups).

    A pair is compared on the cells that both have and, where there are `best` ones, that are among the best of one.
    """
    used = sorted({metric for pair in pairs for metric in pair})
    turned = measure.level == "within_system"
    groups = x[used[0]].shape[0 if turned else 1]
    r, n = np.empty((2, len(pairs), groups))
    counts = np.empty(3, np.int64)
    for j in range(groups):
        at = (j, slice(None)) if turned else (slice(None), j)
        ready = {metric: _Bits.of(x[metric][at], best[metric][at] if best else None) for metric in used}
        for p, (one, other) in enumerate(pairs):
            r[p, j], n[p, j] = _of_group(ready[one], ready[other], kind, counts)
    return r + 0.0, n


@dataclass(frozen=True)
class _Bits:
    """One metric in one group.

    Attributes
    ----------
    there, best : array of words
        A bit for each member: whether it has a score, and whether that is among the best.
    lower, higher : array of words, (members, words)
        Whose score is lower, and whose is higher; `higher` is None where no two are equal.
    """

    there: Words
    best: Words
    lower: Words
    higher: Words | None

    @classmethod
    def of(cls, values: FloatArray, best: BoolArray | None) -> _Bits:
        there = ~np.isnan(values)
        size = int(there.sum())
        order = np.argsort(values)  # NaN come last
        ordered = values[order]
        steps = np.zeros(len(values), dtype=np.int64)
        steps[1:size] = ordered[1:size] > ordered[: max(size - 1, 0)]
        codes = np.empty_like(steps)
        codes[order] = np.cumsum(steps)
        words = _words(there)
        lower = np.zeros((len(values), len(words)), np.uint64)
        bit_kernels.lower_members(order, codes, size, lower)
        higher = None
        if size and steps.sum() < size - 1:
            higher = np.zeros_like(lower)
            bit_kernels.lower_members(np.ascontiguousarray(order[:size][::-1]), codes, size, higher)
        return cls(words, words if best is None else _words(best), lower, higher)


def _words(condition: BoolArray) -> Words:
    """A bit for each member, 64 to the word."""
    packed = np.packbits(condition, bitorder="little")
    return np.pad(packed, (0, -len(packed) % 8)).view("<u8").astype(np.uint64, copy=False)


def _of_group(one: _Bits, other: _Bits, kind: int, counts: npt.NDArray[np.int64]) -> tuple[float, int]:
    """The coefficient of two metrics in a group, and the number of members."""
    there = one.there & other.there & (one.best | other.best)
    n = int(np.bitwise_count(there).sum())
    bit_kernels.count_alike(one.lower, other.lower, there, counts)
    alike, untied_one, untied_other = counts.tolist()
    if kind == kernels.ACCURACY:
        numerator = alike
    elif other.higher is None:
        numerator = 2 * alike - untied_one
    elif one.higher is None:
        numerator = 2 * alike - untied_other
    else:
        bit_kernels.count_alike(one.lower, other.higher, there, counts)
        numerator = alike - int(counts[0])
    return kernels.rank_value(kind, float(numerator), float(untied_one), float(untied_other), float(n), 0.0), n
