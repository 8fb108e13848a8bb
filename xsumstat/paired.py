"""Pairs of metrics made ready for the paired bootstrap: their difference when systems and inputs are drawn anew."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xsumstat import levels
from xsumstat.coefficients import Coefficient, FloatArray
from xsumstat.levels import Comparison, IntArray
from xsumstat.swap_ranks import Pair
from xsumstat.swaps import PairTest, common_cells


@dataclass(frozen=True)
class Draw:
    """How often each label came in some resamples.

    Attributes
    ----------
    systems, inputs : array of int, (resamples, labels)
        One row of ones for a dim that is not drawn.
    """

    systems: IntArray
    inputs: IntArray

    def __len__(self) -> int:
        return max(len(self.systems), len(self.inputs))

    def __getitem__(self, piece: slice) -> Draw:
        systems, inputs = (each[piece] if len(each) > 1 else each for each in (self.systems, self.inputs))
        return Draw(systems, inputs)


@dataclass(frozen=True)
class _Drawn:
    """Pairs of metrics of which each is drawn once, whatever the number of its pairs."""

    pairs: tuple[Pair, ...]
    comparisons: tuple[Comparison, ...]
    places: IntArray  # (pairs, 2), among the comparisons

    @property
    def cost(self) -> float:
        return sum(each.cost for each in self.comparisons)

    def differences(self, draws: Draw) -> FloatArray:
        r = np.array([each.bootstrap(draws.systems, draws.inputs) for each in self.comparisons])
        return np.asarray(r[self.places[:, 0]] - r[self.places[:, 1]])


def draw_tests(
    scores: FloatArray,
    z: FloatArray,
    pairs: tuple[Pair, ...],
    *,
    level: str,
    coefficient: Coefficient,
    missing: str,
    undefined: str,
) -> list[PairTest]:
    """Make the given pairs of `scores` (metrics, systems, inputs) ready to be drawn together with gold `z`.

    A pair is compared on the cells that both metrics have; under "available" each metric keeps all it has.
    """
    comparisons: list[Comparison] = []
    known: dict[tuple[int, bytes], int] = {}
    places = []
    for pair in pairs:
        cells = np.full(z.shape, True) if missing == "available" else common_cells(scores, z, pair, missing)
        for metric in pair:
            key = metric, cells.tobytes()
            if key not in known:
                known[key] = len(comparisons)
                x = np.where(cells, scores[metric], np.nan)
                made = levels.compare(x, z, level=level, coefficient=coefficient, missing=missing, undefined=undefined)
                comparisons.append(made)
        places.append([known[metric, cells.tobytes()] for metric in pair])
    return [_Drawn(pairs, tuple(comparisons), np.array(places, dtype=np.int64))]


def correlations(
    scores: FloatArray,
    z: FloatArray,
    pair: Pair,
    *,
    level: str,
    coefficient: Coefficient,
    missing: str,
    undefined: str,
) -> tuple[float, float, float, float]:
    """r(X, Z), r(Y, Z) and r(X, Y) of a pair on the cells that both have, and how many values are correlated."""
    cells = common_cells(scores, z, pair, missing)
    x, y = (np.where(cells, scores[metric], np.nan) for metric in pair)
    found = []
    for first, second in ((x, z), (y, z), (x, y)):
        r, n = levels.compare(
            first, second, level=level, coefficient=coefficient, missing=missing, undefined=undefined
        ).groups()
        found.append(levels.averaged(r, n, undefined))
    return found[0], found[1], found[2], levels.fisher_size(x, z, level, missing)
