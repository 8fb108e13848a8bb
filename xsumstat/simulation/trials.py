"""Trials of a simulation: named keywords, all trials on threads, and shares of trials."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.inference.intervals import normal_quantile
from xsumstat.resampling import draws
from xsumstat.resampling.jobs import one_by_one
from xsumstat.simulation.designs import Design, Questions, Source

# Confidence level of the limits of shares of trials.
_LIMITS = 0.95

Answer = Callable[[Design, np.random.Generator], FloatArray]


# --- Keywords ---


def named_keywords(name: str, value: Any) -> dict[str, dict[str, Any]]:
    """Keywords by name, as given."""
    if not isinstance(value, Mapping) or not value:
        raise TypeError(f"{name} must map names to keywords, as in {{'both': {{'resample': 'both'}}}}, got {value!r}")
    for label, given in value.items():
        if not isinstance(given, Mapping):
            raise TypeError(f"{name}[{label!r}] must map keywords to their values, got {given!r}")
    return {str(label): dict(given) for label, given in value.items()}


def completed(where: str, given: dict[str, Any], function: str, defaults: dict[str, Any]) -> dict[str, Any]:
    """Keywords of a function, completed by its defaults."""
    for keyword in given:
        validate.known(f"keyword in {where}", keyword, defaults, f"keywords of {function}")
    found = defaults | given
    if "resample" in found:
        found["resample"] = validate.dims("resample", found["resample"])
    return found


# --- All trials ---


def answers(
    designs: list[Design], n_trials: int, seed: int, answer: Answer, shape: tuple[int, ...], progress: bool | None
) -> FloatArray:
    """Numbers of all trials, (numbers, designs, trials, ...), from answers of `shape` (numbers, ...)."""

    def one(place: int, stop: threading.Event | None) -> FloatArray:
        design, trial = divmod(place, n_trials)
        return answer(designs[design], draws.generator(seed, trial)).ravel()

    found = one_by_one(one, math.prod(shape), len(designs) * n_trials, progress)
    return np.moveaxis(found.reshape(*shape, len(designs), n_trials), (-2, -1), (1, 2))


def labelled(values: FloatArray, questions: Questions, source: Source, dims: dict[str, list[Any]]) -> xr.DataArray:
    """Numbers (designs, trials, levels, coefficients, ...) on named dims."""
    systems, inputs = (list(dict.fromkeys(design[at] for design in source.designs)) for at in (0, 1))
    coords: dict[str, Any] = {"n_systems": systems, "n_inputs": inputs, "trial": np.arange(values.shape[1])}
    coords |= {"level": questions.levels, "coefficient": [each.name for each in questions.records], **dims}
    shaped = xr.DataArray(values.reshape([len(each) for each in coords.values()]), coords)
    squeezed = shaped.squeeze([*questions.scalars, *source.scalars], drop=True)
    return squeezed.transpose(*dims, ...)


def shares(name: str, by_trial: xr.DataArray, source: Source) -> xr.Dataset:
    """Share of trials that hold, its error, and the number of undefined trials."""
    share, defined = by_trial.mean("trial"), by_trial.notnull().sum("trial")
    low, high = wilson(share, defined)
    undefined = by_trial.sizes["trial"] - defined
    if source.columns is not None:
        undefined = undefined.where(source.pairs, 0)  # a metric and itself were not tried
    numbers = {name: share, "ci_low": low, "ci_high": high, "mc_error": standard_error(share, defined)}
    return xr.Dataset({**numbers, "n_undefined": undefined})


def wilson(share: xr.DataArray, n: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """Wilson's (1927) 95 % limits of a share of n."""
    z = normal_quantile(_LIMITS)
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return (centre - reach).where(share > 0, share), (centre + reach).where(share < 1, share)


def standard_error(share: xr.DataArray, n: xr.DataArray) -> xr.DataArray:
    """Standard error ``√(p(1−p)/n)`` of a share; where all trials agree, that of Wilson's centre, which is not 0."""
    z = normal_quantile(_LIMITS)
    centre = (n * share + z**2 / 2) / (n + z**2)
    alike = (share == 0) | (share == 1)
    variance = (share * (1 - share) / n).where(~alike, centre * (1 - centre) / (n + z**2))
    return variance**0.5
