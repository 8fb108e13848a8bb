"""p-values of one family corrected for the number of tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xsumstat.core.types import TOLERANCE, BoolArray, FloatArray, IntArray

CORRECTIONS = ("bonferroni", "holm", "maxt", "bh", "by")
# Those that p-values are enough for, without the joint draws of all tests.
OF_PVALUES = tuple(name for name in CORRECTIONS if name != "maxt")


def adjust(pvalues: FloatArray, method: str) -> FloatArray:
    """Corrected p-values of one family; NaN are not tests and stay NaN.

    "bonferroni" ``min(1, m·p)``; "holm" its step-down form; "bh" and "by" the step-up forms of Benjamini & Hochberg and
    of Benjamini & Yekutieli, from SciPy.
    """
    out = np.full(pvalues.shape, np.nan)
    tested = ~np.isnan(pvalues)
    p = pvalues[tested]
    if p.size:
        out[tested] = _adjusted(p, method)
    return out


def _adjusted(p: FloatArray, method: str) -> FloatArray:
    if method == "bonferroni":
        return np.minimum(1.0, p * p.size)
    if method == "holm":
        order = np.argsort(p)
        steps = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
        out: FloatArray = np.empty_like(p)
        out[order] = np.minimum(1.0, steps)
        return out
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(p, method="bh" if method == "bh" else "by"))


@dataclass(frozen=True)
class Pool:
    """What a test's draws are compared in: the draws, then the observed difference unless they list all (`exact`)."""

    alternative: str
    centred_on_estimate: bool
    exact: bool

    def size(self, n_resamples: int) -> int:
        """Number of members."""
        return n_resamples + (not self.exact)

    def counts(self, samples: FloatArray, observed: float) -> tuple[IntArray, int]:
        """How many members are at least as extreme as each (0 if undefined), and how many are defined."""
        null = samples - observed if self.centred_on_estimate else samples
        null = null if self.exact else np.append(null, observed)
        extremity = {"two-sided": np.abs(null), "greater": null, "less": -null}[self.alternative]
        ordered = np.sort(extremity)  # NaN come last
        defined = len(ordered) - int(np.isnan(ordered).sum())
        below = np.searchsorted(ordered[:defined], extremity - TOLERANCE, side="left")
        return np.where(np.isnan(extremity), 0, defined - below), defined

    def pvalues(self, samples: FloatArray, observed: float) -> FloatArray:
        """The p-value that each member would have as the observed one; undefined draws are least significant."""
        return pvalues_of_counts(*self.counts(samples, observed))


def pvalues_of_counts(counts: npt.NDArray[np.integer[Any]], defined: int) -> FloatArray:
    return np.where(counts == 0, np.inf, counts / max(defined, 1))


def step_down(pvalues: FloatArray, pools: Callable[[IntArray], Iterable[FloatArray]]) -> FloatArray:
    """Step-down p-values of one family (Westfall & Young 1993, Alg. 2.8); NaN are not tests and stay NaN.

    ``p̃_(i) = max_{h ≤ i} share of pool members s with min_{l ≥ h} P_(l)^s ≤ p_(h)``, with p_(1) ≤ p_(2) ≤ ... the
    p-values and P^s those of `Pool`; at least p_(h), which excludes undefined draws. P^s ≤ p in a share p of
    the pool, so no p̃ exceeds Holm's. `pools` maps places of tests, largest p-value first, to their P^s (pool,).
    """
    shares = np.full(pvalues.shape, np.nan)
    for at, reached in _reached(pvalues, pools):
        shares[at] = np.mean(reached)
    return step_down_of_shares(pvalues, shares)


def step_down_counts(pvalues: FloatArray, counts: Sequence[npt.NDArray[Any]], defined: IntArray) -> IntArray:
    """In how many of some pool members min_{l ≥ h} P_(l)^s ≤ p_(h), for each test h."""
    out = np.zeros(len(pvalues), dtype=np.int64)

    def pools(order: IntArray) -> Iterator[FloatArray]:
        return (pvalues_of_counts(counts[test], int(defined[test])) for test in order)

    for at, reached in _reached(pvalues, pools):
        out[at] = np.count_nonzero(reached)
    return out


def step_down_of_shares(pvalues: FloatArray, shares: FloatArray) -> FloatArray:
    out = np.full(pvalues.shape, np.nan)
    order = _largest_first(pvalues)[::-1]
    out[order] = np.maximum.accumulate(np.maximum(shares[order], pvalues[order]))
    return out


def _reached(pvalues: FloatArray, pools: Callable[[IntArray], Iterable[FloatArray]]) -> Iterator[tuple[int, BoolArray]]:
    """Each test, largest p-value first, and where the least P^s so far is at most its p-value."""
    order = _largest_first(pvalues)
    least: FloatArray | None = None
    for at, pool in zip(order, pools(order), strict=True):
        least = pool if least is None else np.minimum(least, pool)
        yield at, least <= pvalues[at] * (1 + 1e-12)


def _largest_first(pvalues: FloatArray) -> IntArray:
    tested = np.flatnonzero(~np.isnan(pvalues))
    return tested[np.argsort(-pvalues[tested], kind="stable")]
