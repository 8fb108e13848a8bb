"""Plain-Python twins of system means and differences from few ratings, written from their definitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from scipy import optimize, special, stats

Rows = Sequence[Sequence[float]]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _there(values: Sequence[float]) -> list[int]:
    return [j for j, value in enumerate(values) if not math.isnan(value)]


def completed(f: Rows, z: Rows, groups: Sequence[int] | None = None) -> list[list[float]]:
    """Scores in which each rated output without one has its system's mean score in the output's group."""
    groups = groups or [0] * len(f[0])
    rows = [list(row) for row in f]
    for row, scored, ratings in zip(rows, f, z, strict=True):
        for j, rating in enumerate(ratings):
            if math.isnan(scored[j]) and not math.isnan(rating):
                own = [scored[k] for k in _there(scored) if groups[k] == groups[j]]
                row[j] = _mean(own or [scored[k] for k in _there(scored)] or [0.0])
    return rows


def _centred(values: Sequence[float], at: list[int], groups: Sequence[int]) -> dict[int, float]:
    means = {h: _mean([values[j] for j in at if groups[j] == h]) for h in {groups[j] for j in at}}
    return {j: values[j] - means[groups[j]] for j in at}


def shared_slope(f: list[dict[int, float]], z: list[dict[int, float]], df: float) -> tuple[float, float, float]:
    """b, V and κ of centred scores of each system, by input."""
    inputs = sorted({j for each in f for j in each})
    p = sum(value**2 for each in f for value in each.values())
    if p == 0:
        return 0.0, 0.0, 0.0
    b = sum(x[j] * y[j] for x, y in zip(f, z, strict=True) for j in x) / p
    r = [{j: y[j] - b * x[j] for j in x} for x, y in zip(f, z, strict=True)]
    total = sum(sum(x[j] * e[j] for x, e in zip(f, r, strict=True) if j in x) ** 2 for j in inputs)
    n = len(inputs)
    v = n / (n - 2) * total / p**2 if n > 2 else 0.0
    v = max(v, sum(e**2 for each in r for e in each.values()) / (df * p) if df > 0 else 0.0)
    kappa = max(0.0, 1 - v / b**2) if b else 0.0
    return b, v, kappa if n >= 5 else 0.0


def _own_weights(own: list[float], v: list[float], usable: list[int]) -> list[float]:
    """w_s = τ²/(τ² + v_s), τ² by DerSimonian and Laird."""
    w = [0.0] * len(own)
    if len(usable) < 2:
        return w
    inverse = [1 / v[s] for s in usable]
    middle = sum(i * own[s] for i, s in zip(inverse, usable, strict=True)) / sum(inverse)
    q = sum(i * (own[s] - middle) ** 2 for i, s in zip(inverse, usable, strict=True))
    tau = max(0.0, (q - (len(usable) - 1)) / (sum(inverse) - sum(i**2 for i in inverse) / sum(inverse)))
    for s in usable:
        w[s] = tau / (tau + v[s])
    return w


def fitted_prior(variances: list[float], df: list[float]) -> tuple[float, float]:
    """d0 and s0² as limma's fitFDist has them (Smyth 2004, section 6.2), trigamma's inverse by a root search."""
    e = [math.log(v) - special.digamma(d / 2) + math.log(d / 2) for v, d in zip(variances, df, strict=True)]
    middle = _mean(e)
    beyond = sum((each - middle) ** 2 for each in e) / (len(e) - 1) - _mean([special.polygamma(1, d / 2) for d in df])
    if beyond <= 0:
        return math.inf, _mean(variances)
    log_half = optimize.brentq(lambda x: math.log(special.polygamma(1, math.exp(x)) / beyond), -30, 30, xtol=1e-14)
    half = math.exp(log_half)
    return 2 * half, math.exp(middle + special.digamma(half) - math.log(half))


def moderated(variances: list[float], df: list[float], most: float = 2.0) -> list[float]:
    """Variances drawn up to the common one; those of 0 do not count for it."""
    return moderated_by(variances, df, most)[0]


def moderated_by(variances: list[float], df: list[float], most: float = 2.0) -> tuple[list[float], float]:
    """The same, and d0."""
    if len(variances) < 3:
        return variances, 0.0
    positive = [(v, d) for v, d in zip(variances, df, strict=True) if v > 0]
    d0, common = math.inf, _mean(variances)
    if len(positive) >= 3:
        d0, fitted = fitted_prior(*(list(each) for each in zip(*positive, strict=True)))
        common = common if math.isinf(d0) else fitted
    d0 = min(d0, most)
    return [max(v, (d * v + d0 * common) / (d + d0)) for v, d in zip(variances, df, strict=True)], d0


def score_limits(mean: float, n: float, low: float, high: float, level: float) -> tuple[float, float]:
    """Wilson's limits, as the roots of (x − p)² = z²·x·(1 − x)/n, moved to the scale's ends."""
    z2 = stats.norm.ppf(0.5 + level / 2) ** 2
    p = min(1.0, max(0.0, (mean - low) / (high - low)))
    a, b, c = 1 + z2 / n, -(2 * p + z2 / n), p * p
    root = math.sqrt(max(0.0, b * b - 4 * a * c))
    limits = [low + (high - low) * (-b + sign * root) / (2 * a) for sign in (-1, 1)]
    return min(mean, limits[0]), max(mean, limits[1])


def system_means(
    f: Rows,
    z: Rows,
    target: str = "new",
    level: float = 0.95,
    groups: Sequence[int] | None = None,
    own_spread: bool = False,
) -> list[dict[str, Any]]:
    """Of each system its mean, limits, and the same of ratings alone; each system has two ratings or more.

    With `own_spread`, where each group has a variance of its own, each system has two ratings or more in each group.
    """
    groups = groups or [0] * len(f[0])
    size = len(set(groups))
    scored = [_there(row) for row in f]
    rated = [[j for j in at if not math.isnan(row[j])] for at, row in zip(scored, z, strict=True)]
    f0 = [_centred(row, at, groups) for row, at in zip(f, rated, strict=True)]
    z0 = [_centred(row, at, groups) for row, at in zip(z, rated, strict=True)]
    n = [len(at) for at in rated]
    b, big_v, kappa = shared_slope(f0, z0, sum(k - size for k in n) - 1)
    n_inputs = len({j for at in rated for j in at})
    s_s = [sum(x**2 for x in each.values()) for each in f0]
    own = [sum(x[j] * y[j] for j in x) / s if s else 0.0 for x, y, s in zip(f0, z0, s_s, strict=True)]
    enough = [k >= 4 + size and n_inputs >= 5 for k in n]
    usable = [s for s in range(len(f)) if enough[s] and s_s[s] > 0]
    own_s2 = [
        sum((z0[s][j] - own[s] * f0[s][j]) ** 2 for j in f0[s]) / (n[s] - size - 1) if n[s] > size + 1 else 0.0
        for s in range(len(f))
    ]
    typical = _mean([own_s2[s] for s in usable]) if usable else 0.0
    w = _own_weights(own, [typical / s if s else 0.0 for s in s_s], usable)
    beta, v_beta, d_r, d_q = [], [], [], []
    for s in range(len(f)):
        residual = sum((z0[s][j] - b * f0[s][j]) ** 2 for j in f0[s]) / (n[s] - size)
        d = min(1.0, big_v * s_s[s] / residual) if residual else 0.0
        beta.append(w[s] * own[s] + (1 - w[s]) * kappa * b if enough[s] else 0.0)
        mixed = (w[s] * own_s2[s] / s_s[s] if s_s[s] else 0.0) + (1 - w[s]) * kappa * big_v
        v_beta.append(mixed if enough[s] else 0.0)
        d_r.append(min(1.0, w[s] + (1 - w[s]) * kappa * d) if enough[s] else 0.0)
        d_q.append(min(1.0, w[s] + (1 - w[s]) * d * (kappa > 0)) if enough[s] else 0.0)
    df = [k - size for k in n]
    s_e = [sum((z0[s][j] - beta[s] * f0[s][j]) ** 2 for j in f0[s]) / (df[s] - d_r[s]) for s in range(len(f))]
    s_z = [sum(y**2 for y in z0[s].values()) / df[s] for s in range(len(f))]
    s_e, s_z = moderated(s_e, df), moderated(s_z, df)
    if own_spread:
        e0 = [{j: z0[s][j] - beta[s] * f0[s][j] for j in f0[s]} for s in range(len(f))]
        by_e = _own_spreads(e0, groups, [df[s] / (df[s] - d_r[s]) for s in range(len(f))])
        by_z = _own_spreads(z0, groups, [1.0] * len(f))
    found = []
    for s in range(len(f)):
        m, human, gap, v_e, v_z, between, chance, within = len(scored[s]), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        parts = []
        pieces, human_pieces = [], []
        for h in sorted(set(groups)):
            everything = [j for j in scored[s] if groups[j] == h]
            some = [j for j in rated[s] if groups[j] == h]
            share = len(everything) / m
            z_bar = _mean([z[s][j] for j in some])
            parts.append((share, z_bar))
            human += share * z_bar
            gap += share * (_mean([f[s][j] for j in everything]) - _mean([f[s][j] for j in some]))
            left = share**2 * (1 / len(some) - 1 / len(everything))
            of_e, df_e = by_e[h][s] if own_spread else (s_e[s], 1.0)
            of_z, df_z = by_z[h][s] if own_spread else (s_z[s], 1.0)
            chance += share * (1 - share) * of_z / len(some)
            v_e, v_z, within = v_e + left * of_e, v_z + left * of_z, within + share * of_z
            beyond = share * of_z / m if target == "new" else 0.0
            pieces.append((left * of_e + beyond, min(df_e, df_z)))
            human_pieces.append((left * of_z + beyond, df_z))
        between = sum(share * (z_bar - human) ** 2 for share, z_bar in parts)
        extra = (within + max(0.0, between - chance)) / m if target == "new" else 0.0
        v, v_human = v_e + v_beta[s] * gap**2 + extra, v_z + extra
        mean = human + beta[s] * gap
        mean_df, human_df = df[s] - d_q[s], df[s]
        if own_spread:
            mean_df = min(df[s], _welch(pieces)) * (df[s] - d_q[s]) / df[s]
            human_df = min(df[s], _welch(human_pieces))
        half = stats.t.ppf(0.5 + level / 2, mean_df) * math.sqrt(v)
        half_human = stats.t.ppf(0.5 + level / 2, human_df) * math.sqrt(v_human)
        found.append(
            {
                **{"mean": mean, "ci_low": mean - half, "ci_high": mean + half, "standard_error": math.sqrt(v)},
                **{"human_mean": human, "human_ci_low": human - half_human, "human_ci_high": human + half_human},
                **{"n_rated": n[s], "n_inputs": m, "df": mean_df},
                "n_effective": n[s] if v == v_human == 0 else n[s] * v_human / v,
                "weight": beta[s] * (m - n[s]) / m,
            }
        )
    return found


def _own_spreads(
    rest: list[dict[int, float]], groups: Sequence[int], factors: list[float]
) -> dict[int, list[tuple[float, float]]]:
    """Of each group, for each system, the variance of its residuals and its degrees of freedom."""
    found = {}
    for h in sorted(set(groups)):
        df = [float(sum(groups[j] == h for j in each) - 1) for each in rest]
        own = [
            factor * sum(value**2 for j, value in each.items() if groups[j] == h) / d
            for each, d, factor in zip(rest, df, factors, strict=True)
        ]
        drawn_up, d0 = moderated_by(own, df)
        found[h] = [(v, d + d0) for v, d in zip(drawn_up, df, strict=True)]
    return found


def _welch(pieces: list[tuple[float, float]]) -> float:
    """Satterthwaite's degrees of freedom of a sum of variances."""
    return sum(v for v, _ in pieces) ** 2 / sum(v**2 / d for v, d in pieces)


def drawn_difference(
    f: Rows, z: Rows, a: int, c: int, groups: Sequence[int], own_spread: bool, target: str = "new", level: float = 0.95
) -> dict[str, float]:
    """The difference of systems a and c, of inputs drawn from groups; the same inputs are rated for all systems."""
    m, everyone, size = len(f[0]), range(len(f)), len(set(groups))
    rated = _there(z[0])
    n = len(rated)
    f0 = [_centred(row, rated, groups) for row in f]
    z0 = [_centred(row, rated, groups) for row in z]
    f0, z0 = (
        [{j: each[j] - _mean([other[j] for other in all_of]) for j in each} for each in all_of] for all_of in (f0, z0)
    )
    b, v_b, kappa = shared_slope(f0, z0, (len(f) - 1) * (n - size) - 1)
    pairs = list(combinations(everyone, 2))

    def spreads(i: int, k: int) -> tuple[dict[int, tuple[float, float]], float]:
        fd, zd = ([x - y for x, y in zip(each[i], each[k], strict=True)] for each in (f, z))
        fc, zc = _centred(fd, rated, groups), _centred(zd, rated, groups)
        left = sum((zc[j] - b * fc[j]) ** 2 for j in rated) / (n - size)
        d = min(1.0, v_b * sum(fc[j] ** 2 for j in rated) / left)
        found = {}
        for h in sorted(set(groups)):
            at = [j for j in rated if groups[j] == h or not own_spread]
            df = len(at) - 1 if own_spread else n - size
            e2 = sum((zc[j] - kappa * b * fc[j]) ** 2 for j in at) / df * (n - size) / (n - size - kappa * d)
            found[h] = e2, sum(zc[j] ** 2 for j in at) / df
        return found, d

    of_all = {pair: spreads(*pair)[0] for pair in pairs}
    own, d = spreads(a, c)
    fd, zd = ([x - y for x, y in zip(each[a], each[c], strict=True)] for each in (f, z))
    value = gap = variance = chance = 0.0
    parts, pieces = [], []
    for h in sorted(set(groups)):
        everything = [j for j in range(m) if groups[j] == h]
        some = [j for j in rated if groups[j] == h]
        share, df = len(everything) / m, len(some) - 1.0
        e2, z2 = own[h]
        if len(pairs) >= 3:
            common = [_mean([each[h][at] for each in of_all.values()]) for at in (0, 1)]
            e2, z2 = ((df * x + y) / (df + 1) for x, y in zip((e2, z2), common, strict=True))
            df += 1
        middle = _mean([zd[j] for j in some])
        parts.append((share, middle))
        value += share * middle
        gap += share * (_mean([fd[j] for j in everything]) - _mean([fd[j] for j in some]))
        left = share**2 * (1 / len(some) - 1 / len(everything)) * e2
        beyond = share * z2 / m if target == "new" else 0.0
        variance += left + beyond
        chance += share * (1 - share) * z2 / len(some)
        pieces.append((left + beyond, df))
    if target == "new":
        variance += max(0.0, sum(share * (middle - value) ** 2 for share, middle in parts) - chance) / m
    error = math.sqrt(variance + kappa * v_b * gap**2)
    freedom = min(n - size, _welch(pieces)) if own_spread else n - size
    freedom *= (n - size - d * (kappa > 0)) / (n - size)
    value += kappa * b * gap
    half = stats.t.ppf(0.5 + level / 2, freedom) * error
    return {
        **{"difference": value, "standard_error": error, "df": freedom, "statistic": value / error},
        **{"ci_low": value - half, "ci_high": value + half, "n_inputs": n},
    }


def _variance(values: Sequence[float], df: float) -> float:
    mean = _mean(values)
    return sum((value - mean) ** 2 for value in values) / df


def _paired_variances(
    f: Rows, z: Rows, rated: list[list[int]], a: int, c: int, b: float, v_b: float, kappa: float
) -> tuple[float, float, float] | None:
    """Of the inputs that both have: d, and the variances of what the slope leaves and of the ratings' differences."""
    both = [j for j in rated[a] if j in rated[c]]
    if len(both) < 4:
        return None
    fd, zd = [f[a][j] - f[c][j] for j in both], [z[a][j] - z[c][j] for j in both]
    left = _variance([y - b * x for x, y in zip(fd, zd, strict=True)], len(both) - 1)
    d = min(1.0, v_b * _variance(fd, 1) / left)
    s_e = _variance([y - kappa * b * x for x, y in zip(fd, zd, strict=True)], len(both) - 1 - kappa * d)
    return d, s_e, _variance(zd, len(both) - 1)


def difference(f: Rows, z: Rows, a: int, c: int, target: str = "new", level: float = 0.95) -> dict[str, float]:
    """The difference of systems a and c; metric scores are complete."""
    m, everyone = len(f[0]), range(len(f))
    rated = [_there(row) for row in z]
    f0 = [_centred(f[s], rated[s], [0] * m) for s in everyone]
    z0 = [_centred(z[s], rated[s], [0] * m) for s in everyone]
    df = sum(len(at) - 1 for at in rated) - 1.0
    if len(f) > 1 and all(at == rated[0] for at in rated):
        f0, z0 = (
            [{j: each[j] - _mean([other[j] for other in all_of]) for j in each} for each in all_of]
            for all_of in (f0, z0)
        )
        df = (len(f) - 1) * (len(rated[0]) - 1) - 1.0
    b, v_b, kappa = shared_slope(f0, z0, df)
    used = kappa * b
    both = [j for j in rated[a] if j in rated[c]]
    n = len(both)
    fd = [x - y for x, y in zip(f[a], f[c], strict=True)]
    estimates = []
    s_zd = math.nan
    moderated = 0
    if n >= 4:
        of_all = {pair: _paired_variances(f, z, rated, *pair, b, v_b, kappa) for pair in combinations(everyone, 2)}
        there = [each for each in of_all.values() if each is not None]
        d, s_e, s_zd = of_all[min(a, c), max(a, c)]
        if len(there) >= 3:  # as if each pair had one more degree of freedom, of the mean of all pairs
            moderated = 1
            s_e, s_zd = (((n - 1) * own + _mean([each[at] for each in there])) / n for at, own in ((1, s_e), (2, s_zd)))
        zd = {j: z[a][j] - z[c][j] for j in both}
        gap = _mean(fd) - _mean([fd[j] for j in both])
        v = (1 / n - 1 / m) * s_e + kappa * v_b * gap**2
        estimates.append((_mean(list(zd.values())) + used * gap, v, n - 1 - (d if kappa > 0 else 0)))
    own = [[j for j in rated[s] if n < 4 or j not in both] for s in (a, c)]
    if own[0] and own[1]:
        e = {s: {j: z[s][j] - used * f[s][j] for j in rated[s]} for s in (a, c)}
        parts = [_variance(list(e[s].values()), len(e[s]) - 1) / len(at) for s, at in zip((a, c), own, strict=True)]
        middles = [_mean([e[s][j] for j in at]) + used * _mean(f[s]) for s, at in zip((a, c), own, strict=True)]
        gaps = [_mean(f[s]) - _mean([f[s][j] for j in at]) for s, at in zip((a, c), own, strict=True)]
        v = sum(parts) + kappa * v_b * (gaps[0] - gaps[1]) ** 2
        freedom = sum(parts) ** 2 / sum(p**2 / (len(e[s]) - 1) for s, p in zip((a, c), parts, strict=True))
        estimates.append((middles[0] - middles[1], v, freedom))
    inverse = [1 / v for _, v, _ in estimates]
    w = [each / sum(inverse) for each in inverse]
    value = sum(share * each[0] for share, each in zip(w, estimates, strict=True))
    core = sum(share**2 * each[1] for share, each in zip(w, estimates, strict=True))
    freedom = core**2 / sum((s**2 * each[1]) ** 2 / each[2] for s, each in zip(w, estimates, strict=True))
    if len(w) == 2:  # Meier's allowance
        core *= 1 + 4 * w[0] * w[1] * (1 / (estimates[0][2] + moderated) + 1 / estimates[1][2])
    of_pairs = w[0] if n >= 4 else 0.0
    extra = (1 - of_pairs**2) * used**2 * _variance(fd, m - 1) / m + (of_pairs**2 * s_zd / m if n >= 4 else 0.0)
    error = math.sqrt(core + (extra if target == "new" else 0.0))
    half = stats.t.ppf(0.5 + level / 2, freedom) * error
    p = 2 * stats.t.sf(abs(value) / error, freedom)
    return {
        **{
            "difference": value,
            "standard_error": error,
            "df": freedom,
            "ci_low": value - half,
            "ci_high": value + half,
        },
        **{"statistic": value / error, "pvalue": p, "n_inputs": n},
    }
