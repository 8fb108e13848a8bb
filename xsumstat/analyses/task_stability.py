"""How much the order of metrics depends on which tasks there are: `rank_stability`."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import xarray as xr

from xsumstat.analyses.task_averages import range_of
from xsumstat.analyses.task_subsets import LABELS, check_ranked, labels_of
from xsumstat.core import validate
from xsumstat.core.types import TOLERANCE, FloatArray, IntArray
from xsumstat.dataset import results
from xsumstat.resampling import draws, threads


@validate.public
def rank_stability(
    result: xr.Dataset,
    *,
    stratify: str | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Draw the tasks with replacement, and count how often each metric comes first.

    Parameters
    ----------
    result : Dataset
        What `rank_tasks` or `subset` returned.
    stratify : {"language_pair", "domain", "level", "coefficient"}, optional
        Draw as many tasks of each label as there are, so each label stays in every draw. Default: draw from all
        tasks.
    {confidence_level n_resamples rng progress}

    {dataset}
        ``first_share(metric)``, the share of draws in which the metric has the best average score (metrics that are
        equally good share a draw), ``average_score`` and ``rank`` over all tasks, and ``rank_low`` and ``rank_high``,
        the percentiles of the rank over the draws. A metric without an average has NaN, and rank 0.

    Notes
    -----
    A draw weighs each task by its weight times how often it was drawn. Tasks of weight 0 are not drawn. The shares
    describe other tasks like these; they do not allow for the choice of systems and inputs within a task, which the
    tests of `rank_tasks` are about. Tasks on the same scores are not independent: stratify by ``coefficient`` or
    ``level``, or rank one task for each language pair, where that matters. With fewer than 6 tasks the shares take few
    values. Source: Efron & Tibshirani (1993), "An Introduction to the Bootstrap", §8.

    {demo}
    >>> parts = {f"part {at}": ds.isel(input=slice(6 * at, 6 * at + 6)) for at in range(5)}
    >>> table = xsumstat.rank_tasks({name: {"ds": each, "gold": "human"} for name, each in parts.items()},
    ...                             n_resamples=99, rng=1)
    >>> table.meta.rank_stability(rng=1).meta.to_frame(brief=False)[["metric", "rank", "rank_low", "rank_high"]]
           metric  rank  rank_low  rank_high
    0       judge     1         1          1
    1   bertscore     2         2          2
    2       rouge     3         3          4
    3  perplexity     4         3          4
    4        bleu     5         4          5
    5      length     6         6          6
    """
    check_ranked(result, "rank_stability")
    if stratify is not None:
        validate.choice("stratify", stratify, LABELS)
    confidence_level = validate.fraction("confidence_level", confidence_level)
    n_resamples = validate.n_draws("n_resamples", n_resamples, 1)
    seed = draws.seed_of(rng)
    weight = result["weight"].values
    strata = _strata(result, stratify)
    there = result["average_score"].notnull().values
    unit = _unit_scores(result)[:, there]
    first, n_ranks = _ranks(unit, weight, strata, seed, n_resamples, progress)
    tail = (1 - confidence_level) / 2
    limits = [_quantile(n_ranks, share, n_resamples) for share in (tail, 1 - tail)]
    shown = result[["average_score", "rank"]].reset_coords(drop=True).drop_attrs(deep=False)
    for name, values, blank in (
        ("first_share", first, np.nan),
        ("rank_low", limits[0], 0),
        ("rank_high", limits[1], 0),
    ):
        whole = np.full(there.shape, blank)
        whole[there] = values
        shown[name] = "metric", whole
    settings = {name: result.attrs[name] for name in ("n_systems", "n_inputs") if name in result.attrs}
    settings |= {"confidence_level": confidence_level, "n_resamples": n_resamples, "seed": str(seed)}
    drawn = sum(map(len, strata))
    return results.result(shown, None, analysis="rank_stability", n_tasks=drawn, stratify=stratify, **settings)


def _strata(result: xr.Dataset, stratify: str | None) -> list[IntArray]:
    """The places of the tasks that are drawn for each other; those of weight 0 are not drawn."""
    weighs = result["weight"].values > 0
    own = ["all"] * len(weighs) if stratify is None else labels_of(result, stratify)
    found = [np.flatnonzero(weighs & np.array([each == label for each in own])) for label in dict.fromkeys(own)]
    found = [each for each in found if len(each)]
    if max(map(len, found)) < 2:
        what = "there is one task with a weight" if stratify is None else f"each {stratify} has one task"
        more = "rank two tasks or more" if len(found) < 2 else "leave out stratify"
        raise ValueError(f"rank_stability() has nothing to draw: {what}; {more}")
    return found


def _unit_scores(result: xr.Dataset) -> FloatArray:
    """Each task's coefficient of each metric, (task, metric), brought to 0 to 1."""
    r = result["correlation"].transpose("task", "metric").values
    ranges = [range_of(str(each)) for each in np.atleast_1d(result["coefficient"].values)]
    return np.array([(row - low) / span for row, (low, span) in zip(r, ranges, strict=True)])


def _drawn(strata: list[IntArray], size: int, seed: int, n_resamples: int) -> Iterator[FloatArray]:
    """How often each task was drawn, (draws, task), block by block."""
    for block in range(draws.n_blocks(n_resamples)):
        rows = draws.block_rows(n_resamples, block)
        stream = draws.Stream(seed, "task", block)
        counts = np.zeros((rows, size))
        for places in strata:
            counts[:, places] = stream.counts(len(places), draws.BLOCK)[:rows]
        yield counts


def _ranks(
    unit: FloatArray, weight: FloatArray, strata: list[IntArray], seed: int, n_resamples: int, progress: bool | None
) -> tuple[FloatArray, IntArray]:
    """The share of draws in which each metric is first, and how often it has each rank, (metric, rank)."""
    size = unit.shape[1]
    first, n_ranks = np.zeros(size), np.zeros((size, size), dtype=np.int64)
    with threads.progress_bar(draws.n_blocks(n_resamples), progress) as bar:
        for counts in _drawn(strata, len(weight), seed, n_resamples):
            shares = counts * weight
            score = (shares / shares.sum(axis=1, keepdims=True)) @ unit
            rank = np.array([(score > one[:, None] + TOLERANCE).sum(axis=1) for one in score.T]).T
            leads = rank == 0
            first += (leads / leads.sum(axis=1, keepdims=True)).sum(axis=0)
            n_ranks += np.array([np.bincount(each, minlength=size) for each in rank.T])
            bar()
    return first / n_resamples, n_ranks


def _quantile(n_ranks: IntArray, share: float, n_resamples: int) -> IntArray:
    """The lowest rank that at least this share of draws does not exceed, of each metric."""
    least = max(1, math.ceil(share * n_resamples))
    return np.asarray(1 + np.argmax(n_ranks.cumsum(axis=1) >= least, axis=1))
