"""What lm-evaluation-harness, promptfoo and DeepEval write: read as a short look into the files has it."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from xsumstat.io import frames
from xsumstat.io.eval_cases import Cases
from xsumstat.io.eval_results import read_deepeval, read_lm_eval, read_promptfoo

FIXTURES = Path(__file__).parent / "fixtures"
LEFT_OUT = pytest.mark.ignore_codes("scores_left_out")


def copied(tmp_path, name):
    return Path(shutil.copytree(FIXTURES / name, tmp_path / name))


def cell(ds, metric, system, case):
    return float(ds.score.sel(metric=metric, system=system, input=case))


def changed(path, change):
    """The file with its JSON value changed."""
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    return path


# --- lm-evaluation-harness ---


@LEFT_OUT
def test_lm_eval():
    ds = read_lm_eval(FIXTURES / "lm_eval")
    seen = 0
    for folder, model in (("acme__small", "acme/small"), ("acme__large", "acme/large")):
        for file in (FIXTURES / "lm_eval" / folder).glob("samples_*.jsonl"):
            task = file.name.split("_2026")[0].removeprefix("samples_")
            for line in map(json.loads, file.read_text().splitlines()):
                for name in set(line["metrics"]) - {"f1"}:
                    metric = name if line["filter"] == "none" else f"{name},{line['filter']}"
                    assert cell(ds, metric, model, f"{task}/{line['doc_id']}") == line[name]
                    seen += 1
    assert np.count_nonzero(ds.score.notnull()) == seen == 2 * (3 * 2 + 2 * 2)
    assert dict(zip(ds.metric.values, ds.higher_is_better.values, strict=True)) == {
        "acc": True, "perplexity": False, "exact_match,strict-match": True, "exact_match,flexible-extract": True,
    }  # fmt: skip
    assert list(ds.task.values) == ["arc_tiny"] * 3 + ["sums"] * 2


def test_lm_eval_says_what_is_left_out():
    with pytest.warns(UserWarning, match=r"not numbers: 'f1' \(\['B', \['A'\]\] in samples_arc_tiny_.*line 1"):
        read_lm_eval(FIXTURES / "lm_eval")


def test_lm_eval_of_a_folder_with_the_results_of_two_runs(tmp_path):
    """Samples without a date: which run is theirs is not known, so neither names their model."""
    folder = tmp_path / "org__small"
    folder.mkdir()
    for name in ("first", "second"):
        (folder / f"results_{name}.json").write_text(json.dumps({"model_name": name}))
    (folder / "samples_t.jsonl").write_text(json.dumps({"doc_id": 0, "acc": 1.0}))
    assert list(read_lm_eval(folder).system.values) == ["org__small"]
    (folder / "results_second.json").unlink()
    assert list(read_lm_eval(folder).system.values) == ["first"]


def test_a_metric_without_a_stated_direction_is_better_when_higher():
    cases = Cases()
    key = cases.begin("s", "", "1", "file", "line 1")
    for name in ("ppl", "acc", "own"):
        cases.add(key, name, 1.0, "line 1")
    cases.direction("ppl", False, "line 1")
    cases.direction("acc", True, "line 1")
    ds = cases.dataset("a tool")
    assert dict(zip(ds.metric.values, ds.higher_is_better.values, strict=True)) == {
        "ppl": False,
        "acc": True,
        "own": True,
    }


def test_lm_eval_without_results_or_metrics(tmp_path):
    for model in ("one", "two"):
        (tmp_path / model).mkdir()
        lines = [{"doc_id": at, "doc": {}, "target": "x", "acc": bool(at % 2), "note": "x"} for at in (10, 2)]
        (tmp_path / model / "samples_t.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    ds = read_lm_eval([tmp_path / "one", tmp_path / "two" / "samples_t.jsonl"])
    assert list(ds.system.values) == ["one", "two"] and list(ds.input.values) == ["2", "10"]
    assert list(ds.metric.values) == ["acc"] and not ds.score.any() and "higher_is_better" not in ds.coords


@pytest.mark.parametrize(
    "line, message",
    [
        ('{"acc": 1}', r"samples_t\.jsonl, line 2: no 'doc_id'"),
        ("{", r"samples_t\.jsonl, line 2: not JSON"),
        ("[1]", r"samples_t\.jsonl, line 2: it must be a mapping, got \[1\]"),
        ('{"doc_id": 1, "metrics": "acc"}', r"line 2: 'metrics' must be a list, got 'acc'"),
        ('{"doc_id": 1.5, "acc": 1}', r"line 2: 'doc_id' must be a string or a whole number, got 1.5"),
        ('{"doc_id": 0, "acc": 1}', r"line 2: 'acc' of the case '0' of system .* is given twice"),
        ('{"doc_id": 1, "acc": Infinity}', r"line 2: 'acc' must be finite"),
        ('{"doc_id": 1, "acc": ' + "9" * 5000 + "}", "it holds too long a number"),
        ("[" * 100_000, "values within values are too deep"),
    ],
)
def test_lm_eval_bad_lines(tmp_path, line, message):
    (tmp_path / "samples_t.jsonl").write_text('{"doc_id": 0, "acc": 1}\n' + line)
    with pytest.raises(ValueError, match=message):
        read_lm_eval(tmp_path)


def test_lm_eval_two_runs_and_other_documents(tmp_path):
    folder = copied(tmp_path, "lm_eval")
    old = next((folder / "acme__small").glob("samples_sums*"))
    again = old.with_name(old.name.replace("2026-01-02T03", "2026-01-05T03"))
    again.write_text(old.read_text())
    with pytest.raises(ValueError, match="system 'acme__small' has the case|system 'acme/small' has the case '0' in"):
        for each in (folder / "acme__small").glob("results*"):
            each.unlink()
        read_lm_eval(folder)
    again.unlink()
    old.write_text(old.read_text().replace('doc_hash": "', 'doc_hash": "other'))
    with pytest.raises(ValueError, match="the case '0' is another than in samples_sums_.*line 1"):
        read_lm_eval(folder)


# --- promptfoo ---


@LEFT_OUT
def test_promptfoo():
    ds = read_promptfoo(FIXTURES / "promptfoo")
    systems = {("mock:one", 0): "mock:one, Write about {{topic}}", ("mock:one", 1): "mock:one, prompt 2"}
    results = json.loads((FIXTURES / "promptfoo" / "results.json").read_text())["results"]["results"]
    for result in results:
        key = result["provider"]["id"], result["promptIdx"]
        at = {"system": systems.get(key, "second"), "input": str(result["testIdx"])}
        got = [float(ds.score.sel(metric=metric, **at)) for metric in ("score", "style", "similar", "pass")]
        if result["error"]:
            assert np.isnan(got).all()
            continue
        parts = [each["score"] for each in result["gradingResult"]["componentResults"]]
        named = result["score"], result["namedScores"]["style"], (parts[1] + parts[2]) / 2
        assert got == pytest.approx([*named, float(result["success"])])
    assert ds.score.shape == (4, 3, 3)
    assert list(ds.topic.values) == ["topic 0", "topic 1", "topic 2"] and ds.length.dims == ("input",)


def test_promptfoo_says_errors():
    with pytest.warns(UserWarning, match=r"no score for 1 answer that ended in an error"):
        read_promptfoo(FIXTURES / "promptfoo" / "results.json")


@LEFT_OUT
def test_promptfoo_in_lines_and_by_description(tmp_path):
    results = json.loads((FIXTURES / "promptfoo" / "results.json").read_text())["results"]["results"]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, results)))
    want = read_promptfoo(FIXTURES / "promptfoo")
    xr.testing.assert_identical(read_promptfoo(tmp_path / "a.jsonl"), want)
    xr.testing.assert_identical(frames.read_scores(tmp_path / "a.jsonl"), want)
    for result in results:
        result["testCase"]["description"] = f"about {result['vars']['topic']}"
    (tmp_path / "b.json").write_text(json.dumps({"version": 2, "results": results}))
    assert list(read_promptfoo(tmp_path / "b.json").input.values) == [f"about topic {at}" for at in range(3)]


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda c: c.update(results={}), r"results\.json: no list 'results'"),
        (lambda c: c["results"]["results"][1].pop("testIdx"), "result 1: 'testIdx' must be a whole number, got None"),
        (lambda c: c["results"]["results"][1].update(provider={}), r"result 1: 'provider' must have an id"),
        (
            lambda c: c["results"]["results"].append(c["results"]["results"][0]),
            "result 9: 'score' of the case '0'.*twice",
        ),
        (lambda c: c["results"]["results"][2].update(vars={"topic": "x"}), "result 2: the case '0' is another than in"),
        (lambda c: c["results"]["results"][0].update(gradingResult=[1]), "'gradingResult' must be a mapping"),
        (lambda c: c["results"].update(results=[3]), "result 0: it must be a mapping, got 3"),
    ],
)
def test_promptfoo_bad_files(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        read_promptfoo(changed(copied(tmp_path, "promptfoo") / "results.json", change))


# --- DeepEval ---


def test_deepeval(tmp_path):
    ds = read_deepeval(FIXTURES / "deepeval")
    assert list(ds.system.values) == ["mock-1", "second run"]
    for file, system in (("20260102_030405", "mock-1"), ("20260102_040506", "second run")):
        for test in json.loads((FIXTURES / "deepeval" / f"{file}.json").read_text())["testCases"]:
            for each in test["metricsData"]:
                got = cell(ds, each["name"], system, test["name"])
                assert got == each["score"] if "score" in each else np.isnan(got)
    latest = tmp_path / ".latest_test_run.json"
    run = json.loads((FIXTURES / "deepeval" / "20260102_030405.json").read_text())
    latest.write_text(json.dumps({"testRunData": run, "testRunLink": "https://example.org"}))
    xr.testing.assert_identical(read_deepeval(latest), read_deepeval(FIXTURES / "deepeval" / "20260102_030405.json"))
    for test in run["testCases"]:
        test.update(metrics_data=test.pop("metricsData"), name="test_answers")
    latest.write_text(json.dumps({"test_results": run["testCases"]}))
    got = read_deepeval(tmp_path)
    assert list(got.input.values) == [f"test_answers/{at}" for at in range(3)]
    assert list(got.system.values) == [".latest_test_run"]


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda c: c.pop("testCases") and c.pop("conversationalTestCases"), r"json: no 'testCases'"),
        (lambda c: c.update(testCases=[3]), "'testCases' must be a mapping, got 3"),
        (lambda c: c["testCases"][1].update(input="other"), "the case 'test_case_1' is another than in"),
        (lambda c: c.update(identifier="mock-1"), "the run 'mock-1' is in .* already: two runs have one name"),
        (lambda c: c["testCases"][1]["metricsData"].append({"score": 1}), "'metric' must be a string"),
    ],
)
def test_deepeval_bad_files(tmp_path, change, message):
    folder = copied(tmp_path, "deepeval")
    changed(folder / "20260102_040506.json", change)
    with pytest.raises(ValueError, match=message):
        read_deepeval(folder)


# --- which tool wrote it ---


@LEFT_OUT
@pytest.mark.parametrize(
    "name, reader", [("lm_eval", read_lm_eval), ("promptfoo", read_promptfoo), ("deepeval", read_deepeval)]
)
def test_files_are_told_by_what_is_in_them(name, reader, tmp_path):
    folder = FIXTURES / name
    xr.testing.assert_identical(frames.read_scores(folder), reader(folder))
    one = min(each for each in folder.rglob("*.json*") if not each.name.startswith("results_"))
    other = tmp_path / f"x{one.suffix}"
    other.write_bytes(one.read_bytes())
    if name != "deepeval":
        xr.testing.assert_identical(frames.read_scores(other), reader(other))


def test_what_is_of_no_tool(tmp_path):
    (tmp_path / "a.json").write_text('{"a": 1}')
    with pytest.raises(ValueError, match=r"cannot tell what a\.json holds"):
        frames.read_scores(tmp_path / "a.json")
    results = next((FIXTURES / "lm_eval").rglob("results*.json"))
    with pytest.raises(ValueError, match="holds the averages of lm-evaluation-harness"):
        frames.read_scores(results)
    for reader in (read_lm_eval, read_promptfoo, read_deepeval):
        with pytest.raises(FileNotFoundError, match="no such file or folder"):
            reader(tmp_path / "none")
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(FileNotFoundError, match="looked for"):
            reader(tmp_path / "empty")
        with pytest.raises(ValueError, match="at least one file"):
            reader([])
