"""How well does each metric agree with people, and with other metrics: `corr` and `metric_corr`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _validate, extras
from xsumstat.analyses import chance, pooling
from xsumstat.analyses import groups as slices
from xsumstat.analyses import scoring_range as ranges
from xsumstat.analyses.measure import (
    GROUPS,
    Measure,
    along_metrics,
    check_given,
    check_symmetric,
    checked_measure,
    settled,
    threshold_attrs,
    why_undefined,
)
from xsumstat.coefficients import arrays, long_groups
from xsumstat.coefficients.record import Estimator
from xsumstat.dataset import checks, facts, labelled, results, scale_checks
from xsumstat.dataset import scores as schema
from xsumstat.dataset.value_checks import Checks, by_metric
from xsumstat.resampling.jobs import Formula
from xsumstat.types import BoolArray, CorrelationFunction, FloatArray, IntArray


@_validate.public
@slices.with_groups
@pooling.with_pool(pooling.of_estimates, drawn=pooling.never)
def corr(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    average: bool = True,
    by: str | None = None,
    given: str | xr.DataArray | Sequence[str | xr.DataArray] | None = None,
    positive: float | str | Sequence[float | str] | None = None,
    threshold: float | xr.DataArray | None = None,
    calibrate_on: xr.Dataset | None = None,
    pool: str | None = None,
    missing: str = "pairwise",
    undefined: str = "drop",
) -> xr.Dataset:
    """Correlation of each metric with the gold scores.

    Parameters
    ----------
    {ds}
    {gold}
    {metric}
    {level}
    {coefficient}
    {average}
    {by}
    {given}
    {positive}
    {threshold}
    {calibrate_on}
    {pool}
    {missing}
    {undefined}

    Returns
    -------
    Dataset
        ``correlation(metric, ...)`` in [-1, 1] and ``n_undefined(metric, ...)``, how many groups had none.
        With ``average=False`` ``correlation`` keeps the dim of the groups, and ``pvalue`` is SciPy's two-sided
        p-value of each (NaN where SciPy has none). "acc_eq" and "tau_eq" add the ``threshold(metric, ...)`` of each
        metric. "pairwise_accuracy", "acc_eq", "tau_eq", "kendall_like" and "spa" add ``baseline`` and
        ``baseline_constant``, what a random metric on average, and a constant one, would have on the same outputs (see
        Notes), and "kendall_like" ``pairs_used``, the share of the pairs of outputs that count. With `by` a dim of that
        name joins them; a group in which nothing can be computed is NaN, with a warning.

    Raises
    ------
    {errors.scores}

    Warns
    -----
    UserWarning
        For what is left out or undefined, and when a metric that ``kind`` does not call human equals the gold, one of
        its raters or their mean on all cells that both have, but for rounding.

    Notes
    -----
    With x_ij the metric's score of system i on input j and z_ij the gold's, the level "system" is
    ``corr_i(mean_j x_ij, mean_j z_ij)``, "input" is ``mean_j corr_i(x_ij, z_ij)``, "global" is
    ``corr_ij(x_ij, z_ij)`` and "within_system" is ``mean_i corr_j(x_ij, z_ij)``. Two means are tied when they
    differ by less than 1e-12 of the larger; raw scores when they are equal. A metric whose coordinate
    ``higher_is_better`` is False is negated first.

    "pearson" is ``Σ(x − x̄)(z − z̄)/√(Σ(x − x̄)²·Σ(z − z̄)²)``, "spearman" the same of ranks, of which tied scores share
    the mean. With C concordant and D discordant pairs of outputs, T_x and T_z tied in one score only and T_xz in both,
    "kendall" (tau-b) is ``(C − D)/√((C + D + T_x)(C + D + T_z))``, "kendall_a" ``(C − D)/(all pairs)``, "kendall_c"
    ``2(C − D)/(n²(1 − 1/m))`` with m the smaller number of distinct scores among n, "pairwise_accuracy"
    ``C/(all pairs)``, "acc_eq" ``(C + T_xz)/(all pairs)`` with a tie in x wherever
    ``|x_a − x_b| ≤ threshold``, one threshold for all groups of a level; candidates are 0 and all differences, of those
    as good the smallest is taken. In ``ci`` each resample finds its own (of over 33 million pairs at level "global" the
    best of some 512). "kendall_like" is ``(C − D)/(C + D)`` of the pairs with ``|z_a − z_b| ≥ threshold``, of all
    groups together, where a tie in the metric is discordant; a tie in the gold never counts (in WMT's toolkit it is
    discordant where the threshold is 0). Differences equal to a threshold but for rounding are within it. "spa" is ``1
    − mean |p_x(a, b) − p_z(a, b)|`` over ordered pairs of systems, p the chance that the difference of their means is
    as large as it is when each input's two scores trade places at random: listed for up to 12 inputs that differ, else
    by Edgeworth's series, within about .001 (it is not sampled, and needs no seed).

    "tau_eq" is ``2·acc_eq − 1`` (a group without pairs that counts as 0 is 0 in both). "pdp" is Pearson's r of
    ``x_ij − x_kj`` with ``z_ij − z_kj`` over all ordered pairs of systems i, k on all inputs j, so that what makes an
    input easy or hard does not count: ``Σ_j n_j Σ_i a_ij·b_ij / √(Σ_j n_j Σ_i a_ij² · Σ_j n_j Σ_i b_ij²)`` with a, b
    the scores less their input's mean and n_j the systems that both scored there; without gaps Pearson's r of a and b,
    which is the repeated-measures correlation of Bakdash & Marusich (2017), "rmcorr", with inputs as subjects.

    On people's own scale "accuracy" is the share p_o of outputs with the same class, "kappa" ``(p_o − p_e)/(1 − p_e)``
    with p_e its value for shuffled scores, "mcc" Pearson's r of two classes (of more, Gorodkin's), "f1"
    ``2TP/(2TP + FP + FN)``, "sensitivity" ``TP/(TP + FN)`` and "specificity" ``TN/(TN + FP)``; "weighted_kappa" is
    ``2·s_xz/(s_x² + s_z² + (x̄ − z̄)²)`` with ddof 0, and "icc" ``2·s_xz/(s_x² + s_z² + (x̄ − z̄)² − s²_(x−z)/n)`` with
    ddof 1. Values count as they are, in any unit that both share.

    **What is chance?** Two metrics tell nothing: one with the same score for every output (``baseline_constant``), and
    a random one, whose scores are drawn alike for all outputs, no two of them equal (``baseline``, its mean). With T
    the share of a group's pairs that are tied in the gold these have, averaged over groups, for "pairwise_accuracy" 0
    and ``(1 − T)/2``, for "acc_eq" T and ``(1 − T)/2``, for "tau_eq" ``2T − 1`` and ``−T``, for "kendall_like" −1 and
    0. A threshold that is calibrated is calibrated for random metrics too. With up to 5,000 pairs ``baseline`` is the
    mean of 500 random metrics, drawn alike in each call; with more it is the larger of the two values, which
    calibrating on the very scores passes by little (.48032 for .48030, of 13 systems on 529 inputs at input level).
    For "spa" a constant metric has every p = 1, and with it ``mean p_z``; a random one has each p of 1/L, 2/L, ..., 1
    equally often, L = 2^m for m inputs, and so ``1 − mean(p_z² + (1 − p_z)²)/2`` where L is large: 1/2 where people
    are sure of all pairs of systems, and more where they are not.

    With `given` it is the partial correlation: of one covariate c ``(r_xz − r_xc·r_zc)/√((1 − r_xc²)(1 − r_zc²))``, the
    r being Pearson's, Spearman's or Kendall's tau-b (Kendall's partial tau of 1942), and of several the same in turn.
    Pearson's is the correlation of what regressions on the covariates leave of both scores. At system level covariates
    are averaged over the same cells as the scores (under ``missing="available"`` over all that they have). A group
    has none where it has fewer than 3 members more than there are covariates, where a covariate is constant in it, or
    the covariates determine a score. The p-values of ``average=False`` are of t with n − 2 − k degrees of freedom, k
    the covariates; of Kendall's normal with n − k in place of n (Kim 2015).

    References
    ----------
    Deutsch, Dror & Roth (2021), "A Statistical Analysis of Summarization Evaluation Metrics Using Resampling
    Methods", §2. Bhandari et al. (2020), "Re-evaluating Evaluation in Text Summarization", §2.5. Kocmi et al. (2021),
    "To Ship or Not to Ship" (pairwise accuracy). Deutsch, Foster & Freitag (2023), "Ties Matter" (acc_eq, calibration).
    Ma et al. (2019), "Results of the WMT19 Metrics Shared Task", §4.2 (its tau). Thompson et al. (2024), "Improving
    Statistical Significance in Human Evaluation of Automatic Metrics via Soft Pairwise Accuracy". Deutsch, Dror & Roth
    (2022), "Re-Examining System-Level Correlations", §3 (``missing="available"``). DiIanni & Deutsch (2025), "Don't
    Sweat the Small Stuff: Segment-Level Meta-Evaluation Based on Pairwise Difference Correlation" (pdp). Kendall
    (1942), "Partial rank correlation". Kim (2015), "ppcor: An R package for a fast calculation to semi-partial
    correlation coefficients".

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> ds.meta.corr("human", metric=["judge", "rouge"]).meta.to_frame(brief=True).round(2)
      metric  correlation
    0  judge         0.93
    1  rouge         0.80
    >>> ds.meta.corr("human", metric="judge", by="system_type").meta.to_frame(brief=True).round(2)
      metric  system_type  correlation
    0  judge  abstractive         0.81
    1  judge   extractive         0.99
    2  judge          all         0.93
    >>> ds.meta.corr("human", metric=["judge", "rouge"], given="length").meta.to_frame(brief=True).round(2)
      metric  correlation
    0  judge         0.93
    1  rouge         0.77
    """
    measure = checked_measure(level, coefficient, missing, undefined)
    check_given(measure.coefficient, given)
    _validate.flag("average", average)
    ready: dict[str, Any] = {"level": level, "missing": measure.missing, "constant": measure.coefficient.of_constants}
    ready |= {"compared_within": measure.compared_within, "these_systems": True}
    scores = schema.prepare(ds, gold, metric, given=given, **ready)
    measure = settled(measure, scores, threshold, calibrate_on, gold, positive)
    record = measure.coefficient
    variables = _correlations(scores.score, scores.human, average, measure)
    variables |= chance.of(scores.score, scores.human, measure, variables["correlation"], average=average)
    if average:
        if "pairs_used" in variables:
            scores.later.make(chance.warn_few, variables["pairs_used"], record)
        why = why_undefined(record, measure.given)
        scores.later.make(checks.warn_undefined, variables["correlation"], *scores.spreads, why)
    attrs = {**measure.attrs, **threshold_attrs(record, calibrate_on)}
    return results.result(variables, scores, analysis="corr", **attrs)


@_validate.public
def metric_corr(
    ds: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    average: bool = True,
    top: int | None = None,
    missing: str = "pairwise",
    undefined: str = "drop",
) -> xr.Dataset:
    """Correlation of each metric with each other metric.

    Parameters
    ----------
    {ds}
    {metric.scores}
    {level}
    {coefficient}
    {average}
    top : int, optional
        Correlate two metrics among the outputs that are, by one of the two at least, among so many best of their input
        (the first of equally good ones); needs ``level="input"``. Each pair has a range of its own, as in the code of
        Peyrard (2019); for one range for all pairs see `scoring_range`.
    {missing}
    {undefined}

    Returns
    -------
    Dataset
        ``correlation(metric, other_metric, ...)``, in [-1, 1], symmetric, and
        ``n_undefined(metric, other_metric, ...)``, how many groups had none. With ``average=False`` ``correlation``
        keeps the dim of the groups, and ``pvalue`` is SciPy's two-sided p-value of each (NaN where SciPy has none).

    Raises
    ------
    ValueError, TypeError
        For an unknown label, dim, level or coefficient, for a `top` at another level than "input", and for scores that
        are not numbers, infinite, or all missing.

    Warns
    -----
    {errors.warned}

    References
    ----------
    Peyrard (2019), "Studying Summarization Evaluation Metrics in the Appropriate Scoring Range", Table 1, correlates
    metrics on the whole range, an average and a high one.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> matrix = ds.meta.metric_corr(metric=["judge", "rouge", "bleu"], level="input", coefficient="kendall")
    >>> matrix.correlation.to_pandas().round(2)
    other_metric  judge  rouge  bleu
    metric
    judge          1.00   0.27  0.18
    rouge          0.27   1.00  0.17
    bleu           0.18   0.17  1.00
    """
    measure = checked_measure(level, coefficient, missing, undefined)
    _validate.flag("average", average)
    check_symmetric(measure.coefficient)
    if top is not None and level != "input":
        raise ValueError(f"top keeps the best outputs of each input and needs level='input', got level={level!r}")
    later = Checks()
    score = schema.prepare_metrics(ds, metric, level=level, later=later)
    measure = replace(measure, coefficient=scale_checks.of_metrics(measure.coefficient, score))
    rows, columns = np.triu_indices(score.sizes["metric"])
    pairs = np.array([rows, columns]).T
    if not measure.own_cells:
        labels = score["metric"].values.tolist()
        later.make(checks.report_gaps_of_pairs, by_metric(facts.presence, [score]), labels, pairs.tolist())
    top = None if top is None else _validate.integer("top", top, 1)
    variables = (_of_pairs if average else _groups_of_pairs)(score, pairs, measure, top)
    pair = results.symmetric(np.arange(len(rows)), pairs, score.sizes["metric"])
    square = results.together(variables).isel(_pair=xr.DataArray(pair, dims=("metric", "other_metric")))
    square = results.labelled(square, score, score)
    return later.attached(results.result(square, score, analysis="metric_corr", top=top, **measure.attrs))


def _of_pairs(score: xr.DataArray, pairs: IntArray, measure: Measure, top: int | None) -> dict[str, xr.DataArray]:
    """The correlation of each pair of metrics, along dim `_pair`."""

    def formula(x: FloatArray, z: None, targets: Any, measure: Measure) -> FloatArray:
        best = {} if top is None else {at: _best(x[at], top) for target in targets for at in target}
        if measure.coefficient.of_pairs is None or measure.level not in GROUPS:
            return np.array([_one_pair(x, target, measure, best) for target in targets]).T
        r, n = long_groups.groups(x, targets, measure, best)
        values = [arrays.average(*each, measure.undefined_as_zero) for each in zip(r, n, strict=True)]
        return np.array([values, _n_undefined(r, n)])

    names = ("correlation", "n_undefined")
    job = Formula(tuple((a, b) for a, b in pairs.tolist()), measure, formula, names)
    types = results.types(names)
    return labelled.over_labels(job, [(score, facts.CORE)], "_pair", types, lazy=facts.is_lazy(score))


def _one_pair(
    x: FloatArray, pair: tuple[int, int], measure: Measure, best: Mapping[int, BoolArray]
) -> tuple[float, float]:
    """The correlation of two metrics, perhaps among their best outputs, and how many groups have none."""
    one, other = (x[metric] for metric in pair)
    if best:
        one = np.where(best[pair[0]] | best[pair[1]], one, np.nan)
    estimator = measure.estimator(one, other)
    r, n = estimator.groups()
    return _value(estimator, r, measure), float(_n_undefined(r, n))


def _value(estimator: Estimator, r: FloatArray, measure: Measure) -> float:
    """The statistic, which at levels of one group is its coefficient, known already."""
    return estimator.value() if measure.level in GROUPS else float(r[0])


def _n_undefined(r: FloatArray, n: FloatArray) -> IntArray:
    """How many groups (..., groups) that have cells have no coefficient."""
    return np.asarray((np.isnan(r) & (n > 0)).sum(axis=-1))


def _best(scores: FloatArray, top: int) -> BoolArray:
    """Where the `top` highest scores (systems, inputs) of each input are."""
    return ranges.best(xr.DataArray(scores, dims=facts.CELLS), top).values


def _groups_of_pairs(
    score: xr.DataArray, pairs: IntArray, measure: Measure, top: int | None
) -> dict[str, xr.DataArray]:
    """As `_of_pairs`, with the correlations of all groups."""
    x, z = _paired(score, pairs)
    if top is not None:
        one, other = _paired(ranges.best(score, top), pairs)
        x = x.where(schema.without_coords(one | other))
    return _correlations(x, schema.without_coords(z), False, measure)


def _paired(values: xr.DataArray, pairs: IntArray) -> list[xr.DataArray]:
    """Values of the one and of the other metric of each pair, along dim `_pair`."""
    if not facts.is_lazy(values):
        picked = (values.isel(metric=xr.DataArray(at, dims="_pair")) for at in pairs.T)
        return [each.drop_vars("metric", errors="ignore") for each in picked]
    da = extras.optional("dask.array", "dask")
    axis, dims = values.get_axis_num("metric"), ["_pair" if dim == "metric" else dim for dim in values.dims]
    single = [values.isel(metric=at).data for at in range(values.sizes["metric"])]
    coords = {name: each for name, each in values.coords.items() if "metric" not in each.dims}
    return [xr.DataArray(da.stack([single[at] for at in side], axis=axis), coords, dims) for side in pairs.T.tolist()]


def _correlations(x: xr.DataArray, z: xr.DataArray, average: bool, measure: Measure) -> dict[str, xr.DataArray]:
    """Point estimates for every pair of score matrices in `x` and `z`, broadcast by name."""
    level, record = measure.level, measure.coefficient
    groups = [] if average or level not in GROUPS else [GROUPS[level]]
    calibrate = record.calibrate

    def each(x: FloatArray, z: FloatArray, threshold: float) -> tuple[Any, ...]:
        here = measure.at(threshold)
        estimator = here.estimator(x, z)
        r, n = estimator.groups()
        left_out = int(_n_undefined(r, n))
        at = () if calibrate is None else (calibrate(estimator, x, z, here),)
        if average:
            return _value(estimator, r, here), left_out, *at
        pvalues = _pvalues(x, z, r, n, measure)
        return (r, np.array(pvalues), left_out, *at) if groups else (r[0], pvalues[0], left_out, *at)

    names = ["correlation", "n_undefined"] if average else ["correlation", "pvalue", "n_undefined"]
    names += [] if calibrate is None else ["threshold"]
    whole = ("n_undefined", "threshold")
    outputs = xr.apply_ufunc(
        each,
        x,
        z,
        along_metrics(record),
        input_core_dims=[facts.CELLS, ["_given", *facts.CELLS] if measure.given else facts.CELLS, []],
        output_core_dims=[[] if name in whole else groups for name in names],
        vectorize=True,
        dask="parallelized",
        output_dtypes=[int if name == "n_undefined" else float for name in names],
        keep_attrs=False,
    )
    found = dict(zip(names, outputs, strict=True))
    if "threshold" in found and average:
        found["threshold"] = found["threshold"].where(found["correlation"].notnull())
    return found


def _pvalues(x: FloatArray, z: FloatArray, r: FloatArray, n: FloatArray, measure: Measure) -> list[float]:
    """The p-value of each group's coefficient."""
    record = measure.coefficient
    if measure.given:
        assert record.partial is not None
        return [record.partial.pvalue(*each, len(measure.given)) for each in zip(r, n, strict=True)]
    return [record.pvalue(*pair) for pair in arrays.vectors(x, z, measure.level, measure.missing)]
