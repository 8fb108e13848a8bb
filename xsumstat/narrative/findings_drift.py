"""What results say of two versions of a judge: sentences for `conclusions`."""

from __future__ import annotations

import math

import numpy as np
import xarray as xr

from xsumstat.analyses import adjust
from xsumstat.core import validate
from xsumstat.dataset import wording
from xsumstat.dataset.wording import alpha_of, name, setting
from xsumstat.narrative.findings import coefficient, gold, labels
from xsumstat.narrative.findings_preferences import between, percent

_MOST_METRICS, _MOST = 2, 3  # metrics, and systems of one, that are told one by one


def drift(result: xr.Dataset) -> list[str]:
    """How agreement, verdicts and means of systems changed, for each metric."""
    named = labels(result)
    whom = wording.of_whom(result)
    said: list[str] = []
    for at in range(min(len(named), _MOST_METRICS)):
        first, *rest = _of_metric(result.isel(metric=at), name(named[at]))
        said += [wording.capitalised(first if at else f"{whom}{first}"), *rest]
    within = (adjust.decisive(result) <= alpha_of(result)).values[_MOST_METRICS:]
    if len(within):
        more, margin = validate.counted(len(within), "more metric"), setting(float(result.attrs["margin"]))
        said.append(f"Of {more} {int(within.sum()):,} changed by less than {margin}.")
    return said


def _of_metric(one: xr.Dataset, judge: str) -> list[str]:
    """The sentences of one metric."""
    more = [left_out(one), verdicts(one), shifts(one), interaction(one), ranks(one)]
    return [agreement(one, judge), *filter(None, more)]


def agreement(one: xr.Dataset, judge: str) -> str:
    """By how much agreement changed, and whether by less than the margin."""
    value, low, high = (float(one[each]) for each in ("difference", "ci_low", "ci_high"))
    old, new = (float(one[f"{each}_correlation"]) for each in ("old", "new"))
    margin, how = setting(float(one.attrs["margin"])), coefficient(one)
    what = f"the agreement of {judge} with {gold(one)}"
    if math.isnan(value):
        return wording.Sentence(f"{what} is undefined by one version or both", how)
    level = f"{100 * wording.interval_level(one.attrs):.4g} % jackknife interval"
    interval = "no interval" if math.isnan(low) else f"{level} [{', '.join(wording.alike([low, high]))}]"
    changed = f"{what} changed by {wording.number(value)} ({interval}; {how})"
    if not math.isnan(old) and not math.isnan(new):
        changed += f", from {wording.number(old)} to {wording.number(new)}"
    p = float(adjust.decisive(one))
    if math.isnan(p):
        return f"{changed}; there is no equivalence test."
    verdict = "is equivalent" if p <= alpha_of(one) else "is not shown to be equivalent"
    return wording.Sentence(
        f"{changed}; it {verdict} within ±{margin}", f"{wording.pvalue(p)}, two one-sided jackknife tests"
    )


def change(one: xr.Dataset, judge: str) -> str:
    """The change of agreement of one metric, its interval and the measure, in few words."""
    value, low, high = (float(one[each]) for each in ("difference", "ci_low", "ci_high"))
    what = f"Agreement of {judge} with {gold(one)}"
    if math.isnan(value):
        return f"{what} is undefined by one version or both"
    level = f"{100 * wording.interval_level(one.attrs):.4g} % interval"
    return f"{what} changed by {wording.estimate(value, low, high)} ({level}; {coefficient(one)})"


def in_short(one: xr.Dataset) -> str:
    """How the agreement and the scores of one judge changed, and which outputs its new version refuses."""
    value, low, high = (float(one[each]) for each in ("difference", "ci_low", "ci_high"))
    if math.isnan(value):
        said = "The change of its agreement since the older version is undefined"
    else:
        p, margin = float(adjust.decisive(one)), setting(float(one.attrs["margin"]))
        verdict = "equivalent" if p <= alpha_of(one) else "not shown to be equivalent"
        within = "" if math.isnan(p) else f", {verdict} within ±{margin}"
        level = "" if math.isnan(low) else f" ({100 * wording.interval_level(one.attrs):.4g} % interval)"
        said = f"Since the older version its agreement changed by {wording.estimate(value, low, high)}{level}{within}"
    differ = float(one["heterogeneity_pvalue"]) <= alpha_of(one)
    apart = "The shifts differ between systems, which can change their order." if differ else ""
    return " ".join(filter(None, [f"{said}{_moved(one)}.", apart, left_out(one)]))


def _moved(one: xr.Dataset) -> str:
    shift, low, high = (float(one[each]) for each in ("shift", "shift_low", "shift_high"))
    if math.isnan(shift):
        return ""
    level = "" if math.isnan(low) else f" ({_level(one)})"
    return f"; its scores changed by {wording.estimate(shift, low, high)} on average{level}"


def left_out(one: xr.Dataset) -> str:
    """How many outputs one version alone has scored, as a version can refuse some."""
    both, *alone = (int(one[each]) for each in ("n_outputs", "n_only_old", "n_only_new"))
    versions = ("new", "old"), ("old", "new")
    said = [
        f"the {lacks} version has no score for {n:,} of the {both + n:,} outputs that the {has} one scored"
        for (lacks, has), n in zip(versions, alone, strict=True)
        if n
    ]
    text = " and ".join(said)
    return f"{wording.capitalised(text)}; they are left out." if text else ""


def verdicts(one: xr.Dataset) -> str:
    """How many verdicts between two systems, or scores, changed."""
    n, scores = int(one["n_pairs"]), int(one["n_outputs"])
    if not scores:
        return ""
    changed = f"{_share(one, 'changed')} of {scores:,} scores changed"
    if not n:
        return f"{changed} ({_level(one)})."
    flips = f"{_share(one, 'flip')} of {n:,} verdicts between two systems changed"
    return f"{changed}; {flips}, {_share(one, 'reversal')} were reversed ({_level(one)}s)."


def _level(one: xr.Dataset) -> str:
    """Of all intervals except that of the agreement, whose level is that of an equivalence test."""
    return f"{100 * (1 - alpha_of(one)):.4g} % interval"


def _share(one: xr.Dataset, what: str) -> str:
    value, low, high = (float(one[f"{what}_{each}"]) for each in ("share", "low", "high"))
    return f"{percent(value)}{between(low, high)}"


def shifts(one: xr.Dataset) -> str:
    """By how much means rose, of all systems and of those whose mean changed significantly."""
    value, low, high, p = (float(one[each]) for each in ("shift", "shift_low", "shift_high", "shift_pvalue"))
    if math.isnan(value):
        return ""
    test = f" ({_level(one)}{'' if math.isnan(p) else f', {wording.pvalue(p)}'})"
    text = f"Scores changed by {wording.estimate(value, low, high)} on average{test}"
    own = _significant(one, "system_shift")
    return f"{text}; significantly for {own}." if own and one.sizes["system"] > 1 else f"{text}."


def _significant(one: xr.Dataset, what: str) -> str:
    """The systems whose number is significant, the largest first: "alpha .60 [.41, .79] and beta ..."."""
    p, value = one[f"{what}_pvalue_adjusted"].values, one[what].values
    found = [at for at in np.argsort(-np.abs(value), kind="stable").tolist() if p[at] <= alpha_of(one)]
    named = labels(one, "system")
    each = []
    for at in found[:_MOST]:
        shift, low, high = (float(one[f"{what}{end}"][at]) for end in ("", "_low", "_high"))
        each.append(f"{name(named[at])} {wording.estimate(shift, low, high)}")
    return wording.joined([*each, *([f"{len(found) - _MOST:,} more"] if len(found) > _MOST else [])])


def interaction(one: xr.Dataset) -> str:
    """Whether the shifts differ between systems, and which exceed the others'."""
    p = float(one["heterogeneity_pvalue"])
    if math.isnan(p):
        few = one.sizes["system"] > 1
        return "No test of different shifts could be made: it needs more inputs than systems." if few else ""
    test = wording.heterogeneity(one)
    if p > alpha_of(one):
        return f"The shifts of the systems do not differ significantly ({test})."
    beyond = _significant(one, "excess")
    more = f"; shift minus that of the other systems: {beyond}" if beyond else ""
    return f"The shifts differ between systems, which can change their order ({test}){more}."


def ranks(one: xr.Dataset) -> str:
    """Which systems' ranks changed."""
    old, new = one["old_rank"].values, one["rank"].values
    moved = np.flatnonzero(old != new).tolist()
    if not moved or one.sizes["system"] < 2:
        return ""
    named = labels(one, "system")
    each = [f"{name(named[at])} from {old[at]} to {new[at]}" for at in moved]
    return f"Ranks of systems by their means changed: {wording.joined(each, 4)}."
