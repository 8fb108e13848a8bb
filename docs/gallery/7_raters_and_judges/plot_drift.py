"""
Has the judge changed?
======================

By how much each system's mean score rose between two versions of a judge, with 95 % limits. The band is the mean shift
of all systems. A system whose limits lie outside the band may have changed its rank. Above: the change of agreement.

Reference: :py:meth:`result.meta.plot.drift <xarray.Dataset.meta.plot.drift>`.
"""

import numpy as np

import xsumstat

old = xsumstat.simulate(4, 120, agreement={"judge": 0.7, "small judge": 0.5}, rng=1)
new = old.copy(deep=True)
judges = ["judge", "small judge"]
noise = 0.4 * np.random.default_rng(2).normal(size=(2, 4, 120))
favoured = [[[0.5]], [[0.0]]] * (old.system == old.system[0]).values[:, None]
new.score.loc[{"metric": judges}] += 0.2 + noise + favoured
new.meta.drift(old, metric=judges).meta.plot.drift()
