"""Accuracy with ties over all outputs as one group: pairs are counted in the order of the scores, not listed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from xsumstat.coefficients import arrays
from xsumstat.coefficients.record import OfOneGroup
from xsumstat.core.types import BoolArray, FloatArray, IntArray
from xsumstat.kernels import cell_ties as kernels

# Number of edges between which differences are counted, and of sampled pairs that place the edges.
EDGES, _SAMPLE = 512, 2**16
# An edge lies a little above a difference, so that none is equal to it.
_ABOVE = 1 + 2.0**-30
# So many pairs are sorted at a time.
_LISTED = 2**22


@dataclass(frozen=True)
class CellTies(OfOneGroup):
    """Accuracy with ties of all cells; cells with equal scores are one kind."""

    x: FloatArray  # (kinds,), the metric's scores, ascending
    z: IntArray  # (kinds,), dense ranks of the gold
    kinds: IntArray  # (cells,), the kind of each cell, −1 where missing
    first: IntArray  # (kinds,), the first kind tied with each
    equal: IntArray  # (kinds,), the first kind with an equal score
    requested: float  # NaN where the threshold is calibrated
    threshold: float

    @classmethod
    def of(cls, x: FloatArray, z: FloatArray, threshold: float) -> CellTies:
        """From scores (systems, inputs); a NaN threshold is calibrated on all differences."""
        there = arrays.present(x, z).ravel()
        own, codes = x.ravel()[there], np.unique(z.ravel()[there], return_inverse=True)[1]
        order = np.lexsort((codes, own))
        own, codes = own[order], codes[order]
        new = np.ones(len(own), dtype=bool)
        new[1:] = (own[1:] != own[:-1]) | (codes[1:] != codes[:-1])
        kinds = np.full(there.size, -1)
        kinds[np.flatnonzero(there)[order]] = np.cumsum(new) - 1
        own, codes = own[new] + 0.0, codes[new]
        equal, first = (np.empty(len(own), dtype=np.int64) for _ in range(2))
        kernels.first_tied(own, 0.0, arrays.RAW, equal)
        found = threshold
        if math.isnan(threshold):
            found = _best(own, codes, equal, np.bincount(kinds[kinds >= 0], minlength=len(own)))
        kernels.first_tied(own, found, arrays.RAW, first)
        return cls(own, codes, kinds, first, equal, threshold, found)

    @property
    def cost(self) -> float:
        return len(self.x) * (100.0 + (2.0 * EDGES if math.isnan(self.requested) else 0.0))

    @cached_property
    def _sizes(self) -> _Sizes:
        """What calibrates the threshold in each resample; the one found here is among the candidates."""
        return _Sizes.of(self.x, self.z, self.equal, np.append(_edges(self.x), self.threshold * _ABOVE))

    def groups(self) -> tuple[FloatArray, FloatArray]:
        counts = np.bincount(self.kinds[self.kinds >= 0], minlength=len(self.x))
        right, n = self._right(self.first, counts)
        return np.array([_share(right, n)]), np.array([float(n)])

    def bootstrap(self, systems: IntArray, inputs: IntArray) -> FloatArray:
        """The statistic for each row of counts; a calibrated threshold is the best edge of each."""
        out = np.empty(max(len(systems), len(inputs)))
        counts = np.empty(len(self.x), dtype=np.int64)
        for s in range(len(out)):
            drawn = systems[s if len(systems) > 1 else 0], inputs[s if len(inputs) > 1 else 0]
            kernels.drawn_kinds(self.kinds, *drawn, counts)
            if not math.isnan(self.requested):
                out[s] = _share(*self._right(self.first, counts))
                continue
            right, n = self._right(self.equal, counts)
            gained, lost = self._sizes.gains(counts)
            out[s] = _share(right + max(0, int(np.cumsum(gained - lost).max())), n)
        return out

    def _right(self, first: IntArray, counts: IntArray) -> tuple[int, int]:
        ranks = int(self.z.max(initial=-1)) + 1
        scratch = np.empty(ranks + 1, dtype=np.int64), np.empty(ranks, dtype=np.int64)
        right, n = kernels.right_decisions(self.z, first, counts, *scratch)
        return int(right), int(n)


def _share(right: int, n: int) -> float:
    return right / (n * (n - 1) // 2) if n > 1 else math.nan


@dataclass(frozen=True)
class _Sizes:
    """Pairs of kinds by their difference, between ascending edges; other fields as in `CellTies`."""

    edges: FloatArray
    z: IntArray
    order: IntArray
    equal: IntArray
    places: npt.NDArray[np.int32]

    @classmethod
    def of(cls, x: FloatArray, z: IntArray, equal: IntArray, edges: FloatArray) -> _Sizes:
        edges = np.unique(edges)
        places = np.empty((len(x), len(edges)), dtype=np.int32)
        kernels.first_within(x, edges, places)
        return cls(edges, z, np.argsort(z, kind="stable"), equal, places)

    def gains(self, counts: IntArray) -> IntArray:
        """Drawn pairs of kinds tied in the gold, and ordered alike, (2, edges)."""
        out = np.empty((2, len(self.edges)), dtype=np.int64)
        scratch = np.empty(len(self.z) + 1, dtype=np.int64), np.empty(len(self.z) + 1, dtype=np.int64)
        kernels.gains_by_size(self.z, self.order, counts, self.equal, self.places, *scratch, out)
        return out

    def numbers(self) -> IntArray:
        below = (self.equal[:, None] - self.places).sum(axis=0, dtype=np.int64)
        return np.asarray(np.diff(below, prepend=0))


def _edges(x: FloatArray) -> FloatArray:
    """Edges between which about equally many differences fall, for ascending scores; the last is infinite."""
    if not len(x):
        return np.array([np.inf])
    first, second = np.random.default_rng(0).integers(0, len(x), (2, _SAMPLE))
    gaps = np.abs(x[first] - x[second])
    gaps = np.sort(gaps[gaps > 0])
    places = np.linspace(0, len(gaps), EDGES, endpoint=False).astype(int)[1:]
    return np.append(np.unique(gaps[np.unique(places)] if len(gaps) else gaps) * _ABOVE, np.inf)


def _best(x: FloatArray, z: IntArray, equal: IntArray, counts: IntArray) -> float:
    """Smallest difference that, as a threshold, makes most pairs right; 0 where none gains."""
    # Pairs are sorted only between edges where the best one can be, by an upper bound of the gain there. The total at
    # an edge counts as reached at first; it is not where the edge splits differences equal up to rounding, and then the
    # bound drops.
    sizes = _Sizes.of(x, z, equal, _edges(x))
    gained, lost = sizes.gains(counts)
    totals = np.cumsum(gained - lost)
    before, numbers = totals - (gained - lost), sizes.numbers()
    least = max(1, int(totals.max()))
    while True:
        best, found = 0, 0.0
        for low, high in _runs(np.flatnonzero((before + gained >= least) & (gained > 0)), numbers):
            gaps, gain, ends = _sorted_pairs(sizes, x, counts, low, high)
            here = np.where(ends, before[low] + np.cumsum(gain), -1)
            at = int(np.argmax(here))
            if here[at] > best:
                best, found = int(here[at]), float(gaps[at])
        if best >= least or least == 1:
            return found
        least = max(1, best)


def _sorted_pairs(
    sizes: _Sizes, x: FloatArray, counts: IntArray, low: int, high: int
) -> tuple[FloatArray, IntArray, BoolArray]:
    """Pairs between some edges by difference: the difference, the gain of a tie, and the last of equal ones."""
    start, stop = float(sizes.edges[low - 1]) if low else 0.0, float(sizes.edges[high])
    beyond = stop + 4 * arrays.RAW * float(np.abs(x).max())
    places = np.empty((len(x), 2), dtype=np.int32)
    kernels.first_within(x, np.array([start, beyond]), places)
    room = int((places[:, 0] - places[:, 1]).sum(dtype=np.int64))
    gaps, largest, gain = np.empty(room), np.empty(room), np.empty(room, dtype=np.int64)
    n = kernels.pairs_of_sizes(x, sizes.z, counts, start, beyond, gaps, largest, gain)
    order, ends = arrays.sorted_gaps(gaps[:n], arrays.RAW * largest[:n])
    ordered = gaps[order]
    inside = int(np.searchsorted(ordered, stop, side="right"))
    return ordered[:inside], gain[order[:inside]], ends[:inside]


def _runs(places: IntArray, sizes: IntArray) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    size = 0
    for at in places.tolist():
        size += int(sizes[at])
        if runs and runs[-1][1] == at - 1 and size <= _LISTED:
            runs[-1] = (runs[-1][0], at)
        else:
            runs.append((at, at))
            size = int(sizes[at])
    return runs
