"""
Do intervals have their nominal coverage?
=========================================

The scores are drawn from a model with known true correlations. The points are the coverage of each interval with its
simulation error, and the dashed line is the nominal coverage. Intervals that draw only inputs (``input``) treat the
systems as fixed, and their coverage falls as inputs are added. The example has few trials: use a thousand.

Reference: :py:meth:`result.meta.plot.coverage <xarray.Dataset.meta.plot.coverage>`.
"""

import xsumstat

ds = xsumstat.simulate(10, 40, agreement={"judge": 0.7}, rng=1)
result = xsumstat.coverage(
    ds, "human", metric="judge", truth="population", n_inputs=[20, 40, 80], n_trials=50, n_resamples=99, rng=1
)
result.meta.plot.coverage()
