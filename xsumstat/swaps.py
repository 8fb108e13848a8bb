"""Pairs of metrics made ready for permutation: what their difference becomes when scores trade places.

A `SwapTest` holds one or more pairs and gives r(X', Z) − r(Y', Z) of each for any swaps. X and Y are
standardised over the cells that both (and the gold) have, and only those cells count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from xsumstat import _kernels as kernels
from xsumstat import _kernels_swaps as loops
from xsumstat import levels
from xsumstat.coefficients import Coefficient, FloatArray

SwapArray = npt.NDArray[np.uint8]
BoolArray = npt.NDArray[np.bool_]
Pair = tuple[int, int]


class SwapTest(Protocol):
    """The differences of one or more pairs of metrics under swaps."""

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of metrics, by their places."""
        ...

    def differences(self, swaps: SwapArray) -> FloatArray:
        """Difference of each pair for each row of swaps, (pairs, resamples); swaps as `arranged`."""
        ...


def arranged(swaps: SwapArray, level: str) -> SwapArray:
    """Swaps (resamples, systems, inputs) in the order of axes in which a level's kernels read them."""
    return np.ascontiguousarray(swaps.transpose(0, 2, 1) if level in ("system", "within_system") else swaps)


def swap_tests(
    scores: FloatArray,
    z: FloatArray,
    pairs: tuple[Pair, ...],
    *,
    level: str,
    coefficient: Coefficient,
    missing: str,
    undefined: str,
) -> list[SwapTest]:
    """Make the given pairs of `scores` (metrics, systems, inputs) ready to be tested against gold `z`."""
    zero = undefined == "zero"
    if level == "system" and coefficient.kind is not None:
        return _system_tests(scores, z, pairs, coefficient.kind, missing)
    tests: list[SwapTest] = []
    for pair in pairs:
        cells = _common(scores, z, pair, "pairwise")
        x, y = (standardised(scores[metric], cells) for metric in pair)
        gold = np.where(cells, z, np.nan)
        if coefficient.kind is None:
            gold = z if level == "system" and missing == "available" else gold
            tests.append(_ByFunction((pair,), x, y, gold, level, coefficient, missing, zero))
        elif level == "global":
            tests.append(_Global.of(pair, x, y, gold, coefficient.kind))
        else:
            columns = (x.T, y.T, gold.T) if level == "within_system" else (x, y, gold)
            tests.append(_Grouped.of(pair, *columns, coefficient.kind, zero))
    return tests


def _common(scores: FloatArray, z: FloatArray, pair: Pair, missing: str) -> BoolArray:
    """Cells that a pair is compared on."""
    cells = levels.present(scores[pair[0]], scores[pair[1]])
    return cells if missing == "available" else cells & ~np.isnan(z)


def standardised(values: FloatArray, cells: BoolArray) -> FloatArray:
    """Values with mean 0 and sd 1 over the given cells, NaN elsewhere; 0 where they are constant."""
    out = np.full(values.shape, np.nan)
    here = levels.scaled(values[cells])
    if here.size:
        centred = here - here.mean()
        centred -= centred.mean()  # the first mean is rounded to the size of the scores, not of their spread
        spread = np.sqrt(np.mean(centred**2))
        out[cells] = centred / spread if np.ptp(here) > 0 else 0.0
    return out


def pooled(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, levels.IntArray]:
    """Standardised x and y (members, groups) in which values that rounding alone tells apart are equal.

    Also the dense codes of both, pooled within each group: (2·members, groups), x above y.
    """
    both = np.concatenate([x, y])
    order = np.argsort(both, axis=0, kind="stable")
    ordered = np.take_along_axis(both, order, axis=0)
    limit = kernels.TIE * np.maximum(1.0, np.abs(ordered))
    steps = np.zeros(both.shape, dtype=np.int64)
    steps[1:] = ordered[1:] - ordered[:-1] > limit[1:]
    first = np.maximum.accumulate(np.where(steps > 0, np.arange(len(both))[:, None], 0), axis=0)
    codes, values = np.empty_like(steps), np.empty_like(both)
    np.put_along_axis(codes, order, np.cumsum(steps, axis=0), axis=0)
    np.put_along_axis(values, order, np.take_along_axis(ordered, first, axis=0), axis=0)
    values[np.isnan(both)] = np.nan
    return values[: len(x)], values[len(x) :], codes


@dataclass(frozen=True)
class _System:
    """Pairs that share their cells, at system level."""

    pairs: tuple[Pair, ...]
    kind: int
    data: tuple[Any, ...]  # the arguments of the kernel between `kind` and `swaps`

    def differences(self, swaps: SwapArray) -> FloatArray:
        out = np.empty((len(self.pairs), len(swaps)))
        loops.swap_system(self.kind, *self.data, swaps, out)
        return out


def _system_tests(
    scores: FloatArray, z: FloatArray, pairs: tuple[Pair, ...], kind: int, missing: str
) -> list[SwapTest]:
    """One test for all pairs where all have the same cells, else one for each."""
    commons = [_common(scores, z, pair, missing) for pair in pairs]
    together = all(np.array_equal(cells, commons[0]) for cells in commons)
    families = [pairs] if together else [(pair,) for pair in pairs]
    return [
        _system_test(scores, z, family, cells, kind, missing) for family, cells in zip(families, commons, strict=False)
    ]


def _system_test(
    scores: FloatArray, z: FloatArray, pairs: tuple[Pair, ...], cells: BoolArray, kind: int, missing: str
) -> SwapTest:
    used = sorted({metric for pair in pairs for metric in pair})
    x = np.array([standardised(scores[metric], cells) for metric in used])
    gold = levels.scaled(np.where(~np.isnan(z) if missing == "available" else cells, z, np.nan))
    means, gold_cells = levels.system_means(gold, ~np.isnan(gold))
    there = (gold_cells > 0) & (cells.sum(axis=1) > 0)
    data = (
        np.ascontiguousarray(np.nan_to_num(x).transpose(0, 2, 1)),
        levels.or_none(cells.T),
        means,
        np.nan_to_num(np.abs(x)).sum(axis=2) / np.maximum(cells.sum(axis=1), 1),
        levels.rounding_scale(gold),
        there.astype(np.int64),
        np.array([[used.index(a), used.index(b)] for a, b in pairs], dtype=np.int64),
    )
    return _System(pairs, kind, data)


def _sorted_data(codes: levels.IntArray, z: FloatArray) -> tuple[levels.IntArray, levels.IntArray, levels.IntArray]:
    """Order and codes of pooled x and y, and the codes of z beside them, each (groups, 2·members)."""
    order, codes = levels.dense_codes(np.ascontiguousarray(codes.T))
    z_codes = levels.dense_codes(np.ascontiguousarray(np.concatenate([z, z]).T))[1]
    return order, codes, z_codes


@dataclass(frozen=True)
class _Global:
    """One pair, all cells as one vector."""

    pairs: tuple[Pair, ...]
    kind: int
    data: tuple[Any, ...]

    @classmethod
    def of(cls, pair: Pair, x: FloatArray, y: FloatArray, z: FloatArray, kind: int) -> _Global:
        cells = ~np.isnan(z)
        flat = (values.reshape(-1, 1) for values in (x, y))
        equal_x, equal_y, codes = pooled(*flat)
        if kind == kernels.PEARSON:
            scores = (np.nan_to_num(values.reshape(z.shape)) for values in (equal_x, equal_y, levels.scaled(z)))
            return cls((pair,), kind, (*scores, levels.or_none(cells)))
        mask = levels.or_none(cells.reshape(-1, 1))
        return cls((pair,), kind, (*_sorted_data(codes, z.reshape(-1, 1)), mask))

    def differences(self, swaps: SwapArray) -> FloatArray:
        out = np.empty(len(swaps))
        if self.kind == kernels.PEARSON:
            loops.swap_pearson_global(*self.data, swaps, out)
        else:
            loops.swap_sorted(self.kind, *self.data, swaps.reshape(len(swaps), -1, 1), False, out)
        return out[None]


@dataclass(frozen=True)
class _Grouped:
    """One pair, one correlation per group, then their average."""

    pairs: tuple[Pair, ...]
    kind: int
    form: str  # "moments", "pairs", "signs" or "sorted", as in `levels`
    data: tuple[Any, ...]
    zero: bool

    @classmethod
    def of(cls, pair: Pair, x: FloatArray, y: FloatArray, z: FloatArray, kind: int, zero: bool) -> _Grouped:
        cells = ~np.isnan(z)
        equal_x, equal_y, codes = pooled(x, y)
        if kind == kernels.PEARSON:
            scores = (np.ascontiguousarray(np.nan_to_num(values)) for values in (equal_x, equal_y, levels.scaled(z)))
            return cls((pair,), kind, "moments", (*scores, levels.or_none(cells)), zero)
        if kind == kernels.KENDALL_C or not levels.by_pairs(*x.shape):
            data = (*_sorted_data(codes, z), levels.or_none(cells))
            return cls((pair,), kind, "sorted", data, zero)
        return cls((pair,), kind, *_pair_data(codes, z, cells, kind), zero)

    def differences(self, swaps: SwapArray) -> FloatArray:
        out = np.empty(len(swaps))
        if self.form == "moments":
            loops.swap_pearson(*self.data, swaps, self.zero, out)
        elif self.form == "pairs":
            loops.swap_pairs(self.kind, *self.data, swaps, self.zero, out)
        elif self.form == "signs":
            loops.swap_spearman(*self.data, swaps, self.zero, out)
        else:
            loops.swap_sorted(self.kind, *self.data, swaps, self.zero, out)
        return out[None]


def _pair_data(codes: levels.IntArray, z: FloatArray, cells: BoolArray, kind: int) -> tuple[str, tuple[Any, ...]]:
    """What `swap_pairs` or `swap_spearman` reads, as one of them."""
    members = len(z)
    dtype = np.int16 if members <= 256 else np.int32
    x, y = (np.ascontiguousarray(part, dtype=dtype) for part in (codes[:members], codes[members:]))
    signs = levels.pair_signs(z, cells, dtype)
    a, b = np.triu_indices(members, 1)
    there = None if cells.all() else np.ascontiguousarray(cells[a] & cells[b], dtype=dtype)
    n = cells.sum(axis=0).astype(float)
    if kind != kernels.SPEARMAN:
        return "pairs", (x, y, signs, there, np.abs(signs).sum(axis=0, dtype=np.int64), n)
    rank = np.zeros(z.shape)
    np.add.at(rank, a, signs)
    np.subtract.at(rank, b, signs)
    return "signs", (x, y, rank, there, (rank**2).sum(axis=0), n)


@dataclass(frozen=True)
class _ByFunction:
    """One pair under any function of two vectors; the slow path."""

    pairs: tuple[Pair, ...]
    x: FloatArray
    y: FloatArray
    z: FloatArray
    level: str
    coefficient: Coefficient
    missing: str
    zero: bool

    def differences(self, swaps: SwapArray) -> FloatArray:
        back = arranged(swaps, self.level).astype(bool)  # arranging twice restores (systems, inputs)
        out = [self._value(self.x, self.y, swap) - self._value(self.y, self.x, swap) for swap in back]
        return np.array(out)[None]

    def _value(self, kept: FloatArray, traded: FloatArray, swap: BoolArray) -> float:
        undefined = "zero" if self.zero else "drop"
        settings: Any = {"level": self.level, "coefficient": self.coefficient, "missing": self.missing}
        comparison = levels.compare(np.where(swap, traded, kept), self.z, undefined=undefined, **settings)
        r, n = comparison.groups()
        return float(kernels.average(r, n, np.ones(len(r)), self.zero))
