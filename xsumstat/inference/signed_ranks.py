"""Wilcoxon's signed-rank test of many rows of differences; differences of 0 are left out."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from xsumstat.core.types import FloatArray
from xsumstat.kernels import systems as kernels

# Most differences for which the test is exact, as SciPy's: without ties, and with ties or differences of 0.
_EXACT, _EXACT_TIED = 50, 13


def ranked(differences: FloatArray, near: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Signed midranks of each row of differences (0 for 0), and Σ(t³ − t) over its ties within `near`."""
    ranks, tied = np.empty(differences.shape), np.empty(len(differences))
    kernels.signed_ranks(differences, near, ranks, tied)
    return ranks, tied


def pvalues(ranks: FloatArray, tied: FloatArray, alternative: str) -> tuple[FloatArray, FloatArray]:
    """p-values of each row, and with its signs turned: exact for few differences, as in SciPy, else normal."""
    from scipy.special import ndtr

    size = ranks.shape[1]
    n = (ranks != 0).sum(axis=1)
    total = ranks.sum(axis=1)  # 2·W₊ − n(n + 1)/2, of variance n(n + 1)(2n + 1)/6 − ties/12
    variance = n * (n + 1) * (2 * n + 1) / 6 - tied / 12
    with np.errstate(divide="ignore", invalid="ignore"):
        z = total / np.sqrt(variance)
    at_least, at_most = np.asarray(ndtr(-z)), np.asarray(ndtr(z))
    few = np.where((tied == 0) & (n == size), _EXACT, _EXACT_TIED)
    for at in np.flatnonzero((size <= few) & (n > 0)):
        doubled = tuple(sorted(np.rint(2 * np.abs(ranks[at][ranks[at] != 0])).astype(int).tolist()))
        chances = _rank_sum_chances(doubled)
        positive = round(float((sum(doubled) + 2 * total[at]) / 2))  # of doubled ranks
        at_least[at], at_most[at] = chances[positive:].sum(), chances[: positive + 1].sum()
    if alternative == "two-sided":
        p = np.minimum(1.0, 2 * np.minimum(at_least, at_most))
        return p, p
    return (at_least, at_most) if alternative == "greater" else (at_most, at_least)


@lru_cache(maxsize=256)
def _rank_sum_chances(doubled: tuple[int, ...]) -> FloatArray:
    """Chances of each sum of positive ranks with fair signs; ranks and sums are doubled."""
    chances = np.zeros(sum(doubled) + 1)
    chances[0] = 1.0
    for rank in doubled:
        chances[rank:] = (chances[rank:] + chances[:-rank]) / 2
        chances[:rank] /= 2
    return chances
