"""Jackknife limits and p-values of the difference of two correlations that agree with each other."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from xsumstat.core.types import FloatArray
from xsumstat.inference.jackknife import Estimated, t_quantile

# No p-value is less: metrics of opposed sign may differ at any confidence level.
LEAST_PVALUE = 1e-12
# Quantiles of t at which limits are looked at, and the first of them after 0.
_STEPS, _FIRST = 160, 1e-3
_ROUNDING = 1e-14
_GOLDEN, _SECTIONS = (math.sqrt(5) - 1) / 2, 38


def compared(estimated: Estimated, confidence_level: float, alternative: str) -> tuple[float, float, float, float]:
    """Limits of a difference, the p-value of no difference, and the p-value with the two exchanged."""
    # With q0 the first quantile of t at which the limits reach 0 the two-sided p-value is 2·T(−q0), and "greater" of a
    # positive difference T(−q0): p ≤ α exactly where the 1 − α interval excludes 0.
    if estimated.about is None:
        return (math.nan,) * 4
    t = t_quantile(confidence_level, estimated.df)
    reach = _Reach.of(estimated, t)
    low, high = (reach.limit(t, side) for side in (-1, 1))
    tail = reach.tail()
    positive = estimated.centre > 0
    forward, backward = (_pvalue(tail, side, alternative) for side in (positive, not positive))
    return min(low, estimated.estimate), max(high, estimated.estimate), forward, backward


def _pvalue(tail: float, ahead: bool, alternative: str) -> float:
    if math.isnan(tail):
        return math.nan
    if alternative == "two-sided":
        return max(LEAST_PVALUE, 2 * tail)
    return max(LEAST_PVALUE, tail if ahead == (alternative == "greater") else 1 - tail)


@dataclass(frozen=True)
class _Reach:
    """How far the limits have reached from the centre."""

    estimated: Estimated
    quantiles: FloatArray
    farthest: FloatArray

    @classmethod
    def of(cls, estimated: Estimated, t: float) -> _Reach:
        """With the peaks that matter for the limits at a quantile, and for the first reach of 0."""
        quantiles = _quantiles(estimated.df)
        distances = _distances(estimated, quantiles)
        peaks = [_peaks(estimated, quantiles, distances, side, t) for side in (-1, 1)]
        if any(map(len, peaks)):
            quantiles = np.sort(np.concatenate([quantiles, *peaks]))
            distances = _distances(estimated, quantiles)
        return cls(estimated, quantiles, np.maximum.accumulate(distances, axis=1))

    def limit(self, t: float, side: int) -> float:
        """Farthest limit up to a quantile of t, below (-1) or above (1) the centre."""
        assert self.estimated.about is not None
        before = int(np.searchsorted(self.quantiles, t, side="right")) - 1
        here, farthest = float(self.estimated.about(t)[max(side, 0)]), float(self.farthest[max(side, 0), before])
        reached = side * (here - self.estimated.centre)
        return here if reached >= farthest * (1 - _ROUNDING) else self.estimated.centre + side * farthest

    def tail(self) -> float:
        """Tail of t beyond the first quantile at which the limits reach 0."""
        from scipy.special import stdtr

        assert self.estimated.about is not None
        centre, value, df = self.estimated.centre, self.estimated.estimate, self.estimated.df
        if centre * value <= 0:  # each of the limits holds the estimate, and they begin at the centre
            return 0.5
        side, wanted = (-1 if centre > 0 else 1), abs(centre)
        farthest = self.farthest[max(side, 0)]
        after = int(np.searchsorted(farthest, wanted))
        if after == len(farthest):
            return math.nan if not self.farthest.any() else LEAST_PVALUE / 2
        if after == 0:
            return 0.5
        low, high = self.quantiles[after - 1 : after + 1].tolist()
        while low < (middle := low + (high - low) / 2) < high:
            reached = side * (self.estimated.about(middle)[max(side, 0)] - centre) >= wanted
            low, high = (low, middle) if reached else (middle, high)
        return float(stdtr(df, -high))


def _distances(estimated: Estimated, quantiles: FloatArray) -> FloatArray:
    """Distances of the lower and the upper limit from the centre, (2, quantiles)."""
    assert estimated.about is not None
    with np.errstate(invalid="ignore"):  # an infinite standard error, times 0
        low, high = estimated.about(quantiles)
        distances = [estimated.centre - low, high - estimated.centre]
    found: FloatArray = np.nan_to_num(np.array([np.broadcast_to(each, quantiles.shape) for each in distances]))
    return found


def _peaks(estimated: Estimated, quantiles: FloatArray, distances: FloatArray, side: int, t: float) -> FloatArray:
    """Quantiles where a limit turns back before t, or before it reaches 0."""
    distance = distances[max(side, 0)]
    at = np.flatnonzero((distance[1:-1] > distance[:-2]) & (distance[1:-1] >= distance[2:])) + 1
    reached = np.flatnonzero(distance >= abs(estimated.centre)) if side * estimated.centre < 0 else np.zeros(1, int)
    last = max(t, float(quantiles[reached[0]]) if len(reached) else math.inf)
    at = at[quantiles[at - 1] < last]
    low, high = quantiles[at - 1], quantiles[at + 1]
    for _ in range(_SECTIONS if len(at) else 0):
        first, second = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        of_first, of_second = np.split(_distances(estimated, np.concatenate([first, second]))[max(side, 0)], 2)
        higher = of_first > of_second
        low, high = np.where(higher, low, first), np.where(higher, second, high)
    return (low + high) / 2


@functools.lru_cache
def _quantiles(df: float) -> FloatArray:
    from scipy.special import stdtrit

    last = -float(stdtrit(df, LEAST_PVALUE / 2))
    found = np.concatenate([[0.0], np.geomspace(_FIRST, last, _STEPS)])
    found.flags.writeable = False
    return found
