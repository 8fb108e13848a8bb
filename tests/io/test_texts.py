"""Scores that are texts: coded by `labels=`, by the command line, and by readers of verdicts."""

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import warns

import xsumstat
from xsumstat.cli.main import main

LABELS = ["fail", "pass"]


def frame():
    """Verdicts of people and a judge on five outputs of two systems, beside other texts."""
    return pd.DataFrame(
        {
            "system": list("aaaaabbbbb"),
            "input": [1, 2, 3, 4, 5] * 2,
            "human": ["pass", "fail", "pass", " pass", "fail", "pass", "pass", None, "fail", "fail"],
            "judge": ["pass", "pass", "pass", "pass", "fail", "pass", "fail", "pass", "fail", "fail"],
            "length": range(10),
            "topic": ["x", "y", "x", "y", "x"] * 2,
        }
    )


def wide(**keywords):
    return frame().meta.to_scores(wide=True, labels=LABELS, gold="human", **keywords)


def test_texts_become_codes_in_the_order_given():
    ds = wide()
    assert ds.metric.values.tolist() == ["human", "judge", "length"] and ds.attrs["labels"].split("\n") == LABELS
    want = [[1, 0, 1, 1, 0], [1, 1, np.nan, 0, 0]]
    np.testing.assert_array_equal(ds.score.sel(metric="human"), want)
    with pytest.warns(xsumstat.CautionWarning, match=r"'pass' the lowest.*labels=\['fail', 'pass'\] if this is wrong"):
        turned = frame().meta.to_scores(wide=True, labels=LABELS[::-1])
    np.testing.assert_array_equal(turned.score.sel(metric="human"), 1 - np.array(want))
    assert ds.topic.dims == ("input",)


def test_tidy_values_and_ratings_are_coded_too():
    long = frame().melt(["system", "input"], ["human", "judge"], "metric", "score")
    ds = long.meta.to_scores(labels=LABELS)
    np.testing.assert_array_equal(ds.score, wide(metric=["human", "judge"]).score)
    rated = frame().meta.to_scores(wide=True, ratings=["human", "judge"], labels=LABELS, metric=["length"])
    np.testing.assert_array_equal(rated.rating.isel(rater=0), wide().score.sel(metric="human"))


def test_truth_values_are_labels():
    table = frame().assign(human=frame().human == "pass", judge=frame().judge == "pass")
    ds = table.meta.to_scores(wide=True, labels=["False", "True"])
    np.testing.assert_array_equal(ds.score.sel(metric="judge"), wide().score.sel(metric="judge"))


@pytest.mark.parametrize(
    "labels, error, text",
    [
        (
            ["fail", "passed"],
            ValueError,
            "has the text 'pass', which is none of labels; did you mean 'passed'",
        ),
        (["fail"], ValueError, "labels must be two texts or more"),
        (["fail", "fail"], ValueError, "labels"),
        ("pass", TypeError, "labels must be a list of texts"),
        ([1, 2], TypeError, "labels must be texts of one line, got 1"),
    ],
)
def test_wrong_labels_are_refused(labels, error, text):
    with pytest.raises(error, match=text):
        frame().meta.to_scores(wide=True, metric=["human", "judge"], labels=labels)


def test_human_labels_of_their_own_file_are_coded_by_those_of_the_scores():
    scores = wide(metric=["human", "judge"]).sel(metric=["judge"])
    del scores.attrs["gold"]
    people = frame()[["system", "input", "human"]].rename(columns={"human": "score"}).dropna()
    with pytest.warns(UserWarning, match="9 of 10 outputs"):
        ds = xsumstat.add_gold(scores, people)
    assert ds.attrs["labels"].split("\n") == LABELS
    np.testing.assert_array_equal(ds.score.sel(metric="human"), wide().score.sel(metric="human"))
    with pytest.raises(ValueError, match="are not those that the scores have"):
        xsumstat.add_gold(scores, people, labels=["pass", "fail"])
    array = people.set_index(["system", "input"]).score.to_xarray()
    with pytest.warns(UserWarning, match="9 of 10 outputs"):
        same = xsumstat.add_gold(scores, array, labels=LABELS)
    xr.testing.assert_equal(same.score, ds.score)


@pytest.mark.ignore_codes("rare_class")
def test_labels_survive_a_file_and_name_the_positive_class(tmp_path):
    pytest.importorskip("netCDF4")
    wide().to_netcdf(tmp_path / "scores.nc")
    ds = xr.load_dataset(tmp_path / "scores.nc")
    asked = {"metric": "judge", "level": "global", "coefficient": "f1", "positive": "fail"}
    found = ds.meta.corr(**asked)
    assert found.attrs["positive"] == "fail"
    assert float(found.correlation[0]) == pytest.approx(2 * 3 / (2 * 3 + 1 + 1))


@pytest.mark.filterwarnings("ignore")
def test_the_command_line_reads_them(tmp_path, capsys):
    frame().to_csv(tmp_path / "outputs.csv", index=False)
    call = [str(tmp_path / "outputs.csv"), "--gold", "human", "--metric", "judge", "--labels", *LABELS]
    assert main([*call, "--coefficient", "sensitivity", "--positive", "fail", "--level", "global"]) == 0
    assert "sensitivity" in capsys.readouterr().out
    assert main([*call, "--coefficient", "kappa"]) == 0
    assert main([*call, "--coefficient", "f1", "--positive", "flunk"]) == 2
    assert "flunk" in capsys.readouterr().err


def test_verdicts_of_tools_are_a_metric_with_labels(tmp_path):
    results = [
        {"testIdx": at, "provider": {"id": name}, "score": float(ok), "success": ok}
        for name, oks in {"small": [True, False], "large": [True, True]}.items()
        for at, ok in enumerate(oks)
    ]
    (tmp_path / "results.json").write_text(json.dumps({"results": {"results": results}}))
    ds = xsumstat.read_promptfoo(tmp_path)
    assert ds.attrs["labels"].split("\n") == LABELS
    np.testing.assert_array_equal(ds.score.sel(metric="pass", system="small"), [1.0, 0.0])


@pytest.mark.parametrize("found", [["Pass", "Fail"], ["Fail", "Pass"]])
def test_the_advice_on_texts_has_the_usual_order(found):
    rows = pd.DataFrame({"system": ["a", "a"], "input": [1, 2], "human": found, "judge": [1.0, 0.0]})
    with pytest.raises(TypeError, match=r"as labels=\['Fail', 'Pass'\]"):
        rows.meta.to_scores(wide=True, ratings=["human"])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("labels", [["yes", "no"], ["poor", "fine"], ["fail", "pass"]])
def test_an_order_that_can_be_meant_gives_no_warning(labels):
    rows = pd.DataFrame({"system": ["a", "a"], "input": [1, 2], "human": labels, "judge": [1.0, 0.0]})
    rows.meta.to_scores(wide=True, labels=labels)


def tidy():
    """One row per score: people and one judge give verdicts, another judge numbers from 0 to 100."""
    rows = frame().drop(columns=["length", "topic"]).assign(points=[str(10 * at) for at in range(10)])
    return rows.melt(["system", "input"], var_name="metric", value_name="score").dropna()


def test_a_tidy_frame_holds_verdicts_of_some_and_numbers_of_others(tmp_path):
    ds = tidy().meta.to_scores(labels=LABELS, gold="human")
    want = wide()
    np.testing.assert_array_equal(ds.score.sel(metric=["human", "judge"]), want.score.sel(metric=["human", "judge"]))
    np.testing.assert_array_equal(ds.score.sel(metric="points").values.ravel(), 10.0 * np.arange(10))
    tidy().to_csv(tmp_path / "tidy.csv", index=False)
    read = xsumstat.io.frames.read_scores(tmp_path / "tidy.csv", labels=LABELS)
    np.testing.assert_array_equal(read.score.sel(metric=ds.metric.values), ds.score)


def test_one_metric_has_verdicts_or_numbers():
    rows = tidy()
    rows.loc[rows["metric"] == "judge", "score"] = ["pass", "1"] * 5
    with pytest.raises(ValueError, match="none of labels"):
        rows.meta.to_scores(labels=LABELS, gold="human")


def test_a_rater_who_is_a_value_of_a_column_needs_the_column_of_metrics(tmp_path, capsys):
    rows = tidy().rename(columns={"metric": "who"})
    with pytest.raises(ValueError, match=r"'human' is a value of 'who': if each row is one score, pass metric='who'"):
        rows.meta.to_scores(wide=True, ratings=["human"], labels=LABELS)
    rows.to_csv(tmp_path / "tidy.csv", index=False)
    assert main([str(tmp_path / "tidy.csv"), "--raters", "human", "--metric", "judge"]) == 2
    assert "--metric-column" in capsys.readouterr().err


WORDS = ["terrible", "bad", "ok", "good", "great"]


def beside_numbers(words, **numbers):
    frame = pd.DataFrame({"system": ["a", "b"] * 5, "input": np.repeat(range(5), 2), "words": words * 2})
    return frame.assign(**numbers)


@pytest.mark.parametrize("tidy", [False, True])
def test_words_beside_as_many_grades_from_1_are_these_grades(tidy):
    frame = beside_numbers(WORDS, gpt=[1, 5, 2, 4, 3] * 2)
    how = {"wide": True}
    if tidy:
        frame, how = frame.melt(["system", "input"], var_name="metric", value_name="score"), {}
    with warns("labels_beside_numbers", "became 1 to 5, as 'gpt' has grades from 1 to 5"):
        ds = frame.meta.to_scores(labels=WORDS, **how)
    assert "labels" not in ds.attrs
    expected = {word: at for at, word in enumerate(WORDS, 1)}
    read = ds.score.sel(metric="words").to_series()
    assert all(read[row.system, row.input] == expected[row.words] for row in beside_numbers(WORDS).itertuples())


@pytest.mark.parametrize(
    "numbers", [[0, 4, 1, 2, 3], [10, 50, 20, 30, 40], [0, 1, 1, 0, 1], [1.5, 2, 3, 4, 5], [3, 3, 3, 3, 3]]
)
@pytest.mark.ignore_codes("perhaps_no_metric")
def test_words_beside_other_numbers_begin_with_0(numbers):
    ds = beside_numbers(WORDS, gpt=numbers * 2).meta.to_scores(wide=True, labels=WORDS)
    assert np.unique(ds.score.sel(metric="words")).tolist() == [0, 1, 2, 3, 4] and ds.attrs["labels"]


def test_grades_from_0_and_from_1_beside_words_are_reported():
    frame = beside_numbers(WORDS, gpt=[1, 5, 2, 4, 3] * 2, llama=[0, 4, 1, 2, 3] * 2)
    with warns("labels_beside_numbers", "became 0 to 4, as the grades of 'llama', but 'gpt' has grades from 1 to 5"):
        frame.meta.to_scores(wide=True, labels=WORDS)


def test_human_scores_in_words_are_the_grades_of_the_judges():
    ds = beside_numbers(WORDS, gpt=[1, 5, 2, 4, 3] * 2).drop(columns="words").meta.to_scores(wide=True)
    human = beside_numbers(WORDS).rename(columns={"words": "human"})
    with warns("labels_beside_numbers", "became 1 to 5"):
        found = xsumstat.add_gold(ds, human, labels=WORDS)
    assert found.score.sel(metric="human", system="a", input=0) == 1 and "labels" not in found.attrs
