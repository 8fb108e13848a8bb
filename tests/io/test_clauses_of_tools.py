"""Clauses of the docstrings of `read_lm_eval`, `read_promptfoo` and `read_deepeval`: one row each, on files by hand."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xsumstat


def written(folder, files):
    """Files of the given names; a list becomes lines in JSON, a mapping one JSON text."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = content if isinstance(content, list) else [content]
        path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return folder


def column(ds, metric, system):
    return ds.score.sel(metric=metric, system=system).values.tolist()


# --- lm-evaluation-harness ---

LINE = {"doc_id": 0, "filter": "none", "metrics": ["acc"], "acc": 1.0}
DATE = "2026-01-02T03-04-05.678901"


def test_lm_eval_reads_samples_in_a_folder_and_below_and_nothing_else(tmp_path):
    files = {"samples_t.jsonl": [LINE], "b/c/samples_t.jsonl": [LINE], "b/other.jsonl": [{"no": 1}]}
    ds = xsumstat.read_lm_eval(written(tmp_path / "a", files))
    assert sorted(ds.system.values) == ["a", "c"]


@pytest.mark.parametrize("several", [False, True])
def test_lm_eval_reads_named_files_whatever_their_names(tmp_path, several):
    written(tmp_path, {"a/mine.jsonl": [LINE], "b/mine.jsonl": [LINE | {"acc": 0.25}]})
    path = tmp_path / "a" / "mine.jsonl"
    ds = xsumstat.read_lm_eval([path, str(tmp_path / "b" / "mine.jsonl")] if several else str(path))
    assert column(ds, "acc", "a") == [1] and ds.sizes["system"] == 1 + several


@pytest.mark.parametrize(
    "results, name",
    [
        ({}, "folder"),
        ({"results.json": {"model_name": "org/m"}}, "org/m"),
        ({f"results_{DATE}.json": {"model_name": "org/m"}}, "org/m"),
        ({f"results_{DATE}.json": {"model_name": "org/m"}, "results_2025.json": {"model_name": "old"}}, "org/m"),
        ({"results_1.json": {"model_name": "x"}, "results_2.json": {"model_name": "y"}}, "folder"),
        ({"results.json": {"model_name": ""}}, "folder"),
        ({"config.json": {"model_name": "x"}}, "folder"),
    ],
)
def test_a_model_of_lm_eval_is_named_by_its_runs_results_or_the_folder(tmp_path, results, name):
    ds = xsumstat.read_lm_eval(written(tmp_path / "folder", {f"samples_t_{DATE}.jsonl": [LINE], **results}))
    assert ds.system.values.tolist() == [name]


@pytest.mark.parametrize(
    "tasks, labels", [(["t"], ["0", "1", "10"]), (["t", "u"], ["t/0", "t/1", "t/10", "u/0", "u/1", "u/10"])]
)
def test_documents_of_lm_eval_are_numbers_with_their_task_where_there_are_several(tmp_path, tasks, labels):
    files = {f"samples_{task}.jsonl": [LINE | {"doc_id": at, "acc": at / 10} for at in (10, 0, 1)] for task in tasks}
    ds = xsumstat.read_lm_eval(written(tmp_path / "m", files))
    assert ds.input.values.tolist() == labels and column(ds, "acc", "m") == [0, 0.1, 1] * len(tasks)
    assert ds.task.dims == ("input",) and ds.task.values.tolist() == [task for task in tasks for _ in range(3)]


@pytest.mark.parametrize(
    "name, task",
    [
        (f"samples_arc_easy_{DATE}.jsonl", "arc_easy"),
        ("samples_arc_easy_2026-01-02T03-04-05.jsonl", "arc_easy"),
        ("samples_arc_easy.jsonl", "arc_easy"),
        ("own.jsonl", "own"),
    ],
)
def test_a_task_of_lm_eval_is_the_name_of_its_file_without_the_date(tmp_path, name, task):
    written(tmp_path, {name: [LINE]})
    assert xsumstat.read_lm_eval(tmp_path / name).task.values.tolist() == [task]


@pytest.mark.parametrize("rule, metric", [("none", "acc"), (None, "acc"), ("strict-match", "acc,strict-match")])
def test_a_metric_of_lm_eval_has_its_filter(tmp_path, rule, metric):
    ds = xsumstat.read_lm_eval(written(tmp_path / "m", {"samples_t.jsonl": [LINE | {"filter": rule}]}))
    assert ds.metric.values.tolist() == [metric]


def test_each_filter_of_a_document_of_lm_eval_is_a_metric_of_its_own(tmp_path):
    lines = [LINE | {"filter": rule, "acc": value} for rule, value in (("strict", 0.0), ("loose", 1.0))]
    ds = xsumstat.read_lm_eval(written(tmp_path / "m", {"samples_t.jsonl": lines}))
    assert {name: ds.score.sel(metric=name).item() for name in ds.metric.values} == {"acc,strict": 0, "acc,loose": 1}


@pytest.mark.parametrize("value, number", [(1, 1), (0.25, 0.25), (True, 1), (False, 0), (None, np.nan)])
def test_a_score_of_lm_eval_is_a_number_or_a_truth(tmp_path, value, number):
    lines = [LINE | {"acc": value}, LINE | {"doc_id": 1}]
    ds = xsumstat.read_lm_eval(written(tmp_path / "m", {"samples_t.jsonl": lines}))
    assert ds.score.dtype == float
    np.testing.assert_array_equal(ds.score.values.ravel(), [number, 1])


@pytest.mark.parametrize("stated", [{"t": {"acc": True, "ppl": False}}, None, {"t": None}, {"u": {"acc": False}}])
def test_directions_of_lm_eval_are_those_of_the_results(tmp_path, stated):
    line = LINE | {"metrics": ["acc", "ppl"], "ppl": 9.0}
    results = {"model_name": "m"} | ({} if stated is None else {"higher_is_better": stated})
    ds = xsumstat.read_lm_eval(written(tmp_path, {"samples_t.jsonl": [line], "results.json": results}))
    if stated and stated.get("t"):
        assert dict(zip(ds.metric.values, ds.higher_is_better.values, strict=True)) == stated["t"]
    else:
        assert "higher_is_better" not in ds.coords


def test_two_tasks_of_lm_eval_that_disagree_on_a_direction_are_refused(tmp_path):
    directions = {"t": {"acc": True}, "u": {"acc": False}}
    files = {"samples_t.jsonl": [LINE], "samples_u.jsonl": [LINE], "results.json": {"higher_is_better": directions}}
    with pytest.raises(ValueError, match=r"samples_u.jsonl, line 1: 'acc' is better when lower, and before not so"):
        xsumstat.read_lm_eval(written(tmp_path, files))


def test_metrics_of_all_documents_of_lm_eval_are_left_out_and_named(tmp_path):
    line = LINE | {"metrics": ["acc", "f1"], "f1": ["B", ["A"]]}
    with pytest.warns(
        xsumstat.core.caveats.LeftOutWarning, match=r"'f1' \(\['B', \['A'\]\] in samples_t.jsonl, line 1"
    ):
        ds = xsumstat.read_lm_eval(written(tmp_path, {"samples_t.jsonl": [line]}))
    assert ds.metric.values.tolist() == ["acc"]


@pytest.mark.parametrize(
    "files, message",
    [
        ({"a/samples_t.jsonl": [3]}, r"samples_t.jsonl, line 1: it must be a mapping, got 3"),
        ({"a/samples_t.jsonl": [LINE, {"acc": 1.0}]}, r"samples_t.jsonl, line 2: no 'doc_id'"),
        ({"a/samples_t.jsonl": [LINE | {"doc_id": " "}]}, r"samples_t.jsonl, line 1: 'doc_id' is empty, got ' '"),
        ({"a/samples_t.jsonl": [LINE], "a/results.json": [[1]]}, r"results.json: it must be a mapping, got \[1\]"),
        (
            {f"a/samples_t_2026-01-0{day}T03-04-05.jsonl": [LINE] for day in (2, 3)},
            r"system 'a' has the case '0' in .*samples_t_2026-01-02.* already: these are two runs of one system",
        ),
        (
            {"a/samples_t.jsonl": [LINE | {"doc_hash": "x"}], "b/samples_t.jsonl": [LINE | {"doc_hash": "y"}]},
            r"line 1: the case '0' is another than in samples_t.jsonl, line 1 \('y' and 'x'\)",
        ),
    ],
)
def test_what_read_lm_eval_refuses(tmp_path, files, message):
    with pytest.raises(ValueError, match=message):
        xsumstat.read_lm_eval(written(tmp_path, files))


# --- promptfoo ---


def result(at=0, provider="small", score=0.5, **more):
    return {"testIdx": at, "provider": {"id": provider}, "score": score, **more}


def promptfoo(folder, *results, name="results.json"):
    content = list(results) if name.endswith("jsonl") else {"results": {"results": list(results)}}
    return xsumstat.read_promptfoo(written(folder, {name: content}) / name)


@pytest.mark.parametrize("form", ["of version 3", "of version 2", "in lines", "in a folder"])
def test_promptfoo_is_read_as_a_file_of_each_version_in_lines_or_a_folder(tmp_path, form):
    entries = [result(0, score=0.5), result(1, score=1.0)]
    if form == "in lines":
        ds = promptfoo(tmp_path, *entries, name="results.jsonl")
    elif form == "in a folder":
        files = {
            "a/one.json": {"results": {"results": entries}},
            "b/two.jsonl": [result(0, "large"), result(1, "large")],
        }
        ds = xsumstat.read_promptfoo(written(tmp_path, files))
        assert column(ds, "score", "large") == [0.5, 0.5]
    else:
        content = {"results": entries if form == "of version 2" else {"results": entries}}
        ds = xsumstat.read_promptfoo(written(tmp_path, {"r.json": content}) / "r.json")
    assert column(ds, "score", "small") == [0.5, 1]


@pytest.mark.parametrize(
    "provider, name",
    [({"id": "p"}, "p"), ({"id": "p", "label": "mine"}, "mine"), ({"id": "p", "label": ""}, "p"), ("p", "p")],
)
def test_a_system_of_promptfoo_is_its_provider(tmp_path, provider, name):
    assert promptfoo(tmp_path, result() | {"provider": provider}).system.values.tolist() == [name]


@pytest.mark.parametrize(
    "prompts, names",
    [
        ([{"label": "short"}], ["small"]),
        ([{"label": "short"}, {"label": "long"}], ["small, short", "small, long"]),
        (["short", "long"], ["small, short", "small, long"]),
        ([{"label": "x" * 40}, {"label": "x" * 41}], ["small, " + "x" * 40, "small, prompt 2"]),
        ([{"label": "a\nb"}, {"label": "b"}], ["small, prompt 1", "small, b"]),
    ],
)
def test_several_prompts_of_a_provider_are_systems(tmp_path, prompts, names):
    ds = promptfoo(tmp_path, *(result(prompt=each, score=at) for at, each in enumerate(prompts)))
    assert ds.system.values.tolist() == names and ds.score.values.ravel().tolist() == list(range(len(prompts)))


def test_a_prompt_of_promptfoo_without_a_label_has_its_number(tmp_path):
    assert promptfoo(tmp_path, result(promptIdx=1), result(promptIdx=2)).system.values.tolist() == [
        "small, 1",
        "small, 2",
    ]


@pytest.mark.parametrize(
    "described, labels",
    [
        (["second", "first"], ["first", "second"]),
        (["same", "same"], ["0", "1"]),
        (["one", None], ["0", "1"]),
        (["one", " "], ["0", "1"]),
    ],
)
def test_an_input_of_promptfoo_is_its_description_or_number(tmp_path, described, labels):
    ds = promptfoo(tmp_path, *(result(at, testCase={"description": each}) for at, each in enumerate(described)))
    assert ds.input.values.tolist() == labels


def graded(*parts, **more):
    components = [{"assertion": assertion, "score": score} for assertion, score in parts]
    return {"gradingResult": {"componentResults": components, **more}}


@pytest.mark.parametrize(
    "more, metric, value",
    [
        ({}, "score", 0.5),
        ({"namedScores": {"style": 0.2}}, "style", 0.2),
        (graded(namedScores={"style": 0.2}), "style", 0.2),
        (graded(({"type": "similar"}, 0.75)), "similar", 0.75),
        (graded(({"type": "similar"}, 0.75), ({"type": "similar"}, 0.25)), "similar", 0.5),
        (graded(({"type": "similar"}, 1), ({"type": "rouge"}, 0.25)), "rouge", 0.25),
        (graded(({"type": "similar", "metric": "style"}, 1)), "similar", None),
        (graded((None, 1)), "similar", None),
        ({"success": True}, "pass", 1),
        ({"success": False}, "pass", 0),
        ({}, "pass", None),
    ],
)
def test_each_metric_of_promptfoo(tmp_path, more, metric, value):
    ds = promptfoo(tmp_path, result(**more))
    if value is None:
        assert ds.metric.values.tolist() == ["score"]
    else:
        assert ds.score.sel(metric=metric).item() == value
    assert ds.attrs.get("labels") == ("fail\npass" if metric == "pass" and value is not None else None)


def test_a_score_of_promptfoo_that_stands_in_the_grading_alone(tmp_path):
    entry = result(gradingResult={"score": 0.25})
    del entry["score"]
    assert promptfoo(tmp_path, entry).score.item() == 0.25


@pytest.mark.parametrize(
    "values, kept",
    [
        ((1, 2.5), (1, 2.5)),
        (("a", "b"), ("a", "b")),
        ((1, None), (1, np.nan)),
        (("a", None), ("a", np.nan)),
        ((1, "a"), None),
        ((True, False), None),
        (([1], [2]), None),
        ((None, None), None),
    ],
)
def test_variables_of_promptfoo_that_are_numbers_or_text_are_coordinates(tmp_path, values, kept):
    entries = [result(at, vars={"given": each}) for at, each in enumerate(values)]
    if kept is None:
        with pytest.warns(
            xsumstat.core.caveats.LeftOutWarning, match="^left out variable 'given': no numbers or texts"
        ):
            assert "given" not in promptfoo(tmp_path, *entries).coords
        return
    ds = promptfoo(tmp_path, *entries)
    assert ds.given.dims == ("input",)
    assert pd.Series(ds.given.values).equals(pd.Series(kept))


@pytest.mark.parametrize("value", ["easy", 3])
def test_a_variable_of_promptfoo_that_only_some_tests_have_is_kept(tmp_path, value):
    ds = promptfoo(tmp_path, result(0), result(1, vars={"topic": value}), result(2, vars={"topic": value}))
    assert pd.isna(ds.topic.values).tolist() == [True, False, False]
    ds.to_netcdf(tmp_path / "scores.nc")
    assert xr.load_dataset(tmp_path / "scores.nc").topic.values[1:].tolist() == [value, value]


@pytest.mark.parametrize("name", ["input", "metric", "score"])
def test_a_variable_of_promptfoo_with_a_name_that_is_taken_is_none(tmp_path, name):
    with pytest.warns(
        xsumstat.core.caveats.LeftOutWarning, match=f"^left out variable '{name}': .*a name that the scores"
    ):
        ds = promptfoo(tmp_path, result(vars={name: "a"}))
    assert ds.input.values.tolist() == ["0"] and ds.metric.values.tolist() == ["score"] and ds.score.item() == 0.5


def test_an_answer_of_promptfoo_with_an_error_has_no_score_and_is_counted(tmp_path):
    failed = result(1, score=0.0, success=False, failureReason=2, error="timeout", namedScores={"style": 0.0})
    wrong = result(2, score=0.0, success=False, failureReason=1)
    with pytest.warns(xsumstat.core.caveats.LeftOutWarning, match="^no score for 1 answer that ended in an error$"):
        ds = promptfoo(tmp_path, result(0, success=True, namedScores={"style": 1.0}), failed, wrong)
    for metric, values in (("score", [0.5, np.nan, 0]), ("pass", [1, np.nan, 0]), ("style", [1, np.nan, np.nan])):
        np.testing.assert_array_equal(column(ds, metric, "small"), values)


def test_answers_of_promptfoo_without_an_error_warn_of_nothing(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        promptfoo(tmp_path, result(failureReason=0), result(1, failureReason=1))


@pytest.mark.parametrize(
    "entries, message",
    [
        ([result("0")], "results.json, result 0: 'testIdx' must be a whole number, got '0'"),
        ([result(), result(True)], "results.json, result 1: 'testIdx' must be a whole number, got True"),
        ([result() | {"provider": None}], "results.json, result 0: 'provider' must have an id, got None"),
        ([result(vars=[1])], r"results.json, result 0: 'vars' must be a mapping, got \[1\]"),
        ([result(namedScores=[1])], r"results.json, result 0: 'namedScores' must be a mapping, got \[1\]"),
        ([result(gradingResult={"componentResults": 1})], "result 0: 'componentResults' must be a list, got 1"),
        ([result(), result()], "results.json, result 1: 'score' of the case '0' of system 'small' is given twice"),
        ([result(vars={"a": 1}), result(0, "large", vars={"a": 2})], "result 1: the case '0' is another than in"),
    ],
)
def test_what_read_promptfoo_refuses(tmp_path, entries, message):
    with pytest.raises(ValueError, match=message):
        promptfoo(tmp_path, *entries)


def test_scores_of_promptfoo_that_are_no_numbers_are_left_out_and_named(tmp_path):
    with pytest.warns(xsumstat.core.caveats.LeftOutWarning, match="'x' .'a' in results.json, result 0"):
        ds = promptfoo(tmp_path, result(**graded(({"type": "x"}, "a"))))
    assert ds.metric.values.tolist() == ["score"]


# --- DeepEval ---


def case(name="case", score=0.5, **more):
    return {"name": name, "metricsData": [{"name": "Faithfulness", "score": score}], **more}


def run(*cases, **more):
    return {"testCases": list(cases), **more}


@pytest.mark.parametrize(
    "name, content",
    [
        ("results/20260102_030405", run(case())),
        ("results/20260102_030405.json", run(case())),
        (".deepeval/.latest_test_run.json", {"testRunData": run(case())}),
        (
            "evaluated.json",
            {"test_results": [{"name": "case", "metrics_data": [{"name": "Faithfulness", "score": 0.5}]}]},
        ),
        ("talk.json", {"conversationalTestCases": [case()]}),
    ],
)
def test_each_file_of_deepeval_is_read(tmp_path, name, content):
    path = written(tmp_path, {name: content}) / name
    ds = xsumstat.read_deepeval(path)
    assert ds.score.sel(metric="Faithfulness", input="case").item() == 0.5
    if name.endswith(".json"):
        assert xsumstat.read_deepeval(tmp_path).identical(ds)


def test_several_files_of_deepeval_are_runs(tmp_path):
    folder = written(tmp_path, {"one.json": run(case()), "two.json": run(case(score=1.0)), "three.json": run(case())})
    ds = xsumstat.read_deepeval([folder / "two.json", str(folder / "one.json")])
    assert ds.system.values.tolist() == ["two", "one"] and ds.score.values.ravel().tolist() == [1, 0.5]


@pytest.mark.parametrize(
    "more, name",
    [
        ({"hyperparameters": {"model": "m"}, "identifier": "id"}, "m"),
        ({"configurations": {"model": "m"}, "identifier": "id"}, "m"),
        ({"hyperparameters": {"temperature": 1}, "identifier": "id"}, "id"),
        ({"hyperparameters": None, "identifier": "id"}, "id"),
        ({"hyperparameters": {"model": ""}, "identifier": ""}, "file"),
        ({}, "file"),
    ],
)
def test_a_run_of_deepeval_is_named_by_its_model_identifier_or_file(tmp_path, more, name):
    ds = xsumstat.read_deepeval(written(tmp_path, {"file.json": run(case(), **more)}))
    assert ds.system.values.tolist() == [name]


@pytest.mark.parametrize(
    "cases, labels",
    [
        ([case("b"), case("a")], ["a", "b"]),
        ([case("a"), case("a")], ["a/0", "a/1"]),
        ([case("a", order=5), case("a", order=3)], ["a/3", "a/5"]),
        ([case("case 10"), case("case 9")], ["case 9", "case 10"]),
    ],
)
def test_inputs_of_deepeval_are_test_cases(tmp_path, cases, labels):
    assert xsumstat.read_deepeval(written(tmp_path, {"r.json": run(*cases)})).input.values.tolist() == labels


@pytest.mark.parametrize("success, passed", [(True, 1), (False, 0), (None, None)])
def test_a_case_of_deepeval_that_passed_is_1(tmp_path, success, passed):
    ds = xsumstat.read_deepeval(written(tmp_path, {"r.json": run(case(success=success))}))
    assert ds.attrs.get("labels") == (None if passed is None else "fail\npass")
    assert ("pass" in ds.metric) == (passed is not None)
    if passed is not None:
        assert ds.score.sel(metric="pass").item() == passed


@pytest.mark.parametrize("score", [None, 0, 0.5])
def test_a_metric_of_deepeval_with_an_error_has_no_score(tmp_path, score):
    failed = {"name": "a", "metricsData": [{"name": "Faithfulness", "score": score, "error": "timeout"}]}
    ds = xsumstat.read_deepeval(written(tmp_path, {"r.json": run(failed, case("b", error=None))}))
    np.testing.assert_array_equal(ds.score.values.ravel(), [np.nan, 0.5])


def test_deepeval_records_no_directions(tmp_path):
    bias = {"name": "a", "metricsData": [{"name": "Bias", "score": 0.1, "threshold": 0.5, "success": True}]}
    ds = xsumstat.read_deepeval(written(tmp_path, {"r.json": run(bias)}))
    assert "higher_is_better" not in ds.coords and ds.score.item() == 0.1


@pytest.mark.parametrize(
    "files, message",
    [
        ({"r.json": [1]}, "r.json: it must be a mapping, got 1"),
        ({"r.json": {"other": 1}}, "r.json: no 'testCases': this is no test run of DeepEval"),
        ({"r.json": {"testRunData": 3}}, "r.json: 'testRunData' must be a mapping, got 3"),
        ({"r.json": run(3)}, "r.json: 'testCases' must be a mapping, got 3"),
        ({"r.json": run(case(), {"metricsData": 3})}, "r.json, test case 1: 'metricsData' must be a list, got 3"),
        ({"r.json": run(case(score=1e400))}, "r.json, test case 0: 'Faithfulness' must be finite, got inf"),
        ({"a.json": run(case(), identifier="x"), "b.json": run(case(), identifier="x")}, "two runs have one name"),
        (
            {"a.json": run(case(input="why?")), "b.json": run(case(input="how?"))},
            "b.json, test case 0: the case 'case' is another than in a.json, test case 0",
        ),
    ],
)
def test_what_read_deepeval_refuses(tmp_path, files, message):
    with pytest.raises(ValueError, match=message):
        xsumstat.read_deepeval(written(tmp_path, files))


def test_two_runs_of_deepeval_with_one_name_are_refused_whatever_their_cases(tmp_path):
    files = {"a.json": run(case("a"), identifier="x"), "b.json": run(case("b"), identifier="x")}
    with pytest.raises(ValueError, match=r"b.json: the run 'x' is in .*a.json already: two runs have one name"):
        xsumstat.read_deepeval(written(tmp_path, files))


@pytest.mark.parametrize("reader", [xsumstat.read_lm_eval, xsumstat.read_promptfoo, xsumstat.read_deepeval])
def test_a_file_that_is_missing_is_named(tmp_path, reader):
    with pytest.raises(FileNotFoundError, match="no such file or folder: .*none.json"):
        reader(tmp_path / "none.json")
