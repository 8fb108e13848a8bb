"""Intervals from samples, and Fisher's: against NumPy, SciPy and by hand."""

import math

import numpy as np
import pytest
import scipy.stats

from xsumstat.coefficients import table
from xsumstat.inference.intervals import (
    bca_interval,
    bootstrap_interval,
    corrected_interval,
    fisher_interval,
    studentized_interval,
)

RNG = np.random.default_rng(31)
SAMPLES = RNG.normal(0.4, 0.1, size=2001)


def test_percentile_interval_is_numpys():
    low, high, error = bootstrap_interval(0.41, SAMPLES, "percentile", 0.9)
    assert (low, high) == pytest.approx(np.percentile(SAMPLES, [5, 95]))
    assert error == pytest.approx(SAMPLES.std(ddof=1))


@pytest.mark.parametrize("interval", ["percentile", "basic"])
def test_intervals_equal_scipys_on_the_same_distribution(interval):
    """SciPy's bootstrap keeps its distribution: from it we must get SciPy's interval."""
    data = RNG.normal(size=40)
    theirs = scipy.stats.bootstrap((data,), np.mean, method=interval, n_resamples=999, rng=1)
    low, high, error = bootstrap_interval(data.mean(), theirs.bootstrap_distribution, interval, 0.95)
    assert (low, high, error) == pytest.approx((*theirs.confidence_interval, theirs.standard_error))


def test_normal_interval():
    low, high, error = bootstrap_interval(0.41, SAMPLES, "normal", 0.95)
    assert (low, high) == pytest.approx(scipy.stats.norm.interval(0.95, 0.41, SAMPLES.std(ddof=1)))


def test_undefined_samples_are_left_out():
    spoilt = np.concatenate([SAMPLES, [np.nan] * 50])
    assert bootstrap_interval(0.4, spoilt, "basic", 0.9) == bootstrap_interval(0.4, SAMPLES, "basic", 0.9)
    assert all(map(math.isnan, bootstrap_interval(math.nan, SAMPLES, "basic", 0.9)))
    assert all(map(math.isnan, bootstrap_interval(0.4, np.array([np.nan, 0.4]), "basic", 0.9)))


def test_bootstrap_t_is_students_where_the_ratios_are():
    ratios = scipy.stats.t.ppf((np.arange(200_000) + 0.5) / 200_000, df=7)
    got = studentized_interval(0.4, ratios, 0.1, 0.9)
    assert got == pytest.approx(scipy.stats.t.interval(0.9, df=7, loc=0.4, scale=0.1), abs=1e-5)


def test_bootstrap_t_turns_the_ratios_about():
    """Estimates that come out too low in the resamples have the truth above."""
    ratios = RNG.normal(size=501) - 1
    low, high = np.percentile(ratios, [2.5, 97.5])
    assert studentized_interval(0.4, ratios, 0.1, 0.95) == pytest.approx((0.4 - 0.1 * high, 0.4 - 0.1 * low))


def test_bootstrap_t_holds_the_estimate():
    assert studentized_interval(0.4, np.linspace(1, 2, 50), 0.1, 0.9)[1] == 0.4
    assert studentized_interval(0.4, -np.linspace(1, 2, 50), 0.1, 0.9)[0] == 0.4


def test_fisher_for_pearson_is_scipys():
    x, z = RNG.normal(size=(2, 17))
    theirs = scipy.stats.pearsonr(x, z).confidence_interval(0.9)
    r = scipy.stats.pearsonr(x, z).statistic
    low, high, _ = fisher_interval(r, 17, table.get("pearson"), 0.9)
    assert (low, high) == pytest.approx(tuple(theirs))


@pytest.mark.parametrize(
    "name, lost, factor",
    [("pearson", 3, 1.0), ("spearman", 3, math.sqrt(1 + 0.36 / 2)), ("kendall", 4, math.sqrt(0.437))],
)
def test_fisher_by_hand(name, lost, factor):
    low, high, error = fisher_interval(0.6, 20, table.get(name), 0.95)
    reach = 1.959963984540054 * factor / math.sqrt(20 - lost)
    assert (low, high) == pytest.approx((math.tanh(math.atanh(0.6) - reach), math.tanh(math.atanh(0.6) + reach)))
    assert error == pytest.approx((1 - 0.36) * factor / math.sqrt(20 - lost))
    assert all(map(math.isnan, fisher_interval(0.6, lost, table.get(name), 0.95)))
    assert fisher_interval(1.0, 20, table.get(name), 0.95)[:2] == (1.0, 1.0)


def test_corrected_interval_by_hand():
    """Owen's V = 2(V_s + V_i) − V_both, about the estimate; the larger of V_s and V_i where that is more."""
    both, one, two = (np.array([-1.0, 0.0, 1.0]) * size for size in (3.0, 2.0, 2.5))
    low, high, error, fell_back = corrected_interval(0.5, both + 0.5, one, two, confidence_level=0.9)
    v = 2 * (4 + 6.25) - 9
    assert error == pytest.approx(math.sqrt(v)) and not fell_back
    quantiles = np.quantile(both, [0.05, 0.95])
    assert (low, high) == pytest.approx(0.5 + math.sqrt(v) / 3 * quantiles)
    assert corrected_interval(0.5, both + 0.5, one / 2, two, confidence_level=0.9)[2:] == (2.5, True)


def test_bca_counts_ties_with_the_estimate_half():
    samples = np.concatenate([np.linspace(-1, 0.9, 40), np.full(30, 1.0), np.linspace(1.1, 3, 50)])
    left_out = np.array([1.0, 1.2, 0.7, 1.9, 1.4])
    low, high, _, fell_back = bca_interval(1.0, samples, [left_out], 0.8)
    z_0 = scipy.stats.norm.ppf((40 + 30 / 2) / 120)
    u = left_out.mean() - left_out
    a = (u**3).sum() / (6 * (u**2).sum() ** 1.5)
    z = z_0 + scipy.stats.norm.ppf([0.1, 0.9])
    want = np.quantile(samples, scipy.stats.norm.cdf(z_0 + z / (1 - a * z)))
    assert (low, high) == pytest.approx(want) and not fell_back
    assert tuple(np.quantile(samples, [0.1, 0.9])) != (low, high)
