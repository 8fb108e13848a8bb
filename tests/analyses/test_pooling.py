"""Pairs of systems of several languages pooled."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import xarray as xr

from xsumstat.analyses import pooling
from xsumstat.core.caveats import Caveat
from xsumstat.dataset.value_checks import Said


def language(seed, systems, inputs):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(systems, inputs)) + rng.normal(size=(systems, 1))
    x = z + rng.normal(size=(3, systems, inputs)) * np.array([1.0, 2.0, 4.0])[:, None, None]
    score = np.concatenate([x, z[None]])
    coords = {"metric": ["a", "b", "c", "human"], "system": [f"s{at}" for at in range(systems)], "input": range(inputs)}
    return xr.Dataset({"score": (("metric", "system", "input"), score)}, coords)


PARTS = {"en-de": language(1, 7, 20), "zh-en": language(2, 6, 30)}
METHOD = {"analysis": "ci", "method": "jackknife"}
KW = {"coefficient": "pairwise_accuracy", "pool": "language"}


@pytest.fixture
def ds():
    return xr.concat(PARTS.values(), xr.DataArray(list(PARTS), dims="language", name="language"), join="outer")


def test_concordant_pairs_of_all_languages_over_all_pairs(ds):
    """Kocmi et al. (2021), Eq. 1."""
    got = ds.meta.corr("human", **KW)
    for metric in ("a", "b", "c"):
        right = pairs = 0
        for part in PARTS.values():
            x, z = (part.score.sel(metric=name).mean("input").values for name in (metric, "human"))
            for i, k in itertools.combinations(range(len(x)), 2):
                right += (x[i] - x[k]) * (z[i] - z[k]) > 0
                pairs += 1
        assert pairs == 21 + 15
        assert float(got.correlation.sel(metric=metric)) == pytest.approx(right / pairs, abs=1e-12)
    assert got.attrs["pool"] == "language" and got.correlation.dims == ("metric",)


@pytest.mark.ignore_codes("outside")
def test_languages_are_drawn_independently(ds):
    got = ds.meta.ci("human", n_resamples=4000, rng=0, keep_samples=True, **KW)
    np.testing.assert_allclose(got.bias, got.samples.mean("resample") - got.correlation, atol=1e-12)
    assert (abs(got.bias) > 1e-6).all()
    settings = {"method": "bootstrap", "n_resamples": 4000, "rng": 5, "coefficient": "pairwise_accuracy"}
    alone = [part.meta.ci("human", **settings) for part in PARTS.values()]
    want = np.sqrt((21 * alone[0].standard_error) ** 2 + (15 * alone[1].standard_error) ** 2) / 36
    np.testing.assert_allclose(got.standard_error, want, rtol=0.06)
    np.testing.assert_allclose(got.ci_low, np.quantile(got.samples.transpose("metric", ...), 0.025, axis=1), atol=1e-12)
    again = ds.meta.ci("human", n_resamples=4000, rng=0, keep_samples=True, **KW)
    xr.testing.assert_identical(got, again)
    gap = ds.meta.ci("human", metric="a", other="c", n_resamples=4000, rng=0, keep_samples=True, **KW)
    want = (got.samples.sel(metric="a") - got.samples.sel(metric="c")).transpose("resample")
    np.testing.assert_allclose(gap.samples.squeeze(), want, atol=1e-12)


@pytest.mark.parametrize("question", ["perm_test", "boot_test"])
def test_tests_are_of_the_pooled_difference(ds, question):
    kw = {"n_resamples": 999, "rng": 3, "keep_samples": True, **KW}
    accuracy = ds.meta.corr("human", **KW).correlation
    gap = accuracy - accuracy.rename(metric="other_metric")
    for alternative in ("greater", "less", "two-sided"):
        got = getattr(ds.meta, question)("human", alternative=alternative, **kw)
        away = got.metric != got.other_metric
        np.testing.assert_allclose(got.difference, gap.where(away), atol=1e-12)
        null = got.samples - (got.difference if question == "boot_test" else 0)
        beyond = {
            "greater": null >= got.difference - 1e-12,
            "less": null <= got.difference + 1e-12,
            "two-sided": abs(null) >= abs(got.difference) - 1e-12,
        }[alternative]
        want = ((1 + beyond.sum("resample")) / 1000).where(away)
        np.testing.assert_allclose(got.pvalue, want.transpose(*got.pvalue.dims), atol=1e-12)


def test_few_swaps_that_are_listed_are_drawn_from_the_list(ds):
    got = ds.meta.perm_test("human", resample="system", n_resamples=999, rng=1, keep_samples=True, **KW)
    assert got.sizes["resample"] == 999 and got.attrs["exact"] == 0


def test_rank_and_corrections(ds):
    table = ds.meta.rank("human", n_resamples=499, rng=1, adjust="maxt", **KW)
    assert table.metric.values.tolist()[-1] == "c" and table.cluster.values[0] == 1
    test = ds.meta.perm_test("human", n_resamples=499, rng=1, adjust="holm", **KW)
    assert bool((test.pvalue_adjusted >= test.pvalue).where(test.pvalue.notnull(), True).all())


def test_gold_beside_the_metrics_and_gaps_in_it(ds):
    human = ds.score.sel(metric="human", drop=True)
    apart = ds.drop_sel(metric="human").assign(mqm=human)
    want = ds.meta.corr("human", **KW).correlation
    for gold in ("mqm", human, human.isel(system=slice(None, None, -1))):
        np.testing.assert_allclose(apart.meta.corr(gold, **KW).correlation, want, atol=1e-12)
    gone = human.where((human.language != "zh-en") | (human.system != "s1"))
    with pytest.warns(UserWarning, match="language='zh-en': left out 1 system"):
        got = apart.meta.corr(gone, **KW).correlation
    parts = [PARTS["en-de"], PARTS["zh-en"].drop_sel(system="s1")]
    alone = [part.meta.corr("human", coefficient="pairwise_accuracy").correlation.values for part in parts]
    np.testing.assert_allclose(got, (21 * alone[0] + 10 * alone[1]) / 31, atol=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_language_without_a_pair_of_systems_adds_none(ds):
    part = ds.copy(deep=True)
    part.score.loc[{"language": "zh-en", "metric": "a", "system": ["s1", "s2", "s3", "s4", "s5"]}] = np.nan
    want = PARTS["en-de"].meta.corr("human", coefficient="pairwise_accuracy").correlation.sel(metric="a")
    assert float(part.meta.corr("human", **KW).correlation.sel(metric="a")) == pytest.approx(float(want))
    whole = ds.meta.corr("human", **KW).correlation.sel(metric="b")
    assert float(part.meta.corr("human", **KW).correlation.sel(metric="b")) == pytest.approx(float(whole))


@pytest.mark.parametrize(
    "keywords, text",
    [
        (
            {"pool": "domain"},
            "pool must be an additional dim of score, got 'domain'; available: 'language'; use pool='language'",
        ),
        ({"coefficient": "kendall"}, "pool is for coefficient='pairwise_accuracy' at level='system'"),
        ({"level": "input"}, "name these two, or leave out pool='language' for an answer of each language"),
        ({"given": "a"}, "leave out given, or leave out pool for partial correlations of each language"),
        ({"interval": "bca"}, "interval='bca' is not for pooled pairs; use interval='percentile'"),
        (
            {"method": "jackknife", "interval": "basic"},
            "language='en-de': interval='basic' needs method='bootstrap'",
        ),
        ({"method": "fisher"}, "method='fisher' is not for pooled pairs"),
    ],
)
def test_bad_input(ds, keywords, text):
    with pytest.raises(ValueError, match=text):
        ds.meta.ci("human", **{**KW, **keywords})


def test_what_an_error_says_to_type_makes_a_dim_to_pool(ds):
    one = PARTS["en-de"]
    with pytest.raises(ValueError, match="available: none; to add one, join .*: xarray.concat.*join='outer'.$"):
        one.meta.corr("human", **KW)
    joined = xr.concat([one, PARTS["zh-en"]], pd.Index(["en-de", "zh-en"], name="language"), join="outer")
    want = ds.meta.corr("human", **KW)
    np.testing.assert_array_equal(joined.meta.corr("human", **KW).correlation, want.correlation)
    domains = xr.concat([ds, ds], pd.Index(["news", "chat"], name="domain"))
    with pytest.raises(ValueError, match=r"ds.stack\(task=\['language', 'domain'\], create_index=False\)"):
        domains.meta.corr("human", **{**KW, "pool": ["language", "domain"]})
    stacked = domains.stack(task=["language", "domain"], create_index=False)
    found = stacked.meta.corr("human", **{**KW, "pool": "task"}).correlation
    np.testing.assert_allclose(found, want.correlation, atol=1e-12)  # each pair of systems twice


def test_an_error_names_the_language(ds):
    ds = ds.copy(deep=True)
    ds.score.loc[{"language": "zh-en", "metric": "human"}] = np.nan
    with pytest.raises(ValueError, match="language='zh-en': gold"):
        ds.meta.corr("human", **KW)


def twins(count=2):
    """One language, some times over."""
    labels = xr.DataArray([f"l{at}" for at in range(count)], dims="language", name="language")
    return xr.concat([PARTS["zh-en"]] * count, labels)


@pytest.mark.ignore_codes("outside")
@pytest.mark.parametrize(
    "question, keywords",
    [("ci", {}), ("ci", {"other": "c"}), ("boot_test", {}), ("perm_test", {}), ("perm_test", {"resample": "system"})],
)
def test_languages_with_the_same_scores_have_draws_of_their_own(question, keywords):
    """An average of two of 15 pairs each: every second has half a pair, and the variance is half that of one."""
    kw = {"metric": "a", **keywords} if question == "ci" else {"metric": ["a", "c"], **keywords}
    kw |= {"n_resamples": 2000, "rng": 4, "keep_samples": True}
    pooled = getattr(twins().meta, question)("human", **kw, **KW)
    kw["n_resamples"] = 64 if kw.get("resample") else 2000  # all swaps of 6 systems, of which the pooled are drawn
    alone = getattr(PARTS["zh-en"].meta, question)("human", coefficient="pairwise_accuracy", **kw)
    pick = {} if question == "ci" else {"metric": "a", "other_metric": "c"}
    samples, single = (each.samples.sel(pick).values.ravel() for each in (pooled, alone))
    halves = np.abs(samples * 15 - np.round(samples * 15)) > 0.1
    assert 0.3 < halves.mean() < 0.7
    assert samples.var() == pytest.approx(single.var() / 2, rel=0.12)


def test_listed_swaps_are_drawn_anew_for_each_label():
    """64 of them, each as likely as the next, and not the same ones for two labels."""
    listed = xr.Dataset({"samples": ("resample", np.arange(64.0))})
    first, second = (pooling.with_draws(listed, 5, at, 6400).samples.values for at in (0, 1))
    assert scipy.stats.chisquare(np.bincount(first.astype(int), minlength=64)).pvalue > 1e-4
    assert np.mean(first == second) < 0.05
    assert pooling.with_draws(listed, 5, 0, 64) is listed


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("missing", ["pairwise", "available"])
def test_pairs_are_counted_as_the_rule_for_missing_scores_has_it(missing):
    """A system of one language that the metric and the raters saw on different inputs: 10 pairs for 15, or all."""
    part = PARTS["zh-en"].copy(deep=True)
    part.score.loc[{"metric": "a", "system": "s1", "input": slice(0, 14)}] = np.nan
    part.score.loc[{"metric": "human", "system": "s1", "input": slice(15, 29)}] = np.nan
    parts = {**PARTS, "zh-en": part}
    ds = xr.concat(parts.values(), xr.DataArray(list(parts), dims="language", name="language"), join="outer")
    right = pairs = 0
    for each in parts.values():
        x, z = each.score.sel(metric="a"), each.score.sel(metric="human")
        there = (x.notnull() & z.notnull()) if missing == "pairwise" else xr.full_like(x, True, dtype=bool)
        x, z = (values.where(there).mean("input").values for values in (x, z))
        for i, k in itertools.combinations(np.flatnonzero(~np.isnan(x + z)), 2):
            right += (x[i] - x[k]) * (z[i] - z[k]) > 0
            pairs += 1
    assert pairs == 21 + (10 if missing == "pairwise" else 15)
    settings = {"missing": missing, **KW}
    assert float(ds.meta.corr("human", metric="a", **settings).correlation[0]) == pytest.approx(right / pairs)
    test = ds.meta.perm_test("human", metric=["a", "b"], n_resamples=99, rng=1, keep_samples=True, **settings)
    mean = {"en-de": 21, "zh-en": 10 if missing == "pairwise" else 15}
    want = sum(
        pairs * each.meta.perm_test("human", metric=["a", "b"], n_resamples=9, coefficient="pairwise_accuracy",
                                    missing=missing).difference.sel(metric="a", other_metric="b")
        for pairs, each in zip(mean.values(), parts.values(), strict=True)
    ) / sum(mean.values())  # fmt: skip
    assert float(test.difference.sel(metric="a", other_metric="b")) == pytest.approx(float(want))


def test_undefined_draws_are_counted_and_left_out_of_p():
    """A pooled sample is defined where all of its parts are; p is of those."""
    pairs = ("metric", "other_metric")
    parts = [
        xr.Dataset(
            {
                "difference": (pairs, [[value]]),
                "samples": ((*pairs, "resample"), [[samples]]),
                "pvalue": (pairs, [[0.5]]),
            },
            attrs={"analysis": "perm_test"},
        )
        for value, samples in ((0.4, [0.4, 0.1, np.nan, -0.6]), (0.2, [0.2, 0.3, 0.0, -0.6]))
    ]
    weights = [xr.DataArray([[3.0]], dims=pairs), xr.DataArray([[1.0]], dims=pairs)]
    for alternative, beyond in (("greater", 1), ("less", 3), ("two-sided", 2)):
        how = {"alternative": alternative, "n_resamples": 4, "keep_samples": True}
        got = pooling.SWAPS.combine(parts, weights, how)
        assert float(got.difference.squeeze()) == pytest.approx((3 * 0.4 + 0.2) / 4)
        np.testing.assert_allclose(got.samples.squeeze(), [0.35, 0.15, np.nan, -0.6], atol=1e-12)
        assert float(got.pvalue.squeeze()) == (1 + beyond) / (1 + 3) and int(got.n_undefined.squeeze()) == 1


@pytest.mark.parametrize("method", ["jackknife", "bootstrap"])
def test_a_language_without_an_answer_weighs_nothing(ds, method):
    """A metric that scores one system of a language has no pairs there, and the interval of the other language."""
    ds["score"] = ds.score.where((ds.metric != "a") | (ds.language == "en-de") | (ds.system == "s0"))
    how = {"method": method, "coefficient": "pairwise_accuracy"}
    how |= {"n_resamples": 50, "rng": 5} if method == "bootstrap" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        got = ds.meta.ci("human", pool="language", **how).sel(metric="a")
        alone = PARTS["en-de"].meta.ci("human", **how).sel(metric="a")
    assert float(got.correlation) == pytest.approx(float(alone.correlation), abs=1e-12)
    assert np.isfinite(got.ci_low) and np.isfinite(got.ci_high) and np.isfinite(got.standard_error)
    if method == "jackknife":
        for name in ("ci_low", "ci_high", "standard_error", "df"):
            assert float(got[name]) == pytest.approx(float(alone[name]), abs=1e-9), name


@pytest.mark.parametrize("weight, fell_back", [(0.0, False), (1.0, True)])
def test_an_interval_falls_back_by_the_languages_that_weigh_something(weight, fell_back):
    names = ("correlation", "bias", "standard_error", "df", "ci_low", "ci_high", "n_undefined", "fell_back")
    parts = [
        xr.Dataset({name: ("metric", [each]) for name, each in zip(names, row, strict=True)}, attrs=METHOD)
        for row in ((0.5, 0.0, 0.1, 7.0, 0.2, 0.8, 0, False), (0.3, 0.0, 0.2, 5.0, 0.1, 0.7, 0, True))
    ]
    weights = [xr.DataArray([each], dims="metric") for each in (3.0, weight)]
    got = pooling.INTERVALS.combine(parts, weights, {})
    assert got.fell_back.item() is fell_back
    assert got.correlation.item() == pytest.approx((3 * 0.5 + weight * 0.3) / (3 + weight))


def test_too_few_resamples_are_told_before_the_other_labels_are_drawn(ds):
    """The second language, of which the gold is constant, is not reached."""
    ds.score.loc[{"metric": "human", "language": "zh-en"}] = 1.0
    with pytest.warns(UserWarning, match="with 9 resamples"), pytest.raises(ValueError, match="zh-en"):
        ds.meta.perm_test("human", adjust="holm", n_resamples=9, rng=0, **KW)


@pytest.mark.filterwarnings("error")
def test_resamples_are_enough_for_the_pairs_of_two_metrics(ds):
    """One pair needs 19, and two tests would need 39."""
    got = ds.meta.perm_test("human", metric=["a", "b"], adjust="holm", n_resamples=30, rng=0, **KW)
    p = got.pvalue.sel(metric="a", other_metric="b")
    assert float(got.pvalue_adjusted.sel(metric="a", other_metric="b")) == float(p)


def test_of_lazy_scores_a_label_names_its_warnings_but_for_what_may_be_padding():
    said = [
        Said([Caveat("few", "few_systems"), Caveat("empty", "labels_without_cells")], Caveat("wrong", "ValueError"))
    ]
    (found,) = pooling._of_named("language='en'", said)
    assert [*found.caveats] == ["language='en': few"] and found.error == "language='en': wrong"
