"""What is asked of every design of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xsumstat.analyses.measure import Measure
from xsumstat.core import validate
from xsumstat.inference import planning

# Designs of fewer systems are simulated at system level.
_FEW_SYSTEMS = 15
N_RATERS = (1, 2, 3, 5)


@dataclass(frozen=True)
class Sizes:
    """The given numbers of systems and of inputs."""

    n_systems: Any
    n_inputs: Any
    least_systems: int = 4

    def of(self, n_systems: Sequence[int], n_inputs: Sequence[int]) -> tuple[list[int], list[int]]:
        found = []
        for name, given, default, least in (
            ("n_systems", self.n_systems, n_systems, self.least_systems),
            ("n_inputs", self.n_inputs, n_inputs, 2),
        ):
            found.append(validate.integers(name, default if given is None else given, least, validate.MOST_DRAWS))
        return found[0], found[1]


@dataclass(frozen=True)
class Asked:
    measure: Measure
    sizes: Sizes
    method: str
    alpha: float
    confidence_level: float
    n_trials: int
    seed: int

    @property
    def scale(self) -> float:
        return self.measure.coefficient.stretch

    def interval(
        self, expected: planning.Expected, n: int, m: float, variance: float | None = None
    ) -> tuple[float, float, float]:
        """Expected interval for n systems and m inputs, and its standard error."""
        return planning.interval(expected, n, m, self.confidence_level, scale=self.scale, variance=variance)

    def width(self, expected: planning.Expected, n: int, m: float) -> float:
        return planning.width(expected, n, m, self.confidence_level, scale=self.scale)

    def by_formula(self, n: int) -> bool:
        """Whether designs of n systems use a formula."""
        if self.method != "auto" or self.measure.level == "input":
            return self.method != "simulation"
        return n >= _FEW_SYSTEMS and self.measure.coefficient.name == "pearson"
