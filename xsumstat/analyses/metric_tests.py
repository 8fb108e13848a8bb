"""Is one metric really better than another: `perm_test` and `boot_test`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import adjust as families
from xsumstat.analyses import clustering, pair_tests, pooling
from xsumstat.analyses import groups as slices
from xsumstat.analyses.measure import (
    Draws,
    check_given,
    checked_dims,
    checked_measure,
    entrance,
    random_dims,
    settled,
    these_systems,
    threshold_attrs,
    warn_drawn_threshold,
)
from xsumstat.analyses.pair_tests import Correction
from xsumstat.coefficients import ties
from xsumstat.coefficients.record import Coefficient
from xsumstat.core import arguments, validate
from xsumstat.core.levels import GROUPS
from xsumstat.core.types import CorrelationFunction
from xsumstat.dataset import checks, facts, metric_pairs, near_copies, pair_results
from xsumstat.resampling.permutation import PairTests
from xsumstat.resampling.plans import DecisionPlan, DrawPlan, SwapPlan

# Measured by benchmarks/sizes.py.
_FOUND = "13.5 to 28.5 %"


@validate.public
@slices.with_groups
@pooling.with_pool(pooling.SWAPS)
def perm_test(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    other: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    method: str = "permutation",
    resample: str | tuple[str, ...] | None = None,
    crossed: bool = False,
    swap: str | None = None,
    alternative: str = "two-sided",
    adjust: str | None = None,
    within: str | Iterable[str] | None = None,
    n_resamples: int = 9999,
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
    """Test by permutation whether two metrics are exchangeable on these systems.

    ``ds.meta.perm_test("human", level="input")`` tests all pairs. To generalise to other systems use `compare_metrics`.

    Parameters
    ----------
    {ds pairs}
    method : {"permutation", "analytic", "auto"}, default "permutation"
        "analytic" computes the p-value of rank coefficients without sampling; "auto" does so where that is exact.
    resample : {"both", "system", "input"} or tuple of dims, optional
        Swap the scores of each output separately ("both", the default), of an input together ("input"), or of a system
        together ("system"). Only "system" generalises to systems like these; "both" does not, unlike in `ci`.
    {crossed swap tests n_resamples.swaps options samples}

    {dataset}
        On (metric, other_metric, ...), NaN on the diagonal: ``difference``, ``pvalue``, ``pvalue_adjusted``,
        ``n_undefined`` (swaps left out) and, by method, ``exact``. ``attrs["exact"]`` is 1 if all swaps were listed.

    See Also
    --------
    compare_metrics, boot_test, corr_test

    Notes
    -----
    Null hypothesis: each swapped unit could have had either metric's score. It is often rejected for metrics that are
    equally good in general but favour different systems. Sizes: "Calibration". Source: Deutsch et al. (2021), §4.2.

    {demo}
    >>> test = ds.meta.perm_test("human", metric="judge", other="rouge", level="input", rng=1)
    >>> test[["difference", "pvalue"]].squeeze(drop=True).to_array().round(4).values.tolist()
    [0.2806, 0.0001]
    """
    return prepared_perm_test(
        ds, gold, metric=metric, other=other, level=level, coefficient=coefficient, method=method, resample=resample,
        crossed=crossed, swap=swap, alternative=alternative, adjust=adjust, within=within, n_resamples=n_resamples,
        given=given, threshold=threshold, calibrate_on=calibrate_on, missing=missing, undefined=undefined, rng=rng,
        cluster=cluster, keep_samples=keep_samples, progress=progress, positive=positive,
    )()  # fmt: skip


def prepared_perm_test(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None,
    level: str,
    coefficient: str | CorrelationFunction,
    resample: str | tuple[str, ...] | None,
    crossed: bool,
    swap: str | None,
    alternative: str,
    adjust: str | None,
    within: str | Iterable[str] | None,
    n_resamples: int,
    given: str | xr.DataArray | Sequence[str | xr.DataArray] | None,
    threshold: float | xr.DataArray | None,
    calibrate_on: xr.Dataset | None,
    missing: str,
    undefined: str,
    rng: int | np.random.SeedSequence | np.random.Generator | None,
    progress: bool | None,
    other: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    method: str = "permutation",
    keep_samples: bool = False,
    cluster: str | tuple[str, ...] | None = None,
    alpha: float = families.USUAL_LEVEL,
    positive: float | str | Sequence[float | str] | None = None,
) -> Callable[[], xr.Dataset]:
    """`perm_test`, checked up to the first swap; calling it gives the result."""
    measure = checked_measure(level, coefficient, missing, undefined)
    record = measure.coefficient
    check_given(record, given)
    validate.flag("crossed", crossed)
    by_decisions = _decided(swap, record, level, resample, crossed or cluster is not None)
    if resample is None:
        resample = GROUPS[level] if by_decisions and swap is None else "both"
    dims = validate.dims("resample", resample)
    if crossed and len(dims) < 2:
        raise ValueError(f"crossed=True swaps over both dims and needs resample='both', got {resample!r}")
    validate.choice("alternative", alternative, validate.ALTERNATIVES)
    validate.choice("method", method, ("permutation", "analytic", "auto"))
    draws = Draws.checked(n_resamples, rng, keep_samples=keep_samples, progress=progress, least=1)
    if by_decisions:
        _check_decisions(resample, dims, crossed, level)
    refused = "swap='decisions'" if by_decisions else f"method={method!r}" if method != "permutation" else ""
    clusters = clustering.checked(cluster, measure, given, refused)
    ready: dict[str, Any] = {**entrance(measure), "given": given}
    ready["these_systems"] = dims != ("system",)  # swaps of cells are of these, too
    scores, tested = metric_pairs.prepare(ds, gold, metric, other, **ready)
    measure = settled(measure, scores, threshold, calibrate_on, gold, positive)
    if by_decisions:
        ties.check_number(scores.shape, level, measure.coefficient)
        _warn_of_decisions(dims, level)
    else:
        checks.check_resampled(scores, dims)
    if dims == ("system",):
        near_copies.check(scores, dims, clusters)
    families.check_correction(adjust, within, pair_results.dims(scores))
    plan = (
        DecisionPlan.of(scores.shape, level, len(dims) == 1, draws.n_resamples, draws.seed)
        if by_decisions
        else SwapPlan.of(
            *(scores.shape, dims, crossed, draws.n_resamples, draws.seed),
            clusters=clustering.of_scores(scores.score, clusters, facts.CELLS),
        )
    )
    if method != "permutation":
        pair_tests.check_computed(method, measure, plan, draws, adjust)
    if plan.exact and method != "analytic":
        _warn_of_few_ways(plan.n_resamples, crossed and len(dims) == 2, alternative, dims)
    attrs = {**measure.attrs, **threshold_attrs(measure.coefficient, calibrate_on)}
    correction = Correction(adjust, within)
    if method == "permutation":
        about = {"analysis": "perm_test", "alternative": alternative}
        pair_tests.check_resamples(scores, plan, correction, alpha=alpha, **about)
    return functools.partial(
        pair_tests.resampled if method == "permutation" else pair_tests.computed,
        scores,
        PairTests(tested, plan, alternative, measure),
        correction,
        draws,
        analysis="perm_test",
        method=method,
        resample=dims,
        crossed=crossed,
        swap="decisions" if by_decisions else "scores",
        cluster=clusters or None,
        alternative=alternative,
        **attrs,
    )


def _decided(swap: Any, record: Coefficient, level: str, resample: Any, of_scores: bool) -> bool:
    if swap is None:
        group = GROUPS.get(level) if record.swapped_decisions is not None and not of_scores else None
        return group is not None and (resample is None or validate.dims("resample", resample) == (group,))
    if validate.choice("swap", swap, ("scores", "decisions")) == "decisions" and record.swapped_decisions is None:
        raise ValueError(f"swap='decisions' needs coefficient='acc_eq' or 'tau_eq', got {record.name!r}")
    return bool(swap == "decisions")


def _warn_of_few_ways(ways: int, crossed: bool, alternative: str, dims: tuple[str, ...]) -> None:
    """Warn where no p-value of all swaps can be significant: each has an opposite, and crossed ones come twice."""
    alike = (2 if alternative == "two-sided" else 1) * (2 if crossed else 1)
    if alike / ways <= families.USUAL_LEVEL:
        return
    way = "use resample='both'" if len(dims) == 1 else "use more systems or inputs"
    validate.warn(
        f"there are only {ways} ways to swap: no p-value can be below {alike / ways:.3g}, so no difference can be "
        f"significant at {families.USUAL_LEVEL:g}; {way}",
        "few_resamples",
    )


def _warn_of_decisions(dims: tuple[str, ...], level: str) -> None:
    if len(dims) > 1:
        group = GROUPS.get(level)
        instead = "swap='scores'" if group is None else f"resample={group!r}, the default, or swap='scores'"
        validate.warn(
            "swapping single decisions ignores that decisions share outputs: the test is liberal (at .05 it found "
            f"a difference of equally good metrics in {_FOUND} of simulated scores at input level); "
            f"use {instead} (see perm_test)",
            "decisions_swapped",
        )


def _check_decisions(resample: Any, dims: tuple[str, ...], crossed: bool, level: str) -> None:
    group = GROUPS.get(level)
    if len(dims) == 1 and dims[0] != group:
        allowed = "'both'" if group is None else f"'both' or {group!r}"
        raise ValueError(
            f"{arguments.name('resample')} must be {allowed} where decisions are swapped at level={level!r}, "
            f"got {resample!r}"
        )
    if crossed:
        raise ValueError("crossed=True applies to swaps of scores; a decision involves two outputs")


@validate.public
@slices.with_groups
@pooling.with_pool(pooling.DRAWS)
def boot_test(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    other: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    resample: str | tuple[str, ...] = "auto",
    alternative: str = "two-sided",
    adjust: str | None = None,
    within: str | Iterable[str] | None = None,
    n_resamples: int = 9999,
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
    """Test by bootstrap whether two metrics correlate equally with human scores.

    Parameters
    ----------
    {ds pairs resample.auto tests n_resamples options samples}

    {dataset}
        On (metric, other_metric, ...), NaN on the diagonal: ``difference``, ``pvalue``, ``pvalue_adjusted`` (with
        `adjust`) and ``n_undefined``, undefined resamples, which are left out.

    Notes
    -----
    Null hypothesis: both correlations are equal. `resample` sets the scope. Unlike `perm_test` it does not assume
    exchangeable metrics, but it has less power, and is very conservative for metrics that differ only by noise.
    `compare_metrics` has a better size. ``p = (1 + #{δ_s − δ ≥ δ})/(k + 1)`` for "greater". Sizes: documentation,
    "Calibration". Source: Deutsch, Dror & Roth (2021), §4.1 and §5.2.

    {demo}
    >>> test = ds.meta.boot_test("human", metric="judge", other="rouge", level="input", rng=1)
    >>> test.meta.to_frame(brief=True).round(4)
      metric other_metric  pvalue  difference
    0  judge        rouge  0.0013      0.2806
    """
    measure = checked_measure(level, coefficient, missing, undefined)
    check_given(measure.coefficient, given)
    dims = checked_dims(resample)
    validate.choice("alternative", alternative, validate.ALTERNATIVES)
    draws = Draws.checked(n_resamples, rng, keep_samples=keep_samples, progress=progress)
    clusters = clustering.checked(cluster, measure, given)
    ready: dict[str, Any] = {**entrance(measure), "given": given, "these_systems": these_systems(resample, dims)}
    scores, tested = metric_pairs.prepare(ds, gold, metric, other, **ready)
    measure = settled(measure, scores, threshold, calibrate_on, gold, positive)
    warn_drawn_threshold(measure, scores.shape)
    dims = random_dims(resample, dims, scores.shape)
    checks.check_resampled(scores, dims)
    families.check_correction(adjust, within, pair_results.dims(scores))
    near_copies.check(scores, dims, clusters)
    of_scores = clustering.of_scores(scores.score, clusters, dims, drawn=True)
    plan = DrawPlan(scores.shape, dims, draws.n_resamples, draws.seed, clusters=of_scores)
    attrs = {**measure.attrs, **threshold_attrs(measure.coefficient, calibrate_on)}
    correction = Correction(adjust, within)
    pair_tests.check_resamples(scores, plan, correction, analysis="boot_test", alternative=alternative)
    return pair_tests.resampled(
        scores,
        PairTests(tested, plan, alternative, measure),
        correction,
        draws,
        analysis="boot_test",
        method="bootstrap",
        resample=dims,
        cluster=clusters or None,
        alternative=alternative,
        **attrs,
    )
