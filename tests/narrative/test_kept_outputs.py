"""Results of scores in a range say so, wherever their numbers are read."""

import warnings

import judged_outputs
import pytest

import xsumstat  # noqa: F401

BEST = "only outputs in a scoring range were used: the 6 best of each input, by judge"
ASKED = {
    "ci": lambda m: m.ci(level="input"),
    "corr": lambda m: m.corr(level="input"),
    "compare_metrics": lambda m: m.compare_metrics(level="input"),
    "top_k_corr": lambda m: m.top_k_corr(k=[8, 12], level="input"),
    "compare_systems": lambda m: m.compare_systems(metric="judge"),
    "metric_corr": lambda m: m.metric_corr(level="input"),
    "disagreement": lambda m: m.disagreement(),
    "adjusted": lambda m: m.perm_test(level="input", n_resamples=99).meta.adjust("holm"),
}


@pytest.fixture
def kept(demo):
    return demo.meta.scoring_range(top=6, metrics="judge")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_conclusion_methods_and_notes_name_the_range(demo, kept, ask):
    result, whole = ask(kept.meta), ask(demo.meta)
    assert f"{BEST[0].upper()}{BEST[1:]}." in result.meta.methods()
    said = result.meta.conclusion()
    assert said.endswith(f"{BEST[0].upper()}{BEST[1:]}.")
    one = result.isel(metric=0)
    assert BEST in one.meta.conclusion().lower()
    for text in (whole.meta.methods(), whole.meta.conclusion()):
        assert "scoring range" not in text


@pytest.mark.filterwarnings("ignore")
def test_tables_figures_and_reports_name_the_range(kept):
    result = kept.meta.ci(level="input")
    assert BEST in result.meta.to_latex()
    ax = result.meta.plot.forest()
    assert BEST in " ".join(" ".join(each.get_text().split()) for each in ax.figure.texts)
    report = kept.meta.report(level="input")
    assert str(report).replace("\n", " ").lower().count(BEST) == 1
    assert BEST in " ".join(report.paper()).lower()


@pytest.mark.filterwarnings("ignore")
def test_a_range_within_a_range_names_both(demo, kept):
    twice = kept.meta.scoring_range(above=0.1, metrics="rouge").meta.corr(level="input")
    assert f"{BEST}; then above 0.1 (score), by rouge." in twice.meta.methods().replace("Only", "only")
    pairs = kept.meta.metric_corr(level="input", top=3)
    assert f"{BEST}; then for each pair of metrics, those among the 3 best of an input by one of the two." in (
        pairs.meta.conclusion().replace("Only", "only")
    )
    alone = demo.meta.metric_corr(level="input", top=3).meta.methods()
    assert "Only outputs in a scoring range were used: for each pair of metrics, those among the 3 best" in alone


def test_scores_are_not_changed(demo):
    before = demo.copy(deep=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        demo.meta.scoring_range(top=6, metrics="judge").meta.corr(level="input")
    assert demo.identical(before)


@pytest.mark.filterwarnings("ignore")
def test_the_scope_of_a_judge_report_names_the_range():
    ds = judged_outputs.scores(judged_outputs.table()).meta.scoring_range(above=2, metrics="near")
    report = ds.meta.report(kind="judge")
    assert "only outputs in a scoring range were used: above 2 (score), by near. Agreement is" in report.summary[-1]
    assert "Only outputs in a scoring range were used: above 2 (score), by near." in " ".join(report.paper())
