"""How well metrics agree with human scores."""

from __future__ import annotations

from xsumstat.catalogue.record import Analysis, Question, TestName, Variable
from xsumstat.catalogue.variables import CHANCE, ESTIMATED, LIMITS, PAIR, PAIRS, UNDEFINED_GROUPS, limits_of

GROUP = "agreement with human scores"
ANALYSES = (
    Analysis(
        "corr",
        GROUP,
        main=("correlation",),
        others=("n_undefined", "pvalue", "threshold", *CHANCE),
        pictures=("bars",),
        own=UNDEFINED_GROUPS,
        tests={"": TestName("a test of each group's correlation")},
        in_table="correlation",
        aim="We {compared} the scores of each metric with {gold}, {correlation}.",
        needs_three=True,
        say="narrative.findings.corr",
        best="narrative.findings.best_metrics",
        closing="narrative.findings.corr_closing",
    ),
    Analysis(
        "ci",
        GROUP,
        main=("correlation", "difference"),
        others=(*ESTIMATED, "bias", "df", "fell_back", "samples", *CHANCE),
        dims=(*PAIRS, "resample"),
        pictures=("forest", "bars"),
        in_table="correlation",
        aim="We estimated how well each metric agrees with {gold}, {correlation}, with confidence intervals "
        "[deutsch2021statistical].",
        special_aims={
            "ci_of_differences": "We estimated how much better each metric agrees with {gold} than {others}, "
            "{correlation}, with confidence intervals [deutsch2021statistical]."
        },
        needs_three=True,
        say="narrative.findings.ci",
        best="narrative.findings.best_metrics",
        closing="narrative.findings.ci_closing",
        core=PAIR,
    ),
    Analysis(
        "rank",
        GROUP,
        main=("rank",),
        others=("correlation", "cluster", *CHANCE),
        pictures=("clusters",),
        in_table="correlation",
        beside=("rank", "cluster"),
        aim="We ranked the metrics by their agreement with {gold}, {correlation}, in clusters: a new cluster "
        "begins where a metric of the previous cluster is significantly better [freitag2021results].",
        needs_three=True,
        say="narrative.findings_tests.rank",
        best="narrative.findings.best_metrics",
        closing="narrative.findings_tests.clusters_closing",
    ),
    Analysis(
        "compare_groups",
        GROUP,
        main=("difference",),
        others=(
            *("pvalue", *LIMITS, "standard_error", "df", "bias", "n_undefined", "fell_back", "correlation"),
            *("heterogeneity", "df_numerator", "df_denominator", "n_groups"),
            *("heterogeneity_pvalue", "heterogeneity_pvalue_adjusted"),
        ),
        pictures=("pvalues", "forest"),
        between_groups=True,
        aim="We tested whether the agreement of each metric with {gold}, {correlation}, differs between the groups of "
        "{by}, by an approximate Hotelling test of all groups [krishnamoorthy2004modified, tipton2015small] and for "
        "each pair of groups by an interval that combines the limits of the two [zou2008construction].",
        say="narrative.findings_groups.compare_groups",
        closing="narrative.findings_tests.uncorrected",
    ),
    Question("sentinels", GROUP),
    Analysis(
        "bias",
        GROUP,
        main=("slope",),
        others=(
            *(*LIMITS, "standard_error", "df", "pvalue", "is_group"),
            *("gold_reliability", "corrected_slope", "corrected_pvalue"),
        ),
        dims=("covariate", "reliability"),
        pictures=("bias",),
        own=limits_of("slope"),
        tests=dict.fromkeys(("regression", "difference"), TestName("t tests of slopes"))
        | {"corrected": TestName("t tests of slopes, corrected for noise in the human scores")},
        aim="We regressed {regression} [bell2002bias, cameron2011robust].",
        say="narrative.findings_bias.bias",
        closing="narrative.findings_bias.bias_closing",
        core=("metric", "covariate", "reliability"),
        only={"reliability": ("corrected_slope", "corrected_pvalue")},
    ),
    Analysis(
        "normality",
        GROUP,
        main=("pvalue",),
        others=("statistic", "share_rejected"),
        own={"statistic": Variable("Shapiro and Wilk's W")},
        tests={"shapiro-wilk": TestName("Shapiro and Wilk's test")},
        aim="We tested whether scores are normally distributed [shapiro1965analysis, deutsch2021statistical].",
        say="narrative.findings.normality",
        core=("metric", "input", "system"),
    ),
)
