"""The best systems, and the agreement of metrics with human scores among them: `top_k` and `top_k_corr`."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.analyses import groups as slices
from xsumstat.analyses.intervals import OF_BOTH, ci
from xsumstat.analyses.measure import AUTO
from xsumstat.core import validate
from xsumstat.core.caveats import Caveat
from xsumstat.core.types import TOLERANCE, CorrelationFunction
from xsumstat.dataset import align, checks, facts, golds, locate, results, value_checks
from xsumstat.dataset.value_checks import Said
from xsumstat.resampling import draws, threads

_FEWEST = 5


@validate.public
def top_k_corr(
    ds: xr.Dataset,
    gold: Hashable | xr.DataArray | None = None,
    *,
    k: int | Sequence[int] | None = None,
    by: Hashable | xr.DataArray | None = None,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    level: str = "system",
    coefficient: str | CorrelationFunction = "pearson",
    positive: float | str | Sequence[float | str] | None = None,
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
    """Correlation with human scores among the k best systems, as k shrinks.

    Parameters
    ----------
    {ds gold}
    k : int or list of int, optional
        Numbers of systems, at least 2. Default: from all of them down to 5. The smallest decides ``resample="auto"``.
    by : label, str or DataArray, optional
        Scores that choose the best systems: a label of `metric`, a variable or a DataArray. Default `gold`.
    {metric level coefficient positive intervals}

    {dataset}
        On (metric, k, ...), largest k first: ``correlation``, ``ci_low``, ``ci_high``, ``standard_error``,
        ``n_undefined`` and, by method, ``bias``, ``df``, ``fell_back`` and ``samples``, as `ci` returns them. The
        coordinate ``n_systems`` counts the systems with scores, where some of the k best have none.

    Notes
    -----
    Each k is ``ds.meta.top_k(k).meta.ci()``: the best systems are taken as given. Among few systems of similar quality
    correlations are low for lack of range alone. The jackknife needs 4 systems. Coverage: "Calibration". Source:
    Bhandari et al. (2020), §4.2, Figs. 3 and 8.

    {demo}
    >>> ds.meta.top_k_corr("human", k=[12, 8], metric="judge").correlation.values.round(2)
    array([[0.93, 0.87]])
    """
    by = gold if by is None else by
    order, _ = ranked(ds, by, "gold" if by is gold else "by")
    name = str((by.name or "other scores") if isinstance(by, xr.DataArray) else by)
    sizes = _sizes(k, len(order))
    resample = _random(resample, interval, sizes)
    keywords: dict[str, Any] = {"metric": metric, "level": level, "coefficient": coefficient, "method": method}
    keywords |= {
        "interval": interval,
        "resample": resample,
        "n_resamples": n_resamples,
        "confidence_level": confidence_level,
    }
    keywords |= {"missing": missing, "undefined": undefined, "rng": draws.seed_of(rng), "keep_samples": keep_samples}
    keywords["positive"] = positive
    curve: list[xr.Dataset] = []
    said: list[value_checks.Held] = []
    with threads.one_bar(len(sizes), progress) as part:
        for size in sizes:
            human = _within(gold, ds, order[:size])
            with value_checks.held() as each, part():
                curve.append(ci(top_k(ds, size, by=by), human, progress=progress, **keywords))
            said.append(each)
    for caveat in _together(sizes, [each.caveats for each in said]):
        validate.warn(caveat)
    later = value_checks.Checks()
    later.take(functools.partial(_said_together, sizes), *(each.checks for each in said))
    joined = slices.joined(curve, pd.Index(sizes, name="k"))
    used = [int(each.attrs["n_systems"]) for each in curve]
    if used != sizes:  # some of the best have human scores alone
        joined = joined.assign_coords(n_systems=("k", used))
    attrs = {**curve[0].attrs, "analysis": "top_k_corr", "n_systems": len(order) - (sizes[0] - used[0])}
    attrs |= {} if by is gold else {"best_by": name}
    joined = joined.transpose("metric", "k", ...).assign_attrs(attrs)
    return later.attached(results.described(joined))


def _random(resample: Any, interval: Any, sizes: list[int]) -> Any:
    if not (isinstance(resample, str) and resample == AUTO) or interval in OF_BOTH:
        return resample
    if sizes[-1] < facts.ENOUGH_SYSTEMS <= sizes[0]:
        validate.warn(
            f"k = {sizes[-1]} is few systems: the result is for these systems only, at every k. For new systems, leave "
            f"out k below {facts.ENOUGH_SYSTEMS}",
            "few_systems",
        )
    return "both" if sizes[-1] >= facts.ENOUGH_SYSTEMS else "input"


def _together(sizes: list[int], told: Sequence[Sequence[Caveat]]) -> list[Caveat]:
    places: dict[Caveat, list[int]] = {}
    for size, those in zip(sizes, told, strict=True):
        for caveat in those:
            # Of fewer systems no other cells are left out than of more.
            if caveat.code == "cells_left_out" and size != sizes[0]:
                continue
            few = caveat.code == "few_systems"
            places.setdefault(caveat.said(checks.few_systems("few")) if few else caveat, []).append(size)
    return [caveat.of(f"at k = {validate.listing(where)}") for caveat, where in places.items()]


def _said_together(sizes: list[int], *found: list[Said]) -> list[Said]:
    each = [value_checks.until_error(said) for said in found]
    error = next((error for _, error in each if error is not None), None)
    return [Said(_together(sizes, [caveats for caveats, _ in each]), error)]


def _sizes(k: Any, n_systems: int) -> list[int]:
    if k is None:
        return list(range(n_systems, min(_FEWEST, n_systems) - 1, -1))
    requested = validate.integers("k", k, 2)
    if max(requested) > n_systems:
        raise ValueError(f"k must be at most {n_systems}, the number of systems with a score, got {max(requested)}")
    return sorted(requested, reverse=True)


def _within(gold: Any, ds: xr.Dataset, places: list[int]) -> Any:
    if not isinstance(gold, xr.DataArray) or "system" not in gold.dims:
        return gold
    if "system" in ds.indexes and "system" in gold.indexes:
        return gold.sel(system=[label for label in ds.indexes["system"][places] if label in gold.indexes["system"]])
    return gold.isel(system=places)


@validate.public
def top_k(ds: xr.Dataset, k: int, *, by: Hashable | xr.DataArray | None = None) -> xr.Dataset:
    """The k systems with the highest mean human score.

    Source: Bhandari et al. (2020), §4.2 and Eq. 3.

    Parameters
    ----------
    {ds}
    k : int
        Number of systems. Of tied ones those that come first in `ds` are kept.
    by : label, str or DataArray, optional
        Score to choose by: a label of `metric`, a variable or a DataArray. Default ``ds.attrs["gold"]``. It is
        averaged.

    {dataset}
        `ds` for these systems, the best first, e.g. for ``ds.meta.top_k(10).meta.corr()``. Lazy scores are computed.

    {demo}
    >>> ds.meta.top_k(3, by="human").system.values.tolist()
    ['extractor-5', 'abstractor-1', 'abstractor-6']
    """
    k = validate.integer("k", k, 1)
    order, steps = ranked(ds, by, "by")
    if k > len(order):
        raise ValueError(f"k must be at most {len(order)}, the number of systems with a score, got {k}")
    tied = [at for at, step in zip(order, steps, strict=True) if step == steps[k - 1]]
    out = [at for at in tied if at not in order[:k]]
    if out:
        names = ds.indexes["system"][tied].tolist() if "system" in ds.indexes else tied
        kept = len(tied) - len(out)
        validate.warn(
            f"{validate.listing(names)} have the same mean score: only the first{f' {kept}' if kept > 1 else ''} "
            f"{'are' if kept > 1 else 'is'} among the best {k}",
            "tied_at_k",
        )
    return results.of_its_own(ds.isel(system=order[:k]))


def ranked(ds: xr.Dataset, by: Any, argument: str) -> tuple[list[int], list[int]]:
    """Places of the systems from the highest mean score down, equal numbers for equal means, none without a score."""
    score = locate.checked_scores(ds)
    human, name, _ = golds.find_gold(ds, score, by, argument)
    human = align.oriented(human, human.dims)
    if "system" not in human.dims:
        raise ValueError(f"{argument} must have the dim 'system', it has {validate.listing(human.dims)}")
    further = [str(dim) for dim in human.dims if dim not in ("system", "input", "rater", "reference")]
    if further:
        raise ValueError(
            f"{argument}={name!r} has additional dims: {validate.listing(further)}; select one label of each"
        )
    if "system" in score.indexes and "system" in human.indexes:
        human = human.reindex(system=score.indexes["system"])
    elif human.sizes["system"] != ds.sizes["system"]:
        raise ValueError(f"{argument} has {human.sizes['system']} systems, the scores have {ds.sizes['system']}")
    means = human.mean([dim for dim in human.dims if dim != "system"]).values
    if np.isinf(means).any():
        raise ValueError(f"{argument}={name!r} has infinite values; write missing scores as NaN")
    order = [int(at) for at in np.argsort(-means, kind="stable") if not np.isnan(means[at])]
    if not order:
        raise ValueError(f"{argument}={name!r} has no score at all")
    # Means that are equal but for rounding keep the order of the scores.
    size = TOLERANCE * float(np.nanmax(np.abs(means), initial=0.0))
    steps = np.cumsum([0, *(means[a] - means[b] > size for a, b in zip(order, order[1:], strict=False))])
    ranked = sorted(zip(steps.tolist(), order, strict=True))
    return [at for _, at in ranked], [step for step, _ in ranked]
