"""Three models, 120 prompts, three annotators with gaps and two judges: a session from the file to the report."""

import warnings

import numpy as np
import pandas as pd
import pytest

from xsumstat.cli import main as cli

MODELS, PROMPTS = ("gpt", "llama", "qwen"), 120
ANNOTATORS, JUDGES = ["ann_1", "ann_2", "ann_3"], ["judge_a", "judge_b"]
# What is said of her answer: outputs that nobody rated, and at system level that three points are few.
ABOUT_IT = {"cells_left_out", "few_systems"}


def grades(values):
    return np.clip(np.rint(3 + 1.1 * values), 1, 5)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """One row per output; a quarter of each annotator's grades is missing."""
    rng = np.random.default_rng(4)
    quality = np.repeat([0.0, 0.3, 0.7], PROMPTS) + rng.normal(size=3 * PROMPTS)
    frame = pd.DataFrame({"model": np.repeat(MODELS, PROMPTS), "prompt": np.tile(np.arange(PROMPTS), 3)})
    for name in ANNOTATORS:
        rated = grades(quality + 0.6 * rng.normal(size=len(frame)))
        frame[name] = np.where(rng.random(len(frame)) < 0.25, np.nan, rated)
    for name, noise in zip(JUDGES, (0.5, 0.9), strict=True):
        frame[name] = grades(quality + noise * rng.normal(size=len(frame)))
    frame["length"] = np.rint(np.exp(4 + 0.2 * quality + 0.3 * rng.normal(size=len(frame))))
    path = tmp_path_factory.mktemp("session") / "outputs.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def ds(file):
    frame = pd.read_csv(file)
    call = next(line for line in str(frame.meta).splitlines() if "to_scores" in line).split("= ", 1)[1]
    return eval(call, {"df": frame})


OF_SCORES = {
    "report": lambda d: d.meta.report(),
    "ci": lambda d: d.meta.ci(metric=JUDGES, level="input", coefficient="kendall"),
    "ci of outputs": lambda d: d.meta.ci(metric=JUDGES, level="global"),
    "compare_metrics": lambda d: d.meta.compare_metrics(metric=JUDGES, level="input", coefficient="kendall"),
    "rank": lambda d: d.meta.rank(metric=JUDGES, level="input"),
    "corr": lambda d: d.meta.corr(metric=JUDGES, level="input"),
    "bias": lambda d: d.meta.bias(metric=JUDGES, given="length", level="input"),
    "boot_test": lambda d: d.meta.boot_test(metric=JUDGES, level="input", n_resamples=99, rng=0),
    "equivalence": lambda d: d.meta.equivalence(
        metric=JUDGES[0], other=JUDGES[1], margin=0.2, level="input", method="jackknife"
    ),
    "human_ceiling": lambda d: d.meta.human_ceiling(metric=JUDGES, level="input"),
    "alt_test": lambda d: d.meta.alt_test(metric=JUDGES),
    "agreement": lambda d: d.meta.agreement(),
    "system_means": lambda d: d.meta.system_means(metric=JUDGES[0]),
}
AT_SYSTEM_LEVEL = {
    "ci of systems": lambda d: d.meta.ci(metric=JUDGES),
    "compare_metrics of systems": lambda d: d.meta.compare_metrics(metric=JUDGES),
}


@pytest.mark.parametrize("question", [*OF_SCORES, *AT_SYSTEM_LEVEL])
def test_nothing_is_said_but_of_her_answer(ds, question):
    """And no more than what a question leaves out, once; every interval and test is for these three models."""
    asked = OF_SCORES.get(question) or AT_SYSTEM_LEVEL[question]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = asked(ds)
    codes = [getattr(each.message, "code", str(each.message)) for each in caught]
    allowed = ABOUT_IT if question in AT_SYSTEM_LEVEL else ABOUT_IT - {"few_systems"}
    assert set(codes) <= allowed and len(codes) == len(set(codes)), [str(each.message) for each in caught]
    if question not in ("report", "corr"):
        whom = "outputs like these" if question == "alt_test" else "these systems"
        assert found.attrs.get("scope", whom) == whom
        for limit in {"ci_low", "ci_high"} & set(found.data_vars):
            assert found[limit].notnull().any()
        assert "these 3 systems" in found.meta.conclusion() or question in ("alt_test", "system_means", "bias")


def test_the_command_line_says_as_little(file, capsys):
    status = cli.main([str(file), "--raters", *ANNOTATORS])
    out, said = capsys.readouterr()
    told = [line for line in said.splitlines() if "warning" in line]
    assert status == 0 and len(told) == 1 and "judge_a (11 of 360)" in told[0]
    assert "For these 3 systems on inputs like these" in " ".join(out.split())
