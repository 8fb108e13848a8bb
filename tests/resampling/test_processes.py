"""What only a fresh process shows: compiled code that is kept, and the memory of a long run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import xsumstat

PACKAGE = Path(xsumstat.__file__).parent
ANSWER = """
import xsumstat
ds = xsumstat.load_dataset("demo")
test = ds.meta.perm_test("human", metric="judge", other=["rouge"], n_resamples=200, rng=1)
interval = ds.meta.ci("human", method="bootstrap", n_resamples=200, rng=1)
print(xsumstat.__file__, test.pvalue.values.tobytes().hex(), interval.ci_low.values.tobytes().hex())
"""


def python(code, folder=None, **environment):
    """What `code` prints, in words; the package is the one in `folder`."""
    everything = os.environ | environment
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=everything, cwd=folder, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def compiled(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*.nbc")}


@pytest.fixture
def copy(tmp_path):
    """A folder with a copy of the package, without compiled code."""
    shutil.copytree(PACKAGE, tmp_path / "site" / "xsumstat", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "site"


@pytest.mark.slow
def test_compiled_code_is_kept_and_used_again(tmp_path):
    first = python(ANSWER, NUMBA_CACHE_DIR=str(tmp_path))
    kept = compiled(tmp_path)
    assert kept and python(ANSWER, NUMBA_CACHE_DIR=str(tmp_path)) == first
    assert compiled(tmp_path) == kept


@pytest.mark.slow
def test_two_processes_may_compile_at_once(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    running = [
        subprocess.Popen([sys.executable, "-c", ANSWER], stdout=subprocess.PIPE, text=True, env=environment)
        for _ in range(2)
    ]
    one, two = ([*process.communicate()[0].split(), process.returncode] for process in running)
    assert one == two and one[-1] == 0
    assert python(ANSWER, NUMBA_CACHE_DIR=str(tmp_path)) == one[:-1]


@pytest.mark.slow
def test_nowhere_to_write(copy, tmp_path):
    """Neither beside the package nor in the home folder: files stand where the folders would be made."""
    (copy / "xsumstat" / "kernels" / "__pycache__").write_text("")
    home = tmp_path / "home"
    home.write_text("")
    places = {"HOME": str(home), "XDG_CACHE_HOME": str(home), "IPYTHONDIR": str(home)}
    where, *numbers = python(ANSWER, copy, PYTHONDONTWRITEBYTECODE="1", NUMBA_CACHE_DIR="", **places)
    assert where.startswith(str(copy)) and not compiled(tmp_path)
    assert numbers == python(ANSWER)[1:]


@pytest.mark.slow
def test_new_sources_are_compiled_anew(copy):
    """Also by kernels of other files, which call what has changed."""
    code = "import xsumstat; ds = xsumstat.load_dataset('demo')\n"
    code += "print(*ds.meta.ci('human', method='bootstrap', rng=1, n_resamples=9).ci_low.values)"
    before = python(code, copy)
    kernels = copy / "xsumstat" / "kernels" / "means.py"
    text = kernels.read_text()
    changed = text.replace("out[lane] = ratio(sums[3, lane]", "out[lane] = 2.0 * ratio(sums[3, lane]")
    assert changed != text
    kernels.write_text(changed)
    after = python(code, copy)
    assert [float(value) for value in after] == pytest.approx([2 * float(value) for value in before])


MEMORY = """
from pathlib import Path
import numpy as np, xarray as xr, xsumstat

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

{load}
settings = dict(level="system", rng=1, **{settings})
call = ds.meta.{method}
call(n_resamples=2048, **settings)
Path("/proc/self/clear_refs").write_text("5")  # the peak is now what is held
before = peak()
call(n_resamples=1_000_000, **settings)
print((peak() - before) / 1024)
"""
BIG = """
labels = {"metric": ["gold", *(f"m{at}" for at in range(12))]}
score = np.random.default_rng(0).normal(size=(13, 20, 300)).round(1)
ds = xr.Dataset({"score": (("metric", "system", "input"), score)}, coords=labels, attrs={"gold": "gold"})
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the peak is read from Linux")
@pytest.mark.parametrize(
    "method, settings",
    [
        ("perm_test", {"resample": "both"}),
        ("ci", {"resample": "system", "method": "bootstrap"}),
        # All 12 would take minutes, two at a time as all do.
        ("ci", {"resample": "both", "metric": ["m1", "m2"], "method": "bootstrap"}),
    ],
)
def test_a_million_resamples_add_less_than_300_mb(method, settings):
    (added,) = python(MEMORY.format(load=BIG, method=method, settings=settings))
    assert 0.1 < float(added) < 300
