"""
Does a metric measure quality, or length?
=========================================

The slope of each metric, in standard deviations, for outputs that are longer by one standard deviation, or for a
group of systems, at equal human scores. Lines are 95 % intervals. A full point is a significant bias: its interval
excludes 0.

Reference: :py:meth:`result.meta.plot.bias <xarray.Dataset.meta.plot.bias>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
bias = ds.meta.bias("human", given=["length", "system_type"])
bias.meta.plot.bias()
