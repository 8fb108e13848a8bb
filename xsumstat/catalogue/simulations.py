"""Functions of the package: tasks, and simulated scores."""

from __future__ import annotations

from xsumstat.catalogue.record import Analysis, TestName, Variable
from xsumstat.catalogue.variables import GRID, LIMITS, PAIR, PAIRS, TRIALS, limits_of

_DIFFERENCE = Variable("difference of average scores", turned="negated")
_TESTS_OF_AVERAGES = TestName("permutation tests of the average score", draws="swaps")
_OF_TASKS = ("correlation", "baseline", "baseline_constant", "task_rank", "task_cluster")
ANALYSES = (
    Analysis(
        "rank_tasks",
        main=("average_score",),
        others=(
            *("average_rank", "rank", "cluster", "correlation", "task_rank", "task_cluster", "weight"),
            *("baseline", "baseline_constant", "difference", "pvalue", "task_difference", "samples"),
        ),
        dims=(*PAIRS, "task", "pair", "resample"),
        pictures=("tasks",),
        own={"difference": _DIFFERENCE},
        further=False,
        exchanged=True,
        tests={"": _TESTS_OF_AVERAGES},
        in_table="average_score",
        beside=("rank", "cluster"),
        aim="We ranked the metrics by their average score over {n_tasks}, in clusters: a new cluster begins where"
        " some metric of the one before is significantly better [freitag2023results].",
        say="narrative.findings_tests.rank_tasks",
        core=("metric", "other_metric", "task"),
        only={
            "other_metric": ("difference", "pvalue", "task_difference"),
            "task": (*_OF_TASKS, "weight", "task_difference"),
        },
    ),
    Analysis(
        "ranks_by",
        main=("average_score",),
        others=("average_rank", "rank", "cluster", "difference", "pvalue", "n_tasks"),
        dims=(*PAIRS, "language_pair", "domain", "level", "coefficient"),
        own={"difference": _DIFFERENCE},
        further=False,
        exchanged=True,
        tests={"": _TESTS_OF_AVERAGES},
        in_table="average_score",
        beside=("cluster",),
        aim="We ranked the metrics by their average score over the tasks of each {task_label}, in clusters: a new"
        " cluster begins where some metric of the one before is significantly better [freitag2023results].",
        say="narrative.findings_tests.ranks_by",
        closing="narrative.findings_tests.ranks_closing",
        core=("metric", "other_metric"),
        only={
            "metric": ("average_score", "average_rank", "rank", "cluster", "difference", "pvalue"),
            "other_metric": ("difference", "pvalue"),
        },
    ),
    Analysis(
        "rank_stability",
        main=("first_share",),
        others=("average_score", "rank", "rank_low", "rank_high"),
        further=False,
        random=("task",),
        in_table="first_share",
        beside=("rank", "rank_low", "rank_high"),
        aim="We drew the tasks with replacement{in_strata}, {n_resamples} times, and counted how often each metric has "
        "the best average score [efron1993introduction].",
        say="narrative.findings_tests.rank_stability",
    ),
    Analysis(
        "simulate",
        main=("truth",),
        others=("truth_error",),
        dims=("level", "coefficient"),
        further=False,
        aim="We simulated scores of a normal model whose true correlations are known.",
        special_aims={
            "simulate_like": "We simulated scores like {like}, from their own effects of systems, inputs and "
            "cells, with the covariances of these by Henderson's method I [searle1992variance]."
        },
        say="narrative.findings.simulate",
        core=("metric", "level", "coefficient"),
    ),
    Analysis(
        "coverage",
        main=("coverage",),
        others=(*LIMITS, "mc_error", "width", "relative_width", "misses_low", "misses_high", "n_undefined"),
        dims=("interval", *PAIRS, *GRID),
        pictures=("coverage",),
        own=TRIALS,
        further=False,
        aim="We measured how often {confidence} % confidence intervals cover the true correlation, {correlation}, in "
        "{n_trials} simulated trials [deutsch2021statistical].",
        special_aims={
            "coverage_of_halves": "We measured how often {confidence} % confidence intervals from one half of the "
            "systems and inputs contain the correlation in the other half, {correlation}, in {n_trials} random splits "
            "[deutsch2021statistical]."
        },
        say="narrative.findings_tests.coverage",
        core=("interval", "metric"),
    ),
    Analysis(
        "power",
        main=("power", "type_i_error"),
        others=(*LIMITS, "mc_error", "n_undefined"),
        dims=("test", "noise", *PAIRS, *GRID),
        pictures=("power",),
        own=TRIALS,
        further=False,
        aim="We measured how often tests find a difference of correlations with {gold}, {correlation}, in "
        "{n_trials} simulated trials at a significance level of {alpha} [deutsch2021statistical].",
        say="narrative.findings_tests.power",
        core=("test", "noise", "metric", "other_metric"),
    ),
    Analysis(
        "plan",
        main=("width", "power"),
        others=(
            *(*LIMITS, "width_low", "width_high", "standard_error", "correlation", "mc_error", "simulated"),
            *("floor", "least_inputs"),
            *("power_low", "power_high", "rated_inputs", "judged_inputs", "cost", "best"),
            *("width_alone", "power_alone", "cost_alone"),
        ),
        dims=(*PAIRS, "difference", "n_systems", "n_inputs", "n_raters", "n_judged", "budget"),
        pictures=("plan",),
        own={
            **limits_of("share of trials"),
            "width": Variable("width of the interval"),
            "correlation": Variable("expected correlation with gold"),
        },
        further=False,
        aim="We planned the number of systems and inputs for the agreement of metrics with {gold}, {correlation}, "
        "from the jackknife's variance and the variance components "
        "of the scores [efron1981jackknife, searle1992variance]{sought}; designs without a formula were simulated in "
        "{n_trials} trials with scores that have the same components.",
        special_aims={
            "plan_of_differences": "We planned the number of inputs from the power of a paired t-test of two "
            "systems at a level of {alpha}, by the noncentral t distribution, with the mean "
            "variance of the differences of two systems' scores.",
            "plan_of_means": "We planned the number of inputs from the variance components of the scores "
            "[searle1992variance]{sought}.",
            "plan_of_costs": "We planned the numbers of inputs and ratings, by their costs, from the variance "
            "components and the jackknife's variance in a pilot [searle1992variance, efron1981jackknife]{sought}.",
        },
        say="narrative.findings_plans.plan",
        core=(*PAIR, "difference", "n_systems", "n_inputs", "n_raters", "n_judged", "budget"),
        only={
            "n_inputs": (
                *("width", "width_low", "width_high", "power", "power_low", "power_high", *LIMITS),
                *("standard_error", "correlation", "mc_error", "simulated"),
            )
        },
    ),
)
