"""
How many systems and inputs do I need?
======================================

The expected width of the interval for a correlation, for designs with these numbers of systems and inputs. The thick
contour is the requested width: every design on it or beyond it reaches the width. Where contours are horizontal, more
inputs do not help.

Reference: :py:meth:`result.meta.plot.plan <xarray.Dataset.meta.plot.plan>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
plan = xsumstat.plan(ds, "human", metric="judge", level="input", target=0.15)
plan.meta.plot.plan()
