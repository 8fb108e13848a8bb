"""Tau with ties is 2·acc_eq − 1, in estimates, thresholds, intervals and tests."""

import numpy as np
import pytest
from conftest import dataset
from helpers import LEVELS, same

from xsumstat.analyses.measure import checked_measure


def scores(seed=0, shape=(6, 8), gaps=0.15, metrics=3):
    rng = np.random.default_rng(seed)
    values = np.round(2 * rng.normal(size=(metrics, *shape)) + 2 * rng.normal(size=(1, *shape)))
    return np.where(rng.random(values.shape) < gaps, np.nan, values)


def both(level):
    return ({"level": level, "coefficient": name} for name in ("acc_eq", "tau_eq"))


@pytest.mark.parametrize(
    "level, threshold", [*((level, None) for level in LEVELS), ("system", 0.0), ("input", 2.0), ("global", 0.0)]
)
def test_estimates_and_thresholds(level, threshold):
    ds = dataset(scores())
    accuracy, tau = (ds.meta.corr("m0", threshold=threshold, **how) for how in both(level))
    np.testing.assert_allclose(tau.correlation, 2 * accuracy.correlation - 1, atol=1e-12)
    for name in ("baseline", "baseline_constant"):
        np.testing.assert_allclose(tau[name], 2 * accuracy[name] - 1, atol=1e-12)
    np.testing.assert_array_equal(tau.threshold, accuracy.threshold)
    if threshold is not None:
        return
    held = dataset(scores(9))
    accuracy, tau = (ds.meta.corr("m0", calibrate_on=held, **how) for how in both(level))
    np.testing.assert_array_equal(tau.threshold, accuracy.threshold)
    np.testing.assert_allclose(tau.correlation, 2 * accuracy.correlation - 1, atol=1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_intervals(level):
    ds = dataset(scores(1))
    how = {"n_resamples": 99, "rng": 0, "keep_samples": True}
    accuracy, tau = (ds.meta.ci("m0", **how, **each) for each in both(level))
    for name in ("correlation", "ci_low", "ci_high", "samples", "baseline"):
        np.testing.assert_allclose(tau[name], 2 * accuracy[name] - 1, atol=1e-12)
    np.testing.assert_allclose(tau.standard_error, 2 * accuracy.standard_error, atol=1e-12)
    accuracy, tau = (ds.meta.ci("m0", method="jackknife", **each) for each in both(level))
    for name in ("ci_low", "ci_high"):
        np.testing.assert_allclose(tau[name], 2 * accuracy[name] - 1, atol=1e-9)


HOW = [{}, {"swap": "scores"}, {"swap": "scores", "threshold": 0.0}, {"swap": "decisions", "threshold": 2.0}]


@pytest.mark.ignore_codes("decisions_swapped", "few_resamples")
@pytest.mark.parametrize("level, how", [(level, HOW[(at + k) % 4]) for at, level in enumerate(LEVELS) for k in (0, 1)])
def test_tests(level, how):
    ds = dataset(scores(2, (5, 7)))
    accuracy, tau = (ds.meta.perm_test("m0", n_resamples=199, rng=0, **how, **each) for each in both(level))
    np.testing.assert_allclose(tau.pvalue, accuracy.pvalue, atol=1e-12)
    np.testing.assert_allclose(tau.difference, 2 * accuracy.difference, atol=1e-12)
    if not how:
        accuracy, tau = (ds.meta.boot_test("m0", n_resamples=99, rng=0, **each) for each in both(level))
        np.testing.assert_allclose(tau.pvalue, accuracy.pvalue, atol=1e-12)


@pytest.mark.parametrize("how", [{"swap": "scores", "threshold": 0.0}, {"threshold": 2.0}])
def test_tests_without_draws(how):
    ds = dataset(scores(3, (5, 12), 0.0))
    settings = {"method": "analytic", **how}
    accuracy, tau = (ds.meta.perm_test("m0", **settings, **each) for each in both("input"))
    np.testing.assert_allclose(tau.pvalue, accuracy.pvalue, atol=1e-12)
    np.testing.assert_array_equal(tau.exact, accuracy.exact)
    np.testing.assert_allclose(tau.difference, 2 * accuracy.difference, atol=1e-12)


def test_a_group_without_pairs_counts_as_0_and_not_as_minus_1():
    x, z = np.array([[1.0, 2.0, 5.0], [2.0, 1.0, np.nan]]), np.array([[1.0, 2.0, 5.0], [2.0, 1.0, np.nan]])
    measures = [checked_measure("input", "tau_eq", "pairwise", undefined) for undefined in ("drop", "zero")]
    drop, zero = (each.at(0.0).estimator(x, z) for each in measures)
    assert (drop.value(), zero.value()) == (1.0, pytest.approx(2 / 3))
    once, twice = np.ones((1, 2), int), np.array([[1, 1, 1], [1, 0, 2], [0, 0, 3]])
    assert same(drop.bootstrap(once, twice), [1, 1, np.nan])
    assert same(zero.bootstrap(once, twice), [2 / 3, 1 / 3, 0])
