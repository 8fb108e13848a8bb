"""Scores drawn from crossed random effects, whose correlations in the population are known; plain arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from xsumstat import _kernels as kernels
from xsumstat import levels
from xsumstat.coefficients import Coefficient, FloatArray

COMPONENTS = ("system", "input", "cell")
Effects = tuple[float, float, float]

# How much of each component two scores are correlated by, at each level; 1/M of the cells' at system level.
_WEIGHTS = {
    "system": (1.0, 0.0, None),
    "input": (1.0, 0.0, 1.0),
    "global": (1.0, 1.0, 1.0),
    "within_system": (0.0, 1.0, 1.0),
}
# Where there is no formula: systems and inputs of a simulated population (None: as many as there are), and how many
# are averaged.
_POPULATIONS: dict[str, tuple[int, int | None, int]] = {
    "system": (2000, None, 30),
    "input": (2000, 20, 10),
    "global": (20_000, 1, 10),
    "within_system": (20, 2000, 10),
}


@dataclass(frozen=True)
class Model:
    """Gold and metrics as sums of a system's, an input's and a cell's effect, all normal.

    With g the gold's effect of a component, of variance 1, a metric's is ``ρ·g + √(1 − ρ²)·(√c·h + √(1 − c)·e)``, h an
    effect that all metrics share and e its own; both are multiplied by the sd of that component.

    Attributes
    ----------
    agreement : tuple of (system, input, cell)
        The ρ of each metric, in [-1, 1].
    gold_sd, metric_sd : (system, input, cell)
        The sds of the effects.
    shared : float
        The c, in [0, 1].
    likert : int or None
        Round the gold to so many points, which span two standard deviations to either side.
    missing : float
        The share of gold scores that are missing, at random.
    """

    agreement: tuple[Effects, ...]
    gold_sd: Effects
    metric_sd: Effects
    shared: float
    likert: int | None
    missing: float

    def draw(
        self, shape: tuple[int, int], generator: np.random.Generator, *, crossed: bool = True
    ) -> tuple[FloatArray, FloatArray]:
        """Scores (metrics, systems, inputs) and gold (systems, inputs), `crossed`, or each cell by itself."""
        systems, inputs = shape
        scores, gold = np.zeros((len(self.agreement), *shape)), np.zeros(shape)
        sizes = ((systems, 1), (1, inputs), shape) if crossed else (shape, shape, shape)
        for at, size in enumerate(sizes):
            human, common = generator.standard_normal((2, *size))
            own = generator.standard_normal((len(self.agreement), *size))
            rho = np.array([each[at] for each in self.agreement])[:, None, None]
            rest = math.sqrt(self.shared) * common + math.sqrt(1 - self.shared) * own
            gold += self.gold_sd[at] * human
            scores += self.metric_sd[at] * (rho * human + np.sqrt(1 - rho**2) * rest)
        if self.likert is not None:
            gold = self._rounded(gold)
        if self.missing:
            gold = np.where(generator.random(shape) < self.missing, np.nan, gold)
        return scores, gold

    def _rounded(self, gold: FloatArray) -> FloatArray:
        assert self.likert is not None
        points = (self.likert + 1) / 2 + gold / math.hypot(*self.gold_sd) * (self.likert - 1) / 4
        return np.asarray(np.clip(np.rint(points), 1, self.likert))

    def population(self, level: str, coefficient: Coefficient, n_inputs: int) -> tuple[FloatArray, float]:
        """Each metric's correlation with gold among all systems (and inputs), and the Monte-Carlo error of that.

        At system level it is that of means over `n_inputs` inputs. Of normal scores r follows from the variances of the
        effects, Spearman's ρ is ``6/π·arcsin(r/2)``, every τ ``2/π·arcsin r`` and the pairwise accuracy
        ``1/2 + arcsin(r)/π``. Rounded gold, or gold with gaps, has no such formulas: correlations in large simulated
        populations are averaged.
        """
        if self.likert is None and not self.missing:
            return self._closed(level, coefficient, n_inputs), 0.0
        return self._integrated(level, coefficient, n_inputs)

    def _closed(self, level: str, coefficient: Coefficient, n_inputs: int) -> FloatArray:
        weights = np.array([1 / n_inputs if each is None else each for each in _WEIGHTS[level]])
        gold, metric = np.square(self.gold_sd), np.square(self.metric_sd)
        shared = np.array(self.agreement) @ (weights * np.sqrt(gold * metric))
        r = shared / math.sqrt(float(weights @ gold) * float(weights @ metric))
        if coefficient.kind == kernels.PEARSON:
            return np.asarray(r)
        if coefficient.kind == kernels.SPEARMAN:
            return np.asarray(6 / np.pi * np.arcsin(r / 2))
        if coefficient.kind == kernels.ACCURACY:
            return np.asarray(0.5 + np.arcsin(r) / np.pi)
        return np.asarray(2 / np.pi * np.arcsin(r))

    def _integrated(self, level: str, coefficient: Coefficient, n_inputs: int) -> tuple[FloatArray, float]:
        systems, inputs, repeats = _POPULATIONS[level]
        shape = systems, n_inputs if inputs is None else inputs
        found = np.empty((repeats, len(self.agreement)))
        for row, seed in zip(found, np.random.SeedSequence(0).spawn(repeats), strict=True):
            generator = np.random.Generator(np.random.SFC64(seed))
            scores, gold = self.draw(shape, generator, crossed=level != "global")
            row[:] = [_correlation(x, gold, level, coefficient) for x in scores]
        return found.mean(axis=0), float(found.std(axis=0, ddof=1).max()) / math.sqrt(repeats)


def _correlation(x: FloatArray, z: FloatArray, level: str, coefficient: Coefficient) -> float:
    if level == "system":  # means as the cells of one input, which many systems are sorted by
        level, cells = "global", levels.present(x, z)
        x, z = (levels.system_means(values, cells)[0][:, None] for values in (x, z))
    settings: dict[str, Any] = {"level": level, "missing": "pairwise", "undefined": "drop"}
    groups = levels.compare(x, z, coefficient=coefficient, **settings).groups()
    return levels.averaged(*groups, level, "drop")
