"""
Where do metrics disagree?
==========================

How often two metrics order two outputs of an input oppositely, as a function of the outputs' mean normalised score.
Where the curve is higher, the metrics disagree more on outputs of that quality.

Reference: :py:meth:`result.meta.plot.disagreement <xarray.Dataset.meta.plot.disagreement>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.disagreement(metric=["judge", "rouge", "bleu"])
result.meta.plot.disagreement()
