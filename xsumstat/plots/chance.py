"""Lines of the chance baseline in pictures of correlations."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from xsumstat.plots import captions, style

# Of the variables that are drawn.
_STROKES: dict[str, Any] = {"baseline_constant": (0, (1, 1.4)), "baseline": (0, (5, 1.6, 1, 1.6))}
_CALLED = {"baseline_constant": "constant metric", "baseline": "random metric"}
_WIDTH = 1.3


def kinds_of(result: xr.Dataset, variable: str = "correlation") -> dict[str, str]:
    """Baselines to draw, with their words: those above the least value, equal ones once."""
    if variable != "correlation" or not {*_STROKES, "correlation"} <= set(result.data_vars):
        return {}
    least = captions.bounds_of(result, "correlation")[0]
    above = [kind for kind in _STROKES if bool((result[kind] > least).any())]
    both = [result[kind].values for kind in above]
    if len(both) == 2 and np.allclose(both[0], both[1], equal_nan=True):
        return {"baseline": f"constant or random metric{_value(result['baseline'].values)}"}
    return {kind: f"{_CALLED[kind]}{_value(result[kind].values)}" for kind in above}


def _value(values: Any) -> str:
    """The value in words, where all are equal."""
    known = values[~np.isnan(values)]
    return f", {known.flat[0]:.2f}" if np.ptp(known) < 0.005 else ""


def draw(axis: Any, drawn: xr.Dataset, rows: Any, height: float, kinds: dict[str, str]) -> None:
    """A piece of line across each row of metrics, joined where the rows share a value."""
    at = np.asarray(rows, dtype=float)
    for kind in kinds:
        values, how = np.atleast_1d(drawn[kind].values), {"color": style.ink(), "lw": _WIDTH, "ls": _STROKES[kind]}
        axis.vlines(values, at - height / 2, at + height / 2, zorder=3.5, **how)


def items_of(kinds: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    """Legend entries of the baselines."""
    return [(words, {"color": style.ink(), "ls": _STROKES[kind], "lw": _WIDTH}) for kind, words in kinds.items()]
