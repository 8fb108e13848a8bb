import numpy as np
import pandas as pd
import pytest
import scipy.stats
import xarray as xr
from helpers import as_lazy

import xsumstat
from xsumstat.inference import two_correlations
from xsumstat.inference.intervals import bca_interval
from xsumstat.inference.pvalues import equivalence_pvalues
from xsumstat.resampling import draws


@pytest.fixture
def versions():
    """Two metrics in three languages, the last far worse; a gold, and ratings by three raters in two qualities."""
    ds = xsumstat.simulate(10, 12, agreement={"a": 0.8, "b": 0.5}, rng=0, truth=False)
    rng = np.random.default_rng(1)
    score = ds.score.sel(metric=["a", "b"])
    noise = xr.DataArray([0.0, 0.1, 2.0], {"language": ["en", "de", "hi"]})
    score = score + noise * xr.DataArray(rng.normal(size=(3, *score.shape)), dims=("language", *score.dims))
    human = ds.score.sel(metric="human", drop=True)
    rating = human + xr.DataArray(
        rng.normal(size=(2, 3, 10, 12)),
        {"quality": ["x", "y"], "rater": ["r1", "r2", "r3"]},
        ("quality", "rater", "system", "input"),
    )
    return xr.Dataset({"score": score.transpose("metric", "language", ...), "human": human, "rating": rating})


def flat(ds, base="en"):
    """The same with each version as a metric of its own."""
    parts = [
        ds.score.sel(language=language).assign_coords(metric=[f"{m}-{language}" for m in ds.metric.values])
        for language in ds.language.values
    ]
    return xr.Dataset({"score": xr.concat([part.drop_vars("language") for part in parts], "metric"), "human": ds.human})


OF_AVERAGES = pytest.mark.ignore_codes("average_for_single", "outputs_alike")
SETTINGS = {"level": "input", "coefficient": "kendall", "n_resamples": 400, "rng": 2}


@pytest.mark.parametrize(
    "level, resample, base", [("input", "both", "hi"), ("system", "input", "en"), ("global", "cell", "en")]
)
def test_versions_are_compared_on_the_draws_of_a_difference(versions, level, resample, base):
    """What `ci` draws for two metrics is what a version and its base get; p by counting."""
    settings = {**SETTINGS, "level": level, "resample": resample}
    got = versions.meta.equivalence("human", along="language", base=base, margin=0.1, **settings)
    wide = flat(versions).meta.ci(
        "human", other=[f"{m}-{base}" for m in "ab"], confidence_level=0.9, keep_samples=True, **settings
    )
    assert got.difference.dims == ("metric", "language") and base not in got.language
    for m in "ab":
        for language in got.language.values:
            cell, want = (
                got.sel(metric=m, language=language),
                wide.sel(metric=f"{m}-{language}", other_metric=f"{m}-{base}"),
            )
            for name in ("difference", "ci_low", "ci_high", "n_undefined"):
                assert float(cell[name]) == pytest.approx(float(want[name]), abs=1e-12)
            samples = want.samples.values
            p = max((1 + (samples >= 0.1 - 1e-12).sum()) / 401, (1 + (samples <= -0.1 + 1e-12).sum()) / 401)
            assert float(cell.pvalue) == pytest.approx(p)
            assert bool(cell.equivalent) == (p <= 0.05) and float(cell.margin) == 0.1
    assert got.attrs["along"] == "language" and got.attrs["base"] == base and got.attrs["margin"] == 0.1


def test_metrics_are_compared_both_ways_alike(versions):
    ds = versions.sel(language="en", drop=True)
    got = ds.meta.equivalence("human", other=["a", "b"], margin=0.35, **SETTINGS)
    assert got.pvalue.dims == ("metric", "other_metric")
    np.testing.assert_array_equal(got.pvalue, got.pvalue.values.T)
    np.testing.assert_array_equal(got.difference, -got.difference.values.T)
    np.testing.assert_array_equal(got.ci_low, -got.ci_high.values.T)
    assert np.isnan(got.pvalue.sel(metric="a", other_metric="a")) and not got.equivalent.sel(
        metric="a", other_metric="a"
    )
    holm = ds.meta.equivalence("human", other=["a", "b"], margin=0.35, adjust="holm", **SETTINGS)
    np.testing.assert_array_equal(holm.pvalue_adjusted, got.pvalue)  # one test, not two


@OF_AVERAGES
@pytest.mark.parametrize("method", ["tost_analytic", "anderson_hauck"])
def test_formulas_use_the_three_correlations(versions, method):
    got = versions.meta.equivalence("human", along="language", base="en", margin=0.1, method=method, level="global")
    whole = flat(versions).meta
    between = xsumstat.set_dims(flat(versions)).meta.metric_corr(level="global").correlation
    r = whole.corr("human", level="global").correlation
    for m in "ab":
        for language in ("de", "hi"):
            one, two = f"{m}-{language}", f"{m}-en"
            three = [
                float(r.sel(metric=one)),
                float(r.sel(metric=two)),
                float(between.sel(metric=one, other_metric=two)),
            ]
            p, low, high = (float(each) for each in two_correlations.equivalence(method, *three, 120, 0.1, 0.05))
            cell = got.sel(metric=m, language=language)
            assert [float(cell.pvalue), float(cell.ci_low), float(cell.ci_high)] == pytest.approx([p, low, high])
    lazy = versions.chunk(metric=1).meta.equivalence(
        "human", along="language", base="en", margin=0.1, method=method, level="global"
    )
    xr.testing.assert_allclose(lazy.compute(), got)


@pytest.mark.parametrize("r_2, phi, density", [(0.28, 0.04650, 0.0972), (0.20, 0.9973, 0.0082)])
def test_anderson_hauck_has_the_distribution_function(r_2, phi, density):
    """The code published with Braun et al. has the density in its place: .0972 for .0465, and .0082 for .9973."""
    p, _, _ = two_correlations.equivalence("anderson_hauck", 0.30, r_2, 0.70, 1700, 0.05, 0.05)
    assert float(p) == pytest.approx(phi, abs=5e-5)
    g = float(two_correlations.statistic("williams", 0.30, r_2, 0.70, 1700)) / (0.30 - r_2)
    apart = 0.30 - r_2
    published = scipy.stats.norm.pdf((apart - 0.05) * g) - scipy.stats.norm.pdf((-apart - 0.05) * g)
    assert published == pytest.approx(density, abs=5e-5)


def test_tost_by_formula_is_two_t_tests():
    p, low, high = two_correlations.equivalence("tost_analytic", 0.30, 0.28, 0.70, 1700, 0.05, 0.05)
    assert float(p) == pytest.approx(0.04664, abs=5e-6)
    g = float(two_correlations.statistic("williams", 0.30, 0.28, 0.70, 1700)) / 0.02
    t = scipy.stats.t(1697)
    assert float(p) == pytest.approx(max(t.sf(0.07 * g), t.cdf(-0.03 * g)))
    assert [float(low), float(high)] == pytest.approx([0.02 - t.ppf(0.95) / g, 0.02 + t.ppf(0.95) / g])
    assert (float(p) <= 0.05) == (float(low) > -0.05 and float(high) < 0.05)
    for undefined in ((np.nan, 0.2, 0.3, 20), (0.4, 0.2, 0.3, 3)):
        assert np.isnan(two_correlations.equivalence("anderson_hauck", *undefined, 0.1, 0.05)).all()


def test_p_values_of_draws_are_counted_with_rounding():
    samples = np.array([-0.3, -0.1, 0.1 - 1e-15, 0.0, np.nan, 0.2])
    got = equivalence_pvalues(samples, np.array([0.05, 0.1, 0.25, 0.5]))
    np.testing.assert_allclose(got, [3 / 6, 3 / 6, 2 / 6, 1 / 6])


@pytest.mark.parametrize("name, function", [("rater_sd", "std"), ("rater_range", np.ptp)])
def test_margins_from_raters_are_those_of_pandas(versions, name, function):
    """Correlations of the base version with each single rater, by quality, in ten lines of pandas."""
    gold = versions.rating.mean("rater")
    got = versions.meta.equivalence(gold, along="language", base="en", margin=name, **{**SETTINGS, "level": "global"})
    frame = versions.sel(language="en").score.to_dataframe("score").score.unstack("metric")
    rated = versions.rating.to_dataframe("rating").rating.unstack(["quality", "rater"])
    for m in "ab":
        for quality in ("x", "y"):
            r = pd.Series(
                {
                    rater: scipy.stats.kendalltau(
                        *pd.concat([frame[m], rated[quality, rater]], axis=1).to_numpy().T
                    ).statistic
                    for rater in ("r1", "r2", "r3")
                }
            )
            here = got.margin.sel(metric=m, quality=quality)
            np.testing.assert_allclose(here, r.agg(function) if function == "std" else np.ptp(r.to_numpy()), atol=1e-12)


@pytest.mark.parametrize("name", ["rater_sd", "rater_range"])
def test_raters_who_rated_nothing_of_a_label_are_left_out(versions, name):
    """Padding is none of the raters: the margins are those of the raters who are there, label by label."""
    extra = versions.rating.isel(rater=[0, 1]).assign_coords(rater=["r4", "r5"]).where(False)
    padded = xr.concat([versions.rating, extra], "rater")
    padded = padded.where((padded.quality == "x") | (padded.rater != "r2"))
    gold = versions.rating.mean("rater")
    how = {"along": "language", "base": "en", "margin": name, **SETTINGS}
    got = versions.assign(rating=padded).meta.equivalence(gold, **how)
    for quality, raters in (("x", ["r1", "r2", "r3"]), ("y", ["r1", "r3"])):
        rating = versions.rating.sel(quality=[quality], rater=raters)
        here = gold.sel(quality=[quality])
        want = versions.drop_vars("rating").meta.equivalence(here, rating=rating, **how).sel(quality=quality)
        here = got.sel(quality=quality)
        for variable in ("margin", "pvalue", "equivalent"):
            np.testing.assert_array_equal(here[variable], want[variable])
    assert bool(got.margin.notnull().all())


@OF_AVERAGES
@pytest.mark.parametrize(
    "name, method",
    [
        ("rater_sd", "tost"),
        ("rater_range", "jackknife"),
        ("rater_range", "tost_analytic"),
        ("rater_sd", "anderson_hauck"),
    ],
)
def test_one_rater_has_no_spread(versions, name, method):
    """No margin, no p-value, no verdict, and a warning that says for what; the other label keeps its own."""
    rating = versions.rating.where((versions.rating.quality == "x") | (versions.rating.rater == "r2"))
    gold = versions.rating.mean("rater")
    how = {"along": "language", "base": "en", "margin": name, "method": method, **SETTINGS}
    with pytest.warns(UserWarning, match=f"margin '{name}' is not defined, .* no p-value for 'a/y', 'b/y'"):
        got = versions.meta.equivalence(gold, rating=rating, adjust="by", **how)
    lost, kept = got.sel(quality="y"), got.sel(quality="x")
    for variable in ("margin", "pvalue", "pvalue_adjusted"):
        assert np.isnan(lost[variable]).all()
    assert not lost.equivalent.any() and lost.difference.notnull().all()
    whole = versions.meta.equivalence(gold, **how).sel(quality="x")
    np.testing.assert_array_equal(kept.pvalue, whole.pvalue)
    n = kept.pvalue.size
    ordered = np.sort(kept.pvalue.values.ravel())  # Benjamini-Yekutieli over the tests that there are
    least = (ordered * n / np.arange(1, n + 1)).min() * (1 / np.arange(1, n + 1)).sum()
    assert float(kept.pvalue_adjusted.min()) == pytest.approx(min(1.0, least))


def test_a_rater_whose_ratings_are_all_equal_leaves_no_margin(versions):
    """One who rated has a say: without a correlation there is no spread of the correlations."""
    rating = versions.rating.sel(quality="x", drop=True)
    rating = rating.where(rating.rater != "r2", 3.0)
    with pytest.warns(UserWarning) as caught:
        got = versions.meta.equivalence(
            "human", along="language", base="en", margin="rater_sd", rating=rating, **SETTINGS
        )
    texts = [str(each.message) for each in caught]
    assert any(
        "gold 'rating' is constant, so correlations are undefined (NaN), for rater 'r2'" in text for text in texts
    )
    assert any("margin 'rater_sd' is not defined" in text and "'a', 'b'" in text for text in texts)
    assert np.isnan(got.pvalue).all() and not got.equivalent.any()


@OF_AVERAGES
@pytest.mark.parametrize("method", ["tost", "jackknife", "anderson_hauck"])
def test_margins_of_ones_own_with_gaps(versions, method):
    """A margin that is not known gives no p-value; of two metrics neither margin may be unknown."""
    how = {"method": method, **SETTINGS}
    margin = xr.DataArray([[0.3, np.nan], [0.2, 0.05]], {"metric": ["a", "b"], "language": ["de", "hi"]})
    with pytest.warns(UserWarning, match="the margin is NaN, and so is the p-value, for 'a/hi'"):
        got = versions.meta.equivalence("human", along="language", base="en", margin=margin, **how)
    assert np.isnan(got.pvalue.sel(metric="a", language="hi")) and int(got.pvalue.isnull().sum()) == 1
    want = versions.meta.equivalence("human", along="language", base="en", margin=margin.fillna(1.0), **how)
    np.testing.assert_array_equal(got.pvalue, want.pvalue.where(margin.notnull()).transpose(*got.pvalue.dims))
    ds = versions.sel(language="en", drop=True)
    for one, two in ((0.3, np.nan), (np.nan, 0.3)):
        own = xr.DataArray([one, two], {"metric": ["a", "b"]})
        with pytest.warns(UserWarning, match="the margin is NaN, and so is the p-value, for '[ab]'"):
            pair = ds.meta.equivalence("human", metric="a", other="b", margin=own, **how)
        assert np.isnan(pair.margin).all() and np.isnan(pair.pvalue).all() and not pair.equivalent.any()
    unused = xr.DataArray([0.3, 0.2, np.nan], {"metric": ["a", "b", "c"]})
    assert ds.meta.equivalence("human", other=["a", "b"], margin=unused, **how).pvalue.notnull().any()


def test_margins_from_summevals_experts(summeval):
    """Three experts in five columns, of which two are empty: the standard deviation of three correlations."""
    metrics = ["rouge-1_f1", "bertscore_f1"]
    rating = summeval.rating.sel(judgment="expert_relevance", drop=True)
    how = {"metric": metrics[0], "other": metrics[1], "margin": "rater_sd", "level": "global", "resample": "cell"}
    how |= {"coefficient": "kendall_c", "n_resamples": 2000, "rng": 0}
    got = summeval.meta.equivalence("expert_relevance", rating=rating, **how).squeeze()
    spreads = []
    for metric in metrics:
        x = summeval.score.sel(metric=metric).transpose("system", "input").values.ravel()
        r = [
            scipy.stats.kendalltau(
                x, rating.sel(rater=rater).transpose("system", "input").values.ravel(), variant="c"
            ).statistic
            for rater in (1, 2, 3)
        ]
        spreads.append(np.std(r, ddof=1))
    assert float(got.margin) == pytest.approx(min(spreads), abs=1e-12) == pytest.approx(0.0519, abs=5e-5)
    assert float(got.pvalue) == pytest.approx(0.017, abs=0.008) and bool(got.equivalent)
    three = summeval.meta.equivalence("expert_relevance", rating=rating.sel(rater=[1, 2, 3]), **how).squeeze()
    assert float(three.pvalue) == float(got.pvalue)
    all_at_once = summeval.rating.sel(judgment=["expert_relevance", "turker_relevance"])
    gold = all_at_once.mean("rater")
    both = summeval.meta.equivalence(gold, rating=all_at_once, **how)
    assert float(both.margin.sel(judgment="expert_relevance").squeeze()) == pytest.approx(min(spreads), abs=1e-12)
    assert both.margin.notnull().all()


def test_margins_of_ones_own(versions):
    margin = xr.DataArray([[0.3, 0.1], [0.2, 0.05]], {"metric": ["b", "a"], "language": ["hi", "de"]})
    got = versions.meta.equivalence("human", along="language", base="en", margin=margin, **SETTINGS)
    xr.testing.assert_allclose(got.margin.drop_attrs(), margin.sel(metric=got.metric, language=got.language))
    for m, language in (("a", "de"), ("b", "hi")):
        alone = versions.meta.equivalence(
            "human", along="language", base="en", margin=float(margin.sel(metric=m, language=language)), **SETTINGS
        )
        assert float(got.pvalue.sel(metric=m, language=language)) == float(
            alone.pvalue.sel(metric=m, language=language)
        )
    pairs = versions.sel(language="en", drop=True).meta.equivalence(
        "human", other=["a", "b"], margin=margin.sel(language="de", drop=True), **SETTINGS
    )
    assert float(pairs.margin.sel(metric="a", other_metric="b")) == 0.05  # the smaller


@OF_AVERAGES
@pytest.mark.parametrize("method", ["tost", "jackknife", "anderson_hauck"])
def test_sensitivity_is_equivalence_at_each_margin(versions, method):
    gold = versions.rating.mean("rater")
    grid = [0.1, 0.4]
    how = {"along": "language", "base": "en", "method": method, **SETTINGS}
    curve = versions.meta.margin_sensitivity(gold, margins=grid, by="quality", **how)
    assert set(curve["share"].dims) == {"margin", "quality"} and (curve.n_tests == 4).all()
    corrected = versions.meta.margin_sensitivity(gold, margins=grid, adjust="by", within="metric", **how)
    for margin in grid:
        one = versions.meta.equivalence(gold, margin=margin, **how)
        np.testing.assert_allclose(curve["share"].sel(margin=margin), one.equivalent.mean(("metric", "language")))
        one = versions.meta.equivalence(gold, margin=margin, adjust="by", within="metric", **how)
        assert float(corrected["share"].sel(margin=margin)) == pytest.approx(float(one.equivalent.mean()))


def test_dominance_counts_the_draws(versions):
    got = versions.meta.dominance("human", along="language", base="en", threshold=0.9, **SETTINGS)
    for language in versions.language.values:
        drawn = versions.sel(language=language, drop=True).meta.ci(
            "human", other=["a", "b"], keep_samples=True, **SETTINGS
        )
        samples = drawn.samples.sel(metric="a", other_metric="b").values
        p = (samples > 1e-12).mean() + (abs(samples) <= 1e-12).mean() / 2
        here = got.sel(language=language)
        assert float(here.probability.sel(metric="a", other_metric="b")) == pytest.approx(p)
        assert float(here.probability.sel(metric="b", other_metric="a")) == pytest.approx(1 - p)
        assert bool(here.resolved.sel(metric="b", other_metric="a")) == (p >= 0.9 or p <= 0.1)
    p = got.probability.sel(metric="a", other_metric="b")
    assert float(p.sel(language="en")) >= 0.9  # or there would be no shift to look at
    shift = got.probability_shift.sel(metric="b", other_metric="a", language="hi")
    assert float(shift) == pytest.approx(float(p.sel(language="hi") - p.sel(language="en")))
    assert float(got.mean_shift.sel(language="hi")) == pytest.approx(float(shift))
    assert not got.resolved.sel(metric="a", other_metric="a").any()


@pytest.mark.ignore_codes("direction", "leakage")
def test_an_order_is_resolved_from_the_threshold_on(versions):
    """That all draws agree on, even where all must."""
    ds = xr.Dataset({"score": versions.score.sel(language="en", drop=True), "human": versions.human})
    ds["score"] = xr.where(ds.metric == "a", ds.human, -ds.human).transpose(*ds.score.dims)
    found = ds.meta.dominance("human", threshold=1.0, n_resamples=19, rng=0)
    assert found.probability.values[[0, 1], [1, 0]].tolist() == [1.0, 0.0]
    assert found.resolved.values[[0, 1], [1, 0]].tolist() == [True, True]


def test_pairs_that_the_base_does_not_resolve_do_not_count(versions):
    score = xr.concat([versions.score, versions.score.sel(metric=["a"]).assign_coords(metric=["c"])], "metric")
    ds = xr.Dataset({"score": score, "human": versions.human})
    got = ds.meta.dominance("human", along="language", base="en", **SETTINGS)
    assert float(got.probability.sel(metric="a", other_metric="c", language="en")) == 0.5
    assert np.isnan(got.probability_shift.sel(metric="a", other_metric="c")).all()
    resolved = got.resolved.sel(language="en")
    want = got.probability_shift.sel(language="hi").where(resolved).mean()
    assert float(got.mean_shift.sel(language="hi")) == pytest.approx(float(want))


@pytest.mark.parametrize(
    "question, keywords",
    [
        ("equivalence", {"along": "language", "base": "en", "margin": 0.1}),
        ("equivalence", {"other": ["a", "b"], "margin": 0.3, "adjust": "by"}),
        ("equivalence", {"along": "language", "base": "en", "margin": 0.1, "method": "jackknife"}),
        ("margin_sensitivity", {"along": "language", "base": "hi", "margins": [0.1, 0.4], "method": "jackknife"}),
        ("margin_sensitivity", {"along": "language", "base": "hi", "margins": [0.1, 0.4]}),
        ("dominance", {}),
        ("dominance", {"along": "language", "base": "en", "threshold": 0.9}),
    ],
)
def test_lazy_answers_of_draws_are_the_eager_ones(versions, question, keywords):
    """To the last bit, with more than one block of resamples; nothing is computed before it is asked for."""
    settings = {**SETTINGS, "coefficient": "pearson", "n_resamples": 1500}
    want = getattr(versions.meta, question)("human", **keywords, **settings)
    got = getattr(versions.chunk(metric=1).meta, question)("human", **keywords, **settings)
    computed = {"margin"}  # it is checked at once
    assert all(values.chunks is not None for name, values in got.data_vars.items() if name not in computed)
    xr.testing.assert_identical(got.compute(), as_lazy(want))


# --- cells ---


@pytest.mark.parametrize("name", ["pearson", "kendall"])
@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_cells_are_drawn_one_by_one(versions, name, interval):
    """All cells that have gold and a score, as one sample of pairs: SciPy's coefficient of each draw."""
    ds = versions.sel(language="de", drop=True).copy(deep=True)
    ds.human[3, 4] = np.nan
    got = ds.meta.ci(
        "human", metric="a", level="global", coefficient=name, resample="cell", interval=interval, n_resamples=60,
        rng=7, keep_samples=True,
    )  # fmt: skip
    x, z = ds.score.sel(metric="a").transpose("system", "input").values.ravel(), ds.human.values.ravel()
    x, z = x[~np.isnan(z)], z[~np.isnan(z)]
    function = {"pearson": scipy.stats.pearsonr, "kendall": scipy.stats.kendalltau}[name]
    want = [
        function(np.repeat(x, counts), np.repeat(z, counts)).statistic
        for counts in draws.counts(7, "cell", len(x), 0, 60)
    ]
    np.testing.assert_allclose(got.samples[0], want, atol=1e-12)
    if interval == "bca":
        left_out = [np.array([function(np.delete(x, at), np.delete(z, at)).statistic for at in range(len(x))])]
        low, high, *_ = bca_interval(function(x, z).statistic, np.array(want), left_out, 0.95)
        np.testing.assert_allclose([got.ci_low[0], got.ci_high[0]], [low, high], atol=1e-9)
    lazy = ds.chunk(metric=1).meta.ci(
        "human", metric="a", level="global", coefficient=name, resample="cell", interval=interval, n_resamples=60, rng=7
    )
    xr.testing.assert_identical(lazy.compute(), as_lazy(got.drop_vars("samples")))


def test_braun_table_1_on_summeval(summeval):
    """BERTScore F1 with the experts' means, tau-b over cells; the paper had 17 systems and another BERTScore."""
    published = {"expert_consistency": (0.041, 0.117), "expert_fluency": (0.062, 0.135)}
    for gold, limits in published.items():
        got = summeval.meta.ci(
            gold, metric="bertscore_f1", level="global", coefficient="kendall", resample="cell", n_resamples=2000, rng=0
        )
        np.testing.assert_allclose([got.ci_low[0], got.ci_high[0]], limits, atol=0.007)


# --- calibration ---


@OF_AVERAGES
@pytest.mark.slow
def test_tost_keeps_its_level_on_the_edge_of_the_margin():
    """Two metrics whose true difference is the margin: equivalence is false, and found in at most 5 %."""
    agreement = {"a": 0.7, "b": 0.5}
    truth = xsumstat.simulate(12, 20, agreement=agreement, rng=0).truth.sel(level="input", coefficient="pearson")
    margin = float(truth.sel(metric="a") - truth.sel(metric="b"))
    found = dict.fromkeys(("tost", "tost_analytic", "anderson_hauck"), 0)
    for batch in range(10):
        trials = range(30 * batch, 30 * batch + 30)
        ds = xr.concat(
            [xsumstat.simulate(12, 20, agreement=agreement, rng=trial, truth=False) for trial in trials], "trial"
        )
        for method in found:
            test = ds.meta.equivalence(
                metric="a", other="b", margin=margin, method=method, level="input", n_resamples=299, rng=batch
            )
            found[method] += int(test.equivalent.sum())
    limit = 300 * 0.05 + 3.5 * np.sqrt(300 * 0.05 * 0.95)
    assert max(found.values()) <= limit


@pytest.mark.slow
def test_tost_finds_equivalence_as_scores_grow():
    """Two metrics that are as good: found never with few systems, always with many."""
    shares = []
    for n_systems, n_inputs in ((6, 10), (20, 40), (40, 150)):
        hits = 0
        for trial in range(20):
            ds = xsumstat.simulate(n_systems, n_inputs, agreement={"a": 0.6, "b": 0.6}, rng=trial, truth=False)
            test = ds.meta.equivalence(metric="a", other="b", margin=0.15, level="input", n_resamples=199, rng=trial)
            hits += bool(test.equivalent.any())
        shares.append(hits / 20)
    assert shares[0] <= 0.2 and shares == sorted(shares) and shares[-1] == 1


# --- bad input ---


@pytest.mark.parametrize(
    "keywords, error, message",
    [
        ({"along": None}, ValueError, "give either other= .*along= .*base= "),
        ({"other": "b"}, ValueError, "give either other="),
        ({"along": "languag"}, ValueError, "unknown along 'languag'; did you mean 'language'"),
        ({"base": "fr"}, ValueError, "unknown base 'fr'.*labels of language: 'en', 'de', 'hi'"),
        ({"margin": 0}, ValueError, "margin must be above 0, got 0"),
        ({"margin": 5}, ValueError, "margin must be at most 2, the largest difference .*, got 5; write 0.05 for 5 %"),
        ({"margin": 2.01}, ValueError, "margin must be at most 2"),
        (
            {"margin": 1.01, "coefficient": "pairwise_accuracy"},
            ValueError,
            "margin must be at most 1, .*'pairwise_accuracy'",
        ),
        ({"margin": "wide"}, ValueError, "margin must be one of 'rater_sd', 'rater_range', got 'wide'"),
        ({"margin": xr.DataArray([0.1], dims="corpus")}, ValueError, "unknown dim of margin 'corpus'"),
        ({"margin": xr.DataArray([0.1], {"metric": ["a"]})}, ValueError, "that margin lacks: 'b'"),
        ({"margin": "rater_sd", "rating": "votes"}, ValueError, "the Dataset has no variable 'votes'; pass rating="),
        ({"margin": "rater_sd", "rating": "human"}, ValueError, "rating must be a DataArray with a dim 'rater'"),
        ({"margin": "rater_sd"}, ValueError, "unknown dim of margin 'quality'; dims of the comparisons"),
        ({"method": "t"}, ValueError, "method must be one of 'tost', 'jackknife', .*, got 't'"),
        ({"alpha": 0.5}, ValueError, "alpha must be below 0.5"),
        ({"resample": "cell"}, ValueError, "needs level='global', and cannot be combined"),
        (
            {"method": "jackknife", "resample": "cell", "level": "global"},
            ValueError,
            "resample='cell' needs method='tost'",
        ),
        ({"within": "metric"}, ValueError, "needs adjust="),
        ({"adjust": "by", "within": "quality"}, ValueError, "unknown dim in within 'quality'"),
    ],
)
def test_bad_keywords(versions, keywords, error, message):
    with pytest.raises(error, match=message):
        versions.meta.equivalence("human", **{"along": "language", "base": "en", "margin": 0.1, **SETTINGS, **keywords})


def test_other_bad_input(versions):
    how = {"along": "language", "base": "en"}
    with pytest.raises(ValueError, match="gold has the dim 'language' too; select one label"):
        versions.meta.equivalence(versions.score.sel(metric="b", drop=True), metric="a", margin=0.1, **how)
    with pytest.raises(ValueError, match="margins must be a list of numbers above 0 in ascending order"):
        versions.meta.margin_sensitivity("human", margins=[0.2, 0.1], **how)
    with pytest.raises(ValueError, match="each of margins must be at most 2, .* got 10; write 0.1 for 10 %"):
        versions.meta.margin_sensitivity("human", margins=[1, 5, 10], **how)
    whole = versions.meta.margin_sensitivity("human", margins=[1, 2], **how)  # a curve may end where all are equivalent
    assert whole.share.sel(margin=2).min() == 1
    with pytest.raises(ValueError, match="unknown dim in by 'rater'"):
        versions.meta.margin_sensitivity("human", by="rater", **how)
    with pytest.raises(ValueError, match="threshold must be at least 0.5 and at most 1"):
        versions.meta.dominance("human", threshold=97.5)
    with pytest.raises(ValueError, match="only one label along 'language': 'en'"):
        versions.isel(language=[0]).meta.equivalence("human", margin=0.1, **how)


@OF_AVERAGES
@pytest.mark.parametrize("method", ["tost", "jackknife", "anderson_hauck"])
def test_each_label_has_its_own_margin(versions, method):
    """Score with a corpus besides the language, gold with a quality, labels in another order: cell by cell alone."""
    rng = np.random.default_rng(3)
    noise = xr.DataArray(rng.normal(size=(2, 10, 12)), {"corpus": ["c1", "c2"]}, ("corpus", "system", "input"))
    ds = xr.Dataset(
        {"score": (versions.score + 0.5 * noise).transpose("input", "metric", "corpus", "system", "language")}
    )
    gold = versions.rating.mean("rater").transpose("system", "quality", "input").rename("gold")
    margin = xr.DataArray(
        rng.uniform(0.05, 0.4, (2, 2, 2)), {"quality": ["y", "x"], "corpus": ["c2", "c1"], "metric": ["b", "a"]}
    )
    how = {"along": "language", "base": "en", "method": method, **SETTINGS, "n_resamples": 99}
    got = ds.meta.equivalence(gold, margin=margin, **how)
    for quality, corpus, metric in (("x", "c1", "a"), ("y", "c1", "b"), ("x", "c2", "b")):
        here = {"quality": quality, "corpus": corpus, "metric": metric}
        alone = ds.sel(corpus=corpus, drop=True).meta.equivalence(
            gold.sel(quality=quality, drop=True), metric=metric, margin=float(margin.sel(here)), **how
        )
        for name in ("difference", "pvalue", "margin", "ci_low"):
            np.testing.assert_allclose(got[name].sel(here), alone[name].squeeze("metric"), atol=1e-12)


def test_a_p_value_of_alpha_itself_is_equivalence(versions):
    """Also in the share of equivalent pairs; p-values of draws do not depend on alpha."""
    how = {"along": "language", "base": "en", "n_resamples": 199, "rng": 3, "level": "input"}
    p = versions.meta.equivalence("human", margin=0.2, **how).pvalue
    alphas = [each for each in np.unique(p.values[~np.isnan(p.values)]) if 0 < each < 0.5]
    assert alphas
    for at in alphas:
        for alpha in (float(at), float(np.nextafter(at, 0.0))):
            got = versions.meta.equivalence("human", margin=0.2, alpha=alpha, **how)
            np.testing.assert_array_equal(got.pvalue, p)
            np.testing.assert_array_equal(got.equivalent, p.values <= alpha)
            shares = versions.meta.margin_sensitivity("human", margins=[0.2], alpha=alpha, adjust=None, **how)
            counted = (shares.share * shares.n_tests).sum() if shares.share.ndim else shares.share * shares.n_tests
            assert int(counted.round()) == int((p <= alpha).sum())


def test_a_shift_counts_where_the_base_reaches_the_threshold_itself(versions):
    how = {"along": "language", "base": "en", "n_resamples": 40, "rng": 3, "level": "input", "metric": ["a", "b"]}
    ahead = versions.meta.dominance("human", **how).probability.sel(language="en")
    share = float(ahead.sel(metric="a", other_metric="b"))
    threshold = max(share, 1 - share)
    assert 0.5 < threshold <= 1
    at_it = versions.meta.dominance("human", threshold=threshold, **how)
    assert (
        at_it.resolved.sel(language="en", metric="a", other_metric="b")
        and at_it.mean_shift.sel(language="hi").notnull()
    )
    if threshold < 1:
        above = versions.meta.dominance("human", threshold=float(np.nextafter(threshold, 1)), **how)
        assert not above.resolved.sel(language="en").any() and above.mean_shift.isnull().all()


def test_margins_of_a_grid_rise(versions):
    for wrong in ([0.1, 0.1], [0.2, 0.1]):
        with pytest.raises(ValueError, match="in ascending order"):
            versions.meta.margin_sensitivity("human", margins=wrong)
