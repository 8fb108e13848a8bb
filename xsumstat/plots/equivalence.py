"""Pictures of equivalence: curves over the margin, shifts of dominance."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.dataset import wording
from xsumstat.plots import captions, layout, selection, style
from xsumstat.plots.components import label_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROWS = 60  # labels of one picture unless others are named


@validate.public
@style.on_its_ground
def sensitivity(
    result: xr.Dataset,
    *,
    hue: str | None = None,
    metric: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Hashable] = "value",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw `margin_sensitivity`: the share of comparisons found equivalent as the margin grows.

    Source: Braun et al. (2022), Fig. 4.

    Parameters
    ----------
    {result}
    hue : str, optional
        Dim whose labels share a panel; default the first. Each label of the others has a panel.
    metric : label or list of labels, optional
        Metrics to draw, for shares by metric; default all, or the first 20 in order, with a note.
    {order}
        Order of the metrics, or else of the labels of `hue`. "value": the largest mean share first.
    {picture}

    {axes}

    {demo}
    >>> shares = ds.meta.margin_sensitivity("human", other="judge", level="input", n_resamples=99, rng=1)
    >>> axes = shares.meta.plot.sensitivity()
    >>> axes.get_xlabel().splitlines()[0]
    'margin of equivalence'
    """
    if "share" not in result or "margin" not in result["share"].dims:
        raise ValueError("the result has no shares by margin; this draws what margin_sensitivity gives")
    further = selection.further_dims(result["share"], "margin", hue=hue)
    hue = further[0] if hue is None and further else hue
    by_metric = "metric" in further or metric is not None
    sorted_dim = "metric" if by_metric else hue or "metric"
    result, left_out = selection.shown(result, "share", metric=metric, order=order, dims=(sorted_dim,))
    panels = layout.panels_of(result, [dim for dim in further if dim != hue])
    across, down = layout.grid_of(len(panels))
    labels = captions.texts(result[hue]) if hue else []
    panel_wide = 3.2 if len(panels) > 1 else 4.6
    wide = 0.8 + panel_wide * across
    size = (wide, 0.4 + layout.legend_height(labels, max(5.0, wide)) + 2.7 * down)
    axes = layout.axes_for(len(panels), size, ax, sharex=True, figsize=figsize)
    for axis, (name, panel) in zip(axes, panels, strict=True):
        for at, line in enumerate(layout.parts_by(panel, hue)):
            axis.plot(line["margin"], line["share"], **_line(at), ms=3.5, clip_on=False, zorder=3)
        layout.panel_title(axis, name, panel_wide - 0.3)
        layout.grid(axis, "y")
    margins = result["margin"].values
    if len(margins) > 1:
        axes[0].set_xlim(0.0, float(margins.max()))
    axes[0].set_ylim(0.0, 1.0)
    unit = f"\n(difference in {captions.correlation_label(result)})" if "coefficient" in result.attrs else ""
    layout.name_axes(axes, f"margin of equivalence{unit}", fontsize=9)
    layout.name_axes(axes, y=captions.variable_label(result, "share"))
    items = [(label, {**_line(at), "ms": 4}) for at, label in enumerate(labels)]
    return layout.finished(axes, ax, title=title, items=items, heading=hue or "", notes=[_tests(result), left_out])


def _line(at: int) -> dict[str, Any]:
    """Colour, marker and dashes: lines of shares often meet at 0 and at 1."""
    color, marker = style.of(at)
    return {"color": color, "marker": marker, "lw": 1.4, "ls": style.DASHES[at % len(style.DASHES)]}


def _tests(result: xr.Dataset) -> str:
    attrs = result.attrs
    how = wording.how(result.assign(pvalue=result["share"])) if "method" in attrs else ""
    found = how.removesuffix("; p-values not corrected")
    n = result["n_tests"].values if "n_tests" in result else np.array([])
    number = f"{n.flat[0]:,} tests a point" if n.size and (n == n.flat[0]).all() else ""
    level = f"alpha {attrs['alpha']:g}" if "alpha" in attrs else ""
    return "; ".join(each for each in (found, number, level) if each)


@validate.public
@style.on_its_ground
def shifts(
    result: xr.Dataset,
    other: xr.Dataset | None = None,
    *,
    labels: tuple[str, str] = ("first", "second"),
    metric: Hashable | Sequence[Hashable] | None = None,
    order: str | Sequence[Hashable] = "value",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw `dominance` with `along`: shifts from the base label to each other one, or to those of another change.

    Parameters
    ----------
    {result}
    other : Dataset, optional
        Result for another change, such as translation back: each common label is a point, `result` across, `other` up.
    labels : (str, str), default ("first", "second")
        Names of the two changes.
    metric : label or list of labels, optional
        Without `other`: draw only pairs of these metrics as small points. The mean includes all pairs.
    {order}
        Order of rows, without `other`. "value": the largest mean shift on top.
    {picture}

    Returns
    -------
    Axes or array of Axes
        An array if additional dims give several panels.

    Notes
    -----
    For one result each label is a row: a large point is the mean shift, small points are pairs that the base resolves.
    Left of 0 the leading metric loses some of its lead. For two results, points on the diagonal shift alike; near the
    horizontal line the second change undoes the first. Source: Braun et al. (2022), Fig. 6.

    Examples
    --------
    >>> import pandas as pd, xarray as xr
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> longer = ds.assign(score=ds.score + 2 * ds.score.sel(metric="length", drop=True))
    >>> both = xr.concat([ds, longer], pd.Index(["plain", "long"], name="version"))
    >>> change = both.meta.dominance("human", along="version", base="plain", level="input", n_resamples=99, rng=1)
    >>> [label.get_text() for label in change.meta.plot.shifts().get_yticklabels()]
    ['long']
    """
    for each in (result,) if other is None else (result, other):
        if not isinstance(each, xr.Dataset) or "mean_shift" not in each:
            raise ValueError("the result has no shifts; this draws what dominance gives with along=")
    if not isinstance(labels, tuple | list) or len(labels) != 2 or not all(isinstance(each, str) for each in labels):
        raise TypeError(f"labels must be two texts, as ('first', 'second'), got {validate.given(labels)}")
    if other is None:
        return _shifts_by_label(result, metric, order, figsize, title, ax)
    return _shifts_of_two(result, other, labels, figsize, title, ax)


def _shifts_by_label(
    result: xr.Dataset, metric: Any, order: Any, figsize: tuple[float, float] | None, title: str | None, ax: Any
) -> Any:
    along, base = str(result.attrs["along"]), result.attrs["base"]
    result = result.isel({along: [at for at, label in enumerate(result[along].values) if label != base]})
    result, left_out = selection.shown(result, "mean_shift", order=order, dims=(along,), most=_ROWS)
    if metric is not None:
        result, _ = selection.shown(
            result, "probability", metric=metric, order="given", dims=("metric", "other_metric")
        )
    panels = layout.panels_of(result, [str(dim) for dim in result["mean_shift"].dims if dim != along])
    of_pairs = ["mean", "a pair of metrics"]
    size: dict[str, Any] = {"above": 0.3, "panel": 0.9, "row": 0.3, "across": 3.4, "margins": (0.5, 0.5)}
    axes = layout.row_axes(result[along], len(panels), ax, **size, legend=of_pairs, figsize=figsize)
    for axis, (name, panel) in zip(axes, panels, strict=True):
        _rows_of_shifts(axis, panel, along)
        layout.panel_title(axis, name, 3.2)
    change = f"change of the probability that a metric is better,\nfrom {captions.clipped(str(base))}"
    layout.name_axes(axes, change, fontsize=9)
    items: list[tuple[str, Mapping[str, Any]]] = list(zip(of_pairs, _mean_and_pairs(), strict=True))
    return layout.finished(axes, ax, title=title, items=items, notes=[_draws(result), left_out])


def _mean_and_pairs() -> tuple[dict[str, Any], dict[str, Any]]:
    color, lighter = style.of(1)[0], style.of(0)[0]
    return {"color": color, "marker": "D", "ls": "", "ms": 6}, {"color": lighter, "marker": "o", "ls": "", "ms": 4}


def _rows_of_shifts(axis: Any, panel: xr.Dataset, along: str) -> None:
    (mean, pair), n_rows = _mean_and_pairs(), panel.sizes[along]
    pairs = panel["probability_shift"].transpose(along, "metric", "other_metric").values.reshape(n_rows, -1)
    for row, shift in enumerate(pairs):
        axis.plot(shift, np.full(len(shift), row), alpha=0.4, mew=0, zorder=2, **pair)
    axis.plot(panel["mean_shift"], np.arange(n_rows), mec=style.ground(), mew=0.7, zorder=3, **mean)
    axis.axvline(0, color=style.ZERO_LINE, lw=0.8, zorder=1)
    layout.grid(axis, "x", over=True)


def _draws(result: xr.Dataset) -> str:
    attrs = result.attrs
    number = f"{int(attrs['n_resamples']):,} resamples" if "n_resamples" in attrs else ""
    pairs = f"pairs with a probability of at least {attrs['threshold']:g}" if "threshold" in attrs else ""
    base = f" by {captions.clipped(str(attrs['base']))}" if pairs and "base" in attrs else ""
    return ", ".join(each for each in (pairs + base, number) if each)


def _shifts_of_two(
    result: xr.Dataset,
    other: xr.Dataset,
    labels: tuple[str, str],
    figsize: tuple[float, float] | None,
    title: str | None,
    ax: Any,
) -> Any:
    x, y = xr.align(result["mean_shift"], other["mean_shift"], join="inner")
    x, y = xr.broadcast(x, y)
    points = xr.Dataset({"x": x, "y": y}).stack(_point=list(x.dims))
    points = points.isel(_point=np.flatnonzero((points["x"] + points["y"]).notnull().values))
    if not points.sizes["_point"]:
        raise ValueError("the two results share no label at which both have a shift")
    (axis,) = layout.axes_for(1, (5.4, 5.4), ax, sharex=True, figsize=figsize)
    reached = np.array([points["x"], points["y"], np.zeros(points.sizes["_point"])])
    room = 0.12 * float(np.ptp(reached)) or 1.0
    ends = float(reached.min()) - room, float(reached.max()) + room  # 0 is in sight, and both axes have one scale
    axis.plot(ends, ends, color=style.ZERO_LINE, lw=0.8, ls=style.DASHED, zorder=1)
    axis.axhline(0, color=style.faint(), lw=0.8, zorder=1)
    axis.axvline(0, color=style.faint(), lw=0.8, zorder=1)
    axis.plot(points["x"], points["y"], "o", ms=6, color=style.of(0)[0], mec=style.ground(), mew=0.7, zorder=3)
    axis.locator_params(nbins=5)
    axis.set(xlim=ends, ylim=ends, aspect="equal")
    axis.set_xlabel(f"mean change of the probability, {labels[0]}", fontsize=9.5, **style.PLAIN)
    axis.set_ylabel(f"mean change of the probability, {labels[1]}", fontsize=9.5, **style.PLAIN)
    drawn = layout.finished([axis], ax, title=title, notes=[_draws(result), "dashed: both shift alike"])
    names = ["/".join(captions.clipped(str(part)) for part in np.atleast_1d(name)) for name in points["_point"].values]
    label_points(axis, list(zip(points["x"].values.tolist(), points["y"].values.tolist(), strict=True)), names)
    return drawn
