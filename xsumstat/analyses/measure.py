"""What is measured and how it is resampled, made once from the keywords that analyses share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.coefficients import arrays, cell_ties, table, ties
from xsumstat.coefficients.record import Coefficient, Measure
from xsumstat.core import validate
from xsumstat.core.levels import LEVELS
from xsumstat.core.types import CorrelationFunction, FloatArray
from xsumstat.dataset import checks, facts, scale_checks
from xsumstat.dataset import scores as schema
from xsumstat.resampling import draws

__all__ = ["LAYERS", "Draws", "Measure"]

# Dims of score and of gold that can be drawn, and are then made one.
LAYERS = ("reference", "rater")
AUTO = "auto"


@dataclass(frozen=True)
class Draws:
    """How scores are resampled."""

    n_resamples: int
    seed: int
    keep_samples: bool = False
    progress: bool | None = None

    @classmethod
    def checked(
        cls, n_resamples: Any, rng: Any, *, keep_samples: Any = False, progress: Any = None, least: int = 2
    ) -> Draws:
        """From the keywords."""
        return cls(
            validate.n_draws("n_resamples", n_resamples, least),
            draws.seed_of(rng),
            validate.flag("keep_samples", keep_samples),
            progress,
        )

    @property
    def attrs(self) -> dict[str, Any]:
        """Attrs of a result."""
        return {"n_resamples": self.n_resamples, "seed": str(self.seed)}


def checked_measure(level: Any, coefficient: str | CorrelationFunction, missing: Any, undefined: Any) -> Measure:
    """What is measured, from the keywords; "available" applies to system means only."""
    level = validate.choice("level", level, LEVELS)
    missing = validate.choice("missing", missing, ("pairwise", "available"))
    undefined = validate.choice("undefined", undefined, ("drop", "zero"))
    if level != "system":
        missing = "pairwise"
    record = table.get(coefficient)
    if level not in record.levels:
        compared = {
            "system": " compares systems, and",
            "global": " compares the outputs of each input, all inputs together, and",
        }.get("".join(record.levels), " compares single outputs, and" if record.scale else "")
        needed = " or ".join(f"level={each!r}" for each in record.levels)
        raise ValueError(f"coefficient={record.name!r}{compared} needs {needed}, got level={level!r}")
    return Measure(record, level, missing, undefined)


def check_given(record: Coefficient, given: Any, dims: tuple[str, ...] = ()) -> None:
    """A coefficient, and dims that are drawn, that covariates go with."""
    if given is None:
        return
    if record.partial is None:
        allowed = [name for name, each in table.COEFFICIENTS.items() if each.partial is not None]
        raise ValueError(f"given needs a coefficient among {validate.listing(allowed)}, got {record.name!r}")
    if drawn := [dim for dim in dims if dim in ("cell", *LAYERS)]:
        raise ValueError(f"given needs resample='system', 'input' or 'both', got {validate.listing(drawn)}")


def check_symmetric(record: Coefficient) -> None:
    """A coefficient whose two scores may change places, where no one of them is the gold."""
    if not record.symmetric:
        raise ValueError(
            f"coefficient={record.name!r} compares a metric with human scores; between metrics use a correlation"
        )


def checked_resample(resample: Any, measure: Measure, *, layers: bool = True, auto: bool = False) -> tuple[str, ...]:
    """The dims to draw, among them layers of scores and gold; `random_dims` settles "auto"."""
    level = measure.level
    allowed = ("system", "input", "cell", *(LAYERS if layers else ()))
    dims = validate.dims("resample", resample, allowed, auto=auto)
    if "cell" in dims and (set(dims) & {"system", "input"} or level != "global"):
        beside = (
            "needs level='global', and can be combined only with 'reference' and 'rater';"
            if layers
            else "needs level='global', and cannot be combined with other dims;"
        )
        raise ValueError(f"resample='cell' {beside} got {resample!r} at level={level!r}")
    if "cell" in dims and measure.coefficient.within_inputs:
        raise ValueError(
            f"coefficient={measure.coefficient.name!r} compares the outputs of one input, which cells drawn one by one "
            f"do not keep together; use resample='both', 'system' or 'input', got {resample!r}"
        )
    return dims


def checked_dims(resample: Any) -> tuple[str, ...]:
    """The dims whose labels are random; of "auto" both, until `random_dims` knows how many systems there are."""
    return validate.dims("resample", resample, auto=True)


def _is_auto(resample: Any) -> bool:
    return isinstance(resample, str) and resample == AUTO


def entrance(measure: Measure, *, constant: bool = True) -> dict[str, Any]:
    """What the entrance of scores must know of a measure; `constant` metrics pass where it is defined for them."""
    found: dict[str, Any] = {
        "level": measure.level,
        "missing": measure.missing,
        "compared_within": measure.compared_within,
        "undefined": measure.undefined,
    }
    found["ties_left_out"] = measure.leaves_ties_out
    return {**found, "constant": constant and measure.coefficient.of_constants}


def weighs(measure: Measure, given: Any, clusters: tuple[str, ...] = ()) -> bool:
    """Whether drawn inputs can have weights, by the measure and what goes with it."""
    return measure.can_weigh and given is None and not clusters


def random_dims(resample: Any, dims: tuple[str, ...], shape: tuple[int, int]) -> tuple[str, ...]:
    """The dims whose labels are random, of (systems, inputs): for "auto" inputs alone where there are few systems.

    One input says nothing of others: systems alone are random then.
    """
    if not _is_auto(resample):
        return dims
    systems, inputs = shape
    if inputs == 1 and "system" in dims:
        return ("system",)
    return ("input",) if systems < facts.ENOUGH_SYSTEMS and inputs > 1 else dims


def these_systems(resample: Any, dims: tuple[str, ...]) -> bool | None:
    """Whether an answer speaks of the systems at hand alone; None for "auto", which goes by their number."""
    return None if _is_auto(resample) else dims == ("input",)


# --- Thresholds: how far apart two scores must be ---


def on_scale(measure: Measure, scores: schema.Scores, positive: Any = None) -> Measure:
    """The measure with its positive class, for coefficients of classes; metrics on another scale raise an error."""
    return replace(measure, coefficient=scale_checks.settled(measure.coefficient, scores, positive))


def settled(
    measure: Measure,
    scores: schema.Scores,
    threshold: Any,
    calibrate_on: xr.Dataset | None,
    gold: Any,
    positive: Any = None,
) -> Measure:
    """The measure with covariates and thresholds (one for each metric or for all; none where they are calibrated)."""
    measure = on_scale(measure, scores, positive)
    record, measure = measure.coefficient, replace(measure, given=scores.given, weights=scores.weights)
    if calibrate_on is not None:
        if threshold is not None:
            raise ValueError("threshold and calibrate_on both say what a tie is; give one of them")
        if record.calibrate is None:
            raise ValueError(f"calibrate_on needs coefficient='acc_eq' or 'tau_eq', got {record.name!r}")
        return _with(measure, _held_out(measure, scores, calibrate_on, gold))
    if threshold is None:
        return by_gold(measure, scores.gold)
    if record.threshold_of is None:
        raise ValueError(f"threshold needs coefficient='acc_eq', 'tau_eq' or 'kendall_like', got {record.name!r}")
    if isinstance(threshold, xr.DataArray) and threshold.ndim:
        if record.threshold_of == "gold":
            raise ValueError(
                f"threshold of {record.name!r} applies to the gold scores: pass one number, got a DataArray"
            )
        return _with(measure, _by_metric(threshold, scores))
    value = threshold.item() if isinstance(threshold, xr.DataArray | np.ndarray) else threshold
    return measure.at(validate.number("threshold", value, 0.0, math.inf))


def by_gold(measure: Measure, gold: xr.DataArray) -> Measure:
    """The measure with the default threshold of human scores: 25 of 0 to 100 (direct assessment), else 0."""
    if measure.coefficient.threshold_of != "gold":
        return measure
    low, high = (float(each.compute()) for each in (gold.min(), gold.max()))
    return measure if 0.0 <= low and measure.coefficient.threshold <= high <= 100.0 else measure.at(0.0)


def warn_drawn_threshold(measure: Measure, shape: tuple[int, int]) -> None:
    """Say where a resample looks for its threshold among some differences only."""
    pairs = ties.n_pairs(shape, measure.level)
    if measure.coefficient.calibrated and measure.level == "global" and pairs > ties.MOST_PAIRS:
        validate.warn(
            f"there are {pairs:.3g} pairs of outputs: in each resample the threshold is the best of some "
            f"{cell_ties.EDGES} differences, not of all",
            "approximate_threshold",
        )


def _with(measure: Measure, thresholds: tuple[float, ...]) -> Measure:
    return replace(measure, coefficient=replace(measure.coefficient, thresholds=thresholds))


def threshold_attrs(record: Coefficient, calibrate_on: xr.Dataset | None) -> dict[str, Any]:
    """Attrs of a result."""
    if record.threshold_of is None:
        return {}
    if calibrate_on is not None:
        return {"threshold": "held out"}
    if len(record.thresholds) > 1:
        return {"threshold": "by metric"}
    return {"threshold": record.threshold if record.thresholds else "calibrated"}


def why_undefined(record: Coefficient, given: Sequence[str] = ()) -> str:
    """What leaves the coefficient undefined, perhaps given covariates."""
    if given:
        return f"undefined given {validate.listing(given)}, as no group that varies has 3 members more than covariates:"
    if record.scale is not None:
        return "undefined, as no group has two classes or scores that vary, or none of the class that it is a share of:"
    if record.threshold_of == "gold" and not record.threshold:
        return "undefined, as no two gold scores differ:"
    if record.threshold_of == "gold":
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
        validate.known("metric of threshold", label, threshold.indexes["metric"], "it has")
    values = threshold.sel(metric=checks.as_labels(labels)).values
    for label, value in zip(labels, values.tolist(), strict=True):
        if not isinstance(value, int | float) or not value >= 0:
            raise ValueError(f"threshold of metric {label!r} must be a number of at least 0, got {value!r}")
    return tuple(float(value) for value in values)


def _held_out(measure: Measure, scores: schema.Scores, other: xr.Dataset, gold: Any) -> tuple[float, ...]:
    """The best threshold of each metric on other scores, which need the same metrics and a gold of the same name."""
    if not isinstance(other, xr.Dataset):
        raise TypeError(f"calibrate_on must be a Dataset of scores, got {type(other).__name__}")
    labels = scores.score["metric"].values.tolist()
    if isinstance(gold, xr.DataArray):
        gold = gold.name if gold.name in other.variables or gold.name in other.indexes.get("metric", ()) else None
    try:
        found = schema.prepare(other, gold, labels, level=measure.level, missing=measure.missing, constant=True)
        found.later.tell()
    except (ValueError, TypeError) as error:
        raise type(error)(f"calibrate_on: {error}") from error
    if found.further:
        dims = validate.listing(found.further)
        raise ValueError(f"calibrate_on has additional dims: {dims}; select one label of each")
    x, z = found.score.compute().values, found.gold.compute().values
    return tuple(best_threshold(measure, each, z) for each in x)


def best_threshold(measure: Measure, x: FloatArray, z: FloatArray) -> float:
    """The threshold that is given, or at which the coefficient of one metric is best, in units of its scores."""
    arrays.check_finite(x)
    assert measure.coefficient.calibrate is not None
    return float(measure.coefficient.calibrate(measure.estimator(x, z), x, z, measure))
