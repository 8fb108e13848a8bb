"""
How do two metrics score the same outputs?
==========================================

Below the diagonal each point is an output with its scores by two metrics. The diagonal has the distributions, and the
upper half the correlations. The figure shows ties, ceilings and outliers, which a correlation alone hides.

Reference: :py:meth:`ds.meta.plot.scatter_matrix <xarray.Dataset.meta.plot.scatter_matrix>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
ds.meta.plot.scatter_matrix(metric=["human", "judge", "rouge", "perplexity"])
