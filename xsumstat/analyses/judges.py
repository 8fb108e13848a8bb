"""May a judge replace a rater, and how well do raters agree: `alt_test` and `human_ceiling`."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import calibration, jackknifed, scales
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
from xsumstat.analyses.raters import ratings_of
from xsumstat.coefficients.layers import pooled
from xsumstat.core import validate
from xsumstat.core.types import TOLERANCE, CorrelationFunction, FloatArray, IntArray
from xsumstat.dataset import (
    align,
    calibrated,
    checks,
    facts,
    golds,
    labelled,
    leakage,
    metric_choice,
    near_copies,
    result_attrs,
    results,
)
from xsumstat.dataset import scores as schema
from xsumstat.inference import corrections, jackknife
from xsumstat.inference.calibration import Calibration, of_folds
from xsumstat.resampling import draws
from xsumstat.resampling.bootstrap import BootstrapInterval
from xsumstat.resampling.ceiling import NAMES, BootstrapCeiling, JackknifeCeiling

ALIGNMENTS, SCALES, TESTS = (
    ("rmse", "accuracy"),
    ("auto", "raw", "calibrated", "standardised", "ranks"),
    ("t", "wilcoxon"),
)
# What the raters themselves are called among metrics.
RATER = "rater"
_FOLDS = 5  # in which a judge is calibrated
_OF_RATER = ("advantage", "human_advantage", "pvalue", "n_items")


@validate.public
@slices.with_groups
def alt_test(
    ds: xr.Dataset,
    rating: str | xr.DataArray | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    along: str = "rater",
    margin: float = 0.2,
    alignment: str = "rmse",
    scale: str = "auto",
    test: str = "t",
    alpha: float = 0.05,
    by: str | None = None,
    min_items: int = 30,
) -> xr.Dataset:
    """Test whether a judge may replace a human rater (alternative annotator test).

    Parameters
    ----------
    {ds.ratings rating}
    metric : label, list of labels or bool DataArray, optional
        The judges. Default: all metrics except human scores and covariates.
    {along.raters}
    margin : float, default 0.2
        How far the rater's share of wins may exceed the judge's. The authors use 0.2 if the raters are experts, 0.15 if
        they are skilled, and 0.1 if they are crowd workers.
    alignment : {"rmse", "accuracy"}, default "rmse"
        Agreement with the other raters: root mean square difference, or the share of equal ratings.
    scale : {"auto", "raw", "calibrated", "standardised", "ranks"}, default "auto"
        "raw" uses scores as given. "calibrated" gives them the distribution and grades of the ratings (see
        `calibrate`). "auto" calibrates judges on another scale. "standardised" and "ranks" change ratings, too.
    test : {"t", "wilcoxon"}, default "t"
        One-sided test of the items. The authors advise "wilcoxon" for fewer than 30 items; in our simulations it is
        very liberal (documentation, "Calibration").
    alpha : float, default 0.05
        Bound on the false discovery rate over the raters (Benjamini & Yekutieli).
    {by}
    min_items : int, default 30
        Leave out raters with fewer items; at least 2.

    {dataset}
        On (metric, rater, ...): ``advantage``, the share of items on which the judge is no worse than the rater,
        ``human_advantage``, ``n_items``, ``pvalue`` and ``pvalue_adjusted``. On (metric, ...): ``winning_rate``, the
        share of raters with ``pvalue_adjusted ≤ alpha``, and ``advantage_probability``, the mean advantage.
        ``attrs["other_scale"]`` lists judges on another scale, which get no verdict; ``attrs["calibrated"]`` lists
        judges that were calibrated first.

    Notes
    -----
    Null hypothesis: the rater's share of wins exceeds the judge's by at least `margin`. A tie is a win for both. A
    judge may replace one of these raters if its winning rate is at least 0.5. The test treats items (outputs with the
    judge's, the rater's and another rating) as independent; with many systems on few inputs it is liberal. Sizes:
    documentation, "Calibration". Source: Calderon, Reichart & Dror (2025), "The Alternative Annotator Test for
    LLM-as-a-Judge".

    Examples
    --------
    >>> import numpy as np, xarray as xr, xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> noise = xr.DataArray(np.random.default_rng(0).normal(size=(3, 12, 30)), dims=("rater", "system", "input"))
    >>> rating = ds.score.sel(metric="human", drop=True) + 8 * noise
    >>> ds.meta.alt_test(rating, metric="judge", scale="standardised").winning_rate.values.round(2)
    array([0.67])
    """
    ratings, name = ratings_of(ds, rating, along)
    _check_raters(ratings, along)
    margin = validate.number("margin", margin, 0.0, 1.0)
    validate.choice("alignment", alignment, ALIGNMENTS)
    validate.choice("scale", scale, SCALES)
    validate.choice("test", test, TESTS)
    if alignment == "accuracy" and scale in ("standardised", "ranks"):
        raise ValueError(
            f"alignment='accuracy' compares the values that raters give: scale must be 'auto', 'raw' or 'calibrated', "
            f"got {scale!r}"
        )
    alpha = validate.fraction("alpha", alpha)
    min_items = validate.integer("min_items", min_items, 2)
    score = schema.prepare_computed(ds, metric_choice.automatic(ds, metric))
    score, human, _ = align.aligned(score, ratings.transpose(..., "system", "input"))
    leakage.warn_of_raters(score, human, name, along)
    other = scales.elsewhere(score, human) if scale in ("auto", "raw") else None
    attrs: dict[str, Any] = {}
    if other is not None and scale == "auto" and score.sizes["input"] > 1:
        score, attrs = _calibrated(score, human, along, other)
        other = xr.zeros_like(other)
    elif scale == "calibrated":
        score, attrs = _calibrated(score, human, along, xr.ones_like(score["metric"], dtype=bool))
    kept = scale if scale in ("standardised", "ranks") else "raw"
    found = _beside_each_rater(score, human, along, _Comparison(margin, alignment, kept, test))
    found = _with_items(found, min_items)
    if other is not None:
        scales.warn(score, human, other)
        found["pvalue"] = found["pvalue"].where(~other)
    found = _over_raters(found, along, alpha)
    attrs |= {"rating": name, "along": along, "margin": margin, "alignment": alignment, "scale": scale}
    attrs |= {"method": test, "alpha": alpha, "adjust_method": "by", "alternative": "less", "min_items": min_items}
    if other is not None and bool(other.any()):
        attrs["other_scale"] = ", ".join(map(str, score["metric"].values[other.values]))
    order = found.transpose("metric", along, ..., missing_dims="ignore")
    attrs |= result_attrs.sizes(score)
    return results.result(order, (*score.dims, *human.dims), analysis="alt_test", **attrs)


def _calibrated(
    score: xr.DataArray, ratings: xr.DataArray, along: str, which: xr.DataArray
) -> tuple[xr.DataArray, dict[str, Any]]:
    """Scores, some with the distribution of single ratings (means of ratings spread less), and attrs."""
    names = score["metric"].values[which.values]
    if not len(names):
        return score, {}
    folds = min(_FOLDS, score.sizes["input"])
    if folds < 2:
        raise ValueError("scale='calibrated' fits a judge's scores on other inputs, and there is only one")
    of_input = of_folds(score.sizes["input"], folds, draws.generator(0, 0))
    given = np.unique(ratings.values[~np.isnan(ratings.values)])
    grades = tuple(given.tolist()) if 1 < len(given) <= calibration.MOST_GRADES else ()
    each = ratings.rename({along: "_rater"}).drop_vars("_rater", errors="ignore")
    new = calibration.cross_fitted(score, each, of_input, Calibration("quantile", grades))
    rounded = " and rounded to their grades" if grades else ""
    words = f"to the distribution of the ratings, cross-fitted in {folds} folds of inputs{rounded}"
    mapped = align.in_order(new.where(which, align.without_coords(score)), facts.CORE)
    return mapped.assign_coords(score.coords), {"calibrated": ", ".join(map(str, names)), "calibration": words}


@dataclass(frozen=True)
class _Comparison:
    margin: float
    alignment: str
    scale: str
    test: str


def _beside_each_rater(score: xr.DataArray, ratings: xr.DataArray, along: str, comparison: _Comparison) -> xr.Dataset:
    def each(x: FloatArray, z: FloatArray) -> tuple[FloatArray, ...]:
        found = [_of_rater(x, z, at, comparison) for at in range(len(z))]
        return tuple(np.array(found, dtype=float).T)

    outputs = xr.apply_ufunc(
        each,
        score,
        align.without_coords(ratings),
        input_core_dims=[facts.CELLS, [along, *facts.CELLS]],
        output_core_dims=[[along]] * len(_OF_RATER),
        vectorize=True,
        keep_attrs=False,
    )
    return xr.Dataset(dict(zip(_OF_RATER, outputs, strict=True)))


def _with_items(found: xr.Dataset, min_items: int) -> xr.Dataset:
    few = found["n_items"] < min_items
    if bool(few.all()):
        raise ValueError(f"no rater has {min_items} items that the judge and another rater scored; see min_items")
    if bool(few.any()):
        validate.warn(
            f"{int(few.sum())} of {few.size} pairs of judge and rater have fewer than {min_items} items", "few_ratings"
        )
    return found.assign({name: found[name].where(~few) for name in ("advantage", "human_advantage", "pvalue")})


def _over_raters(found: xr.Dataset, along: str, alpha: float) -> xr.Dataset:
    adjusted = xr.apply_ufunc(
        lambda p: corrections.adjust(p, "by"),
        found["pvalue"],
        input_core_dims=[[along]],
        output_core_dims=[[along]],
        vectorize=True,
    )
    wins = (adjusted <= alpha).where(found["pvalue"].notnull())
    return found.assign(
        pvalue_adjusted=adjusted, winning_rate=wins.mean(along), advantage_probability=found["advantage"].mean(along)
    )


def _check_raters(ratings: xr.DataArray, along: str) -> None:
    if ratings.sizes[along] < 2:
        raise ValueError(f"rating has only {ratings.sizes[along]} rater along {along!r}; two are needed at least")


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


def _of_rater(x: FloatArray, z: FloatArray, at: int, comparison: _Comparison) -> tuple[float, float, float, float]:
    """Of one judge (systems, inputs) and one of the raters (raters, systems, inputs): the numbers of `_OF_RATER`."""
    scale = comparison.scale
    x, z = _on_scale(x, scale), np.array([_on_scale(each, scale) for each in z])
    rater, others = z[at], np.delete(z, at, axis=0)
    items = ~np.isnan(x) & ~np.isnan(rater) & ~np.isnan(others).all(axis=0)
    size = int(items.sum())
    if size < 2:
        return math.nan, math.nan, math.nan, size
    judge, rater, others = x[items], rater[items], others[:, items]
    if scale == "raw":
        judge, rater, others = _of_usual_size(judge, rater, others)
    nearness, human = (_alignment(each, others, comparison.alignment) for each in (judge, rater))
    by_judge, by_human = nearness >= human - TOLERANCE, human >= nearness - TOLERANCE
    apart = by_human.astype(float) - by_judge
    return float(by_judge.mean()), float(by_human.mean()), _pvalue(apart, comparison.margin, comparison.test), size


def _of_usual_size(judge: FloatArray, rater: FloatArray, others: FloatArray) -> tuple[FloatArray, ...]:
    """Scores of items, those of each item times the power of 2 that brings the largest to 1/2 to 1."""
    largest = np.nanmax(np.abs(np.vstack([judge, rater, others])), axis=0)
    power = np.frexp(largest)[1]
    return tuple(np.ldexp(each, -power) for each in (judge, rater, others))


def _on_scale(values: FloatArray, scale: str) -> FloatArray:
    there = ~np.isnan(values)
    if scale == "raw" or not there.any():
        return values
    out, here = np.full(values.shape, np.nan), values[there]
    if scale == "ranks":
        from scipy.stats import rankdata

        out[there] = (rankdata(here) - 0.5) / len(here)
    else:
        out[there] = (here - here.mean()) / here.std() if np.ptp(here) > 0 else 0.0
    return out


def _alignment(scores: FloatArray, others: FloatArray, kind: str) -> FloatArray:
    """How near scores (items,) are to those of other raters (raters, items), of whom each item has one at least."""
    there = ~np.isnan(others)
    if kind == "accuracy":
        apart = np.where(there, others == scores, False)
        return np.asarray(apart.sum(axis=0) / there.sum(axis=0))
    squares = np.where(there, (np.nan_to_num(others) - scores) ** 2, 0.0)
    return np.asarray(-np.sqrt(squares.sum(axis=0) / there.sum(axis=0)))


def _pvalue(apart: FloatArray, margin: float, test: str) -> float:
    from scipy.stats import ttest_1samp, wilcoxon

    if test == "wilcoxon":
        return 1.0 if (apart == margin).all() else float(wilcoxon(apart - margin, alternative="less").pvalue)
    if np.ptp(apart) == 0:
        return 0.0 if apart[0] < margin else 1.0
    return float(ttest_1samp(apart, margin, alternative="less").pvalue)


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
    {interval.plain resample.auto n_resamples confidence_level by positive missing undefined rng progress}

    {dataset}
        `metric` has the metrics, and "rater" for the raters themselves. On (metric, ...): ``correlation`` (mean over
        raters), ``ci_low``, ``ci_high``, ``standard_error``, ``n_undefined``, and ``difference``, ``difference_low``,
        ``difference_high`` (metric less rater). ``by_rater(metric, rater, ...)``: correlations for each rater.

    Notes
    -----
    Scope: these raters; `resample` says which systems and inputs. A metric is compared with one rater at a time, on
    this rater's outputs and against the same other raters. For coefficients of classes such as "kappa" each other rater
    is used singly, because a mean is no class. A metric above the ceiling need not see what raters see. A rater must be
    the same person throughout. Formulas: documentation, "How intervals and tests are computed".

    Examples
    --------
    >>> import numpy as np, xarray as xr, xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> noise = xr.DataArray(np.random.default_rng(0).normal(size=(3, 12, 30)), dims=("rater", "system", "input"))
    >>> rating = ds.score.sel(metric="human", drop=True) + 8 * noise
    >>> ds.meta.human_ceiling(rating, metric="judge", level="input").correlation.to_series().round(2).to_dict()
    {'judge': 0.7, 'rater': 0.72}
    """
    ratings, name = ratings_of(ds, rating, along)
    ratings = _who_rated(ratings, along)
    _check_raters(ratings, along)
    validate.choice("method", method, ("auto", "jackknife", "bootstrap"))
    if interval is not None:
        validate.choice("interval", interval, ("percentile", "basic", "normal"))
    measure = checked_measure(level, coefficient, missing, undefined)
    dims = checked_resample(resample, measure, layers=False, auto=True)
    draws = Draws.checked(n_resamples, rng, progress=progress)
    confidence_level = validate.fraction("confidence_level", confidence_level)
    score = schema.prepare_computed(ds, metric_choice.automatic(ds, metric))
    calibrated.refuse(score, "human_ceiling")
    if RATER in score["metric"].values.tolist():
        raise ValueError(f"metric {RATER!r} has the name that the raters themselves get; rename it")
    constant = measure.coefficient.of_constants
    classes = measure.coefficient.scale in ("classes", "two")
    ready: dict[str, Any] = {"level": level, "missing": measure.missing, "classes": classes}
    ready["these_systems"] = these_systems(resample, dims)
    scores = _with_raters(score, ratings, name, along, constant=constant, texts=golds.texts_of(ds), **ready)
    dims = random_dims(resample, dims, scores.shape)
    measure = by_gold(on_scale(measure, scores, positive), scores.gold)
    checks.check_resampled(scores.score, tuple(dim for dim in dims if dim != "cell") or facts.CELLS)
    near_copies.check(scores, dims)
    method = _interval_method(method, measure, dims, interval, scores, along)
    of_all = range(scores.score.sizes["metric"]), measure, scores.score.sizes[along]
    attrs: dict[str, Any] = {"confidence_level": confidence_level, "resample": dims}
    if method == "jackknife":
        job: BootstrapCeiling | JackknifeCeiling = JackknifeCeiling(*of_all, dims, confidence_level)
    else:
        kind = interval or "percentile"
        how = BootstrapInterval(kind, dims, draws.n_resamples, draws.seed, confidence_level)
        job, attrs = BootstrapCeiling(*of_all, how), {**attrs, "interval": kind, **draws.attrs}
    found = _found(job, scores, along, draws.progress)
    if classes:
        by_rater = _by_first(found["by_rater"], along, ratings.sizes[along])
        found = found.drop_vars("by_rater").assign(by_rater=by_rater)
    if along in ratings.indexes:
        found = found.assign_coords({along: ratings.indexes[along]})
    spreads = facts.spread(scores.score), facts.spread(scores.gold)
    checks.warn_undefined(found["by_rater"], *spreads, why_undefined(measure.coefficient))
    if method == "bootstrap":
        checks.warn_resamples(found["n_undefined"], n_resamples)
        checks.warn_outside(found, "correlation", n_resamples)
    attrs |= {**threshold_attrs(measure.coefficient, None), **measure.attrs}
    attrs |= {"method": method, "rating": name, "along": along}
    result = results.result(found, scores, analysis="human_ceiling", **attrs)
    del result.attrs["gold"]
    return result.transpose("metric", along, ..., missing_dims="ignore")


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
    gold = xr.apply_ufunc(
        lambda values: np.array([_mean_without(values, at) for at in range(len(values))]),
        ratings,
        input_core_dims=[[along, "system", "input"]],
        output_core_dims=[[along, "system", "input"]],
        vectorize=True,
    )
    if classes:
        first, second = _pairs_of(ratings.sizes[along]).T
        bare = ratings.drop_vars(along, errors="ignore")
        ratings, gold = (bare.isel({along: at}) for at in (first, second))
    people = ratings.expand_dims(metric=np.array([RATER], dtype=object))
    each = xr.broadcast(align.without_coords(score), people, exclude=["metric"])
    everyone = xr.concat(each, "metric", coords="minimal", compat="override")
    everyone = everyone.where(people.squeeze("metric", drop=True).notnull())  # all on the outputs that a rater rated
    labels = everyone["metric"].values.tolist()
    known = everyone.assign_coords(kind=("metric", ["human"] * len(labels)))  # whoever equals a rater was named above
    ds = known.to_dataset(name="score").assign_attrs({"labels": list(texts)} if texts else {})
    return schema.prepare(ds, gold.rename(name), labels, **settings)


def _pairs_of(raters: int) -> IntArray:
    return np.array([pair for pair in np.ndindex(raters, raters) if pair[0] != pair[1]])


def _by_first(by_pair: xr.DataArray, along: str, raters: int) -> xr.DataArray:
    first = _pairs_of(raters)[:, 0]
    parts = [by_pair.isel({along: np.flatnonzero(first == at)}).mean(along) for at in range(raters)]
    return xr.concat(parts, along)


def _mean_without(values: FloatArray, at: int) -> FloatArray:
    others = np.delete(values, at, axis=0)
    return pooled(others, np.ones(len(others)), "mean")
