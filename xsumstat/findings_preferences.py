"""What results say of preferences: sentences for `conclusions`.

Each function takes a result, and gives sentences.
"""

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np
import xarray as xr

from xsumstat.analyses import adjust
from xsumstat.dataset import wording
from xsumstat.dataset.wording import alpha_of, listed, name
from xsumstat.findings import labels
from xsumstat.findings_tests import of_whom, settled_by

_MOST = 4  # raters that a conclusion names one by one


def percent(value: float) -> str:
    """A share: "12 %", with a digit more where it is small, or near to all."""
    shown = 100 * value
    return f"{shown:.3g} %" if 0 < abs(shown) < 1 or 99 < abs(shown) < 100 else f"{shown:.0f} %"


def between(low: float, high: float) -> str:
    """The limits of a share, in brackets: " [8 %, 17 %]"; empty where there are none."""
    return "" if math.isnan(low) or math.isnan(high) else f" [{percent(low)}, {percent(high)}]"


def position_bias(result: xr.Dataset) -> list[str]:
    """Who prefers which position, who does not significantly, and how many choices change."""
    names = labels(result, "rater")
    significant = (adjust.decisive(result) <= alpha_of(result)).values
    whom = of_whom(result)
    said = []
    for at in np.flatnonzero(significant)[:_MOST].tolist():
        said.append(f"{name(names[at])} prefers the output shown {_side(result, at)}: {_moves(result.isel(rater=at))}.")
    more = int(significant.sum()) - _MOST
    if more > 0:
        said.append(f"So do {more:,} more raters, for one position or the other.")
    rest = np.flatnonzero(~significant).tolist()
    if len(rest) == 1:
        one = result.isel(rater=rest[0])
        said.append(f"{name(names[rest[0]])} shows no significant preference for a position: {_moves(one)}.")
    elif rest:
        said.append(f"{_no_preference([names[at] for at in rest])}.")
    said[0] = f"{whom}{said[0]}"
    return [*said, f"The tests: {settled_by(result)}."]


def _no_preference(names: list[Hashable]) -> str:
    return f"No significant preference for a position was found for {listed(names)}"


def _side(result: xr.Dataset, at: int) -> str:
    return "first" if float(result["position_bias"][at]) > 0 else "second"


def _moves(one: xr.Dataset) -> str:
    """How many pairs move each way, and the test."""
    n, first, second = (int(one[each]) for each in ("n_pairs", "n_first", "n_second"))
    limits = between(float(one["flip_low"]), float(one["flip_high"]))
    flips = f"{percent(float(one['flip_share']))}{limits} of {n:,} choices change with the order"
    p = wording.pvalue(float(adjust.decisive(one)))
    return f"{flips}, {first:,} to the first and {second:,} to the second ({p})"
