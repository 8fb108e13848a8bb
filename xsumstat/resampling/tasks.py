"""A job run with Dask, identical to threads: each task sees the scores of its metrics, and the gold."""

# Few scores are shared by tasks. Many scores with a short graph (as from a store) are made by each task that needs
# them, so they are never in memory together.

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xsumstat.core import extras, validate
from xsumstat.core.types import BoolArray, FloatArray
from xsumstat.resampling import jobs
from xsumstat.resampling.jobs import Job, Part, R, blocks_of

# Cells times resamples times targets of one task: a second or two, more where scores are tied.
_TASK = 4e9
# Approximate largest number of tasks in a graph.
_MOST_TASKS = 5000
# Scores of more bytes are not held for several tasks, but made anew for each.
SHARED = 2**28
# Instructions of more bytes hold scores themselves, and are not given to each task.
_INSTRUCTIONS = 2**20

Used = tuple[BoolArray, BoolArray]


def with_dask(
    job: Job[R],
    *arrays: Any,
    lead: tuple[int, ...],
    used: tuple[Any, Any] | None,
    keep_samples: bool = False,
) -> tuple[Any, Any]:
    """Lazy numbers of all targets, (names, ..., targets), and lazy samples (..., targets, n_resamples) or None."""
    # `arrays` are scores (..., metrics, systems, inputs), mostly the gold (..., systems, inputs), and arrays (...,
    # rows, targets); `lead` are the sizes of the further labels; `used` marks systems and inputs to keep.
    dask, da = extras.optional("dask", "dask"), extras.optional("dask.array", "dask")
    by_metric = job.metrics_of(job.targets[0]) is not None
    scores = arrays[0].rechunk({axis: 1 if by_metric and axis == len(lead) else -1 for axis in range(arrays[0].ndim)})
    beside = [da.asarray(each) for each in arrays[2:]]
    shared = 8 * arrays[0].size <= SHARED
    plan = _Plan.of(job, arrays, lead)
    _check_room(plan)
    kept = None if used is None else dask.delayed(_both)(*(as_task(da.asarray(each)) for each in used))
    numbers, samples = [], []
    for label in np.ndindex(lead):
        source = Source(scores[label], [each[label].rechunk(-1) for each in arrays[1:2]], by_metric, shared)
        found = _of_label(job, plan, source, [each[label] for each in beside], kept, keep_samples)
        if not keep_samples:
            together = dask.delayed(np.concatenate)([each[0] for each in found], axis=1)
            numbers.append(da.from_delayed(together, (len(job.names), len(job.targets)), dtype=float))
            continue
        # In the same chunks, so that no samples wait for those of other targets.
        sized = [(each, at.stop - at.start) for each, (at, _) in zip(found, plan.groups, strict=True)]
        by_group = [da.from_delayed(each[0], (len(job.names), size), dtype=float) for each, size in sized]
        each_kept = [da.from_delayed(each[1], (size, job.n_resamples), dtype=float) for each, size in sized]
        numbers.append(da.concatenate(by_group, axis=1))
        samples.append(da.concatenate(each_kept, axis=0))
    laid_out = da.stack(numbers, axis=1).reshape(len(job.names), *lead, len(job.targets))
    if not keep_samples:
        return laid_out, None
    return laid_out, da.stack(samples).reshape(*lead, len(job.targets), job.n_resamples)


def _of_label(
    job: Job[Any], plan: _Plan, source: Source, beside: list[Any], used: Any, keep_samples: bool
) -> list[Any]:
    dask = extras.optional("dask", "dask")
    found = []
    for at, places in plan.groups:
        seen = used, source.of(places), [as_task(each[..., at]) for each in beside]
        small = job.narrowed(at, places)
        parts = [dask.delayed(_part)(small, blocks, *seen) for blocks in plan.runs] if plan.runs[1:] else None
        found.append(dask.delayed(_finished, nout=2)(small, parts, keep_samples, *seen))
    return found


def as_task(array: Any) -> Any:
    """The task of a Dask array's only chunk; the array itself would be computed again for each use."""
    (task,) = array.rechunk(-1).to_delayed(optimize_graph=False).ravel()
    return task


@dataclass(frozen=True)
class _Plan:
    """Groups of targets with their metrics, runs of blocks for one task, and bytes of a metric and a target."""

    groups: list[tuple[slice, list[int] | None]]
    runs: list[range]
    matrix_bytes: int
    target_bytes: int

    @classmethod
    def of(cls, job: Job[Any], arrays: Sequence[Any], lead: tuple[int, ...]) -> _Plan:
        first = [array[(0,) * len(lead)] for array in arrays]
        work, target = float(max(1, job.work(first[0]))), job.bytes_each(*first)
        shape = arrays[0].shape[len(lead) + (job.metrics_of(job.targets[0]) is not None) :]
        matrix = 8 * int(np.prod(shape))
        most = max(1, min(int(_TASK / work), job.at_once(*first)))
        fewest = -(-len(job.targets) * int(np.prod(lead)) // _MOST_TASKS)
        groups = jobs.sharing(job, max(most, fewest), job.metrics_at_once(shape))
        largest = max(at.stop - at.start for at, _ in groups)
        n_runs = max(1, _MOST_TASKS // max(1, len(groups) * int(np.prod(lead))))
        return cls(groups, _runs(job.n_blocks, work * largest, n_runs), matrix, target)


def _runs(n_blocks: int, work: float, most: int) -> list[range]:
    """Blocks in runs of about a task's work, at most `most`."""
    step = max(1, min(n_blocks, int(n_blocks * _TASK / work)), -(-n_blocks // most))
    return [range(start, min(start + step, n_blocks)) for start in range(0, n_blocks, step)] or [range(0)]


# --- Where a task has its scores from ---


class Made:
    """Scores that a task makes itself from a self-contained Dask graph; no dataclass, which Dask would search."""

    def __init__(self, graph: dict[Hashable, Any], key: Hashable) -> None:
        self._graph, self._key = graph, key

    def array(self) -> FloatArray:
        return np.asarray(extras.optional("dask", "dask").get(self._graph, self._key))


class Source:
    """Scores of each metric and the gold of one further label, for tasks: shared, or as instructions."""

    def __init__(self, scores: Any, gold: list[Any], by_metric: bool, shared: bool) -> None:
        self._shared, self._known = shared, dict[int, Any]()
        self._scores, self._by_metric = scores, by_metric
        self._gold = [self._for_tasks(each) for each in gold]

    def of(self, places: Sequence[int] | None) -> tuple[list[Any] | Any, list[Any]]:
        """Scores of the metrics at these places (or all), and the gold, if any."""
        if not self._by_metric:
            return self._metric(-1), self._gold
        everywhere = range(self._scores.shape[0])
        return [self._metric(at) for at in (everywhere if places is None else places)], self._gold

    def _metric(self, at: int) -> Any:
        if at not in self._known:
            self._known[at] = self._for_tasks(self._scores if at < 0 else self._scores[at])
        return self._known[at]

    def _for_tasks(self, array: Any) -> Any:
        whole = array.rechunk(-1)
        return as_task(whole) if self._shared else instructions(whole) or as_task(whole)


def instructions(array: Any) -> Made | None:
    """The graph of a one-chunk array, if it is small and holds neither scores nor what a cluster holds."""
    key = as_task(array)
    graph = dict(array.__dask_optimize__(array.__dask_graph__(), array.__dask_keys__()))
    needed = {each for task in graph.values() for each in getattr(task, "dependencies", ())}
    if not ({key.key} | needed) <= set(graph) or any(
        type(each).__module__.startswith("distributed") for each in graph.values()
    ):
        return None
    try:
        size = len(_pickled(graph))
    except (pickle.PicklingError, TypeError, AttributeError):
        return None
    return Made(graph, key.key) if size <= _INSTRUCTIONS else None


def _pickled(value: Any) -> bytes:
    return bytes(extras.optional("cloudpickle", "dask").dumps(value))


# --- What a task does ---


def _ready(job: Job[R], used: Used | None, scores: tuple[Any, list[Any]], beside: list[Any]) -> R:
    x, gold = scores
    x = [_chosen(each, used) for each in x] if isinstance(x, list) else _chosen(x, used)
    found = [*(_chosen(each, used) for each in gold), *beside]
    return job.ready(slice(0, len(job.targets)), x, *found)


def _both(systems: BoolArray, inputs: BoolArray) -> Used:
    return systems, inputs


def _chosen(array: Any, used: Used | None) -> FloatArray:
    values: FloatArray = array.array() if isinstance(array, Made) else array
    if used is None or all(each.all() for each in used):
        return np.ascontiguousarray(values)
    systems, inputs = used
    return np.ascontiguousarray(values[..., systems, :][..., inputs])


def _part(job: Job[R], blocks: range, used: Used | None, scores: Any, beside: list[Any]) -> Part:
    return blocks_of(job, _ready(job, used, scores, beside), blocks)


def _finished(
    job: Job[R], parts: list[Part] | None, keep_samples: bool, used: Used | None, scores: Any, beside: list[Any]
) -> tuple[FloatArray, FloatArray | None]:
    """Numbers and samples of the targets from all blocks; None: compute the blocks here."""
    ready = _ready(job, used, scores, beside)
    whole = blocks_of(job, ready, range(job.n_blocks)) if parts is None else _together(parts)
    numbers = job.finish(ready, whole.counts, whole.samples)
    return numbers, job.kept(ready, whole.samples) if keep_samples else None


def _together(parts: list[Part]) -> Part:
    counts = [part.counts for part in parts if part.counts is not None]
    return Part(np.sum(counts, axis=0) if counts else None, np.concatenate([part.samples for part in parts], axis=1))


# --- Memory ---


def _check_room(plan: _Plan) -> None:
    """Raise unless a task fits into a worker's memory."""
    metrics = max((len(places) for _, places in plan.groups if places), default=1)
    needed = 2 * (metrics + 1) * plan.matrix_bytes + plan.target_bytes
    room = _memory()
    if needed > room:
        raise ValueError(
            f"one task needs about {needed / 1e9:.3g} GB: {validate.counted(metrics, 'metric')} and the gold, "
            f"of {plan.matrix_bytes / 1e9:.3g} GB each, and what is made of them; there are {room / 1e9:.3g} GB for a "
            "task. Take workers with more memory, or fewer inputs"
        )


def _memory() -> float:
    distributed = sys.modules.get("distributed")
    if distributed is not None:
        try:
            told = distributed.default_client().scheduler_info(n_workers=-1)
            workers = told.get("workers", {}).values()  # a client without its scheduler knows of none
        except ValueError:  # there is no client
            workers = ()
        limits = [each["memory_limit"] / max(1, each["nthreads"]) for each in workers if each["memory_limit"]]
        if limits:
            return float(min(limits))
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return float("inf")
