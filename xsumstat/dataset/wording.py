"""How a result was made, in short phrases from its attrs; numbers and names as papers print them."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.catalogue import ANALYSES
from xsumstat.catalogue.record import TestName
from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.dataset import left_out, scope

_TESTS = {
    "permutation": TestName("permutation test", "a permutation test", draws="swaps"),
    "analytic": TestName("permutation test by formula", "a permutation test by formula", draws="swaps"),
    "auto": TestName(
        "permutation test (by formula where that is exact)",
        "a permutation test (by formula where that is exact)",
        draws="swaps",
    ),
    "jackknife": TestName("jackknife tests", one="a jackknife test"),
    "bootstrap": TestName("paired bootstrap test", "a paired bootstrap test"),
    "williams": TestName("Williams' test"),
    "steiger": TestName("Steiger's test"),
    "meng": TestName("Meng, Rosenthal and Rubin's test"),
    "zou": TestName("Zou's interval"),
    "paired_t": TestName("paired t tests", one="a paired t test"),
    "t": TestName("t tests", one="a t test"),
    "wilcoxon": TestName("Wilcoxon's signed-rank tests", one="Wilcoxon's signed-rank test"),
    "ppi": TestName("prediction-powered t tests", one="a prediction-powered t test"),
    "monte_carlo": TestName("Monte-Carlo sign-flip tests", one="Monte-Carlo sign-flip test", draws="swaps"),
    "hybrid": TestName("hybrid of paired t and Wilcoxon's tests", "a hybrid of paired t and Wilcoxon's tests"),
    "kruskal-wallis": TestName("Kruskal and Wallis's test"),
    "tost": TestName("two one-sided bootstrap tests"),
    "tost_analytic": TestName("two one-sided tests by formula"),
    "anderson_hauck": TestName("Anderson and Hauck's test"),
}
_CORRECTIONS = {
    "bonferroni": "Bonferroni",
    "holm": "Holm",
    "bh": "Benjamini-Hochberg",
    "by": "Benjamini-Yekutieli",
    "maxt": "max-T",
}
_OF_SHARES = ("coverage", "power")
_IN_QUOTES = re.compile(r"[\s,;:]")
_LONGEST_NAME = 150  # signs: names of metrics and checkpoints that hold their settings may have a hundred
# Labels that are usual words for human scores.
_HUMAN = ("human", "humans", "human_score", "human_scores", "gold", "rating", "ratings")
# Methods whose intervals hold for all comparisons together.
_SIMULTANEOUS = ("kruskal-wallis",)
MAJORITY = "majority_grade"  # gold of a report that compares classes with the raters' majority
SETTINGS = ("level", "coefficient", "gold")  # that results may be joined along
OF_GROUPS = "of_groups"  # attr: the attrs of groups that were made in another way, as JSON
_MANY_TESTS = 10
USUAL_LEVEL = 0.05


def how(result: xr.Dataset) -> str:
    """How intervals or tests were made, for the note below a picture; may be empty."""
    text = made(result)
    if text and "level" in result.attrs and "level" not in result.dims:
        return f"{str(result.attrs['level']).replace('_', ' ')} level; {text}"
    return text


def made(result: xr.Dataset) -> str:
    """The same without the level; a shared scope is stated once."""
    of_intervals, of_tests = intervals(result), tests(result)
    if of_intervals is not None and of_tests is not None and of_intervals.over == of_tests.over:
        of_intervals = replace(of_intervals, over=Over())
    parts = [str(each) for each in (of_intervals, of_tests) if each is not None]
    more = [correction_words(result), few_groups(result) if parts else "", kept_outputs(result.attrs)]
    return "; ".join([*parts, *filter(None, more)])


def kept_outputs(attrs: Mapping[Any, Any]) -> str:
    """Which outputs count, of scores in a range: "only outputs in a scoring range were used: ..."; else empty."""
    said = str(attrs.get("scoring_range", ""))
    if "top" in attrs and attrs.get("analysis") == "metric_corr":
        best = f"for each pair of metrics, those among the {int(attrs['top']):,} best of an input by one of the two"
        said = f"{said}; then {best}" if said else best
    return f"only outputs in a scoring range were used: {said}" if said else ""


def drawn_tasks(attrs: Mapping[Any, Any]) -> str:
    """How the tasks of `rank_stability` were drawn: "9,999 draws of 4 tasks within each domain"; else empty."""
    if attrs.get("analysis") != "rank_stability":
        return ""
    within = f" within each {str(attrs['stratify']).replace('_', ' ')}" if "stratify" in attrs else ""
    return f"{int(attrs['n_resamples']):,} draws of {int(attrs['n_tasks']):,} tasks{within}"


# What follows how raters' severity moves the systems' means.
UNCORRECTED = "means and tests do not correct this"


def uneven_raters(attrs: Mapping[Any, Any]) -> str:
    """How raters' severity moves the systems' means, as a sentence; empty if it does not."""
    return f"{capitalised(str(attrs['uneven_raters']))}; {UNCORRECTED}." if "uneven_raters" in attrs else ""


def fewer_labels(attrs: Mapping[Any, Any]) -> str:
    """Which metrics of a ranking lack systems or inputs, as a sentence; empty if none."""
    return f"{capitalised(str(attrs[left_out.FEWER]))}." if left_out.FEWER in attrs else ""


def unranked(ranking: xr.Dataset) -> str:
    """Which metrics of a ranking over tasks are not in all of them, as a sentence; empty if none."""
    names = [name(label) for label in left_out.unranked(ranking)]
    several = len(names) > 1
    verb, has = ("are", "have") if several else ("is", "has")
    return f"{listed(names)} {verb} not in all tasks, and {has} no average." if names else ""


def raters_on_outputs_of(ceiling: xr.Dataset) -> dict[Hashable, float]:
    """A rater's agreement on the outputs that a metric scored, by metric, for those that lack some."""
    lacking = f", {ceiling.attrs.get('on_own_outputs', '')}, "
    if "on_own_outputs" not in ceiling.attrs or "difference" not in ceiling or ceiling["correlation"].ndim != 1:
        return {}
    values = (ceiling["correlation"] - ceiling["difference"]).values.tolist()
    named = zip(ceiling["metric"].values.tolist(), values, strict=True)
    return {label: value for label, value in named if f", {label}, " in lacking}


def rated_differ(pvalue: xr.DataArray) -> xr.DataArray:
    """Where a metric scores a system's rated inputs differently from the others (p < .01, Bonferroni over systems)."""
    return pvalue * pvalue.sizes["system"] < 0.01


def not_random(means: xr.Dataset) -> list[str]:
    """The systems whose rated inputs a metric scores differently from the others."""
    if "rated_pvalue" not in means or means["rated_pvalue"].dims != ("system",):
        return []
    differ = rated_differ(means["rated_pvalue"]).values
    return [name(label) for label in np.atleast_1d(means["system"].values)[differ].tolist()]


def n_tasks(result: xr.Dataset) -> int:
    """How many tasks a ranking averages: those with a weight, of a group of tasks their number."""
    if "n_tasks" in result and not result["n_tasks"].dims:
        return int(result["n_tasks"])
    weighted = "weight" in result and result["weight"].dims == ("task",)
    return int((result["weight"].values > 0).sum()) if weighted else int(result.sizes.get("task", 1))


def over_tasks(result: xr.Dataset) -> str:
    n = n_tasks(result)
    return f"the average over {n:,} tasks" if n > 1 else "one task"


def averaging(result: xr.Dataset) -> str:
    """How the tasks of `rank_tasks` count in the average, where not simply as they are; else empty."""
    if result.attrs.get("analysis") != "rank_tasks" or not {"coefficient", "weight"} <= set(result.variables):
        return ""
    if result["coefficient"].dims != ("task",) or result["weight"].dims != ("task",):
        return ""
    scaled = dict.fromkeys(
        COEFFICIENTS[name].label if name in COEFFICIENTS else name
        for name in map(str, result["coefficient"].values.tolist())
        if name not in COEFFICIENTS or COEFFICIENTS[name].bounds == (-1.0, 1.0)
    )
    verb = "counts" if len(scaled) == 1 else "count"
    said = [f"In the average, {listed(scaled)} {verb} as (r + 1)/2."] if scaled else []
    weights = result["weight"].values
    shares = weights / weights[weights > 0].min()
    tasks = result["task"].values.tolist() if "task" in result.coords else range(len(shares))
    others = [
        f"{shortened(task)} {share:.3g}" for task, share in zip(tasks, shares, strict=True) if abs(share - 1) > 1e-9
    ]
    if others:
        rest = ["each other task 1"] if len(others) < len(shares) else []
        said.append(f"Weights: {listed([*others, *rest], most=8)}.")
    return " ".join(said)


class Sentence(str):
    """A sentence that ends in brackets with how its numbers were made."""

    body: str
    how: str

    def __new__(cls, body: str, how: str) -> Sentence:
        made = super().__new__(cls, f"{body} ({how}).")
        made.body, made.how = body, how
        return made

    def __reduce__(self) -> tuple[type[Sentence], tuple[str, str]]:  # copies and pickles are made from the parts
        return Sentence, (self.body, self.how)


@dataclass(frozen=True)
class Over:
    """Scope and number of draws: "systems like these", "9,999 swaps"."""

    scope: str = ""
    drawn: str = ""

    def after(self, text: str) -> str:
        """A text followed by both, after commas."""
        return ", ".join(filter(None, [text, self.scope, self.drawn]))


@dataclass(frozen=True)
class Intervals:
    """Kind and scope of intervals: "95 % jackknife intervals, systems and inputs like these"."""

    level: str
    kind: str  # "jackknife intervals"; "intervals" where attrs do not say
    over: Over = Over()

    def __str__(self) -> str:
        return self.over.after(f"{self.level} % {self.kind}")


@dataclass(frozen=True)
class Tests:
    """Kind and scope of tests: "permutation test, these 12 systems, 9,999 swaps of scores"."""

    name: TestName
    over: Over
    one_sided: bool = False

    def __str__(self) -> str:
        side = ", one-sided" if self.one_sided and "one-sided" not in self.name.short else ""
        return self.over.after(f"{self.name.short}{side}")


@dataclass(frozen=True)
class Correction:
    """Method and family of a correction: "Holm over all tests"."""

    method: str
    over: str

    def __str__(self) -> str:
        return f"{self.method} over {self.over}"


def intervals(result: xr.Dataset) -> Intervals | None:
    attrs = attrs_of_intervals(result)
    level = interval_level(attrs)
    if not has_intervals(result) or math.isnan(level):
        return None
    if attrs.get("analysis") in _OF_SHARES:
        return Intervals("95", "Wilson intervals of the share of trials")
    if attrs.get("analysis") == "missingness":  # its permutations are for tests alone
        return Intervals(f"{100 * level:.4g}", "Wilson intervals", Over(str(scope.of(attrs) or "")))
    return Intervals(f"{100 * level:.4g}", f"{interval_kind(attrs)}intervals", _over(attrs, "resamples"))


def attrs_of_intervals(result: xr.Dataset) -> dict[Any, Any]:
    """Attrs without the method where it is not that of some coefficients that were joined: "auto" chose for each."""
    method = result.attrs.get("method")
    if method not in ("jackknife", "bootstrap") or not {"df", "ci_low", "coefficient"} <= set(result.variables):
        return result.attrs
    over = [dim for dim in result["df"].dims if dim != "coefficient"]
    there = result["ci_low"].notnull()
    left_out = (result["df"].notnull() & there).any(over)  # only the jackknife has degrees of freedom
    others = there.any(over) & (left_out != (method == "jackknife"))
    how = ("method", "interval", "n_resamples") if bool(others.any()) else ()
    return {name: value for name, value in result.attrs.items() if name not in how}


def interval_words(result: xr.Dataset) -> str:
    return str(intervals(result) or "")


def has_intervals(result: xr.Dataset) -> bool:
    """Whether a result has an interval, or, if lazy, may have one."""
    low = result.variables.get("ci_low")
    return low is not None and (low.chunks is not None or bool(low.notnull().any()))


def interval_level(attrs: Mapping[Any, Any]) -> float:
    if attrs.get("analysis") in _OF_SHARES:
        return 0.95
    if attrs.get("analysis") in ("equivalence", "drift") and "alpha" in attrs:
        return 1 - 2 * float(attrs["alpha"])
    return float(attrs.get("confidence_level", math.nan))


def interval_kind(attrs: Mapping[Any, Any]) -> str:
    """Kind of interval, "jackknife ", "percentile bootstrap ", or empty."""
    method = str(attrs.get("method", ""))
    if method == "bootstrap":
        return f"{attrs.get('interval', 'percentile')} bootstrap "
    if attrs.get("analysis") == "range_drop":
        return "percentile bootstrap "
    if attrs.get("analysis") == "bias":
        return "Fieller " if method == "corrected" else "cluster-robust "
    named = {"jackknife": "jackknife ", "fisher": "Fisher ", "tost": "bootstrap ", "zou": "Zou's "}
    named["kruskal-wallis"] = "Tukey-Kramer "
    return named.get(method, "")


def tests(result: xr.Dataset) -> Tests | None:
    if not has_tests(result):
        return None
    attrs = result.attrs
    method, analysis = str(attrs.get("method", "")), str(attrs.get("analysis", ""))
    of_its_own = ANALYSES[analysis].tests if analysis in ANALYSES else {}
    name = of_its_own.get(method) or of_its_own.get("") or _TESTS.get(method) or TestName(method or "test")
    over = _over(attrs, _swaps(attrs) if name.draws == "swaps" else name.draws)
    return Tests(name, over, is_one_sided(attrs))


def called(method: str) -> str:
    """The tests of a method, as "two one-sided bootstrap tests"."""
    return str(_TESTS.get(method, TestName("two one-sided tests")).in_a_sentence(False))


def is_one_sided(attrs: Mapping[Any, Any]) -> bool:
    """Whether a test of a pair and that of its mirror image ask for opposite differences."""
    return attrs.get("alternative") in ("greater", "less") and attrs.get("analysis") != "equivalence"


def test_words(result: xr.Dataset) -> str:
    return str(tests(result) or "")


def correction(result: xr.Dataset) -> Correction | None:
    """How p-values were corrected; None if not."""
    if not has_tests(result):
        return None
    method = str(result.attrs.get("adjust_method", ""))
    if result.attrs.get("analysis") == "alt_test":
        return Correction(_CORRECTIONS.get(method, "Benjamini-Yekutieli"), "the raters, for each judge")
    return Correction(_CORRECTIONS.get(method, method), _family(result)) if method else None


def correction_words(result: xr.Dataset) -> str:
    """Correction of p-values (and that intervals have none), or "p-values not corrected"; empty without tests."""
    if not has_tests(result):
        return ""
    corrected = correction(result)
    if corrected is None:
        return "p-values not corrected"
    uncorrected = has_intervals(result) and result.attrs.get("method") not in _SIMULTANEOUS
    return f"{corrected}, intervals not corrected" if uncorrected else str(corrected)


def pairs_used(result: xr.Dataset) -> str:
    """Share of counted pairs after a semicolon; empty if all count."""
    there = result["pairs_used"].dropna("metric") if "pairs_used" in result else None
    if there is None or not there.size:
        return ""
    ends = [f"{100 * float(end):.3g}" for end in (there.min(), there.max())]
    least = float(result.attrs.get("threshold", 0.0))
    gap = f"at least {least:g} apart" if least else "not tied"
    pairs = f"{' to '.join(dict.fromkeys(ends))} % of the pairs"
    return f"; counting the {pairs} that are {gap} in {human_scores(result.attrs.get('gold'))}"


def has_tests(result: xr.Dataset) -> bool:
    return "pvalue" in result.variables or result.attrs.get("analysis") == "rank"


def many_uncorrected(n_tests: int, alpha: float = USUAL_LEVEL) -> str:
    """The remark on many uncorrected p-values; empty for few."""
    if n_tests <= _MANY_TESTS:
        return ""
    return (
        f"{n_tests:,} tests at {setting(alpha)} without a correction: if nothing differed, {n_tests * alpha:.3g} of "
        "them would be significant by chance on average; .meta.adjust('holm') corrects"
    )


def capitalised(text: str) -> str:
    """A text that begins a sentence."""
    return f"{text[0].upper()}{text[1:]}"


def number(value: float, digits: int = 2) -> str:
    """A number as papers print it: .94, -.12, 1.00; more digits where two would round to 1 or 0."""
    return _fixed(float(value), _places(float(value), digits))


def alike(values: Iterable[float], digits: int = 2) -> list[str]:
    """Numbers of one kind, as an estimate and its limits, with equal digits."""
    values = [float(value) for value in values]
    places = max((_places(value, digits) for value in values), default=digits)
    return [_fixed(value, places) for value in values]


def estimate(value: float, low: float = math.nan, high: float = math.nan, digits: int = 2) -> str:
    """An estimate with its interval, .94 [.70, .99], if any."""
    if math.isnan(low) or math.isnan(high):
        return number(value, digits)
    text, *ends = alike([value, low, high], digits)
    return f"{text} [{', '.join(ends)}]"


def _places(value: float, digits: int) -> int:
    """Digits that keep a number from rounding to 1 or 0, at most two more."""
    for places in range(digits, digits + 3):
        shown = abs(round(value, places)) if math.isfinite(value) else value
        if not (shown == 1 > abs(value) or shown == 0 != value):
            return places
    return digits


def _fixed(value: float, places: int) -> str:
    """A number with fixed digits and no leading zero."""
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "-∞" if value < 0 else "∞"
    text = f"{value:,.{places}f}"
    if float(text.replace(",", "")) == 0:
        text = text.removeprefix("-")
    sign, text = ("-", text[1:]) if text.startswith("-") else ("", text)
    return sign + (text[1:] if text.startswith("0.") else text)


def setting(value: float) -> str:
    """A setting such as alpha, to four significant digits: .05, .025, .0001."""
    rounded = float(f"{float(value):.4g}")
    digits = len(f"{rounded:.12f}".rstrip("0").partition(".")[2])
    return number(rounded, max(2, digits))


def alpha_of(result: xr.Dataset) -> float:
    if result.attrs.get("analysis") == "input_effect":
        return round(1 - float(result.attrs.get("confidence_level", 1 - USUAL_LEVEL)), 10)
    return float(result.attrs.get("alpha", USUAL_LEVEL))


def numbers(values: Iterable[float], digits: int = 2) -> list[str]:
    """Numbers side by side, with up to two more digits to distinguish them."""
    values = [float(value) for value in values]
    for places in range(digits, digits + 3):
        texts = [number(value, places) for value in values]
        if len(set(texts)) == len(set(values)):
            return texts
    return [number(value, digits) for value in values]


def limits(low: float, high: float, digits: int = 2) -> str:
    """An interval: [.70, .99]."""
    return f"[{', '.join(alike([low, high], digits))}]"


def pvalue(value: float, digits: int = 3) -> str:
    """A p-value: p = .012, p < .001."""
    if math.isnan(value):
        return "p undefined"
    least = 10.0**-digits
    return f"p < {number(least, digits)}" if value < least else f"p = {number(value, digits)}"


def heterogeneity(result: xr.Dataset) -> str:
    """Test of all groups of one metric: "F(2, 9.3) = 5.12, p = .032, corrected .064"; empty without one."""
    values = {each: float(result[f"heterogeneity{each}"]) for each in ("", "_pvalue")}
    if math.isnan(values["_pvalue"]):
        return ""
    between, within = (float(result[f"df_{each}"]) for each in ("numerator", "denominator"))
    adjusted = float(result.get("heterogeneity_pvalue_adjusted", math.nan))
    differs = not math.isnan(adjusted) and adjusted != values["_pvalue"]
    corrected = f", corrected {pvalue(adjusted).removeprefix('p = ').removeprefix('p ')}" if differs else ""
    statistic = number(values[""]) if values[""] < 1e4 or math.isinf(values[""]) else f"{values['']:.3g}"
    return f"F({between:g}, {within:,.1f}) = {statistic}, {pvalue(values['_pvalue'])}{corrected}"


class Label(str):
    """A label of a result, as `listed` tells it from words."""


def labels_of(values: Iterable[Hashable]) -> list[Hashable]:
    return [Label(each) if isinstance(each, str) else each for each in values]


def name(label: Hashable) -> str:
    """A label in a sentence: in quotes where its own words or commas could be the sentence's."""
    text = shortened(label)
    return f'"{text}"' if _IN_QUOTES.search(text) and text[0] != '"' else text


def shortened(label: Hashable) -> str:
    """A label as text, shortened in the middle if very long."""
    text = " ".join(str(label).split())
    half = _LONGEST_NAME // 2
    return text if len(text) <= _LONGEST_NAME else f"{text[:half]}…{text[-half + 1 :]}"


def human_scores(label: Hashable) -> str:
    """The human scores in a sentence: "the human scores", or their quoted label if it is none of the usual words."""
    if label == MAJORITY:
        return "the majority grade of the raters"
    unnamed = label is None or label == "score"  # a DataArray out of the scores
    return "the human scores" if unnamed or _are_human(label) else f"'{shortened(label)}'"


def judged_by(label: Hashable) -> str:
    """What ranks systems: the name of a metric, or "the human scores"."""
    return "the human scores" if _are_human(label) else name(label)


def _are_human(label: Hashable) -> bool:
    return str(label).lower() in _HUMAN


def listed(labels: Iterable[Hashable], most: int = 5, last: str = "and") -> str:
    """Labels or words in a sentence: a, b and c; or the first few, and how many more."""
    return joined((name(each) if isinstance(each, Label) else shortened(each) for each in labels), most, last)


def joined(phrases: Iterable[str], most: int = 5, last: str = "and") -> str:
    """The same of phrases, whose labels have been shortened."""
    texts = list(phrases)
    if len(texts) > most + 1:
        return f"{', '.join(texts[:most])} {last} {len(texts) - most:,} more"
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {last} {texts[-1]}" if texts else ""


def _family(result: xr.Dataset) -> str:
    family = str(result.attrs.get("adjust_within", "")).split()
    tested = next((each for each in ("pvalue", "cluster") if each in result.variables), None)
    dims = family if tested is None else [str(dim) for dim in result[tested].dims]
    # A selected group, or label of a further dim, is corrected by itself, too.
    selected = [*([str(result.attrs["by"])] if "by" in result.attrs else []), *result.attrs.get("selected", [])]
    outer = [dim for dim in dict.fromkeys([*selected, *dims]) if dim not in family]
    return f"the tests of each {listed(dim.replace('_', ' ') for dim in outer)}" if outer else "all tests"


def _swaps(attrs: Mapping[Any, Any]) -> str:
    """What is swapped: "swaps of scores", of whole systems or inputs, or of decisions."""
    if attrs.get("swap") == "decisions":
        return "swaps of decisions"
    whole = {"system": "swaps of systems", "input": "swaps of inputs"}
    return whole.get(str(attrs.get("resample")), "swaps of scores") if "swap" in attrs else "swaps"


def _over(attrs: Mapping[Any, Any], unit: str) -> Over:
    drawn = ""
    if attrs.get("exact"):
        drawn = f"all {unit}"
    elif "n_resamples" in attrs and attrs.get("method") not in ("analytic", "jackknife", "fisher"):
        drawn = f"{int(attrs['n_resamples']):,} {unit}"
    return Over(str(scope.of(attrs) or ""), drawn)


def scale_of(attrs: Mapping[Any, Any]) -> str | None:
    """What the coefficient compares on the gold's own scale; None for correlations."""
    record = COEFFICIENTS.get(str(attrs.get("coefficient")))
    return None if record is None else record.scale


def quantity(attrs: Mapping[Any, Any]) -> str:
    """What a coefficient measures: "correlation", or "agreement" by accuracies and what compares values or classes."""
    record = COEFFICIENTS.get(str(attrs.get("coefficient")))
    return "correlation" if record is None or (record.scale is None and record.bounds[0] < 0) else "agreement"


def positive(attrs: Mapping[Any, Any]) -> str:
    """The positive class: "'fail'", or "4 and 5"."""
    some = attrs["positive"]
    several = some if isinstance(some, list | tuple | np.ndarray) else [some]
    return listed(repr(each) if isinstance(each, str) else f"{float(each):g}" for each in several)


def printable(text: str) -> str:
    """Text on one line, without control characters."""
    return " ".join("".join(sign if _is_plain(sign) else " " for sign in text).split())


def _is_plain(sign: str) -> bool:
    turns = "\u202a" <= sign <= "\u202e" or "\u2066" <= sign <= "\u2069"
    return sign.isprintable() or (unicodedata.category(sign) in ("Cf", "Zs") and not turns)


def of_group(result: xr.Dataset) -> xr.Dataset:
    """A result with the attrs of what is selected: a setting that results were joined along, or a group of `by=`."""
    chosen = {name: result.coords[name].item() for name in SETTINGS if name in result.attrs and _is_label(result, name)}
    result = result.assign_attrs(chosen) if chosen else result
    by = result.attrs.get("by")
    if OF_GROUPS not in result.attrs or by not in result.coords or by in result.dims:
        return result
    return result.assign_attrs(json.loads(result.attrs[OF_GROUPS]).get(result.coords[by].item(), {}))


def _is_label(result: xr.Dataset, name: str) -> bool:
    return name in result.coords and not result.coords[name].dims


def settings_of(result: xr.Dataset, name: str) -> list[str]:
    """A setting as attrs state it, or its labels in a result that was joined along it, as by xr.concat."""
    if name in result.attrs and name in result.dims and name in result.coords:
        return list(map(str, result[name].values.tolist()))
    return [str(result.attrs[name])] if name in result.attrs else []


def measured(result: xr.Dataset) -> str:
    """Coefficient, human scores and level, for notes and captions: "Kendall's τ-b with human, input level"."""
    if result.attrs.get("analysis") == "discriminative_agreement":
        share = f"{100 * float(result.attrs['confidence_level']):g} % of {int(result.attrs['n_resamples']):,}"
        return f"verdicts on pairs of systems by {result.attrs['gold']}; a win in {share} paired bootstrap resamples"
    asked = settings_of(result, "coefficient")
    what = listed(COEFFICIENTS[each].label if each in COEFFICIENTS else each for each in asked if each)
    if not what:
        return ""
    gold, level = (listed(settings_of(result, name)) for name in ("gold", "level"))
    if result.attrs.get("analysis") == "human_ceiling":
        gold = "each other rater" if scale_of(result.attrs) in ("classes", "two") else "the mean of the other raters"
    what += f" with {gold}" if gold else ""
    if "given" in result.attrs:
        what = f"partial {what}, given {shortened(result.attrs['given'])}"
    what += f", {level.replace('_', ' ')} level" if level else ""
    return "; ".join(filter(None, [what, gaps(result.attrs)]))


def gaps(attrs: Mapping[Any, Any]) -> str:
    """What the gaps of `close_corr` are: "a gap is a share of the pairs of systems, ..."; else empty."""
    if attrs.get("analysis") != "close_corr":
        return ""
    if attrs.get("unit") == "quantile":
        return "a gap is a share of the pairs of systems, those with the closest means by the metric first"
    return "a gap is a difference of two systems' means by the metric"


def few_groups(result: xr.Dataset) -> str:
    """Which groups of `by=` have results for these systems only, because they have few: "for kind a and b ..."."""
    by = str(result.attrs.get("by", ""))
    if OF_GROUPS not in result.attrs or by not in result.dims:
        return ""
    own = json.loads(result.attrs[OF_GROUPS])
    few = {label for label in result[by].values.tolist() if "scope" in own.get(label, ())}
    named = listed(name(label) for label in result[by].values.tolist() if label in few)
    return f"for {by.replace('_', ' ')} {named} the results are for these systems only" if few else ""


def of_whom(result: xr.Dataset) -> str:
    """Start of a sentence with the scope: "For systems and inputs like these, "."""
    whom = scope.words(result.attrs, "For ")
    return whom and f"{whom}, "
