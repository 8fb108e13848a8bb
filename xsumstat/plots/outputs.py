"""Pictures of the scale: metrics against metrics, disagreement and consistency by height, drops beside expected."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _validate
from xsumstat.analyses import groups as slices
from xsumstat.dataset import scores as schema
from xsumstat.plots.parts import (
    INK,
    PLAIN,
    as_given,
    axes_for,
    colour,
    correlation_label,
    faint,
    gold_unless,
    grey,
    grid_of,
    ink,
    label_width,
    legend,
    panels_of,
    style_of,
    texts,
    variable_label,
)
from xsumstat.types import FloatArray

_DASHES = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))
_GRADES = 100  # equal steps between the lowest score and the highest, up to which scores are grades
_MOST_IN_MATRIX, _MOST_LINES = 15, 12  # metrics that a picture shows so that they can still be told apart
_POINTS = 5000  # more points in a cell tell no more, and make the file large


@_validate.public
def matrix(result: xr.Dataset, *, ax: Any = None) -> Any:
    """Correlations of metrics with each other as a coloured matrix.

    Parameters
    ----------
    result : Dataset
        What `metric_corr` or `metric_ci` gave; intervals stand below the numbers.
    ax : matplotlib Axes, optional
        Where to draw, when there is one panel.

    Returns
    -------
    Axes, or array of Axes when further dims give several panels

    Raises
    ------
    ValueError
        If the result has no correlations of metrics with each other.
    ImportError
        Without matplotlib (extra "plot").

    References
    ----------
    Peyrard (2019), Table 1.
    """
    sides = {"metric", "other_metric"}
    if "correlation" not in result or not sides <= set(result["correlation"].dims):
        raise ValueError("the result has no correlations of metrics with each other; this draws what metric_corr gives")
    panels = panels_of(result, [str(dim) for dim in result["correlation"].dims if dim not in sides])
    n = result.sizes["metric"]
    cell = 0.72 if "ci_low" in result else 0.46
    across, down = grid_of(len(panels))
    room = label_width(result["metric"])
    axes = axes_for(
        len(panels), (room + (cell * n + 0.5) * across, (0.6 + room * 0.75 + cell * n) * down), ax, sharex=False
    )
    for axis, (title, panel) in zip(axes, panels, strict=True):
        values = panel["correlation"].transpose("metric", "other_metric").values
        axis.imshow(values, cmap="RdBu_r", vmin=-1.2, vmax=1.2)
        for i, j in np.ndindex(values.shape):
            value = float(values[i, j])
            if np.isnan(value):
                continue
            text = _number(value)
            if "ci_low" in panel and i != j:
                limits = (float(panel[name].isel(metric=i, other_metric=j)) for name in ("ci_low", "ci_high"))
                text += "\n[" + ", ".join(map(_number, limits)) + "]"
            color = "white" if abs(value) > 0.6 else INK
            axis.text(j, i, text, ha="center", va="center", fontsize=6.5 if "\n" in text else 7.5, color=color, **PLAIN)
        axis.set_title(title, fontsize=10, color=ink(), **PLAIN)
        axis.set_xticks(
            range(n), texts(result["other_metric"]), rotation=45, ha="right", rotation_mode="anchor", **PLAIN
        )
        axis.tick_params(length=0)
        for spine in axis.spines.values():
            spine.set_visible(False)
    axes[0].set_yticks(range(n), texts(result["metric"]), **PLAIN)
    axes[0].figure.supxlabel(correlation_label(result), fontsize=9, **PLAIN)
    return axes[0] if len(axes) == 1 else np.array(axes)


def _number(value: float) -> str:
    """A correlation in as few characters as there are; a dash where there is none."""
    return "–" if np.isnan(value) else f"{round(value, 2) + 0.0:.2f}".replace("0.", ".", 1)


@_validate.public
def scatter_matrix(ds: xr.Dataset, *, metric: Any = None, coefficient: str = "kendall") -> Any:
    """Metrics against metrics: points below the diagonal, distributions on it, correlations above.

    Parameters
    ----------
    ds : Dataset
        Scores, ``score(metric, system, input)``; of further dims one label must be selected.
    metric : label, list of labels or boolean DataArray, optional
        Two to 15; default all but ``ds.attrs["gold"]`` and what ``kind`` calls human.
    coefficient : str, default "kendall"
        As for `metric_corr`, at input level.

    Returns
    -------
    array of Axes

    Raises
    ------
    ValueError
        If a metric is not there, there are fewer than two or more than 15, or scores have a further dim.
    ImportError
        Without matplotlib (extra "plot").

    Notes
    -----
    At most 5,000 outputs are drawn as points, evenly taken; correlations are of all.

    References
    ----------
    Peyrard (2019), Fig. 4.
    """
    from xsumstat.analyses.correlation import metric_corr

    requested = schema.automatic(ds, metric)
    score = schema.prepare_cells(ds, requested)
    labels = texts(score["metric"])
    n = len(labels)
    if n < 2:
        raise ValueError("metric must name at least 2 metrics, which are drawn against each other")
    if n > _MOST_IN_MATRIX:
        which = "there are" if metric is None else "metric names"
        raise ValueError(
            f"{which} {n} metrics, and a scatter matrix shows at most {_MOST_IN_MATRIX}; name those to be shown, as "
            f"metric={labels[:2]}, or draw the correlations of all with metric_corr and plot.matrix"
        )
    found = metric_corr(ds, metric=requested, level="input", coefficient=coefficient)
    plt: Any = _validate.optional("matplotlib.pyplot", "plot")
    size = max(1.1 * n, 0.9 * label_width(score["metric"]) * n)
    figure, axes = plt.subplots(n, n, figsize=(size, size), layout="constrained", squeeze=False)
    figure.get_layout_engine().set(w_pad=0.02, h_pad=0.02, wspace=0, hspace=0)
    values = score.values.reshape(n, -1)
    tau = found["correlation"].values
    for i, j in itertools.product(range(n), repeat=2):
        _scatter_cell(axes[i, j], values[j], values[i], tau[i, j], i - j)
        axes[i, j].set(xticks=[], yticks=[])
    for at, label in enumerate(labels):
        axes[at, 0].set_ylabel(label, fontsize=8, **PLAIN)
        axes[-1, at].set_xlabel(label, fontsize=8, **PLAIN)
    figure.supxlabel(f"above: {correlation_label(found)}, averaged over inputs", fontsize=8.5, **PLAIN)
    return axes


def _scatter_cell(axis: Any, x: FloatArray, y: FloatArray, tau: float, below: int) -> None:
    for spine in axis.spines.values():
        spine.set_color("#bbbbbb")
    if below == 0:
        axis.hist(x[~np.isnan(x)], bins=30, color=colour(0), alpha=0.8, lw=0)
    elif below > 0:
        there = np.flatnonzero(~np.isnan(x + y))
        shown = there[:: max(1, -(-len(there) // _POINTS))]
        size, alpha = (2, 0.25) if len(shown) > 1000 else (4, 0.5)
        axis.plot(x[shown], y[shown], ".", ms=size, color=colour(0), alpha=alpha, mew=0, rasterized=True)
    else:
        plt: Any = _validate.optional("matplotlib.pyplot", "plot")
        axis.set_facecolor(plt.get_cmap("RdBu_r")((np.nan_to_num(tau) + 1.2) / 2.4))
        color = "white" if abs(tau) > 0.6 else INK
        axis.text(
            0.5, 0.5, _number(tau), ha="center", va="center", transform=axis.transAxes, fontsize=9, color=color, **PLAIN
        )


@_validate.public
def distribution(ds: xr.Dataset, *, metric: Any = None, by: str | None = None, ax: Any = None) -> Any:
    """How the scores of outputs are distributed, a panel for each metric, groups of outputs over each other.

    Parameters
    ----------
    ds : Dataset
        Scores, ``score(metric, system, input)``; of further dims, but for `by`, one label must be selected.
    metric : label, list of labels or boolean DataArray, optional
        One panel each. Default ``ds.attrs["gold"]`` where that is a metric, else all.
    by : str, optional
        What the groups are: a coordinate of `system` or `input`, such as the type of a system or the corpus of an
        input, or a further dim, such as the source or the language of the outputs.
    ax : matplotlib Axes, optional
        Where to draw, when there is one panel.

    Returns
    -------
    Axes, or array of Axes when there are several panels

    Raises
    ------
    ValueError
        If a metric is not there, `by` is no such coordinate or dim, or scores have another further dim.
    ImportError
        Without matplotlib (extra "plot").

    Notes
    -----
    Each group's histogram is of shares of its own outputs, over bins that all groups of a panel share, so that groups
    of different sizes compare; a triangle marks its mean. Where scores are grades each bin is around a grade, or around
    equally many; else bins follow the rule of Freedman and Diaconis, at least 8 and at most 40. Scores are drawn as
    they are given, also where lower is better. Datasets of several sources become one with
    ``xr.concat([annotated, modern], pd.Index(["annotated", "modern"], name="source"), join="outer")``.

    References
    ----------
    Peyrard (2019), Fig. 1.
    """
    oriented = schema.prepare_metrics(ds, gold_unless(ds, metric), level=None)
    score = as_given(ds, oriented)
    groups = _groups_of_cells(ds, score, by)
    panels = panels_of(xr.Dataset({"score": score}), ["metric"])
    across, down = grid_of(len(panels))
    axes = axes_for(len(panels), (0.8 + 3.4 * across, 0.9 + 2.5 * down), ax, sharex=False, sharey=True)
    highest = 0.0
    for at, (axis, (title, panel)) in enumerate(zip(axes, panels, strict=True)):
        top = _histograms(axis, [panel["score"].isel(where).values.ravel() for _, where in groups])
        highest = max(highest, top)
        lower = bool(((oriented.isel(metric=at) != panel["score"]) & panel["score"].notnull()).any())
        axis.set_title(title, fontsize=10, color=ink(), **PLAIN)
        axis.set_xlabel("score, lower is better" if lower else "score", fontsize=9.5, **PLAIN)
        axis.grid(axis="y", color=faint(), lw=0.7, zorder=0)
    axes[0].set_ylim(0, 1.06 * highest)
    for axis in axes[::across]:
        axis.set_ylabel("share of outputs", fontsize=9.5, **PLAIN)
    mean: dict[str, Any] = {"color": "#999999", "marker": "^", "ls": "", "ms": 6}
    looks: list[dict[str, Any]] = [{"color": style_of(at)[0], "ls": _DASHES[at % 4]} for at in range(len(groups))]
    named = [] if by is None else [(name, look) for (name, _), look in zip(groups, looks, strict=True)]
    legend(axes, [*named, ("mean", mean)], by or "")
    return axes[0] if len(axes) == 1 else np.array(axes)


def _groups_of_cells(ds: xr.Dataset, score: xr.DataArray, by: str | None) -> list[tuple[str, dict[str, Any]]]:
    """The name of each group, and which labels of which dim are in it."""
    others = [str(dim) for dim in score.dims if dim not in schema.CORE and dim != by]
    if others:
        raise ValueError(f"score has the dims {_validate.listing(others)}; select one label of each further one")
    if by is None:
        return [("", {})]
    if by in score.dims and by not in schema.CORE:
        names = texts(score[by]) if by in score.coords else [f"{by} {at}" for at in range(score.sizes[by])]
        return [(name, {by: at}) for at, name in enumerate(names)]
    dim, groups, labels = slices.groups_of(ds, "by", by, ("system", "input"))
    return [(label, {dim: [at for at, group in enumerate(groups) if group == label]}) for label in labels]


def _histograms(axis: Any, groups: list[FloatArray]) -> float:
    """Draw a panel's groups; the largest share."""
    groups = [values[~np.isnan(values)] for values in groups]
    edges, highest = _bin_edges(np.concatenate(groups)), 0.0
    for at, values in enumerate(groups):
        if not len(values):
            continue
        color, shares = style_of(at)[0], np.histogram(values, edges)[0] / len(values)
        axis.stairs(shares, edges, fill=True, color=color, alpha=0.18, lw=0, zorder=2)
        axis.stairs(shares, edges, color=color, lw=1.5, ls=_DASHES[at % 4], zorder=3)
        axis.plot(values.mean(), 0, "^", ms=7, color=color, mec="white", mew=0.6, clip_on=False, zorder=4)
        highest = max(highest, float(shares.max()))
    return highest


def _bin_edges(values: FloatArray) -> FloatArray:
    """Edges of bins of equal width over all values."""
    low, high = float(values.min()), float(values.max())
    if low == high:
        return low + np.array([-0.5, 0.5]) * max(abs(low), 1.0)
    place = (values - low) / (high - low)
    step = float(np.diff(np.unique(np.round(place, 9))).min())
    if 1 / step <= _GRADES:
        width = step * np.ceil((1 / step + 1) / 40)
        edges = np.arange(-step / 2, 1 + step / 2 + width / 2, width)
    else:
        quartiles = np.quantile(place, [0.25, 0.75])
        width = 2 * float(np.diff(quartiles)[0]) / len(place) ** (1 / 3)
        edges = np.linspace(0, 1, int(np.clip(np.ceil(1 / max(width, 1e-3)), 8, 40)) + 1)
    return np.asarray(low + edges * (high - low))


@_validate.public
def disagreement(result: xr.Dataset, *, ax: Any = None) -> Any:
    """How often metrics order two outputs oppositely, by how high these score; a panel for each metric.

    Parameters
    ----------
    result : Dataset
        What `disagreement` gave, for at most 12 metrics.
    ax : matplotlib Axes, optional
        Where to draw, when there is one pair of metrics.

    Returns
    -------
    Axes, or array of Axes when there are several panels

    Raises
    ------
    ValueError
        If the result has no shares by height, or more than 12 metrics.
    ImportError
        Without matplotlib (extra "plot").

    Notes
    -----
    The horizontal line, one half, is what two metrics without anything in common come to. A point without a band comes
    from one input; the bands of bins with few inputs are too narrow.

    References
    ----------
    Peyrard (2019), Fig. 2.
    """
    if "share" not in result or "score_bin" not in result["share"].dims:
        raise ValueError("the result has no shares by score_bin; this draws what disagreement gives")
    n = result.sizes["metric"]
    names = texts(result["metric"])
    if n > _MOST_LINES:
        raise ValueError(
            f"the result has {n} metrics, and at most {_MOST_LINES} can be told apart in this picture; select some, as "
            f"result.sel(metric={names[:3]}, other_metric={names[:3]})"
        )
    rows = range(n) if n > 2 else [0]
    across, down = grid_of(len(rows))
    axes = axes_for(len(rows), (0.8 + 2.9 * across, 0.9 + 2.5 * down), ax, sharex=True)
    for axis, at in zip(axes, rows, strict=True):
        for other in range(n):
            if other != at:
                _band(axis, result.isel(metric=at, other_metric=other), "share", other if n > 2 else 0)
        axis.axhline(0.5, color="#999999", lw=0.8, ls=(0, (4, 3)), zorder=1)
        axis.set_title(names[at] if n > 2 else f"{names[0]} and {names[1]}", fontsize=10, color=ink(), **PLAIN)
    _heights(axes, across, variable_label(result, "share"), "normalised mean score of the pair")
    axes[0].set_ylim(0, 1)
    if n > 2:
        looks = [{"color": style_of(at)[0], "marker": style_of(at)[1], "lw": 1.4} for at in range(n)]
        legend(axes, list(zip(names, looks, strict=True)), "the panel's metric with")
    return axes[0] if len(axes) == 1 else np.array(axes)


@_validate.public
def improvement(result: xr.Dataset, *, ax: Any = None) -> Any:
    """Of the outputs better by some metric the share better by all, by how high the one that they improve on scores.

    Parameters
    ----------
    result : Dataset
        What `improvement_consistency` gave.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If the result has no ratios by height.
    ImportError
        Without matplotlib (extra "plot").

    References
    ----------
    Peyrard (2019), Fig. 3.
    """
    if "ratio" not in result or "score_bin" not in result["ratio"].dims:
        raise ValueError("the result has no ratios by score_bin; this draws what improvement_consistency gives")
    axes = axes_for(1, (5.0, 3.4), ax, sharex=True)
    _band(axes[0], result, "ratio", 0)
    _heights(axes, 1, variable_label(result, "ratio"), "normalised mean score of the output")
    axes[0].set_ylim(0, 1)
    return axes[0]


def _band(axis: Any, line: xr.Dataset, name: str, look: int) -> None:
    color, marker = style_of(look)
    axis.fill_between(line["score_bin"], line["ci_low"], line["ci_high"], color=color, alpha=0.18, lw=0)
    axis.plot(line["score_bin"], line[name], "-" + marker, ms=3.5, lw=1.4, color=color)
    alone = line["ci_low"].isnull()
    if bool(alone.any()):
        axis.plot(line["score_bin"][alone], line[name][alone], marker, ms=3.5, color=color, mfc="white")


def _heights(axes: list[Any], across: int, down: str, along: str) -> None:
    for axis in axes:
        axis.grid(axis="y", color=faint(), lw=0.7, zorder=0)
    for axis in axes[-across:]:
        axis.set_xlabel(along, fontsize=9, **PLAIN)
    for axis in axes[::across]:
        axis.set_ylabel(down, fontsize=9, **PLAIN)
    axes[0].set_xlim(0, 1)


@_validate.public
def range_drop(result: xr.Dataset, *, ax: Any = None) -> Any:
    """Drops in correlation with their intervals, beside those that a narrower range brings about by itself.

    Parameters
    ----------
    result : Dataset
        What `range_drop` gave.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If the result has no expected drops.
    ImportError
        Without matplotlib (extra "plot").

    Notes
    -----
    A pair of metrics whose interval lies right of its grey bar disagrees more in the range than the range explains.
    """
    if not {"difference", "expected"} <= set(result.data_vars):
        raise ValueError("the result has no expected drops; this draws what range_drop gives")
    names = texts(result["metric"])
    pairs = list(itertools.combinations(range(len(names)), 2))
    labels = [f"{names[a]} and {names[b]}" for a, b in pairs]
    wide = 0.4 + 0.075 * max(map(len, labels))
    (axis,) = axes_for(1, (wide + 4.2, 1.3 + 0.3 * len(pairs)), ax, sharex=True)
    for row, (a, b) in enumerate(pairs):
        one = result.isel(metric=a, other_metric=b)
        low, high = float(one["expected_low"]), float(one["expected_high"])
        axis.barh(row, high - low, 0.62, low, color=grey(), lw=0, zorder=1)
        axis.plot([float(one["expected"])] * 2, [row - 0.31, row + 0.31], color=ink(), lw=1.2, zorder=2)
        axis.hlines(row, float(one["ci_low"]), float(one["ci_high"]), color=colour(0), lw=1.8, zorder=3)
        axis.plot(float(one["difference"]), row, "o", ms=5, color=colour(0), mec="white", mew=0.8, zorder=4)
    axis.set_yticks(range(len(pairs)), labels, **PLAIN)
    axis.set_ylim(len(pairs) - 0.4, -0.6)
    axis.axvline(0, color="#999999", lw=0.8, zorder=1)
    axis.grid(axis="x", color=faint(), lw=0.7, zorder=0)
    axis.set_xlabel(f"drop in {correlation_label(result)}, whole range less part", fontsize=9.5, **PLAIN)
    looks = [{"color": colour(0), "marker": "o", "lw": 1.8}, {"color": grey(), "marker": "s", "ls": "", "ms": 9}]
    legend([axis], list(zip(["observed", "expected of the range alone"], looks, strict=True)), "")
    return axis
