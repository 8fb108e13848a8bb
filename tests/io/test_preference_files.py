"""Preferences as evaluation tools write them."""

import json

import numpy as np
import pytest

import xsumstat
from xsumstat.core.caveats import LeftOutWarning
from xsumstat.io.frames import read_scores


def written(path, lines):
    as_lines = path.suffix == ".jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) if as_lines else json.dumps(lines), encoding="utf-8")
    return path


def human(question, winner, judge="expert_1", turn=1, **more):
    return {"question_id": question, "model_a": "small", "model_b": "large", "winner": winner, "judge": judge,
            "turn": turn, **more}  # fmt: skip


def pair(question, first, second, turn=1):
    return {"question_id": question, "model_1": "small", "model_2": "large", "g1_winner": first, "g2_winner": second,
            "judge": ["gpt-4", "pair-v2"], "turn": turn}  # fmt: skip


def talk(*answers):
    return [each for answer in answers for each in ({"role": "user", "content": "?"},
                                                    {"role": "assistant", "content": answer})]  # fmt: skip


def test_people_and_a_judge_of_mt_bench(tmp_path):
    people = [human(81, "model_a"), human(81, "tie (bothbad)", "author_2"), human(82, "model_b")]
    written(tmp_path / "human.jsonl", people)
    written(tmp_path / "gpt-4_pair.jsonl", [pair(81, "model_1", "model_2"), pair(82, "tie", "model_2")])
    ds = xsumstat.read_preferences(tmp_path)
    assert dict(zip(ds["rater"].values, ds["kind"].values, strict=True)) == {
        "gpt-4, pair-v2": "judge", "expert_1": "human", "author_2": "human",
    }  # fmt: skip
    one = ds["preference"].isel(pair=0)  # large | small
    assert ds["pair"].values.tolist() == ["large | small"]
    # model_1, small, was shown first in the first game: "right first" of the sorted pair.
    judge = one.sel(rater="gpt-4, pair-v2").to_pandas()
    np.testing.assert_array_equal(judge.loc[["81", "82"], ["right first", "left first"]], [[-1, 1], [0, 1]])
    np.testing.assert_array_equal(one.sel(rater="expert_1", order="right first").sel(prompt=["81", "82"]), [-1, 1])
    assert float(one.sel(rater="author_2", order="right first", prompt="81")) == 0
    assert "length" not in ds and ds.attrs == {}


def test_turns_of_a_question_belong_together(tmp_path):
    lines = [human(81, "model_a", turn=turn, conversation_a=talk("four", "sixsix"), conversation_b=talk("a", "bb"))
             for turn in (1, 2)]  # fmt: skip
    ds = xsumstat.read_preferences(written(tmp_path / "a.jsonl", lines))
    assert ds["prompt"].values.tolist() == ["81, 1", "81, 2"] and ds.attrs == {"cluster": "question"}
    np.testing.assert_array_equal(ds["length"].sel(system=["small", "large"]), [[4, 1], [6, 2]])


def test_users_of_the_arena_are_one_rater(tmp_path):
    lines = [human(f"q{at}", "model_a", f"arena_user_{at}", turn=at + 1) for at in range(3)]
    ds = xsumstat.read_preferences(written(tmp_path / "arena.jsonl", lines))
    assert ds["rater"].values.tolist() == ["arena users"] and ds["kind"].values.tolist() == ["human"]
    assert ds.sizes["prompt"] == 3


def test_alpaca_eval(tmp_path):
    def line(preference, instruction="say", **more):
        return {"instruction": instruction, "output_1": "aaaa", "generator_1": "ref", "output_2": "b",
                "generator_2": "new", "annotator": "gpt4", "preference": preference, **more}  # fmt: skip

    lines = [line(each, f"say {at}") for at, each in enumerate([1.0, 2, 1.5, 1.0001, 1.98, 0, None])]
    with pytest.warns(LeftOutWarning, match="1 of 7 rows have no choice"):
        ds = xsumstat.read_preferences(written(tmp_path / "annotations.json", lines))
    found = ds["preference"].sel(order="right first").values.ravel()  # the pair is new | ref, and ref was first
    np.testing.assert_array_equal(found, [-1, 1, 0, -1, 1, 0, np.nan])
    assert ds["instruction"].values[1] == "say 1" and ds["length"].sel(system="ref").values.tolist() == [4] * 7
    for wrong, said in ((3.0, "from 1 to 2, got 3.0"), ("1", "must be a number from 1 to 2")):
        with pytest.raises(ValueError, match=f"item 0: 'preference'.*{said}"):
            xsumstat.read_preferences(written(tmp_path / "annotations.json", [line(wrong)]))


def test_an_answer_that_could_not_be_read_is_no_choice(tmp_path):
    with pytest.warns(LeftOutWarning, match="1 of 2 rows have no choice"):
        ds = xsumstat.read_preferences(written(tmp_path / "p.jsonl", [pair(81, "error", "model_1")]))
    assert int(ds["preference"].notnull().sum()) == 1


def test_who_is_human_can_be_said(tmp_path):
    path = written(tmp_path / "p.jsonl", [human(1, "tie", "ann"), human(1, "tie", "gpt-4")])
    assert xsumstat.read_preferences(path)["kind"].values.tolist() == ["judge", "judge"]
    assert xsumstat.read_preferences(path, kind={"human": "ann"})["kind"].values.tolist() == ["human", "judge"]


@pytest.mark.parametrize(
    "line, said",
    [
        ({"model_a": "a", "winner": "tie"}, "line 1: no preference: it needs 'model_a', 'model_b' and 'winner'"),
        (human(None, "tie"), "line 1: 'question_id' must be a string or a whole number"),
        (human(1, 3), "line 1: 'winner' must be text"),
        (human(1, "model_c"), r"'choice' holds 'model_c' in p.jsonl, line 1; did you mean 'model_b'"),
        (human(1, "tie", judge=["gpt", 1.5]), "line 1: 'judge' must be a string"),
        ({"generator_1": "a", "generator_2": "b", "preference": 1}, "line 1: 'instruction' must be text"),
        ([1], "line 1: it must be a mapping"),
    ],
)
def test_what_is_wrong_names_file_and_line(tmp_path, line, said):
    with pytest.raises(ValueError, match=said):
        xsumstat.read_preferences(written(tmp_path / "p.jsonl", [line]))


def test_nothing_to_read(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        xsumstat.read_preferences(tmp_path / "none.jsonl")
    with pytest.raises(FileNotFoundError, match="no preferences in"):
        xsumstat.read_preferences(tmp_path)
    with pytest.raises(ValueError, match="there are no preferences"):
        xsumstat.read_preferences(written(tmp_path / "p.json", []))


@pytest.mark.parametrize("name", ["p.jsonl", "annotations.json"])
def test_readers_of_scores_say_who_reads_them(tmp_path, name):
    line = {"instruction": "x", "generator_1": "a", "generator_2": "b", "preference": 1}
    path = written(tmp_path / name, [line if name.endswith(".json") else human(1, "tie")])
    with pytest.raises(ValueError, match=rf"{name} holds preferences.*xsumstat.read_preferences\('{name}'\)"):
        read_scores(path)
