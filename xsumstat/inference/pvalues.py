"""From resampled differences to p-values; plain arrays throughout."""

from __future__ import annotations

import numpy as np

from xsumstat.types import TOLERANCE, FloatArray, IntArray


def permutation_pvalues(
    difference: FloatArray, counts: IntArray, n_resamples: int, exact: bool, alternative: str
) -> tuple[FloatArray, FloatArray]:
    """p-values of X over Y and of Y over X for each pair.

    ``(1 + count)/(1 + k)``, never 0, with k the defined swaps; ``count/k`` where all swaps were listed, the
    observed one among them (Deutsch et al. 2021, Alg. 2, whose ``count/k`` over drawn swaps can be 0).
    Swapping X with Y turns every difference round, so "at least" for one is "at most" for the other.

    Parameters
    ----------
    difference : array, (pairs,)
        The observed ones.
    counts : array, (4, pairs)
        Resamples with a difference of at least the observed one, of at most it, at least as far from 0, and with none.
    n_resamples : int
    exact : bool
    alternative : {"two-sided", "greater", "less"}

    Returns
    -------
    forward, backward : array, (pairs,)
        NaN where the difference itself, or every swap's, is undefined.
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
    """Student's two-sided p-value of the value 0.

    Parameters
    ----------
    value, error : float
        An estimate and its standard error.
    df : float

    Returns
    -------
    p : float
        Without error: 1 if the value is 0, else NaN, as nothing says how often such a value comes by chance. NaN too
        where there is no value, error or degree of freedom.
    """
    from scipy.special import stdtr

    if not (df > 0 and error >= 0 and np.isfinite(value) and np.isfinite(error)):
        return np.nan
    if error == 0:
        return 1.0 if value == 0 else np.nan
    return float(2 * stdtr(df, -abs(value) / error))


def equivalence_pvalues(samples: FloatArray, margins: FloatArray) -> FloatArray:
    """p-values of two one-sided tests (TOST) from resampled differences, one for each margin.

    ``max(1 + #{d_s ≥ margin}, 1 + #{d_s ≤ −margin}) / (k + 1)``, k the defined samples: a test at α finds equivalence
    about where the (1 − 2α) percentile interval lies inside ±margin (Braun et al. 2022, §4.1). NaN for a margin of NaN.
    """
    ordered = np.sort(samples[~np.isnan(samples)])
    above = len(ordered) - np.searchsorted(ordered, margins - TOLERANCE, side="left")
    below = np.searchsorted(ordered, -margins + TOLERANCE, side="right")
    return np.where(np.isnan(margins), np.nan, (1 + np.maximum(above, below)) / (len(ordered) + 1))
