"""What correlations of few systems cannot show, and where their intervals cover less."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.coefficients.record import Measure
from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.core import validate
from xsumstat.dataset import checks
from xsumstat.dataset.scores import Scores
from xsumstat.inference import two_correlations

WAY_OUT = "level='global' or 'input', or rate more systems"
# Coefficients of two systems that depend on more than their order.
_OF_MORE = ("spa",)
NEEDED = 4  # by the jackknife, Fisher's interval and formulas
_NEAR = 1e-9
# Averages of Pearson's r over fewer inputs, each of so few systems, are skewed from this value on.
_NEAR_ONE, _FEW_MEMBERS, _MANY_INPUTS = 0.85, 6, 120


def is_of_two(attrs: Mapping[Any, Any]) -> bool:
    """Whether a result's coefficients only tell the order of two systems."""
    record = COEFFICIENTS.get(str(attrs.get("coefficient")))
    order = record is None or (record.scale is None and record.name not in _OF_MORE)
    return attrs.get("level") == "system" and attrs.get("n_systems") == 2 and "by" not in attrs and order


def why_certain(coefficient: str) -> str:
    """What two systems make of a coefficient: "every correlation is 1 or -1"."""
    record = COEFFICIENTS.get(coefficient)
    return (
        "every accuracy is 1 or 0" if record is not None and record.bounds[0] == 0 else "every correlation is 1 or -1"
    )


def why_none(attrs: Mapping[Any, Any]) -> str:
    """What too few systems lack at system level, ": it needs 4 systems, and there are 3"; "" where that is not why."""
    found, needs = attrs.get("n_systems"), attrs.get("method") in (*two_correlations.METHODS, "fisher", "jackknife")
    few = needs and attrs.get("level") == "system" and isinstance(found, int | np.integer) and found < NEEDED
    return f": it needs {NEEDED} systems, and there are {found}" if few else ""


def without_limits(found: xr.Dataset, scores: Scores, measure: Measure) -> xr.Dataset:
    """Intervals of two systems' order, with a warning: NaN, as no resample shows how uncertain it is."""
    # Of lazy scores only the task knows how many systems are used.
    used = None if scores.used is None else scores.used[0].sum()
    if not is_of_two(_attrs(scores, measure) if used is None else {**_attrs(scores, measure), "n_systems": 2}):
        return found
    values = found["correlation" if "correlation" in found else "difference"]
    certain = np.abs(values - values.round()) < _NEAR
    if used is not None:
        certain &= (used == 2) | ((used == 0) & (scores.shape[0] == 2))
    scores.later.make(_warn, certain, measure.coefficient.name)
    limits = {name: found[name].where(~certain) for name in ("ci_low", "ci_high", "standard_error")}
    if "fell_back" in found:
        limits["fell_back"] = found["fell_back"] & ~certain
    return found.assign(limits)


def warn_without(found: xr.Dataset, name: str, scores: Scores, measure: Measure, what: str, needs: str) -> None:
    """Warn of estimates without an interval; two systems have a warning of their own."""
    if not is_of_two(_attrs(scores, measure)):
        scores.later.make(checks.warn_without_limits, found[name], found["ci_low"], what, needs)


def warn_without_test(scores: Scores, level: str, method: str) -> bool:
    """Whether there are too few systems for a formula; warn of it."""
    systems = scores.shape[0]
    if level != "system" or systems >= NEEDED:
        return False
    validate.warn(
        f"no p-value: method={method!r} needs {NEEDED} systems, got {systems}; use compare_metrics(level='input')",
        "no_test",
    )
    return True


def _attrs(scores: Scores, measure: Measure) -> dict[str, Any]:
    return {"coefficient": measure.coefficient.name, "level": measure.level, "n_systems": scores.shape[0]}


def _warn(certain: xr.DataArray, coefficient: str) -> None:
    if certain.values.any():
        validate.warn(
            f"with 2 systems {why_certain(coefficient)}, so there is no interval; use {WAY_OUT}", "no_interval"
        )


def warn_near_one(r: xr.DataArray, scores: Scores) -> None:
    """Warn of averages of Pearson's r near 1 over few random inputs: of few systems single ones are far below."""
    systems, inputs = scores.shape
    if systems > _FEW_MEMBERS or inputs >= _MANY_INPUTS:
        return
    text = (
        f"Pearson's r of {systems} systems is near 1 on most inputs and far below on some: 95 % intervals over "
        f"{inputs} inputs like these can cover less (85 % in simulations); use coefficient='kendall', for"
    )
    scores.later.make(checks.warn_where, abs(r) >= _NEAR_ONE, text, "near_one")
