"""Sentences of `conclusion` on outputs by score bin.

Each function takes the result of one label of all further dims.
"""

from __future__ import annotations

import math

import numpy as np
import xarray as xr

from xsumstat.core.types import FloatArray, IntArray
from xsumstat.dataset import pair_results, wording
from xsumstat.dataset.wording import number
from xsumstat.narrative.findings import estimated, interval, labels

# Least number of pairs or outputs, and least share of all, for a score bin to be named.
_LEAST, _LEAST_SHARE = 30, 0.01


def disagreement(result: xr.Dataset) -> list[str]:
    dims = ("metric", "other_metric", "score_bin")
    share, n = (result[each].transpose(*dims).values for each in ("share", "n_pairs"))
    first = np.zeros(n.shape, dtype=bool)
    for pair in pair_results.once(labels(result), labels(result, "other_metric")):
        first[pair] = True
    n = np.where(np.isnan(share) | ~first, 0, n)
    weights = n.sum(axis=(0, 1))
    if not weights.sum():
        return ["No pair of outputs could be compared."]
    opposite = (np.nan_to_num(share) * n).sum(axis=(0, 1))
    compared = int((n.sum(axis=-1) > 0).sum())
    counted = f", counted for each of {compared:,} pairs of metrics" if compared > 1 else ""
    rate = number(opposite.sum() / weights.sum())
    said = f"Two metrics order a share of {rate} of {weights.sum():,} pairs of outputs in opposite directions"
    rates = np.divide(opposite, weights, out=np.full(len(weights), math.nan), where=weights > 0)
    return [f"{said}{counted}.", _by_bin(result, rates, weights, [number(rate) for rate in rates], "pairs")]


def improvement_consistency(result: xr.Dataset) -> list[str]:
    ratio, n = result["ratio"].values, result["n_outputs"].values
    n = np.where(np.isnan(ratio), 0, n)
    if not n.sum():
        return ["No output can be improved on."]
    mean = number(float((np.nan_to_num(ratio) * n).sum() / n.sum()))
    texts = [estimated(result.isel(score_bin=at), "ratio") for at in range(len(ratio))]
    how = f" ({interval(result, 's')})" if wording.has_intervals(result) else ""
    return [
        f"Of the outputs that some metric scores higher than a given output, all metrics score a share of {mean} "
        f"higher, on average over {n.sum():,} outputs.",
        _by_bin(result, ratio, n, texts, "outputs", how),
    ]


def _by_bin(result: xr.Dataset, values: FloatArray, n: IntArray, texts: list[str], unit: str, how: str = "") -> str:
    """Lowest, highest and most extreme bins with enough pairs or outputs."""
    least = max(_LEAST, math.ceil(_LEAST_SHARE * int(n.sum())))
    enough = np.flatnonzero(n >= least).tolist()
    if not enough:
        return f"No score bin has {least:,} {unit} or more."

    def where(at: int) -> str:
        return f"scores around {number(result['score_bin'].values[at])}, {n[at]:,} {unit}"

    low, high = enough[0], enough[-1]
    if low == high:
        return f"The only score bin with at least {least:,} {unit} ({where(low)}) has a share of {texts[low]}{how}."
    said = f"Of the score bins with at least {least:,} {unit}, the lowest ({where(low)}) has a share of {texts[low]}"
    said += f", the highest ({where(high)}) {texts[high]}"
    most = max(enough, key=lambda at: float(values[at]))
    if most not in (low, high):
        said += f"; the largest share is {texts[most]} ({where(most)})"
    return f"{said}{how}."
