"""Limits of the test of judges as raters: p-values, folds and numbers of grades, each on both sides."""

import numpy as np
import pytest
import xarray as xr
from conftest import warns

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
