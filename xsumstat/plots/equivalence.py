"""Pictures of equivalence: curves over the margin, shifts of dominance."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _validate
from xsumstat.dataset import wording
from xsumstat.plots.parts import (
    PLAIN,
    axes_for,
    coefficient_label,
    faint,
    finished,
    grid_of,
    ink,
    label_width,
    panels_of,
    shown,
    style_of,
    texts,
    variable_label,
)
from xsumstat.plots.points import name_points
from xsumstat.types import FloatArray


@_validate.public
def sensitivity(
    result: xr.Dataset,
    *,
    hue: str | None = None,
    order: Any = "value",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """The share of comparisons found equivalent as the margin grows.

    Parameters
    ----------
    result : Dataset
        What `margin_sensitivity` gave.
    hue : str, optional
        The dim whose labels share a panel; default the first. Every other dim gives one panel a label.
    order : {"value", "name", "given"} or list of labels, default "value"
        Of the labels of `hue`: the largest mean share first, by name, as in the result, or these and no others. More
        than 20 are cut to the first 20, which a note below says.
    figsize : (float, float), optional
        Width and height in inches.
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
    result, left_out = shown(result, "share", order=order, dims=(hue,)) if hue else (result, "")
    panels = panels_of(result, [dim for dim in further if dim != hue])
    across, down = grid_of(len(panels))
    labels = texts(result[hue]) if hue else []
    high = (3.0 if len(panels) == 1 else 2.6) * down + 0.2 * len(labels) / max(1, across)
    axes = axes_for(len(panels), (0.8 + 3.2 * across, 0.9 + high), ax, sharex=True, figsize=figsize)
    for axis, (name, panel) in zip(axes, panels, strict=True):
        for at in range(max(1, len(labels))):
            line = panel.isel({hue: at}) if hue else panel
            axis.plot(line["margin"], line["share"], color=style_of(at)[0], lw=1.6, ls=_dashes(at), clip_on=False)
        axis.set_title(name, fontsize=10, color=ink(), **PLAIN)
        axis.grid(axis="y", color=faint(), lw=0.7, zorder=0)
    axes[0].set_xlim(*_reach(result["margin"].values))
    axes[0].set_ylim(0, 1)
    for axis in axes[-across:]:
        axis.set_xlabel(_margin_label(result), fontsize=9.5, **PLAIN)
    for axis in axes[::across]:
        axis.set_ylabel(variable_label(result, "share"), fontsize=9.5, **PLAIN)
    looks = [{"color": style_of(at)[0], "lw": 1.6, "ls": _dashes(at)} for at in range(len(labels))]
    items = list(zip(labels, looks, strict=True))
    alpha = f"alpha {wording.number(result.attrs['alpha'])}" if "alpha" in result.attrs else ""
    notes = [wording.how(result), alpha, left_out]
    return finished(axes, ax, figsize=figsize, title=title, items=items, heading=hue or "", notes=notes)


def _reach(margins: FloatArray) -> tuple[float, float]:
    """Limits of the axis of margins."""
    low, high = float(margins.min()), float(margins.max())
    return (min(0.0, low), high) if high > low else (low - 0.5, high + 0.5)


def _margin_label(result: xr.Dataset) -> str:
    coefficient = result.attrs.get("coefficient")
    unit = "" if coefficient is None else f"\n(difference in {coefficient_label(coefficient)})"
    return f"margin of equivalence{unit}"


def _dashes(at: int) -> Any:
    return ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))[at % 4]


@_validate.public
def shifts(
    result: xr.Dataset,
    other: xr.Dataset | None = None,
    *,
    labels: tuple[str, str] = ("first", "second"),
    order: Any = "value",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
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
    order : {"value", "name", "given"} or list of labels, default "value"
        Of the rows, where there is one result: the largest mean shift on top, by name, as in the result, or these and
        no others.
    figsize : (float, float), optional
        Width and height in inches; default as large as the rows need.
    title : str, optional
        Above the picture.
    ax : matplotlib Axes, optional
        Where to draw, when there is one panel; title, legend and notes then belong to it.

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
    frame = {"figsize": figsize, "title": title, "ax": ax}
    return _shifts_by_label(result, order, **frame) if other is None else _shifts_of_two(result, other, labels, **frame)


def _shifts_by_label(result: xr.Dataset, order: Any, *, figsize: Any, title: str | None, ax: Any) -> Any:
    along, base = str(result.attrs["along"]), result.attrs["base"]
    result = result.isel({along: np.flatnonzero(result[along].values != base)})
    result, left_out = shown(result, "mean_shift", order=order, dims=(along,))
    panels = panels_of(result, [str(dim) for dim in result["mean_shift"].dims if dim != along])
    names = texts(result[along])
    across, down = grid_of(len(panels))
    size = (label_width(result[along]) + 3.4 * across, 1.1 + (0.8 + 0.34 * len(names)) * down)
    axes = axes_for(len(panels), size, ax, sharex=True, figsize=figsize)
    for axis, (name, panel) in zip(axes, panels, strict=True):
        pairs = panel["probability_shift"].transpose(along, "metric", "other_metric").values.reshape(len(names), -1)
        for row, shift in enumerate(pairs):
            axis.plot(shift, np.full(len(shift), row), "o", ms=4, color=style_of(0)[0], alpha=0.4, mew=0, zorder=2)
        axis.plot(panel["mean_shift"], np.arange(len(names)), "D", ms=6, color=style_of(1)[0], mec="white", zorder=3)
        axis.axvline(0, color="#999999", lw=0.8, zorder=1)
        axis.grid(axis="x", color=faint(), lw=0.7, zorder=0)
        axis.set_title(name, fontsize=10, color=ink(), **PLAIN)
        axis.set_xlabel(f"shift of the probability to be better,\nfrom {along} {base}", fontsize=9.5, **PLAIN)
    axes[0].set_yticks(range(len(names)), names, **PLAIN)
    axes[0].set_ylim(len(names) - 0.5, -0.5)
    looks: list[dict[str, Any]] = [
        {"color": style_of(1)[0], "marker": "D", "ls": "", "ms": 6},
        {"color": style_of(0)[0], "marker": "o", "ls": "", "ms": 4, "alpha": 0.6},
    ]
    items = list(zip(["mean", f"a pair of metrics that {base} resolves"], looks, strict=True))
    return finished(axes, ax, figsize=figsize, title=title, items=items, notes=[_draws(result), left_out])


def _shifts_of_two(
    result: xr.Dataset, other: xr.Dataset, labels: tuple[str, str], *, figsize: Any, title: str | None, ax: Any
) -> Any:
    x, y = xr.align(result["mean_shift"], other["mean_shift"], join="inner")
    x, y = xr.broadcast(x, y)
    points = xr.Dataset({"x": x, "y": y}).stack(_point=list(x.dims))
    points = points.isel(_point=np.flatnonzero((points["x"] + points["y"]).notnull().values))
    if not points.sizes["_point"]:
        raise ValueError("the two results share no label at which both have a shift")
    axes = axes_for(1, (5.4, 5.4), ax, sharex=True, figsize=figsize)
    axis = axes[0]
    reach = 1.15 * float(np.abs([points["x"], points["y"]]).max()) or 1.0
    axis.plot([-reach, reach], [-reach, reach], color="#999999", lw=0.8, ls=(0, (4, 3)), zorder=1)
    axis.axhline(0, color="#999999", lw=0.8, zorder=1)
    axis.axvline(0, color="#999999", lw=0.8, zorder=1)
    axis.plot(points["x"], points["y"], "o", ms=6, color=style_of(0)[0], mec="white", mew=0.7, zorder=3)
    axis.locator_params(nbins=5)
    axis.set_xlim(-reach, reach)
    axis.set_ylim(-reach, reach)
    axis.set_aspect("equal")
    axis.set_xlabel(f"mean shift of the probability, {labels[0]}", fontsize=9.5, **PLAIN)
    axis.set_ylabel(f"mean shift of the probability, {labels[1]}", fontsize=9.5, **PLAIN)
    names = ["/".join(map(str, np.atleast_1d(name))) for name in points["_point"].values]
    done = finished(axes, ax, figsize=figsize, title=title, notes=[_draws(result), "dashed: both shift alike"])
    name_points(axis, points["x"].values, points["y"].values, names)
    return done


def _draws(result: xr.Dataset) -> str:
    """How probabilities were had."""
    over = wording.resample_words(result.attrs)
    number = f"{int(result.attrs['n_resamples']):,} resamples" if "n_resamples" in result.attrs else ""
    return ", ".join(part for part in (number and f"probabilities from {number}", over) if part)
