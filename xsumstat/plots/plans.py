"""Pictures of plans: contours or lines of width or power over designs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.plots import captions, layout, selection, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_AXES = ("n_inputs", "n_systems")
_WORDS = {"n_systems": "systems", "n_inputs": "inputs", "n_raters": "ratings of each output", "budget": "budget",
          "n_judged": "judged inputs", "difference": "difference"}  # fmt: skip
# What designs with costs vary in, the axis first.
_VARIED = ("n_raters", "budget", "n_systems", "n_judged", "difference")
_WIDE, _HIGH = 3.2, 2.7
_WIDTHS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0, 1.5)
_POWERS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95)


@validate.public
@style.on_its_ground
def plan(
    result: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Hashable] = "given",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw `plan`: widths of intervals or power of tests over numbers of inputs and systems, or costs.

    Parameters
    ----------
    result : Dataset
        Result of `plan` with several designs.
    {metric.drawn}
        A panel each.
    {order.given}
        "value": by mean value, the largest first.
    {picture}

    {axes}

    Notes
    -----
    Both axes are logarithmic. The target's contour is thick; open circles were simulated. With one number of systems,
    or for differences of two systems, lines over the number of inputs are drawn. With costs, points show each number of
    raters (or budget, or systems) with limits and rated inputs; the best design is ringed.

    Examples
    --------
    >>> import xsumstat
    >>> found = xsumstat.plan(xsumstat.simulate(agreement={"judge": 0.8}, truth=False, rng=1), target=0.2)
    >>> found.meta.plot.plan().get_xlabel()
    'inputs'
    """
    if "rated_inputs" in result:
        return _priced(result, metric=metric, order=order, figsize=figsize, title=title, ax=ax)
    name = next((each for each in ("width", "power") if each in result), None)
    if name is None or not set(_AXES) & set(result[name].dims):
        raise ValueError("the result is no plan of several designs; this draws what plan gives")
    result, left_out = selection.shown(result, name, metric=metric, order=order)
    contours = all(result[name].sizes.get(dim, 1) > 1 for dim in _AXES)
    x = "n_inputs" if result[name].sizes.get("n_inputs", 1) > 1 else "n_systems"
    x = x if x in result[name].dims else next(dim for dim in _AXES if dim in result[name].dims)
    hue = next((dim for dim in ("difference", *_AXES) if result[name].sizes.get(dim, 1) > 1 and dim != x), None)
    result = result.squeeze([dim for dim in _AXES if result[name].sizes.get(dim) == 1], drop=True)
    kept = set(_AXES) if contours else {x, hue}
    panels = layout.panels_of(result, [str(dim) for dim in result[name].dims if dim not in kept])
    panels = selection.without_empty(panels, name) if "other_metric" in result.dims else panels
    across, down = layout.grid_of(len(panels))
    axes = layout.axes_for(len(panels), (0.8 + _WIDE * across, 0.9 + _HIGH * down), ax, sharex=True, figsize=figsize)
    for axis, (words, panel) in zip(axes, panels, strict=True):
        axis.set(xscale="log", yscale="log" if contours else "linear")
        if contours:
            _contours(axis, panel, name)
        else:
            _lines(axis, panel, name, x, hue)
        _ticks(axis.xaxis, result[x].values)
        axis.set_xlabel(_WORDS[x], fontsize=9.5, **style.PLAIN)
        layout.panel_title(axis, words, _WIDE)
    layout.name_axes(axes, y="systems" if contours else captions.variable_label(result, name))
    hue = None if contours else hue
    items = [] if hue is None else layout.items_of(captions.texts(result[hue]), lw=1.6, ms=5)
    heading, notes = _WORDS.get(hue, hue) if hue else "", [*_notes(result, name, contours), left_out]
    return layout.finished(axes, ax, title=title, items=items, heading=heading, notes=notes)


def _priced(
    result: xr.Dataset, *, metric: Any, order: Any, figsize: tuple[float, float] | None, title: str | None, ax: Any
) -> Any:
    """Widths, powers or costs of the designs within a budget."""
    name = "cost" if "target" in result.attrs else "width" if "width" in result else "power"
    varied = [dim for dim in _VARIED if result.sizes.get(dim, 1) > 1]
    if not varied:
        raise ValueError("the result has one design; this draws several, as n_raters=[1, 2, 3] gives")
    result, left_out = selection.shown(result, name, metric=metric, order=order)
    x, hue = varied[0], varied[1] if len(varied) > 1 else None
    result = result.squeeze([dim for dim in _VARIED if result.sizes.get(dim) == 1], drop=True)
    panels = layout.panels_of(result, [str(dim) for dim in result[name].dims if dim not in (x, hue)])
    across, down = layout.grid_of(len(panels))
    axes = layout.axes_for(len(panels), (0.8 + _WIDE * across, 0.9 + _HIGH * down), ax, sharex=True, figsize=figsize)
    for axis, (words, panel) in zip(axes, panels, strict=True):
        _points(axis, panel, name, x, hue)
        axis.set_xlabel(_WORDS[x], fontsize=9.5, **style.PLAIN)
        layout.panel_title(axis, words, _WIDE)
    layout.name_axes(axes, y=captions.variable_label(result, name))
    items = layout.items_of(_thousands(result[hue].values), lw=1.6, ms=5) if hue else []
    notes = [*_notes(result, name, False), "numbers: rated inputs", "ring: the best design", left_out]
    return layout.finished(axes, ax, title=title, items=items, heading=_WORDS[hue] if hue else "", notes=notes)


def _points(axis: Any, panel: xr.Dataset, name: str, x: str, hue: str | None) -> None:
    hues = layout.parts_by(panel, hue)
    for at, (one, offset) in enumerate(zip(hues, layout.offsets(len(hues), 0.5), strict=True)):
        place = np.arange(one.sizes[x]) + offset
        value, (color, marker) = one[name].values, style.of(at)
        axis.plot(place, value, color=color, marker=marker, ms=5, mec=style.ground(), mew=0.6, lw=1.2, zorder=3)
        top = value
        if f"{name}_low" in one:
            low, high = one[f"{name}_low"].values, one[f"{name}_high"].values
            axis.vlines(place, low, high, color=color, lw=1.4, zorder=2)
            top = np.fmax(value, high)
        best = one["best"].values
        axis.plot(place[best], value[best], "o", ms=11, mfc="none", mec=style.ink(), mew=1.1, ls="", zorder=4)
        for where, height, inputs in zip(place, top, one["rated_inputs"].values, strict=True):
            if np.isfinite(height):
                axis.annotate(f"{inputs:,}", (where, height), (0, 7), textcoords="offset points", ha="center",
                              fontsize=7.5, color=style.ink())  # fmt: skip
    axis.set_xticks(np.arange(panel.sizes[x]), _thousands(panel[x].values))
    axis.margins(x=0.12, y=0.2)
    axis.set_ylim(bottom=0)
    layout.grid(axis, "y")


def _thousands(values: Any) -> list[str]:
    return [f"{each:,g}" for each in values.tolist()]


def _notes(result: xr.Dataset, name: str, contours: bool) -> list[str]:
    attrs = result.attrs
    target = f"target {float(attrs['target']):.2g}" if "target" in attrs else ""
    lines = f"contours: {captions.variable_label(result, name)}" if contours else ""
    of_widths = "confidence_level" in attrs and "power" not in result
    level = f"{100 * float(attrs['confidence_level']):.4g} % intervals" if of_widths else ""
    tested = f"tests at {float(attrs['alpha']):.2g}" if "alpha" in attrs else ""
    drawn = "simulated" in result and bool(result["simulated"].any())
    simulated = "open circles: simulated" if drawn else ""
    trials = f"{int(attrs['n_trials']):,} trials" if "n_trials" in attrs and (name == "power" or drawn) else ""
    return [lines, level, tested, target, simulated, trials]


def _contours(axis: Any, panel: xr.Dataset, name: str) -> None:
    values = panel[name].transpose("n_systems", "n_inputs").values
    x, y = panel["n_inputs"].values, panel["n_systems"].values
    target = panel.attrs.get("target")
    levels = [
        each for each in (_WIDTHS if name == "width" else _POWERS) if np.nanmin(values) < each < np.nanmax(values)
    ]
    levels = sorted({*levels, *([float(target)] if target is not None else [])})
    widths = [2.6 if target is not None and level == float(target) else 1.1 for level in levels]
    axis.set_xlim(x.min(), x.max())
    axis.set_ylim(y.min(), y.max())
    if levels:
        drawn = axis.contour(x, y, values, levels=levels, colors=[style.of(0)[0]], linewidths=widths)
        for text in axis.clabel(drawn, fontsize=8, fmt=lambda level: f"{level:.2g}", colors=style.ink()):
            text.set_in_layout(False)
    if "simulated" in panel and bool(panel["simulated"].any()):
        rows, columns = np.nonzero(panel["simulated"].transpose("n_systems", "n_inputs").values)
        open_circles: dict[str, Any] = {"ms": 3.5, "mfc": style.ground(), "mec": style.ink(), "mew": 0.7, "ls": ""}
        axis.plot(x[columns], y[rows], "o", zorder=3, clip_on=False, **open_circles)
    _ticks(axis.yaxis, y)
    layout.grid(axis)


def _lines(axis: Any, panel: xr.Dataset, name: str, x: str, hue: str | None) -> None:
    for at, one in enumerate(layout.parts_by(panel, hue)):
        color, marker = style.of(at)
        rim: dict[str, Any] = {"mec": style.ground(), "mew": 0.6}
        axis.plot(one[x].values, one[name].values, color=color, marker=marker, ms=5, lw=1.4, zorder=3, **rim)
        if {"ci_low", "ci_high"} <= set(one.data_vars):
            axis.fill_between(one[x].values, one["ci_low"].values, one["ci_high"].values, color=color, alpha=0.2, lw=0)
    if "target" in panel.attrs:
        axis.axhline(float(panel.attrs["target"]), color=style.ink(), lw=0.9, ls=style.DASHED, zorder=1)
    if name == "power":
        axis.set_ylim(-0.02, 1.02)
    else:
        axis.set_ylim(bottom=0)
    layout.grid(axis)


def _ticks(axis: Any, values: Any) -> None:
    axis.set_ticks(values, [f"{each:,}" for each in values.tolist()])
    axis.set_ticks([], minor=True)
