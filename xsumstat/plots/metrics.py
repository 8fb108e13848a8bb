"""Pictures of metrics: intervals as a forest, p-values of pairs as a matrix, ranks as clusters, tasks as a table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _validate
from xsumstat.dataset import checks, results, wording
from xsumstat.plots.parts import (
    INK,
    PLAIN,
    axes_for,
    bounds_of,
    coefficient_label,
    colour,
    correlation_label,
    faint,
    finished,
    grid_of,
    grounds,
    ink,
    label_width,
    legend,
    panels_of,
    shown,
    style_of,
    texts,
)
from xsumstat.types import FloatArray

_WITHOUT_BIAS = "estimate less its bias\n(drawn where that exceeds ¼ standard error)"
# The tails of a confidence distribution that are not drawn.
_TAIL = 0.001
# arctanh of what is 1 to rounding.
_AT_1 = 19.0
_FRAME = "#D55E00"
_STEPS = ("#08519c", "#6baed6", "#c6dbef", "#f5f5f5")


@_validate.public
def forest(
    result: xr.Dataset,
    *,
    metric: Any = None,
    order: Any = "value",
    hue: str | None = None,
    density: bool = True,
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Intervals of the metrics' correlations, or of their differences from another metric's, one row a metric.

    Parameters
    ----------
    result : Dataset
        What `ci` gave.
    hue : str, optional
        A further dim whose labels share a panel, told apart by colour. Every other further dim gives one panel
        a label, as does every ``other_metric`` of differences.
    density : bool, default True
        Draw, behind each interval, the density of the bootstrap's samples, kept with ``keep_samples=True``, or the
        confidence distribution of the jackknife (see Notes).
    metric : label or list of labels, optional
        Those to be drawn; default all, or where there are more than 20 the first 20 in order, which a note below says.
    order : {"value", "name", "given"} or list of labels, default "value"
        The best on top, by name, as in the result, or these labels and no others.
    figsize : (float, float), optional
        Width and height in inches; default as large as the rows need.
    title : str, optional
        Above the picture.
    ax : matplotlib Axes, optional
        Where to draw, when there is one panel; title, legend and notes then belong to it.

    Returns
    -------
    Axes, or array of Axes when there are several panels

    Raises
    ------
    ValueError
        If the result has no intervals, or `hue` is not one of its further dims.
    ImportError
        Without matplotlib (extra "plot").

    Notes
    -----
    The metrics stand in the order of the result, from the top: ``result.sortby("correlation")`` changes it. Two levels
    in one picture: ``xr.concat([a, b], dim=pd.Index(["system", "input"], name="level"))`` and ``hue="level"``
    (Deutsch et al. 2021, Fig. 4).

    A point is the estimate. Where the bias of a jackknife is more than a quarter of the standard error, a stroke marks
    the estimate less its bias, about which the interval lies.

    The confidence distribution of a jackknife has the limits of an interval of any level as its quantiles. Of a
    correlation it is ``tanh(arctanh c + T·√V/(1 − r²))``, c the estimate less its bias and T a t with the degrees of
    freedom of the result; accuracies are brought to the scale 2p − 1 first. A result holds the limits of a difference,
    or of a pooled correlation, at one level only: these are quantiles of what is drawn, c is its median, and between
    them ``arctanh(d/2)`` is taken for ``a + b·(exp(g·T) − 1)/g``, which is skewed as the limits are (Tukey's g
    distribution of t). A limit that was moved to hold the estimate is not followed, an interval that fell back has no
    distribution, and heights of more than twice that at c, as near ±1, are cut off.

    References
    ----------
    Xie & Singh (2013), "Confidence distribution, the frequentist distribution estimator of a parameter: a review",
    International Statistical Review 81. Hoaglin (1985), "Summarizing shape numerically: the g-and-h distributions".
    """
    middle = "correlation" if "correlation" in result else "difference"
    if not {middle, "ci_low", "ci_high"} <= set(result.data_vars):
        raise ValueError("the result has no intervals; this draws what ci gives")
    _validate.flag("density", density)
    if result[middle].size == 0:
        raise ValueError("the result is empty: there is nothing to draw")
    further = [str(dim) for dim in result[middle].dims if dim != "metric"]
    if hue is not None:
        _validate.known("hue", hue, further, "further dims")
    result, left_out = shown(result, middle, metric=metric, order=order)
    panels = panels_of(result, [dim for dim in further if dim != hue])
    n_metrics = result.sizes.get("metric", 1)
    across, down = grid_of(len(panels))
    per_row = 0.34 if hue is None else 0.2 + 0.13 * result.sizes[hue]
    size = (label_width(result["metric"]) + 3.8 * across, 0.4 + (0.7 + per_row * n_metrics) * down)
    axes = axes_for(len(panels), size, ax, sharex=True, figsize=figsize)
    hues = [None] if hue is None else list(range(result.sizes[hue]))
    for axis, (name, panel) in zip(axes, panels, strict=True):
        for at, number in enumerate(hues):
            drawn = panel if number is None else panel.isel({hue: number})
            offset = (at - (len(hues) - 1) / 2) * 0.8 / len(hues)
            _forest_rows(axis, drawn, offset, 0.8 / len(hues), style_of(at), density)
        axis.set_title(name, fontsize=10, color=ink(), **PLAIN)
        label = correlation_label(result)
        axis.set_xlabel(label if middle == "correlation" else f"difference in {label}", fontsize=9.5, **PLAIN)
    axes[0].set_yticks(range(n_metrics), texts(result["metric"]), **PLAIN)
    axes[0].set_ylim(n_metrics - 0.45, -0.9)
    items: list[tuple[str, dict[str, Any]]] = []
    if hue is not None:
        styles = [{"color": color, "marker": marker, "lw": 2} for color, marker in map(style_of, range(len(hues)))]
        items += zip(texts(result[hue]), styles, strict=True)
    if bool(_biased(result).any()):
        items.append((_WITHOUT_BIAS, {"color": ink(), **_STROKE, "ls": ""}))
    notes = [wording.how(result), left_out]
    return finished(axes, ax, title=title, items=items, heading=hue or "", notes=notes)


_STROKE = {"marker": "|", "ms": 9, "mew": 1.6}


def _forest_rows(
    axis: Any, drawn: xr.Dataset, offset: float, height: float, style: tuple[str, str], density: bool
) -> None:
    color, marker = style
    rows = np.arange(drawn.sizes.get("metric", 1)) + offset
    name = "correlation" if "correlation" in drawn else "difference"
    middle, low, high = (np.atleast_1d(drawn[each].values) for each in (name, "ci_low", "ci_high"))
    if density:
        for row, each in zip(rows, _densities(drawn, name), strict=True):
            if each is not None:
                x, bulge = each
                peak = row - 0.85 * height * bulge / bulge.max()
                axis.fill_between(x, row, peak, color=color, alpha=0.22, lw=0, zorder=2)
    axis.hlines(rows, low, high, color=color, lw=1.8, zorder=3)
    axis.plot(middle, rows, marker, ms=4.5, color=color, mec="white", mew=0.8, zorder=4)
    biased = np.atleast_1d(_biased(drawn).values)
    if biased.any():
        without = middle - np.atleast_1d(drawn["bias"].values)
        axis.plot(without[biased], rows[biased], ls="", color=color, zorder=5, **_STROKE)
    axis.axvline(0, color="#999999", lw=0.8, zorder=1)
    axis.grid(axis="x", color=faint(), lw=0.7, zorder=0)


def _biased(result: xr.Dataset) -> xr.DataArray:
    """Where the bias is so large beside the standard error that it is drawn."""
    if not {"bias", "standard_error", "df"} <= set(result.data_vars):
        return xr.DataArray(False)
    return abs(result["bias"]) > checks.MUCH_BIAS * result["standard_error"]


_Curve = tuple[FloatArray, FloatArray]


def _densities(drawn: xr.Dataset, name: str) -> list[_Curve | None]:
    """Points of a curve for each metric: of its samples, or else of its confidence distribution; None for neither."""
    n = drawn.sizes.get("metric", 1)
    found: list[_Curve | None] = [None] * n
    if "samples" in drawn:
        samples = np.atleast_2d(drawn["samples"].transpose(..., "resample").values)
        found = [_of_samples(row[~np.isnan(row)]) for row in samples]
    if {"bias", "df", "fell_back"} <= set(drawn.data_vars) and "confidence_level" in drawn.attrs:
        names = (name, "bias", "ci_low", "ci_high", "df", "fell_back")
        rows = zip(*(np.atleast_1d(drawn[each].values).astype(float) for each in names), strict=True)
        bounds, level = bounds_of(drawn, name), float(drawn.attrs["confidence_level"])
        found = [
            _of_limits(row[:5], bounds, level) if curve is None and row[5] == 0 else curve
            for curve, row in zip(found, rows, strict=True)
        ]
    return found


def _of_samples(samples: FloatArray) -> _Curve | None:
    """The samples' density."""
    if len(samples) < 2 or np.ptp(samples) == 0:
        return None
    from scipy.stats import gaussian_kde

    grid = np.linspace(samples.min(), samples.max(), 200)
    return grid, gaussian_kde(samples)(grid)


def _of_limits(row: tuple[float, ...], bounds: tuple[float, float], level: float) -> _Curve | None:
    """The density of a function of t whose median is the estimate less its bias, and whose quantiles the limits are."""
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


@_validate.public
def pvalues(result: xr.Dataset, *, alpha: float = 0.05, annotate: bool | None = None, ax: Any = None) -> Any:
    """p-values of pairs of metrics, systems or versions as a matrix; a frame marks those that survive the correction.

    Parameters
    ----------
    result : Dataset
        What `perm_test`, `boot_test`, `corr_test`, `equivalence` or `compare_systems` gave, corrected if there are to
        be frames.
    alpha : float, default 0.05
        Level of the tests: a cell is coloured where ``pvalue <= alpha``, darker at alpha/5 and alpha/50, and framed
        where ``pvalue_adjusted <= alpha``.
    annotate : bool, optional
        Write the p-values into the cells; default where there are at most 14 columns.
    ax : matplotlib Axes, optional
        Where to draw, when there is one panel.

    Returns
    -------
    Axes, or array of Axes when further dims give several panels

    Raises
    ------
    ValueError
        If the result has no p-values of metric pairs.
    ImportError
        Without matplotlib (extra "plot").

    References
    ----------
    Deutsch et al. (2021), Figs. 5 and 6.
    """
    alpha = _validate.fraction("alpha", alpha)
    sides = _sides(result)
    if sides is None:
        raise ValueError("the result has no p-values of metric pairs; this draws what perm_test gives")
    if result["pvalue"].size == 0:
        raise ValueError("the result is empty: there is nothing to draw")
    panels = panels_of(result, [str(dim) for dim in result["pvalue"].dims if dim not in sides])
    rows, columns = (result.sizes[dim] for dim in sides)
    annotate = columns <= 14 if annotate is None else _validate.flag("annotate", annotate)
    cell = 0.42 if annotate else 0.3
    below = label_width(result[sides[1]])
    across, down = grid_of(len(panels))
    width = label_width(result[sides[0]]) + (cell * columns + 0.3) * across
    size = (width, 0.6 + (0.6 + 0.75 * below + cell * rows) * down)
    axes = axes_for(len(panels), size, ax, sharex=False)
    for axis, (title, panel) in zip(axes, panels, strict=True):
        _matrix(axis, panel, sides, alpha, annotate)
        axis.set_title(title, fontsize=10, color=ink(), **PLAIN)
    axes[0].set_yticks(range(rows), texts(result[sides[0]]), **PLAIN)
    _matrix_legend(axes, result, alpha, sides[0])
    return axes[0] if len(axes) == 1 else np.array(axes)


def _sides(result: xr.Dataset) -> tuple[str, str] | None:
    """The dims down and across the matrix: metrics or systems with others, or metrics with versions of themselves."""
    if "pvalue" not in result:
        return None
    along = result.attrs.get("along")
    versions = ("metric", str(along)) if {"metric", along} <= set(result["pvalue"].dims) else None
    return results.pair_dims(result["pvalue"]) or versions


def _matrix(axis: Any, panel: xr.Dataset, order: tuple[str, str], alpha: float, annotate: bool) -> None:
    p = panel["pvalue"].transpose(*order).values
    adjusted = (
        panel["pvalue_adjusted"].transpose(*order).values if "pvalue_adjusted" in panel else np.full(p.shape, np.nan)
    )
    for i, j in np.ndindex(p.shape):
        if math.isnan(p[i, j]):
            axis.plot(j, i, "_", color="#bbbbbb", ms=5)
            continue
        step = sum(p[i, j] > limit for limit in (alpha / 50, alpha / 5, alpha))
        axis.add_patch(_square(j, i, 0.92, facecolor=_STEPS[step], edgecolor="none"))
        if adjusted[i, j] <= alpha:
            axis.add_patch(_square(j, i, 0.84, facecolor="none", edgecolor=_FRAME, lw=1.8, zorder=3))
        if annotate:
            axis.text(
                j,
                i,
                _short(float(p[i, j])),
                ha="center",
                va="center",
                fontsize=6.5,
                color="white" if step == 0 else INK,
                **PLAIN,
            )
    axis.set_xlim(-0.5, p.shape[1] - 0.5)
    axis.set_ylim(p.shape[0] - 0.5, -0.5)
    axis.set_aspect("equal")
    labels = texts(panel[order[1]])
    axis.set_xticks(range(len(labels)), labels, rotation=45, ha="right", rotation_mode="anchor", **PLAIN)
    axis.tick_params(length=0)
    for spine in axis.spines.values():
        spine.set_visible(False)


def _square(x: float, y: float, width: float, **style: Any) -> Any:
    patches = _validate.optional("matplotlib.patches", "plot")
    return patches.Rectangle((x - width / 2, y - width / 2), width, width, **style)


def _short(p: float) -> str:
    """A p-value in three characters or four."""
    if p < 0.001:
        return "<.001"
    return f"{p:.3f}"[1:] if p < 0.0995 else f"{p:.2f}".removeprefix("0")


def _matrix_legend(axes: list[Any], result: xr.Dataset, alpha: float, rows: str) -> None:
    names = [f"p ≤ {alpha / 50:.2g}", f"p ≤ {alpha / 5:.2g}", f"p ≤ {alpha:.2g}", f"p > {alpha:.2g}"]
    style = {"marker": "s", "ls": "", "ms": 9}
    items: list[tuple[str, dict[str, Any]]] = [
        (name, {**style, "color": color, "mec": "#cccccc"}) for name, color in zip(names, _STEPS, strict=True)
    ]
    if "pvalue_adjusted" in result:
        method = result.attrs.get("adjust_method", "corrected")
        items.append((f"{method} ≤ {alpha:.2g}", {**style, "mfc": "none", "mec": _FRAME, "mew": 1.8}))
    alike = f"is it as good as with {result.attrs.get('base')}?" if "base" in result.attrs else "are the two as good?"
    question = (
        alike
        if result.attrs.get("analysis") == "equivalence"
        else {
            "greater": f"is the row {rows} better than the column's?",
            "less": f"is the row {rows} worse than the column's?",
        }.get(result.attrs.get("alternative", ""), f"do the two {rows}s differ?")
    )
    legend(axes, items, question)


@_validate.public
def clusters(result: xr.Dataset, *, ax: Any = None) -> Any:
    """Metrics in order of their correlation, each cluster on a ground of its own.

    Parameters
    ----------
    result : Dataset
        What `rank` gave.
    ax : matplotlib Axes, optional
        Where to draw, when there is one panel.

    Returns
    -------
    Axes, or array of Axes when further dims give several panels

    Raises
    ------
    ValueError
        If the result has no clusters.
    ImportError
        Without matplotlib (extra "plot").
    """
    if not {"correlation", "cluster", "rank"} <= set(result.data_vars):
        raise ValueError("the result has no clusters; this draws what rank gives")
    if result["cluster"].size == 0:
        raise ValueError("the result is empty: there is nothing to draw")
    panels = panels_of(result, [str(dim) for dim in result["cluster"].dims if dim != "metric"])
    rows = result.sizes["metric"]
    across, down = grid_of(len(panels))
    size = ((label_width(result["metric"]) + 3.2) * across, 0.7 + (0.5 + 0.3 * rows) * down)
    axes = axes_for(len(panels), size, ax, sharex=True, sharey=False)
    for axis, (title, panel) in zip(axes, panels, strict=True):
        _cluster_rows(axis, panel)
        axis.set_title(title, fontsize=10, color=ink(), **PLAIN)
        axis.set_xlabel(correlation_label(result), fontsize=9.5, **PLAIN)
    return axes[0] if len(axes) == 1 else np.array(axes)


def _cluster_rows(axis: Any, panel: xr.Dataset) -> None:
    """A panel's metrics from the best down; those without a correlation are not in it."""
    panel = panel.isel(metric=np.flatnonzero(panel["rank"].values > 0))
    panel = panel.isel(metric=np.argsort(-panel["correlation"].values, kind="stable"))
    r, cluster = panel["correlation"].values, panel["cluster"].values
    for number in np.unique(cluster):
        at = np.flatnonzero(cluster == number)
        axis.axhspan(at[0] - 0.5, at[-1] + 0.5, color=grounds()[number % 2], lw=0, zorder=0)
        axis.annotate(
            str(number), (1, at.mean()), xycoords=("axes fraction", "data"), xytext=(-4, 0), textcoords="offset points",
            ha="right", va="center", fontsize=9, color="#777777",
            **PLAIN,
        )  # fmt: skip
    axis.plot(r, np.arange(len(r)), "o", ms=5, color=colour(0), mec="white", mew=0.8, zorder=3)
    axis.set_yticks(range(len(r)), texts(panel["metric"]), **PLAIN)
    axis.set_ylim(len(r) - 0.5, -0.5)
    axis.margins(x=0.15)
    axis.grid(axis="x", color=faint(), lw=0.7, zorder=1)


@_validate.public
def tasks(result: xr.Dataset, *, ax: Any = None) -> Any:
    """A table of metrics, the best on top, and tasks: each correlation with its cluster, dark for the best cluster.

    Parameters
    ----------
    result : Dataset
        What `rank_tasks` gave.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If the result has no tasks.
    ImportError
        Without matplotlib (extra "plot").

    References
    ----------
    Freitag et al. (2024), "Results of the WMT24 Metrics Shared Task", Table 1.
    """
    if "task_cluster" not in result:
        raise ValueError("the result has no tasks; this draws what `rank_tasks` gives")
    metrics, names = texts(result["metric"]), ["average", *texts(result["task"])]
    values = np.column_stack([result["average_score"], result["correlation"].transpose("metric", "task")])
    clusters = np.column_stack([result["cluster"], result["task_cluster"].transpose("metric", "task")])
    size = (1.2 + label_width(result["metric"]) + 1.15 * len(names), 1.2 + 0.3 * len(metrics))
    (axis,) = axes_for(1, size, ax, sharex=False)
    shade = np.where(clusters > 0, 1 / np.maximum(clusters, 1), 0.0)
    axis.imshow(shade, cmap="Blues", vmin=0, vmax=1.6, aspect="auto")
    for row, column in np.ndindex(values.shape):
        known = clusters[row, column] > 0
        told = f"{values[row, column]:.3f} ({clusters[row, column]})" if known else "–"
        axis.text(column, row, told, ha="center", va="center", fontsize=8, color="#000000", **PLAIN)
    axis.axvline(0.5, color=INK, lw=1)
    axis.set_yticks(range(len(metrics)), metrics, fontsize=8, **PLAIN)
    axis.set_xticks(
        range(len(names)), [_two_lines(result, name, at) for at, name in enumerate(names)], fontsize=8, **PLAIN
    )
    axis.tick_params(top=True, bottom=False, labeltop=True, labelbottom=False, length=0)
    axis.spines[:].set_visible(False)
    return axis


def _two_lines(result: xr.Dataset, name: str, at: int) -> str:
    """A task's name over what it asks."""
    if at == 0:
        return name
    coefficient = str(result["coefficient"].values[at - 1])
    return f"{name}\n{coefficient_label(coefficient)}"
