"""
Where does the variance of the scores come from?
================================================

The share of each metric's variance between systems, between inputs, and in single outputs. More inputs reduce the
effect of single outputs. Only more systems add information about the variance between systems.

Reference: :py:meth:`result.meta.plot.variance_components <xarray.Dataset.meta.plot.variance_components>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
components = ds.meta.variance_components("human", metric=["judge", "bertscore", "rouge", "bleu"])
components.meta.plot.variance_components()
