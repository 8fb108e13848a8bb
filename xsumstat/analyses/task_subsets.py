"""What the tasks of a ranking say in part: averages over a subset of tasks, and over each group of them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import task_swaps
from xsumstat.analyses.task_averages import Averages, in_all_tasks, weights_of
from xsumstat.catalogue.variables import BASELINES
from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import results

# Coordinates of tasks by which they are chosen and grouped.
LABELS = ("language_pair", "domain", "level", "coefficient")
_OF_TASKS = ("correlation", "task_rank", "task_cluster")
_AVERAGED = ("average_score", "average_rank", "rank", "cluster", "difference", "pvalue")


@validate.public
def subset(
    result: xr.Dataset,
    task: Hashable | Sequence[Hashable] | None = None,
    *,
    language_pair: str | Sequence[str] | None = None,
    domain: str | Sequence[str] | None = None,
    level: str | Sequence[str] | None = None,
    coefficient: str | Sequence[str] | None = None,
    weights: Mapping[str, float] | None = None,
) -> xr.Dataset:
    """Rank the metrics by their average over some of the tasks, with tests from the swaps that were kept.

    Parameters
    ----------
    result : Dataset
        What `rank_tasks` returned with ``keep_samples=True``.
    task : label or list of labels, optional
        Names of tasks; default all.
    language_pair, domain, level, coefficient : str or list of str, optional
        Keep the tasks with one of these labels. A task must match all arguments that are given.
    weights : mapping, optional
        The weight of each chosen task, at least 0; default the weights of the result.

    {dataset}
        What `rank_tasks` returns for these tasks alone with the same seed, significance level and number of swaps.

    Notes
    -----
    Nothing is drawn or correlated again. Without kept swaps, call `rank_tasks` with the chosen tasks and the same
    `rng`: the draws of a task depend on the seed and the task's outputs, so the numbers are the same.

    {demo}
    >>> scores = {"ds": ds, "gold": "human"}
    >>> tasks = {"systems": scores, "outputs": {**scores, "level": "input"}}
    >>> table = xsumstat.rank_tasks(tasks, n_resamples=99, rng=1, keep_samples=True)
    >>> part = table.meta.subset(level="input")
    >>> part.task.values.tolist(), part.metric.values[0]
    (['outputs'], 'judge')
    """
    chosen = {"language_pair": language_pair, "domain": domain, "level": level, "coefficient": coefficient}
    _check(result, "subset")
    places = _chosen(result, task, {name: value for name, value in chosen.items() if value is not None})
    part = _averaged(result, places, _shares(result, places, weights)).drop_attrs(deep=False)
    return results.result(part, None, **_settings(result, "rank_tasks"))


@validate.public
def ranks_by(result: xr.Dataset, by: str) -> xr.Dataset:
    """Rank the metrics within each group of tasks: by language pair, domain, level or coefficient.

    Parameters
    ----------
    result : Dataset
        What `rank_tasks` returned with ``keep_samples=True``.
    by : {"language_pair", "domain", "level", "coefficient"}
        The coordinate of the tasks whose labels make the groups.

    {dataset}
        For each label of `by` what `subset` returns: ``average_score``, ``average_rank``, ``rank`` and ``cluster``
        (metric, `by`), ``difference`` and ``pvalue`` (metric, other_metric, `by`), and ``n_tasks`` (`by`). The metrics
        keep the order of the result.

    Notes
    -----
    The groups are tested separately, without a correction for their number. A rank that differs between two groups
    is no evidence that the groups differ.

    {demo}
    >>> scores = {"ds": ds, "gold": "human"}
    >>> tasks = {"systems": scores, "outputs": {**scores, "level": "input"}}
    >>> table = xsumstat.rank_tasks(tasks, n_resamples=99, rng=1, keep_samples=True)
    >>> table.meta.ranks_by("level")["rank"].to_pandas()
    level       system  input
    metric
    judge            1      1
    bertscore        2      2
    rouge            3      3
    perplexity       4      4
    bleu             5      5
    length           6      6
    """
    _check(result, "ranks_by")
    validate.choice("by", by, LABELS)
    named = labels_of(result, by)
    order = result["metric"].values
    parts, sizes = [], []
    for label in dict.fromkeys(named):
        places = [at for at, each in enumerate(named) if each == label]
        with validate.kept_warnings() as caveats:
            part = _averaged(result, places, _shares(result, places, None))
        for caveat in caveats:
            validate.warn(caveat.of(f"{by} {label!r}"))
        parts.append(part[list(_AVERAGED)].reindex(metric=order, other_metric=order))
        sizes.append(len(places))
    index = xr.DataArray(np.array(list(dict.fromkeys(named)), dtype=object), dims=by, name=by)
    whole = xr.concat(parts, dim=index, join="exact", combine_attrs="drop").assign(n_tasks=(by, sizes))
    for name in ("rank", "cluster"):
        whole[name] = whole[name].fillna(0).astype(int)
    whole = whole.transpose("metric", "other_metric", by)
    return results.result(whole, None, **_settings(result, "ranks_by"), tasks_by=by)


def check_ranked(result: xr.Dataset, method: str) -> None:
    """Refuse what `rank_tasks` did not give."""
    if result.attrs.get("analysis") != "rank_tasks" or "task" not in result.get("correlation", xr.DataArray()).dims:
        what = result.attrs.get("analysis")
        got = "scores or other data" if what is None else f"a result of {what}"
        raise ValueError(f"{method}() needs a result of xsumstat.rank_tasks with its tasks, got {got}")


def _check(result: xr.Dataset, method: str) -> None:
    check_ranked(result, method)
    if not {"samples", "task_difference", *task_swaps.PAIR} <= set(result.variables):
        seed = result.attrs.get("seed", "the same seed")
        raise ValueError(
            f"{method}() needs the swaps of each task, and this result did not keep them: call "
            f"rank_tasks(..., keep_samples=True), or rank_tasks of the chosen tasks alone with rng={seed}, which "
            "gives the same numbers"
        )


def _chosen(result: xr.Dataset, task: Any, labels: dict[str, Any]) -> list[int]:
    """The places of the tasks that match."""
    names = result["task"].values.tolist()
    kept = np.ones(len(names), dtype=bool)
    if task is not None:
        kept &= np.isin(names, _known("task", task, names))
    for name, value in labels.items():
        own = labels_of(result, name)
        kept &= np.isin(own, _known(name, value, own))
    if not kept.any():
        asked = ", ".join(f"{name}={value!r}" for name, value in labels.items())
        raise ValueError(f"no task has {asked} together; the tasks are {validate.listing(names, 8)}")
    return np.flatnonzero(kept).tolist()


def _known(name: str, value: Any, there: list[Any]) -> list[Any]:
    """One label or several that some task has."""
    several = [value] if isinstance(value, str) or not isinstance(value, Sequence) else list(value)
    if not several:
        raise ValueError(f"{name} must name at least one label, got {value!r}")
    for label in several:
        validate.known(name, label, list(dict.fromkeys(there)), "the tasks have")
    return several


def labels_of(result: xr.Dataset, name: str) -> list[Any]:
    """The tasks' labels by a coordinate."""
    if name not in result.coords or result[name].dims != ("task",):
        raise ValueError(
            f"the tasks have no {name}: give each task of rank_tasks its {name!r}, as wmt_tasks does where the data "
            "has it"
        )
    return list(result[name].values.tolist())


def _shares(result: xr.Dataset, places: list[int], weights: Mapping[str, float] | None) -> FloatArray:
    """What the chosen tasks weigh, all together 1."""
    names = result["task"].values[places].tolist()
    own = result["weight"].values[places]
    found = own if weights is None else np.array(weights_of(names, weights, "chosen task"))
    if not 0 < found.sum() < np.inf:
        raise ValueError(f"the chosen tasks weigh nothing together: {validate.listing(names)}; give weights=")
    return np.asarray(found / found.sum(), dtype=float)


def _averaged(result: xr.Dataset, places: list[int], shares: FloatArray) -> xr.Dataset:
    """The tasks at these places with their averages, whose tests come from the kept swaps."""
    part = result.isel(task=places)
    baselines = [name for name in BASELINES if name in part and part[name].notnull().any()]
    tasks = part[[*_OF_TASKS, *baselines]].drop_dims("other_metric", errors="ignore").assign(weight=("task", shares))
    r = part["correlation"].transpose("task", "metric").values
    known = part["metric"].values.tolist()
    defined = ~np.isnan(r).any(axis=0)
    everywhere, elsewhere = in_all_tasks(known, [label for label, there in zip(known, defined, strict=True) if there])
    labels = [*everywhere, *elsewhere]
    order = [known.index(label) for label in labels]
    averages = Averages(r[:, order], part["coefficient"].values.tolist(), shares, labels, len(everywhere))
    swaps_of = task_swaps.kept_swaps(result, labels[: averages.size], places)
    task_swaps.average(averages, result.sizes["resample"], swaps_of)
    return averages.table(tasks, float(result.attrs["alpha"]))


def _settings(result: xr.Dataset, analysis: str) -> dict[str, Any]:
    """What attrs say of a ranking of some of the tasks."""
    kept = ("alpha", "alternative", "n_resamples", "seed", "n_systems", "n_inputs")
    return {"analysis": analysis, **{name: result.attrs[name] for name in kept if name in result.attrs}}
