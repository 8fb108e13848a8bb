"""Results as a table of a web page, whose columns sort on a click: `to_html`."""

from __future__ import annotations

import html
import math
import re

import xarray as xr

from xsumstat.core import validate
from xsumstat.io import paper_tables
from xsumstat.io.result_tables import Cell, Table

# The text holds the script and the style; the page loads nothing.
_STYLE = """
.xsumstat-table {border-collapse: collapse; font: 14px/1.4 system-ui, sans-serif; font-variant-numeric: tabular-nums}
.xsumstat-table caption {text-align: left; padding-bottom: .5em}
.xsumstat-table th, .xsumstat-table td {padding: .2em .7em; text-align: left; white-space: nowrap}
.xsumstat-table .number {text-align: right}
.xsumstat-table thead tr:last-child th {border-bottom: 1px solid}
.xsumstat-table tfoot tr:first-child td {border-top: 1px solid}
.xsumstat-table button {all: unset; cursor: pointer}
.xsumstat-table button:focus-visible {outline: 2px solid}
.xsumstat-table th[aria-sort=ascending] button::after {content: " ▲"}
.xsumstat-table th[aria-sort=descending] button::after {content: " ▼"}
""".strip()
_SCRIPT = """
document.querySelectorAll(".xsumstat-table:not([data-sorts])").forEach(function (table) {
  table.dataset.sorts = "";
  const body = table.tBodies[0], heads = table.tHead.rows[table.tHead.rows.length - 1].cells;
  const rows = Array.from(body.rows);
  Array.from(heads).forEach(function (head, at) {
    head.querySelector("button").addEventListener("click", function () {
      const numbers = head.classList.contains("number");
      const before = head.getAttribute("aria-sort");
      const up = before === null ? !numbers : before === "descending";
      Array.from(heads).forEach(function (each) { each.removeAttribute("aria-sort"); });
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = function (row) { return row.cells[at].dataset.sort; };
      rows.slice().sort(function (one, other) {
        const a = key(one), b = key(other);
        if (a === "" || b === "") { return (a === "") - (b === ""); }
        const order = numbers ? a - b : a.localeCompare(b);
        return up ? order : -order;
      }).forEach(function (row) { body.appendChild(row); });
    });
  });
});
""".strip()
_NUMBER = re.compile(r"[-−]?(?:\d[\d,]*)?\.?\d+")


@validate.public
def to_html(
    result: xr.Dataset,
    *,
    tests: xr.Dataset | None = None,
    alpha: float = 0.05,
    digits: int | str = 2,
    caption: str | bool | None = None,
) -> str:
    """Write a result as an HTML table whose columns sort on a click.

    Parameters
    ----------
    {result}
    {tests.marked}
    {alpha.marked}
    {digits}
    {caption}

    Returns
    -------
    str
        ``<div> ... </div><script> ... </script>``: the rows of `to_markdown`, the chance baselines below them, and the
        note. The style and the script that sorts are part of the text, so the table works in a page without a network.
        Metrics without a value stay last in either order.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> text = ds.meta.ci("human", metric=["judge", "bleu"]).meta.to_html()
    >>> text.count("<tr>"), "http" in text
    (3, False)
    """
    table = paper_tables.table_of(result, tests, alpha, digits)
    words = paper_tables.caption_of(result, caption)
    head = [f"<caption>{html.escape(words)}</caption>"] if words is not None else []
    lines = ["<div>", f"<style>\n{_STYLE}\n</style>", '<table class="xsumstat-table">', *head]
    lines += ["<thead>", *_heads(table), "</thead>", "<tbody>"]
    lines += [_row(row, table.alignment) for row in table.rows]
    lines += ["</tbody>"]
    lines += ["<tfoot>", *(_row(row, table.alignment) for row in table.foot), "</tfoot>"] if table.foot else []
    lines += ["</table>", *(f"<p>{html.escape(text)}</p>" for text in table.note), "</div>"]
    return "\n".join([*lines, f"<script>\n{_SCRIPT}\n</script>"])


def _heads(table: Table) -> list[str]:
    groups = []
    if any(title for title, _ in table.groups):
        spans = "".join(
            f'<th colspan="{size}" scope="colgroup">{html.escape(title)}</th>' for title, size in table.groups
        )
        groups = [f"<tr><td></td>{spans}</tr>"]
    titles = zip(table.columns, table.alignment, strict=True)
    cells = (
        f'<th scope="col"{_side(side)}><button type="button">{html.escape(column.text)}</button></th>'
        for column, side in titles
    )
    return [*groups, f"<tr>{''.join(cells)}</tr>"]


def _side(side: str) -> str:
    return ' class="number"' if side == "r" else ""


def _row(row: list[Cell], alignment: str) -> str:
    return f"<tr>{''.join(_cell(cell, side) for cell, side in zip(row, alignment, strict=True))}</tr>"


def _cell(cell: Cell, side: str) -> str:
    text = html.escape(cell.text)
    text = f"<strong>{text}</strong>" if cell.bold else text
    text = f"{text}<sup>†</sup>" if cell.mark else text
    key = _key(cell.text) if side == "r" else html.escape(cell.text)
    return f'<td{_side(side)} data-sort="{key}">{text}</td>'


def _key(text: str) -> str:
    """The number that a cell sorts by; empty where it has no number."""
    found = _NUMBER.search(text)
    if found is None:
        return ""
    value = float(found[0].replace("−", "-").replace(",", ""))
    return repr(math.nextafter(value, -math.inf) if text.startswith("<") else value)
