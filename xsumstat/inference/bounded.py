"""Limits of what lies between −1 and 1, from a jackknife's variance; plain arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass

from xsumstat.inference.jackknife import deleted_variance, t_quantile
from xsumstat.types import FloatArray

# So near to ±1 a value is that, and so small a standard error none.
_NOTHING = 1e-12
# The variance of arctanh of Kendall's tau, times n − 4 (Fieller, Hartley & Pearson 1957).
_KENDALL = 0.437


def bounded_interval(
    value: float, centre: float, error: float, df: float, confidence_level: float, step: float = 1e-12
) -> tuple[float, float]:
    """``tanh(arctanh c ± t·s/(1 − θ²))`` about a centre c kept a step from ±1; it holds the estimate θ.

    The point itself where θ is ±1 or nothing varies; NaN where the standard error s is.
    """
    if math.isnan(value) or math.isnan(error):
        return math.nan, math.nan
    if 1 - abs(value) <= _NOTHING or error <= _NOTHING:
        return value, value
    middle = math.atanh(min(1 - step, max(step - 1, centre)))
    reach = t_quantile(confidence_level, df) * error / (1 - value**2)
    return min(value, math.tanh(middle - reach)), max(value, math.tanh(middle + reach))


@dataclass(frozen=True)
class ClosePairs:
    """A coefficient of some of the pairs of n systems, and what it is without each system, the pairs' limits staying.

    Attributes
    ----------
    value : float
        Between −1 and 1.
    without : array, (n,)
    n_pairs : int
    """

    value: float
    without: FloatArray
    n_pairs: int

    def variance(self) -> float:
        """``max(V_s − e, e)`` with V_s from the values without each system, times ``((n−2)/(n−1))²``.

        A jackknife counts twice what single pairs vary by, of which many systems have few: the variance of the mean of
        p independent pairs is ``(1 − θ²)/p``, and ``e`` that times the share of pairs that are left out.
        """
        n = len(self.without)
        if math.isnan(self.value) or n < 3:
            return math.nan
        own = ((n - 2) / (n - 1)) ** 2 * deleted_variance(self.without)
        single = (1 - self.value**2) / self.n_pairs * (1 - self.n_pairs / (n * (n - 1) / 2))
        return max(own - single, single) if not math.isnan(own) else single

    def interval(self, error: float, confidence_level: float) -> tuple[float, float]:
        """Limits by `bounded_interval`; where nothing varies, by Fisher's standard error of Kendall's tau.

        That is of as many systems as have so many pairs among them, about the value clipped to one pair from ±1, and
        open to the perfect side.
        """
        if math.isnan(self.value) or math.isnan(error):
            return math.nan, math.nan
        step, perfect = 1 / self.n_pairs, 1 - abs(self.value) <= _NOTHING
        if error > _NOTHING and not perfect:
            df = len(self.without) - 1
            return bounded_interval(self.value, self.value, error, df, confidence_level, step)
        n = (1 + math.sqrt(1 + 8 * self.n_pairs)) / 2
        slope = math.sqrt(_KENDALL / (n - 4)) if n > 4 else math.inf
        reach = t_quantile(confidence_level, max(1.0, n - 1)) * slope
        middle = math.atanh(math.copysign(min(abs(self.value), 1 - step), self.value))
        low, high = math.tanh(middle - reach), math.tanh(middle + reach)
        return (-1.0 if perfect and self.value < 0 else low), (1.0 if perfect and self.value > 0 else high)
