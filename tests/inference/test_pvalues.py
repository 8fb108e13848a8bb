"""From counts of resamples to p-values: never 0, shares where all swaps are listed."""

import numpy as np
import pytest
from scipy import stats

from xsumstat.inference.pvalues import by_t, equivalence_pvalues, permutation_pvalues, two_sided_by_t


def counts(at_least, at_most, beyond, undefined=0):
    return np.array([[at_least], [at_most], [beyond], [undefined]])


def test_sampled_p_values_are_never_zero():
    d = np.array([0.3])
    for alternative, want in (("greater", (1 / 100, 1.0)), ("less", (1.0, 1 / 100)), ("two-sided", (1 / 100, 1 / 100))):
        forward, backward = permutation_pvalues(d, counts(0, 99, 0), 99, False, alternative)
        assert (forward[0], backward[0]) == pytest.approx(want)


def test_exact_p_values_are_plain_shares():
    forward, backward = permutation_pvalues(np.array([0.3]), counts(3, 62, 6), 64, True, "greater")
    assert (forward[0], backward[0]) == (3 / 64, 62 / 64)


def test_undefined_swaps_are_not_counted():
    forward, _ = permutation_pvalues(np.array([0.3]), counts(4, 86, 9, undefined=9), 99, False, "greater")
    assert forward[0] == pytest.approx(5 / 91)
    forward, _ = permutation_pvalues(np.array([np.nan]), counts(0, 0, 0, undefined=0), 99, False, "greater")
    assert np.isnan(forward[0])
    forward, _ = permutation_pvalues(np.array([0.1]), counts(0, 0, 0, undefined=99), 99, False, "greater")
    assert np.isnan(forward[0])


def test_equivalence_is_the_larger_of_two_one_sided_shares():
    """Counted by hand, undefined samples left out; a difference at a margin counts as beyond it."""
    samples = np.array([0.1, -0.05, 0.2, np.nan, -0.2, 0.04, 0.3, np.nan])
    margins = np.array([0.05, 0.2, 0.2 + 1e-14, 1.0, np.nan])
    defined = [value for value in samples.tolist() if value == value]
    for margin, got in zip(margins.tolist(), equivalence_pvalues(samples, margins).tolist(), strict=True):
        above, below = (sum(sign * value >= margin - 1e-12 for value in defined) for sign in (1, -1))
        want = (1 + max(above, below)) / (len(defined) + 1) if margin == margin else np.nan
        assert got == pytest.approx(want, nan_ok=True), margin
    assert equivalence_pvalues(np.array([np.nan, np.nan]), margins[:1]).tolist() == [1.0]


def test_two_sided_by_t_is_scipys_and_says_nothing_without_error():
    x = np.array([0.3, -0.1, 0.5, 0.2])
    for sign in (1, -1):
        want = stats.ttest_1samp(sign * x, 0).pvalue
        assert two_sided_by_t(sign * x.mean(), x.std(ddof=1) / 2, 3) == pytest.approx(want, rel=1e-12)
    assert two_sided_by_t(0.0, 0.0, 3) == 1.0
    assert two_sided_by_t(0.2, 1e-9, 3) == pytest.approx(2 * stats.t.sf(2e8, 3), rel=1e-9)  # small, and no rounding
    for value, error, df in (
        (0.2, 0.0, 3),
        (0.2, 1e-17, 3),
        (0.2, 0.1, 0),
        (np.nan, 0.1, 3),
        (0.2, np.nan, 3),
        (0.2, np.inf, 3),
    ):
        assert np.isnan(two_sided_by_t(value, error, df)), (value, error, df)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_p_values_of_t_are_those_of_scipy(alternative):
    values = np.random.default_rng(0).normal(0.2, 1.0, size=9)
    found = [stats.ttest_1samp(sign * values, 0.0, alternative=alternative) for sign in (1, -1)]
    got = by_t(np.asarray(found[0].statistic), 8.0, alternative)
    assert [float(each) for each in got] == pytest.approx([each.pvalue for each in found], rel=1e-12)
