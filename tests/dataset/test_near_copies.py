"""Systems that are near-copies are named where an answer speaks of new systems."""

import warnings

import numpy as np
import pytest
import xarray as xr
from conftest import dataset, of_code
from helpers import for_each

from xsumstat.dataset import near_copies


def scores(systems=8, inputs=60, copies=(), noise=0.1, seed=0, metrics=4):
    """Scores in which each (of, by) of the copies has the scores of another system and a little noise."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(1, systems, 1)) + rng.normal(size=(1, 1, inputs)) + rng.normal(size=(1, systems, inputs))
    values = quality + rng.normal(size=(metrics, systems, inputs))
    for one, other in copies:
        values[:, other] = values[:, one] + 0.7 + noise * rng.normal(size=(metrics, inputs))
    return dataset(values, family=("system", [f"f{at}" for at in range(systems)]))


def told(ask):
    """What is said of near-copies."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask()
    return of_code(caught, "near_copies")


def residuals(values):
    """Values less the means of rows, and then of columns, of those that are there."""
    values = values - np.nanmean(values, axis=1, keepdims=True)
    return values - np.nanmean(values, axis=0, keepdims=True)


@pytest.mark.parametrize("gaps", [0, 0.3])
def test_pairs_are_those_whose_residuals_correlate_above_095(gaps):
    """Beside np.corrcoef of each pair on its common cells."""
    ds = scores(copies=((0, 3), (1, 2)), noise=0.4, seed=3)
    rng = np.random.default_rng(1)
    values = ds.score.where(rng.random(ds.score.shape) >= gaps)
    found = np.unpackbits(near_copies.of([values]).values, axis=1, count=64).reshape(4, 8, 8)
    expected = np.zeros_like(found)
    for at, each in enumerate(values.values):
        rest = residuals(each)
        for a in range(8):
            for b in range(8):
                both = ~np.isnan(rest[a]) & ~np.isnan(rest[b])
                x, y = rest[a][both], rest[b][both]
                expected[at, a, b] = (x * y).sum() > 0.95 * np.sqrt((x**2).sum() * (y**2).sum())
    off = ~np.eye(8, dtype=bool)
    np.testing.assert_array_equal(found[:, off], expected[:, off])
    assert 0 < found[:, off].sum() < 16


def test_copies_are_named_and_grouped():
    ds = scores(copies=((0, 3), (3, 5), (1, 2)))
    (text,) = told(lambda: ds.meta.ci("m0", level="input"))
    assert "'s0', 's3', 's5'; 's1', 's2'" in text and "cluster='family'" in text
    assert told(lambda: scores().meta.ci("m0", level="input")) == []
    many = scores(systems=16, copies=tuple((at, at + 1) for at in range(0, 16, 2)))
    assert "'s4', 's5'; … (8 groups in all)" in told(lambda: many.meta.ci("m0"))[0]


QUESTIONS = {
    "ci": ({"level": "input"}, True),
    "compare_metrics": ({"level": "input"}, True),
    "rank": ({}, True),
    "boot_test": ({"n_resamples": 50, "rng": 0}, True),
    "metric_ci": ({"metric": ["m1", "m2"]}, False),
    "top_k_corr": ({"k": [8, 6]}, False),
    "report": ({"n_resamples": 50}, True),
}


@for_each("question", QUESTIONS)
def test_a_way_out_is_named_that_the_question_has(question):
    asked, has_cluster = QUESTIONS[question]
    ask = getattr(scores(copies=((0, 3),)).meta, question)
    people = () if question == "metric_ci" else ("m0",)
    (text,) = told(lambda: ask(*people, **asked))
    assert ("cluster=" in text) == has_cluster and "keep one of each" in text and "'s3'" in text


def test_nothing_is_said_of_these_systems_or_with_clusters():
    ds = scores(copies=((0, 3),))
    families = ds.assign_coords(family=("system", ["f0", "f1", "f2", "f0", *"abcd"]))
    asked = {"level": "input", "n_resamples": 50, "rng": 0}
    assert told(lambda: ds.meta.perm_test("m0", resample="system", **asked)) != []
    for silent in (
        lambda: ds.meta.ci("m0", level="input", resample="input"),
        lambda: ds.meta.corr("m0"),
        lambda: families.meta.ci("m0", level="input", cluster="family"),
        lambda: families.meta.compare_metrics("m0", level="input", cluster="family"),
        lambda: ds.meta.perm_test("m0", **asked),
        lambda: ds.isel(system=slice(4)).meta.ci("m0", level="input"),
    ):
        assert told(silent) == []


def test_copies_by_one_metric_of_several_are_none():
    ds = scores(copies=((0, 3),))
    other = scores(seed=5)
    mixed = ds.assign(score=ds.score.where(ds.metric.isin(["m0", "m1"]), other.score))
    assert told(lambda: mixed.meta.ci("m0")) == []
    assert len(told(lambda: mixed.meta.ci("m0", metric="m1"))) == 1


def test_copies_are_copies_for_all_further_labels_together():
    one, other = (scores(copies=copies) for copies in (((0, 3),), ()))
    both = xr.concat([one.score, one.score + 1], "language")
    assert len(told(lambda: one.assign(score=both).meta.ci("m0"))) == 1
    assert told(lambda: one.assign(score=xr.concat([one.score, other.score], "language")).meta.ci("m0")) == []


def test_groups_of_inputs_say_it_once():
    ds = scores(copies=((0, 3),)).assign_coords(domain=("input", ["a", "b"] * 30))
    assert len(told(lambda: ds.meta.ci("m0", level="input", by="domain"))) == 1


def test_constant_tiny_and_large_scores_are_no_copies():
    ds = scores()
    for values in (ds.score * 1e300, ds.score * 1e-300, ds.score + 1e9):
        assert told(lambda values=values: ds.assign(score=values).meta.ci("m0", level="input")) == []
    flat = ds.score.where(ds.metric == "m0", ds.system.str[1:].astype(float) * 0.1 + 0.1)
    found = np.unpackbits(near_copies.of([flat.sel(metric=["m1"])]).values)
    assert not found.any()


def test_lazy_scores_say_the_same_when_they_are_computed():
    pytest.importorskip("dask")
    ds = scores(copies=((0, 3),))
    gaps = ds.assign(score=ds.score.where(ds.system != "s1")).chunk(input=20, system=3)
    lazy = []
    assert told(lambda: lazy.append(gaps.meta.ci("m0", level="input"))) == []
    assert told(lazy[0].compute) == told(lambda: gaps.load().meta.ci("m0", level="input")) != []


def test_many_inputs_are_looked_at_here_and_there():
    ds = scores(inputs=3000, copies=((0, 3),))
    assert len(told(lambda: ds.meta.ci("m0"))) == 1
    assert near_copies.of([scores(systems=30, inputs=5000).score]).values.any(axis=1).all()  # each is its own copy


def test_published_copies(realsumm, summeval, demo):
    (text,) = told(lambda: realsumm.meta.ci("litepyramid_recall"))
    assert "systems: 'bart_out', 'bart_out (extractive)'." in text
    assert told(lambda: summeval.meta.ci("expert_relevance")) == []
    assert told(lambda: demo.meta.ci("human")) == []
