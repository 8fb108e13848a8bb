"""Human raters compared with each other, and judges with human raters."""

from __future__ import annotations

from xsumstat.catalogue.record import Analysis, Question, TestName, Variable
from xsumstat.catalogue.variables import BY_RATERS, ESTIMATED, LIMITS, limits_of

# Against this share of the raters or more a judge must win to replace one.
WINNING = 0.5

GROUP = "raters and judges"
# What variables are in a comparison of two versions of a judge.
OF_VERSIONS = {
    "difference": Variable("change of the correlation with human scores"),
    **limits_of("change"),
    "n_undefined": Variable("number of values without one label that are undefined", dtype=int),
    "flip_share": Variable("share of verdicts that changed"),
    **limits_of("share of verdicts that changed", "flip_low", "flip_high"),
    "reversal_share": Variable("share of verdicts that are reversed"),
    **limits_of("share of verdicts that are reversed", "reversal_low", "reversal_high"),
    "n_pairs": Variable("number of verdicts between two systems", dtype=int),
    "heterogeneity": Variable("F statistic of different shifts of systems"),
    "heterogeneity_pvalue": Variable("p-value of equal shifts of all systems"),
    "heterogeneity_pvalue_adjusted": Variable("corrected p-value of equal shifts of all systems"),
    "mean": Variable("mean score by the new version", "score"),
    "rank": Variable("rank of the system by the new version, 1 is best", dtype=int),
    "excess": Variable("shift minus the mean shift of the other systems", "score"),
}
_OF_SYSTEMS = (
    *("old_mean", "mean", "old_rank", "rank"),
    *("system_shift", "system_shift_low", "system_shift_high"),
    *("system_shift_pvalue", "system_shift_pvalue_adjusted"),
    *("excess", "excess_low", "excess_high", "excess_pvalue", "excess_pvalue_adjusted"),
)
ANALYSES = (
    Analysis(
        "agreement",
        GROUP,
        main=("alpha",),
        others=ESTIMATED,
        aim="We measured the agreement of the raters by Krippendorff's alpha for {measurement} ratings "
        "[krippendorff2011computing].",
        say="narrative.findings.agreement",
        core=(),
    ),
    Analysis(
        "human_ceiling",
        GROUP,
        main=("correlation",),
        others=(*ESTIMATED, "by_rater", "difference", "difference_low", "difference_high"),
        pictures=("forest",),
        own={**BY_RATERS, "difference": Variable("difference from the raters' own correlation")},
        in_table="correlation",
        aim="We {compared} each rater, and each metric, with the mean of the other raters, {correlation}, and "
        "averaged over raters.",
        special_aims={
            "human_ceiling_of_classes": "We measured how well each rater, and each metric, agrees with each other "
            "rater, {correlation}, and averaged over pairs of raters."
        },
        say="narrative.findings.human_ceiling",
        core=("metric", "rater"),
        only={"along": ("by_rater",)},
    ),
    Analysis(
        "alt_test",
        GROUP,
        main=("winning_rate",),
        others=(
            "advantage_probability",
            "constant_winning_rate",
            "advantage",
            "human_advantage",
            "pvalue",
            "n_items",
        ),
        random=("cell",),
        in_table="winning_rate",
        beside=("advantage_probability",),
        aim="We applied the alternative annotator test with a margin of {margin}: a judge may replace a rater "
        "where it wins against half of the raters or more [calderon2025alternative].",
        say="narrative.findings_tests.alt_test",
        core=("metric", "rater"),
        only={"along": ("advantage", "human_advantage", "pvalue", "n_items")},
    ),
    Analysis(
        "confusion",
        GROUP,
        main=("n_outputs",),
        others=("share",),
        dims=("human_label", "judge_label"),
        pictures=("confusion",),
        own={"share": Variable("share of the outputs with this human label")},
        aim="We counted which labels each metric gives, by the labels of {gold}.",
        special_aims={
            "confusion_of_raters": "We counted which labels each metric gives, by the label of each single rater."
        },
        say="narrative.findings.confusion",
        core=("metric", "human_label", "judge_label"),
    ),
    Analysis(
        "drift",
        GROUP,
        main=("difference",),
        others=(
            *("ci_low", "ci_high", "margin", "pvalue", "equivalent", "new_correlation", "old_correlation"),
            *("n_undefined", "fell_back"),
            *("flip_share", "flip_low", "flip_high", "reversal_share", "reversal_low", "reversal_high", "n_pairs"),
            *("changed_share", "changed_low", "changed_high", "n_outputs", "n_only_new", "n_only_old"),
            *("shift", "shift_low", "shift_high", "shift_pvalue"),
            *("heterogeneity", "df_numerator", "df_denominator"),
            *("heterogeneity_pvalue", "heterogeneity_pvalue_adjusted"),
            *_OF_SYSTEMS,
        ),
        pictures=("drift", "forest"),
        tests={"jackknife": TestName("two one-sided jackknife tests")},
        own=OF_VERSIONS,
        in_table="difference",
        beside=("old_correlation", "new_correlation", "flip_share", "shift"),
        aim="We compared two versions of each metric on the same outputs. We tested whether the agreement with {gold}, "
        "{correlation}, changed by less than {margin} [schuirmann1987comparison], and whether the shifts of the "
        "systems' means differ (Hotelling's T²).",
        say="narrative.findings_drift.drift",
        core=("metric", "system"),
        only={"system": _OF_SYSTEMS},
    ),
    Analysis(
        "repeatability",
        GROUP,
        main=("reliability",),
        others=(
            *(*LIMITS, "correlation", "correlation_low", "correlation_high"),
            *("flip_share", "flip_low", "flip_high", "reversal_share", "reversal_low", "reversal_high"),
            *("equal_share", "equal_low", "equal_high", "n_pairs", "n_outputs"),
            *("variance", "standard_error", "share"),
        ),
        dims=("n_runs", "effect"),
        pictures=("repeatability",),
        own={
            "reliability": Variable("reliability of the mean of the runs"),
            **limits_of("reliability"),
            "correlation": Variable("expected correlation of the mean of the runs with gold"),
            "flip_share": Variable("share of orders of two systems that differ between two runs"),
            "flip_low": Variable("lower limit of the share of orders that differ"),
            "flip_high": Variable("upper limit of the share of orders that differ"),
            "n_pairs": Variable("number of comparisons of two systems between two runs", dtype=int),
            "n_outputs": Variable("number of comparisons of an output between two runs", dtype=int),
            "standard_error": Variable("standard error of the variance", "score²"),
            "share": Variable("share of the variance of a score"),
        },
        random=("input",),
        in_table="reliability",
        aim="We ran each metric {runs} times and estimated the reliability of the mean of several runs, the "
        "generalizability coefficient [brennan2001generalizability], from variance components by Henderson's method I "
        "[searle1992variance].",
        say="narrative.findings_judges.repeatability",
        closing="narrative.findings_judges.repeatability_closing",
        core=("metric", "n_runs", "effect"),
        only={
            "n_runs": ("reliability", *LIMITS, "correlation", "correlation_low", "correlation_high"),
            "effect": ("variance", "standard_error", "share"),
        },
    ),
    Analysis(
        "missingness",
        GROUP,
        main=("missing_share",),
        others=(
            *(*LIMITS, "n_missing", "n_outputs", "mean", "mean_low", "mean_high", "missing_by_score"),
            *("difference", "difference_low", "difference_high", "pvalue"),
            *("accuracy", "accuracy_low", "accuracy_high", "n_undecided", "n_pairs"),
        ),
        dims=("test", "human_quarter"),
        pictures=("missingness",),
        own={
            **limits_of("share without a score"),
            "mean": Variable("mean of the scores that are there", "score"),
            "difference": Variable("mean human score of outputs without a score less that of the others", "score"),
            "difference_low": Variable("lower limit of the difference", "score"),
            "difference_high": Variable("upper limit of the difference", "score"),
            "accuracy": Variable("pairwise accuracy of the scores that are there"),
            "n_pairs": Variable("number of pairs of systems", dtype=int),
        },
        random=("input",),
        tests={"": TestName("permutation test", "permutation tests", "a permutation test", "permutations")},
        aim="We tested whether missing scores depend on the system, by permutations within inputs "
        "[cochran1950comparison], and on {gold}, by permutations of inputs. The bounds of the means and of the "
        "pairwise accuracy let each missing score take any value [manski2003partial].",
        say="narrative.findings_judges.missingness",
        core=("metric", "system", "test", "human_quarter"),
        only={
            "system": ("missing_share", *LIMITS, "n_missing", "n_outputs", "mean", "mean_low", "mean_high"),
            "test": ("pvalue",),
            "human_quarter": ("missing_by_score",),
        },
    ),
    Question("calibrate", GROUP),
    Question("majority_vote", GROUP),
    Question("drop_noisiest_rater", GROUP),
)
