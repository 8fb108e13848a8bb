"""How sure data are of a plan: the plan without each system, and without some of the inputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from xsumstat.coefficients import leave_one_out
from xsumstat.coefficients.record import Measure
from xsumstat.dataset.scores import Scores
from xsumstat.inference import components, jackknife, planning
from xsumstat.simulation.plan_raters import Noise, Ratings
from xsumstat.types import FloatArray, IntArray

# More systems, and more inputs, than these are left out in so many blocks.
_BLOCKS = (50, 20)

Width = Callable[[planning.Expected], float]


@dataclass(frozen=True)
class Planned:
    """What is expected of one metric by data, and by the data without each block of systems, and of inputs.

    Attributes
    ----------
    own : Expected
    without : tuple of two lists of Expected
        None where what is left says too little.
    """

    own: planning.Expected
    without: tuple[list[planning.Expected | None], ...] = ()

    def limits(self, width: float, width_of: Width, confidence_level: float, error: float = 0.0) -> tuple[float, float]:
        """Limits of an expected width: ``width·exp(±t·s)`` by the jackknife of its logarithm.

        ``s²`` is the sum of the variances over systems and over inputs, and of the square of `error`, the width's own
        standard error over it. t has one degree of freedom less than there are blocks of systems. NaN where nothing was
        left out, or where some width is 0 or unknown.
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
    """What plans of one metric are made from: its own parts, and those without each block.

    Attributes
    ----------
    own : FromParts
    without : tuple of two lists of FromParts
    noise : Noise, optional
        Of the ratings, whose mean is the gold.
    noises : tuple of two lists of Noise
        Without the same blocks.
    """

    own: planning.FromParts
    without: tuple[list[planning.FromParts | None], ...]
    noise: Noise | None
    noises: tuple[list[Noise | None], ...]

    def planned(self, raters: int | None) -> Planned:
        """With so many raters of each cell, or as they are."""
        if raters is None or self.noise is None:
            return Planned(self.own, tuple(list(each) for each in self.without))
        without = [
            [None if base is None or noise is None else noise.expected(base, raters)
             for base, noise in zip(*each, strict=True)]
            for each in zip(self.without, self.noises, strict=True)
        ]  # fmt: skip
        return Planned(self.noise.expected(self.own, raters), tuple(without))


def bases(found: Scores, measure: Measure, ratings: Ratings | None) -> list[Basis]:
    """What plans of each metric are made from."""
    human = found.gold.values
    blocks = tuple(_blocks(size, most) for size, most in zip(human.shape, _BLOCKS, strict=True))
    noise: Noise | None = None
    noises: tuple[list[Noise | None], ...] = ()
    if ratings is not None:
        noise = ratings.noise
        noises = tuple(
            [
                ratings.without(dim, found.gold.indexes[dim][each] if dim in found.gold.indexes else each)
                for each in left_out
            ]
            for dim, left_out in zip(("system", "input"), blocks, strict=True)
        )
    of_cells = measure.level == "system" or ratings is not None
    made = []
    for x in found.score.values:
        own = _parts(x, human, measure)
        if own is None:
            raise ValueError("some metric shares too few cells with the gold to tell systems, inputs and cells apart")
        without = tuple(
            [_parts(np.delete(x, each, axis), np.delete(human, each, axis), measure, of_cells) for each in left_out]
            for axis, left_out in enumerate(blocks)
        )
        made.append(Basis(own, without, noise, noises))
    return made


def _blocks(size: int, most: int) -> list[IntArray]:
    """Labels that are left out together: each, or every so many."""
    step = min(size, most)
    return [np.arange(start, size, step) for start in range(step)]


def _parts(x: FloatArray, human: FloatArray, measure: Measure, of_cells: bool = True) -> planning.FromParts | None:
    """What is expected by scores (systems, inputs); None where they do not tell systems, inputs and cells apart.

    Without `of_cells` components are not computed: formulas at input level need none.
    """
    covariances = np.full((len(components.EFFECTS), 2, 2), math.nan)
    if of_cells:
        raw, _ = components.estimates(np.array([x, human]), tuple(components.EFFECTS.values()), errors=False)
        if np.isnan(raw).any():
            return None
        covariances = components.repaired(raw)
    return planning.FromParts.of(leave_one_out.of(x, human, measure), measure, covariances)
