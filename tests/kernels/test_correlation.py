"""Kernels of correlations: against SciPy, the plain-Python twins, and their own plain-Python run."""

import itertools

import numpy as np
import pytest
import reference
import scipy.stats
from helpers import both_ways, same

from xsumstat.coefficients.arrays import read_only
from xsumstat.kernels import correlation as kernels
from xsumstat.resampling import draws

RANKS = {
    "spearman": kernels.SPEARMAN,
    "kendall": kernels.KENDALL,
    "kendall_a": kernels.KENDALL_A,
    "kendall_c": kernels.KENDALL_C,
    "pairwise_accuracy": kernels.ACCURACY,
}
MEMBERS, GROUPS = 7, 5
RNG = np.random.default_rng(4)
X, Z = np.round(1.5 * RNG.normal(size=(2, MEMBERS, GROUPS)))
X[:, 3], X[0, 3] = 2.0, 1.37  # constant unless the first member is drawn
Z[:, 4] = -1.0  # constant gold
MASK = (RNG.random((MEMBERS, GROUPS)) > 0.25).astype(float)
MASK[:, 2] = 0.0  # a group without cells
WEIGHTS = np.array(
    [[1, 1, 1, 1, 1, 1, 1], [0, 0, 3, 1, 0, 2, 1], [7, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 3, 4]], dtype=np.int64
)
X.flags.writeable = Z.flags.writeable = False  # as kernels are given scores
MASKS = pytest.mark.parametrize("mask", [None, MASK], ids=["whole", "gaps"])


def gathered(x, z, mask, w, j):
    """The two vectors of a group, each member as often as it was drawn."""
    there = np.ones(len(x), bool) if mask is None else mask[:, j] > 0
    at = np.repeat(np.flatnonzero(there), w[there])
    return x[at, j].tolist(), z[at, j].tolist()


def expected(name, mask, w):
    """The twin's coefficient and the number of members of each group."""
    vectors = [gathered(X, Z, mask, w, j) for j in range(GROUPS)]
    r = [reference.coefficient(name, a, b) if a else np.nan for a, b in vectors]
    return np.array(r), np.array([len(a) for a, _ in vectors])


def test_counting_of_draws():
    for size in (4, 7):
        out = np.zeros((20, size), dtype=np.int64)
        both_ways(kernels.count_labels, draws.Stream(3, "system", 0)._words(20, -(-size // 2)), size, out)
        assert (out.sum(axis=1) == size).all()


@pytest.mark.parametrize(
    "r, n, v, zero, want",
    [
        ([0.2, -0.4, 0.9], [3, 3, 3], [2, 1, 0], False, 0.0),
        ([0.6, np.nan, 0.9], [3, 3, 3], [1, 1, 1], False, 0.75),
        ([0.6, np.nan, 0.9], [3, 3, 3], [1, 1, 1], True, 0.5),
        ([0.6, np.nan, 0.9], [3, 0, 3], [1, 5, 1], True, 0.75),  # a group without cells is no group
        ([0.6, np.nan, np.nan], [3, 3, 1], [1, 2, 1], True, 0.15),
        ([np.nan, np.nan], [3, 3], [1, 1], False, np.nan),
        ([np.nan, np.nan], [3, 3], [1, 1], True, 0.0),
        ([np.nan, np.nan], [0, 0], [1, 1], True, np.nan),
        ([0.4, np.nan], [3, 3], [0, 1], False, np.nan),
        ([0.4, np.nan], [3, 3], [0, 1], True, 0.0),
    ],
)
def test_average_of_groups(r, n, v, zero, want):
    got = both_ways(kernels.average, np.array(r), np.array(n, float), np.array(v, dtype=np.int64), zero)
    assert same(got, want)


@pytest.mark.parametrize(
    "covariance, variances, want",
    [(1.0, 4.0, 0.5), (-3.0, 4.0, -1.0), (3.0, 4.0, 1.0), (0.0, 4.0, 0.0), (1.0, 0.0, np.nan), (1.0, np.nan, np.nan)],
)
def test_ratio_stays_within_1(covariance, variances, want):
    assert same(both_ways(kernels.ratio, covariance, variances), want)


@pytest.mark.parametrize("kind", [kind for name, kind in RANKS.items() if name != "spearman"])
def test_values_of_counts_of_pairs(kind):
    """6 values, C = 9, D = 2; 13 pairs untied in x, 12 in z, 4 distinct values at least."""
    numerator = 9.0 if kind == kernels.ACCURACY else 7.0
    want = {
        kernels.KENDALL: 7 / np.sqrt(13 * 12),
        kernels.KENDALL_A: 7 / 15,
        kernels.KENDALL_C: 7 * 2 / (6**2 * 3 / 4),
        kernels.ACCURACY: 9 / 15,
    }[kind]
    assert same(both_ways(kernels.rank_value, kind, numerator, 13.0, 12.0, 6.0, 4.0), want)
    accurate = kind == kernels.ACCURACY  # which is defined for constants
    for untied in ((0.0, 12.0), (13.0, 0.0)):
        got = both_ways(kernels.rank_value, kind, 0.0, *untied, 6.0, 1.0)
        assert same(got, 0.0 if accurate else np.nan)
    assert np.isnan(both_ways(kernels.rank_value, kind, 0.0, 0.0, 0.0, 1.0, 1.0))


@MASKS
@pytest.mark.parametrize("w", WEIGHTS)
def test_moments_give_variances(mask, w):
    sums = np.full((6, GROUPS), np.nan)
    x, z = X + 0.1, Z + 0.7  # a constant .7 + .1 has no exact square
    both_ways(kernels.moments, x, z, mask, w, sums)
    n, sx, sz, sxx, szz, sxz = sums
    for j in range(GROUPS):
        a, b = (np.array(each) for each in gathered(x, z, mask, w, j))
        assert n[j] == len(a)
        if len(a):
            want = np.cov(a, b, ddof=0) * len(a) ** 2 if len(a) > 1 else np.zeros((2, 2))
            got = [n * sxx - sx * sx, n * szz - sz * sz, n * sxz - sx * sz]
            np.testing.assert_allclose([each[j] for each in got], want[[0, 1, 0], [0, 1, 1]], atol=1e-10)
            assert np.ptp(a) > 0 or (sx[j], sxx[j]) == (0, 0)


@MASKS
@pytest.mark.parametrize("w", WEIGHTS)
def test_pearson_of_groups_and_of_all_cells(mask, w):
    r, n = np.empty((2, GROUPS))
    both_ways(kernels.pearson_groups, X, Z, mask, w, np.empty((6, GROUPS)), r, n)
    want, sizes = expected("pearson", mask, w)
    assert same(r, want)
    np.testing.assert_array_equal(n, sizes)
    for v in ([1, 1, 1, 1, 1], [0, 2, 1, 0, 2], [0, 0, 0, 5, 0], [0, 0, 5, 0, 0]):
        v = np.array(v, dtype=np.int64)
        pairs = [gathered(X, Z, mask, w, j) for j in range(GROUPS) for _ in range(v[j])]
        a, b = (list(itertools.chain(*each)) for each in zip(*pairs, strict=True))
        want = np.corrcoef(a, b)[0, 1] if len(a) and np.ptp(a) and np.ptp(b) else np.nan
        assert same(both_ways(kernels.pearson_total, X, Z, mask, w, v), want)


def test_scores_far_from_0_lose_nothing_to_a_gap_or_to_a_member_that_is_not_drawn():
    """A gap is filled with 0; sums about it would have no digit left."""
    x, z = np.random.default_rng(9).normal(size=(2, 6, 3))
    far, mask = x + 1e9, np.ones(x.shape)
    x, mask[0, 0], far[0, 0], far[1] = far - 1e9, 0.0, 0.0, 0.0
    w, v = np.array([1, 0, 1, 2, 1, 1]), np.ones(3, dtype=np.int64)
    at = np.repeat(np.arange(6), w)
    there = mask[at] > 0
    want = np.corrcoef(x[at][there], z[at][there])[0, 1]
    assert kernels.pearson_total(far, z, mask, w, v) == pytest.approx(want, abs=1e-7)
    r, n = np.empty((2, 3))
    for each, columns in ((mask, [0, 1, 2]), (None, [1, 2])):
        kernels.pearson_groups(read_only(far), read_only(z), each, w, np.empty((6, 3)), r, n)
        for j in columns:
            here = at[mask[at, j] > 0]
            assert r[j] == pytest.approx(np.corrcoef(x[here, j], z[here, j])[0, 1], abs=1e-7)


def pair_rows(name, mask, dtype):
    """Numerators of all pairs of members, then which are untied in x and in z, all groups of each."""
    there = np.ones(X.shape, bool) if mask is None else mask > 0
    rows = []
    for a, b in itertools.combinations(range(MEMBERS), 2):
        both = there[a] & there[b]
        one, two = np.sign(X[a] - X[b]) * both, np.sign(Z[a] - Z[b]) * both
        top = (one * two > 0) if name == "pairwise_accuracy" else one * two
        rows.append(np.concatenate([top, np.abs(one), np.abs(two)]))
    return np.array(rows).astype(dtype)


@MASKS
@pytest.mark.parametrize("dtype", [np.int16, pytest.param(np.int32, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["kendall", "kendall_a", "pairwise_accuracy"])
def test_kendall_by_pairs(name, dtype, mask):
    every = np.arange(GROUPS)
    for w in WEIGHTS:
        sums, untied = np.empty(3 * GROUPS, dtype), np.empty((2, GROUPS))
        r, n = np.empty((2, GROUPS))
        rows, drawn = pair_rows(name, mask, dtype), np.zeros(MEMBERS + 1, np.int64)
        w = w.astype(dtype)
        both_ways(kernels.pair_groups, RANKS[name], rows, every, every, mask, w, drawn, sums, *untied, r, n)
        want, sizes = expected(name, mask, w)
        assert same(r, want)
        np.testing.assert_array_equal(n, sizes)


def test_groups_without_ties_have_copies_only():
    """Of the groups that `tied_x` and `tied_z` leave out, pairs of different members are all untied."""
    x, z = np.array([[3.0, 1, 2, 4, 0], [1.0, 2, 0, 4, 3]])
    w = np.array([2, 1, 0, 1, 3], dtype=np.int16)
    rows = np.array([[np.sign(x[a] - x[b]) * np.sign(z[a] - z[b])] for a, b in itertools.combinations(range(5), 2)])
    none, r, n = np.empty(0, np.int64), np.empty(1), np.empty(1)
    given = (rows.astype(np.int16), none, none, None, w, np.zeros(6, np.int64), np.empty(1, np.int16))
    both_ways(kernels.pair_groups, kernels.KENDALL, *given, np.empty(1), np.empty(1), r, n)
    assert r[0] == pytest.approx(scipy.stats.kendalltau(np.repeat(x, w), np.repeat(z, w)).statistic)
    assert n[0] == 7


@MASKS
@pytest.mark.parametrize("dtype", [np.int16, pytest.param(np.int32, marks=pytest.mark.slow)])
def test_spearman_by_signs(dtype, mask):
    there = np.ones(X.shape, bool) if mask is None else mask > 0
    both = there[:, None] & there
    signs = np.concatenate([np.sign(each[:, None] - each) * both for each in (X, Z)], axis=2).astype(dtype)
    for w in WEIGHTS:
        r, n = np.empty((2, GROUPS))
        drawn, part = np.zeros(MEMBERS + 1, np.int64), np.empty(2 * GROUPS, dtype)
        ranks = np.zeros((MEMBERS, 2 * GROUPS))
        both_ways(kernels.spearman_groups, signs, mask, w.astype(dtype), drawn, part, ranks, r, n)
        want, sizes = expected("spearman", mask, w)
        assert same(r, want)
        np.testing.assert_array_equal(n, sizes)
        for j in range(GROUPS):
            a, b = gathered(X, Z, mask, w, j)
            if len(a) and np.ptp(a) and np.ptp(b):
                assert r[j] == pytest.approx(scipy.stats.spearmanr(a, b).statistic)


@MASKS
@pytest.mark.parametrize("name", RANKS)
def test_rank_coefficients_by_sorting(name, mask):
    filled = [np.where(mask > 0, each, np.nan) if mask is not None else each for each in (X, Z)]
    order = np.argsort(filled[0].T, axis=1, kind="stable")
    x, z = (np.array([scipy.stats.rankdata(each, "dense") - 1 for each in values.T]) for values in (X, Z))
    x, z = x.astype(np.int32), z.astype(np.int32)
    for w in WEIGHTS:
        r, n = np.empty((2, GROUPS))
        both_ways(kernels.sorted_groups, RANKS[name], order, x, z, mask, w, r, n)
        want, sizes = expected(name, mask, w)
        assert same(r, want)
        np.testing.assert_array_equal(n, sizes)


def test_weights_as_of_all_cells_of_large_designs_do_not_overflow():
    """2,000 members drawn 3 times each, as at global level: C − D has millions of pairs."""
    x, z = np.random.default_rng(1).integers(0, 30, (2, 2000))
    order, w = np.argsort(x, kind="stable"), np.full(2000, 3, dtype=np.int64)
    given = (order, x, z, w, np.empty(2001, np.int64), np.empty(2000, np.int64))
    for name, variant in (("kendall", "b"), ("kendall_c", "c")):
        got = kernels.sorted_correlation(RANKS[name], *given)
        want = scipy.stats.kendalltau(np.repeat(x, 3), np.repeat(z, 3), variant=variant).statistic
        assert got == pytest.approx(want, abs=1e-12)
