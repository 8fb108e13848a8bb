"""Estimates from sums over prompts, and their jackknife over (clusters of) prompts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from xsumstat.core.types import FloatArray
from xsumstat.inference.intervals import normal_quantile
from xsumstat.inference.jackknife import deleted_variance, t_quantile
from xsumstat.inference.pvalues import two_sided_by_t
from xsumstat.inference.score_limits import wilson

Limits = tuple[float, float]


@dataclass(frozen=True)
class LeftOut:
    """An estimate, and its values without each cluster (clusters,), NaN where undefined."""

    value: float
    without: FloatArray

    @property
    def n(self) -> int:
        return len(self.without)

    @property
    def variance(self) -> float:
        """``(n−1)/n·Σ(θ(−j) − mean)²``; NaN with fewer than two clusters or an undefined θ(−j)."""
        return math.nan if np.isnan(self.without).any() else deleted_variance(self.without)

    @property
    def standard_error(self) -> float:
        return math.sqrt(self.variance)

    def less(self, other: LeftOut) -> LeftOut:
        return LeftOut(self.value - other.value, self.without - other.without)

    def by_t(self, level: float) -> Limits:
        half = t_quantile(level, self.n - 1) * self.standard_error if self.n > 1 else math.nan
        return self.value - half, self.value + half

    def of_share(self, level: float, n: float) -> Limits:
        """Score limits (Wilson) of a share of `n` cases; similar cases of a cluster count as fewer."""
        if self.n < 2 or math.isnan(self.value):
            return math.nan, math.nan
        spread, v = self.value * (1 - self.value), self.variance
        per_n = 1 / self.n if spread <= 0 else max(v / spread, 1 / n)
        per_n *= (t_quantile(level, self.n - 1) / normal_quantile(level)) ** 2
        low, high = wilson(np.array(self.value), per_n, level)
        return float(low), float(high)

    def pvalue(self) -> float:
        return two_sided_by_t(self.value, self.standard_error, self.n - 1)


def left_out(function: Callable[[FloatArray], FloatArray], sums: FloatArray, counted: FloatArray) -> LeftOut:
    """A function of sums over prompts, with all clusters and without each."""
    sums = sums[counted > 0]
    total = sums.sum(axis=0)
    return LeftOut(float(function(total)), np.asarray(function(total - sums), dtype=float))


def within(limits: Limits) -> Limits:
    """Limits of a difference of two shares, kept in [-1, 1]."""
    return max(-1.0, limits[0]), min(1.0, limits[1])


def ratio(top: int, bottom: int) -> Callable[[FloatArray], FloatArray]:
    def of(sums: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(sums[..., bottom] > 0, sums[..., top] / sums[..., bottom], np.nan)

    return of


def difference_of_shares(one: float, two: float, found: LeftOut, n: float, level: float) -> Limits:
    """Limits of the difference of two shares of the same cases, with one case added to each (Bonett & Price 2012)."""
    if found.n < 2 or math.isnan(found.value):
        return math.nan, math.nan
    p, q = one / n, two / n
    spread, v = p + q - (p - q) ** 2, found.variance
    size = float(found.n) if spread <= 0 or v <= 0 else min(n, spread / v)
    p, q = (p * size + 1) / (size + 2), (q * size + 1) / (size + 2)
    half = t_quantile(level, found.n - 1) * math.sqrt((p + q - (p - q) ** 2) / (size + 2))
    low, high = within((p - q - half, p - q + half))
    return min(low, found.value), max(high, found.value)
