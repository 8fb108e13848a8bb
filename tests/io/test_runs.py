"""Frames with several runs of a judge: the dim `run`."""

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import warns

from xsumstat.io import frames, runs

RNG = np.random.default_rng(0)
SYSTEMS, INPUTS, RUNS = ["a", "b"], ["p", "q", "r"], [1, 2]
JUDGED = RNG.integers(1, 6, (2, 3, 2)).astype(float)
HUMAN = RNG.integers(1, 6, (2, 3)).astype(float)
CELLS = [(at, to) for at in range(2) for to in range(3)]


def tidy(run="run"):
    rows = [("judge", SYSTEMS[i], INPUTS[j], RUNS[k], JUDGED[i, j, k]) for i, j in CELLS for k in range(2)]
    rows += [("human", SYSTEMS[i], INPUTS[j], None, HUMAN[i, j]) for i, j in CELLS]
    return pd.DataFrame(rows, columns=["metric", "system", "input", run, "score"])


def wide():
    rows = [(SYSTEMS[i], INPUTS[j], RUNS[k], JUDGED[i, j, k], HUMAN[i, j]) for i, j in CELLS for k in range(2)]
    return pd.DataFrame(rows, columns=["system", "input", "trial", "judge", "human"])


def check(ds, runs=RUNS):
    assert list(ds.score.dims) == ["metric", "system", "input", "run"] and ds.run.values.tolist() == runs
    judge, human = (ds.score.sel(metric=name).sel(system=SYSTEMS, input=INPUTS) for name in ("judge", "human"))
    np.testing.assert_array_equal(judge.values, JUDGED)
    np.testing.assert_array_equal(human.values, np.repeat(HUMAN[:, :, None], 2, axis=2))


def test_rows_without_a_run_hold_in_every_run():
    check(tidy().meta.to_scores(run="run"))
    check(tidy("trial").meta.to_scores(run="trial"))
    named = tidy()
    named["run"] = named["run"].map({1: "x", 2: "y"}).where(named["run"].notna(), " ")
    check(named.meta.to_scores(run="run"), ["x", "y"])


def test_wide_frames():
    check(wide().meta.to_scores(run="trial", wide=True, gold="human"))


def test_files(tmp_path):
    for frame, run in ((tidy(), "run"), (wide(), "trial")):
        frame.to_csv(tmp_path / "scores.csv", index=False)
        runs = ["1.0", "2.0"] if run == "run" else ["1", "2"]
        check(frames.read_scores(tmp_path / "scores.csv", run=run), runs)
    wide().rename(columns={"trial": "run"}).meta.to_scores(run="run", wide=True).to_netcdf(tmp_path / "scores.nc")
    with pytest.raises(ValueError, match=r"run='run' names columns, and scores.nc is not a table"):
        frames.read_scores(tmp_path / "scores.nc", run="run")


@pytest.mark.ignore_codes("averaged")
def test_ratings_are_of_outputs_not_of_runs():
    frame = wide().drop(columns="human")
    rated = [RNG.integers(1, 6, (2, 3)).astype(float) for _ in range(2)]
    for name, values in zip(["ann", "bob"], rated, strict=True):
        frame[name] = np.repeat(values.ravel(), 2)
    asked = {"run": "trial", "wide": True, "ratings": ["ann", "bob"]}
    ds = frame.meta.to_scores(**asked)
    np.testing.assert_array_equal(ds.rating.transpose("rater", "system", "input").values, rated)
    np.testing.assert_array_equal(ds.score.sel(metric="human", run=2).values, np.mean(rated, axis=0))
    first = frame.copy()  # the row of one run alone has the ratings
    first.loc[first.trial == 2, ["ann", "bob"]] = np.nan
    xr.testing.assert_identical(first.meta.to_scores(**asked), ds)
    long = frame.melt(["system", "input", "trial"], var_name="metric", value_name="score")
    people = long.metric != "judge"
    long.loc[people, "trial"] = np.nan
    long = long.drop_duplicates()
    again = long.meta.to_scores(run="trial", ratings=["ann", "bob"])
    xr.testing.assert_equal(again.rating, ds.rating)
    xr.testing.assert_equal(again.score.sel(metric=ds.metric), ds.score)
    other = frame.copy()
    other.loc[0, "ann"] = 9 - other.loc[0, "ann"]
    assert "run" in other.meta.to_scores(**asked).rating.dims


def test_other_questions_have_a_result_for_each_run():
    ds = wide().meta.to_scores(run="trial", wide=True)
    found = ds.meta.corr("human", level="global").correlation.sel(metric="judge")
    want = [np.corrcoef(JUDGED[:, :, k].ravel(), HUMAN.ravel())[0, 1] for k in range(2)]
    np.testing.assert_allclose(found.values, want)


def test_refusals():
    with pytest.raises(ValueError, match=r"no row has a run \(column 'run'\)"):
        tidy().assign(run=None).meta.to_scores(run="run")
    with pytest.raises(ValueError, match="run='trial' becomes the dim 'run', but the frame has a column 'run' too"):
        tidy().assign(trial=1).meta.to_scores(run="trial")
    with pytest.raises(ValueError, match="run='run' is in dims too"):
        tidy().meta.to_scores(run="run", dims=["run"])
    with pytest.raises(ValueError, match="trail"):
        wide().meta.to_scores(run="trail", wide=True)
    lacking = wide()
    lacking.loc[3, "trial"] = None
    with pytest.raises(ValueError, match=r"1 row without run \(column 'run'\), the first is row 3"):
        lacking.meta.to_scores(run="trial", wide=True)
    wrong = tidy().astype({"score": object})
    wrong.loc[13, "score"] = "x"
    with pytest.raises(TypeError, match="'x' in row 13"):
        wrong.meta.to_scores(run="run")
    twice = pd.concat([tidy(), tidy().iloc[:1]])
    with pytest.raises(ValueError, match="repeated 1 output"):
        twice.meta.to_scores(run="run")


@pytest.mark.ignore_codes("averaged")
def test_a_column_of_runs_is_recognised_where_rows_repeat_by_it():
    rows = pd.MultiIndex.from_product([[1, 2], list("ab"), ["p", "q"]], names=["trial", "system", "input"])
    frame = rows.to_frame(index=False).assign(annotator_1=3.0, annotator_2=range(8), judge=range(8))
    call = next(line for line in str(frame.meta).splitlines() if "to_scores" in line)
    assert "run='trial'" in call and "'trial' (run)" in str(frame.meta) and "metric: trial" not in str(frame.meta)
    ds = eval(call.partition("= ")[2], {"df": frame})  # noqa: S307
    assert ds.score.sizes["run"] == 2 and list(ds.metric.values) == ["judge", "human"]
    once = frame[frame.trial == 1]
    assert runs.recognised(once) is None and "run=" not in str(once.meta)


def test_ratings_that_differ_between_runs_are_warned_of():
    rows = [
        (model, prompt, run, 3 + (model == "b") + run * (prompt == 1))
        for model in "ab"
        for prompt in (1, 2)
        for run in (0, 1)
    ]
    frame = pd.DataFrame(rows, columns=["model", "prompt", "run", "ann"]).assign(bob=4.0, judge=np.arange(8.0))
    how = {"system": "model", "input": "prompt", "run": "run", "wide": True, "ratings": ["ann", "bob"]}
    with warns("averaged", "^2 ratings differ between runs of a judge"):
        frame.meta.to_scores(**how)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame.assign(ann=3.0).meta.to_scores(**how)
