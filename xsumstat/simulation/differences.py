"""How often two systems that differ are told apart, with the noise of given ones; plain arrays."""

from __future__ import annotations

import numpy as np

from xsumstat.resampling import draws
from xsumstat.types import FloatArray

# Differences that are drawn at once.
_AT_ONCE = 2_000_000
_LEAST = 5


def noise_of_pairs(gold: FloatArray) -> list[FloatArray]:
    """Of each two systems the differences of their scores on the inputs that both have, less their mean.

    They are scaled so that their mean square is the unbiased variance. Pairs with fewer than five inputs are left out;
    a ValueError says where there is none.
    """
    found = []
    for one in range(len(gold)):
        for two in range(one + 1, len(gold)):
            apart = gold[one] - gold[two]
            apart = apart[np.isfinite(apart)]
            if len(apart) >= _LEAST:
                found.append((apart - apart.mean()) * np.sqrt(len(apart) / (len(apart) - 1)))
    if not found:
        raise ValueError(
            f"no two systems share {_LEAST} inputs with gold scores, so that their differences are unknown"
        )
    return found


def shares_found(
    noise: list[FloatArray], sizes: list[float], inputs: list[int], alpha: float, n_trials: int, seed: int
) -> FloatArray:
    """Whether a two-sided paired t-test finds a difference, (differences, numbers of inputs, trials).

    In each trial a pair of systems is drawn, and its differences on new inputs from its own. All sizes see the same
    trials.
    """
    from scipy.special import stdtrit

    out = np.empty((len(sizes), len(inputs), n_trials))
    for column, m in enumerate(inputs):
        critical = float(stdtrit(m - 1, 1 - alpha / 2))
        step = max(1, _AT_ONCE // m)
        for start in range(0, n_trials, step):
            stop = min(n_trials, start + step)
            drawn = np.empty((stop - start, m))
            for row in range(stop - start):
                generator = draws.generator(seed, start + row)
                pair = noise[int(generator.integers(len(noise)))]
                drawn[row] = pair[generator.integers(len(pair), size=m)]
            mean, error = drawn.mean(axis=1), drawn.std(axis=1, ddof=1) / np.sqrt(m)
            for at, size in enumerate(sizes):
                out[at, column, start:stop] = np.abs(mean + size) > critical * error
    return out
