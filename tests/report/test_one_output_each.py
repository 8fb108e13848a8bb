"""Judges of one system, or of systems that share no prompt: what their outputs can tell."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import xarray as xr
from helpers import by_turns

import xsumstat  # noqa: F401
from xsumstat.cli import gate
from xsumstat.report import judge_subject

pytestmark = pytest.mark.filterwarnings("ignore")
PEOPLE = ["ann", "bob", "eve"]


def scores(systems, favour, seed=0, prompts=120):
    """Outputs of prompts of their own, of a judge whose errors depend by `favour` on an output's length."""
    rng = np.random.default_rng(seed)
    n = prompts * len(systems)
    quality, z = rng.normal(size=(2, n))

    def grades(shift=0.0):
        return np.clip(np.round(3 + quality + shift + 0.6 * rng.normal(size=n)), 1, 5)

    frame = pd.DataFrame({name: grades() for name in PEOPLE})
    frame["judge"] = grades(favour * z)
    frame["length"] = np.round(np.exp(5 + 0.4 * z))
    frame["model"], frame["prompt"] = np.repeat(systems, prompts), np.arange(n)
    return frame.meta.to_scores(wide=True, ratings=PEOPLE, system="model", input="prompt")


@pytest.mark.parametrize("systems", by_turns([["alpha"], ["alpha", "beta", "gamma"]]))
@pytest.mark.parametrize(("favour", "found"), [(1.0, True), (0.0, False)])
def test_length_bias_is_tested(systems, favour, found):
    ds = scores(systems, favour)
    page = ds.meta.report(kind="judge")
    said = " ".join(next(each.said for each in page.sections if "biased" in each.question))
    assert ("scores outputs with a higher length too high" in said) == found
    assert "no length" not in said.lower() and ("depend on length" in page.conclusion()) == found
    verdict = gate.check(ds, gate.requirement("bias"))
    assert verdict.status == (gate.NOT_MET if found else gate.MET), verdict.line


@pytest.mark.parametrize("systems", by_turns([["alpha"], ["alpha", "beta", "gamma"]]))
def test_agreement_is_that_of_outputs(systems):
    ds = scores(systems, 0.0)
    page = ds.meta.report(kind="judge")
    assert page.results["human_ceiling"].attrs["level"] == "global"
    each = ds.rating.stack(cell=("system", "input")).transpose("rater", "cell").values
    judge = ds.score.sel(metric="judge").stack(cell=("system", "input")).values
    there = ~np.isnan(judge)
    others = [np.corrcoef(judge[there], np.delete(each, at, 0).mean(axis=0)[there])[0, 1] for at in range(3)]
    got = float(page.results["human_ceiling"].correlation.sel(metric="judge"))
    assert got == pytest.approx(np.mean(others))
    assert ("no prompt has scores of two systems" in page.conclusion()) == (len(systems) > 1)
    verdict = gate.check(ds, gate.requirement("pearson >= .3"))
    assert verdict.status == gate.MET and "(global level" in verdict.line


def test_the_slope_is_that_of_outputs_within_systems():
    """By regression on length and the mean grade, within systems; averaged over systems."""
    ds = scores(["alpha", "beta", "gamma"], 1.0)
    got = ds.meta.bias("human", given="length", metric="judge", method="regression")
    assert got.attrs["level"] == "within_system"
    assert "no input has scores of two systems" in got.meta.conclusion()
    judge, length = (ds.score.sel(metric=name) for name in ("judge", "length"))
    centred = [
        (each - each.mean("input")).values[each.notnull().values]
        for each in (judge, length, ds.score.sel(metric="human"))
    ]
    y, x, z = centred
    slope = sm.OLS(y, np.column_stack([x, z])).fit().params[0] * x.std() / y.std()
    assert float(got.slope.item()) == pytest.approx(slope, rel=0.02)


def test_a_prompts_length_is_named_as_untested():
    ds = scores(["alpha"], 0.0)
    twice = xr_twice(ds)
    about = judge_subject.subject(twice)
    assert about.given == [] and about.alike == ["length"]
    page = twice.meta.report(kind="judge")
    said = " ".join(next(each.said for each in page.sections if "biased" in each.question))
    assert "length does not differ between the outputs of a prompt, and cannot bias them." in said


def xr_twice(ds):
    """The same outputs of a second system, with other grades of the judge."""
    other = ds.assign_coords(system=["beta"]).copy(deep=True)
    rng = np.random.default_rng(1)
    for name in ("judge", "human"):
        other.score.loc[{"metric": name}] = np.clip(other.score.sel(metric=name) + rng.integers(-1, 2, (1, 120)), 1, 5)
    return ds.merge(other)


def test_judge_scores_of_outputs_that_nobody_rated_share_nothing():
    """People rated one system of each prompt, and the judge all outputs."""
    ds = scores(["alpha"], 0.0)
    every = xr_twice(ds).copy(deep=True)
    rated = np.arange(120) % 2 == 0
    every["rating"] = every.rating.where(xr.DataArray(np.array([rated, ~rated]), dims=("system", "input")))
    every.score.loc[{"metric": "human"}] = every.rating.mean("rater").transpose("system", "input").values
    page = every.meta.report(kind="judge")
    assert page.results["human_ceiling"].attrs["level"] == "global"
    assert "no prompt has scores of two systems" in page.conclusion()
