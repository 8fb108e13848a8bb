"""Scores that are given to simulations and plans: checked, and the model that draws more like them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import calibrated
from xsumstat.dataset import scores as schema
from xsumstat.simulation.empirical_model import EmpiricalModel
from xsumstat.simulation.model import Model

# What `simulate` calls the human scores.
GOLD = "human"
LARGEST = 1e100


def prepared(
    ds: xr.Dataset, gold: Any, metric: Any, *, level: str = "input", these_systems: bool | None = False
) -> schema.Scores:
    """Scores to imitate or plan from."""
    how: dict[str, Any] = {"level": level, "missing": "pairwise", "these_systems": these_systems}
    found = in_memory(ds, gold, metric, "all of them are needed", **how)
    check_size(found.score.values, found.gold.values)
    return found


def in_memory(ds: xr.Dataset, gold: Any, metric: Any, why: str, **how: Any) -> schema.Scores:
    """Scores without further dims, in memory, as `why` says where they are not."""
    found = schema.prepare(ds, gold, metric, **how)
    calibrated.refuse(found.score, "a simulation")
    if found.further:
        raise ValueError(
            f"scores have additional dims: {validate.listing(sorted(found.further))}; select one label of each"
        )
    if found.used is not None:
        raise ValueError(f"scores are lazy, and {why}: load them first, with ds.load()")
    return found


def check_size(*values: FloatArray) -> None:
    """Raise for scores whose squares overflow."""
    largest = max(float(np.nanmax(np.abs(each), initial=0.0)) for each in values)
    if largest > LARGEST:
        raise ValueError(f"scores reach {largest:.3g}, whose squares are too large; divide them first")


def empirical_model_of(ds: xr.Dataset, found: schema.Scores) -> EmpiricalModel:
    """The empirical model of a Dataset's scores."""
    check_size(found.score.values, found.gold.values)
    if "like" in ds.attrs:
        raise ValueError("these scores were drawn like others; give those, from whose own effects more are drawn")
    return EmpiricalModel.of(found.score.values, found.gold.values)


def check_model(model: EmpiricalModel, scores: FloatArray, gold: FloatArray, labels: list[Any]) -> None:
    """Warn of metrics whose new scores differ from the given ones."""
    outside, spread = model.compared(scores, gold)
    for level, at in outside.items():
        if at:
            validate.warn(
                f"not like the given scores: Pearson's r at {level} level of "
                f"{validate.listing(labels[each] for each in at)} lies outside its jackknife interval on average",
                "not_alike",
            )
    for level, at in spread.items():
        if at:
            validate.warn(
                f"not like the given scores: the standard error of Pearson's r at {level} level of "
                f"{validate.listing(labels[each] for each in at)} is half or twice as large",
                "not_alike",
            )


def drawing_model(ds: xr.Dataset, found: schema.Scores, labels: list[Any]) -> tuple[Model | EmpiricalModel, list[int]]:
    """The model of simulated scores, or an empirical model, and the metrics' places in it."""
    if "model" not in ds.attrs:
        return empirical_model_of(ds, found), list(range(len(labels)))
    names, model = model_of(ds)
    if found.gold_name != GOLD:
        raise ValueError(f"gold must be {GOLD!r}, which the model draws, got {found.gold_name!r}")
    for label in labels:
        validate.known("metric", label, names, "metrics that the model draws")
    return model, [names.index(label) for label in labels]


def model_of(ds: xr.Dataset) -> tuple[list[str], Model]:
    """Metric names and model of simulated scores."""
    numbers = json.loads(ds.attrs["model"])
    names = numbers.pop("metrics")
    rho = tuple(tuple(each) for each in numbers.pop("agreement"))
    return names, Model(rho, tuple(numbers.pop("gold_sd")), tuple(numbers.pop("metric_sd")), **numbers)
