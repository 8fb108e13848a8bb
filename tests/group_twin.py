"""A twin of the comparison of groups: plain loops over labels that are left out, on top of the twin of the jackknife.

Groups are lists of (x, z), arrays of systems x inputs; those of inputs share all systems, those of systems all inputs.
Nothing here uses the package.
"""

import math

import jackknife_twin as twin
import numpy as np
from scipy.stats import f as f_distribution
from scipy.stats import t

BOTH = ("system", "input")


def variance_of(x, z, coefficient, level, resample):
    """The variance that the interval of one group has."""
    made = twin.as_made(x, z, coefficient, level, resample, 0.95, "drop")
    return made["standard_error"] ** 2


def moved(x, z, coefficient, level, shared, resample):
    """How far one group's estimate moves without each label of the dim that groups share, times a common factor.

    Products of two groups' moves, summed over labels, are their covariance.
    """
    if level == "within_system":  # input level of the transposed scores
        turn = {"system": "input", "input": "system"}
        return moved(x.T, z.T, coefficient, "input", turn[shared], tuple(turn[dim] for dim in resample))
    n, m = x.shape
    pieces = twin.parts(x, z, coefficient, level, "drop")
    if shared == "system":
        values = pieces["without_system"]
        moves = [math.sqrt((n - 1) / n) * (value - values.mean()) for value in values]
        second_order = level == "system" and coefficient != "pearson"
        return [(n - 2) / (n - 1) * move for move in moves] if second_order else moves
    if level == "global":
        values = pieces["without_input"]
        return [math.sqrt((m - 1) / m) * (value - values.mean()) for value in values]
    if level == "input":
        r = pieces["r"]
        return [(each - r.mean()) / math.sqrt(m * (m - 1)) for each in r]
    moves = [sum(pieces["psi"][i, j] for i in range(n)) for j in range(m)]
    size = m / (m - 1)
    if coefficient != "pearson":
        ranks = ((n - 2) / (n - 1)) ** 2 * twin.spread(pieces["without_system"], n)
        size *= ranks / twin.spread(pieces["pearson_without_system"], n)
    if set(resample) == {"input"}:  # without its part of second order
        size = twin.variance(pieces, coefficient, level, resample) / sum(move**2 for move in moves)
    return [math.sqrt(size) * move for move in moves]


def parts_of_covariance(groups, coefficient, level, grouped, resample):
    """The parts of the covariance matrix of the groups' estimates, each with its degrees of freedom."""
    shared = "input" if grouped == "system" else "system"
    holds_cells = "input" if level == "within_system" else "system"
    of_dim = {}
    total = np.array([variance_of(x, z, coefficient, level, resample) for x, z in groups])
    if len(resample) == 1:
        of_dim[resample[0]] = total
    else:
        of_dim[holds_cells] = np.array([variance_of(x, z, coefficient, level, (holds_cells,)) for x, z in groups])
        (other,) = set(BOTH) - {holds_cells}
        of_dim[other] = total - of_dim[holds_cells]
    found = []
    for dim, variances in of_dim.items():
        axis = 0 if dim == "system" else 1
        if dim != shared:
            for at, (x, _) in enumerate(groups):
                matrix = np.zeros((len(groups), len(groups)))
                matrix[at, at] = variances[at]
                found.append((matrix, x.shape[axis] - 1))
            continue
        moves = [moved(x, z, coefficient, level, shared, resample) for x, z in groups]
        matrix = np.array([[sum(a * b for a, b in zip(one, two, strict=True)) for two in moves] for one in moves])
        for at in range(len(groups)):
            matrix[at, at] = variances[at]
        found.append((matrix, groups[0][0].shape[axis] - 1))
    return found


def difference(groups, coefficient, level, grouped, resample, confidence_level=0.95):
    """Estimate, standard error, degrees of freedom and limits of the first group less the second (MOVER)."""
    one, two = (twin.as_made(x, z, coefficient, level, resample, 0.95, "drop") for x, z in groups)
    if one["fell_back"] or two["fell_back"]:  # each by itself
        spreads = [(each["standard_error"] ** 2, each["df"]) for each in (one, two)]
    else:
        parts = parts_of_covariance(groups, coefficient, level, grouped, resample)
        spreads = [(matrix[0, 0] + matrix[1, 1] - 2 * matrix[0, 1], freedom) for matrix, freedom in parts]
    v = sum(each for each, _ in spreads)
    df = v**2 / sum(each**2 / freedom for each, freedom in spreads)
    # The limits of each group at the quantile of the difference: its own confidence level that has this quantile.
    q = t.ppf((1 + confidence_level) / 2, df)
    one, two = (
        twin.as_made(x, z, coefficient, level, resample, 2 * t.cdf(q, each["df"]) - 1, "drop")
        for (x, z), each in zip(groups, (one, two), strict=True)
    )
    v1, v2 = one["standard_error"] ** 2, two["standard_error"] ** 2
    rho = float(np.clip((v1 + v2 - v) / (2 * math.sqrt(v1 * v2)), -1, 1))  # 0 where each is by itself
    c1, c2 = one["estimate"] - one["bias"], two["estimate"] - two["bias"]
    low = c1 - c2 - twin.hypotenuse(c1 - one["ci_low"], two["ci_high"] - c2, rho)
    high = c1 - c2 + twin.hypotenuse(one["ci_high"] - c1, c2 - two["ci_low"], rho)
    return one["estimate"] - two["estimate"], math.sqrt(v), df, low, high


def heterogeneity(groups, coefficient, level, grouped, resample):
    """F, its degrees of freedom and p of no difference between all groups, each compared with the last."""
    stretch = 2 if coefficient == "pairwise_accuracy" else 1
    made = [twin.as_made(x, z, coefficient, level, resample, 0.95, "drop") for x, z in groups]
    if any(each["fell_back"] for each in made):
        return math.nan, math.nan, math.nan, math.nan
    centres = [stretch * (each["estimate"] - each["bias"]) - (stretch - 1) for each in made]
    values = np.array([math.atanh(each) for each in centres])
    slopes = np.array([stretch / (1 - (stretch * each["estimate"] - (stretch - 1)) ** 2) for each in made])
    q = len(groups) - 1
    off = values[:-1] - values[-1]
    parts = []
    for matrix, freedom in parts_of_covariance(groups, coefficient, level, grouped, resample):
        scaled = matrix * slopes[:, None] * slopes[None, :]
        contrasts = np.array(
            [[scaled[a, b] - scaled[a, q] - scaled[q, b] + scaled[q, q] for b in range(q)] for a in range(q)]
        )
        parts.append((contrasts, freedom))
    whole = np.sum([matrix for matrix, _ in parts], axis=0)
    wald = off @ np.linalg.solve(whole, off)
    lost = 0.0
    for matrix, freedom in parts:
        turned = np.linalg.solve(whole, matrix)
        lost += (np.trace(turned @ turned) + np.trace(turned) ** 2) / freedom
    nu = q * (q + 1) / lost
    statistic = wald * (nu - q + 1) / (nu * q)
    return statistic, q, nu - q + 1, f_distribution.sf(statistic, q, nu - q + 1)
