import json
import os
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xsumstat

LINES = [
    {
        "instance_id": document,
        "summarizer_id": system,
        "summarizer_type": "peer",
        "metrics": {
            "rouge-1": {"f1": 0.1 * at, "recall": 0.2},
            "METEOR": 0.3 * at,
            "expert": {"relevance": [at, at + 1, at + 2], "fluency": [5, 5]},
        },
    }
    for at, (document, system) in enumerate([("d10", "M2"), ("d2", "M10"), ("d10", "M10"), ("d2", "M2")])
]


def write(folder, lines, name="scores.jsonl"):
    path = folder / name
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def test_nested_names_lists_and_natural_order(tmp_path):
    ds = xsumstat.read_sacrerouge(write(tmp_path, LINES))
    assert list(ds.metric.values) == ["rouge-1_f1", "rouge-1_recall", "METEOR", "expert_relevance", "expert_fluency"]
    assert list(ds.system.values) == ["M2", "M10"] and list(ds.input.values) == ["d2", "d10"]
    assert list(ds.kind.values) == ["automatic"] * 3 + ["human"] * 2
    assert list(ds.summarizer_type.values) == ["peer", "peer"]
    assert float(ds.score.sel(metric="METEOR", system="M10", input="d10")) == pytest.approx(0.6)
    assert float(ds.score.sel(metric="expert_relevance", system="M10", input="d10")) == 3
    assert ds.rating.dims == ("judgment", "system", "input", "rater")
    np.testing.assert_array_equal(ds.rating.sel(judgment="expert_relevance", system="M10", input="d10"), [2, 3, 4])
    np.testing.assert_array_equal(ds.rating.sel(judgment="expert_fluency", system="M2", input="d2"), [5, 5, np.nan])


def test_one_file_many_or_a_folder(tmp_path):
    rouge = [{**line, "metrics": {"rouge-1": line["metrics"]["rouge-1"]}} for line in LINES]
    rest = [{**line, "metrics": {k: v for k, v in line["metrics"].items() if k != "rouge-1"}} for line in LINES]
    files = [write(tmp_path, rouge, "a.jsonl"), write(tmp_path, rest, "b.jsonl")]
    (tmp_path / "notes.txt").write_text("not read")
    whole = tmp_path / "whole"
    whole.mkdir()
    want = xsumstat.read_sacrerouge(write(whole, LINES))
    assert xsumstat.read_sacrerouge(files).identical(want)
    assert xsumstat.read_sacrerouge(tmp_path).identical(want)
    assert xsumstat.read_sacrerouge(str(tmp_path)).identical(want)


def test_a_missing_score_is_nan(tmp_path):
    lines = [dict(LINES[0], metrics={"a": None, "b": [4, None, 2]}), dict(LINES[1], metrics={"a": 1})]
    ds = xsumstat.read_sacrerouge(write(tmp_path, lines))
    assert np.isnan(ds.score.sel(metric="a", system="M2", input="d10"))
    assert float(ds.score.sel(metric="b", system="M2", input="d10")) == 3
    assert np.isnan(ds.score.sel(metric="b", system="M10", input="d2"))


def test_human_metrics_that_are_plain_numbers(tmp_path):
    lines = [dict(line, metrics={"litepyramid": {"recall": 0.5}, "dice": {"f1": 1}, "rouge": 1}) for line in LINES]
    path = write(tmp_path, lines)
    assert list(xsumstat.read_sacrerouge(path).kind.values) == ["human", "automatic", "automatic"]
    assert list(xsumstat.read_sacrerouge(path, human=["dice"]).kind.values) == ["automatic", "human", "automatic"]
    with pytest.raises(ValueError, match="human names no metric with 'dize'; metrics: 'litepyramid_recall'"):
        xsumstat.read_sacrerouge(path, human=["dize"])


@pytest.mark.parametrize(
    "text, message",
    [
        ("{", r"scores.jsonl, line 2: not a line of JSON"),
        ("[1, 2]", "line 2: expected an object, got list"),
        ('{"instance_id": "d", "metrics": {}}', "line 2: no 'summarizer_id'"),
        ('{"instance_id": "d", "summarizer_id": "s", "metrics": 3}', "'metrics' must be an object, got int"),
        ('{"instance_id": "d", "summarizer_id": "s", "metrics": {"a": "high"}}', "'a' must be a number, .* got 'high'"),
        ('{"instance_id": "d", "summarizer_id": "s", "metrics": {"a": true}}', "'a' must be a number"),
        ('{"instance_id": "d", "summarizer_id": "s", "metrics": {"a": {"b": []}}}', "'a_b' is an empty list"),
        (
            '{"instance_id": "d", "summarizer_id": "s", "metrics": {"a": ' + "9" * 400 + "}}",
            "'a' is too large a number",
        ),
        (json.dumps(LINES[0]), "'rouge-1_f1' of system 'M2' on input 'd10' is given twice"),
        ("[" * 100_000, "not a line of JSON"),
    ],
)
def test_bad_lines_are_named(tmp_path, text, message):
    path = tmp_path / "scores.jsonl"
    path.write_text(json.dumps(LINES[0]) + "\n" + text + "\n")
    with pytest.raises(ValueError, match=message):
        xsumstat.read_sacrerouge(path)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        xsumstat.read_sacrerouge(tmp_path / "none.jsonl")
    with pytest.raises(FileNotFoundError, match="holds no"):
        xsumstat.read_sacrerouge(tmp_path)
    with pytest.raises(ValueError, match="path names no file"):
        xsumstat.read_sacrerouge([])
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(ValueError, match="no scores in"):
        xsumstat.read_sacrerouge(tmp_path / "empty.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b'{"instance_id": "\xe9"}')
    with pytest.raises(ValueError, match="latin.jsonl is not UTF-8 text"):
        xsumstat.read_sacrerouge(tmp_path / "latin.jsonl")


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_give_an_error_that_names_the_file(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("fuzz") / "scores.jsonl"
    path.write_bytes(data)
    with pytest.raises(ValueError, match="scores.jsonl"):
        xsumstat.read_sacrerouge(path)


# --- REALSumm ---


def pickled(systems, documents=(3, 1), value=0.5, wrap=float):
    def output(document, at):
        return {"system_summary": "x", "scores": {"rouge": wrap(value + document + at), "litepyramid_recall": wrap(at)}}

    def entry(document):
        outputs = {f"{system}.txt": output(document, at) for at, system in enumerate(systems)}
        return {"doc_id": document, "ref_summ": "", "system_summaries": outputs}

    return {document: entry(document) for document in documents}


def dump(folder, name, content, protocol=3):
    path = folder / name
    path.write_bytes(pickle.dumps(content, protocol=protocol))
    return path


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("wrap", [float, int, np.float64, np.float32, np.int64])
def test_pickles_of_plain_scores(tmp_path, protocol, wrap):
    dump(tmp_path, "abs.pkl", pickled(["bart", "t5"], wrap=wrap), protocol)
    dump(tmp_path, "ext.pkl", pickled(["lead"], value=2, wrap=wrap), protocol)
    ds = xsumstat.read_realsumm(tmp_path)
    assert list(ds.system.values) == ["bart", "t5", "lead"]
    assert list(ds.system_type.values) == ["abstractive", "abstractive", "extractive"]
    assert list(ds.input.values) == ["1", "3"]
    assert list(ds.kind.values) == ["automatic", "human"]
    assert float(ds.score.sel(metric="rouge", system="t5", input="3")) == wrap(4.5)
    assert (ds.duplicate_of == "").all()


def test_big_endian_scalars(tmp_path):
    scalar = np.array([2.5], dtype=">f8")[0]
    path = dump(tmp_path, "a.pkl", pickled(["bart"], wrap=lambda _: scalar))
    assert (xsumstat.read_realsumm({"abstractive": path}).score == 2.5).all()


def test_one_system_under_two_types_is_kept_flagged_and_said(tmp_path):
    dump(tmp_path, "abs.pkl", pickled(["bart", "t5"]))
    dump(tmp_path, "ext.pkl", pickled(["bart", "lead"]))
    with pytest.warns(UserWarning, match=r"'bart \(extractive\)' repeats 'bart' score by score: it is one system"):
        ds = xsumstat.read_realsumm(tmp_path)
    assert list(ds.system.values) == ["bart", "t5", "bart (extractive)", "lead"]
    assert list(ds.duplicate_of.values) == ["", "", "bart", ""]
    assert ds.sel(system=ds.duplicate_of == "").sizes["system"] == 3


def test_two_systems_that_share_a_name_are_no_duplicates(tmp_path):
    dump(tmp_path, "abs.pkl", pickled(["bart"]))
    dump(tmp_path, "ext.pkl", pickled(["bart"], value=0.7))
    ds = xsumstat.read_realsumm(tmp_path)
    assert list(ds.system.values) == ["bart", "bart (extractive)"] and (ds.duplicate_of == "").all()


class Hostile:
    def __init__(self, call):
        self.call = call

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize(
    "content, name",
    [
        (Hostile((os.system, ("touch pwned",))), "posix.system|nt.system"),
        ({1: {"system_summaries": {"a": {"scores": {"m": Hostile((eval, ("1",)))}}}}}, "builtin.*eval"),
        (Hostile((getattr, (np.dtype, "mro"))), "builtin.*getattr"),
        (np.array([1.0, 2.0]), "numpy.*_reconstruct"),
        (np.dtype("f8").type, "numpy.float64"),
        (np.dtype("O"), "NumPy scalar of type 'O8'"),
        (np.dtype([("a", "O")]), "NumPy scalar of type 'V8'"),
        ({1, 2}, "is not laid out"),
        ([], "is not laid out"),
        ({1: {"system_summaries": {"a": {"scores": {"m": "high"}}}}}, "'m' must be a number"),
        ({1: {"summaries": {}}}, "is not laid out"),
        ({}, "holds no scores"),
    ],
)
@pytest.mark.parametrize("protocol", [2, 4])
def test_anything_but_plain_scores_is_refused_and_not_run(tmp_path, monkeypatch, content, name, protocol):
    monkeypatch.chdir(tmp_path)
    path = dump(tmp_path, "abs.pkl", content, protocol)
    if protocol == 2 and isinstance(content, set):
        name = "builtin.*set, which is not plain data"
    with pytest.raises(ValueError, match=f"abs.pkl.*({name})"):
        xsumstat.read_realsumm({"abstractive": path})
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("state", [b"(K\x03X\x01\x00\x00\x00!NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb.", b"Nb."])
def test_a_malformed_type_is_refused(tmp_path, state):
    start = b"\x80\x03cnumpy\ndtype\nX\x02\x00\x00\x00f8K\x00K\x01\x87R"
    path = tmp_path / "abs.pkl"
    path.write_bytes(start + state)
    with pytest.raises(ValueError, match="abs.pkl"):
        xsumstat.read_realsumm({"abstractive": path})


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_broken_pickles_give_an_error_that_names_the_file(tmp_path_factory, data):
    whole = pickle.dumps(pickled(["bart"]), protocol=data.draw(st.sampled_from([2, 3, 4])))
    cut = data.draw(st.integers(0, len(whole) - 1))
    path = tmp_path_factory.mktemp("fuzz") / "abs.pkl"
    path.write_bytes(whole[:cut])
    with pytest.raises(ValueError, match="abs.pkl"):
        xsumstat.read_realsumm({"abstractive": path})


def test_a_pickle_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file: .*abs.pkl"):
        xsumstat.read_realsumm(tmp_path)
