"""
Which design is best for a budget?
==================================

The expected width of the interval for the difference of two systems, with its limits, for each number of ratings per
output. The numbers are the inputs that fit into the budget, and the ring marks the best design. Several ratings per
output are worth their cost if prompts are expensive.

Reference: :py:meth:`result.meta.plot.plan <xarray.Dataset.meta.plot.plan>`.
"""

import numpy as np
import xarray as xr

import xsumstat

ds = xsumstat.load_dataset("demo")
noise = xr.DataArray(np.random.default_rng(0).normal(size=(3, 12, 30)), dims=("rater", "system", "input"))
rating = (ds.score.sel(metric="human", drop=True) + 20 * noise).rename("rating")
plan = xsumstat.plan(
    ds, rating=rating, estimand="difference", budget=[2000, 5000], cost_per_rating=1, cost_per_prompt=20
)
plan.meta.plot.plan()
