"""Which of two outputs is better: accuracy with ties and its threshold, and WMT's Kendall-like tau."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from xsumstat.coefficients import arrays, correlations
from xsumstat.coefficients.cell_ties import CellTies
from xsumstat.coefficients.record import Coefficient, Estimator, Measure, OfManyGroups
from xsumstat.core import levels
from xsumstat.core.types import BoolArray, FloatArray, IntArray
from xsumstat.kernels import correlation as kernels
from xsumstat.kernels import means as mean_kernels
from xsumstat.kernels import ties as tie_kernels

# Pairs of outputs that are sorted at once, about 40 bytes each.
MOST_PAIRS = 2**25
# Pairs that are looked at together.
_PAIRS_AT_ONCE = 2**20
# Pairs that are counted and not listed: those of 131,000 cells.
MOST_COUNTED = 2**33
# Members of a group, and pairs of cells, from which counting is faster than listing.
_COUNTED_MEMBERS, _COUNTED_PAIRS = 64, 2**15


@dataclass(frozen=True)
class Members:
    """The outputs compared within each group, (members, groups), NaN where missing; at system level means."""

    x: FloatArray
    z: FloatArray
    near_x: FloatArray
    near_z: FloatArray

    @classmethod
    def of(cls, x: FloatArray, z: FloatArray, level: str, own_cells: bool = False) -> Members:
        if level == "system":
            there = arrays.counted(x, z, own_cells)
            sides = [_means_as_members(each, cells) for each, cells in zip((x, z), there, strict=True)]
            return cls(*(side[0] for side in sides), *(side[1] for side in sides))
        both = arrays.present(x, z)
        x, z = np.where(both, x, np.nan), np.where(both, z, np.nan)
        if level == "global":
            x, z = x.reshape(-1, 1), z.reshape(-1, 1)
        elif level == "within_system":
            x, z = x.T, z.T
        return cls(x, z, arrays.RAW * np.abs(x), arrays.RAW * np.abs(z))

    @property
    def present(self) -> BoolArray:
        return arrays.present(self.x, self.z)

    @property
    def pairs(self) -> FloatArray:
        n = self.present.sum(axis=0).astype(float)
        return np.asarray(n * (n - 1) / 2)

    def parts(self) -> Iterator[tuple[IntArray, IntArray, slice]]:
        """All pairs, first and second members, a few groups (or one large one) at a time."""
        first, second = np.triu_indices(len(self.x), 1)
        step = max(1, _PAIRS_AT_ONCE // max(1, len(first)))
        for start in range(0, self.x.shape[1], step):
            yield first, second, slice(start, start + step)


def _means_as_members(values: FloatArray, cells: BoolArray) -> tuple[FloatArray, FloatArray]:
    mean, count, scale = arrays.equal_means(values, cells)
    mean = np.where(count > 0, mean, np.nan)
    return mean[:, None], (mean_kernels.TIE * np.maximum(scale, np.abs(mean)))[:, None]


@dataclass(frozen=True)
class WithTies(OfManyGroups):
    """Accuracy with ties by groups, or over all cells (cells as members), by the pairs that a threshold changes."""

    first: IntArray
    second: IntArray
    group: IntArray
    gain: IntArray  # of a tie
    gaps: FloatArray  # ascending
    ends: BoolArray  # last of each difference
    codes: IntArray  # (groups, members), dense ranks of the gold, −1 missing
    requested: float  # NaN where the threshold is calibrated
    stop: int  # pairs tied by the threshold in use
    shape: tuple[int, int]
    level: str
    undefined_as_zero: bool

    @classmethod
    def of(
        cls, members: Members, threshold: float, shape: tuple[int, int], level: str, undefined_as_zero: bool
    ) -> WithTies:
        rounding = arrays.RAW if level != "system" else mean_kernels.TIE
        found = [changed(members.x, members.x, members.z, rounding, *part) for part in members.parts()]
        first, second, group, gain, gaps, near = (np.concatenate(each) for each in zip(*found, strict=True))
        order, ends = arrays.sorted_gaps(gaps, near)
        codes = arrays.dense_codes(np.ascontiguousarray(np.where(members.present, members.z, np.nan).T))[1]
        codes[~members.present.T] = -1
        first, second, group, gain, gaps = (each[order] for each in (first, second, group, gain, gaps))
        if math.isnan(threshold):
            stop = tie_kernels.best_gain(gain / divisors(members, undefined_as_zero)[group], ends)[0]
        else:
            stop = int((gaps - near[order] <= threshold).sum()) if threshold > 0 else 0
        return cls(first, second, group, gain, gaps, ends, codes, threshold, stop, shape, level, undefined_as_zero)

    @property
    def threshold(self) -> float:
        if not math.isnan(self.requested):
            return self.requested
        return float(self.gaps[self.stop - 1]) if self.stop else 0.0

    @property
    def cost(self) -> float:
        return 2.0 * len(self.gain) + 2.0 * self.codes.size

    def groups(self) -> tuple[FloatArray, FloatArray]:
        n = (self.codes >= 0).sum(axis=1).astype(float)
        tied = np.array([_tied(codes) for codes in self.codes])
        gained = np.bincount(self.group, weights=self.gain, minlength=len(n))
        kept = np.bincount(self.group[: self.stop], weights=self.gain[: self.stop], minlength=len(n))
        pairs = n * (n - 1) / 2
        return np.where(pairs > 0, (tied - gained + kept) / np.maximum(pairs, 1.0), np.nan), n

    def bootstrap(self, systems: IntArray, inputs: IntArray) -> FloatArray:
        out = np.empty(max(len(systems), len(inputs)))
        stop = -1 if math.isnan(self.requested) else self.stop
        if self.level == "global":
            present = self.codes[0] >= 0
            pairs = (self.first, self.second, self.gain, self.ends)
            tie_kernels.accuracy_of_cells(*pairs, self.codes, stop, present, systems, inputs, out)
            return out
        w, v = levels.members_first(self.level, systems, inputs)
        pairs_of = (self.first, self.second, self.group, self.gain, self.ends)
        tie_kernels.accuracy_with_ties(*pairs_of, self.codes, stop, w, v, self.undefined_as_zero, out)
        return out


@dataclass(frozen=True)
class Counted(OfManyGroups):
    """The same for large groups (`each`), whose pairs are counted, and listed only for resamples."""

    each: tuple[CellTies, ...]
    members: Members
    requested: float
    shape: tuple[int, int]
    level: str
    undefined_as_zero: bool
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @classmethod
    def of(
        cls, members: Members, threshold: float, shape: tuple[int, int], level: str, undefined_as_zero: bool
    ) -> Counted:
        """As `WithTies.of`; a calibrated threshold needs one group."""
        columns = zip(members.x.T, members.z.T, strict=True)
        each = tuple(CellTies.of(x, z, threshold) for x, z in columns)
        return cls(each, members, threshold, shape, level, undefined_as_zero)

    @property
    def threshold(self) -> float:
        return self.each[0].threshold if math.isnan(self.requested) else self.requested

    @property
    def cost(self) -> float:
        return 2.0 * float(self.members.pairs.sum()) + 2.0 * self.members.x.size

    def groups(self) -> tuple[FloatArray, FloatArray]:
        values, n = zip(*(each.groups() for each in self.each), strict=True)
        return np.concatenate(values), np.concatenate(n)

    def bootstrap(self, systems: IntArray, inputs: IntArray) -> FloatArray:
        with self._lock:  # threads wait for one list, and make no others
            listed = self._listed
        return listed.bootstrap(systems, inputs)

    @cached_property
    def _listed(self) -> WithTies:
        return WithTies.of(self.members, self.requested, self.shape, self.level, self.undefined_as_zero)


def divisors(members: Members, undefined_as_zero: bool) -> FloatArray:
    """What a group's number of pairs is divided by in the average of all groups."""
    counted = members.present.any(axis=0) if undefined_as_zero else members.pairs > 0
    return np.asarray(np.maximum(members.pairs, 1.0) * max(1, int(counted.sum())))


def n_pairs(shape: tuple[int, int], level: str) -> float:
    members, groups = levels.sizes(level, shape)
    return members * (members - 1) / 2 * groups


def check_number(shape: tuple[int, int], level: str, coefficient: Coefficient, most: float = MOST_PAIRS) -> None:
    total = n_pairs(shape, level)
    if total > most:
        given = "give a threshold, " if coefficient.calibrated and level == "global" else ""
        given += "use level='input', or " if level == "global" else "use "
        raise ValueError(
            f"coefficient={coefficient.name!r} at level={level!r} looks at all pairs of outputs: {total:.3g} here, and "
            f"at most {most:.3g} can be; {given}fewer inputs"
        )


def _tied(codes: IntArray) -> float:
    sizes = np.bincount(codes[codes >= 0])
    return float((sizes * (sizes - 1) // 2).sum())


def changed(
    u: FloatArray, v: FloatArray, z: FloatArray, rounding: float, first: IntArray, second: IntArray, groups: slice
) -> tuple[npt.NDArray[Any], ...]:
    """Pairs that a tie in the metric changes: first, second, group, gain, difference, and bound of its rounding."""
    u, v, z = u[:, groups], v[:, groups], z[:, groups]
    gap = u[first] - v[second]
    product = np.sign(gap) * np.sign(z[first] - z[second])
    gain = np.where(product == 0, 1, np.where(product > 0, -1, 0))
    at = np.nonzero((gap != 0) & ~np.isnan(product) & (gain != 0))
    return (
        first[at[0]].astype(np.int32),
        second[at[0]].astype(np.int32),
        (at[1] + groups.start).astype(np.int32),
        gain[at].astype(np.int8),
        np.abs(gap[at]),
        rounding * np.maximum(np.abs(u[first[at[0]], at[1]]), np.abs(v[second[at[0]], at[1]])),
    )


@dataclass(frozen=True)
class LikeWMT:
    """(C − D)/(C + D) over the pairs of all groups whose gold differs by a threshold."""

    threshold: float
    first: IntArray
    second: IntArray
    group: IntArray
    sign: IntArray
    n_groups: int
    shape: tuple[int, int]
    level: str

    @classmethod
    def of(cls, members: Members, threshold: float, shape: tuple[int, int], level: str) -> LikeWMT:
        found = [_set_apart(members, threshold, *part) for part in members.parts()]
        first, second, group, sign = (np.concatenate(each) for each in zip(*found, strict=True))
        return cls(threshold, first, second, group, sign, members.x.shape[1], shape, level)

    @property
    def cost(self) -> float:
        return 2.0 * len(self.sign) + 100.0

    @cached_property
    def _counts(self) -> tuple[FloatArray, FloatArray]:
        net: FloatArray = np.bincount(self.group, weights=self.sign, minlength=self.n_groups).astype(float)
        return net, np.bincount(self.group, minlength=self.n_groups).astype(float)

    def groups(self) -> tuple[FloatArray, FloatArray]:
        net, pairs = self._counts
        return np.where(pairs > 0, net / np.maximum(pairs, 1.0), np.nan), pairs

    def value(self) -> float:
        net, pairs = self._counts
        return float(net.sum() / pairs.sum()) if pairs.sum() > 0 else math.nan

    def bootstrap(self, systems: IntArray, inputs: IntArray) -> FloatArray:
        out = np.empty(max(len(systems), len(inputs)))
        if self.level == "global":
            tie_kernels.pooled_cells(self.first, self.second, self.sign, inputs.shape[1], systems, inputs, out)
            return out
        w, v = levels.members_first(self.level, systems, inputs)
        tie_kernels.pooled_pairs(self.first, self.second, self.group, self.sign, w, v, out)
        return out


def _gaps(
    members: Members, threshold: float, first: IntArray, second: IntArray, groups: slice
) -> tuple[FloatArray, BoolArray]:
    """Differences of pairs in the gold, and which are large enough to count."""
    z, near = members.z[:, groups], members.near_z[:, groups]
    gap = z[first] - z[second]
    return gap, (gap != 0) & (np.abs(gap) >= threshold - np.maximum(near[first], near[second]))


def n_set_apart(members: Members, threshold: float, first: IntArray, second: IntArray, groups: slice) -> FloatArray:
    return np.asarray(_gaps(members, threshold, first, second, groups)[1].sum(axis=0), dtype=float)


def _set_apart(
    members: Members, threshold: float, first: IntArray, second: IntArray, groups: slice
) -> tuple[npt.NDArray[Any], ...]:
    """The counted pairs: first, second, group, and 1 where the metric agrees, else −1."""
    x = members.x[:, groups]
    gap, apart = _gaps(members, threshold, first, second, groups)
    at = np.nonzero(apart)
    agrees = np.sign(x[first[at[0]], at[1]] - x[second[at[0]], at[1]]) == np.sign(gap[at])
    return (
        first[at[0]].astype(np.int32),
        second[at[0]].astype(np.int32),
        (at[1] + groups.start).astype(np.int32),
        np.where(agrees, 1, -1).astype(np.int8),
    )


def accuracy_with_ties(x: FloatArray, z: FloatArray, measure: Measure) -> Estimator:
    if measure.level == "system":
        return correlations.of_means(x, z, measure, kind=kernels.ACC_EQ)
    return _at_threshold(x, z, measure)


def _at_threshold(x: FloatArray, z: FloatArray, measure: Measure) -> WithTies | Counted | CellTies:
    threshold = measure.coefficient.rescaled(x, z).threshold
    return decided(arrays.scaled(x), arrays.scaled(z), measure.at(threshold))


def decided(x: FloatArray, z: FloatArray, measure: Measure) -> WithTies | Counted | CellTies:
    """Accuracy with ties at any level, for scores and threshold already in range."""
    threshold, shape = measure.coefficient.threshold, (x.shape[0], x.shape[1])
    if measure.level == "global" and (not math.isnan(threshold) or n_pairs(shape, "global") > MOST_PAIRS):
        if math.isnan(threshold):
            check_number(shape, "global", measure.coefficient, MOST_COUNTED)
        return CellTies.of(x, z, threshold)
    members, shape = _members(x, z, measure)
    kind = Counted if _is_large(members, measure.level, math.isnan(threshold)) else WithTies
    return kind.of(members, threshold, shape, measure.level, measure.undefined_as_zero)


def _is_large(members: Members, level: str, calibrated: bool) -> bool:
    """Whether counting pairs is faster and possible: calibration over several groups needs a list of pairs."""
    size, groups = members.x.shape
    if level == "system" or not groups:
        return False
    return size * size > 2 * _COUNTED_PAIRS and level == "global" if calibrated else size >= _COUNTED_MEMBERS


def like_wmt(x: FloatArray, z: FloatArray, measure: Measure) -> Estimator:
    if measure.level == "system":
        return correlations.of_means(x, z, measure, kind=kernels.KENDALL_LIKE)
    threshold = measure.coefficient.rescaled(x, z).threshold
    members, shape = _members(arrays.scaled(x), arrays.scaled(z), measure)
    return LikeWMT.of(members, threshold, shape, measure.level)


def _members(x: FloatArray, z: FloatArray, measure: Measure) -> tuple[Members, tuple[int, int]]:
    shape = (x.shape[0], x.shape[1])
    check_number(shape, measure.level, measure.coefficient)
    return Members.of(x, z, measure.level, measure.own_cells), shape


def calibrate(ready: Estimator, x: FloatArray, z: FloatArray, measure: Measure) -> float:
    """The given threshold, or the one where accuracy with ties (`ready`) is best, in units of the scores."""
    given = measure.coefficient.threshold
    if not isinstance(ready, WithTies | Counted | CellTies) and not math.isnan(given):
        return given
    found = ready if isinstance(ready, WithTies | Counted | CellTies) else _at_threshold(x, z, measure)
    return arrays.shifted(found.threshold, arrays.exponent(x))


def right(members: Members, threshold: float) -> npt.NDArray[np.int8]:
    """Which pairs a metric decides as the gold does, including ties, (groups · pairs,)."""
    first, second = np.triu_indices(len(members.x), 1)
    out = np.zeros((members.x.shape[1], len(first)), dtype=np.int8)
    for _, _, groups in members.parts():
        x, z, near = members.x[:, groups], members.z[:, groups], members.near_x[:, groups]
        gap = x[first] - x[second]
        side = np.sign(gap)
        if threshold > 0:
            side[np.abs(gap) - np.maximum(near[first], near[second]) <= threshold] = 0
        out[groups] = (side == np.sign(z[first] - z[second])).T
    return out.ravel()
