"""A twin of correlations whose inputs are weighted by 1 over their probability: plain Python and SciPy's coefficients.

Scores are arrays of systems x rated inputs; NaN marks a missing cell. Nothing here uses the package.
"""

import math

import numpy as np
from scipy import stats

COEFFICIENTS = {
    "pearson": lambda a, b: stats.pearsonr(a, b).statistic,
    "spearman": lambda a, b: stats.spearmanr(a, b).statistic,
    "kendall": lambda a, b: stats.kendalltau(a, b).statistic,
}


def arrays(ds, metric="judge"):
    """Scores and human scores of the rated inputs, their weights and strata."""
    there = ds.sel(input=ds.drawn)
    x, z = (there.score.sel(metric=each).values for each in (metric, "human"))
    return x, z, 1 / there.inclusion_probability.values, there.draw_stratum.values.tolist()


def estimate(x, z, weights, coefficient, level, cells=None):
    """The weighted estimate; `cells` are weights of single cells, those of their inputs unless given."""
    each = np.broadcast_to(weights, x.shape) if cells is None else cells
    here = ~np.isnan(x) & ~np.isnan(z)
    if level == "system":
        means = [
            [sum(w * v for w, v in zip(each[i][here[i]], values[i][here[i]], strict=True)) / each[i][here[i]].sum()]
            for values in (x, z)
            for i in range(len(x))
        ]
        return COEFFICIENTS[coefficient](np.ravel(means[: len(x)]), np.ravel(means[len(x) :]))
    if level == "input":
        r = [COEFFICIENTS[coefficient](x[here[:, j], j], z[here[:, j], j]) for j in range(x.shape[1])]
        return sum(w * value for w, value in zip(weights, r, strict=True)) / sum(weights)
    if level == "global":
        return weighted_pearson(x[here], z[here], each[here])
    r = [weighted_pearson(x[i][here[i]], z[i][here[i]], each[i][here[i]]) for i in range(len(x))]
    return sum(r) / len(r)


def weighted_pearson(a, b, w):
    """Pearson's r of values with weights, from its definition."""
    total = sum(w)
    ma, mb = (sum(w * v) / total for v in (a, b))
    covariance = sum(w[k] * (a[k] - ma) * (b[k] - mb) for k in range(len(a)))
    return covariance / math.sqrt(sum(w * (a - ma) ** 2) * sum(w * (b - mb) ** 2))


def moved(x, z, weights, coefficient, level):
    """How far each input moves the estimate: its weight times the derivative by it, numerically."""
    found = []
    for j in range(len(weights)):
        step = 1e-5 * weights[j]
        up, down = (np.array(weights, dtype=float) for _ in range(2))
        up[j] += step
        down[j] -= step
        difference = estimate(x, z, up, coefficient, level) - estimate(x, z, down, coefficient, level)
        found.append(weights[j] * difference / (2 * step))
    return np.array(found)


def left_out(x, z, weights, coefficient, level):
    """The same from the estimate without each input, whose share p of the weights goes to all others."""
    whole, total, found = estimate(x, z, weights, coefficient, level), sum(weights), []
    for j in range(len(weights)):
        keep = [k for k in range(len(weights)) if k != j]
        without = estimate(x[:, keep], z[:, keep], weights[keep], coefficient, level)
        found.append((whole - without) * (1 - weights[j] / total))
    return np.array(found) - sum(found) * weights / total


def variance_over_inputs(x, z, weights, strata, coefficient, level, exact=False, u=None):
    """Variance of the estimate over new inputs, and Satterthwaite's degrees of freedom.

    Within strata it is that of how far each input moves the estimate, or with `exact` that of a delete-one jackknife of
    each stratum, whose other inputs have larger weights. Between strata all inputs that the sample stands for are drawn
    by chance.
    """
    u = moved(x, z, weights, coefficient, level) if u is None else u
    within, between, spread = 0.0, 0.0, 0.0
    for stratum in sorted(set(strata)):
        here = [j for j in range(len(strata)) if strata[j] == stratum]
        n = len(here)
        if exact:
            without = []
            for j in here:
                each = np.array(weights, dtype=float)
                each[here] *= n / (n - 1)
                keep = [k for k in range(len(strata)) if k != j]
                without.append(estimate(x[:, keep], z[:, keep], each[keep], coefficient, level))
            own = (n - 1) / n * sum((value - np.mean(without)) ** 2 for value in without)
        else:
            mean = sum(u[here]) / n
            own = n / (n - 1) * sum((u[j] - mean) ** 2 for j in here)
        within += own
        spread += own**2 / (n - 1)
        between += sum(u[here]) ** 2 / sum(weights[j] for j in here)
    return within + between, (within + between) ** 2 / spread


def variance_over_systems(x, z, weights, coefficient, level):
    """That of a delete-one jackknife of systems; ranked means have ((n - 2)/(n - 1))^2 of it."""
    n = len(x)
    keep = [[k for k in range(n) if k != i] for i in range(n)]
    without = [estimate(x[rows], z[rows], weights, coefficient, level) for rows in keep]
    found = (n - 1) / n * sum((value - np.mean(without)) ** 2 for value in without)
    return found * ((n - 2) / (n - 1)) ** 2 if level == "system" and coefficient != "pearson" else found


def limits(estimate, error, df, confidence_level=0.95):
    """Those about the estimate on the scale of Fisher's z."""
    reach = stats.t.ppf((1 + confidence_level) / 2, df) * error / (1 - estimate**2)
    return math.tanh(math.atanh(estimate) - reach), math.tanh(math.atanh(estimate) + reach)


# --- Systems and inputs random: the noise of cells, which is in what both do ---


def moved_by_cells_of_means(x, z, weights):
    """How far each cell moves Pearson's r of the weighted means, less what its system and its input move."""
    n, m = x.shape
    share = weights * m / sum(weights)
    means = [(values * share).sum(axis=1) / m for values in (x, z)]
    rest = [mean[:, None] + share * (values - mean[:, None]) for values, mean in zip((x, z), means, strict=True)]
    rest = [values - values.mean(axis=1, keepdims=True) for values in rest]
    rest = [values - values.mean(axis=0) for values in rest]
    found = np.zeros((n, m))
    for side in (0, 1):
        for i in range(n):
            ends = []
            for step in (1e-6, -1e-6):
                changed = [np.array(each) for each in means]
                changed[side][i] += step
                ends.append(COEFFICIENTS["pearson"](*changed))
            found[i] += (ends[0] - ends[1]) / 2e-6 * rest[side][i] / m
    return found


def bend_of_means(x, z, weights, step=1e-3):
    """Second derivatives of Pearson's r of the weighted means by the noise of each two inputs, numerically."""
    n, m = x.shape
    share = weights * m / sum(weights)
    means = [(values * share).sum(axis=1) / m for values in (x, z)]
    noise = []
    for values, mean in zip((x, z), means, strict=True):
        rest = share * (values - mean[:, None])
        noise.append((rest - rest.mean(axis=0)) / m)
    found = np.empty((m, m))
    for j in range(m):
        for k in range(m):
            corners = 0.0
            for a in (step, -step):
                for b in (step, -step):
                    r = np.corrcoef(
                        *(mean + a * each[:, j] + b * each[:, k] for mean, each in zip(means, noise, strict=True))
                    )
                    corners += np.sign(a * b) * r[0, 1]
            found[j, k] = corners / (4 * step * step)
    return found


def noise_of_means(moved):
    n, m = moved.shape
    return m / (m - 1) * n / (n - 1) * (moved**2).sum()


def noise_of_inputs(x, z, weights, coefficient):
    """Of the weighted average of the inputs' correlations: squared shares times the jackknife variance of each."""
    n, share, found = len(x), weights / sum(weights), 0.0
    for j in range(x.shape[1]):
        without = [COEFFICIENTS[coefficient](np.delete(x[:, j], i), np.delete(z[:, j], i)) for i in range(n)]
        found += share[j] ** 2 * (n - 1) / n * sum((value - np.mean(without)) ** 2 for value in without)
    return found


def noise_of_cells(x, z, weights):
    """Of Pearson's r over all cells: squares of how far each cell moves it, numerically."""
    found = 0.0
    for i, j in np.ndindex(x.shape):
        step, ends = 1e-5 * weights[j], []
        for sign in (1, -1):
            each = np.array(np.broadcast_to(weights, x.shape), dtype=float)
            each[i, j] += sign * step
            ends.append(estimate(x, z, weights, "pearson", "global", cells=each))
        found += (weights[j] * (ends[0] - ends[1]) / (2 * step)) ** 2
    return found


def noise_of_systems(x, z, weights):
    """Of the average of the systems' correlations: the jackknife variance of each by its inputs, over their number²."""
    n, m = x.shape
    found = 0.0
    for i in range(n):
        without = [weighted_pearson(np.delete(x[i], j), np.delete(z[i], j), np.delete(weights, j)) for j in range(m)]
        found += (m - 1) / m * sum((value - np.mean(without)) ** 2 for value in without)
    return found / n**2
