"""Mean human scores of systems with several metrics; slopes are fitted without each input in turn."""

from __future__ import annotations

import numpy as np

from xsumstat.coefficients import arrays
from xsumstat.core.types import BoolArray, FloatArray
from xsumstat.inference import score_limits
from xsumstat.inference.moderation import moderated
from xsumstat.inference.system_means import MODERATED, divided, quantile, with_limits

LEAST_SYSTEMS = 3


def ridge_means(
    x: FloatArray, z: FloatArray, target: str, level: float, scale: tuple[float, float] | None = None
) -> tuple[dict[str, FloatArray], FloatArray]:
    """The numbers of `system_means`, and the weights (metrics, systems)."""
    # A system's mean is that of z_j + (x̄ − x_j)'b(−j) over its n ratings j: x̄ its metrics' means over all m inputs,
    # b(−j) the slopes without input j. Its variance is (1/n − 1/m)·s² of these terms plus (J−1)/J·Σ_j[(b(−j) −
    # mean)'gap]² over the J rated inputs, gap = x̄ less the means over rated inputs; for new inputs plus s²_z/m. A
    # system with too few ratings has slopes of 0. `scale`: possible range of ratings, for limits of one or two values.
    scored: BoolArray = np.asarray(~np.isnan(x).any(axis=0))
    rated: BoolArray = np.asarray(scored & ~np.isnan(z))
    n, m = rated.sum(axis=-1).astype(float), scored.sum(axis=-1).astype(float)
    x, spread = _standardised(x, scored)
    places = np.flatnonzero(rated.any(axis=0))
    least = max(20, len(x) + 10)
    usable = n >= least
    whole, without = _slopes(x, z, rated, places)
    means, own = _means(x, scored), _means(x, rated)
    gap = np.where(n > 0, means - own, np.nan)  # (metrics, systems)
    human = divided(np.where(rated, z, 0.0).sum(axis=-1), n, np.nan)
    # One term for each rating: what it is, moved by the slopes that do not know of it.
    moved = np.einsum("jk,ksj->sj", without, np.nan_to_num(means)[..., None] - x[:, :, places])
    there = rated[:, places]
    terms = np.where(there, np.where(there, z[:, places], 0.0) + np.where(usable[:, None], moved, 0.0), 0.0)
    mean = divided(terms.sum(axis=-1), n, np.nan)
    df = n - 1
    s_e, _ = moderated(divided(_squares(terms, mean, there), df, np.nan), df, df >= 1, MODERATED)
    zs = np.where(there, z[:, places], 0.0)
    s_z, _ = moderated(divided(_squares(zs, human, there), df, np.nan), df, df >= 1, MODERATED)
    along = np.where(usable, _of_slopes(without, np.nan_to_num(gap)), 0.0)
    left = np.maximum(divided(1.0, n, np.nan) - divided(1.0, m, 0.0), 0.0)
    beyond = divided(s_z, m, np.nan) if target == "new" else np.zeros_like(s_z)
    v, v_human = left * s_e + along + beyond, left * s_z + beyond
    t = quantile(df, level)
    numbers = with_limits(mean, v, t, human, v_human, t, n) | {"df": df, "n_rated": n, "n_inputs": m}
    per_n = left + (divided(1.0, m, np.nan) if target == "new" else 0.0)
    numbers = score_limits.limited(numbers, z, rated, per_n, scale, level)
    share = divided(m - n, m, np.nan)
    slopes = np.where(usable, divided(1.0, spread, 0.0)[:, None] * whole[:, None] * share, 0.0)
    return numbers, slopes


def _of_slopes(without: FloatArray, gap: FloatArray) -> FloatArray:
    """Part of each system's variance by the error of the slopes: jackknife over rated inputs."""
    size = len(without)
    rest = without - divided(without.sum(axis=0), size, 0.0)
    return np.asarray(((rest @ gap) ** 2).sum(axis=0) * (size - 1) / max(size, 1))


def _squares(values: FloatArray, mean: FloatArray, there: BoolArray) -> FloatArray:
    return np.asarray((np.where(there, values - np.nan_to_num(mean)[:, None], 0.0) ** 2).sum(axis=-1))


def _means(x: FloatArray, there: BoolArray) -> FloatArray:
    return divided(np.where(there, x, 0.0).sum(axis=-1), there.sum(axis=-1), np.nan)


def _standardised(x: FloatArray, scored: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Scores over their spread within systems, 0 where missing or constant, and that spread."""
    # Each metric by itself is brought to where its squares are in range.
    powers = np.array([arrays.exponent(np.where(scored, each, np.nan)) for each in x])
    x = np.ldexp(x, -powers[:, None, None])
    rest = np.where(scored, x - np.nan_to_num(_means(x, scored))[..., None], 0.0)
    spread = np.sqrt(divided((rest**2).sum(axis=(1, 2)), np.maximum(scored.sum(axis=-1) - 1, 0).sum(), 0.0))
    size = np.abs(np.where(scored, x, 0.0)).max(axis=(1, 2), initial=0.0)
    spread = np.where(spread > 1e-12 * size, spread, 0.0)
    return divided(rest, spread[:, None, None], 0.0), np.ldexp(spread, powers)


def _slopes(x: FloatArray, z: FloatArray, rated: BoolArray, places: np.ndarray) -> tuple[FloatArray, FloatArray]:
    """Slopes (metrics,) of all ratings, and (inputs, metrics) without each input; shared by all systems."""
    everything = np.concatenate([np.where(rated, x, 0.0), np.where(rated, z, 0.0)[None]])
    counts = rated.sum(axis=-1).astype(float)
    totals = everything.sum(axis=-1)
    products = np.einsum("asj,bsj->sab", everything, everything)

    def fitted(n: FloatArray, sums: FloatArray, outer: FloatArray) -> FloatArray:
        inner = (outer - divided(np.einsum("as,bs->sab", sums, sums), n[:, None, None], 0.0)).sum(axis=0)
        return _ridge(inner[:-1, :-1], inner[:-1, -1], inner[-1, -1], float(np.maximum(n - 1, 0).sum()))

    whole = fitted(counts, totals, products)
    without = np.empty((len(places), len(x)))
    for at, j in enumerate(places):
        here = everything[:, :, j]
        without[at] = fitted(counts - rated[:, j], totals - here, products - np.einsum("as,bs->sab", here, here))
    return whole, without


def _ridge(inner: FloatArray, cross: FloatArray, square: float, df: float) -> FloatArray:
    """Ridge regression with the penalty k·s²/|b|² of Hoerl, Kennard and Baldwin."""
    k = len(cross)
    least = np.linalg.pinv(inner, hermitian=True) @ cross
    size = float(least @ least)
    if size == 0.0 or df <= k:
        return np.zeros(k)
    residual = max(0.0, square - float(least @ cross)) / (df - k)
    return np.asarray(np.linalg.pinv(inner + k * residual / size * np.eye(k), hermitian=True) @ cross)
