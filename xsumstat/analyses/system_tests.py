"""Tests of the scores that two systems have on the same inputs, for many pairs of systems at once; plain arrays."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from xsumstat.coefficients import arrays
from xsumstat.core.types import TOLERANCE, BoolArray, FloatArray, IntArray
from xsumstat.inference import signed_ranks
from xsumstat.inference.jackknife import variance_of_mean
from xsumstat.inference.pvalues import by_t, permutation_pvalues
from xsumstat.kernels import swaps as _kernels_swaps
from xsumstat.kernels import systems as kernels
from xsumstat.resampling import draws
from xsumstat.resampling.jobs import Job
from xsumstat.resampling.plans import SwapPlan

METHODS = ("paired_t", "t", "wilcoxon", "monte_carlo", "hybrid", "bootstrap")
STATISTICS = ("t", "wilcoxon")
# Methods that sample, and those of them that take either statistic.
SAMPLED = ("monte_carlo", "hybrid", "bootstrap")
SWAPPED = ("monte_carlo", "hybrid")
NAMES = ("difference", "statistic", "forward", "backward", "n_inputs")
# Tests of means by Student's t have limits, too.
WITH_LIMITS = ("paired_t", "t")
# Those that keep inputs of one cluster together.
CLUSTERED = ("paired_t", "monte_carlo", "bootstrap")
LIMITS = ("ci_low", "ci_high", "standard_error", "df")


@dataclass(frozen=True)
class Test:
    """Method, statistic, alternative, resamples and confidence level of a test."""

    method: str
    statistic: str
    alternative: str
    n_resamples: int
    seed: int
    level: float = 0.95


@dataclass(frozen=True)
class Pairs:
    """Pairs of systems with the same inputs in common; differences of grades are multiples of `step`."""

    at: IntArray
    first: FloatArray
    second: FloatArray
    step: float
    codes: IntArray | None = None  # the cluster of each input, from 0 on; None if each is its own

    @property
    def n(self) -> int:
        """Number of inputs."""
        return int(self.first.shape[1])

    @property
    def n_units(self) -> int:
        """Number of inputs, or clusters of them, that are swapped, drawn or left out together."""
        return self.n if self.codes is None else int(self.codes.max(initial=-1)) + 1

    def by_unit(self, values: FloatArray) -> FloatArray:
        """Values (..., inputs) summed over each cluster."""
        return values if self.codes is None else np.ascontiguousarray(arrays.summed(values.T, self.codes).T)

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
    def steps(self) -> FloatArray:
        """The differences of grades in whole steps, whose equal sums are exactly equal; others as they are."""
        return np.rint(self.differences / self.step) if self.step else self.differences

    @cached_property
    def ranks(self) -> tuple[FloatArray, FloatArray]:
        """Signed midranks of the differences (Wilcoxon leaves out those that are 0), and Σ(t³ − t) over ties."""
        return signed_ranks.ranked(self.differences, self.near)


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


@dataclass(frozen=True)
class Ready:
    """Pairs of systems, grouped by the inputs that they have in common; scores were divided by 2 to `power`."""

    groups: list[_Group]
    differences: FloatArray
    n_inputs: FloatArray
    n_units: FloatArray
    power: int


@dataclass(frozen=True)
class SystemTests(Job[Ready]):
    """The test of each pair of systems, with the p-values of either order.

    Of one shared input, or cluster, there is only a difference.
    """

    targets: IntArray  # type: ignore[assignment]
    test: Test
    codes: IntArray | None = None  # the cluster of each input

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """The numbers of each pair."""
        names = (*NAMES, *LIMITS) if self.test.method in WITH_LIMITS else NAMES
        return names if self.codes is None else (*names, "n_clusters")

    @property
    def n_resamples(self) -> int:  # type: ignore[override]
        """How many resamples are looked at, none by a formula."""
        return self.test.n_resamples if self.test.method in SAMPLED else 0

    def bytes_each(self, x: Any, z: Any = None, *beside: Any) -> int:
        """About how many bytes a pair takes."""
        return 16 * max(int(x.shape[-1]), draws.BLOCK)

    def ready(self, at: slice, x: FloatArray, z: Any = None, *beside: Any) -> Ready:
        """Some pairs of systems of `x` (systems, inputs), and what is summed in each resample."""
        pairs, power = self.targets[at], arrays.exponent(x)
        x = arrays.scaled(x)
        of_steps = self.test.method in SWAPPED and self.test.statistic == "t"  # whose sums may tie
        step = arrays.whole_step(x) if of_steps else 0.0
        differences = np.full(len(pairs), np.nan)
        n_inputs, n_units = np.empty((2, len(pairs)))
        groups = []
        for places, inputs in in_common(x, pairs):
            shared = np.ascontiguousarray(x[:, inputs])
            n_inputs[places] = shared.shape[1]
            one, two = (shared[pairs[places, side]] for side in (0, 1))
            codes = None if self.codes is None else np.unique(self.codes[inputs], return_inverse=True)[1]
            found = Pairs(places, one, two, step, codes)
            n_units[places] = found.n_units
            if found.n_units > 1:
                groups.append(_Group.of(found, self.test))
            elif found.n:
                differences[places] = found.differences.mean(axis=1)
        return Ready(groups, differences, n_inputs, n_units, power)

    def block(self, ready: Ready, block: int, out: FloatArray, stop: threading.Event | None) -> IntArray:
        """Counts of one block, (4, pairs), as `PairTests` counts them."""
        totals = np.zeros((4, len(ready.n_inputs)), dtype=np.int64)
        for group in ready.groups:
            if stop is not None and stop.is_set():
                break
            if block < draws.n_blocks(group.n_resamples):
                totals[:, group.pairs.at] = group.count(block)
        return totals

    def finish(self, ready: Ready, counts: IntArray | None, samples: FloatArray) -> FloatArray:
        """The numbers of each pair, (names, pairs)."""
        found = np.full((len(self.names), len(ready.n_inputs)), np.nan)
        found[0], found[4] = ready.differences, ready.n_inputs
        if self.codes is not None:
            found[-1] = ready.n_units
        for group in ready.groups:
            at = group.pairs.at
            found[:4, at] = group.numbers(None if counts is None else counts[:, at])
            if self.test.method in WITH_LIMITS:
                found[len(NAMES) : len(NAMES) + len(LIMITS), at] = _limits(group.pairs, self.test)
        scores = [0, 1] if self.test.method == "bootstrap" else [0]  # its statistic is the difference
        scores += [at for at, name in enumerate(self.names) if name in ("ci_low", "ci_high", "standard_error")]
        with np.errstate(over="ignore"):
            found[scores] = np.ldexp(found[scores], ready.power)
        return found


@dataclass(frozen=True)
class _Group:
    """Pairs with the same inputs in common, ready to be tested.

    Resamples compare ``u = Σd/√(n·Σd²)`` in place of ``t = √(n − 1)·u/√(1 − u²)``; u lies within ±1.
    """

    pairs: Pairs
    test: Test
    values: FloatArray
    plan: SwapPlan

    @classmethod
    def of(cls, pairs: Pairs, test: Test) -> _Group:
        plan = SwapPlan.of((1, pairs.n_units), ("input",), False, test.n_resamples, test.seed)
        return cls(pairs, test, _values(pairs, test) if test.method in SAMPLED else np.empty((0, 0)), plan)

    @property
    def exact(self) -> bool:
        return self.test.method == "monte_carlo" and self.plan.exact

    @property
    def n_resamples(self) -> int:
        return self.plan.n_resamples if self.exact else self.test.n_resamples

    @cached_property
    def observed(self) -> FloatArray:
        return np.asarray(self.values.sum(axis=1))

    def count(self, block: int) -> IntArray:
        draw = {"monte_carlo": _swap, "hybrid": _draw_and_swap, "bootstrap": _draw}[self.test.method]
        found = draw(self.pairs, self.values, self.test, self.plan, block)
        if self.test.method == "bootstrap":
            found -= self.observed[:, None]
        counts = np.empty((4, len(self.observed)), dtype=np.int64)
        _kernels_swaps.compare(found, self.observed, TOLERANCE, counts)
        return counts

    def numbers(self, counts: IntArray | None) -> FloatArray:
        pairs, test = self.pairs, self.test
        difference = pairs.differences.mean(axis=1)
        if test.method == "wilcoxon":
            statistic, (forward, backward) = (
                pairs.ranks[0].sum(axis=1),
                signed_ranks.pvalues(*pairs.ranks, test.alternative),
            )
        elif test.method in ("paired_t", "t"):
            statistic, degrees = _of_t(pairs, test.method)
            forward, backward = by_t(statistic, degrees, test.alternative)
        else:
            assert counts is not None
            statistic = _statistic(pairs, test, difference)
            forward, backward = permutation_pvalues(
                self.observed, counts, self.n_resamples, self.exact, test.alternative
            )
        same = ~pairs.differences.any(axis=1)  # nothing tells these two apart
        numbers = np.array([difference, statistic, forward, backward])
        numbers[1:, same] = np.array([0.0, 1.0, 1.0])[:, None]
        return numbers


# --- By formula ---


def _ratio(top: FloatArray, variance: FloatArray, size: FloatArray) -> FloatArray:
    """Top over the root of a variance, infinite where that is nothing but rounding of numbers of a size."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(top / np.sqrt(_beyond_rounding(variance, size)))


def _beyond_rounding(variance: FloatArray, size: FloatArray) -> FloatArray:
    return np.where(variance <= size**2, 0.0, variance)


def _of_mean(group: Pairs, method: str) -> tuple[FloatArray, int]:
    if method == "paired_t":
        if group.codes is not None:
            return variance_of_mean(group.differences, group.codes), group.n_units - 1
        return group.differences.var(axis=1, ddof=1) / group.n, group.n - 1
    variance = group.first.var(axis=1, ddof=1) + group.second.var(axis=1, ddof=1)
    return variance / group.n, 2 * group.n - 2


def _of_t(group: Pairs, method: str) -> tuple[FloatArray, int]:
    variance, degrees = _of_mean(group, method)
    return _ratio(group.differences.mean(axis=1), variance, group.near), degrees


def _limits(group: Pairs, test: Test) -> FloatArray:
    from scipy.special import stdtrit

    variance, degrees = _of_mean(group, test.method)
    error = np.sqrt(_beyond_rounding(variance, group.near))
    half = stdtrit(degrees, (1 + test.level) / 2) * error
    difference = group.differences.mean(axis=1)
    return np.array([difference - half, difference + half, error, np.full(len(error), float(degrees))])


# --- By sampling ---


def _statistic(group: Pairs, test: Test, difference: FloatArray) -> FloatArray:
    if test.method == "bootstrap":
        return difference
    return _of_t(group, "paired_t")[0] if test.statistic == "t" else group.ranks[0].sum(axis=1)


def _values(group: Pairs, test: Test) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        if test.method == "bootstrap":
            values = group.differences / (group.n * group.near[:, None] / TOLERANCE)
        elif test.statistic == "t":
            d = group.steps
            values = d / np.sqrt(group.n * (d**2).sum(axis=1, keepdims=True))
        else:
            values = group.ranks[0] / (group.n * (group.n + 1) / 2)
    return group.by_unit(np.nan_to_num(values))  # 0/0, where nothing tells the two apart


def _swap(group: Pairs, values: FloatArray, test: Test, plan: SwapPlan, block: int) -> FloatArray:
    bits = plan.block(block)[:, 0, :]
    padded = np.zeros((len(values), 8 * bits.shape[1]))
    padded[:, : group.n_units] = values
    out = np.empty((len(values), len(bits)))
    for row, coefficients in zip(out, padded, strict=True):
        _kernels_swaps.swap_linear(coefficients, bits, row)
    return out


def _draw_and_swap(group: Pairs, values: FloatArray, test: Test, plan: SwapPlan, block: int) -> FloatArray:
    rows = draws.block_rows(test.n_resamples, block)
    counts = draws.counts(test.seed, "input", group.n, block, rows)
    words = np.ascontiguousarray(draws.sign_bits(test.seed, "copy", 32 * group.n, block, rows)).view("<u4")
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
    sums = drawn_sums(values, test.n_resamples, test.seed, block)
    if group.codes is None:
        return sums
    share = np.bincount(group.codes)[None] / group.n  # of all inputs: clusters differ in size
    return np.asarray(sums / drawn_sums(share, test.n_resamples, test.seed, block))


def drawn_sums(values: FloatArray, n_resamples: int, seed: int, block: int) -> FloatArray:
    """Sums of rows of values (rows, inputs) over inputs drawn with replacement, (rows, resamples of the block)."""
    rows = draws.block_rows(n_resamples, block)
    counts = draws.counts(seed, "input", values.shape[1], block, rows)
    out = np.empty((len(values), rows))
    kernels.weighted_sums(values, np.ascontiguousarray(counts.T, dtype=float), out)
    return out


def settings_of(test: Test, n_units: int) -> dict[str, Any]:
    """Attrs of a result; of so few inputs (or clusters) that all swaps are enumerated, how many these are."""
    attrs: dict[str, Any] = {"method": test.method, "alternative": test.alternative}
    if test.method in SWAPPED:
        attrs["statistic"] = test.statistic
    if test.method in SAMPLED:
        attrs |= {"n_resamples": test.n_resamples, "seed": str(test.seed)}
    if test.method == "monte_carlo" and 2**n_units <= test.n_resamples:
        attrs |= {"exact": True, "n_resamples": 2**n_units}
    return attrs


def unordered(rows: Sequence[int], columns: Sequence[int]) -> IntArray:
    """Every pair of a system of the rows and one of the columns, (pairs, 2), by their places, the lower first."""
    pairs = sorted({(min(a, b), max(a, b)) for a in rows for b in columns if a != b})
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
