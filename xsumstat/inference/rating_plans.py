"""Precision of system means and their differences from ratings, with or without a judge: closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from xsumstat.core.types import FloatArray, IntArray

# A judge needs a slope, and its variance: of fewer inputs ratings stand alone.
LEAST_JUDGED = 5
# More inputs than these are not planned.
MOST = 10**9


@dataclass(frozen=True)
class Spread:
    """Variance of one rating (or difference of two systems' ratings) `between` inputs, and its rating `noise`."""

    between: float
    noise: float = 0.0
    explained: float = 0.0

    def of_one(self, raters: int) -> float:
        """Variance between inputs of the mean of r ratings; noise falls with 1/r."""
        return self.between + self.noise / raters

    def variance(self, rated: Any, raters: int, judged: Any = 0) -> FloatArray:
        """``σ²/n`` of n rated inputs; with m > n judged ones ``σ²·[(1 − ρ²)·(1/n − 1/m)·(1 + 1/(n − 3)) + 1/m]``."""
        n, m = np.broadcast_arrays(np.asarray(rated, dtype=float), np.asarray(judged, dtype=float))
        helped = _helped(n, m)
        n_or, m_or = np.where(helped, n, LEAST_JUDGED), np.where(helped, m, LEAST_JUDGED)
        total = self.of_one(raters)
        left = total - self.explained
        with_judge = left * (1 / n_or - 1 / m_or) * (1 + 1 / (n_or - 3)) + total / m_or
        found: FloatArray = np.where(helped, with_judge, total / n)
        return found

    def width(self, rated: Any, raters: int, judged: Any, confidence_level: float) -> FloatArray:
        from scipy.special import gammaln, stdtrit

        df = degrees_of_freedom(rated, judged)
        # The mean of an estimated standard deviation over the true one.
        of_root = np.sqrt(2 / df) * np.exp(gammaln((df + 1) / 2) - gammaln(df / 2))
        error = np.sqrt(self.variance(rated, raters, judged))
        return np.asarray(2 * stdtrit(df, (1 + confidence_level) / 2) * error * of_root)

    def power(self, size: float, rated: Any, raters: int, judged: Any, alpha: float) -> FloatArray:
        return power(size, self.variance(rated, raters, judged), degrees_of_freedom(rated, judged), alpha)


def _helped(n: FloatArray, m: FloatArray) -> Any:
    return (m > n) & (n >= LEAST_JUDGED)


def degrees_of_freedom(rated: Any, judged: Any = 0) -> FloatArray:
    """Rated inputs less 1, and less 1 more for the judge's slope."""
    n, m = np.broadcast_arrays(np.asarray(rated, dtype=float), np.asarray(judged, dtype=float))
    return np.asarray(n - 1 - _helped(n, m))


def power(size: float, variance: Any, df: Any, alpha: float) -> FloatArray:
    """Power of a two-sided t-test: ``P(|T'| > t)``, T' noncentral t."""
    from scipy.special import nctdtr, stdtrit

    variance, df = np.broadcast_arrays(np.asarray(variance, dtype=float), np.asarray(df, dtype=float))
    some = variance > 0
    centre, critical = size / np.sqrt(np.where(some, variance, 1.0)), stdtrit(df, 1 - alpha / 2)
    upper, lower = nctdtr(df, centre, critical), nctdtr(df, centre, -critical)
    found: FloatArray = np.where(some, 1 - upper + np.nan_to_num(lower), 1.0)  # NaN: too small a number
    return found


def least_number(enough: Callable[[int], bool], least: int, most: int = MOST) -> float:
    """Least whole number that is enough, if all larger ones are too; NaN where none is."""
    low, high = least - 1, least
    while not enough(high):
        if high >= most:
            return math.nan
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return float(high)


def tried(least: int, most: int, number: int = 400) -> IntArray:
    """Whole numbers from the least to the most: dense at first, then ever fewer."""
    dense = np.arange(least, min(most, least + number) + 1)
    sparse = np.geomspace(max(dense[-1], 1), max(most, 1), number).astype(np.int64)
    return np.unique(np.concatenate([dense, sparse, [most]]))
