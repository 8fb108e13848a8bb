"""A twin of partial correlations: slow, from the definitions, with NumPy and plain loops; nothing of the package.

Scores are arrays of systems x inputs; NaN marks a missing cell.
"""

import math
from itertools import combinations

import numpy as np


def base(name, a, b):
    """Pearson's r, Spearman's rho or Kendall's tau-b of two vectors; NaN where one is constant."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    if len(set(a)) < 2 or len(set(b)) < 2:
        return math.nan
    if name == "kendall":
        signs = [(np.sign(a[i] - a[j]), np.sign(b[i] - b[j])) for i, j in combinations(range(len(a)), 2)]
        return sum(s * t for s, t in signs) / math.sqrt(sum(s * s for s, _ in signs) * sum(t * t for _, t in signs))
    if name == "spearman":
        a, b = midranks(a), midranks(b)
    a, b = a - a.mean(), b - b.mean()
    return float(a @ b / math.sqrt(a @ a * (b @ b)))


def midranks(a):
    """Ranks from 1, ties at their mean."""
    return np.array([1 + sum(b < c for b in a) + (sum(b == c for b in a) - 1) / 2 for c in a])


def partial(name, variables):
    """The partial correlation of the first two of several vectors given the others, by the recursion.

    NaN where a group has fewer than 3 members more than covariates, or the others tell one of the variables.
    """
    variables = [np.asarray(each, float) for each in variables]
    if len(variables[0]) < len(variables) + 1:
        return math.nan
    r = {(a, b): base(name, variables[a], variables[b]) for a, b in combinations(range(len(variables)), 2)}
    return recursion(r, 0, 1, list(range(2, len(variables))))


def recursion(r, a, b, given):
    """``(r_ab − r_ac·r_bc)/√((1 − r_ac²)(1 − r_bc²))``, every r given the rest of the covariates."""
    if not given:
        return r[min(a, b), max(a, b)]
    *rest, c = given
    ab, ac, bc = recursion(r, a, b, rest), recursion(r, a, c, rest), recursion(r, b, c, rest)
    left = (1 - ac**2, 1 - bc**2)
    if not min(left) > 1e-9:
        return math.nan
    return (ab - ac * bc) / math.sqrt(left[0] * left[1])


def correlation(name, x, z, covariates, level, undefined="drop", missing="pairwise"):
    """The statistic of two score matrices given others, at a level."""
    whole = np.array([x, z, *covariates], float)
    own = missing == "available" and level == "system"
    if not own:
        whole[:, np.isnan(whole).any(axis=0)] = np.nan
    if level == "system":
        kept = (~np.isnan(whole)).any(axis=2).all(axis=0)
        means = [[math.fsum(row[~np.isnan(row)]) / (~np.isnan(row)).sum() for row in each[kept]] for each in whole]
        return partial(name, means)
    if level == "global":
        flat = whole.reshape(len(whole), -1)
        return partial(name, flat[:, ~np.isnan(flat[0])])
    if level == "within_system":
        whole = whole.transpose(0, 2, 1)
    groups = [whole[:, ~np.isnan(whole[0, :, j]), j] for j in range(whole.shape[2])]
    values = [partial(name, group) for group in groups if group.shape[1]]
    if undefined == "zero":
        values = [0.0 if math.isnan(value) else value for value in values]
    values = [value for value in values if not math.isnan(value)]
    return sum(values) / len(values) if values else math.nan


def drawn(rows, systems, inputs):
    """Scores with systems and inputs repeated as often as they were drawn."""
    return np.repeat(np.repeat(rows, systems, axis=-2), inputs, axis=-1)
