"""Systems and inputs, by human raters or a metric."""

from __future__ import annotations

from xsumstat.catalogue.record import Analysis, Question, TestName, Variable
from xsumstat.catalogue.variables import LIMITS, PAIR, PAIRS, limits_of

GROUP = "systems and inputs"
ANALYSES = (
    Analysis(
        "compare_systems",
        GROUP,
        main=("pvalue",),
        others=(
            *("difference", "statistic", "n_inputs", "n_clusters", "n_significant", "n_tests"),
            *(*LIMITS, "standard_error", "df", "mean_difference", "rank", "cluster"),
        ),
        dims=("other_system", "group", "other_group"),
        pictures=("pvalues",),
        own={
            "difference": Variable("difference of means", "score", turned="negated"),
            "ci_low": Variable("lower confidence limit", "score", turned="ci_high"),
            "ci_high": Variable("upper confidence limit", "score", turned="ci_low"),
            "standard_error": Variable("standard error", "score"),
            "cluster": Variable("cluster of systems without significant differences, 1 is best", dtype=int),
        },
        random=("input",),
        tests={"bootstrap": TestName("paired bootstrap tests", one="a paired bootstrap test")},
        aim="We tested {tested}{helped}{counted} [rankel2011ranking].",
        say="narrative.findings_systems.compare_systems",
        closing="narrative.findings_systems.systems_closing",
        core=("metric", "system", "other_system"),
    ),
    Analysis(
        "system_means",
        GROUP,
        main=("mean",),
        others=(
            *(*LIMITS, "standard_error", "df", "human_mean", "human_ci_low", "human_ci_high", "n_rated", "n_inputs"),
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
        random=("input",),
        aim="We estimated each system's mean of {gold} over {inputs} from the ratings and the scores of {helped_by}, "
        "by a regression estimator, prediction-powered inference with {slopes} "
        "[angelopoulos2023ppi, chaganty2018price].",
        say="narrative.findings.system_means",
        closing="narrative.findings.means_closing",
        core=("metric", "system"),
        only={"metric": ("weight",)},
    ),
    Analysis(
        "discriminative_agreement",
        GROUP,
        main=("f1",),
        others=("accuracy", "confusion", "win_share", "gold_win_share", "n_inputs"),
        dims=("gold_verdict", "metric_verdict", "other_system"),
        pictures=("confusion",),
        in_table="f1",
        beside=("accuracy",),
        aim="We compared the verdicts on each pair of systems by the metric and by {gold}, a win, loss or neither, "
        "from {n_resamples} paired bootstrap resamples of inputs, with a win in {confidence} % of them "
        "[koehn2004statistical, bhandari2020reevaluating].",
        say="narrative.findings_systems.discriminative_agreement",
        best="narrative.findings.best_metrics",
    ),
    Analysis(
        "input_effect",
        GROUP,
        main=("mean_rank",),
        others=("statistic", "pvalue", "critical", *LIMITS, "n_distinct", "n_scores"),
        pictures=("input_effect",),
        own={"statistic": Variable("Kruskal and Wallis's H"), **limits_of("mean rank, to compare")},
        random=("system",),
        aim="We tested whether inputs differ in difficulty, and compared the mean ranks of each pair of inputs "
        "[rankel2011ranking, hochberg1982graphical].",
        say="narrative.findings.input_effect",
        core=("metric", "input"),
        only={"input": ("mean_rank", *LIMITS, "n_distinct", "n_scores")},
    ),
    Question("sample_inputs", GROUP),
    Analysis(
        "variance_components",
        GROUP,
        main=("share",),
        others=(
            *("variance", "standard_error", "reliability", "covariance", "covariance_error", "correlation"),
            "n_cells",
        ),
        dims=(*PAIRS, "effect", "n_inputs", "n_raters"),
        pictures=("variance_components",),
        own={
            "share": Variable("share of the variance of a score"),
            "standard_error": Variable("standard error of the variance", "score²"),
            "correlation": Variable("correlation of the effects"),
            "n_cells": Variable("number of cells that both have", dtype=int),
        },
        aim="We estimated how much of the variance of {gold} and of each metric lies between systems, between inputs "
        "and in single cells, by Henderson's method I [searle1992variance], with jackknife standard errors over "
        "systems and inputs [efron1981jackknife]. The reliability of system means is the generalizability coefficient "
        "[brennan2001generalizability].",
        say="narrative.findings_plans.variance_components",
        closing="narrative.findings_plans.components_closing",
        core=(*PAIR, "effect", "n_inputs", "n_raters"),
        only={
            "other_metric": ("covariance", "covariance_error", "correlation", "n_cells"),
            "effect": ("variance", "standard_error", "share", "covariance", "covariance_error", "correlation"),
            "n_inputs": ("reliability",),
            "n_raters": ("reliability",),
        },
    ),
)
