"""Score matrices (systems, inputs), NaN where a cell is missing: cells, means, groups, ranks and rounding."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xsumstat.core.types import Bits, BoolArray, FloatArray, IntArray, Pair
from xsumstat.kernels import correlation as kernels
from xsumstat.kernels import means as mean_kernels

# Signs of all pairs are kept for groups of few members, of somewhat more where groups are many; beyond these sizes
# sorting is faster.
_PAIR_MEMBERS = (32, 64)
_PAIR_CELLS = 2**21
# Cells that are checked or sorted together.
_CELLS_AT_ONCE = 2**18
# Scores of more values than this are as good as continuous.
_VALUES = 1000
# By what share of a step a grade may miss a whole number of them, beyond what the rounding of large scores explains.
_MISS = 1e-6
# Raw scores are rounded once, relative to their own size; so two differences of 0.1 need not be equal.
RAW = 2.0**-50


def check_finite(*scores: FloatArray | Sequence[FloatArray]) -> None:
    """Raise for infinite scores in one or several matrices; lazy scores cannot be checked earlier."""
    matrices = ([each] if isinstance(each, np.ndarray) and each.ndim < 3 else each for each in scores)
    if any(np.isinf(matrix).any() for several in matrices for matrix in several):
        raise ValueError("scores hold infinite values; write missing scores as NaN")


def footprint(shape: tuple[int, int], level: str) -> int:
    systems, inputs = shape
    members, groups = {"input": (systems, inputs), "within_system": (inputs, systems)}.get(level, (1, systems * inputs))
    return systems * inputs * max(48, 4 * members if by_pairs(members, groups) else 0)


def by_pairs(members: int, groups: int) -> bool:
    """Whether the signs of all pairs are faster than sorting for groups of this size."""
    cells = members * (members - 1) // 2 * groups
    few, more = _PAIR_MEMBERS
    return members <= few or (members <= more and groups >= 16 and cells <= _PAIR_CELLS)


def small_parts(members: int, groups: int) -> list[slice]:
    """Slices of the groups, at least one, whose cells take little memory."""
    step = max(1, _CELLS_AT_ONCE // max(1, members))
    return [slice(start, min(start + step, groups)) for start in range(0, max(groups, 1), step)]


def exponent(values: FloatArray) -> int:
    """Power of 2 that `scaled` takes out; 0 for values of usual size."""
    largest = float(np.max(np.abs(values), where=~np.isnan(values), initial=0.0))
    return 0 if 1e-50 < largest < 1e50 or largest == 0.0 else math.frexp(largest)[1]


def shifted(value: float, power: int) -> float:
    with np.errstate(over="ignore"):
        return float(np.ldexp(value, power))


def scaled(values: FloatArray) -> FloatArray:
    """The values times a power of 2 (exact), which keeps products of two variances in range."""
    power = exponent(values)
    return np.ldexp(values, -power) if power else values


def defined_means(values: FloatArray, axis: int = 0) -> FloatArray:
    """Means of the defined values along an axis; NaN where there are none."""
    there = ~np.isnan(values)
    count = there.sum(axis=axis)
    return np.asarray(np.where(there, values, 0.0).sum(axis=axis) / np.where(count > 0, count, np.nan))


def present(x: FloatArray, z: FloatArray) -> BoolArray:
    return np.asarray(~(np.isnan(x) | np.isnan(z)))


def counted(x: FloatArray, z: FloatArray, own_cells: bool) -> tuple[BoolArray, BoolArray]:
    """Cells of x and of z that count: those that both have, or all of its own."""
    return (~np.isnan(x), ~np.isnan(z)) if own_cells else (present(x, z),) * 2


def human(z: FloatArray, own_cells: bool = False) -> FloatArray:
    """Gold scores where all covariates are present; with covariates (1 + covariates, systems, inputs)."""
    # With own cells, each variable keeps all its cells in the systems where every covariate has some.
    if z.ndim == 2:
        return z
    there = np.asarray(~np.isnan(z[1:]))
    kept = np.asarray(there.any(axis=2).all(axis=0))[:, None] if own_cells else np.asarray(there.all(axis=0))
    return z[0] if kept.all() else np.where(kept, z[0], np.nan)


def common_cells(scores: FloatArray, z: FloatArray, pair: Pair, missing: str) -> BoolArray:
    cells = present(scores[pair[0]], scores[pair[1]])
    return cells if missing == "available" else np.asarray(cells & ~np.isnan(z))


def filled(values: FloatArray, mask: BoolArray) -> FloatArray:
    return read_only(np.ascontiguousarray(values if mask.all() else np.where(mask, values, 0.0)))


def read_only(values: FloatArray) -> FloatArray:
    """The values as a read-only view: numba compiles a kernel apart for writable arrays."""
    view = values.view()
    view.flags.writeable = False
    return view


def or_none(mask: BoolArray) -> FloatArray | None:
    """The mask for the kernels: None where every cell is present."""
    return None if mask.all() else np.ascontiguousarray(mask, dtype=np.float64)


def ones(size: int) -> IntArray:
    return np.ones((1, size), dtype=np.int64)


def rounding_scale(values: FloatArray) -> FloatArray:
    """Per system, the size relative to which its mean is rounded; 0 where that is the mean itself."""
    # Scores of one sign do not cancel, so their mean measures its own rounding; scores of both signs do cancel.
    return np.concatenate([_sizes(values[at]) for at in small_parts(values.shape[1], len(values))])


def _sizes(values: FloatArray) -> FloatArray:
    zero = np.where(np.isnan(values), 0.0, values)
    mixed = (zero > 0).any(axis=1) & (zero < 0).any(axis=1)
    cells = np.maximum((~np.isnan(values)).sum(axis=1), 1)
    return np.asarray(np.where(mixed, np.abs(zero).sum(axis=1) / cells, 0.0))


def step_of(values: FloatArray) -> float:
    """The step that divides all differences, as for ratings; 0 where there is none."""
    known = np.unique(values[~np.isnan(values)])
    if not 1 < len(known) <= _VALUES:
        return 0.0
    gaps, least = np.diff(known), float(np.ptp(known)) / _VALUES
    step = float(gaps[0])
    for gap in gaps:
        large, small = max(step, float(gap)), min(step, float(gap))
        while small > least / 2:
            large, small = small, large % small
            small = 0.0 if large - small < least / 2 else small
        step = large
    return step if step >= least else 0.0


def whole_step(values: FloatArray) -> float:
    """As `step_of`, where every difference is a multiple up to rounding; else 0."""
    return _refined(values, step_of(values))


def in_steps(values: FloatArray) -> tuple[FloatArray, float]:
    """Grades as whole numbers of steps above the lowest, and 1; other scores unchanged, and their `step_of`."""
    # Sums of whole numbers are exact, however far from 0 the scores are: 1000.3 − 1000.2 is not 1000.1 − 1000.
    step = step_of(values)
    whole = _refined(values, step)
    return (np.rint((values - np.nanmin(values)) / whole), 1.0) if whole else (values, step)


def _refined(values: FloatArray, step: float) -> float:
    """The step after rounding; 0 if it vanishes or some difference is not a multiple of it."""
    if step == 0.0:
        return 0.0
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    step = (high - low) / round((high - low) / step)
    places = (values - low) / step
    miss = _MISS + 4 * np.finfo(float).eps * max(abs(low), abs(high)) / step
    return step if miss < 0.1 and float(np.nanmax(np.abs(places - np.rint(places)))) <= miss else 0.0


def dense_codes(values: FloatArray) -> tuple[IntArray, IntArray]:
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    steps = np.zeros(values.shape, dtype=np.int64)
    steps[..., 1:] = ordered[..., 1:] > ordered[..., :-1]
    codes = np.empty_like(steps)
    np.put_along_axis(codes, order, np.cumsum(steps, axis=-1), axis=-1)
    return order.astype(np.int64, copy=False), codes


def codes_of_groups(values: FloatArray, there: BoolArray) -> tuple[IntArray, IntArray]:
    """`dense_codes` of the members of each group, (groups, members), from values (members, groups)."""
    members, groups = values.shape
    order, codes = (np.empty((groups, members), np.int64) for _ in range(2))
    for at in small_parts(members, groups):
        some = np.ascontiguousarray(np.where(there[:, at], values[:, at], np.nan).T)
        order[at], codes[at] = dense_codes(some)
    return order, codes


def pair_signs(values: FloatArray, mask: BoolArray, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Sign of values[a] − values[b] for all members a < b, (pairs, groups); 0 where one is missing."""
    a, b = np.triu_indices(len(values), 1)
    signs = (values[a] > values[b]).astype(dtype) - (values[a] < values[b]).astype(dtype)
    return np.ascontiguousarray(signs * (mask[a] & mask[b]), dtype=dtype)


def system_means(values: FloatArray, cells: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Mean of each system over the given cells, 0 where there is none, and the number of cells."""
    return means_in_turn(filled(values, cells), or_none(cells))


def means_in_turn(values: FloatArray, mask: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """The same for `filled` values, summed input by input: identical to the kernels' means."""
    total, count = np.zeros(len(values)), np.full(len(values), float(values.shape[1]))
    if values.shape[1]:
        total += np.cumsum(values, axis=1)[:, -1]  # in turn, where np.sum adds pairs
    if mask is not None:
        count = mask.sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1.0), 0.0), count


def equal_means(values: FloatArray, cells: BoolArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """As `system_means`, with means equal up to rounding made equal, and the sizes rounding is relative to."""
    mean, count = system_means(values, cells)
    scale = rounding_scale(np.where(cells, values, np.nan))
    return snapped(mean, scale), count, scale


def means_as_cells(values: FloatArray, cells: BoolArray) -> FloatArray:
    mean, count = system_means(values, cells)
    return np.where(count > 0, mean, np.nan)[:, None]


def lanes(resamples: int, members: int) -> FloatArray:
    width = mean_kernels.LANES
    return np.empty((-(-resamples // width), members, width))


def vectors(x: FloatArray, z: FloatArray, level: str, missing: str) -> Iterator[tuple[FloatArray, FloatArray]]:
    """The two vectors that each group correlates, without missing cells; equal means are made equal."""
    there_x, there_z = counted(x, z, level == "system" and missing == "available")
    if level == "system":
        mean_x, cells_x = system_means(x, there_x)
        mean_z, cells_z = system_means(z, there_z)
        there = (cells_x > 0) & (cells_z > 0)
        yield snapped(mean_x, rounding_scale(x))[there], snapped(mean_z, rounding_scale(z))[there]
    elif level == "global":
        yield x[there_x], z[there_z]
    else:
        if level == "within_system":
            x, z, there_x = x.T, z.T, there_x.T
        for j in range(x.shape[1]):
            yield x[there_x[:, j], j], z[there_x[:, j], j]


def mean_of_existing(values: FloatArray, there: BoolArray, axes: int | tuple[int, ...]) -> FloatArray:
    """Mean of the existing values along axes, which stay; 0 without any."""
    total = np.where(there, values, 0.0).sum(axis=axes, keepdims=True)
    return np.asarray(total / np.maximum(there.sum(axis=axes, keepdims=True), 1))


def residuals(values: FloatArray, means: FloatArray, there: BoolArray) -> FloatArray:
    """Scores (..., systems, inputs) less the mean of their system and then of their input; 0 where missing."""
    rest = np.where(there, values - means[..., None], 0.0)
    return np.where(there, rest - mean_of_existing(rest, there, -2), 0.0)


def summed(values: FloatArray | IntArray, codes: IntArray) -> FloatArray:
    """Sums over the members of each group, (groups, ...), for values (members, ...) and their groups from 0 on."""
    found: FloatArray = np.zeros((int(codes.max(initial=-1)) + 1, *values.shape[1:]))
    np.add.at(found, codes, values)
    return found


def average(r: FloatArray, n: FloatArray, undefined_as_zero: bool) -> float:
    """Average of the groups' correlations; an undefined one counts as 0, or not at all."""
    return float(kernels.average(r, n, np.ones(len(r)), undefined_as_zero))


def fisher_size(x: FloatArray, z: FloatArray, level: str, missing: str) -> float:
    """The n of a Fisher interval: length of the correlated vector, the largest over groups."""
    return float(max(len(pair[0]) for pair in vectors(x, z, level, missing)))


def snapped(values: FloatArray, scale: FloatArray) -> FloatArray:
    """Values in which those that differ only by rounding equal the smallest of them."""
    out = values.copy()
    order = np.argsort(values, kind="stable")
    for before, here in zip(order[:-1], order[1:], strict=True):
        limit = mean_kernels.TIE * max(scale[before], scale[here], abs(values[before]), abs(values[here]))
        if out[here] - out[before] <= limit:
            out[here] = out[before]
    return out


def made_equal(means: FloatArray, magnitudes: FloatArray) -> FloatArray:
    """The same for means of numbers of size `magnitudes`: what rounding could have separated equals the smallest."""
    order = np.argsort(means, kind="stable")
    ordered, near = means[order], mean_kernels.TIE * magnitudes[order]
    with np.errstate(over="ignore"):
        apart = ~(np.diff(ordered) <= np.maximum(near[1:], near[:-1]))
    starts = np.concatenate([[True], apart]) if len(means) else np.zeros(0, bool)
    first = np.flatnonzero(starts)[np.cumsum(starts) - 1] if len(means) else order
    equal = np.empty_like(means)
    equal[order] = ordered[first]
    return equal


def sorted_gaps(gaps: FloatArray, near: FloatArray) -> tuple[IntArray, BoolArray]:
    """Order of some differences, and which are the last of those equal up to rounding."""
    order = np.argsort(gaps, kind="stable")
    ordered, near = gaps[order], near[order]
    ends = np.ones(len(order), dtype=bool)
    ends[:-1] = np.diff(ordered) > near[1:] + near[:-1]
    return order, ends


def standardised(values: FloatArray, cells: BoolArray) -> FloatArray:
    """Values with mean 0 and SD 1 over the given cells, NaN elsewhere; 0 where they are constant."""
    out = np.full(values.shape, np.nan)
    here = scaled(values[cells])
    if here.size:
        varies = np.ptp(here) > 0
        here -= here.mean()  # a copy, of the cells
        here -= here.mean()  # the first mean is rounded to the size of the scores, not of their spread
        here /= np.sqrt(np.mean(here**2)) if varies else 1.0
        out[cells] = here if varies else 0.0
    return out


def packed(swaps: npt.ArrayLike) -> Bits:
    """Swaps (resamples, systems, inputs) as sign bits, 8 to the byte, lowest first."""
    return np.packbits(np.asarray(swaps, dtype=np.uint8), axis=-1, bitorder="little")


def padded(values: FloatArray) -> FloatArray:
    rest = -values.shape[-1] % 8
    return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, rest)]) if rest else values


def pairs_and_gold(
    scores: FloatArray, z: FloatArray, pairs: Iterable[Pair], level: str, missing: str
) -> Iterator[tuple[Pair, FloatArray, FloatArray, FloatArray, BoolArray]]:
    """Each pair, its two metrics, standardised on their common cells, the gold, and these cells."""
    own_cells = level == "system" and missing == "available"
    cells, gold, known = np.zeros((0, 0), dtype=bool), z, dict[int, FloatArray]()
    for pair in pairs:
        here = common_cells(scores, z, pair, missing if level == "system" else "pairwise")
        if not np.array_equal(here, cells):
            cells, known = here, {}
            gold = z if own_cells else np.where(cells, z, np.nan)
        for metric in pair:
            if metric not in known:
                known[metric] = standardised(scores[metric], cells)
        yield pair, known[pair[0]], known[pair[1]], gold, cells
