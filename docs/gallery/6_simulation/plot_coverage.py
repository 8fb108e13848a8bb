"""
Do intervals hold the truth?
============================

Sets of scores are drawn from a model whose true correlations are known; the points are the shares of the intervals
that hold the truth, with the limits of the simulation, and the dashed line is the share that they should reach.
Intervals that draw inputs alone (``input``) take the systems for all there are, and hold the truth less and less
often as inputs are added. So few trials show the picture and prove nothing: ask for a thousand.

Reference: :py:meth:`result.meta.plot.coverage <xarray.Dataset.meta.plot.coverage>`.
"""

import xsumstat

ds = xsumstat.simulate(10, 40, agreement={"judge": 0.7}, rng=1)
result = xsumstat.coverage(
    ds, "human", metric="judge", truth="population", n_inputs=[20, 40, 80], n_trials=50, n_resamples=99, rng=1
)
result.meta.plot.coverage()
