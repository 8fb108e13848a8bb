"""Inputs of every difficulty, from bins of the metrics' scores: what `sample_inputs` draws without a number."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from xsumstat.coefficients import arrays
from xsumstat.core import validate
from xsumstat.dataset import metric_choice, results
from xsumstat.dataset import scores as schema
from xsumstat.resampling import draws


def drawn(ds: xr.Dataset, metric: Any, n_means: int, n_spreads: int, n_each: int, rng: Any) -> xr.Dataset:
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
