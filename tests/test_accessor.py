import inspect

import pytest

import xsumstat
from xsumstat import (
    accessor,
    comparison,
    corr_tests,
    correlation,
    diagnostics,
    equivalence_plots,
    families,
    intervals,
    io,
    plots,
    ranking,
    trial_plots,
)
from xsumstat import equivalence as _equivalence

FUNCTIONS = {
    (accessor.DatasetMeta, "corr"): correlation.corr,
    (accessor.DatasetMeta, "metric_corr"): correlation.metric_corr,
    (accessor.DatasetMeta, "ci"): intervals.ci,
    (accessor.DatasetMeta, "perm_test"): comparison.perm_test,
    (accessor.DatasetMeta, "boot_test"): comparison.boot_test,
    (accessor.DatasetMeta, "corr_test"): corr_tests.corr_test,
    (accessor.DatasetMeta, "rank"): ranking.rank,
    (accessor.DatasetMeta, "equivalence"): _equivalence.equivalence,
    (accessor.DatasetMeta, "margin_sensitivity"): _equivalence.margin_sensitivity,
    (accessor.DatasetMeta, "dominance"): _equivalence.dominance,
    (accessor.DatasetMeta, "normality"): diagnostics.normality,
    (accessor.DatasetMeta, "pca"): diagnostics.pca,
    (accessor.DatasetMeta, "adjust"): families.adjust,
    (accessor.DatasetMeta, "significant"): families.significant,
    (accessor.DatasetMeta, "to_frame"): io.to_frame,
    (accessor.FrameMeta, "to_scores"): io.to_scores,
    (accessor.Plots, "forest"): plots.forest,
    (accessor.Plots, "pvalues"): plots.pvalues,
    (accessor.Plots, "clusters"): plots.clusters,
    (accessor.Plots, "sensitivity"): equivalence_plots.sensitivity,
    (accessor.Plots, "pca"): equivalence_plots.pca,
    (accessor.Plots, "shifts"): equivalence_plots.shifts,
    (accessor.Plots, "coverage"): trial_plots.coverage,
    (accessor.Plots, "power"): trial_plots.power,
}


@pytest.mark.parametrize("owner, name", FUNCTIONS)
def test_methods_have_the_signature_and_the_text_of_their_function(owner, name):
    method, function = getattr(owner, name), FUNCTIONS[owner, name]
    ours, theirs = (list(inspect.signature(each).parameters.values())[1:] for each in (method, function))
    assert ours == theirs
    assert inspect.signature(method).return_annotation == inspect.signature(function).return_annotation
    assert method.__doc__ == function.__doc__


def test_every_method_is_listed_here():
    for owner in (accessor.DatasetMeta, accessor.FrameMeta, accessor.Plots):
        public = {name for name, value in vars(owner).items() if callable(value) and not name.startswith("_")}
        assert public == {name for each, name in FUNCTIONS if each is owner}


def test_everything_after_the_data_and_the_gold_is_keyword_only():
    for function in FUNCTIONS.values():
        _, *rest = inspect.signature(function).parameters.values()
        free = [p.name for p in rest if p.kind is not p.KEYWORD_ONLY]
        assert free in ([], ["gold"], ["method"], ["other"])
        assert not [p.name for p in rest if p.kind is p.VAR_KEYWORD]


def test_accessor_equals_function(demo):
    assert demo.meta.corr("human").identical(correlation.corr(demo, "human"))
    assert demo.meta.ci("human", n_resamples=20, rng=0).identical(intervals.ci(demo, "human", n_resamples=20, rng=0))


def test_the_accessor_keeps_no_state(demo):
    before = dict(vars(demo.meta))
    demo.meta.ci("human", n_resamples=20, rng=0)
    assert dict(vars(demo.meta)) == before and list(before) == ["_obj"]


def test_public_names():
    for name in xsumstat.__all__:
        assert inspect.getdoc(getattr(xsumstat, name))
    assert xsumstat.__version__.count(".") == 2
