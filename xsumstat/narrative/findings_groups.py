"""Sentences of `conclusion` on groups of systems or inputs.

Each function takes the result of one label of all further dims.
"""

from __future__ import annotations

import math

import numpy as np
import xarray as xr

from xsumstat.analyses import adjust
from xsumstat.dataset import pair_results, results, wording
from xsumstat.dataset.wording import alpha_of, listed, name, numbers
from xsumstat.narrative.findings import coefficient, gold, labels, undefined
from xsumstat.narrative.findings_tests import settled_by

_MOST_METRICS, _MOST_PAIRS = 3, 4


def compare_groups(result: xr.Dataset) -> list[str]:
    """Metrics whose agreement differs between groups, and number of pairs that differ."""
    dims = results.group_dims(result.attrs)
    p = _decisive(result)
    found = (p <= alpha_of(result)).values
    tested = p.notnull().values
    named = labels(result)
    said: list[str] = []
    whom = wording.of_whom(result)
    groups = f"the {result.sizes[dims[0]]:,} groups of {name(dims[0])}"
    if found.any():
        each = [_of_metric(result, at, dims) for at in np.flatnonzero(found)[:_MOST_METRICS]]
        more = int(found.sum()) - len(each)
        rest = f"; and for {more:,} more" if more else ""
        text = f"{whom}agreement with {gold(result)} differs between {groups} for {'; for '.join(each)}{rest}."
        said.append(wording.capitalised(text))
        whom = ""
    if (tested & ~found).any():
        none = [label for label, here in zip(named, tested & ~found, strict=True) if here]
        text = wording.capitalised(f"{whom}there is no significant difference between {groups}")
        only = int(np.flatnonzero(tested & ~found)[0])
        said.append(f"{text} for {listed(none) if len(none) > 1 else _of_metric(result, only, dims)}.")
    if not tested.all():
        none = [label for label, here in zip(named, tested, strict=True) if not here]
        said.append(f"No test of all groups could be made for {listed(none)}.")
    return [*said, *_pairs(result, dims), *undefined(result, "difference")]


def _decisive(result: xr.Dataset) -> xr.DataArray:
    """The p-value of all groups; of two groups that of their difference."""
    if (pair := _of_two(result)) is not None:
        return adjust.decisive(pair).transpose("metric")
    adjusted = "heterogeneity_pvalue_adjusted"
    return result[adjusted if adjusted in result else "heterogeneity_pvalue"].transpose("metric")


def _of_two(result: xr.Dataset) -> xr.Dataset | None:
    """The comparison of the first group with the second, if there are two; None of a part of more groups."""
    one, other = results.group_dims(result.attrs)
    rows, columns = labels(result, one), labels(result, other)
    several = "n_groups" in result and float(result["n_groups"].max()) > 2
    if len(rows) != 2 or set(rows) != set(columns) or several:
        return None
    return result.isel({one: 0, other: columns.index(rows[1])})


def _of_metric(result: xr.Dataset, at: int, dims: tuple[str, ...]) -> str:
    """A metric's correlations, highest first, and its test: "judge (news .42 and chat .31; F(1, 9.3) = 5.1, ...)"."""
    one = result.isel(metric=at)
    values = one["correlation"].values
    order = [each for each in np.argsort(-values, kind="stable").tolist() if not math.isnan(values[each])]
    texts = dict(zip(order, numbers(values[order]), strict=True))
    groups = listed((f"{name(labels(result, dims[0])[each])} {texts[each]}" for each in order), 6)
    pair = _of_two(one)
    test = wording.heterogeneity(one) if pair is None else wording.pvalue(float(adjust.decisive(pair)))
    return f"{name(labels(result)[at])} ({'; '.join(filter(None, [groups, test]))})"


def _pairs(result: xr.Dataset, dims: tuple[str, ...]) -> list[str]:
    p, difference = (each.transpose("metric", *dims).values for each in (adjust.decisive(result), result["difference"]))
    rows, columns, named = labels(result, dims[0]), labels(result, dims[1]), labels(result)
    tests, apart = 0, []
    for metric in range(len(named)):
        pairs = pair_results.once(rows, columns, ~np.isnan(p[metric]))
        tests += len(pairs)
        of = f"{name(named[metric])}: " if len(named) > 1 else ""
        for one, two in pairs:
            high, low = (rows[one], columns[two])[:: 1 if difference[metric, one, two] > 0 else -1]
            if p[metric, one, two] <= alpha_of(result):
                apart.append(f"{of}{name(high)} above {name(low)}")
    if not tests:
        return ["No pair of groups could be compared."]
    listing = f": {wording.joined(apart, _MOST_PAIRS)}" if apart else ""
    what = "comparisons of two groups are significant" if len(named) > 1 else "pairs of groups differ significantly"
    many = f"{len(apart):,} of {tests:,} {what}"
    return [f"{many} ({settled_by(result)}; {coefficient(result)}){listing}."]
