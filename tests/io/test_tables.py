"""Tables in text files, as `read_scores` reads them: quotes, line ends, ragged rows, bad cells."""

import numpy as np
import pandas as pd
import pytest
from helpers import pairwise

from xsumstat.io import tables
from xsumstat.io.frames import read_scores

HEADER = "system,input,human,r1\n"
OLD_PANDAS = int(pd.__version__.split(".")[0]) < 3
long_numbers = pytest.mark.skipif(OLD_PANDAS, reason="pandas 2 reads whole numbers beyond 64 bits as text")
LONG = "metric,system,input,score\n"


@pairwise(
    {
        "end": ["\n", "\r\n", "\r"],
        "start": ["", "\ufeff"],
        "text, message": [
            (
                HEADER + "a,1,5,6,7\nb,1,5,6,7\n",
                r"line 2: 5 fields, but the header has 4; quote fields that hold a comma",
            ),
            (HEADER + "a,1,5,6\nb,1,5,0,7\n", r"line 3: 5 fields, but the header has 4; .*decimals with a point"),
            (HEADER + "a,1,5,6,\nb,1,5,6,\n", "line 2: 5 .* the header has 4; is there a separator at its end"),
            (HEADER + "a,1,5,6\n\nb,1,5\n", r"line 4: 3 fields, but the header has 4"),
            (HEADER + "a,1,5,6\nb\n", r"line 3: 1 field, but the header has 4"),
            (HEADER + '"a\n,\n",1,5,6\n"b\n",1,5,6,7\n', r"line 5: 5 fields, but the header has 4"),
            (HEADER + '"a"",",1,5,6\nb,1,5,6,7\n', "line 3: 5 field"),
            ("system,input,r1,r1\na,1,5,6\n", "line 1: the header has 'r1' more than once"),
            ("\nsystem,input,r1, r1\na,1,5,6\n", "line 2: the header has 'r1' more than once"),
            (LONG + "m,a,1,0,5\n", r"line 2: 5 fields, but the header has 4"),
            (LONG + "m,a,1\n", r"line 2: 3 fields, but the header has 4"),
            ("metric,system,input,score,score\nm,a,1,2,3\n", "line 1: the header has 'score' more than once"),
            (HEADER + 'a,1,5,"6\nb,1,5,7\n', "line 2: 4 field|EOF inside string"),
        ],
        "suffix": [".csv", ".tsv"],
    },
    as_one=True,
)
def test_ragged_tables_are_refused(tmp_path, text, message, start, end, suffix):
    path = tmp_path / f"scores{suffix}"
    if suffix == ".tsv":
        text, message = text.replace(",", "\t"), message.partition("; quote")[0].partition("; .*deci")[0]
    path.write_bytes((start + text.replace("\n", end)).encode())
    with pytest.raises(ValueError, match=f"cannot read scores{suffix} as {suffix}: .*({message})"):
        read_scores(path)


@pairwise(
    {
        "end": ["\n", "\r\n"],
        "start": ["", "\ufeff"],
        "suffix, sep": [(".csv", ","), (".tsv", "\t")],
        "kind": ["wide", "long"],
    }
)
def test_tables_as_they_are_written(tmp_path, start, end, suffix, sep, kind):
    """Quoted separators, quotes and line ends; empty lines before, between and after; a mark of byte order."""
    path = tmp_path / f"scores{suffix}"
    first = f'"a{sep} ""A""{end}!"'
    if kind == "wide":
        rows = [
            "",
            sep.join(["system", "input", "human", '"r1"']),
            "",
            f"{first}{sep}1{sep}5{sep}6",
            f"b{sep}1{sep}{sep}7",
        ]
    else:
        rows = [sep.join(["metric", "system", "input", "score"])]
        rows += [f"human{sep}{first}{sep}1{sep}5", f"r1{sep}{first}{sep}1{sep}6", "", f"r1{sep}b{sep}1{sep}7"]
    path.write_bytes((start + end.join([*rows, "", "  ", ""])).encode())
    ds = read_scores(path)
    assert ds.system.values.tolist() == [f'a{sep} "A"{end}!', "b"] and ds.input.values.tolist() == ["1"]
    np.testing.assert_array_equal(ds.score.sel(metric=["human", "r1"]).values[..., 0], [[5, np.nan], [6, 7]])


def test_a_field_may_be_long(tmp_path):
    (tmp_path / "a.csv").write_text(f"system,input,r1,text\na,1,5,{'x' * 200_000}\nb,1,6,y\n")
    assert read_scores(tmp_path / "a.csv").text.values.tolist() == ["x" * 200_000, "y"]


def test_blanks_around_the_names_of_columns(tmp_path):
    (tmp_path / "a.csv").write_text("system, input ,llm_judge \na,1,5\nb,1,6\n")
    with pytest.warns(UserWarning, match="a.csv: blanks around columns' names are left out: ' input ', 'llm_judge '"):
        ds = read_scores(tmp_path / "a.csv")
    assert ds.metric.values.tolist() == ["llm_judge"] and ds.input.values.tolist() == ["1"]


def test_labels_in_files_are_text(tmp_path):
    """A system may be called NA, and an input 007."""
    path = tmp_path / "scores.csv"
    path.write_text("system,input,rouge,human\nNA,007,0.1,1\nNA,8,,2\nb,007,0.3,3\nb,8,NA,4\n")
    ds = read_scores(path)
    assert list(ds.system.values) == ["NA", "b"] and list(ds.input.values) == ["007", "8"]
    assert int(ds.score.sel(metric="rouge").isnull().sum()) == 2


@pytest.mark.parametrize(
    "text, error, message",
    [
        (
            HEADER + "a,1,5,6\nb,1,5," + "9" * 400,
            ValueError,
            r"column 'r1' must hold finite .* is (999.*999|inf) in a.csv, line 3",
        ),
        (HEADER + "\na,1,5," + "9" * 400, ValueError, "column 'r1' must hold finite .* is 999.*999 in a.csv, line 3"),
        (HEADER + "a,1,5,-" + "9" * 400, ValueError, "column 'r1' must hold finite .* is -999.*999 in a.csv, line 2"),
        (HEADER + "a,1,5,1\nb,1,5," + "9" * 5_000, TypeError, "column 'r1' must hold numbers, .* in a.csv, line 3"),
        (LONG + "m,a,1," + "9" * 400, ValueError, "column 'score' must hold finite .* in a.csv, line 2"),
        (HEADER + '"a\n",1,5,6\n"b\n",1,5,1e999\n', ValueError, "'r1' must hold finite .* is inf in a.csv, line 4"),
        (HEADER + "a,1,5,6\nb,1,5,x\n", TypeError, "column 'r1' must hold numbers, .* 'x' in a.csv, line 3"),
        (HEADER + "a,1,5,6\n\n,1,5,6\n", ValueError, "without system .*, the first is a.csv, line 4"),
    ],
)
@pytest.mark.ignore_codes("labels_trimmed")
def test_bad_cells_are_named_by_file_and_line(tmp_path, text, error, message):
    if OLD_PANDAS and error is ValueError and ("9" * 400 in text or "1e999" in text):
        pytest.skip("pandas 2 reads numbers beyond 64 bits as text")
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(error, match=message):
        read_scores(tmp_path / "a.csv")


@long_numbers
def test_whole_numbers_beyond_64_bits_are_numbers(tmp_path):
    (tmp_path / "a.csv").write_text(HEADER + f"a,1,5,{10**30}\nb,1,5,{-(10**25)}\nc,1,5,\n")
    np.testing.assert_array_equal(read_scores(tmp_path / "a.csv").score.sel(metric="r1")[:, 0], [1e30, -1e25, np.nan])


def test_the_line_of_each_row_and_columns_of_text(tmp_path):
    (tmp_path / "a.csv").write_text('\nsystem,input,r1\n"a\n",01,5\n\nNA,,6\n')
    frame, lines = tables.read(tmp_path / "a.csv", ["system", "input"])
    assert lines == [3, 6] and frame.system.tolist() == ["a\n", "NA"] and frame.input.tolist() == ["01", ""]
    assert frame.r1.tolist() == [5, 6] and frame.index.tolist() == [0, 1]
