"""Pictures of variance components and plans, compared as images with kept ones."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
import xarray as xr  # noqa: E402
from cases import of_demo  # noqa: E402
from images import image  # noqa: E402

import xsumstat  # noqa: E402

pytestmark = pytest.mark.ignore_codes("negative_variance")


def figure_of(axes):
    figure = np.atleast_1d(axes).flat[0].figure
    figure.canvas.draw()
    return figure


@image()
def test_variance_components(demo):
    return figure_of(demo.meta.variance_components("human").meta.plot.variance_components(title="Shares"))


@image("dark_background")
def test_variance_components_of_ratings_dark(demo):
    noise = xr.DataArray(np.random.default_rng(0).normal(size=(3, 12, 30)), dims=("rater", "system", "input"))
    rating = (demo.score.sel(metric="human", drop=True) / 10 + noise).rename("rating")
    found = demo.meta.variance_components(rating=rating, metric=["judge", "rouge"])
    return figure_of(found.meta.plot.variance_components(order="value"))


def repeated(demo):
    noise = xr.DataArray(np.random.default_rng(0).normal(size=(3, 12, 30)), dims=("run", "system", "input"))
    ds = demo.sel(metric=["judge", "bertscore", "human"])
    spread = xr.DataArray([1.0, 0.4, 0.0], dims="metric") * ds.score.std(("system", "input"))
    return ds.assign(score=ds.score + spread * noise).meta.repeatability("human")


@image()
def test_repeatability(demo):
    return figure_of(repeated(demo).meta.plot.repeatability(title="Runs"))


@image("dark_background")
def test_repeatability_dark(demo):
    return figure_of(repeated(demo).meta.plot.repeatability(metric="judge"))


def refused(demo):
    ds = demo.sel(metric=["judge", "rouge", "human"])
    human = ds.score.sel(metric="human")
    return ds.assign(score=ds.score.where((ds.metric != "judge") | (human > human.quantile(0.2))))


@image()
def test_missingness(demo):
    found = refused(demo).meta.missingness("human", score_range={"judge": (0, 120)}, rng=0, n_resamples=99)
    return figure_of(found.meta.plot.missingness(title="Missing scores"))


@image("dark_background")
def test_missingness_dark(demo):
    found = refused(demo).meta.missingness("human", score_range={"judge": (0, 120)}, rng=0, n_resamples=99)
    return figure_of(found.meta.plot.missingness(metric="judge"))


@image()
def test_contours_of_a_plan(demo):
    found = xsumstat.plan(demo, metric=["judge", "bleu"], level="input", target=0.1, rng=0)
    return figure_of(found.meta.plot.plan(title="A plan"))


@image("dark_background")
def test_simulated_contours_dark(demo):
    found = xsumstat.plan(demo, metric="judge", n_systems=[10, 20, 40], n_inputs=[20, 100], n_trials=20, rng=0)
    return figure_of(found.meta.plot.plan())


@image()
def test_powers_of_differences(demo):
    return figure_of(xsumstat.plan(demo, difference=[1, 2, 5], n_trials=100, rng=0).meta.plot.plan())


@image()
def test_designs_for_budgets(demo):
    noise = xr.DataArray(np.random.default_rng(0).normal(size=(3, 12, 30)), dims=("rater", "system", "input"))
    rating = (demo.score.sel(metric="human", drop=True) + 20 * noise).rename("rating")
    asked = {"rating": rating, "metric": "judge", "estimand": "difference", "cost_per_verdict": 0.05}
    return figure_of(xsumstat.plan(demo, budget=[1000, 3000], cost_per_prompt=4, **asked).meta.plot.plan())


def test_further_dims_have_a_panel_each(demo):
    both = xr.concat([demo, demo**2], xr.DataArray(["en", "de"], dims="language", name="language"))
    axes = both.meta.variance_components("human", metric=["judge"]).meta.plot.variance_components()
    assert [axis.get_title() for axis in axes] == ["en", "de"]
    with pytest.raises(ValueError, match="draws a result of ds.meta.variance_components, but this is a result of corr"):
        of_demo("corr", "human").meta.plot.variance_components()
    plt.close("all")
