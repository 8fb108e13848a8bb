"""
What is the power of a test?
============================

Each point is the share of simulated sets in which a test found a metric significantly better than its copy with added
noise. The horizontal axis is the amount of noise. A higher curve means more power; ``null=True`` shows the
false-positive rate. The example has few trials: use a thousand.

Reference: :py:meth:`result.meta.plot.power <xarray.Dataset.meta.plot.power>`.
"""

import xsumstat

ds = xsumstat.simulate(10, 40, agreement={"judge": 0.7}, rng=1)
result = xsumstat.power(ds, "human", metric="judge", noise=[1, 2, 4, 8], n_trials=50, n_resamples=99, rng=1)
result.meta.plot.power()
