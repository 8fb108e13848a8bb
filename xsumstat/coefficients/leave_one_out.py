"""Correlations without one system or one input, of those with cells: the parts of a jackknife variance."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from xsumstat.coefficients import arrays
from xsumstat.coefficients.curvature import Bend
from xsumstat.coefficients.record import Estimator, Measure
from xsumstat.coefficients.weights import InputWeights
from xsumstat.core.types import BoolArray, FloatArray, IntArray

# Of all systems, and of all inputs, which ones.
TakingPart = tuple[BoolArray, BoolArray]

# Labels that are left out in turn, at a time.
_AT_ONCE = 1024


class Parts(Protocol):
    """An estimate, and its values without each label."""

    @property
    def value(self) -> float: ...

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def clustered(self) -> bool: ...

    def weighted_variance(self) -> tuple[float, float] | None:
        """Variance over new inputs with weights, and its degrees of freedom; None where they have none."""

    def less(self, other: Any) -> Parts: ...


@dataclass(frozen=True)
class OfMeans:
    """Correlation of system means, and what its variance needs."""

    value: float
    without: FloatArray  # (systems,), without each system
    pearson: FloatArray  # likewise Pearson's r
    influence: FloatArray  # (systems, inputs), how far each cell's noise moves Pearson's r
    of_ranks: bool
    taking_part: TakingPart | None = None  # systems and inputs; None where two metrics share them
    covariates: int = 0
    bends: tuple[Bend, ...] = ()  # unknown with covariates
    clustered: bool = False
    pearson_value: float = math.nan  # with all systems, where they are clusters
    weights: InputWeights | None = None  # of drawn inputs

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.influence), self.influence.shape[1]

    def weighted_variance(self) -> tuple[float, float] | None:
        return None if self.weights is None else self.weights.variance(self.influence.sum(axis=0))

    def less(self, other: OfMeans) -> OfMeans:
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
            weights=self.weights,
        )


@dataclass(frozen=True)
class OfGroups:
    """Average of the groups' correlations: systems within inputs, or inputs within systems."""

    value: float
    r: FloatArray  # (groups,)
    without: FloatArray  # (members, groups), NaN where undefined or absent
    averages: FloatArray  # (members,), without each member; other groups keep their coefficient
    there: BoolArray
    members: str  # their dim
    clustered: bool = False
    clusters: IntArray | None = None  # (groups,); None where each group is its own cluster
    weights: InputWeights | None = None  # of drawn inputs; all values are linearised

    @property
    def shape(self) -> tuple[int, int]:
        members, groups = self.there.shape
        groups = groups if self.clusters is None else len(np.unique(self.clusters))
        return (members, groups) if self.members == "system" else (groups, members)

    @property
    def n_defined(self) -> int:
        """Groups with a correlation; of clustered ones their clusters."""
        here = ~np.isnan(self.r)
        return int(here.sum()) if self.clusters is None else len(np.unique(self.clusters[here]))

    def weighted_variance(self) -> tuple[float, float] | None:
        if self.weights is None:
            return None
        if self.members == "input":
            return self.weights.variance(self.weights.moved(self.value, self.averages))
        here = ~np.isnan(self.r)
        r = self.r[here]
        return self.weights.among(here).variance((r - r.mean()) / len(r)) if len(r) else (math.nan, math.nan)

    def less(self, other: OfGroups) -> OfGroups:
        """Deviations instead of correlations; a group that has one of only one metric deviates by that metric's."""
        either = ~(np.isnan(self.r) & np.isnan(other.r))
        (one, without), (two, others) = (each._deviations(either) for each in (self, other))
        return replace(
            self,
            value=self.value - other.value,
            r=one - two,
            without=without - others,
            averages=self.averages - other.averages,
        )

    def _deviations(self, among: BoolArray) -> tuple[FloatArray, FloatArray]:
        """`r` and `without` less their means, 0 where undefined, NaN for groups that are not `among` all.

        If only some groups have a correlation, their deviations are made larger: the average over all groups then has
        the variance of the average over these.
        """
        own = ~np.isnan(self.r)
        if not own.any():
            return np.full(self.r.shape, np.nan), np.full(self.without.shape, np.nan)
        (spread, share), (of_all, whole) = (self._factors(each) for each in (own, among))
        r = np.where(own, self.r - self.r[own].mean(), 0.0) * (spread / of_all)
        defined = ~np.isnan(self.without) & own
        mean = np.where(defined, self.without, 0.0).sum(axis=0) / np.maximum(defined.sum(axis=0), 1)
        without = np.where(defined, self.without - mean, 0.0) * (share / whole)
        return np.where(among, r, np.nan), np.where(among, without, np.nan)

    def _factors(self, groups: BoolArray) -> tuple[float, float]:
        """What deviations of `r`, and of `without`, are multiplied by for the squares to add up to a variance."""
        m = int(groups.sum())
        if self.clusters is None:
            return (1 / math.sqrt(m * (m - 1)) if m > 1 else math.nan), 1 / max(m, 1)
        n = len(np.unique(self.clusters[groups]))
        return (math.sqrt(n / (n - 1)) / m if n > 1 else math.nan), 1 / max(m, 1)


@dataclass(frozen=True)
class Share:
    """A share of `n` cells on some inputs; `rarer` counts the cells of the gold's rarest class."""

    n: float
    inputs: int
    rarer: int


@dataclass(frozen=True)
class OfCells:
    """Correlation of all cells, and without each system and input; `influence` (systems, inputs) has mean 0."""

    value: float
    systems: FloatArray
    inputs: FloatArray
    influence: FloatArray
    n_cells: int
    clustered: bool = False
    share: Share | None = None
    weights: InputWeights | None = None  # of drawn inputs

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.systems), len(self.inputs)

    def weighted_variance(self) -> tuple[float, float] | None:
        return None if self.weights is None else self.weights.variance(self.weights.moved(self.value, self.inputs))

    def less(self, other: OfCells) -> OfCells:
        return OfCells(
            self.value - other.value,
            self.systems - other.systems,
            self.inputs - other.inputs,
            self.influence - other.influence,
            self.n_cells,
            self.clustered,
            weights=self.weights,
        )


@dataclass(frozen=True)
class OfAny:
    """Any statistic, known only through its values without each system, each input and, optionally, each cell."""

    value: float
    systems: FloatArray
    inputs: FloatArray
    level: str
    taking_part: TakingPart | None = None
    clustered: bool = False
    cells: FloatArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.systems), len(self.inputs)

    def weighted_variance(self) -> None:
        return None

    def less(self, other: OfAny) -> OfAny:
        systems = _of_either(self.systems, other.systems, self, other, 0)
        inputs = _of_either(self.inputs, other.inputs, self, other, 1)
        cells = None if self.cells is None or other.cells is None else self.cells - other.cells
        return OfAny(self.value - other.value, systems, inputs, self.level, clustered=self.clustered, cells=cells)


@dataclass(frozen=True)
class OfRefits(OfAny):
    """The same for scores refitted each time: single labels do not estimate the bias. `sizes`: systems, inputs."""

    sizes: tuple[int, int] = (0, 0)

    @property
    def shape(self) -> tuple[int, int]:
        return self.sizes


def _of_either(
    one: FloatArray, two: FloatArray, parts: OfMeans | OfAny, other: OfMeans | OfAny, axis: int
) -> FloatArray:
    """Difference of values without each label of either metric; labels of one only add no variance."""
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
    if parts.taking_part is None or other.taking_part is None:
        return values
    found: FloatArray = np.zeros([len(each) for each in parts.taking_part])
    found[np.ix_(*parts.taking_part)] = values
    return found[np.ix_(*(own | others for own, others in zip(parts.taking_part, other.taking_part, strict=True)))]


def _placed(parts: OfMeans, other: OfMeans) -> tuple[Bend, ...]:
    if parts.taking_part is None or other.taking_part is None:
        return parts.bends
    own, others = parts.taking_part[1], other.taking_part[1]
    places = np.flatnonzero(own[own | others])
    return tuple(replace(bend, places=places) for bend in parts.bends)


def of(x: FloatArray, z: FloatArray, measure: Measure) -> Parts:
    """Parts of a metric's scores and the gold's, or the gold's and the covariates' (1 + covariates, ...)."""
    arrays.check_finite(x, z)
    systems, inputs = taking_part(x, z, measure)
    if not systems.any():
        return OfAny(math.nan, np.empty(0), np.empty(0), measure.level)
    if not (systems.all() and inputs.all()):
        x, z = (np.ascontiguousarray(each[..., systems, :][..., inputs]) for each in (x, z))
    if measure.weights is not None:
        return _weighted(x, z, measure, measure.weights.among(inputs))
    known = measure.coefficient.partial if measure.given else measure.coefficient.leave_one_out
    parts = _of_any(x, z, measure) if known is None else known.parts(x, z, measure)
    if measure.own_cells and isinstance(parts, OfMeans | OfAny):
        return replace(parts, taking_part=(systems, inputs))
    return parts


def _weighted(x: FloatArray, z: FloatArray, measure: Measure, weights: InputWeights) -> Parts:
    """Parts whose inputs have weights; `measure` is one that can weigh."""
    assert measure.coefficient.leave_one_out is not None
    known, weighing = measure.coefficient.leave_one_out, replace(measure, weights=weights)
    if measure.level in ("global", "within_system"):
        pearson: Parts = known.parts(x, z, weighing)
        return pearson
    x, z = weighing.seen(x, z)
    parts = known.parts(x, z, replace(measure, weights=None))
    if isinstance(parts, OfMeans):
        return replace(parts, weights=weights)
    assert isinstance(parts, OfGroups)
    return weighted(parts, weights)


def weighted(parts: OfGroups, weights: InputWeights) -> OfGroups:
    """Parts of a weighted average of inputs, linearised: their plain averages are the weighted ones.

    Each coefficient r becomes ``θ + w·(r − θ)`` with the weighted average θ and the weights w over their mean, and what
    a member moves it is multiplied by w.
    """
    share = weights.shares(~np.isnan(parts.r))
    value = float(weights.averages(parts.r[None])[0])
    r = value + share * (parts.r - value)
    averages = weights.averages(np.where(parts.there, parts.without, parts.r))
    without = np.where(np.isnan(parts.r), parts.without, r + share * (parts.without - parts.r))
    return replace(parts, value=value, r=r, without=without, averages=averages, weights=weights)


def taking_part(x: FloatArray, z: FloatArray, measure: Measure) -> TakingPart:
    own_cells = measure.own_cells
    z = arrays.human(z, own_cells)
    there = arrays.counted(x, z, own_cells)
    systems = there[0].any(axis=1) & there[1].any(axis=1)
    return np.asarray(systems), np.asarray((there[0] | there[1])[systems].any(axis=0))


def _of_any(x: FloatArray, z: FloatArray, measure: Measure) -> OfAny:
    estimator, shape = measure.estimator(x, z), (x.shape[0], x.shape[1])
    systems, inputs = each_left_out(estimator, shape, ("system", "input"))
    return OfAny(estimator.value(), systems, inputs, measure.level)


def each_left_out(estimator: Estimator, shape: tuple[int, int], dims: tuple[str, ...]) -> list[FloatArray]:
    """The statistic without each label in turn, an array for each dim, by brute force."""
    systems, inputs = (arrays.ones(size) for size in shape)
    found = []
    if "system" in dims or "cell" in dims:
        found.append(np.concatenate([estimator.bootstrap(each, inputs) for each in without_each(np.arange(shape[0]))]))
    if "input" in dims:
        found.append(np.concatenate([estimator.bootstrap(systems, each) for each in without_each(np.arange(shape[1]))]))
    return found


def without_each(codes: IntArray) -> Iterator[IntArray]:
    """Counts of labels that leave out each cluster in turn, in blocks; `arange` leaves out each label."""
    size = int(codes.max(initial=-1)) + 1
    for start in range(0, size, _AT_ONCE):
        rows = np.arange(start, min(start + _AT_ONCE, size))
        yield (codes != rows[:, None]).astype(np.int64)
