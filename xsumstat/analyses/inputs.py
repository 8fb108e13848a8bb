"""Are some inputs harder than others: `input_effect`; and inputs of every difficulty for `sample_inputs`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.coefficients import arrays
from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import facts, metric_choice, results
from xsumstat.dataset import scores as schema
from xsumstat.dataset.value_checks import Checks
from xsumstat.resampling import draws

_NAMES = ("statistic", "pvalue", "critical", "mean_rank", "ci_low", "ci_high", "n_distinct", "n_scores")


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
    if score.sizes["input"] < 2:
        raise ValueError("an effect of the input needs at least 2 inputs, got 1")
    outputs = xr.apply_ufunc(
        lambda x: _effect(x, confidence_level),
        score,
        input_core_dims=[facts.CELLS],
        output_core_dims=[[], [], [], *[["input"]] * 5],
        vectorize=True,
        dask="parallelized",
        output_dtypes=[float] * len(_NAMES),
        keep_attrs=False,
    )
    found = dict(zip(_NAMES, outputs, strict=True))
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


def by_bins(ds: xr.Dataset, metric: Any, n_means: int, n_spreads: int, n_each: int, rng: Any) -> xr.Dataset:
    """Inputs from bins of mean score, then of spread, by each metric (Bhandari et al. 2020, Algorithm 1).

    Each input is drawn at most once. If a bin is used up, the free input with the nearest mean is used.
    """
    score = schema.prepare_cells(ds, metric_choice.automatic(ds, metric))
    wanted = score.sizes["metric"] * n_means * n_spreads * n_each
    rated = score.notnull().any("system").all("metric").values
    if wanted > rated.sum():
        raise ValueError(
            f"{validate.counted(score.sizes['metric'], 'metric')} · n_means {n_means} · n_spreads {n_spreads} · "
            f"n_each {n_each} are "
            f"{wanted} inputs, and only {rated.sum()} have scores of every metric"
        )
    generator = draws.generator(draws.seed_of(rng), 0)
    chosen: dict[int, tuple[Any, int, int]] = {}
    for label, given in zip(score["metric"].values, score.values, strict=True):
        values = arrays.scaled(given)
        for mean_bin, spread_bin, places in _bins(values, np.flatnonzero(rated), n_means, n_spreads):
            free = [at for at in places if at not in chosen]
            drawn = generator.permutation(len(free))[:n_each]
            picked = [free[at] for at in drawn]
            if len(picked) < n_each:
                picked += _nearest(values, rated, places, {*chosen, *picked}, n_each - len(picked))
            chosen |= {at: (label, mean_bin, spread_bin) for at in picked}
    places = sorted(chosen)
    names, means, spreads = zip(*(chosen[at] for at in places), strict=True)
    coords = {"chosen_for": np.array(names, dtype=object), "mean_bin": np.array(means), "spread_bin": np.array(spreads)}
    part = results.of_its_own(ds.isel(input=places))
    return part.assign_coords({name: ("input", values) for name, values in coords.items()})


def _bins(values: Any, places: Any, n_means: int, n_spreads: int) -> list[tuple[int, int, list[int]]]:
    """Number of the mean's bin, number of the spread's, and the inputs in it, of scores (systems, inputs)."""
    mean, spread = np.nanmean(values[:, places], axis=0), np.nanstd(values[:, places], axis=0)
    found = []
    for mean_bin, one in enumerate(np.array_split(np.argsort(mean, kind="stable"), n_means)):
        for spread_bin, two in enumerate(np.array_split(one[np.argsort(spread[one], kind="stable")], n_spreads)):
            found.append((mean_bin, spread_bin, places[two].tolist()))
    return found


def _nearest(values: Any, rated: Any, places: list[int], taken: set[int], n: int) -> list[int]:
    mean = np.where(rated, np.nanmean(np.where(rated, values, 0.0), axis=0), np.nan)
    centre = mean[places].mean() if places else np.nanmean(mean)
    free = [at for at in np.flatnonzero(rated) if at not in taken]
    return [int(at) for at in sorted(free, key=lambda at: abs(mean[at] - centre))[:n]]
