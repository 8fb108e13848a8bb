"""Mean human scores of systems from few ratings and many scores of a metric, by regression; leading dims broadcast."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from xsumstat.core.types import TOLERANCE, BoolArray, FloatArray, IntArray
from xsumstat.inference import score_limits
from xsumstat.inference.moderation import moderated
from xsumstat.inference.pvalues import by_t

TARGETS = ("new", "these")
# A system with fewer ratings, and scores of fewer inputs with ratings, are left to the ratings alone.
LEAST = 5
# How much the systems' common variance counts beside each one's own, in degrees of freedom: no more than this.
MODERATED = 2.0


@dataclass(frozen=True)
class Strata:
    """Groups of inputs within which ratings were drawn."""

    codes: IntArray  # (inputs,), from 0 on
    n: int
    own_spread: bool = False  # a variance for each group, else one pooled within groups

    @classmethod
    def none(cls, n_inputs: int) -> Strata:
        return cls(np.zeros(n_inputs, dtype=np.int64), 1)

    @property
    def members(self) -> FloatArray:
        return np.asarray(np.eye(self.n)[self.codes])

    def counts(self, there: BoolArray) -> FloatArray:
        return np.asarray(there.astype(float) @ self.members)

    def means(self, values: FloatArray, there: BoolArray) -> FloatArray:
        sums = np.where(there, values, 0.0) @ self.members
        return divided(sums, self.counts(there), np.nan)

    def centred(self, values: FloatArray, there: BoolArray) -> FloatArray:
        """Values less the mean of their group; 0 where missing or only rounding is left."""
        size = np.abs(np.where(there, values, 0.0)).max(axis=-1, keepdims=True, initial=0.0)
        found = np.where(there, values - self.means(values, there)[..., self.codes], 0.0)
        return np.where(np.abs(found) <= TOLERANCE * size, 0.0, found)


def divided(top: npt.ArrayLike, bottom: npt.ArrayLike, otherwise: float) -> FloatArray:
    """A ratio, or `otherwise` where the denominator is not positive."""
    top, bottom = np.asarray(top, dtype=float), np.asarray(bottom, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(bottom > 0, top / bottom, otherwise)


@dataclass(frozen=True)
class Slope:
    """The slope b of human on metric scores that all systems share, (...,), its variance, and the kept share κ.

    Of centred f and z, ``b = Σfz/Σf²``. With e = z − b·f the variance is the larger of ``J/(J−2)·Σ_j(Σ_s
    f·e)²/(Σf²)²``, the J inputs being clusters, and ``Σe²/(df·Σf²)``. ``κ = max(0, 1 − variance/b²)``.
    """

    b: FloatArray
    variance: FloatArray
    kept: FloatArray

    @classmethod
    def of(cls, f: FloatArray, z: FloatArray, n_inputs: FloatArray, df: FloatArray) -> Slope:
        """From centred scores (..., systems, inputs), the number of inputs J and the residuals' degrees of freedom."""
        squares = (f**2).sum(axis=(-2, -1))
        b = divided((f * z).sum(axis=(-2, -1)), squares, 0.0)
        residuals = z - b[..., None, None] * f
        clustered = (((f * residuals).sum(axis=-2)) ** 2).sum(axis=-1)
        variance = divided(n_inputs * divided(clustered, squares**2, 0.0), n_inputs - 2, 0.0)
        least = divided((residuals**2).sum(axis=(-2, -1)), df * squares, 0.0)
        variance = np.maximum(variance, least)
        kept = np.maximum(0.0, divided(b**2 - variance, b**2, 0.0))
        enough = n_inputs >= LEAST
        return cls(b, variance, np.where(enough, kept, 0.0))

    @property
    def used(self) -> FloatArray:
        return self.kept * self.b


@dataclass(frozen=True)
class _Slopes:
    """The slope of each system, (..., systems), between its own and the shared one."""

    # β_s = w_s·b_s + (1 − w_s)·κ·b, b_s = Σ_j fz/Σ_j f², w_s from `_weights`; variance w_s·var(b_s) + (1 −
    # w_s)·κ·var(b), var(b_s) = s²_s/Σ_j f². An own slope costs one degree of freedom, the shared one min(1, var(b)·Σ_j
    # f²/s²).

    beta: FloatArray
    variance: FloatArray
    residual_df: FloatArray  # what variances lose
    quantile_df: FloatArray  # what quantiles lose


def _slopes(f: FloatArray, z: FloatArray, rated: BoolArray, n_strata: int) -> _Slopes:
    n = rated.sum(axis=-1).astype(float)
    df = np.maximum(n - n_strata, 0.0)
    shared = Slope.of(f, z, rated.any(axis=-2).sum(axis=-1).astype(float), df.sum(axis=-1) - 1)
    b, kept = shared.b[..., None], shared.kept[..., None]
    squares = (f**2).sum(axis=-1)
    usable = (n >= LEAST - 1 + n_strata) & (rated.any(axis=-2).sum(axis=-1) >= LEAST)[..., None]
    own = divided((f * z).sum(axis=-1), squares, 0.0)
    own_variance = divided(((z - own[..., None] * f) ** 2).sum(axis=-1), df - 1, 0.0)
    w = _weights(own, own_variance, squares, usable & (squares > 0))
    pooled_residual = divided(((z - b[..., None] * f) ** 2).sum(axis=-1), df, 0.0)
    d = np.minimum(1.0, divided(shared.variance[..., None] * squares, pooled_residual, 0.0))
    beta = w * own + (1 - w) * kept * b
    variance = w * divided(own_variance, squares, 0.0) + (1 - w) * kept * shared.variance[..., None]
    residual_df = np.minimum(1.0, w + (1 - w) * kept * d)
    quantile_df = np.minimum(1.0, w + (1 - w) * d * (kept > 0))
    return _Slopes(*(np.where(usable, each, 0.0) for each in (beta, variance, residual_df, quantile_df)))


def _weights(own: FloatArray, own_variance: FloatArray, squares: FloatArray, usable: BoolArray) -> FloatArray:
    """Weight of each system's own slope, by how far slopes differ beyond chance (DerSimonian and Laird)."""
    # w_s = τ²/(τ² + v_s), v_s the slope's variance from the mean residual variance of all systems; τ² = max(0, (Q − (k
    # − 1))/(Σ1/v − Σ1/v²/Σ1/v)), Q the k slopes' squares about their mean, weighted by 1/v.
    k = usable.sum(axis=-1, keepdims=True)
    mean = divided(np.where(usable, own_variance, 0.0).sum(axis=-1, keepdims=True), k, 0.0)
    v = divided(mean, squares, 0.0)
    typical = divided(np.where(usable, own**2, 0.0).sum(axis=-1, keepdims=True), k, 0.0)
    v = np.maximum(v, TOLERANCE**2 * typical)
    inverse = np.where(usable, divided(1.0, v, 0.0), 0.0)
    total = inverse.sum(axis=-1, keepdims=True)
    middle = divided((inverse * own).sum(axis=-1, keepdims=True), total, 0.0)
    spread = (inverse * (own - middle) ** 2).sum(axis=-1, keepdims=True)
    size = total - divided((inverse**2).sum(axis=-1, keepdims=True), total, 0.0)
    between = np.where(k > 1, np.maximum(0.0, divided(spread - (k - 1), size, 0.0)), 0.0)
    return np.where(usable, divided(between, between + v, 0.0), 0.0)


def quantile(df: FloatArray, level: float) -> FloatArray:
    """The quantile of t for limits of a level; NaN without a degree of freedom."""
    from scipy.special import stdtrit

    df = np.asarray(df, dtype=float)
    return np.asarray(np.where(df > 0, stdtrit(np.where(df > 0, df, 1.0), 0.5 + level / 2), np.nan))


def system_means(
    f: FloatArray,
    z: FloatArray,
    strata: Strata,
    target: str,
    level: float,
    scale: tuple[float, float] | None = None,
) -> dict[str, FloatArray]:
    """Means, limits and their ingredients by name, each (..., systems)."""
    scored = ~np.isnan(f)
    rated = scored & ~np.isnan(z)
    f0, z0 = strata.centred(f, rated), strata.centred(z, rated)
    slopes = _slopes(f0, z0, rated, strata.n)
    n_h, m_h = strata.counts(rated), strata.counts(scored)
    n, m = n_h.sum(axis=-1), m_h.sum(axis=-1)
    share = divided(m_h, m[..., None], np.nan)
    gap = over_strata(share, strata.means(f, scored) - strata.means(f, rated))
    df = n - strata.n
    spread_e, df_e = _spread(z0 - slopes.beta[..., None] * f0, rated, strata, slopes.residual_df)
    spread_z, df_z = _spread(z0, rated, strata, np.zeros_like(df))
    left = divided(1.0, n_h, np.nan) - divided(1.0, m_h, 0.0)
    each = np.where(share > 0, np.maximum(share**2 * left, 0.0), share)
    further = share * divided(1.0, m, np.nan)[..., None] if target == "new" else np.zeros_like(share)
    means = strata.means(z, rated)
    between = between_strata(spread_z, means, share, n_h, m) if target == "new" else np.zeros_like(m)
    human = over_strata(share, means)
    v_human = over_strata(each + further, spread_z) + between
    v = over_strata(each, spread_e) + slopes.variance * gap**2 + over_strata(further, spread_z) + between
    human_df, mean_df = df, df - slopes.quantile_df
    if strata.own_spread:
        human_df = satterthwaite((each + further) * spread_z, df_z, df)
        parts = each * spread_e + further * spread_z
        mean_df = satterthwaite(parts, np.minimum(df_e, df_z), df) * divided(mean_df, df, 0.0)
    t, t_human = quantile(mean_df, level), quantile(human_df, level)
    numbers = with_limits(human + slopes.beta * gap, v, t, human, v_human, t_human, n)
    weight = slopes.beta * divided(m - n, m, np.nan)
    numbers |= {"df": mean_df, "n_rated": n, "n_inputs": m, "weight": weight}
    per_n = over_strata(each + further, np.ones_like(share))
    return score_limits.limited(numbers, z, rated, per_n, scale, level)


def _spread(rest: FloatArray, rated: BoolArray, strata: Strata, lost_df: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Variance of each system's residuals, pooled or by group, and its degrees of freedom, (..., systems, groups)."""
    n_h = strata.counts(rated)
    df = n_h.sum(axis=-1) - strata.n
    squares = (rest**2) @ strata.members
    pooled, _ = moderated(divided(squares.sum(axis=-1), df - lost_df, np.nan), df, df >= 1, MODERATED)
    pooled = np.broadcast_to(pooled[..., None], n_h.shape)
    if not strata.own_spread:
        return pooled, n_h - 1
    own = divided(squares, n_h - 1, np.nan) * divided(df, df - lost_df, np.nan)[..., None]
    across = np.swapaxes(own, -1, -2), np.swapaxes(n_h - 1, -1, -2)
    own, d0 = moderated(*across, np.asarray(across[1] >= 1), MODERATED)
    alone = n_h < 2
    spread, own_df = np.swapaxes(own, -1, -2), n_h - 1 + np.swapaxes(d0, -1, -2)
    return np.where(alone, pooled, spread), np.where(alone, np.maximum(df, 1.0)[..., None], own_df)


def satterthwaite(parts: FloatArray, dfs: FloatArray, most: FloatArray) -> FloatArray:
    """Degrees of freedom of a sum of groups' variances (..., groups), each of its own; at most `most`."""
    parts = np.where(np.isnan(parts), 0.0, parts)
    quartic = divided(parts**2, dfs, 0.0).sum(axis=-1)
    return np.minimum(divided(parts.sum(axis=-1) ** 2, quartic, np.inf), most)


def with_limits(
    mean: FloatArray,
    v: FloatArray,
    t: FloatArray,
    human: FloatArray,
    v_human: FloatArray,
    t_human: FloatArray,
    n: FloatArray,
) -> dict[str, FloatArray]:
    """Means with and without the metric, limits from variances and quantiles, and the effective number of ratings."""
    half, half_human = t * np.sqrt(v), t_human * np.sqrt(v_human)
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = np.where((v <= 0) & (v_human <= 0), n, n * v_human / v)
    return {
        **{"mean": mean, "ci_low": mean - half, "ci_high": mean + half, "standard_error": np.sqrt(v)},
        **{"human_mean": human, "human_ci_low": human - half_human, "human_ci_high": human + half_human},
        "n_effective": effective,
    }


def over_strata(share: FloatArray, values: FloatArray) -> FloatArray:
    none = np.isnan(share).any(axis=-1)
    return np.where(none, np.nan, np.where(share > 0, share * values, 0.0).sum(axis=-1))


def between_strata(s_z: FloatArray, means: FloatArray, share: FloatArray, n_h: FloatArray, m: FloatArray) -> FloatArray:
    """What differences between groups' means, beyond chance, add to the variance for new inputs."""
    middle = over_strata(share, means)[..., None]
    between = over_strata(share, (means - middle) ** 2)
    chance = over_strata(share * (1 - share) * divided(1.0, n_h, np.nan), s_z)
    return divided(np.maximum(0.0, between - chance), m, np.nan)


def rated_gap(f: FloatArray, z: FloatArray, strata: Strata) -> tuple[FloatArray, FloatArray]:
    """Mean metric score of rated less that of unrated inputs, and Student's p-value of no difference."""
    scored = ~np.isnan(f)
    rated = scored & ~np.isnan(z)
    other = scored & ~rated
    n, u = strata.counts(rated), strata.counts(other)
    weight = divided(n * u, n + u, 0.0)
    each = np.where(weight > 0, strata.means(f, rated) - strata.means(f, other), 0.0)
    total = weight.sum(axis=-1)
    difference = divided((weight * each).sum(axis=-1), total, np.nan)
    size = np.abs(np.where(scored, f, 0.0)).max(axis=-1, initial=0.0)
    difference = np.where(np.abs(difference) <= TOLERANCE * size, 0.0, difference)
    # The residuals of f on strata and on whether there is a rating.
    explained = np.where(rated, 1.0, 0.0)
    inner, one = strata.centred(f, scored), strata.centred(explained, scored)
    rest = inner - np.nan_to_num(difference)[..., None] * one
    df = (n + u).sum(axis=-1) - (n + u > 0).sum(axis=-1) - 1
    variance = divided(divided((rest**2).sum(axis=-1), df, np.nan), total, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = difference / np.sqrt(variance)
    p = np.where(df > 0, by_t(t, np.maximum(df, 1))[0], np.nan)
    return difference, np.where(difference == 0, 1.0, p)
