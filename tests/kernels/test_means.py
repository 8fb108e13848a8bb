"""Kernels for means of systems: against the plain-Python twins and their own plain-Python run."""

import numpy as np
import pytest
import reference
from helpers import both_ways, same

from xsumstat.coefficients.arrays import read_only
from xsumstat.kernels import correlation as kernels
from xsumstat.kernels import means

KENDALLS = {
    "kendall": kernels.KENDALL,
    "kendall_a": kernels.KENDALL_A,
    "kendall_c": kernels.KENDALL_C,
    "pairwise_accuracy": kernels.ACCURACY,
}
MEMBERS, LANES = 6, 5
RNG = np.random.default_rng(2)
# A lane each: tied by rounding, of few values, all tied within rounding, constant gold, without ties.
X = np.array([[0.1 + 0.2, 1, 5, 1, 0.3], [0.3, 2, 5 + 1e-12, 3, 0.2], [0.7, 2, 5, 2, 0.9],
              [0.3, 1, 5, 4, 0.5], [-0.2, 0, 5, 0, 0.1], [0.7 - 1e-16, 2, 5, 1, 0.7]])  # fmt: skip
Z = np.array([[1, 3, 1, 2, 0.1], [2, 1, 2, 2, 0.2], [1, 3, 2, 2, 0.8],
              [4, 3, 2, 2, 0.4], [0, 1, 0, 2, 0.6], [3, 2, 1, 2, 0.5]]).astype(float)  # fmt: skip
WEIGHTS = [np.ones((MEMBERS, LANES)), RNG.integers(0, 3, (MEMBERS, LANES)).astype(float)]
NOTHING = np.zeros(MEMBERS)
WITH = pytest.mark.parametrize("w", WEIGHTS, ids=["all", "drawn"])


def drawn(w, lane):
    """The two vectors of a lane, each member as often as it came."""
    at = np.repeat(np.arange(MEMBERS), w[:, lane].astype(int))
    return X[at, lane].tolist(), Z[at, lane].tolist()


def expected(name, w):
    """The twin's value of each lane, equal means being tied by 1e-12 of the larger."""
    return [reference.coefficient(name, *drawn(w, lane), scale=0.0) for lane in range(LANES)]


def limits(values, scale=NOTHING):
    near = np.empty(values.shape)
    both_ways(means.limits, values, scale, near)
    return near


def test_limits_are_of_the_mean_or_of_what_was_summed():
    values, scale = np.array([[2.0, -4.0], [0.0, 0.5]]), np.array([3.0, 0.1])
    np.testing.assert_allclose(limits(values, scale), 1e-12 * np.array([[3, 4], [0.1, 0.5]]), rtol=1e-14)


@WITH
def test_pearson(w):
    sums, out = np.empty((6, LANES)), np.empty(LANES)
    both_ways(means.pearson_lanes, X, Z, NOTHING, NOTHING, w, sums, out)
    assert same(out, expected("pearson", w))
    assert np.isnan(out[2:4]).all() and not np.isnan(out[[0, 1, 4]]).any()


@pytest.mark.parametrize("side", [0, 1])
def test_means_that_differ_by_rounding_alone_have_no_correlation(side):
    """Each score is in the cancelled sum of 1s: a difference of 1e-13 is none. One of 1e-9 is, be it ever so small."""
    even, scale = np.array([[1.0], [2.0], [4.0]]), np.array([1.0, 1.0, 1.0])
    for gap, want in ((1e-13, np.nan), (1e-9, np.corrcoef([0, 1, 3], [1, 2, 4])[0, 1])):
        small = gap * np.array([[0.0], [1.0], [3.0]])
        given = ((small, even), (even, small))[side]
        scales = ((scale, np.zeros(3)), (np.zeros(3), scale))[side]
        out = np.empty(1)
        both_ways(means.pearson_lanes, *given, *scales, np.ones((3, 1)), np.empty((6, 1)), out)
        assert same(out[0], want, 1e-9)


def test_an_undrawn_outlier_does_not_decide_what_varies():
    x = np.array([[1.0], [1.0 + 1e-9], [-1e9], [1.0]])
    for w, want in (([1, 1, 0, 1], True), ([2, 0, 0, 1], False), ([1, 0, 1, 0], True)):
        assert both_ways(means.varies, x, np.zeros(4), np.array(w, float)[:, None], 0) == want


@WITH
def test_spearman(w):
    ranks, sums, out = np.empty((2, MEMBERS, LANES)), np.empty((3, LANES)), np.empty(LANES)
    both_ways(means.spearman_lanes, X, Z, limits(X), limits(Z), w, *ranks, sums, out)
    assert same(out, expected("spearman", w))


@WITH
@pytest.mark.parametrize("name", KENDALLS)
def test_kendalls_family(w, name):
    new, sums, out = np.empty((MEMBERS, LANES)), np.empty((7, LANES)), np.empty(LANES)
    both_ways(means.kendall_lanes, KENDALLS[name], X, Z, limits(X), limits(Z), w, new, sums, out)
    assert same(out, expected(name, w))


def test_distinct_means_are_of_those_that_were_drawn():
    """Equal means count once; the first of two being away, the second counts."""
    x = np.repeat([[0.1 + 0.2], [0.3], [0.5], [0.5]], 4, axis=1)
    w = np.array([[1, 1, 1, 1], [0, 1, 1, 0], [0, 0, 1, 2], [1, 2, 0, 1.0]])
    count = np.zeros(4)
    both_ways(means.distinct_lanes, x, limits(x, np.zeros(4)), w, np.empty(x.shape), count)
    assert count.tolist() == [2, 2, 2, 2]
    none = np.zeros(1)
    both_ways(means.distinct_lanes, x[:, :1], limits(x[:, :1], np.zeros(4)), np.zeros((4, 1)), np.empty((4, 1)), none)
    assert none[0] == 0


@pytest.mark.parametrize("one", [None, 0, 1, 2], ids=["all differ", "one x", "one z", "one w"])
@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall", "kendall_c"])
def test_blocks(name, one):
    """Two blocks of resamples, of means and of weights; where there is one block of something, it serves all."""
    rng = np.random.default_rng(7)
    x, z = np.round(rng.normal(size=(2, 2, MEMBERS, LANES)), 1)
    w = rng.integers(0, 3, (2, MEMBERS, LANES)).astype(float)
    given = [np.ascontiguousarray(each[:1]) if at == one else each for at, each in enumerate((x, z, w))]
    out = np.full((2, LANES), -9.0)
    kernel = {"pearson": means.pearson_blocks, "spearman": means.spearman_blocks}.get(name, means.kendall_blocks)
    kind = () if name in ("pearson", "spearman") else (KENDALLS[name],)
    both_ways(kernel, *kind, given[0], given[1], NOTHING, NOTHING, given[2], out)
    for b in range(2):
        for lane in range(LANES):
            here = [each[min(b, len(each) - 1), :, lane] for each in given]
            at = np.repeat(np.arange(MEMBERS), here[2].astype(int))
            assert same(out[b, lane], reference.coefficient(name, here[0][at].tolist(), here[1][at].tolist(), 0.0))


@pytest.mark.parametrize("gaps", [False, True])
def test_weighted_means(gaps):
    rng = np.random.default_rng(3)
    x, v = rng.normal(size=(4, 6)), rng.integers(0, 3, (6, LANES)).astype(float)
    v[:, 1] = 0
    mask = (rng.random((4, 6)) > 0.4).astype(float) if gaps else None
    if gaps:
        mask[2] = 0
    out, cells = np.full((2, 4, LANES), np.nan)
    both_ways(means.means_lanes, read_only(x), mask, v, out, cells)
    weights = v[None] * (np.ones((4, 6)) if mask is None else mask)[:, :, None]
    total = weights.sum(axis=1)
    np.testing.assert_array_equal(cells, total)
    want = [
        [(weights[i, :, k] * x[i]).sum() / total[i, k] if total[i, k] else 0 for k in range(LANES)] for i in range(4)
    ]
    np.testing.assert_allclose(out, want, atol=1e-14)
