"""Panels of a picture: their axes, titles, legend and notes."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.core import extras, validate
from xsumstat.plots import captions, style

INCHES = 3.8  # across a panel of rows
_ACROSS = 4  # panels beside each other
_INCHES_A_SIGN, _INCHES_A_LINE = 0.059, 0.143  # of words of the size NOTE
_INCHES_A_DIGIT = 0.08  # of the numbers of an axis
_TITLES = {
    "other_metric": "vs {}",
    "n_systems": "{} systems",
    "n_inputs": "{} inputs",
    "n_raters": "{} raters",
    "noise": "noise {}",
}


def panels_of(result: xr.Dataset, dims: list[str]) -> list[tuple[str, xr.Dataset]]:
    """Title and part of the result for each combination of labels of the given dims."""
    choices = itertools.product(*(range(result.sizes[dim]) for dim in dims))
    panels = []
    for places in choices:
        where = dict(zip(dims, places, strict=True))
        names = [str(result[dim].values[at]) if dim in result.coords else f"{dim} {at}" for dim, at in where.items()]
        names = [
            _TITLES.get(dim, "{}").format(captions.clipped(name, captions.LONGEST_TITLE))
            for dim, name in zip(dims, names, strict=True)
        ]
        panels.append((", ".join(names), result.isel(where)))
    return panels


def label_width(labels: xr.DataArray) -> float:
    return 0.4 + 0.075 * max(map(len, captions.texts(labels)), default=0)


def panel_title(axis: Any, name: str, inches: float) -> None:
    """Title of a panel, wrapped to its width."""
    parts = name.split("\n")
    lines = [textwrap.fill(line, max(12, int(inches / 0.075))) for line in parts]
    fontsize = 10 if max(map(len, parts)) * 0.08 < inches else 8.5
    axis.set_title("\n".join(lines), fontsize=fontsize, color=style.ink(), **style.PLAIN)


def grid_of(n_panels: int) -> tuple[int, int]:
    return min(n_panels, _ACROSS), -(-n_panels // _ACROSS)


def emphasise(axis: Any, labels: Sequence[Any], highlight: Any) -> None:
    """A tinted row and a bold name for each of the metrics to highlight, in rows of `labels`."""
    wanted = [] if highlight is None else validate.listed(highlight)
    names = axis.get_yticklabels()
    for row, label in enumerate(labels):
        if label in wanted:
            axis.axhspan(row - 0.5, row + 0.5, color=style.colour(4), alpha=0.18, lw=0, zorder=0.3)
            if row < len(names):
                names[row].set_fontweight("bold")


def finished(
    axes: list[Any],
    ax: Any,
    *,
    title: str | None = None,
    items: Sequence[tuple[str, Mapping[str, Any]]] = (),
    heading: str = "",
    notes: Sequence[str] = (),
) -> Any:
    """The axes to return, with title, legend (`items` under `heading`), and notes in small print below.

    If the user gave `ax`, these belong to it, and the rest of its figure stays unchanged. Empty notes are skipped.
    """
    note = "; ".join(each for each in notes if each)
    _keep_names_plain(axes)
    _keep_ticks_apart(axes)
    if ax is None:
        _finish_figure(axes[0].figure, title, items, heading, note)
    else:
        _finish_axes(ax, title, items, heading, note)
    return axes[0] if len(axes) == 1 else np.array(axes)


def _keep_names_plain(axes: Sequence[Any]) -> None:
    """Keep labels from being parsed as mathematics, also in panels that share an axis."""
    ticker: Any = extras.optional("matplotlib.ticker", "plot")
    for axis in (each for panel in axes for each in (panel.xaxis, panel.yaxis)):
        if isinstance(axis.get_major_formatter(), ticker.FuncFormatter | ticker.FixedFormatter):
            for text in axis.get_ticklabels():
                text.set(**style.PLAIN)


def _keep_ticks_apart(axes: Sequence[Any]) -> None:
    """Fewer ticks along x where the numbers of an axis would touch."""
    ticker: Any = extras.optional("matplotlib.ticker", "plot")
    for axis in axes:
        if not isinstance(axis.xaxis.get_major_locator(), ticker.AutoLocator):
            continue
        low, high = sorted(axis.get_xlim())
        ticks = [each for each in axis.get_xticks() if low <= each <= high]
        signs = max(map(len, axis.xaxis.get_major_formatter().format_ticks(ticks)), default=1)
        most = max(2, int(axis.get_window_extent().width / axis.figure.dpi / (_INCHES_A_DIGIT * signs + 0.12)))
        if len(ticks) > most:
            axis.xaxis.set_major_locator(ticker.MaxNLocator(most - 1, steps=[1, 2, 5, 10]))


def _finish_figure(figure: Any, title: str | None, items: Any, heading: str, note: str) -> None:
    strip = 0.0  # of the figure's height, which the panels leave free
    if note:
        lines = textwrap.wrap(note, max(20, int(figure.get_figwidth() / _INCHES_A_SIGN) - 4))
        strip = (_INCHES_A_LINE * len(lines) + 0.06) / figure.get_figheight()
        look: dict[str, Any] = {"fontsize": style.NOTE, "color": style.muted(), "linespacing": 1.15, **style.PLAIN}
        figure.text(0.012, 0.03 / figure.get_figheight(), "\n".join(lines), va="bottom", **look)
    if items:
        place = {"loc": "lower center", "bbox_to_anchor": (0.5, strip), "borderaxespad": 0.2}
        ready = _legend(figure, figure.get_figwidth(), items, heading, place)
        strip += ready.get_window_extent().height / figure.bbox.height
    figure.get_layout_engine().set(rect=(0, strip, 1, 1 - strip))
    if title is not None:
        figure.suptitle(title, fontsize=11, color=style.ink(), **style.PLAIN)


def _finish_axes(axis: Any, title: str | None, items: Any, heading: str, note: str) -> None:
    """Title, legend and notes of axes in a user's figure, below what is there."""
    transforms: Any = extras.optional("matplotlib.transforms", "plot")
    if title is not None:
        axis.set_title(title, fontsize=10, color=style.ink(), **style.PLAIN)
    axis.apply_aspect()  # the height of what is below counts from the axes as they will be
    width = axis.bbox.width / axis.figure.dpi
    for what in (items, note):
        if not what:
            continue
        reach = (axis.bbox.y0 - axis.get_tightbbox().y0) / axis.figure.dpi
        move = transforms.ScaledTranslation(0, -reach - 0.03, axis.figure.dpi_scale_trans)
        below = axis.transAxes + move
        if what is note:
            words = textwrap.fill(note, max(20, int(width / _INCHES_A_SIGN)))
            axis.text(0, 0, words, transform=below, va="top", fontsize=style.NOTE, color=style.muted(), **style.PLAIN)
        else:
            keywords = {"loc": "upper left", "bbox_to_anchor": (0, 0), "bbox_transform": below, "borderaxespad": 0.0}
            _legend(axis, width, items, heading, keywords)


def axes_for(
    n_panels: int,
    size: tuple[float, float],
    ax: Any,
    *,
    sharex: bool,
    sharey: bool = True,
    figsize: tuple[float, float] | None = None,
) -> list[Any]:
    """Axes of so many panels, (width, height) inches in all or `figsize`, or the given one."""
    if ax is not None:
        if n_panels > 1:
            raise ValueError(
                f"ax takes one panel, and the result has {n_panels}; select a label of its additional dims first"
            )
        return [ax]
    plt: Any = extras.optional("matplotlib.pyplot", "plot")
    across, down = grid_of(n_panels)
    size = (max(size[0], 5.0), size[1]) if figsize is None else figsize  # room for the legend
    figure, grid = plt.subplots(
        down, across, figsize=size, sharey=sharey, sharex=sharex, squeeze=False, layout="constrained"
    )
    for axis in grid.flat[n_panels:]:
        axis.set_visible(False)
    for axis in grid.flat[:n_panels]:
        axis.tick_params(labelsize=9, colors=style.ink(), length=2, labelbottom=True)
        for side in ("top", "right", "left"):
            axis.spines[side].set_visible(False)
        axis.spines["bottom"].set_color("#bbbbbb")
    return list(grid.flat[:n_panels])


def _legend(
    whose: Any, width: float, items: Sequence[tuple[str, Mapping[str, Any]]], title: str, place: dict[str, Any]
) -> Any:
    lines = extras.optional("matplotlib.lines", "plot")
    ready = whose.legend(
        [lines.Line2D([], [], **look) for _, look in items],
        [" "] * len(items),  # names come after: matplotlib leaves out those that start with "_"
        title=title,
        ncols=_columns([name for name, _ in items], width),
        **place,
        frameon=False,
        fontsize=8.5,
        labelcolor=style.ink(),
        title_fontsize=9,
        handletextpad=0.3,
        columnspacing=1.2,
    )
    for text, name in zip(ready.get_texts(), (name for name, _ in items), strict=True):
        text.set(text=name, **style.PLAIN)
    ready.get_title().set(color=style.ink(), **style.PLAIN)
    return ready


def broken(name: str, width: int) -> str:
    """A name in lines of about `width` signs, broken after blanks, hyphens, underscores and full stops if possible."""
    lines = [""]
    for piece in re.findall(r"[^\s_.\-]*[\s_.\-]+|[^\s_.\-]+", name):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(part for line in lines for part in textwrap.wrap(line.strip(), width))


def _columns(names: Sequence[str], width: float) -> int:
    widest = 0.5 + 0.08 * max(len(line) for name in names for line in name.split("\n"))
    return max(1, min(len(names), int(width / widest)))


def name_axes(axes: list[Any], x: str = "", y: str = "", fontsize: float = 9.5, **look: Any) -> None:
    """Labels below the lowest panels, and at the left of the first ones."""
    across, down = grid_of(len(axes))
    for axis in axes[-across:] if x else ():
        axis.set_xlabel(x, fontsize=fontsize, **look, **style.PLAIN)
    for axis in axes[::across] if y else ():
        high = 0.85 * axis.figure.get_figheight() / down
        label = y if "\n" in y else textwrap.fill(y, max(12, int(high / (0.0083 * fontsize))))
        axis.set_ylabel(label, fontsize=fontsize, **look, **style.PLAIN)


def name_rows(axis: Any, names: Sequence[str], below: float = 0.45, above: float = 0.55) -> None:
    """Names of rows from the top down; `below` the last row and `above` the first one are margins, in rows."""
    axis.set_yticks(range(len(names)), names, **style.PLAIN)
    axis.set_ylim(len(names) - below, -above)


def grid(axis: Any, which: str = "both", *, over: bool = False) -> None:
    """Faint lines below all marks, or over areas and lines that marks are compared with."""
    axis.grid(axis=which, color=style.faint(), lw=0.7)
    axis.set_axisbelow("line" if over else True)


def bare(axis: Any) -> None:
    """Axes of a table of cells, without marks and frame."""
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)


def row_axes(
    labels: xr.DataArray,
    n_panels: int,
    ax: Any,
    *,
    above: float,
    panel: float,
    row: float,
    across: float = INCHES,
    legend: Sequence[str] = (),
    margins: tuple[float, float] = (0.4, 0.6),
    sharex: bool = True,
    figsize: tuple[float, float] | None = None,
) -> list[Any]:
    """Axes of panels with these labels down the side.

    Heights in inches: `above` all, of a `panel`'s rest, of a `row`; below is a `legend` of these names. `margins` are
    those below the last row and above the first one, in rows.
    """
    columns, lines = grid_of(n_panels)
    width = label_width(labels) + across * columns
    height = above + legend_height(legend, width) + (panel + row * labels.size) * lines
    axes = axes_for(n_panels, (width, height), ax, sharex=sharex, figsize=figsize)
    name_rows(axes[0], captions.texts(labels), *margins)
    return axes


def parts_by(panel: xr.Dataset, hue: str | None) -> list[xr.Dataset]:
    """What shares a panel in colours: a part for each label of `hue`, or the whole."""
    return [panel] if hue is None else [panel.isel({hue: at}) for at in range(panel.sizes[hue])]


def offsets(n: int, height: float = 0.8) -> list[float]:
    """Places of `n` things beside each other within a row of this height."""
    return [(at - (n - 1) / 2) * height / n for at in range(n)]


def items_of(names: Sequence[str], **look: Any) -> list[tuple[str, dict[str, Any]]]:
    """Legend entries in the colours and markers of labels."""
    looks = map(style.of, range(len(names)))
    return [(name, {"color": color, "marker": sign, **look}) for name, (color, sign) in zip(names, looks, strict=True)]


def legend_height(names: Sequence[str], width: float) -> float:
    """Inches of a legend of such names below a figure of this width."""
    return 0.25 + 0.18 * -(-len(names) // _columns(names, width)) if names else 0.0
