"""Metrics in the plane of two principal components, and bars of variance components."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xsumstat.core import extras, validate
from xsumstat.plots import captions, layout, marks, selection, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@validate.public
@style.on_its_ground
def pca(
    result: xr.Dataset,
    *,
    hue: str | None = None,
    metric: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Hashable] = "given",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw `pca`: metrics as points in the plane of the first two principal components.

    Source: Braun et al. (2022), Fig. 5.

    Parameters
    ----------
    {result}
    hue : str, optional
        Dim, or coordinate of metrics, shown by colour and marker. Default "kind", or "metric" if additional dims give
        points.
    {metric.few order.given}
        Order of the legend and of colours. "value": the largest coordinate first.
    {picture.single}

    Returns
    -------
    Axes
        Both axes have one scale; the signs of components have no meaning. Needs adjustText (extra "plot").

    {demo}
    >>> axes = ds.meta.pca().meta.plot.pca()
    >>> axes.get_xlabel()
    'component 1 (29% of the variance)'
    """
    if "coordinate" not in result or result.sizes.get("component", 0) < 2:
        raise ValueError("the result has no two components; this draws what pca gives")
    result, _ = selection.shown(result, "coordinate", metric=metric, order=order, most=None)
    dims = [str(dim) for dim in result["coordinate"].dims if dim != "component"]
    group_of, hue = _groups(result, dims, hue)
    groups = list(dict.fromkeys(group_of.values.ravel().tolist())) if hue else [""]
    beside = [dim for dim in dims if dim != hue]
    items = layout.items_of([captions.clipped(str(group)) for group in groups if hue and beside], ls="")
    result = result.assign(coordinate=result["coordinate"] / _spread_of_ranks(result))
    limits = _limits(result["coordinate"])
    shape = (limits[1][1] - limits[1][0]) / (limits[0][1] - limits[0][0])
    wide = 6.4 if group_of.size <= selection.MOST else 9.0
    size = (wide, 0.9 + (wide - 0.8) * shape + layout.legend_height([name for name, _ in items], wide))
    (axis,) = layout.axes_for(1, size, ax, sharex=True, figsize=figsize)
    places, names = [], []
    for at, group in enumerate(groups):
        x, y, labels = _points(result["coordinate"], group_of == group if hue else group_of, beside or dims)
        color, marker = style.of(at)
        axis.plot(x, y, marker, ls="", ms=6, color=color, mec=style.ground(), mew=0.7, zorder=3)
        places += list(zip(x, y, strict=True))
        names += labels
    axis.update_datalim(np.transpose(limits))
    axis.margins(0)
    axis.set_aspect("equal", adjustable="datalim")  # limits grow where the axes have another shape
    _components(axis, result["explained"].values)
    drawn = layout.finished([axis], ax, title=title, items=items, heading=hue or "", notes=[_cells(result)])
    label_points(axis, places, names)
    return drawn


def _groups(result: xr.Dataset, dims: list[str], hue: str | None) -> tuple[xr.DataArray, str | None]:
    """Label of `hue` of each point, and `hue` or its default; None where all points look alike."""
    of_metrics = [str(name) for name, coord in result.coords.variables.items() if coord.dims == ("metric",)]
    if hue is None:
        hue = "metric" if len(dims) > 1 else "kind" if "kind" in of_metrics else None
    points = result["coordinate"].isel(component=0, drop=True)
    if hue is None:
        return xr.ones_like(points, dtype=bool), None
    validate.known("hue", hue, list(dict.fromkeys([*dims, *of_metrics])), "dims and coordinates of metrics")
    return xr.broadcast(points, result[hue].astype(str))[1].transpose(*points.dims), hue


def _points(coordinate: xr.DataArray, chosen: xr.DataArray, beside: list[str]) -> tuple[Any, Any, list[str]]:
    x, y = (coordinate.isel(component=at) for at in (0, 1))
    where = np.argwhere(chosen.values & x.notnull().values)
    labels = [
        "/".join(captions.texts(coordinate[dim])[row[coordinate.dims.index(dim)]] for dim in beside)
        for row in where.tolist()
    ]
    at = tuple(where.T)
    return x.values[at], y.values[at], labels


def _limits(coordinate: xr.DataArray) -> list[tuple[float, float]]:
    """Limits of both axes: all points with space for names, similar lengths."""
    ends = [coordinate.isel(component=at) for at in (0, 1)]
    low, high = (np.array([float(reach(each)) for each in ends]) for reach in (np.nanmin, np.nanmax))
    middle, half = (low + high) / 2, 0.6 * (high - low)
    half = np.maximum(half, 0.6 * half.max()) if half.max() > 0 else np.ones(2)
    return list(zip((middle - half).tolist(), (middle + half).tolist(), strict=True))


def _components(axis: Any, shares: Any) -> None:
    for at, (set_label, line) in enumerate(((axis.set_xlabel, axis.axhline), (axis.set_ylabel, axis.axvline))):
        set_label(f"component {at + 1} ({shares[at]:.0%} of the variance)", fontsize=9.5, **style.PLAIN)
        line(0, color=style.faint(), lw=0.8, zorder=1)


def _spread_of_ranks(result: xr.Dataset) -> xr.DataArray | float:
    """Square root of the sum of squares of the ranks of all outputs around their mean, without ties.

    In this unit the squared distance of two points is 2 − 2 rho, Spearman's, if two components have all the variance.
    """
    if "n_cells" not in result:
        return 1.0
    n = result["n_cells"].astype(float)
    return ((n * (n**2 - 1) / 12) ** 0.5).where(n > 1, 1.0)


def _cells(result: xr.Dataset) -> str:
    """Number of outputs behind the components, and how to read distances."""
    if "n_cells" not in result or result["n_cells"].size != 1:
        return ""
    return (
        f"ranks of {int(result['n_cells']):,} outputs; at distance d, Spearman's ρ of two points is about 1 − d²/2, as "
        "far as two components show it"
    )


@validate.public
@style.on_its_ground
def variance_components(
    result: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Hashable] = "given",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw `variance_components`: shares of systems, inputs and cells in the variance, one bar per metric.

    Parameters
    ----------
    result : Dataset
        Result of `variance_components`.
    {metric.drawn order.given}
        "value": the largest share of systems on top. The gold comes first.
    {picture}

    Returns
    -------
    Axes or array of Axes
        An array if there are several panels. A whisker is the standard error of the systems' share.

    {demo}
    >>> ds.meta.variance_components("human", metric="judge").meta.plot.variance_components().get_xlabel()
    'share of the variance of a score'
    """
    if "share" not in result or not {"metric", "effect"} <= set(result["share"].dims):
        raise ValueError("the result has no shares of effects; this draws what variance_components gives")
    by_value = isinstance(order, str) and order == "value"
    ordered = result.assign(_value=result["share"].sel(effect="system")) if by_value else result
    result, left_out = selection.shown(ordered, "_value" if by_value else "share", metric=metric, order=order)
    further = selection.further_dims(result["share"], "metric", "effect")
    panels = layout.panels_of(result[["share", "variance", "standard_error"]], further)
    effects = captions.texts(result["effect"])
    size: dict[str, Any] = {"above": 0.3, "panel": 0.75, "row": 0.28, "legend": effects, "margins": (0.45, 0.55)}
    axes = layout.row_axes(result["metric"], len(panels), ax, **size, figsize=figsize)
    for axis, (name, panel) in zip(axes, panels, strict=True):
        _shares(axis, panel)
        layout.panel_title(axis, name, layout.INCHES)
    layout.name_axes(axes, captions.variable_label(result, "share"))
    items = layout.items_of(effects, marker="s", ls="", ms=8)
    note = "whiskers: the systems' part with one standard error to either side"
    return layout.finished(axes, ax, title=title, items=items, notes=[note, left_out])


def _shares(axis: Any, panel: xr.Dataset) -> None:
    """Stacked bars of all effects, and the standard error of the first."""
    rows, start = np.arange(panel.sizes["metric"]), np.zeros(panel.sizes["metric"])
    for at in range(panel.sizes["effect"]):
        values = np.nan_to_num(panel["share"].isel(effect=at).values)
        axis.barh(rows, values, 0.74, start, color=style.of(at)[0], ec=style.ground(), lw=0.8, zorder=2)
        start += values
    marks.missing(axis, rows[start == 0])
    total = panel["variance"].sum("effect")
    middle = panel["share"].sel(effect="system").values
    reach = (panel["standard_error"].sel(effect="system") / total.where(total > 0)).values
    low, high = np.clip(middle - reach, 0, 1), np.clip(middle + reach, 0, 1)
    marks.whiskers(axis, rows, low, high)
    axis.set_xlim(0, 1)


def label_points(axis: Any, places: Sequence[tuple[float, float]], names: Sequence[str]) -> None:
    """Write names beside points without overlap, with a thin line to distant points."""
    adjust: Any = extras.optional("adjustText", "plot")
    if not names:
        return
    axis.figure.draw_without_rendering()
    look: dict[str, Any] = {
        "fontsize": style.SMALL + (0.5 if len(names) <= selection.MOST else 0.0),
        "color": style.ink(),
        **style.PLAIN,
    }
    points = axis.transData.transform(np.array(places, dtype=float))
    starts = axis.transData.inverted().transform(points + np.array([5.0, 2.0]) * axis.figure.dpi / 72)
    words = [axis.text(x, y, name, zorder=4, **look) for (x, y), name in zip(starts, names, strict=True)]
    boxes = [word.get_window_extent() for word in words]
    fits = [1.1 * box.width < axis.bbox.width and 1.4 * box.height < axis.bbox.height for box in boxes]
    x, y = np.array(places, dtype=float).T
    # A number of steps, not of seconds: one picture on every machine.
    adjust.adjust_text(
        [word for word, small in zip(words, fits, strict=True) if small],
        x=x, y=y, ax=axis, expand=(1.06, 1.3), force_text=(0.2, 0.4), iter_lim=400,
    )  # fmt: skip
    kept: list[Any] = []
    for word, place in zip(words, places, strict=True):
        box = word.get_window_extent()
        if any(box.overlaps(each) for each in kept) or not _within(box, axis.bbox):
            word.remove()
        else:
            kept.append(box)
            _lead(axis, box, place)
    if len(kept) < len(words):
        left_out = f"{len(words) - len(kept)} of {len(words)} names left out for lack of space"
        corner: dict[str, Any] = {"transform": axis.transAxes, "ha": "right", "va": "bottom", "fontsize": style.SMALL}
        axis.text(0.995, 0.005, left_out, color=style.muted(), **corner, **style.PLAIN)


def _within(box: Any, frame: Any) -> bool:
    return bool(box.x0 >= frame.x0 - 1 and box.x1 <= frame.x1 + 1 and box.y0 >= frame.y0 - 1 and box.y1 <= frame.y1 + 1)


def _lead(axis: Any, box: Any, place: tuple[float, float]) -> None:
    point = axis.transData.transform(place)
    nearest = np.clip(point, box.min, box.max)
    if np.hypot(*(nearest - point)) > 0.11 * axis.figure.dpi:
        ends = np.array([place, axis.transData.inverted().transform(nearest)])
        axis.plot(*ends.T, color=style.muted(), lw=0.5, zorder=2)
