"""
Which system is preferred?
==========================

Strengths of systems in the Bradley–Terry model with ties, with 95 % limits for new prompts. They are estimated from
people's choices on 40 of 160 prompts, from a judge's choices on all prompts, and from both. The shorter the lowest
line is compared with the highest, the more human choices the judge saves.

Reference: :py:meth:`result.meta.plot.strengths <xarray.Dataset.meta.plot.strengths>`.
"""

import itertools

import numpy as np
import pandas as pd

import xsumstat  # noqa: F401 - registers df.meta

rng = np.random.default_rng(3)
means = {"large": 0.6, "medium": 0.3, "small": -0.2, "tiny": -0.7}
rows = []
for prompt in range(160):
    quality = {name: mean + rng.normal() for name, mean in means.items()}
    for rater in ("gpt", "ann")[: 2 if prompt < 40 else 1]:
        seen = {name: value + 0.4 * rng.normal() for name, value in quality.items()}
        for left, right in itertools.combinations(means, 2):
            gap = seen[left] - seen[right]
            rows.append((prompt, left, right, "tie" if abs(gap) < 0.2 else left if gap > 0 else right, rater))
frame = pd.DataFrame(rows, columns=["prompt", "left", "right", "choice", "rater"])
ds = frame.meta.to_preferences(rater="rater", kind={"human": "ann"})
ds.meta.rank_systems().meta.plot.strengths()
