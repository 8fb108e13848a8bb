"""
How do metrics rank over several tasks?
=======================================

A table in the layout of the WMT metrics shared tasks: one row per metric, one column per task, with correlation and
cluster. The first column is the average. The metrics of the first cluster are bold.

Reference: :py:meth:`result.meta.plot.tasks <xarray.Dataset.meta.plot.tasks>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo")
result = xsumstat.rank_tasks(
    {
        "systems": {"ds": ds, "gold": "human", "level": "system"},
        "inputs": {"ds": ds, "gold": "human", "level": "input", "coefficient": "kendall"},
    },
    n_resamples=999,
    rng=1,
)
result.meta.plot.tasks()
