"""Frames of other libraries, and cells that hold several values."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from xsumstat.io import frames

FRAME = pd.DataFrame(
    {
        "system": ["a", "a", "b", "b"],
        "input": ["x", "y", "x", "y"],
        "rouge": [0.1, 0.2, 0.3, 0.4],
        "human": [1, 2, 3, 5],
    }
)


class Converts:
    """A table of some library that gives itself to pandas."""

    def to_pandas(self):
        return FRAME


class Lazy:
    def collect(self):
        raise AssertionError("nothing is computed unasked")

    def lazy(self):
        return self


def test_polars_pyarrow_and_what_converts_itself():
    want = FRAME.meta.to_scores(wide=True)
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    coded = pa.Table.from_pandas(FRAME).set_column(0, "system", pa.array(FRAME.system).dictionary_encode())
    for frame in (pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME), coded, Converts(), FRAME):
        got = frames.to_scores(frame, wide=True)
        xr.testing.assert_identical(got, want)
        assert got.system.dtype == want.system.dtype
    gaps = pl.DataFrame({"system": ["a", "b"], "input": [1, 1], "n": [1, None]})
    np.testing.assert_array_equal(frames.to_scores(gaps, wide=True).score.values.ravel(), [1, np.nan])


@pytest.mark.parametrize(
    "frame, message",
    [
        (Lazy(), r"frame is lazy, .*: pass frame\.collect\(\)"),
        ({"system": ["a"]}, r"got dict: pass pandas\.DataFrame\(frame\)"),
        ([{"system": "a"}], "got list: pass pandas"),
        (3, "frame must be a table of pandas, polars, pyarrow or another library .*, got int"),
    ],
)
def test_what_is_no_table(frame, message):
    with pytest.raises(TypeError, match=message):
        frames.to_scores(frame, wide=True)


def test_a_lazy_frame_of_polars():
    pl = pytest.importorskip("polars")
    with pytest.raises(TypeError, match="frame is lazy"):
        frames.to_scores(pl.from_pandas(FRAME).lazy(), wide=True)


@pytest.mark.parametrize("cells", [[[1, 2]] * 4, [np.array([1.0, 2.0])] * 4, [None, None, [1], [2]]])
def test_lists_in_cells_of_scores(cells):
    nested = FRAME.assign(ratings=pd.Series(cells, dtype=object))
    with pytest.raises(TypeError, match=r"column 'ratings' holds lists, .*frame\.explode\('ratings'\)"):
        nested.meta.to_scores(wide=True, metric=["rouge", "ratings"])


def test_mappings_in_cells_and_in_labels():
    nested = FRAME.assign(scores=[{"rouge": 1}] * 4)
    with pytest.raises(TypeError, match=r"column 'scores' holds mappings, .*json_normalize"):
        nested.meta.to_scores(wide=True, metric=["scores"])
    with pytest.raises(TypeError, match="column 'scores' holds mappings"):
        nested.meta.to_scores(wide=True, input="scores")


def test_other_columns_of_lists_are_left_out_and_named():
    with pytest.warns(UserWarning, match=r"left out columns? 'messages': no values"):
        ds = FRAME.assign(messages=[["hi"]] * 4).meta.to_scores(wide=True)
    assert list(ds.metric.values) == ["rouge", "human"]
