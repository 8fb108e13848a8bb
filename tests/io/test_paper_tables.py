"""Results as the tables of papers."""

import re
import shutil
import subprocess

import numpy as np
import pytest
import xarray as xr
from cases import IN_WORDS, answer

PREAMBLE = r"\documentclass{article}\usepackage[utf8]{inputenc}\usepackage[T1]{fontenc}\usepackage{booktabs}"


def made(values, metrics, analysis="corr", **attrs):
    data = {"correlation": ("metric", values)}
    return xr.Dataset(data, {"metric": metrics}, {"analysis": analysis, "gold": "human", **attrs})


def cells_of(line):
    """The cells of a line of LaTeX, of Markdown."""
    if line.startswith("|"):
        return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    return [cell.strip() for cell in re.split(r"(?<!\\)&", line.removesuffix(r"\\"))]


def body_of(table):
    lines = table.splitlines()
    if lines[0].startswith("|"):
        return [cells_of(line) for line in lines[2:] if line.startswith("|")]
    rows = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    return [cells_of(line) for line in rows if line != r"\midrule"]


def check_latex(text):
    """Braces are closed, and every line has as many cells as there are columns."""
    plain = re.sub(r"\\[{}\\]", "", text)
    depth = 0
    for sign in plain:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        assert depth >= 0
    assert depth == 0
    columns = len(re.search(r"\\begin\{tabular\}\{([lr]+)\}", text)[1])
    assert body_of(text) and all(len(row) == columns for row in body_of(text))
    assert re.findall(r"\\begin\{(\w+)\}", text) == re.findall(r"\\end\{(\w+)\}", text)[::-1]
    head = text.split(r"\midrule")[0]
    for line in re.findall(r"^(.*\\multicolumn.*) \\\\$", head, flags=re.M):
        spans = sum(int(size) for size in re.findall(r"\\multicolumn\{(\d+)\}", line))
        assert (
            line.count("&") - len(re.findall(r"\\&", line)) + 1 - (len(re.findall("multicolumn", line))) + spans
            == columns
        )


def check_tables(result):
    """LaTeX that compiles and Markdown that has rows, of the same cells."""
    latex, markdown = result.meta.to_latex(caption="50 % of_all", label="tab:a"), result.meta.to_markdown()
    check_latex(latex)
    assert r"\caption{50 \% of\_all}" in latex and r"\label{tab:a}" in latex
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len({len(cells_of(line)) for line in lines}) == 1
    assert len(body_of(latex)) == len(body_of(markdown)) == len(lines) - 2
    assert not re.search(r"\bnan\b|None", latex + markdown)


def test_every_result_is_a_table():
    wrong = []
    for question in IN_WORDS:
        try:
            check_tables(answer(question))
        except Exception as error:
            wrong.append(f"{question}: {error!r}")
    assert not wrong, "\n".join(wrong)


def test_the_document_compiles(tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("needs pdflatex")
    tables = "\n".join(answer(name).meta.to_latex(caption="a") for name in IN_WORDS[:40])
    (tmp_path / "a.tex").write_text(rf"{PREAMBLE}\begin{{document}}{tables}\end{{document}}", encoding="utf-8")
    done = subprocess.run(["pdflatex", "-halt-on-error", "a.tex"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def test_the_best_is_first_and_bold():
    result = made([0.2, -0.126, 0.94, np.nan, 0.94], list("abcde"))
    rows = body_of(result.meta.to_markdown())
    assert rows == [["c", "**.94**"], ["e", "**.94**"], ["a", ".20"], ["b", "-.13"], ["d", "–"]]
    assert body_of(result.meta.to_latex())[3] == ["b", "$-$.13"]
    assert body_of(result.meta.to_markdown(digits=3))[3] == ["b", "-.126"]
    assert body_of(made([0.3], ["a"]).meta.to_markdown()) == [["a", ".30"]]  # one is not the best of any


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_a_dagger_where_not_significantly_worse(demo, alternative):
    tests = demo.meta.perm_test("human", level="input", n_resamples=199, rng=0, alternative=alternative)
    result = demo.meta.corr("human", level="input")
    best = result.correlation.idxmax("metric").item()
    found = {row[0]: row[1].endswith("†") for row in body_of(result.meta.to_markdown(tests=tests, alpha=0.05))}
    for label in result.metric.values:
        if label == best:
            assert not found[label]
            continue
        pair = (label, best) if alternative == "less" else (best, label)
        assert found[label] == bool(tests.pvalue.sel(metric=pair[0], other_metric=pair[1]) > 0.05)
    side = "" if alternative == "two-sided" else ", one-sided"
    note = result.meta.to_markdown(tests=tests.where(tests.pvalue.isnull(), 1.0))
    assert f"permutation test{side}, these 12 systems, 199 swaps of scores; p-values not corrected" in note


def test_where_all_are_alike_none_is_the_best():
    assert "**" not in made([0.5, 0.5, 0.5], ["a", "b", "c"]).meta.to_markdown()
    assert made([0.5, 0.4, 0.5], ["a", "b", "c"]).meta.to_markdown().count("**.50**") == 2


def test_a_p_value_at_alpha_is_bold():
    dims, names = ("metric", "other_metric"), ["a", "b"]
    data = {"pvalue": (dims, [[np.nan, 0.05], [0.0501, np.nan]]), "difference": (dims, [[np.nan, 0.1], [-0.1, np.nan]])}
    test = xr.Dataset(
        data, {"metric": names, "other_metric": names}, {"analysis": "perm_test", "method": "permutation"}
    )
    assert [row[1:] for row in body_of(test.meta.to_markdown())] == [["–", "**.050**"], [".050", "–"]]


def test_tests_of_something_else_are_refused(demo):
    result = demo.meta.corr("human")
    test = demo.meta.corr_test("human")
    with pytest.raises(ValueError, match="tests have level='input', the result of level='system'"):
        with pytest.warns(UserWarning):
            other = demo.meta.corr_test("human", level="input")
        result.meta.to_latex(tests=other)
    with pytest.raises(ValueError, match="tests have no metric 'judge', the best of the result, to compare with"):
        result.meta.to_latex(tests=test.drop_sel(metric="judge", other_metric="judge"))
    some = test.drop_sel(metric="length", other_metric="length")
    assert "Not tested against the best: length." in result.meta.to_markdown(tests=some)
    with pytest.raises(ValueError, match="tests must be what compare_metrics"):
        result.meta.to_markdown(tests=result)
    with pytest.raises(ValueError, match="tests mark metrics in a table with one correlation"):
        test.meta.to_markdown(tests=test)


def test_square_tables(demo):
    test = demo.meta.corr_test("human", metric=["judge", "bleu"])
    (first, second) = body_of(test.meta.to_markdown())
    p = float(test.pvalue.sel(metric="judge", other_metric="bleu"))
    shown = f"{p:.3f}"[1:]
    assert first == ["judge", "–", f"**{shown}**" if p <= 0.05 else shown] and second[0] == "bleu"
    corrected = test.meta.adjust("holm").meta.to_markdown()
    assert "Corrected p-values: do row and column differ?" in corrected and "Holm over all tests" in corrected
    alike = demo.meta.metric_corr(metric=["judge", "bleu"])
    assert body_of(alike.meta.to_markdown())[0][1] == "1.00"


def test_further_dims_are_groups_of_columns(demo):
    result = demo.meta.ci("human", by="system_type")
    markdown, latex = result.meta.to_markdown(), result.meta.to_latex()
    groups = result.system_type.values.tolist()
    assert cells_of(markdown.splitlines()[0])[1:] == [
        f"{group}: {what}" for group in groups for what in ("correlation", "95 % interval")
    ]
    assert rf"\multicolumn{{2}}{{c}}{{{groups[0]}}}" in latex and r"\cmidrule(lr){2-3}\cmidrule(lr){4-5}" in latex
    row = next(row for row in body_of(markdown) if row[0] == "bleu")
    one = result.sel(metric="bleu", system_type=groups[1])
    assert row[3].strip("*") == f"{float(one.correlation):.2f}"[1:]


@pytest.mark.parametrize("ask", ["corr", "ci", "rank"])
def test_what_chance_reaches_has_rows(demo, ask):
    demo = demo.sel(metric=["human", "judge", "bleu"]).isel(input=slice(10))
    keywords = {"n_resamples": 19, "rng": 0} if ask == "rank" else {}
    result = getattr(demo.meta, ask)("human", coefficient="spa", **keywords)
    rows = body_of(result.meta.to_markdown())
    assert [row[0] for row in rows[-2:]] == ["random metric", "constant metric"]
    assert body_of(result.meta.to_latex())[-2:] == rows[-2:]
    for row, name in zip(rows[-2:], ("baseline", "baseline_constant"), strict=True):
        assert row[1] == f"{float(result[name][0]):.2f}"[1:] and set(row[2:]) <= {""}
    assert "constant metric" not in getattr(demo.meta, ask)("human", **keywords).meta.to_latex()
    grouped = demo.meta.corr("human", coefficient="spa", by="system_type")
    row = body_of(grouped.meta.to_markdown())[-2]
    want = [f"{float(each):.2f}"[1:] for each in grouped.baseline.isel(metric=0)]
    assert row == ["random metric", *want]


def test_chance_that_differs_between_metrics_has_columns(demo):
    ds = demo.sel(metric=["human", "judge", "bleu"])
    gaps = ds.assign(score=ds.score.where((ds.metric != "bleu") | (ds.system.isin(ds.system[:5]))))
    with pytest.warns(UserWarning):
        result = gaps.meta.corr("human", coefficient="spa")
    table = result.meta.to_markdown()
    assert cells_of(table.splitlines()[0])[-2:] == ["random metric", "constant metric"]
    for row in body_of(table):
        one = result.sel(metric=row[0])
        assert row[-2:] == [f"{float(one[name]):.2f}"[1:] for name in ("baseline", "baseline_constant")]


def test_signs_of_numbers_and_empty_cells_in_latex(demo):
    tests = demo.meta.perm_test("human", n_resamples=99, rng=1)
    assert tests.meta.to_markdown().count("system level") == 1
    assert body_of(tests.meta.to_latex())[0][1] == "--"  # a dash, as a metric has no test against itself
    negative = made([-0.25], ["m"]).assign(ci_low=("metric", [-0.5]), ci_high=("metric", [0.5]))
    row = body_of(negative.assign_attrs(confidence_level=0.95).meta.to_latex())[0]
    assert row == ["m", "$-$.25", "[$-$.50, .50]"]


def test_names_are_escaped():
    names = ["50%_a&b#$", r"back\slash{}", "x|y*z", "<b> ~^", "[first]", "line\nbreak"]
    result = made(np.linspace(0.9, 0.4, 6), names)
    latex = result.meta.to_latex()
    check_latex(latex)
    assert [row[0] for row in body_of(latex)] == [
        r"50\%\_a\&b\#\$",
        r"back\textbackslash{}slash\{\}",
        r"x\textbar{}y*z",
        r"\textless{}b\textgreater{} \textasciitilde{}\textasciicircum{}",
        "{[}first]",
        "line break",
    ]
    assert [row[0] for row in body_of(result.meta.to_markdown())][:4] == [
        r"50%\_a&amp;b#\$",
        r"back\\slash{}",
        r"x\|y\*z",
        r"&lt;b&gt; \~^",
    ]


def test_wrong_arguments(demo):
    result = demo.meta.corr("human")
    for wrong, error in (
        ({"digits": -1}, "digits"),
        ({"digits": 99}, "digits must be at most 12"),
        ({"alpha": 2}, "alpha"),
        ({"caption": 3}, "caption must be text"),
        ({"label": "a}b"}, "label must be plain text"),
    ):
        with pytest.raises((ValueError, TypeError), match=error):
            result.meta.to_latex(**wrong)
    with pytest.raises(ValueError, match="needs a result, but this Dataset holds scores"):
        demo.meta.to_markdown()
    pytest.importorskip("dask")
    with pytest.raises(ValueError, match=r"lazy \(Dask\) and has no numbers yet"):
        demo.chunk().meta.ci("human").meta.to_latex()
