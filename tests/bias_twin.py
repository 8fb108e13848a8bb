"""A twin of the slopes of errors on covariates: slow, by regressions on dummies and numerical derivatives; nothing of
the package.

Scores are arrays of systems x inputs; NaN marks a missing cell.
"""

import math

import numpy as np


def table(x, z, covariates, level):
    """The rows of a regression: what is explained and told (variables, rows), dummies (rows, ...), system and input."""
    whole = np.array([x, z, *covariates], float)
    whole[:, np.isnan(whole).any(axis=0)] = np.nan
    there = ~np.isnan(whole[0])
    if level == "system":
        systems = np.flatnonzero(there.any(axis=1))
        rows = np.array([[each[i, there[i]].mean() for i in systems] for each in whole])
        return rows, np.ones((len(systems), 1)), systems, np.zeros(len(systems), int)
    systems, inputs = np.nonzero(there)
    if level == "global":
        dummies = np.ones((len(systems), 1))
    else:
        of = inputs if level == "input" else systems
        dummies = np.array([[float(label == each) for each in np.unique(of)] for label in of])
    return whole[:, there], dummies, systems, inputs


def spreads(rows, dummies):
    """Standard deviations about the dummies' fit."""
    return np.array([np.sqrt(np.mean((each - dummies @ np.linalg.lstsq(dummies, each, rcond=None)[0]) ** 2))
                     for each in rows])  # fmt: skip


def regress(rows, dummies, spread, groups, method, weights=None, y=None):
    """The slopes as they are told, by (weighted) least squares on all columns; `y` in place of what is explained."""
    standard = rows / spread[:, None]
    by_difference = method == "difference"
    if y is None:
        y = standard[0] - standard[1] if by_difference else standard[0]
    columns = standard[2:] if by_difference else standard[1:]
    design = np.column_stack([dummies, *columns])
    root = np.sqrt(np.ones(len(y)) if weights is None else weights)
    b = np.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0]
    told = b[-len(groups) :] * np.where(groups, 1 / spread[2:], 1.0)
    return told, y - design @ b


def slopes(x, z, covariates, level, method, groups, dims=("system", "input"), clusters=None):
    """Slope, standard error and degrees of freedom of each covariate, (3, covariates).

    `clusters` says which systems, and which inputs, belong together.
    """
    rows, dummies, systems, inputs = table(x, z, covariates, level)
    own = clusters is None
    clusters = (np.arange(x.shape[0]), np.arange(x.shape[1])) if own else tuple(map(np.asarray, clusters))
    systems, inputs = clusters[0][systems], clusters[1][inputs]
    spread = spreads(rows, dummies)
    slope, residuals = regress(rows, dummies, spread, groups, method)
    labels = np.unique(systems)
    error, df = [], []
    of_system, of_cell = components(residuals, systems, level if own else "clusters")
    for k in range(len(groups)):
        variance, freedom = 0.0, math.inf
        if "system" in dims:
            variance, freedom = of_systems(k, rows, dummies, systems, groups, method, level, of_system, of_cell)
        if "input" in dims:
            if level in ("global", "within_system"):
                added, freedom_i = inputs_left_out(k, rows, dummies, systems, inputs, groups, method, level, residuals)
            else:
                there = ~np.isnan(np.array([x, z, *covariates])).any(axis=0)
                added, freedom_i = None, len(np.unique(clusters[1][there.any(axis=0)])) - 1
            variance += of_inputs(k, x, z, covariates, level, method, groups, spread, dims, clusters, added)
            freedom = min(freedom, freedom_i)
        error.append(math.sqrt(variance))
        df.append(freedom)
    assert len(labels) > 2
    return np.array([slope, error, df])


def components(residuals, systems, level):
    """Variances of systems and of cells in residuals, by an analysis of variance."""
    if level == "system":
        return 1.0, 0.0
    groups = [residuals[systems == i] for i in np.unique(systems)]
    n = len(residuals)
    between = sum(len(g) * g.mean() ** 2 for g in groups)
    within = (np.sum(residuals**2) - between) / (n - len(groups))
    of_system = (between / (len(groups) - 1) - within) / (sum(len(g) ** 2 for g in groups) / n)
    return max(0.0, of_system), within


def refit(k, kept, rows, level, groups, method, systems, dummies, y=None):
    """A slope of some of the rows, their own standard deviations and dummies taken."""
    some = dummies[kept][:, dummies[kept].any(axis=0)]
    spread = spreads(rows[:, kept], some)
    own = None if y is None else y[kept] / spread[0]
    return regress(rows[:, kept], some, spread, groups, method, y=own)[0][k]


def of_systems(k, rows, dummies, systems, groups, method, level, of_system, of_cell):
    """The jackknife over systems, less what its expectation is too large by, and Satterthwaite's degrees of freedom."""
    labels = np.unique(systems)
    keeps = [systems != i for i in labels]
    arguments = (rows, level, groups, method, systems, dummies)
    variance, whole, quadratic = jackknife(k, keeps, arguments)
    errors = of_cell * np.eye(len(systems)) + of_system * (systems[:, None] == systems)
    mean = np.trace(quadratic @ errors)
    twice = quadratic @ errors @ quadratic @ errors
    return variance * min(1.0, whole @ errors @ whole / mean), mean**2 / np.trace(twice)


def inputs_left_out(k, rows, dummies, systems, inputs, groups, method, level, residuals):
    """The same over inputs, by regressions without each and explicit matrices; the variance is left as it is."""
    keeps = [inputs != j for j in np.unique(inputs)]
    variance, _, quadratic = jackknife(k, keeps, (rows, level, groups, method, systems, dummies))
    of_input, of_cell = components(residuals, inputs, level)
    errors = of_cell * np.eye(len(inputs)) + of_input * (inputs[:, None] == inputs)
    product = quadratic @ errors
    return variance, np.trace(product) ** 2 / np.trace(product @ product)


def jackknife(k, keeps, arguments):
    """Variance of the slopes without each cluster, what the whole slope moves with, and the variance as a form."""
    n = len(keeps)
    values = np.array([refit(k, kept, *arguments) for kept in keeps])
    size = len(arguments[4])
    unit, every = np.eye(size), np.ones(size, bool)
    whole = np.array([refit(k, every, *arguments, y=e) for e in unit])
    moved = np.array([[0.0 if not kept[r] else refit(k, kept, *arguments, y=unit[r]) for r in range(size)]
                      for kept in keeps])  # fmt: skip
    moved = moved - moved.mean(axis=0)
    return (n - 1) / n * np.sum((values - values.mean()) ** 2), whole, moved.T @ moved * (n - 1) / n


def of_inputs(k, x, z, covariates, level, method, groups, spread, dims, clusters, left_out=None):
    """What inputs add, from what a little more of each cell does to the slope."""
    whole = np.array([x, z, *covariates], float)
    whole[:, np.isnan(whole).any(axis=0)] = np.nan
    there, step = ~np.isnan(whole[0]), 1e-5
    moved = np.zeros(there.shape)
    rest = whole - np.nanmean(whole, axis=2, keepdims=True)
    rest = rest - np.nanmean(rest, axis=1, keepdims=True)
    for i, j in np.argwhere(there):
        ends = []
        for sign in (1, -1):
            if level == "system":
                changed = whole.copy()
                changed[:, i, j] += sign * step * rest[:, i, j]
                rows, dummies, *_ = table(changed[0], changed[1], changed[2:], level)
                ends.append(regress(rows, dummies, spread, groups, method)[0][k])
            else:
                rows, dummies, systems, inputs = table(x, z, covariates, level)
                weights = 1.0 + sign * step * ((systems == i) & (inputs == j))
                ends.append(regress(rows, dummies, spread, groups, method, weights)[0][k])
        moved[i, j] = (ends[0] - ends[1]) / (2 * step)
    blocks = {}
    for i, j in np.argwhere(there):
        block = clusters[0][i], clusters[1][j]
        blocks[block] = blocks.get(block, 0.0) + moved[i, j]
    labels = [sorted({block[at] for block in blocks}) for at in (0, 1)]
    n, m = map(len, labels)
    moved = np.array([[blocks.get((g, h), 0.0) for h in labels[1]] for g in labels[0]])
    of_inputs = m / (m - 1) * np.sum(moved.sum(axis=0) ** 2) if left_out is None else left_out
    if "system" not in dims:
        return of_inputs
    return max(0.0, of_inputs - m / (m - 1) * n / (n - 1) * np.sum(moved**2))
