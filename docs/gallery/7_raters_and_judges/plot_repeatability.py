"""
One run of a judge, or several?
===============================

How reliable the mean of several runs is, and which correlation with the human scores it is expected to have, with 95 %
limits. A judge with little noise between its runs gains little.

Reference: :py:meth:`result.meta.plot.repeatability <xarray.Dataset.meta.plot.repeatability>`.
"""

import numpy as np
import xarray as xr

import xsumstat

ds = xsumstat.load_dataset("demo").sel(metric=["judge", "bertscore", "human"])
noise = xr.DataArray(np.random.default_rng(0).normal(size=(3, 12, 30)), dims=("run", "system", "input"))
spread = xr.DataArray([1, 0.4, 0], dims="metric") * ds.score.std(("system", "input"))  # the human scores have none
runs = ds.assign(score=ds.score + spread * noise)
found = runs.meta.repeatability("human")
found.meta.plot.repeatability()
