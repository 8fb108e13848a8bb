"""What other people's tools need for the same work, in seconds for one resample."""

import time

import numpy as np
import pandas as pd
import scipy.stats
from correlation_with_confidence import analyze
from nlpstats.correlations.correlations import correlate
from nlpstats.correlations.permutation import _standardize
from nlpstats.correlations.resampling import permute, resample


def timed(work, least: float = 0.3, k: int = 1) -> float:
    """Seconds that one call of `work(k)` needs for each of its k steps, with k so much raised that it takes a while."""
    while True:
        start = time.perf_counter()
        work(k)
        elapsed = time.perf_counter() - start
        if elapsed >= least:
            return elapsed / k
        k = max(k + 1, int(k * min(20, 1.2 * least / max(elapsed, 1e-6))))


def timed_between(work, few: int, many: int) -> float:
    """Seconds that each step after the first `few` needs, for work with a set-up of its own or a limit."""
    elapsed = []
    for k in (few, many):
        start = time.perf_counter()
        work(k)
        elapsed.append(time.perf_counter() - start)
    return (elapsed[1] - elapsed[0]) / (many - few)


def nlpstats_bootstrap(x, z, level, coefficient):
    """The loop of `nlpstats.correlations.bootstrap`, for both dims."""

    def work(k):
        for _ in range(k):
            correlate(*resample((x, z), "both"), level, coefficient)

    return timed(work)


def nlpstats_permutation(x, y, z, level, coefficient):
    """The loop of `nlpstats.correlations.permutation_test`, for both dims."""
    x, y, z = (_standardize(each) for each in (x, y, z))

    def work(k):
        for _ in range(k):
            new_x, new_y = permute(x, y, "both")
            correlate(new_x, z, level, coefficient) - correlate(new_y, z, level, coefficient)

    return timed(work)


def perm_both_on_scipy(x, y, z, coefficient):
    """PERM-BOTH as mt-metrics-eval does it at input level: a coin a cell, then SciPy's coefficient on every input."""
    function = {"kendall": scipy.stats.kendalltau, "spearman": scipy.stats.spearmanr}[coefficient]
    rng = np.random.default_rng(0)
    x, y = (scipy.stats.zscore(each, axis=None) for each in (x, y))

    def average(scores):
        return np.mean([function(scores[:, j], z[:, j]).statistic for j in range(z.shape[1])])

    def work(k):
        for _ in range(k):
            swap = rng.random(x.shape) < 0.5
            average(np.where(swap, y, x)) - average(np.where(swap, x, y))

    return timed(work)


def scipy_bootstrap(x, z):
    """`scipy.stats.bootstrap` of Pearson's r of all cells, paired and vectorised."""

    def pearson(a, b, axis):
        a, b = a - a.mean(axis=axis, keepdims=True), b - b.mean(axis=axis, keepdims=True)
        return (a * b).sum(axis=axis) / np.sqrt((a * a).sum(axis=axis) * (b * b).sum(axis=axis))

    def work(k):
        scipy.stats.bootstrap(
            (x.ravel(), z.ravel()),
            pearson,
            paired=True,
            vectorized=True,
            n_resamples=k,
            batch=100,
            method="percentile",
            rng=0,
        )

    return timed(work)


def scipy_permutation(x, y, z):
    """`scipy.stats.permutation_test` of the difference of two system-level Pearson r, swapping systems."""
    x, y, z = (scipy.stats.zscore(each.mean(axis=1)) for each in (x, y, z))

    def difference(a, b, axis):
        ra, rb = (
            ((each * z).mean(axis=axis) - each.mean(axis=axis) * z.mean()) / each.std(axis=axis) for each in (a, b)
        )
        return ra - rb

    def work(k):
        scipy.stats.permutation_test(
            (x, y), difference, permutation_type="samples", vectorized=True, n_resamples=k, batch=1000, rng=0
        )

    return timed_between(work, 1_000, 60_000)  # from 65,536 on it lists all swaps of 16 systems


def with_confidence(x, z, coefficient):
    """`correlation_with_confidence.analyze` (a Rust core) of one vector of cells, one vote each, on one thread."""
    names = [f"c{at}" for at in range(x.size)]
    votes = pd.DataFrame({"name": names, "vote": z.ravel()})
    scores = pd.DataFrame({"name": names, "metric": x.ravel()})

    def work(k):
        analyze(votes, scores, coefficients=[coefficient], n_bootstrap=k, inner_bootstrap=1, seed=1, n_threads=1)

    return timed_between(work, 100, 20_000 if coefficient == "pearson" else 400)  # it takes half a second to start
