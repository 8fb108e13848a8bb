import itertools

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import pytest  # noqa: E402
import xarray as xr  # noqa: E402
from conftest import dataset  # noqa: E402

import xsumstat  # noqa: E402, F401
from xsumstat.analyses import correlation  # noqa: E402
from xsumstat.plots import outputs  # noqa: E402
from xsumstat.plots.parts import style_of  # noqa: E402

METRICS = ["judge", "rouge", "bleu"]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_matrix_writes_the_correlations(demo):
    found = demo.meta.metric_corr(metric=METRICS, level="input", coefficient="kendall")
    axis = found.meta.plot.matrix()
    np.testing.assert_array_equal(axis.images[0].get_array(), found.correlation.values)
    assert [text.get_text() for text in axis.get_yticklabels()] == METRICS
    want = [f"{value:.2f}".replace("0.", ".") for value in found.correlation.values.ravel()]
    assert [text.get_text() for text in axis.texts] == want
    intervals = demo.meta.metric_ci(metric=METRICS, n_resamples=50, rng=1)
    texts = [text.get_text() for text in intervals.meta.plot.matrix().texts]
    assert len(texts) == 6 and all("\n[" in text for text in texts)
    lopsided = found.assign(correlation=(found.correlation.dims, np.arange(-4.0, 5.0).reshape(3, 3) / 5))
    axis = lopsided.transpose("other_metric", "metric").meta.plot.matrix()
    for text in axis.texts:
        column, row = text.get_position()
        assert float(text.get_text()) == lopsided.correlation.sel(metric=METRICS[row], other_metric=METRICS[column])
    np.testing.assert_array_equal(axis.images[0].get_array(), lopsided.correlation.transpose("metric", "other_metric"))
    assert axis.images[0].get_clim() == (-1.2, 1.2)
    assert [text.get_text() for text in axis.get_xticklabels()] == METRICS
    for text in intervals.meta.plot.matrix().texts:
        column, row = text.get_position()
        one = intervals.sel(metric=METRICS[row], other_metric=METRICS[column])
        numbers = [f"{float(one[name]):.2f}".replace("0.", ".") for name in ("correlation", "ci_low", "ci_high")]
        assert text.get_text() == "{}\n[{}, {}]".format(*numbers)
    both = xr.concat([demo[["score"]]] * 2, "language").assign_coords(language=["en", "de"])
    axes = both.meta.metric_corr(metric=METRICS).meta.plot.matrix()
    assert [each.get_title() for each in axes] == ["en", "de"]


def test_scatter_matrix(demo):
    axes = demo.meta.plot.scatter_matrix(metric=METRICS)
    assert axes.shape == (3, 3)
    score = demo.score.sel(metric=METRICS).values.reshape(3, -1)
    np.testing.assert_array_equal(axes[2, 0].lines[0].get_xydata(), score[[0, 2]].T)
    tau = demo.meta.metric_corr(metric=METRICS, level="input", coefficient="kendall").correlation.values
    for row, column in ((1, 0), (2, 0), (2, 1)):
        np.testing.assert_array_equal(axes[row, column].lines[0].get_xydata(), score[[column, row]].T)
        above = axes[column, row]
        assert above.texts[0].get_text() == f"{tau[row, column]:.2f}".replace("0.", ".")
        place = (tau[row, column] + 1.2) / 2.4
        assert mpl.colors.same_color(above.get_facecolor(), plt.get_cmap("RdBu_r")(place))
    for at in range(3):
        heights, edges = np.histogram(score[at], 30)
        assert [patch.get_height() for patch in axes[at, at].patches] == heights.tolist()
        np.testing.assert_allclose([patch.get_x() for patch in axes[at, at].patches], edges[:-1])
        assert axes[at, 0].get_ylabel() == axes[2, at].get_xlabel() == METRICS[at]
    assert axes[0, 2].texts[0].get_text() == f"{tau[0, 2]:.2f}".replace("0.", ".")
    assert sum(patch.get_height() for patch in axes[1, 1].patches) == 360
    assert demo.meta.plot.scatter_matrix().shape == (6, 6)  # the gold is left out
    with pytest.raises(ValueError, match="at least 2 metrics"):
        demo.meta.plot.scatter_matrix(metric="judge")


@pytest.mark.parametrize(
    "value, text",
    [(0.5, ".50"), (-0.25, "-.25"), (1.0, "1.00"), (-1.0, "-1.00"), (-0.001, ".00"), (0.999, "1.00"), (np.nan, "–")],
)
def test_correlations_are_written_short(value, text):
    assert outputs._number(value) == text


def test_a_metric_without_correlations_stands_in_the_scatter_matrix(demo):
    demo.score[1] = 1.0
    with pytest.warns(UserWarning, match="constant"):
        axes = demo.meta.plot.scatter_matrix(metric=["judge", "rouge"])
    assert axes[0, 1].texts[0].get_text() == "–"


def outlines(axis):
    """Heights and edges of each histogram, its outline only."""
    steps = [patch for patch in axis.patches if not patch.get_fill()]
    return [(patch.get_data().values, patch.get_data().edges) for patch in steps]


def means(axis):
    return [float(line.get_xdata()[0]) for line in axis.lines if line.get_marker() == "^"]


def shares_by_hand(values, edges):
    """How many values lie from one edge up to the next, of all."""
    inside = [sum(low <= value < high for value in values) for low, high in itertools.pairwise(edges)]
    inside[-1] += sum(value == edges[-1] for value in values)
    return np.array(inside) / len(values)


def test_distribution_by_a_coordinate_of_systems_and_of_inputs(demo):
    demo = demo.assign_coords(corpus=("input", ["news"] * 10 + ["mail"] * 20))
    demo.score[0, 3, 5] = demo.score[0, 2, 20] = np.nan
    for by, dim in (("system_type", "system"), ("corpus", "input")):
        axis = demo.meta.plot.distribution(by=by)
        drawn = outlines(axis)
        names = [text.get_text() for text in axis.figure.legends[0].get_texts()]
        assert names == [*sorted(set(demo[by].values.tolist())), "mean"]
        assert axis.figure.legends[0].get_title().get_text() == by
        for at, ((heights, edges), name) in enumerate(zip(drawn, names[:-1], strict=True)):
            here = demo.score.sel(metric="human").isel({dim: demo[by].values == name}).values.ravel()
            here = here[~np.isnan(here)]
            np.testing.assert_allclose(heights, shares_by_hand(here, edges))
            np.testing.assert_array_equal(edges, drawn[0][1])
            assert heights.sum() == pytest.approx(1)
            assert means(axis)[at] == pytest.approx(here.mean())
            colors = [patch.get_edgecolor() for patch in axis.patches if not patch.get_fill()]
            assert mpl.colors.same_color(colors[at], style_of(at)[0])
        assert axis.get_title() == "human" and axis.get_ylabel() == "share of outputs"


def test_distribution_of_sources_with_systems_of_their_own(demo):
    """Three sources, the systems of which differ, as in Peyrard's Fig. 1."""
    parts = [demo[["score"]].isel(system=places) for places in (slice(0, 5), slice(5, 9), slice(9, 12))]
    sources = pd.Index(["annotated", "modern", "generated"], name="source")
    ds = xr.concat(parts, sources, join="outer")
    axes = ds.meta.plot.distribution(metric=["judge", "perplexity"], by="source")
    assert [axis.get_title() for axis in axes] == ["judge", "perplexity"]
    assert [axis.get_xlabel() for axis in axes] == ["score", "score, lower is better"]
    for axis, metric in zip(axes, ("judge", "perplexity"), strict=True):
        for (heights, edges), part in zip(outlines(axis), parts, strict=True):
            values = part.score.sel(metric=metric).values.ravel()
            np.testing.assert_allclose(heights, shares_by_hand(values, edges))
        np.testing.assert_allclose(means(axis), [float(part.score.sel(metric=metric).mean()) for part in parts])
        assert axis.get_ylim()[1] > max(heights.max() for heights, _ in outlines(axis))


@pytest.mark.parametrize("unit", [1.0, 1 / 3, 1e-30, 1e30])
def test_each_grade_has_a_bin_around_it(unit):
    grades = np.random.default_rng(0).integers(0, 7, (6, 10)) * unit
    ds = xr.Dataset({"score": (("metric", "system", "input"), grades[None])})
    ((heights, edges),) = outlines(ds.meta.plot.distribution())
    np.testing.assert_allclose((edges[1:] + edges[:-1]) / 2 / unit, np.arange(7), atol=1e-6)
    np.testing.assert_allclose(heights, [(grades == grade * unit).mean() for grade in range(7)])


@pytest.mark.parametrize("size", [200, 2000])
def test_bins_of_other_scores_follow_freedman_and_diaconis(size):
    values = np.random.default_rng(size).normal(size=size)
    ds = xr.Dataset({"score": (("metric", "system", "input"), values.reshape(1, 10, -1))})
    ((heights, edges),) = outlines(ds.meta.plot.distribution())
    np.testing.assert_allclose(edges, np.histogram_bin_edges(values, "fd"))
    np.testing.assert_allclose(heights, shares_by_hand(values, edges))


def test_many_points_are_thinned_evenly():
    values = np.random.default_rng(0).normal(size=(2, 20, 600))
    ds = xr.Dataset({"score": (("metric", "system", "input"), values)}, {"metric": ["a", "b"]})
    drawn = ds.meta.plot.scatter_matrix()[1, 0].lines[0].get_xydata()
    np.testing.assert_array_equal(drawn, values.reshape(2, -1)[:, ::3].T)


@pytest.mark.parametrize(
    "values",
    [np.zeros(60), np.full(60, -1e300), np.linspace(-1e300, 1e300, 60), np.append(np.arange(59) * 1e-12, 1e9)],
)
def test_distributions_of_odd_scores_hold_every_output(values):
    ds = xr.Dataset({"score": (("metric", "system", "input"), values.reshape(1, 6, 10))})
    axis = ds.meta.plot.distribution()
    ((heights, edges),) = outlines(axis)
    assert heights.sum() == pytest.approx(1) and edges[0] <= values.min() and edges[-1] >= values.max()
    assert np.isfinite(edges).all() and len(heights) <= 101


def test_distribution_of_lazy_scores(demo):
    pytest.importorskip("dask")
    eager, lazy = (outlines(ds.meta.plot.distribution(by="system_type")) for ds in (demo, demo.chunk()))
    np.testing.assert_array_equal(
        np.concatenate([each for each, _ in eager]), np.concatenate([each for each, _ in lazy])
    )


def test_distribution_refuses_and_leaves_out(demo):
    both = xr.concat([demo[["score"]]] * 2, "language").assign_coords(language=["en", "de"])
    with pytest.raises(ValueError, match="score has the dims 'language'; select one label"):
        both.meta.plot.distribution(metric="judge")
    with pytest.raises(
        ValueError, match="by must be a coordinate that describes each system or input, got 'systemtype'"
    ):
        demo.meta.plot.distribution(by="systemtype")
    with pytest.raises(ValueError, match="unknown metric"):
        demo.meta.plot.distribution(metric="nobody")
    both.score[1] = np.nan
    with pytest.warns(UserWarning, match="no score for metric 'de/judge'"):
        axis = both.meta.plot.distribution(metric="judge", by="language")
    assert len(outlines(axis)) == len(means(axis)) == 1
    _, given = plt.subplots()
    assert demo.meta.plot.distribution(ax=given) is given


def test_disagreement_and_improvement_draw_lines_and_bands(demo):
    found = demo.meta.disagreement(metric=METRICS, n_bins=5, n_resamples=50, rng=1)
    axes = found.meta.plot.disagreement()
    assert [axis.get_title() for axis in axes] == METRICS
    for at, axis in enumerate(axes):
        others = [other for other in range(3) if other != at]
        lines = [line for line in axis.lines if line.get_linestyle() == "-"]
        for line, other in zip(lines, others, strict=True):
            here = found.isel(metric=at, other_metric=other)
            np.testing.assert_array_equal(line.get_xydata(), np.array([here.score_bin, here.share]).T)
            assert line.get_color() == style_of(other)[0]
        for band, other in zip(axis.collections, others, strict=True):
            here = found.isel(metric=at, other_metric=other).dropna("score_bin")
            corners = {tuple(corner) for path in band.get_paths() for corner in path.vertices}
            assert {*zip(here.score_bin.values, here.ci_low.values, strict=True)} <= corners
            assert {*zip(here.score_bin.values, here.ci_high.values, strict=True)} <= corners
    assert [text.get_text() for text in axes[0].figure.legends[0].get_texts()] == METRICS
    pair = demo.meta.disagreement(metric=METRICS[:2], n_resamples=50, rng=1).meta.plot.disagreement()
    assert pair.get_title() == "judge and rouge"
    ratio = demo.meta.improvement_consistency(metric=METRICS, n_bins=5, n_resamples=50, rng=1)
    axis = ratio.meta.plot.improvement()
    np.testing.assert_array_equal(axis.lines[0].get_ydata(), ratio.ratio)
    band = axis.collections[0].get_paths()[0].vertices
    assert np.isin(ratio.ci_low.dropna("score_bin").values, band[:, 1]).all()


def test_range_drop_sets_the_drop_against_the_expected_one(demo):
    drop = demo.meta.range_drop(
        metric=METRICS, above=0.5, unit="quantile", metrics="judge", n_resamples=50, n_simulations=19, rng=1
    )
    axis = drop.meta.plot.range_drop()
    pairs = [("judge", "rouge"), ("judge", "bleu"), ("rouge", "bleu")]
    assert [text.get_text() for text in axis.get_yticklabels()] == [f"{a} and {b}" for a, b in pairs]
    for bar, (a, b) in zip(axis.patches, pairs, strict=True):
        one = drop.sel(metric=a, other_metric=b)
        assert [bar.get_x(), bar.get_x() + bar.get_width()] == pytest.approx(
            [float(one.expected_low), float(one.expected_high)]
        )
    for row, (a, b) in enumerate(pairs):
        one = drop.sel(metric=a, other_metric=b)
        (line,) = axis.collections[row].get_segments()
        np.testing.assert_allclose(line, [[one.ci_low, row], [one.ci_high, row]])
        marks = [
            line.get_xydata() for line in axis.lines if line.get_marker() == "None" and len(set(line.get_xdata())) == 1
        ]
        np.testing.assert_allclose(marks[row], [[one.expected, row - 0.31], [one.expected, row + 0.31]])
        assert axis.patches[row].get_y() + axis.patches[row].get_height() / 2 == pytest.approx(row)
    places = [line.get_ydata()[0] for line in axis.lines if line.get_marker() == "o"]
    assert places == [0, 1, 2]
    points = [line.get_xdata()[0] for line in axis.lines if line.get_marker() == "o"]
    assert points == [float(drop.difference.sel(metric=a, other_metric=b)) for a, b in pairs]


@pytest.mark.parametrize(
    "name, message",
    [
        ("matrix", "no correlations of metrics with each other"),
        ("disagreement", "no shares by score_bin"),
        ("improvement", "no ratios by score_bin"),
        ("range_drop", "no expected drops"),
    ],
)
def test_other_results_are_refused(demo, name, message):
    with pytest.raises(ValueError, match=message):
        getattr(demo.meta.corr("human").meta.plot, name)()


def of_many(n):
    return dataset(np.random.default_rng(0).normal(size=(n, 4, 5)))


def test_pictures_of_more_metrics_than_can_be_told_apart_are_refused_at_once(monkeypatch):
    found = of_many(13).meta.disagreement(n_bins=2, n_resamples=20, rng=0)
    twelve = found.isel(metric=slice(12), other_metric=slice(12))
    assert len(twelve.meta.plot.disagreement()) == 12
    refused = "the result has 13 metrics, and at most 12 can be told apart.*select some, as result.sel.metric="
    with pytest.raises(ValueError, match=refused):
        found.meta.plot.disagreement()
    monkeypatch.setattr(plt, "subplots", None)
    monkeypatch.setattr(correlation, "metric_corr", None)
    with pytest.raises(ValueError, match="there are 16 metrics, and a scatter matrix shows at most 15; name those"):
        of_many(16).meta.plot.scatter_matrix()
    ds = of_many(41)
    with pytest.raises(ValueError, match="metric names 40 metrics, and a scatter matrix shows at most 15"):
        ds.meta.plot.scatter_matrix(metric=ds.metric.values[1:].tolist())
