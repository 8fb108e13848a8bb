"""Kernels that leave one out: against members that are really left out, and their own plain-Python run."""

import itertools

import jackknife_twin as twin
import numpy as np
import pytest
from helpers import both_ways, same

from xsumstat.coefficients.arrays import dense_codes, read_only
from xsumstat.kernels import correlation as numbers
from xsumstat.kernels import jackknife as kernels

KINDS = {
    "spearman": numbers.SPEARMAN,
    "kendall": numbers.KENDALL,
    "kendall_a": numbers.KENDALL_A,
    "kendall_c": numbers.KENDALL_C,
    "pairwise_accuracy": numbers.ACCURACY,
}
MEMBERS, GROUPS = 7, 9


def groups(seed=0, gaps=True):
    """Two scores of some members in some groups, tied; a group of none, of one and of two, one that is constant."""
    rng = np.random.default_rng(seed)
    x, z = rng.integers(0, 4, (2, MEMBERS, GROUPS)).astype(float)
    x[:, 3], z[:, 4] = 1.0, 2.0
    x[:, 5] = rng.permutation(MEMBERS)
    z[:, 5] = x[:, 5]
    there = rng.random(x.shape) > (0.25 if gaps else -1)
    if gaps:
        there[:, 0], there[1:, 1], there[2:, 2] = False, False, False
        there[0, 1] = there[:2, 2] = True
    return x, z, there


def coded(x, z, there):
    """The order by x, and both scores' dense ranks, (groups, members)."""
    order, codes_x = dense_codes(np.ascontiguousarray(np.where(there, x, np.nan).T))
    return order, codes_x, dense_codes(np.ascontiguousarray(np.where(there, z, np.nan).T))[1]


def one_group(seed, n=8, gaps=True):
    """Dense ranks of one group, who is there, and room."""
    rng = np.random.default_rng(seed)
    x, z = rng.integers(0, 4, (2, n)).astype(float)
    there = rng.random(n) > 0.3 if gaps else np.ones(n, bool)
    order, codes_x, codes_z = (each[0] for each in coded(x[:, None], z[:, None], there[:, None]))
    return x, z, there, order, codes_x, codes_z


def room(n, *rows):
    return np.full((*rows, n), 99, np.int64)


def left_out(name, x, z, there):
    """The coefficient of each group, and without each of its members, really left out."""
    r, without = np.full(x.shape[1], np.nan), np.full(x.shape, np.nan)
    for j in range(x.shape[1]):
        here = np.flatnonzero(there[:, j])
        r[j] = twin.correlate(name, x[here, j], z[here, j])
        for i in here:
            rest = here[here != i]
            without[i, j] = twin.correlate(name, x[rest, j], z[rest, j])
    return r, without


# --- Pearson ---


@pytest.mark.parametrize("gaps", [True, False])
def test_pearson_without_each_member(gaps):
    for seed in range(4):
        x, z, there = groups(seed, gaps)
        x, z = np.where(there, x, 0.0), np.where(there, z, 0.0)
        r, without = np.full(GROUPS, 99.0), np.full(x.shape, 99.0)
        mask = there.astype(float) if gaps else None
        both_ways(kernels.pearson_without_one, read_only(x), read_only(z), mask, r, without)
        want = left_out("pearson", x, z, there)
        np.testing.assert_allclose(r, want[0], atol=1e-12)
        np.testing.assert_allclose(without, want[1], atol=1e-12)


@pytest.mark.parametrize("far", [1e3, 1e8])
def test_pearson_without_a_member_that_has_nearly_all_the_variance(far):
    """What remains of a sum of squares would be rounding: it is summed anew."""
    rng = np.random.default_rng(2)
    x, z = rng.normal(size=(2, 12, 3))
    x[5], z[7, 1] = far, -far
    r, without = np.empty(3), np.empty((12, 3))
    kernels.pearson_without_one(read_only(x), read_only(z), None, r, without)
    np.testing.assert_allclose(without, left_out("pearson", x, z, np.ones(x.shape, bool))[1], atol=1e-10)


def test_pearson_of_scores_far_from_0():
    rng = np.random.default_rng(3)
    x, z = rng.normal(size=(2, 9, 2))
    r, without = np.empty(2), np.empty((9, 2))
    kernels.pearson_without_one(read_only(x + 1e8), read_only(z - 1e8), None, r, without)
    want = left_out("pearson", (x + 1e8) - 1e8, (z - 1e8) + 1e8, np.ones(x.shape, bool))
    np.testing.assert_allclose(r, want[0], atol=1e-10)
    np.testing.assert_allclose(without, want[1], atol=1e-7)


def test_pearson_of_the_rest_from_its_cells():
    x, z, there = groups(5)
    x, z = np.where(there, x, 0.0), np.where(there, z, 0.0)
    for j, out in itertools.product(range(GROUPS), range(-1, MEMBERS)):
        rest = there[:, j] & (np.arange(MEMBERS) != out)
        got = both_ways(kernels.pearson_rest, x, z, there.astype(float), j, out)
        assert same(got, twin.correlate("pearson", x[rest, j], z[rest, j]), 1e-12)


# --- Counts ---


def test_how_many_have_a_smaller_code():
    codes, here = np.array([2, 0, 1, 0, 3]), np.array([1, 1, 1, 1, 0])
    below = room(6)
    both_ways(kernels.count_below, codes, here, below)
    assert below.tolist() == [0, 2, 3, 4, 4, 4]  # two of code 0, one of 1, one of 2; who has 3 is absent
    assert both_ways(kernels.distinct_codes, below) == 3


@pytest.mark.parametrize("seed", range(6))
def test_decisions_of_each_member(seed):
    """With how many others it is ordered alike, and oppositely: by pairs."""
    x, z, there, order, codes_x, codes_z = one_group(seed, gaps=seed % 2 == 0)
    n = len(x)
    alike, opposite = np.zeros(n, np.int64), np.zeros(n, np.int64)
    here = there.astype(np.int64)
    both_ways(kernels.decide, order, codes_x, codes_z, here, *(room(n + 1) for _ in range(3)), alike, opposite)
    for a in np.flatnonzero(there):
        product = [(x[a] - x[b]) * (z[a] - z[b]) for b in np.flatnonzero(there)]
        assert (alike[a], opposite[a]) == (sum(p > 0 for p in product), sum(p < 0 for p in product))


def test_decisions_of_groups():
    x, z, there = groups(7)
    sums = room(GROUPS, 4)
    both_ways(kernels.decide_groups, *coded(x, z, there), there.astype(float), sums)
    for j in range(GROUPS):
        pairs = list(itertools.combinations(np.flatnonzero(there[:, j]), 2))
        product = [(x[a, j] - x[b, j]) * (z[a, j] - z[b, j]) for a, b in pairs]
        untied = [sum(v[a, j] != v[b, j] for a, b in pairs) for v in (x, z)]
        assert sums[:, j].tolist() == [sum(p > 0 for p in product), sum(p < 0 for p in product), *untied]


# --- Ranks ---


@pytest.mark.parametrize("gaps", [True, False])
@pytest.mark.parametrize("name", KINDS)
def test_rank_coefficients_without_each_member(name, gaps):
    for seed in range(4):
        x, z, there = groups(seed, gaps)
        r, without = np.full(GROUPS, 99.0), np.full((GROUPS, MEMBERS), 99.0)
        mask = there.astype(float) if gaps else None
        both_ways(kernels.ranks_without_one, KINDS[name], *coded(x, z, there), mask, r, without)
        want = left_out(name, x, z, there)
        np.testing.assert_allclose(r, want[0], atol=1e-12)
        np.testing.assert_allclose(without.T, want[1], atol=1e-12)


def test_sums_of_ranks_that_move():
    """Of each member the doubled, centred midranks of those above it, less those below it."""
    x, z, there, _, codes_x, codes_z = one_group(4, 10)
    n, here = len(x), there.astype(np.int64)
    below = [room(n + 1) for _ in range(2)]
    for codes, into in zip((codes_x, codes_z), below, strict=True):
        kernels.count_below(codes, here, into)
    members = np.flatnonzero(there)
    rank = 2 * twin.midranks(z[there]) - len(members) - 1
    moved = room(n)
    both_ways(kernels.rank_sums, codes_x, codes_z, here, *below, room(n + 1), moved)
    want = [sum(rank[k] * np.sign(x[b] - x[a]) for k, b in enumerate(members)) for a in members]
    assert moved[members].tolist() == want


@pytest.mark.parametrize("name", KINDS)
def test_one_group_of_ranks(name):
    """The two kernels of one group, plainly run too."""
    x, z, there, order, codes_x, codes_z = one_group(1, 9)
    n, here = len(x), there.astype(np.int64)
    tree, below_x, below_z = (room(n + 1) for _ in range(3))
    alike, opposite = np.zeros(n, np.int64), np.zeros(n, np.int64)
    kernels.decide(order, codes_x, codes_z, here, tree, below_x, below_z, alike, opposite)
    without = np.full(n, np.nan)
    counted = (codes_x, codes_z, here, below_x, below_z, alike, opposite)
    if name == "spearman":
        got = both_ways(kernels.spearman_without, *counted, room(n + 1), room(n, 4), without)
    else:
        got = both_ways(kernels.kendall_without, KINDS[name], *counted, without)
    r, want = left_out(name, x[:, None], z[:, None], there[:, None])
    assert same(got, r[0]) and same(without, want[:, 0])


def test_spearman_without_each_group_of_members():
    rng = np.random.default_rng(3)
    x, z = rng.integers(0, 5, (2, 14)).astype(float)
    group = rng.integers(0, 5, 14)
    codes = [np.unique(each, return_inverse=True)[1] for each in (x, z)]
    ranks = [2 * twin.midranks(each) - 15 for each in (x, z)]
    order = np.argsort(x, kind="stable")
    out = np.full(6, 99.0)  # the last group has no member
    both_ways(kernels.spearman_without_groups, *(each[order].astype(np.int32) for each in (*ranks, *codes, group)), out)
    for g in range(6):
        assert same(out[g], twin.correlate("spearman", x[group != g], z[group != g]))


def test_many_members_do_not_overflow():
    """Whole numbers throughout: the ranks of 3,000 cells, whose cubes pass 2**31 and sums of squares 2**53 nearly."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=3000)
    z = x + rng.normal(size=3000)
    r, without = np.empty(1), np.empty((1, 3000))
    there = np.ones((3000, 1), bool)
    kernels.ranks_without_one(numbers.SPEARMAN, *coded(x[:, None], z[:, None], there), None, r, without)
    for a in (0, 17, 2999):
        rest = np.arange(3000) != a
        rank_x, rank_z = (np.argsort(np.argsort(v[rest])) for v in (x, z))
        assert without[0, a] == pytest.approx(np.corrcoef(rank_x, rank_z)[0, 1], abs=1e-12)
