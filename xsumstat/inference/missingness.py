"""Whether missing scores depend on systems and on human scores, and what they leave open; each input is a unit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xsumstat.core.types import BoolArray, FloatArray
from xsumstat.inference import prompts
from xsumstat.inference.score_limits import wilson
from xsumstat.inference.system_means import divided

TESTS = ("system", "score within inputs", "score between inputs")
QUARTERS = ("lowest", "second", "third", "highest")
_TOLERANCE = 1e-12


@dataclass(frozen=True)
class Missing:
    """Which outputs (systems, inputs) lack a score, and their human scores (NaN without)."""

    lacks: BoolArray
    there: BoolArray
    gold: FloatArray

    @cached_property
    def rated(self) -> BoolArray:
        return (self.lacks | self.there) & ~np.isnan(self.gold)

    def by_system(self, confidence_level: float) -> FloatArray:
        """Share of missing scores with score limits, missing scores, outputs; (5, systems)."""
        missing = self.lacks.sum(axis=1).astype(float)
        n = missing + self.there.sum(axis=1).astype(float)
        share = divided(missing, n, np.nan)
        low, high = wilson(share, divided(np.ones(len(n)), n, np.nan), confidence_level)
        nothing = np.isnan(share)
        return np.array([share, np.where(nothing, np.nan, low), np.where(nothing, np.nan, high), missing, n])

    def by_quarter(self) -> FloatArray:
        """Share of missing scores among the outputs in each quarter of the human scores; equal ones stay together."""
        z = self.gold[self.rated]
        values, places, counts = np.unique(z, return_inverse=True, return_counts=True)
        middle = (np.cumsum(counts) - counts / 2) / max(1, len(z))
        quarter = np.minimum((4 * middle).astype(int), 3)[places.ravel()] if len(values) else places.ravel()
        n = np.bincount(quarter, minlength=4).astype(float)
        missing = np.bincount(quarter[self.lacks[self.rated]], minlength=4).astype(float)
        return divided(missing, n, np.nan)

    def difference(self, confidence_level: float) -> FloatArray:
        """Mean human score of outputs without a score less that of outputs with one, with jackknife limits; (3,)."""
        z = np.where(self.rated, self.gold - self._centre, 0.0)
        parts = [np.where(self.rated & each, of, 0.0).sum(axis=0)
                 for each in (self.lacks, self.there) for of in (z, 1.0)]  # fmt: skip
        sums = np.stack(parts, axis=1)
        counted = self.rated.sum(axis=0)
        one, two = (prompts.left_out(prompts.ratio(top, top + 1), sums, counted) for top in (0, 2))
        found = one.less(two)
        return np.array([found.value, *found.by_t(confidence_level)])

    @property
    def _centre(self) -> float:
        return float(self.gold[self.rated].mean()) if self.rated.any() else 0.0

    # --- Tests ---

    def pvalues(self, n_resamples: int, generator: np.random.Generator) -> FloatArray:
        """Permutation p-values of `TESTS`; NaN where nothing can change places."""
        some = (self.lacks | self.there).any(axis=1)  # other systems must not change the draws
        within = Shuffled(self.lacks[some], (self.lacks | self.there)[some])
        of_rated = Shuffled((self.lacks & self.rated)[some], self.rated[some])
        means = divided(np.where(self.rated, self.gold, 0.0).sum(axis=0), self.rated.sum(axis=0).astype(float), np.nan)
        return np.array(
            [
                within.of_systems(n_resamples, generator),
                of_rated.of_scores((self.gold - means)[some], n_resamples, generator),
                self._between(means, n_resamples, generator),
            ]
        )

    def _between(self, means: FloatArray, n_resamples: int, generator: np.random.Generator) -> float:
        """Inputs as a whole exchange their shares of missing scores."""
        share = divided(
            (self.lacks & self.rated).sum(axis=0).astype(float), self.rated.sum(axis=0).astype(float), np.nan
        )
        there = ~np.isnan(means)
        a, b = (each[there] - each[there].mean() if there.any() else each[there] for each in (share, means))
        if len(a) < 2 or not (np.ptp(a) > 0 and np.ptp(b) > 0):
            return math.nan
        observed, count = abs(float(a @ b)), 0
        limit = observed - _TOLERANCE * float(np.abs(a) @ np.abs(b))
        for rows in _blocks(n_resamples, len(a)):
            orders = generator.permuted(np.broadcast_to(a, (rows, len(a))), axis=1)
            count += int((np.abs(orders @ b) >= limit).sum())
        return (1 + count) / (1 + n_resamples)


@dataclass(frozen=True)
class Shuffled:
    """Marks of missing scores that change places among the outputs (systems, inputs) of each input."""

    marks: BoolArray
    among: BoolArray

    @cached_property
    def _informative(self) -> BoolArray:
        """Inputs with marked and unmarked outputs."""
        marked, n = self.marks.sum(axis=0), self.among.sum(axis=0)
        return np.asarray((marked > 0) & (marked < n))

    def _drawn(self, n_resamples: int, generator: np.random.Generator) -> Iterator[BoolArray]:
        """Marks in other places, (resamples, systems, inputs), in blocks."""
        among = self.among[:, self._informative]
        marked = self.marks[:, self._informative].sum(axis=0)
        for rows in _blocks(n_resamples, among.size):
            keys = generator.random((rows, *among.shape))
            keys[:, ~among] = 2.0
            least = np.take_along_axis(np.sort(keys, axis=1), (marked - 1)[None, None, :].repeat(rows, 0), axis=1)
            yield keys <= least

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean and covariance of the systems' numbers of marks, over all ways in which these change places."""
        at = self._informative
        among, marked = self.among[:, at].astype(float), self.marks[:, at].sum(axis=0)
        n = among.sum(axis=0)
        weight = marked * (n - marked) / (n - 1)
        variance = np.diag((among * (weight / n)).sum(axis=1)) - (among * (weight / n**2)) @ among.T
        return (among * (marked / n)).sum(axis=1), variance

    def of_systems(self, n_resamples: int, generator: np.random.Generator) -> float:
        """Cochran's Q, also where outputs are not there: ``D'V⁻D`` of each system's marks beyond expectation."""
        at = self._informative
        if not at.any():
            return math.nan
        expected, variance = self.moments()
        inverse = np.linalg.pinv(variance, hermitian=True)

        def q(marks: FloatArray) -> FloatArray:
            d = marks - expected
            return np.asarray(np.einsum("...i,ij,...j->...", d, inverse, d))

        limit, count = float(q(self.marks[:, at].sum(axis=1).astype(float))) * (1 - 1e-9), 0
        for each in self._drawn(n_resamples, generator):
            count += int((q(each.sum(axis=2).astype(float)) >= limit).sum())
        return (1 + count) / (1 + n_resamples)

    def of_scores(self, centred: FloatArray, n_resamples: int, generator: np.random.Generator) -> float:
        """The sum of the human scores of marked outputs, less their inputs' means."""
        at = self._informative
        values = np.where(self.among[:, at], centred[:, at], 0.0)
        size = float(np.abs(values).sum())
        if not at.any() or not size > _TOLERANCE * float(np.nanmax(np.abs(centred), initial=0.0)):
            return math.nan
        limit = abs(float(values[self.marks[:, at]].sum())) - _TOLERANCE * size
        count = 0
        for each in self._drawn(n_resamples, generator):
            count += int((np.abs(np.einsum("rsi,si->r", each, values)) >= limit).sum())
        return (1 + count) / (1 + n_resamples)


def _blocks(n_resamples: int, size: int) -> Iterator[int]:
    """Numbers of resamples that are held at once."""
    most = max(1, 2**21 // max(1, size))
    return (min(most, n_resamples - start) for start in range(0, n_resamples, most))


# --- Bounds (Manski 1989, 2003) ---


def bounds_of_means(score: FloatArray, lacks: BoolArray, low: float, high: float) -> FloatArray:
    """Each system's mean of the scores that are there, and its bounds with the others; (3, systems)."""
    n, missing = (~np.isnan(score)).sum(axis=1).astype(float), lacks.sum(axis=1)
    total = np.nansum(score, axis=1)
    ends = [
        divided(total + end * missing, n + missing, np.nan) if np.isfinite(end) else divided(total, n, np.nan)
        for end in (low, high)
    ]
    return np.array([divided(total, n, np.nan), *ends])


def undecided(bounds: FloatArray) -> tuple[int, int]:
    """How many pairs of systems missing scores could order either way, and how many there are; of (3, systems)."""
    low, high = (each[~np.isnan(each)] for each in bounds[1:])
    a, b = np.triu_indices(len(low), 1)
    return int(((low[a] < high[b]) & (low[b] < high[a])).sum()), len(a)


def accuracy(score: FloatArray, gold: FloatArray, lacks: BoolArray, level: str) -> FloatArray:
    """Pairwise accuracy of the scores that are there, and its bounds with the others, averaged over groups; (3,)."""
    if level == "within_system":
        score, gold, lacks = score.T, gold.T, lacks.T
    elif level == "global":
        score, gold, lacks = score.reshape(-1, 1), gold.reshape(-1, 1), lacks.reshape(-1, 1)
    used = ~np.isnan(gold) & (lacks | ~np.isnan(score))
    found = [_of_group(score[at, j], gold[at, j]) for j, at in enumerate(used.T) if at.sum() > 1]
    own, low, high = np.array(found).reshape(-1, 3).T
    own = own[~np.isnan(own)]
    return np.array([each.mean() if len(each) else math.nan for each in (own, low, high)])


def _of_group(x: FloatArray, z: FloatArray) -> tuple[float, float, float]:
    """The share of concordant pairs without missing x, and its least and largest value with them."""
    # Each missing x has the place among those that are there which makes most (or fewest) pairs concordant. These
    # places rise (fall) with z, so the pairs of two missing x are all concordant, where z differs (or none is).
    there = ~np.isnan(x)
    n, m = len(x), int(there.sum())
    pairs = n * (n - 1) / 2
    order = np.argsort(x[there], kind="stable")
    values, scores = x[there][order], z[there][order]
    concordant = _concordant(values, scores)
    low = high = float(concordant)
    starts = np.flatnonzero(np.diff(values, prepend=-np.inf) > 0) if m else np.zeros(0, dtype=int)
    for own in z[~there]:
        below, above = scores < own, scores > own
        # Of those before a place the ones below count, of those from it on the ones above.
        before = np.concatenate([[0], np.cumsum(below)])
        after = np.concatenate([[0], np.cumsum(above[::-1])])[::-1]
        ends = np.append(starts, m)
        between = before[ends] + after[ends]
        tied = before[starts] + after[ends[1:]]
        high += float(between.max())
        low += float(np.concatenate([between, tied]).min())
    counts = np.unique(z[~there], return_counts=True)[1].astype(float)
    k = n - m
    high += k * (k - 1) / 2 - float((counts * (counts - 1) / 2).sum())
    own_pairs = m * (m - 1) / 2
    return concordant / own_pairs if own_pairs else math.nan, low / pairs, high / pairs


def _concordant(x: FloatArray, z: FloatArray) -> int:
    """How many pairs both order the same way; x is sorted."""
    count = 0
    for at in range(len(x) - 1):
        count += int(((x[at + 1 :] > x[at]) & (z[at + 1 :] > z[at])).sum())
    return count
