"""Scores on a metric's scale from 0 to 1, and shares in bins of them, with intervals over inputs; arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from xsumstat.core.types import FloatArray
from xsumstat.inference.intervals import bootstrap_interval
from xsumstat.inference.jackknife import deleted_variance, t_quantile
from xsumstat.resampling import jobs

_LIMITS = ("ci_low", "ci_high")
# So near to 0 or 1 a share is that, and so small a standard error none.
_NOTHING = 1e-12


# --- Heights ---


def extremes(x: FloatArray) -> FloatArray:
    """The lowest and the highest of scores (..., systems, inputs), (2, ..., 1, 1); NaN where there is none."""
    both = (reduction.reduce(x, axis=(-2, -1), keepdims=True) for reduction in (np.fmin, np.fmax))
    return np.array(list(both))


def normalised(x: FloatArray, ends: FloatArray, within: str) -> FloatArray:
    """Scores (..., systems, inputs) from 0, the lowest, to 1, the highest, of all inputs (`ends`) or of each."""
    with np.errstate(all="ignore"):
        huge = np.abs(ends).max(axis=0) > np.finfo(float).max / 2
        if huge.any():
            x, ends = x * (1.0 - 0.5 * huge), ends * (1.0 - 0.5 * huge)
        low, high = ends
        if within == "input":
            low, high = (reduction.reduce(x, axis=-2, keepdims=True) for reduction in (np.fmin, np.fmax))
        found: FloatArray = x - low
        found /= high - low
    np.copyto(found, 0.5, where=~(high > low) & ~np.isnan(x))
    return found


def mean_normalised(x: FloatArray, ends: FloatArray, within: str) -> FloatArray:
    """The mean over the metrics, (systems, inputs), NaN where one has no score; added up in the metrics' order."""
    total = np.zeros(x.shape[1:])
    for at in range(len(x)):
        total += normalised(x[at], ends[:, at], within)
    return np.asarray(total / len(x))


def middles(n_bins: int) -> FloatArray:
    """The middles of bins of the height."""
    return (np.arange(n_bins) + 0.5) / n_bins


# --- Shares and their bands ---


@dataclass(frozen=True)
class Bands:
    """How intervals over inputs are made; without resamples, by the jackknife."""

    confidence_level: float
    n_resamples: int
    seed: int

    def of(
        self,
        part: FloatArray,
        whole: FloatArray,
        run: Callable[[jobs.OverInputs], FloatArray],
        *,
        whole_numbers: bool = False,
    ) -> FloatArray:
        """Ratios of sums over the inputs (..., inputs), with intervals (3, ...); `run` resamples."""
        *shape, n_inputs = part.shape
        # Sums of whole numbers are exact; of others the last bit depends on the order, which is input by input.
        flat = [np.asarray(each.reshape(-1, n_inputs), order="C" if whole_numbers else "F") for each in (part, whole)]
        ratio = _ratio(*(each.sum(axis=1) for each in flat))
        if not self.n_resamples:
            both = zip(*flat, strict=True)
            limits = np.array([_left_out(some, every, self.confidence_level) for some, every in both])
            return np.concatenate([ratio[None], limits.reshape(-1, 2).T]).reshape(3, *shape)

        def ratios(counts: FloatArray, places: slice) -> FloatArray:
            return _ratio(*(each[places] @ counts if whole_numbers else (each @ counts)[places] for each in flat))

        alone = (flat[1] > 0).sum(axis=1) < 2  # what one input says cannot vary

        def interval(at: int, row: FloatArray) -> tuple[float, float]:
            if alone[at]:
                return np.nan, np.nan
            return bootstrap_interval(ratio[at], row, "percentile", self.confidence_level)[:2]

        rows = range(len(ratio))
        job = jobs.OverInputs(rows, ratios, interval, _LIMITS, n_inputs, self.n_resamples, self.seed)
        return np.array([ratio, *run(job)]).reshape(3, *shape)


def _left_out(part: FloatArray, whole: FloatArray, confidence_level: float) -> tuple[float, float]:
    """The jackknife's limits of one share over the inputs that fill its bin; NaN where there are not two."""
    from scipy.special import expit, logit

    filled = whole > 0
    part, whole = part[filled], whole[filled]
    size = len(whole)
    if size < 2:
        return np.nan, np.nan
    ratio = float(part.sum() / whole.sum())
    error = float(np.sqrt(deleted_variance((part.sum() - part) / (whole.sum() - whole))))
    if error <= _NOTHING or not _NOTHING < ratio < 1 - _NOTHING:
        reach = 1 - ((1 - confidence_level) / 2) ** (1 / size)
        return max(0.0, ratio - reach), min(1.0, ratio + reach)
    reach = t_quantile(confidence_level, size - 1) * error / (ratio * (1 - ratio))
    return float(expit(logit(ratio) - reach)), float(expit(logit(ratio) + reach))


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(part / whole)
