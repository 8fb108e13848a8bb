"""Estimates from sums over prompts, and how sure they are."""

import math

import numpy as np
import pytest
from helpers import for_each
from scipy import stats

from xsumstat.inference import prompts
from xsumstat.inference.score_limits import wilson

RNG = np.random.default_rng(0)


def shares(n=40, each=1, seed=0):
    """Cases by cluster: how many of `each` are of the one kind and of the other."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice([1, -1, 0], size=(n, each), p=[0.3, 0.1, 0.6])
    return np.stack([(kinds > 0).sum(axis=1), (kinds < 0).sum(axis=1), np.full(n, each)], axis=1).astype(float)


def test_a_mean_has_the_standard_error_of_a_mean():
    values = RNG.normal(size=30)
    found = prompts.left_out(prompts.ratio(0, 1), np.stack([values, np.ones(30)], axis=1), np.ones(30))
    assert found.value == pytest.approx(values.mean())
    assert found.standard_error == pytest.approx(stats.sem(values))
    want = stats.ttest_1samp(values, 0.0)
    assert found.pvalue() == pytest.approx(want.pvalue)
    assert found.by_t(0.9) == pytest.approx(tuple(want.confidence_interval(0.9)))


def test_clusters_without_cases_do_not_count():
    sums = np.array([[1.0, 2.0], [0.0, 0.0], [3.0, 4.0], [1.0, 1.0]])
    found = prompts.left_out(prompts.ratio(0, 1), sums, sums[:, 1])
    assert found.n == 3 and found.value == pytest.approx(5 / 7)
    without = np.array([4 / 5, 2 / 3, 4 / 6])
    assert found.variance == pytest.approx(2 / 3 * ((without - without.mean()) ** 2).sum())


def test_a_difference_of_two_is_that_of_what_is_left():
    sums = RNG.integers(1, 9, (20, 4)).astype(float)
    one, two = (prompts.left_out(prompts.ratio(at, at + 1), sums, np.ones(20)) for at in (0, 2))
    both = prompts.left_out(lambda s: s[..., 0] / s[..., 1] - s[..., 2] / s[..., 3], sums, np.ones(20))
    assert one.less(two).variance == pytest.approx(both.variance) and one.less(two).value == pytest.approx(both.value)


def test_limits_of_a_share_are_wilsons_where_each_prompt_has_one_case():
    sums = shares()
    found = prompts.left_out(prompts.ratio(0, 2), sums, sums[:, 2])
    t, z = stats.t.ppf(0.975, 39), stats.norm.ppf(0.975)
    # The jackknife's variance of a share of single cases is p(1 − p)/(n − 1).
    low, high = wilson(np.array(found.value), (t / z) ** 2 / 39, 0.95)
    assert found.of_share(0.95, 40) == pytest.approx((float(low), float(high)))


def test_cases_of_one_cluster_that_are_alike_count_as_one():
    single = shares(60, 1, 3)
    alike = single * 5
    one, five = (prompts.left_out(prompts.ratio(0, 2), each, each[:, 2]) for each in (single, alike))
    assert five.of_share(0.95, 300) == pytest.approx(one.of_share(0.95, 60))
    ends = []
    for each in (single, alike):
        found = prompts.left_out(lambda s: (s[..., 0] - s[..., 1]) / s[..., 2], each, each[:, 2])
        ends.append(prompts.difference_of_shares(*each[:, :2].sum(axis=0), found, each[:, 2].sum(), 0.95))
    assert ends[0] == pytest.approx(ends[1])


def test_a_difference_of_shares_is_bonett_and_prices():
    sums = shares(50, 1, 1)
    one, two = sums[:, 0].sum(), sums[:, 1].sum()
    found = prompts.left_out(lambda s: (s[..., 0] - s[..., 1]) / s[..., 2], sums, sums[:, 2])
    low, high = prompts.difference_of_shares(one, two, found, 50, 0.95)
    # n − 1 for n, as the jackknife has it; t for z.
    p, q, n = one / 50, two / 50, 49.0
    p, q = (p * n + 1) / (n + 2), (q * n + 1) / (n + 2)
    half = stats.t.ppf(0.975, 49) * math.sqrt((p + q - (p - q) ** 2) / (n + 2))
    assert (low, high) == pytest.approx((p - q - half, p - q + half))


@for_each("kinds", [(10, 0), (0, 0), (0, 10), (1, 0)])
def test_limits_where_all_cases_are_alike_are_no_point(kinds):
    each = np.zeros((10, 3))
    each[: kinds[0], 0], each[: kinds[1], 1], each[:, 2] = 1, 1, 1
    found = prompts.left_out(lambda s: (s[..., 0] - s[..., 1]) / s[..., 2], each, each[:, 2])
    low, high = prompts.difference_of_shares(*kinds, found, 10, 0.95)
    assert -1 <= low <= found.value <= high <= 1 and high - low > 0.2
    share = prompts.left_out(prompts.ratio(0, 2), each, each[:, 2])
    low, high = share.of_share(0.95, 10)
    assert 0 <= low <= share.value <= high <= 1 and high - low > 0.2


def test_one_cluster_has_no_limits():
    found = prompts.left_out(prompts.ratio(0, 2), shares(1, 4), np.ones(1))
    assert all(math.isnan(each) for each in (*found.of_share(0.95, 4), *found.by_t(0.95), found.pvalue()))
    assert all(math.isnan(each) for each in prompts.difference_of_shares(1, 0, found, 4, 0.95))


def test_an_estimate_that_one_cluster_decides_has_no_variance():
    sums = np.array([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
    assert math.isnan(prompts.left_out(prompts.ratio(0, 1), sums, np.ones(3)).variance)


def test_two_clusters_have_limits():
    """The variance of two is a quarter of their squared distance, and t has one degree of freedom."""
    sums = np.array([[3.0, 1.0, 10.0], [5.0, 1.0, 10.0]])
    share = prompts.left_out(prompts.ratio(0, 2), sums, sums[:, 2])
    assert share.variance == pytest.approx((0.5 - 0.3) ** 2 / 4)
    half = stats.t.ppf(0.975, 1) * 0.1
    assert share.by_t(0.95) == pytest.approx((0.4 - half, 0.4 + half))
    per_n = max(0.01 / 0.24, 1 / 20) * (stats.t.ppf(0.975, 1) / stats.norm.ppf(0.975)) ** 2
    assert share.of_share(0.95, 20) == pytest.approx(tuple(map(float, wilson(np.array(0.4), per_n, 0.95))))
    apart = prompts.left_out(lambda s: (s[..., 0] - s[..., 1]) / s[..., 2], sums, sums[:, 2])
    p, q, spread = 8 / 20, 2 / 20, 10 / 20 - (6 / 20) ** 2
    n = min(20, spread / apart.variance)
    p, q = (p * n + 1) / (n + 2), (q * n + 1) / (n + 2)
    half = stats.t.ppf(0.975, 1) * math.sqrt((p + q - (p - q) ** 2) / (n + 2))
    low, high = prompts.difference_of_shares(8, 2, apart, 20, 0.95)
    assert (low, high) == pytest.approx((max(-1.0, p - q - half), min(1.0, p - q + half)))
