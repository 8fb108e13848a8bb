"""Sentences of `conclusion` on correlations, intervals, inputs, outputs and raters.

Each function takes the result of one label of all further dims.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping

import numpy as np
import xarray as xr

from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.core.types import FloatArray, IntArray
from xsumstat.dataset import drawn, few_systems, pair_results, results, scope, wording
from xsumstat.dataset.wording import estimate, limits, listed, name, number, numbers, setting
from xsumstat.narrative import turned

LEAST_ALPHA, _GOOD_ALPHA = 0.667, 0.8


def labels(result: xr.Dataset, dim: str = "metric") -> list[Hashable]:
    return wording.labels_of(result[dim].values.tolist())


def coefficient(result: xr.Dataset) -> str:
    """Name and level of the coefficient: "Pearson's r, system level"."""
    asked = str(result.attrs.get("coefficient", ""))
    called = COEFFICIENTS[asked].label if asked in COEFFICIENTS else asked
    if called and "positive" in result.attrs:
        called = f"{called} of {wording.positive(result.attrs)}"
    if called and "given" in result.attrs:
        called = f"partial {called} given {wording.shortened(result.attrs['given'])}"
    return ", ".join(filter(None, [called, level(result)]))


def level(result: xr.Dataset) -> str:
    """Level of the correlation, "system level"; empty without one."""
    return f"{str(result.attrs['level']).replace('_', ' ')} level" if result.attrs.get("level") else ""


def gold(result: xr.Dataset) -> str:
    return wording.human_scores(result.attrs.get("gold"))


def interval(result: xr.Dataset, ending: str = "") -> str:
    """Kind and scope of the interval: "95 % jackknife interval for these systems"."""
    found = wording.intervals(result)
    if found is None:
        return f"interval{ending}"
    whom = f" for {found.over.scope}" if found.over.scope else ""
    return f"{found.level} % {found.kind.removesuffix('s')}{ending}{whom}"


def estimated(one: xr.Dataset, variable: str) -> str:
    low, high = (float(one[each]) if each in one.data_vars else math.nan for each in ("ci_low", "ci_high"))
    return estimate(float(one[variable]), low, high)


def undefined(result: xr.Dataset, variable: str) -> list[str]:
    values = result[variable]
    lacking = values.isnull().all([dim for dim in values.dims if dim != "metric"]).values
    named = [label for label, nothing in zip(labels(result), lacking, strict=True) if nothing]
    return [f"Undefined: {listed(named)}."] if named else []


def confusion(result: xr.Dataset) -> list[str]:
    """Outputs with the gold's label, and each metric's most frequent error."""
    counts = result["n_outputs"].transpose("metric", "human_label", "judge_label").values
    names = [str(each) for each in labels(result, "human_label")]
    said = []
    for label, table in zip(labels(result), counts, strict=True):
        total = int(table.sum())
        if not total:
            continue
        same = int(np.trace(table))
        if "along" in result.attrs:
            said.append(_of_single_ratings(name(label), table, names))
            continue
        text = f"{name(label)} and {gold(result)} have the same label for {same:,} of {total:,} outputs"
        said.append(f"{text}{_largest_error(table, names, 'error', 'instead of')}.")
    return said or ["No output has both labels."]


def _of_single_ratings(judge: str, table: IntArray, names: list[str]) -> str:
    """How often a judge gives a single rater's grade, a higher or a lower one."""
    total, same = int(table.sum()), int(np.trace(table))
    higher, lower = (int(half.sum()) for half in (np.triu(table, 1), np.tril(table, -1)))
    shares = [f"{100 * count / total:.0f} %" for count in (same, higher, lower)]
    text = (
        f"{judge} gives the grade of a single rater for {same:,} of {total:,} ratings ({shares[0]}), a higher one for "
        f"{shares[1]} and a lower one for {shares[2]}"
    )
    return f"{text}{_largest_error(table, names, 'difference', 'where a rater gives')}."


def _largest_error(table: IntArray, names: list[str], what: str, versus: str) -> str:
    """The most frequent two different labels: "; the most frequent error is 'b' instead of 'a' (4 of 9)"."""
    errors = np.where(np.eye(len(names), dtype=bool), 0, table)
    if not errors.any():
        return ""
    row, column = np.unravel_index(int(errors.argmax()), errors.shape)
    count = f"{int(errors[row, column]):,} of {int(table[row].sum()):,}"
    return f"; the most frequent {what} is {names[column]!r} {versus} {names[row]!r} ({count})"


def best_metrics(result: xr.Dataset) -> list[Hashable]:
    """The metrics with the highest value; none where only one of several has a value."""
    main = "correlation" if "correlation" in result else results.main_variable(result)
    return [] if int(result[main].notnull().sum()) < min(2, result.sizes["metric"]) else _highest(result, main)


def _highest(result: xr.Dataset, main: Hashable = "correlation") -> list[Hashable]:
    values = result[main]
    if values.dims != ("metric",) or np.isnan(values.values).all():
        return []
    return [labels(result)[at] for at in _best(values.values)]


def _best(values: FloatArray) -> list[int]:
    return np.flatnonzero(values >= np.nanmax(values) - 1e-12).tolist()


def _leads(result: xr.Dataset, values: FloatArray, shown: list[str], by: str = "") -> str:
    """The metric with the highest correlation with gold; `by` which interval."""
    named, best, what = labels(result), _best(values), wording.quantity(result.attrs)
    measured = f"{by}; {coefficient(result)}" if by else coefficient(result)
    if len(named) == 1:
        told = f"{measured}{chance(result)}"
        return wording.Sentence(f"{name(named[0])} has {_A[what]} of {shown[0]} with {gold(result)}", told)
    who = listed(named[at] for at in best)
    verb = "has" if len(best) == 1 else "have"
    told = f"{measured}, {len(named)} metrics{chance(result)}"
    return wording.Sentence(f"{who} {verb} the highest {what} with {gold(result)}: {shown[best[0]]}", told)


def _has_chance(result: xr.Dataset) -> bool:
    return {"baseline", "baseline_constant"} <= set(result.data_vars)


def chance(result: xr.Dataset) -> str:
    """Share of counted pairs, and the chance baseline, in clauses."""
    asked = str(result.attrs.get("coefficient"))
    if not _has_chance(result) or asked not in COEFFICIENTS:
        return ""
    told = {}
    for kind, variable in (("constant", "baseline_constant"), ("random", "baseline")):
        values = result[variable].values
        if not (np.isnan(values).all() or np.nanmax(values) <= COEFFICIENTS[asked].bounds[0]):
            ends = numbers(np.array([np.nanmin(values), np.nanmax(values)]))
            told[kind] = " to ".join(dict.fromkeys(ends))
    counted = wording.pairs_used(result)
    if not told:
        return counted
    if len(set(told.values())) == 1:
        return f"{counted}; a {' or '.join(told)} metric would have {next(iter(told.values()))}"
    return f"{counted}; a constant metric would have {told['constant']}, a random one {told['random']}"


def corr(result: xr.Dataset) -> list[str]:
    values = result["correlation"].values
    if np.isnan(values).all():
        return ["No metric has a defined correlation."]
    shown, named = numbers(values), labels(result)
    said = [_leads(result, values, shown)]
    order = [at for at in np.argsort(-values, kind="stable").tolist() if not math.isnan(values[at])]
    rest = order[len(_best(values)) :]
    if rest:
        each = [f"{name(named[at])} ({shown[at]})" for at in rest]
        last = f"; last is {each[-1]}" if len(rest) > 3 else ""
        ahead = "It is" if len(order) - len(rest) == 1 else "They are"
        said.append(f"{ahead} followed by {wording.joined(each[:3])}{last}.")
    return said + undefined(result, "correlation")


def corr_closing(result: xr.Dataset) -> list[str]:
    """Correlations alone do not show their uncertainty."""
    single = result.sizes.get("metric", 1) < 2
    return [] if single else ["ci gives intervals, compare_metrics tests which metric is better."]


def ci(result: xr.Dataset) -> list[str]:
    """The best metric with its interval, intervals that include 0, and the widest."""
    if "other_metric" in result.dims and "difference" in result:
        return _differences(result)
    values, low, high = (result[each].values for each in ("correlation", "ci_low", "ci_high"))
    if np.isnan(values).all():
        return ["No metric has a defined correlation."]
    named = labels(result)
    shown = numbers(values)
    if np.isnan(low).all():
        return [_leads(result, values, shown), f"There is no interval{few_systems.why_none(result.attrs)}.",
                *undefined(result, "correlation")]  # fmt: skip
    texts = [estimate(*each) if not math.isnan(each[1]) else f"{text}, no interval"
             for text, each in zip(shown, zip(values, low, high, strict=True), strict=True)]  # fmt: skip
    said = [_leads(result, values, texts, interval(result))]
    # Of a share, as of right answers, 0 is no level that says nothing.
    of_share = wording.scale_of(result.attrs) is not None and COEFFICIENTS[result.attrs["coefficient"]].bounds[0] == 0
    told = [] if of_share else _level_and_width(named, low, high, *_chance_level(result))
    return [*said, *told, *undefined(result, "correlation"), *_stand_ins(result)]


def _chance_level(result: xr.Dataset) -> tuple[FloatArray, str]:
    """Chance level of each metric and its name: 0, or the chance baseline."""
    if not _has_chance(result):
        return np.zeros(result["correlation"].shape), "0"
    level = np.fmax(result["baseline"].values, result["baseline_constant"].values)
    return (level, "0") if not np.nan_to_num(level).any() else (level, "the chance level")


def _level_and_width(
    named: list[Hashable], low: FloatArray, high: FloatArray, level: FloatArray, what: str
) -> list[str]:
    """Intervals that include the chance level, the widest, and metrics without any."""
    there = np.flatnonzero(~np.isnan(low)).tolist()
    zero = np.flatnonzero((low <= level) & (high >= level)).tolist()
    if len(named) == 1:
        return [f"The interval includes {what}."] if zero else [f"The interval does not include {what}."]
    of = listed(named[at] for at in zero)
    held = f"The interval of {of} includes {what}" if len(zero) == 1 else f"The intervals of {of} include {what}"
    held = held if zero else f"No interval includes {what}"
    if len(zero) == len(named):
        held = f"All intervals include {what}"
    widest = _best(high - low)[0]
    if len(there) > 2:
        text = limits(low[widest], high[widest])
        which = "it" if zero == [widest] else f"that of {name(named[widest])}"
        held += f"; {which} is the widest, {text}"
    lacking = [label for at, label in enumerate(named) if at not in there]
    if lacking:
        held += f"; there is no interval for {listed(lacking)}"
    return [f"{held}."]


def _stand_ins(result: xr.Dataset) -> list[str]:
    if "fell_back" not in result:
        return []
    named = [label for label, other in zip(labels(result), result["fell_back"].values, strict=True) if other == 1]
    return [f"For {listed(named)} another interval is used."] if named else []


def _differences(result: xr.Dataset) -> list[str]:
    rows, columns = labels(result), labels(result, "other_metric")
    difference, low, high = (
        result[each].transpose("metric", "other_metric").values for each in ("difference", "ci_low", "ci_high")
    )
    there = ~np.isnan(low)
    above, below = there & (low > 0), there & (high < 0)
    if there.sum() == 0:
        return ["No difference has an interval."]
    tested = there.sum()
    said = []
    if tested == 1:
        at, to = np.argwhere(there)[0]
        verdict = "above 0" if above.any() else "below 0" if below.any() else "which includes 0"
        text = f"{name(rows[at])} minus {name(columns[to])}: "
        text += estimate(difference[at, to], low[at, to], high[at, to])
        return [wording.Sentence(f"{text}, {verdict}", f"{interval(result)}; {coefficient(result)}")]
    for side, word in ((above, "above"), (below, "below")):
        pairs = [
            f"{name(rows[at])} minus {name(columns[to])} {estimate(difference[at, to], low[at, to], high[at, to])}"
            for at, to in np.argwhere(side)
        ]
        if pairs:
            said.append(f"{len(pairs):,} {'lie' if len(pairs) > 1 else 'lies'} {word} 0 ({wording.joined(pairs)})")
    neither = int(tested - above.sum() - below.sum())
    if neither:
        said.append(f"{neither:,} {'include' if neither > 1 else 'includes'} 0 (no significant difference)")
    how = f"{interval(result, 's')}, not corrected for their number; {coefficient(result)}"
    return [wording.Sentence(f"Of {tested:,} differences of {wording.quantity(result.attrs)} {'; '.join(said)}", how)]


def ci_closing(result: xr.Dataset) -> list[str]:
    """Intervals do not test which metric is better."""
    single = result.sizes.get("metric", 1) < 2 or "difference" in result or not wording.has_intervals(result)
    return [] if single else ["Overlapping intervals do not say which metric is better; compare_metrics does."]


def metric_corr(result: xr.Dataset) -> list[str]:
    values = result["correlation"].transpose("metric", "other_metric").values
    rows, columns = labels(result), labels(result, "other_metric")
    pairs = pair_results.once(rows, columns, ~np.isnan(values))
    if not pairs:
        return ["No two metrics have a defined correlation."]

    def told(pair: tuple[int, int], verb: str = "") -> str:
        at, to = pair
        of_two = estimated(result.isel(metric=at, other_metric=to), "correlation")
        return f"{name(rows[at])} and {name(columns[to])}{verb} ({of_two})"

    how = f"; {interval(result, 's')}" if wording.has_intervals(result) else ""
    high, low = (most(pairs, key=lambda pair: float(values[pair])) for most in (max, min))
    if high == low:
        return [wording.Sentence(f"The correlation of two metrics: {told(high)}", f"{coefficient(result)}{how}")]
    said = f"{told(high, ' correlate most')}, {told(low, ' least')}"
    return [wording.Sentence(said, f"{coefficient(result)}{how}")]


def input_effect(result: xr.Dataset) -> list[str]:
    """Metrics by which inputs differ, and how many inputs."""
    p, alpha = result["pvalue"].values, wording.alpha_of(result)
    named = labels(result)
    differ = np.flatnonzero(p <= alpha).tolist()
    if len(named) == 1:
        if math.isnan(p[0]):
            return [f"By {name(named[0])} no test of the inputs can be made."]
        distinct = result["n_distinct"].values
        count = int((distinct > 0).sum())
        beside = f"; {count:,} of {distinct.size:,} differ from some other" if differ else ""
        verdict = "inputs differ in difficulty" if differ else "inputs do not differ significantly"
        how = f"Kruskal and Wallis's test, {wording.pvalue(float(p[0]))}{scope.words(result.attrs)}"
        return [f"By {name(named[0])} {verdict} ({how}){beside}."]
    who = f" ({listed(named[at] for at in differ)})" if differ else ""
    return [
        f"By {len(differ):,} of {len(named):,} metrics inputs differ in difficulty{who}: Kruskal and Wallis's test, "
        f"p ≤ {setting(alpha)}{scope.words(result.attrs)}, not corrected for the number of metrics.",
        *undefined(result, "pvalue"),
    ]


def system_means(result: xr.Dataset) -> list[str]:
    """Means of the best and the worst system, and the ratings saved by the metric."""
    named, mean = labels(result, "system"), result["mean"].values
    there = np.flatnonzero(~np.isnan(mean))
    if not len(there):
        return ["No system has ratings, so no mean is defined."]
    means = _ahead(result) * mean[there]
    best, worst = int(there[np.argmax(means)]), int(there[np.argmin(means)])

    def told(at: int) -> str:
        return estimated(result.isel(system=at), "mean")

    how = f"({interval(result, 's')})"
    if best == worst:
        whose = "" if named == ["system"] else f" of {name(named[best])}"  # what a table without systems calls its one
        said = [f"The mean human score{whose} is {told(best)} {how}."]
    else:
        where = " over these inputs" if result.attrs["target"] == "these" else ""
        first, last = ("lowest", "highest") if turned.is_lower(result) else ("highest", "lowest")
        ahead = f"{name(named[best])} has the {first} mean human score{where}, {told(best)}"
        behind = f"{name(named[worst])} has the {last}, {told(worst)}"
        said = [
            f"{ahead}; {behind} {how}.",
            *_clearly_best(result, best, _overlapping(result, best, there.tolist())),
        ]
    rated, effective = (result[each].values for each in ("n_rated", "n_effective"))
    usable = np.flatnonzero((rated > 0) & np.isfinite(effective))
    if len(usable):
        n, inputs = rated[usable], result["n_inputs"].values[usable]
        equal = effective[usable]
        if result.attrs["target"] == "these":  # of m inputs no more than m can be rated
            equal = 1 / ((1 - n / inputs) / equal + 1 / inputs)
        helper = wording.shortened(str(result.attrs.get("helped_by")))
        more = 100 * (float(np.median(equal / n)) - 1)
        all_rated = bool((n == inputs).all())
        these = "this system" if len(there) == 1 else "these systems"
        whose = "Every output" if len(there) == len(named) else f"Every output of {these}"
        said.append(
            f"{whose} has a human score, so {helper} adds nothing."
            if all_rated
            else f"The scores of {helper} are worth {max(more, 0):.0f} % more ratings (median over systems)."
        )
    unrated = [label for at, label in enumerate(named) if at not in there]
    if unrated:
        said.append(f"No mean is defined for {listed(map(name, unrated))}.")
    alone = int(result["fell_back"].values[there].sum())
    if alone:
        said.append(
            f"For {alone:,} of {len(there):,} systems the ratings are too few to use the scores of "
            f"{result.attrs.get('helped_by')}."
        )
    return [*said, *filter(None, [drawn.sentence(result.attrs)])]


def means_closing(result: xr.Dataset) -> list[str]:
    """What shows whether the best system is better than those whose intervals its own overlaps."""
    if result["mean"].dims != ("system",):
        return []
    there = np.flatnonzero(~np.isnan(result["mean"].values)).tolist()
    if len(there) < 2:
        return []
    best = max(there, key=lambda at: _ahead(result) * float(result["mean"].values[at]))
    overlapping = _overlapping(result, best, there)
    if not overlapping:
        return []
    whose = "that" if len(overlapping) == 1 else "those"
    first = name(labels(result, "system")[best])
    return [
        f"The interval of {first} overlaps with {whose} of {listed(overlapping, 4)}; a test of differences "
        f'(compare_systems(method="ppi")) shows whether {first} is better.'
    ]


def _clearly_best(result: xr.Dataset, best: int, overlapping: list[str] | None) -> list[str]:
    if overlapping != []:
        return []
    side = "below" if turned.is_lower(result) else "above"
    return [f"{name(labels(result, 'system')[best])} is best: its interval lies {side} those of all other systems."]


def _ahead(result: xr.Dataset) -> float:
    """1, or -1 where a lower mean is better."""
    return -1.0 if turned.is_lower(result) else 1.0


def _overlapping(result: xr.Dataset, best: int, there: list[int]) -> list[str] | None:
    """Systems whose intervals reach that of the best; None without intervals."""
    named, others = labels(result, "system"), [at for at in there if at != best]
    low, high = result["ci_low"].values, result["ci_high"].values
    if turned.is_lower(result):
        low, high = -high, -low
    if math.isnan(low[best]) or np.isnan(high[others]).any():
        return None
    return [name(named[at]) for at in others if high[at] >= low[best]]


def top_k_corr(result: xr.Dataset) -> list[str]:
    whole = str(result.attrs.get("n_systems"))

    used: Mapping[int, int] = dict(result["n_systems"].to_series()) if "n_systems" in result.coords else {}

    def among(k: str, first: bool) -> str:
        scored = used.get(int(k), int(k))
        if k == whole and scored == int(k):
            return f"all {k} systems"
        some = "" if scored == int(k) else f" ({scored:,} of them with scores)"
        by = f" by {name(result.attrs['best_by'])}" if "best_by" in result.attrs else ""
        return f"the {k} best{' systems' if first else ''}{by}{some}"

    return [*_along(result, "k", among), _NARROW]


def close_corr(result: xr.Dataset) -> list[str]:
    unit = str(result.attrs.get("unit", "score"))
    return [*_along(result, "gap", lambda gap, first: _pairs_of_gap(gap, unit)), _NARROW]


def _pairs_of_gap(gap: str, unit: str) -> str:
    """Pairs of systems by a label of `gap`, such as "to 0.25" or "0.1 to 0.5"."""
    low, _, high = gap.rpartition("to ")
    if unit != "quantile":
        return f"pairs of systems whose means differ by {f'{low}to {high}' if low else f'at most {high}'}"
    if not low:
        return (
            "all pairs of systems" if float(high) == 1 else f"the closest {100 * float(high):g} % of pairs of systems"
        )
    return f"the pairs of systems from {100 * float(low):g} to {100 * float(high):g} %, by their distance"


_A = {"correlation": "a correlation", "agreement": "an agreement"}
_NARROW = "A narrower range alone makes correlations lower and less certain."


def _along(result: xr.Dataset, dim: str, among: Callable[[str, bool], str]) -> list[str]:
    """The best metric at the first and the last label of a dim; `among` names what it is best among."""
    places = [0, -1] if result.sizes[dim] > 1 else [0]
    texts: list[str] = []
    what = wording.quantity(result.attrs)
    for at in places:
        part = result.isel({dim: at})
        best = _highest(part)
        where = f"{'among' if texts else 'Among'} {among(str(part[dim].item()), not texts)},"
        if not best:
            texts.append(f"{where} no metric has a defined {what}")
            continue
        one = part.isel(metric=labels(part).index(best[0]))
        verb = f"has {_A[what]} of" if part.sizes["metric"] == 1 else f"has the highest {what},"
        found = estimated(one, "correlation")
        if len(best) > 1:
            verb, found = f"have the highest {what},", number(float(one["correlation"]))
        texts.append(f"{where} {listed(best)} {verb} {found}")
    how = f"{interval(result, 's')}; " if wording.has_intervals(result) else ""
    return [wording.Sentence("; ".join(texts), f"{how}{coefficient(result)}")]


def agreement(result: xr.Dataset) -> list[str]:
    """Krippendorff's alpha in the usual reading.

    Krippendorff (2004), "Content analysis", 2nd ed., ch. 11: rely on .8 or more, draw tentative conclusions from .667
    on.
    """
    alpha = float(result["alpha"])
    if math.isnan(alpha):
        return ["Krippendorff's alpha is undefined: no output has two ratings, or all ratings are equal."]
    low, high = float(result["ci_low"]), float(result["ci_high"])
    said = f"Krippendorff's alpha is {estimate(alpha, low, high, digits_of_alpha(alpha))}"
    if math.isnan(low):
        return [f"{said}, without an interval. {_in_words(alpha)}"]
    beside = "The whole interval is in this class."
    if _reading(low) != _reading(high):
        beside = f'The interval reaches from "{_reading(low)}" to "{_reading(high)}".'
    return [f"{said} ({interval(result)}). {_in_words(alpha)}", beside]


def _in_words(alpha: float) -> str:
    return f"Krippendorff calls this {_reading(alpha)} (.667 or more: tentative conclusions; .8 or more: reliable)."


def digits_of_alpha(alpha: float) -> int:
    """Digits with which an alpha reads as it is: .7964 is not .80."""
    return next((digits for digits in (2, 3) if _reading(round(alpha, digits)) == _reading(alpha)), 4)


def _reading(alpha: float) -> str:
    if alpha >= _GOOD_ALPHA:
        return "reliable"
    return "good for tentative conclusions only" if alpha >= LEAST_ALPHA else "not reliable"


def human_ceiling(result: xr.Dataset) -> list[str]:
    """The raters' agreement, and metrics above or below it."""
    named = labels(result)
    if "rater" not in named:
        return []
    own = result.isel(metric=named.index("rater"))
    how = f"{'no interval' if wording.intervals(result) is None else interval(result)}; {coefficient(result)}"
    others = "each other rater" if wording.scale_of(result.attrs) in ("classes", "two") else "the mean of the others"
    said: list[str] = [
        wording.Sentence(f"On average a rater has an agreement of {estimated(own, 'correlation')} with {others}", how)
    ]
    rest = [at for at, label in enumerate(named) if label != "rater"]
    low, high = result["difference_low"].values, result["difference_high"].values
    groups = (
        ("agrees", "agree", "significantly more than a rater", [at for at in rest if low[at] > 0]),
        ("agrees", "agree", "significantly less than a rater", [at for at in rest if high[at] < 0]),
        ("does", "do", "not differ significantly from a rater", [at for at in rest if low[at] <= 0 <= high[at]]),
    )
    told = [
        f"{listed(named[at] for at in found)} {one if len(found) == 1 else several} {how_far}"
        for one, several, how_far, found in groups
        if found
    ]
    return [
        *said,
        *([f"{'; '.join(told)} (intervals of the difference, not corrected)."] if told else []),
        *_on_own_outputs(result),
        *undefined(result, "correlation"),
    ]


def _on_own_outputs(result: xr.Dataset) -> list[str]:
    """What a rater reaches on the outputs that a metric scored, for metrics that lack some."""
    return [
        f"{name(label)} is compared with raters on the outputs that it scored, where a rater has {number(value)}."
        for label, value in wording.raters_on_outputs_of(result).items()
        if not math.isnan(value)
    ]


def normality(result: xr.Dataset) -> list[str]:
    alpha = wording.alpha_of(result)
    groups = [dim for dim in result["pvalue"].dims if dim != "metric"]
    if groups:
        return _normal_groups(result["pvalue"], groups, alpha)
    p = result["pvalue_adjusted" if "pvalue_adjusted" in result else "pvalue"].values
    named, tested = labels(result), int((~np.isnan(p)).sum())
    rejected = [named[at] for at in np.flatnonzero(p <= alpha)]
    who = f": {listed(rejected)}" if rejected else ""
    how = f"Shapiro and Wilk; {wording.correction_words(result)}; alpha {number(alpha)}"
    said: list[str] = [wording.Sentence(f"Normality is rejected for {len(rejected):,} of {tested:,} metrics{who}", how)]
    if tested > len(rejected):
        said.append("Scores for which it is not rejected need not be normal.")
    return said + undefined(result, "pvalue")


def _normal_groups(p: xr.DataArray, dims: list[Hashable], alpha: float) -> list[str]:
    tests = p.notnull().sum(dims)
    if not tests.any():
        return ["No test could be made."]
    shares = ((p <= alpha).sum(dims) / tests).values
    named = p["metric"].values.tolist()
    least, most = int(np.nanargmin(shares)), int(np.nanargmax(shares))
    told = [f"{number(shares[at])} ({name(named[at])})" for at in dict.fromkeys((least, most))]
    how = f"Shapiro and Wilk's test of each, p ≤ {setting(alpha)}, not corrected"
    sizes = " or ".join(f"{size:,}" for size in np.unique(tests.values[[least, most]]))
    return [
        f"Normality is rejected in a share of {' to '.join(told)} of {sizes} groups of scores ({how}); of "
        f"normal scores {setting(alpha)} would be on average."
    ]


def pca(result: xr.Dataset) -> list[str]:
    explained = result["explained"].values
    each = ", ".join(f"{100 * share:.0f} %" for share in explained)
    word = "component explains" if len(explained) == 1 else "components explain"
    total = f"{100 * float(explained.sum()):.0f} %"
    said: list[str] = [wording.Sentence(f"{len(explained):,} {word} {total} of the variance of ranks", each)]
    at = result["coordinate"].transpose("metric", "component").values
    named, there = labels(result), np.flatnonzero(~np.isnan(at).any(axis=1))
    if len(there) > 2:
        apart = np.linalg.norm(at[there][:, None] - at[there][None], axis=-1)
        np.fill_diagonal(apart, math.inf)
        one, other = np.unravel_index(np.argmin(apart), apart.shape)
        alone = "this component" if len(explained) == 1 else f"these {len(explained):,} components"
        pair = f"{name(named[there[one]])} and {name(named[there[other]])}"
        said.append(f"In {alone}, {pair} are closest together; others may correlate more.")
    return said + undefined(result, "coordinate")


def simulate(result: xr.Dataset) -> list[str]:
    truth = result["truth"].isel({dim: 0 for dim in result["truth"].dims if dim != "metric"})
    of = result.attrs.get("gold")
    pairs = zip(truth["metric"].values.tolist(), truth.values.tolist(), strict=True)
    told = [f"{name(label)} {number(value)}" for label, value in pairs if label != of and not math.isnan(value)]
    how = [str(truth[dim].item()) for dim in ("coefficient", "level") if dim in truth.coords]
    how = [COEFFICIENTS[each].label if each in COEFFICIENTS else f"{each} level" for each in how]
    return (
        [f"Simulated scores; true correlations with {gold(result)} ({', '.join(how)}): {listed(told)}."] if told else []
    )
