"""Warnings: their classes and codes, which stay what the texts are put into."""

import ast
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from conftest import ignore_codes
from helpers import for_each

import xsumstat
from xsumstat.core import caveats
from xsumstat.core.caveats import CODES, Caveat

FOLDER = Path(xsumstat.__file__).parent
TESTS = Path(__file__).parents[1]
# Names, in the package, of caveats that have their code, and of functions that make them.
HELD = ("caveat", "note", "text", "of", "said", "_no_result")


def test_every_warning_has_a_code_and_every_code_a_warning():
    seen = 0
    for path in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not (isinstance(node, ast.Call) and ast.unparse(node.func) in ("validate.warn", "validate.warn_once")):
                continue
            seen += 1
            text, *code = node.args
            for one in (text.body, text.orelse) if isinstance(text, ast.IfExp) else (text,):
                called = one.func if isinstance(one, ast.Call) else one
                held = getattr(called, "attr", getattr(called, "id", "")) in HELD
                assert code or held, f"{path.name}:{node.lineno}"
            for each in code:
                assert not isinstance(each, ast.Constant) or each.value in CODES, f"{path.name}:{node.lineno}"
    assert seen > 50
    used = " ".join(path.read_text("utf-8") for path in FOLDER.rglob("*.py") if path.name != "caveats.py")
    assert [code for code in CODES if f'"{code}"' not in used] == []


def test_filters_of_our_warnings_know_no_text():
    """So a message may be reworded; these texts are other packages'."""
    theirs = ("Zarr",)
    texts = re.compile(r"""filterwarnings\([^)]*?["'](?:ignore|error|always|default|once|module):([^:"']+)""")
    by_text = re.compile(r"""filterwarnings\(["']\w+["'],\s*(?:message=)?["']([^"']+)""")
    for path in TESTS.rglob("*.py"):
        for pattern in (texts, by_text):
            known = [
                text for text in pattern.findall(path.read_text("utf-8")) if not any(each in text for each in theirs)
            ]
            assert not known, f"{path.name}: use the mark ignore_codes instead of {known}"


@for_each("name", ["LeftOutWarning", "UndefinedWarning", "CautionWarning", "MetaEvaluationWarning"])
def test_classes_are_public_and_user_warnings(name):
    kind = getattr(xsumstat, name)
    assert issubclass(kind, xsumstat.MetaEvaluationWarning) and issubclass(kind, UserWarning)
    assert kind is getattr(caveats, name) and name not in xsumstat.__all__


def test_a_caveat_keeps_its_code_whatever_is_put_before_it():
    caveat = Caveat("only 4 systems", "few_systems", n=4)
    for each in (caveat, caveat.of("en-de"), caveat.said("few systems"), pickle.loads(pickle.dumps(caveat))):
        assert (each.code, each.fields) == ("few_systems", {"n": 4})
    assert caveat.of("en-de") == "en-de: only 4 systems" and caveat == pickle.loads(pickle.dumps(caveat))
    warning = pickle.loads(pickle.dumps(caveat.warning()))
    assert type(warning) is xsumstat.CautionWarning and (warning.code, str(warning)) == ("few_systems", caveat)


def test_users_choose_by_class(demo):
    """Few systems, and a metric that lacks a score: one of each class."""
    few = demo.isel(system=slice(4)).copy(deep=True)
    few["score"][0, 0, 0] = np.nan
    with pytest.warns(xsumstat.MetaEvaluationWarning) as caught:
        few.meta.corr("human")
    assert {each.message.code for each in caught} >= {"few_systems", "cells_left_out"}
    with warnings.catch_warnings():
        warnings.simplefilter("error", xsumstat.LeftOutWarning)
        warnings.simplefilter("ignore", xsumstat.CautionWarning)
        with pytest.raises(xsumstat.LeftOutWarning):
            few.meta.corr("human")


@pytest.mark.parametrize("lazy", [False, True])
def test_groups_and_lazy_scores_keep_class_and_code(demo, lazy):
    if lazy:
        pytest.importorskip("dask")
    flat = demo.assign_coords(half=("input", ["a", "b"] * 15)).copy(deep=True)
    flat["score"][1, :, ::2] = 1.0
    with pytest.warns(xsumstat.UndefinedWarning) as caught:
        (flat.chunk() if lazy else flat).meta.corr("human", by="half").compute()
    constant = [each.message for each in caught if each.message.code == "constant"]
    assert len(constant) == 1 and str(constant[0]).startswith("half='a': ")
    assert constant[0].__class__ is xsumstat.UndefinedWarning and Path(caught[0].filename).name == "test_caveats.py"


@pytest.mark.ignore_codes("few_systems")
def test_the_mark_ignores_a_code_whatever_its_text(demo):
    """And no other code of the class; within `pytest.warns` nothing is ignored."""
    demo.isel(system=slice(4)).meta.corr("human")
    few = Caveat("another text", "few_systems").warning()
    warnings.warn(few, stacklevel=1)
    for other in (Caveat(str(few), "few_inputs").warning(), UserWarning(str(few))):
        with pytest.raises(type(other), match="another text"):
            warnings.warn(other, stacklevel=1)
    with pytest.warns(xsumstat.CautionWarning, match="another text"):
        warnings.warn(few, stacklevel=1)
    with pytest.raises(AssertionError, match="no codes of warnings: .'few_system'."):
        ignore_codes("few_system")
