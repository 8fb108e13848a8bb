"""Frames of results: a row for each value, nothing twice."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from cases import ASKED, answer
from helpers import for_each

from xsumstat import catalogue
from xsumstat.dataset import results
from xsumstat.io.result_frames import to_frame

QUESTIONS = [name for name in ASKED if not name.startswith("corr, ")]


@pytest.mark.slow
@for_each("question", QUESTIONS)
def test_no_row_repeats_what_another_says(question):
    """A value that belongs to fewer dims than a row has would stand there again and again."""
    result = answer(question)
    frame = to_frame(result)
    main = result["score"] if "analysis" not in result.attrs else result[results.main_variable(result)]
    dims = list(map(str, main.dims))
    assert len(frame) <= max(1, main.size) and not frame.duplicated(dims or None).any()
    for name in set(frame) & set(map(str, result.data_vars)):
        assert set(result[name].dims) == set(main.dims), name
    lost = {str(name) for name in result.data_vars} - set(frame) - set(frame.attrs)
    for name in lost - {"score"}:
        assert set(result[name].dims) != set(main.dims) or "resample" in result[name].dims or question == "designs"


def test_values_are_those_of_the_result(demo):
    result = demo.meta.perm_test("human", n_resamples=99, rng=0)
    frame = result.meta.to_frame()
    assert len(frame) == 6 * 5
    for row in frame.itertuples():
        cell = result.sel(metric=row.metric, other_metric=row.other_metric)
        assert row.pvalue == float(cell.pvalue) and row.difference == float(cell.difference)
    assert frame.attrs["n_resamples"] == 99 and frame.attrs["gold"] == "human"


def test_a_ceiling_has_a_row_for_each_metric(demo):
    rating = xr.concat([demo.score.sel(metric=name, drop=True) for name in ("human", "judge", "rouge")], "rater")
    result = demo.meta.human_ceiling(rating, metric=["bleu", "length"])
    frame = result.meta.to_frame()
    assert list(frame.metric) == result.metric.values.tolist() and "by_rater" not in frame
    by_rater = result[["by_rater"]].meta.to_frame()
    assert len(by_rater) == 3 * 3 and list(by_rater.columns)[-1] == "by_rater"


def test_what_is_one_number_goes_to_attrs(demo):
    frame = demo.meta.pca().meta.to_frame()
    assert "n_cells" not in frame and frame.attrs["n_cells"] == 12 * 30 and "explained" not in frame
    shape = demo.meta.normality(level="input")
    assert "share_rejected" not in shape.meta.to_frame()
    assert len(shape[["share_rejected"]].meta.to_frame()) == 7


def test_a_brief_frame_keeps_answers_and_intervals(demo):
    frame = demo.meta.ci("human").meta.to_frame(brief=True)
    assert list(frame) == ["metric", "correlation", "ci_low", "ci_high"]
    whole = demo.meta.ci("human").meta.to_frame()
    pd.testing.assert_frame_equal(whole[list(frame)], frame)
    assert [name in catalogue.DETAILS for name in whole.columns[3:]] == [False] * 3 + [True] * 5
    with pytest.raises(TypeError, match="brief"):
        demo.meta.ci("human").meta.to_frame(brief="yes")


def test_columns_do_not_depend_on_values(demo):
    gaps = demo.copy(deep=True)
    gaps.score[2, :3, 4] = np.nan
    gaps.score[3] = 1.0
    with pytest.warns(UserWarning):
        other = gaps.meta.ci("human").meta.to_frame()
    assert list(other) == list(demo.meta.ci("human").meta.to_frame())


def test_attrs_fit_into_a_file(demo, tmp_path):
    pytest.importorskip("pyarrow")
    pytest.importorskip("netCDF4")
    demo.meta.rank("human", method="permutation", adjust=None, n_resamples=19, rng=0).to_netcdf(tmp_path / "rank.nc")
    frame = xr.load_dataset(tmp_path / "rank.nc").meta.to_frame()
    frame.to_parquet(tmp_path / "rank.parquet")
    assert pd.read_parquet(tmp_path / "rank.parquet").attrs == frame.attrs
    assert type(frame.attrs["n_resamples"]) is int


def test_nothing_is_an_empty_frame():
    assert to_frame(xr.Dataset()).empty
