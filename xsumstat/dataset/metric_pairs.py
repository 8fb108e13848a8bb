"""Pairs of metrics to compare, and results laid out as metric x other_metric."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import xarray as xr

from xsumstat.core.types import Pair
from xsumstat.dataset import checks, facts, value_checks
from xsumstat.dataset import scores as schema


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
        there = value_checks.by_metric(facts.presence, [scores.score], scores.gold, scores.used)
        scores.later.make(checks.report_gaps_of_pairs, there, labels, pairs)
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
