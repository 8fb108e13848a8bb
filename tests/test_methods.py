"""What was done, in words for a paper, and the literature that it cites."""

import re
import string

import numpy as np
import pytest
import xarray as xr
from dataset.test_results import ASKED, analysis_of, answer

from xsumstat import methods as written
from xsumstat.citations import REFERENCES
from xsumstat.dataset.variables import ANALYSES
from xsumstat.methods import AIMS, methods

QUESTIONS = [name for name in ASKED if not name.startswith("corr, ") and "analysis" in answer(name).attrs]
TABLES = (written._COEFFICIENTS, written._GIVEN, written._INTERVALS, written._TESTS, written._CORRECTIONS)


def cited_by_tables():
    return {key for table in TABLES for key in table.values()} | {"efron1993introduction", "deutsch2022reexamining"}


def test_every_analysis_says_what_was_done():
    # What simulate gives with `like`, and ci with `other`.
    assert set(AIMS) == set(ANALYSES) | {"simulate_like", "ci_of_differences"}


def test_every_key_has_an_entry_and_every_entry_is_cited():
    keys = {key for text in AIMS.values() for found in re.findall(r"\[([\w, ]+)\]", text) for key in found.split(", ")}
    assert keys | cited_by_tables() == set(REFERENCES)


@pytest.mark.parametrize("question", QUESTIONS)
def test_sentences_of_every_result(question, tmp_path):
    result = answer(question)
    text = methods(result)
    assert text.endswith(".") and 2 <= len(re.findall(r"\.(?= [A-Z]|$)", text)) <= 5
    assert not re.search(r"\bnan\b|None|[\[\]{}]|  |some with|\(\)|,,", text), text
    assert f"xsumstat {result.attrs['xsumstat_version']}" in text
    for key in ("seed", "n_trials"):
        assert key not in result.attrs or f"{result.attrs[key]}" in text
    pytest.importorskip("netCDF4")
    result.to_netcdf(tmp_path / "result.nc")
    assert methods(xr.load_dataset(tmp_path / "result.nc")) == text


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_a_sentence_takes_from_attrs_is_there(question):
    result = answer(question)
    fields = {name for _, name, _, _ in string.Formatter().parse(AIMS[analysis_of(result)]) if name}
    for name in fields - {"correlation", "errors", "n_tasks", "margin", "inputs", "helped", "whether", "slopes"}:
        assert name in result.attrs, name
    assert "margin" not in fields or "margin" in result.variables or "margin" in result.attrs


@pytest.mark.parametrize("key", REFERENCES)
def test_entries(key):
    reference = REFERENCES[key]
    entry = reference.bibtex(key)
    assert entry.count("{") == entry.count("}") and entry.startswith(f"@{reference.kind}{{{key},")
    first = reference.authors[0].partition(",")[0].lower()
    assert key.startswith(first) and str(reference.year) in key
    fields = dict(re.findall(r"^  (\w+) = \{(.*)\},$", entry, flags=re.M))
    assert fields["author"].count(" and ") == len(reference.authors) - 1 and fields["year"] == str(reference.year)
    assert all(", " in author for author in reference.authors)
    assert not reference.pages or re.fullmatch(r"\d+--\d+", reference.pages)
    assert not reference.doi or reference.doi.startswith("10.")


def test_short_names():
    assert REFERENCES["deutsch2021statistical"].short == "Deutsch et al., 2021"
    assert REFERENCES["efron1981jackknife"].short == "Efron & Stein, 1981"
    assert REFERENCES["holm1979simple"].short == "Holm, 1979"


def test_a_test_with_its_correction(demo):
    result = demo.meta.perm_test("human", level="input", n_resamples=199, rng=3, alternative="greater").meta.adjust(
        "bh"
    )
    text = result.meta.methods()
    assert "a permutation test over systems and inputs with 199 swaps, one-sided, corrected by" in text
    assert "(Benjamini & Hochberg, 1995)" in text and "seed 3" in text and "for 6 metrics" in text
    assert "not corrected" in demo.meta.corr_test("human").meta.methods()
    formula = result.assign_attrs(method="analytic")
    assert "a permutation test by formula over systems and inputs, one" in formula.meta.methods()
    assert "resamples" not in formula.meta.methods() and "swaps" not in formula.meta.methods()


def test_one_named_pair_is_one_test(demo):
    asked = {"level": "input", "n_resamples": 99, "rng": 3}
    one = demo.meta.perm_test("human", metric="judge", other="bleu", **asked)
    text = one.meta.methods()
    assert text.startswith("We tested whether the agreement of judge and bleu with human, by Pearson's r over")
    assert "The p-value comes from a permutation test over" in text and "99 swaps, two-sided. The" in text
    assert "not corrected" not in text and "for 2 metrics used" in text
    assert "Holm's method over all tests" in one.meta.adjust("holm").meta.methods()
    both = demo.meta.perm_test("human", metric=["judge", "bleu"], **asked)  # the same test from either side
    assert both.meta.methods() == text
    chosen = demo.meta.perm_test("human", **asked).sel(metric="judge", other_metric="bleu")
    assert "whether the agreement of judge and bleu with human" in chosen.meta.methods()
    directed = demo.meta.perm_test("human", metric=["judge", "bleu"], alternative="greater", **asked)
    assert "P-values come from" in directed.meta.methods() and "not corrected" in directed.meta.methods()


def test_pairs_of_some_with_others(demo):
    test = demo.meta.corr_test("human", metric="judge", other=["bleu", "length"])
    text = test.meta.methods()
    assert "for each pair of judge with bleu and length whether their agreement with human" in text
    assert "P-values come from" in text and "not corrected" in text and "for 3 metrics used" in text
    systems = demo.meta.compare_systems(metric="judge", system="extractor-1", other="extractor-2").meta.methods()
    assert systems.startswith("We tested whether the scores of extractor-1 and extractor-2 differ (")
    assert "The p-value comes from a paired t test, two-sided, at a level of .05." in systems
    both = demo.meta.compare_systems(metric=["judge", "bleu"], system="extractor-1", other="extractor-2")
    assert (
        "P-values come from paired t tests, two-sided, not corrected" in both.meta.methods()
    )  # a test for each metric
    bare = test.isel(metric=0, other_metric=0).drop_vars(["metric", "other_metric"])
    assert "for each pair of metrics whether their agreement with human" in bare.meta.methods()


def test_intervals_of_differences(demo):
    text = demo.meta.ci("human", metric=["judge", "bleu"], other="length").meta.methods()
    assert text.startswith("We estimated how much better each metric agrees with human than length, by Pearson's r")
    assert "for 3 metrics used" in text


def test_mean_scores_of_few_ratings(demo):
    few = demo.score.sel(metric="human").isel(input=slice(20))
    pooled = demo.meta.system_means(few, metric="judge").meta.methods()
    assert "with a slope pooled over systems (" in pooled
    assert "The 95 % intervals are confidence intervals by Student's t around the regression estimates." in pooled
    ridge = demo.meta.system_means(few, metric=["judge", "bleu"], method="ridge").meta.methods()
    assert "with a slope for each metric, by ridge regression (" in ridge and "pooled" not in ridge
    ds = demo.assign_coords(part=("input", ["a", "b"] * 15))
    assert ", within strata of part (" in ds.meta.system_means(few, metric="judge", strata="part").meta.methods()
    tests = demo.meta.compare_systems(gold=few, metric="judge", method="ppi").meta.methods()
    assert "intervals by Student's t around the differences of prediction-powered means." in tests
    assert "for 12 systems used" in tests and "1 metric" not in tests


def test_latex_and_entries(demo):
    odd = demo.assign_coords(metric=["human_50%", *demo.metric.values[1:]]).assign_attrs(gold="human_50%")
    text, *entries = odd.meta.ci(coefficient="kendall").meta.methods(bibtex=True).split("\n\n")
    assert r"human\_50\%" in text and r"95 \% intervals" in text and r"$\tau$-b" in text
    keys = [key for found in re.findall(r"\\citep\{([^}]*)\}", text) for key in found.split(",")]
    assert [re.match(r"@\w+\{(\w+),", entry)[1] for entry in entries] == keys and keys


def test_a_name_in_brackets_is_no_citation(demo):
    odd = demo.assign_coords(metric=["human [mean]", *demo.metric.values[1:]]).assign_attrs(gold="human [mean]")
    result = odd.meta.corr()
    assert "with human [mean], by" in result.meta.methods() and "human [mean]" in result.meta.methods(bibtex=True)


def test_what_is_no_result_is_refused(demo):
    for wrong in (demo, xr.Dataset({"a": ("x", np.zeros(2))}), demo.assign_attrs(analysis="no such")):
        with pytest.raises(ValueError, match="this is no result"):
            methods(wrong)
    with pytest.raises(TypeError, match="bibtex must be True or False, got 1"):
        demo.meta.corr("human").meta.methods(bibtex=1)


def test_pairwise_differences_are_of_systems_on_each_input(demo):
    said = demo.meta.corr("human", level="global", coefficient="pdp").meta.methods()
    assert "by pairwise difference Pearson (DiIanni & Deutsch, 2025) over the pairs of systems on each input" in said
