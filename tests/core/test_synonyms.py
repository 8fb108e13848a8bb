"""Words that users try first, each met with the right one: the table whole, from the accessor and from the function."""

import functools
import inspect
import re

import pandas as pd
import pytest
import scipy.stats
import xarray as xr
from helpers import by_turns

import xsumstat
from xsumstat import accessor
from xsumstat.core import method_synonyms, synonyms
from xsumstat.inference import corrections, two_correlations

# What each function of another library, or paper, calls it.
KEYWORDS = {
    "ci": {
        "seed": "rng=",
        "random_state": "rng=",
        "alpha": "confidence_level=",
        "confidence": "confidence_level=",
        "ci": "confidence_level=",
        "conf_level": "confidence_level=",
        "n_boot": "n_resamples=",
        "n_bootstrap": "n_resamples=",
        "nboot": "n_resamples=",
        "B": "n_resamples=",
        "R": "n_resamples=",
        "n_iter": "n_resamples=",
        "n_samples": "n_resamples=",
        "corr_type": "coefficient=",
        "measure": "coefficient=",
        "granularity": "level=",
        "verbose": "progress=",
        "nan_policy": "missing=",
        "human": "gold=",
        "y": "gold=",
        "metrics": "metric=",
        "n_resample": "n_resamples=",
        "confidenceLevel": "confidence_level=",
    },
    "corr": {"statistic": "coefficient=", "groupby": "by=", "average_by": "level=", "target": "gold="},
    "perm_test": {
        "correction": "adjust=",
        "multitest": "adjust=",
        "tail": "alternative=",
        "n_permutations": "n_resamples=",
    },
    "rank": {"confidence_level": "alpha=", "p_adjust": "adjust="},
    "adjust": {"correction": "method=", "family": "within="},
    "agreement": {"level_of_measurement": "measurement=", "reliability_data": "rating="},
    "equivalence": {"epsilon": "margin=", "delta": "margin="},
    "top_k": {"metric": "by=", "n": "k="},
    "alt_test": {"scoring_function": "alignment=", "epsilon": "margin="},
    "to_scores": {"aggfunc": "aggregate=", "model": "system=", "doc": "input="},
    "forest": {"axes": "ax=", "color": "hue="},
}
BY_VALUE = {
    "corr": {
        "method": {
            "kendall": "coefficient='kendall'",
            "spearmanr": "coefficient='spearman'",
            "segment": "level='input'",
        },
        "corr_type": {"tau": "coefficient='kendall'"},
        "kendall": {True: "coefficient='kendall'"},
    },
    "ci": {"alpha": {0.05: "confidence_level=0.95"}, "kind": {"bca": "interval='bca'"}},
    "rank": {"confidence_level": {0.9: "alpha=0.1"}},
    "perm_test": {"tail": {"larger": "alternative='greater'"}, "correction": {"fdr_bh": "adjust='bh'"}},
}
PLACES = {
    accessor.DatasetMeta: xr.Dataset().meta,
    accessor.Plots: xr.Dataset().meta.plot,
    accessor.FrameMeta: pd.DataFrame().meta,
}
METHODS = [
    (owner, name)
    for owner in PLACES
    for name, value in vars(owner).items()
    if callable(value) and not name.startswith("_")
]
PUBLIC = [*METHODS, *((xsumstat, name) for name in xsumstat.__all__)]


def keywords_of(function):
    names = list(inspect.signature(function).parameters)
    return [name for name in names if name not in ("self", "ds", "result", "frame")]


def said(question, *args, **kwargs):
    with pytest.raises(TypeError) as caught:
        question(*args, **kwargs)
    return str(caught.value)


def bound(name):
    """The method or function of that name, asked of nothing; of two, as `top_k` and its picture, the method."""
    owner = next(owner for owner, each in PUBLIC if each == name)
    return getattr(PLACES.get(owner, owner), name)


@pytest.mark.parametrize("owner, name", by_turns(PUBLIC))
def test_every_word_of_the_table_is_met_on_every_function_that_has_its_keyword(owner, name):
    """From the accessor and from the function, in the same words; only what the function has is suggested.

    Of words for keywords that it has not, each function meets a tenth, and each word is met by several functions.
    """
    method = getattr(owner, name)
    keywords = keywords_of(method)
    asked = getattr(PLACES.get(owner, owner), name)
    function = method.__wrapped__ if owner in PLACES else method
    tables = (synonyms.KEYWORDS_OF.get(name, {}), synonyms.KEYWORDS)
    words = dict.fromkeys(word for table in tables for each in table.values() for word in each)
    own = set(map(synonyms.spelt, keywords))
    for at, word in enumerate([each for each in words if each not in own], PUBLIC.index((owner, name))):
        right = [keyword for table in tables for keyword, others in table.items() if word in others]
        right = [each for each in right if each in keywords]
        if not right and at % 10:
            continue
        text = said(asked, **{word: None})
        assert text.startswith(f"{name}() has no keyword {word!r}; ")
        if at % 10 == 0:
            assert text == said(function, **{word: None})
        if right:
            assert text.endswith(f"; did you mean {right[0]}=?")
        for suggested in re.findall(r"mean (\w+)=", text):
            assert suggested in keywords


@pytest.mark.parametrize("name", KEYWORDS)
def test_words_of_other_libraries(name):
    for word, right in KEYWORDS[name].items():
        assert said(bound(name), **{word: None}) == f"{name}() has no keyword {word!r}; did you mean {right}?"


@pytest.mark.parametrize("name", BY_VALUE)
def test_a_value_says_which_keyword_is_meant(name):
    for word, values in BY_VALUE[name].items():
        for value, right in values.items():
            text = said(bound(name), **{word: value})
            assert text == f"{name}() has no keyword {word!r}; did you mean {right}?"


def test_a_keyword_is_suggested_that_takes_such_a_value():
    """A list is no gold: `labels=` of two metrics once was met with "did you mean gold=?"."""
    for name in ("ci", "corr", "perm_test", "rank", "metric_corr", "disagreement", "alt_test", "forest"):
        for several in (["a"], ("a", "b")):
            assert said(bound(name), labels=several) == f"{name}() has no keyword 'labels'; did you mean metric=?"
    assert said(bound("ci"), labels="human").endswith("did you mean gold=?")
    assert said(bound("ci"), labels=xr.DataArray([1.0])).endswith("did you mean gold=?")
    assert said(bound("perm_test"), against=["bleu", "rouge"]).endswith("did you mean other=?")
    assert said(bound("perm_test"), against="human").endswith("did you mean gold=?")


def test_a_word_that_is_a_value_elsewhere_is_meant_so_only_where_it_is_switched_on():
    """`kendall=True` is a coefficient; `system=["a"]` is no level, and `lower=["ter"]` no alternative."""
    assert said(bound("ci"), kendall=True).endswith("did you mean coefficient='kendall'?")
    for name, word in (("ci", "system"), ("ci", "models"), ("perm_test", "lower"), ("perm_test", "scores")):
        assert "did you mean" not in said(bound(name), **{word: ["a"]})


def test_what_one_word_alone_means_is_suggested_for_any_value():
    """The value is refused next, by a message about that keyword."""
    assert said(bound("ci"), human=["a", "b"]).endswith("did you mean gold=?")
    assert said(bound("ci"), n_boot=[99]).endswith("did you mean n_resamples=?")


@pytest.mark.parametrize(
    "name, word",
    [("scoring_range", "label"), ("alt_test", "target"), ("to_latex", "weights"), ("system_means", "data")],
)
def test_a_word_that_is_merely_somewhat_like_a_keyword_is_no_slip(name, word):
    """Label is no "above", target no "test", weights no "digits", data no "strata"."""
    assert not re.search(r"mean (above|test|digits|strata)=", said(bound(name), **{word: ["a"]}))


@pytest.mark.parametrize("name", ["ci", "perm_test", "rank", "equivalence"])
def test_slips_of_the_pen_are_still_met(name):
    for keyword in ("coefficient", "level", "metric", "gold", "missing", "progress"):
        for at in range(1, len(keyword)):  # a letter left out, or two exchanged
            for slip in (
                keyword[:at] + keyword[at + 1 :],
                keyword[: at - 1] + keyword[at] + keyword[at - 1] + keyword[at + 1 :],
            ):
                if slip != keyword and slip not in ("lvel", "glod"):
                    assert f"mean {keyword}=" in said(bound(name), **{slip: None}), slip


def test_a_keyword_that_is_like_none_gets_the_list_of_all():
    text = said(xr.Dataset().meta.normality, xyz=1)
    assert text == "normality() has no keyword 'xyz'; keywords: metric, level, alpha"
    assert said(xr.Dataset().meta.conclusion, xyz=1) == "conclusion() has no keyword 'xyz'; it takes no keywords"


def test_what_there_is_in_place_of_a_keyword_that_no_function_has():
    for text, words in synonyms.NO_KEYWORD.items():
        for word in words:
            assert said(xr.Dataset().meta.ci, **{word: 2}) == f"ci() has no keyword {word!r}; {text}"
    for text, words in synonyms.NO_KEYWORD_OF_PICTURES.items():
        for word in words:
            assert said(xr.Dataset().meta.plot.heatmap, **{word: 2}).endswith(text)
            assert text not in said(xr.Dataset().meta.ci, **{word: 2})


@pytest.mark.parametrize(
    "name, args, right",
    [
        ("corr", ("human", "kendall"), "coefficient='kendall'"),
        ("corr", ("human", "tau"), "coefficient='kendall'"),
        ("corr", ("human", "segment"), "level='input'"),
        ("corr", ("human", "judge"), "metric='judge'"),
        ("corr", ("human", ["judge"]), "metric=['judge']"),
        ("ci", ("human", 1000), "n_resamples=1000"),
        ("ci", ("human", 0.9), "confidence_level=0.9"),
        ("rank", ("human", 0.01), "alpha=0.01"),
        ("equivalence", ("human", 0.05), "margin=0.05"),
        ("top_k", (3, "judge"), "by='judge'"),
        ("adjust", ("holm", "metric"), "within='metric'"),
    ],
)
def test_a_value_by_position_is_met_with_the_keyword_that_it_most_likely_is(name, args, right):
    last = "method" if name == "adjust" else "k" if name == "top_k" else "gold"
    want = f"{name}() got too many positional arguments: those after {last} must be named; did you mean {right}?"
    method = getattr(accessor.DatasetMeta, name)
    assert said(getattr(xr.Dataset().meta, name), *args) == want == said(method.__wrapped__, None, *args)


def test_human_scores_by_position_are_the_gold_where_there_is_one():
    compare = xr.Dataset().meta.compare_systems
    assert said(compare, "human").endswith("did you mean metric='human'?")
    assert said(compare, "human", method="ppi").endswith("did you mean gold='human'?")
    assert said(compare, xr.DataArray(0), method="ppi").endswith("did you mean gold=...?")
    assert said(xr.Dataset().meta.corr, "human", "judge", method="ppi").startswith("corr() has no keyword 'method'")


def test_every_public_function_meets_wrong_words():
    for owner, name in PUBLIC:
        assert "has no keyword 'zzzzzz'" in said(getattr(PLACES.get(owner, owner), name), zzzzzz=1)


def test_each_keyword_of_the_table_is_one_of_some_function():
    there = {keyword for owner, name in PUBLIC for keyword in keywords_of(getattr(owner, name))}
    assert set(synonyms.KEYWORDS) <= there
    for name, table in synonyms.KEYWORDS_OF.items():
        assert set(table) <= set(keywords_of(bound(name)))


def test_the_table_is_spelt_as_it_is_looked_up():
    tables = [
        *(
            synonyms.KEYWORDS,
            synonyms.NO_KEYWORD,
            synonyms.NO_KEYWORD_OF_PICTURES,
            method_synonyms.METHODS,
            method_synonyms.COLUMNS,
        ),
        *synonyms.VALUES.values(),
        *synonyms.KEYWORDS_OF.values(),
        *synonyms.NO_VALUE.values(),
    ]
    for table in tables:
        for words in table.values():
            assert list(words) == list(dict.fromkeys(map(synonyms.spelt, words)))


# --- Values ---


@functools.cache
def _tests():
    return xsumstat.load_dataset("demo").meta.corr_test("human")


def _rated(demo):
    human = demo.score.sel(metric="human", drop=True)
    return demo.assign(rating=xr.concat([human, human + 1, human - 1], "rater"))


ASKED = {
    "coefficient": [
        lambda d, v: d.meta.corr("human", coefficient=v),
        lambda d, v: xsumstat.power(d, "human", coefficient=v),
    ],
    "level": [lambda d, v: d.meta.ci("human", level=v), lambda d, v: d.meta.metric_corr(level=v)],
    "resample": [
        lambda d, v: d.meta.ci("human", resample=v),
        lambda d, v: d.meta.ci("human", resample=("system", v) if v != "all" else v),
    ],
    "alternative": [
        lambda d, v: d.meta.perm_test("human", alternative=v),
        lambda d, v: d.meta.corr_test("human", alternative=v),
    ],
    "interval": [lambda d, v: d.meta.ci("human", interval=v)],
    "adjust": [lambda d, v: d.meta.rank("human", adjust=v), lambda d, v: d.meta.perm_test("human", adjust=v)],
    "missing": [lambda d, v: d.meta.corr("human", missing=v)],
    "undefined": [lambda d, v: d.meta.corr("human", undefined=v)],
    "method": [
        lambda d, v: d.meta.ci("human", method=v),
        lambda d, v: d.meta.perm_test("human", method=v),
        lambda d, v: d.meta.corr_test("human", method=v),
        lambda d, v: d.meta.equivalence("human", other="judge", margin=0.1, method=v),
        lambda d, v: d.meta.compare_systems(method=v),
        lambda d, v: _tests().meta.adjust(v),
    ],
    "statistic": [lambda d, v: d.meta.compare_systems(method="monte_carlo", statistic=v)],
    "test": [
        lambda d, v: _rated(d).meta.alt_test("rating", test=v),
        lambda d, v: xsumstat.power(d, "human", tests={"a": {"test": v}}),
    ],
    "swap": [lambda d, v: d.meta.perm_test("human", coefficient="acc_eq", level="input", swap=v)],
    "aggregate": [lambda d, v: d.meta.ci("human", aggregate=v)],
    "measurement": [lambda d, v: _rated(d).meta.agreement("rating", measurement=v)],
    "alignment": [lambda d, v: _rated(d).meta.alt_test("rating", alignment=v)],
    "scale": [lambda d, v: _rated(d).meta.alt_test("rating", scale=v)],
    "unit": [lambda d, v: d.meta.scoring_range(above=1, unit=v)],
    "keep": [lambda d, v: d.meta.scoring_range(above=1, keep=v)],
    "normalise": [lambda d, v: d.meta.disagreement(normalise=v)],
    "truth": [lambda d, v: xsumstat.coverage(d, "human", truth=v)],
    "margin": [lambda d, v: d.meta.equivalence("human", other="judge", margin=v)],
    "granularity": [lambda d, v: xsumstat.read_mtme("folder", "set", "en-de", granularity=v)],
    "name": [lambda d, v: xsumstat.load_dataset(v)],
}


@pytest.mark.parametrize("argument", synonyms.VALUES)
def test_every_value_by_another_name_is_met_by_a_real_call(demo, argument):
    """Each meaning of each word by some call, and by no call what the word does not mean."""
    if argument == "measurement":
        pytest.importorskip("krippendorff")
    table = synonyms.VALUES[argument]
    for word in {word for words in table.values() for word in words} - set(table):
        meanings, met = {meant for meant, words in table.items() if word in words}, set()
        for ask in ASKED[argument]:
            with pytest.raises(ValueError, match=re.escape(repr(word))) as caught:
                ask(demo, word)
            met |= set(re.findall(r"did you mean '([^']*)'\?$", str(caught.value)))
        assert met and met <= meanings, word
        assert met == meanings or argument == "method", word


@pytest.mark.parametrize("argument", sorted(set(synonyms.VALUES) - {"method"}))  # where one word has several meanings
def test_no_word_for_a_value_is_another_value(argument):
    """A value's own name would never be met as a synonym of another."""
    table = synonyms.VALUES[argument]
    for meant, words in table.items():
        assert not set(words) & {synonyms.spelt(each) for each in table if each != meant}


def test_each_method_is_met_by_some_word(demo):
    """Of words with two meanings each function meets the one it has."""
    for word, meant in {"permutation": "monte_carlo", "swap": "monte_carlo"}.items():
        with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
            demo.meta.compare_systems(method=word)
    with pytest.raises(ValueError, match="did you mean 'tost_analytic'"):
        demo.meta.equivalence("human", other="judge", margin=0.1, method="analytic")
    with pytest.raises(ValueError, match="did you mean 'permutation'"):
        demo.meta.perm_test("human", method="perm")
    assert {*corrections.CORRECTIONS, *two_correlations.METHODS} <= set(synonyms.VALUES["method"])


@pytest.mark.parametrize(
    "name, keywords, right",
    [
        ("ci", {"method": "kendall"}, "coefficient='kendall'"),
        ("ci", {"level": "kendall"}, "coefficient='kendall'"),
        ("ci", {"coefficient": "input"}, "level='input'"),
        ("ci", {"method": "bca"}, "interval='bca'"),
        ("ci", {"interval": "jackknife"}, "method='jackknife'"),
        ("ci", {"resample": "kendall"}, "coefficient='kendall'"),
        ("ci", {"method": "williams"}, "corr_test(method='williams')"),
        ("ci", {"method": "permutation"}, "perm_test"),
        ("perm_test", {"alternative": "bonferroni"}, "adjust='bonferroni'"),
        ("rank", {"level": "kendall"}, "coefficient='kendall'"),
        ("rank", {"coefficient": "segment"}, "level='input'"),
        ("corr_test", {"method": "tau"}, "coefficient='kendall'"),
    ],
)
def test_a_value_of_another_keyword_is_met_with_that_keyword(demo, name, keywords, right):
    for ask in (
        getattr(demo.meta, name),
        lambda *a, **k: getattr(accessor.DatasetMeta, name).__wrapped__(demo, *a, **k),
    ):
        with pytest.raises(ValueError, match=re.escape(f"; did you mean {right}?") + "$"):
            ask("human", **keywords)


@pytest.mark.parametrize("word", ["rmcorr", "rm_corr", "Repeated-measures correlation"])
def test_repeated_measures_correlation_is_met_with_what_to_type(demo, word):
    right = "; did you mean 'pdp' with level='global'? It equals rmcorr (inputs as subjects) if no score is missing"
    for name in ("corr", "ci", "compare_metrics"):
        with pytest.raises(ValueError, match=re.escape(f"got {word!r}{right}") + "$"):
            getattr(demo.meta, name)("human", coefficient=word)


@pytest.mark.parametrize("word", ["weightedtau", "weighted_kendall", "Weighted Kendall's tau"])
def test_weighted_kendall_is_met_with_the_function_to_pass(demo, word):
    with pytest.raises(ValueError, match="pass a function") as caught:
        demo.meta.corr("human", coefficient=word)
    shown = str(caught.value).partition("coefficient=")[2]
    function = eval(shown, {"scipy": scipy})
    x, z = (demo.score.sel(metric=name).values for name in ("judge", "human"))
    got = demo.meta.corr("human", metric="judge", level="input", coefficient=function).correlation.item()
    want = [scipy.stats.weightedtau(x[:, j], z[:, j]).statistic for j in range(x.shape[1])]
    assert got == pytest.approx(sum(want) / len(want), abs=1e-12)


@pytest.mark.parametrize(
    "name, args, keywords",
    [
        ("ci", ("human",), {"interval": "williams"}),
        ("metric_ci", (), {"interval": "williams"}),
        ("normality", (), {"level": "kendall"}),
    ],
)
def test_no_keyword_is_suggested_that_the_function_has_not(demo, name, args, keywords):
    with pytest.raises(ValueError, match="must be one of") as caught:
        getattr(demo.meta, name)(*args, **keywords)
    assert "did you mean" not in str(caught.value)


def test_a_t_test_of_metrics_is_no_slip_of_the_pen(demo):
    with pytest.raises(ValueError, match=r"got 'ttest'; a t test compares systems \(compare_systems\); for metrics"):
        demo.meta.compare_metrics("human", method="ttest")
    with pytest.raises(ValueError, match="got 'ttest'; did you mean 'paired_t'?"):
        demo.meta.compare_systems(metric="human", method="ttest")
    for level in ("prompt", "prompts", "inputs"):
        with pytest.raises(ValueError, match=f"got {level!r}; did you mean 'input'?"):
            demo.meta.ci("human", level=level)
    with pytest.raises(ValueError, match="got 'prompts'; did you mean 'input'?"):
        demo.meta.ci("human", resample="prompts")
    with pytest.raises(AttributeError, match=r"ci\(coefficient='kappa', level='global'\)\?"):
        demo.meta.kappa("human")
