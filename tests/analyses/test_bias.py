"""Whether errors of metrics move with covariates: `bias` and its picture."""

import bias_twin
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
        assert "judge (-1." in found.meta.conclusion() and "of family=own too low" in found.meta.conclusion()
    else:
        said = "No bias was found of family=own (1 metric), which does not show that there is none: slopes may lie"
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
    with pytest.warns(UserWarning, match="no interval, as without one system or input the slope is undefined"):
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
    plt.close("all")
    axis = found.meta.plot.bias(hue="covariate", metric="judge", title="who favours whom")
    assert [text.get_text() for text in axis.figure.legends[0].get_texts()][:2] == ["length", "system_type=extractive"]
    plt.close("all")
    with pytest.raises(ValueError, match="hue"):
        found.meta.plot.bias(hue="metric")
    with pytest.raises(ValueError, match="draws a result of ds.meta.bias, but this is a result of ci"):
        ds.meta.ci("human").meta.plot.bias()
