"""`.rating` files of mt-metrics-eval, weighed by `read_mqm`'s rules."""

import json

import pytest

import xsumstat


def rating(*errors):
    keys = ("severity", "category")
    return json.dumps({"errors": [{"start": 0, "end": 1, **dict(zip(keys, each, strict=True))} for each in errors]})


MAJOR, MINOR = ("Major", "Accuracy/Mistranslation"), ("minor", None)
COMMA, GIBBERISH = ("Minor", "Fluency/Punctuation"), ("major", "Non-translation!")
LINES = [
    ("A", rating(MAJOR, COMMA), "rater1"),
    ("A", rating(), "rater2"),
    ("A", "None"),
    ("B", rating(GIBBERISH), "rater1"),
    ("B", rating(MINOR, MINOR), "rater2"),
    ("B", rating(MINOR)),
]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "wmt24" / "human-scores" / "en-de.mqm.seg.rating"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join("\t".join(each) for each in LINES) + "\n")
    return path


def test_errors_are_weighed_as_read_mqm_weighs_them(file):
    ds = xsumstat.read_mqm(file)
    assert ds.score.sel(metric="mqm").to_series().dropna().to_dict() == pytest.approx(
        {("A", 1): -5.1, ("A", 2): 0, ("B", 1): -25, ("B", 2): -2, ("B", 3): -1}
    )
    assert ds.rating.to_series().dropna().to_dict() == pytest.approx(
        {("A", 1, "rater1"): -5.1, ("A", 2, "rater2"): 0, ("B", 1, "rater1"): -25, ("B", 2, "rater2"): -2}
        | {("B", 3, "rater"): -1}
    )
    assert ds.n_errors.to_series().dropna().to_dict() == {
        ("A", 1): 2,
        ("A", 2): 0,
        ("B", 1): 1,
        ("B", 2): 2,
        ("B", 3): 1,
    }
    assert set(ds.data_vars) == {"score", "rating", "n_errors"} and "document" not in ds.coords
    other = xsumstat.read_mqm(file, major=10, weights={"minor": 2})
    assert other.score.sel(metric="mqm", system="B").values.tolist() == [-25, -4, -2]


def test_documents_and_inputs_are_those_of_the_folder(file):
    documents = file.parent.parent / "documents" / "en-de.docs"
    documents.parent.mkdir()
    documents.write_text("news d1\nnews d1\nsocial d2\n")
    ds = xsumstat.read_mqm(file)
    assert ds.document.values.tolist() == ["d1", "d1", "d2"] and ds.input.values.tolist() == [1, 2, 3]
    (file.parent / "en-de.mqm.seg.score").write_text("A -5.1\nA 0\nA None\nB -25\nB -2\nB -1\n")
    scores = xsumstat.read_mtme(file.parents[2], "wmt24", "en-de")
    assert scores.score.sel(metric="mqm").to_series().dropna().to_dict() == pytest.approx(
        ds.score.sel(metric="mqm").to_series().dropna().to_dict()
    )


@pytest.mark.parametrize(
    "line, message",
    [
        ("A", r"line 1: expected 'SYSTEM RATING \[RATER\]', separated by tabs, got 1 field"),
        ("A\t{}\tr", "line 1: a rating must be None or JSON with a list 'errors', got {}"),
        ("A\t[1\tr", "line 1: a rating must be None or JSON"),
        ('A\t{"errors": 3}\tr', "line 1: 'errors' must be a list of mappings, got 3"),
        ("A\tNone", "holds no rating"),
        (f"A\t{rating(('odd', ''))}\tr", "line 1: no weight for the severity 'odd'"),
        (f"A\t{rating()}\nA\tNone\nB\tNone", "each system must have one line per segment, got A 2, B 1"),
    ],
)
def test_what_is_refused(tmp_path, line, message):
    path = tmp_path / "en-de.mqm.seg.rating"
    path.write_text(line)
    with pytest.raises(ValueError, match=message):
        xsumstat.read_mqm(path)
    with pytest.raises(FileNotFoundError):
        xsumstat.read_mqm(tmp_path / "none.rating")
