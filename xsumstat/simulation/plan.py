"""How many systems and inputs the next study needs: `plan`."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import clustering
from xsumstat.analyses.measure import Measure, checked_measure
from xsumstat.coefficients import arrays
from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import locate, results
from xsumstat.dataset import scores as schema
from xsumstat.inference import components, planning
from xsumstat.resampling import draws, jackknife
from xsumstat.simulation import given_scores, plan_bands, plan_budget, plan_systems, trials
from xsumstat.simulation import power as tests_of
from xsumstat.simulation.designs import Design, Questions, Source
from xsumstat.simulation.model import Model
from xsumstat.simulation.plan_bands import Planned
from xsumstat.simulation.plan_budget import LEAST_INPUTS, Money
from xsumstat.simulation.plan_designs import N_RATERS, Asked, Sizes
from xsumstat.simulation.plan_raters import Ratings
from xsumstat.simulation.plan_systems import OF_SYSTEMS

N_SYSTEMS, N_INPUTS = (10, 15, 20, 30, 50, 100), (10, 20, 50, 100, 200, 500, 1000)
METHODS = ("auto", "formula", "simulation")
# Fewer systems of the data say too little of any others.
_LEAST_SYSTEMS = 8
# The standard error of the systems' variance over it, above which plans are rough, and above which none is made.
_ROUGH, _TOO_ROUGH = 0.6, 1.0
_BOTH = ("system", "input")
LEVELS = (*_BOTH, "global", "within_system")
ESTIMANDS = ("agreement", *OF_SYSTEMS)
RESAMPLE = ("auto", "both", "input")
# What is said of each design.
_NUMBERS = ("width", "standard_error", "correlation", "mc_error", "width_low", "width_high")


@validate.public
def plan(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    other: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    difference: float | Sequence[float] | None = None,
    rating: str | xr.DataArray | None = None,
    along: str = "rater",
    level: str = "system",
    coefficient: str = "pearson",
    n_systems: int | Sequence[int] | None = None,
    n_inputs: int | Sequence[int] | None = None,
    n_raters: int | Sequence[int] | None = None,
    target: float | None = None,
    budget: float | Sequence[float] | None = None,
    cost_per_rating: float | None = None,
    cost_per_prompt: float | None = None,
    cost_per_verdict: float | None = None,
    estimand: str | None = None,
    n_judged: int | Sequence[int] | None = None,
    resample: str = "auto",
    method: str = "auto",
    test: Mapping[str, str | bool] | None = None,
    alpha: float = 0.05,
    confidence_level: float = 0.95,
    n_trials: int = 200,
    n_resamples: int = 999,
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Compute how many systems, inputs and raters the next study needs, or a budget buys.

    Parameters
    ----------
    {ds}
        A pilot study without additional dims, or a result of `simulate`, whose model is then used.
    {gold}
    metric : label, list of labels or bool DataArray, optional
        Metrics whose agreement is planned. To plan a mean or a difference, pass the judge that also scores unrated
        inputs.
    other : label, list of labels or bool DataArray, optional
        Plan a test that `metric` agrees better with the human scores than each of these.
    difference : float or list of float, optional
        Plan a paired t-test of two systems whose mean human scores differ by this much.
    rating, along : str or DataArray, optional, and str, default "rater"
        Single ratings (system, input, `along`), whose means are the human scores, and their dim of raters.
    level : {"system", "input", "global", "within_system"}, default "system"
        Level of the correlation; the last two only with ``resample="input"``.
    coefficient : str, default "pearson"
        Other numbers of systems or raters need "pearson", "spearman", one of Kendall's or "pairwise_accuracy".
    n_systems, n_inputs : int or list of int, optional
        Numbers to try. By default these are 10 to 100 systems and 10 to 1,000 inputs. With `other` they are as many
        systems as `ds` has, and 1/2 to 4 times its inputs. With costs, the plan finds the best number of inputs.
    n_raters : int or list of int, optional
        With `rating`, ratings of each output. Default 1, 2, 3 and 5.
    target : float, optional
        Find the fewest inputs, or the least cost, for this width of the interval, or this power (default 0.8).
    budget : float or list of float, optional
        Return the best design that costs at most this much, for each number of systems and raters.
    cost_per_rating, cost_per_prompt, cost_per_verdict : float, optional
        Cost of a rating (default 1), of an input (a prompt; 0), and of a judge's score (a verdict; 0).
    estimand : {"agreement", "mean", "difference"}, optional
        Plan the interval of the correlation, of a system's mean human score, or of the difference of two systems.
        Default "agreement", or "difference" where that is given.
    n_judged : int or list of int, optional
        Inputs that the judge scores, for a mean or difference. Default the best number.
    resample : {"auto", "both", "input"}, default "auto"
        Plan for new systems and inputs ("both"), or these systems ("input"). "auto" is "both" with 8 or more systems.
    method : {"auto", "formula", "simulation"}, default "auto"
        "auto" simulates system-level plans with fewer than 15 systems or another coefficient than Pearson's.
    test : mapping, optional
        With `other`: ``"test"``, "perm_test" (default), "boot_test" or "corr_test", and its keywords.
    alpha, confidence_level : float, default 0.05 and 0.95
        Significance level of the test, and confidence level of the interval, between 0 and 1.
    n_trials, n_resamples : int, default 200 and 999
        Simulated trials of each design, and resamples of each test.
    {rng progress}

    {dataset}
        On the dims that vary: ``width`` or ``power`` with limits ``*_low`` and ``*_high``, ``standard_error``,
        ``correlation``, ``mc_error``, ``simulated``; ``floor``, the width that remains with infinitely many inputs;
        ``least_inputs`` for a target. With costs ``rated_inputs``, ``judged_inputs``, ``cost``, ``best``, and
        ``*_alone`` with ratings alone.

    {demo}
    >>> found = xsumstat.plan(ds, metric="judge", level="input", n_systems=[12, 24, 48], target=0.1)
    >>> found.least_inputs.squeeze().values.tolist()
    [nan, 104.0, 15.0]
    """
    estimand = _estimand(estimand, difference, other)
    measure = _checked_measure(level, coefficient)
    validate.choice("method", method, METHODS)
    validate.choice("resample", resample, RESAMPLE)
    confidence_level = validate.fraction("confidence_level", confidence_level)
    alpha = validate.fraction("alpha", alpha)
    n_trials = validate.n_draws("n_trials", n_trials, 2)
    validate.n_draws("n_resamples", n_resamples, 2)
    asked = Asked(measure, Sizes(n_systems, n_inputs), method, alpha, confidence_level, n_trials, draws.seed_of(rng))
    if test is not None and not isinstance(test, Mapping):
        raise TypeError(f"test must map keywords of a test to values, as {{'method': 'analytic'}}, got {test!r:.100}")
    if rating is None and (along != "rater" or n_raters is not None):
        what = f"along={along!r}" if along != "rater" else f"n_raters={n_raters!r}"
        raise ValueError(f"{what} describes the raters of rating=, which is not given; add rating=...")
    prices = (cost_per_rating, cost_per_prompt, cost_per_verdict)
    if other is not None and any(each is not None for each in (budget, *prices)):
        raise ValueError("other is planned by simulation, without costs; leave them out, or other")
    target = _target(target, difference, other, budget, estimand)
    judged = _judged(n_judged, estimand, metric)
    money = Money.checked(budget, target, prices)
    if money is not None:
        _check_priced(money, asked, estimand, metric, judged)
    way = (
        "ds.groupby({name!r}).mean().rename({name}='input') plans {unit}s, each with {members} inputs, so multiply its "
        "inputs and ratings by {members}"
    )
    clustering.warn_of_documents(locate.checked_scores(ds), ("input",), way)
    ratings = None if rating is None else _ratings(ds, gold, other, method, rating, along)
    raters = [None] if ratings is None else _raters(n_raters, ratings)
    pilot = _Pilot(ds, gold if ratings is None else ratings.gold, metric, ratings, raters)
    if estimand in OF_SYSTEMS:
        if resample == "both":
            raise ValueError(f"the {estimand} is that of these systems, over new inputs; leave resample out")
        found = _of_systems(pilot, difference, target, asked, estimand, judged, money)
    elif other is not None:
        found = _powers(pilot, other, target, test, n_resamples, asked, progress)
    else:
        found = _of_agreement(pilot, target, asked, resample, money, progress)
    given = {"difference": difference, "n_raters": n_raters, "n_judged": n_judged, "budget": budget}
    given |= {"n_inputs": n_inputs} | ({} if other is not None and n_systems is None else {"n_systems": n_systems})
    found = _without_scalars(found, given)
    by_formula = estimand != "agreement" or money is not None
    attrs: dict[str, Any] = {"target": target, "method": "formula" if by_formula else method}
    attrs |= {} if by_formula else {"n_trials": n_trials, "seed": str(asked.seed)}
    attrs |= {"alpha": alpha} if "power" in found else {}
    attrs |= {} if other is not None else {"confidence_level": confidence_level}
    attrs |= {} if estimand != "agreement" else measure.attrs
    attrs |= {} if rating is None else {"rating": found.attrs["gold"], "along": along}
    attrs |= {"estimand": estimand} if by_formula else {}
    attrs |= {} if money is None else money.attrs
    return results.result(xr.Dataset(found.data_vars), None, analysis="plan", **attrs, **found.attrs)


# --- What is asked ---


@dataclass(frozen=True)
class _Pilot:
    """Scores to plan from, with single ratings and the numbers of raters, if any."""

    ds: xr.Dataset
    gold: Any
    metric: Any
    ratings: Ratings | None
    raters: Sequence[int | None]


def _estimand(estimand: Any, difference: Any, other: Any) -> str:
    if other is not None and difference is not None:
        raise ValueError("other and difference are both given; plan one thing at a time")
    if estimand is None:
        return "agreement" if difference is None else "difference"
    validate.choice("estimand", estimand, ESTIMANDS)
    if estimand != "difference" and difference is not None:
        raise ValueError(f"difference={difference!r} compares two systems, and estimand is {estimand!r}; leave one out")
    if estimand != "agreement" and other is not None:
        raise ValueError(f"other compares agreements, and estimand is {estimand!r}; leave one out")
    return str(estimand)


def _checked_measure(level: Any, coefficient: Any) -> Measure:
    validate.choice("level", level, LEVELS)
    measure = checked_measure(level, coefficient, "pairwise", "drop")
    if not _scales(measure) and (level == "system" or measure.coefficient.function is not None):
        raise ValueError(f"there is no plan for coefficient={coefficient!r}, whose value of normal scores is not known")
    return measure


def _scales(measure: Measure) -> bool:
    """Whether the coefficient is known for more inputs at system level, or for more raters."""
    return measure.coefficient.normal_value is not None


def _target(target: Any, difference: Any, other: Any, budget: Any, estimand: str) -> float | None:
    if target is not None:
        powers = difference is not None or other is not None
        return validate.number("target", target, 0, 1 if powers else math.inf if estimand in OF_SYSTEMS else 2)
    return 0.8 if (difference is not None and budget is None) or other is not None else None


def _judged(n_judged: Any, estimand: str, metric: Any) -> list[int | None]:
    """Numbers of inputs that a judge scores; None where open."""
    if n_judged is None:
        return [None]
    if estimand not in OF_SYSTEMS or metric is None:
        raise ValueError(
            "n_judged is how many inputs a judge scores, beside those that people rate, for a mean or a difference; "
            "add metric= and estimand='difference', or leave it out"
        )
    return list(validate.integers("n_judged", n_judged, LEAST_INPUTS, validate.MOST_DRAWS))


def _check_priced(money: Money, asked: Asked, estimand: str, metric: Any, judged: Sequence[int | None]) -> None:
    """Raise for arguments that costs do not affect."""
    if asked.sizes.n_inputs is not None:
        raise ValueError("with costs the number of inputs is planned; leave n_inputs out")
    if asked.method == "simulation":
        raise ValueError("method='simulation' does not take costs; leave method out, and the plan is by formula")
    free = money.costs.prompt == 0 and money.costs.verdict == 0
    if estimand in OF_SYSTEMS and metric is not None and judged == [None] and free:
        raise ValueError(
            "inputs and the judge's scores cost nothing, so more of them always help: say how many there are, "
            "n_judged=1000, or what they cost, cost_per_verdict="
        )


def _ratings(ds: Any, gold: Any, other: Any, method: str, rating: Any, along: str) -> Ratings:
    if gold is not None:
        raise ValueError("gold and rating are both given; with rating= the mean of the ratings is the gold")
    if other is not None or method == "simulation":
        what = "other" if other is not None else "method='simulation'"
        raise ValueError(
            f"{what} cannot be combined with rating=: plans for n_raters are by formula, of widths and differences"
        )
    locate.checked_scores(ds)  # what is wrong with these is said first
    return Ratings.of(ds, rating, along)


def _raters(n_raters: Any, ratings: Ratings) -> list[int | None]:
    """Planned numbers of raters; single ratings do not tell what a second one adds."""
    asked = validate.integers("n_raters", N_RATERS if n_raters is None else n_raters, 1, validate.MOST_DRAWS)
    if not ratings.single:
        return list(asked)
    if n_raters is not None and asked != [1]:
        raise ValueError(
            f"no cell of {ratings.gold.name!r} has two ratings, so raters and outputs cannot be separated; "
            "only n_raters=1 can be planned"
        )
    return [1]


def _without_scalars(found: xr.Dataset, given: Mapping[str, Any]) -> xr.Dataset:
    """Drop the dims of single numbers, which are in attrs."""
    for dim, value in given.items():
        if dim in found.dims and found.sizes[dim] == 1 and not validate.is_list(value):
            label = found[dim].values[0].item()
            found = found.squeeze(dim, drop=True)
            found = found.assign_attrs({dim: label})
    return found


# --- Means and differences ---


def _of_systems(
    pilot: _Pilot,
    difference: Any,
    target: float | None,
    asked: Asked,
    estimand: str,
    judged: Sequence[int | None],
    money: Money | None,
) -> xr.Dataset:
    metric, ratings, raters = pilot.metric, pilot.ratings, pilot.raters
    sizes = [None] if difference is None else _differences(difference)
    if money is None and asked.sizes.n_systems is not None:
        which = "two systems are compared" if estimand == "difference" else "a mean describes one system"
        asked_of = f"difference={difference}" if difference is not None else f"estimand={estimand!r}"
        raise ValueError(f"{asked_of}: {which}, whatever n_systems is; leave n_systems out")
    if money is None and metric is not None and judged == [None]:
        raise ValueError("metric helps by scoring more inputs than people rate: say how many, as n_judged=1000")
    found = plan_systems.prepared(pilot.ds, pilot.gold, metric)
    labels: list[Any] = [None] if metric is None else list(found.score.indexes["metric"])
    planned = plan_systems.spreads(found, estimand, ratings, metric is not None)
    wanted = [
        ({"metric": label, "difference": size}, plan_systems.Wanted(each, size, asked.alpha, asked.confidence_level))
        for label, each in zip(labels, planned, strict=True)
        for size in sizes
    ]
    if money is None:
        _, inputs = asked.sizes.of([4], N_INPUTS)
        made = plan_systems.in_designs(wanted, inputs, raters, judged, target)
        return made.assign_attrs(gold=found.gold_name, resample="input")
    least = 2 if estimand == "difference" else 1
    systems, _ = replace(asked.sizes, least_systems=least).of([found.shape[0]], N_INPUTS)
    designs = {"n_systems": systems, "n_raters": raters, "n_judged": judged}
    verdicts = "none" if metric is None else "more"
    questions = [(at, each.question(verdicts)) for at, each in wanted]
    made = plan_budget.planned(questions, money, designs, target)
    return made.assign_attrs(gold=found.gold_name, resample="input")


def _differences(given: Any) -> list[float]:
    sizes = [validate.number("difference", each, 0, math.inf) for each in validate.listed(given)]
    if 0 in sizes:
        raise ValueError(f"difference must be above 0, got {given!r}")
    return validate.different("difference", sizes)


# --- Agreement ---


def _of_agreement(
    pilot: _Pilot, target: float | None, asked: Asked, resample: str, money: Money | None, progress: bool | None
) -> xr.Dataset:
    given, raters = _given(pilot, asked, resample), pilot.raters
    if given.these:
        if asked.sizes.n_systems is not None:
            raise ValueError(
                f"level={asked.measure.level!r}: intervals for these {given.systems} systems are planned, whatever "
                "n_systems is; leave n_systems out, or ask resample='both'"
            )
        asked = replace(asked, sizes=replace(asked.sizes, n_systems=given.systems, least_systems=1), method="formula")
    about = {"resample": "input" if given.these else "both"}
    if money is None:
        each = [_widths(given, target, asked, progress, at) for at in raters]
        return _by_raters(each, raters).assign_attrs(about)
    systems, _ = asked.sizes.of([given.systems], N_INPUTS)
    designs = {"n_systems": systems, "n_raters": raters, "n_judged": [None]}
    by_raters = {at: given.by_raters(at) for at in raters}
    questions = [
        ({"metric": label}, _priced({at: each[place] for at, each in by_raters.items()}, asked))
        for place, label in enumerate(given.labels)
    ]
    made = plan_budget.planned(questions, money, designs, target)
    return made.assign_attrs(about | {"gold": given.gold_name})


def _priced(planned: Mapping[int | None, Planned[planning.Expected]], asked: Asked) -> plan_budget.Question:
    def widths(design: plan_budget.Design, rated: FloatArray, judged: FloatArray) -> FloatArray:
        return np.array([asked.width(planned[design.raters].own, design.systems, n) for n in rated])

    def told(design: plan_budget.Design, rated: int, judged: int) -> dict[str, float]:
        one, n = planned[design.raters], design.systems
        low, high, error = asked.interval(one.own, n, rated)
        limits = _limits(one, (n, rated), high - low, math.nan, asked)
        return {"width": high - low, "width_low": limits[0], "width_high": limits[1], "standard_error": error,
                "correlation": one.own.value(rated)}  # fmt: skip

    return plan_budget.Question(widths, False, "rated", told)


def _by_raters(each: list[xr.Dataset], raters: Sequence[int | None]) -> xr.Dataset:
    if raters[0] is None:
        return each[0]
    return xr.concat(each, xr.DataArray(list(raters), dims="n_raters", name="n_raters"), combine_attrs="override",
                     data_vars="all").transpose(..., "n_raters")  # fmt: skip


# --- Widths ---


@dataclass(frozen=True)
class _Given:
    labels: list[Any]
    gold_name: str
    source: Source | None
    systems: int
    these: bool
    by_raters: Callable[[int | None], list[Planned[planning.Expected]]]


def _widths(given: _Given, target: float | None, asked: Asked, progress: bool | None, raters: int | None) -> xr.Dataset:
    systems, inputs = asked.sizes.of(N_SYSTEMS, N_INPUTS)
    planned = given.by_raters(raters)
    asked = asked if raters is None else replace(asked, method="formula")
    shape = (len(planned), len(systems), len(inputs))
    numbers = {each: np.full(shape, np.nan) for each in _NUMBERS}
    simulated = np.zeros(shape[1:], dtype=bool)
    floor, least = np.full(shape[:2], np.nan), np.full(shape[:2], np.nan)
    drawn = [(n, m) for n in systems if not asked.by_formula(n) for m in inputs]
    expected = [each.own for each in planned]
    by_design = _simulated(given.source, drawn, expected, asked, progress) if drawn and given.source else {}
    for at, one in enumerate(expected):
        for row, n in enumerate(systems):
            floor[at, row] = asked.width(one, n, math.inf)
            if target is not None and asked.by_formula(n):
                least[at, row] = planning.least_inputs(one, n, target, asked.confidence_level, scale=asked.scale)
            for column, m in enumerate(inputs):
                if (n, m) in by_design:
                    at_design = by_design[n, m][:, at]
                    simulated[row, column] = True
                else:
                    low, high, error = asked.interval(one, n, m)
                    at_design = np.array([high - low, error, one.value(m), np.nan])  # nothing is drawn
                limits = _limits(planned[at], (n, m), at_design[0], at_design[3], asked)
                for each, value in zip(numbers, (*at_design, *limits), strict=True):
                    numbers[each][at, row, column] = value
            if target is not None and not asked.by_formula(n):
                enough = [m for m, wide in zip(inputs, numbers["width"][at, row], strict=True) if wide <= target]
                least[at, row] = min(enough, default=math.nan)
    coords = {"metric": given.labels, "n_systems": systems, "n_inputs": inputs}
    found = xr.Dataset({each: (list(coords), values) for each, values in numbers.items()}, coords)
    found["simulated"] = (["n_systems", "n_inputs"], simulated)
    found["floor"] = (["metric", "n_systems"], floor)
    if target is not None:
        found["least_inputs"] = (["metric", "n_systems"], least)
    return found.assign_attrs(gold=given.gold_name)


def _limits(
    planned: Planned[planning.Expected], design: Design, width: float, error: float, asked: Asked
) -> tuple[float, float]:
    """Limits of the expected width of a design; `error` is its Monte Carlo error, NaN for a formula."""
    n, m = design
    low, high = planned.limits(
        width, lambda one: asked.width(one, n, m), asked.confidence_level, error / width if error > 0 else 0.0
    )
    return low, min(high, 2.0 / asked.scale) if high == high else high


def _given(pilot: _Pilot, asked: Asked, resample: str) -> _Given:
    measure, ratings, scores = asked.measure, pilot.ratings, (pilot.ds, pilot.gold, pilot.metric)
    if not _scales(measure) and ratings is not None:
        raise ValueError(
            f"it is not known what more raters do to coefficient={measure.coefficient.name!r}; give their mean or "
            "majority as gold=, not rating="
        )
    questions = Questions.of(measure.level, measure.coefficient.name, "pairwise", "drop")
    if "model" in pilot.ds.attrs and resample != "input":
        _check_like_these(measure)
        source = Source.of(*scores, questions, True, None, None)
        known = [Planned(each) for each in _of_model(source, asked)]
        return _Given(source.labels, source.gold_name, source, source.scores.shape[1], False, lambda raters: known)
    whom = True if resample == "input" else None  # too few for "both" is an error, below
    found = given_scores.prepared(*scores, level=measure.level, these_systems=whom)
    alike = measure.level in _BOTH and _scales(measure)
    these = resample == "input" or (resample == "auto" and not (alike and found.shape[0] >= _LEAST_SYSTEMS))
    if these and asked.method == "simulation":
        raise ValueError("method='simulation' draws systems like these; for these very systems plans are by formula")
    if not these:
        _check_like_these(measure)
        _check_enough(found)
    bases = plan_bands.bases(found, measure, ratings, these)
    drawn = None if these else Source.of(*scores, questions, True, None, None)
    labels = list(found.score.indexes["metric"])
    return _Given(labels, found.gold_name, drawn, found.shape[0], these,
                  lambda raters: [each.planned(raters) for each in bases])  # fmt: skip


def _check_like_these(measure: Measure) -> None:
    if measure.level not in _BOTH:
        raise ValueError(f"level={measure.level!r} is planned for these systems alone; ask resample='input'")
    if not _scales(measure):
        raise ValueError(
            f"there is no plan for coefficient={measure.coefficient.name!r} and systems like these, as its value of "
            "normal scores is not known; ask resample='input'"
        )


def _of_model(source: Source, asked: Asked) -> list[planning.Expected]:
    """Expectations for normal scores with known covariances."""
    model = source.model
    assert isinstance(model, Model)
    plain = model.likert is None and not model.missing and model.system_df is None
    plain = plain and not model.outlying and not model.ability_sd
    if asked.method != "simulation" and not (plain and asked.measure.coefficient.name == "pearson"):
        raise ValueError(
            "formulas of a model are for Pearson's r of normal scores without grades and gaps; ask method='simulation'"
        )
    gold, metric = np.array(model.gold_sd), np.array(model.metric_sd)
    covariances = [
        np.array(
            [[[m**2, r * g * m], [r * g * m, g**2]] for g, m, r in zip(gold, metric, model.agreement[at], strict=True)]
        )
        for at in source.chosen
    ]
    return [planning.FromModel(asked.measure.level, each) for each in covariances]


def _check_enough(found: schema.Scores) -> None:
    """Raise if data do not suffice to plan for other systems."""
    systems = found.shape[0]
    if systems < _LEAST_SYSTEMS:
        raise ValueError(
            f"{systems} systems are too few to plan from, {_LEAST_SYSTEMS} are the least; "
            "without data plan from what simulate gives, with the agreement that you expect"
        )
    values, error = components.estimates(found.gold.values[None], tuple(components.EFFECTS.values()))
    variance, spread = float(values[0, 0, 0]), float(error[0, 0, 0])
    said = f"the variance of systems by {found.gold_name!r} is {variance:.3g} with a standard error of {spread:.3g}"
    if not spread < _TOO_ROUGH * variance:
        raise ValueError(f"{said}: too uncertain to plan from; more systems or ratings are needed")
    if spread > _ROUGH * variance:
        validate.warn(f"{said}: plans are rough", "rough_plan")


def _simulated(
    source: Source, designs: list[Design], expected: list[planning.Expected], asked: Asked, progress: bool | None
) -> dict[Design, FloatArray]:
    """Width, standard error, correlation and Monte Carlo error of the width, (4, metrics), of each design."""
    own: Design = (source.scores.shape[1], source.scores.shape[2])
    source.check_likeness()
    every = designs if source.like is None or own in designs else [*designs, own]

    def answer(design: Design, generator: np.random.Generator) -> FloatArray:
        drawn = source.drawn(design, generator)
        found = jackknife.intervals(*drawn, source.targets, asked.measure, _BOTH, asked.confidence_level)
        return np.array([found[2] - found[1], found[3], found[0]])

    shape = (3, len(source.targets))
    found = trials.answers(every, asked.n_trials, asked.seed, answer, shape, progress)
    # Axes: numbers, designs, trials, metrics.
    squares = found[1] ** 2
    wide, error, r, variance = (arrays.defined_means(np.moveaxis(each, 1, 0)) for each in (*found, squares))
    spread = [np.sqrt(arrays.defined_means(np.moveaxis((each - mean[:, None]) ** 2, 1, 0)) / (asked.n_trials - 1))
              for each, mean in ((found[0], wide), (squares, variance))]  # fmt: skip
    if source.like is None:
        return {design: np.array([wide[at], error[at], r[at], spread[0][at]]) for at, design in enumerate(designs)}
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = spread[1] / variance
    base, by_design = every.index(own), {}
    for at, (n, m) in enumerate(designs):
        numbers = []
        for metric, one in enumerate(expected):
            scaled = one.variance(*own) * variance[at, metric] / (variance[base, metric] or math.nan)
            low, high, sd = asked.interval(one, n, m, scaled)
            doubt = (
                math.nan if at == base else (high - low) / 2 * math.hypot(relative[at, metric], relative[base, metric])
            )
            numbers.append((high - low, sd, one.value(m), doubt))
        by_design[n, m] = np.array(numbers).T
    return by_design


# --- Powers ---


def _powers(
    pilot: _Pilot, other: Any, target: Any, test: Any, n_resamples: int, asked: Asked, progress: bool | None
) -> xr.Dataset:
    """Power of a test that a metric is better than others, in all designs, and the least number of inputs tried."""
    ds, measure = pilot.ds, asked.measure
    if "model" not in ds.attrs:
        found = given_scores.prepared(ds, pilot.gold, None)
        _check_enough(found)
        shape = found.shape
    else:
        shape = ds.sizes["system"], ds.sizes["input"]
    own = shape[1]
    systems, inputs = asked.sizes.of([shape[0]], sorted({max(2, own // 2), own, 2 * own, 4 * own}))
    power = tests_of.power(
        ds, pilot.gold, metric=pilot.metric, other=other, level=measure.level, coefficient=measure.coefficient.name,
        tests={"test": {"test": "perm_test"} if test is None else test},
        n_systems=systems, n_inputs=inputs, alpha=asked.alpha, n_trials=asked.n_trials, n_resamples=n_resamples,
        rng=asked.seed, progress=progress,
    )  # fmt: skip
    found_powers = power[["power", "ci_low", "ci_high", "mc_error"]].squeeze("test", drop=True).drop_attrs()
    keywords = json.loads(power.attrs["keywords"])["test"]
    about = {"gold": power.attrs["gold"], "test": keywords.pop("test"), "keywords": json.dumps(keywords)}
    enough = found_powers["power"] >= target
    least = enough["n_inputs"].astype(float).where(enough).min("n_inputs")
    return found_powers.assign(least_inputs=least).assign_attrs(about)
