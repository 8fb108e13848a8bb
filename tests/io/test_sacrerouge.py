"""Lines of JSON as SacreROUGE writes them."""

import itertools
import json

import numpy as np
import pytest
from helpers import examples, for_each
from hypothesis import given
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


def line(**more):
    entry = {"instance_id": "d", "summarizer_id": "s", "metrics": {"a": 0.5}}
    return json.dumps({**entry, **more})


def nested(depth):
    return {"a": nested(depth - 1)} if depth else 1


def test_nested_names_lists_and_natural_order(tmp_path):
    ds = xsumstat.read_sacrerouge(write(tmp_path, LINES))
    assert list(ds.metric.values) == ["rouge-1_f1", "rouge-1_recall", "METEOR", "expert_relevance", "expert_fluency"]
    assert list(ds.system.values) == ["M2", "M10"] and list(ds.input.values) == ["d2", "d10"]
    assert list(ds.kind.values) == ["automatic"] * 3 + ["human"] * 2
    assert list(ds.summarizer_type.values) == ["peer", "peer"]
    assert float(ds.score.sel(metric="METEOR", system="M10", input="d10")) == pytest.approx(0.6)
    assert float(ds.score.sel(metric="expert_relevance", system="M10", input="d10")) == 3
    assert ds.rating.dims == ("judgment", "system", "input", "rater")
    assert ds.rater.values.tolist() == list(range(1, ds.sizes["rater"] + 1))
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


@for_each(
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
        (line(instance_id="7" * 5_000), "'instance_id' has 5,000 characters, and 1,000 are the most: '777"),
        (line().replace('"d"', "7" * 5_000), "not a line of JSON .*5000 digits"),
        (line().replace("0.5", "7" * 5_000), "not a line of JSON .*5000 digits"),
        (line(instance_id="\ud800"), r"instance_id '\\ud800' is not text: surrogates not allowed"),
        (line(summarizer_id="\udfff"), r"summarizer_id '\\udfff' is not text"),
        (line(metrics={"a": {"\ud800": 1}}), r"metric '\\ud800' is not text"),
        (line(summarizer_type="\ud800"), r"summarizer_type '\\ud800' is not text"),
        (line(instance_id=None), "'instance_id' must be a string or a whole number, got None"),
        (line(summarizer_id=None), "'summarizer_id' must be a string or a whole number, got None"),
        (line(instance_id=["d", "e"]), r"'instance_id' must be a string or a whole number, got \['d', 'e'\]"),
        (line(instance_id={"d": 1}), "'instance_id' must be a string or a whole number, got {'d': 1}"),
        (line(instance_id=1.5), "'instance_id' must be a string or a whole number, got 1.5"),
        (line(instance_id=True), "'instance_id' must be a string or a whole number, got True"),
        (line(instance_id=" "), "'instance_id' is empty, got ' '"),
        (line(metrics={"": 1}), "'metric' is empty, got ''"),
        (line(summarizer_type=3), "'summarizer_type' must be a string, got 3"),
        (
            line(summarizer_id="M2", summarizer_type="reference"),
            "system 'M2' has the type 'reference', and 'peer' before",
        ),
        (
            '{"instance_id": "d", "summarizer_id": "s", "metrics": {"a": 1, "a": 2}}',
            "the key 'a' stands twice in one object",
        ),
        (
            '{"instance_id": "d", "instance_id": "e", "summarizer_id": "s", "metrics": {}}',
            "the key 'instance_id' stands twice",
        ),
        (line(metrics={"a": {"b": 1}, "a_b": 2}), "'a_b' of system 's' on input 'd' is given twice"),
        ('{"instance_id": "d", "summarizer_id": "s", "metrics": {"a": 1e999}}', "'a' must be finite, got inf"),
        (
            '{"instance_id": "d", "summarizer_id": "s", "metrics": {"a": [1, -Infinity]}}',
            "'a' must be finite, got -inf",
        ),
        (line(metrics=nested(25)), "'metrics' is nested more than 20 times"),
    ],
)
def test_bad_lines_are_named(tmp_path, text, message):
    path = tmp_path / "scores.jsonl"
    path.write_text(json.dumps(LINES[0]) + "\n" + text + "\n")
    with pytest.raises(ValueError, match=message) as error:
        xsumstat.read_sacrerouge(path)
    assert str(error.value).startswith("scores.jsonl, line 2: ")


def test_a_type_may_be_given_once(tmp_path):
    """Where one file says what a system is, the others need not."""
    first = [dict(LINES[0], metrics={"a": 1}), dict(LINES[0], summarizer_type=None, metrics={"b": 1})]
    last = {key: value for key, value in LINES[0].items() if key != "summarizer_type"} | {"metrics": {"c": 1}}
    for order in itertools.permutations([*first, last]):
        assert xsumstat.read_sacrerouge(write(tmp_path, order)).summarizer_type.values.tolist() == ["peer"]


def test_numbers_are_ids_and_a_mark_of_byte_order_is_none(tmp_path):
    path = tmp_path / "scores.jsonl"
    path.write_text(line(instance_id=7) + "\n" + line(instance_id="8"), encoding="utf-8-sig")
    assert xsumstat.read_sacrerouge(path).input.values.tolist() == ["7", "8"]


def test_blanks_around_labels_are_left_out_and_said(tmp_path):
    lines = [
        {"instance_id": " d1", "summarizer_id": "s", "metrics": {"rouge ": {" f1": 1.0}}},
        {"instance_id": "d1", "summarizer_id": "t\t", "metrics": {"rouge": {"f1": 2.0}}},
    ]
    with pytest.warns(UserWarning) as caught:
        ds = xsumstat.read_sacrerouge(write(tmp_path, lines))
    assert [str(each.message) for each in caught] == [
        "instance_id: blanks around labels are left out: ' d1'",
        "metric: blanks around labels are left out: 'rouge ', ' f1'",
        "summarizer_id: blanks around labels are left out: 't\\t'",
    ]
    assert ds.metric.values.tolist() == ["rouge_f1"] and ds.system.values.tolist() == ["s", "t"]
    np.testing.assert_array_equal(ds.score, [[[1], [2]]])


def rated(tmp_path, ratings):
    lines = [
        {"instance_id": "d", "summarizer_id": f"s{at}", "metrics": {"expert": list(each), "metric": at**2}}
        for at, each in enumerate(ratings)
    ]
    return xsumstat.read_sacrerouge(write(tmp_path, lines))


@pytest.mark.parametrize("scale", [1, 10, 0.1, 1e-20, 1e300, 1 / 3, 7, -1])
def test_the_order_of_raters_is_of_no_account(tmp_path, scale):
    """Three means of .2 and one of .7/3: the one pair of values in order, three of six pairs tied, 3/sqrt(3*6)."""
    ratings = [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.2, 0.2], [0.1, 0.1, 0.5]]
    every = list(itertools.permutations(range(3)))
    for orders in zip(every, every[::-1], strict=True):
        shuffled = [[scale * ratings[0][at] for at in orders[0]], [scale * ratings[1][at] for at in orders[1]]]
        ds = rated(tmp_path, [*shuffled, *([scale * each for each in row] for row in ratings[2:])])
        assert np.unique(ds.score.sel(metric="expert")).size == 2
    for level in ("input", "global"):
        tau = ds.meta.corr("expert", level=level, coefficient="kendall").correlation.item()
        assert tau == pytest.approx(np.sign(scale) * 3 / np.sqrt(18), abs=1e-12)
    assert float(ds.score.sel(metric="expert", system="s3", input="d")) == pytest.approx(scale * 0.7 / 3, rel=1e-12)


def test_means_that_cancel_are_equal(tmp_path):
    ds = rated(tmp_path, [[0.1, 0.2, -0.3], [-0.3, 0.2, 0.1], [0.0, 0.0], [None, 0.7, -0.7]])
    assert np.unique(ds.score.sel(metric="expert")).size == 1


def test_means_that_differ_stay_apart(tmp_path):
    ratings = [[1, 1 + 1e-9], [1, 1], [1, 1 - 1e-9], [None, None], [None, 4]]
    found = rated(tmp_path, ratings).score.sel(metric="expert").values.ravel()
    np.testing.assert_allclose(found, [1 + 5e-10, 1, 1 - 5e-10, np.nan, 4], rtol=1e-15)
    assert np.unique(found[:3]).size == 3


def test_a_mean_of_the_largest_numbers_is_a_number(tmp_path):
    assert rated(tmp_path, [[1.6e308, 1.2e308]]).score.sel(metric="expert").item() == pytest.approx(1.4e308)


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


@examples(50)
@given(st.binary(max_size=200))
def test_any_bytes_give_an_error_that_names_the_file(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("fuzz") / "scores.jsonl"
    path.write_bytes(data)
    with pytest.raises(ValueError, match="scores.jsonl"):
        xsumstat.read_sacrerouge(path)


@pytest.mark.parametrize("name", ["d1", "a:b", ':"x": {'])
@pytest.mark.parametrize("twice", [False, True])
def test_a_key_that_stands_twice_is_found_whatever_colons_a_line_holds(tmp_path, name, twice):
    metrics = '{"a": {"b": 1.0, "b": 2.0}}' if twice else '{"a": {"b": 1.0, "c": 2.0}}'
    line = f'{{"instance_id": {json.dumps(name)}, "summarizer_id": "s", "note": {{"a": 1}}, "metrics": {metrics}}}'
    (tmp_path / "scores.jsonl").write_text(line)
    if twice:
        with pytest.raises(ValueError, match="scores.jsonl, line 1: .*the key 'b' stands twice"):
            xsumstat.read_sacrerouge(tmp_path)
    else:
        assert xsumstat.read_sacrerouge(tmp_path).score.values.tolist() == [[[1.0]], [[2.0]]]
