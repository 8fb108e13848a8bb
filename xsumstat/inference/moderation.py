"""Variances of few values each, shrunk towards those of other systems (Smyth 2004)."""

from __future__ import annotations

import numpy as np

from xsumstat.core.types import BoolArray, FloatArray

# Least number of variances to estimate their spread.
LEAST = 3
# From 1e-6 to 1e7 the inverse of trigamma is found by steps; beyond them it is known.
_SMALL, _LARGE, _STEPS, _CLOSE = 1e-6, 1e7, 50, 1e-12


def moderated(variance: FloatArray, df: FloatArray, there: BoolArray, most: float) -> tuple[FloatArray, FloatArray]:
    """Variances (..., k) raised towards a common one, and d0, the degrees of freedom of the common one."""
    # s² becomes the larger of s² and (d·s² + d0·s0²)/(d + d0): a system with large variance keeps it.
    d0, centre = common(variance, df, there)
    known = there.sum(axis=-1, keepdims=True) >= LEAST
    d0 = np.where(known, np.minimum(d0, most), 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mixed = (df * variance + d0 * centre) / (df + d0)
    return np.where(there & known, np.fmax(variance, mixed), variance), d0


def common(variance: FloatArray, df: FloatArray, there: BoolArray) -> tuple[FloatArray, FloatArray]:
    """d0 and s0² of the distribution of variances, (..., 1), by the moments of their logarithms."""
    # With e = log s² − ψ(d/2) + log(d/2), trigamma(d0/2) is the variance of e less the mean of trigamma(d/2), and log
    # s0² = mean e + ψ(d0/2) − log(d0/2). d0 is infinite, and s0² the mean, where variances differ only by chance.
    from scipy.special import digamma, polygamma

    used = there & (variance > 0) & (df > 0)
    k = used.sum(axis=-1, keepdims=True)
    half = np.where(used, df, 1.0) / 2
    e = np.log(np.where(used, variance, 1.0)) - digamma(half) + np.log(half)
    size = np.maximum(k, 1)
    middle = np.where(used, e, 0.0).sum(axis=-1, keepdims=True) / size
    spread = np.where(used, (e - middle) ** 2, 0.0).sum(axis=-1, keepdims=True) / np.maximum(k - 1, 1)
    beyond = spread - np.where(used, polygamma(1, half), 0.0).sum(axis=-1, keepdims=True) / size
    differ = (k >= LEAST) & (beyond > 0)
    half_d0 = inverse_trigamma(np.where(differ, beyond, 1.0))
    mean = np.where(there, variance, 0.0).sum(axis=-1, keepdims=True) / np.maximum(there.sum(axis=-1, keepdims=True), 1)
    centre = np.exp(middle + digamma(half_d0) - np.log(half_d0))
    return np.where(differ, 2 * half_d0, np.inf), np.where(differ, centre, mean)


def inverse_trigamma(y: FloatArray) -> FloatArray:
    """The x with trigamma(x) = y > 0, by Newton's steps on 1/trigamma, which converge from one side."""
    from scipy.special import polygamma

    inner = np.clip(y, _SMALL, _LARGE)
    x = 0.5 + 1 / inner
    for _ in range(_STEPS):
        trigamma = polygamma(1, x)
        step = trigamma * (1 - trigamma / inner) / polygamma(2, x)
        x = x + step
        if (np.abs(step) <= _CLOSE * x).all():
            break
    return np.asarray(np.where(y > _LARGE, 1 / np.sqrt(y), np.where(y < _SMALL, 1 / y, x)))
