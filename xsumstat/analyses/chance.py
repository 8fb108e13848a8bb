"""What metrics that tell nothing reach beside those that are judged: `baseline` of `corr`, `ci` and `rank`."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xsumstat.analyses.measure import GROUPS, Measure, along_metrics
from xsumstat.coefficients import arrays
from xsumstat.dataset import checks
from xsumstat.types import FloatArray


def of(
    x: xr.DataArray, z: xr.DataArray, measure: Measure, correlation: xr.DataArray, *, average: bool = True
) -> dict[str, xr.DataArray]:
    """The variables `baseline` and `baseline_constant`, on the dims of the correlations; none for what is 0 by chance.

    They are NaN where the correlation is.
    """
    record = measure.coefficient
    if record.chance is None:
        return {}
    made = record.chance
    groups = [GROUPS[measure.level]] if not average and measure.level in GROUPS else []

    def each(x: FloatArray, z: FloatArray, threshold: float) -> tuple[FloatArray, ...]:
        here = measure.at(threshold)
        arrays.check_finite(x, z)
        values, n = made(x, z, here)
        if groups:
            return tuple(values)
        return tuple(np.array(arrays.average(kind, n, measure.undefined_as_zero)) for kind in values)

    constant, random = xr.apply_ufunc(
        each,
        x,
        z,
        along_metrics(record),
        input_core_dims=[checks.CELLS, checks.CELLS, []],
        output_core_dims=[groups, groups],
        vectorize=True,
        dask="parallelized",
        output_dtypes=[float, float],
        keep_attrs=False,
    )
    defined = correlation.notnull()
    found = {"baseline": random, "baseline_constant": constant}
    return {name: values.where(defined).transpose(*correlation.dims) for name, values in found.items()}
