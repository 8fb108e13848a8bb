"""
Which inputs are hard, and which scores are missing?
====================================================

All scores of one or several metrics, with inputs as rows and systems as columns, in the order of their means by the
first metric. Rows of one colour are inputs that are easy or hard for every system. White cells are missing.

Reference: :py:meth:`ds.meta.plot.heatmap <xarray.Dataset.meta.plot.heatmap>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
ds.meta.plot.heatmap(metric=["human", "judge"])
