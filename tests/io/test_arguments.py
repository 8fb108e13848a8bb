"""Arguments of readers that are of another type: the error names the argument, what was given and what is allowed."""

import re

import pandas as pd
import pytest

import xsumstat

FRAME = pd.DataFrame({"system": ["a", "a"], "input": [1, 2], "rouge": [0.1, 0.2]})


@pytest.mark.parametrize(
    "ask, message",
    [
        (lambda: xsumstat.read_mqm(None), "file must be a str or Path, got None"),
        (lambda: xsumstat.read_mqm(b"a.tsv"), "file must be a str or Path, got b'a.tsv'"),
        (lambda: xsumstat.read_mqm("a.tsv", weights=5), "weights must map severities to numbers, .*, got 5"),
        (lambda: xsumstat.read_mtme(None, "wmt24", "en-de"), "folder must be a str or Path, got None"),
        (lambda: xsumstat.read_mtme(".", None, "en-de"), "test_set must be a str or Path, got None"),
        (lambda: xsumstat.read_realsumm(0), "path must be a str or Path, got 0"),
        (
            lambda: xsumstat.read_realsumm({"abstractive": None}),
            r"path\[.* must be a str or Path, got None",
        ),
        (lambda: xsumstat.read_sacrerouge(None), "path must be a str, a Path, or several of them, got None"),
        (lambda: xsumstat.read_lm_eval([None]), "each item of path must be a str or Path, got None"),
        (lambda: xsumstat.read_inspect(1.5), "path must be a str, a Path, or several of them, got 1.5"),
        (lambda: xsumstat.load_dataset("demo", metrics=0), "metrics must be one or several of 'bleu', .*, got 0"),
        (lambda: FRAME.meta.to_scores(wide=True, metric=7), "metric must be a column or several, got 7"),
        (lambda: FRAME.meta.to_scores(wide=True, dims=7), "dims must be a column or several, got 7"),
        (lambda: FRAME.meta.to_scores(wide=True, ratings=7), "ratings must be a metric or column, or several, got 7"),
        (lambda: FRAME.meta.to_scores(wide=True, lower_is_better=7), "lower_is_better must be a metric .*, got 7"),
    ],
)
def test_errors_name_the_argument(ask, message):
    with pytest.raises(TypeError, match=f"^{message}$"):
        ask()


def test_language_pairs_are_one_or_several(tmp_path):
    (tmp_path / "wmt24").mkdir()
    with pytest.raises(TypeError, match="^language_pair must be a language pair, as 'en-de', or several, got None$"):
        xsumstat.read_mtme(tmp_path, "wmt24", None)


def test_paths_of_other_libraries_are_paths(tmp_path):
    class Bare:
        def __fspath__(self):
            return str(tmp_path / "none.jsonl")

    for read in (xsumstat.read_sacrerouge, xsumstat.read_lm_eval, xsumstat.read_mqm):
        with pytest.raises(FileNotFoundError, match="none.jsonl"):
            read(Bare())


PERCENT = {"system": list("aabb"), "input": [1, 2, 1, 2], "m": ["85 %", "1%", "3 %", None]}
WAY = "take the percent signs off, as by frame['m'].str.rstrip(' %').astype(float)"


@pytest.mark.parametrize(
    "more, keywords",
    [({}, {}), ({"n": 1.0}, {"metric": ["m"]}), ({"metric": "x"}, {"wide": False, "value": "m"})],
)
def test_percentages_as_text_are_refused_with_what_to_do(more, keywords):
    with pytest.raises((TypeError, ValueError), match=re.escape(WAY)):
        pd.DataFrame(PERCENT | more).meta.to_scores(**{"wide": True, **keywords})


def test_percentages_beside_numbers_are_left_out_with_what_to_do():
    frame = pd.DataFrame(PERCENT | {"n": [1.0, 2, 3, 4]})
    with pytest.warns(UserWarning, match=f"left out column 'm': .*; 'm' holds percentages as text: {re.escape(WAY)}"):
        ds = frame.meta.to_scores(wide=True)
    assert list(ds.metric.values) == ["n"]
    # What is advised is what can be done.
    done = frame.assign(m=frame["m"].str.rstrip(" %").astype(float)).meta.to_scores(wide=True)
    assert done.score.sel(metric="m", system="a").values.tolist() == [85.0, 1.0]


def test_other_text_is_no_percentage():
    for values in (["x %", "1", "2", "3"], ["a", "b", "a", "c"], ["1", "x", "2", "3"]):
        with pytest.raises((TypeError, ValueError)) as error:
            pd.DataFrame(PERCENT | {"m": values}).meta.to_scores(wide=True, metric="m")
        assert "percent signs" not in str(error.value)


SCORES = xsumstat.load_dataset("demo")
HUMAN = SCORES.score.sel(metric="human", drop=True)
OTHERS = SCORES.drop_sel(metric="human")


@pytest.mark.parametrize("name", ["", " ", float("nan"), "\0", 1j, int, object(), ["a"], {"a": 1}, {"a"}, None])
def test_what_no_metric_can_be_called(name):
    with pytest.raises((TypeError, ValueError), match="^name must be "):
        xsumstat.add_gold(OTHERS, HUMAN, name=name)


@pytest.mark.parametrize(
    "argument, value",
    [
        *[("aggregate", each) for each in ([], int, {"a": "mean"}, 7)],
        *[(name, each) for name in ("system", "input", "value") for each in ({"a": 1}, {"a"})],
        *[(name, ["a"]) for name in ("system", "value")],
        ("gold", FRAME),
    ],
)
def test_what_names_no_column_or_rule(argument, value):
    with pytest.raises(TypeError, match=f"^{argument} must be "):
        FRAME.meta.to_scores(**{"wide": True, argument: value})


@pytest.mark.parametrize(
    "ask, message",
    [
        (lambda: SCORES.meta.variance_components(along="typo"), "along='typo' is the dim of the raters in rating"),
        (lambda: SCORES.meta.variance_components(n_raters="nonsense"), "n_raters must be a whole number"),
        (lambda: SCORES.meta.ci(n_resamples=10**30), "n_resamples must be at most 100,000,000"),
        (lambda: SCORES.meta.ci(resample=SCORES), "resample must be .*, got a Dataset"),
        (lambda: SCORES.meta.ci(resample=FRAME), "resample must be .*, got a DataFrame"),
        (lambda: SCORES.meta.ci(metric=FRAME), "metric must be .*, got a DataFrame"),
        (lambda: SCORES.meta.agreement(along=FRAME), "along must be .*, got a DataFrame"),
        (lambda: xsumstat.set_dims(SCORES, system=["a"]), "system must be .*, got .'a'."),
        (lambda: xsumstat.read_mqm(""), "file must name a file or folder, got ''"),
        (lambda: xsumstat.read_inspect(""), "each item of path must name a file or folder, got ''"),
    ],
)
def test_nonsense_is_refused_by_the_arguments_name(ask, message):
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        ask()
