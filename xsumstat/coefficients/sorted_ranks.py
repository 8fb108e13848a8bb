"""Rank coefficients of groups of any size by sorting, many resamples side by side: members drawn, or scores swapped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from xsumstat.coefficients import arrays
from xsumstat.core.types import Bits, BoolArray, FloatArray, IntArray
from xsumstat.kernels import correlation
from xsumstat.kernels import ranks as kernels

# Resamples side by side: fewer where there are many codes, to stay near the cache.
_MOST_LANES, _LEAST_LANES, _CELLS = 64, 16, 2**22

Small = npt.NDArray[np.int32]


class _Room(NamedTuple):
    tree: Small
    scratch: Small
    sums: FloatArray


@dataclass(frozen=True)
class Sorted:
    """Members of groups, sorted by x, then from the largest z down; missing ones last."""

    order: Small  # (groups, members), as `x` and `z`, dense ranks
    x: Small
    z: Small
    sizes: IntArray  # (groups,), members

    @classmethod
    def of(cls, x: IntArray, z: IntArray, there: BoolArray) -> Sorted:
        codes = int(z.max(initial=0)) + 1
        key = np.where(there, x * codes + (codes - 1 - z), np.iinfo(np.int64).max)
        order = np.argsort(key, axis=1)
        in_order = [np.take_along_axis(each, order, axis=1).astype(np.int32) for each in (x, z)]
        return cls(order.astype(np.int32), in_order[0], in_order[1], there.sum(axis=1))

    @classmethod
    def of_values(cls, x: FloatArray, z: FloatArray, there: BoolArray) -> Sorted:
        """From scores (members, groups), for a symmetric coefficient; z has fewer values."""
        many, few = (arrays.codes_of_groups(values, there)[1] for values in (x, z))
        if few.max(initial=0) > many.max(initial=0):
            many, few = few, many
        return cls.of(many, few, there.T)

    def groups(self, kind: int) -> tuple[FloatArray, FloatArray]:
        groups, members = self.order.shape
        places, once = np.tile(np.arange(members), (groups, 1)), np.ones(members, np.int64)
        there = (np.arange(members)[:, None] < self.sizes).astype(float)
        r, n = np.empty((2, groups))
        correlation.sorted_groups(kind, places, self.x, self.z, there, once, r, n)
        return r + 0.0, n  # no negative zero, as sums over groups have none

    def drawn(self, kind: int, w: IntArray, v: IntArray, undefined_as_zero: bool) -> FloatArray:
        """Average coefficient for each row of counts of members `w` and of groups `v`."""
        where = self.order, np.zeros_like(self.order)
        return self._drawn(kind, where, w, arrays.ones(1), v, undefined_as_zero)

    def drawn_cells(self, kind: int, systems: IntArray, inputs: IntArray) -> FloatArray:
        """The coefficient of all cells for each row of counts of systems and of inputs."""
        i, j = np.divmod(self.order, np.int32(inputs.shape[1]))
        return self._drawn(kind, (i, j), systems, inputs, arrays.ones(1), False)

    def _drawn(
        self, kind: int, where: tuple[Small, Small], w: IntArray, v: IntArray, groups: IntArray, undefined_as_zero: bool
    ) -> FloatArray:
        """Average coefficient where a member has weight w·v, and a group `groups`."""
        out, (r, n) = np.empty(max(len(w), len(v), len(groups))), np.empty((2, len(self.sizes)))
        lanes = min(len(out), self._most_lanes)
        room = self._room(lanes)
        for start in range(0, len(out), lanes):
            if start == 0 or len(w) > 1 or len(v) > 1:
                self._count(kind, False, where, _columns(w, start, lanes), _columns(v, start, lanes), room)
            kernels.sorted_averages(kind, False, room.sums, 0, lanes, groups, start, undefined_as_zero, r, n, out)
        return out

    def swapped(self, kind: int, coins: IntArray, bits: Bits, undefined_as_zero: bool) -> FloatArray:
        """Difference of the average coefficients of X' and Y' for each row of sign bits; x is half of the members."""
        of_x = self.order < self.order.shape[1] // 2
        where = (coins >> 3).astype(np.int32), (coins & 7 | 8 * of_x).astype(np.int32)
        rows, groups, no_counts = bits.reshape(len(bits), -1), arrays.ones(len(self.sizes)), np.ones((1, 1), np.int32)
        new_x, new_y, (r, n) = np.empty(len(rows)), np.empty(len(rows)), np.empty((2, len(self.sizes)))
        lanes = min(len(rows), self._most_lanes // 2)
        room = self._room(2 * lanes)
        for start in range(0, len(rows), lanes):
            w = _columns(rows, start, lanes)
            self._count(kind, True, where, np.hstack([w, ~w]), no_counts, room)
            for first, out in ((0, new_x), (lanes, new_y)):
                at = first, first + lanes, groups, start
                kernels.sorted_averages(kind, True, room.sums, *at, undefined_as_zero, r, n, out)
        return new_x - new_y

    @property
    def _most_lanes(self) -> int:
        size: int = max(int(self.z.max(initial=0)) + 1, self.order.shape[1] // 4)
        return max(_LEAST_LANES, min(_MOST_LANES, _CELLS // size))

    def _room(self, lanes: int) -> _Room:
        tree = np.empty((int(self.z.max(initial=0)) + 2, lanes), np.int32)
        scratch = np.empty((kernels.SCRATCH, lanes), np.int32)
        return _Room(tree, scratch, np.empty((len(self.sizes), kernels.SUMS, lanes)))

    def _count(self, kind: int, coins: bool, where: tuple[Small, Small], w: Small, v: Small, room: _Room) -> None:
        """Fill the sums; `where` has the i and the j of all members."""
        room.sums.fill(0.0)
        count = kernels.spearman_sums if kind == correlation.SPEARMAN else kernels.kendall_sums
        count(coins, *where, self.x, self.z, self.sizes, w, v, *room)


def _columns(counts: npt.NDArray[Any], start: int, lanes: int) -> Small:
    rows = np.minimum(np.arange(start, start + lanes), len(counts) - 1)
    return np.ascontiguousarray(counts[rows].T, np.int32)
