"""Pictures of systems and inputs: scores, harder inputs, the best and the close systems, verdicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _validate
from xsumstat.dataset import scores as schema
from xsumstat.plots.parts import (
    INK,
    PLAIN,
    as_given,
    axes_for,
    colour,
    correlation_label,
    faint,
    gold_unless,
    grid_of,
    ink,
    label_width,
    legend,
    limits_of,
    panels_of,
    style_of,
    texts,
    variable_label,
)

_MISSING = "#D55E00"
_NAMED = 60  # labels that an axis has room for


@_validate.public
def heatmap(ds: xr.Dataset, *, metric: Any = None, ax: Any = None) -> Any:
    """Scores as colours, inputs down and systems across, both in the order of their means.

    Parameters
    ----------
    ds : Dataset
        Scores, ``score(metric, system, input)``; of further dims one label must be selected.
    metric : label, list of labels or boolean DataArray, optional
        One panel each. Default ``ds.attrs["gold"]`` where that is a metric, else all.
    ax : matplotlib Axes, optional
        Where to draw, when there is one panel.

    Returns
    -------
    Axes, or array of Axes when there are several panels

    Raises
    ------
    ValueError
        If a metric is not there, or scores have a further dim.
    ImportError
        Without matplotlib (extra "plot").

    Notes
    -----
    The best system stands left, the input with the best scores on top, and bright is good: where lower is better the
    colours are turned. A missing score is a cross on white. Rows of one colour are inputs on which all systems do
    alike: tests should pair systems by input (see `input_effect`).

    References
    ----------
    Rankel et al. (2011), Figs. 2 to 5.
    """
    score = schema.prepare_cells(ds, gold_unless(ds, metric))
    panels = panels_of(xr.Dataset({"score": score, "raw": as_given(ds, score)}), ["metric"])
    across, down = grid_of(len(panels))
    wide, high = (min(7.0, 1.2 + each * score.sizes[dim]) for dim, each in (("system", 0.2), ("input", 0.055)))
    wide = wide if len(panels) < 3 else min(wide, 4.0)
    axes = axes_for(len(panels), ((wide + 1.2) * across, (high + 1.4) * down), ax, sharex=False, sharey=False)
    for axis, (title, panel) in zip(axes, panels, strict=True):
        _scores_in_colour(axis, panel)
        axis.set_title(title, fontsize=10, color=ink(), **PLAIN)
    return axes[0] if len(axes) == 1 else np.array(axes)


def _scores_in_colour(axis: Any, panel: xr.Dataset) -> None:
    score = panel["score"]
    order = {
        dim: np.argsort(-score.mean(other).values, kind="stable")
        for dim, other in (("system", "input"), ("input", "system"))
    }
    score = panel["raw"].isel(order).transpose("input", "system")
    turned = bool(((panel["raw"] != panel["score"]) & panel["raw"].notnull()).any())
    cmap = "viridis_r" if turned else "viridis"
    image = axis.imshow(score.values, aspect="auto", cmap=cmap, interpolation="nearest")
    rows, columns = np.nonzero(np.isnan(score.values))
    axis.plot(columns, rows, "x", ms=3, mew=0.7, color=_MISSING, ls="")
    labels = texts(score["system"]) if "system" in score.coords else [str(at) for at in order["system"]]
    if len(labels) <= _NAMED:
        axis.set_xticks(
            range(len(labels)), labels, rotation=60, ha="right", rotation_mode="anchor", fontsize=7, **PLAIN
        )
    inputs = texts(score["input"]) if "input" in score.coords else [str(at) for at in order["input"]]
    if len(inputs) <= _NAMED and max(map(len, inputs)) <= 20:
        axis.set_yticks(range(len(inputs)), inputs, fontsize=6.5, **PLAIN)
    else:
        axis.set_yticks([])
    axis.set_ylabel(f"{len(inputs)} inputs, the best scored on top", fontsize=9, **PLAIN)
    axis.spines[:].set_visible(False)
    bar = axis.figure.colorbar(image, ax=axis, shrink=0.7, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8, length=2)
    if len(rows):
        axis.set_xlabel(
            f"× {len(rows)} missing score{'s' if len(rows) > 1 else ''}", fontsize=8, color=_MISSING, **PLAIN
        )


@_validate.public
def input_effect(result: xr.Dataset, *, highlight: Any = None, ax: Any = None) -> Any:
    """Mean ranks of the inputs with their intervals, and which differ from one of them.

    Parameters
    ----------
    result : Dataset
        What `input_effect` gave.
    highlight : label, optional
        An input; those whose mean rank differs from its are coloured. Default that with the lowest mean rank.
    ax : matplotlib Axes, optional
        Where to draw, when there is one panel.

    Returns
    -------
    Axes, or array of Axes when there are several panels

    Raises
    ------
    ValueError
        If the result has no mean ranks, or no such input.
    ImportError
        Without matplotlib (extra "plot").

    References
    ----------
    Rankel et al. (2011), Fig. 1.
    """
    if "mean_rank" not in result:
        raise ValueError("the result has no mean ranks; this draws what input_effect gives")
    labels = result["input"].values.tolist() if "input" in result.coords else list(range(result.sizes["input"]))
    if highlight is not None:
        _validate.known("highlight", highlight, labels, "inputs")
    panels = panels_of(result, [str(dim) for dim in result["mean_rank"].dims if dim != "input"])
    across, down = grid_of(len(panels))
    high = min(9.0, 0.8 + 0.07 * len(labels))
    axes = axes_for(len(panels), (0.6 + 3.4 * across, (high + 0.6) * down), ax, sharex=False, sharey=False)
    for axis, (title, panel) in zip(axes, panels, strict=True):
        _ranked_inputs(axis, panel, labels, highlight)
        axis.set_title(title, fontsize=10, color=ink(), **PLAIN)
    names = ["the input marked", "differs from it", "may not differ"]
    styles = [{"color": color, "lw": 2} for color in (colour(0), colour(1), "#aaaaaa")]
    legend(axes, list(zip(names, styles, strict=True)), "")
    return axes[0] if len(axes) == 1 else np.array(axes)


def _ranked_inputs(axis: Any, panel: xr.Dataset, labels: list[Any], highlight: Any) -> None:
    panel = panel.isel(input=np.flatnonzero(panel["mean_rank"].notnull().values))
    labels = panel["input"].values.tolist() if "input" in panel.coords else labels
    order = np.argsort(panel["mean_rank"].values, kind="stable")
    if not len(order):
        axis.text(0.5, 0.5, "no ranks", ha="center", va="center", transform=axis.transAxes, color="#777777", **PLAIN)
        return
    mean, low, high, n = (panel[name].values[order] for name in ("mean_rank", "ci_low", "ci_high", "n_scores"))
    names = [labels[at] for at in order]
    at = 0 if highlight is None or highlight not in names else names.index(highlight)
    differs = np.abs(mean - mean[at]) > float(panel["critical"]) * np.sqrt(1 / n + 1 / n[at])
    colors = np.where(differs, colour(1), "#aaaaaa")
    colors[at] = colour(0)
    rows = np.arange(len(mean))
    axis.axvspan(low[at], high[at], color=colour(0), alpha=0.1, lw=0)
    axis.hlines(rows, low, high, colors=colors, lw=1.4)
    axis.scatter(mean, rows, s=7, c=colors, zorder=3)
    axis.annotate(
        f"{names[at]}: differs from {differs.sum()} of {len(mean) - 1}", (0.02, 0.985), xycoords="axes fraction",
        ha="left", va="top", fontsize=8, color=colour(0),
        **PLAIN,
    )  # fmt: skip
    few = len(mean) <= _NAMED
    axis.set_yticks(rows if few else [], [str(name) for name in names] if few else [], fontsize=6.5, **PLAIN)
    axis.set_ylabel("" if few else f"{len(mean)} inputs", fontsize=9, **PLAIN)
    axis.set_ylim(-1, 1.08 * len(mean) + 0.5)  # room for the words above
    axis.set_xlabel(variable_label(panel, "mean_rank"), fontsize=9.5, **PLAIN)


@_validate.public
def top_k(result: xr.Dataset, *, hue: str | None = None, ax: Any = None) -> Any:
    """Correlations among the k best systems as k shrinks, a panel for each metric, with their intervals as a band.

    Parameters
    ----------
    result : Dataset
        What `top_k_corr` gave.
    hue : str, optional
        A further dim whose labels share a panel, told apart by colour. Every other one gives one panel a label.
    ax : matplotlib Axes, optional
        Where to draw, when there is one panel.

    Returns
    -------
    Axes, or array of Axes when there are several panels

    Raises
    ------
    ValueError
        If the result has no correlations by k, or `hue` is not one of its further dims.
    ImportError
        Without matplotlib (extra "plot").

    References
    ----------
    Bhandari et al. (2020), Figs. 3 and 8.
    """
    if "correlation" not in result or "k" not in result["correlation"].dims:
        raise ValueError("the result has no correlations by k; this draws what top_k_corr gives")
    further = [str(dim) for dim in result["correlation"].dims if dim != "k"]
    if hue is not None:
        _validate.known("hue", hue, further, "further dims")
    panels = panels_of(result, [dim for dim in further if dim != hue])
    across, down = grid_of(len(panels))
    axes = axes_for(len(panels), (0.8 + 2.5 * across, 0.6 + 2.1 * down), ax, sharex=True)
    labels = texts(result[hue]) if hue else [""]
    for axis, (title, panel) in zip(axes, panels, strict=True):
        for at in range(len(labels)):
            color, marker = style_of(at)
            line = panel.isel({hue: at}) if hue else panel
            axis.fill_between(line["k"], line["ci_low"], line["ci_high"], color=color, alpha=0.18, lw=0)
            axis.plot(line["k"], line["correlation"], "-" + marker, ms=3, lw=1.4, color=color)
        axis.axhline(0, color="#999999", lw=0.8, zorder=1)
        axis.set_title(title, fontsize=10, color=ink(), **PLAIN)
        axis.grid(axis="y", color=faint(), lw=0.7, zorder=0)
        axis.xaxis.get_major_locator().set_params(integer=True)
    for axis in axes[-across:]:
        axis.set_xlabel("k best systems", fontsize=9.5, **PLAIN)
    axes[0].set_xlim(float(result["k"].max()) + 0.5, float(result["k"].min()) - 0.5)
    if down == 1:
        axes[0].set_ylabel(correlation_label(result), fontsize=9, **PLAIN)
    else:
        axes[0].figure.supylabel(correlation_label(result), fontsize=9, **PLAIN)
    if hue:
        looks = [{"color": style_of(at)[0], "marker": style_of(at)[1], "lw": 1.4} for at in range(len(labels))]
        legend(axes, list(zip(labels, looks, strict=True)), hue)
    return axes[0] if len(axes) == 1 else np.array(axes)


@_validate.public
def confusion(result: xr.Dataset, *, ax: Any = None) -> Any:
    """How often each metric gives which verdict on two systems, by the gold's verdict, a panel for each metric.

    Parameters
    ----------
    result : Dataset
        What `discriminative_agreement` gave.
    ax : matplotlib Axes, optional
        Where to draw, when there is one panel.

    Returns
    -------
    Axes, or array of Axes when there are several panels

    Raises
    ------
    ValueError
        If the result has no confusion of verdicts.
    ImportError
        Without matplotlib (extra "plot").

    Notes
    -----
    The darker a cell, the larger its share of the row. Off the diagonal stand a metric's errors: the corners "first"
    against "second" are verdicts that people contradict.
    """
    if "confusion" not in result:
        raise ValueError("the result has no confusion of verdicts; this draws what discriminative_agreement gives")
    further = [str(dim) for dim in result["f1"].dims]
    panels = panels_of(result, further)
    across, down = grid_of(len(panels))
    axes = axes_for(len(panels), (0.9 + 2.1 * across, 0.6 + 2.75 * down), ax, sharex=False)
    names = texts(result["metric_verdict"])
    for axis, (title, panel) in zip(axes, panels, strict=True):
        counts = panel["confusion"].transpose("gold_verdict", "metric_verdict").values
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        axis.imshow(shares, cmap="Blues", vmin=0, vmax=1.15)
        for i, j in np.ndindex(counts.shape):
            color = "white" if shares[i, j] > 0.6 else INK
            axis.text(j, i, str(counts[i, j]), ha="center", va="center", fontsize=9, color=color, **PLAIN)
        axis.set_title(f"{title}\nF1 {float(panel['f1']):.2f}".lstrip(), fontsize=9.5, color=ink(), **PLAIN)
        axis.set_xticks(range(3), names, fontsize=8, **PLAIN)
        axis.tick_params(length=0)
        for spine in axis.spines.values():
            spine.set_visible(False)
    axes[0].set_yticks(range(3), texts(result["gold_verdict"]), fontsize=8, **PLAIN)
    for axis in axes[::across]:
        axis.set_ylabel(f"by {result.attrs.get('gold', 'gold')}", fontsize=9, **PLAIN)
    for axis in axes[-across:]:
        axis.set_xlabel("by the metric", fontsize=9, **PLAIN)
    return axes[0] if len(axes) == 1 else np.array(axes)


@_validate.public
def bars(result: xr.Dataset, variable: str | None = None, *, hue: str | None = None, ax: Any = None) -> Any:
    """One number of each metric as a bar, groups of it beside each other, with its interval where there is one.

    Parameters
    ----------
    result : Dataset
        Any result. Where it has intervals of the variable, such as those of `ci`, they are drawn as whiskers.
    variable : str, optional
        What is drawn; default "correlation", "f1", or the first variable.
    hue : str, optional
        A further dim whose labels stand beside each other; default the first. Every other one gives one panel a label.
    ax : matplotlib Axes, optional
        Where to draw, when there is one panel.

    Returns
    -------
    Axes, or array of Axes when there are several panels

    Raises
    ------
    ValueError
        If there is no such variable with a dim `metric`, or `hue` is not one of its further dims.
    ImportError
        Without matplotlib (extra "plot").

    References
    ----------
    Bhandari et al. (2020), Figs. 2, 4 and 5.
    """
    names = [
        str(name) for name in result.data_vars if "metric" in result[name].dims and result[name].dtype.kind in "fiu"
    ]
    if not names:
        raise ValueError("the result has no numbers of metrics: no variable has the dim 'metric'")
    preferred = next((name for name in ("correlation", "f1") if name in names), names[0])
    variable = preferred if variable is None else str(_validate.known("variable", variable, names, "variables"))
    further = [str(dim) for dim in result[variable].dims if dim != "metric"]
    if hue is not None:
        _validate.known("hue", hue, further, "further dims")
    hue = further[0] if hue is None and further else hue
    panels = panels_of(result, [dim for dim in further if dim != hue])
    n, labels = result.sizes["metric"], texts(result[hue]) if hue else [""]
    limits = limits_of(result, variable)
    across, down = grid_of(len(panels))
    wide = max(3.0, 0.8 + n * (0.16 + 0.12 * len(labels)))
    below = 0.7 * label_width(result["metric"])
    axes = axes_for(len(panels), (wide * across, (2.6 + below) * down), ax, sharex=False)
    for axis, (title, panel) in zip(axes, panels, strict=True):
        for at in range(len(labels)):
            drawn = panel.isel({hue: at}) if hue else panel
            places = np.arange(n) + (at - (len(labels) - 1) / 2) * 0.8 / len(labels)
            axis.bar(places, drawn[variable].values, 0.76 / len(labels), color=style_of(at)[0], zorder=2)
            if limits:
                low, high = (drawn[name].values for name in limits)
                axis.vlines(places, low, high, color=ink(), lw=1.2, zorder=4)
        axis.axhline(0, color=ink(), lw=0.8, zorder=3)
        axis.set_title(title, fontsize=10, color=ink(), **PLAIN)
        axis.grid(axis="y", color=faint(), lw=0.7, zorder=0)
        axis.set_xticks(
            range(n), texts(result["metric"]), rotation=45, ha="right", rotation_mode="anchor", fontsize=8, **PLAIN
        )
    for axis in axes[::across]:
        axis.set_ylabel(variable_label(result, variable), fontsize=9.5, **PLAIN)
    if hue:
        looks = [{"color": style_of(at)[0], "marker": "s", "ls": "", "ms": 8} for at in range(len(labels))]
        legend(axes, list(zip(labels, looks, strict=True)), hue)
    return axes[0] if len(axes) == 1 else np.array(axes)


@_validate.public
def close_corr(result: xr.Dataset, *, ax: Any = None) -> Any:
    """Correlation of each metric against how far apart the systems are that it has to order, with intervals.

    Parameters
    ----------
    result : Dataset
        What `close_corr` gave.
    ax : matplotlib Axes, optional
        Where to draw, when there is one panel.

    Returns
    -------
    Axes, or array of Axes when there are several panels

    Raises
    ------
    ValueError
        If the result has no gaps.
    ImportError
        Without matplotlib (extra "plot").

    References
    ----------
    Deutsch, Dror & Roth (2022), Figs. 5 and 6.
    """
    if "gap_high" not in result:
        raise ValueError("the result has no gaps; this draws what `close_corr` gives")
    panels = panels_of(result, [str(dim) for dim in result["correlation"].dims if dim not in ("metric", "gap")])
    across, down = grid_of(len(panels))
    high = 3.4 * down + 0.2 * max(0, result.sizes["metric"] // 3 - 2)  # room for a long legend
    axes = axes_for(len(panels), (5.2 * across, high), ax, sharex=True)
    gaps, metrics = texts(result["gap"]), texts(result["metric"])
    spread = np.linspace(-0.3, 0.3, len(metrics)) if len(metrics) > 1 else np.zeros(1)
    items = []
    for at, name in enumerate(metrics):
        colour, marker = style_of(at)
        items.append((name, {"color": colour, "marker": marker, "ls": "-", "lw": 1, "ms": 5}))
        for axis, (_, panel) in zip(axes, panels, strict=True):
            one = panel.isel(metric=at)
            x = np.arange(len(gaps)) + spread[at]
            axis.vlines(x, one["ci_low"], one["ci_high"], color=colour, lw=1.2, alpha=0.6)
            axis.plot(x, one["correlation"], color=colour, marker=marker, ms=5, lw=1)
    shares = result.attrs.get("unit") == "quantile"
    for at, (axis, (title, _)) in enumerate(zip(axes, panels, strict=True)):
        axis.set_title(title, fontsize=10, color=ink(), **PLAIN)
        axis.axhline(0, color="#bbbbbb", lw=0.8, zorder=0)
        axis.set_xticks(range(len(gaps)), gaps, **PLAIN)
        axis.set_xlabel(
            "share of pairs, the closest first" if shares else "difference in the metric", fontsize=9, **PLAIN
        )
        if at % across == 0:
            axis.set_ylabel(correlation_label(result), fontsize=9, color=ink(), **PLAIN)
    legend(axes, items, "metric")
    return axes[0] if len(axes) == 1 else np.array(axes)
