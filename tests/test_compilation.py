"""``python -m xsumstat compile``: what is asked, what it says, and that nothing is compiled after it."""

import os
import re
import subprocess
import sys

import pytest

from xsumstat import __main__ as cli
from xsumstat import compilation
from xsumstat.coefficients import table

# What a session may ask, and how many of our kernels were compiled for it.
SESSION = """
import warnings
from numba.core import event
import xsumstat
from xsumstat.kernels import jit

class Seen(event.Listener):
    kernels = []
    def on_start(self, started):
        if started.data["dispatcher"] in jit.KERNELS:
            self.kernels.append(started.data["dispatcher"].__name__)
    def on_end(self, ended):
        pass

event.register("numba:compile", Seen())
warnings.simplefilter("ignore")
ds = xsumstat.load_dataset("demo")
gaps = ds.assign(score=ds.score.where(ds.score > ds.score.min("input")))
draws = {"n_resamples": 49, "rng": 1}
for scores in (ds, gaps, ds.transpose("input", "system", "metric", ...), ds.chunk(metric=1)):
    for level in ("system", "input", "global", "within_system"):
        for coefficient in ("pearson", "spearman", "kendall", "pairwise_accuracy", "acc_eq", "kendall_like"):
            measure = {"level": level, "coefficient": coefficient}
            scores.meta.corr("human", **measure).load()
            two = {"metric": "judge", "other": ["rouge"]}
            for method in (scores.meta.perm_test, scores.meta.boot_test):
                method("human", **two, **measure, **draws).load()
            for method in ("auto", "bootstrap"):
                scores.meta.ci("human", metric="judge", method=method, **measure, **draws).load()
    scores.meta.rank("human", metric=["judge", "rouge"], **draws)
    scores.meta.disagreement(metric=["judge", "rouge"], **draws).load()
print("compiled", *sorted(Seen.kernels))
"""
PART = {"level": "input", "coefficient": "kendall"}


def ran(*arguments, **environment):
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=os.environ | environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_nothing_is_compiled_after_it(tmp_path):
    folder = {"NUMBA_CACHE_DIR": str(tmp_path)}
    said = ran("-m", "xsumstat", "compile", **folder)
    assert said.startswith("xsumstat: compiled ") and f"they are kept in {tmp_path}" in said
    assert len(list(tmp_path.rglob("*.nbc"))) > 70
    pytest.importorskip("dask")
    assert ran("-c", SESSION, **folder) == "compiled\n"


@pytest.mark.slow
def test_the_session_of_the_test_does_compile(tmp_path):
    """Otherwise it would say nothing that nothing is compiled after the command; a small part of it will do."""
    pytest.importorskip("dask")
    part = re.sub(r"for (level|coefficient) in \(.*\)", lambda loop: f"for {loop[1]} in [{PART[loop[1]]!r}]", SESSION)
    assert len(ran("-c", part, NUMBA_CACHE_DIR=str(tmp_path)).split()) > 5


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
