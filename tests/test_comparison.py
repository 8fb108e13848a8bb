import itertools

import numpy as np
import pytest
import reference
import scipy.stats
import xarray as xr
from conftest import dataset
from helpers import rows, unpacked
from nlpstats.correlations import permutation_test as nlp_permutation_test
from statsmodels.stats.multitest import multipletests

from xsumstat import resampling


def cells(result, name="pvalue"):
    """Values by (metric, other_metric)."""
    return {
        (a, b): float(result[name].sel(metric=a, other_metric=b))
        for a, b in itertools.product(result.metric.values, result.other_metric.values)
        if a != b
    }


@pytest.mark.parametrize("level", ["system", "input", "global", "within_system"])
@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_p_values_of_all_ordered_pairs_follow_from_the_definition(small, level, alternative):
    got = small.meta.perm_test("m0", level=level, coefficient="kendall", alternative=alternative, n_resamples=99, rng=2)
    swaps = unpacked(resampling.SwapPlan.of((6, 5), ("system", "input"), False, 99, 2).block(0), 5).tolist()
    z = rows(small.score.sel(metric="m0").values)
    for (a, b), p in cells(got).items():
        x, y = (rows(small.score.sel(metric=m).values) for m in (a, b))
        observed = reference.difference("kendall", x, y, z, np.zeros((6, 5)).tolist(), level)
        under = [reference.difference("kendall", x, y, z, swap, level) for swap in swaps]
        count = {
            "greater": sum(d >= observed - 1e-12 for d in under),
            "less": sum(d <= observed + 1e-12 for d in under),
            "two-sided": sum(abs(d) >= abs(observed) - 1e-12 for d in under),
        }[alternative]
        assert float(got.difference.sel(metric=a, other_metric=b)) == pytest.approx(observed, abs=1e-12)
        assert p == pytest.approx((1 + count) / 100, abs=1e-12), (a, b)


def test_the_table_is_antisymmetric_and_its_diagonal_empty(small):
    got = small.meta.perm_test("m0", level="input", alternative="greater", n_resamples=200, rng=0, keep_samples=True)
    turned = got.rename(metric="other_metric", other_metric="metric").transpose(*got.sizes)
    for name in ("difference", "samples"):
        np.testing.assert_allclose(got[name], -turned[name].transpose(*got[name].dims), atol=0)
    diagonal = xr.DataArray(np.eye(3, dtype=bool), dims=("metric", "other_metric"))
    assert np.isnan(got.pvalue.where(diagonal, drop=False).values[np.eye(3, dtype=bool)]).all()
    assert (got.pvalue.values[~np.eye(3, dtype=bool)] > 0).all()
    less = small.meta.perm_test("m0", level="input", alternative="less", n_resamples=200, rng=0)
    np.testing.assert_array_equal(less.pvalue, got.pvalue.T)


def test_rows_and_columns_can_be_chosen(small):
    whole = small.meta.perm_test("m0", n_resamples=100, rng=1, alternative="greater")
    part = small.meta.perm_test(
        "m0", metric=["m3"], other=["m2", "m1", "m3"], n_resamples=100, rng=1, alternative="greater"
    )
    assert part.pvalue.dims == ("metric", "other_metric") and part.pvalue.shape == (1, 3)
    for name in ("difference", "pvalue"):
        np.testing.assert_array_equal(part[name], whole[name].sel(metric=["m3"], other_metric=["m2", "m1", "m3"]))
    with pytest.raises(ValueError, match="a test needs two metrics"):
        small.meta.perm_test("m0", metric="m1", other="m1")
    with pytest.raises(ValueError, match=r"unknown other 'm8'"):
        small.meta.perm_test("m0", metric="m1", other="m8")


def test_the_order_of_metrics_does_not_matter(small):
    forward = small.meta.perm_test(
        "m0", level="input", coefficient="spearman", n_resamples=300, rng=1, alternative="greater"
    )
    backward = small.isel(metric=[3, 1, 0, 2]).meta.perm_test(
        "m0", level="input", coefficient="spearman", n_resamples=300, rng=1, alternative="greater"
    )
    for name in ("difference", "pvalue"):
        np.testing.assert_array_equal(
            backward[name].sel(metric=forward.metric, other_metric=forward.other_metric), forward[name]
        )


def test_an_exact_test_says_so(small):
    exact = small.meta.perm_test("m0", resample="system", alternative="greater")
    assert exact.attrs["exact"] == 1 and exact.attrs["n_resamples"] == 64
    assert all(p * 64 == round(p * 64) and p > 0 for p in cells(exact).values())
    sampled = small.meta.perm_test("m0", resample="system", alternative="greater", n_resamples=63, rng=0)
    assert sampled.attrs["exact"] == 0 and sampled.attrs["n_resamples"] == 63
    both = small.meta.perm_test("m0", resample="both", n_resamples=50, rng=0)
    assert both.attrs["exact"] == 0


@pytest.mark.parametrize("crossed", [False, True])
def test_crossed_is_the_exclusive_or_of_two_coins(small, crossed):
    got = small.meta.perm_test(
        "m0", metric="m1", other="m2", level="input", n_resamples=40, rng=6, crossed=crossed, keep_samples=True
    )
    swaps = unpacked(resampling.SwapPlan.of((6, 5), ("system", "input"), crossed, 40, 6).block(0), 5)
    x, y, z = (rows(small.score.sel(metric=m).values) for m in ("m1", "m2", "m0"))
    want = [reference.difference("pearson", x, y, z, swap, "input") for swap in swaps.tolist()]
    np.testing.assert_allclose(got.samples.values[0, 0], want, atol=1e-12)


def test_further_dims_are_tested_on_the_same_swaps(small):
    doubled = xr.concat([small, small + 0.1 * small**2, small], "language").assign_coords(language=["a", "b", "c"])
    got = doubled.meta.perm_test("m0", level="input", coefficient="kendall", n_resamples=99, rng=3)
    assert got.pvalue.dims == ("metric", "other_metric", "language")
    xr.testing.assert_equal(got.pvalue.sel(language="a", drop=True), got.pvalue.sel(language="c", drop=True))
    one = doubled.sel(language="b").meta.perm_test("m0", level="input", coefficient="kendall", n_resamples=99, rng=3)
    np.testing.assert_array_equal(got.pvalue.sel(language="b"), one.pvalue)


def test_identical_metrics_never_differ(small):
    small.score[2] = 3 * small.score[1] + 5
    got = small.meta.perm_test(
        "m0", metric="m1", other="m2", alternative="greater", n_resamples=99, rng=0, coefficient="kendall"
    )
    assert float(got.difference[0, 0]) == 0 and float(got.pvalue[0, 0]) == 1.0


def test_a_constant_metric_has_no_p_value(small):
    small.score[2] = 1.0
    with pytest.warns(UserWarning, match="constant scores"):
        got = small.meta.perm_test("m0", level="input", n_resamples=50, rng=0)
    assert np.isnan(got.pvalue.sel(metric="m2")).all()
    assert np.isfinite(got.pvalue.sel(metric="m1", other_metric="m3"))


def test_undefined_swaps_are_warned_of():
    z = [[1.0], [2.0], [3.0], [4.0], [5.0]]
    x = [[1.0], [1.0], [1.0], [1.0], [3.0]]
    y = [[3.0], [1.0], [1.0], [1.0], [1.0]]
    ds = dataset([z, x, y])
    with pytest.warns(UserWarning, match="more than 5 % of the 32 resamples are undefined"):
        got = ds.meta.perm_test("m0", resample="system")
    # X' is constant when its one 3 is swapped away and Y's is not swapped in, as is Y' in the opposite case.
    assert int(got.n_undefined.sel(metric="m1", other_metric="m2")) == 16


@pytest.mark.parametrize(
    "keywords, error, message",
    [
        (
            {"alternative": "larger"},
            ValueError,
            "alternative must be one of 'two-sided', 'greater', 'less', got 'larger'",
        ),
        (
            {"crossed": True, "resample": "input"},
            ValueError,
            "crossed=True swaps over both dims and needs resample='both'",
        ),
        ({"crossed": "yes"}, TypeError, "crossed must be True or False"),
        ({"n_resamples": 0}, ValueError, "n_resamples must be at least 1, got 0"),
        ({"resample": "cell"}, ValueError, "resample must be 'both' or names among 'system', 'input', got 'cell'"),
    ],
)
def test_bad_keywords(small, keywords, error, message):
    with pytest.raises(error, match=message):
        small.meta.perm_test("m0", **keywords)


@pytest.mark.parametrize("level, coefficient", [("system", "pearson"), ("input", "kendall"), ("global", "spearman")])
@pytest.mark.parametrize("method, keywords", [("systems", {"resample": "system"}), ("both", {"crossed": True})])
def test_nlpstats_has_the_same_null_distribution(level, coefficient, method, keywords):
    x, y, z = np.random.default_rng(51).normal(size=(3, 15, 6))
    x += z
    np.random.seed(0)  # noqa: NPY002 - nlpstats draws from the global state
    theirs = nlp_permutation_test(x, y, z, level, coefficient, method, n_resamples=800)
    ours = dataset([z, x, y]).meta.perm_test(
        "m0", level=level, coefficient=coefficient, n_resamples=4000, rng=0, keep_samples=True, **keywords
    )
    assert scipy.stats.ks_2samp(theirs.samples, ours.samples.values[0, 1]).pvalue > 1e-3


def test_where_nlpstats_gives_p_0_and_we_do_not():
    """Count over draws, without the observed one: it can be 0, which no permutation test may be."""
    z = np.random.default_rng(52).normal(size=(12, 8))
    x, y = z + 0.01, -z
    np.random.seed(0)  # noqa: NPY002 - nlpstats draws from the global state
    assert (
        nlp_permutation_test(x, y, z, "input", "pearson", "inputs", alternative="greater", n_resamples=50).pvalue == 0
    )
    ours = dataset([z, x, y]).meta.perm_test("m0", level="input", alternative="greater", n_resamples=50, rng=0)
    assert float(ours.pvalue.sel(metric="m1", other_metric="m2")) == 1 / 51


# --- corrections ---


@pytest.fixture
def table(small):
    return small.meta.perm_test("m0", level="input", alternative="greater", n_resamples=999, rng=1)


METHODS = {"bonferroni": "bonferroni", "holm": "holm", "bh": "fdr_bh", "by": "fdr_by"}


@pytest.mark.parametrize("method", METHODS)
def test_adjust_within_each_row(table, method):
    got = table.meta.adjust(method, within="other_metric")
    for metric in table.metric.values:
        p = table.pvalue.sel(metric=metric).values
        tested = ~np.isnan(p)
        want = multipletests(p[tested], method=METHODS[method])[1]
        np.testing.assert_allclose(got.pvalue_adjusted.sel(metric=metric).values[tested], want)
    assert np.isnan(got.pvalue_adjusted.values[np.eye(3, dtype=bool)]).all()
    np.testing.assert_array_equal(got.pvalue, table.pvalue)
    assert got.attrs["adjust_method"] == method and got.attrs["adjust_within"] == "other_metric"
    assert "pvalue_adjusted" not in table


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("within", [None, ("metric", "other_metric"), ("other_metric", "metric")])
def test_adjust_within_the_table(table, method, within):
    got = table.meta.adjust(method, within=within).pvalue_adjusted.values
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(got[off], multipletests(table.pvalue.values[off], method=METHODS[method])[1])


def test_a_correction_is_no_correction_of_scalars(table):
    """Six tests count as six, not as six times one."""
    got = table.meta.adjust("bonferroni").pvalue_adjusted
    np.testing.assert_allclose(got, np.minimum(1, 6 * table.pvalue))


@pytest.mark.parametrize("method", METHODS)
def test_a_two_sided_table_holds_each_test_once(small, method):
    table = small.meta.perm_test("m0", level="input", n_resamples=999, rng=1)
    got = table.meta.adjust(method).pvalue_adjusted
    upper = np.triu_indices(3, 1)
    want = multipletests(table.pvalue.values[upper], method=METHODS[method])[1]
    np.testing.assert_allclose(got.values[upper], want)
    np.testing.assert_array_equal(got, got.T)
    rows_only = table.meta.adjust(method, within="other_metric").pvalue_adjusted
    np.testing.assert_allclose(rows_only[0, 1:], multipletests(table.pvalue.values[0, 1:], method=METHODS[method])[1])


def test_a_two_sided_part_of_a_table(small):
    table = small.meta.perm_test(
        "m0", metric=["m1", "m2"], other=["m2", "m3", "m1"], level="input", n_resamples=999, rng=1
    )
    got = table.meta.adjust("bonferroni").pvalue_adjusted
    # (m1, m2) = (m2, m1), (m1, m3), (m2, m3): three tests.
    np.testing.assert_allclose(got, np.minimum(1, 3 * table.pvalue))


def test_families_of_further_dims(small):
    doubled = xr.concat([small, small + 0.3 * small**2], "language").assign_coords(language=["a", "b"])
    table = doubled.meta.perm_test("m0", level="input", alternative="greater", n_resamples=999, rng=1)
    by_language = table.meta.adjust("holm", within=("metric", "other_metric"))
    for label in ("a", "b"):
        one = table.sel(language=label).meta.adjust("holm")
        np.testing.assert_array_equal(by_language.pvalue_adjusted.sel(language=label), one.pvalue_adjusted)
    together = table.meta.adjust("bonferroni").pvalue_adjusted
    np.testing.assert_allclose(together, np.minimum(1, 12 * table.pvalue))


def test_a_correction_that_nothing_can_survive_is_said(small):
    few = small.meta.perm_test("m0", alternative="greater", n_resamples=99, rng=0)
    with pytest.warns(
        UserWarning, match="with 99 resamples and 6 tests in a family no adjusted p-value can be below 0.06"
    ):
        few.meta.adjust("holm")
    few.meta.adjust("holm", within="other_metric")
    few.meta.adjust("bh")
    exact = small.meta.perm_test("m0", alternative="greater", resample="system")
    with pytest.warns(UserWarning, match=r"with 64 resamples and 6 tests in a family .* below 0.0938$"):
        exact.meta.adjust("bonferroni")


def test_few_ways_to_swap_are_said(small):
    with pytest.warns(UserWarning) as caught:
        small.isel(system=slice(4)).meta.perm_test("m0", resample="system")
    few_systems, few_ways = (str(warning.message) for warning in caught)
    assert few_systems.startswith("only 4 systems")
    assert few_ways.startswith("there are only 16 ways to swap: no p-value can be below 0.0625")


def test_bad_corrections(table, small):
    with pytest.raises(ValueError, match=r"method must be one of .* got 'bonferoni'; did you mean 'bonferroni'\?"):
        table.meta.adjust("bonferoni")
    with pytest.raises(ValueError, match=r"unknown dim in within 'othermetric'; did you mean 'other_metric'\?"):
        table.meta.adjust(within="othermetric")
    with pytest.raises(TypeError, match="within must name dims of pvalue .* got 3"):
        table.meta.adjust(within=3)
    with pytest.raises(ValueError, match="within has 1 label.* more than once: 'metric'"):
        table.meta.adjust(within=["metric", "metric"])
    with pytest.raises(ValueError, match="within must name at least one dim"):
        table.meta.adjust(within=())
    with pytest.raises(ValueError, match="no variable 'pvalue'"):
        small.meta.adjust()


def test_significant_goes_by_the_adjusted_p_value(table):
    raw = table.meta.significant(alpha=0.3)
    np.testing.assert_array_equal(raw, table.pvalue <= 0.3)
    adjusted = table.meta.adjust("bonferroni")
    np.testing.assert_array_equal(adjusted.meta.significant(alpha=0.3), adjusted.pvalue_adjusted <= 0.3)
    assert not raw.values[np.eye(3, dtype=bool)].any()
    with pytest.raises(ValueError, match="alpha must lie strictly between 0 and 1, got 5"):
        table.meta.significant(alpha=5)
