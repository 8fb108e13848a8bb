"""Wilcoxon's signed-rank test of two metrics' correlations, input by input: a plain loop and SciPy."""

import math

import numpy as np
import pytest
import reference
import scipy.stats
import xarray as xr
from conftest import dataset, warns
from helpers import rows

PAIR = {"metric": "m0", "other": "m1", "method": "wilcoxon"}
QUIET = pytest.mark.ignore_codes("fewer_labels", "few_systems")


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
@pytest.mark.slow
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
    with warns("constant"):
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


# --- One metric against a value ---


ONE = {"method": "wilcoxon", "against": 0.0}


def of_scipy(found, value, alternative):
    """SciPy's test of correlations against a value, without the noise of rounding; and the sum of signed ranks."""
    return scipys(np.column_stack([found, np.full(len(found), value)]), alternative)


@QUIET
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize(
    "shape, points, gaps, name, value",
    [
        ((7, 30), None, 0.0, "pearsonr", 0.0),
        ((7, 60), None, 0.2, "spearmanr", 0.3),
        ((5, 12), None, 0.0, "kendalltau", 0.2),  # differences of 0 and ties, few: exact
        ((5, 40), 1, 0.0, "kendalltau", 0.0),  # differences of 0 and ties, many: normal
        ((4, 60), 1, 0.3, "pearsonr", 0.0),  # inputs without a correlation
    ],
)
def test_one_metric_is_scipys_test_of_scipys_correlations(shape, points, gaps, name, value, alternative):
    values = drawn(sum(shape) + 1, shape, points, gaps)
    x, z = values[0], values[2]
    asked = {"coefficient": name.removesuffix("r").removesuffix("tau"), "alternative": alternative, "against": value}
    for level, pairs in (("input", zip(x.T, z.T, strict=True)), ("within_system", zip(x, z, strict=True))):
        r = np.array(
            [
                getattr(scipy.stats, name)(a[~np.isnan(a)], b[~np.isnan(a)]).statistic
                for a, b in pairs
                if np.isfinite(a).sum() > 1 and np.ptp(a[~np.isnan(a)]) and np.ptp(b[~np.isnan(a)])
            ]
        )
        got = dataset(values).meta.corr_test("m2", metric="m0", method="wilcoxon", level=level, **asked)
        total, p = of_scipy(r, value, alternative)
        assert got.correlation.dims == ("metric",) and "other_metric" not in got.dims
        assert got.correlation.item() == pytest.approx(r.mean(), abs=1e-12), level
        assert got.statistic.item() == pytest.approx(total, abs=1e-9), level
        assert got.pvalue.item() == pytest.approx(p, rel=1e-9), level


@QUIET
def test_undefined_inputs_of_one_metric_are_counted_and_told():
    values = drawn(64, (4, 60), 1, 0.3)
    for undefined, words in (("drop", "the test leaves these inputs out"), ("zero", "correlations count as 0")):
        got = dataset(values).meta.corr_test("m2", metric="m0", level="input", undefined=undefined, **ONE)
        alone = dataset(values).meta.corr("m2", metric="m0", level="input", undefined=undefined)
        assert got.n_undefined.item() == alone.n_undefined.item() > 5
        assert got.correlation.item() == alone.correlation.item()
        assert f"{got.n_undefined.item()} of 60 inputs have an undefined correlation; " in got.meta.conclusion()
        assert words in got.meta.conclusion()
        both = dataset(values).meta.corr_test("m2", **PAIR, level="input", undefined=undefined)
        assert f"{both.n_undefined.item()} of 60 inputs have an undefined correlation; " in both.meta.conclusion()


def test_one_metric_at_the_value_itself_and_without_any_correlation():
    values = drawn(2, (6, 9))
    values[0] = 2 * values[2] - 1
    values[1] = 4.0
    with warns("constant"):
        got = dataset(values).meta.corr_test("m2", level="input", method="wilcoxon", against=1)
    assert got.pvalue.values.tolist()[0] == 1.0 and np.isnan(got.pvalue.values[1])
    assert got.n_undefined.values.tolist() == [0, 9] and "Undefined: m1." in got.meta.conclusion()
    nothing = got.sel(metric=["m1"]).meta.conclusion()
    assert nothing.startswith("No test could be made.")


def test_what_the_test_of_single_metrics_says(demo):
    got = demo.meta.corr_test("human", level="input", **ONE)
    assert got.meta.conclusion().startswith(
        "For these 12 systems on inputs like these, the correlations of judge (.78), bertscore (.55), rouge (.50), "
        "bleu (.25) and perplexity (.49) are significantly above 0; that of length (.07) is not significantly "
        "different from 0 (Wilcoxon's signed-rank tests; p-values not corrected; alpha .05; Pearson's r, input level)."
    )
    said = got.meta.methods()
    assert "differs from 0, by Pearson's r" in said and "P-values come from Wil" in said
    assert "; they apply to these 12 systems on inputs like these." in said
    less = demo.meta.corr_test(
        "human", metric="length", level="input", method="wilcoxon", against=0.5, alternative="less"
    )
    assert "the correlation of length (.07) is significantly below 0.5" in less.meta.conclusion()
    corrected = got.meta.adjust("holm")
    want = np.minimum(1, np.maximum.accumulate(np.sort(got.pvalue) * np.arange(6, 0, -1)))
    np.testing.assert_allclose(np.sort(corrected.pvalue_adjusted), want)
    assert "| length | .213 | .07 |" in got.meta.to_markdown()
    assert "pvalues" not in dir(got.meta.plot) and "bars" in dir(got.meta.plot)
    with pytest.raises(ValueError, match="no p-values of metric pairs"):
        got.meta.plot.pvalues()


def test_one_metric_of_lazy_scores_and_further_labels():
    values = drawn(3, (6, 20))
    ds = xr.concat([dataset(values), dataset(values[:, :, ::-1] ** 3)], xr.DataArray(["a", "b"], dims="domain"))
    got = ds.meta.corr_test("m2", level="input", **ONE)
    assert got.pvalue.dims == ("domain", "metric")
    for label in "ab":
        alone = ds.sel(domain=label).meta.corr_test("m2", level="input", **ONE)
        np.testing.assert_array_equal(got.pvalue.sel(domain=label), alone.pvalue)
    xr.testing.assert_identical(ds.chunk({"metric": 1}).meta.corr_test("m2", level="input", **ONE).compute(), got)
    assert got.meta.conclusion().count("For these 6 systems") == 2


@pytest.mark.parametrize(
    "asked, error, message",
    [
        ({"against": "m1"}, TypeError, "against must be a number, got 'm1'; other= names metrics to compare with"),
        ({"against": ["m1"]}, TypeError, "against must be a number"),
        ({"against": True}, TypeError, "against must be a number, got True"),
        ({"against": 1.5}, ValueError, "against must be at least -1 and at most 1, got 1.5"),
        ({"against": float("nan")}, ValueError, "against must be a number, got nan"),
        ({"against": 0, "other": "m1"}, ValueError, "against tests each metric alone, and other names metrics"),
        ({"against": 0, "method": "williams"}, ValueError, "against=0 needs method='wilcoxon', got method='williams'"),
        ({"against": 0, "level": "system"}, ValueError, "needs level='input' or 'within_system', got level='system'"),
        ({"against": 0, "level": "global"}, ValueError, "needs level='input' or 'within_system', got level='global'"),
    ],
)
def test_values_that_are_refused(asked, error, message):
    with pytest.raises(error, match=message):
        dataset(drawn(3, (6, 20))).meta.corr_test("m2", **({"method": "wilcoxon", "level": "input"} | asked))


# --- Through compare_metrics ---


def test_all_pairs_through_compare_metrics(demo):
    for level, whom in (("input", "these 12 systems on inputs like these"), ("within_system", "systems like these")):
        got = demo.meta.compare_metrics("human", level=level, method="wilcoxon")
        want = demo.meta.corr_test("human", level=level, method="wilcoxon").meta.adjust("holm")
        for name in want.data_vars:
            np.testing.assert_array_equal(got[name], want[name])
        np.testing.assert_array_equal(got.statistic, -got.statistic.values.T)
        np.testing.assert_array_equal(got.significant, (want.pvalue_adjusted <= 0.05).values)
        assert f"For {whom}" in got.meta.conclusion() and "Wilcoxon's signed-rank tests" in repr(got.meta)
        said = got.meta.methods()
        assert "(Graham & Baldwin, 2014)" in said and "(Wilcoxon, 1945)" in said and "Zou" not in said
    lazily = demo.chunk({"metric": 1}).meta.compare_metrics("human", level="within_system", method="wilcoxon")
    xr.testing.assert_identical(lazily.compute(), got)
    with pytest.raises(ValueError, match="needs level='input' or 'within_system', got level='system'"):
        demo.meta.compare_metrics("human", method="wilcoxon")
    for asked in ({"resample": "input"}, {"adjust": "maxt"}, {"cluster": "system_type"}, {"given": "length"}):
        with pytest.raises(ValueError, match="wilcoxon"):
            demo.meta.compare_metrics("human", method="wilcoxon", level="input", **asked)


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


@pytest.mark.slow
@pytest.mark.parametrize("systems, inputs", [(8, 12), (10, 100)])
def test_its_level_for_a_metric_that_tells_nothing(systems, inputs):
    """Of 1,000 sets one in twenty, within four standard errors; of other systems far more, as the metric's own stay."""
    rng, trials = np.random.default_rng(6), 1000
    gold = rng.normal(size=(1, systems, 1, trials)) + rng.normal(size=(1, systems, inputs, trials))
    noise = rng.normal(size=(2, systems, inputs, trials))
    noise[1] += rng.normal(size=(systems, 1, trials))
    labels = {"metric": ["m0", "m1", "m2"]}
    ds = xr.Dataset({"score": (("metric", "system", "input", "set"), np.concatenate([noise, gold]))}, labels)
    shares = (ds.meta.corr_test("m2", level="input", **ONE).pvalue <= 0.05).mean("set").values
    assert 0.022 <= shares[0] <= 0.078 and shares[1] > 0.15
