"""
Would a test find a difference?
===============================

Each point is the share of simulated sets of scores in which a test found a metric better than a copy of it with added
noise, by how much noise was added. A test whose points lie higher finds more; ``null=True`` shows how often it finds
what is not there. So few trials show the picture and prove nothing: ask for a thousand.

Reference: :py:meth:`result.meta.plot.power <xarray.Dataset.meta.plot.power>`.
"""

import xsumstat

ds = xsumstat.simulate(10, 40, agreement={"judge": 0.7}, rng=1)
result = xsumstat.power(ds, "human", metric="judge", noise=[1, 2, 4, 8], n_trials=50, n_resamples=99, rng=1)
result.meta.plot.power()
