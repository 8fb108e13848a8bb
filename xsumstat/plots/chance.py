"""What metrics that tell nothing reach: lines across pictures of correlations."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from xsumstat.plots.parts import bounds_of, ink

_STROKES: dict[str, Any] = {"constant": (0, (1, 1.4)), "random": (0, (5, 1.6, 1, 1.6))}
_WIDTH = 1.3


def kinds_of(result: xr.Dataset, variable: str = "correlation") -> dict[str, str]:
    """The labels of `chance` that are drawn, with their words: those above the least value, and of equal ones one."""
    if variable != "correlation" or not {"baseline", "correlation"} <= set(result.data_vars):
        return {}
    least = bounds_of(result, "correlation")[0]
    above = [kind for kind in _STROKES if bool((result["baseline"].sel(chance=kind) > least).any())]
    if len(above) == 2:
        one, other = (result["baseline"].sel(chance=kind).values for kind in above)
        if np.allclose(one, other, equal_nan=True):
            return {"constant": f"constant or random metric{_value(one)}"}
    return {kind: f"{kind} metric{_value(result['baseline'].sel(chance=kind).values)}" for kind in above}


def _value(values: Any) -> str:
    """The value as words say it, where all are one."""
    known = values[~np.isnan(values)]
    return f", {known.flat[0]:.2f}" if np.ptp(known) < 0.005 else ""


def draw(axis: Any, drawn: xr.Dataset, rows: Any, height: float, kinds: dict[str, str]) -> None:
    """A piece of a line across each row of metrics, which are one line where the rows share a value."""
    for kind in kinds:
        values = np.atleast_1d(drawn["baseline"].sel(chance=kind).values)
        at = np.asarray(rows, dtype=float)
        axis.vlines(
            values, at - height / 2, at + height / 2, color=ink(), lw=_WIDTH, ls=_STROKES[kind], zorder=3.5
        )  # fmt: skip


def items_of(kinds: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    """Their rows of the legend."""
    return [(words, {"color": ink(), "ls": _STROKES[kind], "lw": _WIDTH}) for kind, words in kinds.items()]
