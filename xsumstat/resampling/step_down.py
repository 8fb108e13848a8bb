"""The step-down procedure for lazy draws: no task holds more than a few tests' draws, or a few draws of all."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from operator import getitem
from typing import Any

import numpy as np
import numpy.typing as npt

from xsumstat.core import extras
from xsumstat.core.types import BoolArray, FloatArray, IntArray
from xsumstat.inference import corrections
from xsumstat.inference.corrections import Pool
from xsumstat.resampling import jobs

Counts = npt.NDArray[np.unsignedinteger[Any]]


def with_dask(pvalues: Any, samples: Any, observed: Any, row: IntArray, pool: Pool, *, lead: int) -> Any:
    """Lazy step-down p-values of every family, laid out as `pvalues`, identical to `corrections.step_down`."""
    # Families lie along the first `lead` dims. `row` (shape of `pvalues`) is a test's row of `samples` in C order from
    # 1; negative for turned signs, 0 for no test.
    da = extras.optional("dask.array", "dask")
    pvalues = pvalues.rechunk({axis: 1 if axis < lead else -1 for axis in range(pvalues.ndim)})
    samples = samples.rechunk(_few_tests(samples.chunks), method="tasks", block_size_limit=jobs.BYTES_AT_ONCE)
    observed = observed.rechunk(samples.chunks[:-1], method="tasks")
    row = row.reshape(int(np.prod(row.shape[:lead])), -1)
    parts = _parts(row, samples.chunks[:-1])
    if not parts:
        return da.full_like(pvalues, np.nan)
    counts = _counted(parts, samples, observed, pool)
    sizes = np.bincount([part.family for part in parts], [len(part.cells) for part in parts]).astype(int)
    step = max(1, jobs.BYTES_AT_ONCE // (int(sizes.max()) * counts.dtype.itemsize))
    blocks = counts.rechunk(
        (tuple(sizes[sizes > 0].tolist()), step), method="tasks", block_size_limit=jobs.BYTES_AT_ONCE
    )
    return _summed(parts, pvalues, counts, blocks)


# --- Which tests are where ---


@dataclass(frozen=True)
class _Part:
    """Tests of one family whose draws are in one chunk: places in the family (`cells`) and in the chunk (`rows`)."""

    family: int
    chunk: tuple[int, ...]
    cells: IntArray
    rows: IntArray
    turned: BoolArray


def _few_tests(chunks: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    *axes, resamples = chunks
    most = max(1, jobs.BYTES_AT_ONCE // (8 * max(1, sum(resamples))))
    out: list[tuple[int, ...]] = [(sum(resamples),)]
    for sizes in reversed(axes):
        split = [min(most, size - start) for size in sizes for start in range(0, size, most)]
        out.insert(0, tuple(split))
        most = max(1, most // max(split, default=1))
    return tuple(out)


def _parts(row: IntArray, chunks: Sequence[Sequence[int]]) -> list[_Part]:
    family, cell = np.nonzero(row)
    numbers = row[family, cell]
    starts = [np.concatenate([[0], np.cumsum(sizes)]) for sizes in chunks]
    place = np.unravel_index(np.abs(numbers) - 1, [sum(sizes) for sizes in chunks])
    chunk = np.array([np.searchsorted(start, at, side="right") - 1 for start, at in zip(starts, place, strict=True)])
    order = np.lexsort((cell, *chunk[::-1], family))
    where = np.vstack([family, chunk])[:, order]
    ends = [*(np.flatnonzero((where[:, 1:] != where[:, :-1]).any(axis=0)) + 1).tolist(), len(order)]
    parts = []
    for at in (order[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True) if end > start):
        here = tuple(chunk[:, at[0]].tolist())
        inside = [each[at] - start[index] for each, start, index in zip(place, starts, here, strict=True)]
        shape = [sizes[index] for sizes, index in zip(chunks, here, strict=True)]
        rows = np.ravel_multi_index(inside, shape)
        parts.append(_Part(int(family[at[0]]), here, cell[at], rows, numbers[at] < 0))
    return parts


# --- From draws to counts, test by test ---


def _counted(parts: Sequence[_Part], samples: Any, observed: Any, pool: Pool) -> Any:
    """Counts of all tests, (tests, members), a chunk for each part; and each part's `defined`."""
    base, da = (extras.optional(f"dask.{name}", "dask") for name in ("base", "array"))
    by_chunk: dict[tuple[int, ...], list[int]] = {}
    for number, part in enumerate(parts):
        by_chunk.setdefault(part.chunk, []).append(number)
    size = pool.size(samples.shape[-1])
    dtype = np.min_scalar_type(size)
    name = "step-down-counts-" + base.tokenize(samples.name, observed.name, parts, pool)
    tasks: dict[Hashable, Any] = {}
    for chunk, numbers in by_chunk.items():
        made = (f"{name}-made", *chunk)
        few = tuple((parts[number].rows, parts[number].turned) for number in numbers)
        tasks[made] = (_Counting(few, pool, dtype), (samples.name, *chunk, 0), (observed.name, *chunk))
        for at, number in enumerate(numbers):
            tasks[name, number, 0] = (getitem, made, 2 * at)
            tasks[_defined(name, number)] = (getitem, made, 2 * at + 1)
    lengths = tuple(len(part.cells) for part in parts)
    return da.Array(_graph(name, tasks, samples, observed), name, chunks=(lengths, (size,)), dtype=dtype)


def _defined(name: str, part: int) -> Hashable:
    """Task for the number of defined members of each test's pool."""
    return f"{name}-defined", part


@dataclass(frozen=True)
class _Counting:
    parts: tuple[tuple[IntArray, BoolArray], ...]
    pool: Pool
    dtype: np.dtype[Any]

    def __call__(self, samples: FloatArray, observed: FloatArray) -> list[Any]:
        samples, observed = samples.reshape(-1, samples.shape[-1]), observed.ravel()
        out: list[Any] = []
        for rows, turned in self.parts:
            counts = np.empty((len(rows), self.pool.size(samples.shape[-1])), dtype=self.dtype)
            defined = np.empty(len(rows), dtype=np.int64)
            for at, (row, turn) in enumerate(zip(rows, turned, strict=True)):
                draws, difference = (-samples[row], -observed[row]) if turn else (samples[row], observed[row])
                counts[at], defined[at] = self.pool.counts(draws, difference)
            out += [counts, defined]
        return out


# --- From counts to p-values, family by family ---


def _summed(parts: Sequence[_Part], pvalues: Any, counts: Any, blocks: Any) -> Any:
    """Step-down p-values from blocks of counts, a row of blocks for each family with tests."""
    base, da = (extras.optional(f"dask.{name}", "dask") for name in ("base", "array"))
    of: dict[int, list[int]] = {}
    for number, part in enumerate(parts):
        of.setdefault(part.family, []).append(number)
    place = {family: at for at, family in enumerate(of)}
    name = "step-down-" + base.tokenize(pvalues.name, blocks.name, counts.name)
    tasks: dict[Hashable, Any] = {}
    for family, index in enumerate(np.ndindex(pvalues.numblocks)):
        found = []
        cells = np.concatenate([np.empty(0, dtype=np.int64), *(parts[number].cells for number in of.get(family, ()))])
        mine = _Family(cells, blocks.shape[1])
        for at in range(blocks.numblocks[1] if family in of else 0):
            found.append((f"{name}-reached", family, at))
            defined = [_defined(counts.name, number) for number in of[family]]
            tasks[found[-1]] = (mine.reached, (pvalues.name, *index), (blocks.name, place[family], at), defined)
        tasks[name, *index] = (mine.step_down, (pvalues.name, *index), found)
    return da.Array(_graph(name, tasks, pvalues, counts, blocks), name, chunks=pvalues.chunks, dtype=float)


@dataclass(frozen=True)
class _Family:
    """Tests of a family: places in the order of their counts, and the size of a pool."""

    cells: IntArray
    size: int

    def reached(self, pvalues: FloatArray, counts: Counts, defined: list[IntArray]) -> IntArray:
        """In how many of some pool members each test's p-value is reached."""
        order = np.argsort(self.cells)
        rows = [counts[at] for at in order]
        return corrections.step_down_counts(pvalues.ravel()[self.cells[order]], rows, np.concatenate(defined)[order])

    def step_down(self, pvalues: FloatArray, reached: list[IntArray]) -> FloatArray:
        """Step-down p-values from all blocks; NaN without a test."""
        out = np.full(pvalues.size, np.nan)
        cells = np.sort(self.cells)
        if len(cells):
            shares = np.sum(reached, axis=0) / self.size
            out[cells] = corrections.step_down_of_shares(pvalues.ravel()[cells], shares)
        return out.reshape(pvalues.shape)


def _graph(name: str, tasks: dict[Hashable, Any], *needed: Any) -> Any:
    graphs = extras.optional("dask.highlevelgraph", "dask").HighLevelGraph
    return graphs.from_collections(name, tasks, dependencies=needed)
