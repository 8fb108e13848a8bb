"""
How good is each system, with few ratings?
==========================================

Each system's mean human score with 95 % limits, estimated from the rated inputs and the metric's scores of all
inputs. The grey line below is the mean of the ratings alone. The shorter the upper line is, the more ratings the
metric saves.

Reference: :py:meth:`result.meta.plot.system_means <xarray.Dataset.meta.plot.system_means>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
few = ds.score.sel(metric="human").isel(input=slice(15))  # people rated 15 of 30 inputs
means = ds.meta.system_means(few, metric="judge")
means.meta.plot.system_means()
