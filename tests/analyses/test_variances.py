"""Variance components of scores with labels."""

import numpy as np
import pytest
import xarray as xr
from conftest import warns

import xsumstat
from xsumstat.inference import components

CELLS = ("system", "input")


def scores(share=0.0, seed=0, shape=(9, 20)):
    """Gold, a metric like it and one unlike it."""
    rng = np.random.default_rng(seed)
    effects = rng.normal(size=(shape[0], 1)), rng.normal(size=(1, shape[1])), rng.normal(size=shape)
    gold = sum(effects)
    values = np.array([gold, 3 * gold + rng.normal(size=shape), rng.normal(size=shape)])
    values[0][rng.random(shape) < share] = np.nan
    return xr.Dataset(
        {"score": (("metric", *CELLS), values)},
        {"metric": ["human", "good", "noise"], "system": np.arange(shape[0]), "input": np.arange(shape[1])},
    )


def quiet(ds, *args, **kwargs):
    """Without the warnings of variances below 0."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return ds.meta.variance_components(*args, **kwargs)


def test_components_are_those_of_the_arrays():
    ds = scores(0.4)
    found = quiet(ds, "human", repair=False)
    covariance, error = components.estimates(ds.score.values, tuple(components.EFFECTS.values()))
    np.testing.assert_allclose(found.covariance.transpose("effect", "metric", "other_metric"), covariance, rtol=1e-10)
    np.testing.assert_allclose(found.covariance_error.transpose("effect", ...), error, rtol=1e-8)
    np.testing.assert_allclose(found.variance.sel(effect="cell"), np.diag(covariance[2]), rtol=1e-10)
    there = ds.score.notnull().values.reshape(3, -1).astype(int)
    np.testing.assert_array_equal(found.n_cells, there @ there.T)


def test_a_balanced_design_equals_statsmodels():
    smf = pytest.importorskip("statsmodels.formula.api")
    ds = scores(seed=3, shape=(6, 8))
    frame = ds.score.sel(metric="human", drop=True).to_dataframe().reset_index()
    frame["one"] = 1
    parts = {"system": "0 + C(system)", "input": "0 + C(input)"}
    fit = smf.mixedlm("score ~ 1", frame, groups="one", vc_formula=parts).fit(reml=True)
    found = ds.meta.variance_components("human", metric="good").variance.sel(metric="human")
    fitted = dict(zip(fit.model.exog_vc.names, fit.vcomp, strict=True))
    want = [fitted["system"], fitted["input"], fit.scale]
    np.testing.assert_allclose(found, want, rtol=1e-3)


def test_shares_correlations_and_reliability():
    found = quiet(scores(0.3), "human", n_inputs=[1, 10])
    np.testing.assert_allclose(found.share.sum("effect"), 1.0)
    assert found.correlation.sel(metric="human", other_metric="good", effect="system") > 0.9
    assert abs(found.correlation).max() <= 1
    system, cell = (float(found.variance.sel(metric="human", effect=each)) for each in ("system", "cell"))
    np.testing.assert_allclose(found.reliability.sel(metric="human"), system / (system + cell / np.array([1, 10])))
    assert "n_inputs" not in quiet(scores(), "human", n_inputs=5).dims


def test_reliability_is_the_squared_correlation_of_means_with_the_true_ones():
    rng = np.random.default_rng(1)
    effect = rng.normal(size=(2000, 1))
    ds = scores(shape=(2000, 6))
    ds["score"][0] = effect + rng.normal(size=(1, 6)) + 2 * rng.normal(size=(2000, 6))
    r = np.corrcoef(ds.score[0].mean("input"), effect[:, 0])[0, 1] ** 2
    assert float(quiet(ds, "human", n_inputs=6).reliability.sel(metric="human")) == pytest.approx(r, abs=0.04)


def test_ratings_tell_raters_from_cells():
    rng = np.random.default_rng(2)
    ds = scores(shape=(40, 50))
    rater = xr.DataArray(0.5 * rng.normal(size=(40, 50, 3)) + [0.0, 1.0, -1.0], dims=(*CELLS, "rater"))
    ds["rating"] = ds.score.sel(metric="human", drop=True) + rater
    found = quiet(ds, rating="rating", metric="good", n_inputs=10, n_raters=[1, 3])
    assert found.metric.values.tolist() == ["rating", "good"] and found.attrs["gold"] == "rating"
    variance = found.variance.sel(metric="rating")
    np.testing.assert_allclose(variance.sel(effect=["cell", "rater", "residual"]), [1, 1, 0.25], rtol=0.12)
    assert bool(found.variance.sel(metric="good", effect=["rater", "residual"]).isnull().all())
    system, cell, residual = (float(variance.sel(effect=each)) for each in ("system", "cell", "residual"))
    noise = cell / 10 + residual / (10 * np.array([1, 3]))
    np.testing.assert_allclose(found.reliability.sel(metric="rating"), system / (system + noise))
    mean = ds.rating.mean("rater")
    without = quiet(ds, mean, metric="good")
    np.testing.assert_allclose(found.covariance[0, 1, :3], without.covariance[0, 1], rtol=1e-9)
    with pytest.raises(ValueError, match="gold and rating are both given"):
        ds.meta.variance_components("human", rating="rating")


def test_variances_below_zero_are_told():
    rng = np.random.default_rng(5)
    ds = scores()
    flat = rng.normal(size=(9, 20))
    ds["score"][2] = flat - flat.mean(axis=1, keepdims=True)  # systems less alike in mean than by chance
    with pytest.warns(UserWarning, match="the estimate of a variance is negative, and set to 0, for .*noise/system"):
        found = ds.meta.variance_components("human")
    assert float(found.variance.sel(metric="noise", effect="system")) == 0
    with pytest.warns(UserWarning, match="the estimate of a variance is negative, for .*noise/system"):
        raw = ds.meta.variance_components("human", repair=False)
    assert float(raw.variance[2, 0]) < 0 and bool((raw.reliability.sel(metric="noise") == 0).all())


def test_effects_that_cannot_be_told_apart():
    ds = scores()
    gold = ds.score.sel(metric="human", drop=True)
    alone = gold.where(gold.system == gold.input % 9)
    with pytest.warns(UserWarning, match="undefined component: too few shared outputs to separate the effects, of"):
        found = ds.meta.variance_components(alone, metric="good")
    assert bool(found.variance[0].isnull().all()) and bool(found.variance[1].notnull().all())


def test_lower_is_better_and_units():
    ds = scores()
    turned = ds.assign_coords(higher_is_better=("metric", [True, False, True]))
    turned["score"] = turned.score * xr.DataArray([1, -1000, 1], dims="metric")
    one, two = quiet(ds, "human"), quiet(turned, "human")
    xr.testing.assert_allclose(one.share, two.share.drop_vars("higher_is_better", errors="ignore"))
    xr.testing.assert_allclose(one.covariance[0, 1] * 1000, two.covariance[0, 1])


def test_further_dims_and_lazy_scores():
    ds = xr.concat([scores(0.2, 1), scores(0.2, 2)], xr.DataArray(["en", "de"], dims="language", name="language"))
    found = quiet(ds, "human")
    for at, label in enumerate(ds.language.values):
        alone = quiet(ds.isel(language=at, drop=True), "human")
        for name, values in found.sel(language=label, drop=True).items():
            xr.testing.assert_allclose(values.transpose(*alone[name].dims), alone[name])
    lazy = quiet(ds.chunk({"input": 7}), "human")
    assert lazy.variance.chunks is not None
    with warns("negative_variance"):
        computed = lazy.compute()
    xr.testing.assert_allclose(computed, found)


def test_errors_name_what_is_wrong():
    ds = scores()
    with pytest.raises(ValueError, match="constant"):
        ds.assign(score=ds.score.where(ds.metric != "human", 1.0)).meta.variance_components("human")
    with pytest.raises(ValueError, match="squares are too large"):
        (ds * 1e200).meta.variance_components("human")
    with pytest.raises(ValueError, match="names only the human scores"):
        ds.meta.variance_components("human", metric="human")
    with pytest.raises(ValueError, match="n_inputs is an empty list"):
        ds.meta.variance_components("human", n_inputs=[])
    with pytest.raises(TypeError, match="n_raters must be a whole number"):
        ds.meta.variance_components(rating=ds.score.rename(metric="rater"), n_raters=1.5)


def test_conclusion_and_picture(demo):
    plt = pytest.importorskip("matplotlib.pyplot")
    found = quiet(demo, "human")
    said = found.meta.conclusion()
    assert "Systems account for 27 % of the variance of human, inputs for 10 % and single outputs for 63 %." in said
    assert "reliability of .9 or more with 50 inputs" in said
    axis = found.meta.plot.variance_components()
    widths = [bar.get_width() for bar in axis.patches]
    np.testing.assert_allclose(widths, found.share.transpose("effect", "metric").values.ravel(), atol=1e-12)
    assert [tick.get_text() for tick in axis.get_yticklabels()] == found.metric.values.tolist()
    assert xsumstat.load_dataset("demo").identical(demo)
    plt.close("all")


def test_labels_keep_their_types():
    for labels, kind in ((["human", "good", "noise"], "U"), (["human", 1, ("a", 2)], "O")):
        several = np.empty(3, dtype=object)
        several[:] = labels
        ds = scores().assign_coords(metric=several if kind == "O" else labels)
        found = quiet(ds, "human")
        assert found.metric.values.tolist() == labels and found.metric.dtype.kind == kind
