"""Sentences of `conclusion` on comparisons of systems, and on whether metrics find the same verdicts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable

import numpy as np
import xarray as xr

from xsumstat.analyses import adjust
from xsumstat.dataset import drawn, pair_results, wording
from xsumstat.dataset.wording import alpha_of, listed, name, number
from xsumstat.narrative import turned
from xsumstat.narrative.findings import gold, labels, undefined
from xsumstat.narrative.findings_tests import (
    OF_TWO,
    Pair,
    basis,
    decided,
    leader,
    settled_by,
    uncorrected,
    verdicts_of_one,
)

# Most metrics whose best system is named, most pairs without a significant difference that are named, most groups.
_MOST_BEST, _MOST_ALIKE, _MOST_GROUPS = 2, 3, 3
# Distance, in standard errors, from the differences of `system_means` that is remarked on.
_NOTABLE = 0.1
_COUNTED = ("n_significant", "n_tests")


def compare_systems(result: xr.Dataset) -> list[str]:
    """The best system, and number of pairs that differ, by each metric."""
    pvalue = adjust.decisive(result)
    again = pair_results.mirrored(result, pvalue)
    pvalue = pvalue if again is None else pvalue.where(~again)
    dims = [dim for dim in pvalue.dims if dim != "metric"]
    tests = pvalue.notnull().sum(dims).values.ravel()
    found = (pvalue <= alpha_of(result)).sum(dims).values.ravel()
    named = labels(result)
    one_sided = result.attrs.get("alternative") != "two-sided"
    what = "one-sided tests of two systems are significant" if one_sided else "pairs of systems differ significantly"
    if not tests.any():
        return ["No test could be made."]
    if len(named) == 1:
        said = f"{found[0]:,} of {tests[0]:,} {what} by {wording.judged_by(named[0])}"
    elif len(named) <= 3:
        each = [f"{found[at]:,} of {tests[at]:,} by {wording.judged_by(named[at])}" for at in range(len(named))]
        said = f"{wording.capitalised(what)}: {listed(each)}"
    else:
        share = found / np.maximum(tests, 1)
        least, most = int(np.argmin(share)), int(np.argmax(share))
        ends = [f"{found[at]:,} of {tests[at]:,} ({name(named[at])})" for at in (least, most)]
        said = f"By {len(named):,} metrics, {' to '.join(ends)} {what}"
        if np.ptp(found) == np.ptp(tests) == 0:
            said = f"By each of {len(named):,} metrics, {found[0]:,} of {tests[0]:,} {what}"
    helper = result.attrs.get("helped_by")
    uncompared = _uncompared(result)
    rated = "every output of these systems" if uncompared else "every output"
    helped = "" if helper is None else f" and the scores of {wording.shortened(helper)}"
    helped = f"; {rated} is rated, so {wording.shortened(helper)} adds nothing" if all_rated(result) else helped
    best = [text for at in range(len(named)) for text in _best(result.isel(metric=at), wording.judged_by(named[at]))]
    said_of_groups = _between(result)
    if len(named) == 1 and not best and result.sizes["system"] == 1:
        best = _one_against_others(result.isel(metric=0), wording.judged_by(named[0]))
    if len(named) > _MOST_BEST or not best:
        return [wording.Sentence(f"{said}{helped}", basis(result)), *said_of_groups, *uncompared]
    return [
        f"{wording.of_whom(result)}{best[0]}",
        *best[1:],
        *uncompared,
        wording.Sentence(f"{said}{helped}", settled_by(result)),
        *said_of_groups,
        *filter(None, [drawn.sentence(result.attrs)]),
    ]


def _between(result: xr.Dataset) -> list[str]:
    """Significant pairs of each two groups of systems, by one metric."""
    if (
        "n_significant" not in result
        or "group" not in result.dims
        or result.sizes["metric"] > 1
        or result.sizes["group"] > _MOST_GROUPS
    ):
        return []
    counts, tests = (result[each].isel(metric=0).transpose("group", "other_group") for each in _COUNTED)
    alternative = result.attrs.get("alternative")
    than = {"greater": "better", "less": "worse"}.get(str(alternative))
    said = []
    for at, to in itertools.product(range(result.sizes["group"]), repeat=2):
        n, of = int(counts[at, to]), int(tests[at, to])
        if of and (at <= to or than):
            one, two = (name(labels(result, dim)[place]) for dim, place in (("group", at), ("other_group", to)))
            beside = f"{one} {than} than {two}" if than else f"between {one} and {two}"
            said.append(f"{n:,} of {of:,} {f'within {one}' if at == to else beside}")
    group = str(result.attrs.get("between", "group")).replace("_", " ")
    return [f"Significant pairs by {group}: {wording.joined(said)}."] if said else []


def _uncompared(result: xr.Dataset) -> list[str]:
    """Systems that share no scored input with another one."""
    there = pair_results.compared(result["difference"], ("system", "other_system"))
    none = [label for label, one in there.items() if not one]
    if not none or len(none) == len(there):
        return []
    verb = "is" if len(none) == 1 else "are"
    return [f"{listed(map(name, none))} {verb} not compared, having no scored input in common with the others."]


def all_rated(result: xr.Dataset) -> bool:
    """Whether a metric that may help has nothing to add, as all inputs of each pair of systems are rated."""
    if not {"difference", "n_inputs"} <= set(result.data_vars) or not {"helped_by", "n_inputs"} <= set(result.attrs):
        return False
    counted = result["n_inputs"].where(result["difference"].notnull())
    return bool(counted.notnull().any()) and float(counted.min()) == float(result.attrs["n_inputs"])


def systems_closing(result: xr.Dataset) -> list[str]:
    return [*_beside_means(result), *uncorrected(result)]


def _beside_means(result: xr.Dataset) -> list[str]:
    """How far differences are from those of `system_means`, and which to use."""
    if "mean_difference" not in result:
        return []
    off = np.abs(result["mean_difference"] - result["difference"])
    if not bool((off > _NOTABLE * result["standard_error"]).any()):
        return []
    return [
        f"These differences are up to {number(float(off.max()))} away from those of the means that system_means gives "
        "(mean_difference).",
        "Use these differences to say which system is better, and the means to say how good each system is.",
    ]


def _best(one: xr.Dataset, by: str) -> list[str]:
    """The best system by one metric, and those that do not differ; empty if not all are compared."""
    first = leader(one, "system")
    if first is None:
        return _level_pegging(one, by)
    won, compared = decided(one, "system")
    others = [other for other in labels(one, "other_system") if frozenset((first, other)) in compared]
    others = sorted(others, key=lambda other: _of_two(one, first, other, "difference"))
    beaten = [other for other in others if (first, other) in won]
    rest = [other for other in others if other not in beaten]
    second, far, above = name(others[0]), *(("higher", "lower") if turned.is_lower(one) else ("lower", "higher"))
    value, low, high = (_of_two(one, first, others[0], each) if each in one else math.nan for each in OF_TWO)
    gap = "" if math.isnan(low) else wording.estimate(value, low, high)
    difference = f" (difference {gap})" if gap else ""
    if not rest:
        whom = (
            f"{second}{difference}"
            if len(others) == 1
            else f"every other system{f' (the closest is {second}, {gap} {far})' if gap else ''}"
        )
        said = [f"{name(first)} is best by {by}: its scores are significantly {above} than those of {whom}."]
    else:
        than = f" and is significantly better than {listed(beaten)}" if beaten else ""
        closest = f" (the closest is {second}, {gap} {far})" if len(rest) > 1 else difference
        nearest = closest if others[0] in rest and gap else ""
        said = [
            f"{name(first)} {_leads(one, by)}{than}; it does not differ significantly from "
            f"{listed(rest, last='or')}{nearest}."
        ]
    return [*said, *_alike(one, first, won, compared)]


def _one_against_others(one: xr.Dataset, by: str) -> list[str]:
    """The verdicts of the only system on all others."""
    won, compared = decided(one, "system")
    verdicts = verdicts_of_one(one, "system", won, compared, ("is better than", "is worse than"))
    return [f"by {by} {verdicts}."] if compared else []


def _leads(one: xr.Dataset, by: str) -> str:
    """How a system is first: by its mean, unless differences are those of shared inputs, or of "ppi"."""
    if "mean_difference" in one:
        return f"is first by {by}"
    shared = one["n_inputs"].values[one["difference"].notnull()] if "n_inputs" in one else np.empty(0)
    if len(set(shared.tolist())) > 1:
        return f"is first by {by}, on the inputs that each two systems share,"
    return f"has the {_first_mean(one)} mean by {by}"


def _first_mean(one: xr.Dataset) -> str:
    return "lowest" if turned.is_lower(one) else "highest"


def _alike(one: xr.Dataset, first: Hashable, won: list[Pair], compared: set[frozenset[Hashable]]) -> list[str]:
    order = labels(one, "system")
    among = [
        sorted(pair, key=order.index) for pair in compared if first not in pair and pair not in map(frozenset, won)
    ]
    if not 0 < len(among) <= _MOST_ALIKE:
        return []
    pairs = sorted(among, key=lambda pair: [order.index(each) for each in pair])
    between = "; between ".join(f"{name(a)} and {name(b)}" for a, b in pairs)
    return [f"There is no significant difference between {between}."]


def _level_pegging(one: xr.Dataset, by: str) -> list[str]:
    """Systems that share the highest mean."""
    rows, columns = labels(one, "system"), labels(one, "other_system")
    difference = one["difference"].transpose("system", "other_system").values
    if set(rows) != set(columns) or np.isnan(difference).sum() > len(rows):
        return []
    first = [row for row, line in zip(rows, difference, strict=True) if not (line < 0).any()]
    return [f"{listed(first)} share the {_first_mean(one)} mean by {by}."] if len(first) > 1 else []


def _of_two(one: xr.Dataset, first: Hashable, second: Hashable, variable: str) -> float:
    at = labels(one, "system").index(first), labels(one, "other_system").index(second)
    return float(one[variable].transpose("system", "other_system")[at])


def discriminative_agreement(result: xr.Dataset) -> list[str]:
    shares, named = result["accuracy"].values, labels(result)
    if np.isnan(shares).all():
        return ["No pair of systems has a verdict."]
    level = f"{100 * float(result.attrs.get('confidence_level', 0.95)):g} %"
    first, last = (
        np.flatnonzero(np.isclose(shares, end, rtol=0, atol=1e-12)) for end in (np.nanmax(shares), np.nanmin(shares))
    )
    f1 = wording.joined(number(each) for each in result["f1"].values[first])
    how = f"paired bootstrap, a win in {level} of the resamples; F1 {f1}"
    verb = "gives" if len(first) == 1 else "give"
    said = (
        f"{listed(name(named[at]) for at in first)} {verb} the verdict of {gold(result)} for a share of "
        f"{number(shares[first[0]])} of the pairs of systems"
    )
    if first[0] == last[0]:
        return [f"{said} ({how})."]
    has = "has" if len(last) == 1 else "have"
    return [
        f"{said}, the highest of {len(named):,} metrics ({how}).",
        f"{listed(name(named[at]) for at in last)} {has} the lowest share, {number(shares[last[0]])}.",
        *undefined(result, "accuracy"),
    ]
