"""
p-values of pairs of metrics
============================

A cell is the test of whether the metric of its row agrees better with people than the metric of its column. Coloured
cells have p-values at or below the level of the test, and a frame marks those that remain after the correction for
many tests.

Reference: :py:meth:`result.meta.plot.pvalues <xarray.Dataset.meta.plot.pvalues>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.perm_test("human", level="input", alternative="greater", adjust="holm", n_resamples=999, rng=1)
result.meta.plot.pvalues()
