"""What changed between two scorings of the same outputs: verdicts, scores, means of systems; plain arrays."""

# Prompts are random, systems are not. Means of systems are estimates with a covariance matrix by prompts, so every
# shift, of one system, of all, or of one more than the others, is a contrast of these means.

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from xsumstat.coefficients import arrays
from xsumstat.core.types import TOLERANCE, FloatArray, IntArray
from xsumstat.inference import corrections, prompts
from xsumstat.inference.jackknife import t_quantile
from xsumstat.inference.pvalues import two_sided_by_t

# What is found of all systems together, and of each.
OF_ALL = (
    *("flip_share", "flip_low", "flip_high", "reversal_share", "reversal_low", "reversal_high", "n_pairs"),
    *("changed_share", "changed_low", "changed_high", "n_outputs"),
    *("shift", "shift_low", "shift_high", "shift_pvalue"),
    *("heterogeneity", "df_numerator", "df_denominator", "heterogeneity_pvalue"),
)
OF_SYSTEM = (
    *("old_mean", "mean", "old_rank", "rank"),
    *("system_shift", "system_shift_low", "system_shift_high"),
    *("system_shift_pvalue", "system_shift_pvalue_adjusted"),
    *("excess", "excess_low", "excess_high", "excess_pvalue", "excess_pvalue_adjusted"),
)
# Of these the unit is that of the scores.
_OF_SCORES = frozenset(
    ("shift", "shift_low", "shift_high", "old_mean", "mean", "excess", "excess_low", "excess_high")
    + ("system_shift", "system_shift_low", "system_shift_high")
)
# A contrast has no variance where it has a smaller share of the largest variance of a system's shift.
_SINGULAR = 1e-10


def changes(
    new: FloatArray, old: FloatArray, direction: float, confidence_level: float, clusters: IntArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """The numbers of `OF_ALL`, and of `OF_SYSTEM` (numbers, systems); `direction` −1: the lowest mean is best.

    `clusters` numbers the prompts that belong together, and are then the random units.
    """
    level = confidence_level
    both = np.stack([new, old])
    both = np.where(np.isnan(both).any(axis=0), np.nan, both)
    power = arrays.exponent(both)
    new, old = arrays.scaled(both)
    units = np.arange(new.shape[1]) if clusters is None else clusters
    shifts = Shifts.of(new, old, units)
    found = {**_verdicts(new, old, units, level), **_scores(new, old, units, level), **shifts.overall(level)}
    found |= shifts.interaction() | shifts.of_systems(level) | _means(new, old, direction)
    with np.errstate(over="ignore"):
        found = {name: np.ldexp(each, power) if name in _OF_SCORES else each for name, each in found.items()}
    return np.array([found[name] for name in OF_ALL]), np.array([found[name] for name in OF_SYSTEM])


# --- Shares ---


def orders(first: FloatArray, others: FloatArray) -> FloatArray:
    """The sign of each difference of a system and others on a prompt; 0 for a tie, NaN where one lacks."""
    near = TOLERANCE * np.maximum(np.abs(first), np.abs(others))
    difference = first - others
    return np.where(np.abs(difference) <= near, 0.0, np.sign(difference))


def _verdicts(new: FloatArray, old: FloatArray, units: IntArray, level: float) -> dict[str, FloatArray]:
    """Shares of verdicts between two systems on a prompt that are others now, and that are turned round."""
    sums = np.zeros((new.shape[1], 3), dtype=np.int64)
    for at in range(len(new) - 1):
        now, then = (orders(scores[at], scores[at + 1 :]) for scores in (new, old))
        there = ~np.isnan(now)
        each = (now != then) & there, now * then == -1, there
        sums += np.stack([counted.sum(axis=0) for counted in each], axis=1)
    counts = arrays.summed(sums, units)
    found = _share("flip", counts[:, [0, 2]], level) | _share("reversal", counts[:, [1, 2]], level)
    return {**found, "n_pairs": np.array(float(sums[:, 2].sum()))}


def _scores(new: FloatArray, old: FloatArray, units: IntArray, level: float) -> dict[str, FloatArray]:
    """The share of outputs whose score changed."""
    there = ~np.isnan(new)
    changed = there & (np.abs(new - old) > TOLERANCE * np.maximum(np.abs(new), np.abs(old)))
    sums = np.stack([changed.sum(axis=0), there.sum(axis=0)], axis=1)
    found = _share("changed", arrays.summed(sums, units), level)
    return {**found, "n_outputs": np.array(float(there.sum()))}


def _share(name: str, counts: FloatArray, level: float) -> dict[str, FloatArray]:
    """A share with score limits, from its counts and those of all cases (units, 2)."""
    if not counts[:, 1].any():
        return {f"{name}_{each}": np.array(math.nan) for each in ("share", "low", "high")}
    found = prompts.left_out(prompts.ratio(0, 1), counts, counts[:, 1])
    low, high = found.of_share(level, float(counts[:, 1].sum()))
    return {f"{name}_share": np.array(found.value), f"{name}_low": np.array(low), f"{name}_high": np.array(high)}


# --- Shifts ---


@dataclass(frozen=True)
class Shifts:
    """Changes of the systems' means, and their covariance."""

    values: FloatArray  # NaN without common scores
    covariance: FloatArray  # NaN below two units
    n: FloatArray  # units, prompts or clusters of them, with scores by both versions
    near: float  # a change within it is only rounding

    @classmethod
    def of(cls, new: FloatArray, old: FloatArray, units: IntArray) -> Shifts:
        """From scores (systems, prompts) that lack the same outputs, and the unit of each prompt."""
        there = ~np.isnan(new)
        near = TOLERANCE * float(np.max(np.abs([new, old]), where=there, initial=0.0))
        change = np.where(there, new - old, 0.0)
        change = np.where(np.abs(change) <= near, 0.0, change)
        n = there.sum(axis=1).astype(float)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.where(n > 0, change.sum(axis=1) / n, np.nan)
            residuals = np.where(there, change - values[:, None], 0.0)
            residuals = np.where(np.abs(residuals) <= near, 0.0, residuals)
            residuals = arrays.summed(residuals.T, units).T
            n_units = (arrays.summed(there.T.astype(float), units) > 0).sum(axis=0).astype(float)
            # Without each unit; their products add up to s²/n where a unit is a prompt.
            scale = np.sqrt(n**2 * (n_units - 1) / n_units)
            moves = residuals / np.where(scale > 0, scale, np.nan)[:, None]
        return cls(values, moves @ moves.T, n_units, near)

    @property
    def known(self) -> IntArray:
        """Places of the systems whose shift has a variance."""
        return np.flatnonzero(self.n > 1)

    def contrast(self, weights: FloatArray, level: float) -> tuple[float, float, float, float]:
        """A weighted sum of the shifts, its limits and p-value, by Student's t; `weights` of the systems in use."""
        used = weights != 0
        value = float(weights[used] @ self.values[used])
        variance = float(weights[used] @ self.covariance[np.ix_(used, used)] @ weights[used])
        df = float(self.n[used].min()) - 1 if used.any() else 0.0
        if df < 1 or math.isnan(variance):
            return value, math.nan, math.nan, math.nan
        error = math.sqrt(max(variance, 0.0))
        error = 0.0 if error <= self.near else error
        half = t_quantile(level, df) * error
        return value, value - half, value + half, self._pvalue(value, error, df)

    def _pvalue(self, value: float, error: float, df: float) -> float:
        """Two-sided; 1 where nothing changed, 0 where all changed by the same."""
        if abs(value) <= self.near:
            return 1.0
        return 0.0 if error == 0 else two_sided_by_t(value, error, df)

    def overall(self, level: float) -> dict[str, FloatArray]:
        there = np.flatnonzero(self.n > 0)
        weights = np.zeros(len(self.n))
        weights[there] = 1 / max(len(there), 1)
        found = self.contrast(weights, level) if len(there) else (math.nan,) * 4
        return dict(zip(("shift", "shift_low", "shift_high", "shift_pvalue"), map(np.array, found), strict=True))

    def of_systems(self, level: float) -> dict[str, FloatArray]:
        """Each system's shift, and by how much it exceeds the mean of the others' (Holm over systems)."""
        size = len(self.n)
        found: dict[str, FloatArray] = {}
        own, beyond = np.full((2, 4, size), np.nan)
        there = np.flatnonzero(self.n > 0)
        for at in there.tolist():
            weights = np.zeros(size)
            weights[at] = 1
            own[:, at] = self.contrast(weights, level)
            if len(there) > 1:
                weights[there] -= 1 / len(there)
                beyond[:, at] = self.contrast(weights * len(there) / (len(there) - 1), level)
        for name, numbers in (("system_shift", own), ("excess", beyond)):
            keys = (name, f"{name}_low", f"{name}_high", f"{name}_pvalue")
            found |= dict(zip(keys, numbers, strict=True))
            one = name == "excess" and len(there) == 2  # which of the two exceeds the other is one test
            found[f"{name}_pvalue_adjusted"] = numbers[3] if one else corrections.adjust(numbers[3], "holm")
        return found

    def interaction(self) -> dict[str, FloatArray]:
        """Hotelling's T² of no difference between the shifts of systems, as F; it needs more prompts than systems."""
        names = ("heterogeneity", "df_numerator", "df_denominator", "heterogeneity_pvalue")
        return dict(zip(names, map(np.array, self._hotelling()), strict=True))

    def _hotelling(self) -> tuple[float, float, float, float]:
        from scipy.special import fdtrc

        nothing = (math.nan,) * 4
        known = self.known
        if len(known) < 2 or self.n[known].min() < len(known):
            return nothing
        values, covariance = self.values[known], self.covariance[np.ix_(known, known)]
        apart = np.eye(len(known))[1:] - np.eye(len(known))[0]
        basis = np.linalg.qr(apart.T)[0]  # orthonormal contrasts
        variances, axes = np.linalg.eigh(basis.T @ covariance @ basis)
        along = axes.T @ (basis.T @ values)
        varies = variances > max(_SINGULAR * float(covariance.diagonal().max()), self.near**2)
        rank = int(varies.sum())
        df = float(self.n[known].min()) - rank
        if (np.abs(along[~varies]) > max(self.near, TOLERANCE * float(np.abs(values).max()))).any():
            return math.inf, float(max(rank, 1)), df, 0.0
        if not rank:
            return 0.0, 1.0, df, 1.0
        t2 = float((along[varies] ** 2 / variances[varies]).sum())
        f = t2 * df / ((df + rank - 1) * rank)
        return f, float(rank), df, float(fdtrc(rank, df, f))


def _means(new: FloatArray, old: FloatArray, direction: float) -> dict[str, FloatArray]:
    """Means of systems by both versions, and their ranks, the best 1; 0 where there is none."""
    there = ~np.isnan(new)
    n = there.sum(axis=1)
    found: dict[str, FloatArray] = {}
    for name, scores in (("old_", old), ("", new)):
        with np.errstate(invalid="ignore"):
            mean = np.where(n > 0, np.where(there, scores, 0.0).sum(axis=1) / n, np.nan)
        near = TOLERANCE * float(np.max(np.abs(scores), where=there, initial=0.0))
        ahead = (direction * (mean[None, :] - mean[:, None]) > near).sum(axis=1)
        found |= {f"{name}mean": mean, f"{name}rank": np.where(n > 0, 1.0 + ahead, 0.0)}
    return found
