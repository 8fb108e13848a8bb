"""Plain-Python twins of repeatability: flips, components by mean squares, and brute-force leaving out of inputs."""

import itertools
import math

import numpy as np


def shares(score):
    """(flips, reversals, equal scores, pairs, outputs) of scores [system][input][run]; None is a missing score."""
    changed = turned = pairs = equal = outputs = 0
    systems, inputs, runs = len(score), len(score[0]), len(score[0][0])
    for j, (k, m) in itertools.product(range(inputs), itertools.combinations(range(runs), 2)):
        for i in range(systems):
            if score[i][j][k] is not None and score[i][j][m] is not None:
                outputs += 1
                equal += score[i][j][k] == score[i][j][m]
        for a, b in itertools.combinations(range(systems), 2):
            four = score[a][j][k], score[b][j][k], score[a][j][m], score[b][j][m]
            if None in four:
                continue
            first, second = ((x > y) - (x < y) for x, y in (four[:2], four[2:]))
            pairs += 1
            changed += first != second
            turned += first * second < 0
    return (
        changed / pairs if pairs else math.nan,
        turned / pairs if pairs else math.nan,
        equal / outputs if outputs else math.nan,
        pairs,
        outputs,
    )


def components(y):
    """Variances (system, input, cell, run, residual) of complete scores, by mean squares."""
    n, m, r = y.shape
    grand, s, p, t = y.mean(), y.mean((1, 2)), y.mean((0, 2)), y.mean((0, 1))
    c = y.mean(2)
    ms_s = m * r * ((s - grand) ** 2).sum() / (n - 1)
    ms_p = n * r * ((p - grand) ** 2).sum() / (m - 1)
    ms_c = r * ((c - s[:, None] - p + grand) ** 2).sum() / ((n - 1) * (m - 1))
    ms_t = n * m * ((t - grand) ** 2).sum() / (r - 1)
    ms_e = ((y - c[..., None] - t + grand) ** 2).sum() / ((n * m - 1) * (r - 1))
    return {
        "system": (ms_s - ms_c) / (m * r),
        "input": (ms_p - ms_c) / (n * r),
        "cell": (ms_c - ms_e) / r,
        "run": (ms_t - ms_e) / (n * m),
        "residual": ms_e,
    }


def jackknifed(function, *arrays):
    """A function of arrays (system, input, ...): its value, and its standard error by leaving out each input."""
    n = arrays[0].shape[1]
    without = np.array([function(*(np.delete(each, j, axis=1) for each in arrays)) for j in range(n)])
    return function(*arrays), np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
