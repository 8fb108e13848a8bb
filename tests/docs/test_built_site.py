"""The built site's links lead somewhere; the folder is named by XSUMSTAT_SITE, as in CONTRIBUTING.md."""

import functools
import os
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

SITE = os.environ.get("XSUMSTAT_SITE")
# What a page asks for by itself, unlike a link that somebody may follow.
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}


class Links(HTMLParser):
    """A page's links, the files that it loads, and the places in it that links may name."""

    def __init__(self):
        super().__init__()
        self.links, self.loads, self.places, self.unread = [], [], {""}, []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.places |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag == "img" and given.get("alt", ".png").endswith(".png"):
            self.unread.append(given.get("src"))
        if tag in LOADED and given.get(LOADED[tag]) and given.get("rel") not in ("canonical", "search"):
            self.loads.append(given[LOADED[tag]])


@functools.cache
def read(path):
    parser = Links()
    parser.feed(path.read_text("utf-8"))
    return parser


def pages_of(folder):
    """The pages of a site; the theme keeps templates beside its own files."""
    return [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.relative_to(folder).parts]


def lost(folder):
    """Links and files within the site that are not there, as (page, link)."""
    found = []
    for path in pages_of(folder):
        page = read(path)
        for link in (*page.links, *page.loads):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            missing = not target.is_file()
            if missing or target.suffix == ".html" and unquote(parts.fragment) not in read(target).places:
                found.append((str(path.relative_to(folder)), link))
    return found


def foreign(folder):
    """Files of other hosts that pages load."""
    pages = [read(path) for path in pages_of(folder)]
    return {link for page in pages for link in page.loads if urlsplit(link).netloc}


def test_lost_links_are_seen(tmp_path):
    (tmp_path / "a.html").write_text('<p id="here"><a href="b.html#there">x</a><a href="#here">x</a><img src="c.png">')
    (tmp_path / "b.html").write_text('<a href="a.html#here">x</a><a href="d.html">x</a><a href="https://e.org">x</a>')
    assert lost(tmp_path) == [("a.html", "b.html#there"), ("a.html", "c.png"), ("b.html", "d.html")]
    (tmp_path / "f.html").write_text('<script src="https://cdn.example/f.js"></script><a href="https://e.org">x</a>')
    assert foreign(tmp_path) == {"https://cdn.example/f.js"}


@pytest.mark.skipif(not SITE, reason="XSUMSTAT_SITE names no built site")
class TestSite:
    def test_links_lead_somewhere(self):
        assert lost(Path(SITE).resolve()) == []

    def test_nothing_is_loaded_from_another_host(self):
        assert foreign(Path(SITE).resolve()) == set()

    def test_each_picture_has_an_alternative_text(self):
        pages = {str(path): read(path).unread for path in pages_of(Path(SITE).resolve())}
        assert {page: found for page, found in pages.items() if found} == {}

    def test_pictures_are_drawn_without_a_warning(self):
        pages = sorted(Path(SITE).glob("pictures/*/plot_*.html"))
        assert pages
        assert [path.name for path in pages if "sphx-glr-script-out" in path.read_text("utf-8")] == []

    def test_no_docstring_is_documented_with_the_accessor_s_object(self):
        pages = sorted(Path(SITE).glob("api/generated/*.meta.*.html"))
        assert pages
        shown = [path.name for path in pages if "<dt><strong>ds" in path.read_text("utf-8")]
        assert shown == []
