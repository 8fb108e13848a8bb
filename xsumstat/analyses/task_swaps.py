"""Pairs of metrics in the swaps of tasks: in blocks that fit into memory, summed over tasks, and kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses.task_averages import Averages, PairSums
from xsumstat.core.types import FloatArray, IntArray

# Approximate bytes of the swaps of a block of pairs, summed over tasks.
_SUMS_AT_ONCE = 2**27
# Coordinates of kept swaps: metric and other metric of each pair.
PAIR = ("pair_metric", "pair_other_metric")

# The differences (pairs,) and swaps (pairs, resample) of a task's pairs, given the task and the places of the metrics.
SwapsOf = Callable[[int, IntArray, IntArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True)
class Block:
    """The pairs of metrics at `rows` with those behind them at `columns`."""

    rows: range
    columns: range

    def pairs(self) -> tuple[IntArray, IntArray]:
        """Places of the metrics of each pair."""
        rows, columns = np.array(self.rows), np.array(self.columns)
        row, column = np.nonzero(rows[:, None] < columns)
        return rows[row], columns[column]

    def cut(self, at_once: int) -> Iterator[Block]:
        """The same pairs in blocks of at most `at_once` cells, nearly square: each has few metrics to prepare."""
        height = min(len(self.rows), max(1, math.isqrt(at_once)))
        width = max(1, at_once // height)
        for start in range(self.rows.start, self.rows.stop, height):
            rows = range(start, min(self.rows.stop, start + height))
            columns = range(max(self.columns.start, start + 1), self.columns.stop)
            for at in range(0, len(columns), width):
                yield Block(rows, columns[at : at + width])


def all_pairs(size: int) -> Block:
    """All pairs of metrics."""
    return Block(range(size - 1), range(1, size))


def blocks(size: int, n_resamples: int) -> Iterator[Block]:
    """All pairs of metrics, as many rows together as memory allows; a row that is too long is cut."""
    at_once = max(1, _SUMS_AT_ONCE // (8 * n_resamples))
    behind = np.arange(size - 1, 0, -1)  # pairs of each row
    start = 0
    while start < size - 1:
        fit = int((np.cumsum(behind[start:]) <= at_once).sum())
        step, stop = (size, start + fit) if fit else (at_once, start + 1)
        for column in range(start + 1, size, step):
            yield Block(range(start, stop), range(column, min(column + step, size)))
        start = stop


def average(averages: Averages, n_resamples: int, swaps_of: SwapsOf) -> None:
    """Test the averages of all pairs by the swaps of each task."""
    for block in blocks(averages.size, n_resamples):
        rows, columns = block.pairs()
        sums = PairSums(averages, rows, columns, n_resamples)
        for task in range(len(averages.shares)):
            sums.take(task, rows, columns, *swaps_of(task, rows, columns))
        sums.count()


@dataclass(frozen=True)
class Kept:
    """The differences of each task, (task, metric, other metric), and their swaps, (task, pair, resample)."""

    labels: list[Any]
    difference: FloatArray
    samples: FloatArray

    @classmethod
    def of(cls, n_tasks: int, labels: list[Any], n_resamples: int) -> Kept:
        size = len(labels)
        samples = np.full((n_tasks, size * (size - 1) // 2, n_resamples), np.nan)
        return cls(labels, np.full((n_tasks, size, size), np.nan), samples)

    def _places(self, rows: IntArray, columns: IntArray) -> IntArray:
        return rows * len(self.labels) - rows * (rows + 1) // 2 + columns - rows - 1

    def take(self, task: int, rows: IntArray, columns: IntArray, difference: FloatArray, samples: FloatArray) -> None:
        """Keep a task's tests of some pairs; `rows` are before `columns`."""
        self.samples[task, self._places(rows, columns)] = samples
        self.difference[task, rows, columns], self.difference[task, columns, rows] = difference, -difference

    def swaps_of(self, task: int, rows: IntArray, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """What was kept of some pairs."""
        return self.difference[task, rows, columns], self.samples[task, self._places(rows, columns)]

    def beside(self, result: xr.Dataset) -> xr.Dataset:
        """A ranking with what was kept, in its order of metrics."""
        labels = result["metric"].values
        order = np.array([self.labels.index(label) for label in labels.tolist()])
        rows, columns = all_pairs(len(order)).pairs()
        one, other = order[rows], order[columns]
        places = self._places(np.minimum(one, other), np.maximum(one, other))
        for difference, samples in zip(self.difference, self.samples, strict=True):  # two copies of all may not fit
            difference[:] = difference[np.ix_(order, order)]
            samples[:] = samples[places]
            np.negative(samples, out=samples, where=(one > other)[:, None])
        kept = {"task_difference": (("task", "metric", "other_metric"), self.difference)}
        kept["samples"] = ("task", "pair", "resample"), self.samples
        pairs = {name: ("pair", labels[at]) for name, at in zip(PAIR, (rows, columns), strict=True)}
        return result.reindex(other_metric=labels).assign(kept).assign_coords(pairs)


def kept_swaps(result: xr.Dataset, labels: list[Any], tasks: list[int]) -> SwapsOf:
    """The swaps that a ranking kept of its tasks at these places, for metrics numbered as in `labels`."""
    number = {label: at for at, label in enumerate(labels)}
    places = np.full((len(labels),) * 2, -1)
    turned = np.zeros(places.shape, dtype=bool)
    for at, pair in enumerate(zip(*(result[name].values.tolist() for name in PAIR), strict=True)):
        if all(label in number for label in pair):
            one, other = (number[label] for label in pair)
            places[one, other] = places[other, one] = at
            turned[other, one] = True
    square = result["task_difference"].sel(metric=labels, other_metric=labels)
    square = square.transpose("task", "metric", "other_metric")
    samples = result["samples"].transpose("task", "pair", "resample")

    def swaps_of(task: int, rows: IntArray, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        difference = square.isel(task=tasks[task]).values[rows, columns]
        drawn = samples.isel(task=tasks[task], pair=places[rows, columns]).values
        return difference, np.where(turned[rows, columns, None], -drawn, drawn)

    return swaps_of
