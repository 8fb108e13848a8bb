"""The methods of a result in two or three sentences for a paper: `methods`."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.catalogue import ALL, ANALYSES
from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.core import extras, validate
from xsumstat.dataset import calibrated, drawn, left_out, wording
from xsumstat.inference import two_correlations
from xsumstat.io import paper_tables
from xsumstat.narrative import findings_systems, turned
from xsumstat.narrative.citations import REFERENCES, SOFTWARE, software

# What was done, by analysis and its special kinds.
AIMS = {name: each.aim for name, each in ANALYSES.items()} | {
    name: aim for each in ANALYSES.values() for name, aim in each.special_aims.items()
}
_NONE = xr.DataArray(0)
_CITED = re.compile(r" \[([\w, ]+)\]")
_LEVELS = {
    "system": "of the systems' mean scores",
    "input": "over the systems within each input, averaged over inputs",
    "global": "over all outputs",
    "within_system": "over the inputs within each system, averaged over systems",
}
_COEFFICIENTS = {
    "pairwise_accuracy": "kocmi2021ship",
    "acc_eq": "deutsch2023ties",
    "tau_eq": "deutsch2023ties",
    "kendall_like": "ma2019results",
    "spa": "thompson2024improving",
    "pdp": "diianni2025sweat",
    "kappa": "cohen1960coefficient",
    "weighted_kappa": "cohen1968weighted, lin1989concordance",
    "icc": "mcgraw1996forming",
    "mcc": "matthews1975comparison, gorodkin2004comparing",
}
_GIVEN = {"kendall": "kendall1942partial"}
_INTERVALS = {
    "jackknife": "efron1981jackknife",
    "fisher": "bonett2000sample",
    "zou": "zou2007toward",
    "bca": "efron1987better",
    "corrected": "owen2007pigeonhole",
}
# By Student's t, around what.
_BY_T = {
    "pooled": "by Student's t around the regression estimates",
    "ridge": "by Student's t around the regression estimates",
    "ppi": "by Student's t around the differences of prediction-powered means",
    "paired_t": "by Student's t of the paired differences",
    "t": "by Student's t of two samples",
    "tost_analytic": "by Student's t with the standard error of Williams' formula [williams1959regression]",
    "anderson_hauck": "by Student's t with the standard error of Williams' formula [williams1959regression]",
}
_TESTS = {
    "williams": "williams1959regression",
    "steiger": "steiger1980tests",
    "meng": "meng1992comparing",
    "zou": "zou2007toward",
    "wilcoxon": "wilcoxon1945individual",
    "hybrid": "wilcoxon1945individual",
    "ppi": "angelopoulos2023ppi",
    "kruskal-wallis": "kruskal1952use",
    "tost_analytic": "counsell2015equivalence",
    "anderson_hauck": "anderson1983new",
}
# Tests of `compare_metrics` that other analyses make.
_OLDER_TESTS = {
    **{"permutation": "perm_test", "bootstrap": "boot_test"},
    **dict.fromkeys((*two_correlations.METHODS, "wilcoxon"), "corr_test"),
}
# Analyses of parts of the systems, or of each rater, on which other inputs are constant.
_OF_PARTS = ("top_k_corr", "close_corr", "human_ceiling", "range_drop")
# Analyses that compare two metrics on the outputs that both have scored.
_OF_PAIRS = ("compare_metrics", "perm_test", "boot_test", "corr_test", "equivalence")
_RATER_MARGINS = {
    "rater_sd": "the standard deviation of single raters' correlations",
    "rater_range": "the range of single raters' correlations",
}
_UNDECIDED = ("corr", "metric_corr")  # p-values of groups, by which nothing is decided
_CORRECTIONS = {
    "holm": "holm1979simple",
    "bonferroni": "dunn1961multiple",
    "bh": "benjamini1995controlling",
    "by": "benjamini2001control",
    "maxt": "westfall1993resampling",
}


@validate.public
def methods(result: xr.Dataset, *, bibtex: bool = False) -> str:
    r"""Describe how a result was computed, in sentences for the methods section of a paper, with citations.

    Parameters
    ----------
    {result}
    bibtex : bool, default False
        Write LaTeX with ``\citep{...}`` (package natbib), followed by the BibTeX entries of the works and of xsumstat.

    Returns
    -------
    str
        The question; intervals, tests, correction and significance level; numbers of metrics, systems and inputs;
        version and seed. All comes from attrs. Lazy results are not computed; their numbers include systems and inputs
        without scores, and inputs with constant scores are not counted.

    {demo}
    >>> text = ds.meta.ci("human", level="input", coefficient="kendall").meta.methods(bibtex=True)
    >>> [line for line in text.splitlines() if line.startswith("@")]
    ['@article{deutsch2021statistical,', '@article{efron1981jackknife,', '@misc{xsumstat,']
    """
    bibtex = validate.flag("bibtex", bibtex)
    if not isinstance(result, xr.Dataset) or _analysis(result) not in AIMS:
        raise ValueError("methods describes an xsumstat result, such as ds.meta.ci(...); this Dataset is not one")
    result = wording.of_group(result)
    parts = [
        _aim(result),
        turned.sentence(result),
        _of_tasks(result),
        _of_calibration(result),
        _of_intervals(result),
        _of_tests(result),
        wording.uneven_raters(result.attrs),
    ]
    parts += _of_groups(result)
    few = wording.few_groups(result)
    parts += [f"{wording.capitalised(each)}." for each in (few, wording.kept_outputs(result.attrs)) if each]
    text = " ".join(filter(None, parts))
    if not bibtex:
        return f"{_CITED.sub(_in_text, text)} {_of_software(result)}"
    keys = [key for found in _CITED.finditer(text) if _known(found) for key in found[1].split(", ")]
    text = _CITED.sub(lambda found: rf" \citep{{{found[1].replace(', ', ',')}}}" if _known(found) else found[0],
                      paper_tables.latex_text(text))  # fmt: skip
    entries = [REFERENCES[key].bibtex(key) for key in dict.fromkeys(keys)]
    used = _of_software(result, cite=rf" \citep{{{SOFTWARE}}}")
    return "\n\n".join([f"{text} {used}", *entries, software(_version(result))])


def together(results: Iterable[xr.Dataset]) -> list[str]:
    """Paragraphs on estimates and on tests of several results, without the software; what they share is told once."""
    aims: dict[tuple[str, str], list[str]] = {}
    told: set[str] = set()
    for result in results:
        how = _of_intervals(result), _of_tests(result)
        left = _left_out(result.attrs).rstrip()
        kept = wording.kept_outputs(result.attrs)
        shared = [left, kept and f"{wording.capitalised(kept)}.", turned.sentence(result)]
        said = [_aim(result), *("" if each in told else each for each in shared), _of_calibration(result)]
        told.update(shared)
        aims.setdefault(how, []).extend(filter(None, said))
    paragraphs: list[list[str]] = [[], []]
    for how, said in aims.items():
        paragraphs[bool(how[1])] += [*dict.fromkeys(said), *filter(None, how)]
    return [_CITED.sub(_in_text, " ".join(parts)) for parts in paragraphs if parts]


def _analysis(result: xr.Dataset) -> str:
    simulated = "truth" in result and result.attrs.get("source") == "simulated"
    made = "simulate_like" if "like" in result.attrs else "simulate"
    name = str(result.attrs.get("analysis", made if simulated else ""))
    if name == "plan" and "n_trials" not in result.attrs:
        return "plan_of_costs" if "cost" in result else "plan_of_differences" if "power" in result else "plan_of_means"
    if name == "human_ceiling" and wording.scale_of(result.attrs) in ("classes", "two"):
        return "human_ceiling_of_classes"
    if name == "coverage" and result.attrs.get("truth") == "halves":
        return "coverage_of_halves"
    if name == "confusion" and "along" in result.attrs:
        return "confusion_of_raters"
    if name == "compare_metrics":
        return _OLDER_TESTS.get(str(result.attrs.get("method")), name)
    if name == "corr_test" and "against" in result.attrs:
        return "corr_test_of_value"
    return "ci_of_differences" if name == "ci" and "difference" in result else name


def _known(found: re.Match[str]) -> bool:
    """Whether these are keys, not a metric's name in brackets."""
    return set(found[1].split(", ")) <= set(REFERENCES)


def _in_text(found: re.Match[str]) -> str:
    if not _known(found):
        return found[0]
    return f" ({'; '.join(REFERENCES[key].short for key in found[1].split(', '))})"


def _aim(result: xr.Dataset) -> str:
    attrs = result.attrs
    tasks = wording.n_tasks(result)
    confidence = f"{100 * float(attrs.get('confidence_level', 0.95)):.4g}"
    filled = {str(key): _text(value) for key, value in attrs.items()}
    golds = wording.settings_of(result, "gold")
    filled["gold"] = wording.listed(map(wording.human_scores, golds)) if golds else wording.human_scores(None)
    filled["correlation"], filled["confidence"] = _correlations(result), confidence
    filled["margin"] = _RATER_MARGINS.get(str(attrs.get("margin")), filled.get("margin", "some"))
    filled["best_by"] = f" by {wording.name(attrs['best_by'])}" if "best_by" in attrs else ""
    filled["tests"], filled["resamples"] = _tests_of_margins(attrs), _resamples(attrs)
    filled["compared"] = "correlated" if wording.quantity(attrs) == "correlation" else "compared"
    filled["sought"] = f", for {confidence} % confidence intervals" if "confidence_level" in attrs else ""
    filled["sought"] += f", for tests{_of_level(result)}" if "alpha" in attrs else ""
    filled["regression"] = _regression(result)
    filled["inputs"] = "the inputs that were scored" if attrs.get("target") == "these" else "inputs like these"
    helper = attrs.get("helped_by")
    filled |= {"against": f"{float(attrs['against']):g}"} if "against" in attrs else {}
    filled["tested"], filled["others"] = _tested(result), _others(result)
    ridge, strata = attrs.get("method") == "ridge", attrs.get("strata")
    filled["slopes"] = "a slope for each metric, by ridge regression" if ridge else "a slope pooled over systems"
    if strata is not None:
        filled["slopes"] += ", within strata" if strata == drawn.STRATUM else f", within strata of {_text(strata)}"
    combined = "" if findings_systems.all_rated(result) else f" combined with the scores of {helper}"
    filled["helped"] = "" if helper is None else f", from {filled['gold']}{combined}"
    filled["counted"] = (
        f", and counted significant pairs by {_text(attrs['between']).replace('_', ' ')}" if "between" in attrs else ""
    )
    filled["gaps"] = wording.gaps(attrs)
    filled["n_tasks"] = "one task" if tasks == 1 else f"{tasks} tasks"
    filled["task_label"] = str(attrs.get("tasks_by", "group")).replace("_", " ")
    filled["in_strata"] = f", within each {str(attrs['stratify']).replace('_', ' ')}" if "stratify" in attrs else ""
    aim = AIMS[_analysis(result)]
    if "ci_low" in result and not wording.has_intervals(result):
        aim = re.sub(", with confidence intervals( of the difference)?", "", aim)
    return " ".join(filter(None, [aim.format_map(_Filled(filled)).replace(" ,", ","), drawn.sentence(attrs, "were")]))


def _resamples(attrs: Mapping[Any, Any]) -> str:
    """How many resamples of what, of a result that does not tell its intervals."""
    dims = str(attrs.get("resample", "both")).replace("both", "system input").split()
    over = wording.listed(f"{dim}s" for dim in dims)
    return f"{int(attrs['n_resamples']):,} resamples of {over}" if "n_resamples" in attrs else "resamples"


def _tests_of_margins(attrs: Mapping[Any, Any]) -> str:
    """Tests of equivalence of a result that only counts them."""
    name = wording.called(str(attrs.get("method", "")))
    return f"{name} with {_resamples(attrs)}" if "n_resamples" in attrs else name


def _of_tasks(result: xr.Dataset) -> str:
    """What the tasks of `rank_tasks` measure, each way with its tasks, and how they count in the average."""
    labels = ("coefficient", "level", "gold")
    if result.attrs.get("analysis") != "rank_tasks" or any(
        result.get(name, _NONE).dims != ("task",) for name in labels
    ):
        return ""
    columns = (map(str, result[name].values.tolist()) for name in labels)
    by_gold: dict[str, dict[str, list[str]]] = {}
    for task, coefficient, level, gold in zip(map(str, result["task"].values), *columns, strict=True):
        how = _correlation({"coefficient": coefficient, "level": level})
        by_gold.setdefault(gold, {}).setdefault(how, []).append(task)
    said = []
    for gold, ways in by_gold.items():
        texts = [f"{how} ({wording.listed(tasks, 8)})" for how, tasks in ways.items()]
        said.append(f"Agreement with {wording.human_scores(gold)} was measured {'; '.join(texts)}.")
    left = [_systems_left_out(result), wording.unranked(result), wording.fewer_labels(result.attrs)]
    return " ".join(filter(None, [*said, *left, *_counts_left_out(result), wording.averaging(result)]))


def _systems_left_out(ranking: xr.Dataset) -> str:
    """The systems that all tasks of a language pair leave out, and those that some do."""
    if ranking.get(left_out.SYSTEMS, _NONE).dims != ("task",):
        return ""
    of_whom = ranking["language_pair"] if "language_pair" in ranking.coords else ranking["task"]
    lists: dict[str, list[list[str]]] = {}
    for name, text in zip(of_whom.values.tolist(), ranking[left_out.SYSTEMS].values.tolist(), strict=True):
        if name != ALL or text:  # a task of all pairs names none
            lists.setdefault(str(name), []).append(text.split(", ") if text else [])
    said = []
    for name, of_tasks in lists.items():
        every = list(dict.fromkeys(itertools.chain.from_iterable(of_tasks)))
        always = [each for each in every if all(each in lost for lost in of_tasks)]
        of_some = [each for each in every if each not in always]
        in_some = [f"in some tasks {wording.listed(of_some)}"] if of_some else []
        said += [f"{wording.listed([*always, *in_some])} ({name})"] if every else []
    return f"These systems were left out: {'; '.join(said)}." if said else ""


def _counts_left_out(ranking: xr.Dataset) -> list[str]:
    """How many outputs without a score, and inputs with constant scores, each task leaves out."""
    said = []
    for count, what in (
        (left_out.OUTPUTS, "For each metric we left out the outputs that lack its score or the human score"),
        (left_out.INPUTS, "Averages leave out the inputs on which a metric's scores or the human scores are constant"),
    ):
        if ranking.get(count, _NONE).dims != ("task",) or not any(ranking[count].values):
            continue
        groups: dict[str, list[str]] = {}
        for name, n in zip(*(ranking[name].values.tolist() for name in ("task", count)), strict=True):
            groups.setdefault(n, []).append(str(name))
        each = [f"{n} ({wording.listed(tasks, 8)})" for n, tasks in groups.items() if n]
        said.append(f"{what}: {'; '.join(each)}.")
    return said


def _of_calibration(result: xr.Dataset) -> str:
    if "calibration" in result.attrs:
        judges, words = str(result.attrs.get("calibrated", "")), str(result.attrs["calibration"])
        return f"The scores of {judges} were calibrated {words} [kolen2014test]."
    said: dict[str, list[Hashable]] = {}
    for label in calibrated.labels(result):
        said.setdefault(str(result.coords[calibrated.NAME].sel(metric=label).item()), []).append(label)
    cited = {"isotonic": " [barlow1972statistical]", "quantile": " [kolen2014test]"}
    texts = []
    for words, names in said.items():
        key = next((works for name, works in cited.items() if calibrated.BY[name] in words), "")
        texts.append(f"The scores of {wording.listed(map(wording.name, names))} were calibrated {words}{key}.")
    if said and wording.has_intervals(result) and result.attrs.get("method") == "jackknife":
        halves = (
            " and left out halves of the inputs [shao1989general]" if int(result.attrs.get("n_inputs", 0)) >= 20 else ""
        )
        texts.append(f"The jackknife fitted the maps again with the same folds{halves}.")
    return " ".join(texts)


def _sides(result: xr.Dataset) -> tuple[list[Hashable], list[Hashable]] | None:
    dims = _dims_of_pairs(result)
    if not set(dims) <= set(result.coords):
        return None
    rows, columns = (np.atleast_1d(result[dim].values).tolist() for dim in dims)
    return rows, columns


def _dims_of_pairs(result: xr.Dataset) -> tuple[str, str]:
    what = "system" if _analysis(result) == "compare_systems" else "metric"
    return what, f"other_{what}"


def _tested(result: xr.Dataset) -> str:
    """What a test of pairs is about: metrics' agreement, or systems' scores."""
    sides = _sides(result)
    of_systems = _analysis(result) == "compare_systems"
    rows, columns = ([], []) if sides is None else sides
    if len({*rows, *columns}) == 2:
        both = wording.listed(dict.fromkeys([*rows, *columns]))
        return f"whether the scores of {both} differ" if of_systems else f"the difference between {both} in agreement"
    pairs = "systems" if of_systems else "metrics"
    if set(rows) != set(columns):
        pairs = f"{wording.listed(rows)} with {wording.listed(columns)}"
    return f"for each pair of {pairs} {'whether their scores differ' if of_systems else 'the difference in agreement'}"


def _others(result: xr.Dataset) -> str:
    sides = _sides(result)
    return "another" if sides is None or set(sides[0]) == set(sides[1]) else wording.listed(sides[1], last="or")


def _is_one_test(result: xr.Dataset) -> bool:
    """Whether there is one p-value, or the same from either side."""
    sides = _sides(result)
    if sides is None or "pvalue" not in result or len({*sides[0], *sides[1]}) != 2:
        return False
    further = [size for dim, size in result["pvalue"].sizes.items() if dim not in _dims_of_pairs(result)]
    once = len(sides[0]) == len(sides[1]) == 1 or result.attrs.get("alternative") == "two-sided"
    return once and math.prod(further) == 1


def _regression(result: xr.Dataset) -> str:
    """What `bias` regressed, on what, over which points, and for which clusters."""
    attrs = result.attrs
    method, covariates = attrs.get("method"), _text(attrs.get("given", "each covariate"))
    if result.sizes.get("covariate", 1) > 1:
        covariates += ", together" if attrs.get("joint") else ", one covariate at a time"
    gold = wording.human_scores(attrs.get("gold"))
    over = {"system": "systems' mean scores", "input": "the outputs within each input", "global": "all outputs",
            "within_system": "the outputs within each system"}.get(str(attrs.get("level")), "scores")  # fmt: skip
    text = f"each metric on {gold} and on {covariates}, over {over}"
    if method == "difference":
        text = f"the difference between each metric and {gold}, both standardised, on {covariates}, over {over}"
    if method == "corrected":
        text += (
            ", with raters' effects removed and a correction for the noise of the ratings (errors in variables) "
            "[fuller1987measurement, carroll2006measurement]"
        )
    dims = str(attrs.get("resample", "both"))
    together = f", with the labels of one {attrs['cluster']} together" if "cluster" in attrs else ""
    return f"{text}. Standard errors are clustered by {'system and input' if dims == 'both' else dims}{together}"


def _text(value: Any) -> str:
    """A setting: a number, or words, which are no label."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return f"{value:,}"
    return wording.setting(value) if isinstance(value, float) else wording.shortened(value)


class _Filled(dict[str, str]):
    """Attrs for templates; missing ones in general words."""

    def __missing__(self, key: str) -> str:
        return "some"


def _correlations(result: xr.Dataset) -> str:
    """The same of each level and coefficient that a result was joined along."""
    ways = itertools.product(*(wording.settings_of(result, name) or [""] for name in ("coefficient", "level")))
    dims = result["correlation"].dims if "correlation" in result else ()
    single = bool({"input", "system"} & set(map(str, dims)))
    texts = (_correlation({**result.attrs, "coefficient": asked, "level": level}, single) for asked, level in ways)
    return " and ".join(dict.fromkeys(texts))


def _correlation(attrs: Mapping[Any, Any], single: bool = False) -> str:
    """A coefficient and over what it is computed; `single` ones are not averaged."""
    asked = str(attrs.get("coefficient", ""))
    if not asked:
        return "by several coefficients and levels" if "n_trials" in attrs else "by a coefficient of correlation"
    called = COEFFICIENTS[asked].label if asked in COEFFICIENTS else f"the coefficient {wording.name(asked)}"
    cited = f" [{_COEFFICIENTS[asked]}]" if asked in _COEFFICIENTS else ""
    if "given" in attrs:
        called = f"partial {called}"
        cited = f" [{_GIVEN[asked]}]" if asked in _GIVEN else ""
    if "positive" in attrs:
        called = f"{called} of {wording.positive(attrs)}"
    within = asked in COEFFICIENTS and COEFFICIENTS[asked].within_inputs
    over = "over the pairs of systems on each input" if within else _LEVELS.get(str(attrs.get("level")), "")
    over = over.partition(", averaged")[0] if single else over
    cited += _threshold(attrs)
    parts = [f"by {called}{cited}", over]
    parts += [f", given {wording.shortened(attrs['given'])}"] if "given" in attrs else []
    missing = "each mean over the scores that there are [deutsch2022reexamining]"
    parts += [f", {missing}"] if attrs.get("missing") == "available" else []
    return " ".join(part for part in parts if part).replace(" , ", ", ")


def _threshold(attrs: Mapping[Any, Any]) -> str:
    """By how much scores that differ must differ, and how that was chosen."""
    known = {
        "calibrated": "the threshold of ties that gives each metric the highest value on these scores",
        "held out": "each metric's threshold of ties calibrated on other scores",
        "by metric": "a threshold of ties given for each metric",
    }
    threshold = attrs.get("threshold")
    record = COEFFICIENTS.get(str(attrs.get("coefficient")))
    if threshold is None or record is None or record.threshold_of is None:
        return ""
    if threshold in known:
        return f", with {known[threshold]},"
    value = f"{float(threshold):g}"
    if record.threshold_of == "gold":
        return f", over pairs whose human scores differ by {value} or more," if float(threshold) else ""
    return (
        f", with scores within {value} of each other as ties," if float(threshold) else ", with equal scores as ties,"
    )


def _of_intervals(result: xr.Dataset) -> str:
    attrs = wording.attrs_of_intervals(result)
    found = wording.intervals(result)
    if found is None:
        return ""
    if attrs.get("analysis") in ("coverage", "power"):
        return "Shares of trials have 95 % Wilson intervals."
    method = str(attrs.get("method"))
    key = _INTERVALS.get(str(attrs.get("interval", method)) if method == "bootstrap" else method)
    if attrs.get("analysis") == "bias":
        key = "fieller1954some" if method == "corrected" else None
    if method in ("bootstrap", "tost"):
        key = key or "efron1993introduction"
    kind = found.kind
    if kind == "intervals":
        several = "method" in result.attrs and "method" not in attrs
        kind = "of several kinds" if several else f"confidence intervals {_BY_T.get(method, '')}".rstrip()
    whom, source = found.over.scope, f" from {found.over.drawn}" if found.over.drawn else ""
    text = f"The {found.level} % intervals are {kind}{source}{f' [{key}]' if key else ''}"
    return f"{text}; they apply to {whom}." if whom else f"{text}."


def _of_tests(result: xr.Dataset) -> str:
    attrs = result.attrs
    found = wording.tests(result)
    if found is None:
        return ""
    one = _is_one_test(result)
    name = found.name.in_a_sentence(one)
    key = _TESTS.get(str(attrs.get("method")))
    whom = f"{'it applies' if one else 'they apply'} to {found.over.scope}" if found.over.scope else ""
    text = f"The p-value comes from {name}" if one else f"P-values come from {name}"
    text += f" with {found.over.drawn}" if found.over.drawn else ""
    text += f" [{key}]" if key else ""
    side = {"two-sided": ", two-sided", "greater": ", one-sided", "less": ", one-sided"}.get(
        str(attrs.get("alternative"))
    )
    text += side if side and "one-sided" not in name else ""
    corrected = "" if one and "adjust_method" not in attrs else f", {_of_correction(result)}"
    decided = "" if attrs.get("analysis") in _UNDECIDED else f",{_of_level(result)}"
    return f"{text}{corrected}{decided}; {whom}." if whom else f"{text}{corrected}{decided}."


def _of_groups(result: xr.Dataset) -> list[str]:
    """How intervals and tests of groups, or of joined coefficients, were made, where those of all were not made so."""
    by = str(result.attrs.get("by", ""))
    if wording.OF_GROUPS in result.attrs and by in result.dims:
        labels = [label for label in json.loads(result.attrs[wording.OF_GROUPS]) if label in result[by].values.tolist()]
    elif "coefficient" in result.dims and "coefficient" in result.coords:
        by, labels = "coefficient", result["coefficient"].values.tolist()
    else:
        return []
    ways: dict[str, list[Hashable]] = {}
    usual = (_of_intervals(result), _of_tests(result))
    for label in labels:
        one = wording.of_group(result.sel({by: label}))
        tested = "pvalue" not in one or bool(one["pvalue"].notnull().any())
        for own in (_of_intervals(one), _of_tests(one) if tested else ""):
            if own and own not in usual:
                ways.setdefault(own, []).append(label)
    group = by.replace("_", " ")
    return [f"For {group} {wording.listed(names)}: {own[0].lower()}{own[1:]}" for own, names in ways.items()]


def _of_correction(result: xr.Dataset) -> str:
    method, found = str(result.attrs.get("adjust_method", "")), wording.correction(result)
    if not method or found is None:
        return "not corrected for the number of tests"
    persons = found.method in ("Holm", "Bonferroni")
    whose = f"{found.method}'s method" if persons else f"the {found.method} procedure"
    key = _CORRECTIONS.get(method)
    return f"corrected by {whose} over {found.over}" + (f" [{key}]" if key else "")


def _of_level(result: xr.Dataset) -> str:
    return f" at a significance level of {wording.setting(wording.alpha_of(result))}"


def _left_out(attrs: Mapping[Any, Any]) -> str:
    """What is left out: outputs without a score, inputs with constant scores, and those with one output."""
    counted = "" if _is_of_parts(attrs) else _unpaired(attrs) + _single(attrs)
    return counted + _constant_inputs(attrs)


def _is_of_parts(attrs: Mapping[Any, Any]) -> bool:
    """Whether parts of the systems, or single raters, each leave out others than all together."""
    return "by" in attrs or attrs.get("analysis") in _OF_PARTS


def _unpaired(attrs: Mapping[Any, Any]) -> str:
    n = attrs.get(left_out.OUTPUTS)
    if n is None:
        return ""
    noun, lack = ("output", "lacks") if n == "1" else ("outputs", "lack")
    if attrs.get("analysis") in _OF_PAIRS:
        beside = f"for one metric, {n} {noun} {lack} its score or the human score"
        return f"Two metrics are compared on outputs with both scores and a human score; {beside}. "
    return f"For each metric we left out {n} {noun} that {lack} its score or the human score. "


def _single(attrs: Mapping[Any, Any]) -> str:
    n = attrs.get("single_outputs")
    if n is None:
        return ""
    group = "input" if attrs.get("level") == "input" else "system"
    count = f"{group}s" if n == left_out.SOME else f"{n} {group if n == '1' else f'{group}s'}"
    return f"A metric's average leaves out {count} with only one rated and scored output. "


def _constant_inputs(attrs: Mapping[Any, Any]) -> str:
    """What happens to inputs on which scores are constant; of parts and of several golds without a number."""
    record, tied = COEFFICIENTS.get(str(attrs.get("coefficient"))), attrs.get("constant_inputs")
    averaged = attrs.get("level") == "input" and not (record is not None and record.of_constants)
    if attrs.get("undefined") == "zero" and averaged:
        return "Inputs on which a metric's scores or the human scores are constant count as a correlation of 0. "
    if tied == left_out.SOME or (_is_of_parts(attrs) and averaged):
        return "Averages leave out the inputs on which a metric's scores or the human scores are constant. "
    if tied is None:
        return ""
    noun = "input" if tied == "1" else "inputs"
    return f"A metric's average leaves out {tied} {noun} on which its scores or the human scores are constant. "


def _version(result: xr.Dataset) -> str:
    return str(result.attrs.get("xsumstat_version", extras.package_version()))


def _of_software(result: xr.Dataset, cite: str = "") -> str:
    attrs = result.attrs
    sizes = {dim: result.sizes[dim] for dim in ("metric", "system", "input") if dim in result.sizes}
    sizes |= {dim: int(attrs[f"n_{dim}s"]) for dim in ("system", "input", "prompt") if f"n_{dim}s" in attrs}
    sizes = {dim: sizes[dim] for dim in ("metric", "system", "input", "prompt") if dim in sizes}
    along = str(attrs.get("along", ""))
    if "rating" in attrs and (n_raters := int(attrs.get("n_raters", result.sizes.get(along, 0)))):
        sizes[along.replace("_", " ")] = n_raters
    sides = _sides(result)
    if sides is not None and "other_metric" in result.coords and "metric" in sizes:
        sizes["metric"] = len({*sides[0], *sides[1]})
    if attrs.get("method") == "ppi":
        sizes.pop("metric", None)  # the gold is its label
    if attrs.get("analysis") == "human_ceiling":
        sizes["metric"] = sizes.get("metric", 1) - 1  # one of them is the raters
    counts = [validate.counted(size, dim) for dim, size in sizes.items() if size]
    of = f" for {wording.listed(counts)}" if counts else ""
    seed = f", seed {attrs['seed']}" if "seed" in attrs else ""
    left = _left_out(attrs)
    return f"{left}The computation{of} used xsumstat {_version(result)}{cite}{seed}."
