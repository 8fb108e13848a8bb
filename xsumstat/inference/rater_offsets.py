"""Ratings as the sum of a cell and a rater by least squares, and the noise of the cells' means."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from xsumstat.core.types import BoolArray, FloatArray

# Eigenvalues below this share of the largest are 0: raters who share no cell, through others either.
_SINGULAR = 1e-9


@dataclass(frozen=True)
class RatedCells:
    """Ratings less their raters' offsets."""

    mean: FloatArray  # (rows, columns), of each cell; 0 without ratings
    apart: FloatArray  # (raters, rows, columns), each rating less that mean
    there: FloatArray  # 0 or 1

    @property
    def count(self) -> FloatArray:
        return np.asarray(self.there.sum(axis=0))

    @property
    def share(self) -> FloatArray:
        """Weight of each rater's offset in the cells' means."""
        return np.asarray(self.there / np.maximum(self.count, 1))

    @property
    def turned(self) -> RatedCells:
        return RatedCells(self.mean.T, self.apart.transpose(0, 2, 1), self.there.transpose(0, 2, 1))


def fitted(ratings: FloatArray, present: BoolArray) -> RatedCells:
    there = ~np.isnan(ratings) & present
    known = there.astype(float)
    count = np.maximum(known.sum(axis=0), 1)
    values = np.where(there, ratings, 0.0)
    mean = values.sum(axis=0) / count
    mean = mean + np.where(there, values - mean, 0.0).sum(axis=0) / count  # the first is rounded to the scores' size
    raw = RatedCells(mean, np.where(there, values - mean, 0.0), known)
    offsets = _Offsets.of(raw, np.zeros((1, len(mean)))).offsets[0]
    own = np.tensordot(offsets, raw.share, 1)
    return replace(raw, mean=mean - own, apart=np.where(there, raw.apart - offsets[:, None, None] + own, 0.0))


@dataclass(frozen=True)
class _Offsets:
    """Raters' offsets (clusters, raters) without each cluster of rows, relative to those of all cells."""

    offsets: FloatArray
    rank: FloatArray
    spare: FloatArray

    @classmethod
    def of(cls, cells: RatedCells, left_out: FloatArray) -> _Offsets:
        by_row = _products(cells.there, cells.share)
        whole, apart = by_row.sum(axis=0), cells.apart.sum(axis=2)
        normal = whole - np.tensordot(left_out, by_row, 1)
        right = apart.sum(axis=1) - left_out @ apart.T
        values, vectors = np.linalg.eigh(normal)
        used = values > _SINGULAR * values.max(axis=1, initial=1.0, keepdims=True)
        inverse = np.where(used, 1 / np.where(used, values, 1.0), 0.0)
        offsets = np.einsum("hrs,hs->hr", vectors, inverse * np.einsum("hts,ht->hs", vectors, right))
        more = np.maximum(cells.count - 1, 0).sum(axis=1)
        return cls(offsets, used.sum(axis=1).astype(float), more.sum() - left_out @ more)


def _products(there: FloatArray, share: FloatArray) -> FloatArray:
    """Normal equations of the offsets, for each row, (rows, raters, raters)."""
    found = -np.einsum("rij,sij->irs", there, share)
    at = np.arange(len(there))
    found[:, at, at] += there.sum(axis=2).T
    return np.asarray(found)


@dataclass(frozen=True)
class Noise:
    """Noise in sums of squares of the cells' means, without clusters of rows."""

    cells: RatedCells
    left_out: FloatArray
    _fits: _Offsets

    @classmethod
    def of(cls, cells: RatedCells, left_out: FloatArray) -> Noise:
        return cls(cells, left_out, _Offsets.of(cells, left_out))

    @property
    def offsets(self) -> FloatArray:
        """Change of the raters' offsets without each cluster, (clusters, raters)."""
        return self._fits.offsets

    @property
    def _scale(self) -> FloatArray:
        """Factor for squared deviations, because offsets are fitted; NaN with too few ratings."""
        spare, left = self._fits.spare, self._fits.spare - self._fits.rank
        return np.where(left > 0, spare / np.where(left > 0, left, 1.0), np.nan)

    def _own(self) -> FloatArray:
        """Squares of each cell, with the offsets fitted without it, (rows, columns)."""
        offsets = self.offsets.T @ self.left_out  # (raters, rows)
        share = np.einsum("ri,rij->ij", offsets, self.cells.share)
        apart = self.cells.apart - offsets[:, :, None] + share
        return np.asarray((self.cells.there * apart**2).sum(axis=0))

    def _whole(self, weights: FloatArray) -> FloatArray:
        """Weighted squares of all cells with each cluster's offsets, (clusters,)."""
        cells = self.cells
        linear = (weights * cells.apart).sum(axis=(1, 2))
        square = _products(weights * cells.there, cells.share).sum(axis=0)
        moved = ((self.offsets @ square) * self.offsets).sum(axis=1)
        return np.asarray((weights * cells.apart**2).sum() - 2 * self.offsets @ linear + moved)

    def _by_column(self, weights: FloatArray) -> FloatArray:
        """The same for each column, (clusters, columns)."""
        cells = self.cells
        linear = (weights * cells.apart).sum(axis=1)
        square = _products((weights * cells.there).transpose(0, 2, 1), cells.share.transpose(0, 2, 1))
        moved = np.einsum("hjs,hs->hj", np.tensordot(self.offsets, square, (1, 1)), self.offsets)
        return np.asarray((weights * cells.apart**2).sum(axis=(0, 1)) - 2 * self.offsets @ linear + moved)

    def _single(self) -> FloatArray:
        several = (self.cells.count > 1).astype(float)
        squares = self._whole(several) - self.left_out @ self._own().sum(axis=1)
        spare = self._fits.spare
        return np.asarray(np.divide(squares, spare, out=np.full(len(spare), np.nan), where=spare > 0))

    def of_rows(self, weights: FloatArray) -> FloatArray:
        """Noise in sums over the remaining rows, whose cells have these weights, (clusters,)."""
        several, single = _kinds(self.cells)
        several, single = several * weights, single * weights
        squares = self._whole(several) - self.left_out @ (several * self._own()).sum(axis=1)
        alone = single.sum() - self.left_out @ single.sum(axis=1)
        return np.asarray(self._scale * (squares + np.where(alone > 0, self._single() * alone, 0.0)))

    def of_columns(self, weights: FloatArray) -> FloatArray:
        """The same with column weights for each cluster, (clusters, columns)."""
        several, single = _kinds(self.cells)
        squares = self._by_column(several) - self.left_out @ (several * self._own())
        alone = single.sum(axis=0) - self.left_out @ single
        alone = (weights * alone).sum(axis=1)
        return np.asarray(
            self._scale * ((weights * squares).sum(axis=1) + np.where(alone > 0, self._single() * alone, 0.0))
        )

    def of_cells(self) -> FloatArray:
        """Noise of each cell's mean with nothing left out (the first cluster), (rows, columns)."""
        several, single = _kinds(self.cells)
        squares = (self.cells.there * self.cells.apart**2).sum(axis=0)
        alone = np.where(single > 0, single * self._single()[0], 0.0)
        return np.asarray(self._scale[0] * (several * squares + alone))


def _kinds(cells: RatedCells) -> tuple[FloatArray, FloatArray]:
    """Factors from squared deviations to the noise of a mean; and which cells have a single rating."""
    k = cells.count
    return np.where(k > 1, 1 / np.maximum(k * (k - 1), 1), 0.0), (k == 1).astype(float)
