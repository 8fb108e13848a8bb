"""Pictures of systems: the best and the close ones, verdicts on two."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.dataset import wording
from xsumstat.plots import captions, layout, marks, selection, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BANDS = 4  # lines of one panel whose intervals can be told apart


@validate.public
@style.on_its_ground
def top_k(
    result: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Hashable] = "value",
    hue: str | None = None,
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw `top_k_corr`: correlations among the k best systems as k shrinks, one panel per metric.

    Source: Bhandari et al. (2020), Figs. 3 and 8.

    Parameters
    ----------
    {drawn}
        "value": the best first.
    hue : str, optional
        Another dim whose labels share a panel in colours; more than 4 have no intervals, with a note. Each label of
        the others has a panel.
    {picture}

    {axes}

    {demo}
    >>> axes = ds.meta.top_k_corr("human", metric=["judge", "rouge"]).meta.plot.top_k()
    >>> [each.get_title() for each in axes]
    ['judge', 'rouge']
    """
    if "correlation" not in result or "k" not in result["correlation"].dims:
        raise ValueError("the result has no correlations by k; this draws what top_k_corr gives")
    further = selection.further_dims(result["correlation"], "k", hue=hue)
    result, left_out = selection.shown(result, "correlation", metric=metric, order=order)
    panels = layout.panels_of(result, [dim for dim in further if dim != hue])
    across, down = layout.grid_of(len(panels))
    labels = captions.texts(result[hue]) if hue else []
    panel_wide = 2.5 if len(panels) > 1 else 4.6
    wide = 0.8 + panel_wide * across
    below = 0.4 + layout.legend_height(labels, max(5.0, wide))
    high = (2.1 if len(panels) > 1 else 2.7 if len(labels) <= _BANDS else 3.8) * down + below
    axes = layout.axes_for(len(panels), (wide, high), ax, sharex=True, figsize=figsize)
    for axis, (name, panel) in zip(axes, panels, strict=True):
        _curves_by_k(axis, panel, hue)
        layout.panel_title(axis, name, panel_wide - 0.3)
    _correlation_limits(axes, result)
    layout.name_axes(axes, "k best systems")
    ks = result["k"].values
    axes[0].set_xlim(float(ks.max()) + 0.5, float(ks.min()) - 0.5)
    if len(ks) <= 8:
        axes[0].set_xticks(ks)
    else:
        axes[0].xaxis.get_major_locator().set_params(integer=True)
    name_up = axes[0].set_ylabel if down == 1 else axes[0].figure.supylabel
    name_up(captions.correlation_label(result), fontsize=9, **style.PLAIN)
    crowded = len(labels) > _BANDS
    items = [(label, {**_line(at), "ms": 5}) for at, label in enumerate(labels)]
    notes = [f"intervals of more than {_BANDS} lines are not drawn" if crowded else wording.how(result), left_out]
    return layout.finished(axes, ax, title=title, items=items, heading=hue or "", notes=notes)


def _line(at: int) -> dict[str, Any]:
    color, marker = style.of(at)
    return {"color": color, "marker": marker, "ls": style.DASHES[at // 7 % 3], "lw": 1.3}


def _curves_by_k(axis: Any, panel: xr.Dataset, hue: str | None) -> None:
    lines = layout.parts_by(panel, hue)
    for at, line in enumerate(lines):
        if len(lines) <= _BANDS:
            axis.fill_between(line["k"], line["ci_low"], line["ci_high"], color=style.of(at)[0], alpha=0.18, lw=0)
        axis.plot(line["k"], line["correlation"], ms=3.5, **_line(at))
    layout.grid(axis, "y", over=True)


def _correlation_limits(axes: list[Any], result: xr.Dataset) -> None:
    """Limits of an axis of correlations within their bounds; a line at 0 if in sight."""
    low, high = captions.bounds_of(result, "correlation")
    room = 0.03 * (high - low)
    for axis in axes:
        bottom, top = axis.get_ylim()
        axis.set_ylim(max(bottom, low - room), min(top, high + room))
    for axis in axes:  # which share limits
        bottom, top = axis.get_ylim()
        if bottom < 0 < top:
            axis.axhline(0, color=style.ZERO_LINE, lw=0.8, zorder=1)


@validate.public
@style.on_its_ground
def confusion(
    result: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Hashable] = "value",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    r"""Draw `confusion` or `discriminative_agreement`: each metric's labels or verdicts by those of the gold.

    Parameters
    ----------
    {drawn}
        "value": the largest F1 of verdicts, or share of equal labels, first.
    {picture}

    Returns
    -------
    Axes or array of Axes
        An array if there are several panels. Darker cells have a larger share of their row.

    {demo}
    >>> verdicts = ds.meta.discriminative_agreement("human", metric=["judge", "rouge"], n_resamples=99, rng=1)
    >>> axes = verdicts.meta.plot.confusion()
    >>> [each.get_title() for each in axes]
    ['judge\nF1 0.76', 'rouge\nF1 0.64']
    """
    if "human_label" in result.dims and "n_outputs" in result:
        return _labels(result, metric, order, figsize, title, ax)
    if "confusion" not in result:
        raise ValueError(
            "the result has no confusion of labels or verdicts; this draws what ds.meta.confusion and "
            "discriminative_agreement give"
        )
    result, left_out = selection.shown(result, "f1", metric=metric, order=order)
    panels = layout.panels_of(result, [str(dim) for dim in result["f1"].dims])
    across, down = layout.grid_of(len(panels))
    size = (1.0 + 2.1 * across, 0.7 + 2.75 * down)
    axes = layout.axes_for(len(panels), size, ax, sharex=False, figsize=figsize)
    for axis, (name, panel) in zip(axes, panels, strict=True):
        _counts(axis, panel["confusion"], ("gold_verdict", "metric_verdict"))
        layout.panel_title(axis, f"{name}\nF1 {float(panel['f1']):.2f}".lstrip(), 2.0)
    gold = captions.clipped(str(result.attrs.get("gold", "gold")))
    layout.name_axes(axes, "verdict by the metric", f"verdict by {gold}", fontsize=9)
    meaning = "pairs of systems: the first, the second or neither is better; colour: share of the row"
    return layout.finished(axes, ax, title=title, notes=[meaning, wording.how(result), left_out])


def _labels(result: xr.Dataset, metric: Any, order: Any, figsize: Any, title: str | None, ax: Axes | None) -> Any:
    counts = result["n_outputs"]
    total = counts.sum(("human_label", "judge_label"))
    same = (counts * (counts["human_label"] == counts["judge_label"])).sum(("human_label", "judge_label"))
    result, left_out = selection.shown(
        result.assign(alike=same / total.where(total > 0)), "alike", metric=metric, order=order
    )
    panels = layout.panels_of(result, [str(dim) for dim in result["alike"].dims])
    side = 0.5 + 0.5 * result.sizes["judge_label"]
    across, down = layout.grid_of(len(panels))
    room = layout.label_width(result["human_label"])
    size = (side + 0.4) * across + room, (side + 0.9) * down + 0.4
    axes = layout.axes_for(len(panels), size, ax, sharex=False, figsize=figsize)
    for axis, (name, panel) in zip(axes, panels, strict=True):
        _counts(axis, panel["n_outputs"], ("human_label", "judge_label"))
        layout.panel_title(axis, f"{name}\n{100 * float(panel['alike']):.0f} % equal".lstrip(), max(2.0, side))
    whose = "a single rater" if "along" in result.attrs else captions.clipped(str(result.attrs.get("gold", "gold")))
    layout.name_axes(axes, "label by the metric", f"label by {whose}", fontsize=9)
    meaning = f"numbers of {'ratings' if 'along' in result.attrs else 'outputs'}; colour: share of the row"
    return layout.finished(axes, ax, title=title, notes=[meaning, wording.how(result), left_out])


def _counts(axis: Any, cells: xr.DataArray, sides: tuple[str, str]) -> None:
    """A table of counts, its rows and columns named by these dims."""
    counts = cells.transpose(*sides).values
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    places = [np.arange(size + 1) - 0.5 for size in counts.shape]
    # No image, which a page that needs no other file could not show.
    image = axis.pcolormesh(*places[::-1], shares, cmap="Blues", vmin=0, vmax=1.15, edgecolors="white", linewidth=1)
    axis.set(aspect="equal", ylim=(counts.shape[0] - 0.5, -0.5))
    for i, j in np.ndindex(counts.shape):
        marks.in_cell(axis, j, i, f"{counts[i, j]:,}", image.to_rgba(shares[i, j])[:3], fontsize=9)
    for name, dim in zip((axis.set_yticks, axis.set_xticks), sides, strict=True):
        name(range(cells.sizes[dim]), captions.texts(cells[dim]), fontsize=8, **style.PLAIN)
    layout.bare(axis)


@validate.public
@style.on_its_ground
def close_corr(
    result: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Hashable] = "value",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw `close_corr`: each metric's correlation against the gap of the systems it orders, with intervals.

    Source: Deutsch, Dror & Roth (2022), Figs. 5 and 6.

    Parameters
    ----------
    {drawn}
        "value": the best left in each group.
    {picture}

    {axes}

    {demo}
    >>> axes = ds.meta.close_corr("human", metric=["judge", "rouge"], n_resamples=99, rng=1).meta.plot.close_corr()
    >>> [text.get_text() for text in axes.figure.legends[0].get_texts()]
    ['rouge', 'judge']
    """
    if "gap_high" not in result:
        raise ValueError("the result has no gaps; this draws what `close_corr` gives")
    result, left_out = selection.shown(result, "correlation", metric=metric, order=order)
    result = selection.with_dims(result, "metric")
    panels = layout.panels_of(result, selection.further_dims(result["correlation"], "metric", "gap"))
    across, down = layout.grid_of(len(panels))
    metrics = captions.texts(result["metric"])
    panel_wide = max(4.4, 0.9 + 0.11 * len(metrics) * result.sizes["gap"])
    wide = 0.6 + panel_wide * across
    size = (wide, 3.2 * down + 0.3 + layout.legend_height(metrics, max(5.0, wide)))
    axes = layout.axes_for(len(panels), size, ax, sharex=True, figsize=figsize)
    for axis, (name, panel) in zip(axes, panels, strict=True):
        _points_by_gap(axis, panel)
        layout.panel_title(axis, name, panel_wide - 0.3)
    _correlation_limits(axes, result)
    layout.name_axes(axes, _gap_label(result), captions.correlation_label(result), fontsize=9)
    items = [(name, {**_line(at), "ms": 5}) for at, name in enumerate(metrics)]
    return layout.finished(axes, ax, title=title, items=items, heading="metric", notes=[wording.how(result), left_out])


def _gap_label(result: xr.Dataset) -> str:
    if result.attrs.get("unit") == "quantile":
        return "share of the pairs of systems, the closest by the metric first"
    return "difference of two systems' mean scores by the metric"


def _points_by_gap(axis: Any, panel: xr.Dataset) -> None:
    gaps = captions.texts(panel["gap"])
    n = panel.sizes["metric"]
    spread = np.linspace(-0.36, 0.36, n) if n > 1 else np.zeros(1)
    for at, one in enumerate(layout.parts_by(panel, "metric")):
        look, x = _line(at), np.arange(len(gaps)) + spread[at]
        axis.vlines(x, one["ci_low"], one["ci_high"], color=look["color"], lw=1.1, alpha=0.75)
        axis.plot(x, one["correlation"], color=look["color"], ls=look["ls"], lw=0.6, alpha=0.45, zorder=2)
        axis.plot(x, one["correlation"], color=look["color"], marker=look["marker"], ls="", ms=4.5, zorder=3)
    for edge in range(1, len(gaps)):
        axis.axvline(edge - 0.5, color=style.faint(), lw=0.8, zorder=0)
    layout.grid(axis, "y", over=True)
    axis.set_xlim(-0.5, len(gaps) - 0.5)
    axis.set_xticks(range(len(gaps)), gaps, **style.PLAIN)
