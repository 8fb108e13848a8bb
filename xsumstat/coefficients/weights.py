"""Weights of inputs that were drawn with unequal probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from xsumstat.coefficients import arrays
from xsumstat.core.types import BoolArray, FloatArray, IntArray
from xsumstat.kernels import correlation as kernels


@dataclass(frozen=True)
class InputWeights:
    """The weight of each input, (inputs,), 1 over the probability of its draw, and the stratum it was drawn from."""

    each: FloatArray
    strata: IntArray

    def among(self, inputs: BoolArray) -> InputWeights:
        """Those of some inputs."""
        return self if inputs.all() else InputWeights(self.each[inputs], self.strata[inputs])

    def linearised(self, values: FloatArray, cells: BoolArray) -> FloatArray:
        """Scores (systems, inputs) whose plain mean over each system's `cells` is its weighted mean.

        ``m_i + w_ij·(x_ij − m_i)``: m_i is system i's weighted mean, w_ij are weights over their mean in its cells.
        A score is as far from m_i as it moves m_i, so what varies over inputs varies as the weighted mean does.
        """
        weights = np.where(cells, self.each, 0.0)
        n, total = cells.sum(axis=1, keepdims=True), weights.sum(axis=1, keepdims=True)
        share = weights * np.divide(n, total, out=np.zeros(total.shape), where=total > 0)
        first = np.where(cells.any(axis=1), cells.argmax(axis=1), 0)
        origin = values[np.arange(len(values)), first][:, None]  # equal scores have their value as their mean
        mean = origin + np.where(cells, share * (values - origin), 0.0).sum(axis=1, keepdims=True) / np.maximum(n, 1)
        return np.asarray(np.where(cells, mean + share * (values - mean), np.nan))

    def scores(self, x: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """A metric's and the human scores, linearised over the cells that have both."""
        there = arrays.present(x, z)
        return self.linearised(x, there), self.linearised(z, there)

    def average(self, r: FloatArray, n: FloatArray, undefined_as_zero: bool) -> float:
        """The weighted average of the inputs' correlations."""
        return float(kernels.average(r, n, self.each, undefined_as_zero))

    def shares(self, there: BoolArray) -> FloatArray:
        """Weights of some inputs over their mean; 0 for the others."""
        weights = np.where(there, self.each, 0.0)
        total = float(weights.sum())
        return np.asarray(weights * (there.sum() / total) if total > 0 else weights)

    def averages(self, values: FloatArray) -> FloatArray:
        """The weighted average of each row, (rows, inputs), without its NaN."""
        weights = np.where(np.isnan(values), 0.0, self.each)
        total = weights.sum(axis=1)
        summed = (weights * np.nan_to_num(values)).sum(axis=1)
        return np.asarray(np.divide(summed, total, out=np.full(len(values), np.nan), where=total > 0))

    def moved(self, value: float, without: FloatArray) -> FloatArray:
        """How far each input moves an estimate, from those without each; one that is undefined moves nothing."""
        there = ~np.isnan(without)
        found = np.where(there, (value - without) * (1 - self.each / self.each.sum()), 0.0)
        own = np.where(there, self.each, 0.0)
        return np.asarray(found - found.sum() * own / own.sum() if there.any() else found)

    def bias(self, value: float, without: FloatArray) -> float:
        """``Σ_j (1 − p_j)(θ(−j) − θ)``, p_j the inputs' shares of the weights; undefined ones are as the others."""
        if np.isnan(without).all():
            return math.nan
        return float(np.nanmean((without - value) * (1 - self.each / self.each.sum()))) * len(without)

    def variance(self, moved: FloatArray) -> tuple[float, float]:
        """Variance of an estimate over new inputs, and its degrees of freedom.

        `moved` (inputs,) is how far each input moves the estimate, with sum 0. Within stratum h it is
        ``V_h = n_h/(n_h−1)·Σ(u_j − ū_h)²``; between strata ``Σ_h (Σ_j u_j)²/W_h/N``, with shares W_h of the N inputs
        that the weights add up to. A stratum with one input has ``u²``. Degrees of freedom are Satterthwaite's.
        """
        within, between, spread = 0.0, 0.0, 0.0
        for stratum in np.unique(self.strata):
            here = self.strata == stratum
            u, n = moved[here], int(here.sum())
            own = n / (n - 1) * float(np.sum((u - u.mean()) ** 2)) if n > 1 else float(u[0] ** 2)
            within += own
            spread += own**2 / max(n - 1, 1)
            between += float(u.sum()) ** 2 / float(self.each[here].sum())
        total = within + between
        return total, total**2 / spread if spread > 0 else math.nan
