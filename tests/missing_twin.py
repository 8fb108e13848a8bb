"""Plain-Python twins of missingness: bounds by trying every place, permutation tests by all permutations."""

import itertools
import math

import numpy as np


def concordant(x, z):
    """The share of pairs that both order the same way, strictly."""
    pairs = list(itertools.combinations(range(len(x)), 2))
    return sum((x[a] - x[b]) * (z[a] - z[b]) > 0 for a, b in pairs) / len(pairs)


def bounds(x, z):
    """The least and largest share of concordant pairs, each missing x (None) at any place among those there."""
    there = sorted({v for v in x if v is not None}) or [0.0]
    gaps = [there[0] - 1, *((a + b) / 2 for a, b in itertools.pairwise(there)), there[-1] + 1]
    holes = [at for at, v in enumerate(x) if v is None]
    k = len(holes)
    # In a gap each may be at one of as many places as there are missing scores.
    narrow = 1e-3 * min([b - a for a, b in itertools.pairwise(there)], default=1.0)
    places = [*there, *(gap + narrow * at for gap in gaps for at in range(k))]
    found = []
    for chosen in itertools.product(places, repeat=k):
        filled = list(x)
        for at, value in zip(holes, chosen, strict=True):
            filled[at] = value
        found.append(concordant(filled, z))
    return min(found), max(found)


def all_marks(marks, among):
    """All ways in which marks [system][input] change places among the outputs of each input."""
    systems, inputs = np.shape(marks)
    choices = []
    for j in range(inputs):
        outputs = [i for i in range(systems) if among[i][j]]
        n = sum(bool(marks[i][j]) for i in range(systems))
        choices.append(list(itertools.combinations(outputs, n)))
    for each in itertools.product(*choices):
        out = np.zeros((systems, inputs), dtype=bool)
        for j, chosen in enumerate(each):
            out[list(chosen), j] = True
        yield out


def share(statistic, marks, among):
    """The share of all ways whose statistic is as large as that of the marks."""
    observed = statistic(np.asarray(marks))
    found = [statistic(each) for each in all_marks(marks, among)]
    return np.mean([value >= observed - 1e-9 * max(1.0, abs(observed)) for value in found])


def between(share_of, means):
    """The exact two-sided p-value of the covariance of two vectors, over all permutations."""
    a, b = (np.asarray(v) - np.mean(v) for v in (share_of, means))
    observed = abs(a @ b)
    found = [abs(a[list(order)] @ b) for order in itertools.permutations(range(len(a)))]
    return np.mean([value >= observed - 1e-12 for value in found])


def wilson(k, n, z=1.959963984540054):
    """Wilson's limits of k of n."""
    p = k / n
    middle, half = (p + z * z / (2 * n)), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)
