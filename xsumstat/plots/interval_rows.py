"""Panels with a row for each label: its value, and a line from limit to limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from xsumstat.core.types import FloatArray
from xsumstat.plots.parts import PLAIN, axes_for, faint, grid_of, label_width, style_of, texts

INCHES = 3.8  # across a panel


def axes_of(
    labels: xr.DataArray,
    n_panels: int,
    ax: Any,
    *,
    above: float,
    panel: float,
    row: float,
    sharex: bool = True,
    figsize: tuple[float, float] | None = None,
) -> list[Any]:
    """Axes of panels with these labels down the side; heights in inches: above all, of a panel's rest, of a row."""
    across, down = grid_of(n_panels)
    size = (label_width(labels) + INCHES * across, above + (panel + row * labels.size) * down)
    axes = axes_for(n_panels, size, ax, sharex=sharex, figsize=figsize)
    axes[0].set_yticks(range(labels.size), texts(labels), **PLAIN)
    axes[0].set_ylim(labels.size - 0.4, -0.6)
    return axes


def interval_rows(
    axis: Any,
    values: tuple[FloatArray, FloatArray, FloatArray],
    *,
    at: int = 0,
    offset: float = 0.0,
    lw: float = 1.8,
    ms: float = 5,
) -> None:
    """Values with their lower and upper limits, in the style of label `at` of a legend."""
    (value, low, high), (color, marker) = values, style_of(at)
    rows = np.arange(len(value)) + offset
    axis.hlines(rows, low, high, color=color, lw=lw, zorder=3)
    axis.plot(value, rows, marker, ms=ms, color=color, zorder=4)
    axis.grid(axis="x", color=faint(), lw=0.7, zorder=0)
    axis.set_axisbelow(True)
