"""Scores from crossed random effects with known population correlations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from xsumstat.coefficients import arrays
from xsumstat.coefficients.record import Coefficient, Measure
from xsumstat.core.types import FloatArray

Effects = tuple[float, float, float]

COMPONENTS = ("system", "input", "cell")

# How much of each component two scores are correlated by, at each level; 1/M of the cells' at system level.
_WEIGHTS = {
    "system": (1.0, 0.0, None),
    "input": (1.0, 0.0, 1.0),
    "global": (1.0, 1.0, 1.0),
    "within_system": (0.0, 1.0, 1.0),
}
# Where there is no formula: systems and inputs of a simulated population, and how many are averaged.
_POPULATIONS = {"input": (2000, 20, 10), "global": (20_000, 1, 10), "within_system": (20, 2000, 10)}
# The same at system level, as cells: their number is that of systems times the inputs of the design.
_CELLS, _SYSTEMS, _REPEATS = 100_000, (500, 2000), 30
# Inputs' factors: nodes of a quadrature over one; for a mean of several, number of draws, and of numbers in all.
_NODES, _MEANS, _NUMBERS = 80, 20_000, 4_000_000


@dataclass(frozen=True)
class Model:
    """Gold and metrics as sums of a system's, an input's and a cell's effect.

    With g the gold's effect of a component (variance 1) a metric's is ``ρ·g + √(1 − ρ²)·(√c·h + √(1 − c)·e)``: ρ its
    `agreement`, c `shared`, h common to all metrics, e its own; times the SD (`gold_sd`, `metric_sd`). Effects are
    normal; `system_df` (multivariate t), `outlying` with its factor, and `ability_sd` (a lognormal factor of mean 1 on
    each input) multiply the system effects of gold and metrics alike. `likert` rounds the gold, `missing` is its share
    of gaps.
    """

    agreement: tuple[Effects, ...]
    gold_sd: Effects
    metric_sd: Effects
    shared: float
    likert: int | None
    missing: float
    system_df: float | None = None
    outlying: float = 0.0
    outlying_factor: float = 4.0
    ability_sd: float = 0.0

    def draw(
        self,
        shape: tuple[int, int],
        generator: np.random.Generator,
        *,
        crossed: bool = True,
        ability: FloatArray | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Scores (metrics, systems, inputs) and gold (systems, inputs), `crossed`, or each cell independently."""
        systems, inputs = shape
        scores, gold = np.zeros((len(self.agreement), *shape)), np.zeros(shape)
        sizes = ((systems, 1), (1, inputs), shape) if crossed else (shape, shape, shape)
        normal = [generator.standard_normal((2 + len(self.agreement), *size)) for size in sizes]
        # Factors are drawn after all that is normal, which thus stays as it is without them.
        abilities = self._abilities(sizes[1], generator) if ability is None else ability
        factor = self._factors(sizes[0], generator) * abilities
        for at, each in enumerate(normal):
            human, common, own = each[0], each[1], each[2:]
            rho = np.array([each[at] for each in self.agreement])[:, None, None]
            rest = math.sqrt(self.shared) * common + math.sqrt(1 - self.shared) * own
            of_system = factor if at == 0 else 1.0
            gold += self.gold_sd[at] * human * of_system
            scores += self.metric_sd[at] * (rho * human + np.sqrt(1 - rho**2) * rest) * of_system
        if self.likert is not None:
            gold = self._rounded(gold)
        if self.missing:
            gold = np.where(generator.random(shape) < self.missing, np.nan, gold)
        return scores, gold

    def _factors(self, size: tuple[int, int], generator: np.random.Generator) -> FloatArray:
        """Factor of each system's effects; one number without any."""
        factor = np.ones((1, 1))
        if self.system_df is not None:
            factor = np.sqrt((self.system_df - 2) / generator.chisquare(self.system_df, size))
        if self.outlying:
            factor = factor * np.where(generator.random(size) < self.outlying, self.outlying_factor, 1.0)
        return factor

    def _abilities(self, size: tuple[int, ...], generator: np.random.Generator) -> FloatArray:
        """Factor of all systems' effects on each input; one number without any."""
        return self._lognormal(generator.standard_normal(size)) if self.ability_sd else np.ones((1, 1))

    def _lognormal(self, normal: FloatArray) -> FloatArray:
        """Factors of mean 1 and SD `ability_sd`, from standard normal numbers."""
        variance = math.log1p(self.ability_sd**2)
        return np.asarray(np.exp(math.sqrt(variance) * normal - variance / 2))

    def _rounded(self, gold: FloatArray) -> FloatArray:
        assert self.likert is not None
        points = (self.likert + 1) / 2 + gold / math.hypot(*self.gold_sd) * (self.likert - 1) / 4
        return np.asarray(np.clip(np.rint(points), 1, self.likert))

    def population(
        self, level: str, records: Sequence[Coefficient], n_inputs: int, missing: str = "pairwise"
    ) -> tuple[FloatArray, FloatArray]:
        """True correlations with gold, (coefficients, metrics), and their Monte Carlo errors (coefficients,).

        System level: of means over `n_inputs` inputs; input level: mean over inputs. For normal scores r follows from
        the variances, Spearman's ρ is ``6/π·arcsin(r/2)``, every τ ``2/π·arcsin r``, pairwise accuracy ``1/2 +
        arcsin(r)/π``. Pearson's r follows from the variances for any scores, averaged over abilities. Rounded gold,
        gaps, and ranks of non-normal scores are averaged over large simulated populations.
        """
        values, errors = np.empty((len(records), len(self.agreement))), np.zeros(len(records))
        closed = [self._is_closed(level, record) for record in records]
        if any(closed):
            r, chances, sampled = self._pearson(level, n_inputs)
        for at, record in enumerate(records):
            if closed[at]:
                assert record.normal_value is not None
                found = record.normal_value(r)
                values[at] = chances @ found
                errors[at] = found.std(axis=0).max() / math.sqrt(len(found)) if sampled else 0.0
        left = [at for at, each in enumerate(closed) if not each]
        if left:
            values[left], errors[left] = self._integrated(level, [records[at] for at in left], n_inputs, missing)
        return values, errors

    @property
    def _whole(self) -> bool:
        return self.likert is None and not self.missing

    def _is_closed(self, level: str, record: Coefficient) -> bool:
        """Whether a true correlation follows from the variances."""
        if not self._whole:
            return False
        if level == "within_system":  # where a system's own effect is a constant
            return not self.ability_sd
        normal = self.system_df is None and not self.outlying and (level != "global" or not self.ability_sd)
        return normal or _is_pearson(record)

    def _pearson(self, level: str, n_inputs: int) -> tuple[FloatArray, FloatArray, bool]:
        """Pearson's r by factors of inputs (factors, metrics), the chance of each, and whether these are a sample."""
        abilities, chances, sampled = np.ones(1), np.ones(1), False
        if self.ability_sd and level == "input":
            nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
            abilities, chances = self._lognormal(nodes), weights / weights.sum()
        elif self.ability_sd and level == "system":
            abilities = self._mean_abilities(n_inputs)
            chances, sampled = np.full(len(abilities), 1 / len(abilities)), True
        elif self.ability_sd:
            abilities = np.array([math.sqrt(1 + self.ability_sd**2)])
        larger = 1 + self.outlying * (self.outlying_factor**2 - 1)
        weights = np.array([[1 / n_inputs if each is None else each for each in _WEIGHTS[level]]] * len(abilities))
        weights[:, 0] *= larger * abilities**2
        gold, metric = np.square(self.gold_sd), np.square(self.metric_sd)
        shared = (weights * np.sqrt(gold * metric)) @ np.array(self.agreement).T
        return shared / np.sqrt((weights @ gold) * (weights @ metric))[:, None], chances, sampled

    def _mean_abilities(self, n_inputs: int) -> FloatArray:
        """A sample of mean factors over this number of inputs."""
        generator = np.random.Generator(np.random.SFC64(0))
        size = int(np.clip(_NUMBERS // n_inputs, 500, _MEANS))
        return np.array([self._abilities((n_inputs,), generator).mean() for _ in range(size)])

    def _integrated(
        self, level: str, records: Sequence[Coefficient], n_inputs: int, missing: str
    ) -> tuple[FloatArray, FloatArray]:
        repeats, draw = self._populations(level, n_inputs)
        # Means stand as the cells of one input, which many systems are sorted by.
        of_means = "input" if self._whole else "global"
        measures = [Measure(record, of_means if level == "system" else level) for record in records]
        found = np.empty((repeats, len(records), len(self.agreement)))
        for row, generator in zip(found, generators(repeats), strict=True):
            scores, gold = draw(generator)
            for at, x in enumerate(scores):
                z = gold
                if level == "system" and not self._whole:
                    there = np.isfinite(gold)
                    every = np.isfinite(x) if missing == "available" else there
                    x, z = (arrays.means_as_cells(*each) for each in ((x, every), (gold, there)))
                for place, measure in enumerate(measures):
                    row[place, at] = measure.estimator(x, z).value()
        return found.mean(axis=0), found.std(axis=0, ddof=1).max(axis=1) / math.sqrt(repeats)

    def _populations(
        self, level: str, n_inputs: int
    ) -> tuple[int, Callable[[np.random.Generator], tuple[FloatArray, FloatArray]]]:
        """Number of populations to average, and a function that draws one."""
        if level not in ("system", "input") or (level == "system" and not self._whole):
            *shape, repeats = population_sizes(level, n_inputs)
            return repeats, lambda generator: self.draw((shape[0], shape[1]), generator, crossed=level != "global")
        systems, inputs, repeats = _POPULATIONS["input"]
        averaged = n_inputs if level == "system" else 1
        made = self._of_means(averaged) if self._whole else self
        means = self._mean_abilities(averaged) if self.ability_sd else None

        def draw(generator: np.random.Generator) -> tuple[FloatArray, FloatArray]:
            ability = None
            if means is not None:
                ability = np.quantile(means, (np.arange(inputs) + generator.random(inputs)) / inputs)[None]
            return made.draw((systems, inputs), generator, crossed=not self._whole, ability=ability)

        return repeats, draw

    def _of_means(self, n_inputs: int) -> Model:
        """The model whose cells are means over this number of inputs, without what inputs add to all systems alike."""
        gold, metric = ((sds[0], 0.0, sds[2] / math.sqrt(n_inputs)) for sds in (self.gold_sd, self.metric_sd))
        return replace(self, gold_sd=gold, metric_sd=metric)


def _is_pearson(record: Coefficient) -> bool:
    """Whether a coefficient equals r for normal scores, and covariance over SDs for any."""
    r = np.array([0.25, 0.5])
    return record.normal_value is not None and bool((record.normal_value(r) == r).all())


def population_sizes(level: str, n_inputs: int) -> tuple[int, int, int]:
    """Systems and inputs of a simulated population, and how many are averaged."""
    if level != "system":
        return _POPULATIONS[level]
    return int(np.clip(_CELLS // n_inputs, *_SYSTEMS)), n_inputs, _REPEATS


def generators(size: int, seed: int = 0) -> list[np.random.Generator]:
    """Generators of simulated populations, the same each time."""
    return [np.random.Generator(np.random.SFC64(each)) for each in np.random.SeedSequence(seed).spawn(size)]
