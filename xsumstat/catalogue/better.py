"""Which metric is better, or whether two are equally good."""

from __future__ import annotations

from typing import Any

from xsumstat.catalogue.record import Analysis, TestName, Variable
from xsumstat.catalogue.variables import LIMITS, PAIR, PAIRS, UNDEFINED_GROUPS

GROUP = "better, or equally good"
_RESAMPLED: dict[str, Any] = {
    "group": GROUP,
    "main": ("pvalue",),
    "dims": (*PAIRS, "resample"),
    "pictures": ("pvalues",),
    "aim": "We tested {tested} with {gold}, {correlation} [deutsch2021statistical].",
    "needs_three": True,
    "say": "narrative.findings_tests.metric_tests",
    "best": "narrative.findings_tests.leaders",
    "closing": "narrative.findings_tests.uncorrected",
    "core": PAIR,
}
ANALYSES = (
    Analysis(
        "compare_metrics",
        GROUP,
        main=("difference",),
        others=("pvalue", *LIMITS, "standard_error", "df", "bias", "n_undefined", "fell_back", "statistic"),
        dims=PAIRS,
        pictures=("forest", "pvalues"),
        own={
            "n_undefined": Variable(
                "number of resamples, values without one label, or groups, that are undefined", dtype=int
            )
        },
        aim="We tested {tested} with {gold}, {correlation}, with confidence intervals of the difference "
        "[zou2007toward].",
        needs_three=True,
        say="narrative.findings_tests.correlation_tests",
        best="narrative.findings_tests.leaders",
        closing="narrative.findings_tests.uncorrected",
        core=PAIR,
    ),
    Analysis("perm_test", others=("difference", "n_undefined", "exact", "samples"), **_RESAMPLED),
    Analysis("boot_test", others=("difference", "n_undefined", "samples"), **_RESAMPLED),
    Analysis(
        "corr_test",
        GROUP,
        main=("pvalue",),
        others=("difference", "correlation", "statistic", *LIMITS, "n_undefined"),
        dims=PAIRS,
        pictures=("pvalues",),
        own=UNDEFINED_GROUPS,
        aim="We tested {tested} with {gold}, {correlation} [graham2014testing].",
        special_aims={
            "corr_test_of_value": "We tested for each metric whether its agreement with {gold} differs from {against}, "
            "{correlation}."
        },
        needs_three=True,
        say="narrative.findings_tests.correlation_tests",
        best="narrative.findings_tests.leaders",
        closing="narrative.findings_tests.uncorrected",
        core=PAIR,
    ),
    Analysis(
        "equivalence",
        GROUP,
        main=("equivalent",),
        others=("difference", *LIMITS, "n_undefined", "fell_back", "pvalue", "margin"),
        dims=PAIRS,
        pictures=("forest", "pvalues"),
        undirected=True,
        tests={"jackknife": TestName("two one-sided jackknife tests")},
        aim="We tested whether correlations with {gold}, {correlation}, are equivalent, that is, apart by less "
        "than {margin} [schuirmann1987comparison, braun2022survive].",
        needs_three=True,
        say="narrative.findings_tests.equivalence",
        closing="narrative.findings_tests.uncorrected",
        core=PAIR,
    ),
    Analysis(
        "margin_sensitivity",
        GROUP,
        main=("share",),
        others=("n_tests",),
        dims=("margin", *PAIRS),
        pictures=("sensitivity",),
        own={"share": Variable("share of comparisons equivalent")},
        aim="We counted how many comparisons of correlations with {gold}, {correlation}, are equivalent at "
        "each margin by {tests}, at a significance level of {alpha} [schuirmann1987comparison, braun2022survive].",
        needs_three=True,
        say="narrative.findings_tests.margin_sensitivity",
        core=("margin",),
    ),
    Analysis(
        "dominance",
        GROUP,
        main=("probability",),
        others=("resolved", "probability_shift", "mean_shift"),
        dims=PAIRS,
        pictures=("shifts",),
        aim="We estimated how probable it is that one metric agrees better with {gold}, {correlation}, than "
        "another, by the share of {resamples} in which it does, and call an order resolved if the share is at "
        "least {threshold} [braun2022survive].",
        needs_three=True,
        say="narrative.findings_tests.dominance",
        core=PAIR,
        only=dict.fromkeys(PAIR, ("probability", "resolved", "probability_shift")),
    ),
)
