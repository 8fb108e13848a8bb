"""Which metrics are analysed: those that are named, or by default those that are not human scores."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.core import arguments, validate
from xsumstat.dataset import calibrated, chunking

# Kinds of metrics that are judged only where they are named.
HUMAN, COVARIATE = "human", "covariate"


def human_labels(values: xr.DataArray | xr.Dataset) -> list[Hashable]:
    return _of_kind(values, HUMAN)


def of_people(values: xr.DataArray) -> list[Hashable]:
    """Metrics known to be human or derived from human scores."""
    return [*human_labels(values), *calibrated.labels(values)]


def _of_kind(values: xr.DataArray | xr.Dataset, name: str) -> list[Hashable]:
    kind = values.coords.get("kind")
    if kind is None or kind.dims != ("metric",) or "metric" not in values.indexes:
        return []
    # Labels are looked at at once, also where the scores beside them are lazy.
    kind = kind.compute(scheduler="synchronous") if chunking.is_lazy(kind) else kind
    return list(values.indexes["metric"][kind.values == name])


def judged(values: xr.DataArray | xr.Dataset, own: list[Hashable]) -> list[Hashable]:
    """Metrics analysed by default: no human scores or covariates; all but the gold if none is left."""
    labels = [label for label in values.indexes["metric"] if label not in own]
    unasked = {*human_labels(values), *_of_kind(values, COVARIATE)}
    return [label for label in labels if label not in unasked] or labels


def by_default(values: xr.DataArray, own: list[Hashable]) -> list[Hashable]:
    """The same, or an error if there is none."""
    found = judged(values, own)
    if not found:
        labels = validate.listing(values.indexes["metric"], 30)
        raise ValueError(
            f"there is no metric to evaluate besides the human scores; metrics: {labels}. A column of text is a metric "
            f"only if {arguments.given('labels', several=True)} lists its texts, the lowest first"
        )
    return found


def choose(values: xr.DataArray, requested: Any, name: str, dim: str = "metric") -> list[int]:
    """Places of the labels of `dim` asked for: a label, labels, a boolean DataArray, or None for all."""
    labels = list(values.indexes[dim])
    if requested is None:
        requested = labels
    elif isinstance(requested, xr.DataArray) and requested.dtype == bool:
        requested = _labels_where(requested, name, dim)
    else:
        if isinstance(requested, xr.DataArray | np.ndarray | pd.Index | pd.Series):
            requested = np.asarray(requested).ravel().tolist()
        requested = list(requested) if isinstance(requested, list | tuple | set) else [requested]
        if requested and all(isinstance(label, bool) for label in requested):
            raise TypeError(f"{name} as a condition must be a DataArray over {dim!r}, as is ds.kind == 'automatic'")
    for label in requested:
        validate.known(name, label, labels, f"{dim}s")
    validate.unique(name, requested)
    if not requested:
        raise ValueError(f"{name} must select at least one {dim}; {dim}s: {validate.listing(labels, 30)}")
    return [labels.index(label) for label in requested]


def rows_and_columns(
    values: xr.DataArray, metric: Any, other: Any, own: list[Hashable]
) -> tuple[list[int], list[int], list[int]]:
    """Places of the chosen metrics and their partners, by default not `own`; and the places of each in that list."""
    rows = choose(values, by_default(values, own) if metric is None else metric, "metric")
    columns = rows if other is None else choose(values, other, "other")
    chosen = list(dict.fromkeys([*rows, *columns]))
    return chosen, [chosen.index(at) for at in rows], [chosen.index(at) for at in columns]


def in_a_row(places: Sequence[int]) -> Sequence[int] | slice:
    """Places as a slice, which copies nothing, where they follow each other."""
    run = range(places[0], places[-1] + 1) if places else range(0)
    return slice(run.start, run.stop) if list(places) == list(run) else places


def _labels_where(condition: xr.DataArray, name: str, dim: str) -> list[Hashable]:
    if condition.dims != (dim,) or dim not in condition.indexes:
        got = "one without labels" if condition.dims == (dim,) else f"dims {condition.dims}"
        raise ValueError(f"{name} as a condition must be over the labels of dim {dim!r}, got {got}")
    return list(condition.indexes[dim][condition.values])


def judged_places(score: xr.DataArray, metric: Any, own: list[Hashable], name: Any) -> list[int]:
    """The places of the metrics to analyse, the gold not among them."""
    places = choose(score, by_default(score, own) if metric is None else metric, "metric")
    places = [at for at in places if score.indexes["metric"][at] not in own]
    if not places:
        raise ValueError(f"metric names only the human scores {name!r}; name other metrics")
    return places


def automatic(ds: xr.Dataset, metric: Any) -> Any:
    """The metrics asked for; default all except the gold and other human scores."""
    if metric is not None or "metric" not in ds.indexes:
        return metric
    return judged(ds, [ds.attrs.get("gold")]) or None
