"""Sentences of `conclusion` on tests, clusters, equivalence, judges and simulations.

Each function takes the result of one label of all further dims.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import adjust
from xsumstat.catalogue.raters import WINNING
from xsumstat.core.types import BoolArray, FloatArray
from xsumstat.dataset import few_systems, pair_results, scope, wording
from xsumstat.dataset.wording import alpha_of, joined, listed, name, number, setting
from xsumstat.narrative.findings import chance, coefficient, labels, undefined

Pair = tuple[Hashable, Hashable]

_WITHIN_CLUSTERS = (
    "Differences within a cluster are not significant, and those between clusters need not be; this does not show that "
    "the metrics are equally good"
)
OF_TWO = ("difference", "ci_low", "ci_high")
_OF_ONE = (*OF_TWO, "pvalue")
_LIKE_THESE = (
    "New systems and inputs are drawn like those at hand; if these are few, the shares for other data of this kind can "
    "differ by some per cent."
)


def basis(result: xr.Dataset, *, of_whom: bool = True) -> str:
    """Basis (and scope) of decisions: "permutation test; Holm over all tests; alpha .05"."""
    tests = wording.tests(result)
    if tests is not None and not of_whom:
        tests = replace(tests, over=replace(tests.over, scope=""))
    parts = [str(tests or ""), wording.correction_words(result), f"alpha {setting(alpha_of(result))}"]
    return "; ".join(part for part in parts if part)


def settled_by(result: xr.Dataset) -> str:
    """Basis of decisions: "jackknife tests; Holm over all tests; alpha .05"."""
    return basis(result, of_whom=False)


def uncorrected(result: xr.Dataset) -> list[str]:
    if "pvalue" not in result or "pvalue_adjusted" in result:
        return []
    said = wording.many_uncorrected(adjust.n_tests(result), alpha_of(result))
    return [f"{said}."] if said else []


def decided(result: xr.Dataset, dim: str = "metric") -> tuple[list[Pair], set[frozenset[Hashable]]]:
    """Which metric beats which, each pair once, and the compared pairs."""
    dims = (dim, f"other_{dim}")
    p = adjust.decisive(result).transpose(*dims).values
    difference = result["difference"].transpose(*dims).values
    rows, columns = labels(result, dim), labels(result, dims[1])
    alternative = result.attrs.get("alternative", "two-sided")
    won: dict[Pair, None] = {}
    compared = set()
    for at, to in np.argwhere(~np.isnan(p)).tolist():
        one, other = rows[at], columns[to]
        if one == other:
            continue
        compared.add(frozenset((one, other)))
        if p[at, to] > alpha_of(result):
            continue
        first = difference[at, to] > 0 if alternative == "two-sided" else alternative == "greater"
        won[(one, other) if first else (other, one)] = None
    return list(won), compared


def leaders(result: xr.Dataset) -> list[Hashable]:
    """The metrics that none is ahead of, in a whole table, or with the highest correlation; else none."""
    if "against" not in result.attrs:
        return _unbeaten(result, "metric")
    r = result["correlation"].values
    return [] if np.isnan(r).all() else [labels(result)[at] for at in np.flatnonzero(r == np.nanmax(r))]


def _unbeaten(result: xr.Dataset, dim: str) -> list[Hashable]:
    rows, columns = labels(result, dim), labels(result, f"other_{dim}")
    if set(rows) != set(columns):
        return []
    difference = result["difference"].transpose(dim, f"other_{dim}").values
    compared = ~np.isnan(difference) & ~np.eye(len(rows), dtype=bool)[[columns.index(row) for row in rows]].T
    behind = (compared & (difference < 0)).any(axis=1)
    return [row for row, loses, any_ in zip(rows, behind, compared.any(axis=1), strict=True) if any_ and not loses]


def leader(result: xr.Dataset, dim: str) -> Hashable | None:
    first = _unbeaten(result, dim)
    return first[0] if len(first) == 1 else None


def correlation_tests(result: xr.Dataset) -> list[str]:
    """Which metric beats which, or has correlations that differ from a value; groups without a correlation."""
    said = _tests_of_value(result) if "against" in result.attrs else metric_tests(result)
    return [*said, *_without_correlation(result)]


def _tests_of_value(result: xr.Dataset) -> list[str]:
    p, r = adjust.decisive(result).values, result["correlation"].values
    if np.isnan(p).all():
        return ["No test could be made."]
    value, side = f"{float(result.attrs['against']):g}", str(result.attrs.get("alternative", "two-sided"))
    found, ahead = p <= alpha_of(result), result["statistic"].values > 0
    above = found & (ahead if side == "two-sided" else side == "greater")
    groups = (
        (above, f"significantly above {value}"),
        (found & ~above, f"significantly below {value}"),
        (~found & ~np.isnan(p), f"not significantly {_than(side)} {value}"),
    )
    named = [f"{name(label)} ({number(each)})" for label, each in zip(labels(result), r, strict=True)]
    parts: list[str] = []
    what = wording.quantity(result.attrs)
    for of, verdict in groups:
        if of.any():
            one = of.sum() == 1 or what == "agreement"
            of_them = ("that" if one else "those") if parts else f"the {what}{'s' * (not one)}"
            who = listed(named[at] for at in np.flatnonzero(of))
            parts.append(f"{of_them} of {who} {'is' if one else 'are'} {verdict}")
    said = wording.Sentence(
        f"{wording.of_whom(result)}{'; '.join(parts)}", f"{settled_by(result)}; {coefficient(result)}"
    )
    return [said, *undefined(result, "pvalue")]


def _than(side: str) -> str:
    return {"two-sided": "different from", "greater": "above", "less": "below"}[side]


def _without_correlation(result: xr.Dataset) -> list[str]:
    """How many inputs, or systems, Wilcoxon's test leaves out or takes as 0."""
    if result.attrs.get("method") != "wilcoxon" or not (most := int(result["n_undefined"].max())):
        return []
    dim = "system" if result.attrs.get("level") == "within_system" else "input"
    total = result.attrs.get(f"n_{dim}s") if "by" not in result.attrs else None
    up_to = "Up to " if result["n_undefined"].size > 1 else ""
    many = f"{most:,}" if total is None else f"{most:,} of {int(total):,}"
    zero = result.attrs.get("undefined") == "zero"
    without = "their correlations count as 0" if zero else f"the test leaves these {dim}s out"
    return [f"{up_to}{many} {dim}s have an undefined correlation; {without}."]


def metric_tests(result: xr.Dataset) -> list[str]:
    """The leading metric, those it beats, and number of pairs that differ."""
    won, compared = decided(result)
    if not compared:
        why = few_systems.why_none(result.attrs)
        way_out = "; use compare_metrics(level='input')" if why else ""
        return [f"No test could be made{why}{way_out}."]
    if len(compared) == 1:
        return [_one_pair(result, won)]
    first, what = leader(result, "metric"), wording.quantity(result.attrs)
    said: list[str] = []
    how = f"{settled_by(result)}; {coefficient(result)}"
    whom = wording.of_whom(result)
    if first is not None:
        beaten = [other for one, other in won if one == first]
        against = [other for other in labels(result, "other_metric") if frozenset((first, other)) in compared]
        rest = [other for other in against if other not in beaten]
        verdicts = [f"beats {listed(beaten)}"] if beaten else []
        verdicts += [f"does not differ significantly from {listed(rest, last='or')}"] if rest else []
        said += [f"{whom}{name(first)} {', and '.join(verdicts)}."] if verdicts else []
        whose = f"Its {what}" if verdicts else f"The {what} of {name(first)}"
        said.append(f"{whose} is higher than that of every other metric in these data.")
        whom = "" if verdicts else whom
    found = f"{whom}{len(set(map(frozenset, won))):,} of {len(compared):,} pairs of metrics differ significantly"
    if wording.is_one_sided(result.attrs):
        found = f"{whom}{len(won):,} of {adjust.n_tests(result):,} one-sided tests of two metrics are significant"
    pairs = [f"{name(one)} beats {name(other)}" for one, other in won]
    if first is None and len(labels(result)) == 1:
        said = [
            wording.Sentence(
                f"{whom}{verdicts_of_one(result, 'metric', won, compared, ('beats', 'is worse than'))}", how
            ),
            *said,
        ]
        return [*said, *(_too_few(result) if not won else [])]
    listing = f": {joined(pairs)}" if first is None and pairs else ""
    tested = {label for pair in compared for label in pair}
    alone = [label for label in labels(result) if label not in tested]
    said += [f"No test of {listed(alone)} could be made."] if alone else []
    said += _too_few(result) if not won else []
    return [*said, f"{found} ({how}){listing}."]


def verdicts_of_one(
    result: xr.Dataset, dim: str, won: list[Pair], compared: set[frozenset[Hashable]], verbs: tuple[str, str]
) -> str:
    """The verdicts of the only metric, or system, on all others."""
    (one,) = labels(result, dim)
    others = [other for other in labels(result, f"other_{dim}") if frozenset((one, other)) in compared]
    kinds = {
        verbs[0]: [other for other in others if (one, other) in won],
        verbs[1]: [other for other in others if (other, one) in won],
    }
    verdicts = [f"{verb} {listed(found, 8)}" for verb, found in kinds.items() if found]
    rest = [other for other in others if not any(other in found for found in kinds.values())]
    verdicts += [f"does not differ significantly from {listed(rest, 8, last='or')}"] if rest else []
    return f"{name(one)} {joined(verdicts)}"


def _too_few(result: xr.Dataset) -> list[str]:
    """A sentence where so few resamples allow no significant corrected test."""
    draws, method = result.attrs.get("n_resamples"), result.attrs.get("adjust_method")
    tests = adjust.n_tests(result)
    whole = set(str(result.attrs.get("adjust_within", "")).split()) >= {"metric", "other_metric"}
    formula = "exact" in result or bool(result.attrs.get("exact"))
    if formula or not whole or draws is None or method not in ("holm", "bonferroni"):
        return []
    needed = adjust.resamples_needed(tests, alpha_of(result))
    if int(draws) >= needed:
        return []
    return [
        f"With {int(draws):,} resamples none of {tests:,} corrected tests could be significant: {needed:,} are needed."
    ]


def _one_pair(result: xr.Dataset, won: list[Pair]) -> str:
    dims = ("metric", "other_metric")
    p = adjust.decisive(result).transpose(*dims)
    at, to = np.argwhere(~np.isnan(p.values))[0]
    one, other = labels(result)[at], labels(result, "other_metric")[to]
    # A difference is that of the better metric, where there is one.
    sign = -1.0 if won and won[0] == (other, one) else 1.0
    value = sign * float(result["difference"].transpose(*dims).values[at, to])
    verdict = f"{wording.of_whom(result)}there is no significant difference between {name(one)} and {name(other)}"
    if wording.is_one_sided(result.attrs) and adjust.n_tests(result) == 1:
        side = "better" if result.attrs["alternative"] == "greater" else "worse"
        verdict = f"{wording.of_whom(result)}{name(one)} is not significantly {side} than {name(other)}"
    verdict = wording.capitalised(verdict)
    if won:
        verdict = f"{wording.of_whom(result)}{name(won[0][0])} beats {name(won[0][1])}"
    is_r = wording.quantity(result.attrs) == "correlation"
    theirs = "their correlations differ" if is_r else "their agreement differs"
    differ = f"{theirs} by {number(value)}{_limits_of(result, at, to, sign)}"
    shown = wording.pvalue(float(p.values[at, to]))
    return wording.Sentence(f"{verdict}: {differ}, {shown}", f"{settled_by(result)}; {coefficient(result)}")


def _limits_of(result: xr.Dataset, at: int, to: int, sign: float) -> str:
    if "ci_low" not in result:
        return ""
    low, high = (float(result[end].transpose("metric", "other_metric").values[at, to]) for end in ("ci_low", "ci_high"))
    low, high = (low, high) if sign > 0 else (-high, -low)
    return "" if math.isnan(low) else f" {wording.limits(low, high)}"


def rank(result: xr.Dataset) -> list[str]:
    return _clusters(result) + undefined(result, "correlation")


def _clusters(result: xr.Dataset, of: str = "correlation") -> list[str]:
    cluster, values, named = result["cluster"].values, result[of].values, labels(result)
    order = np.argsort(-values, kind="stable").tolist()
    groups = [[at for at in order if cluster[at] == each] for each in sorted(set(cluster.tolist()) - {0})]
    if not groups:
        return ["No metric has a rank."]
    texts = [joined((f"{name(named[at])} ({number(values[at])})" for at in group), 4) for group in groups]
    more = f"; and {len(texts) - 4:,} more clusters" if len(texts) > 5 else ""
    shown = texts[:4] if more else texts
    numbered = "; ".join(f"({at}) {text}" for at, text in enumerate(shown, 1))
    word = "cluster" if len(groups) == 1 else "clusters"
    said = f"{len(groups)} {word}, best first: {numbered}{more}"
    return [wording.Sentence(said, f"{coefficient(result)}{chance(result)}") if of == "correlation" else f"{said}."]


def clusters_closing(result: xr.Dataset) -> list[str]:
    tests = result.sizes.get("metric", 1) * (result.sizes.get("metric", 1) - 1)
    if "adjust_method" in result.attrs:
        correction = wording.correction_words(result)
    else:
        correction = f"{tests:,} p-values not corrected"
    how = f"{wording.test_words(result)}; {correction}; alpha {setting(alpha_of(result))}"
    return [wording.Sentence(_WITHIN_CLUSTERS, how)]


def rank_tasks(result: xr.Dataset) -> list[str]:
    return [
        f"By {wording.over_tasks(result)}: {_clusters(result, 'average_score')[0]}",
        wording.Sentence(_WITHIN_CLUSTERS, basis(result)),
    ]


def ranks_by(result: xr.Dataset) -> list[str]:
    return [f"by {wording.over_tasks(result)}: {_clusters(result, 'average_score')[0]}"]


def ranks_closing(result: xr.Dataset) -> list[str]:
    """What the clusters of groups of tasks do not show."""
    return [
        wording.Sentence(_WITHIN_CLUSTERS, basis(result)),
        "A rank that differs between two groups of tasks is no evidence that the groups differ.",
    ]


def rank_stability(result: xr.Dataset) -> list[str]:
    """How often which metric is first among drawn tasks."""
    share, named = result["first_share"].values, labels(result)
    order = [at for at in np.argsort(-share, kind="stable").tolist() if share[at] > 0]
    if not order:
        return ["No metric has an average over the tasks."]
    texts = [f"{name(named[at])}{' is first' if at == order[0] else ''} in {100 * share[at]:.1f} %" for at in order[:4]]
    rest = len(order) - len(texts)
    more = [f"{rest:,} more in the rest"] if rest > 0 else []
    return [
        f"In {wording.drawn_tasks(result.attrs)}, {joined([*texts, *more])}.",
        "The shares describe other tasks like these, with these systems and inputs.",
    ]


def _difference(result: xr.Dataset) -> str:
    if not set(OF_TWO) <= set(result.data_vars):
        return ""
    at = ~np.isnan(result["pvalue"].values.ravel())
    of = {each: result[each].broadcast_like(result["pvalue"]).transpose(*result["pvalue"].dims) for each in _OF_ONE}
    value, low, high, p = (float(of[each].values.ravel()[at][0]) for each in _OF_ONE)
    level = f"{100 * wording.interval_level(result.attrs):.4g} % interval"
    text, *ends = wording.alike([value, low, high])
    return f": they differ by {text} ({level} [{', '.join(ends)}]), {wording.pvalue(p)}"


def equivalence(result: xr.Dataset) -> list[str]:
    along = result.attrs.get("along")
    dim = "other_metric" if "other_metric" in result["equivalent"].dims else str(along)
    dims = ("metric", dim)
    found, p = (result[each].transpose(*dims) for each in ("equivalent", "pvalue"))
    rows, columns = labels(result), labels(result, dim)
    base = result.attrs.get("base")
    yes: dict[frozenset[Any], str] = {}
    no: dict[frozenset[Any], str] = {}
    for at, to in np.argwhere(~np.isnan(p.values)).tolist():
        one, other = rows[at], columns[to]
        metrics = f"{name(one)} with {name(other)}"
        from_base = f"{name(one)} ({name(other)} and {name(base) if base else 'the base'})"
        text = metrics if dim == "other_metric" else from_base
        key = frozenset((one, other)) if dim == "other_metric" else frozenset(((0, one), (1, other)))
        (yes if found.values[at, to] else no)[key] = text
    if not yes and not no:
        return ["No test could be made."]
    margins = np.unique(result["margin"].values[~np.isnan(result["margin"].values)])
    within = (
        f"±{setting(margins[0])}"
        if len(margins) == 1
        else f"margins of {setting(margins[0])} to {setting(margins[-1])}"
    )
    said = f"{len(yes):,} of {len(yes) + len(no):,} pairs are equivalent within {within}"
    if len(yes) + len(no) == 1:
        only = [*yes.values(), *no.values()][0].replace(" with ", " and ", 1)
        verdict = "are equivalent" if yes else "are not shown to be equivalent"
        first = f"{only} {verdict} within {within}{_difference(result)} ({basis(result)}; {coefficient(result)})"
    else:
        first = f"{said} ({basis(result)}; {coefficient(result)})"
        first += f": {joined(yes.values())}" if yes else ""
    many = f" ({joined(no.values(), 3)})" if yes and len(no) > 0 and len(yes) + len(no) > 1 else ""
    return [
        f"{first}.",
        *([f"Metrics not shown to be equivalent{many} may still be equivalent."] if no else []),
    ]


def margin_sensitivity(result: xr.Dataset) -> list[str]:
    """Share equivalent at the smallest and largest margin, and the margin that half need."""
    share, margin, n = (result[each].values for each in ("share", "margin", "n_tests"))
    there = np.flatnonzero(~np.isnan(share))
    if not len(there):
        return ["No comparison has a p-value."]
    first, last = int(there[0]), int(there[-1])
    half = [at for at in there.tolist() if share[at] >= 0.5]
    whom, counts = wording.of_whom(result), np.round(share[there] * n[there]).astype(int).tolist()
    if int(n[first]) == 1:
        ends = f"±{setting(margin[first])} to ±{setting(margin[last])}"
        reached = f"within margins of at least {setting(margin[half[0]])}" if half else f"within no margin of {ends}"
        what = "versions" if "along" in result.attrs else "metrics"
        text = wording.capitalised(f"{whom}the two {what} are equivalent {reached}")
        return [wording.Sentence(text, f"alpha {setting(alpha_of(result))}; {coefficient(result)}")]
    said = f"{whom}{counts[0]:,} of {n[first]:,} comparisons are equivalent"
    said += f" within ±{setting(margin[first])}"
    if last != first:
        said += f", and {counts[-1]:,} within ±{setting(margin[last])}"
    reached = (
        f"half or more are equivalent within margins of at least {setting(margin[half[0]])}"
        if half
        else "within no margin half of them are equivalent"
    )
    return [wording.Sentence(f"{said}; {reached}", f"alpha {setting(alpha_of(result))}; {coefficient(result)}")]


def dominance(result: xr.Dataset) -> list[str]:
    """Number of resolved orders, and shifts of probabilities from the base."""
    dims = ("metric", "other_metric")
    along = str(result.attrs.get("along"))
    versions = labels(result, along) if along in result.dims else [None]
    said: list[str] = []
    for at, version in enumerate(versions[:3]):
        part = result if version is None else result.isel({along: at})
        probability, resolved = (part[each].transpose(*dims).values for each in ("probability", "resolved"))
        where = "" if version is None else f"{along} {name(version)}: "
        text = f"{where}{_resolved(labels(result), labels(result, 'other_metric'), probability, resolved)}"
        if "mean_shift" in part and version != result.attrs.get("base") and not math.isnan(float(part["mean_shift"])):
            text += f", mean shift {number(float(part['mean_shift']))} from {name(result.attrs.get('base'))}"
        said.append(text)
    more = f"; and {len(versions) - 3:,} more of {along}" if len(versions) > 3 else ""
    threshold = setting(float(result.attrs.get("threshold", 0.975)))
    how = f"decided by a share of {threshold} of the resamples or more; {coefficient(result)}"
    return [wording.Sentence(f"{wording.of_whom(result)}{'; '.join(said)}{more}", how)]


def _resolved(rows: list[Hashable], columns: list[Hashable], probability: FloatArray, resolved: BoolArray) -> str:
    """Which metric agrees better in how many resamples, of one pair; of several those that are decided."""
    better = []
    for at, to in pair_results.once(rows, columns, ~np.isnan(probability)):
        p, pair = float(probability[at, to]), (rows[at], columns[to])
        first, second = pair if p >= 0.5 else pair[::-1]
        share = f"{name(first)} agrees better than {name(second)} in a share of {number(max(p, 1 - p), 3)}"
        better.append((share, bool(resolved[at, to])))
    if len(better) == 1:
        share, sure = better[0]
        return f"{share} of the resamples, which {'decides' if sure else 'does not decide'} which metric is better"
    decided_ = [share for share, sure in better if sure]
    told = f": {joined(decided_, 4)}" if decided_ else ""
    return f"for {len(decided_):,} of {len(better):,} pairs of metrics it is clear which is better{told}"


def range_drop(result: xr.Dataset) -> list[str]:
    """Number of correlations that drop, and that drop more than range restriction explains."""
    dims = ("metric", "other_metric")
    rows, columns = labels(result), labels(result, "other_metric")
    values = {
        each: result[each].transpose(*dims).values for each in ("difference", "pvalue", "excess", "excess_pvalue")
    }
    cells = pair_results.once(rows, columns, ~np.isnan(values["difference"]))
    if not cells:
        return ["No two metrics have a correlation within the range."]
    alpha = alpha_of(result)
    drops = [cell for cell in cells if values["pvalue"][cell] <= alpha and values["difference"][cell] > 0]
    beyond = [cell for cell in cells if values["excess_pvalue"][cell] <= alpha and values["excess"][cell] > 0]
    at, to = max(cells, key=lambda cell: float(values["difference"][cell]))
    tested = np.isfinite([values["excess_pvalue"][cell] for cell in cells]).any()
    pairs = joined([f"{name(rows[row])} with {name(columns[column])}" for row, column in beyond], 3)
    which = f" ({pairs})" if beyond else ""
    second = (
        f"by more than the narrower range explains in {len(beyond):,}{which}"
        if tested
        else "what the narrower range explains is unknown"
    )
    how = f"not corrected; alpha {setting(alpha)}{scope.words(result.attrs)}; {coefficient(result)}"
    largest = f"{name(rows[at])} and {name(columns[to])}, {number(values['difference'][at, to])}"
    lower = "significantly lower in that range"
    said = [f"In {len(drops):,} of {len(cells):,} pairs of metrics the correlation is {lower}, {second} ({how})."]
    return [*said, f"The largest drop is that of {largest}."] if values["difference"][at, to] > 0 else said


def alt_test(result: xr.Dataset) -> list[str]:
    """Judges that may replace a rater: they win against half of the raters or more.

    Calderon, Reichart & Dror (2025), "The alternative annotator test for LLM-as-a-judge".
    """
    rates, named = result["winning_rate"].values.ravel(), labels(result)
    along = str(result.attrs.get("along", "rater"))
    raters = result["pvalue"].notnull().sum(along).values.ravel()
    margin = setting(float(result.attrs.get("margin", math.nan)))
    whom = scope.words(result.attrs)
    how = f"margin {margin}, alpha {setting(alpha_of(result))}{whom}; {wording.correction_words(result)}"
    texts = []
    of_them = f"one of these {int(result.sizes[along])} raters" if along in result.sizes else "a rater"
    for may, verb in ((True, f"may replace {of_them}"), (False, f"may not replace {of_them}")):
        found = [at for at, rate in enumerate(rates) if not math.isnan(rate) and (rate >= WINNING) == may]
        each = [f"{name(named[at])} (wins against {round(rates[at] * raters[at])} of {raters[at]})" for at in found]
        if each:
            texts.append(f"{joined(each)} {verb}")
    verdicts: list[str] = [wording.Sentence("; ".join(texts), how)] if texts else ["No judge could be tested."]
    if constant_passes(result):
        verdicts.append(
            "A judge that gives every output the raters' most frequent grade, without reading it, would also pass, so "
            "passing says little here."
        )
    if mapped := result.attrs.get("calibrated"):
        were = "were" if ", " in str(mapped) else "was"
        verdicts.append(f"{mapped} {were} calibrated {result.attrs.get('calibration', '')}.")
    if others := result.attrs.get("other_scale"):
        way_out = 'scale="calibrated" gives them the distribution of the ratings'
        return [*verdicts, f"No verdict on {others}: not on the scale of the ratings; {way_out}."]
    return [*verdicts, *undefined(result, "winning_rate")] if texts else verdicts


def constant_passes(test: xr.Dataset) -> bool:
    """Whether a constant judge passes, too, an `alt_test` that a judge passed."""
    if "constant_winning_rate" not in test:  # of an older version
        return False
    return bool(((test["winning_rate"] >= WINNING) & (test["constant_winning_rate"] >= WINNING)).any())


def coverage(result: xr.Dataset) -> list[str]:
    """Intervals that undercover or overcover, beyond the simulation error."""
    level = float(result.attrs.get("confidence_level", 0.95))
    wanted = f"{100 * level:g} %"
    if result.attrs.get("truth") == "halves":
        return _of_halves(result, level, wanted)
    said = _beside(result, "coverage", level, wanted, f"Coverage of {wanted} intervals", "interval")
    return [*said, *([_LIKE_THESE] if result.attrs.get("model") == "like the scores" else [])]


def _of_halves(result: xr.Dataset, level: float, wanted: str) -> list[str]:
    """How often intervals hold another estimate, and how often correct ones would."""
    texts = []
    for label in labels(result, "interval"):
        shares = result["coverage"].sel(interval=label)
        if bool(shares.isnull().all()):
            continue
        low, high = (number(float(each)) for each in (shares.min(), shares.max()))
        texts.append(f"{name(label)} {low if low == high else f'{low} to {high}'}")
    if not texts:
        return ["No trial is defined."]
    normal = NormalDist()
    correct = 2 * normal.cdf(normal.inv_cdf(0.5 + level / 2) / math.sqrt(2)) - 1
    return [
        f"The {wanted} intervals from one half of the scores contain the estimate from the other half in these shares "
        f"of {result.attrs['n_trials']:,} splits: {joined(texts)}.",
        f"That estimate is uncertain, too, so correct intervals contain it in about {number(correct)} of the splits, "
        f"not in {number(level)}, and in more where systems are few. "
        'truth="population" measures the coverage of the true value.',
    ]


def power(result: xr.Dataset) -> list[str]:
    alpha = alpha_of(result)
    if "type_i_error" in result:
        head = f"Type-I error of tests at {setting(alpha)}"
        return _beside(result, "type_i_error", alpha, setting(alpha), head, "test")
    dims = [dim for dim in result["power"].dims if dim != "test"]
    mean = result["power"].mean(dims).values
    if np.isnan(mean).all():
        return ["No trial is defined."]
    order = [at for at in np.argsort(-mean, kind="stable").tolist() if not math.isnan(mean[at])]
    each = [f"{name(labels(result, 'test')[at])} {number(mean[at])}" for at in order]
    over = f", on average over {listed(dim.replace('_', ' ') for dim in map(str, dims))}" if dims else ""
    error = number(float(result["mc_error"].max()))
    return [
        wording.Sentence(
            f"Power at {setting(alpha)}{over}: {listed(each)}",
            f"{result.attrs['n_trials']:,} trials, simulation error up to {error} each",
        )
    ]


def _beside(result: xr.Dataset, variable: str, level: float, shown: str, head: str, dim: str) -> list[str]:
    """For which labels shares are below the level, consistent with it, and above."""
    values = result[variable]
    low, high = (result[each].transpose(*values.dims).values for each in ("ci_low", "ci_high"))
    sides = (high < level - 1e-12, (low <= level + 1e-12) & (high >= level - 1e-12), low > level + 1e-12)
    by_dim = list(values.dims).index(dim)
    words = (f"below {shown}", f"{shown} within simulation error", f"above {shown}")
    said = []
    for side, word in zip(sides, words, strict=True):
        per_label = side.sum(axis=tuple(axis for axis in range(side.ndim) if axis != by_dim))
        cells = side.size // side.shape[by_dim]
        texts = []
        for at, label in enumerate(labels(result, dim)):
            if not per_label[at]:
                continue
            shares = values.isel({dim: at}).values.ravel()
            told = number(shares[0]) if cells == 1 else f"{per_label[at]:,} of {cells:,}"
            texts.append(f"{name(label)} ({told})")
        said += [f"{word} for {joined(texts, 6)}"] if texts else []
    return [f"{head} in {result.attrs['n_trials']:,} trials: {'; '.join(said)}."] if said else ["No trial is defined."]
