"""Does a metric tell the same systems apart as people do: `discriminative_agreement`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _validate
from xsumstat.analyses import system_tests, system_wins
from xsumstat.analyses.measure import Draws
from xsumstat.analyses.systems import DIMS, by_systems, labelled_systems, turned, warn_few
from xsumstat.dataset import facts, labelled, results
from xsumstat.dataset import scores as schema
from xsumstat.types import FloatArray

VERDICTS = ("first", "second", "undecided")


@_validate.public
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
    """Agreement of each metric's verdicts on pairs of systems with those of the human scores.

    Parameters
    ----------
    {ds}
    {gold}
    {metric}
    confidence_level : float, default 0.95
        A system is better where its mean is the higher in at least this share of the resamples; above 0.5, below 1.
    n_resamples : int, default 9999
        How often inputs are drawn with replacement.
    rng : None, int, SeedSequence or Generator, optional
        Source of the draws; gold, metrics and pairs of systems see the same ones.
    {progress}

    Returns
    -------
    Dataset
        ``f1(metric, ...)``, the weighted F1 score of the metric's verdicts, and ``accuracy``, the share of pairs with
        the gold's verdict, both in [0, 1]; ``confusion(metric, gold_verdict, metric_verdict, ...)``, numbers of pairs,
        of which the verdicts are "first" (the system that comes first in `ds` is better), "second" and "undecided".
        ``win_share(metric, system, other_system, ...)`` in [0, 1]: in what share of the resamples the system beats the
        other, and ``gold_win_share``, the same by the gold on the same inputs, of which there are ``n_inputs``. NaN
        where a system meets itself, or the two share no more than one input: such a pair gets no verdict and is not
        counted.

    Raises
    ------
    ValueError, TypeError
        For an unknown label, for numbers that are not allowed, for scores that are not numbers, infinite, or all
        missing, and for a gold that is constant.

    Warns
    -----
    {errors.warned}
        Also when a metric that ``kind`` does not call human equals the gold; and when some pairs of systems share no
        input, or only one.

    Notes
    -----
    Every pair of systems is compared on the inputs on which both have both scores. F1 of a verdict is
    ``2·agreed/(by gold + by metric)``, 0 where neither gives it, and the mean weighs verdicts by how often the gold
    gives them. It depends a little on which system of a pair comes first; the accuracy does not. Two systems with the
    same scores are undecided (in the authors' code the second is better).

    References
    ----------
    Bhandari et al. (2020), §4.3 and Fig. 4. Koehn (2004), "Statistical Significance Tests for Machine Translation
    Evaluation", for the paired bootstrap.

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> found = ds.meta.discriminative_agreement("human", metric=["judge", "length"], rng=1)
    >>> found.f1.to_pandas().round(2)
    metric
    judge     0.72
    length    0.54
    Name: f1, dtype: float64
    """
    confidence_level = _validate.fraction("confidence_level", confidence_level)
    if confidence_level <= 0.5:
        raise ValueError(f"confidence_level must be above 0.5, or both systems could be better, got {confidence_level}")
    draws = Draws.checked(n_resamples, rng, progress=progress)
    scores = schema.prepare(labelled_systems(ds), gold, metric, level="system", missing="pairwise")
    score = scores.score.isel(metric=scores.rows)
    places = range(score.sizes["system"])
    pairs = system_tests.unordered(places, places)
    job = system_wins.Wins(pairs, draws.n_resamples, draws.seed)
    types = {**dict.fromkeys(job.names, float), "n_inputs": int}
    arrays = [(schema.without_coords(each), facts.CELLS) for each in (score, scores.gold)]
    lazy = scores.used is not None
    by_pair = labelled.over_labels(job, arrays, "_pair", types, lazy=lazy, progress=draws.progress)
    judged = ["_pair"]
    outputs = xr.apply_ufunc(
        lambda *shares: _agreement(np.array(shares), confidence_level),
        *(by_pair[name] for name in job.names[:4]),
        input_core_dims=[judged] * 4,
        output_core_dims=[[], [], ["gold_verdict", "metric_verdict"]],
        vectorize=True,
        dask="parallelized",
        output_dtypes=[float, float, int],
        dask_gufunc_kwargs={"output_sizes": {"gold_verdict": 3, "metric_verdict": 3}, "allow_rechunk": True},
        keep_attrs=False,
    )
    picked, there = by_systems(by_pair, pairs, places, places)
    cells = {"n_inputs": results.where(there, picked["n_inputs"], 0)}
    for name, one, two in (("win_share", "first", "second"), ("gold_win_share", "gold_first", "gold_second")):
        cells[name] = results.where(there, turned(places, places, picked[two], picked[one]), np.nan)
    found = results.together(dict(zip(("f1", "accuracy", "confusion"), outputs, strict=True))).assign(cells)
    coords = {name: coord for name, coord in score.coords.items() if coord.dims == ("metric",)}
    coords |= {name: xr.DataArray(list(VERDICTS), dims=name) for name in ("gold_verdict", "metric_verdict")}
    found = results.labelled(found, score, score, "system")
    found = found.assign_coords(coords)
    warn_few(scores.later, found, None if scores.used is None else schema.without_coords(scores.used[0]))
    attrs = {"confidence_level": confidence_level, **draws.attrs}
    laid_out = found.transpose("metric", "gold_verdict", "metric_verdict", *DIMS, ...)
    return results.result(laid_out, scores, analysis="discriminative_agreement", method="paired bootstrap", **attrs)


def _agreement(shares: FloatArray, confidence_level: float) -> tuple[Any, ...]:
    """F1, accuracy and confusion (gold, metric) of one metric from the shares of wins by it and by gold, (4, pairs)."""
    by_metric, by_gold = (_verdict(each[:, ~np.isnan(shares[0])], confidence_level) for each in np.split(shares, 2))
    confusion = np.zeros((3, 3), dtype=np.int64)
    np.add.at(confusion, (by_gold, by_metric), 1)
    total = confusion.sum()
    return _weighted_f1(confusion), np.trace(confusion) / total if total else np.nan, confusion


def _verdict(shares: FloatArray, confidence_level: float) -> Any:
    """Of each pair the place in `VERDICTS`."""
    first, second = shares >= confidence_level
    return np.where(first, 0, np.where(second, 1, 2))


def _weighted_f1(confusion: Any) -> float:
    by_gold, by_metric = confusion.sum(axis=1), confusion.sum(axis=0)
    if not by_gold.sum():
        return float(np.nan)
    f1 = 2 * np.diag(confusion) / np.maximum(by_gold + by_metric, 1)
    return float(f1 @ by_gold / by_gold.sum())
