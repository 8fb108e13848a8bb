"""Tests of the scores that two systems have on the same inputs, for many pairs of systems at once; plain arrays."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from xsumstat import _draws, _kernels_swaps, inference, resampling
from xsumstat import _kernels_systems as kernels
from xsumstat.coefficients import FloatArray
from xsumstat.levels import TOLERANCE, IntArray
from xsumstat.resampling import SwapPlan
from xsumstat.swap_ranks import BoolArray

METHODS = ("paired_t", "t", "wilcoxon", "monte_carlo", "hybrid", "bootstrap")
STATISTICS = ("t", "wilcoxon")
# Methods that sample, and those of them that take either statistic.
SAMPLED = ("monte_carlo", "hybrid", "bootstrap")
SWAPPED = ("monte_carlo", "hybrid")
NAMES = ("difference", "statistic", "forward", "backward", "n_inputs")

# The signed-rank test is exact, as SciPy's, for so many inputs: without ties, and with ties or differences of 0.
_EXACT, _EXACT_TIED = 50, 13
# Differences of so many cells, or resamples of pairs, are held at a time: 32 MB.
_CELLS = 2**22


@dataclass(frozen=True)
class Test:
    """Which test is made.

    Attributes
    ----------
    method : str
        Of `METHODS`.
    statistic : str
        Of `STATISTICS`, for the methods that swap.
    alternative : str
    n_resamples, seed : int
        For the methods that sample.
    """

    method: str
    statistic: str
    alternative: str
    n_resamples: int
    seed: int


@dataclass(frozen=True)
class Pairs:
    """Pairs of systems that have the same inputs in common.

    Attributes
    ----------
    at : array of int, (pairs,)
        Their places among all pairs.
    first, second : array, (pairs, inputs)
        Their scores.
    """

    at: IntArray
    first: FloatArray
    second: FloatArray

    @property
    def n(self) -> int:
        """Number of inputs."""
        return int(self.first.shape[1])

    @cached_property
    def near(self) -> FloatArray:
        """By how much differences may differ, from rounding, and still be tied."""
        sizes = [np.abs(each).max(axis=1, initial=0.0) for each in (self.first, self.second)]
        return np.asarray(TOLERANCE * np.maximum(*sizes))

    @cached_property
    def differences(self) -> FloatArray:
        """The first's scores less the second's."""
        found = self.first - self.second
        return np.where(np.abs(found) <= self.near[:, None], 0.0, found)

    @cached_property
    def ranks(self) -> tuple[FloatArray, FloatArray]:
        """Signed midranks of the differences (Wilcoxon leaves out those that are 0), and Σ(t³ − t) over ties."""
        ranks, tied = np.empty(self.first.shape), np.empty(len(self.at))
        kernels.signed_ranks(self.differences, self.near, ranks, tied)
        return ranks, tied


def in_common(x: FloatArray, pairs: IntArray) -> Iterator[tuple[IntArray, BoolArray]]:
    """Places of the pairs (pairs, 2) that have the same inputs in common, and these; `x` is (systems, inputs)."""
    there = ~np.isnan(x)
    if there.all():
        yield np.arange(len(pairs)), there[0]
        return
    groups: dict[bytes, list[int]] = {}
    for at, (a, b) in enumerate(pairs):
        groups.setdefault((there[a] & there[b]).tobytes(), []).append(at)
    for key, places in groups.items():
        yield np.array(places), np.frombuffer(key, dtype=bool)


def compare(x: FloatArray, pairs: IntArray, test: Test) -> FloatArray:
    """The numbers of `NAMES` for each pair (pairs, 2) of systems of `x` (systems, inputs), (names, pairs).

    "forward" is the p-value of the first system over the second, "backward" of the second over the first. Where the
    two have only one input in common there is nothing but a difference.
    """
    out = np.full((len(NAMES), len(pairs)), np.nan)
    for places, inputs in in_common(x, pairs):
        shared = np.ascontiguousarray(x[:, inputs])
        out[4, places] = shared.shape[1]
        if shared.shape[1] < 2:
            if shared.shape[1]:
                out[0, places] = (shared[pairs[places, 0]] - shared[pairs[places, 1]])[:, 0]
            continue
        at_once = max(1, _CELLS // max(shared.shape[1], _draws.BLOCK))
        for start in range(0, len(places), at_once):
            here = places[start : start + at_once]
            group = Pairs(here, shared[pairs[here, 0]], shared[pairs[here, 1]])
            out[:4, here] = _compared(group, test)
    return out


def _compared(group: Pairs, test: Test) -> FloatArray:
    """Difference of the means, statistic and the two p-values of each pair, (4, pairs)."""
    difference = group.differences.mean(axis=1)
    if test.method == "wilcoxon":
        statistic, (forward, backward) = group.ranks[0].sum(axis=1), _wilcoxon(group, test.alternative)
    elif test.method in ("paired_t", "t"):
        statistic, degrees = _paired_t(group) if test.method == "paired_t" else _pooled_t(group)
        forward, backward = _student(statistic, degrees, test.alternative)
    else:
        statistic = _statistic(group, test, difference)
        forward, backward = _sampled(group, test)
    same = ~group.differences.any(axis=1)  # nothing tells these two apart
    told = np.array([difference, statistic, forward, backward])
    told[1:, same] = np.array([0.0, 1.0, 1.0])[:, None]
    return told


# --- By formula ---


def _ratio(top: FloatArray, variance: FloatArray, size: FloatArray) -> FloatArray:
    """Top over the root of a variance, infinite where that is nothing but rounding of numbers of a size."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(top / np.sqrt(np.where(variance <= size**2, 0.0, variance)))


def _paired_t(group: Pairs) -> tuple[FloatArray, int]:
    """Student's t of the differences, and its degrees of freedom."""
    variance = group.differences.var(axis=1, ddof=1)
    return _ratio(group.differences.mean(axis=1), variance / group.n, group.near), group.n - 1


def _pooled_t(group: Pairs) -> tuple[FloatArray, int]:
    """Student's t of two independent samples of the same variance, and its degrees of freedom."""
    variance = group.first.var(axis=1, ddof=1) + group.second.var(axis=1, ddof=1)
    return _ratio(group.differences.mean(axis=1), variance / group.n, group.near), 2 * group.n - 2


def _student(statistic: FloatArray, degrees: int, alternative: str) -> tuple[FloatArray, FloatArray]:
    from scipy.special import stdtr

    if alternative == "two-sided":
        p = np.asarray(2 * stdtr(degrees, -np.abs(statistic)))
        return p, p
    below, above = (np.asarray(stdtr(degrees, sign * statistic)) for sign in (1, -1))
    return (above, below) if alternative == "greater" else (below, above)


def _wilcoxon(group: Pairs, alternative: str) -> tuple[FloatArray, FloatArray]:
    """p-values of the signed-rank test: exact for few inputs, as SciPy's are, else by the normal distribution."""
    from scipy.special import ndtr

    ranks, tied = group.ranks
    n = (ranks != 0).sum(axis=1)
    total = ranks.sum(axis=1)  # 2·W₊ − n(n + 1)/2, of variance n(n + 1)(2n + 1)/6 − ties/12
    variance = n * (n + 1) * (2 * n + 1) / 6 - tied / 12
    with np.errstate(divide="ignore", invalid="ignore"):
        z = total / np.sqrt(variance)
    at_least, at_most = np.asarray(ndtr(-z)), np.asarray(ndtr(z))
    few = np.where((tied == 0) & (n == group.n), _EXACT, _EXACT_TIED)
    for at in np.flatnonzero((group.n <= few) & (n > 0)):
        doubled = tuple(sorted(np.rint(2 * np.abs(ranks[at][ranks[at] != 0])).astype(int).tolist()))
        chances = _rank_sum_chances(doubled)
        positive = round(float((sum(doubled) + 2 * total[at]) / 2))  # of doubled ranks
        at_least[at], at_most[at] = chances[positive:].sum(), chances[: positive + 1].sum()
    if alternative == "two-sided":
        p = np.minimum(1.0, 2 * np.minimum(at_least, at_most))
        return p, p
    return (at_least, at_most) if alternative == "greater" else (at_most, at_least)


@lru_cache(maxsize=256)
def _rank_sum_chances(doubled: tuple[int, ...]) -> FloatArray:
    """Chances of each sum of the ranks that are positive, when signs are fair; ranks and sums are doubled."""
    chances = np.zeros(sum(doubled) + 1)
    chances[0] = 1.0
    for rank in doubled:
        chances[rank:] = (chances[rank:] + chances[:-rank]) / 2
        chances[:rank] /= 2
    return chances


# --- By sampling ---


def _statistic(group: Pairs, test: Test, difference: FloatArray) -> FloatArray:
    """What a sampling method's statistic is for the data: t, the rank sum, or the difference of the means."""
    if test.method == "bootstrap":
        return difference
    return _paired_t(group)[0] if test.statistic == "t" else group.ranks[0].sum(axis=1)


def _sampled(group: Pairs, test: Test) -> tuple[FloatArray, FloatArray]:
    """p-values from resamples of the inputs.

    What is compared stands for the statistic and lies within ±2: for t it is ``u = Σd/√(n·Σd²)``, of which t is
    ``√(n − 1)·u/√(1 − u²)``; for the rank sum its share of n(n + 1)/2; for the mean its share of the largest score.
    """
    draw = {"monte_carlo": _swap, "hybrid": _draw_and_swap, "bootstrap": _draw}[test.method]
    plan = SwapPlan.of((1, group.n), ("input",), False, test.n_resamples, test.seed)
    exact = test.method == "monte_carlo" and plan.exact
    n_resamples = plan.n_resamples if exact else test.n_resamples
    values = _values(group, test)
    observed = values.sum(axis=1)

    def count(block: int, stop: threading.Event) -> IntArray:
        found = draw(group, values, test, plan, block)
        if test.method == "bootstrap":
            found -= observed[:, None]
        counts = np.empty((4, len(observed)), dtype=np.int64)
        _kernels_swaps.compare(found, observed, TOLERANCE, counts)
        return counts

    counts = resampling.summed_over_blocks(count, _draws.n_blocks(n_resamples))
    return inference.permutation_pvalues(observed, counts, n_resamples, exact, test.alternative)


def _values(group: Pairs, test: Test) -> FloatArray:
    """What is summed over the inputs, (pairs, inputs)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if test.method == "bootstrap":
            values = group.differences / (group.n * group.near[:, None] / TOLERANCE)
        elif test.statistic == "t":
            d = group.differences
            values = d / np.sqrt(group.n * (d**2).sum(axis=1, keepdims=True))
        else:
            values = group.ranks[0] / (group.n * (group.n + 1) / 2)
    return np.nan_to_num(values)  # 0/0, where nothing tells the two apart


def _swap(group: Pairs, values: FloatArray, test: Test, plan: SwapPlan, block: int) -> FloatArray:
    """Sums with the two scores of each input swapped at random."""
    bits = plan.block(block)[:, 0, :]
    padded = np.zeros((len(values), 8 * bits.shape[1]))
    padded[:, : group.n] = values
    out = np.empty((len(values), len(bits)))
    for row, coefficients in zip(out, padded, strict=True):
        _kernels_swaps.swap_linear(coefficients, bits, row)
    return out


def _draw_and_swap(group: Pairs, values: FloatArray, test: Test, plan: SwapPlan, block: int) -> FloatArray:
    """The same statistic of inputs drawn with replacement, the two scores of each swapped at random."""
    rows = _draws.block_rows(test.n_resamples, block)
    counts = _draws.counts(test.seed, "input", group.n, block, rows)
    words = np.ascontiguousarray(_draws.coins(test.seed, "copy", 32 * group.n, block, rows)).view("<u4")
    total, net = np.empty((2, group.n, rows))
    kernels.net_counts(counts, words, total, net)
    out = np.empty((len(values), rows))
    if test.statistic == "wilcoxon":
        kernels.rank_sums(group.ranks[0], total, net, out)
        return out / (group.n * (group.n + 1) / 2)
    squares = np.empty_like(out)
    kernels.weighted_sums(values, net, out)
    kernels.weighted_sums(values**2, total, squares)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(out / np.sqrt(group.n * squares))


def _draw(group: Pairs, values: FloatArray, test: Test, plan: SwapPlan, block: int) -> FloatArray:
    """Means over inputs drawn with replacement."""
    return _drawn_sums(values, test.n_resamples, test.seed, block)


def _drawn_sums(values: FloatArray, n_resamples: int, seed: int, block: int) -> FloatArray:
    """Sums of rows of values (rows, inputs) over inputs drawn with replacement, (rows, resamples of the block)."""
    rows = _draws.block_rows(n_resamples, block)
    counts = _draws.counts(seed, "input", values.shape[1], block, rows)
    out = np.empty((len(values), rows))
    kernels.weighted_sums(values, np.ascontiguousarray(counts.T, dtype=float), out)
    return out


def win_shares(x: FloatArray, pairs: IntArray, n_resamples: int, seed: int) -> FloatArray:
    """In what share of resamples of the inputs that both have is the first, or the second, system's mean the higher.

    Parameters
    ----------
    x : array, (systems, inputs)
        NaN is a missing score.
    pairs : array of int, (pairs, 2)
    n_resamples, seed : int

    Returns
    -------
    array, (2, pairs)
        NaN where the two have no more than one input in common. Means that differ by less than 1e-12 of the largest
        score are tied.
    """
    out = np.full((2, len(pairs)), np.nan)
    for places, inputs in in_common(x, pairs):
        if inputs.sum() < 2:
            continue
        used, here = np.unique(pairs[places], return_inverse=True)
        shared = np.ascontiguousarray(x[used][:, inputs])
        chosen = np.ascontiguousarray(here.reshape(-1, 2))
        size = np.abs(shared).max(axis=1)
        wins = _wins(shared / shared.shape[1], chosen, TOLERANCE * size[chosen].max(axis=1), n_resamples, seed)
        out[:, places] = wins.T / n_resamples
    return out


def _wins(values: FloatArray, pairs: IntArray, near: FloatArray, n_resamples: int, seed: int) -> IntArray:
    def count(block: int, stop: threading.Event) -> IntArray:
        wins = np.zeros(pairs.shape, dtype=np.int64)
        kernels.count_wins(_drawn_sums(values, n_resamples, seed, block), pairs, near, wins)
        return wins

    return resampling.summed_over_blocks(count, _draws.n_blocks(n_resamples))


def settings_of(test: Test) -> dict[str, Any]:
    """What attrs say of a test."""
    about: dict[str, Any] = {"method": test.method, "alternative": test.alternative}
    if test.method in SWAPPED:
        about["statistic"] = test.statistic
    if test.method in SAMPLED:
        about |= {"n_resamples": test.n_resamples, "seed": str(test.seed)}
    return about


def unordered(rows: Sequence[int], columns: Sequence[int]) -> IntArray:
    """Every pair of a system of the rows and one of the columns, (pairs, 2), by their places, the lower first."""
    pairs = sorted({(min(a, b), max(a, b)) for a in rows for b in columns if a != b})
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
