"""The prompts, ratings and verdicts that a budget buys, and the cheapest design: `plan` with costs.

N systems, n rated and m judged inputs and r ratings cost ``prompt·max(n, m) + N·(rating·n·r + verdict·m)``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.inference.rating_plans import MOST, least_number, tried

# Of fewer inputs nothing is planned.
LEAST_INPUTS = 5
# Rounding of costs, over what one more input costs.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Costs:
    rating: float
    prompt: float
    verdict: float

    @classmethod
    def checked(cls, rating: Any, prompt: Any, verdict: Any) -> Costs:
        """Defaults: a rating costs 1, prompts and verdicts 0."""
        found = {"rating": (1.0, rating), "prompt": (0.0, prompt), "verdict": (0.0, verdict)}
        costs = cls(**{
            name: default if given is None else validate.number(f"cost_per_{name}", given, 0, MOST)
            for name, (default, given) in found.items()
        })  # fmt: skip
        if costs.rating == 0:
            raise ValueError("cost_per_rating must be above 0: ratings that cost nothing need no plan")
        return costs


@dataclass(frozen=True)
class Money:
    """Costs and budgets; without budgets the cheapest design is found."""

    costs: Costs
    budgets: list[float] | None

    @classmethod
    def checked(cls, budget: Any, target: float | None, costs: tuple[Any, Any, Any]) -> Money | None:
        """None where neither a budget nor costs are given."""
        if budget is None and all(each is None for each in costs):
            return None
        prices = Costs.checked(*costs)
        if (budget is None) == (target is None):
            given = "are both given" if target is not None else "are both missing, and costs are given"
            raise ValueError(
                f"budget and target {given}: budget= asks for the best design that money buys, target= for the "
                "cheapest that is good enough; give one"
            )
        if budget is None:
            return cls(prices, None)
        budgets = [validate.number("budget", each, 0, MOST) for each in validate.listed(budget)]
        return cls(prices, validate.different("budget", budgets))

    @property
    def attrs(self) -> dict[str, float]:
        return {f"cost_per_{name}": getattr(self.costs, name) for name in ("rating", "prompt", "verdict")}


@dataclass(frozen=True)
class Design:
    """Number of systems, of raters (None: as in the data), and of judged inputs (if fixed)."""

    systems: int
    raters: int | None
    judged: int | None = None


# From rated and judged inputs of a design, arrays, to widths or powers.
Numbers = Callable[[Design, FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class Question:
    """What is wanted of a design.

    `numbers` gives widths, or powers (larger is better). A judge's `verdicts` are "none", of "rated" outputs, or
    "more". `told` gives all numbers of a design; `alone` is the question for ratings alone.
    """

    numbers: Numbers
    power: bool
    verdicts: str
    told: Callable[[Design, int, int], dict[str, float]]
    alone: Question | None = None

    def better(self, numbers: FloatArray) -> FloatArray:
        """The numbers with the sign for which less is better; NaN is worst."""
        return np.where(np.isnan(numbers), math.inf, -numbers if self.power else numbers)

    def enough(self, number: float, target: float) -> bool:
        return number >= target if self.power else number <= target


@dataclass(frozen=True)
class Market:
    costs: Costs
    question: Question

    def cost(self, design: Design, rated: float, judged: float) -> float:
        own = self.costs
        scored = 0.0 if self.question.verdicts == "none" else judged
        outputs = design.systems * (own.rating * (design.raters or 1) * rated + own.verdict * scored)
        return own.prompt * max(rated, judged) + outputs

    def bought(self, design: Design, budget: float) -> tuple[int, int]:
        """Best numbers of rated and judged inputs; 0 where the budget is too small."""
        rated, judged = self._affordable(design, budget)
        if not len(rated):
            return 0, 0
        if len(rated) == 1:
            return int(rated[0]), int(judged[0])
        best = int(np.argmin(self.question.better(self.question.numbers(design, rated, judged))))
        return int(rated[best]), int(judged[best])

    def _affordable(self, design: Design, budget: float) -> tuple[FloatArray, FloatArray]:
        """All affordable numbers of rated and judged inputs."""
        own, none = self.costs, np.zeros(0)
        rating, verdict = design.systems * own.rating * (design.raters or 1), own.prompt + design.systems * own.verdict
        if self.question.verdicts != "more":
            each = rating + (verdict if self.question.verdicts == "rated" else own.prompt)
            n = math.floor(min(budget / each + _ROUNDING, MOST))
            return (np.array([float(n)]),) * 2 if n >= LEAST_INPUTS else (none, none)
        if design.judged is not None:
            n = math.floor(min((budget - design.judged * verdict) / rating + _ROUNDING, design.judged))
            return (np.array([float(n)]), np.array([float(design.judged)])) if n >= LEAST_INPUTS else (none, none)
        most = math.floor(min(budget / (rating + verdict) + _ROUNDING, MOST))
        if most < LEAST_INPUTS:
            return none, none
        several = tried(LEAST_INPUTS, most).astype(float)
        left = np.minimum((budget - rating * several) / verdict + _ROUNDING, MOST)
        return several, np.maximum(several, np.floor(left))

    def least(self, design: Design) -> float:
        judged = LEAST_INPUTS if design.judged is None else max(LEAST_INPUTS, design.judged)
        return self.cost(design, LEAST_INPUTS, judged)

    def cheapest(self, design: Design, target: float) -> tuple[int, int]:
        """Cheapest numbers of rated and judged inputs that reach a target; 0 where none do."""

        def enough(rated: float, judged: float) -> bool:
            number = self.question.numbers(design, np.array([rated]), np.array([judged]))[0]
            return self.question.enough(float(number), target)

        fixed = design.judged
        if self.question.verdicts != "more" or fixed is not None:
            most = MOST if fixed is None else fixed
            if most < LEAST_INPUTS:
                return 0, 0
            n = least_number(lambda n: enough(n, n if fixed is None else fixed), LEAST_INPUTS, most)
            return (0, 0) if math.isnan(n) else (int(n), int(n if fixed is None else fixed))
        low, high = 0.0, self.least(design)
        while not enough(*self.bought(design, high)):
            if high > self.least(design) * MOST:
                return 0, 0
            low, high = high, 2 * high
        while high - low > 1e-7 * high:
            middle = (low + high) / 2
            found = self.bought(design, middle)
            low, high = (low, middle) if found[0] and enough(*found) else (middle, high)
        return self.bought(design, high)


def planned(
    questions: Sequence[tuple[dict[str, Any], Question]],
    money: Money,
    designs: Mapping[str, Sequence[Any]],
    target: float | None,
) -> xr.Dataset:
    """What is bought of every design, and which is best, on the dims of the labels, designs and budgets.

    `questions` are pairs of labels by dim and Question; `designs` has ``n_systems``, ``n_raters`` and ``n_judged``; a
    None is no label. Without budgets the cheapest designs that reach `target` are found.
    """
    every = [Design(*each) for each in itertools.product(*designs.values())]
    rows = []
    budgets: Sequence[float | None] = money.budgets or [None]
    for (labels, question), budget in itertools.product(questions, budgets):
        market, bought = Market(money.costs, question), False
        for design in every:
            place = {**labels, **dict(zip(designs, (design.systems, design.raters, design.judged), strict=True))}
            row = _row(market, design, budget, target)
            bought |= bool(row["rated_inputs"])
            rows.append(({**place, "budget": budget}, row))
        if budget is not None and not bought:
            raise ValueError(_too_small(market, every, budget))
    ds = laid_out(rows)
    by = "cost" if money.budgets is None else "power" if "power" in ds else "width"
    return ds.assign(best=_best(ds, by, [dim for dim in designs if dim in ds.dims]))


def _best(ds: xr.Dataset, by: str, chosen: list[str]) -> xr.DataArray:
    """The best design; among equals the cheapest, then the first."""
    worth = -ds[by] if by == "power" else ds[by]
    if not chosen:
        return worth.notnull()
    order = [*(dim for dim in worth.dims if dim not in chosen), *chosen]
    value, cost = (each.transpose(*order).values for each in (worth, ds["cost"]))
    shape = value.shape[: len(order) - len(chosen)]
    best = np.zeros(value.shape, dtype=bool)
    for at in np.ndindex(shape):
        own, paid = value[at].ravel(), cost[at].ravel()
        if not np.isnan(own).all():
            best[at].ravel()[np.lexsort((paid, own))[0]] = True  # NaN comes last
    return xr.DataArray(best, dims=order).transpose(*worth.dims)


def _row(market: Market, design: Design, budget: float | None, target: float | None) -> dict[str, float]:
    """All numbers of a design; none of one that is not bought."""
    question, with_judge = market.question, market.question.verdicts == "more"
    if budget is not None:
        rated, judged = market.bought(design, budget)
    else:
        assert target is not None
        rated, judged = market.cheapest(design, target)
    row: dict[str, float] = {"rated_inputs": rated, **({"judged_inputs": judged} if with_judge else {})}
    row["cost"] = market.cost(design, rated, judged) if rated else math.nan
    none = {"power" if question.power else "width": math.nan}
    row |= question.told(design, rated, judged) if rated else none
    if question.alone is None:
        return row
    alone = Market(market.costs, question.alone)
    if budget is None:
        assert target is not None
        n = alone.cheapest(design, target)[0]
        return row | {"cost_alone": alone.cost(design, n, n) if n else math.nan}
    n = alone.bought(design, budget)[0]
    number = question.alone.numbers(design, np.array([float(n)]), np.zeros(1))[0] if n else math.nan
    return row | {"power_alone" if question.power else "width_alone": float(number)}


def _too_small(market: Market, every: Sequence[Design], budget: float) -> str:
    least = min(every, key=market.least)
    systems = validate.counted(least.systems, "system")
    ratings = f"{validate.counted(least.raters or 1, 'rating')} of each output"
    judged = "" if least.judged is None else f" and {least.judged:,} judged inputs"
    return (
        f"budget={budget:g} is too small: the smallest design, {systems} on {LEAST_INPUTS} inputs with {ratings}"
        f"{judged}, costs {market.least(least):g}"
    )


def laid_out(rows: Sequence[tuple[dict[str, Any], dict[str, float]]]) -> xr.Dataset:
    """Rows on dims; what all rows lack is no variable, and a label None no dim."""
    dims = [dim for dim, label in rows[0][0].items() if label is not None]
    labels = {dim: list(dict.fromkeys(place[dim] for place, _ in rows)) for dim in dims}
    shape = tuple(len(each) for each in labels.values())
    names = list(dict.fromkeys(name for _, row in rows for name in row))
    arrays = {name: np.full(shape, math.nan) for name in names}
    for place, row in rows:
        at = tuple(labels[dim].index(place[dim]) for dim in dims)
        for name, value in row.items():
            arrays[name][at] = value
    return xr.Dataset({name: (dims, values) for name, values in arrays.items()}, labels)
