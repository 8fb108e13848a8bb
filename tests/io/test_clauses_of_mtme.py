"""Clauses about mt-metrics-eval's layout, one row each: `read_mtme`, single files of scores, and ratings of spans."""

import json
import warnings

import numpy as np
import pytest

import xsumstat
from xsumstat.core.caveats import MetaEvaluationWarning

DOCS = "news d1\nnews d1\nsocial d2\n"
MQM = "A -1\nA None\nA 0\nB 0\nB -5\nB -25\n"


def test_set(folder, files, *, name="wmt99", docs=DOCS):
    """A test set with the given files; by default with a list of three segments."""
    given = files if docs is None else {"documents/en-de.docs": docs, **files}
    for file, content in given.items():
        path = folder / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return folder


test_set.__test__ = False


def human(name="mqm", granularity="seg"):
    return f"human-scores/en-de.{name}.{granularity}.score"


def metric(name, granularity="seg"):
    return f"metric-scores/en-de/{name}.{granularity}.score"


def lines(system, *scores):
    return "".join(f"{system} {score}\n" for score in scores)


def read(folder, pair="en-de", name="wmt99", **keywords):
    """What is read without any warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return xsumstat.read_mtme(folder, name, pair, **keywords)


# --- read_mtme: arguments ---


@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_the_folder_is_a_text_or_a_path(tmp_path, kind):
    ds = read(kind(test_set(tmp_path, {human(): MQM})))
    np.testing.assert_array_equal(ds.score.sel(metric="mqm"), [[-1, np.nan, 0], [0, -5, -25]])
    assert ds.score.dtype == np.float64 and ds.score.dims == ("metric", "system", "input")


@pytest.mark.parametrize(
    "granularity, scores, inputs, expected",
    [
        ("seg", MQM, [1, 2, 3], [[-1, np.nan, 0], [0, -5, -25]]),
        ("doc", "A 1\nA 2\nB 3\nB None\n", ["d1", "d2"], [[1, 2], [3, np.nan]]),
        ("domain", "social A 2\nnews A 1\nnews B 3\n", ["news", "social"], [[1, 2], [3, np.nan]]),
        ("sys", "A 1\nB 3\n", ["all"], [[1], [3]]),
    ],
)
def test_each_granularity_has_its_own_inputs(tmp_path, granularity, scores, inputs, expected):
    ds = read(test_set(tmp_path, {human(granularity=granularity): scores}), granularity=granularity)
    assert ds.input.values.tolist() == inputs and ds.attrs["granularity"] == granularity
    np.testing.assert_array_equal(ds.score.sel(metric="mqm"), expected)


def test_the_granularity_is_of_segments_by_default_and_metrics_without_such_a_file_are_absent(tmp_path):
    files = {
        human(): MQM,
        metric("A-src", "sys"): "A 1\nB 2\n",
        metric("B-src"): lines("A", 1, 2, 3) + lines("B", 4, 5, 6),
    }
    ds = read(test_set(tmp_path, files))
    assert ds.metric.values.tolist() == ["mqm", "B-src"]


@pytest.mark.parametrize("pairs, kind", [("en-de", "Dataset"), (["en-de"], "dict"), (("en-de", "en-es"), "dict")])
def test_one_pair_is_a_dataset_and_several_are_a_dict_by_pair(tmp_path, pairs, kind):
    more = {"documents/en-es.docs": "news d1\n", "human-scores/en-es.mqm.seg.score": "A 7\n"}
    found = read(test_set(tmp_path, {human(): MQM, **more}), pairs)
    assert type(found).__name__ == kind
    if kind == "dict":
        assert tuple(found) == tuple(pairs) and found["en-de"].identical(read(tmp_path))
    if len(pairs) == 2:
        assert found["en-es"].score.item() == 7


@pytest.mark.parametrize(
    "keywords, kind, message",
    [
        ({"granularity": "word"}, ValueError, "granularity must be .*got 'word'"),
        ({"test_set": "wmt98"}, FileNotFoundError, "no such folder: .*wmt98; test sets there: 'wmt99'"),
        ({"folder": "nowhere"}, FileNotFoundError, "no such folder: nowhere/wmt99$"),
        ({"language_pair": "de-en"}, FileNotFoundError, "wmt99 holds no 'seg' scores of 'de-en'"),
        ({"granularity": "doc"}, FileNotFoundError, "wmt99 holds no 'doc' scores of 'en-de'"),
        ({"language_pair": []}, ValueError, "language_pair names no language pair"),
        ({"language_pair": ["en-de", 3]}, (TypeError, ValueError), "each item of language_pair must be .*got 3"),
    ],
)
@pytest.mark.ignore_codes("documents_unknown")
def test_what_is_not_there_is_named(tmp_path, keywords, kind, message):
    test_set(tmp_path, {human(): MQM})
    asked = {"folder": tmp_path, "test_set": "wmt99", "language_pair": "en-de"} | keywords
    with pytest.raises(kind, match=message):
        xsumstat.read_mtme(asked.pop("folder"), asked.pop("test_set"), asked.pop("language_pair"), **asked)


# --- read_mtme: coordinates ---


@pytest.mark.parametrize(
    "file, kind, base, reference",
    [
        (human("mqm"), "human", "mqm", ""),
        (human("wmt-z"), "human", "wmt-z", ""),
        (metric("BLEU-refA"), "automatic", "BLEU", "refA"),
        (metric("COMET-22-refB"), "automatic", "COMET-22", "refB"),
        (metric("QE-src"), "automatic", "QE", "src"),
        (metric("M-refA.refB"), "automatic", "M", "refA.refB"),
        (metric("plain"), "automatic", "plain", ""),
    ],
)
def test_each_part_of_a_metrics_name_is_a_coordinate(tmp_path, file, kind, base, reference):
    ds = read(test_set(tmp_path, {file: lines("X", 1, 2, 3)}))
    assert [ds[name].dims for name in ("kind", "base", "reference")] == [("metric",)] * 3
    assert (ds.kind.item(), ds.base.item(), ds.reference.item()) == (kind, base, reference)


def test_documents_and_domains_are_coordinates_of_inputs(tmp_path):
    ds = read(test_set(tmp_path, {human(): MQM}))
    assert ds.document.dims == ds.domain.dims == ("input",)
    assert ds.document.values.tolist() == ["d1", "d1", "d2"] and ds.domain.values.tolist() == ["news", "news", "social"]


def test_without_a_list_inputs_are_numbered_and_that_is_told(tmp_path):
    with pytest.warns(MetaEvaluationWarning, match="no en-de.docs: inputs are numbered") as said:
        ds = xsumstat.read_mtme(test_set(tmp_path, {human(): MQM}, docs=None), "wmt99", "en-de")
    assert ds.input.values.tolist() == [1, 2, 3] and not {"document", "domain"} & set(ds.coords) and len(said) == 1


@pytest.mark.parametrize(
    "references, types",
    [
        ({"references/en-de.B.txt": "x"}, ["machine", "human"]),
        ({"references/en-de.B.jsonl": "{}"}, ["machine", "human"]),
        ({"references/en-de.B.csv": "x"}, None),
        ({"references/en-es.B.txt": "x"}, None),
        ({}, None),
    ],
)
def test_systems_are_human_where_references_are_known(tmp_path, references, types):
    ds = read(test_set(tmp_path, {human(): MQM, **references}))
    assert ds.system_type.values.tolist() == types if types else "system_type" not in ds.coords


@pytest.mark.parametrize(
    "name, base, submission",
    [
        ("wmt23", "BLEU", "baseline"),
        ("wmt23", "XCOMET-Ensemble", "primary"),
        ("wmt23", "XCOMET-XL", "contrastive"),
        ("wmt21.news", "BLEU", None),
        ("mine", "BLEU", None),
    ],
)
def test_submissions_are_known_of_wmt22_to_wmt24(tmp_path, name, base, submission):
    files = {human(): MQM, metric(f"{base}-refA"): lines("A", 1, 2, 3) + lines("B", 4, 5, 6)}
    ds = read(test_set(tmp_path, files, name=name), name=name)
    if submission is None:
        assert "submission" not in ds.coords
    else:
        assert ds.submission.dims == ("metric",) and ds.submission.values.tolist() == ["", submission]


@pytest.mark.parametrize("names, gold", [(["mqm"], "mqm"), (["mqm", "wmt-z"], None), ([], None)])
def test_a_single_human_score_is_the_gold(tmp_path, names, gold):
    files = {human(name): MQM for name in names} | {metric("Q-src"): lines("A", 1, 2, 3) + lines("B", 4, 5, 6)}
    ds = read(test_set(tmp_path, files))
    assert ds.attrs.get("gold") == gold and ds.attrs["test_set"] == "wmt99" and ds.attrs["language_pair"] == "en-de"


# --- read_mtme: warnings and errors ---


@pytest.mark.parametrize(
    "files, message",
    [
        ({metric("Q-src"): lines("A", 1, 2, 3)}, "^no score for metric 'Q-src' with system 'B': they are NaN$"),
        (
            {metric("Q-src"): lines("A", 1, 2, 3) + lines("B", 1, "None", 3)},
            "^not all scores for metric 'Q-src' with system 'B': they are NaN$",
        ),
        (
            {human("z"): lines("A", 1, 2, "nan") + lines("B", 1, 2, 3)},
            "en-de.z.seg.score has the word 'nan' for 1 score; read as missing, like None",
        ),
        ({"documents/en-de.docs": "news d1 x\nnews d1\nsocial d2\n"}, "en-de.docs has 3 columns; only the first two"),
        ({human("z"): lines("\u00e9", 1, 2, 3) + lines("e\u0301", 1, 2, 3)}, r"system: some labels look the same"),
    ],
)
def test_what_is_warned_of(tmp_path, files, message):
    test_set(tmp_path, {human(): MQM, **files})
    with pytest.warns(MetaEvaluationWarning, match=message):
        xsumstat.read_mtme(tmp_path, "wmt99", "en-de")


@pytest.mark.parametrize("reference", ["B", "X.B", "X,B"])
def test_a_metric_that_lacks_its_own_reference_is_not_warned_of(tmp_path, reference):
    ds = read(test_set(tmp_path, {human(): MQM, metric(f"Q-{reference}"): lines("A", 1, 2, 3)}))
    assert np.isnan(ds.score.isel(metric=1).sel(system="B")).all()


@pytest.mark.parametrize(
    "files, message",
    [
        ({human(): "A 1\nA 2\n"}, "en-de.mqm.seg.score has 2 scores of system 'A', expected 3"),
        ({human(): lines("A", 1, 2, "x")}, "en-de.mqm.seg.score, line 3: a score must be a number or None, got 'x'"),
        ({human(): lines("A", 1, 2, "inf")}, "line 3: a score must be finite, .* got 'inf'"),
        ({human(): "A 1 2\n"}, "en-de.mqm.seg.score, line 1: expected 'SYSTEM SCORE', got 'A 1 2'"),
        ({human(): "\n"}, "en-de.mqm.seg.score holds no scores"),
        ({"documents/en-de.docs": "news\n"}, "en-de.docs, line 1: expected 'DOMAIN DOCUMENT', got 'news'"),
        (
            {metric("mqm"): MQM},
            "'mqm' is the name of human scores and of a metric: .*en-de.mqm.seg.score and .*mqm.seg",
        ),
    ],
)
def test_a_file_that_is_not_of_the_layout_is_refused(tmp_path, files, message):
    test_set(tmp_path, {human(): MQM, **files})
    with pytest.raises(ValueError, match=message):
        xsumstat.read_mtme(tmp_path, "wmt99", "en-de")


@pytest.mark.parametrize(
    "granularity, files, message",
    [
        ("doc", {"documents/en-de.docs": "news d1\nnews d2\nnews d1\n"}, "segments of 'd1' do not follow each other"),
        ("domain", {human(granularity="domain"): "law A 1\n"}, "score, line 1: unknown domain 'law'; domains: 'news'"),
        (
            "domain",
            {human(granularity="domain"): "news A 1\nnews A 2\n"},
            "line 2: domain 'news' of system 'A' is given",
        ),
        ("domain", {human(granularity="domain"): "news A\n"}, "line 1: expected 'DOMAIN SYSTEM SCORE', got 'news A'"),
        ("sys", {human(granularity="sys"): "A 1\nA 2\n"}, "has 2 scores of system 'A', expected 1"),
    ],
)
def test_a_file_of_larger_units_that_is_not_of_the_layout_is_refused(tmp_path, granularity, files, message):
    test_set(tmp_path, {human(granularity="doc"): "A 1\nA 2\n", **files})
    with pytest.raises(ValueError, match=message):
        xsumstat.read_mtme(tmp_path, "wmt99", "en-de", granularity=granularity)


def test_ratings_of_spans_texts_and_metadata_are_not_read(tmp_path):
    more = {"human-scores/en-de.mqm.seg.rating": "no rating", "sources/en-de.txt": "x", "metadata/en-de.json": "{"}
    ds = read(test_set(tmp_path, {human(): MQM, **more}))
    assert set(ds.data_vars) == {"score"} and ds.metric.values.tolist() == ["mqm"]


# --- single files of scores ---


@pytest.mark.parametrize(
    "file, name, granularity, inputs",
    [
        ("NEW-refA.seg.score", "NEW-refA", "seg", [1, 2]),
        ("NEW-refA.score", "NEW-refA", "seg", [1, 2]),
        ("NEW.1.seg.score", "NEW.1", "seg", [1, 2]),
        ("NEW.doc.score", "NEW", "doc", [1, 2]),
        ("seg.score", "seg", "seg", [1, 2]),
    ],
)
def test_a_file_of_scores_is_read_by_what_its_name_says(tmp_path, file, name, granularity, inputs):
    (tmp_path / file).write_text("A 1\nA 2\nB 3\nB None\n")
    with pytest.warns(MetaEvaluationWarning, match="not all scores"):
        ds = xsumstat.io.frames.read_scores(tmp_path / file)
    assert ds.metric.values.tolist() == [name] and ds.attrs["granularity"] == granularity
    assert ds.input.values.tolist() == inputs and ds.kind.values.tolist() == ["automatic"] and "gold" not in ds.attrs
    np.testing.assert_array_equal(ds.score.sel(metric=name), [[1, 2], [3, np.nan]])


def test_a_file_of_whole_systems_has_one_input(tmp_path):
    (tmp_path / "NEW.sys.score").write_text("A 1\nB 2\n")
    ds = xsumstat.io.frames.read_scores(tmp_path / "NEW.sys.score")
    assert ds.input.values.tolist() == ["all"] and ds.score.values.ravel().tolist() == [1, 2]


def test_a_folder_of_files_has_a_metric_of_each_and_names_what_is_of_other_units(tmp_path):
    for name in ("M10.seg", "M9.seg", "M9.sys"):
        (tmp_path / f"{name}.score").write_text("A 1\n")
    with pytest.warns(MetaEvaluationWarning, match="scores of 'seg' are read, and not 'M9.sys.score'"):
        ds = xsumstat.io.frames.read_scores(tmp_path)
    assert ds.metric.values.tolist() == ["M9", "M10"]


def test_files_of_a_folder_with_other_numbers_of_inputs_are_refused(tmp_path):
    (tmp_path / "A.seg.score").write_text("A 1\nA 2\n")
    (tmp_path / "B.seg.score").write_text("A 1\n")
    with pytest.raises(ValueError, match="B.seg.score has 1 scores of a system, and there are 2 inputs"):
        xsumstat.io.frames.read_scores(tmp_path)


def test_a_file_that_is_no_text_is_named(tmp_path):
    (tmp_path / "A.seg.score").write_bytes(b"A\xff 1\n")
    with pytest.raises(ValueError, match="A.seg.score is not UTF-8 text"):
        xsumstat.io.frames.read_scores(tmp_path / "A.seg.score")


# --- ratings of spans ---


def rating(*errors):
    return json.dumps({"errors": [dict(zip(("severity", "category"), each, strict=True)) for each in errors]})


def spans(folder, *rows, name="en-de.mqm.seg.rating"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join("\t".join(row) for row in rows) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "errors, score, count",
    [
        ([], 0, 0),
        ([("major", "Accuracy")], -5, 1),
        ([("minor", "Accuracy")], -1, 1),
        ([("minor", "Fluency/Punctuation")], -0.1, 1),
        ([("major", "Non-translation!")], -25, 1),
        ([("neutral", "Other")], 0, 1),
        ([("Major", ""), ("MINOR", None)], -6, 2),
        ([("no-error", "no-error")], 0, 0),
    ],
)
def test_each_error_of_a_segment_has_its_weight(tmp_path, errors, score, count):
    ds = xsumstat.read_mqm(spans(tmp_path, ("A", rating(*errors), "r1")))
    assert ds.score.item() == pytest.approx(score, abs=1e-12) and ds.n_errors.item() == count
    assert ds.metric.values.tolist() == ["mqm"] and ds.attrs["gold"] == "mqm" and ds.kind.values.tolist() == ["human"]


@pytest.mark.parametrize(
    "row, raters", [(("A", rating(), "r1"), ["r1"]), (("A", rating()), ["rater"]), (("A", rating(), " r 1"), [" r 1"])]
)
def test_a_rater_of_spans_is_named_or_called_rater(tmp_path, row, raters):
    assert xsumstat.read_mqm(spans(tmp_path, row)).rater.values.tolist() == raters


def test_segments_of_spans_are_numbered_by_system_and_none_is_no_rating(tmp_path):
    rows = [("A", rating(("major", "x")), "r"), ("B", "None"), ("A", "None"), ("B", rating(("minor", "x")), "r")]
    ds = xsumstat.read_mqm(spans(tmp_path, *rows))
    assert ds.input.values.tolist() == [1, 2] and set(ds.data_vars) == {"score", "rating", "n_errors"}
    np.testing.assert_array_equal(ds.score.sel(metric="mqm"), [[-5, np.nan], [np.nan, -1]])


@pytest.mark.parametrize("place, known", [("human-scores", True), ("other", False)])
def test_documents_of_spans_are_those_of_the_test_sets_folder(tmp_path, place, known):
    test_set(tmp_path, {})
    rows = [("A", rating(), "r")] * 3
    ds = xsumstat.read_mqm(spans(tmp_path / "wmt99" / place, *rows))
    assert ("document" in ds.coords) == known and (not known or ds.document.values.tolist() == ["d1", "d1", "d2"])


def test_empty_lines_and_a_mark_of_byte_order_are_no_part_of_spans(tmp_path):
    path = spans(tmp_path, ("A", rating(("major", "x")), "r"), ("  ",), ("A", rating(), "r"))
    path.write_text("\ufeff" + path.read_text())
    assert xsumstat.read_mqm(path).score.sel(system="A").values.ravel().tolist() == [-5, 0]


@pytest.mark.parametrize(
    "rows, message",
    [
        ([("A", rating(), "r", "more")], r"rating, line 1: expected 'SYSTEM RATING \[RATER\]', .* got 4 fields"),
        ([("A", rating()), ("A",)], "rating, line 2: expected 'SYSTEM RATING .* got 1 field$"),
        ([("A", "none")], "rating, line 1: a rating must be None or JSON with a list 'errors', got none"),
        ([("A", "[]")], "rating, line 1: a rating must be None or JSON with a list 'errors'"),
        ([("A", '{"errors": {}}')], "rating, line 1: 'errors' must be a list of mappings, got {}"),
        ([("A", '{"errors": [1]}')], r"rating, line 1: 'errors' must be a list of mappings, got \[1\]"),
        ([("A", rating()), ("A", rating(("dire", "x")))], "rating, line 2: no weight for the severity 'dire'"),
        ([("A", '{"errors": [{}]}')], "rating, line 1: no weight for the severity ''"),
        ([("A", rating()), ("A", rating()), ("B", rating())], "one line per segment, got A 2, B 1"),
        ([("A", "None"), ("B", "None")], "en-de.mqm.seg.rating holds no rating"),
    ],
)
def test_lines_of_spans_that_are_refused(tmp_path, rows, message):
    with pytest.raises(ValueError, match=message):
        xsumstat.read_mqm(spans(tmp_path, *rows))


def test_a_file_of_spans_that_is_no_text_is_named(tmp_path):
    path = tmp_path / "en-de.mqm.seg.rating"
    path.write_bytes(b"A\xff\tNone\n")
    with pytest.raises(ValueError, match="en-de.mqm.seg.rating is not UTF-8 text"):
        xsumstat.read_mqm(path)
