"""Two score matrices made ready for one level: how their cells fall into groups, and which kernel serves.

A `Comparison` gives the correlation in each group, and the level's statistic for any counts of systems
and inputs. Scores are (systems, inputs), NaN where a cell is missing. `dispatch.compare` makes one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from xsumstat import _kernels as kernels
from xsumstat import _kernels_bootstrap as loops
from xsumstat import _kernels_decisions as kernels_decisions
from xsumstat import _kernels_means as kernels_means
from xsumstat.coefficients import FloatArray

IntArray = npt.NDArray[np.int64]

# Two differences this close are one: rounding must not decide whether a resample is as extreme as the data.
TOLERANCE = 1e-12

# Coefficients of decisions, which of two outputs is better, that have a threshold.
DECISIONS = (kernels.ACC_EQ, kernels.KENDALL_LIKE)

# Signs of all pairs are kept for groups of few members; beyond these sizes sorting is faster.
_PAIR_MEMBERS = 32
_PAIR_CELLS = 2**21
# Rows of counts are padded with zeros to whole vector registers, so that loops over them have no rest.
_LANE_COLUMNS = 64
# Labels that are left out in turn, at a time.
_AT_ONCE = 1024


class Comparison(Protocol):
    """The correlation of one score matrix with another at one level."""

    def groups(self) -> tuple[FloatArray, FloatArray]:
        """Correlation of each group, NaN where undefined, and how many cells the group has."""
        ...

    def value(self) -> float:
        """The statistic: the average of the groups' correlations."""
        ...

    def bootstrap(self, systems: IntArray, inputs: IntArray, /) -> FloatArray:
        """The statistic for each row of counts; a dim that is not resampled has one row of ones."""
        ...

    @property
    def cost(self) -> float:
        """Nanoseconds that a resample takes, about."""
        ...


def correlated(
    x: FloatArray, z: FloatArray, kind: int, level: str, missing: str, zero: bool, threshold: float = math.nan
) -> Comparison:
    """One of our own coefficients of scaled `x` and `z`, by the kernel that serves its level."""
    if level == "system":
        return _System(kind, threshold, Means.of(x, z, missing))
    if level == "global":
        return _Global.of(x, z, kind)
    across = level == "within_system"
    grouped = (x.T, z.T) if across else (x, z)
    return _Grouped.of(*grouped, kind, zero, across)


def check_finite(*scores: FloatArray) -> None:
    """Scores that are no infinities; those that are lazy cannot be looked at earlier."""
    if any(np.isinf(each).any() for each in scores):
        raise ValueError("scores hold infinite values; a missing score is NaN")


def footprint(shape: tuple[int, int], level: str) -> int:
    """About how many bytes the arrays of one statistic take."""
    systems, inputs = shape
    members = {"input": systems, "within_system": inputs}.get(level, 1)
    return systems * inputs * max(48, 4 * members)


def leave_one_out(comparison: Comparison, shape: tuple[int, int], dims: tuple[str, ...]) -> list[FloatArray]:
    """The statistic without each label in turn, an array for each of the dims."""
    systems, inputs = (ones(size) for size in shape)
    found = []
    if "system" in dims or "cell" in dims:
        found.append(np.concatenate([comparison.bootstrap(each, inputs) for each in _without_one(shape[0])]))
    if "input" in dims:
        found.append(np.concatenate([comparison.bootstrap(systems, each) for each in _without_one(shape[1])]))
    return found


def _without_one(size: int) -> Iterator[IntArray]:
    """Counts that leave out each label in turn, some at a time."""
    for start in range(0, size, _AT_ONCE):
        rows = np.arange(start, min(start + _AT_ONCE, size))
        yield (np.arange(size) != rows[:, None]).astype(np.int64)


def counts_as_zero(undefined: str, level: str) -> bool:
    """Whether an undefined group counts as 0; a level that is one group has none to spare."""
    return undefined == "zero" and level in ("input", "within_system")


def exponent(values: FloatArray) -> int:
    """The power of 2 that `scaled` takes out; 0 for values of usual size."""
    largest = float(np.max(np.abs(values), where=~np.isnan(values), initial=0.0))
    return 0 if 1e-50 < largest < 1e50 or largest == 0.0 else math.frexp(largest)[1]


def shifted(value: float, power: int) -> float:
    """A number times a power of 2, infinite where it is too large."""
    with np.errstate(over="ignore"):
        return float(np.ldexp(value, power))


def scaled(values: FloatArray) -> FloatArray:
    """The same values, brought by a power of 2 (so exactly) to where the products of two variances are in range."""
    power = exponent(values)
    return np.ldexp(values, -power) if power else values


def present(x: FloatArray, z: FloatArray) -> npt.NDArray[np.bool_]:
    """Cells where both scores are."""
    return np.asarray(~(np.isnan(x) | np.isnan(z)))


def common_cells(scores: FloatArray, z: FloatArray, pair: tuple[int, int], missing: str) -> npt.NDArray[np.bool_]:
    """Cells that two of some metrics (metrics, systems, inputs) are compared on."""
    cells = present(scores[pair[0]], scores[pair[1]])
    return cells if missing == "available" else np.asarray(cells & ~np.isnan(z))


def filled(values: FloatArray, mask: npt.NDArray[np.bool_]) -> FloatArray:
    """The values as the kernels want them: 0 where there is none."""
    return np.ascontiguousarray(np.where(mask, values, 0.0))


def or_none(mask: npt.NDArray[np.bool_]) -> FloatArray | None:
    """The mask as the kernels want it: None where every cell is there."""
    return None if mask.all() else np.ascontiguousarray(mask, dtype=np.float64)


def ones(size: int) -> IntArray:
    """Counts in which each label came once."""
    return np.ones((1, size), dtype=np.int64)


def rounding_scale(values: FloatArray) -> FloatArray:
    """Per system, the size against which its mean is rounded, where that is not the mean itself.

    Scores of one sign do not cancel, so their mean is its own measure (0 here); scores of both signs do.
    """
    zero = np.where(np.isnan(values), 0.0, values)
    mixed = (zero > 0).any(axis=1) & (zero < 0).any(axis=1)
    cells = np.maximum((~np.isnan(values)).sum(axis=1), 1)
    return np.asarray(np.where(mixed, np.abs(zero).sum(axis=1) / cells, 0.0))


def dense_codes(values: FloatArray) -> tuple[IntArray, IntArray]:
    """Order along the last axis, and each value's dense rank there; equal values share a code."""
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    steps = np.zeros(values.shape, dtype=np.int64)
    steps[..., 1:] = ordered[..., 1:] > ordered[..., :-1]
    codes = np.empty_like(steps)
    np.put_along_axis(codes, order, np.cumsum(steps, axis=-1), axis=-1)
    return order.astype(np.int64, copy=False), codes


def pair_signs(values: FloatArray, mask: npt.NDArray[np.bool_], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Sign of values[a] − values[b] for all members a < b, (pairs, groups); 0 where one is missing."""
    a, b = np.triu_indices(len(values), 1)
    signs = (values[a] > values[b]).astype(dtype) - (values[a] < values[b]).astype(dtype)
    return np.ascontiguousarray(signs * (mask[a] & mask[b]), dtype=dtype)


def system_means(values: FloatArray, cells: npt.NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """Mean of each system over the given cells, and how many there are."""
    mean, count = np.empty((len(values), 1)), np.empty((len(values), 1))
    kernels_means.means_lanes(filled(values, cells), or_none(cells), np.ones((values.shape[1], 1)), mean, count)
    return mean[:, 0], count[:, 0]


def lanes(resamples: int, members: int) -> FloatArray:
    """Room for a number of each member in each resample, (blocks, members, lanes): see `_kernels_means`."""
    width = kernels_means.LANES
    return np.empty((-(-resamples // width), members, width))


def correlate_means(
    kind: int,
    x: FloatArray,
    z: FloatArray,
    scale_x: FloatArray,
    scale_z: FloatArray,
    weights: FloatArray,
    threshold: float = math.nan,
) -> FloatArray:
    """Correlation of means in each resample, (resamples, rounded up to whole blocks); arrays as from `lanes`."""
    out = np.empty((max(len(x), len(z), len(weights)), x.shape[2]))
    if kind == kernels.PEARSON:
        kernels_means.pearson_blocks(x, z, scale_x, scale_z, weights, out)
    elif kind == kernels.SPEARMAN:
        kernels_means.spearman_blocks(x, z, scale_x, scale_z, weights, out)
    elif kind in DECISIONS:
        kernels_decisions.decision_blocks(kind, threshold, x, z, scale_x, scale_z, weights, out)
    else:
        kernels_means.kendall_blocks(kind, x, z, scale_x, scale_z, weights, out)
    return out.ravel()


def vectors(x: FloatArray, z: FloatArray, level: str, missing: str) -> Iterator[tuple[FloatArray, FloatArray]]:
    """The two vectors that each group correlates, missing cells taken out, equal means made equal."""
    both = present(x, z)
    if level == "system":
        apart = missing == "available"
        mean_x, cells_x = system_means(x, ~np.isnan(x) if apart else both)
        mean_z, cells_z = system_means(z, ~np.isnan(z) if apart else both)
        there = (cells_x > 0) & (cells_z > 0)
        yield snapped(mean_x, rounding_scale(x))[there], snapped(mean_z, rounding_scale(z))[there]
    elif level == "global":
        yield x[both], z[both]
    else:
        if level == "within_system":
            x, z, both = x.T, z.T, both.T
        for j in range(x.shape[1]):
            yield x[both[:, j], j], z[both[:, j], j]


def average(r: FloatArray, n: FloatArray, zero: bool) -> float:
    """The average of the groups' correlations; an undefined one counts as 0, or not at all."""
    return float(kernels.average(r, n, np.ones(len(r)), zero))


def fisher_size(x: FloatArray, z: FloatArray, level: str, missing: str) -> float:
    """The n of a Fisher interval: the size of the vector that is correlated, at its largest over the groups."""
    return float(max(len(pair[0]) for pair in vectors(x, z, level, missing)))


def snapped(values: FloatArray, scale: FloatArray) -> FloatArray:
    """Values in which those that differ by rounding alone are made equal to the smallest of them."""
    out = values.copy()
    order = np.argsort(values, kind="stable")
    for before, here in zip(order[:-1], order[1:], strict=True):
        limit = kernels_means.TIE * max(scale[before], scale[here], abs(values[before]), abs(values[here]))
        if out[here] - out[before] <= limit:
            out[here] = out[before]
    return out


@dataclass(frozen=True)
class Means:
    """Scores of a metric and of the gold, (systems, inputs), whose means are drawn."""

    x: FloatArray
    z: FloatArray
    mask_x: FloatArray | None
    mask_z: FloatArray | None
    scale_x: FloatArray
    scale_z: FloatArray

    @classmethod
    def of(cls, x: FloatArray, z: FloatArray, missing: str) -> Means:
        """From scaled scores, NaN where missing."""
        both = present(x, z)
        there_x, there_z = (~np.isnan(x), ~np.isnan(z)) if missing == "available" else (both, both)
        return cls(
            filled(x, there_x),
            filled(z, there_z),
            or_none(there_x),
            or_none(there_z),
            rounding_scale(np.where(there_x, x, np.nan)),
            rounding_scale(np.where(there_z, z, np.nan)),
        )

    @property
    def there(self) -> npt.NDArray[np.bool_]:
        """Systems with both means."""
        cells = [np.ones(len(self.x)) if mask is None else mask.sum(axis=1) for mask in (self.mask_x, self.mask_z)]
        return np.asarray((cells[0] > 0) & (cells[1] > 0))

    def drawn(self, systems: IntArray, inputs: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Means of both for each row of counts, and how often each system came; arrays as from `lanes`."""
        resamples = max(len(systems), len(inputs))
        weights = lanes(resamples, len(self.x))
        mean_x, mean_z = (lanes(resamples if len(inputs) > 1 else 1, len(self.x)) for _ in range(2))
        where = (systems, inputs, mean_x, mean_z, weights)
        loops.bootstrap_means(self.x, self.z, self.mask_x, self.mask_z, *where)
        return mean_x, mean_z, weights


@dataclass(frozen=True)
class _System:
    """Means over inputs, correlated over systems."""

    kind: int
    threshold: float
    means: Means

    @property
    def cost(self) -> float:
        return 0.5 * self.means.x.size + 4.0 * len(self.means.x) ** 2

    def groups(self) -> tuple[FloatArray, FloatArray]:
        systems, inputs = self.means.x.shape
        return self.bootstrap(ones(systems), ones(inputs)), np.array([self.means.there.sum()], float)

    def value(self) -> float:
        return float(self.groups()[0][0])

    def bootstrap(self, systems: IntArray, inputs: IntArray) -> FloatArray:
        x, z, weights = self.means.drawn(systems, inputs)
        found = correlate_means(self.kind, x, z, self.means.scale_x, self.means.scale_z, weights, self.threshold)
        return found[: max(len(systems), len(inputs))]


@dataclass(frozen=True)
class _Global:
    """All cells as one vector."""

    kind: int
    x: FloatArray
    z: FloatArray
    mask: FloatArray | None
    ranks: tuple[IntArray, IntArray, IntArray, npt.NDArray[np.bool_]] | None

    @classmethod
    def of(cls, x: FloatArray, z: FloatArray, kind: int) -> _Global:
        both = present(x, z)
        ranks = None
        if kind != kernels.PEARSON:
            order, codes_x = dense_codes(np.where(both, x, np.nan).ravel())
            codes_z = dense_codes(np.where(both, z, np.nan).ravel())[1]
            ranks = (order, codes_x, codes_z, both.ravel())
        return cls(kind, filled(x, both), filled(z, both), or_none(both), ranks)

    @property
    def cost(self) -> float:
        return (3.0 if self.ranks is None else 100.0) * self.x.size

    def groups(self) -> tuple[FloatArray, FloatArray]:
        systems, inputs = self.x.shape
        cells = float(self.x.size if self.mask is None else self.mask.sum())
        return self.bootstrap(ones(systems), ones(inputs)), np.array([cells])

    def value(self) -> float:
        return float(self.groups()[0][0])

    def bootstrap(self, systems: IntArray, inputs: IntArray) -> FloatArray:
        out = np.empty(max(len(systems), len(inputs)))
        if self.ranks is None:
            loops.bootstrap_pearson_global(self.x, self.z, self.mask, systems, inputs, out)
        else:
            loops.bootstrap_sorted_global(self.kind, *self.ranks, systems, inputs, out)
        return out


@dataclass(frozen=True)
class _Grouped:
    """One correlation per group, then their average: over systems per input, or over inputs per system."""

    kind: int
    form: str  # "moments", "pairs", "signs" or "sorted": which kernel, and what `data` holds
    data: tuple[Any, ...]
    mask: FloatArray | None
    zero: bool
    across: bool  # the members are the inputs
    shape: tuple[int, int]  # members, groups

    @classmethod
    def of(cls, x: FloatArray, z: FloatArray, kind: int, zero: bool, across: bool) -> _Grouped:
        both = present(x, z)
        form, data = cls._prepared(x, z, both, kind)
        return cls(kind, form, data, or_none(both), zero, across, (x.shape[0], x.shape[1]))

    @staticmethod
    def _prepared(x: FloatArray, z: FloatArray, both: npt.NDArray[np.bool_], kind: int) -> tuple[str, tuple[Any, ...]]:
        if kind == kernels.PEARSON:
            return "moments", (filled(x, both), filled(z, both))
        if kind == kernels.KENDALL_C or not by_pairs(*x.shape):
            gaps = np.where(both, 0.0, np.nan)
            order, codes_x = dense_codes(np.ascontiguousarray((x + gaps).T))
            return "sorted", (order, codes_x, dense_codes(np.ascontiguousarray((z + gaps).T))[1])
        # Sums run up to the number of pairs (Kendall) or to the number of members (Spearman).
        members = len(x)
        dtype = np.int16 if members <= 256 else np.int32
        if kind == kernels.SPEARMAN:
            there = both[:, None] & both
            signs = [np.sign(np.nan_to_num(values[:, None] - values)) * there for values in (x, z)]
            return "signs", (np.concatenate(signs, axis=2).astype(dtype),)
        signs_x, signs_z = pair_signs(x, both, dtype), pair_signs(z, both, dtype)
        product = signs_x * signs_z
        numerator = (product > 0).astype(dtype) if kind == kernels.ACCURACY else product
        tied_x, tied_z = (np.flatnonzero((signs == 0).any(axis=0)) for signs in (signs_x, signs_z))
        rows = np.concatenate([numerator, np.abs(signs_x[:, tied_x]), np.abs(signs_z[:, tied_z])], axis=1)
        padded = np.pad(rows, ((0, 0), (0, -rows.shape[1] % _LANE_COLUMNS)))
        return "pairs", (np.ascontiguousarray(padded), tied_x, tied_z)

    @property
    def cost(self) -> float:
        members, groups = self.shape
        each = {"moments": 2.0, "sorted": 100.0}.get(self.form, 0.2 * members)
        return each * members * groups

    def groups(self) -> tuple[FloatArray, FloatArray]:
        members, groups = self.shape
        n = np.full(groups, float(members)) if self.mask is None else self.mask.sum(axis=0)
        single = np.eye(groups, dtype=np.int64)
        whole = _Grouped(self.kind, self.form, self.data, self.mask, False, False, self.shape)
        return whole.bootstrap(ones(members), single), n

    def value(self) -> float:
        return average(*self.groups(), self.zero)

    def bootstrap(self, systems: IntArray, inputs: IntArray) -> FloatArray:
        w, v = (inputs, systems) if self.across else (systems, inputs)
        out = np.empty(max(len(w), len(v)))
        if self.form == "moments":
            loops.bootstrap_pearson(*self.data, self.mask, w, v, self.zero, out)
        elif self.form == "pairs":
            weights = w.astype(self.data[0].dtype)
            loops.bootstrap_pairs(self.kind, *self.data, self.mask, weights, v, self.zero, out)
        elif self.form == "signs":
            weights = w.astype(self.data[0].dtype)
            loops.bootstrap_spearman(*self.data, self.mask, weights, v, self.zero, out)
        else:
            loops.bootstrap_sorted(self.kind, *self.data, self.mask, w, v, self.zero, out)
        return out


def by_pairs(members: int, groups: int) -> bool:
    """Whether signs of all pairs beat sorting for groups of this size."""
    cells = members * (members - 1) // 2 * groups
    return members <= _PAIR_MEMBERS or (groups >= 16 and cells <= _PAIR_CELLS)
