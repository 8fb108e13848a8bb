"""Results as tables for papers, in LaTeX and Markdown."""

from __future__ import annotations

import re
from typing import Any

import xarray as xr

from xsumstat import _validate
from xsumstat.dataset import facts
from xsumstat.io import result_tables
from xsumstat.io.result_tables import Cell, Table

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "†": r"$^{\dagger}$",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
    **{sign: f"${name}$" for sign, name in (("ρ", r"\rho"), ("τ", r"\tau"), ("α", r"\alpha"), ("Δ", r"\Delta"))},
    **{sign: f"${name}$" for sign, name in (("±", r"\pm"), ("≤", r"\leq"), ("≥", r"\geq"), ("×", r"\times"))},
    **{sign: f"${name}$" for sign, name in (("∞", r"\infty"), ("−", "-"))},
}
_MARKDOWN = {**{sign: f"\\{sign}" for sign in "\\|*_`~$"}, "<": "&lt;", ">": "&gt;", "&": "&amp;"}


@_validate.public
def to_latex(
    result: xr.Dataset,
    *,
    tests: xr.Dataset | None = None,
    alpha: float = 0.05,
    digits: int = 2,
    caption: str | None = None,
    label: str | None = None,
) -> str:
    r"""Write a result as a LaTeX table for papers (package booktabs).

    Parameters
    ----------
    {table}
    caption, label : str, optional
        Caption and label of the table. Special characters of the caption are escaped.

    Returns
    -------
    str
        ``\begin{table} ... \end{table}``: one row per metric, best first and in bold, intervals as [.70, .99], and the
        chance baselines if the result has them; further dims are groups of columns. Tests of all pairs and correlations
        among metrics are square tables with significant p-values in bold. A note states how the numbers were computed.
        Other results are written as the rows of `to_frame`.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> text = ds.meta.ci("human", metric=["judge", "bleu"]).meta.to_latex(label="tab:ci")
    >>> print("\n".join(text.splitlines()[2:8]))
    \begin{tabular}{lrl}
    \toprule
    metric & correlation & 95 \% interval \\
    \midrule
    judge & \textbf{.93} & [.55, .99] \\
    bleu & .52 & [.22, .73] \\
    """
    for name, text in (("caption", caption), ("label", label)):
        _check_text(name, text)
    if label is not None and set(label) & set("{}\\%#~^$&"):
        raise ValueError(f"label must be plain text that LaTeX can refer to, such as 'tab:ci', got {label!r}")
    table = _table(result, tests, alpha, digits)
    head = []
    if any(title for title, _ in table.groups):
        head = [" & ".join(["", *_latex_groups(table)]) + r" \\", _rules(table)]
    titles = [latex_text(column.text) for column in table.columns]
    rows = [[_latex_cell(cell) for cell in row] for row in table.rows]
    lines = [r"\begin{table}", r"\centering"]
    lines += [rf"\caption{{{latex_text(caption)}}}"] if caption is not None else []
    lines += [rf"\begin{{tabular}}{{{table.alignment}}}", r"\toprule", *head, " & ".join(titles) + r" \\", r"\midrule"]
    lines += [_row(row) for row in rows]
    lines += [r"\bottomrule", r"\end{tabular}", r"\par\smallskip"]
    lines += [r"{\footnotesize " + "\n".join(map(latex_text, table.note)) + r"\par}"] if table.note else []
    lines += [rf"\label{{{label}}}"] if label is not None else []
    return "\n".join([*lines, r"\end{table}"])


@_validate.public
def to_markdown(
    result: xr.Dataset,
    *,
    tests: xr.Dataset | None = None,
    alpha: float = 0.05,
    digits: int = 2,
    caption: str | None = None,
) -> str:
    r"""Write a result as a Markdown table (GitHub's) for papers.

    Parameters
    ----------
    {table}
    caption : str, optional
        A line above the table.

    Returns
    -------
    str
        One row per metric, best first and in bold, intervals as [.70, .99], and the chance baselines if the result has
        them; further dims are groups of columns, named in the titles. Tests of all pairs and correlations among metrics
        are square tables with significant p-values in bold. A note states how the numbers were computed. Other results
        are written as the rows of `to_frame`.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> text = ds.meta.ci("human", metric=["judge", "bleu"]).meta.to_markdown()
    >>> print("\n".join(text.splitlines()[:4]))
    | metric | correlation | 95 % interval |
    | :--- | ---: | :--- |
    | judge | **.93** | [.55, .99] |
    | bleu | .52 | [.22, .73] |
    """
    _check_text("caption", caption)
    table = _table(result, tests, alpha, digits)
    of_columns = [title for title, size in table.groups for _ in range(size)]
    titles = [
        _markdown(f"{group}: {column.text}" if group and group != column.text else column.text)
        for group, column in zip(("", *of_columns), table.columns, strict=True)
    ]
    sides = [":---" if side == "l" else "---:" for side in table.alignment]
    rows = [[_markdown_cell(cell) for cell in row] for row in table.rows]
    lines = [] if caption is None else [_markdown(caption), ""]
    lines += [f"| {' | '.join(row)} |" for row in (titles, sides, *rows)]
    return "\n".join([*lines, "", *map(_markdown, table.note)]).rstrip()


def _check_text(name: str, text: Any) -> None:
    if text is not None and not isinstance(text, str):
        raise TypeError(f"{name} must be text, got {text!r}")


def _table(result: xr.Dataset, tests: xr.Dataset | None, alpha: Any, digits: Any) -> Table:
    alpha = _validate.fraction("alpha", alpha)
    if _validate.integer("digits", digits, 0) > 12:
        raise ValueError(f"digits must be at most 12, got {digits}")
    if not isinstance(result, xr.Dataset) or "analysis" not in result.attrs or not result.data_vars:
        raise ValueError("not an xsumstat result, such as ds.meta.ci(...); for a table of scores use .meta.to_frame()")
    for name, each in (("the result", result), ("tests", tests)):
        if each is not None and any(facts.is_lazy(values) for values in each.data_vars.values()):
            raise ValueError(f"{name} is lazy (Dask) and has no numbers yet; compute it first: .compute()")
    return result_tables.table(result, tests, alpha, digits)


def _row(cells: list[str]) -> str:
    """A line of the body; LaTeX would read a bracket at its start as an argument of the previous line."""
    first = f"{{[}}{cells[0][1:]}" if cells[0].startswith("[") else cells[0]
    return " & ".join([first, *cells[1:]]) + r" \\"


def latex_text(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in " ".join(text.split()))


def _latex_cell(cell: Cell) -> str:
    text = latex_text(cell.text)
    if cell.number or text.startswith("["):
        text = re.sub(r"(?<!-)-(?=[.\d])", "$-$", text)
    text = rf"\textbf{{{text}}}" if cell.bold else text
    return f"{text}$^{{\\dagger}}$" if cell.mark else text


def _latex_groups(table: Table) -> list[str]:
    return [
        rf"\multicolumn{{{size}}}{{c}}{{{latex_text(title)}}}" if title else "&" * (size - 1)
        for title, size in table.groups
    ]


def _rules(table: Table) -> str:
    rules, first = [], 2
    for title, size in table.groups:
        rules += [rf"\cmidrule(lr){{{first}-{first + size - 1}}}"] if title else []
        first += size
    return "".join(rules)


def _markdown(text: str) -> str:
    return "".join(_MARKDOWN.get(sign, sign) for sign in " ".join(text.split()))


def _markdown_cell(cell: Cell) -> str:
    text = _markdown(cell.text)
    text = f"**{text}**" if cell.bold else text
    return f"{text}†" if cell.mark else text
