"""What is offered of scores, of results and of frames; and names that nothing has."""

import copy
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import warns
from helpers import by_turns, for_each
from preference_cases import preferences

import xsumstat
from xsumstat import accessor
from xsumstat.analyses import intervals
from xsumstat.catalogue import ANALYSES
from xsumstat.core import method_synonyms, synonyms
from xsumstat.narrative import available

OF_SCORES = {
    *(
        "corr",
        "ci",
        "rank",
        "sentinels",
        "bias",
        "normality",
        "compare_metrics",
        "compare_groups",
        "perm_test",
        "boot_test",
        "corr_test",
        "equivalence",
        "margin_sensitivity",
    ),
    *("dominance", "metric_corr", "metric_ci", "pca", "disagreement", "improvement_consistency", "top_k", "top_k_corr"),
    *("close_corr", "scoring_range", "range_drop", "compare_systems", "discriminative_agreement", "input_effect"),
    *("system_means", "sample_inputs", "variance_components", "report", "to_frame", "to_mtme", "plot", "calibrate"),
    *("confusion", "missingness", "drift"),
}
OF_RESULTS = {"conclusion", "methods", "to_frame", "to_latex", "to_markdown", "to_html", "plot"}
OF_RATINGS = {"agreement", "human_ceiling", "alt_test", "majority_vote", "drop_noisiest_rater"}


def test_the_call_for_a_frame_tells_of_raters_and_directions():
    frame = pd.DataFrame({"model": ["a"], "doc": [1], "rouge_1": [0.5], "TER": [9.0], "ann_1": [3], "ann_2": [4]})
    called = "to_scores(system='model', input='doc', wide=True, ratings=['ann_1', 'ann_2'], lower_is_better=['TER'])"
    assert f"ds = df.meta.{called}" in repr(frame.meta)
    ds = frame.meta.to_scores(
        system="model", input="doc", wide=True, ratings=["ann_1", "ann_2"], lower_is_better=["TER"]
    )
    assert ds.score.metric.values.tolist() == ["rouge_1", "TER", "human"]
    assert "lower_is_better" not in repr(frame.drop(columns="TER").meta)


def methods_of(owner):
    return {name for name, value in vars(owner).items() if callable(value) and not name.startswith("_")}


@pytest.fixture(scope="module")
def rated():
    demo = xsumstat.load_dataset("demo")
    human = demo.score.sel(metric="human", drop=True)
    return demo.assign(rating=xr.concat([human, human + 1, human - 1], "rater"))


def test_scores_of_several_runs_list_how_well_these_agree(rated):
    assert "repeatability" in dir(rated.expand_dims(run=[1, 2]).meta) and "repeatability" not in dir(rated.meta)


@pytest.fixture(scope="module")
def correlated(rated):
    return rated.drop_vars("rating").meta.corr("human")


@pytest.fixture(scope="module")
def shapes(rated):
    return rated.meta.normality()


@pytest.fixture(scope="module")
def places(rated):
    """Something of each kind, by how one speaks of it."""
    return {
        "ds.meta": rated.meta,
        "ds.meta.plot": rated.meta.plot,
        "result.meta": rated.meta.corr_test("human").meta,
        "result.meta.plot": rated.meta.rank("human", n_resamples=19, rng=0).meta.plot,
        "xsumstat": xsumstat,
        "df.meta": pd.DataFrame().meta,
    }


def said(place, name):
    with pytest.raises(AttributeError) as caught:
        getattr(place, name)
    return str(caught.value)


def test_every_method_is_in_a_group():
    """One that is added and not offered is not found."""
    grouped = {name for names in available.QUESTIONS.values() for name in names}
    assert grouped | {*available.OF_TESTS, *available.OF_RESULTS, *available.OF_TASKS} == methods_of(
        accessor.DatasetMeta
    )
    drawn = {name for about in ANALYSES.values() for name in about.pictures}
    assert drawn | set(available.PICTURES) == methods_of(accessor.Plots)
    assert set(available.OF_FRAMES) == methods_of(accessor.FrameMeta)


def test_every_method_is_in_the_table_of_words():
    owners = (accessor.DatasetMeta, accessor.Plots, accessor.FrameMeta)
    public = {*xsumstat.__all__, *(name for owner in owners for name in methods_of(owner))}
    table = {each.partition("(")[0] for each in method_synonyms.METHODS}
    assert public <= table <= {*public, "repr", "plot"}


# --- What is listed ---


def test_scores_list_their_questions_and_pictures(demo, rated):
    assert set(dir(demo.meta)) == OF_SCORES
    assert set(dir(rated.meta)) == OF_SCORES | OF_RATINGS
    assert set(dir(demo.meta.plot)) == {"heatmap", "distribution", "scatter_matrix"}
    for name in (*dir(rated.meta), *dir(accessor.Plots(rated))):
        assert hasattr(rated.meta, name) or hasattr(rated.meta.plot, name)
    one = demo.sel(metric=["human"])
    assert set(dir(one.meta)) == OF_SCORES - set(available.QUESTIONS[available.AMONG])
    assert "majority_vote" not in repr(demo.meta) and "agreement, human_ceiling" in repr(rated.meta)


def test_lazy_scores_are_listed_too(rated):
    pytest.importorskip("dask")
    assert set(dir(rated.chunk().meta)) == OF_SCORES | OF_RATINGS


def test_results_list_what_they_can_be_asked(demo):
    assert set(dir(demo.meta.corr("human").meta)) == OF_RESULTS
    tests = demo.meta.corr_test("human").meta
    assert set(dir(tests)) == OF_RESULTS | {"adjust", "significant"} and dir(tests.plot) == ["pvalues"]
    assert set(dir(demo.meta.ci("human").meta.plot)) == {"forest", "bars"}
    assert dir(demo.meta.metric_corr().meta.plot) == ["matrix"]
    normality = demo.meta.normality().meta
    assert dir(normality.plot) == ["bars"] and "bars" in repr(normality)


def test_bars_draw_every_result_of_which_they_are_offered(demo):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    for result in (demo.meta.normality(), demo.meta.pca(), demo.meta.compare_systems(), demo.meta.corr("human")):
        assert "bars" in dir(result.meta.plot)
        result.meta.plot.bars()
    pyplot.close("all")


def test_what_is_neither_lists_nothing():
    neither = xr.Dataset({"a": ("model", [1.0])}).meta
    assert dir(neither) == [] and dir(neither.plot) == []
    assert said(neither, "bootstrap").endswith("the Dataset no scores: print(ds.meta) says what they need")
    unknown = xr.Dataset({"a": ("metric", [1.0])}, attrs={"analysis": "of a later version"}).meta
    assert set(dir(unknown)) == OF_RESULTS and dir(unknown.plot) == ["bars"]


def test_the_package_lists_its_functions():
    assert set(dir(xsumstat)) == {*xsumstat.__all__, "__version__"}


@pytest.mark.slow
def test_ipython_completes_what_is_listed(demo):
    pytest.importorskip("jedi")
    ipython = pytest.importorskip("IPython.core.completer")
    names = {"ds": demo, "result": demo.meta.corr("human"), "xsumstat": xsumstat, "df": pd.DataFrame()}
    completer = ipython.IPCompleter(namespace=names, use_jedi=True)

    def completed(text):
        with ipython.provisionalcompleter(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [each.text for each in completer.completions(text, len(text))]
        return {each for each in found if not each.startswith("_")}

    assert completed("ds.meta.") == OF_SCORES and completed("df.meta.") == {"to_scores", "to_preferences"}
    assert completed("result.meta.") == OF_RESULTS and completed("result.meta.plot.") == {"bars"}
    assert completed("xsumstat.") == set(xsumstat.__all__)
    assert "coefficient=" in completed("ds.meta.ci(coef") and "target=" in completed("xsumstat.plan(tar")


# --- Names that are not there ---


@pytest.mark.parametrize("right", by_turns(method_synonyms.METHODS))
def test_every_word_for_a_method_is_met_wherever_it_is_asked(places, right):
    name = right.partition("(")[0]
    for word in method_synonyms.METHODS[right]:
        rights = {
            each for each, words in method_synonyms.METHODS.items() if word in words or synonyms.spelt(each) == word
        }
        for place, obj in places.items():
            if hasattr(obj, word):  # as xsumstat.plots, or the picture top_k
                continue
            text = said(obj, word)
            assert text.startswith(f"{place} has no {word!r}; ")
            if "repr" in rights and place in ("xsumstat", "df.meta", "ds.meta.plot", "result.meta.plot"):
                continue
            assert any(
                re.search(rf"\b{re.escape(each)}(?!\w)", text.partition("did you mean")[2]) for each in rights
            ) or ("repr" in rights and "print(" in text)
        # What is offered here comes before what is asked elsewhere.
        if name in dir(places["ds.meta"]):
            suggested = said(places["ds.meta"], word).partition("did you mean ")[2]
            assert "xsumstat." not in suggested and "result." not in suggested


@pytest.mark.parametrize(
    "place, word, text",
    [
        ("ds.meta", "bootstrap", "did you mean ci or boot_test?"),
        ("ds.meta", "permutation_test", "did you mean perm_test?"),
        ("ds.meta", "correlation", "did you mean corr?"),
        ("ds.meta", "confidence_interval", "did you mean ci?"),
        ("ds.meta", "williams", "did you mean corr_test(method='williams')?"),
        ("ds.meta", "tost", "did you mean equivalence?"),
        ("ds.meta", "summary", "did you mean print(ds.meta) or to_frame?"),
        ("ds.meta", "krippendorff", "did you mean agreement?"),
        ("ds.meta", "compare_judges", "did you mean compare_metrics?"),
        ("ds.meta", "weighted_kappa", "did you mean ci(coefficient='weighted_kappa', level='global')?"),
        ("ds.meta", "scatter", "did you mean plot.scatter_matrix?"),
        ("ds.meta", "fdr", "did you mean result.meta.adjust('bh')?"),
        ("ds.meta", "simulate", "did you mean xsumstat.simulate?"),
        ("ds.meta", "perm_tets", "did you mean perm_test?"),
        ("ds.meta.plot", "bars2", "did you mean result.meta.plot.bars?"),
        ("ds.meta.plot", "box", "did you mean distribution?"),
        ("ds.meta.plot", "zzz", "available: heatmap, distribution, scatter_matrix"),
        ("result.meta", "fdr", "did you mean adjust('bh')?"),
        ("result.meta", "to_csv", "did you mean to_frame?"),
        (
            *("result.meta", "bootstrap"),
            "this is a result of corr_test; its methods: adjust, significant, conclusion, "
            "methods, to_frame, to_latex, to_markdown, to_html, plot.pvalues; "
            "did you mean ds.meta.ci or ds.meta.boot_test?",
        ),
        ("result.meta.plot", "ranking", "did you mean clusters?"),
        ("xsumstat", "permutation_test", "did you mean ds.meta.perm_test?"),
        ("xsumstat", "read_csv", "did you mean xsumstat.to_scores?"),
        ("xsumstat", "corr", "did you mean ds.meta.corr?"),
        ("xsumstat", "load", "did you mean xsumstat.load_dataset?"),
        ("df.meta", "from_csv", "did you mean df.meta.to_scores?"),
        ("df.meta", "corr", "did you mean ds.meta.corr?"),
        ("df.meta", "zzz", "available: to_scores, to_preferences"),
    ],
)
def test_a_name_that_is_not_there(places, place, word, text):
    assert said(places[place], word) == f"{place} has no {word!r}; {text}"


def test_what_others_look_for_is_quietly_not_there(places):
    for obj in places.values():
        for name in (
            "_repr_png_",
            "_ipython_display_",
            "_ipython_canary_method_should_not_exist_",
            "__array__",
            "nope",
        ):
            assert not hasattr(obj, name)
    for obj in (places["ds.meta"], places["result.meta.plot"]):
        for twin in (copy.copy(obj), copy.deepcopy(obj), pickle.loads(pickle.dumps(obj))):
            assert dir(twin) == dir(obj)
    assert "did you mean" not in said(places["ds.meta"], "_corr")


def test_a_picture_must_be_named(demo):
    with pytest.raises(TypeError, match=r"plot\(\) must name a picture; available: plot.bars\(\)$"):
        demo.meta.corr("human").meta.plot()
    assert repr(demo.meta.plot) == "<xsumstat pictures: heatmap, distribution, scatter_matrix>"


# --- Questions of the wrong thing ---

ARGUMENTS = {"top_k": (3,), "to_mtme": ("folder", "set", "en-de"), "equivalence": ("human",), "drift": ("judge",)}


@for_each("name", sorted((OF_SCORES | OF_RATINGS) - OF_RESULTS))
def test_a_question_to_scores_asked_of_a_result_says_what_this_is(correlated, name):
    pytest.importorskip("krippendorff")
    keywords = {"margin": 0.1} if name == "equivalence" else {"by": "judge"} if name == "top_k" else {}
    with pytest.raises(ValueError) as caught:
        getattr(correlated.meta, name)(*ARGUMENTS.get(name, ()), **keywords)
    asked = "conclusion, methods, to_frame, to_latex, to_markdown, to_html, plot.bars"
    assert str(caught.value) == f"{name}() needs scores, but this is a result of corr; its methods: {asked}"


def test_what_results_are_asked_says_so_of_scores(demo, correlated):
    for name in ("adjust", "significant"):
        with pytest.raises(
            ValueError,
            match=rf"^{name}\(\) needs a test's p-values, but this Dataset holds scores; call it on a result: .*\)$",
        ):
            getattr(demo.meta, name)()
        with pytest.raises(
            ValueError, match=rf"^{name}\(\) needs p-values, but this is a result of corr; its methods: [^()]*$"
        ):
            getattr(correlated.meta, name)()
    for name in ("methods", "to_latex", "to_markdown"):
        with pytest.raises(ValueError) as caught:
            getattr(demo.meta, name)()
        call = f"ds.meta.ci(...).meta.{name}()"
        want = f"{name}() needs a result, but this Dataset holds scores; call it on a result: {call}"
        assert str(caught.value) == want


@pytest.mark.parametrize("name", sorted(methods_of(accessor.Plots) - {"bars"}))
def test_a_picture_of_something_else_says_of_what_it_is(demo, shapes, name):
    pytest.importorskip("matplotlib")
    whose = {each for each, about in ANALYSES.items() if name in about.pictures}
    for about, text in ((demo, "this Dataset holds scores"), (shapes, "this is a result of normality")):
        if name in available.pictures(about):
            continue
        with pytest.raises(ValueError) as caught:
            getattr(about.meta.plot, name)()
        said = str(caught.value)
        assert said.startswith(f"plot.{name}() draws ") and text in said and all(each in said for each in whose)


def test_errors_of_a_question_that_applies_stay(demo):
    with pytest.raises(ValueError, match="^unknown gold 'humans'; did you mean 'human'"):
        demo.meta.corr("humans")
    with pytest.raises(ValueError, match="^the Dataset has no variable 'score'"):
        xr.Dataset().meta.corr("human")


def test_a_warning_is_of_the_line_that_asks(demo):
    with warns("few_systems") as caught:
        demo.isel(system=slice(3)).meta.corr("human")
    assert {each.filename for each in caught} == {__file__}
    assert pickle.loads(pickle.dumps(intervals.ci)) is intervals.ci


def test_within_a_question_the_keywords_are_those_of_the_one_that_was_asked(demo):
    """`rank` asks `perm_test`, which has `alternative`; it has not."""
    with pytest.raises(ValueError, match="level must be .* got 'two-sided'$"):
        demo.meta.rank("human", level="two-sided")
    with pytest.raises(ValueError, match="got 'two-sided'; did you mean alternative='two-sided'"):
        demo.meta.perm_test("human", level="two-sided")


# --- Frames ---

ROWS = {"a": ["x", "x", "y", "y"], "b": [1, 2, 1, 2]}
FRAMES = {
    "long": pd.DataFrame({"metric": "m", "system": ROWS["a"], "input": ROWS["b"], "score": np.arange(4.0)}),
    "other names": pd.DataFrame({"Metric": "m", "Model": ROWS["a"], "doc_id": ROWS["b"], "value": np.arange(4.0)}),
    "wide": pd.DataFrame({"model": ROWS["a"], "segment": ROWS["b"], "rouge": np.arange(4.0), "bleu": 1.0}),
    "raters": pd.concat(
        pd.DataFrame({"metric": "m", "system": ROWS["a"], "item": ROWS["b"], "score": 1.0, "annotator": each})
        for each in ("p", "q")
    ),
    "a rater each": pd.DataFrame(
        {"metric": "m", "sys": ROWS["a"], "id": ROWS["b"], "score": 1.0, "annotator": ["p", "q", "p", "q"]}
    ),
}
FRAMES["index"] = FRAMES["other names"].set_index(["Model", "doc_id"])


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_says_which_call_makes_scores_of_it(name):
    df = FRAMES[name]
    before = df.copy()
    text = repr(df.meta)
    call = re.search(r"ds = (df\.meta\.to_scores\(.*\))", text)[1]
    ds = eval(call, {"df": df})
    assert {"metric", "system", "input"} <= set(ds.score.dims) and not ds.score.isnull().all()
    assert ds.sizes["system"] == 2 and ds.sizes["input"] == 2
    assert ("rating" in ds) == ("rater" in name) and "annotator" not in ds.dims
    assert call.split("to_scores")[1] in df.meta._repr_html_().replace("&#x27;", "'")
    pd.testing.assert_frame_equal(df, before)


def test_the_call_for_a_frame_of_choices():
    frame = pd.DataFrame(
        {
            "model_a": ["x", "y"],
            "model_b": ["y", "x"],
            "winner": ["x", "tie"],
            "question_id": [1, 1],
            "judge": ["g"] * 2,
        }
    )
    said = "ds = df.meta.to_preferences(left='model_a', right='model_b', choice='winner', prompt='question_id', "
    assert f"{said}rater='judge')" in repr(frame.meta)
    call = re.search(r"ds = (df.meta.to_preferences.*)", repr(frame.meta))[1]
    assert eval(call, {"df": frame}).preference.notnull().sum() == 2
    by_two = pd.concat([frame, frame.assign(judge="ann")]).rename(columns={"judge": "rater"}).replace("g", "gpt")
    call = re.search(r"ds = (df.meta.to_preferences.*)", repr(by_two.meta))[1]
    assert "rater='rater', kind={'human': ['ann']})" in call
    assert eval(call, {"df": by_two}).kind.to_series().to_dict() == {"gpt": "judge", "ann": "human"}
    ours = frame.rename(columns={"model_a": "left", "model_b": "right", "winner": "choice", "question_id": "text"})
    assert "ds = df.meta.to_preferences(prompt=..., rater='judge')" in repr(ours.meta)


def test_a_frame_whose_columns_are_not_known_by_name_says_what_to_name():
    text = repr(pd.DataFrame({"<b>": ["x"], 3: [1.0]}).meta)
    assert "no column by its name" in text and "system=..., input=..., wide=True" in text
    assert "system=, the column of systems and input=, the column of inputs" in text
    assert "<b>" not in pd.DataFrame({"<b>": ["x"]}).meta._repr_html_()
    assert "to_scores" in repr(pd.DataFrame().meta) and dir(pd.DataFrame().meta) == ["to_preferences", "to_scores"]


# --- What does not apply ---


@pytest.fixture(scope="module")
def chosen():
    return preferences(1)


def refused(place, name):
    """What a method says that is asked of something else."""
    with pytest.raises(ValueError) as caught:
        getattr(place, name)()
    return str(caught.value)


def test_methods_of_others_say_what_this_dataset_holds(demo, chosen):
    for ds, held in ((demo, "scores"), (chosen, "preferences")):
        for name in available.OF_TASKS:
            told = f"{name}() needs a result of xsumstat.rank_tasks, but this Dataset holds {held}"
            assert available.misplaced(ds, name) == told
    told = available.misplaced(demo.meta.corr("human"), "ranks_by")
    assert told.startswith("ranks_by() needs a result of xsumstat.rank_tasks, but this is a result of corr; its")
    for name in (*available.OF_TESTS, *available.OF_RESULTS):
        told = available.misplaced(chosen, name)
        assert told.startswith(f"{name}() needs a result, but this Dataset holds preferences; its")
    for name in ("corr", "ci", "report"):
        told = f"{name}() needs scores, but this Dataset holds preferences; its"
        assert available.misplaced(chosen, name).startswith(told)
    for name in available.QUESTIONS[available.PREFERENCES]:
        told = f"{name}() needs preferences, but this Dataset holds scores; df.meta.to_preferences("
        assert available.misplaced(demo, name).startswith(told) and refused(demo.meta, name).startswith(told)
        assert name in dir(chosen.meta) and available.misplaced(chosen, name) is None
    assert available.misplaced(xr.Dataset(), "corr") is None and available.misplaced(xr.Dataset(), "ranks_by") is None


def test_pictures_of_others_say_what_they_draw(demo, chosen):
    rank = demo.meta.rank("human")
    assert available.misplaced_picture(rank, "clusters") is None and available.misplaced_picture(demo, "bars") is None
    drawn = {name for name, about in ANALYSES.items() if "clusters" in about.pictures}
    told = refused(demo.meta.plot, "clusters")
    assert told == available.misplaced_picture(demo, "clusters")
    assert all(f".{name}" in told for name in drawn) and "this Dataset holds scores; pictures of scores:" in told
    told = refused(rank.meta.plot, "heatmap")
    assert told.startswith("plot.heatmap() draws scores, but this is a result of rank;")
    for name in ("heatmap", "clusters"):
        assert available.misplaced_picture(chosen, name) is None


def test_columns_that_could_be_another_field_are_named():
    labels = {"model": list("aabb"), "system_name": list("cdcd"), "doc": range(4)}
    frame = pd.DataFrame({**labels, "bleu": [0.5, 0.6, 0.7, 0.8]})
    told = repr(frame.meta)
    assert "to_scores(system='system_name'" in told and "or system='model', if that names the systems" in told
    assert "if that names" not in repr(frame.drop(columns="model").meta)
    same = frame.assign(model=frame.system_name.str.upper())  # which name the same systems
    assert "if that names" not in repr(same.meta)


def test_a_frame_without_known_human_scores_asks_for_them():
    frame = pd.DataFrame(
        {"model": ["a", "a", "b", "b"], "prompt": [1, 2, 1, 2], "gpt": [1, 2, 3, 4], "dana": [1, 3, 2, 4]}
    )
    assert "human scores: add gold='...', or ratings=['...', '...']" in repr(frame.meta)
    assert "human scores: add" not in repr(frame.rename(columns={"dana": "human"}).meta)
    ds = frame.meta.to_scores(system="model", input="prompt", wide=True, ratings=["dana"])
    with pytest.raises(ValueError, match=r"'dana' is a rater: pass ds\['rating'\].sel\(rater='dana'\)"):
        ds.meta.ci("dana")
