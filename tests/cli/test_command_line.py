"""The command line: options in messages, words of other tools, columns and logs that are recognised, human files."""

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import xsumstat
from xsumstat.cli import main as cli
from xsumstat.cli import options
from xsumstat.coefficients import table
from xsumstat.core import levels
from xsumstat.core.synonyms import VALUES
from xsumstat.inference import corrections

FIXTURES = Path(__file__).parents[1] / "io" / "fixtures"
CHOICES = {
    "level": levels.LEVELS,
    "coefficient": tuple(table.COEFFICIENTS),
    "resample": ("both", "system", "input"),
    "adjust": tuple(corrections.CORRECTIONS),
}
# What a message must not say: Python's way to write arguments.
PYTHON = re.compile(r"\b[a-z_]+=|\bds\.|\bpd\.|\bdims\b|xsumstat\.[a-z]")


def run(capsys, *arguments):
    status = cli.main([str(argument) for argument in arguments])
    return status, *capsys.readouterr()


def refused(capsys, *arguments):
    """What is said of options that are refused before anything is read."""
    with pytest.raises(SystemExit) as end:
        cli.main([str(argument) for argument in arguments])
    assert end.value.code == 2
    return capsys.readouterr().err


@pytest.fixture
def wide(demo):
    return demo.score.to_series().unstack("metric").reset_index()


def interval(out, metric):
    return re.search(rf"^{metric} +(-?\d*\.\d+) ", out, re.MULTILINE)[1]


# --- words ---


@pytest.mark.parametrize(
    "option, word, meant",
    [
        ("level", "segment", "input"),
        ("level", "sys", "system"),
        ("coefficient", "tau", "kendall"),
        ("coefficient", "Spearman's rho", "spearman"),
        ("resample", "documents", "input"),
        ("adjust", "fdr", "bh"),
        ("coefficient", "kendal", "kendall"),
    ],
)
def test_words_that_users_try_first(capsys, option, word, meant):
    said = refused(capsys, "demo", f"--{option}", word)
    assert f"argument --{option}: must be one of" in said and f"did you mean {meant!r}?" in said


def synonyms():
    return [
        (o, word, meant) for o in CHOICES for meant, said in VALUES[o].items() if meant in CHOICES[o] for word in said
    ]


def test_every_synonym_of_a_value(capsys):
    assert len(synonyms()) > 80
    for option, word, meant in synonyms():
        if meant == "maxt":  # of draws, which a report has none of
            continue
        said = refused(capsys, "demo", f"--{option}", word)
        assert f"did you mean {meant!r}?" in said, (option, word)


@pytest.mark.parametrize(
    "wrong, meant",
    [
        ("--n-boot", "--n-resamples"),
        ("--n_permutations", "--n-resamples"),
        ("--n-resample=9", None),
        ("--rng", "--seed"),
        ("--random-state", "--seed"),
        ("--human", "--gold"),
        ("--metrics", "--metric"),
        ("--correlation", "--coefficient"),
        ("--method", "--coefficient"),
        ("--ci", "--confidence-level"),
        ("--correction", "--adjust"),
        ("--significance", "--alpha"),
        ("--model-column", "--system-column"),
        ("--doc-column", "--input-column"),
        ("--value-column", "--score-column"),
        ("--html", "--output"),
        ("--annotations", "--gold-file"),
        ("--lower", None),
        ("--coeficient", "--coefficient"),
        ("--judges", "--judge"),
        ("--kappa", "--coefficient kappa"),
        ("--prompt", "--input-column"),
        ("--runs", "--run"),
    ],
)
def test_options_that_there_are_not(capsys, wrong, meant):
    if meant is None:  # enough letters of an option stand for it
        assert cli.parser().parse_args(["demo", *([wrong] if "=" in wrong else [wrong, "x"])])
        return
    said = refused(capsys, "demo", wrong, "7")
    assert f"there is no option {wrong}; did you mean {meant}?" in said
    assert len(said.splitlines()) == 3


def test_an_option_like_none(capsys):
    assert "there is no option --zzz; --help lists the options" in refused(capsys, "demo", "--zzz")


def test_synonyms_of_options_name_options_and_are_none():
    known = {option for action in cli.parser()._actions for option in action.option_strings}
    assert set(options._SYNONYMS) <= known
    words = [word for each in options._SYNONYMS.values() for word in each.split()]
    assert len(words) == len(set(words))
    assert not {f"--{word}" for word in words} & known


@pytest.mark.parametrize(
    "called, name",
    [
        ("/usr/bin/xsumstat", "xsumstat"),
        ("/lib/xsumstat/__main__.py", "python -m xsumstat"),
        ("pytest", "python -m xsumstat"),
    ],
)
def test_usage_has_the_name_that_was_called(capsys, monkeypatch, called, name):
    monkeypatch.setattr("sys.argv", [called])
    assert refused(capsys, "demo", "--zzz").startswith(f"usage: {name} SCORES")
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    assert f"  {name} demo\n" in capsys.readouterr().out


# --- errors speak of options ---


def test_errors_speak_of_options(capsys, tmp_path, wide):
    tidy = wide.melt(["system", "input"], var_name="metric", value_name="score")
    cases = {
        "--system-column: 'modle' is not a column": (wide, ["--system-column", "modle"]),
        "no column is called 'input'; say which one names the inputs: --input-column COLUMN; columns: 'system', 'x'": (
            wide.rename(columns={"input": "x"}),
            [],
        ),
        "--score-column: 'score' is not a column": (tidy.rename(columns={"score": "x"}), []),
        "--dim: 'language' is not a column": (wide, ["--dim", "language"]),
        "add --aggregate mean, or --dim COLUMN": (pd.concat([tidy, tidy]), []),
        "--aggregate must be a rule of pandas', as 'mean'": (tidy, ["--aggregate", "meen"]),
        "must hold numbers": (tidy.assign(score="x"), []),
        "is '5 %' in a.csv, line 2; take the percent signs off": (tidy.assign(score="5 %"), []),
        "could name the system: 'model', 'mt_system'; say which one: --system-column COLUMN": (
            wide.rename(columns={"system": "model"}).assign(mt_system="x"),
            [],
        ),
        "--n-resamples must be at least 2, got 1": (wide, ["--n-resamples", "1"]),
        "--confidence-level must lie strictly": (wide, ["--confidence-level", "95"]),
        "unknown metric 'bleu'; metrics: 'human', 'judge'": (
            wide.assign(bleu=np.nan),
            ["--metric", "bleu"],
        ),
    }
    for message, (frame, more) in cases.items():
        frame.to_csv(tmp_path / "a.csv", index=False)
        status, out, err = run(capsys, tmp_path / "a.csv", "--gold", "human", *more)
        error = err.splitlines()[-1]
        assert status == 2 and out == "" and message in error, (message, error)
        assert not PYTHON.search(error.replace(str(tmp_path), "")), error


def test_the_remark_on_a_negative_metric_speaks_of_options(capsys, tmp_path, wide):
    wide.to_csv(tmp_path / "a.csv", index=False)
    _, _, err = run(capsys, tmp_path / "a.csv", "--gold", "human", "--n-resamples", 49)
    remark = "if lower is better, add --lower-is-better perplexity; if low human scores are good, as for errors, "
    assert f"{remark}--lower-is-better human instead\n" in err and not PYTHON.search(err)
    _, out, err = run(
        capsys, tmp_path / "a.csv", "--gold", "human", "--n-resamples", 49, "--lower-is-better", "perplexity"
    )
    assert "correlate negatively" not in err and not interval(out, "perplexity").startswith("-")
    _, _, err = run(capsys, tmp_path / "a.csv", "--gold", "human", "--lower-is-better", "Perplexity")
    assert "unknown metric in --lower-is-better 'Perplexity'; did you mean 'perplexity'?" in err


# --- columns and logs are recognised ---


@pytest.mark.parametrize(
    "names",
    [
        {"system": "model", "input": "doc"},
        {"system": "Summarizer", "input": "Doc ID", "metric": "scorer", "score": "value"},
        {"system": "mt_system", "input": "seg_id", "metric": "evaluator", "score": "rating"},
        {"system": "model_name", "input": "id"},
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_usual_columns(capsys, tmp_path, demo, wide, names, suffix):
    frame = wide.melt(["system", "input"], var_name="metric", value_name="score") if "metric" in names else wide
    frame, path = frame.rename(columns=names), tmp_path / f"a{suffix}"
    if suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    status, out, err = run(capsys, path, "--gold", "human", "--n-resamples", 20, "--metric", "judge", "rouge")
    assert status == 0
    assert interval(
        out, "judge"
    ) == f"{float(demo.meta.corr('human', metric='judge').correlation[0]):.2f}".removeprefix("0")
    for field, name in names.items():
        assert f"{field} from column {name!r}" in err and f"--{field}-column" in err


def test_our_own_names_are_taken_without_a_word(capsys, tmp_path, wide):
    wide.assign(model="x").to_csv(tmp_path / "a.csv", index=False)
    status, _, err = run(
        capsys, tmp_path / "a.csv", "--gold", "human", "--n-resamples", 20, "--metric", "judge", "rouge"
    )
    assert status == 0 and "from column" not in err


def test_a_wide_file_may_have_metrics_called_value_and_an_evaluator(capsys, tmp_path, wide):
    wide.rename(columns={"judge": "value", "bleu": "rating"}).to_csv(tmp_path / "a.csv", index=False)
    status, out, _ = run(
        capsys, tmp_path / "a.csv", "--gold", "human", "--n-resamples", 20, "--metric", "value", "rating"
    )
    assert status == 0 and interval(out, "value") and interval(out, "rating")


def test_a_broken_header_is_an_error(capsys, tmp_path):
    (tmp_path / "a.csv").write_bytes(b"system,inp\0ut,a,b\n" + b'"' + b"x" * 200_000 + b'"\n')
    status, _, err = run(capsys, tmp_path / "a.csv", "--gold", "a")
    assert status == 2 and "xsumstat: error: cannot read a.csv as .csv: line 1: it holds a NUL character" in err
    (tmp_path / "a.csv").write_bytes(b'"' + b"x" * 200_000 + b'",input\n')
    status, _, err = run(capsys, tmp_path / "a.csv", "--gold", "human")
    assert status == 2 and "cannot read a.csv as .csv: line 1: field larger than field limit" in err


def test_logs_of_evaluation_tools(capsys, tmp_path):
    folder = Path(shutil.copytree(FIXTURES / "promptfoo", tmp_path / "logs"))
    rows = [
        {"model": system, "test_id": str(at), "id": str(at), "score": at + place / 4}
        for place, system in enumerate(["mock:one, Write about {{topic}}", "mock:one, prompt 2", "second"])
        for at in range(3)
    ]
    pd.DataFrame(rows).drop(columns="test_id").to_csv(tmp_path / "human.csv", index=False)
    status, out, err = run(
        capsys, folder, "--gold-file", tmp_path / "human.csv", "--n-resamples", 20, "--level", "input"
    )
    assert "logs: 4 metrics, 3 systems, 3 inputs" in err and "8 of 8 outputs of logs have a human score" in err
    assert status == 0 and "similar" in out


# --- human scores in a file of their own ---


def human_files(wide, tmp_path):
    """Three people's ratings, apart from the metrics, in three layouts, and their mean by plain arithmetic."""
    rng = np.random.default_rng(0)
    people = wide[["system", "input"]].assign(
        **{f"annotator_{at}": wide.human + rng.normal(size=len(wide)).round(1) for at in (1, 2, 3)}
    )
    long = people.melt(["system", "input"], var_name="annotator", value_name="rating")
    means = people.assign(gold=people[[f"annotator_{at}" for at in (1, 2, 3)]].mean(axis=1))
    people.rename(columns={"system": "model"}).to_csv(tmp_path / "wide.csv", index=False)
    long.rename(columns={"input": "doc"}).to_csv(tmp_path / "long.csv", index=False)
    long.drop(columns="annotator").to_csv(tmp_path / "repeated.csv", index=False)
    means[["system", "input", "gold"]].to_csv(tmp_path / "mean.csv", index=False)
    wide.drop(columns="human").to_csv(tmp_path / "scores.csv", index=False)
    return means


@pytest.mark.parametrize(
    "layout, said",
    [
        ("wide", "the mean of 3 raters"),
        ("long", "the mean of 3 raters from 'annotator'"),
        ("repeated", "with 720 repeated rows averaged"),
        ("mean", "human scores from 'gold'"),
    ],
)
def test_human_scores_in_a_file_of_their_own(capsys, tmp_path, wide, layout, said):
    means = human_files(wide, tmp_path).groupby("system").gold.mean()
    status, out, err = run(
        capsys, tmp_path / "scores.csv", "--gold-file", tmp_path / f"{layout}.csv", "--n-resamples", 20
    )
    assert status == 0 and said in err
    assert "360 of 360 outputs of scores.csv have a human score\n" in err
    want = np.corrcoef(means, wide.groupby("system").judge.mean())[0, 1]
    assert interval(out, "judge") == f"{want:.2f}".removeprefix("0")
    assert not any(line.startswith("human  ") for line in out.splitlines())


def test_what_found_no_partner_is_counted(capsys, tmp_path, wide):
    human_files(wide, tmp_path)
    mean = pd.read_csv(tmp_path / "mean.csv").iloc[8:]
    more = pd.DataFrame({"system": ["s-x", "s-x", "s-y"], "input": ["doc-01", "d", "d"], "gold": [1, 2, 3]})
    pd.concat([mean, more]).to_csv(tmp_path / "h.csv", index=False)
    status, _, err = run(capsys, tmp_path / "scores.csv", "--gold-file", tmp_path / "h.csv", "--n-resamples", 20)
    first = "/".join(wide.iloc[0][["system", "input"]])
    assert status == 0
    assert f"352 of 360 outputs of scores.csv have a human score; 8 have none, as {first}, " in err
    assert "; 3 human scores without an output, e.g. s-x/doc-01, s-x/d, s-y/d\n" in err


def test_a_column_of_the_human_file_can_be_named(capsys, tmp_path, wide):
    means = human_files(wide, tmp_path)
    both = means[["system", "input", "gold"]].rename(columns={"gold": "fluency"}).assign(relevance=wide.judge)
    both.to_csv(tmp_path / "h.csv", index=False)
    status, _, err = run(capsys, tmp_path / "scores.csv", "--gold-file", tmp_path / "h.csv")
    assert status == 2 and "several columns of numbers: 'fluency', 'relevance'; --gold NAME says which" in err
    status, out, err = run(
        capsys, tmp_path / "scores.csv", "--gold-file", tmp_path / "h.csv", "--gold", "relevance", "--n-resamples", 20
    )
    assert status == 0 and interval(out, "judge") == "1.00" and "relevance" in out


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda h: h.rename(columns={"system": "x"}), "h.csv has no column that names the system; columns: 'x'"),
        (lambda h: h.drop(columns="gold"), "h.csv has no column of numbers beside its labels"),
        (lambda h: h.assign(system="other"), "no human score matches an output: the scores have system"),
        (lambda h: h.iloc[:0], "cannot read h.csv as .csv: it has a header and no rows"),
    ],
)
def test_bad_human_files(capsys, tmp_path, wide, change, message):
    human_files(wide, tmp_path)
    change(pd.read_csv(tmp_path / "mean.csv")).to_csv(tmp_path / "h.csv", index=False)
    status, out, err = run(capsys, tmp_path / "scores.csv", "--gold-file", tmp_path / "h.csv")
    assert status == 2 and out == "" and re.search(message, err.splitlines()[-1])


def test_a_human_file_that_is_none(capsys, tmp_path, wide):
    human_files(wide, tmp_path)
    status, _, err = run(capsys, tmp_path / "scores.csv", "--gold-file", tmp_path / "none.csv")
    assert status == 2 and "no such file" in err
    status, _, err = run(capsys, "demo", "--gold-file", tmp_path / "mean.csv")
    assert status == 2 and "there is a metric 'human' in the scores already" in err
    status, _, err = run(
        capsys, tmp_path / "scores.csv", "--gold-file", tmp_path / "mean.csv", "--output", tmp_path / "mean.csv"
    )
    assert status == 2 and "from which scores are read" in err
    assert xsumstat.load_dataset("demo").sizes["metric"] == 7


def test_the_columns_of_raters_become_the_gold(capsys, tmp_path, monkeypatch):
    """Their mean by pandas, as a column of its own that --gold names, has the same answers."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    frame = xsumstat.load_dataset("demo").score.to_series().unstack("metric").reset_index()
    raters = ["ann_1", "ann_2"]
    for name in raters:
        frame[name] = frame.human + rng.normal(size=len(frame))
    plain = frame.assign(human=frame[raters].mean(axis=1)).drop(columns=raters)
    frame.drop(columns="human").to_csv("raters.csv", index=False)
    plain.to_csv("plain.csv", index=False)
    tables = []
    for words in (("raters.csv", "--raters", *raters), ("plain.csv", "--gold", "human")):
        status, out, err = run(capsys, *words, "--n-resamples", 999)
        assert status == 0, err
        tables.append(out.replace(words[0], "FILE"))
    assert tables[0] == tables[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("a.csv", "--raters", "ann", "--gold", "x"), "--raters and --gold both say which are the human scores"),
        (("a.csv", "--raters", "anm"), "--raters: 'anm' is not a column; did you mean 'ann'?"),
        (("demo", "--raters", "ann"), "--raters names columns of a table"),
    ],
)
def test_bad_raters(capsys, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("system,input,x,ann\na,1,1,2\nb,1,2,3\n")
    status, out, err = run(capsys, *words)
    assert status == 2 and out == "" and said in err
