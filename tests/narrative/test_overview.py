"""What `ds.meta` shows of itself."""

import re

import pytest
import xarray as xr
from cases import FEW, OF_DEMO, answer_of_demo

from xsumstat import accessor
from xsumstat.catalogue import ANALYSES
from xsumstat.narrative import available


def test_missing_ratings_are_told():
    score = xr.DataArray([[[1.0, 2.0], [3.0, 4.0]]], {"metric": ["m"]}, ("metric", "system", "input"))
    rating = xr.DataArray([[[1.0, float("nan")]] * 2] * 2, dims=("system", "input", "rater"))
    told = repr(xr.Dataset({"score": score, "rating": rating}).meta)
    assert [line.split("  ")[-1] for line in told.splitlines() if "missing of rating" in line] == [" 4 of 8 ratings"]


def test_every_question_that_is_named_can_be_asked():
    for name in (name for names in available.QUESTIONS.values() for name in names):
        assert callable(getattr(accessor.DatasetMeta, name))
    assert set(OF_DEMO) == {name for name, about in ANALYSES.items() if about.pictures}


@pytest.mark.parametrize("name", OF_DEMO)
def test_a_result_says_what_it_is_and_which_picture_belongs_to_it(name):
    result = answer_of_demo(name)
    told = repr(result.meta)
    assert re.search(rf"^  result of +{name}$", told, flags=re.M)
    assert told.splitlines()[1].startswith("  conclusion  ") and max(map(len, told.splitlines())) < 200
    for picture in ANALYSES[name].pictures:
        assert picture in told and callable(getattr(result.meta.plot, picture))


def test_which_interval_it_was_is_told(demo):
    told = repr(demo.meta.ci("human").meta).splitlines()
    assert "  method            jackknife" in told and not any(line.startswith("  interval") for line in told)
    drawn = demo.meta.ci("human", method="bootstrap", interval="normal", **FEW)
    told = repr(drawn.meta).splitlines()
    assert "  method            bootstrap" in told and "  interval          normal" in told


def test_scores(demo):
    told = repr(demo.meta)
    assert "7 metrics × 12 systems × 30 inputs" in told and "gold" in told and "nothing" in told
    for picture in available.PICTURES:
        assert callable(getattr(accessor.Plots, picture)) and picture in told
    gaps = demo.copy(deep=True)
    gaps.score[2, :3, 4] = float("nan")
    del gaps.attrs["gold"]
    told = repr(gaps.meta)
    assert "bertscore: 3 of 360" in told and "not set: name it" in told
    page = gaps.assign_coords(metric=["<b>", *gaps.metric.values[1:]]).meta._repr_html_()
    assert "<table>" in page and "&lt;b&gt;" in page and "<b>" not in page


def test_lazy_scores_are_not_computed(demo):
    pytest.importorskip("dask")
    assert "not known before the scores are computed" in repr(demo.chunk().meta)


def test_no_scores():
    told = repr(xr.Dataset({"a": ("model", [1.0])}).meta)
    assert "needs a variable 'score'" in told and "a('model',)" in told and "set_dims" in told
