"""Picture of the inputs that were drawn for raters, by stratum and by a metric's score."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.core.types import BoolArray, FloatArray
from xsumstat.dataset import drawn, golds, locate, metric_choice
from xsumstat.dataset import scores as schema
from xsumstat.dataset.drawn import Draw
from xsumstat.plots import captions, layout, selection, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROWS = 20  # strata that a picture shows
_STEP = 0.6180339887498949  # multiples of it spread evenly over a row


@validate.public
@style.on_its_ground
def sample_inputs(
    ds: xr.Dataset,
    *,
    metric: Hashable | None = None,
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw `sample_inputs`: each input by a metric's mean score, in a row per stratum.

    Parameters
    ----------
    ds : Dataset
        As `sample_inputs` with a number of inputs returns it, also after `add_gold`.
    metric : label, optional
        Metric whose mean score over systems is the horizontal axis. Default: the first that is not human.
    {figsize title ax}

    Returns
    -------
    Axes
        One row per stratum.

    Notes
    -----
    A row's label has the number of drawn inputs and their probability. With human scores, colours also tell drawn
    inputs without ratings, and rated inputs that were not drawn. Heights within a row have no meaning.

    {demo}
    >>> drawn = ds.meta.sample_inputs(12, metric="judge", strata="score", n_strata=3, rng=1)
    >>> axes = drawn.drop_sel(metric="human").drop_attrs().meta.plot.sample_inputs(metric="judge")
    >>> [text.get_text() for text in axes.figure.legends[0].get_texts()]
    ['drawn', 'not drawn']
    """
    draw = drawn.find(ds)
    if draw is None:
        raise ValueError(
            f"ds has no coordinate {drawn.PROBABILITY!r}, so no inputs were drawn; draw them by "
            "ds.meta.sample_inputs(40)"
        )
    wanted = metric_choice.automatic(ds, None) if metric is None else metric
    first = wanted[0] if isinstance(wanted, list) else wanted
    score = selection.as_given(ds, schema.prepare_cells(ds, first))
    name = str(score["metric"].values[0])
    means = np.asarray(score.isel(metric=0).mean("system").values)
    rated = _rated(ds, draw)
    names = sorted(draw.names, key=_natural)
    strata = names[:_ROWS]
    kinds = _kinds(draw, rated)
    size = (6.4, 1.0 + 0.42 * len(strata) + layout.legend_height([word for word, _, _ in kinds], 6.4))
    (axis,) = layout.axes_for(1, size, ax, sharex=True, figsize=figsize)
    for row, stratum in enumerate(strata):
        _row(axis, row, np.array([each == stratum for each in draw.strata]), means, kinds)
    _named(axis, [_label(draw, stratum) for stratum in strata], f"mean score by {captions.clipped(name)}")
    note = f"the first {_ROWS} of {len(names)} strata" if len(names) > _ROWS else ""
    return layout.finished([axis], ax, title=title, items=[(word, look) for word, _, look in kinds], notes=[note])


def _natural(name: str) -> list[tuple[int, int | str]]:
    """Sort 2 before 10."""
    return [(0, int(part)) if part.isdigit() else (1, part) for part in re.split(r"(\d+)", name)]


def _rated(ds: xr.Dataset, draw: Draw) -> BoolArray | None:
    """Which inputs have a human score; None where there are none at all."""
    gold = ds.attrs.get("gold")
    if gold is None:
        return None
    score = locate.checked_scores(ds)
    human = golds.find_gold(ds, score, gold)[0].reindex(input=score.indexes["input"])
    found: BoolArray = np.asarray(human.notnull().any([dim for dim in human.dims if dim != "input"]).values)
    return found if found.any() and "input" in human.dims and len(found) == len(draw.drawn) else None


def _kinds(draw: Draw, rated: BoolArray | None) -> list[tuple[str, BoolArray, dict[str, Any]]]:
    """Kinds of inputs: their word, which they are, and their look; those that there are none of are left out."""
    full: dict[str, Any] = {"marker": "o", "ls": "", "ms": 5.5, "color": style.colour(0), "mew": 0.6}
    hollow: dict[str, Any] = {"marker": "o", "ls": "", "ms": 4, "color": style.muted(), "mfc": "none", "mew": 0.8}
    cross: dict[str, Any] = {"marker": "x", "ls": "", "ms": 6, "color": style.colour(1), "mew": 1.6}
    square: dict[str, Any] = {"marker": "s", "ls": "", "ms": 5, "color": style.colour(2), "mew": 0.6}
    if rated is None:
        kinds = [("drawn", draw.drawn, full), ("not drawn", ~draw.drawn, hollow)]
    else:
        kinds = [
            ("drawn and rated", draw.drawn & rated, full),
            ("drawn, not rated", draw.drawn & ~rated, cross),
            ("rated, not drawn", ~draw.drawn & rated, square),
            ("not drawn", ~draw.drawn & ~rated, hollow),
        ]
    return [(word, np.asarray(which), look) for word, which, look in kinds if which.any()]


def _row(axis: Any, row: int, here: BoolArray, means: FloatArray, kinds: list[Any]) -> None:
    """The inputs of one stratum, spread over the height of a row."""
    axis.axhline(row, color=style.faint(), lw=0.7, zorder=0)
    height = np.zeros(len(here))
    height[here] = ((np.arange(here.sum()) * _STEP) % 1 - 0.5) * 0.6
    for at, (_, which, look) in enumerate(kinds):
        places = here & which
        axis.plot(means[places], row + height[places], zorder=4 - at * 0.5, **look)


def _label(draw: Draw, stratum: str) -> str:
    """A stratum's name, how many inputs were drawn, and with what probability."""
    here = np.array([each == stratum for each in draw.strata])
    p = draw.probability[here][0]
    text = "1" if p == 1 else f"{p:.2f}".lstrip("0")
    return f"{captions.clipped(stratum)}\n{int(draw.drawn[here].sum()):,} of {int(here.sum()):,}, probability {text}"


def _named(axis: Any, labels: list[str], below: str) -> None:
    axis.set_yticks(range(len(labels)), labels, fontsize=8, **style.PLAIN)
    axis.set_ylim(len(labels) - 0.5, -0.5)
    axis.tick_params(axis="y", length=0)
    axis.set_xlabel(below, fontsize=9.5, color=style.ink(), **style.PLAIN)
