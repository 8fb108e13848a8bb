"""Pairs of systems of several languages pooled: one pairwise accuracy of all, with intervals and tests."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import numpy as np
import xarray as xr

from xsumstat.analyses import adjust as families
from xsumstat.analyses import jackknifed
from xsumstat.analyses.measure import (
    AUTO,
    checked_measure,
    checked_resample,
    random_dims,
)
from xsumstat.catalogue.variables import BASELINES
from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.core import validate
from xsumstat.core.types import TOLERANCE, FloatArray
from xsumstat.dataset import align, checks, chunking, facts, golds, labelled, locate, value_checks
from xsumstat.dataset import scores as schema
from xsumstat.dataset.result_attrs import sizes
from xsumstat.dataset.results import described
from xsumstat.dataset.value_checks import Said
from xsumstat.inference.intervals import bootstrap_interval
from xsumstat.inference.jackknife import t_quantile
from xsumstat.resampling import draws, threads

_P = ParamSpec("_P")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Pooled:
    """How the results of all labels become one."""

    # From the results, what each weighs, and the arguments, one result.
    combine: Callable[[list[xr.Dataset], list[xr.DataArray], dict[str, Any]], xr.Dataset]
    # Whether answers come from draws, and need a seed, by the arguments.
    drawn: Callable[[dict[str, Any]], bool]


def _unless_jackknife(given: dict[str, Any]) -> bool:
    """Intervals are drawn, unless they are asked for from the jackknife."""
    measure = checked_measure("system", given["coefficient"], given.get("missing", "pairwise"), "drop")
    dims = checked_resample(given.get("resample", AUTO), measure, auto=True)
    method = given.get("method", "auto")
    if method == "auto":
        method = jackknifed.interval_method(measure, dims, given.get("interval"), given.get("keep_samples"))
    return bool(method != "jackknife")


def with_pool(how: Pooled) -> Callable[[Callable[_P, xr.Dataset]], Callable[_P, xr.Dataset]]:
    """Give a function of scores and gold the keyword `pool`: the results of all labels of a dim combined."""

    def decorate(function: Callable[_P, xr.Dataset]) -> Callable[_P, xr.Dataset]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def pooled(*args: _P.args, **kwargs: _P.kwargs) -> xr.Dataset:
            given = signature.bind(*args, **kwargs).arguments
            dim = given.pop("pool", None)
            if dim is None:
                return function(*args, **kwargs)
            check(given["ds"], dim, given)
            return _pooled(function, how, dim, given)

        return pooled

    return decorate


def _pooled(function: Callable[..., xr.Dataset], how: Pooled, dim: str, given: dict[str, Any]) -> xr.Dataset:
    drawn = how.drawn(given)
    ds, gold = given.pop("ds"), given.pop("gold", None)
    seed = draws.seed_of(given.pop("rng", None)) if drawn else None
    results, weights = [], []
    later = value_checks.Checks()
    requested = {name: value for name, value in given.items() if name not in ("adjust", "within", "keep_samples")}
    usual = inspect.signature(function).parameters.get("resample")
    if usual is not None and given.get("resample", usual.default) == AUTO:
        requested["resample"] = random_of_all(ds)
    labels = ds.indexes[dim] if dim in ds.indexes else range(ds.sizes[dim])
    with threads.one_bar(len(labels), given.get("progress") if drawn else False) as run:
        for at, label in enumerate(labels):
            part, human = of_label(ds, gold, dim, at)
            own = {} if seed is None else _draws_of(seed, at)
            with run():
                found = answer(functools.partial(function, part, human, **requested, **own), f"{dim}={label!r}", later)
            if at == 0 and given.get("adjust") is not None:  # before the other labels are drawn
                test = {"analysis": found.attrs["analysis"], "alternative": given.get("alternative", "two-sided")}
                test |= {"n_resamples": given.get("n_resamples", 9999), "exact": False}
                tests = (found["metric"] != found["other_metric"]).broadcast_like(found["difference"].isel(metric=0))
                tests = tests.transpose(*found["pvalue"].dims)
                families.check_resamples(given["adjust"], given.get("within"), tests, **test)
            results.append(found)
            weights.append(_n_pairs(part, human, given.get("missing", "pairwise"), found))
    attrs: dict[str, Any] = {"pool": dim, **_sizes(ds, gold, given)}
    if seed is not None:
        attrs |= {"seed": str(seed)}
        results = [with_draws(each, seed, at, given.get("n_resamples", 9999)) for at, each in enumerate(results)]
    kept = {name: _average(results, weights, name) for name in BASELINES if name in results[0]}
    whole = how.combine(results, weights, given).assign(kept)
    whole = whole.drop_vars(dim, errors="ignore")  # of the first label, where it was alone
    return later.attached(described(whole.assign_attrs(attrs)))


def _sizes(ds: xr.Dataset, gold: Any, given: dict[str, Any]) -> dict[str, int]:
    chosen = {name: given[name] for name in ("metric", "other", "missing") if name in given}
    with value_checks.held():  # the answers of the labels have said it
        scores = schema.prepare(ds, gold, **{"metric": None, "missing": "pairwise", **chosen}, level="system")
    return sizes(scores.score)


def random_of_all(ds: xr.Dataset) -> tuple[str, ...]:
    """What "auto" leaves random where labels are pooled: the same dims for each, by the number of all systems."""
    return random_dims(AUTO, facts.CELLS, (ds.sizes["system"], ds.sizes["input"]))


def _draws_of(seed: int, at: int) -> dict[str, Any]:
    return {"rng": np.random.SeedSequence(seed, spawn_key=(at,)), "keep_samples": True}


def answer(question: Callable[[], Answer], name: str, later: value_checks.Checks) -> Answer:
    """The answer for one label; warnings, errors and the checks that wait name it."""
    with value_checks.held() as said:
        try:
            found = question()
        except (ValueError, TypeError) as error:
            raise type(error)(f"{name}: {error}") from error
    for caveat in said.caveats:
        validate.warn(caveat.of(name))
    later.take(functools.partial(_of_named, name), said.checks)
    return found


def _of_named(name: str, found: list[Said]) -> list[Said]:
    """What checks say of a label. What lazy scores lack altogether may be padding, and goes without a word."""
    caveats, error = value_checks.until_error(found)
    named = [each.of(name) for each in caveats if each.code != "labels_without_cells"]
    return [Said(named, None if error is None else error.of(name))]


def check(ds: xr.Dataset, dim: Any, given: dict[str, Any]) -> None:
    """Refuse what cannot be pooled, and say what can."""
    _check_dim(ds, dim)
    if given.get("given") is not None:
        raise ValueError(
            "pool and given do not go together: there is no partial pairwise accuracy; leave out given, or leave out "
            f"pool for partial correlations of each {dim}"
        )
    name, level = given.get("coefficient", "pearson"), given.get("level", "system")
    if not (isinstance(name, str) and name in COEFFICIENTS and COEFFICIENTS[name].poolable) or level != "system":
        poolable = validate.listing([name for name, each in COEFFICIENTS.items() if each.poolable])
        raise ValueError(
            f"pool is for coefficient={poolable} at level='system', got {name!r} at {level!r}; name these two, or "
            f"leave out pool={dim!r} for an answer of each {dim}"
        )
    if given.get("interval") in ("bca", "corrected"):
        raise ValueError(f"interval={given['interval']!r} is not for pooled pairs; use interval='percentile'")
    for name, wanted in (("method", ("permutation", "bootstrap", "jackknife", "auto")), ("average", (True,))):
        if name in given and given[name] not in wanted:
            raise ValueError(f"{name}={given[name]!r} is not for pooled pairs; use {name}={wanted[0]!r}")


def _check_dim(ds: xr.Dataset, dim: Any) -> None:
    further = [str(each) for each in locate.checked_scores(ds).dims if each not in facts.CORE]
    if isinstance(dim, str) and dim in further:
        return
    if isinstance(dim, list | tuple) and len(dim) > 1 and all(each in further for each in dim):
        hint = f"; ds.stack(task={list(dim)!r}, create_index=False) makes one dim of them, for pool='task'"
    elif further:
        hint = f"; use pool={further[0]!r}"
    else:
        hint = (
            "; to add one, join a Dataset for each label: xarray.concat([one, other], pandas.Index(['one', 'other'], "
            "name='language'), join='outer')"
        )
    there = validate.listing(further) or "none"
    raise ValueError(f"pool must be an additional dim of score, got {dim!r}; available: {there}{hint}")


def of_label(ds: xr.Dataset, gold: Any, dim: str, at: int) -> tuple[xr.Dataset, Any]:
    """The scores and gold of one label, without padding (which stays in lazy scores)."""
    part = ds.isel({dim: at})
    human = gold.isel({dim: at}) if isinstance(gold, xr.DataArray) and dim in gold.dims else gold
    if chunking.is_lazy(part["score"]):
        return part, human
    values, _, own = golds.find_gold(part, locate.checked_scores(part), human)
    there = [part["score"].notnull(), *([] if own else [values.notnull()])]
    for core in ("system", "input"):
        some = [each.any([other for other in each.dims if other != core]) for each in there if core in each.dims]
        known = all(core in each.indexes for each in some)
        kept = some[0]
        for each in some[1:]:
            kept = kept | (each.reindex({core: kept.indexes[core]}, fill_value=False) if known else each.values)
        part = part.isel({core: kept.values})
        if isinstance(human, xr.DataArray) and core in human.dims:
            labelled = core in human.indexes and core in part.indexes
            human = human.isel({core: human.indexes[core].isin(part.indexes[core]) if labelled else kept.values})
    return part, human


def _n_pairs(part: xr.Dataset, gold: Any, missing: str, result: xr.Dataset) -> xr.DataArray:
    score = locate.checked_scores(part)
    human, _, _ = golds.find_gold(part, score, gold)
    score, human = align.without_coords(score), align.without_coords(human)
    requested = score.sel(metric=result["metric"].values).notnull()
    rated = human.notnull()
    if missing == "available":
        requested, rated = requested.any("input"), rated.any("input") if "input" in rated.dims else rated
    there = requested & rated
    if "other_metric" in result.dims:
        other = score.sel(metric=result["other_metric"].values).notnull()
        other = other.any("input") if missing == "available" else other
        there = there & other.drop_vars("metric").rename(metric="other_metric").assign_coords(
            other_metric=result["other_metric"].values
        )
    systems = (there.any("input") if "input" in there.dims else there).sum("system")
    return systems * (systems - 1) / 2


def with_draws(result: xr.Dataset, seed: int, at: int, requested: int) -> xr.Dataset:
    """A result with as many samples as were asked for, drawn from the list where all swaps were listed."""
    listed = result.sizes["resample"]
    if listed == requested:
        return result
    return result.isel(resample=draws.generator(seed, at).integers(0, listed, requested))


def _average(results: list[xr.Dataset], weights: list[xr.DataArray], name: str) -> xr.DataArray:
    weighed = [(each[name] * weight).where(weight > 0, 0.0) for each, weight in zip(results, weights, strict=True)]
    return sum(weighed[1:], weighed[0]) / sum(weights[1:], weights[0])


def _of_estimates(results: list[xr.Dataset], weights: list[xr.DataArray], given: dict[str, Any]) -> xr.Dataset:
    """One `corr`."""
    found = _average(results, weights, "correlation")
    return _plain(results[0]).assign(correlation=found, n_undefined=sum(each["n_undefined"] for each in results))


def _of_intervals(results: list[xr.Dataset], weights: list[xr.DataArray], given: dict[str, Any]) -> xr.Dataset:
    """One `ci`, from the samples of all, or from all intervals by the jackknife."""
    name = "difference" if given.get("other") is not None else "correlation"
    if results[0].attrs["method"] == "jackknife":
        return _of_jackknives(results, weights, name, given.get("confidence_level", 0.95))
    estimate, samples = (_average(results, weights, each) for each in (name, "samples"))
    kind, confidence = given.get("interval") or "percentile", given.get("confidence_level", 0.95)
    numbers = {name: estimate}
    numbers |= labelled.by_label(
        lambda value, row: bootstrap_interval(float(value), row, kind, confidence),
        [(estimate, []), (samples, ["resample"])],
        dict.fromkeys(("ci_low", "ci_high", "standard_error"), ()),
    )
    numbers["bias"] = samples.mean("resample") - estimate
    numbers["n_undefined"] = samples.isnull().sum("resample").where(estimate.notnull(), 0)
    result = _plain(results[0]).assign(numbers)
    later = value_checks.Checks()
    later.make(checks.warn_outside, result[[name, "ci_low", "ci_high"]], name, given.get("n_resamples", 9999))
    return later.attached(result.assign(samples=samples) if given.get("keep_samples") else result)


def _of_jackknives(
    results: list[xr.Dataset], weights: list[xr.DataArray], name: str, confidence_level: float
) -> xr.Dataset:
    """The interval of a weighted mean of independent estimates (MOVER; Zou, Huang & Zhang 2009)."""
    estimate, bias = (_average(results, weights, each) for each in (name, "bias"))
    total = sum(weights[1:], weights[0])
    shares = [weight / total for weight in weights]

    def summed(terms: Iterable[xr.DataArray]) -> xr.DataArray:
        first, *rest = (each.where(share > 0, 0.0) for each, share in zip(terms, shares, strict=True))
        return sum(rest, first)

    parts = list(zip(results, shares, strict=True))
    variance = summed((share * each["standard_error"]) ** 2 for each, share in parts)
    df = variance**2 / summed((share * each["standard_error"]) ** 4 / each["df"] for each, share in parts)
    wanted = _t_quantile(df, confidence_level)  # NaN where a standard error is infinite
    own = [share * (wanted / _t_quantile(each["df"], confidence_level)).fillna(1.0) for each, share in parts]
    centres = [each[name] - each["bias"] for each in results]
    below, above = (
        np.sqrt(summed((q * (each[limit] - c)) ** 2 for each, c, q in zip(results, centres, own, strict=True)))
        for limit in ("ci_low", "ci_high")
    )
    numbers = {name: estimate, "ci_low": np.minimum(estimate - bias - below, estimate)}
    numbers |= {"ci_high": np.maximum(estimate - bias + above, estimate), "standard_error": np.sqrt(variance)}
    numbers |= {"bias": bias, "df": df, "n_undefined": sum(each["n_undefined"] for each in results)}
    some = [each["fell_back"] & (share > 0) for each, share in parts]
    numbers["fell_back"] = functools.reduce(lambda one, two: one | two, some)
    return results[0].assign(numbers)


def _t_quantile(df: xr.DataArray, confidence_level: float) -> xr.DataArray:
    return labelled.by_label(functools.partial(t_quantile, confidence_level), [(df, [])], {"t": ()})["t"]


def _of_tests(
    results: list[xr.Dataset], weights: list[xr.DataArray], given: dict[str, Any], *, centred_on_estimate: bool
) -> xr.Dataset:
    difference, samples = (_average(results, weights, each) for each in ("difference", "samples"))
    null = samples - difference if centred_on_estimate else samples
    tested = labelled.by_label(
        functools.partial(_pvalue, alternative=given.get("alternative", "two-sided")),
        [(difference, []), (null, ["resample"])],
        {"pvalue": (), "n_undefined": ()},
        types={"n_undefined": int},
    )
    numbers = {"difference": difference, **tested, "samples": samples}
    result = _plain(results[0]).assign(numbers).assign_attrs(n_resamples=given.get("n_resamples", 9999), exact=0)
    if given.get("adjust") is not None:
        result = families.adjusted(result, given["adjust"], given.get("within"))
    return result if given.get("keep_samples") else result.drop_vars("samples")


def _pvalue(observed: float, row: FloatArray, *, alternative: str) -> tuple[float, int]:
    undefined = int(np.isnan(row).sum())
    if np.isnan(observed) or undefined == len(row):
        return np.nan, undefined if not np.isnan(observed) else 0
    beyond = {
        "two-sided": np.abs(row) >= abs(observed) - TOLERANCE,
        "greater": row >= observed - TOLERANCE,
        "less": row <= observed + TOLERANCE,
    }[alternative]
    return (1 + int(beyond.sum())) / (1 + len(row) - undefined), undefined


def _plain(result: xr.Dataset) -> xr.Dataset:
    return result.drop_vars(["samples"], errors="ignore")


ESTIMATES = Pooled(_of_estimates, lambda given: False)
INTERVALS = Pooled(_of_intervals, _unless_jackknife)
SWAPS = Pooled(functools.partial(_of_tests, centred_on_estimate=False), lambda given: True)
DRAWS = Pooled(functools.partial(_of_tests, centred_on_estimate=True), lambda given: True)
