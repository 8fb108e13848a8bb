"""
Intervals of correlations
=========================

Each row is a metric: the point is its correlation with the human scores, the line its 95 % interval, and the shade
behind it shows which values are more and less plausible. Two intervals that overlap do not say that the metrics are
equally good: the difference has an interval of its own.

Reference: :py:meth:`result.meta.plot.forest <xarray.Dataset.meta.plot.forest>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.ci("human", level="input")
result.meta.plot.forest()
