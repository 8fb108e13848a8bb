"""Whether a judge can be trusted, on one page: annotators, judges, their errors, the best system."""

from __future__ import annotations

import functools
import importlib
import textwrap
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.analyses import calibration, scales
from xsumstat.analyses import raters as analyses_of_raters
from xsumstat.coefficients.record import Coefficient
from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.core import extras, validate
from xsumstat.core.caveats import Caveat
from xsumstat.core.method_synonyms import COLUMNS
from xsumstat.core.synonyms import spelt
from xsumstat.core.types import FloatArray
from xsumstat.dataset import calibrated, facts, leakage, value_checks, wording
from xsumstat.dataset import scores as schema
from xsumstat.io import result_frames, result_tables
from xsumstat.narrative import conclusions, methods
from xsumstat.report import report_data, report_page
from xsumstat.report.report_pictures import shortened

# Groups of inputs that are asked each by itself: so many at most, and so many inputs in each at least.
_MOST_GROUPS, _FEWEST_INPUTS = 8, 10
# So many different ratings at most are grades.
_MOST_GRADES = 10
# So many systems are named.
_FEW_LABELS = 6
# Differences of two systems that are planned for, in standard deviations of the human scores.
_DIFFERENCES, _POWER = (0.2, 0.5), 0.8
# Questions that say by themselves why they have no answer.
_ANNOTATORS, _BIAS = "Do the annotators agree?", "In which direction is the judge biased?"


@dataclass(frozen=True, eq=False)
class OnScale:
    """Judges on the human scale: scores, human scores, names, and code."""

    ds: xr.Dataset
    gold: Any
    judges: list[Hashable]
    code: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return "calibrated" if any(line.startswith("calibrated") for line in self.code) else "ds"


@dataclass(frozen=True)
class Ask:
    """A call of `ds.meta` or the package: name, arguments, picture; `of` judges on the human scale for classes."""

    name: str
    settings: dict[str, Any]
    of: Callable[[], OnScale] | None = None
    picture: str = ""
    says: bool = True
    table: bool = True
    of_package: bool = False


@dataclass(frozen=True, eq=False)
class Section:
    """A question with its answer, titled tables, and pictures (drawing, label, text)."""

    question: str
    said: tuple[str, ...]
    tables: tuple[tuple[str, pd.DataFrame], ...] = ()
    pictures: tuple[tuple[Callable[[], Any], str, str], ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class JudgeReport(report_page.Page):
    """Answers about judges; in a notebook the page that `save` writes, printed as text.

    Attributes
    ----------
    name : str
        Name of the scores.
    sections : tuple of Section
        Questions with answers.
    results : dict of str to Dataset
        Results of the analyses by name.
    notes : tuple of str
        Warnings.
    data : tuple of (str, str)
        Description of the scores.
    code : str
        Python that reproduces the numbers.
    """

    name: str
    sections: tuple[Section, ...]
    results: dict[str, xr.Dataset]
    notes: tuple[str, ...] = ()
    data: tuple[tuple[str, str], ...] = ()
    code: str = ""

    def about(self) -> str:
        """One sentence on what made the page."""
        return f"xsumstat {extras.package_version()}. Each answer states which systems and inputs it covers."

    def paper(self) -> list[str]:
        """The methods, in sentences for a paper."""
        return list(dict.fromkeys(filter(None, map(methods.methods, self.results.values()))))

    def text(self, width: int = 100) -> str:
        """The page as plain text, about `width` characters wide."""
        parts = [f"Can the judge be trusted? {wording.printable(self.name)}"]
        for section in self.sections:
            said = [textwrap.fill(wording.printable(each), width) for each in section.said]
            tables = ["\n".join([title, *_lines(table)]) for title, table in section.tables]
            parts.append("\n".join([section.question, "-" * len(section.question), *said, *tables]))
        return "\n\n".join(parts)

    def html(self) -> str:
        """The self-contained page; its pictures need matplotlib."""
        return report_page.document(self.name, report_page.of_judges(self, 1))

    def frames(self) -> dict[str, pd.DataFrame]:
        """What each analysis gave as a frame, by its name."""
        return {name: result_frames.to_frame(result) for name, result in self.results.items()}

    def _repr_html_(self) -> str:
        return report_page.article(report_page.of_judges(self, 3))


def make_report(
    ds: xr.Dataset,
    name: str,
    *,
    gold: Any = None,
    metric: Any = None,
    level: str = "auto",
    coefficient: Any = None,
    positive: Any = None,
    confidence_level: float = 0.95,
    adjust: str = "holm",
    alpha: float = 0.05,
    rng: int = 0,
    source: str = "",
) -> JudgeReport:
    about = subject(ds, gold, metric)
    ds, people, judges, given = about.ds, about.people, about.judges, about.given
    level, coefficient = report_data.usual_measure(ds, level, coefficient)
    measure = {"level": level, "coefficient": coefficient, **({} if positive is None else {"positive": positive})}
    shown: dict[str, xr.Dataset] = {}
    sections: list[Section] = []
    code: list[str] = []
    caveats: list[Caveat] = []
    limits = {"confidence_level": confidence_level}

    def answer(questions: dict[str, list[Ask]]) -> None:
        for question, asks in questions.items():
            section, lines, said = _answered(ds, people, shown, question, asks)
            sections.append(section)
            code.extend(lines)
            caveats.extend(said)

    answer(_about_judges(about, _groups(ds), measure, limits, adjust, alpha, rng))
    answer(_about_systems(ds, people, _best_judge(shown, judges), limits, adjust))
    # Groups and calibrated scores lack no cells but those that the whole lacks.
    notes = tuple(dict.fromkeys(value_checks.first_of_its_cause(caveats, ("cells_left_out",))))
    for note in notes:
        validate.warn(note)
    rows = _data(ds, people, judges, given)
    return JudgeReport(name, tuple(sections), shown, notes, rows, _code(people, code, source))


@dataclass(frozen=True, eq=False)
class Subject:
    ds: xr.Dataset
    people: People
    judges: list[Hashable]
    given: list[str]


def subject(ds: xr.Dataset, gold: Any = None, metric: Any = None) -> Subject:
    ds = ds.compute() if any(facts.is_lazy(values) for values in ds.data_vars.values()) else ds
    people = _people(ds, gold)
    given = _covariates(ds)
    judges = _judges(ds, metric, people.own, given)
    if not judges:
        known = validate.listing(ds.indexes["metric"])
        raise ValueError(
            f"there is no judge beside the human scores and what describes outputs; metrics: {known}. Name one by "
            "metric=...; if judges are among the raters of ratings, make them metrics (to_scores: metric=, ratings=)"
        )
    return Subject(ds, people, judges, given)


@dataclass(frozen=True)
class People:
    """Human scores: ratings, if any, their mean, and their names in code."""

    rating: Any
    gold: Any
    own: list[Hashable]
    n_raters: int
    values: xr.DataArray
    single: FloatArray

    @property
    def noisy(self) -> Any:
        """Ratings where outputs have several, so their noise is measurable; else the human scores."""
        return self.rating if self.n_raters > 1 else self.gold


def _people(ds: xr.Dataset, gold: Any) -> People:
    score = schema.checked_scores(ds)
    ratings = leakage.ratings_in(ds)
    if isinstance(gold, str) and gold in ratings:
        rating: Any = gold
        gold = ds.attrs.get("gold") if gold == "rating" and "gold" in ds.attrs else None
    else:
        rating = next(iter(ratings)) if len(ratings) == 1 else None
    if gold is None and "gold" not in ds.attrs and rating is not None:
        gold = ratings[rating].mean("rater").rename("human")
    values, _, own = schema.find_gold(ds, score, gold)
    if isinstance(gold, xr.DataArray) and "rater" in gold.dims:
        rating, values = gold, gold.mean("rater")
        gold = values.rename("human")
    each = None if rating is None else ratings[rating] if isinstance(rating, str) else rating
    n_raters = 0 if each is None else each.sizes["rater"]
    return People(rating, gold, own, n_raters, values, np.asarray((values if each is None else each).values, float))


def on_scale(about: Subject, coefficient: Coefficient, rng: int) -> OnScale:
    """Judges for a coefficient of agreement; those on another scale are calibrated."""
    ds, people = about.ds, about.people
    gold, code = people.gold, []
    values = people.values
    if coefficient.scale in ("classes", "two") and people.n_raters > 1:
        name = people.rating if isinstance(people.rating, str) else "rating"
        gold = values = analyses_of_raters.majority_vote(ds, people.rating)[name].rename(wording.MAJORITY)
        voted = _call_of("majority_vote", {"rating": people.rating}, people)
        code.append(f"vote = {voted}[{name!r}].rename({wording.MAJORITY!r})")
    score = schema.checked_scores(ds).sel(metric=about.judges)
    if coefficient.scale == "values":
        other = scales.elsewhere(score, values).values
    else:
        known = np.unique(values.values[~np.isnan(values.values)])
        other = (~score.isin(known) & score.notnull()).any(["system", "input"]).values
    off = [label for label, is_off in zip(about.judges, other, strict=True) if is_off]
    if off:
        how = {"gold": gold, "metric": off, "grades": coefficient.scale != "values" or None, "rng": rng}
        code.append(f"calibrated = {_call_of('calibrate', how, people)}")
        ds = calibration.calibrate(ds, **how)
    names = [calibrated.called(label) if label in off else label for label in about.judges]
    return OnScale(ds, gold, names, tuple(code))


def _covariates(ds: xr.Dataset) -> list[str]:
    """Covariates: declared ones, or names that lengths usually have."""
    kind = ds.coords.get("kind")
    told = [] if kind is None else ds.indexes["metric"][kind.values == leakage.COVARIATE].tolist()
    names = [*ds.indexes["metric"], *(name for name, each in ds.variables.items() if each.dtype.kind in "fiu")]
    return list(dict.fromkeys([*told, *(name for name in names if spelt(str(name)) in COLUMNS["covariate"])]))


def _judges(ds: xr.Dataset, metric: Any, own: Sequence[Hashable], given: Sequence[str]) -> list[Hashable]:
    if metric is not None:
        labels = ds.indexes["metric"]
        return [labels[at] for at in schema.choose(schema.checked_scores(ds), metric, "metric")]
    return [label for label in leakage.judged(ds, list(own)) if label not in given]


def _groups(ds: xr.Dataset) -> list[str]:
    """Coordinates of inputs with a few large groups."""
    words = [name for name, coord in ds.coords.items() if coord.dims == ("input",) and coord.dtype.kind in "OUT"]
    counts = {name: pd.Series(ds[name].values).value_counts() for name in words if name not in ds.indexes}
    return [
        str(name) for name, each in counts.items() if 2 <= len(each) <= _MOST_GROUPS and each.min() >= _FEWEST_INPUTS
    ]


def _about_judges(
    about: Subject,
    groups: list[str],
    measure: dict[str, Any],
    limits: dict[str, Any],
    adjust: str,
    alpha: float,
    rng: int,
) -> dict[str, list[Ask]]:
    people, given = about.people, about.given
    rated: dict[str, Any] = {"rating": people.rating}
    of_judges: dict[str, Any] = {"gold": people.gold, "metric": about.judges}
    several = people.n_raters > 1
    agree = [Ask("agreement", {**rated, **limits, "rng": rng})]
    ceiling = [
        Ask("human_ceiling", {**rated, "metric": about.judges, **measure, **limits, "rng": rng}, picture="forest")
    ]
    alone = [Ask("ci", {**of_judges, **measure, **limits}, picture="forest")]
    found = {
        _ANNOTATORS: agree if several else [],
        "Does the judge agree with the raters as well as a single rater does?": ceiling if several else alone,
    }
    if len(about.judges) > 1:
        how = {**of_judges, **measure, "adjust": adjust, "confidence_level": 1 - alpha}
        found["Which judge agrees better with human scores?"] = [
            Ask("compare_metrics", how, table=len(about.judges) > 2)
        ]
    classes = np.unique(people.single[~np.isnan(people.single)])
    if 2 <= len(classes) <= _MOST_GRADES:
        found["Does the judge give the same grades as the raters?"] = _same(about, len(classes) == 2, limits, rng)
    err = []
    if given:
        how = {"gold": people.noisy, "metric": about.judges, "given": given, "confidence_level": 1 - alpha}
        err.append(Ask("bias", how))
    for name in groups:
        how = {**of_judges, "by": name, **measure}
        err += [Ask("compare_groups", {**how, "adjust": adjust}, table=False), Ask("ci", {**how, **limits}, says=False)]
    found[_BIAS] = err
    if several:
        how = {**rated, "metric": about.judges, "alpha": alpha}
        found["May the judge replace an annotator?"] = [Ask("alt_test", how)]
    return found


def _same(about: Subject, two: bool, limits: dict[str, Any], rng: int) -> list[Ask]:
    """Agreement beyond chance: of classes with the majority, of grades with the mean, as in gates."""
    name = "kappa" if two else "weighted_kappa"

    @functools.cache
    def on(name: str) -> OnScale:
        return on_scale(about, COEFFICIENTS[name], rng)

    agree = Ask("ci", {"level": "global", "coefficient": name, **limits}, of=functools.partial(on, name))
    return [agree, Ask("confusion", {}, of=functools.partial(on, "kappa"), picture="confusion", table=False)]


def _about_systems(
    ds: xr.Dataset, people: People, best: Hashable, limits: dict[str, Any], adjust: str
) -> dict[str, list[Ask]]:
    means = Ask("system_means", {"gold": people.gold, "metric": best, **limits}, picture="system_means")
    asks = [means]
    if ds.sizes["system"] > 1:
        how = {"gold": people.gold, "metric": best, "method": "ppi", "adjust": adjust}
        asks.append(Ask("compare_systems", how))
    sd = float(people.values.std(ddof=1))
    wanted = [float(f"{part * sd:.2g}") for part in _DIFFERENCES]
    of_whom = {"gold": people.gold}
    if people.n_raters > 1:
        of_whom = {"rating": people.rating, "target": _POWER, "cost_per_rating": 1}
    what = {"difference": wanted} if ds.sizes["system"] > 1 else {"estimand": "mean", "target": 2 * wanted[0]}
    plan = Ask("plan", {**of_whom, **what}, table=False, of_package=True)
    return {
        "Which system is best?": asks,
        "How many ratings does the next study need?": [plan] if sd > 0 else [],
    }


def _answered(
    ds: xr.Dataset, people: People, shown: dict[str, xr.Dataset], question: str, asks: list[Ask]
) -> tuple[Section, list[str], list[Caveat]]:
    """A section, the code of its calls, and their caveats; refusals are reported."""
    said, tables, pictures, code, caveats = [], [], [], [], []
    for ask in asks:
        with value_checks.held() as held:
            try:
                on = OnScale(ds, people.gold, []) if ask.of is None else ask.of()
                settings = ask.settings if ask.of is None else {"gold": on.gold, "metric": on.judges, **ask.settings}
                result = _called(on.ds, ask, settings)
            except ValueError as error:
                told = f"Not answered: {error}."
                said += [told] if told not in said else []
                continue
        caveats += held.caveats
        key = _key(ask, shown)
        shown[key] = result
        said += conclusions.sentences(result) if ask.says else []
        said += _reversed(result) if ask.picture == "forest" else []
        said += _within_margin(result, shown) if ask.name == "alt_test" else []
        code += [line for line in on.code if line not in code]
        code.append(f"{key.replace(' ', '_')} = {_call_of(ask.name, settings, people, on.name, ask.of_package)}")
        table = _table(result)
        if table is not None and ask.table:
            tables.append((_title(result), table))
        if ask.picture:
            pictures.append(_picture(result, ask.picture, question, table))
    if not asks:
        said.append(_nothing(question, people))
    return Section(question, tuple(said), tuple(tables), tuple(pictures)), code, caveats


def _nothing(question: str, people: People) -> str:
    if question == _ANNOTATORS:
        return "The file has one human score for each output, so human agreement is unknown."
    if question == _BIAS:
        return "The file has no length, position or group to test for bias."
    return "This needs human scores that vary."


def _reversed(result: xr.Dataset) -> list[str]:
    """Judges that fall where human scores rise, as if lower were better."""
    falls = result["metric"].values[result["ci_high"].values < 0].tolist()
    if not falls:
        return []
    one = len(falls) == 1
    names = wording.listed(map(wording.name, falls))
    return [
        f"{names} {'correlates' if one else 'correlate'} negatively with the human scores. If lower is better, "
        f"declare it: lower_is_better={falls!r} in to_scores, --lower-is-better on the command line."
    ]


def _within_margin(test: xr.Dataset, shown: dict[str, xr.Dataset]) -> list[str]:
    """Why judges that agree less than a rater may replace one."""
    high = shown["human_ceiling"]["difference_high"] if "human_ceiling" in shown else None
    rates = test["winning_rate"]
    if high is None or rates.dims != ("metric",) or high.dims != ("metric",):
        return []
    found = [label for label in rates["metric"].values if rates.sel(metric=label) >= 0.5 and high.sel(metric=label) < 0]
    if not found:
        return []
    names = wording.listed(map(wording.name, found))
    return [
        f"{names} may do so although {'it agrees' if len(found) == 1 else 'they agree'} less with the raters than a "
        f"rater does: the test allows a margin of {wording.setting(float(test.attrs['margin']))}, as it costs less. "
        "alt_test(margin=0) allows none."
    ]


def _called(ds: xr.Dataset, ask: Ask, settings: dict[str, Any]) -> xr.Dataset:
    if ask.of_package:
        found = getattr(importlib.import_module("xsumstat"), ask.name)(ds, **settings)
    else:
        found = getattr(ds.meta, ask.name)(**settings)
    return cast(xr.Dataset, found)


def _best_judge(shown: dict[str, xr.Dataset], judges: list[Hashable]) -> Hashable:
    found = shown.get("human_ceiling", shown.get("ci"))
    if found is None:
        return judges[0]
    values = [float(found["correlation"].sel(metric=label).mean()) for label in judges]
    return judges[0] if np.isnan(values).all() else judges[int(np.nanargmax(values))]


def _table(result: xr.Dataset) -> pd.DataFrame | None:
    """Cells of a result's table as text, grouped columns joined; None for one row."""
    table = result_tables.table(result, None, 0.05, 2)
    columns = [[cell.text for cell in cells] for cells in zip(table.columns, *table.rows, *table.foot, strict=True)]
    first, *rest = columns
    names, bodies = [first[0]], [first[1:]]
    places = iter(rest)
    for title, span in table.groups or [("", 1)] * len(rest):
        group = [next(places) for _ in range(span)]
        if title and span > 1:
            names.append(title)
            bodies.append([" ".join(cells) for cells in zip(*(each[1:] for each in group), strict=True)])
        else:
            names += [title or each[0] for each in group]
            bodies += [each[1:] for each in group]
    return pd.DataFrame(dict(enumerate(bodies))).set_axis(names, axis=1) if len(first) > 2 else None


def _title(result: xr.Dataset) -> str:
    a = result.attrs
    if "coefficient" in a:
        label = COEFFICIENTS[a["coefficient"]].label if a["coefficient"] in COEFFICIENTS else str(a["coefficient"])
        return f"{label}, {a['level']} level"
    return ""


def _picture(
    result: xr.Dataset, name: str, question: str, table: pd.DataFrame | None
) -> tuple[Callable[[], Any], str, str]:
    module = {"confusion": "systems"}.get(name, name)
    draw = getattr(importlib.import_module(f"xsumstat.plots.{module}"), name)
    numbers = "" if table is None else "; ".join(" ".join(map(str, row)) for row in table.itertuples(index=False))
    return functools.partial(draw, shortened(result)), question, wording.printable(f"{question} {numbers}")


def _lines(table: pd.DataFrame) -> list[str]:
    cells = [
        [str(name) for name in table],
        *([wording.printable(str(cell)) for cell in row] for row in table.values.tolist()),
    ]
    widths = [max(len(row[at]) for row in cells) for at in range(len(cells[0]))]
    padded = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return [padded[0], "  ".join("-" * width for width in widths), *padded[1:]]


def _data(ds: xr.Dataset, people: People, judges: list[Hashable], given: list[str]) -> tuple[tuple[str, str], ...]:
    rows = [("systems", _sized(ds, "system")), ("prompts", _sized(ds, "input"))]
    rows.append(("judges", wording.listed(map(wording.name, judges), 8)))
    if people.n_raters:
        ratings = ds[people.rating] if isinstance(people.rating, str) else people.rating
        names = ratings.indexes["rater"] if "rater" in ratings.indexes else range(people.n_raters)
        rows.append(("annotators", f"{people.n_raters}: {wording.listed(map(str, names), 8)}"))
        rated = ratings.notnull()
        each = rated.sum("rater")
        rows.append(("ratings", f"{int(rated.sum()):,}; of {each.size:,} outputs {int((each == 0).sum()):,} have none"))
    if given:
        rows.append(("covariates tested for bias", wording.listed(given, 8)))
    return tuple(rows)


def _sized(ds: xr.Dataset, dim: str) -> str:
    size = ds.sizes[dim]
    return (
        f"{size:,}: {wording.listed(map(str, ds.indexes[dim]), 6)}" if dim in ds.indexes and size <= 6 else f"{size:,}"
    )


def _key(ask: Ask, shown: dict[str, xr.Dataset]) -> str:
    beside = ask.settings.get("by", ask.settings.get("coefficient"))
    return f"{ask.name} {beside}" if beside is not None and (ask.of or ask.name in shown) else ask.name


def _call_of(name: str, settings: dict[str, Any], people: People, of: str = "ds", of_package: bool = False) -> str:
    arrays = {id(people.gold): "gold", id(people.rating): "rating"}
    given = {key: value for key, value in settings.items() if value is not None}
    shown = {
        key: arrays.get(id(value), "vote") if isinstance(value, xr.DataArray) else repr(value)
        for key, value in given.items()
    }
    arguments = [f"{key}={value}" for key, value in shown.items()]
    if of_package:
        return report_data.call(f"xsumstat.{name}", [of, *arguments])
    return report_data.call(f"{of}.meta.{name}", arguments)


def _code(people: People, lines: list[str], source: str) -> str:
    first = ["import xsumstat", "", source or "# ds: the scores analysed in this report"]
    if isinstance(people.gold, xr.DataArray):
        first.append("# gold: the mean of the ratings" if people.n_raters else "# gold: the DataArray of human scores")
    return "\n".join([*first, "", *lines])
