"""Counts over pairs of outputs of each input, by two metrics or by all, on threads or with Dask, to the same bits."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses.normalised_scores import Bands, extremes, mean_normalised, normalised
from xsumstat.coefficients.arrays import check_finite
from xsumstat.core import extras
from xsumstat.core.types import Bits, BoolArray, FloatArray, IntArray, Pair
from xsumstat.dataset import pair_results
from xsumstat.kernels import bits as bit_kernels
from xsumstat.kernels import outputs as kernels
from xsumstat.resampling import draws, jobs, tasks
from xsumstat.resampling.jobs import AtOnce

# Numbers of two metrics' disagreement in a bin.
NAMES = ("share", "ci_low", "ci_high", "n_pairs")
# Approximate bytes of the scores that one task reads, where all metrics are needed.
_BLOCK = 2**27
# So many inputs at a time are laid side by side for a task that looks at one after the other.
_INPUTS = 256
# Number of outputs from which pairs are counted by bits.
_MANY = 150
# So many pairs at a time are drawn.
_DRAWN = 2**18


@dataclass(frozen=True)
class Counting:
    """How pairs of outputs are counted; at most `max_pairs` of an input."""

    n_bins: int
    max_pairs: int
    normalise: str
    seed: int

    def opposite(
        self, x: tuple[FloatArray, FloatArray], height: tuple[FloatArray, FloatArray], at: int, *out: Any
    ) -> bool:
        """Add the opposite pairs and all pairs of input `at` to two arrays (bins,); return whether they were drawn."""
        there = ~(np.isnan(x[0]) | np.isnan(x[1]))
        first, second, mean = x[0][there], x[1][there], (height[0][there] + height[1][there]) / 2
        n = len(first)
        if n * (n - 1) // 2 <= self.max_pairs:
            (_count_many if n >= _MANY else kernels.count_opposite)(first, second, mean, self.n_bins, *out)
            return False
        for drawn in drawn_pairs(n, self.max_pairs, draws.generator(self.seed, at)):
            kernels.count_opposite_drawn(first, second, mean, drawn, self.n_bins, *out)
        return True

    def improving(self, x: FloatArray, height: FloatArray, at: int) -> tuple[FloatArray, bool]:
        """Of the outputs of input `at` the sum of F/N, how many have one, and the best, (3, bins); were they drawn."""
        ratios, outputs, best = found = np.zeros((3, self.n_bins))
        there = np.flatnonzero(~np.isnan(x).any(axis=0))
        n = len(there)
        chosen, drawn = np.arange(n), n * (n - 1) > self.max_pairs
        if drawn:
            chosen = np.sort(draws.generator(self.seed, at).permutation(n)[: max(1, self.max_pairs // (n - 1))])
        some, every = np.empty((2, len(chosen)), dtype=np.int64)
        kernels.improvements(np.ascontiguousarray(x[:, there].T), chosen, some, every)
        bins = np.array([kernels.place(each, self.n_bins) for each in height[there[chosen]]], dtype=np.int64)
        improvable = some > 0
        np.add.at(ratios, bins[improvable], every[improvable] / some[improvable])
        np.add.at(outputs, bins[improvable], 1)
        np.add.at(best, bins[~improvable], 1)
        return found, drawn


def _count_many(x: FloatArray, z: FloatArray, height: FloatArray, n_bins: int, *out: Any) -> None:
    by_height = np.argsort(height)
    x, z, height = x[by_height], z[by_height], height[by_height]
    words = -(-len(x) // 64)
    bits, row = np.empty((4, len(x), words), np.uint64), np.empty(words + 1, np.uint64)
    scratch = bits, row, np.empty(words + 1, np.int64), np.empty(n_bins + 1, np.int64)
    bit_kernels.count_opposite(x, z, np.argsort(x), np.argsort(z), height, n_bins, *scratch, *out)


def drawn_pairs(n: int, size: int, generator: np.random.Generator) -> Iterator[IntArray]:
    """So many pairs of two different of n outputs, each as likely, some at a time."""
    parts = [slice(start, min(start + _DRAWN, size)) for start in range(0, size, _DRAWN)]
    first = np.empty(size, dtype=np.int32)
    for at in parts:
        first[at] = generator.integers(0, n, at.stop - at.start)
    for at in parts:
        second = (first[at] + generator.integers(1, n, at.stop - at.start)) % n
        yield np.array([first[at], second], dtype=np.int64).T.copy()


# --- On threads ---


def opposite_counts(
    x: FloatArray, pairs: IntArray, counting: Counting, progress: bool | None
) -> tuple[FloatArray, BoolArray]:
    """The pairs of outputs that pairs of metrics order oppositely, and all, (2, pairs, bins, inputs); where drawn."""
    height, sampled = np.empty_like(x), np.zeros(x.shape[2], dtype=bool)
    for metric, (each, ends) in enumerate(zip(x, np.moveaxis(extremes(x), 1, 0), strict=True)):
        height[metric] = normalised(each, ends, counting.normalise)

    def of_input(at: int, stop: threading.Event | None) -> FloatArray:
        opposite, total = np.zeros((2, len(pairs), counting.n_bins), dtype=np.int64)
        for place, (one, two) in enumerate(pairs):
            if stop is not None and stop.is_set():
                break
            scores, high = (x[one, :, at], x[two, :, at]), (height[one, :, at], height[two, :, at])
            sampled[at] |= counting.opposite(scores, high, at, opposite[place], total[place])
        return np.array([opposite, total], dtype=float).ravel()

    counts = jobs.one_by_one(of_input, 2 * len(pairs) * counting.n_bins, x.shape[2], progress)
    return counts.reshape(2, len(pairs), counting.n_bins, -1), sampled


def improving_counts(x: FloatArray, counting: Counting, progress: bool | None) -> tuple[FloatArray, BoolArray]:
    """Sums of F/N, outputs that have one, and best ones, (3, bins, inputs); where outputs were drawn."""
    height, sampled = mean_normalised(x, extremes(x), counting.normalise), np.zeros(x.shape[2], dtype=bool)

    def of_input(at: int, stop: threading.Event | None) -> FloatArray:
        found, sampled[at] = counting.improving(x[:, :, at], height[:, at], at)
        return found.ravel()

    counts = jobs.one_by_one(of_input, 3 * counting.n_bins, x.shape[2], progress)
    return counts.reshape(3, counting.n_bins, -1), sampled


# --- Numbers of results ---


def opposite_numbers(counts: FloatArray, bands: Bands, run: Any) -> FloatArray:
    """The numbers of `NAMES`, (names, pairs, bins), of counts (2, pairs, bins, inputs)."""
    shares = bands.of(counts[0], counts[1], run, whole_numbers=True)
    return np.concatenate([shares, counts[1].sum(axis=-1)[None]])


def improving_numbers(counts: FloatArray, bands: Bands, run: Any) -> FloatArray:
    """The ratio, its limits, outputs that have one, and best ones, (5, bins), of counts (3, bins, inputs)."""
    ratios = bands.of(counts[0], counts[1], run)
    return np.concatenate([ratios, counts[1:].sum(axis=-1)])


def square(numbers: FloatArray, pairs: IntArray, size: int) -> FloatArray:
    """Numbers of `NAMES` of pairs of metrics, (names, pairs, bins), as tables (names, metrics, metrics, bins)."""
    tables = [pair_results.symmetric(each, pairs, size) for each in numbers[:-1]]
    return np.array([*tables, pair_results.symmetric(numbers[-1].astype(int), pairs, size)])


# --- With Dask ---


def _in_turn(job: jobs.OverInputs) -> FloatArray:
    """The numbers of a job (names, rows), its blocks one after the other, as a task of Dask has one thread."""
    return np.concatenate([jobs.in_turn(job, job.ready(at)) for at in job.batches()], axis=1)


@dataclass(frozen=True)
class _Opposite(AtOnce):
    targets: tuple[Pair, ...]
    counting: Counting
    bands: Bands
    names: tuple[str, ...]

    def metrics_of(self, target: Pair) -> Pair:
        return target

    def narrowed(self, at: slice, places: Sequence[int] | None) -> _Opposite:
        assert places is not None
        return replace(self, targets=tuple((places.index(one), places.index(two)) for one, two in self.targets[at]))

    def bytes_each(self, x: Any, *beside: Any) -> int:
        return 16 * self.counting.n_bins * int(x.shape[-1])

    def work(self, x: Any) -> int:
        outputs = int(x.shape[-2])
        return int(x.shape[-1]) * min(outputs * (outputs - 1) // 2, self.counting.max_pairs)

    def ready(self, at: slice, x: Sequence[FloatArray], *beside: Any) -> FloatArray:
        pairs = self.targets[at]
        counts = np.zeros((2, len(pairs), self.counting.n_bins, x[0].shape[-1]))
        for number, scores, high in _columns(x, self.counting.normalise):
            found = np.zeros((2, len(pairs), self.counting.n_bins), dtype=np.int64)
            for place, (one, two) in enumerate(pairs):
                both = (scores[one], scores[two]), (high[one], high[two])
                self.counting.opposite(*both, number, found[0, place], found[1, place])
            counts[..., number] = found
        numbers = opposite_numbers(counts, self.bands, _in_turn)
        return numbers.transpose(0, 2, 1).reshape(-1, len(pairs))


def _columns(x: Sequence[FloatArray], within: str) -> Iterator[tuple[int, FloatArray, FloatArray]]:
    ends = [extremes(each) for each in x]
    check_finite(*ends)
    for start in range(0, x[0].shape[-1], _INPUTS):
        some = [each[:, start : start + _INPUTS] for each in x]
        high = [normalised(each, own, within) for each, own in zip(some, ends, strict=True)]
        laid = (np.stack([each.T for each in both], axis=1) for both in (some, high))
        for at, (scores, height) in enumerate(zip(*laid, strict=True)):
            yield start + at, scores, height


def lazily_opposite(score: xr.DataArray, pairs: IntArray, counting: Counting, bands: Bands) -> Any:
    """The tables of `square`, a Dask array, of lazy scores."""
    dask, da = extras.optional("dask", "dask"), extras.optional("dask.array", "dask")
    n_bins, size = counting.n_bins, score.sizes["metric"]
    names = tuple(f"{name}_{at}" for name in NAMES for at in range(n_bins))
    job = _Opposite(tuple((int(one), int(two)) for one, two in pairs), counting, bands, names)
    numbers, _ = tasks.with_dask(job, score.data, lead=(), used=None)
    tables = dask.delayed(partial(_square, pairs=pairs, size=size))(tasks.as_task(numbers))
    return da.from_delayed(tables, (len(NAMES), size, size, n_bins), dtype=float)


def _square(numbers: FloatArray, pairs: IntArray, size: int) -> FloatArray:
    return square(numbers.reshape(len(NAMES), -1, len(pairs)).transpose(0, 2, 1), pairs, size)


def lazily_drawn(score: xr.DataArray, max_pairs: int) -> Any:
    """Of how many inputs two metrics have both scored outputs that make more pairs; a lazy number, or 0 for sure."""
    systems = score.sizes["system"]
    if systems * (systems - 1) // 2 <= max_pairs:
        return 0
    chunks = score.data.chunks[0], (-(-systems // 8),), score.data.chunks[2]
    bits = score.data.map_blocks(_there, dtype=np.uint8, chunks=chunks)
    return extras.optional("dask", "dask").delayed(partial(_n_drawn, max_pairs=max_pairs))(bits)


def _there(x: FloatArray) -> Bits:
    """Where scores (metrics, systems, inputs) are, a bit each, (metrics, bytes, inputs)."""
    return np.packbits(~np.isnan(x), axis=1)


def _n_drawn(bits: Bits, max_pairs: int) -> int:
    drawn = np.zeros(bits.shape[2], dtype=bool)
    for one, two in combinations(bits, 2):
        n = np.bitwise_count(one & two).sum(axis=0, dtype=np.int64)
        drawn |= n * (n - 1) // 2 > max_pairs
    return int(drawn.sum())


def lazily_improving(score: xr.DataArray, counting: Counting, bands: Bands) -> Any:
    """`improving_numbers` and the number of sampled inputs, (6, bins), a Dask array."""
    dask, da = extras.optional("dask", "dask"), extras.optional("dask.array", "dask")
    n_inputs = score.sizes["input"]
    step = max(1, -(-n_inputs // -(-8 * score.size // _BLOCK)))
    parts = [slice(start, min(start + step, n_inputs)) for start in range(0, n_inputs, step)]
    metrics = _by_metric(score.data)
    ends = dask.delayed(partial(np.concatenate, axis=1))([dask.delayed(_ends)(each) for each in metrics])
    pieces = [_pieces(each, parts) for each in metrics]
    found = [
        dask.delayed(partial(_improving, counting=counting, at=at))([each[place] for each in pieces], ends)
        for place, at in enumerate(parts)
    ]
    numbers = dask.delayed(partial(_numbers, bands=bands))(found)
    return da.from_delayed(numbers, (6, counting.n_bins), dtype=float)


def _by_metric(data: Any) -> list[Any]:
    """The scores of each metric: as they are, or as what makes them where all of them are too many to be held."""
    return list(tasks.Source(data, [], True, 8 * data.size <= tasks.SHARED).of(None)[0])


def _pieces(metric: Any, parts: list[slice]) -> list[Any]:
    if isinstance(metric, tasks.Made):
        return [(metric, at) for at in parts]
    dask = extras.optional("dask", "dask")
    cut = dask.delayed(partial(_cut, parts=parts), nout=len(parts))(metric)
    return list(cut)


def _array(metric: Any) -> FloatArray:
    found = metric.array() if isinstance(metric, tasks.Made) else metric
    return np.asarray(found)


def _ends(metric: Any) -> FloatArray:
    ends = extremes(_array(metric)[None])
    check_finite(ends)
    return ends


def _cut(metric: FloatArray, parts: list[slice]) -> list[FloatArray]:
    """Copies: a part must not keep all inputs in memory."""
    return [_array(metric)[:, at].copy() for at in parts]


def _improving(pieces: list[Any], ends: FloatArray, counting: Counting, at: slice) -> FloatArray:
    first = pieces[0] if isinstance(pieces[0], np.ndarray) else _array(pieces[0][0])[:, at]
    x = np.empty((len(pieces), *first.shape))
    for metric, piece in enumerate(pieces):
        x[metric] = piece if isinstance(piece, np.ndarray) else _array(piece[0])[:, at]
    height = mean_normalised(x, ends, counting.normalise)
    out = np.empty((3 * counting.n_bins + 1, x.shape[2]))
    for column, number in enumerate(range(at.start, at.stop)):
        found, out[-1, column] = counting.improving(x[:, :, column], height[:, column], number)
        out[:-1, column] = found.ravel()
    return out


def _numbers(found: list[FloatArray], bands: Bands) -> FloatArray:
    counts = np.concatenate(found, axis=1)
    numbers = improving_numbers(counts[:-1].reshape(3, -1, counts.shape[1]), bands, _in_turn)
    n_drawn = np.full(numbers.shape[1], counts[-1].sum())
    return np.concatenate([numbers, n_drawn[None]])
