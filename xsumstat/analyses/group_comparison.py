"""Do metrics agree better with human scores in some groups of systems or inputs: `compare_groups`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import catalogue
from xsumstat.analyses import adjust as families
from xsumstat.analyses import clustering, jackknifed
from xsumstat.analyses import groups as slices
from xsumstat.analyses.measure import (
    check_given,
    checked_measure,
    checked_resample,
    entrance,
    random_dims,
    settled,
    these_systems,
    threshold_attrs,
    warn_drawn_threshold,
    why_undefined,
)
from xsumstat.core import validate
from xsumstat.core.types import CorrelationFunction
from xsumstat.dataset import calibrated, checks, facts, labelled, near_copies, pair_results, results, value_checks
from xsumstat.dataset import scores as schema
from xsumstat.inference import corrections
from xsumstat.resampling.group_jackknife import OF_ALL, OF_GROUP, OF_PAIR, GroupJackknife, Groups

_ORDER = (
    *("difference", "ci_low", "ci_high", "standard_error", "df", "pvalue", "pvalue_adjusted", "significant"),
    *("correlation", "heterogeneity", "df_numerator", "df_denominator"),
    *("heterogeneity_pvalue", "heterogeneity_pvalue_adjusted", "n_groups"),
)
# Ratio of the numbers of inputs of two groups from which their system means differ in reliability.
_MUCH_LARGER = 2


@validate.public
def compare_groups(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    by: str | None = None,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    resample: str | tuple[str, ...] = "auto",
    confidence_level: float = 0.95,
    adjust: str | None = "holm",
    within: str | Iterable[str] | None = None,
    cluster: str | tuple[str, ...] | None = None,
    given: str | xr.DataArray | Sequence[str | xr.DataArray] | None = None,
    positive: float | str | Sequence[float | str] | None = None,
    threshold: float | xr.DataArray | None = None,
    calibrate_on: xr.Dataset | None = None,
    missing: str = "pairwise",
    undefined: str = "drop",
    progress: bool | None = None,
) -> xr.Dataset:
    """Test whether a metric agrees better with human scores in some groups.

    ``ds.meta.compare_groups("human", by="domain")`` tests for each metric all groups at once, then each pair of groups.

    Parameters
    ----------
    {ds gold}
    by : str
        Coordinate of systems or of inputs whose groups are compared, e.g. "domain" or "system_type". Required.
    {metric level coefficient resample.auto}
        If `by` describes systems, each group needs 5.
    {confidence_level.test}
    adjust : {"holm", "bonferroni", "bh", "by"}, default "holm"
        Correction of the p-values for the number of tests; None for no correction.
    within : dim or dims, optional
        Dims of one family of tests. Default: all tests. ``("domain", "other_domain")`` corrects each metric alone.
    {cluster given positive threshold calibrate_on missing undefined progress}

    {dataset}
        For ``by="domain"``, on (metric, domain, other_domain): ``difference`` (``domain`` minus ``other_domain``),
        ``ci_low``, ``ci_high``, ``standard_error``, ``df``, ``pvalue``, ``pvalue_adjusted``, ``significant``, ``bias``,
        ``fell_back`` and ``n_undefined``; NaN and False on the diagonal. On (metric, domain): ``correlation``. On
        (metric): ``heterogeneity`` (F) with ``df_numerator`` and ``df_denominator``, ``heterogeneity_pvalue``,
        ``heterogeneity_pvalue_adjusted`` and ``n_groups``. ``attrs["scope"]``.

    Notes
    -----
    Null hypothesis: the groups have the same correlation. `resample` sets the scope. Groups share their systems or
    inputs: a difference has the variance ``V_1 + V_2 − 2C``, from one jackknife over all groups. It need not come from
    the metric: groups of systems with a narrow range of quality have lower correlations and so, at system level, have
    groups of few inputs. Formulas: documentation, "How intervals and tests are computed"; sizes and power:
    "Calibration". Sources: Krishnamoorthy & Yu (2004), Stat. Probab. Lett. 66. Tipton & Pustejovsky (2015), JEBS 40.
    Zou & Donner (2008).

    {demo}
    >>> ds = ds.assign_coords(domain=("input", ["news", "chat", "web"] * 10))
    >>> found = ds.meta.compare_groups("human", by="domain", metric=["judge", "rouge"], level="input")
    >>> found.heterogeneity_pvalue.to_series().round(2).to_dict()
    {'judge': 0.72, 'rouge': 0.9}
    """
    measure = checked_measure(level, coefficient, missing, undefined)
    confidence_level = validate.fraction("confidence_level", confidence_level)
    check_given(measure.coefficient, given)
    if adjust is not None:
        validate.choice("adjust", adjust, corrections.OF_PVALUES)
    dims = checked_resample(resample, measure, layers=False, auto=True)
    if "cell" in dims:
        raise ValueError(
            "compare_groups leaves out systems and inputs: resample must be 'both', 'system' or 'input', got 'cell'"
        )
    names = clustering.checked(cluster, measure, given)
    ready: dict[str, Any] = {**entrance(measure), "given": given, "these_systems": these_systems(resample, dims)}
    scores = schema.prepare(ds, gold, metric, **ready)
    calibrated.refuse(scores.score, "compare_groups")
    groups, labels = _groups(ds, scores, by)
    by = str(by)
    _warn_of_ties(scores, groups, labels, by, measure)
    within = ("metric", by, f"other_{by}") if within is None and adjust is not None else within
    families.check_correction(adjust, within, ["metric", by, f"other_{by}", *scores.further])
    dims = _random(resample, dims, scores.shape, groups, by)
    checks.check_resampled(scores, dims)
    measure = settled(measure, scores, threshold, calibrate_on, gold, positive)
    near_copies.check(scores, dims, names)
    clusters = clustering.of_scores(scores.score, names, dims)
    targets = tuple((at, row) for at in scores.rows for row in range(groups.n_rows))
    job = GroupJackknife(targets, measure, groups, dims, confidence_level, clusters=clusters)
    found = _found(scores, job, by, labels, progress)
    alpha = families.alpha_of(confidence_level)
    attrs: dict[str, Any] = {"method": "jackknife", "by": by, "alternative": "two-sided", "alpha": alpha}
    attrs |= {"confidence_level": confidence_level, "resample": dims, "cluster": names or None}
    attrs |= {**measure.attrs, **threshold_attrs(measure.coefficient, calibrate_on)}
    tested = families.adjusted(results.result(found, scores, analysis="compare_groups", **attrs), adjust, within)
    return families.decided(tested, alpha, _ORDER)


def _groups(ds: xr.Dataset, scores: schema.Scores, by: Any) -> tuple[Groups, list[str]]:
    dim, _, labels = slices.groups_of(ds, "by", by, facts.CELLS)
    if {by, f"other_{by}"} & catalogue.RESERVED:
        raise ValueError(f"by={by!r} is a name that results need; rename the coordinate")
    for dim in {by, f"other_{by}"} & set(scores.further):
        raise ValueError(f"score or gold has the additional dim {dim!r}, which results of by={by!r} need; rename it")
    if len(labels) < 2:
        raise ValueError(f"by={by!r} must have 2 groups or more, got {validate.listing(labels)}")
    places = (np.array(each, dtype=np.int64) for each in slices.members_in(scores.score, by, labels).values())
    return Groups(dim, tuple(places)), labels


def _warn_of_ties(scores: schema.Scores, groups: Groups, labels: list[str], by: str, measure: Any) -> None:
    """Report inputs without a correlation in a group of systems: fewer systems tie more often than all."""
    if groups.dim != "system" or not measure.leaves_ties_out or scores.used is not None:
        return
    there = [(label, places) for label, places in zip(labels, groups.places, strict=True) if len(places) > 1]
    for label, places in there:
        part, human = (values.isel(system=places) for values in (scores.score.isel(metric=scores.rows), scores.human))
        with value_checks.held() as held:
            checks.report_ties(facts.ties(part, human), part.sizes)
        for caveat in held.caveats:
            validate.warn(caveat.of(f"{by}={label}"))


def _random(resample: Any, dims: tuple[str, ...], shape: tuple[int, int], groups: Groups, by: str) -> tuple[str, ...]:
    """The dims whose labels are random: for "auto" inputs alone where there are few systems, be it in one group."""
    systems, inputs = shape
    least = min((len(each) for each in groups.places if len(each)), default=0)
    found = random_dims(resample, dims, (least if groups.dim == "system" else systems, inputs))
    if found != random_dims(resample, dims, shape):
        validate.warn(
            f"a group of {by} has only {validate.counted(least, 'system')}: the result is for these systems only. "
            f"For new systems, leave out "
            f"groups of fewer than {facts.ENOUGH_SYSTEMS}",
            "few_systems",
        )
    return found


def _found(
    scores: schema.Scores, job: GroupJackknife, by: str, labels: list[str], progress: bool | None
) -> dict[str, xr.DataArray]:
    inputs = [(scores.score, facts.CORE), (scores.human, scores.gold_core)]
    # Lazy scores keep all systems and inputs, whose places the groups have: what has no scores takes no part.
    types = dict.fromkeys(job.names, float)
    told = labelled.over_labels(job, inputs, "_target", types, lazy=scores.used is not None, progress=progress)
    metrics = scores.score.isel(metric=scores.rows).coords["metric"]
    sizes = {"metric": len(scores.rows), "_row": job.groups.n_rows}
    coords = {**told["correlation"].coords, **metrics.coords}
    numbers = {name: each.variable.unstack(_target=sizes) for name, each in told.items()}
    of_group = {name: numbers[name].isel(_row=xr.Variable(by, np.arange(len(labels)))) for name in OF_GROUP}
    of_pair, places = {name: numbers[name] for name in OF_PAIR}, range(len(labels))
    how: dict[str, Any] = {"analysis": "compare_groups", "along": "_row"}
    cells = pair_results.square(of_pair, job.groups.pairs, places, places, (by, f"other_{by}"), **how)
    cells |= {"correlation": of_group["correlation"], **{name: numbers[name].isel(_row=0) for name in OF_ALL}}
    other = f"other_{by}"
    coords |= {dim: xr.Variable(dim, np.array(labels, dtype=object)) for dim in (by, other)}
    coords[other].attrs |= {"long_name": f"{by} to compare with", "units": "1"}
    found, beside = (_labelled(each, coords, by) for each in (cells, of_group))
    _warn(found, beside, scores, job, by, labels)
    return found


def _labelled(cells: Mapping[str, xr.Variable], coords: Mapping[Any, Any], by: str) -> dict[str, xr.DataArray]:
    found = {}
    for name, each in cells.items():
        each = each.transpose("metric", *(dim for dim in (by, f"other_{by}") if dim in each.dims), ...)
        own = {key: value for key, value in coords.items() if key in each.dims or key not in (by, f"other_{by}")}
        found[name] = xr.DataArray(each, own)
    return found


def _warn(
    found: Mapping[str, xr.DataArray],
    of_group: Mapping[str, xr.DataArray],
    scores: schema.Scores,
    job: GroupJackknife,
    by: str,
    labels: list[str],
) -> None:
    later, measure = scores.later, job.measure
    warn_drawn_threshold(measure, scores.shape)
    jackknifed.warn_of_ranked_means(
        measure, job.dims, "10 % of equally good metrics", "use coefficient='pearson' or level='input'"
    )
    sizes = [len(each) for each in job.groups.places if len(each)]
    if measure.level == "system" and job.groups.dim == "input" and max(sizes) > _MUCH_LARGER * min(sizes):
        validate.warn(
            f"{by} has groups of {min(sizes)} to {max(sizes)} inputs: means of few inputs are noisier, which can "
            "lower correlations at system level. Use level='input' to compare groups of different sizes",
            "unequal_groups",
        )
    why = why_undefined(measure.coefficient, measure.given)
    later.make(checks.warn_undefined, of_group["correlation"], *scores.spreads, why)
    needs = jackknifed.needs(measure, job.dims, scores.shape, clusters=job.clusters)
    low = of_group["correlation"].where(of_group["without_limits"] == 0)
    later.make(checks.warn_without_limits, of_group["correlation"], low, "jackknife", needs)
    later.make(checks.warn_where, of_group["group_fell_back"] > 0, checks.FELL_BACK["jackknife"], "fell_back")
    untested = found["heterogeneity_pvalue"].isnull() & (found["n_groups"] > 1)
    later.make(
        checks.warn_where,
        untested,
        f"no test of all groups, as they are too many for so few {'systems' if 'system' in job.dims else 'inputs'}, or "
        "their covariances are singular, for",
        "no_test",
    )
    metrics = scores.score["metric"].values[scores.rows].tolist()
    names = [f"{metric} ({by} {label})" for metric in metrics for label in labels]
    resting = of_group["rests_on"].transpose(..., "metric", by)
    jackknifed.warn_resting(resting, names, scores, measure)
