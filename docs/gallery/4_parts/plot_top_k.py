"""
Is agreement the same among the best systems?
=============================================

The correlation of each metric with the human scores among the k best systems, from all systems on the left to the
fewest on the right. The band is its interval. A metric that orders all systems well may not order the best systems.

Reference: :py:meth:`result.meta.plot.top_k <xarray.Dataset.meta.plot.top_k>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.top_k_corr("human", metric=["judge", "rouge", "bleu"])
result.meta.plot.top_k()
