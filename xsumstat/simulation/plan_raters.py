"""What ratings say of plans: the gold's noise with other numbers of raters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses.raters import ratings_of
from xsumstat.inference import components, planning
from xsumstat.simulation import simulate as simulation
from xsumstat.types import FloatArray


@dataclass(frozen=True)
class Noise:
    """The noise of ratings.

    Attributes
    ----------
    cell, residual : float
        Variances of what raters of a cell share, and of what each rating has by itself.
    shared : float
        The mean of ``1/r`` over cells with r ratings.
    """

    cell: float
    residual: float
    shared: float

    @classmethod
    def of(cls, values: FloatArray) -> Noise | None:
        """From ratings (systems, inputs, raters); None where they do not give the components."""
        counts = np.isfinite(values).sum(axis=-1)
        found, _ = components.estimates(values[None], tuple(components.EFFECTS_OF_RATINGS.values()), errors=False)
        if np.isnan(found).any():
            return None
        parts = dict(zip(components.EFFECTS_OF_RATINGS, found[:, 0, 0], strict=True))
        cell, residual = (max(0.0, float(parts[each])) for each in ("cell", "residual"))
        return cls(cell, residual, float(np.mean(1 / counts[counts > 0])))

    def variance(self, raters: int | None) -> float:
        """The variance of the gold's cells with so many raters of each, or as they are."""
        return self.cell + self.residual * (self.shared if raters is None else 1 / raters)

    def scale(self, raters: int) -> float:
        """The standard deviation of cells with so many raters over that of cells as they are."""
        return float(np.sqrt(self.variance(raters) / self.variance(None)))

    def expected(self, base: planning.FromParts, raters: int) -> planning.Expected:
        """What is expected with so many raters."""
        now, then = (_with_noise(base.covariances, self.variance(each)) for each in (None, raters))
        return planning.WithNoise(replace(base, covariances=now), then)


@dataclass(frozen=True)
class Ratings:
    """Single ratings that plans are made from.

    Attributes
    ----------
    gold : DataArray
        Their mean.
    values : DataArray, (system, input, raters)
    noise : Noise
    """

    gold: xr.DataArray
    values: xr.DataArray
    noise: Noise

    @classmethod
    def of(cls, ds: xr.Dataset, rating: Any, along: str) -> Ratings:
        """From a variable of a Dataset, or a DataArray, with a dim of raters."""
        values, name = ratings_of(ds, rating, along)
        if set(values.dims) != {"system", "input", along}:
            raise ValueError(
                f"rating has the dims {tuple(values.dims)}; select one label of each but system, input, {along}"
            )
        values = values.transpose("system", "input", along)
        simulation.check_size(values.values)
        if values.notnull().sum(along).values.max(initial=0) < 2:
            raise ValueError(f"no cell of {name!r} has two ratings, so that raters cannot be told from cells")
        noise = Noise.of(values.values)
        if noise is None:
            raise ValueError(f"the ratings {name!r} do not tell systems, inputs, cells and raters apart")
        return cls(values.mean(along).rename(name), values, noise)

    def without(self, dim: str, labels: Any) -> Noise | None:
        """The noise of ratings of all systems, or inputs, but these labels, or places where there are no labels."""
        if dim in self.values.indexes:
            return Noise.of(self.values.drop_sel({dim: labels}, errors="ignore").values)
        return Noise.of(self.values.drop_isel({dim: labels}).values)


def _with_noise(covariances: FloatArray, noise: float) -> FloatArray:
    out = covariances.copy()
    out[2, 1, 1] = noise
    return out
