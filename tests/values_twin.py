"""Plain-Python twins of agreement on one scale: kappa, accuracy and the like from their definitions."""

import itertools
import math
from fractions import Fraction


def agreement(name, x, z, positive=None, scale=None):
    """A coefficient of two vectors of scores on one scale; NaN where it is undefined.

    `positive` holds the values that are the positive class; means are rounded relative to `scale`.
    """
    n = len(x)
    if name in ("weighted_kappa", "icc"):
        return by_value(name, x, z, scale)
    if positive is not None:
        x, z = ([value in positive for value in each] for each in (x, z))
    same = sum(a == b for a, b in zip(x, z, strict=True))
    if name == "accuracy":
        return same / n
    if name in ("kappa", "mcc"):
        classes = set(x) | set(z)
        own, others = ({c: sum(v == c for v in each) for c in classes} for each in (x, z))
        chance = sum(own[c] * others[c] for c in classes)
        if name == "kappa":
            p_o, p_e = same / n, chance / n**2
            return (p_o - p_e) / (1 - p_e) if n > 1 and chance < n**2 else math.nan
        # The covariance of two assignments to classes, over those of each with itself (Gorodkin 2004).
        pairs = itertools.product(range(n), repeat=2)
        cov = {"xz": 0, "xx": 0, "zz": 0}
        for i, j in pairs:
            cov["xz"] += (x[i] == z[i]) - (x[i] == z[j])
            cov["xx"] += 1 - (x[i] == x[j])
            cov["zz"] += 1 - (z[i] == z[j])
        return cov["xz"] / math.sqrt(cov["xx"] * cov["zz"]) if cov["xx"] and cov["zz"] else math.nan
    tp = sum(a and b for a, b in zip(x, z, strict=True))
    fp = sum(a and not b for a, b in zip(x, z, strict=True))
    fn = sum(b and not a for a, b in zip(x, z, strict=True))
    tn = n - tp - fp - fn
    above, below = {"f1": (2 * tp, 2 * tp + fp + fn), "sensitivity": (tp, tp + fn), "specificity": (tn, tn + fp)}[name]
    return above / below if below else math.nan


def by_value(name, x, z, scale):
    """Kappa with quadratic weights from all pairs of cells; ICC(A,1) from the mean squares of a two-way layout."""
    n = len(x)
    if n < 2:
        return math.nan
    equal = 1e-11 * max(*map(abs, x), *map(abs, z), scale or 0.0)
    x, z = ([Fraction(value) for value in each] for each in (x, z))  # exact: means of a few cells may all but cancel
    if name == "weighted_kappa":
        observed = sum((a - b) ** 2 for a, b in zip(x, z, strict=True)) / n
        expected = sum((a - b) ** 2 for a, b in itertools.product(x, z)) / n**2
        return float(1 - observed / expected) if expected > equal**2 else math.nan
    rows = [(a + b) / 2 for a, b in zip(x, z, strict=True)]
    grand = sum(rows) / n
    columns = sum(x) / n, sum(z) / n
    of_rows = 2 * sum((row - grand) ** 2 for row in rows) / (n - 1)
    of_columns = n * sum((column - grand) ** 2 for column in columns)
    cells = [
        (value - row - column + grand) ** 2
        for each, column in zip((x, z), columns, strict=True)
        for value, row in zip(each, rows, strict=True)
    ]
    error = sum(cells) / (n - 1)
    below = of_rows + error + (of_columns - error) * 2 / n
    return float((of_rows - error) / below) if below > equal**2 and below > 1e-11 * (of_rows + error) else math.nan
