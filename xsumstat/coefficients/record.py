"""The record of a coefficient, what is measured, and what a coefficient makes of scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from xsumstat.coefficients import arrays
from xsumstat.coefficients.weights import InputWeights
from xsumstat.core.levels import GROUPS, LEVELS
from xsumstat.core.types import CorrelationFunction, FloatArray, IntArray, Pair


class Estimator(Protocol):
    """The statistic of two score matrices at one level, as given or resampled."""

    def groups(self) -> tuple[FloatArray, FloatArray]:
        """Coefficient of each group, NaN where undefined, and its number of cells."""
        ...

    def value(self) -> float:
        """The statistic: the average of the groups' coefficients."""
        ...

    def bootstrap(self, systems: IntArray, inputs: IntArray, /) -> FloatArray:
        """The statistic for each row of counts; a dim that is not resampled has one row of ones."""
        ...

    @property
    def cost(self) -> float:
        """Approximate nanoseconds for a resample."""
        ...


class OfOneGroup(Estimator, Protocol):
    """The statistic is the one group's coefficient."""

    def value(self) -> float:
        return float(self.groups()[0][0])


class OfManyGroups(Estimator, Protocol):
    """The statistic is the average of the groups' coefficients."""

    undefined_as_zero: bool

    def value(self) -> float:
        return arrays.average(*self.groups(), self.undefined_as_zero)


class Differences(Protocol):
    """Differences of the statistics of one or more pairs of metrics in resamples."""

    @property
    def pairs(self) -> tuple[Pair, ...]: ...

    def differences(self, draws: Any) -> FloatArray:
        """Difference of each pair in each resample, (pairs, resamples), for what the plan's `block` gives."""
        ...

    @property
    def cost(self) -> float:
        """Approximate nanoseconds for a resample."""
        ...


# From a metric's scores and the gold's, (systems, inputs).
MakeEstimator = Callable[[FloatArray, FloatArray, "Measure"], Estimator]
# From the scores of metrics (metrics, systems, inputs), the gold's, and pairs of metrics.
MakeSwapped = Callable[[FloatArray, FloatArray, tuple[Pair, ...], "Measure"], Sequence[Differences]]
# A correlation of normal scores from Pearson's r of them, or the other way round; arrays go through.
Curve = Callable[[Any], Any]


@dataclass(frozen=True)
class LeaveOneOut:
    parts: Callable[[FloatArray, FloatArray, Measure], Any]  # of x, z and measure
    step: Callable[[int], float]  # by members: how near to 1 a centre may come
    fisher: tuple[int, Callable[[float], float]] | None = None  # `Coefficient.fisher` for perfect agreement of means
    of_ranks: bool = True


@dataclass(frozen=True)
class Partial:
    """A coefficient given covariates; gold with covariates is (1 + covariates, systems, inputs)."""

    estimator: MakeEstimator
    swapped: MakeSwapped
    parts: Callable[[FloatArray, FloatArray, Measure], Any]
    pvalue: Callable[[float, float, int], float]


@dataclass(frozen=True)
class Coefficient:
    """All that the library knows of one coefficient; an optional field that is None is not available."""

    # What users type and results record, and what axes show.
    name: str
    label: str = ""
    # Least and largest value; an intraclass correlation of few outputs may be below -1.
    bounds: tuple[float, float] = (-1.0, 1.0)
    levels: tuple[str, ...] = LEVELS
    estimator: MakeEstimator | None = None
    swapped: MakeSwapped | None = None
    # Whether, off system level, a swap only changes signs of terms of the difference: "never", "untied" (where no
    # swapped scores are tied) or "always".
    linear_in_swaps: str = "never"
    # Computed from system means at system level; x and z may be exchanged; defined for constant metrics.
    of_means: bool = False
    symmetric: bool = True
    of_constants: bool = False
    # b and c(r) of the Fisher interval tanh(arctanh r ± q·c/√(n − b)) (Bonett & Wright 2000).
    fisher: tuple[int, Callable[[float], float]] | None = None
    # For the jackknife; None leaves out each label by brute force.
    leave_one_out: LeaveOneOut | None = None
    # A label drawn twice agrees with its copy, which raises the value of every resample (benchmarks/accuracies.py).
    copies_agree: bool = False
    partial: Partial | None = None
    # The function of scipy.stats whose p-value belongs to it.
    test: str | None = None
    # Its value from Pearson's r of normal scores, the inverse, and (up to a factor) mean and variance in samples of n.
    normal_value: Curve | None = None
    normal_r: Curve | None = None
    normal_sample: Callable[[float, int], tuple[float, float]] | None = None
    # Whose scores must differ by more than a threshold, "metric" or "gold"; one threshold for all metrics, or one for
    # each. Empty: none, or calibrated.
    threshold_of: str | None = None
    thresholds: tuple[float, ...] = ()
    calibrate: Callable[[Estimator, FloatArray, FloatArray, Measure], float] | None = None
    swapped_decisions: Callable[..., Sequence[Differences]] | None = None
    # Over close pairs of systems; for many pairs of metrics in large groups.
    close: Callable[..., tuple[FloatArray, FloatArray]] | None = None
    of_pairs: Callable[..., tuple[FloatArray, FloatArray]] | None = None
    # Pairs of systems of several labels may be pooled; at global level only outputs of one input are compared.
    poolable: bool = False
    within_inputs: bool = False
    # Values of a constant and a random metric (module `chance`); None where they are 0 or undefined.
    chance: Callable[[FloatArray, FloatArray, Measure], tuple[FloatArray, FloatArray]] | None = None
    # What it compares on the gold's own scale, "classes", "two" or "values"; None where unit and origin do not matter.
    scale: str | None = None
    # Values of the positive class (empty: every value is a class), and texts for the values 0, 1, ...
    positive: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()
    # A user's function, or one of ours without kernels.
    function: CorrelationFunction | None = field(default=None)

    def __post_init__(self) -> None:
        for name in ("estimator", "swapped"):
            if not callable(getattr(self, name)):
                raise TypeError(
                    f"coefficient {self.name!r} needs {name}=, a function that makes it from scores, got "
                    f"{getattr(self, name)!r}"
                )
        if not set(self.levels) <= set(LEVELS):
            raise ValueError(f"levels of coefficient {self.name!r} must be among {LEVELS}, got {self.levels}")

    @property
    def positive_attrs(self) -> dict[str, Any]:
        """Attrs that name the positive class: a number or a text, or a list."""
        if not self.positive:
            return {}
        some: list[Any] = [self.texts[int(each)] if self.texts else each for each in self.positive]
        return {"positive": some[0] if len(some) == 1 else some}

    @property
    def threshold(self) -> float:
        """The one threshold; NaN where it is to be calibrated."""
        return self.thresholds[0] if self.thresholds else math.nan

    @property
    def stretch(self) -> float:
        """By what values are multiplied to reach from -1 to 1: an accuracy p becomes 2p - 1."""
        return 2.0 if self.bounds[0] == 0.0 else 1.0

    @property
    def calibrated(self) -> bool:
        """Whether its threshold is calibrated on the judged scores."""
        return self.calibrate is not None and not self.thresholds

    def of_metric(self, place: int) -> Coefficient:
        return replace(self, thresholds=(self.thresholds[place],)) if len(self.thresholds) > 1 else self

    def of_metrics(self, places: Sequence[int]) -> Coefficient:
        several = len(self.thresholds) > 1
        return replace(self, thresholds=tuple(self.thresholds[place] for place in places)) if several else self

    def at(self, threshold: float) -> Coefficient:
        """The same with another threshold; NaN calibrates it."""
        thresholds = () if math.isnan(threshold) else (threshold,)
        return self if thresholds == self.thresholds else replace(self, thresholds=thresholds)

    def rescaled(self, x: FloatArray, z: FloatArray) -> Coefficient:
        """The same with the threshold scaled as `arrays.scaled` scales its scores."""
        power = arrays.exponent(x if self.threshold_of == "metric" else z)
        return self.at(arrays.shifted(self.threshold, -power))

    def pvalue(self, x: FloatArray, z: FloatArray) -> float:
        """SciPy's two-sided p-value of no association; NaN without a test in SciPy."""
        if self.test is None or len(x) < 2 or np.ptp(x) == 0 or np.ptp(z) == 0:
            return math.nan
        import scipy.stats

        return float(getattr(scipy.stats, self.test)(x, z).pvalue)


@dataclass(frozen=True)
class Measure:
    """What is measured: a coefficient, level, treatment of missing and undefined values, covariates, weights."""

    coefficient: Coefficient
    level: str = "system"
    missing: str = "pairwise"
    undefined: str = "drop"
    given: tuple[str, ...] = ()
    weights: InputWeights | None = field(default=None, compare=False)

    @property
    def can_weigh(self) -> bool:
        """Whether inputs can have weights: at input level, where means are correlated, and Pearson's r."""
        record = self.coefficient
        of_level = record.of_means if self.level == "system" else self.level == "input" or record.name == "pearson"
        return of_level and self.missing == "pairwise" and record.leave_one_out is not None

    @property
    def undefined_as_zero(self) -> bool:
        """Whether an undefined group counts as 0; not at levels with one group."""
        return self.undefined == "zero" and self.level in GROUPS

    @property
    def leaves_ties_out(self) -> bool:
        """Whether inputs on which all systems tie have no correlation, and are left out of the average."""
        return self.level == "input" and self.undefined == "drop" and not self.coefficient.of_constants

    @property
    def compared_within(self) -> str:
        """Level at which outputs are compared; "input" where differences within inputs form one group."""
        return "input" if self.coefficient.within_inputs else self.level

    @property
    def own_cells(self) -> bool:
        """Whether at system level each score is averaged over all its cells, not only common ones."""
        return self.missing == "available" and self.level == "system"

    @property
    def linear_in_swaps(self) -> bool:
        """Whether a difference of two metrics is a sum of signs, perhaps only without ties."""
        linear = self.coefficient.linear_in_swaps != "never" and not self.coefficient.calibrated
        return linear and self.level != "system" and not self.given

    @property
    def of_shared_means(self) -> bool:
        """Whether swapped pairs of metrics share sums of each metric's system means."""
        return self.coefficient.of_means and self.level == "system" and not self.given

    @property
    def attrs(self) -> dict[str, str]:
        settings = {"level": self.level, "missing": self.missing, "undefined": self.undefined}
        given = {"given": ", ".join(self.given)} if self.given else {}
        return {"coefficient": self.coefficient.name, **self.coefficient.positive_attrs, **settings, **given}

    def of_metric(self, place: int) -> Measure:
        return replace(self, coefficient=self.coefficient.of_metric(place))

    def of_metrics(self, places: Sequence[int]) -> Measure:
        return replace(self, coefficient=self.coefficient.of_metrics(places))

    def at(self, threshold: float) -> Measure:
        coefficient = self.coefficient.at(threshold)
        return self if coefficient is self.coefficient else replace(self, coefficient=coefficient)

    def estimator(self, x: FloatArray, z: FloatArray) -> Estimator:
        """Prepare a metric's scores and the gold's, (systems, inputs) (Deutsch et al. 2021, §2)."""
        arrays.check_finite(x, z)
        if self.given:
            assert self.coefficient.partial is not None
            return self.coefficient.partial.estimator(x, z, self)
        assert self.coefficient.estimator is not None
        return self.coefficient.estimator(*self.seen(x, z), self)

    def seen(self, x: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The scores whose plain means are correlated: linearised ones where inputs have weights."""
        return (x, z) if self.weights is None or self.level != "system" else self.weights.scores(x, z)

    def average(self, r: FloatArray, n: FloatArray) -> float:
        """Average of the groups' coefficients."""
        if self.weights is None or self.level != "input":
            return arrays.average(r, n, self.undefined_as_zero)
        return self.weights.average(r, n, self.undefined_as_zero)

    def swapped(self, scores: FloatArray, z: FloatArray, pairs: tuple[Pair, ...]) -> Sequence[Differences]:
        """Prepare pairs of `scores` (metrics, systems, inputs) for swaps, with gold `z`."""
        arrays.check_finite(scores, z)
        if self.given:
            assert self.coefficient.partial is not None
            return self.coefficient.partial.swapped(scores, z, pairs, self)
        assert self.coefficient.swapped is not None
        return self.coefficient.swapped(scores, z, pairs, self)
