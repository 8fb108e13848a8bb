"""``python benchmarks/halves.py``: how well the jackknife foretells the other half of published scores.

Systems and inputs are each split in two at random. The other half's correlation is as uncertain as this half's, so that
95 % of them should lie within √2 times the reach of this half's interval (on the scale of arctanh).
"""

import itertools
import math
import warnings
from argparse import Namespace
from collections.abc import Iterator

import command
import numpy as np

import xsumstat
from xsumstat.coefficients import leave_one_out
from xsumstat.inference import jackknife
from xsumstat.resampling import draws
from xsumstat.simulation.designs import Questions, Source

SETS = {"summeval": "expert_relevance", "realsumm": "litepyramid_recall"}
DIMS, CONFIDENCE, SEED = ("system", "input"), 0.95, 18


def held(name: str, gold: str, level: str, coefficient: str, trials: int) -> dict:
    """How many of the other halves' correlations lie within the reach, over metrics and trials."""
    warnings.simplefilter("ignore")
    questions = Questions.of(level, coefficient, "pairwise", "drop")
    source = Source.of(xsumstat.load_dataset(name), gold, None, questions, False, None, None)
    measure = questions.measures[0][0]
    inside = np.full((trials, len(source.labels)), np.nan)
    for trial in range(trials):
        halves = source.halves(draws.generator(SEED, trial))
        for at in range(len(source.labels)):
            here, there = (leave_one_out.of(scores[at], z, measure) for scores, z in halves)
            made = jackknife.of_one(here, measure, DIMS)
            if made.about is None or math.isnan(there.value):
                continue
            low, high = made.limits(math.sqrt(2) * jackknife.t_quantile(CONFIDENCE, made.df))
            inside[trial, at] = low <= there.value <= high
    by_trial = np.nanmean(inside, axis=1)
    # Trials share scores, and metrics do; the error is that of trials, had they been independent.
    return {
        "data": name,
        "level": level,
        "coefficient": coefficient,
        "metrics": len(source.labels),
        "trials": trials,
        "held": round(float(np.nanmean(inside)), 4),
        "mc_error": round(float(np.std(by_trial, ddof=1) / math.sqrt(trials)), 4),
    }


def rows(asked: Namespace) -> Iterator[dict]:
    """Both sets at three levels."""
    levels, coefficients = ("system", "input", "global"), ("pearson", "spearman", "kendall")
    for (name, gold), level, coefficient in itertools.product(SETS.items(), levels, coefficients):
        yield held(name, gold, level, coefficient, asked.trials)


if __name__ == "__main__":
    command.run(__file__, __doc__, rows, trials={"type": int, "default": 500})
