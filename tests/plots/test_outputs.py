import itertools

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import pytest  # noqa: E402
import xarray as xr  # noqa: E402
from cases import of_demo  # noqa: E402
from conftest import dataset, warns  # noqa: E402

import xsumstat  # noqa: E402, F401
from xsumstat.analyses import correlation  # noqa: E402
from xsumstat.plots import matrices, style  # noqa: E402

METRICS = ["judge", "rouge", "bleu"]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_matrix_writes_the_correlations(demo):
    found = of_demo("metric_corr", metric=METRICS, level="input", coefficient="kendall")
    axis = found.meta.plot.matrix(order="given", triangle=False)
    np.testing.assert_array_equal(axis.images[0].get_array(), found.correlation.values)
    assert [text.get_text() for text in axis.get_yticklabels()] == METRICS
    want = [f"{value:.2f}".replace("0.", ".") for value in found.correlation.values.ravel()]
    assert [text.get_text() for text in axis.texts] == want
    intervals = demo.meta.metric_ci(metric=METRICS, n_resamples=50, rng=1)
    texts = [text.get_text() for text in intervals.meta.plot.matrix(order="given", triangle=False).texts]
    assert len(texts) == 6 and all("\n[" in text for text in texts)
    lopsided = found.assign(correlation=(found.correlation.dims, np.arange(-4.0, 5.0).reshape(3, 3) / 5))
    axis = lopsided.transpose("other_metric", "metric").meta.plot.matrix(order="given")
    for text in axis.texts:
        column, row = text.get_position()
        assert float(text.get_text()) == lopsided.correlation.sel(metric=METRICS[row], other_metric=METRICS[column])
    np.testing.assert_array_equal(axis.images[0].get_array(), lopsided.correlation.transpose("metric", "other_metric"))
    assert axis.images[0].get_clim() == (-1.2, 1.2)
    assert [text.get_text() for text in axis.get_xticklabels()] == METRICS
    for text in intervals.meta.plot.matrix(order="given", triangle=False).texts:
        column, row = text.get_position()
        one = intervals.sel(metric=METRICS[row], other_metric=METRICS[column])
        numbers = [f"{float(one[name]):.2f}".replace("0.", ".") for name in ("correlation", "ci_low", "ci_high")]
        assert text.get_text() == "{}\n[{}, {}]".format(*numbers)
    both = xr.concat([demo[["score"]]] * 2, "language").assign_coords(language=["en", "de"])
    axes = both.meta.metric_corr(metric=METRICS).meta.plot.matrix()
    assert [each.get_title() for each in axes] == ["en", "de"]


def test_scatter_matrix(demo):
    axes = demo.meta.plot.scatter_matrix(metric=METRICS, order="given")
    assert axes.shape == (3, 3)
    score = demo.score.sel(metric=METRICS).values.reshape(3, -1)
    np.testing.assert_array_equal(axes[2, 0].lines[0].get_xydata(), score[[0, 2]].T)
    tau = of_demo("metric_corr", metric=METRICS, level="input", coefficient="kendall").correlation.values
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
    with pytest.raises(ValueError, match="at least 2 metrics"):
        demo.meta.plot.scatter_matrix(metric="judge")


@pytest.mark.parametrize(
    "value, text",
    [(0.5, ".50"), (-0.25, "-.25"), (1.0, "1.00"), (-1.0, "-1.00"), (-0.001, ".00"), (0.999, "1.00"), (np.nan, "–")],
)
def test_correlations_are_written_short(value, text):
    assert matrices._number(value) == text


def test_a_metric_without_correlations_stands_in_the_scatter_matrix(demo):
    demo.score[1] = 1.0
    with warns("constant"):
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
        axis = demo.meta.plot.distribution(by=by, order="name")
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
            assert mpl.colors.same_color(colors[at], style.of(at)[0])
        assert axis.get_title() == "human" and axis.get_ylabel() == "share of outputs"


def test_distribution_of_sources_with_systems_of_their_own(demo):
    """Three sources, the systems of which differ, as in Peyrard's Fig. 1."""
    parts = [demo[["score"]].isel(system=places) for places in (slice(0, 5), slice(5, 9), slice(9, 12))]
    sources = pd.Index(["annotated", "modern", "generated"], name="source")
    ds = xr.concat(parts, sources, join="outer")
    axes = ds.meta.plot.distribution(metric=["judge", "perplexity"], by="source", order="given")
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


def test_many_points_become_hexagons_that_hold_them_all():
    values = np.random.default_rng(0).normal(size=(2, 20, 101))
    for n, lines, areas in ((100, 1, 0), (101, 0, 1)):  # 2,000 outputs, and more
        ds = xr.Dataset({"score": (("metric", "system", "input"), values[..., :n])}, {"metric": ["a", "b"]})
        cell = ds.meta.plot.scatter_matrix()[1, 0]
        assert (len(cell.lines), len(cell.collections)) == (lines, areas)
    assert cell.collections[0].get_array().sum() == 2020


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
    with pytest.warns(UserWarning, match="no score for .*'de/judge'"):
        axis = both.meta.plot.distribution(metric="judge", by="language")
    assert len(outlines(axis)) == len(means(axis)) == 1
    _, given = plt.subplots()
    assert demo.meta.plot.distribution(ax=given) is given


def test_disagreement_has_a_panel_for_each_pair(demo):
    found = demo.meta.disagreement(metric=METRICS, n_bins=5, n_resamples=50, rng=1)
    axes = found.meta.plot.disagreement(order="given")
    pairs = list(itertools.combinations(METRICS, 2))
    assert [axis.get_title() for axis in axes] == [f"{a} and {b}" for a, b in pairs]
    for axis, (a, b) in zip(axes, pairs, strict=True):
        here = found.sel(metric=a, other_metric=b)
        firm = here.where((here.n_pairs >= 20) & here.ci_low.notnull(), drop=True)
        (line,) = (line for line in axis.lines if line.get_color() == style.colour(0))
        np.testing.assert_array_equal(line.get_xydata(), np.array([firm.score_bin, firm.share]).T)
        assert sum(line.get_color() == style.grey() for line in axis.lines) == 2  # the other pairs
        band, filled, hollow = axis.collections
        corners = {tuple(corner) for path in band.get_paths() for corner in path.vertices}
        for limit in (firm.ci_low, firm.ci_high):
            assert {*zip(firm.score_bin.values, limit.values, strict=True)} <= corners
        np.testing.assert_array_equal(filled.get_offsets()[:, 1], firm.share)
        assert (np.argsort(filled.get_sizes(), kind="stable") == np.argsort(firm.n_pairs.values, kind="stable")).all()
        thin = here.share.where(~here.score_bin.isin(firm.score_bin)).dropna("score_bin")
        np.testing.assert_array_equal(hollow.get_offsets()[:, 1].compressed(), thin)
        assert hollow.get_facecolor().size == 0
    labels = [text.get_text() for text in axes[0].figure.legends[0].get_texts()]
    assert labels[:2] == ["the pair named above", "other pairs"] and all(text.endswith(" pairs") for text in labels[2:])


def test_panels_of_disagreement_are_in_order():
    found = of_demo("disagreement", metric=METRICS)
    weighted = (found.share * found.n_pairs).sum("score_bin") / found.n_pairs.sum("score_bin")
    titles = [axis.get_title() for axis in found.meta.plot.disagreement()]
    means = [float(weighted.sel(metric=a, other_metric=b)) for a, b in (title.split(" and ") for title in titles)]
    assert means == sorted(means, reverse=True) and len(set(titles)) == 3
    titles = [axis.get_title() for axis in found.meta.plot.disagreement(order=["rouge", "judge", "bleu"])]
    assert titles == ["rouge and judge", "rouge and bleu", "judge and bleu"]


def test_disagreement_highlights():
    found = of_demo("disagreement")
    _, given = plt.subplots()
    axis = found.meta.plot.disagreement(highlight=("bleu", "judge"), ax=given)
    assert axis is given and axis.get_title() in ("judge and bleu", "bleu and judge")
    assert sum(line.get_color() == style.grey() for line in axis.lines) == 14
    assert len(axis.figure.legends) == 0 and axis.get_legend() is not None
    axes = found.meta.plot.disagreement(highlight="judge", order="given")
    assert [axis.get_title() for axis in axes] == [f"judge and {b}" for b in found.metric.values[1:]]
    for wrong in (("judge", "bleu", "rouge"), ("judge", "judge")):
        with pytest.raises(ValueError, match="highlight must be one metric or a pair of them"):
            found.meta.plot.disagreement(highlight=wrong)
    with pytest.raises(ValueError, match="unknown highlight 'blue'"):
        found.meta.plot.disagreement(highlight="blue")


@pytest.mark.slow
def test_of_many_metrics_the_most_and_the_least_disagreeing_stand_out():
    found = of_demo("disagreement")
    weighted = (found.share * found.n_pairs).sum("score_bin") / found.n_pairs.sum("score_bin")
    axes = found.meta.plot.disagreement()
    assert len(axes) == 6
    for axis in axes:
        mean = weighted.sel(metric=axis.get_title()).drop_sel(other_metric=axis.get_title())
        words = [text.get_text() for text in axis.get_legend().get_texts()]
        assert words == [f"least: {mean.idxmin().item()}", f"most: {mean.idxmax().item()}"]
        for at, other in enumerate((mean.idxmin(), mean.idxmax())):
            here = found.sel(metric=axis.get_title(), other_metric=other.item())
            line = next(each for each in axis.lines if each.get_color() == style.colour(at))
            firm = (here.n_pairs >= 20) & here.ci_low.notnull()
            np.testing.assert_array_equal(line.get_ydata(), here.share[firm])


def test_one_pair_of_disagreement_and_what_cannot_be_drawn():
    found = of_demo("disagreement", metric=METRICS)
    for pair in (found.sel(metric=["judge", "rouge"], other_metric=["judge", "rouge"]), found):
        axis = pair.meta.plot.disagreement(metric=["judge", "rouge"], order="given")
        assert axis.get_title() == "judge and rouge"
    assert found.sel(metric="judge", other_metric="rouge").meta.plot.disagreement().get_title() == "judge and rouge"
    assert len(found.sel(metric="judge").meta.plot.disagreement()) == 2
    with pytest.raises(ValueError, match="metric must name at least 2 metrics"):
        found.meta.plot.disagreement(metric="judge")
    both = xr.concat([found, found], pd.Index(["en", "de"], name="language"))
    with pytest.raises(ValueError, match="the result has the dims 'language'; select one label"):
        both.meta.plot.disagreement()


def test_improvement_draws_firm_bins_as_a_line_and_thin_ones_hollow(demo):
    ratio = demo.meta.improvement_consistency(metric=METRICS, n_bins=10, n_resamples=50, rng=1)
    axis = ratio.meta.plot.improvement(title="Better")
    firm = ratio.where((ratio.n_outputs >= 20) & ratio.ci_low.notnull(), drop=True)
    np.testing.assert_array_equal(axis.lines[0].get_ydata(), firm.ratio)
    band = axis.collections[0].get_paths()[0].vertices
    assert np.isin(firm.ci_low.values, band[:, 1]).all() and np.isin(firm.ci_high.values, band[:, 1]).all()
    thin = ratio.ratio[~ratio.score_bin.isin(firm.score_bin).values].dropna("score_bin")
    assert thin.size and axis.collections[2].get_offsets()[:, 1].compressed().tolist() == thin.values.tolist()
    assert 1.0 >= axis.get_ylim()[1] >= float(max(firm.ci_high.max(), ratio.ratio.max()))
    assert "judge, rouge, bleu" in axis.figure.texts[0].get_text() and axis.figure.get_suptitle() == "Better"


def test_matrix_draws_each_pair_once(demo):
    found = demo.meta.metric_corr(metric=METRICS)
    axis = found.meta.plot.matrix(order=["rouge", "bleu", "judge"])
    drawn = np.ma.filled(np.ma.masked_invalid(axis.images[0].get_array()), np.nan)
    r = found.correlation
    want = [[float(r.sel(metric=a, other_metric=b)) for b in ("rouge", "bleu")] for a in ("bleu", "judge")]
    np.testing.assert_array_equal(drawn[1:, :2], [[want[0][0], np.nan], want[1]])
    assert np.isnan(drawn[0]).all() and np.isnan(drawn[:, 2]).all()
    assert [text.get_text() for text in axis.get_yticklabels()] == ["bleu", "judge"]
    assert [text.get_text() for text in axis.get_xticklabels()] == ["rouge", "bleu"]
    lopsided = found.assign(correlation=(found.correlation.dims, np.arange(9.0).reshape(3, 3) / 9))
    assert np.isfinite(lopsided.meta.plot.matrix().images[0].get_array()).all()
    assert axis.figure.axes[-1].get_ylabel() == "Pearson's r, system level"
    assert axis.figure.axes[-1].get_ylim() == (-1, 1)


def test_clustered_order_brings_blocks_together():
    """Two blocks of metrics that share nothing, interleaved; the clusters are known beforehand."""
    rng = np.random.default_rng(5)
    bases = rng.normal(size=(2, 40, 8))
    ds = dataset([bases[at % 2] + 0.3 * rng.normal(size=(40, 8)) for at in range(8)])
    found = ds.meta.metric_corr(level="input")
    axis = found.meta.plot.matrix(triangle=False)
    order = [int(text.get_text()[1:]) % 2 for text in axis.get_yticklabels()]
    assert order in ([0] * 4 + [1] * 4, [1] * 4 + [0] * 4)
    assert [text.get_text() for text in axis.get_yticklabels()] == [text.get_text() for text in axis.get_xticklabels()]
    holed = found.where((found.metric != "m3") | (found.other_metric == "m3")).where(
        (found.other_metric != "m3") | (found.metric == "m3")
    )
    names = [text.get_text() for text in holed.meta.plot.matrix(triangle=False).get_yticklabels()]
    assert sorted(names) == sorted(found.metric.values)  # an undefined correlation is no reason to fail


def test_matrix_of_many_metrics_has_colours_only():
    found = dataset(np.random.default_rng(0).normal(size=(41, 6, 9))).meta.metric_corr(level="input")
    axis = found.meta.plot.matrix()
    assert len(axis.get_yticklabels()) == 40 and not axis.texts
    assert min(text.get_fontsize() for text in [*axis.get_xticklabels(), *axis.get_yticklabels()]) >= 7
    assert len(found.meta.plot.matrix(metric=["m1", "m2", "m3"]).texts) == 3
    assert len(found.meta.plot.matrix(annotate=True).texts) == 41 * 40 / 2
    with pytest.raises(ValueError, match="the result is empty"):
        found.meta.plot.matrix(metric=[])
    rows = found.sel(metric=["m4", "m2"]).meta.plot.matrix(order="given")
    assert rows.images[0].get_array().shape == (2, 41)


@pytest.mark.parametrize("theme", ["default", "dark_background"])
def test_numbers_on_colours_can_be_read(theme):
    values = np.linspace(-1, 1, 21)
    names = [f"m{at}" for at in range(21)]
    coords = {"metric": names, "other_metric": names}
    result = xr.Dataset({"correlation": (("metric", "other_metric"), np.tile(values, (21, 1)))}, coords)
    with plt.style.context(theme):
        axis = result.meta.plot.matrix(annotate=True, order="given")
        image = axis.images[0]
        for text in axis.texts:
            column, row = text.get_position()
            area, word = image.cmap(image.norm(image.get_array()[row, column])), text.get_color()
            assert text.get_fontsize() >= 7 and contrast(area, word) >= 4.5


def contrast(one, two):
    """WCAG's ratio of luminances, 1 to 21."""
    linear = [np.array(mpl.colors.to_rgb(each)) for each in (one, two)]
    linear = [np.where(each <= 0.04045, each / 12.92, ((each + 0.055) / 1.055) ** 2.4) for each in linear]
    low, high = sorted(float(each @ [0.2126, 0.7152, 0.0722]) + 0.05 for each in linear)
    return high / low


def test_the_gold_stands_first_in_the_scatter_matrix(demo):
    demo = demo.sel(metric=["judge", "bleu", "perplexity", "human"])
    axes = demo.meta.plot.scatter_matrix()
    tau = demo.meta.corr("human", level="input", coefficient="kendall").correlation
    names = ["human", *tau.sortby(tau, ascending=False).metric.values]
    drawn = [axis.get_ylabel().split(" (")[0] for axis in axes[:, 0]]
    assert drawn == names == [axis.get_xlabel().split(" (")[0] for axis in axes[-1]]
    for i, j in itertools.product(range(4), repeat=2):
        assert bool(len(axes[i, j].get_xticks())) == (i == 3)
        assert bool(len(axes[i, j].get_yticks())) == (j == 0 and i > 0)
    at = names.index("perplexity")
    low, high = axes[3, at].get_xlim()
    assert low > high and "lower is better" in axes[3, at].get_xlabel().replace("\n", " ")
    values = demo.score.sel(metric="perplexity").values
    assert high < values.min() and low > values.max()
    above = demo.meta.plot.scatter_matrix(metric=["judge", "human", "bleu"])[0, 0].get_ylabel()
    assert above == "human"


def test_more_groups_than_can_be_told_apart(demo):
    demo = demo.assign_coords(corpus=("input", [f"c{at % 10}" for at in range(30)]))
    axis = demo.meta.plot.distribution(by="corpus")
    means = demo.score.sel(metric="human").groupby("corpus").mean(...)
    best = means.sortby(means, ascending=False).corpus.values[:7].tolist()
    assert [text.get_text() for text in axis.figure.legends[0].get_texts()] == [*best, "mean"]
    assert "the 7 groups with the highest means of 10" in axis.figure.texts[0].get_text()
    axis = demo.meta.plot.distribution(by="corpus", order=["c3", "c1"])
    assert [text.get_text() for text in axis.figure.legends[0].get_texts()] == ["c3", "c1", "mean"]
    with pytest.raises(ValueError, match="order must name at least one group"):
        demo.meta.plot.distribution(by="corpus", order=[])
    with pytest.raises(ValueError, match="unknown label in order 'c77'"):
        demo.meta.plot.distribution(by="corpus", order=["c77"])


def test_range_drop_sets_the_drop_against_the_expected_one(demo):
    drop = demo.meta.range_drop(
        metric=METRICS, above=0.5, unit="quantile", metrics="judge", n_resamples=50, n_simulations=19, rng=1
    )
    axis = drop.meta.plot.range_drop(order="given")
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
    axis = drop.meta.plot.range_drop()
    points = [line.get_xdata()[0] for line in axis.lines if line.get_marker() == "o"]
    assert points == sorted(points, reverse=True) and axis.yaxis_inverted()
    assert len(drop.meta.plot.range_drop(metric=["bleu", "judge"]).get_yticklabels()) == 1
    with pytest.raises(ValueError, match="at least 2 metrics"):
        drop.meta.plot.range_drop(metric="judge")


def test_of_many_pairs_the_largest_drops_are_drawn(demo):
    drop = demo.meta.range_drop(
        metric=demo.metric.values.tolist(), above=0.5, unit="quantile", n_resamples=20, n_simulations=19, rng=1
    )
    axis = drop.meta.plot.range_drop()
    points = [line.get_xdata()[0] for line in axis.lines if line.get_marker() == "o"]
    every = drop.difference.values[np.triu_indices(7, 1)]
    np.testing.assert_allclose(points, np.sort(every)[::-1][:20])
    assert "the 20 pairs with the largest drops of 21" in axis.figure.texts[0].get_text().replace("\n", " ")


@pytest.mark.parametrize(
    "name, message",
    [
        ("matrix", "draws a result of ds.meta.metric_corr or ds.meta.metric_ci, but"),
        ("disagreement", "draws a result of ds.meta.disagreement, but"),
        ("improvement", "draws a result of ds.meta.improvement_consistency, but"),
        ("range_drop", "draws a result of ds.meta.range_drop, but"),
    ],
)
def test_other_results_are_refused(name, message):
    with pytest.raises(ValueError, match=message):
        getattr(of_demo("corr", "human").meta.plot, name)()


def of_many(n):
    return dataset(np.random.default_rng(0).normal(size=(n, 4, 5)))


def test_pictures_of_more_metrics_than_can_be_told_apart_are_refused_at_once(monkeypatch):
    found = of_many(13).meta.disagreement(n_bins=2, n_resamples=20, rng=0)
    twelve = found.isel(metric=slice(12), other_metric=slice(12))
    assert len(twelve.meta.plot.disagreement()) == 12
    refused = "the result has 13 metrics, and at most 12 can be distinguished.*name those to be shown, as metric="
    with pytest.raises(ValueError, match=refused):
        found.meta.plot.disagreement()
    monkeypatch.setattr(plt, "subplots", None)
    monkeypatch.setattr(correlation, "metric_corr", None)
    with pytest.raises(ValueError, match="there are 16 metrics, and a scatter matrix shows at most 15; name those"):
        of_many(16).meta.plot.scatter_matrix()
    ds = of_many(41)
    with pytest.raises(ValueError, match="metric names 40 metrics, and a scatter matrix shows at most 15"):
        ds.meta.plot.scatter_matrix(metric=ds.metric.values[1:].tolist())
