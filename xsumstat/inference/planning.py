"""How wide jackknife intervals will be in other designs, by formula; plain numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from xsumstat.coefficients.leave_one_out import OfGroups, OfMeans, Parts
from xsumstat.coefficients.record import Measure
from xsumstat.inference import jackknife
from xsumstat.types import FloatArray

# Correlations are kept a step from 1.
_STEP = 1e-6


class Expected(Protocol):
    """What is expected of one metric in any design."""

    def variance(self, n: int, m: float) -> float:
        """The variance of the estimate for n systems and m inputs, which may be infinite."""
        ...

    def value(self, m: float) -> float:
        """The correlation with m inputs."""
        ...

    def bias(self, n: int) -> float:
        """By how much the estimate errs with n systems."""
        ...


@dataclass(frozen=True)
class FromParts:
    """From the jackknife's parts on N systems and M inputs.

    At input level ``V(n, m) = (N−1)/(n−1)·[(V_s − V_c) + V_c·M/m] + P·M/m``, at system level
    ``V(n, m) = (N−1)/(n−1)·V_s·((1 − r_m²)/(1 − r_M²))² + P·M/m``: r_m is Pearson's correlation of means over m inputs.

    Attributes
    ----------
    shape : (int, int)
        N and M.
    measure : Measure
    estimate, off : float
        Of the data, and its bias.
    systems, cells, inputs : float
        V_s, V_c (0 at system level) and P.
    covariances : array (3, 2, 2)
        Of the effects of systems, inputs and cells of the metric and the gold.
    """

    shape: tuple[int, int]
    measure: Measure
    estimate: float
    off: float
    systems: float
    cells: float
    inputs: float
    covariances: FloatArray

    @classmethod
    def of(cls, parts: Parts, measure: Measure, covariances: FloatArray) -> FromParts:
        """From what leaving out labels gave."""
        assert isinstance(parts, OfMeans | OfGroups)
        both = jackknife.varying(parts.shape, ("system", "input"))
        systems = jackknife.variance(parts, ("system",))
        inputs = max(0.0, jackknife.variance(parts, both) - systems)
        cells = jackknife.noise_of_cells(parts) if isinstance(parts, OfGroups) else 0.0
        off = jackknife.bias(parts, both)
        return cls(parts.shape, measure, parts.value, off, systems, min(cells, systems), inputs, covariances)

    def _factor(self, n: int) -> float:
        return (self.shape[0] - 1) / (n - 1)

    def variance(self, n: int, m: float) -> float:
        """The variance of the estimate for n systems and m inputs, which may be infinite."""
        fewer = self.shape[1] / m
        if self.measure.level == "input":
            return self._factor(n) * (self.systems - self.cells + self.cells * fewer) + self.inputs * fewer
        ratio = ((1 - self.of_means(m) ** 2) / (1 - self.of_means(self.shape[1]) ** 2)) ** 2
        return self._factor(n) * self.systems * ratio + self.inputs * fewer

    def of_means(self, m: float) -> float:
        """Pearson's correlation of means over m inputs, from the components."""
        system, _, cell = self.covariances
        return _correlation(system + cell / m)

    def value(self, m: float) -> float:
        """The correlation with m inputs."""
        if self.measure.level != "system":
            return self.estimate
        return self.scaled(self.of_means(m))

    def scaled(self, r: float) -> float:
        """The correlation where Pearson's is r in the place of what the components say of the data."""
        own = FromModel(self.measure.level, self.covariances).value(self.shape[1])
        normal, (low, high) = self.measure.coefficient.normal_value, self.measure.coefficient.bounds
        assert normal is not None
        now, then = (float(normal(np.array([each]))[0]) for each in (own, r))
        middle = (low + high) / 2
        value = middle + (self.estimate - middle) * ((then - middle) / (now - middle) if now != middle else 1.0)
        return min(high - _STEP, max(low + _STEP, value))

    def bias(self, n: int) -> float:
        """By how much the estimate errs with n systems."""
        return self.off * self._factor(n)


@dataclass(frozen=True)
class WithNoise:
    """The same where the gold has another noise of cells: of more raters or fewer.

    Attributes
    ----------
    base : FromParts
    covariances : array (3, 2, 2)
        As those of `base`, with the other noise. What `base` expects is scaled as that of normal scores is.
    """

    base: FromParts
    covariances: FloatArray

    @property
    def _models(self) -> tuple[FromModel, FromModel]:
        level = self.base.measure.level
        return FromModel(level, self.covariances), FromModel(level, self.base.covariances)

    def variance(self, n: int, m: float) -> float:
        """The variance of the estimate for n systems and m inputs, which may be infinite."""
        then, now = self._models
        return self.base.variance(n, m) * then.variance(n, m) / now.variance(n, m)

    def value(self, m: float) -> float:
        """The correlation with m inputs."""
        return self.base.scaled(self._models[0].value(m))

    def bias(self, n: int) -> float:
        """By how much the estimate errs with n systems."""
        return self.base.bias(n)


@dataclass(frozen=True)
class FromModel:
    """Of Pearson's r of normal scores whose covariances are known: no data are needed.

    At system level ``(1 − r_m²)²/(n − 1)``, at input level ``[c + ((1 − ρ²)² − c)/m]/(n − 1)`` with ``c = 2·tr(QRQR)``,
    ``Q = [[−ρ/2, ½], [½, −ρ/2]]`` and R the systems' covariance over the standard deviations within an input.
    """

    level: str
    covariances: FloatArray

    def variance(self, n: int, m: float) -> float:
        """The variance of the estimate for n systems and m inputs, which may be infinite."""
        if self.level == "system":
            return float((1 - self.value(m) ** 2) ** 2 / (n - 1))
        system, _, cell = self.covariances
        within = np.sqrt(np.diag(system + cell))
        rho = self.value(m)
        q = np.array([[-rho / 2, 0.5], [0.5, -rho / 2]])
        turned = q @ (system / np.outer(within, within))
        c = 2 * float(np.trace(turned @ turned))
        return (c + ((1 - rho**2) ** 2 - c) / m) / (n - 1)

    def value(self, m: float) -> float:
        """The correlation with m inputs."""
        system, _, cell = self.covariances
        return _correlation(system + cell / (m if self.level == "system" else 1.0))

    def bias(self, n: int) -> float:
        """By how much the estimate errs with n systems: it is not known."""
        return 0.0


def _correlation(covariance: FloatArray) -> float:
    scale = math.sqrt(max(0.0, covariance[0, 0] * covariance[1, 1]))
    return float(np.clip(covariance[0, 1] / scale, -1 + _STEP, 1 - _STEP)) if scale > 0 else math.nan


def interval(
    expected: Expected, n: int, m: float, confidence_level: float, *, scale: float = 1.0, variance: float | None = None
) -> tuple[float, float, float]:
    """The jackknife interval that is expected of n systems and m inputs, and its standard error.

    `scale` is 2 for shares from 0 to 1, whose limits are had on the scale 2p − 1; `variance` takes the place of the
    expected one.
    """
    if n < jackknife.LEAST_MEMBERS:
        return math.nan, math.nan, math.nan
    error = math.sqrt(max(0.0, expected.variance(n, m) if variance is None else variance))
    value, off = scale * expected.value(m) - (scale - 1), scale * expected.bias(n)
    found = jackknife.bounded(value, off, scale * error, n - 1, jackknife.NOTHING)
    low, high = found.interval(confidence_level)
    return (low + scale - 1) / scale, (high + scale - 1) / scale, error


def width(expected: Expected, n: int, m: float, confidence_level: float, *, scale: float = 1.0) -> float:
    """How wide it is."""
    low, high, _ = interval(expected, n, m, confidence_level, scale=scale)
    return high - low


def least_inputs(
    expected: Expected, n: int, target: float, confidence_level: float, *, scale: float = 1.0, most: int = 1_000_000
) -> float:
    """The least number of inputs with which the interval is as narrow as `target`; NaN where none is.

    Widths need not fall with the inputs: where cells correlate more than systems, means of more inputs correlate less.
    """

    def wide(m: int) -> bool:
        return not width(expected, n, m, confidence_level, scale=scale) <= target

    tried = np.unique(np.geomspace(1, most, 200).astype(int)).tolist()
    narrow = next((at for at, m in enumerate(tried) if not wide(m)), None)
    if narrow is None:
        return math.nan
    low, high = (tried[narrow - 1] if narrow else 0), tried[narrow]
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if wide(middle) else (low, middle)
    return float(high)
