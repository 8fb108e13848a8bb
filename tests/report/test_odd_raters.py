"""Raters unlike the others, and bias that noise leaves untested, are named in the short answer and the gate."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from judged_outputs import PEOPLE, scores, table

import xsumstat  # noqa: F401
from xsumstat.cli import gate
from xsumstat.report import odd_raters

pytestmark = pytest.mark.filterwarnings("ignore")


def weak(frame):
    return next(line for line in scores(frame).meta.report(kind="judge").summary if line.startswith("Weak points"))


def told(ds):
    """What a page says of raters, without the page."""
    judge = [label for label in ds.metric.values.tolist() if label != "human"]
    ceiling = ds.meta.human_ceiling("rating", metric=judge, level="input", coefficient="kendall")
    return " ".join(odd_raters.told(ds.rating, ceiling))


def changed(change, prompts=100):
    frame = table(prompts=prompts, judges=("near",))
    return frame.assign(bob=change(frame["bob"], np.random.default_rng(0)))


@pytest.mark.slow
def test_a_rater_on_another_scale_is_named():
    frame = changed(lambda each, rng: 20 * each)
    assert "bob rates from 20 to 100, the others from 1 to 5: means are mostly those of this rater" in weak(frame)


def test_a_rater_of_one_grade_is_named():
    frame = changed(lambda each, rng: each.where(each.isna(), np.where(rng.random(len(each)) < 0.95, 3, 4)))
    share = 100 * (frame["bob"].dropna() == 3).mean()
    assert f"bob gives one grade to {share:.0f} % of the outputs" in weak(frame)


def test_a_reversed_rater_is_named():
    frame = changed(lambda each, rng: 6 - each)
    said = weak(frame)
    page = scores(frame).meta.report(kind="judge")
    own = page.results["human_ceiling"]["by_rater"].sel(metric="rater").to_series()
    assert "bob agrees little with the other raters (-" in said and own["bob"] < 0


def test_a_rater_of_few_prompts_is_named():
    frame = changed(lambda each, rng: each.where(each.index.get_level_values("input") < 3))
    assert "bob rated only 3 prompts, and counts as much as others in the agreement of a rater" in weak(frame)


@pytest.mark.slow
def test_raters_alike_are_seldom_named():
    named = sum(any(f"{who} " in told(scores(table(seed, 60, ("near",)))) for who in PEOPLE) for seed in range(40))
    assert named <= 3


def noisy(seed):
    """Two raters of mostly noise, and a judge that favours length."""
    rng = np.random.default_rng(seed)
    frame = table(seed, 30, ("near",)).drop(columns="eve")
    for name in ("ann", "bob"):
        frame[name] = rng.integers(1, 6, len(frame)).astype(float)
    return frame.reset_index().meta.to_scores(
        wide=True, ratings=["ann", "bob"], kind={"covariate": ["length"]}
    )  # fmt: skip


@pytest.mark.slow
def test_a_bias_without_limits_was_not_tested():
    untested = 0
    for seed in range(6):
        ds = noisy(seed)
        page = ds.meta.report(kind="judge")
        one = page.results["bias"]
        endless = bool(
            np.isinf(one["ci_low"]).all() and np.isinf(one["ci_high"]).all() and (one["pvalue"] > 0.05).all()
        )
        told = "Bias by length cannot be estimated, because human scores are too noisy." in page.conclusion().replace(
            "\n", " "
        )
        assert told == endless
        assert not endless or "No bias by length" not in page.conclusion().replace("\n", " ")
        verdict = gate.check(ds, gate.requirement("bias"))
        assert not endless or verdict.status != gate.MET
        untested += endless
    assert untested


def test_raters_without_names_are_numbered():
    ds = scores(changed(lambda each, rng: 20 * each)).drop_vars("rater")
    said = " ".join(odd_raters.told(ds.rating, None))
    assert "rater 2 rates from 20 to 100, the others from 1 to 5" in said


def test_a_code_below_grades_from_0_is_named():
    frame = table(judges=("near",))
    grades = frame[[*PEOPLE, "near"]] - 1
    frame[grades.columns] = grades
    frame.iloc[:12, frame.columns.get_loc("near")] = -1
    assert "-1 (12 outputs) by near is no grade of the raters" in weak(frame)


@pytest.mark.slow
def test_raters_who_share_few_outputs_are_not_accused():
    """12 equally good raters, three of ten outputs rated twice: 11 of 12 reports named one by the numbers alone."""
    named = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        quality, ratings = rng.normal(size=(4, 120)), np.full((4, 120, 12), np.nan)
        for cell in np.ndindex(quality.shape):
            for rater in rng.choice(12, 2 if rng.random() < 0.3 else 1, replace=False):
                ratings[*cell, rater] = np.clip(np.rint(3 + 1.1 * (quality[cell] + 0.8 * rng.normal())), 1, 5)
        judge = np.clip(np.rint(3 + quality + 0.7 * rng.normal(size=quality.shape)), 1, 5)
        score = (("metric", "system", "input"), np.stack([judge, np.nanmean(ratings, axis=2)]))
        ds = xr.Dataset({"score": score, "rating": (("system", "input", "rater"), ratings)}, attrs={"gold": "human"})
        ds = ds.assign_coords(metric=["gpt", "human"], system=list("abcd"), rater=[f"r{at}" for at in range(12)])
        named += "agrees little" in told(ds)
    assert named <= 3


def test_a_rater_of_two_outputs_is_neither_severe_nor_of_one_grade():
    """A stray third rater: two grades of 5 are no severity."""
    frame = table(prompts=60, judges=("near",))
    stray = pd.Series(np.nan, frame.index)
    stray.iloc[[3, 40]] = 5.0
    line = weak(frame.assign(eve=stray))
    page = scores(frame.assign(eve=stray)).meta.report(kind="judge")
    assert "eve rated only" in line and "one grade" not in line
    assert "eve grades" not in str(page)
