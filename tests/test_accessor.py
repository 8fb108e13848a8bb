import inspect
import re

import pytest

import xsumstat
from xsumstat import accessor, conclusions, methods, report
from xsumstat.analyses import (
    adjust,
    analytic_tests,
    bias,
    close_systems,
    correlation,
    diagnostics,
    disagreement,
    equivalence,
    inputs,
    intervals,
    judges,
    metric_intervals,
    metric_tests,
    range_drop,
    ranking,
    raters,
    scoring_range,
    sentinels,
    system_means,
    systems,
    top_systems,
    variances,
    verdicts,
)
from xsumstat.io import frames, mtme, paper_tables, result_frames
from xsumstat.plots import bars as bar_plots
from xsumstat.plots import biases as bias_plots
from xsumstat.plots import components as component_plots
from xsumstat.plots import distributions, matrices, rankings
from xsumstat.plots import equivalence as equivalence_plots
from xsumstat.plots import forest as forest_plots
from xsumstat.plots import outputs as output_plots
from xsumstat.plots import plans as plan_plots
from xsumstat.plots import pvalues as pvalue_plots
from xsumstat.plots import scores as score_plots
from xsumstat.plots import simulation as simulation_plots
from xsumstat.plots import system_means as mean_plots
from xsumstat.plots import systems as system_plots

FUNCTIONS = {
    (accessor.DatasetMeta, "corr"): correlation.corr,
    (accessor.DatasetMeta, "metric_corr"): correlation.metric_corr,
    (accessor.DatasetMeta, "ci"): intervals.ci,
    (accessor.DatasetMeta, "perm_test"): metric_tests.perm_test,
    (accessor.DatasetMeta, "boot_test"): metric_tests.boot_test,
    (accessor.DatasetMeta, "corr_test"): analytic_tests.corr_test,
    (accessor.DatasetMeta, "rank"): ranking.rank,
    (accessor.DatasetMeta, "equivalence"): equivalence.equivalence,
    (accessor.DatasetMeta, "margin_sensitivity"): equivalence.margin_sensitivity,
    (accessor.DatasetMeta, "dominance"): equivalence.dominance,
    (accessor.DatasetMeta, "compare_systems"): systems.compare_systems,
    (accessor.DatasetMeta, "system_means"): system_means.system_means,
    (accessor.DatasetMeta, "input_effect"): inputs.input_effect,
    (accessor.DatasetMeta, "top_k"): top_systems.top_k,
    (accessor.DatasetMeta, "top_k_corr"): top_systems.top_k_corr,
    (accessor.DatasetMeta, "close_corr"): close_systems.close_corr,
    (accessor.DatasetMeta, "sentinels"): sentinels.sentinels,
    (accessor.DatasetMeta, "bias"): bias.bias,
    (accessor.DatasetMeta, "alt_test"): judges.alt_test,
    (accessor.DatasetMeta, "human_ceiling"): judges.human_ceiling,
    (accessor.DatasetMeta, "to_mtme"): mtme.to_mtme,
    (accessor.DatasetMeta, "discriminative_agreement"): verdicts.discriminative_agreement,
    (accessor.DatasetMeta, "agreement"): raters.agreement,
    (accessor.DatasetMeta, "drop_noisiest_rater"): raters.drop_noisiest_rater,
    (accessor.DatasetMeta, "majority_vote"): raters.majority_vote,
    (accessor.DatasetMeta, "sample_inputs"): inputs.sample_inputs,
    (accessor.DatasetMeta, "metric_ci"): metric_intervals.metric_ci,
    (accessor.DatasetMeta, "scoring_range"): scoring_range.scoring_range,
    (accessor.DatasetMeta, "range_drop"): range_drop.range_drop,
    (accessor.DatasetMeta, "disagreement"): disagreement.disagreement,
    (accessor.DatasetMeta, "improvement_consistency"): disagreement.improvement_consistency,
    (accessor.DatasetMeta, "normality"): diagnostics.normality,
    (accessor.DatasetMeta, "pca"): diagnostics.pca,
    (accessor.DatasetMeta, "variance_components"): variances.variance_components,
    (accessor.DatasetMeta, "adjust"): adjust.adjust,
    (accessor.DatasetMeta, "significant"): adjust.significant,
    (accessor.DatasetMeta, "to_frame"): result_frames.to_frame,
    (accessor.DatasetMeta, "to_latex"): paper_tables.to_latex,
    (accessor.DatasetMeta, "to_markdown"): paper_tables.to_markdown,
    (accessor.DatasetMeta, "conclusion"): conclusions.conclusion,
    (accessor.DatasetMeta, "report"): report.report,
    (accessor.DatasetMeta, "methods"): methods.methods,
    (accessor.FrameMeta, "to_scores"): frames.to_scores,
    (accessor.Plots, "forest"): forest_plots.forest,
    (accessor.Plots, "pvalues"): pvalue_plots.pvalues,
    (accessor.Plots, "clusters"): rankings.clusters,
    (accessor.Plots, "sensitivity"): equivalence_plots.sensitivity,
    (accessor.Plots, "pca"): component_plots.pca,
    (accessor.Plots, "variance_components"): component_plots.variance_components,
    (accessor.Plots, "shifts"): equivalence_plots.shifts,
    (accessor.Plots, "heatmap"): score_plots.heatmap,
    (accessor.Plots, "input_effect"): score_plots.input_effect,
    (accessor.Plots, "top_k"): system_plots.top_k,
    (accessor.Plots, "confusion"): system_plots.confusion,
    (accessor.Plots, "bars"): bar_plots.bars,
    (accessor.Plots, "matrix"): matrices.matrix,
    (accessor.Plots, "scatter_matrix"): matrices.scatter_matrix,
    (accessor.Plots, "distribution"): distributions.distribution,
    (accessor.Plots, "disagreement"): output_plots.disagreement,
    (accessor.Plots, "improvement"): output_plots.improvement,
    (accessor.Plots, "range_drop"): output_plots.range_drop,
    (accessor.Plots, "close_corr"): system_plots.close_corr,
    (accessor.Plots, "system_means"): mean_plots.system_means,
    (accessor.Plots, "bias"): bias_plots.bias,
    (accessor.Plots, "tasks"): rankings.tasks,
    (accessor.Plots, "coverage"): simulation_plots.coverage,
    (accessor.Plots, "power"): simulation_plots.power,
    (accessor.Plots, "plan"): plan_plots.plan,
}


@pytest.mark.parametrize("owner, name", FUNCTIONS)
def test_methods_have_the_signature_and_the_text_of_their_function(owner, name):
    method, function = getattr(owner, name), FUNCTIONS[owner, name]
    ours, theirs = (list(inspect.signature(each).parameters.values())[1:] for each in (method, function))
    assert ours == theirs
    assert inspect.signature(method).return_annotation == inspect.signature(function).return_annotation
    data = next(iter(inspect.signature(function).parameters))
    assert [line for line in function.__doc__.splitlines() if line not in method.__doc__.splitlines()][0].startswith(
        data
    )
    assert not re.search(rf"^{data}\b", method.__doc__, re.MULTILINE)
    assert function.__doc__.endswith(method.__doc__[method.__doc__.index("\nReturns\n") :])


def test_every_method_is_listed_here():
    for owner in (accessor.DatasetMeta, accessor.FrameMeta, accessor.Plots):
        public = {name for name, value in vars(owner).items() if callable(value) and not name.startswith("_")}
        assert public == {name for each, name in FUNCTIONS if each is owner}


def test_everything_after_the_data_and_the_gold_is_keyword_only():
    for function in FUNCTIONS.values():
        _, *rest = inspect.signature(function).parameters.values()
        free = [p.name for p in rest if p.kind is not p.KEYWORD_ONLY]
        where = ["folder", "test_set", "language_pair"]
        assert free in (
            [],
            ["gold"],
            ["method"],
            ["other"],
            ["k"],
            ["rating"],
            ["variable"],
            where,
        )
        assert not [p.name for p in rest if p.kind is p.VAR_KEYWORD]


def test_accessor_equals_function(demo):
    assert demo.meta.corr("human").identical(correlation.corr(demo, "human"))
    drawn = {"method": "bootstrap", "n_resamples": 20, "rng": 0}
    assert demo.meta.ci("human", **drawn).identical(intervals.ci(demo, "human", **drawn))


def test_the_accessor_keeps_no_state(demo):
    before = dict(vars(demo.meta))
    demo.meta.ci("human", n_resamples=20, rng=0)
    assert {**vars(demo.meta)} == before and list(before) == ["_obj", "plot"]


def test_public_names():
    for name in xsumstat.__all__:
        assert inspect.getdoc(getattr(xsumstat, name))
    assert xsumstat.__version__.count(".") == 2
