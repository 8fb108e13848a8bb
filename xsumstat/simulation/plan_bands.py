"""Uncertainty of a plan: the plan without each system, and without some of the inputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import xarray as xr

from xsumstat.coefficients import leave_one_out
from xsumstat.coefficients.record import Measure
from xsumstat.core.types import FloatArray, IntArray
from xsumstat.dataset.scores import Scores
from xsumstat.inference import components, jackknife, planning
from xsumstat.simulation.plan_raters import Noise, Ratings

# With more systems, or inputs, than these, this number of blocks is left out in turn.
_BLOCKS = (50, 20)

T = TypeVar("T")
FromData = planning.FromParts | planning.OfTheseSystems


@dataclass(frozen=True)
class Planned(Generic[T]):
    """Expectations from data, and `without` each block of systems and of inputs; None if too few remain."""

    own: T
    without: tuple[list[T | None], ...] = ()

    def limits(
        self, width: float, width_of: Callable[[T], float], confidence_level: float, error: float = 0.0
    ) -> tuple[float, float]:
        """Limits of an expected width: ``width·exp(±t·s)``, by the jackknife of its logarithm.

        ``s²`` sums the variances over systems and inputs, and the square of `error` (relative). t has one degree of
        freedom less than blocks of systems. NaN where nothing was left out, or a width is 0 or unknown.
        """
        variance, df = error**2, 0
        for blocks in self.without:
            widths = np.array([math.nan if each is None else width_of(each) for each in blocks])
            if not (widths > 0).all():
                return math.nan, math.nan
            variance += jackknife.deleted_variance(np.log(widths))
            df = df or len(widths) - 1
        if not df:
            return math.nan, math.nan
        reach = math.exp(jackknife.t_quantile(confidence_level, df) * math.sqrt(variance))
        return width / reach, width * reach


@dataclass(frozen=True)
class Basis:
    """What plans of one metric are made from, and `without` each block, with the `noise` of ratings."""

    own: FromData
    without: tuple[list[FromData | None], ...]
    noise: Noise | None
    noises: tuple[list[Noise | None], ...]

    def planned(self, raters: int | None) -> Planned[planning.Expected]:
        if raters is None or self.noise is None:
            return Planned(self.own, tuple(list(each) for each in self.without))
        without = [
            [None if base is None or noise is None else noise.expected(base, raters)
             for base, noise in zip(*each, strict=True)]
            for each in zip(self.without, self.noises, strict=True)
        ]  # fmt: skip
        return Planned(self.noise.expected(self.own, raters), tuple(without))


def bases(found: Scores, measure: Measure, ratings: Ratings | None, these: bool) -> list[Basis]:
    """The basis of each metric; for `these` systems other systems do not matter."""
    human = found.gold.values
    blocks = blocks_of(human.shape, these)
    noise, noises = (None, ()) if ratings is None else (ratings.noise, noises_of(ratings, found.gold, blocks))
    of_cells = measure.level == "system" or ratings is not None
    made = []
    for x in found.score.values:
        own = _parts(x, human, measure, these, of_cells or not these)
        if own is None:
            raise ValueError(
                "some metric shares too few outputs with the gold to separate the effects of systems, inputs and "
                "outputs"
            )
        without = tuple(
            [_parts(np.delete(x, each, axis), np.delete(human, each, axis), measure, these, of_cells)
             for each in left_out]
            for axis, left_out in blocks.items()
        )  # fmt: skip
        made.append(Basis(own, without, noise, noises))
    return made


def blocks_of(shape: tuple[int, ...], these: bool) -> dict[int, list[IntArray]]:
    """Blocks of labels to leave out, of systems (axis 0) and inputs (1), or of inputs alone."""
    return {axis: _blocks(shape[axis], _BLOCKS[axis]) for axis in ((1,) if these else (0, 1))}


def noises_of(
    ratings: Ratings, gold: xr.DataArray, blocks: dict[int, list[IntArray]]
) -> tuple[list[Noise | None], ...]:
    """Noise of ratings without each block of the gold's labels."""
    dims = {axis: ("system", "input")[axis] for axis in blocks}
    return tuple(
        [ratings.without(dims[axis], gold.indexes[dims[axis]][each] if dims[axis] in gold.indexes else each)
         for each in left_out]
        for axis, left_out in blocks.items()
    )  # fmt: skip


def _blocks(size: int, most: int) -> list[IntArray]:
    """Blocks of labels: each label, or every k-th."""
    step = min(size, most)
    return [np.arange(start, size, step) for start in range(step)]


def _parts(x: FloatArray, human: FloatArray, measure: Measure, these: bool, of_cells: bool) -> FromData | None:
    """Expectations from scores (systems, inputs); None where components are not identified."""
    covariances = np.full((len(components.EFFECTS), 2, 2), math.nan)
    if of_cells:
        raw = components.crossed(np.array([x, human]))
        if np.isnan(raw).any():
            return None
        covariances = components.repaired(raw)
    kind = planning.OfTheseSystems if these else planning.FromParts
    return kind.of(leave_one_out.of(x, human, measure), measure, covariances)
