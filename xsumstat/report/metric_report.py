"""The main answers at once: the best metric, its uncertainty, and which beats which; as text and page."""

from __future__ import annotations

import itertools
import math
import sys
import textwrap
from collections.abc import Hashable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.analyses import intervals, jackknifed, metric_comparison
from xsumstat.analyses.measure import (
    AUTO,
    checked_measure,
    checked_resample,
)
from xsumstat.core import extras, validate
from xsumstat.core.caveats import Caveat
from xsumstat.core.types import CorrelationFunction
from xsumstat.dataset import chunking, facts, golds, locate, metric_choice, result_attrs, scope, value_checks, wording
from xsumstat.dataset.value_checks import Checks
from xsumstat.inference import corrections
from xsumstat.io import result_frames
from xsumstat.narrative import conclusions, methods
from xsumstat.plots import captions, forest, pvalues
from xsumstat.report import judge_report, report_data, report_page, report_pictures, text_tables
from xsumstat.report.judge_report import JudgeReport
from xsumstat.resampling import draws, threads

RESAMPLES = 9999
KINDS = ("metrics", "judge")
# Metrics that a list of those beaten may leave out, to be told as "all below" it.
_BUT_FEW = 2
# So many characters a column of names has at least.
_NARROWEST = 11


@dataclass(frozen=True, eq=False, repr=False)
class Report(report_page.Page):
    """Intervals and tests of scores; in a notebook the page that `save` writes, printed as text.

    Attributes
    ----------
    name : str
        Name of the scores.
    intervals : Dataset
        Result of `ci`.
    tests : Dataset or None
        Result of `compare_metrics`, with at least two metrics.
    tests_of_these : Dataset or None
        The same for these systems, where `tests` generalises to new ones.
    alpha : float
        Significance level.
    notes : tuple of str
        Warnings.
    data : tuple of (str, str)
        Description of the scores.
    code : str
        Python that reproduces the numbers.
    """

    question = "How far can the metrics be trusted?"

    name: str
    intervals: xr.Dataset
    tests: xr.Dataset | None
    alpha: float
    tests_of_these: xr.Dataset | None = None
    notes: tuple[str, ...] = ()
    data: tuple[tuple[str, str], ...] = ()
    code: str = ""

    def verdict(self) -> list[str]:
        """The results of tests and intervals, in sentences."""
        said = conclusions.sentences(self.intervals, closing=self.tests is None)
        every = self.comparisons()
        said_of = (conclusions.sentences(tests, closing=tests is every[-1]) for tests in every)
        kept = wording.kept_outputs(self.intervals.attrs)
        return [" ".join(said), *map(" ".join, said_of), *([f"{wording.capitalised(kept)}."] if kept else [])]

    def comparisons(self) -> list[xr.Dataset]:
        """The tests for new systems and for these, as far as they exist."""
        return [tests for tests in (self.tests, self.tests_of_these) if tests is not None]

    def paper(self) -> list[str]:
        """The methods, in sentences for a paper; ``tests.meta.methods(bibtex=True)`` has the entries."""
        return [methods.methods(result) for result in (self.intervals, *self.comparisons())]

    def measured(self) -> str:
        """The correlation: "Pearson's r with human"."""
        a = self.intervals.attrs
        return f"{captions.coefficient_label(a['coefficient'])} with {wording.shortened(wording.printable(a['gold']))}"

    def about(self) -> str:
        """One sentence on how the numbers were computed."""
        a = self.intervals.attrs
        ready = f"{self.measured()} at {a['level']} level; "
        if wording.has_intervals(self.intervals):
            ready += f"{100 * a['confidence_level']:g} % {_interval(a)}; "
        if self.tests is not None:
            correction = wording.correction_words(self.tests)
            ready += f"jackknife tests; {correction}; alpha {wording.setting(self.alpha)}; "
        ready += f"seed {a['seed']}; " if "seed" in a else ""
        return f"{ready}xsumstat {a['xsumstat_version']}."

    def tables(self) -> list[tuple[str, pd.DataFrame]]:
        """Title and table for each label of the further dims: metrics, best first, and which they beat."""
        beats = {_beats(tests, self.comparisons()): _won(tests) for tests in self.comparisons()}
        further = [str(dim) for dim in self.intervals["correlation"].dims if dim != "metric"]
        tables = []
        for labels in itertools.product(*(self.intervals.indexes[dim] for dim in further)):
            where = dict(zip(further, labels, strict=True))
            part = report_page.best_first(self.intervals.sel(where))
            rows = [self._row(part.isel(metric=at)) for at in range(part.sizes["metric"])]
            order = part.indexes["metric"]
            for name, each in beats.items():
                won = each.sel(where).transpose("metric", ...).sel(metric=order, other_metric=order).values
                for at, row in enumerate(rows):
                    row[name] = _beaten(order.tolist(), won[at].tolist(), at)
            title = ", ".join(f"{dim} {wording.shortened(label)}" for dim, label in where.items())
            tables.append((title, pd.DataFrame(rows)))
        return tables

    def _row(self, of_metric: xr.Dataset) -> dict[str, str]:
        level = f"{100 * self.intervals.attrs['confidence_level']:g} % interval"
        values = [float(of_metric[name]) for name in ("correlation", "ci_low", "ci_high")]
        known = not math.isnan(values[1])
        text, *ends = wording.alike(values if known else values[:1])
        return {
            "metric": str(of_metric["metric"].item()),
            "correlation": text,
            level: f"[{', '.join(ends)}]" if known else "none",
        }

    def text(self, width: int = 100) -> str:
        """The tables as plain text, about `width` characters wide."""
        said = [*self.verdict(), f"{wording.printable(self.name)}: {self.about()}"]
        parts = [textwrap.fill(wording.printable(text), width) for text in said]
        for title, table in self.tables():
            parts.append("\n".join(([title] if title else []) + _text_table(table, width)))
        return "\n\n".join(parts)

    def _answers(self, top: int) -> list[str]:
        measured = self.measured()
        parts = [*self._warnings(top), report_page.heading(top, "Metrics, best first")]
        for title, table in self.tables():
            parts.append(report_page.table(f"{measured}, {title}" if title else measured, table))
        parts += [f"<p>{report_page.as_html(text)}</p>\n" for text in [self._explained()] if text]
        drawn = "Intervals" if wording.has_intervals(self.intervals) else "Correlations"
        parts += [report_page.heading(top, drawn), _forest(self.intervals)]
        order = report_page.best_first(self.intervals).indexes["metric"]
        for tests in self.comparisons():
            parts.append(report_page.heading(top, f"Which metrics differ, for {scope.of(tests.attrs)}?"))
            parts.append(_matrix(tests.sel(metric=order, other_metric=order), self.alpha))
        return parts

    def _explained(self) -> str:
        said = []
        if wording.has_intervals(self.intervals):
            whom = scope.of(self.intervals.attrs)
            said.append(f"An interval shows the plausible values for {whom}.")
        if self.comparisons():
            said.append("A metric beats another if their difference is significant after the correction.")
        if len(self.comparisons()) > 1:
            said.append(
                "A metric may beat another for these systems alone: with few systems, claims about other systems are "
                "uncertain."
            )
        return " ".join(said)

    def frames(self) -> dict[str, pd.DataFrame]:
        """Intervals and tests as frames, by name."""
        names = ("correlations", "tests", "tests_of_these")
        found = (self.intervals, self.tests, self.tests_of_these)
        pairs = zip(names, found, strict=True)
        return {name: result_frames.to_frame(result) for name, result in pairs if result is not None}


def _forest(intervals: xr.Dataset) -> str:
    small = report_pictures.shortened(report_page.best_first(intervals))
    about = "Correlation of each metric" + (", with its interval" if wording.has_intervals(intervals) else "")
    alt = f"{about}. {report_pictures.intervals_in_words(report_page.best_first(intervals))}"
    return report_pictures.figure(lambda: forest.forest(small), about, alt) + "\n"


def _matrix(tests: xr.Dataset, alpha: float) -> str:
    small = report_pictures.shortened(tests)
    about = "p-values of all pairs of metrics"
    alt = f"{about}, corrected. {report_pictures.tests_in_words(tests, alpha)}"
    return report_pictures.figure(lambda: pvalues.pvalues(small, alpha=alpha), about, alt) + "\n"


def _won(tests: xr.Dataset) -> xr.DataArray:
    won: xr.DataArray = tests["significant"] & (tests["difference"] > 0)
    return won


def _beats(tests: xr.Dataset, every: list[xr.Dataset]) -> str:
    """Heading of the column of beaten metrics; with the scope if there are several."""
    whom = scope.of(tests.attrs)
    return "beats" if len(every) == 1 or whom is None else f"beats ({whom.name})"


def _beaten(labels: list[Hashable], won: list[bool], at: int) -> str:
    beaten = [place for place, wins in enumerate(won) if wins]
    if len(beaten) == len(labels) - 1 and len(beaten) > 2:
        return "all others"
    first = beaten[0] if beaten else len(labels)
    spared = [place for place in range(first, len(labels)) if not won[place] and place != at]
    if len(beaten) > 2 * (len(spared) + 2) and len(spared) <= _BUT_FEW:
        but = f" but {_names(labels, spared)}" if spared else ""
        return f"all {len(beaten)} from {_names(labels, [first])} down{but}"
    return _names(labels, beaten) or "–"


def _names(labels: list[Hashable], places: list[int]) -> str:
    return ", ".join(wording.shortened(wording.printable(str(labels[place]))) for place in places)


def _text_table(table: pd.DataFrame, width: int) -> list[str]:
    names = [str(name) for name in table]
    table = table.assign(metric=[wording.shortened(wording.printable(label)) for label in table["metric"]])
    full = [max(len(name), *map(len, table[name])) for name in names]
    wrapped = [at for at, name in enumerate(names) if name.startswith("beats")] or [len(names) - 1]
    left = width - sum(size + 2 for at, size in enumerate(full) if at not in wrapped)
    most = max(_NARROWEST, left // len(wrapped) - 2)
    widths = [min(size, most) if at in wrapped else size for at, size in enumerate(full)]
    of_heading = _wrapped(names, widths, wrapped)
    rows = [_wrapped(row, widths, wrapped) for row in table.itertuples(index=False)]
    return [*of_heading, text_tables.rule(widths), *itertools.chain.from_iterable(rows)]


def _wrapped(cells: Iterable[Any], widths: list[int], wrapped: list[int]) -> list[str]:
    lines = [
        textwrap.wrap(str(cell), size, break_long_words=False, break_on_hyphens=False) or [""]
        if at in wrapped
        else [str(cell)]
        for at, (cell, size) in enumerate(zip(cells, widths, strict=True))
    ]
    return [text_tables.padded(line, widths) for line in itertools.zip_longest(*lines, fillvalue="")]


def _interval(attrs: dict[str, Any]) -> str:
    if attrs["method"] == "jackknife":
        each = {"both": "each system and each input", "system": "each system", "input": "each input"}
        clusters = f", clustered by {' and '.join(attrs['cluster'].split())}" if "cluster" in attrs else ""
        return f"jackknife intervals ({each[attrs['resample']]} left out in turn{clusters})"
    what = "systems and inputs" if attrs["resample"] == "both" else f"{attrs['resample']}s"
    drawn = f"{what} resampled, {attrs['n_resamples']:,} times"
    return f"{attrs['interval']} bootstrap intervals ({drawn})"


@validate.public
def report(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    kind: str = "metrics",
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    name: str = "scores",
    level: str = "auto",
    coefficient: str | CorrelationFunction | None = None,
    positive: float | str | Sequence[float | str] | None = None,
    resample: str = "auto",
    cluster: str | tuple[str, ...] | None = None,
    n_resamples: int | None = None,
    confidence_level: float = 0.95,
    adjust: str = "holm",
    alpha: float = 0.05,
    margin: float | None = None,
    rng: int | np.random.SeedSequence | np.random.Generator | None = 0,
    progress: bool | None = None,
) -> Report | JudgeReport:
    """Report the main answers: which metric agrees best with the human scores, how certain that is, which is better.

    Parameters
    ----------
    {ds gold}
    kind : {"metrics", "judge"}, default "metrics"
        "judge" asks: do the raters agree? Does the judge agree with them as closely as a single rater does? In
        which direction is it biased? May it replace a rater? Which system is best? How many prompts should be
        rated next? It uses the ratings in `ds`. With a dim "run" it adds how well runs agree, and averages runs.
    {metric}
    name : str, default "scores"
        Name of the scores in the heading.
    level : {"auto", "system", "input", "global", "within_system"}, default "auto"
        Level of the correlation. "auto" is "system" from 8 systems, "input" for 3 to 7, "global" for one or two.
    coefficient : str or callable, optional
        Default "pearson", or "kendall" where "auto" is "input".
    {positive}
    resample : {"auto", "both", "system", "input"}, default "auto"
        What intervals and tests generalise to. "auto" is "both" with 5 systems or more, with additional tests for these
        systems; else "input".
    {cluster}
    n_resamples : int, default 9999
        Resamples for intervals that need the bootstrap.
    confidence_level : float, default 0.95
        Of the intervals, between 0 and 1.
    adjust : {"holm", "bonferroni", "bh", "by"}, default "holm"
        Correction of the p-values over all pairs of metrics.
    alpha : float, default 0.05
        Significance level, between 0 and 1.
    margin : float, optional
        Judge: margin of `alt_test`, by default 0.2, for experts; 0.1 is for crowd workers.
    rng : None, int, SeedSequence or Generator, default 0
        Source of the draws; one seed gives the same numbers.
    {progress}

    Returns
    -------
    Report
        A page in a notebook; ``str()`` gives text, ``.save("report.html")`` writes the page. ``.intervals``, ``.tests``
        and ``.tests_of_these`` are results of `ci` and `compare_metrics` (tests need two metrics). A page of judges has
        ``.sections`` and ``.results``. Lazy scores are computed.

    Warns
    -----
    MetaEvaluationWarning
        For everything left out or undefined; the page repeats it.

    {demo}
    >>> answers = ds.meta.report("human", metric=["judge", "rouge", "length"], level="input")
    >>> answers.tables()[0][1]["beats (systems like these)"].tolist()
    ['rouge, length', 'length', '–']
    >>> answers.save("report.html")  # doctest: +SKIP
    """
    validate.choice("kind", kind, KINDS)
    if kind == "judge":
        how: dict[str, Any] = {
            "level": level,
            "coefficient": coefficient,
            "positive": positive,
            "resample": resample,
            "cluster": cluster,
            "n_resamples": n_resamples,
            "confidence_level": confidence_level,
            "adjust": adjust,
        }
        seed = draws.seed_of(rng)
        return judge_report.make_report(ds, name, gold=gold, metric=metric, **how, alpha=alpha, margin=margin, rng=seed)
    if margin is not None:
        raise ValueError(f"margin is that of alt_test, which only kind='judge' asks; got margin={margin!r}")
    if metric is None:
        score = locate.checked_scores(ds)
        own = golds.find_gold(ds, score, gold)[2]
        judged = metric_choice.judged(ds, own)
        metric = judged if len(judged) + len(own) < score.sizes["metric"] else None
    return make_report(
        ds,
        name,
        gold=gold,
        metric=metric,
        level=level,
        coefficient=coefficient,
        positive=positive,
        resample=resample,
        cluster=cluster,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        adjust=adjust,
        alpha=alpha,
        rng=rng,
        keep_samples=True,
        progress=progress,
    )


def make_report(
    ds: xr.Dataset,
    name: str,
    *,
    gold: Any = None,
    metric: Any = None,
    level: str = "auto",
    coefficient: str | CorrelationFunction | None = None,
    positive: Any = None,
    resample: str = "auto",
    cluster: str | tuple[str, ...] | None = None,
    n_resamples: int | None = None,
    confidence_level: float = 0.95,
    adjust: str = "holm",
    alpha: float = 0.05,
    rng: Any = 0,
    keep_samples: bool = False,
    progress: bool | None = None,
    source: str = "",
) -> Report:
    """Answer the main questions about scores, with the parameters of `report`.

    `source` is Python that makes `ds`. `keep_samples` keeps those of a bootstrap that `ci` uses by default. Lazy
    intervals and tests are computed together, so scores are read once.
    """
    alpha = validate.fraction("alpha", alpha)
    validate.choice("adjust", adjust, corrections.CORRECTIONS)
    level, coefficient = report_data.usual_measure(ds, level, coefficient)
    shared: dict[str, Any] = {"metric": metric, "level": level, "coefficient": coefficient, "progress": progress}
    shared |= {"positive": positive, "cluster": cluster}
    measure = checked_measure(level, coefficient, "pairwise", "drop")
    drawn = (
        jackknifed.interval_method(measure, checked_resample(resample, measure, auto=True), None, False) == "bootstrap"
    )
    interval: dict[str, Any] = {"confidence_level": confidence_level, "keep_samples": keep_samples and drawn}
    interval |= {"n_resamples": RESAMPLES if n_resamples is None else n_resamples, "rng": draws.seed_of(rng)}
    test: dict[str, Any] = {"confidence_level": 1 - alpha, "adjust": adjust, **shared}
    tests: list[xr.Dataset] = []
    scopes = [resample, "input"] if resample == AUTO else [resample]
    with threads.one_bar(1 + len(scopes), progress) as part:
        with value_checks.held() as of_intervals, part():
            found = intervals.ci(ds, gold, resample=resample, **interval, **shared)
        with value_checks.held() as of_tests:
            for each in scopes:
                with part():
                    first = tests[0].attrs if tests else {}
                    again = first.get("scope") == scope.THESE or first.get("resample") == "system"
                    if found.sizes["metric"] > 1 and not again:
                        tests.append(metric_comparison.compare_metrics(ds, gold, resample=each, **test))
    caveats = [*of_intervals.caveats, *of_tests.caveats]
    missing = report_data.missing(ds, gold, found["metric"].values.tolist())
    if chunking.is_lazy(found["correlation"]):
        found, tests, missing, said = _computed(found, tests, missing, [of_intervals.checks, of_tests.checks], progress)
        caveats += said
    notes = tuple(dict.fromkeys(caveats))
    for note in notes:
        validate.warn(note)
    code = report_data.code(ds, gold, metric, found, tests, source=source)
    both = tests[0] if tests else None, tests[1] if len(tests) > 1 else None
    return Report(name, found, both[0], alpha, both[1], notes, report_data.about(ds, gold, found, missing), code)


def _computed(
    found: xr.Dataset,
    tests: list[xr.Dataset],
    missing: xr.Dataset,
    waiting: list[Checks],
    progress: bool | None,
) -> tuple[xr.Dataset, list[xr.Dataset], xr.Dataset, list[Caveat]]:
    """Lazy intervals and tests, and the description of their scores, computed together."""
    dask = extras.optional("dask", "dask")
    datasets = [found, *tests, missing]
    # Variable by variable: of Datasets some releases of Dask lose variables that others are made of.
    lazy = [{name: each.data for name, each in ds.data_vars.items() if chunking.is_lazy(each)} for ds in datasets]
    with _bar(progress):
        computed, said = dask.compute(lazy, [check for each in waiting for check in each.kept])
    every = [
        ds.assign({name: ds[name].variable.copy(data=values) for name, values in of_ds.items()})
        for ds, of_ds in zip(datasets, computed, strict=True)
    ]
    found, *tests, missing = every
    caveats, error = value_checks.until_error(*said)
    if error is not None:
        raise ValueError(str(error))
    used = [missing[f"used_{dim}"] for dim in facts.CELLS]
    found, *tests = (ds.assign_attrs(result_attrs.of_used(ds.attrs, used)) for ds in (found, *tests))
    return found, tests, missing, caveats


def _bar(progress: bool | None) -> AbstractContextManager[Any]:
    """Dask's bar where asked for, or after a second in a terminal or notebook."""
    if progress is False or (progress is None and not (sys.stderr is not None and sys.stderr.isatty())):
        return nullcontext()
    bar: Any = extras.optional("dask.diagnostics", "dask").ProgressBar
    return bar(minimum=0 if progress else 1, dt=0.5, out=sys.stderr)  # type: ignore[no-any-return]
