"""Captions and notes of tables: what was measured and how, and nothing that the table does not show."""

import judged_outputs
import pytest

import xsumstat  # noqa: F401

THREE = ["judge", "rouge", "bleu"]


def caption_and_note(result):
    """The text above the table in Markdown, and that below."""
    text = result.meta.to_markdown(caption=True)
    lines = text.splitlines()
    rows = [at for at, line in enumerate(lines) if line.startswith("|")]
    return " ".join(lines[: rows[0]]).strip(), " ".join(lines[rows[-1] + 1 :]).strip()


@pytest.mark.filterwarnings("ignore")
def test_a_table_of_pvalues_tells_no_intervals(demo):
    result = demo.meta.compare_metrics(metric=THREE, level="input")
    _, note = caption_and_note(result)
    assert "interval" not in note and "jackknife tests, systems and inputs like these; Holm over all tests." in note
    _, note = caption_and_note(demo.meta.ci(metric=THREE, level="input"))
    assert "95 % jackknife intervals, systems and inputs like these." in note


@pytest.mark.filterwarnings("ignore")
def test_tables_of_counts_name_the_tests(demo):
    result = demo.meta.compare_systems(metric=["human", "judge"], adjust="holm")
    caption, note = caption_and_note(result)
    assert caption == "Significant differences between systems, by the human scores and judge."
    assert note.startswith("Pairs of systems with a significant difference, of all tested. Paired t tests, these 12 ")
    assert note.endswith("; Holm over all tests; alpha .05.") and "interval" not in note
    counts = {label: int(result.n_significant.sel(metric=label)) for label in ("human", "judge")}
    table = result.meta.to_markdown()
    assert all(f"| {label} | {n} | 66 |" in table for label, n in counts.items())
    caption, _ = caption_and_note(demo.meta.compare_systems(metric="human"))
    assert caption == "P-values of the differences between systems, by the human scores."


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("unit", "what"),
    [
        ("quantile", "a gap is a share of the pairs of systems, those with the closest means by the metric first"),
        ("score", "a gap is a difference of two systems' means by the metric"),
    ],
)
def test_gaps_are_explained(demo, unit, what):
    result = demo.meta.close_corr(gap=[0.5, 1], unit=unit, metric=THREE)
    caption, note = caption_and_note(result)
    assert what in caption and what in note and what in result.meta.methods()


@pytest.mark.filterwarnings("ignore")
def test_verdicts_name_human_scores_and_resamples(demo):
    result = demo.meta.discriminative_agreement("human", metric=THREE, n_resamples=500, rng=1)
    for text in caption_and_note(result):
        assert "erdicts on pairs of systems by human; a win in 95 % of 500 paired bootstrap resamples" in text


@pytest.mark.filterwarnings("ignore")
def test_raters_are_counted_and_named():
    ds = judged_outputs.scores(judged_outputs.table())
    result = ds.meta.human_ceiling(level="input", n_resamples=99)
    for text in caption_and_note(result):
        assert text.startswith("Pearson's r with the mean of the other raters, input level")
    graded = ds.meta.human_ceiling(level="global", coefficient="kappa", metric="near", n_resamples=99)
    assert caption_and_note(graded)[0].startswith("Cohen's κ with each other rater, global level")
    for each in (result, graded, ds.meta.agreement(), ds.meta.alt_test()):
        assert " 60 inputs and 3 raters used xsumstat" in each.meta.methods()
