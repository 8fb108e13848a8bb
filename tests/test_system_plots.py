import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
import xarray as xr  # noqa: E402

import xsumstat  # noqa: E402, F401
from xsumstat.plot_parts import HUES  # noqa: E402


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
    assert axis.get_xlabel() == "× 2 missing scores"
    axes = ds.meta.plot.heatmap(metric=["judge", "perplexity"])
    assert [each.get_title() for each in axes] == ["judge", "perplexity"]
    lower_is_better = axes[1].images[0]
    assert lower_is_better.get_array().min() > 0 and lower_is_better.get_cmap().name == "viridis_r"
    assert lower_is_better.get_array()[:, 0].mean() < lower_is_better.get_array()[:, -1].mean()  # the best stand left
    _, given = plt.subplots()
    assert ds.meta.plot.heatmap(metric="judge", ax=given) is given
    with pytest.raises(ValueError, match="select one label"):
        xr.concat([ds[["score"]]] * 2, "language").meta.plot.heatmap(metric="judge")


def test_input_effect_colours_what_differs(demo):
    demo.score[:, 2:9, 5:12] = np.nan
    effect = demo.meta.input_effect(metric=["human", "judge"])
    axes = effect.meta.plot.input_effect(highlight="doc-07")
    assert [axis.get_title() for axis in axes] == ["human", "judge"]
    for axis, metric in zip(axes, ("human", "judge"), strict=True):
        here = effect.sel(metric=metric).sortby("mean_rank")
        names = here.input.values.tolist()
        assert [text.get_text() for text in axis.get_yticklabels()] == names
        at = names.index("doc-07")
        critical, n = float(here.critical), here.n_scores.values
        colors = [mpl.colors.to_hex(color).upper() for color in axis.collections[0].get_colors()]
        one = here.isel(input=at)
        for place, color in enumerate(colors):
            gap = abs(float(here.isel(input=place).mean_rank - one.mean_rank))
            apart = gap > critical * np.sqrt(1 / n[place] + 1 / n[at])
            assert color == (HUES[0] if place == at else HUES[1] if apart else "#AAAAAA")
    lowest = effect.sel(metric="judge").meta.plot.input_effect()
    assert lowest.texts[0].get_text().startswith(str(effect.sel(metric="judge").mean_rank.idxmin().item()))
    with pytest.raises(ValueError, match="unknown highlight 'doc-99'"):
        effect.meta.plot.input_effect(highlight="doc-99")
    empty = effect.sel(metric="judge").where(False)
    assert empty.meta.plot.input_effect().texts[0].get_text() == "no ranks"


def test_top_k_draws_the_curve_and_its_band(demo):
    curve = demo.meta.top_k_corr("human", metric=["judge", "bleu"], k=[12, 9, 6], n_resamples=50, rng=1)
    axes = curve.meta.plot.top_k()
    assert [axis.get_title() for axis in axes] == ["judge", "bleu"]
    for axis, metric in zip(axes, ("judge", "bleu"), strict=True):
        here = curve.sel(metric=metric)
        np.testing.assert_array_equal(axis.lines[0].get_xydata(), np.array([here.k, here.correlation]).T)
        band = axis.collections[0].get_paths()[0].vertices
        assert band[:, 1].min() == here.ci_low.min() and band[:, 1].max() == here.ci_high.max()
    assert axes[0].get_xlim()[0] > axes[0].get_xlim()[1]  # k shrinks to the right
    one = curve.meta.plot.top_k(hue="metric")
    assert [text.get_text() for text in one.figure.legends[0].get_texts()] == ["judge", "bleu"]


def test_confusion_writes_the_numbers_of_pairs(demo):
    found = demo.meta.discriminative_agreement("human", metric=["judge", "bleu"], n_resamples=99, rng=1)
    axes = found.meta.plot.confusion()
    for axis, metric in zip(axes, ("judge", "bleu"), strict=True):
        here = found.sel(metric=metric)
        assert axis.get_title() == f"{metric}\nF1 {float(here.f1):.2f}"
        assert [int(text.get_text()) for text in axis.texts] == here.confusion.values.ravel().tolist()
    assert axes[0].get_ylabel() == "by human"


def test_bars_stand_in_groups(demo):
    r = demo.meta.corr("human", by="system_type")
    axis = r.meta.plot.bars()
    heights = [bar.get_height() for bar in axis.patches]
    assert heights == pytest.approx(r.correlation.transpose("system_type", "metric").values.ravel())
    assert [text.get_text() for text in axis.figure.legends[0].get_texts()] == ["abstractive", "extractive", "all"]
    assert axis.get_ylabel() == "Pearson's r with human"
    found = demo.meta.discriminative_agreement("human", n_resamples=99, rng=1)
    assert found.meta.plot.bars().get_ylabel() == "f1"
    assert len(found.meta.plot.bars("confusion", hue="metric_verdict")) == 3
    assert [bar.get_height() for bar in found.meta.plot.bars("accuracy").patches] == found.accuracy.values.tolist()


def test_pvalues_of_systems(demo):
    test = demo.meta.compare_systems(metric=["human", "judge"], alternative="greater", adjust="holm")
    axes = test.meta.plot.pvalues()
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


def test_names_must_exist(demo):
    r = demo.meta.corr("human", by="system_type")
    for keywords in ({"variable": "corr"}, {"hue": "type"}):
        with pytest.raises(ValueError, match=f"unknown {next(iter(keywords))}"):
            r.meta.plot.bars(**keywords)
