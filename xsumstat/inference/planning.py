"""Expected widths of jackknife intervals in other designs, by formula."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from xsumstat.coefficients.leave_one_out import OfGroups, OfMeans, Parts
from xsumstat.coefficients.record import Measure
from xsumstat.core.types import FloatArray
from xsumstat.inference import jackknife
from xsumstat.inference.rating_plans import least_number

# Correlations are kept a step from 1.
_STEP = 1e-6


class Expected(Protocol):
    """Expectations for one metric with n systems and m inputs."""

    def variance(self, n: int, m: float) -> float:
        """Variance of the estimate; may be infinite."""
        ...

    def value(self, m: float) -> float: ...

    def bias(self, n: int) -> float: ...

    def df(self, n: int, m: float) -> float:
        """Degrees of freedom of the interval; NaN without one."""
        ...


@dataclass(frozen=True)
class FromParts:
    """From the jackknife's parts on N systems and M inputs (`shape`)."""

    # Input level: V(n, m) = (N−1)/(n−1)·[(V_s − V_c) + V_c·M/m] + P·M/m; system level: V(n, m) = V_s·v(r_m, n)/v(r_M,
    # N) + P·M/m, r_m Pearson's correlation of means over m inputs, v(r, n) the coefficient's variance for n normal
    # scores (Pearson: about (1 − r²)²/(n − 1)).

    shape: tuple[int, int]
    measure: Measure
    estimate: float
    off: float
    systems: float  # V_s
    cells: float  # V_c
    inputs: float  # P
    covariances: FloatArray  # (3, 2, 2), of the effects of metric and gold
    then: FloatArray  # the same with the planned raters

    @classmethod
    def of(cls, parts: Parts, measure: Measure, covariances: FloatArray) -> FromParts:
        assert isinstance(parts, OfMeans | OfGroups)
        both = jackknife.varying(parts.shape, ("system", "input"))
        systems = jackknife.variance(parts, ("system",))
        inputs = max(0.0, jackknife.variance(parts, both) - systems)
        cells = jackknife.noise_of_cells(parts) if isinstance(parts, OfGroups) else 0.0
        off = jackknife.bias(parts, both)
        of_data = parts.shape, measure, parts.value, off, systems, min(cells, systems), inputs
        return cls(*of_data, covariances, covariances)

    def variance(self, n: int, m: float) -> float:
        added = self.inputs * self.shape[1] / m
        if self.measure.level == "system":
            return self.systems * self._ratio((n, m), self.shape) + added
        found = self._over_systems(n, m)[0] + added
        if self.then is self.covariances:
            return found
        return found * self._ratio((n, m), (n, m))

    def _over_systems(self, n: int, m: float) -> tuple[float, float]:
        """V_s and V_c at input level."""
        factor, fewer = (self.shape[0] - 1) / (n - 1), self.shape[1] / m
        return factor * (self.systems - self.cells + self.cells * fewer), factor * self.cells * fewer

    def _ratio(self, then: tuple[int, float], now: tuple[int, float]) -> float:
        """Variance of normal scores with the planned raters over that with the present ones; NaN if constant."""
        own = _of_normal_scores(self.measure, self.covariances, *now)
        return _of_normal_scores(self.measure, self.then, *then) / own if own > 0 else math.nan

    def value(self, m: float) -> float:
        level = self.measure.level
        if level != "system" and self.then is self.covariances:
            return self.estimate
        normal = self.measure.coefficient.normal_value
        assert normal is not None
        each = FromModel(level, self.covariances).value(self.shape[1]), FromModel(level, self.then).value(m)
        return _scaled(self.estimate, self.measure, *(float(normal(np.array([r]))[0]) for r in each))

    def bias(self, n: int) -> float:
        return self.off * (self.shape[0] - 1) / (n - 1)

    def df(self, n: int, m: float) -> float:
        if self.measure.level == "system" or n < jackknife.LEAST_MEMBERS:
            return _of_systems(n)
        (own, cells), added = self._over_systems(n, m), self.inputs * self.shape[1] / m
        return _of_few_inputs(n, m, own + added, own, cells + added)


@dataclass(frozen=True)
class OfTheseSystems:
    """For these systems on other inputs: the jackknife over inputs, scaled by their number."""

    shape: tuple[int, int]
    measure: Measure
    estimate: float
    off: float
    spread: float
    covariances: FloatArray
    then: FloatArray

    @classmethod
    def of(cls, parts: Parts, measure: Measure, covariances: FloatArray) -> OfTheseSystems:
        spread, off = (each(parts, ("input",)) for each in (jackknife.variance, jackknife.bias))
        return cls(parts.shape, measure, parts.value, off, spread, covariances, covariances)

    def variance(self, n: int, m: float) -> float:
        """Variance of the estimate for m inputs, whatever n is; NaN if scores are constant."""
        if self._as_it_is:
            return self.spread * self.shape[1] / m
        own = self._of_inputs(self.covariances, self.shape[1])[1]
        return self.spread * self._of_inputs(self.then, m)[1] / own if own > 0 else math.nan

    def value(self, m: float) -> float:
        if self._as_it_is:
            return self.estimate
        own, then = self._of_inputs(self.covariances, self.shape[1])[0], self._of_inputs(self.then, m)[0]
        return _scaled(self.estimate, self.measure, own, then)

    @property
    def _as_it_is(self) -> bool:
        """Whether more inputs only change the number of averaged values."""
        return self.measure.level != "system" and self.then is self.covariances

    def _of_inputs(self, covariances: FloatArray, m: float) -> tuple[float, float]:
        """The coefficient of normal scores with m inputs, and (up to a factor) its variance over inputs."""
        # System means: (1 − r_m²)·(a + b − 2·r_m·d)/m; a, b, d are the cells' variances and covariance over the
        # variances of means and their geometric mean. Input level: as of so few systems, less the share c common to
        # inputs.
        model, coefficient = FromModel(self.measure.level, covariances), self.measure.coefficient
        assert coefficient.normal_value is not None and coefficient.normal_sample is not None
        r = model.value(m)
        value = float(coefficient.normal_value(np.array([r]))[0])
        if self.measure.level == "system":
            system, _, cell = covariances
            sd = np.sqrt(np.diag(system + cell / m))
            if not sd.all():  # a score that does not vary has no correlation
                return value, math.nan
            noise = cell / np.outer(sd, sd)
            return value, float((1 - r**2) * (noise[0, 0] + noise[1, 1] - 2 * r * noise[0, 1]) / m)
        if self.measure.level == "input" and self.shape[0] > 1:
            value, spread = coefficient.normal_sample(r, self.shape[0])
            return value, spread * max(_STEP, 1 - model.shared() / (1 - r**2) ** 2) / m
        return value, (1 - r**2) ** 2 / m

    def bias(self, n: int) -> float:
        return 0.0

    def df(self, n: int, m: float) -> float:
        return m - 1


@dataclass(frozen=True)
class FromModel:
    """Pearson's r of normal scores with known covariances; no data are needed."""

    # Input level: c = 2·tr(QRQR), Q = [[−ρ/2, ½], [½, −ρ/2]], R the systems' covariance over the SDs within an input.

    level: str
    covariances: FloatArray

    def variance(self, n: int, m: float) -> float:
        if self.level == "system":
            return float((1 - self.value(m) ** 2) ** 2 / (n - 1))
        c = self.shared()
        return (c + ((1 - self.value(m) ** 2) ** 2 - c) / m) / (n - 1)

    def shared(self) -> float:
        """The part of an input-level variance common to inputs, because systems' effects are the same in all."""
        system, _, cell = self.covariances
        within = np.sqrt(np.diag(system + cell))
        if not within.all():
            return math.nan
        rho = self.value(1)
        q = np.array([[-rho / 2, 0.5], [0.5, -rho / 2]])
        turned = q @ (system / np.outer(within, within))
        return 2 * float(np.trace(turned @ turned))

    def value(self, m: float) -> float:
        system, of_input, cell = self.covariances
        by_level = {
            "system": lambda: system + cell / m,
            "input": lambda: system + cell,
            "within_system": lambda: of_input + cell,
            "global": lambda: system + of_input + cell,
        }
        return _correlation(by_level[self.level]())

    def bias(self, n: int) -> float:
        return 0.0

    def df(self, n: int, m: float) -> float:
        if self.level == "system" or n < jackknife.LEAST_MEMBERS:
            return _of_systems(n)
        whole = self.variance(n, m)
        return _of_few_inputs(n, m, whole, whole, whole - self.shared() / (n - 1))


def _of_systems(n: int) -> float:
    return float(n - 1) if n >= jackknife.LEAST_MEMBERS else math.nan


def _of_few_inputs(n: int, m: float, whole: float, own: float, of_inputs: float) -> float:
    """As `jackknife.of_few_inputs`."""
    if m < jackknife.LEAST_GROUPS:
        return math.nan
    if m >= n or not whole > 0:
        return float(n - 1)
    return min(float(n - 1), jackknife.satterthwaite(whole, (own, n - 1), (of_inputs, m - 1)))


def with_noises(base: FromParts | OfTheseSystems, now: float, then: float) -> FromParts | OfTheseSystems:
    """The same where the human scores' cells have another variance `now`, and `then` in the planned designs."""
    each = []
    for noise in (now, then):
        covariances = base.covariances.copy()
        covariances[2, 1, 1] = noise
        each.append(covariances)
    return replace(base, covariances=each[0], then=each[1])


def _of_normal_scores(measure: Measure, covariances: FloatArray, n: int, m: float) -> float:
    """Variance of a coefficient of normal scores; input level ``v·(f + (1 − f)/m)``, f the share common to inputs."""
    model, sample = FromModel(measure.level, covariances), measure.coefficient.normal_sample
    assert sample is not None
    r = model.value(m)
    found = sample(r, n)[1]
    if measure.level == "system":
        return found
    common = model.shared() / (1 - r**2) ** 2
    return found * (common + (1 - common) / m)


def _scaled(estimate: float, measure: Measure, now: float, then: float) -> float:
    """A correlation changed as that of normal scores, about 0, or 1/2 for shares."""
    low, high = measure.coefficient.bounds
    middle = (low + high) / 2
    value = middle + (estimate - middle) * ((then - middle) / (now - middle) if now != middle else 1.0)
    return value if math.isnan(value) else min(high - _STEP, max(low + _STEP, value))


def _correlation(covariance: FloatArray) -> float:
    scale = math.sqrt(max(0.0, covariance[0, 0] * covariance[1, 1]))
    return float(np.clip(covariance[0, 1] / scale, -1 + _STEP, 1 - _STEP)) if scale > 0 else math.nan


def interval(
    expected: Expected, n: int, m: float, confidence_level: float, *, scale: float = 1.0, variance: float | None = None
) -> tuple[float, float, float]:
    """Expected jackknife interval for n systems and m inputs, and its standard error."""
    df = expected.df(n, m)
    if not df >= 1:
        return math.nan, math.nan, math.nan
    variance = expected.variance(n, m) if variance is None else variance
    if math.isnan(variance):
        return math.nan, math.nan, math.nan
    error = math.sqrt(max(0.0, variance))
    value, off = scale * expected.value(m) - (scale - 1), scale * expected.bias(n)
    found = jackknife.bounded(value, off, scale * error, df, jackknife.NOTHING)
    low, high = found.interval(confidence_level)
    return (low + scale - 1) / scale, (high + scale - 1) / scale, error


def width(expected: Expected, n: int, m: float, confidence_level: float, *, scale: float = 1.0) -> float:
    low, high, _ = interval(expected, n, m, confidence_level, scale=scale)
    return high - low


def least_inputs(
    expected: Expected, n: int, target: float, confidence_level: float, *, scale: float = 1.0, most: int = 1_000_000
) -> float:
    """Least number of inputs with an interval as narrow as `target`; NaN where none is."""

    def wide(m: int) -> bool:
        return not width(expected, n, m, confidence_level, scale=scale) <= target

    tried = np.unique(np.geomspace(1, most, 200).astype(int)).tolist()
    narrow = next((at for at, m in enumerate(tried) if not wide(m)), None)
    if narrow is None:
        return math.nan
    low, high = (tried[narrow - 1] if narrow else 0), tried[narrow]
    return least_number(lambda m: not wide(m), low + 1, high)
