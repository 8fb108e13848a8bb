"""Which system is better: `compare_systems`, for all pairs of systems."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.analyses import adjust as families
from xsumstat.analyses import clustering, few_ratings, rater_severity, system_differences, system_tests
from xsumstat.analyses import groups as slices
from xsumstat.analyses.measure import Draws
from xsumstat.analyses.system_tests import SystemTests, Test
from xsumstat.core import validate
from xsumstat.core.types import BoolArray, IntArray
from xsumstat.dataset import (
    checks,
    chunking,
    drawn,
    facts,
    golds,
    labelled,
    metric_choice,
    pair_results,
    result_attrs,
    results,
)
from xsumstat.dataset import scores as schema
from xsumstat.dataset.value_checks import Checks, by_metric
from xsumstat.inference import corrections
from xsumstat.inference.system_means import TARGETS

DIMS = ("system", "other_system")
# The bootstrap is liberal with fewer clusters.
_FEW_CLUSTERS = 20
_ORDERED = "difference statistic pvalue n_inputs n_clusters mean_difference ci_low ci_high standard_error df".split()


@validate.public
def compare_systems(
    ds: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    gold: Hashable | xr.DataArray | None = None,
    system: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    other: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    method: str = "paired_t",
    target: str = "new",
    statistic: str = "t",
    alternative: str = "two-sided",
    cluster: str | None = None,
    between: str | None = None,
    alpha: float = 0.05,
    adjust: str | None = None,
    within: str | Iterable[str] | None = None,
    n_resamples: int = 9999,
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Test which systems have a different mean score, for all pairs of systems.

    ``ds.meta.compare_systems(metric="human")`` runs paired t-tests on the inputs that two systems share.

    Parameters
    ----------
    {ds}
    metric : label, list of labels or bool DataArray, optional
        Scores to compare, human ones among them. Default all. For "ppi": the metric (or metrics) that help the ratings.
    gold : label, str or DataArray, optional
        Only for "ppi": the ratings, NaN where there is none. Default ``ds.attrs["gold"]``.
    system, other : label, list of labels or bool DataArray, optional
        Systems, and those to compare them with. Default all; `other` defaults to `system` if that is given.
    method : {"paired_t", "t", "wilcoxon", "monte_carlo", "hybrid", "bootstrap", "ppi"}, default "paired_t"
        "monte_carlo" swaps the scores of an input, "hybrid" draws inputs and swaps, "ppi" uses ratings of some inputs.
    target : {"new", "these"}, default "new"
        Only for "ppi": compare over inputs like these, or over the inputs that the metric scored.
    statistic : {"t", "wilcoxon"}, default "t"
        Statistic of "monte_carlo" and "hybrid".
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        "greater": the row's system is better than the column's.
    cluster : str, optional
        Coordinate of inputs, e.g. "document", that are left out, swapped or drawn together ("paired_t", "monte_carlo",
        "bootstrap").
    between : str, optional
        Coordinate of systems, e.g. "system_type": count significant pairs for each pair of its groups.
    alpha : float, default 0.05
        Significance level, between 0 and 1; limits have confidence 1 − alpha.
    {adjust.formula within}
    n_resamples : int, default 9999
        For the methods that sample. "monte_carlo" lists all swaps if there are at most this many.
    {rng progress}

    {dataset}
        On (metric, system, other_system, ...): ``difference`` of the means on shared inputs (positive if the row's
        system is better), ``statistic``, ``pvalue`` and ``n_inputs``; NaN on the diagonal. `cluster` adds
        ``n_clusters``, the number of clusters that both systems have. "paired_t", "t" and "ppi"
        add ``ci_low``, ``ci_high``, ``standard_error`` and ``df``, not corrected; "ppi" adds ``mean_difference``, and
        ``rank`` and ``cluster`` by system. By metric (and group, other_group): ``n_significant``, ``n_tests``.

    See Also
    --------
    system_means, compare_metrics

    Notes
    -----
    Null hypothesis: two systems have the same mean score. Scope: these systems on inputs like these. Choose "wilcoxon"
    for symmetric differences with heavy tails (it is liberal if they are skewed), "monte_carlo" for few inputs, "ppi"
    for few ratings. "t" is very conservative. "paired_t" is ``mean(d)/(sd(d)/√n)``. Formulas: documentation, "How
    intervals and tests are computed"; sizes: "Calibration". Source: Rankel, Conroy, Slud & O'Leary (2011), "Ranking
    Human and Machine Summarization Systems", §2, Tables 1 and 2.

    {demo}
    >>> test = ds.meta.compare_systems(metric="human", system="extractor-1", other="extractor-2")
    >>> test[["difference", "ci_low", "ci_high"]].to_array().values.squeeze().round(2)
    array([ 6.56,  1.72, 11.4 ])
    """
    validate.choice("method", method, (*system_tests.METHODS, system_differences.METHOD))
    validate.choice("statistic", statistic, system_tests.STATISTICS)
    if statistic != "t" and method not in system_tests.SWAPPED:
        raise ValueError(
            f"statistic={statistic!r} is for methods that swap, 'monte_carlo' and 'hybrid', not {method!r}"
        )
    validate.choice("alternative", alternative, validate.ALTERNATIVES)
    _check_ppi(ds, method, gold, target)
    if cluster is not None and method not in system_tests.CLUSTERED:
        raise ValueError(
            f"cluster={cluster!r} is for the methods {validate.listing(system_tests.CLUSTERED)}, not {method!r}"
        )
    alpha = validate.fraction("alpha", alpha)
    draws = Draws.checked(n_resamples, rng, progress=progress)
    if adjust is not None:
        validate.choice("adjust", adjust, corrections.OF_PVALUES)
    ds = labelled_systems(ds)
    later, ratings = Checks(), None
    if method == system_differences.METHOD:
        ratings, strata = few_ratings.drawn_from(ds, few_ratings.prepared(ds, gold, metric))
        score, later = ratings.score, ratings.later
    else:
        score = schema.prepare_metrics(ds, metric, level=None, later=later)
        n_cells = score.size // score.sizes["metric"]
        later.make(checks.report_unscored_beside, by_metric(facts.unscored_beside, [score]), n_cells)
        for label in metric_choice.human_labels(score):
            drawn.warn_ignored(ds, score.sel(metric=label), later)
    rows = metric_choice.choose(score, system, "system", dim="system")
    columns = rows if other is None else metric_choice.choose(score, other, "other", dim="system")
    pairs = system_tests.unordered(rows, columns)
    if not len(pairs):
        raise ValueError("a comparison needs two systems: system and other name only one")
    uneven = None
    if golds.ratings_in(ds):
        compared = sorted({*rows, *columns})
        by = [score.isel(metric=at) for at in range(score.sizes["metric"])] if ratings is None else [ratings.gold]
        for values in by:
            uneven = rater_severity.warn_uneven(ds, values, compared) or uneven
    codes = None if ratings is not None else _clusters(score, cluster, method)
    groups = None if between is None else slices.groups_of(ds, "between", between, ("system",))
    further = [*map(str, score.dims[:-2])] if ratings is None else ["metric", *ratings.further]
    families.check_correction(adjust, within, [*further, *DIMS])
    attrs: dict[str, Any] = {"alpha": alpha, "between": between, "uneven_raters": uneven}
    if ratings is not None:
        by_pair = system_differences.tested(ratings, strata, pairs, target, alternative, alpha)
        found = _laid_out(by_pair, pairs, score, rows, columns).expand_dims(metric=[ratings.gold_name])
        found = found.transpose("metric", *DIMS, ...)
        settings = system_differences.settings_of(ratings, target, alternative)
        settings |= strata.attrs(ds)
        attrs = {**settings, "confidence_level": 1 - alpha, **attrs, **_compared_systems(found)}
        result = results.result(found, ratings, analysis="compare_systems", **attrs)
    else:
        test = Test(method, statistic, alternative, draws.n_resamples, draws.seed, 1 - alpha)
        settings = system_tests.settings_of(test, score.sizes["input"] if codes is None else int(codes.max()) + 1)
        settings |= {} if codes is None else {"cluster": cluster}
        if method in system_tests.WITH_LIMITS:
            settings["confidence_level"] = 1 - alpha
        if adjust is not None:
            tests = _compared(score, rows, columns)
            families.check_resamples(adjust, within, tests, alpha=alpha, analysis="compare_systems", **settings)
        found = _tested(score, SystemTests(pairs, test, codes), rows, columns, draws.progress)
        warn_few(later, found, unit=cluster or "input")
        attrs = {**settings, **attrs, **result_attrs.sizes(score.isel(system=sorted({*rows, *columns})))}
        attrs |= _compared_systems(found)
        result = later.attached(results.result(found, score, analysis="compare_systems", **attrs))
    result = families.adjusted(result, adjust, within)
    if ratings is not None:
        result = result.assign(system_differences.in_order(result, families.decisive(result), alpha))
    return _with_counts(result, alpha, groups, rows, columns)


def _clusters(score: xr.DataArray, cluster: str | None, method: str) -> IntArray | None:
    """The cluster of each input; without `cluster`, documents are warned of."""
    if cluster is not None:
        codes = clustering.of_inputs(score, cluster)
        sizes = np.bincount(codes)
        if method == "bootstrap" and len(sizes) < _FEW_CLUSTERS:
            validate.warn(
                f"paired bootstrap tests of {validate.counted(len(sizes), 'cluster')} are liberal (with 5 clusters, "
                "17 % of equal systems differed at .05); use method='paired_t'",
                "few_inputs",
            )
        elif method == "paired_t" and clustering.are_unequal(sizes):
            validate.warn(
                "clusters of inputs have unequal sizes: paired t-tests are liberal; use method='monte_carlo'",
                "unequal_clusters",
            )
        return codes
    way = "" if method in system_tests.CLUSTERED else "method='paired_t' takes cluster={name!r}"
    clustering.warn_of_documents(score, ("input",), way)
    return None


def _compared_systems(found: xr.Dataset) -> dict[str, int]:
    """The number of systems that are compared with another; lazy ones are counted by label."""
    difference = found["difference"]
    if chunking.is_lazy(difference):
        return {}
    n = sum(pair_results.compared(difference, DIMS).values())
    return {"n_systems": n} if n else {}


def _check_ppi(ds: xr.Dataset, method: str, gold: Any, target: str) -> None:
    validate.choice("target", target, TARGETS)
    is_metric = isinstance(gold, str) and gold in ds.indexes.get("metric", ())
    for name, is_given in (("gold", gold is not None), ("target", target != "new")):
        if is_given and method != system_differences.METHOD:
            alone = f"; metric={gold!r} compares the human scores alone" if is_metric else ""
            raise ValueError(f"{name}= is for method='ppi', which compares ratings with the help of a metric{alone}")


def _with_counts(result: xr.Dataset, alpha: float, groups: Any, rows: list[int], columns: list[int]) -> xr.Dataset:
    if groups is not None:
        _, of_system, labels = groups
        used = [label for label in labels if label in {of_system[at] for at in (*rows, *columns)}]
        return results.described(result.assign(_counted(result, alpha, of_system, used, rows, columns)))
    again = pair_results.mirrored(result, result["pvalue"])
    counted = {name: each.variable for name, each in _tests(result, alpha).items()}
    if again is not None:
        counted = {name: each & ~again.variable for name, each in counted.items()}
    return results.with_variables(result, {name: each.sum(DIMS) for name, each in counted.items()})


def labelled_systems(ds: xr.Dataset) -> xr.Dataset:
    """The same, the systems numbered where they have no labels."""
    if "system" in ds.indexes or "system" not in ds.dims:
        return ds
    return ds.assign_coords(system=np.arange(ds.sizes["system"]))


def _tested(
    score: xr.DataArray, job: SystemTests, rows: list[int], columns: list[int], progress: bool | None
) -> xr.Dataset:
    types = {name: int if name in ("n_inputs", "n_clusters") else float for name in job.names}
    inputs = [(score, facts.CELLS)]
    by_pair = labelled.over_labels(job, inputs, "_pair", types, lazy=chunking.is_lazy(score), progress=progress)
    return _laid_out(by_pair, job.targets, score, rows, columns).transpose("metric", *DIMS, ...)


def _compared(score: xr.DataArray, rows: list[int], columns: list[int]) -> xr.DataArray:
    tests = pair_results.different(score.indexes["system"], rows, columns, DIMS)
    return tests.expand_dims({str(dim): score.sizes[dim] for dim in score.dims[:-2]})


def _laid_out(
    by_pair: dict[str, xr.DataArray], pairs: IntArray, score: xr.DataArray, rows: list[int], columns: list[int]
) -> xr.Dataset:
    numbers = {name: each.variable for name, each in by_pair.items()}
    cells = pair_results.square(numbers, pairs.tolist(), rows, columns, DIMS, analysis="compare_systems")
    ours, theirs = (score.isel(system=each) for each in (rows, columns))
    ordered = {name: cells[name] for name in _ORDERED if name in cells}
    laid_out = xr.Dataset(ordered, pair_results.coords_beside(by_pair))
    return pair_results.labelled(laid_out, ours, theirs, "system")


def warn_few(later: Checks, found: xr.Dataset, used: xr.DataArray | None = None, unit: str = "input") -> None:
    """Name the systems in use that share at most one input (or cluster of them) and cannot be compared."""
    shared = found.get("n_clusters", found["n_inputs"])
    later.make(functools.partial(_warn_of_few, unit), shared, used)


def _warn_of_few(unit: str, shared: xr.DataArray, used: xr.DataArray | None) -> None:
    ours, theirs = (shared.indexes[dim] for dim in DIMS)
    several = np.array([[a != b for b in theirs] for a in ours])
    if used is not None:
        several &= used.values[:, None] & used.values
    counts = shared.transpose(*DIMS, ...).values.reshape(len(ours), len(theirs), -1)
    for n, what in ((0, f"no {unit}"), (1, f"only one {unit}")):
        _warn_of_pairs(ours, theirs, (counts == n).any(axis=-1) & several, what)


def _warn_of_pairs(ours: pd.Index[Any], theirs: pd.Index[Any], few: BoolArray, what: str) -> None:
    names = {frozenset((str(ours[a]), str(theirs[b]))) for a, b in np.argwhere(few)}
    if names:
        texts = sorted(" and ".join(sorted(each)) for each in names)
        validate.warn(f"systems with {what} in common: {validate.listing(texts)}", "no_common_scores")


def _counted(
    result: xr.Dataset, alpha: float, groups: list[str | None], labels: list[str], rows: list[int], columns: list[int]
) -> dict[str, xr.DataArray]:
    ours, theirs = (
        xr.DataArray([[float(groups[at] == label) for at in places] for label in labels], {name: labels}, (name, dim))
        for dim, name, places in zip(DIMS, ("group", "other_group"), (rows, columns), strict=True)
    )
    apart = xr.DataArray(1 - np.eye(len(labels)), dims=("group", "other_group"))
    tables: dict[str, xr.DataArray] = {}
    for name, each in _tests(result, alpha).items():
        cells = each.drop_vars([coord for coord in each.coords if coord not in each.dims])
        again = pair_results.mirrored(result, result["pvalue"])
        # Without direction a pair counts once, and so it does in the cell of its two groups and in the mirrored cell.
        table = xr.dot((cells if again is None else cells & ~again).astype(float), ours, theirs, dim=list(DIMS))
        if again is not None:
            table = table + table.rename(group="other_group", other_group="group") * apart
        tables[name] = table.transpose("metric", "group", "other_group", ...)
    return tables


def _tests(result: xr.Dataset, alpha: float) -> dict[str, xr.DataArray]:
    return {"n_significant": families.decisive(result) <= alpha, "n_tests": result["pvalue"].notnull()}
