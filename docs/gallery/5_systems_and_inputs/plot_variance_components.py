"""
Whose variance is it?
=====================

Of each metric's variance the share that lies between systems, between inputs, and in single outputs (cells). More
inputs average away the share of the cells; only more systems say more of the share between systems.

Reference: :py:meth:`result.meta.plot.variance_components <xarray.Dataset.meta.plot.variance_components>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
components = ds.meta.variance_components("human", metric=["judge", "bertscore", "rouge", "bleu"])
components.meta.plot.variance_components()
