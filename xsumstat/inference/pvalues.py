"""p-values from resampled differences."""

from __future__ import annotations

import numpy as np

from xsumstat.core.types import TOLERANCE, FloatArray, IntArray


def permutation_pvalues(
    difference: FloatArray, counts: IntArray, n_resamples: int, exact: bool, alternative: str
) -> tuple[FloatArray, FloatArray]:
    """p-values of X over Y and of Y over X for each pair; NaN where the difference or all swaps are undefined.

    ``(1 + count)/(1 + k)``, never 0, with k the defined swaps; ``count/k`` where all swaps were listed (Deutsch et al.
    2021, Alg. 2, whose ``count/k`` over drawn swaps can be 0). Swapping X with Y changes every sign, so "at least" for
    one is "at most" for the other. `counts` (4, pairs): ≥ the observed difference, ≤ it, as far from 0, undefined.
    """
    at_least, at_most, beyond, undefined = counts
    forward, backward = {
        "two-sided": (beyond, beyond),
        "greater": (at_least, at_most),
        "less": (at_most, at_least),
    }[alternative]
    added = 0 if exact else 1
    total = n_resamples - undefined
    usable = np.where((total > 0) & ~np.isnan(difference), total + added, np.nan)
    return (forward + added) / usable, (backward + added) / usable


def two_sided_by_t(value: float, error: float, df: float) -> float:
    """Student's two-sided p-value of the value 0; without error beyond rounding 1 if the value is 0, else NaN."""
    if not (df > 0 and error >= 0 and np.isfinite(value) and np.isfinite(error)):
        return np.nan
    if error <= TOLERANCE * abs(value):
        return 1.0 if value == 0 else np.nan
    return float(by_t(np.asarray(value / error), df)[0])


def by_t(
    statistic: FloatArray, df: FloatArray | float, alternative: str = "two-sided"
) -> tuple[FloatArray, FloatArray]:
    """Student's p-values of t statistics, and those of their negatives."""
    from scipy.special import stdtr

    if alternative == "two-sided":
        p = np.asarray(2 * stdtr(df, -np.abs(statistic)))
        return p, p
    below, above = (np.asarray(stdtr(df, sign * statistic)) for sign in (1, -1))
    return (above, below) if alternative == "greater" else (below, above)


def equivalence_pvalues(samples: FloatArray, margins: FloatArray) -> FloatArray:
    """p-values of two one-sided tests (TOST) from resampled differences, one for each margin.

    ``max(1 + #{d_s ≥ margin}, 1 + #{d_s ≤ −margin}) / (k + 1)``, k the defined samples: p ≤ α about where the (1 − 2α)
    percentile interval is inside ±margin (Braun et al. 2022, §4.1). NaN for a margin of NaN.
    """
    ordered = np.sort(samples[~np.isnan(samples)])
    above = len(ordered) - np.searchsorted(ordered, margins - TOLERANCE, side="left")
    below = np.searchsorted(ordered, -margins + TOLERANCE, side="right")
    return np.where(np.isnan(margins), np.nan, (1 + np.maximum(above, below)) / (len(ordered) + 1))
