"""Sentences on plans: which design is the least or the cheapest, for whom, and what it costs, from the result alone."""

import numpy as np
import pytest
import xarray as xr
from helpers import for_each

import xsumstat
from xsumstat.dataset.wording import number
from xsumstat.narrative.conclusions import conclusion

NAN = np.nan


def made(data, coords, **attrs):
    usual = {"analysis": "plan", "gold": "human", "coefficient": "pearson", "level": "input", "confidence_level": 0.95}
    return xr.Dataset(data, coords, {**usual, **attrs})


@pytest.mark.filterwarnings("ignore")
def test_the_least_inputs_are_told_of_each_difference_and_number_of_raters():
    demo = xsumstat.load_dataset("demo")
    noise = xr.DataArray(np.random.default_rng(0).normal(size=(3, 12, 30)), dims=("rater", "system", "input"))
    rating = demo.score.sel(metric="human", drop=True) + 8 * noise
    found = xsumstat.plan(demo, rating=rating, difference=[4.0, 8.0], n_raters=[1, 2], target=0.8)
    said, told = conclusion(found), []
    for difference in (4.0, 8.0):
        for raters in (1, 2):
            least = int(found.least_inputs.sel(difference=difference, n_raters=raters))
            power = found.power.sel(difference=difference, n_raters=raters)
            assert not (power.where(found.n_inputs < least).fillna(0) >= 0.8).any()
            word = "rater" if raters == 1 else "raters"
            told.append(f"a difference of {number(difference)} with {raters} {word} needs {least:,} inputs")
    assert f"For a power of .80, {'; '.join(told[:3])}; and 1 more. Planned for" in said


@pytest.mark.filterwarnings("ignore")
def test_a_metric_that_cannot_be_planned_is_left_out():
    demo = xsumstat.load_dataset("demo")
    ds = demo.assign(score=demo.score.where(demo.metric != "bleu", 1.0))
    found = xsumstat.plan(ds, "human", metric=["judge", "bleu"], level="input", target=0.1, n_inputs=[20, 50])
    assert found.width.sel(metric="bleu").isnull().all() and not found.width.sel(metric="judge").isnull().all()
    assert "judge needs " in conclusion(found) and "bleu" not in conclusion(found)
    nothing = found.assign(width=found.width * NAN)
    assert conclusion(nothing) == "No design could be planned."


def widths(low=(0.1, 0.2), high=(0.3, 0.6)):
    data = {"width": ("n_inputs", [0.2, 0.4]), "width_low": ("n_inputs", list(low))}
    return made(data | {"width_high": ("n_inputs", list(high))}, {"n_inputs": [20, 10]}, scope="these systems")


def test_doubts_about_widths_need_limits():
    assert "As these data are uncertain, a width may be 0.5 to 1.5 times the planned one (95 % limits)." in conclusion(
        widths()
    )
    assert "may be" not in conclusion(widths((NAN, NAN), (NAN, NAN)))
    assert "may be" not in conclusion(widths().drop_vars(["width_low", "width_high"]))
    assert conclusion(widths()).startswith("The expected width is .20 to .40 in 2 designs; target= selects")
    planned = widths().assign(least_inputs=20.0).assign_attrs(target=0.2)
    assert conclusion(planned).startswith(
        "For a width of .20, the smallest design has 20 inputs (the width may be .10 to .30, as these data are "
        "uncertain)."
    )
    unsure = planned.drop_vars(["width_low", "width_high"])
    assert conclusion(unsure).startswith("For a width of .20, the smallest design has 20 inputs.")
    none = planned.assign(least_inputs=NAN)
    assert conclusion(none).startswith(
        "For a width of .20, none of these numbers of inputs (10 and 20) is enough: the width is .20 to .40."
    )
    several = none.expand_dims(n_raters=[1, 2, 3])
    assert conclusion(several).startswith(
        "For a width of .20, none of these numbers of inputs (10 and 20) is enough for a design with 1 rater, a design "
        "with 2 raters or a design with 3 raters: the width is .20 to .40."
    )


@pytest.mark.filterwarnings("ignore")
@for_each("judge, target", [("judge", 1e-6), ("judge", 20.0), (None, 1e-6)])
def test_no_design_that_reaches_the_target_is_told_of_which_judge(judge, target):
    demo = xsumstat.load_dataset("demo")
    costs = {"cost_per_verdict": 0.1} if judge else {"cost_per_prompt": 2}
    found = xsumstat.plan(
        demo, "human", **({"metric": judge} if judge else {}), estimand="mean", target=target, **costs
    )
    said = conclusion(found)
    reached = bool(found.best.any())
    assert reached == bool((found.width <= target * (1 + 1e-9)).any()) == (target > 1)
    assert (f"No design reaches the target{f' with {judge}' if judge else ''}." in said) == (not reached)
    assert ("The cheapest design that reaches a width of 20.00 costs" in said) == reached


@pytest.mark.filterwarnings("ignore")
def test_ratings_alone_are_told_where_they_reach_the_target():
    demo = xsumstat.load_dataset("demo")
    found = xsumstat.plan(demo, "human", metric="judge", estimand="mean", target=20.0, cost_per_verdict=0.1)
    alone = float(found.cost_alone.squeeze())
    assert f"with ratings alone a cost of {alone:,.6g}" in conclusion(found)
    unknown = conclusion(found.assign(cost_alone=found.cost_alone * NAN))
    assert "ratings alone" not in unknown and "and scores of judge for the same inputs. The 95 %" in unknown
    budget = xsumstat.plan(demo, "human", metric="judge", estimand="mean", budget=200, cost_per_verdict=0.1)
    assert f"with ratings alone {number(float(budget.width_alone.squeeze()))}" in conclusion(budget)
    alone = budget.width_alone
    for width, helps in ((alone * 0.9, True), (alone, False), (alone * 2, False)):
        assert ("so the scores do not help" in conclusion(budget.assign(width=width))) == (not helps)


def test_of_more_than_three_budgets_the_first_are_told():
    n = [10, 20, 30, 40, 50]
    data = {"width": 1 / np.array(n), "width_low": [NAN] * 5, "width_high": [NAN] * 5, "best": [True] * 5}
    data |= {"rated_inputs": n, "cost": np.array(n) * 1.0}
    data = {name: ("budget", each) for name, each in data.items()}
    found = made(data, {"budget": n}, estimand="mean", n_raters=1, n_systems=2)
    said = conclusion(found)
    assert said.count("A budget of") == 3 and "And 2 more." in said
    assert "A budget of 30 buys 30 inputs, 1 rating of each output of 2 systems (cost 30). The 95 % interval" in said
    assert "And" not in conclusion(found.isel(budget=[0, 1, 2])) and "of a system's mean is .03 wide." in said


COSTS = {12.5: "12.5", 99999.9: "99,999.9", 123456.7: "123,457", 1e6: "1,000,000", 12345678.0: "12,345,678"}


@pytest.mark.parametrize(("cost", "shown"), COSTS.items())
def test_costs_have_all_their_digits(cost, shown):
    data = {"width": 0.2, "width_low": NAN, "width_high": NAN, "best": True, "rated_inputs": 1, "cost": cost}
    data = {name: ("budget", [each]) for name, each in data.items()}
    said = conclusion(made(data, {"budget": [2 * cost]}, estimand="mean", n_raters=2, n_systems=1))
    assert f"buys 1 input, 2 ratings of each output of 1 system (cost {shown}). The 95 % interval" in said
    budget = conclusion(made(data, {"budget": [cost]}, estimand="mean", n_raters=2, n_systems=1))
    assert budget.startswith(f"A budget of {shown} buys 1 input")
    several = conclusion(made(data, {"budget": [2 * cost]}, estimand="difference", n_raters=1, n_systems=2))
    assert (
        "1 rating of each output of 2 systems" in several and "of the difference of two systems is .20 wide" in several
    )


def test_doubts_are_those_of_the_middle_design():
    data = {"width": [0.2, 0.4, 1.0], "width_low": [0.1, 0.3, 0.9], "width_high": [0.4, 0.6, 1.1]}
    data = {name: ("n_inputs", each) for name, each in data.items()}
    said = conclusion(made(data, {"n_inputs": [40, 20, 10]}, scope="these systems"))
    assert "a width may be 0.75 to 1.5 times the planned one" in said  # .5, .75, .9 and 2, 1.5, 1.1
