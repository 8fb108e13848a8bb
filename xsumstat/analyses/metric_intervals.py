"""How uncertain are the correlations of metrics with each other: `metric_ci`."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import catalogue
from xsumstat.analyses.intervals import OF_BOTH, ci
from xsumstat.analyses.measure import AUTO, check_symmetric, random_dims
from xsumstat.catalogue.variables import CHANCE
from xsumstat.coefficients import table
from xsumstat.core import levels, validate
from xsumstat.core.caveats import Caveat, UnusableGoldError
from xsumstat.core.types import BoolArray, CorrelationFunction
from xsumstat.dataset import (
    calibrated,
    checks,
    chunking,
    facts,
    locate,
    pair_results,
    result_attrs,
    results,
    value_checks,
)
from xsumstat.dataset import scores as schema
from xsumstat.dataset.value_checks import Said
from xsumstat.resampling import draws, threads

# Codes of warnings that were given for all metrics, or that come from using a metric as gold.
_TOLD = ("constant", "no_score", "leakage", "cells_left_out", "constant_gold", "no_gold_score")


@validate.public
def metric_ci(
    ds: xr.Dataset,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    method: str = "auto",
    interval: str | None = None,
    resample: str | tuple[str, ...] = "auto",
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    missing: str = "pairwise",
    undefined: str = "drop",
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    keep_samples: bool = False,
    progress: bool | None = None,
) -> xr.Dataset:
    """Confidence intervals of the correlations between metrics.

    Parameters
    ----------
    {ds metric.scores level coefficient intervals}

    {dataset}
        On (metric, other_metric, ...), symmetric, NaN on the diagonal: ``correlation``, ``ci_low``, ``ci_high``,
        ``standard_error``, ``n_undefined`` and, by method, ``bias``, ``df``, ``fell_back``, ``samples``.

    Notes
    -----
    `resample` sets the scope. All pairs see the same draws. To compare one pair on two ranges of scores use
    `range_drop`.

    {demo}
    >>> ds.meta.metric_ci(metric=["judge", "rouge"], level="input").ci_low.values.round(2)
    array([[ nan, 0.21],
           [0.21,  nan]])
    """
    check_symmetric(table.get(coefficient))
    level = validate.choice("level", level, levels.LEVELS)
    later = value_checks.Checks()
    with value_checks.held() as of_scores:
        score = schema.prepare_metrics(ds, metric, level=level, later=later)
    calibrated.refuse(score, "metric_ci")
    labels = score["metric"].values.tolist()
    if len(labels) < 2:
        raise ValueError("metric must name at least 2 metrics, which are correlated with each other")
    if isinstance(resample, str) and resample == AUTO and interval not in OF_BOTH:
        # One scope for all pairs, however many systems a row leaves out.
        resample = random_dims(resample, facts.CELLS, (score.sizes["system"], score.sizes["input"]))
    keywords: dict[str, Any] = {"level": level, "coefficient": coefficient, "method": method, "interval": interval}
    keywords |= {"resample": resample, "n_resamples": n_resamples, "confidence_level": confidence_level}
    keywords |= {"missing": missing, "undefined": undefined, "rng": draws.seed_of(rng), "keep_samples": keep_samples}
    keywords["progress"] = progress
    given, rows = locate.checked_scores(ds), []
    said: list[value_checks.Held] = []
    constant = [] if chunking.is_lazy(score) else score["metric"].values[_constant(score)].tolist()
    # No score is refused as a metric, but one that is constant as gold: those come last.
    order = [*(label for label in labels if label not in constant), *constant]
    with threads.one_bar(len(order) - 1, progress) as part:
        for at, label in enumerate(order[:-1]):
            one = given.sel(metric=label)
            one = _numbered(one) if label in constant else one
            with value_checks.held() as each, part():
                row = ci(given.to_dataset(), one, metric=order[at + 1 :], **keywords)
            rows.append(row.drop_vars(CHANCE, errors="ignore"))  # what is judged by gold has them
            said.append(each)
    if missing != "available" or level != "system":
        there = value_checks.by_metric(facts.presence, [score])
        later.make(checks.report_gaps_of_pairs, there, labels, list(itertools.combinations(range(len(labels)), 2)))
    for caveat in _once(of_scores.caveats, *(each.caveats for each in said)):
        validate.warn(caveat)
    waiting = value_checks.Checks()
    waiting.take(functools.partial(_said_once, of_scores.caveats), later, *(each.checks for each in said))
    found = _square(rows, order).isel({dim: [order.index(label) for label in labels] for dim in pair_results.DIMS})
    found = pair_results.labelled(found, score, score)
    found.attrs = {name: value for name, value in rows[0].attrs.items() if name != "gold" and "dropped" not in name}
    return waiting.attached(results.described(found.assign_attrs(analysis="metric_ci", **result_attrs.sizes(score))))


def _once(of_scores: Sequence[Caveat], *rows: Sequence[Caveat]) -> list[Caveat]:
    told = dict.fromkeys(of_scores)
    for row in rows:
        told |= dict.fromkeys(each for each in row if each.code not in _TOLD)
    return [
        each.said(checks.empty(**each.fields, both="two scores")) if each.code == "labels_without_cells" else each
        for each in told
    ]


def _said_once(before: Sequence[Caveat], of_scores: list[Said], *rows: list[Said]) -> list[Said]:
    caveats, error = value_checks.until_error(of_scores)
    by_row = []
    unusable = UnusableGoldError.__name__
    for row in rows:
        row = [Said(each.caveats) if each.error is not None and each.error.code == unusable else each for each in row]
        here, wrong = value_checks.until_error(row)
        by_row.append(here)
        error = error or wrong
    return [Said([each for each in _once(caveats, *by_row) if each not in before], error)]


def _constant(score: xr.DataArray) -> BoolArray:
    high, low = score.max(facts.CELLS), score.min(facts.CELLS)
    flat = (high == low) | high.isnull()
    return np.asarray(flat.all([dim for dim in flat.dims if dim != "metric"]).values)


def _numbered(scores: xr.DataArray) -> xr.DataArray:
    """Scores that vary, where there are scores: what a constant metric is set against has no say in it."""
    return scores.copy(data=np.arange(scores.size, dtype=float).reshape(scores.shape)).where(scores.notnull())


def _square(rows: list[xr.Dataset], labels: list[Any]) -> xr.Dataset:
    of_metrics = [[name for name, coord in row.coords.variables.items() if "metric" in coord.dims] for row in rows]
    bare = [row.drop_vars(names) for row, names in zip(rows, of_metrics, strict=True)]
    pairs = xr.concat([row.rename(metric="_pair") for row in bare], "_pair", coords="minimal", compat="override")
    size = len(labels)
    above = np.array(np.triu_indices(size, 1)).T
    place = pair_results.symmetric(np.arange(len(above)), above, size)
    square = pairs.isel(_pair=xr.DataArray(place, dims=("metric", "other_metric")))
    other = xr.DataArray(~np.eye(size, dtype=bool), dims=("metric", "other_metric"))
    blanks = {name: catalogue.variable(name).blank for name in square.data_vars}
    return square.assign({name: square[name].where(other, blank) for name, blank in blanks.items()})
