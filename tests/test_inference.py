import math

import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.multitest import multipletests

from xsumstat import coefficients, inference

RNG = np.random.default_rng(31)
SAMPLES = RNG.normal(0.4, 0.1, size=2001)


def test_percentile_interval_is_numpys():
    low, high, error = inference.bootstrap_interval(0.41, SAMPLES, "percentile", 0.9)
    assert (low, high) == pytest.approx(np.percentile(SAMPLES, [5, 95]))
    assert error == pytest.approx(SAMPLES.std(ddof=1))


@pytest.mark.parametrize("interval", ["percentile", "basic"])
def test_intervals_equal_scipys_on_the_same_distribution(interval):
    """SciPy's bootstrap keeps its distribution: from it we must get SciPy's interval."""
    data = RNG.normal(size=40)
    theirs = scipy.stats.bootstrap((data,), np.mean, method=interval, n_resamples=999, rng=1)
    low, high, error = inference.bootstrap_interval(data.mean(), theirs.bootstrap_distribution, interval, 0.95)
    assert (low, high, error) == pytest.approx((*theirs.confidence_interval, theirs.standard_error))


def test_normal_interval():
    low, high, error = inference.bootstrap_interval(0.41, SAMPLES, "normal", 0.95)
    assert (low, high) == pytest.approx(scipy.stats.norm.interval(0.95, 0.41, SAMPLES.std(ddof=1)))


def test_undefined_samples_are_left_out():
    spoilt = np.concatenate([SAMPLES, [np.nan] * 50])
    assert inference.bootstrap_interval(0.4, spoilt, "basic", 0.9) == inference.bootstrap_interval(
        0.4, SAMPLES, "basic", 0.9
    )
    assert all(map(math.isnan, inference.bootstrap_interval(math.nan, SAMPLES, "basic", 0.9)))
    assert all(map(math.isnan, inference.bootstrap_interval(0.4, np.array([np.nan, 0.4]), "basic", 0.9)))


def test_fisher_for_pearson_is_scipys():
    x, z = RNG.normal(size=(2, 17))
    theirs = scipy.stats.pearsonr(x, z).confidence_interval(0.9)
    r = scipy.stats.pearsonr(x, z).statistic
    low, high, _ = inference.fisher_interval(r, 17, coefficients.get("pearson"), 0.9)
    assert (low, high) == pytest.approx(tuple(theirs))


@pytest.mark.parametrize(
    "name, lost, factor",
    [("pearson", 3, 1.0), ("spearman", 3, math.sqrt(1 + 0.36 / 2)), ("kendall", 4, math.sqrt(0.437))],
)
def test_fisher_by_hand(name, lost, factor):
    low, high, error = inference.fisher_interval(0.6, 20, coefficients.get(name), 0.95)
    reach = 1.959963984540054 * factor / math.sqrt(20 - lost)
    assert (low, high) == pytest.approx((math.tanh(math.atanh(0.6) - reach), math.tanh(math.atanh(0.6) + reach)))
    assert error == pytest.approx((1 - 0.36) * factor / math.sqrt(20 - lost))
    assert all(map(math.isnan, inference.fisher_interval(0.6, lost, coefficients.get(name), 0.95)))
    assert inference.fisher_interval(1.0, 20, coefficients.get(name), 0.95)[:2] == (1.0, 1.0)


def counts(at_least, at_most, beyond, undefined=0):
    return np.array([[at_least], [at_most], [beyond], [undefined]])


def test_sampled_p_values_are_never_zero():
    d = np.array([0.3])
    for alternative, want in (("greater", (1 / 100, 1.0)), ("less", (1.0, 1 / 100)), ("two-sided", (1 / 100, 1 / 100))):
        forward, backward = inference.permutation_pvalues(d, counts(0, 99, 0), 99, False, alternative)
        assert (forward[0], backward[0]) == pytest.approx(want)


def test_exact_p_values_are_plain_shares():
    forward, backward = inference.permutation_pvalues(np.array([0.3]), counts(3, 62, 6), 64, True, "greater")
    assert (forward[0], backward[0]) == (3 / 64, 62 / 64)


def test_undefined_swaps_are_not_counted():
    forward, _ = inference.permutation_pvalues(np.array([0.3]), counts(4, 86, 9, undefined=9), 99, False, "greater")
    assert forward[0] == pytest.approx(5 / 91)
    forward, _ = inference.permutation_pvalues(np.array([np.nan]), counts(0, 0, 0, undefined=0), 99, False, "greater")
    assert np.isnan(forward[0])
    forward, _ = inference.permutation_pvalues(np.array([0.1]), counts(0, 0, 0, undefined=99), 99, False, "greater")
    assert np.isnan(forward[0])


@pytest.mark.parametrize(
    "ours, theirs", [("bonferroni", "bonferroni"), ("holm", "holm"), ("bh", "fdr_bh"), ("by", "fdr_by")]
)
@pytest.mark.parametrize("size", [1, 2, 13, 60])
def test_corrections_equal_statsmodels(ours, theirs, size):
    p = np.round(RNG.random(size) ** 3, 2)  # rounded, so that some are tied
    np.testing.assert_allclose(inference.adjust(p, ours), multipletests(p, method=theirs)[1], rtol=1e-12)


@pytest.mark.parametrize("method", inference.CORRECTIONS)
def test_nan_is_no_test(method):
    p = np.array([0.01, np.nan, 0.04, 0.2])
    got = inference.adjust(p, method)
    assert np.isnan(got[1])
    np.testing.assert_allclose(got[[0, 2, 3]], inference.adjust(p[[0, 2, 3]], method))
    assert np.isnan(inference.adjust(np.array([np.nan]), method)).all()
