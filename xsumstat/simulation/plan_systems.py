"""Plans of system means and their differences: variance of ratings, and what a judge explains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import value_checks
from xsumstat.dataset.scores import Scores
from xsumstat.inference import components, rating_plans
from xsumstat.inference.rating_plans import Spread
from xsumstat.simulation import given_scores
from xsumstat.simulation.plan_bands import Planned, blocks_of, noises_of
from xsumstat.simulation.plan_budget import Question, laid_out
from xsumstat.simulation.plan_raters import Noise, Ratings

OF_SYSTEMS = ("mean", "difference")


def prepared(ds: xr.Dataset, gold: Any, metric: Any) -> Scores:
    """Scores of these systems in memory; without a judge gaps of metrics do not matter."""
    with value_checks.held() as held:
        found = given_scores.prepared(ds, gold, metric, level="global", these_systems=True)
    for caveat in held.caveats:
        if metric is not None or caveat.code not in ("cells_left_out", "fewer_labels"):
            validate.warn(caveat)
    return found


def spreads(found: Scores, estimand: str, ratings: Ratings | None, judged: bool) -> list[Planned[Spread]]:
    """By each metric as the judge, or by ratings alone: for the data, and without each block of inputs."""
    human = found.gold.values
    if estimand == "difference" and len(human) < 2:
        raise ValueError("a difference needs two systems, and the scores have one; use estimand='mean'")
    blocks = blocks_of(human.shape, True)
    noise = None if ratings is None else ratings.noise
    noises: list[Noise | None] = [None] * len(blocks[1])
    if ratings is not None:
        noises = noises_of(ratings, found.gold, blocks)[0]
    made = []
    for x in found.score.values if judged else [None]:
        own = _spread(x, human, noise, ratings is None, estimand)
        if own is None:
            raise ValueError(
                f"the scores of {found.gold_name!r} are too few to tell how much "
                + ("two systems' scores differ" if estimand == "difference" else "a system's scores vary")
                + " from input to input"
            )
        without = [
            _spread(
                None if x is None else np.delete(x, each, 1), np.delete(human, each, 1), less, ratings is None, estimand
            )
            for each, less in zip(blocks[1], noises, strict=True)
        ]
        made.append(Planned(own, (without,)))
    return made


def _spread(
    x: FloatArray | None, human: FloatArray, noise: Noise | None, of_gold: bool, estimand: str
) -> Spread | None:
    """Variance of one output's rating between inputs, or of the difference of two; None where unknown."""
    raw = components.crossed(np.array([human] if x is None else [x, human]))
    if np.isnan(raw).any():
        return None
    noise = Noise.of_gold(raw) if of_gold else noise
    if noise is None:
        return None
    several = components.repaired(raw)
    difference = estimand == "difference"
    together = 2 * several[2] if difference else several[1] + several[2]
    of_inputs = 0.0 if difference else float(several[1, -1, -1])
    times = 2 if difference else 1
    between = of_inputs + times * noise.cell
    explained = float(together[0, -1] ** 2 / together[0, 0]) if x is not None and together[0, 0] > 0 else 0.0
    return Spread(between, times * noise.residual, min(explained, between))


# --- What is wanted of them ---


@dataclass(frozen=True)
class Wanted:
    """An interval, or a test of a difference of this `size`, for so many systems."""

    planned: Planned[Spread]
    size: float | None
    alpha: float
    confidence_level: float

    @property
    def name(self) -> str:
        return "width" if self.size is None else "power"

    def numbers(self, rated: Any, raters: int, judged: Any) -> FloatArray:
        own = self.planned.own
        if self.size is None:
            return own.width(rated, raters, judged, self.confidence_level)
        return own.power(self.size, rated, raters, judged, self.alpha)

    def told(self, rated: int, raters: int, judged: int) -> dict[str, float]:
        """Numbers of one design, with limits and the standard error."""

        def error_of(spread: Spread) -> float:
            return math.sqrt(float(spread.variance(rated, raters, judged)))

        value, error = float(self.numbers(rated, raters, judged)), error_of(self.planned.own)
        low, high = self.planned.limits(error, error_of, self.confidence_level)
        if self.size is None:
            limits = (value * low / error, value * high / error) if error > 0 else (math.nan, math.nan)
        else:
            df = rating_plans.degrees_of_freedom(rated, judged)
            worst, best = (float(rating_plans.power(self.size, each**2, df, self.alpha)) for each in (high, low))
            limits = (math.nan, math.nan) if math.isnan(low) else (worst, best)
        return {self.name: value, f"{self.name}_low": limits[0], f"{self.name}_high": limits[1],
                "standard_error": error}  # fmt: skip

    def question(self, verdicts: str) -> Question:
        """The question for designs within a budget."""
        alone = None if verdicts == "none" else self.question("none")
        return Question(
            lambda design, rated, judged: self.numbers(rated, design.raters or 1, judged if alone else 0),
            self.size is not None,
            verdicts,
            lambda design, rated, judged: self.told(rated, design.raters or 1, judged if alone else 0),
            alone,
        )

    def least_inputs(self, target: float, raters: int, judged: int) -> float:
        """Least number of rated inputs that reaches a target."""
        question = self.question("none")

        def enough(n: int) -> bool:
            return question.enough(float(self.numbers(n, raters, judged)), target)

        return rating_plans.least_number(enough, 2, rating_plans.MOST if not judged else judged)


def in_designs(
    wanted: Sequence[tuple[dict[str, Any], Wanted]],
    inputs: Sequence[int],
    raters: Sequence[int | None],
    judged: Sequence[int | None],
    target: float | None,
) -> xr.Dataset:
    """Widths or powers for all numbers of inputs, raters and judged inputs, and the least inputs for a target."""
    rows, least = [], []
    for labels, each in wanted:
        for people in raters:
            for scored in judged:
                place = {**labels, "n_raters": people, "n_judged": scored}
                for n in inputs:
                    rows.append(({**labels, "n_inputs": n, "n_raters": people, "n_judged": scored},
                                 each.told(n, people or 1, max(n, scored or 0) if scored else 0)))  # fmt: skip
                if target is not None:
                    least.append((place, {"least_inputs": each.least_inputs(target, people or 1, scored or 0)}))
    found = laid_out(rows)
    return found.merge(laid_out(least)) if least else found
