"""
How do the metrics rank?
========================

Metrics in the order of their correlation with the human scores. The shades are the clusters of :py:meth:`ds.meta.rank
<xarray.Dataset.meta.rank>`. With ``intervals=`` whiskers show the interval for each correlation. With ``tests=`` a
bar joins metrics without a significant difference.

Reference: :py:meth:`result.meta.plot.clusters <xarray.Dataset.meta.plot.clusters>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
ranks = ds.meta.rank("human", level="input")
tests = ds.meta.compare_metrics("human", level="input")
ranks.meta.plot.clusters(intervals=ds.meta.ci("human", level="input"), tests=tests)
