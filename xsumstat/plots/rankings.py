"""Pictures of rankings: metrics in clusters, and tasks as a table."""

from __future__ import annotations

import textwrap
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xsumstat.core import extras, validate
from xsumstat.core.types import FloatArray, IntArray
from xsumstat.dataset import wording
from xsumstat.plots import captions, chance, layout, marks, selection, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@validate.public
@style.on_its_ground
def clusters(
    result: xr.Dataset,
    *,
    intervals: xr.Dataset | None = None,
    tests: xr.Dataset | None = None,
    metric: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Hashable] = "value",
    highlight: Hashable | Sequence[Hashable] | None = None,
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw `rank`: metrics by correlation, shaded by cluster; bars join metrics without significant differences.

    Parameters
    ----------
    {result}
    intervals : Dataset, optional
        Result of `ci` with the same coefficient and level, drawn as whiskers.
    tests : Dataset, optional
        Result of `compare_metrics` for the same metrics: a bar joins metrics without significant differences. Bars may
        overlap. Default: a bar joins a cluster.
    {metric.drawn order}
        "value": the best on top.
    {highlight picture}

    {axes}

    Notes
    -----
    Neighbours in two clusters need not differ significantly: a metric starts a new cluster if one member of the cluster
    above beats it. `tests` shows each pair. A line shows the chance baseline of accuracies (`baseline` of `corr`).
    Source: Demšar (2006), "Statistical comparisons of classifiers over multiple data sets", JMLR 7, Fig. 1.

    {demo}
    >>> axes = ds.meta.rank("human", n_resamples=99, rng=1).meta.plot.clusters()
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['judge', 'bertscore', 'rouge', 'perplexity', 'bleu', 'length']
    """
    drawn_of = ("correlation", "cluster", "rank")
    if not set(drawn_of) <= set(result.data_vars) or any("task" in result[name].dims for name in drawn_of):
        raise ValueError("the result has no clusters; this draws what rank gives")
    _check_beside(result, intervals, "intervals", {"correlation", "ci_low", "ci_high"}, "ci")
    _check_beside(result, tests, "tests", {"pvalue"}, "compare_metrics")
    alpha = float(result.attrs.get("alpha", 0.05))
    n = result.sizes["metric"]
    too_few = captions.too_few_words(result, alpha, n * (n - 1))
    result, left_out = selection.shown(result, "correlation", metric=metric, order=order, highlight=highlight)
    panels = layout.panels_of(result, [str(dim) for dim in result["cluster"].dims if dim != "metric"])
    rows = result.sizes["metric"]
    across, down = layout.grid_of(len(panels))
    size = ((layout.label_width(result["metric"]) + 3.8) * across, 1.0 + (0.6 + 0.3 * rows) * down)
    axes = layout.axes_for(len(panels), size, ax, sharex=True, sharey=False, figsize=figsize)
    drawn = []
    for axis, (name, panel) in zip(axes, panels, strict=True):
        drawn += _cluster_rows(axis, panel, intervals, tests, alpha, highlight, by_value=order == "value")
        layout.panel_title(axis, name, 3.8)
        axis.set_xlabel(captions.correlation_label(result), fontsize=9.5, **style.PLAIN)
    undefined = result["metric"].values[(result["rank"] == 0).transpose("metric", ...).values.reshape(rows, -1).all(1)]
    none = f"without a correlation: {', '.join(captions.texts(xr.DataArray(undefined)))}" if undefined.size else ""
    of_bars = tests if tests is not None else result
    bar = {"color": style.ink(), "lw": 3, "solid_capstyle": "butt"}
    items = [(f"no significant difference (p > {alpha:.2g})", bar)] if any(drawn) else []
    items += chance.items_of(chance.kinds_of(result))
    notes = [
        "numbers are clusters",
        captions.how_tested(of_bars),
        wording.interval_words(intervals) if intervals is not None else "",
        too_few,
    ]
    return layout.finished(axes, ax, title=title, items=items, notes=[*notes, none, left_out])


def _check_beside(result: xr.Dataset, other: xr.Dataset | None, name: str, needed: set[str], analysis: str) -> None:
    if other is None:
        return
    if not isinstance(other, xr.Dataset) or not needed <= set(other.data_vars) or "metric" not in other.dims:
        raise ValueError(f"{name} must be what {analysis} gives, with {validate.listing(sorted(needed))}")
    lacking = [label for label in result["metric"].values.tolist() if label not in other["metric"].values.tolist()]
    if lacking:
        raise ValueError(f"{name} must hold all metrics of the result; it lacks {lacking[0]!r}")
    selection.check_same_measure(result, other, name)


def _cluster_rows(
    axis: Any,
    panel: xr.Dataset,
    intervals: xr.Dataset | None,
    tests: xr.Dataset | None,
    alpha: float,
    highlight: Any,
    by_value: bool,
) -> list[tuple[int, int]]:
    """Draw a panel's metrics, best first; return the first and last row of each bar."""
    panel = panel.isel(metric=np.flatnonzero(panel["rank"].values > 0))
    if by_value:
        panel = panel.isel(metric=np.argsort(-panel["correlation"].values, kind="stable"))
    r, cluster = panel["correlation"].values, panel["cluster"].values
    groups = _runs(cluster)
    for first, last in groups:
        number = int(cluster[first])
        axis.axhspan(first - 0.5, last + 0.5, color=style.grounds()[number % 2], lw=0, zorder=0)
        axis.annotate(
            str(number), (1, (first + last) / 2), xycoords=("axes fraction", "data"), xytext=(-4, 0),
            textcoords="offset points", ha="right", va="center", fontsize=9, color=style.muted(),
            **style.PLAIN,
        )  # fmt: skip
    if intervals is not None:
        here = intervals.sel({dim: panel[dim] for dim in intervals["correlation"].dims if dim in panel.coords})
        axis.hlines(np.arange(len(r)), here["ci_low"], here["ci_high"], color=style.colour(0), lw=1.6, zorder=2.5)
    axis.plot(r, np.arange(len(r)), "o", ms=5, color=style.colour(0), mec=style.ground(), mew=0.8, zorder=3)
    chance.draw(axis, panel, np.arange(len(r)), 1.0, chance.kinds_of(panel))
    bars = [run for run in (groups if tests is None else _not_told_apart(panel, tests, alpha)) if run[1] > run[0]]
    _draw_bars(axis, bars)
    axis.set_yticks(range(len(r)), captions.texts(panel["metric"]), **style.PLAIN)
    layout.emphasise(axis, panel["metric"].values.tolist(), highlight)
    axis.set_ylim(len(r) - 0.5, -0.5)
    axis.margins(x=0.15)
    axis.grid(axis="x", color=style.faint(), lw=0.7, zorder=1)
    axis.set_axisbelow(True)
    return bars


def _runs(cluster: IntArray) -> list[tuple[int, int]]:
    ends = np.flatnonzero(np.diff(cluster)).tolist()
    return list(zip([0, *(end + 1 for end in ends)], [*ends, len(cluster) - 1], strict=True)) if len(cluster) else []


def _not_told_apart(panel: xr.Dataset, tests: xr.Dataset, alpha: float) -> list[tuple[int, int]]:
    """First and last row of each longest run of rows without significant differences."""
    name = "pvalue_adjusted" if "pvalue_adjusted" in tests else "pvalue"
    labels = panel["metric"].values
    further = {dim: panel[dim] for dim in tests[name].dims if dim in panel.coords and dim != "metric"}
    p = tests[name].sel(further).sel(metric=labels, other_metric=labels).transpose("metric", "other_metric").values
    apart = (p <= alpha) | (p <= alpha).T
    runs: list[tuple[int, int]] = []
    for first in range(len(labels)):
        last = first
        while last + 1 < len(labels) and not apart[first : last + 2, first : last + 2].any():
            last += 1
        if not runs or last > runs[-1][1]:
            runs.append((first, last))
    return runs


def _draw_bars(axis: Any, runs: list[tuple[int, int]]) -> None:
    ends: list[int] = []  # the last row of each column of bars
    for first, last in runs:
        column = next((at for at, end in enumerate(ends) if end < first), len(ends))
        ends[column : column + 1] = [last]
        offset = axis.get_yaxis_transform()
        axis.plot(
            [1.025 + 0.03 * column] * 2, [first - 0.3, last + 0.3], color=style.ink(), lw=3, solid_capstyle="butt",
            clip_on=False, transform=offset,
        )  # fmt: skip


@validate.public
@style.on_its_ground
def tasks(
    result: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Hashable] = "value",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw `rank_tasks` as WMT's table: cluster and correlation by metric and task, best in bold.

    Source: Freitag et al. (2024), "Results of the WMT24 Metrics Shared Task", Table 1.

    Parameters
    ----------
    {drawn}
        "value": the best average on top.
    {picture.single}

    Returns
    -------
    Axes
        The axes with the table.

    {demo}
    >>> tasks = {name: {"ds": ds, "gold": "human", "coefficient": name} for name in ("pearson", "kendall")}
    >>> axes = xsumstat.rank_tasks(tasks, n_resamples=99, rng=1).meta.plot.tasks()
    >>> [text.get_text() for text in axes.texts[:6]]
    ['1   .915', '1   .935', '1   .727', '1   .880', '1   .853', '1   .667']
    """
    if "task_cluster" not in result:
        raise ValueError("the result has no tasks; this draws what `rank_tasks` gives")
    whole = result.drop_dims("other_metric", errors="ignore")
    part, left_out = selection.shown(whole, "average_score", metric=metric, order=order)
    metrics, heads = captions.texts(part["metric"]), _heads(part)
    values = np.column_stack([part["average_score"], part["correlation"].transpose("metric", "task")])
    numbers = np.column_stack([part["cluster"], part["task_cluster"].transpose("metric", "task")])
    lines = max(head.count("\n") + 1 for head in heads)
    size = (0.6 + layout.label_width(part["metric"]) + 1.2 * len(heads), 0.5 + 0.17 * lines + 0.3 * len(metrics))
    (axis,) = layout.axes_for(1, size, ax, sharex=False, figsize=figsize)
    _cells(axis, values, numbers)
    axis.set_yticks(range(len(metrics)), metrics, fontsize=9, **style.PLAIN)
    axis.set_xticks(range(len(heads)), heads, fontsize=8.5, **style.PLAIN)
    axis.tick_params(top=True, bottom=False, labeltop=True, labelbottom=False, length=0)
    axis.spines[:].set_visible(False)
    note = "cluster, then correlation, the stronger the colour the better the cluster; bold: first cluster"
    return layout.finished([axis], ax, title=title, notes=[note, wording.how(result), left_out])


def _cells(axis: Any, values: FloatArray, clusters: IntArray) -> None:
    """A cell for each metric and column; a line under each cluster of the average."""
    plt: Any = extras.optional("matplotlib.pyplot", "plot")
    shade = 0.62 * np.where(clusters > 0, 1 / np.maximum(clusters, 1), 0.0)
    colours = plt.get_cmap("Blues_r" if style.is_dark() else "Blues")
    for row, column in np.ndindex(values.shape):
        known = clusters[row, column] > 0
        area = colours(shade[row, column]) if known else style.ground()
        axis.add_patch(style.cell(column, row, 1, facecolor=area, edgecolor=style.ground(), lw=1))
        told = f"{clusters[row, column]}   {_correlation(float(values[row, column]))}" if known else "–"
        bold = "bold" if clusters[row, column] == 1 else "normal"
        marks.in_cell(axis, column, row, told, area, fontsize=8.5, weight=bold)
    for row in np.flatnonzero(np.diff(clusters[:, 0])):
        axis.axhline(row + 0.5, color=style.ink(), lw=1, zorder=3)
    axis.axvline(0.5, color=style.ink(), lw=1, zorder=3)
    axis.set_xlim(-0.5, values.shape[1] - 0.5)
    axis.set_ylim(values.shape[0] - 0.5, -0.5)


def _correlation(value: float) -> str:
    """A number of a table: .935, -.120, 1.000."""
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 0.9995 else f"{value:.3f}"


def _heads(result: xr.Dataset) -> list[str]:
    """Column heads: the average, and each task with its question, wrapped."""
    asked = result["coefficient"].values
    heads = ["\n".join(textwrap.wrap(name, 17)) for name in captions.texts(result["task"])]
    return [
        "average",
        *(f"{head}\n{captions.coefficient_label(str(one))}" for head, one in zip(heads, asked, strict=True)),
    ]
