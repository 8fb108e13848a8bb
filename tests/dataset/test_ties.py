"""Inputs on which all systems tie have no correlation: who says so, when, and how many."""

import math
import warnings

import numpy as np
import pytest
import xarray as xr
from conftest import of_code, warns

import xsumstat  # noqa: F401
from xsumstat.dataset import facts

CODE = "ties_left_out"


def scores(n_tied, n_systems=3, n_inputs=12, seed=0):
    """Scores of a good judge, and of one that ties all systems on the first inputs."""
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(n_systems, n_inputs))
    both = human + 0.3 * rng.normal(size=(2, n_systems, n_inputs))
    both[1, :, :n_tied] = 3.0
    labels = {"system": [f"s{at}" for at in range(n_systems)], "input": [f"i{at}" for at in range(n_inputs)]}
    data = {"score": (("metric", "system", "input"), both), "human": (("system", "input"), human)}
    return xr.Dataset(data, {"metric": ["fair", "lazy"], **labels}, {"gold": "human"})


def said(ask):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask()
    return of_code(caught, CODE)


def counted(ds, label):
    """Inputs on which the human scores differ, and those of them on which the metric does not: plain Python."""
    there = tied = 0
    for at in range(ds.sizes["input"]):
        pairs = [
            (x, z)
            for x, z in zip(
                ds.score.sel(metric=label)[:, at].values.tolist(), ds.human[:, at].values.tolist(), strict=True
            )
            if not (math.isnan(x) or math.isnan(z))
        ]
        if len(pairs) > 1 and len({z for _, z in pairs}) > 1:
            there += 1
            tied += len({x for x, _ in pairs}) == 1
    return tied, there


@pytest.mark.parametrize(("n_tied", "told"), [(0, False), (3, False), (4, True), (11, True)])
def test_a_metric_that_often_ties_all_systems_is_named(n_tied, told):
    """More often than on a quarter of 12 inputs."""
    ds = scores(n_tied)
    found = said(lambda: ds.meta.corr(level="input", coefficient="kendall"))
    text = "inputs left out, as the metric gives all systems one score; coefficient='acc_eq' counts ties"
    assert found == ([f"{text}: lazy ({n_tied} of 12)"] if told else [])


@pytest.mark.parametrize("seed", range(6))
def test_counts_with_gaps_and_ties_of_human_scores(seed):
    rng = np.random.default_rng(seed)
    ds = scores(5, n_systems=int(rng.integers(3, 6)), seed=seed).round()
    ds["score"] = ds.score.where(rng.random(ds.score.shape) > 0.2)
    ds["human"] = ds.human.where(rng.random(ds.human.shape) > 0.1)
    tied, there, *_ = facts.ties(ds.score, ds.human)
    for at, label in enumerate(ds.metric.values):
        assert (tied.values[at], there.values[at]) == counted(ds, label)


@pytest.mark.parametrize(
    "ask",
    [
        lambda m: m.ci(level="input"),
        lambda m: m.compare_metrics(level="input"),
        lambda m: m.perm_test(level="input", n_resamples=9),
        lambda m: m.boot_test(level="input", resample="input", n_resamples=9),
        lambda m: m.corr_test(level="input", method="wilcoxon"),
        lambda m: m.equivalence(metric="fair", other="lazy", level="input", margin=0.2, method="jackknife"),
        lambda m: m.rank(level="input"),
    ],
)
def test_analyses_of_input_level_say_so(ask):
    (text,) = said(lambda: ask(scores(8).meta))
    assert text.endswith("lazy (8 of 12)")


@pytest.mark.parametrize(
    "how",
    [
        {"level": "system"},
        {"level": "global"},
        {"level": "input", "undefined": "zero"},
        {"level": "input", "coefficient": "acc_eq"},
    ],
)
def test_nothing_is_left_out_otherwise(how):
    assert said(lambda: scores(8).meta.corr(**how)) == []


def test_lazy_scores_say_so_when_they_are_computed():
    pytest.importorskip("dask")
    at_once = said(lambda: scores(8).meta.corr(level="input"))
    assert said(lambda: scores(8).chunk({"metric": 1}).meta.corr(level="input").compute()) == at_once != []


@pytest.mark.parametrize(("n_tied", "told"), [(0, False), (3, False), (4, True), (11, True)])
def test_inputs_whose_human_scores_tie_all_systems_are_counted(n_tied, told):
    """They have no correlation by any metric: so told once, without a metric's name, of more than a quarter."""
    ds = scores(0)
    ds["human"][:, :n_tied] = 2.0

    def ask():
        ds.meta.ci(level="input", coefficient="kendall", resample="input")

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask()
    text = "inputs left out, as the human scores of all systems are equal there; coefficient='acc_eq' counts ties"
    assert of_code(caught, "gold_ties_left_out") == ([f"{text}: {n_tied} of 12"] if told else [])
    assert of_code(caught, CODE) == []


@pytest.mark.parametrize("seed", range(4))
def test_counts_of_human_ties_with_gaps(seed):
    rng = np.random.default_rng(seed)
    ds = scores(0, n_systems=int(rng.integers(3, 6)), seed=seed)
    ds["human"] = ds.human.round().where(rng.random(ds.human.shape) > 0.2)
    ds["score"] = ds.score.where(rng.random(ds.score.shape) > 0.2)
    *_, tied, there = facts.ties(ds.score, ds.human)
    for at, metric in enumerate(ds.score.values):
        columns = zip(metric.T.tolist(), ds.human.values.T.tolist(), strict=True)
        known = [[z for x, z in zip(*each, strict=True) if x == x and z == z] for each in columns]
        several = [values for values in known if len(values) > 1]
        assert (tied.values[at], there.values[at]) == (sum(len({*each}) == 1 for each in several), len(several))


def left_alone(ds, label, along):
    """Of each input (or system), how many outputs have both scores: plain Python."""
    x, z = ds.score.sel(metric=label).transpose(along, ...).values, ds.human.transpose(along, ...).values
    return [
        sum(not (math.isnan(a) or math.isnan(b)) for a, b in zip(one.tolist(), two.tolist(), strict=True))
        for one, two in zip(x, z, strict=True)
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("level", "along"), [("input", "input"), ("within_system", "system")])
@pytest.mark.parametrize("coefficient", ["kendall", "acc_eq"])
def test_inputs_with_one_scored_output_are_counted(level, along, coefficient, seed):
    rng = np.random.default_rng(seed)
    ds = scores(0, n_systems=int(rng.integers(3, 6)), seed=seed)
    ds["score"] = ds.score.where(rng.random(ds.score.shape) > 0.5)
    ds["score"][:, 0, 1:] = np.nan  # a system with one output
    counts = [left_alone(ds, label, along) for label in ds.metric.values]
    alone, some = facts.single(ds.score, ds.human, level)
    assert alone.values.tolist() == [each.count(1) for each in counts]
    assert some.values.tolist() == [sum(n > 0 for n in each) for each in counts]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = ds.meta.corr(level=level, coefficient=coefficient)
    told = of_code(caught, "single_outputs_left_out")
    often = [each.count(1) * 4 > sum(n > 0 for n in each) for each in counts]
    assert [label in "".join(told) for label in ("fair (", "lazy (")] == often
    few, many = sorted(each.count(1) for each in counts)
    number = f"{few}" if few == many else f"{few} to {many}"
    noun = f"{along}" if number == "1" else f"{along}s"
    assert result.attrs.get("single_outputs", "0") == number
    said = f"leaves out {number} {noun} with only one rated and scored output" in result.meta.methods()
    assert said == (many > 0)
    zero = ds.meta.corr(level=level, coefficient=coefficient, undefined="zero")
    assert "single_outputs" not in zero.attrs


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(4))
def test_outputs_with_one_of_the_two_scores_are_counted(seed):
    rng = np.random.default_rng(seed)
    ds = scores(0, n_systems=4, seed=seed)
    ds["score"] = ds.score.where(rng.random(ds.score.shape) > 0.1 * seed)
    ds["human"] = ds.human.where(rng.random(ds.human.shape) > 0.1 * (seed > 1))
    text = ds.meta.corr(level="global").meta.methods()
    counts = []
    both = (ds.score.notnull() & ds.human.notnull()).any("metric")
    usable = (both.any("input") & both.any("system")).transpose("system", "input").values
    for label in ds.metric.values:  # among systems and inputs that some metric can use
        scored, rated = ds.score.sel(metric=label).notnull().values, ds.human.notnull().values
        counts.append(int(((scored != rated) & usable).sum()))
    few, many = sorted(counts)
    number = f"{few}" if few == many else f"{few} to {many}"
    told = f"For each metric we left out {number} outputs that lack its score or the human score."
    assert (told in text) == (many > 0) and ("we left out" in text) == (many > 0)


def test_inputs_are_counted_once_for_each_rater():
    """Of two raters with the same ties: twice the inputs, and the warning says so."""
    ds = scores(0, n_systems=3)
    tied = ds.human.where(np.arange(ds.sizes["input"]) > 7, 1.0)
    ratings = xr.concat([tied, tied + 0.5], "rater").assign_coords(rater=["ann", "bob"])
    n = ds.sizes["input"]
    with warns("gold_ties_left_out", rf"^inputs left out, .*: 8 of {n}$"):
        ds.meta.corr(tied.rename("gold"), level="input")
    with warns("gold_ties_left_out", rf"^inputs \(counted once for each human score\) left out.*: 16 of {2 * n}$"):
        ds.meta.corr(ratings, level="input")


@pytest.mark.filterwarnings("ignore")
def test_comparisons_tell_that_two_metrics_need_both_scores():
    ds = scores(0, n_systems=6)
    ds["score"][0, 0, :2] = np.nan
    said = ds.meta.compare_metrics(level="global").meta.methods()
    told = (
        "compared on outputs with both scores and a human score; for one metric, 0 to 2 outputs lack its score or the"
    )
    assert told in said and "For each metric we left out" not in said
    assert "compared on outputs with both scores" not in scores(0, n_systems=6).meta.compare_metrics().meta.methods()
