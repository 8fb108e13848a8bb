"""
Which metrics measure the same thing?
=====================================

The first two principal components of the metrics' scores. Metrics close to each other order the outputs similarly.
The axis labels have the share of the variance of each component.

Reference: :py:meth:`result.meta.plot.pca <xarray.Dataset.meta.plot.pca>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.pca()
result.meta.plot.pca()
