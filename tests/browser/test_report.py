"""The report, and what a notebook shows, in a real browser; `look` fails where a page errs or asks for anything."""

import pytest
from browser import looks

import xsumstat

# What a page says is tested without a browser in tests/report/test_metric_report.py.
pytestmark = pytest.mark.slow
NAMES = ("six", "many", "long", "hostile", "further")
# As JupyterLab has it, in a few lines.
NOTEBOOK = """<!DOCTYPE html><html lang="en"><head><title>notebook</title><style>
body {{ margin: 0; background: {ground}; color: {ink}; font: 14px sans-serif; }}
.cell {{ padding: 4px; }} .cell td, .cell th {{ text-align: right; white-space: normal; }}
.cell tbody tr:nth-child(odd) {{ background: {stripe}; }}
</style></head><body data-jp-theme-light="{is_light}"><div class="cell"><h2 id="h">Heading</h2><p id="p">Words</p>
<table id="t"><tr><td id="td">1</td></tr></table><pre id="pre">code</pre>
<svg id="svg" width="9" height="9"><path id="path" d="M 0 0 L 9 9"></path></svg></div>
<div class="cell">{output}</div></body></html>"""
LIGHT = {"ground": "#fff", "ink": "#000", "stripe": "#f5f5f5", "is_light": "true"}
DARK = {"ground": "#111", "ink": "#fff", "stripe": "#222", "is_light": "false"}


@pytest.fixture(scope="module")
def outputs(report_of):
    """What a notebook shows of scores, of results, and of reports."""
    demo = xsumstat.load_dataset("demo")
    tests = demo.meta.perm_test("human", n_resamples=99, rng=0)
    long = demo.assign_coords(metric=[name + "x" * 300 for name in demo.metric.values])
    shown = {"scores": demo.meta, "tests": tests.meta, "interval": demo.meta.ci("human").meta, "long": long.meta}
    return {name: each._repr_html_() for name, each in {**shown, "report": report_of("six")}.items()}


@pytest.mark.parametrize("width", looks.WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_a_page_fits_is_reached_by_keyboard_and_can_be_read(look, page_of, name, width):
    page = look(page_of(name), width)
    grounds = set()
    for scheme in looks.SCHEMES:
        page.emulate_media(color_scheme=scheme)
        grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert looks.overflow(page) <= 0
        assert looks.lies_outside(page, "tbody th, tbody td, caption") == []
        seen = looks.contrasts(page)
        assert sum(drawn for *_, drawn in seen) >= 10 and len(seen) >= 40
        assert [each for each in seen if each[1] < 4.5] == []
    assert len(grounds) == 2
    assert page.locator("table").count() == (2 if name == "further" else 1)
    assert looks.unreached(page, "table, figure") == 0


@pytest.mark.parametrize("width", looks.WIDTHS)
@pytest.mark.parametrize("name", ["judges", "hostile judges"])
def test_the_page_about_judges_fits_is_reached_by_keyboard_and_can_be_read(look, page_of, name, width):
    page = look(page_of(name), width)
    grounds = set()
    for scheme in looks.SCHEMES:
        page.emulate_media(color_scheme=scheme)
        grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert looks.overflow(page) <= 0
        assert looks.lies_outside(page, "h1, h2, .verdict p, tbody th, tbody td, caption") == []
        seen = looks.contrasts(page)
        assert sum(drawn for *_, drawn in seen) >= 20 and len(seen) >= 100
        assert [each for each in seen if each[1] < 4.5] == []
    assert len(grounds) == 2
    assert looks.unreached(page, "table, figure") == 0
    assert page.locator("script, img, [onclick]").count() == 0


@pytest.mark.parametrize("width", looks.WIDTHS)
def test_what_a_screen_reader_is_told_about_judges(look, page_of, report_of, width):
    told = looks.told(look(page_of("judges"), width))
    headings = [name for role, name in told if role == "heading"]
    questions = [section.question for section in report_of("judges").sections]
    assert headings == ["Can the judge be trusted? graded.csv", *questions, *headings[1 + len(questions) :]]
    assert len(questions) == 8 and [role for role, _ in told].count("main") == 1
    n_tables = sum(len(section.tables) for section in report_of("judges").sections)
    assert [role for role, _ in told].count("table") == n_tables >= 6
    pictures = [name for role, name in told if role == "image"]
    assert len(pictures) == sum(len(section.pictures) for section in report_of("judges").sections) >= 3
    assert all(any(picture.startswith(question) for question in questions) for picture in pictures)


def test_whom_a_metric_beats_is_told_on_a_telephone(look, page_of):
    page = look(page_of("six"), 375)
    row = page.get_by_role("row", name="judge")
    assert row.get_by_role("cell").last.inner_text() == "bleu, length"
    for at, whom in ((2, "beats (systems like these)"), (3, "beats (these systems)")):
        label = row.get_by_role("cell").nth(at).evaluate("cell => getComputedStyle(cell, '::before').content")
        assert whom in label


@pytest.mark.parametrize("width", looks.WIDTHS)
def test_what_a_screen_reader_is_told(look, page_of, width):
    told = looks.told(look(page_of("six"), width))
    assert ("heading", "How far can the metrics be trusted? demo") in told
    assert [role for role, _ in told].count("main") == [role for role, _ in told].count("table") == 1
    assert [name for role, name in told if role == "columnheader"] == [
        "metric",
        "correlation",
        "95 % interval",
        "beats (systems like these)",
        "beats (these systems)",
    ]
    assert [name for role, name in told if role == "rowheader"][:3] == ["judge", "bertscore", "rouge"]
    assert [role for role, _ in told].count("cell") == 24
    forest, matrix, of_these = (
        name for role, name in told if role == "image"
    )  # one a picture, not one a colour scheme
    assert (
        "judge .93 [.55, .99]; bertscore .85" in forest
        and "judge and bertscore p = " in matrix
        and "p < .001" in of_these
    )


@pytest.mark.parametrize("scheme", looks.SCHEMES)
def test_words_of_pictures_can_be_selected(look, page_of, scheme):
    page = look(page_of("six"), 1280, scheme)
    selected = page.evaluate(
        "() => { getSelection().selectAllChildren(document.querySelector('figure')); return getSelection().toString() }"
    )
    assert "perplexity" in selected and "Pearson's r with human" in selected


def test_a_wide_picture_is_scrolled_by_keyboard(look, page_of):
    page = look(page_of("many"), 375)
    figure = page.locator("figure").last
    figure.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("figure => figure.scrollLeft > 0", arg=figure.element_handle())


def test_hostile_names_are_printed_as_they_are(look, page_of):
    page = look(page_of("hostile"))
    names = page.locator("tbody th").all_inner_texts()
    assert {"<script>alert(1)</script>", '" onclick="alert(1)', "&amp;", "אבג דהו", "two lines"} <= set(names)
    assert page.locator("script, img, [onclick]").count() == 0
    assert "<img src=x>" in page.title()


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["scores", "tests", "interval", "long", "report"])
def test_outputs_of_a_notebook(look, outputs, name, theme):
    """In themes that are not those of the system, too."""
    page = look(NOTEBOOK.format(output=outputs[name], **theme), scheme="dark" if theme is LIGHT else "light")
    for width in looks.WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert looks.overflow(page) <= 0
        assert looks.lies_outside(page, ".cell:last-child tbody th, .cell:last-child td") == []
        assert [each for each in looks.contrasts(page) if each[1] < 4.5] == []
    assert looks.unreached(page, ".cell:last-child table") == 0
    assert page.locator(".cell:last-child th:not([scope])").count() == 0


def test_a_report_leaves_the_notebook_as_it_is(look, outputs):
    def styles(output):
        page = look(NOTEBOOK.format(output=output, **DARK))
        return page.evaluate(
            """() => ["h", "p", "t", "td", "pre", "svg", "path"].map(id =>
            [...getComputedStyle(document.getElementById(id))].map(name =>
              [id, name, getComputedStyle(document.getElementById(id)).getPropertyValue(name)]))"""
        )

    assert styles(outputs["report"]) == styles("<p>nothing</p>")


def test_two_reports_in_one_notebook_are_both_drawn(look, report_of):
    both = "".join(report_of(name)._repr_html_() for name in ("six", "further"))
    page = look(NOTEBOOK.format(output=both, **LIGHT))
    lost = page.evaluate(
        """() => [...document.querySelectorAll("use")].filter(use => use.checkVisibility() &&
        !(use.closest("svg").querySelector(use.getAttribute("href")))).length"""
    )
    assert lost == 0 and page.locator("article").count() == 2
