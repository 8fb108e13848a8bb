"""Marks that several pictures draw: intervals in rows, what they are compared with, missing values, text in cells."""

from __future__ import annotations

from typing import Any

import numpy as np

from xsumstat.core import extras
from xsumstat.core.types import FloatArray
from xsumstat.plots import layout, style


def intervals(
    axis: Any,
    values: tuple[FloatArray, FloatArray, FloatArray],
    *,
    at: int = 0,
    offset: float = 0.0,
    lw: float = 1.8,
    ms: float = 5,
) -> None:
    """Values with their lower and upper limits, in the style of label `at` of a legend."""
    (value, low, high), (color, marker) = values, style.of(at)
    rows = np.arange(len(value)) + offset
    axis.hlines(rows, low, high, color=color, lw=lw, zorder=3)
    axis.plot(value, rows, marker, ms=ms, color=color, zorder=4)
    layout.grid(axis, "x")


def in_cell(axis: Any, column: float, row: float, text: str, area: Any, **look: Any) -> None:
    """Text in the middle of a cell, readable on its colour."""
    look |= {"ha": "center", "va": "center", "color": style.words_on(area), **style.PLAIN}
    axis.text(column, row, text, **look)


def reference(axis: Any, value: float, low: float, high: float) -> None:
    """A dashed line over its interval, which rows are compared with."""
    if np.isfinite(low):
        axis.axvspan(low, high, color=style.grey(), alpha=0.35, lw=0, zorder=0)
    axis.axvline(value, color=style.ZERO_LINE, lw=1, ls="--", zorder=1)


def missing(axis: Any, rows: Any) -> None:
    """Words in each row of bars that has no value."""
    for row in rows:
        axis.annotate(
            "no value", (0, row), xytext=(4, 0), textcoords="offset points", va="center", fontsize=style.SMALL,
            color=style.muted(), **style.PLAIN,
        )  # fmt: skip


def whiskers(axis: Any, rows: Any, low: Any, high: Any) -> None:
    """Intervals of bars, with a rim that is seen on the bars and beyond them."""
    effects: Any = extras.optional("matplotlib.patheffects", "plot")
    rim = [effects.withStroke(linewidth=2.8, foreground=style.ground())]
    axis.hlines(rows, low, high, color=style.ink(), lw=1.2, zorder=4, path_effects=rim)
