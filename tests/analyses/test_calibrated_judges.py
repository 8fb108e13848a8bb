"""Judges on another scale than the raters, in the alternative annotator test: calibrated, and as people would do."""

import numpy as np
import pytest
import xarray as xr

from xsumstat.inference.calibration import of_folds
from xsumstat.resampling import draws


def rated(seed=0, systems=6, inputs=10, raters=4, gaps=0.0):
    """Raters on a scale of five, and two judges on the same, one of them careless."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(3, 1, (systems, inputs))

    def likert(noise, *shape):
        return np.clip(np.round(truth + noise * rng.normal(size=(*shape, systems, inputs))), 1, 5)

    rating = likert(0.7, raters)
    rating[rng.random(rating.shape) < gaps] = np.nan
    judges = np.array([likert(0.1), likert(2.0)])
    ds = xr.Dataset(
        {
            "score": (("metric", "system", "input"), judges),
            "rating": (("rater", "system", "input"), rating),
        },
        {"metric": ["good", "bad"], "rater": [f"r{at}" for at in range(raters)]},
    )
    return ds


def by_quantiles(x, raters, folds):
    """The judge's mid-ranks among the others' outputs, and the ratings of these by all raters, in plain loops."""
    out = np.full(x.shape, np.nan)
    grades = np.unique(raters[~np.isnan(raters)])
    for fold in range(5):
        pairs = [
            (x[cell], z[cell])
            for z in raters
            for cell in np.ndindex(x.shape)
            if folds[cell[1]] != fold and not np.isnan(x[cell]) and not np.isnan(z[cell])
        ]
        known, people = sorted({a for a, _ in pairs}), sorted(b for _, b in pairs)
        places = [sum(a < each for a, _ in pairs) + (sum(a == each for a, _ in pairs) - 1) / 2 for each in known]
        values = np.interp(places, range(len(people)), people)
        for cell in np.ndindex(x.shape):
            if folds[cell[1]] == fold and not np.isnan(x[cell]):
                value = np.interp(x[cell], known, values)
                out[cell] = min(grades, key=lambda grade: (round(abs(grade - value), 9), -grade))
    return out


def test_a_calibrated_judge_against_plain_loops():
    """As a judge with these scores would do on the raters' scale."""
    ds = rated(16, gaps=0.1)
    ds = ds.assign(rating=ds.rating.round(), score=np.exp(ds.score))
    found = ds.meta.alt_test("rating", scale="calibrated", margin=0.1)
    folds = of_folds(ds.sizes["input"], 5, draws.generator(0, 0))
    raters = ds.rating.transpose("rater", "system", "input").values
    score = ds.score.transpose("metric", "system", "input")
    by_hand = score.copy(data=np.array([by_quantiles(x, raters, folds) for x in score.values]))
    want = ds.assign(score=by_hand).meta.alt_test("rating", scale="raw", margin=0.1)
    for name in ("advantage", "human_advantage", "pvalue", "n_items"):
        np.testing.assert_allclose(found[name], want[name])


def test_auto_is_raw_where_the_scales_agree():
    for seed in range(3):
        ds = rated(seed)
        want = ds.meta.alt_test("rating", scale="raw")
        xr.testing.assert_identical(ds.meta.alt_test("rating"), want.assign_attrs(scale="auto"))


def test_a_map_of_a_grading_judge_gets_its_verdict():
    """A judge that grades as raters do, and the same judge from 10 to 250: what it wins is about as much."""
    rng = np.random.default_rng(3)
    truth = rng.normal(size=(4, 60))

    def graded(noise):
        return np.clip(np.round(3 + truth + noise * rng.normal(size=truth.shape)), 1, 5)

    judges = [graded(0.5), graded(1.2), np.clip(np.round(3 + 1.1 * rng.normal(size=truth.shape)), 1, 5)]
    raters = np.array([graded(0.6) for _ in range(3)])
    score = np.array([*judges, *(10 * each**2 for each in judges)])
    names = ["good", "fair", "none", "good 2", "fair 2", "none 2"]
    ds = xr.Dataset(
        {"score": (("metric", "system", "input"), score), "rating": (("rater", "system", "input"), raters)},
        {"metric": names},
    )
    found = ds.meta.alt_test("rating", margin=0.1)
    assert found.attrs["calibrated"] == "good 2, fair 2, none 2"
    assert found.winning_rate.values.tolist() == [1, 0, 0] * 2
    gap = found.advantage_probability.values[:3] - found.advantage_probability.values[3:]
    assert np.abs(gap).max() < 0.03


@pytest.mark.filterwarnings("ignore:scores outside the range")
@pytest.mark.parametrize("top, other", [(5, False), (6, False), (7, True), (8, True), (10, True)])
def test_whole_grades_far_beyond_those_of_the_raters_are_on_another_scale(top, other):
    """Also where most of its grades are ones that raters give. A good judge wins then, which it would not raw."""
    rng = np.random.default_rng(22)
    quality = rng.normal(size=(3, 60))
    rating = np.clip(np.round(3 + quality + 0.6 * rng.normal(size=(3, 3, 60))), 1, 5)
    judge = np.clip(np.round((top + 1) / 2 + (top - 1) / 4 * quality + 0.3 * rng.normal(size=(3, 60))), 1, top)
    dims = ("rater", "system", "input")
    ds = xr.Dataset({"score": (("metric", *dims[1:]), judge[None]), "rating": (dims, rating)}, {"metric": ["m"]})
    found = ds.meta.alt_test("rating")
    assert ("calibrated" in found.attrs) == other and judge.max() == top
    assert found.winning_rate.item() == 1 or top == 6
