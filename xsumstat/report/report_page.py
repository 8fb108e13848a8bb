"""The report as HTML: a self-contained page, and the same in a notebook."""

from __future__ import annotations

import abc
import functools
import hashlib
import html
import os
import re
from collections.abc import Sequence
from typing import Any, Protocol

import pandas as pd
import xarray as xr

from xsumstat.core import validate
from xsumstat.dataset import scope, wording
from xsumstat.io.whole_files import write_whole
from xsumstat.plots import forest as forest_plots
from xsumstat.plots import pvalues as pvalue_plots
from xsumstat.report import report_pictures as pictures

_LIGHT = "color-scheme:light;--ground:#fff;--ink:#1f2328;--soft:#57606a;--line:#d5d9de;--code:#f3f4f6;--mark:#0b62a8"
_DARK = (
    "color-scheme:dark;--ground:#15181c;--ink:#e6e6e6;--soft:#a8b0b8;--line:#3a4048;--code:#23272d;--mark:#7cc0f5;"
    "--light:none;--dark:block"
)
_ENDINGS = ("", ".html", ".htm")
_NOTEBOOKS = ('[data-jp-theme-light="false"]', '[data-theme="dark"]', '[theme="dark"]', "body.vscode-dark")
_STYLE = """
.xsumstat-report { container-type: inline-size; width: 100%; box-sizing: border-box; max-width: 60rem;
  background: var(--ground); color: var(--ink); padding: .75rem 1rem; font: 16px/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere; text-align: left; }
.xsumstat-report :is(h1, h2, h3, h4) { line-height: 1.3; margin: 1.8rem 0 .5rem; font-weight: 600; color: inherit; }
.xsumstat-report .top { font-size: 1.5rem; margin-top: .25rem; }
.xsumstat-report .part { font-size: 1.15rem; }
.xsumstat-report p { margin: .5rem 0; max-width: 46rem; }
.xsumstat-report .about { color: var(--soft); font-size: .9rem; }
.xsumstat-report .verdict { font-size: 1.1rem; border-left: 4px solid var(--mark); padding-left: .8rem;
  margin: 1rem 0; }
.xsumstat-report .wide { overflow-x: auto; margin: .5rem 0; background:
  linear-gradient(to right, var(--ground) 40%, transparent) left / 2.5rem 100% no-repeat local,
  linear-gradient(to left, var(--ground) 40%, transparent) right / 2.5rem 100% no-repeat local,
  linear-gradient(to right, var(--line), transparent) left / .8rem calc(100% - 6px) no-repeat scroll,
  linear-gradient(to left, var(--line), transparent) right / .8rem calc(100% - 6px) no-repeat scroll; }
.xsumstat-report :focus-visible { outline: 2px solid var(--mark); outline-offset: 2px; }
.xsumstat-report .light { display: var(--light, block); }
.xsumstat-report .dark { display: var(--dark, none); }
.xsumstat-report table { border-collapse: collapse; margin: 0; font-size: inherit; color: inherit; border: 0; }
.xsumstat-report caption { text-align: left; color: var(--soft); padding-bottom: .3rem; }
.xsumstat-report tbody tr:nth-child(n) { background: none; }
.xsumstat-report :is(th, td) { text-align: left; vertical-align: top; padding: .35rem 1.2rem .35rem 0; border: 0;
  border-bottom: 1px solid var(--line); white-space: normal; max-width: none; }
.xsumstat-report th { font-weight: 600; } .xsumstat-report thead th { white-space: nowrap; }
.xsumstat-report .number { font-variant-numeric: tabular-nums; white-space: nowrap; }
.xsumstat-report dl { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: .2rem 1.2rem;
  margin: 0; }
.xsumstat-report dt { color: var(--soft); font-weight: normal; } .xsumstat-report dd { margin: 0; }
.xsumstat-report pre { background: var(--code); color: inherit; padding: .7rem .9rem; margin: .5rem 0;
  border-radius: 4px; font: .85rem/1.5 ui-monospace, monospace; white-space: pre-wrap; }
.xsumstat-report .labelled thead th { white-space: normal; vertical-align: bottom; overflow-wrap: normal; }
.xsumstat-report .labelled tbody th { min-width: 7rem; }
@container (max-width: 38rem) {
  .xsumstat-report thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .xsumstat-report :is(table, caption, tbody) { display: block; }
  .xsumstat-report tr { display: grid; grid-template-columns: minmax(0, 1fr) auto auto; column-gap: .8rem;
    border-bottom: 1px solid var(--line); padding: .35rem 0; }
  .xsumstat-report tr > * { border: 0; padding: 0; }
  .xsumstat-report .list { grid-column: 1 / -1; }
  .xsumstat-report :is(.list, .labelled td)::before { content: attr(data-label) " "; color: var(--soft); }
  .xsumstat-report .labelled :is(th, td) { grid-column: 1 / -1; white-space: normal; }
}
"""
_PAGE_STYLE = f"""
body {{ margin: 0; background: #fff; }} .xsumstat-report {{ {_LIGHT}; margin: 0 auto; }}
@media screen and (prefers-color-scheme: dark) {{
  body {{ background: #15181c; }} .xsumstat-report {{ {_DARK} }}
}}
"""
_INLINE_STYLE = f"""
.xsumstat-report {{ {_LIGHT} }}
:is({", ".join(_NOTEBOOKS)}) .xsumstat-report {{ {_DARK} }}
"""


class Page(abc.ABC):
    """Answers that print as text and are saved as a page."""

    @abc.abstractmethod
    def text(self, width: int = 100) -> str: ...  # noqa: D102
    @abc.abstractmethod
    def html(self) -> str: ...  # noqa: D102

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page into a file, whole or not at all.

        Parameters
        ----------
        path : path
            Such as "report.html"; an existing file is replaced. Its folder must exist.
        """
        target = validate.path("path", path)
        if target.suffix.lower() not in _ENDINGS:
            raise ValueError(f"path {str(target)!r}: save writes HTML, so the name must end in .html or .htm")
        folder = target.absolute().parent
        if not folder.is_dir():
            raise FileNotFoundError(f"path {str(target)!r}: there is no folder {folder}")
        write_whole(target, self.html())

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__


class _Shown(Protocol):
    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def notes(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def data(self) -> tuple[tuple[str, str], ...]: ...  # noqa: D102
    @property
    def code(self) -> str: ...  # noqa: D102
    def about(self) -> str: ...  # noqa: D102
    def paper(self) -> list[str]: ...  # noqa: D102


class Answers(_Shown, Protocol):
    @property
    def intervals(self) -> xr.Dataset: ...  # noqa: D102
    @property
    def tests(self) -> xr.Dataset | None: ...  # noqa: D102
    @property
    def alpha(self) -> float: ...  # noqa: D102
    def comparisons(self) -> list[xr.Dataset]: ...  # noqa: D102
    def measured(self) -> str: ...  # noqa: D102
    def verdict(self) -> list[str]: ...  # noqa: D102
    def tables(self) -> list[tuple[str, pd.DataFrame]]: ...  # noqa: D102


class JudgeAnswers(_Shown, Protocol):
    @property
    def sections(self) -> Sequence[Any]: ...  # noqa: D102
    @property
    def summary(self) -> Sequence[str]: ...  # noqa: D102


class TaskAnswers(_Shown, Protocol):
    """What a page shows of a shared task; see `task_report.TaskReport`."""

    def verdict(self) -> list[str]: ...  # noqa: D102
    def ranking(self) -> pd.DataFrame: ...  # noqa: D102
    def pictures(self) -> list[tuple[Any, str, str]]: ...  # noqa: D102


def page(answers: Answers) -> str:
    return document(answers.name, _body(answers, 1))


def inline(answers: Answers) -> str:
    return article(_body(answers, 3))


def document(name: str, body: str) -> str:
    title = _text(f"{name} – xsumstat")
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<style>{_STYLE}{_PAGE_STYLE}</style></head>\n<body><main class="xsumstat-report">\n'
        f"{body}</main></body></html>\n"
    )


def article(body: str) -> str:
    """A page as an output in a notebook, without effect on its style."""
    return (
        f'<article class="xsumstat-report" aria-label="Report"><style>{_STYLE}{_INLINE_STYLE}</style>\n{body}</article>'
    )


def of_judges(answers: JudgeAnswers, top: int) -> str:
    parts = [
        f'<h{top} class="top">Can the judge be trusted? <bdi>{_text(answers.name)}</bdi></h{top}>\n',
        f'<p class="about">{_text(answers.about())}</p>\n',
        f'<div class="verdict">{"".join(f"<p>{_text(line)}</p>" for line in answers.summary)}</div>\n',
    ]
    for section in answers.sections:
        said = "".join(f"<p>{_text(text)}</p>" for text in section.said)
        parts += [_heading(top, section.question), f'<div class="verdict">{said}</div>\n']
        parts += [_table(title, table, labelled=True) for title, table in section.tables]
        parts += [f"{pictures.figure(*picture)}\n" for picture in section.pictures]
    parts += _warnings(answers, top)
    return "".join([*parts, *_ending(answers, top)])


def of_tasks(answers: TaskAnswers, top: int) -> str:
    """A ranking over tasks, as HTML."""
    said = "".join(f"<p>{_text(text)}</p>" for text in answers.verdict())
    parts = [
        f'<h{top} class="top">Which metric is best? <bdi>{_text(answers.name)}</bdi></h{top}>\n',
        f'<p class="about">{_text(answers.about())}</p>\n',
        f'<div class="verdict">{said}</div>\n',
    ]
    parts += _warnings(answers, top)
    about = "Average, rank and cluster; of each task the value, and its cluster in parentheses"
    parts += [_heading(top, "Metrics, best first"), _table(about, answers.ranking(), labelled=True)]
    parts += [f"{pictures.figure(*picture)}\n" for picture in answers.pictures()]
    return "".join([*parts, *_ending(answers, top)])


def _heading(top: int, text: str) -> str:
    return f'<h{top + 1} class="part">{_text(text)}</h{top + 1}>\n'


def _warnings(answers: _Shown, top: int) -> list[str]:
    listed = [f"<li>{_text(note)}</li>" for note in answers.notes]
    return [_heading(top, "Warnings"), "<ul>", *listed, "</ul>\n"] if listed else []


def _ending(answers: _Shown, top: int) -> list[str]:
    rows = "".join(f"<dt>{_text(what)}</dt><dd>{_text(told)}</dd>" for what, told in answers.data)
    paper = (f"<p>{_text(text)}</p>\n" for text in answers.paper())
    code = f"<pre><code>{html.escape(answers.code)}</code></pre>\n"
    return [
        *(_heading(top, "The scores"), f"<dl>{rows}</dl>\n"),
        *(_heading(top, "For a paper"), *paper),
        *(_heading(top, "The same in Python"), code),
    ]


def _body(answers: Answers, top: int) -> str:
    heading = functools.partial(_heading, top)
    parts = [
        f'<h{top} class="top">How far can the metrics be trusted? <bdi>{_text(answers.name)}</bdi></h{top}>\n',
        f'<p class="about">{_text(answers.about())}</p>\n',
        '<div class="verdict">',
        *(f"<p>{_text(text)}</p>" for text in answers.verdict()),
        "</div>\n",
    ]
    parts += _warnings(answers, top)
    about = answers.measured()
    tables = (_table(f"{about}, {title}" if title else about, table) for title, table in answers.tables())
    parts += [heading("Metrics, best first"), *tables]
    parts += [f"<p>{_text(text)}</p>\n" for text in [_explained(answers)] if text]
    drawn = "Intervals" if wording.has_intervals(answers.intervals) else "Correlations"
    parts += [heading(drawn), _forest(answers.intervals)]
    order = best_first(answers.intervals).indexes["metric"]
    for tests in answers.comparisons():
        parts += [heading(f"Which metrics differ, for {scope.of(tests.attrs)}?")]
        parts += [_matrix(tests.sel(metric=order, other_metric=order), answers.alpha)]
    return "".join([*parts, *_ending(answers, top)])


def _explained(answers: Answers) -> str:
    said = []
    if wording.has_intervals(answers.intervals):
        whom = scope.of(answers.intervals.attrs)
        said.append(f"An interval shows the plausible correlations for {whom}.")
    if answers.comparisons():
        said.append("A metric beats another if their difference is significant after the correction.")
    if len(answers.comparisons()) > 1:
        said.append(
            "A metric may beat another for these systems alone: with few systems, claims about other systems are "
            "uncertain."
        )
    return " ".join(said)


def _forest(intervals: xr.Dataset) -> str:
    small = pictures.shortened(best_first(intervals))
    about = "Correlation of each metric" + (", with its interval" if wording.has_intervals(intervals) else "")
    alt = f"{about}. {pictures.intervals_in_words(best_first(intervals))}"
    return pictures.figure(lambda: forest_plots.forest(small), about, alt) + "\n"


def _matrix(tests: xr.Dataset, alpha: float) -> str:
    small = pictures.shortened(tests)
    about = "p-values of all pairs of metrics"
    alt = f"{about}, corrected. {pictures.tests_in_words(tests, alpha)}"
    return pictures.figure(lambda: pvalue_plots.pvalues(small, alpha=alpha), about, alt) + "\n"


def best_first(intervals: xr.Dataset) -> xr.Dataset:
    """Metrics by (mean) correlation; undefined ones last."""
    r = intervals["correlation"]
    return intervals.isel(metric=(-r.mean([dim for dim in r.dims if dim != "metric"])).argsort().values)


def _table(label: str, table: pd.DataFrame, *, labelled: bool = False) -> str:
    """A table; with labels in each cell for narrow pages if `labelled`."""
    names = [str(name) for name in table]
    own = "x" + hashlib.sha256(f"{label}{table.to_csv()}".encode(errors="replace")).hexdigest()[:10]
    kind = ' class="labelled"' if labelled else ""
    head = "".join(f'<th scope="col" role="columnheader">{_text(name)}</th>' for name in names)
    rows = "".join(_row(names, [str(cell) for cell in row]) for row in table.itertuples(index=False))
    return (
        f'<div class="wide" role="region" tabindex="0" aria-labelledby="{own}"><table role="table"{kind}>'
        f'<caption id="{own}">{_text(label)}</caption><thead role="rowgroup"><tr role="row">{head}</tr></thead>'
        f'<tbody role="rowgroup">{rows}</tbody></table></div>\n'
    )


def _row(names: Sequence[str], cells: Sequence[str]) -> str:
    """A row named by its first cell, with roles for narrow pages."""
    ready = [f'<th scope="row" role="rowheader"><bdi>{_breakable(cells[0])}</bdi></th>']
    for name, cell in list(zip(names, cells, strict=True))[1:]:
        listed = name.startswith("beats")
        kind = f'class="{"list" if listed else "number"}" data-label="{_text(name)}"'
        shown = _breakable(cell) if listed else _text(cell).replace("[ ", "[")
        ready.append(f'<td role="cell" {kind}>{shown}</td>')
    return f'<tr role="row">{"".join(ready)}</tr>'


def _breakable(text: str) -> str:
    """Names as HTML that may break between words."""
    return re.sub(r"([_/.:])(?=\w)", r"\1<wbr>", _text(text))


def _text(text: str) -> str:
    return html.escape(wording.printable(text))
