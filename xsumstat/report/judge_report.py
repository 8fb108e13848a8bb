"""Whether a judge can be trusted, on one page: raters, judges, their errors, the best system."""

from __future__ import annotations

import functools
import importlib
import itertools
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pandas as pd
import xarray as xr

from xsumstat.analyses import clustering
from xsumstat.analyses.measure import AUTO
from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.core import extras, validate
from xsumstat.core.caveats import Caveat
from xsumstat.dataset import value_checks, wording
from xsumstat.io import result_frames, result_tables
from xsumstat.narrative import conclusions, methods, turned
from xsumstat.report import (
    judge_questions,
    judge_remarks,
    judge_runs,
    judge_subject,
    judge_summary,
    report_data,
    report_page,
    report_pictures,
    text_tables,
)
from xsumstat.report.judge_questions import Ask
from xsumstat.report.judge_subject import OnScale, People, Subject, code_of, subject

# Titles of tables; others are called by their coefficient and level.
_TITLES = {
    "agreement": "Krippendorff's alpha",
    "bias": "Change of the judge's error with the covariate, in standard deviations of the judge's scores",
    "missingness": "Missing scores, and the lowest and highest mean that they allow",
    "alt_test": "Alternative annotator test",
    "system_means": "Means of the human scores",
    "compare_systems": "p-values of the differences between systems",
}
_SCOPES = (AUTO, "both", "system", "input")
_BY_SYSTEM = (
    "How much higher the judge scores a system than the others at equal human scores, in standard deviations of the "
    "judge's scores"
)


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
    summary : tuple of str
        The short answer: a line for each judge, weak points and scope.
    notes : tuple of str
        Warnings.
    data : tuple of (str, str)
        Description of the scores.
    code : str
        Python that reproduces the numbers.
    scores : str
        What was analysed, in a sentence for a paper.
    caveats : dict of str to list of str
        Warnings of each analysis by its name.
    """

    question = "Can the judge be trusted?"

    name: str
    sections: tuple[Section, ...]
    results: dict[str, xr.Dataset]
    summary: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    data: tuple[tuple[str, str], ...] = ()
    code: str = ""
    scores: str = ""
    caveats: Mapping[str, list[Caveat]] = field(default_factory=dict)

    def about(self) -> str:
        """One sentence on what made the page."""
        return f"xsumstat {extras.package_version()}. Each answer states which systems and inputs it covers."

    def conclusion(self) -> str:
        """The short answer, a line for each judge, and one each for weak points and scope."""
        return "\n".join(self.summary)

    def paper(self) -> list[str]:
        """The scores, the estimates and the tests, a paragraph each for a paper."""
        told = [result for name, result in self.results.items() if name != judge_questions.CROWD_TEST]
        return [*filter(None, [self.scores]), *methods.together(told)]

    def text(self, width: int = 100) -> str:
        """The page as plain text, about `width` characters wide."""
        short = [textwrap.fill(wording.printable(each), width) for each in self.summary]
        parts = ["\n".join([f"{self.question} {wording.printable(self.name)}", *short])]
        for section in self.sections:
            said = [textwrap.fill(wording.printable(each), width) for each in section.said]
            tables = ["\n".join([title, *_lines(table)]) for title, table in section.tables]
            parts.append("\n".join([section.question, "-" * len(section.question), *said, *tables]))
        return "\n\n".join(parts)

    def verdict(self) -> list[str]:
        """The lines of the short answer."""
        return list(self.summary)

    def _answers(self, top: int) -> list[str]:
        parts = []
        for section in self.sections:
            parts += [report_page.heading(top, section.question), report_page.set_off(section.said)]
            parts += [report_page.table(title, table, labelled=True) for title, table in section.tables]
            parts += [f"{report_pictures.figure(*picture)}\n" for picture in section.pictures]
        return [*parts, *self._warnings(top)]

    def frames(self) -> dict[str, pd.DataFrame]:
        """What each analysis gave as a frame, by its name."""
        return {name: result_frames.to_frame(result) for name, result in self.results.items()}


def make_report(
    ds: xr.Dataset,
    name: str,
    *,
    gold: Any = None,
    metric: Any = None,
    level: str = "auto",
    coefficient: Any = None,
    positive: Any = None,
    resample: str = AUTO,
    cluster: str | tuple[str, ...] | None = None,
    n_resamples: int | None = None,
    confidence_level: float = 0.95,
    adjust: str = "holm",
    alpha: float = 0.05,
    margin: float | None = None,
    anchor: xr.Dataset | None = None,
    drift: float = 0.05,
    rng: int = 0,
    source: str = "",
) -> JudgeReport:
    validate.choice("resample", resample, _SCOPES)
    if margin is not None:
        margin = validate.number("margin", margin, 0.0, 1.0)
    about = subject(ds, gold, metric)
    ds, people = about.ds, about.people
    level, coefficient = judge_subject.measure(about, level, coefficient, positive)
    measure = {"level": level, "coefficient": coefficient, **({} if positive is None else {"positive": positive})}
    measure |= {} if resample == AUTO else {"resample": resample}
    of_inputs = clustering.inputs_of(ds["score"], cluster)
    measure |= {} if cluster is None else {"cluster": cluster}
    drawn = {"rng": rng, **({} if n_resamples is None else {"n_resamples": n_resamples})}
    shown: dict[str, xr.Dataset] = {}
    sections: list[Section] = []
    code: list[str] = []
    caveats: dict[str, list[Caveat]] = {}
    limits = {"confidence_level": confidence_level}

    def answer(questions: dict[str, list[Ask]]) -> None:
        for question, asks in questions.items():
            section, lines = _answered(about, shown, caveats, question, asks)
            sections.append(section)
            code.extend(lines)

    answer(
        judge_questions.about_judges(
            about, judge_questions.groups(ds, cluster), measure, limits, adjust, alpha, drawn, margin
        )
    )
    answer(judge_questions.about_systems(about, limits, adjust, of_inputs))
    if anchor is not None:
        answer(judge_questions.about_versions(about, judge_runs.averaged(anchor), drift, measure, alpha))
    # Groups and calibrated scores lack no cells but those that the whole lacks.
    every = list(itertools.chain.from_iterable(caveats.values()))
    notes = tuple(dict.fromkeys(value_checks.first_of_its_cause(every, ("cells_left_out",))))
    for note in notes:
        validate.warn(note)
    rows = _data(about)
    short = judge_summary.summary(about, shown, alpha)
    of_runs = [] if about.runs is None else ['runs, ds = ds, ds.mean("run", keep_attrs=True)', ""]
    python = _code(people, [*of_runs, *code], source)
    return JudgeReport(name, tuple(sections), shown, short, notes, rows, python, _for_a_paper(about, rng), caveats)


def _answered(
    about: Subject,
    shown: dict[str, xr.Dataset],
    caveats: dict[str, list[Caveat]],
    question: str,
    asks: list[Ask],
) -> tuple[Section, list[str]]:
    """A section and the code of its calls, whose results and caveats are added; refusals are reported."""
    ds, people = about.ds, about.people
    said, tables, pictures, code = [], [], [], []
    for ask in asks:
        with value_checks.held() as held:
            try:
                on = OnScale(ds, people.gold, []) if ask.of is None else ask.of()
                settings = ask.settings if ask.of is None else {"gold": on.gold, "metric": on.judges, **ask.settings}
                result = _called(on.ds, ask, settings)
            except (ValueError, ImportError) as error:  # refused, or an extra is not installed
                told = f"Not answered: {error}."
                said += [told] if told not in said else []
                continue
        key = _key(ask, shown)
        shown[key], caveats[key] = result, held.caveats
        said += conclusions.sentences(result, closing=ask.closing) if ask.says else []
        said += judge_remarks.after(ask, result, shown, about, on.gold)
        said += [ask.also] if ask.also else []
        code += [line for line in on.code if line not in code]
        call = code_of(ask.name, settings, people, on.name, ask.of_package)
        corrected = f".meta.adjust({ask.corrected!r})" if ask.corrected else ""
        code.append(f"{key.replace(' ', '_')} = {call}{corrected}")
        table = _table(result) if ask.table or ask.picture else None
        if table is not None and ask.table:
            tables.append((_title(result), table))
        if ask.picture:
            pictures.append(_picture(result, ask.picture, question, table))
    if question == judge_questions.BIAS and about.alike:
        verb = "does" if len(about.alike) == 1 else "do"
        between = "between the outputs of a prompt" if about.shared and ds.sizes["system"] > 1 else "between outputs"
        said.append(f"{wording.listed(about.alike)} {verb} not differ {between}, and cannot bias them.")
    elif not asks or question == judge_questions.BIAS and all(ask.called == judge_questions.BY_SYSTEM for ask in asks):
        said.append(_nothing(question, people))
    return Section(question, tuple(said), tuple(tables), tuple(pictures)), code


def _nothing(question: str, people: People) -> str:
    if question == judge_questions.RATERS and people.n_raters > 1:
        return f"{people.few_of_two}, so human agreement is unknown."
    if question == judge_questions.RATERS:
        return "The file has one human score for each output, so human agreement is unknown."
    if question == judge_questions.BIAS:
        return "The file has no length, position or group to test for bias."
    return "This needs human scores that vary."


def _called(ds: xr.Dataset, ask: Ask, settings: dict[str, Any]) -> xr.Dataset:
    if ask.of_package:
        found = getattr(importlib.import_module("xsumstat"), ask.name)(ds, **settings)
    else:
        found = getattr(ds.meta, ask.name)(**settings)
    return cast(xr.Dataset, found.meta.adjust(ask.corrected) if ask.corrected else found)


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
    names = [wording.quantity(result.attrs) if name == "correlation" else name for name in names]
    return pd.DataFrame(dict(enumerate(bodies))).set_axis(names, axis=1) if len(first) > 2 else None


def _title(result: xr.Dataset) -> str:
    a = result.attrs
    told = _TITLES.get(str(a["analysis"]), "")
    if a["analysis"] == "alt_test":
        return f"{told}, margin {wording.setting(float(a['margin']))}"
    if a["analysis"] == "bias" and a["given"].startswith("system="):
        told = _BY_SYSTEM.replace("higher", "better") if turned.sentence(result) else _BY_SYSTEM
    if a["analysis"] in ("bias", "compare_systems"):
        return f"{told}; {wording.correction_words(result)}"
    if told:
        return told
    label = COEFFICIENTS[a["coefficient"]].label if a["coefficient"] in COEFFICIENTS else str(a["coefficient"])
    return f"{label}, {a['level']} level"


def _picture(
    result: xr.Dataset, name: str, question: str, table: pd.DataFrame | None
) -> tuple[Callable[[], Any], str, str]:
    module = {"confusion": "systems", "repeatability": "runs"}.get(name, name)
    draw = getattr(importlib.import_module(f"xsumstat.plots.{module}"), name)
    numbers = "" if table is None else "; ".join(" ".join(map(str, row)) for row in table.itertuples(index=False))
    small = report_pictures.shortened(result)
    order = {"order": report_page.best_first(small)["metric"].values.tolist()} if name == "forest" else {}
    return functools.partial(draw, small, **order), question, wording.printable(f"{question} {numbers}")


def _lines(table: pd.DataFrame) -> list[str]:
    rows = ([wording.printable(str(cell)) for cell in row] for row in table.values.tolist())
    return text_tables.aligned([[str(name) for name in table], *rows])


def _data(about: Subject) -> tuple[tuple[str, str], ...]:
    ds, people, judges, given = about.ds, about.people, about.judges, about.given
    rows = [("systems", _sized(ds, "system")), ("prompts", _sized(ds, "input"))]
    rows.append(("judges", wording.listed(map(wording.name, judges), 8)))
    if about.runs is not None:
        n = judge_runs.n_runs(about.runs)
        lacking = judge_runs.lacking(about.runs, judges)
        fewer = f"; {lacking}, the mean is that of the others" if lacking else ""
        rows.append(
            (
                "runs of the judges",
                f"{n}; other answers use the {judge_runs.told(n)}, or their median as a grade{fewer}",
            )
        )
    if people.n_raters:
        ratings = people.each
        names = ratings.indexes["rater"] if "rater" in ratings.indexes else range(people.n_raters)
        rows.append(("raters", f"{people.n_raters}: {wording.listed(map(str, names), 8)}"))
        rated = ratings.notnull()
        each = rated.sum("rater")
        rows.append(("ratings", f"{int(rated.sum()):,}; of {each.size:,} outputs {int((each == 0).sum()):,} have none"))
    if given:
        rows.append(("covariates tested for bias", wording.listed(given, 8)))
    return tuple(rows)


def _for_a_paper(about: Subject, rng: int) -> str:
    ds, people = about.ds, about.people
    outputs = int(people.values.size)
    sizes = f"{validate.counted(ds.sizes['system'], 'system')} on {validate.counted(ds.sizes['input'], 'input')}"
    rated = f"{int(people.values.notnull().sum()):,} of them with one human score"
    if people.n_raters:
        there = int(people.each.notnull().sum())
        rated = (
            f"with {there:,} ratings by {validate.counted(people.n_raters, 'rater')} ({people.each.size - there:,} of "
            f"{people.each.size:,} possible ratings are missing)"
        )
    judges = wording.listed(map(wording.name, about.judges), 8)
    return (
        f"We analysed {outputs:,} outputs of {sizes}, {rated}, and the scores of {judges}. We used xsumstat "
        f"{extras.package_version()} (seed {rng})."
    )


def _sized(ds: xr.Dataset, dim: str) -> str:
    size = ds.sizes[dim]
    return (
        f"{size:,}: {wording.listed(map(str, ds.indexes[dim]), 6)}" if dim in ds.indexes and size <= 6 else f"{size:,}"
    )


def _key(ask: Ask, shown: dict[str, xr.Dataset]) -> str:
    if ask.called:
        return ask.called
    beside = ask.settings.get("by", ask.settings.get("coefficient"))
    return f"{ask.name} {beside}" if beside is not None and (ask.of or ask.name in shown) else ask.name


def _code(people: People, lines: list[str], source: str) -> str:
    first = ["import xsumstat", "", source or report_data.OF_SCORES]
    alone = isinstance(people.rating, xr.DataArray)
    if alone:
        first.append("# rating: the DataArray of ratings")
    if people.averaged:
        ratings = "rating" if alone else f"ds[{people.rating!r}]"
        first.append(f"gold = {ratings}.mean('rater').rename('human')")
    elif isinstance(people.gold, xr.DataArray):
        first.append("# gold: the DataArray of human scores")
    if any("anchor=anchor" in line for line in lines):
        first.append("# anchor: the scores by the older version")
    return "\n".join([*first, "", *lines])
