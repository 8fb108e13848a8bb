"""How sure are we of a correlation, or of the difference of two: `ci`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _validate
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
from xsumstat.dataset import (
    calibrated,
    checks,
    facts,
    labelled,
    metric_pairs,
    near_copies,
    results,
    skewness,
    two_values,
)
from xsumstat.dataset import scores as schema
from xsumstat.inference.intervals import INTERVALS
from xsumstat.inference.jackknife import FAR
from xsumstat.resampling.bootstrap import Bootstrap, BootstrapInterval, Target, fisher
from xsumstat.resampling.jackknife import Jackknife
from xsumstat.resampling.studentized import Studentized
from xsumstat.types import CorrelationFunction, FloatArray

_Job = Bootstrap | Jackknife | Studentized
# Intervals that draw systems, however few.
OF_BOTH = ("studentized", "corrected")
# Intervals that know single labels only.
_OF_SINGLE = ("bca", "corrected", "studentized")
_FISHER = ("correlation", "ci_low", "ci_high", "standard_error", "n_undefined")


@_validate.public
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
    """Confidence interval of each metric's correlation with the gold scores, or of the difference of two metrics'.

    Parameters
    ----------
    {ds}
    {gold}
    {metric}
    other : label, list of labels or bool DataArray, optional
        Metrics whose correlation is taken from that of `metric`: the interval is of the difference, for each pair.
    {level}
    {coefficient}
    {method.ci}
    {interval}
        See Notes.
    {resample.ci}
        "reference", a dim of `score`, and "rater", a dim of the gold, may be named too: each draw's are made one score,
        the same references (raters) being drawn for all cells.
    aggregate : {"mean", "max"}, default "mean"
        What the scores by the drawn references become; the drawn raters' are averaged.
    {n_resamples}
    {confidence_level}
    {by}
    {cluster}
    {given}
    {positive}
    {threshold}
        A threshold that is calibrated is found anew in each resample.
    {calibrate_on}
    {pool}
    {missing}
    {undefined}
    {rng}
        The jackknife needs none.
    {keep_samples}
    {progress}

    Returns
    -------
    Dataset
        ``correlation``, ``ci_low``, ``ci_high``, ``standard_error`` and ``n_undefined`` (resamples, or values without
        one label, that are undefined; they are left out), each (metric, ...). With `other` the first is ``difference``
        instead, and all are (metric, other_metric, ...), NaN where a metric meets itself. Of the bootstrap and the
        jackknife also ``bias``, by how much the estimate errs on average; of the jackknife ``df``, the degrees of
        freedom of its t; of it, "bca", "corrected" and "studentized" ``fell_back``: True where that interval is not
        defined, and another stands in (see Notes). Of "pairwise_accuracy", "acc_eq", "tau_eq", "kendall_like" and
        "spa" without `other` also ``baseline`` and ``baseline_constant``, what a random metric on average, and a
        constant one, would have on the same outputs (see Notes of `corr`), and of "kendall_like" ``pairs_used``, the
        share of the pairs of outputs that count.

    Raises
    ------
    {errors.draws}

    Warns
    -----
    {errors.warned}
        Also when a metric that ``kind`` does not call human equals the gold; when more than 5 % of the resamples are
        undefined, an interval falls back or there is none, a bootstrap's bias exceeds a quarter of its standard error,
        where a percentile interval is known to fail, or an interval does not hold the estimate: that of
        "pairwise_accuracy" over few systems, of which one that is drawn twice makes a pair that no metric orders. And
        when the jackknife's interval rests on one system: without it the correlation (input and global level, 5 systems
        or more) lies over 15 standard deviations from where those without the others do. Of clean normal scores of 8 to
        60 systems and four metrics that is said in at most 2 % of sets, and in 95 % where one of 8 or 10 is bad.

    Notes
    -----
    **Jackknife.** The variance is ``V_s + max(0, V_i − V_c)``: V_s from the estimates without each system,
    V_i from those without each input, V_c what the noise of single cells adds to both (see
    `xsumstat.inference.jackknife`). The limits are ``tanh(arctanh c ± t·√V/(1 − r²))``, with N − 1 degrees of freedom
    (at global level and within_system of the fewer of systems and inputs) and c the estimate less its bias, which
    averaged correlations of few systems have; those of a difference are made of both metrics' limits (MOVER; Zou 2007).
    ``resample="system"`` and ``"input"`` have V_s or V_i alone; of ranked system means over inputs alone "auto" is the
    bootstrap, as V_i holds too little there (.80). An interval always holds the estimate. Over systems, or both, fewer
    than 4 systems have none. Over inputs alone the systems are the population, and any number will do of which the
    level itself can be had (120 inputs, 2 to 5 systems: 95 % intervals hold the truth in .90 to .98 of trials). At
    system level V_i is ``max(V_i − B, V_i/2)`` there, of which B is its part of second order (see
    `xsumstat.coefficients.curvature`; given covariates B is left in, and the interval too wide near r = 1); of 3
    systems this says next to nothing.

    A bias that leads from r more than half the way to ±1, as one bad system among ten makes it, is for the rest taken
    out on arctanh's scale: with ``b = clip(bias, −(1 − r)/2, (1 + r)/2)`` and ``c = r − b`` the limits are about
    ``arctanh c − (bias − b)/(1 − c²)``.

    Measured on simulated scores, 95 % intervals over both dims of 8 to 60 systems and 30 to 1,000 inputs held the true
    correlation, or difference, in .95 to .97 of trials (means by coefficient, system and input level), and in at least
    .90 of each design, but for Spearman's ρ of .9 at input level with 8 or 10 systems of which 30 % are missing on each
    input (.82 to .90). At global level means are .94 to .95, and six of 1,944 cases lie at .86 to .89 (120 trials
    each). At input level they hold too little where 16 systems or fewer differ more than cells do, and have heavy tails
    (Pearson .91, Spearman .91) or lie far out (.93, .92; Pearson .86 in 0.2.0); for Kendall's τ of ten systems or fewer
    they err on the wide side (.97). The documentation ("Calibration") has a table to look a design up in. Those of
    "pdp" held it in .89 to .97 of trials of 21 designs (8 to 60 systems, 30 to 200 inputs; 400 trials each), .95 on
    average; the least where 13 systems differ as much as cells do and correlate far more than these, or have heavy
    tails; their V_c takes the number of systems with a score on each input, by which inputs weigh, as fixed. Any
    other statistic has ``V_s + V_i``, which counts the noise of cells twice, and is too wide where that matters. Of
    "acc_eq" it held the truth in .96 to 1.00 of trials (8 to 30 systems), and was as wide as the bootstrap's, which
    held it in .53 to .91: a system that is drawn twice agrees with its copy, and so every resample's accuracy is
    too high.

    Where the correlation is ±1 or nothing varies, at system level a coefficient of ranks takes Fisher's standard error
    about the nearest value below 1 and is open to 1; elsewhere the interval is the point. Both fell back.

    **Bootstrap.** A resample draws as many labels of each named dim as there are, with replacement, the two dims
    independently of each other. "percentile" takes the quantiles of the samples, "basic" reflects them about
    the estimate, "normal" is the estimate ± z standard errors; the last two may pass 1. Drawing both dims counts
    the noise of single cells about three times, so the interval errs on the wide side. "bca" corrects the percentile
    interval for bias and for a spread that changes with the correlation; its jackknife leaves out each label of
    each dim that is drawn (see `xsumstat.inference.intervals.bca_interval`); it falls back to the percentile interval.

    "corrected" takes that excess out: from three bootstraps on the same seed, of both dims and of each, the variance
    ``V = 2(V_system + V_input) − V_both`` counts every part once, and the percentile interval is scaled about the
    estimate to it. Where V is less than the variance over draws of one dim alone, that variance stands in; its standard
    error is √V (see `xsumstat.inference.intervals.corrected_interval`). It takes three times as long.

    "studentized" draws systems, and takes each draw's estimate r* less r over s*, its own jackknife standard error over
    the systems drawn. The limits are ``r − t_hi·√V`` and ``r − t_lo·√V``, with the quantiles of these ratios and the
    jackknife's V of all dims in `resample`, which must name "system"; they are cut at the bounds of the coefficient.
    They hold the estimate; where nothing varies the jackknife's interval stands in. Of 8 to 16 systems and 100 inputs
    (95 %, 500 trials of each of 24 designs) they held the true Pearson correlation in .945 of trials where scores were
    normal, .932 with t of 5 degrees of freedom and .936 with single systems far out, and the jackknife of 0.2.0 in
    .943, .912 and .848, of which the last is about .93 now; they were 1.3 to 1.5 times as wide. Spearman's they held in
    .930, .926 and .933 (jackknife .912, .911 and .901), 1.3 times as wide. For Kendall's τ the jackknife is better:
    .958, .958 and .961, against .938, .934 and .942 of wider ones. It is as good for differences (both .92), and
    better where single cells vary as much as systems do (8 systems, 1,000 inputs: .96 against .92).

    A difference is of two metrics on the same resamples, on the cells that both have (at system level under
    ``missing="available"`` each keeps its own). For an analytic interval of it see ``corr_test(method="zou")``.

    "fisher" is ``tanh(arctanh r ± z·c/√(n − b))``, see `xsumstat.inference.intervals.fisher_interval`; n is the number
    of systems at system and input level (r the average: far too wide there), of inputs at within_system, and
    of cells at global; with missing cells, that of the input or system that has the most. It takes the
    scores to be normal, which they rarely are.

    **Given covariates.** All of this holds of partial correlations too: of k covariates n is k less, and so are the
    degrees of freedom of the jackknife's t, but for those of inputs that are random alone and of all cells; the V_s of
    system level is ``(N−1−k)/(N−1)`` of what it would be, as each system draws the regression on the covariates towards
    itself. Of 12 and 30 systems and 40 inputs (normal scores with shared covariates, partial r 0, .6 and .9, 1,000
    trials each, one and three covariates) 95 % intervals held the truth in .943 to .974 of trials at system level
    (Kendall .951 to .984) and in .927 to .981 at input level (Kendall .948 to .983).

    References
    ----------
    Deutsch, Dror & Roth (2021), §3. Efron & Stein (1981), Annals of Statistics 9. Bonett & Wright (2000),
    Psychometrika 65. Owen (2007), "The pigeonhole bootstrap". Zou (2007), Psychological Methods 12.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> interval = ds.meta.ci("human", level="input", coefficient="kendall")
    >>> interval.meta.to_frame(brief=True).round(2)
           metric  correlation  ci_low  ci_high
    0       judge         0.56    0.44     0.66
    1   bertscore         0.37    0.24     0.49
    2       rouge         0.35    0.20     0.48
    3        bleu         0.15    0.06     0.24
    4  perplexity         0.33    0.18     0.46
    5      length         0.04   -0.16     0.24
    >>> gap = ds.meta.ci("human", metric="judge", other=["rouge", "bleu"], level="input")
    >>> gap.meta.to_frame(brief=True).round(2)
      metric other_metric  difference  ci_low  ci_high
    0  judge        rouge        0.28    0.18     0.42
    1  judge         bleu        0.53    0.38     0.69
    """
    measure = checked_measure(level, coefficient, missing, undefined)
    _validate.choice("method", method, ("auto", "jackknife", "bootstrap", "fisher"))
    if interval is not None:
        _validate.choice("interval", interval, INTERVALS)
    confidence_level = _validate.fraction("confidence_level", confidence_level)
    dims = checked_resample(resample, measure, auto=True)
    check_given(measure.coefficient, given, dims)
    _validate.choice("aggregate", aggregate, AGGREGATES)
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
    if method == "fisher":
        scores = schema.prepare(ds, gold, metric, **ready)
        calibrated.refuse(scores.score, "Fisher's interval")
        measure = replace(measure, given=scores.given)
        found = _fisher(scores, measure, confidence_level)
        _warn(found, scores, measure, None, dims, draws.n_resamples)
        own = {"method": method, **measure.attrs, "confidence_level": confidence_level}
        return results.result(found, scores, analysis="ci", **own)
    ready["constant"] = measure.coefficient.of_constants
    if other is None:
        scores = schema.prepare(ds, gold, metric, **ready)
        targets: tuple[Target, ...] = tuple((at,) for at in scores.rows)
    else:
        scores, targets = metric_pairs.prepare(ds, gold, metric, other, **ready)
    if random_dims(resample, dims, scores.shape) != dims:
        dims = random_dims(resample, dims, scores.shape)
        method = interval_method(measure, dims, interval, keep_samples) if asked == AUTO else asked
        _check_method(method, measure, dims, interval, other, keep_samples)
    whole, refits = calibration.with_refits(ds, scores)
    if refits and asked == AUTO and interval is None and not keep_samples and "cell" not in dims:
        method = "jackknife"
    measure = settled(measure, scores, threshold, calibrate_on, gold, positive)
    warn_drawn_threshold(measure, scores.shape)
    two_values.check(scores, measure, dims)
    layers = [dim for dim in dims if dim in LAYERS]
    _check_layers(scores, layers)
    checks.check_resampled(scores.score, tuple(dim for dim in dims if dim not in LAYERS) or facts.CELLS)
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
    found = results.together(by_target) if other is None else metric_pairs.laid_out(by_target, targets, scores)
    if other is not None:
        metric_pairs.warn_undefined(by_target["difference"], targets, scores)
    elif not layers:
        if by_chance := chance.of(scores.score, scores.human, measure, found["correlation"]):
            found = found.assign(by_chance)
        if "pairs_used" in found:
            scores.later.make(chance.warn_few, found["pairs_used"], measure.coefficient)
    attrs |= threshold_attrs(measure.coefficient, calibrate_on)
    _warn(found, scores, measure, kind, dims, draws.n_resamples)
    if resting is not None:
        labels = scores.score["metric"].values.tolist()
        names = [" and ".join(str(labels[at]) for at in target) for target in targets]
        systems = checks.labels_of(scores.score, "system")
        scores.later.make(checks.warn_resting, resting, names, systems, measure.coefficient.name, FAR)
    return results.result(found, scores, analysis="ci", method=method, **measure.attrs, **attrs)


def _check_method(
    method: str, measure: Measure, dims: tuple[str, ...], interval: str | None, other: Any, keep_samples: bool
) -> None:
    """Keywords that do not go with the method are refused."""
    layers = [dim for dim in dims if dim in LAYERS]
    if method != "bootstrap" and interval is not None:
        raise ValueError(f"interval={interval!r} needs method='bootstrap', got method={method!r}")
    if method != "bootstrap" and keep_samples:
        raise ValueError(f"keep_samples=True needs method='bootstrap': {method!r} draws no samples")
    if method == "fisher":
        _check_fisher(measure.coefficient, other)
    if method == "jackknife" and (layers or "cell" in dims):
        drawn = _validate.listing([*layers, *(dim for dim in dims if dim == "cell")])
        raise ValueError(f"method='jackknife' leaves out systems and inputs; draws of {drawn} need method='bootstrap'")
    if layers and interval in ("bca", "corrected"):
        raise ValueError(f"interval={interval!r} is not for draws of {_validate.listing(layers)}; use 'percentile'")
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
    """What makes intervals of a kind: "jackknife", or a name of the bootstrap's."""
    if kind == "jackknife":
        return Jackknife(targets, measure, dims, confidence_level)
    interval = BootstrapInterval(kind, dims, draws.n_resamples, draws.seed, confidence_level)
    if kind == "studentized":
        return Studentized(targets, measure, interval)
    return Bootstrap(targets, measure, interval, aggregate)


def _found(scores: schema.Scores, job: _Job, dims: tuple[str, ...], draws: Draws) -> dict[str, xr.DataArray]:
    """The interval of each target: metrics along `metric`, pairs along `_pair`."""
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
    """Say what is undefined, where an interval is not to be trusted, and where another stands in."""
    later = scores.later
    name = "correlation" if "correlation" in found else "difference"
    if name == "correlation":
        why = why_undefined(measure.coefficient, measure.given)
        later.make(checks.warn_undefined, found[name], *scores.spreads, why)
    if kind == "jackknife" and measure.coefficient.leave_one_out is not None and not jackknife_holds(measure, dims):
        _validate.warn(
            "over inputs alone the jackknife of ranked system means holds the true value in about 80 % of trials, not "
            "95; use method='bootstrap'",
            "too_short",
        )
    if kind in ("jackknife", "studentized"):
        called = "bootstrap-t" if kind == "studentized" else "jackknife"
        needs = jackknife_needs(measure, dims) + (calibrated.NEEDED if calibrated.labels(scores.score) else "")
        message = f"no {called} interval, which needs {needs}, for"
        later.make(checks.warn_without_limits, found[name], found["ci_low"], message)
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
        raise ValueError(f"method='fisher' needs a coefficient among {_validate.listing(allowed)}, got {record.name!r}")
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
    """The dims that are drawn and made one are there, in scores that are at hand."""
    for dim, values, name in (("reference", scores.score, "score"), ("rater", scores.gold, "gold")):
        if dim in layers and dim not in values.dims:
            raise ValueError(
                f"resample names {dim!r}, and {name} has no such dim; it has {_validate.listing(values.dims)}"
            )
