"""Results that were joined along level, coefficient or human scores: tables and sentences name each."""

import pandas as pd
import pytest
import xarray as xr

LEVELS = pd.Index(["system", "input"], name="level")


def joined(ask, **keywords):
    return xr.concat([ask("human", level=level, coefficient="kendall", **keywords) for level in LEVELS], LEVELS)


@pytest.fixture
def both(demo):
    return joined(demo.meta.ci, metric=["judge", "rouge", "bleu"])


@pytest.fixture
def tests(demo):
    return joined(demo.meta.compare_metrics, metric=["judge", "rouge", "bleu"])


def test_a_table_of_two_levels_names_both(both):
    said = "Kendall's τ-b with human, system and input level"
    text = both.meta.to_markdown(caption=True)
    assert text.startswith(f"{said}.") and f"\n{said}; 95 % jackknife intervals" in text
    golds = pd.Index(["fluency", "relevance"], name="gold")
    two = xr.concat([both.sel(level="input", drop=True).assign_attrs(gold=gold) for gold in golds], golds)
    assert "with fluency and relevance, system level" in two.meta.to_markdown()


def test_sentences_name_the_level_of_their_numbers(demo, both):
    said = both.meta.conclusion()
    first, second = said.split("level input: ")
    assert "Kendall's τ-b, system level, 3" in first and "Kendall's τ-b, input level, 3" in second
    methods = both.meta.methods()
    assert "by Kendall's τ-b of the systems' mean scores and by Kendall's τ-b over the systems within each" in methods
    alone = both.sel(level="input")
    found = demo.meta.ci("human", metric=["judge", "rouge", "bleu"], level="input", coefficient="kendall")
    assert alone.meta.conclusion() == found.meta.conclusion()
    assert alone.meta.methods() == found.meta.methods()
    assert alone.meta.to_latex(caption=True) == found.meta.to_latex(caption=True)


def test_tests_are_joined_in_the_same_way(both, tests):
    text = both.meta.to_markdown(tests=tests)
    for level in LEVELS:
        one = both.sel(level=level).meta.to_markdown(tests=tests.sel(level=level))
        place = [*LEVELS].index(level)
        marked = [line.split("|")[2 + 2 * place].strip() for line in text.splitlines()[2:5]]
        alone = {line.split("|")[1]: line.split("|")[2].strip() for line in one.splitlines()[2:5]}
        rows = [line.split("|")[1] for line in text.splitlines()[2:5]]
        assert marked == [alone[row] for row in rows]
    with pytest.raises(ValueError, match=r"has the levels 'system', 'input', and tests do not; join the tests of each"):
        both.meta.to_latex(tests=tests.sel(level="input"))
    with pytest.raises(ValueError, match="tests have level='input', the result of level='system'"):
        both.sel(level="system").meta.to_latex(tests=tests.sel(level="input"))


def test_tests_of_one_metric_with_others_mark_a_table(demo, both):
    """As for a new metric: its tests with each other one are enough if it is the best, whatever side it is on."""
    alone = both.sel(level="input")
    keywords = {"level": "input", "coefficient": "kendall", "adjust": None}
    every = demo.meta.compare_metrics("human", metric=["judge", "rouge", "bleu"], **keywords)
    for metric, other in (("judge", ["rouge", "bleu"]), (["rouge", "bleu"], "judge")):
        some = demo.meta.compare_metrics("human", metric=metric, other=other, **keywords)
        assert alone.meta.to_markdown(tests=some) == alone.meta.to_markdown(tests=every)
    second = demo.meta.compare_metrics("human", metric="rouge", other=["judge", "bleu"], **keywords)
    assert "Not tested against the best: bleu." in alone.meta.to_markdown(tests=second)
    one = demo.meta.compare_metrics("human", metric="judge", other="rouge", **keywords)
    assert "Not tested against the best: bleu." in alone.meta.to_markdown(tests=one)
    with pytest.raises(ValueError, match="tests have no metric 'judge', the best of the result, to compare with"):
        alone.meta.to_markdown(tests=demo.meta.compare_metrics("human", metric="rouge", other="bleu", **keywords))
