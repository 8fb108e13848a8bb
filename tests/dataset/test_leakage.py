"""Human scores that pass for a metric are named, and are judged only when they are asked for."""

import numpy as np
import pytest
import xarray as xr
from conftest import of_code

import xsumstat
from xsumstat.dataset import facts


@pytest.fixture
def ds():
    """A metric, and the gold and what it was made of under other names; three raters on a grid of .1."""
    rng = np.random.default_rng(0)
    rating = rng.integers(1, 6, (3, 7, 8)) / 10
    mean = (rating[0] + rating[1] + rating[2]) / 3
    own = np.array([rng.normal(size=(7, 8)), mean, rating[2], rating[::-1].mean(axis=0)])
    return xr.Dataset(
        {
            "score": (("metric", "system", "input"), own),
            "rating": (("rater", "system", "input"), rating),
            "human": (("system", "input"), mean),
        },
        {"metric": ["plain", "copy", "one", "turned"], "rater": ["a", "b", "c"]},
    )


def told(ask):
    """The only warning of a question, without those of little data."""
    with pytest.warns(UserWarning) as caught:
        ask()
    (text,) = set(of_code(caught, "leakage"))
    return text


DRAWS = {"n_resamples": 9, "rng": 0}
QUESTIONS = {
    "corr": lambda d: d.meta.corr("human"),
    "ci": lambda d: d.meta.ci("human", **DRAWS),
    "perm_test": lambda d: d.meta.perm_test("human", **DRAWS),
    "boot_test": lambda d: d.meta.boot_test("human", **DRAWS),
    "corr_test": lambda d: d.meta.corr_test("human"),
    "rank": lambda d: d.meta.rank("human", **DRAWS),
    "equivalence": lambda d: d.meta.equivalence("human", other=["copy", "one", "turned"], margin=0.1, **DRAWS),
    "top_k_corr": lambda d: d.meta.top_k_corr("human"),
    "close_corr": lambda d: d.meta.close_corr("human", gap=[0.1, 1.0], **DRAWS),
    "given": lambda d: d.meta.corr("human", given="plain"),
    "bias": lambda d: d.meta.bias("human", given="plain"),
    "discriminative_agreement": lambda d: d.meta.discriminative_agreement("human", **DRAWS),
    "dominance": lambda d: d.meta.dominance("human", **DRAWS),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_of_gold_names_metrics_that_are_human(ds, question):
    text = told(lambda: QUESTIONS[question](ds))
    assert "'copy' equals the gold 'human'; 'turned' equals the gold 'human'" in text
    assert "'one' equals rater 'c' of 'rating'" in text and "plain" not in text


def test_the_mean_of_raters_without_the_gold_itself(ds):
    other = ds.assign(human=ds.human + ds.score.sel(metric="plain", drop=True))
    text = told(lambda: other.meta.corr("human"))
    assert "'copy' equals the mean of the raters of 'rating'; 'turned' equals the mean" in text and "gold" not in text


def test_gold_that_comes_by_rater(ds):
    text = told(lambda: ds.meta.corr(ds.rating.rename("people")))
    assert "'copy' equals the mean of the raters of 'people'" in text and "'one' equals rater 'c' of 'people'" in text


def test_a_label_beside_the_gold_and_a_metric_that_is_better_when_lower(ds):
    errors = ds.assign(score=-ds.score).assign_coords(higher_is_better=("metric", [False] * 4))
    assert "'copy' equals the gold 'human'" in told(lambda: errors.meta.corr("human"))
    assert "'turned' equals the gold 'copy'" in told(lambda: ds.drop_vars(["rating", "human"]).meta.corr("copy"))


def test_on_the_cells_that_both_have(ds):
    gaps = ds.copy(deep=True)
    gaps.score[1, 2, 3] = gaps.human[4, 4] = np.nan
    assert "'copy' equals the gold" in told(lambda: gaps.meta.corr("human", level="global"))
    gaps.score[1:, 0, 0] += 1e-9
    gaps.meta.corr("human", metric=["plain", "copy"], level="global")


def test_one_language_is_enough(ds):
    both = xr.concat([ds.score, ds.score.isel(metric=[0, 0, 0, 0]).assign_coords(metric=ds.metric) * 2], "language")
    two = ds.drop_vars("score").assign(score=both)
    assert "'copy' equals the gold 'human'" in told(lambda: two.meta.corr("human"))


def test_scores_that_only_resemble_the_gold(ds):
    for change in (lambda x: 2 * x, lambda x: x + 1e-3, lambda x: x.roll(input=1)):
        near = xr.Dataset({"score": change(ds.human).expand_dims(metric=["m"]), "human": ds.human})
        assert near.meta.corr("human").sizes["metric"] == 1


def test_human_scores_are_judged_when_asked_for(ds):
    known = ds.assign_coords(kind=("metric", ["automatic", "human", "human", "human"]))
    assert known.meta.corr("human").metric.values.tolist() == ["plain"]
    asked = known.meta.corr("human", metric=["plain", "copy"])  # without a warning
    assert asked.correlation.sel(metric="copy") == pytest.approx(1)
    pairs = known.meta.perm_test("human", metric="plain", other=["one"], **DRAWS)
    assert pairs.other_metric.values.tolist() == ["one"]
    assert known.meta.alt_test("rating", scale="ranks").metric.values.tolist() == ["plain"]
    assert known.meta.human_ceiling("rating", **DRAWS).metric.values.tolist() == ["plain", "rater"]


def test_the_gold_by_its_own_name_is_no_surprise(ds):
    alone = ds.drop_vars(["human", "rating"])
    assert float(alone.meta.corr("one", metric=["one", "plain"]).correlation.sel(metric="one")) == pytest.approx(1)


def test_where_all_are_human_all_but_the_gold_are_judged(ds):
    people = ds.drop_vars(["human", "rating"]).assign_coords(kind=("metric", ["human"] * 4))
    assert people.meta.corr("copy").metric.values.tolist() == ["plain", "one", "turned"]


def test_a_kind_that_is_not_of_metrics_says_nothing(ds):
    other = ds.drop_vars("rating").sel(metric=["plain"]).assign_coords(kind=("system", ["human"] * 7))
    assert other.meta.corr("human").metric.values.tolist() == ["plain"]


def test_summeval_is_judged_alike_everywhere(summeval):
    automatic = summeval.metric.values[summeval.kind.values == "automatic"].tolist()
    for found in (summeval.meta.corr(), summeval.meta.ci(n_resamples=9, rng=0)):
        assert found.metric.values.tolist() == automatic
    assert summeval.meta.metric_corr().sizes["metric"] == 42
    bare = summeval.drop_vars("kind")
    text = told(lambda: bare.meta.corr(metric=["rouge-1_f1", "expert_coherence", "expert_relevance"]))
    assert "'expert_coherence' equals the mean of the raters" in text
    assert "rouge" not in text and "expert_relevance" not in text  # the gold by its own name


def test_the_demo_has_no_leak():
    demo = xsumstat.load_dataset("demo")
    human = demo.score.sel(metric="human", drop=True)
    assert demo.meta.corr(human).metric.values.tolist() == demo.metric.values[1:].tolist()


def test_scores_that_do_not_vary_are_nobodys():
    """A constant metric equals a constant gold of one language without being it."""
    score = np.arange(24.0).reshape(1, 2, 3, 4)
    score[0, 1] = 3.0
    gold = score[0] + np.array([1.0, 0.0])[:, None, None] * np.arange(4)
    labels = {"metric": ["a"], "language": ["en", "de"], "system": list("abc"), "input": list("wxyz")}
    found = xr.DataArray(score, labels, ("metric", "language", "system", "input"))
    human = xr.DataArray(gold, {name: each for name, each in labels.items() if name != "metric"}, found.dims[1:])
    assert facts.equal_to(found, human).values.tolist() == [[False]]
    assert facts.equal_to(found, found[0]).values.tolist() == [[True]]  # as English varies
