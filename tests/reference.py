"""Plain-Python twins of what the library computes: slow, short, and written from the definitions.

Scores are lists of rows, one a system; None marks a missing cell. Nothing here uses the package.
"""

import itertools
import math

from values_twin import agreement

# Coefficients of scores on one scale, of which those of two classes need to know the positive one.
OF_VALUES = ("accuracy", "kappa", "weighted_kappa", "icc", "mcc", "f1", "sensitivity", "specificity")


def sign(a, b, scale=0.0):
    """Sign of a - b; equal when rounding can make the difference (exactly, where `scale` is None)."""
    limit = 0.0 if scale is None else 1e-12 * max(abs(a), abs(b), scale)
    return 0 if abs(a - b) <= limit else (1 if a > b else -1)


def coefficient(name, x, z, scale=None):
    """A correlation coefficient of two vectors; NaN where it is undefined."""
    n = len(x)
    pairs = list(itertools.combinations(range(n), 2))
    sx = {(a, b): sign(x[a], x[b], scale) for a, b in itertools.permutations(range(n), 2)}
    sz = {(a, b): sign(z[a], z[b], scale) for a, b in itertools.permutations(range(n), 2)}
    concordant = sum(sx[p] * sz[p] > 0 for p in pairs)
    discordant = sum(sx[p] * sz[p] < 0 for p in pairs)
    untied_x = sum(sx[p] != 0 for p in pairs)
    untied_z = sum(sz[p] != 0 for p in pairs)
    if name == "pairwise_accuracy":
        return concordant / len(pairs) if pairs else math.nan
    if untied_x == 0 or untied_z == 0:
        return math.nan
    if name == "pearson":
        return pearson(x, z)
    if name == "spearman":
        rank_x = [sum((1 + sx[a, b]) / 2 for b in range(n) if b != a) for a in range(n)]
        rank_z = [sum((1 + sz[a, b]) / 2 for b in range(n) if b != a) for a in range(n)]
        return pearson(rank_x, rank_z)
    if name == "kendall":
        return (concordant - discordant) / math.sqrt(untied_x * untied_z)
    if name == "kendall_a":
        return (concordant - discordant) / len(pairs)
    if name == "kendall_c":
        distinct_x = sum(all(sx[a, b] != 0 for b in range(a)) for a in range(n))
        distinct_z = sum(all(sz[a, b] != 0 for b in range(a)) for a in range(n))
        m = min(distinct_x, distinct_z)
        return 2 * m * (concordant - discordant) / (n * n * (m - 1))
    raise ValueError(name)


def pearson(x, z):
    """Pearson's r by the textbook."""
    mean_x, mean_z = math.fsum(x) / len(x), math.fsum(z) / len(z)
    dx, dz = [a - mean_x for a in x], [b - mean_z for b in z]
    square = math.fsum(a * a for a in dx) * math.fsum(b * b for b in dz)
    return math.fsum(a * b for a, b in zip(dx, dz, strict=True)) / math.sqrt(square)


def groups(x, z, level, missing="pairwise"):
    """The vectors that a level correlates, with the scale of rounding for means (None for raw scores)."""
    n, m = len(x), len(x[0])
    if level == "system":
        both = [[x[i][j] is not None and z[i][j] is not None for j in range(m)] for i in range(n)]
        means_x, means_z, scale = [], [], 0.0
        for i in range(n):
            if missing == "available":
                cells_x = [a for a in x[i] if a is not None]
                cells_z = [b for b in z[i] if b is not None]
            else:
                cells_x = [x[i][j] for j in range(m) if both[i][j]]
                cells_z = [z[i][j] for j in range(m) if both[i][j]]
            if cells_x and cells_z:
                means_x.append(math.fsum(cells_x) / len(cells_x))
                means_z.append(math.fsum(cells_z) / len(cells_z))
                scale = max(scale, *(abs(c) for c in cells_x + cells_z)) if min(cells_x + cells_z) < 0 else scale
        return [(means_x, means_z, scale)]
    if level == "global":
        cells = [(x[i][j], z[i][j]) for i in range(n) for j in range(m)]
        return [(*present(cells), None)]
    if level == "input":
        return [(*present([(x[i][j], z[i][j]) for i in range(n)]), None) for j in range(m)]
    return [(*present([(x[i][j], z[i][j]) for j in range(m)]), None) for i in range(n)]


def present(cells):
    """Two vectors of the cells where both scores are."""
    kept = [(a, b) for a, b in cells if a is not None and b is not None]
    return [a for a, _ in kept], [b for _, b in kept]


def correlation(name, x, z, level, missing="pairwise", undefined="drop", raw_scale=None, threshold=None, positive=None):
    """The statistic of two score matrices at a level; scores that were computed have a `raw_scale`."""
    if name == "spa":
        return soft_accuracy(x, z, missing, raw_scale)
    if name == "pdp":
        return pair_differences(x, z, raw_scale)
    if name == "tau_eq":
        return tau_with_ties(groups(x, z, level, missing), threshold, level, undefined, raw_scale)
    if name in ("acc_eq", "kendall_like"):
        apart = groups(x, z, level, missing)
        apart = [(a, b, raw_scale if scale is None else scale) for a, b, scale in apart]
        if name == "kendall_like":
            return kendall_like(apart, threshold)
        if threshold is None:
            return max((accuracy_with_ties(apart, each, level, undefined) for each in gaps(apart)), default=math.nan)
        return accuracy_with_ties(apart, threshold, level, undefined)
    values = []
    for a, b, scale in groups(x, z, level, missing):
        scale = raw_scale if scale is None else scale
        if a:
            of_values = name in OF_VALUES
            r = agreement(name, a, b, positive, scale) if of_values else coefficient(name, a, b, scale)
            values.append(0.0 if math.isnan(r) and undefined == "zero" and level in ("input", "within_system") else r)
    values = [r for r in values if not math.isnan(r)]
    return math.fsum(values) / len(values) if values else math.nan


def drawn(rows, systems, inputs):
    """The matrix in which system i stands systems[i] times and input j inputs[j] times."""
    picked = [row for row, times in zip(rows, systems, strict=True) for _ in range(times)]
    return [[cell for cell, times in zip(row, inputs, strict=True) for _ in range(times)] for row in picked]


def standardised(x, cells):
    """Mean 0 and sd 1 over the given cells, None elsewhere; 0 where they are constant."""
    here = [a for row, keep in zip(x, cells, strict=True) for a, k in zip(row, keep, strict=True) if k]
    mean = math.fsum(here) / len(here)
    if min(here) == max(here):
        mean, spread = here[0], 1.0
    else:
        spread = math.sqrt(math.fsum((a - mean) ** 2 for a in here) / len(here))
    return [
        [(a - mean) / spread if k else None for a, k in zip(row, keep, strict=True)]
        for row, keep in zip(x, cells, strict=True)
    ]


def swapped(x, y, swap):
    """X' and Y': cells trade places where `swap` is true."""
    both = [[(b, a) if s else (a, b) for a, b, s in zip(*rows, strict=True)] for rows in zip(x, y, swap, strict=True)]
    return [[a for a, _ in row] for row in both], [[b for _, b in row] for row in both]


def difference(name, x, y, z, swap, level, missing="pairwise", undefined="drop", threshold=None, positive=None):
    """r(X', Z) - r(Y', Z) after standardising X and Y and swapping (Deutsch et al. 2021, Alg. 2).

    Scores on one scale are swapped as they are.
    """
    gold_needed = not (level == "system" and missing == "available")
    cells = [
        [a is not None and b is not None and (c is not None or not gold_needed) for a, b, c in zip(*rows, strict=True)]
        for rows in zip(x, y, z, strict=True)
    ]
    z = [
        [c if k or not gold_needed else None for c, k in zip(*rows, strict=True)] for rows in zip(z, cells, strict=True)
    ]
    if name in OF_VALUES:
        x, y = (
            [[a if k else None for a, k in zip(*rows, strict=True)] for rows in zip(m, cells, strict=True)]
            for m in (x, y)
        )
        new_x, new_y = swapped(x, y, swap)
    else:
        new_x, new_y = swapped(standardised(x, cells), standardised(y, cells), swap)
    settings = {"level": level, "missing": missing, "undefined": undefined, "raw_scale": 1.0, "threshold": threshold}
    settings["positive"] = positive
    return correlation(name, new_x, z, **settings) - correlation(name, new_y, z, **settings)


def gaps(apart):
    """Every threshold that can matter: 0 and the metric's differences."""
    return [0.0, *(abs(p - q) for a, _, _ in apart for p, q in itertools.combinations(a, 2))]


def accuracy_with_ties(apart, threshold, level, undefined):
    """The average of the groups' shares of pairs that both order alike, or both tie (Deutsch et al. 2023)."""
    values = []
    for a, b, scale in apart:
        pairs = list(itertools.combinations(range(len(a)), 2))
        right = 0
        for i, j in pairs:
            size = max(abs(a[i]), abs(a[j]), scale or 0.0)
            metric = sign(a[i], a[j], scale)
            if threshold > 0 and abs(a[i] - a[j]) <= threshold + 1e-12 * size:
                metric = 0
            right += metric == sign(b[i], b[j], scale)
        if pairs:
            values.append(right / len(pairs))
        elif a and undefined == "zero" and level in ("input", "within_system"):
            values.append(0.0)
    return math.fsum(values) / len(values) if values else math.nan


def tau_with_ties(apart, threshold, level, undefined, raw_scale=None):
    """Right less wrong decisions, of all pairs, averaged over the groups (Deutsch et al. 2023)."""
    best = math.nan
    apart = [(a, b, raw_scale if scale is None else scale) for a, b, scale in apart]
    for each in gaps(apart) if threshold is None else [threshold]:
        values = []
        for a, b, scale in apart:
            if len(a) > 1:
                values.append(2 * accuracy_with_ties([(a, b, scale)], each, level, undefined) - 1)
            elif a and undefined == "zero" and level in ("input", "within_system"):
                values.append(0.0)
        if values and not math.fsum(values) / len(values) <= best:
            best = math.fsum(values) / len(values)
    return best


def pair_differences(x, z, scale=None):
    """Pearson's r of the differences of all ordered pairs of systems on the same input, loop by loop."""
    dx, dz = [], []
    for j in range(len(x[0])):
        here = [i for i in range(len(x)) if x[i][j] is not None and z[i][j] is not None]
        for i, k in itertools.permutations(here, 2):
            dx.append((x[i][j] - x[k][j]) * abs(sign(x[i][j], x[k][j], scale)))
            dz.append((z[i][j] - z[k][j]) * abs(sign(z[i][j], z[k][j], scale)))
    return pearson(dx, dz) if any(dx) and any(dz) else math.nan


def kendall_like(apart, threshold):
    """WMT's tau: (C - D)/(C + D) of the pairs that the gold sets apart; a tie in the metric is wrong."""
    concordant = discordant = 0
    for a, b, scale in apart:
        for i, j in itertools.combinations(range(len(a)), 2):
            size = max(abs(b[i]), abs(b[j]), scale or 0.0)
            if sign(b[i], b[j], scale) != 0 and abs(b[i] - b[j]) >= threshold - 1e-12 * size:
                if sign(a[i], a[j], scale) == sign(b[i], b[j], scale):
                    concordant += 1
                else:
                    discordant += 1
    pairs = concordant + discordant
    return (concordant - discordant) / pairs if pairs else math.nan


def beats(a, b, scale=None):
    """Share of all ways to let scores trade places in which a is as far above b as it is (Thompson et al. 2024)."""
    differences = [
        (p - q) * abs(sign(p, q, scale)) for p, q in zip(a, b, strict=True) if p is not None and q is not None
    ]
    if not differences:
        return math.nan
    observed = math.fsum(differences)
    near = 1e-9 * math.fsum(map(abs, differences))
    signs = list(itertools.product((1, -1), repeat=len(differences)))
    reached = sum(math.fsum(s * d for s, d in zip(each, differences, strict=True)) >= observed - near for each in signs)
    return reached / len(signs)


def soft_accuracy(x, z, missing="pairwise", raw_scale=None):
    """1 - the mean of |p_X - p_Z| over ordered pairs of systems that have an input in common."""
    if missing == "pairwise":
        both = [
            [a is not None and b is not None for a, b in zip(*rows, strict=True)] for rows in zip(x, z, strict=True)
        ]
        x, z = (
            [[a if k else None for a, k in zip(*rows, strict=True)] for rows in zip(m, both, strict=True)]
            for m in (x, z)
        )
    systems = [i for i in range(len(x)) if any(a is not None for a in x[i]) and any(b is not None for b in z[i])]
    apart = [abs(beats(x[i], x[j], raw_scale) - beats(z[i], z[j])) for i, j in itertools.permutations(systems, 2)]
    apart = [each for each in apart if not math.isnan(each)]
    return 1 - math.fsum(apart) / len(apart) if apart else math.nan
