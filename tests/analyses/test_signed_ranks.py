"""Wilcoxon's signed-rank test of two metrics' correlations, input by input: a plain loop and SciPy."""

import math

import numpy as np
import pytest
import reference
import scipy.stats
import xarray as xr
from conftest import dataset
from helpers import rows

PAIR = {"metric": "m0", "other": "m1", "method": "wilcoxon"}
QUIET = pytest.mark.filterwarnings(
    "ignore:metrics compared on fewer", "ignore:constant scores", "ignore:.*undefined", "ignore:only 4 systems"
)


def drawn(seed, shape, points=None, gaps=0.0):
    """Two metrics and gold, of so many points a unit, with gaps in the metrics."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(3, *shape)) + rng.normal(size=(1, *shape)) * np.array([1.0, 0.6, 0.8])[:, None, None]
    values = values if points is None else np.round(values * points) / points
    values[:2][rng.random((2, *shape)) < gaps] = np.nan
    return values


def by_hand(values, level, coefficient, undefined="drop"):
    """Pairs of correlations of each group, in how many groups one has none, and the difference of the averages."""
    x, y, z = values
    there = ~np.isnan(x + y + z)
    x, y, z = (rows(np.where(there, each, np.nan)) for each in (x, y, z))
    found, every, lacking = [], [], 0
    for (a, c, scale), (b, _, other) in zip(reference.groups(x, z, level), reference.groups(y, z, level), strict=True):
        if not a:
            continue
        both = [reference.coefficient(coefficient, a, c, scale), reference.coefficient(coefficient, b, c, other)]
        lacking += any(map(math.isnan, both))
        if undefined == "zero":
            both = [0.0 if math.isnan(r) else r for r in both]
        every.append(both)
        if not any(map(math.isnan, both)):
            found.append(both)
    first, second = np.nanmean(every, axis=0)
    return np.array(found), lacking, float(first - second)


def scipys(found, alternative):
    """SciPy's p-value and the sum of signed ranks, of differences without the noise of rounding."""
    differences = np.round(found[:, 0] - found[:, 1], 11)
    ranks = scipy.stats.rankdata(np.abs(differences[differences != 0]))
    total = float((np.sign(differences[differences != 0]) * ranks).sum())
    return total, float(scipy.stats.wilcoxon(differences, alternative=alternative).pvalue)


@QUIET
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize(
    "shape, points, gaps, coefficient",
    [
        ((7, 30), None, 0.0, "pearson"),
        ((7, 70), None, 0.2, "spearman"),
        ((5, 12), None, 0.0, "kendall"),  # ties and zeros, few: exact
        ((5, 40), 1, 0.0, "kendall"),  # ties and zeros, many: normal
        ((4, 60), 1, 0.3, "pearson"),  # inputs without a correlation
    ],
)
def test_it_is_scipys_test_of_the_correlations_of_a_plain_loop(shape, points, gaps, coefficient, alternative):
    values = drawn(sum(shape), shape, points, gaps)
    for level, undefined in (("input", "drop"), ("input", "zero"), ("within_system", "drop")):
        settings = {"level": level, "coefficient": coefficient, "undefined": undefined}
        got = dataset(values).meta.corr_test("m2", **PAIR, **settings, alternative=alternative)
        found, lacking, difference = by_hand(values, level, coefficient, undefined)
        total, p = scipys(found, alternative)
        assert got.statistic.item() == pytest.approx(total, abs=1e-9), settings
        assert got.pvalue.item() == pytest.approx(p, rel=1e-9), settings
        assert got.n_undefined.item() == lacking, settings
        assert got.difference.item() == pytest.approx(difference, abs=1e-12), settings
    assert lacking == 0 or level == "within_system"


@QUIET
def test_some_inputs_have_no_correlation():
    """As the case above needs: with three grades on four systems."""
    values = drawn(64, (4, 60), 1, 0.3)
    assert by_hand(values, "input", "pearson")[1] > 5


def test_turned_round_the_sign_turns_and_the_tails_change_places():
    values = drawn(1, (6, 25))
    tests = dataset(values).meta.corr_test("m2", method="wilcoxon", level="input", alternative="greater")
    one, two = (tests.sel(metric=a, other_metric=b) for a, b in (("m0", "m1"), ("m1", "m0")))
    assert one.statistic.item() == -two.statistic.item() != 0 and one.difference.item() == -two.difference.item()
    less = dataset(values).meta.corr_test("m2", **PAIR, level="input", alternative="less")
    assert less.pvalue.item() == two.pvalue.item()
    assert np.isnan(tests.pvalue.sel(metric="m0", other_metric="m0"))


def test_two_metrics_that_never_differ():
    """p is 1, not NaN; a metric without any correlation has none, which is said."""
    values = drawn(2, (6, 9))
    values[1] = 3 * values[0] + 1
    got = dataset(values).meta.corr_test("m2", **PAIR, level="input")
    assert (got.statistic.item(), got.pvalue.item(), got.n_undefined.item()) == (0.0, 1.0, 0)
    values[1] = 4.0
    with pytest.warns(UserWarning, match="constant"):
        got = dataset(values).meta.corr_test("m2", **PAIR, level="input")
    assert np.isnan(got.pvalue.item()) and got.n_undefined.item() == 9


def test_a_metric_that_is_better_when_lower_and_lazy_scores():
    values = drawn(3, (6, 20))
    ds = dataset(values)
    turned = dataset(values * np.array([-1.0, 1, 1])[:, None, None])
    turned = turned.assign_coords(higher_is_better=("metric", [False, True, True]))
    got, want = (each.meta.corr_test("m2", **PAIR, level="input") for each in (turned, ds))
    xr.testing.assert_allclose(
        got[["pvalue", "statistic"]].drop_vars("higher_is_better"), want[["pvalue", "statistic"]]
    )
    lazily = ds.chunk({"metric": 1}).meta.corr_test("m2", **PAIR, level="input").compute()
    xr.testing.assert_identical(lazily, want)


@pytest.mark.parametrize(
    "level, whom",
    [("input", "these 6 systems on inputs like these"), ("within_system", "systems like these on these 20")],
)
def test_what_it_says(level, whom):
    got = dataset(drawn(3, (6, 20))).meta.corr_test("m2", **PAIR, level=level)
    assert whom in got.meta.conclusion() and "Wilcoxon's signed-rank test" in got.meta.conclusion()
    assert "(Wilcoxon, 1945)" in got.meta.methods() and whom in got.meta.methods()


@pytest.mark.slow
@pytest.mark.parametrize("systems, inputs", [(8, 12), (10, 100)])
def test_its_level_where_two_metrics_differ_by_noise_alone(systems, inputs):
    """Of 1,000 sets of scores one in twenty, within four standard errors."""
    rng, trials = np.random.default_rng(5), 1000
    z = rng.normal(size=(1, systems, 1, trials)) + rng.normal(size=(1, systems, inputs, trials))
    score = np.concatenate([z + rng.normal(size=(2, *z.shape[1:])), z])
    ds = xr.Dataset({"score": (("metric", "system", "input", "set"), score)}, {"metric": ["m0", "m1", "m2"]})
    share = float((ds.meta.corr_test("m2", **PAIR, level="input").pvalue <= 0.05).mean())
    assert 0.022 <= share <= 0.078
