"""What a coefficient is, what is measured, and the two things that a coefficient makes of scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from xsumstat.coefficients import arrays
from xsumstat.types import CorrelationFunction, FloatArray, IntArray, Pair

LEVELS = ("system", "input", "global", "within_system")


class Estimator(Protocol):
    """The statistic of one score matrix with another at one level, for the scores as they are or drawn anew."""

    def groups(self) -> tuple[FloatArray, FloatArray]:
        """Coefficient of each group, NaN where undefined, and how many cells the group has."""
        ...

    def value(self) -> float:
        """The statistic: the average of the groups' coefficients."""
        ...

    def bootstrap(self, systems: IntArray, inputs: IntArray, /) -> FloatArray:
        """The statistic for each row of counts; a dim that is not resampled has one row of ones."""
        ...

    @property
    def cost(self) -> float:
        """Nanoseconds that a resample takes, about."""
        ...


class Differences(Protocol):
    """The differences of the statistics of one or more pairs of metrics in resamples."""

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of metrics, by their places."""
        ...

    def differences(self, draws: Any) -> FloatArray:
        """Difference of each pair in each resample, (pairs, resamples), for what the plan's `block` gives."""
        ...

    @property
    def cost(self) -> float:
        """Nanoseconds that a resample takes, about."""
        ...


# From a metric's scores and the gold's, (systems, inputs).
MakeEstimator = Callable[[FloatArray, FloatArray, "Measure"], Estimator]
# From the scores of metrics (metrics, systems, inputs), the gold's, and pairs of metrics.
MakeSwapped = Callable[[FloatArray, FloatArray, tuple[Pair, ...], "Measure"], Sequence[Differences]]
# A correlation of normal scores from Pearson's r of them, or the other way round; arrays go through.
Curve = Callable[[Any], Any]


@dataclass(frozen=True)
class LeaveOneOut:
    """What the jackknife needs to know of a coefficient.

    Attributes
    ----------
    parts : callable
        From a metric's scores, the gold's and the measure to what the estimate is without each label.
    step : callable
        From the number of members to how near to 1 the centre of an interval may come.
    fisher : tuple or None
        As `Coefficient.fisher`, of the interval at system level where all is ordered alike and nothing varies; None
        where there is none.
    of_ranks : bool
        Whether it is one of ranks.
    """

    parts: Callable[[FloatArray, FloatArray, Measure], Any]
    step: Callable[[int], float]
    fisher: tuple[int, Callable[[float], float]] | None = None
    of_ranks: bool = True


@dataclass(frozen=True)
class Partial:
    """A coefficient while covariates are held constant, of scores and of those of gold and covariates.

    Attributes
    ----------
    estimator, swapped : callable
        As of `Coefficient`; the gold's scores are (1 + covariates, systems, inputs).
    parts : callable
        As of `LeaveOneOut`.
    pvalue : callable
        From a value, the number of members and that of covariates to the two-sided p-value of no association.
    """

    estimator: MakeEstimator
    swapped: MakeSwapped
    parts: Callable[[FloatArray, FloatArray, Measure], Any]
    pvalue: Callable[[float, float, int], float]


@dataclass(frozen=True)
class Coefficient:
    """All there is to know of one coefficient.

    Attributes
    ----------
    name : str
        What users type, and what results say.
    label : str
        What axes say.
    bounds : tuple of float
        The least and the largest value; an intraclass correlation of a few outputs may be less than -1.
    levels : tuple of str
        Levels that it is defined at.
    estimator : callable
        Makes an `Estimator` of a metric's scores and the gold's.
    swapped : callable
        Makes `Differences` of pairs of metrics whose scores trade places.
    linear_in_swaps : {"never", "untied", "always"}
        Whether the difference of two metrics, off system level, is a sum of terms that swaps only change the sign of:
        "untied" where no two scores that trade places are equal.
    of_means : bool
        Whether at system level it is of the systems' means, which all pairs of metrics can share.
    symmetric : bool
        Whether the two scores may change places.
    of_constants : bool
        Whether it is defined for a metric that is constant.
    fisher : tuple or None
        ``b`` and ``c(r)`` of the Fisher interval ``tanh(arctanh r ± q·c/√(n − b))`` (Bonett & Wright 2000); None where
        there is none.
    leave_one_out : LeaveOneOut or None
        What the jackknife needs to know; None where each label is left out by brute force.
    copies_agree : bool
        Whether a label that is drawn twice agrees with its copy, which lifts the value of every resample, so that
        intervals of draws miss too often (benchmarks/accuracies.py).
    partial : Partial or None
        The same given covariates; None where there is none.
    test : str or None
        The function of ``scipy.stats`` whose p-value belongs to it; None where there is none.
    normal_value, normal_r : callable or None
        Its value for normal scores from their Pearson's r, and r from that value; None where there is no formula.
    normal_sample : callable or None
        The mean and the variance in samples of n normal scores, from Pearson's r and n: the latter but for a factor.
    threshold_of : {"metric", "gold"} or None
        Whose scores must lie further apart than a threshold to differ.
    thresholds : tuple of float
        One for all metrics, or one for each. Empty: none, or to be calibrated.
    calibrate : callable or None
        Finds the best threshold of a metric's scores, where it may be calibrated.
    swapped_decisions : callable or None
        As `swapped`, where decisions between two outputs trade places.
    close : callable or None
        Its value over the pairs of systems whose means lie close.
    of_pairs : callable or None
        The coefficients of many pairs of metrics by groups of many members, which share what is made of each metric.
    poolable : bool
        Whether the pairs of systems of several labels may be pooled.
    within_inputs : bool
        Whether at global level it compares outputs of one input only, so that cells cannot be drawn by themselves.
    chance : callable or None
        What a constant metric and a random one reach in each group, of a metric's scores and the gold's (see `chance`);
        None where it is 0 or undefined.
    scale : {"classes", "two", "values"} or None
        What it compares on people's own scale: classes, two of them (positive, and all others), or numbers. None where
        unit and origin do not matter.
    positive : tuple of float
        The values that are the positive class. Empty: every value is a class, or not settled yet.
    texts : tuple of str
        What the values 0, 1, ... stand for, where they were texts.
    function : callable or None
        An ``f(x, z) -> float`` of two 1-D arrays, a user's or one of ours that `function.estimator` calls; None for
        those with kernels.
    """

    name: str
    label: str = ""
    bounds: tuple[float, float] = (-1.0, 1.0)
    levels: tuple[str, ...] = LEVELS
    estimator: MakeEstimator | None = None
    swapped: MakeSwapped | None = None
    linear_in_swaps: str = "never"
    of_means: bool = False
    symmetric: bool = True
    of_constants: bool = False
    fisher: tuple[int, Callable[[float], float]] | None = None
    leave_one_out: LeaveOneOut | None = None
    copies_agree: bool = False
    partial: Partial | None = None
    test: str | None = None
    normal_value: Curve | None = None
    normal_r: Curve | None = None
    normal_sample: Callable[[float, int], tuple[float, float]] | None = None
    threshold_of: str | None = None
    thresholds: tuple[float, ...] = ()
    calibrate: Callable[[Estimator, FloatArray, FloatArray, Measure], float] | None = None
    swapped_decisions: Callable[..., Sequence[Differences]] | None = None
    close: Callable[..., tuple[FloatArray, FloatArray]] | None = None
    of_pairs: Callable[..., tuple[FloatArray, FloatArray]] | None = None
    poolable: bool = False
    within_inputs: bool = False
    chance: Callable[[FloatArray, FloatArray, Measure], tuple[FloatArray, FloatArray]] | None = None
    scale: str | None = None
    positive: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()
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
        """Attrs of a result: what the positive class is, a number or a text, or a list of them."""
        if not self.positive:
            return {}
        some: list[Any] = [self.texts[int(each)] if self.texts else each for each in self.positive]
        return {"positive": some[0] if len(some) == 1 else some}

    @property
    def threshold(self) -> float:
        """The one threshold; NaN where it is to be calibrated."""
        return self.thresholds[0] if self.thresholds else math.nan

    @property
    def calibrated(self) -> bool:
        """Whether its threshold is found on the scores that are judged."""
        return self.calibrate is not None and not self.thresholds

    def of_metric(self, place: int) -> Coefficient:
        """The same for one of several metrics."""
        return replace(self, thresholds=(self.thresholds[place],)) if len(self.thresholds) > 1 else self

    def of_metrics(self, places: Sequence[int]) -> Coefficient:
        """The same for some of several metrics."""
        several = len(self.thresholds) > 1
        return replace(self, thresholds=tuple(self.thresholds[place] for place in places)) if several else self

    def at(self, threshold: float) -> Coefficient:
        """The same with another threshold; NaN calibrates it."""
        thresholds = () if math.isnan(threshold) else (threshold,)
        return self if thresholds == self.thresholds else replace(self, thresholds=thresholds)

    def rescaled(self, x: FloatArray, z: FloatArray) -> Coefficient:
        """The same with its threshold as `arrays.scaled` makes the scores that it is of."""
        power = arrays.exponent(x if self.threshold_of == "metric" else z)
        return self.at(arrays.shifted(self.threshold, -power))

    def pvalue(self, x: FloatArray, z: FloatArray) -> float:
        """SciPy's two-sided p-value for "no association" of two vectors; NaN where SciPy has none.

        Kendall's test is one of C − D, so the three variants of tau share it.
        """
        if self.test is None or len(x) < 2 or np.ptp(x) == 0 or np.ptp(z) == 0:
            return math.nan
        import scipy.stats

        return float(getattr(scipy.stats, self.test)(x, z).pvalue)


@dataclass(frozen=True)
class Measure:
    """What is measured of two score matrices.

    Attributes
    ----------
    coefficient : Coefficient
    level : {"system", "input", "global", "within_system"}
    missing : {"pairwise", "available"}
    undefined : {"drop", "zero"}
    given : tuple of str
        The covariates that are held constant. Where there are some, the gold's scores come with theirs, (1 +
        covariates, systems, inputs).
    """

    coefficient: Coefficient
    level: str = "system"
    missing: str = "pairwise"
    undefined: str = "drop"
    given: tuple[str, ...] = ()

    @property
    def undefined_as_zero(self) -> bool:
        """Whether an undefined group counts as 0; a level that is one group has none to spare."""
        return self.undefined == "zero" and self.level in ("input", "within_system")

    @property
    def compared_within(self) -> str:
        """The level at which outputs are compared: that of inputs where all differences within inputs are one group."""
        return "input" if self.coefficient.within_inputs else self.level

    @property
    def own_cells(self) -> bool:
        """Whether at system level each score is averaged over all cells that it has, and not over those both have."""
        return self.missing == "available" and self.level == "system"

    @property
    def linear_in_swaps(self) -> bool:
        """Whether a difference of two metrics is a sum of signs, perhaps only where scores are not tied."""
        linear = self.coefficient.linear_in_swaps != "never" and not self.coefficient.calibrated
        return linear and self.level != "system" and not self.given

    @property
    def of_shared_means(self) -> bool:
        """Whether pairs of metrics whose scores trade places share sums of each metric's system means."""
        return self.coefficient.of_means and self.level == "system" and not self.given

    @property
    def attrs(self) -> dict[str, str]:
        """Attrs of a result."""
        settings = {"level": self.level, "missing": self.missing, "undefined": self.undefined}
        given = {"given": ", ".join(self.given)} if self.given else {}
        return {"coefficient": self.coefficient.name, **self.coefficient.positive_attrs, **settings, **given}

    def of_metric(self, place: int) -> Measure:
        """The same for one of several metrics."""
        return replace(self, coefficient=self.coefficient.of_metric(place))

    def of_metrics(self, places: Sequence[int]) -> Measure:
        """The same for some of several metrics."""
        return replace(self, coefficient=self.coefficient.of_metrics(places))

    def at(self, threshold: float) -> Measure:
        """The same with another threshold; NaN calibrates it."""
        coefficient = self.coefficient.at(threshold)
        return self if coefficient is self.coefficient else replace(self, coefficient=coefficient)

    def estimator(self, x: FloatArray, z: FloatArray) -> Estimator:
        """Make a metric's scores and the gold's, (systems, inputs), ready (Deutsch et al. 2021, §2)."""
        arrays.check_finite(x, z)
        if self.given:
            assert self.coefficient.partial is not None
            return self.coefficient.partial.estimator(x, z, self)
        assert self.coefficient.estimator is not None
        return self.coefficient.estimator(x, z, self)

    def swapped(self, scores: FloatArray, z: FloatArray, pairs: tuple[Pair, ...]) -> Sequence[Differences]:
        """Make pairs of `scores` (metrics, systems, inputs) ready to trade places, against gold `z`."""
        arrays.check_finite(scores, z)
        if self.given:
            assert self.coefficient.partial is not None
            return self.coefficient.partial.swapped(scores, z, pairs, self)
        assert self.coefficient.swapped is not None
        return self.coefficient.swapped(scores, z, pairs, self)
