"""The layout of mt-metrics-eval, from a small test set written by hand as its README has it."""

import warnings

import numpy as np
import pytest
import xarray as xr
from conftest import dataset

import xsumstat

FILES = {
    "documents/en-de.docs": "news d1\nnews d1\nsocial d2\nnews d3\n",
    "references/en-de.refA.txt": "a\nb\nc\nd\n",
    "references/en-de.refB.txt": "a\nb\nc\nd\n",
    "human-scores/en-de.mqm.seg.score": "A\t-1\nA\t0\nA\tNone\nA\tNone\nB\t-5\nB\t-2.5\nB\tNone\nB\t0\nrefB 0\nrefB 0\n"
    "refB None\nrefB 0\n",
    "human-scores/en-de.mqm.sys.score": "A -0.5\nB -2.5\nrefB 0\n",
    "human-scores/en-de.mqm.doc.score": "A -0.5\nA None\nA None\nB -3.75\nB None\nB 0\n",
    "human-scores/en-de.mqm.domain.score": "news A -0.5\nnews B -2.5\nsocial A None\nsocial B None\n",
    "human-scores/en-de.wmt-z.seg.score": "\n".join(f"{system} 0.{at}" for system in ("A", "B") for at in range(4)),
    "human-scores/de-en.mqm.seg.score": "A 1\n",
    "metric-scores/en-de/BLEU-refA.sys.score": "A 30.1\nB 28.4\nrefB 41\n",
    "metric-scores/en-de/COMET-22-refA.seg.score": "".join(
        f"{system} {score}\n" for system, scores in {"A": (0.9, 0.8, 0.7, 0.6), "B": (0.1, 0.2, 0.3, 0.4)}.items()
        for score in scores
    ),
    "metric-scores/en-de/QE-src.seg.score": "B 1\nA 5\nB 2\nA 6\nB 3\nA 7\nB 4\nA 8\nrefB 1\nrefB 1\nrefB 1\nrefB 1\n",
    "metric-scores/en-de/QE-src.domain.score": "social A 1\nnews A 2\nnews B 3\nsocial B 4\n",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    for name, content in FILES.items():
        path = tmp_path / "wmt99" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return tmp_path


def read(folder, **keywords):
    with pytest.warns(UserWarning) as caught:
        ds = xsumstat.read_mtme(folder, "wmt99", "en-de", **keywords)
    return ds, [str(each.message) for each in caught]


def test_segments(folder):
    ds, said = read(folder)
    assert dict(ds.sizes) == {"metric": 4, "system": 3, "input": 4}
    assert ds.metric.values.tolist() == ["mqm", "wmt-z", "COMET-22-refA", "QE-src"]
    assert ds.kind.values.tolist() == ["human", "human", "automatic", "automatic"]
    assert ds.base.values.tolist() == ["mqm", "wmt-z", "COMET-22", "QE"]
    assert ds.reference.values.tolist() == ["", "", "refA", "src"]
    assert ds.system.values.tolist() == ["A", "B", "refB"]
    assert ds.system_type.values.tolist() == ["machine", "machine", "human"]
    assert ds.input.values.tolist() == [1, 2, 3, 4]
    assert ds.document.values.tolist() == ["d1", "d1", "d2", "d3"]
    assert ds.domain.values.tolist() == ["news", "news", "social", "news"]
    np.testing.assert_array_equal(ds.score.sel(metric="mqm", system="B"), [-5, -2.5, np.nan, 0])
    np.testing.assert_array_equal(ds.score.sel(metric="QE-src", system="A"), [5, 6, 7, 8])
    assert np.isnan(ds.score.sel(metric="COMET-22-refA", system="refB")).all()  # and not 0
    assert said == ["no score for metric 'COMET-22-refA' with system 'refB': they are NaN"]
    assert "gold" not in ds.attrs and ds.attrs["language_pair"] == "en-de"


def test_what_the_layout_prescribes_is_not_warned_of(folder):
    """A metric scores all systems but its own reference; what else is missing is one warning of each kind."""
    metrics = folder / "wmt99/metric-scores/en-de"
    (metrics / "COMET-22-refA.seg.score").unlink()
    lines = {system: f"{system} 1\n" * 4 for system in ("A", "B", "refA", "refB")}
    for name, systems in {
        "BLEU-refA": "A B refB",
        "BLEU-refB": "A B refA",
        "X-refA.refB": "A B",
        "QE-src": lines,
    }.items():
        text = "".join(lines[system] for system in (systems.split() if isinstance(systems, str) else systems))
        (metrics / f"{name}.seg.score").write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ds = xsumstat.read_mtme(folder, "wmt99", "en-de")
    assert np.isnan(ds.score.sel(metric="BLEU-refA", system="refA")).all() and ds.sizes["system"] == 4
    for at in range(9):  # each lacks another system, or a part of one
        gone = ["A", "B", "refA"][at % 3]
        (metrics / f"M{at}-src.seg.score").write_text("".join(lines[each] for each in lines if each != gone))
        (metrics / f"N{at}-src.seg.score").write_text("".join(lines.values()).replace(f"{gone} 1", f"{gone} None", 1))
    (metrics / "M9-src.seg.score").write_text(lines["B"])
    _, said = read(folder)
    assert sorted(said) == [
        "no score for metrics 'M0-src', 'M3-src', 'M6-src' with system 'A'; no score for metrics 'M1-src', 'M4-src', "
        "'M7-src' with system 'B'; no score for metrics 'M2-src', 'M5-src', 'M8-src' with system 'refA'; and so on, "
        "10 metrics in all: they are NaN",
        "not all scores for metrics 'N0-src', 'N3-src', 'N6-src' with system 'A'; not all scores for metrics 'N1-src', "
        "'N4-src', 'N7-src' with system 'B'; not all scores for metrics 'N2-src', 'N5-src', 'N8-src' with system "
        "'refA': they are NaN",
    ]


def test_ratings_of_spans_are_left_alone(folder):
    want, _ = read(folder)
    file = folder / "wmt99" / "human-scores" / "en-de.mqm.merged.seg.rating"
    file.write_text('A\t{"errors": [{"start": 0, "end": 3, "severity": "major"}]}\nA\tNone\n')
    xr.testing.assert_identical(read(folder)[0], want)


def test_documents_domains_and_systems(folder):
    ds = xsumstat.read_mtme(folder, "wmt99", "en-de", granularity="doc")
    assert ds.input.values.tolist() == ["d1", "d2", "d3"] and ds.domain.values.tolist() == ["news", "social", "news"]
    np.testing.assert_array_equal(ds.score.sel(metric="mqm", system="B"), [-3.75, np.nan, 0])
    assert ds.attrs["gold"] == "mqm"
    ds = xsumstat.read_mtme(folder, "wmt99", "en-de", granularity="domain")
    assert ds.input.values.tolist() == ["news", "social"] and "domain" not in ds.coords
    np.testing.assert_array_equal(ds.score.sel(metric="QE-src"), [[2, 1], [3, 4]])
    ds = xsumstat.read_mtme(folder, "wmt99", "en-de", granularity="sys")
    assert ds.input.values.tolist() == ["all"]
    np.testing.assert_array_equal(ds.score.sel(metric="BLEU-refA", input="all"), [30.1, 28.4, 41])


def test_several_pairs_are_a_dict_of_datasets(folder):
    """Also of a list with one; each as it is by itself, in the order given."""
    alone, said = read(folder)
    other = folder / "wmt99/metric-scores/de-en"
    other.mkdir()
    (other / "QE-src.seg.score").write_text("A 2\n")
    with pytest.warns(UserWarning) as caught:
        data = xsumstat.read_mtme(folder, "wmt99", ["en-de", "de-en"])
        back = xsumstat.read_mtme(folder, "wmt99", (pair for pair in ("de-en", "en-de")))
        one = xsumstat.read_mtme(folder, "wmt99", ["en-de"])
    assert type(data) is dict and list(data) == ["en-de", "de-en"] and list(back) == ["de-en", "en-de"]
    assert list(one) == ["en-de"]
    for found in (data["en-de"], back["en-de"], one["en-de"]):
        xr.testing.assert_identical(found, alone)
    assert data["de-en"].score.values.tolist() == [[[1]], [[2]]] and data["de-en"].attrs["language_pair"] == "de-en"
    assert set(said) < {str(each.message) for each in caught}
    whole = xsumstat.read_mtme(folder, "wmt99", ["en-de"], granularity="sys")
    assert whole["en-de"].identical(xsumstat.read_mtme(folder, "wmt99", "en-de", granularity="sys"))
    with pytest.raises(ValueError, match="language_pair names no language pair"):
        xsumstat.read_mtme(folder, "wmt99", [])
    with pytest.raises(ValueError, match="language_pair repeats 'en-de'"):
        xsumstat.read_mtme(folder, "wmt99", ["en-de", "en-de"])
    with pytest.raises(FileNotFoundError, match="'fr-de'"), pytest.warns(UserWarning):
        xsumstat.read_mtme(folder, "wmt99", ["en-de", "fr-de"])


def test_further_columns_of_documents_are_told(folder):
    (folder / "wmt99/documents/en-de.docs").write_text("news d1 x\nnews d1 x y\nsocial d2\nnews d3\n")
    ds, said = read(folder)
    assert ds.document.values.tolist() == ["d1", "d1", "d2", "d3"]
    assert "en-de.docs has 4 columns; only the first two, domain and document, are read" in said


def test_the_word_nan_is_a_missing_score_and_told(folder):
    (folder / "wmt99/metric-scores/en-de/QE-src.seg.score").write_text("A 1\nA nan\nA NaN\nA 4\n")
    ds, said = read(folder)
    np.testing.assert_array_equal(ds.score.sel(metric="QE-src", system="A"), [1, np.nan, np.nan, 4])
    assert "QE-src.seg.score has the word 'nan' for 2 scores; read as missing, like None" in said
    assert "not all scores for metric 'QE-src' with system 'A': they are NaN" in said
    (folder / "wmt99/metric-scores/en-de/QE-src.domain.score").write_text(
        "news A nan\nsocial A 2\nnews B 1\nsocial B 2\n"
    )
    ds, said = read(folder, granularity="domain")
    assert "QE-src.domain.score has the word 'nan' for 1 score; read as missing, like None" in said
    np.testing.assert_array_equal(ds.score.sel(metric="QE-src", system="A"), [np.nan, 2])


def test_it_can_be_asked_at_once(folder):
    ds, _ = read(folder)
    with pytest.warns(UserWarning):  # two systems, and gaps
        found = ds.meta.corr("mqm", metric="QE-src", level="input", coefficient="acc_eq", threshold=0)
    # where people scored: (A, B, refB) on two segments, (B, refB) on one
    assert found.correlation.item() == pytest.approx(np.mean([1 / 3, 1 / 3, 0]))


@pytest.mark.ignore_codes("no_score")
@pytest.mark.parametrize("granularity", ["seg", "doc", "domain", "sys"])
def test_what_is_written_is_read_again(folder, granularity):
    ds = (
        read(folder)[0]
        if granularity == "seg"
        else xsumstat.read_mtme(folder, "wmt99", "en-de", granularity=granularity)
    )
    copy = ds.copy(deep=True)
    if granularity != "seg":  # the list of documents goes with the segments
        read(folder)[0].meta.to_mtme(folder / "new", "set", "en-de")
    ds.meta.to_mtme(folder / "new", "set", "en-de", granularity=granularity)
    xr.testing.assert_identical(ds, copy)
    if granularity == "seg":
        with pytest.warns(UserWarning, match="'refB': they are NaN"):
            back = xsumstat.read_mtme(folder / "new", "set", "en-de")
    else:
        back = xsumstat.read_mtme(folder / "new", "set", "en-de", granularity=granularity)
    xr.testing.assert_identical(back.drop_attrs(), ds.drop_attrs())


def test_a_metric_that_is_better_when_lower_is_written_negated(demo, tmp_path):
    ds = demo.assign_coords(reference=("metric", ["refA"] * 7))
    with pytest.warns(UserWarning, match="negated the scores of metric 'perplexity'"):
        ds.meta.to_mtme(tmp_path, "demo", "en-en")
    back = xsumstat.read_mtme(tmp_path, "demo", "en-en")
    np.testing.assert_array_equal(back.score.sel(metric="perplexity-refA"), -demo.score.sel(metric="perplexity"))


def test_nothing_is_written_where_something_is_wrong(folder, demo, tmp_path):
    ds = xsumstat.read_mtme(folder, "wmt99", "en-de", granularity="sys")
    with pytest.raises(FileExistsError, match="overwrite=True replaces"):
        ds.meta.to_mtme(folder, "wmt99", "en-de", granularity="sys")
    with pytest.warns(
        UserWarning, match="no score of 'refB' by metrics 'COMET-22-refA', 'QE-src': mt-metrics-eval reads 0"
    ):
        ds.meta.to_mtme(folder, "wmt99", "en-de", granularity="sys", overwrite=True)
    named = demo.assign_coords(reference=("metric", ["refA"] * 7)).drop_sel(metric="perplexity")
    gaps = named.copy(deep=True)
    gaps.score[1, 2, 3] = np.nan
    bad = {
        "no score of system 'extractor-3' on 1 of 30 inputs": gaps,
        "must be called NAME-REF": named.drop_vars("reference"),
        "names hold no blanks": named.assign_coords(system=[f"a {at}" for at in range(12)]),
        "additional dim": named.expand_dims(language=["a", "b"]),
        "repeats": named.assign_coords(base=("metric", ["x"] * 6)),
    }
    for text, wrong in bad.items():
        with pytest.raises(ValueError, match=text):
            wrong.meta.to_mtme(tmp_path, "bad", "en-en")
    with pytest.raises(ValueError, match="one score a system"):
        named.meta.to_mtme(tmp_path, "bad", "en-en", granularity="sys")
    assert not (tmp_path / "bad").exists()
    assert not [path for path in (folder / "wmt99").iterdir() if path.name.startswith("tmp")]


@pytest.mark.parametrize(
    "file, content, text",
    [
        ("human-scores/en-de.mqm.seg.score", "A 1 2\n", "en-de.mqm.seg.score, line 1: expected 'SYSTEM SCORE'"),
        (
            "human-scores/en-de.mqm.seg.score",
            "A 1\nA 2\nA 3\nA x\n",
            "line 4: a score must be a number or None, got 'x'",
        ),
        ("human-scores/en-de.mqm.seg.score", "A 1\nA inf\n", "line 2: a score must be finite, as means .* got 'inf'"),
        ("metric-scores/en-de/QE-src.seg.score", "A -Infinity\n", "line 1: a score must be finite.* got '-Infinity'"),
        ("human-scores/en-de.mqm.seg.score", "A 1\n", "has 1 scores of system 'A', expected 4"),
        ("human-scores/en-de.mqm.seg.score", "", "holds no scores"),
        ("human-scores/en-de.mqm.seg.score", b"\xff\xfe\x00", "is not UTF-8 text"),
        ("documents/en-de.docs", "news\n", "en-de.docs, line 1: expected 'DOMAIN DOCUMENT'"),
        ("metric-scores/en-de/mqm.seg.score", "A 1\nA 1\nA 1\nA 1\n", "is the name of human scores and of a metric"),
    ],
)
def test_files_that_are_not_as_documented(folder, file, content, text):
    path = folder / "wmt99" / file
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=text):
        xsumstat.read_mtme(folder, "wmt99", "en-de")


def test_other_bad_files(folder):
    docs = folder / "wmt99/documents/en-de.docs"
    docs.write_text("news d1\nnews d2\nnews d1\nnews d3\n")
    with pytest.raises(ValueError, match="the segments of 'd1' do not follow each other"):
        xsumstat.read_mtme(folder, "wmt99", "en-de", granularity="doc")
    path = folder / "wmt99/human-scores/en-de.mqm.domain.score"
    for content, text in {"news A 1\nnews A 1\n": "is given twice", "sport A 1\n": "unknown domain 'sport'"}.items():
        path.write_text(content)
        with pytest.raises(ValueError, match=text):
            xsumstat.read_mtme(folder, "wmt99", "en-de", granularity="domain")
    docs.unlink()
    (folder / "wmt99/metric-scores/en-de/QE-src.seg.score").write_text("A 1\nA None\nA 1\nA 1\n")
    ds, said = read(folder)
    assert "document" not in ds.coords and ds.input.values.tolist() == [1, 2, 3, 4]
    assert any("no en-de.docs" in each for each in said)
    assert any("not all scores for metric 'QE-src' with system 'A'" in each for each in said)


@pytest.mark.parametrize("ending", ["txt", "jsonl"])
def test_references_are_recognised_as_text_and_as_json_lines(folder, ending):
    """The toolkit reads references/PAIR.NAME.txt and .jsonl, where each line has its "target"."""
    references = folder / "wmt99/references"
    for each in references.iterdir():
        each.unlink()
    (references / f"en-de.refB.{ending}").write_text('{"target": "a"}\n' * 4)
    (references / "en-de.A.txt~").write_text("")  # no reference, and neither is that of another pair
    (references / "en-de-x.A.txt").write_text("")
    assert read(folder)[0].system_type.values.tolist() == ["machine", "machine", "human"]
    (references / "en-de.A.jsonl").write_text("")
    assert read(folder)[0].system_type.values.tolist() == ["human", "machine", "human"]


def test_without_references_of_the_pair_no_system_is_called_a_machine(folder):
    for each in (folder / "wmt99/references").iterdir():
        each.rename(each.with_name(each.name.replace("en-de", "de-en")))
    assert "system_type" not in read(folder)[0].coords


def test_a_mark_of_byte_order_is_no_part_of_a_name(folder):
    path = folder / "wmt99/human-scores/en-de.mqm.sys.score"
    path.write_text(path.read_text(), encoding="utf-8-sig")
    ds = xsumstat.read_mtme(folder, "wmt99", "en-de", granularity="sys")
    assert ds.system.values.tolist() == ["A", "B", "refB"]


def test_pairs_are_no_patterns(folder):
    with pytest.raises(FileNotFoundError, match="holds no 'sys' scores"):
        xsumstat.read_mtme(folder, "wmt99", "en-[d]e", granularity="sys")


def labelled(**labels):
    """Two metrics, systems and inputs, that can be written but for the labels given."""
    coords = {
        "metric": ["h", "m-src"],
        "system": ["a", "b"],
        "input": [1, 2],
        "kind": ("metric", ["human", "automatic"]),
    }
    return xr.Dataset({"score": (("metric", "system", "input"), np.arange(8.0).reshape(2, 2, 2))}, {**coords, **labels})


@pytest.mark.parametrize(
    "labels, text",
    [
        ({"system": ["a", "b\0c"]}, "system 'b.x00c' cannot be written"),
        ({"system": ["a", "\ud800"]}, "system '.ud800' cannot be written: surrogates not allowed"),
        ({"metric": ["h", "\udfff-src"]}, "metric '.udfff-src' cannot be written"),
        ({"metric": ["h", "m\0-src"]}, "metric 'm.x00-src' cannot be written"),
        ({"metric": ["h", "m" * 250 + "-src"]}, "'m+-src.seg.score' has 264 bytes, and a file's name at most 255"),
        ({"metric": ["é" * 125, "m-src"]}, "has 266 bytes, and a file's name at most 255"),
        ({"metric": ["h", "../m-src"]}, "metric '../m-src' cannot be written"),
        ({"document": ("input", ["d", "d 2"])}, "document 'd 2' cannot be written"),
        ({"domain": ("input", ["x", ""])}, "domain '' cannot be written"),
        ({"system": np.array([1, "1"], dtype=object)}, "systems' names repeats '1'"),
    ],
)
def test_names_are_checked_before_the_first_file(tmp_path, labels, text):
    labelled().meta.to_mtme(tmp_path, "good", "en-de")
    with pytest.raises(ValueError, match=text):
        labelled(**labels).meta.to_mtme(tmp_path, "bad", "en-de")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good"]


def test_domains_are_told_apart_as_text(tmp_path):
    with pytest.raises(ValueError, match="inputs' names repeats '1'"):
        labelled(input=np.array([1, "1"], dtype=object)).meta.to_mtme(tmp_path, "bad", "en-de", granularity="domain")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("overwrite", [False, True])
def test_places_are_checked_before_the_first_file(tmp_path, overwrite):
    """A file where a folder is to be, a folder where a file is to be, a link to nowhere."""
    root = tmp_path / "set"
    for path, text, is_folder in (
        ("documents", "documents is a file, and is to be a folder", False),
        ("metric-scores", "metric-scores is a file, and is to be a folder", False),
        ("documents/en-de.docs", "has folders with the names of files: 'documents/en-de.docs'|overwrite=True", True),
    ):
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.mkdir() if is_folder else place.write_text("mine")
        with pytest.raises(FileExistsError, match=text):
            labelled().meta.to_mtme(tmp_path, "set", "en-de", overwrite=overwrite)
        assert not (root / "human-scores").exists()
        place.rmdir() if is_folder else place.unlink()
    (root / "documents/en-de.docs").symlink_to(tmp_path / "nowhere")
    if not overwrite:
        with pytest.raises(FileExistsError, match="overwrite=True"):
            labelled().meta.to_mtme(tmp_path, "set", "en-de")
        assert not (root / "human-scores").exists()


def test_a_document_of_two_domains_is_refused(folder):
    (folder / "wmt99/documents/en-de.docs").write_text("news d1\nsocial d1\nsocial d2\nnews d3\n")
    with pytest.raises(ValueError, match="the segments of 'd1' do not follow each other"):
        xsumstat.read_mtme(folder, "wmt99", "en-de", granularity="doc")


def test_nothing_there(folder):
    with pytest.raises(FileNotFoundError, match="no such folder.*test sets there: 'wmt99'"):
        xsumstat.read_mtme(folder, "wmt98", "en-de")
    with pytest.raises(
        FileNotFoundError, match="holds no 'seg' scores of 'fr-de'.*; language pairs there: 'de-en', 'en-de'"
    ):
        xsumstat.read_mtme(folder, "wmt99", "fr-de")
    with pytest.raises(ValueError, match="granularity must be one of"):
        xsumstat.read_mtme(folder, "wmt99", "en-de", granularity="segment")


def test_scores_come_back_to_the_last_digit(tmp_path):
    score = np.random.default_rng(5).normal(size=(2, 3, 4)) * np.array([1e-9, 1e9, 1.0])[:, None]
    score[0, 1, 2] = np.nan
    ds = dataset(score, kind=("metric", ["human", "automatic"]), reference=("metric", ["", "src"]))
    ds.meta.to_mtme(tmp_path, "set", "en-de")
    back = xsumstat.read_mtme(tmp_path, "set", "en-de")
    np.testing.assert_array_equal(back.score.values, score)
