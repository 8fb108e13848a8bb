"""The jackknife of a coefficient over some of the pairs of systems; plain arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass

from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.inference import jackknife
from xsumstat.types import FloatArray


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
        own = ((n - 2) / (n - 1)) ** 2 * jackknife.deleted_variance(self.without)
        single = (1 - self.value**2) / self.n_pairs * (1 - self.n_pairs / (n * (n - 1) / 2))
        return max(own - single, single) if not math.isnan(own) else single

    def interval(self, error: float, confidence_level: float) -> tuple[float, float]:
        """Limits by `jackknife.bounded`; where nothing varies, by Fisher's standard error of Kendall's tau.

        That is of as many systems as have so many pairs among them, about the value clipped to one pair from ±1, and
        open to the perfect side.
        """
        step, kendall = 1 / max(self.n_pairs, 1), COEFFICIENTS["kendall"].fisher
        assert kendall is not None
        if math.isnan(error) or not jackknife.unvarying(self.value, error):
            return jackknife.bounded(self.value, 0.0, error, len(self.without) - 1, step).interval(confidence_level)
        n = (1 + math.sqrt(1 + 8 * self.n_pairs)) / 2
        return jackknife.perfect(self.value, n, step, kendall, n - 1).interval(confidence_level)
