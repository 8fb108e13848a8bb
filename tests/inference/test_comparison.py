"""Whether two correlations differ: limits and p-values by the jackknife agree, as scanning all limits finds them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from xsumstat.inference import comparison, jackknife
from xsumstat.inference.jackknife import Estimated


def joined(one: Estimated, two: Estimated, rho: float) -> Estimated:
    """The difference of two, as MOVER has it, in so many words."""

    def about(t):
        (l_1, u_1), (l_2, u_2) = one.about(t), two.about(t)
        below, above = one.centre - l_1, u_1 - one.centre
        low = below**2 + (u_2 - two.centre) ** 2 - 2 * rho * below * (u_2 - two.centre)
        high = above**2 + (two.centre - l_2) ** 2 - 2 * rho * above * (two.centre - l_2)
        gap = one.centre - two.centre
        return gap - np.sqrt(np.maximum(0, low)), gap + np.sqrt(np.maximum(0, high))

    bias = one.bias - two.bias
    return Estimated(one.estimate - two.estimate, bias, 1.0, min(one.df, two.df), about=about)


def drawn(rng: np.random.Generator) -> Estimated:
    """A difference of two correlations that are near, far apart, of opposite signs or near 1; some fell back."""
    shared = rng.uniform(-1, 1)
    kind = rng.integers(5)
    values = np.clip(shared + rng.normal(size=2) * 10.0 ** -rng.uniform(0, 3), -1, 1)
    if kind == 0:
        values = np.array([1, -1]) * rng.uniform(0, 1, 2) * rng.choice([-1, 1])
    elif kind == 1:
        values = 1 - 10.0 ** -rng.uniform(0, 6, 2)
    df = float(rng.choice([1, 2, 4, 7, 11, 24, 99]))
    errors = 10.0 ** -rng.uniform(0, 3, 2) * (1 - values**2 + 1e-9)
    biases = rng.normal(size=2) * errors * rng.choice([0, 0.3, 3])
    if kind == 2:
        errors[rng.integers(2)] = 0.0  # nothing varies
    one, two = (
        jackknife.bounded(float(r), float(b), float(e), df) for r, b, e in zip(values, biases, errors, strict=True)
    )
    if kind == 3:
        one = jackknife.perfect(float(np.sign(values[0] or 1)), 8, 1 / 28, (2, lambda r: 1.0), df)
    fell_back = one.fell_back or two.fell_back
    return joined(one, two, 0.0 if fell_back else rng.choice([rng.uniform(-1, 1), 1 - 10.0 ** -rng.uniform(0, 4)]))


def excludes(limits: tuple[float, float]) -> bool:
    return limits[0] > 0 or limits[1] < 0


def check_agree(start: int, n: int) -> None:
    """p is at most alpha just where the interval of 1 - alpha excludes 0; one tail is half of both, or the rest."""
    rng = np.random.default_rng(start)
    backwards = 0
    for at in range(n):
        each = drawn(rng)
        low, high, p, turned = comparison.compared(each, 0.95, "two-sided")
        assert low <= each.estimate <= high
        if at % 20 == 0 and p > 2 * comparison.LEAST_PVALUE:
            greater, less = (comparison.compared(each, 0.95, side)[2] for side in ("greater", "less"))
            tails = [p / 2, 1 - p / 2]
            np.testing.assert_allclose([greater, less], tails if each.estimate > 0 else tails[::-1], rtol=1e-12)
        plain = each.limits(jackknife.t_quantile(0.95, each.df))
        backwards += (low, high) != plain
        assert low <= plain[0] and plain[1] <= high
        if math.isnan(p):
            assert each.estimate != 0 and plain[0] == plain[1]
            continue
        assert p == turned
        for alpha in (0.05, p * 1.001 if low + high > 0 else p / 1.001):
            if not 1e-9 < alpha < 1 or abs(alpha - p) < 1e-9:
                continue
            found = comparison.compared(each, 1 - alpha, "two-sided")[:2]
            if min(map(abs, found)) > 1e-12:  # limits at both ends of the scale end in a 0 that is rounded
                assert excludes(found) == (p <= alpha), (alpha, p, found)
    assert backwards  # limits that turn back are among them


def test_p_is_at_most_alpha_just_where_the_interval_excludes_0():
    check_agree(1, 300)


@pytest.mark.long
@pytest.mark.slow
def test_p_is_at_most_alpha_just_where_the_interval_excludes_0_in_6_000_cases():
    check_agree(2, 6_000)


@pytest.mark.slow
def test_p_is_what_scanning_all_limits_finds():
    rng = np.random.default_rng(3)
    tails = np.concatenate([np.linspace(0.5, 0.05, 3_000), np.geomspace(0.05, 5e-13, 20_000)])
    compared = 0
    for _ in range(100):
        each = drawn(rng)
        p = comparison.compared(each, 0.95, "two-sided")[2]
        if math.isnan(p) or each.estimate * each.centre <= 0:
            continue
        low, high = (np.broadcast_to(limit, tails.shape) for limit in each.about(stats.t.isf(tails, each.df)))
        covers = (np.minimum.accumulate(low) <= 0) & (np.maximum.accumulate(high) >= 0)
        first = 2 * tails[np.argmax(covers)] if covers.any() else comparison.LEAST_PVALUE
        assert p == pytest.approx(first, rel=4e-3, abs=1e-6)
        compared += 1
    assert compared > 50


def test_metrics_of_opposed_sign_that_no_limits_join():
    one, two = (jackknife.bounded(r, 0.0, 0.01, 11) for r in (0.9, -0.9))
    assert comparison.compared(joined(one, two, 0.99), 0.95, "two-sided")[2] == comparison.LEAST_PVALUE == 1e-12


def test_an_estimate_and_a_centre_of_opposite_signs_tell_nothing():
    one, two = jackknife.bounded(0.5, 0.1, 0.05, 9), jackknife.bounded(0.45, 0.0, 0.05, 9)
    each = joined(one, two, 0.5)
    assert each.estimate > 0 > each.centre
    assert comparison.compared(each, 0.95, "two-sided")[2] == 1
    assert comparison.compared(each, 0.95, "greater")[2:] == (0.5, 0.5)


def test_an_infinite_standard_error_reaches_from_end_to_end():
    """Of four systems in perfect order Fisher's standard error has no end."""
    perfect = jackknife.perfect(1.0, 2, 1 / 6, (3, lambda r: 1.0), 3)
    low, high, p, _ = comparison.compared(joined(perfect, jackknife.bounded(0.5, 0.0, 0.2, 3), 0.0), 0.95, "two-sided")
    assert low < 0 < high and 0.99 < p <= 1


def test_points_that_differ_have_no_p_value_and_equal_ones_have_1():
    one, two = jackknife.bounded(1.0, 0.0, 0.0, 9), jackknife.bounded(0.5, 0.0, 0.0, 9)
    assert np.isnan(comparison.compared(joined(one, two, 0.0), 0.95, "two-sided")[2:]).all()
    assert comparison.compared(joined(one, one, 0.0), 0.95, "two-sided") == (0.0, 0.0, 1.0, 1.0)
    nothing = Estimated(0.2, math.nan, math.nan, 3.0)
    assert np.isnan(comparison.compared(nothing, 0.95, "greater")).all()
