"""Chance baselines: the value of a constant metric, the expected one of a random metric, and members, by group."""

from __future__ import annotations

import functools

import numpy as np

from xsumstat.coefficients import arrays, ties
from xsumstat.coefficients.record import Measure
from xsumstat.coefficients.soft_accuracy import SoftAccuracy
from xsumstat.coefficients.ties import Members
from xsumstat.core.types import FloatArray
from xsumstat.kernels.ties import NO_GAIN

# With more inputs than this the chances of a random metric are as good as continuous.
_MOST_INPUTS = 50
# With more pairs than this a random metric that is calibrated has what a threshold at one of its ends gives.
_MOST_PAIRS = 5_000
_DRAWN = 500

Levels = tuple[FloatArray, FloatArray]


def of_order(x: FloatArray, z: FloatArray, measure: Measure) -> Levels:
    """Pairwise accuracy: a constant metric orders no pair, a random one half of those that the gold orders."""
    tied, n = _tied_in_gold(x, z, measure)
    return np.stack([0.0 * tied, (1.0 - tied) / 2]), n


def of_order_and_ties(x: FloatArray, z: FloatArray, measure: Measure) -> Levels:
    """Accuracy with ties: a constant metric is right where the gold is tied, a random one as in `of_order`."""
    # A calibrated threshold is calibrated for the random metric too. With up to `_MOST_PAIRS` pairs the value is the
    # mean of `_DRAWN` random metrics. Above that it is the limit: a threshold that ties a share t of the pairs is right
    # in t·T + (1 − t)(1 − T)/2 on average, largest at t = 0 or 1.
    tied, n = _tied_in_gold(x, z, measure)
    found = np.stack([tied, (1.0 - tied) / 2])
    if measure.coefficient.calibrated and (n * (n - 1)).sum() / 2 <= _MOST_PAIRS:
        found[1] = _of_calibrated(np.isnan(x).tobytes(), np.ascontiguousarray(z).tobytes(), x.shape, measure)
    elif measure.coefficient.calibrated:
        constant, random = (arrays.average(each, n, measure.undefined_as_zero) for each in found)
        if constant > random:
            found[1] = tied
    return found, n


@functools.lru_cache(maxsize=32)
def _of_calibrated(missing: bytes, gold: bytes, shape: tuple[int, int], measure: Measure) -> FloatArray:
    """Mean accuracy in each group of random metrics, each calibrated, with a metric's missing scores."""
    there = ~np.frombuffer(missing, dtype=bool).reshape(shape)
    z = arrays.scaled(np.frombuffer(gold).reshape(shape))
    # No draws for systems and inputs that the metric and the gold do not share, which lazy scores still hold.
    rated = ~np.isnan(z).all(axis=1, keepdims=True) if measure.own_cells else ~np.isnan(z)
    systems, inputs = ((there & rated).any(axis=axis) for axis in (1, 0))
    drawn = np.full((_DRAWN, *shape), np.nan)
    size = _DRAWN, int(systems.sum()), int(inputs.sum())
    drawn[np.ix_(np.ones(_DRAWN, dtype=bool), systems, inputs)] = np.random.default_rng(0).normal(size=size)
    drawn[:, ~there] = np.nan
    members = Members.of(drawn[0], z, measure.level, measure.own_cells)
    first, second = np.triu_indices(len(members.x), 1)
    group, at = np.nonzero((members.present[first] & members.present[second]).T)
    first, second = first[at], second[at]
    x = _as_members(drawn, z, measure)
    gap = x[:, first, group] - x[:, second, group]
    side = np.sign(members.z[first, group] - members.z[second, group])
    gain = np.where(side == 0, 1, -(np.sign(gap) == side).astype(int))
    tied = np.abs(gap) <= _best_thresholds(np.abs(gap), gain / ties.divisors(members, measure.undefined_as_zero)[group])
    right = np.where(tied, side == 0, gain < 0)
    low, high = measure.coefficient.bounds
    counted = [np.bincount(group, weights=each, minlength=x.shape[2]) for each in right]
    pairs = members.pairs
    accuracy = np.where(pairs > 0, np.array(counted) / np.maximum(pairs, 1.0), np.nan)
    mean: FloatArray = np.mean(low + (high - low) * accuracy, axis=0)
    return (mean - low) / (high - low)


def _as_members(drawn: FloatArray, z: FloatArray, measure: Measure) -> FloatArray:
    if measure.level == "system":
        cells, _ = arrays.counted(drawn[0], z, measure.own_cells)
        with np.errstate(invalid="ignore"):
            means: FloatArray = np.where(cells, drawn, 0.0).sum(axis=2) / cells.sum(axis=1)
        return means[..., None]
    if measure.level == "global":
        return drawn.reshape(len(drawn), -1, 1)
    return drawn.transpose(0, 2, 1) if measure.level == "within_system" else drawn


def _best_thresholds(gaps: FloatArray, gains: FloatArray) -> FloatArray:
    """First place where each draw (draws, pairs) gains most by ties up to there, (draws, 1); −1 where none gains."""
    if not gaps.shape[1]:
        return np.full((len(gaps), 1), -1.0)
    order = np.argsort(gaps, axis=1)
    total = np.cumsum(np.take_along_axis(gains, order, axis=1), axis=1)
    most = total.max(axis=1, keepdims=True)
    first = np.argmax(total > most - NO_GAIN, axis=1)[:, None]
    best = np.take_along_axis(gaps, np.take_along_axis(order, first, axis=1), axis=1)
    return np.where(most > NO_GAIN, best, -1.0)


def of_order_and_ties_as_tau(x: FloatArray, z: FloatArray, measure: Measure) -> Levels:
    found, n = of_order_and_ties(x, z, measure)
    return 2.0 * found - 1.0, n


def like_wmt(x: FloatArray, z: FloatArray, measure: Measure) -> Levels:
    n = Members.of(x, z, measure.level, measure.own_cells).present.sum(axis=0).astype(float)
    return np.stack([np.full(len(n), -1.0), np.zeros(len(n))]), n


def counted(x: FloatArray, z: FloatArray, measure: Measure) -> tuple[FloatArray, FloatArray]:
    """Number of pairs of each group that WMT's tau counts, and of all its pairs."""
    members = Members.of(x, z, measure.level, measure.own_cells)
    found = [ties.n_set_apart(members, measure.coefficient.threshold, *part) for part in members.parts()]
    return np.concatenate(found), members.pairs


def soft(x: FloatArray, z: FloatArray, measure: Measure) -> Levels:
    """Soft pairwise accuracy."""
    # A constant metric has p = 1 for each ordered pair of systems; a random one each of 1/L, 2/L, ..., 1 equally often,
    # with L = 2^m for m common inputs. With k the whole part of Lp_z, the mean of |p − p_z| is (k(2Lp_z − k − 1) + L(L
    # + 1)/2 − Lp_z·L)/L².
    ready = SoftAccuracy.of(x, z, measure.own_cells)
    p_z = ready.z.drawn(arrays.ones(ready.n_inputs))[:, 0]
    seen = arrays.counted(x, z, measure.own_cells)[0] & ready.there[:, None]
    first, second = np.triu_indices(len(seen), 1)
    shared = (seen.astype(float) @ seen.T)[first, second]
    p_z = np.where(shared > 0, p_z, np.nan)
    there = ~np.isnan(p_z)
    if not there.any():
        return np.full((2, 1), np.nan), np.array([float(ready.there.sum())])
    size = 2.0 ** np.minimum(shared, _MOST_INPUTS)
    at = size * p_z
    below = np.floor(at + 1e-9)
    lost = (below * (2 * at - below - 1) + size * (size + 1) / 2 - at * size) / size**2
    found = [[1.0 - np.mean(1.0 - p_z[there])], [1.0 - np.mean(lost[there])]]
    return np.array(found), np.array([float(ready.there.sum())])


def _tied_in_gold(x: FloatArray, z: FloatArray, measure: Measure) -> Levels:
    """Share of each group's pairs tied in the gold (NaN without pairs), and its number of members."""
    members = Members.of(arrays.scaled(x), arrays.scaled(z), measure.level, measure.own_cells)
    ordered = np.sort(np.where(members.present, members.z, np.nan), axis=0)  # missing ones last
    places = np.arange(len(ordered))[:, None]
    new = np.ones(ordered.shape, dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    first = np.maximum.accumulate(np.where(new, places, 0), axis=0)
    pairs = members.pairs
    tied = np.where(pairs > 0, (places - first).sum(axis=0) / np.maximum(pairs, 1.0), np.nan)
    return tied, members.present.sum(axis=0).astype(float)
