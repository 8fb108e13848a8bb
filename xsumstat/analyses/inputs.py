"""Are some inputs harder than others: `input_effect`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import facts, labelled, results
from xsumstat.dataset import scores as schema
from xsumstat.dataset.value_checks import Checks

_OF_ALL = ("statistic", "pvalue", "critical")
_OF_INPUT = ("mean_rank", "ci_low", "ci_high", "n_distinct", "n_scores")


@validate.public
def input_effect(
    ds: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    confidence_level: float = 0.95,
) -> xr.Dataset:
    """Test whether scores depend on the input, and show easy and hard inputs.

    Parameters
    ----------
    {ds metric.scores}
    confidence_level : float, default 0.95
        Confidence level of all comparisons of two inputs together, between 0 and 1.

    {dataset}
        On (metric, ...): ``statistic`` (H), ``pvalue`` and ``critical``: two inputs differ if their mean ranks differ
        by more than ``critical·√(1/n_i + 1/n_j)``. On (metric, input, ...): ``mean_rank`` (1 is worst), ``ci_low``,
        ``ci_high``, ``n_distinct`` (inputs it differs from), ``n_scores``.

    Notes
    -----
    Null hypothesis of the Kruskal-Wallis test: scores do not depend on the input. Scope: systems like these on these
    inputs. Inputs whose intervals do not overlap differ (Tukey & Kramer). A large effect means that tests should pair
    systems by input. Formulas: documentation, "How intervals and tests are computed". Sources: Rankel et al. (2011), §1
    and Fig. 1. Kruskal & Wallis (1952). Hochberg, Weiss & Hart (1982), JASA 77.

    {demo}
    >>> ds.meta.input_effect(metric="human").pvalue.values.round(3)
    array([0.003])
    """
    confidence_level = validate.fraction("confidence_level", confidence_level)
    later = Checks()
    score = schema.prepare_metrics(ds, metric, level=None, later=later)
    schema.report_unscored(score, later)
    if score.sizes["input"] < 2:
        raise ValueError("an effect of the input needs at least 2 inputs, got 1")
    dims = {**dict.fromkeys(_OF_ALL, ()), **dict.fromkeys(_OF_INPUT, ["input"])}
    found = labelled.by_label(lambda x: _effect(x, confidence_level), [(score, facts.CELLS)], dims)
    result = xr.Dataset(found).transpose("metric", "input", ...)
    attrs = {"method": "kruskal-wallis", "confidence_level": confidence_level}
    return later.attached(results.result(result, score, analysis="input_effect", **attrs))


def _effect(x: FloatArray, confidence_level: float) -> tuple[Any, ...]:
    from scipy import stats

    there = ~np.isnan(x)
    n = there.sum(axis=0)
    used = n > 0
    k, total = int(used.sum()), int(n.sum())
    per_input = np.full((3, len(n)), np.nan)
    if k < 2 or x[there].min() == x[there].max():
        return np.nan, np.nan, np.nan, *per_input, np.zeros(len(n)), n
    ranks = np.full(x.shape, np.nan)
    ranks[there] = stats.rankdata(x[there])
    mean = np.nansum(ranks, axis=0)[used] / n[used]
    variance = total * (total + 1) / 12 * stats.tiecorrect(ranks[there])
    statistic = (n[used] * (mean - (total + 1) / 2) ** 2).sum() / variance
    critical = stats.studentized_range.ppf(confidence_level, k, np.inf) * np.sqrt(variance / 2)
    apart = critical * np.sqrt(1 / n[used][:, None] + 1 / n[used])
    np.fill_diagonal(apart, 0.0)
    half = _half_widths(apart)
    distinct = np.zeros(len(n))
    distinct[used] = (np.abs(mean[:, None] - mean) > np.where(apart > 0, apart, np.inf)).sum(axis=1)
    per_input[:, used] = mean, mean - half, mean + half
    return statistic, float(stats.chi2.sf(statistic, k - 1)), critical, *per_input, distinct, n


def _half_widths(apart: FloatArray) -> FloatArray:
    """Half widths whose sums come near the distances (inputs, inputs) at which two mean ranks differ."""
    k = len(apart)
    if k == 2:
        return np.full(2, apart[0, 1] / 2)
    return np.asarray(((k - 1) * apart.sum(axis=1) - apart.sum() / 2) / ((k - 1) * (k - 2)))
