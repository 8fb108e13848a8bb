"""Read preferences from the files of evaluation tools: `read_preferences`."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from xsumstat.core import validate
from xsumstat.io import preferences
from xsumstat.io.cells import Names
from xsumstat.io.eval_cases import files, json_lines, listing, mappings, whole

# What MT-Bench and Chatbot Arena call people; users of the arena, of whom each chose once, count as one rater.
_PEOPLE = re.compile(r"(author|expert|human|arena_user|arena users)([_ ]?\d+)?")
_ARENA = re.compile(r"arena_user(_\d+)?")
_WORDS = {"model_1": "left", "model_2": "right", "model_a": "left", "model_b": "right"}


def kind_of(line: Any) -> str:
    """The tool that wrote a line, of those that `read_preferences` reads; empty for others."""
    keys = set(line) if isinstance(line, dict) else set()
    if {"model_1", "model_2", "g1_winner"} <= keys:
        return "FastChat"
    if {"model_a", "model_b", "winner"} <= keys:
        return "arena"
    return "AlpacaEval" if {"generator_1", "generator_2", "preference"} <= keys else ""


@validate.public
def read_preferences(
    path: str | Path | Iterable[str | Path],
    *,
    kind: Mapping[str, str | Iterable[str]] | None = None,
) -> xr.Dataset:
    """Read preferences as MT-Bench (FastChat), Chatbot Arena and AlpacaEval write them.

    Parameters
    ----------
    path : str, Path, or several
        Files, or a folder of ``.jsonl`` and ``.json``: lines with ``model_a``, ``model_b`` and ``winner`` (MT-Bench's
        human judgements, Chatbot Arena); with ``model_1``, ``model_2``, ``g1_winner`` and ``g2_winner`` (FastChat's
        pairwise judges, both orders); AlpacaEval's ``annotations.json``. Several files are joined by prompt.
    kind : mapping, optional
        Human raters, as ``{"human": ["ann"]}``. Default: as the tools name them ("human", "expert_1" ...).

    Returns
    -------
    Dataset
        ``preference(prompt, pair, order, rater)``, as from `to_preferences`. A prompt is a question, with its turn if
        there are several, or AlpacaEval's number of the instruction. ``length(prompt, system)`` counts characters where
        the file has outputs. All users of the arena are one rater, "arena users".

    Warns
    -----
    LeftOutWarning
        Counts the lines without a choice, such as unreadable answers of a judge.

    Examples
    --------
    >>> import json, pathlib, tempfile, xsumstat
    >>> line = {"question_id": 81, "model_a": "small", "model_b": "large", "winner": "model_b", "judge": "expert_1"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "judgements.jsonl")
    ...     _ = path.write_text(json.dumps(line))
    ...     ds = xsumstat.read_preferences(path)
    >>> ds.preference.squeeze().to_series().to_dict()
    {'left first': nan, 'right first': 1.0}
    """
    found: list[dict[str, Any]] = []
    wheres: list[str] = []
    names = Names()
    for file in files(path, ("*.jsonl", "*.json"), "preferences"):
        for where, line in _lines(file):
            for row in _ROWS[_kind(line, where)](line, where, names):
                found.append(row)
                wheres.append(where)
    if not found:
        raise ValueError("there are no preferences in what was read")
    names.report()
    frame = pd.DataFrame(found)
    if "instruction" in frame:
        numbers = pd.Series([str(code + 1) for code in pd.factorize(frame["instruction"])[0]])
        frame["prompt"] = frame["prompt"].fillna(numbers) if "prompt" in frame else numbers
    several = "turn" in frame and frame.groupby("prompt", sort=False)["turn"].nunique().max() > 1
    frame = frame if several else frame.drop(columns="turn", errors="ignore")
    return _preferences(frame.rename(columns={"prompt": "question"}) if several else frame, wheres, kind, several)


def _preferences(frame: pd.DataFrame, wheres: list[str], kind: Any, several: bool) -> xr.Dataset:
    raters = dict.fromkeys(frame["rater"])
    people = [each for each in raters if _PEOPLE.fullmatch(each)]
    lengths = {"length": ("left_length", "right_length")} if "left_length" in frame else None
    return preferences.of_frame(
        frame, left="left", right="right", choice="choice", prompt=["question", "turn"] if several else "prompt",
        rater="rater", order="order", kind={"human": people} if kind is None else kind, outputs=lengths,
        place=wheres.__getitem__,
    )  # fmt: skip


def _lines(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if file.suffix.lower() == ".jsonl":
        yield from json_lines(file)
        return
    yield from mappings(listing(whole(file), file.name, "preferences"), f"{file.name}, item")


def _kind(line: dict[str, Any], where: str) -> str:
    found = kind_of(line)
    if not found:
        raise ValueError(
            f"{where}: no preference: it needs 'model_a', 'model_b' and 'winner' (MT-Bench, Chatbot Arena), 'model_1', "
            "'model_2' and 'g1_winner' (FastChat), or 'generator_1', 'generator_2' and 'preference' (AlpacaEval); "
            "pandas.read_json and df.meta.to_preferences(...) read others"
        )
    return found


def _of_arena(line: dict[str, Any], where: str, names: Names) -> Iterator[dict[str, Any]]:
    rater = _rater(line, where, names)
    row = {
        **_question(line, where, names),
        "left": names.stripped("model_a", line["model_a"], where),
        "right": names.stripped("model_b", line["model_b"], where),
        "choice": _word(line["winner"], "winner", where),
        "order": "left first",
        "rater": "arena users" if _ARENA.fullmatch(rater) else rater,
    }
    both = [_answer(line.get(f"conversation_{side}"), line.get("turn")) for side in "ab"]
    yield row if None in both else row | {"left_length": both[0], "right_length": both[1]}


def _of_fastchat(line: dict[str, Any], where: str, names: Names) -> Iterator[dict[str, Any]]:
    row = {
        **_question(line, where, names),
        "left": names.stripped("model_1", line["model_1"], where),
        "right": names.stripped("model_2", line["model_2"], where),
        "rater": _rater(line, where, names),
    }
    for key, order in (("g1_winner", "left first"), ("g2_winner", "right first")):
        if key in line:
            yield row | {"choice": _word(line[key], key, where), "order": order}


def _of_alpaca_eval(line: dict[str, Any], where: str, names: Names) -> Iterator[dict[str, Any]]:
    preference = line["preference"]
    if preference is not None and (isinstance(preference, bool) or not isinstance(preference, int | float)):
        raise ValueError(f"{where}: 'preference' must be a number from 1 to 2, got {reprlib.repr(preference)}")
    instruction = line.get("instruction")
    if not isinstance(instruction, str):
        raise ValueError(f"{where}: 'instruction' must be text, got {reprlib.repr(instruction)}")
    if preference is not None and not (preference == 0 or 1 <= preference <= 2):
        raise ValueError(f"{where}: 'preference' must be a number from 1 to 2, got {preference!r}")
    tie = preference in (0, 1.5)  # 0 is a tie in early versions
    row = {
        "instruction": instruction,
        "left": names.stripped("generator_1", line["generator_1"], where),
        "right": names.stripped("generator_2", line["generator_2"], where),
        "choice": "error" if preference is None else "tie" if tie else "left" if preference < 1.5 else "right",
        "order": "left first",
        "rater": names.stripped("annotator", line.get("annotator") or "judge", where),
    }
    both = [line.get(f"output_{side}") for side in (1, 2)]
    lengths = [len(each) for each in both if isinstance(each, str)]
    yield row | {"left_length": lengths[0], "right_length": lengths[1]} if len(lengths) == 2 else row


_ROWS = {"arena": _of_arena, "FastChat": _of_fastchat, "AlpacaEval": _of_alpaca_eval}


def _question(line: dict[str, Any], where: str, names: Names) -> dict[str, Any]:
    turn = line.get("turn")
    named = {"prompt": names.stripped("question_id", line.get("question_id"), where)}
    return named if isinstance(turn, bool) or not isinstance(turn, int) else named | {"turn": turn}


def _rater(line: dict[str, Any], where: str, names: Names) -> str:
    """The judge: FastChat names a judge by its model and its prompt."""
    given = line.get("judge") or "judge"
    parts = given if isinstance(given, list) else [given]
    return ", ".join(names.stripped("judge", each, where) for each in parts)


def _word(value: Any, key: str, where: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{where}: {key!r} must be text, as 'model_a' or 'tie', got {reprlib.repr(value)}")
    return _WORDS.get(value, value)


def _answer(conversation: Any, turn: Any) -> int | None:
    if not isinstance(conversation, list):
        return None
    answers = [
        each.get("content") for each in conversation if isinstance(each, dict) and each.get("role") == "assistant"
    ]
    at = (turn if isinstance(turn, int) and not isinstance(turn, bool) else len(answers)) - 1
    found = answers[at] if 0 <= at < len(answers) else None
    return len(found) if isinstance(found, str) else None
