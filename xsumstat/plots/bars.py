"""Bars: one number of each metric, with its interval."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xsumstat.core import extras, validate
from xsumstat.dataset import wording
from xsumstat.plots import chance
from xsumstat.plots.parts import (
    PLAIN,
    axes_for,
    check_not_empty,
    coefficient_label,
    emphasise,
    faint,
    finished,
    grid_of,
    ground,
    how_tested,
    ink,
    label_width,
    legend_height,
    limits_of,
    muted,
    on_its_ground,
    panel_title,
    panels_of,
    shown,
    style_of,
    texts,
    variable_label,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDE = 3.6  # inches of a panel


@validate.public
@on_its_ground
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
    check_not_empty(result[variable])
    further = [str(dim) for dim in result[variable].dims if dim != "metric"]
    if hue is not None:
        validate.known("hue", hue, further, "additional dims")
    hue = further[0] if hue is None and further else hue
    result, left_out = shown(result, variable, metric=metric, order=order, highlight=highlight)
    check_not_empty(result[variable])
    panels = panels_of(result, [dim for dim in further if dim != hue])
    kinds = chance.kinds_of(result, variable)
    n, labels = result.sizes["metric"], _labels(result[hue]) if hue else [""]
    across, down = grid_of(len(panels))
    wide, row = label_width(result["metric"]) + _WIDE * across, max(0.28, 0.08 + 0.12 * len(labels))
    below = 0.3 + legend_height([*(labels if hue else []), *kinds.values()], wide)
    axes = axes_for(len(panels), (wide, below + (0.75 + row * n) * down), ax, sharex=True, figsize=figsize)
    for axis, (name, panel) in zip(axes, panels, strict=True):
        for at in range(len(labels)):
            rows = np.arange(n) + (at - (len(labels) - 1) / 2) * 0.8 / len(labels)
            drawn = panel.isel({hue: at}) if hue else panel
            _bars_of(axis, drawn, variable, rows, 0.76 / len(labels), at)
            chance.draw(axis, drawn, rows, (0.8 if hue else 1.0) / len(labels), kinds)
        axis.axvline(0, color=ink(), lw=0.8, zorder=3)
        axis.grid(axis="x", color=faint(), lw=0.7, zorder=0)
        panel_title(axis, name, _WIDE)
    for axis in axes[-across:]:
        axis.set_xlabel(variable_label(result, variable), fontsize=9.5, **PLAIN)
    axes[0].set_yticks(range(n), texts(result["metric"]), **PLAIN)
    axes[0].set_ylim(n - 0.45, -0.55)
    for axis in axes:
        emphasise(axis, result["metric"].values.tolist(), highlight)
    items: list[tuple[str, Mapping[str, Any]]] = [
        (label, {"color": style_of(at)[0], "marker": "s", "ls": "", "ms": 8}) for at, label in enumerate(labels) if hue
    ]
    items += chance.items_of(kinds)
    how = wording.how(result) if limits_of(result, variable) else how_tested(result) if variable == "pvalue" else ""
    return finished(axes, ax, title=title, items=items, heading=hue or "", notes=[how, left_out])


def _labels(hue: xr.DataArray) -> list[str]:
    """Labels of a legend; those of tasks with their coefficients."""
    if "coefficient" not in hue.coords or hue["coefficient"].dims != hue.dims:
        return texts(hue)
    return [
        f"{label}: {coefficient_label(one)}"
        for label, one in zip(texts(hue), hue["coefficient"].values.tolist(), strict=True)
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
    axis.barh(rows, values, height, color=style_of(at)[0], zorder=2)
    for row in rows[np.isnan(values)]:
        axis.annotate(
            "no value", (0, row), xytext=(4, 0), textcoords="offset points", va="center", fontsize=7, color=muted(),
            **PLAIN,
        )  # fmt: skip
    limits = limits_of(drawn, variable)
    if limits is None:
        return
    effects = extras.optional("matplotlib.patheffects", "plot")
    rim = [effects.withStroke(linewidth=2.8, foreground=ground())]  # seen on the bar and beyond it
    low, high = (drawn[name].values for name in limits)
    axis.hlines(rows, low, high, color=ink(), lw=1.2, zorder=4, path_effects=rim)
    cap = max(2.0, min(5.0, 16 * height))
    for ends in (low, high):
        axis.plot(ends, rows, "|", color=ink(), ms=cap, mew=1.2, zorder=4)
