"""How often a paired t-test finds that two systems differ, with the noise of given ones; plain numbers."""

from __future__ import annotations

import math

import numpy as np

from xsumstat.types import FloatArray

_LEAST = 5
# More inputs than these are not planned.
_MOST = 10**9


def variance_of_pairs(gold: FloatArray) -> float:
    """The mean variance of the differences of two systems' scores, over all pairs, on the inputs that both have.

    Pairs with fewer than five inputs are left out; a ValueError says where there is none.
    """
    found = []
    for one in range(len(gold)):
        for two in range(one + 1, len(gold)):
            apart = gold[one] - gold[two]
            apart = apart[np.isfinite(apart)]
            if len(apart) >= _LEAST:
                found.append(apart.var(ddof=1))
    if not found:
        raise ValueError(
            f"no two systems share {_LEAST} inputs with gold scores, so that their differences are unknown"
        )
    return float(np.mean(found))


def power(size: float, variance: float, n_inputs: int, alpha: float) -> float:
    """How likely a two-sided paired t-test finds a difference: ``P(|T'| > t)``, T' of the noncentral t."""
    from scipy.special import nctdtr, stdtrit

    if variance <= 0:
        return 1.0
    df = n_inputs - 1
    centre, critical = size / math.sqrt(variance / n_inputs), float(stdtrit(df, 1 - alpha / 2))
    upper, lower = float(nctdtr(df, centre, critical)), float(nctdtr(df, centre, -critical))
    return 1 - upper + (0.0 if math.isnan(lower) else lower)  # NaN: too small a number


def least_inputs(size: float, variance: float, target: float, alpha: float) -> float:
    """The least number of inputs with which the power reaches a target; NaN where none does."""
    high = 2
    while power(size, variance, high, alpha) < target:
        if high > _MOST:
            return math.nan
        high *= 2
    low = max(1, high // 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if power(size, variance, middle, alpha) < target else (low, middle)
    return float(high)
