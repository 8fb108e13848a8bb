"""Slopes of errors on covariates with noise in the human scores: a twin, regressions, truth, size."""

import math

import noisy_gold_twin as twin
import numpy as np
import pytest
from helpers import by_turns, pairwise

from xsumstat.inference import clustered, noisy_gold
from xsumstat.inference.clustered import Question

LEVELS = ("system", "input", "global", "within_system")
BOTH = ("system", "input")
LIMITS = ("slope", "ci_low", "ci_high", "standard_error", "df", "pvalue", "gold_reliability")


def scores(seed=0, systems=6, inputs=7, raters=3, gaps=0.3, covariates=1, noise=0.6):
    rng = np.random.default_rng(seed)
    shape = systems, inputs
    q = rng.normal(size=(systems, 1)) + rng.normal(size=shape)
    c = rng.normal(size=(covariates, *shape)) + rng.normal(size=(covariates, systems, 1)) + 0.4 * q
    x = 50 + 3 * q + c.sum(axis=0) + rng.normal(size=shape)
    ratings = 20 + q + rng.normal(size=(raters, 1, 1)) + noise * rng.normal(size=(raters, *shape))
    ratings[rng.random(ratings.shape) < gaps] = np.nan
    x[rng.random(shape) < 0.05] = np.nan
    return x, ratings, c


def told(x, ratings, c, question, level=0.95):
    return dict(zip(LIMITS, noisy_gold.corrected(x, ratings, c, question, level), strict=True))


@pairwise(
    {
        "covariates": [1, 2],
        "dims": [BOTH, ("system",), ("input",)],
        "clusters": [None, ([0, 1, 1, 2, 3, 4, 0], [0, 1, 0, 2, 3, 2, 4])],
        "is_group": [True, False],
        "level": LEVELS,
    }
)
def test_numbers_are_those_of_the_twin(level, dims, covariates, clusters, is_group):
    x, ratings, c = scores(1, systems=7, covariates=covariates)
    if is_group:
        c[0] = (c[0] > 0).astype(float)
    codes = clusters and tuple(map(np.array, clusters))
    question = Question(level, "regression", (is_group,) + (False,) * (covariates - 1), dims, codes)
    found = told(x, ratings, c, question)
    expected = twin.slope(x, ratings, list(c), level, is_group, dims, found["df"][0], clusters=codes)
    for name in ("slope", "standard_error", "pvalue"):
        assert found[name][0] == pytest.approx(expected[name], rel=1e-6), name
    assert found["gold_reliability"][0] == pytest.approx(expected["reliability"], rel=1e-9)
    for end, inward in (("ci_low", 1), ("ci_high", -1)):
        at = found[end][0]
        if math.isfinite(at):
            near = 1e-6 * max(1.0, abs(at))
            assert expected["accepted"](at + inward * near) and not expected["accepted"](at - inward * near)


@pairwise({"level": LEVELS, "dims": [BOTH, ("input",)], "covariates": [1, 2], "reliability": [0.6, 1.0]})
def test_known_reliabilities_are_those_of_the_twin(level, dims, covariates, reliability):
    x, ratings, c = scores(2, systems=7, raters=1, gaps=0.05, covariates=covariates)
    question = Question(level, "regression", (False,) * covariates, dims)
    df = clustered.slopes(x, ratings[0], c, question)[2]
    slope, p = noisy_gold.by_reliability(x, ratings[0], c, question, (0.9, reliability), df)[:, 0, 1]
    expected = twin.slope(x, ratings, list(c), level, False, dims, df[0], reliability=reliability)
    assert slope == pytest.approx(expected["slope"], rel=1e-7) and p == pytest.approx(expected["pvalue"], rel=1e-6)


@pytest.mark.parametrize("level", LEVELS)
def test_without_noise_slopes_are_those_of_the_regression(level):
    """Raters who agree but for their offsets, and human scores whose reliability is 1."""
    x, ratings, c = scores(3, systems=8, covariates=2, noise=0.0, gaps=0.2)
    c[1] = c[1] > 0
    question = Question(level, "regression", (False, True), BOTH)
    z = _quality(ratings)
    expected = clustered.slopes(x, z, c, question)[0]
    np.testing.assert_allclose(told(x, ratings, c, question)["slope"], expected, rtol=1e-8)
    np.testing.assert_allclose(told(x, ratings, c, question)["gold_reliability"], 1.0, rtol=1e-9)
    df = clustered.slopes(x, z, c, question)[2]
    np.testing.assert_allclose(noisy_gold.by_reliability(x, z, c, question, (1.0,), df)[0, :, 0], expected, rtol=1e-8)


def _quality(ratings):
    """What raters agree on, with offsets taken out by the twin."""
    kept = [tuple(each) for each in np.argwhere(~np.isnan(ratings).all(axis=0))]
    means = {cell: np.mean(each) for cell, each in twin.adjusted(ratings, kept)[0].items()}
    return np.array([[means.get((i, j), np.nan) for j in range(ratings.shape[2])] for i in range(ratings.shape[1])])


@pytest.mark.slow
def test_the_regression_is_that_of_statsmodels():
    sm = pytest.importorskip("statsmodels.api")
    x, ratings, c = scores(4, gaps=0.0)
    x = np.where(np.isnan(x), 50.0, x)
    z = ratings[0]
    dummies = np.array([[float(j == other) for other in range(7)] for i in range(6) for j in range(7)])
    design = np.column_stack([dummies, z.ravel(), c[0].ravel()])
    fit = sm.OLS(x.ravel(), design).fit()
    within = [each - each.mean(axis=0) for each in (x, c[0])]
    expected = fit.params[-1] * within[1].std() / within[0].std()
    question = Question("input", "regression", (False,), BOTH)
    df = clustered.slopes(x, z, c, question)[2]
    assert noisy_gold.by_reliability(x, z, c, question, (1.0,), df)[0, 0, 0] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("level", ["input", "global", "within_system"])
@pytest.mark.parametrize("gamma", by_turns([0.5, 0.0]))
def test_many_inputs_tell_the_truth_that_a_regression_misses(level, gamma):
    """Quality and covariate correlate by .6; two or three raters of five rate an output, some of them once."""
    rng = np.random.default_rng(5)
    shape = 4, 4000
    q = rng.normal(size=shape)
    c = 0.6 * q + 0.8 * rng.normal(size=shape)
    x = q + gamma * c + rng.normal(size=shape)
    ratings = q + rng.normal(size=(5, 1, 1)) + rng.normal(size=(5, *shape))
    ratings[rng.random(ratings.shape) < 0.55] = np.nan
    question = Question(level, "regression", (False,), ("input",))
    found = told(x, ratings, c[None], question)
    spread = math.sqrt(1 + gamma**2 + 2 * gamma * 0.6 + 1)
    assert abs(found["slope"][0] - gamma / spread) < 4 * found["standard_error"][0] < 0.1
    there = ~np.isnan(ratings).all(axis=0)
    z = np.where(there, np.nansum(ratings, axis=0) / np.maximum((~np.isnan(ratings)).sum(axis=0), 1), np.nan)
    naive, error, _ = clustered.slopes(x, z, c[None], question)[:, 0]
    assert naive > gamma / spread + 8 * error


def test_units_do_not_matter_and_offsets_are_taken_out():
    x, ratings, c = scores(6)
    question = Question("input", "regression", (False,), BOTH)
    moved = ratings * 3 + np.array([5.0, -1e4, 2e3])[:, None, None]
    one, other = noisy_gold.corrected(x, ratings, c, question, 0.95), noisy_gold.corrected(
        1e-50 * x, moved, 1e60 * c - 1e61, question, 0.95)  # fmt: skip
    np.testing.assert_allclose(one, other, rtol=1e-7)


@pytest.mark.parametrize("level", ["input", "global", "within_system"])
@pytest.mark.parametrize("axis", [0, 1])
def test_one_cluster_that_all_but_makes_up_a_variance_costs_no_digits(level, axis):
    x, ratings, c = scores(7, gaps=0.1)
    big = [slice(None)] * 2
    big[axis] = 1
    c[0][tuple(big)] *= 2e4
    question = Question(level, "regression", (False,), BOTH)
    found = told(x, ratings, c, question)
    expected = twin.slope(x, ratings, list(c), level, False, BOTH, found["df"][0])
    assert found["slope"][0] == pytest.approx(expected["slope"], rel=1e-6)
    assert found["pvalue"][0] == pytest.approx(expected["pvalue"], rel=1e-4)


def test_the_least_reliability_is_that_of_means_over_unequal_numbers_of_inputs():
    """Noise alone lies within systems; half of these have 2 inputs, half 40: 1/(1 + (1/2 + 1/40)/2) = .79."""
    rng = np.random.default_rng(4)
    z = rng.normal(size=(400, 1)) + rng.normal(size=(400, 40))
    z[::2, 2:] = np.nan
    found = noisy_gold.least_reliability(np.zeros(z.shape), z, np.zeros((1, *z.shape)))
    assert found == pytest.approx(1 / (1 + (1 / 2 + 1 / 40) / 2), abs=0.03)


def test_what_cannot_be_told_is_nan():
    x, ratings, c = scores(8)
    question = Question("global", "regression", (False,), BOTH)
    assert np.isnan(noisy_gold.corrected(x * np.nan, ratings, c, question, 0.95)).all()
    assert np.isnan(noisy_gold.corrected(x, ratings, np.ones_like(c), question, 0.95)).all()
    once = np.where(np.arange(3)[:, None, None] == np.argmin(np.isnan(ratings), axis=0), ratings, np.nan)
    assert np.isnan(noisy_gold.corrected(x, once, c, question, 0.95)[1:6]).all()


def test_ratings_that_are_all_noise_tell_nothing():
    """The limits are infinite where noise explains all that human scores vary by."""
    rng = np.random.default_rng(9)
    x, c = rng.normal(size=(2, 3, 60))
    ratings = rng.normal(size=(3, 3, 60))
    found = told(x, ratings, c[None], Question("global", "regression", (False,), ("input",)))
    assert found["ci_low"][0] == -math.inf and found["ci_high"][0] == math.inf and found["pvalue"][0] > 0.05


@pytest.mark.parametrize("raters", [2, 3])
def test_an_unbiased_metric_is_seldom_called_biased(raters):
    """3 systems x 60 inputs, covariate and quality correlate by .5; a regression finds a bias in most sets."""
    rng, found, naive = np.random.default_rng(10), 0, 0
    question = Question("within_system", "regression", (False,), ("input",))
    for _ in range(100):
        q = rng.normal(size=(3, 60))
        c = 0.5 * q + math.sqrt(0.75) * rng.normal(size=q.shape)
        x = q + 0.6 * rng.normal(size=q.shape)
        ratings = q + 0.5 * rng.normal(size=(raters, 1, 1)) + 0.8 * rng.normal(size=(raters, *q.shape))
        ratings[rng.random(ratings.shape) < 0.25] = np.nan
        found += told(x, ratings, c[None], question)["pvalue"][0] <= 0.05
        z = np.where(np.isnan(ratings).all(axis=0), np.nan, _mean(ratings))
        slope, error, _ = clustered.slopes(x, z, c[None], question)[:, 0]
        naive += abs(slope) > 2 * error
    assert found <= 12 and naive >= 40


def _mean(ratings):
    return np.nansum(ratings, axis=0) / np.maximum((~np.isnan(ratings)).sum(axis=0), 1)


def test_the_least_reliability_needs_a_cell_more_than_effects():
    """Two systems on two inputs have one degree of freedom beside their means; one system, or a gap, leaves none."""
    z = np.array([[1.0, 2.5], [4.0, 5.0]])
    residuals = z - z.mean(axis=1, keepdims=True) - z.mean(axis=0) + z.mean()
    noise = (residuals**2).sum() / 1 * (1 / 2) * (1 - 1 / 2)
    found = noisy_gold.least_reliability(np.zeros((2, 2)), z, np.zeros((1, 2, 2)))
    assert found == pytest.approx(1 - noise / np.var([1.75, 4.5]))
    assert math.isnan(noisy_gold.least_reliability(np.zeros((1, 2)), z[:1], np.zeros((1, 1, 2))))
    z[1, 1] = np.nan
    assert math.isnan(noisy_gold.least_reliability(np.zeros((2, 2)), z, np.zeros((1, 2, 2))))


def test_without_each_system_a_slope_needs_more_systems_than_variables():
    """Metric, human scores and covariate are three: four systems remain of five, and three of four."""
    x, ratings, c = scores(3, systems=5, gaps=0.0)
    x = np.where(np.isnan(x), 50.0, x)
    question = Question("system", "regression", (False,), ("system",))
    five = told(x, ratings, c, question)
    expected = twin.slope(x, ratings, list(c), "system", False, ("system",), five["df"][0])
    assert five["standard_error"][0] == pytest.approx(expected["standard_error"], rel=1e-6)
    four = told(x[:4], ratings[:, :4], c[:, :4], question)
    assert np.isfinite(four["slope"]).all() and np.isnan(four["standard_error"]).all()


def test_what_does_not_vary_or_has_too_few_rows_has_no_slope():
    """Moments per row of gold, covariate and metric: each of them just at its limit, and beyond it."""
    kept = {"zz": 2.0, "cc": 2.0, "x": 2.0, "n": 4.0}

    def moments(zz, cc, x, n, noise=0.0):
        products = n * np.array([[zz, 0.0, 0.1], [0.0, cc, 0.5], [0.1, 0.5, x]])
        left = noisy_gold._Left(products[None], np.array([n * noise]), np.array([n]))
        with np.errstate(all="raise", invalid="ignore", divide="ignore"):
            return noisy_gold._fractions(left, 0, False)[0]

    slope = moments(**kept)
    assert slope == pytest.approx([2.0 * 0.5 / (2 * 2) * np.sqrt(2 / 2), 1.0])
    for limit in ({"zz": 0.0, "noise": 0.5}, {"cc": noisy_gold._ROUNDING}, {"x": 0.0}, {"n": 3.0}):
        assert np.isnan(moments(**{**kept, **limit})).all(), limit
