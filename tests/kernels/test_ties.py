"""Kernels for pairs of outputs: against plain loops and their own plain-Python run."""

import itertools
import math

import numpy as np
import pytest
import reference
from helpers import both_ways, pairwise, rows, same

from xsumstat.coefficients.arrays import packed
from xsumstat.coefficients.rank_swaps import Pooled
from xsumstat.coefficients.tie_swaps import CalibratedSwaps
from xsumstat.coefficients.ties import LikeWMT, Members, WithTies
from xsumstat.kernels import correlation as kernels
from xsumstat.kernels import ties as loops

RNG = np.random.default_rng(1)
# Coarse scores, so that many differences are equal; groups of different sizes, one of one output, one of none.
X, Y, Z = (RNG.integers(0, grades, (5, 6)).astype(float) for grades in (4, 5, 3))
GONE = np.zeros(X.shape, bool)
GONE[1:, 2] = GONE[:, 4] = GONE[0, 0] = GONE[1:3, 1] = True
X, Y, Z = (np.where(GONE, np.nan, each) for each in (X, Y, Z))
W = np.array([[1, 1, 1, 1, 1], [0, 2, 1, 0, 2], [2, 0, 0, 3, 0], [0, 0, 0, 0, 5]])
V = np.array([[1, 1, 1, 1, 1, 1], [0, 2, 1, 1, 2, 0], [3, 0, 0, 1, 1, 1], [0, 0, 5, 0, 1, 0]])
ONE = (np.ones((1, 5), int), np.ones((1, 6), int))
LAYOUT = {"input": (W, V), "within_system": (V, W), "global": (W, V)}


# --- Accuracy with ties ---


def test_the_best_gain_is_after_the_last_of_equal_differences():
    """Of places that are as good the first; no gain that rounding makes."""
    gains = np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
    for ends, want in (
        ([1, 1, 1, 1, 1, 1], (4, 2.0)),
        ([0, 1, 1, 0, 1, 1], (6, 2.0)),
        ([0, 1, 1, 0, 1, 0], (3, 1.0)),
        ([0, 1, 0, 0, 0, 0], (0, 0.0)),
    ):
        assert both_ways(loops.best_gain, gains, np.array(ends, bool)) == want
    assert both_ways(loops.best_gain, np.array([1e-14, 1.0, -1e-15, 2e-15]), np.ones(4, bool)) == (2, 1 + 1e-14)


def test_tied_pairs_and_members_of_what_was_drawn():
    codes, w = np.array([0, 2, -1, 2, 0]), np.array([1, 2, 4, 1, 0])
    # drawn: one of code 0, three of code 2
    assert both_ways(loops.tied_pairs, codes, w, np.empty(5, np.int64)) == (3.0, 4)


def ready(x, z, level, threshold):
    return WithTies.of(Members.of(x, z, level), threshold, x.shape, level, False)


def plainly(name, x, z, level, w, v, undefined, threshold):
    drawn = (reference.drawn(rows(each), w, v) for each in (x, z))
    return reference.correlation(name, *drawn, level, undefined=undefined, threshold=threshold)


@pairwise(
    {
        "threshold": [None, 0.0, 1.0, 2.5],
        "zero": [False, True],
        "level": ["input", "within_system"],
    }
)
def test_accuracy_with_ties(level, zero, threshold):
    found = ready(X, Z, level, math.nan if threshold is None else threshold)
    pairs = (found.first, found.second, found.group, found.gain, found.ends)
    stop = -1 if threshold is None else found.stop
    for w, v in ((W, V), (W, ONE[1]), (ONE[0], V)):
        out, (members, groups) = np.empty(4), (v, w) if level == "within_system" else (w, v)
        both_ways(loops.accuracy_with_ties, *pairs, found.codes, stop, members, groups, zero, out)
        for s, got in enumerate(out):
            counts = w[min(s, len(w) - 1)], v[min(s, len(v) - 1)]
            assert same(got, plainly("acc_eq", X, Z, level, *counts, "zero" if zero else "drop", threshold)), (s, got)


@pytest.mark.parametrize("threshold", [None, 1.0])
def test_accuracy_of_cells(threshold):
    found = ready(X, Z, "global", math.nan if threshold is None else threshold)
    pairs = (found.first, found.second, found.gain, found.ends)
    present, stop, out = found.codes[0] >= 0, -1 if threshold is None else found.stop, np.empty(4)
    both_ways(loops.accuracy_of_cells, *pairs, found.codes, stop, present, W, V, out)
    for s, got in enumerate(out):
        assert same(got, plainly("acc_eq", X, Z, "global", W[s], V[s], "drop", threshold))


# --- WMT's tau ---


@pytest.mark.parametrize("level", ["input", "within_system", "global"])
def test_pooled_pairs(level):
    found = LikeWMT.of(Members.of(X, Z, level), 1.5, X.shape, level)
    out, pairs = np.empty(4), (found.first, found.second)
    if level == "global":
        both_ways(loops.pooled_cells, *pairs, found.sign, 6, W, V, out)
    else:
        both_ways(loops.pooled_pairs, *pairs, found.group, found.sign, *LAYOUT[level], out)
    for s, got in enumerate(out):
        assert same(got, plainly("kendall_like", X, Z, level, W[s], V[s], "drop", 1.5))


# --- Means ---

# A lane each: equal differences, differences that rounding alone parts, all tied, untied.
MEANS_X = np.array([[0, 0.1, 1, 0.3], [1, 0.2, 1, 0.1], [2, 0.3, 1, 0.7], [3, 0.7, 1, 0.2], [3, 0.7, 1, 1.9]])
MEANS_Z = np.array([[0, 1, 1, 2.0], [0, 1, 2, 1], [1, 1, 1, 1], [2, 2, 0, 2], [1, 1, 1, 3]])
WEIGHTS = [np.ones((5, 4)), np.array([[1, 2, 0, 0], [1, 1, 1, 1], [2, 0, 3, 0], [0, 1, 1, 0], [1, 1, 0, 0.0]])]


@pytest.mark.parametrize(
    "name, threshold", [("acc_eq", None), ("acc_eq", 0.0), ("acc_eq", 1.0), ("acc_eq", 0.1), ("kendall_like", 1.0)]
)
@pytest.mark.parametrize("w", WEIGHTS, ids=["all", "drawn"])
def test_decisions_of_means(name, threshold, w):
    kind = {"acc_eq": kernels.ACC_EQ, "kendall_like": kernels.KENDALL_LIKE}[name]
    out, zeros = np.empty((1, 4)), np.zeros(5)
    given = math.nan if threshold is None else threshold
    both_ways(loops.decision_blocks, kind, given, MEANS_X[None], MEANS_Z[None], zeros, zeros, w[None], out)
    for lane in range(4):
        at = np.repeat(np.arange(5), w[:, lane].astype(int))
        x, z = ([[value] for value in each[at, lane].tolist()] for each in (MEANS_X, MEANS_Z))
        assert same(out[0, lane], reference.correlation(name, x, z, "system", threshold=threshold)), lane


def test_means_of_both_signs_are_tied_by_what_was_summed():
    """Two means of 0 that rounding parts, of scores of size 1."""
    x, z = np.array([[0.0], [1e-17], [1.0]])[None], np.array([[1.0], [1.0], [2.0]])[None]
    for scale, want in ((1.0, 1.0), (0.0, 2 / 3)):
        out = np.empty((1, 1))
        scales = np.full(3, scale), np.zeros(3)
        both_ways(loops.decision_blocks, kernels.ACC_EQ, 0.0, x, z, *scales, np.ones((1, 3, 1)), out)
        assert out[0, 0] == pytest.approx(want)


@pytest.mark.parametrize("kind", [kernels.KENDALL, kernels.KENDALL_A, kernels.ACCURACY])
def test_close_means(kind):
    """At the limits themselves too; copies of a system are no pair."""
    low, high = np.array([0.0, 1.0, 0.1]), np.array([1.0, 2.0, 0.2])
    zeros, out, counts = np.zeros(5), np.empty((3, 1, 4)), np.empty((3, 1, 4))
    for w in WEIGHTS:
        both_ways(loops.close_blocks, kind, low, high, MEANS_X[None], MEANS_Z[None], zeros, zeros, w[None], out, counts)
        for k, lane in itertools.product(range(3), range(4)):
            sums = np.zeros(5)  # C, D, untied in x, in z, pairs
            for a, b in itertools.combinations(range(5), 2):
                gap, other = np.round(MEANS_X[a, lane] - MEANS_X[b, lane], 9), MEANS_Z[a, lane] - MEANS_Z[b, lane]
                if low[k] <= abs(gap) <= high[k]:
                    here = gap * other > 0, gap * other < 0, gap != 0, other != 0, True
                    sums += w[a, lane] * w[b, lane] * np.array(here)
            c, d, untied_x, untied_z, pairs = sums.tolist()
            if kind == kernels.ACCURACY:
                want = c / pairs if pairs else math.nan
            elif not untied_x * untied_z:
                want = math.nan
            else:
                want = (c - d) / (pairs if kind == kernels.KENDALL_A else math.sqrt(untied_x * untied_z))
            assert same(out[k, 0, lane], want) and counts[k, 0, lane] == pairs


# --- Swaps ---


def test_signs():
    assert [both_ways(loops.sign_of, *each) for each in ((2.0, 1.0), (1.0, 2.0), (1.0, 1.0))] == [1, -1, 0]


def right(x, z, threshold, strict):
    """How many decisions are right (less those that are wrong, under WMT's tau, halved), and how many count."""
    count = total = 0
    for a, b in itertools.combinations(range(len(x)), 2):
        sign = np.sign(z[a] - z[b])
        if not math.isnan(z[a] + z[b]) and not (strict and (sign == 0 or abs(z[a] - z[b]) < threshold - 1e-9)):
            total += 1
            count += np.sign(x[a] - x[b]) == sign
    return count, total


@pytest.mark.parametrize("strict, threshold", [(False, math.nan), (True, 0.2), (True, 0.5)])
def test_odd_parts_are_what_swaps_change(strict, threshold):
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 3, (2, 2, 5)).astype(float)
    z = np.array([[0.1, 0.3, 0.3, 0.8, 0.6], [0.1, np.nan, 0.3, 0.8, 0.1]])  # 0.3 − 0.1 is a little less than 0.2
    out, pairs = np.empty((2, 5)), np.empty(2)
    both_ways(loops.odd_parts, x, y, z, threshold, strict, out, pairs)
    for g in range(2):
        assert pairs[g] == right(x[g], z[g], threshold, strict)[1]
        for swap in itertools.product((False, True), repeat=5):
            new = (np.where(swap, y[g], x[g]), np.where(swap, x[g], y[g]))
            counts = [right(each, z[g], threshold, strict)[0] for each in new]
            assert out[g] @ (1 - 2 * np.array(swap)) == pytest.approx(counts[0] - counts[1], abs=1e-12)


@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("level", ["input", "within_system"])
def test_best_thresholds_of_what_swaps_make(level, zero):
    members, others = (Members.of(each, Z, level) for each in (X, Y))
    pooled = Pooled.of(members.x, others.x)
    found = CalibratedSwaps.of((0, 1), pooled, members, X.shape, level, zero)
    for seed in range(8):
        swap = np.random.default_rng(seed).integers(0, 2, X.shape, dtype=np.uint8) * (seed > 0)
        by_member = np.ascontiguousarray(swap.T if level == "within_system" else swap)
        got = both_ways(loops.swap_calibrated, *found.entries, found.factor, by_member)
        new = reference.swapped(rows(X), rows(Y), swap.tolist())
        r = [
            reference.correlation("acc_eq", each, rows(Z), level, undefined="zero" if zero else "drop") for each in new
        ]
        assert same(got, r[0] - r[1])
        assert same(found.differences(packed(swap[None]))[0, 0], r[0] - r[1])
