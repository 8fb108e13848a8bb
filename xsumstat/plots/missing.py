"""Shares of missing scores: by system, and by human score."""

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

_WIDE = 2.8  # inches of a panel
_QUARTERS = "human_quarter"


@validate.public
@style.on_its_ground
def missingness(
    result: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Hashable] = "value",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Share of the outputs without a score, by system and by quarter of the human scores; one colour per metric.

    Draws what `missingness` gave.

    Parameters
    ----------
    {drawn}
        "value": the metric with the most missing scores first.
    {picture}

    Returns
    -------
    Axes or array of Axes
        One, or where there are several panels an array of them.

    Notes
    -----
    Whiskers are limits. If missing scores do not depend on quality, the points of the four quarters are about equal.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo").sel(metric=["judge", "human"])
    >>> refused = ds.assign(score=ds.score.where((ds.metric == "human") | (ds.score.sel(metric="human") > 45)))
    >>> found = refused.meta.missingness("human", score_range=(0, 120), rng=1)
    >>> found.meta.plot.missingness().get_xlabel()
    'outputs without a score, %'
    """
    if "missing_share" not in result or "missing_by_score" not in result:
        raise ValueError("the result has no shares of missing scores; this draws what missingness gives")
    result, left_out = selection.shown(result, "missing_share", metric=metric, order=order)
    further = selection.further_dims(result["missing_share"], "metric", "system")
    panels = layout.panels_of(result[["missing_share", "ci_low", "ci_high", "missing_by_score"]], further)
    across, down = layout.grid_of(len(panels))
    gold = captions.clipped(str(result.attrs.get("gold", "human")))
    quarters = [f"{gold}, {each} quarter" for each in captions.texts(result[_QUARTERS])]
    names = xr.DataArray(np.array([*captions.texts(result["system"]), *quarters], dtype=object), dims="row")
    items = layout.items_of(captions.texts(result["metric"]), lw=2)
    wide = layout.label_width(names) + _WIDE * across
    row = max(0.26, 0.1 + 0.09 * result.sizes["metric"])
    high = 0.5 + layout.legend_height([label for label, _ in items], wide) + (0.75 + row * (names.size + 0.5)) * down
    axes = layout.axes_for(len(panels), (wide, high), ax, sharex=True, figsize=figsize)
    n = result.sizes["system"]
    for axis, (label, panel) in zip(axes, panels, strict=True):
        _points(axis, panel)
        axis.axhline(n - 0.25, color=style.faint(), lw=0.8, zorder=1)
        layout.grid(axis, "x", over=True)
        layout.panel_title(axis, label, _WIDE)
    layout.name_axes(axes, "outputs without a score, %")
    axes[0].set_yticks([*range(n), *(n + 0.5 + np.arange(len(quarters)))], names.values.tolist(), **style.PLAIN)
    axes[0].set_ylim(n + len(quarters) + 0.05, -0.6)
    return layout.finished(axes, ax, title=title, items=items, notes=[wording.how(result), left_out])


def _points(axis: Any, panel: xr.Dataset) -> None:
    """The shares of systems with their limits, and below them those of quarters of the human scores."""
    n, systems = panel.sizes["metric"], panel.sizes["system"]
    shares = layout.parts_by(100 * panel, "metric")
    for at, (one, beside) in enumerate(zip(shares, layout.offsets(n, 0.7), strict=True)):
        color, marker = style.of(at)
        rows = np.arange(systems) + beside
        axis.hlines(rows, one["ci_low"].values, one["ci_high"].values, color=color, lw=1.2, zorder=2)
        look: dict[str, Any] = {"color": color, "marker": marker, "ms": 5, "ls": "", "clip_on": False, "zorder": 3}
        axis.plot(one["missing_share"].values, rows, **look)
        quarters = systems + 0.5 + np.arange(panel.sizes[_QUARTERS]) + beside
        axis.plot(one["missing_by_score"].values, quarters, **look)
    axis.set_xlim(left=0.0)
