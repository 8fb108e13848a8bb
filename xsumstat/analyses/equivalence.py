"""Is the difference too small to matter, and does an order last: `equivalence`, `margin_sensitivity`, `dominance`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _validate
from xsumstat.analyses import adjust as families
from xsumstat.analyses import equivalence_tests
from xsumstat.analyses.measure import (
    Draws,
    Measure,
    checked_measure,
    checked_resample,
    jackknife_needs,
    on_scale,
    random_dims,
    these_systems,
)
from xsumstat.analyses.versions import Pairs, check_along, check_base, margin_of
from xsumstat.dataset import checks, metric_pairs, near_copies, results
from xsumstat.resampling.bootstrap import BootstrapInterval
from xsumstat.types import CorrelationFunction

_FELL_BACK = "no scores vary without one system or input: another jackknife interval is used (see `ci`), for"
METHODS = ("tost", "jackknife", "tost_analytic", "anderson_hauck")


@_validate.public
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
    missing: str = "pairwise",
    undefined: str = "drop",
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Test that two versions of a metric, or two metrics, agree with gold alike: within a margin of each other.

    Parameters
    ----------
    {ds}
    {gold}
    margin : float, {"rater_sd", "rater_range"} or DataArray
        Differences of less than this do not matter; above 0. "rater_sd" is the sample standard deviation over raters
        of the metric's correlation with each single rater, "rater_range" the largest less the smallest, both of the
        base version; raters who rated nothing of a label, such as a quality, are left out there. A DataArray has a
        margin for each of the labels it is over, such as `metric` and `quality`. Where a margin is NaN, so is the
        p-value, and nothing is found equivalent, with a warning.
    {along.versions}
    {base}
    {metric}
    {other.instead}
    {method.equivalence}
        See Notes for what they find.
    {level}
    {coefficient}
    {resample.ci}
        "tost" draws them, "jackknife" leaves each label out and has no "cell".
    {alpha.equivalence}
    {adjust.formula}
    {within}
    rating : str or DataArray, optional
        For the margins from raters: ratings with the dims rater, system and input; default the variable "rating".
    {n_resamples}
    {missing}
        Two scores are compared on the cells that both have with gold; with "available" "tost" and "jackknife" let each
        keep its own, and the formulas take the cells that both have.
    {undefined}
    {rng}
    {progress}

    Returns
    -------
    Dataset
        ``difference``, ``ci_low`` and ``ci_high`` (its (1 − 2·alpha) interval), ``margin``, ``pvalue``, with `adjust`
        ``pvalue_adjusted``, and ``equivalent``, whether the (adjusted) p-value is at most alpha; each (metric, along,
        ...) without the base, the difference being the version's correlation less the base's; or (metric,
        other_metric, ...), NaN where a metric meets itself. "tost" and "jackknife" add ``n_undefined``, the draws, or
        the values without one label, that are undefined; "jackknife" also ``fell_back``: True where another interval
        stands in.

    Raises
    ------
    {errors.draws}
        Also for a margin that is not above 0, or whose dims the result has not.

    Warns
    -----
    {errors.warned}
        Also when a metric that ``kind`` does not call human equals the gold; where a margin is NaN, a difference has no
        jackknife interval, or that falls back, and for a formula at input or within_system level.

    Notes
    -----
    The null hypothesis is that the correlations differ by the margin or more; a small p-value is for equivalence. That
    no test finds a *difference* says nothing of the kind. "tost": with d_s the difference in each draw, p is
    ``max(1 + #{d_s ≥ margin}, 1 + #{d_s ≤ −margin}) / (k + 1)``. "jackknife": p is the least α whose (1 − 2α)
    interval lies within ±margin (see `xsumstat.inference.equivalence`). For the other two see
    `xsumstat.inference.two_correlations.equivalence`, where an error of code published with the paper is described;
    they take n (systems, inputs or cells) to be independent and normal, and with rank correlations and averages they
    are a heuristic. Braun et al. use ``level="global"`` and ``resample="cell"``, which overlooks that cells share
    systems and inputs.

    How often two metrics were found equivalent at .05 that are apart by just the margin (correlations .8 and .6; .05
    would be right), and two that are equal (.6; more is better), with 10 systems x 100 inputs, 16 x 300 and 25 x 100.
    Shares are of 500 sets of scores, those of "tost" of 200: one of .05 has a standard error of .010, or .015.

    =====================  ======  ================  ================
    method                 level   apart             equal
    =====================  ======  ================  ================
    tost, both             input   .03, .07, .02     .78, .98, 1.00
    tost, both             system  .04, .06, .06     .02, .05, .06
    tost, both             global  .04, .09, .03     .93, 1.00, 1.00
    tost, cell             global  .24, .35, .28     1.00, 1.00, 1.00
    jackknife              input   .05, .05, .07     .69, .93, 1.00
    jackknife              system  .01, .01, .03     .00, .01, .02
    jackknife              global  .08, .08, .06     .85, .98, 1.00
    tost_analytic          input   .00, .00, .00     .00, .00, .00
    tost_analytic          system  .05, .05, .06     .01, .02, .04
    tost_analytic          global  .32, .36, .30     1.00, 1.00, 1.00
    anderson_hauck         input   .00, .00, .00     .29, .32, .45
    anderson_hauck         system  .12, .10, .09     .11, .12, .15
    anderson_hauck         global  .32, .36, .30     1.00, 1.00, 1.00
    =====================  ======  ================  ================

    At higher correlations, .95 and .85 with a margin of .1 at system level (500 sets each of 10 and 16 systems x 100
    inputs and 25 x 300), the formulas find more: "tost_analytic" .15, .14, .16, "anderson_hauck" .20, .17, .17, "tost"
    over both dims .08, .08, .10, and "jackknife" .04, .06, .05: prefer "jackknife" there.

    So "tost" over both dims is to be preferred where draws cost little. "jackknife" has the same answer every time, and
    its interval is that of `ci`; at global level it finds a little too much. Cells drawn one by one and the formulas at
    global level find five to seven times too much, the formulas at input level too little, and Anderson & Hauck's test
    at system level twice too much. A margin of .2 is too narrow for any test of 25 systems at system level.

    References
    ----------
    Braun et al. (2022), "Does Summary Evaluation Survive Translation to Other Languages?", §4. Schuirmann (1987);
    Anderson & Hauck (1983); Counsell & Cribbie (2015).

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> test = ds.meta.equivalence("human", metric="rouge", other="perplexity", margin=0.2, level="input", rng=1)
    >>> print(test.meta.conclusion())
    rouge and perplexity are equivalent within ±.20: they differ by .01 (90 % interval [-.15, .16]), p = .024 (two
    one-sided bootstrap tests, systems and inputs like these, 9,999 resamples; p-values not corrected; alpha .05;
    Pearson's r, input level).
    """
    test = _Test.of(level, coefficient, missing, undefined, method, resample, alpha, n_resamples, rng, progress)
    test, pairs = test.asked(ds, gold, metric, along, base, other)
    test = replace(test, measure=on_scale(test.measure, pairs.scores))
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
    return results.described(result.assign(equivalent=families.decisive(result) <= alpha))


@_validate.public
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
    missing: str = "pairwise",
    undefined: str = "drop",
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """What share of comparisons is found equivalent as the margin grows; one set of draws serves every margin.

    Parameters
    ----------
    {ds}
    {gold}
    margins : list of float, optional
        In ascending order, above 0; default .01, .02, ... .30.
    by : dim or dims, optional
        Dims of the comparisons that are kept, such as "quality"; the share is over the others. Default none.
    {along.versions}
    {base}
    {metric}
    {other.instead}
    {method.equivalence}
    {level}
    {coefficient}
    {resample.ci}
    {alpha.equivalence}
    {adjust.formula}
        The tests of each margin are corrected by themselves.
    {within}
    {n_resamples}
    {missing}
    {undefined}
    {rng}
    {progress}

    Returns
    -------
    Dataset
        ``share(margin, by ...)``, of the comparisons that have a p-value, and their number ``n_tests(margin, by ...)``.

    Raises
    ------
    {errors.draws}
        Also for margins that are not above 0 and ascending, and a `by` that the result has not.

    Warns
    -----
    {errors.warned}
        Also when a metric that ``kind`` does not call human equals the gold; when more than 5 % of the
        resamples are undefined.

    References
    ----------
    Braun et al. (2022), Fig. 4.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> curve = ds.meta.margin_sensitivity("human", metric="rouge", other="perplexity", margins=[0.05, 0.1, 0.2, 0.3],
    ...                                    level="input", rng=1)
    >>> curve.share.to_pandas()
    margin
    0.05    0.0
    0.10    0.0
    0.20    1.0
    0.30    1.0
    Name: share, dtype: float64
    """
    test = _Test.of(level, coefficient, missing, undefined, method, resample, alpha, n_resamples, rng, progress)
    grid = equivalence_tests.checked_grid(margins)
    test, pairs = test.asked(ds, gold, metric, along, base, other)
    test = replace(test, measure=on_scale(test.measure, pairs.scores))
    kept = [] if by is None else _validate.several("by", by, "a dim or several")
    for dim in kept:
        _validate.known("dim in by", dim, pairs.dims, "dims of the comparisons")
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


@_validate.public
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
    missing: str = "pairwise",
    undefined: str = "drop",
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """How often one metric agrees better with gold than another when scores are drawn anew, and whether that lasts.

    Parameters
    ----------
    {ds}
    {gold}
    {metric.rows}
    {other.columns}
    along : str, optional
        A further dim of `score`, such as language: say how the probabilities shift from its label `base` to the others.
    {base}
    threshold : float, default 0.975
        A pair is resolved where the probability is at least this, or at most 1 less this; between .5 and 1.
    {level}
    {coefficient}
    {resample.ci}
    {n_resamples}
    {missing}
        With "available" each metric keeps all the cells it has.
    {undefined}
    {rng}
    {progress}

    Returns
    -------
    Dataset
        ``probability(metric, other_metric, ...)``, the share of draws in which `metric` is better (ties count half),
        and ``resolved``; NaN and False where a metric meets itself. With `along` also ``probability_shift``, the
        change of the probability from the base towards the metric that is ahead there (negative: its lead shrinks),
        NaN for pairs that the base does not resolve, and ``mean_shift(along, ...)`` over the pairs that it does.

    Raises
    ------
    {errors.draws}

    Warns
    -----
    {errors.warned}
        Also when a metric that ``kind`` does not call human equals the gold; when more than 5 % of the
        resamples are undefined.

    Notes
    -----
    The mean is over resolved pairs, as the paper's text has it; its code divides by all pairs.

    References
    ----------
    Braun et al. (2022), §5.2 and Fig. 6.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> found = ds.meta.dominance("human", metric="judge", other=["rouge", "length"], level="input", rng=1)
    >>> found.meta.to_frame(brief=True).round(3)
      metric other_metric  probability  resolved
    0  judge        rouge        0.999      True
    1  judge       length        1.000      True
    """
    measure = checked_measure(level, coefficient, missing, undefined)
    dims = checked_resample(resample, measure, layers=False, auto=True)
    threshold = _validate.number("threshold", threshold, 0.5, 1)
    draws = Draws.checked(n_resamples, rng, progress=progress)
    ready: dict[str, Any] = {"level": level, "compared_within": measure.compared_within, "missing": measure.missing}
    ready["these_systems"] = these_systems(resample, dims)
    scores, targets = metric_pairs.prepare(ds, gold, metric, other, **ready)
    dims = random_dims(resample, dims, scores.shape)
    near_copies.check(scores, dims)
    check_base(along, base)
    if along is not None:
        check_along(scores.score, along, base)
    measure = on_scale(measure, scores)
    pairs = Pairs(scores, targets, None, [], [])
    how = BootstrapInterval("percentile", dims, draws.n_resamples, draws.seed, 0.95)
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
            mean_shift=shift.mean(metric_pairs.DIMS), probability_shift=shift.reindex({along: ahead.indexes[along]})
        )
    attrs = {"along": along, "base": base if along else None, "threshold": threshold, "resample": dims}
    return results.result(result, scores, analysis="dominance", **measure.attrs, **attrs, **draws.attrs)


# --- Arguments ---


@dataclass(frozen=True)
class _Test:
    """Which test of equivalence is made, of what correlations.

    Attributes
    ----------
    measure : Measure
    method : {"tost", "jackknife", "tost_analytic", "anderson_hauck"}
    interval : BootstrapInterval
        What "tost" draws and "jackknife" leaves out, and the (1 - 2 alpha) interval.
    alpha : float
    progress : bool or None
    resample : str or tuple of str
        What is random, as users give it.
    """

    measure: Measure
    method: str
    interval: BootstrapInterval
    alpha: float
    progress: bool | None
    resample: Any

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
        rng: Any,
        progress: Any,
    ) -> _Test:
        measure = checked_measure(level, coefficient, missing, undefined)
        _validate.choice("method", method, METHODS)
        dims = checked_resample(resample, measure, layers=False, auto=True)
        if measure.coefficient.scale and method in ("tost_analytic", "anderson_hauck"):
            raise ValueError(
                f"method={method!r} has a formula for correlations, which coefficient={measure.coefficient.name!r} is "
                "not; use method='jackknife' or 'tost'"
            )
        if method == "jackknife" and "cell" in dims:
            raise ValueError("method='jackknife' leaves out systems and inputs; resample='cell' needs method='tost'")
        alpha = _validate.fraction("alpha", alpha)
        if alpha >= 0.5:
            raise ValueError(f"alpha must be below 0.5, or the (1 - 2 alpha) interval is none, got {alpha}")
        draws = Draws.checked(n_resamples, rng, progress=progress)
        interval = BootstrapInterval("percentile", dims, draws.n_resamples, draws.seed, 1 - 2 * alpha)
        return cls(measure, method, interval, alpha, draws.progress, resample)

    def found(self, pairs: Pairs, margins: xr.DataArray) -> dict[str, xr.DataArray]:
        """Difference, interval and a p-value for each of the margins (_margin, ...), by pair."""
        if self.method == "jackknife":
            return equivalence_tests.left_out(pairs, self.measure, self.interval, margins, self.progress)
        if self.method != "tost":
            self._warn_of_averages()
            return equivalence_tests.by_formula(pairs, self.measure, self.method, margins, self.alpha)
        found = equivalence_tests.drawn(pairs, self.measure, self.interval, margins, self.progress)
        del found["dominates"]
        return found

    def check_resamples(self, pairs: Pairs, adjust: str | None, within: Any) -> None:
        """Warn, before anything is drawn, where so few resamples leave no test that can survive the correction."""
        if self.method == "tost":
            how: dict[str, Any] = {"analysis": "equivalence", "n_resamples": self.interval.n_resamples}
            families.check_resamples(adjust, within, pairs.asked, alpha=self.alpha, **how)

    def _warn_of_averages(self) -> None:
        """Warn that an average over groups varies less than the formulas know."""
        if self.measure.level in ("input", "within_system"):
            _validate.warn(
                f"{self.method!r} treats the average correlation at level={self.measure.level!r} as a single one, "
                "which varies far more: the test is very conservative; use method='jackknife'",
                "average_for_single",
            )

    def asked(
        self, ds: xr.Dataset, gold: Any, metric: Any, along: str | None, base: Any, other: Any
    ) -> tuple[_Test, Pairs]:
        """What is compared, and the test of it, which by default goes by the number of systems."""
        by_labels = self.method in ("tost", "jackknife")
        these = by_labels and these_systems(self.resample, self.interval.dims)
        pairs = Pairs.of(ds, gold, metric, along, base, other, self.measure, these_systems=these)
        if not by_labels:
            return self, pairs
        dims = random_dims(self.resample, self.interval.dims, pairs.scores.shape)
        near_copies.check(pairs.scores, dims)
        return replace(self, interval=replace(self.interval, dims=dims)), pairs

    def warn(self, result: xr.Dataset, pairs: Pairs) -> None:
        """Say where there is no jackknife interval, and where another stands in."""
        if self.method != "jackknife":
            return
        none = result["difference"].notnull() & result["ci_low"].isnull()
        text = f"no jackknife interval, which needs {jackknife_needs(self.measure, self.interval.dims)}, for"
        pairs.scores.later.make(checks.warn_where, none, text, "no_interval")
        pairs.scores.later.make(checks.warn_where, result["fell_back"], _FELL_BACK, "fell_back")

    def attrs(self, along: str | None, base: Hashable) -> dict[str, Any]:
        """Attrs of a result."""
        attrs = {"analysis": "equivalence", **self.measure.attrs, "method": self.method, "alpha": self.alpha}
        attrs |= {"along": along, "base": base if along else None}
        drawn = self.interval
        if self.method in ("tost", "jackknife"):
            attrs["resample"] = drawn.dims
        if self.method == "tost":
            attrs |= {"n_resamples": drawn.n_resamples, "seed": str(drawn.seed)}
        return attrs
