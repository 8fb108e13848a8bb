"""Limits and p-values of a ratio of two estimates, which may be unbounded (Fieller 1954)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from xsumstat.core.types import FloatArray
from xsumstat.inference.pvalues import two_sided_by_t


def limits(estimates: FloatArray, variances: Sequence[FloatArray], t: float) -> tuple[float, float]:
    """Limits of N/D: where ``(N − γD)² ≤ t²·(V_N − 2γV_ND + γ²V_D)``, at each γ by the largest of the variances."""
    # Where D may be 0 they are unbounded: both, or, if N cannot be 0, the one on its side, because D is not negative.
    n, d = estimates
    if not (np.isfinite(estimates).all() and np.isfinite(variances).all() and math.isfinite(t)):
        return math.nan, math.nan
    roots: list[float] = []
    bounded = True
    for v in variances:
        a, b, c = d * d - t * t * v[1, 1], n * d - t * t * v[0, 1], n * n - t * t * v[0, 0]
        bounded &= a > 0
        roots += _roots(a, b, c)
    if bounded:
        return (min(roots), max(roots)) if roots else (math.nan, math.nan)
    if n * n <= t * t * max(v[0, 0] for v in variances):
        return -math.inf, math.inf
    beyond = [abs(root) for root in roots if root * n > 0]
    nearest = min(beyond, default=0.0)
    return (nearest, math.inf) if n > 0 else (-math.inf, -nearest)


def _roots(a: float, b: float, c: float) -> list[float]:
    """Ratios at which ``aγ² − 2bγ + c`` is 0."""
    inner = b * b - a * c
    if inner < 0:
        return []
    q = b + math.copysign(math.sqrt(inner), b)
    return [q / a if a else math.nan, c / q] if q and a else ([c / q] if q else [0.0])


def pvalue(estimates: FloatArray, variances: Sequence[FloatArray], df: float) -> float:
    largest = max(float(v[0, 0]) for v in variances)
    return two_sided_by_t(float(estimates[0]), math.sqrt(largest), df) if largest >= 0 else math.nan


def standard_error(estimates: FloatArray, variances: Sequence[FloatArray]) -> float:
    n, d = estimates
    if not d > 0:
        return math.nan
    ratio = n / d
    largest = max(float(v[0, 0] - 2 * ratio * v[0, 1] + ratio**2 * v[1, 1]) for v in variances)
    return math.sqrt(largest) / float(d) if largest > 0 else math.nan
