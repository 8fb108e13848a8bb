"""How well does each metric agree with people, and how sure are we: `corr`, `metric_corr`, `ci`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _draws, _validate, coefficients, content, inference, lazy, levels, resampling, schema
from xsumstat.coefficients import Coefficient, CorrelationFunction, FloatArray
from xsumstat.levels import Comparison

_CELLS = ["system", "input"]
# The dim along which a level's groups lie.
GROUPS = {"input": "input", "within_system": "system"}
_INTERVAL = ("correlation", "ci_low", "ci_high", "standard_error", "n_undefined")
_TYPES = {"n_undefined": int, "fell_back": bool}
# Bootstrap samples that are held at a time when nobody wants to keep them: 64 MB.
_BYTES_AT_ONCE = 2**26


def corr(
    ds: xr.Dataset,
    gold: Any = None,
    *,
    metric: Any = None,
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    average: bool = True,
    missing: str = "pairwise",
    undefined: str = "drop",
) -> xr.Dataset:
    """Correlation of each metric with the gold scores.

    Parameters
    ----------
    ds : Dataset
        Scores, float ``score(metric, system, input, ...)``; NaN is a missing score.
    gold : label, str or DataArray, optional
        Human scores: a label of `metric`, the name of another variable, or a DataArray with dims system
        and input (at system level `input` may be absent). Default ``ds.attrs["gold"]``. Further dims of
        gold and of `score` broadcast by name.
    metric : label, list of labels or boolean DataArray, optional
        Metrics to judge; default all but the gold.
    level : {"system", "input", "global", "within_system"}, default "system"
        What is correlated: the systems' means; the systems within each input, averaged over inputs; all
        cells as one vector; the inputs within each system, averaged over systems.
    coefficient : {"pearson", "spearman", "kendall", "kendall_a", "kendall_c", "pairwise_accuracy"} or callable
        "kendall" is tau-b. A callable takes two 1-D float arrays without NaN and gives a float, NaN where
        it is undefined.
    average : bool, default True
        False keeps the groups: dim `input` at input level, `system` at within_system.
    missing : {"pairwise", "available"}, default "pairwise"
        "pairwise": a cell counts where both scores are. "available": at system level each score is averaged
        over all the cells it has.
    undefined : {"drop", "zero"}, default "drop"
        A group in which a score is constant has no correlation: leave it out of the average, or let it
        count as 0.

    Returns
    -------
    Dataset
        ``correlation(metric, ...)`` in [-1, 1] and ``n_undefined(metric, ...)``, how many groups had none.
        With ``average=False`` ``correlation`` keeps the dim of the groups, and ``pvalue`` is SciPy's two-sided
        p-value of each (NaN for "pairwise_accuracy" and callables).

    Raises
    ------
    ValueError, TypeError
        For an unknown label, dim, level or coefficient, for scores that are not numbers, infinite, or
        all missing, and for a gold that is constant.

    Notes
    -----
    With x_ij the metric's score of system i on input j and z_ij the gold's, the level "system" is
    ``corr_i(mean_j x_ij, mean_j z_ij)``, "input" is ``mean_j corr_i(x_ij, z_ij)``, "global" is
    ``corr_ij(x_ij, z_ij)`` and "within_system" is ``mean_i corr_j(x_ij, z_ij)``. Two means are tied when they
    differ by less than 1e-12 of the larger; raw scores when they are equal. A metric whose coordinate
    ``higher_is_better`` is False is negated first.

    References
    ----------
    Deutsch, Dror & Roth (2021), "A Statistical Analysis of Summarization Evaluation Metrics Using Resampling
    Methods", §2. Bhandari et al. (2020), "Re-evaluating Evaluation in Text Summarization", §2.5.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> float(ds.meta.corr("human").correlation.sel(metric="judge").round(2))
    0.93
    """
    settings, record = checked_settings(level, coefficient, missing, undefined)
    _validate.flag("average", average)
    scores = schema.prepare(ds, gold, metric, level=level, missing=missing)
    variables = _correlations(scores.score, scores.gold, average, record, settings)
    if average and scores.used is None:
        content.warn_undefined(variables["correlation"], scores.score, scores.gold)
    return schema.result(variables, scores, analysis="corr", coefficient=record.name, **settings)


def metric_corr(
    ds: xr.Dataset,
    *,
    metric: Any = None,
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    average: bool = True,
    missing: str = "pairwise",
    undefined: str = "drop",
) -> xr.Dataset:
    """Correlation of each metric with each other metric.

    Parameters
    ----------
    ds : Dataset
        Scores, float ``score(metric, system, input, ...)``.
    metric, level, coefficient, average, missing, undefined
        As for `corr`; `metric` defaults to all, human ones included.

    Returns
    -------
    Dataset
        ``correlation(metric, other_metric, ...)``, symmetric, and ``n_undefined``; with ``average=False``
        the groups are kept and ``pvalue`` is added, as for `corr`.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> matrix = ds.meta.metric_corr(level="input", coefficient="kendall").correlation
    >>> float(matrix.sel(metric="rouge", other_metric="rouge"))
    1.0
    """
    settings, record = checked_settings(level, coefficient, missing, undefined)
    _validate.flag("average", average)
    score = schema.prepare_metrics(ds, metric, level=level)
    rows, columns = np.triu_indices(score.sizes["metric"])
    x, z = (
        score.isel(metric=xr.DataArray(at, dims="_pair")).drop_vars("metric", errors="ignore") for at in (rows, columns)
    )
    variables = _correlations(x, schema.without_coords(z), average, record, settings)
    pair = np.empty((score.sizes["metric"],) * 2, dtype=int)
    pair[rows, columns] = pair[columns, rows] = np.arange(len(rows))
    square = xr.Dataset(variables).isel(_pair=xr.DataArray(pair, dims=("metric", "other_metric")))
    square = schema.labelled(square, score, score)
    return schema.result(square, None, analysis="metric_corr", coefficient=record.name, **settings)


def ci(
    ds: xr.Dataset,
    gold: Any = None,
    *,
    metric: Any = None,
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    method: str = "bootstrap",
    interval: str = "percentile",
    resample: str | tuple[str, ...] = "both",
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    missing: str = "pairwise",
    undefined: str = "drop",
    rng: Any = None,
    keep_samples: bool = False,
    progress: bool = False,
) -> xr.Dataset:
    """Confidence interval of each metric's correlation with the gold scores.

    Parameters
    ----------
    ds, gold, metric, level, coefficient, missing, undefined
        As for `corr`.
    method : {"bootstrap", "fisher"}, default "bootstrap"
        "fisher" is analytic, and only for "pearson", "spearman" and "kendall".
    interval : {"percentile", "basic", "normal", "bca"}, default "percentile"
        How the bootstrap's samples become an interval.
    resample : {"both", "system", "input"} or tuple of dims, default "both"
        The dims whose labels are random. "input" speaks of these very systems on new inputs, "system" of
        new systems on these inputs, "both" of new systems on new inputs.
    n_resamples : int, default 9999
        Number of resamples, at least 2.
    confidence_level : float, default 0.95
        Between 0 and 1.
    rng : None, int, SeedSequence or Generator, optional
        Source of the draws. One seed gives the same numbers with any number of threads, and a longer run
        begins with the shorter one's samples; all metrics and further labels see the same draws.
    keep_samples : bool, default False
        Add the bootstrap distribution as ``samples(metric, ..., resample)``.
    progress : bool, default False
        Show a progress bar (needs tqdm). Lazy scores have the bars of Dask instead.

    Returns
    -------
    Dataset
        ``correlation``, ``ci_low``, ``ci_high``, ``standard_error`` and ``n_undefined`` (resamples without a
        correlation; they are left out), each (metric, ...). With "bca" also ``fell_back``: True where that interval is
        not defined, and the percentile interval stands in.

    Raises
    ------
    ValueError, TypeError
        As for `corr`, and for a method, interval, number or dim that is not allowed.

    Warns
    -----
    UserWarning
        When more than 5 % of the resamples are undefined, or "bca" falls back.

    Notes
    -----
    A resample draws as many labels of each named dim as there are, with replacement, the two dims
    independently of each other. "percentile" takes the quantiles of the samples, "basic" reflects them about
    the estimate, "normal" is the estimate ± z standard errors; the last two may pass 1. Drawing both dims counts
    the noise of single cells about three times, so the interval errs on the wide side. "bca" corrects the percentile
    interval for bias and for a spread that changes with the correlation; its jackknife leaves out each label of
    each dim that is drawn (see `xsumstat.inference.bca_interval`).

    "fisher" is ``tanh(arctanh r ± z·c/√(n − b))``, see `xsumstat.inference.fisher_interval`; n is the number of
    systems at system and input level (r the average: far too wide there), of inputs at within_system, and
    of cells at global; with missing cells, that of the input or system that has the most. It takes the
    scores to be normal, which they rarely are.

    References
    ----------
    Deutsch, Dror & Roth (2021), §3. Bonett & Wright (2000), Psychometrika 65. Owen (2007), "The pigeonhole
    bootstrap".

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> result = ds.meta.ci("human", level="input", coefficient="kendall", n_resamples=999, rng=1)
    >>> bool((result.ci_low < result.correlation).all())
    True
    """
    settings, record = checked_settings(level, coefficient, missing, undefined)
    _validate.choice("method", method, ("bootstrap", "fisher"))
    _validate.choice("interval", interval, inference.INTERVALS)
    confidence_level = _validate.fraction("confidence_level", confidence_level)
    dims = _validate.dims("resample", resample)
    n_resamples = _validate.integer("n_resamples", n_resamples, 2)
    _validate.flag("keep_samples", keep_samples)
    _validate.flag("progress", progress)
    if method == "fisher":
        _check_fisher(record, keep_samples)
    scores = schema.prepare(ds, gold, metric, level=level, missing=missing)
    about: dict[str, Any] = {"confidence_level": confidence_level}
    if method == "fisher":
        variables = _fisher(scores, record, settings, confidence_level)
    else:
        content.check_resampled(scores.score, dims)
        plan = resampling.DrawPlan(scores.shape, dims, n_resamples, _draws.seed_of(rng))
        about |= {"interval": interval, "resample": dims, "n_resamples": n_resamples, "seed": str(plan.seed)}
        summary = _Summary(interval, confidence_level, settings["undefined"], dims)
        variables = _bootstrap(scores, {"coefficient": record, **settings}, plan, summary, keep_samples, progress)
    if scores.used is None:
        content.warn_undefined(variables["correlation"], scores.score, scores.gold)
        content.warn_resamples(variables["n_undefined"], n_resamples)
        if "fell_back" in variables:
            content.warn_where(variables["fell_back"], "no BCa interval, but a percentile one, for")
    return schema.result(variables, scores, analysis="ci", coefficient=record.name, method=method, **settings, **about)


def checked_settings(
    level: str, coefficient: str | CorrelationFunction, missing: str, undefined: str
) -> tuple[dict[str, str], Coefficient]:
    """The keywords that every question about correlations shares, checked."""
    settings = {
        "level": _validate.choice("level", level, _validate.LEVELS),
        "missing": _validate.choice("missing", missing, ("pairwise", "available")),
        "undefined": _validate.choice("undefined", undefined, ("drop", "zero")),
    }
    return settings, coefficients.get(coefficient)


def _correlations(
    x: xr.DataArray, z: xr.DataArray, average: bool, record: Coefficient, settings: dict[str, str]
) -> dict[str, xr.DataArray]:
    """Point estimates for every pair of score matrices in `x` and `z`, broadcast by name."""
    level = settings["level"]
    groups = [] if average or level not in GROUPS else [GROUPS[level]]

    def each(x: FloatArray, z: FloatArray) -> tuple[Any, ...]:
        comparison = levels.compare(x, z, coefficient=record, **settings)
        r, n = comparison.groups()
        left_out = int((np.isnan(r) & (n > 0)).sum())
        if average:
            return levels.averaged(r, n, settings["undefined"]), left_out
        pvalues = [record.pvalue(*pair) for pair in levels.vectors(x, z, level, settings["missing"])]
        return (r, np.array(pvalues), left_out) if groups else (r[0], pvalues[0], left_out)

    names = ["correlation", "n_undefined"] if average else ["correlation", "pvalue", "n_undefined"]
    outputs = xr.apply_ufunc(
        each,
        x,
        z,
        input_core_dims=[_CELLS, _CELLS],
        output_core_dims=[[] if name == "n_undefined" else groups for name in names],
        vectorize=True,
        dask="parallelized",
        output_dtypes=[int if name == "n_undefined" else float for name in names],
        keep_attrs=False,
    )
    return dict(zip(names, outputs, strict=True))


def _check_fisher(record: Coefficient, keep_samples: bool) -> None:
    if record.fisher is None:
        allowed = [name for name, each in coefficients.COEFFICIENTS.items() if each.fisher]
        raise ValueError(f"method='fisher' needs a coefficient among {_validate.listing(allowed)}, got {record.name!r}")
    if keep_samples:
        raise ValueError("keep_samples=True needs method='bootstrap': 'fisher' draws no samples")


def _fisher(
    scores: schema.Scores, record: Coefficient, settings: dict[str, str], confidence_level: float
) -> dict[str, xr.DataArray]:
    def each(x: FloatArray, z: FloatArray) -> tuple[Any, ...]:
        r, n = levels.compare(x, z, coefficient=record, **settings).groups()
        estimate = levels.averaged(r, n, settings["undefined"])
        size = levels.fisher_size(x, z, settings["level"], settings["missing"])
        return estimate, *inference.fisher_interval(estimate, size, record, confidence_level), 0

    outputs = xr.apply_ufunc(
        each,
        scores.score,
        scores.gold,
        input_core_dims=[_CELLS, _CELLS],
        output_core_dims=[[]] * len(_INTERVAL),
        vectorize=True,
        dask="parallelized",
        output_dtypes=[float] * 4 + [int],
        keep_attrs=False,
    )
    return dict(zip(_INTERVAL, outputs, strict=True))


@dataclass(frozen=True)
class _Summary:
    """What `ci` tells of one statistic and its bootstrap samples: the numbers of `names`."""

    interval: str
    confidence_level: float
    undefined: str
    dims: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The numbers in order."""
        return (*_INTERVAL, "fell_back") if self.interval == "bca" else _INTERVAL

    def __call__(self, comparison: Comparison, shape: tuple[int, int], samples: FloatArray) -> tuple[float, ...]:
        estimate = levels.averaged(*comparison.groups(), self.undefined)
        n_undefined = float(np.isnan(samples).sum())
        if self.interval != "bca":
            interval = inference.bootstrap_interval(estimate, samples, self.interval, self.confidence_level)
            return estimate, *interval, n_undefined
        left_out = levels.leave_one_out(comparison, shape, self.dims)
        low, high, error, fell_back = inference.bca_interval(estimate, samples, left_out, self.confidence_level)
        return estimate, low, high, error, n_undefined, float(fell_back)


def _bootstrap(
    scores: schema.Scores,
    settings: dict[str, Any],
    plan: resampling.DrawPlan,
    summary: _Summary,
    keep_samples: bool,
    progress: bool,
) -> dict[str, xr.DataArray]:
    def eager(pairs: list[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray | None]:
        return _eager(pairs, settings, plan, summary, keep_samples, progress)

    def lazily(x: Any, z: Any, used: tuple[Any, Any]) -> tuple[Any, Any]:
        size: dict[str, Any] = {"n_summary": len(summary.names), "keep_samples": keep_samples}
        return lazy.bootstrap(x, z, used, plan, summary, settings=settings, **size)

    types = {name: _TYPES.get(name, float) for name in summary.names}
    return schema.over_labels(scores, _CELLS, {}, types, plan.n_resamples if keep_samples else None, eager, lazily)


def _eager(
    pairs: list[tuple[FloatArray, FloatArray]],
    settings: dict[str, Any],
    plan: resampling.DrawPlan,
    summary: _Summary,
    keep_samples: bool,
    progress: bool,
) -> tuple[FloatArray, FloatArray | None]:
    """Summaries (numbers, pairs) of the bootstrap of each pair of score matrices, and the samples or None.

    Only so many pairs are looked at together as keep their arrays and samples in memory small.
    """
    size = levels.footprint(plan.shape, settings["level"]) + 8 * plan.n_resamples
    at_once = max(1, _BYTES_AT_ONCE // size)
    groups = [pairs[start : start + at_once] for start in range(0, len(pairs), at_once)]
    summaries, kept = [], []
    with resampling.progress_bar(len(groups) * _draws.n_blocks(plan.n_resamples), progress) as bar:
        for group in groups:
            comparisons = [levels.compare(x, z, **settings) for x, z in group]
            samples = resampling.bootstrap(comparisons, plan, bar)
            summaries += [summary(each, plan.shape, row) for each, row in zip(comparisons, samples, strict=True)]
            if keep_samples:
                kept.append(samples)
    return np.array(summaries).T, np.concatenate(kept) if keep_samples else None
