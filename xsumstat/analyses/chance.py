"""Chance values beside correlations: `baseline`, `baseline_constant` and `pairs_used` of `corr`, `ci` and `rank`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from xsumstat.analyses.measure import Measure, along_metrics
from xsumstat.catalogue.variables import CHANCE
from xsumstat.coefficients import arrays, chance
from xsumstat.coefficients.record import Coefficient
from xsumstat.core.levels import GROUPS
from xsumstat.core.types import FloatArray
from xsumstat.dataset import checks, facts, labelled

_FEW = 0.1  # of the pairs: what is found of so few is said to be of few


def of(
    x: xr.DataArray, z: xr.DataArray, measure: Measure, correlation: xr.DataArray, *, average: bool = True
) -> dict[str, xr.DataArray]:
    """The variables `baseline` and `baseline_constant`, with a threshold of human scores also `pairs_used`."""
    record = measure.coefficient
    if record.chance is None:
        return {}
    made = record.chance
    in_part = record.threshold_of == "gold"
    groups = [GROUPS[measure.level]] if not average and measure.level in GROUPS else []

    def each(x: FloatArray, z: FloatArray, threshold: float) -> tuple[FloatArray, ...]:
        here = measure.at(threshold)
        arrays.check_finite(x, z)
        x, z = here.seen(x, z)
        values, n = made(x, z, here)
        shares = (_share(*chance.counted(x, z, here), bool(groups)),) if in_part else ()
        if groups:
            return (*values, *shares)
        return (*(np.array(here.average(kind, n)) for kind in values), *shares)

    names = ("baseline_constant", "baseline", *(["pairs_used"] if in_part else []))
    inputs: list[tuple[xr.DataArray, Sequence[str]]] = [(x, facts.CELLS), (z, facts.CELLS), (along_metrics(record), [])]
    by_name = labelled.by_label(each, inputs, dict.fromkeys(names, groups))
    defined = correlation.notnull()
    found = {name: by_name[name] for name in CHANCE if name in by_name}
    return {name: values.where(defined).transpose(*correlation.dims) for name, values in found.items()}


def _share(counted: FloatArray, pairs: FloatArray, by_group: bool) -> FloatArray:
    """The share of pairs that count, of each group or of all together; NaN without pairs."""
    if not by_group:
        counted, pairs = counted.sum(), pairs.sum()
    return np.asarray(np.where(pairs > 0, counted / np.maximum(pairs, 1.0), np.nan))


def warn_few(share: xr.DataArray, record: Coefficient) -> None:
    """Name the metrics for which few pairs count."""
    few = share < _FEW
    if few.any():
        shown = f"{100 * float(share.where(few).min()):.2g} %"
        checks.warn_where(
            few,
            f"{record.name} counts few pairs, at least {shown} of them, as the others' gold scores lie less than "
            f"{record.threshold:g} apart (threshold= sets it), for",
            "few_pairs",
        )
