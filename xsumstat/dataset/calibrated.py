"""Metrics that hold calibrated scores: which they are, what they were made of, and who may not take them as fixed."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import xarray as xr

from xsumstat import _validate
from xsumstat.inference.calibration import LEAST_APART, Calibration

# The coordinate of metric that says how a metric was calibrated ("" where it was not), the attr that holds the details,
# and the name of the coordinate of input that holds the folds.
NAME, ATTR, FOLDS = "calibrated", "calibrations", "calibration_fold"
# What their interval needs beside what others need.
NEEDED = f", of a calibrated metric {LEAST_APART} outputs with other scores than the most common one of their fold"
# How a calibration is called in words, by its method.
BY = {"isotonic": "isotonic regression", "linear": "linear regression", "quantile": "matching quantiles"}
_WAY_OUT = (
    "ds.meta.ci and ds.meta.compare_metrics (method='jackknife') calibrate anew each time they leave out inputs or "
    "systems; or name other metrics in metric="
)


def called(label: Hashable) -> str:
    """What a judge is called with its scores on people's scale."""
    return f"{label} (calibrated)"


def labels(values: xr.DataArray | xr.Dataset) -> list[Hashable]:
    """The metrics that hold calibrated scores."""
    words = values.coords.get(NAME)
    if words is None or words.dims != ("metric",) or "metric" not in values.indexes:
        return []
    given = [isinstance(each, str) and bool(each) for each in words.values.tolist()]
    return [label for label, is_one in zip(values.indexes["metric"], given, strict=True) if is_one]


def refuse(score: xr.DataArray, what: str = "an answer that takes them as fixed") -> None:
    """An error where metrics hold calibrated scores, of which no resample would have the same."""
    if found := labels(score):
        raise ValueError(
            f"{_validate.listing(found)} holds calibrated scores, which would differ with other ratings: {what} is too "
            f"sure of them. {_WAY_OUT}"
        )


@dataclass(frozen=True)
class Recipe:
    """What a calibrated metric was made of.

    Attributes
    ----------
    of : str
        The judge.
    gold : str
        The metric or variable of the human scores, averaged over `along` where it has that dim.
    along : str
    sign : int
        -1 of human scores that are better when lower.
    folds : str
        The coordinate of input that holds the folds.
    calibration : Calibration
        Its grades are those of the human scores as they are given.
    """

    of: str
    gold: str
    along: str
    sign: int
    folds: str
    calibration: Calibration

    @property
    def text(self) -> dict[str, Any]:
        """As attrs hold it."""
        how = self.calibration
        return {**vars(self), "calibration": {"method": how.method, "grades": list(how.grades)}}

    @classmethod
    def of_text(cls, text: dict[str, Any]) -> Recipe:
        """From what attrs hold."""
        how = text["calibration"]
        return cls(**{**text, "calibration": Calibration(how["method"], tuple(map(float, how["grades"])))})

    @property
    def oriented(self) -> Calibration:
        """The calibration of human scores that are negated where they are better when lower."""
        return replace(self.calibration, grades=tuple(self.sign * each for each in self.calibration.grades))


def recipes(ds: xr.Dataset) -> dict[str, Recipe]:
    """By metric, from the attrs of a Dataset; those that cannot be read are not there."""
    try:
        return {name: Recipe.of_text(text) for name, text in json.loads(ds.attrs.get(ATTR, "{}")).items()}
    except (TypeError, ValueError, KeyError):
        return {}


def with_recipes(ds: xr.Dataset, more: dict[str, Recipe]) -> dict[str, str]:
    """The attrs that hold the recipes of a Dataset and more."""
    known = {name: each.text for name, each in {**recipes(ds), **more}.items()}
    return {ATTR: json.dumps(known)}


def mean_of_raters(values: xr.DataArray, along: str) -> xr.DataArray:
    """The mean of the ratings that there are; human scores without raters as they are."""
    return values.mean(along, keep_attrs=True) if along in values.dims else values


def known(found: Sequence[Hashable], name: str, argument: str, of: str) -> Hashable:
    """The label with this text among some; an error that says what is not there any more."""
    for label in found:
        if str(label) == name:
            return label
    raise ValueError(
        f"{of!r} was calibrated from {argument} {name!r}, which the Dataset does not hold any more: its interval "
        "refits the calibration and needs it. Keep it, or calibrate again with ds.meta.calibrate(...)"
    )
