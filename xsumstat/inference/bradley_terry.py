"""Strengths of systems from choices: Bradley and Terry's model with ties (Davidson); leading dims broadcast."""

# With strengths λ and δ = λ_left − λ_right, the left system is chosen in proportion to exp(δ/2), the right one to
# exp(−δ/2), a tie to exp(η). The model is fitted to (perhaps corrected) sums over pairs.

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from xsumstat.core.types import BoolArray, FloatArray, IntArray

_STEPS, _LONGEST_STEP, _ENOUGH = 100, 2.0, 1e-12
# A strength that is farther than this from the mean is on its way to infinity: a chance of 1 in 160,000.
_FAR = 12.0


@dataclass(frozen=True)
class Design:
    left: IntArray
    right: IntArray
    n_systems: int

    @functools.cached_property
    def signs(self) -> FloatArray:
        """1 for the left and −1 for the right system of each pair, (pairs, systems)."""
        each = np.eye(self.n_systems)
        return np.asarray(each[self.left] - each[self.right])

    def squared(self, weights: FloatArray) -> FloatArray:
        """``signs.T @ diag(weights) @ signs`` of each row of weights (rows, pairs), (rows, systems, systems)."""
        k = self.n_systems
        found = np.zeros((k * k, len(weights)))
        for one, other in ((self.left, self.right), (self.right, self.left)):
            np.add.at(found, k * one + one, weights.T)
            np.subtract.at(found, k * one + other, weights.T)
        return found.T.reshape(-1, k, k)

    def groups(self, n: FloatArray) -> IntArray:
        """Number of the group of systems connected by choices, (systems,)."""
        group = np.arange(self.n_systems)
        for one, two in zip(self.left[n > 0], self.right[n > 0], strict=True):
            group[group == group[two]] = group[one]
        return np.unique(group, return_inverse=True)[1].ravel()


@dataclass(frozen=True)
class Fit:
    """Strengths (..., systems) with mean 0, and η (minus infinity without ties)."""

    strengths: FloatArray
    eta: FloatArray
    finite: BoolArray


def fitted(n: FloatArray, net: FloatArray, ties: FloatArray, design: Design, start: Fit | None = None) -> Fit:
    """Maximum likelihood by Newton's method from numbers of choices, left less right ones, and ties, (..., pairs)."""
    lead = n.shape[:-1]
    n, net, ties = (each.reshape(-1, each.shape[-1]) for each in (n, net, ties))
    tied = ties.sum(axis=1) > 0
    # The last system's strength is 0 while the others are sought; the last column is η.
    theta = np.zeros((len(n), design.n_systems))
    if start is not None and bool(start.finite):
        theta[:, :-1] = start.strengths[:-1] - start.strengths[-1]
        theta[:, -1] = start.eta if np.isfinite(start.eta) else 0.0
    active = np.ones(len(n), dtype=bool)
    done = np.zeros(len(n), dtype=bool)
    for _ in range(_STEPS):
        at = np.flatnonzero(active)
        if not len(at):
            break
        step, size = _step(n[at], net[at], ties[at], tied[at], design, theta[at])
        small = size <= _ENOUGH * np.maximum(n[at].sum(axis=1), 1.0)
        theta[at] += np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
        away = np.abs(theta[at]).max(axis=1) > 4 * _FAR
        done[at[small & ~away]] = True
        active[at[small | away]] = False
    strengths = np.concatenate([theta[:, :-1], np.zeros((len(n), 1))], axis=1)
    strengths -= strengths.mean(axis=1, keepdims=True)
    eta = np.where(tied, theta[:, -1], -np.inf)
    finite = done & (np.abs(strengths).max(axis=1) <= _FAR) & (eta <= _FAR)
    strengths = np.where(finite[:, None], strengths, np.nan)
    return Fit(strengths.reshape(*lead, -1), eta.reshape(lead), finite.reshape(lead))


def _step(
    n: FloatArray, net: FloatArray, ties: FloatArray, tied: BoolArray, design: Design, theta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    x = design.signs[:, :-1]
    half = theta[:, :-1] @ x.T / 2
    eta = np.where(tied, theta[:, -1], -np.inf)[:, None]
    top = np.maximum(np.abs(half), eta)
    parts = np.exp(half - top), np.exp(-half - top), np.exp(eta - top)
    total = sum(parts)
    win, loss, tie = (each / total for each in parts)
    apart = win - loss
    gradient = np.concatenate(
        [(net - n * apart) @ x / 2, np.where(tied, (ties - n * tie).sum(axis=1), 0.0)[:, None]], axis=1
    )
    curve = n * (win + loss - apart**2) / 4
    k = x.shape[1]
    hessian = np.zeros((len(n), k + 1, k + 1))
    hessian[:, :k, :k] = design.squared(curve)[:, :-1, :-1]
    hessian[:, :k, k] = hessian[:, k, :k] = -((n * apart * tie) @ x) / 2
    hessian[:, k, k] = np.where(tied, (n * tie * (1 - tie)).sum(axis=1), 1.0)
    # A ridge far below any curvature that data give keeps what goes to infinity solvable.
    hessian += 1e-13 * np.maximum(n.sum(axis=1), 1.0)[:, None, None] * np.eye(k + 1)
    step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
    return step, np.abs(gradient).max(axis=1)


def one_step(n: FloatArray, net: FloatArray, ties: FloatArray, design: Design, whole: Fit) -> FloatArray:
    """Strengths one Newton step from those of the whole, for parts of it, (..., systems)."""
    eta = float(whole.eta) if np.isfinite(whole.eta) else 0.0
    free = np.append(whole.strengths[:-1] - whole.strengths[-1], eta)
    tied = np.full(len(n), bool(np.isfinite(whole.eta)))
    step, _ = _step(n, net, ties, tied, design, np.broadcast_to(free, (len(n), len(free))))
    strengths = np.concatenate([(free + step)[:, :-1], np.zeros((len(n), 1))], axis=1)
    return np.asarray(strengths - strengths.mean(axis=1, keepdims=True))


@dataclass(frozen=True)
class Strengths:
    """Strengths with all prompts, and `without` each cluster of them (clusters, systems)."""

    whole: Fit
    without: FloatArray
    df: float
    fell_back: int

    @classmethod
    def of(cls, whole: FloatArray, parts: FloatArray, design: Design, df: float) -> Strengths:
        fit = fitted(whole[0], whole[1], whole[2], design)
        if not bool(fit.finite):
            return cls(fit, np.full((parts.shape[1], design.n_systems), np.nan), df, 0)
        every = fitted(parts[0], parts[1], parts[2], design, start=fit)
        lost = ~every.finite
        strengths = every.strengths
        if lost.any():
            strengths = strengths.copy()
            strengths[lost] = one_step(parts[0][lost], parts[1][lost], parts[2][lost], design, fit)
        return cls(fit, strengths, df, int(lost.sum()))

    def error(self, contrast: FloatArray) -> float:
        """Jackknife standard error of a contrast (systems,) of the strengths."""
        values = self.without @ contrast
        n = len(values)
        return float(np.sqrt((n - 1) / n * ((values - values.mean()) ** 2).sum())) if n > 1 else float("nan")


def corrected(judged: FloatArray, both: FloatArray, kept: float) -> FloatArray:
    """Mean human choices for each pair, ``h̄ + κ·b·(f̄_all − f̄_both)``, corrected by a judge's on all prompts.

    h human, f judge, b the slope of h on f within pairs, `kept` κ. `judged` (2, ..., pairs): units and Σf; `both` (5,
    ..., pairs), of units with both: number, Σh, Σf, Σf², Σfh.
    """
    n, h, f, ff, fh = both
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.where(n > 0, ff - f**2 / n, 0.0).sum(axis=-1, keepdims=True)
        shared = np.where(n > 0, fh - f * h / n, 0.0).sum(axis=-1, keepdims=True)
        slope = np.where(spread > 1e-12, kept * shared / spread, 0.0)
        gap = judged[1] / judged[0] - f / n
        return np.asarray(np.where(n > 0, h / n + slope * gap, 0.0))
