"""
Systems close together
======================

The correlation over those pairs of systems alone that the metric scores nearly alike: the closest quarter of the
pairs, the closest half, and all. Where an interval on the left reaches zero, the metric may not order such systems as
people do at all.

Reference: :py:meth:`result.meta.plot.close_corr <xarray.Dataset.meta.plot.close_corr>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.close_corr("human", gap=[0.25, 0.5, 1.0], metric=["judge", "rouge", "bleu"])
result.meta.plot.close_corr()
