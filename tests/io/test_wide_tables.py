"""Tables of papers: captions, digits that tell ranks apart, chance, daggers, parts and pages; tables of web pages."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
import xarray as xr

import xsumstat
from xsumstat.io import result_tables


@pytest.fixture(scope="module")
def ranked():
    demo = xsumstat.load_dataset("demo")
    scores = {"ds": demo, "gold": "human"}
    tasks = {
        "systems": {**scores, "coefficient": "spa", "weight": 2.0},
        "outputs": {**scores, "coefficient": "acc_eq", "level": "input"},
        "all outputs": {**scores, "coefficient": "acc_eq", "level": "input", "resample": "input"},
    }
    return xsumstat.rank_tasks(tasks, n_resamples=99, rng=1)


def rows_of(markdown):
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def made(values, **attrs):
    names = [f"m{at}" for at in range(len(values))]
    return xr.Dataset({"correlation": ("metric", values)}, {"metric": names}, {"analysis": "corr", **attrs})


def test_captions(ranked):
    demo = xsumstat.load_dataset("demo")
    first = ranked.meta.to_markdown(caption=True).splitlines()[0]
    assert first == (
        "Metrics by the average over 3 tasks. Soft pairwise accuracy with human, system level: systems. "
        "Accuracy with ties with human, input level: outputs and all outputs."
    )
    found = demo.meta.ci("human", coefficient="kendall", level="input", metric="judge")
    assert r"\caption{Kendall's $\tau$-b with human, input level.}" in found.meta.to_latex(caption=True)
    assert "<caption>Kendall&#x27;s τ-b with human, input level.</caption>" in found.meta.to_html(caption=True)
    assert "<caption>a &amp; b</caption>" in found.meta.to_html(caption="a & b")
    assert "caption" not in found.meta.to_latex(caption=False) and "caption" not in found.meta.to_latex()


@pytest.mark.parametrize(
    "values, digits",
    [
        ([0.91, 0.82, 0.5], 2),
        ([0.914, 0.911, 0.5], 3),
        ([0.9144, 0.9141, 0.5], 4),
        ([0.91441, 0.91442, 0.5], 4),  # no more than four
        ([0.91, 0.91, np.nan], 2),  # equal ones share a rank
        ([0.91, 0.91 + 1e-14], 2),
        ([np.nan, np.nan], 2),
    ],
)
def test_digits_that_tell_ranks_apart(values, digits):
    """Of two numbers that print alike at so many digits, and no more, one needs one more."""
    result = made(values)
    assert result_tables.telling(result) == digits
    assert result.meta.to_markdown(digits="auto") == result.meta.to_markdown(digits=digits)


def test_chance_of_tasks(ranked):
    """The baselines of corr in each task, and their average by the tasks' weights."""
    rows = rows_of(ranked.meta.to_markdown(digits=4))
    head, foot = rows[0], {row[0]: row for row in rows[-2:]}
    spa, outputs = (
        xsumstat.load_dataset("demo").meta.corr("human", **how)
        for how in ({"coefficient": "spa"}, {"coefficient": "acc_eq", "level": "input"})
    )
    for label, name in (("random metric", "baseline"), ("constant metric", "baseline_constant")):
        one, two = float(spa[name][0]), float(outputs[name][0])
        cells = dict(zip(head, foot[label], strict=True))
        texts = [f"{value:.4f}".removeprefix("0") for value in (0.5 * one + 0.25 * two + 0.25 * two, one, two, two)]
        assert [cells[each] for each in ("average score over tasks", "systems", "outputs", "all outputs")] == texts
        assert cells["rank"] == cells["cluster"] == ""


def test_chance_between_two_numbers_where_metrics_differ(ranked):
    changed = ranked.copy(deep=True)
    changed["baseline"][0, 0] = 0.25
    row = next(row for row in rows_of(changed.meta.to_markdown()) if row[0] == "random metric")
    assert row[4] == f".25–{float(ranked.baseline[1, 0]):.2f}".replace("–0", "–") and "–" in row[1]


def test_daggers_of_the_tasks_own_tests(ranked):
    """A dagger where the best is not significantly better by the average."""
    for alpha in (0.001, 0.05):
        table = ranked.assign_attrs(alpha=alpha)
        best = ranked.metric.values[0]
        rows = {row[0]: row[1] for row in rows_of(table.meta.to_markdown())[2:]}
        for label in ranked.metric.values[1:]:
            p = float(ranked.pvalue.sel(metric=best, other_metric=label))
            assert rows[label].endswith("†") == (p > alpha)
    note = ranked.assign_attrs(alpha=0.001).meta.to_markdown()
    assert "†: not significantly worse than the best (permutation tests of the average score" in note


def test_a_wide_table_in_parts(ranked):
    whole, parts = (
        ranked.meta.to_latex(caption="a", label="tab:a"),
        ranked.meta.to_latex(caption="a", label="tab:a", columns=2),
    )
    assert parts.count(r"\begin{tabular}") == 3 and parts.count(r"\caption{a}") == parts.count(r"\label{tab:a}") == 1

    def columns(text):
        """All columns but the first of each part, cell by cell."""
        found = []
        for body in re.findall(r"\\toprule\n(.*?)\\bottomrule", text, flags=re.DOTALL):
            rows = [line.removesuffix(r" \\").split(" & ") for line in body.splitlines() if line != r"\midrule"]
            assert len({len(row) for row in rows}) == 1
            found += [[row[0], row[at]] for at in range(1, len(rows[0])) for row in rows]
        return found

    assert columns(parts) == columns(whole) and parts.splitlines()[-8:] == whole.splitlines()[-8:]


def test_groups_stay_together_where_they_fit():
    demo = xsumstat.load_dataset("demo")
    text = demo.meta.ci("human", by="system_type", metric=["judge", "bleu"]).meta.to_latex(columns=3)
    heads = re.findall(r"\\multicolumn\{(\d)\}\{c\}\{(\w+)\}", text)
    assert heads == [("2", "abstractive"), ("2", "extractive"), ("2", "all")]
    assert re.findall(r"\\begin\{tabular\}\{(\w+)\}", text) == ["lrl", "lrl", "lrl"]
    single = demo.meta.ci("human", by="system_type", metric=["judge", "bleu"]).meta.to_latex(columns=1)
    assert re.findall(r"\\begin\{tabular\}\{(\w+)\}", single) == ["lr", "ll"] * 3


def test_a_table_over_pages(ranked):
    text = ranked.meta.to_latex(caption="a", label="tab:a", pages=True)
    assert text.startswith("\\begin{longtable}{lrrrrrr}\n\\caption{a}\\label{tab:a} \\\\\n\\toprule")
    head, body = text.split(r"\endfoot")
    assert head.count("metric & average") == 2 and r"\endfirsthead" in head and r"\endhead" in head
    rows = ranked.meta.to_latex().split(r"\midrule", 1)[1].split(r"\bottomrule")[0]
    assert body.split(r"\end{longtable}")[0] == rows
    assert ranked.meta.to_latex(pages=True).startswith("\\begin{longtable}{lrrrrrr}\n\\toprule")


class Cells(HTMLParser):
    """The rows of a table, cell by cell, and what each cell sorts by."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.keys, self.open, self.tags = [], [], False, []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
            self.keys.append([])
        if tag in ("td", "th"):
            self.open = True
            self.rows[-1].append("")
            self.keys[-1].append(dict(attrs).get("data-sort"))

    def handle_endtag(self, tag):
        self.open = self.open and tag not in ("td", "th")

    def handle_data(self, data):
        if self.open:
            self.rows[-1][-1] += data


def test_a_page_has_the_rows_of_markdown(ranked):
    table = Cells(ranked.meta.to_html())
    markdown = [[cell.replace("**", "") for cell in row] for row in rows_of(ranked.meta.to_markdown())]
    assert table.rows == [markdown[0], *markdown[2:]]
    assert [row[1] for row in table.keys[1:3]] == [f"{value:.2f}" for value in ranked.average_score.values[:2]]
    assert not [attrs for _, attrs in table.tags if {"src", "href"} & set(attrs)]
    assert "http" not in ranked.meta.to_html() and "import" not in ranked.meta.to_html()


def test_what_cells_sort_by():
    negative = made([-0.25, np.nan, 0.5])
    keys = [row[1] for row in Cells(negative.meta.to_html()).keys[1:]]
    assert keys == ["0.5", "-0.25", ""]
    names = xr.Dataset({"correlation": ("metric", [0.1, 0.2])}, {"metric": ["<b>", 'a"b']}, {"analysis": "corr"})
    text = names.meta.to_html()
    assert "<b>" not in text and Cells(text).rows[1:] == [['a"b', ".20"], ["<b>", ".10"]]


@pytest.mark.parametrize(
    "ask, text",
    [
        (lambda r: r.meta.to_latex(columns=0), "columns must be a whole number of at least 1|columns must be"),
        (lambda r: r.meta.to_latex(pages="yes"), "pages must be True or False"),
        (lambda r: r.meta.to_html(digits="many"), "digits must be"),
        (lambda r: r.meta.to_markdown(caption=3), "caption must be"),
    ],
)
def test_wrong_arguments(ranked, ask, text):
    with pytest.raises((ValueError, TypeError), match=text):
        ask(ranked)


def test_how_tasks_count_in_the_average(ranked):
    """Tables and methods say what a reader needs to compute the average from the columns."""
    said = "Weights: systems 2 and each other task 1."
    assert said in ranked.meta.to_markdown() and said in ranked.meta.methods()
    scores = {"ds": xsumstat.load_dataset("demo"), "gold": "human"}
    tasks = {"r": scores, "tau": {**scores, "coefficient": "kendall"}, "spa": {**scores, "coefficient": "spa"}}
    mixed = xsumstat.rank_tasks(tasks, n_resamples=9, rng=1)
    said = "In the average, Pearson's r and Kendall's τ-b count as (r + 1)/2."
    assert said in mixed.meta.to_markdown() and said in mixed.meta.methods() and "Weights" not in mixed.meta.methods()
    r, tau, spa = mixed.correlation.transpose("task", "metric").values
    np.testing.assert_allclose(mixed.average_score, ((r + 1) / 2 + (tau + 1) / 2 + spa) / 3)
    plain = xsumstat.rank_tasks({"spa": tasks["spa"]}, n_resamples=9, rng=1)
    assert "average," not in plain.meta.to_markdown() and "Weights" not in plain.meta.to_markdown()


def test_methods_name_what_each_task_measures(ranked):
    assert (
        "Agreement with the human scores was measured by soft pairwise accuracy (Thompson et al., 2024) of the "
        "systems' mean scores (systems); by accuracy with ties (Deutsch et al., 2023) over the systems within each "
        "input, averaged over inputs (outputs and all outputs)."
    ) in ranked.meta.methods()
    assert "@inproceedings{thompson2024improving" in ranked.meta.methods(bibtex=True)


def test_the_caption_of_p_values_says_so():
    demo = xsumstat.load_dataset("demo")
    tests = demo.meta.compare_metrics("human", level="input")
    assert r"\caption{P-values of the difference of correlations: Pearson's r with human, input level.}" in (
        tests.meta.to_latex(caption=True)
    )
    swaps = demo.meta.perm_test("human", n_resamples=19, rng=1)
    assert swaps.meta.to_markdown(caption=True).startswith("P-value: Pearson's r with human, system level.")
    intervals = demo.meta.ci("human", level="input")
    assert intervals.meta.to_markdown(caption=True).startswith("Pearson's r with human, input level.")


def test_a_table_of_partial_correlations_says_so():
    demo = xsumstat.load_dataset("demo")
    for name in ("ci", "corr"):
        found = getattr(demo.meta, name)("human", metric=["judge", "bleu"], given="length")
        table = found.meta.to_markdown(caption=True)
        assert table.count("Partial Pearson's r with human, given length, system level") == 2
        assert "artial" not in getattr(demo.meta, name)("human", metric=["judge", "bleu"]).meta.to_markdown(
            caption=True
        )
