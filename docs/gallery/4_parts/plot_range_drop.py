"""
Drops within a narrower range
=============================

Any two metrics correlate less where only a narrow range of the scores is looked at. Points are the drops in
correlation with their intervals; the grey bars span the drops that the narrower range brings about by itself. A point
right of its bar says that the metrics disagree more in that range.

Reference: :py:meth:`result.meta.plot.range_drop <xarray.Dataset.meta.plot.range_drop>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.range_drop(above=0.5, unit="quantile", n_resamples=99, n_simulations=99, rng=1)
result.meta.plot.range_drop(metric=["judge", "rouge", "bleu", "length"])
