"""A job, what resamples of scores give, and its two runners: on threads and with Dask, to the same bits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from xsumstat import _validate
from xsumstat.resampling import draws, threads
from xsumstat.resampling.plans import DrawPlan
from xsumstat.types import BoolArray, FloatArray, IntArray

R = TypeVar("R")

# What is made ready together, with its samples, takes about so many bytes.
BYTES_AT_ONCE = 2**26
# Cells times resamples times targets of one task: some tenths of a second, seconds where scores are tied.
_TASK = 1e9


class Job(Generic[R]):
    """Numbers of some targets (metrics, pairs of metrics, ...) from resamples of scores.

    A job says how the scores of one further label are made ready, what a block of resamples gives, and what is told in
    the end. The runner makes only so many targets ready together as keep memory small, adds counts up over blocks, and
    lays samples side by side.

    Attributes
    ----------
    targets : sequence
        What is estimated or tested, in order.
    n_resamples : int
    names : tuple of str
        The numbers that are told of each target.
    """

    targets: Sequence[Any]
    n_resamples: int
    names: tuple[str, ...]

    @property
    def n_blocks(self) -> int:
        """How many blocks of resamples there are."""
        return draws.n_blocks(self.n_resamples)

    @property
    def together(self) -> bool:
        """Whether all targets share so much work that they are made ready together."""
        return False

    def columns(self, block: int) -> slice:
        """The resamples of a block."""
        start = block * draws.BLOCK
        return slice(start, start + draws.block_rows(self.n_resamples, block))

    def bytes_each(self, x: Any, z: Any, *beside: Any) -> int:
        """About how many bytes a target takes, with its samples."""
        return 8 * self.n_resamples

    def ready(self, at: slice, x: Any, z: Any, *beside: Any) -> R:
        """The scores of one further label made ready for the targets `at` these places."""
        raise NotImplementedError

    def rows(self, ready: R) -> int:
        """How many rows of samples there are."""
        return 0

    def block(self, ready: R, block: int, out: FloatArray, stop: threading.Event | None) -> IntArray | None:
        """Fill the samples of a block, (rows, resamples of the block), and count what is counted."""
        raise NotImplementedError

    def finish(self, ready: R, counts: IntArray | None, samples: FloatArray) -> FloatArray:
        """The numbers of `names`, (names, targets), from the counts of all blocks and all samples."""
        raise NotImplementedError

    def kept(self, ready: R, samples: FloatArray) -> FloatArray:
        """The samples of the targets, (targets, n_resamples), where they are to be kept."""
        return samples


def _groups(job: Job[R], at_once: int) -> list[slice]:
    """The places of targets that are made ready together."""
    size = len(job.targets)
    step = size if job.together else max(1, at_once)
    return [slice(start, min(start + step, size)) for start in range(0, size, step)]


# --- On threads ---


def over_blocks(job: Job[R], ready: R, bar: threads.Bar = lambda: None) -> tuple[IntArray | None, FloatArray]:
    """The counts and the samples of all blocks."""
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
    """The numbers (names, labels · targets) for the scores of each further label, and the samples or None."""
    groups = _groups(job, BYTES_AT_ONCE // max(1, job.bytes_each(*labels[0])))
    numbers = np.empty((len(job.names), len(labels) * len(job.targets)))
    kept = np.empty((numbers.shape[1], job.n_resamples)) if keep_samples else None
    start = 0
    with threads.progress_bar(len(labels) * len(groups) * max(1, job.n_blocks), progress) as bar:
        for scores in labels:
            for at in groups:
                made = job.ready(at, *scores)
                counts, samples = over_blocks(job, made, bar)
                here = slice(start, start := start + at.stop - at.start)
                numbers[:, here] = job.finish(made, counts, samples)
                if kept is not None:
                    kept[here] = job.kept(made, samples)
                if not job.n_blocks:  # nothing is drawn
                    bar()
                del made, counts, samples  # before the next ones are made
    return numbers, kept


# --- Jobs that are one function ---


@dataclass(frozen=True)
class OverInputs(Job[slice]):
    """Numbers of each row, from a statistic of it, when the inputs are drawn.

    Attributes
    ----------
    targets : range
        The rows.
    statistic : callable
        From how often each input was drawn, (inputs, resamples), to the values of the rows at some places.
    told : callable
        From a row's place and its samples to the numbers of `names`.
    names : tuple of str
    n_inputs, n_resamples, seed : int
    """

    targets: range
    statistic: Callable[[FloatArray, slice], FloatArray]
    told: Callable[[int, FloatArray], Sequence[float]]
    names: tuple[str, ...]
    n_inputs: int
    n_resamples: int
    seed: int

    def bytes_each(self, x: Any = None, z: Any = None, *beside: Any) -> int:
        """About how many bytes a row's samples take."""
        return 8 * self.n_resamples

    def ready(self, at: slice, x: Any = None, z: Any = None, *beside: Any) -> slice:
        """The places of the rows."""
        return at

    def rows(self, ready: slice) -> int:
        """A row for each row."""
        return len(self.targets[ready])

    def block(self, ready: slice, block: int, out: FloatArray, stop: threading.Event | None) -> None:
        """Fill the statistics of a block's draws."""
        draw = DrawPlan((1, self.n_inputs), ("input",), self.n_resamples, self.seed).block(block)
        out[:] = self.statistic(draw.inputs.T.astype(float), ready)

    def finish(self, ready: slice, counts: IntArray | None, samples: FloatArray) -> FloatArray:
        """The numbers of each row."""
        numbered = zip(range(ready.start, ready.stop), samples, strict=True)
        return np.array([self.told(at, row) for at, row in numbered], dtype=float).T

    def run(self, progress: bool | None) -> FloatArray:
        """The numbers, (names, rows)."""
        return on_threads(self, [()], progress=progress)[0]


@dataclass(frozen=True)
class _OneByOne(Job[None]):
    """Answers for 0, 1, ..., each a block of its own."""

    answer: Callable[[int, threading.Event | None], FloatArray]
    n_rows: int
    n_resamples: int

    @property
    def n_blocks(self) -> int:
        """A block for each number."""
        return self.n_resamples

    def columns(self, block: int) -> slice:
        """The one number of a block."""
        return slice(block, block + 1)

    def rows(self, ready: None) -> int:
        return self.n_rows

    def block(self, ready: None, block: int, out: FloatArray, stop: threading.Event | None) -> None:
        out[:, 0] = self.answer(block, stop)


def one_by_one(
    answer: Callable[[int, threading.Event | None], FloatArray], n_rows: int, n: int, progress: bool | None
) -> FloatArray:
    """The answers (rows,) of the numbers 0, 1, ..., n − 1 side by side, (rows, n)."""
    with threads.progress_bar(n, progress) as bar:
        return over_blocks(_OneByOne(answer, n_rows, n), None, bar)[1]


# --- With Dask ---


@dataclass(frozen=True)
class _Part:
    """Counts and samples of some blocks."""

    counts: IntArray | None
    samples: FloatArray


def _ready(job: Job[R], at: slice, used: tuple[BoolArray, BoolArray] | None, *arrays: Any) -> R:
    """As `job.ready`, without the systems and inputs that nothing can use."""
    if used is None:
        return job.ready(at, *arrays)
    systems, inputs = used
    x, z = (np.ascontiguousarray(each[..., systems, :][..., inputs]) for each in arrays[:2])
    return job.ready(at, x, z, *arrays[2:])


def _part(job: Job[R], ready: R, blocks: range) -> _Part:
    found, samples = [], []
    for block in blocks:
        columns = job.columns(block)
        out = np.empty((job.rows(ready), columns.stop - columns.start))
        found.append(job.block(ready, block, out, None))
        samples.append(out)
    counts = [each for each in found if each is not None]
    return _Part(np.sum(counts, axis=0) if counts else None, np.concatenate(samples, axis=1))


def _finish(job: Job[R], ready: R, parts: list[_Part]) -> FloatArray:
    counts = [part.counts for part in parts if part.counts is not None]
    return job.finish(ready, np.sum(counts, axis=0) if counts else None, _side_by_side(job, ready, parts))


def _kept(job: Job[R], ready: R, parts: list[_Part]) -> FloatArray:
    return job.kept(ready, _side_by_side(job, ready, parts))


def _side_by_side(job: Job[R], ready: R, parts: list[_Part]) -> FloatArray:
    nothing = np.empty((job.rows(ready), 0))
    return np.concatenate([nothing, *(part.samples for part in parts)], axis=1)


def _ranges(n_blocks: int, work: float) -> list[range]:
    """Blocks in runs of about a task's work, `work` being that of all of them."""
    step = max(1, min(n_blocks, int(n_blocks * _TASK / max(work, 1.0))))
    return [range(start, min(start + step, n_blocks)) for start in range(0, n_blocks, step)]


def with_dask(
    job: Job[R],
    *arrays: Any,
    lead: tuple[int, ...],
    used: tuple[Any, Any] | None,
    keep_samples: bool = False,
) -> tuple[Any, Any]:
    """The lazy numbers of all targets, (names, ..., targets), and the lazy samples (..., targets, n_resamples) or None.

    Parameters
    ----------
    arrays : Dask arrays, with the same leading dims
        The scores (..., systems, inputs), mostly the gold (..., systems, inputs), and what else belongs to the targets.
    lead : tuple of int
        The sizes of the leading dims, the further labels.
    used : two bool arrays, or None
        Systems and inputs of scores and gold that are kept, lazy or not; None keeps all.
    keep_samples : bool
    """
    dask, da = _validate.optional("dask", "dask"), _validate.optional("dask.array", "dask")
    work = max(1.0, float(job.n_resamples * arrays[0].shape[-2] * arrays[0].shape[-1]))
    summaries, samples = [], []
    for label in np.ndindex(lead):
        for at in _groups(job, int(_TASK / work)):
            scores = [each[label] for each in arrays]
            made = dask.delayed(_ready)(job, at, used, *scores)
            size = at.stop - at.start
            parts = [dask.delayed(_part)(job, made, blocks) for blocks in _ranges(job.n_blocks, work * size)]
            reduced = dask.delayed(_finish)(job, made, parts)
            summaries.append(da.from_delayed(reduced, (len(job.names), size), dtype=float))
            if keep_samples:
                kept = dask.delayed(_kept)(job, made, parts)
                samples.append(da.from_delayed(kept, (size, job.n_resamples), dtype=float))
    found = da.concatenate(summaries, axis=1).reshape(len(job.names), *lead, len(job.targets))
    if not keep_samples:
        return found, None
    return found, da.concatenate(samples, axis=0).reshape(*lead, len(job.targets), job.n_resamples)
