"""Columns of texts where scores could be: what is said of them, in Python and on the command line."""

import warnings

import numpy as np
import pandas as pd
import pytest
from conftest import warns

import xsumstat
from xsumstat.cli import main as cli
from xsumstat.io import words

GRADES = ["bad", "poor", "ok", "good", "great"]


@pytest.fixture
def frame():
    """Two raters, a judge of numbers, a judge of words, and a metric with decimal commas."""
    rng = np.random.default_rng(4)
    rows = pd.MultiIndex.from_product([list("abc"), [f"p{at}" for at in range(20)]], names=["system", "prompt_id"])
    quality = rng.normal(size=len(rows))
    graded = {
        name: np.clip(np.round(3 + quality + 0.5 * rng.normal(size=len(rows))), 1, 5)
        for name in ("annotator_1", "annotator_2", "judge_a", "judge_b")
    }
    graded["judge_a"] = [GRADES[int(each) - 1] for each in graded["judge_a"]]
    graded["rouge"] = [f"{each:.3f}".replace(".", ",") for each in 0.4 + quality / 10]
    return pd.DataFrame(graded, index=rows).reset_index()


HOW = {"input": "prompt_id", "wide": True, "ratings": ["annotator_1", "annotator_2"]}


def test_a_column_of_texts_is_left_out_with_what_it_holds_and_the_remedy(frame):
    with pytest.warns(xsumstat.LeftOutWarning, match="left out columns 'judge_a', 'rouge'") as caught:
        frame.meta.to_scores(**HOW)
    (text,) = [str(each.message) for each in caught]
    assert "'judge_a' holds text (" in text and all(repr(grade) in text for grade in frame.judge_a.unique())
    assert "pass labels=[...], the lowest first" in text
    assert f"decimal commas ({frame['rouge'][0]!r})" in text and "pandas.read_csv(..., decimal=',')" in text
    numbers = frame.assign(rouge=[float(each.replace(",", ".")) for each in frame["rouge"]])
    with pytest.warns(xsumstat.CautionWarning, match="became 1 to 5, as .*'judge_b' have grades from 1 to 5"):
        ds = numbers.meta.to_scores(**HOW, labels=GRADES)
    expected = frame.judge_a.map(GRADES.index).to_numpy(dtype=float).reshape(3, 20) + 1
    np.testing.assert_array_equal(ds.score.sel(metric="judge_a"), expected)


def test_the_frame_and_the_command_line_name_such_columns(frame, tmp_path, capsys):
    said = str(frame.meta)
    assert "judge_a, which holds text (" in said and "rouge, which holds numbers with decimal commas (" in said
    assert "labels, the lowest first" in said
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert cli.main([str(tmp_path / "a.csv")]) == 0
    err = capsys.readouterr().err
    assert "judge_a, which holds text (" not in err and "'judge_a' holds text (" in err
    assert "add --labels ..., the lowest first" in err and "labels=" not in err
    assert cli.main([str(tmp_path / "a.csv"), "--labels", *GRADES]) == 0
    assert "judges: judge_a, judge_b" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("values", "comma", "grades"),
    [
        (["0,31", "1", None, "-,5"], "0,31", []),
        (["0,31", "n/a"], None, []),
        (["1", "2"], None, []),
        (["good"] * 5, None, []),
        ([" pass", "fail "], None, ["pass", "fail"]),
        (list("abcdefgh"), None, []),
        ([1, "good"], None, []),
        ([None, None], None, []),
    ],
)
def test_what_texts_may_be(values, comma, grades):
    column = pd.Series(values, dtype=object)
    assert words.comma(column) == comma
    assert words.grades(column) == grades


def test_other_raters_are_not_metrics_without_a_word(frame):
    plain = frame.drop(columns=["judge_a", "rouge"])
    with pytest.warns(xsumstat.CautionWarning, match="column 'annotator_2' read as a metric.*pass ratings="):
        ds = plain.meta.to_scores(input="prompt_id", wide=True, ratings="annotator_1")
    assert list(ds.metric.values) == ["annotator_2", "judge_b", "human"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain.meta.to_scores(input="prompt_id", wide=True, ratings="annotator_1", metric="judge_b")


def test_a_frame_with_a_column_for_each_metric_needs_wide(frame):
    with pytest.raises(ValueError, match="has no column 'metric'; if each metric has its own column, pass wide=True"):
        frame.meta.to_scores(input="prompt_id")
    with pytest.raises(ValueError, match="columns: 'a'$"):
        pd.DataFrame({"a": [1, 2]}).meta.to_scores()


def test_the_mean_of_the_raters_may_be_named(frame, tmp_path, capsys):
    frame.drop(columns=["judge_a", "rouge"]).to_csv(tmp_path / "a.csv", index=False)
    pages = []
    for more in ([], ["--gold", "human"]):
        assert cli.main([str(tmp_path / "a.csv"), *more, "--require", "kendall >= .1"]) == 0
        pages.append(capsys.readouterr().out)
    assert pages[0] == pages[1]


def test_names_of_persons_get_a_whole_command(frame, tmp_path, capsys, monkeypatch):
    names = {"annotator_1": "Anna", "annotator_2": "Ben K", "judge_b": "gpt"}
    monkeypatch.chdir(tmp_path)
    frame.drop(columns=["judge_a", "rouge"]).rename(columns=names).to_csv("a.csv", index=False)
    assert cli.main(["a.csv", "--judge"]) == 2
    err = capsys.readouterr().err
    assert "no human scores found; name them: --gold COLUMN, --raters COLUMN COLUMN ..." in err
    assert "For human scores in 'Anna', 'Ben K' and judges or metrics in 'gpt': " in err
    assert err.rstrip().endswith("a.csv --raters Anna 'Ben K' --metric gpt --judge")
    assert cli.main(["a.csv", "--raters", "Anna", "Ben K", "--metric", "gpt", "--judge"]) == 0


def test_a_column_of_true_and_false_is_told_with_the_way_to_read_it():
    rows = pd.MultiIndex.from_product([list("abc"), range(5)], names=["system", "input"]).to_frame(index=False)
    frame = rows.assign(human=np.arange(15.0), judge=np.arange(15) % 2 == 0)
    with warns("columns_left_out", "'judge' holds True and False; .* labels=\\['False', 'True'\\] reads them"):
        frame.meta.to_scores(wide=True, gold="human")
    ds = frame.meta.to_scores(wide=True, gold="human", labels=["False", "True"])
    assert ds.score.sel(metric="judge").values.ravel().tolist() == frame.judge.astype(float).tolist()


def test_a_judge_of_truths_alone_is_named_with_the_way_to_read_it(capsys, tmp_path):
    """Beside raters of truths, which are read as 1 and 0."""
    frame = pd.DataFrame({"model": np.repeat(["a", "b"], 30), "prompt": [*range(30)] * 2})
    passed = np.random.default_rng(0).random((60, 3)) < [[0.4, 0.4, 0.5]]
    frame = frame.assign(**dict(zip(["ann_1", "ann_2", "gpt_judge"], passed.T, strict=True)))
    frame.to_csv(tmp_path / "a.csv", index=False)
    held = "left out: gpt_judge, which holds True and False: "
    assert f"{held}labels=['False', 'True'] reads them as verdicts" in str(frame.meta)
    assert cli.main([str(tmp_path / "a.csv"), "--judge"]) == 2
    assert f"{held}--labels False True reads them as verdicts" in capsys.readouterr().err
    assert cli.main([str(tmp_path / "a.csv"), "--judge", "--labels", "False", "True"]) == 0
    assert "judge: gpt_judge" in capsys.readouterr().err


def test_automatic_metrics_are_not_proposed_as_raters(capsys, tmp_path):
    frame = pd.DataFrame({"model": ["a", "b"] * 20, "prompt": np.repeat(range(20), 2)})
    values = dict(zip(["Kim", "Lee", "COMET", "gpt"], np.random.default_rng(0).normal(size=(4, 40)), strict=True))
    frame.assign(**values).to_csv(tmp_path / "a.csv", index=False)
    assert cli.main([str(tmp_path / "a.csv"), "--judge"]) == 2
    assert "--raters Kim Lee --metric gpt COMET --judge" in capsys.readouterr().err


def test_commas_may_separate_thousands(capsys, tmp_path):
    """Read with decimal=',' 1,024 would be 1.024 beside 596."""
    frame = pd.DataFrame({"model": ["a", "b"] * 3, "prompt": [1, 1, 2, 2, 3, 3], "human": [1.0, 2, 3, 4, 5, 6]})
    frame["latency_ms"] = ["596", "1,024", "2,000", "12", "7", "8"]
    assert "latency_ms, which holds numbers with commas (1,024): read them as numbers" in str(frame.meta)
    asked = {"system": "model", "input": "prompt", "wide": True, "metric": ["human", "latency_ms"]}
    told = r"thousands=','\) if this is 1024; read the file with pandas.read_csv\(..., decimal=','\) if it is 1.024"
    with pytest.raises(TypeError, match=told):
        frame.meta.to_scores(**asked)
    frame.loc[1, "latency_ms"] = "1,024,000"
    with pytest.raises(TypeError, match=r"thousands=','\) if this is 1024000$"):
        frame.meta.to_scores(**asked)
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert cli.main([str(tmp_path / "a.csv"), "--gold", "latency_ms"]) == 2
    assert "commas out" in capsys.readouterr().err
    frame.loc[1, "latency_ms"] = "0,596"
    with pytest.raises(
        TypeError, match=r"decimal commas \('0,596'\): read the file with pandas.read_csv\(..., decimal"
    ):
        frame.meta.to_scores(**asked)


def test_a_turn_is_no_rating(capsys, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": range(60), "bot_version": ["v1", "v2", "v3"] * 20, "turn": rng.integers(1, 6, 60)})
    grades = dict(zip(["agent_ann", "agent_bo", "judge_score"], rng.integers(1, 6, (3, 60)).astype(float), strict=True))
    frame.assign(**grades).to_csv(tmp_path / "a.csv", index=False)
    assert cli.main([str(tmp_path / "a.csv"), "--judge"]) == 2
    err = capsys.readouterr().err
    assert "--raters agent_ann agent_bo --metric judge_score" in err


def test_systems_of_choices_in_another_case_are_named():
    frame = pd.DataFrame({"left": ["V1", "v1"] * 5, "right": ["v2"] * 10, "choice": ["left", "right"] * 5})
    with pytest.warns(xsumstat.CautionWarning, match="V1.*v1"):
        frame.assign(prompt=range(10)).meta.to_preferences(prompt="prompt")
