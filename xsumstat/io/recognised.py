"""Recognise the evaluation tool that wrote a file or folder, by its content."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from xsumstat.io import eval_cases, eval_results, inspect_logs, mtme, preference_files, sacrerouge, score_files
from xsumstat.io.cells import check_density

SUFFIXES = (".jsonl", ".json", ".eval")
# Keys of lines that SacreROUGE and promptfoo write.
_TOOLS = {"instance_id", "summarizer_id", "testIdx"}
# Each line of lm-evaluation-harness has some of these beside "doc_id".
_SAMPLES = {"resps", "filtered_resps", "arguments", "metrics"}


class File:
    """A file or folder of scores; the rows of JSON are parsed once, however often they are asked for."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @cached_property
    def whole(self) -> Any:
        return eval_cases.whole(self.path)

    @cached_property
    def is_records(self) -> bool:
        """Whether a JSON file holds the rows of a table, as pandas writes them."""
        suffix = self.path.suffix.lower()
        if suffix not in (".jsonl", ".json") or not self.path.is_file():
            return False
        if suffix == ".jsonl":
            line = _first(self.path)
            keys = set(line) if isinstance(line, dict) else set()
            samples = _SAMPLES & keys or self.path.name.startswith("samples_")
            of_tool = _TOOLS & keys or ("doc_id" in keys and samples)
            return bool(keys) and not of_tool and not preference_files.kind_of(line)
        found = self.whole
        rows = isinstance(found, list) and bool(found) and all(isinstance(each, dict) for each in found)
        return rows and not preference_files.kind_of(found[0])

    @cached_property
    def records(self) -> pd.DataFrame:
        """Rows of a JSON file; nested values get names with a point, as "scores.judge"."""
        if self.path.suffix.lower() == ".jsonl":
            rows = [line for _, line in eval_cases.json_lines(self.path)]
        else:
            rows = self.whole
        if not rows:
            raise ValueError(f"{self.path.name} is empty")
        return pd.json_normalize(rows)


def reader_of(file: File) -> Callable[[Path], xr.Dataset]:
    path = file.path
    if path.is_dir():
        return _of_folder(path)
    suffix = path.suffix.lower()
    if suffix == ".eval":
        return inspect_logs.read_inspect
    return _of_lines(path) if suffix == ".jsonl" else _of_json(file)


def _of_folder(folder: Path) -> Callable[[Path], xr.Dataset]:
    if any(folder.glob(f"*{score_files.SUFFIX}")):
        return mtme.read_files
    if any(folder.rglob("*.eval")):
        return inspect_logs.read_inspect
    if any(folder.rglob("samples_*.jsonl")):
        return eval_results.read_lm_eval
    lines, whole = next(folder.rglob("*.jsonl"), None), min(folder.rglob("*.json"), default=None)
    if lines is None and whole is None:
        raise FileNotFoundError(f"no results in the folder {folder}: looked for *.eval, *.jsonl, *.json and *.score")
    return _of_json(File(whole)) if whole is not None and lines is None else sacrerouge.read_sacrerouge


def _first(path: Path) -> Any:
    """First line of a file; None if it is not JSON, which SacreROUGE's reader reports."""
    with path.open("rb") as stream:
        first = stream.readline()
    check_density(first, f"{path.name}, line 1")
    try:
        return json.loads(first)
    except (ValueError, RecursionError):
        return None


def _of_lines(path: Path) -> Callable[[Path], xr.Dataset]:
    line = _first(path)
    _refuse_preferences(line, path)
    if isinstance(line, dict) and "doc_id" in line:
        return eval_results.read_lm_eval
    return eval_results.read_promptfoo if isinstance(line, dict) and "testIdx" in line else sacrerouge.read_sacrerouge


def _of_json(file: File) -> Callable[[Path], xr.Dataset]:
    found, path = file.whole, file.path
    _refuse_preferences(found[0] if isinstance(found, list) and found else None, path)
    content: dict[str, Any] = eval_cases.mapping(found, path.name)
    if "eval" in content:
        return inspect_logs.read_inspect
    if any(key in content for key in ("testRunData", *eval_results.DEEPEVAL_TESTS)):
        return eval_results.read_deepeval
    inner = content.get("results")
    if isinstance(inner, list) or (isinstance(inner, dict) and isinstance(inner.get("results"), list)):
        return eval_results.read_promptfoo
    if "model_name" in content or "higher_is_better" in content:
        raise ValueError(
            f"{path.name} holds the averages of lm-evaluation-harness, and no scores of documents: name the folder "
            "with its samples_*.jsonl, which --log_samples writes"
        )
    raise ValueError(
        f"cannot tell what {path.name} holds: it is no log of Inspect, no results of promptfoo, "
        "and no test run of DeepEval"
    )


def _refuse_preferences(line: Any, path: Path) -> None:
    if preference_files.kind_of(line):
        raise ValueError(
            f"{path.name} holds preferences between systems, and no scores of outputs: "
            f"xsumstat.read_preferences({path.name!r}) reads them"
        )
