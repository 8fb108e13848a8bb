"""
Which inputs were drawn, and which were rated?
==============================================

One row per stratum, one mark per input, at its mean score by the judge. Here more inputs are drawn where the judge is
unsure. With human scores, crosses mark drawn inputs that nobody rated, and squares rated inputs that were not drawn.

Reference: :py:meth:`ds.meta.plot.sample_inputs <xarray.Dataset.meta.plot.sample_inputs>`.
"""

import warnings

import numpy as np

import xsumstat

warnings.simplefilter("ignore", xsumstat.LeftOutWarning)  # some drawn outputs lack ratings

ds = xsumstat.simulate(6, 150, agreement={"judge": 0.8}, truth=False, rng=1)
ds = ds.assign_coords(entropy=("input", np.random.default_rng(1).gamma(2, 0.5, 150)))
judged = ds.sel(metric=["judge"]).drop_attrs()
drawn = judged.meta.sample_inputs(40, strata="unsure", unsure="entropy", rng=2)
rated = drawn.drawn & (np.arange(150) % 7 > 0)  # some drawn inputs lack ratings
human = ds.score.sel(metric="human", drop=True).where(rated)
xsumstat.add_gold(drawn, human.reset_coords(drop=True)).meta.plot.sample_inputs()
