"""Is one metric really better than another: `perm_test`, `boot_test` and `corr_test`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import (
    _draws,
    _validate,
    content,
    dependent,
    families,
    inference,
    lazy,
    levels,
    metric_pairs,
    paired,
    resampling,
    schema,
)
from xsumstat.coefficients import CorrelationFunction, FloatArray
from xsumstat.correlation import checked_settings
from xsumstat.levels import IntArray
from xsumstat.resampling import DrawPlan, PairPlan, SwapPlan
from xsumstat.swap_ranks import Pair
from xsumstat.swaps import swap_tests

_BY_PAIR = {"difference": float, "forward": float, "backward": float, "n_undefined": int}
# Pairs of metrics are made ready a few at a time, so that together they take about so many bytes.
_BYTES_AT_ONCE = 2**26


def perm_test(
    ds: xr.Dataset,
    gold: Any = None,
    *,
    metric: Any = None,
    other: Any = None,
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    resample: str | tuple[str, ...] = "both",
    crossed: bool = False,
    alternative: str = "two-sided",
    n_resamples: int = 9999,
    missing: str = "pairwise",
    undefined: str = "drop",
    rng: Any = None,
    keep_samples: bool = False,
    progress: bool = False,
) -> xr.Dataset:
    """Permutation test of the difference of two metrics' correlations with gold, for all pairs of metrics.

    Parameters
    ----------
    ds, gold, level, coefficient, missing, undefined
        As for `corr`. Under "pairwise" a pair is compared on the cells where both metrics and the gold have
        a score, so that `difference` need not be the difference of two `corr` where cells are missing.
    metric, other : label, list of labels or boolean DataArray, optional
        Metrics in the rows and in the columns of the result. `metric` defaults to all but the gold, `other`
        to the same as `metric`.
    resample : {"both", "system", "input"} or tuple of dims, default "both"
        What trades places between two metrics: all scores of a system together, all of an input together,
        or ("both") every cell by itself.
    crossed : bool, default False
        With "both", swap the cells of a system or of an input, but not of the two at once: the exclusive or of
        a coin for each system and one for each input.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        "greater": `metric` correlates better with gold than `other_metric`.
    n_resamples : int, default 9999
        Number of random swaps. When all possible swaps number no more, each is taken once, and the test is exact.
    rng, progress
        As for `ci`. All pairs, and all further labels, see the same swaps.
    keep_samples : bool, default False
        Add the differences under swaps as ``samples(metric, other_metric, ..., resample)``.

    Returns
    -------
    Dataset
        ``difference`` and ``pvalue`` (metric, other_metric, ...): cell (i, j) says whether i correlates better
        than j; NaN where i is j. ``n_undefined`` counts swaps that left the difference undefined; the p-value is
        over the others. ``attrs["exact"]`` is 1 when all swaps were listed, and ``attrs["n_resamples"]`` is
        then their number.

    Raises
    ------
    ValueError, TypeError
        As for `corr`, and for a dim, alternative or number that is not allowed.

    Warns
    -----
    UserWarning
        When more than 5 % of the swaps leave a difference undefined, or a pair has none at all.

    Notes
    -----
    The null hypothesis is that the two metrics are exchangeable: for each unit that is swapped (a system, an
    input, a cell) either could have given either score. The statistic is δ = r(X, Z) − r(Y, Z). X and Y are
    first standardised over all their cells, so that scores that trade places share a scale. p is
    ``(1 + #{δ_s ≥ δ − 1e-12})/(k + 1)`` for "greater", with |δ_s| and |δ| for "two-sided"; an exact test's is
    ``#{...}/2^units``. It is never 0.

    The paper words its test of both dims as "systems, then inputs", which is `crossed`; its Algorithm 2,
    the default here, flips a coin for each cell.

    References
    ----------
    Deutsch, Dror & Roth (2021), §4.2 and Algorithm 2.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> test = ds.meta.perm_test("human", level="input", alternative="greater", n_resamples=999, rng=1)
    >>> float(test.pvalue.sel(metric="judge", other_metric="length"))
    0.001
    """
    settings, record = checked_settings(level, coefficient, missing, undefined)
    dims = _validate.dims("resample", resample)
    if _validate.flag("crossed", crossed) and len(dims) < 2:
        raise ValueError(f"crossed=True swaps over both dims and needs resample='both', got {resample!r}")
    _validate.choice("alternative", alternative, _validate.ALTERNATIVES)
    n_resamples = _validate.integer("n_resamples", n_resamples, 1)
    _validate.flag("keep_samples", keep_samples)
    _validate.flag("progress", progress)
    scores, tested = metric_pairs.prepare(ds, gold, metric, other, level=level, missing=missing)
    content.check_resampled(scores.score, dims)
    plan = SwapPlan.of(scores.shape, dims, crossed, n_resamples, _draws.seed_of(rng))
    if plan.exact and 1 / plan.n_resamples > families.USUAL_LEVEL:
        _validate.warn(
            f"there are only {plan.n_resamples} ways to swap: no p-value can be below {1 / plan.n_resamples:.3g}"
        )
    work = _Work(tested, plan, alternative, {"coefficient": record, **settings})
    by_pair = _resampled(scores, work, keep_samples, progress)
    return schema.result(
        metric_pairs.laid_out(by_pair, tested, scores),
        scores,
        analysis="perm_test",
        coefficient=record.name,
        method="permutation",
        resample=dims,
        crossed=crossed,
        alternative=alternative,
        n_resamples=plan.n_resamples,
        exact=plan.exact,
        seed=str(plan.seed),
        **settings,
    )


def boot_test(
    ds: xr.Dataset,
    gold: Any = None,
    *,
    metric: Any = None,
    other: Any = None,
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    resample: str | tuple[str, ...] = "both",
    alternative: str = "two-sided",
    n_resamples: int = 9999,
    missing: str = "pairwise",
    undefined: str = "drop",
    rng: Any = None,
    keep_samples: bool = False,
    progress: bool = False,
) -> xr.Dataset:
    """Paired bootstrap test of the difference of two metrics' correlations with gold, for all pairs of metrics.

    Parameters
    ----------
    ds, gold, metric, other, level, coefficient, missing, undefined, alternative
        As for `perm_test`; under ``missing="available"`` each metric keeps all the cells it has.
    resample : {"both", "system", "input"} or tuple of dims, default "both"
        The dims whose labels are drawn with replacement, for the two metrics and the gold together.
    n_resamples : int, default 9999
        Number of resamples, at least 2.
    rng, progress
        As for `ci`. All pairs, and all further labels, see the same draws.
    keep_samples : bool, default False
        Add the differences in the resamples as ``samples(metric, other_metric, ..., resample)``.

    Returns
    -------
    Dataset
        ``difference``, ``pvalue`` and ``n_undefined`` (metric, other_metric, ...), as for `perm_test`.

    Raises
    ------
    ValueError, TypeError
        As for `ci` and `perm_test`.

    Warns
    -----
    UserWarning
        When more than 5 % of the resamples leave a difference undefined, or a pair has none at all.

    Notes
    -----
    The null hypothesis is that the two correlations are equal among the labels that those at hand stand for. With δ the
    difference and δ_s that of a resample, the δ_s − δ show how a difference of 0 would vary: p is
    ``(1 + #{δ_s − δ ≥ δ − 1e-12})/(k + 1)`` for "greater", with |δ_s − δ| and |δ| for "two-sided". It is less powerful
    than `perm_test` (Deutsch et al. 2021, Fig. 3), but its null hypothesis does not ask the metrics to be exchangeable.

    References
    ----------
    Deutsch, Dror & Roth (2021), §4.1 and §5.2.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> test = ds.meta.boot_test("human", level="input", alternative="greater", n_resamples=999, rng=1)
    >>> float(test.pvalue.sel(metric="judge", other_metric="length"))
    0.001
    """
    settings, record = checked_settings(level, coefficient, missing, undefined)
    dims = _validate.dims("resample", resample)
    _validate.choice("alternative", alternative, _validate.ALTERNATIVES)
    n_resamples = _validate.integer("n_resamples", n_resamples, 2)
    _validate.flag("keep_samples", keep_samples)
    _validate.flag("progress", progress)
    scores, tested = metric_pairs.prepare(ds, gold, metric, other, level=level, missing=missing)
    content.check_resampled(scores.score, dims)
    plan = DrawPlan(scores.shape, dims, n_resamples, _draws.seed_of(rng))
    work = _Work(tested, plan, alternative, {"coefficient": record, **settings})
    by_pair = _resampled(scores, work, keep_samples, progress)
    return schema.result(
        metric_pairs.laid_out(by_pair, tested, scores),
        scores,
        analysis="boot_test",
        coefficient=record.name,
        method="bootstrap",
        resample=dims,
        alternative=alternative,
        n_resamples=n_resamples,
        seed=str(plan.seed),
        **settings,
    )


def corr_test(
    ds: xr.Dataset,
    gold: Any = None,
    *,
    metric: Any = None,
    other: Any = None,
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    method: str = "williams",
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    missing: str = "pairwise",
    undefined: str = "drop",
) -> xr.Dataset:
    """Analytic test of two correlations that share the gold, for all pairs of metrics; nothing is resampled.

    Parameters
    ----------
    ds, gold, metric, other, level, coefficient, missing, undefined, alternative
        As for `perm_test`.
    method : {"williams", "steiger", "meng", "zou"}, default "williams"
        Which test; see `xsumstat.dependent.statistic` for the formulas.
    confidence_level : float, default 0.95
        That of the interval which "zou" adds.

    Returns
    -------
    Dataset
        ``difference``, ``statistic`` (its sign is that of the difference) and ``pvalue`` (metric, other_metric, ...);
        NaN where a metric meets itself, or fewer than 4 values are correlated. "zou" adds ``ci_low`` and
        ``ci_high`` of the difference.

    Raises
    ------
    ValueError, TypeError
        As for `corr`, and for a method or alternative that is not allowed.

    Notes
    -----
    The null hypothesis is that the correlations of the two metrics with the gold are equal. It is tested with the
    correlation of the two metrics with each other, on the cells that both have, and n, the number of values that are
    correlated: systems at system and input level (r the average), inputs at within_system, cells at global. The tests
    take the scores to be jointly normal and r to be Pearson's; for rank correlations, and averages over groups, they
    are a heuristic, and cells are not independent of each other. "greater" is the upper tail of the *signed* statistic:
    tools that take the magnitude of r or of t ignore direction, and spoil the sign of r(X, Y). A metric with
    ``higher_is_better`` False is turned round first.

    References
    ----------
    Williams (1959), *Regression Analysis*; Graham & Baldwin (2014); Steiger (1980), Psychological Bulletin 87; Meng,
    Rosenthal & Rubin (1992), ibid. 111; Zou (2007), Psychological Methods 12. Deutsch, Dror & Roth (2021), §4.1.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> test = ds.meta.corr_test("human", alternative="greater")
    >>> bool(test.pvalue.sel(metric="judge", other_metric="length") < 0.05)
    True
    """
    settings, record = checked_settings(level, coefficient, missing, undefined)
    _validate.choice("method", method, dependent.METHODS)
    _validate.choice("alternative", alternative, _validate.ALTERNATIVES)
    confidence_level = _validate.fraction("confidence_level", confidence_level)
    scores, tested = metric_pairs.prepare(ds, gold, metric, other, level=level, missing=missing)
    reach = inference.normal_quantile(confidence_level)
    by_pair = _analytic(scores, tested, method, alternative, reach, {"coefficient": record, **settings})
    if scores.used is None:
        metric_pairs.warn_undefined(by_pair["statistic"], tested, scores)
    about = {"confidence_level": confidence_level} if method == "zou" else {}
    return schema.result(
        metric_pairs.laid_out(by_pair, tested, scores),
        scores,
        analysis="corr_test",
        coefficient=record.name,
        method=method,
        alternative=alternative,
        **settings,
        **about,
    )


def _analytic(
    scores: schema.Scores,
    pairs: tuple[Pair, ...],
    method: str,
    alternative: str,
    reach: float,
    settings: dict[str, Any],
) -> dict[str, xr.DataArray]:
    """The test of every pair of metrics, along dim `_pair`."""
    names = ["difference", "statistic", "forward", "backward", *["ci_low", "ci_high"] * (method == "zou")]

    def each(x: FloatArray, z: FloatArray) -> tuple[FloatArray, ...]:
        r_1, r_2, r_3, n = paired.correlations(x, z, pairs, **settings)
        value = dependent.statistic(method, r_1, r_2, r_3, n)
        tails = (dependent.pvalue(method, turned, n, alternative) for turned in (value, -value))
        limits = dependent.zou_interval(r_1, r_2, r_3, n, reach) if method == "zou" else ()
        return r_1 - r_2, value, *tails, *limits

    outputs = xr.apply_ufunc(
        each,
        scores.score,
        scores.gold,
        input_core_dims=[["metric", "system", "input"], ["system", "input"]],
        output_core_dims=[["_pair"]] * len(names),
        vectorize=True,
        dask="parallelized",
        output_dtypes=[float] * len(names),
        dask_gufunc_kwargs={"output_sizes": {"_pair": len(pairs)}},
        keep_attrs=False,
    )
    return dict(zip(names, outputs, strict=True))


@dataclass(frozen=True)
class _Summary:
    """What a test by resampling tells of each pair: the numbers of `_BY_PAIR`."""

    plan: PairPlan
    alternative: str

    def __call__(self, difference: FloatArray, counts: IntArray) -> tuple[FloatArray, ...]:
        forward, backward = inference.permutation_pvalues(
            difference, counts, self.plan.n_resamples, self.plan.exact, self.alternative
        )
        return difference, forward, backward, counts[3].astype(float)


@dataclass(frozen=True)
class _Work:
    """Which pairs are tested, by which resamples, against what."""

    pairs: tuple[Pair, ...]
    plan: PairPlan
    alternative: str
    settings: dict[str, Any]

    @property
    def summary(self) -> _Summary:
        """What is told of each pair."""
        return _Summary(self.plan, self.alternative)

    @property
    def make(self) -> lazy.MakeTests:
        """What makes pairs ready."""
        return paired.draw_tests if self.plan.recentred else swap_tests

    @property
    def together(self) -> bool:
        """All pairs share their draws of each metric, or their sums of each metric's system means."""
        return self.plan.recentred or (
            self.settings["level"] == "system" and self.settings["coefficient"].kind is not None
        )


def _resampled(scores: schema.Scores, work: _Work, keep_samples: bool, progress: bool) -> dict[str, xr.DataArray]:
    """The test of every pair of metrics, along dim `_pair`."""
    pairs, plan = work.pairs, work.plan

    def eager(labels: list[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray | None]:
        return _eager(labels, work, keep_samples, progress)

    def lazily(x: Any, z: Any, used: tuple[Any, Any]) -> tuple[Any, Any]:
        size: dict[str, Any] = {"n_summary": len(_BY_PAIR), "keep_samples": keep_samples}
        how: dict[str, Any] = {"settings": work.settings, "together": work.together, **size}
        return lazy.compare_pairs(x, z, used, pairs, plan, work.make, work.summary, **how)

    kept = plan.n_resamples if keep_samples else None
    by_pair = schema.over_labels(scores, schema.CORE, {"_pair": len(pairs)}, _BY_PAIR, kept, eager, lazily)
    if scores.used is None:
        metric_pairs.warn_undefined(by_pair["difference"], pairs, scores)
        content.warn_resamples(by_pair["n_undefined"].max("_pair"), plan.n_resamples)
    return by_pair


def _eager(
    labels: list[tuple[FloatArray, FloatArray]], work: _Work, keep_samples: bool, progress: bool
) -> tuple[FloatArray, FloatArray | None]:
    """Summaries (numbers, labels · pairs) for the scores of each further label, and the samples or None.

    Only so many pairs are made ready together as keep their memory small, unless they share their work.
    """
    pairs, plan = work.pairs, work.plan
    at_once = (
        len(pairs) if work.together else max(1, _BYTES_AT_ONCE // levels.footprint(plan.shape, work.settings["level"]))
    )
    groups = [pairs[start : start + at_once] for start in range(0, len(pairs), at_once)]
    summaries, kept = [], []
    with resampling.progress_bar(len(labels) * len(groups) * _draws.n_blocks(plan.n_resamples), progress) as bar:
        for x, z in labels:
            for group in groups:
                tests = work.make(x, z, group, **work.settings)
                difference, found = resampling.compare_pairs(tests, plan, keep_samples=keep_samples, bar=bar)
                summaries.append(np.array(work.summary(difference, found.counts)))
                if found.samples is not None:
                    kept.append(found.samples)
    return np.concatenate(summaries, axis=1), np.concatenate(kept) if keep_samples else None
