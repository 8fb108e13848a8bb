"""
Mean human scores from few ratings
==================================

Each system's mean human score, from the inputs that people rated and all that the metric scored, with its 95 %
limits; in grey below it the mean of the ratings alone. The shorter the upper line is beside the grey one, the more
ratings the metric saves.

Reference: :py:meth:`result.meta.plot.system_means <xarray.Dataset.meta.plot.system_means>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
few = ds.score.sel(metric="human").isel(input=slice(15))  # people rated 15 of 30 inputs
means = ds.meta.system_means(few, metric="judge")
means.meta.plot.system_means()
