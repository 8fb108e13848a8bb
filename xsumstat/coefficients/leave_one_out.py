"""What a correlation is without one system, or without one input: what its jackknife variance is made of.

Scores are (systems, inputs), NaN where a cell is missing. Systems and inputs that take no part are not counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from xsumstat.coefficients import arrays
from xsumstat.coefficients.curvature import Bend
from xsumstat.coefficients.record import Estimator, Measure
from xsumstat.types import BoolArray, FloatArray, IntArray

# Of all systems, and of all inputs, which ones.
TakingPart = tuple[BoolArray, BoolArray]

# Labels that are left out in turn, at a time.
_AT_ONCE = 1024


class Parts(Protocol):
    """An estimate, and what it is without each label."""

    @property
    def value(self) -> float:
        """The estimate."""
        ...

    @property
    def shape(self) -> tuple[int, int]:
        """Number of systems and of inputs that take part."""
        ...

    @property
    def clustered(self) -> bool:
        """Whether the labels are clusters."""
        ...

    def less(self, other: Any) -> Parts:
        """Those of the difference of two estimates, on the same cells."""
        ...


@dataclass(frozen=True)
class OfMeans:
    """Of the correlation of systems' means.

    Attributes
    ----------
    value : float
    without : array, (systems,)
        The coefficient without each system.
    pearson : array, (systems,)
        Pearson's r likewise.
    influence : array, (systems, inputs)
        By how much each cell's noise moves Pearson's r.
    of_ranks : bool
        Whether the coefficient is one of ranks.
    taking_part : tuple of arrays of bool, optional
        Which systems and which inputs these are, of all; None where those of two metrics are the same.
    covariates : int
        How many are held constant.
    bends : tuple of Bend
        How Pearson's r bends with the noise of inputs; none where it is not known, as given covariates or of clusters.
    clustered : bool
        Whether systems and inputs are clusters of them.
    pearson_value : float
        Pearson's r with all systems, where they are clusters.
    """

    value: float
    without: FloatArray
    pearson: FloatArray
    influence: FloatArray
    of_ranks: bool
    taking_part: TakingPart | None = None
    covariates: int = 0
    bends: tuple[Bend, ...] = ()
    clustered: bool = False
    pearson_value: float = math.nan

    @property
    def shape(self) -> tuple[int, int]:
        """Number of systems and of inputs."""
        return len(self.influence), self.influence.shape[1]

    def less(self, other: OfMeans) -> OfMeans:
        """Those of the difference of two estimates, over the systems and inputs of either."""
        return OfMeans(
            self.value - other.value,
            _of_either(self.without, other.without, self, other, 0),
            _of_either(self.pearson, other.pearson, self, other, 0),
            _on_all(self.influence, self, other) - _on_all(other.influence, other, self),
            self.of_ranks,
            covariates=self.covariates,
            clustered=self.clustered,
            pearson_value=self.pearson_value - other.pearson_value,
            bends=(*_placed(self, other), *(replace(bend, weight=-bend.weight) for bend in _placed(other, self))),
        )


@dataclass(frozen=True)
class OfGroups:
    """Of the average of the groups' correlations: over systems within inputs, or over inputs within systems.

    Attributes
    ----------
    value : float
    r : array, (groups,)
        NaN where undefined.
    without : array, (members, groups)
        Each group's coefficient without each member; NaN where undefined, or where the member is absent.
    averages : array, (members,)
        The estimate without each member; a group that it is not in keeps its coefficient.
    there : array of bool, (members, groups)
    members : {"system", "input"}
        The dim of the members.
    clustered : bool
        Whether the members are clusters of them.
    clusters : array of int, (groups,), optional
        The cluster of each group; None where each is one of its own.
    """

    value: float
    r: FloatArray
    without: FloatArray
    averages: FloatArray
    there: BoolArray
    members: str
    clustered: bool = False
    clusters: IntArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of systems and of inputs, or of their clusters."""
        members, groups = self.there.shape
        groups = groups if self.clusters is None else len(np.unique(self.clusters))
        return (members, groups) if self.members == "system" else (groups, members)

    def less(self, other: OfGroups) -> OfGroups:
        """Those of the difference of two estimates, on the same cells."""
        return OfGroups(
            self.value - other.value,
            self.r - other.r,
            self.without - other.without,
            self.averages - other.averages,
            self.there,
            self.members,
            self.clustered,
            self.clusters,
        )


@dataclass(frozen=True)
class Share:
    """What is known of a share of cells.

    Attributes
    ----------
    n : float
        Of how many cells.
    inputs : int
        Of how many inputs these are.
    rarer : int
        How many of all cells people give the rarest class.
    """

    n: float
    inputs: int
    rarer: int


@dataclass(frozen=True)
class OfCells:
    """Of the correlation of all cells.

    Attributes
    ----------
    value : float
    systems, inputs : array
        The coefficient without each system, and without each input.
    influence : array, (systems, inputs)
        Of each cell, of mean 0; 0 where there is none.
    n_cells : int
    clustered : bool
        As of `OfMeans`.
    share : Share or None
        Where it is the share of cells that are right.
    """

    value: float
    systems: FloatArray
    inputs: FloatArray
    influence: FloatArray
    n_cells: int
    clustered: bool = False
    share: Share | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of systems and of inputs."""
        return len(self.systems), len(self.inputs)

    def less(self, other: OfCells) -> OfCells:
        """Those of the difference of two estimates, on the same cells."""
        return OfCells(
            self.value - other.value,
            self.systems - other.systems,
            self.inputs - other.inputs,
            self.influence - other.influence,
            self.n_cells,
            self.clustered,
        )


@dataclass(frozen=True)
class OfAny:
    """Of any statistic: nothing is known but its values without each system, and without each input.

    Attributes
    ----------
    value : float
    systems, inputs : array
    level : str
    taking_part : tuple of arrays of bool, optional
    clustered : bool
        As of `OfMeans`.
    cells : array, optional
        The values without each cell.
    """

    value: float
    systems: FloatArray
    inputs: FloatArray
    level: str
    taking_part: TakingPart | None = None
    clustered: bool = False
    cells: FloatArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of systems and of inputs."""
        return len(self.systems), len(self.inputs)

    def less(self, other: OfAny) -> OfAny:
        """Those of the difference of two estimates, over the systems and inputs of either."""
        systems = _of_either(self.systems, other.systems, self, other, 0)
        inputs = _of_either(self.inputs, other.inputs, self, other, 1)
        cells = None if self.cells is None or other.cells is None else self.cells - other.cells
        return OfAny(self.value - other.value, systems, inputs, self.level, clustered=self.clustered, cells=cells)


@dataclass(frozen=True)
class OfRefits(OfAny):
    """The same of scores that are made anew each time, so that single labels do not tell its bias.

    Attributes
    ----------
    sizes : tuple of int
        Number of systems and of inputs.
    """

    sizes: tuple[int, int] = (0, 0)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of systems and of inputs."""
        return self.sizes


def _of_either(
    one: FloatArray, two: FloatArray, parts: OfMeans | OfAny, other: OfMeans | OfAny, axis: int
) -> FloatArray:
    """The difference of values without each label of either, which add nothing to a variance that they are no part of.

    There they are the mean of the others.
    """
    if parts.taking_part is None or other.taking_part is None:
        return one - two
    own, others = parts.taking_part[axis], other.taking_part[axis]
    return (_filled(one, own) - _filled(two, others))[own | others]


def _filled(values: FloatArray, own: BoolArray) -> FloatArray:
    defined = values[~np.isnan(values)]
    found = np.full(len(own), defined.mean() if len(defined) else math.nan)
    found[own] = values
    return found


def _on_all(values: FloatArray, parts: OfMeans, other: OfMeans) -> FloatArray:
    """Values of systems and inputs, 0 for those that only the other metric has."""
    if parts.taking_part is None or other.taking_part is None:
        return values
    found: FloatArray = np.zeros([len(each) for each in parts.taking_part])
    found[np.ix_(*parts.taking_part)] = values
    return found[np.ix_(*(own | others for own, others in zip(parts.taking_part, other.taking_part, strict=True)))]


def _placed(parts: OfMeans, other: OfMeans) -> tuple[Bend, ...]:
    """The bends of one metric among the inputs of either."""
    if parts.taking_part is None or other.taking_part is None:
        return parts.bends
    own, others = parts.taking_part[1], other.taking_part[1]
    places = np.flatnonzero(own[own | others])
    return tuple(replace(bend, places=places) for bend in parts.bends)


def averages(values: FloatArray) -> FloatArray:
    """The average of each row over what is defined there."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=1)
    total = np.where(defined, values, 0.0).sum(axis=1)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def of(x: FloatArray, z: FloatArray, measure: Measure) -> Parts:
    """The parts of a metric's scores and the gold's, or the gold's and the covariates' (1 + covariates, ...)."""
    arrays.check_finite(x, z)
    systems, inputs = taking_part(x, z, measure)
    if not systems.any():
        return OfAny(math.nan, np.empty(0), np.empty(0), measure.level)
    if not (systems.all() and inputs.all()):
        x, z = (np.ascontiguousarray(each[..., systems, :][..., inputs]) for each in (x, z))
    known = measure.coefficient.partial if measure.given else measure.coefficient.leave_one_out
    parts = _of_any(x, z, measure) if known is None else known.parts(x, z, measure)
    if measure.own_cells and isinstance(parts, OfMeans | OfAny):
        return replace(parts, taking_part=(systems, inputs))
    return parts


def taking_part(x: FloatArray, z: FloatArray, measure: Measure) -> TakingPart:
    """Which systems and which inputs have cells; x and z as of `of`."""
    own_cells = measure.own_cells
    z = arrays.human(z, own_cells)
    there = (~np.isnan(x), ~np.isnan(z)) if own_cells else (arrays.present(x, z),) * 2
    systems = there[0].any(axis=1) & there[1].any(axis=1)
    return np.asarray(systems), np.asarray((there[0] | there[1])[systems].any(axis=0))


def _of_any(x: FloatArray, z: FloatArray, measure: Measure) -> OfAny:
    estimator, shape = measure.estimator(x, z), (x.shape[0], x.shape[1])
    systems, inputs = each_left_out(estimator, shape, ("system", "input"))
    return OfAny(estimator.value(), systems, inputs, measure.level)


def each_left_out(estimator: Estimator, shape: tuple[int, int], dims: tuple[str, ...]) -> list[FloatArray]:
    """The statistic without each label in turn, an array for each of the dims; evaluated anew for each."""
    systems, inputs = (arrays.ones(size) for size in shape)
    found = []
    if "system" in dims or "cell" in dims:
        found.append(np.concatenate([estimator.bootstrap(each, inputs) for each in without_each(np.arange(shape[0]))]))
    if "input" in dims:
        found.append(np.concatenate([estimator.bootstrap(systems, each) for each in without_each(np.arange(shape[1]))]))
    return found


def without_each(codes: IntArray) -> Iterator[IntArray]:
    """Counts of labels that leave out each cluster in turn, some at a time; of `arange` each label."""
    size = int(codes.max(initial=-1)) + 1
    for start in range(0, size, _AT_ONCE):
        rows = np.arange(start, min(start + _AT_ONCE, size))
        yield (codes != rows[:, None]).astype(np.int64)
