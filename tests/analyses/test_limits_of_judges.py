"""Limits of the test of judges as raters: p-values, folds and numbers of grades, each on both sides."""

import math

import numpy as np
import pytest
import xarray as xr
from conftest import of_code, warns

import xsumstat  # noqa: F401 - registers ds.meta
from xsumstat.analyses import judges


def rated(seed, systems=6, inputs=10):
    """Four raters on a scale of five, and two judges on the same."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(3, 1, (systems, inputs))
    noise = np.array([0.7, 0.7, 0.7, 0.7, 0.3, 2.0])[:, None, None]
    values = np.clip(np.round(truth + noise * rng.normal(size=(6, systems, inputs))), 1, 5)
    data = {"score": (("metric", "system", "input"), values[4:]), "rating": (("rater", "system", "input"), values[:4])}
    return xr.Dataset(data, {"metric": ["good", "bad"], "rater": [f"r{at}" for at in range(4)]})


def test_a_rater_is_beaten_where_the_corrected_p_value_is_alpha_itself():
    ds = rated(4)
    p = ds.meta.alt_test("rating").pvalue_adjusted
    alphas = [each for each in np.unique(p) if 0 < each < 1]
    assert alphas
    for at in alphas:
        for alpha in (float(at), float(np.nextafter(at, 0.0))):
            rate = ds.meta.alt_test("rating", alpha=alpha).winning_rate
            np.testing.assert_allclose(rate, (p.values <= alpha).mean(axis=p.dims.index("rater")))


def test_two_inputs_are_enough_to_calibrate_a_judge_and_one_is_not():
    other = rated(3).assign(score=lambda ds: ds.score * 20 - 7)
    two = other.isel(input=slice(2)).meta.alt_test("rating", scale="calibrated", min_items=2)
    assert "cross-fitted in 2 folds of inputs" in two.meta.conclusion()
    one = other.isel(input=[0])
    with pytest.raises(ValueError, match="fits a judge's scores on other inputs, and there is only one"):
        one.meta.alt_test("rating", scale="calibrated", min_items=2)
    with warns("no_verdict"):
        found = one.meta.alt_test("rating", min_items=2)
    assert found.winning_rate.isnull().all() and "calibrated" not in found.attrs


@pytest.mark.parametrize(("n", "rounded"), [(1, False), (2, True), (50, True), (51, False)])
def test_calibrated_scores_are_rounded_to_two_to_fifty_grades(n, rounded):
    ds = rated(5)
    grades = 1 + np.arange(ds.rating.size).reshape(ds.rating.shape) % n
    ratings = ds.rating.copy(data=grades.astype(float))
    _, attrs = judges._calibrated(ds.score, ratings, "rater", xr.ones_like(ds.metric, dtype=bool))
    assert ("rounded to their grades" in attrs["calibration"]) == rounded


@pytest.mark.parametrize("margin", [0.0, 0.2, 0.6])
def test_the_winning_rate_of_a_constant_grade_is_that_of_a_constant_judge(margin):
    ds = rated(3, inputs=20)
    ds["rating"] = ds.rating.where(np.random.default_rng(1).random(ds.rating.shape) > 0.2)
    tested = ds.meta.alt_test("rating", margin=margin, min_items=10)
    grades = [value for value in ds.rating.values.ravel().tolist() if not math.isnan(value)]
    most = max(sorted(set(grades)), key=grades.count)
    constant = ds.assign(score=xr.full_like(ds.score.isel(metric=[0]), most)).meta.alt_test(
        "rating", margin=margin, min_items=10, metric="good"
    )
    assert tested.constant_winning_rate.item() == constant.winning_rate.item()
    passes = constant.winning_rate.item() >= 0.5 and bool((tested.winning_rate >= 0.5).any())
    assert passes == (margin == 0.6)
    assert ("would also pass, so passing says little here" in tested.meta.conclusion().replace("\n", " ")) == passes


def test_outputs_with_one_rating_are_said_to_lack_another():
    ds = rated(5, inputs=12)
    ds["rating"] = ds.rating.where((ds.input > 1) | (ds.rater == "r0"))
    with warns("labels_without_cells") as caught:
        ds.meta.human_ceiling("rating", level="input", coefficient="kendall")
    told = of_code(caught, "labels_without_cells")
    assert len(told) == 1 and "left out 2 inputs (no output has ratings by two raters and a metric score)" in told[0]


def test_ratings_without_grades_have_no_constant_judge():
    ds = rated(4, inputs=20)
    ds["rating"] = ds.rating + np.random.default_rng(0).normal(size=ds.rating.shape)
    assert math.isnan(ds.meta.alt_test("rating").constant_winning_rate.item())
