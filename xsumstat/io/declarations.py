"""Declarations about scores: the gold, metrics that are better when lower, and each metric's kind."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.dataset import directions
from xsumstat.dataset.metric_choice import COVARIATE
from xsumstat.io.cells import text, values_along

AUTOMATIC = "automatic"
HUMAN = "human"


def declared(
    ds: xr.Dataset,
    *,
    gold: Hashable | None,
    lower_is_better: Iterable[Hashable],
    kind: Mapping[str, Any] | None,
    columns: Iterable[Hashable] = (),
) -> xr.Dataset:
    """The Dataset with its declarations; `columns` are those of the original frame."""
    labels = list(ds.indexes["metric"])
    if gold is not None:
        _check_gold(ds, gold, labels, list(columns))
        ds = ds.assign_attrs(gold=gold)
    lower = validate.several("lower_is_better", lower_is_better, "a metric or several")
    if lower:
        ds = directions.declare(ds, lower, "lower_is_better")
    if kind is not None:
        ds = ds.assign_coords(kind=("metric", _kinds(ds, kind, labels, gold, list(columns))))
    return ds


def _check_gold(ds: xr.Dataset, gold: Hashable, labels: list[Hashable], columns: list[Hashable]) -> None:
    beside = [str(name) for name in ds.data_vars if name != "score"]
    if gold in labels or gold in beside:
        return
    if gold in columns:
        raise ValueError(
            f"gold={gold!r} is a column, and the scores have no metric of this name: in a frame with a column a metric "
            f"(wide=True) add it to metric=[...]; where it holds the ratings of several people, pass ratings={gold!r} "
            f"and rater=..., and leave gold out; metrics: {validate.listing(labels, 30)}"
        )
    hint = validate.suggestion(gold, [*labels, *beside])
    more = f"; variables: {validate.listing(beside)}" if beside else ""
    raise ValueError(f"unknown gold {gold!r}{hint} metrics: {validate.listing(labels, 30)}{more}")


def _kinds(
    ds: xr.Dataset, kind: Mapping[str, Any], labels: list[Hashable], gold: Hashable | None, columns: list[Hashable]
) -> np.ndarray[Any, np.dtype[np.object_]]:
    """Kind of each metric: as declared, else as before, else "human" for the gold and "automatic" for others."""
    if not isinstance(kind, Mapping):
        raise TypeError(f"kind must map each kind to its metrics, as {{'human': ['expert']}}, got {kind!r}")
    known = values_along(ds, "kind", "metric")
    kinds = text([AUTOMATIC] * len(labels) if known is None else known)
    if gold in labels and known is None:
        kinds[labels.index(gold)] = HUMAN
    placed: dict[Hashable, str] = {}
    for name, metrics in kind.items():
        _check_kind(name)
        for label in [metrics] if isinstance(metrics, str) or not isinstance(metrics, Iterable) else metrics:
            if label not in labels and name in labels:
                raise ValueError(
                    f"kind maps each kind to its metrics: write {{{label!r}: [{name!r}]}}, "
                    f"got {{{name!r}: {metrics!r}}}"
                )
            if label not in labels and label in columns:
                raise ValueError(
                    f"kind[{name!r}] names the column {label!r}, which is not a metric: it holds no numbers, or has "
                    "another role; df.meta shows how each column is read"
                )
            validate.known(f"metric in kind[{name!r}]", label, labels, "metrics")
            if placed.setdefault(label, name) != name:
                raise ValueError(f"kind calls the metric {label!r} both {placed[label]!r} and {name!r}")
            kinds[labels.index(label)] = name
    return kinds


def _check_kind(name: Any) -> None:
    """Warn of a kind that is almost the one that analyses leave out, or another usual one."""
    usual = (COVARIATE, HUMAN, "judge")
    near = difflib.get_close_matches(str(name).lower(), usual, n=1, cutoff=0.8)
    if name not in usual and near:
        validate.warn(f"kind {name!r} has no meaning for the analyses; did you mean {near[0]!r}?", "unusual_kind")
