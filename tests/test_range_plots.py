import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
import xarray as xr  # noqa: E402

import xsumstat  # noqa: E402, F401

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
    both = xr.concat([demo[["score"]]] * 2, "language").assign_coords(language=["en", "de"])
    axes = both.meta.metric_corr(metric=METRICS).meta.plot.matrix()
    assert [each.get_title() for each in axes] == ["en", "de"]


def test_scatter_matrix(demo):
    axes = demo.meta.plot.scatter_matrix(metric=METRICS)
    assert axes.shape == (3, 3)
    score = demo.score.sel(metric=METRICS).values.reshape(3, -1)
    np.testing.assert_array_equal(axes[2, 0].lines[0].get_xydata(), score[[0, 2]].T)
    tau = demo.meta.metric_corr(metric=METRICS, level="input", coefficient="kendall").correlation.values
    assert axes[0, 2].texts[0].get_text() == f"{tau[0, 2]:.2f}".replace("0.", ".")
    assert sum(patch.get_height() for patch in axes[1, 1].patches) == 360
    assert demo.meta.plot.scatter_matrix().shape == (6, 6)  # the gold is left out
    with pytest.raises(ValueError, match="at least 2 metrics"):
        demo.meta.plot.scatter_matrix(metric="judge")


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
