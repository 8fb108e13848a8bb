"""
How much do metrics agree with each other?
==========================================

Each cell is the correlation of two metrics, with its interval below the number. Similar metrics are next to each
other, so groups that measure the same thing form dark blocks.

Reference: :py:meth:`result.meta.plot.matrix <xarray.Dataset.meta.plot.matrix>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.metric_ci(level="input")
result.meta.plot.matrix()
