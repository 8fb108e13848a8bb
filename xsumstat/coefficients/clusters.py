"""A correlation without each cluster of systems or inputs: `leave_one_out` with clusters as labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from xsumstat.coefficients import arrays, leave_one_out, table
from xsumstat.coefficients.leave_one_out import OfAny, OfCells, OfGroups, OfMeans, Parts
from xsumstat.coefficients.record import Coefficient, Measure
from xsumstat.core.types import FloatArray, IntArray

# The cluster of each system and of each input, numbered from 0.
Clusters = tuple[IntArray, IntArray]


def of(x: FloatArray, z: FloatArray, measure: Measure, clusters: Clusters | None) -> Parts:
    """Leave-one-out parts of a metric and the gold (systems, inputs); clusters, if any, are left out whole."""
    parts = leave_one_out.of(x, z, measure)
    if clusters is None or not parts.shape[0]:
        return parts
    taking_part = leave_one_out.taking_part(x, z, measure)
    x, z = (np.ascontiguousarray(each[taking_part[0]][:, taking_part[1]]) for each in (x, z))
    systems, inputs = (
        np.unique(codes[there], return_inverse=True)[1] for codes, there in zip(clusters, taking_part, strict=True)
    )
    if isinstance(parts, OfGroups):
        return _of_groups(x, z, measure, parts, systems, inputs)
    if isinstance(parts, OfMeans):
        return _of_means(x, z, measure, parts, systems, inputs)
    estimator = measure.estimator(x, z)
    assert isinstance(parts, OfCells | OfAny)
    found = replace(
        parts,
        systems=_left_out(parts.systems, systems, lambda counts: estimator.bootstrap(counts, arrays.ones(len(inputs)))),
        inputs=_left_out(parts.inputs, inputs, lambda counts: estimator.bootstrap(arrays.ones(len(systems)), counts)),
        clustered=True,
    )
    return replace(found, influence=_blocks(found.influence, systems, inputs)) if isinstance(found, OfCells) else found


def _left_out(known: FloatArray, codes: IntArray, value: Callable[[IntArray], FloatArray]) -> FloatArray:
    """Values without each cluster, from counts of labels; `known` if each label is a cluster."""
    if _trivial(codes):
        return known
    return np.concatenate([value(counts) for counts in leave_one_out.without_each(codes)])


def _trivial(codes: IntArray) -> bool:
    return np.array_equal(codes, np.arange(len(codes)))


def _blocks(values: FloatArray, systems: IntArray, inputs: IntArray) -> FloatArray:
    found: FloatArray = np.zeros((systems.max() + 1, inputs.max() + 1))
    np.add.at(found, (systems[:, None], inputs[None, :]), values)
    return found


def _of_means(
    x: FloatArray, z: FloatArray, measure: Measure, parts: OfMeans, systems: IntArray, inputs: IntArray
) -> OfMeans:
    """The coefficient, and Pearson's r, of system means without each cluster of systems."""

    def left_out(record: Coefficient, known: FloatArray) -> tuple[FloatArray, float]:
        estimator = replace(measure, coefficient=record).estimator(x, z)
        rest = arrays.ones(len(inputs))
        return _left_out(known, systems, lambda counts: estimator.bootstrap(counts, rest)), estimator.value()

    without, value = left_out(measure.coefficient, parts.without)
    pearson = left_out(table.get("pearson"), parts.pearson) if parts.of_ranks else (without, value)
    bends = tuple(replace(bend, curvature=replace(bend.curvature, clusters=inputs)) for bend in parts.bends)
    parts = replace(parts, without=without, pearson=pearson[0], pearson_value=pearson[1], bends=bends, clustered=True)
    return replace(parts, influence=_blocks(parts.influence, systems, inputs))


def _of_groups(
    x: FloatArray, z: FloatArray, measure: Measure, parts: OfGroups, systems: IntArray, inputs: IntArray
) -> OfGroups:
    """Each group's coefficient without each cluster of members; the groups may be clustered too."""
    of_systems = parts.members == "system"
    members, groups = (systems, inputs) if of_systems else (inputs, systems)
    if _trivial(members):
        return replace(parts, clustered=True, clusters=groups)
    kept = members != np.arange(members.max() + 1)[:, None]
    left, there = (np.array([parts.there[rows].any(axis=0) for rows in each]) for each in (kept, ~kept))
    without = np.full(there.shape, np.nan)
    for row, keeps in zip(without, kept, strict=True):
        if keeps.any():
            rest = (x[keeps], z[keeps]) if of_systems else (x[:, keeps], z[:, keeps])
            row[:] = measure.estimator(*map(np.ascontiguousarray, rest)).groups()[0]
    if measure.undefined_as_zero:
        without = np.where(np.isnan(without) & left, 0.0, without)
    averages = arrays.defined_means(np.where(there, without, parts.r), 1)
    without = np.where(there, without, np.nan)
    return OfGroups(parts.value, parts.r, without, averages, there, parts.members, clustered=True, clusters=groups)
