"""Is one metric really better than another: `perm_test`, and the corrections of its p-values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _draws, _validate, inference, resampling, schema
from xsumstat.coefficients import CorrelationFunction, FloatArray
from xsumstat.correlation import checked_settings
from xsumstat.resampling import SwapPlan
from xsumstat.swaps import Pair, swap_tests

_PAIR_DIMS = ("metric", "other_metric")


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
    scores = schema.prepare(ds, gold, metric, level=level, missing=missing, other=other)
    rows, columns = scores.rows, scores.columns
    pairs = sorted({(min(a, b), max(a, b)) for a in rows for b in columns if a != b})
    if not pairs:
        raise ValueError("a test needs two metrics: metric and other name only one")
    seed = _draws.seed_of(rng)
    plan = SwapPlan.of(scores.shape, dims, crossed, n_resamples, seed)

    def all_at_once(x: FloatArray, z: FloatArray) -> tuple[Any, ...]:
        lead = np.broadcast_shapes(x.shape[:-3], z.shape[:-2])
        x = np.broadcast_to(x, (*lead, *x.shape[-3:]))
        z = np.broadcast_to(z, (*lead, *z.shape[-2:]))
        tests, places = [], []
        for number, at in enumerate(np.ndindex(lead)):
            for test in swap_tests(x[at], z[at], tuple(pairs), coefficient=record, **settings):
                tests.append(test)
                places.append(np.array([number * len(pairs) + pairs.index(pair) for pair in test.pairs]))
        difference, counts = resampling.permutation(
            tests, places, plan, level=level, keep_samples=keep_samples, progress=progress
        )
        forward, backward = inference.permutation_pvalues(difference, counts, plan.n_resamples, plan.exact, alternative)
        samples = [] if counts.samples is None else [counts.samples.reshape(*lead, len(pairs), -1)]
        flat = (difference, forward, backward, counts.undefined)
        return *(values.reshape(*lead, len(pairs)) for values in flat), *samples

    names = ["difference", "forward", "backward", "n_undefined"] + ["samples"] * keep_samples
    outputs = xr.apply_ufunc(
        all_at_once,
        scores.score,
        scores.gold,
        input_core_dims=[["metric", "system", "input"], ["system", "input"]],
        output_core_dims=[["pair", "resample"] if name == "samples" else ["pair"] for name in names],
        keep_attrs=False,
    )
    by_pair = dict(zip(names, outputs, strict=True))
    schema.warn_resamples(by_pair["n_undefined"].max("pair"), plan.n_resamples)
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
        seed=str(seed),
        **settings,
    )


def _matrices(by_pair: dict[str, xr.DataArray], pairs: list[Pair], scores: schema.Scores) -> xr.Dataset:
    """Results of unordered pairs laid out as metric x other_metric: signs turn where the two change places."""
    place = {pair: at for at, pair in enumerate(pairs)}
    rows, columns = np.array(scores.rows), np.array(scores.columns)
    at = [[place.get((min(a, b), max(a, b)), 0) for b in columns] for a in rows]
    turned, tested = (
        xr.DataArray(each, dims=_PAIR_DIMS) for each in (rows[:, None] > columns, rows[:, None] != columns)
    )
    picked = xr.Dataset(by_pair).isel(pair=xr.DataArray(at, dims=_PAIR_DIMS))
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
    family = dims if within is None else [within] if isinstance(within, str) else list(within)
    for dim in family:
        _validate.known("dim in within", dim, dims, "dims of pvalue")
    if not family:
        raise ValueError(f"within must name at least one dim of pvalue: {_validate.listing(dims)}")

    def each(values: FloatArray) -> FloatArray:
        return inference.adjust(values.ravel(), method).reshape(values.shape)

    mirrored = _mirrored(result, pvalue, family)
    tests = pvalue if mirrored is None else pvalue.where(~mirrored)
    adjusted = xr.apply_ufunc(
        each, tests, input_core_dims=[family], output_core_dims=[family], vectorize=True, keep_attrs=False
    ).transpose(*dims)
    if mirrored is not None:
        adjusted = adjusted.where(~mirrored, _transposed(adjusted))
    attrs = {"adjust_method": method, "adjust_within": " ".join(family)}
    return result.assign(pvalue_adjusted=adjusted).assign_attrs(attrs)


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
