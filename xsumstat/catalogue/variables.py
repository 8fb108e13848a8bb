"""The variables of results, and what dims of results are labelled by."""

from __future__ import annotations

from xsumstat.catalogue.record import Variable

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
    "heterogeneity": Variable("F statistic of the differences between all groups"),
    "df_numerator": Variable("numerator degrees of freedom"),
    "df_denominator": Variable("denominator degrees of freedom"),
    "heterogeneity_pvalue": Variable("p-value of no difference between all groups"),
    "heterogeneity_pvalue_adjusted": Variable("corrected p-value of no difference between all groups"),
    "n_groups": Variable("number of groups that are compared", dtype=int),
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
    "task_difference": Variable("difference within the task", turned="negated"),
    "n_tasks": Variable("number of tasks", dtype=int),
    "first_share": Variable("share of draws of tasks in which the metric is first"),
    "rank_low": Variable("lower limit of the rank", dtype=int),
    "rank_high": Variable("upper limit of the rank", dtype=int),
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
    "gold_reliability": Variable("reliability of the human scores"),
    "corrected_slope": Variable("bias for a reliability of the human scores"),
    "corrected_pvalue": Variable("p-value of no bias for a reliability of the human scores"),
    "accuracy": Variable("share of verdicts that agree"),
    "confusion": Variable("number of pairs of systems", dtype=int),
    "win_share": Variable("share of resamples in which the system is better by the metric"),
    "gold_win_share": Variable("share of resamples in which the system is better by gold"),
    "gap_low": Variable("smallest difference of means by the metric", "score"),
    "gap_high": Variable("largest difference of means by the metric", "score"),
    "n_pairs": Variable("number of pairs", dtype=int),
    "mean_difference": Variable("difference of the means of system_means", "score", turned="negated"),
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
    # preferences
    "kappa": Variable("Cohen's kappa"),
    "kappa_low": Variable("lower limit of kappa"),
    "kappa_high": Variable("upper limit of kappa"),
    "tie_share": Variable("share of ties"),
    "human_share": Variable("share of people's choices, ties half"),
    "n_shared": Variable("number of pairs that two people judged too", dtype=int),
    "strength": Variable("strength of the system, in log odds"),
    "win_rate": Variable("share of choices won, ties half"),
    "position_bias": Variable("net share of pairs that move to the first"),
    "flip_share": Variable("share of pairs whose choice changes with the order"),
    "flip_low": Variable("lower limit of the share that changes"),
    "flip_high": Variable("upper limit of the share that changes"),
    "n_first": Variable("number of pairs that move to the output shown first", dtype=int),
    "n_second": Variable("number of pairs that move to the output shown second", dtype=int),
    "n_prompts": Variable("number of prompts", dtype=int),
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
    "rated_inputs": Variable("number of inputs that people rate", dtype=int),
    "judged_inputs": Variable("number of inputs that the judge scores", dtype=int),
    "cost": Variable("cost"),
    "best": Variable("whether the design is the best", dtype=bool),
    "width_alone": Variable("width from ratings alone, for the same money"),
    "power_alone": Variable("power from ratings alone, for the same money"),
    "cost_alone": Variable("cost of ratings alone, for the same target"),
    "power_low": Variable("lower limit of the power"),
    "power_high": Variable("upper limit of the power"),
    "simulated": Variable("whether it was simulated", dtype=bool),
    "type_i_error": Variable("type-I error"),
    "mc_error": Variable("Monte-Carlo standard error"),
}

# What says how a number was had, rather than what was asked for.
DETAILS = frozenset(
    (
        *("df_numerator", "df_denominator", "n_groups"),
        *("standard_error", "bias", "df", "n_undefined", "fell_back", "samples", "statistic", "exact", "threshold"),
        *("baseline", "baseline_constant", "pairs_used"),
        *("n_tests", "n_inputs", "n_scores", "n_pairs", "n_outputs", "n_best", "n_items", "n_cells", "mc_error"),
        *("critical", "gap_low", "gap_high", "truth_error", "covariance_error", "is_group"),
        *("gold_reliability", "corrected_slope", "corrected_pvalue"),
        *("human_ci_low", "human_ci_high", "rated_difference", "rated_pvalue", "clipped"),
        *("flip_low", "flip_high", "n_first", "n_second", "n_prompts"),
        *("kappa_low", "kappa_high", "tie_share", "n_shared"),
    )
)
# What dims that results have and scores have not are labelled by.
COORDINATES: dict[str, Variable] = {
    "other_metric": Variable("metric to compare with"),
    "other_system": Variable("system to compare with"),
    "group": Variable("group of systems"),
    "other_group": Variable("group of systems to compare with"),
    "human_label": Variable("label by gold"),
    "judge_label": Variable("label by the metric"),
    "gold_verdict": Variable("verdict by gold"),
    "metric_verdict": Variable("verdict by the metric"),
    "task": Variable("task"),
    "k": Variable("number of best systems"),
    "rater": Variable("rater"),
    "covariate": Variable("covariate"),
    "reliability": Variable("reliability of the human scores"),
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
    "n_judged": Variable("number of inputs that the judge scores"),
    "budget": Variable("budget"),
    "effect": Variable("what the effects belong to"),
    "difference": Variable("difference of two systems' means", "score"),
}

PAIR = ("metric", "other_metric")
LIMITS = ("ci_low", "ci_high")
ESTIMATED = (*LIMITS, "standard_error", "n_undefined")
CHANCE = ("baseline", "baseline_constant", "pairs_used")
PAIRS = ("other_metric",)
GRID = ("level", "coefficient", "n_systems", "n_inputs")


def limits_of(what: str, low: str = "ci_low", high: str = "ci_high") -> dict[str, Variable]:
    """The limits of something, that do not change places."""
    return {low: Variable(f"lower limit of the {what}"), high: Variable(f"upper limit of the {what}")}


UNDEFINED_GROUPS = {"n_undefined": Variable("number of undefined groups", dtype=int)}
BETWEEN = {"correlation": Variable("correlation of the two metrics")}
TRIALS = {"n_undefined": Variable("number of trials left out", dtype=int), **limits_of("share of trials")}
BY_RATERS = {"correlation": Variable("mean correlation with the other raters")}
