"""Average scores of metrics over tasks: the tests of their differences, and clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import ranking
from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.core import validate
from xsumstat.core.types import TOLERANCE, FloatArray, IntArray
from xsumstat.dataset import checks
from xsumstat.inference.pvalues import permutation_pvalues
from xsumstat.kernels import swaps as kernels


def in_all_tasks(known: Sequence[Any], everywhere: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The metrics that all tasks have a correlation of, in order, and the others, which a warning names."""
    elsewhere = [label for label in known if label not in everywhere]
    if len(everywhere) < 2:
        raise ValueError(f"fewer than two metrics are in all tasks; metrics: {validate.listing(known, 30)}")
    if elsewhere:
        validate.warn(f"not in all tasks, and without an average: {validate.listing(elsewhere)}", "not_in_all_tasks")
    return sorted(everywhere, key=str), elsewhere


def weights_of(names: Sequence[Any], weights: Any, which: str) -> list[float]:
    """The weight of each task, at least 0; `which` says in an error what must be named."""
    if not isinstance(weights, Mapping) or set(weights) != set(names):
        raise ValueError(
            f"weights must name each {which}, and no other: {validate.listing(names)}, got {weights!r:.200}"
        )
    return [validate.number(f"weight of {name!r}", weights[name], 0.0, np.inf) for name in names]


def range_of(coefficient: str) -> tuple[float, float]:
    """The lowest value of a coefficient, and its span; a user's function is taken for a correlation."""
    record = COEFFICIENTS.get(coefficient)
    low, high = record.bounds if record else (-1.0, 1.0)
    return low, high - low


def pvalues_of(difference: FloatArray, samples: FloatArray, *, exact: bool) -> tuple[FloatArray, FloatArray]:
    """One-sided p-values of each pair, that its first metric is better and that it is worse, from its swaps."""
    counts = np.empty((4, len(difference)), dtype=np.int64)
    kernels.compare(samples, difference, TOLERANCE, counts)
    return permutation_pvalues(difference, counts, samples.shape[1], exact, "greater")


class Averages:
    """Weighted averages over tasks of the first `size` labels, which all tasks have, and their tests.

    Arrays are `r`, (task, label), and `shares`, (task,), which add up to 1.
    """

    def __init__(
        self, r: FloatArray, coefficients: Sequence[str], shares: FloatArray, labels: list[Any], size: int
    ) -> None:
        self.r, self.shares, self.labels, self.size = r, shares, labels, size
        self.ranges = [range_of(str(each)) for each in coefficients]
        self.difference, self.pvalue = np.full((size, size), np.nan), np.full((size, size), np.nan)

    def count(self, rows: IntArray, columns: IntArray, difference: FloatArray, samples: FloatArray) -> None:
        """The p-values of some pairs' averages, from their sums over tasks."""
        better, worse = pvalues_of(difference, samples, exact=False)
        self.pvalue[rows, columns], self.pvalue[columns, rows] = better, worse
        self.difference[rows, columns], self.difference[columns, rows] = difference, -difference

    def scores(self) -> FloatArray:
        """The average scores of the metrics that all tasks have."""
        score = np.zeros(self.size)
        for r, (low, span), share in zip(self.r, self.ranges, self.shares, strict=True):
            score += share * (r[: self.size] - low) / span
        return score

    def table(self, tasks: xr.Dataset, alpha: float) -> xr.Dataset:
        """The numbers of the tasks with averages, in the order of these."""
        metrics, score = self.labels[: self.size], self.scores()
        clusters = tasks["task_cluster"].sel(metric=checks.as_labels(metrics)).transpose("task", "metric").values
        ranks, of_all = ranking.ranked(score, self.pvalue, alpha)
        coords = {"metric": np.array(metrics, dtype=object)}
        numbers = {"average_score": score, "average_rank": self.shares @ clusters, "rank": ranks, "cluster": of_all}
        of_each = xr.Dataset({name: ("metric", values) for name, values in numbers.items()}, coords)
        beyond = {"difference": self.difference, "pvalue": self.pvalue}
        pairs = {name: (("metric", "other_metric"), values) for name, values in beyond.items()}
        square = xr.Dataset(pairs, {**coords, "other_metric": coords["metric"]})
        labels = [metrics[at] for at in np.argsort(-score, kind="stable")]
        whole = {"metric": np.array([*labels, *self.labels[len(labels) :]], dtype=object)}
        parts = tasks.reindex(whole), of_each.reindex(whole), square.reindex({**whole, "other_metric": labels})
        found = xr.merge(parts, join="outer", compat="no_conflicts")
        for name in ("rank", "cluster", "task_rank", "task_cluster"):
            found[name] = found[name].fillna(0).astype(int)
        return found


class PairSums:
    """Weighted sums over tasks of the differences of some pairs of metrics, as they are and in all swaps.

    `rows` and `columns` are the places of the pairs' metrics. Pairs of metrics that are not in all tasks have no sum.
    """

    def __init__(self, averages: Averages, rows: IntArray, columns: IntArray, n_resamples: int) -> None:
        self.averages = averages
        inner = np.maximum(rows, columns) < averages.size
        self.rows, self.columns = rows[inner], columns[inner]
        self.place = np.zeros((averages.size,) * 2, dtype=np.int64)
        self.place[self.rows, self.columns] = np.arange(len(self.rows))
        self.difference, self.samples = np.zeros(len(self.rows)), np.zeros((len(self.rows), n_resamples))

    def take(self, task: int, rows: IntArray, columns: IntArray, difference: FloatArray, samples: FloatArray) -> None:
        """Add what a task has of some of the pairs."""
        share, (_, span) = self.averages.shares[task], self.averages.ranges[task]
        for row, column, observed, drawn in zip(rows, columns, difference, samples, strict=True):
            if max(row, column) < self.averages.size:
                place = self.place[row, column]
                self.difference[place] += share * observed / span
                self.samples[place] += share * drawn / span

    def count(self) -> None:
        """Give the averages their differences and p-values, when all tasks are in."""
        self.averages.count(self.rows, self.columns, self.difference, self.samples)
