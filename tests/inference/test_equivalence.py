"""p-values of equivalence by the jackknife: those at which its interval, by a twin, just fits into the margin."""

import math

import jackknife_twin as twin
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import t

from xsumstat.analyses.measure import checked_measure
from xsumstat.inference.equivalence import within
from xsumstat.inference.jackknife import Estimated
from xsumstat.resampling.jackknife import estimated

BOTH = ("system", "input")


def scores(seed, shape=(9, 14), noise=0.7):
    """Two metrics and a gold, (3, systems, inputs)."""
    rng = np.random.default_rng(seed)
    gold = rng.normal(size=(shape[0], 1)) + 0.5 * rng.normal(size=(1, shape[1])) + rng.normal(size=shape)
    one = gold + rng.normal(size=shape) + 0.5 * rng.normal(size=(shape[0], 1))
    return np.array([one, one + noise * rng.normal(size=shape) + 0.4 * rng.normal(size=(shape[0], 1)), gold])


def difference(three, coefficient, level, dims=BOTH):
    """What is known of the difference of the two metrics."""
    measure = checked_measure(level, coefficient, "pairwise", "drop")
    ((found, *_),) = estimated(three[:2], three[2], [(0, 1)], measure, dims)
    return found


@pytest.mark.parametrize(
    "coefficient, level, dims",
    [
        ("pearson", "system", BOTH),
        ("pearson", "input", BOTH),
        ("pearson", "global", BOTH),
        ("kendall", "input", ("system",)),
        ("kendall", "system", ("input",)),
        ("spearman", "within_system", BOTH),
        ("pairwise_accuracy", "input", BOTH),
    ],
)
def test_p_is_where_the_interval_just_fits(coefficient, level, dims):
    three, how = scores(0, (7, 9)), (coefficient, level, dims)
    found = difference(three, *how)
    low, high, _ = within(found, [], 0.05)
    want = twin.difference(*three, *how, confidence_level=0.9)
    assert [low, high] == pytest.approx([want["ci_low"], want["ci_high"]], abs=1e-12)
    margins = abs(found.estimate) + np.array([0.6, 1.0, 1.4]) * (high - low) / 2
    _, _, pvalues = within(found, margins, 0.05)
    for margin, p in zip(margins, pvalues, strict=True):
        assert 0 < p < 0.5
        fits = twin.difference(*three, *how, confidence_level=1 - 2 * p)
        assert max(fits["ci_high"], -fits["ci_low"]) == pytest.approx(margin, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_over_inputs_alone_limits_of_means_also_reach_those_without_the_bias(seed):
    """By the twin's second derivatives, for each metric: ``ΣF_jj/(2M(M−1))``."""
    three, m = scores(seed, (5, 14)), 14
    found = difference(three, "pearson", "system", ("input",))
    (low, high), outer = found.allowing_bias().interval(0.9), within(found, [], 0.05)
    assert outer[0] <= low and outer[1] >= high
    want = twin.difference(*three, "pearson", "system", ("input",), confidence_level=0.9)
    one, two = (np.trace(twin.bends(x, three[2])) / (2 * m * (m - 1)) for x in three[:2])
    off = np.clip(one - two, -want["standard_error"], want["standard_error"])
    assert [low, high] == pytest.approx([want["ci_low"] - max(off, 0), want["ci_high"] - min(off, 0)], abs=1e-12)


def test_the_bias_of_a_correlation_of_means_is_what_new_inputs_show():
    """Draws of all inputs, from an exact copy of the population: their mean deviates by the bias."""
    three = scores(1, (5, 40))
    found = difference(three, "pearson", "system", ("input",))
    rng = np.random.default_rng(0)
    counts = rng.multinomial(40, np.full(40, 1 / 40), size=20_000) / 40
    means = np.einsum("rj,ksj->rks", counts, three)
    means -= means.mean(axis=2, keepdims=True)
    means /= np.linalg.norm(means, axis=2, keepdims=True)
    drawn = ((means[:, 0] - means[:, 1]) * means[:, 2]).sum(axis=1)
    error = drawn.std() / math.sqrt(len(drawn))
    assert found.unremoved == pytest.approx(drawn.mean() - found.estimate, abs=4 * error + 0.25 * abs(found.unremoved))


@given(
    seed=st.integers(0, 10_000),
    shape=st.tuples(st.integers(4, 12), st.integers(2, 10)),
    level=st.sampled_from(["system", "input", "global"]),
    coefficient=st.sampled_from(["pearson", "kendall"]),
    alpha=st.floats(1e-6, 0.499),
    margin=st.floats(0.001, 2.5),
    noise=st.sampled_from([0.05, 0.7, 3.0]),
)
def test_p_is_at_most_alpha_just_where_the_interval_lies_within(seed, shape, level, coefficient, alpha, margin, noise):
    found = difference(scores(seed, shape, noise), coefficient, level)
    assume(found.about is not None)
    low, high, (p,) = within(found, [margin], alpha)
    assume(min(abs(high - margin), abs(low + margin)) > 1e-9)
    assert (p <= alpha) == (-margin < low and high < margin)
    plain = found.interval(1 - 2 * alpha)
    wider = (high - plain[1], plain[0] - low) if alpha <= 0.25 else (plain[1] - high, low - plain[0])
    assert min(wider) >= -1e-15 and low <= found.estimate <= high
    assert 0 <= p <= 1 and (p >= 0.5 or abs(found.estimate) <= margin)


def test_p_falls_as_the_margin_grows():
    found = difference(scores(3), "pearson", "input")
    _, _, p = within(found, np.arange(1, 200) / 100, 0.05)
    assert (np.diff(p) <= 1e-12).all() and p[0] >= 0.5 and p[-1] < 1e-6


def test_p_of_a_normal_looking_interval_is_that_of_two_t_tests():
    """Limits d ± t·error: the larger of P(t > (Δ − d)/error) and P(t > (Δ + d)/error), in the margin and outside."""
    for value in (-0.3, -0.1, 0.0, 0.25):
        found = Estimated(value, 0.0, 0.1, 11.0, about=lambda q, value=value: (value - 0.1 * q, value + 0.1 * q))
        for margin in (0.05, 0.2, 0.4):
            want = max(t.sf((margin - value) / 0.1, 11), t.sf((margin + value) / 0.1, 11))
            low, high, p = within(found, [margin], 0.05)
            assert p == pytest.approx([want], rel=1e-9)
            assert [low, high] == pytest.approx([value - 0.1 * t.ppf(0.95, 11), value + 0.1 * t.ppf(0.95, 11)])


def test_a_limit_that_turns_back_stays_where_it_was():
    """Its largest value so far counts, for the interval and for p."""

    def about(q):
        return -0.01 * q, 0.3 * q * math.exp(-q)  # largest at q = 1

    found = Estimated(0.0, 0.0, 0.1, 50.0, about=about)
    peak = 0.3 / math.e
    low, high, (p, past) = within(found, [0.05, 0.5], 1e-4)
    assert p > 1e-4 and found.interval(1 - 2e-4)[1] < 0.05 < high
    assert high == pytest.approx(peak, rel=0.01) and low == pytest.approx(-0.01 * t.ppf(1 - 1e-4, 50))
    first = brentq(lambda q: 0.3 * q * math.exp(-q) - 0.05, 0, 1)
    assert p == pytest.approx(t.sf(first, 50)) and past == 0.0


def test_without_an_interval_or_a_margin_there_is_no_p():
    none = Estimated(0.1, math.nan, math.nan, 3.0)
    assert np.isnan([*within(none, [0.2], 0.05)[:2], *within(none, [0.2], 0.05)[2]]).all()
    point = Estimated(0.1, 0.0, 0.0, 9.0, True, lambda q: (0.1, 0.1))
    low, high, p = within(point, [0.2, 0.05, np.nan], 0.05)
    assert (low, high) == (0.1, 0.1) and p[0] == 0 and p[1] == 1 and np.isnan(p[2])
