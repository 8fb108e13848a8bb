"""
How large is one number for each metric?
========================================

Bars for any number that a result has for each metric. If the result has intervals, whiskers show them. This example
compares the correlations for two types of systems and for all systems.

Reference: :py:meth:`result.meta.plot.bars <xarray.Dataset.meta.plot.bars>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.ci("human", level="input", by="system_type")
result.meta.plot.bars()
