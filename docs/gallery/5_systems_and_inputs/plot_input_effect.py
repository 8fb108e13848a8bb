"""
Are some inputs harder than others?
===================================

The mean rank of each input over the systems, with its interval. Colour marks the inputs that differ from the
highlighted input, by default the input with the lowest mean rank.

Reference: :py:meth:`result.meta.plot.input_effect <xarray.Dataset.meta.plot.input_effect>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.input_effect(metric="human")
result.meta.plot.input_effect()
