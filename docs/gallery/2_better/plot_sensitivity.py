"""
At which margin are metrics equivalent?
=======================================

Equivalence depends on the margin, the largest difference that does not matter. The curve shows the share of
equivalent comparisons as a function of the margin. It shows the margin that a conclusion needs.

Reference: :py:meth:`result.meta.plot.sensitivity <xarray.Dataset.meta.plot.sensitivity>`.
"""

import xsumstat

agreement = {"judge": 0.7, "judge with hints": 0.72, "shorter prompt": 0.66, "rouge": 0.5}
ds = xsumstat.simulate(20, 100, agreement=agreement, truth=False, rng=1)
result = ds.meta.margin_sensitivity("human", other=list(agreement), level="input", n_resamples=999, rng=1)
result.meta.plot.sensitivity()
