"""Jackknife of correlations in groups of systems or inputs, their differences, and a test of all."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from xsumstat.coefficients import arrays, leave_one_out
from xsumstat.coefficients import clusters as by_cluster
from xsumstat.coefficients.clusters import Clusters
from xsumstat.coefficients.record import Measure
from xsumstat.core.types import FloatArray, IntArray
from xsumstat.inference import comparison, group_differences, jackknife
from xsumstat.inference.group_differences import Group
from xsumstat.resampling.jobs import AtOnce, OfMetrics

# Numbers of each group, of each pair of groups, and of all groups.
OF_GROUP = ("correlation", "rests_on", "without_limits", "group_fell_back")
OF_PAIR = ("difference", "ci_low", "ci_high", "standard_error", "df", "bias", "fell_back", "n_undefined", "pvalue")
OF_ALL = ("n_groups", "heterogeneity", "df_numerator", "df_denominator", "heterogeneity_pvalue")


@dataclass(frozen=True)
class Groups:
    """Groups of the labels of a dim; `places` holds each group's labels."""

    dim: str
    places: tuple[IntArray, ...]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return list(itertools.combinations(range(len(self.places)), 2))

    @property
    def n_rows(self) -> int:
        return max(len(self.places), len(self.pairs))

    def of(self, at: int, values: FloatArray) -> FloatArray:
        places = self.places[at]
        return np.ascontiguousarray(values[..., places, :] if self.dim == "system" else values[..., places])


@dataclass(frozen=True)
class GroupJackknife(AtOnce, OfMetrics[FloatArray]):
    """Differences of each metric's correlation between groups, in `n_rows` targets: row r of group r and of pair r."""

    targets: tuple[tuple[int, ...], ...]
    measure: Measure
    groups: Groups
    dims: tuple[str, ...]
    confidence_level: float
    clusters: Clusters | None = field(default=None, kw_only=True)

    names = (*OF_GROUP, *OF_PAIR, *OF_ALL)

    def metrics_of(self, target: tuple[int, ...]) -> tuple[int, ...]:
        return target[:1]

    def narrowed(self, at: slice, places: Sequence[int] | None) -> GroupJackknife:
        assert places is not None
        targets = tuple((places.index(metric), row) for metric, row in self.targets[at])
        return replace(self, targets=targets, measure=self.measure.of_metrics(places))

    def bytes_each(self, x: Any, z: Any, *beside: Any) -> int:
        return 1 + 2 * arrays.footprint((z.shape[-2], z.shape[-1]), "system") // self.groups.n_rows

    def ready(self, at: slice, x: FloatArray, z: FloatArray, *beside: Any) -> FloatArray:
        metrics = dict.fromkeys(metric for metric, _ in self.targets[at])
        tables = {metric: self._of_metric(x[metric], z, metric) for metric in metrics}
        return np.array([tables[metric][:, row] for metric, row in self.targets[at]]).T

    def _of_metric(self, x: FloatArray, z: FloatArray, metric: int) -> FloatArray:
        measure = self.measure.of_metric(metric)
        found = list(self.estimated(x, z, measure))
        usable = [each for each in found if each.has_limits]
        test = group_differences.heterogeneity(usable, measure, self.dims)
        of_group = [
            (each.estimated.estimate, self._rests_on(each), not each.has_limits, each.estimated.fell_back)
            for each in found
        ]
        of_pair = [self._of_pair(found[one], found[two], measure) for one, two in self.groups.pairs]
        of_all = [(len(usable), test.statistic, test.df_numerator, test.df_denominator, test.pvalue)]
        table = np.full((len(self.names), self.groups.n_rows), np.nan)
        start = 0
        for numbers in (of_group, of_pair, of_all):
            part = np.array(numbers, dtype=float).T
            table[start : start + len(part), : part.shape[1]] = part
            start += len(part)
        return table

    def estimated(self, x: FloatArray, z: FloatArray, measure: Measure) -> Iterator[Group]:
        for at in range(len(self.groups.places)):
            yield self._of_group(x, z, at, measure)

    def _of_group(self, x: FloatArray, z: FloatArray, at: int, measure: Measure) -> Group:
        own_x, own_z = self.groups.of(at, x), self.groups.of(at, z)
        codes = self._codes(at, x.shape)
        there = leave_one_out.taking_part(own_x, own_z, measure)
        parts = by_cluster.of(own_x, own_z, measure, None if self.clusters is None else codes)
        estimated = jackknife.of_one(parts, measure, self.dims)
        if "input" in self.dims and parts.shape[1] < jackknife.LEAST_GROUPS:  # one input says nothing of others
            estimated = replace(estimated, about=None)
        return Group(estimated, parts, *(np.unique(each[used]) for each, used in zip(codes, there, strict=True)))

    def _codes(self, at: int, shape: Sequence[int]) -> Clusters:
        systems, inputs = self.clusters or (np.arange(shape[0]), np.arange(shape[1]))
        places = self.groups.places[at]
        return (systems[places], inputs) if self.groups.dim == "system" else (systems, inputs[places])

    def _rests_on(self, group: Group) -> int:
        """The system on which the estimate of a group depends, among all; -1 where none."""
        place = -1 if self.clusters is not None else jackknife.rests_on(group.parts, self.dims)
        return place if place < 0 else int(group.systems[place])

    def _of_pair(self, one: Group, two: Group, measure: Measure) -> tuple[float, ...]:
        found = group_differences.difference(one, two, measure, self.dims)
        low, high, pvalue, _ = comparison.compared(found, self.confidence_level, "two-sided")
        undefined = max(jackknife.n_undefined(each.parts, self.dims) for each in (one, two))
        known = found.standard_error, found.df, found.bias, found.fell_back
        return found.estimate, low, high, *known, undefined, pvalue
