"""
Is the drop larger than the narrow range explains?
==================================================

Two metrics correlate less within a narrow range of scores. Points are the drops in correlation with their intervals.
Grey bars are the drops that the narrow range alone causes. A point to the right of its bar means that the metrics
disagree more in that range.

Reference: :py:meth:`result.meta.plot.range_drop <xarray.Dataset.meta.plot.range_drop>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.range_drop(above=0.5, unit="quantile", n_resamples=99, n_simulations=99, rng=1)
result.meta.plot.range_drop(metric=["judge", "rouge", "bleu", "length"])
