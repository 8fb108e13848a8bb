"""Raters unlike the others, on whom every comparison with the raters rests: for the weak points of a judge report."""

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np
import xarray as xr

from xsumstat.core import levels, validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import wording

# A range so many times as wide as that of the others is another scale; a grade for such a share of the outputs is
# nearly the only one; agreement below this share of the others', and so much lower, is little.
_WIDER, _NEARLY_ALL, _LITTLE, _LESS = 3.0, 0.9, 0.5, 0.2
# The difference must be this many standard errors of a correlation of 0 on the outputs that the rater shares.
_ERRORS = 3.0
# Of fewer prompts than these, and than this share of another rater's, a rater's agreement says little.
_FEW, _SHARE = 10, 0.2


def told(ratings: xr.DataArray, ceiling: xr.Dataset | None) -> list[str]:
    """What sets single raters apart: a scale, one grade, few prompts, or agreement far below that of the others."""
    values = ratings.transpose("rater", ...).values.reshape(ratings.sizes["rater"], -1)
    if "rater" not in ratings.coords:
        ratings = ratings.assign_coords(rater=np.arange(1, len(values) + 1))
    names = ratings["rater"].values.tolist()
    known = [name for name, each in zip(names, values, strict=True) if not np.isnan(each).all()]
    rated = {name: each[~np.isnan(each)] for name, each in zip(names, values, strict=True) if name in known}
    if len(rated) < 2:
        return []
    said = {name: text for name in rated if (text := _scale(rated, name) or _one_grade(rated, name))}
    said |= {name: text for name, text in _few(ratings, known).items() if name not in said}
    said |= {name: text for name, text in _alone(ratings, ceiling).items() if name not in said}
    return [f"{wording.name(name) if isinstance(name, str) else f'rater {name}'} {text}" for name, text in said.items()]


def _scale(rated: dict[Hashable, FloatArray], name: Hashable) -> str:
    own, others = rated[name], np.concatenate([each for other, each in rated.items() if other != name])
    if np.ptp(own) <= _WIDER * np.ptp(others) or np.ptp(others) == 0:
        return ""
    return (
        f"rates from {own.min():g} to {own.max():g}, the others from {others.min():g} to {others.max():g}: means are "
        "mostly those of this rater"
    )


def _one_grade(rated: dict[Hashable, FloatArray], name: Hashable) -> str:
    shares = {each: np.unique(values, return_counts=True)[1].max() / len(values) for each, values in rated.items()}
    others = max(share for each, share in shares.items() if each != name)
    if shares[name] < _NEARLY_ALL or others >= _NEARLY_ALL or len(rated[name]) < _FEW:
        return ""
    return f"gives one grade to {100 * shares[name]:.0f} % of the outputs"


def _few(ratings: xr.DataArray, names: list[Hashable]) -> dict[Hashable, str]:
    if "input" not in ratings.dims:
        return {}
    counts = ratings.notnull().any([dim for dim in ratings.dims if dim not in ("rater", "input")]).sum("input")
    most = int(counts.max())
    numbers = {name: int(counts.sel(rater=name)) for name in names}
    return {
        name: f"rated only {validate.counted(n, 'prompt')}, and counts as much as others in the agreement of a rater"
        for name, n in numbers.items()
        if n < min(_FEW, _SHARE * most)
    }


def _alone(ratings: xr.DataArray, ceiling: xr.Dataset | None) -> dict[Hashable, str]:
    """Raters who agree with the others far less than these do with each other, beyond chance."""
    if (
        ceiling is None
        or "by_rater" not in ceiling
        or "rater" not in ceiling.coords
        or set(ceiling["by_rater"].dims) != {"metric", "rater"}
    ):
        return {}
    own = ceiling["by_rater"].sel(metric="rater").to_series().dropna()
    level, found = str(ceiling.attrs.get("level")), {}
    for name, r in own.items() if len(own) > 2 else ():
        usual = float(own.drop(name).median())
        if r < _LITTLE * usual and r < usual - max(_LESS, _ERRORS * _error_at_0(ratings, name, level)):
            found[name] = (
                f"agrees little with the other raters ({wording.number(r)}; the others {wording.number(usual)})"
            )
    return found


def _error_at_0(ratings: xr.DataArray, name: Hashable, level: str) -> float:
    """Standard error of a rater's agreement on the outputs with another rating, if it were 0."""
    there = ratings.notnull()
    shared = there.sel(rater=name) & (there.sum("rater") > 1)
    if level == "system":
        shared = shared.any([dim for dim in shared.dims if dim != "system"])
    n = shared.sum([dim for dim in shared.dims if dim != levels.GROUPS.get(level)]).values
    n = n[n > 1]
    return float(np.sqrt((1 / (n - 1)).sum()) / n.size) if n.size else math.inf
