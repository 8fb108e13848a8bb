"""Human grades that are mostly the highest: a judge that sees more is not called biased for it."""

import json

import numpy as np
import pandas as pd
import pytest

from xsumstat.cli import gate
from xsumstat.dataset import ceilings

pytestmark = pytest.mark.filterwarnings("ignore")
PEOPLE = ["ann", "bob", "eve"]


def scores(seed, up, scale="wide", favour=0.0, prompts=120):
    """Grades 1 to 5 around 3 + up; a judge without a bias unless it favours length, which good outputs have more of."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(3, prompts)) + np.array([[0], [0.8], [0.1]])
    longer = 0.5 * (quality - 0.3) + rng.normal(size=quality.shape)

    def graded(values):
        return np.clip(np.round(3 + up + values), 1, 5).ravel()

    frame = pd.DataFrame({name: graded(quality + 0.6 * rng.normal(size=quality.shape)) for name in PEOPLE})
    seen = quality + favour * longer + 0.6 * rng.normal(size=quality.shape)
    frame["judge"] = (50 + 12 * seen).ravel() if scale == "wide" else graded(seen)
    frame["length"] = np.round(200 + 40 * longer).ravel()
    frame["model"], frame["prompt"] = np.repeat(list("abc"), prompts), np.tile(np.arange(prompts), 3)
    return frame.meta.to_scores(wide=True, ratings=PEOPLE, system="model", input="prompt")


@pytest.mark.parametrize("lower", [False, True])
def test_the_share_at_the_end_is_counted(lower):
    ds = scores(0, 2.0)
    human = -ds.rating if lower else ds.rating
    score = ds.score.sel(metric=["judge"])
    found = json.loads(ceilings.of(-score if lower else score, human)["ceiling"])
    assert found == {"judge": pytest.approx(float((ds.rating == 5).mean()))}
    alike = scores(0, 2.0, "grades")
    assert ceilings.of(alike.score.sel(metric=["judge"]), alike.rating) == {}
    flat = scores(0, 0.0)
    assert ceilings.of(flat.score.sel(metric=["judge"]), flat.rating) == {}


@pytest.mark.slow
def test_bias_says_what_the_end_of_the_scale_may_explain():
    ds = scores(4, 2.0, prompts=300)
    result = ds.meta.bias("rating", given="length", metric="judge")
    assert float(result.pvalue.max()) <= 0.05  # though the judge has no bias
    share = 100 * float((ds.rating == 5).mean())
    said = result.meta.conclusion()
    assert "scores outputs with a higher length higher than human scores imply" in said
    assert f"This need not be a bias: {share:.0f} % of the human scores are at the end of their scale" in said
    page = ds.meta.report(kind="judge")
    assert "shows a bias" not in page.conclusion()
    assert "depend on length, which the end of a scale may explain." in page.conclusion().replace("\n", " ")
    verdict = gate.check(ds, gate.requirement("bias"))
    assert verdict.status == gate.UNKNOWN and "the end of a scale may explain it" in verdict.line


@pytest.mark.slow
@pytest.mark.parametrize("up", [1.6, 2.0])
def test_an_unbiased_judge_is_not_called_biased(up):
    """Without the caution length and systems were found in 22 to 50 % of such sets."""
    called = 0
    for seed in range(20):
        page = scores(seed, up).meta.report(kind="judge").conclusion().replace("\n", " ")
        called += "shows a bias" in page or "compared with the other" in page
    assert called <= 2, called  # slopes of .5 SD and more


@pytest.mark.parametrize(("up", "scale"), [(0.0, "wide"), (1.6, "grades")])
def test_a_biased_judge_is_still_found(up, scale):
    page = scores(1, up, scale, favour=1.0).meta.report(kind="judge").conclusion().replace("\n", " ")
    assert "It shows a bias: its errors depend on length (slope " in page


def test_a_large_slope_and_balanced_verdicts_are_no_matter_of_the_scale():
    ds = scores(0, 0.0)
    verdicts = ds.assign(rating=(ds.rating > 3) * 1.0)
    assert ceilings.of(verdicts.score.sel(metric=["judge"]), verdicts.rating) == {}
    favour = scores(0, 2.0, favour=3.0)
    result = favour.meta.bias("rating", given="length", metric="judge")
    assert "ceiling" in result.attrs and float(result.slope.squeeze()) > 0.5
    assert "This need not be a bias" not in result.meta.conclusion()


def lenient(seed, prompts=300):
    """Grades around 3; an unbiased judge that mostly gives the highest grade, and cannot show the best system."""
    rng = np.random.default_rng(seed)
    quality = 0.6 * rng.normal(size=prompts) + 0.8 * rng.normal(size=(3, prompts)) + np.array([[0], [0.5], [1]])
    frame = pd.DataFrame(
        {name: np.clip(np.round(3 + quality + 0.7 * rng.normal(size=quality.shape)), 1, 5).ravel() for name in PEOPLE}
    )
    frame["judge"] = np.clip(np.round(5 + quality + 0.6 * rng.normal(size=quality.shape)), 1, 5).ravel()
    frame["model"], frame["prompt"] = np.repeat(list("abc"), prompts), np.tile(np.arange(prompts), 3)
    return frame.meta.to_scores(wide=True, ratings=PEOPLE, system="model", input="prompt")


def test_a_judge_at_the_end_of_its_own_scale():
    ds = lenient(1)
    share = float((ds.score.sel(metric="judge") == 5).mean())
    result = ds.meta.bias("rating", metric="judge", given="system", resample="input")
    assert json.loads(result.attrs["own_ceiling"]) == {"judge": pytest.approx(share)} and "ceiling" not in result.attrs
    seen = [lenient(seed).meta.bias("rating", metric="judge", given="system", resample="input") for seed in range(8)]
    clear = next(each for each in seen if float(each.pvalue.min()) <= 0.05)
    said = clear.meta.conclusion()
    assert "of its own scores are at the end of their scale, and cannot show quality that people see." in said
    assert "scores outputs of system=c too low" not in said and "scores outputs of system=a too high" not in said


@pytest.mark.slow
def test_unbiased_judges_at_the_end_of_their_scale_are_not_called_biased():
    """8 to 22 % were, by the slopes alone."""
    found = [lenient(seed).meta.report(kind="judge").conclusion() for seed in range(40)]
    assert sum("scores c too low" in each or "scores a too high" in each for each in found) <= 2
