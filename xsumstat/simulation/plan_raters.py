"""The gold's noise with other numbers of raters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses.raters import ratings_of
from xsumstat.core.types import FloatArray
from xsumstat.dataset import golds
from xsumstat.inference import components, planning
from xsumstat.simulation import given_scores


@dataclass(frozen=True)
class Noise:
    """The noise of ratings.

    `cell` and `residual` are the variances shared by the raters of a cell, and of single ratings; `shared` is the mean
    of ``1/r`` over cells. `offsets` is the variance by raters' strictness where r of R raters rate: ``σ²·(1/r − 1/R)``.
    """

    cell: float
    residual: float
    shared: float
    offsets: float = 0.0

    @classmethod
    def of(cls, values: FloatArray) -> Noise | None:
        """From ratings (systems, inputs, raters); None where components are not identified."""
        counts = np.isfinite(values).sum(axis=-1)
        if counts.max(initial=0) < 2:
            single = np.where(counts > 0, np.nansum(values, axis=-1), np.nan)
            return cls.of_gold(components.crossed(single[None]))
        parts = components.of_ratings(values)
        if np.isnan(list(parts.values())).any():
            return None
        cell, residual, rater = (max(0.0, parts[each]) for each in ("cell", "residual", "rater"))
        shared, raters = float(np.mean(1 / counts[counts > 0])), int(np.isfinite(values).any(axis=(0, 1)).sum())
        return cls(cell, residual, shared, rater * max(0.0, shared - 1 / raters))

    @classmethod
    def of_gold(cls, covariances: FloatArray) -> Noise | None:
        """From the effects (3, scores, scores) of scores, the gold last, without known ratings."""
        cell = float(covariances[2, -1, -1])
        return None if math.isnan(cell) else cls(max(0.0, cell), 0.0, 1.0)

    def variance(self, raters: int | None) -> float:
        """Variance of the gold's cells with so many raters of each, or as given."""
        if raters is None:
            return self.cell + self.residual * self.shared + self.offsets
        return self.cell + self.residual / raters

    def expected(self, base: planning.FromParts | planning.OfTheseSystems, raters: int) -> planning.Expected:
        return planning.with_noises(base, self.variance(None), self.variance(raters))


@dataclass(frozen=True)
class Ratings:
    """Single ratings (system, input, raters) to plan from; `single` if no cell has two."""

    gold: xr.DataArray
    values: xr.DataArray
    noise: Noise
    single: bool

    @classmethod
    def of(cls, ds: xr.Dataset, rating: Any, along: str) -> Ratings:
        values, name = ratings_of(ds, rating, along)
        if set(values.dims) != {"system", "input", along}:
            raise ValueError(
                f"rating has the dims {tuple(values.dims)}; select one label of each but system, input, {along}"
            )
        values = golds.directed(ds, values.transpose("system", "input", along), along)
        given_scores.check_size(values.values)
        noise = Noise.of(values.values)
        if noise is None:
            raise ValueError(f"the ratings {name!r} do not tell systems, inputs, cells and raters apart")
        single = bool(values.notnull().sum(along).max() < 2)
        return cls(values.mean(along).rename(name), values, noise, single)

    def without(self, dim: str, labels: Any) -> Noise | None:
        """Noise of the ratings without some labels (or places) of a dim."""
        if dim in self.values.indexes:
            return Noise.of(self.values.drop_sel({dim: labels}, errors="ignore").values)
        return Noise.of(self.values.drop_isel({dim: labels}).values)
