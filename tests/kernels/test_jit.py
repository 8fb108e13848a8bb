"""How kernels are compiled: what is kept on disk, for Python and for other kernels."""

import pickle
import subprocess
import sys
import time

import numba
import numpy as np
import pytest

from xsumstat.kernels import bits, jit
from xsumstat.kernels.jit import kernel

X = np.array([1.0, 2.0, 3.0])


def inner(x):
    return x * x + 1.0


def outer(x):
    total = 0.0
    for a in range(x.shape[0]):
        total += inner(x[a])
    return total


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    """Makes `inner` and `outer` kernels anew, as a new process would; compiled code is kept in a folder of its own."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(jit, "KERNELS", [])
    functions = inner, outer

    def make():
        made = [kernel(each) for each in functions]
        monkeypatch.setitem(globals(), "inner", made[0])
        return made

    return make


def kept(folder):
    return sorted(path.name.split("-")[0].rpartition(".")[2] for path in folder.rglob("*.nbc"))


def test_what_only_kernels_call_is_not_kept(kernels, tmp_path):
    assert kernels()[1](X) == 17.0
    assert kept(tmp_path) == ["outer"]
    again = kernels()[1]
    assert again(X) == 17.0
    assert sum(again.ready.stats.cache_hits.values()) == 1


@pytest.mark.parametrize("first", [0, 1])
def test_python_may_call_what_kernels_call(kernels, tmp_path, first):
    one, whole = kernels()
    for called in (first, 1 - first):
        assert whole(X) == 17.0 if called else one(3.0) == 10.0
    assert kept(tmp_path) == ["inner", "outer"]


def test_without_compiling_a_kernel_is_a_function(kernels, monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    one, whole = kernels()
    assert one.ready is one.py_func and whole.ready is whole.py_func
    assert whole(X) == 17.0


def test_a_kernel_stands_in_its_place_until_it_is_called_and_pickles_by_name():
    assert pickle.loads(pickle.dumps(bits.count_opposite)) is bits.count_opposite
    code = """
import sys
from xsumstat.kernels import bits, correlation
assert "numba" not in sys.modules and type(bits.alike).__name__ == type(bits.popcount).__name__ == "Kernel"
import numpy as np
words = np.array([3, 2**64 - 1], dtype=np.uint64)
assert bits.alike(words, words) == 66 and type(bits.alike).__name__ == "_Kernel"
assert type(bits.count_opposite).__name__ == type(correlation.moments).__name__ == "Kernel"
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture
def waited(monkeypatch):
    """Somebody has waited long enough already."""
    monkeypatch.delenv("XSUMSTAT_QUIET")
    monkeypatch.setattr(jit, "_printed", False)
    monkeypatch.setattr(jit, "_patience", 0.001)


def test_who_waits_is_told_once_that_this_compiles(kernels, waited, capsys):
    kernels()[1](X)
    kernels()[0](3.0)
    said = capsys.readouterr()
    assert said.err.count("compiling this method (once, a few seconds)") == 1 and not said.out


def test_nothing_is_said_where_nothing_is_compiled(kernels, waited, monkeypatch, capsys):
    monkeypatch.setenv("XSUMSTAT_QUIET", "1")
    kernels()[1](X)
    monkeypatch.delenv("XSUMSTAT_QUIET")
    kernels()[1](X)
    assert not capsys.readouterr().err


def test_nothing_is_said_where_it_is_quick_or_nobody_could_read_it(kernels, waited, monkeypatch, capsys):
    with monkeypatch.context() as without:
        without.setattr(sys, "stderr", None)
        kernels()[1](X)
    monkeypatch.setattr(jit, "_patience", 60.0)
    kernels()[0](3.0)
    time.sleep(0.01)
    assert not capsys.readouterr().err
