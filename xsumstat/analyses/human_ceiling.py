"""How well do raters agree with each other, and metrics with them: `human_ceiling`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import clustering, jackknifed
from xsumstat.analyses import groups as slices
from xsumstat.analyses.measure import (
    Draws,
    Measure,
    by_gold,
    checked_measure,
    checked_resample,
    on_scale,
    random_dims,
    these_systems,
    threshold_attrs,
    why_undefined,
)
from xsumstat.analyses.raters import check_several, higher_is_better, ratings_of
from xsumstat.coefficients.layers import pooled
from xsumstat.core import levels, validate
from xsumstat.core.types import CorrelationFunction, FloatArray, IntArray
from xsumstat.dataset import (
    align,
    calibrated,
    checks,
    facts,
    few_systems,
    golds,
    labelled,
    leakage,
    metric_choice,
    near_copies,
    results,
    value_checks,
)
from xsumstat.dataset import scores as schema
from xsumstat.inference import jackknife
from xsumstat.resampling.bootstrap import BootstrapInterval
from xsumstat.resampling.ceiling import NAMES, BootstrapCeiling, JackknifeCeiling

# What the raters themselves are called among metrics.
RATER = "rater"


@validate.public
@slices.with_groups
def human_ceiling(
    ds: xr.Dataset,
    rating: str | xr.DataArray | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    along: str = "rater",
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    method: str = "auto",
    interval: str | None = None,
    resample: str | tuple[str, ...] = "auto",
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    by: str | None = None,
    cluster: str | tuple[str, ...] | None = None,
    positive: float | str | Sequence[float | str] | None = None,
    missing: str = "pairwise",
    undefined: str = "drop",
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Agreement of raters with each other, and of metrics with the same raters.

    Parameters
    ----------
    {ds.ratings rating}
    metric : label, list of labels or bool DataArray, optional
        Metrics to compare with raters. Default: all except human scores and covariates.
    {along.raters level coefficient}
    method : {"auto", "jackknife", "bootstrap"}, default "auto"
        "auto" is the jackknife where `ci` uses it, if all scored the same outputs of 4 systems or more.
    {interval.plain resample.auto n_resamples confidence_level by cluster positive missing undefined rng progress}

    {dataset}
        `metric` has the metrics, and "rater" for the raters themselves. On (metric, ...): ``correlation`` (mean over
        raters), ``ci_low``, ``ci_high``, ``standard_error``, ``n_undefined``, and ``difference``, ``difference_low``,
        ``difference_high`` (metric less rater). ``by_rater(metric, rater, ...)``: correlations for each rater.

    Notes
    -----
    Scope: these raters; `resample` says which systems and inputs. A metric is compared with one rater at a time, on
    this rater's outputs and against the same other raters. For coefficients of classes such as "kappa" each other rater
    is used singly, because a mean is no class. If a metric lacks scores, its difference compares it with raters on the
    outputs that it scored. A metric above the ceiling need not see what raters see. A rater must be the same person
    throughout. Formulas: documentation, "How intervals and tests are computed".

    Examples
    --------
    >>> import numpy as np, xarray as xr, xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> noise = xr.DataArray(np.random.default_rng(0).normal(size=(3, 12, 30)), dims=("rater", "system", "input"))
    >>> rating = ds.score.sel(metric="human", drop=True) + 8 * noise
    >>> ds.meta.human_ceiling(rating, metric="judge", level="input").correlation.to_series().round(2).to_dict()
    {'judge': 0.7, 'rater': 0.72}
    """
    as_given, name = ratings_of(ds, rating, along)
    ratings = higher_is_better(ds, as_given, along)
    ratings = _who_rated(ratings, along)
    check_several(ratings, along)
    validate.choice("method", method, ("auto", "jackknife", "bootstrap"))
    if interval is not None:
        validate.choice("interval", interval, ("percentile", "basic", "normal"))
    measure = checked_measure(level, coefficient, missing, undefined)
    dims = checked_resample(resample, measure, layers=False, auto=True)
    names = clustering.checked(cluster, measure, refused="resample='cell'" if "cell" in dims else "")
    draws = Draws.checked(n_resamples, rng, progress=progress)
    confidence_level = validate.fraction("confidence_level", confidence_level)
    score = schema.prepare_computed(ds, metric_choice.automatic(ds, metric))
    if not names:
        clustering.warn_of_documents(score, dims)
    ratings = clustering.carried(ratings, names, score)
    calibrated.refuse(score, "human_ceiling")
    if RATER in score["metric"].values.tolist():
        raise ValueError(f"metric {RATER!r} has the name that the raters themselves get; rename it")
    constant = measure.coefficient.of_constants
    classes = measure.coefficient.scale in ("classes", "two")
    ready: dict[str, Any] = {"level": level, "missing": measure.missing, "classes": classes}
    ready |= {"these_systems": these_systems(resample, dims), "undefined": undefined}
    ready["ties_left_out"] = measure.leaves_ties_out
    with value_checks.held() as held:
        scores = _with_raters(score, ratings, name, along, constant=constant, texts=golds.texts_of(ds), **ready)
    for caveat in held.caveats:
        empty = caveat.code == "labels_without_cells"  # others may have one rating, which is no gold here
        both = "ratings by two raters and a metric score"
        validate.warn(caveat.said(checks.empty(**caveat.fields, both=both)) if empty else caveat)
    dims = random_dims(resample, dims, scores.shape)
    measure = by_gold(on_scale(measure, scores, positive), scores.gold)
    checks.check_resampled(scores, tuple(dim for dim in dims if dim != "cell") or facts.CELLS)
    near_copies.check(scores, dims, names)
    method = _interval_method(method, measure, dims, interval, scores, along)
    drawn = method == "bootstrap"
    clusters = clustering.of_scores(scores.score, names, dims, drawn=drawn) if names else None
    of_all = range(scores.score.sizes["metric"]), measure, scores.score.sizes[along]
    attrs: dict[str, Any] = {"confidence_level": confidence_level, "resample": dims, "cluster": names or None}
    if method == "jackknife":
        job: BootstrapCeiling | JackknifeCeiling = JackknifeCeiling(*of_all, dims, confidence_level, clusters)
    else:
        kind = interval or "percentile"
        how = BootstrapInterval(kind, dims, draws.n_resamples, draws.seed, confidence_level, clusters)
        job, attrs = BootstrapCeiling(*of_all, how), {**attrs, "interval": kind, **draws.attrs}
    found = _found(job, scores, along, draws.progress)
    members = levels.members(level)
    copied = measure.coefficient.copies_agree and level != "global" and members in dims
    if attrs.get("interval") == "percentile" and copied:
        of_members = None if clusters is None else clusters[facts.CELLS.index(members)]
        found = _without_copies(found, scores, members, measure.coefficient.bounds, of_members)
    if classes:
        by_rater = _by_first(found["by_rater"], along, ratings.sizes[along])
        found = found.drop_vars("by_rater").assign(by_rater=by_rater)
    if along in ratings.indexes:
        found = found.assign_coords({along: ratings.indexes[along]})
    spreads = facts.spread(scores.score), facts.spread(scores.gold)
    checks.warn_undefined(found["by_rater"], *spreads, why_undefined(measure.coefficient))
    if method == "jackknife":
        needs = jackknifed.needs(measure, dims, scores.shape, clusters=clusters)
        few_systems.warn_without(found, "correlation", scores, measure, "jackknife", needs)
    else:
        checks.warn_resamples(found["n_undefined"], n_resamples)
        checks.warn_outside(found, "correlation", n_resamples)
    lacking = [] if measure.own_cells else _lacking(score, ratings, along)
    if lacking:
        same = method if method == "bootstrap" else "auto"  # raters may lack inputs there
        asked: dict[str, Any] = {"along": along, "level": level, "coefficient": coefficient, "method": same}
        asked |= {"interval": interval, "resample": dims, "n_resamples": n_resamples, "cluster": cluster}
        asked |= {"confidence_level": confidence_level, "positive": positive, "undefined": undefined, "rng": draws.seed}
        found = _on_own_outputs(found, ds, as_given, lacking, **asked)
        attrs["on_own_outputs"] = ", ".join(map(str, lacking))
    attrs |= {**threshold_attrs(measure.coefficient, None), **measure.attrs}
    attrs |= {"method": method, "rating": name, "along": along}
    result = results.result(found, scores, analysis="human_ceiling", **attrs)
    del result.attrs["gold"]
    return result.transpose("metric", along, ..., missing_dims="ignore")


def _lacking(score: xr.DataArray, ratings: xr.DataArray, along: str) -> list[Hashable]:
    """Metrics without a score for some output that two raters rated."""
    rated = (ratings.notnull().sum(along) > 1).reset_coords(drop=True)
    lost = score.isnull().reset_coords(drop=True) & rated
    lost = lost.any([dim for dim in lost.dims if dim != "metric"])
    return [label for label, some in zip(lost["metric"].values.tolist(), lost.values, strict=True) if some]


def _on_own_outputs(
    found: xr.Dataset, ds: xr.Dataset, ratings: xr.DataArray, lacking: Sequence[Hashable], **how: Any
) -> xr.Dataset:
    """Differences of metrics that lack scores from raters on the outputs that each of them scored."""
    # Missing scores change the range of quality, and so the metric's agreement, but not that of raters on all outputs.
    names = [name for name in NAMES if "difference" in name]
    for label in lacking:
        scored = ds["score"].sel(metric=label, drop=True).notnull().reset_coords(drop=True)
        here = found["metric"] == label
        try:
            with validate.kept_warnings():
                own = human_ceiling(ds, ratings.where(scored), metric=[label], **how)
        except ValueError as error:
            validate.warn(
                f"no difference of {label!r} from raters on the outputs that it scored: {error}", "no_interval"
            )
            found = found.assign({name: found[name].where(~here) for name in names})
            continue
        found = found.assign({name: found[name].where(~here, own[name].sel(metric=label, drop=True)) for name in names})
    return found


def _who_rated(ratings: xr.DataArray, along: str) -> xr.DataArray:
    """Without the raters who rated nothing, who would make a gold of all the others; they are named."""
    rated = ratings.notnull().any([dim for dim in ratings.dims if dim != along]).values
    if rated.all() or not rated.any():
        return ratings
    lost = np.flatnonzero(~rated)
    names = ratings.indexes[along][lost].tolist() if along in ratings.indexes else lost.tolist()
    validate.warn(
        f"left out {validate.counted(len(lost), 'rater')} without a rating: {validate.listing(names)}",
        "labels_left_out",
    )
    return ratings.isel({along: np.flatnonzero(rated)})


def _found(
    job: BootstrapCeiling | JackknifeCeiling, scores: schema.Scores, along: str, progress: bool | None
) -> xr.Dataset:
    core, gold_core = ["metric", along, "system", "input"], [along, "system", "input"]
    scores = replace(scores, score=scores.score.transpose(..., *core), gold=scores.gold.transpose(..., *gold_core))
    types = results.types(job.names)
    by_name = labelled.run(job, scores, "metric", types, core=core, gold_core=gold_core, progress=progress)
    by_rater = xr.concat([by_name.pop(f"by_rater_{at}") for at in range(job.n_raters)], along)
    found = xr.Dataset({"by_rater": by_rater, **by_name}).drop_vars("kind", errors="ignore")
    judged = found["metric"] != RATER
    return found.assign({name: found[name].where(judged) for name in NAMES if "difference" in name})


def _without_copies(
    found: xr.Dataset, scores: schema.Scores, members: str, bounds: tuple[float, float], clusters: IntArray | None
) -> xr.Dataset:
    """Limits of an accuracy with ties less what copies of a drawn member (a system) add, which agree with each other.

    With k members in g clusters of s each, a share k(1 − 1/g)/(k²(1 − 1/g) + Σs² − k) of the drawn pairs are copies on
    average, with the value 1. It is 1/k where each member is its own cluster.
    """
    there = scores.score.notnull() & scores.gold.notnull()
    k = there.sum(members)
    several = k.where(k > 1)
    share = 1 / several
    if clusters is not None:
        of_cluster = xr.DataArray(np.eye(int(clusters.max()) + 1)[clusters], dims=(members, "_cluster"))
        squares = (xr.dot(there.astype(float), of_cluster, dim=members) ** 2).sum("_cluster")
        others = 1 - 1 / of_cluster.sizes["_cluster"]
        share = several * others / (several**2 * others + squares - several)
    share = share.mean([dim for dim in share.dims if dim not in found["correlation"].dims])
    kept = 1 - share.reset_coords(drop=True)
    limits = {name: (found[name] - (1 - kept)) / kept for name in ("ci_low", "ci_high")}
    limits = {name: limit.clip(*bounds) for name, limit in limits.items()}
    most = bounds[1] - bounds[0]
    limits |= {name: (found[name] / kept).clip(-most, most) for name in ("difference_low", "difference_high")}
    limits["standard_error"] = found["standard_error"] / kept
    for value, low, high in (("correlation", "ci_low", "ci_high"), ("difference", "difference_low", "difference_high")):
        limits[low] = limits[low].where(~(limits[low] > found[value]), found[value])
        limits[high] = limits[high].where(~(limits[high] < found[value]), found[value])
    return found.assign(limits)


def _interval_method(
    method: str, measure: Measure, dims: tuple[str, ...], interval: Any, scores: schema.Scores, along: str
) -> str:
    if method == "jackknife" and interval is not None:
        raise ValueError(f"interval={interval!r} needs method='bootstrap', got method='jackknife'")
    if method == "jackknife" and "cell" in dims:
        raise ValueError("method='jackknife' leaves out systems and inputs; draws of 'cell' need method='bootstrap'")
    there, rated = scores.score.notnull(), scores.gold.notnull()
    alike = True
    sizes = []
    for dim, other in (("system", "input"), ("input", "system")):
        own = (there.any(other) & rated.any(other)) if measure.own_cells else (there & rated).any(other)
        alike &= bool((own == own.isel({"metric": 0, along: 0})).all())
        sizes.append(int(own.sum(dim).min()))
    if method == "jackknife" and not alike:
        raise ValueError("method='jackknife' needs scores of the same systems and inputs by each metric and rater")
    if method != "auto":
        return method
    shape = sizes[0], sizes[1]
    defined = (
        alike and jackknife.varying(shape, dims) == dims and not jackknife.too_few(shape, dims, dims, measure.level)
    )
    return jackknifed.interval_method(measure, dims, interval, False) if defined else "bootstrap"


def _with_raters(
    score: xr.DataArray,
    ratings: xr.DataArray,
    name: str,
    along: str,
    *,
    classes: bool,
    texts: tuple[str, ...],
    **settings: Any,
) -> schema.Scores:
    """Metrics, and the raters as one more, with the mean of the other raters (or, for `classes`, each) as gold."""
    leakage.warn_of_raters(*xr.align(score, ratings, join="inner"), name, along)
    core = [along, *facts.CELLS]
    gold = labelled.by_label(_means_without_each, [(ratings, core)], {"gold": core})["gold"]
    if classes:
        first, second = _pairs_of(ratings.sizes[along]).T
        bare = ratings.drop_vars(along, errors="ignore")
        ratings, gold = (bare.isel({along: at}) for at in (first, second))
    people = ratings.expand_dims(metric=np.array([RATER], dtype=object))
    each = xr.broadcast(align.without_coords(score), people, exclude=["metric"])
    everyone = xr.concat(each, "metric", coords="minimal", compat="override")
    everyone = everyone.where(people.squeeze("metric", drop=True).notnull())  # all on the outputs that a rater rated
    labels = everyone["metric"].values.tolist()
    known = everyone.assign_coords(kind=("metric", ["human"] * len(labels)))  # copies of raters were named above
    ds = known.to_dataset(name="score").assign_attrs({"labels": list(texts)} if texts else {})
    return schema.prepare(ds, gold.rename(name), labels, **settings)


def _pairs_of(raters: int) -> IntArray:
    return np.array([pair for pair in np.ndindex(raters, raters) if pair[0] != pair[1]])


def _by_first(by_pair: xr.DataArray, along: str, raters: int) -> xr.DataArray:
    first = _pairs_of(raters)[:, 0]
    parts = [by_pair.isel({along: np.flatnonzero(first == at)}).mean(along) for at in range(raters)]
    return xr.concat(parts, along)


def _means_without_each(ratings: FloatArray) -> FloatArray:
    """The mean of the other raters, for each rater, (raters, systems, inputs)."""
    ones = np.ones(len(ratings) - 1)
    return np.array([pooled(np.delete(ratings, at, axis=0), ones, "mean") for at in range(len(ratings))])
