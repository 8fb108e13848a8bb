"""What a correlation is without one cluster of systems, or of inputs: as `leave_one_out`, whose labels are clusters.

Systems that are variants of each other, or inputs of one document, are not independent: they are left out together.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from xsumstat.coefficients import arrays, leave_one_out, table
from xsumstat.coefficients.leave_one_out import OfAny, OfCells, OfGroups, OfMeans, Parts
from xsumstat.coefficients.record import Estimator, Measure
from xsumstat.types import FloatArray, IntArray

# The cluster of each system and of each input, numbered from 0.
Clusters = tuple[IntArray, IntArray]


def of(x: FloatArray, z: FloatArray, measure: Measure, clusters: Clusters) -> Parts:
    """The parts of a metric's scores and the gold's, (systems, inputs), when clusters are left out."""
    taking_part = leave_one_out.taking_part(x, z, measure)
    parts = leave_one_out.of(x, z, measure)
    if not parts.shape[0]:
        return parts
    x, z = (np.ascontiguousarray(each[taking_part[0]][:, taking_part[1]]) for each in (x, z))
    systems, inputs = (
        np.unique(codes[there], return_inverse=True)[1] for codes, there in zip(clusters, taking_part, strict=True)
    )
    if isinstance(parts, OfGroups):
        return _of_groups(x, z, measure, parts, systems, inputs)
    estimator = measure.estimator(x, z)
    without = _without(estimator, systems, len(inputs)), _without(estimator, inputs, len(systems), of_inputs=True)
    if isinstance(parts, OfMeans):
        pearson = without[0]
        if parts.of_ranks:
            by_pearson = replace(measure, coefficient=table.get("pearson")).estimator(x, z)
            pearson = _without(by_pearson, systems, len(inputs))
        influence = _blocks(parts.influence, systems, inputs)
        return OfMeans(parts.value, without[0], pearson, influence, parts.of_ranks, clustered=True)
    if isinstance(parts, OfCells):
        return OfCells(parts.value, *without, _blocks(parts.influence, systems, inputs), parts.n_cells, clustered=True)
    assert isinstance(parts, OfAny)
    return OfAny(parts.value, *without, measure.level, clustered=True)


def _without(estimator: Estimator, codes: IntArray, others: int, *, of_inputs: bool = False) -> FloatArray:
    """The statistic without each cluster of systems, or of inputs."""
    counts = (codes != np.arange(codes.max() + 1)[:, None]).astype(np.int64)
    rest = arrays.ones(others)
    return estimator.bootstrap(rest, counts) if of_inputs else estimator.bootstrap(counts, rest)


def _blocks(values: FloatArray, systems: IntArray, inputs: IntArray) -> FloatArray:
    """Values summed over each cluster of systems and each of inputs."""
    found: FloatArray = np.zeros((systems.max() + 1, inputs.max() + 1))
    np.add.at(found, (systems[:, None], inputs[None, :]), values)
    return found


def _of_groups(
    x: FloatArray, z: FloatArray, measure: Measure, parts: OfGroups, systems: IntArray, inputs: IntArray
) -> OfGroups:
    """Each group's coefficient without each cluster of members; groups are in clusters of their own."""
    of_systems = parts.members == "system"
    members, groups = (systems, inputs) if of_systems else (inputs, systems)
    rows = []
    for cluster in range(members.max() + 1):
        kept = members != cluster
        rest = (x[kept], z[kept]) if of_systems else (x[:, kept], z[:, kept])
        r = np.full(len(groups), np.nan)
        if kept.any():
            r = measure.estimator(*map(np.ascontiguousarray, rest)).groups()[0]
        rows.append(r)
    without = np.array(rows)
    there = np.array([parts.there[members == cluster].any(axis=0) for cluster in range(members.max() + 1)])
    left = np.array([parts.there[members != cluster].any(axis=0) for cluster in range(members.max() + 1)])
    if measure.undefined_as_zero:
        without = np.where(np.isnan(without) & there & left, 0.0, without)
    averages = leave_one_out.averages(np.where(there, without, parts.r))
    without = np.where(there, without, np.nan)
    return OfGroups(parts.value, parts.r, without, averages, there, parts.members, clustered=True, clusters=groups)
