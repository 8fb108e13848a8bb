"""
Does the metric find the same significant differences?
======================================================

For each pair of systems, a test by the human scores and a test by the metric give a verdict: one system is better,
the other is better, or there is no significant difference. Pairs with the same verdict are on the diagonal.

Reference: :py:meth:`result.meta.plot.confusion <xarray.Dataset.meta.plot.confusion>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = ds.meta.discriminative_agreement("human", metric=["judge", "rouge", "bleu", "length"], rng=1)
result.meta.plot.confusion()
