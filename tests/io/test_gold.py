"""Human scores joined by system and input."""

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import ignore_codes

from xsumstat.io import columns
from xsumstat.io.gold import add_gold


def ratings(systems, inputs, raters=("ann", "bob"), seed=0):
    values = np.random.default_rng(seed).integers(1, 6, (len(systems), len(inputs), len(raters))).astype(float)
    return xr.DataArray(
        values, {"system": systems, "input": inputs, "rater": list(raters)}, ("system", "input", "rater"), name="r"
    )


def test_by_labels_of_any_type_and_order(small):
    scores = small.assign_coords(system=[10, 11, 12, 13, 14, 15])
    human = ratings(["15", "14", "13", "12", "11", "10"], list("i0 i1 i2 i3 i4".split())[::-1])
    before = scores.copy(deep=True)
    ds = add_gold(scores, human)
    xr.testing.assert_identical(scores, before)
    assert ds.attrs["gold"] == "human" and list(ds.metric.values) == ["m0", "m1", "m2", "m3", "human"]
    assert list(ds.kind.values) == ["h", "a", "b", "c", "human"]
    for system in (10, 13):
        for case in ("i0", "i4"):
            given = human.sel(system=str(system), input=case)
            np.testing.assert_array_equal(ds.rating.sel(system=system, input=case), given)
            assert float(ds.score.sel(metric="human", system=system, input=case)) == given.mean()
    xr.testing.assert_equal(ds.score.sel(metric=small.metric.values), scores.score)


def long_frame(human):
    return human.rename("points").to_series().reset_index()


def test_a_frame_with_a_row_for_each_annotator(small):
    human = ratings(small.system.values, small.input.values).where(lambda values: values != 3)
    want = add_gold_quietly(small, human)
    rows = long_frame(human).dropna().sample(frac=1, random_state=1)
    usual = rows.rename(columns={"rater": "Annotator ID", "system": "model", "input": "Doc"})
    for frame in (rows, usual, rows.set_index(["system", "input"])):
        got = add_gold_quietly(small, frame)
        xr.testing.assert_equal(got.score, want.score)
        xr.testing.assert_equal(got.rating.sel(rater=["ann", "bob"]), want.rating)
    wide = human.rename(rater="who").to_series().unstack("who").reset_index()
    wide = wide.rename(columns={"ann": "annotator_1", "bob": "annotator_2"})
    xr.testing.assert_equal(add_gold_quietly(small, wide).score, want.score)


def test_a_frame_whose_rows_repeat_an_output_is_averaged_and_told(small):
    human = ratings(small.system.values, small.input.values)
    with pytest.warns(UserWarning, match="^human: averaged 30 repeated rows"):
        got = add_gold(small, long_frame(human).drop(columns="rater"))
    np.testing.assert_array_equal(got.score.sel(metric="human"), human.mean("rater"))
    with pytest.raises(ValueError, match="several columns of numbers: 'points', 'seconds'; leave the others out"):
        add_gold(small, long_frame(human).assign(seconds=1.5))


def add_gold_quietly(ds, human):
    with warnings.catch_warnings():
        ignore_codes("scores_left_out")
        return add_gold(ds, human)


def test_labels_that_only_look_the_same_are_told(small):
    scores = small.assign_coords(system=["caf\xe9", *small.system.values[1:]])
    human = ratings(["cafe\u0301", *small.system.values[1:]], small.input.values).mean("rater")
    with pytest.warns(UserWarning) as given:
        add_gold(scores, human)
    told = [str(each.message) for each in given]
    assert len(told) == 2 and told[0].startswith("system: some labels look the same but have different characters")
    assert "'caf\\xe9' and 'cafe\\u0301'" in told[0] and "5 have none" in told[1]
    add_gold(scores, human.assign_coords(system=scores.system.values))  # without a warning


def test_what_is_beside_is_kept(demo):
    alone = demo.drop_sel(metric="human")
    human = demo.score.sel(metric="human")
    ds = add_gold(alone, human, name="people")
    assert "rating" not in ds
    xr.testing.assert_equal(ds.truth.sel(metric="judge"), demo.truth.sel(metric="judge"))
    assert ds.higher_is_better.dtype == bool and list(ds.higher_is_better.values) == [
        *alone.higher_is_better.values,
        True,
    ]
    assert list(ds.system_type.values) == list(demo.system_type.values)
    np.testing.assert_array_equal(ds.meta.corr().correlation, demo.meta.corr("human").correlation)


def test_further_dims_and_lazy_scores(small):
    pytest.importorskip("dask")
    human = small.score.sel(metric="m0", drop=True)
    others = small.drop_sel(metric="m0")
    two = xr.concat([others, others], "language", data_vars="minimal").assign_coords(language=["en", "de"])
    two["score"] = xr.concat([others.score, others.score + 1], "language")
    got = add_gold(two, human)
    for language in ("en", "de"):
        np.testing.assert_array_equal(
            got.score.sel(metric="human", language=language).transpose("system", "input"), human
        )
    lazy = add_gold(others.chunk(metric=1), human)
    assert lazy.score.chunks is not None
    xr.testing.assert_equal(lazy.compute(), add_gold(others, human))


def test_what_found_no_partner_is_said(small):
    human = ratings(["s0", "s1", "s2", "s3", "s4", "zz"], ["i0", "i1", "i2", "i3", "i4"]).mean("rater")
    human[0, 0] = np.nan
    with pytest.warns(UserWarning, match=(
        r"24 of 30 outputs of the scores have a human score; 6 have none, as s0/i0, s5/i0, s5/i1; "
        r"5 human scores without an output, e.g. zz/i0, zz/i1, zz/i2"
    )):  # fmt: skip
        ds = add_gold(small, human)
    assert int(ds.score.sel(metric="human").notnull().sum()) == 24


@pytest.mark.parametrize(
    "human, name, message",
    [
        (
            lambda: ratings(["x"], ["i0"]),
            "human",
            "the scores have system 's0', 's1', … .* the human scores system 'x'",
        ),
        (lambda: ratings(["s0"], ["i0"]), "m1", "there is a metric 'm1' in the scores already"),
        (lambda: ratings(["s0"], ["i0"]).rename(rater="who"), "human", "human must be a DataArray with the dims"),
        (lambda: [1], "human", "human must be a DataArray .*, or a frame, got list"),
        (lambda: pd.Series([1.0]), "human", "human must be a DataArray .*, or a frame, got Series"),
        (lambda: pd.DataFrame({"a": [1]}), "human", "human has no column that names the system; columns: 'a'"),
        (lambda: ratings(["s0"], ["i0"]).drop_vars("input"), "human", "no labels along 'input'"),
    ],
)
def test_what_cannot_be_joined(small, human, name, message):
    with pytest.raises(ValueError, match=message):
        add_gold(small, human(), name=name)


@pytest.mark.parametrize(
    "names, field, want",
    [
        (["system", "model"], "system", "system"),
        (["Model", "x"], "system", "Model"),
        (["DOC ID"], "input", "DOC ID"),
        (["x"], "input", None),
        (["models"], "system", "models"),
        (["moderators"], "system", None),
    ],
)
def test_columns_by_their_usual_names(names, field, want):
    assert columns.recognised(names, field) == want


def test_two_columns_that_fit_are_both_named():
    with pytest.raises(ValueError, match="2 columns could name the input: 'doc', 'seg_id'; say which one"):
        columns.recognised(["doc", "seg_id"], "input")


@pytest.mark.parametrize(
    "names, want",
    [
        (["annotator_1", "annotator_2"], True),
        (["rater a", "rater b"], True),
        (["r1", "r2", "r10"], True),
        (["fluency", "relevance"], False),
        (["human", "humans"], False),
        (["a"], False),
        (["1", "2"], False),
    ],
)
def test_columns_of_raters(names, want):
    assert columns.numbered(names) is want
