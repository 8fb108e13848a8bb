"""Does a metric reach the same verdicts on pairs of systems as human scores: `discriminative_agreement`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import bootstrap_wins, system_tests
from xsumstat.analyses.measure import Draws
from xsumstat.analyses.systems import DIMS, labelled_systems, warn_few
from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import align, facts, labelled, pair_results, results
from xsumstat.dataset import scores as schema

VERDICTS = ("first", "second", "undecided")


@validate.public
def discriminative_agreement(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Agreement of metrics' verdicts on pairs of systems with human verdicts.

    Parameters
    ----------
    {ds gold metric}
    confidence_level : float, default 0.95
        Share of resamples in which the better system's mean must be higher; above 0.5, below 1.
    {n_resamples rng progress}

    {dataset}
        On (metric, ...): ``f1`` (weighted) and ``accuracy`` in [0, 1];
        ``confusion(metric, gold_verdict, metric_verdict, ...)``, numbers of pairs with the verdicts "first", "second"
        and "undecided". On (metric, system, other_system, ...): ``win_share``, ``gold_win_share`` and ``n_inputs``.

    Notes
    -----
    Scope: these systems on inputs like these. F1 of a verdict is ``2·agreed/(by gold + by metric)``; the mean weighs
    verdicts by their frequency in the human scores. It depends a little on which system of a pair comes first; the
    accuracy does not. Systems with equal scores are undecided (in the authors' code the second is better). Sources:
    Bhandari et al. (2020), §4.3 and Fig. 4. Koehn (2004), on the paired bootstrap.

    {demo}
    >>> found = ds.meta.discriminative_agreement("human", metric=["judge", "length"], rng=1)
    >>> found.f1.to_series().round(2).to_dict()
    {'judge': 0.72, 'length': 0.54}
    """
    confidence_level = validate.fraction("confidence_level", confidence_level)
    if confidence_level <= 0.5:
        raise ValueError(f"confidence_level must be above 0.5, or both systems could be better, got {confidence_level}")
    draws = Draws.checked(n_resamples, rng, progress=progress)
    scores = schema.prepare(labelled_systems(ds), gold, metric, level="system", missing="pairwise")
    score = scores.score.isel(metric=scores.rows)
    places = range(score.sizes["system"])
    pairs = system_tests.unordered(places, places)
    job = bootstrap_wins.Wins(pairs, draws.n_resamples, draws.seed)
    types = {**dict.fromkeys(job.names, float), "n_inputs": int}
    arrays = [(align.without_coords(each), facts.CELLS) for each in (score, scores.gold)]
    lazy = scores.used is not None
    by_pair = labelled.over_labels(job, arrays, "_pair", types, lazy=lazy, progress=draws.progress)
    verdicts = ("gold_verdict", "metric_verdict")
    numbers = labelled.by_label(
        lambda *shares: _agreement(np.array(shares), confidence_level),
        [(by_pair[name], ["_pair"]) for name in job.names[:4]],
        {"f1": (), "accuracy": (), "confusion": verdicts},
        types={"confusion": int},
        sizes=dict.fromkeys(verdicts, len(VERDICTS)),
    )
    sided = {"win_share": ("first", "second"), "gold_win_share": ("gold_first", "gold_second")}
    of_pair = {name: each.variable for name, each in by_pair.items()}
    cells = pair_results.square(of_pair, pairs.tolist(), places, places, DIMS, sided=sided)
    found = results.together(numbers).assign({name: cells[name] for name in ("n_inputs", *sided)})
    coords = {name: coord for name, coord in score.coords.items() if coord.dims == ("metric",)}
    coords |= {name: xr.DataArray(list(VERDICTS), dims=name) for name in verdicts}
    found = pair_results.labelled(found, score, score, "system")
    found = found.assign_coords(coords)
    warn_few(scores.later, found, None if scores.used is None else align.without_coords(scores.used[0]))
    attrs = {"confidence_level": confidence_level, **draws.attrs}
    laid_out = found.transpose("metric", *verdicts, *DIMS, ...)
    return results.result(laid_out, scores, analysis="discriminative_agreement", method="paired bootstrap", **attrs)


def _agreement(shares: FloatArray, confidence_level: float) -> tuple[Any, ...]:
    by_metric, by_gold = (_verdict(each[:, ~np.isnan(shares[0])], confidence_level) for each in np.split(shares, 2))
    confusion = np.zeros((3, 3), dtype=np.int64)
    np.add.at(confusion, (by_gold, by_metric), 1)
    total = confusion.sum()
    return _weighted_f1(confusion), np.trace(confusion) / total if total else np.nan, confusion


def _verdict(shares: FloatArray, confidence_level: float) -> Any:
    first, second = shares >= confidence_level
    return np.where(first, 0, np.where(second, 1, 2))


def _weighted_f1(confusion: Any) -> float:
    by_gold, by_metric = confusion.sum(axis=1), confusion.sum(axis=0)
    if not by_gold.sum():
        return float(np.nan)
    f1 = 2 * np.diag(confusion) / np.maximum(by_gold + by_metric, 1)
    return float(f1 @ by_gold / by_gold.sum())
