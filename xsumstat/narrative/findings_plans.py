"""Sentences of `conclusion` on variance components and plans."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import scope, wording
from xsumstat.dataset.wording import name, number, setting
from xsumstat.narrative.findings import labels


def variance_components(result: xr.Dataset) -> list[str]:
    """Shares of the gold's variance, their errors, and the reliability of means over so many inputs."""
    share = result["share"].isel(metric=0)
    if bool(share.sel(effect="system").isnull()):
        return [f"The components of {name(labels(result)[0])} cannot be estimated from these scores."]
    called = {"system": "systems", "input": "inputs", "cell": "single outputs", "rater": "raters",
              "residual": "single ratings"}  # fmt: skip
    each_of = [(str(each), 100 * float(share.sel(effect=each))) for each in labels(result, "effect")]
    of = f" of the variance of {name(labels(result)[0])}"
    shares = [
        f"{called.get(each, each)} {'account ' if not at else ''}for {percent:.0f} %{of if not at else ''}"
        for at, (each, percent) in enumerate(each_of)
    ]
    said = [f"{wording.capitalised(wording.joined(shares))}."]
    own = result.isel(metric=0).sel(effect="system")
    if {"variance", "standard_error"} <= set(result.data_vars) and float(own["variance"]) > 0:
        relative = float(own["standard_error"]) / float(own["variance"])
        doubt = ", so plans made with it are rough" if relative > 0.6 else ""
        said.append(f"The standard error of the systems' variance is {100 * relative:.0f} % of that variance{doubt}.")
    return said + _reliable(result)


def _reliable(result: xr.Dataset) -> list[str]:
    """Number of inputs from which the gold's means have a reliability of .9."""
    if "reliability" not in result or "n_inputs" not in result["reliability"].dims:
        return []
    values = result["reliability"].isel(metric=0)
    values = values.isel(n_raters=0) if "n_raters" in values.dims else values
    sizes = result["n_inputs"].values
    enough = sizes[values.values >= 0.9].tolist()
    raters = int(result["n_raters"].values[0]) if "n_raters" in result.dims else 0
    rated = f" and {validate.counted(raters, 'rater')} for each output" if raters else ""
    if not enough:
        most = int(np.nanargmax(values.values)) if not np.isnan(values.values).all() else 0
        over = f"System means over {validate.counted(sizes[most], 'input')}{rated}"
        return [f"{over} have a reliability of {number(values.values[most])}."]
    least = validate.counted(min(enough), "input")
    fewer = [size for size in sizes.tolist() if size < min(enough)]
    below = f", and of less with {max(fewer):,}" if fewer else " (the fewest that were tried)"
    return [f"System means have a reliability of .9 or more with {least}{rated}{below}."]


def components_closing(result: xr.Dataset) -> list[str]:
    return ["simulate(like=) draws scores with these components."]


def plan(result: xr.Dataset) -> list[str]:
    """The smallest design that reaches the target, or results of the smallest and largest design."""
    if "cost" in result:
        return _bought(result)
    what = "width" if "width" in result else "power"
    values = result[what]
    if bool(values.isnull().all()):
        return ["No design could be planned."]
    if "target" not in result.attrs or "least_inputs" not in result:
        low, high = (number(float(each)) for each in (values.min(), values.max()))
        designs = f"in {values.size:,} designs; target= selects the smallest design that reaches it."
        return [f"The expected {what} is {low} to {high} {designs}", *_whom(result), *_doubt(result)]
    wanted = f"a {what} of {setting(float(result.attrs['target']))}"
    wanted += f" of {_test(result.attrs)}" if "test" in result.attrs else ""
    # The power of a test is simulated, in the designs that were asked for.
    tried = result["n_inputs"].values if "n_inputs" in result.coords else result.attrs.get("n_inputs", math.nan)
    fewest = float(np.min(tried)) if "test" in result.attrs else math.nan
    said: list[str] = []
    lacking: dict[str, list[tuple[str, FloatArray]]] = {}  # designs for which no number is enough
    dims = [dim for dim in ("metric", "other_metric", "difference", "n_raters") if dim in result["least_inputs"].dims]
    for at in np.ndindex(*(result.sizes[dim] for dim in dims)):
        each = result.isel(dict(zip(dims, at, strict=True)))
        one = each["least_inputs"]
        if bool(each[what].isnull().all()):
            continue
        who = " against ".join(name(one[dim].item()) for dim in dims if dim in ("metric", "other_metric"))
        if "difference" in dims:
            who = f"a difference of {setting(float(one['difference']))}" + (f" with {who}" if who else "")
        if "n_raters" in dims:
            who = f"{who or 'a design'} with {validate.counted(int(one['n_raters']), 'rater')}"
        least = _least(one, fewest)
        if least is None:
            of = "systems" if "n_systems" in one.dims else "inputs"
            lacking.setdefault(of, []).append((who, each[what].values.ravel()))
            continue
        needed = f"{who} needs {least}" if who else f"the smallest design has {least}"
        said.append(needed + _about(each))
    for of, whose in lacking.items():
        said.append(_not_enough(result, of, whose, what))
    most = 3
    told = "; ".join(said[:most]) + (f"; and {len(said) - most:,} more" if len(said) > most else "")
    return [f"For {wanted}, {told}.", *_whom(result)]


def _not_enough(result: xr.Dataset, of: str, whose: list[tuple[str, FloatArray]], what: str) -> str:
    """That no number of systems (or inputs) reaches the target, with the numbers and what they reach."""
    named = [who for who, _ in whose if who]
    whom = f" for {wording.listed(named, last='or')}" if named else ""
    tried = np.unique(result[f"n_{of}"].values).tolist() if f"n_{of}" in result.coords else []
    numbers = f" ({wording.listed(f'{int(n):,}' for n in tried)})" if tried else ""
    reached = np.concatenate([values for _, values in whose])
    ends = dict.fromkeys(number(float(end)) for end in (np.nanmin(reached), np.nanmax(reached)))
    return f"none of these numbers of {of}{numbers} is enough{whom}: the {what} is {' to '.join(ends)}"


def _test(attrs: Mapping[Any, Any]) -> str:
    """The planned test; swaps of single scores, or of inputs, describe these systems, whatever else the plan does."""
    of_these = attrs["test"] == "perm_test" and json.loads(attrs["keywords"])["resample"] != ["system"]
    return f"{attrs['test']} (these systems only)" if of_these else str(attrs["test"])


def _bought(result: xr.Dataset) -> list[str]:
    """The best design of a budget, or the cheapest that reaches a target."""
    dims = [dim for dim in ("metric", "difference", "budget") if dim in result["best"].dims]
    said = []
    for at in np.ndindex(*(result.sizes[dim] for dim in dims)):
        one = result.isel(dict(zip(dims, at, strict=True)))
        best = one["best"].values
        if not best.any():
            who = f" with {name(one['metric'].item())}" if "metric" in dims else ""
            said.append(f"No design reaches the target{who}.")
            continue
        place = np.unravel_index(int(best.argmax()), best.shape)
        said.append(_design(one.isel(dict(zip(one["best"].dims, place, strict=True)))))
    most = 3
    more = [f"And {len(said) - most:,} more."] if len(said) > most else []
    return [*said[:most], *more, *_whom(result)]


def _whom(result: xr.Dataset) -> list[str]:
    whom = scope.words(result.attrs, "Planned for ")
    return [f"{whom}."] if whom else []


def _of(one: xr.Dataset, what: str) -> float | None:
    value = one.coords[what].item() if what in one.coords else one.attrs.get(what)
    return None if value is None else float(value)


def _design(one: xr.Dataset) -> str:
    raters, systems = int(_of(one, "n_raters") or 1), int(_of(one, "n_systems") or 0)
    rated = int(one["rated_inputs"])
    design = f"{validate.counted(rated, 'input')}, {validate.counted(raters, 'rating')} of each output of "
    design += validate.counted(systems, "system")
    design += ", by the same raters for all systems on an input" if one.attrs.get("estimand") == "difference" else ""
    if "judged_inputs" in one:
        judged = int(one["judged_inputs"])
        more = f"{validate.counted(judged, 'input')}, the rated ones among them"
        of = more if judged > rated else "the same inputs"
        design += f", and scores of {_judge(one)} for {of}"
    alone = _alone(one) if "judged_inputs" in one else ""
    budget, cost = _of(one, "budget"), _price(float(one["cost"]))
    # Where one rating costs 1 and all else nothing, costs are numbers of ratings.
    prices = tuple(one.attrs.get(f"cost_per_{of}") for of in ("rating", "prompt", "verdict"))
    unit = " ratings" if prices == (1, 0, 0) else ""
    if budget is not None:
        return f"A budget of {_price(budget)}{unit} buys {design} (cost {cost}{unit}). {_reached(one, alone)}."
    which, has = ("smallest", "has") if unit else ("cheapest", "costs")
    what = "width" if "width" in one else "power"
    target = f"a {what} of {setting(float(one.attrs['target']))}" if "target" in one.attrs else "the target"
    return f"The {which} design that reaches {target} {has} {cost}{unit}: {design}. {_reached(one, alone)}."


def _price(cost: float) -> str:
    return f"{cost:,.6g}" if cost < 1e6 else f"{cost:,.0f}"


def _judge(one: xr.Dataset) -> str:
    return name(one.coords["metric"].item()) if "metric" in one.coords else "the judge"


def _alone(one: xr.Dataset) -> str:
    for what in ("width", "power", "cost"):
        if f"{what}_alone" in one and not bool(one[f"{what}_alone"].isnull()):
            alone, helped = float(one[f"{what}_alone"]), float(one[what])
            told = f"with ratings alone {f'a cost of {_price(alone)}' if what == 'cost' else number(alone)}"
            helps = helped > alone if what == "power" else helped < alone
            return told if helps else f"{told}, so the scores do not help"
    return ""


def _bounds(one: xr.Dataset) -> tuple[float, float]:
    record = COEFFICIENTS.get(str(one.attrs.get("coefficient")))
    return (-1.0, 1.0) if record is None else record.bounds


def _reached(one: xr.Dataset, alone: str) -> str:
    what = "width" if "width" in one else "power"
    value, low, high = (float(one[each]) for each in (what, f"{what}_low", f"{what}_high"))
    limits = "" if np.isnan(low) else f"possibly {number(low)} to {number(high)}, as these data are uncertain"
    beside = "; ".join(filter(None, (limits, alone)))
    beside = f" ({beside})" if beside else ""
    if what == "power":
        return (
            f"A difference of {setting(_of(one, 'difference') or 0.0)} is found with a power of {number(value)}{beside}"
        )
    level = f"{100 * float(one.attrs['confidence_level']):.4g} %"
    estimand = str(one.attrs["estimand"])
    if estimand == "agreement":
        r = number(float(one["correlation"]))
        least, most = _bounds(one)
        told = f"The expected correlation of {_judge(one)} is {r}, with a {level} interval {number(value)} wide{beside}"
        no_use = value >= 0.99 * (most - least)
        return f"{told}, which is all that it can be: no design here tells anything" if no_use else told
    whose = {"mean": "a system's mean", "difference": "the difference of two systems"}[estimand]
    return f"The {level} interval of {whose} is {number(value)} wide{beside}"


def _ratios(result: xr.Dataset) -> tuple[float, float] | None:
    """Limits of a width relative to it, in the middle design; None without limits."""
    if "width_low" not in result or bool(result["width_low"].isnull().all()):
        return None
    low, high = (float((result[each] / result["width"]).median()) for each in ("width_low", "width_high"))
    return low, high


def _about(one: xr.Dataset) -> str:
    """Possible widths where the target is planned."""
    ratios = _ratios(one)
    if ratios is None or bool(one["least_inputs"].isnull().all()):
        return ""
    least, most = _bounds(one)
    widest = most - least if "coefficient" in one.attrs else math.inf
    low, high = (number(min(each * float(one.attrs["target"]), widest)) for each in ratios)
    return f" (the width may be {low} to {high}, as these data are uncertain)"


def _doubt(result: xr.Dataset) -> list[str]:
    ratios = _ratios(result)
    if ratios is None:
        return []
    low, high = (f"{each:.2g}" for each in ratios)
    level = 100 * float(result.attrs["confidence_level"])
    return [
        f"As these data are uncertain, a width may be {low} to {high} times the planned one ({level:.4g} % limits)."
    ]


def _least(one: xr.DataArray, fewest: float = math.nan) -> str | None:
    """The fewest systems, and outputs, that reach the target, if any do; `fewest` inputs were tried."""
    values = np.atleast_1d(one.values)
    if np.isnan(values).all():
        return None
    known = "n_systems" in one.dims
    systems = one["n_systems"].values if known else np.ones(len(values), dtype=int)
    reached = np.flatnonzero(~np.isnan(values))
    told = []
    for at in dict.fromkeys((int(reached[np.argmin(systems[reached])]), int(np.nanargmin(systems * values)))):
        inputs = validate.counted(int(values[at]), "input")
        inputs += " (fewer were not tried)" if values[at] == fewest else ""
        told.append(f"{systems[at]:,} systems on {inputs}" if known else inputs)
    return " or ".join(told)
