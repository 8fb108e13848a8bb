"""Pairs of metrics to compare, and results laid out as metric x other_metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.core.types import Pair
from xsumstat.dataset import checks, results
from xsumstat.dataset import scores as schema
from xsumstat.dataset.facts import Fact

DIMS = ("metric", "other_metric")


def prepare(
    ds: xr.Dataset,
    gold: Any,
    metric: Any,
    other: Any,
    *,
    missing: str,
    **ready: Any,
) -> tuple[schema.Scores, tuple[Pair, ...]]:
    """`scores.prepare` with metrics sorted by label, and the pairs to compare."""
    scores = _by_label(schema.prepare(ds, gold, metric, other=other, missing=missing, **ready))
    pairs = _chosen(scores)
    if missing != "available":
        labels = scores.score["metric"].values.tolist()
        scores.later.make(checks.report_gaps_of_pairs, schema.presence(scores), labels, pairs)
    return scores, pairs


def _by_label(scores: schema.Scores) -> schema.Scores:
    """Metrics sorted by label, so results do not depend on their order."""
    labels = [str(label) for label in scores.score["metric"].values]
    order = sorted(range(len(labels)), key=labels.__getitem__)
    place = {old: new for new, old in enumerate(order)}
    rows, columns = ([place[at] for at in places] for places in (scores.rows, scores.columns))
    return replace(scores, score=scores.score.isel(metric=order), rows=rows, columns=columns)


def _chosen(scores: schema.Scores) -> tuple[Pair, ...]:
    pairs = tuple(sorted({(min(a, b), max(a, b)) for a in scores.rows for b in scores.columns if a != b}))
    if not pairs:
        raise ValueError(
            "a comparison needs two metrics: metric and other name only one; pass several in metric=[...], or others "
            "in other=[...]"
        )
    return pairs


def dims(scores: schema.Scores) -> list[str]:
    return [*DIMS, *scores.further]


def asked(scores: schema.Scores) -> xr.DataArray:
    """Cells of metric x other_metric with two different metrics."""
    labels = scores.score.indexes["metric"]
    coords = {
        dim: (dim, labels[places].values) for dim, places in zip(DIMS, (scores.rows, scores.columns), strict=True)
    }
    tests = xr.DataArray(np.not_equal.outer(scores.rows, scores.columns), coords, DIMS)
    return tests.expand_dims(scores.further).transpose(*DIMS, ...)


def warn_undefined(difference: xr.DataArray, pairs: Sequence[tuple[int, ...]], scores: schema.Scores) -> None:
    labels = scores.score["metric"].values.tolist()
    scores.later.make(_warn_undefined, difference, pairs, labels, scores.spreads[0])


def _warn_undefined(
    difference: xr.DataArray, pairs: Sequence[tuple[int, ...]], labels: list[Any], spread: Fact
) -> None:
    if not np.isnan(difference.values).any():
        return
    constant = checks.constant_metrics(spread.array.sel(metric=checks.as_labels(labels)))
    places = [at for at, (a, b) in enumerate(pairs) if not (constant[a] or constant[b])]
    names = [f"{labels[pairs[at][0]]} and {labels[pairs[at][1]]}" for at in places]
    left = difference.isel(_pair=places).assign_coords(_pair=names)
    checks.warn_where(left.isnull(), "undefined difference for")


def laid_out(
    by_pair: Mapping[Any, xr.DataArray], pairs: Sequence[tuple[int, ...]], scores: schema.Scores
) -> xr.Dataset:
    """Results of unordered pairs as metric x other_metric; signs change where the two change places."""
    place = {pair: at for at, pair in enumerate(pairs)}
    rows, columns = np.array(scores.rows), np.array(scores.columns)
    at = [[place.get((min(a, b), max(a, b)), 0) for b in columns] for a in rows]
    turned, tested = (xr.Variable(DIMS, each) for each in (rows[:, None] > columns, rows[:, None] != columns))
    picked = {str(name): each.variable.isel(_pair=xr.Variable(DIMS, at)) for name, each in by_pair.items()}
    sided = {each: picked.pop(each) for each in ("forward", "backward") if each in picked}
    cells = {}
    if sided:
        cells["pvalue"] = results.where(tested, results.where(turned, sided["backward"], sided["forward"]), np.nan)
    cells |= results.of_pairs(picked, turned, tested)
    ours, theirs = (scores.score.isel(metric=each) for each in (scores.rows, scores.columns))
    return results.labelled(xr.Dataset(cells, results.coords_beside(by_pair, "_pair")), ours, theirs)
