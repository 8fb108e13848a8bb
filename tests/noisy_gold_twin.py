"""A twin of slopes of errors on covariates where human scores are noisy: explicit loops, and a real fit of everything
for each leave-out; nothing of the package.

Scores are arrays of systems x inputs, ratings of raters x systems x inputs; NaN marks what is missing.
"""

import math

import numpy as np
from scipy import stats


def adjusted(ratings, kept):
    """The ratings less their raters' offsets, by least squares on dummies of cells and raters; and Σ(k−1), rank."""
    rows = [(r, i, j) for r, i, j in np.argwhere(~np.isnan(ratings)) if (i, j) in kept]
    number = {cell: at for at, cell in enumerate(kept)}
    design = np.zeros((len(rows), len(kept) + len(ratings)))
    for at, (r, i, j) in enumerate(rows):
        design[at, number[i, j]] = design[at, len(kept) + r] = 1
    y = np.array([ratings[row] for row in rows])
    b = np.linalg.lstsq(design, y, rcond=None)[0]
    by_cell = {cell: [] for cell in kept}
    for r, i, j in rows:
        by_cell[i, j].append(ratings[r, i, j] - b[len(kept) + r])
    return by_cell, len(rows) - len(kept), np.linalg.matrix_rank(design) - len(kept)


def noise(by_cell, more, rank):
    """The variance of the noise of each cell's mean."""
    scale = more / (more - rank)
    v = {cell: np.var(each, ddof=1) * scale for cell, each in by_cell.items() if len(each) > 1}
    single = sum((len(by_cell[cell]) - 1) * each for cell, each in v.items()) / more
    return {cell: v[cell] / len(each) if len(each) > 1 else single for cell, each in by_cell.items()}


def group_of(cell, level):
    return {"global": 0, "input": cell[1], "within_system": cell[0]}[level]


def fraction_of(zz, kept_zz, zc, zx, cx, cc, c0, x0, is_group):
    """Numerator and denominator of the slope, as differences of correlations."""
    top = (kept_zz * cx - zc * zx) / (zz * cc) * (1.0 if is_group else math.sqrt(c0)) / math.sqrt(x0)
    return np.array([top, (kept_zz * cc - zc**2) / (zz * cc)])


def moments(x, covariates, kept, level, means, w, is_group, reliability=None):
    """Numerator and denominator of the slope of the first covariate, the others held constant, and the reliability."""
    if level == "system":
        systems = sorted({i for i, _ in kept})
        own = {i: [cell for cell in kept if cell[0] == i] for i in systems}
        rows = np.array([[np.mean([values[cell] for cell in own[i]]) for values in (means, x, *covariates)]
                         for i in systems])  # fmt: skip
        of_row = np.array([sum(w[cell] for cell in own[i]) / len(own[i]) ** 2 for i in systems]) if w else None
        groups = [0] * len(systems)
    else:
        rows = np.array([[values[cell] for values in (means, x, *covariates)] for cell in kept])
        of_row = np.array([w[cell] for cell in kept]) if w else None
        groups = [group_of(cell, level) for cell in kept]
    centred, subtracted = rows.copy(), 0.0
    for g in sorted(set(groups)):
        mine = np.array([each == g for each in groups])
        centred[mine] -= rows[mine].mean(axis=0)
        if w:
            subtracted += of_row[mine].sum() * (1 - 1 / mine.sum())
    z, x_, c, *others = centred.T
    if others:
        design = np.column_stack(others)
        z, x_, c = (each - design @ np.linalg.lstsq(design, each, rcond=None)[0] for each in (z, x_, c))
    n = len(rows)
    if reliability is not None:
        subtracted = (1 - reliability) * (centred[:, 0] @ centred[:, 0])
    zc, zx, cx, cc = z @ c / n, z @ x_ / n, c @ x_ / n, c @ c / n
    x0, c0 = (centred[:, at] @ centred[:, at] / n for at in (1, 2))
    told = fraction_of(z @ z / n, (z @ z - subtracted) / n, zc, zx, cx, cc, c0, x0, is_group)
    return told, 1 - subtracted / (centred[:, 0] @ centred[:, 0])


def fraction(x, ratings, covariates, kept, level, is_group, reliability=None):
    by_cell, more, rank = adjusted(ratings, kept)
    means = {cell: np.mean(each) for cell, each in by_cell.items()}
    w = None if reliability is not None else noise(by_cell, more, rank)
    return moments(x, covariates, kept, level, means, w, is_group, reliability)


def deleted(values):
    apart = np.array(values) - np.mean(values, axis=0)
    return (len(values) - 1) / len(values) * sum(np.outer(each, each) for each in apart)


def influences(x, ratings, covariates, kept, level, is_group, reliability=None):
    """By how much each cell moves numerator and denominator, by numerical derivatives in the cells' weights.

    At system level in what is left of a cell's scores when the means of its system and its input are out.
    """
    by_cell, more, rank = adjusted(ratings, kept)
    means = {cell: np.mean(each) for cell, each in by_cell.items()}
    w = None if reliability is not None else noise(by_cell, more, rank)
    step, found = 1e-5, []
    if level == "system":
        whole = [means, {c: x[c] for c in kept}, *({c: each[c] for c in kept} for each in covariates)]
        rest = [double_centred(each, kept) for each in whole]
        for cell in kept:
            ends = []
            for sign in (1, -1):
                moved = [
                    {**each, cell: each[cell] + sign * step * r[cell]} for each, r in zip(whole, rest, strict=True)
                ]
                told = moments_of_means(moved, kept, w, is_group, reliability)
                ends.append(told)
            found.append((ends[0] - ends[1]) / (2 * step))
        return np.array(found)
    for cell in kept:
        ends = [weighted(x, covariates, kept, level, means, w, {cell: 1 + sign * step}, is_group, reliability)
                for sign in (1, -1)]  # fmt: skip
        found.append((ends[0] - ends[1]) / (2 * step))
    return np.array(found)


def double_centred(values, kept):
    by_system, by_input = {}, {}
    for i, j in kept:
        by_system.setdefault(i, []).append(values[i, j])
    out = {(i, j): values[i, j] - np.mean(by_system[i]) for i, j in kept}
    for i, j in kept:
        by_input.setdefault(j, []).append(out[i, j])
    return {(i, j): out[i, j] - np.mean(by_input[j]) for i, j in kept}


def moments_of_means(values, kept, w, is_group, reliability):
    means, x, *covariates = values
    return moments(x, covariates, kept, "system", means, w, is_group, reliability)[0]


def weighted(x, covariates, kept, level, means, w, weights, is_group, reliability):
    """The fraction where one cell counts a little more; the noise of a cell, and the means of groups, are as they are.

    The means of groups are kept, as centred scores sum to 0 in them.
    """
    rows = np.array([[values[cell] for values in (means, x, *covariates)] for cell in kept])
    groups = [group_of(cell, level) for cell in kept]
    share = np.zeros(len(kept))
    for g in sorted(set(groups)):
        mine = np.array([each == g for each in groups])
        rows[mine] -= rows[mine].mean(axis=0)
        share[mine] = 1 - 1 / mine.sum()
    weight = np.array([weights.get(cell, 1.0) for cell in kept])
    z, x_, c, *others = rows.T
    sums = np.array([[np.sum(weight * a * b) for b in (z, c, x_, *others)] for a in (z, c, x_, *others)])
    lost = (1 - reliability) * z**2 if reliability is not None else share * np.array([w[cell] for cell in kept])
    sums, lost = sums / weight.sum(), np.sum(weight * lost) / weight.sum()
    c0, x0 = sums[1, 1], sums[2, 2]
    if others:
        a = sums[3:, :3]
        sums = sums[:3, :3] - a.T @ np.linalg.solve(sums[3:, 3:], a)
    zz, zc, zx, cc, cx = sums[0, 0], sums[0, 1], sums[0, 2], sums[1, 1], sums[1, 2]
    return fraction_of(zz, zz - lost, zc, zx, cx, cc, c0, x0, is_group)


def slope(x, ratings, covariates, level, is_group, dims, df, confidence_level=0.95, clusters=None, reliability=None):
    """Slope, limits, standard error, p-value and reliability of the first of the covariates, with df given."""
    there = ~(np.isnan(x) | np.isnan(np.array(covariates)).any(axis=0) | np.isnan(ratings).all(axis=0))
    kept = [tuple(each) for each in np.argwhere(there)]
    ratings = np.where(there, ratings, np.nan)
    if clusters is None:
        clusters = np.arange(x.shape[0]), np.arange(x.shape[1])
    whole, reliable = fraction(x, ratings, covariates, kept, level, is_group, reliability)
    variances = {}
    for dim, at in (("system", 0), ("input", 1)):
        codes = np.asarray(clusters[at])
        if dim in dims:
            parts = []
            for g in sorted({codes[cell[at]] for cell in kept}):
                rest = [cell for cell in kept if codes[cell[at]] != g]
                less = np.where([[(i, j) in set(rest) for j in range(x.shape[1])] for i in range(x.shape[0])],
                                ratings, np.nan)  # fmt: skip
                parts.append(fraction(x, less, covariates, rest, level, is_group, reliability)[0])
            variances[dim] = deleted(parts)
    choices = list(variances.values())
    if len(choices) == 2:
        moved = influences(x, ratings, covariates, kept, level, is_group, reliability)
        sums = {}
        for cell, each in zip(kept, moved, strict=True):
            block = clusters[0][cell[0]], clusters[1][cell[1]]
            sums[block] = sums.get(block, 0) + each
        of_cells = sum(np.outer(each, each) for each in sums.values())
        if level == "system":
            for at in (0, 1):
                n = len({clusters[at][cell[at]] for cell in kept})
                of_cells = of_cells * n / (n - 1)
        choices = [choices[0], choices[0] + choices[1] - of_cells]
    t = stats.t.ppf((1 + confidence_level) / 2, df)
    n, d = whole
    p = 2 * stats.t.sf(abs(n) / math.sqrt(max(v[0, 0] for v in choices)), df)
    value = n / d
    error = math.sqrt(max(v[0, 0] - 2 * value * v[0, 1] + value**2 * v[1, 1] for v in choices)) / d

    def accepted(gamma):
        return (n - gamma * d) ** 2 <= t * t * max(v[0, 0] - 2 * gamma * v[0, 1] + gamma**2 * v[1, 1] for v in choices)

    return {"slope": value, "standard_error": error, "pvalue": p, "reliability": reliable, "accepted": accepted}
