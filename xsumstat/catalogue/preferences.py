"""Choices between two outputs, by human raters and judges."""

from __future__ import annotations

from xsumstat.catalogue.record import Analysis, TestName, Variable
from xsumstat.catalogue.variables import LIMITS, limits_of

GROUP = "preferences"
ANALYSES = (
    Analysis(
        "preference_agreement",
        GROUP,
        main=("accuracy",),
        others=(
            *(*LIMITS, "kappa", "kappa_low", "kappa_high", "difference", "difference_low", "difference_high", "pvalue"),
            *("tie_share", "n_pairs", "n_shared", "n_prompts"),
        ),
        dims=("rater",),
        pictures=("raters",),
        own={
            "accuracy": Variable("share of pairs with the same choice as a person"),
            "difference": Variable("difference from human accuracy on the same pairs"),
            **limits_of("accuracy"),
        },
        further=False,
        aim="We compared how often each judge chose as people did with how often people chose as each other, by the "
        "share of pairs and by Cohen's kappa [cohen1960coefficient], leaving out one prompt at a time.",
        say="narrative.findings_preferences.preference_agreement",
        core=("rater",),
    ),
    Analysis(
        "position_bias",
        GROUP,
        main=("position_bias",),
        others=(
            *(*LIMITS, "pvalue", "flip_share", "flip_low", "flip_high"),
            *("n_first", "n_second", "n_pairs", "n_prompts"),
        ),
        dims=("rater",),
        pictures=("raters",),
        own={
            "n_pairs": Variable("number of pairs chosen in both orders", dtype=int),
            **limits_of("bias"),
        },
        further=False,
        tests={
            "": TestName("sign tests of the pairs whose choice changes", one="a sign test of the pairs that change")
        },
        aim="We tested whether each judge prefers the output that is shown first, by the pairs whose choice changes "
        "with the order [zheng2023judging], with intervals for a difference of two shares [bonett2012adjusted].",
        say="narrative.findings_preferences.position_bias",
        core=("rater",),
    ),
    Analysis(
        "preference_bias",
        GROUP,
        main=("difference",),
        others=(*LIMITS, "standard_error", "pvalue", "share", "human_share", "is_group", "n_pairs", "n_prompts"),
        dims=("rater", "covariate"),
        pictures=("raters",),
        own={
            "difference": Variable("judge's share of choices minus the human share"),
            "share": Variable("share of the judge's choices, ties half"),
            **limits_of("difference"),
        },
        further=False,
        aim="We tested whether each judge prefers outputs by {given} more than people do on the same pairs "
        "[zheng2023judging, dubois2024length], leaving out one prompt at a time.",
        say="narrative.findings_preferences.preference_bias",
        core=("rater", "covariate"),
    ),
    Analysis(
        "rank_systems",
        GROUP,
        main=("strength",),
        others=(
            *(*LIMITS, "standard_error", "rank", "cluster", "win_rate"),
            *("difference", "difference_low", "difference_high", "pvalue", "n_pairs", "n_prompts"),
        ),
        dims=("rater", "other_system"),
        pictures=("strengths",),
        own={
            "difference": Variable("difference of strengths", turned="negated"),
            "cluster": Variable("cluster of systems without significant differences, 1 is best", dtype=int),
            **limits_of("strength"),
        },
        further=False,
        aim="We ranked the systems by Bradley and Terry's model [bradley1952rank] with ties [davidson1970extending], "
        "leaving out one prompt at a time; people's choices were corrected by a judge's by prediction-powered "
        "inference [angelopoulos2023ppi] where both are named.",
        say="narrative.findings_preferences.rank_systems",
        core=("rater", "system", "other_system"),
    ),
)
