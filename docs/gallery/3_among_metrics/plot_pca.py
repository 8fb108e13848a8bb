"""
Metrics as points
=================

The first two principal components of the metrics' scores. Metrics that lie close together order the outputs alike;
the axes say how much of the variance each component has.

Reference: :py:meth:`result.meta.plot.pca <xarray.Dataset.meta.plot.pca>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.pca()
result.meta.plot.pca()
