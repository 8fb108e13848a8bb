"""
Better by one, better by all?
=============================

Of the outputs that are better than another one by some metric, the share that are better by all metrics, by how high
the output that they improve on scores. A curve that falls says that, among good outputs, a gain by one metric says
less about the others.

Reference: :py:meth:`result.meta.plot.improvement <xarray.Dataset.meta.plot.improvement>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.improvement_consistency(metric=["judge", "rouge", "bleu"])
result.meta.plot.improvement()
