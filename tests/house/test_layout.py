"""The house: which room may import which, how long files are, and what importing costs."""

import ast
import functools
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import xsumstat
from xsumstat.kernels import correlation

FOLDER = Path(xsumstat.__file__).parent
TESTS = Path(__file__).parents[1]

# A room imports itself and the rooms before it.
ROOMS = (
    *("core", "kernels", "coefficients", "inference", "resampling"),
    *("catalogue", "dataset", "analyses", "simulation", "plots", "io"),
    *("narrative", "report", "cli"),
)
FACE = ("accessor", "__init__", "__main__")
ORDER = (*ROOMS, "face")
OF_ARRAYS = ROOMS[:5]

FILES = sorted(path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.py"))


def room_of(file):
    """The room of a file such as "kernels/means"; what lies in no folder is the face."""
    return file.rpartition("/")[0] or "face"


@functools.cache
def parsed(file):
    return ast.parse((FOLDER / f"{file}.py").read_text(encoding="utf-8"))


def as_file(module):
    """The file of a module of the package, or None where it is something else in one."""
    parts = module.split(".")[1:]
    path = FOLDER.joinpath(*parts)
    if path.with_suffix(".py").exists():
        return "/".join(parts)
    return "/".join([*parts, "__init__"]) if (path / "__init__.py").exists() else None


@functools.cache
def imported(file):
    """Files of the package, and packages outside it, that a file imports."""
    ours, others = set(), set()
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module.partition(".")[0] != "xsumstat":
                others.add(node.module.partition(".")[0])
                continue
            names = [as_file(f"{node.module}.{alias.name}") for alias in node.names]
            ours |= {name or as_file(node.module) for name in names}
        elif isinstance(node, ast.Import):
            others |= {alias.name.partition(".")[0] for alias in node.names}
    return ours - {None, file}, others


def test_every_folder_is_a_room_and_every_other_file_the_face():
    assert {room_of(file) for file in FILES} == set(ORDER)
    assert {file for file in FILES if "/" not in file} == set(FACE)
    assert not [path for path in FOLDER.rglob("*.py") if len(path.relative_to(FOLDER).parts) > 2]


@pytest.mark.slow
def test_a_room_imports_itself_and_the_rooms_before_it():
    place = {file: ORDER.index(room_of(file)) for file in FILES}
    upward = {(file, other) for file in FILES for other in imported(file)[0] if place[other] > place[file]}
    assert upward == set()


def test_nothing_is_imported_in_circles():
    left = {file: imported(file)[0] - {"__init__"} for file in FILES}
    while left:
        free = {file for file, needs in left.items() if not needs & set(left)}
        assert free, f"a circle among {sorted(left)}"
        left = {file: needs for file, needs in left.items() if file not in free}


def test_the_first_rooms_know_arrays_only():
    heavy = {"xarray", "pandas", "matplotlib"}
    assert [file for file in FILES if room_of(file) in OF_ARRAYS and imported(file)[1] & heavy] == []


def test_files_say_what_they_are_for():
    assert [file for file in FILES if not ast.get_docstring(parsed(file))] == []


def test_numbers_of_kernels_are_known_to_kernels_and_coefficients_alone():
    numbers = {name for name, value in vars(correlation).items() if name.isupper() and isinstance(value, int)}
    assert "KENDALL" in numbers
    known = {}
    for file in (file for file in FILES if room_of(file) not in ("kernels", "coefficients")):
        nodes = list(ast.walk(parsed(file)))
        used = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        used |= {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
        known[file] = used & numbers
    assert {file: names for file, names in known.items() if names} == {}


def test_no_function_takes_settings_as_a_dict():
    takers = {
        (file, node.name)
        for file in FILES
        if room_of(file) not in ("core", "kernels", "narrative", "report", "cli", "face")
        for node in ast.walk(parsed(file))
        if isinstance(node, ast.FunctionDef)
        for argument in [*node.args.args, *node.args.kwonlyargs]
        if argument.arg == "settings"
    }
    assert takers == set()


def test_public_functions_take_no_kwargs():
    for function in (inspect.unwrap(getattr(xsumstat, name)) for name in xsumstat.__all__):
        assert not function.__code__.co_flags & 0x08, function.__name__


def test_tests_lie_in_the_rooms_of_what_they_test():
    extra = {"house", "hostile", "published", "browser", "docs", "notebooks"}
    assert {path.parent.name for path in TESTS.glob("*/test_*.py")} == {*ROOMS, *extra}
    lost = [
        path for room in ROOMS for path in (TESTS / room).glob("test_*.py") if len(path.read_text().splitlines()) > 600
    ]
    assert not lost


@pytest.mark.slow
def test_nothing_is_loaded_before_it_is_used():
    """Nor by what shows itself: a list of names, texts, correlations of means and their limits."""
    code = """
import sys, xarray
before = set(sys.modules)
def loaded():
    new = set(sys.modules) - before
    return sorted(name for name in new if name.startswith("xsumstat")), sorted({name.partition(".")[0] for name in new})
import xsumstat
assert loaded() == (["xsumstat", "xsumstat.accessor"], ["lazy_loader", "xsumstat"]), loaded()
ds = xsumstat.load_dataset("demo")
texts = dir(xsumstat), dir(ds.meta), repr(ds.meta), ds.meta._repr_html_(), xsumstat.__version__
texts += ds.meta.corr("human"), ds.meta.ci("human"), ds.meta.compare_metrics("human"), ds.meta.rank("human")
for text in texts:
    assert "numba" not in sys.modules and "matplotlib" not in sys.modules
    assert "xsumstat.kernels.compiler" not in sys.modules and "xsumstat.plots.forest" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_no_path_of_this_machine_and_no_published_data_in_the_project():
    for path in FOLDER.rglob("*"):
        if path.suffix in (".py", ".csv"):
            assert "shared/data" not in path.read_text(encoding="utf-8")
