"""Pictures of simulations: coverage of intervals, power and size of tests."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.dataset import wording
from xsumstat.plots.parts import (
    PLAIN,
    axes_for,
    check_not_empty,
    faint,
    finished,
    grid_of,
    ground,
    ink,
    limits_of,
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

_WORDS = {
    "noise": "noise added (sd of the metric)",
    "n_systems": "systems",
    "n_inputs": "inputs",
}


@validate.public
@on_its_ground
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
    result, left_out = _selected(result, "coverage", metric, order)
    axes, items = _drawn(result, "coverage", x, "interval", result.attrs.get("confidence_level"), figsize, ax)
    notes = [wording.how(result), _trials(result), left_out]
    return finished(axes, ax, title=title, items=items, heading="interval" if len(items) > 1 else "", notes=notes)


@validate.public
@on_its_ground
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
    result, left_out = _selected(result, name, metric, order)
    alpha = result.attrs.get("alpha")
    axes, items = _drawn(result, name, x, "test", alpha if name == "type_i_error" else None, figsize, ax)
    tested = "" if alpha is None else f"tests at {float(alpha):.2g}"
    notes = [tested, wording.how(result), _trials(result), left_out]
    return finished(axes, ax, title=title, items=items, heading="test" if len(items) > 1 else "", notes=notes)


def _selected(result: xr.Dataset, name: str, metric: Any, order: Any) -> tuple[xr.Dataset, str]:
    check_not_empty(result[name])
    result, left_out = shown(result, name, metric=metric, order=order)
    check_not_empty(result[name])
    return result, left_out


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
    panels = panels_of(result, [dim for dim in dims if dim not in (x, hue)])
    if "other_metric" in dims:  # a metric has no difference from itself
        panels = [each for each in panels if bool(each[1][name].notnull().any())] or panels[:1]
    if len(panels) == 1:
        panels = [("", panels[0][1])]
    across, down = grid_of(len(panels))
    axes = axes_for(len(panels), (0.8 + 3.0 * across, 1.1 + 2.6 * down), ax, sharex=True, figsize=figsize)
    labels, ticks = texts(result[hue]) if lines else [], texts(result[x])
    crowded = sum(len(each) + 2 for each in ticks) > 40
    turned: dict[str, Any] = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
    for axis, (title, panel) in zip(axes, panels, strict=True):
        if wanted is not None:
            axis.axhline(wanted, color=ink(), lw=0.9, ls=(0, (4, 3)), zorder=1)
        for at in range(max(1, len(labels))):
            _line(axis, panel.isel({hue: at}) if lines else panel, name, at, len(labels))
        axis.set_xticks(range(result.sizes[x]), ticks, **turned, **PLAIN)
        axis.set_xlim(-0.5, result.sizes[x] - 0.5)
        axis.set_xlabel(_WORDS.get(x, x.replace("_", " ")), fontsize=9.5, **PLAIN)
        panel_title(axis, title, 3.0)
        axis.grid(axis="y", color=faint(), lw=0.7)
        axis.set_axisbelow(True)
    axes[0].set_ylim(*_range(result, name, wanted))
    for axis in axes[::across]:
        axis.set_ylabel(f"{variable_label(result, name)} (share of trials)", fontsize=9.5, **PLAIN)
    items: list[tuple[str, dict[str, Any]]] = []
    if lines:
        styles = [
            {"color": color, "marker": marker, "lw": 1.6, "ms": 5}
            for color, marker in map(style_of, range(len(labels)))
        ]
        items += zip(labels, styles, strict=True)
    if wanted is not None:
        items.append((f"as it should be: {wanted:.2g}", {"color": ink(), "lw": 0.9, "ls": (0, (4, 3))}))
    return axes, items


def _line(axis: Any, panel: xr.Dataset, name: str, at: int, n_lines: int) -> None:
    """A line with error bars, or points for a single hue; lines are slightly shifted."""
    share, limits = panel[name].values, limits_of(panel, name)
    error = [2 * panel["mc_error"].values] * 2
    if limits:
        low, high = (panel[limit].values for limit in limits)
        error = [np.fmax(share - low, 0), np.fmax(high - share, 0)]
    color, marker = style_of(at)
    places = np.arange(len(share)) + (at - (n_lines - 1) / 2) * 0.06 * (n_lines > 1)
    line = "-" if n_lines else "none"
    axis.errorbar(
        places, share, error, color=color, marker=marker, ms=5, mec=ground(), mew=0.6, lw=1.4, ls=line, elinewidth=1,
        zorder=3,
    )  # fmt: skip


def _range(result: xr.Dataset, name: str, wanted: float | None) -> tuple[float, float]:
    """From 0 to 1, or less for high coverage or small errors."""
    limits = limits_of(result, name)
    low, high = (
        (result[limit] for limit in limits) if limits else (result[name] + by * result["mc_error"] for by in (-3, 3))
    )
    if name == "type_i_error":
        largest = float(np.nanmax(high.values, initial=wanted or 0.0))
        return (-0.02, 1.03) if largest > 0.5 else (-0.03 * largest, 1.15 * largest)
    least = float(np.nanmin(low.values, initial=1.0 if wanted is None else wanted)) if name == "coverage" else 0.0
    return max(0.0, math.floor(20 * least) / 20) - 0.02, 1.02
