"""Deutsch et al. (2021), Figure 4, for SummEval: intervals of 13 metrics, both dims drawn 10,000 times."""

from data import COEFFICIENTS, LEVELS, PAPER_METRICS

import xsumstat

ds = xsumstat.load_dataset("summeval")
for level in LEVELS:
    for coefficient in COEFFICIENTS:
        asked = {"level": level, "coefficient": coefficient, "method": "bootstrap"}
        ds.meta.ci(metric=PAPER_METRICS, n_resamples=10_000, rng=0, **asked)
