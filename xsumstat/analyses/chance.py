"""What metrics that tell nothing reach beside those that are judged: the variable `baseline` of `corr` and `ci`."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xsumstat.analyses.measure import GROUPS, Measure, along_metrics
from xsumstat.coefficients import arrays
from xsumstat.coefficients.chance import KINDS
from xsumstat.types import FloatArray

_CELLS = ["system", "input"]


def of(
    x: xr.DataArray, z: xr.DataArray, measure: Measure, correlation: xr.DataArray, *, average: bool = True
) -> dict[str, xr.DataArray]:
    """The variable `baseline` on the dims of the correlations and `chance`; none for what is 0 by chance.

    It is NaN where the correlation is.
    """
    record = measure.coefficient
    if record.chance is None:
        return {}
    made = record.chance
    groups = [GROUPS[measure.level]] if not average and measure.level in GROUPS else []

    def each(x: FloatArray, z: FloatArray, threshold: float) -> FloatArray:
        here = measure.at(threshold)
        arrays.check_finite(x, z)
        values, n = made(x, z, here)
        if groups:
            return values
        return np.array([arrays.average(kind, n, measure.undefined_as_zero) for kind in values])

    found: xr.DataArray = xr.apply_ufunc(
        each,
        x,
        z,
        along_metrics(record),
        input_core_dims=[_CELLS, _CELLS, []],
        output_core_dims=[["chance", *groups]],
        vectorize=True,
        dask="parallelized",
        dask_gufunc_kwargs={"output_sizes": {"chance": len(KINDS)}},
        output_dtypes=[float],
        keep_attrs=False,
    )
    found = found.assign_coords(chance=list(KINDS)).where(correlation.notnull())
    return {"baseline": found.transpose(*correlation.dims, "chance")}
