"""A twin of the two-way jackknife: slow, and written from the definitions, with NumPy and Student's t only.

Scores are arrays of systems x inputs; NaN marks a missing cell. Leave-one-out values are computed by leaving out.
Nothing here uses the package.
"""

import math

import numpy as np
from scipy.stats import t

ROUNDING = 1e-12  # what rounding alone can make of a correlation or a standard error that is 0


def interval(
    x,
    z,
    coefficient,
    level,
    resample=("system", "input"),
    confidence_level=0.95,
    undefined="drop",
):
    """Interval of one metric's correlation with the gold score.

    Parameters
    ----------
    x, z : array of systems x inputs
        Scores of the metric and of the gold standard.
    coefficient, level : str
    resample : tuple of "system", "input"
        The dims whose labels are random.
    confidence_level : float
    undefined : {"drop", "zero"}
        Whether a group without a correlation is left out of the average or counts as 0.

    Returns
    -------
    dict
        estimate, ci_low, ci_high, standard_error, bias, df and fell_back.
    """
    result = as_made(x, z, coefficient, level, resample, confidence_level, undefined)
    for name, further in (("ci_low", min), ("ci_high", max)):
        if not math.isnan(result[name]):
            result[name] = further(result[name], result["estimate"])
    return result


def with_correlation(x, z, coefficient, level, resample, undefined, df):
    """df of an average over random groups: those with a correlation less 1, if there are two."""
    if level != "input" or "system" in resample:
        return df
    defined = int((~np.isnan(groups(x, z, coefficient, undefined))).sum())
    return defined - 1 if defined > 1 else df


def with_few_inputs(pieces, coefficient, level, resample, shape, df, m=None):
    """Satterthwaite's df of an average over fewer inputs (of m that are defined) than systems, if they are fewer."""
    n, m = shape[0], int((~np.isnan(pieces["r"])).sum()) if m is None else m
    v = variance(pieces, coefficient, level, resample)
    if level != "input" or len(resample) < 2 or not 1 < m < n or not v > ROUNDING**2:
        return df
    own, of_inputs = (variance(pieces, coefficient, level, (dim,)) for dim in ("system", "input"))
    return min(df, max(m - 1, v**2 / (own**2 / (n - 1) + of_inputs**2 / (m - 1))))


def as_made(x, z, coefficient, level, resample, confidence_level, undefined, df=None):
    """The interval before it is made to hold the estimate, by `df` or its own degrees of freedom."""
    shown = level
    (x, z), all_labels, level, asked, resample = prepared((x, z), level, resample)
    pieces = parts(x, z, coefficient, level, undefined)
    given = df is not None
    df = df if given else with_correlation(x, z, coefficient, level, resample, undefined, all_labels)
    theta = pieces["theta"]
    result = nothing(theta, df)
    if too_few(x, coefficient, level, asked, resample) or math.isnan(theta):
        return result
    if not given and shown == "input":
        result["df"] = df = with_few_inputs(pieces, coefficient, level, resample, x.shape, df)
    n = len(x)
    stretch = 2 if coefficient == "pairwise_accuracy" else 1  # accuracies are judged on the scale 2p - 1
    r = stretch * theta - (stretch - 1)
    v = stretch**2 * variance(pieces, coefficient, level, resample)
    if abs(r) >= 1 - ROUNDING or v <= ROUNDING**2:
        alone = level == "input" and "system" not in resample
        equal = int((~np.isnan(pieces["r"])).sum()) if alone else 0
        tail = t.sf(t.ppf((1 + confidence_level) / 2, df), df)
        low, high, se = of_equal(r, equal, tail) if equal else fallback(r, n, coefficient, level, confidence_level)
        bias, fell_back = 0.0, True
    else:
        # Averages over inputs alone keep no distance from 1 that one system makes.
        stepped = level == "system" or "system" in resample
        most = 1 - (epsilon(coefficient, n) if stepped else ROUNDING)
        middle = without_bias(r, stretch * removed_bias(pieces, level, resample), most)
        reach = t.ppf((1 + confidence_level) / 2, df) * math.sqrt(v) / (1 - r**2)
        low, high = math.tanh(middle - reach), math.tanh(middle + reach)
        se, bias, fell_back = math.sqrt(v), r - math.tanh(middle), False
    low, high = (low + stretch - 1) / stretch, (high + stretch - 1) / stretch
    result.update(ci_low=low, ci_high=high, standard_error=se / stretch)
    result.update(bias=float(bias / stretch), fell_back=fell_back)
    return result


def difference(
    x,
    y,
    z,
    coefficient,
    level,
    resample=("system", "input"),
    confidence_level=0.95,
    undefined="drop",
):
    """Interval of the difference of two metrics' correlations with the gold score, by MOVER (Zou & Donner 2008).

    Both metrics are judged on the cells that all three scores have. Parameters and result are those of `interval`.
    """
    shown, shown_resample = level, resample
    (x, y, z), df, level, asked, resample = prepared((x, y, z), level, resample)
    first, second = (parts(a, z, coefficient, level, undefined) for a in (x, y))
    df = min(with_correlation(a, z, coefficient, level, resample, undefined, df) for a in (x, y))
    both = {name: first[name] - second[name] for name in first if name != "cells"} | {"cells": first["cells"]}
    result = nothing(both["theta"], df)
    if too_few(x, coefficient, level, asked, resample) or math.isnan(both["theta"]):
        return result
    if shown == "input":
        few = [with_few_inputs(each, coefficient, level, resample, x.shape, df) for each in (first, second)]
        either = int((~(np.isnan(first["r"]) & np.isnan(second["r"]))).sum())
        few.append(with_few_inputs(both, coefficient, level, resample, x.shape, df, either))
        result["df"] = df = min(df, *few)
    turn = np.transpose if shown == "within_system" else np.asarray
    one, two = (
        as_made(turn(a), turn(z), coefficient, shown, shown_resample, confidence_level, undefined, df) for a in (x, y)
    )
    v1, v2 = one["standard_error"] ** 2, two["standard_error"] ** 2
    v = variance(both, coefficient, level, resample)
    fell_back = one["fell_back"] or two["fell_back"]
    equal = not fell_back and max(abs(both["theta"]), math.sqrt(v)) <= ROUNDING
    if equal and (level != "system" or are_copies(x, y)):  # the same on all data
        value = both["theta"]
        return result | {"ci_low": value, "ci_high": value, "standard_error": 0.0, "bias": 0.0, "fell_back": False}
    known = v1 * v2 > 0 and math.isfinite(v1 + v2) and not fell_back
    rho = float(np.clip((v1 + v2 - v) / (2 * math.sqrt(v1) * math.sqrt(v2)), -1, 1)) if known else 0.0
    c1, c2 = one["estimate"] - one["bias"], two["estimate"] - two["bias"]
    low = c1 - c2 - hypotenuse(c1 - one["ci_low"], two["ci_high"] - c2, rho)
    high = c1 - c2 + hypotenuse(one["ci_high"] - c1, c2 - two["ci_low"], rho)
    if level == "input" and "system" not in resample and v > ROUNDING**2:  # a paired t test over the inputs
        reach, most = t.ppf((1 + confidence_level) / 2, df) * math.sqrt(v), 1.0 if "accuracy" in coefficient else 2.0
        low, high, known = max(-most, both["theta"] - reach), min(most, both["theta"] + reach), True
    result.update(ci_low=min(low, both["theta"]), ci_high=max(high, both["theta"]), standard_error=math.sqrt(v))
    result.update(bias=both["theta"] - (c1 - c2), fell_back=not known)
    return result


def are_copies(x, y):
    """Whether scores are a linear function of others: metrics may rank all systems alike without."""
    one, two = ((each - np.nanmean(each)) / np.nanstd(each) for each in (x, y))
    return bool(np.nanmax(np.abs(one - two)) <= 1e-9)


def hypotenuse(a, b, rho):
    """The third side of a triangle with sides a, b and the cosine rho between them."""
    return math.sqrt(max(0.0, a**2 + b**2 - 2 * rho * a * b))


def nothing(estimate, df):
    """The result where there is no interval."""
    undefined = dict.fromkeys(("ci_low", "ci_high", "standard_error", "bias"), math.nan)
    return {"estimate": float(estimate), **undefined, "df": df, "fell_back": False}


def prepared(scores, level, resample):
    """The scores on their common cells without empty systems and inputs, df, level, and the dims asked for and varying.

    `within_system` is the input level of the transposed scores.
    """
    asked = tuple(resample)
    scores = np.array(scores, dtype=float)
    scores[:, np.isnan(scores).any(axis=0)] = np.nan
    cells = ~np.isnan(scores[0])
    scores = scores[:, cells.any(axis=1)][:, :, cells.any(axis=0)]
    _, n, m = scores.shape
    counts = {"system": n, "input": m}
    if len(resample) == 2 and 1 in (n, m) and max(n, m) > 1:  # a dim of one label does not vary
        resample = ("system",) if m == 1 else ("input",)
    if len(resample) == 1:
        df = counts[resample[0]] - 1
    else:
        df = (min(n, m) if level in ("global", "within_system") else n) - 1
    if level == "within_system":
        other = {"system": "input", "input": "system"}
        asked, resample = (tuple(other[dim] for dim in each) for each in (asked, resample))
        return scores.transpose(0, 2, 1), df, "input", asked, resample
    return scores, df, level, asked, resample


def too_few(x, coefficient, level, asked, resample):
    """Whether there are too few labels of a dim that is resampled: four systems, two inputs; of all cells four of one.

    Ranked means have their variance from leaving out systems, whatever is resampled.
    """
    of_systems = "system" in asked or (level == "system" and coefficient != "pearson")
    few = level == "global" and max(x.shape) < 4
    return few or (of_systems and x.shape[0] < 4) or ("input" in resample and x.shape[1] < 2)


# ---------------------------------------------------------------------------------------------- coefficients


def signs(a):
    """Signs of all differences."""
    return np.sign(a[:, None] - a[None, :])


def midranks(a):
    """Ranks from 1, ties sharing their mean."""
    return 0.5 + (a[None, :] < a[:, None]).sum(axis=1) + (a[None, :] == a[:, None]).sum(axis=1) / 2


def standardised(a):
    """Mean 0, sd 1 (ddof 0)."""
    return (a - a.mean()) / a.std()


def correlate(coefficient, x, z):
    """The coefficient of two vectors without gaps; NaN where it is undefined."""
    n = len(x)
    if n < 2:
        return math.nan
    sx, sz = signs(x), signs(z)
    if coefficient == "pairwise_accuracy":
        return float((sx * sz > 0).sum() / (n * (n - 1)))
    if not sx.any() or not sz.any():
        return math.nan
    if coefficient == "spearman":
        return correlate("pearson", midranks(x), midranks(z))
    if coefficient == "pearson":
        return float(np.mean(standardised(x) * standardised(z)))
    if coefficient == "kendall":
        return float((sx * sz).sum() / math.sqrt((sx**2).sum() * (sz**2).sum()))
    tau_a = float((sx * sz).sum() / (n * (n - 1)))
    return tau_a if coefficient == "kendall_a" else tau_a * stuart(x, z)


def stuart(x, z):
    """The factor from tau-a to tau-c."""
    n, m = len(x), min(len(np.unique(x)), len(np.unique(z)))
    return m * (n - 1) / (n * (m - 1)) if m > 1 else math.nan


def influences(coefficient, x, z):
    """How much each member moves the coefficient: mean 0, times n."""
    n = len(x)
    r = correlate(coefficient, x, z)
    if math.isnan(r):
        return np.zeros(n)
    if coefficient in ("pearson", "spearman"):
        a, b = (standardised(midranks(v) if coefficient == "spearman" else v) for v in (x, z))
        influence = a * b - r * (a**2 + b**2) / 2
        if coefficient == "spearman":
            for own, a_, b_ in ((x, a, b), (z, b, a)):
                above = (own[None, :] > own[:, None]) + (own[None, :] == own[:, None]) / 2
                moved = (above * (b_ - r * a_)[None, :]).mean(axis=1) * n / midranks(own).std()
                influence += moved - moved.mean()
        return influence
    sx, sz = signs(x), signs(z)
    s, alpha, beta = ((v.sum(axis=1) / (n - 1)) for v in (sx * sz, sx**2, sz**2))
    if coefficient == "kendall":
        a, b = alpha.mean(), beta.mean()
        return 2 * (s / math.sqrt(a * b) - r / 2 * (alpha / a + beta / b))
    if coefficient == "pairwise_accuracy":
        return 2 * ((sx * sz > 0).sum(axis=1) / (n - 1) - r)
    return 2 * (s - s.mean()) * (stuart(x, z) if coefficient == "kendall_c" else 1)


def epsilon(coefficient, n):
    """How far the centre keeps from 1, with n systems (inputs at `within_system`)."""
    if coefficient == "pearson" or n < 2:
        return 1e-12
    return 6 / (n**3 - n) if coefficient == "spearman" else 2 / (n**2 - n)


# ---------------------------------------------------------------------------------------------- levels


def means(x):
    """Means of systems over their cells; those that differ by no more than rounding are made equal."""
    values = np.array([math.fsum(row[~np.isnan(row)]) / np.sum(~np.isnan(row)) for row in x])
    scale = np.nanmax(np.abs(x)) if (x < 0).any() else 0.0
    order = np.argsort(values)
    for before, after in zip(order[:-1], order[1:], strict=True):
        if values[after] - values[before] <= 1e-12 * max(abs(values[before]), abs(values[after]), scale):
            values[after] = values[before]
    return values


def group(x, z, coefficient, undefined):
    """The correlation of one group, which may have gaps; NaN where it has none."""
    here = ~np.isnan(x)
    r = correlate(coefficient, x[here], z[here])
    return 0.0 if math.isnan(r) and here.any() and undefined == "zero" else r


def groups(x, z, coefficient, undefined):
    """The correlation of each input."""
    return np.array([group(x[:, j], z[:, j], coefficient, undefined) for j in range(x.shape[1])])


def mean_defined(values):
    """Mean of the values that are defined; NaN where none is."""
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else math.nan


def statistic(x, z, coefficient, level, undefined):
    """The correlation of two matrices at a level."""
    here = ~np.isnan(x)
    if level == "system":
        x, z = x[here.any(axis=1)], z[here.any(axis=1)]
        return correlate(coefficient, means(x), means(z)) if len(x) else math.nan
    if level == "global":
        return correlate(coefficient, x[here], z[here])
    return mean_defined(groups(x, z, coefficient, undefined))


# ---------------------------------------------------------------------------------------------- the jackknife


def parts(x, z, coefficient, level, undefined):
    """All that the variance is made of; those of two metrics may be subtracted. NaN marks what is undefined."""
    n, m = x.shape
    ask = (level, undefined)
    result = {"cells": ~np.isnan(x), "theta": statistic(x, z, coefficient, *ask)}
    result["without_system"] = leave_out(x, z, coefficient, 0, *ask)
    if level == "system":
        result["pearson_without_system"] = leave_out(x, z, "pearson", 0, *ask)
        result["psi"] = cell_effects(x, z)
        result["bend"] = bends(x, z)
    elif level == "global":
        result["without_input"] = leave_out(x, z, coefficient, 1, *ask)
        result["influence"] = influences(coefficient, x[result["cells"]], z[result["cells"]])
    else:
        result["r"] = groups(x, z, coefficient, undefined)
        result["r_without"] = np.full((n, m), np.nan)
        for i, j in np.argwhere(result["cells"]):
            rest = np.arange(n) != i
            result["r_without"][i, j] = group(x[rest, j], z[rest, j], coefficient, undefined)
        result["by_input"], result["by_cell"] = moves(result)
    return result


def moves(pieces):
    """How far the average over inputs moves without each input, and by each cell; the squares are the variances.

    An input without a correlation moves nothing, also where another metric has one there.
    """
    r, without, cells = pieces["r"], pieces["r_without"], pieces["cells"]
    defined = [j for j in range(len(r)) if not math.isnan(r[j])]
    k = len(defined)
    by_input, by_cell = np.zeros(len(r)), np.zeros(cells.shape)
    for j in defined:
        by_input[j] = (r[j] - r[defined].mean()) / math.sqrt(k * (k - 1)) if k > 1 else 0.0
        n, there = cells[:, j].sum(), ~np.isnan(without[:, j])
        if there.any():
            by_cell[there, j] = math.sqrt((n - 1) / n) * (without[there, j] - without[there, j].mean()) / k
    return by_input, by_cell


def leave_out(x, z, coefficient, axis, level, undefined):
    """The statistic without each system (axis 0) or input (axis 1)."""
    return np.array(
        [
            statistic(np.delete(x, k, axis), np.delete(z, k, axis), coefficient, level, undefined)
            for k in range(x.shape[axis])
        ]
    )


def cell_effects(x, z):
    """How much each cell moves Pearson's r of the systems' means, to first order; 0 where there is no cell."""
    mean_x, mean_z = means(x), means(z)
    r = correlate("pearson", mean_x, mean_z)
    if math.isnan(r):
        return np.zeros(x.shape)
    n = len(x)
    a, b = standardised(mean_x), standardised(mean_z)
    slope_x = (b - r * a) / (n * mean_x.std())
    slope_z = (a - r * b) / (n * mean_z.std())
    moved = slope_x[:, None] * residuals(x) + slope_z[:, None] * residuals(z)
    return np.nan_to_num(moved / (~np.isnan(x)).sum(axis=1, keepdims=True))


def bends(x, z):
    """F_jk for each two inputs, as the text has it: the second derivatives of Pearson's r of the systems' means.

    u_j and v_j are input j's residuals, centred over systems, over the norms of the centred means. Of a system with
    gaps each residual counts for more, so that their mean over all inputs is what moves the system's mean.
    """
    m = x.shape[1]
    sides = []
    for scores in (x, z):
        centred = means(scores) - means(scores).mean()
        norm = math.sqrt((centred**2).sum())
        if norm <= ROUNDING * np.nanmax(np.abs(scores)):
            return np.zeros((m, m))
        moved = np.nan_to_num(residuals(scores)) * m / (~np.isnan(scores)).sum(axis=1, keepdims=True)
        sides.append((centred / norm, (moved - moved.mean(axis=0)) / norm))
    (a, u), (b, v) = sides
    r = a @ b
    f = np.zeros((m, m))
    for j in range(m):
        for k in range(m):
            uj, uk, vj, vk = u[:, j], u[:, k], v[:, j], v[:, k]
            f[j, k] = uj @ vk + uk @ vj
            f[j, k] -= (b @ uj + a @ vj) * (a @ uk + b @ vk) + (b @ uk + a @ vk) * (a @ uj + b @ vj)
            f[j, k] += r * (3 * (a @ uj) * (a @ uk) - uj @ uk + 3 * (b @ vj) * (b @ vk) - vj @ vk)
            f[j, k] += r * ((a @ uj) * (b @ vk) + (a @ uk) * (b @ vj))
    return f


def residuals(x):
    """What is left of each cell without its system's mean, then without its input's mean of what is left."""
    left = x - np.nanmean(x, axis=1, keepdims=True)
    return left - np.nanmean(left, axis=0, keepdims=True)


def spread(values, n):
    """The jackknife's variance from leave-one-out values; those that are undefined are left out."""
    values = values[~np.isnan(values)]
    return (n - 1) / n * float(((values - values.mean()) ** 2).sum()) if len(values) else 0.0


def variance(pieces, coefficient, level, resample):
    """Variance from systems, from inputs, or from both without the noise of cells twice."""
    n, m = pieces["cells"].shape
    v_system = spread(pieces["without_system"], n)
    if level == "system" and coefficient != "pearson":
        v_system *= ((n - 2) / (n - 1)) ** 2
    if set(resample) == {"system"}:
        return v_system
    v_input, v_cell = {"system": of_means, "global": of_cells, "input": of_groups}[level](pieces, n, m)
    if level == "system" and coefficient != "pearson":
        pearson = spread(pieces["pearson_without_system"], n)
        ratio = v_system / pearson if pearson > ROUNDING**2 else 0.0
        v_input, v_cell = ratio * v_input, ratio * v_cell
    if level == "system" and set(resample) == {"input"}:
        square = (pieces["bend"] ** 2).sum() - (np.diag(pieces["bend"]) ** 2).sum()
        second = square / (2 * m**3 * (m - 1)) * (1 if coefficient == "pearson" else ratio)
        return max(v_input - second, v_input / 2)
    return v_input if set(resample) == {"input"} else v_system + max(0.0, v_input - v_cell)


def of_means(pieces, n, m):
    """Variance from inputs and from cells at system level, Pearson's."""
    psi = pieces["psi"]
    v_input = m / (m - 1) * (psi.sum(axis=0) ** 2).sum()
    return float(v_input), float(m / (m - 1) * n / (n - 1) * (psi**2).sum())


def of_cells(pieces, n, m):
    """Variance from inputs and from cells at global level."""
    influence = pieces["influence"]
    return spread(pieces["without_input"], m), float(((influence / len(influence)) ** 2).sum())


def of_groups(pieces, n, m):
    """Variance from inputs and from cells at input level."""
    return float((pieces["by_input"] ** 2).sum()), float((pieces["by_cell"] ** 2).sum())


def removed_bias(pieces, level, resample):
    """The jackknife's bias of the estimate, which the centre is free of."""
    theta, cells = pieces["theta"], pieces["cells"]
    if level == "system":
        return 0.0
    if level == "global":
        left_out = [pieces[f"without_{dim}"] for dim in resample]
        biases = [(len(values) - 1) * (mean_defined(values) - theta) for values in left_out]
        return sum(b for b in biases if not math.isnan(b))
    if "system" not in resample:
        return 0.0
    biases = []
    for j in np.flatnonzero(~np.isnan(pieces["r"])):
        without = pieces["r_without"][cells[:, j], j]
        bias = (len(without) - 1) * (without.mean() - pieces["r"][j])
        biases.append(0.0 if math.isnan(bias) else bias)
    return float(np.mean(biases))


def without_bias(r, bias, most):
    """The centre on arctanh's scale.

    As much of the bias as leads half the way from r to 1 or -1 is taken from r, the rest from arctanh, by its slope.
    """
    on_r = np.clip(bias, -(1 - r) / 2, (1 + r) / 2)
    centre = np.clip(r - on_r, -most, most)
    return math.atanh(centre) - (bias - on_r) / (1 - centre**2)


def of_equal(r, n, tail):
    """The least and the largest mean of values in [-1, 1], of which n were all equal to r with a chance of `tail`."""
    p = tail ** (1 / n)
    return p * r - (1 - p), p * r + (1 - p), 0.0


def fallback(r, n, coefficient, level, confidence_level):
    """Limits and standard error where |r| = 1 or the variance is 0."""
    if level != "system" or coefficient == "pearson":
        return r, r, 0.0
    r0 = math.copysign(min(abs(r), 1 - epsilon(coefficient, n)), r)
    b, c = (3, math.sqrt(1 + r0**2 / 2)) if coefficient == "spearman" else (4, math.sqrt(0.437))
    if n <= b:
        return -1.0, 1.0, math.inf
    se = c / math.sqrt(n - b)
    reach = t.ppf((1 + confidence_level) / 2, n - 1) * se
    low = -1.0 if r <= -1 + ROUNDING else math.tanh(math.atanh(r0) - reach)
    high = 1.0 if r >= 1 - ROUNDING else math.tanh(math.atanh(r0) + reach)
    return low, high, (1 - r0**2) * se
