"""Tables as text: columns as wide as their cells, a rule below the heads."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]], *, right: bool = False) -> list[str]:
    """Lines of a table whose first row has the heads; all columns but the first flush right if asked."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    head, *body = (padded(row, widths, right=right) for row in rows)
    return [head, rule(widths), *body]


def padded(cells: Sequence[str], widths: Sequence[int], *, right: bool = False) -> str:
    first, *others = (f"{cell:{'>' if right and at else '<'}{widths[at]}}" for at, cell in enumerate(cells))
    return "  ".join([first, *others]).rstrip()


def rule(widths: Sequence[int]) -> str:
    return "  ".join("-" * width for width in widths)
