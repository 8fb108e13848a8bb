"""Metrics in order, in clusters that significant differences separate: `rank`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from xsumstat.analyses import correlation, metric_comparison, metric_tests
from xsumstat.analyses import groups as slices
from xsumstat.analyses.adjust import decisive
from xsumstat.analyses.measure import AUTO, Draws
from xsumstat.catalogue.variables import CHANCE
from xsumstat.core import validate
from xsumstat.core.types import CorrelationFunction, FloatArray
from xsumstat.dataset import chunking, labelled, pair_results, results, value_checks
from xsumstat.inference import corrections


@validate.public
@slices.with_groups
def rank(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    method: str | None = None,
    resample: str | tuple[str, ...] = "auto",
    crossed: bool = False,
    swap: str | None = None,
    adjust: str | None = "holm",
    alpha: float = 0.05,
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
    progress: bool | None = None,
) -> xr.Dataset:
    """Rank metrics by their correlation with human scores, in clusters.

    ``ds.meta.rank("human", level="input")`` separates clusters by significant differences (`compare_metrics`).

    Parameters
    ----------
    {ds question}
    method : {"jackknife", "permutation"}, optional
        "jackknife" uses `compare_metrics`, "permutation" one-sided tests by `perm_test` on these systems. Default
        "jackknife", or "permutation" with `crossed`, `swap` or ``adjust="maxt"``.
    {resample.auto}
        With "permutation": what is swapped, single scores by default.
    {crossed swap adjust.pairs alpha.beats n_resamples.swaps options rng progress}

    {dataset}
        On (metric, ...), in order: ``correlation``, ``rank`` (1 is best; equal ones share it) and ``cluster`` (1 is
        best); 0 without a correlation. Additional variables are those of `corr`.

    Notes
    -----
    From the best down, a metric starts a new cluster if some member of the current cluster beats it: it correlates
    better, with p ≤ alpha. Differences within a cluster are not significant; this does not show that the metrics are
    equally good. `resample` sets the scope. ``method="permutation", adjust=None`` is WMT's rule. Sources: Freitag et
    al. (2021), "Results of the WMT21 metrics shared task". Deutsch, Dror & Roth (2021), §6.2.

    {demo}
    >>> ds.meta.rank("human", metric=["judge", "rouge", "bleu"], level="input").cluster.to_series().to_dict()
    {'judge': 1, 'rouge': 2, 'bleu': 3}
    """
    alpha = validate.fraction("alpha", alpha)
    Draws.checked(n_resamples, rng, progress=progress, least=1)
    crossed = validate.flag("crossed", crossed)
    method = _method(method, crossed=crossed, swap=swap, adjust=adjust)
    if adjust is not None:
        validate.choice("adjust", adjust, corrections.CORRECTIONS)
    shared: dict[str, Any] = {"level": level, "coefficient": coefficient, "missing": missing, "undefined": undefined}
    shared |= {"threshold": threshold, "calibrate_on": calibrate_on, "given": given, "metric": metric}
    shared["positive"] = positive
    how: dict[str, Any] = {"adjust": adjust, "within": adjust and pair_results.DIMS, "progress": progress, **shared}
    how["cluster"] = cluster
    before = value_checks.Held()
    run: Callable[[], xr.Dataset]
    if method == "jackknife":
        run = functools.partial(
            metric_comparison.compare_metrics,
            ds,
            gold,
            resample=resample,
            pool=pool,
            confidence_level=1 - alpha,
            **how,
        )
    else:
        how |= {"resample": None if resample == AUTO else resample, "crossed": crossed, "swap": swap}
        how |= {"alternative": "greater", "n_resamples": n_resamples, "rng": rng}
        if pool is None:  # what is known before the first swap is said before it
            with value_checks.held() as before:
                run = metric_tests.prepared_perm_test(ds, gold, alpha=alpha, **how)
        else:
            run = functools.partial(metric_tests.perm_test, ds, gold, pool=pool, **how)
    for text in dict.fromkeys(before.caveats):
        validate.warn(text)
    with value_checks.held() as of_test:
        test = run()
    with value_checks.held() as of_single:
        single = correlation.corr(ds, gold, pool=pool, **shared)
    for text in dict.fromkeys([*of_test.caveats, *of_single.caveats]):
        if text not in before.caveats:
            validate.warn(text)
    later = value_checks.Checks()
    later.take(value_checks.each_once, before.checks, of_test.checks, of_single.checks)
    inputs = [(single["correlation"], ["metric"]), (_of_better(test), pair_results.DIMS)]
    ranks = in_order(lambda r, pvalue: ranked(r, pvalue, alpha), inputs, "metric")
    kept = [name for name in ("correlation", *CHANCE) if name in single]
    result = single[kept].assign(ranks)
    attrs = {**test.attrs, "analysis": "rank", "method": method, "alpha": alpha}
    result = results.described(result.transpose("metric", ...).assign_attrs(attrs))
    if chunking.is_lazy(result["correlation"]):
        return later.attached(result)
    mean = result["correlation"].mean([dim for dim in result["correlation"].dims if dim != "metric"])
    return result.isel(metric=np.argsort(-mean.fillna(-np.inf).values, kind="stable"))


def _method(method: Any, *, crossed: Any, swap: Any, adjust: Any) -> str:
    asked = {"crossed=True": bool(crossed), f"swap={swap!r}": swap is not None, "adjust='maxt'": adjust == "maxt"}
    swaps = [name for name, is_asked in asked.items() if is_asked]
    if method is None:
        return "permutation" if swaps else "jackknife"
    validate.choice("method", method, ("jackknife", "permutation"))
    if method == "jackknife" and swaps:
        raise ValueError(f"{swaps[0]} needs method='permutation', got {method!r}")
    return str(method)


def _of_better(test: xr.Dataset) -> xr.DataArray:
    """The p-values by which (a, b) says whether a is better than b; 1 of a two-sided one where it is not ahead."""
    pvalue = decisive(test)
    return pvalue.where(test["difference"] > 0, 1.0) if test.attrs["alternative"] == "two-sided" else pvalue


def in_order(
    function: Callable[..., Any], inputs: Sequence[tuple[xr.DataArray, Sequence[str]]], dim: str
) -> dict[str, xr.DataArray]:
    """Rank and cluster along a dim, by `ranked`, for every further label."""
    return labelled.by_label(function, inputs, {"rank": [dim], "cluster": [dim]}, types={"rank": int, "cluster": int})


def ranked(r: FloatArray, pvalue: FloatArray, alpha: float) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rank and cluster of each metric, 0 without a correlation; `pvalue` (a, b) tests whether a is better than b."""
    ranks, clusters = np.zeros(len(r), dtype=np.int64), np.zeros(len(r), dtype=np.int64)
    members: list[int] = []
    cluster = 1
    for at in np.argsort(-r, kind="stable"):  # NaN come last
        if np.isnan(r[at]):
            break
        ranks[at] = 1 + int((r > r[at] + 1e-12).sum())
        if any(pvalue[other, at] <= alpha for other in members):
            cluster, members = cluster + 1, []
        members.append(int(at))
        clusters[at] = cluster
    return ranks, clusters
