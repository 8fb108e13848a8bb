"""What the scores themselves look like: `normality`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _validate, levels, schema
from xsumstat.coefficients import FloatArray


def normality(ds: xr.Dataset, *, metric: Any = None, level: str = "system", alpha: float = 0.05) -> xr.Dataset:
    """Shapiro-Wilk test that the scores which a level correlates are normal, for each metric.

    Parameters
    ----------
    ds : Dataset
        Scores, float ``score(metric, system, input, ...)``.
    metric : label, list of labels or boolean DataArray, optional
        Metrics to look at. Default all, human ones included.
    level : {"system", "input", "global", "within_system"}, default "system"
        What is tested: the systems' means, the systems on each input, all cells, or the inputs of each system.
    alpha : float, default 0.05
        Level at which `share_rejected` counts a test, between 0 and 1.

    Returns
    -------
    Dataset
        ``statistic`` (W, in (0, 1]) and ``pvalue`` (metric, ...), at input level also by input and at within_system
        by system; there ``share_rejected(metric, ...)`` is the share of the tests with p ≤ alpha. NaN where fewer
        than 3 scores are there, or all are equal.

    Raises
    ------
    ValueError, TypeError
        For a level or metric that is not there.

    Notes
    -----
    The null hypothesis is that the scores were drawn from one normal distribution. Fisher's interval and the analytic
    tests assume that; where it is rejected, the bootstrap and the permutation tests do not need it. A missing score is
    left out. With more than 5,000 scores, at global level, the p-value is approximate, as SciPy says of its own.

    References
    ----------
    Shapiro & Wilk (1965). Deutsch, Dror & Roth (2021), Appendix A and Table 2.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> bool(ds.meta.normality().pvalue.sel(metric="human") > 0.05)
    True
    """
    _validate.choice("level", level, _validate.LEVELS)
    alpha = _validate.fraction("alpha", alpha)
    score = schema.prepare_metrics(ds, metric, level=level)
    groups = {"input": ["input"], "within_system": ["system"]}.get(level, [])

    def each(values: FloatArray) -> tuple[Any, Any]:
        tests = [_shapiro(x) for x, _ in levels.vectors(values, values, level, "pairwise")]
        statistic, pvalue = np.array(tests).T
        return (statistic, pvalue) if groups else (statistic[0], pvalue[0])

    statistic, pvalue = xr.apply_ufunc(
        each,
        score,
        input_core_dims=[["system", "input"]],
        output_core_dims=[groups, groups],
        vectorize=True,
        dask="parallelized",
        output_dtypes=[float, float],
        keep_attrs=False,
    )
    variables = {"statistic": statistic, "pvalue": pvalue}
    if groups:
        variables["share_rejected"] = (pvalue <= alpha).sum(groups) / pvalue.notnull().sum(groups)
    return schema.result(variables, None, analysis="normality", method="shapiro-wilk", level=level, alpha=alpha)


def _shapiro(values: FloatArray) -> tuple[float, float]:
    """W and its p-value; NaN where there is nothing to test."""
    from scipy import stats

    if len(values) < 3 or np.ptp(values) == 0:
        return math.nan, math.nan
    with np.errstate(all="ignore"):
        found = stats.shapiro(values)
    return float(found.statistic), float(found.pvalue)
