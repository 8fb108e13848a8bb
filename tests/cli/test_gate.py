"""The gate of the command line for two versions of a judge: `--anchor old.csv --require "drift <= .05"`."""

import itertools
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from helpers import by_turns
from versions_of_a_judge import versions

from xsumstat.cli import gate
from xsumstat.cli import main as cli
from xsumstat.report import judge_runs

ASKED = {"metric": "judge", "level": "input", "coefficient": "pearson"}


@pytest.mark.filterwarnings("ignore")
def test_the_gate_asks_for_equivalence_within_the_bound():
    new, old = versions(noise=0.6)
    found = new.meta.drift(old, margin=0.1, **ASKED)
    far = max(-float(found["ci_low"][0]), float(found["ci_high"][0]))
    check = {"anchor": old, **ASKED}
    wide = gate.check(new, gate.Requirement("d", "drift", 1.02 * far), **check)
    narrow = gate.check(new, gate.Requirement("d", "drift", 0.98 * far), **check)
    assert [wide.status, narrow.status] == [gate.MET, gate.NOT_MET]
    limits = ", ".join(f"{float(found[end][0]):.2f}".replace("0.", ".") for end in ("ci_low", "ci_high"))
    assert wide.line.startswith("d: met. Agreement of judge with the human scores changed by ")
    assert f" [{limits}] (90 % interval; Pearson's r, input level), 158 of 159 outputs" in wide.line
    assert wide.line.count(". ") == 1
    shifted = gate.check(versions(shift=(1.0,))[0], gate.requirement("drift <= .5"), **check)
    assert shifted.status == gate.MET


def test_what_the_gate_refuses():
    new, old = versions(gaps=False)
    with pytest.raises(ValueError, match="must be allowed to be above 0"):
        gate.requirement("drift <= 0")
    asked = gate.requirement("drift <= .1")
    assert gate.check(new, asked).status == gate.UNKNOWN
    elsewhere = gate.check(new, asked, anchor=old.assign_coords(input=[f"x{at}" for at in range(40)]))
    assert elsewhere.status == gate.UNKNOWN and "shares no output" in elsewhere.line


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_rule_takes_the_drift_of_the_report(tmp_path, capsys, monkeypatch):
    for name, ds in zip(("new", "old"), versions(), strict=True):
        pd.DataFrame(ds.score.to_series().unstack("metric").reset_index()).to_csv(tmp_path / f"{name}.csv", index=False)
    asked = [str(tmp_path / "new.csv"), "--gold", "human", "--level", "input", "--anchor", str(tmp_path / "old.csv")]
    rules = ["--require", "drift <= .5", "--require", "drift <= .6"]
    statuses, lines = [], []
    compute, bounds = gate.drift.drift, []
    counted = SimpleNamespace(drift=lambda *args, **how: bounds.append(how["margin"]) or compute(*args, **how))
    monkeypatch.setattr(gate, "drift", counted)  # what the rules compute, not what the report does
    for judge in ([], ["--judge"]):
        statuses.append(cli.main([*asked, *judge, *rules]))
        lines.append([line for line in capsys.readouterr().out.splitlines() if line.startswith("drift <=")])
    assert statuses == [0, 0] and lines[0] == lines[1] and len(lines[0]) == 2
    # Without a report both rules compute it, then only the rule whose bound is not the report's.
    assert bounds == [0.5, 0.6, 0.6]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("favour", [0.0, 0.8])
@pytest.mark.parametrize("with_length", [True, False])
def test_a_favoured_system_is_a_bias(favour, with_length):
    rng = np.random.default_rng(5)
    quality = rng.normal(size=(3, 80))
    judge = quality + 0.4 * rng.normal(size=(3, 80)) + favour * np.array([1, 0, 0])[:, None]
    ratings = quality + 0.5 * rng.normal(size=(3, 3, 80))
    ds = xr.Dataset(
        {"score": (("metric", "system", "input"), judge[None]), "rating": (("rater", "system", "input"), ratings)},
        {"metric": ["judge"], "system": list("abc"), "input": range(80), "rater": list("xyz")},
    )
    ds = ds.assign(length=(("system", "input"), rng.normal(size=(3, 80)))) if with_length else ds
    verdict = gate.check(ds, gate.requirement("bias"))
    tests = ds.meta.bias("rating", given="system", resample="input").meta.adjust("holm")
    assert (float(tests.pvalue_adjusted.sel(covariate="system=a").squeeze()) < 0.05) == (favour > 0)
    assert verdict.status == (gate.NOT_MET if favour else gate.MET)
    assert ("scores a too high" in verdict.line) == (favour > 0) and ("length" in verdict.line) == with_length
    if with_length:  # a bound is for slopes of covariates, in other units
        assert "a too high" not in gate.check(ds, gate.requirement("bias <= .9")).line


@pytest.mark.filterwarnings("ignore")
def test_the_command_line(tmp_path, capsys):
    for name, ds in zip(("new", "old"), versions(gaps=False), strict=True):
        frame = ds.score.to_series().unstack("metric").reset_index()
        pd.DataFrame(frame).to_csv(tmp_path / f"{name}.csv", index=False)
    asked = [str(tmp_path / "new.csv"), "--gold", "human", "--level", "input", "--anchor", str(tmp_path / "old.csv")]
    assert cli.main([*asked, "--require", "drift <= .5"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("drift <= .5: met. Agreement of judge with the human scores changed by ")
    assert last.endswith(", 160 of 160 outputs")
    assert cli.main([*asked, "--judge", "--require", "drift <= .5"]) == 0
    said = capsys.readouterr().out.replace("\n", " ")
    assert "Has the judge changed?" in said and "within ±.50" in said and "scores changed" in said
    assert cli.main([*asked, "--require", "drift <= .0001"]) == 1
    assert cli.main([*asked, "--require", "drift <= .5", "--require", "pearson >= .99"]) == 1
    capsys.readouterr()
    assert cli.main(asked) == 2
    assert "--anchor and --require 'drift <= .05' need each other" in capsys.readouterr().err
    assert cli.main([*asked[:-2], "--require", "drift <= .5"]) == 2
    capsys.readouterr()
    assert cli.main([*asked, "--judge"]) == 0
    said = capsys.readouterr().out.replace("\n", " ")
    assert "Has the judge changed?" in said and "within ±.05" in said


def test_a_rule_says_which_judge_fails_it_and_how_surely():
    rng = np.random.default_rng(3)
    quality, length = rng.normal(size=(2, 3, 60))
    scores = {"human": quality, "good": quality + 0.4 * rng.normal(size=(3, 60)), "wordy": quality + length}
    ds = xr.Dataset(
        {"score": (("metric", "system", "input"), np.stack(list(scores.values())))},
        {"metric": list(scores), "system": list("abc"), "input": range(60)},
        {"gold": "human"},
    ).assign(length=(("system", "input"), length))
    verdict = gate.check(ds, gate.requirement("bias"))
    assert verdict.status == gate.NOT_MET
    assert re.fullmatch(
        r"bias: not met for wordy\. good: length [^;]* \(Holm: p = [.\d]+\); it favours no system significantly; "
        r"wordy: length [^;]* \(Holm: p < \.001\); it favours no system significantly",
        verdict.line,
    )
    assert gate.check(ds, gate.requirement("pearson >= .99")).line.startswith("pearson >= .99: not met. ")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_runs_are_averaged_for_rules_and_compared_for_the_report(tmp_path, capsys):
    rng = np.random.default_rng(8)
    rows = pd.MultiIndex.from_product([list("abc"), range(30)], names=["system", "input"]).to_frame(index=False)
    quality = rng.normal(size=len(rows))
    for name in ("annotator_1", "annotator_2"):
        rows[name] = np.clip(np.round(3 + quality + 0.5 * rng.normal(size=len(rows))), 1, 5)
    graded = [np.clip(np.round(3 + quality + 0.7 * rng.normal(size=len(rows))), 1, 5) for _ in range(3)]
    frame = pd.concat([rows.assign(trial=f"t{at}", judge=graded[at]) for at in range(3)])
    frame.to_csv(tmp_path / "runs.csv", index=False)
    rows.assign(judge=sum(graded) / 3).to_csv(tmp_path / "mean.csv", index=False)
    rules = ["--judge", "--require", "kendall >= .4", "--require", "alt_test", "--margin", ".1"]
    status = cli.main([str(tmp_path / "runs.csv"), "--run", "trial", *rules, "--output", str(tmp_path / "page.html")])
    said = capsys.readouterr().out
    assert cli.main([str(tmp_path / "mean.csv"), *rules]) == status
    of_mean = capsys.readouterr().out.splitlines()
    expected = [
        line.replace("met.", "met (mean of 3 runs).") for line in of_mean if line.startswith(("kendall", "alt_"))
    ]
    assert [line for line in said.splitlines() if line.startswith(("kendall", "alt_"))] == expected
    assert len(expected) == 2 and "margin .10" in said
    differs = np.mean([
        np.sign(one[a] - one[b]) != np.sign(two[a] - two[b])
        for one, two in itertools.combinations(graded, 2)
        for at in range(30)
        for a, b in itertools.combinations((at, 30 + at, 60 + at), 2)
    ])  # fmt: skip
    assert f"order two systems differently on an input in {100 * differs:.0f} %" in said.replace("\n", " ")
    page = (tmp_path / "page.html").read_text()
    assert "runs, ds = ds, ds.mean(" in page and "runs.meta.repeatability(" in page
    assert cli.main([str(tmp_path / "runs.csv"), "--run", "trail"]) == 2
    assert "--run: 'trail' is not a column; did you mean 'trial'?" in capsys.readouterr().err


def test_a_margin_needs_the_test_that_has_one(capsys):
    assert cli.main(["demo", "--margin", ".1"]) == 2
    assert "--margin is that of alt_test: add --judge or --require alt_test" in capsys.readouterr().err
    assert cli.main(["demo", "--judge", "--margin", "3"]) == 2
    assert "--margin must be at least 0 and at most 1, got 3" in capsys.readouterr().err


def test_positive_classes_of_the_rules_alone(tmp_path, capsys):
    """The report's coefficient knows no classes; each rule that does is as it is without another."""
    rng = np.random.default_rng(0)
    human = rng.integers(0, 2, 60)
    judge = np.where(rng.random(60) < 0.8, human, 1 - human)
    words = np.array(["fail", "pass"])
    frame = pd.DataFrame({"system": np.repeat(["a", "b", "c"], 20), "input": np.tile(np.arange(20), 3)})
    frame.assign(human=words[human], judge=words[judge]).to_csv(tmp_path / "a.csv", index=False)
    rules = ["--require", "kendall >= -1", "--require", "sensitivity >= .1", "--positive", "fail"]
    assert cli.main([str(tmp_path / "a.csv"), *rules]) == 0
    line = next(each for each in capsys.readouterr().out.splitlines() if each.startswith("sensitivity"))
    share = f"{(judge[human == 0] == 0).mean():.2f}".removeprefix("0")
    assert f"judge {share} [" in line
    assert cli.main([str(tmp_path / "a.csv"), "--positive", "fail"]) == 2
    assert "--positive needs a coefficient of classes, " in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("passing", "told"), [(1.5, True), (0.0, False)])
def test_the_alt_test_tells_if_a_judge_that_reads_nothing_passes(tmp_path, capsys, passing, told):
    rng = np.random.default_rng(3)
    rows = pd.MultiIndex.from_product([list("abc"), range(60)], names=["system", "input"]).to_frame(index=False)
    quality = rng.normal(size=len(rows)) + passing
    for name in ("annotator_1", "annotator_2", "judge"):
        rows[name] = np.where(quality + 0.5 * rng.normal(size=len(rows)) > 0, "pass", "fail")
    rows.to_csv(tmp_path / "verdicts.csv", index=False)
    assert cli.main([str(tmp_path / "verdicts.csv"), "--require", "alt_test"]) == 0
    said = capsys.readouterr().out
    assert "alt_test: met. judge wins against 100 % of the raters" in said
    assert ("a judge that gives every output the most frequent grade passes this test, too" in said) == told
    rows["judge"] = "pass"
    rows.to_csv(tmp_path / "verdicts.csv", index=False)
    assert cli.main([str(tmp_path / "verdicts.csv"), "--require", "alt_test"]) == (2 if told else 1)
    assert ("alt_test: cannot be decided" in capsys.readouterr().out) == told


def test_columns_of_verdicts_that_are_not_read_have_no_rule(tmp_path, capsys):
    rng = np.random.default_rng(3)
    rows = pd.MultiIndex.from_product([list("abc"), range(60)], names=["system", "input"]).to_frame(index=False)
    quality = rng.normal(size=len(rows))
    for name in ("annotator_1", "annotator_2", "judge"):
        rows[name] = quality + 0.3 * rng.normal(size=len(rows))
    rows["other_judge"] = np.where(quality > 0, "fine", "off")
    rows.to_csv(tmp_path / "verdicts.csv", index=False)
    ask = [str(tmp_path / "verdicts.csv"), "--require", "kendall >= .2"]
    assert cli.main(ask) == 0
    assert "No rule is checked for other_judge, which is not read as numbers" in capsys.readouterr().out
    cli.main([*ask, "--metric", "judge"])
    assert "No rule is checked" not in capsys.readouterr().out
    rows["flag"] = pd.Series(quality > 0, dtype=object).mask(rows.index < 3)
    rows.to_csv(tmp_path / "verdicts.csv", index=False)
    assert cli.main(ask) == 2
    assert "it holds True and False; if these are verdicts, --labels False True reads them" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("two", by_turns([True, False]))
def test_runs_do_not_hide_that_a_judge_is_lenient(tmp_path, capsys, two):
    """Cohen's kappa by hand, of the median run with the raters' most frequent grade; a mean of grades is no grade."""
    rng = np.random.default_rng(5)
    rows = pd.MultiIndex.from_product([list("abc"), range(80)], names=["system", "input"]).to_frame(index=False)
    quality = rng.normal(size=len(rows))

    def graded(shift):
        values = quality + shift + 0.5 * rng.normal(size=len(rows))
        return (values > 0) * 1 if two else np.clip(np.rint(3 + values), 1, 5).astype(int)

    for name in ("annotator_1", "annotator_2", "annotator_3"):
        rows[name] = graded(0)
    verdicts = np.array([graded(1.5) for _ in range(3)])
    pd.concat([rows.assign(run=at, judge=each) for at, each in enumerate(verdicts)]).to_csv(
        tmp_path / "a.csv", index=False
    )
    votes = rows[["annotator_1", "annotator_2", "annotator_3"]].mode(axis=1)
    clear = votes.isna().to_numpy()[:, 1] if votes.shape[1] > 1 else np.ones(len(votes), dtype=bool)
    table = pd.crosstab(votes.loc[clear, 0], np.median(verdicts, axis=0)[clear], normalize=True)
    table = table.reindex(
        columns=table.index.union(table.columns), index=table.index.union(table.columns), fill_value=0
    )
    chance = float(table.sum(axis=0) @ table.sum(axis=1))
    kappa = (np.trace(table) - chance) / (1 - chance)
    assert cli.main([str(tmp_path / "a.csv"), "--run", "run", "--judge", "--require", f"kappa >= {kappa:.2f}"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    shown = f"{kappa:.2f}".replace("0.", ".")
    assert f"not met (3 runs; of grades the median, of other scores the mean). judge {shown} [" in said
    ratings = rows[["annotator_1", "annotator_2", "annotator_3"]].to_numpy()
    higher = (np.median(verdicts, axis=0)[:, None] > ratings).mean()
    assert (
        f"Its grade is higher than a rater's for {100 * higher:.0f} % of the ratings" in said
        and "calibrated" not in said
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_median_run_is_the_grade_of_a_run(n):
    """Of an even number of verdicts the last does not count, so that the median neither rises nor falls."""
    rng = np.random.default_rng(0)
    values = rng.integers(1, 6, size=(1, 2, 30, n)).astype(float)
    values[0, 0, :10, -1] = np.nan
    values[0, 1, 0] = np.nan
    dims, coords = ("metric", "system", "input", "run"), {"metric": ["judge"]}
    runs = xr.Dataset({"score": (dims, values)}, coords)
    found = judge_runs.with_medians(judge_runs.averaged(runs), runs, ["judge"])["score"].values
    for at in np.ndindex(2, 30):
        there = [each for each in values[0][at] if not np.isnan(each)]
        there = there[:-1] if len(there) % 2 == 0 else there
        expected = sorted(there)[len(there) // 2] if there else np.nan
        np.testing.assert_equal(found[0][at], expected)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_system_that_cannot_be_tested_leaves_the_bias_open(tmp_path, capsys):
    """System c is rated on other prompts than a and b."""
    rng = np.random.default_rng(2)
    rows = pd.MultiIndex.from_product([list("abc"), range(60)], names=["system", "input"]).to_frame(index=False)
    quality = rng.normal(size=len(rows))
    apart = (rows["system"] == "c") == (rows["input"] < 30)
    for name in ("annotator_1", "annotator_2"):
        rows[name] = np.where(apart, np.nan, quality + 0.3 * rng.normal(size=len(rows)))
    rows["judge"] = quality + 0.3 * rng.normal(size=len(rows))
    rows.to_csv(tmp_path / "a.csv", index=False)
    assert cli.main([str(tmp_path / "a.csv"), "--require", "bias", "--judge"]) == 2
    said = " ".join(capsys.readouterr().out.split())
    assert "bias: cannot be decided. judge: it favours no system significantly; no bias can be tested for c" in said
    assert "No bias can be tested for c." in said.partition("Weak points")[0]
    rows.loc[rows["system"] == "c", ["annotator_1", "annotator_2"]] = np.nan
    rows.to_csv(tmp_path / "a.csv", index=False)
    assert cli.main([str(tmp_path / "a.csv"), "--require", "kendall >= .2", "--judge"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "No rule is checked for c without human scores" in said and "c has no human score" in said


def judged(seed=0, judges=("m0", "m1"), systems=3, inputs=40):
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(systems, inputs))
    scores = {"human": quality, **{name: quality + rng.normal(size=quality.shape) for name in judges}}
    coords = {"metric": list(scores), "system": [f"s{at}" for at in range(systems)], "input": np.arange(inputs)}
    return xr.Dataset({"score": (("metric", "system", "input"), np.stack(list(scores.values())))}, coords)


@pytest.mark.filterwarnings("ignore")
def test_a_judge_that_wins_against_half_of_the_raters_may_replace_one():
    ds = judged()
    human = ds.score.sel(metric="human", drop=True)
    raters = np.array([human.values + 0.1, human.values + 0.1 + 3 * np.random.default_rng(1).normal(size=human.shape)])
    raters = np.array(
        [*raters, human.values - 0.1, human.values + 3 * np.random.default_rng(2).normal(size=human.shape)]
    )
    ds = ds.assign(rating=(("rater", "system", "input"), raters)).assign_coords(rater=list("abcd"))
    rate = ds.meta.alt_test("rating", metric="m0", margin=0.0).winning_rate.item()
    assert rate == 0.5
    verdict = gate.check(ds, gate.requirement("alt_test"), metric="m0", margin=0.0)
    assert verdict.status == gate.MET and "wins against 50 % of the raters" in verdict.line


@pytest.mark.filterwarnings("ignore")
def test_a_judge_that_fails_decides_before_one_that_is_unknown():
    ds = judged()
    ds = ds.assign(score=ds.score.where(ds.metric != "m1", 1.0))  # m1 is constant: nothing is known of it
    verdict = gate.check(ds, gate.requirement("pearson >= .9"), gold="human", metric=["m0", "m1"], level="input")
    assert verdict.status == gate.NOT_MET and verdict.line.startswith("pearson >= .9: not met for m0. ")
    assert gate.check(ds, gate.requirement("pearson >= .1"), gold="human", level="input").status == gate.UNKNOWN


@pytest.mark.filterwarnings("ignore")
def test_a_bias_that_is_found_decides_before_one_that_cannot_be_tested():
    ds = judged(systems=12)
    length = ds.score.sel(metric="m0", drop=True) - ds.score.sel(metric="human", drop=True)
    ds = ds.assign(length=length, tokens=(("system", "input"), np.ones((12, 40)) * (np.arange(12) == 0)[:, None]))
    found = ds.meta.bias("human", given=["length", "tokens"], metric="m0")
    assert (
        np.isnan(found.pvalue.sel(covariate="tokens")).all() and (found.ci_high.sel(covariate="length") > 0.001).all()
    )
    verdict = gate.check(ds, gate.requirement("bias <= .001"), gold="human", metric="m0")
    assert verdict.status == gate.NOT_MET
