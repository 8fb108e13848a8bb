"""Whether a judge's scores are on the scale of the raters."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.core.types import BoolArray, FloatArray
from xsumstat.dataset import checks, scale_checks

WAY_OUT = "scale='calibrated' gives them the distribution of the ratings"

_ROUNDING = 1e-6  # of the raters' range: a score so near to a grade is this grade
_NO_GRADE = 9  # times the highest grade
_BEYOND_VERDICTS = 3  # the highest grade from which on scores from 0 to 1 are verdicts, or shares, and no low grades


def elsewhere(score: xr.DataArray, ratings: xr.DataArray) -> xr.DataArray:
    """Which judges (metric) give scores on another scale than the ratings; documentation, page "computed"."""
    each = score.transpose("metric", ...).values.reshape(score.sizes["metric"], -1)
    known = ratings.values[~np.isnan(ratings.values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (np.nan, np.nan)
    least, most = np.fmin.reduce(each, axis=1), np.fmax.reduce(each, axis=1)
    outside = (least < low - 0.1 * (high - low)) | (most > high + 0.1 * (high - low))
    shared = np.minimum(most, high) - np.maximum(least, low)
    apart = outside & (shared < 0.5 * np.maximum(most - least, high - low))
    reach = np.maximum(low - least, most - high)
    there = ~np.isnan(each)
    beyond = ((each % 1 == 0) | ~there).all(axis=1) & (reach >= 0.5 * (high - low)) & (high > low)
    unknown = (~np.isin(each, known) & there).any(axis=1)
    verdicts = (most > least) & (high >= _BEYOND_VERDICTS)
    shares = (least >= 0) & (most <= 1) & (unknown & ((low < 0) | (high > 1)) | verdicts)
    usual = float(np.quantile(known, 0.95)) if known.size else np.nan  # one huge rating makes no scale
    low_only = (most > least) & (least >= low) & (most <= low + 0.2 * (usual - low))
    coded = [_has_codes(one, np.unique(known)) for one in each]
    return _by_metric((apart | beyond | shares | low_only) & ~np.array(coded, dtype=bool), score)


def between_grades(score: xr.DataArray, ratings: xr.DataArray) -> xr.DataArray:
    """Which judges (metric) mostly give scores that no rater gives, where ratings are grades: probabilities of a pass.

    Raters who give the same grade are then always nearer to each other than the judge is.
    """
    grades = np.unique(ratings.values[~np.isnan(ratings.values)])
    each = score.transpose("metric", ...).values.reshape(score.sizes["metric"], -1)
    if not 1 < len(grades) <= scale_checks.MOST_GRADES:
        return _by_metric(np.zeros(len(each), dtype=bool), score)
    nearest = np.abs(each[..., None] - grades).min(axis=-1)  # NaN is not far
    unknown = (nearest > _ROUNDING * np.ptp(grades)).sum(axis=1)
    return _by_metric(unknown > 0.5 * (~np.isnan(each)).sum(axis=1), score)


def _by_metric(found: BoolArray, score: xr.DataArray) -> xr.DataArray:
    return xr.DataArray(found, {"metric": score["metric"]} if "metric" in score.coords else None, ("metric",))


def _has_codes(score: FloatArray, grades: FloatArray) -> bool:
    """Whether a judge gives grades except for codes that are none in any scale like theirs, as -1 or 99."""
    found = scale_checks.codes(score, grades)
    return bool(found) and all(value < 0 < grades.min() or value > _NO_GRADE * grades.max() for value in found)


def warn(score: xr.DataArray, ratings: xr.DataArray, other: xr.DataArray) -> None:
    """Say which judges get no verdict, as `other` says, and which others leave the range of the ratings."""
    low, high = float(ratings.min()), float(ratings.max())
    reach = 0.1 * (high - low)
    outside = ((score < low - reach) | (score > high + reach)).any([dim for dim in score.dims if dim != "metric"])
    checks.warn_where(
        outside & ~other,
        f"scores outside the range of the ratings, {low:g} to {high:g}, which are compared as they are ({WAY_OUT}), "
        "of metric",
        "other_scale",
    )
    if bool(other.any()):
        names = validate.listing(score["metric"].values[other.values].tolist())
        validate.warn(
            f"no verdict on {names}: the ratings go from {low:g} to {high:g}, and these scores are on another scale; "
            f"{WAY_OUT}",
            "no_verdict",
        )
