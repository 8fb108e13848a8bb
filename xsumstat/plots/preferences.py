"""Pictures of preferences: raters beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.dataset import preferences as schema
from xsumstat.dataset import results, wording
from xsumstat.plots import captions, layout, marks, selection, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DRAWN = ("position_bias", "preference_agreement", "preference_bias")


@validate.public
@style.on_its_ground
def raters(
    result: xr.Dataset,
    *,
    order: str | Sequence[Any] = "value",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw judges with their intervals, beside human raters where these were compared.

    For results of `position_bias`, `preference_agreement` and `preference_bias`.

    Parameters
    ----------
    result : Dataset
        Result of one of these.
    {order picture}

    Returns
    -------
    Axes or array of Axes
        An array if there are several covariates.

    Examples
    --------
    >>> import pandas as pd, xsumstat
    >>> rows = [("a", "b", "left", at, swapped) for at in range(9) for swapped in (False, True)]
    >>> rows += [("a", "b", "right", 9, True), ("a", "b", "left", 9, False)]
    >>> frame = pd.DataFrame(rows, columns=["left", "right", "choice", "prompt", "swapped"])
    >>> found = frame.meta.to_preferences(order="swapped").meta.position_bias()
    >>> [label.get_text() for label in found.meta.plot.raters().get_yticklabels()]
    ['judge']
    """
    if result.attrs.get("analysis") not in _DRAWN or "ci_low" not in result:
        raise ValueError(f"the result has no raters to draw; this draws what {wording.listed(_DRAWN)} give")
    main = results.main_variable(result)
    result, left_out = selection.shown(selection.with_dims(result, "rater"), main, order=order, dims=("rater",))
    result, undefined = selection.with_values(result, main, "rater")
    panels = layout.panels_of(result, [str(dim) for dim in result[main].dims if dim != "rater"])
    axes = layout.row_axes(result["rater"], len(panels), ax, above=0.9, panel=0.6, row=0.35, figsize=figsize)
    for axis, (name, panel) in zip(axes, panels, strict=True):
        _rows(axis, panel, main)
        layout.panel_title(axis, name, layout.INCHES)
        axis.set_xlabel(captions.variable_label(result, main), fontsize=9.5, **style.PLAIN)
    return layout.finished(axes, ax, title=title, notes=[wording.how(result), left_out, undefined])


def _rows(axis: Any, panel: xr.Dataset, main: str) -> None:
    """Each rater's interval; behind them that of human raters, or a line at 0."""
    value, low, high = (panel[each].values for each in (main, "ci_low", "ci_high"))
    people = np.flatnonzero(panel["rater"].values == schema.PEOPLE)
    if len(people):
        at = int(people[0])
        marks.reference(axis, value[at], low[at], high[at])
    else:
        axis.axvline(0, color=style.ZERO_LINE, lw=1, zorder=1)
    marks.intervals(axis, (value, low, high))


@validate.public
@style.on_its_ground
def strengths(
    result: xr.Dataset,
    *,
    order: str | Sequence[Any] = "value",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw `rank_systems`: strengths of systems by human raters, by judges, and corrected by a judge.

    Parameters
    ----------
    result : Dataset
        Result of ``ds.meta.rank_systems``.
    {order picture}

    Returns
    -------
    Axes
        One interval for each rater and system.

    Examples
    --------
    >>> import pandas as pd, xsumstat
    >>> words = ["left", "left", "tie", "right", "left", "tie", "left", "right"]
    >>> frame = pd.DataFrame({"left": "a", "right": "b", "choice": words, "prompt": range(8)})
    >>> axes = frame.meta.to_preferences().meta.rank_systems().meta.plot.strengths()
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['a', 'b']
    """
    if not {"strength", "ci_low", "ci_high"} <= set(result.data_vars):
        raise ValueError("the result has no strengths of systems; this draws what rank_systems gives")
    result = selection.with_dims(result, "rater", "system")
    result, left_out = selection.shown(result, "strength", order=order, dims=("system",))
    result, undefined = selection.with_values(result, "strength", "system")
    sources = captions.texts(result["rater"])
    row = 0.2 + 0.17 * len(sources)
    axes = layout.row_axes(result["system"], 1, ax, above=0.9, panel=0.6, row=row, figsize=figsize)
    axis = axes[0]
    axis.axvline(0, color=style.ZERO_LINE, lw=1, zorder=1)
    offsets = np.linspace(-0.25, 0.25, len(sources)) if len(sources) > 1 else np.zeros(1)
    for at, offset in enumerate(offsets):
        value, low, high = (result[each].isel(rater=at).values for each in ("strength", "ci_low", "ci_high"))
        marks.intervals(axis, (value, low, high), at=at, offset=offset, lw=1.6, ms=4.5)
    axis.set_xlabel(captions.variable_label(result, "strength"), fontsize=9.5, **style.PLAIN)
    items = layout.items_of([f"by {source}" for source in sources], lw=1.6) if len(sources) > 1 else []
    notes = [wording.how(result), left_out, undefined]
    return layout.finished(axes, ax, title=title, items=items, notes=notes)
