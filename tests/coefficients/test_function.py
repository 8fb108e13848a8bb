"""A function of users as a coefficient: its values, drawn anew and swapped, against plain loops."""

import math

import numpy as np
import pytest
import reference
import scipy.stats
import xarray as xr
from conftest import warns
from helpers import LEVELS, pairwise, rows, same

from xsumstat.coefficients import function, table
from xsumstat.coefficients.arrays import packed
from xsumstat.coefficients.record import Measure

RNG = np.random.default_rng(6)
X, Z = RNG.integers(0, 4, (5, 4)).astype(float), RNG.integers(0, 3, (5, 4)).astype(float)
GAPS = X.copy()
GAPS[0, 1] = GAPS[3, 2:] = GAPS[1:, 0] = np.nan
W, V = (
    np.array([[1, 1, 1, 1, 1], [0, 2, 1, 1, 1], [3, 0, 2, 0, 0]]),
    np.array([[1, 1, 1, 1], [0, 1, 2, 1], [2, 2, 0, 0]]),
)
ONES = np.ones((1, 5), int), np.ones((1, 4), int)


def covariance(x, z):
    """A function of users that is defined for constants."""
    return float(np.mean((x - x.mean()) * (z - z.mean())))


def plainly(x, z, level, missing, undefined):
    groups = [np.array(each[:2]) for each in reference.groups(rows(x), rows(z), level, missing)]
    groups = [each for each in groups if each.shape[1] > (0 if undefined == "zero" and len(groups) > 1 else 1)]
    values = [covariance(*each) if each.shape[1] > 1 else 0.0 for each in groups]
    return np.mean(values) if values else math.nan


@pairwise(
    {
        "undefined": ["drop", "zero"],
        "missing": ["pairwise", "available"],
        "level": LEVELS,
    }
)
def test_a_function_of_users(level, missing, undefined):
    """A group of one output is undefined; each draw repeats the labels that came often."""
    made = Measure(table.get(covariance), level, missing, undefined).estimator(GAPS, Z)
    assert same(made.value(), plainly(GAPS, Z, level, missing, undefined))
    for w, v in ((W, V), (W, ONES[1]), (ONES[0], V)):
        for s, got in enumerate(made.bootstrap(w, v)):
            counts = w[min(s, len(w) - 1)], v[min(s, len(v) - 1)]
            drawn = (np.repeat(np.repeat(each, counts[0], axis=0), counts[1], axis=1) for each in (GAPS, Z))
            assert same(got, plainly(*drawn, level, missing, undefined)), (s, got)


@pytest.mark.parametrize("undefined", ["drop", "zero"])
@pytest.mark.parametrize("level", LEVELS)
def test_swaps_under_a_function_of_users(level, undefined):
    """Of standardised scores on the cells that both metrics have."""
    rng = np.random.default_rng(8)
    other = rng.normal(size=GAPS.shape)
    cells = ~np.isnan(GAPS + other + Z)
    x, y = ((each - each[cells].mean()) / each[cells].std() for each in (GAPS, other))
    swaps = rng.integers(0, 2, (4, *Z.shape))
    measure = Measure(table.get(covariance), level, undefined=undefined)
    with pytest.warns(
        UserWarning, match="'covariance' depends on the scale of scores: it is .* The test swaps standardised"
    ):
        (test,) = measure.swapped(np.array([GAPS, other]), Z, ((0, 1),))
    for got, swap in zip(test.differences(packed(swaps))[0], swaps, strict=True):
        given = [np.where(cells, np.where(swap, *each), np.nan) for each in ((y, x), (x, y))]
        first, second = (plainly(each, Z, level, "pairwise", undefined) for each in given)
        assert same(got, first - second)


def test_what_is_known_of_a_function():
    record = function.coefficient(covariance)
    assert (record.name, record.label, record.bounds) == ("covariance", "covariance", (-math.inf, math.inf))
    assert record.function is covariance and record.levels == LEVELS
    assert record.fisher is record.normal_value is record.calibrate is None and record.linear_in_swaps == "never"


def test_a_function_that_gives_no_number_is_named():
    """SciPy's own gives a result object; the name that serves is told."""
    import scipy.stats

    with pytest.raises(TypeError, match="'pearsonr' must return a number, it returned .*mean coefficient='pearson'"):
        Measure(table.get(scipy.stats.pearsonr), "system").estimator(X, Z).value()
    with pytest.raises(TypeError, match="coefficient '<lambda>' must return a number, it returned zip$"):
        Measure(table.get(lambda x, z: zip(x, z, strict=True)), "system").estimator(X, Z).value()


def spread(x, z):
    return np.nan if np.ptp(z) == 0 else float(np.corrcoef(x, z)[0, 1])


@pytest.mark.filterwarnings("ignore")
def test_undefined_groups_count_as_zero_in_swaps_of_a_function(small):
    rng = np.random.default_rng(4)
    score = small.score.values + rng.normal(size=small.score.shape)
    score[0, :, 1] = 2.0  # gold is constant on one input of five
    ds = small.copy(data={"score": score})
    r = {at: sum(np.corrcoef(score[at, :, j], score[0, :, j])[0, 1] for j in (0, 2, 3, 4)) / 5 for at in (1, 2)}
    how = {"level": "input", "coefficient": spread, "undefined": "zero"}
    test = ds.meta.perm_test("m0", metric="m1", other="m2", n_resamples=3, rng=0, **how)
    assert test.difference.item() == pytest.approx(r[1] - r[2], abs=1e-12)


def test_a_test_of_standardised_scores_says_so_where_the_scale_matters(demo):
    """The difference is then another than that of the two correlations; nothing is said of a function without scale."""

    def minus_error(x, z):
        return -float(np.sqrt(np.mean((x - z) ** 2)))

    shifted = demo.assign(score=demo.score + 30.0 * (demo.metric == "rouge"))
    how = {"metric": "judge", "other": "rouge", "level": "global", "n_resamples": 9, "rng": 0}
    with pytest.warns(UserWarning, match="'minus_error' depends on the scale"):
        shifted.meta.perm_test("human", coefficient=minus_error, **how)
    for coefficient in (spread, lambda x, z: float(scipy.stats.kendalltau(x, z).statistic)):
        shifted.meta.perm_test("human", coefficient=coefficient, **how)


@pytest.mark.parametrize("question, how", [("perm_test", {}), ("rank", {"method": "permutation", "adjust": None})])
def test_that_is_said_once_a_call(demo, question, how):
    """Of six metrics and of two languages, and again in the next call."""

    def minus_error(x, z):
        return -float(np.mean((x - z) ** 2))

    two = xr.concat([demo[["score"]], demo[["score"]]], "language").assign_attrs(demo.attrs)
    for ds in (demo, two, demo):
        with warns("depends_on_scale") as caught:
            getattr(ds.meta, question)("human", coefficient=minus_error, n_resamples=5, rng=0, **how)
        assert len(caught) == 1


@pytest.mark.parametrize("level", ["input", "global", "within_system"])
def test_a_copy_on_another_scale_is_the_same_metric_in_every_swap(level):
    """Standardised scores that rounding alone tells apart are tied."""
    rng = np.random.default_rng(2)
    x, z = rng.normal(size=(2, 5, 4))
    made = Measure(table.get(lambda a, b: float(scipy.stats.kendalltau(a, b).statistic)), level)
    (test,) = made.swapped(np.array([x, 3.7 * x + 1.3]), z, ((0, 1),))
    swaps = packed(rng.integers(0, 2, (40, 5, 4)))
    np.testing.assert_array_equal(test.differences(swaps), 0.0)
