"""Who was rated, compared with who was drawn: counts, and tests on the judges' scores."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xsumstat.coefficients import arrays
from xsumstat.core import validate
from xsumstat.core.types import BoolArray, FloatArray
from xsumstat.dataset import facts, metric_choice
from xsumstat.dataset.drawn import Draw
from xsumstat.inference import system_means
from xsumstat.inference.pvalues import two_sided_by_t
from xsumstat.inference.system_means import Strata
from xsumstat.io import cells

# The ratings are told to differ from the draw below this p-value, corrected for the number of tests.
_DIFFER = 0.01
# Inputs that a test needs on either side.
_LEAST = 5


def report(score: xr.DataArray, placed: xr.DataArray, draw: Draw) -> None:
    """Warn of outputs that were drawn and not rated, or the other way, and of judges' scores that differ."""
    rated: BoolArray = np.asarray(placed.transpose(*facts.CELLS).notnull().values)
    extra = [dim for dim in score.dims if dim not in facts.CORE]
    values = score.mean(extra).transpose(*facts.CORE).compute()
    outputs = values.notnull().any("metric").values
    missing = outputs & draw.drawn & ~rated
    if missing.any():
        first = cells.output_name(values, facts.CELLS, np.argwhere(missing)[0])
        validate.warn(
            f"{int(missing.sum()):,} of {int((outputs & draw.drawn).sum()):,} drawn outputs have no human score, e.g. "
            f"{first}; analyses treat the rated outputs as a random sample of their stratum",
            "not_rated",
        )
    beyond = rated & outputs & ~draw.drawn
    if beyond.any():
        inputs = values.indexes["input"][beyond.any(axis=0)]
        validate.warn(
            f"{validate.counted(len(inputs), 'input')} with human scores, but not drawn: "
            f"{validate.listing(inputs, 3)}; "
            'system_means and compare_systems(method="ppi") leave them out',
            "not_drawn",
        )
    _compare(values, rated & outputs, outputs, draw)


def _compare(values: xr.DataArray, rated: BoolArray, outputs: BoolArray, draw: Draw) -> None:
    """Warn of judges whose scores of rated outputs differ from those of drawn outputs without a rating."""
    metrics = metric_choice.judged(values, [])
    found = [
        (name, what, *numbers)
        for name in metrics
        for what, numbers in _tests(values.sel(metric=name).values, rated, outputs, draw).items()
        if not np.isnan(numbers[1])
    ]
    differ = [each for each in found if each[3] * len(found) < _DIFFER]
    if differ:
        names = ", ".join(
            f"{name} ({'higher' if gap > 0 else 'lower'} by {abs(gap):.3g})" for name, _, gap, _ in differ
        )
        what = " and ".join(dict.fromkeys(each[1] for each in differ))
        validate.warn(
            f"{what} have other scores than the drawn ones without ratings (p < .01, Bonferroni), so they may not be a "
            f"random sample: {names}; find out why raters left outputs out",
            "not_random",
        )


def _tests(x: FloatArray, rated: BoolArray, outputs: BoolArray, draw: Draw) -> dict[str, tuple[float, float]]:
    """Difference and p-value of the rated inputs from the others, and of rated outputs within an input."""
    there = ~np.isnan(x) & outputs & draw.drawn
    power = arrays.exponent(np.where(there, x, np.nan))
    x = np.ldexp(x, -power)
    some: BoolArray = np.asarray((rated & there).any(axis=0))
    none: BoolArray = np.asarray(there.any(axis=0) & ~some)
    found: dict[str, tuple[float, float]] = {}
    if some.sum() >= _LEAST and none.any():
        found["rated inputs"] = _between(x, there, some, none, draw, power)
    within = _gaps(x, rated & there, there & ~rated)
    if len(within) >= _LEAST:
        error = float(within.std(ddof=1) / np.sqrt(len(within)))
        mean = float(within.mean())
        p = 1.0 if mean == 0 else two_sided_by_t(mean, error, len(within) - 1)
        found["rated outputs of an input"] = float(np.ldexp(mean, power)), p
    return found


def _between(
    x: FloatArray, there: BoolArray, some: BoolArray, none: BoolArray, draw: Draw, power: int
) -> tuple[float, float]:
    """Student's test of inputs' mean scores, systems' means taken out, within strata."""
    rest = _centred(x, there).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    names = draw.names
    strata = Strata(np.array([names.index(each) for each in draw.strata], dtype=np.int64), len(names))
    f = np.where(some | none, rest, np.nan)[None]
    gap, p = system_means.rated_gap(f, np.where(some, 0.0, np.nan)[None], strata)
    return float(np.ldexp(gap[0], power)), float(p[0])


def _gaps(x: FloatArray, rated: BoolArray, other: BoolArray) -> FloatArray:
    """Of each input with some outputs rated and some not: the difference of means, systems' means taken out."""
    there = rated | other
    rest = _centred(x, there)
    both = rated.any(axis=0) & other.any(axis=0)
    sums = [np.where(each, rest, 0.0).sum(axis=0)[both] / each.sum(axis=0)[both] for each in (rated, other)]
    return np.asarray(sums[0] - sums[1])


def _centred(x: FloatArray, there: BoolArray) -> FloatArray:
    """Scores less their system's mean, 0 where there is none."""
    means = np.where(there, x, 0.0).sum(axis=1, keepdims=True) / np.maximum(there.sum(axis=1, keepdims=True), 1)
    return np.where(there, x - means, 0.0)
