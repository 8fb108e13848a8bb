"""Whether errors of metrics move with covariates: `bias` and its picture."""

import bias_twin
import noisy_gold_twin
import numpy as np
import pytest
import xarray as xr
from scipy import stats

import xsumstat

NAMES = ("slope", "standard_error", "df")


@pytest.fixture
def ds():
    return xsumstat.load_dataset("demo").drop_vars("truth").isel(input=slice(7))


def values(ds, *metrics):
    return [ds.score.sel(metric=metric).values for metric in metrics]


def numbers(found, metric, covariate):
    return [found[name].sel(metric=metric, covariate=covariate).item() for name in NAMES]


@pytest.mark.parametrize("method", ["regression", "difference"])
@pytest.mark.parametrize("level", ["system", "input", "global"])
def test_numbers_are_those_of_the_twin(ds, level, method):
    """One covariate by itself, the number by regression and the group by differences; both together by both."""
    ds = ds.isel(input=slice(5))
    x, z, c = values(ds, "judge", "human", "length")
    group = np.repeat((ds.system_type == "extractive").values.astype(float)[:, None], 5, axis=1)
    found = ds.meta.bias("human", given=["length", "system_type"], level=level, method=method)
    alone = {"regression": ("length", c, False), "difference": ("system_type=extractive", group, True)}
    covariate, each, is_group = alone[method]
    expected = bias_twin.slopes(x, z, [each], level, method, (is_group,))[:, 0]
    np.testing.assert_allclose(numbers(found, "judge", covariate), expected, rtol=1e-6)
    assert found.is_group.sel(covariate=["length", "system_type=extractive"]).values.tolist() == [False, True]
    both = ds.meta.bias(
        "human", metric="judge", given=["length", "system_type"], level=level, method=method, joint=True
    )
    expected = bias_twin.slopes(x, z, [c, group], level, method, (False, True))
    np.testing.assert_allclose([both[name].values[0] for name in NAMES], expected, rtol=1e-6)


def test_numbers_within_systems_are_those_of_the_twin(ds):
    ds = ds.isel(input=slice(5)).assign_coords(words=("input", [3.0, 1.0, 4.0, 1.5, 9.0]))
    x, z, length = values(ds, "judge", "human", "length")
    words = np.repeat(ds.words.values[None], len(x), axis=0)
    for given, covariate in (("length", length), ("words", words)):
        found = ds.meta.bias("human", metric="judge", given=given, level="within_system")
        expected = bias_twin.slopes(x, z, [covariate], "within_system", "regression", (False,))[:, 0]
        np.testing.assert_allclose(numbers(found, "judge", given), expected, rtol=1e-6)


def test_limits_and_pvalues_are_of_t(ds):
    found = ds.meta.bias("human", given="length", confidence_level=0.9)
    slope, error, df = (found[name].values for name in NAMES)
    np.testing.assert_allclose(found.ci_high, slope + stats.t.ppf(0.95, df) * error, rtol=1e-9)
    np.testing.assert_allclose(found.ci_low, slope - stats.t.ppf(0.95, df) * error, rtol=1e-9)
    np.testing.assert_allclose(found.pvalue, 2 * stats.t.sf(abs(slope) / error, df), rtol=1e-9)
    assert "length" not in found.metric.values
    assert found.meta.adjust("holm").pvalue_adjusted.shape == found.pvalue.shape


def test_a_metric_that_is_better_when_lower_is_turned(ds):
    found = ds.meta.bias("human", metric="perplexity", given="length").slope.item()
    x, z, c = values(ds, "perplexity", "human", "length")
    assert found == pytest.approx(bias_twin.slopes(-x, z, [c], "system", "regression", (False,))[0, 0], rel=1e-9)


def test_each_of_three_words_is_set_against_the_rest(ds):
    words = ["a", "b", "c", "a", "b", "c", "a", "b", "c", "a", "b", "c"]
    ds = ds.assign_coords(family=("system", words))
    found = ds.meta.bias("human", metric="judge", given="family")
    assert found.covariate.values.tolist() == ["family=a", "family=b", "family=c"]
    one = ds.assign(is_b=ds.family == "b").meta.bias("human", metric="judge", given="is_b")
    assert one.is_group.item() is True and one.slope.item() == pytest.approx(found.slope[0, 1].item(), abs=1e-12)
    joint = ds.meta.bias("human", metric="judge", given="family", joint=True)
    assert joint.covariate.values.tolist() == ["family=b", "family=c"]


def test_systems_are_groups_of_their_own(ds):
    """By their names, also where these are numbers."""
    ds = ds.isel(system=slice(3)).assign_coords(system=[10, 20, 30])
    found = ds.meta.bias("human", metric="judge", given="system", resample="input")
    assert found.covariate.values.tolist() == ["system=10", "system=20", "system=30"] and found.is_group.values.all()
    named = ds.assign_coords(who=("system", ["10", "20", "30"]))
    again = named.meta.bias("human", metric="judge", given="who", resample="input")
    np.testing.assert_allclose(found.slope, again.slope)
    assert again.attrs["resample"] == found.attrs["resample"] == "input"
    with pytest.raises(ValueError, match="unknown given='systems'; did you mean 'system'"):
        ds.meta.bias("human", given="systems")


def test_many_systems_as_groups_are_these_systems(ds):
    """A single system tells nothing of others like it, so the default is over inputs alone, with a result."""
    assert ds.sizes["system"] >= 5
    usual = ds.meta.bias("human", metric="judge", given="system")
    assert usual.identical(ds.meta.bias("human", metric="judge", given="system", resample="input"))
    assert usual.pvalue.notnull().all() and usual.attrs["scope"] == "these systems"


@pytest.mark.parametrize("effect", [0.0, 2.0])
def test_what_is_built_in_is_found(effect):
    rng = np.random.default_rng(4)
    quality = rng.normal(size=(40, 1)) + 0.3 * rng.normal(size=(40, 50))
    own = np.repeat([1.0, 0.0], 20)[:, None]
    x = quality + effect * own + 0.3 * rng.normal(size=(40, 1)) + rng.normal(size=(40, 50))
    score = xr.DataArray(np.array([quality, x]), {"metric": ["human", "judge"]}, ("metric", "system", "input"))
    ds = xr.Dataset({"score": score}).assign_coords(family=("system", ["other"] * 20 + ["own"] * 20))
    found = ds.meta.bias("human", given="family")
    assert (found.pvalue.item() < 0.05) == (effect > 0)
    if effect:
        spread = np.sqrt(1 + 0.09 + 1.0 + (0.09 + 1) / 50)
        assert found.ci_low.item() < -effect / spread < found.ci_high.item()
        assert "judge (slope -1." in found.meta.conclusion() and "of family=own too low" in found.meta.conclusion()
    else:
        said = "No significant bias by family=own (1 metric). This does not show that there is none: slopes may lie"
        assert found.meta.conclusion().startswith(f"{said} within [")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_lazy_scores_and_further_labels_give_the_same(ds):
    pytest.importorskip("dask")
    both = xr.concat([ds[["score"]], ds[["score"]] ** 2], "language").assign_coords(language=["en", "de"])
    found = both.meta.bias("human", given=["length", "bleu"])
    lazy = both.chunk(metric=1, system=5).meta.bias("human", given=["length", "bleu"])
    assert lazy.slope.chunks is not None
    xr.testing.assert_identical(lazy.compute(), found)
    for label in ("en", "de"):
        alone = both.sel(language=label).meta.bias("human", given=["length", "bleu"])
        np.testing.assert_array_equal(found.ci_low.sel(language=label), alone.ci_low)


@pytest.mark.parametrize("covariates", ["length", ["length", "bleu"]])
def test_a_bar_moves_with_the_metrics(ds, capsys, covariates):
    pytest.importorskip("tqdm")
    found = ds.meta.bias("human", given=covariates, level="input", progress=True)
    n = found.sizes["metric"]
    assert f"{n}/{n}" in capsys.readouterr().err
    xr.testing.assert_identical(found, ds.meta.bias("human", given=covariates, level="input", progress=False))
    assert "slopes" not in capsys.readouterr().err


def test_what_cannot_be_told_is_told(ds):
    alone = ds.assign_coords(family=("system", ["one", *["many"] * 11]))
    with pytest.warns(
        UserWarning, match="no interval, because the slope is undefined without one system, input or cluster"
    ):
        found = alone.meta.bias("human", metric="judge", given="family")
    assert np.isfinite(found.slope).all() and np.isnan(found.ci_low).all() and np.isnan(found.pvalue).all()
    known = alone.meta.bias("human", metric="judge", given="family", resample="input")
    assert np.isfinite(known.ci_low).all() and known.df.item() == 6
    assert "No bias can be tested for family=one." in found.meta.conclusion()


@pytest.mark.parametrize(
    ("keywords", "text"),
    [
        ({}, "bias needs given"),
        ({"given": "length", "method": "ratio"}, "method must be"),
        ({"given": "length", "level": "cell"}, "level must be"),
        ({"given": "system_type", "level": "within_system"}, "does not vary among the inputs"),
        ({"given": "length", "resample": "cell"}, "resample must"),
        ({"given": "nothing"}, "unknown given='nothing'"),
        ({"given": "length", "confidence_level": 1.5}, "confidence_level must"),
        ({"given": "length", "progress": "yes"}, "progress must"),
    ],
)
def test_bad_questions_are_refused(ds, keywords, text):
    with pytest.raises((ValueError, TypeError), match=text):
        ds.meta.bias("human", **keywords)


def test_the_picture_draws_the_numbers(ds):
    plt = pytest.importorskip("matplotlib.pyplot")
    found = ds.meta.bias("human", given=["length", "system_type"], level="global")
    axes = found.meta.plot.bias(order="given")
    assert [axis.get_title() for axis in axes] == ["length", "system_type=extractive"]
    assert [text.get_text() for text in axes[0].get_yticklabels()] == found.metric.values.tolist()
    for at, axis in enumerate(axes):
        (bars,) = axis.collections
        ends = np.array([segment[:, 0] for segment in bars.get_segments()])
        np.testing.assert_allclose(ends, np.array([found.ci_low[:, at], found.ci_high[:, at]]).T)
        clear, unclear = axis.lines[:2]
        drawn = sorted([*clear.get_xdata(), *unclear.get_xdata()])
        np.testing.assert_allclose(drawn, np.sort(found.slope[:, at]))
        there = (found.ci_low[:, at] > 0) | (found.ci_high[:, at] < 0)
        assert len(clear.get_xdata()) == there.sum()
        np.testing.assert_allclose(np.sort(clear.get_xdata()), np.sort(found.slope[:, at][there]))
        assert clear.get_markerfacecolor() == clear.get_markeredgecolor()  # filled where the interval excludes 0
        assert unclear.get_markerfacecolor() != unclear.get_markeredgecolor()
    plt.close("all")
    without_end = found.isel(covariate=0, metric=[0, 1]).copy(deep=True)
    without_end["ci_low"][0], without_end["ci_high"][1] = -np.inf, np.inf
    axis = without_end.meta.plot.bias(order="given")
    (left, right), ends = axis.get_xlim(), [segment[:, 0] for segment in axis.collections[0].get_segments()]
    np.testing.assert_allclose(ends[0], [left, float(without_end.ci_high[0])])
    np.testing.assert_allclose(ends[1], [float(without_end.ci_low[1]), right])
    plt.close("all")
    axis = found.meta.plot.bias(hue="covariate", metric="judge", title="who favours whom")
    assert [text.get_text() for text in axis.figure.legends[0].get_texts()][:2] == ["length", "system_type=extractive"]
    plt.close("all")
    with pytest.raises(ValueError, match="hue"):
        found.meta.plot.bias(hue="metric")
    with pytest.raises(ValueError, match="draws a result of ds.meta.bias, but this is a result of ci"):
        ds.meta.ci("human").meta.plot.bias()


# --- Ratings by several people, and noise in the human scores ---


def rated(systems=3, inputs=40, raters=3, gaps=0.2, rho=0.5, seed=0, gamma=0.0):
    """An unbiased judge, ratings with offsets and gaps, and a length that goes with quality."""
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(systems, inputs))
    length = rho * q + np.sqrt(1 - rho**2) * rng.normal(size=q.shape)
    judge = q + gamma * length + 0.6 * rng.normal(size=q.shape)
    ratings = q + 0.5 * rng.normal(size=(raters, 1, 1)) + 0.8 * rng.normal(size=(raters, *q.shape))
    ratings[rng.random(ratings.shape) < gaps] = np.nan
    ratings[0] = np.where(np.isnan(ratings).all(axis=0), 0.0, ratings[0])
    labels = {"metric": ["judge", "length"], "system": [f"s{i}" for i in range(systems)], "input": list(range(inputs))}
    score = xr.DataArray(np.array([judge, length]), labels, ("metric", "system", "input"))
    ds = xr.Dataset({"score": score, "rating": (("system", "rater", "input"), ratings.transpose(1, 0, 2))})
    topics = [["news", "law", "fun"][at % 3] for at in range(inputs)]
    return ds.assign_coords(rater=["ann", "bob", "eve"][:raters], topic=("input", topics))


def test_ratings_are_corrected_by_default_and_are_those_of_the_twin():
    ds = rated()
    found = ds.meta.bias("rating", given="length")
    assert found.attrs["method"] == "corrected" and found.attrs["level"] == "input" and found.attrs["along"] == "rater"
    assert found.slope.dims == ("metric", "covariate") and found.attrs["resample"] == "input"
    ratings = ds.rating.transpose("rater", "system", "input").values
    x, c = values(ds, "judge", "length")
    df = found.df.item()
    expected = noisy_gold_twin.slope(x, ratings, [c], "input", False, ("input",), df)
    for name in ("slope", "standard_error", "pvalue"):
        assert found[name].item() == pytest.approx(expected[name], rel=1e-8)
    assert found.gold_reliability.item() == pytest.approx(expected["reliability"], rel=1e-9)
    for end, inward in ((found.ci_low.item(), 1e-6), (found.ci_high.item(), -1e-6)):
        assert expected["accepted"](end + inward) and not expected["accepted"](end - inward)
    text = found.meta.methods()
    assert "Fuller, 1987; Carroll et al., 2006" in text and "Fieller intervals (Fieller, 1954)" in text
    assert "(level='input'), as there are 3 systems." in found.meta.conclusion()


def test_a_regression_of_each_rater_is_still_had():
    ds = rated()
    found = ds.meta.bias("rating", given="length", method="regression", level="input")
    assert set(found.slope.dims) == {"metric", "covariate", "rater"}
    one = ds.meta.bias(ds.rating.sel(rater="bob", drop=True), given="length", level="input")
    np.testing.assert_allclose(found.slope.sel(rater="bob").values, one.slope.values, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("systems", "given", "level"),
    [
        (1, "length", "global"),
        (2, "length", "global"),
        (3, "length", "input"),
        (9, "length", "input"),
        (3, "topic", "within_system"),
        (1, "topic", "global"),
        (4, ["topic", "kind"], "global"),
    ],
)
def test_the_default_level_is_one_at_which_the_question_can_be_asked(systems, given, level):
    ds = rated(systems).assign_coords(
        kind=("system", ["old", "new", "new", "old", "new", "old", "old", "new", "new"][:systems])
    )
    found = ds.meta.bias("rating", given=given, metric="judge")
    assert found.attrs["level"] == level and np.isfinite(found.pvalue).all()
    assert f"(level={level!r}), as " in found.meta.conclusion()
    xr.testing.assert_identical(
        found.drop_attrs(), ds.meta.bias("rating", given=given, metric="judge", level=level).drop_attrs()
    )


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("systems", "reason"), [(7, "there are 7 systems"), (8, "the noise of single ratings is subtracted")]
)
def test_why_it_is_not_the_means_of_systems(systems, reason):
    found = rated(systems, inputs=12).meta.bias("rating", given="length", metric="judge")
    assert (found.attrs["level"], found.attrs["level_reason"]) == ("input", reason)


def test_systems_means_are_the_default_of_single_scores(ds):
    assert ds.meta.bias("human", given="length").attrs["level"] == "system"
    assert "level_reason" not in ds.meta.bias("human", given="length").attrs
    assert ds.isel(system=slice(8)).meta.bias("human", given="length").attrs["level"] == "system"
    assert ds.isel(system=slice(7)).meta.bias("human", given="length").attrs["level"] == "input"
    words = ds.assign_coords(words=("input", np.arange(7.0) ** 2))
    assert words.meta.bias("human", given="words").attrs["level_reason"] == "words describes inputs only"


def test_a_slope_that_noise_explains_is_not_called_a_bias():
    ds = rated(inputs=120, seed=3)
    ds["human"] = ds.rating.mean("rater")
    found = ds.meta.bias("human", given="length")
    assert found.pvalue.item() < 0.01 and found.reliability.values.tolist() == [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    said = found.meta.conclusion()
    assert "Noise in the human scores alone may explain that" in said and "too high" not in said
    least = found.corrected_pvalue.isel(metric=0, covariate=0)
    shown = max(found.reliability.values[(least > 0.05).values])
    assert f"no bias is shown if their reliability is {shown:.2f} or".replace("0.", ".") in said
    assert found.corrected_slope.sel(reliability=1.0).item() == pytest.approx(found.slope.item(), rel=1e-9)
    certain = ds.meta.bias("human", given="length", reliability=0.95)
    assert certain.reliability.values.tolist() == [0.95] and "too high" in certain.meta.conclusion()
    corrected = ds.meta.bias("rating", given="length")
    assert corrected.pvalue.item() > 0.05 and "No significant bias" in corrected.meta.conclusion()


def test_a_bias_is_found_in_spite_of_noise():
    ds = rated(inputs=120, seed=4, gamma=0.4)
    found = ds.meta.bias("rating", given="length")
    assert found.pvalue.item() < 0.05 and "judge (" in found.meta.conclusion()
    assert "scores outputs with a higher length too high" in found.meta.conclusion()
    no_rho = rated(inputs=120, seed=4, gamma=0.6, rho=0.0)
    plain = no_rho.meta.bias(no_rho.rating.mean("rater"), given="length")
    assert "too high" in plain.meta.conclusion() and "may explain" not in plain.meta.conclusion()


def test_ratings_that_cannot_tell_say_so():
    ds = rated(inputs=40, gaps=0.3, seed=5)
    ds["rating"] = ds.rating.copy(data=np.random.default_rng(1).normal(size=ds.rating.shape))
    found = ds.meta.bias("rating", given="length")
    assert found.ci_low.item() == -np.inf and found.ci_high.item() == np.inf
    assert "The bias of judge by length cannot be estimated" in found.meta.conclusion()
    plt = pytest.importorskip("matplotlib.pyplot")
    axis = found.meta.plot.bias()
    assert np.isfinite(axis.get_xlim()).all()
    plt.close("all")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_lazy_ratings_groups_and_further_labels_give_the_same():
    pytest.importorskip("dask")
    ds = rated(6, 20).assign_coords(kind=("system", list("aabbab")))
    ds = xr.concat([ds, ds.assign(score=ds.score**3)], "language", data_vars="all").assign_coords(language=["en", "de"])
    ds["rating"] = ds.rating.isel(language=0)
    found = ds.meta.bias("rating", given="length", by="kind")
    lazy = ds.chunk(metric=1, system=2, rater=1).meta.bias("rating", given="length", by="kind")
    assert lazy.slope.chunks is not None
    xr.testing.assert_identical(lazy.compute(), found)
    alone = ds.sel(language="de").isel(system=[0, 1, 4]).meta.bias("rating", given="length")
    np.testing.assert_array_equal(found.ci_low.sel(language="de", kind="a").squeeze(), alone.ci_low.squeeze())


def test_a_group_without_repeated_ratings_has_no_result():
    ds = rated(6, 20).assign_coords(kind=("system", list("aabbbb")))
    ds["rating"] = ds.rating.where((ds.kind == "b") | (ds.rater == "ann"))
    with pytest.warns(UserWarning) as said:
        found = ds.meta.bias("rating", given="length", by="kind")
    assert any(
        "kind='a' has no result: method='corrected' needs an output with two" in str(each.message) for each in said
    )
    assert np.isnan(found.slope.sel(kind="a")).all() and np.isfinite(found.slope.sel(kind="b")).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_clusters_are_left_out_whole(ds):
    family = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    document = [0, 0, 1, 1, 2, 2, 3]
    ds = ds.assign_coords(family=("system", [f"f{at}" for at in family]), document=("input", document))
    x, z, c = values(ds, "judge", "human", "length")
    for level in ("system", "input", "global"):
        found = ds.meta.bias("human", metric="judge", given="length", level=level, cluster=("family", "document"))
        expected = bias_twin.slopes(x, z, [c], level, "regression", (False,), clusters=(family, document))
        np.testing.assert_allclose(numbers(found, "judge", "length"), expected[:, 0], rtol=1e-6)
        assert found.attrs["cluster"] == "family document"
    assert "clustered by family and document" in found.meta.methods()
    both = rated(6, 20).assign_coords(family=("system", list("aabbcc")))
    found = both.meta.bias("rating", given="length", cluster="family")
    ratings = both.rating.transpose("rater", "system", "input").values
    judge, length = values(both, "judge", "length")
    clusters = np.array([0, 0, 1, 1, 2, 2]), np.arange(20)
    expected = noisy_gold_twin.slope(
        judge, ratings, [length], "input", False, ("system", "input"), found.df.item(), clusters=clusters
    )
    assert found.pvalue.item() == pytest.approx(expected["pvalue"], rel=1e-7) and found.df.item() <= 2


@pytest.mark.parametrize(
    ("keywords", "text"),
    [
        ({"method": "corrected"}, "needs ratings with the dim 'rater'"),
        ({"method": "difference", "reliability": 0.5}, "reliability=0.5 needs method='regression'"),
        ({"reliability": 0.0}, "reliability must be different numbers above 0"),
        ({"reliability": [0.5, 0.5]}, "reliability must be different numbers above 0"),
        ({"reliability": 1.5}, "reliability must"),
        ({"cluster": "nothing"}, "cluster must be a coordinate"),
    ],
)
def test_bad_questions_about_noise_are_refused(ds, keywords, text):
    with pytest.raises((ValueError, TypeError), match=text):
        ds.meta.bias("human", given="length", **keywords)


def test_ratings_without_repetition_are_refused():
    ds = rated()
    ds["rating"] = ds.rating.where(ds.rater == "ann")
    with pytest.raises(ValueError, match="needs an output with two ratings or more; gold 'rating' has at most one"):
        ds.meta.bias("rating", given="length", method="corrected")
    with pytest.raises(ValueError, match="method='corrected' finds it itself"):
        rated().meta.bias("rating", given="length", reliability=0.5)
    assert ds.meta.bias("rating", given="length").attrs["method"] == "regression"
