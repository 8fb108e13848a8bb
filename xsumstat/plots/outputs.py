"""Pictures over the score range: disagreement, consistency, and drops in correlation."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import pair_results, wording
from xsumstat.plots import captions, layout, selection, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIDES = ("metric", "other_metric")
_MOST_METRICS = 12  # that a picture of disagreement shows
_MOST_IN_PAIRS = 5  # metrics up to which each pair has a panel of its own
_FEW = 20  # pairs, or outputs, below which a bin's share is drawn as a hollow mark
_LARGEST = 42.0  # square points of a mark


class _Line(NamedTuple):
    """A share by score bin, and its number of pairs or outputs."""

    name: str
    at: FloatArray
    share: FloatArray
    low: FloatArray
    high: FloatArray
    n: FloatArray

    @property
    def firm(self) -> Any:
        """Bins with enough pairs or outputs, from at least two inputs."""
        return (self.n >= _FEW) & ~np.isnan(self.low)

    @property
    def mean(self) -> float:
        there = ~np.isnan(self.share)
        total = float(self.n[there].sum())
        return float((self.share * self.n)[there].sum()) / total if total else -np.inf


@validate.public
@style.on_its_ground
def disagreement(
    result: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Hashable] = "value",
    highlight: Hashable | tuple[Hashable, Hashable] | None = None,
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw `disagreement`: how often metrics order two outputs oppositely, by their mean normalised score.

    Parameters
    ----------
    {result}
    metric : label or list of labels, optional
        2 to 12 metrics; default all.
    {order}
        Order of panels, by the names of the metrics. "value": the largest disagreement first.
    highlight : label or pair of labels, optional
        A pair, in one panel, or a metric, a panel for each of its pairs. Default: a panel for each pair of up to five
        metrics; for more, one for each metric, with its least and most similar metrics highlighted.
    {picture}

    {axes}

    Notes
    -----
    The dashed line, one half, is the expectation for independent metrics. Larger marks have more pairs; hollow marks
    have fewer than 20, or a single input, and no interval. Bands of bins with few inputs are too narrow. Source:
    Peyrard (2019), Fig. 2.

    {demo}
    >>> shares = ds.meta.disagreement(metric=["human", "judge", "rouge"], n_resamples=99, rng=1)
    >>> [each.get_title() for each in shares.meta.plot.disagreement()]
    ['rouge and judge', 'rouge and human', 'judge and human']
    """
    if "share" not in result or "score_bin" not in result["share"].dims:
        raise ValueError("the result has no shares by score_bin; this draws what disagreement gives")
    selection.check_not_empty(result["share"])
    result = _checked_metrics(result, metric, order)
    lines = _lines_of(result)
    panels = _panels(result, lines, order, highlight)
    across, down = layout.grid_of(len(panels))
    size = (0.8 + 2.9 * across, 1.3 + 2.5 * down)
    axes = layout.axes_for(len(panels), size, ax, sharex=True, figsize=figsize)
    most = max(float(line.n.max()) for line in lines.values())
    top = 0.55
    for axis, panel in zip(axes, panels, strict=True):
        top = max(top, _draw_panel(axis, panel, most))
        layout.panel_title(axis, panel.title, size[0] / across - 0.3)
        axis.axhline(0.5, color=style.muted(), lw=0.8, ls=style.DASHED, zorder=1)
    _heights(axes, captions.variable_label(result, "share"), "normalised mean score of the pair")
    axes[0].set_ylim(0, min(1.0, 1.04 * top))
    items: list[tuple[str, dict[str, Any]]] = []
    if any(panel.behind for panel in panels):
        alone = len(panels[0].front) == 1
        items = [("the pair named above", {"color": style.colour(0), "lw": 1.6})] if alone else []
        items.append(("other pairs", {"color": style.grey(), "lw": 1.2}))
    items += _sizes(most, "pairs")
    hollow = f"hollow: fewer than {_FEW} pairs, or one input"
    return layout.finished(axes, ax, title=title, items=items, notes=[wording.interval_words(result), hollow])


def _checked_metrics(result: xr.Dataset, metric: Any, order: Any) -> xr.Dataset:
    _check_no_further(result["share"], (*_SIDES, "score_bin"))
    for dim in _SIDES:
        if dim not in result.dims:
            result = result.expand_dims(dim) if dim in result.coords else result.expand_dims({dim: [dim]})
    named = [each for each in (metric, order if validate.is_list(order) else None) if each is not None]
    labels = result["metric"].values.tolist()
    n = min([len(labels), *(len(validate.listed(each)) for each in named)])
    if n > _MOST_METRICS:
        raise ValueError(
            f"the result has {n} metrics, and at most {_MOST_METRICS} can be distinguished in this picture; name those "
            f"to be shown, as metric={labels[:3]}"
        )
    several = {*labels, *result["other_metric"].values.tolist()}
    if len(several) < 2 or (named and n < 2):
        raise ValueError("metric must name at least 2 metrics, which disagree with each other")
    square = np.array_equal(result["metric"].values, result["other_metric"].values)
    return selection.shown(result, "share", metric=metric, order=order, dims=_SIDES if square else _SIDES[:1])[0]


def _lines_of(result: xr.Dataset) -> dict[tuple[int, int], _Line]:
    """Each pair once, by the places of its metrics."""
    rows, columns = (result[dim].values.tolist() for dim in _SIDES)
    return {
        (i, j): _line(result.isel(metric=i, other_metric=j), "share", "n_pairs", _pair_name(result, i, j))
        for i, j in pair_results.once(rows, columns)
    }


def _line(panel: xr.Dataset, variable: str, number: str, name: str) -> _Line:
    columns = (panel[each].values.astype(float) for each in ("score_bin", variable, "ci_low", "ci_high", number))
    at, share, low, high, n = columns
    return _Line(name, at, share, low, high, np.nan_to_num(n))


class _Panel(NamedTuple):
    """Title, highlighted lines with their names, and lines behind them."""

    title: str
    front: list[tuple[str, _Line]]
    behind: list[_Line]


def _panels(result: xr.Dataset, lines: dict[tuple[int, int], _Line], order: Any, highlight: Any) -> list[_Panel]:
    pairs = list(lines)
    if isinstance(order, str) and order == "value":
        pairs.sort(key=lambda pair: -lines[pair].mean)
    if highlight is not None:
        pairs = _highlighted(result, pairs, highlight)
    elif result.sizes["metric"] > _MOST_IN_PAIRS:
        return [_of_metric(result, lines, at) for at in range(result.sizes["metric"])]
    others = {pair: [line for each, line in lines.items() if each != pair] for pair in pairs}
    return [_Panel(lines[pair].name, [("", lines[pair])], others[pair]) for pair in pairs]


def _highlighted(result: xr.Dataset, pairs: list[tuple[int, int]], highlight: Any) -> list[tuple[int, int]]:
    rows, columns = (result[dim].values.tolist() for dim in _SIDES)
    asked = validate.listed(highlight)
    for label in asked:
        validate.known("highlight", label, list(dict.fromkeys([*rows, *columns])), "metrics")
    if len(set(asked)) != len(asked) or len(asked) not in (1, 2):
        raise ValueError(f"highlight must be one metric or a pair of them, got {highlight!r}")
    found = [(i, j) for i, j in pairs if set(asked) <= {rows[i], columns[j]}]
    if not found:
        raise ValueError(f"the result has no pair {validate.listing(asked)}")
    return found


def _of_metric(result: xr.Dataset, lines: dict[tuple[int, int], _Line], at: int) -> _Panel:
    """All pairs of a metric, the least and most similar highlighted."""
    names = captions.texts(result["metric"])
    own = [(names[j if i == at else i], line) for (i, j), line in lines.items() if at in (i, j)]
    own.sort(key=lambda each: each[1].mean)
    front = [(f"least: {own[0][0]}", own[0][1]), (f"most: {own[-1][0]}", own[-1][1])]
    return _Panel(names[at], front, [line for _, line in own[1:-1]])


def _draw_panel(axis: Any, panel: _Panel, most: float) -> float:
    for line in panel.behind:
        axis.plot(line.at[line.firm], line.share[line.firm], color=style.grey(), lw=1.0, zorder=1.5)
    tops = [_draw_line(axis, line, at, most) for at, (_, line) in enumerate(panel.front)]
    if len(panel.front) > 1:
        handles = [axis.plot([], [], "-" + "os"[at], color=style.colour(at), ms=4)[0] for at in range(len(panel.front))]
        inside = axis.legend(handles, [" "] * len(handles), loc="upper left", fontsize=style.SMALL, frameon=False)
        for text, (name, _) in zip(inside.get_texts(), panel.front, strict=True):
            text.set(text=name, color=style.ink(), **style.PLAIN)
        inside.set_zorder(5)
    return max([0.0, *tops, *(float(line.share[line.firm].max(initial=0)) for line in panel.behind)])


def _draw_line(axis: Any, line: _Line, at: int, most: float) -> float:
    """Draw a line with its band through firm bins, and marks; return the largest value."""
    firm, there = line.firm, ~np.isnan(line.share)
    axis.fill_between(
        line.at[firm], line.low[firm], line.high[firm], color=style.colour(at), alpha=0.18, lw=0, zorder=2
    )
    axis.plot(line.at[firm], line.share[firm], color=style.colour(at), lw=1.6, zorder=3)
    for which, filled in ((firm & there, True), (~firm & there, False)):
        look: dict[str, Any] = {"color": style.colour(at) if filled else "none", "linewidths": 0.0 if filled else 0.9}
        look |= {"marker": "os"[at], "edgecolors": style.colour(at), "clip_on": False, "zorder": 4}
        axis.scatter(line.at[which], line.share[which], _area(line.n[which], most), **look)
    return float(max(line.high[firm].max(initial=0), line.share[there].max(initial=0)))


def _area(n: Any, most: float) -> Any:
    return np.maximum(_LARGEST * np.sqrt(np.asarray(n, float) / max(most, 1)), 7)


def _sizes(most: float, noun: str) -> list[tuple[str, dict[str, Any]]]:
    ten = 10 ** int(np.log10(max(most, 1)))
    largest = max(each * ten for each in (1, 2, 5) if each * ten <= max(most, 1))
    numbers = [n for n in (largest, largest // 5, largest // 25) if n >= _FEW] or [largest]
    look = {"color": style.muted(), "marker": "o", "ls": ""}
    return [(f"{n:,} {noun}", {**look, "ms": float(np.sqrt(_area(n, most)))}) for n in numbers]


@validate.public
@style.on_its_ground
def improvement(
    result: xr.Dataset,
    *,
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw `improvement_consistency`: of the outputs better by some metric the share better by all, by score bin.

    Parameters
    ----------
    {result picture.single}

    Returns
    -------
    Axes
        The axes with the picture.

    Notes
    -----
    Larger marks have more outputs; hollow marks have fewer than 20, or a single input, and no interval. Bands of bins
    with few inputs are too narrow. Source: Peyrard (2019), Fig. 3.

    {demo}
    >>> ratios = ds.meta.improvement_consistency(metric=["judge", "rouge"], n_resamples=99, rng=1)
    >>> ratios.meta.plot.improvement().get_xlabel()
    'normalised mean score of the output'
    """
    if "ratio" not in result or "score_bin" not in result["ratio"].dims:
        raise ValueError("the result has no ratios by score_bin; this draws what improvement_consistency gives")
    _check_no_further(result["ratio"], ("score_bin",))
    selection.check_not_empty(result["ratio"])
    axes = layout.axes_for(1, (5.0, 3.9), ax, sharex=True, figsize=figsize)
    line = _line(result, "ratio", "n_outputs", "")
    most = float(line.n.max())
    top = _draw_line(axes[0], line, 0, most)
    _heights(axes, "share better by all metrics\nof those better by any", "normalised mean score of the output")
    axes[0].set_ylim(0, min(1.0, max(0.1, 1.1 * top)))
    names = str(result.attrs.get("metrics", "")).split(", ")
    metrics = (
        "metrics: "
        + ", ".join(map(captions.clipped, names[: selection.MOST]))
        + (", …" if len(names) > selection.MOST else "")
    )
    hollow = f"hollow: fewer than {_FEW} outputs, or one input"
    notes = [metrics if names[0] else "", wording.interval_words(result), hollow]
    return layout.finished(axes, ax, title=title, items=_sizes(most, "outputs"), notes=notes)


def _check_no_further(values: xr.DataArray, dims: Sequence[str]) -> None:
    further = [str(dim) for dim in values.dims if dim not in dims]
    if further:
        raise ValueError(
            f"the result has the dims {validate.listing(further)}; select one label of each additional one, as "
            f"result.sel({further[0]}=...)"
        )


def _heights(axes: list[Any], down: str, along: str) -> None:
    for axis in axes:
        layout.grid(axis, "y", over=True)
        axis.tick_params(axis="y", length=0)
    layout.name_axes(axes, along, down, fontsize=9, color=style.ink())
    axes[0].set_xlim(0, 1)


@validate.public
@style.on_its_ground
def range_drop(
    result: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Hashable] = "value",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw `range_drop`: drops in correlation with intervals, beside those that range restriction alone explains.

    Parameters
    ----------
    {result}
    metric : label or list of labels, optional
        At least two, whose pairs are drawn; default all, or the first 20 pairs in order, with a note.
    {order}
        Order of pairs, by the names of the metrics; a list selects metrics. "value": the largest drop on top.
    {picture.single}

    Returns
    -------
    Axes
        A pair whose interval lies right of its grey bar disagrees more than the range explains.

    {demo}
    >>> drop = ds.meta.range_drop(metric=["human", "judge", "rouge"], top=4, n_resamples=99, rng=1)
    >>> [label.get_text() for label in drop.meta.plot.range_drop().get_yticklabels()]
    ['rouge and judge', 'rouge and human', 'judge and human']
    """
    if not {"difference", "expected"} <= set(result.data_vars):
        raise ValueError("the result has no expected drops; this draws what range_drop gives")
    if not set(_SIDES) <= set(result["difference"].dims):
        raise ValueError("the result has drops of one metric or pair only; select with a list, as sel(metric=[...])")
    _check_no_further(result["difference"], _SIDES)
    chosen = result["metric"].values.tolist() if metric is None and not validate.is_list(order) else metric
    result, _ = selection.shown(result, "difference", metric=chosen, order=order, dims=_SIDES)
    pairs, left_out = _pairs_in_order(result, order, listed=chosen is metric)
    labels = [_pair_name(result, *pair) for pair in pairs]
    lines = max(label.count("\n") + 1 for label in labels)
    wide = 0.4 + 0.075 * max(len(line) for label in labels for line in label.split("\n"))
    size = (wide + 4.2, 1.8 + (0.16 + 0.14 * lines) * len(pairs))
    axes = layout.axes_for(1, size, ax, sharex=True, figsize=figsize)
    axis = axes[0]
    for row, (a, b) in enumerate(pairs):
        _drop_row(axis, result.isel(metric=a, other_metric=b), row)
    axis.set_yticks(range(len(pairs)), labels, **style.PLAIN)
    axis.tick_params(axis="y", length=0)
    axis.set_ylim(len(pairs) - 0.4, -0.6)
    axis.axvline(0, color=style.muted(), lw=0.8, zorder=1)
    layout.grid(axis, "x", over=True)
    along = f"drop in {captions.correlation_label(result)}, whole range less part"
    axis.set_xlabel(along, fontsize=9.5, color=style.ink(), **style.PLAIN)
    looks = [
        {"color": style.colour(0), "marker": "o", "lw": 1.8},
        {"color": style.grey(), "marker": "s", "ls": "", "ms": 9},
    ]
    items = list(zip(["observed", "expected of the range alone"], looks, strict=True))
    part = str(result.attrs.get("range", ""))
    notes = [f"part: {captions.clipped(part, 120)}" if part else "", wording.interval_words(result), left_out]
    return layout.finished(axes, ax, title=title, items=items, notes=notes)


def _pairs_in_order(result: xr.Dataset, order: Any, *, listed: bool) -> tuple[list[tuple[int, int]], str]:
    """Places of the pairs, and a note of those that are left out."""
    pairs = list(itertools.combinations(range(result.sizes["metric"]), 2))
    if not pairs:
        raise ValueError("metric must name at least 2 metrics, whose correlation drops")
    by_value = isinstance(order, str) and order == "value"
    if by_value:
        values = np.nan_to_num(result["difference"].transpose(*_SIDES).values.astype(float), nan=-np.inf)
        pairs.sort(key=lambda pair: -values[pair])
    if listed or len(pairs) <= selection.MOST:
        return pairs, ""
    which = "pairs with the largest drops" if by_value else "first pairs"
    return pairs[: selection.MOST], f"the {selection.MOST} {which} of {len(pairs)}; metric= names others"


def _pair_name(result: xr.Dataset, a: int, b: int) -> str:
    one, other = captions.texts(result["metric"])[a], captions.texts(result["other_metric"])[b]
    return f"{one} and {other}" if len(one + other) <= 36 else f"{one}\nand {other}"


def _drop_row(axis: Any, one: xr.Dataset, row: int) -> None:
    low, high = float(one["expected_low"]), float(one["expected_high"])
    axis.barh(row, high - low, 0.62, low, color=style.grey(), lw=0, zorder=1)
    axis.plot([float(one["expected"])] * 2, [row - 0.31, row + 0.31], color=style.ink(), lw=1.2, zorder=2)
    axis.hlines(row, float(one["ci_low"]), float(one["ci_high"]), color=style.colour(0), lw=1.8, zorder=3)
    axis.plot(float(one["difference"]), row, "o", ms=5, color=style.colour(0), mec=style.ground(), mew=0.8, zorder=4)
