"""Pictures of metrics against metrics: their correlations as a matrix, and their scores."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xsumstat.core import extras, validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import metric_choice, wording
from xsumstat.dataset import scores as schema
from xsumstat.plots import captions, layout, marks, selection, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIDES = ("metric", "other_metric")
# Inches of a cell that a number, or a number with its interval below, needs at 7 points.
_OF_NUMBER, _OF_INTERVAL = 0.29, 0.62
_MOST_IN_SCATTER = 15  # metrics that a scatter matrix shows so that they can still be told apart
_POINTS = 2000  # more points in a cell lie on each other: hexagons then
_PALE = 1.2  # the ends of the colours are not taken: words are easier to read on paler ones


@validate.public
@style.on_its_ground
def matrix(
    result: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Hashable] = "clustered",
    triangle: bool = True,
    annotate: bool | None = None,
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw `metric_corr` or `metric_ci`: correlations among metrics as a coloured matrix.

    Parameters
    ----------
    {result metric.few}
    order : {"clustered", "value", "name", "given"} or list of labels, default "clustered"
        Similar metrics beside each other, by mean correlation with the others, by name, as given, or only these labels.
    triangle : bool, default True
        Draw each pair once, below the diagonal, if both halves are equal.
    annotate : bool, optional
        Write numbers and intervals into the cells; default if 7 points fit.
    {picture}

    Returns
    -------
    Axes or array of Axes
        An array if there are several panels; they share one order.

    Notes
    -----
    "clustered" is the leaf order of a hierarchical clustering of 1 − correlation by average linkage, with neighbours as
    close as possible; an undefined correlation counts as 0. Sources: Peyrard (2019), Table 1. Bar-Joseph et al. (2001),
    "Fast optimal leaf ordering for hierarchical clustering", Bioinformatics 17.

    {demo}
    >>> axes = ds.meta.metric_corr(level="input").meta.plot.matrix()
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['rouge', 'bertscore', 'human', 'judge', 'perplexity', 'length']
    """
    if "correlation" not in result or not set(_SIDES) <= set(result["correlation"].dims):
        raise ValueError("the result has no correlations of metrics with each other; this draws what metric_corr gives")
    for name, value in (("triangle", triangle), ("annotate", annotate)):
        if value is not None:
            validate.flag(name, value)
    result = _in_order(result, metric, order)
    half = triangle and _is_symmetric(result)
    panels = layout.panels_of(result, [str(dim) for dim in result["correlation"].dims if dim not in _SIDES])
    axes, side = _axes_of_matrix(result, len(panels), half, annotate, figsize, ax)
    level = _numbers_in(result, side, annotate)
    for axis, (name, panel) in zip(axes, panels, strict=True):
        image = _cells(axis, panel, half, level)
        layout.panel_title(axis, name, side * result.sizes["other_metric"])
    _colour_bar(axes, ax, image, result)
    return layout.finished(axes, ax, title=title, notes=[wording.how(result), _left_out(result, level)])


def _in_order(result: xr.Dataset, metric: Any, order: Any) -> xr.Dataset:
    """The chosen metrics in order, along both sides of a matrix of all pairs, else along its rows."""
    square = np.array_equal(result["metric"].values, result["other_metric"].values)
    dims = _SIDES if square else _SIDES[:1]
    if not validate.is_list(order):
        validate.choice("order", order, ("clustered", *selection.ORDERS))
    clustered = isinstance(order, str) and order == "clustered"
    first = ("given" if square else "value") if clustered else order
    result, _ = selection.shown(result, "correlation", metric=metric, order=first, dims=dims, most=None)
    leaves = _leaves(result) if clustered and square else slice(None)
    return result.isel({dim: leaves for dim in dims})


def _leaves(result: xr.Dataset) -> list[int]:
    """Places of the metrics in the leaf order; the end with the higher mean correlation comes first."""
    n = result.sizes["metric"]
    if n < 3:
        return list(range(n))
    hierarchy: Any = extras.optional("scipy.cluster.hierarchy", "plot")
    values = result["correlation"].astype(float).transpose(*_SIDES, ...).values.reshape(n, n, -1)
    there = ~np.isnan(values)
    mean = np.where(there, values, 0).sum(axis=-1) / np.maximum(there.sum(axis=-1), 1)
    distance = 1 - (mean + mean.T) / 2
    condensed = distance[np.triu_indices(n, 1)]
    tree = hierarchy.linkage(np.maximum(condensed, 0), "average", optimal_ordering=n <= 200)  # slow beyond
    leaves = [int(each) for each in hierarchy.leaves_list(tree)]
    closeness = -distance.sum(axis=1)
    return leaves if closeness[leaves[0]] >= closeness[leaves[-1]] else leaves[::-1]


def _is_symmetric(result: xr.Dataset) -> bool:
    if result.sizes["metric"] < 2 or not np.array_equal(result["metric"].values, result["other_metric"].values):
        return False
    values = result["correlation"].astype(float).transpose(*_SIDES, ...).values
    return bool(np.allclose(values, np.swapaxes(values, 0, 1), equal_nan=True))


def _axes_of_matrix(
    result: xr.Dataset, n_panels: int, half: bool, annotate: bool | None, figsize: Any, ax: Any
) -> tuple[list[Any], float]:
    """Axes, and the approximate width of a cell in inches."""
    rows, columns = (result.sizes[dim] - half for dim in _SIDES)
    most = max(rows, columns)
    with_limits = "ci_low" in result and (most <= 10 or annotate is True)
    cell = 0.8 if with_limits else 0.46 if most <= 20 or annotate is True else 0.17
    across, down = layout.grid_of(n_panels)
    room, below = (layout.label_width(result[dim]) for dim in _SIDES)
    below = 0.3 + (below if cell < _OF_NUMBER else 0.75 * below)
    size = (room + 0.9 + (cell * columns + 0.3) * across, (0.4 + below + cell * rows) * down + 0.2)
    axes = layout.axes_for(n_panels, size, ax, sharex=False, figsize=figsize)
    if ax is not None:
        box = ax.get_window_extent()
        return axes, min(0.85 * box.width / columns, box.height / rows) / ax.figure.dpi
    if figsize is not None:
        cell *= min(figsize[0] / size[0], figsize[1] / size[1])
    return axes, cell


def _numbers_in(result: xr.Dataset, side: float, annotate: bool | None) -> int:
    """What a cell shows: 0 nothing, 1 a number, 2 also its interval."""
    most = 2 if "ci_low" in result else 1
    if annotate is not None:
        return most * annotate
    return min(most, 2 if side >= _OF_INTERVAL else 1 if side >= _OF_NUMBER else 0)


def _left_out(result: xr.Dataset, level: int) -> str:
    if "ci_low" in result and level < 2:
        return "intervals not written" if level else "numbers and intervals not written"
    return ""


def _cells(axis: Any, panel: xr.Dataset, half: bool, level: int) -> Any:
    rows, columns = (captions.texts(panel[dim]) for dim in _SIDES)
    values = panel["correlation"].transpose(*_SIDES).values.astype(float)
    drawn = np.tril(np.ones(values.shape, bool), -1) if half else np.ones(values.shape, bool)
    low, high = captions.bounds_of(panel, "correlation")
    reach = _PALE * (high - low) / 2
    middle = (low + high) / 2
    colours = {"cmap": style.diverging(), "vmin": middle - reach, "vmax": middle + reach}
    image = axis.imshow(np.where(drawn, values, np.nan), **colours)
    for i, j in np.argwhere(drawn & ~np.isnan(values)) if level else ():
        text = _number(values[i, j])
        if level == 2 and rows[i] != columns[j]:
            limits = (float(panel[name].isel(metric=i, other_metric=j)) for name in ("ci_low", "ci_high"))
            text += "\n[" + ", ".join(map(_number, limits)) + "]"
        area = image.cmap(image.norm(values[i, j]))
        marks.in_cell(axis, j, i, text, area, fontsize=style.SMALL if level == 2 else 7.5)
    small = {"fontsize": style.SMALL} if len(columns) > 20 else {}
    turn: dict[str, Any] = {"rotation": 90 if len(columns) > 20 else 45, "ha": "right", "rotation_mode": "anchor"}
    turn |= {"va": "center"} if len(columns) > 20 else {}
    n_columns = len(columns) - half
    axis.set_xticks(range(n_columns), columns[:n_columns], **turn, **small, **style.PLAIN)
    axis.set_yticks(range(half, len(rows)), rows[half:], **small, **style.PLAIN)
    if half:
        axis.set(xlim=(-0.5, n_columns - 0.5), ylim=(len(rows) - 0.5, 0.5))
    layout.bare(axis)
    return image


def _colour_bar(axes: list[Any], ax: Any, image: Any, result: xr.Dataset) -> None:
    room = 0.15 if ax is None else 0.22  # of the axes' width, where nothing but the axes gives way
    bar = axes[0].figure.colorbar(image, ax=axes, fraction=room, shrink=0.8, aspect=25, pad=0.02)
    low, high = captions.bounds_of(result, "correlation")
    bar.ax.set_ylim(low, high)
    bar.set_ticks(np.linspace(low, high, 5))
    bar.ax.tick_params(labelsize=8, colors=style.ink(), length=2)
    bar.outline.set_visible(False)
    level = str(result.attrs.get("level", "")).replace("_", " ")
    label = captions.correlation_label(result) + (f", {level} level" if level in ("system", "input", "global") else "")
    bar.set_label(label, fontsize=9, color=style.ink(), **style.PLAIN)


def _number(value: float) -> str:
    return "–" if np.isnan(value) else f"{round(value, 2) + 0.0:.2f}".replace("0.", ".", 1)


@validate.public
def scatter_matrix(
    ds: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    order: str | Sequence[Hashable] = "value",
    coefficient: str = "kendall",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
) -> Any:
    """Draw metrics against metrics: outputs below the diagonal, distributions on it, correlations above.

    First select one label of each additional dim.

    Parameters
    ----------
    {ds}
    metric : label, list of labels or bool DataArray, optional
        Two to 15; default ``ds.attrs["gold"]`` and all metrics that are not of ``kind`` human.
    {order}
        "value": after the gold by correlation with it (without a gold by mean correlation), the highest first.
    coefficient : str, default "kendall"
        Coefficient at input level: "pearson", "spearman", "kendall" (tau-b), "kendall_a", "kendall_c" or
        "pairwise_accuracy".
    {figsize title}

    Returns
    -------
    array of Axes
        One for each pair of metrics, rows by columns. Above 2,000 outputs points become hexagons.

    Notes
    -----
    Scores are drawn as given, also where lower is better; the correlations negate those. Source: Peyrard (2019), Fig.
    4.

    {demo}
    >>> axes = ds.meta.plot.scatter_matrix(metric=["human", "judge", "rouge"])
    >>> [each.get_ylabel() for each in axes[:, 0]]
    ['human', 'judge', 'rouge']
    """
    from xsumstat.analyses.correlation import metric_corr

    if validate.is_list(order) and metric is None:
        for label in order:
            validate.known("label in order", label, list(ds.indexes.get("metric", ())), "metrics")
    requested = order if validate.is_list(order) and metric is None else _with_gold(ds, metric)
    oriented = schema.prepare_cells(ds, requested)
    labels = oriented["metric"].values.tolist()
    if len(labels) < 2:
        raise ValueError("metric must name at least 2 metrics, which are drawn against each other")
    if len(labels) > _MOST_IN_SCATTER:
        which = "there are" if metric is None else "metric names"
        raise ValueError(
            f"{which} {len(labels)} metrics, and a scatter matrix shows at most {_MOST_IN_SCATTER}; name those to be "
            f"shown, as metric={labels[:2]}, or draw the correlations of all with metric_corr and plot.matrix"
        )
    found = metric_corr(ds, metric=requested, level="input", coefficient=coefficient)
    found = _gold_first(found, order, ds.attrs.get("gold"))
    places = [labels.index(label) for label in found["metric"].values.tolist()]
    oriented = oriented.isel(metric=places)
    given = selection.as_given(ds, oriented)
    lower = [bool(((given[at] != oriented[at]) & given[at].notnull()).any()) for at in range(len(places))]
    plt: Any = extras.optional("matplotlib.pyplot", "plot")
    n = len(places)
    size = max(4.5, n * (1.25 if n <= 8 else 1.0))
    figure, axes = plt.subplots(n, n, figsize=figsize or (size, size + 0.3), layout="constrained", squeeze=False)
    figure.get_layout_engine().set(w_pad=0.02, h_pad=0.02, wspace=0, hspace=0)
    values = given.values.reshape(n, -1)
    for i, j in itertools.product(range(n), repeat=2):
        _scatter_cell(axes[i, j], values[j], values[i], float(found["correlation"].values[i, j]), i - j)
    side = min(figure.get_size_inches()) / n
    _rim(axes, [_reach(row) for row in values], lower, _beside_cells(given["metric"], lower, side))
    above = f"above: {captions.correlation_label(found)} at input level, averaged over inputs"
    hexagons = "hexagons: darker where more outputs lie" if _n_points(values) > _POINTS else ""
    notes = [above, f"{_n_points(values):,} outputs", hexagons]
    layout.finished(list(axes.flat), None, title=title, notes=notes)
    return axes


def _with_gold(ds: xr.Dataset, metric: Any) -> Any:
    """The metrics asked for; default the gold, if a metric, and all that are not human."""
    judged = metric_choice.automatic(ds, metric)
    gold = ds.attrs.get("gold")
    if metric is not None or judged is None or gold not in ds.indexes["metric"]:
        return judged
    return [gold, *(label for label in judged if label != gold)]


def _gold_first(found: xr.Dataset, order: Any, gold: Any) -> xr.Dataset:
    """Metrics in order; by value the gold comes first, then by correlation with it."""
    labels = found["metric"].values.tolist()
    if not (isinstance(order, str) and order == "value" and gold in labels):
        return selection.shown(found, "correlation", order=order, dims=_SIDES)[0]
    with_gold = found.isel(other_metric=[labels.index(gold)])
    others = selection.shown(with_gold, "correlation", metric=[label for label in labels if label != gold])[0]
    return found.sel({dim: [gold, *others["metric"].values.tolist()] for dim in _SIDES})


def _n_points(values: FloatArray) -> int:
    return int((~np.isnan(values)).any(axis=0).sum())


def _reach(values: FloatArray) -> tuple[float, float]:
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    margin = 0.05 * (high - low) or 0.5 * max(abs(low), 1.0)
    return low - margin, high + margin


def _beside_cells(labels: xr.DataArray, lower: list[bool], side: float) -> list[str]:
    names = [
        name + (" (lower is better)" if turned else "")
        for name, turned in zip(captions.texts(labels), lower, strict=True)
    ]
    return [layout.broken(name, max(8, int((side - 0.1) / 0.065))) for name in names]


def _rim(axes: Any, reaches: list[tuple[float, float]], lower: list[bool], names: list[str]) -> None:
    """Shared limits of rows and columns, ticks and names at the left and below; better is right and up."""
    ticker: Any = extras.optional("matplotlib.ticker", "plot")
    n = len(names)
    limits = [reach[::-1] if turned else reach for reach, turned in zip(reaches, lower, strict=True)]
    for i, j in itertools.product(range(n), repeat=2):
        axis = axes[i, j]
        if i >= j:
            axis.set_xlim(limits[j])
        if i > j:
            axis.set_ylim(limits[i])
        for side, there in ((axis.xaxis, i == n - 1 and i >= j), (axis.yaxis, j == 0 and i > 0)):
            side.set_major_locator(ticker.MaxNLocator(3, prune="both") if there else ticker.NullLocator())
        axis.tick_params(labelsize=style.SMALL, colors=style.ink(), length=2, pad=2)
    for at, name in enumerate(names):
        axes[at, 0].set_ylabel(name, fontsize=8, color=style.ink(), **style.PLAIN)
        axes[-1, at].set_xlabel(name, fontsize=8, color=style.ink(), **style.PLAIN)
    axes[0, 0].figure.align_ylabels(axes[:, 0])
    axes[0, 0].figure.align_xlabels(axes[-1])


def _scatter_cell(axis: Any, x: FloatArray, y: FloatArray, tau: float, below: int) -> None:
    for spine in axis.spines.values():
        spine.set_color(style.muted())
        spine.set_linewidth(0.6)
    if below == 0:
        axis.hist(x[~np.isnan(x)], bins=30, color=style.colour(0), alpha=0.8, lw=0)
    elif below < 0:
        area = style.diverging()((np.nan_to_num(tau) / _PALE + 1) / 2)
        axis.set_facecolor(area)
        marks.in_cell(axis, 0.5, 0.5, _number(tau), area, transform=axis.transAxes, fontsize=9)
    else:
        there = ~np.isnan(x + y)
        if there.sum() > _POINTS:
            colours: Any = extras.optional("matplotlib.colors", "plot")
            shades = colours.LinearSegmentedColormap.from_list("shades", [style.faint(), style.colour(0), style.ink()])
            axis.hexbin(x[there], y[there], gridsize=24, bins="log", mincnt=1, cmap=shades, linewidths=0.1)
        else:
            axis.plot(x[there], y[there], ".", ms=4, color=style.colour(0), alpha=0.5, mew=0, rasterized=True)
