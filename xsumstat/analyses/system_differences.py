"""Differences of systems' mean human scores from few ratings and a metric: `compare_systems(method="ppi")`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import few_ratings, ranking
from xsumstat.core.types import BoolArray, FloatArray, IntArray
from xsumstat.dataset import checks, labelled, results
from xsumstat.inference import system_differences as estimator
from xsumstat.inference import system_means
from xsumstat.inference.pvalues import by_t
from xsumstat.inference.stratified_differences import stratified_differences
from xsumstat.inference.system_means import Strata
from xsumstat.resampling.jobs import AtOnce

METHOD = "ppi"
NAMES = (*estimator.NAMES, "mean_difference", "forward", "backward")
_SCORES = ("difference", "standard_error", "ci_low", "ci_high", "mean_difference")
# Whether a first system's ratings, and a second's, are mostly one value; how many ratings have no score.
_OF_SYSTEMS = ("_one_value", "_n", "_rated_pvalue")
_NOTED = (*(f"{name}{side}" for name in _OF_SYSTEMS for side in ("", "_of_other")), "_without_score")


@dataclass(frozen=True)
class Differences(AtOnce):
    """The difference of each pair of systems by one slope, with the p-values of either order."""

    targets: IntArray  # type: ignore[assignment]
    signs: tuple[float, ...]
    gold_sign: int
    target: str
    alternative: str
    level: float
    strata: Strata | None = None

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """The numbers of each pair."""
        n_strata = 0 if self.strata is None else self.strata.n
        return (*NAMES, *_NOTED, *(f"_rated_in_{at}" for at in range(n_strata)))

    @property
    def together(self) -> bool:
        """All pairs share a slope."""
        return True

    def bytes_each(self, x: Any, z: Any = None, *beside: Any) -> int:
        """About how many bytes a pair takes."""
        return 64 * int(x.shape[-1])

    def ready(self, at: slice, x: FloatArray, z: Any = None, *beside: Any) -> FloatArray:
        """The numbers of the pairs."""
        pairs = self.targets[at]
        x, z, _, power = few_ratings.in_range(x, self.gold_sign * np.asarray(z))
        one, _ = few_ratings.combined(x, np.array(self.signs))
        strata = Strata.none(z.shape[-1]) if self.strata is None else self.strata
        without_score = np.full(len(pairs), (~np.isnan(z) & np.isnan(one)).sum())
        pvalue = system_means.rated_gap(one, z, strata)[1]
        one = few_ratings.completed(one, z, strata)
        if strata.n > 1:
            found = stratified_differences(one, z, pairs, strata, self.target, self.level)
        else:
            found = estimator.system_differences(one, z, pairs, self.target, self.level)
        means = system_means.system_means(one, z, strata, self.target, self.level)["mean"]
        found["mean_difference"] = means[pairs[:, 0]] - means[pairs[:, 1]]
        found["forward"], found["backward"] = by_t(found["statistic"], found["df"], self.alternative)
        with np.errstate(over="ignore"):
            found |= {name: np.ldexp(found[name], power) for name in _SCORES}
        rated = ~np.isnan(z)
        of_systems = few_ratings.one_value(z), rated.sum(axis=-1), pvalue
        noted = [each[pairs[:, side]] for each in of_systems for side in (0, 1)]
        rated_in = [] if self.strata is None else _rated_in(one, rated, pairs, strata)
        return np.array([*(found[name] for name in NAMES), *noted, without_score, *rated_in], dtype=float)


def _rated_in(one: FloatArray, rated: BoolArray, pairs: IntArray, strata: Strata) -> list[FloatArray]:
    """Inputs of each group that both systems of a pair have ratings of; NaN in a group without inputs of both."""
    scored = ~np.isnan(one)
    both, there = (strata.counts(each[pairs[:, 0]] & each[pairs[:, 1]]) for each in (rated, scored))
    return list(np.where(there > 0, both, np.nan).T)


def tested(
    scores: few_ratings.FewRatings,
    groups: few_ratings.Groups,
    pairs: IntArray,
    target: str,
    alternative: str,
    alpha: float,
) -> dict[str, xr.DataArray]:
    """The numbers of every pair of systems, along "_pair", with what is doubtful said."""
    strata = groups.strata if groups.argument else None
    job = Differences(pairs, tuple(scores.signs), scores.gold_sign, target, alternative, 1 - alpha, strata)
    types = {**dict.fromkeys(job.names, float), "n_inputs": int}
    found = labelled.over_labels(job, scores.arrays, "_pair", types, lazy=scores.lazy)
    noted = {name: found.pop(name) for name in _NOTED}
    share, n, pvalue = _by_system(noted, list(scores.score.indexes["system"]), pairs)
    later = scores.later
    later.make(few_ratings.check_any, n, noted["_without_score"].isel(_pair=0))
    later.make(few_ratings.warn_one_value, share, n)
    later.make(checks.warn_where, n == 0, "no rating, and so no difference, for", "no_rating")
    later.make(few_ratings.warn_not_random, pvalue)
    if strata is not None:
        rated_in = [found.pop(f"_rated_in_{at}") for at in range(strata.n)]
        labels = list(scores.score.indexes["system"])
        by_group = xr.concat(rated_in, "_group").assign_coords(_group=groups.names).rename(_pair="system")
        by_group = by_group.assign_coords(system=[f"{labels[a]} - {labels[b]}" for a, b in pairs])
        later.make(few_ratings.warn_of_groups, by_group, by_group.sum("_group") > 0, groups.argument, "difference")
    return found


def _by_system(noted: dict[str, xr.DataArray], labels: list[Any], pairs: IntArray) -> list[xr.DataArray]:
    places = np.unique(pairs)
    firsts = [tuple(np.argwhere(pairs == at)[0]) for at in places]
    rows = []
    for name in _OF_SYSTEMS:
        sides = (name, f"{name}_of_other")
        each = [noted[sides[side]].isel(_pair=pair) for pair, side in firsts]
        rows.append(xr.concat(each, "system").assign_coords(system=[labels[at] for at in places]))
    return rows


def in_order(result: xr.Dataset, pvalue: xr.DataArray, alpha: float) -> dict[str, xr.DataArray]:
    """Rank and cluster of each system where all were compared with all, as `rank` makes them of metrics."""
    dims = ["system", "other_system"]
    difference, alternative = result["difference"], result.attrs["alternative"]
    if list(difference.indexes["system"]) != list(difference.indexes["other_system"]):
        return {}

    def ranked(differences: FloatArray, p: FloatArray) -> tuple[Any, Any]:
        apart = np.isfinite(differences)
        mean = np.where(apart, differences, 0.0).sum(axis=1) / (apart.sum(axis=1) + 1.0)
        mean[~apart.any(axis=1)] = np.nan
        beats = p.T if alternative == "less" else p
        return ranking.ranked(mean, np.where(differences > 0, beats, np.nan), alpha)

    found = ranking.in_order(ranked, [(difference, dims), (pvalue, dims)], "system")
    return {
        name: results.describe(name, each.transpose("metric", "system", ...), "compare_systems")
        for name, each in found.items()
    }


def settings_of(scores: few_ratings.FewRatings, target: str, alternative: str) -> dict[str, Any]:
    """What attrs say of the test."""
    helped_by = ", ".join(map(str, scores.metrics))
    return {"method": METHOD, "alternative": alternative, "target": target, "helped_by": helped_by}
