"""Pictures of systems: the best and the close ones, verdicts on two."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.dataset import wording
from xsumstat.plots.parts import (
    PLAIN,
    ZERO_LINE,
    axes_for,
    bounds_of,
    check_not_empty,
    clipped,
    correlation_label,
    faint,
    finished,
    grid_of,
    label_width,
    legend_height,
    on_its_ground,
    panel_title,
    panels_of,
    shown,
    style_of,
    texts,
    words_on,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BANDS = 4  # lines of one panel whose intervals can be told apart


@validate.public
@on_its_ground
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
    check_not_empty(result["correlation"])
    further = [str(dim) for dim in result["correlation"].dims if dim != "k"]
    if hue is not None:
        validate.known("hue", hue, further, "additional dims")
    result, left_out = shown(result, "correlation", metric=metric, order=order)
    check_not_empty(result["correlation"])
    panels = panels_of(result, [dim for dim in further if dim != hue])
    across, down = grid_of(len(panels))
    labels = texts(result[hue]) if hue else [""]
    panel_wide = 2.5 if len(panels) > 1 else 4.6
    wide = 0.8 + panel_wide * across
    below = 0.4 + legend_height(labels if hue else [], max(5.0, wide))
    high = (2.1 if len(panels) > 1 else 2.7 if len(labels) <= _BANDS else 3.8) * down + below
    axes = axes_for(len(panels), (wide, high), ax, sharex=True, figsize=figsize)
    for axis, (name, panel) in zip(axes, panels, strict=True):
        _curves_by_k(axis, panel, hue)
        panel_title(axis, name, panel_wide - 0.3)
    _correlation_limits(axes, result)
    for axis in axes[-across:]:
        axis.set_xlabel("k best systems", fontsize=9.5, **PLAIN)
    ks = result["k"].values
    axes[0].set_xlim(float(ks.max()) + 0.5, float(ks.min()) - 0.5)
    if len(ks) <= 8:
        axes[0].set_xticks(ks)
    else:
        axes[0].xaxis.get_major_locator().set_params(integer=True)
    _label_correlations(axes, result, across, down)
    crowded = len(labels) > _BANDS
    items: list[tuple[str, Mapping[str, Any]]] = [
        (label, {**_line(at), "ms": 5}) for at, label in enumerate(labels) if hue
    ]
    notes = [f"intervals of more than {_BANDS} lines are not drawn" if crowded else wording.how(result), left_out]
    return finished(axes, ax, title=title, items=items, heading=hue or "", notes=notes)


def _line(at: int) -> dict[str, Any]:
    color, marker = style_of(at)
    return {"color": color, "marker": marker, "ls": ("-", (0, (5, 2)), (0, (1.5, 1.5)))[at // 7 % 3], "lw": 1.3}


def _curves_by_k(axis: Any, panel: xr.Dataset, hue: str | None) -> None:
    n = panel.sizes[hue] if hue else 1
    for at in range(n):
        line = panel.isel({hue: at}) if hue else panel
        if n <= _BANDS:
            axis.fill_between(line["k"], line["ci_low"], line["ci_high"], color=style_of(at)[0], alpha=0.18, lw=0)
        axis.plot(line["k"], line["correlation"], ms=3.5, **_line(at))
    axis.grid(axis="y", color=faint(), lw=0.7, zorder=0)


def _correlation_limits(axes: list[Any], result: xr.Dataset) -> None:
    """Limits of an axis of correlations within their bounds; a line at 0 if in sight."""
    low, high = bounds_of(result, "correlation")
    room = 0.03 * (high - low)
    for axis in axes:
        bottom, top = axis.get_ylim()
        axis.set_ylim(max(bottom, low - room), min(top, high + room))
    for axis in axes:
        bottom, top = axis.get_ylim()
        if bottom < 0 < top:
            axis.axhline(0, color=ZERO_LINE, lw=0.8, zorder=1)


def _label_correlations(axes: list[Any], result: xr.Dataset, across: int, down: int) -> None:
    if down == 1:
        axes[0].set_ylabel(correlation_label(result), fontsize=9, **PLAIN)
    else:
        axes[0].figure.supylabel(correlation_label(result), fontsize=9, **PLAIN)


@validate.public
@on_its_ground
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
    result, left_out = shown(result, "f1", metric=metric, order=order)
    check_not_empty(result["confusion"])
    panels = panels_of(result, [str(dim) for dim in result["f1"].dims])
    across, down = grid_of(len(panels))
    size = (1.0 + 2.1 * across, 0.7 + 2.75 * down)
    axes = axes_for(len(panels), size, ax, sharex=False, figsize=figsize)
    names = texts(result["metric_verdict"])
    for axis, (name, panel) in zip(axes, panels, strict=True):
        _verdicts(axis, panel)
        panel_title(axis, f"{name}\nF1 {float(panel['f1']):.2f}".lstrip(), 2.0)
        axis.set_xticks(range(3), names, fontsize=8, **PLAIN)
    axes[0].set_yticks(range(3), texts(result["gold_verdict"]), fontsize=8, **PLAIN)
    for axis in axes[::across]:
        axis.set_ylabel(f"verdict by {clipped(str(result.attrs.get('gold', 'gold')))}", fontsize=9, **PLAIN)
    for axis in axes[-across:]:
        axis.set_xlabel("verdict by the metric", fontsize=9, **PLAIN)
    meaning = "pairs of systems: the first, the second or neither is better; colour: share of the row"
    return finished(axes, ax, title=title, notes=[meaning, wording.how(result), left_out])


def _labels(result: xr.Dataset, metric: Any, order: Any, figsize: Any, title: str | None, ax: Axes | None) -> Any:
    counts = result["n_outputs"]
    total = counts.sum(("human_label", "judge_label"))
    same = (counts * (counts["human_label"] == counts["judge_label"])).sum(("human_label", "judge_label"))
    result, left_out = shown(result.assign(alike=same / total.where(total > 0)), "alike", metric=metric, order=order)
    check_not_empty(result["alike"])
    panels = panels_of(result, [str(dim) for dim in result["alike"].dims])
    names, side = texts(result["judge_label"]), 0.5 + 0.5 * result.sizes["judge_label"]
    across, down = grid_of(len(panels))
    room = label_width(result["human_label"])
    size = (side + 0.4) * across + room, (side + 0.9) * down + 0.4
    axes = axes_for(len(panels), size, ax, sharex=False, figsize=figsize)
    for axis, (name, panel) in zip(axes, panels, strict=True):
        _counts(axis, panel["n_outputs"].transpose("human_label", "judge_label").values)
        panel_title(axis, f"{name}\n{100 * float(panel['alike']):.0f} % equal".lstrip(), max(2.0, side))
        axis.set_xticks(range(len(names)), names, fontsize=8, **PLAIN)
        axis.set_yticks(range(len(names)), texts(result["human_label"]), fontsize=8, **PLAIN)
    for axis in axes[::across]:
        whose = "a single rater" if "along" in result.attrs else clipped(str(result.attrs.get("gold", "gold")))
        axis.set_ylabel(f"label by {whose}", fontsize=9, **PLAIN)
    for axis in axes[-across:]:
        axis.set_xlabel("label by the metric", fontsize=9, **PLAIN)
    meaning = f"numbers of {'ratings' if 'along' in result.attrs else 'outputs'}; colour: share of the row"
    return finished(axes, ax, title=title, notes=[meaning, wording.how(result), left_out])


def _verdicts(axis: Any, panel: xr.Dataset) -> None:
    _counts(axis, panel["confusion"].transpose("gold_verdict", "metric_verdict").values)


def _counts(axis: Any, counts: Any) -> None:
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    places = [np.arange(size + 1) - 0.5 for size in counts.shape]
    # No image, which a page that needs no other file could not show.
    image = axis.pcolormesh(*places[::-1], shares, cmap="Blues", vmin=0, vmax=1.15, edgecolors="white", linewidth=1)
    axis.set(aspect="equal", ylim=(counts.shape[0] - 0.5, -0.5))
    for i, j in np.ndindex(counts.shape):
        color = words_on(image.to_rgba(shares[i, j])[:3])
        axis.text(j, i, f"{counts[i, j]:,}", ha="center", va="center", fontsize=9, color=color, **PLAIN)
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)


@validate.public
@on_its_ground
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
    result, left_out = shown(result, "correlation", metric=metric, order=order)
    check_not_empty(result["correlation"])
    panels = panels_of(result, [str(dim) for dim in result["correlation"].dims if dim not in ("metric", "gap")])
    across, down = grid_of(len(panels))
    metrics = texts(result["metric"]) if "metric" in result.dims else [""]
    panel_wide = max(4.4, 0.9 + 0.11 * len(metrics) * result.sizes["gap"])
    wide = 0.6 + panel_wide * across
    size = (wide, 3.2 * down + 0.3 + legend_height(metrics, max(5.0, wide)))
    axes = axes_for(len(panels), size, ax, sharex=True, figsize=figsize)
    for axis, (name, panel) in zip(axes, panels, strict=True):
        _points_by_gap(axis, panel)
        panel_title(axis, name, panel_wide - 0.3)
    _correlation_limits(axes, result)
    for axis in axes[-across:]:
        axis.set_xlabel(_gap_label(result), fontsize=9, **PLAIN)
    for axis in axes[::across]:
        axis.set_ylabel(correlation_label(result), fontsize=9, **PLAIN)
    named = "metric" in result.dims
    items = [(name, {**_line(at), "ms": 5}) for at, name in enumerate(metrics) if named]
    return finished(axes, ax, title=title, items=items, heading="metric", notes=[wording.how(result), left_out])


def _gap_label(result: xr.Dataset) -> str:
    if result.attrs.get("unit") == "quantile":
        return "share of the pairs of systems, the closest by the metric first"
    return "difference of two systems' mean scores by the metric"


def _points_by_gap(axis: Any, panel: xr.Dataset) -> None:
    gaps = texts(panel["gap"])
    n = panel.sizes.get("metric", 1)
    spread = np.linspace(-0.36, 0.36, n) if n > 1 else np.zeros(1)
    for at in range(n):
        one = panel.isel(metric=at) if "metric" in panel.dims else panel
        look = _line(at)
        x = np.arange(len(gaps)) + spread[at]
        axis.vlines(x, one["ci_low"], one["ci_high"], color=look["color"], lw=1.1, alpha=0.75)
        axis.plot(x, one["correlation"], color=look["color"], ls=look["ls"], lw=0.6, alpha=0.45, zorder=2)
        axis.plot(x, one["correlation"], color=look["color"], marker=look["marker"], ls="", ms=4.5, zorder=3)
    for edge in range(1, len(gaps)):
        axis.axvline(edge - 0.5, color=faint(), lw=0.8, zorder=0)
    axis.grid(axis="y", color=faint(), lw=0.7, zorder=0)
    axis.set_xlim(-0.5, len(gaps) - 0.5)
    axis.set_xticks(range(len(gaps)), gaps, **PLAIN)
