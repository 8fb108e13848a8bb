"""Names beside points, moved apart so that none lies on another."""

from __future__ import annotations

from typing import Any

import numpy as np

from xsumstat import _validate
from xsumstat.plots.parts import PLAIN, ink, muted, shortened
from xsumstat.types import FloatArray

_ROUNDS = 400  # a number, not a time, so that a picture is always the same
_SIZE = 8.0


def name_points(axis: Any, x: FloatArray, y: FloatArray, names: list[str]) -> None:
    """Write a name beside each point of finished axes; a thin line leads to one that had to move away."""
    adjust: Any = _validate.optional("adjustText", "plot")
    there = np.flatnonzero(~np.isnan(x + y))
    if not len(there):
        return
    words = [
        axis.text(x[at], y[at], shortened(names[int(at)]), fontsize=_SIZE, color=ink(), zorder=5, **PLAIN)
        for at in there
    ]
    axis.figure.draw_without_rendering()  # what words take, in the axes as they will be
    adjust.adjust_text(
        words, x=x[there], y=y[there], ax=axis, iter_lim=_ROUNDS, expand=(1.12, 1.3), min_arrow_len=6,
        arrowprops={"arrowstyle": "-", "color": muted(), "lw": 0.6},
    )  # fmt: skip
    for each in words:
        each.set_in_layout(False)
