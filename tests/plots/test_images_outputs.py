"""Pictures of metrics against metrics and over the scale, compared as images with kept ones."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
from cases import of_demo  # noqa: E402
from conftest import dataset  # noqa: E402
from images import figure_of, image  # noqa: E402

import xsumstat  # noqa: E402, F401

LONG = "an-organisation/a-metric-of-version-{:04d}"  # 40 signs
THREE = ["judge", "rouge", "bleu"]
DRAWS = {"n_resamples": 50, "rng": 0}
HALF = {"above": 0.5, "unit": "quantile", "n_simulations": 19, **DRAWS}


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def long_names(ds):
    """The same metrics under names of 40 signs."""
    return ds.assign_coords(metric=["human", *map(LONG.format, range(ds.sizes["metric"] - 1))])


def several(n_metrics, n_systems, n_inputs):
    """Metrics that share three qualities in different parts."""
    rng = np.random.default_rng(0)
    shared = np.einsum("mq,qsi->msi", rng.normal(size=(n_metrics, 3)), rng.normal(size=(3, n_systems, n_inputs)))
    return dataset(shared + rng.normal(size=shared.shape))


@image()
def test_matrix(demo):
    return figure_of(demo.meta.metric_corr().meta.plot.matrix(title="Metrics with each other"))


@image("dark_background")
def test_matrix_of_intervals_dark(demo):
    return figure_of(demo.meta.metric_ci(metric=["human", *THREE]).meta.plot.matrix())


@image()
def test_matrix_of_long_names(demo):
    return figure_of(long_names(demo).meta.metric_corr().meta.plot.matrix())


@image()
def test_matrix_of_41_metrics():
    return figure_of(several(41, 8, 20).meta.metric_corr(level="input").meta.plot.matrix(figsize=(6, 6)))


@image()
def test_matrices_side_by_side(demo):
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    demo.meta.metric_corr(metric=THREE).meta.plot.matrix(ax=axes[0], triangle=False, title="whole")
    demo.meta.metric_ci(metric=THREE).meta.plot.matrix(ax=axes[1], title="intervals")
    return figure


@image()
def test_scatter_matrix(demo):
    return figure_of(demo.meta.plot.scatter_matrix(metric=["human", "judge", "perplexity"], title="Outputs"))


@image("dark_background")
def test_scatter_matrix_of_long_names_dark(demo):
    ds = long_names(demo)
    return figure_of(ds.meta.plot.scatter_matrix(metric=ds.metric.values[:4].tolist()))


@image()
def test_scatter_matrix_of_many_outputs():
    return figure_of(several(3, 12, 200).meta.plot.scatter_matrix())


@image()
def test_distribution(demo):
    return figure_of(demo.meta.plot.distribution(metric=["human", "perplexity"], by="system_type", title="Scores"))


@image("dark_background")
def test_distribution_of_long_names_dark(demo):
    ds = long_names(demo)
    return figure_of(ds.meta.plot.distribution(metric=ds.metric.values[1:4].tolist(), by="system_type"))


@image()
def test_disagreement_of_pairs():
    return figure_of(of_demo("disagreement", metric=THREE).meta.plot.disagreement())


@image("dark_background")
def test_disagreement_of_many_dark():
    return figure_of(of_demo("disagreement").meta.plot.disagreement(title="Disagreement"))


@image()
def test_disagreement_of_long_names(demo):
    ds = long_names(demo)
    pair = tuple(ds.metric.values[1:3])
    return figure_of(ds.meta.disagreement().meta.plot.disagreement(highlight=pair))


@image("dark_background")
def test_improvement_dark():
    return figure_of(of_demo("improvement_consistency", metric=THREE).meta.plot.improvement())


@image()
def test_range_drop(demo):
    return figure_of(demo.meta.range_drop(**HALF).meta.plot.range_drop(title="Drops"))


@image("dark_background")
def test_range_drop_of_long_names_dark(demo):
    ds = long_names(demo)
    return figure_of(ds.meta.range_drop(metric=ds.metric.values[1:4].tolist(), **HALF).meta.plot.range_drop())


@image()
def test_over_the_scale_side_by_side():
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    found = of_demo("disagreement", metric=THREE)
    found.meta.plot.disagreement(highlight=("judge", "bleu"), ax=axes[0], title="a pair")
    of_demo("improvement_consistency", metric=THREE).meta.plot.improvement(ax=axes[1], title="improvement")
    return figure
