"""Of whom a judge report and its gates speak, where `resample` says so."""

import numpy as np
import pandas as pd
import pytest
from helpers import by_turns

import xsumstat  # noqa: F401
from xsumstat.cli import gate
from xsumstat.cli import main as cli

pytestmark = pytest.mark.filterwarnings("ignore")
PEOPLE = ["ann", "bob", "eve"]


def graded(prompts=40):
    rng = np.random.default_rng(3)
    quality = 0.8 * rng.normal(size=(5, 1)) + rng.normal(size=(5, prompts))
    grades = np.clip(np.round(3 + quality + 0.6 * rng.normal(size=(4, 5, prompts))), 1, 5)
    frame = pd.DataFrame(dict(zip([*PEOPLE, "judge_a"], grades.reshape(4, -1), strict=True)))
    frame["length"] = rng.integers(20, 90, len(frame))
    frame["language"] = np.tile(np.where(np.arange(prompts) % 2, "hi", "en"), 5)
    return frame.assign(model=np.repeat(list("abcde"), prompts), prompt=np.tile(np.arange(prompts), 5))


def scores():
    return graded().meta.to_scores(system="model", input="prompt", wide=True, ratings=PEOPLE,
                                   kind={"judge": ["judge_a"], "covariate": ["length"]})  # fmt: skip


@pytest.mark.parametrize("resample", by_turns(["both", "auto", "input"]))
def test_each_answer_has_the_scope_that_was_asked_for(resample):
    ds = scores()
    page = ds.meta.report(kind="judge", resample=resample)
    how = {"level": "input", "coefficient": page.results["human_ceiling"].attrs["coefficient"]}
    scope = "both" if resample == "auto" else resample
    for name in ("human_ceiling", "ci weighted_kappa", "agreement", "bias", "compare_groups"):
        assert page.results[name].attrs["resample"] == scope, name
    assert page.results["bias_by_system"].attrs["resample"] == "input"  # of these systems in any case
    ceiling = ds.meta.human_ceiling("rating", metric="judge_a", resample=resample, rng=0, **how)
    assert float(page.results["human_ceiling"].ci_low[0]) == float(ceiling.ci_low[0])
    groups = ds.meta.compare_groups("human", metric=["judge_a"], by="language", resample=resample, **how)
    np.testing.assert_array_equal(page.results["compare_groups"].pvalue, groups.pvalue)
    call = page.code[page.code.index("human_ceiling = ") :].partition("\n\n")[0].partition("ci_weighted_kappa")[0]
    assert (f"resample={resample!r}" in call) == (resample != "auto")
    assert ("these 5 systems" in page.summary[-1]) == (resample == "input")


def test_gates_have_the_scope_too():
    ds = scores()
    found = ds.meta.ci("human", metric="judge_a", level="input", coefficient="kendall", resample="input")
    low = float(found.ci_low[0])
    wide = float(ds.meta.ci("human", metric="judge_a", level="input", coefficient="kendall").ci_low[0])
    between = gate.requirement(f"kendall >= {(low + wide) / 2:.6f}")
    assert wide < low
    assert gate.check(ds, between, level="input").status == gate.NOT_MET
    assert gate.check(ds, between, level="input", resample="input").status == gate.MET
    lines = [gate.check(ds, gate.requirement("bias <= .3"), resample=each).line for each in ("both", "input")]
    assert lines[0] != lines[1]


def test_the_command_passes_it_on(tmp_path, capsys):
    path = tmp_path / "own.csv"
    graded().to_csv(path, index=False)
    asked = [str(path), "--raters", *PEOPLE, "--metric", "judge_a", "--judge", "--require", "kendall >= .4"]
    said = {}
    for resample in ("both", "input"):
        cli.main([*asked, "--resample", resample])
        said[resample] = capsys.readouterr().out
    assert "like these" in said["both"].split("Scope:")[1].split(".")[0] and "these 5 systems" in said["input"]
    gates = {name: text.rstrip().splitlines()[-1] for name, text in said.items()}
    assert "these systems" in gates["input"] and gates["input"] != gates["both"]


@pytest.mark.slow
def test_draws_are_passed_on():
    ds = scores()
    ds["rating"].loc[{"rater": "ann", "input": ds.input[:7]}] = np.nan  # skipped prompts: an interval from draws
    page = ds.meta.report(kind="judge", n_resamples=99)
    assert page.results["human_ceiling"].attrs["n_resamples"] == 99
