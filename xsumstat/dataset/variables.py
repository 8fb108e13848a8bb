"""The table of the variables that results hold, and the table of the analyses."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Variable:
    """What a variable of results is.

    Attributes
    ----------
    long_name : str
        What it is, for attrs and axes.
    units : str
        "1" for a plain number, "score" for one in the scores' units, "score²" for one in their square.
    dtype : type
    turned : str
        What becomes of it where the two metrics of a pair change places: "same", "negated", or the name of the variable
        whose negated value it takes, as that of the other limit.
    """

    long_name: str
    units: str = "1"
    dtype: type = float
    turned: str = "same"

    @property
    def blank(self) -> Any:
        """Its value where there is nothing, as where a metric meets itself."""
        return {float: np.nan, int: 0, bool: False}[self.dtype]


VARIABLES: dict[str, Variable] = {
    "correlation": Variable("correlation with gold"),
    "difference": Variable("difference of correlations", turned="negated"),
    "ci_low": Variable("lower confidence limit", turned="ci_high"),
    "ci_high": Variable("upper confidence limit", turned="ci_low"),
    "standard_error": Variable("standard error"),
    "bias": Variable("estimated bias", turned="negated"),
    "df": Variable("degrees of freedom"),
    "n_undefined": Variable("number of resamples, or values without one label, that are undefined", dtype=int),
    "fell_back": Variable("whether another interval stands in", dtype=bool),
    "samples": Variable("resampled value", turned="negated"),
    "threshold": Variable("threshold of a tie", "score"),
    "baseline": Variable("expected value of a random metric"),
    "baseline_constant": Variable("value of a constant metric"),
    "pairs_used": Variable("share of the pairs of outputs that count"),
    # tests
    "pvalue": Variable("p-value"),
    "pvalue_adjusted": Variable("corrected p-value"),
    "significant": Variable("whether the test is significant", dtype=bool),
    "statistic": Variable("test statistic", turned="negated"),
    "exact": Variable("whether the p-value was computed to rounding", dtype=bool),
    "rank": Variable("rank, 1 is best", dtype=int),
    "cluster": Variable("cluster of metrics without significant differences, 1 is best", dtype=int),
    # equivalence
    "margin": Variable("margin of equivalence"),
    "equivalent": Variable("whether the difference lies within the margin", dtype=bool),
    "share": Variable("share"),
    "n_tests": Variable("number of tests", dtype=int),
    "probability": Variable("probability that the metric is better"),
    "resolved": Variable("whether the order is resolved", dtype=bool),
    "probability_shift": Variable("change of the probability"),
    "mean_shift": Variable("mean change of the probability"),
    # tasks
    "task_rank": Variable("rank within the task, 1 is best", dtype=int),
    "task_cluster": Variable("cluster within the task, 1 is best", dtype=int),
    "weight": Variable("weight of the task"),
    "average_score": Variable("average score over tasks"),
    "average_rank": Variable("average rank over tasks"),
    # systems
    "n_inputs": Variable("number of inputs", dtype=int),
    "n_significant": Variable("number of significant tests", dtype=int),
    "mean_rank": Variable("mean rank of the input's scores"),
    "n_scores": Variable("number of scores", dtype=int),
    "n_distinct": Variable("number of distinguishable inputs", dtype=int),
    "critical": Variable("critical difference of mean ranks"),
    "f1": Variable("support-weighted F1 of verdicts"),
    "is_group": Variable("whether the covariate is a group", dtype=bool),
    "slope": Variable("bias in standard deviations of the metric"),
    "accuracy": Variable("share of verdicts that agree"),
    "confusion": Variable("number of pairs of systems", dtype=int),
    "win_share": Variable("share of resamples in which the system is better by the metric"),
    "gold_win_share": Variable("share of resamples in which the system is better by gold"),
    "gap_low": Variable("smallest difference of means by the metric", "score"),
    "gap_high": Variable("largest difference of means by the metric", "score"),
    "n_pairs": Variable("number of pairs", dtype=int),
    "mean": Variable("mean human score", "score"),
    "human_mean": Variable("mean of the ratings alone", "score"),
    "human_ci_low": Variable("lower limit from the ratings alone", "score"),
    "human_ci_high": Variable("upper limit from the ratings alone", "score"),
    "n_rated": Variable("number of rated inputs", dtype=int),
    "n_effective": Variable("rated inputs times the ratio of variances without and with the metric"),
    "rated_difference": Variable("mean metric score of rated inputs less that of the others", "score"),
    "rated_pvalue": Variable("p-value of no difference of rated inputs from the others"),
    "clipped": Variable("whether the scale cut a limit", dtype=bool),
    # outputs
    "ratio": Variable("better by all / better by some"),
    "n_outputs": Variable("number of outputs", dtype=int),
    "n_best": Variable("number of outputs that none improves on", dtype=int),
    "whole": Variable("correlation on the whole range"),
    "part": Variable("correlation within the range"),
    "expected": Variable("expected drop"),
    "expected_low": Variable("lower limit of the expected drop"),
    "expected_high": Variable("upper limit of the expected drop"),
    "excess": Variable("drop beyond the expected one"),
    "excess_pvalue": Variable("p-value of the excess"),
    # raters
    "alpha": Variable("Krippendorff's alpha"),
    "advantage": Variable("share of items on which the judge is at least as near"),
    "human_advantage": Variable("share of items on which the rater is at least as near"),
    "advantage_probability": Variable("mean share of items on which the judge is at least as near"),
    "winning_rate": Variable("share of raters that the judge may replace"),
    "n_items": Variable("number of items", dtype=int),
    "by_rater": Variable("correlation with the mean of the other raters"),
    "difference_low": Variable("lower limit of the difference"),
    "difference_high": Variable("upper limit of the difference"),
    # variances
    "variance": Variable("variance of the effects", "score²"),
    "covariance": Variable("covariance of the effects", "score²"),
    "covariance_error": Variable("standard error of the covariance", "score²"),
    "reliability": Variable("reliability of system means"),
    # diagnostics and simulation
    "share_rejected": Variable("share of groups that reject normality"),
    "coordinate": Variable("coordinate on the component"),
    "explained": Variable("share of variance explained"),
    "n_cells": Variable("number of cells", dtype=int),
    "truth": Variable("true correlation"),
    "truth_error": Variable("Monte-Carlo error of the true correlation"),
    "coverage": Variable("coverage"),
    "width": Variable("mean width of the intervals"),
    "relative_width": Variable("mean width / that of an interval of the true standard deviation"),
    "misses_low": Variable("share of intervals below the truth"),
    "misses_high": Variable("share of intervals above the truth"),
    "power": Variable("power"),
    "floor": Variable("width with any number of inputs"),
    "width_low": Variable("lower limit of the width"),
    "width_high": Variable("upper limit of the width"),
    "least_inputs": Variable("least number of inputs that reaches the target"),
    "simulated": Variable("whether it was simulated", dtype=bool),
    "type_i_error": Variable("type-I error"),
    "mc_error": Variable("Monte-Carlo standard error"),
}

# What says how a number was had, rather than what was asked for.
DETAILS = frozenset(
    (
        *("standard_error", "bias", "df", "n_undefined", "fell_back", "samples", "statistic", "exact", "threshold"),
        *("baseline", "baseline_constant", "pairs_used"),
        *("n_tests", "n_inputs", "n_scores", "n_pairs", "n_outputs", "n_best", "n_items", "n_cells", "mc_error"),
        *("critical", "gap_low", "gap_high", "truth_error", "covariance_error", "is_group"),
        *("human_ci_low", "human_ci_high", "rated_difference", "rated_pvalue", "clipped"),
    )
)
# What dims that results have and scores have not are labelled by.
COORDINATES: dict[str, Variable] = {
    "other_metric": Variable("metric to compare with"),
    "other_system": Variable("system to compare with"),
    "group": Variable("group of systems"),
    "other_group": Variable("group of systems to compare with"),
    "gold_verdict": Variable("verdict by gold"),
    "metric_verdict": Variable("verdict by the metric"),
    "task": Variable("task"),
    "k": Variable("number of best systems"),
    "covariate": Variable("covariate"),
    "gap": Variable("pairs of systems by how close the metric scores them"),
    "score_bin": Variable("middle of the bin of normalised scores"),
    "margin": Variable("margin of equivalence"),
    "component": Variable("principal component"),
    "interval": Variable("interval"),
    "test": Variable("test"),
    "noise": Variable("standard deviation of the noise / that of the metric"),
    "level": Variable("level of the correlation"),
    "coefficient": Variable("coefficient of correlation"),
    "n_systems": Variable("number of systems"),
    "n_inputs": Variable("number of inputs"),
    "n_raters": Variable("number of raters of each cell"),
    "effect": Variable("what the effects belong to"),
    "difference": Variable("difference of two systems' means", "score"),
}


@dataclass(frozen=True)
class Analysis:
    """What an analysis gives.

    Attributes
    ----------
    main : tuple of str
        The variable that answers its question: the first of these that a result has.
    others : tuple of str
        Its other variables.
    dims : tuple of str
        Dims that results have and scores have not.
    pictures : tuple of str
        Methods of ``result.meta.plot`` that draw it.
    own : mapping
        Variables that are something else here than `VARIABLES` says.
    further : bool
        Whether scores may have further dims, which then may not be called as a variable or dim of the result is.
    undirected : bool
        Whether its test of a pair is the same when the two change places, whatever attrs["alternative"] says.
    """

    main: tuple[str, ...]
    others: tuple[str, ...] = ()
    dims: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()
    own: Mapping[str, Variable] = field(default_factory=dict)
    further: bool = True
    undirected: bool = False

    @property
    def variables(self) -> tuple[str, ...]:
        """All variables that results can have; a test's may be corrected and decided."""
        found = (*self.main, *self.others)
        return (*found, *_OF_TESTS) if "pvalue" in found else found

    @property
    def names(self) -> tuple[str, ...]:
        """All variables and dims."""
        return (*self.variables, *self.dims)


_OF_TESTS = ("pvalue_adjusted", "significant")
_LIMITS = ("ci_low", "ci_high")
_ESTIMATED = (*_LIMITS, "standard_error", "n_undefined")
_CHANCE = ("baseline", "baseline_constant", "pairs_used")
_PAIRS = ("other_metric",)
_GRID = ("level", "coefficient", "n_systems", "n_inputs")


def _limits_of(what: str, low: str = "ci_low", high: str = "ci_high") -> dict[str, Variable]:
    """The limits of something, that do not change places."""
    return {low: Variable(f"lower limit of the {what}"), high: Variable(f"upper limit of the {what}")}


_GROUPS = {"n_undefined": Variable("number of undefined groups", dtype=int)}
_BETWEEN = {"correlation": Variable("correlation of the two metrics")}
_TRIALS = {"n_undefined": Variable("number of trials left out", dtype=int), **_limits_of("share of trials")}
_BY_RATERS = {"correlation": Variable("mean correlation with the other raters")}

ANALYSES: dict[str, Analysis] = {
    "corr": Analysis(
        ("correlation",), ("n_undefined", "pvalue", "threshold", *_CHANCE), pictures=("bars",), own=_GROUPS
    ),
    "metric_corr": Analysis(
        ("correlation",), ("n_undefined", "pvalue"), _PAIRS, ("matrix",), own={**_BETWEEN, **_GROUPS}
    ),
    "ci": Analysis(
        ("correlation", "difference"),
        (*_ESTIMATED, "bias", "df", "fell_back", "samples", *_CHANCE),
        (*_PAIRS, "resample"),
        ("forest", "bars"),
    ),
    "metric_ci": Analysis(
        ("correlation",),
        (*_ESTIMATED, "bias", "df", "fell_back", "samples"),
        (*_PAIRS, "resample"),
        ("matrix",),
        own=_BETWEEN,
    ),
    "perm_test": Analysis(
        ("pvalue",), ("difference", "n_undefined", "exact", "samples"), (*_PAIRS, "resample"), ("pvalues",)
    ),
    "boot_test": Analysis(("pvalue",), ("difference", "n_undefined", "samples"), (*_PAIRS, "resample"), ("pvalues",)),
    "corr_test": Analysis(("pvalue",), ("difference", "statistic", *_LIMITS), _PAIRS, ("pvalues",)),
    "rank": Analysis(("rank",), ("correlation", "cluster", *_CHANCE), pictures=("clusters",)),
    "rank_tasks": Analysis(
        ("average_score",),
        (
            *("average_rank", "rank", "cluster", "correlation", "task_rank", "task_cluster", "weight"),
            *("difference", "pvalue"),
        ),
        (*_PAIRS, "task"),
        ("tasks",),
        own={"difference": Variable("difference of average scores", turned="negated")},
        further=False,
    ),
    "equivalence": Analysis(
        ("equivalent",),
        ("difference", *_LIMITS, "n_undefined", "fell_back", "pvalue", "margin"),
        _PAIRS,
        ("forest", "pvalues"),
        undirected=True,
    ),
    "margin_sensitivity": Analysis(
        ("share",),
        ("n_tests",),
        ("margin", *_PAIRS),
        ("sensitivity",),
        own={"share": Variable("share of comparisons equivalent")},
    ),
    "dominance": Analysis(("probability",), ("resolved", "probability_shift", "mean_shift"), _PAIRS, ("shifts",)),
    "compare_systems": Analysis(
        ("pvalue",),
        (
            *("difference", "statistic", "n_inputs", "n_significant", "n_tests"),
            *(*_LIMITS, "standard_error", "df", "rank", "cluster"),
        ),
        ("other_system", "group", "other_group"),
        ("pvalues",),
        own={
            "difference": Variable("difference of means", "score", turned="negated"),
            "ci_low": Variable("lower confidence limit", "score", turned="ci_high"),
            "ci_high": Variable("upper confidence limit", "score", turned="ci_low"),
            "standard_error": Variable("standard error", "score"),
            "cluster": Variable("cluster of systems without significant differences, 1 is best", dtype=int),
        },
    ),
    "system_means": Analysis(
        ("mean",),
        (
            *(*_LIMITS, "standard_error", "df", "human_mean", "human_ci_low", "human_ci_high", "n_rated", "n_inputs"),
            *("n_effective", "rated_difference", "rated_pvalue", "fell_back", "clipped", "weight"),
        ),
        pictures=("system_means",),
        own={
            "ci_low": Variable("lower confidence limit", "score"),
            "ci_high": Variable("upper confidence limit", "score"),
            "standard_error": Variable("standard error", "score"),
            "weight": Variable("weight of the metric"),
            "n_inputs": Variable("number of inputs that the metric scored", dtype=int),
            "fell_back": Variable("whether ratings stand alone", dtype=bool),
        },
    ),
    "discriminative_agreement": Analysis(
        ("f1",),
        ("accuracy", "confusion", "win_share", "gold_win_share", "n_inputs"),
        ("gold_verdict", "metric_verdict", "other_system"),
        ("confusion",),
    ),
    "input_effect": Analysis(
        ("mean_rank",),
        ("statistic", "pvalue", "critical", *_LIMITS, "n_distinct", "n_scores"),
        pictures=("input_effect",),
        own={"statistic": Variable("Kruskal and Wallis's H"), **_limits_of("mean rank, to compare")},
    ),
    "top_k_corr": Analysis(
        ("correlation",),
        (*_ESTIMATED, "bias", "df", "fell_back", "samples", *_CHANCE),
        ("k", "resample"),
        ("top_k",),
    ),
    "close_corr": Analysis(
        ("correlation",),
        (*_ESTIMATED, "n_pairs", "gap_low", "gap_high"),
        ("gap",),
        ("close_corr",),
        own={"n_pairs": Variable("number of pairs of systems", dtype=int)},
    ),
    "bias": Analysis(
        ("slope",),
        (*_LIMITS, "standard_error", "df", "pvalue", "is_group"),
        ("covariate",),
        ("bias",),
        own=_limits_of("slope"),
    ),
    "range_drop": Analysis(
        ("difference",),
        (
            *("whole", "part", *_LIMITS, "pvalue", "expected", "expected_low", "expected_high"),
            *("excess", "excess_pvalue", "n_inputs"),
        ),
        _PAIRS,
        ("range_drop",),
        own={"difference": Variable("drop of the correlation"), **_limits_of("drop")},
        further=False,
    ),
    "disagreement": Analysis(
        ("share",),
        (*_LIMITS, "n_pairs"),
        (*_PAIRS, "score_bin"),
        ("disagreement",),
        own={
            "share": Variable("share ordered oppositely"),
            "n_pairs": Variable("number of pairs of outputs", dtype=int),
            **_limits_of("share"),
        },
        further=False,
    ),
    "improvement_consistency": Analysis(
        ("ratio",),
        (*_LIMITS, "n_outputs", "n_best"),
        ("score_bin",),
        ("improvement",),
        own=_limits_of("ratio"),
        further=False,
    ),
    "agreement": Analysis(("alpha",), _ESTIMATED),
    "human_ceiling": Analysis(
        ("correlation",),
        (*_ESTIMATED, "by_rater", "difference", "difference_low", "difference_high"),
        pictures=("forest",),
        own={**_BY_RATERS, "difference": Variable("difference from the raters' own correlation")},
    ),
    "alt_test": Analysis(
        ("winning_rate",), ("advantage_probability", "advantage", "human_advantage", "pvalue", "n_items")
    ),
    "variance_components": Analysis(
        ("share",),
        (
            *("variance", "standard_error", "reliability", "covariance", "covariance_error", "correlation"),
            "n_cells",
        ),
        (*_PAIRS, "effect", "n_inputs", "n_raters"),
        ("variance_components",),
        own={
            "share": Variable("share of the variance of a score"),
            "standard_error": Variable("standard error of the variance", "score²"),
            "correlation": Variable("correlation of the effects"),
            "n_cells": Variable("number of cells that both have", dtype=int),
        },
    ),
    "normality": Analysis(
        ("pvalue",), ("statistic", "share_rejected"), own={"statistic": Variable("Shapiro and Wilk's W")}
    ),
    "pca": Analysis(("coordinate",), ("explained", "n_cells"), ("component",), ("pca",)),
    "simulate": Analysis(("truth",), ("truth_error",), ("level", "coefficient"), further=False),
    "coverage": Analysis(
        ("coverage",),
        (*_LIMITS, "mc_error", "width", "relative_width", "misses_low", "misses_high", "n_undefined"),
        ("interval", *_PAIRS, *_GRID),
        ("coverage",),
        own=_TRIALS,
        further=False,
    ),
    "power": Analysis(
        ("power", "type_i_error"),
        (*_LIMITS, "mc_error", "n_undefined"),
        ("test", "noise", *_PAIRS, *_GRID),
        ("power",),
        own=_TRIALS,
        further=False,
    ),
    "plan": Analysis(
        ("width", "power"),
        (
            *_LIMITS,
            "width_low",
            "width_high",
            "standard_error",
            "correlation",
            "mc_error",
            "simulated",
            "floor",
            "least_inputs",
        ),  # fmt: skip
        (*_PAIRS, "difference", "n_systems", "n_inputs", "n_raters"),
        ("plan",),
        own={
            **_limits_of("share of trials"),
            "width": Variable("width of the interval"),
            "correlation": Variable("expected correlation with gold"),
        },
        further=False,
    ),
}
# Names that results give to variables and dims: further dims may not have them, and coordinates lose them.
RESERVED = frozenset(name for each in ANALYSES.values() if each.further for name in each.names)


def variable(name: Hashable, analysis: Any = None) -> Variable:
    """What the tables say of a variable, in the results of an analysis or in any."""
    about = ANALYSES.get(str(analysis))
    if about is not None and name in about.own:
        return about.own[str(name)]
    if name not in VARIABLES or about is not None and name not in about.variables:
        where = "" if about is None else f" of {analysis!r}"
        raise LookupError(f"a result{where} has the variable {name!r}, which dataset/variables.py does not declare")
    return VARIABLES[str(name)]
