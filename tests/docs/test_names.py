"""Each public name stands in one group of the API, in the guide of its group, and in the gallery where it draws."""

import ast
import importlib
import re
from collections import Counter
from pathlib import Path

import pytest

import xsumstat
from xsumstat.accessor import DatasetMeta, FrameMeta, Plots
from xsumstat.narrative import available

DOCS = Path(__file__).parents[2] / "docs"
GUIDES = DOCS / "guides"


def public(accessor):
    """The methods that a class itself has."""
    return {name for name, value in vars(accessor).items() if callable(value) and not name.startswith("_")}


# As Sphinx names them; read from the classes, and not from the tables of which the pages are made.
METHODS = {f"xarray.Dataset.meta.{name}" for name in public(DatasetMeta)}
PICTURES = {f"xarray.Dataset.meta.plot.{name}" for name in public(Plots)}
FRAMES = {f"pandas.DataFrame.meta.{name}" for name in public(FrameMeta)}
FUNCTIONS = {f"xsumstat.{name}" for name in xsumstat.__all__}
ALL = METHODS | PICTURES | FRAMES | FUNCTIONS


@pytest.fixture(scope="module")
def pages():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS)
        return importlib.import_module("api_pages")


@pytest.fixture(scope="module")
def entries(pages):
    return [entry for listed in pages.groups().values() for entry in listed]


def test_each_name_is_in_one_group(entries):
    counts = Counter(entry.target for entry in entries)
    assert ALL - set(counts) == set(), "no page"
    assert set(counts) - ALL == set(), "a page of nothing"
    assert {name for name, count in counts.items() if count > 1} == set()


def test_groups_are_those_of_the_overview(pages):
    groups = pages.groups()
    for title, names in available.QUESTIONS.items():
        assert [entry.typed for entry in groups[title]] == [f"ds.meta.{name}" for name in names]
    assert {entry.target for entry in groups["pictures"]} == PICTURES


def test_what_is_typed_is_there(entries, demo):
    for entry in entries:
        home, *rest = entry.typed.split(".")
        found = {"ds": DatasetMeta, "result": DatasetMeta, "df": FrameMeta, "xsumstat": xsumstat}[home]
        for name in rest[home != "xsumstat" :]:
            found = Plots if name == "plot" else getattr(found, name)
        assert found is entry.documented, entry.typed


def test_a_group_without_a_guide_fails(pages, monkeypatch):
    monkeypatch.setitem(available.QUESTIONS, "a new group", ("corr",))
    monkeypatch.setitem(available.QUESTIONS, "agreement with the human scores scores", ("ci",))
    with pytest.raises(KeyError, match="a new group"):
        pages.groups()


def test_a_new_method_has_a_page(pages, monkeypatch, tmp_path):
    monkeypatch.setattr(pages, "script", lambda docs, name: Path(f"docs/gallery/plot_{name}.py"))
    monkeypatch.setattr(DatasetMeta, "novelty", DatasetMeta.corr, raising=False)
    monkeypatch.setitem(available.QUESTIONS, "all at once", ("report", "novelty"))
    pages.write(tmp_path)
    assert "autoaccessormethod:: xarray.Dataset.meta.novelty" in (
        tmp_path / "api" / "generated" / "ds.meta.novelty.rst"
    ).read_text("utf-8")
    assert "ds.meta.novelty" in (tmp_path / "api" / "generated" / "groups.md").read_text("utf-8")


def test_a_picture_without_a_script_fails(pages, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"plot_\w+\.py, there are 0"):
        pages.write(tmp_path)


def called(path):
    """The pictures that a script calls, ``anything.meta.plot.NAME(...)``."""
    calls = [node.func for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
    texts = [ast.unparse(call) for call in calls]
    return {text.rpartition(".")[2] for text in texts if re.search(r"\.meta\.plot\.\w+$", text)}


def test_each_picture_has_a_script_in_the_gallery():
    scripts = sorted((DOCS / "gallery").glob("*/plot_*.py"))
    assert {name for path in scripts for name in called(path)} == set(public(Plots))
    for path in scripts:
        (name,) = called(path)
        assert path.stem.startswith(f"plot_{name}"), path.name


def test_each_script_says_how_to_read_its_picture():
    for path in sorted((DOCS / "gallery").glob("*/plot_*.py")):
        text = ast.get_docstring(ast.parse(path.read_text("utf-8")))
        (name,) = called(path)
        assert f"<xarray.Dataset.meta.plot.{name}>" in text, path.name
        assert len(re.findall(r"[.:?] ", text.replace("\n", " "))) >= 2, path.name


def referred(text):
    """What a page refers to in the API."""
    return set(re.findall(r"\{py:\w+\}`[^`<]*<([\w.]+)>`", text)) | set(re.findall(r"\{py:\w+\}`([\w.]+)`", text))


@pytest.fixture(scope="module")
def guides():
    return {path.stem: referred(path.read_text("utf-8")) for path in GUIDES.glob("*.md")}


class TestGuides:
    def test_each_name_is_in_the_guide_of_its_group(self, guides, entries):
        lacking = {
            entry.typed: entry.guide
            for entry in entries
            if not entry.is_picture and entry.target not in guides[entry.guide]
        }
        assert lacking == {}

    def test_each_picture_is_in_a_guide(self, guides):
        assert PICTURES - set().union(*guides.values()) == set()

    def test_guides_refer_to_what_there_is(self, guides):
        wrong = {stem: names - ALL for stem, names in guides.items() if names - ALL}
        assert wrong == {}

    def test_each_guide_is_listed(self, entries):
        listed = (GUIDES / "index.md").read_text("utf-8")
        assert {entry.guide for entry in entries} <= {path.stem for path in GUIDES.glob("*.md")}
        assert all(re.search(rf"\b{entry.guide}\b", listed) for entry in entries)
