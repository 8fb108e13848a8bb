"""The forest plot: estimate, interval and confidence distribution of each metric."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xsumstat.analyses.human_ceiling import RATER
from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import checks, pair_results, wording
from xsumstat.plots import captions, chance, layout, selection, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DENSITY = "density of plausible values"
_OF_DRAWS = f"{_DENSITY}: the distribution of the resampled estimates, smoothed"
_OF_LIMITS = f"{_DENSITY}: its quantiles are the limits of intervals at all confidence levels"
_WITHOUT_BIAS = "estimate less its bias\n(drawn where that exceeds ¼ standard error)"
_STROKE = {"marker": "|", "ms": 9, "mew": 1.6}
_MARGIN: dict[str, Any] = {"ls": (0, (2, 1.5)), "lw": 1.1}
_PEOPLE = {"marker": "D", "ms": 5}
_SINGLE = {"marker": "o", "ms": 3.5, "mfc": "none", "mew": 0.8}
_CEILING, _OTHERS = "human ceiling: a rater with the mean of the others", "the mean of the other raters"
# The tails of a confidence distribution that are not drawn.
_TAIL = 0.001
# arctanh of what is 1 to rounding.
_AT_1 = 19.0
_LEAST_HIGH = 2.7  # inches, of which legend and note may take more than half
_MOST_OTHERS = 8  # panels of metrics that differences are from


@validate.public
@style.on_its_ground
def forest(
    result: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Hashable] = "value",
    hue: str | None = None,
    highlight: Hashable | Sequence[Hashable] | None = None,
    density: bool = True,
    ceiling: xr.Dataset | None = None,
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw intervals of correlations, or of differences from another metric, one row per metric.

    For results of `ci`, `compare_metrics`, `compare_groups` (a panel per pair of groups), `equivalence` and
    `human_ceiling`.

    Parameters
    ----------
    {drawn}
        "value": the best on top.
    hue : str, optional
        Another dim whose labels share a panel in colours. Each label of the others, and each ``other_metric``, has a
        panel; if one metric is compared with several, these are the rows of one panel.
    {highlight}
    density : bool, default True
        Draw behind each interval the density of the bootstrap (``keep_samples=True``), or the confidence distribution
        of the jackknife.
    ceiling : Dataset, optional
        Result of `human_ceiling` with the same coefficient and level: a band shows the raters' own interval.
    {picture}

    {axes}

    Notes
    -----
    Two levels in one picture: ``xr.concat([a, b], dim=pd.Index(["system", "input"], name="level"))`` and
    ``hue="level"``. Human scores have a darker row. Metrics without an estimate are named in a note. A line shows the
    chance baseline of accuracies, dashed lines the margins of an equivalence test. A stroke marks the estimate less
    its bias where the jackknife's bias exceeds a quarter of the standard error. The quantiles of a confidence
    distribution are the limits of intervals of all levels (Xie & Singh 2013); for a difference it is a g
    distribution of t through the limits (Hoaglin 1985). Sources: Xie & Singh (2013), International Statistical
    Review 81. Hoaglin (1985), "Summarizing shape numerically: the g-and-h distributions". Deutsch et al. (2021),
    Fig. 4.

    {demo}
    >>> axes = ds.meta.ci("human").meta.plot.forest()
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['judge', 'bertscore', 'rouge', 'perplexity', 'bleu', 'length']
    """
    result = pair_results.pairs_of_groups(result)
    middle = "correlation" if "correlation" in result else "difference"
    if not {middle, "ci_low", "ci_high"} <= set(result.data_vars):
        raise ValueError("the result has no intervals; this draws what ci gives")
    validate.flag("density", density)
    further = selection.further_dims(result[middle], "metric", hue=hue)
    raters = _raters_of(result, ceiling)
    result, metric, order = _others_as_rows(selection.with_dims(result, "metric"), middle, metric, order, hue)
    result, *notes = _chosen(result, middle, metric, order, highlight)
    panels = layout.panels_of(result, [dim for dim in further if dim != hue and dim in result.dims])
    rows = [selection.with_values(panel, middle, "metric")[0] for _, panel in panels]
    axes = _axes(result, rows, hue, figsize, ax)
    shaded = False
    for axis, (name, _), panel in zip(axes, panels, rows, strict=True):
        shaded |= _panel(axis, panel, result, hue, density, raters)
        layout.emphasise(axis, panel["metric"].values.tolist(), highlight)
        layout.panel_title(axis, name, layout.INCHES)
    items = _items(result, hue, raters, shaded)
    densities = (_OF_DRAWS if "samples" in result else _OF_LIMITS) if shaded else ""
    notes = [wording.how(result), densities, *notes]
    return layout.finished(axes, ax, title=title, items=items, heading=hue or "", notes=notes)


def _others_as_rows(
    result: xr.Dataset, middle: str, metric: Any, order: Any, hue: str | None
) -> tuple[xr.Dataset, Any, Any]:
    """One metric compared with several has a row for each of these; with what then remains of `metric` and `order`."""
    if hue == "other_metric" or "other_metric" not in result[middle].dims:
        return result, metric, order
    by_order = metric is None and validate.is_list(order) and result["metric"].size > 1
    one = selection.shown(result, middle, metric=order if by_order else metric, order="given", most=None)[0]
    others = one["other_metric"].values != one["metric"].values[:1]
    if one["metric"].size != 1 or others.sum() < 2:
        return result, metric, order
    turned = one.isel(metric=0, other_metric=others).rename(metric="_minuend", other_metric="metric")
    return turned, None, "value" if by_order else order


def _chosen(
    result: xr.Dataset, middle: str, metric: Any, order: Any, highlight: Any
) -> tuple[xr.Dataset, str, str, str]:
    """Rows and panels to draw, and notes of those that are not."""
    others = ""
    value = selection.beside_all(result[middle], ("metric", "other_metric"))
    result = result.assign(_value=value)
    if result.sizes.get("other_metric", 1) > _MOST_OTHERS:
        others = f"beside {_MOST_OTHERS} of {result.sizes['other_metric']} other metrics, the best first"
        best = value.mean([dim for dim in value.dims if dim != "other_metric"])
        result = result.isel(other_metric=np.argsort(best.fillna(np.inf).values, kind="stable")[:_MOST_OTHERS])
    result, left_out = selection.shown(result, "_value", metric=metric, order=order, highlight=highlight)
    result, undefined = selection.with_values(result, middle, "metric")
    if order == "value" and _of_raters(result) and RATER in result["metric"].values.tolist():
        at = result["metric"].values.tolist().index(RATER)
        result = result.isel(metric=[at, *(each for each in range(result.sizes["metric"]) if each != at)])
    return result, left_out, others, undefined


def _axes(
    result: xr.Dataset, rows: list[xr.Dataset], hue: str | None, figsize: tuple[float, float] | None, ax: Any
) -> list[Any]:
    names = [captions.texts(panel["metric"]) for panel in rows]
    alike = all(each == names[0] for each in names)
    across, down = layout.grid_of(len(rows))
    per_row = 0.34 if hue is None else 0.2 + 0.13 * result.sizes[hue]
    width = layout.label_width(result["metric"]) * (1 if alike else across) + layout.INCHES * across
    size = (width, max(_LEAST_HIGH, 0.6 + (0.75 + per_row * max(map(len, names))) * down))
    axes = layout.axes_for(len(rows), size, ax, sharex=True, sharey=alike, figsize=figsize)
    for axis, labels in zip(axes[:1] if alike else axes, names, strict=False):
        layout.name_rows(axis, labels, above=0.9)
    return axes


def _panel(
    axis: Any, panel: xr.Dataset, result: xr.Dataset, hue: str | None, density: bool, raters: xr.Dataset | None
) -> bool:
    """Draw the rows of a panel; whether some interval has a density."""
    shaded = False
    people = _people(panel)
    if not people.all():
        for row in np.flatnonzero(people):
            axis.axhspan(row - 0.5, row + 0.5, color=style.grounds()[1], lw=0, zorder=0)
    hues = layout.parts_by(panel, hue)
    for at, (drawn, offset) in enumerate(zip(hues, layout.offsets(len(hues)), strict=True)):
        rows = np.arange(drawn.sizes["metric"]) + offset
        if hue is None and people.any() and not people.all():
            for those, look in ((~people, style.of(at)), (people, (style.ink(), "D"))):
                there = np.flatnonzero(those)
                shaded |= _forest_rows(axis, drawn.isel(metric=there), rows[there], 0.8, look, density)
        else:
            shaded |= _forest_rows(axis, drawn, rows, 0.8 / len(hues), style.of(at), density)
        height = 1.0 if hue is None else 0.8 / len(hues)
        _margins(axis, drawn, rows, height)
        chance.draw(axis, drawn, rows, height, chance.kinds_of(result))
        if raters is not None and (hue is None or at == 0 or hue in raters.dims):
            _band(axis, raters, drawn, style.ink() if hue is None or hue not in raters.dims else style.of(at)[0])
    axis.axvline(0, color=style.ZERO_LINE, lw=0.8, zorder=1)
    layout.grid(axis, "x")
    axis.set_xlabel(_x_label(result), fontsize=9.5, **style.PLAIN)
    return shaded


def _margins(axis: Any, drawn: xr.Dataset, rows: Any, height: float) -> None:
    """Within which differences count as equivalent, at each row."""
    if "margin" not in drawn.data_vars:
        return
    margins = np.broadcast_to(np.atleast_1d(drawn["margin"].values), rows.shape)
    for end in (-margins, margins):
        axis.vlines(end, rows - height / 2, rows + height / 2, color=style.ink(), zorder=1.5, **_MARGIN)


def _x_label(result: xr.Dataset) -> str:
    if _of_raters(result):
        others = "each other rater" if wording.scale_of(result.attrs) in ("classes", "two") else _OTHERS
        return f"{captions.coefficient_label(result.attrs.get('coefficient', 'correlation'))} with {others}"
    label = captions.correlation_label(result)
    if "correlation" in result:
        return label
    minuend = result.coords.get("_minuend")
    sides = "" if minuend is None else f"\n({captions.texts(minuend)[0]} minus the row's metric)"
    return f"difference in {label}{sides}"


def _items(
    result: xr.Dataset, hue: str | None, raters: xr.Dataset | None, shaded: bool
) -> list[tuple[str, dict[str, Any]]]:
    items: list[tuple[str, dict[str, Any]]] = []
    people = _people(result)
    if hue is not None:
        items += layout.items_of(captions.texts(result[hue]), lw=2)
    elif people.any() and not people.all():
        items += layout.items_of(["metric"], lw=2)
        whose = "raters, on average" if _of_raters(result) else "human scores"
        items += [(whose, {"color": style.ink(), "lw": 2, **_PEOPLE})]
    if _of_raters(result) and "by_rater" in result and hue is None:
        items.append(("a single rater", {"color": style.ink(), "ls": "", **_SINGLE}))
    if shaded:
        color = style.of(0)[0] if hue is None else style.grey()
        items.append((_DENSITY, {"color": color, "alpha": _shade(), "marker": "s", "ls": "", "ms": 9, "mew": 0}))
    if bool(_biased(result).any()):
        items.append((_WITHOUT_BIAS, {"color": style.ink(), **_STROKE, "ls": ""}))
    if "margin" in result.data_vars:
        one = np.unique(result["margin"].values[~np.isnan(result["margin"].values)])
        size = f" of ±{wording.setting(float(one[0]))}" if len(one) == 1 else ""
        items.append((f"equivalence margin{size}", {**_MARGIN, "color": style.ink()}))
    items += chance.items_of(chance.kinds_of(result))
    if raters is not None:
        items.append((_ceiling_words(raters), {"color": style.ink(), "ls": (0, (4, 2)), "lw": 1.3}))
    return items


def _people(result: xr.Dataset) -> Any:
    """Which rows are human scores: the gold, raters, and metrics of `kind` "human"."""
    labels = result["metric"].values
    found = np.array([_of_raters(result) and label == RATER or label == result.attrs.get("gold") for label in labels])
    if "kind" in result.coords and result["kind"].dims == ("metric",):
        found |= result["kind"].values == "human"
    return found


def _of_raters(result: xr.Dataset) -> bool:
    return result.attrs.get("analysis") == "human_ceiling"


def _raters_of(result: xr.Dataset, ceiling: xr.Dataset | None) -> xr.Dataset | None:
    """The raters' own correlation with its interval, from `ceiling` or the result itself."""
    if ceiling is None:
        ceiling = result if _of_raters(result) else None
    elif not isinstance(ceiling, xr.Dataset) or not _of_raters(ceiling):
        raise ValueError("ceiling must be what human_ceiling gives")
    elif "correlation" not in result:
        raise ValueError("ceiling holds correlations, but the result holds differences; leave ceiling out")
    if ceiling is None or "metric" not in ceiling.dims or RATER not in ceiling["metric"].values.tolist():
        return None
    selection.check_same_measure(result, ceiling, "ceiling")
    raters = ceiling[["correlation", "ci_low", "ci_high"]].sel(metric=RATER, drop=True)
    strange = [str(dim) for dim in raters.dims if dim not in result["correlation"].dims]
    if strange:
        raise ValueError(f"ceiling has the dim {strange[0]!r}, which the result has not; select one of its labels")
    return raters


def _band(axis: Any, raters: xr.Dataset, drawn: xr.Dataset, color: str) -> None:
    here = raters.sel({dim: drawn[dim] for dim in raters.dims if dim in drawn.coords})
    middle, low, high = (float(here[name]) for name in ("correlation", "ci_low", "ci_high"))
    if not np.isnan(middle):
        axis.axvspan(low, high, color=style.grey(), alpha=0.3, lw=0, zorder=0.5)
        axis.axvline(middle, color=color, lw=1.3, ls=(0, (4, 2)), zorder=1.5)


def _ceiling_words(raters: xr.Dataset) -> str:
    of_classes = wording.scale_of(raters.attrs) in ("classes", "two")
    what = "human ceiling: a rater with each other rater" if of_classes else _CEILING
    if raters["correlation"].ndim:
        return what
    middle, low, high = (float(raters[name]) for name in ("correlation", "ci_low", "ci_high"))
    return f"{what}, {middle:.2f} [{low:.2f}, {high:.2f}]"


def _shade() -> float:
    """How strong the colour of a density is."""
    return 0.5 if style.is_dark() else 0.25


def _forest_rows(axis: Any, drawn: xr.Dataset, rows: Any, height: float, look: tuple[str, str], density: bool) -> bool:
    """Draw intervals; whether some has a density."""
    shaded = False
    color, marker = look
    name = "correlation" if "correlation" in drawn else "difference"
    middle, low, high = (drawn[each].values for each in (name, "ci_low", "ci_high"))
    if density:
        for row, each in zip(rows, _densities(drawn, name), strict=True):
            if each is not None:
                x, bulge = each
                peak = row - 0.85 * height * bulge / bulge.max()
                axis.fill_between(x, row, peak, color=color, alpha=_shade(), lw=0, zorder=2)
                shaded = True
    axis.hlines(rows, low, high, color=color, lw=1.8, zorder=3)
    axis.plot(middle, rows, marker, ms=4.5, color=color, mec=style.ground(), mew=0.8, zorder=4)
    biased = np.atleast_1d(_biased(drawn).values)
    if biased.any():
        without = middle - drawn["bias"].values
        axis.plot(without[biased], rows[biased], ls="", color=color, zorder=5, **_STROKE)
    if "by_rater" in drawn and _of_raters(drawn):
        _single_raters(axis, drawn, rows, color)
    return shaded


def _single_raters(axis: Any, drawn: xr.Dataset, rows: Any, color: str) -> None:
    """Each rater's own correlation, as a small open point on the raters' row."""
    single = drawn["by_rater"].transpose("metric", ...)
    for row, label, values in zip(rows, drawn["metric"].values, single.values, strict=True):
        if label == RATER:
            axis.plot(values, np.full(values.size, row), mec=color, ls="", zorder=3.5, **_SINGLE)


def _biased(result: xr.Dataset) -> xr.DataArray:
    """Where the bias is large enough, relative to the standard error, to be drawn."""
    if not {"bias", "standard_error", "df"} <= set(result.data_vars):
        return xr.DataArray(False)
    return abs(result["bias"]) > checks.MUCH_BIAS * result["standard_error"]


_Curve = tuple[FloatArray, FloatArray]


def _densities(drawn: xr.Dataset, name: str) -> list[_Curve | None]:
    """Points of a curve for each metric, from samples or the confidence distribution; None for neither."""
    found: list[_Curve | None] = [None] * drawn.sizes["metric"]
    if "samples" in drawn:
        samples = drawn["samples"].transpose(..., "resample").values
        found = [_of_samples(row[~np.isnan(row)]) for row in samples]
    if {"bias", "df", "fell_back"} <= set(drawn.data_vars) and "confidence_level" in drawn.attrs:
        names = (name, "bias", "ci_low", "ci_high", "df", "fell_back")
        rows = zip(*(drawn[each].values.astype(float) for each in names), strict=True)
        bounds, level = captions.bounds_of(drawn, name), float(drawn.attrs["confidence_level"])
        found = [
            _of_limits(row[:5], bounds, level) if curve is None and row[5] == 0 else curve
            for curve, row in zip(found, rows, strict=True)
        ]
    return found


def _of_samples(samples: FloatArray) -> _Curve | None:
    if len(samples) < 2 or np.ptp(samples) == 0:
        return None
    from scipy.stats import gaussian_kde

    grid = np.linspace(samples.min(), samples.max(), 200)
    return grid, gaussian_kde(samples)(grid)


def _of_limits(row: tuple[float, ...], bounds: tuple[float, float], level: float) -> _Curve | None:
    """Density of a function of t with the estimate less its bias as median and the limits as quantiles.

    Of a correlation ``tanh(arctanh c + T·√V/(1 − r²))``. Of a difference, whose result holds one level only,
    ``arctanh(d/2)`` is ``a + b·(exp(g·T) − 1)/g`` through c and both limits. Heights above twice that at c are cut off.
    """
    from scipy.special import stdtrit
    from scipy.stats import t as student

    estimate, bias, low, high, df = row
    middle, half = (bounds[0] + bounds[1]) / 2, (bounds[1] - bounds[0]) / 2
    points = (np.array([low, estimate - bias, high]) - middle) / half
    bounded = bool(np.all(np.abs(points) <= 1))  # a user's function may have any values
    with np.errstate(divide="ignore"):
        below, centre, above = np.arctanh(points) if bounded else points
    down, up = centre - below, above - centre
    if low == estimate < estimate - bias:  # moved to hold the estimate
        down = up
    elif high == estimate > estimate - bias:
        up = down
    if not (0 < down < np.inf and 0 < up < np.inf and df > 0):
        return None
    quantile = float(stdtrit(df, (1 + level) / 2))
    skew = np.log(up / down) / quantile
    skew = skew if abs(skew) > 1e-6 else 1e-6
    furthest = float(stdtrit(df, 1 - _TAIL))
    at = np.linspace(-furthest, furthest, 201)
    scale = up / np.expm1(skew * quantile)
    moved = centre + scale * np.expm1(skew * at)
    heights = student.pdf(at, df) / (scale * skew * np.exp(skew * at))
    if bounded:
        seen = np.abs(moved) < _AT_1
        moved, heights = moved[seen], heights[seen] * np.cosh(moved[seen]) ** 2
        middle_height = float(student.pdf(0, df) / (scale * skew) * np.cosh(centre) ** 2)
        # It has no bound near ±1.
        return middle + half * np.tanh(moved), np.minimum(heights, 2 * middle_height)
    return middle + half * moved, heights
