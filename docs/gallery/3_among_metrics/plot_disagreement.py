"""
Where metrics disagree
======================

How often two metrics order two outputs of an input oppositely, by how high the outputs score. A curve that rises says
that the metrics disagree more about outputs of that quality.

Reference: :py:meth:`result.meta.plot.disagreement <xarray.Dataset.meta.plot.disagreement>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.disagreement(metric=["judge", "rouge", "bleu"])
result.meta.plot.disagreement()
