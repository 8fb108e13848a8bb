"""Read JSON results of evaluation tools: `read_lm_eval`, `read_promptfoo`, `read_deepeval`."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import xarray as xr

from xsumstat.core import validate
from xsumstat.io.eval_cases import Cases, files, json_lines, listing, mapping, mappings, whole

_DATE = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?"
_SAMPLES = re.compile(rf"samples_(?P<task>.+?)(?:_(?P<date>{_DATE}))?\.jsonl")
# The lists of tests in a run of DeepEval, by version.
DEEPEVAL_TESTS = ("testCases", "conversationalTestCases", "test_cases", "test_results")
# What lines of samples hold beside the metrics.
_BESIDE = frozenset(
    (
        *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
        *("doc_hash", "prompt_hash", "target_hash", "task", "version"),
    )
)
_LONGEST_PROMPT = 40  # characters of a prompt's name in the name of a system


@validate.public
def read_lm_eval(path: str | Path | Iterable[str | Path]) -> xr.Dataset:
    """Read the samples that lm-evaluation-harness writes with ``--log_samples``.

    Parameters
    ----------
    path : str, Path, or several
        A folder (all ``samples_*.jsonl`` in it and in its subfolders), or such files.

    Returns
    -------
    Dataset
        ``score(metric, system, input)``: models, named by the run's ``results_*.json`` or the folder; documents, "0",
        "1" ... or "task/0" with several tasks; metrics of single documents, with their filter
        ("exact_match,strict-match"). Coordinates ``task(input)`` and, where ``results_*.json`` has it,
        ``higher_is_better(metric)``.

    Raises
    ------
    FileNotFoundError, ValueError
        For a malformed file, two runs of one model with the same document, or a document that differs between models.

    Warns
    -----
    MetaEvaluationWarning
        Names the metrics that are left out, because they exist only for all documents together.

    Examples
    --------
    >>> import json, pathlib, tempfile, xsumstat
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for model in ("org__small", "org__large"):
    ...         pathlib.Path(folder, model).mkdir()
    ...         line = {"doc_id": 0, "filter": "none", "metrics": ["acc"], "acc": 1.0}
    ...         _ = pathlib.Path(folder, model, "samples_arc_easy.jsonl").write_text(json.dumps(line))
    ...     ds = xsumstat.read_lm_eval(folder)
    >>> ds.score.sel(metric="acc").to_series().to_dict()
    {('org__large', '0'): 1.0, ('org__small', '0'): 1.0}
    """
    cases = Cases()
    for file in files(path, ("samples_*.jsonl",), "samples of lm-evaluation-harness"):
        matched = _SAMPLES.fullmatch(file.name)
        task = matched["task"] if matched else file.stem
        about = _results_beside(file, matched["date"] if matched else None)
        model = cases.label("model", about.get("model_name") or file.resolve().parent.name, file.name)
        directions = about.get("higher_is_better")
        stated = directions.get(task) if isinstance(directions, dict) else None
        for where, line in json_lines(file):
            if "doc_id" not in line:
                raise ValueError(f"{where}: no 'doc_id': this is no line of lm-evaluation-harness's samples")
            key = cases.begin(model, task, cases.label("doc_id", line["doc_id"], where), str(file), where)
            cases.same_content(key, line.get("doc_hash"), where)
            rule = line.get("filter")
            for name in _metrics_of(line, where):
                metric = name if rule in (None, "none") else f"{name},{rule}"
                cases.add(key, metric, line.get(name), where)
                if isinstance(stated, dict) and isinstance(stated.get(name), bool):
                    cases.direction(metric, stated[name], where)
    return cases.dataset("lm-evaluation-harness")


def _metrics_of(line: dict[str, Any], where: str) -> list[str]:
    if "metrics" in line:
        return [str(name) for name in listing(line["metrics"], where, "metrics")]
    return [name for name, value in line.items() if name not in _BESIDE and isinstance(value, int | float)]


def _results_beside(file: Path, date: str | None) -> dict[str, Any]:
    """Results of the run that wrote the samples: those of the same date, or the only ones in the folder."""
    beside = sorted(file.parent.glob("*.json"))
    same = [each for each in beside if date is not None and each.name.endswith(f"_{date}.json")]
    alone = [each for each in beside if each.name.startswith("results")]
    chosen = same[0] if same else alone[0] if len(alone) == 1 else None
    return {} if chosen is None else mapping(whole(chosen), chosen.name)


@validate.public
def read_promptfoo(path: str | Path | Iterable[str | Path]) -> xr.Dataset:
    """Read the results that ``promptfoo eval --output results.json`` (or ``.jsonl``) writes.

    Parameters
    ----------
    path : str, Path, or several
        Such files, or a folder of them.

    Returns
    -------
    Dataset
        ``score(metric, system, input)``. Systems are providers, or "provider, prompt" with several prompts; inputs are
        tests, by description or number. Metrics are "score" (the whole test), each named score, each kind of unnamed
        assertion (averaged), and "pass" (1 where passed; ``ds.attrs["labels"]``). Variables of the tests that are
        numbers or text become coordinates of input, with missing values for tests without them. An answer with an error
        has no score.

    Warns
    -----
    MetaEvaluationWarning
        Counts the answers with an error, and names the variables left out.

    Examples
    --------
    >>> import json, pathlib, tempfile, xsumstat
    >>> results = [
    ...     {"testIdx": at, "provider": {"id": "small"}, "score": score, "namedScores": {"style": score / 2}}
    ...     for at, score in enumerate([0.5, 1.0])
    ... ]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "results.json").write_text(json.dumps({"results": {"results": results}}))
    ...     ds = xsumstat.read_promptfoo(folder)
    >>> ds.score.sel(metric="style", system="small").values.tolist()
    [0.25, 0.5]
    """
    cases, variables, failed = Cases(), dict[str, dict[str, Any]](), 0
    for file in files(path, ("*.json", "*.jsonl"), "results of promptfoo"):
        entries = list(_promptfoo_entries(file))
        names, several = _test_names(entries), _prompts_by_provider(entries)
        for where, entry in entries:
            provider = _provider(entry, where)
            prompts = several.get(provider, [])
            label = provider if len(prompts) < 2 else f"{provider}, {_prompt_name(entry, prompts)}"
            system = cases.label("provider", label, where)
            key = cases.begin(system, "", cases.label("test", names[_test(entry, where)], where), str(file), where)
            given = entry.get("vars") or {}
            cases.same_content(key, given or None, where)
            variables.setdefault(key[1][1], mapping(given, where, "vars"))
            if entry.get("failureReason") == 2:
                failed += 1
                cases.add(key, "score", None, where)
                continue
            if isinstance(entry.get("success"), bool):
                cases.verdict(key, entry["success"], where)
            for metric, value, averaged in _promptfoo_scores(entry, where):
                cases.add(key, cases.label("metric", metric, where), value, where, averaged=averaged)
    if failed:
        validate.warn(f"no score for {validate.counted(failed, 'answer')} that ended in an error", "scores_left_out")
    ds = cases.dataset("promptfoo")
    return ds.assign_coords(_described(ds, variables))


def _promptfoo_entries(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if file.suffix.lower() == ".jsonl":
        yield from json_lines(file)
        return
    content = mapping(whole(file), file.name)
    inner = content.get("results")
    found = inner.get("results") if isinstance(inner, dict) else inner
    if not isinstance(found, list):
        raise ValueError(f"{file.name}: no list 'results': this is no output of promptfoo eval")
    yield from mappings(found, f"{file.name}, result")


def _test(entry: dict[str, Any], where: str) -> int:
    at = entry.get("testIdx")
    if isinstance(at, bool) or not isinstance(at, int):
        raise ValueError(
            f"{where}: 'testIdx' must be a whole number, got {at!r}; promptfoo writes it from version 0.103"
        )
    return at


def _test_names(entries: list[tuple[str, dict[str, Any]]]) -> dict[int, str]:
    names: dict[int, Any] = {}
    for where, entry in entries:
        case = entry.get("testCase")
        names[_test(entry, where)] = case.get("description") if isinstance(case, dict) else None
    described = all(isinstance(name, str) and name.strip() for name in names.values())
    if described and len(set(names.values())) == len(names):
        return names
    return {at: str(at) for at in names}


def _provider(entry: dict[str, Any], where: str) -> str:
    provider = entry.get("provider")
    found = provider.get("label") or provider.get("id") if isinstance(provider, dict) else provider
    if not isinstance(found, str) or not found:
        raise ValueError(f"{where}: 'provider' must have an id, got {provider!r}")
    return found


def _prompts_by_provider(entries: list[tuple[str, dict[str, Any]]]) -> dict[str, list[Any]]:
    found: dict[str, dict[Any, None]] = {}
    for where, entry in entries:
        found.setdefault(_provider(entry, where), {})[_prompt(entry)] = None
    return {provider: list(prompts) for provider, prompts in found.items()}


def _prompt(entry: dict[str, Any]) -> str:
    prompt = entry.get("prompt")
    label = prompt.get("label") if isinstance(prompt, dict) else prompt
    return str(label or entry.get("promptId") or entry.get("promptIdx"))


def _prompt_name(entry: dict[str, Any], prompts: list[Any]) -> str:
    name = _prompt(entry)
    return name if len(name) <= _LONGEST_PROMPT and "\n" not in name else f"prompt {prompts.index(name) + 1}"


def _promptfoo_scores(entry: dict[str, Any], where: str) -> Iterator[tuple[str, Any, bool]]:
    """Metrics, their scores, and whether a metric may have several."""
    grading = entry.get("gradingResult") or {}
    yield "score", entry.get("score", mapping(grading, where, "gradingResult").get("score")), False
    named = mapping(entry.get("namedScores") or grading.get("namedScores") or {}, where, "namedScores")
    for name, value in named.items():
        yield name, value, False
    for each in listing(grading.get("componentResults"), where, "componentResults"):
        assertion = each.get("assertion") if isinstance(each, dict) else None
        if isinstance(assertion, dict) and not assertion.get("metric") and assertion.get("type") not in (None, *named):
            yield assertion["type"], each.get("score"), True


def _described(ds: xr.Dataset, variables: dict[str, dict[str, Any]]) -> dict[str, tuple[str, list[Any]]]:
    """Variables of the tests that are numbers or text, as coordinates of input; others are reported."""
    taken = {*ds.dims, *ds.coords, *ds.data_vars}
    found: dict[str, tuple[str, list[Any]]] = {}
    left_out = []
    for name in dict.fromkeys(name for each in variables.values() for name in each):
        values = [variables[label].get(name) for label in ds["input"].values.tolist()]
        there = [value for value in values if value is not None]
        kinds = {type(value) for value in there}
        if name in taken or not there or not (kinds == {str} or kinds <= {int, float}):
            left_out.append(name)
        else:
            missing = None if kinds == {str} else math.nan  # which an array of texts would hold as "nan"
            found[name] = "input", [missing if value is None else value for value in values]
    if left_out:
        validate.warn(
            f"left out {validate.named('variable', left_out)}: no numbers or texts, or a name that the scores use",
            "columns_left_out",
        )
    return found


@validate.public
def read_deepeval(path: str | Path | Iterable[str | Path]) -> xr.Dataset:
    """Read the test runs that DeepEval saves.

    Parameters
    ----------
    path : str, Path, or several
        Files of ``DEEPEVAL_RESULTS_FOLDER``, one for each run, ``.deepeval/.latest_test_run.json``, or the result of
        `deepeval.evaluate` as JSON; or a folder of such ``.json`` files.

    Returns
    -------
    Dataset
        ``score(metric, system, input)``. Systems are runs, by the logged hyperparameter "model", the identifier, or the
        file name; inputs are test cases. "pass" is 1 where the case passed (``ds.attrs["labels"]``). A metric with an
        error has no score. DeepEval does not record directions (Bias, Hallucination, Toxicity): set `higher_is_better`.

    Raises
    ------
    FileNotFoundError, ValueError
        If a file is missing or malformed, two runs have one name, or a test case differs between runs.

    Examples
    --------
    >>> import json, pathlib, tempfile, xsumstat
    >>> case = {"name": "case 1", "metricsData": [{"name": "Faithfulness", "score": 0.5}]}
    >>> run = {"hyperparameters": {"model": "small"}, "testCases": [case]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "run.json").write_text(json.dumps(run))
    ...     ds = xsumstat.read_deepeval(folder)
    >>> ds.score.sel(metric="Faithfulness").to_series().to_dict()
    {('small', 'case 1'): 0.5}
    """
    cases, runs = Cases(), dict[str, Path]()
    for file in files(path, ("*.json", ".latest_test_run.json"), "test runs of DeepEval"):
        content = mapping(whole(file), file.name)
        run = mapping(content.get("testRunData", content), file.name, "testRunData")
        tests = _deepeval_tests(run, file.name)
        system = cases.label("run", _run_name(run, file), file.name)
        if runs.setdefault(system, file) != file:
            raise ValueError(
                f"{file}: the run {system!r} is in {runs[system]} already: two runs have one name; read one of them"
            )
        names = [str(test.get("name")) for test in tests]
        counts = Counter(names)
        for at, (test, name) in enumerate(zip(tests, names, strict=True)):
            where = f"{file.name}, test case {at}"
            case = name if counts[name] == 1 and test.get("name") else f"{name}/{test.get('order', at)}"
            key = cases.begin(system, "", cases.label("name", case, where), str(file), where)
            cases.same_content(key, test.get("input"), where)
            if isinstance(test.get("success"), bool):
                cases.verdict(key, test["success"], where)
            measured = test.get("metricsData") or test.get("metrics_data") or test.get("metricsMetadata")
            for each in listing(measured, where, "metricsData"):
                metric = mapping(each, where, "metricsData").get("name") or each.get("metric")
                score = None if each.get("error") else each.get("score")
                cases.add(key, cases.label("metric", metric, where), score, where)
    return cases.dataset("DeepEval")


def _deepeval_tests(run: dict[str, Any], where: str) -> list[dict[str, Any]]:
    if not any(key in run for key in DEEPEVAL_TESTS):
        raise ValueError(f"{where}: no 'testCases': this is no test run of DeepEval")
    return [mapping(test, where, key) for key in DEEPEVAL_TESTS for test in listing(run.get(key), where, key)]


def _run_name(run: dict[str, Any], file: Path) -> Any:
    logged = run.get("hyperparameters") or run.get("configurations")
    model = logged.get("model") if isinstance(logged, dict) else None
    return model or run.get("identifier") or file.stem
