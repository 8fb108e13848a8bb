"""The correlation coefficients: frozen records of what each one is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

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
    """

    name: str
    kind: int | None
    function: CorrelationFunction | None = None
    fisher: tuple[int, Callable[[float], float]] | None = None
    test: str | None = None

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
    Coefficient("pairwise_accuracy", _kernels.ACCURACY),
)

COEFFICIENTS = {record.name: record for record in _RECORDS}


def get(coefficient: str | CorrelationFunction) -> Coefficient:
    """The record of a coefficient given by name or as a function of two 1-D arrays."""
    value = _validate.coefficient_function(coefficient, COEFFICIENTS)
    if isinstance(value, str):
        return COEFFICIENTS[value]
    return Coefficient(getattr(value, "__name__", type(value).__name__), None, function=value)
