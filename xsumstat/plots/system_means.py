"""Mean human scores of systems, with a metric and from ratings alone."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.dataset import directions, wording
from xsumstat.plots import layout, marks, selection, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ALONE = {"marker": "s", "lw": 1.2, "ms": 4, "mfc": "none"}


@validate.public
@style.on_its_ground
def system_means(
    result: xr.Dataset,
    *,
    system: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Hashable] = "value",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw `system_means`: mean human scores with intervals, and in grey those from the ratings alone.

    Parameters
    ----------
    result : Dataset
        Result of ``ds.meta.system_means``.
    system : label or list of labels, optional
        Systems to draw; default all, or the first 20 in order, with a note.
    {order picture}

    Returns
    -------
    Axes or array of Axes
        An array if additional dims give several panels.

    {demo}
    >>> few = ds.score.sel(metric="human").isel(input=slice(15))
    >>> axes = ds.meta.system_means(few, metric="judge").meta.plot.system_means()
    >>> axes.get_xlabel()
    'mean of human'
    """
    if not {"mean", "human_mean", "ci_low", "ci_high"} <= set(result.data_vars):
        raise ValueError("the result has no mean human scores; this draws what system_means gives")
    if "system" not in result.dims:
        result = result.expand_dims("system") if "system" in result.coords else result.expand_dims(system=[""])
    result, left_out = selection.shown(result, "mean", metric=system, order=order, dims=("system",))
    result, undefined = selection.with_values(result, "mean", "system")
    panels = layout.panels_of(result, selection.further_dims(result["mean"], "system"))
    axes = layout.row_axes(result["system"], len(panels), ax, above=0.6, panel=0.75, row=0.4, figsize=figsize)
    gold = wording.shortened(result.attrs.get("gold", "human score"))
    gold += " (lower is better)" if directions.OF_GOLD in result.attrs else ""
    for axis, (name, panel) in zip(axes, panels, strict=True):
        _rows(axis, panel)
        layout.panel_title(axis, name, layout.INCHES)
        axis.set_xlabel(f"mean of {gold}", fontsize=9.5, **style.PLAIN)
    helped = f"with {wording.shortened(result.attrs.get('helped_by', 'the metric'))}"
    items = [*layout.items_of([helped], lw=2), ("ratings alone", {"color": style.muted(), **_ALONE})]
    target = {"new": "means over new inputs", "these": "means over these inputs"}.get(
        str(result.attrs.get("target")), ""
    )
    notes = [wording.how(result), target, left_out, undefined]
    return layout.finished(axes, ax, title=title, items=items, notes=notes)


def _rows(axis: Any, panel: xr.Dataset) -> None:
    rows = np.arange(panel.sizes["system"])
    mean, low, high, human, human_low, human_high = (
        panel[each].values for each in ("mean", "ci_low", "ci_high", "human_mean", "human_ci_low", "human_ci_high")
    )
    axis.hlines(rows + 0.14, human_low, human_high, color=style.muted(), lw=1.2, zorder=2)
    axis.plot(human, rows + 0.14, "s", ms=4, mfc="none", mec=style.muted(), zorder=3)
    marks.intervals(axis, (mean, low, high), offset=-0.14, ms=4.5)
