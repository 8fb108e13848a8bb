"""Biases of metrics: slopes of their errors on covariates, one row per metric."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.dataset import wording
from xsumstat.plots import captions, layout, selection, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# What is done about noise in the human scores, by method.
_NOISE = {
    "regression": "noise in the human scores is not subtracted",
    "corrected": "noise in the human scores is subtracted",
}


@validate.public
@style.on_its_ground
def bias(
    result: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Hashable] = "value",
    hue: str | None = None,
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw `bias`: how each metric's error changes with each covariate, one panel per covariate.

    Parameters
    ----------
    result : Dataset
        Result of `bias`.
    {metric.drawn order}
        "value": the largest mean slope on top.
    hue : str, optional
        Dim, such as "covariate", whose labels share a panel in colours. Each label of the others has a panel.
    {picture}

    {axes}

    Notes
    -----
    A full point has an interval that excludes 0. Right of the line a metric overrates longer outputs, or those of the
    group. An interval without a limit extends to the edge. A note reports whether noise in the human scores is
    subtracted.

    {demo}
    >>> axes = ds.meta.bias("human", given=["length", "system_type"]).meta.plot.bias()
    >>> [axis.get_title() for axis in axes]
    ['length', 'system_type=extractive']
    """
    if not {"slope", "ci_low", "ci_high"} <= set(result.data_vars):
        raise ValueError("the result has no slopes; this draws what bias gives")
    further = selection.further_dims(result["slope"], "metric", hue=hue)
    result, left_out = selection.shown(selection.with_dims(result, "metric"), "slope", metric=metric, order=order)
    result, undefined = selection.with_values(result, "slope", "metric")
    panels = layout.panels_of(result, [dim for dim in further if dim != hue])
    row = 0.32 if hue is None else 0.2 + 0.13 * result.sizes[hue]
    size: dict[str, Any] = {"above": 0.6, "panel": 0.8, "row": row, "across": 3.2, "margins": (0.45, 0.55)}
    axes = layout.row_axes(result["metric"], len(panels), ax, **size, figsize=figsize)
    edges = _edges(result)
    for axis, (name, panel) in zip(axes, panels, strict=True):
        _panel(axis, panel, hue, edges)
        layout.panel_title(axis, name, 3.2)
    items = [] if hue is None else layout.items_of(captions.texts(result[hue]), lw=2)
    items += [("interval holds 0", {"color": style.ink(), "marker": "o", "mfc": style.ground(), "ls": "", "ms": 5})]
    if edges is not None:
        axes[0].set_xlim(*edges)
    noise = _NOISE.get(str(result.attrs.get("method")), "")
    return layout.finished(
        axes, ax, title=title, items=items, heading=hue or "", notes=[wording.how(result), noise, left_out, undefined]
    )


def _edges(result: xr.Dataset) -> tuple[float, float] | None:
    """Ends of the axis for unbounded intervals; None where all are bounded."""
    low, high = result["ci_low"].values, result["ci_high"].values
    if not (np.isinf(low).any() or np.isinf(high).any()):
        return None
    drawn = np.concatenate([each.ravel() for each in (low, high, result["slope"].values)])
    drawn = np.append(drawn[np.isfinite(drawn)], [-0.1, 0.1])
    room = 0.15 * float(np.ptp(drawn))
    return float(drawn.min()) - room, float(drawn.max()) + room


def _panel(axis: Any, panel: xr.Dataset, hue: str | None, edges: tuple[float, float] | None) -> None:
    hues = layout.parts_by(panel, hue)
    for at, (drawn, offset) in enumerate(zip(hues, layout.offsets(len(hues)), strict=True)):
        rows = np.arange(drawn.sizes["metric"]) + offset
        color, marker = style.of(at)
        slope, low, high = (drawn[name].values for name in ("slope", "ci_low", "ci_high"))
        ends = (low, high) if edges is None else (np.maximum(low, edges[0]), np.minimum(high, edges[1]))
        axis.hlines(rows, *ends, color=color, lw=1.8, zorder=3)
        clear = (low > 0) | (high < 0)
        for there, face in ((clear, color), (~clear, style.ground())):
            axis.plot(slope[there], rows[there], marker, ms=5, mfc=face, mec=color, mew=1.2, zorder=4)
    axis.axvline(0, color=style.ZERO_LINE, lw=0.8, zorder=1)
    layout.grid(axis, "x")
    axis.set_xlabel("bias (SDs of the metric)", fontsize=9.5, **style.PLAIN)
