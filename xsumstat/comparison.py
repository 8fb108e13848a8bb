"""Is one metric really better than another: `perm_test`, and the corrections of its p-values."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _draws, _validate, content, inference, lazy, resampling, schema
from xsumstat.coefficients import CorrelationFunction, FloatArray
from xsumstat.correlation import checked_settings
from xsumstat.levels import IntArray
from xsumstat.resampling import SwapPlan
from xsumstat.swap_ranks import Pair
from xsumstat.swaps import swap_tests

_PAIR_DIMS = ("metric", "other_metric")
_BY_PAIR = ("difference", "forward", "backward", "n_undefined")
# Cells times pairs of metrics that are made ready for swaps at a time: some 100 MB at the most.
_PAIR_CELLS_AT_ONCE = 2**19
_USUAL_LEVEL = 0.05


def perm_test(
    ds: xr.Dataset,
    gold: Any = None,
    *,
    metric: Any = None,
    other: Any = None,
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    resample: str | tuple[str, ...] = "both",
    crossed: bool = False,
    alternative: str = "two-sided",
    n_resamples: int = 9999,
    missing: str = "pairwise",
    undefined: str = "drop",
    rng: Any = None,
    keep_samples: bool = False,
    progress: bool = False,
) -> xr.Dataset:
    """Permutation test of the difference of two metrics' correlations with gold, for all pairs of metrics.

    Parameters
    ----------
    ds, gold, level, coefficient, missing, undefined
        As for `corr`. Under "pairwise" a pair is compared on the cells where both metrics and the gold have
        a score, so that `difference` need not be the difference of two `corr` where cells are missing.
    metric, other : label, list of labels or boolean DataArray, optional
        Metrics in the rows and in the columns of the result. `metric` defaults to all but the gold, `other`
        to the same as `metric`.
    resample : {"both", "system", "input"} or tuple of dims, default "both"
        What trades places between two metrics: all scores of a system together, all of an input together,
        or ("both") every cell by itself.
    crossed : bool, default False
        With "both", swap the cells of a system or of an input, but not of the two at once: the exclusive or of
        a coin for each system and one for each input.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        "greater": `metric` correlates better with gold than `other_metric`.
    n_resamples : int, default 9999
        Number of random swaps. When all possible swaps number no more, each is taken once, and the test is exact.
    rng, progress
        As for `ci`. All pairs, and all further labels, see the same swaps.
    keep_samples : bool, default False
        Add the differences under swaps as ``samples(metric, other_metric, ..., resample)``.

    Returns
    -------
    Dataset
        ``difference`` and ``pvalue`` (metric, other_metric, ...): cell (i, j) says whether i correlates better
        than j; NaN where i is j. ``n_undefined`` counts swaps that left the difference undefined; the p-value is
        over the others. ``attrs["exact"]`` is 1 when all swaps were listed, and ``attrs["n_resamples"]`` is
        then their number.

    Raises
    ------
    ValueError, TypeError
        As for `corr`, and for a dim, alternative or number that is not allowed.

    Warns
    -----
    UserWarning
        When more than 5 % of the swaps leave a difference undefined.

    Notes
    -----
    The null hypothesis is that the two metrics are exchangeable: for each unit that is swapped (a system, an
    input, a cell) either could have given either score. The statistic is δ = r(X, Z) − r(Y, Z). X and Y are
    first standardised over all their cells, so that scores that trade places share a scale. p is
    ``(1 + #{δ_s ≥ δ − 1e-12})/(k + 1)`` for "greater", with |δ_s| and |δ| for "two-sided"; an exact test's is
    ``#{...}/2^units``. It is never 0.

    The paper words its test of both dims as "systems, then inputs", which is `crossed`; its Algorithm 2,
    the default here, flips a coin for each cell.

    References
    ----------
    Deutsch, Dror & Roth (2021), §4.2 and Algorithm 2.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> test = ds.meta.perm_test("human", level="input", alternative="greater", n_resamples=999, rng=1)
    >>> float(test.pvalue.sel(metric="judge", other_metric="length"))
    0.001
    """
    settings, record = checked_settings(level, coefficient, missing, undefined)
    dims = _validate.dims("resample", resample)
    if _validate.flag("crossed", crossed) and len(dims) < 2:
        raise ValueError(f"crossed=True swaps over both dims and needs resample='both', got {resample!r}")
    _validate.choice("alternative", alternative, _validate.ALTERNATIVES)
    n_resamples = _validate.integer("n_resamples", n_resamples, 1)
    _validate.flag("keep_samples", keep_samples)
    _validate.flag("progress", progress)
    scores = _by_label(schema.prepare(ds, gold, metric, level=level, missing=missing, other=other))
    pairs = tuple(sorted({(min(a, b), max(a, b)) for a in scores.rows for b in scores.columns if a != b}))
    if not pairs:
        raise ValueError("a test needs two metrics: metric and other name only one")
    content.check_resampled(scores.score, dims)
    plan = SwapPlan.of(scores.shape, dims, crossed, n_resamples, _draws.seed_of(rng))
    if plan.exact and 1 / plan.n_resamples > _USUAL_LEVEL:
        _validate.warn(
            f"there are only {plan.n_resamples} ways to swap: no p-value can be below {1 / plan.n_resamples:.3g}"
        )
    summary = _Summary(plan.n_resamples, plan.exact, alternative)
    by_pair = _permutation(scores, pairs, plan, summary, {"coefficient": record, **settings}, keep_samples, progress)
    if scores.used is None:
        content.warn_resamples(by_pair["n_undefined"].max("_pair"), plan.n_resamples)
    return schema.result(
        _matrices(by_pair, pairs, scores),
        scores,
        analysis="perm_test",
        coefficient=record.name,
        method="permutation",
        resample=dims,
        crossed=crossed,
        alternative=alternative,
        n_resamples=plan.n_resamples,
        exact=plan.exact,
        seed=str(plan.seed),
        **settings,
    )


def _by_label(scores: schema.Scores) -> schema.Scores:
    """The same with the metrics sorted by label, so that no bit of a result depends on the order they came in."""
    labels = [str(label) for label in scores.score["metric"].values]
    order = sorted(range(len(labels)), key=labels.__getitem__)
    place = {old: new for new, old in enumerate(order)}
    rows, columns = ([place[at] for at in places] for places in (scores.rows, scores.columns))
    return replace(scores, score=scores.score.isel(metric=order), rows=rows, columns=columns)


@dataclass(frozen=True)
class _Summary:
    """What a permutation test tells of each pair: the numbers of `_BY_PAIR`."""

    n_resamples: int
    exact: bool
    alternative: str

    def __call__(self, difference: FloatArray, counts: IntArray) -> tuple[FloatArray, ...]:
        forward, backward = inference.permutation_pvalues(
            difference, counts, self.n_resamples, self.exact, self.alternative
        )
        return difference, forward, backward, counts[3].astype(float)


def _permutation(
    scores: schema.Scores,
    pairs: tuple[Pair, ...],
    plan: SwapPlan,
    summary: _Summary,
    settings: dict[str, Any],
    keep_samples: bool,
    progress: bool,
) -> dict[str, xr.DataArray]:
    """The test of every pair of metrics, along dim `_pair`."""

    def all_at_once(x: Any, z: Any) -> tuple[Any, ...]:
        lead = np.broadcast_shapes(x.shape[:-3], z.shape[:-2])
        shapes = (*lead, *x.shape[-3:]), (*lead, *z.shape[-2:])
        if scores.used is None:
            x, z = (np.broadcast_to(values, shape) for values, shape in zip((x, z), shapes, strict=True))
            labels = [(x[at], z[at]) for at in np.ndindex(lead)]
            found, samples = _eager(labels, pairs, plan, summary, settings, keep_samples, progress)
            found = found.reshape(len(_BY_PAIR), *lead, len(pairs))
            samples = None if samples is None else samples.reshape(*lead, len(pairs), plan.n_resamples)
        else:
            da = _validate.optional("dask.array", "dask")
            x, z = (da.broadcast_to(da.asarray(values), shape) for values, shape in zip((x, z), shapes, strict=True))
            used = scores.used[0].data, scores.used[1].data
            size: dict[str, Any] = {"n_summary": len(_BY_PAIR), "keep_samples": keep_samples}
            found, samples = lazy.permutation(x, z, used, pairs, plan, summary, settings=settings, **size)
        counted = found[-1].astype(int)
        return *found[:-1], counted, *([] if samples is None else [samples])

    names = [*_BY_PAIR, *["samples"] * keep_samples]
    outputs = xr.apply_ufunc(
        all_at_once,
        scores.score,
        scores.gold,
        input_core_dims=[["metric", "system", "input"], ["system", "input"]],
        output_core_dims=[["_pair", "resample"] if name == "samples" else ["_pair"] for name in names],
        dask="allowed",
        keep_attrs=False,
    )
    return dict(zip(names, outputs, strict=True))


def _eager(
    labels: list[tuple[FloatArray, FloatArray]],
    pairs: tuple[Pair, ...],
    plan: SwapPlan,
    summary: _Summary,
    settings: dict[str, Any],
    keep_samples: bool,
    progress: bool,
) -> tuple[FloatArray, FloatArray | None]:
    """Summaries (numbers, labels · pairs) for the scores of each further label, and the samples or None.

    Only so many pairs are made ready together as keep their memory small; at system level they share their sums.
    """
    together = settings["level"] == "system" and settings["coefficient"].kind is not None
    at_once = len(pairs) if together else max(1, _PAIR_CELLS_AT_ONCE // (plan.shape[0] * plan.shape[1]))
    groups = [pairs[start : start + at_once] for start in range(0, len(pairs), at_once)]
    summaries, kept = [], []
    with resampling.progress_bar(len(labels) * len(groups) * _draws.n_blocks(plan.n_resamples), progress) as bar:
        for x, z in labels:
            for group in groups:
                tests = swap_tests(x, z, group, **settings)
                difference, found = resampling.permutation(tests, plan, keep_samples=keep_samples, bar=bar)
                summaries.append(np.array(summary(difference, found.counts)))
                if found.samples is not None:
                    kept.append(found.samples)
    return np.concatenate(summaries, axis=1), np.concatenate(kept) if keep_samples else None


def _matrices(by_pair: dict[str, xr.DataArray], pairs: tuple[Pair, ...], scores: schema.Scores) -> xr.Dataset:
    """Results of unordered pairs laid out as metric x other_metric: signs turn where the two change places."""
    place = {pair: at for at, pair in enumerate(pairs)}
    rows, columns = np.array(scores.rows), np.array(scores.columns)
    at = [[place.get((min(a, b), max(a, b)), 0) for b in columns] for a in rows]
    turned, tested = (
        xr.DataArray(each, dims=_PAIR_DIMS) for each in (rows[:, None] > columns, rows[:, None] != columns)
    )
    picked = xr.Dataset(by_pair).isel(_pair=xr.DataArray(at, dims=_PAIR_DIMS))
    laid_out = {"pvalue": picked["forward"].where(~turned, picked["backward"])}
    laid_out |= {
        name: picked[name].where(~turned, -picked[name]) for name in ("difference", "samples") if name in picked
    }
    laid_out = {name: values.where(tested) for name, values in laid_out.items()}
    laid_out["n_undefined"] = picked["n_undefined"].where(tested, 0)
    ours, theirs = (scores.score.isel(metric=each) for each in (scores.rows, scores.columns))
    return schema.labelled(xr.Dataset(laid_out), ours, theirs)


def adjust(result: xr.Dataset, method: str = "holm", *, within: str | Iterable[str] | None = None) -> xr.Dataset:
    """Correct a result's p-values for the number of tests.

    Parameters
    ----------
    result : Dataset
        With a variable ``pvalue``, such as `perm_test` gives.
    method : {"holm", "bonferroni", "bh", "by"}, default "holm"
        "bonferroni" and "holm" bound the chance of any false rejection; "bh" (Benjamini-Hochberg) and "by"
        (Benjamini-Yekutieli, under any dependence) bound the expected share of false ones.
    within : dim or dims, optional
        Dims of one family of tests; the correction is done anew for each label of the other dims. Default
        all dims. ``within="other_metric"`` makes each row metric a family (Deutsch et al. 2021, Fig. 5),
        ``within=("metric", "other_metric")`` the whole table (their Fig. 6).

    Returns
    -------
    Dataset
        The result with ``pvalue_adjusted`` added; `pvalue` stays.

    Raises
    ------
    ValueError
        If there is no `pvalue`, or a name in `within` is not one of its dims.

    Notes
    -----
    NaN are not tests and do not count. In a two-sided table the cells (i, j) and (j, i) are the same test, and
    count once where both are in one family.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> test = ds.meta.perm_test("human", level="input", alternative="greater", n_resamples=999, rng=1)
    >>> corrected = test.meta.adjust("bonferroni", within="other_metric")
    >>> bool((corrected.pvalue_adjusted >= corrected.pvalue).where(corrected.pvalue.notnull(), True).all())
    True
    """
    pvalue = _pvalues(result)
    _validate.choice("method", method, inference.CORRECTIONS)
    dims = [str(dim) for dim in pvalue.dims]
    family = _family(within, dims)

    def each(values: FloatArray) -> FloatArray:
        return inference.adjust(values.ravel(), method).reshape(values.shape)

    mirrored = _mirrored(result, pvalue, family)
    tests = pvalue if mirrored is None else pvalue.where(~mirrored)
    if not schema.is_lazy(tests):
        _warn_out_of_reach(result, tests, family, method)
    adjusted = xr.apply_ufunc(
        each,
        schema.whole(tests, family),
        input_core_dims=[family],
        output_core_dims=[family],
        vectorize=True,
        dask="parallelized",
        output_dtypes=[float],
        keep_attrs=False,
    ).transpose(*dims)
    if mirrored is not None:
        adjusted = adjusted.where(~mirrored, _transposed(adjusted))
    attrs = {"adjust_method": method, "adjust_within": " ".join(family)}
    return result.assign(pvalue_adjusted=adjusted).assign_attrs(attrs)


def _family(within: Any, dims: list[str]) -> list[str]:
    """The dims of a family of tests."""
    if not (within is None or isinstance(within, str | list | tuple | set)):
        raise TypeError(f"within must name dims of pvalue ({_validate.listing(dims)}), got {within!r}")
    family = dims if within is None else [within] if isinstance(within, str) else list(within)
    for dim in family:
        _validate.known("dim in within", dim, dims, "dims of pvalue")
    _validate.unique("within", family)
    if not family:
        raise ValueError(f"within must name at least one dim of pvalue: {_validate.listing(dims)}")
    return family


def resamples_needed(n_tests: int, alpha: float) -> int:
    """Random swaps so many that the smallest p-value, 1/(n + 1), survives Bonferroni's correction for `n_tests`."""
    return math.ceil(n_tests / alpha) - 1


def _warn_out_of_reach(result: xr.Dataset, tests: xr.DataArray, family: list[str], method: str) -> None:
    """Warn when even the smallest p-value that so many resamples can give does not survive the correction."""
    n_resamples = result.attrs.get("n_resamples")
    if method not in ("bonferroni", "holm") or not n_resamples:
        return
    smallest = 1 / (n_resamples + (0 if result.attrs.get("exact") else 1))
    size = int(tests.notnull().sum(family).max())
    if size * smallest > _USUAL_LEVEL:
        needed = resamples_needed(size, _USUAL_LEVEL)
        advice = "" if result.attrs.get("exact") else f"; use n_resamples of at least {needed}"
        _validate.warn(
            f"with {n_resamples} resamples and {size} tests in a family no adjusted p-value can be below "
            f"{size * smallest:.3g}{advice}"
        )


def _pvalues(result: xr.Dataset) -> xr.DataArray:
    if not isinstance(result, xr.Dataset) or "pvalue" not in result:
        raise ValueError("the result has no variable 'pvalue'; this works on what a test gives, as perm_test does")
    return result["pvalue"]


def _transposed(values: xr.DataArray) -> xr.DataArray:
    """Values with the two metrics of each cell exchanged."""
    turned = values.rename(metric="other_metric", other_metric="metric")
    return turned.reindex({dim: values.indexes[dim] for dim in _PAIR_DIMS}).transpose(*values.dims)


def _mirrored(result: xr.Dataset, pvalue: xr.DataArray, family: list[str]) -> xr.DataArray | None:
    """Cells of a two-sided table whose mirror image, in the same family, holds the same test."""
    if result.attrs.get("alternative") != "two-sided" or not set(_PAIR_DIMS) <= set(family):
        return None
    rows, columns = list(pvalue.indexes["metric"]), list(pvalue.indexes["other_metric"])
    order = {label: at for at, label in enumerate([*rows, *columns])}
    both = [[a in columns and b in rows and order[a] > order[b] for b in columns] for a in rows]
    return xr.DataArray(np.array(both), dims=_PAIR_DIMS)


def significant(result: xr.Dataset, *, alpha: float = 0.05) -> xr.DataArray:
    """Which tests are significant: the adjusted p-value, where there is one, is at most `alpha`.

    Parameters
    ----------
    result : Dataset
        With ``pvalue``, and ``pvalue_adjusted`` after `adjust`.
    alpha : float, default 0.05
        Level of the tests, between 0 and 1.

    Returns
    -------
    DataArray, bool
        On the dims of `pvalue`; False where there is no test.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> test = ds.meta.perm_test("human", level="input", alternative="greater", n_resamples=999, rng=1)
    >>> bool(test.meta.adjust("holm").meta.significant().sel(metric="judge", other_metric="length"))
    True
    """
    pvalue = _pvalues(result)
    alpha = _validate.fraction("alpha", alpha)
    decisive = result["pvalue_adjusted"] if "pvalue_adjusted" in result else pvalue
    return (decisive <= alpha).rename("significant").assign_attrs(alpha=alpha)
