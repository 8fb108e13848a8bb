import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xsumstat import signed_sums


def listed(coefficients):
    """Shares of all sums of signs that are at least, and at most, the sum itself; by definition."""
    sums = [
        math.fsum(e * c for e, c in zip(signs, coefficients, strict=True))
        for signs in itertools.product((1, -1), repeat=len(coefficients))
    ]
    observed = math.fsum(coefficients)
    return sum(s >= observed - 1e-9 for s in sums) / len(sums), sum(s <= observed + 1e-9 for s in sums) / len(sums)


@functools.cache
def convolved(steps):
    """How many of all 2^n sums of signs are each whole number, {sum: ways}; whole numbers throughout."""
    ways = {0: 1}
    for step in steps:
        grown = {}
        for total, count in ways.items():
            grown[total + step] = grown.get(total + step, 0) + count
            grown[total - step] = grown.get(total - step, 0) + count
        ways = grown
    return ways


def signed(steps, rng, share):
    """The steps, a share of them negative."""
    return np.where(rng.random(len(steps)) < share, -steps, steps)


@given(st.lists(st.sampled_from([0.0, 1.0, -1.0, 2.0, 0.3, -0.7, 1.1]), max_size=9))
def test_few_signs_are_listed(coefficients):
    got = signed_sums.tail(np.array(coefficients, dtype=float))
    assert got.exact
    assert (got.at_least, got.at_most) == pytest.approx(listed(coefficients), abs=1e-14)


@pytest.mark.parametrize("n, largest", [(45, 4), (60, 40), (120, 12), (250, 6)])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.2, 0.35, 0.5, 0.8, 1.0])
def test_a_lattice_is_exact_far_into_the_tails(n, largest, share):
    rng = np.random.default_rng(n)
    steps = signed(rng.integers(1, largest + 1, n), rng, share)
    ways, observed = convolved(tuple(np.abs(steps).tolist())), int(steps.sum())
    got = signed_sums.tail(steps * 0.3, 0.3)
    want = [
        sum(count for total, count in ways.items() if total >= observed) / 2**n,
        sum(count for total, count in ways.items() if total <= observed) / 2**n,
    ]
    assert got.exact
    assert [got.at_least, got.at_most] == pytest.approx(want, rel=1e-9)


def test_a_lattice_of_thousands_of_signs():
    """Equal steps: binomial tails, which SciPy knows."""
    from scipy.stats import binom

    for n, minus in ((2000, 900), (2000, 700), (30_000, 14_500)):
        steps = np.ones(n)
        steps[:minus] = -1.0
        got = signed_sums.tail(steps, 1.0)
        assert got.at_least == pytest.approx(binom.sf(n - minus - 1, n, 0.5), rel=1e-8)
        assert got.at_most == pytest.approx(binom.cdf(n - minus, n, 0.5), rel=1e-8)


@pytest.mark.parametrize("n, bound", [(60, 2e-4), (100, 2e-5), (200, 2e-6)])
def test_saddlepoint_beside_a_fine_lattice(n, bound):
    """The stated relative error, from the middle to 1e-12; the steps are so fine that half of one is the only gap."""
    rng = np.random.default_rng(n)
    steps = rng.integers(1, 2000, n)
    seen = []
    for share in np.linspace(0, 0.5, 20):
        here = signed(steps, rng, share)
        exact = signed_sums.tail(here.astype(float), 1.0).at_least
        if 1e-12 < exact < 0.5:
            got = signed_sums._saddlepoint(np.abs(here).astype(float), float(here.sum()) - 1.0)
            assert got == pytest.approx(exact, rel=bound)
            seen.append(exact)
    assert min(seen) < 1e-8 and max(seen) > 0.05


def test_saddlepoint_beside_all_sums():
    rng = np.random.default_rng(1)
    values = rng.exponential(size=44)
    for share in (0.1, 0.2, 0.3, 0.4, 0.5):
        here = signed(values, rng, share)
        got = signed_sums.tail(here)
        assert not got.exact and got.at_least + got.at_most == 1
        assert got.at_least == pytest.approx(signed_sums._listed(values, float(here.sum())), rel=3e-3)


def test_both_formulas_meet_near_the_middle(monkeypatch):
    values = np.random.default_rng(2).uniform(0.5, 1, 80)
    threshold = 0.099 * math.sqrt((values**2).sum())
    edgeworth = signed_sums._saddlepoint(values, threshold)
    monkeypatch.setattr(signed_sums, "_MIDDLE", 0.0)
    assert signed_sums._saddlepoint(values, threshold) == pytest.approx(edgeworth, rel=1e-7)


@pytest.mark.parametrize("step", [0.0, 1.0])
def test_the_farthest_sum_of_all(step):
    values = np.arange(1.0, 61.0)
    got = signed_sums.tail(values, step)
    assert got.at_least == 2.0**-60 and got.at_most == 1
    assert signed_sums.tail(-values, step).at_most == 2.0**-60


def test_what_is_no_multiple_is_not_taken_for_one():
    values = np.random.default_rng(3).uniform(1, 2, 50)
    assert not signed_sums.tail(values, 0.5).exact
    assert signed_sums.tail(np.zeros(3)).at_least == 1


def test_two_sided_p_values_of_an_observed_zero():
    tail = signed_sums.tail(np.array([1.0, -1.0]))
    assert tail.pvalue(0.0, "two-sided") == 1 and tail.pvalue(0.0, "greater") == tail.pvalue(0.0, "less") == 0.75
