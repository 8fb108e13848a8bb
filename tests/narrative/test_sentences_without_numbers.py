"""What is said where numbers are lacking, are all alike, or cannot be: each claim is counted in the result anew."""

import numpy as np
import pytest
import xarray as xr

from xsumstat.narrative.conclusions import conclusion

NAN = np.nan
ALL = {"confidence_level": 0.95, "method": "jackknife"}


def made(analysis, data, coords, **attrs):
    usual = {"analysis": analysis, "gold": "human", "coefficient": "pearson", "level": "input"}
    return xr.Dataset(data, coords, {**usual, **attrs})


def confusion(tables):
    coords = {"metric": list("abc")[: len(tables)], "human_label": ["no", "yes"], "judge_label": ["no", "yes"]}
    return made("confusion", {"n_outputs": (("metric", "human_label", "judge_label"), tables)}, coords)


@pytest.mark.parametrize("wrong", [0, 1])
def test_the_most_frequent_error_is_told_where_there_is_one(wrong):
    result = confusion([[[3, wrong], [0, 4]]])
    said = conclusion(result)
    same, total = int(np.trace(result.n_outputs[0])), int(result.n_outputs.sum())
    assert f"for {same} of {total} outputs" in said and ("the most frequent error" in said) == (same < total)


def test_a_metric_without_labels_is_not_counted():
    result = confusion([[[3, 1], [0, 4]], [[0, 0], [0, 0]]])
    said = conclusion(result)
    assert "a and " in said and "b and " not in said
    assert conclusion(result.isel(metric=[1])).startswith("No output has both labels")


@pytest.mark.parametrize("analysis", ["corr", "ci"])
def test_correlations_that_are_all_undefined_have_no_best(analysis):
    nothing = dict.fromkeys(("correlation", "ci_low", "ci_high") if analysis == "ci" else ("correlation",), [NAN, NAN])
    data = {name: ("metric", each) for name, each in nothing.items()}
    said = conclusion(made(analysis, data, {"metric": ["a", "b"]}, **ALL))
    assert said.startswith("No metric has a defined correlation") and "nan" not in said and "best" not in said


def test_all_metrics_that_are_equally_good_are_followed_by_none():
    said = conclusion(made("corr", {"correlation": ("metric", [0.5, 0.5])}, {"metric": ["a", "b"]}))
    assert said.startswith("a and b have the highest correlation") and "followed" not in said


def test_differences_without_intervals_are_not_counted():
    dims = ("metric", "other_metric")
    data = {name: (dims, [[NAN, NAN]]) for name in ("difference", "ci_low", "ci_high")}
    said = conclusion(made("ci", data, {"metric": ["a"], "other_metric": ["b", "c"]}, **ALL))
    assert said.startswith("No difference has an interval")


def test_differences_that_all_lie_beyond_0_leave_none_to_include_it():
    dims, low, high = ("metric", "other_metric"), [[0.1, -0.5]], [[0.4, -0.2]]
    data = {"difference": (dims, [[0.2, -0.3]]), "ci_low": (dims, low), "ci_high": (dims, high)}
    said = conclusion(made("ci", data, {"metric": ["a"], "other_metric": ["b", "c"]}, **ALL))
    assert "1 lies above 0" in said and "1 lies below 0" in said and "no significant difference" not in said


def test_of_two_metrics_there_is_one_correlation():
    table = [[1.0, 0.3], [0.3, 1.0]]
    coords = {"metric": ["a", "b"], "other_metric": ["a", "b"]}
    said = conclusion(made("metric_corr", {"correlation": (("metric", "other_metric"), table)}, coords))
    assert "a and b (.30)" in said and "Most alike" not in said
    none = made("metric_corr", {"correlation": (("metric", "other_metric"), np.full((2, 2), NAN))}, coords)
    assert conclusion(none).startswith("No two metrics have a defined correlation")


def test_normality_of_metrics_that_all_reject_it_says_nothing_of_others():
    one = made("normality", {"pvalue": ("metric", [0.01, 0.02])}, {"metric": ["a", "b"]}, alpha=0.05)
    said = conclusion(one)
    rejected = int((one.pvalue <= 0.05).sum())
    assert f"rejected for {rejected} of {one.sizes['metric']} metrics" in said and "need not be normal" not in said


def test_normality_of_groups_of_which_none_was_tested():
    p = (("metric", "input"), np.full((2, 3), NAN))
    said = conclusion(made("normality", {"pvalue": p}, {"metric": ["a", "b"], "input": list("xyz")}, alpha=0.05))
    assert said.startswith("No test could be made")


def test_alpha_without_two_different_ratings_is_undefined():
    one = made("agreement", dict.fromkeys(("alpha", "ci_low", "ci_high"), NAN), {}, confidence_level=0.95)
    assert "alpha is undefined" in conclusion(one) and "reliable" not in conclusion(one)


def test_means_without_ratings_are_none():
    data = {name: ("system", [NAN, NAN]) for name in ("mean", "ci_low", "ci_high", "n_effective")}
    data |= {"n_rated": ("system", [0, 0]), "n_inputs": ("system", [9, 9]), "fell_back": ("system", [True, True])}
    said = conclusion(made("system_means", data, {"system": ["x", "y"]}, target="new", helped_by="m", **ALL))
    assert said.startswith("No system has ratings") and "highest" not in said


def test_components_that_cannot_be_estimated_are_no_shares():
    data = {"share": (("metric", "effect"), [[NAN, NAN, NAN]])}
    result = made("variance_components", data, {"metric": ["human"], "effect": ["system", "input", "cell"]})
    said = conclusion(result)
    assert "The components of human cannot be estimated" in said and "%" not in said
    known = result.assign(share=(("metric", "effect"), [[0.5, 0.1, 0.4]]))
    assert "Systems account for 50 % of" in conclusion(known) and "reliability" not in conclusion(known)


# --- Tests ---


def against(p, r, statistic, **attrs):
    data = {"pvalue": p, "correlation": r, "statistic": statistic, "n_undefined": [0] * len(p)}
    data = {name: ("metric", attrs.pop(name, each)) for name, each in data.items()}
    usual = {"against": 0.0, "alternative": "two-sided", "method": "wilcoxon", "alpha": 0.05}
    return made("corr_test", data, {"metric": list("abcd")[: len(p)]}, **{**usual, **attrs})


def test_correlations_above_below_and_not_different_from_a_value():
    said = conclusion(against([0.05, 0.01, 0.0501, NAN], [0.4, -0.3, 0.2, NAN], [3.0, -4.0, 1.0, NAN]))
    for told in (
        "a (.40) is significantly above 0",
        "b (-.30) is significantly below 0",
        "c (.20) is not significantly",
    ):
        assert told in said
    assert "Undefined: d." in said
    assert conclusion(against([NAN, NAN], [NAN, NAN], [NAN, NAN])).startswith("No test could be made")


@pytest.mark.parametrize(("level", "dim"), [("input", "input"), ("within_system", "system")])
@pytest.mark.parametrize("undefined", ["drop", "zero"])
def test_groups_without_a_correlation_are_counted_by_the_metric_with_most(level, dim, undefined):
    result = against([0.01, 0.3], [0.4, 0.1], [3.0, 1.0], n_undefined=[2, 5], level=level, undefined=undefined)
    said = conclusion(result.assign_attrs({f"n_{dim}s": 30}))
    most = int(result.n_undefined.max())
    assert f"Up to {most} of 30 {dim}s have an undefined correlation" in said
    assert ("count as 0" in said) == (undefined == "zero") and (f"leaves these {dim}s out" in said) == (
        undefined == "drop"
    )
    alone = conclusion(result.isel(metric=[0]))
    assert f"2 {dim}s have an undefined correlation" in alone and "Up to" not in alone
    assert "undefined correlation" not in conclusion(result.assign(n_undefined=0 * result.n_undefined))


@pytest.mark.parametrize("variable", ["power", "type_i_error"])
def test_power_without_a_defined_trial_is_none(variable):
    data = {name: ("test", [NAN, NAN]) for name in (variable, "ci_low", "ci_high", "mc_error")}
    said = conclusion(made("power", data, {"test": ["x", "y"]}, n_trials=9, alpha=0.05))
    assert said.startswith("No trial is defined")


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [(0.2, 0.4, "(slope .30)"), (0.2, np.inf, "(slope at least .20)"), (-np.inf, -0.2, "(slope -.20 or below)")],
)
def test_a_bias_with_one_limit_is_told_by_it(low, high, told):
    slope = (low + high) / 2 if np.isfinite(low + high) else NAN
    numbers = {"slope": slope, "ci_low": low, "ci_high": high, "pvalue": 0.01}
    data = {name: (("metric", "covariate"), [[each]]) for name, each in numbers.items()}
    said = conclusion(made("bias", data, {"metric": ["m"], "covariate": ["length"]}, alpha=0.05, method="regression"))
    assert f"m {told} scores outputs with a higher length too {'high' if high > 0.1 else 'low'}" in said
    none = {name: (("metric", "covariate"), [[NAN]]) for name in numbers}
    none = made("bias", none, {"metric": ["m"], "covariate": ["length"]}, alpha=0.05, method="regression")
    assert conclusion(none).startswith("No bias can be tested for length")
