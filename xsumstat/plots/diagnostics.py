"""Picture of what metrics have in common: points in the plane of two principal components."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _validate
from xsumstat.dataset import scores as schema
from xsumstat.plots.parts import PLAIN, axes_for, finished, style_of
from xsumstat.plots.points import name_points


@_validate.public
def pca(
    result: xr.Dataset,
    *,
    metric: Any = None,
    hue: str | None = None,
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Metrics as points in the plane of the first two principal components, with their names.

    Parameters
    ----------
    result : Dataset
        What `pca` gave, with two components or more.
    metric : label or list of labels, optional
        Those to be drawn; default all. The components stay those of all metrics.
    hue : str, optional
        A dim, or a coordinate of one such as ``kind(metric)``, whose labels share colour and marker. Default "metric"
        where points have a further dim, whose labels then stand beside them, else "kind" where there is that
        coordinate.
    figsize : (float, float), optional
        Width and height in inches.
    title : str, optional
        Above the picture.
    ax : matplotlib Axes, optional
        Where to draw; title, legend and notes then belong to it. Names are placed for its present size.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If the result has no coordinates, `hue` is no dim or coordinate of it, or a metric is not there.
    ImportError
        Without matplotlib or adjustText (extra "plot").

    Notes
    -----
    Coordinates are divided by the largest distance of a point from the mean of all, and one unit is as long across as
    up, so that distances compare. Metrics near each other order the outputs alike; where the two components explain
    little of the variance, such nearness may be one of the plane alone.

    References
    ----------
    Braun et al. (2022), Fig. 5.
    """
    if "coordinate" not in result or result.sizes.get("component", 0) < 2:
        raise ValueError("the result has no two components; this draws what pca gives")
    dims = [str(dim) for dim in result["coordinate"].dims if dim != "component"]
    described = [str(name) for name, coord in result.coords.items() if coord.ndim == 1 and coord.dims[0] in dims]
    if hue is not None:
        _validate.known("hue", hue, [*dims, *(name for name in described if name not in dims)], "dims and coordinates")
    elif len(dims) > 1:
        hue = dims[0]
    elif "kind" in described:
        hue = "kind"
    points = result["coordinate"].isel(component=[0, 1])
    largest = float(np.sqrt((points**2).sum("component")).max()) or 1.0
    if metric is not None and "metric" in dims:
        points = points.isel(metric=schema.choose(points, metric, "metric"))
    points = points.stack(_point=dims).transpose("component", "_point") / largest
    groups = points[hue].values.tolist() if hue is not None else [None] * points.sizes["_point"]
    axes = axes_for(1, (6.4, 5.6), ax, sharex=True, figsize=figsize)
    axis = axes[0]
    kinds: list[Hashable] = list(dict.fromkeys(groups))
    for at, kind in enumerate(kinds):
        color, marker = style_of(at)
        x, y = points.values[:, [each == kind for each in groups]]
        axis.plot(x, y, marker, ms=6.5, color=color, mec="white", mew=0.7, ls="", zorder=3)
    for line in (axis.axhline, axis.axvline):
        line(0, color="#999999", lw=0.8, zorder=1)
    axis.margins(0.12)
    axis.set_aspect("equal", adjustable="datalim")
    shares = result["explained"].values
    axis.set_xlabel(f"component 1 ({shares[0]:.0%} of the variance of ranks)", fontsize=9.5, **PLAIN)
    axis.set_ylabel(f"component 2 ({shares[1]:.0%})", fontsize=9.5, **PLAIN)
    items: list[tuple[str, dict[str, Any]]] = []
    if hue is not None and (len(dims) > 1 or hue not in dims):
        looks = [{"color": style_of(at)[0], "marker": style_of(at)[1], "ls": ""} for at in range(len(kinds))]
        items = list(zip(map(str, kinds), looks, strict=True))
    cells = f"midranks over {int(result['n_cells']):,} cells" if "n_cells" in result else ""
    done = finished(
        axes, ax, figsize=figsize, title=title, items=items, heading=hue or "", notes=[cells, "1 is the farthest point"]
    )
    beside = [dim for dim in dims if dim != hue] or dims
    labels = zip(*(points[dim].values for dim in beside), strict=True)
    name_points(axis, points.values[0], points.values[1], ["/".join(map(str, each)) for each in labels])
    return done
