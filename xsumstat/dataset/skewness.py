"""Human scores so skewed that intervals of Pearson's r undercover."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from xsumstat.coefficients import arrays
from xsumstat.coefficients.record import Measure
from xsumstat.core import validate
from xsumstat.core.types import BoolArray, FloatArray
from xsumstat.dataset import facts, masks, value_checks
from xsumstat.dataset.facts import Fact
from xsumstat.dataset.scores import Scores

# From this skewness on coverage fell below 90 % in simulations (docs/calibration.md): within inputs, and of all cells.
_MUCH = {"input": 2.5, "global": 3.5}
# What they covered of log-normal scores, 10 systems x 100 inputs.
_COVERAGE = {"input": 76, "global": 85}
# Inputs on which people gave one score to all systems: of more than this share, ranks undercover as well.
_CONSTANT = 0.1


def check(scores: Scores, measure: Measure, dims: Sequence[str]) -> None:
    """Warn of strongly skewed human scores for intervals of Pearson's r (at input level only for new systems)."""
    record, level = measure.coefficient, measure.level
    of_ranks = record.fisher is None or record.leave_one_out is None or record.leave_one_out.of_ranks
    if of_ranks or level not in _MUCH or (level == "input" and "system" not in dims):
        return
    found = value_checks.of_values(of, scores.gold, level, scores.used)
    scores.later.make(_warn, found, scores.gold_name, level)


def of(gold: xr.DataArray, level: str, used: Sequence[xr.DataArray] | None = None) -> Fact:
    """Skewness (at input level about the inputs' means), and the share of constant inputs, along a last dim."""
    values = masks.where_used(gold, used).transpose(..., *facts.CELLS).values
    there = ~np.isnan(values)
    scaled = values / (np.abs(values).max(initial=0.0, where=there) or 1.0)
    if level == "input":
        scaled = scaled - arrays.mean_of_existing(scaled, there, (-2,))
    with np.errstate(invalid="ignore"):
        high, low = np.fmax.reduce(values, axis=-2), np.fmin.reduce(values, axis=-2)
        constant = (high == low).sum(axis=-1) / np.maximum((high >= low).sum(axis=-1), 1)
    further = [dim for dim in gold.dims if dim not in facts.CELLS]
    return Fact.of([*further, "_what"], np.stack([_skewness(scaled, there), constant], axis=-1), gold)


def _skewness(values: FloatArray, there: BoolArray) -> FloatArray:
    axes = (-2, -1)
    rest = values - arrays.mean_of_existing(values, there, axes)
    second, third = (arrays.mean_of_existing(rest**power, there, axes)[..., 0, 0] for power in (2, 3))
    varies = second > 1e-24
    return np.where(varies, third / np.where(varies, second, 1.0) ** 1.5, 0.0)


def _warn(found: Fact, gold: str, level: str) -> None:
    skewness, constant = np.moveaxis(found.values, -1, 0).reshape(2, -1)
    if not (np.abs(skewness) > _MUCH[level]).any():
        return
    worst = int(np.argmax(np.abs(skewness)))
    text, way_out = f"skewness {skewness[worst]:.1f}{' within inputs' * (level == 'input')}", "coefficient='kendall'"
    if level == "input" and constant[worst] > _CONSTANT:
        text += f"; {constant[worst]:.0%} of the inputs have equal human scores and are left out"
        way_out = "level='global'"
    validate.warn_once(
        f"the human scores {gold!r} are strongly skewed ({text}): 95 % intervals of Pearson's r at level={level!r} "
        f"cover too little (in simulations of log-normal scores {_COVERAGE[level]} %); use {way_out}",
        "skewed",
    )
