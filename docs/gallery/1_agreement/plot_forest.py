"""
How precise are the correlations?
=================================

Each row is a metric: the point is its correlation with the human scores, and the line is its 95 % interval. The
density behind the line shows more and less plausible values. Overlapping intervals do not show that metrics are
equally good: the difference has its own interval.

Reference: :py:meth:`result.meta.plot.forest <xarray.Dataset.meta.plot.forest>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.ci("human", level="input")
result.meta.plot.forest()
