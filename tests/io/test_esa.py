"""Error span annotations (ESA), in lines written by hand as Appraise and WMT's files have them."""

import json
import warnings

import numpy as np
import pytest

import xsumstat

NONE, TWO = (
    "[]",
    '"[{""start_i"":0,""end_i"":3,""severity"":""minor""},{""start_i"":""missing"",""severity"":""major""}]"',
)
# Account, system, line, type, languages, score, document, flag, errors, times.
CSV = f"""engces1,ende-tutorial1,1000001,TGT,eng,ces,0,ende-tutorial1,False,{NONE},1,2
engces1,A,6,TGT,eng,ces,98,test-en-news_x,False,{NONE},1,2
engces1,A,10,TGT,eng,ces,60,test-en-news_y,False,{TWO},1,2
engces2,A,6,TGT,eng,ces,91,test-en-news_x,False,{TWO},1,2
engces1,B,6,TGT,eng,ces,80,test-en-news_x,False,{NONE},1,2
engces2,B,10,TGT,eng,ces,70,test-en-news_y,False,{NONE},1,2
engces2,B,10,BAD,eng,ces,10,test-en-news_y#bad,False,{TWO},1,2
engces2,B,10,TGT,eng,ces,75,test-en-news_y#dup,False,{NONE},1,2
engces2,B,11,TGT,eng,ces,75,test-en-social_z#incomplete,False,{NONE},1,2
engjpn1,A,6,TGT,eng,jpn,50,test-en-news_x,False,{NONE},1,2
"""
WANT = {("A", 6, "engces1"): 98, ("A", 10, "engces1"): 60, ("A", 6, "engces2"): 91}
WANT |= {("B", 6, "engces1"): 80, ("B", 10, "engces2"): 70}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "esa_generalMT2024_wave0.csv"
    path.write_text(CSV)
    return path


def read(path, **keywords):
    with pytest.warns(UserWarning) as caught:
        ds = xsumstat.read_esa(path, **keywords)
    return ds, [str(each.message) for each in caught]


def ratings(ds):
    return {key: value for key, value in ds.rating.to_series().dropna().items()}


def test_annotations_of_appraise(file):
    ds, said = read(file, language_pair="en-cs")
    assert ratings(ds) == WANT
    assert ds.input.values.tolist() == [6, 10] and ds.document.values.tolist() == ["test-en-news_x", "test-en-news_y"]
    assert said == ["left out annotations: 1 of tutorials, 1 attention checks, 1 repeated, 1 of incomplete documents"]
    assert (ds.attrs["gold"], ds.attrs["language_pair"], ds.kind.item()) == ("esa", "en-cs", "human")
    score = ds.score.sel(metric="esa")
    assert score.to_series().to_dict() == {("A", 6): 94.5, ("A", 10): 60, ("B", 6): 80, ("B", 10): 70}
    assert ds.n_errors.to_series().to_dict() == {("A", 6): 1, ("A", 10): 2, ("B", 6): 0, ("B", 10): 0}


def test_accounts_of_one_annotator(file, tmp_path):
    mapping = {"Annotator01": ["engces1", "engces2"]}
    (tmp_path / "annotator_mapping.json").write_text(json.dumps(mapping))
    for annotators in (mapping, tmp_path / "annotator_mapping.json"):
        ds, said = read(file, language_pair="en-cs", annotators=annotators)
        assert ds.rater.values.tolist() == ["Annotator01"] and "averaged 1 annotation that repeat" in said[1]
        assert ratings(ds)["A", 6, "Annotator01"] == 94.5


def test_lines_of_2024_and_2025(tmp_path):
    flat = [
        {"langs": "en-cs", "line_id": line, "doc_id": f"d{line}", "domain": "news", "system": system, "annotator": who}
        | {"esa_score": str(score), "esa_spans": [{}] * (score < 90), "src": "s", "tgt": "t"}
        for (system, line, who), score in WANT.items()
    ]
    path = tmp_path / "wmt24_esa.jsonl"
    path.write_text("\n".join(map(json.dumps, flat)))
    ds = xsumstat.read_esa(path)
    assert ratings(ds) == WANT and ds.domain.values.tolist() == ["news", "news"]
    assert ds.n_errors.sel(system="B").values.tolist() == [1, 1]
    segments = [
        {"doc_id": "en-cs_CZ_#_news_#_doc", "scores": {"A": [{"score": 90, "annotator": "x", "errors": []}], "B": []}},
        {"doc_id": "en-cs_CZ_#_news_#_doc", "scores": {"B": {"human": 40.0, "annotator": "y", "errors": [{}, {}]}}},
    ]
    path = tmp_path / "wmt25-genmt-humeval.jsonl"
    path.write_text("\n".join(map(json.dumps, segments)))
    ds = xsumstat.read_esa(path)
    assert ratings(ds) == {("A", "doc:0", "x"): 90, ("B", "doc:1", "y"): 40}
    assert ds.attrs["language_pair"] == "en-cs_CZ" and ds.domain.values.tolist() == ["news", "news"]
    item = "en-cs_CZ_#_news_#_doc_#_1"
    (tmp_path / "wmt25.csv").write_text(f"engces401,B,{item},TGT,eng,ces,40,{item},False,[],1,2\n")
    ds = xsumstat.read_esa(tmp_path / "wmt25.csv")
    assert ratings(ds) == {("B", "doc:1", "engces401"): 40} and ds.attrs["language_pair"] == "en-cs_CZ"


@pytest.mark.parametrize(
    "content, keywords, message",
    [
        (CSV, {}, "language_pair must name one of 'en-cs', 'en-ja'"),
        (CSV, {"language_pair": "en-de"}, "unknown language_pair 'en-de'"),
        ("a,b\n", {}, r"esa.csv, line 1: expected the 12 fields of Appraise, got 2"),
        (CSV.replace(",98,", ",980,"), {}, r"esa.csv, line 2: a score must be between 0 and 100, got 980"),
        (CSV.replace(",98,", ",good,"), {}, r"line 2: a score must be a number, got 'good'"),
        (CSV.replace(NONE, "nothing"), {}, r"line 1: errors must be a list in JSON, got nothing"),
        ("", {}, "no annotation in 'esa.csv'"),
    ],
)
def test_what_is_refused(tmp_path, content, keywords, message):
    path = tmp_path / "esa.csv"
    path.write_text(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=message):
            xsumstat.read_esa(path, **keywords)


def test_other_files_are_refused(tmp_path):
    for name, content, message in (
        ("a.txt", "x", "path must be .csv or .jsonl files, got a.txt"),
        (
            "a.jsonl",
            '{"doc_id": "test-en-news_x_#_3", "scores": {}}',
            "does not name the language pair.*wmt24_esa.jsonl",
        ),
        ("b.jsonl", '{"doc": "x"}', "line 1: expected 'esa_score' and 'esa_spans', or 'scores' and 'doc_id'"),
        ("c.jsonl", '{"esa_score": 3, "langs": "en-cs"}', "line 1: missing 'line_id', 'doc_id', 'esa_spans'"),
    ):
        (tmp_path / name).write_text(content)
        with pytest.raises(ValueError, match=message):
            xsumstat.read_esa(tmp_path / name)
    with pytest.raises(FileNotFoundError, match="no such file"):
        xsumstat.read_esa(tmp_path / "none.csv")
    with pytest.raises(TypeError, match="annotators must map each annotator to a list of accounts, got 'a': 3"):
        xsumstat.read_esa(tmp_path / "a.txt", annotators={"a": 3})


def test_ceilings_and_components_can_be_asked(tmp_path):
    """Annotators that rate everything, with noise: the ceiling is each one's correlation with the others' mean."""
    rng = np.random.default_rng(0)
    quality = 60 + 8 * rng.normal(size=(6, 1)) + 8 * rng.normal(size=(6, 15))
    given = np.clip(np.round(quality[None] + 6 * rng.normal(size=(3, 6, 15))), 0, 100)
    lines = [
        f"acc{who},S{system},{line},TGT,eng,ces,{given[who, system, line]:g},d{line // 5},False,[],1,2"
        for who in range(3) for system in range(6) for line in range(15)
    ]  # fmt: skip
    path = tmp_path / "esa.csv"
    path.write_text("\n".join(lines))
    ds = xsumstat.read_esa(path)
    np.testing.assert_array_equal(ds.rating.transpose("rater", "system", "input"), given)
    judge = ds.score.sel(metric="esa", drop=True).rename("judge").to_dataframe()[["judge"]].reset_index()
    ds = xsumstat.add_metric(ds, judge)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        ceiling = ds.meta.human_ceiling("rating", metric="judge")
        parts = ds.meta.variance_components(metric=["judge"], rating="rating")
    means = given.mean(2)
    want = [np.corrcoef(means[at], np.delete(means, at, 0).mean(0))[0, 1] for at in range(3)]
    people = ceiling.by_rater.isel(metric=(ceiling.metric != "judge").values).values.ravel()
    assert sorted(people) == pytest.approx(sorted(want), abs=1e-12)
    assert "rater" in parts.effect.values
