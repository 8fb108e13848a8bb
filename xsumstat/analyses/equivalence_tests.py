"""What the tests of equivalence find for every pair: by draws, by leaving out systems and inputs, or by formula."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses.measure import Measure
from xsumstat.analyses.versions import Pairs
from xsumstat.coefficients.pairs import correlations
from xsumstat.core import validate
from xsumstat.core.types import TOLERANCE, FloatArray
from xsumstat.dataset import checks, labelled, results
from xsumstat.inference import equivalence, two_correlations
from xsumstat.inference.intervals import bootstrap_interval
from xsumstat.inference.pvalues import equivalence_pvalues
from xsumstat.resampling.bootstrap import Bootstrap, BootstrapInterval, Estimates
from xsumstat.resampling.jackknife import Jackknife, estimated
from xsumstat.resampling.jobs import Formula

# --- By draws ---


@dataclass(frozen=True)
class _Resampled(Bootstrap):
    n_margins: int = 0

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        single = ("difference", "ci_low", "ci_high", "n_undefined", "dominates")
        return (*single, *(f"pvalue_{at}" for at in range(self.n_margins)))

    def ready(self, at: slice, x: FloatArray, z: FloatArray, *beside: Any) -> Any:
        margins = beside[0][:, at] if beside else np.empty((0, at.stop - at.start))
        return _Ready(super().ready(at, x, z), margins)

    def rows(self, ready: Any) -> int:
        return super().rows(ready.made)

    def block(self, ready: Any, block: int, out: FloatArray, stop: Any) -> None:
        super().block(ready.made, block, out, stop)

    def finish(self, ready: Any, counts: Any, samples: FloatArray) -> FloatArray:
        made, rows = ready.made, self.kept(ready.made, samples)
        found = zip(made.values, rows, ready.margins.T, strict=True)
        return np.array([_numbers(float(r), row, self.interval.confidence_level, each) for r, row, each in found]).T


@dataclass(frozen=True)
class _Ready:
    made: Estimates
    margins: FloatArray


def drawn(
    pairs: Pairs, measure: Measure, interval: BootstrapInterval, margins: xr.DataArray | None, progress: bool | None
) -> dict[str, xr.DataArray]:
    """Difference, interval, share of draws above 0, and a p-value for each of the margins (_margin, ...), by pair."""
    scores = pairs.scores
    checks.check_resampled(scores, interval.dims)
    n_margins = 0 if margins is None else margins.sizes["_margin"]
    beside = None if margins is None else _beside(margins, pairs)
    job = _Resampled(pairs.targets, measure, interval, n_margins=n_margins)
    found = labelled.run(job, scores, "_pair", results.types(job.names), beside=beside, progress=progress)
    scores.later.make(checks.warn_resamples, found["n_undefined"].max("_pair"), interval.n_resamples)
    return _together(found, n_margins) if n_margins else found


def _numbers(estimate: float, samples: FloatArray, confidence_level: float, margins: FloatArray) -> tuple[float, ...]:
    low, high, _ = bootstrap_interval(estimate, samples, "percentile", confidence_level)
    defined = samples[~np.isnan(samples)]
    ahead = (defined > TOLERANCE).sum() + (np.abs(defined) <= TOLERANCE).sum() / 2
    share = ahead / len(defined) if len(defined) else np.nan
    return estimate, low, high, len(samples) - len(defined), share, *equivalence_pvalues(samples, margins)


def _beside(margins: xr.DataArray, pairs: Pairs) -> xr.DataArray:
    beside = margins.rename(_margin="_row")
    return beside if "_pair" in beside.dims else beside.expand_dims(_pair=len(pairs.targets))


def _together(found: dict[str, xr.DataArray], n_margins: int) -> dict[str, xr.DataArray]:
    pvalue = xr.concat([found.pop(f"pvalue_{at}") for at in range(n_margins)], "_margin")
    return {**found, "pvalue": pvalue.where(found["difference"].notnull())}


# --- By leaving out each system and each input ---


@dataclass(frozen=True)
class _LeftOut(Jackknife):
    n_margins: int = 0

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        single = ("difference", "ci_low", "ci_high", "n_undefined", "fell_back")
        return (*single, *(f"pvalue_{at}" for at in range(self.n_margins)))

    def ready(self, at: slice, x: FloatArray, z: FloatArray, *beside: Any) -> FloatArray:
        found = estimated(x, z, self.targets[at], self.measure, self.dims, self.clusters)
        numbers = []
        for (each, n_undefined, _), margins in zip(found, beside[0][:, at].T, strict=True):
            low, high, pvalues = equivalence.within(each, margins, (1 - self.confidence_level) / 2)
            numbers.append((each.estimate, low, high, n_undefined, each.fell_back, *pvalues))
        return np.array(numbers, dtype=float).T


def left_out(
    pairs: Pairs, measure: Measure, interval: BootstrapInterval, margins: xr.DataArray, progress: bool | None
) -> dict[str, xr.DataArray]:
    """Difference, jackknife interval, and a p-value for each of the margins (_margin, ...), by pair."""
    checks.check_resampled(pairs.scores, interval.dims)
    n_margins = margins.sizes["_margin"]
    how: dict[str, Any] = {"n_margins": n_margins, "clusters": interval.clusters}
    job = _LeftOut(pairs.targets, measure, interval.dims, interval.confidence_level, **how)
    types, beside = results.types(job.names), _beside(margins, pairs)
    found = labelled.run(job, pairs.scores, "_pair", types, beside=beside, progress=progress)
    return _together(found, n_margins)


# --- By formula ---


def by_formula(
    pairs: Pairs, measure: Measure, method: str, margins: xr.DataArray, alpha: float
) -> dict[str, xr.DataArray]:
    """Difference, interval and p-value of every pair by Williams' formula."""
    targets = tuple((one, two) for one, two in pairs.targets)

    names = ("r_1", "r_2", "r_3", "n")
    job = Formula(targets, measure, correlations, names)
    r_1, r_2, r_3, n = labelled.run(job, pairs.scores, "_pair", results.types(names)).values()
    pvalue, low, high = xr.apply_ufunc(
        lambda one, two, three, size, margin: two_correlations.equivalence(
            method, one, two, three, size, margin, alpha
        ),
        *(r_1, r_2, r_3, n, margins),
        output_core_dims=[[]] * 3,
        dask="parallelized",
        output_dtypes=[float] * 3,
        keep_attrs=False,
    )
    low, high = (each.isel(_margin=0, drop=True) for each in (low, high))  # the margin does not move them
    return {"difference": r_1 - r_2, "ci_low": low, "ci_high": high, "pvalue": pvalue}


def checked_grid(margins: Any) -> FloatArray:
    """Margins in ascending order; .01 to .30 by default."""
    given = margins if isinstance(margins, np.ndarray) and margins.ndim == 1 else validate.listed(margins)
    if margins is not None:
        given = [validate.number("each of margins", each, 0, np.inf) for each in given]
    grid = np.arange(1, 31) / 100 if margins is None else np.array(given, dtype=float)
    if grid.ndim != 1 or grid.size == 0 or not (grid > 0).all() or not (np.diff(grid) > 0).all():
        raise ValueError(f"margins must be a list of numbers above 0 in ascending order, got {margins!r}")
    return grid
