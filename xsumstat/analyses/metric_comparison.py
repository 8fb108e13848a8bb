"""Which metric is better, and of whom that holds: `compare_metrics`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _validate
from xsumstat.analyses import adjust as corrected
from xsumstat.analyses import analytic_tests, families, metric_tests, pooling
from xsumstat.analyses import groups as slices
from xsumstat.analyses.measure import (
    AUTO,
    Draws,
    check_given,
    checked_measure,
    checked_resample,
    jackknife_holds,
    jackknife_needs,
    random_dims,
    settled,
    threshold_attrs,
    warn_drawn_threshold,
)
from xsumstat.coefficients.record import Measure
from xsumstat.dataset import checks, facts, labelled, metric_pairs, results, value_checks
from xsumstat.dataset import scores as schema
from xsumstat.inference import comparison, corrections, two_correlations
from xsumstat.inference.jackknife import FAR, Estimated, averaged
from xsumstat.resampling.jackknife import Jackknife, estimated
from xsumstat.types import CorrelationFunction, FloatArray

FORMULAS = two_correlations.METHODS
METHODS = ("jackknife", "permutation", "bootstrap", *FORMULAS)
_ORDER = (
    *("difference", "ci_low", "ci_high", "standard_error", "df"),
    *("statistic", "pvalue", "pvalue_adjusted", "significant"),
)
_OF_DRAWS: dict[str, Any] = {"permutation": metric_tests.perm_test, "bootstrap": metric_tests.boot_test}


@_validate.public
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
    threshold: float | xr.DataArray | None = None,
    calibrate_on: xr.Dataset | None = None,
    pool: str | None = None,
    missing: str = "pairwise",
    undefined: str = "drop",
    n_resamples: int = 9999,
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Which of two metrics agrees better with people: difference of correlations, limits and p-value, for all pairs.

    The null hypothesis is that the correlations of two metrics with gold are equal among systems and inputs like these
    (``resample="both"``), or for these very systems on inputs like these ("input"). `resample` decides of whom the
    answer speaks.

    Parameters
    ----------
    {ds}
    {gold}
    {metric.rows}
    {other.columns}
    {level}
    {coefficient}
    method : {"jackknife", "permutation", "bootstrap", "williams", "steiger", "meng", "zou"}, default "jackknife"
        "jackknife" leaves out each system and each input in turn, as `ci` does; it needs no draws. The others are older
        tests: those of `perm_test`, `boot_test` and `corr_test`, each with a null hypothesis of its own.
    {resample.auto}
    {alternative}
    confidence_level : float, default 0.95
        Of the limits; tests are significant at 1 less it.
    adjust : {"holm", "bonferroni", "maxt", "bh", "by"}, default "holm"
        How p-values are corrected for the number of pairs; None: not at all. "maxt" is of draws only.
    within : dim or dims, default ("metric", "other_metric")
        Dims of one family of tests; the correction is done anew for each label of the other dims.
    {by}
    {cluster}
    {given}
    {threshold}
    {calibrate_on}
    {pool}
    {missing}
    {undefined}
    {n_resamples.swaps}
        Of "permutation", and of "bootstrap".
    {rng}
        The jackknife and the formulas need none.
    {progress}

    Returns
    -------
    Dataset
        ``difference``, ``ci_low``, ``ci_high``, ``standard_error``, ``df``, ``pvalue``, ``pvalue_adjusted`` and
        ``significant`` (metric, other_metric, ...); NaN and False where a metric meets itself. Also ``n_undefined``,
        ``bias`` and ``fell_back``, as `ci` has them. ``attrs["scope"]`` is "systems like these" or "these systems".
        Limits are not corrected. The older tests have what theirs have: "permutation" and "bootstrap" no limits, of the
        formulas "zou" alone.

    Raises
    ------
    {errors.draws}
        Also for a correction that is not allowed, and for `resample` with a formula, which has one scope.

    Warns
    -----
    {errors.warned}
        Also when a metric that ``kind`` does not call human equals the gold; when there is no interval, another stands
        in, or it rests on one system (see `ci`); and of ranked system means over inputs alone.

    Notes
    -----
    The interval is that of ``ci(other=...)``: limits of each correlation by the jackknife, joined with the correlation
    of the two (MOVER; Zou 2007). As confidence grows, the limits of a difference do not always part; what counts here
    is the farthest that they have come at any confidence up to the one asked for. With q the least quantile of t at
    which they reach 0, the two-sided p-value is ``2·T(−q)``, so that p ≤ α exactly when the 1 − α interval
    excludes 0; one-sided it is ``T(−q)``, or its complement. It is 1 (one-sided 1/2) where the difference and its
    centre, the difference less its bias, have opposite signs; at least 1e-12; and NaN where two correlations of which
    nothing varies differ.

    ``resample="both"`` holds its level where each metric favours systems of its own, which the tests of swapped cells
    do not: of two metrics that agree equally well with people among all systems, p was at most .05 in 2 to 6 % of sets
    (system, input and global level, 5 to 60 systems; in up to 8 % where single systems lie far out), while
    ``perm_test(resample="both")`` found a difference in 43 to 84 %. Both are right: that test is of these systems.
    "input" is of these systems too, and does not ask metrics to be exchangeable (3 to 7 % of metrics that are equally
    good on them). docs/calibration.md has the measurements.

    References
    ----------
    Zou (2007), Psychological Methods 12. Zou & Donner (2008), Statistics in Medicine 27. Holm (1979), Scandinavian
    Journal of Statistics 6. Deutsch, Dror & Roth (2021), §4.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> found = ds.meta.compare_metrics("human", metric="judge", other=["rouge", "length"], level="input")
    >>> found.meta.to_frame()[["other_metric", "difference", "ci_low", "ci_high", "pvalue_adjusted"]].round(4)
      other_metric  difference  ci_low  ci_high  pvalue_adjusted
    0        rouge      0.2806  0.1782   0.4209           0.0002
    1       length      0.7083  0.3952   1.0368           0.0003
    >>> found.attrs["scope"]
    'systems like these'
    """
    measure = checked_measure(level, coefficient, missing, undefined)
    _validate.choice("method", method, METHODS)
    _validate.choice("alternative", alternative, _validate.ALTERNATIVES)
    confidence_level = _validate.fraction("confidence_level", confidence_level)
    check_given(measure.coefficient, given)
    Draws.checked(n_resamples, rng, progress=progress)
    if adjust is not None:
        _validate.choice("adjust", adjust, corrections.CORRECTIONS)
    within = metric_pairs.DIMS if within is None and adjust is not None else within
    shared: dict[str, Any] = {"metric": metric, "other": other, "level": level, "coefficient": coefficient}
    shared |= {"missing": missing, "undefined": undefined, "alternative": alternative}
    clusters = families.checked(ds, cluster, measure, given, f"method={method!r}" if method in FORMULAS else "")
    if method in _OF_DRAWS:
        drawn: dict[str, Any] = {
            "given": given,
            "threshold": threshold,
            "calibrate_on": calibrate_on,
            "progress": progress,
        }
        drawn |= {"adjust": adjust, "within": within, "n_resamples": n_resamples, "rng": rng}
        if resample != AUTO:
            drawn["resample"] = resample
        drawn |= {name: value for name, value in {"cluster": cluster, "pool": pool}.items() if value is not None}
        return _named(_OF_DRAWS[method](ds, gold, **shared, **drawn), method, confidence_level)
    if adjust == "maxt":
        raise ValueError(f"adjust='maxt' is made from draws, and method={method!r} has none; use adjust='holm'")
    if method != "jackknife":
        refused = {"given": given, "threshold": threshold, "calibrate_on": calibrate_on, "pool": pool}
        _check_formula(method, resample, refused)
        found = analytic_tests.corr_test(ds, gold, method=method, confidence_level=confidence_level, **shared)
        return _named(_corrected(found, adjust, within), method, confidence_level)
    dims = checked_resample(resample, measure, layers=False, auto=True)
    if "cell" in dims:
        raise ValueError("resample='cell' needs method='bootstrap': the jackknife leaves out systems and inputs")
    ready: dict[str, Any] = {"level": level, "missing": measure.missing, "given": given}
    ready |= {"compared_within": measure.compared_within, "constant": measure.coefficient.of_constants}
    ready["these_systems"] = None if resample == AUTO else dims == ("input",)
    shown: dict[str, Any] = {"alternative": alternative, "confidence_level": confidence_level}
    if pool is not None:
        asked = {**shared, "given": given, "threshold": threshold, "calibrate_on": calibrate_on, "cluster": cluster}
        pooling.check(ds, pool, asked)
        few = ds.sizes["system"] < facts.ENOUGH_SYSTEMS
        dims = ("input",) if resample == AUTO and few else dims
        ready["these_systems"] = dims == ("input",)
        found = _pooled(ds, gold, pool, metric, other, ready, _Comparison((), measure, dims, **shown))
        return _named(_corrected(found, adjust, within), method, confidence_level)
    scores, pairs = metric_pairs.prepare(ds, gold, metric, other, **ready)
    measure = settled(measure, scores, threshold, calibrate_on, gold)
    warn_drawn_threshold(measure, scores.shape)
    dims = random_dims(resample, dims, scores.shape)
    checks.warn_few_differences(scores.score, scores.gold, level)
    checks.check_resampled(scores.score, dims)
    corrected.check_correction(adjust, within, metric_pairs.dims(scores))
    of_scores = families.of_scores(scores, clusters, dims)
    job = _Comparison(pairs, measure, dims, clusters=of_scores, **shown)
    by_pair = labelled.run(job, scores, "_pair", results.types(job.names), progress=progress)
    resting = by_pair.pop("rests_on")
    found = metric_pairs.laid_out(by_pair, pairs, scores)
    _warn(found, by_pair["difference"], resting, pairs, scores, measure, dims)
    attrs = {**measure.attrs, **threshold_attrs(measure.coefficient, calibrate_on)}
    how: dict[str, Any] = {**shown, "resample": dims, "cluster": families.attr(cluster)}
    found = results.result(found, scores, analysis="compare_metrics", method=method, **how, **attrs)
    return _named(_corrected(found, adjust, within), method, confidence_level)


@dataclass(frozen=True)
class _Comparison(Jackknife):
    """Each pair's difference, its limits and p-values, by leaving out systems and inputs."""

    alternative: str = "two-sided"

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """The numbers of each pair."""
        of_pair = ("difference", "ci_low", "ci_high", "standard_error", "df", "n_undefined", "bias", "fell_back")
        return (*of_pair, "forward", "backward", "rests_on")

    def ready(self, at: slice, x: FloatArray, z: FloatArray, *beside: Any) -> FloatArray:
        """The numbers of the pairs, as there is nothing to draw."""
        found = estimated(x, z, self.targets[at], self.measure, self.dims, self.clusters)
        return np.array([self.numbers(*each) for each in found], dtype=float).T

    def numbers(self, each: Estimated, undefined: int, resting: int) -> tuple[float, ...]:
        """Those of `names` of one difference."""
        low, high, *pvalues = comparison.compared(each, self.confidence_level, self.alternative)
        known = each.standard_error, each.df, undefined, each.bias, each.fell_back
        return (each.estimate, low, high, *known, *pvalues, resting)


def _pooled(
    ds: xr.Dataset, gold: Any, pool: str, metric: Any, other: Any, ready: dict[str, Any], job: _Comparison
) -> xr.Dataset:
    """The differences of all labels of a dim as one: averages by their numbers of pairs of systems."""
    by_label, weights = [], []
    later = value_checks.Checks()
    for at, label in enumerate(ds.indexes[pool] if pool in ds.indexes else range(ds.sizes[pool])):
        part, human = pooling.of_label(ds, gold, pool, at)
        scores, pairs = pooling.answer(
            lambda: metric_pairs.prepare(part, human, metric, other, **ready),  # noqa: B023
            f"{pool}={label!r}",
            later,
        )
        if scores.further or facts.is_lazy(scores.score):
            raise ValueError(
                f"pool={pool!r} needs method='permutation' or 'bootstrap' where scores are lazy or have other further "
                f"dims than {pool!r}; or select one label of each, and ds.load()"
            )
        x, z = (
            scores.score.transpose("metric", "system", "input").values,
            scores.gold.transpose("system", "input").values,
        )
        by_label.append([each for each, *_ in estimated(x, z, pairs, job.measure, job.dims)])
        there = ~np.isnan(x) & ~np.isnan(z)
        sizes = [int((there[one] & there[two]).any(axis=1).sum()) for one, two in pairs]
        weights.append([size * (size - 1) / 2 for size in sizes])
    shares = np.array(weights) / np.maximum(np.sum(weights, axis=0), 1)
    whole = [averaged(each, share) for each, share in zip(zip(*by_label, strict=True), shares.T, strict=True)]
    numbers = np.array([job.numbers(each, 0, -1) for each in whole], dtype=float).T
    types = results.types(job.names)
    by_pair = {
        name: xr.DataArray(row.astype(types[name]), dims="_pair")
        for name, row in zip(job.names, numbers, strict=True)
        if name != "rests_on"
    }
    found = metric_pairs.laid_out(by_pair, pairs, scores)
    how = {"alternative": job.alternative, "confidence_level": job.confidence_level, "resample": job.dims, "pool": pool}
    sizes_of_all = {f"n_{dim}s": ds.sizes[dim] for dim in facts.CELLS}
    settings = {**how, **sizes_of_all, **job.measure.attrs}
    result = results.result(found, scores, analysis="compare_metrics", method="jackknife", **settings)
    return later.attached(result)


def _corrected(found: xr.Dataset, adjust: str | None, within: Any) -> xr.Dataset:
    return corrected.adjusted(found, adjust, within)


def _named(found: xr.Dataset, method: str, confidence_level: float) -> xr.Dataset:
    """A test as `compare_metrics` gives it: what is significant, and of whom it speaks."""
    alpha = round(1 - confidence_level, 12)
    pvalue = corrected.decisive(found)
    significant = xr.Variable(pvalue.dims, pvalue.data <= alpha)
    attrs = {"analysis": "compare_metrics", "method": method, "confidence_level": confidence_level, "alpha": alpha}
    found = found.assign(significant=significant).assign_attrs(attrs)
    first = [name for name in _ORDER if name in found]
    return results.described(found[[*first, *(name for name in found.data_vars if name not in first)]])


def _check_formula(method: str, resample: Any, refused: dict[str, Any]) -> None:
    """A formula has one scope, and knows of single correlations only."""
    if not (isinstance(resample, str) and resample == AUTO):
        raise ValueError(
            f"resample={resample!r} is of methods that resample, and method={method!r} is a formula, which speaks of "
            "new members of what is correlated; leave resample out"
        )
    for name, value in refused.items():
        if value is not None:
            raise ValueError(f"{name} does not go with method={method!r}; use method='jackknife'")


def _warn(
    found: xr.Dataset,
    difference: xr.DataArray,
    resting: xr.DataArray,
    pairs: Sequence[tuple[int, ...]],
    scores: schema.Scores,
    measure: Measure,
    dims: tuple[str, ...],
) -> None:
    """Say what is undefined, where there are no limits, where others stand in, and what rests on one system."""
    metric_pairs.warn_undefined(difference, pairs, scores)
    if measure.coefficient.leave_one_out is not None and not jackknife_holds(measure, dims):
        _validate.warn(
            "over inputs alone the jackknife of ranked system means finds a difference of equally good metrics in up "
            "to 10 % of sets of scores, not 5, and its intervals hold the true one in about 80 %, not 95; "
            "method='permutation' holds its level",
            "too_short",
        )
    later = scores.later
    message = f"no jackknife interval, which needs {jackknife_needs(measure, dims)}, for"
    later.make(checks.warn_without_limits, found["difference"], found["ci_low"], message)
    later.make(checks.warn_where, found["fell_back"], checks.FELL_BACK["jackknife"], "fell_back")
    labels = scores.score["metric"].values.tolist()
    names = [" and ".join(str(labels[at]) for at in pair) for pair in pairs]
    systems = checks.labels_of(scores.score, "system")
    later.make(checks.warn_resting, resting, names, systems, measure.coefficient.name, FAR)
