"""The questions of a judge report, each with the calls that answer it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.analyses import clustering
from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.dataset import golds, locate, scale_checks, wording
from xsumstat.report import judge_subject
from xsumstat.report.judge_subject import OnScale, Subject, on_grades, on_scale

# Groups of inputs that get their own answers: their largest number, and the least number of inputs in each.
_MOST_GROUPS, _FEWEST_INPUTS = 8, 10
# Differences of two systems that are planned for, in standard deviations of the human scores.
DIFFERENCES, _POWER = (0.2, 0.5), 0.8
# Margins of the alternative annotator test that its authors advise for experts (the default) and for crowd workers, and
# what the result of the latter is called.
EXPERTS, CROWD, CROWD_TEST = 0.2, 0.1, "alt_test_crowd"
USUAL_MARGINS = {EXPERTS: "experts", CROWD: "crowd workers"}
# A rater is named from this difference to the others' grades on, in standard deviations of the human scores.
_SEVERE = 0.25
# What the result is called that compares the judge's errors between systems.
BY_SYSTEM = "bias_by_system"
_NO_CLUSTER = (
    "Means from few ratings and a judge (system_means), and plans, are left out, because they take inputs as "
    "independent."
)
# Questions that say by themselves why they have no answer.
RATERS, BIAS = "Do the raters agree?", "In which direction is the judge biased?"


@dataclass(frozen=True)
class Ask:
    """A call of `ds.meta` or the package: name, arguments, picture; `of` judges on the human scale for classes.

    The result has the name of the call unless `called` otherwise. `closing` sentences point to further analyses. Its
    p-values are `corrected` by a method. `also` is a sentence after those of the result.
    """

    name: str
    settings: dict[str, Any]
    of: Callable[[], OnScale] | None = None
    picture: str = ""
    says: bool = True
    table: bool = True
    of_package: bool = False
    closing: bool = True
    called: str = ""
    corrected: str = ""
    also: str = ""


def groups(ds: xr.Dataset, cluster: Any = None) -> list[str]:
    """Coordinates of inputs with a few large groups, which are not clusters."""
    clusters = clustering.checked(cluster)
    coords = {name: coord for name, coord in ds.coords.items() if name not in clusters}
    words = [name for name, coord in coords.items() if coord.dims == ("input",) and coord.dtype.kind in "OUT"]
    counts = {name: pd.Series(ds[name].values).value_counts() for name in words if name not in ds.indexes}
    return [
        str(name) for name, each in counts.items() if 2 <= len(each) <= _MOST_GROUPS and each.min() >= _FEWEST_INPUTS
    ]


def about_judges(
    about: Subject,
    groups: list[str],
    measure: dict[str, Any],
    limits: dict[str, Any],
    adjust: str,
    alpha: float,
    drawn: dict[str, Any],
    margin: float | None = None,
) -> dict[str, list[Ask]]:
    people = about.people
    rated: dict[str, Any] = {"rating": people.rating}
    of_judges: dict[str, Any] = {"gold": people.gold, "metric": about.judges}
    several = people.several
    severity = about.severity
    severe = severity is not None and abs(severity.above) > _SEVERE * severity.sd
    told = f"The rater {severity.told}." if severity is not None and severe else ""
    agree = [Ask("agreement", {**rated, **limits, **_random(measure), **drawn}, also=told)]
    of_raters = {**rated, "metric": about.judges, **measure, **limits, **drawn}
    ceiling = [Ask("human_ceiling", of_raters, picture="forest")]
    alone = [Ask("ci", {**of_judges, **measure, **limits}, picture="forest")]
    found = {
        RATERS: agree if several else [],
        "Does the judge agree with the raters as well as a single rater does?": ceiling if several else alone,
    }
    if len(about.judges) > 1:
        how = {**of_judges, **measure, "adjust": adjust, "confidence_level": 1 - alpha}
        found["Which judge agrees better with the human scores?"] = [
            Ask("compare_metrics", how, table=len(about.judges) > 2)
        ]
    if about.runs is not None:
        every_run = OnScale(about.runs, people.gold, about.judges, called="runs")
        how = {"level": measure["level"], **limits}
        found["Do several runs of the judge agree?"] = [
            Ask("repeatability", how, of=lambda: every_run, picture="repeatability", table=False)
        ]
    classes = scale_checks.values_of(people.each)
    if 2 <= len(classes) <= scale_checks.MOST_GRADES:
        found["Does the judge give the same grades as the raters?"] = _same(
            about, len(classes) == 2, {**limits, **_random(measure)}, drawn["rng"]
        )
    found[BIAS] = _errors(about, groups, measure, limits, adjust, alpha)
    lacking = _lacking(about)
    if lacking:
        how = {"gold": people.gold, "metric": lacking, "adjust": adjust, "alpha": alpha, "rng": drawn["rng"]}
        found["Which outputs does the judge not score?"] = [Ask("missingness", {**how, **limits})]
    if several:
        how = {**rated, "metric": about.judges, "alpha": alpha, **_of_inputs(about.ds, measure.get("cluster"))}
        if margin is None:
            crowd = Ask("alt_test", {**how, "margin": CROWD}, says=False, table=False, called=CROWD_TEST)
            asks = [Ask("alt_test", how), crowd]
        else:
            asks = [Ask("alt_test", {**how, "margin": margin})]
        found["May the judge replace a rater?"] = asks
    return found


def _random(measure: dict[str, Any]) -> dict[str, Any]:
    """The settings of analyses that have no level and coefficient: what is random, and what belongs together."""
    return {name: value for name, value in measure.items() if name in ("resample", "cluster")}


def _of_inputs(ds: xr.Dataset, cluster: Any) -> dict[str, Any]:
    """The cluster of inputs, for analyses of these systems."""
    name = clustering.inputs_of(ds["score"], cluster)
    return {} if name is None else {"cluster": name}


def _errors(
    about: Subject, groups: list[str], measure: dict[str, Any], limits: dict[str, Any], adjust: str, alpha: float
) -> list[Ask]:
    """On what the judges' errors depend: covariates, systems, and groups of inputs."""
    people = about.people
    err = []
    if about.given:
        how = {"gold": people.noisy, "metric": about.judges, "given": about.given, "confidence_level": 1 - alpha}
        how |= _random(measure)
        err.append(Ask("bias", how, corrected=adjust))
    if (of_systems := by_system(about, alpha, measure.get("cluster"))) is not None:
        err.append(Ask("bias", of_systems, says=False, called=BY_SYSTEM, corrected=adjust))
    for name in groups:
        how = {"gold": people.gold, "metric": about.judges, "by": name, **measure}
        err += [Ask("compare_groups", {**how, "adjust": adjust}, table=False), Ask("ci", {**how, **limits}, says=False)]
    return err


def by_system(about: Subject, alpha: float, cluster: Any = None) -> dict[str, Any] | None:
    """The call of `bias` that compares the judges' errors between a few systems, over inputs; None for others."""
    sizes = about.ds.sizes
    if not 2 <= sizes["system"] <= _MOST_GROUPS or sizes["input"] < 2 or "system" not in about.ds.indexes:
        return None
    how = {"gold": about.people.noisy, "metric": about.judges, "given": "system", "resample": "input"}
    how |= _of_inputs(about.ds, cluster)
    return {**how, "confidence_level": 1 - alpha}


def _lacking(about: Subject) -> list[Hashable]:
    """Judges without a score for some output that a rater or another metric scored."""
    there = locate.checked_scores(about.ds).notnull()
    scored = there.any("metric") | about.people.values.notnull()
    lost = scored & ~there
    lost = lost.any([dim for dim in lost.dims if dim != "metric"])
    return [label for label in about.judges if bool(lost.sel(metric=label))]


def _same(about: Subject, two: bool, limits: dict[str, Any], rng: int) -> list[Ask]:
    """Agreement beyond chance, of classes with the majority and of grades with the mean as in gates; equal grades.

    Grades are compared with those of single raters: a rater more of the same kind gives higher and lower grades than
    another equally often, which does not hold against a majority.
    """
    name = "kappa" if two else "weighted_kappa"
    on = functools.partial(on_scale, about, COEFFICIENTS[name], rng)
    agree = Ask("ci", {"level": "global", "coefficient": name, **limits}, of=on, closing=False)
    single = {"along": "rater"} if about.people.n_raters > 1 else {}
    return [
        agree,
        Ask("confusion", single, of=functools.partial(on_grades, about, rng), picture="confusion", table=False),
    ]


def about_versions(
    about: Subject, anchor: xr.Dataset, margin: float, measure: dict[str, Any], alpha: float
) -> dict[str, list[Ask]]:
    how = {"anchor": anchor, "margin": margin, "alpha": alpha}
    how |= {name: measure[name] for name in ("level", "coefficient")} | _of_inputs(about.ds, measure.get("cluster"))
    now = OnScale(about.ds, about.people.values, about.judges)
    return {"Has the judge changed?": [Ask("drift", how, of=lambda: now, table=False)]}


def about_systems(
    about: Subject, limits: dict[str, Any], adjust: str, cluster: str | None = None
) -> dict[str, list[Ask]]:
    """With clusters of inputs, systems are compared by the human scores: what a judge adds, and plans, have none."""
    ds, people = about.ds, about.people
    if cluster is not None:
        by_cluster: dict[str, Any] = {"method": "paired_t", "cluster": cluster, "adjust": adjust}
        of_people = functools.partial(judge_subject.of_people, about)
        ask = Ask(
            "compare_systems", by_cluster, of=of_people, closing=False, called="compare_systems", also=_NO_CLUSTER
        )
        return {"Which system is best?": [ask]} if ds.sizes["system"] > 1 else {}
    best, why = _most_helpful(about)
    if about.uneven:
        why = f"{why} {wording.capitalised(about.uneven)}; means and tests do not correct this.".strip()
    several = ds.sizes["system"] > 1
    how: dict[str, Any] = {"gold": people.gold, "metric": best, **_known_scale(about), **limits}
    means = Ask("system_means", how, picture="system_means", closing=not several, also=why)
    asks = [means]
    if several:
        how = {"gold": people.gold, "metric": best, "method": "ppi", "adjust": adjust}
        asks.append(Ask("compare_systems", how, closing=False))
    sd = float(people.values.std(ddof=1))
    wanted = [float(f"{part * sd:.2g}") for part in DIFFERENCES]
    of_whom = {"gold": people.gold}
    if people.several:
        of_whom = {"rating": people.rating, "target": _POWER, "cost_per_rating": 1}
    what = {"difference": wanted} if several else {"estimand": "mean", "target": 2 * wanted[0]}
    plan = Ask("plan", {**of_whom, **what}, table=False, of_package=True)
    return {
        "Which system is best?": asks,
        "How many ratings does the next study need?": [plan] if sd > 0 else [],
    }


def _most_helpful(about: Subject) -> tuple[Hashable, str]:
    """The judge that adds most to few ratings of each system, and why it is this one of several."""
    within = about.within_systems if len(about.judges) > 1 else None
    if within is None:
        return about.judges[0], ""
    found = within["correlation"]
    r = found.mean([dim for dim in found.dims if dim != "metric"]).sel(metric=about.judges).values
    if np.isnan(r).all():
        return about.judges[0], ""
    best = int(np.nanargmax(np.abs(r)))
    told = [f"{wording.name(label)} {wording.number(value)}" for label, value in zip(about.judges, r, strict=True)]
    return about.judges[best], (
        f"Of the judges {wording.name(about.judges[best])} is used, because its scores correlate most strongly with "
        f"the human scores among the outputs of a system (Pearson's r: {wording.joined(told)})."
    )


def _known_scale(about: Subject) -> dict[str, Any]:
    """The range of ratings that are labels, or passes."""
    grades, texts = scale_checks.values_of(about.people.each), golds.texts_of(about.ds)
    if len(texts) > 1 and np.isin(grades, np.arange(len(texts))).all():
        return {"scale": (0, len(texts) - 1)}
    return {"scale": (0, 1)} if list(grades) == [0, 1] else {}
