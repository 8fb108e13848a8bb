import itertools
import re
import warnings

import numpy as np
import pytest
import reference
import scipy.stats
import xarray as xr
from conftest import dataset, of_code, warns
from helpers import rows, unpacked
from nlpstats.correlations import permutation_test as nlp_permutation_test

from xsumstat.analyses import metric_tests
from xsumstat.resampling.plans import SwapPlan


def cells(result, name="pvalue"):
    """Values by (metric, other_metric)."""
    return {
        (a, b): float(result[name].sel(metric=a, other_metric=b))
        for a, b in itertools.product(result.metric.values, result.other_metric.values)
        if a != b
    }


@pytest.mark.parametrize("level", ["system", "input", "global", "within_system"])
def test_p_values_of_all_ordered_pairs_follow_from_the_definition(small, level):
    swaps = unpacked(SwapPlan.of((6, 5), ("system", "input"), False, 99, 2).block(0), 5).tolist()
    z = rows(small.score.sel(metric="m0").values)
    observed, under = {}, {}
    for a, b in (("m1", "m2"), ("m1", "m3"), ("m2", "m3")):
        x, y = (rows(small.score.sel(metric=m).values) for m in (a, b))
        observed[a, b] = reference.difference("kendall", x, y, z, np.zeros((6, 5)).tolist(), level)
        under[a, b] = [reference.difference("kendall", x, y, z, swap, level) for swap in swaps]
        observed[b, a], under[b, a] = -observed[a, b], [-d for d in under[a, b]]
    for alternative in ("greater", "less", "two-sided"):
        got = small.meta.perm_test(
            "m0", level=level, coefficient="kendall", alternative=alternative, n_resamples=99, rng=2
        )
        for (a, b), p in cells(got).items():
            seen = observed[a, b]
            count = {
                "greater": sum(d >= seen - 1e-12 for d in under[a, b]),
                "less": sum(d <= seen + 1e-12 for d in under[a, b]),
                "two-sided": sum(abs(d) >= abs(seen) - 1e-12 for d in under[a, b]),
            }[alternative]
            assert float(got.difference.sel(metric=a, other_metric=b)) == pytest.approx(seen, abs=1e-12)
            assert p == pytest.approx((1 + count) / 100, abs=1e-12), (a, b, alternative)


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
    with pytest.raises(ValueError, match="a comparison needs two metrics"):
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
    swaps = unpacked(SwapPlan.of((6, 5), ("system", "input"), crossed, 40, 6).block(0), 5)
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
    with warns("constant"):
        got = small.meta.perm_test("m0", level="input", n_resamples=50, rng=0)
    assert np.isnan(got.pvalue.sel(metric="m2")).all()
    assert np.isfinite(got.pvalue.sel(metric="m1", other_metric="m3"))


def test_undefined_swaps_are_warned_of():
    z = [[1.0], [2.0], [3.0], [4.0], [5.0]]
    x = [[1.0], [1.0], [1.0], [1.0], [3.0]]
    y = [[3.0], [1.0], [1.0], [1.0], [1.0]]
    ds = dataset([z, x, y])
    with warns("resamples_undefined", " 32 "), warns("few_resamples", " 32 "):
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "level, coefficient, method, keywords",
    [
        ("system", "pearson", "both", {"crossed": True}),
        ("input", "kendall", "systems", {"resample": "system"}),
        ("global", "spearman", "both", {"crossed": True}),
    ],
)
def test_nlpstats_has_the_same_null_distribution(level, coefficient, method, keywords):
    x, y, z = np.random.default_rng(51).normal(size=(3, 15, 6))
    x += z
    np.random.seed(0)  # noqa: NPY002 - nlpstats draws from the global state
    theirs = nlp_permutation_test(x, y, z, level, coefficient, method, n_resamples=800)
    ours = dataset([z, x, y]).meta.perm_test(
        "m0", level=level, coefficient=coefficient, n_resamples=4000, rng=0, keep_samples=True, **keywords
    )
    assert scipy.stats.ks_2samp(theirs.samples, ours.samples.values[0, 1]).pvalue > 1e-3


@pytest.mark.ignore_codes("direction")
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


def test_few_ways_to_swap_are_said(small):
    with pytest.warns(UserWarning) as caught:
        small.isel(system=slice(4)).meta.perm_test("m0", resample="system")
    few_systems, few_ways = (str(warning.message) for warning in caught)
    assert few_systems.startswith("only 4 systems")
    assert few_ways == (
        "there are only 16 ways to swap: no p-value can be below 0.125, so no difference can be significant at 0.05; "
        "use resample='both'"
    )


@pytest.mark.parametrize("alternative, systems", [("two-sided", 5), ("greater", 4)])
@pytest.mark.parametrize("crossed", [False, True])
def test_the_least_p_value_of_all_swaps_is_the_one_that_is_said(alternative, systems, crossed):
    """Of a metric that is the gold itself and one that is its opposite, no swap beats the difference."""
    rng = np.random.default_rng(3)
    shape = (2, 2) if crossed else (systems, 3)
    z = rng.normal(size=shape)
    ds, level = dataset([z, z, -z]), "global" if crossed else "system"
    how = {"resample": "both", "crossed": True} if crossed else {"resample": "system"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = ds.meta.perm_test("m0", metric="m1", other="m2", level=level, alternative=alternative, **how)
    (said,) = of_code(caught, "few_resamples")
    assert f"below {float(found.pvalue.item()):.3g}," in said


# --- boot_test ---


@pytest.mark.parametrize("level", ["system", "input", "global", "within_system"])
@pytest.mark.parametrize("name", ["pearson", "kendall"])
def test_boot_test_is_the_difference_of_two_bootstraps_on_the_same_draws(small, level, name):
    settings = {"level": level, "coefficient": name, "n_resamples": 700, "rng": 3, "keep_samples": True}
    test = small.meta.boot_test("m0", alternative="greater", **settings)
    single = small.meta.ci("m0", **settings).samples
    for one, two in (("m1", "m2"), ("m3", "m1")):
        d = (single.sel(metric=one) - single.sel(metric=two)).values
        cell = test.sel(metric=one, other_metric=two)
        np.testing.assert_allclose(cell.samples, d, atol=1e-14)
        delta, defined = float(cell.difference), d[~np.isnan(d)]
        want = (1 + (defined - delta >= delta - 1e-12).sum()) / (1 + len(defined))
        assert float(cell.pvalue) == pytest.approx(want, abs=1e-12)
        assert int(cell.n_undefined) == np.isnan(d).sum()


@pytest.mark.parametrize("alternative", ["less", "two-sided"])
def test_other_alternatives_of_boot_test(small, alternative):
    test = small.meta.boot_test("m0", alternative=alternative, level="input", n_resamples=500, rng=3, keep_samples=True)
    cell = test.sel(metric="m3", other_metric="m1")
    delta, moved = float(cell.difference), cell.samples.values - float(cell.difference)
    count = (moved <= delta + 1e-12).sum() if alternative == "less" else (abs(moved) >= abs(delta) - 1e-12).sum()
    assert float(cell.pvalue) == pytest.approx((1 + count) / 501)


@pytest.mark.parametrize("missing", ["pairwise", "available"])
@pytest.mark.ignore_codes("fewer_labels")
def test_boot_test_compares_a_pair_on_the_cells_that_both_have(small, missing):
    small.score[1, 2, 1] = small.score[2, :, 3] = np.nan
    test = small.meta.boot_test("m0", metric=["m1", "m2"], missing=missing, n_resamples=20, rng=1)
    there = small.score.sel(metric=["m1", "m2"]).notnull().all("metric")
    used = small if missing == "available" else small.assign(score=small.score.where(there))
    if missing == "pairwise":
        used = used.isel(input=[0, 1, 2, 4])
    r = used.meta.corr("m0", metric=["m1", "m2"], missing=missing).correlation
    assert float(test.difference.sel(metric="m1", other_metric="m2")) == pytest.approx(float(r[0] - r[1]), abs=1e-12)


@pytest.mark.slow
def test_size_of_boot_test():
    """Metrics that agree with gold equally well: at most 5 % of 300 trials, give or take 3.5 sd."""
    rng = np.random.default_rng(4)
    rejected = 0
    for batch in range(10):
        trials = []
        for _ in range(30):
            z = rng.normal(size=(12, 1)) + rng.normal(size=(12, 20))
            trials.append(dataset(np.concatenate([z[None], z + 1.5 * rng.normal(size=(2, 12, 20))])))
        both = xr.concat(trials, "trial")
        test = both.meta.boot_test("m0", level="input", alternative="greater", n_resamples=199, rng=batch)
        rejected += int((test.pvalue.sel(metric="m1", other_metric="m2") <= 0.05).sum())
    assert rejected / 300 <= 0.05 + 3.5 * np.sqrt(0.05 * 0.95 / 300)


# --- corr_test ---


def test_lazy_tests_equal_eager_ones(small):
    lazily = small.chunk(metric=1)
    xr.testing.assert_identical(lazily.meta.corr_test("m0").compute(), small.meta.corr_test("m0"))
    settings = {"level": "input", "n_resamples": 1500, "rng": 2, "keep_samples": True}
    got = lazily.meta.boot_test("m0", **settings)
    assert got.pvalue.chunks is not None
    xr.testing.assert_identical(got.compute(), small.meta.boot_test("m0", **settings))


# --- What a review found ---


def test_lazy_listing_of_all_swaps_refuses_what_is_empty(demo):
    few = demo.isel(metric=slice(3), system=slice(4), input=slice(3)).copy(deep=True)
    few.score[:, :, 1] = np.nan
    with pytest.raises(ValueError, match="take them out of the lazy Dataset first"):
        few.chunk().meta.perm_test("human", n_resamples=9999, rng=0).compute()


@pytest.mark.slow
def test_lazy_tests_refuse_infinite_scores(demo):
    demo.score[1, 2, 3] = np.inf
    for level, coefficient in (("system", "pearson"), ("input", "kendall"), ("global", "pearson")):
        test = demo.chunk().meta.perm_test("human", level=level, coefficient=coefficient, n_resamples=20, rng=0)
        with pytest.raises(ValueError, match="infinite"):
            test.compute()


def test_a_pair_without_a_common_cell_is_said(small):
    small.score[1, :3] = np.nan
    small.score[2, 3:] = np.nan
    for method in ("perm_test", "boot_test"):
        with pytest.warns(UserWarning) as caught:
            test = getattr(small.meta, method)("m0", n_resamples=50, rng=1)
        assert any("undefined difference for 'm1 and m2'" in str(each.message) for each in caught)
        assert np.isnan(test.pvalue.sel(metric="m1", other_metric="m2"))
        assert test.pvalue.sel(metric="m1", other_metric="m3").notnull()


@pytest.mark.parametrize("level, coefficient", [("input", "kendall"), ("global", "spearman"), ("input", "spearman")])
@pytest.mark.parametrize("far", [1e9, 1e11, 1e13])
def test_one_far_score_ties_no_others(level, coefficient, far):
    rng = np.random.default_rng(8)
    score = rng.normal(size=(3, 8, 12))
    score[1, 2, 3] = far
    ds = dataset(score)
    test = ds.meta.perm_test("m0", level=level, coefficient=coefficient, n_resamples=20, rng=1)
    r = ds.meta.corr("m0", level=level, coefficient=coefficient).correlation
    assert float(test.difference.sel(metric="m1", other_metric="m2")) == pytest.approx(float(r[0] - r[1]), abs=1e-12)


@pytest.mark.parametrize("missing", ["pairwise", "available"])
def test_a_function_is_tested_on_the_cells_that_its_level_uses(small, missing):
    small.score[0, :4, 2] = small.score[0, 2:, 3] = np.nan
    settings = {"missing": missing, "n_resamples": 200, "rng": 1}
    ours = small.meta.perm_test("m0", **settings)
    theirs = small.meta.perm_test("m0", coefficient=lambda x, z: np.corrcoef(x, z)[0, 1], **settings)
    np.testing.assert_allclose(theirs.difference, ours.difference, atol=1e-12)
    np.testing.assert_array_equal(theirs.pvalue, ours.pvalue)


# --- Accuracy with ties: what trades places by default ---

TIED = {"coefficient": "acc_eq", "n_resamples": 99, "rng": 0}


@pytest.mark.ignore_codes("few_resamples")
@pytest.mark.parametrize(
    "level, given, same_as",
    [
        ("input", {}, {"swap": "decisions", "resample": "input"}),
        ("within_system", {}, {"swap": "decisions", "resample": "system"}),
        ("system", {}, {"swap": "scores", "resample": "both"}),
        ("global", {}, {"swap": "scores", "resample": "both"}),
        ("input", {"resample": "input"}, {"swap": "decisions", "resample": "input"}),
        ("input", {"resample": "both"}, {"swap": "scores", "resample": "both"}),
        ("input", {"resample": "system"}, {"swap": "scores", "resample": "system"}),
        ("input", {"crossed": True}, {"swap": "scores", "crossed": True}),
        ("input", {"threshold": 0.5}, {"swap": "decisions", "resample": "input", "threshold": 0.5}),
    ],
)
def test_decisions_of_a_group_trade_places_by_default(small, level, given, same_as):
    """Without a warning, which would be an error here: coins for single decisions are asked for by name."""
    got, want = (small.meta.perm_test("m0", level=level, **TIED, **how) for how in (given, same_as))
    xr.testing.assert_identical(got, want)
    assert got.attrs["swap"] == same_as["swap"]
    ranked = small.meta.rank("m0", method="permutation", adjust=None, level=level, **TIED, **given)
    assert ranked.attrs["swap"] == same_as["swap"]


@pytest.mark.parametrize(
    "level, instead", [("input", "resample='input', the default, or swap='scores'"), ("global", "swap='scores'")]
)
def test_coins_for_single_decisions_are_asked_for_by_name(small, level, instead):
    said = f"in {re.escape(metric_tests._FOUND)} of simulated scores at input level.; use {re.escape(instead)}"
    with pytest.warns(UserWarning, match=said):
        got = small.meta.perm_test("m0", level=level, swap="decisions", **TIED)
    assert got.attrs["resample"] == "both"


@pytest.mark.parametrize("level", ["system", "global"])
def test_thresholds_that_are_given_leave_no_default_where_decisions_have_no_groups(small, level):
    with pytest.raises(ValueError, match="use threshold=0, or no threshold, .* or swap='decisions'"):
        small.meta.perm_test("m0", level=level, threshold=0.5, **TIED)
    small.meta.perm_test("m0", level=level, threshold=0, **TIED)


@pytest.mark.slow
def test_size_of_the_default_for_accuracy_with_ties():
    """Of two metrics that differ by noise alone the default finds a difference in 5 %, coins for decisions in more."""
    found = {"default": 0, "one by one": 0}
    for batch in range(5):
        trials = []
        for seed in range(30 * batch, 30 * batch + 30):
            rng = np.random.default_rng(seed)
            quality = 0.5 * rng.normal(size=(12, 1)) + rng.normal(size=(12, 40))
            gold = np.clip(np.rint(3 + quality), 1, 5)
            trials.append(dataset(np.array([gold, *(quality + rng.normal(size=(2, 12, 40)))])))
        ds = xr.concat(trials, "trial")
        for name, how in (("default", {}), ("one by one", {"swap": "decisions"})):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                test = ds.meta.perm_test("m0", level="input", coefficient="acc_eq", n_resamples=199, rng=batch, **how)
            found[name] += int((test.pvalue.sel(metric="m1", other_metric="m2") <= 0.05).sum())
    assert found["default"] <= 150 * 0.05 + 2.5 * np.sqrt(150 * 0.05 * 0.95)
    assert found["one by one"] >= 18
