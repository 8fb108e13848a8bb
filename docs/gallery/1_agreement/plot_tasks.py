"""
Metrics over several tasks
==========================

A table as the shared tasks on metrics of machine translation print it: a row for each metric, a column for each task,
with correlation and cluster, and the average in front. The metrics of the first cluster are bold.

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
