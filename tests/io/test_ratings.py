"""Ratings by several people in frames of every shape."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import of_code, warns

import xsumstat  # noqa: F401

# Each output, what a metric gave it, and what three people gave it; bob rated only some.
OUTPUTS = pd.DataFrame(
    {
        "model": list("aabbcc"),
        "doc": [1, 2, 1, 2, 1, 2],
        "rouge": [0.1, 0.2, 0.3, 0.5, 0.4, 0.6],
        "ann": [1, 2, 3, 3, 4, 5],
        "bob": [2, np.nan, 3, 4, np.nan, 5],
        "cat": [1, 1, 2, 5, 5, 5],
    }
)
PEOPLE = ["ann", "bob", "cat"]
KEYS = {"system": "model", "input": "doc"}


def by_annotator():
    """A row a rating, beside what the metric gave the output."""
    return OUTPUTS.melt(["model", "doc", "rouge"], var_name="who", value_name="quality").dropna()


def shapes():
    tidy = OUTPUTS.melt(["model", "doc"], var_name="metric", value_name="score")
    of_people = tidy.assign(
        annotator=tidy.metric.where(tidy.metric != "rouge"), metric=tidy.metric.where(tidy.metric == "rouge", "quality")
    )
    return {
        "wide, a column an annotator": (OUTPUTS, {"wide": True, "ratings": PEOPLE}),
        "wide, a row a rating": (by_annotator(), {"wide": True, "ratings": "quality", "rater": "who"}),
        "tidy, annotators as metrics": (tidy, {"ratings": PEOPLE}),
        "tidy, a column of annotators": (of_people, {"ratings": "quality", "rater": "annotator"}),
        "wide, metrics named": (OUTPUTS, {"wide": True, "ratings": PEOPLE, "metric": ["rouge"]}),
    }


@pytest.mark.parametrize("shape", shapes())
def test_every_shape_gives_the_same(shape):
    frame, keywords = shapes()[shape]
    before = frame.copy(deep=True)
    ds = frame.meta.to_scores(**KEYS, **keywords)
    pd.testing.assert_frame_equal(frame, before)
    assert ds.rating.dims == ("system", "input", "rater") and ds.attrs["gold"] == "human"
    assert list(ds.metric.values) == ["rouge", "human"] and list(ds.kind.values) == ["automatic", "human"]
    for row in OUTPUTS.itertuples():
        here = ds.sel(system=row.model, input=row.doc)
        given = [getattr(row, who) for who in PEOPLE]
        np.testing.assert_array_equal(here.rating.sel(rater=PEOPLE), given)
        assert float(here.score.sel(metric="rouge")) == row.rouge
        assert float(here.score.sel(metric="human")) == pytest.approx(np.nanmean(given))


def test_what_can_be_asked_then():
    ds = OUTPUTS.meta.to_scores(**KEYS, wide=True, ratings=PEOPLE)
    with warns("few_systems"):
        assert list(ds.meta.corr().metric.values) == ["rouge"]
    assert set(ds.meta.agreement("rating").data_vars)


@pytest.mark.parametrize("wide", [False, True])
def test_blanks_around_labels_are_said_once_for_scores_and_ratings(wide):
    """Of a frame that is taken apart, also where but one of its parts has a blank."""
    keys, dirty = {**KEYS, "wide": True, "ratings": PEOPLE}, OUTPUTS.copy()
    if not wide:
        keys.pop("wide")
        dirty = dirty.melt(["model", "doc"], var_name="metric", value_name="score")
    want = dirty.meta.to_scores(**keys)
    dirty["model"] = dirty["model"] + np.where(np.arange(len(dirty)) % 3 == 0, " ", "")
    with pytest.warns(UserWarning) as caught:
        found = dirty.meta.to_scores(**keys)
    assert len(caught) == len(of_code(caught, "labels_trimmed")) == 1 and "'model'" in str(caught[0].message)
    xr.testing.assert_identical(found, want)


def test_what_raters_wrote_is_left_out_and_named():
    frame = by_annotator()
    ds = frame.assign(comment=frame.who + " on " + frame.model + frame.doc.astype(str)).meta.to_scores(
        **KEYS, wide=True, ratings="quality", rater="who"
    )
    assert ds.attrs.pop("left_out") == "comment"
    xr.testing.assert_identical(ds, frame.meta.to_scores(**KEYS, wide=True, ratings="quality", rater="who"))


def test_ratings_alone():
    ds = by_annotator().drop(columns="rouge").meta.to_scores(**KEYS, wide=True, ratings="quality", rater="who")
    assert list(ds.metric.values) == ["human"]
    xr.testing.assert_equal(ds.rating, OUTPUTS.meta.to_scores(**KEYS, wide=True, ratings=PEOPLE).rating)


@pytest.mark.parametrize("keys", [{"ratings": PEOPLE}, {"ratings": "quality", "rater": "who"}])
def test_descriptions_of_ratings_alone_are_kept(keys):
    frame = (OUTPUTS if "rater" not in keys else by_annotator()).drop(columns="rouge")
    frame = frame.assign(topic=frame.doc.map(str) + "!")
    ds = frame.meta.to_scores(**KEYS, wide=True, **keys)
    assert list(ds.metric.values) == ["human"] and list(ds.topic.values) == [f"{label}!" for label in ds.input.values]


def test_other_labels_and_descriptions():
    more = pd.concat([OUTPUTS, pd.DataFrame({"model": ["d"], "doc": [3], "rouge": [0.7]})]).assign(type="new")
    ds = more.meta.to_scores(
        **KEYS, wide=True, ratings=PEOPLE, gold="rating", lower_is_better="rouge", kind={"overlap": "rouge"}
    )
    assert ds.attrs["gold"] == "rating" and list(ds.kind.values) == ["overlap", "human"]
    assert list(ds.higher_is_better.values) == [False, True]
    assert np.isnan(ds.score.sel(metric="human", system="d", input=3)) and "type" in ds.coords


def test_directions_of_a_column_leave_the_mean_as_it_is():
    tidy = OUTPUTS.melt(["model", "doc"], var_name="metric", value_name="score").assign(higher_is_better=False)
    ds = tidy.meta.to_scores(**KEYS, ratings=PEOPLE)
    assert list(ds.higher_is_better.values) == [False, True] and ds.higher_is_better.dtype == bool


@pytest.mark.parametrize(
    "keywords, error, message",
    [
        ({"ratings": ["ann", "bbo"]}, ValueError, "ratings='bbo' is not a column; did you mean 'bob'"),
        ({"ratings": []}, ValueError, "ratings must name at least one metric or column"),
        ({"ratings": ["ann", "ann"]}, ValueError, "ratings repeats"),
        ({"ratings": ["ann", "bob"], "rater": "cat"}, ValueError, "ratings must name one .* where rater='cat'"),
        ({"rater": "cat"}, ValueError, "rater='cat' says who rated: name the metrics that are ratings"),
        ({"ratings": "ann", "rater": "who"}, ValueError, "rater='who' is not a column"),
        ({"ratings": ["ann", "bob"], "gold": "rogue"}, ValueError, "unknown gold 'rogue'; did you mean 'rouge'"),
    ],
)
def test_bad_arguments(keywords, error, message):
    with pytest.raises(error, match=message):
        OUTPUTS.meta.to_scores(**KEYS, wide=True, **keywords)


def test_a_metric_of_the_mean_s_name():
    with pytest.raises(ValueError, match="there is a metric 'human' beside the ratings"):
        OUTPUTS.rename(columns={"rouge": "human"}).meta.to_scores(**KEYS, wide=True, ratings=PEOPLE)


def test_one_rater_twice_on_one_output():
    with pytest.raises(ValueError, match="repeated .* outputs?"):
        pd.concat([by_annotator(), by_annotator().head(1)]).meta.to_scores(
            **KEYS, wide=True, ratings="quality", rater="who"
        )


def test_an_unknown_metric_of_a_tidy_frame():
    tidy = OUTPUTS.melt(["model", "doc"], var_name="metric", value_name="score")
    with pytest.raises(ValueError, match="unknown metric in ratings 'anne'; did you mean 'ann'"):
        tidy.meta.to_scores(**KEYS, ratings=["anne"])


def test_columns_called_as_ours():
    frame = OUTPUTS.rename(columns={"ann": "rating", "bob": "metric", "cat": "human"})
    ds = frame.meta.to_scores(**KEYS, wide=True, ratings=["rating", "metric", "human"])
    want = OUTPUTS.meta.to_scores(**KEYS, wide=True, ratings=PEOPLE)
    np.testing.assert_array_equal(ds.rating, want.rating)
    np.testing.assert_array_equal(ds.score, want.score)
    with pytest.raises(ValueError, match="the column 'rater' names a system, input or additional dim"):
        OUTPUTS.rename(columns={"model": "rater"}).meta.to_scores(
            system="rater", input="doc", wide=True, ratings=PEOPLE
        )


@pytest.mark.parametrize("keywords", [{"ratings": ["ann", "bob"]}, {"ratings": "ann", "rater": "bob"}])
def test_ratings_that_are_no_numbers_are_named_by_their_column(keywords):
    frame = OUTPUTS.assign(ann=["x", *OUTPUTS.ann[1:]])
    with pytest.raises(TypeError, match="column 'ann' must hold numbers, .*'x' in row 0"):
        frame.meta.to_scores(**KEYS, wide=True, **keywords)
