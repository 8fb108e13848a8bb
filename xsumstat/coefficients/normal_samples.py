"""Exact means and variances of coefficients in samples of n pairs of normal scores."""

from __future__ import annotations

import math


def of_pearson(r: float, n: int) -> tuple[float, float]:
    """Mean and variance of Pearson's r in samples of n pairs (Ghosh 1966), given the population's r."""
    from scipy.special import hyp2f1

    df = n - 1
    square = r * r
    ratio = math.exp(2 * (math.lgamma((df + 1) / 2) - math.lgamma(df / 2)))
    mean = 2 / df * ratio * r * float(hyp2f1(0.5, 0.5, df / 2 + 1, square))
    second = 1 - (df - 1) / df * (1 - square) * float(hyp2f1(1, 1, df / 2 + 1, square))
    return mean, max(0.0, second - mean**2)


def of_tau(r: float, n: int) -> tuple[float, float]:
    """Mean and variance of Kendall's tau (Esscher 1924), given the population's Pearson's r."""
    tau, third = 2 / math.pi * math.asin(r), 2 / math.pi * math.asin(r / 2)
    return tau, 2 / (n * (n - 1)) * (1 - tau**2 + 2 * (n - 2) * (1 / 9 - third**2))


def of_rho(r: float, n: int) -> tuple[float, float]:
    """Mean of Spearman's rho (Moran 1948); its variance is taken proportional to tau's."""
    mean = 6 / (math.pi * (n + 1)) * (math.asin(r) + (n - 2) * math.asin(r / 2))
    return mean, of_tau(r, n)[1]


def of_accuracy(r: float, n: int) -> tuple[float, float]:
    mean, variance = of_tau(r, n)
    return 0.5 + mean / 2, variance / 4
