"""How messages write arguments: in Python, and on a face with options."""

import pytest

from xsumstat.cli import main as cli
from xsumstat.cli import options
from xsumstat.core import arguments, validate

FACE = arguments.Face(
    names={"n_resamples": "--n-resamples", "metric": "--metric", "primary": "--primary", "reference": "--reference"},
    places={"metric": "NAME ..."},
    columns={"system": "--system-column"},
)


@pytest.mark.parametrize(
    ("write", "python", "option"),
    [
        (lambda: arguments.name("n_resamples"), "n_resamples", "--n-resamples"),
        (lambda: arguments.name("cluster"), "cluster", "cluster"),
        (lambda: arguments.given("metric", several=True), "metric=[...]", "--metric NAME ..."),
        (lambda: arguments.given("n_resamples"), "n_resamples=...", "--n-resamples VALUE"),
        (lambda: arguments.given("metric", ["a b", "c"]), "metric=['a b', 'c']", "--metric 'a b' c"),
        (lambda: arguments.given("primary", True), "primary=True", "--primary"),
        (
            lambda: arguments.given("reference", {"en-de": "refB"}),
            "reference={'en-de': 'refB'}",
            "--reference en-de=refB",
        ),
        (lambda: arguments.given("cluster", "doc"), "cluster='doc'", "cluster='doc'"),
        (lambda: arguments.adding("n_resamples", 99), "pass n_resamples=99", "add --n-resamples 99"),
        (lambda: arguments.column("system", "x"), "system='x'", "--system-column: 'x'"),
        (lambda: arguments.column("rater", "x"), "rater='x'", "rater='x'"),
        (lambda: arguments.naming("system"), "system=...", "--system-column COLUMN"),
        (lambda: arguments.only_in_python("; in pandas"), "; in pandas", ""),
    ],
)
def test_each_way_to_write_an_argument(write, python, option):
    assert write() == python and arguments.in_python()
    with arguments.written_for(FACE):
        assert write() == option and not arguments.in_python()
    assert write() == python


def test_a_check_names_the_option_and_an_error_ends_the_face():
    with pytest.raises(ValueError, match="^--n-resamples must be at least 2, got 1$"), arguments.written_for(FACE):
        validate.n_draws("n_resamples", 1, 2)
    with pytest.raises(ValueError, match="^n_resamples must be at least 2, got 1$"):
        validate.n_draws("n_resamples", 1, 2)


def test_the_face_of_the_command_line_names_options_that_there_are():
    known = {option for action in cli.parser()._actions for option in action.option_strings}
    assert {*options.FACE.names.values(), *options.FACE.columns.values()} <= known
    assert set(options.FACE.places) <= set(options.FACE.names)
