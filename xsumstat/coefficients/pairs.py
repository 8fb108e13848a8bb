"""Pairs of metrics prepared for the paired bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from xsumstat.coefficients import arrays
from xsumstat.coefficients.record import Differences, Estimator, Measure
from xsumstat.core.types import BoolArray, FloatArray, IntArray, Pair

Made = TypeVar("Made")


@dataclass(frozen=True)
class Draw:
    """How often each label was drawn, (resamples, labels); one row of ones for a dim that is not drawn."""

    systems: IntArray
    inputs: IntArray
    layers: tuple[IntArray, ...] = ()

    @property
    def counts(self) -> tuple[IntArray, IntArray]:
        return self.systems, self.inputs

    def __len__(self) -> int:
        return max(len(each) for each in (self.systems, self.inputs, *self.layers))

    def __getitem__(self, piece: slice) -> Draw:
        systems, inputs, *layers = (
            each[piece] if len(each) > 1 else each for each in (self.systems, self.inputs, *self.layers)
        )
        return Draw(systems, inputs, tuple(layers))


@dataclass(frozen=True)
class _Drawn:
    """Pairs of metrics; each metric is drawn once, whatever the number of its pairs."""

    pairs: tuple[Pair, ...]
    estimators: tuple[Estimator, ...]
    places: IntArray  # (pairs, 2), among the estimators

    @property
    def cost(self) -> float:
        return sum(each.cost for each in self.estimators)

    def differences(self, draws: Draw) -> FloatArray:
        r = np.array([each.bootstrap(draws.systems, draws.inputs) for each in self.estimators])
        return np.asarray(r[self.places[:, 0]] - r[self.places[:, 1]])


def drawn(scores: FloatArray, z: FloatArray, pairs: tuple[Pair, ...], measure: Measure) -> list[Differences]:
    """Pairs of `scores` (metrics, systems, inputs) with gold `z`, drawn together on common cells unless "available"."""
    return [_Drawn(pairs, *estimators(scores, z, pairs, measure))]


def correlations(
    scores: FloatArray, z: FloatArray, pairs: tuple[Pair, ...], measure: Measure
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """r(X, Z), r(Y, Z) and r(X, Y) of each pair on common cells, and the number of correlated values."""
    cells = [arrays.common_cells(scores, z, pair, measure.missing) for pair in pairs]
    ready, places = each_once(scores, pairs, cells, lambda x, _: measure.estimator(x, z))
    with_gold = np.array([each.value() for each in ready])
    between, sizes = [], []
    for pair, there in zip(pairs, cells, strict=True):
        x, y = (np.where(there, scores[metric], np.nan) for metric in pair)
        between.append(measure.estimator(x, y).value())
        sizes.append(arrays.fisher_size(x, z, measure.level, measure.missing))
    return with_gold[places[:, 0]], with_gold[places[:, 1]], np.array(between), np.array(sizes)


def estimators(
    scores: FloatArray, z: FloatArray, targets: Sequence[tuple[int, ...]], measure: Measure
) -> tuple[tuple[Estimator, ...], IntArray]:
    """The estimators of all targets (a metric, or two), each made once, and their places for each target."""
    cells = [_cells(scores, z, target, measure) for target in targets]
    return each_once(scores, targets, cells, lambda x, metric: measure.of_metric(metric).estimator(x, z))


def in_turn(
    scores: FloatArray,
    z: FloatArray,
    targets: Sequence[tuple[int, ...]],
    measure: Measure,
    make: Callable[[FloatArray, int], Made],
    most: int,
) -> Iterator[tuple[Made, ...]]:
    """Results of `make` for each metric of each target, on the target's common cells; the last `most` are kept."""
    kept: dict[tuple[int, bytes], Made] = {}
    for target in targets:
        cells = _cells(scores, z, target, measure)
        made = []
        for metric in target:
            key = (metric, cells.tobytes())
            known = kept.pop(key) if key in kept else make(_on(scores[metric], cells), metric)
            kept[key] = known
            made.append(known)
        while len(kept) > max(most, len(target)):
            del kept[next(iter(kept))]
        yield tuple(made)


def _cells(scores: FloatArray, z: FloatArray, target: tuple[int, ...], measure: Measure) -> BoolArray:
    if measure.own_cells or len(target) == 1:
        return np.full(z.shape[-2:], True)
    return arrays.common_cells(scores, arrays.human(z), (target[0], target[1]), measure.missing)


def _on(scores: FloatArray, cells: BoolArray) -> FloatArray:
    return scores if cells.all() else np.where(cells, scores, np.nan)


def each_once(
    scores: FloatArray,
    targets: Sequence[tuple[int, ...]],
    cells: Sequence[BoolArray],
    make: Callable[[FloatArray, int], Made],
) -> tuple[tuple[Made, ...], IntArray]:
    """Results of `make` for each metric of each target on its `cells`, computed once for the same cells."""
    ready: list[Made] = []
    known: dict[tuple[int, bytes], int] = {}
    places = []
    for target, there in zip(targets, cells, strict=True):
        keys = [(metric, there.tobytes()) for metric in target]
        for key in keys:
            if key not in known:
                known[key] = len(ready)
                ready.append(make(_on(scores[key[0]], there), key[0]))
        places.append([known[key] for key in keys])
    return tuple(ready), np.array(places, dtype=np.int64)
