"""What comparisons of systems cost: all 300 pairs of 25 systems on 100 inputs, beside SciPy pair by pair."""

import itertools

import numpy as np
import scipy.stats
from data import dataset, matrices
from proof import median_seconds

PAIRS = list(itertools.combinations(range(25), 2))
FEW = PAIRS[::30]


def scipy_pair(method: str, x: np.ndarray, pairs: list[tuple[int, int]]) -> None:
    """SciPy's answer for some pairs; its permutation test is vectorised over the swaps."""
    for a, b in pairs:
        if method == "monte_carlo":
            scipy.stats.permutation_test(
                (x[a], x[b]),
                lambda u, v, axis: np.mean(u - v, axis=axis),
                permutation_type="samples",
                vectorized=True,
                n_resamples=9999,
                rng=0,
            )
        elif method == "bootstrap":
            scipy.stats.bootstrap((x[a] - x[b],), np.mean, n_resamples=9999, method="percentile", rng=0)
        else:
            function = {"paired_t": "ttest_rel", "t": "ttest_ind", "wilcoxon": "wilcoxon"}[method]
            getattr(scipy.stats, function)(x[a], x[b])


def numpy_verdicts(x: np.ndarray, z: np.ndarray, pairs: list[tuple[int, int]], n_resamples: int) -> None:
    """Verdicts as scripts have them: a loop over pairs and resamples, the means by NumPy."""
    rng = np.random.default_rng(0)
    for a, b in pairs:
        for scores in (x, z):
            wins = 0
            for _ in range(n_resamples):
                at = rng.integers(0, x.shape[1], x.shape[1])
                wins += scores[a][at].mean() > scores[b][at].mean()


def tests() -> list[dict]:
    """Seconds of a call for 300 pairs of one metric, and of SciPy's for as many, from ten of them."""
    scores = matrices(1, 25, 100, tied=False)
    ds = dataset(scores)
    rows = []
    for method in ("paired_t", "t", "wilcoxon", "monte_carlo", "hybrid", "bootstrap"):
        ours = median_seconds(lambda m=method: ds.meta.compare_systems(metric="m1", method=m, rng=0))
        row = {"method": method, "ours": ours}
        if method != "hybrid":
            theirs = median_seconds(lambda m=method: scipy_pair(m, scores[1], FEW), runs=3)
            row["theirs"] = theirs * len(PAIRS) / len(FEW)
        rows.append(row)
    return rows


def verdicts() -> dict:
    """Seconds of `discriminative_agreement` for 14 metrics, and of the loop, from ten pairs and 200 resamples."""
    scores = matrices(14, 25, 100, tied=True)
    ds = dataset(scores)
    ours = median_seconds(lambda: ds.meta.discriminative_agreement("gold", rng=0))
    loop = median_seconds(lambda: numpy_verdicts(scores[1], scores[0], FEW, 200), runs=3)
    return {"ours": ours, "theirs": loop * 14 * len(PAIRS) / len(FEW) * 9999 / 200}


def all_of_it() -> dict:
    """Every figure of this part."""
    return {"tests": tests(), "verdicts": verdicts()}
