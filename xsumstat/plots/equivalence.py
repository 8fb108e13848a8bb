"""Pictures of equivalence: curves over the margin, metrics as points, shifts of dominance."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _validate
from xsumstat.plots.parts import (
    PLAIN,
    axes_for,
    faint,
    grid_of,
    ink,
    label_width,
    legend,
    panels_of,
    style_of,
    texts,
    variable_label,
)


@_validate.public
def sensitivity(result: xr.Dataset, *, hue: str | None = None, ax: Any = None) -> Any:
    """The share of comparisons found equivalent as the margin grows.

    Parameters
    ----------
    result : Dataset
        What `margin_sensitivity` gave.
    hue : str, optional
        The dim whose labels share a panel; default the first. Every other dim gives one panel a label.
    ax : matplotlib Axes, optional
        Where to draw, when there is one panel.

    Returns
    -------
    Axes, or array of Axes when there are several panels

    Raises
    ------
    ValueError
        If the result has no such share, or `hue` is not one of its dims.
    ImportError
        Without matplotlib (extra "plot").

    References
    ----------
    Braun et al. (2022), Fig. 4.
    """
    if "share" not in result or "margin" not in result["share"].dims:
        raise ValueError("the result has no shares by margin; this draws what margin_sensitivity gives")
    further = [str(dim) for dim in result["share"].dims if dim != "margin"]
    if hue is not None:
        _validate.known("hue", hue, further, "further dims")
    hue = further[0] if hue is None and further else hue
    panels = panels_of(result, [dim for dim in further if dim != hue])
    across, down = grid_of(len(panels))
    axes = axes_for(len(panels), (0.8 + 3.2 * across, 0.9 + 2.6 * down), ax, sharex=True)
    labels = texts(result[hue]) if hue else []
    for axis, (title, panel) in zip(axes, panels, strict=True):
        for at in range(max(1, len(labels))):
            color, _ = style_of(at)
            line = panel.isel({hue: at}) if hue else panel
            axis.plot(line["margin"], line["share"], color=color, lw=1.6, ls=_dashes(at))
        axis.set_title(title, fontsize=10, color=ink(), **PLAIN)
        axis.set_xlabel("margin", fontsize=9.5, **PLAIN)
        axis.grid(axis="y", color=faint(), lw=0.7, zorder=0)
    axes[0].set_ylim(-0.02, 1.03)
    for axis in axes[::across]:
        axis.set_ylabel(variable_label(result, "share"), fontsize=9.5, **PLAIN)
    if hue:
        looks = [{"color": style_of(at)[0], "lw": 1.6, "ls": _dashes(at)} for at in range(len(labels))]
        legend(axes, list(zip(labels, looks, strict=True)), hue)
    return axes[0] if len(axes) == 1 else np.array(axes)


def _dashes(at: int) -> Any:
    return ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))[at % 4]


@_validate.public
def pca(result: xr.Dataset, *, hue: str = "metric", ax: Any = None) -> Any:
    """Metrics as points in the plane of the first two principal components, with their labels.

    Parameters
    ----------
    result : Dataset
        What `pca` gave, with two components or more.
    hue : str, default "metric"
        The dim whose labels share colour and marker; where there is another dim, its labels stand beside the points.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If the result has no coordinates, or `hue` is not one of its dims.
    ImportError
        Without matplotlib (extra "plot").

    References
    ----------
    Braun et al. (2022), Fig. 5.
    """
    if "coordinate" not in result or result.sizes.get("component", 0) < 2:
        raise ValueError("the result has no two components; this draws what pca gives")
    dims = [str(dim) for dim in result["coordinate"].dims if dim != "component"]
    _validate.known("hue", hue, dims, "dims")
    (axis,) = axes_for(1, (6.4, 5.2), ax, sharex=True)
    others = [dim for dim in dims if dim != hue]
    for at, label in enumerate(texts(result[hue])):
        color, marker = style_of(at)
        points = (
            result.isel({hue: at}).stack(_point=others) if others else result.isel({hue: [at]}).rename({hue: "_point"})
        )
        x, y = points["coordinate"].transpose("component", "_point").values[:2]
        axis.plot(x, y, marker, ms=6, color=color, mec="white", mew=0.7, zorder=3)
        names = ["/".join(map(str, np.atleast_1d(name))) for name in points["_point"].values] if others else [label]
        for place in zip(x, y, names, strict=True):
            if not np.isnan(place[0]):
                axis.annotate(
                    place[2],
                    place[:2],
                    xytext=(4, 3),
                    textcoords="offset points",
                    fontsize=7.5,
                    color=ink(),
                    **PLAIN,
                )
    shares = result["explained"].values
    axis.set_xlabel(f"component 1 ({shares[0]:.0%} of the variance)", fontsize=9.5, **PLAIN)
    axis.set_ylabel(f"component 2 ({shares[1]:.0%})", fontsize=9.5, **PLAIN)
    axis.axhline(0, color="#cccccc", lw=0.8, zorder=1)
    axis.axvline(0, color="#cccccc", lw=0.8, zorder=1)
    if others:
        looks = [{"color": style_of(at)[0], "marker": style_of(at)[1], "ls": ""} for at in range(result.sizes[hue])]
        legend([axis], list(zip(texts(result[hue]), looks, strict=True)), hue)
    return axis


@_validate.public
def shifts(
    result: xr.Dataset,
    other: xr.Dataset | None = None,
    *,
    labels: tuple[str, str] = ("first", "second"),
    ax: Any = None,
) -> Any:
    """Shifts of dominance from the base label to each other one, or against those of another change.

    Parameters
    ----------
    result : Dataset
        What `dominance` gave with `along`, such as for translations.
    other : Dataset, optional
        The same of another change, such as for translations back: then each label that both have is a point, its shift
        in `result` across and its shift in `other` up.
    labels : (str, str), default ("first", "second")
        What the two changes are called where there are two.
    ax : matplotlib Axes, optional
        Where to draw, when there is one panel.

    Returns
    -------
    Axes, or array of Axes when there is one result, and further dims give several panels

    Raises
    ------
    ValueError
        If one of the results has no shifts, or they share no label.
    ImportError
        Without matplotlib (extra "plot").

    Notes
    -----
    Of one result each label is a row: a large point is the mean shift, small points are the pairs of metrics that the
    base resolves. Left of 0 the metric that is ahead in the base loses of its lead; at -0.5 or beyond, nothing may be
    left of it. Of two results, points on the diagonal shift alike; nearer to the horizontal line the second change
    undoes the first.

    References
    ----------
    Braun et al. (2022), Fig. 6.
    """
    for each in (result,) if other is None else (result, other):
        if not isinstance(each, xr.Dataset) or "mean_shift" not in each:
            raise ValueError("a result has no shifts; this draws what dominance gives with along=")
    return _shifts_by_label(result, ax) if other is None else _shifts_of_two(result, other, labels, ax)


def _shifts_by_label(result: xr.Dataset, ax: Any) -> Any:
    along = str(result.attrs["along"])
    result = result.isel(
        {along: [at for at, label in enumerate(result[along].values) if label != result.attrs["base"]]}
    )
    panels = panels_of(result, [str(dim) for dim in result["mean_shift"].dims if dim != along])
    names = texts(result[along])
    across, down = grid_of(len(panels))
    size = (label_width(result[along]) + 3.4 * across, 0.4 + (0.8 + 0.34 * len(names)) * down)
    axes = axes_for(len(panels), size, ax, sharex=True)
    for axis, (title, panel) in zip(axes, panels, strict=True):
        pairs = panel["probability_shift"].transpose(along, "metric", "other_metric").values.reshape(len(names), -1)
        for row, shift in enumerate(pairs):
            axis.plot(shift, np.full(len(shift), row), "o", ms=4, color=style_of(0)[0], alpha=0.4, mew=0, zorder=2)
        axis.plot(panel["mean_shift"], np.arange(len(names)), "o", ms=6, color=style_of(1)[0], mec="white", zorder=3)
        axis.axvline(0, color="#999999", lw=0.8, zorder=1)
        axis.grid(axis="x", color=faint(), lw=0.7, zorder=0)
        axis.set_title(title, fontsize=10, color=ink(), **PLAIN)
        axis.set_xlabel(f"shift of probability from {result.attrs['base']}", fontsize=9.5, **PLAIN)
    axes[0].set_yticks(range(len(names)), names, **PLAIN)
    axes[0].set_ylim(len(names) - 0.5, -0.5)
    looks = [
        {"color": style_of(1)[0], "marker": "o", "ls": "", "ms": 6},
        {"color": style_of(0)[0], "marker": "o", "ls": "", "ms": 4, "alpha": 0.6},
    ]
    legend(axes, list(zip(["mean", "a pair of metrics"], looks, strict=True)), "")
    return axes[0] if len(axes) == 1 else np.array(axes)


def _shifts_of_two(result: xr.Dataset, other: xr.Dataset, labels: tuple[str, str], ax: Any) -> Any:
    x, y = xr.align(result["mean_shift"], other["mean_shift"], join="inner")
    x, y = xr.broadcast(x, y)
    points = xr.Dataset({"x": x, "y": y}).stack(_point=list(x.dims))
    points = points.isel(_point=np.flatnonzero((points["x"] + points["y"]).notnull().values))
    if not points.sizes["_point"]:
        raise ValueError("the two results share no label at which both have a shift")
    (axis,) = axes_for(1, (5.4, 5.0), ax, sharex=True)
    reach = 1.15 * float(np.abs([points["x"], points["y"]]).max()) or 1.0
    axis.plot([-reach, reach], [-reach, reach], color="#999999", lw=0.8, ls=(0, (4, 3)), zorder=1)
    axis.axhline(0, color="#cccccc", lw=0.8, zorder=1)
    axis.axvline(0, color="#cccccc", lw=0.8, zorder=1)
    axis.plot(points["x"], points["y"], "o", ms=6, color=style_of(0)[0], mec="white", mew=0.7, zorder=3)
    for at, name in enumerate(points["_point"].values):
        text = "/".join(map(str, np.atleast_1d(name)))
        place = float(points["x"][at]), float(points["y"][at])
        axis.annotate(text, place, xytext=(4, 3), textcoords="offset points", fontsize=7.5, color=ink(), **PLAIN)
    axis.locator_params(nbins=5)
    axis.set_xlim(-reach, reach)
    axis.set_ylim(-reach, reach)
    axis.set_xlabel(f"mean shift, {labels[0]}", fontsize=9.5, **PLAIN)
    axis.set_ylabel(f"mean shift, {labels[1]}", fontsize=9.5, **PLAIN)
    return axis
