"""Columns of identifiers are labels, whatever their type; empty columns, labels in another case, parts of a table."""

import numpy as np
import pandas as pd
import pytest
from conftest import of_code, warns
from helpers import for_each

import xsumstat  # noqa: F401
from xsumstat.cli import main as cli
from xsumstat.core.synonyms import identified

PEOPLE = ["ann_1", "ann_2"]


def notes(**more):
    """Five systems on 60 notes of 20 patients, all numbered, by two people and a judge."""
    rng = np.random.default_rng(0)
    frame = pd.MultiIndex.from_product([list("ABCDE"), range(60)], names=["model", "note_id"]).to_frame(index=False)
    quality = np.repeat(rng.normal(size=(5, 20)), 3, axis=1) + rng.normal(size=(5, 60))
    graded = {name: (3 + quality + 0.6 * rng.normal(size=(5, 60))).round().clip(1, 5) for name in (*PEOPLE, "judge")}
    return frame.assign(patient_id=frame.note_id // 3, **{name: each.ravel() for name, each in graded.items()}, **more)


@for_each(
    ("name", "what"),
    {"patient_id": "patient", "patientId": "patient", "doc-ID": "doc", "Note Id": "note", "x.uuid": "x", "id": "",
     "valid": None, "grid": None, "idle": None, "ROUGE": None, "paid": None, "bid_price": None}.items(),
)  # fmt: skip
def test_what_a_name_identifies(name, what):
    assert identified(name) == what


def test_the_identifier_that_systems_share_names_the_inputs():
    """Others that are constant on an input describe it; one of each row describes nothing."""
    frame = notes(row_id=range(300))
    shown = str(frame.meta)
    assert "'model' (system), 'note_id' (input)" in shown and "patient_id: a coordinate of inputs" in shown
    assert "no scores: row_id" in shown and "metrics: " not in shown
    ds = frame.meta.to_scores(system="model", input="note_id", wide=True, ratings=PEOPLE, metric=["judge"])
    assert ds.sizes["input"] == 60 and ds.patient_id.dims == ("input",) and ds.patient_id.values[-1] == 19
    with warns("columns_left_out", "'row_id'"):
        alone = frame.meta.to_scores(system="model", input="note_id", wide=True, ratings=PEOPLE)
    assert alone.metric.values.tolist() == ["judge", "human"]


def test_an_identifier_beside_a_usual_name_is_left_to_it():
    frame = notes().rename(columns={"note_id": "prompt_id"})
    assert "'prompt_id' (input)" in str(frame.meta)


def test_inputs_of_one_patient_are_warned_of_and_kept_together():
    ds = notes().meta.to_scores(system="model", input="note_id", wide=True, ratings=PEOPLE)
    with warns("documents", "60 inputs come from 20 patients. Inputs of one patient are often alike.*'patient_id'"):
        apart = ds.meta.ci(level="input", coefficient="kendall")
    together = ds.meta.ci(level="input", coefficient="kendall", cluster="patient_id")
    words = ds.assign_coords(patient_id=("input", [f"P{at}" for at in ds.patient_id.values]))
    assert float(apart.ci_low[0]) != float(together.ci_low[0])
    np.testing.assert_array_equal(
        together.ci_low, words.meta.ci(level="input", coefficient="kendall", cluster="patient_id").ci_low
    )
    with warns("documents", "compare_systems.method='paired_t', cluster='patient_id'. keeps patients together"):
        ds.meta.compare_systems(gold="human", metric="judge", method="ppi")


def test_a_kind_of_inputs_is_no_document(recwarn):
    ds = notes().rename(columns={"patient_id": "topic_id"})
    ds.meta.to_scores(system="model", input="note_id", wide=True, ratings=PEOPLE).meta.ci(level="input")
    assert not of_code(recwarn, "documents")


def test_the_command_line_proposes_people_and_knows_clusters(capsys, tmp_path):
    frame = notes(row_id=range(300)).rename(columns={"ann_1": "kim", "ann_2": "lee"})
    frame.to_csv(tmp_path / "a.csv", index=False)
    asked = [str(tmp_path / "a.csv")]
    assert cli.main([*asked, "--judge"]) == 2
    assert "--raters kim lee --metric judge --judge" in capsys.readouterr().err
    asked += ["--raters", "kim", "lee", "--metric", "judge", "--cluster", "patient_id"]
    assert cli.main(asked) == 0
    out, err = capsys.readouterr()
    assert "clustered by patient_id" in out and "60 inputs" in err


def test_empty_columns_are_left_out():
    frame = notes(comments=np.nan)
    assert "left out: comments, which holds nothing" in str(frame.meta)
    with warns("columns_left_out", "left out column 'comments', without any value"):
        ds = frame.meta.to_scores(system="model", input="note_id", wide=True, ratings=PEOPLE)
    assert ds.metric.values.tolist() == ["judge", "human"]
    asked = {"system": "model", "input": "note_id", "wide": True}
    kept = frame[["model", "note_id", "comments"]].meta.to_scores(**asked)
    assert kept.score.isnull().all()  # nothing else is there


def test_labels_in_another_case_are_the_same():
    frame = notes()
    words = frame.assign(**{name: np.where(frame[name] > 3, "yes", "no") for name in PEOPLE})
    odd = words.copy()
    odd.loc[[3, 9], "ann_1"] = ["no ", "NO"]
    odd.loc[odd.ann_2 == "yes", "ann_2"] = "Yes"
    assert "labels=['no', 'yes']" in str(words.meta)
    asked = {"system": "model", "input": "note_id", "wide": True, "ratings": PEOPLE, "labels": ["no", "yes"]}
    with warns("look_alike_labels", "'NO' is read as 'no'.*'Yes' is read as 'yes'"):
        got = odd.meta.to_scores(**asked)
    want = words.assign(ann_1=odd.ann_1.str.strip().str.lower()).meta.to_scores(**asked)
    np.testing.assert_array_equal(got.rating, want.rating)
    with pytest.raises(TypeError, match=r"labels=\['no', 'yes'\] if 'no' is the lowest"):
        words.meta.to_scores(**{**asked, "labels": None})
    other = odd.assign(ann_1=odd.ann_1.replace("no ", "maybe"))
    with warns("look_alike_labels"), pytest.raises(ValueError, match="'maybe', which is none of labels"):
        other.meta.to_scores(**asked)


def test_one_criterion_of_words_and_one_of_grades(capsys, tmp_path):
    """`--only` reads the rows that it names, so the others need not be numbers, nor need labels."""
    frame = notes()
    long = frame.melt(["model", "note_id"], ["ann_1", "ann_2", "judge"], "who", "score")
    useful = long.assign(criterion="useful", score=long.score.map("{:g}".format))
    factual = long.assign(criterion="factual", score=np.where(long.score > 2, "yes", "no"))
    pd.concat([useful, factual]).to_csv(tmp_path / "long.csv", index=False)
    long.to_csv(tmp_path / "useful.csv", index=False)
    outs = []
    for file, more in (("long.csv", ["--only", "criterion=useful"]), ("useful.csv", [])):
        status = cli.main([str(tmp_path / file), "--metric-column", "who", "--raters", "ann_1", "ann_2", *more])
        out, err = capsys.readouterr()
        assert status == 0, err
        outs.append(" ".join(out.split()).replace("long.csv (criterion=useful)", "useful.csv"))
    assert outs[0] == outs[1]
    asked = [str(tmp_path / "long.csv"), "--metric-column", "who", "--raters", "ann_1", "ann_2", "--level", "input"]
    assert cli.main([*asked, "--only", "criterion=factual"]) == 0
    assert "no is below yes" in capsys.readouterr().err
    assert cli.main([*asked, "--only", "criterion=usefull"]) == 2
    assert cli.main(asked) == 2
