"""A judge report with human scores in an array of their own, and with scores that have a dim more."""

import itertools

import numpy as np
import pytest
import xarray as xr
from conftest import warns
from helpers import by_turns

import xsumstat  # noqa: F401

pytestmark = pytest.mark.filterwarnings("ignore")


def scores(aspects=1):
    rng = np.random.default_rng(0)
    quality = rng.normal(size=(3, 24, aspects))
    ratings = np.clip(np.round(3 + quality + rng.normal(size=(3, *quality.shape)) * 0.7), 1, 5)
    judges = np.clip(np.round(3 + quality + rng.normal(size=(2, *quality.shape)) * 0.7), 1, 5)
    dims = "system", "input", "aspect"
    coords = {
        "metric": ["gpt", "other"],
        "system": ["a", "b", "c"],
        "input": [f"prompt {at}" for at in range(24)],
        "aspect": [f"aspect {at}" for at in range(aspects)],
        "rater": ["ann", "bob", "eve"],
    }
    return xr.Dataset({"score": (("metric", *dims), judges), "rating": (("rater", *dims), ratings)}, coords)


def numbers(page):
    return {name: result.drop_attrs() for name, result in page.results.items()}


@pytest.mark.parametrize(
    ("single", "places"),
    by_turns(
        itertools.product(
            [False, True], [{"input": slice(0, 12)}, {"system": slice(0, 2)}, {"input": slice(None, None, -1)}]
        )
    ),
)
@pytest.mark.slow
def test_human_scores_of_some_outputs(places, single):
    """The same as with ratings that are NaN elsewhere."""
    ds = scores().isel(aspect=0, drop=True)
    array = ds["rating"].isel(places)
    whole = ds.assign(rating=array.reindex_like(ds["rating"]))
    array = array if single else array.mean("rater").rename("human")
    alone = ds.drop_vars(["rating", "rater"])
    gold = whole["rating"] if single else whole["rating"].mean("rater").rename("human")
    page, wanted = alone.meta.report(array, kind="judge"), alone.meta.report(gold, kind="judge")
    assert page.summary == wanted.summary
    assert numbers(page).keys() == numbers(wanted).keys()
    for name, result in numbers(page).items():
        xr.testing.assert_identical(result, numbers(wanted)[name])
    if places.get("input") == slice(0, 12):
        assert "only 12 of 24 prompts have " in page.conclusion()


def test_human_scores_of_outputs_without_scores_are_named():
    ds = scores().isel(aspect=0, drop=True)
    with warns("labels_left_out", "left out 3 inputs of the gold without metric scores: 'prompt 0', 'prompt 1'"):
        ds.drop_vars("rating").isel(input=slice(3, None)).meta.report(ds["rating"], kind="judge")
    with pytest.raises(ValueError, match="share no label along 'input'"):
        ds.drop_vars("rating").isel(input=slice(12, None)).meta.report(ds["rating"][:, :, :12], kind="judge")


def test_scores_of_several_aspects_are_refused():
    ds = scores(aspects=2)
    with pytest.raises(ValueError, match=r"has 2 along 'aspect'. Choose one: ds.sel\(aspect='aspect 0'\)"):
        ds.meta.report(kind="judge")
    one = ds.sel(aspect="aspect 0", drop=True)
    with pytest.raises(ValueError, match="has 2 along 'aspect'"):
        one.drop_vars("rating").meta.report(ds["rating"], kind="judge")
    with pytest.raises(ValueError, match=r"Choose one: ds.isel\(aspect=0\)"):
        ds.drop_vars("aspect").meta.report(kind="judge")
    assert "gpt: Its agreement" in ds.sel(aspect="aspect 0").meta.report(kind="judge").conclusion()
