"""Equivalence by jackknife intervals: limits and p-values that agree."""

from __future__ import annotations

import functools
import math
from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from xsumstat.core.types import FloatArray
from xsumstat.inference.jackknife import Estimated, t_quantile

# Tails of t at which limits are looked at, to find between which two they reach a margin.
_TAILS = np.array(
    [*np.arange(50, 10, -5) / 100, 0.1, 0.075, 0.05, 0.03, 0.02, 0.01, 0.005, 0.002, 0.001]
    + [1e-4, 1e-5, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14, 1e-16]
)
_HALF = int(np.flatnonzero(_TAILS == 0.25)[0])  # of the 50 % interval
_LOW, _HIGH = 0, 1


def within(estimated: Estimated, margins: ArrayLike, alpha: float) -> tuple[float, float, FloatArray]:
    """The (1 − 2α) interval, and for each margin the p-value of "the difference is the margin or more".

    The p-value is the least α whose (1 − 2α) interval lies within ±margin. Limits of more than 50 % confidence never
    turn back, and narrower ones never exceed those of 50 %. p is at least 1/2 for an estimate outside the margin, 0
    where even the interval at 1e-16 is inside, NaN without an interval or margin. `alpha` is below 1/2.
    """
    margins = np.asarray(margins, dtype=float)
    if estimated.about is None:
        return math.nan, math.nan, np.full(margins.shape, math.nan)
    estimated = estimated.allowing_bias()
    limits = _Limits.of(estimated)
    t = t_quantile(1 - 2 * alpha, estimated.df)
    pvalues = [math.nan if math.isnan(margin) else limits.pvalue(margin) for margin in margins.tolist()]
    return -limits.at(t, _LOW), limits.at(t, _HIGH), np.array(pvalues)


@dataclass(frozen=True)
class _Limits:
    """Limits as the quantile of t grows, the lower one negated; `values` (2, tails) at `_TAILS`."""

    estimated: Estimated
    values: list[list[float]]

    @classmethod
    def of(cls, estimated: Estimated) -> _Limits:
        found = np.array([estimated.limits(t) for t in _quantiles(estimated.df)]).T
        found[_LOW] *= -1
        found[:, _HALF::-1] = np.minimum.accumulate(found[:, _HALF::-1], axis=1)
        found[:, _HALF:] = np.maximum.accumulate(found[:, _HALF:], axis=1)
        return cls(estimated, found.tolist())

    def raw(self, t: float, side: int) -> float:
        limit = self.estimated.limits(t)[side]
        return limit if side == _HIGH else -limit

    def at(self, t: float, side: int) -> float:
        before, values = bisect_right(_quantiles(self.estimated.df), t) - 1, self.values[side]
        limit = self.raw(t, side)
        return max(limit, values[before]) if before >= _HALF else min(limit, values[before + 1])

    def pvalue(self, margin: float) -> float:
        passed = [bisect_right(values, margin) for values in self.values]
        if min(passed) > 0:
            return max(self.tail(margin, side) for side in (_LOW, _HIGH) if passed[side] == min(passed))
        beyond = [1 - side for side in (_LOW, _HIGH) if passed[side] == 0 and self.values[1 - side][0] <= -margin]
        return max([0.5, *(1 - self.tail(-margin, side) for side in beyond)])

    def tail(self, bound: float, side: int) -> float:
        """Tail of t beyond which a limit passes the bound; 0 if nowhere."""
        from scipy.optimize import brentq
        from scipy.special import stdtr

        after = bisect_right(self.values[side], bound)
        if after == len(_TAILS):
            return 0.0
        low, high = _quantiles(self.estimated.df)[after - 1 : after + 1]
        t = brentq(lambda t: self.raw(t, side) - bound, low, high, xtol=1e-13)
        return float(stdtr(self.estimated.df, -t))


@functools.lru_cache
def _quantiles(df: float) -> list[float]:
    from scipy.special import stdtrit

    quantiles: list[float] = np.abs(stdtrit(df, _TAILS)).tolist()
    return quantiles
