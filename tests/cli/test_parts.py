"""Several criteria in one table: `--only COLUMN=LABEL`, and columns of raters and judges for each criterion."""

import warnings

import numpy as np
import pandas as pd
import pytest
from conftest import of_code, warns

import xsumstat  # noqa: F401
from xsumstat.cli import main as cli
from xsumstat.io import criteria


def long(prompts=30):
    """Two criteria of three models, by three raters and a judge; the judge knows less of correctness."""
    rng = np.random.default_rng(5)
    rows = []
    for at, model in enumerate(["gpt", "llama", "ours"]):
        for prompt in range(prompts):
            for criterion, noise in (("helpfulness", 0.5), ("correctness", 1.5)):
                quality = 3 + at / 4 + rng.normal()
                grades = np.clip(np.round(quality + rng.normal(size=4) * [0.7, 0.7, 0.7, noise]), 1, 5)
                names = ["ann_kim", "ann_lee", "ann_max", "judge_a"]
                labels = {"model": model, "prompt": f"p{prompt:02d}", "topic": ["code", "chat"][prompt % 2]}
                rows.append({**labels, "criterion": criterion, **dict(zip(names, grades, strict=True))})
    return pd.DataFrame(rows)


def wide():
    frame = long().pivot(index=["model", "prompt"], columns="criterion", values=["ann_kim", "ann_lee", "judge_a"])
    return frame.set_axis([f"{name}_{criterion}" for name, criterion in frame.columns], axis=1).reset_index()


def run(capsys, tmp_path, frame, *arguments):
    path = tmp_path / "own.csv"
    frame.to_csv(path, index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        status = cli.main([str(path), *arguments])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_one_criterion_is_what_its_rows_say(capsys, tmp_path):
    frame = long()
    status, out, err = run(capsys, tmp_path, frame, "--judge", "--only", "criterion=correctness")
    assert status == 0 and "own.csv: 3 systems, 30 inputs" in err
    assert out.startswith("Can the judge be trusted? own.csv (criterion=correctness)")
    alone = frame[frame["criterion"] == "correctness"].drop(columns="criterion")
    _, want, _ = run(capsys, tmp_path, alone, "--judge")
    assert out.splitlines()[1:] == want.splitlines()[1:]
    _, out, err = run(
        capsys, tmp_path, frame, "--judge", "--only", "criterion=correctness", "--only", "topic=code"
    )  # fmt: skip
    _, want, _ = run(capsys, tmp_path, alone[alone["topic"] == "code"], "--judge")
    assert out.splitlines()[1:8] == want.splitlines()[1:8] and "own.csv: 3 systems, 15 inputs" in err


def test_gates_and_older_versions_have_the_same_part(capsys, tmp_path):
    frame = long()
    old = tmp_path / "old.csv"
    frame.to_csv(old, index=False)
    asked = ["--only", "criterion=helpfulness", "--anchor", str(old), "--require", "drift <= .1"]
    status, out, _ = run(capsys, tmp_path, frame, *asked)
    assert status == 0 and out.rstrip().splitlines()[-1].startswith("drift <= .1: met.") and "90 of 90 outputs" in out


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("criterion=correctnes", "unknown label of --only criterion 'correctnes'; did you mean 'correctness'?"),
        ("crit=correctness", "unknown column of --only 'crit'; did you mean 'criterion'? columns: 'model', 'prompt'"),
        ("criterion", "--only must be COLUMN=LABEL, as criterion=helpfulness, got 'criterion'"),
        ("ann_kim=4.0", "unknown column of --only 'ann_kim'"),
    ],
)
def test_what_there_is_not_is_refused(capsys, tmp_path, asked, told):
    status, out, err = run(capsys, tmp_path, long(), "--judge", "--only", asked)
    assert status == 2 and told in err and not out


def test_a_report_of_several_criteria_says_how_to_choose_one(capsys, tmp_path):
    status, _, err = run(capsys, tmp_path, long(), "--judge", "--dim", "criterion")
    assert status == 2 and "each has 2 along 'criterion'. Choose one: --only criterion=helpfulness" in err


def test_columns_for_each_criterion_are_not_pooled(capsys, tmp_path):
    status, _, err = run(capsys, tmp_path, wide(), "--judge")
    command = "own.csv --raters ann_kim_correctness ann_lee_correctness --metric judge_a_correctness --judge"
    assert status == 2 and "several criteria, 'correctness', 'helpfulness'. Analyse one at a time: " in err
    assert command in err.replace(f"{tmp_path}/", "")
    one_each = (
        wide().rename(columns=lambda name: name.replace("ann_kim", "human")).filter(regex="model|prompt|human|judge")
    )
    status, _, err = run(capsys, tmp_path, one_each, "--judge")
    assert status == 2 and "--gold human_correctness --metric judge_a_correctness --judge" in err


def test_ratings_of_several_criteria_are_warned_of():
    frame = wide()
    raters = [name for name in frame if name.startswith("ann_kim")]
    with warns(
        "several_criteria", "^ratings has columns of several criteria, 'correctness', 'helpfulness', whose mean"
    ):
        frame.meta.to_scores(system="model", input="prompt", wide=True, ratings=raters)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        one = [name for name in frame if name.startswith("ann") and name.endswith("correctness")]
        frame.meta.to_scores(system="model", input="prompt", wide=True, ratings=one)
    assert not of_code(caught, "several_criteria")


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ("human_1 human_2 judge_1 judge_2", []),
        ("ann_kim ann_lee judge_gpt judge_claude", []),
        ("rating_mean rating_std judge_mean judge_std", []),
        ("human_fluency human_relevance judge_fluency judge_relevance", ["fluency", "relevance"]),
        ("fluency_ann fluency_bob relevance_ann relevance_bob length", ["fluency", "relevance"]),
        ("FluencyAnn RelevanceAnn FluencyBob RelevanceBob", ["fluency", "relevance"]),
        ("ann_fluency ann_relevance bob_fluency", []),
        ("rouge_1_recall rouge_2_recall rouge_1_precision", []),
    ],
)
def test_names_of_criteria(names, found):
    assert sorted(criteria.by_criterion(names.split())) == found


@pytest.mark.slow
def test_prompts_of_one_language(capsys, tmp_path):
    """A column of languages is no further dim where each prompt has one."""
    frame = long().query("criterion == 'correctness'").drop(columns=["criterion", "topic"])
    frame["language"] = np.where(frame["prompt"].str[1:].astype(int) % 3, "en", "hi")
    status, out, err = run(capsys, tmp_path, frame, "--judge", "--only", "language=hi")
    assert status == 0 and "own.csv: 3 systems, 10 inputs" in err
    _, want, _ = run(capsys, tmp_path, frame[frame["language"] == "hi"].drop(columns="language"), "--judge")
    assert out.splitlines()[1:6] == want.splitlines()[1:6]


@pytest.mark.slow
def test_one_system_and_numbered_labels(capsys, tmp_path):
    frame = long().query("criterion == 'correctness'").drop(columns=["criterion", "topic"])
    for name in ("model", "system"):
        status, _, err = run(capsys, tmp_path, frame, "--judge", "--only", f"{name}=gpt")
        assert status == 0 and "own.csv: 1 system, 30 inputs" in err
    turns = pd.concat([frame.assign(turn=1), frame.assign(turn=2, judge_a=3)])
    status, out, _ = run(capsys, tmp_path, turns, "--judge", "--dim", "turn", "--only", "turn=1")
    whole = run(capsys, tmp_path, frame, "--judge")[1]
    assert status == 0 and out.splitlines()[1:6] == whole.splitlines()[1:6]
