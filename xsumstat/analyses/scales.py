"""Whether a judge's scores are on the scale of the raters."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.dataset import checks

WAY_OUT = "scale='calibrated' gives them the distribution of the ratings"


def elsewhere(score: xr.DataArray, ratings: xr.DataArray) -> xr.DataArray:
    """Which judges (metric) give scores on another scale than the ratings; documentation, page "computed"."""
    cells = [dim for dim in score.dims if dim != "metric"]
    low, high = float(ratings.min()), float(ratings.max())
    least, most = score.min(cells), score.max(cells)
    outside = (least < low - 0.1 * (high - low)) | (most > high + 0.1 * (high - low))
    shared = np.minimum(most, high) - np.maximum(least, low)
    apart = outside & (shared < 0.5 * np.maximum(most - least, high - low))
    reach = np.maximum(low - least, most - high)
    beyond = ((score % 1 == 0) | score.isnull()).all(cells) & (reach >= 0.5 * (high - low)) & (high > low)
    given = np.unique(ratings.values[~np.isnan(ratings.values)])
    unknown = (~score.isin(given) & score.notnull()).any(cells)
    shares = (least >= 0) & (most <= 1) & unknown & ((low < 0) | (high > 1))
    usual = float(ratings.quantile(0.95))  # one huge rating makes no scale
    low_only = (most > least) & (least >= low) & (most <= low + 0.2 * (usual - low))
    return apart | beyond | shares | low_only


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
