"""Score limits (Wilson 1927) of means of ratings with one or two values."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from xsumstat.core.types import BoolArray, FloatArray


def few_valued(z: FloatArray, rated: BoolArray) -> BoolArray:
    """Systems with ratings of one or two values, enough of them that a value repeats, (..., systems)."""
    n = rated.sum(axis=-1)
    distinct = _distinct(z, rated)
    return np.asarray((n >= 2) & (distinct <= 2) & ((n > distinct) | _two_valued(z, rated)))


def _two_valued(z: FloatArray, rated: BoolArray) -> BoolArray:
    flat = (*z.shape[:-2], z.shape[-2] * z.shape[-1])
    distinct = _distinct(z.reshape(flat), rated.reshape(flat))
    return np.asarray((distinct <= 2) & (rated.sum(axis=(-2, -1)) > distinct))[..., None]


def _extremes(z: FloatArray, rated: BoolArray, axis: int | tuple[int, int]) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest rating along some dims; infinite without ratings."""
    low = np.where(rated, z, np.inf).min(axis=axis, initial=np.inf)
    return low, np.where(rated, z, -np.inf).max(axis=axis, initial=-np.inf)


def _distinct(z: FloatArray, rated: BoolArray) -> Any:
    """Number of values along the last dim; 3 means more than 2."""
    low, high = (each[..., None] for each in _extremes(z, rated, -1))
    between = (rated & (z > low) & (z < high)).any(axis=-1)
    two = np.where((low == high)[..., 0], 1, 2)
    return np.where(between, 3, np.where(rated.any(axis=-1), two, 0))


def ends(z: FloatArray, rated: BoolArray, scale: tuple[float, float] | None) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest rating, of the scale or of all ratings, (..., 1)."""
    low, high = (each[..., None] for each in _extremes(z, rated, (-2, -1)))
    if scale is None:
        return low, high
    return np.minimum(low, scale[0]), np.maximum(high, scale[1])


def width(z: FloatArray, rated: BoolArray) -> FloatArray:
    """From the lowest to the highest rating, (...,); 0 without ratings."""
    low, high = ends(z, rated, None)
    return np.where(high > low, high - low, 0.0)[..., 0]


def wilson(share: FloatArray, per_n: npt.ArrayLike, level: float) -> tuple[FloatArray, FloatArray]:
    """Wilson's limits of a share from 1/n; n may be fractional or infinite."""
    from scipy.special import ndtri

    return wilson_about(share, per_n, np.asarray(ndtri(0.5 + level / 2)))


def wilson_about(share: FloatArray, per_n: npt.ArrayLike, quantile: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same from a quantile of the normal distribution, or of t."""
    u = quantile**2 * np.asarray(per_n, dtype=float)
    share = np.clip(share, 0.0, 1.0)
    with np.errstate(invalid="ignore"):
        half = np.sqrt(share * (1 - share) * u + u**2 / 4) / (1 + u)
        middle = (share + u / 2) / (1 + u)
    low, high = np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
    # Rounding alone would keep a limit off the end.
    return np.where(share == 0, 0.0, low), np.where(share == 1, 1.0, high)


def limited(
    numbers: dict[str, FloatArray],
    z: FloatArray,
    rated: BoolArray,
    per_n: FloatArray,
    scale: tuple[float, float] | None,
    level: float,
) -> dict[str, FloatArray]:
    """The numbers of system means, with score limits where a system's ratings have one or two values."""
    # Ratings between the lowest and the highest vary less than 0 and 1 do, so their limits are conservative. `per_n` is
    # 1/n for new inputs.
    from scipy.special import ndtri

    few = few_valued(z, rated)
    low, high = ends(z, rated, scale)
    width = np.where(high > low, high - low, np.nan)
    passes = _two_valued(z, rated) & (low == 0) & (high == 1)
    ratio = numbers["n_effective"] / np.maximum(numbers["n_rated"], 1.0)
    # Ratings without any spread say nothing of how much the metric helps.
    ratio = np.where(_distinct(z, rated) == 1, np.where(ratio > 0, np.minimum(ratio, 1.0), 1.0), ratio)
    ratio = np.where(np.isfinite(ratio) & (ratio > 0), ratio, 1.0)
    # The metric may move a mean off the end that all of a system's ratings have; its limit stays there.
    lowest, highest = _extremes(z, rated, -1)
    at_end = {"ci_low": ((highest == low) & (high > low), low), "ci_high": ((lowest == high) & (high > low), high)}
    changed = dict(numbers)
    changed["n_effective"] = np.where(few, ratio * numbers["n_rated"], numbers["n_effective"])
    for own, prefix in ((per_n / ratio, ""), (per_n, "human_")):
        mean = numbers[f"{prefix}mean"]
        found = wilson((mean - low) / width, own, level)
        exact = few & (own == 0)
        for name, each, farther in (("ci_low", found[0], np.minimum), ("ci_high", found[1], np.maximum)):
            limit = np.where(exact, mean, farther(low + each * width, mean))
            if scale is None:  # of more values the ends may lie farther than the ratings tell
                by_t = numbers[f"{prefix}{name}"]
                outer = np.fmin if name == "ci_low" else np.fmax
                limit = np.where(passes | exact | np.isnan(width), limit, outer(limit, by_t))
            stays, end = at_end[name]
            changed[f"{prefix}{name}"] = np.where(few, np.where(stays, end, limit), numbers[f"{prefix}{name}"])
    half = (changed["ci_high"] - changed["ci_low"]) / 2
    error = half / float(ndtri(0.5 + level / 2))
    changed["standard_error"] = np.where(few, error, numbers["standard_error"])
    return changed
