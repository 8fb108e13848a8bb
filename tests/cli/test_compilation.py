"""``python -m xsumstat compile``: what is asked, what it says, and that nothing is compiled after it."""

import ast
import os
import subprocess
import sys

import pytest

from xsumstat.cli import compilation
from xsumstat.cli import main as cli
from xsumstat.coefficients import table

# What a session may ask: each coefficient at each level of two layouts of the scores, and each layout half of them.
SESSION = """
import warnings
import xsumstat
warnings.simplefilter("ignore")
ds = xsumstat.load_dataset("demo")
gaps = ds.assign(score=ds.score.where(ds.score > ds.score.min("input")))
layouts = (ds, gaps), (ds.transpose("input", "system", "metric", ...), ds.chunk(metric=1))
draws = {"n_resamples": 49, "rng": 1}
two = {"metric": "judge", "other": ["rouge"]}
for i, level in enumerate(("system", "input", "global", "within_system")):
    for j, coefficient in enumerate(("pearson", "spearman", "kendall", "pairwise_accuracy", "acc_eq", "kendall_like")):
        measure = {"level": level, "coefficient": coefficient}
        for scores in (layouts[0][(i + j) % 2], layouts[1][(i + j // 2) % 2]):
            scores.meta.corr("human", **measure).load()
            for method in (scores.meta.perm_test, scores.meta.boot_test):
                method("human", **two, **measure, **draws).load()
            for method in ("auto", "bootstrap"):
                scores.meta.ci("human", metric="judge", method=method, **measure, **draws).load()
for scores in (*layouts[0], *layouts[1]):
    scores.meta.rank("human", metric=["judge", "rouge"], **draws)
    scores.meta.disagreement(metric=["judge", "rouge"], **draws).load()
"""
# What the command asks, in one process.
ALL = """
import warnings
from xsumstat.cli import compilation
warnings.simplefilter("ignore")
for ask in compilation.questions().values():
    ask()
"""
# The kernels that were called, each with the types of its arguments: what is compiled, or read where it was kept.
CALLED = """
from xsumstat.kernels import jit
print(sorted({(kernel.__name__, str(types)) for kernel in jit.compiled() for types in kernel.overloads}))
"""
ONE = "pearson, input, no gaps"
# The command, for a single question.
COMPILE_ONE = f"""
from xsumstat.cli import compilation, main as cli
one = compilation.questions()[{ONE!r}]
compilation.questions = lambda: {{{ONE!r}: one}}
assert cli.main(["compile"]) == 0
"""
# The same question: which kernels were compiled for it, and which for another one.
ASK_ONE = f"""
from numba.core import event
from xsumstat.cli import compilation

class Seen(event.Listener):
    kernels = []
    def on_start(self, started):
        if started.data["dispatcher"].__module__.startswith("xsumstat.kernels."):
            self.kernels.append(started.data["dispatcher"].__name__)
    def on_end(self, ended):
        pass

event.register("numba:compile", Seen())
compilation.questions()[{ONE!r}]()
print("one", *Seen.kernels)
compilation.scores(6, 10).meta.corr(level="global", coefficient="pearson")
print("other", *Seen.kernels)
"""


def ran(*arguments, **environment):
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=os.environ | environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
@pytest.mark.slow
def test_a_session_calls_no_kernel_that_the_command_does_not_compile():
    """With the same types of arguments, by which kernels are kept."""
    pytest.importorskip("dask")
    compiled, called = (set(ast.literal_eval(ran("-c", code + CALLED))) for code in (ALL, SESSION))
    assert len({name for name, _ in called}) > 20
    assert called - compiled == set()


@pytest.mark.slow
def test_nothing_is_compiled_after_it(tmp_path):
    folder = {"NUMBA_CACHE_DIR": str(tmp_path), "XSUMSTAT_QUIET": "1"}
    said = ran("-c", COMPILE_ONE, **folder)
    assert said.startswith("xsumstat: compiled ") and f"they are kept in {tmp_path}" in said
    assert len(list(tmp_path.rglob("*.nbc"))) >= int(said.split()[2]) > 5
    one, other = ran("-c", ASK_ONE, **folder).splitlines()
    assert one == "one"
    assert len(other.split()) > 1  # compiling would be seen


def test_every_coefficient_is_asked_for_at_each_of_its_levels():
    asked = compilation.questions()
    for each in table.COEFFICIENTS.values():
        for level in each.levels:
            assert {f"{each.name}, {level}, no gaps", f"{each.name}, {level}, gaps"} <= set(asked)


def test_what_the_command_says(monkeypatch, capsys):
    monkeypatch.setattr(compilation, "compile_all", lambda: compilation.Compiled(3, 2.4, "/kept"))
    assert cli.main(["compile"]) == 0
    assert capsys.readouterr().out == "xsumstat: compiled 3 kernels in 2 s; they are kept in /kept\n"


def test_where_nothing_can_be_kept(monkeypatch, capsys):
    monkeypatch.setattr(compilation, "kept_in", lambda: None)
    assert cli.main(["compile"]) == 2
    assert "NUMBA_CACHE_DIR" in capsys.readouterr().err
