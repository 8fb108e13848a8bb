"""Results as tables for papers, in LaTeX and Markdown."""

from __future__ import annotations

import re
from typing import Any

import xarray as xr

from xsumstat.core import validate
from xsumstat.dataset import chunking
from xsumstat.io import result_tables, table_captions
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


@validate.public
def to_latex(
    result: xr.Dataset,
    *,
    tests: xr.Dataset | None = None,
    alpha: float = 0.05,
    digits: int | str = 2,
    caption: str | bool | None = None,
    label: str | None = None,
    columns: int | None = None,
    pages: bool = False,
) -> str:
    r"""Write a result as a LaTeX table for papers (package booktabs).

    Parameters
    ----------
    {table}
    {caption}
    label : str, optional
        Label that LaTeX refers to.
    columns : int, optional
        Most columns beside the first. A wider table continues in parts below, which repeat the first column.
    pages : bool, default False
        Write a ``longtable`` (package longtable), which breaks over pages and repeats its head.

    Returns
    -------
    str
        ``\begin{table} ... \end{table}``, or ``longtable`` with `pages`: one row per metric, best first and in bold,
        intervals as [.70, .99], chance baselines below. Additional dims are groups of columns. Tests of all pairs are
        square tables, significant p-values in bold. A note states how the numbers were computed. Other results: rows of
        `to_frame`.

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
    if set(label or "") & set("{}\\%#~^$&"):
        raise ValueError(f"label must be plain text that LaTeX can refer to, such as 'tab:ci', got {label!r}")
    pages = validate.flag("pages", pages)
    table = table_of(result, tests, alpha, digits)
    words = caption_of(result, caption)
    most = len(table.columns) if columns is None else validate.integer("columns", columns, 1)
    parts = result_tables.parts_of(table, most)
    head = [] if words is None else [rf"\caption{{{latex_text(words)}}}"]
    name = [] if label is None else [rf"\label{{{label}}}"]
    note = [r"{\footnotesize " + "\n".join(map(latex_text, table.note)) + r"\par}"] if table.note else []
    if pages:
        return "\n".join([*_over_pages(parts, head, name), *note])
    bodies = [line for part in parts for line in [*_tabular(part), r"\par\smallskip"]]
    return "\n".join([r"\begin{table}", r"\centering", *head, *bodies, *note, *name, r"\end{table}"])


@validate.public
def to_markdown(
    result: xr.Dataset,
    *,
    tests: xr.Dataset | None = None,
    alpha: float = 0.05,
    digits: int | str = 2,
    caption: str | bool | None = None,
) -> str:
    r"""Write a result as a Markdown table (GitHub's) for papers.

    Parameters
    ----------
    {table}
    {caption}

    Returns
    -------
    str
        One row per metric, best first and in bold, intervals as [.70, .99], chance baselines below. Additional dims are
        groups of columns. Tests of all pairs are square tables, significant p-values in bold. A note states how the
        numbers were computed. Other results: rows of `to_frame`.

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
    table = table_of(result, tests, alpha, digits)
    words = caption_of(result, caption)
    of_columns = [title for title, size in table.groups for _ in range(size)]
    titles = [
        _markdown(f"{group}: {column.text}" if group and group != column.text else column.text)
        for group, column in zip(("", *of_columns), table.columns, strict=True)
    ]
    sides = [":---" if side == "l" else "---:" for side in table.alignment]
    rows = [[_markdown_cell(cell) for cell in row] for row in (*table.rows, *table.foot)]
    lines = [] if words is None else [_markdown(words), ""]
    lines += [f"| {' | '.join(row)} |" for row in (titles, sides, *rows)]
    return "\n".join([*lines, "", *map(_markdown, table.note)]).rstrip()


def caption_of(result: xr.Dataset, caption: Any) -> str | None:
    if caption is True:
        return table_captions.caption(result, tests=result_tables.square_of(result).startswith("pvalue"))
    return None if caption is None or caption is False else validate.text("caption", caption) or None


def table_of(result: xr.Dataset, tests: xr.Dataset | None, alpha: Any, digits: Any) -> Table:
    alpha = validate.fraction("alpha", alpha)
    if isinstance(digits, str):
        validate.choice("digits", digits, ("auto",))
    elif validate.integer("digits", digits, 0) > 12:
        raise ValueError(f"digits must be at most 12, got {digits}")
    _check_result(result, tests)
    return result_tables.table(result, tests, alpha, result_tables.telling(result) if digits == "auto" else digits)


def _check_result(result: Any, tests: xr.Dataset | None) -> None:
    if not isinstance(result, xr.Dataset) or "analysis" not in result.attrs or not result.data_vars:
        raise ValueError("not an xsumstat result, such as ds.meta.ci(...); for a table of scores use .meta.to_frame()")
    for name, each in (("the result", result), ("tests", tests)):
        if each is not None and any(chunking.is_lazy(values) for values in each.data_vars.values()):
            raise ValueError(f"{name} is lazy (Dask) and has no numbers yet; compute it first: .compute()")


def _tabular(table: Table) -> list[str]:
    head, body = _lines(table)
    return [
        *(rf"\begin{{tabular}}{{{table.alignment}}}", r"\toprule", *head, r"\midrule", *body),
        *(r"\bottomrule", r"\end{tabular}"),
    ]


def _over_pages(parts: list[Table], caption: list[str], label: list[str]) -> list[str]:
    """A longtable for each part; the first has the caption and the label, which end in a line break there."""
    lines = []
    for at, part in enumerate(parts):
        head, body = _lines(part)
        first = ["".join([*caption, *label]) + r" \\"] if not at and (caption or label) else []
        lines += [rf"\begin{{longtable}}{{{part.alignment}}}", *first]
        lines += [r"\toprule", *head, r"\midrule", r"\endfirsthead"]
        lines += [r"\toprule", *head, r"\midrule", r"\endhead", r"\bottomrule", r"\endfoot"]
        lines += [*body, r"\end{longtable}"]
    return lines


def _lines(table: Table) -> tuple[list[str], list[str]]:
    head = []
    if any(title for title, _ in table.groups):
        head = [" & ".join(["", *_latex_groups(table)]) + r" \\", _rules(table)]
    head.append(" & ".join(latex_text(column.text) for column in table.columns) + r" \\")
    rows, foot = ([_row([_latex_cell(cell) for cell in row]) for row in each] for each in (table.rows, table.foot))
    return head, [*rows, *([r"\midrule", *foot] if foot else [])]


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
