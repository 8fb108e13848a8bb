"""Shared by pictures: colours, panels for the labels of further dims, axes, legends."""

from __future__ import annotations

import functools
import itertools
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np
import xarray as xr

from xsumstat import catalogue
from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.core import extras, validate
from xsumstat.dataset import align, wording

# Okabe & Ito's colours, told apart by colour-blind readers; the light ones were searched for the same end near these.
HUES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#333333")
_LIGHT_HUES = ("#3486D6", "#F85D1A", "#47D08E", "#B09DB4", "#FFD101", "#C4EBFE", "#FCFDDF")  # on dark grounds
INK = "#333333"
ZERO_LINE = "#999999"  # on either ground
# Words are drawn as they are: no "$" in a name starts a formula, in TeX or in matplotlib's own mathematics.
PLAIN = {"parse_math": False, "usetex": False}
SMALL, NOTE = 7.0, 8.0  # points: of numbers in cells, which no words are smaller than, and of notes
MOST = 20  # metrics that a picture shows unless others are named
ORDERS = ("value", "name", "given")
_LONGEST, _LONGEST_TITLE = 40, 80  # signs of a name that are drawn, and of one above a panel, which has lines
_ACROSS = 4  # panels beside each other
_INCHES_A_SIGN, _INCHES_A_LINE = 0.059, 0.143  # of words of the size NOTE
_INCHES_A_DIGIT = 0.08  # of the numbers of an axis
_TITLES = {
    "other_metric": "vs {}",
    "n_systems": "{} systems",
    "n_inputs": "{} inputs",
    "n_raters": "{} raters",
    "noise": "noise {}",
}
_ACROSS_ALL = ("bonferroni", "holm")  # multiply the smallest p-value by the number of tests
_P = ParamSpec("_P")
_R = TypeVar("_R")
# What ci_low and ci_high are the limits of: the first of these that a result has.
_ESTIMATES = ("correlation", "difference", "share", "ratio", "mean_rank", "coverage", "power", "type_i_error")


def ink() -> str:
    """Colour of text, light on a dark figure."""
    return "#dddddd" if is_dark() else INK


def muted() -> str:
    return "#a8a8a8" if is_dark() else "#666666"


def faint() -> str:
    return "#3d3d3d" if is_dark() else "#e6e6e6"


def grey() -> str:
    """Colour of areas in the background, stronger than the grid."""
    return "#5c5c5c" if is_dark() else "#d0d0d0"


def grounds() -> tuple[str, str]:
    """Two alternating colours for areas of a panel."""
    return ("#151515", "#1f2f3b") if is_dark() else ("#f8f8f8", "#e4eef6")


def colour(at: int) -> str:
    hues = _LIGHT_HUES if is_dark() else HUES
    return hues[at % len(hues)]


def ground() -> str:
    """Background colour of the panels, for the rims of points."""
    colours: Any = extras.optional("matplotlib.colors", "plot")
    return str(colours.to_hex(_ground()))


def on_its_ground(picture: Callable[_P, _R]) -> Callable[_P, _R]:
    """The picture in colours that suit the figure of the user's axes, whatever the current style."""

    @functools.wraps(picture)
    def drawn(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        ax: Any = kwargs.get("ax")
        if ax is None:
            return picture(*args, **kwargs)
        plt: Any = extras.optional("matplotlib.pyplot", "plot")
        if not isinstance(ax, plt.Axes):
            raise TypeError(f"ax must be a matplotlib Axes, as plt.subplots() gives, not {type(ax).__name__}")
        seen = (ax.figure.get_facecolor(), ax.figure.figure.get_facecolor(), ax.get_facecolor())
        with plt.rc_context({"figure.facecolor": _first_opaque(*seen)}):
            return picture(*args, **kwargs)

    return drawn


def is_dark() -> bool:
    red, green, blue = _ground()
    return bool(0.3 * red + 0.6 * green + 0.1 * blue <= 0.5)


def _ground() -> tuple[float, float, float]:
    plt: Any = extras.optional("matplotlib.pyplot", "plot")
    return _first_opaque(plt.rcParams["figure.facecolor"], plt.rcParams["axes.facecolor"])


def _first_opaque(*facecolors: Any) -> tuple[float, float, float]:
    """The first opaque colour; figures in notebooks are often transparent on white."""
    colours: Any = extras.optional("matplotlib.colors", "plot")
    for each in facecolors:
        *rgb, alpha = colours.to_rgba(each)
        if alpha > 0:
            return tuple(rgb)
    return 1.0, 1.0, 1.0


def style_of(at: int) -> tuple[str, str]:
    """Colour and marker of a label; distinct for 28 labels, and neighbours differ in both."""
    return colour(at), "osD^"[at % 4]


def check_available() -> None:
    """Raise an error that names the extra if matplotlib is not installed."""
    extras.optional("matplotlib.pyplot", "plot")


def panels_of(result: xr.Dataset, dims: list[str]) -> list[tuple[str, xr.Dataset]]:
    """Title and part of the result for each combination of labels of the given dims."""
    choices = itertools.product(*(range(result.sizes[dim]) for dim in dims))
    panels = []
    for places in choices:
        where = dict(zip(dims, places, strict=True))
        names = [str(result[dim].values[at]) if dim in result.coords else f"{dim} {at}" for dim, at in where.items()]
        names = [
            _TITLES.get(dim, "{}").format(clipped(name, _LONGEST_TITLE)) for dim, name in zip(dims, names, strict=True)
        ]
        panels.append((", ".join(names), result.isel(where)))
    return panels


def gold_unless(ds: xr.Dataset, metric: Any) -> Any:
    """The metrics asked for, or by default the gold, if it is a metric."""
    gold = ds.attrs.get("gold")
    return gold if metric is None and "metric" in ds.indexes and gold in ds.indexes["metric"] else metric


def as_given(ds: xr.Dataset, score: xr.DataArray) -> xr.DataArray:
    """Scores in memory as given, without the negation of metrics that are better when lower."""
    given = ds["score"].sel(metric=score["metric"]) if "metric" in ds.indexes else ds["score"]
    return align.without_coords(given.transpose(*score.dims).astype(float).compute())


def label_width(labels: xr.DataArray) -> float:
    return 0.4 + 0.075 * max(map(len, texts(labels)), default=0)


def texts(labels: xr.DataArray) -> list[str]:
    """Labels as drawn, with `PLAIN`."""
    return [clipped(str(label)) for label in np.atleast_1d(labels.values)]


def clipped(name: str, longest: int = _LONGEST) -> str:
    """The name, or the start and end of a long one, where such names differ."""
    return name if len(name) <= longest else f"{name[: longest - 16]}…{name[-15:]}"


def words_on(area: Any) -> str:
    """Black or white, whichever is readable on this colour (WCAG contrast at least 4.5)."""
    colours: Any = extras.optional("matplotlib.colors", "plot")
    parts = np.array(colours.to_rgb(area))
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return "black" if float(linear @ [0.2126, 0.7152, 0.0722]) > 0.179 else "white"


def diverging() -> Any:
    """Colours from blue through the background to red."""
    plt: Any = extras.optional("matplotlib.pyplot", "plot")
    colours: Any = extras.optional("matplotlib.colors", "plot")
    if not is_dark():
        return plt.get_cmap("RdBu_r")
    return colours.LinearSegmentedColormap.from_list(
        "diverging", ("#9ed3ff", "#2f7fc1", "#1d1d1d", "#c8563c", "#ffc2a1")
    )


def panel_title(axis: Any, name: str, inches: float) -> None:
    """Title of a panel, wrapped to its width."""
    parts = name.split("\n")
    lines = [textwrap.fill(line, max(12, int(inches / 0.075))) for line in parts]
    fontsize = 10 if max(map(len, parts)) * 0.08 < inches else 8.5
    axis.set_title("\n".join(lines), fontsize=fontsize, color=ink(), **PLAIN)


def check_not_empty(values: xr.DataArray) -> None:
    if values.size == 0:
        raise ValueError("the result is empty: there is nothing to draw")


def grid_of(n_panels: int) -> tuple[int, int]:
    return min(n_panels, _ACROSS), -(-n_panels // _ACROSS)


def shown(
    result: xr.Dataset,
    variable: str,
    *,
    metric: Any = None,
    order: Any = "value",
    dims: tuple[str, ...] = ("metric",),
    most: int | None = MOST,
    highlight: Any = None,
) -> tuple[xr.Dataset, str]:
    """The part of a result to show, its metrics in order, and a note of those left out.

    `variable`, averaged over all dims except the first of `dims`, is the value of a metric; `dims` are ("metric",), or
    ("metric", "other_metric") for a matrix. At most `most` labels,
    and those to `highlight`, are shown unless `metric` or `order` names them.
    """
    dim = dims[0]
    labels = np.ravel(result[dim].values).tolist() if dim in result.coords or dim in result.dims else []
    listed = metric is not None or validate.is_list(order)
    chosen = validate.listed(metric) if metric is not None else labels
    if validate.is_list(order):
        for label in order:
            validate.column("label in order", label)
        chosen, order = [label for label in dict.fromkeys(order) if metric is None or label in chosen], "given"
    for label in chosen:
        validate.known(dim if metric is not None else "label in order", label, labels, f"{dim}s")
    validate.choice("order", order, ORDERS)
    if dim not in result.dims:
        return result, ""
    if order == "value":
        values = result[variable].astype(float)
        mean = values.mean([other for other in values.dims if other != dim]).values
        value_of = dict(zip(labels, np.where(np.isnan(mean), -np.inf, mean), strict=True))
        chosen = sorted(chosen, key=lambda label: -value_of[label])
    elif order == "name":
        chosen = sorted(chosen, key=str)
    wanted = [] if highlight is None else validate.listed(highlight)
    for label in wanted:
        validate.known("highlight", label, labels, f"{dim}s")
    note = ""
    if not listed and most is not None and len(chosen) > most:
        largest, keyword = ("best", "metric") if dim == "metric" else ("largest", "order")
        which = {"value": largest, "name": "first by name", "given": "first"}[order]
        further = [label for label in chosen[most:] if label in wanted]
        also = f" and {validate.counted(len(further), 'highlighted one')}" if further else ""
        note = f"the {most} {which}{also} of {len(chosen)} {dim}s; {keyword}= names others"
        chosen = [*chosen[:most], *further]
    for each in dims:
        there = set(result[each].values.tolist())
        result = result.isel({each: [result[each].values.tolist().index(label) for label in chosen if label in there]})
    return result, note


def emphasise(axis: Any, labels: Sequence[Any], highlight: Any) -> None:
    """A tinted row and a bold name for each of the metrics to highlight, in rows of `labels`."""
    wanted = [] if highlight is None else validate.listed(highlight)
    names = axis.get_yticklabels()
    for row, label in enumerate(labels):
        if label in wanted:
            axis.axhspan(row - 0.5, row + 0.5, color=colour(4), alpha=0.18, lw=0, zorder=0.3)
            if row < len(names):
                names[row].set_fontweight("bold")


def beside_all(differences: xr.DataArray, sides: tuple[str, str]) -> xr.DataArray:
    """Differences of pairs, 0 for a label with itself, so means over the others give an order."""
    down, across = sides
    if {down, across} <= set(differences.coords):
        differences = differences.where(differences[down] != differences[across], 0.0)
    return differences.astype(float)


def with_values(result: xr.Dataset, variable: str, dim: str) -> tuple[xr.Dataset, str]:
    """The part of a result whose labels have a value, and a note that names the others."""
    there = result[variable].notnull().any([each for each in result[variable].dims if each != dim]).values
    lacking = texts(result[dim][~there]) if dim in result.coords and not there.all() else []
    if "other_metric" in result.coords:
        only = {str(label) for label in np.atleast_1d(result["other_metric"].values)}
        lacking = [name for name in lacking if only != {name}]
    return result.isel({dim: there}) if there.any() else result, f"undefined: {', '.join(lacking)}" if lacking else ""


def finished(
    axes: list[Any],
    ax: Any,
    *,
    title: str | None = None,
    items: Sequence[tuple[str, Mapping[str, Any]]] = (),
    heading: str = "",
    notes: Sequence[str] = (),
) -> Any:
    """The axes to return, with title, legend (`items` under `heading`), and notes in small print below.

    If the user gave `ax`, these belong to it, and the rest of its figure stays unchanged. Empty notes are skipped.
    """
    note = "; ".join(each for each in notes if each)
    _keep_names_plain(axes)
    _keep_ticks_apart(axes)
    if ax is None:
        _finish_figure(axes[0].figure, title, items, heading, note)
    else:
        _finish_axes(ax, title, items, heading, note)
    return axes[0] if len(axes) == 1 else np.array(axes)


def _keep_names_plain(axes: Sequence[Any]) -> None:
    """Keep labels from being parsed as mathematics, also in panels that share an axis."""
    ticker: Any = extras.optional("matplotlib.ticker", "plot")
    for axis in (each for panel in axes for each in (panel.xaxis, panel.yaxis)):
        if isinstance(axis.get_major_formatter(), ticker.FuncFormatter | ticker.FixedFormatter):
            for text in axis.get_ticklabels():
                text.set(**PLAIN)


def _keep_ticks_apart(axes: Sequence[Any]) -> None:
    """Fewer ticks along x where the numbers of an axis would touch."""
    ticker: Any = extras.optional("matplotlib.ticker", "plot")
    for axis in axes:
        if not isinstance(axis.xaxis.get_major_locator(), ticker.AutoLocator):
            continue
        low, high = sorted(axis.get_xlim())
        ticks = [each for each in axis.get_xticks() if low <= each <= high]
        signs = max(map(len, axis.xaxis.get_major_formatter().format_ticks(ticks)), default=1)
        most = max(2, int(axis.get_window_extent().width / axis.figure.dpi / (_INCHES_A_DIGIT * signs + 0.12)))
        if len(ticks) > most:
            axis.xaxis.set_major_locator(ticker.MaxNLocator(most - 1, steps=[1, 2, 5, 10]))


def _finish_figure(figure: Any, title: str | None, items: Any, heading: str, note: str) -> None:
    strip = 0.0  # of the figure's height, which the panels leave free
    if note:
        lines = textwrap.wrap(note, max(20, int(figure.get_figwidth() / _INCHES_A_SIGN) - 4))
        strip = (_INCHES_A_LINE * len(lines) + 0.06) / figure.get_figheight()
        style: dict[str, Any] = {"fontsize": NOTE, "color": muted(), "linespacing": 1.15, **PLAIN}
        figure.text(0.012, 0.03 / figure.get_figheight(), "\n".join(lines), va="bottom", **style)
    if items:
        place = {"loc": "lower center", "bbox_to_anchor": (0.5, strip), "borderaxespad": 0.2}
        ready = _legend(figure, figure.get_figwidth(), items, heading, place)
        strip += ready.get_window_extent().height / figure.bbox.height
    figure.get_layout_engine().set(rect=(0, strip, 1, 1 - strip))
    if title is not None:
        figure.suptitle(title, fontsize=11, color=ink(), **PLAIN)


def _finish_axes(axis: Any, title: str | None, items: Any, heading: str, note: str) -> None:
    """Title, legend and notes of axes in a user's figure, below what is there."""
    transforms: Any = extras.optional("matplotlib.transforms", "plot")
    if title is not None:
        axis.set_title(title, fontsize=10, color=ink(), **PLAIN)
    axis.apply_aspect()  # the height of what is below counts from the axes as they will be
    width = axis.bbox.width / axis.figure.dpi
    for what in (items, note):
        if not what:
            continue
        reach = (axis.bbox.y0 - axis.get_tightbbox().y0) / axis.figure.dpi
        move = transforms.ScaledTranslation(0, -reach - 0.03, axis.figure.dpi_scale_trans)
        below = axis.transAxes + move
        if what is note:
            words = textwrap.fill(note, max(20, int(width / _INCHES_A_SIGN)))
            axis.text(0, 0, words, transform=below, va="top", fontsize=NOTE, color=muted(), **PLAIN)
        else:
            keywords = {"loc": "upper left", "bbox_to_anchor": (0, 0), "bbox_transform": below, "borderaxespad": 0.0}
            _legend(axis, width, items, heading, keywords)


def axes_for(
    n_panels: int,
    size: tuple[float, float],
    ax: Any,
    *,
    sharex: bool,
    sharey: bool = True,
    figsize: tuple[float, float] | None = None,
) -> list[Any]:
    """Axes of so many panels, (width, height) inches in all or `figsize`, or the given one."""
    if ax is not None:
        if n_panels > 1:
            raise ValueError(
                f"ax takes one panel, and the result has {n_panels}; select a label of its additional dims first"
            )
        return [ax]
    plt: Any = extras.optional("matplotlib.pyplot", "plot")
    across, down = grid_of(n_panels)
    size = (max(size[0], 5.0), size[1]) if figsize is None else figsize  # room for the legend
    figure, grid = plt.subplots(
        down, across, figsize=size, sharey=sharey, sharex=sharex, squeeze=False, layout="constrained"
    )
    for axis in grid.flat[n_panels:]:
        axis.set_visible(False)
    for axis in grid.flat[:n_panels]:
        axis.tick_params(labelsize=9, colors=ink(), length=2, labelbottom=True)
        for side in ("top", "right", "left"):
            axis.spines[side].set_visible(False)
        axis.spines["bottom"].set_color("#bbbbbb")
    return list(grid.flat[:n_panels])


def _legend(
    whose: Any, width: float, items: Sequence[tuple[str, Mapping[str, Any]]], title: str, place: dict[str, Any]
) -> Any:
    lines = extras.optional("matplotlib.lines", "plot")
    ready = whose.legend(
        [lines.Line2D([], [], **style) for _, style in items],
        [" "] * len(items),  # names come after: matplotlib leaves out those that start with "_"
        title=title,
        ncols=_columns([name for name, _ in items], width),
        **place,
        frameon=False,
        fontsize=8.5,
        labelcolor=ink(),
        title_fontsize=9,
        handletextpad=0.3,
        columnspacing=1.2,
    )
    for text, name in zip(ready.get_texts(), (name for name, _ in items), strict=True):
        text.set(text=name, **PLAIN)
    ready.get_title().set(color=ink(), **PLAIN)
    return ready


def _columns(names: Sequence[str], width: float) -> int:
    widest = 0.5 + 0.08 * max(len(line) for name in names for line in name.split("\n"))
    return max(1, min(len(names), int(width / widest)))


def lines_of(labels: xr.DataArray) -> list[tuple[str, dict[str, Any]]]:
    looks = [style_of(at) for at in range(labels.size)]
    return [
        (name, {"color": color, "marker": sign, "lw": 2})
        for name, (color, sign) in zip(texts(labels), looks, strict=True)
    ]


def legend_height(names: Sequence[str], width: float) -> float:
    """Inches of a legend of such names below a figure of this width."""
    return 0.25 + 0.18 * -(-len(names) // _columns(names, width)) if names else 0.0


def limits_of(result: xr.Dataset, variable: str) -> tuple[str, str] | None:
    own = f"{variable}_low", f"{variable}_high"
    estimate = next((name for name in _ESTIMATES if name in result), None)
    names = ("ci_low", "ci_high") if variable == estimate else own
    there = set(names) <= set(result.data_vars) and set(result[names[0]].dims) <= set(result[variable].dims)
    return names if there else None


def correlation_label(result: xr.Dataset) -> str:
    gold, given = result.attrs.get("gold"), result.attrs.get("given")
    label = coefficient_label(result.attrs.get("coefficient", "correlation"))
    label += f" with {clipped(str(gold))}" if gold else ""
    return f"partial {label}\ngiven {clipped(str(given))}" if given else label


def coefficient_label(name: Any) -> str:
    """Label of a coefficient; a function, and an unknown one, by its own name."""
    return COEFFICIENTS[name].label if name in COEFFICIENTS else clipped(str(name))


def bounds_of(result: xr.Dataset, variable: str) -> tuple[float, float]:
    """Least and largest value of a correlation, or of a difference of two."""
    name = result.attrs.get("coefficient")
    low, high = COEFFICIENTS[name].bounds if name in COEFFICIENTS else (-1.0, 1.0)
    return (low - high, high - low) if variable == "difference" else (low, high)


def variable_label(result: xr.Dataset, name: str) -> str:
    if name == "correlation" and "coefficient" in result.attrs:
        return correlation_label(result)
    if name == "difference" and "coefficient" in result.attrs:
        return f"difference in\n{correlation_label(result)}"
    declared = catalogue.VARIABLES[name].long_name if name in catalogue.VARIABLES else name.replace("_", " ")
    label = str(result[name].attrs.get("long_name", declared))
    if "coefficient" in result.coords:  # tasks have their own
        label = label.replace("correlation with gold", "agreement with the human scores")
    elif "coefficient" in result.attrs:
        label = label.replace("correlation", coefficient_label(result.attrs["coefficient"]))
    return label


def how_tested(result: xr.Dataset) -> str:
    """How tests were made, for the note of a picture that draws no intervals of theirs."""
    return wording.how(result.drop_vars("ci_low", errors="ignore"))


def too_few_words(result: xr.Dataset, alpha: float, n_tests: int) -> str:
    """The note where so few resamples cannot give a corrected p-value as small as alpha."""
    attrs = result.attrs
    drawn = attrs.get("method") not in ("analytic", "auto") and "n_resamples" in attrs and not attrs.get("exact")
    if not drawn:
        return ""
    corrected = attrs.get("adjust_method") in _ACROSS_ALL
    n = int(attrs["n_resamples"])
    least = (n_tests if corrected else 1) / (1 + n)
    if least <= alpha:
        return ""
    kind = "corrected p-value" if corrected else "p-value"
    reached = f"the smallest {kind} that they can give is {min(1.0, least):.2g}, above {alpha:.2g}"
    return f"too few resamples: {reached}; n_resamples={math.ceil(round(least * (1 + n) / alpha, 9)) - 1} would do"
