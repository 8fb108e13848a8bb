"""Names in all pictures: what is drawn is what the label says."""

import functools
import warnings

import matplotlib as mpl

mpl.use("Agg")

import colorspacious  # noqa: E402
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import pytest  # noqa: E402
import xarray as xr  # noqa: E402
from cases import again  # noqa: E402
from helpers import by_turns  # noqa: E402
from matplotlib.backends.backend_agg import RendererAgg  # noqa: E402
from preference_cases import preferences  # noqa: E402

import xsumstat  # noqa: E402
from xsumstat import accessor  # noqa: E402
from xsumstat.plots import captions, layout, pvalues, style  # noqa: E402

GOLD = "$gold_{x}$ \\beta"
METRICS = ["_hidden", "$x$", "a_b^2", "\\alpha {", "one $ only", "$\\nosuch{"]
SYSTEMS = ["_s", "$s$", "s_1^2", "\\sigma", "5 $", "$\\nosuch{ s", "#%&~", "_t", "$t$", "t_1^2"]
INPUTS = [f"{name} {at}" for name in ("_d", "$d$", "d_1^2", "\\delta") for at in (0, 1)]
TYPES = ["$extractive$", "_abstractive"]
QUALITIES = ["$q_1$", "_q"]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


DRAWS = {"n_resamples": 50, "rng": 0}


@functools.cache
def of_one():
    rng = np.random.default_rng(3)
    human = rng.normal(size=(10, 1)) + rng.normal(size=(10, 8))
    noise = np.linspace(0.5, 4, 6)[:, None, None] * rng.normal(size=(6, 10, 8))
    return xr.Dataset(
        {"score": (("metric", "system", "input"), np.concatenate([human[None], human + noise]))},
        coords={
            "metric": [GOLD, *METRICS],
            "system": SYSTEMS,
            "input": INPUTS,
            "type of $s$": ("system", [TYPES[at % 2] for at in range(10)]),
        },
        attrs={"gold": GOLD},
    )


@functools.cache
def of_two():
    return xr.concat([of_one(), of_one() ** 3], pd.Index(QUALITIES, name="$quality_x$"), combine_attrs="override")


@functools.cache
def intervals():
    return of_two().meta.ci(**DRAWS)


@pytest.fixture
def named():
    return of_one()


class Words(RendererAgg):
    """Draws nothing, and keeps the lines of text that it is told to draw, but for those that are mathematics."""

    def __init__(self, figure):
        super().__init__(*figure.canvas.get_width_height(), figure.dpi)
        self.lines = []
        nothing = dict.fromkeys(
            ("draw_path", "draw_markers", "draw_path_collection", "draw_quad_mesh", "draw_image", "draw_tex"),
            lambda *_, **__: None,
        )
        vars(self).update(nothing)

    def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None):
        if not ismath:
            self.lines.append(s)


def words(axes):
    """The texts of a figure as they are drawn, line by line; mathematics, which is no text, is not among them."""
    figure = np.atleast_1d(axes).flat[0].figure
    renderer = Words(figure)
    figure.set_layout_engine("none")  # places are of no account
    figure.draw(renderer)
    return "\n".join(renderer.lines)


def simulated(name, **coords):
    share = xr.DataArray(np.full([len(each) for each in coords.values()], 0.5), coords)
    return xr.Dataset({name: share, "mc_error": 0.01 * share}, attrs={"confidence_level": 0.9})


def tasks(ds):
    asked = {"$task$": {"ds": ds, "gold": GOLD}, "_task^2": {"ds": ds, "gold": GOLD, "coefficient": "kendall"}}
    return xsumstat.rank_tasks(asked, n_resamples=50, rng=0)


HUE = {"hue": "$quality_x$"}


def of_preferences():
    return preferences(0, systems=SYSTEMS[:2], people=("$ann$", "b"), judges=("_gpt^2",))


PICTURES = {
    "raters": lambda ds, qs: (of_preferences().meta.preference_agreement().meta.plot.raters(), ["_gpt^2"]),
    "strengths": lambda ds, qs: (of_preferences().meta.rank_systems().meta.plot.strengths(), ["_gpt^2", *SYSTEMS[:2]]),
    "forest": lambda ds, qs: (intervals().meta.plot.forest(**HUE), [GOLD, *METRICS, *QUALITIES, *HUE.values()]),
    "forest in panels": lambda ds, qs: (intervals().meta.plot.forest(), [GOLD, *METRICS, *QUALITIES]),
    "pvalues": lambda ds, qs: (qs.meta.perm_test(**DRAWS).meta.plot.pvalues(), [*METRICS, *QUALITIES]),
    "pvalues of systems": lambda ds, qs: (
        ds.meta.compare_systems(metric=[GOLD, "$x$"]).meta.plot.pvalues(),
        [GOLD, "$x$", *SYSTEMS],
    ),
    "pvalues of versions": lambda ds, qs: (
        qs.meta.equivalence(
            ds.score.sel(metric=GOLD, drop=True),
            metric=METRICS,
            along="$quality_x$",
            base=QUALITIES[0],
            margin=0.3,
            **DRAWS,
        ).meta.plot.pvalues(),
        [*METRICS, QUALITIES[1], f"with {QUALITIES[0]}?"],
    ),
    "clusters": lambda ds, qs: (qs.meta.rank(**DRAWS).meta.plot.clusters(), [GOLD, *METRICS, *QUALITIES]),
    "sensitivity": lambda ds, qs: (
        qs.meta.margin_sensitivity(
            other=METRICS[1:], by="$quality_x$", margins=[0.1, 0.3], **DRAWS
        ).meta.plot.sensitivity(),
        [*QUALITIES, *HUE.values()],
    ),
    "pca": lambda ds, qs: (qs.meta.pca().meta.plot.pca(), [GOLD, *METRICS, *QUALITIES, "metric"]),
    "pca of names": lambda ds, qs: (ds.meta.pca().meta.plot.pca(), [GOLD, *METRICS]),
    "variance_components": lambda ds, qs: (of_variances(ds).meta.plot.variance_components(), [GOLD, *METRICS]),
    "plan": lambda ds, qs: (xsumstat.plan(ds, metric=METRICS[:2], level="input").meta.plot.plan(), METRICS[:2]),
    "shifts": lambda ds, qs: (shifted(ds, qs).meta.plot.shifts(), QUALITIES),
    "shifts of two": lambda ds, qs: (
        shifted(ds, qs).meta.plot.shifts(shifted(ds, qs), labels=("$there$", "_back")),
        [QUALITIES[1], "$there$", "_back"],
    ),
    "heatmap": lambda ds, qs: (ds.meta.plot.heatmap(metric=METRICS), [*METRICS, *SYSTEMS, *INPUTS]),
    "sample_inputs": lambda ds, qs: (
        of_strata(ds).meta.plot.sample_inputs(metric=METRICS[1]),
        ["$draw_x$\n3 of 4, probability .75", f"mean score by {METRICS[1]}"],
    ),
    "input_effect": lambda ds, qs: (
        ds.meta.input_effect(metric=METRICS).meta.plot.input_effect(highlight=INPUTS[3]),
        [*METRICS, *INPUTS],
    ),
    "top_k": lambda ds, qs: (
        qs.meta.top_k_corr(
            ds.score.sel(metric=GOLD, drop=True).rename(GOLD), metric=METRICS, k=[10, 7], **DRAWS
        ).meta.plot.top_k(**HUE),
        [GOLD, *METRICS, *QUALITIES],
    ),
    "confusion": lambda ds, qs: (ds.meta.discriminative_agreement(**DRAWS).meta.plot.confusion(), [GOLD, *METRICS]),
    "drift": lambda ds, qs: (
        ds.meta.drift(METRICS[1], GOLD, metric=METRICS[0]).meta.plot.drift(),
        [METRICS[0], *SYSTEMS],
    ),
    "repeatability": lambda ds, qs: (
        of_runs(ds).meta.plot.repeatability(),
        METRICS,
    ),
    "missingness": lambda ds, qs: (
        ds.where((ds.metric != METRICS[1]) | (ds.score > 0))
        .meta.missingness(GOLD, metric=METRICS[:2], score_range=(-100, 100), **DRAWS)
        .meta.plot.missingness(),
        [*METRICS[:2], *SYSTEMS],
    ),
    "bars": lambda ds, qs: (intervals().meta.plot.bars(), [GOLD, *METRICS, *QUALITIES, *HUE.values()]),
    "bars of groups": lambda ds, qs: (ds.meta.corr(by="type of $s$").meta.plot.bars(), [*TYPES, "type of $s$"]),
    "matrix": lambda ds, qs: (qs.meta.metric_corr().meta.plot.matrix(), [*METRICS, *QUALITIES]),
    "scatter_matrix": lambda ds, qs: (ds.meta.plot.scatter_matrix(metric=METRICS[:4]), METRICS[:4]),
    "distribution": lambda ds, qs: (
        ds.meta.plot.distribution(metric=METRICS, by="type of $s$"),
        [*METRICS, *TYPES, "type of $s$"],
    ),
    "disagreement": lambda ds, qs: (ds.meta.disagreement(n_bins=3, **DRAWS).meta.plot.disagreement(), METRICS),
    "disagreement of two": lambda ds, qs: (
        ds.meta.disagreement(metric=METRICS[:2], n_bins=3, **DRAWS).meta.plot.disagreement(),
        [" and ".join(METRICS[:2])],
    ),
    "improvement": lambda ds, qs: (ds.meta.improvement_consistency(n_bins=3, **DRAWS).meta.plot.improvement(), []),
    "range_drop": lambda ds, qs: (
        ds.meta.range_drop(
            metric=METRICS[:3], above=0.3, unit="quantile", n_simulations=19, **DRAWS
        ).meta.plot.range_drop(),
        [" and ".join(METRICS[:2])],
    ),
    "close_corr": lambda ds, qs: (
        qs.meta.close_corr(gap=[0.5, 1], **DRAWS).meta.plot.close_corr(),
        [GOLD, *METRICS, *QUALITIES],
    ),
    "system_means": lambda ds, qs: (
        qs.meta.system_means(metric=METRICS[0]).meta.plot.system_means(),
        [GOLD, METRICS[0], *QUALITIES],
    ),
    "bias": lambda ds, qs: (
        ds.meta.bias(given=[METRICS[0], "type of $s$"]).meta.plot.bias(),
        [*METRICS[1:], METRICS[0]],
    ),
    "tasks": lambda ds, qs: (tasks(ds).meta.plot.tasks(), [*METRICS, "$task$", "_task^2"]),
    "coverage": lambda ds, qs: (
        simulated("coverage", metric=METRICS, interval=["_both", "$bca$"], n_inputs=[5, 9]).meta.plot.coverage(),
        [*METRICS, "_both", "$bca$"],
    ),
    "power": lambda ds, qs: (
        simulated("power", test=["_perm", "$boot$"], noise=[5, 9]).meta.plot.power(x="test"),
        ["_perm", "$boot$"],
    ),
}


def of_strata(ds):
    ds = ds.assign_coords(topic=("input", ["$draw_x$", "_other^2"] * 4))
    return ds.meta.sample_inputs(6, metric=METRICS, strata="topic", rng=1)


def of_variances(ds):
    """Components of which some are estimated below 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return ds.meta.variance_components(metric=METRICS)


def of_runs(ds):
    with warnings.catch_warnings():  # of variances below 0
        warnings.simplefilter("ignore", UserWarning)
        return again(ds).meta.repeatability(GOLD, metric=METRICS)


def shifted(ds, qs):
    gold = ds.score.sel(metric=GOLD, drop=True)
    return qs.meta.dominance(gold, metric=METRICS, along="$quality_x$", base=QUALITIES[0], threshold=0.7, **DRAWS)


def test_every_picture_is_drawn_with_such_names():
    methods = {name for name in vars(accessor.Plots) if not name.startswith("_")}
    assert {name.split()[0] for name in PICTURES} == methods


@pytest.mark.parametrize("picture", by_turns(PICTURES))
def test_names_are_drawn_as_they_are(picture):
    axes, names = PICTURES[picture](of_one(), of_two())
    drawn = words(axes)
    assert [name for name in names if name not in drawn] == []


@pytest.mark.parametrize("picture", by_turns(["pvalues", "bars", "forest", "clusters", "heatmap"]))
def test_names_of_thousands_of_signs_leave_room_for_the_panels(demo, picture):
    long = {"human": "human " * 500, "bleu": "bleu " * 600}
    ds = demo.assign_coords(metric=[long.get(name, name) for name in demo.metric.values])
    ds = ds.assign_attrs(gold=long["human"])
    asked = {
        "pvalues": lambda: ds.meta.corr_test().meta.plot.pvalues(),
        "forest": lambda: ds.meta.ci().meta.plot.forest(),
        "bars": lambda: ds.meta.corr().meta.plot.bars(),
        "clusters": lambda: ds.meta.rank(n_resamples=19, rng=0).meta.plot.clusters(),
        "heatmap": lambda: ds.meta.plot.heatmap(metric=list(long.values())),
    }
    axes = np.atleast_1d(asked[picture]())
    figure = axes.flat[0].figure
    figure.canvas.draw()
    assert sum(axis.bbox.height for axis in axes.flat) > 0.3 * figure.bbox.height
    assert max(len(line) for line in words(axes).splitlines()) < 120


@pytest.mark.parametrize("settings", [{"text.usetex": True}, {"text.parse_math": False}])
def test_names_are_no_mathematics_in_any_setting(settings):
    with plt.rc_context(settings):
        axis = intervals().meta.plot.forest(**HUE, order="given")
        legend = axis.figure.legends[0]
        texts = [axis.xaxis.label, axis.title, *axis.get_yticklabels(), *legend.get_texts(), legend.get_title()]
    assert not any(text.get_usetex() or text.get_parse_math() for text in texts)
    assert [text.get_text() for text in axis.get_yticklabels()] == METRICS


def contrast(one, two):
    """WCAG's ratio of luminances, 1 to 21."""
    linear = [np.array(mpl.colors.to_rgb(each)) for each in (one, two)]
    linear = [np.where(each <= 0.04045, each / 12.92, ((each + 0.055) / 1.055) ** 2.4) for each in linear]
    low, high = sorted(float(each @ [0.2126, 0.7152, 0.0722]) + 0.05 for each in linear)
    return high / low


@pytest.mark.parametrize("theme", ["default", "dark_background"])
def test_colours_can_be_told_from_the_ground(theme):
    with plt.style.context(theme):
        ground = plt.rcParams["figure.facecolor"]
        assert contrast(style.ink(), ground) > 7
        hues = [style.colour(at) for at in range(7)]
        assert len(set(hues)) == 7 and all(contrast(hue, ground) > 2 for hue in hues)
        assert 1.1 < contrast(style.faint(), ground) < 2 and contrast(style.grey(), ground) > 1.4
        for area in style.grounds():
            assert contrast(area, ground) < 1.6 and contrast(hues[0], area) > 3


def test_names_of_numbers_and_dates(named):
    days = named.isel(metric=slice(4)).assign_coords(metric=pd.date_range("2024-01-01", periods=4), input=range(8))
    axis = days.meta.ci(days.metric.values[0], **DRAWS).meta.plot.forest()
    assert [text.get_text()[:10] for text in axis.get_yticklabels()] == ["2024-01-02", "2024-01-03", "2024-01-04"]


@pytest.mark.parametrize(
    "variables, variable, want",
    [
        (["correlation", "ci_low", "ci_high"], "correlation", ("ci_low", "ci_high")),
        (["difference", "ci_low", "ci_high"], "difference", ("ci_low", "ci_high")),
        (["correlation", "difference", "ci_low", "ci_high"], "difference", None),
        (
            ["correlation", "difference", "ci_low", "ci_high", "difference_low", "difference_high"],
            "difference",
            ("difference_low", "difference_high"),
        ),
        (["correlation", "ci_low", "ci_high", "standard_error"], "standard_error", None),
        (["correlation"], "correlation", None),
    ],
)
def test_the_limits_of_a_variable(variables, variable, want):
    assert captions.limits_of(xr.Dataset(dict.fromkeys(variables, 0.0)), variable) == want


@pytest.mark.parametrize(
    "coefficient, correlation, difference",
    [
        ("kendall", (-1, 1), (-2, 2)),
        ("spa", (0, 1), (-1, 1)),
        ("a_function", (-1, 1), (-2, 2)),
        (None, (-1, 1), (-2, 2)),
    ],
)
def test_the_bounds_of_a_correlation_and_of_a_difference(coefficient, correlation, difference):
    result = xr.Dataset(attrs={"coefficient": coefficient} if coefficient else {})
    assert captions.bounds_of(result, "correlation") == correlation
    assert captions.bounds_of(result, "difference") == difference


def test_a_name_of_two_lines_is_as_wide_as_the_longer(named):
    def columns(name):
        axis = plt.figure(figsize=(5, 3), layout="constrained").subplots()
        layout.finished([axis], None, items=[(name, {"marker": "o"})] * 2, heading="title")
        return axis.figure.legends[0]._ncols

    assert columns("a name of two\nlines in a legend") == 2
    assert columns("a name of one line in a legend that is so wide") == 1


def _simulated(colours):
    """CAM02-UCS coordinates of colours as readers without, and with each of three colour-blindnesses see them."""
    rgb = np.array([mpl.colors.to_rgb(each) for each in colours])
    seen = [rgb]
    for kind in ("deuteranomaly", "protanomaly", "tritanomaly"):
        space = {"name": "sRGB1+CVD", "cvd_type": kind, "severity": 100}
        seen.append(np.clip(colorspacious.cspace_convert(rgb, space, "sRGB1"), 0, 1))
    return [colorspacious.cspace_convert(each, "sRGB1", "CAM02-UCS") for each in seen]


@pytest.mark.parametrize("hues", [style.HUES, style._LIGHT_HUES])
def test_hues_are_told_apart_by_colour_blind_readers(hues):
    """A distance of 1 can just be seen side by side; 10 is plain, as between Okabe and Ito's own colours (11)."""
    for seen in _simulated(hues):
        apart = np.linalg.norm(seen[:, None] - seen[None], axis=-1)
        assert apart[~np.eye(len(hues), dtype=bool)].min() > 10


@pytest.mark.parametrize("steps", [pvalues._STEPS, pvalues._DARK_STEPS])
def test_steps_of_p_values_are_in_order_for_colour_blind_readers_and_in_grey(steps):
    for seen in _simulated(steps):
        lightness = np.diff(seen[:, 0])
        assert (lightness > 7).all() or (lightness < -7).all()


@pytest.mark.parametrize("theme", ["default", "dark_background"])
def test_the_ends_and_the_middle_of_a_diverging_map_are_told_apart(theme):
    with plt.style.context(theme):
        ends = [style.diverging()(at)[:3] for at in (0.0, 0.25, 0.5, 0.75, 1.0)]
    for seen in _simulated(ends):
        apart = np.linalg.norm(seen[:, None] - seen[None], axis=-1)
        assert apart[~np.eye(5, dtype=bool)].min() > 10


def test_markers_differ_where_colours_are_not_seen():
    styles = [style.of(at) for at in range(28)]
    assert len(set(styles)) == 28
    assert all(one[1] != other[1] for one, other in zip(styles, styles[1:], strict=False))


def test_pictures_suit_the_figure_of_the_axes_that_are_given(named):
    result = named.meta.ci(**DRAWS)
    with plt.style.context("dark_background"):
        _, dark = plt.subplots()
    with plt.style.context("dark_background"):
        light = plt.figure(facecolor="white").add_subplot(facecolor="white")
        result.meta.plot.forest(ax=light, title="light")
    result.meta.plot.forest(ax=dark, title="dark")
    assert dark.title.get_color() == "#dddddd" and light.title.get_color() == style.INK
    assert dark.collections[0].get_facecolor() is not None
    lines = [line.get_color() for line in dark.lines if line.get_marker() == "o"]
    assert lines == [style._LIGHT_HUES[0]]
    assert style.ink() == style.INK  # nothing is left behind
    with pytest.raises(TypeError, match="ax must be a matplotlib Axes, as plt.subplots"):
        result.meta.plot.forest(ax=plt.figure())


def test_figures_without_a_ground_stand_on_that_of_their_axes(named):
    """As in notebooks, whose figures are often transparent."""
    with plt.rc_context({"figure.facecolor": "none"}):
        assert style.ink() == style.INK
        with plt.rc_context({"axes.facecolor": "black"}):
            assert style.ink() == "#dddddd"
        with plt.rc_context({"axes.facecolor": "none"}):
            assert style.ink() == style.INK
    outer = plt.figure(facecolor="black")
    axis = outer.subfigures(1, 2)[0].subplots()
    axis.set_facecolor("none")
    named.meta.ci(**DRAWS).meta.plot.forest(ax=axis, title="inside")
    assert axis.title.get_color() == "#dddddd"


def test_legends_can_be_read_in_dark_figures():
    with plt.style.context("dark_background"):
        _, axis = plt.subplots()
    intervals().meta.plot.forest(**HUE, ax=axis)
    legend = axis.get_legend()
    words = [*legend.get_texts(), legend.get_title()]
    assert len(words) == 4 and all(mpl.colors.same_color(text.get_color(), "#dddddd") for text in words)
