"""Arguments that are not allowed, and what is suggested in their place."""

import re

import pytest

import xsumstat
from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.core import levels, validate
from xsumstat.inference import corrections
from xsumstat.inference.intervals import INTERVALS

# What each library or paper calls it, and what it is called here.
WORDS = {
    "coefficient": {
        "tau": "kendall",
        "tau_b": "kendall",
        "tau-b": "kendall",
        "kendalltau": "kendall",  # SciPy's is tau-b
        "kendall_b": "kendall",
        "Kendall": "kendall",
        "Kendall's tau": "kendall",
        "tau_a": "kendall_a",
        "tau_c": "kendall_c",
        "pearsonr": "pearson",
        "Pearson": "pearson",
        "r": "pearson",
        "spearmanr": "spearman",
        "rho": "spearman",
        "recall": "sensitivity",
        "acc23": "acc_eq",
        "soft_pairwise_accuracy": "spa",
    },
    "level": {
        "summary": "input",
        "segment": "input",
        "seg": "input",
        "item": "input",
        "instance": "input",
        "sys": "system",
        "corpus": "system",
        "no_grouping": "global",
        "none": "global",
    },
    "alternative": {"larger": "greater", "smaller": "less", "two.sided": "two-sided", "two_sided": "two-sided"},
    "adjust": {"fdr_bh": "bh", "fdr_by": "by", "Benjamini-Hochberg": "bh", "westfall-young": "maxt"},
    "interval": {"BCa": "bca", "perc": "percentile"},
    "missing": {"complete": "pairwise"},
    "undefined": {"omit": "drop"},
}
ALLOWED = {
    "coefficient": COEFFICIENTS,
    "level": levels.LEVELS,
    "alternative": validate.ALTERNATIVES,
    "adjust": corrections.CORRECTIONS,
    "interval": INTERVALS,
    "missing": ("pairwise", "available"),
    "undefined": ("drop", "zero"),
}


@pytest.mark.parametrize("argument", WORDS)
def test_words_of_others_are_met_with_ours(argument):
    for word, meant in WORDS[argument].items():
        with pytest.raises(ValueError, match=re.escape(f"got {word!r}; did you mean {meant!r}?")):
            validate.choice(argument, word, ALLOWED[argument])
        assert validate.choice(argument, meant, ALLOWED[argument]) == meant


def test_words_of_others_are_met_in_each_analysis(demo):
    ask = demo.meta
    for question in (ask.corr, ask.ci, ask.perm_test, ask.rank):
        with pytest.raises(ValueError, match="coefficient must be .*got 'kendalltau'; did you mean 'kendall'"):
            question("human", coefficient="kendalltau")
        with pytest.raises(ValueError, match="level must be .*got 'summary'; did you mean 'input'"):
            question("human", level="summary")
    with pytest.raises(ValueError, match="got 'kendall_b'; did you mean 'kendall'"):
        ask.close_corr("human", coefficient="kendall_b")
    for question in (ask.perm_test, ask.boot_test, ask.corr_test):
        with pytest.raises(ValueError, match="got 'larger'; did you mean 'greater'"):
            question("human", alternative="larger")
    with pytest.raises(ValueError, match="method must be one of .*got 'fdr_bh'; did you mean 'bh'"):
        ask.corr_test("human").meta.adjust("fdr_bh")
    with pytest.raises(ValueError, match="resample must be .*got 'document'; did you mean 'input'"):
        ask.ci("human", resample="document")
    with pytest.raises(ValueError, match="resample must be .*'segments'.; did you mean 'input'"):
        ask.ci("human", resample=("system", "segments"))


@pytest.mark.parametrize("word", ["kendall_c", "tau_c", "tau-c", "spearmanr"])
def test_what_is_known_but_not_offered_is_met_with_no_other(demo, word):
    """Tau-c is not tau-a, however alike the names are."""
    with pytest.raises(ValueError, match=f"got '{word}'$"):
        demo.meta.close_corr("human", coefficient=word)


def test_other_words_are_met_with_the_nearest_name():
    with pytest.raises(ValueError, match="got 'kendal'; did you mean 'kendall'"):
        validate.choice("coefficient", "kendal", COEFFICIENTS)
    with pytest.raises(ValueError, match="got 'xyz'$"):
        validate.choice("coefficient", "xyz", COEFFICIENTS)
    with pytest.raises(ValueError, match="got 7$"):
        validate.choice("level", 7, levels.LEVELS)


@pytest.mark.parametrize(
    "ask, words",
    [
        (
            lambda ds: ds.meta.equivalence("human", metric="judge", other="rouge"),
            "equivalence() needs margin=, the",
        ),
        (lambda ds: ds.meta.drift(), "drift() needs anchor=, the Dataset of the older version's scores"),
        (lambda ds: ds.meta.top_k(), "top_k() needs k=, how many systems"),
        (lambda ds: xsumstat.read_mtme("folder"), "read_mtme() needs test_set= (text)"),
        (lambda ds: xsumstat.to_scores(), "to_scores() needs frame= (a DataFrame)"),
    ],
)
def test_an_argument_without_a_default_is_named_and_explained(ask, words):
    with pytest.raises(TypeError, match=f"^{re.escape(words)}"):
        ask(xsumstat.load_dataset("demo"))


def test_a_part_of_a_few_names_suggests_each():
    names = ["expert_relevance", "turker_relevance", "rouge-1_f1", "rouge-1_recall", "rouge-2_f1", "human"]
    for word, right in (
        ("relevance", "'expert_relevance' or 'turker_relevance'"),
        ("ROUGE-1", "'rouge-1_f1' or 'rouge-1_recall'"),
        ("Human", "'human'"),
        ("humans", "'human'"),
    ):
        assert validate.suggestion(word, names) == f"; did you mean {right}?"
    assert validate.suggestion("_f1", names).count(" or ") == 0  # too short a part
