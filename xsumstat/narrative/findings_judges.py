"""What results say of judges that are run again, or refuse: sentences for `conclusions`."""

from __future__ import annotations

import math

import numpy as np
import xarray as xr

from xsumstat.analyses.adjust import decisive
from xsumstat.dataset import scope, wording
from xsumstat.dataset.wording import alike, estimate, listed, name, number, numbers, pvalue
from xsumstat.narrative.findings import gold, labels, level

_MOST = 3  # metrics that get a sentence with their numbers


def repeatability(result: xr.Dataset) -> list[str]:
    """How often runs differ, and what averaging them gains; a sentence for metrics whose runs are identical."""
    every = labels(result)
    same = [at for at in range(len(every)) if float(result["equal_share"][at]) == 1.0]
    varied = [at for at in range(len(every)) if at not in same]
    said = [text for at in varied[:_MOST] for text in _of_metric(result.isel(metric=at), name(every[at]))]
    if len(varied) > _MOST:
        said.append(_of_fewest(result, varied[_MOST:]))
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
        limits = _percent(flips, float(one["flip_low"]), float(one["flip_high"]))
        said += [
            f"Two runs of {metric} order two systems differently on an input in {limits} of cases"
            f"{scope.words(one.attrs, ' for ')} (in {100 * float(one['reversal_share']):.0f} % they reverse the "
            f"order, in the others one run ties them); {100 * equal:.0f} % of the outputs get the same score.",
        ]
    elif not math.isnan(equal):
        said.append(f"Between two runs {metric} gives {100 * equal:.0f} % of the outputs the same score.")
    return said + _gain(one, metric)


def _percent(share: float, low: float, high: float) -> str:
    """A share with its limits: "33 % [29 %, 37 %]"."""
    if math.isnan(low) or math.isnan(high):
        return f"{number(100 * share, 0)} %"
    value, *ends = alike([100 * share, 100 * low, 100 * high], 0)
    return f"{value} % [{', '.join(f'{end} %' for end in ends)}]"


def _gain(one: xr.Dataset, metric: str) -> list[str]:
    """The reliability of the fewest and of the most runs that were asked for, and the agreement."""
    runs = _runs(one)
    values = np.ravel(one["reliability"].values)
    if np.isnan(values).all():
        return [f"The reliability of {metric} cannot be estimated from these runs."]
    lows, highs = (np.ravel(one[end].values) for end in ("ci_low", "ci_high"))
    first, last = int(np.argmin(runs)), int(np.argmax(runs))
    text = f"The reliability of {_mean_of(runs[first])} is {estimate(values[first], lows[first], highs[first])}"
    if last != first:
        text += f", of {_mean_of(runs[last])} {estimate(values[last], lows[last], highs[last])}"
    said: list[str] = [wording.Sentence(text, level(one))]
    if "correlation" in one and last != first:
        r = np.ravel(one["correlation"].values)
        if not np.isnan(r).any():
            before, after = numbers([r[first], r[last]])
            said.append(
                f"With {_mean_of(runs[last])} instead of {_mean_of(runs[first])} Pearson's r with {gold(one)} is "
                f"expected to go from {before} to {after}."
            )
    return said


def _runs(result: xr.Dataset) -> list[int]:
    """Numbers of runs that are averaged; 0 if they are unknown."""
    return np.ravel(result["n_runs"].values).tolist() if "n_runs" in result.coords else [0]


def _mean_of(runs: int) -> str:
    if not runs:
        return "the mean of the runs"
    return "a single run" if runs == 1 else f"the mean of {runs:,} runs"


def _of_fewest(result: xr.Dataset, places: list[int]) -> str:
    """The reliability of the fewest runs of several metrics."""
    runs, values, every = _runs(result), result["reliability"], labels(result)
    first = int(np.argmin(runs))
    values = values.isel(n_runs=first) if "n_runs" in values.dims else values
    each = listed(f"{number(float(values[at]))} for {name(every[at])}" for at in places)
    return f"The reliability of {_mean_of(runs[first])} is {each}."


def repeatability_closing(result: xr.Dataset) -> list[str]:
    """What the numbers assume."""
    return ["This assumes that runs err independently; averaging cannot remove errors that all runs share."]


def missingness(result: xr.Dataset) -> list[str]:
    """How many scores are missing, whether that depends on quality, and what they leave open."""
    every = labels(result)
    missing = result["n_missing"].sum("system").values
    lacking = [at for at in range(len(every)) if missing[at]]
    said = [text for at in lacking[:_MOST] for text in _refusals(result.isel(metric=at), name(every[at]))]
    if len(lacking) > _MOST:
        counts = listed(f"{name(every[at])} ({int(missing[at]):,})" for at in lacking[_MOST:])
        said.append(f"Scores are also missing for {counts}.")
    whole = [name(every[at]) for at in range(len(every)) if not missing[at]]
    return said + ([f"No score of {listed(whole)} is missing."] if whole else [])


def _refusals(one: xr.Dataset, metric: str) -> list[str]:
    """How many scores of one metric are missing, for what outputs, and its bounds."""
    missing, n = (int(one[each].sum()) for each in ("n_missing", "n_outputs"))
    said = [f"{metric} has no score for {missing:,} of {n:,} outputs ({100 * missing / n:.0f} %)."]
    return [*said, *_dependence(one), *_left_open(one, metric)]


def _dependence(one: xr.Dataset) -> list[str]:
    """Whether scores are missing at random, as far as the tests can tell."""
    p = decisive(one)
    tests = {str(test): float(p.sel(test=test)) for test in one["test"].values}
    significant = {test: bool(one["significant"].sel(test=test)) for test in tests}
    quality = min((tests[test] for test in tests if test != "system" and significant[test]), default=math.nan)
    found = []
    if not math.isnan(quality):
        found.append(f"on the human scores ({pvalue(quality)})")
    if significant.get("system"):
        found.append(f"on the system ({pvalue(tests['system'])})")
    whom = scope.words(one.attrs, " for ")
    if not found:
        least = min((value for value in tests.values() if not math.isnan(value)), default=math.nan)
        if math.isnan(least):
            return ["No test can tell whether they are missing at random."]
        return [
            f"There is no significant sign that they depend on the system or on {gold(one)} (least {pvalue(least)}"
            f"{whom}); this does not show that they are missing at random."
        ]
    consequence = "the available scores are not a random sample, and their means and agreement can mislead"
    said = [f"Which scores are missing depends {' and '.join(found)}{whom}: {consequence}."]
    difference, low, high = (float(one[f"difference{end}"]) for end in ("", "_low", "_high"))
    if way := refused(one):
        least, most = sorted([abs(low), abs(high)]) if low * high > 0 else [math.nan, math.nan]
        size = estimate(abs(difference), least, most)
        said.append(f"The outputs without a score have human scores that are {size} {way} on average.")
    return said


def refused(one: xr.Dataset) -> str:
    """Whether outputs without a score of one metric have significantly "lower" or "higher" human scores; else empty."""
    difference = float(one["difference"])
    of_quality = [test for test in one["test"].values.tolist() if test != "system"]
    if math.isnan(difference) or not bool(one["significant"].sel(test=of_quality).any()):
        return ""
    return "lower" if difference < 0 else "higher"


def _left_open(one: xr.Dataset, metric: str) -> list[str]:
    """The bounds of agreement and of the order of systems."""
    said = []
    own, low, high = (float(one[f"accuracy{end}"]) for end in ("", "_low", "_high"))
    if not math.isnan(low):
        alone = "" if math.isnan(own) else f"; the available scores give {number(own)}"
        said.append(
            f"If the missing scores could take any value, the pairwise accuracy of {metric} would be between "
            f"{number(low)} and {number(high)} ({level(one)}{alone})."
        )
    pairs = int(one["n_pairs"])
    if pairs:
        undecided = f"{int(one['n_undecided']):,} of {pairs:,} pairs of systems"
        said.append(f"The missing scores could reverse the order of {undecided} by mean.")
    return said
