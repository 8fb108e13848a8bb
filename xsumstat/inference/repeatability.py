"""How well several runs of one metric agree: flips between runs, variance components, and what averaging gains."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xsumstat.core.types import BoolArray, FloatArray
from xsumstat.inference import prompts
from xsumstat.inference.components import EFFECTS, Axes, Layout

COMPONENTS: dict[str, Axes] = {**EFFECTS, "run": (2,), "residual": (0, 1, 2)}
# Shares of flips, each with its limits, and how many cases they count.
SHARES = ("flip", "reversal", "equal")
# Whose effects make the true differences at each level; those of cells are divided by the inputs of a system's mean.
_TRUE = {
    "system": ("system", "cell"),
    "input": ("system", "cell"),
    "global": ("system", "input", "cell"),
    "within_system": ("input", "cell"),
}
_ROUNDING = 1e-14  # of the whole variance
_LARGEST_BLOCK = 2**22  # signs that are held at once


def shares(score: FloatArray, confidence_level: float) -> FloatArray:
    """The shares of `SHARES` with limits, and numbers of compared pairs and outputs; scores (systems, inputs, runs)."""
    sums = _sums(score)
    found: list[float] = []
    for top, bottom in ((0, 2), (1, 2), (3, 4)):
        share = prompts.left_out(prompts.ratio(top, bottom), sums, sums[:, bottom])
        found += [share.value, *share.of_share(confidence_level, float(sums[:, bottom].sum()))]
    return np.array([*found, sums[:, 2].sum(), sums[:, 4].sum()])


def _sums(score: FloatArray) -> FloatArray:
    """Of each input: orders that change, orders that are reversed, all; outputs with equal scores, all."""
    systems, inputs, runs = score.shape
    out = np.zeros((inputs, 5))
    one, two = np.triu_indices(systems, 1)
    size = max(1, _LARGEST_BLOCK // max(1, len(one) * runs))
    for start in range(0, inputs, size):
        at = slice(start, start + size)
        values = np.moveaxis(score[:, at], 1, 0)  # (inputs, systems, runs)
        first, second = values[:, one], values[:, two]
        both = ~np.isnan(first) & ~np.isnan(second)
        order = (first > second).astype(np.int8) - (first < second).astype(np.int8)
        there = ~np.isnan(values)
        for a, b in _pairs(runs):
            counted = both[..., a] & both[..., b]
            changed = counted & (order[..., a] != order[..., b])
            reversed_ = counted & (order[..., a] * order[..., b] < 0)
            met = there[..., a] & there[..., b]
            equal = met & (values[..., a] == values[..., b])
            out[at] += np.stack([each.sum(axis=1) for each in (changed, reversed_, counted, equal, met)], axis=1)
    return out


def _pairs(n: int) -> Iterator[tuple[int, int]]:
    return ((a, b) for a in range(n) for b in range(a + 1, n))


@dataclass(frozen=True)
class Components:
    """Variances of scores by `COMPONENTS`, and their covariances with a gold, with all inputs and without each."""

    score: FloatArray  # (systems, inputs, runs)
    gold: FloatArray | None  # (systems, inputs)

    @property
    def _effects(self) -> dict[str, Axes]:
        """Of one system inputs and cells are the same, and all is in the cells."""
        return COMPONENTS if len(self.score) > 1 else {"cell": (1,), "run": (2,), "residual": (0, 1, 2)}

    @cached_property
    def variance(self) -> dict[str, FloatArray]:
        """By effect, of all inputs and without each, (1 + inputs,); 0 where runs differ by rounding alone."""
        found = _deleted(~np.isnan(self.score), self._effects, self.score, self.score)
        total = sum(max(0.0, float(each[0])) for each in found.values())
        for name in ("run", "residual"):
            if abs(found[name][0]) <= _ROUNDING * total:
                found[name] = np.zeros_like(found[name])
        return found

    @cached_property
    def _with_gold(self) -> tuple[dict[str, FloatArray], ...]:
        """Covariances with the gold, and the gold's variances, by effect."""
        assert self.gold is not None
        n = (~np.isnan(self.score)).sum(axis=2)
        mean = np.divide(np.nansum(self.score, axis=2), n, out=np.full(n.shape, np.nan), where=n > 0)
        mask = ~np.isnan(mean) & ~np.isnan(self.gold)
        effects = {name: axes for name, axes in self._effects.items() if name in EFFECTS}
        return tuple(_deleted(mask, effects, x, self.gold) for x in (mean, self.gold))

    def true(self, level: str, of: dict[str, FloatArray]) -> FloatArray:
        """What differs at a level but for the noise of runs, of (co)variances by effect."""
        found = np.zeros(1 + self.score.shape[1])
        for name in (name for name in _TRUE[level] if name in of):
            found = found + of[name] / (self._inputs if level == "system" and name == "cell" else 1.0)
        return found

    def noise(self, level: str) -> FloatArray:
        residual = self.variance["residual"]
        return residual / self._inputs if level == "system" else residual

    @cached_property
    def _inputs(self) -> float:
        """How many inputs the mean of a system has, the harmonic mean over systems."""
        n = (~np.isnan(self.score)).any(axis=2).sum(axis=1)
        return float(1 / np.mean(1 / n[n > 0])) if (n > 0).any() else math.nan

    @cached_property
    def there(self) -> BoolArray:
        return np.asarray((~np.isnan(self.score)).any(axis=(0, 2)))

    def numbers(self) -> FloatArray:
        """Each component, its standard error over inputs, and its share of the variance; (3, components)."""
        nothing = np.full(1 + self.score.shape[1], np.nan)
        found = [self._left_out(self.variance.get(name, nothing)) for name in COMPONENTS]
        value = np.array([each.value for each in found])
        clipped = np.maximum(value, 0.0)
        total = float(np.nansum(clipped))
        share = clipped / total if total > 0 else np.full(len(clipped), np.nan)
        return np.array([value, [each.standard_error for each in found], share])

    def _left_out(self, values: FloatArray) -> prompts.LeftOut:
        return prompts.LeftOut(float(values[0]), values[1:][self.there])

    def reliability(self, level: str, n_runs: Sequence[int], confidence_level: float) -> FloatArray:
        """Of the mean of so many runs, with limits; (3, numbers of runs)."""
        true, noise = self.true(level, self.variance), self.noise(level)
        runs = np.asarray(n_runs, dtype=float)
        signal, left = max(float(true[0]), 0.0), max(float(noise[0]), 0.0)
        value = signal / (signal + left / runs) if signal + left > 0 else np.full(len(runs), np.nan)
        with np.errstate(all="ignore"):
            ratio = np.log(true / noise)
        ratio = np.where(np.isfinite(ratio), ratio, np.nan)
        low, high = (1 / (1 + np.exp(-end) / runs) for end in self._left_out(ratio).by_t(confidence_level))
        return np.array([value + 0.0 * runs, low, high])

    def correlation(self, level: str, n_runs: Sequence[int], confidence_level: float) -> FloatArray:
        """The expected correlation of the mean of so many runs with the gold, with limits; (3, numbers of runs)."""
        covariance, of_gold = (self.true(level, each) for each in self._with_gold)
        true, noise = self.true(level, self.variance), np.maximum(self.noise(level), 0.0)
        out = np.full((3, len(n_runs)), np.nan)
        for at, runs in enumerate(n_runs):
            spread = of_gold * (true + noise / runs)
            with np.errstate(all="ignore"):
                r = np.where((of_gold > 0) & (spread > 0), covariance / np.sqrt(spread), np.nan)
                z = np.arctanh(np.where(np.abs(r) < 1, r, np.nan))
                low, high = np.tanh(self._left_out(z).by_t(confidence_level))
            out[:, at] = np.clip(r[0], -1.0, 1.0), low, high
        return out


def _deleted(mask: BoolArray, effects: dict[str, Axes], x: FloatArray, y: FloatArray) -> dict[str, FloatArray]:
    """The (co)variance of each effect with all inputs, and without each; (1 + inputs,)."""
    out = np.full((len(effects), 1 + mask.shape[1]), np.nan)
    if mask.any():
        layout = Layout(mask, tuple(effects.values()))
        centred = [np.where(mask, each - each[mask].mean(), 0.0) for each in (x, y)]
        out[:, 0] = layout.estimate(*centred)
        out[:, 1:] = layout.without_inputs(*centred)
    return dict(zip(effects, out, strict=True))
