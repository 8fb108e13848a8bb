"""
Is an output that one metric prefers also preferred by all others?
==================================================================

For outputs that are better than a given output by at least one metric, the share that are better by all metrics. The
horizontal axis is the score of the given output. A falling curve means that a gain by one metric is less informative
about the other metrics among good outputs.

Reference: :py:meth:`result.meta.plot.improvement <xarray.Dataset.meta.plot.improvement>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.improvement_consistency(metric=["judge", "rouge", "bleu"])
result.meta.plot.improvement()
