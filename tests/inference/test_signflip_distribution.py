import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xsumstat.inference import signflip_distribution


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
    got = signflip_distribution.tail(np.array(coefficients, dtype=float))
    assert got.exact
    assert (got.at_least, got.at_most) == pytest.approx(listed(coefficients), abs=1e-14)


@given(st.lists(st.integers(-9, 9), max_size=9), st.sampled_from([1.0, 0.3, 1 / 45]))
def test_few_signs_of_whole_steps_are_counted(whole, step):
    coefficients = np.array(whole, dtype=float) * step
    got = signflip_distribution.tail(coefficients, step)
    assert got == signflip_distribution.tail(coefficients)  # to the last bit
    assert (got.at_least, got.at_most) == pytest.approx(listed(coefficients), abs=1e-14)


@pytest.mark.parametrize("n, largest", [(23, 30), (40, 90)])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 1.0])
def test_some_signs_of_whole_steps_are_counted(n, largest, share):
    rng = np.random.default_rng(n)
    steps = signed(rng.integers(1, largest + 1, n), rng, share)
    ways, observed = convolved(tuple(np.abs(steps).tolist())), int(steps.sum())
    got = signflip_distribution.tail(steps * 0.3, 0.3)
    assert got.exact
    assert got.at_least == sum(count for total, count in ways.items() if total >= observed) / 2**n
    assert got.at_most == sum(count for total, count in ways.items() if total <= observed) / 2**n


@pytest.mark.parametrize("n, largest", [(45, 4), (60, 40), (120, 12), (250, 6)])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.2, 0.35, 0.5, 0.8, 1.0])
def test_a_lattice_is_exact_far_into_the_tails(n, largest, share):
    rng = np.random.default_rng(n)
    steps = signed(rng.integers(1, largest + 1, n), rng, share)
    ways, observed = convolved(tuple(np.abs(steps).tolist())), int(steps.sum())
    got = signflip_distribution.tail(steps * 0.3, 0.3)
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
        got = signflip_distribution.tail(steps, 1.0)
        assert got.at_least == pytest.approx(binom.sf(n - minus - 1, n, 0.5), rel=1e-8)
        assert got.at_most == pytest.approx(binom.cdf(n - minus, n, 0.5), rel=1e-8)


@pytest.mark.parametrize("n", [60, pytest.param(200, marks=pytest.mark.slow)])
def test_rounded_coefficients_beside_a_lattice(n):
    """The stated error, from the middle to 1e-12, of coefficients that are not said to share a step."""
    rng = np.random.default_rng(n)
    steps, seen = rng.integers(1, 2000, n), []
    for share in np.linspace(0, 0.5, 8):
        here = signed(steps, rng, share)
        exact = signflip_distribution.tail(here.astype(float), 1.0)
        if 1e-12 < exact.at_least < 1:
            got = signflip_distribution.tail(here * 0.37)
            assert not got.exact
            assert 1 - 1e-9 <= got.at_least / exact.at_least <= 1 + (0.005 if exact.at_least > 0.01 else 0.01)
            assert 1 - 1e-9 <= got.at_most / exact.at_most <= 1.005
            seen.append(exact.at_least)
    assert min(seen) < 1e-3 and max(seen) > 0.01


def divided(n, rng):
    """Whole numbers over three divisors: sums that lie in clumps, with ties."""
    return rng.integers(1, 9, n) / rng.choice([7.3, 7.9, 12.1], n)


def unequal(n, rng):
    """One coefficient in three is far larger than the others."""
    return np.exp(3 * rng.normal(size=n))


@functools.cache
def halves(values):
    """All sums of signs of every other value, and of the rest; sorted."""
    found = []
    for part in (values[::2], values[1::2]):
        sums = np.zeros(1)
        for value in part:
            sums = np.concatenate([sums - value, sums + value])
        found.append(np.sort(sums))
    return found


@pytest.mark.parametrize(
    "kind", [divided, pytest.param(unequal, marks=pytest.mark.slow), lambda n, rng: np.r_[1000.0, np.ones(n - 1)]]
)
def test_rounded_coefficients_beside_all_sums(kind):
    """Of 41 signs, the fewest whose sums are not listed."""
    for share in (0.1, 0.25, 0.4, 0.5):
        rng = np.random.default_rng(1)
        here = signed(values := kind(41, rng), rng, share)
        first, second = halves(tuple(values))
        got = signflip_distribution.tail(here)
        assert not got.exact
        for ours, sign in ((got.at_least, 1), (got.at_most, -1)):
            least = sign * float(here.sum()) - 1e-9
            theirs = (len(second) - np.searchsorted(second, least - first)).sum() / 2.0 ** len(values)
            assert theirs * (1 - 1e-9) <= ours <= min(1 + 1e-12, 1.005 * theirs + 1e-12), share


@pytest.mark.parametrize("step", [0.0, 1.0])
def test_the_farthest_sum_of_all(step):
    values = np.arange(1.0, 61.0)
    got = signflip_distribution.tail(values, step)
    assert got.at_least == pytest.approx(2.0**-60, rel=1e-9) and got.at_most == 1
    assert signflip_distribution.tail(-values, step).at_most == pytest.approx(2.0**-60, rel=1e-9)


def test_what_is_no_multiple_is_not_taken_for_one():
    values = np.random.default_rng(3).uniform(1, 2, 50)
    assert not signflip_distribution.tail(values, 0.5).exact
    assert signflip_distribution.tail(np.zeros(3)).at_least == 1


def test_two_sided_p_values_of_an_observed_zero():
    tail = signflip_distribution.tail(np.array([1.0, -1.0]))
    assert tail.pvalue(0.0, "two-sided") == 1 and tail.pvalue(0.0, "greater") == tail.pvalue(0.0, "less") == 0.75
