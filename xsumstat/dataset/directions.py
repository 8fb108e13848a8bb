"""Directions of metrics, `higher_is_better`, metrics that look undeclared, and levels of sentinels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from xsumstat.core import arguments, validate
from xsumstat.dataset import facts

NAME = "higher_is_better"
# What the coordinate `kind` calls metrics that see only a part of what a metric should see.
SENTINEL = "sentinel"
# At which levels what is compared varies along the dim that a sentinel sees; there it must not know its own output.
VARIES = {"input": ("global", "within_system"), "system": ("global", "input")}
# A metric that is not declared lower-is-better is remarked on where the correlation of its system means with the gold's
# is at most this, and so low that chance would bring one of all metrics there once in a hundred Datasets.
_STRONG = -0.3
_CHANCE = 0.01
# What a correlation is over, by level, before it is averaged.
_ALONG: dict[str, tuple[str, ...]] = {"input": ("system",), "within_system": ("input",), "global": ("system", "input")}


def check_place(ds: xr.Dataset) -> None:
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


def check(values: xr.DataArray) -> None:
    better = values.coords.get(NAME)
    if better is not None and set(better.dims) <= {"metric"}:
        as_bool(better)


def as_bool(better: xr.DataArray) -> xr.DataArray:
    if better.dtype == bool:
        return better
    wrong = [at for at, value in enumerate(better.values.ravel().tolist()) if not _is_truth(value)]
    if not wrong:
        return better.astype(bool)
    value = better.values.ravel().tolist()[wrong[0]]
    labels = list(better.indexes["metric"]) if "metric" in better.indexes else list(range(better.size))
    there = [labels[at] for at in wrong] if better.dims == ("metric",) else []
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
    labels = list(values.indexes["metric"]) if "metric" in values.indexes else list(range(values.sizes["metric"]))
    return [label for label, high in zip(labels, as_bool(better).values, strict=True) if not high]


def declare(ds: xr.Dataset, labels: Iterable[Hashable], argument: str) -> xr.Dataset:
    metrics = ds.indexes["metric"]
    labels = [labels] if isinstance(labels, str) or not isinstance(labels, Iterable) else list(labels)
    for label in labels:
        validate.known(f"metric in {argument}", label, list(metrics), "metrics")
    before = as_bool(ds.coords[NAME]).values if NAME in ds.coords else True
    return ds.assign_coords({NAME: ("metric", before & ~metrics.isin(labels))})


def remark(score: xr.DataArray, gold: xr.DataArray, name: str, *, level: str, n_metrics: int) -> None:
    """Warn of metrics that seem to be better when lower, and are not declared so."""
    from scipy.special import ndtri

    n_systems = score.sizes["system"]
    if n_systems < 4 or "metric" not in score.indexes:
        return
    declared = lower(score)
    with np.errstate(all="ignore"):
        found = _pearson(_means(score), _means(gold), ["system"])
        far = np.arctanh(found) * np.sqrt(n_systems - 3) < ndtri(_CHANCE / n_metrics)
    known = {*declared, *sentinels(score)}
    places = [at for at in np.flatnonzero(far & (found <= _STRONG)) if score["metric"].values[at] not in known]
    if level in _ALONG:
        places = [at for at in places if _correlation(score.isel(metric=[at]), gold, level) < 0]
    if not places:
        return
    labels = score["metric"].values[places].tolist()
    texts = [f"{label!r} (r = {found[at]:.2f})" for label, at in zip(labels, places, strict=True)]
    way = (
        f"declare it by ds = ds.assign_coords(higher_is_better=~ds.metric.isin({[*declared, *labels]!r}))"
        if arguments.in_python()
        else arguments.adding("lower_is_better", [*declared, *labels])
    )
    validate.warn(
        f"system means of {', '.join(texts[:8])}{', …' if len(texts) > 8 else ''} correlate negatively with the "
        f"human scores {name!r}: if lower is better, {way}",
        "direction",
    )


def sentinels(values: xr.DataArray) -> list[Hashable]:
    kind = values.coords.get("kind")
    if kind is None or kind.dims != ("metric",):
        return []
    return list(values.indexes["metric"][kind.values == SENTINEL])


def warn_of_sentinels(score: xr.DataArray, made_for: Any, level: str) -> None:
    """Warn of sentinels made for another level, where they may know more than they should."""
    if made_for is None or "metric" not in score.indexes:
        return
    wrong = [
        label
        for dim, levels in VARIES.items()
        if (label := f"{SENTINEL}: {dim}") in score.indexes["metric"] and (made_for in levels) != (level in levels)
    ]
    if wrong:
        validate.warn(
            f"sentinels that were made for level={made_for!r} mean nothing at level={level!r}: "
            f"{validate.listing(wrong)}; make them by ds.meta.sentinels(gold, level={level!r})",
            "sentinels_level",
        )


def _means(values: xr.DataArray) -> xr.Variable:
    """System means over existing inputs; without gaps, the common case, without a copy."""
    axis = values.dims.index("input")
    means = values.values.mean(axis=axis)
    if np.isnan(means).any():
        known = ~np.isnan(values.values)
        means = np.where(known, values.values, 0.0).sum(axis=axis) / known.sum(axis=axis)
    return xr.Variable([dim for dim in values.dims if dim != "input"], means)


def _correlation(score: xr.DataArray, gold: xr.DataArray, level: str) -> float:
    with np.errstate(all="ignore"):
        return float(_pearson(score.variable, gold.variable, _ALONG[level])[0])


def _pearson(x: xr.Variable, z: xr.Variable, over: Sequence[str]) -> npt.NDArray[np.float64]:
    """Pearson's r of each metric, averaged; `xarray.corr` warns of empty groups."""
    dims, arrays = facts.broadcast(x, z)
    one, two = np.broadcast_arrays(*arrays)
    axes = tuple(dims.index(dim) for dim in over)
    there = ~np.isnan(one * two)
    a, b = (_less_mean(each, there, axes) for each in (one, two))
    r = (a * b).sum(axis=axes) / np.sqrt((a**2).sum(axis=axes) * (b**2).sum(axis=axes))
    metric = [dim for dim in dims if dim not in over].index("metric")
    by_metric = np.moveaxis(r, metric, 0).reshape(r.shape[metric], -1)
    known = ~np.isnan(by_metric)
    return np.asarray(np.where(known, by_metric, 0.0).sum(axis=1) / known.sum(axis=1))


def _less_mean(
    values: npt.NDArray[np.float64], there: npt.NDArray[np.bool_], axes: tuple[int, ...]
) -> npt.NDArray[np.float64]:
    """Values less their mean over some axes, 0 where missing."""
    known = np.where(there, values, 0.0)
    mean = known.sum(axis=axes, keepdims=True) / there.sum(axis=axes, keepdims=True)
    return np.where(there, known - mean, 0.0)
