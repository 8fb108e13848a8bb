"""Closed forms of means and differences from ratings: SciPy, statsmodels, draws and plain Python."""

import math

import numpy as np
import pytest

from xsumstat.inference import rating_plans
from xsumstat.inference.rating_plans import Spread

stats = pytest.importorskip("scipy.stats")


def test_the_variance_is_as_written():
    spread = Spread(between=1.5, noise=0.6, explained=0.9)
    for n, m, r in ((40, 300, 1), (40, 300, 3), (5, 6, 2)):
        total = 1.5 + 0.6 / r
        rho2 = 0.9 / total
        want = total * ((1 - rho2) * (1 / n - 1 / m) * (1 + 1 / (n - 3)) + 1 / m)
        assert float(spread.variance(n, r, m)) == pytest.approx(want, rel=1e-12)
        assert float(rating_plans.degrees_of_freedom(n, m)) == n - 2
    for n, m in ((40, 0), (40, 40), (4, 300)):  # the judge scores no more, or too few are rated for a slope
        assert float(spread.variance(n, 2, m)) == pytest.approx(1.8 / n)
        assert float(rating_plans.degrees_of_freedom(n, m)) == n - 1


@pytest.mark.parametrize("n", [3, 10, 100])
def test_the_width_is_the_mean_one_of_students_intervals(n):
    drawn = np.random.default_rng(0).normal(0, math.sqrt(2.0 + 0.5), (40_000, n))
    low, high = stats.t.interval(0.9, n - 1, drawn.mean(axis=1), stats.sem(drawn, axis=1))
    spread = Spread(between=2.0, noise=1.0)
    assert float(spread.width(n, 2, 0, 0.9)) == pytest.approx(np.mean(high - low), rel=0.01)


def test_the_power_is_that_of_statsmodels():
    power_of = pytest.importorskip("statsmodels.stats.power").TTestPower()
    spread = Spread(between=1.0, noise=1.5)
    for n in (5, 20, 200):
        for r in (1, 3):
            own = power_of.power(0.4 / math.sqrt(1 + 1.5 / r), n, 0.05, alternative="two-sided")
            assert float(spread.power(0.4, n, r, 0, 0.05)) == pytest.approx(own, abs=1e-6)


def test_many_designs_are_asked_at_once():
    spread = Spread(1.0, 0.5, 0.4)
    rated, judged = np.array([5.0, 30.0, 200.0]), np.array([5.0, 300.0, 250.0])
    for each in (lambda n, m: spread.width(n, 2, m, 0.95), lambda n, m: spread.power(0.3, n, 2, m, 0.05)):
        one_by_one = [float(each(n, m)) for n, m in zip(rated, judged, strict=True)]
        np.testing.assert_allclose(each(rated, judged), one_by_one, rtol=1e-12)


def test_what_never_varies_is_always_found():
    assert float(Spread(0.0).power(0.3, 5, 1, 0, 0.05)) == 1.0 and float(Spread(0.0).width(5, 1, 0, 0.95)) == 0.0
    assert float(rating_plans.power(1e-9, 1e6, 4, 0.05)) == pytest.approx(0.05)


def test_the_least_number_is_the_first_that_is_enough():
    for least, first in ((2, 2), (2, 3), (1, 1000), (5, 4)):
        assert rating_plans.least_number(lambda n, first=first: n >= first, least) == max(least, first)
    assert math.isnan(rating_plans.least_number(lambda n: False, 2, 100))
    assert rating_plans.least_number(lambda n: n >= 100, 2, 100) == 100


def test_the_least_inputs_of_the_closed_form():
    """A variance of 1.232 needs 110 inputs for .3 and 244 for .2; a normal approximation agrees far out."""
    spread = Spread(1.232)

    def least(size, spread=spread):
        return rating_plans.least_number(lambda n: float(spread.power(size, n, 1, 0, 0.05)) >= 0.8, 2)

    assert [least(d) for d in (0.3, 0.2)] == [110, 244]
    assert least(0.001, Spread(1.0)) == pytest.approx(7.848880 * 1e6, rel=1e-4)
    assert least(0.3, Spread(0.0)) == 2


def test_numbers_that_are_tried_hold_all_small_ones():
    tried = rating_plans.tried(5, 100_000, 50).tolist()
    assert tried[:50] == list(range(5, 55)) and tried[-1] == 100_000 and len(tried) < 110
    assert rating_plans.tried(5, 7).tolist() == [5, 6, 7]
