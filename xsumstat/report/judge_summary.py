"""The short answer of a judge report: each judge in a line, weak points, and of whom this speaks."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping

import numpy as np
import xarray as xr

from xsumstat.analyses.adjust import decisive
from xsumstat.catalogue.raters import WINNING
from xsumstat.coefficients.table import get
from xsumstat.core import validate
from xsumstat.core.labels import labels_along
from xsumstat.core.types import IntArray
from xsumstat.dataset import align, checks, facts, locate, scale_checks, scope, wording
from xsumstat.inference import ratios
from xsumstat.narrative import findings, findings_bias, findings_drift, findings_judges, findings_tests
from xsumstat.report import judge_remarks, judge_runs, odd_raters
from xsumstat.report.judge_questions import BY_SYSTEM, CROWD_TEST, USUAL_MARGINS
from xsumstat.report.judge_subject import People, Subject

# So many judges have a line each.
_MOST_JUDGES = 3
# Fewer prompts or raters than these are weak points, as is an alpha below Krippendorff's lower limit.
_FEWEST_PROMPTS, _FEWEST_RATERS = 30, 3

# What follows a verdict of the alternative annotator test that a judge without knowledge gets, too.
_AS_A_CONSTANT = ", as may a judge that gives every output the most frequent grade"

Results = Mapping[str, xr.Dataset]


def summary(about: Subject, shown: Results, alpha: float) -> tuple[str, ...]:
    """Three to six lines from the results of the sections; `alpha` decides about bias."""
    judges = _best_first(about.judges, shown)
    lines = [_of_judge(label, shown, alpha, about.people) for label in judges[:_MOST_JUDGES]]
    if len(judges) > _MOST_JUDGES:
        lines.append(_of_others(judges[_MOST_JUDGES:], shown))
    return (*lines, _weak_points(about, shown), _scope(about, shown))


def agreement(shown: Results) -> xr.Dataset | None:
    """The agreement of judges, beside a rater's if there are several raters."""
    return shown.get("human_ceiling", shown.get("ci"))


def _measured(shown: Results) -> xr.Dataset | None:
    """The agreement of judges, if it has no further dims."""
    found = agreement(shown)
    return found if found is not None and found["correlation"].dims == ("metric",) else None


def _best_first(judges: list[Hashable], shown: Results) -> list[Hashable]:
    found = _measured(shown)
    if found is None:
        return judges
    r = {label: float(found["correlation"].sel(metric=label)) for label in judges}
    return sorted(judges, key=lambda label: math.inf if math.isnan(r[label]) else -r[label])


def _of_judge(label: Hashable, shown: Results, alpha: float, people: People) -> str:
    said = [
        _agreement(label, shown),
        _leans(label, shown),
        _biases(label, shown, alpha, people),
        _replaces(label, shown),
        _changed(label, shown),
    ]
    return f"{wording.name(label)}: {' '.join(each for each in said if each)}"


def _agreement(label: Hashable, shown: Results) -> str:
    """Beside a rater's agreement, with how much lower the judge's may be."""
    found = _measured(shown)
    if found is None:
        return "Its agreement with the human scores is in the sections below."
    one = found.sel(metric=label)
    r = float(one["correlation"])
    if math.isnan(r):
        return "Its agreement with the human scores is undefined."
    if "difference" not in found:
        limits = wording.estimate(r, float(one["ci_low"]), float(one["ci_high"]))
        return (
            f"Its agreement with the human scores is {limits}; one rating per output allows no comparison with a rater."
        )
    low, high = float(one["difference_low"]), float(one["difference_high"])
    there = wording.raters_on_outputs_of(found)
    where = " on the outputs that the judge scored" if label in there else ""
    rater = f"{wording.number(there.get(label, float(found['correlation'].sel(metric='rater'))))}{where}"
    own = wording.estimate(r, float(one["ci_low"]), float(one["ci_high"]))
    said = f"Its agreement with the raters is {own}, a single rater's is {rater}"
    if math.isnan(low):
        return f"{said}, without an interval of the difference."
    less, more = (wording.number(abs(end)) for end in (low, high))
    level = f"{100 * float(found.attrs.get('confidence_level', 0.95)):.4g} %"
    if low > 0:
        return f"{said}: the judge agrees more, by {less} to {more} ({level} interval)."
    if high < 0:
        return f"{said}: the judge agrees less, by {more} to {less} ({level} interval)."
    return (
        f"{said}. The difference is not significant: the judge may agree up to {less} less, or {more} more "
        f"({level} interval)."
    )


def _leans(label: Hashable, shown: Results) -> str:
    """How often its grades are higher and lower than a single rater's; a calibrated judge cannot lean."""
    table = _grades(label, shown)
    if table is None:
        return ""
    higher, lower = (100 * half.sum() / table.sum() for half in (np.triu(table, 1), np.tril(table, -1)))
    whose, of = ("a rater's", "ratings") if "along" in shown["confusion"].attrs else ("the human one", "outputs")
    return f"Its grade is higher than {whose} for {higher:.0f} % of the {of}, and lower for {lower:.0f} %."


def _grades(label: Hashable, shown: Results) -> IntArray | None:
    """Outputs by the human and the judge's grade, or ratings by single raters', if the judge uses these grades."""
    counts = shown.get("confusion")
    if counts is None or counts["n_outputs"].ndim != 3:
        return None
    if label not in counts["metric"].values.tolist():
        return None
    table = counts["n_outputs"].sel(metric=label).transpose("human_label", "judge_label").values
    return table if table.any() else None


def _biases(label: Hashable, shown: Results, alpha: float, people: People) -> str:
    """What its errors depend on, what noise may explain, what was tested in vain, and where its agreement differs."""
    kinds = ("clear", "noise", "ended", "untested", "none", "differs", "alike")
    found: dict[str, list[str]] = {kind: [] for kind in kinds}
    if "bias" in shown:
        tests = shown["bias"]
        if tests["pvalue"].dims != ("metric", "covariate"):
            return "Bias is in the sections below."
        for name in tests["covariate"].values.tolist():
            one = tests.sel(covariate=name)
            at = one["metric"].values.tolist().index(label)
            p, noise = float(decisive(one)[at]), findings_bias.explained_below(one)[at]
            if not math.isnan(p):
                doubt = "ended" if findings_bias.at_ceiling(one)[at] else "clear" if math.isnan(noise) else "noise"
                kind = doubt if p <= alpha else "untested" if findings_bias.unbounded(one)[at] else "none"
                slope = f" (slope {wording.number(float(one['slope'][at]))})" if kind == "clear" else ""
                found[kind].append(f"{wording.name(name)}{slope}")
    for key, tests in shown.items():
        if key.startswith("compare_groups"):
            of_pairs = decisive(tests).sel(metric=label)
            if bool(of_pairs.notnull().any()):
                differs = bool((of_pairs <= alpha).any())
                by = wording.name(tests.attrs["by"])
                found["differs" if differs else "alike"].append(f"{by}{_ends(tests, label)}" if differs else by)
    leans = judge_remarks.leaning(shown[BY_SYSTEM], label, people) if BY_SYSTEM in shown else None
    if leans is not None and not leans.told():
        found["none"].append("system")
    rest = "" if leans is None or not leans.not_tested else f" {wording.capitalised(leans.not_tested)}."
    return f"{_told(found, '' if leans is None else leans.told())}{rest}"


def _ends(tests: xr.Dataset, label: Hashable) -> str:
    """The groups with the lowest and the highest agreement: " (lowest for code, -.02; highest for chat, .70)"."""
    values = tests["correlation"].sel(metric=label)
    if values.dims != (tests.attrs["by"],) or not bool(values.notnull().any()):
        return ""
    groups, numbers = values[tests.attrs["by"]].values.tolist(), values.values
    ends = (("lowest", int(np.nanargmin(numbers))), ("highest", int(np.nanargmax(numbers))))
    each = [f"{which} for {wording.name(groups[at])}, {wording.number(numbers[at])}" for which, at in ends]
    return f" ({'; '.join(each)})"


def _told(found: dict[str, list[str]], favoured: str) -> str:
    if not any(found.values()) and not favoured:
        return "Bias was not tested."
    said = [f"It {favoured}."] if favoured else []
    if found["clear"]:
        said.append(f"It shows a bias: its errors depend on {wording.joined(found['clear'])}.")
    for kind, why in (("noise", "noise in the human scores"), ("ended", judge_remarks.ENDED)):
        if found[kind]:
            said.append(f"Its errors depend on {wording.listed(found[kind])}, which {why} may explain.")
    if found["untested"]:
        said.append(
            f"Bias by {wording.listed(found['untested'])} cannot be estimated, because human scores are too noisy."
        )
    if found["none"]:
        said.append(
            f"No bias by {wording.listed(found['none'], last='or')} was found. This does not show that there is none."
        )
    if found["differs"]:
        said.append(f"Its agreement differs between the groups of {wording.joined(found['differs'])}.")
    if found["alike"]:
        said.append(
            f"Its agreement does not differ significantly between the groups of {wording.listed(found['alike'])}. This "
            "does not show that it is the same."
        )
    return " ".join(said)


def _replaces(label: Hashable, shown: Results) -> str:
    """The verdicts of the alt-test with the margin that was named, or those for experts and for crowd workers."""
    tests = [shown[key] for key in ("alt_test", CROWD_TEST) if key in shown]
    verdicts: dict[tuple[str, str], list[str]] = {("may", ""): [], ("may", _AS_A_CONSTANT): [], ("may not", ""): []}
    for test in tests:
        rate = test["winning_rate"].sel(metric=label)
        if rate.ndim == 0 and bool(rate.notnull()):
            margin = float(test.attrs["margin"])
            usual = f" (usual for {USUAL_MARGINS[margin]})" if margin in USUAL_MARGINS else ""
            empty = findings_tests.constant_passes(test.sel(metric=[label]))
            verdict = ("may" if float(rate) >= WINNING else "may not", _AS_A_CONSTANT if empty else "")
            verdicts[verdict].append(f"{wording.setting(margin)}{usual}")
    said = [
        f"{may} replace a rater with the margin {wording.listed(margins)}{beside}"
        for (may, beside), margins in verdicts.items()
        if margins
    ]
    return f"By the alternative annotator test it {', and '.join(said)}." if said else ""


def _changed(label: Hashable, shown: Results) -> str:
    """What changed since an older version of the judge."""
    found = next((result for result in shown.values() if result.attrs["analysis"] == "drift"), None)
    if found is None or label not in found["metric"].values.tolist():
        return ""
    return findings_drift.in_short(found.sel(metric=label))


def _of_others(others: list[Hashable], shown: Results) -> str:
    found = _measured(shown)
    if found is None:
        return f"Other judges: {wording.listed(map(wording.name, others))}."
    each = [
        f"{wording.name(label)} {wording.number(float(found['correlation'].sel(metric=label)))}" for label in others
    ]
    return f"Judges that agree less: {wording.listed(each)}."


def _weak_points(about: Subject, shown: Results) -> str:
    people = about.people
    weak, checked = [], []
    reliability = shown.get("agreement")
    if reliability is not None and reliability["alpha"].ndim == 0:
        checked.append("the raters' agreement")
        reached = float(reliability["alpha"])
        if reached < findings.LEAST_ALPHA:
            shown_alpha = wording.number(reached, findings.digits_of_alpha(reached))
            weak.append(
                f"the raters' agreement is low (Krippendorff's alpha {shown_alpha}, below "
                f"{wording.number(findings.LEAST_ALPHA, 3)})"
            )
    if not people.several:
        weak.append("with one human score per output, the raters' agreement is unknown")
    if any(_grades(label, shown) is not None for label in about.judges):
        checked.append("equal grades")
        weak += _few_equal(about, shown)
    checked.append("numbers of prompts and raters" if people.n_raters else "the number of prompts")
    weak += _few_prompts(about)
    if people.n_raters and people.n_raters < _FEWEST_RATERS:
        weak.append(f"there are only {people.n_raters} raters" if people.n_raters > 1 else "there is only one rater")
    weak += odd_raters.told(people.as_given, shown.get("human_ceiling")) if people.n_raters > 1 else []
    if about.ds.sizes["system"] > 1 and not about.shared:
        weak.append("no prompt has scores of two systems, and outputs of different prompts are compared")
    if about.uneven:
        weak.append(about.uneven)
    if about.unrated:
        verb = "has" if len(about.unrated) == 1 else "have"
        weak.append(f"{wording.listed(map(wording.name, about.unrated))} {verb} no human score")
    tests = [shown[key] for key in ("alt_test", CROWD_TEST) if key in shown]
    passed = [each for each in tests if findings_tests.constant_passes(each)]
    margins = [wording.setting(float(each.attrs["margin"])) for each in passed]
    if margins:
        weak.append(
            "a judge that gives every output the raters' most frequent grade passes the alternative annotator test, "
            f"too (margin {wording.listed(margins)})"
        )
    weak += [*_people_themselves(about), *_tied(about, shown)]
    if falls := judge_remarks.falling(about, shown):
        verb = "falls" if len(falls) == 1 else "fall"
        weak.append(
            f"{wording.listed(map(wording.name, falls))} {verb} where human scores rise; perhaps lower is better"
        )
    if "system_means" in shown and (odd := wording.not_random(shown["system_means"])):
        weak.append(f"the rated outputs of {wording.listed(odd)} may be no random sample: means mislead then")
    checked.append("refusals")
    weak += [*_refusals(shown), *_no_grades(about)]
    if about.runs is not None and (lacking := judge_runs.lacking(about.runs, about.judges)):
        weak.append(lacking)
    return f"Weak points: {'; '.join(weak)}." if weak else f"Weak points: none found ({', '.join(checked)})."


def _few_prompts(about: Subject) -> list[str]:
    """Too few prompts with a human score: those without one tell nothing about the judge."""
    values, prompts = about.people.values, about.ds.sizes["input"]
    rated = prompts
    if "input" in values.dims:
        rated = int(values.notnull().any([dim for dim in values.dims if dim != "input"]).sum())
    if rated >= _FEWEST_PROMPTS:
        return []
    if rated == prompts:
        return [f"there {'is' if prompts == 1 else 'are'} only {validate.counted(prompts, 'prompt')}"]
    who = "ratings" if about.people.n_raters else "human scores"
    return [f"only {rated:,} of {prompts:,} prompts {'has' if rated == 1 else 'have'} {who}"]


def _few_equal(about: Subject, shown: Results) -> list[str]:
    """Judges that give a rater's grade significantly less often than another rater does; of one rater, than half."""
    judges = [label for label in about.judges if _grades(label, shown) is not None]
    if "input" not in about.people.each.dims:
        return []
    alike, pairs = judge_remarks.equal_pairs(about.people)
    least, than = 0.5, "in half of the ratings"
    if pairs.any():
        least = float(alike.sum() / pairs.sum())
        than = f"two raters equal each other ({100 * least:.0f} %)"
    few = []
    for label, (equal, ratings) in judge_remarks.equal_to_raters(about, judges).items():
        share = float(equal.sum() / ratings.sum())
        if ratios.difference_high((equal, ratings), (alike, pairs) if pairs.any() else least) < 0:
            few.append(f"{wording.name(label)} ({100 * share:.0f} %)")
    verb = "equals" if len(few) == 1 else "equal"
    return [f"{wording.listed(few)} {verb} a rater's grade significantly less often than {than}"] if few else []


def _tied(about: Subject, shown: Results) -> list[str]:
    """Judges that often give systems one score: in pairs, or of all systems where that leaves prompts out."""
    found = _measured(shown)
    if found is None or found.attrs["level"] != "input" or about.ds.sizes["system"] < 2:
        return []
    if get(found.attrs["coefficient"]).of_constants:
        (judges, people), coarse = about.tied_pairs, about.coarse
        each = [
            f"{wording.name(label)} gives two systems the same score in {100 * share:.0f} % of the pairs"
            for label, share, is_coarse in zip(about.judges, judges, coarse, strict=True)
            if is_coarse
        ]
        who = "a rater" if about.people.n_raters > 1 else "the human scores"
        return (
            [f"{wording.joined(each)}, {who} in {100 * people:.0f} % (accuracy with ties counts them)"] if each else []
        )
    score = about.ds["score"].sel(metric=about.judges)
    tied, there, by_gold, scored = facts.ties(score, about.people.values)
    people, of = int(by_gold.values.max()), int(scored.values.max())
    said = []
    if about.ds.sizes["system"] > 2 and people > checks.OFTEN_TIED * of:
        said.append(f"people give all systems one score for {people:,} of {of:,} prompts, left out of the agreement")
    return said + [
        f"{wording.name(label)} gives all systems one score for {one:,} of {of:,} prompts, left out of its agreement"
        for label, one, of in zip(about.judges, tied.values.tolist(), there.values.tolist(), strict=True)
        if one > checks.OFTEN_TIED * of
    ]


def _refusals(shown: Results) -> list[str]:
    found = shown.get("missingness")
    if found is None:
        return []
    dims = [dim for dim in found["n_missing"].dims if dim != "metric"]
    missing, outputs = (found[name].sum(dims).values.tolist() for name in ("n_missing", "n_outputs"))
    each = [
        f"{wording.name(label)} has no score for {lost:,} of {n:,} outputs"
        for label, lost, n in zip(found["metric"].values.tolist(), missing, outputs, strict=True)
        if lost
    ]
    others: dict[str, list[str]] = {}
    for label in found["metric"].values.tolist():
        if _misses_others(found, label):
            way = findings_judges.refused(found.sel(metric=label))
            unlike = f"have {way} human scores than the others" if way else "are not like the others"
            others.setdefault(unlike, []).append(wording.name(label))
    said = [wording.listed(each)] if each else []
    for unlike, judges in others.items():
        verb = "refuse" if len(judges) > 1 else "refuses"
        said.append(f"the outputs that {wording.listed(judges)} {verb} {unlike}")
    return said


def _people_themselves(about: Subject) -> list[str]:
    """Judges whose scores are those of a rater, or the raters' mean: their agreement is no news."""
    each = about.people.each
    if not set(facts.CELLS) <= set(each.dims):
        return []
    persons = ["the human scores"]
    if about.people.n_raters > 1:
        raters = labels_along(each, "rater")
        persons = ["the raters' mean", *(f"the grades of {wording.name(rater)}" for rater in raters)]
    score = align.oriented(locate.checked_scores(about.ds).sel(metric=about.judges), ("metric",))
    equal = facts.equal_to(score, each.transpose("rater", *facts.CELLS, missing_dims="ignore")).values
    return [
        f"{wording.name(label)} equals {persons[int(np.argmax(same))]}, and its agreement says nothing about a judge"
        for label, same in zip(about.judges, equal, strict=True)
        if same.any()
    ]


def _no_grades(about: Subject) -> list[str]:
    """Judges whose scores are grades of the raters except for a few values far off, as -1 for a missing score."""
    grades = scale_checks.values_of(about.people.as_given)
    told = []
    for label in about.judges:
        found = scale_checks.codes(locate.checked_scores(about.ds).sel(metric=label).values, grades)
        if found:
            each = [f"{value:g} ({validate.counted(n, 'output')})" for value, n in found.items()]
            verb = "is no grade" if len(found) == 1 else "are no grades"
            told.append(
                f"{wording.joined(each)} by {wording.name(label)} {verb} of the raters, perhaps a missing score"
            )
    return told


def _misses_others(found: xr.Dataset, label: Hashable) -> bool:
    """Whether missing scores depend significantly on the system or the human scores."""
    return bool(found["significant"].sel(metric=label).any()) if "significant" in found else False


def _scope(about: Subject, shown: Results) -> str:
    found = agreement(shown)
    whom = scope.words(found.attrs, "") if found is not None else ""
    raters = about.people.n_raters
    parts = [whom] if whom else []
    if raters > 1:
        parts.append(f"as graded by these {raters} raters; other raters may give other answers")
    parts += filter(None, [wording.kept_outputs(about.ds.attrs)])
    said = f"Scope: {', '.join(parts)}." if parts else "Scope: the outputs in the file."
    return said if found is None else f"{said} Agreement is measured by {findings.coefficient(found)}."
