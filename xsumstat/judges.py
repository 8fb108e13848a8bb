"""May a judge stand in for a rater: the alternative annotator test, and what raters reach themselves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _draws, _validate, inference, schema
from xsumstat.coefficients import CorrelationFunction, FloatArray
from xsumstat.intervals import ci
from xsumstat.levels import TOLERANCE
from xsumstat.raters import ratings_of

ALIGNMENTS, SCALES, TESTS = ("rmse", "accuracy"), ("raw", "standardised", "ranks"), ("t", "wilcoxon")
# What the raters themselves are called among metrics.
RATER = "rater"
_OF_RATER = ("advantage", "human_advantage", "pvalue", "n_items")


def alt_test(
    ds: xr.Dataset,
    rating: Any = None,
    *,
    metric: Any = None,
    along: str = "rater",
    margin: float = 0.2,
    alignment: str = "rmse",
    scale: str = "raw",
    test: str = "t",
    alpha: float = 0.05,
    min_items: int = 30,
) -> xr.Dataset:
    """Alternative annotator test: may a judge replace a human rater.

    Parameters
    ----------
    ds : Dataset
        Scores, with ratings beside them.
    rating : str or DataArray, optional
        The ratings, (system, input, rater, ...), as for `agreement`.
    metric : label, list of labels or boolean DataArray, optional
        The judges; default all metrics that the coordinate ``kind`` does not call human, else all but the gold.
    along : str, default "rater"
        Dim of the raters, of whom at least two must be.
    margin : float, default 0.2
        By how much more often a rater may be the better of the two, for what a judge saves: 0 to 1. Its authors take .2
        for experts, .15 for skilled raters, .1 for crowds.
    alignment : {"rmse", "accuracy"}, default "rmse"
        How near one is to the other raters: minus the root mean square of the differences, or the share that gave the
        same.
    scale : {"raw", "standardised", "ranks"}, default "raw"
        Scores as they are; of each rater and judge brought to mean 0 and sd 1; or made ranks, between 0 and 1. A judge
        that is not on the raters' scale needs one of the last two, and "rmse".
    test : {"t", "wilcoxon"}, default "t"
        One-sided test of the items; with fewer than 30 of them its authors advise Wilcoxon's.
    alpha : float, default 0.05
        Bound on the expected share of false wins, by Benjamini & Yekutieli's method over the raters of a judge.
    min_items : int, default 30
        Raters with fewer items are left out, with a warning; at least 2.

    Returns
    -------
    Dataset
        On (metric, rater, ...): ``advantage``, the share of items on which the judge is at least as near to the other
        raters as the rater is, ``human_advantage``, the other way round, ``n_items``, ``pvalue`` and
        ``pvalue_adjusted`` (NaN where a rater is left out). On (metric, ...): ``winning_rate``, the share of raters
        with ``pvalue_adjusted ≤ alpha``, and ``advantage_probability``, the mean of `advantage`. A judge may replace a
        rater where the winning rate is at least .5.

    Raises
    ------
    ValueError, TypeError
        For ratings, a judge or a number that is not allowed; where no rater has enough items.

    Notes
    -----
    An item is an output that the rater, the judge and at least one other rater have scored. With S the alignment with
    the other raters, the judge wins an item where S(judge) ≥ S(rater), the rater where S(rater) ≥ S(judge), so that
    both win it where they tie. p is that of the hypothesis that the rater wins by at least `margin` more often. Items
    of one input hang together, which the test does not know: with many systems on few inputs it is too sure. Where all
    items are alike the t test has no spread, and p is 0 or 1. Lazy scores are computed.

    References
    ----------
    Calderon, Reichart & Dror (2025), "The Alternative Annotator Test for LLM-as-a-Judge".

    Examples
    --------
    >>> import numpy as np, xarray as xr, xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> noise = xr.DataArray(np.random.default_rng(0).normal(size=(3, 12, 30)), dims=("rater", "system", "input"))
    >>> rating = ds.score.sel(metric="human", drop=True) + 8 * noise
    >>> found = ds.meta.alt_test(rating, metric=["judge", "length"], scale="standardised")
    >>> found.winning_rate.values.round(2).tolist()
    [0.67, 0.0]
    """
    ratings, name = ratings_of(ds, rating, along)
    _check_raters(ratings, along)
    margin = _validate.number("margin", margin, 0.0, 1.0)
    _validate.choice("alignment", alignment, ALIGNMENTS)
    _validate.choice("scale", scale, SCALES)
    _validate.choice("test", test, TESTS)
    if alignment == "accuracy" and scale != "raw":
        raise ValueError(f"alignment='accuracy' compares scores as they are, and needs scale='raw', got {scale!r}")
    alpha = _validate.fraction("alpha", alpha)
    min_items = _validate.integer("min_items", min_items, 2)
    score = schema.prepare_metrics(ds, _judges(ds, metric), level=None).compute()
    schema.refuse_reserved(ratings, "rating")
    score, human, _ = schema.aligned(score, ratings.transpose(..., "system", "input"))
    cells = ["system", "input"]

    def each(x: FloatArray, z: FloatArray) -> tuple[FloatArray, ...]:
        found = [_of_rater(x, z, at, margin, alignment, scale, test) for at in range(len(z))]
        return tuple(np.array(found, dtype=float).T)

    outputs = xr.apply_ufunc(
        each,
        score,
        schema.without_coords(human),
        input_core_dims=[cells, [along, *cells]],
        output_core_dims=[[along]] * len(_OF_RATER),
        vectorize=True,
        keep_attrs=False,
    )
    found = xr.Dataset(dict(zip(_OF_RATER, outputs, strict=True)))
    few = found["n_items"] < min_items
    if bool(few.all()):
        raise ValueError(f"no rater has {min_items} items that the judge and another rater scored; see min_items")
    if bool(few.any()):
        _validate.warn(f"{int(few.sum())} of {few.size} pairs of judge and rater have fewer than {min_items} items")
    for each_name in ("advantage", "human_advantage", "pvalue"):
        found[each_name] = found[each_name].where(~few)
    found["n_items"] = found["n_items"].astype(int)
    found["pvalue_adjusted"] = xr.apply_ufunc(
        lambda p: inference.adjust(p, "by"),
        found["pvalue"],
        input_core_dims=[[along]],
        output_core_dims=[[along]],
        vectorize=True,
    )
    tested = found["pvalue"].notnull()
    wins = (found["pvalue_adjusted"] <= alpha).where(tested)
    found["winning_rate"], found["advantage_probability"] = wins.mean(along), found["advantage"].mean(along)
    about: dict[str, Any] = {"rating": name, "along": along, "margin": margin, "alignment": alignment, "scale": scale}
    about |= {"method": test, "alpha": alpha, "adjust_method": "by", "alternative": "less", "min_items": min_items}
    order = found.transpose("metric", along, ..., missing_dims="ignore")
    return schema.result(order, None, analysis="alt_test", **about)


def _check_raters(ratings: xr.DataArray, along: str) -> None:
    if ratings.sizes[along] < 2:
        raise ValueError(f"rating has only {ratings.sizes[along]} rater along {along!r}; two are needed at least")


def _judges(ds: xr.Dataset, metric: Any) -> Any:
    """The metrics asked for; by default those that are not human."""
    if metric is None and "kind" in ds.coords and ds["kind"].dims == ("metric",):
        return (ds["kind"] != "human").compute()
    return schema.automatic(ds, metric)


def _of_rater(
    x: FloatArray, z: FloatArray, at: int, margin: float, alignment: str, scale: str, test: str
) -> tuple[float, float, float, float]:
    """Of one judge (systems, inputs) and one of the raters (raters, systems, inputs): the numbers of `_OF_RATER`."""
    x, z = _on_scale(x, scale), np.array([_on_scale(each, scale) for each in z])
    rater, others = z[at], np.delete(z, at, axis=0)
    items = ~np.isnan(x) & ~np.isnan(rater) & ~np.isnan(others).all(axis=0)
    size = int(items.sum())
    if size < 2:
        return math.nan, math.nan, math.nan, size
    judge, human = (_alignment(each[items], others[:, items], alignment) for each in (x, rater))
    by_judge, by_human = judge >= human - TOLERANCE, human >= judge - TOLERANCE
    apart = by_human.astype(float) - by_judge
    return float(by_judge.mean()), float(by_human.mean()), _pvalue(apart, margin, test), size


def _on_scale(values: FloatArray, scale: str) -> FloatArray:
    """Scores of one rater or judge, NaN where there are none."""
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
    """Of the hypothesis that the mean of some differences is at least the margin."""
    from scipy.stats import ttest_1samp, wilcoxon

    if test == "wilcoxon":
        return 1.0 if (apart == margin).all() else float(wilcoxon(apart - margin, alternative="less").pvalue)
    if np.ptp(apart) == 0:
        return 0.0 if apart[0] < margin else 1.0
    return float(ttest_1samp(apart, margin, alternative="less").pvalue)


def human_ceiling(
    ds: xr.Dataset,
    rating: Any = None,
    *,
    metric: Any = None,
    along: str = "rater",
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    interval: str = "percentile",
    resample: str | tuple[str, ...] = "both",
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    missing: str = "pairwise",
    undefined: str = "drop",
    rng: Any = None,
) -> xr.Dataset:
    """What raters reach themselves: each one's correlation with the mean of the others, and the metrics' with the same.

    Parameters
    ----------
    ds, rating, metric, along
        As for `alt_test`.
    level, coefficient, missing, undefined
        As for `corr`.
    interval : {"percentile", "basic", "normal"}, default "percentile"
    resample : {"both", "system", "input"} or tuple of dims, default "both"
    n_resamples, confidence_level, rng
        As for `ci`.

    Returns
    -------
    Dataset
        Metrics, and "rater", the raters themselves, along `metric`. ``by_rater(metric, rater, ...)``: the correlation
        with the mean of all raters but this one, of a metric or of this rater. ``correlation(metric, ...)``, its mean
        over raters, with ``ci_low``, ``ci_high``, ``standard_error`` and ``n_undefined``; ``difference(metric, ...)``,
        metric less rater, with ``difference_low`` and ``difference_high``, on the same resamples (NaN for "rater").

    Raises
    ------
    ValueError, TypeError
        As for `ci`; with fewer than two raters, or a metric that is called "rater".

    Notes
    -----
    A metric is compared with one rater at a time, against the same people: the mean of all raters is a gold that no
    rater has, and that holds the rater's own ratings. Where a metric's correlation is above the raters', people who
    rate alone are no better a yardstick than it is; it does not say that the metric sees what they see. "rater" should
    be the same person throughout; where places along the dim were filled by whoever came, it is a rater picked at
    random.

    Examples
    --------
    >>> import numpy as np, xarray as xr, xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> noise = xr.DataArray(np.random.default_rng(0).normal(size=(3, 12, 30)), dims=("rater", "system", "input"))
    >>> rating = ds.score.sel(metric="human", drop=True) + 8 * noise
    >>> found = ds.meta.human_ceiling(rating, level="input", n_resamples=99, rng=1)
    >>> bool(found.difference.sel(metric="length") < 0)
    True
    """
    ratings, name = ratings_of(ds, rating, along)
    _check_raters(ratings, along)
    _validate.choice("interval", interval, ("percentile", "basic", "normal"))
    score = schema.prepare_metrics(ds, _judges(ds, metric), level=None).compute()
    if RATER in score["metric"].values.tolist():
        raise ValueError(f"metric {RATER!r} has the name that the raters themselves get; rename it")
    count, total = ratings.notnull().sum(along), ratings.sum(along)
    others = count - ratings.notnull()
    gold = ((total - ratings.fillna(0.0)) / others.where(others > 0)).rename(name)
    people = ratings.expand_dims(metric=np.array([RATER], dtype=object))
    bare = schema.without_coords(score)
    everyone = xr.concat(xr.broadcast(bare, people, exclude=["metric"]), "metric", coords="minimal", compat="override")
    keywords: dict[str, Any] = {"level": level, "coefficient": coefficient, "interval": interval, "resample": resample}
    keywords |= {"n_resamples": n_resamples, "confidence_level": confidence_level, "missing": missing}
    keywords |= {"undefined": undefined, "rng": _draws.seed_of(rng), "keep_samples": True}
    found = ci(everyone.to_dataset(name="score"), gold, **keywords)
    average, samples = found["correlation"].mean(along), found["samples"].mean(along)
    result = found[["correlation"]].rename(correlation="by_rater").assign(correlation=average)
    low, high, error = _limits(average, samples, interval, confidence_level)
    result = result.assign(ci_low=low, ci_high=high, standard_error=error, n_undefined=samples.isnull().sum("resample"))
    gap, drawn = (each - each.sel(metric=RATER, drop=True) for each in (average, samples))
    low, high, _ = _limits(gap, drawn, interval, confidence_level)
    beyond = {"difference": gap, "difference_low": low, "difference_high": high}
    judged = result["metric"] != RATER
    result = result.assign({each: values.where(judged) for each, values in beyond.items()})
    result.attrs = {key: value for key, value in found.attrs.items() if key != "gold"}
    return result.assign_attrs(analysis="human_ceiling", rating=name, along=along)


def _limits(
    estimate: xr.DataArray, samples: xr.DataArray, interval: str, confidence_level: float
) -> tuple[xr.DataArray, xr.DataArray, xr.DataArray]:
    low, high, error = xr.apply_ufunc(
        lambda value, row: inference.bootstrap_interval(float(value), row, interval, confidence_level),
        estimate,
        samples,
        input_core_dims=[[], ["resample"]],
        output_core_dims=[[], [], []],
        vectorize=True,
    )
    return low, high, error
