"""Docstrings are whole by themselves, and say what numpydoc wants to be said."""

import ast
import builtins
import doctest
import inspect
import pydoc
import re
from collections import Counter
from pathlib import Path

import pytest
from numpydoc import validate

import xsumstat
from xsumstat import accessor
from xsumstat.core import docstrings

ACCESSORS = {
    f"xsumstat.accessor.{owner.__name__}.{name}": getattr(owner, name)  # whole once it is looked at
    for owner in (accessor.DatasetMeta, accessor.Plots, accessor.FrameMeta)
    for name, method in vars(owner).items()
    if callable(method) and not name.startswith("_")
}
PUBLIC = ACCESSORS | {f"xsumstat.{name}": getattr(xsumstat, name) for name in xsumstat.__all__}
# GL02 wants closing quotes on a line of their own, which `inspect.cleandoc` has taken off; an extended summary (ES01)
# and See Also (SA01), or what it says of each name (SA04), are not asked for; SS05 takes nouns in the plural for verbs.
NOT_ASKED = {"GL02", "ES01", "SA01", "SA04", "SS05"}
# Subpackages whose docstrings are short, and the most lines that one has in the source.
SHORT = (
    "analyses",
    "coefficients",
    "dataset",
    "inference",
    "io",
    "kernels",
    "plots",
    "resampling",
    "simulation",
)
LONGEST_PUBLIC, LONGEST_PRIVATE = 70, 12
# Lines that `help()` of a method prints, its signature and shared entries included.
LONGEST_HELP = 70


def failing(check, names):
    """What a check finds wrong with each of `names`, where it finds something."""
    return {name: wrong for name in names if (wrong := check(name))}


@pytest.mark.slow
def test_numpydoc_finds_nothing_wrong():
    def wrong(name):
        return [error for error in validate.validate(name)["errors"] if error[0] not in NOT_ASKED]

    assert failing(wrong, PUBLIC) == {}


def test_nobody_is_sent_to_another_docstring():
    sent, left = re.compile(r"\b[Aa]s (?:for|in) `\w+`.*"), re.compile(r"^ *\{[\w. ]+\}$", re.MULTILINE)
    assert failing(lambda name: sent.findall(PUBLIC[name].__doc__) + left.findall(PUBLIC[name].__doc__), PUBLIC) == {}


def test_methods_do_not_document_their_data():
    data = {name: next(iter(inspect.signature(inspect.unwrap(each)).parameters)) for name, each in ACCESSORS.items()}
    assert set(data.values()) == {"ds", "result", "frame"}
    documented = {name: re.compile(rf"^{each}\b.* : ", re.MULTILINE) for name, each in data.items()}
    assert failing(lambda name: documented[name].findall(ACCESSORS[name].__doc__), ACCESSORS) == {}


def test_signatures_have_plain_types():
    def wrong(name):
        asked = list(inspect.signature(PUBLIC[name]).parameters.values())[name in ACCESSORS :]
        return [
            str(each)
            for each in asked
            if each.annotation is each.empty or re.search(r"^Any$|'|\b\w+\.", repr(each.annotation))
        ]

    assert failing(wrong, PUBLIC) == {}


def test_examples_show_more_than_true():
    def wrong(name):
        examples = PUBLIC[name].__doc__.partition("\nExamples\n")[2]
        wanted = [line for line in examples.splitlines() if line and not line.startswith((">>>", "...", "---"))]
        return "no example" if ">>> " not in examples else set(wanted) & {"True", "False"}

    assert failing(wrong, PUBLIC) == {}


def names_without_origin(name):
    """Names that the examples of a docstring use, but neither make nor import."""
    examples = doctest.DocTestParser().get_examples(PUBLIC[name].__doc__)
    tree = list(ast.walk(ast.parse("".join(each.source for each in examples))))
    names = [node for node in tree if isinstance(node, ast.Name)]
    used = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    made = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    made |= {
        (each.asname or each.name).partition(".")[0]
        for node in tree
        if isinstance(node, ast.Import | ast.ImportFrom)
        for each in node.names
    }
    made |= {node.name for node in tree if isinstance(node, ast.FunctionDef)}
    made |= {node.arg for node in tree if isinstance(node, ast.arg)}
    return used - made - set(dir(builtins))


def test_examples_import_what_they_use():
    assert failing(names_without_origin, PUBLIC) == {}


def test_shared_entries_are_shared():
    sources = [path.read_text(encoding="utf-8") for path in Path(xsumstat.__file__).parent.rglob("*.py")]
    lines = [line for text in sources for line in re.findall(r"^ +\{([\w.]+(?: [\w.]+)*)\}$", text, re.MULTILINE)]
    places = [name for line in lines for name in line.split()]
    used = Counter(entry for name in places for entry in docstrings.RUNS.get(name, name).split())
    assert used.keys() == {*docstrings.ENTRIES, *docstrings.SECTIONS}
    assert [name for name, times in used.items() if times < 2] == []


def test_no_docstring_writes_out_what_an_entry_says():
    entries = {" ".join(text.split()): name for name, text in docstrings.ENTRIES.items()}
    found = {}
    for path in Path(xsumstat.__file__).parent.rglob("*.py"):
        for block in re.findall(r"^ {4}\S.*\n(?: {8}.*\n)+", path.read_text(encoding="utf-8"), re.MULTILINE):
            if (words := " ".join(block.split())) in entries and path.name != "docstrings.py":
                found[path.name] = entries[words]
    assert found == {}


def test_entries_begin_with_their_name():
    def wrong(name):
        first, *rest = inspect.cleandoc(docstrings.ENTRIES[name]).splitlines()
        named = first.startswith(f"{name.partition('.')[0]} : ")
        return not (named and rest and all(line.startswith("    ") for line in rest))

    assert failing(wrong, docstrings.ENTRIES) == {}


def lines_of_docstrings(path):
    """By name, the lines of the docstrings of a file's functions and classes."""
    nodes = [
        each
        for each in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(each, ast.FunctionDef | ast.ClassDef)
    ]
    written = {each.name: each.body[0] for each in nodes if ast.get_docstring(each) is not None}
    return {name: text.end_lineno - text.lineno + 1 for name, text in written.items()}


def test_docstrings_are_short():
    public = {name.rpartition(".")[2] for name in PUBLIC}
    found = {}
    for room in SHORT:
        for path in sorted((Path(xsumstat.__file__).parent / room).rglob("*.py")):
            for name, lines in lines_of_docstrings(path).items():
                if lines > (LONGEST_PUBLIC if name in public else LONGEST_PRIVATE):
                    found[f"{room}/{path.name}: {name}"] = lines
    assert found == {}


def test_help_is_short():
    def lines(name):
        printed = pydoc.plain(pydoc.render_doc(PUBLIC[name])).splitlines()
        # Python 3.13 gives each parameter of a long signature a line; it counts as one.
        signature = next((at for at, line in enumerate(printed) if ") -> " in line), 2)
        shown = len(printed) - signature + 2
        return shown if shown > LONGEST_HELP else None

    functions = [name for name, each in PUBLIC.items() if inspect.isfunction(each)]
    assert failing(lines, functions) == {}


def test_entries_shown_together_name_their_parameters():
    for run, text in docstrings.TOGETHER.items():
        names = [each.partition(".")[0] for each in run.split()]
        assert inspect.cleandoc(text).startswith(f"{', '.join(names)} : "), run
