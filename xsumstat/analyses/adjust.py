"""Many tests at once: corrected p-values, and what is significant."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.core import extras, validate
from xsumstat.core.types import FloatArray, IntArray
from xsumstat.dataset import chunking, labelled, pair_results, results, wording
from xsumstat.dataset.value_checks import Checks
from xsumstat.inference import corrections
from xsumstat.resampling import step_down

USUAL_LEVEL = wording.USUAL_LEVEL


@validate.public
def adjust(result: xr.Dataset, method: str = "holm", *, within: str | Iterable[str] | None = None) -> xr.Dataset:
    """Correct a result's p-values for the number of tests.

    Parameters
    ----------
    result : Dataset
        A result with ``pvalue``, e.g. of `perm_test`.
    method : {"holm", "bonferroni", "maxt", "bh", "by"}, default "holm"
        "bonferroni", "holm" and "maxt" control the family-wise error rate, "bh" and "by" (under any dependence) the
        false discovery rate. "maxt" needs a result with ``samples``.
    within : dim or dims, optional
        Dims of one family of tests; each label of the other dims is corrected separately. Default all dims. With
        ``within="other_metric"`` each row metric is a family.

    {dataset}
        The result with ``pvalue_adjusted``. Counts of significant tests that were made before are left out.

    Notes
    -----
    "maxt" (Westfall & Young 1993) uses the dependence between tests. It rejects whatever Holm's method rejects on the
    same draws, and usually more. NaN do not count as tests. Two mirrored cells of a two-sided table count once. See the
    documentation, "How intervals and tests are computed".

    {demo}
    >>> test = ds.meta.perm_test("human", metric="judge", other=["rouge", "bleu"], level="input", rng=1)
    >>> test.meta.adjust("bonferroni").pvalue_adjusted.values.round(4)
    array([[0.0002, 0.0002]])
    """
    _pvalues(result)
    validate.choice("method", method, corrections.CORRECTIONS)
    return _adjusted(result, method, within, checked=False)


def adjusted(result: xr.Dataset, method: str | None, within: Any) -> xr.Dataset:
    """What `adjust` gives of a test whose number of resamples `check_resamples` has looked at."""
    return result if method is None else _adjusted(result, method, within, checked=True)


def _adjusted(result: xr.Dataset, method: str, within: Any, *, checked: bool) -> xr.Dataset:
    if method == "maxt":
        if "samples" not in result or result.attrs.get("analysis") not in ("perm_test", "boot_test"):
            raise ValueError(
                "method='maxt' needs the joint draws of the tests: ask perm_test or boot_test with adjust='maxt', "
                "or with keep_samples=True"
            )
        centred = result.attrs["analysis"] == "boot_test"
        pool = corrections.Pool(result.attrs["alternative"], centred, bool(result.attrs.get("exact")))
        if chunking.is_lazy(result["samples"]):
            return stepped_down_lazily(result, within, result["samples"], result["difference"], pool)
        return stepped_down(
            result, within, lambda samples, order: (samples[at] for at in order), result["samples"], pool
        )

    def each(values: FloatArray) -> FloatArray:
        return corrections.adjust(np.ravel(values), method).reshape(np.shape(values))

    return _with_all_groups(corrected(result, method, within, each, checked=checked), each)


def decided(result: xr.Dataset, alpha: float, first: Iterable[str]) -> xr.Dataset:
    """The result with ``significant``, by corrected p-values where there are such; the `first` variables come first."""
    pvalue = decisive(result)
    result = result.assign(significant=xr.Variable(pvalue.dims, pvalue.data <= alpha))
    ordered = [name for name in first if name in result]
    return results.described(result[[*ordered, *(name for name in result.data_vars if name not in ordered)]])


def _with_all_groups(result: xr.Dataset, each: Callable[..., FloatArray]) -> xr.Dataset:
    """The result with corrected p-values of the tests of all groups; the metrics are one family."""
    if "heterogeneity_pvalue" not in result:
        return result
    pvalues = result["heterogeneity_pvalue"]
    family = [dim for dim in str(result.attrs["adjust_within"]).split() if dim in pvalues.dims]
    name = "heterogeneity_pvalue_adjusted"
    described = results.describe(name, _by_family(each, family, pvalues), result.attrs.get("analysis"))
    return result.assign({name: described.variable})


def check_correction(adjust: str | None, within: Any, dims: list[str]) -> None:
    """What a test is told of the correction of its p-values, which will have the dims, before there are any."""
    if adjust is not None:
        validate.choice("adjust", adjust, corrections.CORRECTIONS)
    elif within is not None:
        raise ValueError(f"within={within!r} names a family of tests, and needs adjust=, which says how to correct")
    _family(within, dims)


def check_resamples(
    adjust: str | None, within: Any, tests: xr.DataArray, *, alpha: float = USUAL_LEVEL, **attrs: Any
) -> None:
    """Warn, before anything is drawn, if so few resamples leave no test that can survive the correction."""
    if adjust is None:
        return
    planned = xr.Dataset({"pvalue": xr.zeros_like(tests, dtype=float).where(tests)}, attrs=attrs)
    some, family, _ = _families(planned, within)
    _warn_out_of_reach(attrs, some.notnull().sum(family).max(), adjust, alpha)


def corrected(
    result: xr.Dataset,
    method: str,
    within: Any,
    each: Callable[..., FloatArray],
    *beside: xr.DataArray,
    checked: bool = False,
) -> xr.Dataset:
    """The result with `pvalue_adjusted`: ``each(pvalues, *beside)`` of every family; NaN are no tests."""
    tests, family, again = _families(result, within)
    later = Checks()
    if "exact" not in result and not checked:
        later.make(_warn_out_of_reach, dict(result.attrs), tests.notnull().sum(family).max(), method, USUAL_LEVEL)
    return _with_adjusted(result, later.attached(_by_family(each, family, tests, *beside)), again, method, family)


def _by_family(each: Callable[..., FloatArray], family: list[str], *values: xr.DataArray) -> xr.DataArray:
    """``each(*values)`` of every family, on the dims of the first values; others may have `resample`, too."""
    cores = [[*family, *(["resample"] if "resample" in given.dims else [])] for given in values]
    own = [given.copy(deep=False) for given in values]  # xarray before 2025.7 takes the attrs of coordinates away
    found = labelled.by_label(each, list(zip(own, cores, strict=True)), {"adjusted": family})
    return found["adjusted"].transpose(*values[0].dims)


def _families(result: xr.Dataset, within: Any) -> tuple[xr.DataArray, list[str], xr.DataArray | None]:
    """The p-values, NaN where there is no test; the dims of a family; the cells that hold the same test as others."""
    pvalue = _pvalues(result)
    family = _family(within, [str(dim) for dim in pvalue.dims])
    again = pair_results.mirrored(result, pvalue)
    if again is None or not set(again.dims) <= set(family):
        return pvalue, family, None
    return pvalue.where(~again), family, again


def _with_adjusted(
    result: xr.Dataset, adjusted: xr.DataArray, again: xr.DataArray | None, method: str, family: list[str]
) -> xr.Dataset:
    if again is not None:
        adjusted = adjusted.where(~again, pair_results.transposed(adjusted, (str(again.dims[0]), str(again.dims[1]))))
    attrs = {"adjust_method": method, "adjust_within": " ".join(family)}
    result = result.drop_vars("n_significant", errors="ignore")  # counted before the correction
    analysis = result.attrs.get("analysis")
    described = results.describe("pvalue_adjusted", adjusted, analysis)
    return result.assign(pvalue_adjusted=described.variable).assign_attrs(attrs)  # coordinates stay as they are


def stepped_down(
    result: xr.Dataset,
    within: Any,
    rows: Callable[[FloatArray, IntArray], Iterable[FloatArray]],
    beside: xr.DataArray,
    pool: corrections.Pool,
) -> xr.Dataset:
    """The result corrected by "maxt"; `rows` gives the draws of the asked tests from what is `beside`, (tests, ...)."""

    def each(pvalues: FloatArray, observed: FloatArray, beside: FloatArray) -> FloatArray:
        differences = observed.ravel()

        def pools(order: IntArray) -> Iterator[FloatArray]:
            for at, row in zip(order, rows(beside.reshape(pvalues.size, -1), order), strict=True):
                yield pool.pvalues(row, differences[at])

        return corrections.step_down(pvalues.ravel(), pools).reshape(pvalues.shape)

    return corrected(result, "maxt", within, each, result["difference"], beside)


def stepped_down_lazily(
    result: xr.Dataset,
    within: Any,
    samples: xr.DataArray,
    difference: xr.DataArray,
    pool: corrections.Pool,
    place: xr.DataArray | None = None,
) -> xr.Dataset:
    """The result corrected by "maxt" from lazy samples, with the same bits, a few tests or draws in a task.

    `place` is the row of `samples` of each test, from 1; negative where its sign is turned, NaN where there is none.
    """
    tests, family, again = _families(result, within)
    if place is None:
        samples, difference = samples.transpose(*tests.dims, "resample"), difference.transpose(*tests.dims)
        place = difference.copy(data=1.0 + np.arange(difference.size).reshape(difference.shape))
        metrics = pair_results.pair_dims(tests)
        place = place if metrics is None else place.where(result[metrics[0]] != result[metrics[1]])
    place = (place if again is None else place.where(~again)).fillna(0).astype(np.int64)
    da = extras.optional("dask.array", "dask")
    outer = [dim for dim in tests.dims if dim not in family]
    pvalues = tests.transpose(*outer, *family)
    adjusted = step_down.with_dask(
        da.asarray(pvalues.data),
        da.asarray(samples.data),
        da.asarray(difference.data),
        place.transpose(*outer, *family).values,
        pool,
        lead=len(outer),
    )
    laid_out = xr.DataArray(adjusted, pvalues.coords, pvalues.dims).transpose(*tests.dims)
    return _with_adjusted(result, laid_out, again, "maxt", family)


def _family(within: Any, dims: list[str]) -> list[str]:
    if not (within is None or isinstance(within, str | list | tuple | set)):
        raise TypeError(f"within must name dims of pvalue ({validate.listing(dims)}), got {within!r}")
    family = dims if within is None else [within] if isinstance(within, str) else list(within)
    for dim in family:
        validate.known("dim in within", dim, dims, "dims of pvalue")
    validate.unique("within", family)
    if not family:
        raise ValueError(f"within must name at least one dim of pvalue: {validate.listing(dims)}")
    return family


def alpha_of(confidence_level: float) -> float:
    """The significance level of tests that agree with intervals."""
    return round(1 - confidence_level, 12)


def resamples_needed(n_tests: float, alpha: float) -> int:
    """Random swaps so many that the smallest p-value, 1/(n + 1), survives Bonferroni's correction for `n_tests`."""
    return math.ceil(n_tests / alpha - 1e-9) - 1  # rounding may not ask for one more


def _warn_out_of_reach(attrs: dict[str, Any], most_tests: xr.DataArray, method: str | None, alpha: float) -> None:
    n_resamples = attrs.get("n_resamples")
    if method in ("bh", "maxt") or not n_resamples:  # where all tests have the smallest p-value, so has each corrected
        return
    size = int(most_tests)
    # What the smallest p-value is multiplied by, where all tests have it.
    factor = {"by": sum(1 / rank for rank in range(1, size + 1)), None: 1}.get(method, size)
    exact = bool(attrs.get("exact"))
    both_ways = exact and attrs.get("alternative") == "two-sided"  # the swap of everything is as extreme
    smallest = (2 if both_ways else 1) / (n_resamples + (not exact))
    if factor * smallest <= alpha * (1 + 1e-9):
        return
    swaps = f"all {n_resamples} swaps" if exact else f"{n_resamples} resamples"
    advice = "" if exact else f"; use n_resamples of at least {resamples_needed(factor, alpha)}"
    family, after = (
        ("", "") if method is None else (f" and {validate.counted(size, 'test')} in a family", " after correction")
    )
    validate.warn(
        f"no test can be significant at {alpha:g}: with {swaps}{family} the least p-value, {smallest:.3g}, is too "
        f"large{after}{advice}",
        "few_resamples",
    )


def _pvalues(result: xr.Dataset) -> xr.DataArray:
    if not isinstance(result, xr.Dataset) or "pvalue" not in result:
        raise ValueError("the Dataset has no variable 'pvalue'; use a test's result: ds.meta.perm_test(...)")
    return result["pvalue"]


def decisive(result: xr.Dataset) -> xr.DataArray:
    """The p-values that decide: the adjusted ones, where there are such."""
    return result["pvalue_adjusted" if "pvalue_adjusted" in result else "pvalue"]


@validate.public
def significant(result: xr.Dataset, *, alpha: float = 0.05) -> xr.DataArray:
    """Which tests are significant: the adjusted p-value, if any, is at most `alpha`.

    Parameters
    ----------
    result : Dataset
        With ``pvalue``, and ``pvalue_adjusted`` after `adjust`.
    alpha : float, default 0.05
        Significance level, between 0 and 1.

    Returns
    -------
    DataArray, bool
        On the dims of `pvalue`; False where there is no test. ``attrs["correction"]`` names the correction; for more
        than ten uncorrected tests it adds the expected number of false ones.

    {demo}
    >>> test = ds.meta.perm_test("human", metric="judge", other=["rouge", "bleu"], level="input", rng=1)
    >>> test.meta.adjust("holm").meta.significant().values
    array([[ True,  True]])
    """
    _pvalues(result)
    alpha = validate.fraction("alpha", alpha)
    found = rejected(result, alpha)
    method = result.attrs.get("adjust_method") if "pvalue_adjusted" in result else None
    if "exact" not in result and not chunking.is_lazy(found):
        within = str(result.attrs.get("adjust_within", "")).split()
        tests, family, _ = _families(result, [dim for dim in result["pvalue"].dims if dim in within] or None)
        _warn_out_of_reach(dict(result.attrs), tests.notnull().sum(family).max(), method, alpha)
    return found


def rejected(result: xr.Dataset, alpha: float) -> xr.DataArray:
    """What `significant` gives, without a warning."""
    found = (decisive(result) <= alpha).rename("significant").drop_attrs()
    found = results.describe("significant", found).assign_attrs(alpha=alpha)
    return found.assign_attrs(correction=_correction(result, alpha))


def n_tests(result: xr.Dataset) -> int:
    """How many tests the p-values are of; mirror images of two-sided ones count once."""
    pvalue = _pvalues(result)
    again = pair_results.mirrored(result, pvalue)
    return int((pvalue if again is None else pvalue.where(~again)).notnull().sum())


def _correction(result: xr.Dataset, alpha: float) -> str:
    """Whether, and how, p-values were corrected; of many that were not, what that means. Lazy ones are not counted."""
    said = wording.correction_words(result)
    if "pvalue_adjusted" in result or chunking.is_lazy(result["pvalue"]):
        return said
    return wording.many_uncorrected(n_tests(result), alpha) or said
