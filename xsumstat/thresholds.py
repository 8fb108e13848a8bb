"""How far apart two scores must be: the thresholds of coefficients that have one, given or found on held-out scores."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _kernels as kernels
from xsumstat import _validate, decisions, levels, schema
from xsumstat.coefficients import Coefficient, FloatArray


def settled(
    record: Coefficient,
    scores: schema.Scores,
    threshold: Any,
    calibrate_on: xr.Dataset | None,
    gold: Any,
    settings: dict[str, str],
) -> Coefficient:
    """The coefficient with its thresholds, one for each metric of the scores, or for all; none where it is calibrated.

    Parameters
    ----------
    record : Coefficient
    scores : Scores
        The metrics that are judged.
    threshold : float, DataArray or None
        As users give it.
    calibrate_on : Dataset or None
        Held-out scores.
    gold : Any
        The gold of the scores that are judged, as users give it.
    settings : dict
        Level, missing and undefined.
    """
    if calibrate_on is not None:
        if threshold is not None:
            raise ValueError("threshold and calibrate_on both say what a tie is; give one of them")
        if record.kind != kernels.ACC_EQ:
            raise ValueError(f"calibrate_on needs coefficient='acc_eq', got {record.name!r}")
        return replace(record, thresholds=_held_out(record, scores, calibrate_on, gold, settings))
    if threshold is None:
        return record
    if record.kind not in levels.DECISIONS:
        raise ValueError(f"threshold needs coefficient='acc_eq' or 'kendall_like', got {record.name!r}")
    if isinstance(threshold, xr.DataArray) and threshold.ndim:
        if record.kind != kernels.ACC_EQ:
            raise ValueError("threshold of 'kendall_like' is of the gold's scores: one number, got a DataArray")
        return replace(record, thresholds=_by_metric(threshold, scores))
    value = threshold.item() if isinstance(threshold, xr.DataArray | np.ndarray) else threshold
    return record.at(_validate.number("threshold", value, 0.0, math.inf))


def told(record: Coefficient, calibrate_on: xr.Dataset | None) -> dict[str, Any]:
    """What attrs say."""
    if record.kind not in levels.DECISIONS:
        return {}
    if calibrate_on is not None:
        return {"threshold": "held out"}
    if len(record.thresholds) > 1:
        return {"threshold": "by metric"}
    return {"threshold": record.threshold if record.thresholds else "calibrated"}


def why_undefined(record: Coefficient) -> str:
    """What leaves the coefficient undefined."""
    if record.kind == kernels.KENDALL_LIKE:
        return f"undefined, as no two gold scores lie {record.threshold:g} (see threshold) apart:"
    return "undefined, as no group has two scores that both vary:"


def along_metrics(record: Coefficient) -> xr.DataArray:
    """The thresholds as an array that goes with the scores; NaN where they are calibrated."""
    if len(record.thresholds) > 1:
        return xr.DataArray(np.array(record.thresholds), dims="metric")
    return xr.DataArray(record.threshold)


def _by_metric(threshold: xr.DataArray, scores: schema.Scores) -> tuple[float, ...]:
    labels = scores.score["metric"].values.tolist()
    if threshold.dims != ("metric",) or "metric" not in threshold.indexes:
        raise ValueError(
            f"threshold must be a number, or an array over the labels of 'metric', got dims {threshold.dims}"
        )
    for label in labels:
        _validate.known("metric of threshold", label, threshold.indexes["metric"], "it has")
    values = threshold.sel(metric=labels).values
    for label, value in zip(labels, values.tolist(), strict=True):
        if not isinstance(value, int | float) or not value >= 0:
            raise ValueError(f"threshold of metric {label!r} must be a number of at least 0, got {value!r}")
    return tuple(float(value) for value in values)


def _held_out(
    record: Coefficient, scores: schema.Scores, other: xr.Dataset, gold: Any, settings: dict[str, str]
) -> tuple[float, ...]:
    """The best threshold of each metric on other scores, which need the same metrics and a gold of the same name."""
    if not isinstance(other, xr.Dataset):
        raise TypeError(f"calibrate_on must be a Dataset of scores, got {type(other).__name__}")
    labels = scores.score["metric"].values.tolist()
    if isinstance(gold, xr.DataArray):
        gold = gold.name if gold.name in other.variables or gold.name in other.indexes.get("metric", ()) else None
    try:
        found = schema.prepare(other, gold, labels, level=settings["level"], missing=settings["missing"], constant=True)
    except (ValueError, TypeError) as error:
        raise type(error)(f"calibrate_on: {error}") from error
    if found.further:
        dims = _validate.listing(found.further)
        raise ValueError(f"calibrate_on has the further dim(s) {dims}; select one label of each")
    x, z = found.score.compute().values, found.gold.compute().values
    how: dict[str, Any] = {**settings, "coefficient": record}
    return tuple(float(decisions.calibrated(_finite(each), z, **how)) for each in x)


def _finite(values: FloatArray) -> FloatArray:
    levels.check_finite(values)
    return values
