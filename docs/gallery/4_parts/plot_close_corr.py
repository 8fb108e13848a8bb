"""
Does a metric order similar systems correctly?
==============================================

The correlation over the pairs of systems to which the metric gives similar scores: the closest quarter of the pairs,
the closest half, and all pairs. If an interval on the left includes zero, the metric may not order such systems as
people do.

Reference: :py:meth:`result.meta.plot.close_corr <xarray.Dataset.meta.plot.close_corr>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.close_corr("human", gap=[0.25, 0.5, 1.0], metric=["judge", "rouge", "bleu"])
result.meta.plot.close_corr()
