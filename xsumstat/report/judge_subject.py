"""What a judge report is about: human scores, judges, covariates, and judges on the human scale."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import calibration, intervals, rater_severity, scales
from xsumstat.analyses import raters as analyses_of_raters
from xsumstat.analyses.rater_severity import Severity
from xsumstat.coefficients import table
from xsumstat.coefficients.record import Coefficient
from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.core import arguments, validate
from xsumstat.core.method_synonyms import COLUMNS
from xsumstat.core.synonyms import spelt
from xsumstat.core.types import TOLERANCE, BoolArray, FloatArray
from xsumstat.dataset import (
    align,
    calibrated,
    chunking,
    facts,
    golds,
    locate,
    metric_choice,
    scale_checks,
    value_checks,
    wording,
)
from xsumstat.report import judge_runs, report_data

# A judge's share of tied pairs of systems beyond a rater's, from which on ties must count as errors: correlations leave
# them out or divide by them, and a judge of two grades can then seem to agree more than the rater it was made of. Of a
# judge that ties so much less, Kendall's tau-b is lower for its fine scale alone; Pearson's r hardly depends on it.
_MORE_TIES, _WITH_TIES, _WITHOUT_TIES = 0.1, "acc_eq", "pearson"
# Share of tied pairs of judges that give grades, as raters do; two classes tie half of the pairs.
_OF_GRADES = 0.35
# The share of rated outputs, or their number, from which on those with ratings by two raters tell how raters agree.
_SEVERAL, _MANY = 0.1, 30
# What code calls the scores with the median run of judges that give grades.
GRADED = "graded"


@dataclass(frozen=True, eq=False)
class Subject:
    """Scores, of several runs their mean; human scores, judges and covariates; and the scores of each run, if any."""

    ds: xr.Dataset
    people: People
    judges: list[Hashable]
    given: list[str]
    runs: xr.Dataset | None = None
    alike: Sequence[str] = ()  # covariates that do not differ between the outputs that are compared
    shared: bool = True  # some prompt has outputs of two systems with scores

    @functools.cached_property
    def within_systems(self) -> xr.Dataset | None:
        """How the judges correlate with the human scores among the outputs of a system; None without such scores."""
        if "input" not in self.people.values.dims or self.ds.sizes["input"] < 2:
            return None
        with value_checks.held():
            return intervals.ci(self.ds, self.people.gold, metric=self.judges, level="within_system")

    @functools.cached_property
    def severity(self) -> Severity | None:
        """The most severe rater, or the mildest."""
        return Severity.of(self.people.as_given, self.people.values)

    @functools.cached_property
    def uneven(self) -> str:
        """How the raters' severity moves the systems' means, or that it is unknown; empty if neither."""
        each = self.people.as_given
        if self.people.n_raters < 2 or set(each.dims) != {"rater", *facts.CELLS}:
            return ""
        return rater_severity.unknown(each) or ("" if self.severity is None else self.severity.effect)

    @functools.cached_property
    def unrated(self) -> list[Hashable]:
        """Systems without a human score."""
        values = self.people.values
        if "system" not in values.indexes:
            return []
        there = values.notnull().any([dim for dim in values.dims if dim != "system"]).values
        return list(values.indexes["system"][~there])

    @functools.cached_property
    def tied_pairs(self) -> tuple[FloatArray, float]:
        """The share of pairs of systems with one score, by each judge and by a rater."""
        judges = _tied_shares(locate.checked_scores(self.ds).sel(metric=self.judges), "metric").values
        return judges, float(_tied_shares(self.people.each))

    @functools.cached_property
    def usual_ties(self) -> float:
        """The share that those of the judges are compared with."""
        judges, people = self.tied_pairs
        there = judges[judges < 1]
        if self.people.n_raters > 1 or not len(there):
            return people
        # One human score may be a mean, which ties with none: several judges are compared with each other.
        return max(people, float(min(_OF_GRADES, there.max()) if len(there) > 1 else there[0]))

    @property
    def coarse(self) -> BoolArray:
        """Which judges tie systems far more often; one that ties all has no correlation that could mislead."""
        judges, _ = self.tied_pairs
        return np.asarray((judges > self.usual_ties + _MORE_TIES) & (judges < 1))

    @functools.cached_property
    def finer(self) -> list[Hashable]:
        """Judges that tie systems far less often, as their scale is finer."""
        least = self.usual_ties - _MORE_TIES
        return [label for label, share in zip(self.judges, self.tied_pairs[0], strict=True) if share < least]


def subject(ds: xr.Dataset, gold: Any = None, metric: Any = None) -> Subject:
    ds = ds.compute() if any(chunking.is_lazy(values) for values in ds.data_vars.values()) else ds
    runs = ds if judge_runs.n_runs(ds) > 1 else None
    ds = judge_runs.averaged(ds)
    people = _people(ds, gold)
    _check_one_table(locate.checked_scores(ds), people)
    if not bool(people.values.notnull().any()):
        raise ValueError(_unrated(people))
    given = _covariates(ds)
    judges = _judges(ds, metric, people.own, given)
    if not judges:
        known = validate.listing(ds.indexes["metric"])
        among = arguments.only_in_python(
            "; if judges are among the raters, make them metrics (to_scores: metric=, ratings=)"
        )
        raise ValueError(
            f"there is no judge beside the human scores and what describes outputs; metrics: {known}. Name one by "
            f"{arguments.given('metric')}{among}"
        )
    shared = facts.share_inputs(ds["score"].sel(metric=judges), people.values)
    alike = [name for name in given if not _may_bias(ds, name, within=shared and ds.sizes["system"] > 1)]
    given = [name for name in given if name not in alike]
    return Subject(ds, people, judges, given, runs, alike, shared)


def _check_one_table(score: xr.DataArray, people: People) -> None:
    """Raise if scores or human scores have a dim more, as criteria or languages."""
    sizes = {**score.sizes, **people.values.sizes}
    for dim in sizes:
        if dim not in ("metric", *facts.CELLS):
            of = score if dim in score.dims else people.values
            label = of.indexes[dim][0] if dim in of.indexes else 0
            choose = f"ds.{'sel' if dim in of.indexes else 'isel'}({dim}={label!r}).meta.report(kind='judge')"
            choose = choose if arguments.in_python() else f"--only {dim}={label}"
            raise ValueError(
                f"a judge report covers one score for each output, and each has {sizes[dim]} along {dim!r}. Choose "
                f"one: {choose}"
            )


@dataclass(frozen=True)
class People:
    """Human scores: ratings (`each`; else the human scores), their mean (`values`), and their names in code.

    The gold is `averaged` where it was made of ratings that have no human score beside them.
    """

    rating: Any
    gold: Any
    own: list[Hashable]
    n_raters: int
    values: xr.DataArray
    each: xr.DataArray
    averaged: bool

    @property
    def as_given(self) -> xr.DataArray:
        """Ratings as they came, not turned where lower is better."""
        return -self.each if align.is_turned(self.values) else self.each

    @property
    def several(self) -> bool:
        """Whether enough outputs have ratings by two raters to compare raters with each other."""
        if self.n_raters < 2:
            return False
        return self._n_several >= min(_MANY, _SEVERAL * int(self.each.notnull().any("rater").sum()))

    @property
    def _n_several(self) -> int:
        return int((self.each.notnull().sum("rater") > 1).sum())

    @property
    def few_of_two(self) -> str:
        """That too few outputs have ratings by two raters."""
        return f"{'Hardly any' if self._n_several else 'No'} output has ratings by two raters"

    @property
    def noisy(self) -> Any:
        """Ratings where outputs have several, so their noise is measurable; else the human scores."""
        return self.rating if self.several else self.gold


def measure(about: Subject, level: str, coefficient: Any, positive: Any = None) -> tuple[str, Any]:
    """The usual level and coefficient; another one if a judge ties systems far more often than people do, or less."""
    level, usual = report_data.usual_measure(about.ds, level, coefficient, shared=about.shared)
    if coefficient is None and usual == "kendall":
        usual = _WITH_TIES if about.coarse.any() else _WITHOUT_TIES if about.finer else usual
    scale_checks.check_positive(table.get(usual), positive)
    return level, usual


def _tied_shares(values: xr.DataArray, *keep: str) -> xr.DataArray:
    """The share of tied pairs of systems, of each label of the dims to keep; NaN without pairs."""
    pairs = itertools.combinations([values.isel(system=at, drop=True) for at in range(values.sizes["system"])], 2)
    apart = xr.concat([abs(one - other) for one, other in pairs], "_pair", coords="minimal", compat="override")
    beside = [dim for dim in apart.dims if dim not in keep]
    return (apart <= TOLERANCE).sum(beside) / apart.notnull().sum(beside)


def _people(ds: xr.Dataset, gold: Any) -> People:
    score = locate.checked_scores(ds)
    ratings = golds.ratings_in(ds)
    if isinstance(gold, str) and gold in ratings:
        rating: Any = gold
        gold = ds.attrs.get("gold") if gold == "rating" and "gold" in ds.attrs else None
    else:
        rating = next(iter(ratings)) if len(ratings) == 1 else None
    averaged = gold is None and "gold" not in ds.attrs and rating is not None
    if averaged:
        gold = ratings[rating].mean("rater").rename("human")
    if isinstance(gold, xr.DataArray):
        gold = align.beside(score, locate.checked(gold, "gold"))
    values, _, own = golds.find_gold(ds, score, gold)
    if isinstance(gold, xr.DataArray) and "rater" in gold.dims:
        rating, values, averaged = gold, gold.mean("rater"), True
        gold = values.rename("human")
    each = None if rating is None else ratings[rating] if isinstance(rating, str) else rating
    each = None if each is None else analyses_of_raters.higher_is_better(ds, each)
    n_raters = 0 if each is None else each.sizes["rater"]
    return People(rating, gold, own, n_raters, values, (values if each is None else each).astype(float), averaged)


def _unrated(people: People) -> str:
    if people.n_raters and "rater" in people.each.indexes:
        return f"nobody rated an output: the raters {validate.listing(people.each.indexes['rater'])} have no ratings"
    return "no output has a human score: every value is NaN"


def on_scale(about: Subject, coefficient: Coefficient, rng: int) -> OnScale:
    """Judges for a coefficient of agreement; those on another scale are calibrated. Classes are those of the vote."""
    ds, people = about.ds, about.people
    gold, values = people.gold, people.values
    code: tuple[str, ...] = ()
    if coefficient.scale != "values" and people.n_raters > 1:
        name = people.rating if isinstance(people.rating, str) else "rating"
        gold = values = analyses_of_raters.majority_vote(ds, people.rating)[name].rename(wording.MAJORITY)
        call = code_of("majority_vote", {"rating": people.rating}, people)
        code = (f"vote = {call}[{name!r}].rename({wording.MAJORITY!r})",)
    if coefficient.scale == "values":
        score = locate.checked_scores(ds).sel(metric=about.judges)
        return _calibrated(about, gold, scales.elsewhere(score, values), code, rng=rng)
    graded, of_runs = _graded(about, values)
    return _calibrated(graded, gold, _of_other_classes(graded, values), code + of_runs, grades=True, rng=rng)


def of_people(about: Subject) -> OnScale:
    """The human scores as the only metric, to compare systems by them alone."""
    ds, gold = about.ds, about.people.gold
    gold = ds.attrs.get("gold") if gold is None else gold
    if isinstance(gold, str) and gold in ds.indexes["metric"]:
        return OnScale(ds, None, [gold])
    human, shown = (gold, "gold") if isinstance(gold, xr.DataArray) else (ds[gold], f"ds[{gold!r}]")
    lower = {"higher_is_better": ("metric", [False])} if align.is_turned(about.people.values) else {}
    people = human.expand_dims(metric=["human"]).assign_coords(lower).to_dataset(name="score")
    turned = ".assign_coords(higher_is_better=('metric', [False]))" if lower else ""
    line = f"people = {shown}.expand_dims(metric=['human']){turned}.to_dataset(name='score')"
    return OnScale(people, None, ["human"], (line,), called="people")


def on_grades(about: Subject, rng: int) -> OnScale:
    """Judges with the grades of single raters; those with other values get the distribution of these grades."""
    people = about.people
    if people.n_raters < 2:
        return on_scale(about, COEFFICIENTS["accuracy"], rng)
    graded, of_runs = _graded(about, people.each)
    other = _of_other_classes(graded, people.each)
    return _calibrated(graded, people.rating, other, of_runs, method="quantile", grades=True, rng=rng)


def graded_scores(about: Subject) -> xr.DataArray:
    """The judges' scores; of runs that give the raters' grades the median."""
    return align.oriented(locate.checked_scores(_graded(about, about.people.each)[0].ds), ("metric",))


def _graded(about: Subject, gold: xr.DataArray) -> tuple[Subject, tuple[str, ...]]:
    """Judges whose runs give the raters' grades have their median, as a mean of grades is none; and this as code."""
    if about.runs is None:
        return about, ()
    each_run = [replace(about, ds=about.runs.isel(run=at)) for at in range(about.runs.sizes[judge_runs.RUN])]
    off = np.any([_of_other_classes(one, gold).values for one in each_run], axis=0)
    on = [label for label, is_off in zip(about.judges, off.tolist(), strict=True) if not is_off]
    if not on:
        return about, ()
    lines = (
        "# of grades the median run, as their mean is no grade; of an even number of runs the last does not count",
        'there = runs["score"].notnull()',
        'odd = (there.sum("run") % 2 == 1) | (there.cumsum("run") < there.sum("run"))',
        'median = runs["score"].where(odd).median("run")',
        f'{GRADED} = ds.assign(score=ds["score"].where(~ds["metric"].isin({on!r}), median))',
    )
    return replace(about, ds=judge_runs.with_medians(about.ds, about.runs, on)), lines


def _of_other_classes(about: Subject, gold: xr.DataArray) -> xr.DataArray:
    score = align.oriented(locate.checked_scores(about.ds).sel(metric=about.judges), ("metric",))
    found = scale_checks.with_other_classes(score, gold, golds.texts_of(about.ds))
    return found | scales.elsewhere(score, gold)


def _calibrated(about: Subject, gold: Any, which: xr.DataArray, code: tuple[str, ...], **how: Any) -> OnScale:
    """All judges, of whom those in `which` (metric) are calibrated."""
    off = [label for label, is_off in zip(about.judges, which.values.tolist(), strict=True) if is_off]
    if not off:
        return OnScale(about.ds, gold, about.judges, code)
    given = {"gold": gold, "metric": off, **how}
    line = f"calibrated = {code_of('calibrate', given, about.people, OnScale.called_by(code))}"
    names = [calibrated.called(label) if label in off else label for label in about.judges]
    return OnScale(calibration.calibrate(about.ds, **given), gold, names, (*code, line))


def code_of(name: str, settings: dict[str, Any], people: People, of: str = "ds", of_package: bool = False) -> str:
    """A call as Python; arrays by what the code calls them."""
    arrays = {id(people.values): repr(people.gold), id(people.rating): "rating"}
    arrays |= {id(people.gold): "gold"} if isinstance(people.gold, xr.DataArray) else {}
    given = {key: value for key, value in settings.items() if value is not None}
    shown = {
        key: arrays.get(id(value), "vote")
        if isinstance(value, xr.DataArray)
        else "anchor"
        if isinstance(value, xr.Dataset)
        else repr(value)
        for key, value in given.items()
    }
    settled = [f"{key}={value}" for key, value in shown.items()]
    if of_package:
        return report_data.call(f"xsumstat.{name}", [of, *settled])
    return report_data.call(f"{of}.meta.{name}", settled)


def _covariates(ds: xr.Dataset) -> list[str]:
    """Covariates: declared ones, or names that lengths usually have."""
    kind = ds.coords.get("kind")
    told = [] if kind is None else ds.indexes["metric"][kind.values == metric_choice.COVARIATE].tolist()
    names = [*ds.indexes["metric"], *(name for name, each in ds.variables.items() if each.dtype.kind in "fiu")]
    return list(dict.fromkeys([*told, *(name for name in names if spelt(str(name)) in COLUMNS["covariate"])]))


def _may_bias(ds: xr.Dataset, name: str, *, within: bool) -> bool:
    """Whether it differs `within` inputs, as a prompt's length does not, or else between any outputs."""
    values = ds["score"].sel(metric=name) if name in ds.indexes["metric"] else ds[name]
    if not within:
        return bool(values.max() > values.min())
    return "system" in values.dims and bool((values.max("system") > values.min("system")).any())


def _judges(ds: xr.Dataset, metric: Any, own: Sequence[Hashable], given: Sequence[str]) -> list[Hashable]:
    if metric is not None:
        labels = ds.indexes["metric"]
        return [labels[at] for at in metric_choice.choose(locate.checked_scores(ds), metric, "metric")]
    return [label for label in metric_choice.judged(ds, list(own)) if label not in given]


@dataclass(frozen=True, eq=False)
class OnScale:
    """Judges on the human scale, or of each run: scores, human scores, names, code, and what the code calls scores."""

    ds: xr.Dataset
    gold: Any
    judges: list[Hashable]
    code: tuple[str, ...] = ()
    called: str = ""

    @property
    def name(self) -> str:
        return self.called or self.called_by(self.code)

    @staticmethod
    def called_by(code: Sequence[str]) -> str:
        """What these lines of code made last."""
        made = (name for name in ("calibrated", GRADED) if any(line.startswith(f"{name} =") for line in code))
        return next(made, "ds")
