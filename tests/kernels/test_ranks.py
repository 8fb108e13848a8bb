"""Rank coefficients of sorted members side by side: against the plain definitions, and their own plain-Python run."""

import itertools

import numpy as np
import pytest
import reference
from helpers import both_ways, same

from xsumstat.coefficients.sorted_ranks import Sorted
from xsumstat.kernels import correlation as kernels
from xsumstat.kernels import ranks as loops

KINDS = {
    "spearman": kernels.SPEARMAN,
    "kendall": kernels.KENDALL,
    "kendall_a": kernels.KENDALL_A,
    "kendall_c": kernels.KENDALL_C,
    "pairwise_accuracy": kernels.ACCURACY,
}
MEMBERS, LANES = 9, 3
# Groups with few and with many distinct values, one of a single x, one of a single z, one with two members, one empty.
GRADES = [(3, 4), (50, 2), (2, 50), (50, 50), (1, 5), (5, 1), (9, 9), (9, 9)]
SIZES = [9, 8, 9, 7, 9, 6, 2, 0]


def codes(rng, grades):
    return np.unique(rng.integers(0, grades, MEMBERS), return_inverse=True)[1]


def made():
    """Dense ranks of x and z (groups, members), and which members are there."""
    rng = np.random.default_rng(3)
    x, z = (np.array([codes(rng, pair[side]) for pair in GRADES]) for side in (0, 1))
    there = np.array([rng.permutation(MEMBERS) < size for size in SIZES])
    return rng, x, z, there


def room(groups, of_z):
    tree, scratch = np.full((of_z.max() + 2, LANES), -5, np.int32), np.full((loops.SCRATCH, LANES), -5, np.int32)
    return tree, scratch, np.zeros((len(groups.sizes), loops.SUMS, LANES))


def test_members_stand_by_x_and_from_the_largest_z_to_the_smallest():
    _, x, z, there = made()
    groups = Sorted.of(x, z, there)
    for g, size in enumerate(SIZES):
        want = sorted((int(x[g, a]), -int(z[g, a])) for a in range(MEMBERS) if there[g, a])
        assert [(a, -b) for a, b in zip(groups.x[g, :size], groups.z[g, :size], strict=True)] == want
        assert sorted(groups.order[g]) == list(range(MEMBERS)) and there[g, groups.order[g, :size]].all()


@pytest.mark.parametrize("name", KINDS)
def test_drawn_members(name):
    """Weights w·v of nine members in three rows and three columns; the first lane has each once, the last few."""
    rng, x, z, there = made()
    w, v = (rng.integers(0, 3, (3, LANES)).astype(np.int32) for _ in range(2))
    w[:, 0] = v[:, 0] = 1
    v[1:, 2] = 0
    groups = Sorted.of(x, z, there)
    where = groups.order // 3, groups.order % 3
    count = loops.spearman_sums if name == "spearman" else loops.kendall_sums
    *scratch, sums = room(groups, z)
    both_ways(count, False, *where, groups.x, groups.z, groups.sizes, w, v, *scratch, sums)
    weights = rng.integers(1, 3, (LANES, len(SIZES)))
    for zero in (False, True):
        r, n, out = np.empty(len(SIZES)), np.empty(len(SIZES)), np.full(LANES + 2, -9.0)
        given = sums, 1, 3, np.vstack([weights[:2], weights]), 2, zero, r, n, out
        both_ways(loops.sorted_averages, KINDS[name], False, *given)
        assert (out[[0, 1, 4]] == -9).all()
        for lane, s in ((1, 2), (2, 3)):
            total, share = 0.0, 0.0
            for g in range(len(SIZES)):
                times = [int(w[a // 3, lane] * v[a % 3, lane]) * bool(there[g, a]) for a in range(MEMBERS)]
                value = reference.coefficient(name, *(np.repeat(each[g], times).tolist() for each in (x, z)))
                defined = value is not None and not np.isnan(value)
                weight = (weights[:2], weights)[s >= 2][s - 2, g]
                if defined or (zero and sum(times)):
                    total, share = total + weight * (value if defined else 0.0), share + weight
            assert same(out[s], total / share)


@pytest.mark.parametrize("name", KINDS)
def test_members_that_are_there_by_their_coin(name):
    """The first half of members where the coin is 0, the others where it is 1; the coins stand in two bytes a lane."""
    rng, x, z, there = made()
    coin, bits = rng.permutation(16)[:MEMBERS], rng.integers(0, 256, (2, LANES))
    groups = Sorted.of(x, z, there)
    first_half = groups.order < MEMBERS // 2
    where = (coin[groups.order] // 8).astype(np.int32), (coin[groups.order] % 8 + 8 * first_half).astype(np.int32)
    count = loops.spearman_sums if name == "spearman" else loops.kendall_sums
    *scratch, sums = room(groups, z)
    w, v = bits.astype(np.int32), np.ones((1, 1), np.int32)
    both_ways(count, True, *where, groups.x, groups.z, groups.sizes, w, v, *scratch, sums)
    once, out = np.ones((1, 1), np.int64), np.empty(LANES)
    for g in range(len(SIZES)):
        here = sums[g : g + 1].copy()
        both_ways(loops.sorted_averages, KINDS[name], True, here, 0, LANES, once, 0, False, *np.empty((2, 1)), out)
        for lane in range(LANES):
            tossed = [bits[c // 8, lane] >> (c % 8) & 1 for c in coin]
            kept = [a for a in range(MEMBERS) if there[g, a] and tossed[a] == (a >= MEMBERS // 2)]
            pair = [each[g, kept].tolist() for each in (x, z)]
            want = reference.coefficient(name, *pair)
            if name == "pairwise_accuracy" and len(kept) > 1:  # C − D, of which the half is C but for what cancels
                signs = [
                    np.sign((a - b) * (c - d)) for (a, c), (b, d) in itertools.combinations(zip(*pair, strict=True), 2)
                ]
                want = sum(signs) / len(signs)
            assert same(out[lane], np.nan if want is None else want)


@pytest.mark.parametrize("name", ["kendall", "spearman"])
def test_resamples_side_by_side_are_those_one_by_one(name):
    """More than fit side by side, the last lanes not all in use; groups drawn alone, members alone, both, swaps."""
    rng, x, z, there = made()
    kind, groups = KINDS[name], Sorted.of(x, z, there)
    w, v = rng.integers(0, 3, (70, MEMBERS)), rng.integers(0, 3, (70, len(SIZES)))
    for counts, weights in ((w, v), (w, v[:1]), (w[:1], v)):
        got = groups.drawn(kind, counts, weights, True)
        each = [
            groups.drawn(kind, counts[s % len(counts)][None], weights[s % len(weights)][None], True) for s in range(70)
        ]
        assert got.tobytes() == np.concatenate(each).tobytes()
    bits, coins = rng.integers(0, 256, (70, 2), dtype=np.uint8), rng.integers(0, 16, groups.order.shape)
    each = [groups.swapped(kind, coins, row[None], True)[0] for row in bits]
    assert groups.swapped(kind, coins, bits, True).tobytes() == np.array(each).tobytes()


def test_sums_of_large_groups_do_not_overflow():
    """40,000 members drawn twice each, all of whose pairs are concordant: their number has 32 bits."""
    members = 40_000
    x = np.arange(members)[None] // 2
    groups = Sorted.of(x, x, np.full(x.shape, True))
    twice, once = np.full((1, members), 2), np.ones((1, 1), np.int64)
    assert (
        groups.drawn(kernels.KENDALL, twice, once, False)[0]
        == groups.drawn(kernels.SPEARMAN, twice, once, False)[0]
        == 1
    )
