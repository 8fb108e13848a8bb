import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
import xarray as xr  # noqa: E402
from cases import of_demo  # noqa: E402
from helpers import by_turns  # noqa: E402

import xsumstat  # noqa: E402, F401
from xsumstat.plots.style import HUES  # noqa: E402

UNTOLD = "#666666"


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_heatmap_is_ordered_by_mean_and_marks_what_is_missing(demo):
    ds = demo.copy(deep=True)
    ds.score[0, 3, 5] = ds.score[0, 7, 5] = np.nan
    axis = ds.meta.plot.heatmap()
    human = ds.score.sel(metric="human")
    systems = human.mean("input").to_series().sort_values(ascending=False).index
    inputs = human.mean("system").to_series().sort_values(ascending=False).index
    drawn = axis.images[0].get_array()
    np.testing.assert_array_equal(drawn.filled(np.nan), human.sel(system=systems, input=inputs).transpose("input", ...))
    assert [text.get_text() for text in axis.get_xticklabels()] == list(systems)
    assert [text.get_text() for text in axis.get_yticklabels()] == list(inputs)
    places = {(inputs[int(y)], systems[int(x)]) for x, y in axis.lines[0].get_xydata()}
    assert places == {("doc-06", demo.system.values[3]), ("doc-06", demo.system.values[7])}
    assert axis.get_xlabel() == "12 systems, the best left" and axis.get_ylabel() == "30 inputs, the best on top"
    assert [text.get_text() for text in axis.figure.legends[0].get_texts()] == ["missing score"]
    assert [text.get_text() for text in axis.figure.texts] == ["missing scores: 2 of 360"]
    axes = ds.meta.plot.heatmap(metric=["judge", "perplexity"])
    assert [each.get_title() for each in axes] == ["judge", "perplexity"]
    lower_is_better = axes[1].images[0]
    assert lower_is_better.get_array().min() > 0 and lower_is_better.get_cmap().name == "viridis_r"
    assert [bar.get_ylabel() for bar in axes[0].figure.axes[2:]] == ["score", "score, lower is better"]
    _, given = plt.subplots()
    assert ds.meta.plot.heatmap(metric="judge", ax=given) is given
    with pytest.raises(ValueError, match="select one label"):
        xr.concat([ds[["score"]]] * 2, "language").meta.plot.heatmap(metric="judge")


def test_heatmap_has_one_order_in_all_panels(demo):
    axes = demo.meta.plot.heatmap(metric=["perplexity", "judge"])
    first = demo.score.sel(metric="perplexity")  # the lowest is the best
    systems = first.mean("input").to_series().sort_values().index
    inputs = first.mean("system").to_series().sort_values().index
    for axis, metric in zip(axes, ["perplexity", "judge"], strict=True):
        want = demo.score.sel(metric=metric, system=systems, input=inputs).transpose("input", "system")
        np.testing.assert_array_equal(axis.images[0].get_array(), want)
        assert [text.get_text() for text in axis.get_xticklabels()] == list(systems)
        assert axis.get_xlabel() == "12 systems, the best by perplexity left"
    given = demo.meta.plot.heatmap(order="given").images[0].get_array()
    np.testing.assert_array_equal(given, demo.score.sel(metric="human").transpose("input", "system"))
    three = ["extractor-2", "abstractor-1", "extractor-4"]
    assert [text.get_text() for text in demo.meta.plot.heatmap(order=three).get_xticklabels()] == three
    byname = demo.isel(input=slice(None, None, -1)).meta.plot.heatmap(order="name")
    assert [text.get_text() for text in byname.get_yticklabels()] == sorted(demo.input.values)
    with pytest.raises(ValueError, match="unknown label in order 'extractor-99'; did you mean"):
        demo.meta.plot.heatmap(order=["extractor-99"])
    with pytest.raises(ValueError, match="order must be one of"):
        demo.meta.plot.heatmap(order="mean")


@pytest.mark.parametrize("missing", [0, 1])
def test_bright_is_good_whether_or_not_scores_are_missing(demo, missing):
    ds = demo.copy(deep=True)
    ds.score[:, 3, 5] = np.nan if missing else ds.score[:, 3, 5]
    axes = ds.meta.plot.heatmap(metric=["judge", "perplexity"])
    notes = [text.get_text() for text in axes[0].figure.texts]
    assert notes == (["missing scores: 1 of 360 by judge, 1 of 360 by perplexity"] if missing else [])
    for axis, best in zip(axes, (np.nanmax, np.nanmin), strict=True):
        (image,) = axis.images
        drawn = image.get_array().filled(np.nan)
        brightness = image.to_rgba(drawn)[..., :3].mean(axis=-1)
        assert brightness[drawn == best(drawn)][0] == np.nanmax(np.where(np.isnan(drawn), np.nan, brightness))


def drawn_points(axis):
    """Points (x, row) of all lines, from the lowest row up."""
    points = np.concatenate([line.get_xydata() for line in axis.lines])
    return points[np.argsort(points[:, 1])]


def test_input_effect_draws_mean_ranks_and_their_limits(demo):
    effect = demo.meta.input_effect(metric="judge").squeeze("metric")
    axis = effect.meta.plot.input_effect(highlight="doc-07")
    here = effect.sortby("mean_rank")
    rows = np.arange(30)
    lines, points = axis.collections[0].get_segments(), drawn_points(axis)
    np.testing.assert_allclose([line[:, 0] for line in lines], np.array([here.ci_low, here.ci_high]).T)
    np.testing.assert_array_equal([line[:, 1] for line in lines], np.array([rows, rows]).T)
    np.testing.assert_allclose(points, np.array([here.mean_rank, rows]).T)
    marked = here.sel(input="doc-07")
    (span,) = axis.patches
    assert [span.get_x(), span.get_x() + span.get_width()] == pytest.approx(
        [float(marked.ci_low), float(marked.ci_high)]
    )
    colors = [mpl.colors.to_hex(color).upper() for color in axis.collections[0].get_colors()]
    assert axis.texts[0].get_text() == f"differs from {colors.count(HUES[1])} of 29"
    assert axis.get_xlim()[0] >= 1 and axis.get_xlim()[1] <= 360
    assert axis.get_xlabel() == "mean rank of the input's scores\n(1 the worst, 360 the best)"
    assert [text.get_text() for text in axis.get_yticklabels()] == here.input.values.tolist()
    some = effect.meta.plot.input_effect(order=["doc-07", "doc-01", "doc-30"])
    assert [text.get_text() for text in some.get_yticklabels()] == ["doc-30", "doc-01", "doc-07"]  # the first on top
    want = effect.mean_rank.sel(input=["doc-30", "doc-01", "doc-07"])
    np.testing.assert_allclose(drawn_points(some)[:, 0], want)


def test_no_mean_rank_below_1_is_in_sight():
    mean = xr.DataArray([2.0, 5.0, 8.0], {"input": ["a", "b", "c"]}, name="mean_rank")
    result = xr.Dataset({"mean_rank": mean, "ci_low": mean - 4, "ci_high": mean + 4, "critical": 9.0})
    axis = result.assign(n_scores=("input", [3, 3, 3])).meta.plot.input_effect()
    assert axis.get_xlim() == (1, 9)


def test_input_effect_takes_the_number_of_scores_of_both_inputs():
    """critical · sqrt(1/n + 1/m): 19.8 · sqrt(1 + 1/16) = 20.4 and 19.8 · sqrt(1 + 1/100) = 19.9."""
    mean = xr.DataArray([10.0, 30.0, 30.0], {"input": ["a", "b", "c"]}, name="mean_rank")
    result = xr.Dataset({"mean_rank": mean, "ci_low": mean - 5, "ci_high": mean + 9, "critical": 19.8})
    axis = result.assign(n_scores=("input", [1, 16, 100])).meta.plot.input_effect()
    colors = [mpl.colors.to_hex(color).upper() for color in axis.collections[0].get_colors()]
    assert colors == [HUES[0], HUES[1], UNTOLD]  # a, c, b from below: of equals the first is on top
    np.testing.assert_array_equal(drawn_points(axis)[:, 0], mean)
    assert axis.texts[0].get_text() == "differs from 1 of 2"


def test_input_effect_colours_what_differs(demo):
    demo.score[:, 2:9, 5:12] = np.nan
    effect = demo.meta.input_effect(metric=["human", "judge"])
    axes = effect.meta.plot.input_effect(highlight="doc-07")
    assert [axis.get_title() for axis in axes] == ["human", "judge"]
    for axis, metric in zip(axes, ("human", "judge"), strict=True):
        here = effect.sel(metric=metric, input=effect.input[::-1]).sortby("mean_rank")  # the first of equals on top
        names = here.input.values.tolist()
        assert [text.get_text() for text in axis.get_yticklabels()] == names
        at = names.index("doc-07")
        critical, n = float(here.critical), here.n_scores.values
        colors = [mpl.colors.to_hex(color).upper() for color in axis.collections[0].get_colors()]
        one = here.isel(input=at)
        for place, color in enumerate(colors):
            gap = abs(float(here.isel(input=place).mean_rank - one.mean_rank))
            apart = gap > critical * np.sqrt(1 / n[place] + 1 / n[at])
            assert color == (HUES[0] if place == at else HUES[1] if apart else UNTOLD)
    lowest = effect.sel(metric="judge").meta.plot.input_effect()
    names = [label.get_text() for label in lowest.get_yticklabels()]
    assert names[int(lowest.texts[0].xy[1])] == effect.sel(metric="judge").mean_rank.idxmin().item()
    with pytest.raises(ValueError, match="unknown highlight 'doc-99'"):
        effect.meta.plot.input_effect(highlight="doc-99")
    empty = effect.sel(metric="judge").where(False)
    assert empty.meta.plot.input_effect().texts[0].get_text() == "no ranks"


def test_top_k_draws_the_curve_and_its_band(demo):
    curve = demo.meta.top_k_corr("human", metric=["judge", "bleu"], k=[12, 9, 6], n_resamples=50, rng=1)
    axes = curve.meta.plot.top_k()
    assert axes[0].get_ylabel() == "Pearson's r with human" and axes[0].get_xlabel() == "k best systems"
    assert list(axes[0].get_xticks()) == [12, 9, 6]
    assert [axis.get_title() for axis in axes] == ["judge", "bleu"]
    for axis, metric in zip(axes, ("judge", "bleu"), strict=True):
        here = curve.sel(metric=metric)
        np.testing.assert_array_equal(axis.lines[0].get_xydata(), np.array([here.k, here.correlation]).T)
        band = axis.collections[0].get_paths()[0].vertices
        assert band[:, 1].min() == here.ci_low.min() and band[:, 1].max() == here.ci_high.max()
    assert axes[0].get_xlim()[0] > axes[0].get_xlim()[1]  # k shrinks to the right
    one = curve.meta.plot.top_k(hue="metric")
    for line, band, metric in zip(one.lines, one.collections, ("judge", "bleu"), strict=False):
        here = curve.sel(metric=metric)
        np.testing.assert_array_equal(line.get_xydata(), np.array([here.k, here.correlation]).T)
        corners = {tuple(corner) for corner in band.get_paths()[0].vertices}
        assert {*zip(here.k.values, here.ci_low.values, strict=True)} <= corners
        assert {*zip(here.k.values, here.ci_high.values, strict=True)} <= corners
        assert mpl.colors.same_color(band.get_facecolor()[0][:3], line.get_color())
    assert [text.get_text() for text in one.figure.legends[0].get_texts()] == ["judge", "bleu"]


def test_intervals_of_many_lines_are_left_out_with_a_note():
    curve = of_demo("top_k_corr", "human", k=[12, 9, 6])
    axis = curve.meta.plot.top_k(hue="metric")
    assert len(axis.lines) == 6 + (axis.get_ylim()[0] < 0) and not axis.collections
    assert "intervals of more than 4 lines are not drawn" in axis.figure.texts[0].get_text()
    best = curve.correlation.mean("k").to_series().sort_values(ascending=False).index.tolist()
    assert [text.get_text() for text in axis.figure.legends[0].get_texts()] == best
    for line, metric in zip(axis.lines, best, strict=False):
        np.testing.assert_array_equal(line.get_ydata(), curve.correlation.sel(metric=metric))
    assert len({(line.get_color(), line.get_marker()) for line in axis.lines[:6]}) == 6


def test_close_corr_draws_groups_of_the_best_first(demo):
    found = demo.meta.close_corr("human", gap=[0.3, 1.0])
    axis = found.meta.plot.close_corr()
    best = found.correlation.mean("gap").to_series().sort_values(ascending=False).index.tolist()
    assert [text.get_text() for text in axis.figure.legends[0].get_texts()] == best
    drawn = [line.get_xydata() for line in axis.lines if line.get_marker() not in ("None", "")]
    for points, whiskers_of, metric in zip(drawn, axis.collections, best, strict=True):
        one = found.sel(metric=metric)
        np.testing.assert_array_equal(points[:, 1], one.correlation)
        np.testing.assert_array_equal(np.round(points[:, 0]), [0, 1])
        ends = np.array(whiskers_of.get_segments())[:, :, 1].T
        np.testing.assert_array_equal(ends, [one.ci_low, one.ci_high])
    left = [points[0, 0] for points in drawn]
    assert left == sorted(left) and len(set(left)) == 6
    assert [text.get_text() for text in axis.get_xticklabels()] == ["to 0.3", "to 1"]
    assert axis.get_xlabel() == "share of the pairs of systems, the closest by the metric first"
    raw = demo.meta.close_corr("human", metric="judge", gap=[2.0, 9.0], unit="score")
    assert raw.meta.plot.close_corr().get_xlabel() == "difference of two systems' mean scores by the metric"


def test_confusion_writes_the_numbers_of_pairs(demo):
    found = demo.meta.discriminative_agreement("human", metric=["judge", "bleu"], n_resamples=99, rng=1)
    axes = found.meta.plot.confusion()
    for axis, metric in zip(axes, ("judge", "bleu"), strict=True):
        here = found.sel(metric=metric)
        assert axis.get_title() == f"{metric}\nF1 {float(here.f1):.2f}"
        assert [int(text.get_text()) for text in axis.texts] == here.confusion.values.ravel().tolist()
        places = {(y, x): int(text.get_text()) for text in axis.texts for x, y in [text.get_position()]}
        verdicts = here.metric_verdict.values.tolist()
        for (row, column), count in places.items():
            assert count == here.confusion.sel(gold_verdict=verdicts[row], metric_verdict=verdicts[column])
        rows = here.confusion.transpose("gold_verdict", "metric_verdict").values
        np.testing.assert_allclose(axis.collections[0].get_array(), [row / sum(row) for row in rows])
        assert [text.get_text() for text in axis.get_xticklabels()] == verdicts
    assert [text.get_text() for text in axes[0].get_yticklabels()] == verdicts
    assert axes[0].get_ylabel() == "verdict by human" and axes[0].get_xlabel() == "verdict by the metric"
    assert axes[0].figure.texts[-1].get_text().startswith("pairs of systems: the first, the second")


def test_confusion_shows_the_largest_f1_first():
    found = of_demo("discriminative_agreement", "human", n_resamples=99, rng=1)
    best = found.f1.to_series().sort_values(ascending=False).index.tolist()
    assert [axis.get_title().split("\n")[0] for axis in found.meta.plot.confusion()] == best
    two = found.meta.plot.confusion(metric=["bleu", "rouge"], order="name")
    assert [axis.get_title().split("\n")[0] for axis in two] == ["bleu", "rouge"]


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_numbers_on_colour_can_be_read(style):
    found = of_demo("discriminative_agreement", "human", metric=["judge", "length"], n_resamples=99, rng=1)
    with plt.style.context(style):
        for axis in found.meta.plot.confusion():
            (image,) = axis.collections
            for text in axis.texts:
                column, row = text.get_position()
                ground = image.to_rgba(image.get_array())[row, column, :3]
                assert contrast(text.get_color(), ground) >= 4.5


def contrast(one, two):
    """WCAG's ratio of luminances, 1 to 21."""
    linear = [np.array(mpl.colors.to_rgb(each)) for each in (one, two)]
    linear = [np.where(each <= 0.04045, each / 12.92, ((each + 0.055) / 1.055) ** 2.4) for each in linear]
    low, high = sorted(float(each @ [0.2126, 0.7152, 0.0722]) + 0.05 for each in linear)
    return high / low


def test_bars_stand_in_groups():
    r = of_demo("corr", "human", by="system_type")
    axis = r.meta.plot.bars()
    best = r.correlation.mean("system_type").to_series().sort_values(ascending=False).index.tolist()
    assert [text.get_text() for text in axis.get_yticklabels()] == best
    assert axis.get_ylim()[0] > axis.get_ylim()[1]  # the first on top
    lengths = [bar.get_width() for bar in axis.patches]
    assert lengths == pytest.approx(r.correlation.sel(metric=best).transpose("system_type", "metric").values.ravel())
    assert [text.get_text() for text in axis.figure.legends[0].get_texts()] == ["abstractive", "extractive", "all"]
    assert axis.get_xlabel() == "Pearson's r with human"
    found = of_demo("discriminative_agreement", "human", n_resamples=99, rng=1)
    assert found.meta.plot.bars().get_xlabel() == "support-weighted F1 of verdicts"
    assert len(found.meta.plot.bars("confusion", hue="metric_verdict")) == 3
    given = found.meta.plot.bars("accuracy", order="given")
    assert [bar.get_width() for bar in given.patches] == found.accuracy.values.tolist()
    assert [text.get_text() for text in given.get_yticklabels()] == found.metric.values.tolist()


def whiskers(axis):
    """(y, low, high) of each line across, from the top."""
    found = [each.get_segments() for each in axis.collections if hasattr(each, "get_segments")]
    return sorted((line[0, 1], line[0, 0], line[1, 0]) for lines in found for line in lines)


def caps(axis):
    """(y, x) of the ends of whiskers."""
    points = [line.get_xydata()[:, ::-1] for line in axis.lines if line.get_marker() == "|"]
    return sorted(map(tuple, np.concatenate(points))) if points else []


def test_bars_have_whiskers_where_there_are_intervals(demo):
    found = demo.meta.ci("human", by="system_type", n_resamples=50, rng=0)
    axis = found.meta.plot.bars(order="given")
    types, n = found.system_type.values.tolist(), found.sizes["metric"]
    assert [text.get_text() for text in axis.get_yticklabels()] == found.metric.values.tolist()
    want = []
    for place, bar in enumerate(axis.patches):  # all metrics of the first type, then of the second ...
        one = found.isel(metric=place % n).sel(system_type=types[place // n])
        assert bar.get_width() == one.correlation
        assert round(bar.get_y() + bar.get_height() / 2) == place % n
        want.append((bar.get_y() + bar.get_height() / 2, float(one.ci_low), float(one.ci_high)))
    np.testing.assert_allclose(whiskers(axis), sorted(want))
    np.testing.assert_allclose(caps(axis), sorted((y, end) for y, *ends in want for end in ends))
    top = [bar.get_y() for bar in axis.patches]
    assert all(top[at] < top[at + n] < top[at + 2 * n] for at in range(n))
    assert "95 % jackknife intervals" in axis.figure.texts[0].get_text()


def test_whiskers_of_differences(demo):
    gap = demo.meta.ci("human", other=["rouge"], n_resamples=50, rng=0).drop_sel(metric="rouge")
    axis = gap.meta.plot.bars(order="given")
    one = gap.squeeze("other_metric")
    assert [bar.get_width() for bar in axis.patches] == one.difference.values.tolist()
    assert float(one.difference.min()) < 0
    np.testing.assert_allclose(whiskers(axis), np.array([np.arange(gap.sizes["metric"]), one.ci_low, one.ci_high]).T)
    assert axis.get_xlabel() == "difference in\nPearson's r with human"
    ceiling = one.rename(difference="correlation", ci_low="difference_low", ci_high="difference_high")
    both = ceiling.assign(difference=one.difference, ci_low=one.ci_low - 1, ci_high=one.ci_high + 1)
    drawn = both.meta.plot.bars("difference", order="given")
    np.testing.assert_allclose([low for _, low, _ in whiskers(drawn)], one.ci_low)
    np.testing.assert_allclose([low for _, low, _ in whiskers(both.meta.plot.bars(order="given"))], one.ci_low - 1)


def test_a_metric_without_a_value_says_so():
    r = of_demo("corr", "human")
    axis = r.where(r.metric != "rouge").meta.plot.bars()
    assert [text.get_text() for text in axis.get_yticklabels()][-1] == "rouge"
    assert [(text.get_text(), text.xy[1]) for text in axis.texts] == [("no value", 5)]
    axis = (r * np.nan).meta.plot.bars()
    assert len(axis.texts) == 6
    axis.figure.canvas.draw()


def test_no_whiskers_where_there_are_no_intervals_of_the_variable(demo):
    assert not whiskers(of_demo("corr", "human").meta.plot.bars())
    assert not whiskers(demo.meta.ci("human", n_resamples=50, rng=0).meta.plot.bars("standard_error"))


@pytest.mark.slow
def test_the_axis_of_bars_names_the_coefficient(demo):
    tasks = {name: {"ds": demo, "gold": "human", "coefficient": name} for name in ("pearson", "pairwise_accuracy")}
    axis = xsumstat.rank_tasks(tasks, n_resamples=9, rng=1).meta.plot.bars()
    assert axis.get_xlabel() == "agreement with the human scores"
    named = [text.get_text() for text in axis.figure.legends[0].get_texts()]
    assert named[:2] == ["pearson: Pearson's r", "pairwise_accuracy: pairwise accuracy"]
    drop = demo.meta.range_drop(metric=["human", "judge", "rouge"], top=4, n_resamples=9, rng=1)
    assert np.ravel(drop.meta.plot.bars("whole"))[0].get_xlabel() == "Kendall's τ-b on the whole range"


def test_notes_of_pvalues_leave_out_the_intervals(demo):
    tests = of_demo("compare_metrics", "human", metric=["judge", "bleu", "rouge"])
    assert "ci_low" in tests
    for axis in (tests.meta.plot.pvalues(), tests.meta.plot.bars("pvalue", hue="other_metric")):
        assert "tests" in axis.figure.texts[0].get_text() and "interval" not in axis.figure.texts[0].get_text()
    assert "intervals" in tests.meta.plot.bars("difference", hue="other_metric").figure.texts[0].get_text()


def test_pvalues_of_systems(demo):
    test = demo.meta.compare_systems(metric=["human", "judge"], alternative="greater", adjust="holm")
    axes = test.meta.plot.pvalues(order="given")
    assert [axis.get_title() for axis in axes] == ["human", "judge"]
    assert [text.get_text() for text in axes[0].get_yticklabels()] == demo.system.values.tolist()
    assert axes[0].figure.legends[0].get_title().get_text() == "is the row system better than the column's?"


@pytest.mark.parametrize(
    "name, message",
    [
        ("input_effect", "no mean ranks"),
        ("top_k", "no correlations by k"),
        ("confusion", "no confusion"),
        ("bars", "no numbers of metrics"),
    ],
)
def test_other_results_are_refused(demo, name, message):
    with pytest.raises(ValueError, match=message):
        getattr(demo.isel(metric=0).drop_vars("truth").meta.plot, name)()


def many_metrics(demo, n=22):
    """Metrics m00, m01 ... that agree less and less with people."""
    rng = np.random.default_rng(0)
    human = demo.score.sel(metric="human").values
    scores = [human, *(human + 4 * (at + 1) * rng.normal(size=human.shape) for at in range(n))]
    names = ["human", *(f"m{at:02d}" for at in range(n))]
    coords = {"metric": names, "system": demo.system.values, "input": demo.input.values}
    return xr.Dataset({"score": (("metric", "system", "input"), np.array(scores))}, coords, {"gold": "human"})


MANY = {
    "bars": lambda ds: ds.meta.corr(),
    "top_k": lambda ds: ds.meta.top_k_corr(k=[12, 8]),
    "close_corr": lambda ds: ds.meta.close_corr(gap=[0.5, 1]),
    "confusion": lambda ds: ds.meta.discriminative_agreement(n_resamples=19, rng=0),
    "input_effect": lambda ds: ds.meta.input_effect(),
}


@pytest.mark.parametrize("picture", by_turns(MANY))
def test_of_many_metrics_20_are_drawn_which_a_note_says(demo, picture):
    result = MANY[picture](many_metrics(demo))
    n = result.sizes["metric"]
    axes = getattr(result.meta.plot, picture)(title="$a_title$")
    figure = np.atleast_1d(axes).flat[0].figure
    notes = " ".join(text.get_text() for text in figure.texts).replace("\n", " ")
    assert f"of {n} metrics; metric= names others" in notes and figure._suptitle.get_text() == "$a_title$"
    if picture in ("top_k", "confusion", "input_effect"):
        assert len(axes) == 20
    two = getattr(result.meta.plot, picture)(metric=["m21", "m20"], figsize=(7, 3))
    figure = np.atleast_1d(two).flat[0].figure
    assert not any("names others" in text.get_text() for text in figure.texts)
    assert figure.get_size_inches().tolist() == [7, 3]
    with pytest.raises(ValueError, match="unknown metric 'm99'"):
        getattr(result.meta.plot, picture)(metric="m99")


@pytest.mark.parametrize("picture", MANY)
def test_title_legend_and_notes_belong_to_the_axes_that_are_given(demo, picture):
    result = MANY[picture](demo.sel(metric=["human", "judge"])).isel(metric=[0])
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 5))
    assert getattr(result.meta.plot, picture)(ax=left, title="here") is left
    assert left.get_title() == "here" and figure._suptitle is None
    assert not figure.legends and not figure.texts and not right.has_data()


@pytest.mark.parametrize("picture", MANY)
def test_nothing_to_draw_is_said(demo, picture):
    result = MANY[picture](demo.sel(metric=["human", "judge"])).isel(metric=[])
    with pytest.raises(ValueError, match="the result is empty: there is nothing to draw"):
        getattr(result.meta.plot, picture)()


def test_names_must_exist():
    r = of_demo("corr", "human", by="system_type")
    for keywords in ({"variable": "corr"}, {"hue": "type"}):
        with pytest.raises(ValueError, match=f"unknown {next(iter(keywords))}"):
            r.meta.plot.bars(**keywords)


def test_colours_suit_the_figure_of_the_axes_that_are_given():
    figure, axis = plt.subplots(facecolor="black")
    axis.set_facecolor("black")
    of_demo("corr", "human").meta.plot.bars(ax=axis)
    assert contrast(axis.patches[0].get_facecolor()[:3], "black") > 4.5
    assert contrast(axis.lines[0].get_color(), "black") > 4.5
