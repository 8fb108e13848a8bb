"""The report as HTML: a self-contained page, and the same in a notebook."""

from __future__ import annotations

import abc
import hashlib
import html
import os
import re
from collections.abc import Sequence
from typing import ClassVar

import pandas as pd
import xarray as xr

from xsumstat.core import validate
from xsumstat.dataset import wording
from xsumstat.io.whole_files import write_whole

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

    question: ClassVar[str]
    name: str
    notes: tuple[str, ...]
    data: tuple[tuple[str, str], ...]
    code: str

    @abc.abstractmethod
    def about(self) -> str: ...  # noqa: D102
    @abc.abstractmethod
    def verdict(self) -> list[str]: ...  # noqa: D102
    @abc.abstractmethod
    def paper(self) -> list[str]: ...  # noqa: D102
    @abc.abstractmethod
    def text(self, width: int = 100) -> str: ...  # noqa: D102
    @abc.abstractmethod
    def _answers(self, top: int) -> list[str]: ...

    def conclusion(self) -> str:
        """The main results in sentences, a line for each question."""
        return "\n".join(self.verdict())

    def html(self, rules: Sequence[str] = ()) -> str:
        """The self-contained page, with what became of rules, if any; its pictures need matplotlib."""
        return document(self.name, self._body(1, rules))

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

    def _body(self, top: int, rules: Sequence[str] = ()) -> str:
        """The page from its heading, of this level, to the code; `_answers` differ, the rest does not."""
        rows = "".join(f"<dt>{as_html(what)}</dt><dd>{as_html(told)}</dd>" for what, told in self.data)
        parts = [
            f'<h{top} class="top">{self.question} <bdi>{as_html(self.name)}</bdi></h{top}>\n',
            f'<p class="about">{as_html(self.about())}</p>\n',
            set_off(self.verdict()),
            *((heading(top, "Requirements"), set_off(rules)) if rules else ()),
            *self._answers(top),
            *(heading(top, "The scores"), f"<dl>{rows}</dl>\n"),
            *(heading(top, "For a paper"), *(f"<p>{as_html(text)}</p>\n" for text in self.paper())),
            *(heading(top, "The same in Python"), f"<pre><code>{html.escape(self.code)}</code></pre>\n"),
        ]
        return "".join(parts)

    def _warnings(self, top: int) -> list[str]:
        listed = [f"<li>{as_html(note)}</li>" for note in self.notes]
        return [heading(top, "Warnings"), "<ul>", *listed, "</ul>\n"] if listed else []

    def _repr_html_(self) -> str:
        return article(self._body(3))

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__


def document(name: str, body: str) -> str:
    title = as_html(f"{name} – xsumstat")
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


def heading(top: int, text: str) -> str:
    return f'<h{top + 1} class="part">{as_html(text)}</h{top + 1}>\n'


def set_off(said: Sequence[str]) -> str:
    """Sentences that are set off."""
    return f'<div class="verdict">{"".join(f"<p>{as_html(text)}</p>" for text in said)}</div>\n'


def best_first(intervals: xr.Dataset) -> xr.Dataset:
    """Metrics by (mean) correlation; undefined ones last."""
    r = intervals["correlation"]
    return intervals.isel(metric=(-r.mean([dim for dim in r.dims if dim != "metric"])).argsort().values)


def table(label: str, frame: pd.DataFrame, *, labelled: bool = False) -> str:
    """A table; with labels in each cell for narrow pages if `labelled`."""
    names = [str(name) for name in frame]
    own = "x" + hashlib.sha256(f"{label}{frame.to_csv()}".encode(errors="replace")).hexdigest()[:10]
    kind = ' class="labelled"' if labelled else ""
    head = "".join(f'<th scope="col" role="columnheader">{as_html(name)}</th>' for name in names)
    rows = "".join(_row(names, [str(cell) for cell in row]) for row in frame.itertuples(index=False))
    return (
        f'<div class="wide" role="region" tabindex="0" aria-labelledby="{own}"><table role="table"{kind}>'
        f'<caption id="{own}">{as_html(label)}</caption><thead role="rowgroup"><tr role="row">{head}</tr></thead>'
        f'<tbody role="rowgroup">{rows}</tbody></table></div>\n'
    )


def _row(names: Sequence[str], cells: Sequence[str]) -> str:
    """A row named by its first cell, with roles for narrow pages."""
    ready = [f'<th scope="row" role="rowheader"><bdi>{_breakable(cells[0])}</bdi></th>']
    for name, cell in list(zip(names, cells, strict=True))[1:]:
        listed = name.startswith("beats")
        kind = f'class="{"list" if listed else "number"}" data-label="{as_html(name)}"'
        shown = _breakable(cell) if listed else as_html(cell).replace("[ ", "[")
        ready.append(f'<td role="cell" {kind}>{shown}</td>')
    return f'<tr role="row">{"".join(ready)}</tr>'


def _breakable(text: str) -> str:
    """Names as HTML that may break between words."""
    return re.sub(r"([_/.:])(?=\w)", r"\1<wbr>", as_html(text))


def as_html(text: str) -> str:
    return html.escape(wording.printable(text))
