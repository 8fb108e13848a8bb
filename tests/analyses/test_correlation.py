import itertools

import numpy as np
import pytest
import reference
import scipy.stats
import xarray as xr
from helpers import LEVELS, NAMES, padded, rows
from nlpstats.correlations import bootstrap as nlp_bootstrap
from nlpstats.correlations import fisher as nlp_fisher
from nlpstats.correlations.correlations import correlate as nlp_correlate


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", NAMES)
def test_corr_of_every_metric(small, level, name):
    got = small.meta.corr("m0", level=level, coefficient=name)
    z = rows(small.score.sel(metric="m0").values)
    want = [reference.correlation(name, rows(small.score.sel(metric=m).values), z, level) for m in ("m1", "m2", "m3")]
    np.testing.assert_allclose(got.correlation, want, atol=1e-12)
    assert got.correlation.dims == ("metric",)


def test_further_dims_of_score_and_of_gold_broadcast_by_name(small):
    by_language = xr.concat(
        [small, small.isel(input=slice(None, None, -1)).assign_coords(input=small.input)], "language"
    )
    by_language = by_language.assign_coords(language=["en", "de"]).transpose("input", "language", "system", "metric")
    gold = small.score.sel(metric=["m0", "m1"]).rename(metric="quality").transpose("system", "quality", "input")
    got = by_language.meta.corr(gold, metric=["m2", "m3"], level="input", coefficient="kendall")
    assert set(got.correlation.dims) == {"metric", "language", "quality"}
    for language in (0, 1):
        for quality in ("m0", "m1"):
            one = by_language.isel(language=language).assign(gold=gold.sel(quality=quality))
            want = one.meta.corr("gold", metric=["m2", "m3"], level="input", coefficient="kendall").correlation
            here = got.correlation.isel(language=language).sel(quality=quality)
            np.testing.assert_array_equal(here.transpose("metric"), want)


def test_a_gold_in_every_language_is_matched_with_its_own(small):
    by_language = xr.concat([small, small + 0.3 * small**2], "language").assign_coords(language=["en", "de"])
    got = by_language.meta.corr("m0", level="system").correlation
    for language in ("en", "de"):
        want = by_language.sel(language=language).meta.corr("m0").correlation
        np.testing.assert_allclose(got.sel(language=language), want, atol=1e-15)


def test_ratings_with_raters_give_one_result_a_rater(small):
    rating = xr.concat([small.score.sel(metric="m0", drop=True) + at for at in (1, 2, 3)], "rater")
    got = small.assign(rating=rating).meta.corr("rating", level="global")
    assert got.correlation.sizes == {"metric": 4, "rater": 3}


@pytest.mark.parametrize("level, dim", [("input", "input"), ("within_system", "system")])
def test_groups_and_their_p_values(small, level, dim):
    got = small.meta.corr("m0", level=level, coefficient="kendall", average=False)
    assert got.correlation.dims == got.pvalue.dims == ("metric", dim)
    other = "system" if dim == "input" else "input"
    for label in small[dim].values:
        x, z = (small.score.sel({dim: label, "metric": m}).transpose(other).values for m in ("m2", "m0"))
        want = scipy.stats.kendalltau(x, z)
        assert float(got.correlation.sel(metric="m2", **{dim: label})) == pytest.approx(want.statistic, nan_ok=True)
        assert float(got.pvalue.sel(metric="m2", **{dim: label})) == pytest.approx(want.pvalue, nan_ok=True)
    averaged = small.meta.corr("m0", level=level, coefficient="kendall")
    np.testing.assert_allclose(got.correlation.mean(dim), averaged.correlation, atol=1e-14)
    np.testing.assert_array_equal(np.isnan(got.correlation).sum(dim), averaged.n_undefined)


@pytest.mark.parametrize("level", ["system", "global"])
def test_one_group_has_a_p_value_too(small, level):
    got = small.meta.corr("m0", level=level, coefficient="spearman", average=False)
    if level == "system":
        x, z = small.score.sel(metric=["m2", "m0"]).mean("input").values
    else:
        x, z = small.score.sel(metric=["m2", "m0"]).values.reshape(2, -1)
    want = scipy.stats.spearmanr(x, z)
    assert float(got.correlation.sel(metric="m2")) == pytest.approx(want.statistic)
    assert float(got.pvalue.sel(metric="m2")) == pytest.approx(want.pvalue)


def test_undefined_groups_are_dropped_or_zero_and_counted(small):
    small.score[0, :, 1] = 2.0
    drop = small.meta.corr("m0", level="input", coefficient="kendall")
    zero = small.meta.corr("m0", level="input", coefficient="kendall", undefined="zero")
    assert (drop.n_undefined >= 1).all()
    defined = 5 - drop.n_undefined
    np.testing.assert_allclose(zero.correlation, drop.correlation * defined / 5, atol=1e-15)


@pytest.mark.ignore_codes("constant", "average_for_single", "fell_back", "outputs_alike")
@pytest.mark.parametrize(
    "level, undefined", [*((level, "zero") for level in LEVELS), ("input", "drop"), ("global", "drop")]
)
def test_a_constant_metric_counts_as_zero_in_averages_only(small, level, undefined):
    """A level that is one group has no average: there a constant metric has no correlation, whatever is asked."""
    score = small.score.copy(deep=True)
    score[1] = score[1].where(score[1].isnull(), 3.0)
    ds = small.assign(score=score)
    x, z = (rows(score[at].values) for at in (1, 0))
    want = reference.correlation("pearson", x, z, level, undefined=undefined)
    assert np.isnan(want) == (undefined == "drop" or level in ("system", "global"))
    settings = {"level": level, "undefined": undefined}
    np.testing.assert_equal(float(ds.meta.corr("m0", metric="m1", **settings).correlation[0]), want)
    interval = ds.meta.ci("m0", metric="m1", n_resamples=20, rng=0, **settings)
    np.testing.assert_equal(float(interval.correlation[0]), want)
    fisher = ds.meta.ci("m0", metric="m1", method="fisher", **settings)
    np.testing.assert_equal(float(fisher.correlation[0]), want)
    for test in (ds.meta.corr_test("m0", **settings), ds.meta.boot_test("m0", n_resamples=20, rng=0, **settings)):
        assert np.isnan(test.difference.sel(metric="m1", other_metric="m2")) == np.isnan(want)
    assert (ds.meta.rank("m0", n_resamples=20, rng=0, **settings)["rank"].sel(metric="m1") == 0) == np.isnan(want)


def test_a_correlation_without_a_defined_group_is_nan_and_said(small):
    small.score[0] = np.arange(5.0)  # constant within each input
    with pytest.warns(UserWarning, match="undefined, as no group has two scores that both vary: 'm1', 'm2', 'm3'"):
        got = small.meta.corr("m0", level="input")
    assert np.isnan(got.correlation).all()
    assert (got.n_undefined == 5).all()


@pytest.mark.parametrize("function, hint", [(scipy.stats.kendalltau, "'kendall'"), (scipy.stats.pearsonr, "'pearson'")])
def test_a_function_that_returns_no_number(small, function, hint):
    message = f"coefficient '{function.__name__}' must return a number, it returned .*; did you mean coefficient={hint}"
    with pytest.raises(TypeError, match=message):
        small.meta.corr("m0", coefficient=function)
    with pytest.raises(TypeError, match="must return a number, it returned NoneType$"):
        small.meta.corr("m0", coefficient=lambda x, z: None)


def test_one_label_cannot_be_resampled(small):
    with pytest.raises(ValueError, match="resample='input' has only one label to draw: nothing can vary"):
        small.isel(input=[0]).meta.ci("m0", resample="input")
    with pytest.raises(ValueError, match="resample='input' has only one label"):
        small.isel(input=[0]).meta.perm_test("m0", resample="input")
    one = small.isel(input=[0])
    assert np.isfinite(one.meta.ci("m0", method="bootstrap", n_resamples=20, rng=0).ci_low).all()
    xr.testing.assert_equal(one.meta.ci("m0"), one.meta.ci("m0", resample="system"))
    assert np.isfinite(one.meta.ci("m0").ci_low).all()


def test_a_function_of_the_user(small):
    got = small.meta.corr("m0", level="input", coefficient=lambda x, z: float(np.abs(x - z).mean()))
    want = abs(small.score[1:] - small.score[0].drop_vars("metric")).mean(["system", "input"])
    np.testing.assert_allclose(got.correlation, want, atol=1e-12)
    assert got.attrs["coefficient"] == "<lambda>"


@pytest.mark.parametrize("level", LEVELS)
def test_metric_corr_is_corr_with_each_metric_as_gold(small, level):
    got = small.meta.metric_corr(level=level, coefficient="spearman")
    assert got.correlation.dims == ("metric", "other_metric")
    for gold in small.metric.values:
        want = small.meta.corr(gold, metric=list(small.metric.values), level=level, coefficient="spearman")
        np.testing.assert_allclose(got.correlation.sel(other_metric=gold), want.correlation, atol=1e-14)
    np.testing.assert_array_equal(got.correlation, got.correlation.transpose("other_metric", "metric"))
    assert list(got.kind.values) == list("habc")


def test_metric_corr_keeps_groups(small):
    got = small.meta.metric_corr(metric=["m1", "m3"], level="input", coefficient="kendall", average=False)
    assert got.correlation.dims == got.pvalue.dims == ("metric", "other_metric", "input")
    want = small.meta.corr("m1", metric="m3", level="input", coefficient="kendall", average=False)
    np.testing.assert_array_equal(got.pvalue.sel(metric="m3", other_metric="m1"), want.pvalue.sel(metric="m3"))


# --- bad keywords ---


def test_bad_keyword_of_corr(small):
    with pytest.raises(TypeError, match="average must be True or False, got 0"):
        small.meta.corr("m0", average=0)


# --- beside nlpstats ---

# Values that nlpstats's own tests state for these matrices.
A = np.array([[1, 9, 2], [4, 5, 2], [6, 7, 1]])
B = np.array([[11, 12, 13], [14, 15, 16], [17, 18, 19]])
STATED = {
    ("system", "pearson"): 0.6546536707,
    ("input", "pearson"): -0.124208712,
    ("global", "pearson"): 0.0,
    ("system", "spearman"): 0.5,
    ("input", "spearman"): -0.1220084679,
    ("global", "spearman"): 0.04201829034,
    ("system", "kendall"): 0.33333333333,
    ("input", "kendall"): -0.0499433047,
    ("global", "kendall"): 0.11433239009,
}


def as_dataset(*matrices):
    labels = [f"m{at}" for at in range(len(matrices))]
    return xr.Dataset({"score": (("metric", "system", "input"), np.array(matrices, float))}, coords={"metric": labels})


@pytest.mark.ignore_codes("few_systems")
@pytest.mark.parametrize("level, name", STATED)
def test_values_that_nlpstats_states(level, name):
    got = as_dataset(B, A).meta.corr("m0", level=level, coefficient=name).correlation
    assert float(got[0]) == pytest.approx(STATED[level, name], abs=1e-9)


@pytest.mark.ignore_codes("outputs_alike")
@pytest.mark.parametrize("level", ["system", "input", "global"])
@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall"])
def test_nlpstats_on_random_complete_data(level, name):
    x, z = np.random.default_rng(41).normal(size=(2, 9, 14))
    ds = as_dataset(z, x)
    assert float(ds.meta.corr("m0", level=level, coefficient=name).correlation[0]) == pytest.approx(
        nlp_correlate(x, z, level, name), abs=1e-12
    )
    ours, theirs = ds.meta.ci("m0", method="fisher", level=level, coefficient=name), nlp_fisher(x, z, level, name)
    np.testing.assert_allclose([ours.ci_low[0], ours.ci_high[0]], [theirs.lower, theirs.upper], atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("method, resample", [("systems", "system"), ("inputs", "input"), ("both", "both")])
def test_nlpstats_bootstrap_has_the_same_distribution(method, resample):
    x, z = np.random.default_rng(42).normal(size=(2, 8, 10))
    x += z
    np.random.seed(0)  # noqa: NPY002 - nlpstats draws from the global state
    theirs = nlp_bootstrap(x, z, "input", "pearson", method, n_resamples=800).samples
    ours = as_dataset(z, x).meta.ci("m0", level="input", resample=resample, n_resamples=5000, rng=0, keep_samples=True)
    assert scipy.stats.ks_2samp(theirs, ours.samples.values[0]).pvalue > 1e-3


def test_where_nlpstats_refuses_and_we_follow_the_definition():
    """It demands the same missing cells in both; we compare the cells where both are."""
    x, z = np.random.default_rng(43).normal(size=(2, 7, 5))
    x[0, 0] = np.nan
    with pytest.raises(ValueError, match="identical NaN"):
        nlp_correlate(x, z, "input", "kendall")
    got = as_dataset(z, x).meta.corr("m0", level="input", coefficient="kendall").correlation
    assert float(got[0]) == pytest.approx(reference.correlation("kendall", rows(x), rows(z), "input"), abs=1e-12)


def test_where_nlpstats_breaks_ties_by_rounding():
    """Means that are equal but for rounding count as different there."""
    x = np.array([[0.1, 0.2], [0.3, 0.0], [0.9, 0.1], [0.5, 0.5], [0.2, 0.9]])
    z = np.arange(10.0).reshape(5, 2)
    ours = float(as_dataset(z, x).meta.corr("m0", coefficient="kendall").correlation[0])
    exact = np.array([3, 3, 10, 10, 11])  # the means in units of .05
    assert ours == pytest.approx(scipy.stats.kendalltau(exact, z.mean(axis=1)).statistic, abs=1e-12)
    assert abs(nlp_correlate(x, z, "system", "kendall") - ours) > 0.01


@pytest.mark.ignore_codes("tied_at_k")
@pytest.mark.parametrize("points", [None, 2], ids=["fine", "tied"])
def test_metric_corr_among_the_best_by_either_metric_equals_a_plain_loop(points):
    ds = padded((9, 4, 7, 9, 2), points=points).assign_coords(higher_is_better=("metric", [True, False, True]))
    ds.score[2, 2, 0] = np.nan
    x = ds.score.values * np.array([1, -1, 1])[:, None, None]
    got = ds.meta.metric_corr(top=3, level="input", coefficient="kendall", average=False).correlation
    for a in range(3):
        for b in range(3):
            for j in range(5):
                chosen = set()
                for values in x[[a, b], :, j]:
                    there = [i for i, value in enumerate(values) if value == value]
                    chosen |= set(sorted(there, key=lambda i: values[i], reverse=True)[:3])
                both = [i for i in sorted(chosen) if not np.isnan(x[[a, b], i, j]).any()]
                with np.errstate(all="ignore"):
                    want = scipy.stats.kendalltau(x[a, both, j], x[b, both, j]).statistic if len(both) > 1 else np.nan
                assert float(got[a, b, j]) == pytest.approx(want, nan_ok=True)
    for a, b in ((0, 1), (1, 2)):
        pair = [f"m{a}", f"m{b}"]
        inside = ds.meta.scoring_range(top=3, metrics=pair)
        want = inside.meta.metric_corr(metric=pair, level="input", coefficient="kendall")
        both = ds.meta.metric_corr(top=3, level="input", coefficient="kendall")
        for name in ("correlation", "n_undefined"):
            assert float(both[name][a, b]) == float(want[name][0, 1])
    assert both.attrs["top"] == 3


def test_metric_corr_among_the_best_of_further_dims_and_of_lazy_scores(demo):
    how = {"metric": ["judge", "rouge"], "top": 4, "level": "input", "coefficient": "kendall"}
    turned = demo.isel(system=slice(None, None, -1)).assign_coords(system=demo.system)
    both = xr.concat([demo[["score"]], -turned[["score"]]], "language").transpose("input", "language", ...)
    got = both.meta.metric_corr(**how).correlation
    for at in (0, 1):
        want = both.isel(language=at).meta.metric_corr(**how).correlation
        np.testing.assert_array_equal(got.isel(language=at).transpose("metric", "other_metric"), want)
    with pytest.raises(ValueError, match="top keeps the best outputs of each input .+ got level='system'"):
        demo.meta.metric_corr(top=4)
    with pytest.raises(ValueError, match="top must be at least 1, got 0"):
        demo.meta.metric_corr(top=0, level="input")
    pytest.importorskip("dask")
    lazy = both.chunk(system=5).meta.metric_corr(**how)
    assert lazy.correlation.chunks is not None
    np.testing.assert_array_equal(lazy.correlation, got)


@pytest.mark.ignore_codes("fewer_labels")
def test_groups_that_a_metric_lacks_are_not_counted_as_undefined(small):
    ds = small.copy(deep=True)
    ds.score[1, :, 2] = np.nan  # no cell
    ds.score[2, :, 2] = 1.0  # constant
    usual = small.meta.corr("m0", level="input").n_undefined
    got = ds.meta.corr("m0", level="input").n_undefined
    assert int(got.sel(metric="m1")) == int(usual.sel(metric="m1"))
    assert int(got.sel(metric="m2")) == int(usual.sel(metric="m2")) + 1


@pytest.mark.parametrize("coefficient, of_scipy", [("kendall", "b"), ("kendall_c", "c")])
def test_metrics_on_inputs_with_many_outputs_are_correlated_as_by_scipy(coefficient, of_scipy):
    """More systems than are compared pair by pair; grades and fine scores, gaps, a constant metric on one input."""
    rng = np.random.default_rng(20)
    score = rng.normal(size=(3, 45, 4)) + rng.normal(size=(45, 4))
    score[1], score[2, :5, 1] = np.round(score[1]), np.nan
    score[1, :, 3] = 1.0
    ds = xr.Dataset({"score": (("metric", "system", "input"), score)}, {"metric": list("abc")})
    for lazy in (False, True):
        asked = (ds.chunk(metric=1) if lazy else ds).meta.metric_corr(level="input", coefficient=coefficient)
        got = asked.compute()
        for one, other in itertools.product("abc", repeat=2):
            both = (ds.score.sel(metric=metric).values for metric in (one, other))
            values = [
                scipy.stats.kendalltau(x[there], z[there], variant=of_scipy).statistic
                for x, z, there in ((x, z, ~np.isnan(x + z)) for x, z in zip(*(each.T for each in both), strict=True))
            ]
            cell = got.sel(metric=one, other_metric=other)
            assert float(cell.correlation) == pytest.approx(np.nanmean(values), abs=1e-12)
            assert int(cell.n_undefined) == np.isnan(values).sum()
