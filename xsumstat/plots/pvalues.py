"""p-values of pairs of metrics, systems, groups or versions as a matrix."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.dataset import pair_results, wording
from xsumstat.plots import captions, layout, marks, selection, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FRAME = "#D55E00"
# Of p <= alpha/50, alpha/5, alpha, and above: the smallest stands out most from the ground.
_STEPS = ("#08519c", "#6baed6", "#c6dbef", "#f5f5f5")
_SHOWN = 0.5  # of one-sided tests; a larger p-value says no more than that of the opposite test
_DARK_STEPS = ("#5aa5d8", "#2f74ad", "#1b4468", "#262626")


@validate.public
@style.on_its_ground
def pvalues(
    result: xr.Dataset,
    *,
    alpha: float = 0.05,
    annotate: bool | None = None,
    metric: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Hashable] = "value",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw the p-values of all pairs as a matrix; a frame marks significant ones.

    For results of `compare_metrics`, `compare_groups`, `perm_test`, `boot_test`, `corr_test`, `equivalence` and
    `compare_systems`; frames need p-values corrected by `adjust`. Source: Deutsch et al. (2021), Figs. 5 and 6.

    Parameters
    ----------
    {result}
    alpha : float, default 0.05
        Significance level: a cell is coloured where ``pvalue <= alpha``, stronger at alpha/5 and alpha/50, and framed
        where ``pvalue_adjusted <= alpha``.
    annotate : bool, optional
        Write the p-values into the cells; default for at most 14 columns.
    {metric.drawn order}
        Order of rows, and of columns with the same labels. "value": the largest mean difference first.
    {picture}

    {axes}

    {demo}
    >>> test = ds.meta.perm_test("human", level="input", n_resamples=999, rng=1).meta.adjust("holm")
    >>> [label.get_text() for label in test.meta.plot.pvalues().get_yticklabels()]
    ['judge', 'bertscore', 'rouge', 'perplexity', 'bleu', 'length']
    """
    alpha = validate.fraction("alpha", alpha)
    sides = _sides(result)
    if sides is None:
        raise ValueError("the result has no p-values of metric pairs; this draws what compare_metrics gives")
    selection.check_not_empty(result["pvalue"])
    too_few = captions.too_few_words(result, alpha, _family_size(result))
    result, left_out = _sorted_sides(result, sides, metric, order)
    result, undefined = selection.with_values(result, "pvalue", sides[0])
    result, _ = selection.with_values(result, "pvalue", sides[1])
    panels = layout.panels_of(result, [str(dim) for dim in result["pvalue"].dims if dim not in sides])
    rows, columns = (result.sizes[dim] for dim in sides)
    annotate = columns <= 14 if annotate is None else validate.flag("annotate", annotate)
    cell = 0.42 if annotate else 0.3
    below = layout.label_width(result[sides[1]])
    across, down = layout.grid_of(len(panels))
    width = layout.label_width(result[sides[0]]) + (max(cell * columns, 0.7 * below) + 0.3) * across
    size = (width, 0.9 + (0.6 + 0.75 * below + cell * rows) * down)
    axes = layout.axes_for(len(panels), size, ax, sharex=False, figsize=figsize)
    for axis, (name, panel) in zip(axes, panels, strict=True):
        _matrix(axis, panel, sides, alpha, annotate)
        layout.panel_title(axis, name, cell * columns + 0.3)
    axes[0].set_yticks(range(rows), captions.texts(result[sides[0]]), **style.PLAIN)
    question, items = _question(result, sides[0]), _steps_legend(result, alpha)
    measured = captions.correlation_label(result) if "coefficient" in result.attrs else ""
    without = f"without a number: p > {_SHOWN:g}" if annotate and wording.is_one_sided(result.attrs) else ""
    notes = [measured, captions.how_tested(result), without, too_few, left_out, undefined]
    return layout.finished(axes, ax, title=title, items=items, heading=question, notes=notes)


def _sides(result: xr.Dataset) -> tuple[str, str] | None:
    """Dims down and across: metrics or systems with others, or metrics with versions of themselves."""
    if "pvalue" not in result:
        return None
    along = result.attrs.get("along")
    versions = ("metric", str(along)) if {"metric", along} <= set(result["pvalue"].dims) else None
    return pair_results.pair_dims(result["pvalue"]) or versions


def _sorted_sides(result: xr.Dataset, sides: tuple[str, str], metric: Any, order: Any) -> tuple[xr.Dataset, str]:
    """Rows by their lead over the others; columns in the same order, or other columns best first."""
    down, across = sides
    if down != "metric" and "metric" in result.dims:
        result, _ = selection.shown(result, "pvalue", metric=metric, order="given")
        metric = None
    if "difference" in result:
        value = selection.beside_all(result["difference"], sides)
    else:  # the smaller the p-value, the larger
        value = -result["pvalue"].astype(float)
    rows, columns = (result[dim].values.tolist() if dim in result.coords else [] for dim in sides)
    alike = set(rows) == set(columns)
    result, note = selection.shown(
        result.assign(_value=value),
        "_value",
        metric=metric,
        order=order,
        dims=sides if alike else (down,),
        most=selection.MOST if down == "metric" else None,
    )
    if not alike and across in ("other_metric", "other_system") and isinstance(order, str):
        mean = value.mean([dim for dim in value.dims if dim != across])
        if order == "value":
            result = result.isel({across: np.argsort(mean.fillna(np.inf).values, kind="stable")})
        elif order == "name":
            result = result.isel({across: np.argsort([str(label) for label in columns], kind="stable")})
    return result.drop_vars("_value"), note


def _matrix(axis: Any, panel: xr.Dataset, order: tuple[str, str], alpha: float, annotate: bool) -> None:
    one_sided = wording.is_one_sided(panel.attrs)
    p = panel["pvalue"].transpose(*order).values
    adjusted = (
        panel["pvalue_adjusted"].transpose(*order).values if "pvalue_adjusted" in panel else np.full(p.shape, np.nan)
    )
    steps = _steps()
    for i, j in np.ndindex(p.shape):
        if math.isnan(p[i, j]):
            axis.plot(j, i, "_", color="#999999", ms=5)
            continue
        step = sum(p[i, j] > limit for limit in (alpha / 50, alpha / 5, alpha))
        axis.add_patch(style.cell(j, i, 0.92, facecolor=steps[step], edgecolor="none"))
        if adjusted[i, j] <= alpha:
            axis.add_patch(style.cell(j, i, 0.84, facecolor="none", edgecolor=_FRAME, lw=1.8, zorder=3))
        if annotate and (p[i, j] <= _SHOWN or not one_sided):
            marks.in_cell(axis, j, i, _short(float(p[i, j])), steps[step], fontsize=style.SMALL)
    axis.set_xlim(-0.5, p.shape[1] - 0.5)
    axis.set_ylim(p.shape[0] - 0.5, -0.5)
    axis.set_aspect("equal")
    labels = captions.texts(panel[order[1]])
    axis.set_xticks(range(len(labels)), labels, rotation=45, ha="right", rotation_mode="anchor", **style.PLAIN)
    layout.bare(axis)


def _steps() -> tuple[str, ...]:
    return _DARK_STEPS if style.is_dark() else _STEPS


def _short(p: float) -> str:
    if p < 0.001:
        return "<.001"
    return f"{p:.3f}"[1:] if p < 0.0995 else f"{p:.2f}".removeprefix("0")


def _steps_legend(result: xr.Dataset, alpha: float) -> list[tuple[str, dict[str, Any]]]:
    names = [f"p ≤ {alpha / 50:.2g}", f"p ≤ {alpha / 5:.2g}", f"p ≤ {alpha:.2g}", f"p > {alpha:.2g}"]
    look = {"marker": "s", "ls": "", "ms": 9}
    items: list[tuple[str, dict[str, Any]]] = [
        (name, {**look, "color": color, "mec": "#999999", "mew": 0.6})
        for name, color in zip(names, _steps(), strict=True)
    ]
    correction = wording.correction(result)
    if "pvalue_adjusted" in result:
        method = "p-values not corrected" if correction is None else correction.method
        items.append((f"{method} ≤ {alpha:.2g}", {**look, "mfc": "none", "mec": _FRAME, "mew": 1.8}))
    return items


def _question(result: xr.Dataset, rows: str) -> str:
    if result.attrs.get("analysis") == "equivalence":
        base = result.attrs.get("base")
        return (
            "are the two equally good?" if base is None else f"is it equally good with {captions.clipped(str(base))}?"
        )
    asked = {
        "greater": f"is the row {rows} better than the column's?",
        "less": f"is the row {rows} worse than the column's?",
    }
    return asked.get(result.attrs.get("alternative", ""), f"do the two {rows}s differ?")


def _family_size(result: xr.Dataset) -> int:
    """The most tests that were corrected together; two mirrored cells are one."""
    pvalue = result["pvalue"]
    over = [dim for dim in str(result.attrs.get("adjust_within", "")).split() if dim in pvalue.dims]
    again = pair_results.mirrored(result, pvalue)
    tests = pvalue.where(~again) if again is not None and set(again.dims) <= set(over) else pvalue
    return int(tests.notnull().sum(over).max()) if over else 1
