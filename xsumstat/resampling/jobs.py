"""A job over resamples of scores, and its runner on threads; `tasks` runs it with Dask, with identical results."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np

from xsumstat.coefficients import arrays
from xsumstat.coefficients.record import Measure
from xsumstat.core.types import FloatArray, IntArray
from xsumstat.resampling import draws, threads
from xsumstat.resampling.plans import DrawPlan

R = TypeVar("R")
# One metric, or two of which the second's correlation is taken from the first's.
Target = tuple[int, ...]

# Approximate bytes of the targets that are prepared together, with their samples.
BYTES_AT_ONCE = 2**26


class Job(Generic[R]):
    """Numbers `names` of some targets (metrics, pairs ...) from resamples of the scores of one further label."""

    # The runner prepares as many targets together as memory allows, adds counts over blocks, and joins samples.

    targets: Sequence[Any]
    n_resamples: int
    names: tuple[str, ...]

    @property
    def n_blocks(self) -> int:
        return draws.n_blocks(self.n_resamples)

    @property
    def together(self) -> bool:
        """Whether all targets share so much work that they are prepared together."""
        return False

    def columns(self, block: int) -> slice:
        start = block * draws.BLOCK
        return slice(start, start + draws.block_rows(self.n_resamples, block))

    def bytes_each(self, x: Any, z: Any, *beside: Any) -> int:
        """Approximate bytes of a target with its samples."""
        return 8 * self.n_resamples

    def at_once(self, x: Any = None, z: Any = None, *beside: Any) -> int:
        return max(1, BYTES_AT_ONCE // max(1, self.bytes_each(x, z, *beside)))

    def metrics_at_once(self, shape: tuple[int, int]) -> int:
        """Most metrics, (systems, inputs), that a task sees."""
        return BYTES_AT_ONCE // (8 * shape[0] * shape[1])

    def batches(self, x: Any = None, z: Any = None, *beside: Any) -> list[slice]:
        size = len(self.targets)
        step = max(1, size) if self.together else self.at_once(x, z, *beside)
        return [slice(start, min(start + step, size)) for start in range(0, size, step)]

    def work(self, x: Any) -> float:
        """Approximate work of a target: cells times resamples."""
        return float(max(1, self.n_resamples) * x.shape[-2] * x.shape[-1])

    def metrics_of(self, target: Any) -> tuple[int, ...] | None:
        """Places of the metrics that a target needs; None for all."""
        return None

    def narrowed(self, at: slice, places: Sequence[int] | None) -> Job[R]:
        """A job of the targets `at` these places; its scores belong to the metrics at `places`, or all."""
        job: Any = self
        narrow: Job[R] = replace(job, targets=self.targets[at])
        return narrow

    def ready(self, at: slice, x: Any, z: Any, *beside: Any) -> R:
        """The scores of one further label, prepared for the targets `at` these places."""
        raise NotImplementedError

    def rows(self, ready: R) -> int:
        return 0

    def block(self, ready: R, block: int, out: FloatArray, stop: threading.Event | None) -> IntArray | None:
        """Fill the samples of a block, (rows, resamples of the block), and return counts."""
        raise NotImplementedError

    def finish(self, ready: R, counts: IntArray | None, samples: FloatArray) -> FloatArray:
        """The numbers of `names`, (names, targets), from the counts and samples of all blocks."""
        raise NotImplementedError

    def kept(self, ready: R, samples: FloatArray) -> FloatArray:
        """Samples of the targets, (targets, n_resamples), where they are kept."""
        return samples


class AtOnce(Job[FloatArray]):
    """A job whose numbers, (names, targets), exist once it is ready; nothing is drawn."""

    n_resamples = 0

    def block(self, ready: FloatArray, block: int, out: FloatArray, stop: threading.Event | None) -> None:
        """There are no resamples."""

    def finish(self, ready: FloatArray, counts: IntArray | None, samples: FloatArray) -> FloatArray:
        return ready


def sharing(job: Job[Any], most_targets: int, most_metrics: int) -> list[tuple[slice, list[int] | None]]:
    """Targets in order, as many together as allowed, and the metrics that they need."""
    groups: list[tuple[slice, list[int] | None]] = []
    start, needed = 0, set(job.metrics_of(job.targets[0]) or ())
    for at in range(1, len(job.targets) + 1):
        more = set() if at == len(job.targets) else set(job.metrics_of(job.targets[at]) or ())
        if at == len(job.targets) or at - start >= most_targets or len(needed | more) > max(most_metrics, len(more)):
            groups.append((slice(start, at), sorted(needed) or None))
            start, needed = at, set()
        needed |= more
    return groups


# --- Block after block ---


@dataclass(frozen=True)
class Part:
    """Counts and samples of some blocks."""

    counts: IntArray | None
    samples: FloatArray


def blocks_of(job: Job[R], ready: R, blocks: range) -> Part:
    start = job.columns(blocks[0]).start if blocks else 0
    samples = np.empty((job.rows(ready), job.columns(blocks[-1]).stop - start if blocks else 0))
    totals: IntArray | None = None
    for block in blocks:
        columns = job.columns(block)
        counts = job.block(ready, block, samples[:, columns.start - start : columns.stop - start], None)
        totals = counts if totals is None else totals if counts is None else totals + counts
    return Part(totals, samples)


def in_turn(job: Job[R], ready: R) -> FloatArray:
    """The numbers of a job, (names, targets), without threads."""
    whole = blocks_of(job, ready, range(job.n_blocks))
    return job.finish(ready, whole.counts, whole.samples)


# --- On threads ---


def over_blocks(job: Job[R], ready: R, bar: threads.Bar = lambda: None) -> tuple[IntArray | None, FloatArray]:
    samples = np.empty((job.rows(ready), job.n_resamples))
    totals: list[IntArray] = []
    lock = threading.Lock()

    def work(block: int, stop: threading.Event) -> None:
        counts = job.block(ready, block, samples[:, job.columns(block)], stop)
        if counts is not None:
            with lock:
                totals[:] = [totals[0] + counts] if totals else [counts]

    threads.over_blocks(work, job.n_blocks, bar)
    return totals[0] if totals else None, samples


def on_threads(
    job: Job[R], labels: Sequence[tuple[Any, ...]], *, keep_samples: bool = False, progress: bool | None = None
) -> tuple[FloatArray, FloatArray | None]:
    """Numbers (names, labels · targets) for the scores of each further label, and the samples or None."""
    parts = job.batches(*labels[0])
    numbers = np.empty((len(job.names), len(labels) * len(job.targets)))
    kept = np.empty((numbers.shape[1], job.n_resamples)) if keep_samples else None
    start = 0
    with threads.progress_bar(len(labels) * len(parts) * max(1, job.n_blocks), progress) as bar:
        for scores in labels:
            for at in parts:
                ready = job.ready(at, *scores)
                counts, samples = over_blocks(job, ready, bar)
                here = slice(start, start := start + at.stop - at.start)
                numbers[:, here] = job.finish(ready, counts, samples)
                if kept is not None:
                    kept[here] = job.kept(ready, samples)
                if not job.n_blocks:  # nothing is drawn
                    bar()
                del ready, counts, samples  # before the next ones are made
    return numbers, kept


# --- Jobs of metrics ---


class OfMetrics(Job[R]):
    """A job whose targets are metrics, or pairs of them, by place."""

    targets: Sequence[Target]
    measure: Measure

    def metrics_of(self, target: Target) -> Target:
        return target

    def narrowed(self, at: slice, places: Sequence[int] | None) -> Job[R]:
        assert places is not None
        targets = tuple(tuple(places.index(metric) for metric in target) for target in self.targets[at])
        job: Any = self
        narrow: Job[R] = replace(job, targets=targets, measure=self.measure.of_metrics(places))
        return narrow


@dataclass(frozen=True)
class Formula(AtOnce, OfMetrics[FloatArray]):
    """Numbers of each target by a formula of scores (metrics, systems, inputs), gold or None, targets and measure."""

    targets: tuple[Target, ...]
    measure: Measure
    formula: Callable[[FloatArray, Any, Any, Measure], Any]
    names: tuple[str, ...]

    @property
    def together(self) -> bool:
        """The work for each metric serves all its pairs."""
        return True

    def bytes_each(self, x: Any, z: Any = None, *beside: Any) -> int:
        return arrays.footprint((x.shape[-2], x.shape[-1]), self.measure.level)

    def ready(self, at: slice, x: FloatArray, z: Any = None, *beside: Any) -> FloatArray:
        return np.array(self.formula(x, z, self.targets[at], self.measure), dtype=float)


# --- Jobs that are one function ---


@dataclass(frozen=True)
class OverInputs(Job[slice]):
    """Numbers of each row from a statistic of resampled inputs."""

    targets: range
    statistic: Callable[[FloatArray, slice], FloatArray]
    numbers_of: Callable[[int, FloatArray], Sequence[float]]
    names: tuple[str, ...]
    n_inputs: int
    n_resamples: int
    seed: int

    def ready(self, at: slice, x: Any = None, z: Any = None, *beside: Any) -> slice:
        return at

    def rows(self, ready: slice) -> int:
        return len(self.targets[ready])

    def block(self, ready: slice, block: int, out: FloatArray, stop: threading.Event | None) -> None:
        for at, draw in DrawPlan((1, self.n_inputs), ("input",), self.n_resamples, self.seed).pieces(block):
            out[:, at] = self.statistic(draw.inputs.T.astype(float), ready)

    def finish(self, ready: slice, counts: IntArray | None, samples: FloatArray) -> FloatArray:
        numbered = zip(range(ready.start, ready.stop), samples, strict=True)
        return np.array([self.numbers_of(at, row) for at, row in numbered], dtype=float).T

    def run(self, progress: bool | None) -> FloatArray:
        return on_threads(self, [()], progress=progress)[0]


@dataclass(frozen=True)
class _OneByOne(Job[None]):
    """Answers for 0, 1, ..., each its own block."""

    answer: Callable[[int, threading.Event | None], FloatArray]
    n_rows: int
    n_resamples: int

    @property
    def n_blocks(self) -> int:
        return self.n_resamples

    def columns(self, block: int) -> slice:
        return slice(block, block + 1)

    def rows(self, ready: None) -> int:
        return self.n_rows

    def block(self, ready: None, block: int, out: FloatArray, stop: threading.Event | None) -> None:
        out[:, 0] = self.answer(block, stop)


def one_by_one(
    answer: Callable[[int, threading.Event | None], FloatArray], n_rows: int, n: int, progress: bool | None
) -> FloatArray:
    """Answers (rows,) for 0, 1, ..., n − 1 side by side, (rows, n)."""
    with threads.progress_bar(n, progress) as bar:
        return over_blocks(_OneByOne(answer, n_rows, n), None, bar)[1]
