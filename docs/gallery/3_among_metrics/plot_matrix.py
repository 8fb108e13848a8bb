"""
Correlations among metrics
==========================

Each cell is the correlation of two metrics, with its interval below the number. Metrics that are much correlated
stand beside each other, so that groups which measure the same thing are dark blocks.

Reference: :py:meth:`result.meta.plot.matrix <xarray.Dataset.meta.plot.matrix>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.metric_ci(level="input")
result.meta.plot.matrix()
