"""Pictures of what changed between two versions of a judge."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import xarray as xr

from xsumstat.core import validate
from xsumstat.dataset import wording
from xsumstat.plots import layout, marks, selection, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@validate.public
@style.on_its_ground
def drift(
    result: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Any] = "value",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Shift of each system's mean with its interval, over the shift of all; above, how agreement changed.

    Parameters
    ----------
    result : Dataset
        From ``ds.meta.drift``.
    {metric.drawn order}
        It orders the systems of a panel.
    {picture}

    Returns
    -------
    Axes or array of Axes
        One for each metric and label of additional dims.

    Examples
    --------
    >>> import xsumstat
    >>> new = xsumstat.load_dataset("demo").isel(system=slice(3))
    >>> old = new.copy(deep=True)
    >>> old["score"] = old.score.where(old.system != "extractor-1", old.score - 4)
    >>> axes = new.meta.drift(old, "human", metric="judge").meta.plot.drift()
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['extractor-1', 'extractor-2', 'extractor-3']
    """
    if result.attrs.get("analysis") != "drift" or "system_shift" not in result:
        raise ValueError("the result has no shifts of systems; this draws what drift gives")
    result = selection.with_dims(result, "metric", "system")
    result, left_out = selection.shown(result, "difference", metric=metric, order="given")
    result, more = selection.shown(result, "system_shift", order=order, dims=("system",))
    result, undefined = selection.with_values(result, "system_shift", "system")
    panels = layout.panels_of(result, ["metric", *selection.further_dims(result["difference"], "metric")])
    axes = layout.row_axes(
        result["system"], len(panels), ax, above=0.9, panel=1.1, row=0.3, sharex=False, figsize=figsize
    )
    for axis, (name, panel) in zip(axes, panels, strict=True):
        _panel(axis, panel)
        layout.panel_title(axis, f"{name}\n{_agreement(panel)}", layout.INCHES)
        axis.set_xlabel("change of the system's mean score", fontsize=9.5, **style.PLAIN)
    note = f"{100 * (1 - float(result.attrs['alpha'])):.4g} % intervals of shifts; the band is that of the mean shift"
    return layout.finished(axes, ax, title=title, notes=[wording.how(result), note, left_out, more, undefined])


def _agreement(panel: xr.Dataset) -> str:
    """How agreement changed, for the title of a panel."""
    value, low, high = (float(panel[name]) for name in ("difference", "ci_low", "ci_high"))
    return f"agreement changed by {wording.estimate(value, low, high)}"


def _panel(axis: Any, panel: xr.Dataset) -> None:
    """The systems of one metric, over the mean shift."""
    shift, low_shift, high_shift = (float(panel[name]) for name in ("shift", "shift_low", "shift_high"))
    marks.reference(axis, shift, low_shift, high_shift)
    axis.axvline(0, color=style.ZERO_LINE, lw=1, zorder=1)
    value, low, high = (panel[f"system_shift{end}"].values for end in ("", "_low", "_high"))
    marks.intervals(axis, (value, low, high))
