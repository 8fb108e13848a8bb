"""Metrics that hold calibrated scores, their recipes, and analyses that must not take them as fixed."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import xarray as xr

from xsumstat.core import validate
from xsumstat.inference.calibration import LEAST_APART, Calibration

# The coordinate of metric that says how a metric was calibrated ("" where it was not), the attr that holds the details,
# and the name of the coordinate of input that holds the folds.
NAME, ATTR, FOLDS = "calibrated", "calibrations", "calibration_fold"
# What their interval needs beside what others need.
NEEDED = f"; of a calibrated metric also {LEAST_APART} outputs whose score is not the most common one in their fold"
# How a calibration is called in words, by its method.
BY = {"isotonic": "isotonic regression", "linear": "linear regression", "quantile": "matching quantiles"}
_WAY_OUT = (
    "ds.meta.ci and ds.meta.compare_metrics (method='jackknife') calibrate anew each time they leave out inputs or "
    "systems; or name other metrics in metric="
)


def called(label: Hashable) -> str:
    return f"{label} (calibrated)"


def labels(values: xr.DataArray | xr.Dataset) -> list[Hashable]:
    words = values.coords.get(NAME)
    if words is None or words.dims != ("metric",) or "metric" not in values.indexes:
        return []
    given = [isinstance(each, str) and bool(each) for each in words.values.tolist()]
    return [label for label, is_one in zip(values.indexes["metric"], given, strict=True) if is_one]


def refuse(score: xr.DataArray, what: str = "an answer that takes them as fixed") -> None:
    """Raise if metrics hold calibrated scores, which would change in each resample."""
    if found := labels(score):
        raise ValueError(
            f"{validate.listing(found)} holds calibrated scores, which would differ with other ratings: {what} is too "
            f"sure of them. {_WAY_OUT}"
        )


@dataclass(frozen=True)
class Recipe:
    """The origin of a calibrated metric: judge, human scores (mean `along`; sign -1 if lower is better), folds, map."""

    of: str
    gold: str
    along: str
    sign: int
    folds: str
    calibration: Calibration

    @property
    def text(self) -> dict[str, Any]:
        how = self.calibration
        return {**vars(self), "calibration": {"method": how.method, "grades": list(how.grades)}}

    @classmethod
    def of_text(cls, text: dict[str, Any]) -> Recipe:
        how = text["calibration"]
        return cls(**{**text, "calibration": Calibration(how["method"], tuple(map(float, how["grades"])))})

    @property
    def oriented(self) -> Calibration:
        return replace(self.calibration, grades=tuple(self.sign * each for each in self.calibration.grades))


def recipes(ds: xr.Dataset) -> dict[str, Recipe]:
    try:
        return {name: Recipe.of_text(text) for name, text in json.loads(ds.attrs.get(ATTR, "{}")).items()}
    except (TypeError, ValueError, KeyError):
        return {}


def with_recipes(ds: xr.Dataset, more: dict[str, Recipe]) -> dict[str, str]:
    known = {name: each.text for name, each in {**recipes(ds), **more}.items()}
    return {ATTR: json.dumps(known)}


def mean_of_raters(values: xr.DataArray, along: str) -> xr.DataArray:
    """Mean of the existing ratings; human scores without raters are unchanged."""
    return values.mean(along, keep_attrs=True) if along in values.dims else values


def known(found: Sequence[Hashable], name: str, argument: str, of: str) -> Hashable:
    """The label with this text; otherwise an error names what is missing."""
    for label in found:
        if str(label) == name:
            return label
    raise ValueError(
        f"{of!r} was calibrated from {argument} {name!r}, which the Dataset does not hold any more: its interval "
        "refits the calibration and needs it. Keep it, or calibrate again with ds.meta.calibrate(...)"
    )
