"""Metrics compared with each other, without human scores."""

from __future__ import annotations

from xsumstat.catalogue.record import Analysis, TestName, Variable
from xsumstat.catalogue.variables import BETWEEN, ESTIMATED, LIMITS, PAIR, PAIRS, UNDEFINED_GROUPS, limits_of

GROUP = "among metrics"
ANALYSES = (
    Analysis(
        "metric_corr",
        GROUP,
        main=("correlation",),
        others=("n_undefined", "pvalue"),
        dims=PAIRS,
        pictures=("matrix",),
        own={**BETWEEN, **UNDEFINED_GROUPS},
        tests={"": TestName("a test of each group's correlation")},
        in_table="correlation",
        aim="We {compared} the scores of each pair of metrics, {correlation}.",
        say="narrative.findings.metric_corr",
        core=PAIR,
    ),
    Analysis(
        "metric_ci",
        GROUP,
        main=("correlation",),
        others=(*ESTIMATED, "bias", "df", "fell_back", "samples"),
        dims=(*PAIRS, "resample"),
        pictures=("matrix",),
        own=BETWEEN,
        aim="We {compared} the scores of each pair of metrics, {correlation}, with confidence intervals "
        "[deutsch2021statistical].",
        say="narrative.findings.metric_corr",
        core=PAIR,
    ),
    Analysis(
        "pca",
        GROUP,
        main=("coordinate",),
        others=("explained", "n_cells"),
        dims=("component",),
        pictures=("pca",),
        aim="We computed the principal components of the ranks that metrics give to outputs [braun2022survive].",
        say="narrative.findings.pca",
        core=("metric", "component"),
        only={"metric": ("coordinate",)},
    ),
    Analysis(
        "disagreement",
        GROUP,
        main=("share",),
        others=(*LIMITS, "n_pairs"),
        dims=(*PAIRS, "score_bin"),
        pictures=("disagreement",),
        own={
            "share": Variable("share ordered oppositely"),
            **limits_of("share"),
        },
        further=False,
        random=("input",),
        aim="We counted how many pairs of outputs of an input two metrics order oppositely, by the height of "
        "their scores [peyrard2019studying].",
        say="narrative.findings_outputs.disagreement",
        core=(*PAIR, "score_bin"),
    ),
    Analysis(
        "improvement_consistency",
        GROUP,
        main=("ratio",),
        others=(*LIMITS, "n_outputs", "n_best"),
        dims=("score_bin",),
        pictures=("improvement",),
        own=limits_of("ratio"),
        further=False,
        random=("input",),
        aim="We counted, of the outputs of an input that some metric holds to be better, those that all do, by "
        "the height of the scores [peyrard2019studying].",
        say="narrative.findings_outputs.improvement_consistency",
        core=("score_bin",),
    ),
)
