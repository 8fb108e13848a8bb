"""What results say of judges that are run again, or refuse: sentences for `conclusions`."""

from __future__ import annotations

import math

import numpy as np
import xarray as xr

from xsumstat.dataset import scope
from xsumstat.dataset.wording import estimate, listed, name, number, numbers
from xsumstat.findings import gold, labels

_MOST = 3  # metrics that get a sentence with their numbers


def repeatability(result: xr.Dataset) -> list[str]:
    """How often runs differ, and what averaging them gains; a sentence for metrics whose runs are identical."""
    every = labels(result)
    same = [at for at in range(len(every)) if float(result["equal_share"][at]) == 1.0]
    varied = [at for at in range(len(every)) if at not in same]
    said = [text for at in varied[:_MOST] for text in _of_metric(result.isel(metric=at), name(every[at]))]
    if len(varied) > _MOST:
        said.append(f"The reliability of a single run is {_singles(result, varied[_MOST:])}.")
    if same:
        several = len(same) > 1
        said.append(
            f"All runs of {listed(name(every[at]) for at in same)} are identical: there is nothing to average"
            f"{'' if several else ', and one run is enough'}."
        )
    return said


def _of_metric(one: xr.Dataset, metric: str) -> list[str]:
    said = []
    flips, equal = (float(one[f"{share}_share"]) for share in ("flip", "equal"))
    if not math.isnan(flips):
        limits = estimate(100 * flips, 100 * float(one["flip_low"]), 100 * float(one["flip_high"]), 0)
        said.append(
            f"Between two runs {metric} changes the order of two systems on an input in {_percent(limits)} of cases"
            f"{scope.words(one.attrs, ' for ')}, and reverses it in {100 * float(one['reversal_share']):.0f} %; "
            f"{100 * equal:.0f} % of the outputs get the same score."
        )
    elif not math.isnan(equal):
        said.append(f"Between two runs {metric} gives {100 * equal:.0f} % of the outputs the same score.")
    return said + _gain(one, metric)


def _percent(limits: str) -> str:
    value, _, rest = limits.partition(" ")
    return f"{value} % {rest}".strip()


def _gain(one: xr.Dataset, metric: str) -> list[str]:
    """The reliability of the fewest and of the most runs that were asked for, and the agreement."""
    runs = np.ravel(one["n_runs"].values).tolist() if "n_runs" in one.coords else [0]
    values = np.ravel(one["reliability"].values)
    if np.isnan(values).all():
        return [f"The reliability of {metric} cannot be estimated from these runs."]
    lows, highs = (np.ravel(one[end].values) for end in ("ci_low", "ci_high"))
    first, last = int(np.argmin(runs)), int(np.argmax(runs))
    text = f"The reliability of {_mean_of(runs[first])} is {estimate(values[first], lows[first], highs[first])}"
    if last != first:
        text += f", of {_mean_of(runs[last])} {estimate(values[last], lows[last], highs[last])}"
    said = [f"{text} ({_level(one)})."]
    if "correlation" in one and last != first:
        r = np.ravel(one["correlation"].values)
        if not np.isnan(r).any():
            before, after = numbers([r[first], r[last]])
            said.append(
                f"With {_mean_of(runs[last])} instead of {_mean_of(runs[first])} the correlation with {gold(one)} is "
                f"expected to go from {before} to {after}."
            )
    return said


def _mean_of(runs: int) -> str:
    if not runs:
        return "the mean of the runs"
    return "a single run" if runs == 1 else f"the mean of {runs:,} runs"


def _level(one: xr.Dataset) -> str:
    return f"{str(one.attrs.get('level', '')).replace('_', ' ')} level"


def _singles(result: xr.Dataset, places: list[int]) -> str:
    """The reliability of the fewest runs of several metrics."""
    values = result["reliability"].isel(n_runs=0) if "n_runs" in result["reliability"].dims else result["reliability"]
    every = labels(result)
    return listed(f"{number(float(values[at]))} for {name(every[at])}" for at in places)


def repeatability_closing(result: xr.Dataset) -> list[str]:
    """What the numbers assume."""
    return ["This assumes that runs err independently; averaging cannot remove errors that all runs share."]
