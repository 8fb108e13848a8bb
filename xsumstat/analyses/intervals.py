"""How uncertain is a correlation, or the difference of two: `ci`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import calibration, chance, clustering, pooling
from xsumstat.analyses import groups as slices
from xsumstat.analyses.measure import (
    AUTO,
    LAYERS,
    Draws,
    Measure,
    check_given,
    checked_measure,
    checked_resample,
    interval_method,
    jackknife_holds,
    jackknife_needs,
    random_dims,
    settled,
    these_systems,
    threshold_attrs,
    warn_drawn_threshold,
    why_undefined,
)
from xsumstat.coefficients import table
from xsumstat.coefficients.layers import AGGREGATES
from xsumstat.coefficients.record import Coefficient
from xsumstat.core import validate
from xsumstat.core.types import CorrelationFunction, FloatArray
from xsumstat.dataset import (
    calibrated,
    checks,
    drawn,
    facts,
    few_systems,
    labelled,
    metric_pairs,
    near_copies,
    pair_results,
    results,
    skewness,
    two_values,
    value_checks,
)
from xsumstat.dataset import scores as schema
from xsumstat.inference.intervals import INTERVALS
from xsumstat.inference.jackknife import FAR
from xsumstat.resampling.bootstrap import Bootstrap, BootstrapInterval, Target, fisher
from xsumstat.resampling.jackknife import Jackknife
from xsumstat.resampling.studentized import Studentized

_Job = Bootstrap | Jackknife | Studentized
# Intervals that draw systems, however few.
OF_BOTH = ("studentized", "corrected")
# Intervals that know single labels only.
_OF_SINGLE = ("bca", "corrected", "studentized")
_FISHER_UNITS = {"within_system": "inputs", "global": "outputs"}
_FISHER = ("correlation", "ci_low", "ci_high", "standard_error", "n_undefined")


@validate.public
@slices.with_groups
@pooling.with_pool(pooling.of_intervals, drawn=pooling.unless_jackknife)
def ci(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    other: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    method: str = "auto",
    interval: str | None = None,
    resample: str | tuple[str, ...] = "auto",
    aggregate: str = "mean",
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    by: str | None = None,
    cluster: str | tuple[str, ...] | None = None,
    given: str | xr.DataArray | Sequence[str | xr.DataArray] | None = None,
    positive: float | str | Sequence[float | str] | None = None,
    threshold: float | xr.DataArray | None = None,
    calibrate_on: xr.Dataset | None = None,
    pool: str | None = None,
    missing: str = "pairwise",
    undefined: str = "drop",
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    keep_samples: bool = False,
    progress: bool | None = None,
) -> xr.Dataset:
    """Confidence intervals of metrics' correlations with human scores.

    ``ds.meta.ci("human", level="input")`` returns an interval for each metric, or with `other` for each difference.

    Parameters
    ----------
    {ds gold metric}
    other : label, list of labels or bool DataArray, optional
        Return intervals of the difference `metric` minus `other`, for each pair.
    {level coefficient method.ci interval resample.ci}
    aggregate : {"mean", "max"}, default "mean"
        How to combine references, if `resample` draws them: ("input", "reference"). Drawn raters are averaged.
    {n_resamples confidence_level options rng keep_samples progress}

    {dataset}
        On (metric, ...): ``correlation``, ``ci_low``, ``ci_high``, ``standard_error``, ``n_undefined`` (draws without
        a value) and, by method, ``bias``, ``df``, ``fell_back`` (another interval is used instead), ``baseline`` and
        ``pairs_used``. With `other`, ``difference`` on (metric, other_metric, ...), NaN on the diagonal.

    See Also
    --------
    compare_metrics, rank, human_ceiling

    Notes
    -----
    The jackknife needs 4 systems, or ``resample="input"``, and weights inputs as `corr` does. It can undercover at
    input level with up to 16 systems and heavy tails or outliers: try ``interval="studentized"``. Source: Deutsch, Dror
    & Roth (2021), §3. Documentation: "How intervals and tests are computed", "Calibration".

    {demo}
    >>> ds.meta.ci("human", metric="judge", level="input", coefficient="kendall").meta.to_frame(brief=True).round(2)
      metric  correlation  ci_low  ci_high
    0  judge         0.56    0.44     0.66
    """
    measure = checked_measure(level, coefficient, missing, undefined)
    validate.choice("method", method, ("auto", "jackknife", "bootstrap", "fisher"))
    if interval is not None:
        validate.choice("interval", interval, INTERVALS)
    confidence_level = validate.fraction("confidence_level", confidence_level)
    dims = checked_resample(resample, measure, auto=True)
    check_given(measure.coefficient, given, dims)
    validate.choice("aggregate", aggregate, AGGREGATES)
    draws = Draws.checked(n_resamples, rng, keep_samples=keep_samples, progress=progress)
    asked = method
    method = interval_method(measure, dims, interval, keep_samples) if asked == AUTO else asked
    _check_method(method, measure, dims, interval, other, keep_samples)
    refused = {f"resample={resample!r}": bool(set(dims) - set(facts.CELLS)), "method='fisher'": method == "fisher"}
    refused[f"interval={interval!r}"] = interval in _OF_SINGLE
    clusters = clustering.checked(cluster, measure, given, next((name for name, is_ in refused.items() if is_), ""))
    ready: dict[str, Any] = {"level": level, "missing": measure.missing, "given": given}
    ready["compared_within"] = measure.compared_within
    resample = dims if interval in OF_BOTH else resample
    ready["these_systems"] = method != "fisher" and these_systems(resample, dims)
    plain = given is None and not clusters and not set(dims) - set(facts.CELLS)
    ready["weigh"] = measure.can_weigh and plain and method == "jackknife"
    if method == "fisher":
        scores = schema.prepare(ds, gold, metric, **ready)
        calibrated.refuse(scores.score, "Fisher's interval")
        measure = replace(measure, given=scores.given)
        found = few_systems.without_limits(_fisher(scores, measure, confidence_level), scores, measure)
        _warn(found, scores, measure, None, dims, draws.n_resamples)
        own = {"method": method, **measure.attrs, "confidence_level": confidence_level}
        return results.result(found, scores, analysis="ci", **own)
    ready |= {"constant": measure.coefficient.of_constants, "ties_left_out": measure.leaves_ties_out}

    def prepared(**how: Any) -> tuple[schema.Scores, tuple[Target, ...]]:
        if other is not None:
            return metric_pairs.prepare(ds, gold, metric, other, **how)
        scores = schema.prepare(ds, gold, metric, **how)
        return scores, tuple((at,) for at in scores.rows)

    scores, targets = prepared(**ready)
    if random_dims(resample, dims, scores.shape) != dims:
        dims = random_dims(resample, dims, scores.shape)
        method = interval_method(measure, dims, interval, keep_samples) if asked == AUTO else asked
        _check_method(method, measure, dims, interval, other, keep_samples)
        if method != "jackknife" and scores.weights is not None:
            with value_checks.held() as said:
                scores, targets = prepared(**(ready | {"weigh": False}))
            for caveat in said.caveats:
                if caveat.code == "unequal_probabilities":  # the weighted scores have said the others
                    validate.warn(caveat)
    checks.check_resampled(scores.score, tuple(dim for dim in dims if dim not in LAYERS) or facts.CELLS)
    whole, refits = calibration.with_refits(ds, scores)
    if refits and asked == AUTO and interval is None and not keep_samples and "cell" not in dims:
        method = "jackknife"
    measure = settled(measure, scores, threshold, calibrate_on, gold, positive)
    warn_drawn_threshold(measure, scores.shape)
    two_values.check(scores, measure, dims)
    layers = [dim for dim in dims if dim in LAYERS]
    _check_layers(scores, layers)
    near_copies.check(scores, dims, clusters)
    if other is None:
        skewness.check(scores, measure, dims)
    kind = "jackknife" if method == "jackknife" else interval or "percentile"
    attrs: dict[str, Any] = {"confidence_level": confidence_level, "resample": dims}
    attrs["cluster"] = clusters or None
    if kind != "jackknife":
        attrs |= {"interval": kind, **({"aggregate": aggregate} if "reference" in layers else {}), **draws.attrs}
    job = _job(kind, targets, measure, dims, draws, confidence_level, aggregate)
    if clusters:
        of_scores = clustering.of_scores(scores, clusters, dims)
        if isinstance(job, Jackknife):
            job = replace(job, clusters=of_scores)
        elif isinstance(job, Bootstrap):
            job = replace(job, interval=replace(job.interval, clusters=of_scores))
    if refits and isinstance(job, Jackknife):
        by_target = calibration.found_of(_found(whole, replace(job, refits=refits), dims, draws), scores)
    else:
        by_target = _found(scores, job, dims, draws)
    resting = by_target.pop("rests_on", None)
    found = results.together(by_target) if other is None else pair_results.laid_out(by_target, targets, scores)
    if other is not None:
        pair_results.warn_undefined(by_target["difference"], targets, scores)
    elif not layers:
        if by_chance := chance.of(scores.score, scores.human, measure, found["correlation"]):
            found = found.assign(by_chance)
        if "pairs_used" in found:
            scores.later.make(chance.warn_few, found["pairs_used"], measure.coefficient)
    found = few_systems.without_limits(found, scores, measure)
    _warn(found, scores, measure, kind, dims, draws.n_resamples)
    if resting is not None:
        labels = scores.score["metric"].values.tolist()
        names = [" and ".join(str(labels[at]) for at in target) for target in targets]
        systems = checks.labels_of(scores.score, "system")
        scores.later.make(checks.warn_resting, resting, names, systems, measure.coefficient.name, FAR)
    attrs |= threshold_attrs(measure.coefficient, calibrate_on) | drawn.attrs_of(ds, scores.weights)
    return results.result(found, scores, analysis="ci", method=method, **measure.attrs, **attrs)


def _check_method(
    method: str, measure: Measure, dims: tuple[str, ...], interval: str | None, other: Any, keep_samples: bool
) -> None:
    layers = [dim for dim in dims if dim in LAYERS]
    if method != "bootstrap" and interval is not None:
        raise ValueError(f"interval={interval!r} needs method='bootstrap', got method={method!r}")
    if method != "bootstrap" and keep_samples:
        raise ValueError(f"keep_samples=True needs method='bootstrap': {method!r} draws no samples")
    if method == "fisher":
        _check_fisher(measure.coefficient, other)
    if method == "jackknife" and (layers or "cell" in dims):
        drawn = validate.listing([*layers, *(dim for dim in dims if dim == "cell")])
        raise ValueError(f"method='jackknife' leaves out systems and inputs; draws of {drawn} need method='bootstrap'")
    if layers and interval in ("bca", "corrected"):
        raise ValueError(f"interval={interval!r} is not for draws of {validate.listing(layers)}; use 'percentile'")
    if interval == "corrected" and len(dims) < 2:
        raise ValueError(
            f"interval='corrected' sets draws of both dims against those of one: resample={dims[0]!r} has one"
        )
    if interval == "studentized":
        _check_studentized(measure, dims)


def _check_studentized(measure: Measure, dims: tuple[str, ...]) -> None:
    if measure.level != "input":
        raise ValueError(f"interval='studentized' needs level='input', got {measure.level!r}")
    if "system" not in dims or not set(dims) <= {"system", "input"}:
        raise ValueError(f"interval='studentized' draws systems: resample must be 'both' or 'system', got {dims!r}")


def _job(
    kind: str,
    targets: tuple[Target, ...],
    measure: Measure,
    dims: tuple[str, ...],
    draws: Draws,
    confidence_level: float,
    aggregate: str,
) -> _Job:
    if kind == "jackknife":
        return Jackknife(targets, measure, dims, confidence_level)
    interval = BootstrapInterval(kind, dims, draws.n_resamples, draws.seed, confidence_level)
    if kind == "studentized":
        return Studentized(targets, measure, interval)
    return Bootstrap(targets, measure, interval, aggregate)


def _found(scores: schema.Scores, job: _Job, dims: tuple[str, ...], draws: Draws) -> dict[str, xr.DataArray]:
    pairs = len(job.targets[0]) > 1
    name = "difference" if pairs else "correlation"
    types = results.types([name, *job.names[1:]])
    core = [
        "metric" if "metric" in scores.score.dims else "_metric",
        *(["reference"] if "reference" in dims else []),
        "system",
        "input",
    ]
    gold_core = ["rater", "system", "input"] if "rater" in dims else scores.gold_core
    if set(dims) & set(LAYERS):
        gold = scores.gold.transpose(..., *gold_core, missing_dims="ignore")
        scores = replace(scores, score=scores.score.transpose(..., *core), gold=gold)
    keywords: dict[str, Any] = {"keep_samples": draws.keep_samples, "progress": draws.progress}
    return labelled.run(job, scores, "_pair" if pairs else "metric", types, core=core, gold_core=gold_core, **keywords)


def _warn(
    found: xr.Dataset,
    scores: schema.Scores,
    measure: Measure,
    kind: str | None,
    dims: tuple[str, ...],
    n_resamples: int,
) -> None:
    later = scores.later
    name = "correlation" if "correlation" in found else "difference"
    if name == "correlation":
        why = why_undefined(measure.coefficient, measure.given)
        later.make(checks.warn_undefined, found[name], *scores.spreads, why)
    if kind == "jackknife" and measure.coefficient.leave_one_out is not None and not jackknife_holds(measure, dims):
        validate.warn(
            "over inputs alone the jackknife of ranked system means holds the true value in about 80 % of trials, not "
            "95; use method='bootstrap'",
            "too_short",
        )
    if kind in ("jackknife", "studentized"):
        called = "bootstrap-t" if kind == "studentized" else "jackknife"
        needs = jackknife_needs(measure, dims) + (calibrated.NEEDED if calibrated.labels(scores.score) else "")
        few_systems.warn_without(found, name, scores, measure, called, needs)
    elif kind is None:
        assert measure.coefficient.fisher is not None
        least = measure.coefficient.fisher[0] + 1 + len(measure.given)
        needs = f"{least} {_FISHER_UNITS.get(measure.level, 'systems')}"
        few_systems.warn_without(found, name, scores, measure, "Fisher", needs)
    if kind != "jackknife":
        later.make(checks.warn_resamples, found["n_undefined"], n_resamples)
        later.make(checks.warn_outside, found[[name, "ci_low", "ci_high"]], name, n_resamples)
    if kind == "percentile":
        later.make(checks.warn_biased, found[["bias", "standard_error"]], n_resamples)
    if kind is not None and "fell_back" in found:
        later.make(checks.warn_where, found["fell_back"], checks.FELL_BACK[kind], "fell_back")


def _check_fisher(record: Coefficient, other: Any) -> None:
    if record.fisher is None:
        allowed = [name for name, each in table.COEFFICIENTS.items() if each.fisher]
        raise ValueError(f"method='fisher' needs a coefficient among {validate.listing(allowed)}, got {record.name!r}")
    if other is not None:
        raise ValueError("method='fisher' has no interval for a difference (other=); corr_test(method='zou') has")


def _fisher(scores: schema.Scores, measure: Measure, confidence_level: float) -> xr.Dataset:
    def each(x: FloatArray, z: FloatArray) -> tuple[float, ...]:
        return *fisher(x, z, measure, confidence_level), 0

    outputs = xr.apply_ufunc(
        each,
        scores.score,
        scores.human,
        input_core_dims=[facts.CELLS, scores.gold_core],
        output_core_dims=[[]] * len(_FISHER),
        vectorize=True,
        dask="parallelized",
        output_dtypes=[float] * 4 + [int],
        keep_attrs=False,
    )
    return xr.Dataset(dict(zip(_FISHER, outputs, strict=True)))


def _check_layers(scores: schema.Scores, layers: list[str]) -> None:
    for dim, values, name in (("reference", scores.score, "score"), ("rater", scores.gold, "gold")):
        if dim in layers and dim not in values.dims:
            raise ValueError(
                f"resample names {dim!r}, and {name} has no such dim; it has {validate.listing(values.dims)}"
            )
