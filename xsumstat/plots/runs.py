"""What averaging several runs of a judge gains: curves over the number of runs."""

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

_MOST_WITH_LIMITS = 6
_WIDE = 3.0  # inches of a panel
_BETWEEN = 0.12  # of the distance of two numbers of runs


@validate.public
@style.on_its_ground
def repeatability(
    result: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Hashable] = "value",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Reliability of the mean of several runs, and its expected correlation with human scores, by how many runs.

    Draws what `repeatability` gave, with several numbers of runs.

    Parameters
    ----------
    {drawn}
        "value": the most reliable first.
    {picture}

    Returns
    -------
    Axes or array of Axes
        One, or where there are several panels an array of them.

    Notes
    -----
    Whiskers are limits; those of more than 6 metrics are left out, which a note below says.

    Examples
    --------
    >>> import numpy as np, xarray as xr, xsumstat
    >>> ds = xsumstat.load_dataset("demo").sel(metric=["judge", "human"])
    >>> noise = xr.DataArray(np.random.default_rng(0).normal(size=(3, 12, 30)), dims=("run", "system", "input"))
    >>> found = ds.assign(score=ds.score + 10 * noise * (ds.metric == "judge")).meta.repeatability("human")
    >>> [axis.get_title() for axis in found.meta.plot.repeatability()]
    ['reliability', 'correlation with human']
    """
    if "reliability" not in result or not {"metric", "n_runs"} <= set(result["reliability"].dims):
        raise ValueError("the result has no reliabilities by number of runs; this draws what repeatability gives")
    result, left_out = selection.shown(result, "reliability", metric=metric, order=order)
    names = ["reliability", *(["correlation"] if "correlation" in result else [])]
    further = selection.further_dims(result["reliability"], "metric", "n_runs")
    drawn = result.drop_vars([name for name, each in result.data_vars.items() if "n_runs" not in each.dims])
    panels = [(label, panel, name) for label, panel in layout.panels_of(drawn, further) for name in names]
    across, down = layout.grid_of(len(panels))
    crowded = result.sizes["metric"] > _MOST_WITH_LIMITS
    items = layout.items_of(captions.texts(result["metric"]), lw=2)
    wide = 0.6 + _WIDE * across
    high = 0.5 + layout.legend_height([label for label, _ in items], wide) + 2.5 * down
    axes = layout.axes_for(len(panels), (wide, high), ax, sharex=True, figsize=figsize)
    gold = captions.clipped(str(result.attrs.get("gold")))
    called = {"reliability": "reliability", "correlation": f"correlation with {gold}"}
    for axis, (label, panel, name) in zip(axes, panels, strict=True):
        _curves(axis, panel, name, with_limits=not crowded)
        layout.panel_title(axis, f"{label}: {called[name]}" if label else called[name], _WIDE)
    runs = result["n_runs"].values
    layout.name_axes(axes, "number of runs that are averaged")
    axes[0].set_xticks(range(len(runs)), [f"{each:,}" for each in runs], **style.PLAIN)
    axes[0].set_xlim(-0.4, len(runs) - 0.6)
    note = f"limits of more than {_MOST_WITH_LIMITS} metrics are not drawn" if crowded else wording.how(result)
    return layout.finished(axes, ax, title=title, items=items, notes=[note, left_out])


def _curves(axis: Any, panel: xr.Dataset, name: str, *, with_limits: bool) -> None:
    low, high = ("ci_low", "ci_high") if name == "reliability" else (f"{name}_low", f"{name}_high")
    n = panel.sizes["metric"]
    for at, one in enumerate(layout.parts_by(panel, "metric")):
        color, marker = style.of(at)
        x = np.arange(panel.sizes["n_runs"]) + (at - (n - 1) / 2) * min(_BETWEEN, 0.6 / n) * with_limits
        axis.plot(x, one[name].values, color=color, marker=marker, ms=5, lw=1.3, zorder=3)
        if with_limits and {low, high} <= set(panel.data_vars):
            axis.vlines(x, one[low].values, one[high].values, color=color, lw=1.1, zorder=2)
    layout.grid(axis, "y")
    bottom, top = axis.get_ylim()
    axis.set_ylim(min(0.0, bottom), max(1.0, min(top, 1.02)))
