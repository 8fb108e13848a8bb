"""Rank coefficients with swapped scores, by groups and over all cells."""

# Without ties among a group's pooled scores the difference is linear in the signs of the cells (even terms cancel), and
# for tau-a and pairwise accuracy always. Else it is computed swap by swap. One statistic may need both.

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xsumstat.coefficients import arrays
from xsumstat.coefficients.record import Differences, Measure
from xsumstat.coefficients.sorted_ranks import Sorted
from xsumstat.core.types import Bits, BoolArray, FloatArray, IntArray, Pair
from xsumstat.kernels import correlation as kernels
from xsumstat.kernels import means as mean_kernels
from xsumstat.kernels import swaps as swap_kernels

# A common multiple beyond this is of no use.
_MOST_COMMON = 10**6

_LAYOUTS = {"input": swap_kernels.BY_INPUT, "within_system": swap_kernels.BY_SYSTEM, "global": swap_kernels.WHOLE}
# Counts of pairs, and four times the doubled rank of a member, fit into 16 bits; of a single pair there are four at
# most, so that those of 31 members fit into a byte.
_COUNTS, _FEW_MEMBERS = np.int16, 31


@dataclass(frozen=True)
class Pooled:
    """Standardised x and y of all members of each group, pooled and sorted; values equal up to rounding are equal."""

    x: FloatArray  # (members, groups), as `y`; NaN missing
    y: FloatArray
    codes: IntArray  # (2·members, groups), dense ranks, x above y
    order: IntArray  # (2·members, groups), entries by value, missing ones last

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray) -> Pooled:
        both = np.concatenate([x, y])
        order = np.argsort(both, axis=0, kind="stable")
        ordered = np.take_along_axis(both, order, axis=0)
        steps = _steps(ordered, order // len(x))
        first = np.maximum.accumulate(np.where(steps > 0, np.arange(len(both))[:, None], 0), axis=0)
        codes, values = np.empty_like(steps), np.empty_like(both)
        np.put_along_axis(codes, order, np.cumsum(steps, axis=0), axis=0)
        np.put_along_axis(values, order, np.take_along_axis(ordered, first, axis=0), axis=0)
        values[np.isnan(both)] = np.nan
        return cls(values[: len(x)], values[len(x) :], codes, order)

    def groups(self, chosen: BoolArray) -> Pooled:
        return Pooled(self.x[:, chosen], self.y[:, chosen], self.codes[:, chosen], self.order[:, chosen])

    def tied(self) -> BoolArray:
        """Groups where two different members share a score."""
        members = len(self.x)
        owner = self.order % members
        code = np.take_along_axis(self.codes, self.order, axis=0)
        there = np.take_along_axis(~np.isnan(np.concatenate([self.x, self.y])), self.order, axis=0)
        return np.asarray(((code[1:] == code[:-1]) & (owner[1:] != owner[:-1]) & there[1:]).any(axis=0))

    def may_be_constant(self) -> BoolArray:
        """Groups where some swap makes X' or Y' constant: one value occurs at every member, in x or y."""
        absent = np.isnan(self.x)
        at = np.argmin(absent, axis=0), np.arange(self.x.shape[1])
        found = np.zeros(self.x.shape[1], dtype=bool)
        for candidate in (self.x[at], self.y[at]):
            found |= ((self.x == candidate) | (self.y == candidate) | absent).all(axis=0)
        return found


def pooled_values(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The values of `Pooled`, for standardised scores (members, groups), in small parts."""
    out = np.empty(x.shape), np.empty(y.shape)
    for at in arrays.small_parts(*x.shape):
        here = Pooled.of(x[:, at], y[:, at])
        out[0][:, at], out[1][:, at] = here.x, here.y
    return out


def _steps(ordered: FloatArray, side: IntArray) -> IntArray:
    """1 where a sorted value differs from the previous one beyond rounding; `side` is 0 for x, 1 for y."""
    # An x and a y may differ by rounding, because each was standardised apart. Two x do not: where two are that close
    # (beside a far outlier), they count as different.
    other = np.zeros(ordered.shape, dtype=bool)
    other[1:] = ordered[1:] > ordered[:-1]
    far = np.zeros(ordered.shape, dtype=bool)
    far[1:] = ordered[1:] - ordered[:-1] > mean_kernels.TIE * np.maximum(1.0, np.abs(ordered[1:]))
    if (far == other).all():
        return other.astype(np.int64)
    cluster = np.cumsum(far, axis=0)
    exact = np.zeros(ordered.shape, dtype=bool)  # by cluster
    places = np.arange(len(ordered))[:, None]
    columns = np.broadcast_to(np.arange(ordered.shape[1]), ordered.shape)
    for each in (0, 1):
        here = np.where(side == each, places, -1)
        before = np.full_like(here, -1)
        before[1:] = np.maximum.accumulate(here, axis=0)[:-1]
        known = (side == each) & (before >= 0)
        previous = np.maximum(before, 0)
        same = np.take_along_axis(cluster, previous, axis=0) == cluster
        differs = known & same & (np.take_along_axis(ordered, previous, axis=0) < ordered)
        exact[cluster[differs], columns[differs]] = True
    return np.where(np.take_along_axis(exact, cluster, axis=0), other, far).astype(np.int64)


@dataclass(frozen=True)
class _Tied:
    """Groups of one pair whose rank coefficients are computed swap by swap."""

    kind: int
    form: str  # "pairs", "signs" or "sorted", as in `correlations`
    data: tuple[Any, ...]
    layout: int
    at: IntArray  # which groups
    undefined_as_zero: bool

    @property
    def cost(self) -> float:
        return 4.0 * float(self.data[1].size) if self.form == "sorted" else 0.3 * float(self.data[0].size)

    def differences(self, bits: Bits) -> FloatArray:
        if isinstance(self.data[0], Sorted):
            return self.data[0].swapped(self.kind, self.data[1], bits, self.undefined_as_zero)
        out = np.empty(len(bits))
        where = (self.layout, self.at, bits, self.undefined_as_zero, out)
        if self.form == "pairs":
            swap_kernels.swap_pairs(self.kind, *self.data, *where)
        else:
            swap_kernels.swap_spearman(*self.data, *where)
        return out


@dataclass(frozen=True)
class Ranks:
    """One pair under a rank coefficient: a part linear in the signs, and groups whose ties forbid that."""

    pairs: tuple[Pair, ...]
    coefficients: FloatArray | None  # what each cell's sign adds, over all bytes of sign bits
    rest: _Tied | None  # the other groups
    weight: float  # their share in the average
    step: float = 0.0  # `coefficients` are multiples of it (0: of none)

    @property
    def cost(self) -> float:
        linear = 0.0 if self.coefficients is None else 0.1 * self.coefficients.size
        return 100.0 + linear + (0.0 if self.rest is None else self.rest.cost)

    def differences(self, bits: Bits) -> FloatArray:
        out = np.zeros(len(bits))
        if self.coefficients is not None:
            swap_kernels.swap_linear(self.coefficients, bits.reshape(len(bits), -1), out)
        if self.rest is not None:
            out += self.weight * self.rest.differences(bits)
        return out[None]


def swapped(
    scores: FloatArray, z: FloatArray, pairs: tuple[Pair, ...], measure: Measure, *, kind: int
) -> Sequence[Differences]:
    tests: list[Ranks] = []
    known, ready = None, None
    for pair, x, y, gold, _ in arrays.pairs_and_gold(scores, z, pairs, measure.level, measure.missing):
        if ready is None or gold is not known:  # most pairs share theirs
            known, ready = gold, Gold.of(gold, measure.level)
        tests.append(rank_test(pair, x, y, ready, measure.level, kind, measure.undefined_as_zero))
    return tests


def rank_test(
    pair: Pair, x: FloatArray, y: FloatArray, gold: Gold, level: str, kind: int, undefined_as_zero: bool
) -> Ranks:
    """Prepare standardised x and y, (systems, inputs), for a test under a rank coefficient."""
    shape, layout = x.shape, _LAYOUTS[level]
    x, y = _grouped(x, level), _grouped(y, level)
    blocks = arrays.small_parts(*x.shape)
    pooled = Pooled.of(x, y) if len(blocks) == 1 else None  # else made anew where it is needed, to be small
    tied, may_be_constant = _about_ties(x, y, blocks, pooled)
    # A group that a swap can leave undefined changes the weight of all others: then no group is linear.
    whole = not undefined_as_zero and kind != kernels.ACCURACY and bool((tied & may_be_constant).any())
    # What does not divide by the number of untied pairs is linear with ties too.
    tied &= kind not in (kernels.KENDALL_A, kernels.ACCURACY)
    counted = gold.present.any(axis=0) if undefined_as_zero else gold.defined(kind)
    divisors = gold.divisors(kind)
    linear = ~tied & (divisors > 0) & (not whole)
    rest = counted & ~linear if linear.any() else np.full(len(tied), True)
    tests = None
    if rest.any():
        of_rest = Pooled.of(x[:, rest], y[:, rest]) if pooled is None else pooled.groups(rest)
        tests = _tied_groups(of_rest, gold, rest, layout, shape[1], kind, undefined_as_zero)
        del of_rest
    if not linear.any():
        return Ranks((pair,), None, tests, 1.0)
    total = float(counted.sum())
    scale = np.where(linear, 1.0, 0.0) / np.where(linear, 2.0 * divisors * total, 1.0)
    by_group = np.empty(x.T.shape)
    for at in blocks:
        here = Pooled.of(x[:, at], y[:, at]) if pooled is None else pooled
        order, codes = np.ascontiguousarray(here.order.T), np.ascontiguousarray(here.codes.T)
        present = gold.present[:, at].T.copy()
        swap_kernels.linear_forms(kind, order, codes, gold.codes[at], present, scale[at], by_group[at])
    cells = by_group if layout == swap_kernels.BY_SYSTEM else by_group.T
    coefficients = arrays.padded(np.ascontiguousarray(cells).reshape(shape)).ravel()
    return Ranks((pair,), coefficients, tests, float(rest.sum()) / total, common_step(divisors[linear]) / total)


def _grouped(values: FloatArray, level: str) -> FloatArray:
    return values.reshape(-1, 1) if level == "global" else values.T if level == "within_system" else values


def _about_ties(
    x: FloatArray, y: FloatArray, blocks: list[slice], pooled: Pooled | None
) -> tuple[BoolArray, BoolArray]:
    found = []
    for at in blocks:
        here = Pooled.of(x[:, at], y[:, at]) if pooled is None else pooled
        found.append((here.tied(), here.may_be_constant()))
    tied, constant = (np.concatenate(each) for each in zip(*found, strict=True))
    return tied, constant


def common_step(divisors: FloatArray) -> float:
    """Common step of half the inverse divisors; 0 where there is none."""
    if (divisors == divisors[0]).all():
        return 0.5 / float(divisors[0])
    whole = np.rint(divisors).astype(np.int64)
    common = math.lcm(*np.unique(whole).tolist()) if (whole == divisors).all() else 0
    return 0.5 / common if 0 < common <= _MOST_COMMON else 0.0


@dataclass(frozen=True)
class Gold:
    """What a rank coefficient needs of the gold in each group."""

    present: BoolArray  # (members, groups)
    codes: IntArray  # (groups, members), dense ranks
    n: FloatArray  # (groups,), members
    distinct: FloatArray  # (groups,), values
    tied_pairs: FloatArray  # (groups,), Σ t(t − 1)/2 over values that occur t times
    tied_cubes: FloatArray  # (groups,), Σ (t³ − t)

    @classmethod
    def of(cls, z: FloatArray, level: str) -> Gold:
        z = _grouped(z, level)
        present = ~np.isnan(z)
        codes = arrays.codes_of_groups(z, present)[1]
        sums = np.empty((4, z.shape[1]))
        for at in arrays.small_parts(*z.shape):
            sizes = _sizes(codes[at], present[:, at])
            sums[0, at], sums[1, at] = sizes.sum(axis=1), (sizes > 0).sum(axis=1)
            sums[2, at], sums[3, at] = (sizes * (sizes - 1) / 2).sum(axis=1), (sizes**3 - sizes).sum(axis=1)
        return cls(present, codes, *sums)

    def defined(self, kind: int) -> BoolArray:
        """Groups whose coefficient is defined for any scores that vary."""
        return np.asarray((self.n > 1) & ((self.distinct > 1) | (kind == kernels.ACCURACY)))

    def divisors(self, kind: int) -> FloatArray:
        """Divisor of C − D (Spearman: of the sum of products of ranks) for untied scores; 0 where undefined."""
        n = self.n
        pairs = n * (n - 1) / 2
        if kind == kernels.SPEARMAN:
            cubes = (n**3 - n) / 3
            out = np.sqrt(cubes * (cubes - self.tied_cubes / 3))
        elif kind == kernels.KENDALL:
            out = np.sqrt(pairs * (pairs - self.tied_pairs))
        elif kind == kernels.KENDALL_A:
            out = pairs
        elif kind == kernels.ACCURACY:
            out = 2 * pairs  # C is half of C − D and a constant
        else:
            distinct = np.maximum(self.distinct, 1)
            out = n**2 * (distinct - 1) / (2 * distinct)
        return np.where(self.defined(kind), out, 0.0)


def _sizes(codes: IntArray, present: BoolArray) -> FloatArray:
    groups, members = codes.shape
    flat = (codes + members * np.arange(groups)[:, None])[present.T]
    return np.bincount(flat, minlength=members * groups).reshape(groups, members).astype(float)


def _tied_groups(
    pooled: Pooled, gold: Gold, chosen: BoolArray, layout: int, inputs: int, kind: int, undefined_as_zero: bool
) -> _Tied:
    """The chosen (pooled) groups, prepared for the kernel that suits their size."""
    at = np.flatnonzero(chosen)
    present = gold.present[:, chosen]
    codes, z_codes = pooled.codes, gold.codes[chosen]
    if kind == kernels.KENDALL_C or not arrays.by_pairs(*present.shape):
        ordered = Sorted.of(codes.T, np.tile(z_codes, 2), np.tile(present.T, 2))
        coins = _places(ordered.order.astype(np.int64) % len(present), at, layout, inputs)
        return _Tied(kind, "sorted", (ordered, coins), layout, at, undefined_as_zero)
    signs = _signs_of_ranks if kind == kernels.SPEARMAN else _signs_of_pairs
    form, data = signs(codes, z_codes, present)
    return _Tied(kind, form, data, layout, at, undefined_as_zero)


def _by_pairs(
    z_codes: IntArray, present: BoolArray
) -> tuple[tuple[npt.NDArray[Any], ...], BoolArray, npt.NDArray[Any], tuple[FloatArray, FloatArray]]:
    """All pairs of members, which are present, their gold signs, and incidence matrices (members, pairs)."""
    members = len(present)
    a, b = np.triu_indices(members, 1)
    there = present[a] & present[b]
    gold: npt.NDArray[Any] = z_codes.T.astype(_COUNTS)
    signs = np.sign(gold[a] - gold[b]) * there
    first, second = ((np.arange(members)[:, None] == each).astype(np.float32) for each in (a, b))
    return (a, b), there, signs, (first, second)


def _signs_of_ranks(codes: IntArray, z_codes: IntArray, present: BoolArray) -> tuple[str, tuple[Any, ...]]:
    _, _, signs, (first, second) = _by_pairs(z_codes, present)
    pairs, own, constant = _rank_parts(codes.astype(_COUNTS), present)
    by_member = map(np.ascontiguousarray, (pairs.sum(axis=1, dtype=_COUNTS), own, constant))
    rank_z = (first - second) @ signs.astype(np.float32)
    square_z = (rank_z**2).sum(axis=0, dtype=float)
    whole = np.ascontiguousarray(rank_z, np.int32)
    n = present.sum(axis=0).astype(float)
    return "signs", (np.ascontiguousarray(pairs, _narrow(present)), *by_member, whole, square_z, n)


def _signs_of_pairs(codes: IntArray, z_codes: IntArray, present: BoolArray) -> tuple[str, tuple[Any, ...]]:
    (a, b), there, signs, (first, second) = _by_pairs(z_codes, present)
    x, y = np.split(codes.astype(_COUNTS), 2)
    # Signs of x'_a − x'_b where both stay, b is swapped, a is swapped, both are.
    corners = [np.sign(one[a] - other[b]) * there for one, other in ((x, x), (x, y), (y, x), (y, y))]
    sides = [np.concatenate([corner * signs, np.abs(corner)], axis=1, dtype=_COUNTS) for corner in corners]
    constant, by_a, by_b, by_both = _parts(sides)
    odd = first @ by_a.astype(np.float32) + second @ by_b.astype(np.float32)
    sums = first @ by_both.astype(np.float32)
    counts = (np.ascontiguousarray(part, _COUNTS) for part in (sums, odd, constant.sum(axis=0)))
    untied_z, n = np.abs(signs).sum(axis=0), present.sum(axis=0).astype(float)
    return "pairs", (np.ascontiguousarray(by_both, _narrow(present)), *counts, untied_z, n)


def _narrow(present: BoolArray) -> type[np.signedinteger[Any]]:
    return np.int8 if len(present) <= _FEW_MEMBERS else _COUNTS


def _places(owner: IntArray, at: IntArray, layout: int, inputs: int) -> IntArray:
    """Places in a row of sign bits of members (groups, ...); each system has whole bytes."""
    width = -(-inputs // 8) * 8
    if layout == swap_kernels.BY_INPUT:
        return owner * width + at[:, None]
    if layout == swap_kernels.BY_SYSTEM:
        return at[:, None] * width + owner
    return owner // inputs * width + owner % inputs


def _rank_parts(codes: npt.NDArray[Any], present: BoolArray) -> tuple[npt.NDArray[Any], ...]:
    """What `swap_spearman` sums to four times the doubled rank of each member: of pairs, own sign, constant."""
    x, y = np.split(codes, 2)
    there = (present[:, None] & present) & ~np.eye(len(x), dtype=bool)[:, :, None]
    corners = [np.sign(u[:, None] - v) * there for u, v in ((x, x), (x, y), (y, x), (y, y))]
    constant, by_a, by_b, by_both = _parts(corners)
    pairs = np.concatenate([by_b, by_both], axis=2)
    return pairs, by_a.sum(axis=1, dtype=codes.dtype), constant.sum(axis=1, dtype=codes.dtype)


def _parts(corners: list[npt.NDArray[Any]]) -> tuple[npt.NDArray[Any], ...]:
    """Four times a function of two signs as constant + e_a·p + e_b·q + e_a·e_b·r, from its values at ++, +−, −+, −−."""
    stay, b_swapped, a_swapped, both = corners
    return (
        stay + b_swapped + a_swapped + both,
        stay + b_swapped - a_swapped - both,
        stay - b_swapped + a_swapped - both,
        stay - b_swapped - a_swapped + both,
    )
