"""Every shell line and Python block of README and docs is run, page by page, or left out by a rule with a name."""

import ast
import importlib
import re
import shlex
import warnings
from collections import Counter
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import task_folders

import xsumstat
from xsumstat.cli import gate
from xsumstat.cli import main as cli

ROOT = Path(__file__).parents[2]
PAGES = {
    path.relative_to(ROOT).as_posix(): path
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if not {"_build", "generated", "notebooks"} & set(path.relative_to(ROOT).parts)
}
BLOCK = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CALL = re.compile(
    r"(?<!`)`((?:python -m )?xsumstat [^`]+)`(?!`)|^(?: {4})?((?:python -m )?xsumstat -?[^\n|]+)$", re.MULTILINE
)

# Blocks of Python that are not run here, by the words that they are known by, and why.
LEFT_OUT = {
    'folder, "wmt24"': "scores of a shared task, which nobody may pass on; tests/io/test_mtme.py runs the calls",
    "data.EvalSet(": "mt-metrics-eval is in no registry; tests/io/test_mtme_evalset.py reads folders as it does",
    ".seg.rating": "a file of WMT; tests/io/test_span_ratings.py runs the calls",
    "esa_generalMT2024": "a file of WMT; tests/io/test_esa.py runs the calls",
    "mqm_generalMT2022": "a file of WMT; tests/io/test_mqm.py runs the calls",
    'Client("scheduler:8786")': "a cluster; tests/report/test_lazy_report.py and the tests of clusters run the calls",
    "# a row for each score\n": "frames of five shapes under one name; tests/io/test_frames.py runs the calls",
    "xsumstat.plan(demo, difference": "`ds` stands for any ratings; tests/analyses run the calls",
    'xsumstat.coverage(ds, "human"': "some minutes of simulation; tests/simulation runs the calls",
}
# Lines of shell that are not run here.
SHELL_LEFT_OUT = {"--help": "prints and ends", "compile": "tests/cli/test_compilation.py", "tcp://": "a cluster"}
INSTALLATION = re.compile(r"^(python3? -m venv|python -m pip|pip install)")
DEMO = 'import xsumstat\nds = xsumstat.load_dataset("demo")\n'


def blocks(text):
    """The Python of a page, in its order."""
    found = []
    for language, body in BLOCK.findall(text):
        if language.strip() in ("python", "{code-cell} python", "{code-cell} ipython3"):
            found.append("\n".join(line for line in body.splitlines() if not line.startswith((":tags:", ":mystnb:"))))
    return found


def shell(text):
    """The calls of the command line, and the lines of installation, in fenced blocks and in sentences."""
    plain = BLOCK.sub("", text)
    calls = [one or two for one, two in CALL.findall(plain)]
    lines = [line for language, body in BLOCK.findall(text) if language.strip() in ("", "sh", "text", "bash", "console")
             for line in body.splitlines() if line.strip()]  # fmt: skip
    return calls + [line for line in lines if line.startswith(("xsumstat ", "python -m xsumstat"))], [
        line for line in lines if INSTALLATION.match(line)
    ]


def why_left_out(code, rules):
    return next((reason for words, reason in rules.items() if words in code), None)


def run(code, space):
    """As a cell: the last expression is shown."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<page>", "exec"), space)
    if last is not None:
        repr(eval(compile(ast.Expression(last.value), "<page>", "eval"), space))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with what sentences speak of: scores with human ones, and those in a file of their own."""
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    frame = xsumstat.load_dataset("demo").score.to_series().unstack("metric").reset_index()
    frame.to_csv("scores.csv", index=False)
    frame[["system", "input", "human"]].to_csv("human.csv", index=False)
    rng = np.random.default_rng(1)
    frame.to_csv("old.csv", index=False)
    frame.assign(judge=frame["judge"] + 0.2 * rng.normal(size=len(frame))).to_csv("new.csv", index=False)
    rng = np.random.default_rng(1)
    made = xsumstat.simulate(14, 60, agreement={"judge": 0.8, "TER": 0.4}, truth=False, rng=1)
    own = made.score.to_series().unstack("metric").rename_axis(["model", "doc"]).reset_index()
    for rater in ("ann_1", "ann_2", "ann_3"):
        own[rater] = np.clip(np.round(3 + own.human + 0.7 * rng.normal(size=len(own))), 1, 5)
    own.drop(columns="human").to_csv("outputs.csv", index=False)
    unusual = {"ann_1": "kim", "ann_2": "lee", "judge": "gpt", "TER": "llama", "doc": "prompt"}
    own.drop(columns=["human", "ann_3"]).rename(columns=unusual).to_csv("grades.csv", index=False)
    run(CODE[JUDGES][0], {})  # graded.csv
    graded = pd.read_csv("graded.csv")
    again = np.clip(graded["judge"] + rng.integers(-1, 2, len(graded)), 1, 10)
    pd.concat([graded.assign(run=1), graded.assign(run=2, judge=again)]).to_csv("runs.csv", index=False)
    _, told = task_folders.make(tmp_path)
    task_folders.own(tmp_path / "mine", told)
    (tmp_path / "NEW-refA.seg.score").write_text((tmp_path / "mine/en-es/NEW-refA.seg.score").read_text())
    yield tmp_path
    plt.close("all")


JUDGES, CHECKS = "docs/guides/raters_and_judges.md", "docs/guides/judge_checks.md"
CODE = {name: blocks(path.read_text("utf-8")) for name, path in PAGES.items()}
SHELL = [(name, line) for name, path in PAGES.items() for line in shell(path.read_text("utf-8"))[0]]
# Lines of a file for continuous integration.
CI = re.findall(r"^ +- run: (.+)$", "".join(body for language, body in BLOCK.findall(PAGES[CHECKS].read_text("utf-8"))
                                           if language == "yaml"), re.MULTILINE)  # fmt: skip
SHELL += [(CHECKS, line) for line in CI if line.startswith("xsumstat ")]
RUN = [(name, line) for name, line in SHELL if why_left_out(line, SHELL_LEFT_OUT) is None]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        pytest.param(name, line, marks=() if name == "README.md" and "--judge" not in line else pytest.mark.slow)
        for name, line in RUN
    ],
)
def test_lines_of_the_shell(folder, capsys, name, line):
    words = shlex.split(line.removeprefix("python -m "))[1:]
    if "--gold-file" in words:  # its scores have no human ones of their own
        frame = xsumstat.load_dataset("demo").drop_sel(metric="human").score.to_series().unstack("metric")
        frame.reset_index().to_csv("scores.csv", index=False)
    status = cli.main(words)
    assert status == 0, capsys.readouterr().err
    assert "--output" not in words or Path(words[words.index("--output") + 1]).stat().st_size > 10_000


@pytest.mark.slow
def test_calls_of_the_table_of_judges(folder):
    """On the guide's own file; the version that `old` stands for is the file itself."""
    space = {}
    rows = [line for line in PAGES[JUDGES].read_text("utf-8").splitlines() if line.startswith("| ")]
    calls = [call for line in rows for call in re.findall(r"`((?:ds\.meta|new\.meta|xsumstat)\.[^`]+)`", line)]
    assert len(calls) > 10
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for code in CODE[JUDGES][:3]:
            run(code, space)
        space |= {"new": space["ds"], "old": space["ds"]}
        for call in calls:
            assert eval(call, space).meta.conclusion(), call


def test_the_parser_takes_each_line():
    for _, line in RUN:
        args = cli.parser().parse_args(shlex.split(line.removeprefix("python -m "))[1:])
        assert [gate.requirement(rule).text for rule in args.require] == args.require


def test_the_file_for_continuous_integration_asks_what_the_guide_asks():
    """It installs what README installs, and its gate names a judge and files that the guide has made."""
    install, asked = CI
    assert install == 'pip install "./xsumstat[plot]"'
    args = cli.parser().parse_args(shlex.split(asked)[1:])
    assert (args.scores, args.metric, args.judge) == ("graded.csv", ["judge"], True) and len(args.require) == 2
    assert f"path: {args.output}" in PAGES[CHECKS].read_text("utf-8")


@pytest.mark.slow
def test_exit_statuses_are_those_that_the_guide_tells(folder, capsys):
    statuses = re.findall(r"^\| (\d) \| (.+?) \|$", PAGES[CHECKS].read_text("utf-8"), re.MULTILINE)
    assert [int(status) for status, _ in statuses] == [gate.MET, gate.NOT_MET, gate.UNKNOWN]
    asked = ["graded.csv", "--judge", "--metric", "judge", "--require"]
    assert [cli.main([*asked, rule]) for rule in ("kendall >= .1", "kendall >= .99", "spa >= .1")] == [0, 1, 2]
    assert cli.main(["missing.csv", *asked[1:], "kendall >= .1"]) == 2
    capsys.readouterr()


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, code in CODE.items() if code])
def test_pages(folder, name, monkeypatch):
    if name == "docs/calibration.md":  # the files that it offers
        monkeypatch.syspath_prepend(ROOT / "docs")
        importlib.import_module("lookup_tables").write(ROOT / "benchmarks", folder)
    space = {"__name__": "__main__"}
    exec(DEMO, space)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for code in CODE[name]:
            if why_left_out(code, LEFT_OUT) is None:
                run(code, space)


def test_the_first_page_s_blocks(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for code in CODE["README.md"]:
            run(code, {})


def test_nothing_is_left_out_silently():
    """Each rule is of use, and these are all blocks and lines that it keeps from being run."""
    code = Counter(why_left_out(each, LEFT_OUT) for some in CODE.values() for each in some)
    lines = Counter(why_left_out(line, SHELL_LEFT_OUT) for _, line in SHELL)
    assert set(code) == {None, *LEFT_OUT.values()} and sum(n for reason, n in code.items() if reason) == 10
    assert code[None] > 70 and lines[None] >= 4
    assert {"README.md", "docs/own_csv.md"} <= {name for name, line in RUN if "--raters" in line}
    installed = [line for path in PAGES.values() for line in shell(path.read_text("utf-8"))[1]]
    assert (
        len(installed) == 3
    )  # README's two commands, which .ci/run runs, and the one of the documentation's first page
