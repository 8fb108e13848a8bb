"""Clauses of readers' docstrings that lie on a limit, or that no test of the reader itself has: one row each."""

import json
import pickle

import numpy as np
import pytest
from conftest import warns

import xsumstat

APPRAISE = "engces1,{},{},TGT,eng,ces,{},d1,False,[],0,1"
MQM_HEAD = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"


def written(folder, files):
    """Files of the given names and contents; a list becomes lines in JSON."""
    for name, content in files.items():
        if isinstance(content, list):
            content = "\n".join(map(json.dumps, content))
        (folder / name).write_text(content, encoding="utf-8")
    return [folder / name for name in files]


# --- ESA ---


@pytest.mark.parametrize("score, kept", [(0, True), (100, True), (-0.01, False), (100.01, False), ("nan", False)])
def test_scores_of_esa_are_from_0_to_100_and_both_count(tmp_path, score, kept):
    paths = written(tmp_path, {"esa.csv": "\n".join([APPRAISE.format("A", 0, score), APPRAISE.format("B", 0, 50)])})
    if kept:
        assert xsumstat.read_esa(paths).rating.sel(system="A").item() == score
    else:
        with pytest.raises(ValueError, match=r"esa.csv, line 1: a score must be between 0 and 100, got"):
            xsumstat.read_esa(paths)


def test_several_files_of_esa_are_joined_and_scores_given_twice_averaged(tmp_path):
    first = "\n".join([APPRAISE.format("A", 0, 90), APPRAISE.format("A", 1, 10)])
    paths = written(tmp_path, {"wave0.csv": first, "wave1.csv": APPRAISE.format("A", 0, 70)})
    with pytest.warns(UserWarning, match="averaged 1 annotation that repeat a rater's output"):
        ds = xsumstat.read_esa(paths)
    assert ds.rating.sel(system="A", rater="engces1").values.tolist() == [80, 10]


@pytest.mark.parametrize("domains, known", [(("news", "social"), True), (("news", ""), False)])
def test_domains_of_esa_are_told_where_all_are_known(tmp_path, domains, known):
    lines = [
        {"langs": "en-cs", "line_id": at, "doc_id": "d", "domain": domain, "system": "A", "annotator": "x"}
        | {"esa_score": 50 + at, "esa_spans": []}
        for at, domain in enumerate(domains)
    ]
    ds = xsumstat.read_esa(written(tmp_path, {"wmt24_esa.jsonl": lines}))
    assert ("domain" in ds.coords) == known and ds.document.values.tolist() == ["d", "d"]


@pytest.mark.parametrize(
    "mark, why", [("bad", "attention checks"), ("dup", "repeated"), ("incomplete", "of incomplete documents")]
)
def test_each_kind_of_annotation_that_esa_leaves_out_is_counted(tmp_path, mark, why):
    rows = [APPRAISE.format("A", 0, 90), *[APPRAISE.format("A", 1, 50).replace("d1", f"d1#{mark}")] * 2]
    with pytest.warns(UserWarning, match=f"left out annotations: 2 {why}$"):
        ds = xsumstat.read_esa(written(tmp_path, {"esa.csv": "\n".join(rows)}))
    assert ds.input.values.tolist() == [0]


# --- MQM ---


@pytest.mark.parametrize("n_fields, kept", [(8, False), (9, True), (10, True), (11, False)])
def test_rows_of_mqm_without_a_header_have_nine_or_ten_fields(tmp_path, n_fields, kept):
    row = ["A", "d", "1", "1", "r", "s", "t", "Other", "Major", "{}", "more"][:n_fields]
    paths = written(tmp_path, {"mqm.tsv": "\t".join(row)})
    if kept:
        assert xsumstat.read_mqm(paths[0]).score.item() == -5
    else:
        with pytest.raises(ValueError, match="line 1: neither a header nor a row of 9 or 10 fields"):
            xsumstat.read_mqm(paths[0])


@pytest.mark.parametrize("n_fields, kept", [(8, False), (9, True), (10, False)])
def test_rows_of_mqm_have_as_many_fields_as_the_header(tmp_path, n_fields, kept):
    row = ["A", "d", "1", "1", "r", "s", "t", "Other", "Major", "more"][:n_fields]
    paths = written(tmp_path, {"mqm.tsv": "\n".join([MQM_HEAD, "\t".join(row)])})
    if kept:
        assert xsumstat.read_mqm(paths[0]).score.item() == -5
    else:
        with pytest.raises(ValueError, match=rf"line 2: expected 9 fields, parted by tabs, got {n_fields}"):
            xsumstat.read_mqm(paths[0])


@pytest.mark.parametrize(
    "keywords, errors, score",
    [
        ({}, [("Major", "Accuracy")], -5),
        ({}, [("Minor", "Accuracy")], -1),
        ({}, [("Major", "Non-translation")], -25),
        ({}, [("Minor", "Non-translation")], -1),
        ({}, [("Minor", "Fluency/Punctuation")], -0.1),
        ({}, [("Major", "Fluency/Punctuation")], -5),
        ({}, [("Neutral", "Style")], 0),
        ({"major": 0}, [("Major", "Accuracy"), ("Minor", "Accuracy")], -1),
        ({"weights": {"major/accuracy": 7}}, [("Major", "Accuracy"), ("Major", "Style")], -12),
        ({"weights": {"major": 7}}, [("Major", "Accuracy")], -7),
    ],
)
def test_each_weight_of_mqm_is_that_of_freitag_et_al(tmp_path, keywords, errors, score):
    rows = ["\t".join(["A", "d", "1", "1", "r", "s", "t", category, severity]) for severity, category in errors]
    ds = xsumstat.read_mqm(written(tmp_path, {"mqm.tsv": "\n".join([MQM_HEAD, *rows])})[0], **keywords)
    assert ds.score.item() == pytest.approx(score, abs=1e-12) and ds.n_errors.item() == len(errors)


# --- REALSumm and SacreROUGE ---


@pytest.mark.parametrize("same", [True, False])
def test_a_system_in_two_files_of_realsumm_names_its_first_where_scores_are_equal(tmp_path, same):
    for kind, score in (("abs", 0.5), ("ext", 0.5 if same else 0.25)):
        content = {at: {"system_summaries": {"bart_out.txt": {"scores": {"rouge": score * at}}}} for at in (1, 2)}
        (tmp_path / f"{kind}.pkl").write_bytes(pickle.dumps(content))
    if same:
        with warns("repeated_system"):
            ds = xsumstat.read_realsumm(tmp_path)
    else:
        ds = xsumstat.read_realsumm(tmp_path)
    assert ds.system.values.tolist() == ["bart_out", "bart_out (extractive)"]
    if same:
        assert ds.duplicate_of.values.tolist() == ["", "bart_out"]
    else:
        assert "duplicate_of" not in ds or not (ds.duplicate_of != "").any()


@pytest.mark.parametrize(
    "human, kinds",
    [
        (None, {"rouge_f1": "automatic", "litepyramid": "human", "expert_relevance": "human"}),
        (["rouge"], {"rouge_f1": "human"}),
        (["rouge_f1"], {"rouge_f1": "human"}),
    ],
)
def test_human_metrics_of_sacrerouge_are_lists_known_names_and_those_that_are_said(tmp_path, human, kinds):
    metrics = {"rouge": {"f1": 0.4}, "litepyramid": 0.5, "expert": {"relevance": [4, 5, 3]}}
    line = {"instance_id": "d1", "summarizer_id": "M1", "summarizer_type": "peer", "metrics": metrics}
    ds = xsumstat.read_sacrerouge(written(tmp_path, {"scores.jsonl": [line]}), human=human)
    found = dict(zip(ds.metric.values.tolist(), ds.kind.values.tolist(), strict=True))
    assert {name: found[name] for name in kinds} == kinds
    assert ds.score.sel(metric="expert_relevance").item() == 4 and ds.rating.values.ravel().tolist() == [4, 5, 3]


# --- Inspect ---


@pytest.mark.parametrize(
    "value, number",
    [
        *(("C", 1), ("I", 0), ("P", 0.5), ("N", 0), ("yes", 1), ("Yes", 1), ("no", 0), ("No", 0), ("TRUE", 1)),
        *(("false", 0), (True, 1), (False, 0), ("0.25", 0.25), (0.75, 0.75)),
    ],
)
def test_each_grade_of_inspect_is_its_number(tmp_path, value, number):
    samples = [{"id": 1, "scores": {"match": {"value": value}}}, {"id": 2, "scores": {"match": {"value": 0.5}}}]
    log = {"eval": {"model": "small", "task": "sums"}, "samples": samples}
    (tmp_path / "log.json").write_text(json.dumps(log))
    assert xsumstat.read_inspect(tmp_path).score.sel(input="1").item() == number


def test_epochs_of_inspect_are_averaged_and_other_texts_left_out_and_named(tmp_path):
    values = [(1, "C"), (1, "I"), (1, "I"), (2, "C"), (3, "perhaps")]
    samples = [
        {"id": name, "epoch": at, "scores": {"match": {"value": each}}} for at, (name, each) in enumerate(values)
    ]
    log = {"eval": {"model": "small", "task": "sums"}, "samples": samples}
    (tmp_path / "log.json").write_text(json.dumps(log))
    with pytest.warns(xsumstat.core.caveats.LeftOutWarning, match="perhaps"):
        ds = xsumstat.read_inspect(tmp_path)
    np.testing.assert_allclose(ds.score.sel(input=["1", "2"]).values.ravel(), [1 / 3, 1])


# --- Preferences ---


@pytest.mark.parametrize(
    "judge, kind", [("human", "human"), ("expert_12", "human"), ("author_0", "human"), ("gpt", "judge")]
)
def test_raters_of_preferences_are_human_as_the_tools_name_them(tmp_path, judge, kind):
    line = {"question_id": 1, "model_a": "small", "model_b": "large", "winner": "tie", "judge": judge}
    ds = xsumstat.read_preferences(written(tmp_path, {"p.jsonl": [line]}))
    assert ds.kind.values.tolist() == [kind]


def test_several_files_of_preferences_are_joined_by_prompt(tmp_path):
    line = {"question_id": 1, "model_a": "small", "model_b": "large", "winner": "model_a", "judge": "a"}
    paths = written(tmp_path, {"p.jsonl": [line], "q.jsonl": [line | {"judge": "b"}, line | {"question_id": 2}]})
    ds = xsumstat.read_preferences(paths)
    assert ds.sizes["prompt"] == 2 and ds.rater.values.tolist() == ["a", "b"]
    choices = ds.preference.sel(order="right first").isel(pair=0)
    np.testing.assert_array_equal(choices.transpose("prompt", "rater"), [[-1, -1], [-1, np.nan]])
