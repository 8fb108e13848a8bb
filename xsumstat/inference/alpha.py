"""Krippendorff's alpha without each system, input or cell, from sums taken once."""

# With n ratings, n_c of value c, m in a cell, and weight d of two values, α = 1 − (n − 1)·Σ_cells Σ_ck n_c n_k d_ck/(m
# − 1) / Σ_ck n_c n_k d_ck. Where d is (p_c − p_k)² of places p, Σ_ck n_c n_k d_ck = 2n·Σ_c n_c (p_c − mean)², so no
# array is as large as all pairs of values.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from xsumstat.coefficients.arrays import scaled
from xsumstat.core.types import FloatArray, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True)
class RatedCells:
    """The cells with two ratings or more."""

    systems: IntArray  # (cells,), with `inputs` the place of each cell
    inputs: IntArray
    values: IntArray  # (ratings, cells), places in the ascending `domain`, ascending after −1 for missing ratings
    domain: FloatArray

    @classmethod
    def of(cls, ratings: FloatArray) -> RatedCells:
        there = ~np.isnan(ratings)
        size = there.sum(axis=2)
        domain, which = np.unique(ratings[there], return_inverse=True)
        values = np.full(ratings.shape, -1)
        values[there] = which
        kept, most = size > 1, int(size.max(initial=0))
        rising = np.sort(values[kept], axis=1)[:, ratings.shape[2] - most :]
        systems, inputs = np.nonzero(kept)
        return cls(systems, inputs, np.ascontiguousarray(rising.T), scaled(domain))

    def of_cells(self, cells: IntArray) -> RatedCells:
        """Some of the cells, each as often as it is named."""
        return replace(self, systems=self.systems[cells], inputs=self.inputs[cells], values=self.values[:, cells])

    @cached_property
    def size(self) -> IntArray:
        return np.asarray((self.values >= 0).sum(axis=0))

    @cached_property
    def margin(self) -> IntArray:
        return self.margin_of(slice(None))

    def margin_of(self, cells: IntArray | slice) -> IntArray:
        some = self.values[:, cells]
        return np.bincount(some[some >= 0], minlength=len(self.domain))

    def counts(self) -> IntArray:
        n_cells, n_values = len(self.systems), len(self.domain)
        at = (self.values + n_values * np.arange(n_cells))[self.values >= 0]
        return np.bincount(at, minlength=n_cells * n_values).reshape(n_cells, n_values)

    def unequal(self) -> FloatArray:
        """``Σ_ck n_c n_k d_ck/(m − 1)`` of each cell for nominal values."""
        equal, run = np.zeros(len(self.size)), np.zeros(len(self.size))
        before = np.full(len(self.size), -1)
        for row in self.values:
            run = np.where(row == before, run + 1, 1)
            equal += np.where(row >= 0, 2 * run - 1, 0)  # up to n² for n equal ratings
            before = row
        return np.asarray((self.size**2 - equal) / (self.size - 1))

    def apart(self, place: FloatArray, cells: IntArray | slice = slice(None)) -> FloatArray:
        """``Σ_ck n_c n_k d_ck/(m − 1)`` of some cells, from the places of the values."""
        which, size = self.values[:, cells], self.size[cells]
        there = which >= 0
        found = place[which]
        found = np.where(there, found - found[-1:], 0.0)  # so equal ratings are 0 apart to the bit
        found = np.where(there, found - found.sum(axis=0) / size, 0.0)
        return np.asarray(2 * size / (size - 1) * (found**2).sum(axis=0))

    @cached_property
    def _sparse(self) -> csr_array:
        from scipy.sparse import csr_array

        there = self.values.T >= 0
        ends = np.concatenate([[0], np.cumsum(self.size)])
        shape = len(self.size), len(self.domain)
        return csr_array((np.ones(there.sum()), self.values.T[there], ends), shape)

    @cached_property
    def _coincidences(self) -> FloatArray | None:
        """``Σ_cells n_c n_k/(m − 1)`` of any two values; None if that is larger than the ratings."""
        if len(self.domain) ** 2 > self.size.sum():
            return None
        shares = self._sparse.copy()
        shares.data /= np.repeat(self.size - 1, self.size)
        return np.asarray((self._sparse.T @ shares).toarray())

    @cached_property
    def _weight(self) -> FloatArray:
        """``Σ_cells n_c m/(m − 1)`` of each value."""
        return np.asarray(self._sparse.T @ (self.size / (self.size - 1)))

    def all_apart(self, place: FloatArray) -> float:
        if self._coincidences is not None:
            return float((self._coincidences * (place[:, None] - place) ** 2).sum())
        sums = self._sparse @ place
        return float(2 * ((self._weight * place**2).sum() - (sums**2 / (self.size - 1)).sum()))


def of(rated: RatedCells, measurement: str) -> float:
    if np.count_nonzero(rated.margin) < 2:
        return float(np.nan)
    n = int(rated.margin.sum())
    if measurement == "nominal":
        observed, expected = float(rated.unequal().sum()), float(n**2 - (rated.margin**2).sum())
    else:
        place = _places(rated.domain, rated.margin, measurement)
        observed, expected = float(rated.apart(place).sum()), _expected(rated.margin, place)
    return 1 - (n - 1) * observed / expected


def _places(domain: FloatArray, margin: IntArray, measurement: str) -> FloatArray:
    """Place of each value; the weight of two values is their squared distance."""
    return domain if measurement == "interval" else np.cumsum(margin) - (margin + margin.sum()) / 2


def _expected(margin: IntArray, place: FloatArray) -> float:
    # sums, not BLAS: it would start threads of its own for each label
    n = int(margin.sum())
    return float(2 * n * (margin * (place - (margin * place).sum() / n) ** 2).sum())


@dataclass(frozen=True)
class Without:
    """Alpha without the cells of each label: of each system, or of each input; `label` is (cells,)."""

    rated: RatedCells
    label: IntArray
    size: int
    measurement: str

    def __call__(self, at: int) -> float:
        """Alpha without a label; NaN where fewer than two values are left."""
        if self.measurement != "ordinal":
            return float(self._weighed_alike[at])
        return self._weighed_anew(self._cells[at])

    @cached_property
    def labels(self) -> IntArray:
        return np.unique(self.label)

    @cached_property
    def _weighed_alike(self) -> FloatArray:
        return without_each(self.rated, self.label, self.size, self.measurement)

    @cached_property
    def _cells(self) -> Sequence[IntArray]:
        order = np.argsort(self.label, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.label, minlength=self.size))[:-1])

    def _weighed_anew(self, cells: IntArray) -> float:
        """Alpha without some cells, of ranks among the remaining ratings."""
        margin = self.rated.margin - self.rated.margin_of(cells)
        if np.count_nonzero(margin) < 2:
            return float(np.nan)
        place = _places(self.rated.domain, margin, self.measurement)
        observed = self.rated.all_apart(place) - float(self.rated.apart(place, cells).sum())
        return 1 - (int(margin.sum()) - 1) * observed / _expected(margin, place)


def without_each(rated: RatedCells, label: IntArray, size: int, measurement: str) -> FloatArray:
    """Alpha without the cells of each label, (size,), with all cells' weights; NaN below two values."""
    margin, n_values = rated.margin, len(rated.domain)
    there = rated.values >= 0
    owned, counts = np.unique((label * n_values + rated.values)[there], return_counts=True)
    owner, value = np.divmod(owned, n_values)

    def summed(each: FloatArray | IntArray) -> FloatArray:
        return np.bincount(owner, each, size).astype(float)

    own = summed(counts)
    n = margin.sum() - own
    gone = summed(counts == margin[value])
    if measurement == "nominal":
        inside = rated.unequal()
        # what the others have of each value, squared
        expected = n**2 - ((margin**2).sum() - summed(counts * (2 * margin[value] - counts)))
    else:
        place = _places(rated.domain, margin, measurement)
        inside = rated.apart(place)
        mean = summed(counts * place[value]) / np.maximum(own, 1)
        expected = 2 * n * _squares_of_others(own, mean, summed(counts * (place[value] - mean[owner]) ** 2))
    observed = _sum_of_others(np.bincount(label, inside, size).astype(float))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = 1 - (n - 1) * observed / expected
    return np.where(np.count_nonzero(margin) - gone < 2, np.nan, found)


def _sum_of_others(values: FloatArray) -> FloatArray:
    """Sum of all values except each one; accurate for values ≥ 0, because nothing is subtracted."""
    return np.asarray(_before(np.cumsum(values)) + _before(np.cumsum(values[::-1]))[::-1])


def _squares_of_others(n: FloatArray, mean: FloatArray, squares: FloatArray) -> FloatArray:
    """Squares about the mean of all groups except each, from each group's own (Chan, Golub & LeVeque 1983)."""
    parts = n, mean, squares
    before = [_before(each) for each in _running(*parts)]
    after = [_before(each)[::-1] for each in _running(*(each[::-1] for each in parts))]
    return _merged(before, after)[2]


def _before(running: FloatArray) -> FloatArray:
    return np.concatenate([np.zeros(min(1, len(running))), running[:-1]])


def _running(*parts: FloatArray) -> Sequence[FloatArray]:
    """Size, mean and squares of each group together with all before it, by doubling."""
    found, step = list(parts), 1
    while step < len(found[0]):
        merged = _merged([each[:-step] for each in found], [each[step:] for each in found])
        found = [np.concatenate([each[:step], more]) for each, more in zip(found, merged, strict=True)]
        step *= 2
    return found


def _merged(one: Sequence[FloatArray], two: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Size, mean and squares of two groups in one."""
    (n, mean, squares), (m, other, more) = one, two
    share = m / np.maximum(n + m, 1)
    gap = other - mean
    return n + m, mean + gap * share, squares + more + gap**2 * n * share
