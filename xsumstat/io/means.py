"""Means independent of order, and equal where only rounding separates them."""

from __future__ import annotations

import math
from collections.abc import Iterable


def mean(values: Iterable[float]) -> float:
    """Mean of the present numbers, NaN for none; independent of order."""
    there = [value for value in values if value == value]
    if not there:
        return math.nan
    try:
        return math.fsum(there) / len(there)
    except OverflowError:
        return math.fsum(value / len(there) for value in there)


def magnitude(values: Iterable[float]) -> float:
    return max((abs(value) for value in values if value == value), default=0.0)
