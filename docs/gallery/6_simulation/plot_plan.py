"""
How many systems and inputs?
============================

The expected width of the interval of a correlation, for designs of so many systems and inputs. The thick contour is the
width that was asked for: every design on it, or beyond, reaches it. Where contours run flat, more inputs do not help.

Reference: :py:meth:`result.meta.plot.plan <xarray.Dataset.meta.plot.plan>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
plan = xsumstat.plan(ds, "human", metric="judge", level="input", target=0.15)
plan.meta.plot.plan()
