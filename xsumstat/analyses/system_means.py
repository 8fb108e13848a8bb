"""Mean human scores of systems from few ratings and a metric: `system_means`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import few_ratings, rater_severity
from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import checks, drawn, labelled, results
from xsumstat.dataset.value_checks import of_values
from xsumstat.inference import ridge_means, score_limits
from xsumstat.inference import system_means as estimator
from xsumstat.inference.system_means import Strata
from xsumstat.resampling.jobs import AtOnce

METHODS = ("pooled", "ridge")
_SCORES = ("mean", "ci_low", "ci_high", "standard_error", "human_mean", "human_ci_low", "human_ci_high")
_OF_SYSTEMS = (*_SCORES, "df", "n_rated", "n_inputs", "n_effective", "rated_difference", "rated_pvalue", "fell_back")
# For warnings alone.
_NOTED = ("_one_value", "_few_valued", "_without_score")


@validate.public
def system_means(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    target: str = "new",
    method: str = "pooled",
    strata: str | None = None,
    scale: tuple[float, float] | None = None,
    confidence_level: float = 0.95,
) -> xr.Dataset:
    """Mean human score of each system, from few ratings and many scores of a metric.

    ``ds.meta.system_means("human", metric="judge")`` returns means with limits, by prediction-powered inference.

    Parameters
    ----------
    {ds}
    gold : label, str or DataArray, optional
        Human scores: a label of `metric`, a variable, or a DataArray with dims `system` and `input`; NaN for an output
        without a rating. Default ``ds.attrs["gold"]``. Additional dims broadcast by name.
    metric : label, list of labels or bool DataArray, optional
        Metric whose scores help (of several, their standardised mean); may be omitted if there is only one metric.
        Choose it on other data: the metric that looks best here gives intervals that are too short.
    target : {"new", "these"}, default "new"
        Mean over all inputs like these, or over the inputs with a score of the metric or a rating.
    method : {"pooled", "ridge"}, default "pooled"
        "pooled" uses one slope, adapted to each system as far as slopes differ. "ridge" fits a slope for each of k
        metrics; it needs 3 systems with max(20, k + 10) ratings each.
    strata : str, optional
        Coordinate of inputs. Use it if rated inputs were drawn at random within its groups, e.g. bins of a metric.
        Default: the strata of `sample_inputs`, if it drew inputs. Ratings of other inputs are then left out.
    scale : pair of numbers, optional
        Lowest and highest possible rating, to which means and limits are cut.
    {confidence_level}

    {dataset}
        On (system, ...): ``mean``, ``ci_low``, ``ci_high``, ``standard_error``, ``df``; from ratings alone
        ``human_mean``, ``human_ci_low``, ``human_ci_high``; ``n_rated``, ``n_inputs`` and ``n_effective``, the number
        of ratings that alone would be as precise; ``rated_difference`` and ``rated_pvalue``, whether the metric scores
        rated inputs differently; ``fell_back`` (ratings alone) and ``clipped`` (by `scale`). On (metric, system, ...):
        ``weight``, how far the mean moves per point by which the metric scores unrated inputs higher.

    Notes
    -----
    Assumption: the rated inputs are a random sample, at least within `strata`. Nothing repairs ratings of inputs
    that were chosen by their quality. Scope: these systems on inputs like these. With z̄ the mean rating on n rated
    inputs and D the metric's mean on all m inputs less that on the rated ones, the mean is ``z̄ + β·D``. A rated
    output that the metric did not score gets the system's mean score. If `sample_inputs` drew with unequal
    probabilities, z̄ is the Horvitz-Thompson estimate, and each stratum has a variance of its own. Formulas:
    documentation, "How intervals and tests are computed". Sources: Angelopoulos, Duchi & Zrnic (2023), "PPI++".
    Chaganty, Mussmann & Liang (2018), "The price of debiasing automatic metrics". Smyth (2004), "Linear models and
    empirical Bayes methods". Wilson (1927), "Probable inference".

    {demo}
    >>> few = ds.score.sel(metric="human").isel(input=slice(15))  # the ratings of 15 of 30 inputs
    >>> means = ds.meta.system_means(few, metric="judge")
    >>> means["mean"].values[:3].round(1)
    array([62.7, 55. , 58.6])
    """
    validate.choice("target", target, estimator.TARGETS)
    validate.choice("method", method, METHODS)
    confidence_level = validate.fraction("confidence_level", confidence_level)
    limits = checked_scale(scale)
    scores = few_ratings.prepared(ds, gold, metric)
    if limits is not None:
        scores.later.make(_check_inside, of_values(_ends, scores.gold), limits)
    uneven = rater_severity.warn_uneven(ds, scores.gold)
    scores, groups = few_ratings.drawn_from(ds, scores, strata)
    if method == "ridge" and groups.strata.own_spread:
        raise ValueError(
            f"method='ridge' takes all inputs as equally likely to be rated, and {drawn.PROBABILITY} differs between "
            "them; use method='pooled'"
        )
    n_systems, k = scores.score.sizes["system"], len(scores.metrics)
    if method == "ridge" and (n_systems < ridge_means.LEAST_SYSTEMS or strata is not None):
        got = f"strata={strata!r}" if strata is not None else f"{n_systems} systems"
        raise ValueError(f"method='ridge' needs 3 systems or more, and no strata; got {got}; use method='pooled'")
    job = _Means(range(n_systems), tuple(scores.signs), groups.strata, target, method, confidence_level, limits)
    types = dict.fromkeys(job.names, float)
    found = labelled.over_labels(job, scores.arrays, "system", types, lazy=scores.lazy)
    weight = xr.concat([found.pop(f"_weight_{at}") for at in range(k)], "metric").assign_coords(
        metric=scores.score.indexes["metric"]
    )
    noted = {name: found.pop(name) for name in _NOTED}
    rated_in = [found.pop(f"_rated_in_{at}") for at in range(groups.strata.n)]
    _warn(scores, found, noted, method)
    if groups.argument:
        by_group = xr.concat(rated_in, "_group").assign_coords(_group=groups.names)
        scores.later.make(few_ratings.warn_of_groups, by_group, found["n_rated"] > 0, groups.argument, "mean")
    numbers = _cut(results.together(found), limits).assign(weight=weight)
    numbers = numbers.assign_coords(_descriptions(scores.score))
    attrs: dict[str, Any] = {"method": method, "target": target, "confidence_level": confidence_level}
    attrs |= {"helped_by": ", ".join(map(str, scores.metrics)), "strata": strata, "uneven_raters": uneven}
    attrs |= groups.attrs(ds)
    if not scores.lazy:
        attrs["n_systems"] = int(
            numbers["mean"].notnull().any([dim for dim in numbers["mean"].dims if dim != "system"]).sum()
        )
    if limits is not None:
        attrs |= {"scale_low": limits[0], "scale_high": limits[1]}
    return results.result(numbers.transpose("system", "metric", ...), scores, analysis="system_means", **attrs)


def checked_scale(scale: Any) -> tuple[float, float] | None:
    """The lowest and the highest possible rating, if they are given."""
    if scale is None:
        return None
    if not isinstance(scale, tuple | list) or len(scale) != 2:
        raise TypeError(f"scale must be a pair of numbers, the lowest and the highest possible rating, got {scale!r}")
    low, high = (validate.number("scale", each, -np.inf, np.inf) for each in scale)
    if not low < high:
        raise ValueError(f"scale must be a pair of ascending numbers, got {scale!r}")
    return low, high


def _ends(ratings: xr.DataArray) -> tuple[float, float]:
    return float(ratings.min()), float(ratings.max())


def _check_inside(ends: tuple[float, float], scale: tuple[float, float]) -> None:
    """No rating lies outside of the scale that was given."""
    if ends[0] < scale[0] or ends[1] > scale[1]:
        given = f"({scale[0]:g}, {scale[1]:g})"
        raise ValueError(f"scale={given} does not contain the ratings, from {ends[0]:g} to {ends[1]:g}")


def _descriptions(score: xr.DataArray) -> dict[Any, Any]:
    kept = [name for name, coord in score.coords.variables.items() if coord.dims in (("system",), ("metric",))]
    return {name: score.coords[name].variable for name in kept}


@dataclass(frozen=True)
class _Means(AtOnce):
    targets: range
    signs: tuple[float, ...]
    strata: Strata
    target: str
    method: str
    level: float
    scale: tuple[float, float] | None

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        weights = (f"_weight_{at}" for at in range(len(self.signs)))
        return (*_OF_SYSTEMS, *_NOTED, *weights, *(f"_rated_in_{at}" for at in range(self.strata.n)))

    @property
    def together(self) -> bool:
        return True

    def bytes_each(self, x: Any, z: Any = None, *beside: Any) -> int:
        return 8 * int(x.shape[-1]) * (4 + len(self.signs))

    def ready(self, at: slice, x: FloatArray, z: Any = None, *beside: Any) -> FloatArray:
        f, z, f_power, z_power = few_ratings.in_range(x, np.asarray(z))
        one, factors = few_ratings.combined(f, np.array(self.signs))
        gap, pvalue = estimator.rated_gap(one, z, self.strata)
        scale = None if self.scale is None else (np.ldexp(self.scale[0], -z_power), np.ldexp(self.scale[1], -z_power))
        there = ~np.isnan(one)
        without_score = (~np.isnan(z) & ~there).sum(axis=-1)
        if self.method == "ridge":
            f = few_ratings.completed(np.where(there, f, np.nan), z, self.strata)
            found, slopes = ridge_means.ridge_means(f, z, self.target, self.level, scale)
        else:
            one = few_ratings.completed(one, z, self.strata)
            found = estimator.system_means(one, z, self.strata, self.target, self.level, scale)
            slopes = factors[:, None] * found["weight"]
        with np.errstate(over="ignore"):
            found |= {name: np.ldexp(found[name], z_power) for name in _SCORES}
            gap = np.ldexp(gap, f_power) if len(f) == 1 else gap
            slopes = np.ldexp(slopes, z_power - f_power)
        there |= ~np.isnan(z)
        rated = ~np.isnan(z)
        pooled = self.method == "pooled"
        found |= {
            "rated_difference": gap,
            "rated_pvalue": pvalue,
            "fell_back": _alone(rated, self.strata.n) if pooled else (slopes == 0).all(axis=0),
            "_one_value": few_ratings.one_value(z),
            "_few_valued": score_limits.few_valued(z, rated).astype(float),
            "_without_score": without_score,
        }
        rows = [found[name] for name in (*_OF_SYSTEMS, *_NOTED)]
        rated_in = np.where(self.strata.counts(there) > 0, self.strata.counts(rated), np.nan)  # NaN: no inputs at all
        return np.array([*rows, *slopes, *rated_in.T], dtype=float)[:, list(self.targets[at])]


def _alone(rated: Any, n_strata: int) -> Any:
    few = rated.any(axis=0).sum() < estimator.LEAST
    return few | (rated.sum(axis=-1) < estimator.LEAST - 1 + n_strata)


def _cut(found: xr.Dataset, limits: tuple[float, float] | None) -> xr.Dataset:
    ends = ("ci_low", "ci_high", "human_ci_low", "human_ci_high")
    if limits is None:
        return found.assign(clipped=xr.zeros_like(found["mean"], dtype=bool))
    beyond = [(found[name] < limits[0]) | (found[name] > limits[1]) for name in ends]
    cut = {name: found[name].clip(*limits) for name in (*ends, "mean")}
    return found.assign(cut).assign(clipped=beyond[0] | beyond[1] | beyond[2] | beyond[3])


def _warn(scores: few_ratings.FewRatings, found: Any, noted: Any, method: str) -> None:
    later, n, k = scores.later, found["n_rated"], len(scores.metrics)
    later.make(few_ratings.check_any, n, noted["_without_score"])
    later.make(checks.warn_where, n == 0, "no rating, so no mean, for", "no_rating")
    least = "5 ratings" if method == "pooled" else f"max(20, k + 10) = {max(20, k + 10)} ratings"
    alone = (found["fell_back"] > 0) & (n > 0) & found["mean"].notnull()
    later.make(checks.warn_where, alone, f"fewer than {least}, used without the metric, for", "few_ratings")
    few_valued = noted["_few_valued"] > 0
    later.make(few_ratings.warn_one_value, noted["_one_value"].where(~few_valued, 0.0), n)
    later.make(
        checks.warn_where,
        few_valued & found["ci_low"].isnull() & found["mean"].notnull(),
        "all ratings are equal, so their spread is unknown: limits need scale=(lowest, highest), for",
        "no_interval",
    )
    later.make(few_ratings.warn_not_random, found["rated_pvalue"])
