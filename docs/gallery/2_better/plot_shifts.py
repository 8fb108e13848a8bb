"""
Is the order of metrics the same in another language?
=====================================================

Dominance is the share of resamples in which one metric agrees better with the human scores than another. Each small
point is a pair of metrics: the change of its dominance from the base version of the scores to another version. The
large point is the mean of all pairs. Points near zero mean that the order of the metrics is stable.

Reference: :py:meth:`result.meta.plot.shifts <xarray.Dataset.meta.plot.shifts>`.
"""

import pandas as pd
import xarray as xr

import xsumstat

ds = xr.concat(
    [
        xsumstat.simulate(
            12, 40, agreement={"judge": judge, "comet": 0.6, "rouge": 0.4, "bleu": 0.2}, truth=False, rng=1
        )
        for judge in (0.8, 0.7, 0.6, 0.3)
    ],
    pd.Index(["en", "de", "fr", "zh"], name="language"),
    combine_attrs="override",
)
result = ds.meta.dominance("human", along="language", base="en", level="input", n_resamples=999, rng=1)
result.meta.plot.shifts()
