"""What the short answer of a judge report names: odd scores, groups, refusals; and what columns are."""

import re

import numpy as np
import pytest
import xarray as xr
from helpers import by_turns
from judged_outputs import PEOPLE, scores, table, tau

import xsumstat  # noqa: F401
from xsumstat.cli import gate
from xsumstat.dataset import scale_checks
from xsumstat.report import judge_report

pytestmark = pytest.mark.filterwarnings("ignore")


def short(frame, **how):
    return scores(frame, **how).meta.report(kind="judge").conclusion().replace("\n", " ")


@pytest.mark.parametrize("code", by_turns([-1, 0, 99]))
def test_a_code_for_missing_scores_is_named(code):
    frame = table()
    places = np.random.default_rng(0).choice(len(frame), 15, replace=False)
    frame.iloc[places, frame.columns.get_loc("near")] = code
    assert f"{code} (15 outputs) by near is no grade of the raters, perhaps a missing score" in short(frame)


@pytest.mark.parametrize("code", by_turns([-1, 0, 99]))
def test_a_code_does_not_change_what_is_compared(code):
    """One such value among grades is no other scale: nothing is fitted, and the output counts against the judge."""
    frame = table()
    rates = {}
    for value in (np.nan, code):
        frame.iloc[4, frame.columns.get_loc("near")] = value
        rates[value] = scores(frame).meta.alt_test(metric="near")
    assert "calibrated" not in rates[code].attrs
    apart = abs(rates[code].advantage_probability - rates[np.nan].advantage_probability)
    assert float(apart.max()) < 0.05


@pytest.mark.parametrize("change", by_turns([lambda x: x - 1, lambda x: x, lambda x: 20 * x, lambda x: x / 5]))
@pytest.mark.slow
def test_other_scales_have_no_codes(change):
    frame = table()
    assert "perhaps a missing score" not in short(frame.assign(near=change(frame["near"])))


def test_the_groups_with_the_least_and_the_most_agreement_are_named():
    frame = table(prompts=150, judges=("near",))
    topic = np.array(["chat", "code", "mail"])[frame.index.get_level_values("input") % 3]
    rng = np.random.default_rng(3)
    frame["near"] = np.where(topic == "code", rng.integers(1, 6, len(frame)), frame["near"])
    frame["human"] = frame[PEOPLE].mean(axis=1)
    ds = frame.assign(topic=topic).drop(columns="human").reset_index().meta.to_scores(
        wide=True, ratings=PEOPLE, kind={"covariate": ["length"]}
    )  # fmt: skip
    said = ds.meta.report(kind="judge").conclusion().replace("\n", " ")
    found = {each: tau(frame[topic == each], frame["near"][topic == each], frame["human"][topic == each])
             for each in ("chat", "code", "mail")}  # fmt: skip
    lowest, highest = min(found, key=found.get), max(found, key=found.get)
    assert (
        lowest == "code"
        and f"the groups of topic (lowest for {lowest}, " in said
        and f"; highest for {highest}, " in said
    )


@pytest.mark.slow
def test_refusals_of_other_outputs_are_told():
    frame = table(prompts=120)
    human = frame[PEOPLE].mean(axis=1)
    frame.loc[human <= 2, "near"] = np.nan
    said = short(frame)
    assert "the outputs that near refuses have lower human scores than the others" in said and "that wild" not in said
    frame = table(prompts=120)
    of_one = frame.index.get_level_values("system") == frame.index.get_level_values("system")[0]
    frame.loc[of_one & (np.random.default_rng(0).random(len(frame)) < 0.3), "near"] = np.nan
    assert "the outputs that near refuses are not like the others" in short(frame)


def test_a_judge_that_is_a_rater_or_the_mean_of_raters_is_named():
    frame = table(prompts=60)
    frame["copy"], frame["mean"] = frame["bob"], frame[PEOPLE].mean(axis=1)
    said = short(frame)
    assert "copy equals the grades of bob, and its agreement says nothing about a judge" in said
    assert "mean equals the raters' mean, and its" in said and "near equals" not in said
    frame = frame[["ann", "copy", "near"]].assign(copy=frame["ann"]).rename(columns={"ann": "human"})
    said = frame.reset_index().meta.to_scores(wide=True).meta.report("human", kind="judge").conclusion()
    assert "copy equals the human scores, and its agreement says nothing" in " ".join(said.split())


def test_a_newer_version_is_compared_in_short():
    frame = table(prompts=60).drop(columns="wild")
    old = scores(frame)
    new = frame.assign(near=np.clip(frame["near"] + 1, 1, 5))
    new.iloc[:4, new.columns.get_loc("near")] = np.nan
    ds = scores(new)
    page = judge_report.make_report(ds, "judges", anchor=old, drift=0.05)
    said = page.conclusion().replace("\n", " ")
    both = new["near"].notna() & frame["near"].notna()
    shift = (new["near"] - frame["near"])[both].mean()
    pattern = (
        r"Since the older version its agreement changed by (-?\.\d+) \[.*?\] \(90 % interval\), (not shown to be )?"
        r"equivalent within ±.05; its scores changed by (-?\.\d+) \[.*?\] on average \(95 % interval\)\."
    )
    told = re.search(pattern, said)
    assert told and abs(float(told[3]) - shift) < 0.006
    of_drift = page.results["drift kendall"].sel(metric="near")
    assert float(told[1]) == pytest.approx(of_drift["difference"].item(), abs=0.006)
    assert (told[2] is None) == (of_drift["pvalue"].item() <= 0.05)
    lost = int((frame["near"].notna() & new["near"].isna()).sum())
    assert f"The new version has no score for {lost} of the {int(frame['near'].notna().sum())} outputs" in said


def test_a_gate_of_one_class_names_it():
    frame = table()
    verdicts = (frame.drop(columns="length") >= 4).where(frame.drop(columns="length").notna()) * 1.0
    ds = verdicts.reset_index().meta.to_scores(wide=True, ratings=PEOPLE)
    for positive in (0.0, 1.0):
        line = gate.check(ds, gate.requirement("sensitivity >= .5"), positive=positive).line
        assert f", {positive:g} positive)" in line


def test_positions_and_times_are_no_judges():
    frame = table(judges=("near",)).rename(columns={"length": "position"})
    frame["latency_ms"] = np.random.default_rng(0).integers(100, 900, len(frame))
    ds = frame.reset_index().meta.to_scores(wide=True, ratings=PEOPLE)
    page = ds.meta.report(kind="judge")
    assert page.results["human_ceiling"]["metric"].values.tolist() in (["near", "rater"], ["rater", "near"])
    assert dict(page.data)["covariates tested for bias"] == "position and latency_ms"


def test_a_lenient_judge_beside_one_human_score():
    frame = table().drop(columns=["wild", "bob", "eve", "length"]).dropna().rename(columns={"ann": "human"})
    frame["near"] = np.clip(frame["near"] + 1, 1, 5)
    ds = frame.reset_index().meta.to_scores(wide=True)
    said = ds.meta.report("human", kind="judge").conclusion().replace("\n", " ")
    higher, lower = (100 * (sign * (frame["near"] - frame["human"]) > 0).mean() for sign in (1, -1))
    told = f"Its grade is higher than the human one for {higher:.0f} % of the outputs, and lower for {lower:.0f} %."
    assert (
        told in said and f"near ({100 - higher - lower:.0f} %) equals a rater's grade significantly less often" in said
    )


def test_a_judge_whose_grades_are_shifted_has_no_code():
    """Grades -1, 0 and 1 beside 0, 1 and 2 are another scale."""
    rng = np.random.default_rng(0)
    quality = rng.choice([0, 1, 2], p=[0.2, 0.4, 0.4], size=(4, 60)).astype(float)
    noise = (rng.random((3, 4, 60)) < 0.2) * rng.integers(-1, 2, size=(3, 4, 60))
    dims = ("system", "input")
    ratings = (("rater", *dims), np.clip(quality + noise, 0, 2))
    ds = xr.Dataset({"score": (("metric", *dims), (quality - 1)[None]), "rating": ratings}, {"metric": ["judge"]})
    found = ds.meta.alt_test("rating", metric="judge")
    assert found.attrs["calibrated"] == "judge" and float(found.winning_rate[0]) == 1
    assert not scale_checks.codes(ds.score.values, np.arange(3.0))
