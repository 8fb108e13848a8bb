"""Limits of ratings of one value or two: by SciPy, by Wilson's equation, and how often they hold the share."""

import few_ratings_twin as twin
import numpy as np
import pytest
from scipy import stats

from xsumstat.inference import score_limits
from xsumstat.inference import system_means as estimator
from xsumstat.inference.ridge_means import ridge_means

WITH = ("ci_low", "ci_high")
ALONE = ("human_ci_low", "human_ci_high")


def found(z, m=40, f=None, *, target="new", level=0.95, scale=None):
    """Of ratings (..., systems, rated) and a metric that says nothing unless it is given."""
    z = np.asarray(z, dtype=float)
    wide = np.full((*z.shape[:-1], m), np.nan)
    wide[..., : z.shape[-1]] = z
    f = np.zeros_like(wide) if f is None else f
    return estimator.system_means(f, wide, estimator.Strata.none(m), target, level, scale)


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("n", [1, 5, 40])
def test_whole_counts_are_those_of_scipy(n, level):
    for k in range(n + 1):
        low, high = score_limits.wilson(np.array(k / n), 1 / n, level)
        exact = stats.binomtest(k, n).proportion_ci(level, "wilson")
        assert (float(low), float(high)) == pytest.approx((exact.low, exact.high), abs=1e-12)


def test_limits_of_none_and_of_all_are_the_very_ends():
    per_n = 1 / np.arange(1.0, 200.0)
    assert (score_limits.wilson(np.zeros(199), per_n, 0.95)[0] == 0).all()
    assert (score_limits.wilson(np.ones(199), per_n, 0.95)[1] == 1).all()


@pytest.mark.parametrize("n", [0.7, 6.4, 1e6])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_other_numbers_solve_wilsons_equation(share, n):
    limits = [float(each) for each in score_limits.wilson(np.array(share), 1 / n, 0.9)]
    assert limits == pytest.approx(twin.score_limits(share, n, 0.0, 1.0, 0.9), abs=1e-9)


@pytest.mark.parametrize("n_systems", [1, 2, 4])
def test_passes_and_fails_have_score_limits_and_never_a_point(n_systems):
    z = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 1, 1], [0, 0, 0, 0, 0], [0, 1, 1, 0, 1]])[[1, 0, 2, 3][:n_systems]]
    result = found(z)
    for s, k in enumerate(z.sum(axis=-1)):
        exact = stats.binomtest(int(k), 5).proportion_ci(method="wilson")
        for names in (WITH, ALONE):
            assert [result[name][s] for name in names] == pytest.approx([exact.low, exact.high], abs=1e-12)
        half = (exact.high - exact.low) / 2
        assert result["standard_error"][s] == pytest.approx(half / stats.norm.ppf(0.975))


def test_a_metric_adds_nothing_to_ratings_of_one_value():
    """Of systems whose ratings are all alike nothing tells how much the metric helps; of others it does."""
    rng = np.random.default_rng(4)
    truth = rng.normal(size=(3, 60))
    rated = (truth > -0.5)[:, :20] | np.array([[False], [True], [False]])
    result = found(rated, 60, truth + 0.3 * rng.normal(size=truth.shape))
    assert result["n_effective"][1] <= 20 < result["n_effective"][[0, 2]].min()


def test_a_metric_counts_by_the_effective_number_of_ratings():
    rng = np.random.default_rng(4)
    truth = rng.normal(size=(3, 60))
    f = truth + 0.5 * rng.normal(size=truth.shape)
    for target in ("new", "these"):
        result = found((truth > -0.5)[:, :20], 60, f, target=target)
        assert (result["n_effective"] > 21).all()
        for s in range(3):
            n = result["n_effective"][s] / (1 if target == "new" else 1 - 20 / 60)
            expected = twin.score_limits(result["mean"][s], n, 0.0, 1.0, 0.95)
            assert [result[name][s] for name in WITH] == pytest.approx(expected)


def test_the_ends_are_those_of_all_ratings_or_of_the_scale():
    z = np.array([[4, 4, 4, 4, 4, 4], [4, 5, 5, 5, 4, 5], [1, 2, 3, 4, 5, 2]])
    for scale, (low, high) in ((None, (1, 5)), ((0, 10), (0, 10)), ((2, 3), (1, 5))):
        result = found(z, scale=scale)
        for s in (0, 1):
            expected = twin.score_limits(z[s].mean(), 6, low, high, 0.95)
            if scale is None:  # a third system has more values: at least as wide as by t
                half = stats.t.ppf(0.975, 5) * np.sqrt(twin.moderated(z.var(axis=-1, ddof=1).tolist(), [5] * 3)[s] / 6)
                expected = min(expected[0], z[s].mean() - half), max(expected[1], z[s].mean() + half)
            assert [result[name][s] for name in ALONE] == pytest.approx(expected)
    t = found(z, scale=(0, 10))
    assert t["human_ci_low"][2] == pytest.approx(found(z)["human_ci_low"][2])  # several values: Student's t


def test_one_value_alone_has_no_limits_without_a_scale():
    z = np.full((2, 8), 3.0)
    assert np.isnan([found(z)[name] for name in (*WITH, *ALONE)]).all()
    assert [found(z, scale=(1, 5))[name][0] for name in ALONE] == pytest.approx(twin.score_limits(3, 8, 1, 5, 0.95))
    all_rated = found(z, 8, target="these")  # nothing is left that may differ
    assert [all_rated[name][0] for name in (*WITH, *ALONE)] == [3.0] * 4


def test_two_different_ratings_of_many_are_not_taken_for_two_values():
    few = score_limits.few_valued(np.array([[3.7, 4.2], [1.1, 2.6]]), np.ones((2, 2), dtype=bool))
    assert not few.any()
    for z in ([[3.7, 4.2]], [[3.7, 4.2], [3.7, np.nan]]):  # as many ratings as values; one more
        few = score_limits.few_valued(np.array(z), ~np.isnan(np.array(z)))
        assert few[0] == (len(z) > 1)
    few = score_limits.few_valued(np.array([[0.0, 1.0], [1.0, 1.0]]), np.ones((2, 2), dtype=bool))
    assert few.all()
    one = np.array([[True, False], [True, True]])
    assert score_limits.few_valued(np.ones((2, 2)), one).tolist() == [False, True]


def test_ridge_has_them_too():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(2, 3, 60))
    z = np.where(np.arange(60) < 25, (x[0] + x[1] > 0.4) * 1.0, np.nan)
    z[1, :25] = 1.0
    result, _ = ridge_means(x, z, "new", 0.95)
    for s, k in enumerate(np.nansum(z, axis=-1)):
        exact = stats.binomtest(int(k), 25).proportion_ci(method="wilson")
        assert [result[name][s] for name in ALONE] == pytest.approx([exact.low, exact.high], abs=1e-12)
    assert (result["ci_high"] - result["ci_low"] > 0.05).all()


def test_how_often_five_passes_and_fails_hold_their_share():
    """By t, 37 % of intervals were points at 1 system and 61 % held the share of .8."""
    rng = np.random.default_rng(6)
    for n_systems in (1, 4):
        z = (rng.random((1500, n_systems, 5)) < 0.8).astype(float)
        result = found(z, scale=(0, 1))
        assert (result["ci_high"] - result["ci_low"]).min() > 0.2
        held = ((result["ci_low"] <= 0.8) & (result["ci_high"] >= 0.8)).mean()
        assert 0.92 < held < 0.995
