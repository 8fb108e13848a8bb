"""How well does each metric agree with human scores, and with other metrics: `corr` and `metric_corr`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import chance, pooling
from xsumstat.analyses import groups as slices
from xsumstat.analyses import scoring_range as ranges
from xsumstat.analyses.measure import (
    Measure,
    along_metrics,
    check_given,
    check_symmetric,
    checked_measure,
    entrance,
    settled,
    threshold_attrs,
    weighs,
    why_undefined,
)
from xsumstat.coefficients import arrays, bitset_kendall, weighted_pearson
from xsumstat.coefficients.record import Coefficient, Estimator
from xsumstat.core import extras, validate
from xsumstat.core.levels import GROUPS
from xsumstat.core.types import BoolArray, CorrelationFunction, FloatArray, IntArray
from xsumstat.dataset import align, checks, chunking, drawn, facts, labelled, pair_results, results, scale_checks
from xsumstat.dataset import scores as schema
from xsumstat.dataset.value_checks import Checks, by_metric
from xsumstat.resampling.jobs import Formula


@validate.public
@slices.with_groups
@pooling.with_pool(pooling.ESTIMATES)
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
    """Correlation of each metric with the human scores.

    ``ds.meta.corr("human", level="input", coefficient="kendall")`` returns one value for each metric. Intervals: `ci`.

    Parameters
    ----------
    {ds question average by given positive threshold calibrate_on pool missing undefined}

    {dataset}
        On (metric, ...): ``correlation`` in [-1, 1], and ``n_undefined``, the number of inputs (or systems) without a
        correlation. ``average=False`` adds ``pvalue`` (two-sided, as SciPy's), and a dim. "acc_eq" and "tau_eq"
        add ``threshold``. Coefficients of pairs add ``baseline`` and ``baseline_constant``, the scores of a random and
        a constant metric; "kendall_like" adds ``pairs_used``, the share of pairs that count.

    See Also
    --------
    ci, compare_metrics, rank, human_ceiling

    Notes
    -----
    With x_ij and z_ij the metric's and the human score of system i on input j, the levels are "system" ``corr_i(mean_j
    x_ij, mean_j z_ij)``, "input" ``mean_j corr_i(x_ij, z_ij)``, "global" ``corr_ij(x_ij, z_ij)`` and "within_system"
    ``mean_i corr_j(x_ij, z_ij)``. Metrics whose ``higher_is_better`` is False are negated first. At system and input
    level, and for Pearson's r, inputs of `sample_inputs` are weighted by 1 over their probability. Formulas, chance
    values and partial correlations: documentation, "Coefficients". Sources: Deutsch, Dror & Roth (2021), §2. Bhandari
    et al. (2020), §2.5. Kocmi et al. (2021), "To Ship or Not to Ship" (pairwise accuracy). Deutsch, Foster & Freitag
    (2023), "Ties Matter" (acc_eq). Ma et al. (2019), WMT19, §4.2 ("kendall_like"). Thompson et al. (2024) (spa).
    Deutsch, Dror & Roth (2022), §3 (``missing="available"``). DiIanni & Deutsch (2025), "Don't Sweat the Small Stuff"
    (pdp). Kendall (1942). Kim (2015).

    {demo}
    >>> ds.meta.corr("human", metric=["judge", "rouge"]).meta.to_frame(brief=True).round(2)
      metric  correlation
    0  judge         0.93
    1  rouge         0.80
    """
    measure = checked_measure(level, coefficient, missing, undefined)
    check_given(measure.coefficient, given)
    validate.flag("average", average)
    weigh = weighs(measure, given) and (average or measure.level in ("system", "input"))
    scores = schema.prepare(ds, gold, metric, given=given, these_systems=True, weigh=weigh, **entrance(measure))
    measure = settled(measure, scores, threshold, calibrate_on, gold, positive)
    record = measure.coefficient
    variables = _correlations(scores.score, scores.human, average, measure)
    variables |= chance.of(scores.score, scores.human, measure, variables["correlation"], average=average)
    if average:
        if "pairs_used" in variables:
            scores.later.make(chance.warn_few, variables["pairs_used"], record)
        why = why_undefined(record, measure.given)
        scores.later.make(checks.warn_undefined, variables["correlation"], *scores.spreads, why)
    attrs = {**measure.attrs, **threshold_attrs(record, calibrate_on), **drawn.attrs_of(ds, scores.weights)}
    return results.result(variables, scores, analysis="corr", **attrs)


@validate.public
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

    Source: Peyrard (2019), "Studying Summarization Evaluation Metrics in the Appropriate Scoring Range", Table 1.

    Parameters
    ----------
    {ds metric.scores level coefficient average}
    top : int, optional
        Correlate two metrics among the outputs that are this many best of their input by one of the two; needs
        ``level="input"``. For one range for all pairs use `scoring_range`.
    {missing undefined}

    {dataset}
        On (metric, other_metric, ...), symmetric: ``correlation`` in [-1, 1], and ``n_undefined``, the number of inputs
        (or systems) without a correlation. ``average=False`` adds ``pvalue`` (two-sided, as SciPy's), and a dim.

    {demo}
    >>> matrix = ds.meta.metric_corr(metric=["judge", "rouge"], level="input", coefficient="kendall")
    >>> matrix.correlation.values.round(2)
    array([[1.  , 0.27],
           [0.27, 1.  ]])
    """
    measure = checked_measure(level, coefficient, missing, undefined)
    validate.flag("average", average)
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
    if top is not None:
        top = validate.integer("top", top, 1)
        ranges.warn_of_ties(score, top, later)
    variables = (_of_pairs if average else _groups_of_pairs)(score, pairs, measure, top)
    pair = pair_results.symmetric(np.arange(len(rows)), pairs, score.sizes["metric"])
    square = results.together(variables).isel(_pair=xr.DataArray(pair, dims=("metric", "other_metric")))
    square = pair_results.labelled(square, score, score)
    return later.attached(results.result(square, score, analysis="metric_corr", top=top, **measure.attrs))


def _of_pairs(score: xr.DataArray, pairs: IntArray, measure: Measure, top: int | None) -> dict[str, xr.DataArray]:
    def formula(x: FloatArray, z: None, targets: Any, measure: Measure) -> FloatArray:
        best = {} if top is None else {at: _best(x[at], top) for target in targets for at in target}
        if measure.coefficient.of_pairs is None or measure.level not in GROUPS:
            return np.array([_one_pair(x, target, measure, best) for target in targets]).T
        r, n = bitset_kendall.groups(x, targets, measure, best)
        values = [arrays.average(*each, measure.undefined_as_zero) for each in zip(r, n, strict=True)]
        return np.array([values, _n_undefined(r, n)])

    names = ("correlation", "n_undefined")
    job = Formula(tuple((a, b) for a, b in pairs.tolist()), measure, formula, names)
    types = results.types(names)
    return labelled.over_labels(job, [(score, facts.CORE)], "_pair", types, lazy=chunking.is_lazy(score))


def _one_pair(
    x: FloatArray, pair: tuple[int, int], measure: Measure, best: Mapping[int, BoolArray]
) -> tuple[float, float]:
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
    return np.asarray((np.isnan(r) & (n > 0)).sum(axis=-1))


def _best(scores: FloatArray, top: int) -> BoolArray:
    """Where the `top` highest scores (systems, inputs) of each input are."""
    return ranges.best(xr.DataArray(scores, dims=facts.CELLS), top).values


def _groups_of_pairs(
    score: xr.DataArray, pairs: IntArray, measure: Measure, top: int | None
) -> dict[str, xr.DataArray]:
    x, z = _paired(score, pairs)
    if top is not None:
        one, other = _paired(ranges.best(score, top), pairs)
        x = x.where(align.without_coords(one | other))
    return _correlations(x, align.without_coords(z), False, measure)


def _paired(values: xr.DataArray, pairs: IntArray) -> list[xr.DataArray]:
    if not chunking.is_lazy(values):
        picked = (values.isel(metric=xr.DataArray(at, dims="_pair")) for at in pairs.T)
        return [each.drop_vars("metric", errors="ignore") for each in picked]
    da = extras.optional("dask.array", "dask")
    axis, dims = values.get_axis_num("metric"), ["_pair" if dim == "metric" else dim for dim in values.dims]
    single = [values.isel(metric=at).data for at in range(values.sizes["metric"])]
    coords = {name: each for name, each in values.coords.items() if "metric" not in each.dims}
    return [xr.DataArray(da.stack([single[at] for at in side], axis=axis), coords, dims) for side in pairs.T.tolist()]


def _correlations(x: xr.DataArray, z: xr.DataArray, average: bool, measure: Measure) -> dict[str, xr.DataArray]:
    level, record = measure.level, measure.coefficient
    groups = [] if average or level not in GROUPS else [GROUPS[level]]
    calibrate = record.calibrate

    def each(x: FloatArray, z: FloatArray, threshold: float) -> tuple[Any, ...]:
        here = measure.at(threshold)
        estimator = here.estimator(x, z)
        r, n = estimator.groups()
        if here.weights is not None and here.level in ("global", "within_system"):
            r = weighted_pearson.groups(x, z, here)
        left_out = int(_n_undefined(r, n))
        at = () if calibrate is None else (calibrate(estimator, x, z, here),)
        if average:
            value = _value(estimator, r, here) if here.weights is None else here.average(r, n)
            return value, left_out, *at
        pvalues = _pvalues(x, z, r, n, measure)
        return (r, np.array(pvalues), left_out, *at) if groups else (r[0], pvalues[0], left_out, *at)

    names = ["correlation", "n_undefined"] if average else ["correlation", "pvalue", "n_undefined"]
    names += [] if calibrate is None else ["threshold"]
    whole = ("n_undefined", "threshold")
    if average and _plain(x, z):
        found = _at_once(each, x, z, record, names)
    else:
        found = _for_every_label(each, x, z, measure, {name: [] if name in whole else groups for name in names})
    if "threshold" in found and average:
        found["threshold"] = found["threshold"].where(found["correlation"].notnull())
    return found


def _for_every_label(
    each: Callable[..., tuple[Any, ...]],
    x: xr.DataArray,
    z: xr.DataArray,
    measure: Measure,
    dims: Mapping[str, list[str]],
) -> dict[str, xr.DataArray]:
    of_gold = ["_given", *facts.CELLS] if measure.given else facts.CELLS
    inputs: list[Any] = [(x, facts.CELLS), (z, of_gold), (along_metrics(measure.coefficient), [])]
    return labelled.by_label(each, inputs, dims, types={name: _kind(name) for name in dims})


def _plain(x: xr.DataArray, z: xr.DataArray) -> bool:
    """Whether scores are in memory, without further dims, and their coordinates without attrs."""
    if chunking.is_lazy(x) or chunking.is_lazy(z) or x.dims != facts.CORE or z.dims[-2:] != facts.CELLS:
        return False
    coords = (*x.coords.variables.values(), *z.coords.variables.values())
    return set(z.dims) <= {"_given", *facts.CELLS} and not any(each.attrs or each.ndim == 0 for each in coords)


def _at_once(
    each: Callable[..., tuple[Any, ...]],
    x: xr.DataArray,
    z: xr.DataArray,
    record: Coefficient,
    names: Sequence[str],
) -> dict[str, xr.DataArray]:
    """The same as `_for_every_label` without xarray's matching of labels, which dominates a short call."""
    thresholds = np.broadcast_to(along_metrics(record).values, len(x))
    human = z.values
    rows = [each(values, human, at) for values, at in zip(x.values, thresholds, strict=True)]
    columns: dict[str, Any] = {
        name: ("metric", np.array(values, dtype=_kind(name)))
        for name, values in zip(names, zip(*rows, strict=True), strict=True)
    }
    table = xr.Dataset(columns, x["metric"].coords)
    return {name: table[name] for name in names}


def _kind(name: str) -> type:
    return int if name == "n_undefined" else float


def _pvalues(x: FloatArray, z: FloatArray, r: FloatArray, n: FloatArray, measure: Measure) -> list[float]:
    record = measure.coefficient
    if measure.given:
        assert record.partial is not None
        return [record.partial.pvalue(*each, len(measure.given)) for each in zip(r, n, strict=True)]
    return [record.pvalue(*pair) for pair in arrays.vectors(*measure.seen(x, z), measure.level, measure.missing)]
