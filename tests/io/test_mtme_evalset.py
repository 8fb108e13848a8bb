"""What `to_mtme` writes is opened by mt-metrics-eval's `EvalSet`, of which `tests/evalset_twin.py` is a twin."""

import numpy as np
import pytest
import xarray as xr
from evalset_twin import EvalSet, Refused

import xsumstat

SYSTEMS = ["A", "B.1", "refB"]
INPUTS = {"seg": 5, "doc": 3, "domain": 2, "sys": 1}
DOMAINS, DOCUMENTS = ["news", "news", "social", "social", "news"], ["d1", "d1", "d2", "d2", "d3"]
LABELS = {
    "seg": (range(1, 6), {"domain": DOMAINS, "document": DOCUMENTS}),
    "doc": (["d1", "d2", "d3"], {"domain": ["news", "social", "news"]}),
    "domain": (["social", "news"], {}),
    "sys": (["all"], {}),
}


def given(granularity="seg", *, seed=1, **labels):
    """Scores of two kinds of people, one with a gap, and of metrics with both references, one of them, and none."""
    inputs, beside = LABELS[granularity]
    score = np.random.default_rng(seed).normal(size=(5, 3, INPUTS[granularity]))
    score[0, 1, 0] = score[1, 2] = np.nan
    score[2:4, 2] = np.nan  # refB is a reference of the first two metrics
    metrics = ["mqm", "wmt.z", "COMET-22-refB", "X-refA.refB", "QE-src"]
    coords = {
        "metric": metrics,
        "system": SYSTEMS,
        "input": list(inputs),
        "kind": ("metric", ["human", "human"] + ["automatic"] * 3),
        "system_type": ("system", ["machine", "machine", "human"]),
        **{name: ("input", values) for name, values in beside.items()},
    }
    return xr.Dataset({"score": (("metric", "system", "input"), score)}, {**coords, **labels})


def opened(folder, **keywords):
    return EvalSet("set", "en-de", folder, **{"reference": "refB", "gold": {}, **keywords})


def files(folder):
    return {
        path.relative_to(folder / "set").as_posix(): path.read_text() for path in folder.rglob("*.*") if path.is_file()
    }


def assert_same(evalset, ds, granularity):
    order = sorted(LABELS["domain"][0]) if granularity == "domain" else ds.input.values
    score = ds.score.sel(input=order)
    assert set(evalset.scores[granularity]) == set(ds.metric.values)
    for metric, found in evalset.scores[granularity].items():
        for system, values in found.items():
            want = [
                None if value != value else value for value in score.sel(metric=metric, system=system).values.tolist()
            ]
            assert values == want


@pytest.mark.parametrize("granularity", LABELS)
def test_the_toolkit_opens_what_is_written(tmp_path, granularity):
    ds = given(granularity)
    ds.meta.to_mtme(tmp_path, "set", "en-de", granularity=granularity)
    evalset = opened(tmp_path, gold={granularity: "mqm"})
    assert_same(evalset, ds, granularity)
    assert (evalset.human, evalset.metrics) == ({"mqm", "wmt.z"}, {"COMET-22-refB", "X-refA.refB", "QE-src"})
    assert set(evalset.outputs) == set(SYSTEMS) and set(evalset.references) == {"refA", "refB"}
    assert evalset.sources == [None] * INPUTS[granularity]
    want = {"seg": DOMAINS, "doc": ["news", "social", "news"], "domain": ["social", "news"], "sys": ["all"]}
    assert evalset.domain_of == want[granularity]
    back = xsumstat.read_mtme(tmp_path, "set", "en-de", granularity=granularity)
    assert set(back.metric.values) == set(ds.metric.values) and back.system.values.tolist() == SYSTEMS
    read = back.score.sel(metric=ds.metric.values, input=ds.input.values)
    np.testing.assert_array_equal(read, ds.score)
    np.testing.assert_array_equal(back.system_type, ds.system_type)


def test_the_files_that_are_demanded(tmp_path):
    given().meta.to_mtme(tmp_path, "set", "en-de")
    found, absent = files(tmp_path), "[No translation supplied]\n" * 5
    assert set(found) == {
        "documents/en-de.docs",
        "sources/en-de.txt",
        "references/en-de.refA.txt",
        "references/en-de.refB.txt",
        *(f"system-outputs/en-de/{system}.txt" for system in SYSTEMS),
        "human-scores/en-de.mqm.seg.score",
        "human-scores/en-de.wmt.z.seg.score",
        *(f"metric-scores/en-de/{name}.seg.score" for name in ("COMET-22-refB", "X-refA.refB", "QE-src")),
    }
    assert {text for name, text in found.items() if name.startswith(("sou", "ref", "sys"))} == {absent}
    assert found["documents/en-de.docs"] == "news\td1\nnews\td1\nsocial\td2\nsocial\td2\nnews\td3\n"
    assert found["human-scores/en-de.mqm.seg.score"].splitlines()[5] == "B.1\tNone"


def test_each_file_is_demanded(tmp_path):
    """So is the twin: without any of the texts it refuses, and where a line is gone."""
    given().meta.to_mtme(tmp_path, "set", "en-de")
    for name, text in files(tmp_path).items():
        path = tmp_path / "set" / name
        path.write_text(text.partition("\n")[2])
        with pytest.raises(Refused):
            opened(tmp_path)
        if not name.startswith(("human", "metric")):
            path.unlink()
            with pytest.raises(Refused):
                opened(tmp_path, reference="refA")
        path.write_text(text)
    opened(tmp_path)


def test_all_levels_in_one_folder(tmp_path):
    for granularity in LABELS:
        given(granularity).meta.to_mtme(tmp_path, "set", "en-de", granularity=granularity)
    evalset = opened(tmp_path, gold=dict.fromkeys(LABELS, "mqm"))
    for granularity in LABELS:
        assert_same(evalset, given(granularity), granularity)


def test_segments_after_systems_replace_what_was_put_there_for_them(tmp_path):
    given("sys").meta.to_mtme(tmp_path, "set", "en-de", granularity="sys")
    before = files(tmp_path)
    with pytest.raises(FileExistsError, match="'documents/en-de.docs'; overwrite=True"):
        given().meta.to_mtme(tmp_path, "set", "en-de")
    assert files(tmp_path) == before
    given().meta.to_mtme(tmp_path, "set", "en-de", overwrite=True)
    assert len(opened(tmp_path, gold={"sys": "mqm", "seg": "mqm"}).sources) == 5


def test_scores_that_stay_must_fit_a_new_list_of_documents(tmp_path):
    for granularity in LABELS:
        given(granularity).meta.to_mtme(tmp_path, "set", "en-de", granularity=granularity)
    before = files(tmp_path)
    wrong = {
        "doc": {"document": ["d1", "d1", "d2", "d2", "d2"], "domain": ["news"] * 2 + ["social"] * 3},
        "domain": {"domain": ["news", "news", "sport", "sport", "news"]},
    }
    for level, labels in wrong.items():
        ds = given(**{name: ("input", values) for name, values in labels.items()})
        with pytest.raises(ValueError, match=f"{level}.score does not fit the new list of documents; move it away"):
            ds.meta.to_mtme(tmp_path, "set", "en-de", overwrite=True)
    with pytest.raises(ValueError, match="does not fit the new list"):
        given().isel(input=slice(4), metric=[1, 4]).meta.to_mtme(tmp_path, "set", "en-de", overwrite=True)
    assert files(tmp_path) == before
    given(domain=("input", ["social", "social", "news", "news", "news"])).meta.to_mtme(
        tmp_path, "set", "en-de", overwrite=True
    )
    assert opened(tmp_path).domain_of[0] == "social"


def test_texts_that_are_there_stay_and_must_fit(tmp_path):
    places = {
        "sources/en-de.txt": "a\nb\nc\nd\ne\n",
        "references/en-de.refB.jsonl": '{"target": "a"}\n' * 5,
        "system-outputs/en-de/A.txt": "1\n2\n3\n4\n5\n",
    }
    for name, text in places.items():
        path = tmp_path / "set" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    given().meta.to_mtme(tmp_path, "set", "en-de")
    given(seed=2).meta.to_mtme(tmp_path, "set", "en-de", overwrite=True)
    found = files(tmp_path)
    assert places.items() <= found.items() and "references/en-de.refB.txt" not in found
    assert opened(tmp_path).outputs["A"] == list("12345")
    for name in places:
        (tmp_path / "set" / name).write_text("a\nb\n")
        before = files(tmp_path)
        with pytest.raises(ValueError, match=f"{name} has 2 lines, and there are 5 segments"):
            given(seed=3).meta.to_mtme(tmp_path, "set", "en-de", overwrite=True)
        assert files(tmp_path) == before
        (tmp_path / "set" / name).write_text(places[name])


def test_texts_beside_the_scores_are_written(tmp_path):
    """`read_mqm` has them; line breaks become blanks, and "" is an output that is not there."""
    target = [[f"{system} {at}" for at in range(5)] for system in SYSTEMS]
    target[0][1], target[1][2] = "two\nlines\r\nhere ", ""
    ds = given().assign(source=("input", list("abcde")), target=(("system", "input"), target))
    given().meta.to_mtme(tmp_path, "set", "en-de")  # what stands there for texts takes no `overwrite` to replace
    for path in (tmp_path / "set").glob("*-scores/**/*.score"):
        path.unlink()
    ds.transpose("input", ...).meta.to_mtme(tmp_path, "set", "en-de")
    evalset = opened(tmp_path)
    assert evalset.sources == list("abcde")
    assert evalset.outputs == {
        "A": ["A 0", "two lines here", "A 2", "A 3", "A 4"],
        "B.1": ["B.1 0", "B.1 1", None, "B.1 3", "B.1 4"],
        "refB": target[2],
    }
    assert evalset.references == {"refA": [None] * 5, "refB": target[2]}
    other = ds.assign(source=("input", list("abcdX")))
    before = files(tmp_path)
    with pytest.raises(FileExistsError, match="'sources/en-de.txt'"):
        other.meta.to_mtme(tmp_path, "set", "en-de")
    assert files(tmp_path) == before
    other.meta.to_mtme(tmp_path, "set", "en-de", overwrite=True)
    assert opened(tmp_path).sources == list("abcdX")
    with pytest.raises(ValueError, match="source has a text that cannot be written: surrogates"):
        ds.assign(source=("input", ["\ud800", *"bcde"])).meta.to_mtme(tmp_path / "new", "set", "en-de")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("coords, want", [
    ({}, "all\tall\n" * 5),
    ({"domain": ("input", DOMAINS)}, "".join(f"{each}\t{at}\n" for at, each in enumerate(DOMAINS, 1))),
    ({"document": ("input", DOCUMENTS)}, "".join(f"all\t{each}\n" for each in DOCUMENTS)),
])  # fmt: skip
def test_documents_that_are_not_known(tmp_path, coords, want):
    ds = given().drop_vars(["domain", "document"]).assign_coords(coords)
    ds.meta.to_mtme(tmp_path, "set", "en-de")
    assert files(tmp_path)["documents/en-de.docs"] == want
    opened(tmp_path)


def test_a_list_of_documents_stays_where_the_scores_know_none(tmp_path):
    given().meta.to_mtme(tmp_path, "set", "en-de")
    given().drop_vars(["domain", "document"]).meta.to_mtme(tmp_path, "set", "en-de", overwrite=True)
    assert opened(tmp_path).documents == ["d1", "d2", "d3"]
    for granularity, wrong in {"doc": ["d1", "d3", "d2"], "domain": ["news", "sport"]}.items():
        with pytest.raises(ValueError, match="they must be the same"):
            given(granularity, input=wrong).meta.to_mtme(tmp_path, "set", "en-de", granularity=granularity)


def test_without_a_reference_one_is_added_and_all_are_meant_by_all(tmp_path):
    ds = given().isel(metric=[0, 4]).drop_vars("system_type")
    ds.meta.to_mtme(tmp_path, "set", "en-de")
    assert list(opened(tmp_path, reference="refA").references) == ["refA"]
    named = given().isel(metric=[0, 2, 3], drop=True).assign_coords(metric=["mqm", "COMET-refB", "X-all"])
    named.meta.to_mtme(tmp_path / "other", "set", "en-de")
    assert list(opened(tmp_path / "other").references) == ["refB"]


def test_where_the_toolkit_would_fill_in_zeros_is_told(tmp_path):
    ds = given()
    ds.score[4, 0] = np.nan
    with pytest.warns(UserWarning, match="no score of 'A' by metric 'QE-src': mt-metrics-eval reads 0 there"):
        ds.meta.to_mtme(tmp_path, "set", "en-de")
    with pytest.raises(Refused, match="no scores of A"):
        opened(tmp_path)
    assert opened(tmp_path, strict=False).scores["seg"]["QE-src"]["A"] == [0] * 5


def test_metrics_that_are_there_lack_the_systems_that_are_new(tmp_path):
    given().sel(system=["A", "refB"]).meta.to_mtme(tmp_path, "set", "en-de")
    new = given().isel(metric=[0, 4]).assign_coords(metric=["da", "New-src"])
    with pytest.warns(
        UserWarning, match="no score of 'B.1' by metrics 'COMET-22-refB', 'QE-src', 'X-refA.refB': mt-metrics"
    ):
        new.meta.to_mtme(tmp_path, "set", "en-de")
    with pytest.raises(Refused, match="no scores of B.1"):
        opened(tmp_path)


METRICS = ["mqm", "wmt.z", "COMET-22-refB", "X-refA.refB", "QE-src"]


@pytest.mark.parametrize("labels, text", [
    ({"system": ["A", "B\tC", "refB"]}, r"system 'B\\tC' cannot be written: names hold no blanks"),
    ({"system": ["A", "B\nC", "refB"]}, r"system 'B\\nC' cannot be written: names hold no blanks"),
    ({"system": ["A", "B/C", "refB"]}, "system 'B/C' cannot be written"),
    ({"system": ["A", ".B", "refB"]}, "system '.B' cannot be written: mt-metrics-eval does not see files"),
    ({"system": ["A", "B", "ref-B"]}, "system 'ref-B', whose system_type is 'human', cannot be written.*no '-'"),
    ({"system": ["A", "B" * 252, "refB"]}, "has 256 bytes, and a file's name at most 255"),
    ({"metric": [*METRICS[:4], ".QE-src"]}, "metric '.QE-src' cannot be written"),
    ({"metric": [*METRICS[:4], "QE-"]}, "metric 'QE-' cannot be written: '' is to name a reference"),
    ({"metric": [*METRICS[:4], "QE-refA.all"]}, "'all' is to name a reference"),
    ({"metric": [*METRICS[:4], "X-refB.refA"]}, "'X-refA.refB' and 'X-refB.refA' are one for mt-metrics-eval"),
    ({"reference": ("metric", ["", "", "", "", "ref-A"])}, "metric 'QE-src' cannot be written: 'ref-A' is to name"),
    ({"document": ("input", ["d1", "d2", "d1", "d3", "d3"])}, "cannot write documents 'd1', 'd3'.*sortby"),
    ({"document": ("input", ["d1", "d1", "d1", "d3", "d3"])}, "cannot write documents 'd1', 'd3'.*one domain"),
])  # fmt: skip
def test_names_that_the_toolkit_cannot_read_are_refused(tmp_path, labels, text):
    with pytest.raises(ValueError, match=text):
        given(**labels).meta.to_mtme(tmp_path, "set", "en-de")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("test_set, pair", [("set", "en.de"), ("set", "en-d*"), ("s[e]t", "en-de"), ("a/b", "en-de")])
def test_folders_and_pairs_are_no_patterns(tmp_path, test_set, pair):
    with pytest.raises(ValueError, match="(language_pair|test_set) (must hold no|'a/b' cannot be written)"):
        given().meta.to_mtme(tmp_path, test_set, pair)
    assert not list(tmp_path.iterdir())
