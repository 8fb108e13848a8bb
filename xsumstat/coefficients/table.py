"""The table of coefficients, one row for each."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from xsumstat.coefficients import (
    bitset_kendall,
    chance,
    correlation_parts,
    correlation_swaps,
    correlations,
    function,
    normal_samples,
    pair_differences,
    partial_swaps,
    rank_swaps,
    soft_accuracy,
    tau_with_ties,
    tie_swaps,
    ties,
    values,
)
from xsumstat.coefficients import partial as partials
from xsumstat.coefficients.record import Coefficient, LeaveOneOut, MakeEstimator, MakeSwapped, Partial
from xsumstat.core import validate
from xsumstat.core.types import CorrelationFunction, FloatArray
from xsumstat.kernels import correlation as kernels


def _same(r: Any) -> Any:
    return np.asarray(r)


def _rho(r: Any) -> FloatArray:
    return np.asarray(6 / np.pi * np.arcsin(r / 2))


def _r_of_rho(rho: float) -> float:
    return 2 * math.sin(math.pi * rho / 6)


def _tau(r: Any) -> FloatArray:
    return np.asarray(2 / np.pi * np.arcsin(r))


def _r_of_tau(tau: float) -> float:
    return math.sin(math.pi * tau / 2)


def _accuracy(r: Any) -> FloatArray:
    return np.asarray(0.5 + np.arcsin(r) / np.pi)


def _pearson_factor(r: float) -> float:
    return 1.0


def _spearman_factor(r: float) -> float:
    return math.sqrt(1 + r * r / 2)


def _kendall_factor(r: float) -> float:
    return math.sqrt(0.437)


def _pearson_step(n: int) -> float:
    return 1e-12


def _spearman_step(n: int) -> float:
    return 6 / (n**3 - n)


def _kendall_step(n: int) -> float:
    return 2 / (n**2 - n)


# b and c of Fisher's interval.
_FISHER_SPEARMAN, _FISHER_KENDALL = (3, _spearman_factor), (4, _kendall_factor)


def _by_kind(kind: int, off_system: MakeSwapped | None = None) -> dict[str, Any]:
    ready: MakeEstimator = partial(correlations.estimator, kind=kind)
    ranks: MakeSwapped = partial(rank_swaps.swapped, kind=kind)
    swapped = partial(correlation_swaps.swapped, kind=kind, off_system=off_system or ranks)
    step, fisher = {
        kernels.PEARSON: (_pearson_step, None),
        kernels.SPEARMAN: (_spearman_step, _FISHER_SPEARMAN),
    }.get(kind, (_kendall_step, _FISHER_KENDALL))
    parts = partial(correlation_parts.by_kind, kind=kind)
    without = LeaveOneOut(parts, step, fisher, of_ranks=kind != kernels.PEARSON)
    return {"estimator": ready, "swapped": swapped, "leave_one_out": without, "of_means": True}


def _of_many(kind: int) -> dict[str, Any]:
    """What Kendall-type coefficients have besides: close pairs of systems, and many pairs of metrics."""
    return {
        "close": partial(correlations.close_pairs, kind=kind),
        "of_pairs": partial(bitset_kendall.of_pairs, kind=kind),
    }


def _given(kind: int) -> Partial:
    return Partial(
        partial(partials.estimator, kind=kind),
        partial(partial_swaps.swapped, kind=kind),
        partial(partials.parts, kind=kind),
        partial(partials.pvalue, kind=kind),
    )


# Levels of what is said of single outputs: systems' means are no classes.
_OF_CELLS = ("input", "global", "within_system")
_KENDALL: dict[str, Any] = {"test": "kendalltau", "normal_value": _tau, "normal_sample": normal_samples.of_tau}
# Decisions between two outputs, some with ties up to a threshold.
_DECISIONS: dict[str, Any] = {
    "of_means": True,
    "linear_in_swaps": "always",
    "symmetric": False,
    "of_constants": True,
}
_TIES: dict[str, Any] = {**_DECISIONS, "threshold_of": "metric", "copies_agree": True}

_ROWS = (
    Coefficient(
        "pearson",
        "Pearson's r",
        **_by_kind(kernels.PEARSON, correlation_swaps.moments),
        fisher=(3, _pearson_factor),
        partial=_given(kernels.PEARSON),
        test="pearsonr",
        normal_value=_same,
        normal_r=_same,
        normal_sample=normal_samples.of_pearson,
    ),
    Coefficient(
        "spearman",
        "Spearman's ρ",
        **_by_kind(kernels.SPEARMAN),
        linear_in_swaps="untied",
        fisher=_FISHER_SPEARMAN,
        partial=_given(kernels.SPEARMAN),
        test="spearmanr",
        normal_value=_rho,
        normal_r=_r_of_rho,
        normal_sample=normal_samples.of_rho,
    ),
    Coefficient(
        "kendall",
        "Kendall's τ-b",
        **_by_kind(kernels.KENDALL),
        linear_in_swaps="untied",
        fisher=_FISHER_KENDALL,
        partial=_given(kernels.KENDALL),
        **_KENDALL,
        normal_r=_r_of_tau,
        **_of_many(kernels.KENDALL),
    ),
    Coefficient(
        "kendall_a",
        "Kendall's τ-a",
        **_by_kind(kernels.KENDALL_A),
        linear_in_swaps="always",
        **_KENDALL,
        normal_r=_r_of_tau,
        **_of_many(kernels.KENDALL_A),
    ),
    Coefficient(
        "kendall_c",
        "Kendall's τ-c",
        **_by_kind(kernels.KENDALL_C),
        linear_in_swaps="untied",
        **_KENDALL,
    ),
    Coefficient(
        "pairwise_accuracy",
        "pairwise accuracy",
        bounds=(0.0, 1.0),
        **_by_kind(kernels.ACCURACY),
        linear_in_swaps="always",
        of_constants=True,
        normal_value=_accuracy,
        normal_sample=normal_samples.of_accuracy,
        **_of_many(kernels.ACCURACY),
        poolable=True,
        chance=chance.of_order,
    ),
    Coefficient(
        "acc_eq",
        "accuracy with ties",
        bounds=(0.0, 1.0),
        estimator=ties.accuracy_with_ties,
        swapped=tie_swaps.accuracy_with_ties,
        **_TIES,
        calibrate=ties.calibrate,
        swapped_decisions=tie_swaps.decisions,
        chance=chance.of_order_and_ties,
    ),
    Coefficient(
        "tau_eq",
        "τ with ties",
        estimator=tau_with_ties.estimator,
        swapped=tau_with_ties.swapped,
        **_TIES,
        calibrate=tau_with_ties.calibrate,
        swapped_decisions=tau_with_ties.decisions,
        chance=chance.of_order_and_ties_as_tau,
    ),
    Coefficient(
        "kendall_like",
        "WMT's τ",
        estimator=ties.like_wmt,
        swapped=partial(correlation_swaps.swapped, kind=kernels.KENDALL_LIKE, off_system=tie_swaps.like_wmt),
        **_DECISIONS,
        threshold_of="gold",
        thresholds=(25.0,),
        chance=chance.like_wmt,
    ),
    Coefficient(
        "spa",
        "soft pairwise accuracy",
        bounds=(0.0, 1.0),
        levels=("system",),
        estimator=soft_accuracy.estimator,
        swapped=soft_accuracy.swapped,
        of_constants=True,
        chance=chance.soft,
    ),
    Coefficient(
        "pdp",
        "pairwise difference Pearson",
        levels=("global",),
        estimator=pair_differences.estimator,
        swapped=pair_differences.swapped,
        leave_one_out=LeaveOneOut(pair_differences.parts, _pearson_step, of_ranks=False),
        within_inputs=True,
    ),
    Coefficient(
        "accuracy",
        "accuracy",
        bounds=(0.0, 1.0),
        levels=_OF_CELLS,
        of_constants=True,
        **values.row(values.accuracy, "classes", _pearson_step, "all"),
    ),
    Coefficient(
        "kappa",
        "Cohen's κ",
        levels=_OF_CELLS,
        of_constants=True,
        **values.row(values.kappa, "classes", _pearson_step),
    ),
    Coefficient(
        "weighted_kappa",
        "quadratically weighted κ",
        of_constants=True,
        **values.row(values.weighted_kappa, "values", _pearson_step),
    ),
    Coefficient(
        "icc",
        "ICC(A,1)",
        of_constants=True,
        **values.row(values.icc, "values", _pearson_step),
    ),
    Coefficient(
        "mcc",
        "Matthews' correlation",
        levels=_OF_CELLS,
        **values.row(values.mcc, "classes", _pearson_step),
    ),
    Coefficient(
        "f1",
        "F1",
        bounds=(0.0, 1.0),
        levels=_OF_CELLS,
        of_constants=True,
        **values.row(values.f1, "two", _pearson_step),
    ),
    Coefficient(
        "sensitivity",
        "sensitivity",
        bounds=(0.0, 1.0),
        levels=_OF_CELLS,
        of_constants=True,
        symmetric=False,
        **values.row(values.sensitivity, "two", _pearson_step, "positive"),
    ),
    Coefficient(
        "specificity",
        "specificity",
        bounds=(0.0, 1.0),
        levels=_OF_CELLS,
        of_constants=True,
        symmetric=False,
        **values.row(values.specificity, "two", _pearson_step, "negative"),
    ),
)

COEFFICIENTS = {record.name: record for record in _ROWS}
# Other names of a row, which results do not use.
ALIASES = {"ccc": "weighted_kappa"}
# Those that a model of the scores has a true value of, whatever the number of systems and inputs.
OF_POPULATIONS = tuple(record.name for record in _ROWS if record.normal_value is not None)


def get(coefficient: str | CorrelationFunction) -> Coefficient:
    """The record of a coefficient given by name or as a function of two 1-D arrays."""
    asked = ALIASES.get(coefficient, coefficient) if isinstance(coefficient, str) else coefficient
    value = validate.coefficient_function(asked, COEFFICIENTS)
    return COEFFICIENTS[value] if isinstance(value, str) else function.coefficient(value)
