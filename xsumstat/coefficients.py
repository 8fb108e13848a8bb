"""The correlation coefficients: frozen records of what each one is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from xsumstat import _kernels, _validate

FloatArray = npt.NDArray[np.float64]
CorrelationFunction = Callable[[FloatArray, FloatArray], float]


@dataclass(frozen=True)
class Coefficient:
    """One coefficient.

    Attributes
    ----------
    name : str
        What users type, and what results say.
    kind : int or None
        Its number in the kernels; None for a user's function.
    function : callable or None
        A user's ``f(x, z) -> float`` of two 1-D arrays; None for ours.
    fisher : tuple or None
        ``b`` and ``c(r)`` of the Fisher interval ``tanh(arctanh r ± q·c/√(n − b))`` (Bonett & Wright
        2000); None where there is none.
    test : str or None
        The function of ``scipy.stats`` whose p-value belongs to it; None where there is none.
    symmetric : bool
        Whether the two scores may change places.
    of_constants : bool
        Whether it is defined for a metric that is constant.
    thresholds : tuple of float
        For "acc_eq" how far apart a metric's scores may be and count as tied, for "kendall_like" how far apart gold
        scores must be: one for all metrics, or one for each. Empty: to be calibrated.
    """

    name: str
    kind: int | None
    function: CorrelationFunction | None = None
    fisher: tuple[int, Callable[[float], float]] | None = None
    test: str | None = None
    symmetric: bool = True
    of_constants: bool = False
    thresholds: tuple[float, ...] = ()

    @property
    def threshold(self) -> float:
        """The one threshold; NaN where it is to be calibrated."""
        return self.thresholds[0] if self.thresholds else math.nan

    def of_metric(self, place: int) -> Coefficient:
        """The same for one of several metrics."""
        return replace(self, thresholds=(self.thresholds[place],)) if len(self.thresholds) > 1 else self

    def at(self, threshold: float) -> Coefficient:
        """The same with another threshold; NaN calibrates it."""
        return replace(self, thresholds=() if math.isnan(threshold) else (threshold,))

    def __call__(self, x: FloatArray, z: FloatArray) -> float:
        """Value of a user's function, which must be a number."""
        assert self.function is not None
        value = self.function(x, z)
        try:
            return float(value)
        except (TypeError, ValueError) as error:
            meant = next((record.name for record in _RECORDS if record.test == self.name), None)
            hint = f"; did you mean coefficient={meant!r}?" if meant else ""
            raise TypeError(
                f"coefficient {self.name!r} must return a number, it returned {type(value).__name__}{hint}"
            ) from error

    def pvalue(self, x: FloatArray, z: FloatArray) -> float:
        """SciPy's two-sided p-value for "no association" of two vectors; NaN where SciPy has none.

        Kendall's test is one of C − D, so the three variants of tau share it.
        """
        if self.test is None or len(x) < 2 or np.ptp(x) == 0 or np.ptp(z) == 0:
            return math.nan
        import scipy.stats

        return float(getattr(scipy.stats, self.test)(x, z).pvalue)


def _pearson_factor(r: float) -> float:
    return 1.0


def _spearman_factor(r: float) -> float:
    return math.sqrt(1 + r * r / 2)


def _kendall_factor(r: float) -> float:
    return math.sqrt(0.437)


_RECORDS = (
    Coefficient("pearson", _kernels.PEARSON, fisher=(3, _pearson_factor), test="pearsonr"),
    Coefficient("spearman", _kernels.SPEARMAN, fisher=(3, _spearman_factor), test="spearmanr"),
    Coefficient("kendall", _kernels.KENDALL, fisher=(4, _kendall_factor), test="kendalltau"),
    Coefficient("kendall_a", _kernels.KENDALL_A, test="kendalltau"),
    Coefficient("kendall_c", _kernels.KENDALL_C, test="kendalltau"),
    Coefficient("pairwise_accuracy", _kernels.ACCURACY, of_constants=True),
    Coefficient("acc_eq", _kernels.ACC_EQ, symmetric=False, of_constants=True),
    Coefficient("kendall_like", _kernels.KENDALL_LIKE, symmetric=False, of_constants=True, thresholds=(25.0,)),
    Coefficient("spa", _kernels.SOFT, of_constants=True),
)

COEFFICIENTS = {record.name: record for record in _RECORDS}
# Those that a model of the scores has a true value of, whatever the number of systems and inputs.
OF_POPULATIONS = tuple(name for name, each in COEFFICIENTS.items() if each.symmetric and name != "spa")


def get(coefficient: str | CorrelationFunction) -> Coefficient:
    """The record of a coefficient given by name or as a function of two 1-D arrays."""
    value = _validate.coefficient_function(coefficient, COEFFICIENTS)
    if isinstance(value, str):
        return COEFFICIENTS[value]
    return Coefficient(getattr(value, "__name__", type(value).__name__), None, function=value)
