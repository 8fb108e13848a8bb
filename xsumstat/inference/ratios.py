"""Shares over all outputs, as ratios of sums over random inputs."""

from __future__ import annotations

import math

import numpy as np

from xsumstat.core.types import FloatArray, IntArray
from xsumstat.inference.jackknife import t_quantile

Counts = tuple[IntArray, IntArray]  # of each input, those that count and all


def difference_high(one: Counts, other: Counts | float, confidence_level: float = 0.95) -> float:
    """Upper limit of the difference of two shares, or of a share and a number, linearised over inputs; else NaN."""
    value, moved = _linearised(one)
    second, by_second = (other, np.zeros(len(moved))) if isinstance(other, float) else _linearised(other)
    counted = one[1] > 0 if isinstance(other, float) else (one[1] > 0) | (other[1] > 0)
    n = int(counted.sum())
    if n < 2:
        return math.nan
    error = math.sqrt(n / (n - 1) * float(np.sum((moved - by_second) ** 2)))
    return value - second + t_quantile(confidence_level, n - 1) * error


def _linearised(counts: Counts) -> tuple[float, FloatArray]:
    """A share, and how each input moves it; NaN without any."""
    part, whole = counts
    share = float(part.sum() / whole.sum()) if whole.any() else math.nan
    return share, (part - share * whole) / max(float(whole.sum()), 1.0)
