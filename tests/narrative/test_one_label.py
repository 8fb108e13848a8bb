"""A result of which one label is selected says what it says of that label alone in its dim."""

import re
from collections import Counter

import pytest
from cases import ASKED, FEW, analysis_of, answer, of_demo, raters, rounded
from helpers import for_each

from xsumstat.catalogue import ANALYSES
from xsumstat.narrative.conclusions import conclusion

# Whose variables lack dims, and some others; slow tests ask all.
SOME = (
    *("system_means", "input_effect", "bias", "pca", "variances", "alt_test", "human_ceiling", "tasks", "plan"),
    *("ranks by level", "repeatability", "missingness", "dominance of versions", "versions", "drift", "ci, system"),
)
# What is said of these needs the whole dim, or another label of it.
WHOLE = {
    *(("rank_systems", "other_system"), ("variance_components", "effect")),
    *(("human_ceiling", "metric"), ("simulate", "metric")),
}


def words(text):
    return Counter(re.findall(r"\w+", text))


def selected(result):
    """Dims of the sentences that have labels."""
    how = ANALYSES[analysis_of(result)]
    dims = dict.fromkeys((*how.core, result.attrs.get("along")))
    return [dim for dim in dims if dim in result.dims and dim in result.coords]


def check_one_label(question):
    """Words are counted, as a simulation lists the dims in their order."""
    result = answer(question)
    for dim in selected(result):
        for at in (0, -1):
            alone = conclusion(result.isel({dim: at}))
            assert words(alone) == words(conclusion(result.isel({dim: [at]}))), (dim, at)
            assert alone or (analysis_of(result), dim) in WHOLE, (dim, at)


def check_dims(question):
    result = answer(question)
    result = result.drop_vars([name for name in result.data_vars if "resample" in result[name].dims])
    how = ANALYSES[analysis_of(result)]
    along = result.attrs.get("along")
    for dim in {along if each == "along" else each for each in how.only} & set(result.dims):
        known = how.along("along" if dim == along and "along" in how.only else dim)
        assert {name for name in result.data_vars if dim in result[name].dims} == {*known} & {*result.data_vars}, dim


@pytest.mark.filterwarnings("ignore")
@for_each("question", SOME)
def test_one_label_with_its_dim_or_without(question):
    check_one_label(question)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@for_each("question", ASKED)
def test_one_label_of_every_question(question):
    check_one_label(question)


@pytest.mark.filterwarnings("ignore")
@for_each("question", SOME)
def test_the_catalogue_knows_which_variables_have_a_dim(question):
    check_dims(question)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@for_each("question", ASKED)
def test_the_catalogue_knows_it_for_every_question(question):
    check_dims(question)


@pytest.mark.filterwarnings("ignore")
def test_one_number_of_runs_tells_its_reliability():
    result = answer("repeatability")
    for at, runs in enumerate(result.n_runs.values.tolist()):
        of = "a single run" if runs == 1 else f"the mean of {runs} runs"
        said = conclusion(result.isel(n_runs=at))
        assert said.startswith("Two runs of ") and f"The reliability of {of} is " in said
        assert ", of the mean" not in said


@pytest.mark.filterwarnings("ignore")
def test_one_rater_of_a_dim_of_any_name():
    ds = rounded(3)
    rating = raters(ds).rename(rater="annotator").assign_coords(annotator=list("xyz"))
    result = ds.meta.alt_test(rating, metric="m0", along="annotator", scale="ranks", min_items=2)
    assert "(wins against 0 of 3)" in conclusion(result) and "of 1)" in conclusion(result.isel(annotator=0))
    result = ds.meta.human_ceiling(rating, along="annotator", **FEW)
    assert conclusion(result.isel(annotator=0)) == conclusion(result) != ""


@pytest.mark.filterwarnings("ignore")
def test_one_metric_that_is_calibrated_is_said_to_be():
    result = answer("refitted")
    names = [label for label, how in zip(result.metric.values, result.calibrated.values, strict=True) if how]
    for label in result.metric.values.tolist():
        assert ("scores calibrated by the ratings" in conclusion(result.sel(metric=label))) == (label in names)
    assert 0 < len(names) < result.sizes["metric"]


def test_one_metric_that_is_better_when_lower_is_said_to_be_turned():
    result = of_demo("corr", "human")
    for label, higher in zip(result.metric.values, result.higher_is_better.values, strict=True):
        said = conclusion(result.sel(metric=label))
        assert said.startswith(f"{label} has a correlation of ")
        assert (f"For {label} lower is better; its scores were negated." in said) == (not higher)
