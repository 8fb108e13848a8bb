"""
Easy and hard inputs
====================

The mean rank of each input over the systems, with its interval. Colour marks the inputs that differ from the one that
is highlighted, by default the one with the lowest mean rank.

Reference: :py:meth:`result.meta.plot.input_effect <xarray.Dataset.meta.plot.input_effect>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.input_effect(metric="human")
result.meta.plot.input_effect()
