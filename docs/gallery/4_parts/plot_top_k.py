"""
Correlations among the best systems
===================================

The correlation of each metric with people among the k best systems, as k shrinks from all systems on the left, with
its interval as a band. A metric that orders all systems well may still not order the best ones.

Reference: :py:meth:`result.meta.plot.top_k <xarray.Dataset.meta.plot.top_k>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.top_k_corr("human", metric=["judge", "rouge", "bleu"])
result.meta.plot.top_k()
