"""Some of the systems, or of the range of scores."""

from __future__ import annotations

from xsumstat.catalogue.record import Analysis, Question, TestName, Variable
from xsumstat.catalogue.variables import CHANCE, ESTIMATED, LIMITS, PAIR, PAIRS, limits_of

GROUP = "parts of the scores"
ANALYSES = (
    Question("top_k", GROUP),
    Analysis(
        "top_k_corr",
        GROUP,
        main=("correlation",),
        others=(*ESTIMATED, "bias", "df", "fell_back", "samples", *CHANCE),
        dims=("k", "resample"),
        pictures=("top_k",),
        in_table="correlation",
        aim="We {compared} the scores of each metric with {gold}, {correlation}, among the k best systems{best_by} "
        "[bhandari2020reevaluating].",
        say="narrative.findings.top_k_corr",
        core=("metric", "k"),
    ),
    Analysis(
        "close_corr",
        GROUP,
        main=("correlation",),
        others=(*ESTIMATED, "n_pairs", "gap_low", "gap_high"),
        dims=("gap",),
        pictures=("close_corr",),
        own={"n_pairs": Variable("number of pairs of systems", dtype=int)},
        in_table="correlation",
        aim="We {compared} the scores of each metric with {gold}, {correlation}, over the pairs of systems whose "
        "means by the metric lie within a gap of each other [deutsch2022reexamining]; {gaps}.",
        say="narrative.findings.close_corr",
        core=("metric", "gap"),
    ),
    Question("scoring_range", GROUP),
    Analysis(
        "range_drop",
        GROUP,
        main=("difference",),
        others=(
            *("whole", "part", *LIMITS, "pvalue", "expected", "expected_low", "expected_high"),
            *("excess", "excess_pvalue", "n_inputs"),
        ),
        dims=PAIRS,
        pictures=("range_drop",),
        own={"difference": Variable("drop of the correlation"), **limits_of("drop")},
        further=False,
        tests={"": TestName("bootstrap test", "a bootstrap test")},
        aim='We compared the correlation of each pair of metrics, {correlation}, on outputs in the range "{range}" '
        "with that on all [peyrard2019studying], and the drop with the drop that a normal model expects "
        "from the narrower range.",
        say="narrative.findings_tests.range_drop",
        core=PAIR,
    ),
)
