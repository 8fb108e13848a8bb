"""The rows of the catalogue: each names what there is, and a name stands once."""

import importlib
import inspect
import itertools
import string
import subprocess
import sys

from xsumstat import accessor, catalogue

ROWS = catalogue.QUESTIONS


def test_a_name_stands_once_and_a_group_in_one_piece():
    names = [each.name for each in ROWS]
    assert len(names) == len(set(names))
    groups = [group for group, _ in itertools.groupby(ROWS, lambda each: each.group) if group]
    assert len(groups) == len(set(groups))


def test_every_function_that_a_row_names_is_there():
    for each in catalogue.ANALYSES.values():
        for name in filter(None, (each.say, each.best, each.closing)):
            module, _, function = name.rpartition(".")
            found = getattr(importlib.import_module(f"xsumstat.{module}"), function)
            assert list(inspect.signature(found).parameters) == ["result"], name
        assert each.say and each.main, each.name


def test_every_variable_dim_and_picture_is_declared():
    for each in catalogue.ANALYSES.values():
        assert set(each.variables) <= set(catalogue.VARIABLES), each.name
        assert set(each.own) <= set(each.variables), each.name
        # What describes tasks is no name that results keep from scores.
        assert set(each.dims) <= {*catalogue.COORDINATES, "resample", "pair", "language_pair", "domain"}, each.name
        assert all(hasattr(accessor.Plots, picture) for picture in each.pictures), each.name


def test_aims_are_sentences_with_fields():
    for each in catalogue.ANALYSES.values():
        for aim in (each.aim, *each.special_aims.values()):
            assert aim.startswith("We ") and aim.endswith(".") and list(string.Formatter().parse(aim)), each.name


def test_a_row_loads_no_computation():
    code = """
import sys
from xsumstat import catalogue
ours = {name for name in sys.modules if name.startswith("xsumstat.") and not name.startswith("xsumstat.catalogue")}
assert ours == {"xsumstat.accessor"}, ours
"""
    subprocess.run([sys.executable, "-c", code], check=True)
