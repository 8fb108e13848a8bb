"""What the forest sets off, leaves out and says."""

import functools

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import pytest  # noqa: E402
import xarray as xr  # noqa: E402
from cases import of_demo  # noqa: E402

import xsumstat  # noqa: E402
from xsumstat.plots import style  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@functools.cache
def of_raters():
    demo = xsumstat.load_dataset("demo")
    noise = xr.DataArray(np.random.default_rng(0).normal(size=(3, 12, 30)), dims=("rater", "system", "input"))
    return demo.meta.human_ceiling(demo.score.sel(metric="human", drop=True) + 8 * noise, level="input")


@pytest.fixture
def raters():
    return of_raters().copy(deep=True)


def rows(ax):
    return [tick.get_text() for tick in ax.get_yticklabels()]


def points(ax, marker):
    """Name of the row, value and colour of each point with a marker."""
    found = [line for line in ax.lines if line.get_marker() == marker and line.get_markersize() > 4]
    return {rows(ax)[round(y)]: (x, line.get_color()) for line in found for x, y in zip(*line.get_data(), strict=True)}


def band(ax, limits):
    """Whether an area reaches over all rows between two values."""
    boxes = [patch.get_extents().transformed(ax.transData.inverted()) for patch in ax.patches]
    return any(np.allclose([box.x0, box.x1], limits) for box in boxes)


def small_words(ax):
    return " ".join(" ".join(text.get_text().split()) for text in [*ax.figure.texts, *ax.texts])


def test_the_ceiling_is_a_band_with_its_interval(raters):
    ax = of_demo("ci", "human", level="input").meta.plot.forest(ceiling=raters)
    own = raters.sel(metric="rater")
    assert band(ax, [own.ci_low, own.ci_high])
    assert any(np.allclose(line.get_xdata(), own.correlation) for line in ax.lines if line.get_linestyle() == "--")
    want = f"{float(own.correlation):.2f} [{float(own.ci_low):.2f}, {float(own.ci_high):.2f}]"
    assert any(want in text.get_text() for text in ax.figure.legends[0].get_texts())
    assert "rater" not in rows(ax)


def test_raters_stand_on_top_of_the_metrics_that_they_are_compared_with(raters):
    ax = raters.meta.plot.forest()
    assert rows(ax) == ["rater", *raters.drop_sel(metric="rater").correlation.to_series().sort_values()[::-1].index]
    ((name, (value, color)),) = points(ax, "D").items()
    assert name == "rater" and value == pytest.approx(float(raters.correlation.sel(metric="rater")))
    assert color == style.ink() and style.ink() not in {each for _, each in points(ax, "o").values()}
    own = raters.sel(metric="rater")
    assert band(ax, [own.ci_low, own.ci_high])
    single = [line.get_xdata() for line in ax.lines if line.get_marker() == "o" and line.get_markersize() < 4]
    np.testing.assert_allclose(single, [own.by_rater])
    assert ax.get_xlabel() == "Pearson's r with the mean of the other raters"


def test_scores_by_people_are_set_off(demo):
    noise = np.random.default_rng(0).normal(size=(12, 30))
    other = (demo.score.sel(metric=["human"]) + 5 * noise).assign_coords(metric=["second"], kind=("metric", ["human"]))
    both = xr.concat([demo.score, other], "metric").to_dataset()
    result = both.meta.ci("human", metric=["judge", "second", "rouge"])
    ax = result.meta.plot.forest()
    assert set(points(ax, "D")) == {"second"} and set(points(ax, "o")) == {"judge", "rouge"}
    assert [text.get_text() for text in ax.figure.legends[0].get_texts()][:2] == ["metric", "human scores"]
    (row,) = [patch for patch in ax.patches if patch.get_width() > 0.99]  # of the panel's width
    assert row.get_y() + 0.5 == rows(ax).index("second")
    assert not points(result.sel(metric=["judge", "rouge"]).meta.plot.forest(), "D")


@pytest.mark.parametrize(
    "ask, message",
    [
        (lambda d, r: d.meta.ci("human", level="input").meta.plot.forest(ceiling=d), "must be what human_ceiling"),
        (lambda d, r: d.meta.ci("human").meta.plot.forest(ceiling=r), "level of the result, 'system', not 'input'"),
        (
            lambda d, r: d.meta.ci("human", level="input", coefficient="spearman").meta.plot.forest(ceiling=r),
            "coefficient of the result, 'spearman', not 'pearson'",
        ),
        (
            lambda d, r: d.meta.ci("human", level="input", other="bleu").meta.plot.forest(ceiling=r),
            "the result holds differences",
        ),
        (
            lambda d, r: d.meta.ci("human", level="input").meta.plot.forest(ceiling=r.expand_dims(quality=2)),
            "ceiling has the dim 'quality'",
        ),
    ],
)
def test_a_ceiling_of_something_else_is_refused(demo, raters, ask, message):
    with pytest.raises(ValueError, match=message):
        ask(demo, raters)


def test_each_panel_has_the_ceiling_of_its_own_label(raters):
    both = pd.Index(["a", "b"], name="quality")
    result = xr.concat([of_demo("ci", "human", level="input")] * 2, both)
    axes = result.meta.plot.forest(ceiling=xr.concat([raters, raters - 0.2], both))
    own = raters.sel(metric="rater")
    for ax, less in zip(axes, (0, 0.2), strict=True):
        assert band(ax, [own.ci_low - less, own.ci_high - less])


def test_no_metric_has_a_row_beside_itself():
    gaps = of_demo("ci", "human", other=["bleu", "judge"])
    for ax in gaps.meta.plot.forest():
        other = ax.get_title().removeprefix("vs ")
        want = gaps.difference.sel(other_metric=other).dropna("metric").to_series().sort_values(ascending=False)
        assert rows(ax) == want.index.tolist() and other not in want
        ends = [segment for each in ax.collections if hasattr(each, "get_segments") for segment in each.get_segments()]
        assert len(ends) == len(want)


def test_a_metric_beside_itself_alone_is_not_called_undefined(demo):
    one = demo.meta.ci("human", other=["bleu"])
    for ax in (one.meta.plot.forest(), demo.meta.perm_test("human", other="bleu", n_resamples=99).meta.plot.pvalues()):
        assert "bleu" not in rows(ax) and len(rows(ax)) == 5 and "undefined" not in small_words(ax)


def test_one_metric_beside_several_has_one_panel_with_a_row_for_each(demo):
    pairs = of_demo("compare_metrics", "human", metric=["judge", "bleu", "rouge"])
    want = pairs.difference.sel(metric="judge").drop_sel(other_metric="judge").to_series().sort_values(ascending=False)
    alone = demo.meta.ci("human", metric=["judge"], other=["bleu", "rouge"])
    for ax in (
        pairs.meta.plot.forest(metric="judge"),
        pairs.meta.plot.forest(order=["judge"]),
        pairs.sel(metric="judge").meta.plot.forest(),
        alone.meta.plot.forest(),
    ):
        assert rows(ax) == want.index.tolist() and ax.get_title() == ""
        np.testing.assert_allclose(list(points(ax, "o").values())[0][0], want.iloc[0])
        assert ax.get_xlabel().endswith("\n(judge minus the row's metric)")
    assert rows(alone.meta.plot.forest(order=["rouge", "bleu"], highlight="bleu")) == ["rouge", "bleu"]
    assert len(pairs.meta.plot.forest(metric="judge", hue="other_metric").get_yticklabels()) == 1
    with pytest.raises(ValueError, match="unknown metric 'judges'; did you mean 'judge'"):
        pairs.meta.plot.forest(metric="judges")


def test_a_single_row_has_space_beside_legend_and_note(demo):
    for found in (
        demo.meta.compare_metrics("human", metric=["judge"], other=["bleu"]),
        of_demo("ci", "human")[{"metric": [0]}],
    ):
        found.meta.plot.forest().figure.canvas.draw()  # without the warning that the layout is not applied


def test_what_a_density_is_stands_below(demo):
    said = "density of plausible values: its quantiles are the limits of intervals at all confidence levels"
    assert said in small_words(of_demo("ci", "human").meta.plot.forest())
    assert "density" not in small_words(of_demo("ci", "human").meta.plot.forest(density=False))
    assert "density" not in small_words(demo.meta.ci("human", method="fisher").meta.plot.forest())
    drawn = demo.meta.ci("human", method="bootstrap", n_resamples=99, rng=0, keep_samples=True).meta.plot.forest()
    assert "density of plausible values: the distribution of the resampled estimates, smoothed" in small_words(drawn)


def test_metrics_without_an_estimate_have_no_row_and_are_named():
    result = of_demo("ci", "human")
    result["correlation"][2] = np.nan
    ax = result.meta.plot.forest()
    assert "rouge" not in rows(ax) and len(rows(ax)) == 5
    assert "undefined: rouge" in small_words(ax)
    result.where(False).assign_attrs(result.attrs).meta.plot.forest().figure.canvas.draw()  # nothing to see, no error


@pytest.fixture
def many():
    result = of_demo("ci", "human", metric=["judge"])
    return xr.concat(
        [(result - at / 50).assign_coords(metric=[f"m{at:02d}"]) for at in range(41)],
        "metric",
        combine_attrs="override",
    )


def test_of_many_metrics_the_best_are_drawn_and_it_is_said(many):
    ax = many.isel(metric=np.random.default_rng(0).permutation(41)).meta.plot.forest()
    assert rows(ax) == [f"m{at:02d}" for at in range(20)]
    assert "the 20 best of 41 metrics" in small_words(ax)
    others = [f"m{at:02d}" for at in range(40, 10, -1)]
    ax = many.meta.plot.forest(metric=others)
    assert rows(ax) == others[::-1] and "best of" not in small_words(ax)
    with pytest.raises(ValueError, match="unknown metric 'm41'"):
        many.meta.plot.forest(metric="m41")
    with pytest.raises(ValueError, match="order must be"):
        many.meta.plot.forest(order="best")
    with pytest.raises(ValueError, match="the result is empty"):
        many.meta.plot.forest(metric=[])


def test_differences_from_many_metrics_are_drawn_for_a_few(many):
    gaps = many.rename(correlation="difference").expand_dims(other_metric=[f"o{at}" for at in range(9)])
    axes = gaps.isel(metric=slice(3)).meta.plot.forest()
    assert len(axes) == 8 and "beside 8 of 9 other metrics" in small_words(axes[0])


def test_how_the_intervals_were_made_stands_below():
    assert "95 %" in small_words(of_demo("ci", "human").meta.plot.forest())
    figure, (left, right) = plt.subplots(1, 2)
    of_demo("ci", "human", level="input").meta.plot.forest(ax=left, title="left")
    assert not figure.texts and not figure.legends and not right.texts and right.get_legend() is None
    assert left.get_title() == "left" and any("95 %" in text.get_text() for text in left.texts)


def test_a_highlighted_metric_is_bold_and_never_left_out(demo):
    found = demo.meta.ci("human", level="input")
    for ax in (
        found.meta.plot.forest(highlight="bleu"),
        demo.meta.corr("human").meta.plot.bars(highlight=["bleu"]),
        demo.meta.rank("human", n_resamples=99, rng=0).meta.plot.clusters(highlight="bleu"),
    ):
        bold = [label.get_text() for label in ax.get_yticklabels() if label.get_fontweight() == "bold"]
        assert bold == ["bleu"]
    many = xr.concat([demo.score.sel(metric="length").assign_coords(metric=f"m{at:02}") for at in range(25)], "metric")
    scores = xr.Dataset({"score": many, "human": demo.score.sel(metric="human", drop=True)})
    ax = scores.meta.corr("human").meta.plot.bars(order="given", highlight="m24")
    assert [label.get_text() for label in ax.get_yticklabels()][-2:] == ["m19", "m24"]
    assert "1 highlighted one" in ax.figure.texts[-1].get_text()
    with pytest.raises(ValueError, match="unknown highlight 'blue'; did you mean 'bleu'"):
        found.meta.plot.forest(highlight="blue")


def dashes(ax):
    """Ends of the margins that are drawn in each row, by its name."""
    strokes = [each for each in ax.collections if each.get_linestyle()[0][1] is not None]
    found = {}
    for each in strokes:
        for (x, low), (_, high) in each.get_segments():
            found.setdefault(rows(ax)[round((low + high) / 2)], set()).add(round(float(x), 9))
    return found


def test_equivalence_shows_its_margins(demo):
    found = demo.meta.equivalence(
        "human", metric=["judge", "bleu"], other="rouge", margin=0.1, level="input", method="jackknife"
    )
    ax = found.meta.plot.forest()
    assert dashes(ax) == {"judge": {-0.1, 0.1}, "bleu": {-0.1, 0.1}}
    assert "equivalence margin of ±.10" in [text.get_text() for text in ax.figure.legends[0].get_texts()]
    apart = found.assign(margin=found.margin + xr.DataArray([0.0, 0.2], {"metric": ["judge", "bleu"]}, ["metric"]))
    ax = apart.meta.plot.forest()
    assert dashes(ax) == {"judge": {-0.1, 0.1}, "bleu": {-0.3, 0.3}}
    assert "equivalence margin" in [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert dashes(demo.meta.ci("human").meta.plot.forest()) == {}


@pytest.mark.parametrize("picture", ["forest", "bars"])
def test_a_lazy_result_is_computed_once_for_a_picture(demo, picture):
    dask = pytest.importorskip("dask")
    from dask.callbacks import Callback

    runs = []
    lazy = demo.chunk().meta.ci("human", level="input")
    with Callback(start=lambda graph: runs.append(len(graph))), dask.config.set(scheduler="sync"):
        drawn = getattr(lazy.meta.plot, picture)()
    assert len(runs) == 1
    eager = getattr(demo.meta.ci("human", level="input").meta.plot, picture)()
    assert rows(drawn) == rows(eager)
    assert any(values.chunks for values in lazy.data_vars.values())  # the result itself stays as it was
