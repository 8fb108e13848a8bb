"""Limits between −1 and 1 from a jackknife's variance, against plain formulas and enumeration."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats

from xsumstat.inference.close_pairs import ClosePairs
from xsumstat.inference.jackknife import bounded, deleted_variance


def bounded_interval(value, centre, error, df, confidence_level):
    return bounded(value, value - centre, error, df).interval(confidence_level)


def test_the_jackknife_variance_of_a_mean_is_its_squared_standard_error():
    x = np.random.default_rng(0).normal(size=9)
    without = np.array([np.delete(x, at).mean() for at in range(9)])
    assert deleted_variance(without) == pytest.approx(scipy.stats.sem(x) ** 2)
    assert math.isnan(deleted_variance(np.array([0.3, np.nan])))


def test_limits_are_symmetric_after_arctanh_and_hold_the_estimate():
    low, high = bounded_interval(0.6, 0.7, 0.1, 8, 0.9)
    middle = np.arctanh(0.7)
    reach = scipy.stats.t.ppf(0.95, 8) * 0.1 / (1 - 0.36)
    assert [low, high] == pytest.approx([np.tanh(middle - reach), np.tanh(middle + reach)])
    assert bounded_interval(0.6, 0.9, 0.01, 8, 0.9)[0] == 0.6  # a bias beyond the reach
    assert bounded_interval(1.0, 1.0, 0.1, 8, 0.9) == (1.0, 1.0) and bounded_interval(0.4, 0.4, 0.0, 8, 0.9) == (
        0.4,
        0.4,
    )
    middle = np.arctanh(0.8) + (1.1 - 0.2) / (1 - 0.8**2)  # half the way to 1, and the rest after arctanh
    assert bounded_interval(0.6, 1.7, 0.1, 8, 0.9) == pytest.approx((0.6, np.tanh(middle + reach)))
    assert all(math.isnan(each) for each in bounded_interval(0.6, 0.6, math.nan, 8, 0.9))


@pytest.mark.parametrize("n_pairs", [4, 9])
def test_the_variance_is_no_less_than_that_of_independent_pairs(n_pairs):
    """Of 10 pairs, less the share of them that are there."""
    alone = (1 - 0.5**2) / n_pairs * (1 - n_pairs / 10)
    without = 0.5 + np.array([0.0, 0.0, 1.0, -1.0, 0.0])
    own = (3 / 4) ** 2 * (4 / 5) * 2
    assert ClosePairs(0.5, without, n_pairs).variance() == pytest.approx(own - alone)
    assert ClosePairs(0.5, 0.5 + (without - 0.5) / 50, n_pairs).variance() == pytest.approx(alone)


def test_pairs_that_share_no_system_vary_by_themselves():
    """Of 2m systems in m pairs that have no system in common: no jackknife could count fewer, and it counts no more."""
    signs = np.array([1, 1, 1, -1, 1, -1, 1, 1, 1, 1.0])
    m, value = len(signs), signs.mean()
    without = np.repeat([np.delete(signs, at).mean() for at in range(m)], 2)
    found = ClosePairs(value, without, m).variance()
    independent = (1 - value**2) / m
    share = m / (2 * m * (2 * m - 1) / 2)
    twice = ((2 * m - 2) / (2 * m - 1)) ** 2 * (2 * m - 1) / (2 * m) * np.sum((without - without.mean()) ** 2)
    assert found == pytest.approx(max(twice - independent * (1 - share), independent * (1 - share)))
    assert twice > 1.8 * independent and 0.9 * independent < found < 1.35 * independent


def test_all_pairs_are_a_usual_jackknife():
    """Nothing is taken off where every pair counts."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(2, 9))

    def tau(points):
        return np.mean([np.sign((a[0] - b[0]) * (a[1] - b[1])) for a, b in itertools.combinations(points.T, 2)])

    without = np.array([tau(np.delete(x, at, axis=1)) for at in range(9)])
    want = (7 / 8) ** 2 * 8 / 9 * np.sum((without - without.mean()) ** 2)
    assert ClosePairs(tau(x), without, 36).variance() == pytest.approx(want)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_perfect_order_of_few_pairs_is_open_to_its_side(sign):
    found = ClosePairs(float(sign), np.full(10, float(sign)), 15).interval(0.0, 0.95)
    reach = scipy.stats.t.ppf(0.975, 5) * np.sqrt(0.437 / 2)  # 15 pairs are those of 6 systems
    inner = np.tanh(np.arctanh(1 - 1 / 15) - reach)
    assert list(found) == pytest.approx([inner, 1.0] if sign > 0 else [-1.0, -inner])
    assert ClosePairs(float(sign), np.full(10, float(sign)), 3).interval(0.0, 0.95) == (-1.0, 1.0)


def test_three_systems_have_a_variance_and_two_have_none():
    without = np.array([0.1, 0.5, 0.6])
    own = (1 / 2) ** 2 * 2 / 3 * np.sum((without - 0.4) ** 2)
    assert ClosePairs(0.4, without, 3).variance() == pytest.approx(own)
    assert math.isnan(ClosePairs(0.4, without[:2], 1).variance())
