"""Grades that lie far beyond all others, as 33 among grades from 1 to 5."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.core.types import BoolArray, FloatArray
from xsumstat.dataset import chunking

_ENOUGH = 20  # ratings by which a scale is known
_GRADES = range(3, 12)  # numbers of different values of a scale of grades
_HALF_GRADES = range(3, 22)
_OFTEN = 3  # zeros of one rater alone
_RARE = 100  # at most one in this many ratings is far away


def report(ratings: xr.DataArray) -> None:
    """Warn of rare whole numbers whose distance from all other grades is larger than the range of these."""
    if chunking.is_lazy(ratings):
        return
    values = ratings.values
    scale = _scale(values[~np.isnan(values)])
    if scale is None:
        _report_code(ratings)
        return
    low, high = scale
    places = np.argwhere((values < low) | (values > high))
    labels = zip(ratings.dims, places[0], strict=True)
    first = ", ".join(f"{dim} {ratings.indexes[dim].tolist()[at]!r}" for dim, at in labels if dim in ratings.indexes)
    validate.warn_once(
        f"the human scores are grades from {low:g} to {high:g}, except {values[tuple(places[0])]:g} ({first})"
        f"{f' and {len(places) - 1} more' if len(places) > 1 else ''}: correct it if it is a typing error",
        "far_rating",
    )


def _report_code(ratings: xr.DataArray) -> None:
    """Warn of one negative number, or a 0 by one rater alone, beside grades from 1, however often it is given."""
    values = ratings.values
    grades, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    known = grades[1:]
    if len(known) not in _HALF_GRADES or known[0] < 1 or grades[0] % 1 or not (2 * grades == np.rint(2 * grades)).all():
        return
    by = ratings["rater"].values[_gives(ratings, grades[0])].tolist() if "rater" in ratings.indexes else []
    of_one = len(by) == 1 < ratings.sizes.get("rater", 1) and counts[0] >= _OFTEN
    if grades[0] < 0 or (grades[0] == 0 and of_one):
        whose = f" by {by[0]!r} alone" if len(by) == 1 else ""
        validate.warn_once(
            f"the human scores are grades from {known[0]:g} to {known[-1]:g}, and {grades[0]:g} in "
            f"{validate.counted(int(counts[0]), 'rating')}{whose}: write it as NaN (an empty cell) if it means a "
            "missing one",
            "far_rating",
        )


def _gives(ratings: xr.DataArray, grade: float) -> BoolArray:
    """Which raters give a grade."""
    found: BoolArray = (ratings == grade).any([dim for dim in ratings.dims if dim != "rater"]).values
    return found


def _scale(values: FloatArray) -> tuple[float, float] | None:
    """Lowest and highest grade without values far beyond these; None if there are no such values."""
    if len(values) < _ENOUGH or not (values == np.rint(values)).all():
        return None
    grades, counts = np.unique(values, return_counts=True)
    most = max(1, len(values) // _RARE)
    for distances, own, order in ((np.diff(grades), counts, 1), (np.diff(grades)[::-1], counts[::-1], -1)):
        for n_far in range(1, len(grades)):
            if own[-n_far:].sum() > most:
                break
            kept = grades[::order][:-n_far]
            if len(kept) in _GRADES and distances[-n_far] > np.ptp(kept):
                return float(kept.min()), float(kept.max())
    return None
