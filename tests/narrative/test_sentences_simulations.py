"""Sentences on groups, simulations, variance components and plans, against results of known numbers."""

import re

import numpy as np
import pytest
import scipy.stats
import xarray as xr

import xsumstat
from xsumstat.dataset.wording import number
from xsumstat.narrative import findings_plans
from xsumstat.narrative.conclusions import conclusion
from xsumstat.narrative.methods import methods

NAN = np.nan


def made(analysis, data, coords, **attrs):
    """A result of known numbers."""
    usual = {"analysis": analysis, "gold": "human", "coefficient": "pearson", "level": "system"}
    return xr.Dataset(data, coords, {**usual, **attrs})


def shares(analysis, variable, **attrs):
    limits = {"low": (0.01, 0.001, 0.04), "fair": (0.06, 0.03, 0.1), "high": (0.5, 0.4, 0.6)}
    dim = "test" if analysis == "power" else "interval"
    rows = np.array(list(limits.values())).T
    data = {name: (dim, each) for name, each in zip((variable, "ci_low", "ci_high"), rows, strict=True)}
    return made(analysis, data | {"mc_error": (dim, [0.01, 0.02, 0.05])}, {dim: list(limits)}, n_trials=99, **attrs)


def test_errors_and_coverage_are_below_at_or_above_their_level():
    said = "below {0} for low (.01); {0} within simulation error for fair (.06); above {0} for high (.50)."
    errors = shares("power", "type_i_error", alpha=0.05)
    assert conclusion(errors) == f"Type-I error of tests at .05 in 99 trials: {said.format('.05')}"
    covered = shares("coverage", "coverage", confidence_level=0.05)
    assert conclusion(covered) == f"Coverage of 5 % intervals in 99 trials: {said.format('5 %')}"


def test_power_from_the_highest_on_with_the_largest_error():
    said = conclusion(shares("power", "power", alpha=0.05))
    assert said == "Power at .05: high .50, fair .06 and low .01 (99 trials, simulation error up to .05 each)."


def components(error, reliability=(0.8, 0.9, 0.95)):
    effects = ["system", "input", "cell"]
    data = {
        "share": (("metric", "effect"), [[0.5, 0.1, 0.4]]),
        "variance": (("metric", "effect"), [[2.0, 0.4, 1.6]]),
        "standard_error": (("metric", "effect"), [[error, 0.1, 0.1]]),
        "reliability": (("metric", "n_inputs"), [list(reliability)]),
    }
    return made("variance_components", data, {"metric": ["human"], "effect": effects, "n_inputs": [5, 20, 50]})


@pytest.mark.parametrize(("error", "percent", "rough"), [(1.2, 60, False), (1.22, 61, True), (2.92, 146, True)])
def test_plans_are_rough_beyond_six_tenths(error, percent, rough):
    said = conclusion(components(error))
    assert "Systems account for 50 % of the variance of human, inputs for 10 % and single outputs for 40 %." in said
    doubt = ", so plans made with it are rough" if rough else ""
    assert f"The standard error of the systems' variance is {percent} % of that variance{doubt}." in said


@pytest.mark.parametrize(
    ("reliability", "said"),
    [
        ((0.8, 0.9, 0.95), "reliability of .9 or more with 20 inputs, and of less with 5."),
        ((0.8, 0.8999, 0.95), "of .9 or more with 50 inputs, and of less with 20"),
        ((0.7, 0.8, 0.85), "System means over 50 inputs have a reliability of .85."),
    ],
)
def test_reliability_is_enough_at_nine_tenths(reliability, said):
    assert said in conclusion(components(0.5, reliability))


def test_the_least_design_has_the_fewest_cells():
    least = xr.DataArray([40.0, 22.0, NAN], {"n_systems": [10, 20, 5]}, ("n_systems",))
    assert findings_plans._least(least) == "10 systems on 40 inputs"  # 400 cells, and not 440
    assert findings_plans._least(least, 40.0) == "10 systems on 40 inputs (fewer were not tried)"
    assert findings_plans._least(least, 22.0) == "10 systems on 40 inputs"
    assert findings_plans._least(least.isel(n_systems=0, drop=True), 40.0) == "40 inputs (fewer were not tried)"
    more = findings_plans._least(least + xr.DataArray([5.0, 0.0, 0.0], dims="n_systems"))
    assert more == "10 systems on 45 inputs or 20 systems on 22 inputs"  # the fewest systems, and the fewest cells


def test_halves_are_compared_with_what_correct_intervals_hold():
    demo = xsumstat.load_dataset("demo")
    kinds = {"jackknife": {"method": "jackknife"}, "fisher": {"method": "fisher"}}
    asked = {"metric": "judge", "level": ["system", "input"], "intervals": kinds, "n_trials": 30, "rng": 1}
    found = xsumstat.coverage(demo, "human", **asked)
    said = conclusion(found)
    for level in ("system", "input"):
        one = found.coverage.sel(level=level)
        jackknife, fisher = (number(one.sel(interval=kind).item()) for kind in kinds)
        assert f"in these shares of 30 splits: jackknife {jackknife} and fisher {fisher}." in said
    normal = scipy.stats.norm
    assert f"in about {number(2 * normal.cdf(normal.ppf(0.975) / 2**0.5) - 1)} of the splits, not in .95" in said
    assert "below 95 %" not in said and "one half of the systems and inputs" in methods(found)
    one = found.sel(level="input")
    assert conclusion(one.assign(coverage=one.coverage * NAN)) == "No trial is defined."
    true = xsumstat.coverage(demo, "human", truth="population", **asked)
    assert "splits" not in conclusion(true) and "cover the true correlation" in methods(true)


# --- Groups ---


def groups(difference, p, r=(0.5, 0.2)):
    dims = ("metric", "type", "other_type")
    data = {
        "difference": (dims, [[[NAN, difference], [-difference, NAN]]]),
        "pvalue": (dims, [[[NAN, p], [p, NAN]]]),
        "correlation": (("metric", "type"), [list(r)]),
        **{f"heterogeneity{end}": ("metric", [each]) for end, each in (("", 5.0), ("_pvalue", p))},
        **{name: ("metric", [each]) for name, each in (("df_numerator", 1.0), ("df_denominator", 9.0))},
    }
    coords = {"metric": ["m"], "type": ["news", "chat"], "other_type": ["news", "chat"]}
    return made("compare_groups", data, coords, by="type", alpha=0.05, alternative="two-sided", method="jackknife")


@pytest.mark.parametrize(("difference", "said"), [(0.3, "news above chat"), (-0.3, "chat above news")])
def test_the_higher_of_two_groups_is_above(difference, said):
    r = (0.5, 0.2) if difference > 0 else (0.2, 0.5)
    text = conclusion(groups(difference, 0.01, r))
    assert text.endswith(f": {said}.") and "1 of 1 pairs of groups differ significantly" in text
    first, second = ("news", "chat") if difference > 0 else ("chat", "news")
    assert f"m ({first} .50 and {second} .20; p = .010" in text


@pytest.mark.filterwarnings("ignore")
def test_of_three_groups_the_test_of_all_decides():
    ds = xsumstat.load_dataset("demo").assign_coords(third=("input", np.arange(30) % 3))
    found = ds.meta.compare_groups("human", by="third", metric="judge", level="input", adjust=None)
    df, p = float(found["df_denominator"].squeeze()), float(found["heterogeneity_pvalue"].squeeze())
    assert found["df_numerator"] == 2 and p > 0.05
    text = conclusion(found.assign(pvalue=found["pvalue"] * 0 + 0.001))
    assert "no significant difference between the 3 groups of third" in text and f"F(2, {df:.1f}) = " in text


@pytest.mark.parametrize(("n", "rest"), [(3, ""), (4, "; and for 1 more"), (6, "; and for 3 more")])
def test_metrics_that_are_not_shown_are_counted(n, rest):
    many = xr.concat([groups(0.3, 0.01).assign_coords(metric=[label]) for label in "abcdef"[:n]], "metric")
    text = conclusion(many.assign_attrs(groups(0.3, 0.01).attrs))
    assert f"; p = .010){rest}." in text and text.count("; for ") == 2
    assert f"{n} of {n} comparisons of two groups are significant" in text


@pytest.mark.parametrize("p", [(0.01, 0.3, NAN), (0.05, 0.0501, 0.01), (0.3, 0.4, 0.5), (NAN, 0.3, 0.2)])
def test_metrics_by_which_groups_differ_or_do_not_or_cannot_be_tested(p):
    each = [groups(0.3, value).assign_coords(metric=[label]) for label, value in zip("abc", p, strict=True)]
    said = conclusion(xr.concat(each, "metric").assign_attrs(each[0].attrs))
    sentences = re.split(r"\. (?=[A-Z0-9])", said)
    claims = ("differs between", "no significant difference between", "No test of all groups could be made")
    named = {}
    for claim in claims:
        text = next((each.partition(" for ")[2] for each in sentences if claim.lower() in each.lower()), "")
        named[claim] = {label for label in "abc" if re.search(rf"\b{label}\b", text)}
    p = np.array(p)
    by_p = (p <= 0.05, p > 0.05, np.isnan(p))
    assert named == {claim: {*np.array(list("abc"))[here]} for claim, here in zip(claims, by_p, strict=True)}
    significant, tested = int((p <= 0.05).sum()), int((~np.isnan(p)).sum())
    assert f"{significant} of {tested} comparisons of two groups are significant" in said
    two = conclusion(xr.concat(each[1:], "metric").assign_attrs(each[0].attrs))
    assert "comparisons of two groups are significant" in two and "pairs of groups" not in two
