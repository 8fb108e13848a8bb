"""What was done, in words for a paper, and the literature that it cites."""

import re
import string
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from cases import IN_WORDS, analysis_of, answer, rounded, two_tasks
from helpers import for_each

import xsumstat
from xsumstat.catalogue import ANALYSES
from xsumstat.dataset import wording
from xsumstat.narrative import methods as written
from xsumstat.narrative.citations import REFERENCES
from xsumstat.narrative.methods import AIMS, methods

TABLES = (written._COEFFICIENTS, written._GIVEN, written._INTERVALS, written._TESTS, written._CORRECTIONS)


def cited_by_tables():
    return {key for table in TABLES for keys in table.values() for key in keys.split(", ")} | {
        *(
            "efron1993introduction",
            "deutsch2022reexamining",
            "barlow1972statistical",
            "kolen2014test",
            "shao1989general",
        ),
        *("fieller1954some", "fuller1987measurement", "carroll2006measurement"),  # of `bias`
    }


def test_every_analysis_says_what_was_done():
    # What simulate gives with `like`, ci with `other`, corr_test with `against`, plan with `difference`, of means and
    # with costs, raters who give classes, labels of single raters, and coverage in halves.
    plans = {"plan_of_differences", "plan_of_means", "plan_of_costs"}
    special = {"simulate_like", "ci_of_differences", "corr_test_of_value"}
    special |= {"human_ceiling_of_classes", "confusion_of_raters", "coverage_of_halves"}
    assert set(AIMS) == set(ANALYSES) | special | plans


def test_every_key_has_an_entry_and_every_entry_is_cited():
    keys = {key for text in AIMS.values() for found in re.findall(r"\[([\w, ]+)\]", text) for key in found.split(", ")}
    assert keys | cited_by_tables() == set(REFERENCES)


@for_each("question", IN_WORDS)
def test_sentences_of_every_result(question, tmp_path):
    result = answer(question)
    text = methods(result)
    assert text.endswith(".") and 2 <= len(re.findall(r"\.(?= [A-Z]|$)", text)) <= (8 if "by" in result.attrs else 6)
    assert not re.search(r"\bnan\b|None|[\[\]{}]|  |some with|\(\)|,,", text), text
    assert f"xsumstat {result.attrs['xsumstat_version']}" in text
    for key in ("seed", "n_trials"):
        assert key not in result.attrs or f"{result.attrs[key]}" in text
    pytest.importorskip("netCDF4")
    result.to_netcdf(tmp_path / "result.nc")
    assert methods(xr.load_dataset(tmp_path / "result.nc")) == text


@for_each("question", IN_WORDS)
def test_what_a_sentence_takes_from_attrs_is_there(question):
    result = answer(question)
    fields = {name for _, name, _, _ in string.Formatter().parse(AIMS[written._analysis(result)]) if name}
    made = {"correlation", "n_tasks", "margin", "inputs", "helped", "tested", "slopes", "sought", "others"}
    made |= {"task_label", "in_strata", "regression", "compared", "tests", "resamples", "best_by", "counted", "gaps"}
    assert "confidence" not in fields or "confidence_level" in result.attrs
    made |= {"n_trials"} if result.attrs.get("method") == "formula" else set()
    for name in fields - {*made, "confidence"}:
        assert name in result.attrs, name
    assert "margin" not in fields or "margin" in result.variables or "margin" in result.attrs


@for_each("key", REFERENCES)
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
    assert (
        "P-values come from a permutation test with 199 swaps of scores, one-sided, corrected by" in text
        and "; they apply to these 12 systems." in text
    )
    assert (
        "(Benjamini & Hochberg, 1995)" in text
        and "seed 3" in text
        and "for 6 metrics, 12 systems and 30 inputs used" in text
    )
    assert "not corrected" in demo.meta.corr_test("human").meta.methods()
    formula = result.assign_attrs(method="analytic")
    assert "P-values come from a permutation test by formula, one" in formula.meta.methods()
    assert "resamples" not in formula.meta.methods() and "swaps" not in formula.meta.methods()


def test_one_named_pair_is_one_test(demo):
    asked = {"level": "input", "n_resamples": 99, "rng": 3}
    one = demo.meta.perm_test("human", metric="judge", other="bleu", **asked)
    text = one.meta.methods()
    assert text.startswith(
        "We tested the difference between judge and bleu in agreement with the human scores, by Pearson's r over"
    )
    assert (
        "The p-value comes from a permutation test with" in text
        and "99 swaps of scores, two-sided, at a significance level of .05; it applies to these 12 systems. The" in text
    )
    assert "not corrected" not in text and "for 2 metrics, 12 systems and 30 inputs used" in text
    assert "Holm's method over all tests" in one.meta.adjust("holm").meta.methods()
    both = demo.meta.perm_test("human", metric=["judge", "bleu"], **asked)  # the same test from either side
    assert both.meta.methods() == text
    chosen = demo.meta.perm_test("human", **asked).sel(metric="judge", other_metric="bleu")
    assert "the difference between judge and bleu in agreement with the human scores" in chosen.meta.methods()
    directed = demo.meta.perm_test("human", metric=["judge", "bleu"], alternative="greater", **asked)
    assert "; they apply to these 12 systems." in directed.meta.methods() and "not corrected" in directed.meta.methods()


def test_pairs_of_some_with_others(demo):
    test = demo.meta.corr_test("human", metric="judge", other=["bleu", "length"])
    text = test.meta.methods()
    assert "for each pair of judge with bleu and length the difference in agreement with the human scores" in text
    assert (
        "P-values come from Williams' test" in text
        and "; they apply to systems like these on these 30 inputs." in text
        and "not corrected" in text
        and "for 3 metrics, 12 systems and 30 inputs used" in text
    )
    systems = demo.meta.compare_systems(metric="judge", system="extractor-1", other="extractor-2").meta.methods()
    assert systems.startswith("We tested whether the scores of extractor-1 and extractor-2 differ (")
    whom = "it applies to these 2 systems on inputs like these"
    assert f"The p-value comes from a paired t test, two-sided, at a significance level of .05; {whom}." in systems
    both = demo.meta.compare_systems(metric=["judge", "bleu"], system="extractor-1", other="extractor-2")
    assert (
        "P-values come from paired t tests, two-sided, not corrected" in both.meta.methods()
    )  # a test for each metric
    bare = test.isel(metric=0, other_metric=0).drop_vars(["metric", "other_metric"])
    assert "for each pair of metrics the difference in agreement with the human scores" in bare.meta.methods()


def test_intervals_of_differences(demo):
    text = demo.meta.ci("human", metric=["judge", "bleu"], other="length").meta.methods()
    assert text.startswith(
        "We estimated how much better each metric agrees with the human scores than length, by Pearson's r"
    )
    assert "for 3 metrics, 12 systems and 30 inputs used" in text


def test_mean_scores_of_few_ratings(demo):
    few = demo.score.sel(metric="human").isel(input=slice(20))
    pooled = demo.meta.system_means(few, metric="judge").meta.methods()
    assert "with a slope pooled over systems (" in pooled
    assert (
        "The 95 % intervals are confidence intervals by Student's t" in pooled
        and "; they apply to these 12 systems on inputs like these." in pooled
    )
    ridge = demo.meta.system_means(few, metric=["judge", "bleu"], method="ridge").meta.methods()
    assert "with a slope for each metric, by ridge regression (" in ridge and "pooled" not in ridge
    ds = demo.assign_coords(part=("input", ["a", "b"] * 15))
    assert ", within strata of part (" in ds.meta.system_means(few, metric="judge", strata="part").meta.methods()
    tests = demo.meta.compare_systems(gold=few, metric="judge", method="ppi").meta.methods()
    assert "intervals by Student's t around the differences of prediction-powered means; they apply to" in tests
    assert "for 12 systems and 30 inputs used" in tests and "1 metric" not in tests


def test_latex_and_entries(demo):
    odd = demo.assign_coords(metric=["human_50%", *demo.metric.values[1:]]).assign_attrs(gold="human_50%")
    text, *entries = odd.meta.ci(coefficient="kendall").meta.methods(bibtex=True).split("\n\n")
    assert r"human\_50\%" in text and r"95 \% intervals" in text and r"$\tau$-b" in text
    keys = [key for found in re.findall(r"\\citep\{([^}]*)\}", text) for key in found.split(",")]
    assert [re.match(r"@\w+\{(\w+),", entry)[1] for entry in entries] == keys and keys
    assert keys[-1] == "xsumstat" and f"note = {{Version {xsumstat.__version__}}}" in entries[-1]
    page = (Path(__file__).parents[2] / "docs" / "cite.md").read_text("utf-8")
    assert f"```bibtex\n{entries[-1]}\n```" in page


def test_a_name_in_brackets_is_no_citation(demo):
    odd = demo.assign_coords(metric=["human [mean]", *demo.metric.values[1:]]).assign_attrs(gold="human [mean]")
    result = odd.meta.corr()
    assert "with 'human [mean]', by" in result.meta.methods() and "human [mean]" in result.meta.methods(bibtex=True)


def test_what_is_no_result_is_refused(demo):
    for wrong in (demo, xr.Dataset({"a": ("x", np.zeros(2))}), demo.assign_attrs(analysis="no such")):
        with pytest.raises(ValueError, match="not an xsumstat result|describes an xsumstat result"):
            methods(wrong)
    with pytest.raises(TypeError, match="bibtex must be True or False, got 1"):
        demo.meta.corr("human").meta.methods(bibtex=1)


def test_pairwise_differences_are_of_systems_on_each_input(demo):
    said = demo.meta.corr("human", level="global", coefficient="pdp").meta.methods()
    assert "by pairwise difference Pearson (DiIanni & Deutsch, 2025) over the pairs of systems on each input" in said


# Their designs have other sizes than the scores, or tasks of several sizes.
OTHER_SIZES = (
    *("coverage", "power", "plan", "rank_tasks", "ranks_by", "rank_stability", "simulate"),
    *("position_bias", "preference_agreement", "preference_bias", "rank_systems"),
)


def test_systems_and_inputs_are_counted():
    """The scores of these questions have 8 systems on 6 inputs."""
    asked = [question for question in IN_WORDS if analysis_of(answer(question)) not in OTHER_SIZES]
    assert len(asked) > 80
    for question in asked:
        result = answer(question)
        sizes = [result.attrs[f"n_{dim}s"] for dim in ("system", "input")]
        assert all(type(size) is int for size in sizes) and sizes == [8, 6], question
        both = re.escape(f"{sizes[0]} systems") + "( and|,) " + re.escape(f"{sizes[1]} inputs")
        assert re.search(rf"{both}( and 3 raters)? used xsumstat", methods(result)), question


def test_what_was_left_out_is_not_counted(demo):
    gold = demo.score.sel(metric="human", drop=True).copy()
    gold[2] = gold[:, :4] = np.nan
    ds = demo.assign(rated=gold.isel(system=slice(1, None)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = [
            ds.meta.ci("rated", metric=["judge", "bleu"]),
            ds.meta.perm_test("rated", metric=["judge", "bleu"], n_resamples=19, rng=1),
            ds.meta.rank("rated", metric=["judge", "bleu"], n_resamples=19, rng=1),
            ds.meta.bias("rated", metric=["judge", "bleu"], given="length"),
            ds.meta.corr("rated", metric=["judge", "bleu"], by="system_type"),
        ]
    for result in found:
        assert (result.attrs["n_systems"], result.attrs["n_inputs"]) == (10, 26)
        assert "10 systems and 26 inputs used" in methods(result)
    alone = demo.assign(score=demo.score.where(demo.system != demo.system[0]))
    assert ", 11 systems and 30 inputs used" in alone.meta.normality().meta.methods()


def test_sizes_of_two_systems_of_groups_of_labels_and_of_lazy_scores(demo):
    two = demo.meta.compare_systems(metric="judge", system="extractor-1", other="extractor-2")
    assert "for 1 metric, 2 systems and 30 inputs used" in methods(two)
    languages = xr.concat([demo.score, demo.score.isel(system=slice(8))], "language", join="outer")
    ds = demo.drop_vars("score").assign(score=languages.assign_coords(language=["en", "de"]))
    pooled = ds.meta.corr("human", coefficient="pairwise_accuracy", pool="language")
    turned = ds.isel(language=[1, 0]).meta.corr("human", coefficient="pairwise_accuracy", pool="language")
    each = ds.meta.corr("human")
    for result in (pooled, turned, each):
        assert (result.attrs["n_systems"], result.attrs["n_inputs"]) == (12, 30)
    pytest.importorskip("dask")
    lazy = demo.chunk().meta.ci("human")
    assert lazy.attrs == demo.meta.ci("human").attrs and "12 systems and 30 inputs used" in methods(lazy)


def test_the_level_of_tests_is_said_as_it_decides():
    """Where `conclusion` decides at a level, `methods` says the same."""
    tested = [question for question in IN_WORDS if wording.has_tests(answer(question))]
    assert len(tested) > 30
    for question in tested:
        result = answer(question)
        level = re.search(r"at a significance level of (\.\d+)[.;]", methods(result))
        if analysis_of(result) in ("corr", "metric_corr"):
            assert level is None, question
            continue
        alpha = result.attrs.get("alpha", 1 - result.attrs["confidence_level"] if "input_effect" in question else 0.05)
        assert float(level[1]) == pytest.approx(alpha), question


def test_levels_are_said_with_all_their_digits(demo):
    for alpha, text in ((0.05, ".05"), (0.025, ".025"), (0.001, ".001"), (0.0005, ".0005"), (0.1, ".10")):
        found = demo.meta.compare_systems(metric="judge", alpha=alpha)
        assert f"at a significance level of {text};" in methods(found)
        assert f"alpha {text})" in found.meta.conclusion()
    margin = demo.meta.equivalence("human", metric="rouge", other="bleu", margin=0.125, n_resamples=99, rng=1)
    assert "apart by less than .125 (" in methods(margin) and "within ±.125" in margin.meta.conclusion()
    assert wording.setting(0.1 + 0.2) == ".30" and wording.setting(1 / 3) == ".3333" and wording.setting(2) == "2.00"


def test_confidence_of_what_is_decided_by_intervals(demo):
    found = demo.meta.discriminative_agreement("human", confidence_level=0.9, n_resamples=19, rng=1)
    assert "with a win in 90 % of them" in methods(found)
    effect = demo.meta.input_effect(metric="judge", confidence_level=0.9)
    assert "at a significance level of .10;" in methods(effect)


# --- Questions that have several answers ---


def grades_by_raters():
    """Two grades by three raters and by a judge."""
    rng = np.random.default_rng(0)
    grade = rng.integers(0, 2, (3, 4, 20)).astype(float)
    labels = {"rater": list("xyz"), "system": list("abcd"), "input": np.arange(20), "metric": ["judge"]}
    data = {"rating": (("rater", "system", "input"), grade), "score": (("metric", "system", "input"), grade[:1])}
    return xr.Dataset(data, labels)


@pytest.mark.filterwarnings("ignore")
def test_raters_who_give_classes_and_labels_of_single_raters_have_sentences_of_their_own():
    ds = grades_by_raters()
    single = ds.meta.confusion("rating", along="rater")
    assert "by the label of each single rater." in methods(single)
    majority = ds.assign(gold=ds.rating[0]).drop_vars("rating").meta.confusion("gold")
    assert "single rater" not in methods(majority)
    classes = ds.meta.human_ceiling("rating", coefficient="kappa", level="global")
    values = ds.meta.human_ceiling("rating", coefficient="pearson", level="global")
    assert "averaged over pairs of raters" in methods(classes) and "pairs of raters" not in methods(values)


@pytest.mark.filterwarnings("ignore")
def test_plans_by_formula_say_nothing_of_trials():
    demo = xsumstat.load_dataset("demo")
    simulated = xsumstat.plan(demo, "human", metric="judge", level="input", n_inputs=[20], n_trials=2, rng=0)
    assert "n_trials" in simulated.attrs and "in 2 trials with scores" in methods(simulated)
    for found in (
        xsumstat.plan(demo, "human", difference=[2.0], n_inputs=[20]),
        xsumstat.plan(demo, "human", estimand="mean", budget=100),
        xsumstat.plan(demo, "human", estimand="mean", n_inputs=[20]),
    ):
        assert "n_trials" not in found.attrs and "trial" not in methods(found) and "some" not in methods(found)


@pytest.mark.filterwarnings("ignore")
def test_several_results_share_their_sentences_and_leave_out_the_software():
    demo = xsumstat.load_dataset("demo")
    one, other = (demo.meta.ci("human", metric=name, level="input") for name in ("judge", "bleu"))
    test = demo.meta.compare_metrics("human", metric="judge", other="bleu", level="input")
    estimates, tests = written.together([one, test, other])
    assert "used xsumstat" not in estimates + tests
    assert methods(one).startswith(estimates) and methods(test).startswith(tests)  # what both share, once
    assert written.together([one]) == [estimates] and written.together([test]) == [tests]
    apart = written.together([one, demo.meta.ci("human", metric="bleu", level="global")])
    assert len(apart) == 1 and "within each input" in apart[0] and "over all outputs" in apart[0]


def test_intervals_that_there_are_none_of_are_not_described():
    found = answer("metric_ci")
    assert ", with confidence intervals" in methods(found) and "The 95 % intervals" in methods(found)
    without = methods(found.assign(ci_low=found.ci_low * np.nan, ci_high=found.ci_high * np.nan))
    assert "intervals" not in without and "We correlated the scores of each pair of metrics" in without


@pytest.mark.parametrize(
    ("alternative", "side"), [("two-sided", "two-sided"), ("greater", "one-sided"), ("less", "one-sided")]
)
def test_one_sided_tests_are_said_to_be(alternative, side):
    found = answer("compare_metrics, system").assign_attrs(alternative=alternative)
    other = {"two-sided", "one-sided"} - {side}
    assert f", {side}" in methods(found) and other.pop() not in methods(found)


@pytest.mark.parametrize(("target", "told"), [("these", "the inputs that were scored"), ("new", "inputs like these")])
def test_means_are_those_of_these_inputs_or_of_inputs_like_these(target, told):
    found = answer("system_means").assign_attrs(target=target)
    aim = methods(found).partition(". ")[0]
    assert told in aim
    assert ("the inputs that were scored" in aim) == (target == "these")


def test_tasks_are_counted_in_the_methods():
    found = two_tasks(rounded(3))
    tasks = found.sizes["task"]
    assert tasks > 1 and f"by their average score over {tasks} tasks," in methods(found)
    assert "by their average score over one task," in methods(found.isel(task=[0]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("systems", [12, 2])
def test_inputs_without_a_correlation_are_counted(systems):
    ds = xsumstat.load_dataset("demo").isel(system=slice(systems))
    score = ds.score.copy()
    score.loc[{"metric": "human", "input": ds.input.values[:3]}] = 50.0
    score.loc[{"metric": "bleu", "input": ds.input.values[2:7]}] = 1.0
    ds = ds.assign(score=score)
    values = score.transpose("metric", "system", "input")
    flat = (values.max("system") == values.min("system")).to_pandas()
    each = {name: int((flat.loc[name] | flat.loc["human"]).sum()) for name in ("judge", "bleu")}
    assert each == {"judge": 3, "bleu": 7}
    for name, told in (("judge", "3 inputs"), ("bleu", "7 inputs"), (["judge", "bleu"], "3 to 7 inputs")):
        said = methods(ds.meta.corr("human", metric=name, level="input"))
        assert f"A metric's average leaves out {told} on which its scores or the human scores are constant." in said
    for other in ({"level": "system"}, {"level": "input", "undefined": "zero"}):
        if systems > 2:
            assert "leaves out" not in methods(ds.meta.corr("human", metric="judge", **other))


def test_single_correlations_are_not_averaged():
    demo = xsumstat.load_dataset("demo")
    assert ", averaged over inputs" in methods(demo.meta.corr("human", level="input"))
    assert "averaged" not in methods(demo.meta.corr("human", level="input", average=False))
    assert "averaged" not in methods(demo.meta.corr("human", level="within_system", average=False))
