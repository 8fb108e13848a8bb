"""P-values of differences ``Σ a_c·e_c`` over independent fair signs ``e_c = ±1``, without sampling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from xsumstat.core.types import TOLERANCE, FloatArray, IntArray
from xsumstat.kernels import sign_sums as kernels

# Most signs for which all sums are listed, half by half.
_LISTED = 40
# Most steps for which the sums are counted instead.
_COUNTED = 4096
# Length of the longest Fourier transform, over 16 standard deviations of the sum.
_FINE = 2**19


@dataclass(frozen=True)
class Tail:
    """Probabilities that the sum of signs is ≥ or ≤ the given one; slightly too large if not `exact`."""

    at_least: float
    at_most: float
    exact: bool

    @classmethod
    def of(cls, observed: float, reached: float, passed: float, *, exact: bool) -> Tail:
        return cls(reached, 1 - passed, exact) if observed >= 0 else cls(1 - passed, reached, exact)

    def pvalue(self, observed: float, alternative: str) -> float:
        if alternative == "greater":
            return self.at_least
        if alternative == "less":
            return self.at_most
        return 1.0 if abs(observed) <= TOLERANCE else min(1.0, 2 * min(self.at_least, self.at_most))


def tail(coefficients: FloatArray, step: float = 0.0) -> Tail:
    """Where the plain sum of the coefficients lies among the sums of fair signs.

    - Up to 40 coefficients: all sums are listed, half by half, and counted; of few steps each sum is counted once.
    - Multiples of a `step`, at most 2¹⁹ of them in 16 SDs of the sum: exact, by a Fourier transform of the
      characteristic function, tilted to the observed sum; relative error below 1e-9.
    - Others: each coefficient rounded to 2⁻¹⁵ SDs of the sum. What counts as reached is widened by eight SDs of the
      rounding: the p-value is never too small, and too large by at most 0.5 % of itself at .05, 1 % at 1e-12.
    """
    values = np.abs(coefficients[coefficients != 0])
    observed = float(coefficients.sum())
    few = len(values) <= _LISTED
    if step > 0 and len(values):
        whole = np.rint(coefficients / step)
        steps = np.abs(whole[whole != 0]).astype(np.int64)
        steps //= (common := np.gcd.reduce(steps))
        if np.abs(coefficients / step - whole).max() < 1e-6:
            ahead = int(whole.sum()) // int(common)
            if few and steps.sum() <= _COUNTED:
                return Tail(_counted(steps, ahead), _counted(steps, -ahead), True)
            if not few and _length(steps) <= _FINE:
                return Tail.of(ahead, *_tails(steps, abs(ahead), abs(ahead)), exact=True)
    if few:
        return Tail(_listed(values, observed), _listed(values, -observed), True)
    return _rounded(values, observed)


def _counted(steps: IntArray, threshold: int) -> float:
    """Share of the sums of few whole steps that reach the threshold, without an error."""
    counts = np.ones(1, dtype=np.int64)  # of the sums -total, -total + 2, ...
    for step in steps:
        counts = np.r_[counts, np.zeros(step, np.int64)] + np.r_[np.zeros(step, np.int64), counts]
    first = max(0, (threshold + len(counts)) // 2)  # the total is len(counts) - 1
    return math.ldexp(float(counts[first:].sum()), -len(steps))


def _rounded(values: FloatArray, observed: float) -> Tail:
    """Values > 0 rounded to a fine step, and the bound of the rounding added."""
    step = 16 * math.sqrt(float((values**2).sum())) / _FINE
    steps = np.rint(values / step).astype(np.int64)
    lost = values / step - steps
    # What is lost goes in part with the sum itself; only the rest is chance.
    share = float(lost @ values) / float(values @ values)
    rest = lost - share * values
    slack = min(float(np.abs(rest).sum()), 8 * math.sqrt(float((rest**2).sum()))) + 1e-6
    steps, least = steps[steps > 0], math.ldexp(1.0, -len(values))
    middle = abs(observed) * (1 / step - share)
    reached, passed = _tails(steps, math.ceil(middle - slack), math.floor(middle + slack))
    return Tail.of(observed, max(reached, least), min(passed, 1 - least), exact=False)


def _listed(values: FloatArray, threshold: float) -> float:
    halves = [np.zeros(1), np.zeros(1)]
    for at, value in enumerate(values):
        halves[at % 2] = np.concatenate([halves[at % 2] - value, halves[at % 2] + value])
    first, second = np.sort(halves[0]), np.sort(halves[1])
    reached = len(second) - np.searchsorted(second, threshold - TOLERANCE - first, side="left")
    return float(reached.sum()) / (len(first) * len(second))


def _length(steps: IntArray) -> int:
    """Number of points of the transform, a power of 2: the whole range, or 16 SDs."""
    reach = int(8 * math.sqrt(float((steps.astype(float) ** 2).sum()))) + 1
    return 1 << (min(int(steps.sum()), reach)).bit_length()


def _tails(steps: IntArray, low: int, high: int) -> tuple[float, float]:
    """P(Σ e·step ≥ low) and P(Σ e·step > high), low ≤ high, for whole steps > 0, exact up to rounding."""
    total = int(steps.sum())
    # All sums are as odd or even as the largest.
    low, high = low + (total - low) % 2, high - (total - high) % 2
    if low <= 0:
        return 1.0 - _tails(steps, 2 - low, 2 - low)[0], _tails(steps, high + 2, high + 2)[0] if high >= 0 else 1.0
    if low > total:
        return 0.0, 0.0
    return _on_lattice(steps, low, high + 2)


def _on_lattice(steps: IntArray, threshold: int, next_one: int) -> tuple[float, float]:
    """P(Σ e·step ≥ threshold) and P(Σ e·step ≥ next_one), two of the sums, 0 < threshold < next_one."""
    # With b = (e + 1)/2 the first is P(B ≥ t) for B = Σ b·step. Tilted by λ to mean t, P(B ≥ t) = exp(log M(λ) − λt) ·
    # Σ_{j ≥ 0} exp(−λj) · P_λ(B = t + j), M the moment generating function, without cancellation.
    total = int(steps.sum())
    if threshold == total:
        return math.ldexp(1.0, -len(steps)), 0.0
    length = _length(steps)
    reach = (threshold + total) // 2
    weights, counts = np.unique(steps, return_counts=True)
    order = np.argsort(-counts * weights.astype(float) ** 2)
    weights, counts = weights[order], counts[order].astype(np.int64)
    tilt = 2 * _tilt(weights.astype(float), counts, float(threshold))
    chances = 1 / (1 + np.exp(-tilt * weights))
    transformed = np.empty(length // 2 + 1, dtype=np.complex128)
    kernels.characteristic(weights, counts, chances, _roots(length), transformed)
    tilted = np.fft.irfft(transformed.conj(), length)
    beyond = np.arange(min(length // 2, total - reach + 1))
    terms = np.exp(-tilt * beyond) * tilted[(reach + beyond) % length]
    log_moment = float((counts * (np.logaddexp(0.0, tilt * weights) - math.log(2.0))).sum())
    scale = math.exp(log_moment - tilt * reach)
    return scale * float(terms.sum()), scale * float(terms[(next_one - threshold) // 2 :].sum())


@lru_cache(maxsize=2)
def _roots(length: int) -> npt.NDArray[np.complex128]:
    return np.asarray(np.exp(2j * np.pi * np.arange(length) / length))


def _tilt(weights: FloatArray, counts: FloatArray | IntArray, threshold: float) -> float:
    """The θ with Σ count·weight·tanh(θ·weight) = threshold."""
    from scipy.optimize import brentq

    def short(theta: float) -> float:
        return float((counts * weights * np.tanh(theta * weights)).sum()) - threshold

    upper = 1 / math.sqrt(float((counts * weights**2).sum()))
    while short(upper) < 0:
        upper *= 2
    return float(brentq(short, 0.0, upper, xtol=1e-15 * upper, rtol=1e-14))
