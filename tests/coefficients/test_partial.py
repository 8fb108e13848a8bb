"""Partial correlations: against a twin, residuals of regressions, published formulas, and brute force."""

import itertools
import math

import numpy as np
import partial_twin
import pytest
import reference
import scipy.stats
from helpers import pairwise

from xsumstat.coefficients import leave_one_out, partial, table
from xsumstat.coefficients.record import LEVELS, Measure
from xsumstat.kernels import correlation as kernels
from xsumstat.resampling.plans import SwapPlan

NAMES = ("pearson", "spearman", "kendall")


def scores(seed=0, systems=7, inputs=6, covariates=1, gaps=0.1, grades=False):
    """A metric's scores, and those of gold and covariates, some of them missing."""
    rng = np.random.default_rng(seed)
    c = rng.normal(size=(covariates, systems, inputs)) + rng.normal(size=(covariates, systems, 1))
    z = rng.normal(size=(systems, inputs)) + c.sum(axis=0)
    x = 0.6 * z + 0.8 * c[0] + rng.normal(size=(systems, inputs))
    whole = np.array([x, z, *c])
    if grades:
        whole = np.round(whole)
    whole[rng.random(whole.shape) < gaps] = np.nan
    return whole[0], whole[1:]


def measured(name, level="system", covariates=1, **keywords):
    return Measure(table.get(name), level, given=tuple("abcde"[:covariates]), **keywords)


@pairwise(
    {
        "grades": [False, True],
        "covariates": [1, 2],
        "level": LEVELS,
        "name": NAMES,
    }
)
def test_values_are_those_of_the_twin(name, level, covariates, grades):
    for seed, missing, undefined in itertools.product(range(3), ("pairwise", "available"), ("drop", "zero")):
        x, z = scores(seed, covariates=covariates, grades=grades)
        measure = measured(name, level, covariates, missing=missing, undefined=undefined)
        expected = partial_twin.correlation(name, x, z[0], z[1:], level, undefined, missing)
        assert measure.estimator(x, z).value() == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", NAMES)
def test_draws_are_scores_that_are_repeated(name, level):
    x, z = scores(3, systems=12, inputs=12, gaps=0.03)
    estimator, rng = measured(name, level).estimator(x, z), np.random.default_rng(4)
    systems, inputs = (rng.multinomial(12, np.full(12, 1 / 12), size=6) for _ in range(2))
    systems[:, :7], inputs[:, :7] = np.maximum(systems[:, :7], 1), np.maximum(inputs[:, :7], 1)
    both = estimator.bootstrap(systems, inputs)
    for s in range(6):
        drawn = [partial_twin.drawn(each, systems[s], inputs[s]) for each in (x, *z)]
        expected = partial_twin.correlation(name, drawn[0], drawn[1], drawn[2:], level)
        assert both[s] == pytest.approx(expected, abs=1e-12)
    assert np.isfinite(both).all()


@pytest.mark.parametrize("level", LEVELS)
def test_fewer_members_than_covariates_and_three_have_none(level):
    x, z = scores(5, systems=5, inputs=5, covariates=2, gaps=0.0)
    estimator = measured("pearson", level, 2).estimator(x, z)
    four = np.array([[1, 1, 1, 2, 0]])
    assert np.isfinite(estimator.value())
    found = estimator.bootstrap(four, four)
    assert np.isnan(found[0]) == (level != "global")  # of 25 cells 16 are left


def test_pearson_is_the_correlation_of_residuals():
    rng = np.random.default_rng(6)
    c = rng.normal(size=(3, 40))
    z = c.sum(axis=0) + rng.normal(size=40)
    x = z - c[1] + rng.normal(size=40)
    design = np.column_stack([np.ones(40), *c])
    residuals = [each - design @ np.linalg.lstsq(design, each, rcond=None)[0] for each in (x, z)]
    expected = np.corrcoef(*residuals)[0, 1]
    found = measured("pearson", "global", 3).estimator(x[:, None], np.array([z, *c])[..., None]).value()
    assert found == pytest.approx(expected, abs=1e-12)
    ranks = [scipy.stats.rankdata(each) for each in (x, z, *c)]
    design = np.column_stack([np.ones(40), *ranks[2:]])
    residuals = [each - design @ np.linalg.lstsq(design, each, rcond=None)[0] for each in ranks[:2]]
    found = measured("spearman", "global", 3).estimator(x[:, None], np.array([z, *c])[..., None]).value()
    assert found == pytest.approx(np.corrcoef(*residuals)[0, 1], abs=1e-12)


def test_kendall_is_that_of_1942():
    rng = np.random.default_rng(7)
    x, z, c = np.round(rng.normal(size=(3, 25)), 1) + np.round(rng.normal(size=25))
    xz, xc, zc = (scipy.stats.kendalltau(*pair).statistic for pair in ((x, z), (x, c), (z, c)))
    expected = (xz - xc * zc) / math.sqrt((1 - xc**2) * (1 - zc**2))
    found = measured("kendall", "global").estimator(x[:, None], np.array([z, c])[..., None]).value()
    assert found == pytest.approx(expected, abs=1e-12)


def test_pvalues_are_those_of_regression_and_of_kendalls_formula():
    rng = np.random.default_rng(8)
    c, e, f = rng.normal(size=(3, 30))
    x, z = c + e, 0.5 * c + 0.4 * e + f
    design = np.column_stack([np.ones(30), z, c])
    b, rest, *_ = np.linalg.lstsq(design, x, rcond=None)
    error = math.sqrt(rest[0] / 27 * np.linalg.inv(design.T @ design)[1, 1])
    r = partial_twin.partial("pearson", [x, z, c])
    expected = 2 * scipy.stats.t.sf(abs(b[1] / error), 27)
    assert partial.pvalue(r, 30, 1, kernels.PEARSON) == pytest.approx(expected, rel=1e-9)
    expected = 2 * scipy.stats.norm.sf(0.3 / math.sqrt(2 * (2 * 29 + 5) / (9 * 29 * 28)))
    assert partial.pvalue(-0.3, 30, 1, kernels.KENDALL) == pytest.approx(expected, rel=1e-12)
    assert partial.pvalue(1.0, 30, 1, kernels.SPEARMAN) == 0.0
    assert math.isnan(partial.pvalue(math.nan, 30, 1, kernels.PEARSON))


@pytest.mark.parametrize("name", NAMES)
def test_what_the_covariates_tell_has_none(name):
    x, z = scores(9, gaps=0.0)
    assert math.isnan(measured(name, "input").estimator(z[1], z).value())
    assert math.isnan(measured(name, "system").estimator(2 * z[1] + 1, z).value())
    constant = np.array([z[0], np.ones_like(x)])
    assert math.isnan(measured(name, "global").estimator(x, constant).value())
    twice = np.array([z[0], z[1], 3 * z[1] + 0.1])
    for level in LEVELS:
        assert math.isnan(measured(name, level, 2).estimator(x, twice).value())
        assert math.isnan(leave_one_out.of(x, twice, measured(name, level, 2)).value)
    nearly = np.array([0.5, 0.3, 0.3, 0.2, 0.2, 1 - 1e-12])  # pairs 01, 02, 03, 12, 13, 23
    assert np.isnan(partial.combined(nearly, 4))


@pairwise(
    {
        "covariates": [1, 2],
        "level": LEVELS,
        "name": NAMES,
    }
)
def test_parts_are_those_of_leaving_out(name, level, covariates):
    x, z = scores(10, systems=9, inputs=8, covariates=covariates, gaps=0.04)
    measure = measured(name, level, covariates)
    parts, estimator = leave_one_out.of(x, z, measure), measure.estimator(x, z)
    systems, inputs = leave_one_out.each_left_out(estimator, x.shape, ("system", "input"))
    assert parts.value == pytest.approx(estimator.value(), abs=1e-12)
    if level == "system":
        np.testing.assert_allclose(parts.without, systems, atol=1e-12)
    elif level == "global":
        np.testing.assert_allclose(parts.systems, systems, atol=1e-12)
        np.testing.assert_allclose(parts.inputs, inputs, atol=1e-12)
    else:
        np.testing.assert_allclose(parts.averages, systems if level == "input" else inputs, atol=1e-12)


def test_influence_of_cells_on_means_is_that_of_residuals():
    x, z = scores(11, systems=10, inputs=6, covariates=2, gaps=0.1)
    parts = leave_one_out.of(x, z, measured("pearson", "system", 2))
    whole = np.array([x, *z])
    whole[:, np.isnan(whole).any(axis=0)] = np.nan
    count = (~np.isnan(x) & ~np.isnan(z).any(axis=0)).sum(axis=1)
    means = np.nanmean(whole, axis=2)
    design = np.column_stack([np.ones(10), *means[2:]])
    slopes = np.linalg.lstsq(design, means[:2].T, rcond=None)[0]
    e_x, e_z = means[:2] - (design @ slopes).T
    size_x, size_z = np.linalg.norm(e_x), np.linalg.norm(e_z)
    r = e_x @ e_z / (size_x * size_z)
    moved = [(e_z / size_z - r * e_x / size_x) / size_x, (e_x / size_x - r * e_z / size_z) / size_z]
    moved += [-(slopes[k, 0] * moved[0] + slopes[k, 1] * moved[1]) for k in (1, 2)]
    expected = np.zeros_like(x)
    for by, mean, values in zip(moved, means, whole, strict=True):
        rest = values - mean[:, None]
        rest = rest - np.nanmean(rest, axis=0)
        expected += np.nan_to_num(rest * by[:, None] / count[:, None])
    np.testing.assert_allclose(parts.influence, expected, atol=1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_influence_of_all_cells_is_the_slope_of_the_statistic(name):
    x, z = scores(12, systems=20, inputs=20, gaps=0.0)
    parts = leave_one_out.of(x, z, measured(name, "global"))
    rng = np.random.default_rng(13)
    for cell in rng.choice(400, 12, replace=False):
        kept = np.delete(np.arange(400), cell)
        without = partial.combined(
            np.array([table.get(name).estimator(a[:, None], b[:, None], Measure(table.get(name), "global")).value()
                      for a, b in itertools.combinations([each.ravel()[kept] for each in (x, *z)], 2)]), 3
        )  # fmt: skip
        assert parts.value - without == pytest.approx(parts.influence.ravel()[cell] / 399, rel=0.03, abs=1e-4)


@pairwise(
    {
        "missing": ["pairwise", "available"],
        "level": LEVELS,
        "name": NAMES,
    }
)
def test_swaps_leave_the_covariates(name, level, missing):
    x, z = scores(14, systems=10, inputs=10, covariates=2, gaps=0.01)
    y = scores(15, systems=10, inputs=10, gaps=0.01)[0]
    measure = measured(name, level, 2, missing=missing)
    plan = SwapPlan.of(x.shape, ("system", "input"), False, 8, 1)
    bits = plan.block(0)
    (test,) = measure.swapped(np.array([x, y]), z, ((0, 1),))
    found = test.differences(bits)[0]
    swaps = np.unpackbits(bits, axis=-1, count=10, bitorder="little").astype(bool)
    own = measure.own_cells
    cells = ~np.isnan(x) & ~np.isnan(y)
    cells = cells if own else cells & ~np.isnan(z).any(axis=0)
    one, two = (reference.standardised(np.where(cells, each, np.nan).tolist(), cells.tolist()) for each in (x, y))
    one, two = np.array(one, dtype=float), np.array(two, dtype=float)
    for s, swap in enumerate(swaps):
        first, second = np.where(swap, two, one), np.where(swap, one, two)
        a, b = (partial_twin.correlation(name, each, z[0], z[1:], level, missing=missing) for each in (first, second))
        assert found[s] == pytest.approx(a - b, abs=1e-10)
