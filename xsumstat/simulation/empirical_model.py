"""Scores like given ones, drawn from their own effects of systems, inputs and cells.

A new system, or input, is a given one, its effects transformed to the estimated covariances, times √.91, plus .3 times
a normal effect of the same covariance. Its cells are drawn from those of the given system without main effects, then
rounded to grades and masked like the given ones: normal effects would understate the spread.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from xsumstat.coefficients import arrays, table
from xsumstat.coefficients.record import Coefficient, Measure
from xsumstat.core.types import BoolArray, FloatArray, IntArray
from xsumstat.inference import components
from xsumstat.resampling import jackknife, threads
from xsumstat.simulation.model import generators, population_sizes

# The part of the standard deviation of systems and inputs that is normal: no two systems are the same then.
SMOOTHING = 0.3
# Scores with so few different values, each so often, are grades.
_MOST_GRADES, _EACH_GRADE = 100, 5
# Up to this number of limits between grades, comparing all values with each is faster than a binary search.
_COUNTED = 24
# Complete cells of a system from which its cells are drawn; where it has fewer, gaps are filled.
_LEAST_CELLS = 10
_ROUNDS, _CLOSE, _SMALL = 500, 1e-10, 1e-9
_COMPARED, _COMPARED_LEVELS = 20, ("system", "input")
# Scores that are drawn together: what is made of them on the way takes three times as much memory, and fits a cache.
_DRAWN_AT_ONCE = 2**19


@dataclass(frozen=True)
class EmpiricalModel:
    """What scores like given ones are drawn from; the last score is the gold.

    `effects` of systems and of inputs are (labels, scores); `rest` are roots of the covariances of their normal parts.
    `cells` (systems, cells, scores) have `counts` (systems,); `gaps` is (scores, systems, inputs); `grades` are the
    values of each score, where few.
    """

    mean: FloatArray
    effects: tuple[FloatArray, FloatArray]
    rest: tuple[FloatArray, FloatArray]
    cells: FloatArray
    counts: IntArray
    gaps: BoolArray
    grades: list[FloatArray | None]

    @classmethod
    def of(cls, scores: FloatArray, gold: FloatArray) -> EmpiricalModel:
        """From scores (metrics, systems, inputs) and gold (systems, inputs)."""
        values = np.concatenate([scores, gold[None]])
        raw, _ = components.estimates(values, tuple(components.EFFECTS.values()), errors=False)
        if np.isnan(raw).any():
            raise ValueError("some scores share too few outputs to separate the effects of systems, inputs and outputs")
        system, input, cell = components.repaired(raw)
        fits = [_additive(each) for each in values]
        mean, rows, columns, residuals = (np.array([fit[at] for fit in fits]) for at in range(4))
        of_systems, of_inputs = (_mapped(np.nan_to_num(each).T, target) for each, target in
                                 ((rows, system), (columns, input)))  # fmt: skip
        cells, counts = _pools(np.moveaxis(residuals, 0, -1), cell)
        grades = [_grades(each) for each in values]
        kept, rest = zip(of_systems, of_inputs, strict=True)
        return cls(mean, kept, rest, cells, counts, np.isnan(values), grades)

    @property
    def whole(self) -> bool:
        return not self.gaps.any() and all(each is None for each in self.grades)

    def draw(
        self, shape: tuple[int, int], generator: np.random.Generator, *, crossed: bool = True
    ) -> tuple[FloatArray, FloatArray]:
        """Scores (metrics, systems, inputs) and gold (systems, inputs), `crossed`, or each cell independently."""
        values = np.empty((len(self.mean), *shape))
        for rows, some in self._pieces(shape, generator, crossed):
            values[:, rows] = some
        return values[:-1], values[-1]

    def _pieces(
        self, shape: tuple[int, int], generator: np.random.Generator, crossed: bool
    ) -> Iterator[tuple[slice, FloatArray]]:
        """Scores (scores, systems, inputs), the gold last, for some systems at a time."""
        systems, inputs = shape
        sizes = ((systems, 1), (1, inputs)) if crossed else (shape, shape)
        places = [generator.integers(len(each), size=size) for each, size in zip(self.effects, sizes, strict=True)]
        of_systems, of_inputs = (
            effects[place] + generator.standard_normal((*place.shape, len(self.mean))) @ rest
            for place, effects, rest in zip(places, self.effects, self.rest, strict=True)
        )
        of_systems += self.mean
        gaps = bool(self.gaps.any())
        flat = self.cells.reshape(-1, len(self.mean))
        step = max(1, _DRAWN_AT_ONCE // (inputs * len(self.mean)))
        for start in range(0, systems, step):
            rows = slice(start, min(start + step, systems))
            who, on = places[0][rows], places[1] if crossed else places[1][rows]
            cell = (generator.random((len(who), inputs)) * self.counts[who]).astype(np.int64)
            out = of_systems[rows] + (of_inputs if crossed else of_inputs[rows])
            out += flat.take(cell + self.cells.shape[1] * who, axis=0)
            values = np.ascontiguousarray(np.moveaxis(out, -1, 0))
            for score, grades in zip(values, self.grades, strict=True):
                if grades is not None:
                    score[...] = _nearest(grades, score)
            if gaps:
                values[self.gaps[:, who, on]] = np.nan
            yield rows, values

    def population(
        self, level: str, records: Sequence[Coefficient], n_inputs: int, missing: str = "pairwise"
    ) -> tuple[FloatArray, FloatArray]:
        """True correlations with gold, (coefficients, metrics), and their Monte Carlo errors (coefficients,).

        Pearson's r without grades and gaps follows from the covariances, except within systems, where it depends on
        their own spreads; everything else is averaged over large populations (error 0 for formulas).
        """
        values, errors = np.empty((len(records), len(self.mean) - 1)), np.zeros(len(records))
        closed = [self.whole and level != "within_system" and each.name == "pearson" for each in records]
        for at in np.flatnonzero(closed):
            values[at] = self._pearson(level, n_inputs)
        left = [at for at, each in enumerate(closed) if not each]
        if left:
            values[left], errors[left] = self._averaged(level, [records[at] for at in left], n_inputs, missing)
        return values, errors

    def covariances(self) -> FloatArray:
        of_labels = [
            each.T @ each / len(each) + rest @ rest for each, rest in zip(self.effects, self.rest, strict=True)
        ]
        weights = [each[:n] for each, n in zip(self.cells, self.counts, strict=True)]
        of_cells = np.mean([each.T @ each / len(each) for each in weights], axis=0)
        return np.array([*of_labels, of_cells])

    def compared(self, scores: FloatArray, gold: FloatArray) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
        """Metrics, by level, whose mean r leaves the interval of the given scores, or whose error differs greatly."""
        with threads.progress_bar((1 + _COMPARED) * len(scores), False) as bar:
            own = _intervals(scores, gold, bar)
            again = np.array(
                [_intervals(*self.draw(gold.shape, each), bar)[:, [0, 3]] for each in generators(_COMPARED, 1)]
            )
        outside, spread = {}, {}
        for at, level in enumerate(_COMPARED_LEVELS):
            r, low, high, error = own[at]
            mean, errors = arrays.defined_means(again[:, at])
            defined = np.isfinite(r) & np.isfinite(low)
            outside[level] = np.flatnonzero(defined & ((mean < low) | (mean > high))).tolist()
            spread[level] = np.flatnonzero(defined & ((errors < error / 2) | (errors > error * 2))).tolist()
        return outside, spread

    def _pearson(self, level: str, n_inputs: int) -> FloatArray:
        system, input, cell = self.covariances()
        total = system + cell / (n_inputs if level == "system" else 1) + (input if level == "global" else 0)
        sd = np.sqrt(np.diag(total))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((total / np.outer(sd, sd))[:-1, -1])

    def _averaged(
        self, level: str, records: Sequence[Coefficient], n_inputs: int, missing: str
    ) -> tuple[FloatArray, FloatArray]:
        systems, inputs, repeats = population_sizes(level, n_inputs)
        shape = systems, inputs
        measures = [Measure(record, "global" if level == "system" else level) for record in records]
        found = np.full((repeats, len(records), len(self.mean) - 1), np.nan)
        sources = generators(repeats)

        def average(repeat: int, stop: threading.Event) -> None:
            if level == "system":
                scores, golds = self._drawn_means(shape, sources[repeat], missing)
            else:
                scores, gold = self.draw(shape, sources[repeat], crossed=level != "global")
                golds = np.broadcast_to(gold, scores.shape)
            for at, (x, z) in enumerate(zip(scores, golds, strict=True)):
                for place, measure in enumerate(measures):
                    found[repeat, place, at] = measure.estimator(x, z).value()

        with threads.progress_bar(repeats, False) as bar:
            threads.over_blocks(average, repeats, bar)
        mean = arrays.defined_means(found)
        spread = np.sqrt(arrays.defined_means((found - mean) ** 2).max(axis=1))
        return mean, spread / math.sqrt(repeats - 1)

    def _drawn_means(
        self, shape: tuple[int, int], generator: np.random.Generator, missing: str
    ) -> tuple[FloatArray, FloatArray]:
        """Means of new systems by each metric, and by the gold on its cells, as scores on one input."""
        x, z = np.empty((2, len(self.mean) - 1, shape[0], 1))
        for rows, values in self._pieces(shape, generator, True):
            there = np.isfinite(values)
            if there.all():
                of_all = arrays.means_as_cells(values.reshape(-1, shape[1]), there.reshape(-1, shape[1]))
                of_all = of_all.reshape(len(values), -1, 1)
                x[:, rows], z[:, rows] = of_all[:-1], of_all[-1]
                continue
            for at, (score, own) in enumerate(zip(values[:-1], there[:-1], strict=True)):
                cells = (own, there[-1]) if missing == "available" else (own & there[-1],) * 2
                x[at, rows], z[at, rows] = map(arrays.means_as_cells, (score, values[-1]), cells)
        return x, z


def _intervals(scores: FloatArray, gold: FloatArray, bar: threads.Bar) -> FloatArray:
    """Pearson's r, limits and standard error at each compared level, (levels, numbers, metrics)."""
    measures = [Measure(table.COEFFICIENTS["pearson"], level) for level in _COMPARED_LEVELS]
    out = np.empty((len(measures), 4, len(scores)))

    def of_metric(at: int, stop: threading.Event) -> None:
        for row, measure in zip(out, measures, strict=True):
            one = scores[at : at + 1]
            row[:, at] = jackknife.intervals(one, gold, [(0,)], measure, ("system", "input"), 0.95)[:4, 0]

    threads.over_blocks(of_metric, len(scores), bar)
    return out


def _additive(values: FloatArray) -> tuple[float, FloatArray, FloatArray, FloatArray]:
    """Mean, effects of systems and inputs (0 without scores), and residuals, by least squares."""
    there = np.isfinite(values)
    n_rows, n_columns = there.sum(axis=1), there.sum(axis=0)
    mean = float(values[there].mean())
    rest = np.where(there, values - mean, 0.0)
    rows, columns = np.zeros(len(values)), np.zeros(values.shape[1])
    for _ in range(_ROUNDS):
        step = rest.sum(axis=1) / np.maximum(n_rows, 1)
        rest = np.where(there, rest - step[:, None], 0.0)
        other = rest.sum(axis=0) / np.maximum(n_columns, 1)
        rest = np.where(there, rest - other, 0.0)
        rows, columns = rows + step, columns + other
        if max(np.abs(step).max(), np.abs(other).max()) <= _CLOSE * (np.abs(values[there]).max() + 1e-300):
            break
    off = rows[n_rows > 0].mean(), columns[n_columns > 0].mean()
    rows, columns = (np.where(n > 0, each - shift, 0.0) for n, each, shift in
                     ((n_rows, rows, off[0]), (n_columns, columns, off[1])))  # fmt: skip
    return mean + sum(off), rows, columns, np.where(there, rest, np.nan)


def _root(matrix: FloatArray, inverse: bool = False) -> FloatArray:
    """Symmetric square root, or that of the pseudo-inverse."""
    values, vectors = np.linalg.eigh(matrix)
    kept = values > _SMALL * max(values.max(initial=0.0), 1e-300)
    root = np.where(kept, np.sqrt(np.where(kept, values, 1.0)), 0.0)
    if inverse:
        root = np.where(kept, 1 / np.where(kept, root, 1.0), 0.0)
    return np.asarray((vectors * root) @ vectors.T)


def _aligned(values: FloatArray, target: FloatArray) -> FloatArray:
    """Vectors (n, scores) transformed to the covariance `target`, as far as n allows."""
    values = values - values.mean(axis=0)
    return _turned(values, values.T @ values / len(values), target)


def _turned(values: FloatArray, own: FloatArray, target: FloatArray) -> FloatArray:
    """Vectors of covariance `own` transformed to `target`, as far as they span it."""
    sds = [np.sqrt(np.maximum(np.diag(each), 0.0)) for each in (own, target)]
    inverses = [np.divide(1.0, sd, out=np.zeros_like(sd), where=sd > 0) for sd in sds]
    r, wanted = (each * np.outer(inverse, inverse) for each, inverse in zip((own, target), inverses, strict=True))
    turned = (values * inverses[0]) @ _root(r, inverse=True) @ _root(wanted)
    return np.asarray(turned * sds[1])


def _mapped(values: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Effects (labels, scores), and the root of the covariance of a normal rest, with total `target`."""
    kept = math.sqrt(1 - SMOOTHING**2) * _aligned(values, target)
    return kept, _root(_positive(target - kept.T @ kept / len(kept)))


def _positive(matrix: FloatArray) -> FloatArray:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def _pools(residuals: FloatArray, target: FloatArray) -> tuple[FloatArray, IntArray]:
    """Values to draw each system's cells from, (systems, cells, scores), and their numbers."""
    complete = np.asarray(np.isfinite(residuals).all(axis=-1))
    filled = _filled(residuals, target)
    pools = [filled[at][there] if there.sum() >= _LEAST_CELLS else filled[at] for at, there in enumerate(complete)]
    pools = [(each - each.mean(axis=0)) * math.sqrt(len(each) / max(len(each) - 1, 1)) for each in pools]
    counts = np.array([len(each) for each in pools])
    weights = np.repeat(np.sqrt(1 / (counts * len(counts))), counts)[:, None]
    every = np.concatenate(pools)
    every = _turned(every, (every * weights).T @ (every * weights), target)
    out = np.zeros((len(pools), counts.max(), residuals.shape[-1]))
    for at, each in enumerate(np.split(every, np.cumsum(counts)[:-1])):
        out[at, : len(each)] = each
    return out, counts


def _filled(residuals: FloatArray, covariance: FloatArray) -> FloatArray:
    """Residuals with gaps drawn from the conditional normal distribution."""
    out = residuals.copy()
    generator = np.random.Generator(np.random.SFC64(0))
    there = np.isfinite(out)
    rows = there.reshape(-1, there.shape[-1])
    flat = out.reshape(rows.shape)
    for pattern in np.unique(rows[~rows.all(axis=1)], axis=0):
        at = np.flatnonzero((rows == pattern).all(axis=1))
        lacking = ~pattern
        slopes = np.linalg.pinv(covariance[np.ix_(pattern, pattern)]) @ covariance[np.ix_(pattern, lacking)]
        left = covariance[np.ix_(lacking, lacking)] - covariance[np.ix_(lacking, pattern)] @ slopes
        noise = generator.standard_normal((len(at), int(lacking.sum()))) @ _root(_positive(left))
        flat[np.ix_(at, lacking)] = flat[np.ix_(at, pattern)] @ slopes + noise
    return out


def _nearest(grades: FloatArray, values: FloatArray) -> FloatArray:
    """The grade next to each value, the lower of two."""
    limits = (grades[1:] + grades[:-1]) / 2
    if len(limits) > _COUNTED:
        return np.asarray(grades[np.searchsorted(limits, values)])
    place = np.zeros(values.shape, dtype=np.int8)
    for limit in limits:
        place += values > limit
    return np.asarray(grades.take(place))


def _grades(values: FloatArray) -> FloatArray | None:
    """Values of a score, where they are few and frequent."""
    there = values[np.isfinite(values)]
    found = np.unique(there)
    return found if len(found) <= _MOST_GRADES and len(there) >= _EACH_GRADE * len(found) else None
