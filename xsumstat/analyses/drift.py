"""What changed between two versions of a judge, or two months, on the same outputs: `drift`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import clustering, correlation, groups
from xsumstat.analyses.equivalence import equivalence
from xsumstat.core import validate
from xsumstat.core.types import CorrelationFunction, IntArray
from xsumstat.dataset import (
    align,
    checks,
    chunking,
    directions,
    facts,
    golds,
    labelled,
    locate,
    metric_choice,
    results,
    value_checks,
)
from xsumstat.dataset.value_checks import Said
from xsumstat.inference import drift as inference

NEW, OLD = "new", "old"
# The dim of the two versions within this file.
_VERSION = "judge_version"
_LEFT_OUT = "outputs left out of the agreement, as a version or the human scores lack them"
_ALONE = ("n_only_new", "n_only_old")
_OF_AGREEMENT = ("difference", "ci_low", "ci_high", "margin", "pvalue", "equivalent", "n_undefined", "fell_back")


@validate.public
def drift(
    ds: xr.Dataset,
    anchor: xr.Dataset | Hashable,
    gold: Hashable | xr.DataArray | None = None,
    *,
    metric: Hashable | Sequence[Hashable] | xr.DataArray | None = None,
    margin: float = 0.05,
    level: str = "global",
    coefficient: str | CorrelationFunction = "pearson",
    alpha: float = 0.05,
    cluster: str | None = None,
    undefined: str = "drop",
    progress: bool | None = None,
) -> xr.Dataset:
    """Compare two versions of a judge on the same outputs: agreement with human scores, verdicts, means of systems.

    Parameters
    ----------
    ds : Dataset
        Scores by the new version, float ``score(metric, system, input, ...)``; NaN is a missing score.
    anchor : Dataset or label
        The old version: a Dataset with the same metrics, systems and inputs, or the label of a metric of `ds`.
        Systems and inputs that only one version has are left out with a warning.
    {gold metric}
    margin : float, default 0.05
        Changes of agreement of less than this do not matter; above 0.
    level : {"global", "input", "system", "within_system"}, default "global"
        What is correlated with the human scores: single outputs; systems within each input, averaged; systems' means,
        of 3 systems or more; inputs within each system, averaged.
    {coefficient}
    alpha : float, default 0.05
        Significance level of all tests, below .5.
    cluster : str, optional
        Coordinate of inputs that belong together, e.g. "document": documents, not inputs, are then the random units.
    {undefined progress}

    {dataset}
        On (metric, ...): ``new_correlation`` and ``old_correlation`` with the human scores; their ``difference`` with
        ``ci_low`` and ``ci_high``, its (1 − 2·alpha) interval; ``margin``, and the equivalence test's ``pvalue`` and
        ``equivalent``. All other limits belong to (1 − alpha) intervals. ``flip_share``: the share of verdicts between
        two systems on an input (better, tied, worse) that changed. ``reversal_share``: the share in which the winner
        now loses. ``changed_share``: the share of outputs with another score; ``n_outputs`` were scored by both
        versions, ``n_only_old`` and ``n_only_new`` by one alone. ``shift``: by how much the systems' means
        rose on average. ``heterogeneity``, an F statistic, with ``heterogeneity_pvalue``: do the systems' shifts
        differ? On (metric, system, ...): ``system_shift``; ``excess``, the shift minus the mean shift of the other
        systems; ``mean``, ``old_mean``, ``rank`` and ``old_rank``.

    Notes
    -----
    The result applies to these systems on inputs like these: intervals and tests treat inputs, not single outputs, as
    the random sample. ``equivalence(method="jackknife", resample="input")`` compares agreement on the outputs that both
    versions scored. If ``equivalent`` is False, a change larger than the margin is possible; the test does not show
    such a change. Shares have score limits (Wilson), shifts Student's t over inputs, with Holm's correction over
    systems. The test of different shifts is Hotelling's T². A shift that all systems share changes no rank.

    Examples
    --------
    >>> import xsumstat
    >>> new = xsumstat.load_dataset("demo")
    >>> old = new.copy(deep=True)
    >>> old["score"] = old.score.where(old.system != "extractor-1", old.score - 4)
    >>> found = new.meta.drift(old, "human", metric="judge")
    >>> found.system_shift.isel(metric=0, system=[0, 1]).round(2).values.tolist()
    [4.0, 0.0]
    """
    alpha = validate.fraction("alpha", alpha)
    pair = _Versions.of(ds, anchor, gold, metric, cluster)
    how: dict[str, Any] = {"level": level, "coefficient": coefficient, "undefined": undefined}
    with value_checks.held() as said:
        agreement = equivalence(
            pair.ds,
            pair.gold,
            along=_VERSION,
            base=OLD,
            metric=pair.judges,
            margin=validate.number("margin", margin, 0, np.inf),
            method="jackknife",
            resample="input",
            alpha=alpha,
            cluster=cluster,
            progress=progress,
            **how,
        )
    later = pair.checks(said)
    found = agreement[list(_OF_AGREEMENT)].isel({_VERSION: 0}, drop=True).drop_attrs(deep=False)
    with value_checks.held():  # they were given just now
        each = correlation.corr(pair.ds, pair.gold, metric=pair.judges, **how)["correlation"]
    for version, name in ((NEW, "new_correlation"), (OLD, "old_correlation")):
        found[name] = each.sel({_VERSION: version}, drop=True)
    found = found.assign(pair.changes(1 - alpha) | pair.alone).transpose("metric", "system", ...)
    found = _certain_where_unchanged(found)
    kept = {key: agreement.attrs[key] for key in ("level", "coefficient", "undefined", "resample", "gold", "method")}
    kept |= {"margin": margin, "alpha": alpha, "n_systems": pair.sizes["system"], "n_inputs": pair.sizes["input"]}
    kept["cluster"] = cluster
    return later.attached(results.result(found, (*pair.ds["score"].dims, *pair.gold.dims), analysis="drift", **kept))


def _certain_where_unchanged(found: xr.Dataset) -> xr.Dataset:
    """No change of agreement where no score changed: MOVER's limits have a width even for two equal correlations."""
    same = (found["changed_share"] == 0) & (found["difference"] == 0)
    certain = {name: found[name].where(~same, 0.0) for name in ("ci_low", "ci_high", "pvalue")}
    return found.assign({**certain, "equivalent": found["equivalent"] | same})


@dataclass(frozen=True)
class _Versions:
    """Scores by both versions (metric, version, ...), NaN unless both have one, with the human scores."""

    ds: xr.Dataset
    gold: xr.DataArray
    judges: list[Hashable]
    cluster: str | None
    alone: dict[str, xr.DataArray]  # numbers of outputs that one version alone has scored

    @classmethod
    def of(cls, ds: xr.Dataset, anchor: Any, gold: Any, metric: Any, cluster: Any) -> _Versions:
        """Two Datasets, or two metrics of one."""
        score = locate.checked_scores(ds)
        if cluster is not None:
            groups.described_by(score, "cluster", cluster, ("input",))
        else:
            clustering.warn_of_documents(score, ("input",))
        human, name, own = golds.find_gold(ds, score, gold)
        if isinstance(anchor, xr.Dataset):
            asked = metric_choice.judged(score, own) if metric is None else metric
            now = score.isel(metric=metric_choice.choose(score, asked, "metric"))
            then = _of_anchor(now, ds, anchor)
        else:
            now, then = _of_one(score, anchor, own, metric)
        scored = [each.notnull().sum(facts.CELLS) for each in (now, then)]
        now, then = _shared(now, then)
        beside = {key: each for key, each in now.coords.items() if each.dims == ("metric",) or key == cluster}
        both = xr.concat([each.reset_coords(drop=True) for each in (now, then)], _VERSION)
        there = both.notnull().all(_VERSION)
        counted = [align.without_coords(n) - there.sum(facts.CELLS) for n in scored]
        both = both.where(there).assign_coords({**beside, _VERSION: [NEW, OLD]})
        if not chunking.is_lazy(both) and not bool(both.notnull().any()):
            raise ValueError("anchor shares no output with the scores: no output has a score by both versions")
        named = {dim: now[dim] for dim in facts.CELLS if dim in human.indexes}
        joined = xr.Dataset(
            {"score": chunking.whole(both.transpose("metric", _VERSION, *facts.CELLS, ...), facts.CELLS)}
        )
        alone = dict(zip(_ALONE, counted, strict=True))
        return cls(joined, human.reindex(named).rename(name), now["metric"].values.tolist(), cluster, alone)

    @property
    def sizes(self) -> dict[str, int]:
        """Number of systems and of inputs."""
        return {dim: self.ds.sizes[dim] for dim in facts.CELLS}

    def checks(self, said: value_checks.Held) -> value_checks.Checks:
        """What the comparison of agreement reported, but each output that is left out counts once, not by version."""
        for caveat in _without_cells([Said(said.caveats)])[0].caveats:
            validate.warn(caveat)
        later = value_checks.Checks()
        later.take(_without_cells, said.checks)
        scored = self.ds["score"].isel({_VERSION: 0}, drop=True)
        lacking = value_checks.by_metric(_gaps, [scored], self.gold)
        later.make(checks.report_cells, lacking, _LEFT_OUT)
        return later

    @property
    def _clusters(self) -> IntArray | None:
        """The cluster of each input."""
        if self.cluster is None:
            return None
        with value_checks.held():  # the comparison of agreement has said it
            return clustering.of_labels(self.ds["score"], self.cluster, ("input",))[1]

    def changes(self, confidence_level: float) -> dict[str, xr.DataArray]:
        """What changed beside agreement."""
        score = self.ds["score"]
        new, old = (score.sel({_VERSION: version}, drop=True) for version in (NEW, OLD))
        lower = score.indexes["metric"].isin(directions.lower(score))
        direction = xr.DataArray(np.where(lower, -1.0, 1.0), dims="metric")
        how: dict[str, Any] = {"confidence_level": confidence_level, "clusters": self._clusters}
        inputs: list[Any] = [(new, facts.CELLS), (old, facts.CELLS), (direction, [])]
        dims = {"of_all": ["_number"], "of_system": ["_number_each", "system"]}
        sizes = {"_number": len(inference.OF_ALL), "_number_each": len(inference.OF_SYSTEM)}
        found = labelled.by_label(partial(inference.changes, **how), inputs, dims, sizes=sizes)
        of_all = {key: found["of_all"].isel(_number=at) for at, key in enumerate(inference.OF_ALL)}
        return of_all | {key: found["of_system"].isel(_number_each=at) for at, key in enumerate(inference.OF_SYSTEM)}


def _without_cells(found: list[Said]) -> list[Said]:
    """What was reported, except cells left out of each version."""
    return [Said([each for each in said.caveats if each.code != "cells_left_out"], said.error) for said in found]


def _gaps(scored: Sequence[xr.DataArray], gold: xr.DataArray) -> facts.Gaps:
    return facts.gaps(scored[0], gold, "pairwise")


def _of_anchor(now: xr.DataArray, ds: xr.Dataset, anchor: xr.Dataset) -> xr.DataArray:
    """The old scores of the same metrics."""
    try:
        then = locate.checked_scores(anchor)
    except ValueError as error:
        raise ValueError(f"anchor must hold scores as ds does: {error}") from error
    for label in now.indexes["metric"]:
        validate.known("metric that anchor lacks:", label, list(then.indexes["metric"]), "metrics of the anchor")
    if golds.texts_of(ds) != golds.texts_of(anchor):
        raise ValueError("anchor has other texts as labels than the scores: give all, the lowest first, by labels=")
    apart = sorted(map(str, {*now.dims} ^ {*then.dims}))
    if apart:
        raise ValueError(f"anchor and score must have the same dims; only one of them has {validate.listing(apart)}")
    return then.sel(metric=now["metric"].values)


def _of_one(
    score: xr.DataArray, anchor: Hashable, own: list[Hashable], metric: Any
) -> tuple[xr.DataArray, xr.DataArray]:
    """Two metrics of one Dataset: the new version, and the old one under its name."""
    labels = list(score.indexes["metric"])
    validate.known("anchor", anchor, labels, "metrics")
    asked = [label for label in metric_choice.judged(score, own) if label != anchor] if metric is None else metric
    places = metric_choice.choose(score, asked, "metric")
    if len(places) != 1 or labels[places[0]] == anchor:
        told = validate.listing([labels[at] for at in places])
        raise ValueError(f"anchor={anchor!r} is the old version of one metric: name the new one by metric=; got {told}")
    now = score.isel(metric=places)
    return now, score.sel(metric=[anchor]).drop_vars("metric").assign_coords(metric=now["metric"].values)


def _shared(now: xr.DataArray, then: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """The labels that both have; a warning names the others."""
    for dim in map(str, now.dims):
        if dim not in now.indexes or dim not in then.indexes:
            if now.sizes[dim] != then.sizes[dim]:
                got = validate.counted(then.sizes[dim], "label")
                raise ValueError(f"anchor has {got} along {dim!r}, but the scores have {now.sizes[dim]}")
            continue
        ours, theirs = now.indexes[dim], then.indexes[dim]
        if not ours.isin(theirs).any():
            raise ValueError(
                f"anchor shares no output with the scores: no label of {dim!r} is in both. Scores: "
                f"{validate.listing(ours)}; anchor: {validate.listing(theirs)}"
            )
        now, then, _ = align.on_shared(now, then, dim, "anchor")
    return now, then
