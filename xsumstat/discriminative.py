"""Does a metric tell the same systems apart as people do: `discriminative_agreement`."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _draws, _validate, schema, system_tests
from xsumstat.coefficients import FloatArray
from xsumstat.system_comparison import DIMS, labelled_systems, warn_few

VERDICTS = ("first", "second", "undecided")


def discriminative_agreement(
    ds: xr.Dataset,
    gold: Any = None,
    *,
    metric: Any = None,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    rng: Any = None,
) -> xr.Dataset:
    """Agreement of each metric's verdicts on pairs of systems with those of the human scores.

    Parameters
    ----------
    ds, gold, metric
        As for `corr`.
    confidence_level : float, default 0.95
        A system is better where its mean is the higher in at least this share of the resamples; above 0.5, below 1.
    n_resamples : int, default 9999
        How often inputs are drawn with replacement.
    rng : None, int, SeedSequence or Generator, optional
        Source of the draws; gold, metrics and pairs of systems see the same ones.

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
        As for `corr`.

    Warns
    -----
    UserWarning
        When some pairs of systems share no input, or only one.

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
    >>> found = ds.meta.discriminative_agreement("human", n_resamples=999, rng=1)
    >>> bool(found.f1.sel(metric="judge") > found.f1.sel(metric="length"))
    True
    """
    confidence_level = _validate.fraction("confidence_level", confidence_level)
    if confidence_level <= 0.5:
        raise ValueError(f"confidence_level must be above 0.5, or both systems could be better, got {confidence_level}")
    n_resamples = _validate.integer("n_resamples", n_resamples, 2)
    scores = schema.prepare(labelled_systems(ds), gold, metric, level="system", missing="pairwise")
    score = scores.score.isel(metric=scores.rows)
    seed = _draws.seed_of(rng)
    places = range(score.sizes["system"])
    pairs = system_tests.unordered(places, places)

    def each(x: FloatArray, z: FloatArray) -> tuple[Any, ...]:
        return _agreement(x, z, pairs, confidence_level, n_resamples, seed)

    sizes = {**dict.fromkeys(DIMS, len(places)), "gold_verdict": 3, "metric_verdict": 3}
    cores = [[], [], ["gold_verdict", "metric_verdict"], *[list(DIMS)] * 3]
    outputs = xr.apply_ufunc(
        each,
        schema.without_coords(score),
        schema.without_coords(scores.gold),
        input_core_dims=[["system", "input"]] * 2,
        exclude_dims={"system"},
        output_core_dims=cores,
        vectorize=True,
        dask="parallelized",
        output_dtypes=[float] * len(cores),
        dask_gufunc_kwargs={"output_sizes": sizes},
        keep_attrs=False,
    )
    names = ("f1", "accuracy", "confusion", "win_share", "gold_win_share", "n_inputs")
    found = xr.Dataset(dict(zip(names, outputs, strict=True)))
    coords = {name: coord for name, coord in score.coords.items() if coord.dims == ("metric",)}
    coords |= {name: xr.DataArray(list(VERDICTS), dims=name) for name in ("gold_verdict", "metric_verdict")}
    found = schema.labelled(found, score, score, "system")
    found = found.assign({name: found[name].astype(int) for name in ("confusion", "n_inputs")}).assign_coords(coords)
    if scores.used is None:
        warn_few(found)
    about = {"confidence_level": confidence_level, "n_resamples": n_resamples, "seed": str(seed)}
    laid_out = found.transpose("metric", "gold_verdict", "metric_verdict", *DIMS, ...)
    return schema.result(laid_out, scores, analysis="discriminative_agreement", method="paired bootstrap", **about)


def _agreement(
    x: FloatArray, z: FloatArray, pairs: Any, confidence_level: float, n_resamples: int, seed: int
) -> tuple[Any, ...]:
    """F1, accuracy, confusion (gold, metric), the two win shares and the inputs (systems, systems) of one metric."""
    there = ~(np.isnan(x) | np.isnan(z))
    by_metric, by_gold = (
        system_tests.win_shares(np.where(there, values, np.nan), pairs, n_resamples, seed) for values in (x, z)
    )
    judged = ~np.isnan(by_gold[0])
    verdicts = [_verdict(shares[:, judged], confidence_level) for shares in (by_gold, by_metric)]
    confusion = np.zeros((3, 3), dtype=np.int64)
    np.add.at(confusion, tuple(verdicts), 1)
    square = np.full((2, len(x), len(x)), np.nan)
    a, b = pairs.T
    for out, shares in zip(square, (by_metric, by_gold), strict=True):
        out[a, b], out[b, a] = shares
    total = confusion.sum()
    accuracy = np.trace(confusion) / total if total else np.nan
    n_inputs = there.astype(int) @ there.T.astype(int)
    return _weighted_f1(confusion), accuracy, confusion, *square, n_inputs - np.diag(np.diag(n_inputs))


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
