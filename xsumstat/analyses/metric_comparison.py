"""Which metric is better, for these systems or for systems like these: `compare_metrics`."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import adjust as families
from xsumstat.analyses import analytic_tests, calibration, clustering, jackknifed, metric_tests, pooling
from xsumstat.analyses import groups as slices
from xsumstat.analyses.measure import (
    AUTO,
    Draws,
    check_given,
    checked_measure,
    checked_resample,
    entrance,
    random_dims,
    settled,
    these_systems,
    threshold_attrs,
    warn_drawn_threshold,
    weighs,
)
from xsumstat.coefficients.record import Measure
from xsumstat.core import validate
from xsumstat.core.types import CorrelationFunction, FloatArray, Pair
from xsumstat.dataset import (
    calibrated,
    checks,
    chunking,
    drawn,
    facts,
    labelled,
    metric_pairs,
    near_copies,
    pair_results,
    results,
    scale_checks,
    two_values,
    value_checks,
)
from xsumstat.dataset import scores as schema
from xsumstat.inference import comparison, corrections
from xsumstat.inference.jackknife import Estimated, averaged
from xsumstat.resampling.jackknife import Jackknife, estimated, tiled

FORMULAS = analytic_tests.METHODS
METHODS = ("jackknife", "permutation", "bootstrap", *FORMULAS)
_ORDER = (
    *("difference", "ci_low", "ci_high", "standard_error", "df"),
    *("statistic", "pvalue", "pvalue_adjusted", "significant"),
)
_DRAWN = "use compare_metrics(..., method='bootstrap')"
_OF_DRAWS: dict[str, Any] = {"permutation": metric_tests.perm_test, "bootstrap": metric_tests.boot_test}


@validate.public
@slices.with_groups
def compare_metrics(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    other: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    method: str = "jackknife",
    resample: str | tuple[str, ...] = "auto",
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    adjust: str | None = "holm",
    within: str | Iterable[str] | None = None,
    by: str | None = None,
    cluster: str | tuple[str, ...] | None = None,
    given: str | xr.DataArray | Sequence[str | xr.DataArray] | None = None,
    positive: float | str | Sequence[float | str] | None = None,
    threshold: float | xr.DataArray | None = None,
    calibrate_on: xr.Dataset | None = None,
    pool: str | None = None,
    missing: str = "pairwise",
    undefined: str = "drop",
    n_resamples: int = 9999,
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Test which of two metrics agrees better with human scores, for all pairs.

    ``ds.meta.compare_metrics("human", level="input")`` returns the differences with intervals and p-values.

    Parameters
    ----------
    {ds pairs}
    method : {"jackknife", "permutation", "bootstrap", "williams", "steiger", "meng", "zou", "wilcoxon"}, optional
        "jackknife", the default, leaves out each system and input in turn. The others run `perm_test`, `boot_test` and
        `corr_test`.
    {resample.auto alternative confidence_level.test adjust.pairs}
    within : dim or dims, default ("metric", "other_metric")
        Dims of one family of tests. Each label of the other dims is corrected separately.
    {options n_resamples.swaps rng progress}

    {dataset}
        On (metric, other_metric, ...): ``difference``, ``ci_low``, ``ci_high`` (not corrected), ``standard_error``,
        ``df``, ``pvalue``, ``pvalue_adjusted``, ``significant``, ``n_undefined``, ``bias`` and ``fell_back``; NaN and
        False on the diagonal. ``attrs["scope"]`` names the scope. Other methods return their tests' variables.

    See Also
    --------
    ci, rank, perm_test, equivalence

    Notes
    -----
    Null hypothesis: two metrics have the same correlation with the human scores. `resample` sets the scope. The limits
    combine both metrics' jackknife limits (MOVER). ``pvalue`` is at most α exactly if the 1 − α interval excludes 0.
    Formulas: documentation, "How intervals and tests are computed"; sizes: "Calibration". Sources: Zou (2007). Zou &
    Donner (2008). Deutsch, Dror & Roth (2021), §4.

    {demo}
    >>> found = ds.meta.compare_metrics("human", metric="judge", other="rouge", level="input")
    >>> found[["difference", "ci_low", "ci_high"]].squeeze(drop=True).to_array().round(2).values.tolist()
    [0.28, 0.18, 0.42]
    """
    measure = checked_measure(level, coefficient, missing, undefined)
    validate.choice("method", method, METHODS)
    validate.choice("alternative", alternative, validate.ALTERNATIVES)
    confidence_level = validate.fraction("confidence_level", confidence_level)
    check_given(measure.coefficient, given)
    Draws.checked(n_resamples, rng, progress=progress)
    if adjust is not None:
        validate.choice("adjust", adjust, corrections.CORRECTIONS)
        if method not in _OF_DRAWS and adjust not in corrections.OF_PVALUES:
            raise ValueError(f"adjust={adjust!r} needs draws, and method={method!r} does not draw; use adjust='holm'")
    within = pair_results.DIMS if within is None and adjust is not None else within
    scale_checks.check_positive(measure.coefficient, positive)
    clusters = clustering.checked(cluster, measure, given, f"method={method!r}" if method in FORMULAS else "")
    shared: dict[str, Any] = {"metric": metric, "other": other, "level": level, "coefficient": coefficient}
    shared |= {"missing": missing, "undefined": undefined, "alternative": alternative}
    beside: dict[str, Any] = {"given": given, "threshold": threshold, "calibrate_on": calibrate_on, "pool": pool}
    beside["positive"] = positive
    if method in _OF_DRAWS:
        how: dict[str, Any] = {"adjust": adjust, "within": within, "n_resamples": n_resamples, "rng": rng}
        how |= {"cluster": cluster, "progress": progress}
        how |= {} if these_systems(resample, ()) is None else {"resample": resample}
        return _named(_OF_DRAWS[method](ds, gold, **shared, **beside, **how), method, confidence_level)
    if method in FORMULAS:
        _check_formula(method, resample, beside)
        found = analytic_tests.corr_test(ds, gold, method=method, confidence_level=confidence_level, **shared)
    else:
        dims = checked_resample(resample, measure, layers=False, auto=True)
        if "cell" in dims:
            raise ValueError("resample='cell' needs method='bootstrap': the jackknife leaves out systems and inputs")
        asked = _Asked(metric, other, given, clusters, resample)
        job = _Comparison((), measure, dims, confidence_level, alternative=alternative)
        if pool is None:
            scores, pairs = asked.prepared(ds, gold, job)
            job = replace(job, targets=pairs, measure=settled(measure, scores, threshold, calibrate_on, gold, positive))
            attrs = {**threshold_attrs(job.measure.coefficient, calibrate_on), "cluster": clusters or None}
            attrs |= drawn.attrs_of(ds, scores.weights)
            job = asked.of_scores(scores, job)
            whole, refits = calibration.with_refits(ds, scores)
            found = _compared(scores, whole, replace(job, refits=refits), progress, attrs)
        else:
            pooling.check(ds, pool, {**shared, **beside})
            found = _pooled(ds, gold, pool, asked, job)
    families.check_correction(adjust, within, [str(dim) for dim in found["pvalue"].dims])
    return _named(families.adjusted(found, adjust, within), method, confidence_level)


@dataclass(frozen=True, eq=False)
class _Asked:
    metric: Any
    other: Any
    given: Any
    clusters: tuple[str, ...]
    resample: Any

    def prepared(self, ds: xr.Dataset, gold: Any, job: _Comparison) -> tuple[schema.Scores, tuple[Pair, ...]]:
        ready: dict[str, Any] = {**entrance(job.measure), "given": self.given}
        ready["these_systems"] = these_systems(self.resample, job.dims)
        ready["weigh"] = weighs(job.measure, self.given, self.clusters)
        return metric_pairs.prepare(ds, gold, self.metric, self.other, **ready)

    def of_scores(self, scores: schema.Scores, job: _Comparison) -> _Comparison:
        dims = random_dims(self.resample, job.dims, scores.shape)
        two_values.check(scores, job.measure, dims)
        checks.check_resampled(scores, dims)
        checks.warn_few_inputs(scores, dims, job.measure.level)
        near_copies.check(scores, dims, self.clusters)
        targets = tiled(job.targets, scores.shape)
        return replace(
            job, targets=targets, dims=dims, clusters=clustering.of_scores(scores.score, self.clusters, dims)
        )


@dataclass(frozen=True)
class _Comparison(Jackknife):
    alternative: str = "two-sided"

    @property
    def attrs(self) -> dict[str, Any]:
        shown = {"alternative": self.alternative, "confidence_level": self.confidence_level, "resample": self.dims}
        return {"analysis": "compare_metrics", "method": "jackknife", **shown}

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        of_pair = ("difference", "ci_low", "ci_high", "standard_error", "df", "n_undefined", "bias", "fell_back")
        return (*of_pair, "forward", "backward", "rests_on")

    def ready(self, at: slice, x: FloatArray, z: FloatArray, *beside: Any) -> FloatArray:
        found = estimated(x, z, self.targets[at], self.measure, self.dims, self.clusters, self.refits)
        return np.array([self.numbers(*each) for each in found], dtype=float).T

    def numbers(self, each: Estimated, undefined: int, resting: int) -> tuple[float, ...]:
        low, high, *pvalues = comparison.compared(each, self.confidence_level, self.alternative)
        known = each.standard_error, each.df, undefined, each.bias, each.fell_back
        return (each.estimate, low, high, *known, *pvalues, resting)


def _compared(
    scores: schema.Scores, whole: schema.Scores, job: _Comparison, progress: bool | None, attrs: dict[str, Any]
) -> xr.Dataset:
    """All pairs, for each further label; the `whole` scores are those with what calibrated metrics are made of."""
    warn_drawn_threshold(job.measure, scores.shape)
    core = ["_metric" if job.refits else "metric", *facts.CELLS]
    by_pair = labelled.run(job, whole, "_pair", results.types(job.names), core=core, progress=progress)
    by_pair = calibration.found_of(by_pair, scores) if job.refits else by_pair
    resting = by_pair.pop("rests_on")
    found = pair_results.laid_out(by_pair, job.targets, scores)
    _warn(found, by_pair["difference"], resting, scores, job)
    return results.result(found, scores, **job.attrs, **job.measure.attrs, **attrs)


def _pooled(ds: xr.Dataset, gold: Any, pool: str, asked: _Asked, job: _Comparison) -> xr.Dataset:
    asked = replace(asked, resample=pooling.random_of_all(ds) if asked.resample == AUTO else asked.resample)
    job = replace(job, dims=checked_resample(asked.resample, job.measure, layers=False))
    by_label, weights = [], []
    later = value_checks.Checks()
    for at, label in enumerate(ds.indexes[pool] if pool in ds.indexes else range(ds.sizes[pool])):
        part, human = pooling.of_label(ds, gold, pool, at)
        prepared = functools.partial(asked.prepared, part, human, job)
        scores, pairs = pooling.answer(prepared, f"{pool}={label!r}", later)
        calibrated.refuse(scores.score, f"pool={pool!r}")
        if scores.further or chunking.is_lazy(scores.score):
            raise ValueError(
                f"pool={pool!r} needs method='permutation' or 'bootstrap' where scores are lazy or have other further "
                f"dims than {pool!r}; or select one label of each, and ds.load()"
            )
        x, z = scores.score.transpose(*facts.CORE).values, scores.gold.transpose(*facts.CELLS).values
        clusters = asked.of_scores(scores, job).clusters
        measure = replace(job.measure, weights=scores.weights)
        by_label.append([each for each, *_ in estimated(x, z, pairs, measure, job.dims, clusters)])
        weights.append(_pairs_of_systems(x, z, pairs, job.measure))
    shares = np.array(weights) / np.maximum(np.sum(weights, axis=0), 1)
    whole = [averaged(each, share) for each, share in zip(zip(*by_label, strict=True), shares.T, strict=True)]
    numbers = dict(zip(job.names, zip(*(job.numbers(each, 0, -1) for each in whole), strict=True), strict=True))
    del numbers["rests_on"]
    types = results.types(job.names)
    by_pair = {name: xr.DataArray(np.array(row, types[name]), dims="_pair") for name, row in numbers.items()}
    sizes = {f"n_{dim}s": ds.sizes[dim] for dim in facts.CELLS}
    attrs = {**job.attrs, **job.measure.attrs, **sizes, "pool": pool, "cluster": asked.clusters or None}
    attrs |= drawn.attrs_of(ds, scores.weights)
    return later.attached(results.result(pair_results.laid_out(by_pair, pairs, scores), scores, **attrs))


def _pairs_of_systems(x: FloatArray, z: FloatArray, pairs: Sequence[Pair], measure: Measure) -> list[float]:
    scored, rated = np.asarray(~np.isnan(x)), np.asarray(~np.isnan(z))
    if measure.own_cells:
        scored, rated = (np.asarray(each.any(axis=-1, keepdims=True)) for each in (scored, rated))
    systems = [int((scored[one] & scored[two] & rated).any(axis=1).sum()) for one, two in pairs]
    return [size * (size - 1) / 2 for size in systems]


def _named(found: xr.Dataset, method: str, confidence_level: float) -> xr.Dataset:
    alpha = families.alpha_of(confidence_level)
    attrs = {"analysis": "compare_metrics", "method": method, "confidence_level": confidence_level, "alpha": alpha}
    return families.decided(found.assign_attrs(attrs), alpha, _ORDER)


def _check_formula(method: str, resample: Any, refused: dict[str, Any]) -> None:
    if not (isinstance(resample, str) and resample == AUTO):
        raise ValueError(
            f"resample={resample!r} needs a method that resamples, and method={method!r} is a formula; "
            "leave resample out"
        )
    for name, value in refused.items():
        if value is not None:
            raise ValueError(f"{name} does not go with method={method!r}; use method='jackknife'")


def _warn(
    found: xr.Dataset, difference: xr.DataArray, resting: xr.DataArray, scores: schema.Scores, job: _Comparison
) -> None:
    pair_results.warn_undefined(difference, job.targets, scores)
    jackknifed.warn_of_ranked_means(job.measure, job.dims, "22 % of equally good metrics", _DRAWN)
    later = scores.later
    also = calibrated.NEEDED if job.refits else ""
    needs = jackknifed.needs(job.measure, job.dims, scores.shape, also, clusters=job.clusters)
    later.make(checks.warn_without_limits, found["difference"], found["ci_low"], "jackknife", needs)
    later.make(checks.warn_where, found["fell_back"], checks.FELL_BACK["jackknife"], "fell_back")
    jackknifed.warn_resting(resting, jackknifed.names_of(job.targets, scores), scores, job.measure)
