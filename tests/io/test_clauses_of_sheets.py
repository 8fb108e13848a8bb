"""Clauses of the docstrings of `sample_inputs` and `add_gold`, the file that raters fill: one row each, by hand."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xsumstat
from xsumstat.core.caveats import MetaEvaluationWarning


def scores(values=((0.1, 0.2, 0.3), (0.4, 0.5, 0.6)), **coords):
    """Scores of systems A and B by a judge, of inputs 7, 8 and 9."""
    labels = {"metric": ["judge"], "system": ["A", "B"], "input": [7, 8, 9], **coords}
    return xr.Dataset({"score": (("metric", "system", "input"), [np.array(values, dtype=float)])}, labels)


def many(n=12):
    """Two systems on `n` inputs whose mean score is their number."""
    at = np.arange(float(n))
    labels = {"metric": ["judge"], "system": ["A", "B"], "input": [f"i{each:02}" for each in range(n)]}
    return xr.Dataset({"score": (("metric", "system", "input"), np.array([[at - 0.25, at + 0.25]]))}, labels)


def human(ds):
    return ds.score.sel(metric="human").transpose("system", "input").values


def quietly(function, *arguments, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetaEvaluationWarning)
        return function(*arguments, **keywords)


def filled(path, rows):
    """A file of raters in the format that its ending says."""
    frame = pd.DataFrame(rows)
    if path.suffix == ".xlsx":
        frame.to_excel(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in frame.to_dict("records")))
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


WHOLE = {"system": list("AAABBB"), "input": [7, 8, 9] * 2, "human": [1.0, 2, 3, 4, 5, 6]}


# --- sample_inputs: what is drawn ---


@pytest.mark.parametrize(
    "kind, gold, judges",
    [
        ({}, None, ["a", "b", "c"]),
        ({}, "a", ["b", "c"]),
        ({"kind": ("metric", ["automatic", "human", "automatic"])}, None, ["a", "c"]),
    ],
)
def test_judges_are_all_metrics_but_the_gold_and_human_ones(kind, gold, judges):
    ds = xr.concat([many() * each for each in (1, 2, 3)], "metric").assign_coords(metric=list("abc"), **kind)
    ds = ds.assign_attrs({} if gold is None else {"gold": gold})
    hole = ds.score.sel(metric=[each for each in "abc" if each not in judges])
    ds["score"] = ds.score.where(~ds.metric.isin(hole.metric))  # without scores where none is asked for
    assert int(ds.meta.sample_inputs(4, rng=0).drawn.sum()) == 4
    with pytest.raises(ValueError, match=f"no score at all for metric {judges[-1]!r}"):
        ds.assign(score=ds.score.where(ds.metric != judges[-1])).meta.sample_inputs(4, rng=0)


@pytest.mark.parametrize("n_strata, sizes", [(None, [3] * 4), (2, [6] * 2), (3, [4] * 3)])
def test_strata_by_score_are_bins_of_the_mean_score(n_strata, sizes):
    keywords = {} if n_strata is None else {"n_strata": n_strata}
    found = many().meta.sample_inputs(8, strata="score", rng=0, **keywords)
    names = [f"score {at + 1} of {len(sizes)}" for at, size in enumerate(sizes) for _ in range(size)]
    assert found.draw_stratum.values.tolist() == names


def test_a_coordinate_makes_strata_and_each_has_at_least_two():
    ds = many().assign_coords(topic=("input", ["x"] * 9 + ["y"] * 3))
    found = ds.meta.sample_inputs(4, strata="topic", rng=0)
    assert found.drawn.groupby("topic").sum().values.tolist() == [2, 2]
    assert found.inclusion_probability.groupby("topic").first().values.tolist() == [2 / 9, 2 / 3]


def test_in_proportion_each_stratum_has_the_same_share():
    ds = many().assign_coords(topic=("input", ["x"] * 8 + ["y"] * 4))
    found = ds.meta.sample_inputs(6, strata="topic", rng=0)
    assert found.drawn.groupby("topic").sum().values.tolist() == [4, 2]
    assert found.inclusion_probability.values.tolist() == [0.5] * 12


@pytest.mark.parametrize("keywords", [{"strata": "topic", "allocation": "unsure"}, {"strata": "unsure", "n_strata": 2}])
def test_more_are_drawn_where_the_judges_are_unsure(keywords):
    ds = many(20).assign_coords(topic=("input", ["x"] * 10 + ["y"] * 10), doubt=("input", [0.1] * 10 + [0.9] * 10))
    found = ds.meta.sample_inputs(10, unsure="doubt", rng=0, **keywords)
    first, last = found.drawn.values[:10].sum(), found.drawn.values[10:].sum()
    assert first + last == 10 and first < last


@pytest.mark.parametrize("several", [False, True])
def test_judges_are_unsure_across_metrics_or_by_close_systems(several):
    """Default: where two judges differ, or, of one, where the systems are close."""
    at = np.arange(12.0)
    one = np.array([-at, at])  # systems lie the farther apart the later the input
    other = one + np.where(at < 6, 5.0 * np.where(at % 2, 1, -1), 0)  # judges differ about the first six
    ds = xr.Dataset(
        {"score": (("metric", "system", "input"), np.array([one, other][: 1 + several]))},
        {"metric": ["j", "k"][: 1 + several], "system": ["A", "B"]},
    )
    found = ds.meta.sample_inputs(6, strata="unsure", n_strata=2, rng=0)
    assert found.draw_stratum.values.tolist() == ["unsure 2 of 2"] * 6 + ["unsure 1 of 2"] * 6


def test_all_of_the_scores_come_back_with_three_coordinates():
    ds = many()
    found = ds.meta.sample_inputs(3, rng=0)
    added = {"inclusion_probability", "drawn", "draw_stratum"}
    assert set(found.coords) - set(ds.coords) == added and found.drop_vars(added).drop_attrs().identical(ds)
    assert all(found[name].dims == ("input",) for name in added)
    assert found.inclusion_probability.values.tolist() == [0.25] * 12 and int(found.drawn.sum()) == 3


@pytest.mark.parametrize("n_means, n_spreads, n_each", [(2, 2, 1), (3, 1, 2), (1, 2, 3)])
def test_without_a_number_inputs_are_drawn_by_bins_and_come_alone(n_means, n_spreads, n_each):
    found = many(20).meta.sample_inputs(n_means=n_means, n_spreads=n_spreads, n_each=n_each, rng=0)
    assert found.sizes["input"] == n_means * n_spreads * n_each and set(found.chosen_for.values) == {"judge"}
    bins = pd.Series(list(zip(found.mean_bin.values, found.spread_bin.values, strict=True))).value_counts()
    assert len(bins) == n_means * n_spreads and set(bins) == {n_each}
    assert not {"inclusion_probability", "drawn", "draw_stratum"} & set(found.coords)


def test_without_a_number_there_are_five_bins_of_mean_and_four_of_spread():
    found = many(40).meta.sample_inputs(rng=0)
    assert found.sizes["input"] == 20 and len(set(found.mean_bin.values)) == 5
    assert len(set(found.spread_bin.values)) == 4


# --- sample_inputs: the file ---


def sheet_of(path):
    if path.suffix == ".xlsx":
        return pd.read_excel(path)
    if path.suffix == ".jsonl":
        return pd.DataFrame([json.loads(line) for line in path.read_text().splitlines()])
    return pd.read_csv(path, sep="\t" if path.suffix == ".tsv" else ",")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".xlsx", ".jsonl", ".CSV"])
@pytest.mark.parametrize(
    "column, names", [(None, ["human"]), ("mine", ["mine"]), (["ann_1", "ann_2"], ["ann_1", "ann_2"])]
)
def test_the_file_has_a_row_of_each_drawn_output_and_empty_columns(tmp_path, suffix, column, names):
    path = tmp_path / f"rate{suffix}"
    found = many().meta.sample_inputs(5, path=str(path), rng=3, **({} if column is None else {"column": column}))
    sheet = sheet_of(path)
    assert list(sheet.columns) == ["input", "system", *names] and sheet[names].isna().all(axis=None)
    drawn = found.input.values[found.drawn.values].tolist()
    assert sorted(zip(sheet.input, sheet.system, strict=True)) == [(i, s) for i in drawn for s in "AB"]
    assert sheet.input.tolist()[::2] == sheet.input.tolist()[1::2]  # systems of one input follow each other


@pytest.mark.parametrize("by", [["input"], ["input", "system"]])
def test_texts_are_joined_by_input_or_by_output(tmp_path, by):
    every = pd.DataFrame([(i, s) for i in many().input.values for s in "AB"], columns=["input", "system"])
    texts = every[by].drop_duplicates()
    texts = texts.assign(read="text of " + texts[by].agg(" ".join, axis=1))
    many().meta.sample_inputs(4, path=tmp_path / "rate.csv", texts=texts, rng=0)
    sheet = pd.read_csv(tmp_path / "rate.csv")
    assert list(sheet.columns) == ["input", "system", "read", "human"]
    assert (sheet["read"] == "text of " + sheet[by].agg(" ".join, axis=1)).all()


def test_outputs_without_a_score_are_not_in_the_file(tmp_path):
    ds = many()
    ds.score[0, 1, :6] = np.nan
    ds.meta.sample_inputs(12, path=tmp_path / "rate.csv", rng=0)
    sheet = pd.read_csv(tmp_path / "rate.csv")
    assert sorted(sheet[sheet.system == "B"].input) == [f"i{at:02}" for at in range(6, 12)] and len(sheet) == 18


def test_one_seed_gives_the_same_inputs_and_the_same_order(tmp_path):
    def asked(name, seed):
        many().meta.sample_inputs(6, path=tmp_path / name, rng=seed)
        return (tmp_path / name).read_text()

    assert asked("a.csv", 1) == asked("b.csv", 1) != asked("c.csv", 2)


def test_a_file_that_exists_is_left_as_it_is(tmp_path):
    (tmp_path / "rate.csv").write_text("mine")
    with pytest.raises(FileExistsError, match="rate.csv exists and may hold ratings"):
        many().meta.sample_inputs(4, path=tmp_path / "rate.csv")
    assert (tmp_path / "rate.csv").read_text() == "mine"


# --- add_gold: what is joined ---


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".xlsx", ".jsonl", ".parquet"])
@pytest.mark.parametrize("as_text", [False, True])
def test_a_filled_file_of_each_format_is_joined_by_labels_as_text(tmp_path, suffix, as_text):
    path = filled(tmp_path / f"rate{suffix}", WHOLE | {"input": [str(at) if as_text else at for at in WHOLE["input"]]})
    found = xsumstat.add_gold(scores(), path)
    assert human(found).tolist() == [[1, 2, 3], [4, 5, 6]] and found.attrs["gold"] == "human"
    assert found.kind.sel(metric="human").item() == "human" and "rating" not in found
    assert found.score.sel(metric="judge").values.tolist() == [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]


@pytest.mark.parametrize(
    "rows, raters",
    [
        ({"rater": ["x", "y", "x"], "score": [1.0, 3, 5]}, ["x", "y"]),
        ({"annotator": ["x", "y", "x"], "human": [1.0, 3, 5]}, ["x", "y"]),
    ],
)
def test_a_frame_with_a_row_of_each_rating_is_averaged(rows, raters):
    frame = pd.DataFrame({"system": ["A", "A", "B"], "input": [7, 7, 7], **rows})
    found = quietly(xsumstat.add_gold, scores(), frame)
    np.testing.assert_array_equal(human(found), [[2, np.nan, np.nan], [5, np.nan, np.nan]])
    assert found.rating.rater.values.tolist() == raters and set(found.rating.dims) == {"system", "input", "rater"}
    np.testing.assert_array_equal(found.rating.sel(input=7).transpose("system", "rater"), [[1, 3], [5, np.nan]])


def test_a_frame_with_a_column_of_each_rater_is_averaged():
    frame = pd.DataFrame({"system": ["A", "B"], "input": [7, 7], "annotator_1": [1.0, 2], "annotator_2": [3.0, 6]})
    found = quietly(xsumstat.add_gold, scores(), frame)
    assert found.score.sel(metric="human", input=7).values.tolist() == [2, 4]
    assert found.rating.rater.values.tolist() == ["annotator_1", "annotator_2"]


@pytest.mark.parametrize("n_raters", [0, 1, 2])
def test_an_array_is_joined_with_or_without_raters(n_raters):
    values = xr.DataArray(
        np.arange(6.0).reshape(2, 3), {"system": ["A", "B"], "input": ["7", "8", "9"]}, ("system", "input")
    )
    if n_raters:
        values = xr.concat([values - 1, values + 1][:n_raters], "rater").assign_coords(rater=["x", "y"][:n_raters])
    found = xsumstat.add_gold(scores(), values.transpose(..., "system"))
    expected = np.arange(6.0).reshape(2, 3) - (n_raters == 1)
    assert human(found).tolist() == expected.tolist() and ("rating" in found) == (n_raters == 2)


def test_the_metric_of_human_scores_has_the_name_that_is_given(tmp_path):
    path = filled(tmp_path / "rate.csv", WHOLE | {"people": WHOLE["human"]})
    found = xsumstat.add_gold(scores(), path, name="people")
    assert found.metric.values.tolist() == ["judge", "people"] and found.attrs["gold"] == "people"


@pytest.mark.parametrize("own", [False, True])
def test_texts_are_numbers_lowest_first_by_labels_or_those_of_the_scores(tmp_path, own):
    path = filled(tmp_path / "rate.csv", WHOLE | {"human": ["bad", "fair", "good"] * 2})
    scale = ["bad", "fair", "good"]
    ds = scores().assign_attrs({"labels": "\n".join(scale)} if own else {})
    found = xsumstat.add_gold(ds, path, **({} if own else {"labels": scale}))
    assert human(found).tolist() == [[0, 1, 2]] * 2 and found.attrs["labels"] == "bad\nfair\ngood"


def test_the_scores_that_are_given_are_not_changed(tmp_path):
    ds, before = scores(), scores()
    xsumstat.add_gold(ds, filled(tmp_path / "rate.csv", WHOLE))
    assert ds.identical(before)


def test_human_scores_of_other_outputs_are_left_out_of_frames():
    frame = pd.DataFrame(
        {key: [*value, *more] for (key, value), more in zip(WHOLE.items(), (["C"], [7], [9]), strict=True)}
    )
    with pytest.warns(MetaEvaluationWarning, match="1 human score without an output, e.g. C/7"):
        found = xsumstat.add_gold(scores(), frame)
    assert human(found).tolist() == [[1, 2, 3], [4, 5, 6]]


# --- add_gold: warnings and errors ---


@pytest.mark.parametrize("cell", [None, "", "  "])
def test_an_empty_cell_is_no_rating_and_is_counted(tmp_path, cell):
    path = filled(tmp_path / "rate.csv", WHOLE | {"human": [1.0, 2, 3, 4, 5, cell]})
    with pytest.warns(
        MetaEvaluationWarning, match="5 of 6 outputs of the scores have a human score; 1 have none, as B/9"
    ):
        found = xsumstat.add_gold(scores(), path)
    np.testing.assert_array_equal(human(found), [[1, 2, 3], [4, 5, np.nan]])


def test_rows_of_a_frame_that_are_averaged_are_counted():
    frame = pd.DataFrame({"system": list("AAABBBA"), "input": [7, 8, 9, 7, 8, 9, 7], "score": [1.0, 2, 3, 4, 5, 6, 3]})
    with pytest.warns(MetaEvaluationWarning, match="averaged 1 repeated row, as no column names the rater"):
        found = xsumstat.add_gold(scores(), frame)
    assert human(found).tolist() == [[2, 2, 3], [4, 5, 6]]


def test_labels_that_look_alike_are_named():
    ds = scores(system=["\u00e9", "B"])
    frame = pd.DataFrame(WHOLE | {"system": ["e\u0301"] * 3 + ["B"] * 3}).rename(columns={"human": "score"})
    with pytest.warns(MetaEvaluationWarning) as said:
        xsumstat.add_gold(ds, frame)
    assert any("system: some labels look the same" in str(each.message) for each in said)


def test_after_a_draw_outputs_that_were_not_rated_and_others_that_were_are_counted(tmp_path):
    ds = many().meta.sample_inputs(6, path=tmp_path / "rate.csv", rng=0)
    sheet = pd.read_csv(tmp_path / "rate.csv").assign(human=np.arange(12.0))
    other = ds.input.values[~ds.drawn.values].tolist()[0]
    rows = pd.concat([sheet.iloc[1:], pd.DataFrame({"input": [other], "system": ["A"], "human": [1.0]})])
    rows.to_csv(tmp_path / "back.csv", index=False)
    with pytest.warns(MetaEvaluationWarning) as said:
        xsumstat.add_gold(ds, tmp_path / "back.csv")
    texts = [str(each.message) for each in said]
    assert any(text.startswith("1 of 12 drawn outputs have no human score, e.g. ") for text in texts)
    assert any(text.startswith(f"1 input with human scores, but not drawn: {other!r}") for text in texts)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"input": [7, 8, 9, 7, 8, 99]}, r"rate.csv: 1 input label without scores, e.g. '99' \(row 6\)"),
        ({"system": list("AAABBX")}, r"rate.csv: 1 system label without scores, e.g. 'X' \(row 6\)"),
        ({"input": [7, 8, 9, 7, 8, 8]}, r"rate.csv: 1 repeated output, e.g. B/8 \(row 6\)"),
        ({"human": [1, 2, 3, 4, 5, "six"]}, "rate.csv: column 'human' has 'six' in row 6, which is not a number"),
        ({"human": [1, 2, 3, 4, 5, "4,5"]}, "column 'human' has '4,5' in row 6, .*decimals need a point"),
        ({"human": [None] * 6}, "rate.csv has no rating: 'human' is empty in all rows"),
    ],
)
def test_a_filled_file_that_is_wrong_is_refused_with_its_row(tmp_path, change, message):
    path = filled(tmp_path / "rate.csv", WHOLE | change)
    with pytest.raises(ValueError, match=message):
        xsumstat.add_gold(scores(), path)


@pytest.mark.parametrize(
    "rows, message",
    [
        ({key: WHOLE[key] for key in ("system", "human")}, "rate.csv has no column that names the input"),
        ({key: WHOLE[key] for key in ("input", "human")}, "rate.csv has no column that names the system"),
    ],
)
def test_a_filled_file_without_a_column_of_labels_is_refused(tmp_path, rows, message):
    with pytest.raises(ValueError, match=message):
        xsumstat.add_gold(scores(), filled(tmp_path / "rate.csv", rows))


@pytest.mark.parametrize(
    "given, keywords, message",
    [
        (
            pd.DataFrame(WHOLE | {"input": [1, 2, 3] * 2}),
            {},
            "no human score matches an output: the scores have system",
        ),
        (pd.DataFrame(WHOLE), {"name": "judge"}, "there is a metric 'judge' in the scores already"),
        (xr.DataArray([1.0], dims="other"), {}, r"human must be a DataArray with the dims system and input.*'other'"),
        ([1, 2], {}, "human must be a DataArray .* or a frame, got list"),
    ],
)
def test_human_scores_that_do_not_fit_are_refused(given, keywords, message):
    with pytest.raises((ValueError, TypeError), match=message):
        quietly(xsumstat.add_gold, scores(), given, **keywords)


@pytest.mark.parametrize(
    "name, content, kind, message",
    [
        ("none.csv", None, FileNotFoundError, "none.csv"),
        ("rate.pdf", b"", ValueError, "human must be a table .*got rate.pdf"),
        ("rate.xlsx", b"no workbook", ValueError, "cannot read rate.xlsx as .xlsx"),
        ("rate.csv", b"system,input,human\nA\xff,7,1\n", ValueError, "rate.csv"),
    ],
)
def test_a_file_that_is_missing_or_no_table_is_named(tmp_path, name, content, kind, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(kind, match=message):
        xsumstat.add_gold(scores(), tmp_path / name)
