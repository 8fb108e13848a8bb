"""
Quality, or length?
===================

By how many standard deviations a metric scores higher, at equal human scores, where outputs are longer by one standard
deviation, or come from a group of systems; with 95 % limits. A full point is a bias that leaves out 0.

Reference: :py:meth:`result.meta.plot.bias <xarray.Dataset.meta.plot.bias>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
bias = ds.meta.bias("human", given=["length", "system_type"])
bias.meta.plot.bias()
