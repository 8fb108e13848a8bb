"""
Does a judge prefer the output that is shown first?
===================================================

The position bias of each judge, with 95 % limits. A judge whose limits exclude 0 has a position bias. Choices that
are the same in both orders count as no bias.

Reference: :py:meth:`result.meta.plot.raters <xarray.Dataset.meta.plot.raters>`.
"""

import numpy as np
import pandas as pd

import xsumstat  # noqa: F401 - registers df.meta

rng = np.random.default_rng(1)
quality = rng.normal(size=200)
rows = []
for judge, pull in {"gpt": 0.2, "llama": 0.8, "qwen": 0.0}.items():
    for swapped in (False, True):
        seen = quality + 0.4 * rng.normal(size=200) + (-pull if swapped else pull)
        choice = np.where(np.abs(seen) < 0.1, "tie", np.where(seen > 0, "small", "large"))
        rows += [("small", "large", each, at, judge, swapped) for at, each in enumerate(choice)]
frame = pd.DataFrame(rows, columns=["left", "right", "choice", "prompt", "judge", "swapped"])
found = frame.meta.to_preferences(rater="judge", order="swapped").meta.position_bias()
found.meta.plot.raters()
