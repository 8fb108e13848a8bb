"""Sentences of `conclusion` on preferences."""

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np
import xarray as xr

from xsumstat.analyses import adjust
from xsumstat.dataset import wording
from xsumstat.dataset.preferences import PEOPLE
from xsumstat.dataset.wording import alpha_of, listed, name
from xsumstat.narrative.findings import labels
from xsumstat.narrative.findings_tests import settled_by

_MOST = 4  # raters that a conclusion names one by one


def percent(value: float) -> str:
    """A share, "12 %", with one more digit near 0 or 100."""
    shown = 100 * value
    return f"{shown:.3g} %" if 0 < abs(shown) < 1 or 99 < abs(shown) < 100 else f"{shown:.0f} %"


def between(low: float, high: float) -> str:
    """Limits of a share in brackets, " [8 %, 17 %]"; empty without any."""
    return "" if math.isnan(low) or math.isnan(high) else f" [{percent(low)}, {percent(high)}]"


def points(value: float, low: float, high: float) -> str:
    """A difference of shares with limits: "4.7 points [-1.2, 10.6]"."""
    ends = "" if math.isnan(low) or math.isnan(high) else f" [{100 * low:.1f}, {100 * high:.1f}]"
    return f"{100 * value:.1f} points{ends}"


def position_bias(result: xr.Dataset) -> list[str]:
    """Judges with a significant position preference or not, and how many choices change."""
    names = labels(result, "rater")
    significant = (adjust.decisive(result) <= alpha_of(result)).values
    whom = wording.of_whom(result)
    said = []
    for at in np.flatnonzero(significant)[:_MOST].tolist():
        said.append(f"{name(names[at])} prefers the output shown {_side(result, at)}: {_moves(result.isel(rater=at))}.")
    more = int(significant.sum()) - _MOST
    if more > 0:
        said.append(f"So do {more:,} more raters, for one position or the other.")
    rest = np.flatnonzero(~significant).tolist()
    if len(rest) == 1:
        one = result.isel(rater=rest[0])
        said.append(f"{name(names[rest[0]])} shows no significant preference for a position: {_moves(one)}.")
    elif rest:
        said.append(f"{_no_preference([names[at] for at in rest])}.")
    said[0] = f"{whom}{said[0]}"
    return [*said, f"The tests: {settled_by(result)}."]


def _no_preference(names: list[Hashable]) -> str:
    return f"No significant preference for a position was found for {listed(names)}"


def _side(result: xr.Dataset, at: int) -> str:
    return "first" if float(result["position_bias"][at]) > 0 else "second"


def _moves(one: xr.Dataset) -> str:
    n, first, second = (int(one[each]) for each in ("n_pairs", "n_first", "n_second"))
    limits = between(float(one["flip_low"]), float(one["flip_high"]))
    flips = f"{percent(float(one['flip_share']))}{limits} of {n:,} choices change with the order"
    p = wording.pvalue(float(adjust.decisive(one)))
    return f"{flips}, {first:,} to the first and {second:,} to the second ({p})"


def rank_systems(result: xr.Dataset) -> list[str]:
    """The best system by human raters, judges and both, and which it beats."""
    whom = wording.of_whom(result)
    said = [_ranked(result.isel(rater=at), name(label)) for at, label in enumerate(labels(result, "rater"))]
    said[0] = f"{whom}{said[0]}"
    return [*(wording.capitalised(each) for each in said), f"The tests: {settled_by(result)}."]


def _ranked(one: xr.Dataset, rater: str) -> str:
    """One rater's best system and whom it beats, or that there is no single best."""
    strengths, cluster = one["strength"].values, one["cluster"].values
    named = labels(one, "system")
    if np.isnan(strengths).all():
        rates = one["win_rate"].values
        order = np.argsort(-rates, kind="stable").tolist()
        each = listed(f"{name(named[at])} ({percent(rates[at])})" for at in order if not math.isnan(rates[at]))
        return f"by {rater} strengths are infinite or undefined; choices won: {each}."
    order = np.argsort(-strengths, kind="stable").tolist()
    p = adjust.decisive(one).transpose("system", "other_system").values
    best = order[0]
    beaten = [at for at in order[1:] if p[best, at] <= alpha_of(one)]
    first = [at for at in order if cluster[at] == 1]
    what = f"{name(named[best])} {_strength(one, best)}"
    if len(beaten) == len(order) - 1 and beaten:
        return (
            f"by {rater} {what} is best: it beats {listed(f'{name(named[at])} {_strength(one, at)}' for at in beaten)}."
        )
    others = listed(f"{name(named[at])} {_strength(one, at)}" for at in first if at != best)
    if not others:
        others = listed(f"{name(named[at])} {_strength(one, at)}" for at in order[1:] if at not in beaten)
    beats = f", and beats {listed(name(named[at]) for at in beaten)}" if beaten else ""
    return f"by {rater} {what} is first, not significantly ahead of {others}{beats}."


def _strength(one: xr.Dataset, at: int) -> str:
    value, low, high = (float(one[each][at]) for each in ("strength", "ci_low", "ci_high"))
    return f"({wording.estimate(value, low, high)})"


def preference_agreement(result: xr.Dataset) -> list[str]:
    """Each judge's agreement with human raters, their own agreement, and differences."""
    whom, dropped = wording.of_whom(result), result.attrs.get("ties") == "drop"
    named = labels(result, "rater")
    judges = [at for at, label in enumerate(named) if label != PEOPLE]
    without = ", ties left out" if dropped else ""
    said = [
        f"{name(named[at])} chooses as a person does on {_accuracy(result.isel(rater=at))}" for at in judges[:_MOST]
    ]
    text = f"{whom}{'; '.join(said)}{without}."
    more = [f"So for {len(judges) - _MOST:,} more judges, not named here."] if len(judges) > _MOST else []
    if PEOPLE not in named or math.isnan(float(result["accuracy"].sel(rater=PEOPLE))):
        return [text, *more, "Human agreement is unknown: no pair was judged by two humans."]
    alike = f"Humans choose alike on {_accuracy(result.sel(rater=PEOPLE))}."
    compared = [_beside_people(result.isel(rater=at), name(named[at])) for at in judges[:_MOST]]
    return [text, *more, alike, *filter(None, compared), f"The tests: {settled_by(result)}."]


def _accuracy(one: xr.Dataset) -> str:
    value, low, high, kappa = (float(one[each]) for each in ("accuracy", "ci_low", "ci_high", "kappa"))
    n = int(one["n_pairs"])
    by_chance = "" if math.isnan(kappa) else f", κ = {wording.number(kappa)}"
    return f"{percent(value)}{between(low, high)} of {n:,} pairs{by_chance}"


def _beside_people(one: xr.Dataset, judge: str) -> str:
    """Whether a judge agrees more or less with human raters than they do with each other."""
    value, low, high = (float(one[each]) for each in ("difference", "difference_low", "difference_high"))
    p = float(adjust.decisive(one))
    if math.isnan(value) or math.isnan(p):
        return ""
    how = f"{points(value, low, high)}, {wording.pvalue(p)}"
    on = f"On the {int(one['n_shared']):,} pairs that two humans judged"
    if p > alpha_of(one):
        return wording.Sentence(
            f"{on}, {judge} agrees with humans not significantly more or less than they do with each other", how
        )
    side = "more" if value > 0 else "less"
    return wording.Sentence(f"{on}, {judge} agrees with humans {side} than they agree with each other", how)


def preference_bias(result: xr.Dataset) -> list[str]:
    """Judges that prefer something more than human raters do."""
    p = adjust.decisive(result).transpose("rater", "covariate").values
    raters, covariates = labels(result, "rater"), labels(result, "covariate")
    found: list[tuple[str, xr.Dataset]] = []
    rest: list[tuple[str, xr.Dataset]] = []
    for at, to in np.ndindex(p.shape):
        if math.isnan(p[at, to]):
            continue
        one = result.isel(rater=at, covariate=to)
        text = f"{name(raters[at])} {_chooses(one, name(covariates[to]))}"
        (found if p[at, to] <= alpha_of(result) else rest).append((text, one))
    whom = wording.of_whom(result)
    said = [f"{text}.{_noise(one)}" for text, one in found[:_MOST]]
    if len(found) > _MOST:
        said.append(f"{len(found) - _MOST:,} more differences are significant.")
    if rest:
        more = f"; and {len(rest) - _MOST:,} more" if len(rest) > _MOST else ""
        said.append(f"No significant difference from humans: {'; '.join(text for text, _ in rest[:_MOST])}{more}.")
    if not said:
        return ["No difference could be tested."]
    said[0] = f"{whom}{said[0]}" if found else f"{whom}{said[0][0].lower()}{said[0][1:]}"
    return [*said, f"The tests: {settled_by(result)}."]


def _chooses(one: xr.Dataset, covariate: str) -> str:
    own, theirs = float(one["share"]), float(one["human_share"])
    what = f"outputs of {covariate}" if bool(one["is_group"]) else f"the output of higher {covariate}"
    difference = points(*(float(one[each]) for each in ("difference", "ci_low", "ci_high")))
    p = wording.pvalue(float(adjust.decisive(one)))
    what += "" if bool(one["is_group"]) else " (ties count half)"
    return (
        f"chooses {what} in {percent(own)} of {int(one['n_pairs']):,} pairs, humans in {percent(theirs)} "
        f"(difference {difference}, {p})"
    )


def _noise(one: xr.Dataset) -> str:
    """The remark where a judge is only closer to one half than human raters."""
    own, theirs = float(one["share"]) - 0.5, float(one["human_share"]) - 0.5
    nearer = abs(own) < abs(theirs) and own * theirs >= 0
    return (
        " Its share is nearer to 50 % than the human share, which noise in its choices alone can explain."
        if nearer
        else ""
    )
