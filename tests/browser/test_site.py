"""The built site in a browser: the folder is named by XSUMSTAT_SITE, as in CONTRIBUTING.md."""

import functools
import http.server
import os
import threading
from pathlib import Path

import pytest
from browser.looks import SCHEMES, WIDTHS

SITE = os.environ.get("XSUMSTAT_SITE")
pytestmark = pytest.mark.skipif(not SITE, reason="XSUMSTAT_SITE names no built site")

PAGES = (
    "index.html",
    "api/index.html",
    "api/generated/ds.meta.ci.html",
    "api/generated/result.meta.plot.forest.html",
    "pictures/index.html",
    "pictures/1_agreement/plot_forest.html",
    "guides/agreement.html",
    "install.html",
    "own_csv.html",
    "which.html",
    "calibration.html",
    "calibration/intervals_input.html",
    "calibration/tests_system.html",
    "notebooks/00_quickstart.html",
    "changelog.html",
)
# Words, code and pictures that nobody can see whole: beyond the window's edge, where nothing scrolls.
CUT_OFF = """() => {
  const scrolls = e => {
    for (; e && !e.matches(".bd-article-container"); e = e.parentElement)
      if (["auto", "scroll"].includes(getComputedStyle(e).overflowX)) return true;
    return false;
  };
  const article = document.querySelector(".bd-article"), found = [];
  const words = document.createTreeWalker(article, NodeFilter.SHOW_TEXT), range = document.createRange();
  for (let text = words.nextNode(); text; text = words.nextNode()) {
    const home = text.parentElement;
    if (!text.data.trim() || home.closest(".headerlink, script, style") || !home.checkVisibility()) continue;
    range.selectNodeContents(text);
    if (range.getBoundingClientRect().right > innerWidth + 1 && !scrolls(home)) found.push(text.data.slice(0, 80));
  }
  for (const image of article.querySelectorAll("img, svg"))
    if (image.getBoundingClientRect().right > innerWidth + 1 && !scrolls(image))
      found.push(image.outerHTML.slice(0, 80));
  return found;
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Says nothing of what it is asked."""

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def address():
    assert (Path(SITE) / "index.html").is_file(), f"{SITE} holds no site"
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=SITE))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def visit(browser, address):
    """A function that opens a page of the site, which must neither err nor ask anything of another host."""
    opened, wrong = [], []

    def shown(name, width=1280, scheme="light"):
        page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        opened.append(page)

        def asked(request):
            if not request.url.startswith((address, "data:", "blob:", "about:")):
                wrong.append(f"asked for {request.url}")

        def said(message):
            if message.type in ("error", "warning"):
                wrong.append(f"{message.type}: {message.text}")

        page.on("request", asked)
        page.on("console", said)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("response", lambda answer: wrong.append(answer.url) if answer.status >= 400 else None)
        page.goto(address + name)
        page.wait_for_load_state("networkidle")
        return page

    yield shown
    for page in opened:
        page.close()
    assert wrong == []


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_lies_beyond_the_edge(visit, name, width):
    page = visit(name, width)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert page.evaluate(CUT_OFF) == []


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_each_colour_scheme_is_followed(visit, name, scheme):
    page = visit(name, scheme=scheme)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g).slice(0, 3).map(Number)")
    assert max(ground) < 60 if scheme == "dark" else min(ground) > 200
    ink = page.evaluate("getComputedStyle(document.querySelector('article p')).color.match(/[\\d.]+/g).map(Number)")
    assert min(ink[:3]) > 180 if scheme == "dark" else max(ink[:3]) < 90


@pytest.mark.parametrize("name", [name for name in PAGES if name != "changelog.html"])
def test_pictures_are_loaded(visit, name):
    page = visit(name)
    broken = "[...document.images].filter(i => i.complete && i.naturalWidth === 0).map(i => i.src)"
    assert page.evaluate(broken) == []


def test_the_start_page_leads_on(visit):
    page = visit("index.html")
    assert page.locator("article img").count() >= 1
    doors = ("Five minutes with your own CSV", "Judges", "Which interval, which test?", "Guides", "Gallery", "API")
    for heading in doors:
        assert page.locator(".sd-card", has_text=heading).locator("a").count() >= 1, heading
    page.locator(".sd-card", has_text="Gallery").click()
    page.wait_for_load_state("networkidle")
    assert page.locator("h1").first.inner_text().startswith("Gallery")


@pytest.mark.parametrize("word, target", [("ci", "ds.meta.ci.html"), ("perm_test", "ds.meta.perm_test.html")])
def test_search_finds_a_name(visit, word, target):
    page = visit(f"search.html?q={word}")
    page.wait_for_selector("#search-results li a")
    links = page.eval_on_selector_all("#search-results li a", "links => links.map(link => link.href)")
    assert any(target in link for link in links[:5]), links[:5]


def test_a_picture_leads_to_its_example_and_back(visit):
    page = visit("api/generated/result.meta.plot.forest.html")
    page.locator(".sphx-glr-thumbcontainer a").first.click()
    page.wait_for_load_state("networkidle")
    assert page.url.endswith("/pictures/1_agreement/plot_forest.html")
    page.locator("article a", has_text="result.meta.plot.forest").first.click()
    page.wait_for_load_state("networkidle")
    assert "/api/generated/result.meta.plot.forest.html" in page.url
