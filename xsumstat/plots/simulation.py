"""Pictures of simulations: coverage of intervals, power and size of tests."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.dataset import wording
from xsumstat.plots import captions, layout, selection, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WORDS = {
    "noise": "noise added (sd of the metric)",
    "n_systems": "systems",
    "n_inputs": "inputs",
}


@validate.public
@style.on_its_ground
def coverage(
    result: xr.Dataset,
    *,
    x: str | None = None,
    metric: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Hashable] = "given",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw `coverage` with the simulation's 95 % limits, beside the nominal level.

    Source: Deutsch et al. (2021), Table 1.

    Parameters
    ----------
    {result}
    x : str, optional
        Dim along the horizontal axis, a line for each interval; default the first of "n_inputs", "n_systems",
        "interval". Each label of the others has a panel.
    {metric.drawn}
        A panel each.
    {order.given}
        Order of panels of metrics. "value": the largest mean share first.
    {picture}

    {axes}

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.simulate(12, 30, agreement={"judge": 0.8}, rng=1)
    >>> settings = {"intervals": {"fisher": {"method": "fisher"}}, "n_inputs": [10, 30], "n_trials": 20, "rng": 1}
    >>> axes = xsumstat.coverage(ds, truth="population", **settings).meta.plot.coverage()
    >>> [text.get_text() for text in axes.figure.legends[0].get_texts()]
    ['fisher', 'as it should be: 0.95']
    """
    if "coverage" not in result:
        raise ValueError("the result has no coverage; this draws what coverage gives")
    if x is None:
        x = next((dim for dim in ("n_inputs", "n_systems") if dim in result["coverage"].dims), "interval")
    result, left_out = selection.shown(result, "coverage", metric=metric, order=order)
    axes, items = _drawn(result, "coverage", x, "interval", result.attrs.get("confidence_level"), figsize, ax)
    notes = [wording.how(result), _trials(result), left_out]
    return layout.finished(
        axes, ax, title=title, items=items, heading="interval" if len(items) > 1 else "", notes=notes
    )


@validate.public
@style.on_its_ground
def power(
    result: xr.Dataset,
    *,
    x: str | None = None,
    metric: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Hashable] = "given",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw `power`: how often tests find a difference, with the simulation's 95 % limits.

    With ``null=True`` the shares are false positives, beside the significance level. Source: Deutsch et al. (2021),
    Fig. 3.

    Parameters
    ----------
    {result}
    x : str, optional
        Dim along the horizontal axis, a line for each test; default the first of "noise", "n_inputs", "n_systems",
        "test". Each label of the others has a panel.
    {metric.drawn}
        A panel each.
    {order.given}
        Order of panels of metrics. "value": the largest mean share first.
    {picture}

    {axes}

    {demo}
    >>> found = xsumstat.power(ds, "human", metric="judge", n_trials=10, n_resamples=19, rng=1)
    >>> axes = found.meta.plot.power()
    >>> [text.get_text() for text in axes.figure.legends[0].get_texts()]
    ['perm_test', 'boot_test', 'williams']
    """
    name = next((name for name in ("power", "type_i_error") if name in result), None)
    if name is None:
        raise ValueError("the result has no power; this draws what power gives")
    if x is None:
        x = next((dim for dim in ("noise", "n_inputs", "n_systems") if dim in result[name].dims), "test")
    result, left_out = selection.shown(result, name, metric=metric, order=order)
    alpha = result.attrs.get("alpha")
    axes, items = _drawn(result, name, x, "test", alpha if name == "type_i_error" else None, figsize, ax)
    tested = "" if alpha is None else f"tests at {float(alpha):.2g}"
    notes = [tested, wording.how(result), _trials(result), left_out]
    return layout.finished(axes, ax, title=title, items=items, heading="test" if len(items) > 1 else "", notes=notes)


def _trials(result: xr.Dataset) -> str:
    return f"{int(result.attrs['n_trials']):,} trials" if "n_trials" in result.attrs else ""


def _drawn(
    result: xr.Dataset,
    name: str,
    x: str,
    hue: str,
    wanted: float | None,
    figsize: tuple[float, float] | None,
    ax: Any,
) -> tuple[list[Any], list[tuple[str, dict[str, Any]]]]:
    dims = [str(dim) for dim in result[name].dims]
    validate.known("x", x, dims, "dims")
    lines = hue in dims and x != hue
    panels = layout.panels_of(result, [dim for dim in dims if dim not in (x, hue)])
    panels = selection.without_empty(panels, name) if "other_metric" in dims else panels
    if len(panels) == 1:
        panels = [("", panels[0][1])]
    across, down = layout.grid_of(len(panels))
    axes = layout.axes_for(len(panels), (0.8 + 3.0 * across, 1.1 + 2.6 * down), ax, sharex=True, figsize=figsize)
    labels, ticks = captions.texts(result[hue]) if lines else [], captions.texts(result[x])
    crowded = sum(len(each) + 2 for each in ticks) > 40
    turned: dict[str, Any] = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
    for axis, (title, panel) in zip(axes, panels, strict=True):
        if wanted is not None:
            axis.axhline(wanted, color=style.ink(), lw=0.9, ls=style.DASHED, zorder=1)
        for at, part in enumerate(layout.parts_by(panel, hue if lines else None)):
            _line(axis, part, name, at, len(labels))
        axis.set_xticks(range(result.sizes[x]), ticks, **turned, **style.PLAIN)
        axis.set_xlim(-0.5, result.sizes[x] - 0.5)
        axis.set_xlabel(_WORDS.get(x, x.replace("_", " ")), fontsize=9.5, **style.PLAIN)
        layout.panel_title(axis, title, 3.0)
        layout.grid(axis, "y")
    axes[0].set_ylim(*_range(result, name, wanted))
    layout.name_axes(axes, y=f"{captions.variable_label(result, name)} (share of trials)")
    items = layout.items_of(labels, lw=1.6, ms=5)
    if wanted is not None:
        items.append((f"as it should be: {wanted:.2g}", {"color": style.ink(), "lw": 0.9, "ls": style.DASHED}))
    return axes, items


def _line(axis: Any, panel: xr.Dataset, name: str, at: int, n_lines: int) -> None:
    """A line with error bars, or points for a single hue; lines are slightly shifted."""
    share, limits = panel[name].values, captions.limits_of(panel, name)
    error = [2 * panel["mc_error"].values] * 2
    if limits:
        low, high = (panel[limit].values for limit in limits)
        error = [np.fmax(share - low, 0), np.fmax(high - share, 0)]
    color, marker = style.of(at)
    places = np.arange(len(share)) + (at - (n_lines - 1) / 2) * 0.06 * (n_lines > 1)
    line = "-" if n_lines else "none"
    axis.errorbar(
        places, share, error, color=color, marker=marker, ms=5, mec=style.ground(), mew=0.6, lw=1.4, ls=line,
        elinewidth=1, zorder=3,
    )  # fmt: skip


def _range(result: xr.Dataset, name: str, wanted: float | None) -> tuple[float, float]:
    """From 0 to 1, or less for high coverage or small errors."""
    limits = captions.limits_of(result, name)
    low, high = (
        (result[limit] for limit in limits) if limits else (result[name] + by * result["mc_error"] for by in (-3, 3))
    )
    if name == "type_i_error":
        largest = float(np.nanmax(high.values, initial=wanted or 0.0))
        return (-0.02, 1.03) if largest > 0.5 else (-0.03 * largest, 1.15 * largest)
    least = float(np.nanmin(low.values, initial=1.0 if wanted is None else wanted)) if name == "coverage" else 0.0
    return max(0.0, math.floor(20 * least) / 20) - 0.02, 1.02
