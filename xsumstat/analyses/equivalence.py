"""Is the difference too small to matter, and does an order last: `equivalence`, `margin_sensitivity`, `dominance`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import adjust as families
from xsumstat.analyses import clustering, equivalence_tests, jackknifed
from xsumstat.analyses.measure import (
    Draws,
    Measure,
    checked_measure,
    checked_resample,
    entrance,
    on_scale,
    random_dims,
    these_systems,
)
from xsumstat.analyses.versions import Pairs, check_along, check_base, check_reach, margin_of
from xsumstat.core import arguments, validate
from xsumstat.core.types import CorrelationFunction
from xsumstat.dataset import checks, metric_pairs, near_copies, pair_results, results
from xsumstat.resampling.bootstrap import BootstrapInterval

METHODS = ("tost", "jackknife", "tost_analytic", "anderson_hauck")


@validate.public
def equivalence(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    margin: float | str | xr.DataArray,
    along: str | None = None,
    base: Hashable | None = None,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    other: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    method: str = "tost",
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    resample: str | tuple[str, ...] = "auto",
    alpha: float = 0.05,
    adjust: str | None = None,
    within: str | Iterable[str] | None = None,
    rating: str | xr.DataArray | None = None,
    n_resamples: int = 9999,
    cluster: str | tuple[str, ...] | None = None,
    missing: str = "pairwise",
    undefined: str = "drop",
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Test whether two metrics, or versions, agree equally well with human scores.

    ``ds.meta.equivalence("human", metric="rouge", other="bleu", margin=0.1)``: do they differ by less than 0.1?

    Parameters
    ----------
    {ds gold}
    margin : float, {"rater_sd", "rater_range"} or DataArray
        Above 0: correlations that differ by less count as equally good. "rater_sd", "rater_range": SD or range of the
        base version's correlations with single raters. A DataArray has one margin for each label.
    {versions}
    rating : str or DataArray, optional
        For margins from raters: ratings with the dims rater, system and input. Default the variable "rating".
    {resamples}

    {dataset}
        On (metric, along, ...) without the base, or (metric, other_metric, ...): ``difference``, ``ci_low`` and
        ``ci_high`` (its 1 − 2·alpha interval), ``margin``, ``pvalue``, ``pvalue_adjusted`` (with `adjust`),
        ``equivalent``, and by method ``n_undefined`` and ``fell_back``.

    See Also
    --------
    margin_sensitivity, compare_metrics, drift

    Notes
    -----
    Null hypothesis: the correlations differ by the margin or more. With ``resample="input"`` the result applies to
    these systems only, not to new ones. The default, "tost", is slightly liberal: for a published claim, and for high
    correlations, use "jackknife". "tost_analytic" and "anderson_hauck" are very liberal at global level. See "How
    intervals and tests are computed" and "Calibration". Source: Braun et al. (2022), §4.

    {demo}
    >>> test = ds.meta.equivalence("human", metric="rouge", other="perplexity", margin=0.2, level="input", rng=1)
    >>> test[["difference", "ci_low", "ci_high", "pvalue"]].squeeze(drop=True).to_array().round(3).values.tolist()
    [0.01, -0.153, 0.163, 0.024]
    """
    drawn = n_resamples, cluster, rng, progress
    test = _Test.of(level, coefficient, missing, undefined, method, resample, alpha, *drawn)
    test, pairs = test.asked(ds, gold, metric, along, base, other)
    families.check_correction(adjust, within, pairs.dims)
    at_base = {} if along is None else {along: base}
    unknown = "the margin is NaN, and so is the p-value, for"
    if isinstance(margin, str):
        unknown = f"margin {margin!r} is not defined, as it needs two raters with a correlation each: no p-value for"
    test.check_resamples(pairs, adjust, within)
    margins = pairs.margins(margin_of(ds, margin, rating, pairs.labels, at_base, test.measure), unknown)
    found = test.found(pairs, margins.expand_dims("_margin"))
    found["pvalue"] = found["pvalue"].isel(_margin=0, drop=True)
    result = pairs.laid_out({**found, "margin": margins.broadcast_like(found["difference"])})
    numbers = margin if isinstance(margin, str | int | float) else "given"
    test.warn(result, pairs)
    result = results.result(result, pairs.scores, **test.attrs(along, base), margin=numbers)
    result = families.adjusted(result, adjust, within)
    return results.with_variables(result, {"equivalent": (families.decisive(result) <= alpha).variable})


@validate.public
def margin_sensitivity(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    margins: Sequence[float] | None = None,
    by: str | Iterable[str] | None = None,
    along: str | None = None,
    base: Hashable | None = None,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    other: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    method: str = "tost",
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    resample: str | tuple[str, ...] = "auto",
    alpha: float = 0.05,
    adjust: str | None = None,
    within: str | Iterable[str] | None = None,
    n_resamples: int = 9999,
    cluster: str | tuple[str, ...] | None = None,
    missing: str = "pairwise",
    undefined: str = "drop",
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Share of comparisons that are equivalent, as the margin grows.

    Source: Braun et al. (2022), Fig. 4.

    Parameters
    ----------
    {ds gold}
    margins : list of float, optional
        Margins in ascending order, above 0. Default .01, .02, ... .30. Each margin is a family of tests.
    by : dim or dims, optional
        Dims of the comparisons to keep, e.g. "quality"; the share is over all others. Default none.
    {versions resamples}

    {dataset}
        On (margin, by ...): ``share`` of the comparisons that have a p-value, and their number ``n_tests``.

    {demo}
    >>> pair = {"metric": "rouge", "other": "perplexity", "level": "input"}
    >>> ds.meta.margin_sensitivity("human", **pair, margins=[0.1, 0.2, 0.3], rng=1).share.to_series().to_dict()
    {0.1: 0.0, 0.2: 1.0, 0.3: 1.0}
    """
    drawn = n_resamples, cluster, rng, progress
    test = _Test.of(level, coefficient, missing, undefined, method, resample, alpha, *drawn)
    grid = equivalence_tests.checked_grid(margins)
    check_reach("each of margins", float(grid[-1]), test.measure)
    test, pairs = test.asked(ds, gold, metric, along, base, other)
    kept = [] if by is None else validate.several("by", by, "a dim or several")
    for dim in kept:
        validate.known("dim in by", dim, pairs.dims, "dims of the comparisons")
    families.check_correction(adjust, within, pairs.dims)
    test.check_resamples(pairs, adjust, within)
    found = test.found(pairs, xr.DataArray(grid, dims="_margin"))
    result = pairs.laid_out(found)
    test.warn(result, pairs)
    result = (
        result[["difference", "pvalue"]]
        .rename(_margin="margin")
        .assign_coords(margin=grid)
        .assign_attrs(test.attrs(along, base))
    )
    result = families.adjusted(result, adjust, pairs.dims if within is None else within)
    decisive = families.decisive(result)
    over = [dim for dim in decisive.dims if dim not in ("margin", *kept)]
    n_tests = decisive.notnull().sum(over)
    share = (decisive <= alpha).sum(over) / n_tests.where(n_tests > 0)
    numbers = xr.Dataset({"share": share, "n_tests": n_tests}).transpose("margin", ...)
    return results.result(numbers, pairs.scores, **{**result.attrs, "analysis": "margin_sensitivity"})


@validate.public
def dominance(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    other: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    along: str | None = None,
    base: Hashable | None = None,
    threshold: float = 0.975,
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    resample: str | tuple[str, ...] = "auto",
    n_resamples: int = 9999,
    cluster: str | tuple[str, ...] | None = None,
    missing: str = "pairwise",
    undefined: str = "drop",
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Probability that one metric agrees better with human scores than another.

    Parameters
    ----------
    {ds gold metric.rows other.columns}
    along : str, optional
        Additional dim of `score`, e.g. language: return how probabilities shift from its label `base` to the others.
    {base}
    threshold : float, default 0.975
        A pair is resolved if the probability is at least this, or at most 1 less this; between .5 and 1.
    {level coefficient resample.ci resamples}

    {dataset}
        On (metric, other_metric, ...): ``probability`` (share of draws, ties half) and ``resolved``; NaN and False on
        the diagonal. With `along` also ``probability_shift`` towards the metric ahead at `base` (negative: its lead
        shrinks), and ``mean_shift(along, ...)`` over the pairs that `base` resolves.

    Notes
    -----
    `resample` sets the scope. The mean is over resolved pairs, as in the paper's text; its code divides by all pairs.
    Source: Braun et al. (2022), §5.2 and Fig. 6.

    {demo}
    >>> ds.meta.dominance("human", metric="judge", other="rouge", level="input", rng=1).probability.values.round(3)
    array([[0.999]])
    """
    measure = checked_measure(level, coefficient, missing, undefined)
    clusters = clustering.checked(cluster, measure, None)
    dims = checked_resample(resample, measure, layers=False, auto=True)
    threshold = validate.number("threshold", threshold, 0.5, 1)
    draws = Draws.checked(n_resamples, rng, progress=progress)
    ready = {**entrance(measure, constant=False), "these_systems": these_systems(resample, dims)}
    scores, targets = metric_pairs.prepare(ds, gold, metric, other, **ready)
    dims = random_dims(resample, dims, scores.shape)
    near_copies.check(scores, dims, clusters)
    check_base(along, base)
    if along is not None:
        check_along(scores.score, along, base)
    measure = on_scale(measure, scores)
    pairs = Pairs(scores, targets, None, [], [])
    of_scores = clustering.of_scores(scores.score, clusters, dims)
    how = BootstrapInterval("percentile", dims, draws.n_resamples, draws.seed, 0.95, clusters=of_scores)
    found = equivalence_tests.drawn(pairs, measure, how, None, progress)
    # A probability turns about one half when the two metrics change places, as a difference does about 0.
    ahead = pairs.laid_out({"difference": found["dominates"] - 0.5})["difference"]
    probability, resolved = ahead + 0.5, abs(ahead) >= threshold - 0.5
    result = xr.Dataset({"probability": probability, "resolved": resolved})
    if along is not None:
        at_base = ahead.sel({along: base}, drop=True)
        settled = abs(at_base) >= threshold - 0.5
        others = [label for label in ahead.indexes[along] if label != base]
        shift = ((ahead.sel({along: others}) - at_base) * np.sign(at_base)).where(settled)
        result = result.assign(
            mean_shift=shift.mean(pair_results.DIMS), probability_shift=shift.reindex({along: ahead.indexes[along]})
        )
    attrs = {"along": along, "base": base if along else None, "threshold": threshold, "resample": dims}
    attrs["cluster"] = clusters or None
    return results.result(result, scores, analysis="dominance", **measure.attrs, **attrs, **draws.attrs)


# --- Arguments ---


@dataclass(frozen=True)
class _Test:
    measure: Measure
    method: str
    interval: BootstrapInterval
    alpha: float
    progress: bool | None
    resample: Any
    clusters: tuple[str, ...]

    @classmethod
    def of(
        cls,
        level: str,
        coefficient: str | CorrelationFunction,
        missing: str,
        undefined: str,
        method: str,
        resample: Any,
        alpha: Any,
        n_resamples: Any,
        cluster: Any,
        rng: Any,
        progress: Any,
    ) -> _Test:
        measure = checked_measure(level, coefficient, missing, undefined)
        validate.choice("method", method, METHODS)
        dims = checked_resample(resample, measure, layers=False, auto=True)
        if measure.coefficient.scale and method in ("tost_analytic", "anderson_hauck"):
            raise ValueError(
                f"method={method!r} has a formula for correlations, which coefficient={measure.coefficient.name!r} is "
                "not; use method='jackknife' or 'tost'"
            )
        if method == "jackknife" and "cell" in dims:
            raise ValueError("method='jackknife' leaves out systems and inputs; resample='cell' needs method='tost'")
        formula = "" if method in ("tost", "jackknife") else f"method={method!r}"
        clusters = clustering.checked(cluster, measure, None, formula)
        alpha = validate.fraction("alpha", alpha)
        if alpha >= 0.5:
            raise ValueError(
                f"{arguments.name('alpha')} must be below 0.5, or the (1 - 2 alpha) interval is none, got {alpha}"
            )
        draws = Draws.checked(n_resamples, rng, progress=progress)
        interval = BootstrapInterval("percentile", dims, draws.n_resamples, draws.seed, 1 - 2 * alpha)
        return cls(measure, method, interval, alpha, draws.progress, resample, clusters)

    def found(self, pairs: Pairs, margins: xr.DataArray) -> dict[str, xr.DataArray]:
        if self.method == "jackknife":
            return equivalence_tests.left_out(pairs, self.measure, self.interval, margins, self.progress)
        if self.method != "tost":
            checks.warn_of_formula(repr(self.method), self.measure.level, pairs.scores.shape, "method='jackknife'")
            return equivalence_tests.by_formula(pairs, self.measure, self.method, margins, self.alpha)
        found = equivalence_tests.drawn(pairs, self.measure, self.interval, margins, self.progress)
        del found["dominates"]
        return found

    def check_resamples(self, pairs: Pairs, adjust: str | None, within: Any) -> None:
        if self.method == "tost":
            how: dict[str, Any] = {"analysis": "equivalence", "n_resamples": self.interval.n_resamples}
            families.check_resamples(adjust, within, pairs.asked, alpha=self.alpha, **how)

    def asked(
        self, ds: xr.Dataset, gold: Any, metric: Any, along: str | None, base: Any, other: Any
    ) -> tuple[_Test, Pairs]:
        by_labels = self.method in ("tost", "jackknife")
        these = by_labels and these_systems(self.resample, self.interval.dims)
        pairs = Pairs.of(ds, gold, metric, along, base, other, self.measure, these_systems=these)
        measure = on_scale(self.measure, pairs.scores)
        if not by_labels:
            return replace(self, measure=measure), pairs
        dims = random_dims(self.resample, self.interval.dims, pairs.scores.shape)
        near_copies.check(pairs.scores, dims, self.clusters)
        clusters = clustering.of_scores(pairs.scores.score, self.clusters, dims)
        interval = replace(self.interval, dims=dims, clusters=clusters)
        return replace(self, measure=measure, interval=interval), pairs

    def warn(self, result: xr.Dataset, pairs: Pairs) -> None:
        if self.method != "jackknife":
            return
        interval = self.interval
        needs = jackknifed.needs(self.measure, interval.dims, pairs.scores.shape, clusters=interval.clusters)
        limits = result["difference"], result["ci_low"]
        pairs.scores.later.make(checks.warn_without_limits, *limits, "jackknife", needs)
        pairs.scores.later.make(checks.warn_where, result["fell_back"], checks.FELL_BACK["jackknife"], "fell_back")

    def attrs(self, along: str | None, base: Hashable) -> dict[str, Any]:
        attrs = {"analysis": "equivalence", **self.measure.attrs, "method": self.method, "alpha": self.alpha}
        attrs |= {"along": along, "base": base if along else None}
        drawn = self.interval
        if self.method in ("tost", "jackknife"):
            attrs |= {"resample": drawn.dims, "cluster": self.clusters or None}
        if self.method == "tost":
            attrs |= {"n_resamples": drawn.n_resamples, "seed": str(drawn.seed)}
        return attrs
