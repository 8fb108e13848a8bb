import math

import numpy as np
import pytest
import scipy.stats

from xsumstat.inference.two_correlations import METHODS, equivalence, pvalue, statistic, zou_interval

# What cocor 1.1 for R prints for correlations printed with four digits: Williams's t, Steiger's z, Meng's z.
COCOR = [
    ((-0.1741, 0.2015, 0.3734, 646), (-9.0340, -8.6124, -8.5080)),
    ((0.8066, 0.2383, 0.2255, 177), (9.3823, 8.5460, 8.3907)),
    ((0.5447, 0.8000, 0.0729, 70), (-2.8114, None, None)),
]


@pytest.mark.parametrize("given, want", COCOR)
def test_statistics_that_cocor_prints(given, want):
    for method, value in zip(("williams", "steiger", "meng"), want, strict=True):
        if value is not None:
            assert float(statistic(method, *given)) == pytest.approx(value, abs=2e-3)


def test_the_p_value_that_cocor_prints():
    value = statistic("williams", 0.5447, 0.8000, 0.0729, 70)
    assert float(pvalue("williams", value, 70, "two-sided")) == pytest.approx(0.0065, abs=5e-5)


def plain(method, r_1, r_2, r_3, n):
    """The formulas one number at a time, as statistics texts print them."""
    z = math.atanh(r_1) - math.atanh(r_2)
    if method == "williams":
        k = 1 - r_1 * r_1 - r_2 * r_2 - r_3 * r_3 + 2 * r_1 * r_2 * r_3
        below = 2 * k * (n - 1) / (n - 3) + ((r_1 + r_2) / 2) ** 2 * (1 - r_3) ** 3
        return (r_1 - r_2) * math.sqrt((n - 1) * (1 + r_3) / below)
    if method == "steiger":
        mean = (r_1 + r_2) / 2
        psi = r_3 * (1 - 2 * mean**2) - 0.5 * mean**2 * (1 - 2 * mean**2 - r_3**2)
        return z * math.sqrt(n - 3) / math.sqrt(2 - 2 * psi / (1 - mean**2) ** 2)
    q = (r_1 * r_1 + r_2 * r_2) / 2
    f = (1 - r_3) / (2 * (1 - q))
    h = (1 - min(f, 1.0) * q) / (1 - q)
    return z * math.sqrt((n - 3) / (2 * (1 - r_3) * h))


@pytest.mark.parametrize("method", ["williams", "steiger", "meng"])
def test_statistics_are_the_formulas(method):
    rng = np.random.default_rng(3)
    r_1, r_2, r_3 = rng.uniform(-1, 1, (3, 400))
    can_be = 1 - r_1**2 - r_2**2 - r_3**2 + 2 * r_1 * r_2 * r_3 > 0.01  # some three variables correlate so
    r_1, r_2, r_3 = r_1[can_be], r_2[can_be], r_3[can_be]
    capped = (1 - r_3) / (2 * (1 - (r_1**2 + r_2**2) / 2)) > 1
    assert 10 < capped.sum() < len(capped) - 10  # or Meng's f would not be tried on both sides of 1
    got = statistic(method, r_1, r_2, r_3, 25)
    np.testing.assert_allclose(got, [plain(method, *each, 25) for each in zip(r_1, r_2, r_3, strict=True)], rtol=1e-9)


def test_zou_2007():
    low, high = zou_interval(0.396, 0.179, 0.088, 166, scipy.stats.norm.ppf(0.975))
    assert (float(low), float(high)) == (pytest.approx(0.02408, abs=5e-6), pytest.approx(0.40599, abs=5e-6))


def test_zous_statistic_puts_the_near_limit_at_0():
    for r_1, r_2 in ((0.396, 0.179), (0.179, 0.396)):
        value = statistic("zou", r_1, r_2, 0.088, 166)
        low, high = zou_interval(r_1, r_2, 0.088, 166, abs(value))
        assert float(low if r_1 > r_2 else high) == pytest.approx(0, abs=1e-12)
        assert np.sign(value) == np.sign(r_1 - r_2)
        p = float(pvalue("zou", value, 166, "two-sided"))
        for level in (1 - p * 1.01, 1 - p * 0.99):  # the interval holds 0 exactly where the test does not reject
            low, high = zou_interval(r_1, r_2, 0.088, 166, scipy.stats.norm.ppf((1 + level) / 2))
            assert (low <= 0 <= high) == (level >= 1 - p)


@pytest.mark.parametrize("method", METHODS)
def test_the_sign_follows_the_difference_and_the_tails_the_sign(method):
    rng = np.random.default_rng(1)
    r_1, r_2 = rng.uniform(-0.6, 0.9, (2, 50))
    r_3 = rng.uniform(0, 0.5, 50)
    value, turned = statistic(method, r_1, r_2, r_3, 40), statistic(method, r_2, r_1, r_3, 40)
    there = ~np.isnan(value)
    assert there.sum() > 40 and (np.sign(value[there]) == np.sign((r_1 - r_2)[there])).all()
    np.testing.assert_allclose(turned[there], -value[there], rtol=1e-9)
    distribution = scipy.stats.t(37) if method == "williams" else scipy.stats.norm
    for alternative, want in (
        ("greater", distribution.sf(value)),
        ("less", distribution.cdf(value)),
        ("two-sided", 2 * distribution.sf(abs(value))),
    ):
        np.testing.assert_allclose(pvalue(method, value, 40, alternative)[there], want[there], rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_where_nothing_can_be_said(method):
    assert np.isnan(statistic(method, 0.5, 0.2, 0.1, 3))
    assert np.isnan(statistic(method, np.nan, 0.2, 0.1, 30))
    assert statistic(method, 0.4, 0.4, 1.0, 30) == 0
    assert statistic(method, 0.4, 0.4, 0.3, 30) == 0


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_size_on_normal_scores(method):
    """Two metrics that agree with gold equally well: 5 % of 20,000 trials are called different, give or take 3.5 sd."""
    rng = np.random.default_rng(2)
    trials, n = 20_000, 60
    z = rng.normal(size=(trials, n))
    x, y = 0.7 * z + rng.normal(size=(2, trials, n))

    def r(a, b):
        a, b = (each - each.mean(axis=1, keepdims=True) for each in (a, b))
        return (a * b).sum(axis=1) / np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))

    value = statistic(method, r(x, z), r(y, z), r(x, y), n)
    rejected = (pvalue(method, value, n, "two-sided") <= 0.05).mean()
    assert rejected == pytest.approx(0.05, abs=3.5 * np.sqrt(0.05 * 0.95 / trials) + 0.002)


@pytest.mark.parametrize("method", METHODS)
def test_a_metric_does_not_differ_from_itself_on_another_scale(method):
    """Its correlation may differ in the last bits."""
    r = 0.6180339887498949
    found = statistic(method, r, r + 2e-16, 1 - 1e-16, 16)
    assert float(found) == 0 and pvalue(method, found, 16, "two-sided") == 1
    assert float(statistic(method, r, r + 1e-9, 0.9, 16)) != 0


@pytest.mark.parametrize("method", ["tost_analytic", "anderson_hauck"])
@pytest.mark.parametrize("off", [0.0, 2e-16])
def test_copies_are_equivalent(method, off):
    p, low, high = equivalence(method, 0.6, 0.6 + off, 1.0, 16, 0.1, 0.05)
    assert (p, low, high) == (0, 0, 0)
