"""
One number of each metric
=========================

Bars of any number that a result has for each metric; where the result has intervals, they are drawn as whiskers. Here
the correlations among two types of systems, and among all, stand side by side.

Reference: :py:meth:`result.meta.plot.bars <xarray.Dataset.meta.plot.bars>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.ci("human", level="input", by="system_type")
result.meta.plot.bars()
