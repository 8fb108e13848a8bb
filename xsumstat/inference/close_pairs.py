"""The jackknife of a coefficient over some pairs of systems."""

from __future__ import annotations

import math
from dataclasses import dataclass

from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.core.types import FloatArray
from xsumstat.inference import jackknife


@dataclass(frozen=True)
class ClosePairs:
    """A coefficient in [−1, 1] over some pairs of n systems, and without each system, with the pairs' limits fixed."""

    value: float
    without: FloatArray
    n_pairs: int

    def variance(self) -> float:
        """``max(V_s − e, e)`` with V_s from the values without each system, times ``((n−2)/(n−1))²``.

        A jackknife counts the variance of single pairs twice. That of p independent pairs is ``(1 − θ²)/p``; ``e`` is
        that times the share of pairs left out.
        """
        n = len(self.without)
        if math.isnan(self.value) or n < 3:
            return math.nan
        own = ((n - 2) / (n - 1)) ** 2 * jackknife.deleted_variance(self.without)
        single = (1 - self.value**2) / self.n_pairs * (1 - self.n_pairs / (n * (n - 1) / 2))
        return max(own - single, single) if not math.isnan(own) else single

    def interval(self, error: float, confidence_level: float) -> tuple[float, float]:
        """Limits by `jackknife.bounded`; without variation by Fisher's error of Kendall's tau, open to ±1."""
        step, kendall = 1 / max(self.n_pairs, 1), COEFFICIENTS["kendall"].fisher
        assert kendall is not None
        if math.isnan(error) or not jackknife.unvarying(self.value, error):
            return jackknife.bounded(self.value, 0.0, error, len(self.without) - 1, step).interval(confidence_level)
        n = (1 + math.sqrt(1 + 8 * self.n_pairs)) / 2
        return jackknife.perfect(self.value, n, step, kendall, n - 1).interval(confidence_level)
