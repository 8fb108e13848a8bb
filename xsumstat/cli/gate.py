"""Whether judges meet a requirement such as ``kappa >= .6``: the interval's lower limit decides."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import xarray as xr

from xsumstat.analyses import clustering, drift
from xsumstat.analyses.measure import AUTO
from xsumstat.catalogue.raters import WINNING
from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.core import arguments, validate
from xsumstat.dataset import value_checks, wording
from xsumstat.io import rows
from xsumstat.narrative import findings_bias, findings_drift, findings_tests
from xsumstat.report import judge_questions, judge_remarks, judge_runs, judge_subject, report_data
from xsumstat.report.judge_report import JudgeReport

# Exit statuses: the requirement is met, is not met, or cannot be decided.
MET, NOT_MET, UNKNOWN = 0, 1, 2
_IN_WORDS = {MET: "met", NOT_MET: "not met", UNKNOWN: "cannot be decided"}
_PARTS = re.compile(r"\s*([\w-]+)\s*(?:(>=|<=|≥|≤)\s*(\S+)\s*)?")
_EXAMPLES = "'kappa >= .6', 'alt_test', 'bias', 'bias <= .1' or 'drift <= .05'"
# Codes of warnings that belong beside a verdict: which outputs and prompts it is not about.
_LEFT_OUT = ("ties_left_out", "cells_left_out", "fewer_labels", "scores_left_out", "single_outputs_left_out")
# Of one judge: status, name, and the reason.
_OfJudge = tuple[int, Hashable, str]


@dataclass(frozen=True)
class Requirement:
    """A coefficient or bias with a bound, or a test without one, that every judge must meet."""

    text: str
    of: str
    bound: float | None


@dataclass(frozen=True)
class Verdict:
    """An exit status, and the reason in one line."""

    status: int
    line: str


def requirement(text: str) -> Requirement:
    """Parse a requirement; raises ValueError."""
    parts = _PARTS.fullmatch(text)
    if parts is None:
        raise ValueError(f"{arguments.name('require')} must look like {_EXAMPLES}, got {text!r}")
    of, sign, number = parts[1], parts[2], parts[3]
    of = validate.choice("require", of, [*COEFFICIENTS, "alt_test", "bias", "drift"])
    try:
        bound = None if number is None else float(number)
    except ValueError as error:
        raise ValueError(f"{arguments.name('require')} must end in a number, got {text!r}") from error
    wanted = {"alt_test": (None,), "bias": (None, "<=", "≤"), "drift": ("<=", "≤")}.get(of, (">=", "≥"))
    if sign not in wanted or (bound is not None and not math.isfinite(bound)):
        raise ValueError(f"{arguments.name('require')} must look like {_EXAMPLES}, got {text!r}")
    if of in ("drift", "bias") and bound is not None and bound <= 0:
        raise ValueError(f"{arguments.name('require')}: a {of} must be allowed to be above 0, got {text!r}")
    low, high = COEFFICIENTS[of].bounds if of in COEFFICIENTS else (-math.inf, math.inf)
    if bound is not None and not low <= bound <= high:
        raise ValueError(f"{arguments.name('require')}: {of} lies between {low:g} and {high:g}, got {text!r}")
    return Requirement(text.strip(), of, bound)


def is_of_classes(name: str) -> bool:
    """Whether a coefficient compares classes and takes positive ones."""
    return name in COEFFICIENTS and COEFFICIENTS[name].scale in ("classes", "two")


def check(
    ds: xr.Dataset,
    required: Requirement,
    *,
    gold: Any = None,
    metric: Any = None,
    level: str = "auto",
    positive: Any = None,
    resample: str = AUTO,
    cluster: str | tuple[str, ...] | None = None,
    confidence_level: float = 0.95,
    alpha: float = 0.05,
    anchor: xr.Dataset | None = None,
    coefficient: Any = None,
    margin: float | None = None,
    report: JudgeReport | None = None,
) -> Verdict:
    """Whether every judge meets a requirement: any failure fails, else any unknown is unknown.

    `report` is the report of these scores with these settings, if there is one.
    """
    asked = judge_subject.subject(ds, gold, metric)
    of_inputs = clustering.inputs_of(asked.ds["score"], cluster)
    try:
        with value_checks.held() as held:
            if required.of == "drift":
                level, coefficient = judge_subject.measure(asked, level, coefficient)
                how: dict[str, Any] = {"level": level, "coefficient": coefficient, "cluster": of_inputs}
                found = _drift(asked, anchor, required, report, alpha=alpha, **how)
                each = _drifts(asked, found)
            elif required.of == "alt_test":
                each = _may_replace(asked, alpha, margin, of_inputs)
            elif required.of == "bias":
                each = _unbiased(asked, required.bound, alpha, {"resample": resample, "cluster": cluster})
            else:
                of_classes = positive if is_of_classes(required.of) else None
                how = {"confidence_level": confidence_level, "positive": of_classes, "resample": resample}
                how["cluster"] = cluster
                each = _agrees(asked, required, level, **how)
        codes = _LEFT_OUT if required.of in COEFFICIENTS else _LEFT_OUT[:1]
        left_out = [str(caveat) for caveat in held.caveats if caveat.code in codes]
    except ValueError as error:
        each, left_out = [(UNKNOWN, "", str(error))], []
    statuses = {status for status, _, _ in each}
    status = next(each for each in (NOT_MET, UNKNOWN, MET) if each in statuses)
    reasons = "; ".join(told.rstrip(".") for _, _, told in each)
    left_out += _unread(ds) if metric is None else []
    left_out += (
        [f"no rule is checked for {wording.listed(asked.unrated)} without human scores"] if asked.unrated else []
    )
    told = ". ".join([reasons, *dict.fromkeys(wording.capitalised(text) for text in left_out)])
    of_runs = _of_runs(asked, is_of_classes(required.of))
    names = filter(None, [of_inputs] if required.of in ("alt_test", "drift") else clustering.checked(cluster))
    clusters = " and ".join(names)
    together = f" (clustered by {clusters})" if clusters else ""
    return Verdict(status, f"{required.text}: {_verdict(each, status)}{of_runs}{together}. {told}")


def _unread(ds: xr.Dataset) -> list[str]:
    """Columns that may hold a judge's verdicts, but were not read."""
    unread = ds.attrs.get(rows.UNREAD)
    return [] if unread is None else [f"no rule is checked for {unread}, which is not read as numbers"]


def _verdict(each: list[_OfJudge], status: int) -> str:
    """The verdict in words, with the judges that decide it if others have a better one."""
    decisive = [wording.name(judge) for own, judge, _ in each if own == status]
    whose = f" for {wording.listed(decisive)}" if status != MET and len(decisive) < len(each) else ""
    return f"{_IN_WORDS[status]}{whose}"


def _of_runs(asked: judge_subject.Subject, classes: bool) -> str:
    if asked.runs is None:
        return ""
    lacking = judge_runs.lacking(asked.runs, asked.judges)
    how = judge_runs.told(judge_runs.n_runs(asked.runs), classes)
    return f" ({how}{'; ' * bool(lacking)}{lacking})"


def _agrees(asked: judge_subject.Subject, required: Requirement, level: str, **how: Any) -> list[_OfJudge]:
    bound = -math.inf if required.bound is None else required.bound
    level, _ = report_data.usual_measure(asked.ds, level, required.of, shared=asked.shared)
    record = COEFFICIENTS[required.of]
    plain = judge_subject.OnScale(asked.ds, asked.people.gold, asked.judges)
    on = plain if record.scale is None else judge_subject.on_scale(asked, record, rng=0)
    found = on.ds.meta.ci(on.gold, metric=on.judges, level=level, coefficient=required.of, **how)
    people, how_told = wording.human_scores(found.attrs["gold"]), f"{level} level, {found.attrs['scope']}"
    how_told += f", {wording.positive(found.attrs)} positive" if "positive" in found.attrs else ""
    each = []
    for label in on.judges:
        r, low, high = (float(found[name].sel(metric=label)) for name in ("correlation", "ci_low", "ci_high"))
        status = UNKNOWN if math.isnan(low) else MET if low >= bound else NOT_MET
        digits = next((n for n in (2, 3) if (round(low, n) >= bound) == (low >= bound)), 4)
        told = f"{wording.name(label)} {wording.estimate(r, low, high, digits)} with {people} ({how_told})"
        each.append((status, label, told))
    return each


def _may_replace(
    asked: judge_subject.Subject, alpha: float, margin: float | None, cluster: str | None
) -> list[_OfJudge]:
    if asked.people.rating is None:
        raise ValueError("alt_test needs ratings by several humans; each output has one human score")
    how = {} if margin is None else {"margin": margin}
    found = asked.ds.meta.alt_test(asked.people.rating, metric=asked.judges, alpha=alpha, cluster=cluster, **how)
    each = []
    for label in asked.judges:
        rate = float(found["winning_rate"].sel(metric=label))
        status = UNKNOWN if math.isnan(rate) else MET if rate >= WINNING else NOT_MET
        told = "no verdict" if math.isnan(rate) else f"wins against {100 * rate:.0f} % of the raters"
        if findings_tests.constant_passes(found.sel(metric=[label])):
            told += ", but a judge that gives every output the most frequent grade passes this test, too"
            score = asked.ds["score"].sel(metric=label)
            status = UNKNOWN if bool(score.max() == score.min()) else status
        each.append((status, label, f"{wording.name(label)} {told}"))
    return each


def _unbiased(
    asked: judge_subject.Subject, bound: float | None, alpha: float, random: dict[str, Any]
) -> list[_OfJudge]:
    """Slopes within a bound, or without one not significant (Holm), for each judge; and then no favoured system."""
    of_systems = judge_questions.by_system(asked, alpha, random["cluster"]) if bound is None else None
    if not asked.given and of_systems is None:
        alike = f"; {wording.listed(asked.alike)}: the same for all outputs of an input" if asked.alike else ""
        raise ValueError(f"bias needs a covariate such as length or position that differs between outputs{alike}")
    each = (
        _by_covariates(asked, bound, alpha, random) if asked.given else [(UNKNOWN, label, "") for label in asked.judges]
    )
    if of_systems is None:
        return each
    tests = asked.ds.meta.bias(**of_systems).meta.adjust("holm")
    return [
        _also_of_systems(judge, judge_remarks.leaning(tests, label, asked.people))
        for judge, label in zip(each, asked.judges, strict=True)
    ]


def _also_of_systems(judge: _OfJudge, leaning: judge_remarks.Leaning | None) -> _OfJudge:
    """A judge's verdict on covariates, if there are any, with that on systems."""
    status, label, told = judge
    if leaning is None:
        return status, label, told or f"{wording.name(label)}: no difference between systems can be tested"
    doubtful = leaning.noise or leaning.ended or leaning.untested
    own = NOT_MET if leaning.high or leaning.low else UNKNOWN if doubtful else MET
    words = f"it {leaning.told()}" if leaning.told() else "it favours no system significantly"
    words = "; ".join(filter(None, [words, leaning.not_tested]))
    if not told:
        return own, label, f"{wording.name(label)}: {words}"
    return _worst([status, own]), label, f"{told}; {words}"


def _worst(statuses: list[int]) -> int:
    return max(statuses, key=(MET, UNKNOWN, NOT_MET).index)


def _by_covariates(
    asked: judge_subject.Subject, bound: float | None, alpha: float, random: dict[str, Any]
) -> list[_OfJudge]:
    """The same by the covariates alone."""
    how = {"metric": asked.judges, "given": asked.given, **random}
    found = asked.ds.meta.bias(asked.people.noisy, **how, confidence_level=1 - alpha)
    found = found.meta.adjust("holm")
    named, each = found["metric"].values.tolist(), []
    for label in asked.judges:
        at = named.index(label)
        lines, statuses = [], []
        for name in found["covariate"].values.tolist():
            of_all = found.sel(covariate=name)
            of_one = of_all.isel(metric=at)
            slope, low, high, p = (
                float(of_one[variable]) for variable in ("slope", "ci_low", "ci_high", "pvalue_adjusted")
            )
            ended = bool(findings_bias.at_ceiling(of_all)[at])
            if math.isnan(p) or (findings_bias.unbounded(of_all)[at] and p > alpha):
                statuses.append(UNKNOWN)
            elif bound is None and p > alpha:
                statuses.append(MET)
            elif bound is None:
                noise = "corrected_pvalue" in of_one and bool((of_one["corrected_pvalue"] > alpha).any())
                statuses.append(UNKNOWN if noise or ended else NOT_MET)
            else:
                statuses.append(MET if max(-low, high) <= bound else NOT_MET)
            doubt = f"; {judge_remarks.ENDED} may explain it" if p <= alpha and ended else ""
            tested = f" (Holm: {wording.pvalue(p)}{doubt})" if bound is None else ""
            lines.append(f"{name} {wording.estimate(slope, low, high)}{tested}")
        status = _worst(statuses)
        each.append((status, label, f"{wording.name(label)}: {', '.join(lines)}"))
    return each


def _drift(
    asked: judge_subject.Subject,
    anchor: xr.Dataset | None,
    required: Requirement,
    report: JudgeReport | None,
    **how: Any,
) -> xr.Dataset:
    """The change of the judges as the report computed it, if it did with this bound."""
    if anchor is None or required.bound is None:
        raise ValueError("drift needs the scores of an older version of the judge on the same outputs: anchor")
    if report is not None:
        for name, found in report.results.items():
            if found.attrs["analysis"] == "drift" and found.attrs["margin"] == required.bound:
                for caveat in report.caveats[name]:
                    validate.warn(caveat)
                return found
    old = judge_runs.averaged(anchor)
    return drift.drift(asked.ds, old, asked.people.values, metric=asked.judges, margin=required.bound, **how)


def _drifts(asked: judge_subject.Subject, found: xr.Dataset) -> list[_OfJudge]:
    """Whether each judge's agreement changed by less than a bound; other changes are reported."""
    score = asked.ds["score"]
    each = []
    for label in asked.judges:
        one = found.sel(metric=[label])
        undecided = math.isnan(float(one["pvalue"][0]))
        status = UNKNOWN if undecided else MET if bool(one["equivalent"][0]) else NOT_MET
        n, of = int(one["n_outputs"][0]), int(score.sel(metric=label).notnull().sum())
        told = findings_drift.change(one.isel(metric=0), wording.name(label))
        lost = int(one["n_only_old"][0])
        more = f"; the new version has no score for {lost:,} that the old one scored" if lost else ""
        each.append((status, label, f"{told}, {n:,} of {of:,} outputs{more}"))
    return each
