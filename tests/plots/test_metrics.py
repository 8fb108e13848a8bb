import matplotlib as mpl

mpl.use("Agg")

import matplotlib.colors  # noqa: E402
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import pytest  # noqa: E402
import scipy.integrate  # noqa: E402
import scipy.stats  # noqa: E402
import xarray as xr  # noqa: E402
from cases import of_demo  # noqa: E402
from conftest import warns  # noqa: E402

from xsumstat.plots import pvalues, style  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def interval(small):
    with warns("biased"):
        return small.meta.ci("m0", level="input", method="bootstrap", n_resamples=200, rng=0, keep_samples=True)


@pytest.fixture
def table(small):
    return small.meta.perm_test("m0", level="input", alternative="greater", n_resamples=99, rng=0)


def segments(ax):
    """The horizontal lines of the intervals, (row, low, high), from the top."""
    lines = [
        seg for each in ax.collections if hasattr(each, "get_segments") for seg in each.get_segments() if len(seg) > 1
    ]
    return sorted((seg[0][1], seg[0][0], seg[1][0]) for seg in lines)


def labels(ticks):
    return [tick.get_text() for tick in ticks]


def test_forest_shows_the_numbers_of_the_result(interval):
    ax = interval.meta.plot.forest(order="given")
    assert labels(ax.get_yticklabels()) == ["m1", "m2", "m3"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first metric on top
    drawn = segments(ax)
    np.testing.assert_allclose([low for _, low, _ in drawn], interval.ci_low)
    np.testing.assert_allclose([high for _, _, high in drawn], interval.ci_high)
    points = next(line for line in ax.lines if line.get_marker() == "o")
    np.testing.assert_allclose(points.get_xdata(), interval.correlation)
    assert ax.get_xlabel() == "Pearson's r with m0"


def test_the_best_stands_on_top_unless_another_order_is_asked_for(interval):
    values = interval.correlation.to_series()
    best_first = values.sort_values(ascending=False).index.tolist()
    assert best_first != sorted(best_first)
    for order, want in (("value", best_first), ("name", sorted(best_first)), (["m3", "m1"], ["m3", "m1"])):
        ax = interval.meta.plot.forest(order=order, density=False)
        assert labels(ax.get_yticklabels()) == want
        points = next(line for line in ax.lines if line.get_marker() == "o")
        np.testing.assert_allclose(points.get_xdata(), values[want])


def test_a_forest_of_differences_has_a_panel_for_each_metric_they_are_taken_from(small):
    gap = small.meta.ci("m0", other=["m1", "m3"], level="input")
    axes = gap.meta.plot.forest(order="given")
    assert [ax.get_title() for ax in axes] == ["vs m1", "vs m3"]
    drawn = [low for _, low, _ in segments(axes[1])]
    np.testing.assert_allclose(drawn, gap.ci_low.sel(other_metric="m3").dropna("metric"))
    assert axes[0].get_xlabel() == "difference in Pearson's r with m0"


def test_densities_are_drawn_where_samples_were_kept(interval):
    with_density = len(interval.meta.plot.forest().collections)
    assert with_density == len(interval.meta.plot.forest(density=False).collections) + 3
    assert len(interval.drop_vars("samples").meta.plot.forest().collections) == with_density - 3


def test_a_further_dim_gives_panels_or_hues(interval):
    both = xr.concat([interval, interval + 0.1], pd.Index(["system", "input"], name="level"))
    axes = both.meta.plot.forest(order="given")
    assert [ax.get_title() for ax in axes] == ["system", "input"]
    np.testing.assert_allclose([low for _, low, _ in segments(axes[1])], interval.ci_low + 0.1)
    one = both.meta.plot.forest(hue="level")
    assert len(segments(one)) == 6
    assert labels(one.figure.legends[0].get_texts())[:2] == ["system", "input"]
    with pytest.raises(ValueError, match=r"unknown hue 'levle'; did you mean 'level'\? additional dims: 'level'"):
        both.meta.plot.forest(hue="levle")
    with pytest.raises(ValueError, match="ax takes one panel, and the result has 2"):
        both.meta.plot.forest(ax=plt.gca())


def test_an_axes_of_the_users_is_drawn_on(interval, table):
    _, (left, right) = plt.subplots(1, 2)
    assert interval.meta.plot.forest(ax=left) is left
    assert table.meta.plot.pvalues(ax=right) is right


def frames(ax):
    return sorted(
        (round(p.get_y() + p.get_height() / 2), round(p.get_x() + p.get_width() / 2))
        for p in ax.patches
        if matplotlib.colors.to_hex(p.get_edgecolor()) == pvalues._FRAME.lower()
    )


def test_matrix_has_a_square_a_test_and_a_frame_where_the_correction_is_survived(table):
    p = xr.DataArray([[np.nan, 0.01, 0.6], [0.05, np.nan, 0.2], [0.9, 0.3, np.nan]], dims=("metric", "other_metric"))
    adjusted = table.assign(pvalue=p, pvalue_adjusted=np.minimum(1, 6 * p))
    ax = adjusted.meta.plot.pvalues(alpha=0.25, order="given")
    survived = adjusted.pvalue_adjusted.values <= 0.25
    assert survived.any() and not survived.all()
    assert frames(ax) == sorted(map(tuple, np.argwhere(survived).tolist()))
    assert len(ax.patches) == 6 + survived.sum()
    assert frames(table.meta.plot.pvalues()) == []
    assert labels(ax.get_xticklabels()) == labels(ax.get_yticklabels()) == ["m1", "m2", "m3"]
    assert ax.figure.legends[0].get_title().get_text() == "is the row metric better than the column's?"


def test_a_corrected_p_value_at_alpha_has_a_frame(table):
    for p, framed in ((0.25, 6), (0.2501, 0)):
        drawn = table.assign(pvalue_adjusted=table.pvalue.where(table.pvalue.isnull(), p))
        assert len(frames(drawn.meta.plot.pvalues(alpha=0.25))) == framed


def test_each_p_value_stands_in_its_cell(table):
    ax = table.transpose("other_metric", "metric").meta.plot.pvalues(annotate=True, order="given")
    names = ["m1", "m2", "m3"]
    assert len(ax.texts) == int((table.pvalue <= 0.5).sum()) == 3  # of one-sided tests; the rest are the opposite ones
    assert len(table.assign_attrs(alternative="two-sided").meta.plot.pvalues(annotate=True).texts) == 6
    assert ax.get_xlim()[0] < ax.get_xlim()[1] and ax.get_ylim()[0] > ax.get_ylim()[1]
    for text in ax.texts:
        column, row = text.get_position()
        p = float(table.pvalue.sel(metric=names[row], other_metric=names[column]))
        assert float(text.get_text().replace("<", "0")) == pytest.approx(p, abs=0.0051)
        assert p != float(table.pvalue.sel(metric=names[column], other_metric=names[row]))
    for patch in ax.patches:
        row, column = (round(start + 0.46) for start in (patch.get_y(), patch.get_x()))
        p = float(table.pvalue.sel(metric=names[row], other_metric=names[column]))
        step = sum(p > limit for limit in (0.001, 0.01, 0.05))
        assert matplotlib.colors.to_hex(patch.get_facecolor()) == pvalues._STEPS[step]


def test_densities_stand_on_their_rows_where_the_samples_are(interval):
    ax = interval.meta.plot.forest(order="given")
    areas = [each for each in ax.collections if not hasattr(each, "get_segments")]
    for row, (area, metric) in enumerate(zip(areas, interval.metric.values, strict=True)):
        samples = interval.samples.sel(metric=metric).values
        x, y = area.get_paths()[0].vertices.T
        assert x.min() == pytest.approx(samples.min()) and x.max() == pytest.approx(samples.max())
        assert y.max() == row and y.min() > row - 0.8
        highest = x[np.argmin(y)]
        density = scipy.stats.gaussian_kde(samples)
        assert density(highest) >= 0.999 * density(np.linspace(samples.min(), samples.max(), 500)).max()


# --- The confidence distribution of the jackknife, and the bias ---


def areas(ax):
    """The curves that are filled, as (x, heights), from the top row."""
    found = []
    for each in ax.collections:
        if not hasattr(each, "get_segments"):
            x, y = each.get_paths()[0].vertices.T
            upper = y < y.max()
            order = np.argsort(x[upper])
            found.append((y.max(), x[upper][order], (y.max() - y)[upper][order]))
    return [(x, heights) for _, x, heights in sorted(found, key=lambda curve: curve[0])]


def share_below(curve, limit):
    """The share of a filled area below a value, of which the tails of one in a thousand are not drawn."""
    x, heights = curve
    share = scipy.integrate.cumulative_trapezoid(heights, x, initial=0)
    return 0.001 + 0.998 * np.interp(limit, x, share / share[-1])


JACKKNIVES = {
    "systems": {"coefficient": "kendall"},
    "inputs": {"coefficient": "spearman", "level": "input"},
    "accuracies": {"coefficient": "pairwise_accuracy", "confidence_level": 0.8},
    "cells": {"level": "global", "confidence_level": 0.99},
    "differences": {"level": "input", "other": "length"},
    "differences of accuracies": {"coefficient": "pairwise_accuracy", "other": "bleu"},
    "a function": {"coefficient": lambda x, z: float(np.polyfit(z, x, 1)[0]), "method": "jackknife"},
}


@pytest.mark.parametrize("asked", JACKKNIVES)
def test_the_limits_are_quantiles_of_what_is_drawn(demo, asked):
    result = demo.meta.ci("human", metric=["bertscore", "rouge", "perplexity"], **JACKKNIVES[asked]).squeeze()
    tail = (1 - result.confidence_level) / 2
    curves = areas(result.meta.plot.forest(order="given"))
    assert len(curves) == 3
    for at, curve in enumerate(curves):
        one = result.isel(metric=at)
        assert share_below(curve, one.ci_low) == pytest.approx(tail, abs=0.001)
        assert share_below(curve, one.ci_high) == pytest.approx(1 - tail, abs=0.001)


@pytest.mark.parametrize("asked", ["systems", "inputs", "cells"])
def test_the_curve_is_a_scaled_t_on_the_scale_of_arctanh(demo, asked):
    result = demo.meta.ci("human", metric=["bertscore", "rouge"], **JACKKNIVES[asked])
    for at, (x, heights) in enumerate(areas(result.meta.plot.forest(order="given"))):
        r, bias, error, df = (float(result[name][at]) for name in ("correlation", "bias", "standard_error", "df"))
        density = scipy.stats.t.pdf((np.arctanh(x) - np.arctanh(r - bias)) * (1 - r**2) / error, df) / (1 - x**2)
        np.testing.assert_allclose(heights / heights.max(), density / density.max(), rtol=1e-3)


@pytest.mark.parametrize("asked", ["differences", "differences of accuracies"])
def test_limits_of_a_difference_at_other_levels_are_near_the_quantiles_of_what_is_drawn(demo, asked):
    settings = JACKKNIVES[asked]
    metrics = ["judge", "rouge", "perplexity"]
    curves = areas(demo.meta.ci("human", metric=metrics, **settings).squeeze().meta.plot.forest(order="given"))
    for level in (0.5, 0.8, 0.99):
        other = demo.meta.ci("human", metric=metrics, **settings, confidence_level=level).squeeze()
        for at, curve in enumerate(curves):
            assert share_below(curve, other.ci_low[at]) == pytest.approx((1 - level) / 2, abs=0.02)
            assert share_below(curve, other.ci_high[at]) == pytest.approx((1 + level) / 2, abs=0.02)


def test_a_limit_that_was_moved_to_hold_the_estimate_is_not_followed(demo):
    result = demo.meta.ci("human", metric=["rouge"], level="input")
    r, low, high = (float(result[name][0]) for name in ("correlation", "ci_low", "ci_high"))
    middle, width = np.arctanh([low, high]).mean(), np.diff(np.arctanh([low, high]))[0] / 2
    (drawn,) = areas(result.meta.plot.forest())
    for below in (True, False):
        # The same limits, about a centre of their own; the estimate lies outside, and the near limit holds it.
        estimate = low - 0.05 if below else high + 0.05
        moved = {"ci_low": min(low, estimate), "ci_high": max(high, estimate), "bias": estimate - np.tanh(middle)}
        odd = result.assign(
            {name: result[name] * 0 + value for name, value in {"correlation": estimate, **moved}.items()}
        )
        (curve,) = areas(odd.meta.plot.forest())
        assert share_below(curve, low) == pytest.approx(0.025, abs=0.001)
        assert share_below(curve, high) == pytest.approx(0.975, abs=0.001)
    assert width > 0 and drawn[0].min() < r < drawn[0].max()


def test_an_interval_that_fell_back_has_no_distribution_and_one_up_to_1_is_cut(demo):
    same = xr.concat([demo.score, demo.score.sel(metric=["human"]).assign_coords(metric=["again"])], "metric")
    with pytest.warns(UserWarning, match="again"):
        result = same.to_dataset().meta.ci("human", metric=["again", "judge"], coefficient="kendall")
    assert result.fell_back.values.tolist() == [True, False]
    assert len(areas(result.meta.plot.forest())) == 1
    wide = demo.isel(system=slice(5)).meta.ci("human", metric=["length"])
    ((x, heights),) = areas(wide.meta.plot.forest())
    assert heights.max() == pytest.approx(2 * np.interp(wide.correlation[0], x, heights), rel=0.02)
    with warns("few_systems"):
        widest = demo.isel(system=slice(4)).meta.ci("human")
    for x, heights in areas(widest.meta.plot.forest()):
        assert np.isfinite(heights).all() and (np.abs(x) <= 1).all()


def strokes(ax):
    return [line for line in ax.lines if line.get_marker() == "|"]


@pytest.mark.parametrize("density", [True, False])
def test_a_bias_that_matters_is_marked(density):
    result = of_demo("ci", "human", level="input", coefficient="spearman")
    matters = (abs(result.bias) > result.standard_error / 4).values
    assert matters.any() and not matters.all()
    ax = result.meta.plot.forest(density=density, order="given")
    (line,) = strokes(ax)
    np.testing.assert_array_equal(line.get_ydata(), np.flatnonzero(matters))
    np.testing.assert_allclose(line.get_xdata(), (result.correlation - result.bias)[matters])
    shade = ["density of plausible values"] if density else []
    stroke = "estimate less its bias\n(drawn where that exceeds ¼ standard error)"
    assert labels(ax.figure.legends[0].get_texts()) == [*shade, stroke]
    ax.figure.canvas.draw()
    box = ax.figure.legends[0].get_window_extent()
    assert box.x0 >= -1 and box.x1 <= ax.figure.bbox.x1 + 1 and box.y0 >= -1


def test_a_bias_that_does_not_matter_is_not_marked(demo):
    result = demo.meta.ci("human", level="input", metric=["length"])
    ax = result.meta.plot.forest()
    assert strokes(ax) == [] and labels(ax.figure.legends[0].get_texts()) == ["density of plausible values"]
    at_most = result.assign(bias=0.249 * result.standard_error)
    assert strokes(at_most.meta.plot.forest()) == []
    assert len(strokes(at_most.assign(bias=-0.251 * result.standard_error).meta.plot.forest())) == 1


def test_the_stroke_is_explained_beside_the_hues_and_on_axes_of_the_users(demo):
    levels = [demo.meta.ci("human", level=level, coefficient="spearman") for level in ("system", "input")]
    both = xr.concat(levels, pd.Index(["system", "input"], name="level"))
    ax = both.meta.plot.forest(hue="level")
    texts = labels(ax.figure.legends[0].get_texts())
    assert texts[:3] == ["system", "input", "density of plausible values"] and texts[3].startswith("estimate less")
    assert [line.get_color() for line in strokes(ax)] == [style.of(1)[0]]
    own = levels[1].meta.plot.forest(ax=plt.figure().subplots())
    assert own.figure.legends == [] and own.get_xlabel() == "Spearman's ρ with human"
    assert [text.get_text()[:22] for text in own.get_legend().get_texts()] == [
        "density of plausible v",
        "estimate less its bias",
    ]


def test_hues_stand_apart_in_their_own_colours(interval):
    both = xr.concat([interval, interval + 0.1], pd.Index(["system", "input"], name="level"))
    ax = both.meta.plot.forest(hue="level", density=False, order="given")
    points = [line for line in ax.lines if line.get_marker() in "os"]
    for at, (line, intervals) in enumerate(zip(points, ax.collections, strict=True)):
        one = both.isel(level=at)
        np.testing.assert_allclose(line.get_xdata(), one.correlation)
        np.testing.assert_allclose(line.get_ydata(), np.arange(3) + (-0.2, 0.2)[at])
        limits = [segment.T.tolist() for segment in intervals.get_segments()]
        want = [[[low, high], [y, y]] for low, high, y in zip(one.ci_low, one.ci_high, line.get_ydata(), strict=True)]
        np.testing.assert_allclose(limits, np.array(want, dtype=float))
        assert mpl.colors.same_color(intervals.get_color()[0], line.get_color())
        assert line.get_color() == style.of(at)[0]


@pytest.mark.parametrize(
    "p, step", [(0.0005, 0), (0.001, 0), (0.005, 1), (0.01, 1), (0.03, 2), (0.05, 2), (0.06, 3), (1, 3)]
)
def test_colours_follow_the_p_value(table, p, step):
    ax = table.assign(pvalue=table.pvalue.where(table.pvalue.isnull(), p)).meta.plot.pvalues()
    assert {matplotlib.colors.to_hex(patch.get_facecolor()) for patch in ax.patches} == {pvalues._STEPS[step]}


@pytest.mark.parametrize(
    "p, text",
    [
        (0.0004, "<.001"),
        (0.001, ".001"),
        (0.0456, ".046"),
        (0.0994, ".099"),
        (0.0996, ".10"),
        (0.5, ".50"),
        (1.0, "1.00"),
    ],
)
def test_p_values_are_written_short(p, text):
    assert pvalues._short(p) == text


def test_many_metrics_are_not_written_into(small):
    noise = np.random.default_rng(0).normal(size=(5, *small.score.shape))
    many = xr.concat(
        [(small + noise[at]).assign_coords(metric=[f"{name}{at}" for name in small.metric.values]) for at in range(5)],
        "metric",
    )
    result = many.meta.perm_test("m00", n_resamples=20, rng=0)
    assert not result.meta.plot.pvalues().texts
    assert result.meta.plot.pvalues(annotate=True).texts


def test_long_names_stay_inside_the_picture(small):
    """Each label lies within the figure, and no two overlap."""
    long = small.assign_coords(metric=["m0", *[f"a-very-long-metric-name_with_f1_variant_{at}" for at in "abc"]])
    for ax in (
        long.meta.ci("m0", n_resamples=20, rng=0).meta.plot.forest(),
        long.meta.perm_test("m0", n_resamples=20, rng=0).meta.plot.pvalues(),
    ):
        ax.figure.canvas.draw()
        whole = ax.figure.bbox
        for ticks in (ax.get_xticklabels(), ax.get_yticklabels()):
            found = [tick.get_window_extent() for tick in ticks if tick.get_text() in long.metric.values]
            assert all(box.x0 >= whole.x0 - 1 and box.y0 >= whole.y0 - 1 and box.x1 <= whole.x1 + 1 for box in found)
        rows = sorted(tick.get_window_extent().y0 for tick in ax.get_yticklabels())
        heights = [tick.get_window_extent().height for tick in ax.get_yticklabels()]
        assert all(b - a > 0.8 * max(heights) for a, b in zip(rows[:-1], rows[1:], strict=True))


def test_many_hues_are_told_apart_and_their_legend_fits(interval):
    labels = [f"a-rather-long-label-{at}" for at in range(9)]
    many = xr.concat([interval] * 9, pd.Index(labels, name="gold"))
    ax = many.meta.plot.forest(hue="gold")
    styles = {style.of(at) for at in range(9)}
    assert len(styles) == 9
    ax.figure.canvas.draw()
    box = ax.figure.legends[0].get_window_extent()
    assert box.x0 >= -1 and box.x1 <= ax.figure.bbox.x1 + 1 and box.y0 >= -1


def test_many_panels_are_laid_out_in_rows(interval):
    many = xr.concat([interval] * 6, pd.Index(list("abcdef"), name="gold"))
    axes = many.meta.plot.forest()
    assert len(axes) == 6 and len({round(ax.get_position().y0, 3) for ax in axes}) == 2


def test_dollars_in_names_are_no_formula(small):
    odd = small.assign_coords(metric=["m0", "a$\\b$", "$x_2$", "m3"])
    odd.meta.ci("m0", n_resamples=20, rng=0).meta.plot.forest().figure.canvas.draw()
    odd.meta.perm_test("m0", n_resamples=20, rng=0).meta.plot.pvalues().figure.canvas.draw()


def test_clusters_stand_on_grounds_of_their_own():
    table = of_demo("rank", "human", level="input", n_resamples=999, rng=1)
    ax = table.meta.plot.clusters()
    assert labels(ax.get_yticklabels()) == list(table.metric.values)
    points = next(line for line in ax.lines if line.get_marker() == "o")
    np.testing.assert_allclose(points.get_xdata(), table.correlation)
    np.testing.assert_array_equal(points.get_ydata(), np.arange(table.sizes["metric"]))
    assert [text.get_text() for text in ax.texts] == [str(each) for each in np.unique(table.cluster)]
    for text, ground in zip(ax.texts, ax.patches, strict=True):
        rows = np.flatnonzero(table.cluster == int(text.get_text()))
        assert [ground.get_y(), ground.get_y() + ground.get_height()] == [rows[0] - 0.5, rows[-1] + 0.5]
        assert text.xy == (1, rows.mean())
    assert ax.get_xlabel() == "Pearson's r with human"


def test_clusters_of_each_label_and_without_undefined_metrics():
    table = of_demo("rank", "human", level="input", n_resamples=999, rng=1)
    other = table.copy(deep=True)
    other["rank"][0], other["cluster"][0], other["correlation"][0] = 0, 0, np.nan
    axes = xr.concat([table, other], pd.Index(["a", "b"], name="quality")).meta.plot.clusters()
    assert [ax.get_title() for ax in axes] == ["a", "b"]
    undefined = other.metric.values[0]
    want = [name for name in table.metric.values if name != undefined]
    assert labels(axes[1].get_yticklabels()) == want and undefined in labels(axes[0].get_yticklabels())


def test_an_empty_result_is_said(interval, table):
    with pytest.raises(ValueError, match="the result is empty: there is nothing to draw"):
        interval.isel(metric=[]).meta.plot.forest()
    with pytest.raises(ValueError, match="the result is empty"):
        table.isel(metric=[]).meta.plot.pvalues()
    with pytest.raises(TypeError, match="density must be True or False"):
        interval.meta.plot.forest(density="no")


def test_undefined_results_can_be_drawn(small):
    small.score[2] = 1.0
    with warns("constant"):
        interval = small.meta.ci("m0", n_resamples=20, rng=0, keep_samples=True)
    with warns("constant"):
        table = small.meta.perm_test("m0", n_resamples=20, rng=0)
    interval.meta.plot.forest().figure.canvas.draw()
    table.meta.plot.pvalues().figure.canvas.draw()


def test_the_wrong_result_is_said(small, interval, table):
    with pytest.raises(ValueError, match="draws a result of ds.meta.ci, .* or ds.meta.drift, but"):
        table.meta.plot.forest()
    with pytest.raises(ValueError, match="draws a result of .*ds.meta.perm_test.*, but this is a result of ci"):
        interval.meta.plot.pvalues()
    with pytest.raises(ValueError, match="draws a result of ds.meta.rank.*, but this is a result of ci"):
        interval.meta.plot.clusters()
    with pytest.raises(ValueError, match="alpha must lie strictly between 0 and 1"):
        table.meta.plot.pvalues(alpha=0)


def test_without_matplotlib_the_extra_is_named(monkeypatch, interval):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'this needs matplotlib, .* pip install "\.\[plot\]"'):
        interval.meta.plot.forest()


def test_words_can_be_read_in_dark_styles():
    import matplotlib.pyplot as plt

    with plt.style.context("dark_background"):
        axis = of_demo("ci", "human", n_resamples=19, rng=0).meta.plot.forest()
        assert axis.get_yticklabels()[0].get_color() == "#dddddd"
    plt.close("all")
    axis = of_demo("ci", "human", n_resamples=19, rng=0).meta.plot.forest()
    assert axis.get_yticklabels()[0].get_color() == "#333333"
    plt.close("all")


def pairs(values, **attrs):
    """Tests of pairs whose differences are those of given values."""
    names = list(values)
    gap = np.subtract.outer(list(values.values()), list(values.values()))
    gap[np.eye(len(names), dtype=bool)] = np.nan
    p = np.where(np.isnan(gap), np.nan, 0.03 * np.exp(-5 * gap))
    result = xr.Dataset(coords={"metric": names, "other_metric": names}, attrs={"method": "permutation", **attrs})
    return result.assign(difference=(("metric", "other_metric"), gap), pvalue=(("metric", "other_metric"), p))


def test_rows_and_columns_are_sorted_by_who_beats_most():
    result = pairs({"b": 0.1, "a": 0.7, "c": 0.4})
    ax = result.meta.plot.pvalues()
    assert labels(ax.get_yticklabels()) == labels(ax.get_xticklabels()) == ["a", "c", "b"]
    shown = {text.get_position(): text.get_text() for text in ax.texts}
    assert shown[1, 0] == pvalues._short(float(result.pvalue.sel(metric="a", other_metric="c")))
    for order in ("name", ["b", "c"]):
        ax = result.meta.plot.pvalues(order=order)
        assert (
            labels(ax.get_yticklabels()) == labels(ax.get_xticklabels()) == (order if order != "name" else list("abc"))
        )
    ax = result.isel(other_metric=[0, 1]).meta.plot.pvalues()
    assert labels(ax.get_yticklabels()) == ["a", "c", "b"] and labels(ax.get_xticklabels()) == ["a", "b"]
    one_sided = result.drop_vars("difference").meta.plot.pvalues()
    assert labels(one_sided.get_yticklabels()) == ["a", "c", "b"]


def test_metrics_without_p_values_have_no_row_and_are_named():
    result = pairs({"b": 0.1, "a": 0.7, "c": 0.4})
    lost = result.where((result.metric != "c") & (result.other_metric != "c")).assign_attrs(result.attrs)
    ax = lost.meta.plot.pvalues()
    assert labels(ax.get_yticklabels()) == labels(ax.get_xticklabels()) == ["a", "b"]
    assert any("undefined: c" in text.get_text() for text in ax.figure.texts)
    lost.where(False).assign_attrs(result.attrs).meta.plot.pvalues().figure.canvas.draw()


def test_of_many_metrics_p_values_of_the_best_are_drawn():
    result = pairs({f"m{at:02d}": -at / 10 for at in range(41)})
    ax = result.meta.plot.pvalues()
    assert labels(ax.get_yticklabels()) == labels(ax.get_xticklabels()) == [f"m{at:02d}" for at in range(20)]
    assert any("the 20 best of 41" in text.get_text() for text in ax.figure.texts)
    few = result.meta.plot.pvalues(metric=["m40", "m30"])
    assert labels(few.get_yticklabels()) == labels(few.get_xticklabels()) == ["m30", "m40"]


def test_the_picture_says_whether_p_values_are_corrected(small):
    asked = {"level": "input", "n_resamples": 299, "rng": 0}
    for adjust, words in ((None, "not corrected"), ("holm", "Holm over all tests")):
        ax = small.meta.perm_test("m0", adjust=adjust, **asked).meta.plot.pvalues()
        (note,) = [text.get_text() for text in ax.figure.texts]
        told = " ".join(note.split())
        assert told.startswith("Pearson's r with m0; input level; permutation test") and words in told


@pytest.mark.parametrize("theme", ["default", "dark_background"])
def test_words_on_cells_can_be_read(theme):
    def luminance(colour):
        rgb = np.array(matplotlib.colors.to_rgb(colour))
        return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    with plt.style.context(theme):
        ax = pairs({"a": 0.0, "b": 0.2, "c": 0.5, "d": 1.2}).meta.plot.pvalues()
    areas_at = {(round(p.get_x() + 0.46), round(p.get_y() + 0.46)): p.get_facecolor() for p in ax.patches}
    assert len({matplotlib.colors.to_hex(each) for each in areas_at.values()}) == 4
    for text in ax.texts:
        low, high = sorted(luminance(each) + 0.05 for each in (text.get_color(), areas_at[text.get_position()]))
        assert high / low >= 4.5 and text.get_fontsize() >= 7
