"""Sentences with counts and designs, against the numbers that they claim, recomputed from the Dataset alone."""

import re
from collections import Counter

import numpy as np
import pytest
import xarray as xr
from cases import ASKED, answer
from helpers import for_each

import xsumstat
from xsumstat.dataset import wording

WORDS = ("bad", "fair", "good")


def graded(seed, bias=0):
    """Labels by people and a judge, who errs more often in one direction."""
    rng = np.random.default_rng(seed)
    human = rng.integers(0, 3, (3, 30))
    judge = np.clip(human + rng.choice([-1, 0, 0, 1, bias], human.shape), 0, 2)
    labels = {"metric": ["human", "judge"], "system": ["a", "b", "c"], "input": np.arange(30)}
    score = np.stack([human, judge]).astype(float)
    score[1, 0, :4] = np.nan
    return xr.Dataset(
        {"score": (("metric", "system", "input"), score)}, labels, {"gold": "human", "labels": list(WORDS)}
    )


@pytest.mark.filterwarnings("ignore")
@for_each("seed", range(8))
def test_equal_labels_and_the_most_frequent_error_of_a_judge(seed):
    ds = graded(seed, bias=(-1, 1)[seed % 2])
    human, judge = (ds.score.sel(metric=name).values.ravel() for name in ("human", "judge"))
    pairs = Counter((WORDS[int(h)], WORDS[int(j)]) for h, j in zip(human, judge, strict=True) if not np.isnan(h + j))
    same, total = sum(n for (h, j), n in pairs.items() if h == j), sum(pairs.values())
    said = ds.meta.confusion("human").meta.conclusion()
    assert f"judge and the human scores have the same label for {same} of {total} outputs" in said
    told = re.search(r"the most frequent error is '(\w+)' instead of '(\w+)' \((\d+) of (\d+)\)", said)
    given, instead, n, of = told[1], told[2], int(told[3]), int(told[4])
    assert n == pairs[instead, given] == max(n for (h, j), n in pairs.items() if h != j)
    assert of == sum(n for (h, _), n in pairs.items() if h == instead)


def pilot():
    """Three raters of three systems on 30 inputs."""
    rng = np.random.default_rng(3)
    rating = rng.normal(size=(3, 30))[None] + rng.normal(scale=0.7, size=(3, 3, 30))
    labels = {"rater": list("xyz"), "system": list("abc"), "input": np.arange(30), "metric": ["judge"]}
    return xr.Dataset(
        {
            "rating": (("rater", "system", "input"), rating),
            "score": (("metric", "system", "input"), rating.mean(0)[None] + rng.normal(size=(1, 3, 30))),
        },
        labels,
    )


@pytest.mark.filterwarnings("ignore")
@for_each("budget", [200, 500, 2000])
def test_the_design_that_is_told_is_the_one_with_the_least_width(budget):
    found = xsumstat.plan(pilot(), rating="rating", estimand="difference", budget=budget, n_raters=[1, 2, 3],
                          cost_per_rating=1, cost_per_prompt=4)  # fmt: skip
    widths = {int(n): float(found.width.sel(n_raters=n).squeeze()) for n in found.n_raters}
    best = min(widths, key=widths.get)
    assert len(set(widths.values())) == 3
    inputs = int(found.rated_inputs.sel(n_raters=best).squeeze())
    many = "" if best == 1 else "s"
    assert f" buys {inputs} inputs, {best} rating{many} of each output of" in found.meta.conclusion()


@pytest.mark.filterwarnings("ignore")
def test_doubts_about_a_plan_are_told_from_the_narrower_to_the_wider():
    demo = xsumstat.load_dataset("demo")
    found = xsumstat.plan(demo, "human", metric="judge", level="input", n_systems=[12], n_inputs=[20, 40, 80])
    ratio = {name: np.median((found[name] / found.width).values) for name in ("width_low", "width_high")}
    assert 0 < ratio["width_low"] < 1 < ratio["width_high"]
    said = f"a width may be {ratio['width_low']:.2g} to {ratio['width_high']:.2g} times the planned one (95 % limits)"
    assert said in found.meta.conclusion()


# --- Names ---


OF_NAMES = {
    "ci": {}, "corr": {}, "compare_metrics": {}, "rank": {}, "pca": {}, "normality": {},
    "disagreement": {"n_resamples": 19, "rng": 0}, "perm_test": {"n_resamples": 99, "rng": 0},
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@for_each("analysis", OF_NAMES)
def test_names_of_several_words_stand_in_quotes_and_others_as_they_are(analysis):
    demo = xsumstat.load_dataset("demo")
    called = {"judge": "GPT-4 judge", "rouge": "ROUGE, first"}
    named = demo.assign_coords(metric=[called.get(each, each) for each in demo.metric.values.tolist()])
    gold = () if analysis in ("disagreement", "pca", "normality") else ("human",)
    one, other = (getattr(ds.meta, analysis)(*gold, **OF_NAMES[analysis]).meta.conclusion() for ds in (demo, named))
    for name, words in called.items():
        one = re.sub(rf"\b{name}\b", f'"{words}"', one)
    assert other == one


def test_a_list_has_quotes_where_a_label_needs_them_and_words_none():
    labels = wording.labels_of(["a", "b c", "d;e", 3])
    assert wording.listed(labels) == 'a, "b c", "d;e" and 3'
    assert wording.listed(['"b c" (.5)', "two words"]) == '"b c" (.5) and two words'
    assert wording.name(wording.name("b c")) == '"b c"'
    assert wording.shortened("b  c") == "b c"


READINGS = {"reliable", "good for tentative conclusions only", "not reliable"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("question", ASKED)
def test_only_labels_and_readings_stand_in_quotes(question):
    """Not what describes a setting, such as several covariates; `method="ppi"` is code."""
    found = answer(question)
    labels = {str(label) for name in found.coords for label in np.ravel(found[name].values).tolist()}
    for text in (found.meta.conclusion(), found.meta.methods()):
        assert set(re.findall(r'(?<!=)"([^"]+)"', text)) <= labels | READINGS | {found.attrs.get("range")}, text


@pytest.mark.filterwarnings("ignore")
def test_several_covariates_and_an_unnamed_base_are_words():
    demo = xsumstat.load_dataset("demo")
    found = demo.meta.corr("human", metric="judge", given=["length", "rouge"])
    for text in (found.meta.conclusion(), found.meta.methods()):
        assert '"' not in text and "given length" in text
    both = xr.concat([demo.score, demo.score], "version").assign_coords(version=["v1", "v2"])
    ds = both.to_dataset(name="score")
    human = demo.score.sel(metric="human", drop=True)
    equal = ds.meta.equivalence(human, metric="judge", along="version", base="v1", margin=0.1, method="jackknife")
    del equal.attrs["base"]
    assert "the base" in equal.meta.conclusion() and '"' not in equal.meta.conclusion()
