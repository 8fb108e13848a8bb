"""Rank coefficients when scores trade places: how ties are found, and what is linear in the signs."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from xsumstat.coefficients import rank_swaps, table
from xsumstat.coefficients.arrays import packed, padded
from xsumstat.coefficients.rank_swaps import Pooled
from xsumstat.coefficients.record import Measure
from xsumstat.kernels import correlation as kernels


def column(*values):
    return np.array(values, dtype=float)[:, None]


# --- Which scores are equal ---


def test_an_x_and_a_y_that_rounding_parts_are_equal():
    pooled = Pooled.of(column(0.1 + 0.2, 1.0, np.nan), column(0.3, 2.0, np.nan))
    assert pooled.codes[:, 0].tolist()[:2] == [0, 1] and pooled.codes[3:5, 0].tolist() == [0, 2]
    assert pooled.x[0] == pooled.y[0] and np.isnan(pooled.x[2]) and np.isnan(pooled.y[2])
    assert pooled.order[:, 0].tolist()[-2:] == [2, 5]  # missing ones last


@pytest.mark.parametrize("turned", [False, True])
def test_two_scores_of_one_metric_differ_however_close_they_are(turned):
    """As beside a far outlier, after standardising; nothing near them is taken for rounding then."""
    close, other = column(0.0, 1e-13, 5.0), column(2e-13, 1.0, 3.0)
    pooled = Pooled.of(*((other, close) if turned else (close, other)))
    of_close, of_other = (pooled.codes[3:, 0], pooled.codes[:3, 0])[:: 1 if turned else -1]
    assert of_close.tolist() == [0, 1, 5] and of_other.tolist() == [2, 3, 4]
    again = Pooled.of(np.hstack([close, other]), np.hstack([other, other]))  # each group for itself
    assert (again.codes[:, 1] == [0, 1, 2, 0, 1, 2]).all()
    assert again.codes[:3, 0].tolist() == [0, 1, 5]


def test_rounding_is_relative_beyond_1():
    pooled = Pooled.of(column(1e3, 1e-3), column(1e3 + 1e-10, 1e-3 + 1e-10))
    assert pooled.codes[:, 0].tolist() == [2, 0, 2, 1]


GRID = st.sampled_from([0.0, 1.0, 2.0, np.nan])


@given(st.lists(st.tuples(GRID, GRID), min_size=1, max_size=4))
def test_groups_that_are_tied_or_may_become_constant(cells):
    """Two members share a score, one's x and another's y among them; all of X' is one value under some swap."""
    cells = [(x, y) for x, y in cells if not math.isnan(x + y)]
    if not cells:
        return
    x, y = (column(*each, np.nan) for each in zip(*cells, strict=True))
    pooled = Pooled.of(x, y)
    tied = any(set(a) & set(b) for a, b in itertools.combinations(cells, 2))
    constant = any(len(set(each)) == 1 for each in itertools.product(*cells))
    assert pooled.tied().tolist() == [tied]
    assert pooled.may_be_constant().tolist() == [constant]


# --- What coefficients are multiples of ---


@pytest.mark.parametrize("name, divisor", [("kendall_a", 10), ("pairwise_accuracy", 20)])
def test_linear_coefficients_are_multiples_of_their_step(name, divisor):
    """5 systems make 10 pairs; one input has 4, so 6 pairs: half of what is common to both, over 4 inputs."""
    rng = np.random.default_rng(3)
    x, y, z = rng.normal(size=(3, 5, 4))
    kind = {"kendall_a": kernels.KENDALL_A, "pairwise_accuracy": kernels.ACCURACY}[name]
    test = rank_swaps.rank_test((0, 1), x, y, rank_swaps.Gold.of(z, "input"), "input", kind, False)
    assert test.rest is None and test.step == pytest.approx(0.5 / divisor / 4, rel=1e-12)
    x[0, 0] = y[0, 0] = z[0, 0] = np.nan
    test = rank_swaps.rank_test((0, 1), x, y, rank_swaps.Gold.of(z, "input"), "input", kind, False)
    assert test.step == pytest.approx(0.5 / math.lcm(divisor, divisor * 6 // 10) / 4, rel=1e-12)
    multiples = test.coefficients / test.step
    np.testing.assert_allclose(multiples, np.rint(multiples), atol=1e-9)


def test_a_common_step():
    assert rank_swaps.common_step(np.array([2.5, 2.5])) == 0.2
    assert rank_swaps.common_step(np.array([4.0, 6.0, 6.0])) == 0.5 / 12
    assert rank_swaps.common_step(np.array([4.0, 6.5])) == 0.0  # no whole numbers
    assert rank_swaps.common_step(np.array([1009.0, 1013.0])) == 0.0  # beyond a million


def test_padding_fills_bytes_of_coins():
    assert padded(np.ones((2, 8))).shape == (2, 8)
    got = padded(np.ones((2, 9)))
    assert got.shape == (2, 16) and (got[:, :9] == 1).all() and (got[:, 9:] == 0).all()


def test_four_times_a_function_of_two_signs():
    corners = [np.array(value) for value in (3, -1, 4, 10)]
    constant, p, q, r = rank_swaps._parts(corners)
    for (e, f), value in zip(((1, 1), (1, -1), (-1, 1), (-1, -1)), corners, strict=True):
        assert constant + e * p + f * q + e * f * r == 4 * value


# --- Sizes at which counts are kept in wider integers ---


@pytest.mark.parametrize(
    "name, members, form",
    [
        ("kendall", 31, "pairs"),
        ("kendall", 64, "pairs"),
        ("kendall", 65, "sorted"),
        ("spearman", 64, "signs"),
        ("spearman", 65, "sorted"),
    ],
)
def test_counts_of_large_tied_groups_do_not_overflow(name, members, form):
    """The metrics nearly agree with the gold, so that counts are as large as they can be."""
    z = np.tile(np.arange(members, dtype=float)[:, None], (1, 16))
    x, y = z // 2, np.round(z + np.random.default_rng(members).normal(size=z.shape))
    y -= 1000.0 * (np.arange(16) % 2)  # in some groups y lies below all x
    swap = np.zeros((4, *z.shape), dtype=int)
    swap[1], swap[2], swap[3] = np.arange(members)[:, None] % 2, z > members / 2, 1
    kind = {"kendall": kernels.KENDALL, "spearman": kernels.SPEARMAN}[name]
    test = rank_swaps.rank_test((0, 1), x, y, rank_swaps.Gold.of(z, "input"), "input", kind, False)
    assert test.coefficients is None and test.rest.form == form
    r = {"kendall": scipy.stats.kendalltau, "spearman": scipy.stats.spearmanr}[name]
    for got, each in zip(test.differences(packed(swap))[0], swap, strict=True):
        new_x, new_y = np.where(each, y, x), np.where(each, x, y)
        want = np.mean([r(new_x[:, j], z[:, j])[0] - r(new_y[:, j], z[:, j])[0] for j in range(16)])
        assert got == pytest.approx(want, abs=1e-12)


@pytest.mark.parametrize("name, function", [("spearman", scipy.stats.spearmanr), ("kendall", scipy.stats.kendalltau)])
def test_untied_metrics_and_tied_gold(name, function):
    rng = np.random.default_rng(6)
    scores, z = rng.normal(size=(2, 8, 3)), rng.integers(1, 4, (8, 3)).astype(float)
    scores = (scores - scores.mean(axis=(1, 2), keepdims=True)) / scores.std(axis=(1, 2), keepdims=True)
    swaps = rng.integers(0, 2, (5, 8, 3))
    (test,) = Measure(table.get(name), "input").swapped(scores, z, ((0, 1),))
    for got, swap in zip(test.differences(packed(swaps))[0], swaps, strict=True):
        x, y = np.where(swap, scores[1], scores[0]), np.where(swap, scores[0], scores[1])
        r = [np.mean([function(each[:, j], z[:, j]).statistic for j in range(3)]) for each in (x, y)]
        assert got == pytest.approx(r[0] - r[1], abs=1e-12)


@pytest.mark.parametrize("kind, form", [(kernels.KENDALL_C, "sorted"), (kernels.KENDALL, "pairs")])
def test_a_swap_of_sorted_groups_costs_more_than_one_of_pairs(kind, form):
    """Tied groups: 5 systems on 4 inputs, of two metrics."""
    x, y, z = np.random.default_rng(3).integers(0, 3, (3, 5, 4)).astype(float)
    test = rank_swaps.rank_test((0, 1), x, y, rank_swaps.Gold.of(z, "input"), "input", kind, True)
    assert test.rest.form == form
    cells, pairs = 2 * x.size, x.shape[1] * math.comb(5, 2)
    cost = test.cost - 100 - (0 if test.coefficients is None else 0.1 * test.coefficients.size)
    assert cost == (4 * cells if form == "sorted" else pytest.approx(0.3 * test.rest.data[0].size))
    assert form == "sorted" or test.rest.data[0].size >= pairs
