"""
Metrics against metrics
=======================

Below the diagonal each point is an output with its scores by two metrics; on the diagonal are the distributions, and
above it the correlations. It shows ties, ceilings and outlying outputs, which a correlation alone hides.

Reference: :py:meth:`ds.meta.plot.scatter_matrix <xarray.Dataset.meta.plot.scatter_matrix>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
ds.meta.plot.scatter_matrix(metric=["human", "judge", "rouge", "perplexity"])
