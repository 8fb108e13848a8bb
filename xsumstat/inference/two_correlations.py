"""Analytic tests of r_1 = r(X, Z) against r_2 = r(Y, Z), with r_3 = r(X, Y), of n normal values."""

from __future__ import annotations

from typing import Any

import numpy as np

from xsumstat.core.types import FloatArray

METHODS = ("williams", "steiger", "meng", "zou")
# Beyond this many standard errors a p-value is 0 in double precision.
_FARTHEST = 40.0
# Correlations this near are equal: those of one metric on two scales differ by rounding.
_ROUNDING = 1e-12


def statistic(method: str, r_1: Any, r_2: Any, r_3: Any, n: Any) -> FloatArray:
    """The signed test statistic, positive where r_1 is greater; NaN where n ≤ 3, undefined, or ``|r| = 1``.

    - "williams": t with n − 3 degrees of freedom,
      ``(r_1 − r_2)·√[(n−1)(1+r_3) / (2K(n−1)/(n−3) + ((r_1+r_2)²/4)(1−r_3)³)]``, ``K = 1 − r_1² − r_2² − r_3² +
      2·r_1·r_2·r_3`` (Williams 1959).
    - "steiger": normal, ``(z_1 − z_2)·√(n−3) / √(2 − 2c)``, ``z = arctanh r``,
      ``c = [r_3(1−2r̄²) − ½r̄²(1−2r̄²−r_3²)] / (1−r̄²)²``, ``r̄ = (r_1+r_2)/2`` (Steiger 1980).
    - "meng": normal, ``(z_1 − z_2)·√((n−3) / (2(1−r_3)h))``, ``h = (1−f·q)/(1−q)``, ``q = (r_1²+r_2²)/2``,
      ``f = min(1, (1−r_3)/(2(1−q)))`` (Meng, Rosenthal & Rubin 1992).
    - "zou": normal; as many standard errors as put the near limit of Zou's interval at 0 (Zou 2007).
    """
    r_1, r_2, r_3, n = np.broadcast_arrays(*(np.asarray(each, dtype=float) for each in (r_1, r_2, r_3, n)))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = {"williams": _williams, "steiger": _steiger, "meng": _meng, "zou": _zou}[method](r_1, r_2, r_3, n)
    defined = (n > 3) & ~np.isnan(r_1 + r_2 + r_3)
    value = np.where(np.isfinite(value), value, np.nan)
    return np.where(defined, np.where(np.abs(r_1 - r_2) <= _ROUNDING, 0.0, value), np.nan)


def _precision(r_1: FloatArray, r_2: FloatArray, r_3: FloatArray, n: FloatArray) -> FloatArray:
    """Williams' g: (r_1 − r_2)·g is t with n − 3 degrees of freedom if both population correlations are equal."""
    k = 1 - r_1**2 - r_2**2 - r_3**2 + 2 * r_1 * r_2 * r_3
    # The determinant of three correlations is no less than 0, but rounding, or averaging, can make it so.
    spread = 2 * np.maximum(k, 0) * (n - 1) / (n - 3) + (r_1 + r_2) ** 2 / 4 * (1 - r_3) ** 3
    return np.asarray(np.sqrt((n - 1) * (1 + r_3) / spread))


def _williams(r_1: FloatArray, r_2: FloatArray, r_3: FloatArray, n: FloatArray) -> FloatArray:
    return np.asarray((r_1 - r_2) * _precision(r_1, r_2, r_3, n))


def _steiger(r_1: FloatArray, r_2: FloatArray, r_3: FloatArray, n: FloatArray) -> FloatArray:
    mean = ((r_1 + r_2) / 2) ** 2
    c = (r_3 * (1 - 2 * mean) - mean * (1 - 2 * mean - r_3**2) / 2) / (1 - mean) ** 2
    return np.asarray((np.arctanh(r_1) - np.arctanh(r_2)) * np.sqrt((n - 3) / (2 - 2 * c)))


def _meng(r_1: FloatArray, r_2: FloatArray, r_3: FloatArray, n: FloatArray) -> FloatArray:
    q = (r_1**2 + r_2**2) / 2
    f = np.minimum(1, (1 - r_3) / (2 * (1 - q)))
    h = (1 - f * q) / (1 - q)
    return np.asarray((np.arctanh(r_1) - np.arctanh(r_2)) * np.sqrt((n - 3) / (2 * (1 - r_3) * h)))


@np.errstate(divide="ignore", invalid="ignore")
def zou_interval(r_1: Any, r_2: Any, r_3: Any, n: Any, reach: Any) -> tuple[FloatArray, FloatArray]:
    """Zou's (2007) interval for r_1 − r_2, from the Fisher limits l, u of each at `reach` standard errors.

    ``r_1 − r_2 − √[(r_1−l_1)² + (u_2−r_2)² − 2c(r_1−l_1)(u_2−r_2)]`` and likewise above, with ``c = [(r_3 −
    ½r_1r_2)(1−r_1²−r_2²−r_3²) + r_3³] / ((1−r_1²)(1−r_2²))``.
    """
    c = ((r_3 - r_1 * r_2 / 2) * (1 - r_1**2 - r_2**2 - r_3**2) + r_3**3) / ((1 - r_1**2) * (1 - r_2**2))
    error = reach / np.sqrt(n - 3)
    below_1, above_1 = (r_1 - np.tanh(np.arctanh(r_1) - error), np.tanh(np.arctanh(r_1) + error) - r_1)
    below_2, above_2 = (r_2 - np.tanh(np.arctanh(r_2) - error), np.tanh(np.arctanh(r_2) + error) - r_2)
    low, high = (
        np.sqrt(np.maximum(one**2 + two**2 - 2 * c * one * two, 0))
        for one, two in ((below_1, above_2), (above_1, below_2))
    )
    return r_1 - r_2 - low, r_1 - r_2 + high


def _zou(r_1: FloatArray, r_2: FloatArray, r_3: FloatArray, n: FloatArray) -> FloatArray:
    """By bisection: the interval grows with its reach, and the near limit passes 0 once."""
    near, far = np.zeros(r_1.shape), np.full(r_1.shape, _FARTHEST)
    for _ in range(60):
        middle = (near + far) / 2
        low, high = zou_interval(r_1, r_2, r_3, n, middle)
        clear = np.where(r_1 > r_2, low > 0, high < 0)
        near, far = np.where(clear, middle, near), np.where(clear, far, middle)
    undefined = np.isnan(zou_interval(r_1, r_2, r_3, n, 1.0)[0])
    return np.where(undefined, np.nan, np.sign(r_1 - r_2) * (near + far) / 2)


def pvalue(method: str, value: FloatArray, n: Any, alternative: str) -> FloatArray:
    """p-value of a signed statistic: by t with n − 3 degrees of freedom for "williams", else normal."""
    from scipy import special

    def above(statistic: FloatArray) -> FloatArray:
        if method == "williams":
            return np.asarray(special.stdtr(np.maximum(np.asarray(n, dtype=float) - 3, 1), -statistic))
        return np.asarray(special.ndtr(-statistic))

    if alternative == "two-sided":
        return 2 * above(np.abs(value))
    return above(value if alternative == "greater" else -value)


def equivalence(
    method: str, r_1: Any, r_2: Any, r_3: Any, n: Any, margin: Any, alpha: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """p-value against ``|ρ_1 − ρ_2| ≥ margin``, and the limits of the (1 − 2·alpha) interval ``r_1 − r_2 ± t/g``.

    With g the square root in Williams' formula (`statistic`) and d = r_1 − r_2; NaN as there:

    - "anderson_hauck": ``Φ((|d| − margin)·g) − Φ((−|d| − margin)·g)``, Φ the normal distribution function (Counsell &
      Cribbie 2015); the code published with Braun et al. 2022 has the density instead.
    - "tost_analytic": the larger of two one-sided p-values, ``P(t ≥ (d + margin)·g)`` and ``P(t ≤ (d − margin)·g)``, t
      with n − 3 degrees of freedom.
    """
    from scipy import special

    r_1, r_2, r_3, n, margin = np.broadcast_arrays(
        *(np.asarray(each, dtype=float) for each in (r_1, r_2, r_3, n, margin))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        g = _precision(r_1, r_2, r_3, n)
        copies = (np.abs(r_1 - r_2) <= _ROUNDING) & (r_3 >= 1 - _ROUNDING)
        g = np.where(copies, np.inf, np.where(np.isfinite(g) & (g > 0), g, np.nan))
        g = np.where(n > 3, g, np.nan)
        difference, freedom = np.where(copies, 0.0, r_1 - r_2), np.maximum(n - 3, 1)
        if method == "anderson_hauck":
            apart = np.abs(difference)
            found = special.ndtr((apart - margin) * g) - special.ndtr((-apart - margin) * g)
            found = np.where(np.isnan(g), np.nan, found)
        else:
            above = special.stdtr(freedom, -(difference + margin) * g)
            below = special.stdtr(freedom, (difference - margin) * g)
            found = np.maximum(above, below)
        reach = special.stdtrit(freedom, 1 - alpha) / g
    return found, difference - reach, difference + reach
