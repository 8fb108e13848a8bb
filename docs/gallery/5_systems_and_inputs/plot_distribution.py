"""
Distributions of scores
=======================

Where the scores of outputs lie, for groups of systems or inputs. Groups that lie apart may be all that a correlation
over all systems sees.

Reference: :py:meth:`ds.meta.plot.distribution <xarray.Dataset.meta.plot.distribution>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
ds.meta.plot.distribution(metric=["human", "judge", "perplexity"], by="system_type")
