"""Jackknife tests of whether correlations differ between groups of systems or of inputs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xsumstat.coefficients.leave_one_out import OfCells, OfGroups, OfMeans, Parts
from xsumstat.coefficients.record import Measure
from xsumstat.core import levels
from xsumstat.core.types import FloatArray, IntArray
from xsumstat.inference import jackknife
from xsumstat.inference.jackknife import Estimated

# Covariances of groups' contrasts are singular if an eigenvalue is a smaller share of the largest variance of a group.
SINGULAR = 1e-10


@dataclass(frozen=True)
class Group:
    """The correlation in one group; `systems` and `inputs` (or clusters) are places among those of all groups."""

    estimated: Estimated
    parts: Parts
    systems: IntArray
    inputs: IntArray

    @property
    def labels(self) -> dict[str, IntArray]:
        return {"system": self.systems, "input": self.inputs}

    @property
    def has_limits(self) -> bool:
        return self.estimated.about is not None


@dataclass(frozen=True)
class Component:
    matrix: FloatArray
    df: float


@dataclass(frozen=True)
class Heterogeneity:
    """F statistic, degrees of freedom and p-value of "all groups have the same correlation"."""

    statistic: float = math.nan
    df_numerator: float = math.nan
    df_denominator: float = math.nan
    pvalue: float = math.nan


# --- Covariances ---


def moves(parts: Parts, dims: tuple[str, ...], dim: str) -> FloatArray:
    """Change of the estimate without each label of a dim; the squares add up to its part of the variance."""
    about = parts.value if parts.clustered else None
    if dim not in jackknife.varying(parts.shape, dims):
        return np.zeros(parts.shape[0 if dim == "system" else 1])
    if isinstance(parts, OfMeans):
        return _moves_of_means(parts, dims, dim)
    if isinstance(parts, OfGroups) and dim != parts.members:
        return _moves_of_groups(parts)
    if isinstance(parts, OfGroups):
        return _without(parts.averages, about)
    return _without(parts.systems if dim == "system" else parts.inputs, about)  # type: ignore[attr-defined]


def _without(values: FloatArray, about: float | None = None) -> FloatArray:
    """``√((n−1)/n)·(θ(−i) − mean)``, 0 where undefined."""
    n, defined = len(values), ~np.isnan(values)
    if not defined.any():
        return np.zeros(n)
    centre = values[defined].mean() if about is None else about
    return np.where(defined, math.sqrt((n - 1) / n) * (values - centre), 0.0)


def _moves_of_means(parts: OfMeans, dims: tuple[str, ...], dim: str) -> FloatArray:
    systems, inputs = parts.shape
    if dim == "system":
        freed = (systems - 1 - parts.covariates) / (systems - 1)
        share = math.sqrt(freed) * ((systems - 2) / (systems - 1) if parts.of_ranks else 1.0)
        return share * _without(parts.without, parts.value if parts.clustered else None)
    found = parts.influence.sum(axis=0)
    whole = float(np.sum(found**2))
    # Inputs alone have their part of second order taken out.
    size = inputs / (inputs - 1) * whole * jackknife.of_systems(parts)[1]
    size = jackknife.variance(parts, dims) if dims == ("input",) else size
    return found * math.sqrt(size / whole) if whole > 0 else np.zeros(inputs)


def _moves_of_groups(parts: OfGroups) -> FloatArray:
    """``(r_j − mean)/√(m(m−1))`` of the m groups, or sums over their clusters."""
    here = ~np.isnan(parts.r)
    m = int(here.sum())
    off = np.where(here, parts.r - parts.r[here].mean() if m else 0.0, 0.0)
    if parts.clusters is None:
        return off / math.sqrt(m * (m - 1)) if m > 1 else np.zeros(len(off))
    names, places = np.unique(parts.clusters, return_inverse=True)
    sums = np.bincount(places, off, len(names))
    n = len(np.unique(parts.clusters[here]))
    return sums * math.sqrt(n / (n - 1)) / m if n > 1 else np.zeros(len(names))


def cells(parts: Parts) -> FloatArray:
    """Change of the estimate by the noise of each cell (or block of clusters); the squares add up to V_c."""
    systems, inputs = parts.shape
    if isinstance(parts, OfMeans):
        ratio = jackknife.of_systems(parts)[1]
        return math.sqrt(inputs / (inputs - 1) * systems / (systems - 1) * ratio) * parts.influence
    if isinstance(parts, OfGroups):
        found = jackknife.moved_by_cells(parts)
        return found if parts.members == "system" else found.T
    return parts.influence / parts.n_cells if isinstance(parts, OfCells) else np.zeros(parts.shape)


def components(groups: Sequence[Group], measure: Measure, dims: tuple[str, ...]) -> list[Component]:
    """The parts whose sum is the covariance matrix of the groups' estimates."""
    # The part of the members that are correlated contains the noise of cells.
    whole, found = levels.members(measure.level), []
    left = np.array([each.estimated.standard_error**2 for each in groups])
    for dim in sorted(dims, key=lambda each: each != whole):
        moved = [moves(each.parts, dims, dim) for each in groups]
        matrix, shared = _products(moved, [each.labels[dim] for each in groups])
        if dim != whole and shared and len(dims) > 1:
            matrix -= _products_of_cells(groups)
        own = np.minimum(np.diag(matrix), left) if dim == whole and len(dims) > 1 else left
        np.fill_diagonal(matrix, own)
        left = left - own
        lost = len(measure.given) if dim == whole and measure.level != "global" else 0
        sizes = [jackknife.among_defined(each.parts, dims, len(each.labels[dim]) - 1 - lost) for each in groups]
        if shared:
            found.append(Component(matrix, _n_shared(groups, dim, own) - 1 - lost))
        else:
            units = np.eye(len(groups))
            found += [Component(np.diag(own * unit), df) for unit, df in zip(units, sizes, strict=True)]
    return found


def _products(moved: Sequence[FloatArray], labels: Sequence[IntArray]) -> tuple[FloatArray, bool]:
    """Products of the groups' moves summed over shared labels; and whether any are shared."""
    size = 1 + max((int(each.max(initial=-1)) for each in labels), default=-1)
    placed = np.zeros((len(moved), size))
    there = np.zeros(size, dtype=np.int64)
    for row, values, at in zip(placed, moved, labels, strict=True):
        row[at] = values
        there[at] += 1
    return placed @ placed.T, bool((there > 1).any())


def _n_shared(groups: Sequence[Group], dim: str, variances: FloatArray) -> float:
    """Number of labels that groups share; by Satterthwaite ``(Σt)²/Σt²`` where not all have all of them.

    t is a label's part of the variances, to which all labels of a group with a correlation contribute alike.
    """
    there = [each.labels[dim][_defined(each.parts, dim)] for each in groups]
    labels = np.unique(np.concatenate(there))
    own = np.array([np.isin(labels, each) for each in there])
    parts = variances / own.sum(axis=1) @ own
    return len(labels) if own.all() or not parts.any() else float(parts.sum() ** 2 / np.sum(parts**2))


def _defined(parts: Parts, dim: str) -> Any:
    """Places of the labels with a correlation (all, unless correlations of groups are averaged)."""
    if not isinstance(parts, OfGroups) or dim == parts.members:
        return slice(None)
    here = ~np.isnan(parts.r)
    return here if parts.clusters is None else np.isin(np.unique(parts.clusters), parts.clusters[here])


def _products_of_cells(groups: Sequence[Group]) -> FloatArray:
    """The same for cells, which groups share where a cluster spans several groups."""
    found: FloatArray = np.zeros((len(groups), len(groups)))
    for one, two in itertools.combinations(range(len(groups)), 2):
        labels = [(groups[one].labels[dim], groups[two].labels[dim]) for dim in ("system", "input")]
        rows, columns = (np.intersect1d(*each, return_indices=True)[1:] for each in labels)
        if len(rows[0]) and len(columns[0]):
            both = (cells(groups[at].parts)[np.ix_(rows[side], columns[side])] for side, at in enumerate((one, two)))
            found[one, two] = found[two, one] = float(np.sum(np.prod(list(both), axis=0)))
    return found


# --- Two groups ---


def difference(one: Group, two: Group, measure: Measure, dims: tuple[str, ...]) -> Estimated:
    """The correlation of one group less another's, with MOVER limits; ``V_d = V_1 + V_2 − 2C``, df by Satterthwaite."""
    # Where a jackknife fell back there is no C, and each group is a part with the degrees of freedom of its interval.
    both = one.estimated, two.estimated
    least = float(np.minimum(one.estimated.df, two.estimated.df))
    if any(each.about is None for each in both):
        return jackknife.difference(*both, math.nan, least)
    if any(each.fell_back for each in both):
        parts = [(each.standard_error**2, each.df) for each in both]
    else:
        contrast = np.array([1.0, -1.0])
        parts = [(float(contrast @ each.matrix @ contrast), each.df) for each in components([one, two], measure, dims)]
    spread = max(0.0, sum(part for part, _ in parts))
    lost = sum(part**2 / df for part, df in parts if df > 0)
    df = spread**2 / lost if 0 < lost < math.inf else least
    return jackknife.difference(*both, spread, df)


# --- All groups ---


def heterogeneity(groups: Sequence[Group], measure: Measure, dims: tuple[str, ...]) -> Heterogeneity:
    """Wald test of equal correlations in all groups on Fisher's scale."""
    # z: arctanh of the estimates less their bias; S: covariance matrix of their q = G − 1 contrasts C, S_k its parts
    # with df_k degrees of freedom. W = (Cz)'S⁻¹(Cz), ν = q(q+1)/Σ_k(tr(T_k²) + tr(T_k)²)/df_k, T_k = S_k·S⁻¹;
    # W·(ν−q+1)/(νq) is F with q and ν − q + 1 degrees of freedom (one part: Hotelling's T²; two groups: the square of
    # Satterthwaite's t).
    q = len(groups) - 1
    if q < 1 or any(each.estimated.fell_back for each in groups):
        return Heterogeneity()
    values, slopes = zip(*(_by_fisher(each, measure) for each in groups), strict=True)
    contrasts = np.column_stack([np.ones(q), -np.eye(q)])
    to_scale = contrasts * np.array(slopes)
    parts = [(to_scale @ each.matrix @ to_scale.T, each.df) for each in components(groups, measure, dims)]
    spread = np.sum([matrix for matrix, _ in parts], axis=0)
    largest = max((each.estimated.standard_error * slope) ** 2 for each, slope in zip(groups, slopes, strict=True))
    if not np.linalg.eigvalsh(spread)[0] > SINGULAR * largest:
        return Heterogeneity()
    inverse = np.linalg.inv(spread)
    off = contrasts @ np.array(values)
    wald = float(off @ inverse @ off)
    lost = 0.0
    for matrix, df in parts:
        turned = matrix @ inverse
        size = float(np.trace(turned @ turned) + np.trace(turned) ** 2)
        lost += size / df if size > 0 and df > 0 else 0.0
    nu = q * (q + 1) / lost if lost > 0 else math.nan
    return _by_f(wald, q, nu)


def _by_f(wald: float, q: int, nu: float) -> Heterogeneity:
    from scipy.special import fdtrc

    left = nu - q + 1
    if not left > 0:
        return Heterogeneity()
    statistic = wald * left / (nu * q)
    return Heterogeneity(statistic, float(q), left, float(fdtrc(q, left, statistic)))


def _by_fisher(group: Group, measure: Measure) -> tuple[float, float]:
    """The estimate less its bias by arctanh (accuracies as 2p − 1), and the slope; untransformed beyond 1."""
    estimated = group.estimated
    if not jackknife.within_one(group.parts, measure.coefficient):
        return estimated.centre, 1.0
    scale = measure.coefficient.stretch
    value, centre = (scale * each - (scale - 1) for each in (estimated.estimate, estimated.centre))
    nearest = math.nextafter(1.0, 0.0)  # a bias may lead so near to 1 that rounding makes it 1
    return math.atanh(min(nearest, max(-nearest, centre))), scale / (1 - value**2)
