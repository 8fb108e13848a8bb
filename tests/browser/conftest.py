"""A real browser, in which pages are looked at."""

import functools
import os
import shutil
import warnings

import numpy as np
import pytest
import xarray as xr

import xsumstat
from xsumstat.report import metric_report

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ADDRESS = "http://xsumstat.test/"


def _lacking(what):
    """Skip the test, or fail it where a browser is demanded."""
    if os.environ.get("XSUMSTAT_NEEDS_BROWSER"):
        pytest.fail(f"XSUMSTAT_NEEDS_BROWSER is set, but there is no {what}")
    pytest.skip(f"needs {what}")


@pytest.fixture(scope="session")
def browser():
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        _lacking(f"browser ({', '.join(NAMES)})")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _lacking("package playwright")
    with sync_playwright() as playwright:
        # The sandbox is not to be had in containers; the pages are our own.
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def look(browser):
    """A function that opens a page of such a width and colour scheme; it must neither err nor ask for anything."""
    opened, wrong = [], []

    def shown(html, width=1280, scheme="light"):
        page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        opened.append(page)

        def answer(route):
            if route.request.url == ADDRESS:
                route.fulfill(body=html, content_type="text/html; charset=utf-8")
            else:
                wrong.append(f"asked for {route.request.url}")
                route.abort()

        page.route("**/*", answer)
        page.on("console", lambda message: wrong.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(ADDRESS)
        return page

    yield shown
    for page in opened:
        page.close()
    assert wrong == []


def _scores(names):
    rng = np.random.default_rng(3)
    noise = np.linspace(0, 3, len(names))[:, None, None]
    score = rng.normal(size=(15, 1)) + noise * rng.normal(size=(len(names), 15, 20)) + rng.normal(size=(15, 20))
    return xr.Dataset({"score": (("metric", "system", "input"), score)}, {"metric": names})


HOSTILE = [
    "<script>alert(1)</script>",
    '" onclick="alert(1)',
    "&amp;",
    "\u202eright",
    "אבג דהו",
    "two\nlines",
    "x" * 10_000,
]
LONG = [f"metric-{at}-{'abcdefghij' * 4}"[:40] for at in range(6)]


def _of_a_further_dim(name):
    demo = xsumstat.load_dataset("demo")
    two = xr.concat([demo[["score"]], demo[["score"]] ** 2], "language").assign_coords(language=["en", "de"])
    return metric_report.report(two, "human", name=name, n_resamples=999)


def _of_judges(name, labels=("judge", "errors", "length")):
    """Three systems, three annotators with gaps, two judges on a scale of their own, lengths and categories."""
    rng = np.random.default_rng(5)
    quality = rng.normal(size=(3, 60))
    noise = rng.normal(size=(6, 3, 60))
    ratings = np.clip(np.round(3 + quality + 0.6 * noise[:3]), 1, 5)
    ratings[rng.random(ratings.shape) < 0.3] = np.nan
    judges = [6 + 2 * quality + noise[3], 5 - quality + 2 * noise[4], np.exp(5 + 0.4 * noise[5])]
    ds = xr.Dataset(
        {
            "score": (("metric", "system", "input"), np.clip(np.round(judges), 1, [[[10]], [[10]], [[1000]]])),
            "rating": (("rater", "system", "input"), ratings),
        },
        {
            "metric": list(labels),
            "kind": ("metric", ["judge", "judge", "covariate"]),
            "higher_is_better": ("metric", [True, False, True]),
            "category": ("input", np.resize(["code", "chat", "mail"], 60)),
            "rater": ["ann", "bob", "eve"],
        },
    )
    return ds.meta.report(kind="judge", name=name)


KINDS = {
    "six": lambda: metric_report.report(xsumstat.load_dataset("demo"), "human", name="demo"),
    "many": lambda: metric_report.report(_scores([f"metric_{at}" for at in range(42)]), "metric_0", n_resamples=999),
    "long": lambda: metric_report.report(_scores(["human", *LONG]), "human", name=" ".join(LONG), n_resamples=999),
    "hostile": lambda: metric_report.report(
        _scores(["</title>", *HOSTILE]), "</title>", name="<img src=x>", n_resamples=999
    ),
    "judges": lambda: _of_judges("graded.csv"),
    "hostile judges": lambda: _of_judges("<img src=x>", ("<script>alert(1)</script>", "x" * 300, "length")),
    "further": lambda: _of_a_further_dim("two languages"),
}


@pytest.fixture(scope="session")
def report_of():
    """A function that gives the report of a name in KINDS, made once."""

    @functools.cache
    def made(name):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return KINDS[name]()

    return made


@pytest.fixture(scope="session")
def page_of(report_of):
    """The same as a page, drawn once."""
    return functools.cache(lambda name: report_of(name).html())
