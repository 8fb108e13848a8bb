"""Grades that lie far beyond all others, as 33 among grades from 1 to 5."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import chunking

_ENOUGH = 20  # ratings by which a scale is known
_GRADES = range(3, 12)  # numbers of different values of a scale of grades
_RARE = 100  # at most one in so many ratings is far away


def report(ratings: xr.DataArray) -> None:
    """Warn of rare whole numbers whose distance from all other grades is larger than the range of these."""
    if chunking.is_lazy(ratings):
        return
    values = ratings.values
    scale = _scale(values[~np.isnan(values)])
    if scale is None:
        _report_code(values[~np.isnan(values)])
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


def _report_code(values: FloatArray) -> None:
    """Warn of one negative number beside grades from 1, however often it is given."""
    grades, counts = np.unique(values, return_counts=True)
    known = grades[1:]
    if len(known) in _GRADES and grades[0] < 0 and known[0] >= 1 and (grades == np.rint(grades)).all():
        validate.warn_once(
            f"the human scores are grades from {known[0]:g} to {known[-1]:g}, and {grades[0]:g} in "
            f"{validate.counted(int(counts[0]), 'rating')}: write it as NaN (an empty cell) if it means a missing one",
            "far_rating",
        )


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
