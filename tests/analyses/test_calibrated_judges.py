"""Judges on another scale than the raters, in the alternative annotator test: calibrated, and as people would do."""

import warnings

import numpy as np
import pytest
import xarray as xr
from conftest import of_code

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


@pytest.mark.ignore_codes("other_scale")
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


GRADES = np.random.default_rng(20).integers(1, 6, (3, 8, 10)).astype(float)  # 1 to 5, all used
SCALES = {  # of the judge: its scores, and whether they are on another scale than grades from 1 to 5
    "the same grades": (GRADES[0], False),
    "a harsh judge": (np.maximum(GRADES[0] - 1, 1), False),
    "a judge that gives one grade": (GRADES[0] * 0 + 2, False),
    "between the grades": (GRADES[0] / 2 + 1.7, False),
    "up to 7": (GRADES[0] * 1.5 - 0.5, False),
    "0 to 100": (GRADES[0] * 25 - 25, True),
    "1 to 10": (GRADES[0] * 2.25 - 1.25, True),
    "-1 to 1": (GRADES[0] / 2 - 1.5, True),
    "a share": (GRADES[0] / 4 - 0.25, True),
}
BETWEEN = ("between the grades", "up to 7")  # mostly no grades of the raters, on their scale


def test_a_judge_that_gives_probabilities_of_a_pass_is_calibrated():
    """Raters who agree are nearer to each other than any probability is, so raw scores cannot win."""
    rng = np.random.default_rng(21)
    quality = rng.normal(size=(4, 100))
    rating = (quality + 0.5 * rng.normal(size=(2, 4, 100)) > 0).astype(float)
    judges = np.array([1 / (1 + np.exp(-3 * quality)), rng.uniform(0.01, 0.99, quality.shape), quality > 0])
    ds = xr.Dataset(
        {"score": (("metric", "system", "input"), judges), "rating": (("rater", "system", "input"), rating)},
        {"metric": ["oracle", "noise", "verdict"]},
    )
    raw, found = ds.meta.alt_test("rating", scale="raw"), ds.meta.alt_test("rating")
    apart = float((rating[0] != rating[1]).mean())
    np.testing.assert_allclose(raw.advantage.sel(metric=["oracle", "noise"]), apart, atol=0.02)
    assert found.attrs["calibrated"] == "oracle, noise" and found.winning_rate.values.tolist() == [1, 0, 1]
    # What is calibrated has the raters' shares, and so is near to the verdict at their threshold.
    assert abs(found.advantage.sel(metric="oracle") - found.advantage.sel(metric="verdict")).max() < 0.05


@pytest.mark.ignore_codes("other_scale", "leakage")
@pytest.mark.parametrize("name", SCALES)
def test_a_verdict_is_given_on_the_scale_of_the_raters_alone(name):
    judge, other = SCALES[name]
    ds = xr.Dataset(
        {"score": (("metric", "system", "input"), np.stack([judge + 1e-9, GRADES[1]])),
         "rating": (("rater", "system", "input"), GRADES)},
        {"metric": ["m", "known"]},
    )  # fmt: skip
    assert ds.meta.alt_test("rating").winning_rate.notnull().all()
    assert ("calibrated" in ds.meta.alt_test("rating").attrs) == (other or name in BETWEEN)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = ds.meta.alt_test("rating", scale="raw")
    told = of_code(caught, "no_verdict")
    assert found.winning_rate.isnull().values.tolist() == [other, False]
    assert len(told) == other and ("other_scale" in found.attrs) == other
    if other:
        assert told[0].startswith("no verdict on 'm': the ratings go from 1 to 5")
        assert found.attrs["other_scale"] == "m" and "No verdict on m:" in found.meta.conclusion()
        ranked = ds.meta.alt_test("rating", scale="ranks")
        assert ranked.winning_rate.notnull().all() and "other_scale" not in ranked.attrs


def test_a_grade_of_5_among_ratings_from_0_to_100_is_on_another_scale():
    """And 0 and 1, which raters give, are on theirs."""
    rng = np.random.default_rng(21)
    rating = rng.integers(0, 101, (3, 8, 10)).astype(float)
    passes = rng.integers(0, 2, (3, 8, 10)).astype(float)
    dims = ("rater", "system", "input")
    for values, judge, other in ((rating, GRADES[0], True), (passes, passes[0] * (GRADES[0] > 1), False)):
        ds = xr.Dataset({"score": (("metric", *dims[1:]), judge[None]), "rating": (dims, values)}, {"metric": ["m"]})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            assert bool(ds.meta.alt_test("rating", scale="raw").winning_rate.isnull().all()) == other
