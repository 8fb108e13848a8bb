"""Tests by a formula whether two correlations with the human scores are equal: `corr_test`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses.measure import Measure, check_symmetric, checked_measure, entrance, why_undefined
from xsumstat.coefficients.pairs import correlations, estimators
from xsumstat.coefficients.record import Coefficient, Estimator
from xsumstat.core import arguments, validate
from xsumstat.core.levels import GROUPS
from xsumstat.core.types import TOLERANCE, CorrelationFunction, FloatArray, Pair
from xsumstat.dataset import checks, few_systems, labelled, metric_pairs, pair_results, results
from xsumstat.dataset import scores as schema
from xsumstat.inference import signed_ranks, two_correlations
from xsumstat.inference.intervals import normal_quantile
from xsumstat.resampling.jobs import Formula

METHODS = (*two_correlations.METHODS, "wilcoxon")


@validate.public
def corr_test(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    other: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    method: str = "williams",
    against: float | None = None,
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    missing: str = "pairwise",
    undefined: str = "drop",
) -> xr.Dataset:
    """Test by a formula whether two metrics correlate equally with human scores.

    Parameters
    ----------
    {ds pairs}
    method : {"williams", "steiger", "meng", "zou", "wilcoxon"}, default "williams"
        "wilcoxon" is the signed-rank test of the correlations on single inputs (or, at within_system level, systems).
    against : float, optional
        Test each metric's correlations against this value, e.g. 0, instead of another metric's. Needs "wilcoxon".
    {alternative}
    confidence_level : float, default 0.95
        Confidence level of the interval by "zou".
    {missing undefined}

    {dataset}
        On (metric, other_metric, ...): ``difference``, ``statistic`` (with the sign of the difference) and ``pvalue``;
        NaN for fewer than 4 values. "zou" adds ``ci_low`` and ``ci_high``, "wilcoxon" ``n_undefined``, the
        number of inputs (or systems) without a correlation. `against` gives ``correlation`` on (metric, ...) and no
        ``difference``.

    Notes
    -----
    Null hypothesis: both correlations with the human scores are equal. Scope: systems like these on these inputs
    (system and input level), inputs like these (within_system), outputs (global); for "wilcoxon" these systems on
    inputs like these (within_system: systems like these on these inputs). The formulas assume jointly normal scores and
    Pearson's r; use them at system level only. "wilcoxon" tests whether the differences are symmetric about 0; it
    leaves out differences of 0, and is exact for at most 50 inputs (13 with ties or zeros). Formulas: documentation,
    "How intervals and tests are computed"; sizes: "Calibration". Sources: Deutsch, Dror & Roth (2021), §4.1. Williams
    (1959). Steiger (1980). Meng et al. (1992). Zou (2007).

    {demo}
    >>> ds.meta.corr_test("human", metric="judge", other=["rouge", "length"]).pvalue.values.round(3)
    array([[0.131, 0.006]])
    """
    measure = checked_measure(level, coefficient, missing, undefined)
    check_symmetric(measure.coefficient)
    if measure.coefficient.scale is not None:
        raise ValueError(
            f"the formulas are for correlations, which coefficient={measure.coefficient.name!r} is not; use "
            "compare_metrics"
        )
    validate.choice("method", method, METHODS)
    if method == "wilcoxon" and level not in GROUPS:
        raise ValueError(
            "method='wilcoxon' tests correlations on single inputs, or with single systems, and needs level='input' or "
            f"'within_system', got level={level!r}"
        )
    validate.choice("alternative", alternative, validate.ALTERNATIVES)
    confidence_level = validate.fraction("confidence_level", confidence_level)
    ready = entrance(measure)
    if against is not None:
        against = _checked_value(against, method, other, measure.coefficient)
        scores = schema.prepare(ds, gold, metric, **ready)
        found = _of_values(scores, against, alternative, measure)
        scores.later.make(
            checks.warn_undefined, found["correlation"], *scores.spreads, why_undefined(measure.coefficient)
        )
        own = {"method": method, "against": against, "alternative": alternative}
        return results.result(found, scores, analysis="corr_test", **own, **measure.attrs)
    scores, tested = metric_pairs.prepare(ds, gold, metric, other, **ready)
    if method == "wilcoxon":
        by_pair = _of_ranks(scores, tested, alternative, measure)
    else:
        checks.warn_of_formula("corr_test", level, scores.shape, f"compare_metrics({arguments.given('level', level)})")
        by_pair = _analytic(scores, tested, method, alternative, normal_quantile(confidence_level), measure)
    too_few = method != "wilcoxon" and few_systems.warn_without_test(scores, level, method)
    pair_results.warn_undefined(by_pair["difference" if too_few else "statistic"], tested, scores)
    attrs = {"confidence_level": confidence_level} if method == "zou" else {}
    return results.result(
        pair_results.laid_out(by_pair, tested, scores),
        scores,
        analysis="corr_test",
        method=method,
        alternative=alternative,
        **measure.attrs,
        **attrs,
    )


def _checked_value(against: Any, method: str, other: Any, coefficient: Coefficient) -> float:
    if method != "wilcoxon":
        raise ValueError(f"against={validate.given(against)} needs method='wilcoxon', got method={method!r}")
    if other is not None:
        raise ValueError("against tests each metric alone, and other names metrics to compare with; use one of them")
    if isinstance(against, str) or not np.isscalar(against):
        raise TypeError(
            f"against must be a number, got {validate.given(against)}; other= names metrics to compare with"
        )
    return validate.number("against", against, *coefficient.bounds)


def _of_values(scores: schema.Scores, against: float, alternative: str, measure: Measure) -> dict[str, xr.DataArray]:
    """The signed-rank test of each metric's correlations against a value."""
    names = ("correlation", "statistic", "pvalue", "n_undefined")

    def formula(x: FloatArray, z: FloatArray, targets: Any, measure: Measure) -> FloatArray:
        ready, places = estimators(x, z, targets, measure)
        return np.array([_against(ready[at], against, alternative, measure) for (at,) in places]).T

    targets = tuple((at,) for at in scores.rows)
    return labelled.run(Formula(targets, measure, formula, names), scores, "metric", results.types(names))


def _analytic(
    scores: schema.Scores,
    pairs: tuple[Pair, ...],
    method: str,
    alternative: str,
    reach: float,
    measure: Measure,
) -> dict[str, xr.DataArray]:
    names = ("difference", "statistic", "forward", "backward", *["ci_low", "ci_high"] * (method == "zou"))

    def formula(x: FloatArray, z: FloatArray, targets: Any, measure: Measure) -> tuple[FloatArray, ...]:
        r_1, r_2, r_3, n = correlations(x, z, targets, measure)
        value = two_correlations.statistic(method, r_1, r_2, r_3, n)
        tails = (two_correlations.pvalue(method, turned, n, alternative) for turned in (value, -value))
        limits = two_correlations.zou_interval(r_1, r_2, r_3, n, reach) if method == "zou" else ()
        return r_1 - r_2, value, *tails, *limits

    return labelled.run(Formula(pairs, measure, formula, names), scores, "_pair", results.types(names))


def _of_ranks(
    scores: schema.Scores, pairs: tuple[Pair, ...], alternative: str, measure: Measure
) -> dict[str, xr.DataArray]:
    names = ("difference", "statistic", "forward", "backward", "n_undefined")

    def formula(x: FloatArray, z: FloatArray, targets: Any, measure: Measure) -> FloatArray:
        ready, places = estimators(x, z, targets, measure)
        return np.array([_signed_ranks(ready[a], ready[b], alternative, measure) for a, b in places]).T

    return labelled.run(Formula(pairs, measure, formula, names), scores, "_pair", results.types(names))


def _against(one: Estimator, value: float, alternative: str, measure: Measure) -> tuple[float, float, float, int]:
    """Correlation, sum of signed ranks, p-value, and how many groups have an undefined correlation."""
    r, n = one.groups()
    undefined = np.isnan(r) & (n > 0)
    r = np.where(undefined, 0.0, r) if measure.undefined_as_zero else r
    statistic, pvalue, _ = _ranks_of(r[~np.isnan(r)] - value, alternative)
    return one.value(), statistic, pvalue, int(undefined.sum())


def _signed_ranks(
    first: Estimator, second: Estimator, alternative: str, measure: Measure
) -> tuple[float, float, float, float, int]:
    """Difference, sum of signed ranks, the two p-values, and how many groups have an undefined correlation."""
    (r_1, n), (r_2, _) = first.groups(), second.groups()
    difference, filled = first.value() - second.value(), n > 0
    undefined = np.isnan(r_1 + r_2) & filled
    if measure.undefined_as_zero:
        r_1, r_2 = (np.where(np.isnan(each) & filled, 0.0, each) for each in (r_1, r_2))
    apart = r_1 - r_2
    return difference, *_ranks_of(apart[~np.isnan(apart)], alternative), int(undefined.sum())


def _ranks_of(differences: FloatArray, alternative: str) -> tuple[float, float, float]:
    if not len(differences):
        return np.nan, np.nan, np.nan
    ranks, tied = signed_ranks.ranked(differences[None], np.array([TOLERANCE]))
    if not ranks.any():
        return 0.0, 1.0, 1.0
    (forward,), (backward,) = signed_ranks.pvalues(ranks, tied, alternative)
    return float(ranks.sum()), float(forward), float(backward)
