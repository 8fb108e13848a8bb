"""Shares over outputs: against a regression with standard errors by clusters, and by simulation."""

import math

import numpy as np
import pytest
import scipy.stats

from xsumstat.inference import ratios


def counts(rng, n):
    """Of each input, how many of up to nine count; some inputs have none."""
    whole = rng.integers(0, 10, n)
    return rng.binomial(whole, rng.uniform(0.3, 0.9, n)), whole


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("two", [True, False])
def test_the_limit_is_that_of_a_regression_by_clusters(seed, two):
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(seed)
    both = [counts(rng, 25) for _ in range(1 + two)]
    y, second, group = [], [], []
    for at, (part, whole) in enumerate(both):
        for j in range(25):
            y += [1.0] * part[j] + [0.0] * (whole[j] - part[j])
            second += [float(at == 0)] * whole[j]
            group += [j] * whole[j]
    design = sm.add_constant(np.array(second)) if two else np.ones(len(y))
    fit = sm.OLS(np.array(y), design).fit(
        cov_type="cluster", cov_kwds={"groups": np.array(group), "use_correction": False}
    )
    n = len(set(group))
    error = fit.bse[-1] * math.sqrt(n / (n - 1))
    value = fit.params[-1] - (0.0 if two else 0.6)
    want = value + scipy.stats.t.ppf(0.95, n - 1) * error
    assert ratios.difference_high(both[0], both[1] if two else 0.6, 0.9) == pytest.approx(want)


def test_without_two_inputs_there_is_no_limit():
    one = (np.array([1, 0]), np.array([2, 0]))
    assert math.isnan(ratios.difference_high(one, 0.5))
