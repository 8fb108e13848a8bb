"""
How are the scores distributed?
===============================

The distribution of scores for groups of systems or inputs. If groups have very different scores, the correlation over
all systems may reflect only the groups. Look at the groups first.

Reference: :py:meth:`ds.meta.plot.distribution <xarray.Dataset.meta.plot.distribution>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
ds.meta.plot.distribution(metric=["human", "judge", "perplexity"], by="system_type")
