"""Differences of two systems' mean human scores from few ratings and many scores of a metric."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from xsumstat.core.types import TOLERANCE, BoolArray, FloatArray, IntArray
from xsumstat.inference import score_limits
from xsumstat.inference.system_means import Slope, Strata, divided, quantile

# Inputs that both systems have ratings of, from which on these are compared in pairs.
_LEAST_PAIRS = 4
# How much the mean variance of all pairs of systems counts beside each one's own, in degrees of freedom: half as much
# as for means, as pairs share systems.
_MODERATED, _MODERATED_PAIRS = 1.0, 3
NAMES = ("difference", "standard_error", "df", "statistic", "ci_low", "ci_high", "n_inputs")


@dataclass(frozen=True)
class Part:
    """One estimate of a difference; `drawn_df` belongs to the variance shrunk to the mean of all pairs."""

    value: FloatArray
    variance: FloatArray
    df: FloatArray
    drawn_df: FloatArray
    there: BoolArray


@dataclass(frozen=True)
class _Typical:
    """Mean variances over all pairs of systems: `residual` given the metric, and `human`; NaN below 3 pairs."""

    residual: FloatArray
    human: FloatArray

    @classmethod
    def of(cls, f: FloatArray, z: FloatArray, rated: BoolArray, slope: Slope) -> _Typical:
        sums, count = [np.zeros(slope.b.shape), np.zeros(slope.b.shape)], np.zeros(slope.b.shape)
        for first, second in itertools.combinations(range(f.shape[-2]), 2):
            both: BoolArray = np.asarray(rated[..., first, :] & rated[..., second, :])
            with np.errstate(invalid="ignore"):
                fd, zd = f[..., first, :] - f[..., second, :], z[..., first, :] - z[..., second, :]
            n = both.sum(axis=-1).astype(float)
            enough = n >= _LEAST_PAIRS
            found = _residual_variance(fd, zd, both, slope, n)[0], _variance(zd, both)
            sums = [total + np.where(enough, each, 0.0) for total, each in zip(sums, found, strict=True)]
            count += enough
        count = np.where(count >= _MODERATED_PAIRS, count, 0.0)
        return cls(divided(sums[0], count, np.nan), divided(sums[1], count, np.nan))


def _moderated(variance: FloatArray, df: FloatArray, typical: FloatArray) -> FloatArray:
    """A pair's variance, shrunk to that of all pairs."""
    return np.where(np.isnan(typical), variance, (df * variance + _MODERATED * typical) / (df + _MODERATED))


def shared_slope(f: FloatArray, z: FloatArray, strata: Strata) -> Slope:
    """The slope of human on metric scores (..., systems, inputs) that all pairs share, within strata.

    Scores are less the means of their strata, and of their inputs where all systems are rated on the same ones.
    """
    rated: BoolArray = np.asarray(~(np.isnan(f) | np.isnan(z)))
    n_inputs = rated.any(axis=-2).sum(axis=-1).astype(float)
    known = rated.any(axis=-1, keepdims=True)
    k = known.sum(axis=-2, keepdims=True)
    same = ((rated == rated.any(axis=-2, keepdims=True)) | ~known).all(axis=(-2, -1)) & (k > 1)[..., 0, 0]

    def centred(values: FloatArray) -> FloatArray:
        once = strata.centred(values, rated)
        twice = np.where(known, once - once.sum(axis=-2, keepdims=True) / np.maximum(k, 1), 0.0)
        near = TOLERANCE * np.abs(once).max(axis=(-2, -1), keepdims=True, initial=0.0)
        return np.where(same[..., None, None], np.where(np.abs(twice) <= near, 0.0, twice), once)

    df = np.maximum(rated.sum(axis=-1) - strata.n, 0).sum(axis=-1) - 1.0
    df_of_same = (k[..., 0, 0] - 1) * np.maximum(n_inputs - strata.n, 0) - 1
    return Slope.of(centred(f), centred(z), n_inputs, np.where(same, df_of_same, df))


def by_name(
    value: FloatArray, variance: FloatArray, df: FloatArray, n: FloatArray, level: float, unknown: FloatArray
) -> dict[str, FloatArray]:
    """The numbers of `NAMES`; no limits where the spread of the ratings is `unknown`, as all are one value."""
    error = np.sqrt(variance)
    half = np.where(unknown & (error == 0), np.nan, quantile(df, level) * error)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where((value == 0) & (error == 0), 0.0, value / error)
    numbers = (value, error, df, np.where(df > 0, statistic, np.nan), value - half, value + half, n)
    return dict(zip(NAMES, numbers, strict=True))


def system_differences(
    f: FloatArray, z: FloatArray, pairs: IntArray, target: str, level: float
) -> dict[str, FloatArray]:
    """Differences of the first and second system of each pair, (..., pairs), by the names of `NAMES`."""
    slope = shared_slope(f, z, Strata.none(f.shape[-1]))
    scored = ~np.isnan(f)
    rated = scored & ~np.isnan(z)
    typical = _Typical.of(f, z, rated, slope)
    width = score_limits.width(z, rated)
    rows = [
        _pair(f[..., pair, :], z[..., pair, :], rated[..., pair, :], slope, typical, target, width) for pair in pairs
    ]
    value, variance, df, n = (np.stack([row[at] for row in rows], axis=-1) for at in range(4))
    # All ratings being one value, nothing says how far others lie, if there are others.
    unknown = (width == 0) & ((target == "new") | (rated != scored).any(axis=(-2, -1)))
    return by_name(value, variance, df, n, level, unknown[..., None])


def _pair(
    f: FloatArray,
    z: FloatArray,
    rated: BoolArray,
    slope: Slope,
    typical: _Typical,
    target: str,
    width: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    both: BoolArray = np.asarray(rated.all(axis=-2))
    n = both.sum(axis=-1).astype(float)
    scored: BoolArray = np.asarray(~np.isnan(f).any(axis=-2))
    m = scored.sum(axis=-1).astype(float)
    with np.errstate(invalid="ignore"):
        fd, zd = f[..., 0, :] - f[..., 1, :], z[..., 0, :] - z[..., 1, :]
    paired, of_pairs = _paired(fd, zd, both, scored, slope, typical, width)
    alone = np.where((n >= _LEAST_PAIRS)[..., None, None], rated & ~both[..., None, :], rated)
    rest = _remainder(f, z, rated, alone, slope, width)
    w = _share(paired, rest)
    value = w * np.where(paired.there, paired.value, 0.0) + (1 - w) * np.where(rest.there, rest.value, 0.0)
    # What two estimates of the same difference have in common where other inputs are the target.
    of_metric = slope.used**2 * _variance(fd, scored) / m
    extra = np.where(w > 0, w**2 * of_pairs / m + (1 - w**2) * of_metric, of_metric) if target == "new" else 0.0
    parts = [w**2 * np.where(paired.there, paired.variance, 0.0), (1 - w) ** 2 * np.where(rest.there, rest.variance, 0)]
    # Weights by estimated variances look better than they are (Meier 1953).
    doubt = 1 + 4 * w * (1 - w) * (divided(1.0, paired.drawn_df, 0.0) + divided(1.0, rest.drawn_df, 0.0))
    variance = (parts[0] + parts[1]) * doubt + extra
    df = _joined_df(parts, [paired.df, rest.df])
    none = ~(paired.there | rest.there)
    return (*(np.where(none, np.nan, each) for each in (value, variance, df)), n)


def _mean(values: FloatArray, there: BoolArray) -> FloatArray:
    return divided(np.where(there, values, 0.0).sum(axis=-1), there.sum(axis=-1), np.nan)


def _variance(values: FloatArray, there: BoolArray, df: FloatArray | None = None) -> FloatArray:
    rest = Strata.none(values.shape[-1]).centred(values[..., None, :], there[..., None, :])[..., 0, :]
    return divided((rest**2).sum(axis=-1), there.sum(axis=-1) - 1 if df is None else df, np.nan)


def _residual_variance(
    fd: FloatArray, zd: FloatArray, both: BoolArray, slope: Slope, n: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Residual variance of the ratings' differences given the metric, and the df that the slope takes."""
    b, used = slope.b[..., None], slope.used[..., None]
    left = _variance(zd - b * fd, both)
    d = np.minimum(1.0, divided(slope.variance * _variance(fd, both, np.ones(n.shape)), left, 0.0))
    return _variance(zd - used * fd, both, n - 1 - slope.kept * d), d


def _paired(
    fd: FloatArray,
    zd: FloatArray,
    both: BoolArray,
    scored: BoolArray,
    slope: Slope,
    typical: _Typical,
    width: FloatArray,
) -> tuple[Part, FloatArray]:
    """The difference over inputs where both have ratings, and its variance."""
    n, m = both.sum(axis=-1).astype(float), scored.sum(axis=-1).astype(float)
    gap = _mean(fd, scored) - _mean(fd, both)
    s_e, d = _residual_variance(fd, zd, both, slope, n)
    s_e, s_z = _moderated(s_e, n - 1, typical.residual), _moderated(_variance(zd, both), n - 1, typical.human)
    least = least_variance(_mean(zd, both), width, n)
    s_e, s_z = (np.where(_variance(zd, both) == 0, np.where(each == 0, least, each), each) for each in (s_e, s_z))
    variance = np.maximum(divided(1.0, n, np.nan) - divided(1.0, m, 0.0), 0.0) * s_e
    variance = variance + slope.kept * slope.variance * gap**2
    value = _mean(zd, both) + slope.used * gap
    df = n - 1 - d * (slope.kept > 0)
    drawn_df = df + np.where(np.isnan(typical.residual), 0.0, _MODERATED)
    return Part(value, variance, df, drawn_df, n >= _LEAST_PAIRS), s_z


def least_variance(mean: FloatArray, width: FloatArray, n: FloatArray) -> FloatArray:
    """Variance of n equal differences and two pseudo-inputs (Agresti and Min 2005)."""
    size = n + 2
    return np.asarray((n * mean**2 + width**2) / size - (n * mean / size) ** 2)


def _remainder(
    f: FloatArray, z: FloatArray, rated: BoolArray, alone: BoolArray, slope: Slope, width: FloatArray
) -> Part:
    used = slope.used[..., None, None]
    e = z - used * f
    everything, own = ~np.isnan(f), alone
    k = own.sum(axis=-1).astype(float)
    df = rated.sum(axis=-1) - 1.0
    spread, size = _variance(e, rated), rated.sum(axis=-1) + 2.0
    # Of equal ratings as if one more were at either end (Agresti and Coull 1998).
    least = width[..., None] ** 2 / size * (1 - 1 / size)
    each = divided(np.where(spread == 0, least, spread), k, np.nan)
    gaps = _mean(f, everything) - _mean(f, own)
    gap = gaps[..., 0] - gaps[..., 1]
    means = _mean(e, own) + used[..., 0] * _mean(f, everything)
    total = each.sum(axis=-1)
    quartic = divided(each**2, df, 0.0).sum(axis=-1)
    there = (k > 0).all(axis=-1) & (df > 0).all(axis=-1)
    variance = total + slope.kept * slope.variance * gap**2
    freedom = divided(total**2, quartic, np.nan)
    return Part(means[..., 0] - means[..., 1], variance, freedom, freedom, there)


def _share(paired: Part, rest: Part) -> FloatArray:
    one = np.where(paired.there, divided(1.0, paired.variance, np.inf), 0.0)
    other = np.where(rest.there, divided(1.0, rest.variance, np.inf), 0.0)
    with np.errstate(invalid="ignore"):
        share = np.where(np.isinf(one), 1.0, divided(one, one + other, 0.0))
    return np.asarray(share)


def _joined_df(parts: list[FloatArray], dfs: list[FloatArray]) -> FloatArray:
    """Satterthwaite's degrees of freedom of a sum of variances; where both are 0 those of the first present."""
    total = parts[0] + parts[1]
    quartic = sum((divided(part**2, df, 0.0) for part, df in zip(parts, dfs, strict=True)), np.zeros(total.shape))
    return np.where(quartic > 0, divided(total**2, quartic, np.nan), np.where(np.isnan(dfs[0]), dfs[1], dfs[0]))
