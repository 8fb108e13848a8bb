"""People beside each other, and judges beside people."""

from __future__ import annotations

from xsumstat.catalogue.record import Analysis, Question, TestName, Variable
from xsumstat.catalogue.variables import BY_RATERS, ESTIMATED, LIMITS, limits_of

GROUP = "raters and judges"
ANALYSES = (
    Analysis(
        "agreement",
        GROUP,
        main=("alpha",),
        others=ESTIMATED,
        aim="We measured the agreement of the raters by Krippendorff's alpha for {measurement} ratings "
        "[krippendorff2011computing].",
        say="findings.agreement",
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
        aim="We correlated each rater, and each metric, with the mean of the other raters, {correlation}, and "
        "averaged over raters.",
        special_aims={
            "human_ceiling_of_classes": "We measured how well each rater, and each metric, agrees with each other "
            "rater, {correlation}, and averaged over pairs of raters."
        },
        say="findings.human_ceiling",
        core=("metric", "rater"),
    ),
    Analysis(
        "alt_test",
        GROUP,
        main=("winning_rate",),
        others=("advantage_probability", "advantage", "human_advantage", "pvalue", "n_items"),
        random=("cell",),
        in_table="winning_rate",
        beside=("advantage_probability",),
        aim="We applied the alternative annotator test with a margin of {margin}: a judge may replace a rater "
        "where it wins against half of the raters or more [calderon2025alternative].",
        say="findings_tests.alt_test",
        core=("metric", "rater"),
    ),
    Analysis(
        "confusion",
        GROUP,
        main=("n_outputs",),
        others=("share",),
        dims=("human_label", "judge_label"),
        pictures=("confusion",),
        own={"share": Variable("share of the outputs with this human label")},
        aim="We counted which labels each metric gives, by the labels that {gold} gives.",
        say="findings.confusion",
        core=("metric", "human_label", "judge_label"),
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
        say="findings_judges.repeatability",
        closing="findings_judges.repeatability_closing",
        core=("metric", "n_runs", "effect"),
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
        aim="We tested by permutation within inputs, and of inputs, whether missing scores depend on the system "
        "[cochran1950comparison] and on {gold}, and bounded the means and the pairwise accuracy that the missing "
        "scores allow [manski2003partial].",
        say="findings_judges.missingness",
        core=("metric", "system", "test", "human_quarter"),
    ),
    Question("calibrate", GROUP),
    Question("majority_vote", GROUP),
    Question("drop_noisiest_rater", GROUP),
)
