"""Choices between two outputs, by people and judges."""

from __future__ import annotations

from xsumstat.catalogue.record import Analysis, TestName, Variable
from xsumstat.catalogue.variables import LIMITS, limits_of

GROUP = "preferences"
ANALYSES = (
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
        say="findings_preferences.position_bias",
        core=("rater",),
    ),
)
