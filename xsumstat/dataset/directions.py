"""Directions of metrics, `higher_is_better`, metrics that look undeclared, and levels of sentinels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.core.labels import labels_along

NAME = "higher_is_better"
OF_GOLD = "gold_lower_is_better"  # attr of results with human scores that are better when lower
# What the coordinate `kind` calls metrics that see only a part of what a metric should see.
SENTINEL = "sentinel"
# At which levels what is compared varies along the dim that a sentinel sees; there it must not know its own output.
VARIES = {"input": ("global", "within_system"), "system": ("global", "input")}


def check(ds: xr.Dataset) -> None:
    """Raise unless `higher_is_better`, if given, is a coordinate that is True or False for each metric."""
    if NAME in ds.data_vars:
        raise ValueError(
            "higher_is_better is a variable of the Dataset, and must be a coordinate of metric: "
            "ds.set_coords('higher_is_better')"
        )
    if NAME in ds.dims:
        raise ValueError(
            "higher_is_better is a dim of its own, and must be a coordinate of metric: "
            "ds.drop_dims('higher_is_better').assign_coords(higher_is_better=('metric', [True, False, ...]))"
        )
    better = ds["score"].coords.get(NAME)
    if better is not None and set(better.dims) <= {"metric"}:
        as_bool(better)


def as_bool(better: xr.DataArray) -> xr.DataArray:
    if better.dtype == bool:
        return better
    wrong = [at for at, value in enumerate(better.values.ravel().tolist()) if not _is_truth(value)]
    if not wrong:
        return better.astype(bool)
    value = better.values.ravel().tolist()[wrong[0]]
    labels = labels_along(better, "metric") if better.dims == ("metric",) else []
    there = [labels[at] for at in wrong] if labels else []
    of = f" for {validate.listing(there)}" if there else ""
    raise ValueError(
        f"higher_is_better must be True or False for each metric, got {value!r}{of}{_why(value, there, labels)}"
    )


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool | int | float | np.bool_) and value in (0, 1)


def _why(value: Any, lacking: Sequence[Hashable], labels: Sequence[Hashable]) -> str:
    """Possible cause of a missing value, and its remedy."""
    if not (value is None or value != value):
        return "; it must be bool, as ds.metric != 'ter'"
    text = "; a label that was not spelt as in metric gives no value"
    for label in lacking:
        twins = [other for other in labels if other != label and str(other).casefold() == str(label).casefold()]
        if twins:
            return f"{text}: did you mean {twins[0]!r} by {label!r}, which differ in upper and lower case only?"
    return (
        f"{text} (upper and lower case count): ds.assign_coords(higher_is_better=~ds.metric.isin([...])) gives each one"
    )


def lower(values: xr.DataArray | xr.Dataset) -> list[Hashable]:
    better = values.coords.get(NAME)
    if better is None or better.dims != ("metric",):
        return []
    lower_is_better = ~as_bool(better).values
    return [label for label, is_lower in zip(labels_along(values, "metric"), lower_is_better, strict=True) if is_lower]


def declare(ds: xr.Dataset, labels: Iterable[Hashable], argument: str) -> xr.Dataset:
    metrics = ds.indexes["metric"]
    labels = [labels] if isinstance(labels, str) or not isinstance(labels, Iterable) else list(labels)
    labels = _of_all_raters(ds, labels, argument)
    for label in labels:
        validate.known(f"metric in {argument}", label, list(metrics), "metrics")
    before = as_bool(ds.coords[NAME]).values if NAME in ds.coords else True
    return ds.assign_coords({NAME: ("metric", before & ~metrics.isin(labels))})


def _of_all_raters(ds: xr.Dataset, labels: list[Hashable], argument: str) -> list[Hashable]:
    """Labels in which the mean of the raters stands for them, or for the column of their ratings."""
    raters = list(ds.indexes.get("rater", ()))
    gold = ds.attrs.get("gold")
    columns = [each.attrs.get("long_name") for each in ds.data_vars.values() if "rater" in each.dims]
    labels = [gold if label in columns and label not in ds.indexes["metric"] else label for label in labels]
    named = [label for label in labels if label in raters and label not in ds.indexes["metric"]]
    if not named or gold not in ds.indexes["metric"]:
        return labels
    lacking = [label for label in raters if label not in named]
    if lacking:
        raise ValueError(
            f"{argument} names {validate.listing(named)} but not {validate.listing(lacking)}: name all raters, or none"
        )
    return [*(label for label in labels if label not in named), gold]


def sentinels(values: xr.DataArray) -> list[Hashable]:
    kind = values.coords.get("kind")
    if kind is None or kind.dims != ("metric",):
        return []
    return list(values.indexes["metric"][kind.values == SENTINEL])
