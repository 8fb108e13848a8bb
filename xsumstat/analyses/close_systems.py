"""Does a metric order systems that it scores alike: `close_corr`."""

from __future__ import annotations

import math
import threading
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses.measure import (
    AUTO,
    Draws,
    Measure,
    checked_dims,
    checked_measure,
    random_dims,
    these_systems,
)
from xsumstat.coefficients import arrays, leave_one_out
from xsumstat.coefficients.correlations import Means
from xsumstat.coefficients.pairs import Draw
from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.core import validate
from xsumstat.core.types import FloatArray, IntArray
from xsumstat.dataset import checks, facts, labelled, near_copies, results
from xsumstat.dataset import scores as schema
from xsumstat.inference import jackknife
from xsumstat.inference.close_pairs import ClosePairs
from xsumstat.inference.intervals import bootstrap_interval
from xsumstat.resampling.bootstrap import BootstrapInterval, OfInterval
from xsumstat.resampling.jobs import Job

UNITS = ("quantile", "score")


@validate.public
def close_corr(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    gap: float | Sequence[float | tuple[float, float]] = (0.1, 0.25, 0.5, 0.75, 1.0),
    unit: str = "quantile",
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    coefficient: str = "kendall",
    method: str = "auto",
    interval: str | None = None,
    resample: str | tuple[str, ...] = "auto",
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    missing: str = "pairwise",
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Correlation over the pairs of systems that a metric scores close.

    Parameters
    ----------
    {ds gold}
    gap : number, pair of numbers, or list of these
        Pairs of systems whose means by the metric differ by at most this, or for (l, u) by at least l and at most u.
        Default the closest 10, 25, 50 and 75 %, and all.
    unit : {"quantile", "score"}, default "quantile"
        Unit of `gap`: a fraction of all pairs, the closest first, or a difference of scores.
    {metric}
    coefficient : {"kendall", "kendall_a", "pairwise_accuracy"}, default "kendall"
        Coefficient of the pairs that count.
    method : {"auto", "jackknife", "bootstrap"}, default "auto"
        "jackknife" leaves out each system in turn. "auto" uses it unless only inputs are random or `interval` is given.
    {interval.plain resample.auto n_resamples confidence_level}
    missing : {"pairwise", "available"}, default "pairwise"
        "available" judges the metric's means over all inputs.
    {rng progress}

    {dataset}
        On (metric, gap, ...): ``correlation``, ``ci_low``, ``ci_high``, ``standard_error``, ``n_undefined``,
        ``n_pairs``, and the limits in scores ``gap_low`` and ``gap_high``. Labels of `gap` are texts such as "to 0.25".

    Notes
    -----
    A pair counts if ``l ≤ |x̄_a − x̄_b| ≤ u``; the limits stay fixed under resampling. `resample` sets the scope. The
    jackknife needs 4 systems and is conservative for 12 systems or fewer. A high correlation over all pairs says little
    about close systems. Formulas: documentation, "How intervals and tests are computed". Source: Deutsch, Dror & Roth
    (2022), "Re-Examining System-Level Correlations", §4 (r_SYS Δ(l, u)).

    {demo}
    >>> close = ds.meta.close_corr("human", gap=[0.25, 1.0], metric="judge")
    >>> close.correlation.sel(metric="judge").to_series().round(2).to_dict()
    {'to 0.25': 0.29, 'to 1': 0.73}
    """
    close = [name for name, record in COEFFICIENTS.items() if record.close is not None]
    validate.choice("coefficient", coefficient, close)
    validate.choice("unit", unit, UNITS)
    validate.choice("method", method, ("auto", "jackknife", "bootstrap"))
    if interval is not None:
        validate.choice("interval", interval, ("percentile", "basic", "normal"))
    measure = checked_measure("system", coefficient, missing, "drop")
    limits = _limits(gap, unit)
    resample = "both" if method == "jackknife" and isinstance(resample, str) and resample == AUTO else resample
    dims = checked_dims(resample)
    draws = Draws.checked(n_resamples, rng, progress=progress)
    confidence_level = validate.fraction("confidence_level", confidence_level)
    these = these_systems(resample, dims)
    scores = schema.prepare(ds, gold, metric, level="system", missing=missing, these_systems=these)
    dims = random_dims(resample, dims, scores.shape)
    checks.check_resampled(scores, dims)
    near_copies.check(scores, dims)
    method = _interval_method(method, interval, dims)
    attrs: dict[str, Any] = {"coefficient": coefficient, "level": "system", "missing": missing, "unit": unit}
    attrs |= {"method": method, "confidence_level": confidence_level, "resample": dims}
    if method == "jackknife":
        job: _Close = _Jackknifed(limits, unit, measure, dims, confidence_level)
    else:
        kind = interval or "percentile"
        how = BootstrapInterval(kind, dims, draws.n_resamples, draws.seed, confidence_level)
        job, attrs = _Bootstrapped(limits, unit, measure, how), {**attrs, "interval": kind, **draws.attrs}
    found = xr.Dataset(
        labelled.run(job, scores, "gap", results.types(job.names), core=facts.CELLS, progress=draws.progress)
    )
    found = found.assign_coords(gap=np.array([_label(*each) for each in limits], dtype=object))
    later, text = scores.later, "undefined correlation, because no pairs are untied, for"
    later.make(checks.warn_where, found["correlation"].isnull(), text)
    if method == "bootstrap":
        later.make(checks.warn_resamples, found["n_undefined"], n_resamples)
        later.make(checks.warn_outside, found[["correlation", "ci_low", "ci_high"]], "correlation", n_resamples)
    else:
        both = found["correlation"], found["ci_low"]
        later.make(checks.warn_without_limits, *both, "jackknife", "4 systems or more")
    return results.result(found.transpose("metric", "gap", ...), scores, analysis="close_corr", **attrs)


def _interval_method(method: str, interval: Any, dims: tuple[str, ...]) -> str:
    if method == "auto":
        return "bootstrap" if interval is not None or "system" not in dims else "jackknife"
    if method == "jackknife" and interval is not None:
        raise ValueError(f"interval={interval!r} needs method='bootstrap', got method='jackknife'")
    if method == "jackknife" and "system" not in dims:
        raise ValueError(f"method='jackknife' leaves out systems: resample={dims[0]!r} needs method='bootstrap'")
    return method


@dataclass(frozen=True)
class _Ready:
    """One metric's means with the gold's, and the limits of the gaps in its scores; the scores as they were."""

    means: Means
    power: int
    low: FloatArray
    high: FloatArray
    x: FloatArray
    z: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        return self.z.shape[0], self.z.shape[1]


@dataclass(frozen=True)
class _Close(Job[_Ready]):
    targets: list[tuple[float, float]]
    unit: str
    measure: Measure
    names = ("correlation", "ci_low", "ci_high", "standard_error", "n_undefined", "n_pairs", "gap_low", "gap_high")

    def ready(self, at: slice, x: FloatArray, z: FloatArray, *beside: Any) -> _Ready:
        arrays.check_finite(x, z)
        power = arrays.exponent(x)
        means = Means.of(arrays.scaled(x), arrays.scaled(z), self.measure.own_cells)
        low, high = np.ascontiguousarray(np.transpose(_in_scores(means, self.targets[at], self.unit, power)))
        return _Ready(means, power, low, high, x, z)

    def rows(self, ready: _Ready) -> int:
        return len(ready.low)

    def by_gap(self, ready: _Ready, draw: Draw) -> tuple[FloatArray, FloatArray]:
        close = self.measure.coefficient.close
        assert close is not None
        return close(ready.means, ready.low, ready.high, draw.systems, draw.inputs)

    def observed(self, ready: _Ready) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
        systems, inputs = (arrays.ones(size) for size in ready.shape)
        found, pairs = (each[:, 0] for each in self.by_gap(ready, Draw(systems, inputs)))
        return found, pairs, [np.ldexp(side, ready.power) for side in (ready.low, ready.high)]


@dataclass(frozen=True)
class _Bootstrapped(OfInterval[_Ready], _Close):
    interval: BootstrapInterval

    def block(self, ready: _Ready, block: int, out: FloatArray, stop: threading.Event | None) -> None:
        (plan,) = self.interval.plans(ready.shape)
        out[:] = self.by_gap(ready, plan.block(block))[0]

    def finish(self, ready: _Ready, counts: IntArray | None, samples: FloatArray) -> FloatArray:
        found, pairs, sides = self.observed(ready)
        how = self.interval.name, self.interval.confidence_level
        limits = [bootstrap_interval(float(r), row, *how) for r, row in zip(found, samples, strict=True)]
        undefined = np.isnan(samples).sum(axis=1)
        return np.array([found, *np.array(limits).T, undefined, pairs, *sides], dtype=float)


@dataclass(frozen=True)
class _Jackknifed(_Close):
    dims: tuple[str, ...]
    confidence_level: float
    n_resamples = 0

    def finish(self, ready: _Ready, counts: IntArray | None, samples: FloatArray) -> FloatArray:
        found, pairs, sides = self.observed(ready)
        there = np.flatnonzero(ready.means.there)
        without = (np.arange(ready.shape[0]) != there[:, None]).astype(np.int64)
        left = self.by_gap(ready, Draw(without, arrays.ones(ready.shape[1])))[0]
        more = self._more_by_inputs(ready)
        numbers = []
        for value, n_pairs, row in zip(found, pairs, left, strict=True):
            limits = self._interval(float(value), int(n_pairs), row, more)
            numbers.append((*limits, np.isnan(row).sum()))
        return np.array([found, *np.array(numbers).T, pairs, *sides], dtype=float)

    def _interval(self, value: float, n_pairs: int, without: FloatArray, more: float) -> tuple[float, float, float]:
        if math.isnan(value) or len(without) < jackknife.LEAST_MEMBERS:
            return math.nan, math.nan, math.nan
        scale = self.measure.coefficient.stretch
        close = ClosePairs(scale * value - (scale - 1), scale * without - (scale - 1), n_pairs)
        error = math.sqrt(close.variance() * more)
        low, high = ((each + scale - 1) / scale for each in close.interval(error, self.confidence_level))
        return low, high, error / scale

    def _more_by_inputs(self, ready: _Ready) -> float:
        """How many times the variance over systems, of Pearson's r of all, the variance over all dims is."""
        if "input" not in self.dims:
            return 1.0
        pearson = replace(self.measure, coefficient=COEFFICIENTS["pearson"])
        parts = leave_one_out.of(ready.x, ready.z, pearson)
        if min(parts.shape) < 2:
            return 1.0
        both, systems = (jackknife.variance(parts, dims) for dims in (("system", "input"), ("system",)))
        return both / systems if systems > 0 and math.isfinite(both) else 1.0


def _limits(gap: Any, unit: str) -> list[tuple[float, float]]:
    most = 1.0 if unit == "quantile" else math.inf
    single = isinstance(gap, tuple) and len(gap) == 2
    gaps = list(gap) if isinstance(gap, list | tuple | np.ndarray | range) and not single else [gap]
    found = []
    for each in gaps:
        low, high = each if isinstance(each, list | tuple) and len(each) == 2 else (0.0, each)
        low, high = (validate.number("gap", side, 0.0, most) for side in (low, high))
        if low > high or high == 0.0 and unit == "quantile":
            raise ValueError(f"gap must go from a smaller to a larger number, got {each!r}")
        found.append((low, high))
    return validate.different("gap", found)


def _label(low: float, high: float) -> str:
    return f"to {high:g}" if low == 0.0 else f"{low:g} to {high:g}"


def _in_scores(means: Means, limits: list[tuple[float, float]], unit: str, power: int) -> list[tuple[float, float]]:
    """The limits in scaled scores; a share of pairs ends with the difference of the last pair that is within it."""
    if unit == "score":
        return [(arrays.shifted(low, -power), arrays.shifted(high, -power)) for low, high in limits]
    systems, inputs = (arrays.ones(size) for size in means.x.shape)
    here = means.drawn(systems, inputs)[0][0, means.there, 0]
    first, second = np.triu_indices(len(here), 1)
    gaps = np.sort(np.abs(here[first] - here[second]))
    if not len(gaps):
        return [(0.0, math.inf)] * len(limits)

    def at(share: float) -> float:
        return math.inf if share == 1.0 else float(gaps[max(0, math.ceil(share * len(gaps) - 1e-9) - 1)])

    return [(at(low) if low > 0 else 0.0, at(high)) for low, high in limits]
