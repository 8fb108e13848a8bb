"""Errors marked in translations: a plain-Python twin, hand-made files, and the published averages."""

import csv
import hashlib
import re

import numpy as np
import pytest
import xarray as xr
from conftest import warns

import xsumstat

HEAD = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
MAROT = "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\tmetadata"
NO = ("No-error", "No-error")


def line(system, doc, seg, glob, rater, category, severity, source="s", target="t", *more):
    return "\t".join([system, doc, str(seg), str(glob), rater, source, target, category, severity, *more])


def read(tmp_path, *lines, head=HEAD, **keywords):
    path = tmp_path / "mqm.tsv"
    path.write_text("\n".join([*([head] if head else []), *lines]) + "\n", encoding="utf-8")
    return xsumstat.read_mqm(path, **keywords)


def of(ds, name="score"):
    values = ds[name].sel(metric="mqm") if name == "score" else ds[name]
    return values.values.tolist()


def test_weights_sums_and_means_over_raters(tmp_path):
    ds = read(
        tmp_path,
        line("A", "d", 1, 1, "r1", "Accuracy/Omission", "Major"),
        line("A", "d", 1, 1, "r1", "Fluency/Punctuation", "Minor"),
        line("A", "d", 1, 1, "r1", "Fluency/Grammar", "minor"),
        line("A", "d", 1, 1, "r2", *NO),
        line("A", "d", 2, 2, "r2", "Non-translation!", "Major"),
        line("A", "d", 2, 2, "r2", "Fluency/Punctuation", "Major"),
        line("B", "d", 1, 1, "r1", "non_translation", "minor"),
        line("B", "d", 1, 1, "r1", "Style", "Neutral"),
    )
    assert of(ds, "rating") == pytest.approx(
        np.array([[[-6.1, 0], [np.nan, -30]], [[-1, np.nan], [np.nan, np.nan]]]), nan_ok=True, abs=1e-12
    )
    assert of(ds) == pytest.approx(np.array([[-3.05, -30], [-1, np.nan]]), nan_ok=True, abs=1e-12)
    assert of(ds, "n_errors") == pytest.approx(np.array([[1.5, 2], [2, np.nan]]), nan_ok=True)
    assert not np.signbit(ds.rating.sel(system="A", input=1, rater="r2"))  # 0, and not -0
    assert ds.attrs["gold"] == "mqm" and ds.kind.values.tolist() == ["human"]
    assert ds.rater.values.tolist() == ["r1", "r2"] and ds.input.values.tolist() == [1, 2]


@pytest.mark.parametrize(("category", "severity"), [NO, ("No-error", "Minor"), ("No error", "Major"), ("", "no-error")])
def test_no_error_weighs_nothing_and_is_none_by_its_category_or_its_severity(tmp_path, category, severity):
    rows = line("A", "d", 1, 1, "r", category, severity), line("B", "d", 1, 1, "r", "Style", "Minor")
    ds = read(tmp_path, *rows, weights={"no error": 3})
    assert of(ds) == [[0], [-1]] and of(ds, "n_errors") == [[0], [1]]


def test_weights_can_be_given(tmp_path):
    rows = [
        line("A", "d", 1, 1, "r", "Style/Awkward", "Minor"),
        line("A", "d", 2, 2, "r", "Other", "Critical"),
        line("A", "d", 3, 3, "r", "Fluency/Punctuation", "Minor"),
        line("A", "d", 4, 4, "r", "Accuracy", "Major"),
        line("A", "d", 5, 5, "r", "Non-translation", "Major"),
    ]
    keywords = {"major": 10, "minor": 2, "non_translation": 40, "punctuation": 0.5}
    ds = read(tmp_path, *rows, **keywords, weights={"critical": 25, "Minor/Style": 0})
    assert of(ds) == [[0, -25, -0.5, -10, -40]]
    message = r"mqm.tsv, line 3: no weight for the severity 'Critical'; severities: .*weights=\{'critical': 10\}"
    with pytest.raises(ValueError, match=message):
        read(tmp_path, *rows)
    for wrong in (-1, np.inf, np.nan, True, "5"):
        with pytest.raises(ValueError, match=r"major must be a number, 0 or more, got"):
            read(tmp_path, *rows, major=wrong)
        with pytest.raises(ValueError, match=r"weights\['critical'\] must be a number, 0 or more, got"):
            read(tmp_path, *rows, weights={"critical": wrong})


def test_equal_sums_are_equal_whatever_they_are_of(tmp_path):
    """Ten punctuation errors weigh what a minor one does, in any order of the rows."""
    tenth = [line("A", "d", 1, 1, "r", "Fluency/Punctuation", "Minor")] * 10
    ten = [line("B", "d", 1, 1, "r", "Fluency", "Minor")]
    mixed = [line("C", "d", 1, 1, r, "Fluency/Punctuation", "Minor") for r in "abc" for _ in range(3)]
    alone = [line("D", "d", 1, 1, "r", "Fluency/Punctuation", "Minor")] * 3
    ds = read(tmp_path, *tenth, *ten, *mixed, *alone)
    assert of(ds)[0] == of(ds)[1] and of(ds)[2] == of(ds)[3]
    one = [line("A", "d", 1, 1, "r", "Other", "Minor"), line("A", "d", 1, 1, "q", *NO)]
    two = [line("B", "d", 1, 1, r, "Fluency/Punctuation", "Minor") for r in "qrr"]
    three = [line("C", "d", 1, 1, "r", "Fluency/Punctuation", "Minor")] * 3
    assert 3 * 0.1 != 0.3 and (0.1 + 0.2) / 2 != 0.3 / 2
    found = read(tmp_path, *one, *two, minor=0.3)
    assert of(found)[0] == of(found)[1]
    found = read(tmp_path, *three, line("D", "d", 1, 1, "r", "Other", "Minor"), minor=0.3)
    assert of(found, "rating")[0] == of(found, "rating")[1]
    again = read(tmp_path, *alone[::-1], *mixed[::-1], *ten, *tenth)
    xr.testing.assert_identical(ds, again)


def test_texts_without_marks_and_with_quotation_marks(tmp_path):
    ds = read(
        tmp_path,
        line("A", "d", 1, 1, "r", *NO, 'He said: "no', 'Er <v>sagte</v>: "nein'),
        line("B", "d", 1, 1, "r", *NO, 'He <v>said</v>: "no', '"'),
        line("B", "d", 2, 2, "r", *NO, "a\x85b", "c"),
    )
    assert of(ds, "source") == ['He said: "no', "a\x85b"]
    assert of(ds, "target") == [['Er sagte: "nein', ""], ['"', "c"]]
    with pytest.warns(UserWarning, match=r"target: the rows of 1 texts differ, and the first is kept: \"1 of 'A'\""):
        ds = read(
            tmp_path,
            line("A", "d", 1, 1, "r", *NO, "s", "one"),
            line("A", "d", 1, 1, "q", *NO, "s", "another"),
        )
    assert of(ds, "target") == [["one"]]


def test_inputs_are_segments_of_documents(tmp_path):
    """Their own numbers name them where each has one; in Marot's files all may have the same."""
    ds = read(tmp_path, line("A", "b", 1, 12, "r", *NO), line("A", "a", 1, 3, "r", *NO), line("A", "a", 2, 4, "r", *NO))
    assert ds.input.values.tolist() == [3, 4, 12] and ds.document.values.tolist() == ["a", "a", "b"]
    same = [line("A", "a", 10, 0, "r", *NO, "s", "t", "{}"), line("A", "a", 2, 0, "r", *NO, "s", "t", "{}")]
    ds = read(tmp_path, *same, head=MAROT)
    assert ds.input.values.tolist() == ["a:2", "a:10"]
    assert read(tmp_path, *same, head=None).identical(ds)  # the header may be missing
    two = read(tmp_path, line("A", "a", 1, 1, "r", *NO), line("B", "a", 1, 2, "r", *NO))  # numbered by output
    assert two.input.values.tolist() == ["a:1"]
    named = read(tmp_path, line("A", "a", 1, "x", "r", *NO), line("A", "a", 2, "7", "r", *NO))
    assert named.input.values.tolist() == ["7", "x"]
    zeros = read(tmp_path, line("A", "a", 1, "007", "r", *NO), line("A", "a", 2, "8", "r", *NO))
    assert zeros.input.values.tolist() == ["007", "8"]  # as numbers they would be 7 and 8


def test_numbers_that_part_the_rows_of_one_segment_are_told(tmp_path):
    rows = [line("A", "news", 1, at, "r", "Other", "Major") for at in (1, 2, 3)]
    with pytest.warns(UserWarning, match=r"different seg_id counted as one .* are summed, in 1 segment: 'news:1'"):
        ds = read(tmp_path, *rows)
    assert of(ds) == [[-15]]


@pytest.mark.ignore_codes("kept_apart")
@pytest.mark.parametrize("source", ["the same", "{}"])
def test_numbers_within_a_document_are_segments(tmp_path, source):
    """Documents named in doc_id: all systems have the same numbers, or the sources of one system differ."""
    rows = [
        line(system, "manual", 1, at, rater, "Accuracy/Other", "Minor", source.format(at))
        for system in (("A", "B") if source == "the same" else ("A",))
        for at, rater in ((1, "kim"), (2, "kim"), (3, "kim"), (4, "lee"))
    ]
    ds = read(tmp_path, *rows)
    assert ds.input.values.tolist() == [1, 2, 3, 4] and set(np.ravel(of(ds))) == {-1.0}
    more = [line("A", "manual", 2, at, "kim", *NO, source.format(at)) for at in (1, 2)]
    more += [line("B", "manual", 2, at, "kim", *NO, source.format(at)) for at in (1, 2)]
    ds = read(tmp_path, *rows, *more)
    assert ds.input.values.tolist()[:2] == ["manual:1:1", "manual:1:2"] and ds.sizes["input"] == 6


@pytest.mark.ignore_codes("first_kept")
def test_what_is_kept_apart_is_told_and_row_numbers_are_not(tmp_path):
    rows = [line(system, "d", 1, at, "r", *NO, f"source {at}") for system in "AB" for at in (1, 2)]
    with pytest.warns(UserWarning, match="kept apart segments .* by seg_id, in 1 place"):
        assert read(tmp_path, *rows).sizes["input"] == 2
    numbered = [
        line(system, "d", 1, at, "r", "Other", "Minor", source)
        for at, (system, source) in enumerate([("A", ""), ("A", "One"), ("B", "")])
    ]
    with pytest.warns(UserWarning, match="counted as one segment"):
        assert of(read(tmp_path, *numbered)) == [[-2], [-1]]


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; read_mqm reads one file"):
        xsumstat.read_mqm(tmp_path)


def test_columns_in_another_order_and_old_names(tmp_path):
    head = "severity\tcategory\ttarget\tsource\trater\tglobal_seg_id\tdoc_seg_id\tdoc\tsystem\tnote"
    ds = read(tmp_path, "Major\tOther\tt\ts\tr\t5\t1\td\tA\t", head=head)
    assert of(ds) == [[-5]] and ds.input.values.tolist() == [5]


def test_lines_may_end_as_on_windows(tmp_path):
    head = "system\tdoc\tdoc_id\tseg_id\trater\tsource\tcategory\tseverity\ttarget"
    path = tmp_path / "mqm.tsv"
    path.write_bytes(f"\ufeff{head}\r\nA\td\t1\t1\tr\ts\tOther\tMajor\tt\r\n\r\n".encode())
    ds = xsumstat.read_mqm(path)
    assert of(ds) == [[-5]] and of(ds, "target") == [["t"]]


def test_attention_checks_are_no_errors(tmp_path):
    """WMT23's side-by-side files: rows of severity HOTW-test, on a text with an error put in."""
    own = [
        line("A", "d", 1, 1, "r1", "Accuracy/Omission", "Major"),
        line("A", "d", 1, 1, "r2", *NO),
        line("B", "d", 1, 1, "r1", "Fluency/Punctuation", "Minor"),
        line("B", "d", 2, 2, "r2", *NO),
    ]
    checks = [
        line("A", "d", 1, 1, "r1", "Found", "HOTW-test", "s", "t with an error put in"),
        line("B", "d", 2, 2, "r2", "Missed", "hotw-test"),
        line("B", "d", 2, 2, "r1", "Missed", "HOTW-test"),
    ]
    want = read(tmp_path, *own)
    for weights in (None, {"hotw-test": 10}):
        with pytest.warns(UserWarning, match=r"mqm.tsv: left out 3 rows of severity 'HOTW-test'") as said:
            ds = read(tmp_path, own[0], checks[0], *own[1:], *checks[1:], weights=weights)
        assert ds.identical(want) and len(said) == 1
    with pytest.raises(ValueError, match="holds no row with a rater but attention checks"):
        read(tmp_path, *checks)


def test_rows_without_rater_are_left_out_and_counted(tmp_path):
    metrics = line("A", "d", 1, 1, "", "", "", "s", "t", '{"segment": {"metrics": {"Bleurt": 0.5}}}')
    with pytest.warns(UserWarning, match=r"mqm.tsv: left out 1 row without a rater"):
        ds = read(tmp_path, metrics, line("A", "d", 1, 1, "r", *NO), head=MAROT)
    assert of(ds) == [[0]]
    with pytest.raises(ValueError, match="mqm.tsv holds no row with a rater"):
        read(tmp_path, metrics, head=MAROT)


def test_blanks_around_labels_are_told(tmp_path):
    with warns("labels_trimmed", "^.*system: .* ' A'"):
        ds = read(tmp_path, line(" A", "d", 1, 1, "r", *NO), line("A", "d", 2, 2, "r", *NO))
    assert ds.sizes["system"] == 1


@pytest.mark.parametrize(
    ("rows", "head", "message"),
    [
        (["A\td"], HEAD, "mqm.tsv, line 2: expected 9 fields, parted by tabs, got 2"),
        ([line("A", "d", 1, 1, "r", *NO, "s", "t", "more")], HEAD, "line 2: expected 9 fields, parted by tabs, got 10"),
        ([line("", "d", 1, 1, "r", *NO)], HEAD, "line 2: 'system' is empty"),
        ([line("A", "d", 1, 1, "r", "Other", "")], HEAD, "line 2: no weight for the severity ''"),
        ([], HEAD.replace("\trater", ""), r"mqm.tsv: no column 'rater'; columns: 'system'"),
        ([], f"{HEAD}\tseverity", r"mqm.tsv: the header repeats column 'severity'"),
        ([], HEAD, "mqm.tsv holds no row with a rater"),
        (["a,b,c"], None, "mqm.tsv, line 1: neither a header nor a row of 9 or 10 fields"),
        ([""], None, "mqm.tsv is empty"),
    ],
)
def test_files_that_are_not_as_described(tmp_path, rows, head, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, *rows, head=head)


def test_no_file_and_no_text(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        xsumstat.read_mqm(tmp_path / "none.tsv")
    (tmp_path / "latin.tsv").write_bytes(HEAD.encode() + b"\n\xff")
    with pytest.raises(ValueError, match="latin.tsv is not UTF-8 text"):
        xsumstat.read_mqm(tmp_path / "latin.tsv")


# --- the published annotations ---


@pytest.fixture(scope="module")
def ted(mirror):
    return xsumstat.load_dataset("wmt21-ted-ende")


def test_all_published_averages(ted, mirror):
    """6,877 segments of 13 systems, and the reference, which is called otherwise there."""
    path = mirror / "mqm/ted/ende/mqm_ted_ende.avg_seg_scores.tsv"
    digests = dict(reversed(each.split()) for each in (mirror / "mqm/SHA256SUMS").read_text().splitlines())
    assert hashlib.sha256(path.read_bytes()).hexdigest() == digests["ted/ende/mqm_ted_ende.avg_seg_scores.tsv"]
    score, n = ted.score.sel(metric="mqm").to_series(), {"system": 0, "reference": 0}
    for each in path.read_text().splitlines()[1:]:
        system, average, segment = each.split()
        name = "ref" if system == "ref-A" else system
        if average == "None":
            assert (name, int(segment)) not in score.index
        else:
            assert score[name, int(segment)] == pytest.approx(float(average), abs=5.1e-7)
            n["reference" if name == "ref" else "system"] += 1
    assert n == {"system": 6877, "reference": 529}
    assert len(score) == 7406


def test_the_published_means_of_systems(ted):
    """The table in the data's own README, of two digits, some of them cut off."""
    published = {"ref": 0.91, "Facebook-AI": 1.06, "Online-W": 1.12, "VolcTrans-AT": 1.24, "metricsystem3": 1.44}
    published |= {"VolcTrans-GLAT": 1.49, "HuaweiTSC": 1.50, "metricsystem1": 1.63, "metricsystem2": 1.69}
    published |= {"metricsystem5": 1.72, "UEdin": 1.77, "metricsystem4": 1.78, "eTranslation": 1.96, "Nemo": 2.14}
    found = (-ted.score.sel(metric="mqm").mean("input")).to_series()
    assert found.to_dict() == pytest.approx(published, abs=0.01)
    assert list(found.sort_values().index) == list(published)


def test_what_the_published_set_holds(ted, mirror):
    assert ted.score.sizes == {"metric": 1, "system": 14, "input": 529}
    assert ted.system_type.to_series().eq("human").sum() == 1 and ted.system_type.sel(system="ref") == "human"
    assert sorted(set(ted.document.values)) == ["talk.1", "talk.3", "talk.4", "talk.5", "talk.6"]
    assert (ted.rating.notnull().sum("rater") == 1).all()  # each output was rated by one of four
    np.testing.assert_array_equal(ted.rating.sum("rater"), ted.score.sel(metric="mqm"))
    assert ted.attrs["licence"] == "Apache-2.0" and ted.attrs["gold"] == "mqm"
    errors, texts = {}, {}
    with (mirror / "mqm/ted/ende/mqm_ted_ende.tsv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
            place = row["system"], int(row["seg_id"])
            errors[place] = errors.get(place, 0) + (row["severity"] != "No-error")
            texts[place] = re.sub("</?v>", "", row["target"])
    assert ted.n_errors.to_series().to_dict() == errors
    assert ted.target.to_series().to_dict() == texts
    assert not any("<v>" in text for text in ted.source.values)
