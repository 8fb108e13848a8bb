"""Bars: one number of each metric, with its interval."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.dataset import wording
from xsumstat.plots import captions, chance, layout, marks, selection, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDE = 3.6  # inches of a panel


@validate.public
@style.on_its_ground
def bars(
    result: xr.Dataset,
    variable: str | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Hashable] = "value",
    hue: str | None = None,
    highlight: Hashable | Sequence[Hashable] | None = None,
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw one number of each metric as a bar, with its interval as a whisker.

    For any result with one number per metric. A line shows the chance baseline of accuracies (`baseline` of `corr`).
    Source: Bhandari et al. (2020), Figs. 2, 4 and 5.

    Parameters
    ----------
    {result}
    variable : str, optional
        Variable to draw; default "correlation", "f1", or the first.
    {metric.drawn order}
        "value": the largest on top.
    hue : str, optional
        Another dim whose labels share a row; default the first. Each label of the others has a panel.
    {highlight picture}

    {axes}

    {demo}
    >>> axes = ds.meta.corr("human").meta.plot.bars()
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['judge', 'bertscore', 'rouge', 'perplexity', 'bleu', 'length']
    """
    variable = _of_metrics(result, variable)
    further = selection.further_dims(result[variable], "metric", hue=hue)
    hue = further[0] if hue is None and further else hue
    result, left_out = selection.shown(result, variable, metric=metric, order=order, highlight=highlight)
    panels = layout.panels_of(result, [dim for dim in further if dim != hue])
    kinds = chance.kinds_of(result, variable)
    labels = _labels(result[hue]) if hue else []
    legend = [*labels, *kinds.values()]
    n_hues = max(len(labels), 1)
    row = max(0.28, 0.08 + 0.12 * n_hues)
    rows: dict[str, Any] = {"above": 0.3, "panel": 0.75, "row": row, "margins": (0.45, 0.55)}
    axes = layout.row_axes(result["metric"], len(panels), ax, **rows, across=_WIDE, legend=legend, figsize=figsize)
    for axis, (name, panel) in zip(axes, panels, strict=True):
        for at, (drawn, offset) in enumerate(zip(layout.parts_by(panel, hue), layout.offsets(n_hues), strict=True)):
            places = np.arange(result.sizes["metric"]) + offset
            _bars_of(axis, drawn, variable, places, 0.76 / n_hues, at)
            chance.draw(axis, drawn, places, (0.8 if hue else 1.0) / n_hues, kinds)
        axis.axvline(0, color=style.ink(), lw=0.8, zorder=3)
        layout.grid(axis, "x")
        layout.panel_title(axis, name, _WIDE)
        layout.emphasise(axis, result["metric"].values.tolist(), highlight)
    layout.name_axes(axes, captions.variable_label(result, variable))
    items = layout.items_of(labels, marker="s", ls="", ms=8) + chance.items_of(kinds)
    how = captions.how_tested(result) if variable == "pvalue" else ""
    how = wording.how(result) if captions.limits_of(result, variable) else how
    return layout.finished(axes, ax, title=title, items=items, heading=hue or "", notes=[how, left_out])


def _labels(hue: xr.DataArray) -> list[str]:
    """Labels of a legend; those of tasks with their coefficients."""
    if "coefficient" not in hue.coords or hue["coefficient"].dims != hue.dims:
        return captions.texts(hue)
    return [
        f"{label}: {captions.coefficient_label(one)}"
        for label, one in zip(captions.texts(hue), hue["coefficient"].values.tolist(), strict=True)
    ]


def _of_metrics(result: xr.Dataset, variable: str | None) -> str:
    names = [
        str(name) for name in result.data_vars if "metric" in result[name].dims and result[name].dtype.kind in "fiu"
    ]
    if not names:
        raise ValueError("the result has no numbers of metrics: no variable has the dim 'metric'")
    preferred = next((name for name in ("correlation", "f1") if name in names), names[0])
    return preferred if variable is None else str(validate.known("variable", variable, names, "variables"))


def _bars_of(axis: Any, drawn: xr.Dataset, variable: str, rows: Any, height: float, at: int) -> None:
    values = drawn[variable].values
    hatch = "////" if at >= len(style.HUES) else None  # colours repeat
    axis.barh(rows, values, height, color=style.of(at)[0], hatch=hatch, edgecolor=style.ground(), lw=0, zorder=2)
    marks.missing(axis, rows[np.isnan(values)])
    limits = captions.limits_of(drawn, variable)
    if limits is None:
        return
    low, high = (drawn[name].values for name in limits)
    marks.whiskers(axis, rows, low, high)
    cap = max(2.0, min(5.0, 16 * height))
    for ends in (low, high):
        axis.plot(ends, rows, "|", color=style.ink(), ms=cap, mew=1.2, zorder=4)
