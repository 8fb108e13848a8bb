"""Fieller's limits of a ratio, set against a scan of all ratios."""

import math

import numpy as np
import pytest
from scipy import stats

from xsumstat.inference import fieller


def random_case(rng):
    """Estimates, and one or two covariance matrices of them: the second may be smaller or larger."""
    estimates = rng.normal(size=2) * [0.3, 1.0] + [0.0, 0.8]
    root = rng.normal(size=(2, 2)) * rng.choice([0.1, 0.3, 1.0])
    first = root @ root.T + 1e-3 * np.eye(2)
    if rng.random() < 0.3:
        return estimates, [first]
    more = rng.normal(size=(2, 2)) * 0.2
    return estimates, [first, first + rng.choice([-0.3, 1.0]) * more @ more.T]


def accepted(ratio, estimates, variances, t):
    n, d = estimates
    largest = np.max([v[0, 0] - 2 * ratio * v[0, 1] + ratio**2 * v[1, 1] for v in variances], axis=0)
    return (n - ratio * d) ** 2 <= t * t * largest


def test_limits_and_pvalues_are_those_of_a_scan():
    rng = np.random.default_rng(0)
    scan = np.tan(np.linspace(-math.pi / 2 + 1e-5, math.pi / 2 - 1e-5, 100_001))
    kinds = set()
    for _ in range(300):
        estimates, variances = random_case(rng)
        df = float(rng.integers(3, 60))
        t = stats.t.ppf(0.975, df)
        low, high = fieller.limits(estimates, variances, t)
        p = fieller.pvalue(estimates, variances, df)
        held = accepted(scan, estimates, variances, t)
        inside = scan[held]
        assert (p <= 0.05) == (not accepted(0.0, estimates, variances, t)) == (not low <= 0 <= high)
        if not (held[0] or held[-1]):
            kinds.add("bounded")
            step = 1e-4 * (1 + max(abs(low), abs(high)) ** 2)
            assert low == pytest.approx(inside.min(), abs=step) and high == pytest.approx(inside.max(), abs=step)
        elif p > 0.05:
            kinds.add("all")
            assert (low, high) == (-math.inf, math.inf)
        else:
            # What is on the side of the numerator; the denominator is known not to be negative.
            kinds.add("one-sided")
            side = inside[inside * estimates[0] > 0]
            nearest = np.abs(side).min()
            told = low if estimates[0] > 0 else -high
            assert told == pytest.approx(nearest, rel=1e-2)
            assert (high if estimates[0] > 0 else -low) == math.inf
    assert kinds == {"bounded", "all", "one-sided"}


def test_a_denominator_without_variance_gives_students_limits():
    variances = [np.array([[0.04, 0.0], [0.0, 0.0]])]
    low, high = fieller.limits(np.array([0.5, 2.0]), variances, 2.0)
    assert (low, high) == pytest.approx((0.05, 0.45))
    assert fieller.standard_error(np.array([0.5, 2.0]), variances) == pytest.approx(0.1)
    assert fieller.pvalue(np.array([0.5, 2.0]), variances, 10) == pytest.approx(2 * stats.t.sf(2.5, 10))


def test_nothing_is_told_of_what_is_not_known():
    variances = [np.eye(2)]
    assert all(map(math.isnan, fieller.limits(np.array([math.nan, 1.0]), variances, 2.0)))
    assert math.isnan(fieller.pvalue(np.array([1.0, 1.0]), [0 * np.eye(2)], 5.0))
    assert math.isnan(fieller.standard_error(np.array([1.0, -1.0]), variances))
    nothing = [np.zeros((2, 2))]  # without any variance there is no error, and no test
    assert math.isnan(fieller.standard_error(np.array([1.0, 2.0]), nothing))
