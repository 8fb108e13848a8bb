"""Deutsch et al. (2021), Figure 5, for SummEval: all ordered pairs of 13 metrics, 10,000 permutations of both dims."""

from data import COEFFICIENTS, LEVELS, PAPER_METRICS

import xsumstat

ds = xsumstat.load_dataset("summeval")
settings = {"metric": PAPER_METRICS, "alternative": "greater", "n_resamples": 10_000, "rng": 0}
for level in LEVELS:
    for coefficient in COEFFICIENTS:
        ds.meta.perm_test(level=level, coefficient=coefficient, **settings)
