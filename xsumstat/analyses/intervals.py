"""How uncertain is a correlation, or the difference of two: `ci`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import calibration, chance, clustering, jackknifed, pooling
from xsumstat.analyses import groups as slices
from xsumstat.analyses.measure import (
    AUTO,
    LAYERS,
    Draws,
    Measure,
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
    why_undefined,
)
from xsumstat.coefficients import table
from xsumstat.coefficients.clusters import Clusters
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
)
from xsumstat.dataset import scores as schema
from xsumstat.inference.intervals import INTERVALS
from xsumstat.resampling.bootstrap import Bootstrap, BootstrapInterval, fisher
from xsumstat.resampling.jackknife import Jackknife, RefitOf
from xsumstat.resampling.jobs import Target
from xsumstat.resampling.studentized import Studentized

# Intervals that draw systems, however few.
OF_BOTH = ("studentized", "corrected")
# Intervals that know single labels only.
_OF_SINGLE = ("bca", "corrected", "studentized")
_FISHER_UNITS = {"within_system": "inputs", "global": "outputs"}
_FISHER = ("correlation", "ci_low", "ci_high", "standard_error", "n_undefined")


@validate.public
@slices.with_groups
@pooling.with_pool(pooling.INTERVALS)
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
        How to combine references that ``resample=("input", "reference")`` draws. Drawn raters are averaged.
    {n_resamples confidence_level options rng keep_samples progress}

    {dataset}
        On (metric, ...): ``correlation``, ``ci_low``, ``ci_high``, ``standard_error``, ``n_undefined`` (draws without
        a value) and, by method, ``bias``, ``df``, ``fell_back`` (the method failed; the documentation names what is
        returned), ``baseline``, ``pairs_used``. With `other`, ``difference`` on (metric, other_metric, ...).

    See Also
    --------
    compare_metrics, rank, human_ceiling

    Notes
    -----
    The jackknife needs 4 systems, or ``resample="input"``. For up to 16 systems with outliers, at input level, try
    ``interval="studentized"``. Source: Deutsch, Dror & Roth (2021), §3. See "How intervals and tests are computed".

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
    asked = _Asked(measure, method, interval, dims, draws, confidence_level, aggregate)
    asked.check(other)
    clusters = clustering.checked(cluster, measure, given, asked.without_clusters(resample))
    resample = dims if interval in OF_BOTH else resample
    by_fisher = asked.used == "fisher"
    ready: dict[str, Any] = {**entrance(measure), "given": given}
    ready["these_systems"] = not by_fisher and these_systems(resample, dims)
    ready["weigh"] = asked.used == "jackknife" and weighs(measure, given, clusters)
    if by_fisher:
        return _of_fisher(schema.prepare(ds, gold, metric, **ready), asked)
    if other is None:
        scores = schema.prepare(ds, gold, metric, **ready)
        targets: tuple[Target, ...] = tuple((at,) for at in scores.rows)
    else:
        scores, targets = metric_pairs.prepare(ds, gold, metric, other, **ready)
    asked = replace(asked, dims=random_dims(resample, dims, scores.shape))
    asked.check(other)
    if asked.used != "jackknife":
        scores = schema.without_weights(scores, ds)
    whole, refits = calibration.with_refits(ds, scores)
    asked = asked.refitting() if refits else asked
    asked = replace(asked, measure=settled(measure, scores, threshold, calibrate_on, gold, positive))
    asked.check_scores(scores, clusters, of_pairs=other is not None)
    of_scores = clustering.of_scores(scores.score, clusters, asked.dims, drawn=asked.used != "jackknife")
    if refits and asked.used == "jackknife":
        job = asked.job(targets, of_scores, refits)
        by_target = calibration.found_of(asked.run(whole, job), scores)
    else:
        by_target = asked.run(scores, asked.job(targets, of_scores))
    resting = by_target.pop("rests_on", None)
    if other is None:
        found = _with_chance(results.together(by_target), scores, asked)
    else:
        found = pair_results.laid_out(by_target, targets, scores)
        pair_results.warn_undefined(by_target["difference"], targets, scores)
    found = few_systems.without_limits(found, scores, asked.measure)
    asked.warn(found, scores, of_scores)
    if resting is not None:
        jackknifed.warn_resting(resting, jackknifed.names_of(targets, scores), scores, asked.measure)
    attrs = {**asked.attrs, "cluster": clusters or None, **threshold_attrs(asked.measure.coefficient, calibrate_on)}
    return results.result(found, scores, analysis="ci", **attrs, **drawn.attrs_of(ds, scores.weights))


@dataclass(frozen=True, eq=False)
class _Asked:
    """What is asked, checked: what is measured, and how its interval is made where these dims are random."""

    measure: Measure
    method: str
    interval: str | None
    dims: tuple[str, ...]
    draws: Draws
    confidence_level: float
    aggregate: str

    @property
    def used(self) -> str:
        """The method; "auto" goes by the dims."""
        if self.method != AUTO:
            return self.method
        return jackknifed.interval_method(self.measure, self.dims, self.interval, self.draws.keep_samples)

    @property
    def kind(self) -> str:
        """The kind of interval."""
        return self.used if self.used in ("jackknife", "fisher") else self.interval or "percentile"

    @property
    def layers(self) -> list[str]:
        return [dim for dim in self.dims if dim in LAYERS]

    @property
    def attrs(self) -> dict[str, Any]:
        """Attrs of a result."""
        attrs = {"method": self.used, **self.measure.attrs, "confidence_level": self.confidence_level}
        if self.used == "fisher":
            return attrs
        attrs["resample"] = self.dims
        if self.used == "bootstrap":
            attrs |= {"interval": self.kind, **({"aggregate": self.aggregate} if "reference" in self.layers else {})}
            attrs |= self.draws.attrs
        return attrs

    def refitting(self) -> _Asked:
        """The same of metrics that are calibrated anew: by the jackknife, unless draws are asked for."""
        draws_asked = self.interval is not None or self.draws.keep_samples or "cell" in self.dims
        return replace(self, method="jackknife") if self.method == AUTO and not draws_asked else self

    def without_clusters(self, resample: Any) -> str:
        """What does not go with clusters, in words."""
        if set(self.dims) - set(facts.CELLS):
            return f"resample={resample!r}"
        if self.used == "fisher":
            return "method='fisher'"
        return f"interval={self.interval!r}" if self.interval in _OF_SINGLE else ""

    # --- Checks ---

    def check(self, other: Any) -> None:
        """Methods, intervals and dims that go with each other."""
        method, interval, dims = self.used, self.interval, self.dims
        if method != "bootstrap" and interval is not None:
            raise ValueError(f"interval={interval!r} needs method='bootstrap', got method={method!r}")
        if method != "bootstrap" and self.draws.keep_samples:
            raise ValueError(f"keep_samples=True needs method='bootstrap': {method!r} draws no samples")
        if method == "fisher":
            _check_fisher(self.measure.coefficient, other)
        if method == "jackknife" and (self.layers or "cell" in dims):
            drawn = validate.listing([*self.layers, *(dim for dim in dims if dim == "cell")])
            raise ValueError(
                f"method='jackknife' leaves out systems and inputs; draws of {drawn} need method='bootstrap'"
            )
        if self.layers and interval in ("bca", "corrected"):
            raise ValueError(
                f"interval={interval!r} is not for draws of {validate.listing(self.layers)}; use 'percentile'"
            )
        if interval == "corrected" and len(dims) < 2:
            raise ValueError(
                f"interval='corrected' sets draws of both dims against those of one: resample={dims[0]!r} has one"
            )
        if interval == "studentized":
            _check_studentized(self.measure, dims)

    def check_scores(self, scores: schema.Scores, clusters: tuple[str, ...], *, of_pairs: bool) -> None:
        """Scores that can vary as is asked; warn of what makes intervals doubtful."""
        dims, measure = self.dims, self.measure
        checks.check_resampled(scores, tuple(dim for dim in dims if dim not in LAYERS) or facts.CELLS)
        checks.warn_few_inputs(scores, dims, measure.level)
        warn_drawn_threshold(measure, scores.shape)
        two_values.check(scores, measure, dims)
        _check_layers(scores, self.layers)
        near_copies.check(scores, dims, clusters)
        if not of_pairs:
            skewness.check(scores, measure, dims)

    def warn(self, found: xr.Dataset, scores: schema.Scores, clusters: Clusters | None = None) -> None:
        """Warn of intervals that are undefined, replaced or doubtful."""
        later, measure, kind, n_resamples = scores.later, self.measure, self.kind, self.draws.n_resamples
        name = "correlation" if "correlation" in found else "difference"
        if name == "correlation":
            why = why_undefined(measure.coefficient, measure.given)
            later.make(checks.warn_undefined, found[name], *scores.spreads, why)
            if (measure.coefficient.name, measure.level, self.dims) == ("pearson", "input", ("input",)):
                few_systems.warn_near_one(found[name], scores)
        if kind == "jackknife" and jackknifed.of_ranked_means(measure, self.dims):
            validate.warn(
                "over inputs alone the jackknife of ranked system means covered the true value in about 80 % of "
                "simulations, not 95 %; use method='bootstrap'",
                "too_short",
            )
        if kind in ("jackknife", "studentized"):
            called = "bootstrap-t" if kind == "studentized" else "jackknife"
            also = calibrated.NEEDED if calibrated.labels(scores.score) else ""
            needs = jackknifed.needs(measure, self.dims, scores.shape, also, clusters=clusters)
            few_systems.warn_without(found, name, scores, measure, called, needs)
        elif kind == "fisher":
            assert measure.coefficient.fisher is not None
            least = measure.coefficient.fisher[0] + 1 + len(measure.given)
            needs = f"{least} {_FISHER_UNITS.get(measure.level, 'systems')}"
            few_systems.warn_without(found, name, scores, measure, "Fisher", needs)
        better = not jackknifed.of_ranked_means(measure, self.dims)
        if kind != "jackknife":
            later.make(checks.warn_resamples, found["n_undefined"], n_resamples)
            later.make(checks.warn_outside, found[[name, "ci_low", "ci_high"]], name, n_resamples, better)
        if kind == "percentile":
            later.make(checks.warn_biased, found[["bias", "standard_error"]], n_resamples, better)
        if "fell_back" in found:
            later.make(checks.warn_where, found["fell_back"], checks.FELL_BACK[kind], "fell_back")

    # --- Numbers ---

    def job(
        self, targets: tuple[Target, ...], clusters: Clusters | None, refits: tuple[RefitOf, ...] = ()
    ) -> Bootstrap | Jackknife | Studentized:
        """The intervals of all targets."""
        if self.kind == "jackknife":
            how: dict[str, Any] = {"clusters": clusters, "refits": refits}
            return Jackknife(targets, self.measure, self.dims, self.confidence_level, **how)
        draws = self.draws
        interval = BootstrapInterval(
            self.kind, self.dims, draws.n_resamples, draws.seed, self.confidence_level, clusters
        )
        if self.kind == "studentized":
            return Studentized(targets, self.measure, interval)
        return Bootstrap(targets, self.measure, interval, self.aggregate)

    def run(self, scores: schema.Scores, job: Bootstrap | Jackknife | Studentized) -> dict[str, xr.DataArray]:
        """The numbers of all targets, for each further label."""
        pairs = len(job.targets[0]) > 1
        types = results.types(["difference" if pairs else "correlation", *job.names[1:]])
        first = "metric" if "metric" in scores.score.dims else "_metric"
        core = [first, *(["reference"] if "reference" in self.dims else []), *facts.CELLS]
        gold_core = ["rater", *facts.CELLS] if "rater" in self.dims else scores.gold_core
        if self.layers:
            gold = scores.gold.transpose(..., *gold_core, missing_dims="ignore")
            scores = replace(scores, score=scores.score.transpose(..., *core), gold=gold)
        how: dict[str, Any] = {"keep_samples": self.draws.keep_samples, "progress": self.draws.progress}
        return labelled.run(job, scores, "_pair" if pairs else "metric", types, core=core, gold_core=gold_core, **how)


def _with_chance(found: xr.Dataset, scores: schema.Scores, asked: _Asked) -> xr.Dataset:
    """Correlations with what a metric that tells nothing reaches, where no layers are drawn."""
    if asked.layers:
        return found
    if by_chance := chance.of(scores.score, scores.human, asked.measure, found["correlation"]):
        found = found.assign(by_chance)
    if "pairs_used" in found:
        scores.later.make(chance.warn_few, found["pairs_used"], asked.measure.coefficient)
    return found


def _check_studentized(measure: Measure, dims: tuple[str, ...]) -> None:
    if measure.level != "input":
        raise ValueError(f"interval='studentized' needs level='input', got {measure.level!r}")
    if "system" not in dims or not set(dims) <= {"system", "input"}:
        raise ValueError(f"interval='studentized' draws systems: resample must be 'both' or 'system', got {dims!r}")


def _check_fisher(record: Coefficient, other: Any) -> None:
    if record.fisher is None:
        allowed = [name for name, each in table.COEFFICIENTS.items() if each.fisher]
        raise ValueError(f"method='fisher' needs a coefficient among {validate.listing(allowed)}, got {record.name!r}")
    if other is not None:
        raise ValueError("method='fisher' has no interval for a difference (other=); corr_test(method='zou') has")


def _of_fisher(scores: schema.Scores, asked: _Asked) -> xr.Dataset:
    """The interval by formula."""
    calibrated.refuse(scores.score, "Fisher's interval")
    if asked.measure.level == "global":
        checks.warn_of_formula("'fisher'", "global", scores.shape, "method='jackknife'")
    asked = replace(asked, measure=replace(asked.measure, given=scores.given))

    def each(x: FloatArray, z: FloatArray) -> tuple[float, ...]:
        return *fisher(x, z, asked.measure, asked.confidence_level), 0

    inputs = [(scores.score, facts.CELLS), (scores.human, scores.gold_core)]
    numbers = labelled.by_label(each, inputs, dict.fromkeys(_FISHER, ()), types=results.types(_FISHER))
    found = few_systems.without_limits(xr.Dataset(numbers), scores, asked.measure)
    asked.warn(found, scores)
    return results.result(found, scores, analysis="ci", **asked.attrs)


def _check_layers(scores: schema.Scores, layers: list[str]) -> None:
    for dim, values, name in (("reference", scores.score, "score"), ("rater", scores.gold, "gold")):
        if dim in layers and dim not in values.dims:
            raise ValueError(
                f"resample names {dim!r}, and {name} has no such dim; it has {validate.listing(values.dims)}"
            )
