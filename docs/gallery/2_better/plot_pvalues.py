"""
Which metrics differ significantly?
===================================

Each cell tests whether the metric of its row agrees better with the human scores than the metric of its column.
Coloured cells have p-values up to the significance level. A frame marks cells that are significant after the
correction for multiple tests.

Reference: :py:meth:`result.meta.plot.pvalues <xarray.Dataset.meta.plot.pvalues>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.perm_test("human", level="input", alternative="greater", adjust="holm", n_resamples=999, rng=1)
result.meta.plot.pvalues()
