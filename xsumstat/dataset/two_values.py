"""Human scores of two values, one so rare that intervals undercover."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from xsumstat.coefficients.record import Measure
from xsumstat.core import validate
from xsumstat.dataset import chunking, facts, masks, value_checks
from xsumstat.dataset.facts import Fact
from xsumstat.dataset.scores import Scores

# Where fewer inputs than these have both values, coverage at input level fell below 90 % in simulations (see
# docs/calibration.md): two systems order an input or do not, so that a correlation is 1 or -1.
_FEWEST_INPUTS, _FEWEST_OF_TWO_SYSTEMS = 20, 100
# For new systems, inputs that these systems leave constant are missed where they are more than this share.
_MISSED = 0.25
# Least number of outputs with the rarer value, at global level.
_FEWEST_OUTPUTS = 10


def check(scores: Scores, measure: Measure, dims: Sequence[str]) -> None:
    """Warn of two-valued human scores with few outputs of the rarer value; `scale_checks` does so for classes."""
    level = measure.level
    if level == "input" and warn_few_differences(scores.score, scores.gold):
        return
    if level not in ("input", "global") or measure.coefficient.scale is not None:
        return
    found = value_checks.of_values(of, scores.gold, scores.used)
    scores.later.make(_warn, found, scores.gold_name, level, "system" in dims)


def of(gold: xr.DataArray, used: Sequence[xr.DataArray] | None = None) -> Fact:
    """Along a last dim: outputs of the rarer of two values (0: more values), systems, inputs, inputs with both."""
    values = masks.where_used(gold, used).transpose(..., *facts.CELLS).values
    high, low = (reduce(values, axis=(-2, -1), keepdims=True) for reduce in (np.fmax.reduce, np.fmin.reduce))
    above, below = values == high, values == low
    two = (high > low)[..., 0, 0] & (above | below | np.isnan(values)).all(axis=(-2, -1))
    rarer = np.where(two, np.minimum(above.sum(axis=(-2, -1)), below.sum(axis=(-2, -1))), 0)
    both = (above.any(axis=-2) & below.any(axis=-2)).sum(axis=-1)
    inputs = (above | below).any(axis=-2).sum(axis=-1)
    systems = np.full_like(inputs, values.shape[-2])
    further = [dim for dim in gold.dims if dim not in facts.CELLS]
    return Fact.of([*further, "_what"], np.stack([rarer, systems, inputs, both], axis=-1), gold)


def _warn(found: Fact, gold: str, level: str, new_systems: bool) -> None:
    for rarer, systems, inputs, both in found.values.reshape(-1, 4).tolist():
        if not rarer:
            continue
        fewest = _FEWEST_OF_TWO_SYSTEMS if systems == 2 else _FEWEST_INPUTS
        if level == "input" and (both < fewest or new_systems and inputs - both > _MISSED * inputs):
            text = f"only {both} of {inputs} inputs have both: intervals at input level undercover; use level='global'"
        elif level == "global" and rarer < _FEWEST_OUTPUTS:
            text = f"only {rarer} outputs have the rarer one: intervals undercover"
        else:
            continue
        validate.warn_once(f"the human scores {gold!r} have two values, and {text}", "rare_class")


# Least number of inputs on which two systems differ, at input level.
_FEW_INPUTS = 20


def warn_few_differences(score: xr.DataArray, gold: xr.DataArray) -> bool:
    """Warn where two systems differ on few inputs; one input shows only their order. Lazy scores are skipped."""
    if score.sizes["system"] != 2 or chunking.is_lazy(score) or chunking.is_lazy(gold):
        return False
    apart = [(each.isel(system=0, drop=True) - each.isel(system=1, drop=True) != 0) & each.notnull().all("system")
             for each in (score, gold)]  # fmt: skip
    least = int((apart[0] & apart[1]).sum("input").min())
    few = least < _FEW_INPUTS
    if few:
        validate.warn(
            f"the two systems differ by a metric and by the gold on only {validate.counted(least, 'input')}: with "
            f"fewer than "
            f"{_FEW_INPUTS} such inputs, intervals at input level undercover; use level='global'",
            "few_inputs",
        )
    return few
