"""Differences of two systems' mean human scores where inputs were drawn from strata; plain arrays."""

from __future__ import annotations

import itertools

import numpy as np

from xsumstat.core.types import BoolArray, FloatArray, IntArray
from xsumstat.inference import score_limits
from xsumstat.inference.system_differences import by_name, least_variance, shared_slope
from xsumstat.inference.system_means import Slope, Strata, between_strata, divided, over_strata, satterthwaite

# How much the mean variance of all pairs of systems counts beside each one's own, in degrees of freedom; from how many
# pairs on there is one.
_MODERATED, _MODERATED_PAIRS = 1.0, 3


def stratified_differences(
    f: FloatArray, z: FloatArray, pairs: IntArray, strata: Strata, target: str, level: float
) -> dict[str, FloatArray]:
    """Differences of the first and second system of each pair, (..., pairs), by the names of `NAMES`."""
    # W_h: strata's shares of the m inputs that both systems have metric scores on; z_d, f_d: the systems' differences
    # on an input; D_h: mean of f_d on all inputs of a stratum less that on the rated ones. The difference is Σ
    # W_h·(mean_h z_d + κb·D_h), its variance Σ W_h²·(1/n_h − 1/m_h)·s²_h + κ·V_b·D², for new inputs plus that of z_d
    # over m.
    every = np.array(list(itertools.combinations(range(f.shape[-2]), 2)), dtype=np.int64).reshape(-1, 2)
    slope = shared_slope(f, z, strata)
    typical = [
        np.nanmean(each, axis=-2) if _enough(each) else None for each in _spreads(f, z, every, strata, slope)[:2]
    ]
    fd, zd, both = _differences(f, z, pairs)
    scored: BoolArray = np.asarray(~np.isnan(fd))
    n_h, m_h = strata.counts(both), strata.counts(scored)
    n, m = n_h.sum(axis=-1), m_h.sum(axis=-1)
    share = divided(m_h, m[..., None], np.nan)
    spread_e, spread_z, lost = _spreads(f, z, pairs, strata, slope)
    dfs = n_h - 1.0
    spread_e, spread_z = (_drawn_to(each, dfs, mean) for each, mean in zip((spread_e, spread_z), typical, strict=True))
    dfs = dfs + (0.0 if typical[0] is None else _MODERATED)
    human = over_strata(share, strata.means(zd, both))
    width = score_limits.width(z, ~np.isnan(z))
    constant = (over_strata(np.ones_like(share), np.where(n_h > 0, spread_z, 0.0)) == 0)[..., None]
    least = least_variance(human, width[..., None], n)[..., None]
    spread_z, spread_e = np.where(constant, least, spread_z), np.where(constant, least, spread_e)
    gap = over_strata(share, strata.means(fd, scored) - strata.means(fd, both))
    left = divided(1.0, n_h, np.nan) - divided(1.0, m_h, 0.0)
    each = np.where(share > 0, np.maximum(share**2 * left, 0.0), share)
    further = share * divided(1.0, m, np.nan)[..., None] if target == "new" else np.zeros_like(share)
    kept = slope.kept[..., None]
    extra = kept * slope.variance[..., None] * gap**2
    if target == "new":
        extra = extra + between_strata(spread_z, strata.means(zd, both), share, n_h, m)
    variance = over_strata(each, spread_e) + over_strata(further, spread_z) + extra
    value = human + slope.used[..., None] * gap
    most = n - strata.n
    df = satterthwaite(each * spread_e + further * spread_z, dfs, most) if strata.own_spread else most
    df = df * divided(most - lost * (kept > 0), most, 0.0)
    unknown = (width == 0)[..., None] & ((target == "new") | (n < m))
    return by_name(value, variance, df, n, level, unknown)


def _differences(f: FloatArray, z: FloatArray, pairs: IntArray) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Differences of scores and of ratings, (..., pairs, inputs), and where both are."""
    with np.errstate(invalid="ignore"):
        fd = f[..., pairs[:, 0], :] - f[..., pairs[:, 1], :]
        zd = z[..., pairs[:, 0], :] - z[..., pairs[:, 1], :]
    return fd, zd, np.asarray(~(np.isnan(fd) | np.isnan(zd)))


def _spreads(
    f: FloatArray, z: FloatArray, pairs: IntArray, strata: Strata, slope: Slope
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Variances of what the metric leaves and of ratings' differences, (..., pairs, groups), and the slope's df."""
    fd, zd, both = _differences(f, z, pairs)
    f0, z0 = strata.centred(fd, both), strata.centred(zd, both)
    n_h = strata.counts(both)
    df = n_h.sum(axis=-1) - strata.n
    b, used = slope.b[..., None, None], slope.used[..., None, None]
    left = divided(((z0 - b * f0) ** 2).sum(axis=-1), df, 0.0)
    lost = np.minimum(1.0, divided(slope.variance[..., None] * (f0**2).sum(axis=-1), left, 0.0))
    found = []
    for rest, taken in ((z0 - used * f0, slope.kept[..., None] * lost), (z0, np.zeros_like(lost))):
        squares = (rest**2) @ strata.members
        pooled = np.broadcast_to(divided(squares.sum(axis=-1), df - taken, np.nan)[..., None], n_h.shape)
        own = divided(squares, n_h - 1, np.nan) * divided(df, df - taken, np.nan)[..., None]
        found.append(np.where((n_h >= 2) & strata.own_spread, own, pooled))
    return found[0], found[1], lost


def _enough(spread: FloatArray) -> bool:
    """Whether there are so many pairs that their mean variance says something of each."""
    return spread.shape[-2] >= _MODERATED_PAIRS and not np.isnan(spread).any()


def _drawn_to(spread: FloatArray, dfs: FloatArray, mean: FloatArray | None) -> FloatArray:
    """Variances of pairs, drawn to the mean of all pairs."""
    if mean is None:
        return spread
    weight = np.maximum(dfs, 0.0)
    return (weight * spread + _MODERATED * mean[..., None, :]) / (weight + _MODERATED)
