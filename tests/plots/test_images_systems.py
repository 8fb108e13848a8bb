"""Pictures of systems, scores and numbers of metrics, compared as images with kept ones."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
import xarray as xr  # noqa: E402
from cases import of_demo  # noqa: E402
from images import figure_of, image  # noqa: E402

import xsumstat  # noqa: E402, F401

LONG = "an-organisation/a-judge-of-version-{:04d}"  # 40 signs


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def long_names(ds):
    """The same metrics and systems under names of 40 signs."""
    return ds.assign_coords(
        metric=["human", *map(LONG.format, range(ds.sizes["metric"] - 1))],
        system=[LONG.format(at) for at in range(ds.sizes["system"])],
    )


def many_metrics(ds):
    """31 metrics that agree less and less with people."""
    rng = np.random.default_rng(0)
    human = ds.score.sel(metric="human").values
    noise = np.linspace(5, 80, 30)[:, None, None] * rng.normal(size=(30, *human.shape))
    names = ["human", *(f"metric-{at:02d}" for at in range(30))]
    coords = {"metric": names, "system": ds.system.values, "input": ds.input.values}
    return xr.Dataset({"score": (("metric", "system", "input"), [human, *(human + noise)])}, coords, {"gold": "human"})


@image()
def test_bars():
    return figure_of(of_demo("ci", "human").meta.plot.bars(title="Agreement with people"))


@image("dark_background")
def test_bars_of_groups_dark():
    return figure_of(of_demo("ci", "human", by="system_type").meta.plot.bars())


@image()
def test_bars_of_many_metrics(demo):
    return figure_of(many_metrics(demo).meta.ci().meta.plot.bars())


@image()
def test_heatmap(demo):
    demo = demo.copy(deep=True)
    demo.score[0, 3, 5] = demo.score[1, 7, 9] = np.nan
    return figure_of(demo.meta.plot.heatmap(metric=["human", "judge", "perplexity"]))


@image("dark_background")
def test_heatmap_of_long_names_dark(demo):
    return figure_of(long_names(demo).meta.plot.heatmap())


@image()
def test_input_effect(demo):
    return figure_of(demo.meta.input_effect(metric="human").squeeze("metric").meta.plot.input_effect())


@image("dark_background")
def test_input_effect_dark():
    effect = of_demo("input_effect", metric=["human", "judge"])
    return figure_of(effect.meta.plot.input_effect(highlight="doc-07"))


@image()
def test_top_k():
    return figure_of(of_demo("top_k_corr", "human", k=[12, 9, 6]).meta.plot.top_k())


@image("dark_background")
def test_top_k_of_many_metrics_dark(demo):
    return figure_of(many_metrics(demo).meta.top_k_corr(k=[12, 9, 6]).meta.plot.top_k(hue="metric"))


@image()
def test_bias():
    return figure_of(of_demo("bias", "human", given=["length", "system_type"], level="global").meta.plot.bias())


@image("dark_background")
def test_bias_by_colour_dark():
    found = of_demo("bias", "human", given=["length", "system_type"], level="global")
    return figure_of(found.meta.plot.bias(hue="covariate", title="Who favours what"))


@image()
def test_close_corr(demo):
    return figure_of(demo.meta.close_corr("human", gap=[0.25, 0.5, 1.0]).meta.plot.close_corr())


@image("dark_background")
def test_close_corr_of_many_metrics_dark(demo):
    return figure_of(many_metrics(demo).meta.close_corr(gap=[0.25, 0.5, 1.0]).meta.plot.close_corr())


@image()
def test_confusion():
    found = of_demo("discriminative_agreement", "human", metric=["judge", "length"], n_resamples=99, rng=1)
    return figure_of(found.meta.plot.confusion())


@image("dark_background")
def test_confusion_of_long_names_dark(demo):
    found = long_names(demo).meta.discriminative_agreement("human", n_resamples=99, rng=1)
    return figure_of(found.meta.plot.confusion())


@image()
def test_two_beside_each_other(demo):
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    of_demo("ci", "human", by="system_type").meta.plot.bars(ax=left, title="groups")
    demo.meta.close_corr("human", gap=[0.5, 1.0]).meta.plot.close_corr(ax=right, title="close systems")
    return figure
