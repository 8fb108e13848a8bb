"""Names, labels and cells, which readers of score files share."""

import itertools
import json
import math
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from conftest import warns
from hypothesis import given
from hypothesis import strategies as st

import xsumstat
from xsumstat.io import cells, frames

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)


@given(st.lists(st.integers(0, 10**6), unique=True), st.sampled_from(["", "M", "M-"]), st.sampled_from(["", ".txt"]))
def test_labels_that_differ_in_a_number_are_in_its_order(numbers, start, end):
    labels = [f"{start}{number}{end}" for number in numbers]
    assert sorted(labels, key=cells.natural) == [f"{start}{number}{end}" for number in sorted(numbers)]


def test_any_labels_can_be_sorted():
    labels = ["M10", "10", "M2a", "M2", "", "a", "M", "2", "M2 10", "M2 9", "é", "²"]
    found = [sorted(each, key=cells.natural) for each in (labels, labels[::-1])]
    assert found[0] == found[1] == ["", "2", "10", "M", "M2", "M2 9", "M2 10", "M2a", "M10", "a", "²", "é"]


@given(st.data())
def test_each_value_stands_in_its_cell_and_the_others_are_nan(data):
    labels = [[f"{dim}{at}" for at in range(data.draw(st.integers(1, 3)))] for dim in "msi"]
    values = data.draw(st.dictionaries(st.sampled_from(list(itertools.product(*labels))), NUMBERS, min_size=1))
    cube = cells.as_cube(values, *labels)
    for place, cell in zip(np.ndindex(cube.shape), itertools.product(*labels), strict=True):
        assert cube[place] == values[cell] if cell in values else math.isnan(cube[place])


def test_a_score_is_a_finite_number_or_null():
    for value, want in ((3, 3.0), (0.5, 0.5), (-2.0, -2.0), (10**300, 1e300)):
        found = cells.number(value, "a", "file")
        assert found == want and type(found) is float
    assert math.isnan(cells.number(None, "a", "file")) and math.isnan(cells.number(math.nan, "a", "file"))


@pytest.mark.parametrize(
    "value, message",
    [
        (True, "'a' must be a number, a list of numbers or null, got True"),
        ("1", "'a' must be a number, .* got '1'"),
        (["x" * 500] * 50, "'a' must be a number, .{1,300}$"),
        (10**400, "'a' is too large a number"),
        (-math.inf, "'a' must be finite, got -inf"),
    ],
)
def test_what_is_no_score_is_named(value, message):
    with pytest.raises(ValueError, match=f"^file, line 2: {message}"):
        cells.number(value, "a", "file, line 2")


def test_names_are_text_without_blanks_around_them():
    names = cells.Names()
    assert names.stripped("system", "a b", "file") == "a b" and names.stripped("system", 7, "file") == "7"
    names.report()
    assert [names.stripped("system", name, "file") for name in (" a", "a\t", " a", "a")] == ["a"] * 4
    with warns("labels_trimmed", r"^system: .*: ' a', 'a\\t'$"):
        names.report()


@pytest.mark.parametrize(
    "name, message",
    [
        (True, "'system' must be a string or a whole number, got True"),
        (1.5, "'system' must be a string or a whole number, got 1.5"),
        ("\ud800", r"system '\\ud800' is not text"),
        pytest.param(10**5_000, "'system' is too long a number", id="long"),
        ("x" * 1_001, "'system' has 1,001 characters, and 1,000 are the most"),
        (" \n", r"'system' is empty, got ' \\n'"),
    ],
)
def test_what_is_no_name_is_named(name, message):
    with pytest.raises(ValueError, match=f"^file, line 2: {message}"):
        cells.Names().stripped("system", name, "file, line 2")


def test_variants_of_a_metric():
    assert cells.is_named("rouge", "rouge") and cells.is_named("rouge_f1", "rouge")
    assert not cells.is_named("rouge2", "rouge") and not cells.is_named("rouge", "rouge_f1")
    assert [type(label) for label in cells.text(iter(["a", "bc"])).tolist()] == [str, str]


NFC, NFD = "Andr\xe9", "Andre\u0301"
ALIKE = re.escape(f"some labels look the same but have different characters: {NFC!a} and {NFD!a}")


def test_labels_that_look_the_same_are_told_once(tmp_path):
    frame = pd.DataFrame({"system": [NFC, NFD], "input": [1, 1], "ann": [1.0, 2.0], "bob": [1.0, 3.0], "m": [0.1, 0.2]})
    with pytest.warns(UserWarning, match=f"^system: {ALIKE}; spell them alike") as told:
        ds = frame.meta.to_scores(wide=True, ratings=["ann", "bob"])
    assert len(told) == 1 and ds.sizes["system"] == 2
    frame.drop(columns=["ann", "bob"]).to_csv(tmp_path / "a.csv", index=False)
    with pytest.warns(UserWarning, match=f"^system: {ALIKE}") as told:
        frames.read_scores(tmp_path / "a.csv")
    assert len(told) == 1
    lines = [{"instance_id": "1", "summarizer_id": name, "metrics": {"m": 1.0}} for name in (NFC, NFD)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with pytest.warns(UserWarning, match=f"^summarizer_id: {ALIKE}"):
        xsumstat.read_sacrerouge(tmp_path / "a.jsonl")
    human, metric = tmp_path / "wmt/human-scores", tmp_path / "wmt/metric-scores/en-de"
    human.mkdir(parents=True), metric.mkdir(parents=True)
    (human / "en-de.mqm.seg.score").write_text(f"{NFC} 1\nB 2\n", encoding="utf-8")
    (metric / "m-refA.seg.score").write_text(f"{NFD} 1\nB 2\n", encoding="utf-8")
    with pytest.warns(UserWarning) as told:
        xsumstat.read_mtme(tmp_path, "wmt", "en-de")
    assert sum(re.match(f"system: {ALIKE}", str(each.message)) is not None for each in told) == 1


def test_labels_that_look_different_are_not_told():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cells.report_alike({"metric": [NFC, NFC + " ", "Andre", "andr\xe9", 1, 2.5, None], "input": [NFD]})
    with pytest.warns(UserWarning, match=r"'K' and '\\u212a'"):  # Kelvin's sign
        cells.report_alike({"metric": ["K", "\u212a"]})


def test_systems_that_differ_in_case_alone_are_named_and_inputs_are_not():
    with pytest.warns(
        UserWarning, match="^system: some labels differ in upper and lower case alone, .*: 'Atlas' and 'atlas'$"
    ):
        cells.report_alike({"system": ["Atlas", "atlas", "b"], "input": ["aB", "ab"]})
