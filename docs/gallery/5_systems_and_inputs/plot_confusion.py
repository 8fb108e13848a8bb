"""
Verdicts on pairs of systems
============================

For each pair of systems people and the metric say by a test that one is better, that the other is, or that they
cannot be told apart. A metric that comes to the same verdicts as people has its pairs on the diagonal.

Reference: :py:meth:`result.meta.plot.confusion <xarray.Dataset.meta.plot.confusion>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.discriminative_agreement("human", metric=["judge", "rouge", "bleu", "length"], rng=1)
result.meta.plot.confusion()
