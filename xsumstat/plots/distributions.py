"""How scores of outputs are distributed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xsumstat.analyses import groups as slices
from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import facts
from xsumstat.dataset import scores as schema
from xsumstat.plots import captions, layout, selection, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_GROUPS = 7  # groups that a panel shows unless others are named
_GRADES = 100  # equal steps between the lowest score and the highest, up to which scores are grades


@validate.public
@style.on_its_ground
def distribution(
    ds: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    by: str | None = None,
    order: str | Sequence[Hashable] = "value",
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw histograms of the scores of outputs, one panel per metric, groups overlaid.

    First select one label of each additional dim except `by`.

    Parameters
    ----------
    {ds metric.panels}
    by : str, optional
        Groups: a coordinate of `system` or `input`, such as a system's type, or another dim, such as the language.
    {order}
        Order of groups. "value": the highest mean of the first panel first. Of more than seven groups the first seven
        are drawn, with a note; a list draws all.
    {picture}

    {axes}

    Notes
    -----
    Histograms show shares of each group's outputs on common bins; a triangle marks the mean. Bins follow the grades, or
    the rule of Freedman and Diaconis (8 to 40 bins). Scores are drawn as given, also where lower is better. Source:
    Peyrard (2019), Fig. 1.

    {demo}
    >>> axes = ds.meta.plot.distribution(metric="human", by="system_type")
    >>> [text.get_text() for text in axes.figure.legends[0].get_texts()]
    ['abstractive', 'extractive', 'mean']
    """
    oriented = schema.prepare_metrics(ds, selection.gold_unless(ds, metric), level=None)
    score = selection.as_given(ds, oriented)
    groups, left_out = _in_order(score, _groups_of_cells(ds, score, by), order)
    score, first = selection.first_metrics(score, metric)
    panels = layout.panels_of(xr.Dataset({"score": score}), ["metric"])
    across, down = layout.grid_of(len(panels))
    wide = 0.8 + 3.4 * across
    named = [] if by is None else [captions.clipped(name) for name, _ in groups]
    size = (wide, 0.7 + layout.legend_height([*named, "mean"], wide) + 2.5 * down)
    axes = layout.axes_for(len(panels), size, ax, sharex=False, sharey=True, figsize=figsize)
    highest = 0.0
    for at, (axis, (name, panel)) in enumerate(zip(axes, panels, strict=True)):
        top = _histograms(axis, [panel["score"].isel(where).values.ravel() for _, where in groups])
        highest = max(highest, top)
        lower = bool(((oriented.isel(metric=at) != panel["score"]) & panel["score"].notnull()).any())
        layout.panel_title(axis, captions.clipped(name), size[0] / across - 0.4)
        along = _unit_of(ds) + (", lower is better" if lower else "")
        axis.set_xlabel(along, fontsize=9.5, color=style.ink(), **style.PLAIN)
        layout.grid(axis, "y")
        axis.tick_params(axis="y", length=0, labelleft=at % across == 0)
    axes[0].set_ylim(0, 1.06 * highest)
    layout.name_axes(axes, y="share of outputs", color=style.ink())
    mean: dict[str, Any] = {"color": style.muted(), "marker": "^", "ls": "", "ms": 6}
    looks: list[dict[str, Any]] = [{"color": style.of(at)[0], "ls": style.DASHES[at % 4]} for at in range(len(groups))]
    items = [*zip(named, looks, strict=False), ("mean", mean)]
    return layout.finished(axes, ax, title=title, items=items, heading=by or "", notes=[left_out, first])


_Groups = list[tuple[str, dict[str, Any]]]


def _in_order(score: xr.DataArray, groups: _Groups, order: Any) -> tuple[_Groups, str]:
    """The groups in order, and a note of those that are left out."""
    names = [name for name, _ in groups]
    if validate.is_list(order):
        if not len(order):
            raise ValueError(f"order must name at least one group, got []; groups: {validate.listing(names)}")
        places = {str(name): at for at, name in enumerate(names)}
        for name in order:
            validate.known("label in order", str(name), names, "groups")
        return [groups[places[str(name)]] for name in order], ""
    validate.choice("order", order, selection.ORDERS)
    if order == "name":
        groups = sorted(groups, key=lambda each: each[0])
    elif order == "value":
        means = {name: float(score.isel(metric=0).isel(where).mean()) for name, where in groups}
        groups = sorted(groups, key=lambda each: -np.nan_to_num(means[each[0]], nan=-np.inf))
    if len(groups) <= _MOST_GROUPS:
        return groups, ""
    first, which = ("", "with the highest means ") if order == "value" else ("first ", "")
    return groups[:_MOST_GROUPS], f"the {first}{_MOST_GROUPS} groups {which}of {len(groups)}; order= names others"


def _unit_of(ds: xr.Dataset) -> str:
    units = str(ds["score"].attrs.get("units", ""))
    return f"score ({captions.clipped(units)})" if units not in ("", "1", "score") else "score"


def _groups_of_cells(ds: xr.Dataset, score: xr.DataArray, by: str | None) -> _Groups:
    """Name of each group, its dim and its labels."""
    others = [str(dim) for dim in score.dims if dim not in facts.CORE and dim != by]
    if others:
        raise ValueError(f"score has the dims {validate.listing(others)}; select one label of each additional one")
    if by is None:
        return [("", {})]
    if by in score.dims and by not in facts.CORE:
        names = captions.texts(score[by]) if by in score.coords else [f"{by} {at}" for at in range(score.sizes[by])]
        return [(name, {by: at}) for at, name in enumerate(names)]
    dim, groups, labels = slices.groups_of(ds, "by", by, ("system", "input"))
    members = slices.members(groups, labels)
    return [(label, {dim: places}) for label, places in sorted(members.items(), key=lambda each: each[1])]


def _histograms(axis: Any, groups: list[FloatArray]) -> float:
    """Draw a panel's groups; return the largest share."""
    groups = [values[~np.isnan(values)] for values in groups]
    edges, highest = _bin_edges(np.concatenate(groups)), 0.0
    for at, values in enumerate(groups):
        if not len(values):
            continue
        color, shares = style.of(at)[0], np.histogram(values, edges)[0] / len(values)
        axis.stairs(shares, edges, fill=True, color=color, alpha=0.18, lw=0, zorder=2)
        axis.stairs(shares, edges, color=color, lw=1.5, ls=style.DASHES[at % 4], zorder=3)
        axis.plot(values.mean(), 0, "^", ms=7, color=color, mec=style.ground(), mew=0.6, clip_on=False, zorder=4)
        highest = max(highest, float(shares.max()))
    return highest


def _bin_edges(values: FloatArray) -> FloatArray:
    """Edges of equal bins over all values."""
    low, high = float(values.min()), float(values.max())
    if low == high:
        return low + np.array([-0.5, 0.5]) * max(abs(low), 1.0)
    place = (values - low) / (high - low)
    step = float(np.diff(np.unique(np.round(place, 9))).min())
    if 1 / step <= _GRADES:
        width = step * np.ceil((1 / step + 1) / 40)
        edges = np.arange(-step / 2, 1 + step / 2 + width / 2, width)
    else:
        quartiles = np.quantile(place, [0.25, 0.75])
        width = 2 * float(np.diff(quartiles)[0]) / len(place) ** (1 / 3)
        edges = np.linspace(0, 1, int(np.clip(np.ceil(1 / max(width, 1e-3)), 8, 40)) + 1)
    return np.asarray(low + edges * (high - low))
