"""What ratings say of plans: the gold's noise with other numbers of raters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses.raters import ratings_of
from xsumstat.inference import components, planning
from xsumstat.simulation import simulate as simulation
from xsumstat.types import FloatArray


@dataclass(frozen=True)
class Ratings:
    """The noise of ratings.

    Attributes
    ----------
    gold : DataArray
        Their mean.
    cell, residual : float
        Variances of what raters of a cell share, and of what each rating has by itself.
    shared : float
        The mean of ``1/r`` over cells with r ratings.
    """

    gold: xr.DataArray
    cell: float
    residual: float
    shared: float

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
        counts = values.notnull().sum(along).values
        if counts.max(initial=0) < 2:
            raise ValueError(f"no cell of {name!r} has two ratings, so that raters cannot be told from cells")
        found, _ = components.estimates(
            values.values[None], tuple(components.EFFECTS_OF_RATINGS.values()), errors=False
        )
        parts = dict(zip(components.EFFECTS_OF_RATINGS, found[:, 0, 0], strict=True))
        if np.isnan(found).any():
            raise ValueError(f"the ratings {name!r} do not tell systems, inputs, cells and raters apart")
        cell, residual = (max(0.0, float(parts[each])) for each in ("cell", "residual"))
        return cls(values.mean(along).rename(name), cell, residual, float(np.mean(1 / counts[counts > 0])))

    def noise(self, raters: int | None) -> float:
        """The variance of the gold's cells with so many raters of each, or as they are."""
        return self.cell + self.residual * (self.shared if raters is None else 1 / raters)

    def scale(self, raters: int) -> float:
        """The standard deviation of cells with so many raters over that of cells as they are."""
        return float(np.sqrt(self.noise(raters) / self.noise(None)))

    def expected(self, base: planning.FromParts, raters: int) -> planning.Expected:
        """What is expected with so many raters."""
        now, then = (_with_noise(base.covariances, self.noise(each)) for each in (None, raters))
        own = planning.FromParts(
            base.shape, base.measure, base.estimate, base.off, base.systems, base.cells, base.inputs, now
        )
        return planning.WithNoise(own, then)


def _with_noise(covariances: FloatArray, noise: float) -> FloatArray:
    out = covariances.copy()
    out[2, 1, 1] = noise
    return out
