"""Metrics in order of a weighted average over tasks: `rank_tasks`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import correlation, pooling, ranking
from xsumstat.analyses import metric_tests as comparison
from xsumstat.analyses.measure import checked_progress
from xsumstat.analyses.task_averages import CHANCE, Averages, in_all_tasks, weights_of
from xsumstat.catalogue import ALL
from xsumstat.core import validate
from xsumstat.core.types import TOLERANCE, FloatArray
from xsumstat.dataset import checks, results
from xsumstat.inference.pvalues import permutation_pvalues
from xsumstat.kernels import swaps as kernels
from xsumstat.resampling import draws, threads
from xsumstat.resampling.jobs import BYTES_AT_ONCE

# What a task may ask besides its Dataset and gold.
_KEYWORDS = (
    *("level", "coefficient", "metric", "missing", "undefined", "threshold", "calibrate_on", "pool"),
    *("resample", "crossed", "swap"),
)
# What a task is about, which `subset` and others choose by; a task without it is about all.
ABOUT = ("language_pair", "domain")
# Keywords that `corr` has too.
_OF_CORR = ("level", "coefficient", "metric", "missing", "undefined", "threshold", "calibrate_on", "pool")


@validate.public
def rank_tasks(
    tasks: Mapping[str, Mapping[str, Any]],
    *,
    weights: Mapping[str, float] | None = None,
    alpha: float = 0.05,
    n_resamples: int = 9999,
    rng: int | np.random.SeedSequence | np.random.Generator | None = None,
    keep_samples: bool = False,
    progress: bool | None = None,
) -> xr.Dataset:
    """Rank metrics by their weighted average over tasks, in clusters, as WMT does.

    Parameters
    ----------
    tasks : mapping
        Names and tasks, e.g. by `wmt_tasks`: mappings with ``ds``, ``gold``, keywords of `perm_test` (level,
        coefficient, metric, missing, undefined, threshold, calibrate_on, pool, resample, crossed, swap), ``weight``
        (default 1) and the labels ``language_pair`` and ``domain``. A metric must have one name in all tasks.
    weights : mapping, optional
        Weight of each task, at least 0. Default: the tasks' own ``weight``.
    {alpha.beats}
    n_resamples : int, default 9999
        Number of random swaps in each task.
    {rng}
        The draws of a task depend only on the seed and the task's name.
    keep_samples : bool, default False
        Add ``samples(task, metric, other_metric, resample)`` and ``task_difference``, which `subset` and `ranks_by`
        need. They take 8 bytes × tasks × metrics² × `n_resamples`.
    {progress}

    Returns
    -------
    Dataset
        In order of the average: ``correlation``, ``task_rank`` and ``task_cluster`` (metric, task), ``weight(task)``;
        ``average_score`` (0 to 1), ``average_rank``, ``rank`` and ``cluster`` (metric); ``difference`` and ``pvalue``
        (metric, other_metric), "greater"; of accuracies ``baseline`` and ``baseline_constant`` (metric, task). Metrics
        that are not in all tasks come last. The coordinates ``level``, ``coefficient``, ``gold``, ``language_pair`` and
        ``domain`` describe tasks; "all" if a task names none.

    Warns
    -----
    UserWarning
        For metrics that are not in all tasks, and undefined correlations that count as 0.

    Notes
    -----
    Null hypothesis: two metrics are exchangeable on these systems, by swaps in each task. A metric without a
    correlation in a task is not in it; with ``"undefined": "zero"`` it has 0 there, which is WMT's rule. Clusters are
    made as by `rank`.

    References
    ----------
    Freitag et al. (2023), "Results of WMT23 Metrics Shared Task", §6; Freitag et al. (2024).

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> outputs = {"ds": ds, "gold": "human", "level": "input", "coefficient": "acc_eq", "metric": ["judge", "bleu"]}
    >>> tasks = {"systems": {**outputs, "level": "system", "coefficient": "spa"}, "outputs": outputs}
    >>> xsumstat.rank_tasks(tasks, n_resamples=99, rng=1).average_score.to_series().round(2).to_dict()
    {'judge': 0.83, 'bleu': 0.64}
    """
    if not isinstance(tasks, Mapping) or not tasks:
        raise TypeError(f"tasks must be a mapping of names to tasks, at least one, got {tasks!r:.80}")
    alpha = validate.fraction("alpha", alpha)
    n_resamples = validate.n_draws("n_resamples", n_resamples, 1)
    keep_samples = validate.flag("keep_samples", keep_samples)
    progress = checked_progress(progress)
    shares = _shares(tasks, weights)
    seed = draws.seed_of(rng)
    requested = {name: _Asked.of(name, task) for name, task in tasks.items()}
    single = {name: task.correlations() for name, task in requested.items()}
    everywhere, elsewhere = _metrics(single)
    tests = _Tests(list(requested.values()), list(single.values()), list(shares.values()), everywhere, elsewhere)
    kept = _Kept.of(len(tasks), tests.labels, n_resamples) if keep_samples else None
    tests.run(n_resamples, seed, progress, kept)
    ranked = [tests.of_task(at, alpha) for at in range(len(tasks))]
    table = _table(single, ranked, tests.labels, list(tasks)).assign_coords(_about(requested))
    result = tests.averages.table(table.assign(weight=("task", np.array(list(shares.values())))), alpha)
    result = result if kept is None else kept.beside(result)
    attrs: dict[str, Any] = {"analysis": "rank_tasks", "alpha": alpha, "alternative": "greater"}
    attrs |= {"n_resamples": n_resamples, "seed": str(seed)}
    for name in ("n_systems", "n_inputs"):  # where they are the same in all tasks
        of_tasks = {single[task].attrs.get(name) for task in tasks}
        attrs |= {name: of_tasks.pop()} if len(of_tasks) == 1 else {}
    for name in ("level", "coefficient", "gold"):
        result = result.assign_coords({name: ("task", [str(single[task].attrs[name]) for task in tasks])})
    return results.result(result, None, **attrs)


def _about(tasks: Mapping[str, _Asked]) -> dict[str, tuple[str, Any]]:
    found = {name: [task.about.get(name, ALL) for task in tasks.values()] for name in ABOUT}
    named = {name for task in tasks.values() for name in task.about}
    return {name: ("task", np.array(labels, dtype=object)) for name, labels in found.items() if name in named}


def _shares(tasks: Mapping[str, Any], weights: Mapping[str, float] | None) -> dict[str, float]:
    if weights is None:
        weights = {name: task.get("weight", 1.0) if isinstance(task, Mapping) else 1.0 for name, task in tasks.items()}
    found = dict(zip(tasks, weights_of(list(tasks), weights, "task"), strict=True))
    total = sum(found.values())
    if not 0 < total < float("inf"):
        raise ValueError(f"weights must be finite, and one above 0, got {weights!r:.200}")
    return {name: each / total for name, each in found.items()}


@dataclass(frozen=True)
class _Asked:
    name: str
    ds: xr.Dataset
    gold: Any
    keywords: dict[str, Any]
    about: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, task: Mapping[str, Any]) -> _Asked:
        if not isinstance(task, Mapping):
            raise TypeError(f"task {name!r} must be a mapping with a Dataset 'ds', got {type(task).__name__}")
        if not isinstance(task.get("ds"), xr.Dataset):
            raise TypeError(f"task {name!r} must have a Dataset 'ds', got {task.get('ds')!r:.80}")
        keywords = {key: value for key, value in task.items() if key not in ("ds", "gold", "weight", *ABOUT)}
        for key in keywords:
            allowed = f"allowed are ds, gold, weight, {', '.join(ABOUT)} and"
            validate.known(f"keyword of task {name!r}", key, _KEYWORDS, allowed)
        about = {key: task[key] for key in ABOUT if key in task}
        for key, label in about.items():
            if not isinstance(label, str) or not label:
                raise TypeError(f"{key} of task {name!r} must be a name, got {label!r:.80}")
        return cls(name, task["ds"], task.get("gold"), keywords, about)

    def correlations(self) -> xr.Dataset:
        found = self._said(correlation.corr, {key: self.keywords[key] for key in _OF_CORR if key in self.keywords})
        further = [str(dim) for dim in found["correlation"].dims if dim != "metric"]
        if further:
            raise ValueError(
                f"task {self.name!r} has further dims: {validate.listing(further)}; make each label a task"
            )
        if not self.counts_as_zero:
            return found
        undefined = found["metric"].values[found["correlation"].isnull().values].tolist()
        if undefined:
            validate.warn(
                f"task {self.name!r}: an undefined correlation counts as 0, for {validate.listing(undefined)}",
                "counts_as_zero",
            )
        return found.assign(correlation=found["correlation"].fillna(0.0))

    @property
    def counts_as_zero(self) -> bool:
        return self.keywords.get("undefined") == "zero"

    def differences(self, rows: list[Any], columns: list[Any], **keywords: Any) -> xr.Dataset:
        with validate.kept_warnings():  # `correlations` gave them
            requested = {**self.keywords, "metric": rows, "other": columns, **keywords}
            return self._said(comparison.perm_test, {**requested, "alternative": "greater", "keep_samples": True})

    def _said(self, question: Any, keywords: dict[str, Any]) -> xr.Dataset:
        with validate.kept_warnings() as caveats:
            try:
                found: xr.Dataset = question(self.ds, self.gold, **keywords)
            except (ValueError, TypeError) as error:
                raise type(error)(f"task {self.name!r}: {error}") from error
        for caveat in caveats:
            validate.warn(caveat.of(f"task {self.name!r}"))
        return found.compute()


def _metrics(single: Mapping[str, xr.Dataset]) -> tuple[list[Any], list[Any]]:
    known = list(dict.fromkeys(label for found in single.values() for label in found["metric"].values.tolist()))
    defined = [set(found["metric"].values[found["correlation"].notnull().values].tolist()) for found in single.values()]
    return in_all_tasks(known, [label for label in known if all(label in each for each in defined)])


class _Tests:
    """The tests of all pairs of metrics, in each task and summed over tasks, some rows of the table at a time."""

    def __init__(
        self,
        tasks: list[_Asked],
        single: list[xr.Dataset],
        shares: list[float],
        everywhere: list[Any],
        elsewhere: list[Any],
    ) -> None:
        self.tasks, self.labels = tasks, [*everywhere, *elsewhere]
        r = np.array([found["correlation"].reindex(metric=self.labels).values for found in single])
        asked = [found.attrs["coefficient"] for found in single]
        self.averages = Averages(r, asked, np.array(shares), self.labels, len(everywhere))
        self.own = [np.full((len(self.labels),) * 2, np.nan) for _ in tasks]  # p-values of each task

    def run(self, n_resamples: int, seed: int, progress: bool | None, kept: _Kept | None) -> None:
        """Make all tests; the differences of a few rows of the table in all swaps are in memory at once."""
        step = max(1, BYTES_AT_ONCE // (16 * len(self.labels) * n_resamples))
        starts, size = range(0, len(self.labels), step), self.averages.size
        with threads.one_bar(len(self.tasks) * len(starts), progress) as part:
            for start in starts:
                rows, columns = range(start, min(start + step, size)), range(start, size)
                difference = np.zeros((len(rows), len(columns)))
                samples = np.zeros((*difference.shape, n_resamples))
                for at in range(len(self.tasks)):
                    with part():
                        self._one(at, slice(start, start + step), seed, progress, difference, samples, kept)
                self.averages.count(start, difference, samples)

    def _one(
        self,
        at: int,
        here: slice,
        seed: int,
        progress: bool | None,
        difference: FloatArray,
        samples: FloatArray,
        kept: _Kept | None,
    ) -> None:
        """Add one task's tests of some rows to the sums."""
        own, n_resamples = _own_stream(self.tasks[at].name), samples.shape[2]
        test = self._tested(at, here, n_resamples, np.random.SeedSequence(seed, spawn_key=(own,)), progress)
        if test is None or (kept is None and not len(difference)):
            return
        test = pooling.with_draws(test, seed, own, n_resamples).transpose("metric", "other_metric", "resample")
        if kept is not None:
            kept.take(at, test)
        if len(difference):
            inner = test.isel(metric=slice(len(difference)), other_metric=slice(difference.shape[1]))
            self.averages.add(at, inner["difference"].values, inner["samples"].values, difference, samples)

    def _tested(
        self, at: int, here: slice, n_resamples: int, rng: np.random.SeedSequence, progress: bool | None
    ) -> xr.Dataset | None:
        of_all = self.averages.r[at]
        there = [label for label, r in zip(self.labels[here.start :], of_all[here.start :], strict=True) if r == r]
        rows = [label for label in self.labels[here] if label in there]
        if not rows or len(there) < 2:
            return None
        test = self.tasks[at].differences(rows, there, n_resamples=n_resamples, rng=rng, progress=progress)
        asked = {"metric": checks.as_labels(rows), "other_metric": checks.as_labels(there)}
        test = test.transpose("metric", "other_metric", ...).sel(asked)
        places = [self.labels.index(label) for label in there]
        r = of_all[places]
        if self.tasks[at].counts_as_zero:
            whole = xr.DataArray(r[: len(rows), None] - r, dims=("metric", "other_metric"))
            test["difference"] = test["difference"].fillna(whole)
        for row in range(len(rows)):
            samples, observed = test["samples"].values[row, row + 1 :], test["difference"].values[row, row + 1 :]
            counts = np.empty((4, len(observed)), dtype=np.int64)
            kernels.compare(samples, observed, TOLERANCE, counts)
            exact = bool(test.attrs.get("exact"))
            better, worse = permutation_pvalues(observed, counts, samples.shape[1], exact, "greater")
            self.own[at][places[row], places[row + 1 :]] = better
            self.own[at][places[row + 1 :], places[row]] = worse
        return test

    def of_task(self, at: int, alpha: float) -> xr.Dataset:
        r = self.averages.r[at]
        there = np.flatnonzero(~np.isnan(r))
        ranks, clusters = ranking.ranked(r[there], self.own[at][np.ix_(there, there)], alpha)
        coords = {"metric": np.array(self.labels, dtype=object)[there]}
        return xr.Dataset({"task_rank": ("metric", ranks), "task_cluster": ("metric", clusters)}, coords)


def _own_stream(name: Any) -> int:
    """A number from a task's name: its draws must not depend on the other tasks."""
    return int.from_bytes(hashlib.sha256(str(name).encode()).digest()[:8], "big")


@dataclass(frozen=True)
class _Kept:
    """The differences of each task, as they are and under swaps."""

    labels: list[Any]
    difference: FloatArray
    samples: FloatArray

    @classmethod
    def of(cls, n_tasks: int, labels: list[Any], n_resamples: int) -> _Kept:
        shape = (n_tasks, len(labels), len(labels))
        return cls(labels, np.full(shape, np.nan), np.full((*shape, n_resamples), np.nan))

    def take(self, at: int, test: xr.Dataset) -> None:
        """Keep a task's tests of some metrics with those behind them, from either side."""
        places = {label: place for place, label in enumerate(self.labels)}
        columns = [places[label] for label in test["other_metric"].values.tolist()]
        for row, label in enumerate(test["metric"].values.tolist()):
            one, others = places[label], columns[row + 1 :]
            for into, name in ((self.difference, "difference"), (self.samples, "samples")):
                values = test[name].values[row, row + 1 :]
                into[at, one, others], into[at, others, one] = values, -values

    def beside(self, result: xr.Dataset) -> xr.Dataset:
        order = [self.labels.index(label) for label in result["metric"].values.tolist()]
        for values in (*self.difference, *self.samples):  # task by task, as two copies of all may not fit
            values[:] = values[np.ix_(order, order)]
        dims = ("task", "metric", "other_metric")
        kept = {"task_difference": (dims, self.difference), "samples": ((*dims, "resample"), self.samples)}
        return result.reindex(other_metric=result["metric"].values).assign(kept)


def _table(
    single: Mapping[str, xr.Dataset], ranked: list[xr.Dataset], metrics: list[Any], tasks: list[str]
) -> xr.Dataset:
    chance = [name for name in CHANCE if any(name in found for found in single.values())]
    parts = []
    for found, more in zip(single.values(), ranked, strict=True):
        own = found[["correlation"]].drop_vars([name for name in found.coords if name != "metric"], errors="ignore")
        for name in chance:  # NaN in a task whose coefficient has none
            own[name] = "metric", found[name].values if name in found else np.full(found.sizes["metric"], np.nan)
        parts.append(xr.merge([own, more], join="outer"))
    aligned = [part.reindex(metric=metrics) for part in parts]
    index = xr.DataArray(np.array(tasks, dtype=object), dims="task", name="task")
    return xr.concat(aligned, dim=index, join="exact", combine_attrs="drop").transpose("metric", "task")
