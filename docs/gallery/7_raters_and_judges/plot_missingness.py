"""
Which outputs does the judge refuse to score?
=============================================

The share of the outputs without a score, by system with 95 % limits, and by quarter of the human scores. A judge that
refuses the worst outputs looks better than it is, and so do the systems that it refuses.

Reference: :py:meth:`result.meta.plot.missingness <xarray.Dataset.meta.plot.missingness>`.
"""

import xsumstat

ds = xsumstat.load_dataset("demo").sel(metric=["judge", "rouge", "human"])
human = ds.score.sel(metric="human")
refused = ds.assign(score=ds.score.where((ds.metric != "judge") | (human > human.quantile(0.2))))
found = refused.meta.missingness("human", score_range={"judge": (0, 120)}, rng=1)
found.meta.plot.missingness()
