"""Intervals from resampled statistics, or by formula."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from xsumstat.coefficients.record import Coefficient
from xsumstat.core.types import FloatArray

INTERVALS = ("percentile", "basic", "normal", "bca", "corrected", "studentized")


def normal_quantile(confidence_level: float) -> float:
    """The q with ``P(|N(0, 1)| <= q) = confidence_level``."""
    from scipy.special import ndtri

    return float(ndtri((1 + confidence_level) / 2))


def bootstrap_interval(
    estimate: float, samples: FloatArray, interval: str, confidence_level: float
) -> tuple[float, float, float]:
    """Limits and standard error (SD of the samples) from the resampled statistics of one estimate.

    With ``q_lo, q_hi`` the quantiles of the defined samples, r the estimate and s their SD: "percentile" ``[q_lo,
    q_hi]`` (Deutsch et al. 2021, Alg. 1), "basic" ``[2r − q_hi, 2r − q_lo]``, "normal" ``r ± z·s``. NaN with fewer than
    2 samples.
    """
    defined = samples[~np.isnan(samples)]
    if math.isnan(estimate) or len(defined) < 2:
        return math.nan, math.nan, math.nan
    error = float(np.std(defined, ddof=1))
    if interval == "normal":
        reach = normal_quantile(confidence_level) * error
        return estimate - reach, estimate + reach, error
    tail = (1 - confidence_level) / 2
    low, high = (float(q) for q in np.quantile(defined, [tail, 1 - tail]))
    if interval == "basic":
        low, high = 2 * estimate - high, 2 * estimate - low
    return low, high, error


def acceleration(leave_one_out: Sequence[FloatArray]) -> float:
    """BCa's a from the statistics without each label, an array for each resampled dim.

    ``a = ΣΣU³ / (6·(ΣΣU²)^{3/2})``, ``U = (n−1)(mean of leave-one-out − leave-one-out)/n``, pooled over dims of n
    labels as in SciPy (Efron & Tibshirani 1993, §14.3). NaN where only rounding changes.
    """
    influence = np.concatenate([(len(each) - 1) / len(each) * (each.mean() - each) for each in leave_one_out])
    square = float((influence**2).sum())
    moves = square > 1e-28 * len(influence)
    return float((influence**3).sum()) / (6 * square**1.5) if moves else math.nan


def bca_interval(
    estimate: float, samples: FloatArray, leave_one_out: Sequence[FloatArray], confidence_level: float
) -> tuple[float, float, float, bool]:
    """The bias-corrected and accelerated interval (Efron 1987), its standard error, and whether it fell back.

    Quantiles of the samples at ``Φ(z_0 + (z_0 + z)/(1 − a(z_0 + z)))``, with z the normal quantiles of the tails, ``z_0
    = Φ⁻¹(share of samples below the estimate, ties half)`` and a from `acceleration`. Falls back to the percentile
    interval where z_0 or a is not finite.
    """
    from scipy.special import ndtr, ndtri

    low, high, error = bootstrap_interval(estimate, samples, "percentile", confidence_level)
    if math.isnan(error):
        return low, high, error, False
    defined = samples[~np.isnan(samples)]
    tied = np.abs(defined - estimate) <= 1e-12
    z_0 = float(ndtri(((defined < estimate) & ~tied).mean() + tied.mean() / 2))
    a = acceleration(leave_one_out)
    tail = (1 - confidence_level) / 2
    z = z_0 + ndtri(np.array([tail, 1 - tail]))
    moved = 1 - a * z
    if not (math.isfinite(z_0) and math.isfinite(a) and (moved > 0).all()):
        return low, high, error, True
    low, high = (float(q) for q in np.quantile(defined, ndtr(z_0 + z / moved)))
    return low, high, error, False


def corrected_interval(
    estimate: float, both: FloatArray, system: FloatArray, input: FloatArray, *, confidence_level: float
) -> tuple[float, float, float, bool]:
    """Percentile interval of a bootstrap of both dims, without the repeated noise of cells, and `fell_back`.

    For a statistic linear in the cells the variance of draws of both dims counts the noise of cells about three times,
    of one dim about once, so ``V = 2(V_system + V_input) − V_both`` counts it once (Owen 2007). The interval is scaled
    about the estimate by ``√(V/V_both)``; the standard error is √V. If V is below the variance of one dim alone, that
    is used instead; if a variance is 0 or undefined, the percentile interval.
    """
    low, high, error = bootstrap_interval(estimate, both, "percentile", confidence_level)
    if math.isnan(error):
        return low, high, error, False
    of_system, of_input = (
        bootstrap_interval(estimate, each, "percentile", confidence_level)[2] for each in (system, input)
    )
    variance, least = 2 * (of_system**2 + of_input**2) - error**2, max(of_system, of_input) ** 2
    if math.isnan(variance) or error == 0 or least == 0:
        return low, high, error, True
    scale = math.sqrt(max(variance, least)) / error
    return estimate + scale * (low - estimate), estimate + scale * (high - estimate), scale * error, variance < least


def studentized_interval(
    estimate: float, t: FloatArray, standard_error: float, confidence_level: float
) -> tuple[float, float]:
    """The bootstrap-t interval ``[r − t_hi·s, r − t_lo·s]`` (Efron & Tibshirani 1993, §12.5), extended to r.

    `t` holds for each resample its estimate less r over its own standard error, with quantiles ``t_lo, t_hi``; s is the
    standard error of r.
    """
    tail = (1 - confidence_level) / 2
    low, high = (float(q) for q in np.quantile(t, [tail, 1 - tail]))
    return min(estimate, estimate - high * standard_error), max(estimate, estimate - low * standard_error)


def fisher_interval(
    estimate: float, n: float, coefficient: Coefficient, confidence_level: float
) -> tuple[float, float, float]:
    """Analytic interval ``tanh(arctanh r ± z·c/√(n − b))`` and the standard error ``(1 − r²)·c/√(n − b)``.

    ``b = 3, 3, 4`` and ``c = 1, √(1 + r²/2), √0.437`` for Pearson, Spearman and Kendall (Bonett & Wright 2000; Deutsch
    et al. 2021, §3.1). NaN where n ≤ b; a point where ``|r| = 1``.
    """
    assert coefficient.fisher is not None
    lost, factor = coefficient.fisher
    if math.isnan(estimate) or n <= lost:
        return math.nan, math.nan, math.nan
    if abs(estimate) >= 1:
        return estimate, estimate, 0.0
    error = factor(estimate) / math.sqrt(n - lost)
    reach = normal_quantile(confidence_level) * error
    centre = math.atanh(estimate)
    return math.tanh(centre - reach), math.tanh(centre + reach), (1 - estimate**2) * error
