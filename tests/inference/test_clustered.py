"""Slopes of errors on covariates: a twin, Welch's test, ordinary regression, and their coverage by simulation."""

import math

import bias_twin
import numpy as np
import pytest
from helpers import pairwise
from scipy import stats

from xsumstat.inference import clustered
from xsumstat.inference.clustered import Question, slopes

LEVELS = ("system", "input", "global", "within_system")
BOTH = ("system", "input")


def scores(seed=0, systems=7, inputs=5, gaps=0.05, covariates=1):
    rng = np.random.default_rng(seed)
    c = rng.normal(size=(covariates, systems, inputs)) + rng.normal(size=(covariates, systems, 1))
    z = rng.normal(size=(systems, 1)) + rng.normal(size=(systems, inputs)) + 0.5 * c[0] + rng.normal(size=inputs)
    x = 3 * z + c.sum(axis=0) + rng.normal(size=(systems, 1)) + rng.normal(size=(systems, inputs))
    whole = np.array([x, z, *c])
    whole[rng.random(whole.shape) < gaps] = np.nan
    return whole[0], whole[1], whole[2:]


@pairwise(
    {
        "covariates": [1, 2],
        "dims": [BOTH, ("system",), ("input",)],
        "method": ["regression", "difference"],
        "level": LEVELS,
    }
)
def test_numbers_are_those_of_the_twin(level, method, dims, covariates):
    x, z, c = scores(1, systems=8 if covariates == 2 else 7, covariates=covariates)
    groups = (False,) * covariates
    found = slopes(x, z, c, Question(level, method, groups, dims))
    np.testing.assert_allclose(found, bias_twin.slopes(x, z, c, level, method, groups, dims), rtol=1e-6, atol=1e-9)


@pairwise(
    {
        "covariates": [1, 2],
        "dims": [BOTH, ("system",), ("input",)],
        "method": ["regression", "difference"],
        "level": LEVELS,
    }
)
def test_clusters_are_left_out_whole_as_the_twin_has_it(level, method, dims, covariates):
    x, z, c = scores(9, systems=10, inputs=6, covariates=covariates)
    clusters = np.array([3, 3, 0, 7, 7, 7, 1, 0, 4, 1]), np.array([1, 0, 1, 2, 0, 5])
    groups = (False,) * covariates
    found = slopes(x, z, c, Question(level, method, groups, dims, clusters))
    expected = bias_twin.slopes(x, z, c, level, method, groups, dims, clusters)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_clusters_of_one_label_each_change_nothing():
    x, z, c = scores(10)
    for level in LEVELS:
        question = Question(level, "regression", (False,), BOTH)
        alone = Question(level, "regression", (False,), BOTH, (np.arange(7)[::-1], np.arange(5) + 3))
        np.testing.assert_array_equal(slopes(x, z, c, question), slopes(x, z, c, alone))


@pytest.mark.parametrize("level", ["system", "input", "global"])
@pytest.mark.parametrize("method", ["regression", "difference"])
def test_groups_are_those_of_the_twin(level, method):
    x, z, _ = scores(2, systems=9, inputs=5)
    c = np.repeat(np.array([1.0, 1, 1, 0, 0, 0, 0, 1, 0])[:, None], 5, axis=1)[None]
    found = slopes(x, z, c, Question(level, method, (True,), BOTH))
    np.testing.assert_allclose(found, bias_twin.slopes(x, z, c, level, method, (True,)), rtol=1e-6, atol=1e-9)


@pairwise(
    {
        "covariates": [1, 2],
        "method": ["regression", "difference"],
        "level": LEVELS,
    }
)
def test_sums_tell_what_regressions_without_each_system_do(level, method, covariates):
    x, z, c = scores(3, systems=12, inputs=30, gaps=0.2, covariates=covariates)
    cells = np.array([x, z, *c])
    there = ~np.isnan(cells).any(axis=0)
    rows, present = clustered.rows_of(cells, there, level)
    question = Question(level, method, (False,) * covariates, BOTH)
    by_sums = clustered._by_sums(rows, present, question)
    by_refits = clustered._by_refits(rows, present, question, np.arange(len(present)))
    moved = by_refits.cells.max()  # within systems no more than rounding is left of sums over them
    for name, size in (("slopes", abs(by_refits.slopes).max()), ("own", math.sqrt(moved)), ("cells", moved)):
        np.testing.assert_allclose(getattr(by_sums, name), getattr(by_refits, name), rtol=1e-11, atol=1e-12 * size)


@pytest.mark.parametrize("level", ["input", "global"])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_one_system_that_all_but_makes_up_a_variance_costs_no_digits(level, at):
    """Sums less its share of them would be of rounding alone."""
    x, z, c = scores(8)
    (x, z, c[0])[at][2] *= 1e7
    question = Question(level, "regression", (False,), BOTH)
    cells = np.array([x, z, *c])
    assert clustered._by_sums(*clustered.rows_of(cells, ~np.isnan(cells).any(axis=0), level), question) is None
    expected = bias_twin.slopes(x, z, c, level, "regression", (False,))
    np.testing.assert_allclose(slopes(x, z, c, question)[0], expected[0], rtol=1e-6)
    np.testing.assert_allclose(slopes(x, z, c, question), expected, rtol=1e-3)


def test_a_group_of_systems_is_compared_as_welch_has_it():
    rng = np.random.default_rng(3)
    x, z = rng.normal(size=(2, 12, 1))
    c = np.zeros((1, 12, 1))
    c[0, :4] = 1
    slope, error, df = slopes(x, z, c, Question("system", "difference", (True,), ("system",)))[:, 0]
    errors = ((x - x.mean()) / x.std() - (z - z.mean()) / z.std())[:, 0]
    one, rest = errors[:4], errors[4:]
    assert slope == pytest.approx(one.mean() - rest.mean(), abs=1e-12)
    # Without the standardisation, which varies a little, the variance is Welch's but for what makes it unbiased.
    assert error == pytest.approx(math.sqrt(one.var(ddof=1) / 4 + rest.var(ddof=1) / 8), rel=0.25)
    by_n = (1 / 4 + 1 / 8) ** 2 / ((1 / 4) ** 2 / 3 + (1 / 8) ** 2 / 7)
    assert df == pytest.approx(by_n, rel=0.15)


def test_a_slope_is_that_of_ordinary_regression():
    x, z, c = scores(4, gaps=0.0)
    means = [each.mean(axis=1) for each in (x, z, c[0])]
    standard = [(each - each.mean()) / each.std() for each in means]
    expected = np.linalg.lstsq(np.column_stack(standard[1:]), standard[0], rcond=None)[0][1]
    found = slopes(x, z, c, Question("system", "regression", (False,), BOTH))
    assert found[0, 0] == pytest.approx(expected, abs=1e-12)


def test_units_of_scores_do_not_matter():
    x, z, c = scores(5)
    question = Question("input", "regression", (False,), BOTH)
    one, other = slopes(x, z, c, question), slopes(1e-60 * x + 1e-59, 5 * z - 2, 1e80 * c, question)
    np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_nothing_is_told_where_nothing_varies(level):
    x, z, c = scores(6)
    question = Question(level, "regression", (False,), BOTH)
    assert np.isnan(slopes(np.ones_like(x), z, c, question)).all()
    assert np.isnan(slopes(x, z, np.ones_like(c), question)).all()
    assert np.isnan(slopes(x, z, z[None], question)).all()
    assert np.isnan(slopes(x * np.nan, z, c, question)).all()


def test_a_group_of_one_system_has_no_interval_over_systems():
    x, z, _ = scores(7, gaps=0.0)
    c = np.zeros((1, *x.shape))
    c[0, 0] = 1
    slope, error, df = slopes(x, z, c, Question("input", "regression", (True,), BOTH))[:, 0]
    assert np.isfinite(slope) and np.isnan(error) and np.isnan(df)
    assert np.isfinite(slopes(x, z, c, Question("input", "regression", (True,), ("input",)))).all()


def _coverage(n, inputs, group, effect, level, method, trials, seed):
    """Share of 95 % intervals that hold the truth, of scores with effects of systems, inputs and cells.

    People's scores have no relation with the covariate and the metric's is linear, so that the truth is the effect over
    the metric's standard deviation in the population.
    """
    rng = np.random.default_rng(seed)
    held = 0
    for _ in range(trials):
        c = np.zeros((n, 1))
        c[:group] = 1
        c = c if group else rng.normal(size=(n, 1))
        cells = np.broadcast_to(c, (n, inputs)) if group else c + rng.normal(size=(n, inputs))
        quality = rng.normal(size=(n, 1)) + 0.7 * rng.normal(size=(n, inputs)) + rng.normal(size=(1, inputs))
        z = quality + rng.normal(size=(n, inputs))
        x = quality + effect * cells + 0.7 * rng.normal(size=(n, 1)) + 1.5 * rng.normal(size=(n, inputs))
        share = inputs if level == "system" else 1
        of_c = group / n * (1 - group / n) if group else 1 + 1 / share
        spread = math.sqrt(1 + 0.49 + (0.49 + 2.25) / share + effect**2 * of_c)
        truth = effect * (1.0 if group else math.sqrt(of_c)) / spread
        slope, error, df = slopes(x, z, cells[None], Question(level, method, (bool(group),), BOTH))[:, 0]
        held += abs(slope - truth) <= stats.t.ppf(0.975, df) * error
    return held / trials


@pytest.mark.parametrize("method", ["regression", "difference"])
def test_intervals_hold_the_truth(method):
    assert 0.88 <= _coverage(12, 15, 4, 0.0, "input", method, 100, 1) <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("effect", [0.0, 1.0])
@pytest.mark.parametrize(("n", "group"), [(12, 3), (16, 8), (30, 6), (12, 0), (30, 0)])
@pytest.mark.parametrize("method", ["regression", "difference"])
@pytest.mark.parametrize("level", ["system", "input"])
def test_intervals_hold_the_truth_in_many_designs(level, method, n, group, effect):
    assert 0.915 <= _coverage(n, 40, group, effect, level, method, 400, n + group) <= 0.995


@pytest.mark.parametrize("level", ["global", "within_system"])
def test_a_covariate_of_few_inputs_is_found_no_more_often_than_stated(level):
    """16 systems x 15 inputs, effects of inputs in gold and metric, and a covariate of inputs that moves nothing."""
    rng, found, shape = np.random.default_rng(11), 0, (16, 15)
    for _ in range(200):
        z = rng.normal(size=(16, 1)) + 0.7 * rng.normal(size=(1, 15)) + rng.normal(size=shape)
        x = z + 0.5 * rng.normal(size=(16, 1)) + 0.7 * rng.normal(size=(1, 15)) + rng.normal(size=shape)
        c = np.broadcast_to(rng.standard_t(3, size=(1, 15)), shape)[None]
        slope, error, df = slopes(x, z, c.copy(), Question(level, "regression", (False,), BOTH))[:, 0]
        found += 2 * stats.t.sf(abs(slope) / error, df) < 0.05
    assert found <= 18  # .09 of 200; at .05 more in 1 of 100 sets of trials


@pytest.mark.parametrize("level", ["global", "within_system"])
def test_one_input_that_all_but_makes_up_a_variance_costs_no_digits(level):
    x, z, c = scores(3, systems=6, inputs=6, gaps=0.0)
    z[:, 2] += 3e3 * np.random.default_rng(1).normal(size=6) if level == "within_system" else 3e3
    question = Question(level, "regression", (False,), ("input",))
    expected = bias_twin.slopes(x, z, c, level, "regression", (False,), ("input",))
    found = slopes(x, z, c, question)
    np.testing.assert_allclose(found[:2], expected[:2], rtol=1e-6)
    np.testing.assert_allclose(found[2], expected[2], rtol=1e-3)


def test_memory_grows_with_inputs_as_scores_do():
    rng = np.random.default_rng(2)
    x, z, c = rng.normal(size=(3, 20, 20_000))
    slope, error, df = slopes(x, z, c[None], Question("global", "regression", (False,), BOTH))[:, 0]
    assert abs(slope) < 5 * error and 1 < df < 20_000


@pytest.mark.parametrize("dims", [BOTH, ("input",)])
@pytest.mark.parametrize("level", ["system", "input"])
def test_two_inputs_have_a_variance_and_one_has_none(level, dims):
    x, z, c = scores(4, inputs=2, gaps=0.0)
    question = Question(level, "regression", (False,), dims)
    expected = bias_twin.slopes(x, z, c, level, "regression", (False,), dims)
    np.testing.assert_allclose(slopes(x, z, c, question), expected, rtol=1e-6, atol=1e-9)
    one = slopes(x[:, :1], z[:, :1], c[:, :, :1], Question(level, "regression", (False,), ("input",)))
    assert np.isfinite(one[0]).all() and np.isnan(one[1:]).all()


@pytest.mark.parametrize("level", ["global", "within_system"])
def test_what_leaves_inputs_out_needs_three(level):
    question = Question(level, "regression", (False,), ("input",))
    x, z, c = scores(5, inputs=3, gaps=0.0)
    expected = bias_twin.slopes(x, z, c, level, "regression", (False,), ("input",))
    np.testing.assert_allclose(slopes(x, z, c, question), expected, rtol=1e-6, atol=1e-9)
    two = slopes(x[:, :2], z[:, :2], c[:, :, :2], question)
    assert np.isfinite(two[0]).all() and np.isnan(two[1:]).all()


@pytest.mark.parametrize("level", ["global", "within_system"])
def test_what_leaves_systems_out_needs_three(level):
    question = Question(level, "regression", (False,), ("system",))
    x, z, c = scores(6, systems=3, inputs=9, gaps=0.0)
    expected = bias_twin.slopes(x, z, c, level, "regression", (False,), ("system",))
    np.testing.assert_allclose(slopes(x, z, c, question), expected, rtol=1e-6, atol=1e-9)
    two = slopes(x[:2], z[:2], c[:, :2], question)
    assert np.isfinite(two[0]).all() and np.isnan(two[1:]).all()


@pytest.mark.parametrize(("method", "regressors"), [("regression", 2), ("difference", 1)])
def test_a_slope_needs_two_rows_more_than_regressors(method, regressors):
    """So that one degree of freedom is left beside the mean."""
    x, z, c = scores(7, systems=regressors + 2, gaps=0.0)
    question = Question("system", method, (False,), ("input",))
    rows, dummies, *_ = bias_twin.table(x, z, c, "system")
    expected, _ = bias_twin.regress(rows, dummies, bias_twin.spreads(rows, dummies), (False,), method)
    np.testing.assert_allclose(slopes(x, z, c, question)[0], expected, atol=1e-9)
    assert np.isnan(slopes(x[1:], z[1:], c[:, 1:], question)).all()
