"""Mean human scores of systems from few ratings and a metric: `system_means`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _validate
from xsumstat.analyses import few_ratings
from xsumstat.dataset import checks, drawn, labelled, results
from xsumstat.inference import ridge_means, score_limits
from xsumstat.inference import system_means as estimator
from xsumstat.inference.system_means import Strata
from xsumstat.resampling.jobs import AtOnce
from xsumstat.types import FloatArray

METHODS = ("pooled", "ridge")
_SCORES = ("mean", "ci_low", "ci_high", "standard_error", "human_mean", "human_ci_low", "human_ci_high")
_OF_SYSTEMS = (*_SCORES, "df", "n_rated", "n_inputs", "n_effective", "rated_difference", "rated_pvalue", "fell_back")
# For warnings alone.
_NOTED = ("_one_value", "_few_valued", "_left_out")


@_validate.public
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
    """Mean human score of each system, from the inputs that people rated and all that a metric scored.

    Parameters
    ----------
    {ds}
    gold : label, str or DataArray, optional
        Human scores: a label of `metric`, the name of another variable, or a DataArray with dims `system` and
        `input`; an output that nobody rated is NaN, and an input that a DataArray lacks is not rated. Default
        ``ds.attrs["gold"]``. Further dims of the gold and of `score` broadcast by name.
    metric : label, list of labels or bool DataArray, optional
        The metric whose scores help. Of several, the mean of their standardised scores does, with the signs that the
        coordinate ``higher_is_better`` gives. May be left out where there is only one. Choose it by other data than
        these: the metric that looks best here gives intervals that are too short.
    target : {"new", "these"}, default "new"
        What the limits are for: "new" is the mean over all inputs like these, "these" the mean over the very inputs
        that the metric scored.
    method : {"pooled", "ridge"}, default "pooled"
        "pooled" uses one slope, of all systems, and of each system as far as they differ. "ridge" fits a slope for
        each of several metrics, without each input in turn; it needs 3 systems, and for each max(20, k + 10) ratings,
        where k metrics help.
    strata : str, optional
        A coordinate of the inputs by whose groups the rated inputs were drawn, such as bins of a metric's scores. The
        rated inputs must then be a random sample within each group. Default: the strata that `sample_inputs` drew from,
        if it did; ratings of inputs that it did not draw are left out.
    scale : pair of numbers, optional
        Lowest and highest possible rating, to which means and limits are cut, and which score limits rest on (Notes).
    {confidence_level}

    Returns
    -------
    Dataset
        On (system, ...): ``mean``, ``ci_low``, ``ci_high``, ``standard_error`` and ``df``; ``human_mean``,
        ``human_ci_low`` and ``human_ci_high`` from the ratings alone, for the same target; ``n_rated``, and
        ``n_inputs`` with a score by the metric; ``n_effective``, ``n_rated`` times how many times smaller the variance
        is than that of the ratings alone (see Notes); ``rated_difference`` and ``rated_pvalue``: by how much the
        metric's mean on rated inputs exceeds that on the others, and Student's test of it; ``fell_back``, whether
        ratings stand alone; ``clipped``, whether `scale` cut a limit. ``weight`` (metric, system, ...) is λ: how far
        the mean moves for each point that the metric's mean is higher on the unrated inputs than on the rated ones.

    Raises
    ------
    ValueError, TypeError
        For an unknown label, strata or target, for scores that are not numbers or infinite, and where no output has
        both a rating and a score.

    Warns
    -----
    UserWarning
        Where a system has fewer than 5 ratings, or fewer than 5 inputs are rated: its ratings stand alone. Where more
        than 60 % of a system's ratings are one value, and the others several: intervals may be too short. Where all
        ratings of all systems are one value and `scale` is not given: there are no limits. Where rated inputs do not
        look like a random sample. Where a group of the strata has no rating of a system, which then has no mean, or a
        single one.

    Notes
    -----
    With z̄ the mean rating of a system on its n rated inputs and D the metric's mean on all m inputs less that on the
    rated ones, the mean is ``z̄ + β·D``: the regression estimator of survey sampling, which PPI++ is at its best weight
    (``λ = β·(m − n)/m``; no other limit is set to λ, so that the metric may have any scale, and be better when lower).
    The slope β is pooled over systems, shrunk to 0 as far as it may be chance, and moved to each system's own slope as
    far as slopes differ (DerSimonian and Laird), so that a useless metric costs next to nothing.

    The variance is ``(1/n − 1/m)·s²_e + V_β·D²``, of residuals e and of the slope, and for new inputs ``s²_z/m`` more.
    Limits are by Student's t with n − 1 degrees of freedom less what the slope takes. With 3 systems or more both
    variances are drawn up to what systems have in common, which serves systems whose few ratings happen to agree: as if
    by d0 degrees of freedom, 2 at most and fewer the more the variances differ (Smyth), and never down, so that a
    system that varies more than the others keeps its variance. With strata means are weighted by the groups' shares of
    the m inputs, and the degrees of freedom are n − H less what the slope takes, for H groups. Ratings are taken to
    spread alike in all groups: how much they do in one that has a single rating comes from the others. If
    `sample_inputs` drew some strata more often than others, each has a variance of its own, with Satterthwaite's
    degrees of freedom. The mean of the ratings is then the Horvitz-Thompson estimator.

    Where a system's ratings take one value or two, as passes and fails do, limits are score limits (Wilson), never a
    point: those of a share of ``n_effective`` ratings, 0 and 1 being the lowest and highest rating of all systems, or
    those of `scale`. Without `scale`, and where the ratings of all systems take more values than two, they are at least
    as wide as those by t. The standard error is then their half width over the normal quantile, and `df` is not used.
    Where the ratings are one value, ``n_effective`` is no more than n: they cannot say how much the metric helps.

    Expect ``n_effective`` of about ``n/(1 − ρ²)`` for these inputs and ``n/(1 − ρ²·(1 − n/m))`` for new ones, with ρ
    the correlation of metric and ratings within systems: for these inputs 1.3 times n at ρ = .5, 2.8 times at .8. For
    new inputs ``n_effective`` is the number of ratings that alone would give as small a standard error. For these
    inputs, of which there are no more than m, that number is ``1/((1 − n/m)/n_effective + 1/m)``.

    All rests on the rated inputs being a random sample. Where they were chosen by the metric, strata repair it; where
    they were chosen by their quality nothing does.

    References
    ----------
    Angelopoulos, Duchi & Zrnic (2023), "PPI++: Efficient Prediction-Powered Inference". Chaganty, Mussmann & Liang
    (2018), "The price of debiasing automatic metrics in natural language evaluation". Smyth (2004), "Linear models and
    empirical Bayes methods for assessing differential expression in microarray experiments". Wilson (1927), "Probable
    inference, the law of succession, and statistical inference".

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> few = ds.score.sel(metric="human").isel(input=slice(15))  # the ratings of 15 of 30 inputs
    >>> means = ds.meta.system_means(few, metric="judge")
    >>> columns = ["ci_low", "mean", "ci_high", "human_ci_low", "human_ci_high", "n_effective"]
    >>> means[columns].to_dataframe()[columns].head(3).round(1)
                 ci_low  mean  ci_high  human_ci_low  human_ci_high  n_effective
    system
    extractor-1    56.7  62.7     68.7          56.7           70.9         20.9
    extractor-2    50.7  55.0     59.2          51.8           60.5         15.7
    extractor-3    53.1  58.6     64.0          54.0           66.2         18.7
    """
    _validate.choice("target", target, estimator.TARGETS)
    _validate.choice("method", method, METHODS)
    confidence_level = _validate.fraction("confidence_level", confidence_level)
    limits = checked_scale(scale)
    scores = few_ratings.prepared(ds, gold, metric)
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
    attrs |= {"helped_by": ", ".join(map(str, scores.metrics)), "strata": strata}
    attrs |= groups.attrs(ds)
    if limits is not None:
        attrs |= {"scale_low": limits[0], "scale_high": limits[1]}
    return results.result(numbers.transpose("system", "metric", ...), scores, analysis="system_means", **attrs)


def checked_scale(scale: Any) -> tuple[float, float] | None:
    """The lowest and the highest possible rating, if they are given."""
    if scale is None:
        return None
    if not isinstance(scale, tuple | list) or len(scale) != 2:
        raise TypeError(f"scale must be a pair of numbers, the lowest and the highest possible rating, got {scale!r}")
    low, high = (_validate.number("scale", each, -np.inf, np.inf) for each in scale)
    if not low < high:
        raise ValueError(f"scale must be a pair of ascending numbers, got {scale!r}")
    return low, high


def _descriptions(score: xr.DataArray) -> dict[Any, Any]:
    """The coordinates that describe systems and metrics."""
    kept = [name for name, coord in score.coords.variables.items() if coord.dims in (("system",), ("metric",))]
    return {name: score.coords[name].variable for name in kept}


@dataclass(frozen=True)
class _Means(AtOnce):
    """The means of all systems, of which each one's needs those of the others.

    Attributes
    ----------
    targets : range
        The systems.
    signs : tuple of float
        Of the metrics.
    strata : Strata
    target, method : str
    level : float
    scale : pair of float, optional
    """

    targets: range
    signs: tuple[float, ...]
    strata: Strata
    target: str
    method: str
    level: float
    scale: tuple[float, float] | None

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """The numbers of each system."""
        weights = (f"_weight_{at}" for at in range(len(self.signs)))
        return (*_OF_SYSTEMS, *_NOTED, *weights, *(f"_rated_in_{at}" for at in range(self.strata.n)))

    @property
    def together(self) -> bool:
        """All systems share a slope."""
        return True

    def bytes_each(self, x: Any, z: Any = None, *beside: Any) -> int:
        """About how many bytes a system takes."""
        return 8 * int(x.shape[-1]) * (4 + len(self.signs))

    def ready(self, at: slice, x: FloatArray, z: Any = None, *beside: Any) -> FloatArray:
        """The numbers of the systems."""
        f, z, f_power, z_power = few_ratings.in_range(x, np.asarray(z))
        one, factors = few_ratings.combined(f, np.array(self.signs))
        gap, pvalue = estimator.rated_gap(one, z, self.strata)
        scale = None if self.scale is None else (np.ldexp(self.scale[0], -z_power), np.ldexp(self.scale[1], -z_power))
        if self.method == "ridge":
            found, slopes = ridge_means.ridge_means(f, z, self.target, self.level, scale)
        else:
            found = estimator.system_means(one, z, self.strata, self.target, self.level, scale)
            slopes = factors[:, None] * found["weight"]
        with np.errstate(over="ignore"):
            found |= {name: np.ldexp(found[name], z_power) for name in _SCORES}
            gap = np.ldexp(gap, f_power) if len(f) == 1 else gap
            slopes = np.ldexp(slopes, z_power - f_power)
        there = ~np.isnan(one)
        rated = there & ~np.isnan(z)
        pooled = self.method == "pooled"
        found |= {
            "rated_difference": gap,
            "rated_pvalue": pvalue,
            "fell_back": _alone(rated, self.strata.n) if pooled else (slopes == 0).all(axis=0),
            "_one_value": few_ratings.one_value(np.where(there, z, np.nan)),
            "_few_valued": score_limits.few_valued(z, rated).astype(float),
            "_left_out": (~np.isnan(z) & ~there).sum(axis=-1),
        }
        rows = [found[name] for name in (*_OF_SYSTEMS, *_NOTED)]
        rated_in = np.where(self.strata.counts(there) > 0, self.strata.counts(rated), np.nan)  # NaN: no inputs at all
        return np.array([*rows, *slopes, *rated_in.T], dtype=float)[:, list(self.targets[at])]


def _alone(rated: Any, n_strata: int) -> Any:
    """Which systems have too few ratings for a slope."""
    few = rated.any(axis=0).sum() < estimator.LEAST
    return few | (rated.sum(axis=-1) < estimator.LEAST - 1 + n_strata)


def _cut(found: xr.Dataset, limits: tuple[float, float] | None) -> xr.Dataset:
    """Means and limits within a scale, and whether it cut a limit."""
    ends = ("ci_low", "ci_high", "human_ci_low", "human_ci_high")
    if limits is None:
        return found.assign(clipped=xr.zeros_like(found["mean"], dtype=bool))
    beyond = [(found[name] < limits[0]) | (found[name] > limits[1]) for name in ends]
    cut = {name: found[name].clip(*limits) for name in (*ends, "mean")}
    return found.assign(cut).assign(clipped=beyond[0] | beyond[1] | beyond[2] | beyond[3])


def _warn(scores: few_ratings.FewRatings, found: Any, noted: Any, method: str) -> None:
    """Say what is doubtful."""
    later, n, k = scores.later, found["n_rated"], len(scores.metrics)
    later.make(few_ratings.check_any, n, noted["_left_out"])
    later.make(checks.warn_where, n == 0, "no rating, and so no mean, for", "no_rating")
    least = "5 ratings" if method == "pooled" else f"max(20, k + 10) = {max(20, k + 10)} ratings"
    alone = (found["fell_back"] > 0) & (n > 0) & found["mean"].notnull()
    later.make(checks.warn_where, alone, f"fewer than {least}, so that these stand alone, for", "few_ratings")
    few_valued = noted["_few_valued"] > 0
    later.make(few_ratings.warn_one_value, noted["_one_value"].where(~few_valued, 0.0), n)
    later.make(
        checks.warn_where,
        few_valued & found["ci_low"].isnull() & found["mean"].notnull(),
        "all ratings of all systems are one value, which says nothing of how far others lie, so that there are no "
        "limits without scale=(lowest, highest), for",
        "no_interval",
    )
    later.make(few_ratings.warn_not_random, found["rated_pvalue"])
