"""What is said of judges that run again or refuse, recomputed from the result that the sentence is about."""

import numpy as np
import pytest
import xarray as xr

from xsumstat.dataset.wording import number
from xsumstat.narrative.conclusions import conclusion

NAN = np.nan


def made(analysis, data, coords, **attrs):
    usual = {"analysis": analysis, "gold": "human", "coefficient": "pearson", "level": "input"}
    return xr.Dataset(data, coords, {**usual, **attrs})


# --- Runs ---

SHARES = ("flip_share", "flip_low", "flip_high", "reversal_share", "equal_share")


def runs(n=1, **changed):
    """So many judges, in runs of which 1 and 5 are averaged."""
    one = {"flip_share": 0.33, "flip_low": 0.29, "flip_high": 0.37, "reversal_share": 0.12, "equal_share": 0.61}
    data = {name: ("metric", np.broadcast_to(value, n)) for name, value in (one | changed).items() if name in SHARES}
    reliability = changed.get("reliability", [[0.6 + at / 10, 0.8] for at in range(n)])
    ends = {"reliability": 0.0, "ci_low": -0.125, "ci_high": 0.125}
    data |= {name: (("metric", "n_runs"), np.array(reliability) + by) for name, by in ends.items()}
    if "correlation" in changed:
        data["correlation"] = (("metric", "n_runs"), changed["correlation"])
    return made("repeatability", data, {"metric": list("abcdefgh")[:n], "n_runs": [1, 5]}, n_runs=2)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_of_more_than_three_judges_the_others_have_the_reliability_of_one_run(n):
    result = runs(n)
    said = conclusion(result)
    for at, label in enumerate(result.metric.values):
        of_one = number(float(result.reliability.isel(metric=at).sel(n_runs=1)))
        assert (f"Two runs of {label} " in said) == (at < 3)
        assert (f"{of_one} for {label}" in said) == (at >= 3)


@pytest.mark.parametrize("asked", [[1, 5], [5, 1], [3, 5], [5, 3]])
def test_the_reliability_of_the_others_is_that_of_the_fewest_runs_asked_for(asked):
    result = runs(4).assign_coords(n_runs=asked)
    least = float(result.reliability[3].sel(n_runs=min(asked)))
    of = "a single run" if min(asked) == 1 else f"the mean of {min(asked)} runs"
    assert f"The reliability of {of} is {number(least)} for d." in conclusion(result)


def test_the_reliability_of_unknown_numbers_of_runs_is_that_of_their_mean():
    result = runs(4).isel(n_runs=1, drop=True)
    assert f"The reliability of the mean of the runs is {number(float(result.reliability[3]))} for d." in conclusion(
        result
    )


def test_a_judge_whose_runs_are_all_equal_is_told_apart():
    """The one with a share of exactly 1, not the one beside it."""
    result = runs(3, equal_share=[0.999, 1.0, 1.0])
    said = conclusion(result)
    assert "All runs of b and c are identical" in said and "one run is enough" not in said
    assert "Two runs of a " in said and "Two runs of b " not in said
    alone = conclusion(result.isel(metric=[1]))
    assert "All runs of b are identical" in alone and "one run is enough" in alone


def test_shares_of_runs_are_those_of_the_result():
    said = conclusion(runs())
    assert (
        "in 33 % [29 %, 37 %] of cases" in said
        and "(in 12 % they reverse the order" in said
        and "61 % of the outputs" in said
    )
    without = conclusion(runs(flip_low=NAN, flip_high=NAN))
    assert "in 33 % of cases" in without and "33 % [" not in without
    half = conclusion(runs(flip_high=NAN))
    assert "in 33 % of cases" in half and "33 % [" not in half


def test_without_pairs_of_systems_equal_scores_are_told_alone():
    said = conclusion(runs(flip_share=NAN))
    assert "61 % of the outputs the same score" in said and "order two systems" not in said
    nothing = conclusion(runs(flip_share=NAN, equal_share=NAN))
    assert "same score" not in nothing and "The reliability of a single run is .60" in nothing


@pytest.mark.parametrize("r", [[0.4, 0.5], [NAN, 0.5], [0.4, NAN]])
def test_what_more_runs_do_to_agreement_needs_both_numbers(r):
    said = conclusion(runs(correlation=[r]))
    told = f"from {number(r[0])} to {number(r[1])}" if not np.isnan(r).any() else None
    assert ("Pearson's r with" in said) == (told is not None) and (told is None or told in said)


def test_reliability_that_cannot_be_estimated_is_not_a_number():
    said = conclusion(runs(reliability=[[NAN, NAN]]))
    assert "The reliability of a cannot be estimated" in said and "nan" not in said
    lacking = runs(reliability=[[0.6, 0.8]]).isel(n_runs=[1])
    assert "The reliability of the mean of 5 runs is .80 " in conclusion(lacking)


# --- Refusals ---

TESTS = ["system", "score within inputs", "score between inputs"]


def refusals(n=1, *, p=(0.5, 0.6, 0.7), adjusted=None, **changed):
    """So many judges, each without 3 of 40 scores of each of two systems."""
    usual = {"difference": -0.5, "difference_low": -0.8, "difference_high": -0.2}
    usual |= {"accuracy": 0.7, "accuracy_low": 0.55, "accuracy_high": 0.9, "n_pairs": 1, "n_undecided": 1}
    data = {name: ("metric", np.broadcast_to(value, n)) for name, value in (usual | changed).items() if name in usual}
    missing = changed.get("n_missing", [[3, 3]] * n)
    data |= {"n_missing": (("metric", "system"), missing), "n_outputs": (("metric", "system"), [[40, 40]] * n)}
    data["missing_share"] = (("metric", "system"), np.array(missing) / 40)
    p = np.broadcast_to(np.array(p, dtype=float), (n, 3))
    corrected = p if adjusted is None else np.broadcast_to(np.array(adjusted, dtype=float), (n, 3))
    data |= {"pvalue": (("metric", "test"), p), "pvalue_adjusted": (("metric", "test"), corrected)}
    data["significant"] = (("metric", "test"), corrected <= 0.05)
    coords = {"metric": list("abcdefgh")[:n], "system": ["x", "y"], "test": TESTS}
    return made("missingness", data, coords, alpha=0.05, adjust="holm", adjust_family="metric")


@pytest.mark.parametrize("n", [3, 4, 5])
def test_of_more_than_three_judges_the_missing_scores_of_the_others_are_counted(n):
    result = refusals(n, n_missing=[[at + 1, 2] for at in range(n)])
    said = conclusion(result)
    for at, label in enumerate(result.metric.values):
        lacking, of = int(result.n_missing[at].sum()), int(result.n_outputs[at].sum())
        share = f"{label} has no score for {lacking} of {of} outputs ({100 * lacking / of:.0f} %)"
        assert (share in said) == (at < 3) and (f"{label} ({lacking})" in said) == (at >= 3)
    assert ("Scores are also missing for" in said) == (n > 3)


def test_judges_without_missing_scores_are_named():
    said = conclusion(refusals(3, n_missing=[[0, 0], [0, 1], [0, 0]]))
    assert "No score of a and c is missing." in said and "b has no score for 1 of 80 outputs" in said
    assert "No score of" not in conclusion(refusals(1, n_missing=[[1, 0]]))


@pytest.mark.parametrize("p", [(0.05, 0.05), (0.05, 0.0501), (0.0501, 0.05), (0.0501, 0.0501)])
def test_scores_are_missing_by_quality_or_by_system_at_alpha(p):
    """The corrected p-values decide, and not the others."""
    of_system, of_quality = p
    result = refusals(p=(0.001, 0.001, 0.001), adjusted=(of_system, 0.9, of_quality))
    said = conclusion(result)
    decided = result.pvalue_adjusted.isel(metric=0) <= result.attrs["alpha"]
    assert ("on the system (p = .050" in said) == bool(decided.sel(test="system"))
    assert ("on the human scores (p = .050" in said) == bool(decided.sel(test=TESTS[1:]).any())
    assert ("no significant sign" in said) == (not decided.any())
    assert ("have human scores that are" in said) == bool(decided.sel(test=TESTS[1:]).any())


def test_the_least_p_value_is_told_where_none_is_significant():
    assert "least p = .300" in conclusion(refusals(p=(NAN, 0.4, 0.3)))
    assert "least p = .200" in conclusion(refusals(p=(0.2, NAN, 0.3)))
    none = conclusion(refusals(p=(NAN, NAN, NAN)))
    assert "No test can tell whether" in none and "nan" not in none


@pytest.mark.parametrize(
    ("difference", "low", "high", "told"),
    [
        (-0.5, -0.8, -0.2, ".50 [.20, .80] lower"),
        (0.5, 0.2, 0.8, ".50 [.20, .80] higher"),
        (-0.5, -1.1, 0.1, ".50 lower"),  # limits of a distance cannot lie on both sides of 0
        (0.5, 0.0, 1.0, ".50 higher"),
        (NAN, NAN, NAN, None),
    ],
)
def test_outputs_without_a_score_have_lower_or_higher_human_scores(difference, low, high, told):
    said = conclusion(refusals(p=(0.5, 0.01, 0.5), difference=difference, difference_low=low, difference_high=high))
    assert "on the human scores (p = .010)" in said and ("have human scores that are" in said) == (told is not None)
    assert told is None or f"{told} on average" in said


def test_the_bounds_of_accuracy_and_the_order_of_systems_are_told_where_there_are_some():
    said = conclusion(refusals())
    assert "between .55 and .90" in said
    assert "the available scores give .70" in said and "1 of 1 pairs of systems" in said
    assert "the available scores give" not in conclusion(refusals(accuracy=NAN))
    none = conclusion(refusals(accuracy_low=NAN, accuracy_high=NAN, n_pairs=0, n_undecided=0))
    assert "pairwise accuracy" not in none and "pairs of systems" not in none


@pytest.mark.parametrize(("within", "between"), [(0.01, 0.04), (0.04, 0.01), (0.04, 0.06), (0.06, 0.04)])
def test_of_two_tests_of_quality_the_clearer_is_told(within, between):
    said = conclusion(refusals(p=(0.5, within, between)))
    assert f"depends on the human scores (p = {number(min(within, between), 3)})" in said
