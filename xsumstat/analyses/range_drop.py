"""Is a drop in correlation more than a narrower range explains: `range_drop`."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import scoring_range as ranges
from xsumstat.analyses.measure import Measure, checked_measure
from xsumstat.coefficients import bitset_kendall
from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.core import validate
from xsumstat.core.types import TOLERANCE, FloatArray, IntArray
from xsumstat.dataset import metric_choice, pair_results, results
from xsumstat.dataset import scores as schema
from xsumstat.dataset.value_checks import Checks
from xsumstat.inference.intervals import bootstrap_interval
from xsumstat.resampling import draws, jobs, threads

_NAMES = (
    *("whole", "part", "difference", "ci_low", "ci_high", "pvalue"),
    *("expected", "expected_low", "expected_high", "excess", "excess_pvalue", "n_inputs"),
)

# Steps in which normal correlations are fitted to tied scores, and the largest correlation that is aimed at.
_STEPS, _MOST = 6, 0.999
# The concentration of shares that do not differ between inputs.
_NO_SPREAD = 1e6


@validate.public
def range_drop(
    ds: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    above: float | Mapping[Hashable, float] | xr.DataArray | None = None,
    between: Sequence[float | Mapping[Hashable, float] | xr.DataArray] | None = None,
    baseline: Hashable | None = None,
    top: int | None = None,
    metrics: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    keep: str = "any",
    unit: str = "score",
    coefficient: str = "kendall",
    undefined: str = "drop",
    n_resamples: int = 9999,
    n_simulations: int = 199,
    confidence_level: float = 0.95,
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Drop of the correlations between metrics within a narrower range of scores.

    ``ds.meta.range_drop(above=0.5, unit="quantile", metrics="judge")``: is it larger than expected?

    Parameters
    ----------
    {ds.outputs}
    metric : label, list of labels or bool DataArray, optional
        At least two metrics. Default: all except ``ds.attrs["gold"]`` and human ones.
    {range}
    coefficient : {"kendall", "kendall_a", "spearman", "pearson"}, default "kendall"
        Coefficient among the outputs of each input, averaged.
    {undefined}
    n_resamples : int, default 9999
        Number of resamples of the inputs.
    n_simulations : int, default 199
        Number of simulated sets of scores for the expected drop, at least 19.
    {confidence_level rng progress}

    {dataset}
        On (metric, other_metric), NaN on the diagonal: ``whole`` and ``part``, the correlations on the whole range and
        within it; ``difference`` (whole − part), ``ci_low``, ``ci_high`` and ``pvalue``; ``expected``, the drop from
        the narrower range alone, ``expected_low`` and ``expected_high``; ``excess``, ``excess_pvalue``; ``n_inputs``.
        With limits in scores by several deciding metrics ``expected`` is NaN.

    Notes
    -----
    Null hypothesis of ``excess_pvalue``: the same dependence, seen in a narrower range. The dependence is a
    multivariate normal one with the metrics' correlations on the whole range, the same for all inputs. Outputs of an
    input are independent: for related systems the test is liberal. Scope: new inputs for these systems. Simulation:
    documentation, "How intervals and tests are computed". Sources: Peyrard (2019), Table 1. Pearson (1903). Kruskal
    (1958), "Ordinal Measures of Association".

    {demo}
    >>> upper = {"above": 0.5, "unit": "quantile", "metrics": "judge"}
    >>> drop = ds.meta.range_drop(metric=["judge", "rouge"], **upper, n_simulations=49, rng=1)
    >>> drop.sel(metric="judge", other_metric="rouge")[["difference", "expected"]].to_array().values.round(2)
    array([0.14, 0.09])
    """
    measure = checked_measure("input", coefficient, "pairwise", undefined)
    record = measure.coefficient
    validate.choice("coefficient", record.name, [name for name, each in COEFFICIENTS.items() if each.normal_r])
    n_resamples = validate.n_draws("n_resamples", n_resamples, 2)
    n_simulations = validate.n_draws("n_simulations", n_simulations, 19)
    confidence_level = validate.fraction("confidence_level", confidence_level)
    score = schema.prepare_cells(ds, metric_choice.automatic(ds, metric), level="input")
    schema.report_unscored(score, Checks())
    deciding = ranges.prepared(ds, metrics).compute()
    if score.sizes["metric"] < 2:
        raise ValueError("metric must name at least 2 metrics, which are correlated with each other")
    if score.sizes["input"] < 2:
        raise ValueError("only one input to draw: nothing can vary")
    requested = ranges.requested(deciding, above, between, baseline, top, keep, unit)
    mask = requested.mask(deciding)
    ranges.warn_empty(mask, deciding.notnull().any("metric"))
    if requested.top:
        ranges.warn_of_ties(deciding, requested.top)
    kept = mask.transpose("system", "input").values
    pairs = np.array(np.triu_indices(score.sizes["metric"], 1)).T
    seed = draws.seed_of(rng)
    observed = _Drop.of(score.values, kept, pairs, measure)
    null = _Null.of(score, deciding, requested, measure)
    known = null.limits is None or len(null.deciding) == 1
    if not known:
        validate.warn(
            f"what the range explains is not known (NaN): limits in scores of {len(null.deciding)} metrics must be "
            "known together; use unit='quantile', baseline= or top=, or let one metric decide, metrics=",
            "undefined",
        )
    with threads.one_bar(2, progress) as part:
        with part():
            numbers = observed.numbers(n_resamples, confidence_level, seed, progress)
        with part():
            if known:
                drops = null.drops(n_simulations, pairs, measure, seed, progress)
            else:
                drops = np.full((len(pairs), n_simulations), np.nan)
    numbers |= _excess(observed.drop, drops, confidence_level)
    _warn_silent(score["metric"].values, pairs, numbers["part"])
    square = {name: pair_results.symmetric(numbers[name], pairs, score.sizes["metric"]) for name in _NAMES}
    found = xr.Dataset({name: (("metric", "other_metric"), values) for name, values in square.items()})
    attrs: dict[str, Any] = {
        "range": requested.text,
        "level": "input",
        "coefficient": record.name,
        "undefined": undefined,
    }
    attrs |= {"confidence_level": confidence_level, "resample": "input", "n_resamples": n_resamples}
    attrs |= {"alternative": "two-sided", "n_simulations": n_simulations, "seed": str(seed)}
    return results.result(pair_results.labelled(found, score, score), score, analysis="range_drop", **attrs)


def _warn_silent(labels: Any, pairs: IntArray, part: FloatArray) -> None:
    silent = [f"{labels[a]} and {labels[b]}" for (a, b), r in zip(pairs, part, strict=True) if np.isnan(r)]
    if silent:
        validate.warn(f"no correlation within the range, on any input: {validate.listing(silent)}", "undefined")


@dataclass(frozen=True)
class _Drop:
    whole: FloatArray
    part: FloatArray

    @classmethod
    def of(cls, x: FloatArray, kept: Any, pairs: IntArray, measure: Measure) -> _Drop:
        inside = np.where(kept, x, np.nan)
        whole, part = (bitset_kendall.groups(each, pairs, measure)[0] for each in (x, inside))
        if measure.undefined_as_zero:
            whole, part = (
                np.where(np.isnan(each) & _some(x, pairs, cells), 0.0, each)
                for each, cells in ((whole, np.ones_like(kept)), (part, kept))
            )
        return cls(whole, part)

    def averages(self) -> tuple[FloatArray, FloatArray]:
        return _mean(self.whole), _mean(self.part)

    @property
    def drop(self) -> FloatArray:
        whole, part = self.averages()
        return whole - part

    def numbers(self, n_resamples: int, confidence_level: float, seed: int, progress: bool | None) -> dict[str, Any]:
        whole, part = self.averages()
        drop = whole - part

        def drops(counts: FloatArray, places: slice) -> FloatArray:
            # of all pairs at once, as a product of some rows alone may differ in the last bit
            return (_weighted(self.whole, counts) - _weighted(self.part, counts))[places]

        def interval(at: int, row: FloatArray) -> tuple[float, ...]:
            if np.isnan(drop[at]):
                return np.nan, np.nan, np.nan
            beyond = (np.abs(row - drop[at]) >= np.abs(drop[at]) - TOLERANCE).sum()
            low, high, _ = bootstrap_interval(drop[at], row, "percentile", confidence_level)
            return low, high, (1 + beyond) / (1 + (~np.isnan(row)).sum())

        names = ("ci_low", "ci_high", "pvalue")
        job = jobs.OverInputs(range(len(drop)), drops, interval, names, self.whole.shape[1], n_resamples, seed)
        found = {"whole": whole, "part": part, "difference": drop, **dict(zip(names, job.run(progress), strict=True))}
        return {**found, "n_inputs": (~np.isnan(self.part)).sum(axis=1)}


def _some(x: FloatArray, pairs: IntArray, cells: Any) -> Any:
    there = ~np.isnan(x) & cells.astype(bool)
    return np.array([(there[a] & there[b]).any(axis=0) for a, b in pairs])


def _mean(values: FloatArray) -> FloatArray:
    return _weighted(values, np.ones((values.shape[1], 1)))[:, 0]


def _weighted(values: FloatArray, counts: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((np.nan_to_num(values) @ counts) / ((~np.isnan(values)).astype(float) @ counts))


# --- The same dependence in a narrower range ---


@dataclass(frozen=True)
class _Null:
    root: FloatArray
    there: Any
    ties: Mapping[int, FloatArray]
    deciding: list[int]
    like: xr.DataArray
    requested: ranges.Range
    limits: _Limits | None
    own: FloatArray
    n_correlated: int

    @classmethod
    def of(
        cls,
        score: xr.DataArray,
        deciding: xr.DataArray,
        requested: ranges.Range,
        measure: Measure,
    ) -> _Null:
        labels, others = score["metric"].values.tolist(), deciding["metric"].values.tolist()
        deciding = deciding.transpose("metric", "system", "input")
        new = [at for at, label in enumerate(others) if label not in labels]
        x = np.concatenate([score.values, deciding.values[new]])
        names = [*labels, *(others[at] for at in new)]
        in_order = np.sort(x, axis=1)
        tied = {at: each for at, each in enumerate(in_order) if (each[1:] == each[:-1]).any()}
        in_scores = requested.low is not None and requested.baseline is None and requested.unit != "quantile"
        null = cls(
            np.eye(len(x)),
            ~np.isnan(x),
            tied,
            [names.index(label) for label in others],
            deciding,
            requested,
            _Limits.of(deciding, requested) if in_scores else None,
            _normal_scores(x, requested.baseline or 0),
            len(labels),
        )
        return replace(null, root=null.fitted(_averages(x, measure), measure))

    def fitted(self, wanted: FloatArray, measure: Measure) -> FloatArray:
        """A root of the normal correlations whose simulated scores, with the same ties, have these averages."""
        aimed = wanted
        for step in range(_STEPS * bool(self.ties)):
            trial = replace(self, root=_root(aimed, measure))
            drawn = trial.shown(trial.latent(np.random.default_rng(0)))
            aimed = np.clip(aimed + (wanted - _averages(drawn, measure)) / (1 + step // 2), -_MOST, _MOST)
        return _root(aimed, measure)

    def latent(self, generator: np.random.Generator) -> FloatArray:
        x = np.tensordot(self.root, generator.standard_normal((len(self.root), *self.there.shape[1:])), 1)
        if self.requested.baseline is not None:
            x[:, self.requested.baseline] = self.own
        return np.where(self.there, x, np.nan)

    def shown(self, x: FloatArray) -> FloatArray:
        """Scores with the ties that each metric has here: those of each input are dealt out by the order of `x`."""
        x = x.copy()
        for at, in_order in self.ties.items():
            place = np.argsort(np.argsort(x[at], axis=0), axis=0)  # NaN come last
            x[at] = np.take_along_axis(in_order, place, axis=0)
        return x

    def draw(self, generator: np.random.Generator) -> tuple[FloatArray, Any]:
        """Scores (correlated metrics, systems, inputs), NaN where there is none, and which outputs are kept."""
        latent = self.latent(generator)
        x = self.shown(latent)
        decide = x[self.deciding]
        if self.limits is not None:
            within = self.limits.hold(latent[self.deciding], generator)
        elif self.requested.baseline is not None:
            within = decide > decide[:, self.requested.baseline][:, None]
        else:
            mask = replace(self.requested, keep="each").mask(self.like.copy(data=decide))
            within = mask.transpose("metric", "system", "input").values
        return x[: self.n_correlated], within.any(axis=0) if self.requested.keep == "any" else within.all(axis=0)

    def drops(
        self, n_simulations: int, pairs: IntArray, measure: Measure, seed: int, progress: bool | None
    ) -> FloatArray:
        def simulated(at: int, stop: threading.Event | None) -> FloatArray:
            return _Drop.of(*self.draw(draws.generator(seed, at)), pairs, measure).drop

        return jobs.one_by_one(simulated, len(pairs), n_simulations, progress)


@dataclass(frozen=True)
class _Limits:
    """Limits in scores, as Dirichlet parameters of the shares below, within and above them, for each input."""

    weights: FloatArray
    there: Any

    @classmethod
    def of(cls, deciding: xr.DataArray, requested: ranges.Range) -> _Limits:
        x, near = ranges.in_unit(deciding, requested.unit), ranges.rounding(deciding, requested.unit)
        low, high = requested.low, requested.high
        assert low is not None
        below = x <= low + near if high is None else x < low - near
        above = xr.zeros_like(below) if high is None else x > high + near
        within = x.notnull() & ~below & ~above
        at_limit = x.isel(system=0, drop=True)
        there = low.broadcast_like(at_limit).notnull()
        if high is not None:
            there = there & high.broadcast_like(at_limit).notnull()
        parts = (each.sum("system").transpose("metric", "input").values for each in (below, within, above))
        counts = np.stack(list(parts), axis=-1).astype(float)
        weights = [each + _concentration(each) * each.sum(axis=0) / max(each.sum(), 1) for each in counts]
        return cls(np.array(weights), there.transpose("metric", "input").values)

    def hold(self, x: FloatArray, generator: np.random.Generator) -> Any:
        from scipy.special import ndtri

        shares = generator.standard_gamma(self.weights)
        total = np.maximum(shares.sum(axis=-1), np.finfo(float).tiny)
        low = ndtri(shares[..., 0] / total)
        high = np.where(shares[..., 2] > 0, ndtri(1 - shares[..., 2] / total), np.inf)
        return (x > low[:, None]) & (x < high[:, None]) & self.there[:, None]


def _concentration(counts: FloatArray) -> float:
    """``1/ρ − 1`` from counts (inputs, 3), ρ their intraclass correlation (Fleiss & Cuzick 1979)."""
    n = counts.sum(axis=1)
    counts, n = counts[n > 0], n[n > 0]
    if len(n) < 2 or n.sum() == len(n):
        return _NO_SPREAD
    shares = counts / n[:, None]
    between = (n @ np.square(shares - counts.sum(axis=0) / n.sum())).sum() / (len(n) - 1)
    within = (n @ (shares * (1 - shares))).sum() / (n.sum() - len(n))
    size = (n.sum() - np.square(n).sum() / n.sum()) / (len(n) - 1)
    rho = (between - within) / max(between + (size - 1) * within, np.finfo(float).tiny)
    return float(np.clip(1 / max(rho, 1 / _NO_SPREAD) - 1, 1e-3, _NO_SPREAD))


def _normal_scores(x: FloatArray, system: int) -> FloatArray:
    """Quantiles of the normal distribution at a system's ranks among the outputs of each input, (metrics, inputs)."""
    from scipy.special import ndtri

    own = x[:, system][:, None]
    n = (~np.isnan(x)).sum(axis=1)
    rank = (x < own).sum(axis=1) + (x == own).sum(axis=1) / 2
    return np.asarray(ndtri(np.where(np.isnan(own[:, 0]), 0.5, rank / np.maximum(n, 1))))


def _averages(x: FloatArray, measure: Measure) -> FloatArray:
    matrix = np.eye(len(x))
    pairs = np.array(np.triu_indices(len(x), 1)).T
    for (a, b), r in zip(pairs, bitset_kendall.groups(x, pairs, measure)[0], strict=True):
        matrix[a, b] = matrix[b, a] = float(np.nanmean(r)) if np.isfinite(r).any() else 0.0
    return matrix


def _root(averages: FloatArray, measure: Measure) -> FloatArray:
    """A root of the matrix of normal correlations that goes with some averages, the nearest that there can be."""
    normal_r = measure.coefficient.normal_r
    assert normal_r is not None
    matrix = np.array([[normal_r(value) for value in row] for row in averages])
    np.fill_diagonal(matrix, 1.0)
    values, vectors = np.linalg.eigh(matrix)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(root / np.linalg.norm(root, axis=1, keepdims=True))


def _excess(drop: FloatArray, drops: FloatArray, confidence_level: float) -> dict[str, FloatArray]:
    drops = np.where(np.isnan(drop)[:, None], np.nan, drops)
    expected = _mean(drops)
    tail = (1 - confidence_level) / 2
    low, high = np.full((2, len(drop)), np.nan)
    some = np.isfinite(drops).any(axis=1)
    low[some], high[some] = np.nanquantile(drops[some], [tail, 1 - tail], axis=1) if some.any() else ((), ())
    far = np.abs(drops - expected[:, None]) >= np.abs(drop - expected)[:, None] - TOLERANCE
    defined = (~np.isnan(drops)).sum(axis=1)
    pvalue = np.where(np.isnan(drop - expected), np.nan, (1 + far.sum(axis=1)) / (1 + defined))
    numbers = {"expected": expected, "expected_low": low, "expected_high": high}
    return {**numbers, "excess": drop - expected, "excess_pvalue": pvalue}
