"""Of whom an answer speaks, by its attrs: the rules of the docstrings, row by row."""

import pytest
from cases import ASKED, analysis_of, answer

from xsumstat.dataset import scope

SIZES = {"n_systems": 12, "n_inputs": 30}
# The labels that a formula correlates stand for others like them.
CORRELATED = {
    "system": "systems like these on these 30 inputs",
    "input": "systems like these on these 30 inputs",
    "within_system": "these 12 systems on inputs like these",
    "global": "outputs like these",
}


@pytest.mark.parametrize("method", ["williams", "steiger", "meng", "zou", "tost_analytic", "anderson_hauck"])
def test_formulas_speak_of_what_they_correlate(method):
    for level, want in CORRELATED.items():
        assert str(scope.of({"method": method, "level": level, **SIZES})) == want


@pytest.mark.parametrize(
    ("attrs", "want"),
    [
        ({"resample": "system input"}, "systems and inputs like these"),
        ({"resample": "both"}, "systems and inputs like these"),
        ({"resample": "input"}, "these 12 systems on inputs like these"),
        ({"resample": "system"}, "systems like these on these 30 inputs"),
        ({"resample": "input", "n_systems": 1}, "this system on inputs like these"),
        ({"resample": "input", "by": "type"}, "these systems on inputs like these"),  # groups differ in size
        ({"resample": "cell"}, "outputs like these"),
        ({"resample": "system input rater"}, "systems and inputs like these, raters like these"),
        ({"resample": "system input", "swap": "scores"}, "these 12 systems"),
        ({"resample": "system", "swap": "scores"}, "systems like these on these 30 inputs"),
        ({"resample": "input", "cluster": "topic"}, "these 12 systems on inputs like these, clustered by topic"),
        ({"analysis": "compare_systems"}, "these 12 systems on inputs like these"),
        ({"analysis": "system_means", "target": "new"}, "these 12 systems on inputs like these"),
        ({"analysis": "system_means", "target": "these"}, "these 12 systems on these 30 inputs"),
        ({"analysis": "input_effect"}, "systems like these on these 30 inputs"),
        ({"analysis": "alt_test"}, "outputs like these"),
        ({"analysis": "rank_tasks"}, "these 12 systems"),
        ({"analysis": "ci", "method": "fisher", "level": "within_system"}, "these 12 systems on inputs like these"),
    ],
)
def test_resampled_labels_stand_for_others(attrs, want):
    assert str(scope.of({**SIZES, **attrs})) == want


# Tests of shape, of the test's own errors, and of groups one by one speak of nobody else.
NO_SCOPE = {"normality", "coverage", "power", "corr", "metric_corr"}


def test_what_infers_says_of_whom():
    lacking = set()
    for question in ASKED:
        found = answer(question)
        if {"ci_low", "pvalue", "width", "power"} & set(found.variables) and "scope" not in found.attrs:
            lacking.add(analysis_of(found))
    assert lacking - NO_SCOPE <= {"plan"}  # of two metrics in simulated scores


def test_what_infers_nothing_has_no_scope():
    assert scope.of({"analysis": "corr", **SIZES}) is None
    assert scope.of({"resample": "input"}).name == "these systems"
    assert scope.of({"resample": "system input"}).name == "systems like these"
