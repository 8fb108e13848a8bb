"""A judge that ran several times: the scores averaged over its runs."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import xarray as xr

from xsumstat.core import validate
from xsumstat.dataset import chunking

RUN = "run"


def n_runs(ds: xr.Dataset) -> int:
    """How many runs the scores have; 1 without the dim "run"."""
    score = ds.get("score")
    return score.sizes[RUN] if score is not None and RUN in score.dims else 1


def averaged(ds: xr.Dataset) -> xr.Dataset:
    """Scores averaged over the runs that each output has, whatever their order; without runs the Dataset itself."""
    score = ds.get("score")
    if score is None or RUN not in score.dims:
        return ds
    means = {name: _mean(each) for name, each in ds.data_vars.items() if RUN in each.dims and each.dtype.kind in "fiub"}
    rest = [name for name, each in ds.variables.items() if RUN in each.dims and name not in means]
    return ds.drop_vars(rest).assign(means)


def with_medians(ds: xr.Dataset, runs: xr.Dataset, judges: list[Hashable]) -> xr.Dataset:
    """Mean scores, with the median run of some judges instead; of an even number of runs without the last."""
    there = runs["score"].notnull()
    odd = (there.sum(RUN) % 2 == 1) | (there.cumsum(RUN) < there.sum(RUN))
    median = runs["score"].where(odd).median(RUN, keep_attrs=True)
    return ds.assign(score=ds["score"].where(~ds["metric"].isin(judges), median.transpose(*ds["score"].dims)))


def told(n: int, classes: bool = False) -> str:
    """What is used of several runs; where classes are compared, the mean of grades would be none."""
    runs = validate.counted(n, "run")
    return f"{runs}; of grades the median, of other scores the mean" if classes else f"mean of {runs}"


def lacking(ds: xr.Dataset, judges: list[Hashable]) -> str:
    """How many verdicts single runs lack on outputs that another run scored; empty if none."""
    there = ds["score"].sel(metric=judges).notnull()
    some = there.any(RUN)
    n = int(some.sum()) * there.sizes[RUN]
    lost = n - int(there.sum())
    return f"{lost:,} of {n:,} verdicts {'is' if lost == 1 else 'are'} missing in single runs" if lost else ""


def _mean(values: xr.DataArray) -> xr.DataArray:
    """The mean over runs, in an order of summation that does not depend on that of the runs."""
    values = values.compute() if chunking.is_lazy(values) else values
    in_order = np.sort(values.transpose(RUN, ...).values.astype(float), axis=0)
    return values.transpose(RUN, ...).astype(float).copy(data=in_order).mean(RUN, keep_attrs=True)
