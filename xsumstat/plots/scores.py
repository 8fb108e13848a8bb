"""Pictures of scores: their matrix in colours, and inputs with lower scores than others."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.dataset import scores as schema
from xsumstat.plots import captions, layout, selection, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MISSING = "#D55E00"
_NAMED = 60  # labels that an axis has room for
_ROW, _COLUMN = 0.125, 0.2  # inches of one that is named


@validate.public
@style.on_its_ground
def heatmap(
    ds: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    order: str | Sequence[Hashable] = "value",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw scores as colours, inputs down and systems across, in the order of their means.

    First select one label of each additional dim.

    Parameters
    ----------
    {ds metric.panels order}
        Order of systems and inputs in all panels; a list selects systems. "value": the best by the first panel's metric
        left and on top.
    {picture}

    {axes}

    Notes
    -----
    Bright is better, also where lower scores are. A missing score is a cross. Rows of one colour are inputs on which
    all systems score alike: tests should pair systems by input (see `input_effect`). Source: Rankel et al. (2011),
    Figs. 2 to 5.

    {demo}
    >>> axes = ds.meta.plot.heatmap(metric="human")
    >>> axes.get_xlabel()
    '12 systems, the best left'
    """
    score = schema.prepare_cells(ds, selection.gold_unless(ds, metric))
    score = score if "metric" in score.dims else score.expand_dims("metric")
    score, left_out = selection.first_metrics(score, metric)
    first = str(score["metric"].values[0])
    both = _in_order(xr.Dataset({"score": score, "raw": selection.as_given(ds, score)}), order)
    score, several = both["score"], score.sizes["metric"] > 1
    panels = layout.panels_of(both, ["metric"])
    axes = _heatmap_axes(score, ax, figsize)
    words = _words_of_scores(ds)
    for axis, (name, panel) in zip(axes, panels, strict=True):
        _scores_in_colour(axis, panel, words)
        layout.panel_title(axis, name, 3.0 if several else 6.0)
    _name_both_sides(axes, score, order, f" by {captions.clipped(first)}" if several else "")
    counts = [(captions.clipped(name), int(panel["raw"].isnull().sum())) for name, panel in panels]
    missing = [(name, count) for name, count in counts if count]
    cells = score.sizes["system"] * score.sizes["input"]
    told = ", ".join(f"{count:,} of {cells:,}" + (f" by {name}" if several else "") for name, count in missing)
    items = [("missing score", {"marker": "x", "color": _MISSING, "ls": "", "ms": 5, "mew": 1.2})] if missing else []
    notes = [f"missing scores: {told}" if told else "", left_out]
    return layout.finished(axes, ax, title=title, items=items, notes=notes)


def _in_order(both: xr.Dataset, order: Any) -> xr.Dataset:
    """Systems and inputs in order by the first metric; a list selects systems."""
    first = both[["score"]].isel(metric=0, drop=True)
    for dim, by in (("system", order), ("input", "value" if validate.is_list(order) else order)):
        ordered, _ = selection.shown(first, "score", order=by, dims=(dim,), most=None)
        both = both.sel({dim: ordered[dim].values})
    return both


def _heatmap_axes(score: xr.DataArray, ax: Any, figsize: tuple[float, float] | None) -> list[Any]:
    n, m = score.sizes["system"], score.sizes["input"]
    across, down = layout.grid_of(score.sizes["metric"])
    wide = max(2.2, min(7.0, _COLUMN * n)) if across < 3 else max(2.0, min(3.2, _COLUMN * n))
    high = max(1.2, _ROW * m) if m <= _NAMED else min(7.0, max(_ROW * _NAMED / 2, 0.04 * m))
    beside = 0.3 + (0.75 * layout.label_width(score["input"]) if m <= _NAMED else 0.0)
    below = 0.7 * layout.label_width(score["system"]) if n <= _NAMED else 0.1
    size = (beside + (wide + 1.1) * across, 0.5 + (high + 0.7 + below) * down)
    return layout.axes_for(score.sizes["metric"], size, ax, sharex=True, sharey=True, figsize=figsize)


def _words_of_scores(ds: xr.Dataset) -> str:
    about = ds["score"].attrs
    return str(about.get("long_name", "score")) + (f" ({about['units']})" if about.get("units") else "")


def _scores_in_colour(axis: Any, panel: xr.Dataset, words: str) -> None:
    score = panel["raw"].transpose("input", "system")
    turned = bool(((panel["raw"] != panel["score"]) & panel["raw"].notnull()).any())
    cmap = "viridis_r" if turned else "viridis"
    image = axis.imshow(score.values, aspect="auto", cmap=cmap, interpolation="nearest")
    rows, columns = np.nonzero(np.isnan(score.values))
    axis.plot(columns, rows, "x", ms=4, mew=0.9, color=_MISSING, ls="")
    layout.bare(axis)
    if len(rows) == score.size:
        return  # no colours to tell
    bar = axis.figure.colorbar(image, ax=axis, shrink=0.8, pad=0.02, aspect=30)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8, length=2)
    bar.set_label(f"{words}, lower is better" if turned else words, fontsize=8.5, **style.PLAIN)


def _name_both_sides(axes: list[Any], score: xr.DataArray, order: Any, by: str) -> None:
    """Labels of systems and inputs where they fit, and titles of the axes."""
    systems, inputs = captions.texts(score["system"]), captions.texts(score["input"])
    by_value = f", the best{by} " if order == "value" else ""
    inputs_by_value = f", the best{by} " if order == "value" or validate.is_list(order) else ""
    for axis in axes:
        axis.tick_params(labelsize=style.SMALL)
        named = range(len(systems)) if len(systems) <= _NAMED else []
        turned: dict[str, Any] = {"rotation": 60, "ha": "right", "rotation_mode": "anchor", "fontsize": style.SMALL}
        axis.set_xticks(named, systems if named else [], **turned, **style.PLAIN)
    named = range(len(inputs)) if len(inputs) <= _NAMED else []
    axes[0].set_yticks(named, inputs if named else [], fontsize=style.SMALL, **style.PLAIN)
    along = validate.counted(len(systems), "system") + (by_value and f"{by_value}left")
    down = validate.counted(len(inputs), "input") + (inputs_by_value and f"{inputs_by_value}on top")
    layout.name_axes(axes, along, down, fontsize=9)


@validate.public
@style.on_its_ground
def input_effect(
    result: xr.Dataset,
    *,
    highlight: Hashable | None = None,
    metric: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Hashable] = "value",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw `input_effect`: mean ranks of inputs with intervals, and which differ from one of them.

    Parameters
    ----------
    {result}
    highlight : label, optional
        Input to compare with; default the one with the lowest mean rank.
    {metric.drawn}
        A panel each.
    {order}
        Order of inputs in each panel. "value": the highest mean rank on top.
    {picture}

    {axes}

    Notes
    -----
    Intervals are cut at 1 and at the number of scores. Hollow points do not differ significantly from the marked input.
    Source: Rankel et al. (2011), Fig. 1.

    {demo}
    >>> axes = ds.meta.input_effect(metric="human").meta.plot.input_effect()
    >>> [text.get_text() for text in axes.figure.legends[0].get_texts()]
    ['the input marked', 'differs from it', 'may not differ']
    """
    if "mean_rank" not in result:
        raise ValueError("the result has no mean ranks; this draws what input_effect gives")
    if highlight is not None:
        validate.known("highlight", highlight, result["input"].values.tolist(), "inputs")
    selection.shown(
        result, "mean_rank", order=order, dims=("input",), most=None
    )  # of each panel below; wrong names at once
    result, left_out = selection.shown(result, "mean_rank", metric=metric, order="given")
    panels = layout.panels_of(result, [str(dim) for dim in result["mean_rank"].dims if dim != "input"])
    across, down = layout.grid_of(len(panels))
    n = result.sizes["input"]
    named = n <= _NAMED
    high = 0.7 + (0.135 * max(n, 6) if named else min(8.0, 0.07 * n))
    beside = (layout.label_width(result["input"]) - 0.2) * 0.85 if named else 0.3
    wide = (beside + 3.2) * across
    names = ["the input marked", "differs from it", "may not differ"]
    size = (wide, 0.3 + layout.legend_height(names, wide) + (high + 0.3) * down)
    axes = layout.axes_for(len(panels), size, ax, sharex=False, sharey=False, figsize=figsize)
    for axis, (name, panel) in zip(axes, panels, strict=True):
        _ranked_inputs(axis, panel, order, highlight, named)
        layout.panel_title(axis, name, 3.4)
    looks = zip(_looks(), names, strict=True)
    items: list[tuple[str, Mapping[str, Any]]] = [(name, {**look, "lw": 1.6, "ms": 5}) for look, name in looks]
    return layout.finished(axes, ax, title=title, items=items, notes=[_comparisons(result), left_out])


def _comparisons(result: xr.Dataset) -> str:
    if "confidence_level" not in result.attrs:
        return ""
    level = 100 * float(result.attrs["confidence_level"])
    return f"{level:g} % intervals for comparing all pairs of inputs, of Kruskal and Wallis's ranks"


def _looks() -> tuple[dict[str, Any], ...]:
    return (
        {"color": style.colour(0), "marker": "D"},
        {"color": style.colour(1), "marker": "o"},
        {"color": style.muted(), "marker": "o", "mfc": "none"},
    )


def _ranked_inputs(axis: Any, panel: xr.Dataset, order: Any, highlight: Any, named: bool) -> None:
    panel = panel.isel(input=np.flatnonzero(panel["mean_rank"].notnull().values))
    if not panel.sizes["input"]:
        words: dict[str, Any] = {"ha": "center", "va": "center", "transform": axis.transAxes, "color": style.muted()}
        axis.text(0.5, 0.5, "no ranks", **words, **style.PLAIN)
        axis.set(xticks=[], yticks=[])
        return
    if validate.is_list(order):  # an input may have no rank by this metric
        there = set(panel["input"].values.tolist())
        order = [label for label in order if label in there]
    panel, _ = selection.shown(panel, "mean_rank", order=order, dims=("input",), most=None)
    panel = panel.isel(input=slice(None, None, -1))  # the first on top
    labels = panel["input"].values.tolist()
    mean, low, high, n = (panel[name].values for name in ("mean_rank", "ci_low", "ci_high", "n_scores"))
    at = labels.index(highlight) if highlight in labels else int(np.argmin(mean))
    differs = np.abs(mean - mean[at]) > float(panel["critical"]) * np.sqrt(1 / n + 1 / n[at])
    kind = np.where(differs, 1, 2)
    kind[at] = 0
    rows = np.arange(len(mean))
    axis.axvspan(low[at], high[at], color=style.colour(0), alpha=0.12, lw=0)
    axis.hlines(rows, low, high, colors=[_looks()[each]["color"] for each in kind], lw=1.4)
    for each, look in enumerate(_looks()):
        inside = {"mfc": style.ground()} if "mfc" in look else {}
        axis.plot(mean[kind == each], rows[kind == each], ls="", ms=3.6, zorder=3, **{**look, **inside})
    whose = "" if named else f"{captions.clipped(str(labels[at]))}: "
    left = low[at] - low.min() > high.max() - high[at]  # where more of the row is free
    axis.annotate(
        f"{whose}differs from {differs.sum()} of {len(mean) - 1}", (low[at] if left else high[at], at),
        xytext=(-4 if left else 4, 0), textcoords="offset points", ha="right" if left else "left", va="center",
        fontsize=8, color=style.colour(0), zorder=4,
        bbox={"boxstyle": "square,pad=0.1", "fc": style.ground(), "ec": "none", "alpha": 0.85}, **style.PLAIN,
    )  # fmt: skip
    axis.set_yticks(
        rows if named else [], captions.texts(panel["input"]) if named else [], fontsize=style.SMALL, **style.PLAIN
    )
    axis.set_ylabel("" if named else validate.counted(len(mean), "input"), fontsize=9, **style.PLAIN)
    axis.set_ylim(-0.8, len(mean) - 0.2)
    total = int(n.sum())
    margin = 0.03 * float(high.max() - low.min())
    axis.set_xlim(max(1.0, float(low.min()) - margin), min(float(total), float(high.max()) + margin))
    layout.grid(axis, "x")
    axis.set_xlabel(
        f"{captions.variable_label(panel, 'mean_rank')}\n(1 the worst, {total:,} the best)", fontsize=9, **style.PLAIN
    )
